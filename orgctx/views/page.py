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
    Raises: BudgetTooSmall if there are rows and not even one fits, with what that one needs.
    """
    if count(write(most)) <= limit.budget:  # without a line about the rest it may be cheaper
        return most
    fits, over = 0, most
    while over - fits > 1:
        middle = (fits + over) // 2
        fits, over = (middle, over) if count(write(middle)) <= limit.budget else (fits, middle)
    least = count(write(min(1, most)))
    if not fits and least > limit.budget:
        what = f"a budget of {limit.budget} {limit.unit} is below the {least} that one line needs"
        raise BudgetTooSmall(what, least, f"give a budget of {least} or more", "budget")
    return fits
