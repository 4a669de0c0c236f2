"""From a copy to the notes: planned, checked, recorded, and carried out as a whole."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from functools import cached_property, partial

from ..core.merge import Side
from ..errors import OrgctxError, Stale
from ..store.opening import open_store
from ..store.store import Store
from .changes import Change, told_apart
from .checkout import Checkout, folders_by_name
from .checks import checked
from .history import History
from .planning import Plan, plan
from .record import SIDES, Outcome, Record, Report
from .recovering import HALFWAY, finish
from .state import State, failed
from .writing import Doing, Task, refusal

TRIES = 10
"""How often a commit is planned anew because somebody else writes the same notes."""


class Commit:
    """A commit of a copy, whose lock is held.

    prefer: whose half of each conflict is taken; None holds back what is in conflict.
    allow_shrink: whether a note may lose more than half its text.
    """

    def __init__(
        self, state: State, checkout: Checkout, prefer: Side | None, allow_shrink: bool
    ) -> None:
        self._state, self._checkout = state, checkout
        self._prefer, self._allow_shrink = prefer, allow_shrink
        self._history, self._doing = History(state.history), Doing(state.doing)
        self._modes: dict[str, int | None] = {}

    def make(self, message: str) -> Report:
        """Bring the edits into the notes.

        Raises: Stale if others write the same notes again and again; OSError if they cannot be
            written. Then none is. OrgctxError if that could not be undone or recorded.
        """
        for _ in range(TRIES):
            if not (plans := self._plans()):
                return Report("", ())
            outcomes = tuple(each.outcome() for each in plans)
            if revision := self._made(plans, outcomes, message):
                return Report(revision, outcomes)
        what = "others write the same notes again and again"
        raise Stale(what, "wait until they are done", self._checkout.id)

    def _plans(self) -> list[Plan]:
        """What becomes of each edit."""
        changes = told_apart(self._checkout.changes(), self._checkout.notes)
        plans = [self._plan(each) for each in changes]
        return checked(plans, self._allow_shrink, self._is_elsewhere)

    def _plan(self, change: Change) -> Plan:
        path, notes = change.path, self._checkout.notes
        row, tags = self._checkout.base.rows.get(path), self._checkout.tags(path)
        try:
            note = notes.read(path)
        except OrgctxError as error:
            why = change.refused or error.message.removeprefix(f"{path}: ")
            return plan(change._replace(refused=why), None, row, self._prefer, tags)
        self._modes[path] = note.mode
        found = plan(change, note.data, row, self._prefer, tags)
        why = refusal(notes, path) if found.writes else ""
        return found.refused(why) if why else found

    @cached_property
    def _index(self) -> Store:
        """The notes with a memory, for whoever asks of all of them; made if somebody does."""
        index = open_store(folders_by_name(self._checkout.roots))
        index.freshen()
        return index

    def _is_elsewhere(self, id_: str, paths: frozenset[str]) -> bool:
        holders = self._index.holders(id_)
        return any(id_ in node.ids and node.path not in paths for node in holders)

    def _made(self, plans: list[Plan], outcomes: tuple[Outcome, ...], message: str) -> str:
        """Write and record. Returns: the revision; "" if somebody else wrote first."""
        self._doing.write()
        self._history.keep(versions_of(plans))
        record = record_of(self._checkout, "commit", message, outcomes)
        self._doing.write(record=record.to_data(), modes=self._modes)
        task = Task(outcomes, self._modes, self._checkout.notes, self._history)
        try:
            if is_done := task.carry_out():
                self._doing.write(record=record.to_data(), is_done=True)
        except OSError:
            self._undo(task)
            raise
        if is_done:
            settle = partial(self._checkout.settle, outcomes, self._history)
            return finish(self._state, record, settle)
        self._undo(task)
        return ""

    def _undo(self, task: Task) -> None:
        try:
            task.undo()
            self._doing.end()
        except OSError as error:
            raise failed(error, HALFWAY) from error


def record_of(checkout: Checkout, kind: str, message: str, outcomes: tuple[Outcome, ...]) -> Record:
    """A record of what is done with a copy now."""
    roots = folders_by_name(checkout.roots)
    tags = {tag for each in checkout.configs.values() for tag in each.private_tags}
    now = int(time.time())
    return Record(kind, checkout.id, message, now, roots, tuple(sorted(tags)), outcomes)


def versions_of(plans: Iterable[Plan]) -> Iterator[bytes]:
    """All versions of all paths."""
    found = (getattr(each, side) for each in plans for side in SIDES)
    return (data for data in found if data is not None)
