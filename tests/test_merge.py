"""Three versions become one: laws first, then what people do."""

import re
import sys
from itertools import count, product

import edits
import emacs
import outlines
import pytest
import strategies
from growth import check_growth
from hypothesis import event, example, given, settings
from hypothesis import strategies as st
from outlines import Edit, Outline

from orgctx.core.merge import Conflict, merge
from orgctx.core.outline import outline
from orgctx.store.files import decode

WORD = re.compile(r"\b(?:their|our)\d+\b")


@st.composite
def versions(draw, most=4):
    """A text, and what two made of it."""
    base = draw(strategies.org_text())
    theirs = draw(edits.edited(base, "their", most=most))
    ours = draw(edits.edited(base, "our", most=most))
    return base, theirs, ours


@st.composite
def strangers(draw):
    """Three texts that share IDs and titles at best."""
    return tuple(draw(strategies.org_text()) for _ in range(3))


def plain_lines(text):
    """The lines without stars and line ends."""
    return {re.sub(r"\A\*+(?= )", "*", line.removesuffix("\r")) for line in text.split("\n")}


@settings(max_examples=300)
@given(versions() | strangers())
def test_who_does_nothing_changes_nothing(three):
    base, other, _ = three
    assert merge(base, base, other) == (other, ())
    assert merge(base, other, base) == (other, ())


@settings(max_examples=300)
@given(versions() | strangers())
def test_agreement_is_no_conflict(three):
    base, other, _ = three
    assert merge(base, other, other) == (other, ())


@settings(max_examples=400)
@given(versions() | strangers())
def test_swapped_sides_have_the_same_conflicts(three):
    base, theirs, ours = three
    there, here = merge(base, theirs, ours), merge(base, ours, theirs, "ours")
    swapped = {each._replace(theirs=each.ours, ours=each.theirs) for each in here.conflicts}
    assert set(there.conflicts) == swapped
    for kind in {each.kind for each in there.conflicts}:
        event(kind)
    event(f"conflicts: {bool(there.conflicts)}")
    if not there.conflicts:
        assert sorted(there.text.split()) == sorted(here.text.split())


@given(versions() | strangers())
def test_conflicts_are_the_same_whatever_is_preferred(three):
    assert merge(*three).conflicts == merge(*three, "ours").conflicts


@settings(max_examples=400)
@given(versions() | strangers(), st.sampled_from(("theirs", "ours")))
def test_nothing_comes_from_nowhere(three, prefer):
    base, theirs, ours = three
    merged = merge(base, theirs, ours, prefer)
    assert plain_lines(merged.text) <= plain_lines(theirs) | plain_lines(ours) | {""}


@settings(max_examples=600)
@given(versions())
def test_nothing_is_lost(three):
    base, theirs, ours = three
    merged = merge(base, theirs, ours)
    lost = set(WORD.findall(theirs + ours)) - set(WORD.findall(merged.text))
    assert not lost or merged.conflicts
    event(f"lost: {bool(lost)}")


HEAD = re.compile(r"^(\*+ )([^\n]*\n?)", re.M)
UNCLEAR = (edits.copy, edits.insert_alike, edits.change)
SAFE = (edits.extend, edits.append, edits.space, edits.newlines)


@st.composite
def distinct_versions(draw):
    """Versions in which it is always clear which entry is which.

    Either each has an ID, or no title is there twice, and none changes or gets another parent.
    """
    numbers, with_ids = count(), draw(st.booleans())
    drawer = ":PROPERTIES:\n:ID: {0}\n:END:\n" if with_ids else ""

    def distinct(head):
        line = head[2] if head[2].endswith("\n") else head[2] + "\n"
        return f"{head[1]}h{(n := next(numbers))} {line}{drawer.format(n)}"

    base = HEAD.sub(distinct, draw(strategies.org_text()))
    kinds = (*SAFE, *(each for each in edits.ANY if each not in UNCLEAR)) if with_ids else SAFE
    ways = draw(edits.edited(base, "their", kinds)), draw(edits.edited(base, "our", kinds))
    return base, *ways


@settings(max_examples=600)
@given(distinct_versions())
def test_once_more_is_not_too_much(three):
    base, theirs, ours = three
    merged = merge(base, theirs, ours)
    event(f"conflicts: {bool(merged.conflicts)}")
    if not merged.conflicts:
        for again in (merge(base, merged.text, ours), merge(base, theirs, merged.text)):
            assert (again.text.rstrip(), again.conflicts) == (merged.text.rstrip(), ())


@settings(max_examples=300)
@given(versions() | strangers(), st.sampled_from(("theirs", "ours")))
def test_the_preferred_side_wins_only_conflicts(three, prefer):
    """With no conflict it does not matter which side is preferred."""
    base, theirs, ours = three
    merged = merge(base, theirs, ours, prefer)
    if not merged.conflicts:
        assert merged == merge(base, theirs, ours)


def shape(text):
    """The entries of a text in order: level and text without stars."""
    return [(node.level, node.text[node.level :].strip()) for node in outline(text, "").nodes]


@settings(max_examples=300)
@given(versions() | strangers())
def test_no_entry_is_torn_or_doubled(three):
    """Each entry of the result is an entry of a side, as often as there at most."""
    base, theirs, ours = three
    merged = merge(base, theirs, ours)
    texts = [text for _, text in shape(merged.text.replace("\r\n", "\n"))]
    sides = [[text for _, text in shape(side.replace("\r\n", "\n"))] for side in (theirs, ours)]
    for text in set(texts):
        assert texts.count(text) <= sides[0].count(text) + sides[1].count(text)


@st.composite
def series(draw):
    """An outline of entries with IDs, and what two did with it."""
    outline = draw(outlines.outlines())
    theirs, ours = (draw(outlines.series(outline, mark)) for mark in ("t", "o"))
    return outline, theirs, ours


@settings(max_examples=1000)
@given(series())
@example(
    (
        Outline({"e0": "new", "e1": "new"}, {"": ["e0", "e1"], "e0": [], "e1": []}),
        [Edit("move", "e0", "e1")],
        [Edit("move", "e0", "e1"), Edit("move", "e0", "")],
    )
)
def test_a_merge_is_what_they_did_and_then_what_we_did(three):
    base, theirs, ours = three
    there, here = outlines.after(base, theirs), outlines.after(base, ours)
    merged = merge(base.render(), there.render(), here.render())
    both = outlines.after(there, ours)
    has_moves = any(edit.what == "move" for edit in (*theirs, *ours))
    event(f"conflicts: {bool(merged.conflicts)}, moves: {has_moves}")
    if not merged.conflicts:
        assert outlines.read(merged.text).places() == outlines.overlaid(base, there, here)
        if both and not has_moves:
            assert merged.text == both.render()


@settings(max_examples=1000)
@given(series())
def test_edits_of_different_entries_are_in_no_conflict(three):
    base, theirs, ours = three
    there, here = outlines.after(base, theirs), outlines.after(base, ours)
    is_apart = footprint(base, theirs).isdisjoint(footprint(base, ours))
    event(f"apart: {is_apart}")
    if is_apart:
        assert merge(base.render(), there.render(), here.render()).conflicts == ()


def footprint(base, edits):
    """The entries on which some edits bear: those edited, those above and below them."""
    found, now = set(), base
    for edit in edits:
        for after in (now, edit.made(now)):
            if edit.id_ in after.texts:
                found |= {*after.above(edit.id_), *after.below(edit.id_)} - {""}
        now = edit.made(now)
    return found


# --- What people do ------------------------------------------------------------------------------

INBOX = "#+title: Inbox\n* Plan\nbuy eggs\n* Log\nmonday\n"


def kinds(base, theirs, ours):
    return [(each.kind, each.titles) for each in merge(base, theirs, ours).conflicts]


def test_both_append_an_entry():
    theirs, ours = INBOX + "* Call Ann\n", INBOX + "\n* Call Bob\n"
    assert merge(INBOX, theirs, ours) == (INBOX + "\n* Call Ann\n* Call Bob\n", ())


def test_an_entry_is_added_below_one_that_is_edited():
    """Emacs puts a blank line in front of a new headline: that is no edit of the entry above."""
    theirs = INBOX + "\n* New\n"
    ours = INBOX.replace("monday", "tuesday")
    assert merge(INBOX, theirs, ours) == (ours + "\n* New\n", ())


def test_an_entry_is_added_to_a_file_without_a_newline_at_its_end():
    base = INBOX.removesuffix("\n")
    theirs, ours = INBOX + "* New", base.replace("monday", "tuesday")
    assert merge(base, theirs, ours) == (ours + "\n* New", ())


def test_the_same_entry_is_edited_twice():
    theirs, ours = INBOX.replace("eggs", "tea"), INBOX.replace("eggs", "milk")
    merged = merge(INBOX, theirs, ours)
    assert merged.conflicts == (Conflict("changed", ("Plan",), 2, 2, 2),)
    assert merged.text == theirs
    assert merge(INBOX, theirs, ours, "ours").text == ours


def test_only_the_conflict_is_settled():
    theirs = INBOX.replace("eggs", "tea").replace("monday", "tuesday")
    ours = INBOX.replace("eggs", "milk").replace("Inbox", "In")
    assert merge(INBOX, theirs, ours, "ours").text == ours.replace("monday", "tuesday")
    assert merge(INBOX, theirs, ours).text == theirs.replace("Inbox", "In")


def test_keyword_of_one_and_text_of_another_entry_of_the_same_title():
    base = "* Log\n** Notes\nfirst\n* Log\n** Notes\nsecond\n** Notes\nthird\n"
    theirs, ours = (
        base.replace("second", "2"),
        base.replace("** Notes\nthird", "** DONE Notes\nthird"),
    )
    assert merge(base, theirs, ours) == (
        theirs.replace("** Notes\nthird", "** DONE Notes\nthird"),
        (),
    )


def test_an_entry_of_the_same_title_is_put_in_front():
    base = "* Log\nold\n"
    assert merge(base, "* Log\nnew\n* Log\nold\n", "* Log\nolder\n") == (
        "* Log\nnew\n* Log\nolder\n",
        (),
    )


def test_text_above_the_first_headline():
    theirs, ours = INBOX.replace("Inbox", "In"), INBOX.replace("Inbox", "Out")
    assert kinds(INBOX, theirs, ours) == [("changed", ())]
    assert merge(INBOX, theirs, INBOX + "* New\n") == (theirs + "* New\n", ())


def test_deleted_here_and_edited_there():
    deleted = "#+title: Inbox\n* Log\nmonday\n"
    assert kinds(INBOX, deleted, INBOX.replace("eggs", "tea")) == [("deleted", ("Plan",))]
    assert kinds(INBOX, deleted, INBOX.replace("monday", "")) == []
    below = INBOX.replace("eggs\n", "eggs\n** Shop\n")
    assert kinds(INBOX, below, deleted) == [("deleted", ("Plan",))]


@pytest.mark.parametrize(("prefer", "result"), [("theirs", "* A\n** New\n"), ("ours", "")])
def test_whose_half_of_a_deletion(prefer, result):
    merged = merge("* A\n", "* A\n** New\n", "", prefer)
    assert (merged.text, len(merged.conflicts)) == (result, 1)


def with_id(title, text=""):
    return f"* {title}\n:PROPERTIES:\n:ID: id-{title}\n:END:\n{text}"


A, B, C = map(with_id, "ABC")


def deeper(text):
    return re.sub(r"(?m)^(?=\*)", "*", text)


def test_moved_there_and_edited_here():
    theirs = B + deeper(A) + C
    assert merge(A + B + C, theirs, A + "text\n" + B + C) == (B + deeper(A) + "text\n" + C, ())


def test_moved_to_two_places():
    theirs, ours = B + deeper(A) + C, B + C + deeper(A)
    assert kinds(A + B + C, theirs, ours) == [("moved", ("A",))]
    assert merge(A + B + C, theirs, ours, "ours").text == ours


def test_moved_below_one_another():
    """Each move is fine; together they would be cut off from the file."""
    theirs, ours = B + deeper(A) + C, A + deeper(B) + C
    assert kinds(A + B + C, theirs, ours) == [("moved", ("A",)), ("moved", ("B",))]
    assert merge(A + B + C, theirs, ours).text == theirs
    assert merge(A + B + C, theirs, ours, "ours").text == ours


def test_moved_below_one_another_by_way_of_a_new_entry():
    theirs = A + deeper("* X\n") + deeper(deeper(B)) + C
    ours = B + deeper(A) + C
    assert kinds(A + B + C, theirs, ours) == [("moved", ("A",)), ("moved", ("B",))]
    assert merge(A + B + C, theirs, ours).text == theirs
    assert "* X\n" in merge(A + B + C, theirs, ours, "ours").text


def test_moved_below_what_is_deleted():
    theirs, ours = A + deeper(C) + B, B + C
    assert kinds(A + B + C, theirs, ours) == [("deleted", ("A",))]
    assert merge(A + B + C, theirs, ours).text == theirs
    assert merge(A + B + C, theirs, ours, "ours").text == ours


def test_reordered():
    assert merge(A + B + C, C + A + B, A + B + C + "text\n") == (C + "text\n" + A + B, ())
    assert merge(A + B + C, C + A + B, A + B + C + "* D\n").text == C + "* D\n" + A + B
    assert kinds(A + B + C, C + A + B, B + A + C) == [("reordered", ())]
    assert merge(A + B + C, C + A + B, B + A + C, "ours").text == B + A + C


def test_demoted_there_and_added_to_here():
    theirs, ours = A + deeper(B), A + B + "** New\n"
    assert merge(A + B, theirs, ours) == (A + deeper(B + "** New\n"), ())


def test_the_same_headline_of_the_day():
    day = "* 2024\n** 2024-01\n*** 2024-01-05 Friday\n"
    assert merge("", day + "**** Ann\n", day + "**** Bob\n") == (day + "**** Ann\n**** Bob\n", ())


def test_new_entries_of_the_same_title_are_two():
    theirs, ours = INBOX + "* Meeting\nwith Ann\n", INBOX + "* Meeting\nwith Bob\n"
    assert merge(INBOX, theirs, ours) == (theirs + "* Meeting\nwith Bob\n", ())


def test_new_entries_of_the_same_id_are_one():
    assert merge("", A, A) == (A, ())
    assert kinds("", A + "mine\n", A + "yours\n") == [("added", ("A",))]


def test_retitled():
    base = "* Buy milk\nat the corner\n* Garden\n** Roses\n** Lawn\n"
    theirs = base.replace("milk", "oat milk").replace("Garden", "Gardens")
    ours = base.replace("** Roses\n", "** Roses\nred\n")
    assert merge(base, theirs, ours) == (theirs.replace("** Roses\n", "** Roses\nred\n"), ())


def test_a_cookie_is_not_the_title():
    base = "* Tasks [0/2]\n** TODO a\n** TODO b\n"
    theirs = "* Tasks [1/2]\n** DONE a\n** TODO b\n"
    assert merge(base, theirs, base + "** TODO c\n") == (theirs + "** TODO c\n", ())


def test_a_headline_put_above_others_moves_them():
    """Without IDs they are known by their text, and so what is edited is still found."""
    base = "* A\n** B\nb\n** C\nc\n"
    theirs = "* A\n* New\n** B\nb\n** C\nc\n"
    assert merge(base, theirs, base.replace("c\n", "see\n")) == (theirs.replace("c\n", "see\n"), ())


def test_an_id_that_is_there_twice_says_nothing():
    base = A + "first\n" + A + "second\n"
    theirs, ours = base.replace("first", "1st"), base.replace("second", "2nd")
    assert merge(base, theirs, ours) == (base.replace("first", "1st").replace("second", "2nd"), ())


def test_another_id_is_another_entry():
    theirs = A.replace("id-A", "id-Z")
    assert kinds(A, theirs, A + "text\n") == [("deleted", ("A",))]
    assert merge("* A\n", A, "* A\ntext\n").conflicts[0].kind == "changed"


@pytest.mark.parametrize(("there", "here"), list(product(("\n", "\r\n"), repeat=2)))
def test_line_ends_are_the_file_s(there, here):
    """Who changes them changes no entry, and what both wrote gets those of the file."""
    base = INBOX.replace("\n", "\r\n")
    theirs = INBOX.replace("eggs", "tea").replace("\n", there)
    ours = INBOX.replace("monday", "tuesday").replace("\n", here)
    newline = "\n" if "\n" in (there, here) else "\r\n"
    both = INBOX.replace("eggs", "tea").replace("monday", "tuesday").replace("\n", newline)
    assert merge(base, theirs, ours) == (both, ())


def test_mixed_line_ends_stay_as_they_are():
    base = "* A\r\none\n* B\ntwo\r\n"
    merged = merge(base, base.replace("one", "1"), base.replace("two", "2"))
    assert merged == ("* A\r\n1\n* B\n2\r\n", ())


def test_levels_that_skip():
    base = "* P\n*** c\n"
    merged = merge(base, base + "** new\n", base + "*** d\n")
    assert merged == ("* P\n*** c\n*** d\n** new\n", ())
    read = outline(merged.text, "").nodes
    assert [node.parent.title for node in read[2:]] == ["P", "P", "P"]


def test_as_deep_as_it_gets():
    base = "".join(f"{'*' * level} level {level}\n" for level in range(1, 1201))
    theirs, ours = base.replace("level 7\n", "level 7\nx\n"), base + "the end\n"
    assert merge(base, theirs, ours) == (theirs + "the end\n", ())


def test_twice_the_entries_take_about_twice_as_long():
    """Counted in calls, not in seconds."""
    assert work(4000) < 2.5 * work(2000)


def work(size):
    """How many lines of Python a merge of so many siblings runs."""
    base = "".join(f"* Log\ntext {n}\n" for n in range(size))
    theirs = base.replace("text 7", "seven") + "* New\n"
    lines = 0

    def trace(frame, event, _):
        nonlocal lines
        lines += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        merge(base, theirs, base[::-1][::-1].replace("text 9", "nine"))
    finally:
        sys.settrace(before)
    return lines


@pytest.mark.corpora
def test_real_notes():
    """Two edit the first and the last entry of each file: both are there, all else stays."""
    merged = 0
    for path in emacs.corpora():
        text, _ = decode(path.read_bytes(), path.name)
        nodes = outline(text, "").nodes
        if len(nodes) > 2:
            first, last = nodes[1], nodes[-1]
            theirs = text[: first.end] + "theirs\n" + text[first.end :]
            ours = text[: last.start] + last.text.rstrip("\n") + "\nours\n"
            both = theirs[: last.start + 7] + ours[last.start :]
            assert merge(text, theirs, ours) == (both, ()), path
            merged += 1
    assert merged > 100


@pytest.mark.parametrize(
    "entry",
    [
        "* H {0}\n:PROPERTIES:\n:ID: i{0}\n:END:\ntext {0}\n",
        "* H {0}\ntext\n** Below\n",
        "* H\ntext\n",
    ],
    ids=["by ID", "by title", "all alike"],
)
def test_eight_times_the_entries_take_eight_times_as_long(entry):
    def make(size):
        entries = [entry.format(number) for number in range(size)]
        base = "".join(entries)
        theirs = "".join(reversed(entries)) + "* Theirs\n"
        return base, theirs, base.replace("text", "ours", 1) + "* Ours\n"

    check_growth(lambda three: merge(*three), make, 300)
