"""What a commit has begun is completed or undone, though its process was killed on the way."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from ..errors import NotFound, OrgctxError
from ..store.files import is_real
from .checkout import Checkout, recorded
from .confined import Files
from .history import History
from .record import Record
from .state import State, failed
from .writing import Doing, Task

HALFWAY = "a commit is half done: the next orgctx work command completes it, or undoes it"
UNRECORDED = "the notes are written: the next orgctx work command records that"


def finish(state: State, record: Record, settle: Callable[[], None]) -> str:
    """Record what is in the notes now, and have the copy agree with them.

    settle: does the latter. Where it cannot, the copy has the same edits still, and its next commit
        finds that they are done.
    Returns: the revision. Raises: OrgctxError if it cannot be recorded now.
    """
    try:
        revision = History(state.history).record(record)
        with suppress(OrgctxError, OSError):
            settle()
        Doing(state.doing).end()
    except OSError as error:
        raise failed(error, UNRECORDED) from error
    return revision


def recover(state: State) -> None:
    """Complete what a killed command has begun, or undo it; the lock is held.

    Raises: OrgctxError if that is not possible now.
    """
    doing, history = Doing(state.doing), History(state.history)
    if (found := doing.read()) is None:
        return
    try:
        history.sweep()
        record = Record.from_data(found["record"]) if "record" in found else None
        if record and (found.get("is_done") or _is_completed(state, record, found["modes"])):
            finish(state, record, lambda: _settle(state, record, history))
        else:
            doing.end()
    except OSError as error:
        raise failed(error, HALFWAY) from error


def _is_completed(state: State, record: Record, modes: dict[str, Any]) -> bool:
    """Whether all is in the notes now; if not, they are as they were."""
    _check_roots(record.roots.values(), state.doing)
    notes = Files(recorded(record.roots))
    for each in record.outcomes:
        notes.sweep(each.path)
    task = Task(record.outcomes, modes, notes, History(state.history))
    if task.carry_out():
        return True
    task.undo()
    return False


def _check_roots(folders: Iterable[str], doing: Path) -> None:
    for folder in folders:
        if not is_real(Path(folder)) or not Path(folder).is_dir():
            hint = f"a commit into it is half done: bring it back, or delete {doing}"
            raise NotFound(f"{folder}: there is no such folder", hint, folder)


def _settle(state: State, record: Record, history: History) -> None:
    Checkout(record.copy, state.place(record.copy)).settle(record.outcomes, history)
