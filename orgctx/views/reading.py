"""Reading: the true lines of an entry, a subtree or a file, by number, within a budget."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from operator import attrgetter
from typing import Any

from ..cites import Cites, Version, numbers, source_of, version
from ..core.entry import many
from ..core.heading import printable
from ..core.model import Node
from ..errors import BadArgument, NotFound
from ..store.address import line_number, resolve
from ..store.store import Store
from ..tokens import counter
from .page import Call, fit
from .shell import shell_command
from .view import Limit

REVISION_DIGITS = 12
TITLE_CHARS = 100
"""How much of a title the first line shows."""

_RANGE = re.compile(r"([0-9]+)(?:-([0-9]+))?")

Lines = str | tuple[int, int]
"""First and last line, 1-based: `12-19`, or the two numbers; a number alone is one line."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One answer: lines as they stand in their file, each behind its number.

    text: a line that says what it is, then the lines, then what is left of them.
    handle: the file's number, by which a cite names it: `[1:L12-L19]`.
    title: of the entry that was read, or in which the first line is; "" if it has none.
    revision: see cites.Version; 40 hex digits.
    first, last: of the lines shown, 1-based; both 0 if there are none.
    total: the file's last line that may be shown.
    left: how many lines are left. resume: the `lines` with which to go on; None if none are.
    cost: of a text.
    """

    text: str
    handle: int
    path: str
    title: str
    revision: str
    first: int
    last: int
    total: int
    left: int
    resume: str | None
    cost: Callable[[str], int] = field(repr=False, compare=False)

    @property
    def tokens(self) -> int:
        """What the text costs, in the limit's unit."""
        return self.cost(self.text)


def read(
    store: Store,
    address: str,
    limit: Limit,
    subtree: bool = False,
    lines: Lines | None = None,
    cites: Cites | None = None,
    call: Call | None = None,
    shape: Callable[[Reading], str] = attrgetter("text"),
) -> Reading:
    r"""Read the source's own lines; only "\n" and "\r\n" end one, and neither is shown.

    address: of an entry; of a file, for its text above the first headline.
    subtree: all below too; of a file, all of it.
    lines: some of a file's lines instead, of which those that are there are read.
    cites: where the file gets its number, and what was shown is kept; else the number is 1.
    call: how the one that goes on is written, by default for a shell.
    shape: how it is written; that is what the budget holds for.
    Returns: Reading, cut at a line; what `shape` makes of it costs at most limit.budget. Lines that
        must not be shown are left out, and so counted where others are on both sides.
    Raises: as `resolve`; NotFound if there are no such lines; BadArgument; BudgetTooSmall if not
        even one line fits.
    """
    limit.check()
    if lines is not None and subtree:
        raise BadArgument("subtree and lines: give one of them", where="lines")
    if not isinstance(cites, Cites | None):
        raise BadArgument(f"cites {cites!r}: give an orgctx.cites.Cites", where="cites")
    node = resolve(store, address)
    found = version(node.tree)
    first, last = _own(node, subtree) if lines is None else _range(lines, node, address)
    wanted = numbers(found.spans, first, last)
    if lines is not None:
        if not wanted:
            raise _no_lines(node, found, first, last)
        node = _holder(node, wanted[0])
    source = source_of(store, node.tree, found)
    count = counter(limit.unit, limit.encoding)
    while True:
        handle = 1 if cites is None else cites.number(source)
        page = _Page(node, found, wanted, handle, call or shell_call())
        shown = fit(page.writer(shape, count), page.size, limit, count, address)
        if cites is None or cites.take(handle, source, store):
            break
    if cites is not None and shown:
        cites.keep(handle, node.title, found, wanted[0], wanted[shown - 1])
    return page.reading(shown, count)


def _own(node: Node, is_subtree: bool) -> tuple[int, int]:
    """First and last line of an entry, or of all below too."""
    end = node.tree.nodes[node.end_index - 1] if is_subtree else node
    return node.first_line, end.last_line


def _range(lines: Lines, node: Node, address: str) -> tuple[int, int]:
    """First and last of the lines that are wanted. Raises: BadArgument."""
    if node.level:
        hint = f"name the file: {node.path}"
        raise BadArgument(f"{address}: lines are counted in a file", hint, "lines")
    pair = _pair(lines) if isinstance(lines, str) else lines
    is_range = isinstance(pair, tuple) and [type(each) for each in pair] == [int, int]
    if not is_range or not 1 <= pair[0] <= pair[1]:
        hint = "give A-B, whole numbers from 1 up, A not above B"
        raise BadArgument(f"lines {lines!r}: no range of lines", hint, "lines")
    return pair[0], pair[1]


def _pair(lines: str) -> tuple[int, ...]:
    """The numbers in `12-19` or `12`; none if it is neither."""
    match = _RANGE.fullmatch(lines)
    digits = (match[1], match[2] or match[1]) if match else ()
    return tuple(map(line_number, digits))


def _no_lines(node: Node, found: Version, first: int, last: int) -> NotFound:
    what = f"line {first}" if first == last else f"lines {first}-{last}"
    hint = f"give lines from 1 to {found.total}" if found.total else "it has none"
    return NotFound(f"{node.path}: {what}: nothing there", hint, node.path)


def _holder(root: Node, line: int) -> Node:
    """The node whose entry holds a line."""
    nodes = root.tree.nodes
    return nodes[bisect_right(nodes, line, key=attrgetter("first_line")) - 1]


class _Page:
    """The text of a reading, for any number of lines."""

    def __init__(
        self, node: Node, found: Version, wanted: list[int], handle: int, call: Call
    ) -> None:
        self._node, self._found, self._wanted, self._handle = node, found, wanted, handle
        self._call = call

    @property
    def size(self) -> int:
        """How many lines there are to read."""
        return len(self._wanted)

    def text(self, shown: int) -> str:
        """The first lines, below what says what they are, and above what is said of the others."""
        rest = self._rest(shown) if shown < self.size else ""
        return self._envelope(shown) + "".join(map(self._row, range(shown))) + rest

    def reading(self, shown: int, count: Callable[[str], int]) -> Reading:
        """All that is told of them."""
        return Reading(
            text=self.text(shown),
            handle=self._handle,
            path=self._node.path,
            title=self._node.title,
            revision=self._found.revision,
            first=self._wanted[0] if shown else 0,
            last=self._wanted[shown - 1] if shown else 0,
            total=self._found.total,
            left=self.size - shown,
            resume=self._resume(shown) if shown < self.size else None,
            cost=count,
        )

    def writer(
        self, shape: Callable[[Reading], str], count: Callable[[str], int]
    ) -> Callable[[int], str]:
        """What writes a reading of so many lines. shape: how."""
        return lambda shown: shape(self.reading(shown, count))

    def _envelope(self, shown: int) -> str:
        node, total = self._node, self._found.total
        title = " ".join(printable(node.title).split())
        if len(title) > TITLE_CHARS:
            title = f"{title[:TITLE_CHARS]}…"
        names = " — ".join(filter(None, (printable(node.path), title)))
        lines = f"lines {self._wanted[0]}-{self._wanted[shown - 1]}" if shown else "no lines"
        revision = self._found.revision[:REVISION_DIGITS]
        return f"[{self._handle}] {names} — {revision}, {lines} of {total}\n"

    def _row(self, at: int) -> str:
        """A line behind its number, and above it what is said of those that are not shown."""
        number = self._wanted[at]
        hidden = number - self._wanted[at - 1] - 1 if at else 0
        gap = f"… {many(hidden, 'line')} not shown\n" if hidden else ""
        return f"{gap}{number}: {self._found.lines[number - 1]}\n"

    def _resume(self, shown: int) -> str:
        return f"{self._wanted[shown]}-{self._wanted[-1]}"

    def _rest(self, shown: int) -> str:
        left = self.size - shown
        call = self._call({"address": self._node.path, "lines": self._resume(shown)})
        return f"… {many(left, 'line')} left: {call}\n"


def shell_call(*words: str) -> Call:
    """The call as a shell wants it. words: options that it repeats."""

    def call(given: Mapping[str, str]) -> str:
        return shell_command("read", [given["address"]], ["--lines", given["lines"], *words])

    return call


def to_data(reading: Reading) -> dict[str, Any]:
    """The reading as data for JSON."""
    names = (each.name for each in fields(reading) if each.name != "cost")
    return {**{name: getattr(reading, name) for name in names}, "tokens": reading.tokens}
