"""The state folder: where working copies and their history are, and one command at a time."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import mkdtemp
from urllib.parse import quote, unquote

from ..errors import BadArgument, OrgctxError, Unreadable
from ..store.files import real
from ..store.roots import check_name
from .confined import Folder

WAIT_SECONDS = 60
"""How long a command waits for another one to end."""
LONGEST_ID = 200
"""Bytes of a copy's name on the disk."""


class State:
    """The folder, which is the user's alone.

    folder: in it `.copies`, `history`, `doing` and `lock`. If it is in a root itself, the notes in
        the copies are still none of that root's: nobody looks for notes in a hidden folder.
    """

    def __init__(self, folder: Path | None = None) -> None:
        """folder: by default in the user's state folder."""
        self.folder = real(folder or _default())  # the way to it may be links
        self.copies = self.folder / ".copies"
        self.history = self.folder / "history"
        self.doing = self.folder / "doing"

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Keep all other commands waiting, in other processes and threads.

        Raises: OrgctxError if another one takes too long.
        """
        from filelock import FileLock, Timeout  # only who works with copies pays

        _make(self.copies)
        lock = FileLock(self.folder / "lock", WAIT_SECONDS, poll_interval=0.01)
        try:
            lock.acquire()
        except Timeout as error:
            what = f"another command is at work for more than {WAIT_SECONDS} seconds"
            raise OrgctxError(what, "wait for it, or end it", str(self.folder)) from error
        try:
            yield
        finally:
            lock.release()

    def place(self, copy_id: str) -> Path:
        """Where a copy is, or is to be. Raises: BadArgument if that is no name."""
        check_name("copy", copy_id)
        name = _name(copy_id)
        if not name or len(name) > LONGEST_ID:
            hint = f"give a text of 1 to {LONGEST_ID} characters"
            raise BadArgument(f"copy {copy_id!r}: no name for a copy", hint, "copy")
        return self.copies / name

    def ids(self) -> list[str]:
        """The names of the copies there are."""
        if not self.copies.is_dir():
            return []
        names = (each.name for each in self.copies.iterdir() if not each.name.startswith("."))
        return sorted(map(unquote, names))

    def remove(self, place: Path) -> None:
        """Delete a copy, which is gone at once."""
        gone = Path(mkdtemp(prefix=".gone-", dir=self.copies))
        os.rename(place, gone / place.name)
        self.sweep()

    def sweep(self) -> None:
        """Delete what was never finished, or not quite deleted.

        What cannot be deleted now is in nobody's way, and is tried again.
        """
        for each in self.copies.glob(".*"):
            shutil.rmtree(each, ignore_errors=True)
        with Folder.at(self.folder) as folder:
            folder.sweep()


def failed(error: OSError, hint: str) -> OrgctxError:
    """What could not be read or written, and what that means."""
    name = error.filename or "the state folder"
    return OrgctxError(f"{name}: {error.strerror}", hint, str(name))


def _make(place: Path) -> None:
    """Have a folder, and those above it, for the user alone; no power cut takes it away."""
    if not place.is_dir():
        _make(place.parent)
        place.mkdir(exist_ok=True, mode=0o700)
        with suppress(Unreadable), Folder.at(place.parent) as above:
            above.sync()


def _default() -> Path:
    from platformdirs import user_state_path  # only who works with copies pays

    return user_state_path("orgctx") / "work"


def _name(copy_id: str) -> str:
    """The name as that of a folder."""
    name = quote(copy_id, safe=" @+=,:", errors="surrogateescape")
    return name.replace(".", "%2E", 1) if name.startswith(".") else name
