"""A page of rows within a budget: as many as fit."""

from __future__ import annotations

from collections.abc import Callable

from ..errors import BudgetTooSmall
from .view import Limit


def fit(write: Callable[[int], str], most: int, limit: Limit, count: Callable[[str], int]) -> int:
    """How many rows fit.

    write: (rows) -> the whole text with that many, and with what it says of the rest.
    most: how many there are, int >= 0.
    Returns: a number of rows from 0 to `most` whose text is within the budget; more do not fit, or
        hardly.
    Raises: BudgetTooSmall if there are rows and not even one fits, with what that one, or all, needs.
    """

    def fitting(rows: int) -> bool:
        """Whether so many fit; a text of few bytes has no more tokens, and needs no tokenizer."""
        text = write(rows)
        is_short = len(text.encode("utf-8", "surrogatepass")) <= limit.budget
        return is_short or count(text) <= limit.budget

    if fitting(most):  # without a line about the rest it may be cheaper
        return most
    fits, over = 0, most
    while over - fits > 1:
        middle = (fits + over) // 2
        fits, over = (middle, over) if fitting(middle) else (fits, middle)
    if not fits and not fitting(min(1, most)):
        least = min(count(write(min(1, most))), count(write(most)))
        what = f"a budget of {limit.budget} {limit.unit} is below the {least} that one line needs"
        raise BudgetTooSmall(what, least, f"give a budget of {least} or more", "budget")
    return fits
