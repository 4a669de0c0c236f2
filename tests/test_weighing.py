"""tokens: where they are, exactly, the heaviest first, a page at a time."""

import json
import shlex
from itertools import pairwise
from pathlib import Path

import pytest
from growth import check_growth
from hypothesis import event, given, settings
from hypothesis import strategies as st
from memexes import memexes, store_of
from notes import write
from program import Ask, as_json

from orgctx import open_memex
from orgctx.errors import BadArgument, BudgetTooSmall, NotFound
from orgctx.store.opening import open_store
from orgctx.store.store import Store
from orgctx.surfaces.output import to_json
from orgctx.tokens import count
from orgctx.views.focus import focus
from orgctx.views.listing import ls
from orgctx.views.view import Limit
from orgctx.views.weighing import Part, Parts, by_weight, shell_call, to_data, weigh

NOTES = {
    "a.org": "#+title: Alpha\nintro\n* TODO One :x:\n** Two\n*** Three\n"
    + "word " * 50
    + "\n* Four\n",
    "b.org": "* Only\n",
    "p/c.org": "* C\n" + "more words " * 40 + "\n",
    "p/q/d.org": "* D\n** E\n",
    "z/e.org": "",
}
TOTAL = sum(map(count, NOTES.values()))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write(tmp_path / "notes", NOTES)


def stores(*roots):
    """The same notes, known from the database and read from the files."""
    return open_store(roots), Store(roots)


def test_the_heaviest_come_first_below_what_holds_them(root: Path) -> None:
    for store in stores(root):
        found = weigh(store, "", Limit())
        assert (found.total, found.files, found.headlines, found.view) == (TOTAL, 5, 8, None)
        head, *rows = found.text.splitlines()
        assert head == f"5 files, 8 headlines: {TOTAL} tokens as a whole, at most 4000 in a view"
        assert [row.split("%  ")[1] for row in rows] == [
            "p/",
            "  p/c.org",
            "    p/c.org::C",
            "  p/q/",
            "    p/q/d.org",
            "      p/q/d.org::D",
            "        p/q/d.org::D/E",
            "a.org — Alpha",
            "  a.org::One",
            "    a.org::One/Two",
            "      a.org::One/Two/Three",
            "  a.org::Four",
            "b.org",
            "  b.org::Only",
            "z/",
            "  z/e.org",
        ]
        by_address = {row.address: row for row in found.rows}
        for path, text in NOTES.items():
            assert by_address[path].tokens == count(text)
        assert by_address["p/"].share == by_address["p/"].tokens / TOTAL


def test_of_a_note_a_view_is_told_as_it_is(root: Path) -> None:
    for store in stores(root):
        for path in ("a.org", "a.org::One"):
            found = weigh(store, path, Limit())
            assert found.view == focus(store, [path], Limit()).tokens
            assert f"{found.total} tokens as a whole, {found.view} in a view" in found.text
        text = NOTES["a.org"].partition("* TODO")[2].partition("* Four")[0]
        assert weigh(store, "a.org::One", Limit()).total == count("* TODO" + text)


def test_a_note_that_needs_more_than_the_budget_is_told_what(root: Path) -> None:
    """The page of a headline with nothing below it is one line, which may cost less than a view."""
    write(root, {"deep.org": "".join(f"{'*' * n} {'long title ' * 5}\n" for n in range(1, 9))})
    store = open_store([root])
    with pytest.raises(BudgetTooSmall) as raised:
        focus(store, ["deep.org:8"], Limit(60))
    assert weigh(store, "deep.org:8", Limit(60)).view == raised.value.needed > 60


def test_a_title_is_told_once_and_a_link_by_what_it_is_called(tmp_path: Path) -> None:
    """An address writes a slash in a title as `\\/`; that does not make it another title."""
    text = "* either/or\n* [[https://example.org][the link]]\n* </b>\n"
    store = open_store([write(tmp_path, {"a.org": text})])
    rows = weigh(store, "a.org", Limit()).text.splitlines()[1:]
    assert sorted(row.split("%  ")[1] for row in rows) == [
        "a.org::<\\/b>",
        "a.org::[[https:\\/\\/example.org][the link]]",
        "a.org::either\\/or",
    ]
    named = {"a.org": "* [[https://example.org][the link]]\n:PROPERTIES:\n:CUSTOM_ID: x\n:END:\n"}
    store = open_store([write(tmp_path / "named", named)])
    assert weigh(store, "a.org", Limit()).text.endswith("a.org::#x — the link\n")


def test_a_deep_place_stands_no_further_to_the_right_than_can_be_seen(tmp_path: Path) -> None:
    deep = "".join(f"{'*' * n} L{n}\n" for n in range(1, 1201))
    store = open_store([write(tmp_path, {"deep.org": deep})])
    last = weigh(store, "", Limit(), after="deep.org:1199").text.splitlines()[-1]
    assert last.endswith("%                  deep.org:1200 — L1200")


def test_no_notes_are_no_files(tmp_path: Path) -> None:
    head = weigh(open_store([tmp_path]), "", Limit()).text
    assert head == "0 files, 0 headlines: 0 tokens as a whole, at most 4000 in a view\n"


def everything(part: Part) -> list[Part]:
    return [each for below in part.below() for each in (below, *everything(below))]


@settings(max_examples=50)
@given(memexes())
def test_tokens_add_up_and_are_those_of_the_text(trees):
    store = store_of(trees)
    top = Parts(store).folder()
    assert top.tokens == sum(count("".join(n.lines)) for tree in trees for n in tree.nodes)
    assert top.files == len(trees)
    for part in (top, *everything(top)):
        below = [*part.below()]
        assert sum(each.tokens for each in below) <= part.tokens
        if part.kind == "folder":
            assert sum(each.tokens for each in below) == part.tokens
        elif part.node:
            nodes = part.node.tree.nodes[part.node.index : part.node.end_index]
            assert part.tokens == sum(count("".join(node.lines)) for node in nodes)
        assert part.headlines == sum(each.kind == "headline" for each in everything(part))


@settings(max_examples=50)
@given(memexes())
def test_parts_come_by_weight_and_none_before_what_holds_it(trees):
    top = Parts(store_of(trees)).folder()
    order = [*by_weight(top)]
    assert all(one < other for one, other in pairwise(order))
    places = {part: place for place, part in enumerate(order)}
    assert all(places.get(part.above, -1) < places[part] for part in order)
    assert len(order) == len(everything(top))
    event("equal weights" if len({p.tokens for p in order}) < len(order) else "all differ")


@settings(max_examples=50)
@given(memexes(), st.integers(20, 400), st.integers(1, 9))
def test_pages_within_a_budget_come_to_the_whole(trees, budget, lines):
    store = store_of(trees)
    whole = weigh(store, "", Limit(10**6), 10**6)
    assert whole.call == ""
    after, seen, pages = "", [], 0
    while pages == 0 or after:
        asked = (lines, after, lambda given: given["after"])
        try:
            found = weigh(store, "", Limit(budget), *asked)
        except BudgetTooSmall as error:
            budget = error.needed
            found = weigh(store, "", Limit(budget), *asked)
        assert found.tokens == count(found.text) <= budget
        assert 1 <= len(found.rows) <= lines
        seen, pages, after = [*seen, *found.rows], pages + 1, found.call
    assert sorted(seen) == sorted(whole.rows)
    event(f"{min(pages, 4)} pages")


def test_json_is_what_the_budget_holds_for(root: Path, ask: Ask) -> None:
    answer = ask("tokens", "p", "--root", root, "--json")
    store = open_store([root])
    shape = {"shape": lambda found: to_json(to_data(found))}
    assert as_json(answer) == json.loads(json.dumps(to_data(weigh(store, "p", Limit(), **shape))))
    assert [row["address"] for row in as_json(answer)["rows"]][:2] == ["p/c.org", "p/c.org::C"]
    for budget in (150, 200, 300):
        out = ask("tokens", "--root", root, "--json", "--budget", str(budget)).out
        assert count(out) <= budget


def test_the_command_goes_on_as_it_says(root: Path, ask: Ask) -> None:
    first = ask("tokens", "--root", root, "--limit", "3")
    call = shlex.split(first.out.splitlines()[-1].partition(": ")[2])
    second = ask(*call[1:])
    rows = [row.address for row in weigh(open_store([root]), "", Limit()).rows]
    shown = [
        line.split("%")[1].split()[0]
        for out in (first.out, second.out)
        for line in out.splitlines()[1:-1]
    ]
    assert (first.status, second.status, len(shown)) == (0, 0, 6)
    assert set(shown) <= set(rows)
    assert len(set(shown)) == 6


def test_several_roots_are_weighed_together(root: Path, tmp_path: Path) -> None:
    write(tmp_path / "more", {"f.org": "* F\n"})
    (tmp_path / "empty").mkdir()
    for store in stores(root, tmp_path / "more", tmp_path / "empty"):
        found = weigh(store, "", Limit())
        assert [r.address for r in found.rows if not r.depth] == ["notes/", "more/"]
        assert found.total == TOTAL + 3
        assert weigh(store, "memex", Limit()).rows == found.rows
        assert weigh(store, "empty", Limit()).text == (
            "0 files, 0 headlines: 0 tokens as a whole, at most 4000 in a view\n"
        )


def test_a_file_alone_is_weighed(root: Path, ask: Ask) -> None:
    memex = open_memex(root / "b.org")
    assert memex.tokens().total == count(NOTES["b.org"]) == memex.tokens(str(root / "b.org")).total
    assert "1 file, 1 headline: 3 tokens as a whole" in ask("tokens", root / "b.org").out


@pytest.mark.parametrize("after", ["b.org::Only", "p/", "a.org", "nosuch", "id:nosuch"])
def test_a_page_behind_what_is_not_in_it_is_refused(root: Path, after: str) -> None:
    for store in stores(root):
        with pytest.raises(BadArgument, match=r"^after: .*: not in p/q$"):
            weigh(store, "p/q", Limit(), after=after)


def test_what_is_not_there_is_refused_as_by_ls(root: Path) -> None:
    for store in stores(root):
        for path in ("p/r", "a.org::Ones", "other"):
            with pytest.raises(NotFound) as raised:
                weigh(store, path, Limit())
            with pytest.raises(NotFound) as listed:
                ls(store, path, Limit())
            assert str(raised.value) == str(listed.value)


def test_of_what_is_light_no_file_is_read(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = open_store([root])
    read = []
    tree = Store.tree
    monkeypatch.setattr(Store, "tree", lambda self, path: read.append(path) or tree(self, path))
    found = weigh(store, "", Limit(), lines=2)
    assert [row.address for row in found.rows] == ["p/", "p/c.org"]
    assert set(read) == {"p/c.org"}


def test_for_one_file_no_other_is_counted(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for store in stores(root):
        asked, counted = [], store.counted_files
        monkeypatch.setattr(store, "counted_files", lambda a=asked, c=counted: a.append(1) or c())
        assert weigh(store, "a.org", Limit()).total == count(NOTES["a.org"])
        assert not asked
        assert weigh(store, "", Limit()).total == TOTAL
        assert asked


def test_time_grows_with_the_notes(tmp_path: Path) -> None:
    def many(size: int) -> Store:
        files = {f"{n % 7}/{n}.org": f"* H{n}\ntext\n** I\n" for n in range(size)}
        return open_store([write(tmp_path / str(size), files)])

    check_growth(lambda store: weigh(store, "", Limit(10**9), 10**6), many, 40)


def test_the_call_names_what_was_given() -> None:
    call = shell_call("--root", "my notes")
    assert call({"path": "", "after": "p/"}) == "orgctx tokens --root 'my notes' --after p/"
