"""Search, against a plain scan: each hit on one page, and no page costs more than it may."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any
from unicodedata import normalize

import emacs
import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from memexes import Trees, memexes
from views import SIZES

from orgctx import BudgetTooSmall, NotFound, open_memex
from orgctx.core.model import Node, Tree
from orgctx.core.outline import outline
from orgctx.core.privacy import conceal
from orgctx.store.files import decode
from orgctx.store.store import Store
from orgctx.surfaces.output import to_json
from orgctx.views import searching
from orgctx.views.patterns import WIDTH, caseless
from orgctx.views.query import Query
from orgctx.views.searching import LINES, Found, FoundEntry, Page, search, to_data
from orgctx.views.view import Limit

count = SIZES["o200k_base"]
PLENTY = Limit(10**9)
PRIVATE = frozenset({"private", "a"})
Line = tuple[str, int]


class Concealed(Trees):
    """A store of trees as they may be shown."""

    def __init__(self, trees: list[Tree]) -> None:
        super().__init__([conceal(tree, PRIVATE) for tree in trees])

    def tree(self, path: str) -> Tree:
        tree = super().tree(path)
        if not tree.nodes:
            raise NotFound(f"{path}: there is no such file", where=path)
        return tree


def visible_lines(tree: Tree) -> Iterator[tuple[int, str]]:
    """The lines of a file that anybody may see, by the words of the contract."""
    lines = tree.text.replace("\r\n", "\n").split("\n")
    for node in tree.nodes:
        above = [*node.ancestors, node]
        tags = {tag for each in above for tag in each.tags}
        if tags & PRIVATE or any("crypt" in each.tags for each in node.ancestors):
            continue
        last = node.last_line
        if "crypt" in node.tags:
            last = node.first_line if node.level else 0
        for number in range(node.first_line, last + 1):
            yield number, lines[number - 1]


def scan(trees: list[Tree], is_hit: Callable[[str], Any]) -> set[Line]:
    """What a plain scan finds."""
    return {
        (tree.path, number)
        for tree in trees
        for number, line in visible_lines(tree)
        if is_hit(normalize("NFC", line))
    }


def pages(store: Store, query: Query, limit: int, budget: Limit = PLENTY) -> Iterator[Found]:
    """All pages; a budget too small for one of them is raised for it."""
    after = ""
    while True:
        try:
            found = search(store, query, Page(limit, after), budget)
        except BudgetTooSmall as error:
            found = search(store, query, Page(limit, after), budget._replace(budget=error.needed))
        yield found
        if found.cursor is None:
            return
        assert found.cursor != after
        after = found.cursor


def entry_lines(each: FoundEntry) -> list[Line]:
    return [(each.path, hit.line) for hit in each.hits]


def found_lines(store: Store, query: Query, limit: int, budget: Limit = PLENTY) -> list[Line]:
    """All hit lines: those on the pages, and those that a page only counts, asked for by entry."""
    lines: list[Line] = []
    counted: Counter[str] = Counter()
    begun: dict[str, int] = {}
    for found in pages(store, query, limit, budget):
        for each in found.entries:
            begun[each.address] = begun.get(each.address, 0) + len(each.hits)
            counted[each.address] = begun[each.address] + each.left_out
            lines += entry_lines(each)
    for address, total in counted.items():
        if total > begun[address]:
            node = query._replace(path=address)
            own = [
                line
                for found in pages(store, node, limit, budget)
                for each in found.entries
                if each.address == address
                for line in entry_lines(each)
            ]
            assert len(own) == total
            lines += [line for line in own if line not in lines]
    return lines


# --- Laws ----------------------------------------------------------------------------------------

PATTERNS = (
    *("e", "TODO", ":ID:", " ", "id-1", "end_src", "Notes", ".", "* ", "(", "[", "\\", "\r", "\0"),
    *(
        "é",
        "e\u0301",
        "résumé",
        "re\u0301sume\u0301",
        "你",
        "世界",
        "ключ",
        "<|endoftext|>",
        "%",
        "_",
    ),
    *('"', "'", "Beds", "\u2028", "\x85", "🚀", "-", "crypt", "private", "nothing of that"),
)


@st.composite
def patterns(draw: st.DrawFn, trees: list[Tree]) -> str:
    """A usual one, or a piece of a line."""
    text = draw(st.sampled_from(trees)).text
    if not text or draw(st.booleans()):
        return draw(st.sampled_from(PATTERNS))
    start = draw(st.integers(0, len(text) - 1))
    piece = text[start : start + draw(st.integers(1, 12))].split("\n")[0]
    return piece or "e"


@given(st.data(), memexes(), st.integers(1, 4), st.integers(1, 400))
def test_hits_are_those_of_a_plain_scan(data, trees, limit, budget):
    pattern = data.draw(patterns(trees))
    wanted = normalize("NFC", pattern)
    expected = scan(trees, lambda line: wanted in line)
    event("nothing" if not expected else "one page" if len(expected) < 5 else "several pages")
    for limits in ((1000, PLENTY), (limit, Limit(budget))):
        lines = found_lines(Concealed(trees), Query(pattern), *limits)
        assert len(lines) == len(set(lines))
        assert set(lines) == expected


@given(st.data(), memexes())
def test_case_is_ignored_as_unicode_folds_it(data, trees):
    def fold(text):
        return normalize("NFC", normalize("NFD", text).casefold())

    wanted = fold(pattern := data.draw(patterns(trees)))
    expected = scan(trees, lambda line: wanted in fold(line))
    for form in (pattern, pattern.upper(), normalize("NFD", pattern)):
        if fold(form) == wanted:
            query = Query(form, ignore_case=True)
            assert set(found_lines(Concealed(trees), query, 1000)) == expected


EXPRESSIONS = (
    *(r"^\*+ ", r"[0-9]+", r"[a-z]+_[a-z]+$", r"^$", r"x|y", r"\bTODO\b", r".", r"^#\+", r"a*"),
    *(r"^[^ ]+$", r"(é|a)b?", "e\u0301", r"\.$", r"[一-龥]+", r"^:(ID|CUSTOM_ID):", r"\At", r"\|"),
)


@given(memexes(), st.sampled_from(EXPRESSIONS), st.booleans())
def test_an_expression_is_matched_with_each_line(trees, pattern, ignore_case):
    flags = re.ASCII | (re.IGNORECASE if ignore_case else 0)
    is_hit = re.compile(normalize("NFC", pattern), flags).search
    expected = scan(trees, is_hit)
    query = Query(pattern, regexp=True, ignore_case=ignore_case)
    assert set(found_lines(Concealed(trees), query, 1000)) == expected


def needed(store: Store, query: Query, page: Page, shape: searching.Shape) -> int:
    """The smallest budget of a page."""
    try:
        search(store, query, page, Limit(1), shape)
    except BudgetTooSmall as error:
        return error.needed
    return 1


@given(st.data(), memexes(), st.integers(1, 900), st.integers(1, 60))
def test_no_page_costs_more_than_its_budget(data, trees, budget, limit):
    query, page, store = Query(data.draw(patterns(trees))), Page(limit), Concealed(trees)
    for shape in (searching.to_text, lambda found: to_json(to_data(found))):
        smallest = needed(store, query, page, shape)
        event("too small" if budget < smallest else "enough")
        if budget < smallest:
            with pytest.raises(BudgetTooSmall) as raised:
                search(store, query, page, Limit(budget), shape)
            assert raised.value.needed == smallest
        found = search(store, query, page, Limit(max(budget, smallest)), shape)
        assert count(shape(found)) <= max(budget, smallest)
        assert len(found.entries) <= limit


def nfc(text: str) -> str:
    return normalize("NFC", text)


def has(node: Node, wanted: str) -> bool:
    """Whether a node has a property that may be asked for."""
    key, is_pair, value = wanted.partition("=")
    if not key or ("crypt" in node.tags and key.upper() != "ID"):
        return not key
    own = node.get_property(key)
    return own is not None and (not is_pair or own == value)


@given(st.data(), memexes(), st.integers(1, 5))
def test_every_entry_with_a_keyword_tag_or_property_is_on_one_page(data, trees, limit):
    keyword = data.draw(st.sampled_from(["TODO", "DONE", "NEXT", ""]))
    tag = data.draw(st.sampled_from(["x", "work", "工作", "e\u0301", ""]))
    name = data.draw(st.sampled_from(["ID", "id", "TOPIC=emacs [[id:id-1][org]]", ""]))
    if not (keyword or tag or name):
        return
    query = Query(todo=(keyword,) * bool(keyword), tag=(tag,) * bool(tag),
                  property=(name,) * bool(name))  # fmt: skip
    expected = [
        (tree.path, node.first_line, node.level)
        for tree in (conceal(tree, PRIVATE) for tree in trees)
        for node in tree.nodes
        if keyword in ("", node.todo)
        and normalize("NFC", tag) in [*map(nfc, node.inherited_tags), ""]
        and has(node, name)
    ]
    found = [
        (each.path, each.line, each.level)
        for page in pages(Concealed(trees), query, limit)
        for each in page.entries
    ]
    assert sorted(found) == sorted(expected)
    assert len(set(found)) == len(found)


@given(st.data(), memexes())
def test_what_is_left_out_adds_up(data, trees):
    query, store = Query(data.draw(patterns(trees))), Concealed(trees)
    found = search(store, query, Page(10**6), PLENTY)
    assert (found.left_out, found.cursor) == (0, None)
    total, seen = len(found.entries), 0
    for page in pages(store, query, 2):
        seen += len(page.entries)
        assert page.left_out == total - seen
        says = re.search(r"^… (?:for .*; )?and (\d+) more entr(?:y|ies): ", page.text, re.MULTILINE)
        assert (int(says[1]) if says else 0) == page.left_out


@given(st.text(st.sampled_from("aAéßİ\u0301你 ﬁ"), min_size=150, max_size=900), st.data())
def test_a_long_line_is_cut_around_the_hit(line, data):
    start = data.draw(st.integers(0, len(line) - 1))
    pattern = line[start : start + data.draw(st.integers(1, 40))]
    ignore_case = data.draw(st.booleans())
    store = Trees([outline(f"* x\n{line}\n", "a.org")])
    for entry in search(store, Query(pattern, "", False, ignore_case), Page(), PLENTY).entries:
        for _, text in entry.hits:
            fold = caseless if ignore_case else nfc
            shown = text.removeprefix("…").removesuffix("…")
            assert len(shown) <= WIDTH
            assert shown in line or text == "* x"
            assert (text == line) == (len(line) <= WIDTH) or text == "* x"
            assert fold(pattern) in fold(shown)


# --- Real notes ----------------------------------------------------------------------------------


@pytest.mark.corpora
def test_real_notes_have_the_hits_of_a_plain_scan() -> None:
    root = emacs.corpus_root()
    assert root
    memex, texts = open_memex(root), {}
    for place in emacs.corpora():
        path = place.relative_to(root).as_posix()
        texts[path] = normalize("NFC", decode(place.read_bytes(), path)[0]).replace("\r\n", "\n")
    for pattern in ("orgctx", "TODO", "heading", "文化", "résumé", "#+begin_src", "(defun ", "…"):
        expected = {
            (path, number)
            for path, text in texts.items()
            if pattern in text
            for number, line in enumerate(text.split("\n"), 1)
            if pattern in line
        }
        store = memex._store
        shown, capped, after = set(), 0, ""
        while after is not None:
            found = search(store, Query(pattern), Page(200, after), Limit(20_000))
            assert count(found.text) <= 20_000
            lines = {line for each in found.entries for line in entry_lines(each)}
            assert not lines & shown
            shown |= lines
            capped += sum(each.left_out for each in found.entries if len(each.hits) == LINES)
            after = found.cursor
        assert shown <= expected
        hidden = {line for line in expected - shown if is_sealed(store, *line)}
        assert len(expected) - len(shown) - len(hidden) <= capped


def is_sealed(store: Store, path: str, line: int) -> bool:
    """Whether a line is none that the store shows."""
    nodes = store.tree(path).nodes
    return not any(node.first_line <= line <= node.last_line for node in nodes)


@pytest.mark.corpora
def test_a_page_that_is_cut_by_its_budget_is_nearly_used_up() -> None:
    root = emacs.corpus_root()
    assert root
    memex = open_memex(root)
    for pattern in ("the", "org", "e"):
        for budget in (500, 1000, 4000):
            found = memex.grep(pattern, budget=budget, limit=1000)
            assert found.cursor
            assert 0.8 * budget <= count(found.text) <= budget
