"""orgctx.core.ast: orgparse reads the entry in focus, and what it cannot read costs only itself."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import orgparse
import pytest
import strategies
from growth import check_growth
from hypothesis import example, given, settings
from hypothesis import strategies as st

from orgctx.core import ast
from orgctx.core.model import Node
from orgctx.core.outline import outline

UNREADABLE = "a date or a value that cannot be read"
NOTHING: dict[str, Any] = {
    **{"scheduled": None, "deadline": None, "closed": None},
    **{"timestamps": [], "clocks": [], "repeats": []},
}
GOOD = {"start": "2024-01-02", "is_active": True}


def node_of(text: str, index: int = 1) -> Node:
    return outline(text, "t.org").nodes[index]


def read(text: str) -> ast.Ast:
    return node_of(text).ast


def facts(text: str) -> dict[str, Any]:
    return read(text).facts()


def faults(*lines: int) -> tuple[tuple[int, str], ...]:
    return tuple((line, UNREADABLE) for line in lines)


# --- What can be read ----------------------------------------------------------------------------


def test_planning() -> None:
    text = (
        "* DONE x\n  CLOSED: [2024-01-02 Tue 10:00] "
        "DEADLINE: <2024-01-05 Fri 09:00 +1w -2d> SCHEDULED: <2024-01-01 Mon 10:00-11:30>\n"
    )
    assert facts(text) == {
        **NOTHING,
        "closed": {"start": "2024-01-02T10:00:00", "is_active": False},
        "deadline": {"start": "2024-01-05T09:00:00", "repeater": "+1w", "is_active": True},
        "scheduled": {
            **{"start": "2024-01-01T10:00:00", "end": "2024-01-01T11:30:00"},
            "is_active": True,
        },
    }
    assert read(text).faults == ()


@pytest.mark.parametrize("repeater", ["+1w", "++1m", ".+2d"])
def test_repeaters(repeater: str) -> None:
    planning = f"SCHEDULED: <2024-01-02 Tue {repeater} --3d>"
    assert facts(f"* x\n{planning}\n")["scheduled"] == {**GOOD, "repeater": repeater}


@pytest.mark.parametrize("day", [" må.", " 火", " Пнд", "", " Tue"])
def test_b40_days_in_any_language(day: str) -> None:
    assert facts(f"* x\nSCHEDULED: <2024-01-02{day}> DEADLINE: <2024-01-02>\n") == {
        **{**NOTHING, "scheduled": GOOD},
        "deadline": GOOD,
    }


@pytest.mark.parametrize(
    "text",
    [
        "* x\ntext\nSCHEDULED: <2024-01-02>\n",
        "* x\n\nSCHEDULED: <2024-01-02>\n",
        "* x\ntext SCHEDULED: <2024-01-02>\n",
        "* x SCHEDULED: <2024-01-02>\n",
        "* x\n:A:\nSCHEDULED: <2024-01-02>\n:END:\n",
    ],
)
def test_what_is_not_below_the_headline_plans_nothing(text: str) -> None:
    assert facts(text)["scheduled"] is None


def test_timestamps_of_title_and_text() -> None:
    text = "* x <2024-01-02>\nSince [2023-05-06 Sat 07:08] until <2024-01-02>--<2024-01-04>.\n"
    assert facts(text)["timestamps"] == [
        GOOD,
        {"start": "2023-05-06T07:08:00", "is_active": False},
        {**GOOD, "end": "2024-01-04"},
    ]


def test_b34_clocks_and_state_changes() -> None:
    text = (
        "* Task\n:LOGBOOK:\nCLOCK: [2024-01-01 Mon 09:00]--[2024-01-01 Mon 10:00] =>  1:00\n"
        '- free text note\n- State "DONE"       from "TODO"       [2024-01-01 Mon 10:00] \\\\\n'
        "  with a second line\nCLOCK: [2024-01-02 Tue 09:00]\n:END:\n1. [X] body list\n"
    )
    assert facts(text)["clocks"] == [
        {"start": "2024-01-01T09:00:00", "end": "2024-01-01T10:00:00", "is_active": False},
        {"start": "2024-01-02T09:00:00", "is_active": False},
    ]
    assert facts(text)["repeats"] == [
        {"start": "2024-01-01T10:00:00", "before": "TODO", "after": "DONE"}
    ]
    assert read(text).faults == ()


def test_keywords_of_the_file() -> None:
    node = node_of("* NEXT x\n* H\n#+TODO: NEXT | OK\n")
    assert (node.ast.node.todo, node.ast.node.heading) == ("NEXT", "x")


def test_a_file_node() -> None:
    text = "#+title: T\nSince <2024-01-02>, not <2024-13-45>.\n* H\n"
    assert node_of(text, 0).ast.facts() == {**NOTHING, "timestamps": [GOOD]}
    assert node_of(text, 0).ast.faults == faults(1)
    assert node_of("", 0).ast.facts() == NOTHING
    assert node_of("*bold* <2024-01-02>\n", 0).ast.facts() == {**NOTHING, "timestamps": [GOOD]}


def test_line_ends_do_not_matter() -> None:
    text = "* x\nSCHEDULED: <2024-01-02 Tue +1w>\n<2024-13-45>\n"
    dos = read(text.replace("\n", "\r\n"))
    assert (dos.facts(), dos.faults) == (facts(text), read(text).faults)


def test_an_inline_task_does_not_stand_for_the_entry_it_is_in() -> None:
    text = "* x\nSCHEDULED: <2024-01-02>\n*************** TODO inline\n*************** END\n"
    node = outline(text, "t.org", inlinetask_min_level=15).nodes[1]
    assert node.ast.facts()["scheduled"] == GOOD
    assert node.ast.node.heading == "x"


# --- What cannot ---------------------------------------------------------------------------------


def test_b41_dates_that_cannot_be() -> None:
    text = (
        "* x\n<2024-13-45 Mon>\n<%%(diary-float t 4 2) 12:00-14:00>\nSCHEDULED: not a date\n"
        "%%(org-calendar-holiday)\n<2024-01-02>\n"
    )
    assert facts(text) == {**NOTHING, "timestamps": [GOOD]}
    assert read(text).faults == faults(1)
    assert node_of(text).text == text


def test_b41_a_time_that_is_half_right_is_not_cut_in_silence() -> None:
    """Emacs reads 09:30 and no end."""
    text = "* x\n<2024-01-02 09:30-11-15>\n"
    assert facts(text)["timestamps"] == [{**GOOD, "start": "2024-01-02T09:30:00"}]
    assert read(text).faults == faults(1)


@pytest.mark.parametrize("sexp", ["<%%(diary-float t 4 2)>", "<%%(diary-float t 4 2) 12:00-14:00>"])
def test_b41_a_diary_sexp_is_no_date(sexp: str) -> None:
    text = f"* x\nSCHEDULED: {sexp}\n{sexp}\n<2024-01-02>\n"
    assert facts(text) == {**NOTHING, "timestamps": [GOOD]}


@pytest.mark.parametrize("bad", ["<2026-02-30 Mon>", "<2024-13-45>", "<2024-01-02 25:61>"])
def test_a_bad_date_leaves_the_good_one_beside_it(bad: str) -> None:
    first, last = (
        f"SCHEDULED: {bad} DEADLINE: <2024-01-02>",
        f"DEADLINE: <2024-01-02> SCHEDULED: {bad}",
    )
    for planning in (first, last):
        text = f"* x\n{planning}\ntext <2024-01-02>\n"
        assert facts(text) == {**NOTHING, "deadline": GOOD, "timestamps": [GOOD]}
        assert read(text).faults == faults(1)


def test_a_bad_date_in_text_that_names_a_planning_keyword() -> None:
    """As a first line orgparse reads it, as a later one not."""
    text = "* x\nDEADLINE: <2024-01-02>\n<2024-13-45> SCHEDULED: <2024-01-02>\n"
    assert facts(text) == {**NOTHING, "deadline": GOOD, "timestamps": [GOOD]}
    assert read(text).faults == faults(2)


def test_a_bad_date_in_a_headline() -> None:
    text = "** TODO x <2024-13-45> y :t:\nDEADLINE: <2024-01-02>\n"
    assert facts(text) == {**NOTHING, "deadline": GOOD}
    assert read(text).faults == faults(0)
    node = read(text).node
    assert (node.level, node.todo, node.heading.split(), node.tags) == (
        2,
        "TODO",
        ["x", "y"],
        {"t"},
    )


@pytest.mark.parametrize("effort", ["soon", "1:xx", "::", "-"])
def test_a_bad_effort(effort: str) -> None:
    text = f"* x\nDEADLINE: <2024-01-02>\n:PROPERTIES:\n:Effort: {effort}\n:ID: i\n:END:\n"
    assert facts(text) == {**NOTHING, "deadline": GOOD}
    assert set(read(text).faults) <= set(faults(3))
    assert node_of(text).properties == (("Effort", effort), ("ID", "i"))


def test_a_bad_clock() -> None:
    text = (
        "* x\n:LOGBOOK:\nCLOCK: [2024-01-02 Tue 25:00]--[2024-01-02 Tue 26:00] =>  1:00\n"
        "CLOCK: [2024-01-02 Tue\nCLOCK: [2024-01-03 Wed 09:00]\n:END:\n"
    )
    assert facts(text)["clocks"] == [{"start": "2024-01-03T09:00:00", "is_active": False}]
    assert read(text).faults == faults(2)


def test_a_bad_state_change() -> None:
    text = (
        '* x\n:LOGBOOK:\n- State "DONE" from "TODO" [2024-13-01 Mon 10:00]\n'
        '- State "DONE" from "NEXT" [2024-01-01 Mon 10:00]\n:END:\n'
    )
    assert [repeat["before"] for repeat in facts(text)["repeats"]] == ["NEXT"]
    assert read(text).faults == faults(2)


def test_every_bad_line_is_a_fault() -> None:
    assert facts("* x\n<1900-02-29>\n<2000-02-29>\n<2024-02-29>\n")["timestamps"] == [
        {**GOOD, "start": "2000-02-29"},
        {**GOOD, "start": "2024-02-29"},
    ]
    bad = ["* x <2024-13-01>", "SCHEDULED: <2024-13-01>", "[2024-13-01]", "text", "a [2024-13-01]"]
    assert read("\n".join(bad)).faults == faults(0, 1, 2, 4)


@pytest.fixture
def poison(monkeypatch: pytest.MonkeyPatch) -> None:
    """An orgparse with faults of its own: it fails on whatever has "poison" in it."""
    loadi: Callable[..., Any] = orgparse.loadi

    def failing(lines: Sequence[str], *arguments: Any, **options: Any) -> Any:
        if any("poison" in line for line in lines):
            raise ZeroDivisionError("a fault of orgparse")
        return loadi(lines, *arguments, **options)

    monkeypatch.setattr(orgparse, "loadi", failing)


@pytest.mark.usefixtures("poison")
def test_an_exception_of_any_kind_costs_its_line() -> None:
    text = "* x\nDEADLINE: <2024-01-02>\n:poison: x\n<2024-01-02>\n"
    assert facts(text) == {**NOTHING, "deadline": GOOD, "timestamps": [GOOD]}
    assert read(text).faults == faults(2)


@pytest.mark.usefixtures("poison")
@pytest.mark.parametrize(
    "text",
    [
        "* poison: x\nDEADLINE: <2024-01-02>\n<2024-01-02>\n",
        "* [poison] x <2024-01-02>\nDEADLINE: <2024-01-02>\n",
    ],
)
def test_an_exception_in_a_headline_costs_the_headline(text: str) -> None:
    assert facts(text) == {**NOTHING, "deadline": GOOD, "timestamps": [GOOD]}
    assert read(text).faults == faults(0)


@pytest.mark.usefixtures("poison")
def test_an_exception_that_no_line_explains_costs_the_entry_and_no_more() -> None:
    tree = outline("* poison\nDEADLINE: <2024-01-02>\n* y\nDEADLINE: <2024-01-02>\n", "t.org")
    assert tree.nodes[1].ast.facts() == NOTHING
    assert tree.nodes[1].ast.faults == ((0, "an entry that orgparse cannot read"),)
    assert tree.nodes[2].ast.facts() == {**NOTHING, "deadline": GOOD}


# --- Laws ----------------------------------------------------------------------------------------


def _stamp(parts: tuple[str, str, str, str]) -> str:
    return "{}{}{}{}".format(*parts)


_dates = st.sampled_from(["2024-01-02", "2024-02-30", "0000-00-00", "9999-12-31", "24-1-2", ""])
_times = st.sampled_from(["", " 09:30", " 9:30-11:00", " 25:61", " 09:30-11-15", " +1w", " ++0d"])
_stamps = st.tuples(st.sampled_from("<["), _dates, _times, st.sampled_from(">]")).map(_stamp)
_lines = st.builds(
    "{}{}{}{}".format,
    st.sampled_from(["", "SCHEDULED: ", "CLOCK: ", '- State "A" from "B" ', ":Effort: ", "* "]),
    _stamps,
    st.sampled_from(["", "--", " DEADLINE: ", " => 1:00", " text"]),
    st.just("") | _stamps,
)
_hard_texts = st.lists(_lines, max_size=6).map(lambda lines: "\n".join(["* x", *lines]))


@settings(max_examples=200)
@given(strategies.org_text() | _hard_texts)
def test_no_entry_raises_and_facts_are_data(text: str) -> None:
    for node in outline(text, "t.org").nodes:
        found = node.ast.facts()
        assert found.keys() == NOTHING.keys()
        assert json.loads(json.dumps(found)) == found
        lines = [line for line, _ in node.ast.faults]
        assert lines == sorted(set(lines))
        assert all(line < max(len(node.lines), 1) for line in lines)
        assert {what for _, what in node.ast.faults} <= {UNREADABLE}


@settings(max_examples=200)
@given(strategies.org_text() | _hard_texts)
@example("* x\n:Effort: <2024-01-02>\n")
def test_a_bad_date_changes_no_other_fact(text: str) -> None:
    for node in outline(text, "t.org").nodes:
        lines = node.lines
        more = ast.read([*lines, "<2024-13-45 Mon>\n"], node.tree.todos, node.tree.dones)
        assert more.facts() == node.ast.facts()
        assert more.faults == (*node.ast.faults, *faults(len(lines)))


def test_an_entry_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[Sequence[str]] = []
    original = ast.read

    def spy(lines: Sequence[str], *arguments: Any) -> ast.Ast:
        calls.append(lines)
        return original(lines, *arguments)

    monkeypatch.setattr(ast, "read", spy)
    tree = outline("* x\n* y\n", "t.org")
    assert calls == []
    assert tree.nodes[1].ast is tree.nodes[1].ast
    assert tree.nodes[1].ast is not tree.nodes[2].ast
    assert calls == [["* x\n"], ["* y\n"]]


# --- Growth --------------------------------------------------------------------------------------

GROWTH = {
    "lines": (100, lambda n: "<2024-01-02>\n" * n + "<2024-13-45>\n"),
    "bad dates in one line": (100, lambda n: "<2024-13-45>" * n + "\n"),
    "clocks": (500, lambda n: "CLOCK: [2024-01-02 Tue 09:00]\n" * n),
    "a long word": (100_000, lambda n: "a" * n + "\n"),
    "blanks": (1_000, lambda n: " " * n + "x\n"),
    "times": (150, lambda n: "<2024-01-02 Tue" + " 10:00" * n + "\n"),
}


@pytest.mark.parametrize("name", GROWTH)
def test_eight_times_as_much_takes_less_than_24_times_as_long(name: str) -> None:
    size, make = GROWTH[name]
    check_growth(
        lambda lines: ast.read(lines, ("TODO",), ("DONE",)),
        lambda n: node_of(f"* x\n{make(n)}").lines,
        size,
    )
