"""What is kept of the files that were read, and how it is read again from a registry."""

from __future__ import annotations

import base64
import gzip
import re
import zlib
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from .version import Spans, clip

LONGEST_CHARS = 20_000_000
"""The longest text that is kept."""


class Home(NamedTuple):
    """Where a file can be read again.

    place: on disk. roots: name and folder of each of its memex; none if it stands alone.
    """

    place: str
    roots: tuple[tuple[str, str], ...]
    inlinetask_min_level: int | None


class Source(NamedTuple):
    """A file as it was when it was read.

    path: as addresses name it. title: of the file; may be empty.
    revision, spans: see Version.
    """

    path: str
    title: str
    revision: str
    spans: Spans
    home: Home

    @property
    def total(self) -> int:
        """The last line that may be shown; 0 if none may."""
        return self.spans[-1][1] if self.spans else 0

    def clamped(self, first: int, last: int) -> tuple[int, int] | None:
        """First and last of the lines that may be shown; beyond the end there is the last line."""
        return clip(self.spans, min(first, self.total), min(last, self.total))


class Stretch(NamedTuple):
    """Lines that were shown. title: of what was read. packed: their text, gzip in base64."""

    number: int
    first: int
    last: int
    title: str
    packed: str

    def texts(self) -> dict[int, str]:
        """Each line by its number. Raises: ValueError if it is damaged."""
        text = _unpacked(self.packed)
        return dict(zip(range(self.first, self.last + 1), text.split("\n"), strict=True))


def packed(lines: Iterable[str]) -> str:
    data = "\n".join(lines).encode("utf-8", "surrogatepass")
    return base64.b64encode(gzip.compress(data, mtime=0)).decode()


def _unpacked(packed: str) -> str:
    """Raises: ValueError if it is damaged."""
    unpacker = zlib.decompressobj(wbits=31)
    try:
        data = unpacker.decompress(base64.b64decode(packed, validate=True), 4 * LONGEST_CHARS)
    except zlib.error as error:
        raise ValueError("no gzip") from error
    if not unpacker.eof:
        raise ValueError("cut")
    return data.decode("utf-8", "surrogatepass")


def checked_source(data: Any) -> Source:
    """Raises: ValueError, TypeError or KeyError if it is none."""
    home, level = data["home"], data["home"]["inlinetask_min_level"]
    spans = tuple((_whole(first), _whole(last)) for first, last in data["spans"])
    is_hex = re.fullmatch("[0-9a-f]{40}", data["revision"])
    is_ordered = all(first <= last for first, last in spans)
    is_ordered &= all(above[1] < below[0] for above, below in pairwise(spans))
    if not is_hex or not is_ordered or (level is not None and _whole(level) < 2):
        raise ValueError("no source")
    path, title = _text(data["path"]), _text(data["title"])
    roots = tuple((_text(name), _text(folder)) for name, folder in home["roots"])
    found = Home(_text(home["place"]), roots, level)
    return Source(path, title, data["revision"], spans, found)


def checked_stretch(data: Any, sources: Sequence[Source]) -> Stretch:
    """Raises: ValueError, TypeError or KeyError if it is none."""
    number, first, last = (_whole(data[name]) for name in ("number", "first", "last"))
    stretch = Stretch(number, first, last, _text(data["title"]), _text(data["packed"]))
    if stretch.number > len(sources) or not stretch.texts():
        raise ValueError("no stretch")
    return stretch


def _whole(value: Any) -> int:
    if type(value) is not int or value < 1:
        raise ValueError("no line")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("no text")
    return value
