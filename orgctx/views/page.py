"""A page of rows within a budget: as many as fit."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable

from ..errors import BudgetTooSmall
from .view import Limit

NEAR = 20
"""How many rows more than the search by halves finds are tried."""


def fit(write: Callable[[int], str], most: int, limit: Limit, count: Callable[[str], int]) -> int:
    """How many rows fit.

    write: (rows) -> the whole text with that many, and with what it says of the rest.
    most: how many there are, int >= 0.
    Returns: the most rows, 0 to `most`, whose text is within the budget. What is said of the rest
        costs now more and now less, so a few rows more are tried than the search by halves finds.
    Raises: BudgetTooSmall if there are rows and not even one fits, with what does.
    """

    def fits(rows: int) -> bool:
        """Whether so many fit; a text of few bytes has no more tokens, and needs no tokenizer."""
        text = write(rows)
        is_short = len(text.encode("utf-8", "surrogatepass")) <= limit.budget
        return is_short or count(text) <= limit.budget

    if fits(most):
        return most
    below = bisect_left(range(1, most), True, key=lambda rows: not fits(rows))
    shown = next((rows for rows in range(min(below + NEAR, most - 1), 0, -1) if fits(rows)), 0)
    if not shown:
        least = min(count(write(rows)) for rows in {*range(1, min(NEAR, most) + 1), most})
        what = f"a budget of {limit.budget} {limit.unit} is below the {least} that one line needs"
        raise BudgetTooSmall(what, least, f"give a budget of {least} or more", "budget")
    return shown
