"""The store's file: one SQLite database in the user's cache folder.

It is a cache: everything in it is found again in the notes, so a damaged or older file is deleted
and made anew. A busy one is waited for.
"""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from time import monotonic, sleep

from .words import WORDS

VERSION = 16
BUSY_SECONDS = 60
TRIES, PAUSE_SECONDS = 40, 0.025
"""How often a store that somebody else is making is asked for, a second in all."""
CACHE_KIB = 16_000
LOG_PAGES = 4_000
"""How long the log gets before it is moved into the store's own file; SQLite's default is 1,000."""

SCHEMA = """
CREATE TABLE root (
  id INTEGER PRIMARY KEY,
  folder TEXT NOT NULL UNIQUE,
  settings TEXT NOT NULL,
  has_traces INTEGER NOT NULL
);
CREATE TABLE file (
  id INTEGER PRIMARY KEY,
  root INTEGER NOT NULL REFERENCES root ON DELETE CASCADE,
  path BLOB NOT NULL,
  size INTEGER NOT NULL,
  mtime INTEGER NOT NULL,
  ctime INTEGER NOT NULL,
  inode INTEGER NOT NULL,
  is_settled INTEGER NOT NULL,
  hash BLOB NOT NULL,
  headlines INTEGER NOT NULL,
  title TEXT NOT NULL,
  is_private INTEGER NOT NULL,
  folder BLOB NOT NULL,
  is_active INTEGER NOT NULL,
  tokens INTEGER NOT NULL,
  facts TEXT NOT NULL,
  UNIQUE (root, path)
);
CREATE INDEX file_folder ON file (root, folder, path);
CREATE TABLE folder (
  root INTEGER NOT NULL REFERENCES root ON DELETE CASCADE,
  path BLOB NOT NULL,
  parent BLOB,
  files INTEGER NOT NULL,
  headlines INTEGER NOT NULL,
  facts TEXT NOT NULL,
  summary TEXT NOT NULL,
  author TEXT NOT NULL,
  due INTEGER NOT NULL,
  is_summarized INTEGER NOT NULL,
  PRIMARY KEY (root, path)
) WITHOUT ROWID;
CREATE INDEX folder_parent ON folder (root, parent, path);
CREATE TABLE stale_folder (
  root INTEGER NOT NULL REFERENCES root ON DELETE CASCADE,
  path BLOB NOT NULL,
  PRIMARY KEY (root, path)
) WITHOUT ROWID;
CREATE TABLE node (
  id INTEGER PRIMARY KEY,
  file INTEGER NOT NULL REFERENCES file ON DELETE CASCADE,
  place INTEGER NOT NULL,
  line INTEGER NOT NULL,
  level INTEGER NOT NULL,
  parent INTEGER NOT NULL,
  title TEXT NOT NULL,
  todo TEXT,
  is_open INTEGER NOT NULL,
  size INTEGER NOT NULL,
  tags TEXT NOT NULL,
  planned TEXT NOT NULL,
  custom_id TEXT
);
CREATE INDEX node_file ON node (file);
CREATE INDEX node_custom_id ON node (custom_id) WHERE custom_id IS NOT NULL;
CREATE TABLE node_id (
  value TEXT NOT NULL,
  node INTEGER NOT NULL REFERENCES node ON DELETE CASCADE,
  PRIMARY KEY (value, node)
) WITHOUT ROWID;
CREATE INDEX node_id_node ON node_id (node);
CREATE TABLE link (
  node INTEGER NOT NULL REFERENCES node ON DELETE CASCADE,
  target TEXT NOT NULL,
  PRIMARY KEY (node, target)
) WITHOUT ROWID;
CREATE INDEX link_target ON link (target);
CREATE TABLE file_problem (
  file INTEGER NOT NULL REFERENCES file ON DELETE CASCADE,
  line INTEGER NOT NULL,
  what TEXT NOT NULL,
  hint TEXT NOT NULL
);
CREATE INDEX file_problem_file ON file_problem (file);
CREATE TABLE problem (
  root INTEGER NOT NULL REFERENCES root ON DELETE CASCADE,
  path BLOB NOT NULL,
  line INTEGER NOT NULL,
  what TEXT NOT NULL,
  hint TEXT NOT NULL
);
CREATE INDEX problem_root ON problem (root);
CREATE TABLE tokens (
  hash INTEGER PRIMARY KEY,
  more_hash INTEGER NOT NULL,
  count INTEGER NOT NULL
);
CREATE TABLE meaning (
  node INTEGER PRIMARY KEY REFERENCES node ON DELETE CASCADE,
  vectors BLOB NOT NULL
);
CREATE TABLE symbol (
  node INTEGER NOT NULL REFERENCES node ON DELETE CASCADE,
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  line INTEGER NOT NULL
);
CREATE INDEX symbol_node ON symbol (node);
"""


def connect(file: Path) -> sqlite3.Connection:
    """Open the store, making or remaking it where it must be.

    file: its folder is made, for its owner alone, if it is not there.
    Returns: a connection that commits only where it is told to.
    Raises: sqlite3.Error or OSError if there can be no store there: no room, no right to write.
    """
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    start = monotonic()
    try:
        if file.exists():
            return _opened(file)
    except sqlite3.DatabaseError as error:
        is_at_once = monotonic() < start + BUSY_SECONDS
        is_being_made = "locked" in str(error) and is_at_once  # that waits for nobody
        if not (is_being_made or is_damage(error)):
            raise
    return remade(file, None)


def remade(file: Path, inode: int | None) -> sqlite3.Connection:
    """Open a store in place of a damaged one, which is deleted unless somebody else has done so.

    inode: of the damaged one; None if it could not even be opened.
    Raises: as `connect`; OSError if somebody else takes too long.
    """
    from filelock import FileLock  # only what is damaged needs it

    with FileLock(f"{file}.lock", BUSY_SECONDS):
        try:
            if inode is None or not file.exists() or file.stat().st_ino != inode:
                return _opened(file)
        except sqlite3.DatabaseError as error:
            if not is_damage(error):
                raise
        remove(file)
        return _opened(file)


def remove(file: Path) -> None:
    """Delete the store and what SQLite keeps beside it."""
    for suffix in ("", "-wal", "-shm", "-journal"):
        file.with_name(file.name + suffix).unlink(missing_ok=True)


def _opened(file: Path) -> sqlite3.Connection:
    if not file.exists():
        os.close(os.open(file, os.O_CREAT | os.O_RDWR, 0o600))
    connection = sqlite3.connect(file, BUSY_SECONDS, isolation_level=None)
    try:
        _use_log(connection)
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA secure_delete = ON")
        connection.execute(f"PRAGMA cache_size = {-CACHE_KIB}")
        connection.execute(f"PRAGMA wal_autocheckpoint = {LOG_PAGES}")
        _prepare(connection)
        _check_end(connection, file)
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _use_log(connection: sqlite3.Connection) -> None:
    """Have writers use a log beside the store. SQLite waits for nobody there, so we do."""
    for _ in range(TRIES):
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error):
                raise
            sleep(PAUSE_SECONDS)
    connection.execute("PRAGMA journal_mode = WAL")


def _prepare(connection: sqlite3.Connection) -> None:
    """Make the tables if they are not there; whoever comes second waits and finds them."""
    if _version(connection) == VERSION:
        return
    connection.execute("BEGIN IMMEDIATE")
    if (version := _version(connection)) not in (0, VERSION):
        connection.execute("ROLLBACK")
        raise sqlite3.DatabaseError(f"file is not a database of version {VERSION}: {version}")
    if version == 0:
        make_tables(connection)
        connection.execute(f"PRAGMA user_version = {VERSION}")
    connection.execute("COMMIT")


def make_tables(connection: sqlite3.Connection) -> None:
    """Make the tables in an empty database."""
    for statement in (*SCHEMA.split(";\n"), *WORDS):
        connection.execute(statement)


def _check_end(connection: sqlite3.Connection, file: Path) -> None:
    """Raises: sqlite3.DatabaseError if the file ends within a page and its log has not the rest.

    SQLite sees that pages are missing, but reads what is missing of the last one as zeros.
    """
    size = int(connection.execute("PRAGMA page_size").fetchone()[0])
    if file.stat().st_size % size:
        is_busy = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
        if not is_busy and file.stat().st_size % size:
            raise sqlite3.DatabaseError("file is malformed: it is cut off")


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def is_damage(error: sqlite3.DatabaseError) -> bool:
    """Whether the file is not what it should be; a busy or full one is, and stays."""
    words = (
        *("not a database", "malformed", "corrupt", "vtable constructor failed"),
        "Could not decode",
        *("no such table", "no such column", "already exists"),
    )
    return any(word in str(error) for word in words)
