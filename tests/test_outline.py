"""orgctx.core.outline: Org's own rules, every character in exactly one node, and Emacs agrees."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import pairwise, takewhile
from typing import Any

import emacs
import pytest
import strategies
from growth import check_growth
from hypothesis import given

from orgctx.core.model import Node, Problem, Tree
from orgctx.core.outline import outline, problems
from orgctx.store.files import decode

OUT_OF_PLACE = "a property drawer out of place or not whole"
TWO_IDS = "more than one ID in a property drawer"


def read(text: str) -> Tree:
    return outline(text, "t.org")


def read_bytes(data: bytes) -> Tree:
    text, encoding = decode(data, "t.org")
    return outline(text, "t.org", encoding)


def headlines(text: str) -> list[Node]:
    return read(text).nodes[1:]


def titles(text: str) -> list[str]:
    return [node.title for node in headlines(text)]


def ids(text: str) -> list[str | None]:
    return [node.id for node in headlines(text)]


def at(line: int, what: str = OUT_OF_PLACE) -> Problem:
    return Problem("t.org", line, what)


def facts(node: Node) -> dict[str, Any]:
    """What Emacs' row of a headline says, in the same words."""
    return {
        **{"line": node.first_line, "level": node.level, "todo": node.todo, "pri": node.priority},
        **{"title": node.title, "tags": list(node.tags), "commented": node.is_commented},
        **{"id": node.id, "cid": node.custom_id, "keys": [key for key, _ in node.properties]},
    }


# --- What is a headline --------------------------------------------------------------------------


def test_b01_stars_without_a_space_are_text() -> None:
    body = "*bold words* start this line\n*\n**\n***bold\n * indented star is a list item\n"
    real, after = headlines(f"* Real\n{body}* Next\n")
    assert (real.title, after.title) == ("Real", "Next")
    assert real.text == f"* Real\n{body}"


@pytest.mark.parametrize("line", ["*\ttab", "*\xa0nbsp", "*\u3000wide", "*", "**bold**", ",* x"])
def test_b01_only_a_space_makes_a_headline(line: str) -> None:
    assert titles(f"{line}\n") == []


def test_b02_a_headline_without_a_title() -> None:
    a, empty, child, b = headlines("* A\n* \nbody of the empty one\n** child\n* B\n")
    assert [node.title for node in (a, empty, child, b)] == ["A", "", "child", "B"]
    assert empty.text == "* \nbody of the empty one\n"
    assert child.parent is empty
    assert empty.head == ["* \n"]


def test_b19_indented_stars_are_list_items() -> None:
    items = "  * item one\n  * item two\n\t* tab item\n"
    parent, child = headlines(f"* H\n:LOGBOOK:\n:END:\n{items}** Child\n")
    assert parent.text.endswith(items)
    assert child.parent is parent


def test_b35_stars_in_a_block_are_headlines() -> None:
    for block in ("src org", "comment", "example"):
        text = f"* Doc\n#+begin_{block}\n* inside\ntext\n#+end_{block.split()[0]}\n* After\n"
        assert titles(text) == ["Doc", "inside", "After"]
    assert titles("* Doc\n#+begin_src org\n,* inside\n#+end_src\n") == ["Doc"]


def test_b37_fences_hide_no_headline() -> None:
    text = (
        "* H\n#+begin_srcx awk\nx\n#+end_srcx\n#+BEGIN_SRC sh\n#+end_quote\necho\n#+end_src\n"
        "#+begin_quote\nnever closed\n* Next\n"
    )
    assert titles(text) == ["H", "Next"]


def test_b46_only_a_line_feed_ends_a_line() -> None:
    body = "old\f* not a headline\nx\u2028* nor this\ny\x0b* nor this\nz\x85* nor this\n"
    a, b = headlines(f"* A\n{body}* B\n")
    assert (a.first_line, b.first_line) == (1, 6)
    assert a.text == f"* A\n{body}"


@pytest.mark.parametrize("tail", ["\f", "\x0b", "\xa0", "\u3000", "\x85", "\u2028"])
def test_b46_a_title_keeps_what_is_no_blank_to_org(tail: str) -> None:
    assert titles(f"* A{tail}\n* B {tail} \n") == [f"A{tail}", f"B {tail}"]
    assert ids(f"* A\n:PROPERTIES:\n:ID: x{tail} \n:END:\n") == [f"x{tail}"]


# --- What a headline says ------------------------------------------------------------------------


def test_b04_a_headline_of_tags_alone() -> None:
    nodes = headlines("* :a:\n* TODO :b:\n* [#A] :c:\n** COMMENT :d:\n* e :f::g:\n")
    assert [(node.title, node.tags) for node in nodes] == [
        *[("", ("a",)), ("", ("b",)), ("", ("c",)), ("", ("d",))],
        ("e", ("f", "g")),
    ]
    assert [(node.todo, node.priority) for node in nodes[1:3]] == [("TODO", None), (None, "A")]


def test_b05_what_tags_are_made_of() -> None:
    one, two, three = headlines(
        "* one :big_x:@desk:1999:p%:#q:\n* two :工作:دفتر:élan:\n* three :not-a-tag:\n"
    )
    assert (one.title, one.tags) == ("one", ("big_x", "@desk", "1999", "p%", "#q"))
    assert (two.title, two.tags) == ("two", ("工作", "دفتر", "élan"))
    assert (three.title, three.tags) == ("three :not-a-tag:", ())


@pytest.mark.parametrize(
    ("char", "is_for_tags"),
    [
        ("e\u0301", True),
        ("٣", True),
        ("é%", True),
        ("Ⅳ", True),
        ("²", False),
        ("😀", False),
        ("\u200d", False),
    ],
)
def test_b05_alphanumeric_is_what_emacs_takes_for_it(char: str, is_for_tags: bool) -> None:
    assert headlines(f"* x :a{char}:\n")[0].tags == ((f"a{char}",) if is_for_tags else ())


def test_b07_a_keyword_is_a_whole_word_in_its_own_case() -> None:
    nodes = headlines(
        "* TODO-LIST of things\n* TODOS\n* todo lower case\n* TODO\n* Todo Mixed\n* DONE\n"
    )
    assert [(node.todo, node.title) for node in nodes] == [
        *[(None, "TODO-LIST of things"), (None, "TODOS"), (None, "todo lower case")],
        *[("TODO", ""), (None, "Todo Mixed"), ("DONE", "")],
    ]


def test_b07_a_tab_is_no_space_behind_a_keyword() -> None:
    """Org wants a space or the line's end there, in every version (org-element's headline)."""
    assert [(node.todo, node.title) for node in headlines("* TODO\tx\n* TODO\t\n* TODO \n")] == [
        *[(None, "TODO\tx"), (None, "TODO"), ("TODO", "")],
    ]


def test_b08_keywords_of_the_file() -> None:
    nodes = headlines(
        "#+TODO: NEXT(n!) WAIT(w@/!) | OK(o) CANCELLED(c@)\n#+SEQ_TODO: IDEA | SHIPPED\n"
        "* NEXT write\n* WAIT answer\n* SHIPPED it\n* TODO plain now\n"
    )
    assert [(node.todo, node.title) for node in nodes] == [
        *[("NEXT", "write"), ("WAIT", "answer"), ("SHIPPED", "it"), (None, "TODO plain now")],
    ]
    assert nodes[0].tree.dones == ("OK", "CANCELLED", "SHIPPED")
    assert read("* TODO another file\n").todos == ("TODO",)


@pytest.mark.parametrize(
    ("line", "todos", "dones"),
    [
        ("#+todo: A B", ("A",), ("B",)),
        ("  #+TYP_TODO: A | B", ("A",), ("B",)),
        ("#+TODO:A | B", ("A",), ("B",)),
        ("#+TODO: A\xa0B \x1cC | \u3000", ("A\xa0B", "\x1cC"), ("\u3000",)),
        ("#+TODO: A(a) B(b@/!) |", ("A", "B"), ()),
        ("#+TODO : A | B", ("TODO",), ("DONE",)),
        ("#+TODO:x: A | B", ("TODO",), ("DONE",)),
        ("# #+TODO: A | B", ("TODO",), ("DONE",)),
        ("#+begin_example\n#+TODO: A | B\n#+end_example", ("TODO",), ("DONE",)),
        ("#+begin_quote\n#+TODO: A | B\n#+end_quote", ("A",), ("B",)),
        ("#+begin_example\n#+TODO: A | B", ("A",), ("B",)),
        ("#+TODO: A | B\n* I\n#+begin_src\n#+TODO: C\n#+end_src\n#+TODO: D", ("A",), ("B", "D")),
    ],
)
def test_b08_where_keywords_count(
    line: str, todos: tuple[str, ...], dones: tuple[str, ...]
) -> None:
    tree = read(f"* H\ntext\n{line}\n")
    assert (tree.todos, tree.dones) == (todos, dones)


def test_b08_keywords_count_for_headlines_above_them() -> None:
    assert headlines("* NEXT a\n* H\n#+TODO: NEXT | OK\n")[0].todo == "NEXT"


def test_b13_commented_trees() -> None:
    nodes = headlines(
        "* COMMENT hidden plan\n** child of hidden\n* TODO [#B] COMMENT also hidden\n"
        "* COMMENTARY on things\n* Comment in lower case\n"
    )
    assert [node.is_commented for node in nodes] == [True, False, True, False, False]
    assert [node.is_in_comment for node in nodes] == [True, True, True, False, False]
    assert [node.title for node in nodes] == [
        *["hidden plan", "child of hidden", "also hidden"],
        *["COMMENTARY on things", "Comment in lower case"],
    ]


def test_b13_a_tab_is_no_space_behind_comment() -> None:
    nodes = headlines("* COMMENT\tx\n* COMMENT\t\n* COMMENT\n* COMMENT \n")
    assert [node.is_commented for node in nodes] == [False, False, True, True]
    assert [node.title for node in nodes] == ["COMMENT\tx", "COMMENT", "", ""]


def test_a_priority_is_any_one_character() -> None:
    nodes = headlines("* [#A] a\n* [#b]b\n* [#火] c\n* [#10] d\n* [#] e\n* x [#A] f\n")
    assert [node.priority for node in nodes] == ["A", "b", "火", None, None, None]
    assert [node.title for node in nodes] == ["a", "b", "c", "[#10] d", "[#] e", "x [#A] f"]


# --- Levels --------------------------------------------------------------------------------------


def test_b10_a_first_headline_deeper_than_later_ones() -> None:
    nodes = headlines("*** First\n** Second\n* Top\n")
    assert [node.level for node in nodes] == [3, 2, 1]
    assert all(node.ancestors == [node.tree.root] for node in nodes)
    assert list(nodes[0].tree.root.children) == nodes


B16 = (
    "* Section\nbefore\n*************** TODO inline\n    inside\n*************** END\nafter\n"
    "** Child\n"
)


def test_b16_inline_tasks_are_headlines_as_in_plain_org() -> None:
    nodes = headlines(B16)
    assert [(node.title, node.level) for node in nodes] == [
        *[("Section", 1), ("inline", 15), ("END", 15), ("Child", 2)],
    ]
    assert "".join(node.text for node in nodes) == B16


def test_b16_inline_tasks_are_text_where_somebody_says_so() -> None:
    tree = outline(B16, "t.org", inlinetask_min_level=15)
    section, child = tree.nodes[1:]
    assert section.text == B16.removesuffix("** Child\n")
    assert child.parent is section
    assert [n.level for n in outline(B16, "t.org", inlinetask_min_level=16).nodes[2:4]] == [15, 15]


def test_b17_1200_levels() -> None:
    tree = read("".join(f"{'*' * level} level {level}\n" for level in range(1, 1201)))
    assert [node.level for node in tree.nodes] == list(range(1201))
    assert all(node.parent is above for above, node in pairwise(tree.nodes))
    assert {node.end_index for node in tree.nodes} == {1201}
    assert tree.nodes[-1].ancestors == tree.nodes[:-1]


# --- Property drawers ----------------------------------------------------------------------------


def test_b20_a_drawer_without_its_end_swallows_no_headline() -> None:
    tree = read("* A\n:PROPERTIES:\n:ID: a-1\n** B\n:PROPERTIES:\n:ID: b-1\n:END:\n* C\n")
    assert [(node.title, node.id) for node in tree.nodes[1:]] == [
        *[("A", None), ("B", "b-1"), ("C", None)],
    ]
    assert problems(tree) == [at(2)]


def test_b22_one_bad_line_voids_a_drawer() -> None:
    tree = read(
        "* Ok\n:PROPERTIES:\n:empty:\n:ID: ok-1\n:END:\nbody\n"
        "* Bad line\n:PROPERTIES:\n:ID: bad-1\nno colon here\n:END:\n"
        "* Glued value\n:PROPERTIES:\n:N:2\n:ID: glued-1\n:END:\n"
    )
    ok, *bad = tree.nodes[1:]
    assert (ok.properties, ok.drawer) == ((("empty", ""), ("ID", "ok-1")), (2, 5))
    assert [(node.properties, node.drawer) for node in bad] == [((), None), ((), None)]
    assert problems(tree) == [at(8), at(13)]


def test_b23_one_planning_line_may_stand_above_the_drawer() -> None:
    tree = read(
        "* DONE Report\n  CLOSED: [2024-01-02 Tue 10:00] SCHEDULED: <2024-01-01 Mon>\n"
        "  :PROPERTIES:\n  :ID: rep-1\n  :END:\n"
        "* Two planning lines\nSCHEDULED: <2024-01-01 Mon>\nDEADLINE: <2024-01-02 Tue>\n"
        ":PROPERTIES:\n:ID: rep-2\n:END:\n"
    )
    assert [node.id for node in tree.nodes[1:]] == ["rep-1", None]
    assert tree.nodes[1].drawer == (3, 5)
    assert problems(tree) == [at(9)]


B25 = (
    "# a comment is allowed first\n:PROPERTIES:\n:ID: file-1\n:END:\n#+TITLE: The file\n"
    "#+FILETAGS: :x:y:\n\nIntro text.\n* First :z:\n"
)


def test_b25_the_file_node() -> None:
    tree = read(B25)
    first = tree.nodes[1]
    assert (tree.root.level, tree.root.id, tree.root.title) == (0, "file-1", "The file")
    assert (tree.root.drawer, tree.root.tags) == ((2, 4), ("x", "y"))
    assert tree.root.text.endswith("\n\nIntro text.\n")
    assert (first.tags, first.inherited_tags) == (("z",), ("x", "y", "z"))
    assert problems(tree) == []


def test_b25_the_title_of_a_file_stands_above_its_headlines() -> None:
    tree = read("#+title: One\ntext\n#+TITLE:   two \n* H\n#+title: not the file's\n")
    lines = tuple(setting.line for setting in tree.settings)
    assert (tree.root.title, lines) == ("One two", (1, 3))
    assert read("* H\n#+title: not the file's\n").root.title == ""


@pytest.mark.parametrize(
    ("above", "line"),
    [("\n", 2), ("\n# comment\n", 3), ("# comment\n\n", 3), (" \n\t\n#\n\n", 5)],
)
def test_b25_blank_lines_above_the_file_drawer_come_with_a_hint(above: str, line: int) -> None:
    """org-element reads such a drawer and org-id does not: the ID counts, and a word is said."""
    tree = read(f"{above}:PROPERTIES:\n:ID: file-1\n:END:\n")
    assert tree.root.id == "file-1"
    assert [each.line for each in problems(tree)] == [line]


@pytest.mark.parametrize("above", ["#+TITLE: Late", "Some text.", "-----", "#+name: x"])
def test_b26_a_drawer_below_anything_else_is_no_file_drawer(above: str) -> None:
    tree = read(f"{above}\n:PROPERTIES:\n:ID: late-1\n:END:\n* First\n")
    assert [node.id for node in tree.nodes] == [None, None]
    assert problems(tree) == [at(2)]


def test_b28_equal_ids_are_both_read() -> None:
    tree = read(
        "* One\n:PROPERTIES:\n:ID: dup-1\n:END:\n* Two\n:PROPERTIES:\n:ID: dup-1\n:END:\n"
        "* Three\n:PROPERTIES:\n:ID: uniq-1\n:ID: uniq-2\n:END:\n"
        ":PROPERTIES:\n:ID: not-mine\n:END:\n"
    )
    one, two, three = tree.nodes[1:]
    assert (one.id, two.id) == ("dup-1", "dup-1")
    assert (three.id, three.ids) == ("uniq-2", ("uniq-1", "uniq-2"))
    assert problems(tree) == [at(10, TWO_IDS), at(14)]


def test_b31_words_behind_properties_void_the_drawer() -> None:
    tree = read(
        "* A\n:PROPERTIES: stray words\n:ID: a-1\n:END:\n* B\n:PROPERTIES:\n:ID: b-1\n:END:\n"
    )
    assert [node.id for node in tree.nodes[1:]] == [None, "b-1"]
    assert problems(tree) == [at(2)]


def test_b32_lines_that_add_to_a_property() -> None:
    drawer = ":PROPERTIES:\n:TOPIC: emacs\n:TOPIC+: org\n:ID: k-1\n:END:\n"
    (node,) = headlines(f"* A\n{drawer}")
    assert node.get_property("topic") == "emacs org"
    assert node.properties == (("TOPIC", "emacs"), ("TOPIC+", "org"), ("ID", "k-1"))
    assert node.get_property("id") == "k-1"
    assert node.get_property("none") is None
    assert node.head == ["* A\n", *drawer.splitlines(keepends=True)]


def test_b34_a_logbook_is_no_property_drawer() -> None:
    text = (
        "* Task\n:LOGBOOK:\nCLOCK: [2024-01-01 Mon 09:00]--[2024-01-01 Mon 10:00] =>  1:00\n"
        '- free text note\n- State "DONE"       from "TODO"       [2024-01-01 Mon 10:00] \\\\\n'
        "  with a second line\nCLOCK: [2024-01-02 Tue 09:00]\n:END:\n1. [X] body list\n"
    )
    (task,) = headlines(text)
    assert (task.text, task.drawer, task.properties) == (text, None, ())
    assert problems(task.tree) == []


@pytest.mark.parametrize("day", ["må.", "火", "Пнд", "", "Mon", "x.y"])
def test_b40_a_day_in_any_language_hides_no_drawer(day: str) -> None:
    planning = f"SCHEDULED: <2024-01-02 {day}> DEADLINE: <2024-01-05>"
    assert ids(f"* a\n{planning}\n:PROPERTIES:\n:ID: w-1\n:END:\n") == ["w-1"]


def test_b41_dates_that_cannot_be_are_text() -> None:
    text = (
        "* x\n<2025-03-04 09:30-11-15>\n<2024-13-45 Mon>\n<%%(diary-float t 4 2) 12:00-14:00>\n"
        "SCHEDULED: not a date\n%%(org-calendar-holiday)\n"
    )
    (node,) = headlines(text)
    assert node.text == text
    planned = "* y\nSCHEDULED: not a date\n:PROPERTIES:\n:ID: y-1\n:END:\n"
    assert ids(planned) == ["y-1"]


def test_a_drawer_in_a_block_is_no_problem() -> None:
    drawer = ":PROPERTIES:\n:ID: example\n:END:\n"
    assert problems(read(f"* A\n#+begin_example\n{drawer}#+end_example\n")) == []
    assert problems(read(f"* A\n#+begin_quote\n{drawer}#+end_quote\n")) == [at(3)]
    both = f"* A\ntext\n{drawer}* B\n#+begin_example\n{drawer}#+end_example\n{drawer}"
    assert problems(read(both)) == [at(3), at(12)]


def test_b88_tags_are_inherited() -> None:
    tree = read("* A\n#+filetags: :private:\n** B\n* P :p:\n** Q :q:p:\n*** R\n#+FILETAGS: more\n")
    assert [node.inherited_tags for node in tree.nodes] == [
        *[("private", "more")] * 3,
        ("private", "more", "p"),
        *[("private", "more", "p", "q")] * 2,
    ]
    assert [node.tags for node in tree.nodes[3:]] == [("p",), ("q", "p"), ()]


# --- Bytes ---------------------------------------------------------------------------------------


def test_b43_crlf_changes_nothing() -> None:
    text = ":PROPERTIES:\n:ID: crlf-0\n:END:\n* T :a:\n:PROPERTIES:\n:ID: crlf-1\n:END:\nbody\n"
    tree = read(text.replace("\n", "\r\n"))
    root, node = tree.nodes
    assert (root.id, node.id, node.title, node.tags) == ("crlf-0", "crlf-1", "T", ("a",))
    assert (node.drawer, tree.newline) == ((5, 7), "\r\n")
    assert node.lines[-1] == "body\r\n"


def test_b43_mixed_line_ends_are_shown_as_line_feeds() -> None:
    tree = read("* T :a:\r\n:PROPERTIES:\n:ID: mixed\r\n:END:\r\n* U\n")
    assert (tree.nodes[1].tags, tree.nodes[1].id, tree.newline) == (("a",), "mixed", "\n")
    assert tree.nodes[1].lines == ["* T :a:\n", ":PROPERTIES:\n", ":ID: mixed\n", ":END:\n"]
    assert "".join(node.text for node in tree.nodes) == tree.text


def test_b43_a_lone_carriage_return_ends_no_line() -> None:
    (node,) = headlines("* A\r* B\ntext\r* C\n")
    assert (node.title, node.last_line) == ("A\r* B", 2)


def test_b43_a_stray_carriage_return_is_text() -> None:
    tags, keyword = headlines("* x :a:\r\r\n* TODO\r\r\n")
    assert (tags.title, tags.tags) == ("x :a:", ())
    assert (keyword.title, keyword.todo) == ("TODO", None)


def test_b44_a_byte_order_mark_hides_nothing() -> None:
    tree = read_bytes(b"\xef\xbb\xbf:PROPERTIES:\n:ID: bom-1\n:END:\n#+title: B\n* A\n")
    assert (tree.root.id, tree.root.title) == ("bom-1", "B")
    assert [node.byte_span for node in tree.nodes] == [(0, 44), (44, 48)]
    tree = read_bytes(b"\xef\xbb\xbf* A\n** B\n")
    assert [node.title for node in tree.nodes] == ["", "A", "B"]
    assert [node.byte_span for node in tree.nodes] == [(0, 3), (3, 7), (7, 12)]


def test_bytes_are_counted_in_the_encoding_of_the_file() -> None:
    tree = read_bytes("# -*- coding: latin-1 -*-\n* é\n* ß\n".encode("latin-1"))
    assert tree.encoding == "latin-1"
    assert [node.byte_span for node in tree.nodes] == [(0, 26), (26, 30), (30, 34)]


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        ("", [(1, 0)]),
        ("\n\n", [(1, 2)]),
        ("#+title: only\n- list\n", [(1, 2)]),
        ("* a\n* b\n* c\n", [(1, 0), (1, 1), (2, 2), (3, 3)]),
        ("* no newline at end", [(1, 0), (1, 1)]),
    ],
)
def test_b47_small_files(text: str, spans: list[tuple[int, int]]) -> None:
    tree = read(text)
    assert [(node.first_line, node.last_line) for node in tree.nodes] == spans
    assert problems(tree) == []


@pytest.mark.parametrize("nuls", ["\x00", "\x00" * 10_000])
def test_b50_nul_is_a_character(nuls: str) -> None:
    a, b = headlines(f"* A\nbefore{nuls}after\n* B\n")
    assert a.text == f"* A\nbefore{nuls}after\n"
    assert b.first_line == 3


def test_b50_one_huge_line() -> None:
    line = "a" * 3_000_000 + "\n"
    b, c = headlines(f"* B\n* C\n{line}")
    assert (b.text, c.text) == ("* B\n", f"* C\n{line}")


# --- Laws ----------------------------------------------------------------------------------------


@given(strategies.org_text())
def test_every_character_is_in_exactly_one_node(text: str) -> None:
    tree = read(text)
    assert "".join(node.text for node in tree.nodes) == text
    ends = [0, *(node.end for node in tree.nodes)]
    assert [node.start for node in tree.nodes] == ends[:-1]
    assert ends[-1] == len(text)


@given(strategies.org_text())
def test_every_line_is_in_exactly_one_node(text: str) -> None:
    tree = read(text)
    nodes = tree.nodes
    assert [node.first_line for node in nodes] == [1, *(n.last_line + 1 for n in nodes[:-1])]
    for node in nodes:
        assert node.last_line - node.first_line + 1 == len(node.lines)
        assert len(node.lines) == node.text.count("\n") + (node.text[-1:] not in ("", "\n"))
    for node in nodes[1:]:
        assert text.split("\n")[node.first_line - 1].startswith("*" * node.level + " ")


@given(strategies.org_bytes())
def test_every_byte_is_in_exactly_one_node(data: bytes) -> None:
    nodes = read_bytes(data).nodes
    spans = [node.byte_span for node in nodes]
    assert [first for first, _ in spans] == [0, *(stop for _, stop in spans[:-1])]
    assert spans[-1][1] == len(data)
    for node, (first, stop) in zip(nodes, spans, strict=True):
        assert data[first:stop].decode().removeprefix("\ufeff") == node.text


@given(strategies.org_text())
def test_the_family_follows_from_the_levels(text: str) -> None:
    nodes = read(text).nodes
    for node in nodes:
        above = [other for other in nodes[: node.index] if other.level < node.level]
        below = [n.index for n in nodes[node.index + 1 :] if n.level <= node.level]
        assert node.index == nodes.index(node)
        assert node.parent is (above[-1] if above else None)
        assert node.end_index == min(below, default=len(nodes))
        assert list(node.children) == [other for other in nodes if other.parent is node]
        assert node.ancestors == ([*node.parent.ancestors, node.parent] if node.parent else [])


@given(strategies.org_text())
def test_subtrees_are_nested_ranges(text: str) -> None:
    nodes = read(text).nodes
    for node in nodes[1:]:
        assert node.parent is not None
        assert node.parent.index < node.index < node.end_index <= node.parent.end_index
        inside = nodes[node.index : node.end_index]
        assert all(node in (below, *below.ancestors) for below in inside)


@given(strategies.org_text())
def test_line_ends_change_no_fact(text: str) -> None:
    text = text.replace("\r", "")
    unix, dos = read(text), read(text.replace("\n", "\r\n"))
    assert list(map(facts, dos.nodes)) == list(map(facts, unix.nodes))
    assert [node.drawer for node in dos.nodes] == [node.drawer for node in unix.nodes]
    assert (dos.todos, dos.dones, problems(dos)) == (unix.todos, unix.dones, problems(unix))
    assert all(line.endswith(dos.newline) for node in dos.nodes for line in node.lines)


@given(strategies.org_text())
def test_a_drawer_is_where_the_node_says(text: str) -> None:
    for node in read(text).nodes:
        lines = [line.strip(" \t\r\n") for line in node.lines]
        head = [line.strip(" \t\r\n") for line in node.head]
        if node.drawer is None:
            assert (node.properties, len(head)) == ((), min(node.level, 1))
        else:
            drawer = lines[node.drawer[0] - node.first_line : node.drawer[1] - node.first_line + 1]
            assert (drawer[0].upper(), drawer[-1].upper()) == (":PROPERTIES:", ":END:")
            assert head == lines[: min(node.level, 1)] + drawer
            assert [f":{key}: {value}".strip() for key, value in node.properties] == [
                re.sub(r":[ \t]+", ": ", line, count=1) for line in drawer[1:-1]
            ]


@given(strategies.org_text())
def test_a_problem_names_a_line_and_quotes_nothing(text: str) -> None:
    tree = read(text)
    lines = text.split("\n")
    for each in problems(tree):
        assert lines[each.line - 1].strip(" \t").upper().startswith(":PROPERTIES:")
        assert text.replace(each.what, "") == text


# --- Emacs ---------------------------------------------------------------------------------------

SEEDS = (1, 2, 3)
FILES = 200  # of each seed
SIGN = "☞"  # no drawn title begins with it


def _as_current_org_reads(line: str, keywords: Sequence[str]) -> str:
    """The line, with a SIGN where its title begins if Org 9.5 and current Org read it differently.

    They differ in three things: a keyword may end the line, COMMENT has to be followed by a space
    or the line's end, and tags may stand right behind keyword and priority. None of them matters
    where the title begins with something else.
    """
    todo = "|".join(map(re.escape, keywords)) or "(?!)"
    before = rf"(\*+ [ \t]*(?:(?:{todo}) [ \t]*)?(?:\[#[^\n]\][ \t]*)?)"
    if re.fullmatch(rf"\*+ [ \t]*(?:{todo})", line):
        return f"{line} {SIGN}"
    if (glued := re.match(rf"{before}(?=COMMENT(?! |\Z))", line)) or (
        tags := re.fullmatch(rf"{before}(?<=[ \t])(:\S+:[ \t]*)", line)
    ):
        start = (glued or tags).end(1)
        return f"{line[:start]}{SIGN} {line[start:]}"
    return line


def _with_comments_for_blank_lines_first(lines: Sequence[str]) -> list[str]:
    """Current Org allows blank lines above a file drawer, Org 9.5 only comments."""
    above = takewhile(re.compile(r"[ \t]*(?:#(?: .*)?)?\Z").match, lines)
    comments = [line if line.strip(" \t") else "#" for line in above]
    return [*comments, *lines[len(comments) :]]


def _rewrite(data: bytes, change: Callable[[list[str]], Iterable[str]]) -> bytes:
    """A file with other lines, but the same line ends and byte order mark."""
    text = data.decode()
    mark = text[: text.startswith("\ufeff")]
    lines = re.split(r"\r?\n", text.removeprefix(mark))
    ends = [*re.findall(r"\r?\n", text), ""]
    return (mark + "".join(map("".join, zip(change(lines), ends, strict=True)))).encode()


def _expected(row: emacs.Row) -> emacs.Row:
    """Emacs' row in our terms: no SIGN, no empty tags, no empty ID."""
    title, tags = row["title"].removeprefix(SIGN).lstrip(" "), list(filter(None, row["tags"]))
    found = {"title": title, "tags": tags, "id": row["id"] or None, "cid": row["cid"] or None}
    return {key: value for key, value in (row | found).items() if key != "body"}


@pytest.fixture(scope="module")
def drawn() -> list[bytes]:
    batches = (strategies.sample(strategies.org_bytes(), FILES, seed) for seed in SEEDS)
    return [data for batch in batches for data in batch]


@pytest.fixture(scope="module")
def oracle_files(drawn: list[bytes]) -> list[emacs.Row]:
    change = _with_comments_for_blank_lines_first
    return emacs.file_nodes([_rewrite(data, change) for data in drawn], "each")


@pytest.mark.emacs
def test_emacs_reads_the_same_files(drawn: list[bytes], oracle_files: list[emacs.Row]) -> None:
    for data, file in zip(drawn, oracle_files, strict=True):
        tree = read_bytes(data)
        assert set(tree.todos + tree.dones) == set(file["keywords"]), data
        assert set(tree.dones) == set(file["done"]) - {"|"}, data
        assert tree.root.tags == tuple(dict.fromkeys(file["tags"])), data
        assert tree.root.ids[:1] == ((file["id"],) if file["id"] else ()), data
        assert tree.root.id == file["element_id"], data
    assert sum(file["id"] is not None for file in oracle_files) > 50


@pytest.mark.emacs
def test_emacs_reads_the_same_headlines(drawn: list[bytes], oracle_files: list[emacs.Row]) -> None:
    def change(lines: list[str], keywords: list[str]) -> list[str]:
        return [_as_current_org_reads(line, keywords) for line in lines]

    rewritten = [
        _rewrite(data, partial(change, keywords=file["keywords"]))
        for data, file in zip(drawn, oracle_files, strict=True)
    ]
    answers = emacs.outlines(rewritten, "each")
    for data, rows in zip(drawn, answers, strict=True):
        assert [facts(node) for node in read_bytes(data).nodes[1:]] == [*map(_expected, rows)], data
    assert sum(map(len, answers)) > 2000
    signs = sum(row["title"].startswith(SIGN) for rows in answers for row in rows)
    assert 50 < signs < 400


# --- Real files ----------------------------------------------------------------------------------

RECORDED_HEADLINES = 21_052


def _recorded() -> dict[str, list[dict[str, Any]]]:
    """What Emacs said of the corpora, by file."""
    root = emacs.corpus_root()
    assert root is not None
    rows: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for line in (root / "outlines.jsonl").read_text().split("\n")[:-1]:
        row = json.loads(line)
        rows[row.pop("f")].append(row)
    return rows


def _with_bare_keyword(row: dict[str, Any], tree: Tree) -> dict[str, Any]:
    """The record was made with Org 9.5, to which a keyword without a title is a title."""
    is_bare = row["todo"] is None and row["title"] in tree.todos + tree.dones
    return {**row, "todo": row["title"], "title": ""} if is_bare else row


@pytest.mark.corpora
def test_the_corpora_have_the_recorded_outlines() -> None:
    root, recorded = emacs.corpus_root(), _recorded()
    assert root is not None
    for name, rows in recorded.items():
        tree = read_bytes((root / name).read_bytes())
        read_rows = [{key: facts(node)[key] for key in rows[0]} for node in tree.nodes[1:]]
        assert read_rows == [_with_bare_keyword(row, tree) for row in rows], name
    assert sum(map(len, recorded.values())) == RECORDED_HEADLINES


@pytest.mark.corpora
def test_the_corpora_are_read_and_written_back_byte_for_byte() -> None:
    for path in emacs.corpora():
        data = path.read_bytes()
        tree = read_bytes(data)
        written = "".join(node.text for node in tree.nodes).encode(tree.encoding)
        assert written == data, path


# --- Growth --------------------------------------------------------------------------------------

GROWTH = {
    "headlines": (5_000, lambda n: "* h\n" * n),
    "entries": (2_000, lambda n: "* TODO h :a:\n:PROPERTIES:\n:ID: x\n:END:\ntext\n" * n),
    "unclosed blocks": (2_500, lambda n: "* A\n" + "#+begin_src\n" * n + "#+TODO: A | B\n"),
    "NULs": (300_000, lambda n: "* A\n" + "\x00" * n + "\n* B\n"),
    "stars": (300_000, lambda n: "*" * n + " x\n"),
    "a long line": (300_000, lambda n: "* A\n" + "a" * n),
    "blank lines": (12_500, lambda n: "\n" * n),
    "drawers out of place": (40, lambda n: "* A\n" + ":PROPERTIES:\n:ID: x\n:END:\n" * n),
    "keyword lines": (50, lambda n: "* A\n" + "#+TODO: A | B\n" * n),
    "blanks in a drawer": (500, lambda n: f"* A\n:PROPERTIES:\n:a: {' ' * n}\n:END\n"),
    "an open drawer": (10_000, lambda n: "* A\n:PROPERTIES:\n" + ":a: b\n" * n),
}


@pytest.mark.parametrize("name", GROWTH)
def test_eight_times_as_much_takes_less_than_24_times_as_long(name: str) -> None:
    size, make = GROWTH[name]
    check_growth(read_all, make, size)


def read_all(text: str) -> None:
    """Read all there is to read."""
    tree = read(text)
    list(tree.nodes)
    problems(tree)
