"""A page of rows within a budget: as many as fit."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence

from ..core.entry import many
from ..core.heading import printable
from ..errors import BudgetTooSmall
from ..store.roots import escaped
from .view import Limit

Call = Callable[[Mapping[str, str]], str]
"""How a call that goes on is written: (what it says otherwise than the call before) -> the call."""
TITLE = 120
"""Characters of a title, or a tag, that a row shows; the whole of it is in its entry."""
_DEEPEST = 8
"""Levels that are told apart by how far a row of a tree stands to the right."""
LINK = re.compile(r"\[\[([^][]+)\](?:\[([^][]*)\])?\]")
"""A link in a line that somebody reads or writes: what it points to, and what it is called.

Org syntax: Regular Links. `core.links` has all that Org takes for one.
"""


def plain(text: str) -> str:
    """A text in one line, with links as Org shows them: by what they are called."""
    return printable(LINK.sub(lambda link: link[2] or link[1], text))


def readable(text: str) -> str:
    """Lines that end with line feeds alone, and have nothing else in them that is not seen."""
    lines = text.replace("\r\n", "\n").split("\n")
    return "\n".join("\t".join(map(printable, line.split("\t"))) for line in lines)


def brief(text: str) -> str:
    """A title that is no longer than a line should be."""
    return text if len(text) <= TITLE else text[: TITLE - 1] + "…"


def indent(depth: int) -> str:
    """What stands in front of a row of a tree, so that all of it is seen. depth: from 0."""
    return "  " * min(depth, _DEEPEST)


def fit(
    write: Callable[[int], str],
    most: int,
    limit: Limit,
    count: Callable[[str], int],
    what: str = "",
    least: int = 1,
) -> int:
    """How many rows fit.

    write: (rows) -> the whole text with that many, and with what it says of the rest: some lines
        that cost no more than twice what the text with one row does, or none where nothing is left.
        It is asked for few more rows than fit, however many there are.
    most: how many there are, int >= 0. count: in `limit.unit`. what: the question, for an error.
    least: how many of them there must be, 0 or 1.
    Returns: the most rows, 0 to `most`, whose text is within the budget.
    Raises: BudgetTooSmall if there are rows and not even `least` fits, or none and not even that,
        with what does.
    """

    def cost(rows: int) -> int:
        """What the text costs, or its bytes, which are no fewer, if even they are few enough."""
        text = escaped(write(rows))
        size = len(text.encode())
        return size if size <= limit.budget else count(text)

    least = min(least, most)
    first = cost(least)
    # What is said of the rest comes and goes, so a text may be over and a longer one not. But where
    # it is over by more than that can cost, its rows alone are, and those of all longer ones.
    reach = max(limit.budget, first) + 2 * first
    end = least
    while end < most and cost(end) <= reach:
        end = min(max(2 * end, 1), most)
    end = bisect_left(range(end), True, lo=end // 2, key=lambda rows: cost(rows) > reach)
    tried = range(max(end, least), least - 1, -1)
    for rows in tried:
        if cost(rows) <= limit.budget:
            return rows
    raise _too_small(limit, min(count(escaped(write(rows))) for rows in tried), what)


def lines_in(
    lines: Sequence[str],
    limit: Limit,
    count: Callable[[str], int],
    call: Callable[[int], str],
    least: int = 1,
) -> tuple[str, Sequence[str]]:
    """As many lines as fit, and what is said of the others: how many, and the call for them.

    count: in `limit.unit`. call: (lines shown) -> what gets the others; "" if nothing does.
    least: see `fit`.
    Raises: BudgetTooSmall.
    """

    def rest(shown: int) -> list[str]:
        more, how = len(lines) - shown, call(shown)
        return [f"… {many(more, 'more line')}{how and f': {how}'}"] if more > 0 else []

    def write(shown: int) -> str:
        return "".join(lines[:shown]) + "".join(f"{line}\n" for line in rest(shown))

    shown = fit(write, len(lines), limit, count, least=least)
    return "".join(lines[:shown]), rest(shown)


def _too_small(limit: Limit, needed: int, what: str) -> BudgetTooSmall:
    begun = f"{what}: " if what else ""
    return BudgetTooSmall(
        f"{begun}a budget of {limit.budget} {limit.unit} is below the {needed} that one line needs",
        needed,
        f"give a budget of {needed} or more",
        what or "budget",
    )
