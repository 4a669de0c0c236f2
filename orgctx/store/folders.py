"""Folders in the database: what they hold, at any depth, and what they are about.

A file that changes leaves its folder stale, in the same transaction. Later the stale folders and
those above them are added up anew, from below, from what their own files and folders say; all
others stay as they are. Each of them has a summary that needs no model, made when the folder above
is added up, and a mark, `due`, that tells a model's writer of it: another one each time, and 0 once
a model has written. Whoever is stopped on the way leaves the rest stale.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from .summaries import NOTHING, Facts, from_json, rest, summary, to_json, total
from .writer import transaction

SUMMED = 2
"""A folder of fewer files than this has no summary."""

SLICE = 200
"""How many folders are added up within a transaction: behind each, others may write."""

_FILES = (
    "SELECT headlines, facts FROM file WHERE root = ? AND folder = ? AND NOT is_private"
    " AND hash != x'' ORDER BY path"
)
_FOLDERS = (
    "SELECT path, files, headlines, facts, author, is_summarized"
    " FROM folder INDEXED BY folder_parent WHERE root = ? AND parent = ? ORDER BY path"
)
"""By itself SQLite takes the primary key, and so reads all folders of the root for each."""


class _Folder(NamedTuple):
    """A folder's row. is_summarized: whether its summary is of what it holds now."""

    path: bytes
    files: int
    headlines: int
    facts: str
    author: str
    is_summarized: int


def fold(connection: sqlite3.Connection, root: int, keeps_written: bool = False) -> list[bytes]:
    """Bring the folders of a root up to date, in transactions of limited size.

    keeps_written: whether a model's summary stays until a model has written another.
    Returns: the folders that were added up anew, deepest first; "" is the root itself.
    """
    done: list[bytes] = []
    while stale := _stale(connection, root):  # others may make more so meanwhile
        for at in range(0, len(stale), SLICE):
            with transaction(connection):
                for path in stale[at : at + SLICE]:
                    _add_up(connection, root, path, keeps_written)
        done += stale
    return done


def _stale(connection: sqlite3.Connection, root: int) -> list[bytes]:
    """The stale folders and those above them, which are so from now on; deepest first."""
    known = "SELECT path FROM stale_folder WHERE root = ?"
    rows = connection.execute(known, (root,)).fetchall()
    paths = {path for (stale,) in rows for path in _and_above(stale)}
    if len(paths) > len(rows):
        with transaction(connection):
            above = ((root, path) for path in paths)
            connection.executemany("INSERT OR IGNORE INTO stale_folder VALUES (?, ?)", above)
    return sorted(paths, key=lambda path: (-_depth(path), path))


def _and_above(path: bytes) -> Iterator[bytes]:
    yield path
    while path:
        path = path.rpartition(b"/")[0]
        yield path


def _depth(path: bytes) -> int:
    return path.count(b"/") + bool(path)


def _add_up(connection: sqlite3.Connection, root: int, path: bytes, keeps_written: bool) -> None:
    """Say what a folder holds, and what those in it are about; without a note it is none."""
    files = connection.execute(_FILES, (root, path)).fetchall()
    folders = [_Folder(*row) for row in connection.execute(_FOLDERS, (root, path))]
    count = len(files) + sum(each.files for each in folders)
    if count:
        facts = _total([*(row[1] for row in files), *(each.facts for each in folders)])
        headlines = sum(row[0] for row in files) + sum(each.headlines for each in folders)
        _keep(connection, root, _Folder(path, count, headlines, to_json(facts), "", 0))
        for each in folders:
            if not each.is_summarized:
                _summarize(connection, root, each, facts, keeps_written)
        if not path:
            _summarize(connection, root, _row(connection, root, path), None, keeps_written)
    else:
        connection.execute("DELETE FROM folder WHERE root = ? AND path = ?", (root, path))
    connection.execute("DELETE FROM stale_folder WHERE root = ? AND path = ?", (root, path))


def _keep(connection: sqlite3.Connection, root: int, folder: _Folder) -> None:
    """Keep what a folder holds; it has no summary of that yet."""
    parent = folder.path.rpartition(b"/")[0] if folder.path else None
    connection.execute(
        "INSERT INTO folder VALUES (?, ?, ?, ?, ?, ?, '', '', random() | 1, 0)"
        " ON CONFLICT (root, path) DO UPDATE SET files = excluded.files,"
        " headlines = excluded.headlines, facts = excluded.facts, due = excluded.due,"
        " is_summarized = 0",
        (root, folder.path, parent, folder.files, folder.headlines, folder.facts),
    )


def _row(connection: sqlite3.Connection, root: int, path: bytes) -> _Folder:
    columns = ", ".join(_Folder._fields)
    query = f"SELECT {columns} FROM folder WHERE root = ? AND path = ?"
    return _Folder(*connection.execute(query, (root, path)).fetchone())


def facts_in(text: str) -> Facts:
    """Facts from a row. Raises: sqlite3.DatabaseError if they are damaged."""
    try:
        return from_json(text)
    except ValueError:  # which has the text
        raise sqlite3.DatabaseError("facts are malformed") from None


def _total(facts: Iterable[str]) -> Facts:
    return total(map(facts_in, facts))


def _summarize(
    connection: sqlite3.Connection,
    root: int,
    folder: _Folder,
    above: Facts | None,
    keeps_written: bool,
) -> None:
    """Say what a folder is about, against those beside it. above: what all of them say together."""
    key = (root, folder.path)
    if keeps_written and folder.author and folder.files >= SUMMED:
        query = "UPDATE folder SET is_summarized = 1 WHERE root = ? AND path = ?"
        connection.execute(query, key)
        return
    here = facts_in(folder.facts)
    beside = rest(above, here) if above else NOTHING
    text = summary(here, beside) if folder.files >= SUMMED else ""
    connection.execute(
        "UPDATE folder SET summary = ?, author = '', is_summarized = 1 WHERE root = ? AND path = ?",
        (text, *key),
    )
