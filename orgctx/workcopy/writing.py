"""Writing notes: several at once, all or nothing, whenever the program is killed.

What is to be written stands in the history before the first note is touched, and a file says what
is being carried out. Whoever comes next finds that file and completes what was begun; if somebody
has edited one of the notes meanwhile, the others are put back instead.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import NotFound, OrgctxError, OutsideRoot
from .confined import Files, Folder
from .history import History
from .record import Outcome


def refusal(notes: Files, path: str) -> str:
    """Why a note must not be written now; "" if it may."""
    try:
        with notes.at(path) as (folder, name):
            if folder.stat(f".#{name}"):
                return "an editor has unsaved edits of it"
            found = folder.stat(name)
            is_open = os.access(".", os.W_OK, dir_fd=folder.descriptor)
    except NotFound:
        return ""
    except OutsideRoot as error:
        return error.message.removeprefix(f"{path}: ")
    if found and not stat.S_ISREG(found.st_mode):
        return "what is there is no regular file"
    if found and not found.st_mode & 0o222:
        return "it is read-only"
    return "" if is_open else "its folder is read-only"


class Task(NamedTuple):
    """Outcomes on their way into the notes.

    modes: the permissions of the notes as they were before, by path.
    """

    outcomes: Sequence[Outcome]
    modes: Mapping[str, int | None]
    notes: Files
    history: History

    def carry_out(self) -> bool:
        """Write what is not yet written.

        Returns: whether all is; if not, somebody else has written one of the notes meanwhile, and
            what was written has to be undone. Raises: OSError with the note's path; then, too.
        """
        is_done = all(self._turn(each, each.theirs, each.result) for each in self._written)
        self.notes.sync(each.path for each in self._written)
        if is_done:
            self._tidy()
        return is_done

    def _tidy(self) -> None:
        """Delete folders that are empty without the notes that were deleted; nothing is undone."""
        for each in self._written:
            if each.result is None:
                self.notes.tidy(each.path)

    def undo(self) -> None:
        """Put back what was written.

        Raises: OSError with the note's path; then it has to be tried again.
        """
        for each in self._written:
            self._turn(each, each.result, each.theirs)
        self.notes.sync(each.path for each in self._written)

    @property
    def _written(self) -> list[Outcome]:
        return [each for each in self.outcomes if each.result != each.theirs]

    def _turn(self, outcome: Outcome, before: str | None, after: str | None) -> bool:
        """Make one version of a note another. Returns: whether it is that one now."""
        path = outcome.path
        try:
            found = self.notes.read(path)
            if found.revision == before:
                data = None if after is None else self.history.data(after)
                mode = self.modes.get(path)
                self.notes.write(path, data, mode, is_durable=True, before=found)
        except OrgctxError:  # what is there now is no note any more, or has just changed
            return False
        except OSError as error:
            error.filename = path
            raise
        return found.revision in (before, after)


class Doing:
    """The file that says that something is being done, and which record is carried out."""

    def __init__(self, place: Path) -> None:
        self._place = place

    def read(self) -> dict[str, Any] | None:
        """What is being done; None if nothing.

        record, modes: once notes are written. is_done: once all are; then they may change again.
        """
        try:
            found: dict[str, Any] = json.loads(self._place.read_bytes())
        except FileNotFoundError:
            return None
        except ValueError as error:
            hint = f"delete {self._place}; no note is half written"
            raise OrgctxError(f"{self._place}: damaged", hint, str(self._place)) from error
        return found

    def write(self, **what: Any) -> None:
        """Say what is being done, so that it is found whatever happens."""
        with Folder.at(self._place.parent) as folder:
            data = json.dumps(what).encode()
            folder.write(self._place.name, data, 0o600, is_durable=bool(what))
            if what:
                folder.sync()

    def end(self) -> None:
        """Say that nothing is being done."""
        with Folder.at(self._place.parent) as folder:
            folder.remove(self._place.name)
