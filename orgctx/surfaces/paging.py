"""How a command prints as many lines, or rows of JSON, as its budget holds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import Any

from ..config import load, users_file
from ..errors import BudgetTooSmall
from ..tokens import counter
from ..views.page import fit, lines_in
from ..views.shell import shell_command
from ..views.view import BUDGET, Limit
from . import output
from .options import Whole, given, limit_by, option

Call = Callable[[str], str]
"""How a call that goes on is written: (behind what) -> the call."""
Shape = Callable[[Any, list[Any]], dict[str, Any]]
"""How a row looks as data: (row, those of its parts that are shown) -> the data."""
after_option = option(
    "--after", type=Whole(0), default=0, metavar="N", help="Pass over N lines: the next page."
)


def users_limit(options: dict[str, Any], budget: int = BUDGET) -> Limit:
    """As `limit_of`, where the user's settings alone hold."""
    return limit_by([load(users_file(), is_users=True)], options, budget)


def counter_of(limit: Limit) -> Callable[[str], int]:
    """What counts in the limit's unit."""
    return counter(limit.unit, limit.encoding)


def going_on(name: str, *arguments: str, but: Sequence[str] = ()) -> Call:
    """The running command, or the one of a name, going on behind a place.

    but: options that it is not given.
    """

    def call(after: str) -> str:
        return shell_command(name, arguments, [*given("after", *but), "--after", after])

    return call


def behind(again: Call, after: int, shown: int) -> str:
    """The call for what is behind a page. shown: how many it has."""
    return again(str(after + shown))


def write_lines(lines: Sequence[str], after: int, limit: Limit, again: Call, least: int = 1) -> int:
    """Print the lines behind the first `after` that fit, and what is said of the others.

    least: see `fit`. Returns: how many are left out. Raises: BudgetTooSmall.
    """
    here, call = lines[after:], partial(behind, again, after)
    shown, rest = lines_in(here, limit, counter_of(limit), call, least)
    output.write(shown + "".join(f"{each}\n" for each in rest))
    return len(rest)


def write_data(
    name: str,
    parts: Sequence[tuple[Any, Any]],
    shape: Shape,
    after: int,
    limit: Limit,
    again: Call,
    facts: dict[str, Any] | None = None,
    least: int = 1,
) -> None:
    """Print as JSON the parts behind the first `after` that fit, each with its row.

    name: of the list. parts: (row, part), all of a row in a run. facts: what is told besides.
    least: see `fit`. Raises: BudgetTooSmall.
    """
    here = parts[after:]

    def write(shown: int) -> str:
        groups = groupby(here[:shown], key=itemgetter(0))
        rows = [shape(row, [part for _, part in group]) for row, group in groups]
        more = len(here) - shown
        rest = {"kind": "line", "more": more, "call": behind(again, after, shown)}
        return output.to_json({**(facts or {}), name: rows, "rest": [rest] if more else []})

    output.write(write(fit(write, len(here), limit, counter_of(limit), least=least)))


def told_done(write: Callable[[], object], where: str) -> None:
    """Print the report of what was done; it stays done where no report fits.

    where: the call that shows it.
    """
    try:
        write()
    except BudgetTooSmall:
        output.complain("it is done, and not even the first line fits the budget", f"see {where}")
