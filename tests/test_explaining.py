"""--explain: why each node is in a view, or is not; exactly within a limit of its own."""

import json
from collections import Counter
from pathlib import Path

import pytest
from growth import check_growth
from hypothesis import Phase, event, find, given, settings
from hypothesis import strategies as st
from memexes import grown, least, questions
from notes import note, write
from program import Ask, as_json, on_terminal
from rich.cells import cell_len

from orgctx import open_memex
from orgctx.core.lens import FOCUS_RANKS, OVERVIEW_RANKS, rank_of
from orgctx.core.model import Detail, Relation
from orgctx.errors import BadArgument, BudgetTooSmall
from orgctx.store.opening import open_store
from orgctx.surfaces.output import to_json
from orgctx.tokens import count
from orgctx.views import focus as focusing
from orgctx.views.explaining import LEGEND, SIGNS, WIDTH, explain, to_data
from orgctx.views.view import Limit

ENOUGH = 10**6

# --- The words for each rank ---------------------------------------------------------------------


def steps_of(question):
    """All steps of a lens, and its table of ranks."""
    growth = grown(question, ENOUGH)
    plan = growth.plan
    return [*plan.spine, *plan.steps(growth.document.replay(plan.spine))], plan.ranks


@settings(max_examples=25)
@given(questions())
def test_each_step_is_of_a_rank_that_says_so(question):
    steps, ranks = steps_of(question)
    for step in steps:
        rank = ranks[rank_of(step.interest)]
        is_holder = step.relation == Relation.CONTAINER and rank is ranks[1]
        assert step.relation in rank.relations or is_holder
        assert rank.is_text == (step.pieces > 0)


EVERYTHING = {
    "a.org": "above\n* Top\n** Parent\ntext\n*** Before\ntext\n*** Target\n[[id:other-1]]\n"
    + ("word " * 200 + "\n") * 6
    + "**** TODO Child\n"
    + ("word " * 100 + "\n") * 5
    + "***** Deeper\n"
    + "".join(f"*** After {n}\ntext\n" for n in range(12))
    + "** Uncle\n* Other\n",
    "b.org": note("Linked", "other-1") + ("word " * 100 + "\n") * 5,
    "c.org": "* C\n" + "".join(f"* TODO {n}\n" for n in range(5)),
    "sub/d.org": "* D\n",
}


@pytest.mark.parametrize(
    ("lens", "ranks"), [("fisheye", FOCUS_RANKS), ("overview", OVERVIEW_RANKS)]
)
def test_each_rank_that_has_words_comes_to_pass(tmp_path: Path, lens: str, ranks: dict) -> None:
    memex = open_memex(write(tmp_path / "notes", EVERYTHING))
    address = "a.org::Top/Parent/Target"
    found = memex.explain(address, lens=lens, budget=10**6, explain_budget=ENOUGH)
    assert {rank for row in found.rows for rank in row.ranks} == set(ranks)


def test_every_reason_fits_its_column() -> None:
    for ranks in (FOCUS_RANKS, OVERVIEW_RANKS):
        reasons = (f"{each}, {r.words}" for r in ranks.values() for each in r.relations)
        assert max(map(len, reasons)) <= 28


# --- What is told --------------------------------------------------------------------------------


@settings(max_examples=25)
@given(questions(), st.integers(0, 1500))
def test_all_that_is_shown_is_told_with_its_cost(question, more):
    growth = grown(question, least(question) + more)
    view = growth.view
    found = explain(growth, ENOUGH)
    told = [row for row in found.rows if row.detail != Detail.DROPPED]
    assert [(row.address, row.line, row.detail, row.tokens, row.relation) for row in told] == [
        (each.address, each.line, each.detail, each.tokens, each.relation) for each in view.shown
    ]
    assert sum(row.tokens for row in told) == view.tokens
    assert sum(bar.tokens for bar in found.bars) == view.tokens
    assert sum(bar.nodes for bar in found.bars) == found.nodes == len(view.shown)
    assert found.more == 0
    event("something is dropped" if len(told) < len(found.rows) else "all is shown")


@settings(max_examples=25)
@given(questions(), st.integers(0, 800))
def test_a_tree_counts_what_it_does_not_list(question, more):
    """Children shown, dropped and listed, or counted: together all that there are."""
    growth = grown(question, least(question) + more)
    found = explain(growth, ENOUGH)
    above: list = []
    held = Counter[int]()
    for place, row in enumerate(found.rows):
        del above[row.depth :]
        assert len(above) == row.depth
        if above:
            held[above[-1]] += 1
        above.append(place)
    shown = {(each.address, each.line): each for each in growth.view.shown}
    for place, row in enumerate(found.rows):
        each = shown.get((row.address, row.line))
        if each and each.level >= 0 and row.relation in ("target", "ancestor"):
            assert held[place] + row.unlisted == sum(1 for _ in each.node.children)


@settings(max_examples=25)
@given(questions(), st.integers(0, 500), st.integers(100, 500), st.booleans())
def test_the_limit_holds_and_a_larger_one_tells_no_less(question, more, budget, is_json):
    growth = grown(question, least(question) + more)
    write = (lambda found: to_json(to_data(found))) if is_json else (lambda found: found.text)
    allowed, found = within(growth, budget, write)
    assert count(write(found)) <= allowed
    assert {row.address for row in found.rows} <= {r.address for r in explain(growth, ENOUGH).rows}
    assert found.more + sum(r.detail != Detail.DROPPED for r in found.rows) == found.nodes
    event("some shown nodes have no row" if found.more else "all have one")


def within(growth, budget, write):
    """An explanation within the budget, or within the least that works if that is more."""
    try:
        return budget, explain(growth, budget, write)
    except BudgetTooSmall as error:
        return error.needed, explain(growth, error.needed, write)


@settings(max_examples=25)
@given(questions(), st.integers(0, 500))
def test_no_line_is_wider_than_a_terminal(question, more):
    text = explain(grown(question, least(question) + more), ENOUGH).text
    assert max(map(cell_len, text.split("\n"))) <= WIDTH


def test_the_limit_is_exact(tmp_path: Path) -> None:
    store = open_store([write(tmp_path, {"a.org": "".join(f"* H{n}\n" for n in range(3000))})])
    growth = focusing.grown(store, ["a.org::H7"], Limit(2000))
    for budget in (200, 333, 4000):
        found = explain(growth, budget)
        assert budget - 40 < found.tokens == count(found.text) <= budget
        assert found.more == len(growth.view.shown) - sum(r.detail != "dropped" for r in found.rows)
    with pytest.raises(BudgetTooSmall) as raised:
        explain(growth, 20)
    assert explain(growth, raised.value.needed).tokens == raised.value.needed
    for wrong in (0, -1, "9", True):
        with pytest.raises(BadArgument, match="explain_budget"):
            explain(growth, wrong)


WIDE = """\
* 庭の設計図とその説明がとても長いのでここで切れるはずです
** Ünïcode
** 👩‍👩‍👧 and 🌱 sprouts
** plain
** e\u0301 combined
* \x1b[31mred\x07
"""


def test_columns_stand_in_line_whatever_the_script(tmp_path: Path) -> None:
    memex = open_memex(write(tmp_path, {"a.org": WIDE}))
    lines = memex.explain("a.org:2").text.split("\n")
    rows = [line for line in lines if line[:2] in {f"{sign} " for sign in SIGNS.values()}]
    starts = {cell_len(row[: row.rindex(",")].rsplit(" ", 1)[0]) for row in rows if row != LEGEND}
    assert starts == {50}
    assert any("…" in row for row in rows)
    assert not any(c < " " for line in lines for c in line)


def test_links_are_shown_by_what_they_are_called(tmp_path: Path) -> None:
    memex = open_memex(write(tmp_path, {"a.org": "* See [[https://example.org/long][the page]]\n"}))
    found = memex.explain("a.org:1")
    assert "  See the page   " in found.text
    assert (
        found.rows[1].title == "See [[https://example.org/long][the page]]"
    )  # data are the note's


# --- The surfaces --------------------------------------------------------------------------------

NOTES = "* A\n" + "text\n" * 30 + "** B\n** C\n* D\n" + "".join(f"* E{n}\n" for n in range(40))


@pytest.fixture
def notes(home: Path) -> Path:
    return write(home, {"a.org": NOTES})


def test_the_command_prints_what_python_tells(notes: Path, ask: Ask) -> None:
    for lens in ("foveal", "fisheye"):
        found = open_memex("a.org").explain("a.org::A", lens=lens, budget=50)
        answer = ask("focus", "a.org::A", "--lens", lens, "--budget", "50", "--explain")
        assert answer == (0, found.text, "")
        assert found.text.startswith("50 of 50 tokens (100 %), ")
    data = as_json(ask("focus", "a.org::A", "--budget", "50", "--explain", "--json"))
    memex = open_memex("a.org")
    assert data == json.loads(json.dumps(to_data(memex.explain("a.org::A", budget=50))))
    assert data["tokens"] == memex.focus("a.org::A", budget=50).tokens
    assert memex.ledger.tokens["explain"] == memex.explain("a.org::A", budget=50).tokens


def test_an_overview_is_explained_too(notes: Path, ask: Ask) -> None:
    answer = ask("overview", "--root", ".", "--explain")
    assert "background, newest first\n" in answer.out
    assert answer.out == open_memex(".").explain(lens="overview").text


def test_what_is_left_out_is_counted(notes: Path, ask: Ask) -> None:
    out = ask("focus", "a.org::A", "--budget", "40", "--explain", "--explain-budget", "300").out
    assert count(out) <= 300
    assert "lines left out\n" in out
    assert "more nodes left out\n" in out
    small = ask("focus", "a.org", "--explain", "--explain-budget", "200").out
    assert small.endswith(" more nodes shown: see --explain-budget\n")


def test_a_limit_that_is_too_small_is_one_line(notes: Path, ask: Ask) -> None:
    answer = ask("focus", "a.org::A", "--explain", "--explain-budget", "3")
    assert (answer.status, answer.out, answer.err.count("\n")) == (3, "", 1)
    assert answer.err.startswith("orgctx: explain_budget: a budget of 3 tokens is below the ")


def test_a_terminal_gets_colours_and_the_same_text(notes: Path) -> None:
    call = ("focus", "a.org::A", "--budget", "60", "--explain")
    plain = open_memex("a.org").explain("a.org::A", budget=60).text
    seen = {
        name: on_terminal(*call, TERM="xterm", **environment).decode().replace("\r\n", "\n")
        for name, environment in (("colour", {}), ("no colour", {"NO_COLOR": "1"}))
    }
    assert "\x1b[33m~ " in seen["colour"]
    assert not {f"\x1b[3{n}m" for n in range(8)} & {s[:5] for s in seen["no colour"].split("\x1b")}
    for text in seen.values():
        assert without_styles(text) == plain


def without_styles(text: str) -> str:
    head, *rest = text.split("\x1b[")
    return head + "".join(each.partition("m")[2] for each in rest)


def test_who_does_not_ask_does_not_pay() -> None:
    from program import loaded_by

    script = "import orgctx.surfaces.seeing, orgctx.surfaces.api"
    others = "orgctx.views.explaining", "orgctx.views.picture", "orgctx.surfaces.pages", "rich"
    others += "click.shell_completion", "orgctx.workcopy"
    assert loaded_by(script, *others)[1] == set()


def test_time_grows_with_the_file(tmp_path: Path) -> None:
    def growth(size: int):
        text = "".join(f"* H{n}\ntext\n** I\n" for n in range(size))
        store = open_store([write(tmp_path / str(size), {"a.org": text})])
        return focusing.grown(store, ["a.org:1"], Limit(ENOUGH))

    check_growth(lambda each: explain(each, ENOUGH), growth, 100)


def test_a_question_that_drops_and_cuts_and_counts_is_among_the_generated() -> None:
    def is_hard(question) -> bool:
        rows = explain(grown(question, least(question) + 60), ENOUGH).rows
        details = {row.detail for row in rows}
        return {Detail.DROPPED, Detail.CUT} <= details and any(row.unlisted for row in rows)

    assert find(questions(), is_hard, settings=settings(phases=[Phase.generate], max_examples=3000))
