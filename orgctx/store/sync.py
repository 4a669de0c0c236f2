"""Sync: bring the store up to date by reading only what changed."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path

from ..core.model import Problem
from ..core.outline import outline
from ..errors import NotFound, OrgctxError
from . import files
from .counts import Settings, key_of_folder
from .files import Walk
from .memory import Memory
from .roots import notes_in
from .signature import is_settled, signature
from .writer import Row, State, Writer, data_version, forget_words, transaction
from .writing import Asked

BATCH_BYTES = 4_000_000
"""What is read within a transaction. Larger ones are faster; if killed, they lose more time."""
Progress = Callable[[int, int], None]


@dataclass(slots=True)
class Report:
    """What a sync did: files read, unchanged, removed, and what was wrong; none that is private.

    is_changed: whether any file is known otherwise than before, or no longer; private ones too.
    summaries: what was asked of a model. notes: what else to tell, a line each.
    """

    read: int = 0
    unchanged: int = 0
    removed: int = 0
    is_changed: bool = False
    problems: list[Problem] = field(default_factory=list)
    summaries: Asked = field(default_factory=Asked)
    notes: list[str] = field(default_factory=list)


def sync(
    connection: sqlite3.Connection,
    folder: Path,
    settings: Settings,
    is_full: bool = False,
    progress: Progress | None = None,
    memory: Memory | None = None,
) -> Report:
    """Bring one root up to date. Whoever is killed on the way has lost nothing but time.

    folder: the root, a real folder. Only if there is something to read a tokenizer is loaded.
    is_full: read every file again. progress: (files done, files to read) after each.
    memory: this connection's own, in which what was known last time is kept for the next.
    Returns: Report.
    Raises: sqlite3.Error if the store cannot be written.
    """
    report, seen = Report(), data_version(connection)
    root = _root(connection, folder, settings)
    memory = Memory() if memory is None else memory
    if not is_full and (unchanged := memory.still(connection, root)) is not None:
        report.unchanged = unchanged
        return report
    known, walk = memory.rows(connection, root), Walk()
    changed = list(_changed(folder, settings, known, is_full, report, walk))
    passed_over = list(report.problems)
    if changed or known:
        from concurrent.futures import ThreadPoolExecutor  # hardly ever is there anything to do

        with ThreadPoolExecutor(1) as pool:
            writer = Writer(connection, root, settings, pool, seen, is_full)
            _read_all(writer, folder, changed, report, progress)
        _forget_all(writer, known, report)
    if _has_stale(connection, root):
        from .folders import fold  # nor here

        has_model = settings.config.summaries is not None
        fold(connection, root, has_model and not _has_traces(connection, root))
    _purge(connection, root)
    _note_passed_over(connection, root, passed_over)
    if not (changed or known or report.problems or _has_traces(connection, root)):
        memory.note(connection, root, walk, report.unchanged)
    return report


def _read_all(
    writer: Writer,
    folder: Path,
    changed: list[tuple[str, Row | None]],
    report: Report,
    progress: Progress | None,
) -> None:
    numbered, done = enumerate(changed, 1), 0
    while done < len(changed):
        size = 0
        with writer.batch():
            for done, (path, row) in numbered:  # the next batch goes on where this one stops
                size += _read(writer, folder, path, row, report)
                if progress:
                    progress(done, len(changed))
                if size >= BATCH_BYTES:
                    break


def _forget_all(writer: Writer, gone: dict[str, Row], report: Report) -> None:
    """Forget the files that were not found, unless somebody else has found them since."""
    if gone:
        with writer.batch():
            for path, row in gone.items():
                if writer.current(path, row) == row:
                    _forget(writer, row, report)


def _forget(writer: Writer, row: Row, report: Report) -> None:
    writer.forget(row)
    report.removed += not row.is_private
    report.is_changed = True


def _root(connection: sqlite3.Connection, folder: Path, settings: Settings) -> int:
    """The root's row; if it was synced with other settings, without its files."""
    query = "SELECT id FROM root WHERE folder = ? AND settings = ?"
    key = (key_of_folder(folder), str(settings))
    if row := connection.execute(query, key).fetchone():
        return int(row[0])
    with transaction(connection):
        if not connection.execute(query, key).fetchone():  # nobody else has made it just now
            _make_root(connection, *key)
        return int(connection.execute(query, key).fetchone()[0])


def _make_root(connection: sqlite3.Connection, folder: str, settings: str) -> None:
    """Make a root's row, without files; what there was by other settings leaves traces."""
    files = "SELECT file.id FROM file JOIN root ON root.id = file.root WHERE root.folder = ?"
    forget_words(connection, f"file IN ({files})", folder)
    connection.execute(f"DELETE FROM file WHERE id IN ({files})", (folder,))
    connection.execute(
        "DELETE FROM folder WHERE root = (SELECT id FROM root WHERE root.folder = ?)", (folder,)
    )
    connection.execute(
        "INSERT INTO root (folder, settings, has_traces) VALUES (?, ?, 0)"
        " ON CONFLICT (folder) DO UPDATE SET settings = excluded.settings, has_traces = 1",
        (folder, settings),
    )


def _changed(
    folder: Path,
    settings: Settings,
    known: dict[str, Row],
    is_full: bool,
    report: Report,
    walk: Walk,
) -> Iterator[tuple[str, Row | None]]:
    """The notes that have to be read; those that are still there are taken out of `known`."""
    start = len(str(folder).rstrip(os.sep)) + 1
    for found in notes_in(folder, settings.config, walk):
        if isinstance(found, Problem):
            report.problems.append(Problem(found.path[start:], 0, found.what, found.hint))
            continue
        path = found.path[start:]
        row = known.get(path)
        try:
            is_same = row is not None and not is_full and _is_same(row, found)
        except OSError:  # it has vanished since it was listed
            continue
        known.pop(path, None)
        if row and is_same:
            report.unchanged += not row.is_private
        else:
            yield path, row


def _is_same(row: Row, found: os.DirEntry[str]) -> bool:
    """Whether a file is surely what it was when it was read. Raises: OSError."""
    return bool(row.is_settled) and row[1:5] == signature(found.stat())


def _read(writer: Writer, folder: Path, path: str, known: Row | None, report: Report) -> int:
    """Bring what is known of one file up to date. Returns: how many bytes were read."""
    row, state = writer.current(path, known), State()
    try:
        data, state = _state(folder / path, path)
        if _is_known(writer, row, state, report):
            return len(data)
        text, encoding = files.decode(data, path)
        del data  # it may be large
    except (OSError, NotFound):
        if row:
            _forget(writer, row, report)
    except OrgctxError as error:
        problem = Problem(path, 0, error.message.removeprefix(f"{path}: "), error.hint)
        report.problems.append(problem)
        writer.forget(row)
        writer.add_unreadable(path, problem)
    else:
        tree = outline(text, path, encoding, writer.settings.inlinetask_min_level)
        state = writer.told(tree, state)
        if not _is_known(writer, row, state, report):
            writer.forget(row)
            report.read += writer.add(tree, state)
            report.is_changed = True
    return state.signature[0]


def _is_known(writer: Writer, row: Row | None, state: State, report: Report) -> bool:
    """Whether a file holds what it held; if so, that is noted."""
    if row is None or row.hash != state.hash or writer.is_full:
        return False
    writer.touch(row.id, state)
    report.unchanged += not row.is_private
    return True


def _state(place: Path, path: str) -> tuple[bytes, State]:
    """Read a file. Raises: OSError, NotFound, Unreadable."""
    now = time.time_ns()
    known = signature(os.stat(place, follow_symlinks=False))
    data = files.read(place, path)
    return data, State(known, is_settled(known, now), blake2b(data, digest_size=16).digest())


def _has_stale(connection: sqlite3.Connection, root: int) -> bool:
    """Whether there are folders of which something changed."""
    query = "SELECT EXISTS (SELECT 1 FROM stale_folder WHERE root = ?)"
    return bool(connection.execute(query, (root,)).fetchone()[0])


def _has_traces(connection: sqlite3.Connection, root: int) -> bool:
    """Whether something had to go, so that nothing that was made of it may stay either."""
    row = connection.execute("SELECT has_traces FROM root WHERE id = ?", (root,)).fetchone()
    return bool(row and row[0])


def _purge(connection: sqlite3.Connection, root: int) -> None:
    """Have no trace left of rows that had to go: not in the index of words, not in the log."""
    if _has_traces(connection, root):
        connection.execute("INSERT INTO words (words) VALUES ('optimize')")
        busy = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
        connection.execute("UPDATE root SET has_traces = ? WHERE id = ?", (busy, root))


def _note_passed_over(connection: sqlite3.Connection, root: int, found: list[Problem]) -> None:
    """Keep what is wrong with what is no note, and so has no row."""
    rows = [(root, os.fsencode(each.path), each.line, each.what, each.hint) for each in found]
    known = "SELECT root, path, line, what, hint FROM problem WHERE root = ?"
    if connection.execute(known, (root,)).fetchall() == rows:
        return
    with transaction(connection):
        connection.execute("DELETE FROM problem WHERE root = ?", (root,))
        connection.executemany("INSERT INTO problem VALUES (?, ?, ?, ?, ?)", rows)
