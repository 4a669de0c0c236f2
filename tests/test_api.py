"""The Python surface: open a memex, ask it, and read the view."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any

import pytest
from notes import write

import orgctx
from orgctx import (
    Ambiguous,
    BadArgument,
    BudgetTooSmall,
    Memex,
    NotFound,
    OrgctxError,
    OutOfRange,
    OutsideRoot,
    Unreadable,
    open_memex,
)
from orgctx.core.model import Problem, View
from orgctx.tokens import count

NOTES = """\
#+title: Projects
* Website
:PROPERTIES:
:ID: 5f0c9a1e-0000
:END:
About the site.
** Design
*** Colors
blue and green
**** Names of blues
***** Deeper
*** Fonts
** Text
* House
** Roof
"""


@pytest.fixture
def org(home: Path) -> Path:
    """A folder of notes in a home folder, which is the current one."""
    return write(home / "org", {"projects.org": NOTES, "sub/log.org": "* Log\n* Log\n"})


@pytest.fixture
def memex(org: Path) -> Memex:
    return open_memex(org)


# --- Opening -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "root", ["~/org", "org", "./org/", "org/sub/..", Path("org"), Path("~/org")]
)
def test_a_folder_is_a_root_by_any_name(org: Path, root: str | Path) -> None:
    memex = open_memex(root)
    assert memex.node("projects.org::*Colors").first_line == 8
    assert memex.node("sub/log.org:2").title == "Log"


FILE_NAMES = ["org/projects.org", "./org/projects.org", "~/org/projects.org", "ABSOLUTE"]


@pytest.mark.parametrize("name", FILE_NAMES)
@pytest.mark.parametrize("opened", FILE_NAMES)
def test_a_file_is_a_memex_of_its_own_by_any_name(org: Path, opened: str, name: str) -> None:
    absolute = str(org / "projects.org")
    memex = open_memex(opened.replace("ABSOLUTE", absolute))
    name = name.replace("ABSOLUTE", absolute)
    assert memex.node(name).level == 0
    assert memex.node(f"{name}::*Colors").first_line == 8
    assert memex.node("5f0c9a").title == "Website"


def test_a_file_that_is_opened_alone_is_all_there_is(org: Path) -> None:
    memex = open_memex("org/projects.org")
    for address in ("org/sub/log.org", str(org / "sub/log.org"), "/etc/passwd", "projects.org/x"):
        with pytest.raises((NotFound, OutsideRoot)):
            memex.node(address)
    assert memex.problems() == []
    assert memex.focus("org/projects.org::*Colors").shown[0].path == "org/projects.org"


def test_a_file_that_is_opened_may_be_a_link(org: Path) -> None:
    Path("link.org").symlink_to(org / "projects.org")
    assert open_memex("link.org").node("link.org::*Colors").first_line == 8


def test_several_folders_are_one_memex(org: Path) -> None:
    write(org.parent, {"more/log.org": "* More\n"})
    memex = open_memex(org, "more")
    assert memex.node("projects.org").title == "Projects"
    assert memex.node("log.org:1").title == "More"
    assert memex.focus("5f0c9a").shown[0].path == "org/projects.org"


def test_several_files_are_refused_with_a_way_on(org: Path) -> None:
    with pytest.raises(OrgctxError) as caught:
        open_memex("org/projects.org", "org/sub/log.org")
    assert "folder" in caught.value.hint


def test_headlines_may_be_read_as_inline_tasks(org: Path) -> None:
    memex = open_memex(org, inlinetask_min_level=3)
    assert memex.node("projects.org:8").title == "Design"


@pytest.mark.parametrize(
    "root", ["nowhere", "~/nowhere", "~nobody-has-this-name", "a\0b", "n" * 300]
)
def test_a_root_that_is_not_there_is_an_error(org: Path, root: str) -> None:
    with pytest.raises(NotFound) as caught:
        open_memex(root)
    assert caught.value.message.endswith("there is no such folder")
    assert caught.value.hint


def test_every_question_is_answered_from_the_files_as_they_are(memex: Memex, org: Path) -> None:
    assert memex.node("projects.org:8").title == "Colors"
    write(org, {"projects.org": "* New\n" * 10 + NOTES})
    assert memex.node("projects.org::*Colors").first_line == 18
    assert "blue and green" in memex.focus("projects.org:18").text


# --- The view ------------------------------------------------------------------------------------


def test_a_view_has_the_text_its_cost_and_the_question(memex: Memex) -> None:
    view = memex.focus("projects.org::*Colors", budget=80)
    assert isinstance(view, View)
    assert view.text.startswith("# projects.org\n#+title: Projects\n* Website\n")
    assert "*** Colors\nblue and green\n**** Names of blues\n" in view.text
    assert "About the site." not in view.text
    assert view.tokens == count(view.text) <= view.budget == 80
    assert (view.unit, view.encoding) == ("tokens", "o200k_base")
    assert view.targets[0] == "projects.org::Website/Design/Colors"
    assert view.problems == ()


def test_a_view_tells_what_is_shown(memex: Memex) -> None:
    view = memex.focus("projects.org::*Colors")
    rows = [(each.line, each.level, each.relation, each.detail) for each in view.shown]
    assert rows == [
        (1, 0, "ancestor", "skeleton"),
        (2, 1, "ancestor", "skeleton"),
        (7, 2, "ancestor", "skeleton"),
        (8, 3, "target", "full"),
        (10, 4, "child", "full"),
        (11, 5, "descendant", "skeleton"),
        (12, 3, "sibling", "skeleton"),
        (14, 1, "background", "skeleton"),
    ]
    assert {each.path for each in view.shown} == {"projects.org"}
    assert sum(each.tokens for each in view.shown) == view.tokens
    assert [memex.node(each.address).first_line for each in view.shown] == [row[0] for row in rows]


def test_a_view_tells_what_is_omitted(memex: Memex) -> None:
    view = memex.focus("projects.org::*Colors")
    assert [(each.address, each.headlines, each.lines) for each in view.omitted] == [
        ("id:5f0c9a1e-0000", 1, 0)  # the heading "Text"; a skeleton says nothing of its own text
    ]
    assert view.text.count(" omitted\n") == 1


def test_the_report_names_the_headlines_that_each_omission_counts(org: Path) -> None:
    chapters = "".join(f"* Chapter {n}\n" + "** Part\n*** Page\n" * n for n in range(9))
    write(org, {"book.org": chapters})
    memex = open_memex(org)
    for budget in range(40, 80, 4):
        view = memex.focus("book.org::*Chapter 4", budget=budget, background=0)
        shown = {each.line for each in view.shown if each.level}
        rows = {row["address"]: row for row in view.report()}
        for each in view.omitted:
            row = rows[each.address]
            assert row["headlines"] == each.headlines
            levels = [left_out["level"] for left_out in row["left_out"]]
            assert levels.count(each.node.level + 1) == each.headlines
        missing = [left_out["line"] for row in rows.values() for left_out in row["left_out"]]
        headlines = {n.first_line for n in view.shown[0].node.tree.nodes[1:]}
        assert sorted(missing) == sorted(headlines - shown), "each that is missing, once"


def test_the_report_reaches_down_to_the_deepest_headline(org: Path) -> None:
    write(org, {"deep.org": "* A\n** B\n*** C\n* D\n** E\n*** F\n**** G\n"})
    view = open_memex(org).focus("deep.org::*C", background=0)
    assert view.report() == [
        {
            **{"address": "deep.org", "headlines": 1, "lines": 0, "paths": []},
            "left_out": [
                {"line": 4, "level": 1, "title": "D"},
                {"line": 5, "level": 2, "title": "E"},
                {"line": 6, "level": 3, "title": "F"},
                {"line": 7, "level": 4, "title": "G"},
            ],
        }
    ]


def test_a_view_of_everything_reports_nothing(memex: Memex) -> None:
    view = memex.focus("sub/log.org")
    assert (view.omitted, view.report()) == ((), [])


def test_problems_of_the_file_come_with_the_view(memex: Memex, org: Path) -> None:
    write(org, {"bad.org": "* A\n<2024-13-45 Mon>\n* B\n:PROPERTIES: x\n"})
    assert [(each.path, each.line) for each in memex.focus("bad.org:1").problems] == [
        ("bad.org", 2),
        ("bad.org", 4),
    ]
    assert [(each.path, each.line) for each in memex.problems()] == [("bad.org", 4)]
    assert all(isinstance(each, Problem) for each in memex.problems())


def test_a_node_is_the_entry_itself(memex: Memex) -> None:
    node = memex.node("projects.org::*Colors")
    assert isinstance(node, orgctx.Node)
    assert (node.text, node.level, node.title) == ("*** Colors\nblue and green\n", 3, "Colors")


def test_a_view_of_a_flat_file_costs_time_in_proportion(org: Path) -> None:
    headlines = "".join(f"* Title number {number}\n" for number in range(2000))
    write(org, {"flat.org": headlines})
    memex = open_memex(org / "flat.org")
    start = process_time()
    view = memex.focus(f"{org}/flat.org:1000", budget=10**9, unit="chars")
    assert len(view.shown) == 2001
    assert process_time() - start < 1.5


# --- Errors --------------------------------------------------------------------------------------

REFUSED: dict[str, tuple[Callable[[Memex], Any], type[OrgctxError]]] = {
    "unknown title": (lambda memex: memex.focus("projects.org::*Colours"), NotFound),
    "unknown file": (lambda memex: memex.focus("nowhere.org"), NotFound),
    "unknown id": (lambda memex: memex.node("abcdefgh"), NotFound),
    "ambiguous": (lambda memex: memex.focus("sub/log.org::*Log"), Ambiguous),
    "outside": (lambda memex: memex.node("../x.org"), OutsideRoot),
    "not text": (lambda memex: memex.node("latin.org:1"), Unreadable),
    "budget": (lambda memex: memex.focus("projects.org", budget=1), BudgetTooSmall),
    "zero": (lambda memex: memex.focus("projects.org", budget=0), BadArgument),
}


@pytest.mark.parametrize(("ask", "kind"), REFUSED.values(), ids=REFUSED)
def test_an_error_says_what_and_how_to_mend_it(
    memex: Memex, org: Path, ask: Callable[[Memex], Any], kind: type[OrgctxError]
) -> None:
    write(org, {"latin.org": b"* caf\xe9\n"})
    with pytest.raises(OrgctxError) as caught:
        ask(memex)
    error = caught.value
    assert type(error) is kind
    assert str(error) == error.message
    assert error.message
    assert error.where
    assert error.hint or "give" in error.message
    assert "\n" not in error.message + error.hint


@pytest.mark.parametrize("budget", [0, -1, "400", "abc", 3.5, 400.0, None, True, False, [], b"9"])
def test_a_budget_that_is_no_whole_number_from_1_up_is_refused(memex: Memex, budget: Any) -> None:
    with pytest.raises(BadArgument, match="from 1 up") as caught:
        memex.focus("projects.org", budget=budget)
    assert isinstance(caught.value, ValueError)
    assert caught.value.where == "budget"


BAD_OPTIONS: list[dict[str, Any]] = [
    *[{"unit": "words"}, {"unit": None}, {"unit": ["tokens"]}],
    *[{"encoding": "utf-8"}, {"encoding": None}, {"unit": "chars", "encoding": "utf-8"}],
    *[{"lens": "macro"}, {"lens": ""}, {"ids": "some"}, {"ids": None}, {"ids": True}],
    *[{"background": -1}, {"background": "1"}, {"background": True}, {"background": 1.0}],
]


@pytest.mark.parametrize("options", BAD_OPTIONS, ids=str)
def test_an_option_with_a_value_that_is_none_of_its_is_refused(
    memex: Memex, options: dict[str, Any]
) -> None:
    with pytest.raises(BadArgument) as caught:
        memex.focus("projects.org", **options)
    assert caught.value.where in options


@pytest.mark.parametrize("level", [1, 0, -1, "3", 2.5, True])
def test_an_inline_task_begins_at_two_stars_or_more(org: Path, level: Any) -> None:
    with pytest.raises(BadArgument):
        open_memex(org, inlinetask_min_level=level).node("projects.org")


@pytest.mark.parametrize("address", [None, 12, b"projects.org", ["projects.org"]])
def test_an_address_that_is_no_string_is_refused_as_such(memex: Memex, address: Any) -> None:
    with pytest.raises((OrgctxError, TypeError), match="address"):
        memex.node(address)


@pytest.mark.parametrize("unit", ["tokens", "chars"])
def test_the_smallest_budget_that_works_is_told_and_works(memex: Memex, unit: str) -> None:
    with pytest.raises(BudgetTooSmall) as caught:
        memex.focus("projects.org::*Deeper", budget=1, unit=unit)
    needed = caught.value.needed
    assert str(needed) in caught.value.message
    assert str(needed) in caught.value.hint
    assert memex.focus("projects.org::*Deeper", budget=needed, unit=unit).tokens <= needed
    with pytest.raises(BudgetTooSmall):
        memex.focus("projects.org::*Deeper", budget=needed - 1, unit=unit)


def test_without_a_root_there_is_no_memex() -> None:
    with pytest.raises(BadArgument):
        open_memex()


def test_the_package_exports_what_its_users_need() -> None:
    assert [name for name in orgctx.__all__ if not hasattr(orgctx, name)] == []
    errors = (getattr(orgctx, name) for name in orgctx.__all__ if name[0].isupper())
    kinds = [kind for kind in errors if kind not in (Memex, orgctx.Node)]
    assert all(issubclass(kind, OrgctxError) for kind in kinds)
    assert {kind: kind.exit_status for kind in kinds} == {
        **dict.fromkeys(kinds, 1),
        BadArgument: 2,
        BudgetTooSmall: 3,
        OutOfRange: 3,
    }
