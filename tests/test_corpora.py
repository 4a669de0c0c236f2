"""Real notes: thousands of views, each within its limit, nested, and nearly full where it cuts."""

import random
from functools import cache
from statistics import mean

import emacs
import pytest
from views import check, smallest_budget, states, view_of

from orgctx.core.model import Node
from orgctx.core.outline import outline
from orgctx.store.files import decode

pytestmark = pytest.mark.corpora

TARGETS = 2000
CUT_TARGETS = 700
BUDGETS = (250, 500, 1000)


@cache
def targets() -> list[Node]:
    """Nodes drawn at random from all of the corpora."""
    nodes: list[Node] = []
    for path in emacs.corpora():
        name = str(path.relative_to(emacs.corpus_root()))
        nodes += outline(decode(path.read_bytes(), name)[0], name).nodes
    return random.Random(20).sample(nodes, TARGETS)


def test_views_keep_the_laws():
    """8,000 views: each is counted again by tiktoken, and each shows what a smaller one did."""
    made = 0
    for node in targets():
        least, before = smallest_budget(node), {}
        for budget in (least, *(least + budget for budget in BUDGETS)):
            view = view_of(node, budget)
            check(view)
            now = states(view)
            assert all(now[index] >= state for index, state in before.items())
            before, made = now, made + 1
    assert made == TARGETS * 4


@pytest.mark.parametrize("budget", BUDGETS)
def test_a_budget_that_cuts_is_nearly_used_up(budget, record_property):
    drawn = targets()[:CUT_TARGETS]
    used = sorted(used_part(node, budget) for node in drawn if cuts(node, budget))
    assert len(used) > 100
    worst = used[: len(used) // 20]
    record_property("mean", mean(used))
    record_property("worst twentieth", mean(worst))
    print(f"{budget}: {len(used)} cut, mean {mean(used):.3f}, worst twentieth {mean(worst):.3f}")
    assert mean(used) >= 0.90
    assert mean(worst) >= 0.75


def cuts(node: Node, budget: int) -> bool:
    """Whether more budget would show more."""
    if budget < smallest_budget(node):
        return False
    return view_of(node, budget).text != view_of(node, budget + 2000).text


def used_part(node: Node, budget: int) -> float:
    return view_of(node, budget).tokens / budget
