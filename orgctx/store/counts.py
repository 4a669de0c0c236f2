"""What texts cost, remembered: a text is known by its hash, so no text is kept."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b

from ..config import Config
from ..core.entry import omitted

MARKS = 1000


@dataclass(frozen=True, slots=True)
class Settings:
    """All on which the rows of a root depend besides its files."""

    config: Config
    encoding: str
    inlinetask_min_level: int | None = None

    def __str__(self) -> str:
        tags = sorted(self.config.private_tags)
        return repr((self.config.ignore, tags, self.encoding, self.inlinetask_min_level))


def add_counts(
    connection: sqlite3.Connection, encoding: str, texts: Iterable[str], counts: Iterable[int]
) -> None:
    """Remember what texts cost; they are known by their hash, so no text is kept."""
    rows = ((encoding, key_of(text), n) for text, n in zip(texts, counts, strict=True))
    connection.executemany("INSERT OR IGNORE INTO tokens VALUES (?, ?, ?)", rows)


def key_of(text: str) -> bytes:
    """What a text is known by in the table of counts."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=12).digest()


def mark_texts() -> list[str]:
    """The omission marks that are likely to be wanted."""
    return [
        omitted(number, what, newline)
        for number in range(1, MARKS)
        for what in ("headline", "line")
        for newline in ("\n", "\r\n")
    ]
