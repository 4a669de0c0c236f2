"""Folders in the database: what they hold, at any depth, and what they are about.

A file that changes leaves its folder stale, in the same transaction. Later the stale folders and
those above them are added up anew, from below, from what their own files and folders say; all
others stay as they are. Each of them has a summary that needs no model, and a mark, `due`, that
tells a model's writer of it: another one each time, and 0 once a model has written.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator

from .summaries import NOTHING, Facts, from_json, rest, summary, to_json, total

SUMMED = 2
"""A folder of fewer files than this has no summary."""

_FILES = (
    "SELECT headlines, facts FROM file WHERE root = ? AND folder = ? AND NOT is_private"
    " AND hash != x'' ORDER BY path"
)
_FOLDERS = "SELECT path, files, headlines, facts FROM folder WHERE root = ? AND parent = ?"


def fold(connection: sqlite3.Connection, root: int, keeps_written: bool = False) -> list[bytes]:
    """Bring the folders of a root up to date, within a transaction of the caller's.

    keeps_written: whether a model's summary stays until a model has written another.
    Returns: the folders that were added up anew, deepest first; "" is the root itself.
    """
    rows = connection.execute("SELECT path FROM stale_folder WHERE root = ?", (root,)).fetchall()
    paths = {path for (stale,) in rows for path in _and_above(stale)}
    ordered = sorted(paths, key=lambda path: (-_depth(path), path))
    kept = [path for path in ordered if _add_up(connection, root, path)]
    for path in kept:
        _summarize(connection, root, path, keeps_written)
    connection.execute("DELETE FROM stale_folder WHERE root = ?", (root,))
    return ordered


def _and_above(path: bytes) -> Iterator[bytes]:
    yield path
    while path:
        path = path.rpartition(b"/")[0]
        yield path


def _depth(path: bytes) -> int:
    return path.count(b"/") + bool(path)


def _add_up(connection: sqlite3.Connection, root: int, path: bytes) -> bool:
    """Say what a folder holds. Returns: whether it holds anything; if not, it is no folder."""
    files = connection.execute(_FILES, (root, path)).fetchall()
    folders = connection.execute(_FOLDERS, (root, path)).fetchall()
    count = len(files) + sum(row[1] for row in folders)
    if not count:
        connection.execute("DELETE FROM folder WHERE root = ? AND path = ?", (root, path))
        return False
    headlines = sum(row[0] for row in files) + sum(row[2] for row in folders)
    facts = to_json(_total([*(row[1] for row in files), *(row[3] for row in folders)]))
    parent = path.rpartition(b"/")[0] if path else None
    connection.execute(
        "INSERT INTO folder VALUES (?, ?, ?, ?, ?, ?, '', '', random() | 1)"
        " ON CONFLICT (root, path) DO UPDATE SET files = excluded.files,"
        " headlines = excluded.headlines, facts = excluded.facts, due = excluded.due",
        (root, path, parent, count, headlines, facts),
    )
    return True


def _total(facts: Iterable[str]) -> Facts:
    return total(map(from_json, facts))


def _facts(connection: sqlite3.Connection, root: int, path: bytes) -> Facts:
    query = "SELECT facts FROM folder WHERE root = ? AND path = ?"
    return from_json(connection.execute(query, (root, path)).fetchone()[0])


def _summarize(connection: sqlite3.Connection, root: int, path: bytes, keeps_written: bool) -> None:
    """Say what a folder is about, against those beside it."""
    key = (root, path)
    query = "SELECT files, facts, parent, author FROM folder WHERE root = ? AND path = ?"
    files, facts, parent, author = connection.execute(query, key).fetchone()
    if keeps_written and author and files >= SUMMED:
        return
    here = from_json(facts)
    beside = rest(_facts(connection, root, parent), here) if parent is not None else NOTHING
    text = summary(here, beside) if files >= SUMMED else ""
    connection.execute(
        "UPDATE folder SET summary = ?, author = '' WHERE root = ? AND path = ?", (text, *key)
    )
