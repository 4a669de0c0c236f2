"""What texts cost, remembered: a text is known by its hash, so no text is kept."""

from __future__ import annotations

import sqlite3
import struct
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

from ..config import Config
from ..core.entry import entry, is_split, omitted, skeleton
from ..core.model import Node
from ..tokens import count_all, counts_apart
from .roots import escaped

if TYPE_CHECKING:
    from concurrent.futures import Executor

MARKS = 1000
CHUNK_CHARS = 200_000

_HASH = struct.Struct(">qI")


@dataclass(frozen=True, slots=True)
class Settings:
    """All on which the rows of a root depend besides its files."""

    config: Config
    encoding: str
    inlinetask_min_level: int | None = None

    def __str__(self) -> str:
        tags = sorted(self.config.private_tags)
        kept = self.config.ignore, tags, self.encoding, self.inlinetask_min_level
        return repr((*kept, self.config.active))


def key_of_folder(folder: Path) -> str:
    """What a root is known by; its name need not be text."""
    return escaped(str(folder))


class Counting:
    """Texts to be counted: by tiktoken in another thread, while others are read and written."""

    def __init__(self, encoding: str, pool: Executor) -> None:
        self._encoding, self._pool = encoding, pool
        self._texts: list[str] = []
        self._chars = 0
        self._jobs: list[Callable[[], dict[str, int]]] = []

    def add(self, texts: list[str]) -> None:
        """Have these counted, soon."""
        self._texts += texts
        self._chars += sum(map(len, texts))
        if self._chars >= CHUNK_CHARS:
            self.start()

    def start(self) -> None:
        """Have all that was added counted from now on."""
        texts, self._texts, self._chars = list(dict.fromkeys(self._texts)), [], 0
        if texts:
            job = partial(count_all, texts, self._encoding)
            is_apart = counts_apart(self._encoding)
            self._jobs.append(self._pool.submit(job).result if is_apart else job)

    def write(self, connection: sqlite3.Connection) -> dict[str, int]:
        """Remember what was added, once it is counted. Returns: it, by text."""
        self.start()
        counted: dict[str, int] = {}
        for result in self._jobs:
            counts = result()
            add_counts(connection, self._encoding, counts)
            counted.update(counts)
        self._jobs = []
        return counted


def add_counts(connection: sqlite3.Connection, encoding: str, counts: Mapping[str, int]) -> None:
    """Remember what texts cost."""
    rows = sorted((*key_of(text, encoding), count) for text, count in counts.items())
    connection.executemany("INSERT OR IGNORE INTO tokens VALUES (?, ?, ?)", rows)


def known_count(connection: sqlite3.Connection, encoding: str, text: str) -> int | None:
    """What a text costs, if that is remembered."""
    query = "SELECT count FROM tokens WHERE hash = ? AND more_hash = ?"
    row = connection.execute(query, key_of(text, encoding)).fetchone()
    return int(row[0]) if row else None


def known_counts(
    connection: sqlite3.Connection, encoding: str, texts: Iterable[str]
) -> dict[str, int]:
    """What those of `texts` cost that are remembered."""
    counts = {text: known_count(connection, encoding, text) for text in texts}
    return {text: count for text, count in counts.items() if count is not None}


def parts_of(text: str) -> list[str]:
    """Cut a text into lines, but only where what they cost is certain to add up."""
    lines = text.split("\n")
    ended = [*(f"{line}\n" for line in lines[:-1]), lines[-1]]
    parts = ended[:1]
    for line in filter(None, ended[1:]):
        if is_split(parts[-1], line):
            parts.append(line)
        else:
            parts[-1] += line
    return parts


def key_of(text: str, encoding: str) -> tuple[int, int]:
    """What a text is known by: 96 bits of a hash, the first 64 as SQLite's row number.

    Of two texts that have the same row number only the first is remembered.
    """
    data = text.encode("utf-8", "surrogatepass")
    return _HASH.unpack(blake2b(data, digest_size=12, person=encoding.encode()).digest())


def texts_shown(node: Node, text: str, is_plain: bool) -> tuple[str, str]:
    """What views show most of a node: its entry whole, and its skeleton.

    text: the node's. is_plain: whether line feeds alone end the lines of its file.
    """
    is_sealed = bool(node.properties) and not node.drawer
    if is_sealed or not node.level:
        pieces = entry(node, str).pieces
        return "".join(piece.text for piece in pieces), "".join(piece.reduced for piece in pieces)
    if is_plain and text.endswith("\n"):
        return text, _skeleton(node, text)
    return "".join(node.lines), skeleton(node, str).pieces[0].text


def _skeleton(node: Node, text: str) -> str:
    """A headline's skeleton, found without taking the entry apart where it is how it begins."""
    if node.drawer is None:
        return text[: text.index("\n") + 1]
    is_id_alone = len(node.properties) == 1 and bool(node.id or node.custom_id)
    is_below = node.drawer[0] == node.first_line + 1
    return node.head_text if is_id_alone and is_below else skeleton(node, str).pieces[0].text


def mark_texts(first: int = 1) -> list[str]:
    """The omission marks that are likely to be wanted, from those that leave out `first`."""
    return [
        omitted(number, what, newline)
        for number in range(first, MARKS)
        for what in ("headline", "line")
        for newline in ("\n", "\r\n")
    ]
