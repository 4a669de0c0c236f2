"""The evaluation itself: its measures are right on cases made by hand, and all of it runs."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import judged
import pytest
from bench.memex import make
from eval import battery, cutting, evidence, filling, report, routing, scripted, speed, walking
from eval.battery import Endpoint
from eval.bm25 import Document, Index, best_of, passages, words
from eval.command import main
from eval.fixture import NOTES, TURNS, Turn
from eval.linked import linked
from eval.notebooks import Notebook, address, opened
from eval.questions import KINDS, Case, Evidence, cases
from eval.rivals import OURS, RIVALS, WAYS
from hypothesis import event, given
from hypothesis import strategies as st
from notes import write
from views import SIZES

from orgctx.errors import BudgetTooSmall

CHAPTERS = Path(__file__).parent.parent / "literate"
LIMIT_BYTES = 60_000
COUNT = SIZES["o200k_base"]

# --- Texts cut to a budget -----------------------------------------------------------------------

TEXT = st.text(st.sampled_from("ab *#\n\r会é😀 "), max_size=120) | st.text(max_size=60)


@given(TEXT, st.integers(0, 60))
def test_a_beginning_and_an_end_fit_and_are_of_whole_lines(text: str, budget: int) -> None:
    first, last = cutting.first(text, budget), cutting.last(text, budget)
    assert text.startswith(first)
    assert text.endswith(last)
    assert max(COUNT(first), COUNT(last)) <= budget
    assert first.endswith("\n") or first in ("", text)
    assert text[: len(text) - len(last)].endswith("\n") or last in ("", text)
    event("whole" if first == text else "cut" if first else "nothing")


def test_a_cut_takes_as_many_lines_as_fit() -> None:
    text = "".join(f"line {n}\n" for n in range(100))
    cost = COUNT("line 0\n")
    assert COUNT(text) == 100 * cost
    for lines in (1, 7, 99):
        for budget in (lines * cost, lines * cost + cost - 1):
            assert cutting.first(text, budget) == "".join(f"line {n}\n" for n in range(lines))
            assert cutting.last(text, budget) == "".join(
                f"line {n}\n" for n in range(100 - lines, 100)
            )


# --- Questions -----------------------------------------------------------------------------------

GARDEN = {
    "garden.org": """\
#+title: Garden
The preface is a line of its own.
* Beds
What the beds have in common is here.
** North bed                                                         :shade:
Ferns grow here, where there is no sun.
*** Ferns in detail
The ferns came from a friend in Tartu.
** South bed
Tomatoes stand here, see [[id:basil-1][the basil]] below.
* Herbs
:PROPERTIES:
:ID: basil-1
:END:
The basil is kept in pots behind glass.
""",
    "other.org": "* Elsewhere\nThis file has nothing to do with it.\n",
}


@pytest.fixture
def garden(tmp_path: Path) -> Notebook:
    return opened(write(tmp_path / "garden", GARDEN))


def case_of(notebook: Notebook, title: str) -> Case:
    drawn = cases([notebook], per_kind=99, seed=1)
    return next(case for case in drawn if case.node.title == title)


def test_the_evidence_is_what_stands_in_the_notes(garden: Notebook) -> None:
    north, south = case_of(garden, "North bed"), case_of(garden, "South bed")
    assert north.evidence == {
        "target's text": Evidence("Ferns grow here, where there is no sun."),
        "child's text": Evidence("The ferns came from a friend in Tartu."),
        "ancestor's title": Evidence("Beds", is_title=True),
        "sibling's title": Evidence("South bed", is_title=True),
    }
    assert south.evidence["linked text"] == Evidence("The basil is kept in pots behind glass.")
    assert not {"child's text"} & south.evidence.keys()


LINKED = {
    "a.org": "* A\nSee [[*B]], [[file:sub/c.org::#c]], <file:sub/c.org> and [[id:b-0001][B]],\n"
    "[[spot]] [[file:sub/c.org::2]] [[*Nowhere]] [[https://a.org][B]] [[./no.org]] [[T]].\n"
    "* TODO B [1/2] :x:\n:PROPERTIES:\n:ID: b-0001\n:END:\n<<spot>>\n* B\n#+name: t\n",
    "sub/c.org": "Above.\n* C\n:PROPERTIES:\n:CUSTOM_ID: c\n:END:\n[[file:../a.org::*A][a [1]]]\n",
}


def test_links_are_read_simply_and_as_they_are_followed(tmp_path: Path) -> None:
    notebook = opened(write(tmp_path, LINKED))
    found = {
        node.title: [each.title for each in linked(notebook, node)] for node in notebook.headlines
    }
    assert found == {
        "A": ["B [1/2]", "C", "", "B [1/2]", "B [1/2]", "C", "B"],
        "B [1/2]": [],
        "B": [],
        "C": ["A"],
    }
    for node in notebook.headlines:
        followed = [(n.path, n.first_line) for n in notebook.memex.node(address(node)).links]
        read = [(each.path, each.first_line) for each in linked(notebook, node)]
        assert sorted(set(followed)) == sorted(set(read))


def test_what_stands_twice_is_no_evidence(tmp_path: Path) -> None:
    text = "* Twice\nThis very line stands here twice.\n" * 2
    assert cases([opened(write(tmp_path, {"a.org": text}))], per_kind=9, seed=1) == []


def test_a_line_or_a_title_is_there_or_not() -> None:
    line, title = Evidence("Ferns grow here."), Evidence("Beds", is_title=True)
    assert line.is_in("* Beds\n  Ferns grow here.\n")
    assert not line.is_in("He said: Ferns grow here.\n")
    assert not line.is_in("Ferns grow\n")
    for text in ("* Beds", "*** TODO Beds\n", "x\n** [#A] Beds     :a:b:\n"):
        assert title.is_in(text), text
    for text in ("Beds\n", "* Flower Beds and more\n", "*Beds*\n", "* Bedside\n"):
        assert not title.is_in(text), text


def test_the_same_seed_draws_the_same(tmp_path: Path) -> None:
    make(tmp_path, 20)
    notebook = opened(tmp_path)
    one, same, other = (
        [(each.node.path, each.node.first_line) for each in cases([notebook], 5, seed)]
        for seed in (1, 1, 2)
    )
    assert one == same != other


# --- Evidence at equal tokens --------------------------------------------------------------------


@pytest.mark.parametrize("name", WAYS)
def test_no_way_costs_more_than_the_budget(tmp_path: Path, name: str) -> None:
    make(tmp_path, 12, headlines=12)
    for case in cases([opened(tmp_path)], per_kind=4, seed=3):
        for budget in (1, 30, 100, 333, 1000):
            assert COUNT(WAYS[name](case, budget)) <= budget


def test_where_all_fits_all_is_found(garden: Notebook) -> None:
    hits = evidence.measured(cases([garden], per_kind=99, seed=1), (8000,))
    shares = evidence.shares_of(hits, (8000,))
    here = [kind for kind in KINDS if kind != "linked text"]
    for kind in KINDS:
        for name in ("file's beginning", "around point", "focus, fisheye"):
            assert shares[kind, name, 8000] == 1.0, (kind, name)
    for kind in here:
        assert shares[kind, "focus, foveal", 8000] == 1.0, kind
    for kind, name in (
        ("target's text", "skeleton"),
        ("linked text", "skeleton"),
        ("linked text", "focus, foveal"),
        ("sibling's title", "lineage"),
    ):
        assert shares[kind, name, 8000] == 0.0, (kind, name)
    assert shares["ancestor's title", "skeleton", 8000] == 1.0
    assert shares[evidence.ALL, "focus, foveal", 8000] == pytest.approx(4 / 5)


def test_the_rivals_take_what_they_are_named_for(garden: Notebook) -> None:
    case = case_of(garden, "North bed")
    text = case.node.tree.text
    beginning = text[: text.index("* Beds")]
    assert RIVALS["file's beginning"](case, COUNT(beginning)) == beginning
    around = RIVALS["around point"](case, 50)
    assert around in text
    assert "have in common is here.\n** North bed" in around
    assert "Ferns grow here" in around
    assert RIVALS["lineage"](case, 999) == text[: text.index("** South bed")]
    assert RIVALS["lineage"](case, COUNT(case.node.text)) == case.node.text
    assert RIVALS["skeleton"](case, 999).split("\n")[:5] == [
        line for line in text.split("\n") if line.startswith("*")
    ]
    assert "Elsewhere" in RIVALS["skeleton"](case, 999)
    assert RIVALS["BM25 passages"](case, 60).startswith("* Beds\n** North bed")


def test_a_way_that_costs_too_much_is_no_result(
    garden: Notebook, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(WAYS, "cheat", lambda case, budget: case.node.tree.text)
    with pytest.raises(ValueError, match=r"cheat: [0-9]+ tokens for a budget of 9"):
        evidence.measured(cases([garden], per_kind=1, seed=1), (9,))


def test_a_better_rival_is_told_and_explained_unless_it_may_be_chance() -> None:
    hits = {
        (kind, name, budget): [True] * 10 + [False] * 10
        for kind in KINDS
        for name in WAYS
        for budget in evidence.BUDGETS
    }
    assert [*evidence.worse(hits, [*KINDS])] == []
    lineage = ("target's text", "lineage", 250)
    hits[lineage] = [True] * 15 + [False] * 5
    told = [*evidence.worse(hits, [*KINDS])]
    assert len(told) == 1
    assert "0.75 to 0.50 at 250 (5 questions it alone, 0 focus alone)" in told[0]
    assert "Why: it may be chance." in told[0]
    hits[lineage] = [True] * 16 + [False] * 4
    assert evidence.WHY[lineage[:2]] in next(evidence.worse(hits, [*KINDS]))
    hits["linked text", "skeleton", 500] = [True] * 20
    assert evidence.UNEXPLAINED in [*evidence.worse(hits, [*KINDS])][1]
    for ours in OURS:
        hits["target's text", ours, 250] = [True] * 20
    assert len([*evidence.worse(hits, [*KINDS])]) == 1


def test_a_better_mean_is_told() -> None:
    shares = {(evidence.ALL, name, budget): 0.5 for name in WAYS for budget in evidence.BUDGETS}
    assert [*evidence.worse_in_all(shares)] == []
    shares[evidence.ALL, "lineage", 500] = 0.6
    told = [*evidence.worse_in_all(shares)]
    assert len(told) == 1
    assert "lineage, 0.60 to 0.50 at 500" in told[0]


def test_the_sign_test_is_that_of_a_coin() -> None:
    assert evidence.sign_test(0, 0) == evidence.sign_test(1, 1) == evidence.sign_test(1, 0) == 1
    assert evidence.sign_test(5, 0) == evidence.sign_test(0, 5) == 2 / 32
    assert evidence.sign_test(6, 1) == pytest.approx(2 * (1 + 7) / 128)


def test_what_a_view_spends_is_all_of_it(garden: Notebook) -> None:
    told = evidence.spent(cases([garden], per_kind=99, seed=1), 250)
    parts = [int(number) for number in re.findall(r"(\d+)%", told)]
    assert sum(parts) == pytest.approx(100, abs=len(parts))
    assert "target" in told
    assert evidence.spent(cases([garden], per_kind=99, seed=1), 8000) != told


def test_it_says_how_many_links_stay_in_the_file(garden: Notebook) -> None:
    said = evidence.said_of([case_of(garden, "South bed"), case_of(garden, "North bed")], 1)
    assert "Of the 1 linked entries, 1 are in the file" in said


# --- BM25 ----------------------------------------------------------------------------------------


def index_of(notebook: Notebook, *texts: str) -> Index:
    node = notebook.headlines[0]
    return Index(Document(node, f"{text}\n", text) for text in texts)


def test_words_of_chinese_are_pairs() -> None:
    assert [*words("Two_x 会議資料 a 会")] == ["two_x", "会議", "議資", "資料", "a", "会"]


def test_scores_are_those_of_the_formula(garden: Notebook) -> None:
    index = index_of(garden, "fern fern moss", "moss", "stone")
    found, ratio = index.search("fern")
    assert [each.words for each in found] == ["fern fern moss"]
    rarity = math.log(1 + (3 - 1 + 0.5) / (1 + 0.5))
    score = rarity * 2 * 2.2 / (2 + 1.2 * (0.25 + 0.75 * 3 / (5 / 3)))
    assert ratio == pytest.approx(score / (2.2 * rarity))
    assert index.search("nowhere") == ([], 0.0)


def test_the_best_are_first_and_fit(garden: Notebook) -> None:
    index = index_of(garden, "fern moss", "fern fern", "stone")
    assert best_of(index, "fern moss", 100) == "fern moss\nfern fern\n"
    assert best_of(index, "fern moss", COUNT("fern moss\n")) == "fern moss\n"


def test_passages_hold_every_line_of_a_text_below_its_headlines(tmp_path: Path) -> None:
    lines = "".join(f"Line {n} of the text, which is long.\n" for n in range(200))
    notebook = opened(write(tmp_path, {"a.org": f"* Above\n** Here\n{lines}* Next\n"}))
    parts = [each for each in passages(notebook.trees) if each.node.title == "Here"]
    assert len(parts) > 5
    assert all(each.text.startswith("* Above\n** Here\n") for each in parts)
    assert "".join(each.text.removeprefix("* Above\n** Here\n") for each in parts) == lines


# --- Routing -------------------------------------------------------------------------------------


def queries_of(place: Path) -> Path:
    def judged_as(kind: str, query: str, *answers: tuple[int, str]) -> dict[str, Any]:
        rows = [{"path": "garden.org", "line": line, "title": title} for line, title in answers]
        return {"id": query, "corpus": "garden", "query": query, "kind": kind, "answers": rows}

    rows = [
        judged_as("keyword", "ferns from a friend in Tartu", (7, "Ferns in detail")),
        judged_as("multi", "basil", (11, "Herbs"), (9, "South bed")),
        judged_as("abstain", "quantum chromodynamics"),
    ]
    write(place.parent, {place.name: "".join(f"{json.dumps(row)}\n" for row in rows)})
    return place


def test_routing_is_measured_against_bm25(garden: Notebook, tmp_path: Path) -> None:
    part = routing.part(queries_of(tmp_path / "q.jsonl"), tmp_path, tmp_path / "cache")
    head, *rows = part.rows
    by_way = {(row[0], row[2]): row for row in rows}
    assert list(head[3:5]) == ["recall@3", "MRR@10"]
    for way in (routing.OURS, routing.PLAIN, routing.HINDSIGHT):
        assert by_way["keyword", way][3:] == (1.0, 1.0, 1.0, 1.0)
        assert by_way["multi", way][3] == 1.0
        assert by_way["abstain", way][6] == 1.0


def test_without_questions_the_part_says_so(tmp_path: Path) -> None:
    assert "Left out" in routing.part(None, tmp_path, tmp_path).prose


def test_the_threshold_is_the_best_that_there_is() -> None:
    asked = [{"query": name, "kind": kind} for name, kind in
             (("a", "keyword"), ("b", "keyword"), ("c", "abstain"))]  # fmt: skip
    apart = routing.best_threshold(asked, {"a": 0.9, "b": 0.5, "c": 0.2})
    assert 0.2 < apart <= 0.5
    mixed = routing.best_threshold(asked, {"a": 0.9, "b": 0.1, "c": 0.2})
    assert mixed == 0.9, "1 of 2 kept and all that should be refused, of 0 and 2 of 2"


def test_a_better_bm25_is_told() -> None:
    ours, theirs = judged.Figures(0.5, 0.5, 1, 1, 1), judged.Figures(0.75, 0.5, 1, 1, 0)
    found = {routing.OURS: {"all": ours}, routing.PLAIN: {"all": theirs}}
    found[routing.HINDSIGHT] = {"all": ours}
    told = [*routing.worse(found, Counter(all=4, abstain=2))]
    assert len(told) == 1
    assert "recall@3 of all, 0.75 to 0.50; of 4 questions one more or less is 0.25" in told[0]


def test_a_bm25_that_knows_better_when_to_abstain_is_told() -> None:
    ours, theirs = judged.Figures(1, 1, 1, 0.75, 0.5), judged.Figures(0, 0, 0, 1, 1)
    found = {way: {"all": theirs, "multi": theirs} for way in (routing.PLAIN, routing.HINDSIGHT)}
    found[routing.OURS] = {"all": ours, "multi": ours}
    told = [*routing.worse(found, Counter(all=4, multi=4, abstain=2))]
    assert [re.findall(r"right to \w+ of \w+, [0-9.]+ to [0-9.]+", each) for each in told] == [
        ["right to answer of all, 1.00 to 0.75"],
        ["right to abstain of all, 1.00 to 0.50"],
        ["right to answer of multi, 1.00 to 0.75"],
    ]


# --- Walks ---------------------------------------------------------------------------------------


def test_a_walk_is_a_call_for_each_level_and_one_to_read(garden: Notebook) -> None:
    node = case_of(garden, "Ferns in detail").node
    found = walking.cost(garden, node)
    assert found is not None
    calls, tokens = found
    assert calls == len(["roots", "root", "file", "Beds", "North bed", "read"])
    assert tokens == garden.memex.ledger.total > 0
    assert walking.flat(garden).split("\n")[0] == "garden.org:3 Beds"


def test_a_walk_that_does_not_arrive_is_lost(garden: Notebook) -> None:
    node = case_of(garden, "South bed").node
    (garden.folder / "garden.org").unlink()
    assert walking.cost(garden, node) is None


# --- Budgets -------------------------------------------------------------------------------------


def test_a_budget_that_is_overrun_is_counted(garden: Notebook) -> None:
    def cheat(_memex: object, _at: str, budget: int) -> str:
        return "word " * (budget + 1)

    found = filling.fillings(cheat, [(garden.memex, "x")], (10, 20))
    assert [(each.answers, each.over, each.too_small) for each in found] == [(1, 1, 0)] * 2


def test_what_is_used_is_counted_where_a_budget_cuts(garden: Notebook) -> None:
    def half(_memex: object, _at: str, budget: int) -> str:
        return "word\n" * (min(budget, 40) // 4)  # two tokens each

    found = filling.fillings(half, [(garden.memex, "x")], (16, 40))
    assert [each.used for each in found] == [[0.5], []]


def test_a_budget_that_is_named_as_needed_is_tried(garden: Notebook) -> None:
    def needy(_memex: object, _at: str, budget: int) -> str:
        if budget < 15:
            raise BudgetTooSmall("x", 15)
        return "word\n" * 9  # 18 tokens

    with pytest.raises(ValueError, match="more than 15"):
        filling.fillings(needy, [(garden.memex, "x")], (10,))
    at = "garden.org::Beds"
    found = filling.fillings(filling.ASKED["focus, foveal"], [(garden.memex, at)], (5, 100))
    assert [(each.answers, each.over, each.too_small) for each in found] == [
        (0, 0, 1),
        (1, 0, 0),
    ]


# --- The battery ---------------------------------------------------------------------------------


@pytest.fixture
def url(loopback: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("no_proxy", scripted.HOST)
    with scripted.served() as served:
        yield served


def test_the_battery_is_as_it_was_recorded(url: str) -> None:
    """Over HTTP. After a change of what tools answer: python -m tests.eval --record."""
    played, known = battery.battery(Endpoint(url, scripted.MODEL)), battery.recorded()
    assert known["model"] == scripted.MODEL
    assert [each.verdict for each in played] == ["right"] * len(TURNS)
    assert [each.calls for each in played] == [each["calls"] for each in known["turns"]]
    for now, then in zip(played, known["turns"], strict=True):
        assert now.tokens <= 1.1 * then["tokens"]


def test_the_fixture_is_what_it_says() -> None:
    assert len(NOTES) == 8
    assert {path.split("/")[0] for path in NOTES} == {"household", "studio"}
    assert max(path.count("/") for path in NOTES) == 2
    assert len(TURNS) == 10
    assert scripted.SCRIPTS.keys() == {turn.question for turn in TURNS}
    used = {step.tool for script in scripted.SCRIPTS.values() for step in script.steps}
    assert used == set(battery.OFFERED)


@pytest.mark.parametrize(
    ("said", "verdict"),
    [("It is 1260.", "right"), ("1260, not 1280", "wrong"), ("cold", "wrong"), ("", "gave up")],
)
def test_a_verdict_is_of_what_was_said(said: str, verdict: str) -> None:
    assert battery.verdict(Turn("?", ("1260",), ("1280",)), said) == verdict


def calls(*named: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    return {
        "role": "assistant",
        "tool_calls": [
            {"id": str(n), "function": {"name": name, "arguments": json.dumps(given_)}}
            for n, (name, given_) in enumerate(named)
        ],
    }


def test_a_model_that_never_answers_gives_up(tmp_path: Path) -> None:
    tools = battery.memex_in(tmp_path).tools()
    played = [*battery.play(lambda *_: calls(("ls", {})), tools, TURNS[:1])]
    assert [(each.verdict, each.calls) for each in played] == [("gave up", battery.CALLS)]
    assert played[0].tokens == battery.CALLS * tools.call("ls").tokens


def test_a_tool_that_is_not_offered_is_refused(tmp_path: Path) -> None:
    heard: list[Sequence[dict[str, Any]]] = []

    def ask(messages: Sequence[dict[str, Any]], offered: Sequence[dict[str, Any]]) -> Any:
        heard.append(list(messages))
        assert {each["function"]["name"] for each in offered} == set(battery.OFFERED)
        done = messages[-1]["role"] == "tool"
        return {"content": "no"} if done else calls(("overview", {}), ("ls", {}))

    played = [*battery.play(ask, battery.memex_in(tmp_path).tools(), TURNS[-1:])]
    assert (played[0].verdict, played[0].calls) == ("right", 2)
    told = [each["content"] for each in heard[-1] if each["role"] == "tool"]
    assert "overview: not offered" in told[0]
    assert "studio" in told[1]


def test_a_wrong_answer_is_told(tmp_path: Path) -> None:
    played = battery.battery(lambda *_: {"role": "assistant", "content": "materials, projects"})
    verdicts = [each.verdict for each in played]
    assert verdicts == ["right", *["wrong"] * 9]
    told = [*battery.remarks(played, "parrot")]
    assert told[0] == "The model is parrot."
    assert sum("Worse" in each for each in told) == 9


def test_an_endpoint_that_is_none_is_an_error_of_one_line(
    url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path / "n", {"a.org": "* A\n"})
    asked = ["--small", "--files", "50", "--notes", str(tmp_path / "n"), "--out", str(tmp_path)]
    for there, model in ((f"{url}/nowhere", scripted.MODEL), (url, "other")):
        assert main([*asked, "--base-url", there, "--model", model]) == 1
        last = capsys.readouterr().err.splitlines()[-1]
        assert last.startswith(f"evaluation: {there}/chat/completions: ")
        assert "404" in last
    assert not (tmp_path / "evaluation.org").exists()


# --- Speed ---------------------------------------------------------------------------------------


def test_ratios_are_of_the_floor_and_of_the_fewest() -> None:
    one = speed.Speed(100, 1.0, 2.0, 0.5, 1.0, 0.1, 0.2, 0.3)
    many = speed.Speed(1000, 10.0, 30.0, 5.0, 10.0, 0.1, 0.2, 0.9)
    assert (one.of_floor, many.of_floor) == ((2.0, 2.0), (3.0, 2.0))
    assert many.grown(one) == pytest.approx((1.0, 1.0, 3.0))
    told = speed.remarks([one, many])
    assert len(told) == 2
    assert "up to 1,000 files" in told[1]
    assert speed.remarks([one, many._replace(files=speed.MOST)])[1:] == []
    assert "with 10 times as many files, a question takes 3.0 times as long" in told[0]


# --- The report ----------------------------------------------------------------------------------


def test_a_table_is_aligned() -> None:
    assert report.table([("a", "bb"), (1000, 0.5), ("x|y", 1234.5)]) == (
        """\
| a         | bb    |
|-----------+-------|
| 1,000     | 0.50  |
| x\\vert{}y | 1,234 |
"""
    )


def check_report(folder: Path) -> str:
    """It is whole: every part, and every picture small. Returns: its text."""
    text = (folder / "evaluation.org").read_text(encoding="utf-8")
    assert re.findall(r"(?m)^\* (.+)$", text) == [
        *("Evidence at equal tokens", "Routing", "Walk cost", "Battery"),
        *("Budget use and exactness", "Speed and growth"),
    ]
    pictures = re.findall(r"(?m)^\[\[file:(.+)\]\]$", text)
    assert len(pictures) == 4
    for name in pictures:
        assert (folder / name).read_bytes().startswith(b"\x89PNG")
        assert (folder / name).stat().st_size <= LIMIT_BYTES
    assert re.search(r"(?m)^- 0 of [0-9,]+ answers .* cost more than their budget", text)
    return text


def test_one_command_measures_ones_own_notes(
    loopback: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("no_proxy", scripted.HOST)
    make(tmp_path / "mine", 30, headlines=8)
    out = tmp_path / "out"
    assert main(["--small", "--notes", str(tmp_path / "mine"), "--out", str(out)]) == 0
    text = check_report(out)
    assert re.search(r"^\| sizes +\| a few of everything, by --small +\|$", text, re.MULTILINE)
    assert re.search(r"^\| notes +\| 1 notebook, 30 files, ", text, re.MULTILINE)
    assert re.search(r"^\| took +\| [1-9]\d* s +\|$", text, re.MULTILINE)
    assert str(tmp_path) not in text
    assert "Left out: there are no judged questions" in text
    assert "garden river" not in text, "no text of a note"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--base-url", "http://127.0.0.1:1/v1"], "--base-url and --model belong together"),
        ([], "no notes: give --notes FOLDER"),
        (["--small", "--notes", ".", "--files", "9"], "--files 9: give 50 or more"),
        (["--notes", ".", "--queries", "none"], "--queries none: there is no such file"),
        (["--notes", ".", "--base-url", "x", "--model", "y"], "--base-url x: give one that begins"),
    ],
)
def test_what_is_asked_wrongly_is_told(
    arguments: list[str],
    told: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.delenv("ORGCTX_CORPORA", raising=False)
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert told in capsys.readouterr().err


@pytest.mark.parametrize("name", ["none", "empty", "text/a.org", "a file"])
def test_notes_that_are_not_there_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    (tmp_path / "empty").mkdir()
    write(tmp_path, {"text/a.org": "no headline\n", "a file": ""})
    out = tmp_path / "out"
    assert main(["--small", "--notes", str(tmp_path / name), "--out", str(out)]) == 1
    assert re.fullmatch(f"evaluation: .*{name}: .*\n", capsys.readouterr().err)
    assert not out.exists()


def test_a_report_that_cannot_be_written_is_told_before_it_is_measured(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, {"notes/a.org": "* A\n", "file": ""})
    for out in ("file", "file/below"):
        asked = ["--small", "--notes", str(tmp_path / "notes"), "--out", str(tmp_path / out)]
        assert main(asked) == 1
        assert capsys.readouterr().err.count("\n") == 1


def test_the_results_that_are_kept_are_whole_and_tell_no_secret() -> None:
    text = check_report(CHAPTERS)
    assert not re.search(r"(?<![\w.:/])/(?:home|root|tmp|work|Users|var)/", text)
    assert evidence.UNEXPLAINED not in text
    assert "| 10 right " in text
