"""Stores for the tests: opened with a database, and compared with one that is made afresh."""

import sqlite3
from collections import Counter
from pathlib import Path
from typing import Any

from orgctx.store.indexed import IndexedStore
from orgctx.store.opening import database_file, open_store


def opened(root: Path) -> IndexedStore:
    """The store of one root, which must have its database."""
    store = open_store([root])
    assert isinstance(store, IndexedStore), store.fault
    return store


def stored_bytes() -> bytes:
    """All bytes of the store's files."""
    places = [place for place in database_file().parent.iterdir() if place.is_file()]
    assert places
    return b"\n".join(place.read_bytes() for place in places)


def rows(database: Path) -> dict[str, Counter[Any]]:
    """All that a store knows, without the numbers and times that differ from one to the next."""
    file = "JOIN node ON node.id = {}.node JOIN file ON file.id = node.file"
    questions = {
        "file": "SELECT path, size, mtime, hash, headlines, title, is_private, folder, is_active,"
        " facts FROM file",
        "file_problem": "SELECT path, line, what, hint FROM file_problem JOIN file"
        " ON file.id = file_problem.file",
        "node": "SELECT path, place, line, level, parent, node.title, todo, tags, custom_id"
        " FROM node JOIN file ON file.id = node.file",
        "node_id": f"SELECT path, place, value FROM node_id {file.format('node_id')}",
        "link": f"SELECT path, place, target FROM link {file.format('link')}",
        "words": "SELECT path, place, words.title, body FROM words JOIN node"
        " ON node.id = words.rowid JOIN file ON file.id = node.file",
        "problem": "SELECT path, line, what, hint FROM problem",
    }
    connection = sqlite3.connect(database)
    found = {name: Counter(connection.execute(text)) for name, text in questions.items()}
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    connection.close()
    return found


def check_equal_to_a_fresh_store(root: Path, tmp_path: Path) -> None:
    """The store knows what one does that is made from the notes as they are."""
    fresh = tmp_path / "fresh" / "memex.sqlite"
    IndexedStore([root], fresh)
    assert rows(database_file()) == rows(fresh)
