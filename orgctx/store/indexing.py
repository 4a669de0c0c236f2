"""The words of notes that nothing is remembered of: read for one question, kept in memory."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from .counts import Settings
from .database import make_tables
from .folders import fold
from .words import Words
from .writer import State, Writer, data_version

if TYPE_CHECKING:
    from .store import Store


def words_of(store: Store) -> Words:
    """Read all notes, and give what their words are asked of.

    Files that cannot be read are left out.
    """
    connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    make_tables(connection)
    connection.execute("INSERT INTO root VALUES (1, '', '', 0)")
    settings = Settings(store.config, "")
    writer = Writer(connection, 1, settings, None, data_version(connection), is_full=False)
    changed = {file.path: file.changed for file in store.files()}
    with writer.batch():
        for tree in store.trees():
            if tree.path in changed:
                writer.add(tree, State((0, changed[tree.path], 0, 0), False, b"read"))
    fold(connection, 1)
    return Words(
        lambda statement, values: connection.execute(statement, tuple(values)).fetchall(),
        {1: str},
        is_all=True,
    )
