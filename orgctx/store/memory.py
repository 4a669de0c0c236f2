"""What a process knew when it synced last, so that it soon sees that nothing has changed since.

The notes are known one by one, and the folders that were walked by their own times: a file that
comes, goes or is renamed changes those of its folder. So as long as no folder has changed, only the
known files have to be looked at, and nothing has to be listed or asked of the database.
"""

from __future__ import annotations

import os
import sqlite3
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from .files import Walk
from .signature import Signature, is_settled, signature
from .writer import Row, data_version, known_files


class _Folder(NamedTuple):
    """A folder that was walked, and the notes in it by name."""

    path: str
    signature: Signature
    files: tuple[tuple[str, Signature], ...]


@dataclass(frozen=True)
class _Quiet:
    """A root in which everything that a walk found was known.

    rows: its files by path. unchanged: how many of them may be shown.
    """

    state: tuple[int, int]
    walk: Walk
    rows: dict[str, Row]
    unchanged: int

    @cached_property
    def folders(self) -> tuple[_Folder, ...] | None:
        """The folders with their notes; None if one may have changed again unseen.

        Put together for the next sync of a process; most have one sync alone.
        """
        folders = [(path, signature(stat)) for path, stat in self.walk.folders]
        settled = (is_settled(each, self.walk.began) for _, each in folders)
        is_sure = all(row.is_settled for row in self.rows.values()) and all(settled)
        return tuple(_folders(folders, self.rows)) if is_sure else None


class Memory:
    """What one connection knew; it holds as long as nobody has written to the store since."""

    def __init__(self) -> None:
        self._rows: dict[int, tuple[tuple[int, int], dict[str, Row]]] = {}
        self._quiet: dict[int, _Quiet] = {}

    def rows(self, connection: sqlite3.Connection, root: int) -> dict[str, Row]:
        """What is known of a root's files; looked up if anybody has written since it was."""
        state = _state(connection)
        if root not in self._rows or self._rows[root][0] != state:
            self._rows[root] = state, known_files(connection, root)
        return self._rows[root][1].copy()

    def still(self, connection: sqlite3.Connection, root: int) -> int | None:
        """How many notes are unchanged, if all are and no other has come; None if that is open."""
        quiet = self._quiet.get(root)
        if quiet is None or quiet.state != _state(connection) or quiet.folders is None:
            return None
        return quiet.unchanged if all(map(_same, quiet.folders)) else None

    def note(self, connection: sqlite3.Connection, root: int, walk: Walk, unchanged: int) -> None:
        """Remember that everything that a walk found is known. unchanged: see `still`."""
        self._quiet.pop(root, None)
        if walk.is_plain:
            rows = self._rows[root][1]
            self._quiet[root] = _Quiet(_state(connection), walk, rows, unchanged)


def _state(connection: sqlite3.Connection) -> tuple[int, int]:
    """What changes when anybody writes to the store: others, or this connection."""
    return data_version(connection), connection.total_changes


def _folders(folders: Iterable[tuple[str, Signature]], rows: dict[str, Row]) -> Iterable[_Folder]:
    """The folders with their notes. rows: by path relative to the first folder, the root."""
    files = defaultdict[str, list[tuple[str, Signature]]](list)
    for path, row in rows.items():
        above, _, name = path.rpartition("/")
        files[above].append((name, row[1:5]))
    start = None
    for path, known in folders:
        start = len(path.rstrip("/")) + 1 if start is None else start
        yield _Folder(path, known, tuple(files[path[start:]]))


def _same(folder: _Folder) -> bool:
    """Whether a folder and the notes in it are what they were."""
    try:
        descriptor = os.open(folder.path, os.O_RDONLY)
    except OSError:
        return False
    try:
        if signature(os.fstat(descriptor)) != folder.signature:
            return False
        for name, known in folder.files:
            if signature(os.stat(name, dir_fd=descriptor, follow_symlinks=False)) != known:
                return False
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return True
