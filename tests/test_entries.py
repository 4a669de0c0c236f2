"""Edits of an outline by entry: what is named changes, and no byte of anything else."""

import pytest
import strategies
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st

from orgctx.core.model import Node
from orgctx.core.outline import drawer_place, outline
from orgctx.errors import BadArgument
from orgctx.workcopy.entries import (
    WHERE,
    demoted,
    inserted,
    place,
    removed,
    replaced,
    with_keyword,
    with_property,
)

TEXT = """#+title: A

Intro.
* One
:PROPERTIES:
:ID: one-1
:END:
text one

** Child
child text
* TODO Two :tag:
SCHEDULED: <2024-01-01 Mon>
text two
"""


def node_of(text: str, title: str) -> Node:
    return next(node for node in outline(text, "a.org").nodes if node.title == title)


@st.composite
def nodes(draw, least=0):
    """A node of any text."""
    found = outline(draw(strategies.org_text()), "a.org").nodes
    assume(len(found) > least)
    return found[draw(st.integers(least, len(found) - 1))]


def entries(text):
    return [node.text for node in outline(text, "").nodes]


def ended(text):
    """A text as it stands above another one."""
    return text if text.endswith("\n") or not text else text + "\n"


def same(one, other):
    """Whether two entries are the same but for the end of the file's last line."""
    return ended(one.replace("\r\n", "\n")) == ended(other.replace("\r\n", "\n"))


# --- One entry changes ---------------------------------------------------------------------------


@settings(max_examples=300)
@given(
    nodes(), st.sampled_from(("NEW", "ID", "topic")), st.sampled_from(("value", "", None, "[[x]]"))
)
def test_a_property_is_set_and_nothing_else_changes(node, name, value):
    text = node.tree.text
    try:
        new = with_property(node, name, value)
    except BadArgument:
        event("refused")
        return
    found = outline(new, "").nodes[node.index]
    now = [each for key, each in found.properties if key.upper() == name.upper()]
    assert now == ([] if value is None else [value])
    others = [pair for pair in node.properties if pair[0].upper() != name.upper()]
    assert [pair for pair in found.properties if pair[0].upper() != name.upper()] == others
    check_others(node, new)
    assert text.endswith("\n") == new.endswith("\n") or not (text and new)
    assert with_property(found, name, value) == new


@settings(max_examples=300)
@given(nodes(1), st.data())
def test_a_keyword_is_set_and_nothing_else_changes(node, data):
    known = (*node.tree.todos, *node.tree.dones)
    keyword = data.draw(st.sampled_from((*known, None)))
    try:
        new = with_keyword(node, keyword)
    except BadArgument:
        event("refused")
        return
    found = outline(new, "").nodes[node.index]
    assert (found.todo, found.title, found.tags, found.level) == (
        keyword, node.title, node.tags, node.level,
    )  # fmt: skip
    assert (found.priority, found.is_commented) == (node.priority, node.is_commented)
    assert found.text.partition("\n")[2] == node.text.partition("\n")[2]
    check_others(node, new)


def check_others(node, new):
    """No other entry changed, and none has another parent."""
    before, after = node.tree.nodes, outline(new, "").nodes
    assert len(before) == len(after)
    for one, other in zip(before, after, strict=True):
        assert (one.level, one.parent_index) == (other.level, other.parent_index)
        if one.index != node.index:
            assert same(one.text, other.text)


@settings(max_examples=300)
@given(
    nodes(), st.sampled_from(("* New", "** New\ntext", "* A\n:PROPERTIES:\n:ID: new-9\n:END:\n"))
)
def test_an_entry_is_replaced_and_nothing_else_changes(node, text):
    if not node.level:
        text = "#+title: New\n"
    try:
        new = replaced(node, text, "refuse")
    except BadArgument as error:
        event(error.message)
        return
    found = outline(new, "").nodes[node.index]
    assert found.level == node.level
    assert found.text.lstrip("*").strip() == text.lstrip("*").strip().replace(
        "\n", node.tree.newline
    )
    check_others(node, new)


@settings(max_examples=300)
@given(nodes(), st.sampled_from(WHERE), st.sampled_from(("* New", "** New\ntext\n*** Below\n")))
def test_an_entry_is_inserted_in_its_place_and_nothing_else_changes(node, where, text):
    if not node.level and where in ("before", "after"):
        with pytest.raises(BadArgument):
            place(node, where)
        return
    at = place(node, where)
    new = inserted(node.tree, at, text, "refuse")
    before, after = entries(node.tree.text), outline(new, "").nodes
    size = 2 if "Below" in text else 1
    rest = [each.text for each in after]
    inside = rest[at.behind : at.behind + size]
    del rest[at.behind : at.behind + size]
    assert all(same(*pair) for pair in zip(before, rest, strict=True))
    assert [each.split()[1] for each in inside] == ["New", "Below"][:size]
    found = after[at.behind]
    parent = node if where in ("first", "last") else node.parent
    shift = size if parent.index >= at.behind else 0
    assert found.parent_index == parent.index + shift


@settings(max_examples=300)
@given(nodes(1), st.sampled_from(WHERE), st.data())
def test_an_entry_that_moves_takes_its_text_along(node, where, data):
    rest, moved = removed(node)
    tree = outline(rest, "a.org")
    target = tree.nodes[data.draw(st.integers(0, len(tree.nodes) - 1))]
    assume(target.level or where in ("first", "last"))
    new = inserted(tree, place(target, where), moved, "allow")
    bodies = [ended(each.lstrip("*")) for each in entries(new.replace("\r\n", "\n"))]
    before = [ended(each.lstrip("*")) for each in entries(node.tree.text.replace("\r\n", "\n"))]
    if "\r" not in node.tree.text:
        assert sorted(bodies) == sorted(before)


@given(nodes())
def test_where_a_drawer_would_be(node):
    text, at = node.tree.text, drawer_place(node)
    drawer = ":PROPERTIES:\n:NEW: 1\n:END:\n"
    newline = "" if not at or text[:at].endswith("\n") else "\n"
    found = outline(text[:at] + newline + drawer + text[at:], "").nodes[node.index]
    if not node.drawer:
        assert ("NEW", "1") in found.properties


# --- Texts that are not what they seem ------------------------------------------------------------


@pytest.mark.parametrize("text", ["* Same\n* Sibling", "** One\n** Two", "* A\n** B\n* C"])
@pytest.mark.parametrize("edit", ["replace", "insert"])
def test_a_line_that_would_open_a_sibling(text, edit):
    """As Markdown's bullets do: refused unless somebody says what is meant."""
    node = node_of(TEXT.replace(":ID: one-1\n", ""), "One")

    def make(headlines):
        if edit == "replace":
            return outline(replaced(node, text, headlines), "").nodes
        return outline(inserted(node.tree, place(node, "last"), text, headlines), "").nodes

    with pytest.raises(BadArgument, match=r"line [23] would be a headline beside"):
        make("refuse")
    before = len(node.tree.nodes)
    added = text.count("\n") + (edit == "insert")
    for headlines in ("demote", "allow"):
        found = make(headlines)
        assert len(found) == before + added
    tops = [node.title for node in make("demote") if node.level == 1]
    assert len(tops) == 2
    with pytest.raises(BadArgument, match="unknown"):
        make("perhaps")


def test_allowed_siblings_come_behind_what_is_below():
    node = node_of(TEXT.replace(":ID: one-1\n", ""), "One")
    found = outline(replaced(node, "* Uno\n* Due\nx", "allow"), "").nodes
    assert [(each.level, each.title) for each in found[1:]] == [
        (1, "Uno"), (2, "Child"), (1, "Due"), (1, "Two"),
    ]  # fmt: skip


def test_new_children_may_not_adopt_the_old_ones():
    text = "* A\n*** c\n"
    with pytest.raises(BadArgument, match="line 2 would get below another headline"):
        replaced(node_of(text, "A"), "* A\n** b\n", "refuse")
    assert replaced(node_of(text, "A"), "* A\n*** b\n", "refuse") == "* A\n*** b\n*** c\n"


@pytest.mark.parametrize("text", ["", "text", "text\n* One", "\n", "*bold*", "*\tOne"])
def test_a_text_without_its_headline(text):
    with pytest.raises(BadArgument, match="does not begin with a headline"):
        replaced(node_of(TEXT, "One"), text, "refuse")


def test_a_text_without_the_entry_s_id():
    with pytest.raises(BadArgument, match="leaves out the entry's ID"):
        replaced(node_of(TEXT, "One"), "* One\ntext\n", "refuse")


def test_a_file_s_text_has_no_headline():
    with pytest.raises(BadArgument, match="it has a headline"):
        replaced(outline(TEXT, "").root, "#+title: B\n* New\n", "allow")
    assert replaced(outline(TEXT, "").root, "#+title: B", "refuse") == TEXT.replace(
        "#+title: A\n\nIntro.\n", "#+title: B\n"
    )


def test_the_space_between_entries_stays():
    new = replaced(
        node_of(TEXT, "One"), "* One\n:PROPERTIES:\n:ID: one-1\n:END:\nx\n\n\n\n", "refuse"
    )
    assert new == TEXT.replace("text one", "x")


def test_a_file_without_a_newline_at_its_end_stays_so():
    text = TEXT.removesuffix("\n")
    assert replaced(node_of(text, "Two"), "* TODO Two :tag:\nx\n", "refuse").endswith("\nx")
    assert inserted(outline(text, ""), place(node_of(text, "One"), "after"), "* N", "refuse") == (
        text.replace("* TODO Two", "* N\n* TODO Two")
    )
    last = inserted(outline(text, ""), place(outline(text, "").root, "last"), "* N\n", "refuse")
    assert last == TEXT + "* N"
    assert removed(node_of(text, "Two"))[0] == text[: text.index("* TODO Two")].removesuffix("\n")


def test_line_ends_are_the_file_s():
    text = TEXT.replace("\n", "\r\n")
    for new in (
        replaced(node_of(text, "Child"), "** Child\nx\n", "refuse"),
        inserted(outline(text, ""), place(node_of(text, "One"), "first"), "* N\r\ny\n", "refuse"),
        with_property(node_of(text, "Child"), "A", "b"),
        with_property(node_of(text, "One"), "A", "b"),
        with_property(node_of(text, "One"), "ID", "b"),
        with_keyword(node_of(text, "One"), "TODO"),
    ):
        assert new.count("\n") == new.count("\r\n")


def test_where_properties_are_put():
    assert with_property(node_of(TEXT, "Two"), "A", "b") == TEXT.replace(
        "Mon>\n", "Mon>\n:PROPERTIES:\n:A:        b\n:END:\n"
    )
    assert (
        with_property(outline(TEXT, "").root, "A", "b")
        == f":PROPERTIES:\n:A:        b\n:END:\n{TEXT}"
    )
    mode = "# -*- mode: org -*-\n"
    assert with_property(outline(mode + TEXT, "").root, "A", "b").startswith(f"{mode}:PROPERTIES:")


def test_a_drawer_keeps_its_look():
    text = "* A\n  :PROPERTIES:\n  :ID:       x\n  :END:\n"
    assert with_property(node_of(text, "A"), "id", "y") == text.replace("x", "y")
    assert with_property(node_of(text, "A"), "B", "c") == text.replace("x\n", "x\n  :B:        c\n")
    assert with_property(node_of(text, "A"), "ID", None) == "* A\n"


@pytest.mark.parametrize("name", ["", " ", "a b", ":a", "a:", "END", None, "a\nb"])
def test_what_is_no_property_s_name(name):
    with pytest.raises(BadArgument):
        with_property(node_of(TEXT, "One"), name, "x")


@pytest.mark.parametrize("value", ["a\nb", "a\r\nb"])
def test_a_value_is_one_line(value):
    with pytest.raises(BadArgument, match="one line"):
        with_property(node_of(TEXT, "One"), "A", value)


def test_a_property_that_is_there_twice():
    text = "* A\n:PROPERTIES:\n:B: 1\n:B: 2\n:END:\n"
    with pytest.raises(BadArgument, match="2 times"):
        with_property(node_of(text, "A"), "B", "3")


@pytest.mark.parametrize(
    ("line", "keyword", "changed"),
    [
        ("* A", "TODO", "* TODO A"),
        ("* TODO A", "DONE", "* DONE A"),
        ("* TODO A", None, "* A"),
        ("*   A", "TODO", "* TODO   A"),
        ("* TODO [#A] A :t:", "DONE", "* DONE [#A] A :t:"),
        ("* ", "TODO", "* TODO"),
        ("* TODO", None, "* "),
        ("* COMMENT A", "TODO", "* TODO COMMENT A"),
        ("* TODO-LIST", "TODO", "* TODO TODO-LIST"),
    ],
)
def test_keywords(line, keyword, changed):
    text = f"{line}\ntext\n"
    assert with_keyword(outline(text, "").nodes[1], keyword) == f"{changed}\ntext\n"


def test_an_unknown_keyword():
    text = "#+TODO: NEXT | OK\n* A\n"
    with pytest.raises(BadArgument) as error:
        with_keyword(node_of(text, "A"), "TODO")
    assert error.value.hint == "those of this file are NEXT, OK"
    assert with_keyword(node_of(text, "A"), "OK") == "#+TODO: NEXT | OK\n* OK A\n"
    with pytest.raises(BadArgument, match="a file has no keyword"):
        with_keyword(outline(text, "a.org").root, "OK")


def test_an_unknown_place():
    with pytest.raises(BadArgument, match="no such place"):
        place(node_of(TEXT, "One"), "inside")


def test_demoted():
    assert demoted("text\n* a\n** b\n*** c\n", 2) == "text\n*** a\n*** b\n**** c\n"
