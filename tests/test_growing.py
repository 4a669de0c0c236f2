"""Moments: what each of them says put together is the view within that budget, to the letter."""

from growth import check_growth
from hypothesis import event, given, settings
from hypothesis import strategies as st
from memexes import grown, least, questions
from notes import write

from orgctx.core.model import Detail
from orgctx.store.opening import open_store
from orgctx.views import focus as focusing
from orgctx.views.growing import FOLDER, moments
from orgctx.views.view import Limit


def played(told):
    """After each moment: its tokens, the text, and the details so far."""
    parts, details = {}, {}
    for moment in told:
        for key, begin, end, lines in moment.changes:
            old = parts.get(key, [])
            parts[key] = old[:begin] + lines + old[len(old) - end :]
        details |= {place: detail for place, (detail, _) in moment.details.items()}
        yield moment.tokens, "".join("".join(parts[key]) for key in sorted(parts)), dict(details)


@settings(max_examples=40)
@given(questions(), st.integers(0, 1500), st.data())
def test_moments_put_together_are_the_view_within_each_budget(question, more, data):
    growth = grown(question, least(question) + more)
    told = list(played(moments(growth, 10**6)))
    tokens = [each[0] for each in told]
    assert tokens == sorted(set(tokens))
    assert tokens[0] == least(question)
    assert told[-1][:2] == (growth.view.tokens, growth.view.text)
    budget = data.draw(st.integers(tokens[0], growth.limit.budget))
    _, text, details = next(each for each in reversed(told) if each[0] <= budget)
    view = grown(question, budget).view
    assert text == view.text
    dropped = {place for place, detail in details.items() if detail == Detail.DROPPED}
    assert {place: details[place] for place in details.keys() - dropped} == {
        place_of(each): each.detail for each in view.shown
    }
    event("a wider folder became the head" if dropped else "one head")
    event(f"{min(len(tokens) // 10, 5)}0 moments or more")


def place_of(each):
    """Where what is shown is, as a moment tells it: folders by their paths, the memex by none."""
    if each.level >= 0:
        return each.path, each.node.index
    return "" if each.path in ("memex", "./") else each.path[:-1], FOLDER


@settings(max_examples=20)
@given(questions(), st.integers(2, 9))
def test_of_many_moments_the_first_and_the_last_are_told(question, most):
    growth = grown(question, 10**6)
    whole, some = list(moments(growth, 10**6)), list(played(moments(growth, most)))
    assert len(some) == min(most, len(whole))
    assert [each[0] for each in some][:: len(some) - 1 or 1] == [each.tokens for each in whole][
        :: len(whole) - 1 or 1
    ]
    assert some[-1][1] == growth.view.text
    assert set(some[-1][2].values()) <= set(Detail)


def test_time_grows_with_the_view(tmp_path):
    def growth(size):
        text = "* A\n" + "a line of text\n" * size
        store = open_store([write(tmp_path / str(size), {"a.org": text})])
        return focusing.grown(store, ["a.org:1"], Limit(5 * size))

    check_growth(lambda each: list(moments(each, 50)), growth, 200)
