"""Reading: the true lines of an entry, a subtree or a file, by number, within a budget."""

from __future__ import annotations

import re
import shlex
import sys
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from operator import attrgetter
from typing import Any

from ..cites import Cites, Version, numbers, source_of, version
from ..core.heading import printable
from ..core.model import Node
from ..errors import BadArgument, BudgetTooSmall, NotFound
from ..store.address import resolve
from ..store.store import Store
from ..tokens import counter
from .view import Limit

BUDGET = 8000
REVISION_DIGITS = 12
TITLE_CHARS = 100
"""How much of a title the first line shows."""
MOST_DIGITS = 18

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
    total: the file's last line that may be shown. tokens: exact cost of `text` in the limit's unit.
    left: how many lines are left. resume: the `lines` with which to go on; None if none are.
    """

    text: str
    handle: int
    path: str
    title: str
    revision: str
    first: int
    last: int
    total: int
    tokens: int
    left: int
    resume: str | None


def read(
    store: Store,
    address: str,
    limit: Limit,
    subtree: bool = False,
    lines: Lines | None = None,
    cites: Cites | None = None,
    options: Sequence[str] = (),
) -> Reading:
    r"""Read the source's own lines; only "\n" and "\r\n" end one, and neither is shown.

    address: of an entry; of a file, for its text above the first headline.
    subtree: all below too; of a file, all of it.
    lines: some of a file's lines instead, of which those that are there are read.
    cites: where the file gets its number, and what was shown is kept; else the number is 1.
    options: what the call that goes on repeats.
    Returns: Reading; reading.tokens <= limit.budget, cut at a line. Lines that must not be shown
        are left out, and so counted where others are on both sides.
    Raises: as `resolve`; NotFound if there are no such lines; BadArgument; BudgetTooSmall if not
        even one line fits.
    """
    limit.check()
    if lines is not None and subtree:
        raise BadArgument("subtree and lines: give one of them", where="lines")
    node = resolve(store, address)
    found = version(node.tree)
    first, last = _own(node, subtree) if lines is None else _range(lines, node, address)
    wanted = numbers(found.spans, first, last)
    if lines is not None:
        if not wanted:
            raise _no_lines(node, found, first, last)
        node = _holder(node, wanted[0])
    source = source_of(store, node.tree, found)
    while True:
        handle = 1 if cites is None else cites.number(source)
        page = _Page(node, found, wanted, handle, options)
        shown = _longest(page, limit, address)
        if cites is None or cites.take(handle, source, store):
            break
    if cites is not None and shown:
        cites.keep(handle, node.title, found, wanted[0], wanted[shown - 1])
    return page.reading(shown, counter(limit.unit, limit.encoding))


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
    return tuple(int(each) if len(each) < MOST_DIGITS else sys.maxsize for each in digits)


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
        self, node: Node, found: Version, wanted: list[int], handle: int, options: Sequence[str]
    ) -> None:
        self._node, self._found, self._wanted, self._handle = node, found, wanted, handle
        self._options = "".join(f" {_quoted(word)}" for word in options)

    @property
    def size(self) -> int:
        """How many lines there are to read."""
        return len(self._wanted)

    def text(self, shown: int, has_rest: bool = True) -> str:
        """The first lines, below what says what they are. has_rest: with what is said of others."""
        rest = self._rest(shown) if has_rest and shown < self.size else ""
        return self._envelope(shown) + "".join(map(self._row, range(shown))) + rest

    def reading(self, shown: int, count: Callable[[str], int]) -> Reading:
        """All that is told of them."""
        text = self.text(shown)
        return Reading(
            text=text,
            handle=self._handle,
            path=self._node.path,
            title=self._node.title,
            revision=self._found.revision,
            first=self._wanted[0] if shown else 0,
            last=self._wanted[shown - 1] if shown else 0,
            total=self._found.total,
            tokens=count(text),
            left=self.size - shown,
            resume=self._resume(shown) if shown < self.size else None,
        )

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
        gap = f"… {hidden} line{'' if hidden == 1 else 's'} not shown\n" if hidden else ""
        return f"{gap}{number}: {self._found.lines[number - 1]}\n"

    def _resume(self, shown: int) -> str:
        return f"{self._wanted[shown]}-{self._wanted[-1]}"

    def _rest(self, shown: int) -> str:
        left, path = self.size - shown, self._node.path
        call = f"orgctx read {_quoted(f'./{path}' if path.startswith('-') else path)}"
        lines = f"line{'' if left == 1 else 's'} left"
        return f"… {left} {lines}: {call} --lines {self._resume(shown)}{self._options}\n"


def _quoted(word: str) -> str:
    """A word as a shell wants it, on one line."""
    if word.isprintable():
        return shlex.quote(word)
    escaped = word.replace("\\", "\\\\").replace("'", "\\'")
    return "$'" + "".join(c if c.isprintable() else _bytes(c) for c in escaped) + "'"


def _bytes(char: str) -> str:
    return "".join(f"\\x{byte:02x}" for byte in char.encode("utf-8", "surrogateescape"))


def _longest(page: _Page, limit: Limit, address: str) -> int:
    """How many lines fit. Raises: BudgetTooSmall if not even one does."""
    count = counter(limit.unit, limit.encoding)

    def costs(shown: int, has_rest: bool = True) -> int:
        return count(page.text(shown, has_rest))

    most = _largest(page.size, lambda shown: costs(shown, False) <= limit.budget)
    if most == page.size and costs(most) <= limit.budget:
        return most
    if shown := _largest(most, lambda shown: costs(shown) <= limit.budget):
        return shown
    needed = costs(min(1, page.size))
    if _largest(page.size, lambda shown: costs(shown, False) < needed) == page.size:
        needed = min(needed, costs(page.size))
    raise BudgetTooSmall(
        f"{address}: a budget of {limit.budget} {limit.unit} is below the {needed} that the first "
        "line needs",
        needed,
        f"give a budget of {needed} or more",
        address,
    )


def _largest(most: int, fits: Callable[[int], bool]) -> int:
    """The largest number up to `most` that fits, if all below it do; 0 if 1 does not."""
    low, high = 0, 1
    while high < most and fits(high):
        low, high = high, 2 * high
    high = min(high, most) + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def to_data(reading: Reading) -> dict[str, Any]:
    """The reading as data for JSON."""
    return asdict(reading)
