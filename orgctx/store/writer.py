"""What is known of files, as rows: looked up, added and forgotten in transactions."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from hashlib import blake2b
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from ..config import Active
from ..core.model import Node, Problem, Tree
from ..core.outline import problems
from ..core.planning import planned
from ..core.privacy import conceal
from .counts import Counting, Settings, texts_shown
from .link_keys import leaving
from .signature import Signature
from .symbols import symbols
from .words import searched, spaced

if TYPE_CHECKING:
    from concurrent.futures import Executor

SLICE_CHARS = 250_000
"""What is held in memory until it is written."""
SLICE_NODES = 1000


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All of it or nothing, whatever ends it."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        if connection.in_transaction:  # SQLite itself has rolled back where the disk is full
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def data_version(connection: sqlite3.Connection) -> int:
    """A number that changes when somebody else writes to the store."""
    return int(connection.execute("PRAGMA data_version").fetchone()[0])


class Row(NamedTuple):
    """What the store knows of a file; size, mtime, ctime and inode are its signature."""

    id: int
    size: int
    mtime: int
    ctime: int
    inode: int
    is_settled: int
    hash: bytes
    is_private: int


@dataclass(frozen=True, slots=True)
class State:
    """A file as it was when it was read. hash: of its bytes; but see `Writer.told`."""

    signature: Signature = (0, 0, 0, 0)
    is_settled: bool = False
    hash: bytes = b""


def known_files(
    connection: sqlite3.Connection, root: int, path: str | None = None
) -> dict[str, Row]:
    """What is known of a root's files, or of one."""
    rows = connection.execute(
        "SELECT path, id, size, mtime, ctime, inode, is_settled, hash, is_private FROM file"
        " WHERE root = ?" + (" AND path = ?" if path is not None else ""),
        (root,) if path is None else (root, os.fsencode(path)),
    )
    return {os.fsdecode(path): Row(*known) for path, *known in rows}


@dataclass(frozen=True, slots=True)
class _Rows:
    """Rows to be written, by table; one table's come before those that refer to them."""

    node: list[tuple[object, ...]] = field(default_factory=list)
    node_id: list[tuple[str, int]] = field(default_factory=list)
    link: list[tuple[int, str]] = field(default_factory=list)
    symbol: list[tuple[int, str, str, int]] = field(default_factory=list)
    words: list[tuple[int, str, str, str]] = field(default_factory=list)
    file_problem: list[tuple[int, int, str, str]] = field(default_factory=list)


_COLUMNS = {"words": "(rowid, title, names, body)"}


class Writer:
    """Rows of one root, written in transactions of limited size."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        root: int,
        settings: Settings,
        pool: Executor | None,
        seen: int,
        is_full: bool,
    ) -> None:
        """pool: counts tokens; None: nobody wants to know them.

        seen: the store's data version before what is known was looked up.
        """
        self.connection, self.root, self.settings = connection, root, settings
        self.is_full = is_full
        self._counting = Counting(settings.encoding, pool) if pool else None
        self._active = settings.config.active or Active()
        self._seen, self._is_alone = seen, True
        self._is_first = not self._one("SELECT EXISTS (SELECT 1 FROM file)")
        self._rows = _Rows()
        self._texts: dict[int, list[str]] = {}
        self._next = self._waiting = 0

    @contextmanager
    def batch(self) -> Iterator[None]:
        """A transaction; what was added is in it when it ends."""
        with transaction(self.connection):
            self._begin()
            yield
            if self._counting:
                self._counting.start()
            self._write()
            if self._counting:
                self._note_tokens(self._counting.write(self.connection))

    def _note_tokens(self, counts: dict[str, int]) -> None:
        """Note what each file costs that was added: its entries' counts add up."""
        totals = [(sum(map(counts.__getitem__, texts)), id_) for id_, texts in self._texts.items()]
        self.connection.executemany("UPDATE file SET tokens = ? WHERE id = ?", totals)
        self._texts = {}

    def _begin(self) -> None:
        """See how things stand. Raises: sqlite3.Error if the root is no longer what it was."""
        if self._seen != data_version(self.connection):
            self._is_alone = False
            query = "SELECT settings FROM root WHERE id = ?"
            if self._one(query, self.root) != str(self.settings):
                raise sqlite3.OperationalError("the root was synced with other settings meanwhile")
        self._next = self._one("SELECT coalesce(max(id), 0) + 1 FROM node")

    def _one(self, query: str, *values: int) -> Any:
        row = self.connection.execute(query, values).fetchone()
        return row[0] if row else None

    def current(self, path: str, row: Row | None) -> Row | None:
        """A file's row as it is now, even if somebody else has written since it was looked up."""
        return row if self._is_alone else known_files(self.connection, self.root, path).get(path)

    def forget(self, row: Row | None) -> None:
        """Delete a file's row and all that depends on it."""
        if row:
            self.connection.execute(
                "INSERT OR IGNORE INTO stale_folder SELECT root, folder FROM file WHERE id = ?",
                (row.id,),
            )
            forget_words(self.connection, "file = ?", row.id)
            self.connection.execute("DELETE FROM file WHERE id = ?", (row.id,))

    def touch(self, id_: int, state: State) -> None:
        """Note that a file holds what it held."""
        self.connection.execute(
            "UPDATE file SET size = ?, mtime = ?, ctime = ?, inode = ?, is_settled = ?"
            " WHERE id = ?",
            (*state.signature, state.is_settled, id_),
        )

    def told(self, tree: Tree, state: State) -> State:
        """What of a file's state may be kept: if something is hidden, a hash of the rest alone.

        One of all would tell whether a guess at what is hidden is right.
        """
        shown = conceal(tree, self.settings.config.private_tags)
        if shown is tree:
            return state
        said = [
            (n.first_line, n.todo, n.todo in tree.todos, n.tags, n.properties, n.text)
            for n in shown.nodes
        ]
        return replace(state, hash=blake2b(repr(said).encode(), digest_size=16).digest())

    def add(self, tree: Tree, state: State) -> bool:
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
        file = self._add_file(path, State())
        self._rows.file_problem.append((file, 0, problem.what, problem.hint))

    def _add_file(
        self, path: str, state: State, tree: Tree | None = None, is_private: bool = False
    ) -> int:
        """path: kept as the file system has it, which need not be text. tree: what may be shown."""
        from .summaries import facts_of, to_json  # a sync that finds nothing new does without

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
             n.todo in todos, len(text), " ".join(n.tags), _planned(n, text), n.custom_id)
            for id_, n, text in numbered
        )  # fmt: skip
        rows.node_id.extend((each, id_) for id_, node, _ in numbered for each in {*node.ids})
        settings, path = tree.settings, tree.path.replace(os.sep, "/")
        for id_, _, text in numbered:
            rows.link.extend((id_, each) for each in leaving(text, settings, path))
        for id_, node, text in numbered:
            given = symbols(text, node.first_line)
            rows.symbol.extend((id_, *each) for each in given)
            title, names, body = map(spaced, searched(node, text, given))
            rows.words.append((id_, title, names, body))
        if self._counting:
            self._count(self._counting, file, numbered, is_plain)

    def _count(
        self, counting: Counting, file: int, numbered: list[tuple[int, Node, str]], is_plain: bool
    ) -> None:
        """Have counted what views show most of these nodes."""
        counted = [texts_shown(node, text, is_plain) for _, node, text in numbered]
        entries = [
            text if node.level else "".join(node.lines)
            for (_, node, _), (text, _) in zip(numbered, counted, strict=True)
        ]
        self._texts.setdefault(file, []).extend(entries)
        is_first = not numbered[0][1].level
        counting.add([text for pair in counted for text in pair] + entries[:is_first])

    def _write(self) -> None:
        """Write the rows that wait for it."""
        for table in fields(_Rows):
            if rows := getattr(self._rows, table.name):
                marks = ", ".join("?" * len(rows[0]))
                into = f"{table.name} {_COLUMNS.get(table.name, '')}"
                self.connection.executemany(f"INSERT INTO {into} VALUES ({marks})", rows)
                rows.clear()
        self._waiting = 0


def _planned(node: Node, text: str) -> str:
    return " ".join(chain(*planned(text))) if node.level else ""


def forget_words(connection: sqlite3.Connection, where: str, value: int | str) -> None:
    connection.execute(
        f"DELETE FROM words WHERE rowid IN (SELECT id FROM node WHERE {where})", (value,)
    )
