"""orgctx.core.entry: an entry line by line, each state valid Org with an exact price."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from itertools import accumulate, chain, pairwise, product

import pytest
import strategies
from growth import check_growth
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from orgctx.core.elements import elements
from orgctx.core.entry import Entry, _reduced, entry, is_split, skeleton
from orgctx.core.ledger import Priced
from orgctx.core.model import Node
from orgctx.core.outline import outline
from orgctx.tokens import ENCODINGS, count

MARK = re.compile(r"# … (-?\d+) lines? omitted\r?\n?")


def node_of(text: str, index: int = 1) -> Node:
    return outline(text, "t.org").nodes[index]


def states(text: str, index: int = 1, is_target: bool = True) -> list[str]:
    """The entry in all of its states, IDs in full."""
    of_node = entry(node_of(text, index), str, is_target)
    return [of_node.text(state) for state in range(len(of_node.order) + 1)]


def skeletons(node: Node, ids: Callable[[str], str] | None) -> str:
    """What both makers of a skeleton say."""
    (text,) = {skeleton(node, ids).text(0), entry(node, ids).text(0)}
    return text


# --- Skeletons -----------------------------------------------------------------------------------

DRAWER = ":PROPERTIES:\n:Effort: 1:00\n:ID:       5f0c9a1e-0001\n:CUSTOM_ID: c\n:END:\n"


def test_a_skeleton_is_headline_and_id() -> None:
    node = node_of(f"** TODO [#A] H :t:\nSCHEDULED: <2024-01-01 Mon>\n{DRAWER}text\n")
    head = "** TODO [#A] H :t:\n"
    assert skeletons(node, str) == f"{head}:PROPERTIES:\n:ID:       5f0c9a1e-0001\n:END:\n"
    assert (
        skeletons(node, lambda id_: id_[:8]) == f"{head}:PROPERTIES:\n:ID:       5f0c9a1e\n:END:\n"
    )
    assert skeletons(node, None) == head


@pytest.mark.parametrize(
    ("drawer", "shown"),
    [
        (":CUSTOM_ID: c\n", ":CUSTOM_ID: c\n"),
        (":ID:\n:CUSTOM_ID: c\n", ":CUSTOM_ID: c\n"),
        (":ID: x\n:ID:\n:CUSTOM_ID: c\n", ":CUSTOM_ID: c\n"),
        (":CUSTOM_ID: c\n:id: x\n:A: b\n", ":id: x!\n"),
        (":ID: one\n:ID+: two\n:ID: three\n", ":ID: three!\n"),
        (":ID: ID\n", ":ID: ID!\n"),
        ("  :ID:  D \t\n", "  :ID:  D! \t\n"),
        (":ID: a:ID: a\n", ":ID: a:ID: a!\n"),
        (":A: x\n:B: x\n:ID: x\n:C: x\n", ":ID: x!\n"),
    ],
)
def test_which_id_a_skeleton_shows(drawer: str, shown: str) -> None:
    node = node_of(f"* H\n:properties:\n{drawer}:end:\n")
    assert skeletons(node, "{}!".format) == f"* H\n:properties:\n{shown}:end:\n"


@pytest.mark.parametrize("drawer", [":A: b\n", ":ID:\n", ""])
def test_a_drawer_without_id_is_no_part_of_a_skeleton(drawer: str) -> None:
    assert skeletons(node_of(f"* H\n:PROPERTIES:\n{drawer}:END:\n"), str) == "* H\n"


def test_a_skeleton_keeps_the_blank_of_an_empty_title_and_the_line_end() -> None:
    assert skeletons(node_of("* \nbody\n"), str) == "* \n"
    assert skeletons(node_of("* H"), str) == "* H\n"
    assert skeletons(node_of("* H\r\n\r\ntext\r\n"), str) == "* H\r\n"
    assert skeletons(node_of("* H\r\n\ntext\r\n"), str) == "* H\n"


def test_the_skeleton_of_a_file() -> None:
    text = (
        ":PROPERTIES:\n:A: b\n:ID: f\n:END:\n#+title: T\n#+author: A\n\nIntro.\n"
        "#+STARTUP: odd\n* H\n#+title: not the file's\n"
    )
    shown = ":PROPERTIES:\n:ID: f\n:END:\n#+title: T\n#+STARTUP: odd\n"
    assert skeletons(node_of(text, 0), str) == f"# t.org\n{shown}"
    assert skeletons(node_of(text, 0), None) == "# t.org\n#+title: T\n#+STARTUP: odd\n"


def test_keywords_from_below_are_in_the_skeleton_of_the_file() -> None:
    text = (
        "#+title: T\n* NEXT H\n#+TODO: NEXT | OK\n- item\n  #+FILETAGS: :x:\n* I\n"
        "#+todo: TODO | DONE\n#+TODO: NEXT | OK\n#+begin_example\n#+TODO: no\n#+end_example\n"
    )
    below = "#+TODO: NEXT | OK\n  #+FILETAGS: :x:\n#+todo: TODO | DONE\n"
    for end in ("\n", "\r\n"):
        root = node_of(text.replace("\n", end), 0)
        assert skeletons(root, str) == f"# t.org\n#+title: T\n{below}".replace("\n", end)
    assert skeletons(root.tree.nodes[1], str) == "* NEXT H\r\n"


@pytest.mark.parametrize(
    ("path", "line"),
    [("a b/ü.org", "# a b/ü.org"), ("a\nb\t.org", "# a\\nb\\t.org"), ("\x85", "# \\u0085")],
)
def test_the_comment_that_names_the_file_is_one_line(path: str, line: str) -> None:
    assert skeletons(outline("* H\n", path).root, str) == f"{line}\n"


@pytest.mark.parametrize("above", ["\n", " \n\t\n", "\r\n\r\n"])
def test_blank_lines_above_a_file_drawer_would_void_it_below_a_comment(above: str) -> None:
    drawer = ":PROPERTIES:\n:ID: f\n:END:\n"
    assert states(f"{above}{drawer}\ntext\n", 0)[-1] == f"# t.org\n{drawer}\ntext\n"
    assert states("\n\ntext\n", 0)[-1] == "# t.org\n\n\ntext\n"


# --- Growing -------------------------------------------------------------------------------------


def test_a_target_grows_line_by_line_and_others_begin_in_silence() -> None:
    text = "* H\none\ntwo\n\nthree\n"
    grown = [
        "* H\none\n# … 3 lines omitted\n",
        "* H\none\ntwo\n\n# … 1 line omitted\n",
        "* H\none\ntwo\n\nthree\n",
    ]
    assert states(text) == ["* H\n# … 4 lines omitted\n", *grown]
    assert states(text, is_target=False) == ["* H\n", *grown]


def test_blank_lines_belong_to_the_line_above() -> None:
    assert states("* H\n\n\none\n") == [
        "* H\n# … 3 lines omitted\n",
        "* H\n\n\n# … 1 line omitted\n",
        "* H\n\n\none\n",
    ]


def test_no_mark_parts_a_headline_from_its_drawer() -> None:
    full, brief = ":PROPERTIES:\n:A: b\n:ID: x\n:END:\n", ":PROPERTIES:\n:ID: x\n:END:\n"
    head, planning = "* H\n", "DEADLINE: <2024-01-01 Mon>\n"
    assert states(f"{head}{planning}{full}text\n") == [
        f"{head}{brief}# … 3 lines omitted\n",
        f"{head}{planning}{brief}# … 2 lines omitted\n",
        f"{head}{planning}{full}# … 1 line omitted\n",
        f"{head}{planning}{full}text\n",
    ]


def test_b34_a_logbook_comes_after_the_text() -> None:
    head = "* H\n:PROPERTIES:\n:ID: x\n:END:\n"
    logbook = f":LOGBOOK:\n{'- a note' * 50}\nCLOCK: [2024-01-02 Tue 09:00]\n:END:\n"
    assert states(f"{head}{logbook}one\n\ntwo\n") == [
        f"{head}# … 7 lines omitted\n",
        f"{head}# … 4 lines omitted\none\n\n# … 1 line omitted\n",
        f"{head}# … 4 lines omitted\none\n\ntwo\n",
        f"{head}{logbook}one\n\ntwo\n",
    ]


def test_drawers_come_one_by_one_with_one_mark_for_neighbours() -> None:
    one, two, three = (f":{name}:\n:END:\n" for name in ("ONE", "TWO", "THREE"))
    assert states(f"* H\n{one}{two}text\n{three}") == [
        "* H\n# … 7 lines omitted\n",
        "* H\n# … 4 lines omitted\ntext\n# … 2 lines omitted\n",
        f"* H\n{one}# … 2 lines omitted\ntext\n# … 2 lines omitted\n",
        f"* H\n{one}{two}text\n# … 2 lines omitted\n",
        f"* H\n{one}{two}text\n{three}",
    ]


@pytest.mark.parametrize(
    "drawer",
    [
        ":LOGBOOK:\n#+begin_src sh\nx\n#+end_src\n:END:\n",
        ":LOGBOOK:\n- note\n  #+begin_quote\n  x\n  #+end_quote\n- note\n:END:\n",
    ],
)
def test_a_drawer_with_a_block_in_it_comes_after_the_text_too(drawer: str) -> None:
    lines = drawer.count("\n")
    assert states(f"* H\n{drawer}text\n") == [
        f"* H\n# … {lines + 1} lines omitted\n",
        f"* H\n# … {lines} lines omitted\ntext\n",
        f"* H\n{drawer}text\n",
    ]


def test_a_drawer_in_a_block_comes_after_the_text_where_it_can() -> None:
    drawer = ":A:\nb\n:END:\n"
    assert states(f"* H\n#+begin_quote\none\n{drawer}two\n#+end_quote\n") == [
        "* H\n# … 7 lines omitted\n",
        "* H\n#+begin_quote\none\n# … 4 lines omitted\n#+end_quote\n",
        "* H\n#+begin_quote\none\n# … 3 lines omitted\ntwo\n#+end_quote\n",
        f"* H\n#+begin_quote\none\n{drawer}two\n#+end_quote\n",
    ]
    at_begin = f"* H\n#+begin_quote\n{drawer}#+end_quote\n"
    assert states(at_begin) == ["* H\n# … 5 lines omitted\n", at_begin]
    at_end = f"* H\n#+begin_quote\none\n{drawer}#+end_quote\n"
    assert states(f"{at_end}after\n") == [
        "* H\n# … 7 lines omitted\n",
        "* H\n#+begin_quote\none\n# … 4 lines omitted\n#+end_quote\n",
        f"{at_end}# … 1 line omitted\n",
        f"{at_end}after\n",
    ]


def test_a_keyword_of_the_file_in_a_drawer() -> None:
    """The line stays, being of the skeleton, and so does the drawer around it."""
    plain, brief = ":A:\nx\n:END:\n", ":B:\n#+TODO: X | Y\n:END:\n"
    full = brief.replace(":END:", "x\n:END:")
    assert states(f"{plain}{full}text\n", 0) == [
        f"# t.org\n# … 3 lines omitted\n{brief}# … 2 lines omitted\n",
        f"# t.org\n{brief}# … 4 lines omitted\ntext\n",
        f"# t.org\n{plain}{brief}# … 1 line omitted\ntext\n",
        f"# t.org\n{plain}{full}text\n",
    ]


def test_a_cut_block_keeps_its_own_end() -> None:
    assert states("* H\n  #+BEGIN_SRC sh\na\n\nb\nc\n  #+end_src  \nafter\n")[1:] == [
        "* H\n  #+BEGIN_SRC sh\na\n\n# … 3 lines omitted\n  #+end_src  \n",
        "* H\n  #+BEGIN_SRC sh\na\n\nb\n# … 2 lines omitted\n  #+end_src  \n",
        "* H\n  #+BEGIN_SRC sh\na\n\nb\nc\n  #+end_src  \n# … 1 line omitted\n",
        "* H\n  #+BEGIN_SRC sh\na\n\nb\nc\n  #+end_src  \nafter\n",
    ]


def test_cut_blocks_in_blocks_are_closed_from_the_inside() -> None:
    text = "* H\n#+begin_quote\n#+begin_src sh\na\nb\n#+end_src\n#+end_quote\n"
    assert states(text) == [
        "* H\n# … 6 lines omitted\n",
        "* H\n#+begin_quote\n#+begin_src sh\na\n# … 1 line omitted\n#+end_src\n#+end_quote\n",
        text,
    ]


@pytest.mark.parametrize(
    ("begin", "end"),
    [
        ("#+begin_example", "#+end_example"),
        ("#+begin_src org", "#+end_src"),
        ("\\begin{align}", "\\end{align}"),
    ],
)
def test_no_keyword_comes_alive_where_a_block_is_cut(begin: str, end: str) -> None:
    for text in states(f"* H\n{begin}\n#+TODO: X | Y\na\nb\n{end}\n"):
        assert outline(text, "t.org").todos == ("TODO",)


def test_a_keyword_of_the_file_in_a_cut_block() -> None:
    """The line stays, being of the skeleton, and the block is a block all the same."""
    for text in states("#+begin_quote\na\nb\nc\n#+TODO: X | Y\nd\n#+end_quote\ne\n* H\n", 0)[1:]:
        assert text.count("#+begin_quote\n") == text.count("#+end_quote\n") == 1
        assert "#+TODO: X | Y\n" in text


def test_a_keyword_stays_with_what_it_is_about() -> None:
    table = "#+caption: C\n#+NAME: t\n  #+attr_html: :width 1\n| a |\n"
    assert states(f"* H\n{table}| b |\n") == [
        "* H\n# … 5 lines omitted\n",
        f"* H\n{table}# … 1 line omitted\n",
        f"* H\n{table}| b |\n",
    ]
    block = "#+name: x\n#+begin_src sh\na\n"
    assert (
        states(f"* H\n{block}b\n#+end_src\n")[1] == f"* H\n{block}# … 1 line omitted\n#+end_src\n"
    )
    assert len(states("* H\n#+author: A\n| a |\n#+named: x\n| b |\n")) == 5


def test_line_ends_of_the_view() -> None:
    crlf = "* H\r\n#+begin_src\r\na\r\nb\r\n#+end_src"
    assert states(crlf)[1] == "* H\r\n#+begin_src\r\na\r\n# … 1 line omitted\r\n#+end_src\r\n"
    assert states("* H\r\na\nb")[1:] == ["* H\na\n# … 1 line omitted\n", "* H\na\nb\n"]


# --- Laws ----------------------------------------------------------------------------------------

PAIRS = (
    *[("#+begin_quote", "#+end_quote"), ("#+begin_src x", "#+end_src"), (":A:", ":END:")] * 2,
    *[("\\begin{a}", "\\end{a}")] * 2,
    *[("#+BEGIN: x", "#+END:"), ("  #+begin_a", "#+END_A  ")],
    *[(":PROPERTIES:", ":END:"), ("#+name: n", "| t |")],
)
OTHERS = (
    *["text", "text", "text.", "", "/slash", " \r", "\u3000wide", "#+TODO: X | Y", "#+TODO: X | Y"],
    *["  #+FILETAGS: :t:", "#+title: T", ":ID: not-mine", "  - item", "#+attr_x: 1", "# comment"],
)
HEADS = (
    *["", ":PROPERTIES:\n:ID: f\n:END:\n", "\n:PROPERTIES:\n:A: b\n:ID: f\n:END:\n"],
    *["* H\n", "* H :t:\nSCHEDULED: <2024-01-01 Mon>\n:PROPERTIES:\n:A: b\n:ID: h\n:END:\n"],
)
TAILS = ("", "\n", "\n* X\n#+TODO: Z\n")


@st.composite
def _hard_texts(draw: st.DrawFn) -> str:
    """Texts that are hard to cut: a few kinds of things in things, at any place."""
    pairs = draw(st.lists(st.sampled_from(PAIRS), min_size=1, max_size=2))
    others = draw(st.lists(st.sampled_from(OTHERS), min_size=1, max_size=2))
    pool = [*chain.from_iterable(pairs), *others]
    lines = draw(st.lists(st.sampled_from(pool), min_size=3, max_size=10))
    return draw(st.sampled_from(HEADS)) + "\n".join(lines) + draw(st.sampled_from(TAILS))


_texts = _hard_texts() | strategies.org_text()


@st.composite
def _nodes(draw: st.DrawFn) -> Node:
    nodes = outline(draw(_texts), "t.org").nodes
    short = [node for node in nodes if 0 < len(node.text) < 20_000]
    return draw(st.sampled_from(short or nodes[:1]))


nodes = _nodes()
many = settings(max_examples=300)
id_rules = st.sampled_from([str, None, lambda id_: id_[:8]])
entries = st.builds(entry, nodes, id_rules, st.booleans())


def each_state(of_node: Entry) -> Iterator[tuple[int, str]]:
    return ((state, of_node.text(state)) for state in range(len(of_node.order) + 1))


def source(node: Node) -> str:
    """The entry with the view's line ends, and a file's name above it."""
    newline = node.tree.newline
    text = node.text.replace("\r\n", "\n") if newline == "\n" else node.text
    text += newline if text and not text.endswith("\n") else ""
    if node.level:
        return text
    if node.drawer:
        text = re.sub(r"\A(?:[ \t]*\r?\n)+", "", text)
    return f"# t.org{newline}{text}"


def from_below(node: Node) -> str:
    """The keyword lines that a file node shows though they stand in other entries."""
    lines, settings = node.tree.text.split("\n"), node.tree.settings
    below = [lines[s.line - 1].removesuffix("\r") for s in settings if s.line > node.last_line]
    return "" if node.level else "".join(line + node.tree.newline for line in dict.fromkeys(below))


@many
@given(entries)
def test_the_last_state_is_the_entry_as_it_stands(of_node: Entry) -> None:
    last = of_node.text(len(of_node.order))
    assert last == source(of_node.node) + from_below(of_node.node)


@many
@given(nodes, id_rules)
def test_the_first_state_is_the_skeleton(node: Node, ids: Callable[[str], str] | None) -> None:
    brief, of_node = skeleton(node, ids), entry(node, ids)
    assert brief.text(0) == of_node.text(0)
    assert (brief.order, list(brief.runs(0)), list(of_node.runs(0))) == ((), [], [])


@many
@given(nodes, st.sampled_from([str, None]), st.booleans())
def test_states_grow(node: Node, ids: Callable[[str], str] | None, is_target: bool) -> None:
    shown = [
        Counter(line for line in text.split("\n") if not MARK.fullmatch(line))
        for _, text in each_state(entry(node, ids, is_target))
    ]
    assert all(less <= more for less, more in pairwise(shown))
    assert all(less.total() < more.total() for less, more in pairwise(shown))


@many
@given(entries)
def test_shown_and_announced_lines_are_all_lines(of_node: Entry) -> None:
    lines = source(of_node.node).count("\n")
    below = from_below(of_node.node).count("\n")
    for state, text in each_state(of_node):
        marks = [int(number) for number in MARK.findall(text)]
        assert all(number > 0 for number in marks)
        assert sum(marks) == of_node.lines_left_out(state)
        if state or of_node.is_target:
            assert text.count("\n") - len(marks) - below + sum(marks) == lines
        else:
            assert marks == []


@pytest.mark.parametrize("encoding", ENCODINGS)
@given(of_node=entries, data=st.data())
def test_the_ledger_knows_the_cost_of_every_state(
    encoding: str, of_node: Entry, data: st.DataObject
) -> None:
    measure = partial(count, encoding=encoding)
    priced = Priced(of_node, measure)
    for state in data.draw(st.lists(st.integers(0, len(of_node.order)), max_size=4)):
        marks = sum(measure(of_node.mark(run)) for run in of_node.runs(state))
        assert priced.marks(state) == marks
        assert priced.base(state) + marks == measure(of_node.text(state))


@many
@given(entries)
def test_blocks_are_whole_or_closed(of_node: Entry) -> None:
    """What is shown of a block begins and ends as the block does, and nothing else is a block."""
    lines = _lines(of_node)
    blocks = [each for each in elements(lines) if not each.is_drawer and each.kind[0] != "\\"]
    assume(not any(each.kind[0] == "\\" for each in elements(lines)))
    kept = _reduced(of_node.node, lines, elements(lines), None)  # around a keyword of the file
    for state, text in each_state(of_node):
        shown = _shown(of_node, state)
        begun = [each.kind for each in blocks if each.first in shown or each.first in kept]
        found = [each.kind for each in elements(text.split("\n")) if not each.is_drawer]
        assert found == begun


def _lines(of_node: Entry) -> list[str]:
    return [f"{line}\n" for line in source(of_node.node).split("\n")[:-1]]


def _spans(of_node: Entry) -> list[range]:
    """The lines of each piece, as indices into `_lines`."""
    stops = [0, *accumulate(piece.text.count("\n") for piece in of_node.pieces)]
    return [range(first, stop) for first, stop in pairwise(stops)]


def _shown(of_node: Entry, state: int) -> set[int]:
    spans = _spans(of_node)
    return {line for index in of_node.order[:state] for line in spans[index]}


@many
@given(entries)
def test_drawers_are_whole_or_absent(of_node: Entry) -> None:
    spans = _spans(of_node)
    for drawer in elements(_lines(of_node)):
        if drawer.is_drawer:
            inside = [span for span in spans if drawer.first in span or drawer.last in span]
            assert len(inside) == 1


@many
@given(nodes, st.booleans())
def test_a_state_is_read_as_the_entry_is(node: Node, is_target: bool) -> None:
    """No mark parts a headline from its drawer, and no keyword comes alive."""
    of_node = entry(node, str, is_target)
    keywords = Counter(_settings(of_node.text(len(of_node.order))))
    for _, text in each_state(of_node):
        again = outline(text, "t.org").nodes
        same = again[min(node.level, 1)]
        assert len(again) == 1 + min(node.level, 1)
        assert (same.id, same.level) == (node.id, node.level)
        assert node.id or same.custom_id == node.custom_id
        assert Counter(_settings(text)) <= keywords


def _settings(text: str) -> list[str]:
    lines = text.split("\n")
    return [lines[setting.line - 1] for setting in outline(text, "t.org").settings]


# --- Where counts add up -------------------------------------------------------------------------


def _wrong(pairs: set[tuple[str, str]], encoding: str) -> list[tuple[str, str]]:
    measure = partial(count, encoding=encoding)
    promised = [pair for pair in pairs if is_split(*pair)]
    return [(a, b) for a, b in promised if measure(a + b) != measure(a) + measure(b)]


@pytest.mark.parametrize("encoding", ENCODINGS)
@given(text=strategies.org_text())
def test_counts_add_up_between_lines_of_notes(encoding: str, text: str) -> None:
    lines = [f"{line}\n" for line in text.split("\n") if len(line) < 10_000]
    assert _wrong(set(pairwise(lines)), encoding) == []


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_counts_add_up_at_odd_characters(encoding: str) -> None:
    odd = [*strategies.ODD_CHARACTERS, *" /-aé1你'", ""]
    ends = [f"{char}{end}" for char in odd for end in ("\n", "\r\n", "\n \n")]
    starts = [f"{one}{two}x\n" for one, two in product(odd, repeat=2)]
    pairs = {(f"x.{end}", start) for end in ends for start in starts[:: len(ends)]}
    pairs |= {("x.\n", start) for start in starts} | {("-\r\n", start) for start in starts}
    assert _wrong(pairs, encoding) == []
    assert sum(is_split(*pair) for pair in pairs) > len(pairs) / 2


@pytest.mark.parametrize(
    ("before", "line", "is_certain"),
    [
        ("text.\n", "* H\n", True),
        ("text.\n", "text\n", True),
        ("\n", "text\n", True),
        ("x\r\n", "  indented\n", True),
        ("letter\n", "/path\n", True),
        ("stop.\n", "/path\n", False),
        ("\n", "/path\n", False),
        ("x\n", "\n", False),
        ("x\n", " \t\n", False),
        ("x\n", " \r x\n", False),
    ],
)
def test_where_it_is_certain(before: str, line: str, is_certain: bool) -> None:
    assert is_split(before, line) is is_certain


# --- Growth --------------------------------------------------------------------------------------

GROWTH = {
    "lines": (2_000, lambda n: "text\n" * n),
    "drawers": (200, lambda n: ":A:\nx\n:END:\n" * n),
    "blocks": (500, lambda n: "#+begin_src\nx\ny\n#+end_src\n" * n),
    "blocks in blocks": (100, lambda n: "#+begin_a\n" * n + "x\n" + "#+end_a\n" * n),
    "blank lines": (10_000, lambda n: "\n" * n),
}


@pytest.mark.parametrize("name", GROWTH)
def test_eight_times_as_much_takes_less_than_24_times_as_long(name: str) -> None:
    size, make = GROWTH[name]
    check_growth(lambda node: entry(node, str).order, lambda n: node_of(f"* H\n{make(n)}"), size)
