"""A page of rows within a budget: as many as fit."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable

from ..errors import BudgetTooSmall
from .view import Limit

NEAR = 20
"""How many rows more are tried than are known to fit: what is said of the rest costs now more, now
less, and where nothing is left it is not said."""


def fit(
    write: Callable[[int], str],
    most: int,
    limit: Limit,
    count: Callable[[str], int],
    what: str = "",
) -> int:
    """How many rows fit.

    write: (rows) -> the whole text with that many, and with what it says of the rest. It is asked
        for few more rows than fit, however many there are.
    most: how many there are, int >= 0. count: in `limit.unit`. what: the question, for an error.
    Returns: the most rows, 0 to `most`, whose text is within the budget.
    Raises: BudgetTooSmall if there are rows and not even one fits, or none and not even that, with
        what does.
    """

    def cost(rows: int) -> int:
        """What the text costs, or its bytes, which are no fewer, if even they are few enough."""
        written = write(rows).encode("utf-8", "backslashreplace")
        return len(written) if len(written) <= limit.budget else count(written.decode())

    def is_over(rows: int) -> bool:
        return cost(rows) > limit.budget

    high = 1
    while high < most and not is_over(high):
        high *= 2
    below = bisect_left(range(1, min(high, most)), True, key=is_over)
    least_rows = min(1, most)
    for rows in range(min(below + NEAR, most), least_rows - 1, -1):
        if not is_over(rows):
            return rows
    needed = min(count(write(rows)) for rows in range(least_rows, min(NEAR, most) + 1))
    raise _too_small(limit, needed, what)


def _too_small(limit: Limit, needed: int, what: str) -> BudgetTooSmall:
    begun = f"{what}: " if what else ""
    return BudgetTooSmall(
        f"{begun}a budget of {limit.budget} {limit.unit} is below the {needed} that one line needs",
        needed,
        f"give a budget of {needed} or more",
        what or "budget",
    )
