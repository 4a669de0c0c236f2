"""Sync: bring the store up to date by reading only what changed."""

from __future__ import annotations

import os
import re
import sqlite3
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from hashlib import blake2b
from pathlib import Path
from typing import Any

from ..config import Active, ignorer
from ..core.links import linked_ids
from ..core.model import Node, Problem, Tree
from ..core.outline import outline, problems
from ..core.privacy import conceal
from ..errors import NotFound, OrgctxError
from . import files
from .counts import Counting, Settings, key_of_folder, texts_shown
from .folders import fold
from .summaries import facts_of, to_json
from .writing import Asked

SETTLED_NS = 2_000_000_000
"""A file that changed so shortly before it was read may change again in the same clock tick."""
BATCH_BYTES = 4_000_000
"""What is read within a transaction. Larger ones are faster; if killed, they lose more time."""
SLICE_CHARS = 250_000
"""What is held in memory until it is written."""
SLICE_NODES = 1000

_SPACELESS = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
    "\uf900-\ufaff\U00020000-\U0003ffff]+"
)

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
) -> Report:
    """Bring one root up to date. Whoever is killed on the way has lost nothing but time.

    folder: the root, a real folder. Only if there is something to read a tokenizer is loaded.
    is_full: read every file again. progress: (files done, files to read) after each.
    Returns: Report.
    Raises: sqlite3.Error if the store cannot be written.
    """
    report, seen = Report(), _data_version(connection)
    root = _root(connection, folder, settings)
    known = _known(connection, root)
    changed = list(_changed(folder, settings, known, is_full, report))
    passed_over = list(report.problems)
    with ThreadPoolExecutor(1) as pool:
        writer = _Writer(connection, root, settings, pool, seen, is_full)
        _read_all(writer, folder, changed, report, progress)
    _forget_all(writer, known, report)
    if writer.has_stale_folders:
        with _transaction(connection):
            has_model = settings.config.summaries is not None
            fold(connection, root, has_model and not _has_traces(connection, root))
    _purge(connection, root)
    _note_passed_over(connection, root, passed_over)
    return report


def _read_all(
    writer: _Writer,
    folder: Path,
    changed: list[tuple[str, _Row | None]],
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


def _forget_all(writer: _Writer, gone: dict[str, _Row], report: Report) -> None:
    """Forget the files that were not found, unless somebody else has found them since."""
    if gone:
        with writer.batch():
            for path, row in gone.items():
                if writer.current(path, row) == row:
                    _forget(writer, row, report)


def _forget(writer: _Writer, row: _Row, report: Report) -> None:
    writer.forget(row)
    report.removed += not row.is_private
    report.is_changed = True


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All of it or nothing, whatever ends it."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        if connection.in_transaction:  # SQLite itself has rolled back where the disk is full
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _data_version(connection: sqlite3.Connection) -> int:
    """A number that changes when somebody else writes to the store."""
    return int(connection.execute("PRAGMA data_version").fetchone()[0])


@dataclass(frozen=True, slots=True)
class _Row:
    """What the store knows of a file."""

    id: int
    signature: tuple[int, int, int, int]
    is_settled: bool
    hash: bytes
    is_private: bool


def _root(connection: sqlite3.Connection, folder: Path, settings: Settings) -> int:
    """The root's row; if it was synced with other settings, without its files."""
    query = "SELECT id FROM root WHERE folder = ? AND settings = ?"
    key = (key_of_folder(folder), str(settings))
    if row := connection.execute(query, key).fetchone():
        return int(row[0])
    with _transaction(connection):
        if not connection.execute(query, key).fetchone():  # nobody else has made it just now
            _make_root(connection, *key)
        return int(connection.execute(query, key).fetchone()[0])


def _make_root(connection: sqlite3.Connection, folder: str, settings: str) -> None:
    """Make a root's row, without files; what there was by other settings leaves traces."""
    files = "SELECT file.id FROM file JOIN root ON root.id = file.root WHERE root.folder = ?"
    _forget_words(connection, f"file IN ({files})", folder)
    connection.execute(f"DELETE FROM file WHERE id IN ({files})", (folder,))
    connection.execute(
        "DELETE FROM folder WHERE root = (SELECT id FROM root WHERE root.folder = ?)", (folder,)
    )
    connection.execute(
        "INSERT INTO root (folder, settings, has_traces) VALUES (?, ?, 0)"
        " ON CONFLICT (folder) DO UPDATE SET settings = excluded.settings, has_traces = 1",
        (folder, settings),
    )


def _known(connection: sqlite3.Connection, root: int, path: str | None = None) -> dict[str, _Row]:
    """What is known of a root's files, or of one."""
    rows = connection.execute(
        "SELECT path, id, size, mtime, ctime, inode, is_settled, hash, is_private FROM file"
        " WHERE root = ?" + (" AND path = ?" if path is not None else ""),
        (root,) if path is None else (root, os.fsencode(path)),
    )
    return {
        os.fsdecode(path): _Row(id_, (a, b, c, d), bool(e), f, bool(g))
        for path, id_, a, b, c, d, e, f, g in rows
    }


def _changed(
    folder: Path, settings: Settings, known: dict[str, _Row], is_full: bool, report: Report
) -> Iterator[tuple[str, _Row | None]]:
    """The notes that have to be read; those that are still there are taken out of `known`."""
    start = len(str(folder).rstrip(os.sep)) + 1
    patterns = settings.config.ignore
    for found in files.notes(folder, ignorer(patterns) if patterns else None):
        if isinstance(found, Problem):
            if files.hides(Path(found.path), settings.config.private_tags):
                continue
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


def _is_same(row: _Row, found: os.DirEntry[str]) -> bool:
    """Whether a file is surely what it was when it was read. Raises: OSError."""
    return row.is_settled and row.signature == _signature(found.stat())


def _signature(stat: os.stat_result) -> tuple[int, int, int, int]:
    return stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino


def _read(writer: _Writer, folder: Path, path: str, known: _Row | None, report: Report) -> int:
    """Bring what is known of one file up to date. Returns: how many bytes were read."""
    row, state = writer.current(path, known), _State()
    try:
        data, state = _state(folder / path, path)
        if row and row.hash == state.hash and not writer.is_full:
            writer.touch(row.id, state)
            report.unchanged += not row.is_private
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
        writer.forget(row)
        report.read += writer.add(tree, state)
        report.is_changed = True
    return state.signature[0]


def _state(place: Path, path: str) -> tuple[bytes, _State]:
    """Read a file. Raises: OSError, NotFound, Unreadable."""
    now = time.time_ns()
    signature = _signature(os.stat(place, follow_symlinks=False))
    data = files.read(place, path)
    is_settled = max(signature[1:3]) < now - SETTLED_NS
    return data, _State(signature, is_settled, blake2b(data, digest_size=16).digest())


@dataclass(frozen=True, slots=True)
class _State:
    """A file as it was when it was read."""

    signature: tuple[int, int, int, int] = (0, 0, 0, 0)
    is_settled: bool = False
    hash: bytes = b""


@dataclass(frozen=True, slots=True)
class _Rows:
    """Rows to be written, by table; one table's come before those that refer to them."""

    node: list[tuple[object, ...]] = field(default_factory=list)
    node_id: list[tuple[str, int]] = field(default_factory=list)
    link: list[tuple[int, str]] = field(default_factory=list)
    words: list[tuple[int, str, str]] = field(default_factory=list)
    file_problem: list[tuple[int, int, str, str]] = field(default_factory=list)


_COLUMNS = {"words": "(rowid, title, body)"}


class _Writer:
    """Rows of one root, written in transactions of limited size."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        root: int,
        settings: Settings,
        pool: Executor,
        seen: int,
        is_full: bool,
    ) -> None:
        """seen: the store's data version before what is known was looked up."""
        self.connection, self.root, self.settings = connection, root, settings
        self.is_full, self._counting = is_full, Counting(settings.encoding, pool)
        self._active = settings.config.active or Active()
        self._seen, self._is_alone = seen, True
        self._is_first = not self._one("SELECT EXISTS (SELECT 1 FROM file)")
        self._rows = _Rows()
        self._texts: dict[int, list[str]] = {}
        self._next = self._waiting = 0

    @contextmanager
    def batch(self) -> Iterator[None]:
        """A transaction; what was added is in it when it ends."""
        with _transaction(self.connection):
            self._begin()
            yield
            self._counting.start()
            self._write()
            self._note_tokens(self._counting.write(self.connection))

    def _note_tokens(self, counts: dict[str, int]) -> None:
        """Note what each file costs that was added: its entries' counts add up."""
        totals = [(sum(map(counts.__getitem__, texts)), id_) for id_, texts in self._texts.items()]
        self.connection.executemany("UPDATE file SET tokens = ? WHERE id = ?", totals)
        self._texts = {}

    @property
    def has_stale_folders(self) -> bool:
        """Whether there are folders of which something changed."""
        return bool(
            self._one("SELECT EXISTS (SELECT 1 FROM stale_folder WHERE root = ?)", self.root)
        )

    def _begin(self) -> None:
        """See how things stand. Raises: sqlite3.Error if the root is no longer what it was."""
        if self._seen != _data_version(self.connection):
            self._is_alone = False
            query = "SELECT settings FROM root WHERE id = ?"
            if self._one(query, self.root) != str(self.settings):
                raise sqlite3.OperationalError("the root was synced with other settings meanwhile")
        self._next = self._one("SELECT coalesce(max(id), 0) + 1 FROM node")

    def _one(self, query: str, *values: int) -> Any:
        row = self.connection.execute(query, values).fetchone()
        return row[0] if row else None

    def current(self, path: str, row: _Row | None) -> _Row | None:
        """A file's row as it is now, even if somebody else has written since it was looked up."""
        return row if self._is_alone else _known(self.connection, self.root, path).get(path)

    def forget(self, row: _Row | None) -> None:
        """Delete a file's row and all that depends on it."""
        if row:
            self.connection.execute(
                "INSERT OR IGNORE INTO stale_folder SELECT root, folder FROM file WHERE id = ?",
                (row.id,),
            )
            _forget_words(self.connection, "file = ?", row.id)
            self.connection.execute("DELETE FROM file WHERE id = ?", (row.id,))

    def touch(self, id_: int, state: _State) -> None:
        """Note that a file holds what it held."""
        self.connection.execute(
            "UPDATE file SET size = ?, mtime = ?, ctime = ?, inode = ?, is_settled = ?"
            " WHERE id = ?",
            (*state.signature, state.is_settled, id_),
        )

    def add(self, tree: Tree, state: _State) -> bool:
        """Add a file with its nodes. Returns: whether there are any, or all of it is private."""
        shown = conceal(tree, self.settings.config.private_tags)
        if shown is not tree and not self._is_first:  # it may have been known before, anywhere
            self.connection.execute("UPDATE root SET has_traces = 1 WHERE id = ?", (self.root,))
        nodes = shown.nodes
        if not nodes:
            self._add_file(tree.path, state, is_private=True)
            return False
        file = self._add_file(tree.path, state, shown)
        found = ((file, each.line, each.what, each.hint) for each in problems(shown))
        self._rows.file_problem.extend(found)
        for at in range(0, len(nodes), SLICE_NODES):
            self._add_nodes(file, shown, nodes[at : at + SLICE_NODES])
            if self._waiting >= SLICE_CHARS:
                self._write()
        return True

    def add_unreadable(self, path: str, problem: Problem) -> None:
        """Add a file that could not be read; it has no nodes and is tried again each time."""
        file = self._add_file(path, _State())
        self._rows.file_problem.append((file, 0, problem.what, problem.hint))

    def _add_file(
        self, path: str, state: _State, tree: Tree | None = None, is_private: bool = False
    ) -> int:
        """path: kept as the file system has it, which need not be text. tree: what may be shown."""
        place, folder = os.fsencode(path), os.fsencode(path.rpartition("/")[0])
        facts = to_json(facts_of(tree)) if tree else ""
        headlines, title = (len(tree.nodes) - 1, tree.root.title) if tree else (0, "")
        is_active = tree is not None and any(map(self._active.holds, tree.nodes))
        row = self.connection.execute(
            "INSERT INTO file (root, path, size, mtime, ctime, inode, is_settled, hash, headlines,"
            " title, is_private, folder, is_active, tokens, facts)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?)",
            (self.root, place, *state.signature, state.is_settled, state.hash,
             headlines, title, is_private, folder, is_active, facts),
        )  # fmt: skip
        self.connection.execute(
            "INSERT OR IGNORE INTO stale_folder VALUES (?, ?)", (self.root, folder)
        )
        return int(row.lastrowid or 0)

    def _add_nodes(self, file: int, tree: Tree, nodes: list[Node]) -> None:
        rows, todos, is_plain = self._rows, tree.todos, "\r" not in tree.text
        texts = [node.text for node in nodes]
        numbered = list(zip(range(self._next, self._next + len(nodes)), nodes, texts, strict=True))
        self._next += len(nodes)
        self._waiting += sum(map(len, texts))
        rows.node.extend(
            (id_, file, n.index, n.first_line, n.level, n.parent_index, n.title, n.todo,
             n.todo in todos, " ".join(n.tags), n.custom_id)
            for id_, n, _ in numbered
        )  # fmt: skip
        rows.node_id.extend((each, id_) for id_, node, _ in numbered for each in {*node.ids})
        linking = ((id_, text) for id_, _, text in numbered if "id:" in text)
        rows.link.extend((id_, each) for id_, text in linking for each in linked_ids(text))
        rows.words.extend((id_, _words(node.title), _words(text)) for id_, node, text in numbered)
        counted = [texts_shown(node, text, is_plain) for _, node, text in numbered]
        entries = [
            text if node.level else "".join(node.lines)
            for node, (text, _) in zip(nodes, counted, strict=True)
        ]
        self._texts.setdefault(file, []).extend(entries)
        self._counting.add(
            [text for pair in counted for text in pair] + entries[: not nodes[0].level]
        )

    def _write(self) -> None:
        """Write the rows that wait for it."""
        for table in fields(_Rows):
            if rows := getattr(self._rows, table.name):
                marks = ", ".join("?" * len(rows[0]))
                into = f"{table.name} {_COLUMNS.get(table.name, '')}"
                self.connection.executemany(f"INSERT INTO {into} VALUES ({marks})", rows)
                rows.clear()
        self._waiting = 0


def _words(text: str) -> str:
    """Text as it is searched: scripts without spaces get them, and no NUL ends it early."""
    if not text.isascii():
        text = _SPACELESS.sub(lambda match: f" {' '.join(match[0])} ", text)
    return text.replace("\0", " ")


def _forget_words(connection: sqlite3.Connection, where: str, value: int | str) -> None:
    connection.execute(
        f"DELETE FROM words WHERE rowid IN (SELECT id FROM node WHERE {where})", (value,)
    )


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
    with _transaction(connection):
        connection.execute("DELETE FROM problem WHERE root = ?", (root,))
        connection.executemany("INSERT INTO problem VALUES (?, ?, ?, ?, ?)", rows)
