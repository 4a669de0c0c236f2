"""The words of the notes: how entries are indexed for a query, and what the index is asked.

A query is ranked by what this tells, so nothing here decides what is a good answer.
"""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from typing import Any, NamedTuple
from unicodedata import normalize

from ..core.model import Node
from .symbols import Symbol

TOKENIZE = "porter unicode61 remove_diacritics 2 categories 'L* N* Co Mn Mc'"
"""How the index cuts and folds words: by stems where they are English, and without diacritics; but
with the marks that are vowels of Indic scripts."""
WORDS = (
    f'CREATE VIRTUAL TABLE words USING fts5(title, names, body, tokenize="{TOKENIZE}")',
    "CREATE VIRTUAL TABLE word_place USING fts5vocab(words, instance)",
)
"""The index: the words of each node, and where each word is."""
SPACELESS = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
    "\uf900-\ufaff\U00020000-\U0003ffff"
)
"""Characters of scripts that are searched one by one, as the inside of [...]."""
MIN_PREFIX = 6
EXCERPT = 10_000
"""How much of an entry is looked at for what is nearly everywhere, in characters."""
MANY = 4000
"""Nodes that are too many to look where each is, to say how rare a word is."""
LITTLE, LITTLE_CHARS = 3000, 500_000
"""How many nodes, and characters of them, are soon indexed on their own."""

_SPACELESS = re.compile(f"[{SPACELESS}]+")
_OPTIONAL = re.compile(
    "[\u00ad\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670"
    "\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed\u200c\u200d\u2060\ufeff]"
)
_ACCENTED = re.compile("[\u0370-\u03ff\u1f00-\u1fff\u0451]")
_ACCENTS = re.compile("(?<=[\u0370-\u03ff])[\u0300-\u036f]+|(?<=\u0435)\u0308")
_DIGIT = re.compile(r"[0-9]")
_ALIASES = frozenset({"ROAM_ALIASES", "ALIASES"})
_IDS = frozenset({"ID", "CUSTOM_ID"})


def folded(text: str) -> str:
    """Text as words are compared: without what they may be written with or without.

    That is case, forms of one character (Unicode's NFKC), soft hyphens, joiners, the points of
    Hebrew and Arabic, and the accents of Greek and of Russian. To those of Latin SQLite sees.
    """
    if text.isascii():
        return text
    text = normalize("NFKC", text).casefold()
    if _ACCENTED.search(text):
        text = normalize("NFC", _ACCENTS.sub("", normalize("NFD", text)))
    return _OPTIONAL.sub("", text)


def spaced(text: str) -> str:
    """Text as it is indexed: scripts without spaces get them, and no NUL ends it early."""
    if not text.isascii():
        text = _SPACELESS.sub(lambda match: f" {' '.join(match[0])} ", folded(text))
    return text.replace("\0", " ")


def is_spaceless(text: str) -> bool:
    """Whether a text begins with a character of a script without spaces."""
    return _SPACELESS.match(text) is not None


def searched(node: Node, text: str, given: Sequence[Symbol]) -> tuple[str, str, str]:
    """What of an entry is searched: title, names, text.

    Names are its keyword, tags, aliases, CUSTOM_ID and symbols; of a file its path too. The text is
    that below headline and drawer, with the values of its properties but for IDs.
    """
    known = {key.upper(): value for key, value in node.properties} if node.properties else {}
    names = [node.todo or "", *node.tags, known.get("CUSTOM_ID", ""), *(s.name for s in given)]
    names += [value for key, value in known.items() if key in _ALIASES]
    names += [] if node.level else [node.path.encode("utf-8", "replace").decode()]
    values = [value for key, value in known.items() if key not in _IDS | _ALIASES]
    return node.title, " ".join(names), "\n".join([*values, _below_head(node, text)])


def _below_head(node: Node, text: str) -> str:
    if node.drawer:
        return text[len(node.head_text) :]
    return text.partition("\n")[2] if node.level else text


class Place(NamedTuple):
    """A node as the index knows it.

    id: its row. parent: the row of the node above, 0 for a file. file: the row of its file.
    place: its number in the file. line: its first, 1-based. is_open: whether its keyword is.
    """

    id: int
    parent: int
    file: int
    place: int
    line: int
    level: int
    title: str
    todo: str | None
    is_open: bool


class Note(NamedTuple):
    """A file as the index knows it. path: its address. changed: its mtime in nanoseconds."""

    path: str
    title: str
    changed: int


_PLACE = "id, CASE level WHEN 0 THEN 0 ELSE id - place + parent END, file, place, line, level,"
_PLACE += " title, todo, is_open"
_OF_ID = "CROSS JOIN node ON node.id = node_id.node CROSS JOIN file ON file.id = node.file"
_OF_PLACE = "CROSS JOIN node ON node.id = doc CROSS JOIN file ON file.id = node.file"
_OF_FILE = "CROSS JOIN node ON node.id = words.rowid CROSS JOIN file ON file.id = node.file"
_WITHIN = """file.id IN (
  WITH part (root, path, below, beyond) AS (VALUES {rows})
  SELECT f.id FROM part CROSS JOIN file AS f ON f.root = part.root AND f.path = part.path UNION ALL
  SELECT f.id FROM part CROSS JOIN file AS f
    ON f.root = part.root AND f.path >= part.below AND f.path < part.beyond)"""


Run = Callable[[str, Sequence[Any]], list[tuple[Any, ...]]]
"""Gives the rows of a statement."""


@dataclass(frozen=True, slots=True)
class Words:
    """The index, of the notes in some roots, or in some folders of them.

    run: of the store. roots: row -> the address of a path in it.
    paths: (root's row, path in it) of the folders and files alone that are looked in; None for all.
    is_all: whether the index holds nothing else.
    index: where the index is, if it is not in the store.
    """

    run: Run
    roots: Mapping[int, Callable[[str], str]]
    paths: Sequence[tuple[int, str]] | None = None
    is_all: bool = False
    index: Run | None = None

    def _found(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        """Rows of the index."""
        return (self.index or self.run)(statement, values)

    @property
    def _scope(self) -> str:
        """The condition on a file."""
        if self.paths is None:
            return f"file.root IN ({','.join(map(str, self.roots)) or 'NULL'})"
        rows = (_part(root, os.fsencode(path)) for root, path in self.paths)
        return _WITHIN.format(rows=",".join(rows)) if self.paths else "0"

    def total(self) -> int:
        """How many nodes there are."""
        if self.paths is None:
            folder = f"root IN ({','.join(map(str, self.roots)) or 'NULL'}) AND path = x''"
            return self._sum(f"SELECT sum(files + headlines) FROM folder WHERE {folder}")
        return self._sum(
            f"SELECT sum(1 + headlines) FROM file WHERE NOT is_private AND {self._scope}"
        )

    def size_of(self, root: int, folder: bytes) -> tuple[int, int]:
        """How many notes and headlines of those that are looked in a folder has, at any depth."""
        query = "SELECT count(*), total(headlines) FROM file WHERE NOT is_private AND hash != x''"
        inside = _WITHIN.format(rows=_part(root, folder))
        [(files, headlines)] = self.run(f"{query} AND {inside} AND {self._scope}", ())
        return files, int(headlines)

    def _sum(self, statement: str) -> int:
        return int(self.run(statement, ())[0][0] or 0)

    def indexed_count(self, expression: str) -> int:
        """How many nodes an expression of FTS5 matches, of other roots and folders too."""
        query = "SELECT count(*) FROM words WHERE words MATCH ?"
        return int(self._found(query, expression)[0][0])

    def count(self, expression: str) -> int:
        """How many nodes an expression matches; if that is beyond `MANY` in the index, roughly."""
        count = self.indexed_count(expression)
        if self.is_all or not count:
            return count
        if count > MANY:
            return max(1, count * self.total() // self._sum("SELECT sum(1 + headlines) FROM file"))
        query = f"SELECT count(*) FROM words {_OF_FILE} WHERE words MATCH ? AND {self._scope}"
        return int(self._found(query, expression)[0][0])

    def nodes(self, expression: str, most: int) -> list[int]:
        """The nodes that an expression of FTS5 matches, the first `most`."""
        join, scope = ("", "") if self.is_all else (_OF_FILE, f" AND {self._scope}")
        rows = self._found(
            f"SELECT words.rowid FROM words {join} WHERE words MATCH ?{scope}"
            f" ORDER BY words.rowid LIMIT {most}",
            expression,
        )
        return [id_ for (id_,) in rows]

    def occurrences(self, stem: str, most: int) -> list[tuple[int, str]]:
        """Where a word stands, the first `most` times: the node; "title", "names" or "body"."""
        join, scope = ("", "") if self.is_all else (_OF_PLACE, f" AND {self._scope}")
        query = f"SELECT doc, col FROM word_place {join} WHERE term = ?{scope} LIMIT {most}"
        return self._found(query, stem)

    @contextmanager
    def searched(self) -> Iterator[Words]:
        """The same with an index of nothing else, if that is soon made: if there are few words."""
        if self.is_all:
            yield self
            return
        sizes = self.run(
            f"SELECT node.id, node.size FROM file CROSS JOIN node ON node.file = file.id"
            f" WHERE {self._scope} LIMIT {LITTLE}",
            (),
        )
        if len(sizes) == LITTLE or sum(size for _, size in sizes) > LITTLE_CHARS:
            yield self
            return
        with self.excerpt([node for node, _ in sizes], LITTLE_CHARS) as few:
            yield few

    def sizes(self, nodes: Iterable[int]) -> dict[int, int]:
        """How long the entries of some nodes are, in characters."""
        marks = ",".join(map(str, nodes))
        return dict(self.run(f"SELECT id, size FROM node WHERE id IN ({marks})", ()))

    @contextmanager
    def excerpt(self, nodes: Sequence[int], most: int = EXCERPT) -> Iterator[Words]:
        """The same with an index of some nodes alone, of no more than `most` characters of each.

        In it everything is soon found; in the whole, FTS5 may have to pass all nodes for each.
        """
        marks = ",".join(map(str, nodes))
        begun = f"SELECT rowid, title, names, substr(body, 1, {most}) FROM words"
        rows = self._found(f"{begun} WHERE rowid IN ({marks})")
        with closing(sqlite3.connect(":memory:", isolation_level=None)) as own:
            for statement in WORDS:
                own.execute(statement)
            own.executemany("INSERT INTO words (rowid, title, names, body) VALUES (?,?,?,?)", rows)

            def index(statement: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
                return own.execute(statement, values).fetchall()

            yield replace(self, is_all=True, index=index)

    def places(self, nodes: Iterable[int]) -> dict[int, Place]:
        """What is known of some nodes, and of those above them."""
        known: dict[int, Place] = {}
        wanted = set(nodes)
        while wanted:
            marks = ",".join(map(str, wanted))
            rows = self.run(f"SELECT {_PLACE} FROM node WHERE id IN ({marks})", ())
            known.update((row[0], Place(*row)) for row in rows)
            wanted = {known[id_].parent for id_ in wanted if id_ in known} - known.keys() - {0}
        return known

    def notes(self, files: Iterable[int]) -> dict[int, Note]:
        """What is known of some files."""
        marks = ",".join(map(str, files))
        rows = self.run(f"SELECT id, root, path, title, mtime FROM file WHERE id IN ({marks})", ())
        return {
            id_: Note(self.roots[root](os.fsdecode(path)), title, changed)
            for id_, root, path, title, changed in rows
        }

    def named(self, name: str) -> list[int]:
        """The nodes that `id:ID`, `#CUSTOM_ID`, or either as a bare word names, the first 2.

        6 characters of an ID are enough, after `id:` or with a digit in them. A bare CUSTOM_ID is
        one that is no plain word.
        """
        plain = name.removeprefix("id:")
        if name.startswith("#"):
            return self._of_custom_id(name[1:])
        rows = self._of_id("= ?", plain)
        if not rows and len(plain) >= MIN_PREFIX and (plain != name or _DIGIT.search(plain)):
            rows = self._of_id(">= ? AND value < ?", plain, plain + "\U0010ffff")
        if not rows and plain == name and not plain.isalpha():
            rows = self._of_custom_id(plain)
        return rows

    def _of_id(self, condition: str, *values: str) -> list[int]:
        query = f"SELECT DISTINCT node.id FROM node_id {_OF_ID} WHERE {self._scope} AND value"
        return [id_ for (id_,) in self.run(f"{query} {condition} LIMIT 2", values)]

    def _of_custom_id(self, custom_id: str) -> list[int]:
        query = "SELECT node.id FROM node CROSS JOIN file ON file.id = node.file"
        where = f"WHERE {self._scope} AND custom_id = ? LIMIT 2"
        return [id_ for (id_,) in self.run(f"{query} {where}", (custom_id,))]

    def defining(self, called: Iterable[str]) -> set[int]:
        """The nodes that have a term of a description list, and those of files of some name.

        called: what the path or title of such a file has in it.
        """
        parts = [f"%{each}%" for each in called]
        likes = " OR ".join("CAST(path AS TEXT) || ' ' || file.title LIKE ?" for _ in parts)
        rows = self.run(
            "SELECT node FROM symbol WHERE kind = 'term' UNION SELECT node.id FROM file"
            f" CROSS JOIN node ON node.file = file.id WHERE {likes or '0'}",
            parts,
        )
        return {node for (node,) in rows}

    def titles(self, most: int) -> list[tuple[int, str]]:
        """The titles of the first `most` headlines that have one, each with its node."""
        query = "SELECT node.id, node.title FROM node CROSS JOIN file ON file.id = node.file"
        where = f"level > 0 AND node.title != '' AND {self._scope} ORDER BY node.id LIMIT {most}"
        return self.run(f"{query} WHERE {where}", ())

    def links(self, nodes: Iterable[int]) -> list[tuple[int, int]]:
        """(node, other) for each link by ID from one of some nodes to another of them."""
        marks = ",".join(map(str, nodes))
        return self.run(
            "SELECT DISTINCT link.node, node_id.node FROM link"
            " JOIN node_id ON target = 'id:' || value"
            f" WHERE link.node IN ({marks}) AND node_id.node IN ({marks})"
            " AND link.node != node_id.node",
            (),
        )

    def symbols(self, nodes: Iterable[int]) -> dict[int, list[Symbol]]:
        """What some nodes give a name: their symbols, IDs, CUSTOM_IDs and tags."""
        marks = ",".join(map(str, nodes))
        rows = self.run(
            f"SELECT node, kind, name, line FROM symbol WHERE node IN ({marks}) UNION ALL"
            f" SELECT node, 'id', value, line FROM node_id JOIN node ON node.id = node_id.node"
            f" WHERE node IN ({marks}) UNION ALL"
            f" SELECT id, 'custom_id', custom_id, line FROM node"
            f" WHERE id IN ({marks}) AND custom_id IS NOT NULL UNION ALL"
            f" SELECT id, 'tags', tags, line FROM node WHERE id IN ({marks}) AND tags != ''",
            (),
        )
        found: dict[int, list[Symbol]] = {}
        for node, kind, name, line in rows:
            names = name.split() if kind == "tags" else [name]
            found.setdefault(node, []).extend(Symbol(kind.rstrip("s"), n, line) for n in names)
        return found

    def beginnings(self, nodes: Iterable[int], most: int) -> dict[int, tuple[str, str]]:
        """The titles of some nodes, and the beginnings of their texts."""
        marks = ",".join(map(str, nodes))
        query = f"SELECT rowid, title, substr(body, 1, {most}) FROM words WHERE rowid IN ({marks})"
        return {node: (title, text) for node, title, text in self.run(query, ())}

    def meanings(self, nodes: Iterable[int]) -> dict[int, bytes]:
        """What is remembered of what some nodes mean; see Store.remember_meanings."""
        marks = ",".join(map(str, nodes))
        return dict(self.run(f"SELECT node, vectors FROM meaning WHERE node IN ({marks})", ()))


def _part(root: int, path: bytes) -> str:
    """A file or folder as a row of SQL, with where what is below it begins and ends."""
    below, beyond = (path + b"/", path + b"0") if path else (b"", b"\xff" * 4)
    return f"({root}, x'{path.hex()}', x'{below.hex()}', x'{beyond.hex()}')"


def phrase(text: str) -> str:
    """An expression of FTS5 for a text whose words follow each other."""
    return '"' + text.replace('"', '""') + '"'


def stems(words: Sequence[str]) -> list[str]:
    """Each word as the index has it; "" for one that it would not have.

    A word that the index would cut in two is its parts, joined by a blank.
    """
    own = sqlite3.connect(":memory:")
    own.execute(f"CREATE VIRTUAL TABLE given USING fts5(word, content='', tokenize=\"{TOKENIZE}\")")
    own.execute("CREATE VIRTUAL TABLE part USING fts5vocab(given, instance)")
    numbered = list(enumerate(map(folded, words)))
    own.executemany("INSERT INTO given (rowid, word) VALUES (?, ?)", numbered)
    parts: dict[int, list[str]] = {}
    for term, number in own.execute('SELECT term, doc FROM part ORDER BY doc, "offset"'):
        parts.setdefault(number, []).append(term)
    own.close()
    return [" ".join(parts.get(number, ())) for number, _ in numbered]
