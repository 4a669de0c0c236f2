"""Sync: bring the store up to date by reading only what changed."""

from __future__ import annotations

import os
import re
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path

from ..config import ignorer
from ..core.entry import entry, skeleton
from ..core.model import Node, Problem, Tree
from ..core.outline import outline
from ..core.privacy import conceal
from ..errors import NotFound, OrgctxError
from . import files
from .counts import Settings, add_counts

SETTLED_NS = 2_000_000_000
"""A file that changed so shortly before it was read may change again in the same clock tick."""
BATCH = 200
CHUNK = 500

_LINK = re.compile(r"\[\[id:([^\[\]:]+(?::(?!:)[^\[\]:]*)*)(?:::[^\[\]]*)?\][\[\]]")
_SPACELESS = re.compile(
    "([\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
    "\uf900-\ufaff\U00020000-\U0003ffff])"
)

Progress = Callable[[int, int], None]


@dataclass(slots=True)
class Report:
    """What a sync did: files read, unchanged, removed, and what was wrong."""

    read: int = 0
    unchanged: int = 0
    removed: int = 0
    problems: list[Problem] = field(default_factory=list)
    hides_what_was_known: bool = False


def sync(
    connection: sqlite3.Connection,
    folder: Path,
    settings: Settings,
    count: Callable[[str], int],
    is_full: bool = False,
    progress: Progress | None = None,
) -> Report:
    """Bring one root up to date. Whoever is killed on the way has lost nothing but time.

    folder: the root, a real folder. count: in `settings.encoding`; called only for what is read.
    is_full: read every file again. progress: (files done, files to read) after each.
    Returns: Report.
    Raises: sqlite3.Error if the store cannot be written.
    """
    report = Report()
    root = _root(connection, folder, settings, is_full)
    known = _known(connection, root)
    changed = list(_changed(folder, settings, known, report))
    gone = [row.id for row in known.values()]
    with ThreadPoolExecutor(1) as pool:
        for at in range(0, len(changed), BATCH):
            with _transaction(connection):
                writer = _Writer(connection, root, settings, count, pool)
                for done, (path, row) in enumerate(changed[at : at + BATCH], at + 1):
                    _read(writer, folder, path, row, report)
                    if progress:
                        progress(done, len(changed))
                writer.flush()
    if gone:
        with _transaction(connection):
            for id_ in gone:
                forget(connection, id_)
    report.removed = len(gone)
    if report.hides_what_was_known:
        _purge(connection)
    _note_problems(connection, root, report.problems)
    return report


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


def forget(connection: sqlite3.Connection, file: int) -> None:
    """Delete a file's row and all that depends on it."""
    _forget_words(connection, "file = ?", file)
    connection.execute("DELETE FROM file WHERE id = ?", (file,))


@dataclass(frozen=True, slots=True)
class _Row:
    """What the store knows of a file."""

    id: int
    signature: tuple[int, int, int, int]
    is_settled: bool
    hash: bytes


def _root(connection: sqlite3.Connection, folder: Path, settings: Settings, is_full: bool) -> int:
    """The root's row; a new one without files if it was synced otherwise, or is to be read anew."""
    found = connection.execute(
        "SELECT id, settings FROM root WHERE folder = ?", (str(folder),)
    ).fetchone()
    if found and found[1] == str(settings) and not is_full:
        return int(found[0])
    with _transaction(connection):
        if found:
            _forget_words(connection, "file IN (SELECT id FROM file WHERE root = ?)", found[0])
            connection.execute("DELETE FROM root WHERE id = ?", (found[0],))
        row = connection.execute(
            "INSERT INTO root (folder, settings) VALUES (?, ?)", (str(folder), str(settings))
        )
    return int(row.lastrowid or 0)


def _known(connection: sqlite3.Connection, root: int) -> dict[str, _Row]:
    rows = connection.execute(
        "SELECT path, id, size, mtime, ctime, inode, is_settled, hash FROM file WHERE root = ?",
        (root,),
    )
    return {
        os.fsdecode(path): _Row(id_, (a, b, c, d), bool(e), f)
        for path, id_, a, b, c, d, e, f in rows
    }


def _changed(
    folder: Path, settings: Settings, known: dict[str, _Row], report: Report
) -> Iterator[tuple[str, _Row | None]]:
    """The notes that have to be read; those that are still there are taken out of `known`."""
    start = len(str(folder).rstrip(os.sep)) + 1
    patterns = settings.config.ignore
    for found in files.notes(folder, ignorer(patterns) if patterns else None):
        if isinstance(found, Problem):
            report.problems.append(Problem(found.path[start:], 0, found.what, found.hint))
            continue
        path = found.path[start:]
        row = known.pop(path, None)
        if row and row.is_settled and row.signature == _signature(found.stat()):
            report.unchanged += 1
        else:
            yield path, row


def _signature(stat: os.stat_result) -> tuple[int, int, int, int]:
    return stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino


def _read(writer: _Writer, folder: Path, path: str, row: _Row | None, report: Report) -> None:
    place = folder / path
    now = time.time_ns()
    try:
        signature = _signature(os.stat(place, follow_symlinks=False))
        data = files.read(place, path)
        is_settled = max(signature[1], signature[2]) < now - SETTLED_NS
        digest = blake2b(data, digest_size=16).digest()
        if row and row.hash == digest:
            writer.touch(row.id, signature, is_settled)
            report.unchanged += 1
            return
        text, encoding = files.decode(data, path)
    except (OSError, NotFound):
        writer.forget(row)
        return
    except OrgctxError as error:
        writer.forget(row)
        writer.add_file(path, signature)
        what = error.message.removeprefix(f"{path}: ")
        report.problems.append(Problem(path, 0, what, error.hint))
        return
    tree = outline(text, path, encoding, writer.settings.inlinetask_min_level)
    concealed = conceal(tree, writer.settings.config.private_tags)
    writer.forget(row)
    writer.add(concealed, signature, is_settled, digest)
    report.read += 1
    report.hides_what_was_known |= row is not None and concealed is not tree


class _Writer:
    """Rows of one root, written within a transaction that somebody else opens and ends."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        root: int,
        settings: Settings,
        count: Callable[[str], int],
        pool: Executor,
    ) -> None:
        self.run, self.run_many = connection.execute, connection.executemany
        self.connection, self.root, self.settings, self.count = connection, root, settings, count
        self._pool = pool
        self._nodes: list[tuple[object, ...]] = []
        self._ids: list[tuple[str, int]] = []
        self._links: list[tuple[int, str]] = []
        self._words: list[tuple[int, str, str]] = []
        self._texts: list[str] = []
        self._counted: list[tuple[list[str], Future[list[int]]]] = []
        self._next = int(self.run("SELECT coalesce(max(id), 0) + 1 FROM node").fetchone()[0])

    def forget(self, row: _Row | None) -> None:
        if row:
            forget(self.connection, row.id)

    def touch(self, id_: int, signature: tuple[int, int, int, int], is_settled: bool) -> None:
        self.run(
            "UPDATE file SET size = ?, mtime = ?, ctime = ?, inode = ?, is_settled = ?"
            " WHERE id = ?",
            (*signature, is_settled, id_),
        )

    def add(
        self, tree: Tree, signature: tuple[int, int, int, int], is_settled: bool, digest: bytes
    ) -> None:
        nodes = list(tree.nodes)
        file, first = self.add_file(tree.path, signature, is_settled, digest, nodes), self._next
        self._next += len(nodes)
        numbered = [(first + node.index, node) for node in nodes]
        self._nodes += [
            (id_, file, n.index, n.first_line, n.level, n.parent_index, n.title, n.todo,
             " ".join(n.tags), n.custom_id)
            for id_, n in numbered
        ]  # fmt: skip
        self._ids += [(each, id_) for id_, node in numbered for each in {*node.ids}]
        self._links += [(id_, each) for id_, n in numbered for each in {*_LINK.findall(n.text)}]
        self._words += [(id_, _words(node.title), _words(node.text)) for id_, node in numbered]
        self._texts += _counted_texts(nodes)
        if len(self._texts) >= CHUNK:
            self._count()

    def _count(self) -> None:
        """Have the tokenizer, which needs no lock of Python's, count while rows are made."""
        texts = list(dict.fromkeys(self._texts))
        counts = self._pool.submit(lambda: list(map(self.count, texts)))
        self._counted.append((texts, counts))
        self._texts = []

    def flush(self) -> None:
        """Write the rows that were added."""
        self._count()
        self.run_many("INSERT INTO node VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", self._nodes)
        self.run_many("INSERT INTO node_id VALUES (?, ?)", self._ids)
        self.run_many("INSERT INTO link VALUES (?, ?)", self._links)
        self.run_many("INSERT INTO words (rowid, title, body) VALUES (?, ?, ?)", self._words)
        for texts, counts in self._counted:
            add_counts(self.connection, self.settings.encoding, texts, counts.result())

    def add_file(
        self,
        path: str,
        signature: tuple[int, int, int, int],
        is_settled: bool = False,
        digest: bytes = b"",
        nodes: Sequence[Node] | None = None,
    ) -> int:
        """A file's row; one that cannot be read has no nodes and is tried again each time.

        path: kept as the file system has it, which need not be text. nodes: empty if all of the
            file is private.
        """
        row = self.run(
            "INSERT INTO file (root, path, size, mtime, ctime, inode, is_settled, hash, headlines,"
            " title, is_private) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (self.root, os.fsencode(path), *signature, is_settled, digest,
             max(len(nodes or ()) - 1, 0), nodes[0].title if nodes else "", nodes == []),
        )  # fmt: skip
        return int(row.lastrowid or 0)


def _counted_texts(nodes: list[Node]) -> list[str]:
    """What views show most: each entry whole, and its skeleton."""
    texts: list[str] = []
    for node in nodes:
        if node.level:
            texts += ["".join(node.lines), skeleton(node, str).pieces[0].text]
        else:
            pieces = entry(node, str).pieces
            texts += ["".join(p.text for p in pieces), "".join(p.reduced for p in pieces)]
    return texts


def _words(text: str) -> str:
    """Text as it is searched: scripts without spaces get them, and no NUL ends it early."""
    if not text.isascii():
        text = _SPACELESS.sub(lambda match: f" {match[0]} ", text)
    return text.replace("\0", " ")


def _forget_words(connection: sqlite3.Connection, where: str, value: int) -> None:
    connection.execute(
        f"DELETE FROM words WHERE rowid IN (SELECT id FROM node WHERE {where})", (value,)
    )


def _purge(connection: sqlite3.Connection) -> None:
    """Have no trace of deleted rows left: not in the index of words, not in the log."""
    connection.execute("INSERT INTO words (words) VALUES ('optimize')")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _note_problems(connection: sqlite3.Connection, root: int, found: list[Problem]) -> None:
    """Keep what is wrong with files that are no rows; what is wrong in notes is seen in them."""
    rows = [(root, os.fsencode(each.path), each.line, each.what, each.hint) for each in found]
    known = "SELECT root, path, line, what, hint FROM problem WHERE root = ?"
    if connection.execute(known, (root,)).fetchall() == rows:
        return
    with _transaction(connection):
        connection.execute("DELETE FROM problem WHERE root = ?", (root,))
        connection.executemany("INSERT INTO problem VALUES (?, ?, ?, ?, ?)", rows)
