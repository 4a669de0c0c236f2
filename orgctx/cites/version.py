"""A file at one time: the lines of it that may be shown, and what git calls it."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import NamedTuple

from ..core.model import Tree
from ..store import files

Spans = tuple[tuple[int, int], ...]
"""First and last of each run of lines, 1-based, in order."""


class Version(NamedTuple):
    """A file's text at one time, as far as it may be shown.

    lines: all down to the last that may be shown, without their ends; "" for one that may not.
    spans: those that may be shown.
    revision: git's blob id of the file, 40 hex digits; if there is something that may not be shown,
        the id of the file with such lines empty, so that it tells nothing of what is in them, not
        even to who tries every text that might be there.
    """

    lines: Sequence[str]
    spans: Spans
    revision: str

    @property
    def total(self) -> int:
        """The last line that may be shown; 0 if none may."""
        return len(self.lines)

    def texts(self) -> dict[int, str]:
        """Each line that may be shown, by its number."""
        return {n: self.lines[n - 1] for n in numbers(self.spans, 1, self.total)}


def version(tree: Tree) -> Version:
    r"""What may be shown of a file. Only "\n" and "\r\n" end lines.

    tree: as a store gives it, private and sealed text left out of its nodes.
    """
    spans = tuple(_spans(tree))
    rows = tree.text.split("\n")
    total = spans[-1][1] if spans else 0
    kept = [""] * total
    for first, last in spans:
        kept[first - 1 : last] = rows[first - 1 : last]
    shown = "\n".join(kept) + ("\n" if 0 < total < len(rows) else "")
    ended = [row.removesuffix("\r") for row in kept[: len(rows) - 1]]
    lines = (*ended, *kept[len(rows) - 1 :])
    return Version(lines, spans, files.revision_of(shown.encode(tree.encoding)))


def _spans(tree: Tree) -> Iterator[tuple[int, int]]:
    """The lines of all entries, neighbours joined."""
    first, last = 1, 0
    for node in tree.nodes:
        if last and node.first_line > last + 1:
            yield first, last
            last = 0
        if node.last_line >= node.first_line:
            first = first if last else node.first_line
            last = node.last_line
    if last:
        yield first, last


def clip(spans: Spans, first: int, last: int) -> tuple[int, int] | None:
    """First and last of the lines in `spans` that are from `first` to `last`; None if none is."""
    at = bisect_left(spans, first, key=itemgetter(1))
    end = bisect_right(spans, last, key=itemgetter(0)) - 1
    if at > end or first > last:
        return None
    return max(spans[at][0], first), min(spans[end][1], last)


def numbers(spans: Spans, first: int, last: int) -> list[int]:
    """The lines in `spans` that are from `first` to `last`."""
    return [number for a, b in runs(spans, first, last) for number in range(a, b + 1)]


def runs(spans: Spans, first: int, last: int) -> Iterator[tuple[int, int]]:
    """The same as first and last line of each run."""
    at = bisect_left(spans, first, key=itemgetter(1))
    end = bisect_right(spans, last, key=itemgetter(0))
    return ((max(a, first), min(b, last)) for a, b in spans[at:end])
