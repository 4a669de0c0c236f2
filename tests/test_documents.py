"""The laws of a view, where it shows several files."""

import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from memexes import check_document, grown, least, level_in_document, questions
from views import SIZES, check_nesting, one_by_one

from orgctx.core.budget import longest_prefix
from orgctx.core.document import Document
from orgctx.core.ledger import Prices
from orgctx.core.outline import outline
from orgctx.core.render import render
from orgctx.errors import BudgetTooSmall
from orgctx.views import focus as focusing
from orgctx.views import view as viewing


def ask(question, budget, **options):
    return grown(question, budget, **options).view


@given(questions(), st.integers(0, 3000), st.sampled_from(["full", "short", "none"]))
def test_a_document_of_several_files_keeps_the_laws(question, more, ids):
    view = ask(question, least(question, ids=ids) + more, ids=ids)
    check_document(view, question[0])
    event(f"{question[1]}: {min(len({s.path for s in view.shown if s.level >= 0}), 3)} files")


@given(questions())
def test_the_least_that_is_named_is_the_least(question):
    needed = least(question)
    check_document(ask(question, needed), question[0])
    if needed > 1:
        with pytest.raises(BudgetTooSmall):
            ask(question, needed - 1)


@given(questions(), st.lists(st.integers(0, 1500), min_size=2, max_size=5))
def test_a_larger_budget_never_shows_less_of_several_files(question, budgets):
    needed = least(question)
    check_nesting(ask(question, needed + budget) for budget in sorted(budgets))


@given(questions(), st.integers(0, 500))
def test_a_document_is_the_longest_prefix_that_fits(question, more):
    best: list[str] = []

    def trying_all(spine, steps, document, budget):
        """The longest prefix, found by rendering and counting every one."""
        kept, lowest = longest_prefix(spine, steps, document, budget)
        fresh = Document(document.prices, document.targets, document.frame)
        for step in spine:
            fresh.take(step)
        best.append(render(fresh))
        for step in one_by_one_of(steps_of[0], fresh):
            fresh.take(step)
            if SIZES["o200k_base"](text := render(fresh)) <= budget:
                best[-1] = text
        return kept, lowest

    steps_of: list = []

    def keeping(plan, *rest):
        prices = Prices(plan.open_entry, SIZES["o200k_base"])
        steps_of[:] = [list(plan.steps(Document(prices, plan.targets, plan.frame)))]
        return grow(plan, *rest)

    grow = viewing.grow
    budget = least(question) + more
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(viewing, "longest_prefix", trying_all)
        patch.setattr(focusing, "grow", keeping)
        patch.setattr("orgctx.views.overview.grow", keeping)
        view = ask(question, budget)
    assert view.text == best[-1]


def one_by_one_of(steps, document):
    """The steps that show something new, each piece on its own."""
    for step in one_by_one(steps):
        if step.pieces > document.state(step.node):
            yield step


@given(questions(), st.integers(0, 3000))
def test_a_document_of_several_files_reads_back_as_what_it_shows(question, more):
    view = ask(question, least(question) + more)
    read = outline(view.text, "view").nodes[1:]
    headlines = [each for each in view.shown if level_in_document(each, view)]
    assert [node.level for node in read] == [level_in_document(each, view) for each in headlines]
    words = {word for s in view.shown for word in (*s.node.tree.todos, *s.node.tree.dones)}
    for node, each in zip(read, headlines, strict=True):
        if each.level < 0:
            continue
        assert node.id == each.node.id
        own = {*each.node.tree.todos, *each.node.tree.dones}
        is_foreign = any(each.node.title.startswith(word) for word in words - own)
        if each.level and not is_foreign and "\r\r\n" not in each.node.text:
            assert (node.title, node.todo) == (each.node.title, each.node.todo)
            assert node.tags == each.node.tags
        if not each.level:
            assert node.get_property("PATH") == each.path
        if not each.level and node.todo is None:
            assert node.title in (each.node.title, each.path.rpartition("/")[2])


@given(questions(), st.integers(0, 3000))
def test_the_same_question_about_several_files_has_the_same_answer(question, more):
    trees, kind, targets = question
    budget = least(question) + more
    again = {tree.path: outline(tree.text, tree.path) for tree in trees}
    other = list(again.values()), kind, [again[t.path].nodes[t.index] for t in targets]
    assert ask(question, budget).text == ask(other, budget).text
