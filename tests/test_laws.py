"""The five laws of a view, over generated notes."""

import pytest
import strategies
from growth import seconds
from hypothesis import assume, event, given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from views import SIZES, best_by_trying_all, check, check_nesting, smallest_budget, view_of

from orgctx.core.model import Tree
from orgctx.core.outline import outline
from orgctx.errors import BudgetTooSmall
from orgctx.store.files import decode


def tree_of(data: bytes) -> Tree:
    return outline(decode(data, "notes.org")[0], "notes.org")


@st.composite
def targets(draw):
    """A node of a generated file."""
    tree = tree_of(draw(strategies.org_bytes()))
    return tree.nodes[draw(st.integers(0, len(tree.nodes) - 1))]


@given(targets(), st.integers(1, 2000), st.sampled_from(["full", "short", "none"]))
def test_a_view_never_costs_more_than_its_budget(node, budget, ids):
    least = smallest_budget(node, ids=ids)
    if budget < least:
        event("below the spine")
        with pytest.raises(BudgetTooSmall) as raised:
            view_of(node, budget, ids=ids)
        assert raised.value.needed == least
        budget = least
    view = view_of(node, budget, ids=ids)
    event(f"target is {view.shown[-1].detail}")
    check(view)


@given(targets(), st.integers(0, 400))
def test_both_encodings_and_characters_are_exact(node, more):
    for unit, encoding, count in (
        ("tokens", "cl100k_base", SIZES["cl100k_base"]),
        ("chars", "o200k_base", len),
    ):
        options = {"unit": unit, "encoding": encoding}
        check(view_of(node, smallest_budget(node, **options) + more, **options), count)


@given(targets(), st.lists(st.integers(0, 600), min_size=2, max_size=5))
def test_a_larger_budget_never_shows_less(node, budgets):
    least = smallest_budget(node)
    check_nesting(view_of(node, least + budget) for budget in sorted(budgets))


@given(targets(), st.integers(0, 300))
def test_the_view_is_the_longest_prefix_that_fits(node, more):
    assume(node.tree.root.end_index < 40 and len(node.tree.text) < 6000)
    budget = smallest_budget(node) + more
    view = view_of(node, budget)
    event("cut" if view.omitted else "whole")
    assert view.text == best_by_trying_all(node, budget, SIZES["o200k_base"])


@given(targets(), st.integers(0, 400))
def test_the_same_question_has_the_same_answer(node, more):
    budget = smallest_budget(node) + more
    again = outline(node.tree.text, node.path).nodes[node.index]
    assert view_of(node, budget).text == view_of(again, budget).text


@given(targets())
def test_a_budget_for_everything_leaves_out_nothing_of_the_target(node):
    view = view_of(node, 10**12)
    shown = {each.node.index: each for each in view.shown}
    assert shown[node.index].detail == "full"
    for child in node.children:
        assert shown[child.index].detail == ("skeleton" if child.is_commented else "full")
    for sibling in node.parent.children if node.parent else ():
        assert sibling.index in shown


@given(targets())
def test_a_view_of_whole_lines_of_the_source(node):
    """Ancestors and siblings show title and ID; what is shown in full is the source's own."""
    view = view_of(node, 10**12)
    for each in view.shown:
        if each.detail == "full" and each.level:
            assert "".join(each.node.lines) in view.text
        elif each.level:
            assert each.node.lines[0] in view.text


class GrowingBudget(RuleBasedStateMachine):
    """A budget that only grows; views nest, in any steps."""

    @initialize(node=targets())
    def start(self, node):
        self.node, self.budget = node, smallest_budget(node)
        self.view = view_of(node, self.budget)

    @rule(more=st.integers(1, 60))
    def grow(self, more):
        before, self.budget = self.view, self.budget + more
        self.view = view_of(self.node, self.budget)
        check_nesting([before, self.view])

    @rule()
    def grow_to_all_that_is_used(self):
        again = view_of(self.node, self.view.tokens)
        assert again.text == self.view.text

    @invariant()
    def holds(self):
        if hasattr(self, "view"):
            check(self.view)


TestGrowingBudget = GrowingBudget.TestCase


def test_many_entries_that_shrink_by_a_token_are_all_shown_when_all_fit():
    """A headline ending in `!?` costs a token less with a blank line below it than without."""
    text = "* P\n" + "".join(f"** Why {i}!?\n\n" for i in range(200))
    target = outline(text, "p.org").nodes[1]
    all_of_it = view_of(target, 10**6)
    assert not all_of_it.omitted
    for budget in range(all_of_it.tokens, all_of_it.tokens + 140, 20):
        assert view_of(target, budget).text == all_of_it.text


def test_an_entry_of_many_drawers_is_priced_in_linear_time():
    def cost(drawers: int) -> float:
        text = "* H\n" + ":LOGBOOK:\nx\n:END:\nline\n" * drawers
        target = outline(text, "p.org").nodes[1]
        return seconds(lambda: view_of(target, 10**6), 3)

    assert cost(1600) < 3 * 4 * cost(400)
