"""Which working copy a run of a deep agent works in: one for each thread."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from threading import Lock
from typing import Any

from langgraph.config import get_config

from ..cites import Cites
from ..errors import NotFound
from ..workcopy import Copy, Report, Workcopies

SUBTASK = "::task:"
"""What stands between a thread and the sub-agent's task, in the name of a thread of its own."""
CITED = 64
"""Of how many threads the cites are kept."""


def _running() -> Mapping[str, Any]:
    """What is configured for the run that this is called in; nothing outside of one."""
    try:
        return get_config().get("configurable") or {}
    except RuntimeError:
        return {}


def is_delegated() -> bool:
    """Whether this is called in the run of a sub-agent, whose turn is a part of its parent's.

    The tool of deepagents that delegates names another type of agent than the outermost one's,
    "root", in the run's configuration.
    """
    running = _running()
    is_outermost = running.get("ls_agent_type") in (None, "root")
    return not is_outermost or SUBTASK in str(running.get("thread_id") or "")


class Threads:
    """The copies of threads, each made, or opened again, when it is first used.

    A sub-agent works in its parent's copy, whether it runs in the parent's thread or in one that
    is called `{parent}::task:{id}`.
    """

    def __init__(self, work: Workcopies, default: str) -> None:
        """default: the thread of runs that have none."""
        self._work, self._default = work, default
        self._copies: dict[str, Copy] = {}
        self._cites: OrderedDict[str, Cites] = OrderedDict()
        self._lock = Lock()

    def copy_id(self, thread: str | None = None) -> str:
        """The name of a thread's copy. thread: by default that of the run that asks."""
        name = thread or str(_running().get("thread_id") or self._default)
        return f"thread-{name.partition(SUBTASK)[0]}"

    def copy(self, copy_id: str) -> Copy:
        """A copy. Raises: as `Workcopies.open`."""
        with self._lock:
            copy = self._copies.get(copy_id)
            if copy is None or not copy.folder.is_dir():
                copy = self._copies[copy_id] = self._work.open(copy_id)
            return copy

    def cites(self, copy_id: str) -> Cites:
        """What was read in a copy, by number."""
        with self._lock:
            cites = self._cites.setdefault(copy_id, Cites())
            self._cites.move_to_end(copy_id)
            if len(self._cites) > CITED:
                self._cites.popitem(last=False)
            return cites

    def commit(self, copy_id: str, message: str, on_conflict: str, allow_shrink: bool) -> Report:
        """Commit what was edited in a copy, which its next use brings up to date.

        Raises: as `Workcopies.commit`. Where there is no copy, there is nothing to commit.
        """
        self._close(copy_id)
        try:
            return self._work.commit(copy_id, message, on_conflict, allow_shrink)
        except NotFound as error:
            if error.where != copy_id:
                raise
            return Report("", ())

    def discard(self, copy_id: str) -> list[str]:
        """Throw away what was edited in a copy, and it with that; the history keeps it.

        Returns: the paths.
        """
        self._close(copy_id)
        try:
            if edited := self._work.changed(copy_id):
                self._work.discard(copy_id)
        except NotFound as error:
            if error.where != copy_id:
                raise
            return []
        return edited

    def _close(self, copy_id: str) -> None:
        """Have a copy opened anew when it is next used."""
        with self._lock:
            self._copies.pop(copy_id, None)
