"""How many rows fit, though what is said of the rest costs now more, now less."""

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from orgctx.errors import BudgetTooSmall
from orgctx.views.page import fit
from orgctx.views.view import Limit

ROWS = st.lists(st.integers(1, 12), max_size=60)


@given(ROWS, st.integers(0, 60), st.sets(st.integers(0, 60)), st.integers(1, 500),
       st.integers(0, 1))  # fmt: skip
def test_as_many_rows_fit_as_fit(rows, rest, silent, budget, least):
    """As if each number of rows were tried. silent: where nothing is said of the rest."""

    def write(shown):
        is_said = shown < len(rows) and (shown not in silent or shown == least)
        return "h" + "".join("x" * size for size in rows[:shown]) + "r" * (rest * is_said)

    costs = [len(write(shown)) for shown in range(len(rows) + 1)]
    known = range(min(least, len(rows)), len(rows) + 1)
    fitting = [shown for shown in known if costs[shown] <= budget]
    if not fitting:
        with pytest.raises(BudgetTooSmall) as raised:
            fit(write, len(rows), Limit(budget, "chars"), len, least=least)
        assert raised.value.needed == min(costs[shown] for shown in known)
        return
    assert fit(write, len(rows), Limit(budget, "chars"), len, least=least) == max(fitting)
    is_plain = all(costs[shown] <= budget for shown in known if shown <= max(fitting))
    event("plain" if is_plain else "behind some that do not")


def test_few_more_rows_are_written_than_fit():
    asked = []

    def write(shown):
        asked.append(shown)
        return "x" * shown + "… and more"

    assert fit(write, 10**9, Limit(1000, "chars"), len) == 990
    assert max(asked) < 3000
    assert len(asked) < 100
