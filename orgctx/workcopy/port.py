"""The port: working copies of notes, by name."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from os import PathLike, fspath
from pathlib import Path
from typing import NamedTuple, cast

from ..config import load, users_file
from ..core.merge import Side
from ..errors import BadArgument, NotFound, Unreadable
from ..store.near import did_you_mean, get_close_matches
from ..store.store import Store
from .answers import store_of
from .base import Damaged
from .checkout import Checkout, folders_by_name
from .committing import Commit, record_of, versions_of
from .history import History
from .planning import Plan
from .record import DISCARDED, Record, Report, Status
from .recovering import recover
from .showing import Past, patch
from .state import State, failed
from .tools import Copy
from .writing import Doing

UNTOUCHED = "no note was changed, and what was edited is still in the copy"
POLICIES = ("refuse", "ours", "theirs")


class Edited(NamedTuple):
    """A note that was edited in a copy. what: "added", "changed" or "deleted". patch: how."""

    path: str
    what: str
    patch: str


class Workcopies:
    """Working copies of notes, each known by a name, and the history of their commits.

    A copy is a real folder with the notes in it. Whoever has its name works in it alone; the notes
    change when it is committed. Several threads and processes may do so at once.
    """

    def __init__(
        self,
        *roots: str | PathLike[str],
        state: str | PathLike[str] | None = None,
    ) -> None:
        """Name the notes that new copies are made of.

        roots: folders; by default those of orgctx.toml in the user's configuration folder.
        state: where copies and history are; by default in the user's state folder.
        """
        self._roots = [fspath(root) for root in roots]
        self._state = State(Path(os.path.abspath(state)) if state else None)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Nobody else works, and nothing is half done."""
        try:
            with self._state.lock():
                recover(self._state)
                self._state.sweep()
                yield
        except OSError as error:
            raise failed(error, UNTOUCHED) from error

    def open(self, copy_id: str) -> Copy:
        """Open a copy: on first use one of the notes as they are now.

        One that was there keeps what was edited in it; the rest becomes what the notes are now.
        Raises: BadArgument if that is no name, or the copy is of other roots; NotFound, BadConfig.
        """
        place = self._state.place(copy_id)
        with self._locked():
            if place.is_dir():
                checkout = Checkout(copy_id, place)
                self._check_roots(checkout)
                problems = checkout.refresh()
            else:
                checkout, problems = Checkout.make(self._state, copy_id, self._notes())
        return Copy(self._state, checkout, problems)

    def _notes(self) -> Store:
        config = load(users_file(), is_users=True)
        roots: list[str] | Mapping[str, str] = self._roots or config.roots
        if not roots:
            raise BadArgument("no root", "give a folder, or name some in orgctx.toml", "root")
        return Store(roots, config=config)

    def _check_roots(self, checkout: Checkout) -> None:
        if self._roots:
            here = {root.folder for root in self._notes().roots}
            if here != {root.folder for root in checkout.roots}:
                folders = ", ".join(str(root.folder) for root in checkout.roots)
                what = f"copy {checkout.id}: it is of other roots: {folders}"
                raise BadArgument(what, "give those, or another name", "root")

    def copy(self, copy_id: str) -> Copy:
        """A copy that is there, as it is. Raises: NotFound."""
        return Copy(self._state, self._checkout(copy_id), [])

    def roots(self, copy_id: str) -> list[str]:
        """The folders of notes that a copy is of. Raises: NotFound."""
        return [str(root.folder) for root in self._checkout(copy_id).roots]

    def store(
        self, copy_id: str, inlinetask_min_level: int | None = None, is_frozen: bool = False
    ) -> Store:
        """The notes in a copy, for whatever reads notes; see `answers.store_of`."""
        return store_of(self._checkout(copy_id), inlinetask_min_level, is_frozen)

    def _checkout(self, copy_id: str) -> Checkout:
        return Checkout(copy_id, self._place(copy_id))

    def _place(self, copy_id: str) -> Path:
        place = self._state.place(copy_id)
        if not place.is_dir():
            close = get_close_matches(copy_id, self._state.ids(), 3, 0.5)
            hint = did_you_mean(close) or "see them with: orgctx work status"
            raise NotFound(f"{copy_id}: no such copy", hint, copy_id)
        return place

    def status(self) -> list[Status]:
        """Every copy there is; of one that is damaged, what is wrong with it."""
        with self._locked():
            return [self._status(each) for each in self._state.ids()]

    def _status(self, copy_id: str) -> Status:
        try:
            checkout = self._checkout(copy_id)
            edits = checkout.changes()
        except Unreadable as error:
            place = self._place(copy_id)
            return Status(copy_id, place, {}, (), place.stat().st_mtime, error.message)
        roots = folders_by_name(checkout.roots)
        changed = tuple(each.path for each in edits)
        return Status(copy_id, checkout.folder, roots, changed, checkout.used(edits))

    def changed(self, copy_id: str) -> list[str]:
        """The paths of the notes that were edited in a copy. Raises: NotFound."""
        with self._locked():
            return [each.path for each in self._checkout(copy_id).changes()]

    def diff(self, copy_id: str) -> list[Edited]:
        """What was edited in a copy, by path. Raises: NotFound."""
        with self._locked():
            changes = self._checkout(copy_id).changes()
        found = []
        for each in changes:
            what = (
                "added" if each.base is None else "changed" if each.ours is not None else "deleted"
            )
            found.append(Edited(each.path, what, patch(each.path, each.base, each.ours)))
        return found

    def commit(
        self,
        copy_id: str,
        message: str,
        on_conflict: str = "refuse",
        allow_shrink: bool = False,
    ) -> Report:
        """Bring what was edited in a copy into the notes: that, and nothing else.

        A note that others edited meanwhile is merged, entry by entry. What is in conflict or
        refused stays in the copy; all the rest is written, all of it or nothing.
        on_conflict: "refuse", or whose half of each conflict is taken: "ours" or "theirs".
        allow_shrink: whether a note may lose more than half of its text.
        Returns: Report, an outcome for each path.
        Raises: NotFound, BadArgument; Stale if others write the same notes again and again.
        """
        if on_conflict not in POLICIES:
            hint = f"use {', '.join(POLICIES)}"
            raise BadArgument(f"on_conflict {on_conflict!r}: unknown", hint, "on_conflict")
        if not isinstance(message, str) or not message.strip():
            raise BadArgument("message: empty", "say what was done", "message")
        prefer = None if on_conflict == "refuse" else cast(Side, on_conflict)
        with self._locked():
            checkout = self._checkout(copy_id)
            return Commit(self._state, checkout, prefer, allow_shrink).make(message)

    def discard(self, copy_id: str) -> None:
        """Delete a copy; what was edited in it is in the history. Raises: NotFound."""
        with self._locked():
            self._discard(copy_id, "discarded")

    def _discard(self, copy_id: str, message: str) -> None:
        place = self._place(copy_id)
        with suppress(Damaged):
            self._keep(Checkout(copy_id, place), message)
        self._state.remove(place)

    def _keep(self, checkout: Checkout, message: str) -> None:
        """Record what was edited and never committed."""
        plans = [
            Plan(each.path, each.base, each.ours, None, None, DISCARDED, each.refused)
            for each in checkout.changes()
        ]
        if plans:
            doing, history = Doing(self._state.doing), History(self._state.history)
            doing.write()
            outcomes = tuple(each.outcome() for each in plans)
            history.keep(versions_of(plans))
            history.record(record_of(checkout, "discard", message, outcomes))
            doing.end()

    def prune(self, older_than: float) -> list[str]:
        """Discard copies that were not used for longer than `older_than` seconds.

        One that is damaged stays: what was edited in it cannot be told, so nobody would keep it.
        Returns: their names.
        """
        if isinstance(older_than, bool) or not older_than >= 0:
            raise BadArgument(f"older_than {older_than!r}: give seconds", "0 or more", "older_than")
        with self._locked():
            now = time.time()
            copies = map(self._status, self._state.ids())
            old = [each.id for each in copies if not each.fault and now - each.used > older_than]
            for each in old:
                self._discard(each, f"pruned: not used for {int(older_than)} seconds")
        return old

    def log(self, limit: int = 20, after: str = "") -> list[tuple[str, Record]]:
        """The newest records, each with its revision.

        after: the revision of one; those that are older. Raises: NotFound, Ambiguous.
        """
        with self._locked():
            return list(islice(History(self._state.history).log(after), limit))

    def show(self, revision: str) -> str:
        """A record, or a version of a file; see `showing.Past.show`."""
        with self._locked():
            return Past(History(self._state.history)).show(revision)


def store_in(
    copy_id: str,
    roots: Sequence[str | PathLike[str]] = (),
    inlinetask_min_level: int | None = None,
    is_frozen: bool = False,
) -> Store:
    """The notes in a copy, for a question that names it.

    roots: those that were named besides. is_frozen: answer without looking for changes first.
    Raises: NotFound if there is no such copy; BadArgument if roots were named.
    """
    check_alone(copy_id, roots)
    return Workcopies().store(copy_id, inlinetask_min_level, is_frozen)


def check_alone(copy_id: str, roots: Sequence[str | PathLike[str]]) -> None:
    """Raises: BadArgument if roots were named besides a copy."""
    if roots:
        raise BadArgument(f"copy {copy_id}: it has roots of its own", "name no root", "work")


_DURATION = re.compile(r"(\d{1,9})([smhdw])")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}


def seconds(duration: str) -> int:
    """The seconds in `90m`, `12h`, `30d` or `2w`. Raises: BadArgument."""
    match = _DURATION.fullmatch(duration)
    if match is None:
        raise BadArgument(f"{duration}: no duration", "give one such as 12h, 30d or 2w", "duration")
    return int(match[1]) * _SECONDS[match[2]]
