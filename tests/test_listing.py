"""ls: one level at a time, bounded, and a refusal that shows the way."""

import json
from collections import Counter
from pathlib import Path

import emacs
import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from memexes import store_of

from orgctx.core.outline import outline
from orgctx.errors import BudgetTooSmall, NotFound, OrgctxError
from orgctx.store.opening import open_store
from orgctx.store.store import Store
from orgctx.surfaces.cli import run
from orgctx.tokens import count
from orgctx.views.listing import ls, to_data
from orgctx.views.view import Limit

NOTES = {
    "a.org": "#+title: Alpha\nintro\n* TODO One :x:\n** Two\n*** Three\n* Four\n",
    "b.org": "* Only\n",
    "p/c.org": "* C\n",
    "p/q/d.org": "* D\n** E\n",
    "z/e.org": "",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    for path, text in NOTES.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    return folder


def stores(*roots):
    """The same notes, known from the database and read from the files."""
    return open_store(roots), Store(roots)


def lines(store, path="", **options):
    return ls(store, path, Limit(), **options).text.split("\n")[:-1]


def bare(text):
    """A listing's lines without the summaries."""
    return [line.partition(": ")[0] for line in text if not line.startswith(" ")]


def test_every_level_in_turn(root: Path) -> None:
    for store in stores(root):
        assert bare(lines(store)) == ["notes — 5 files, 8 headlines"]
        assert bare(lines(store, "notes")) == [
            "p/ — 2 files, 3 headlines",
            "z/ — 1 file, 0 headlines",
            f"a.org — Alpha — 4 headlines, {count(NOTES['a.org'])} tokens",
            "b.org — b.org — 1 headline, 3 tokens",
        ]
        assert bare(lines(store, "p/"))[0] == "p/q/ — 1 file, 2 headlines"
        assert lines(store, "a.org") == [
            "a.org::One — TODO One :x: — 2 headlines, 12 tokens",
            "a.org::Four — Four — 0 headlines, 3 tokens",
        ]
        assert lines(store, "a.org::One/Two") == [
            "a.org::One/Two/Three — Three — 0 headlines, 3 tokens"
        ]
        assert lines(store, "a.org::Four") == []


def test_the_way_down_begins_with_the_name_of_the_root(root: Path) -> None:
    for store in stores(root):
        assert lines(store, "notes/p") == lines(store, "p") == lines(store, "notes/p/")
        assert lines(store, "notes/a.org") == lines(store, "a.org")


def test_roots_are_listed_in_their_order_even_when_empty(root: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for store in stores(root, tmp_path / "empty"):
        assert bare(lines(store)) == [
            "notes — 5 files, 8 headlines",
            "empty — 0 files, 0 headlines",
        ]
        assert bare(lines(store, "notes/p"))[0] == "notes/p/q/ — 1 file, 2 headlines"
        assert lines(store, "empty") == []


@pytest.mark.parametrize(
    ("path", "message", "hint"),
    [
        ("other", "other: no such root", "the roots are: notes"),
        ("p/r", "p/r: no such folder", "the folders in p/ are: p/q/"),
        ("p/q/r/s/", "p/q/r/s/: no such folder", "p/q/ has no folder"),
        ("p/x.org", "p/x.org: there is no such file", ""),
        ("a.org::Ones", "a.org::Ones: no such node", "did you mean a.org::One?"),
        ("id:nowhere", "id:nowhere: no such node", ""),
    ],
)
def test_a_refusal_says_what_there_is(root: Path, path: str, message: str, hint: str) -> None:
    for store in stores(root):
        with pytest.raises(NotFound) as raised:
            ls(store, path, Limit())
        assert raised.value.message == message
        assert hint in raised.value.hint


def test_pages_cover_all_of_it_once(tmp_path: Path) -> None:
    for number in range(23):
        (tmp_path / f"f{number:02}").mkdir()
        (tmp_path / f"f{number:02}/x.org").write_text("* X\n", encoding="utf-8")
        (tmp_path / f"{number:02}.org").write_text("* H\n" * number, encoding="utf-8")
    for store in stores(tmp_path):
        for path, total in ((tmp_path.name, 46), ("22.org", 22)):
            seen, calls = Counter(), [{}]
            while calls:
                found = ls(store, path, Limit(), 5, **calls.pop())
                seen.update(row.address for row in found.rows)
                calls += [
                    {
                        "kind": rest.kind if rest.kind != "headline" else "all",
                        "after": rest.call.split(" ")[-1].strip("'"),
                    }
                    for rest in found.rest
                ]
            assert len(seen) == total
            assert set(seen.values()) == {1}


def test_what_is_left_out_is_counted_with_the_call_that_goes_on(tmp_path: Path) -> None:
    for number in range(7):
        (tmp_path / f"{number}.org").write_text("", encoding="utf-8")
    for store in stores(tmp_path):
        text = ls(store, tmp_path.name, Limit(), 2).text
        assert text.endswith(
            "\n… and 5 more files in this folder: use grep PATTERN to find a specific one,"
            f" or orgctx ls {tmp_path.name} --kind file --after 1.org\n"
        )


def least(store, most):
    """The smallest budget for a listing."""
    try:
        return ls(store, "a.org", Limit(1), most).tokens
    except BudgetTooSmall as error:
        return error.needed


@given(
    st.lists(st.text(st.characters(categories=("L", "N", "P", "S")), max_size=40), max_size=30),
    st.integers(1, 400),
    st.integers(1, 60),
)
def test_a_listing_never_costs_more_than_its_budget(titles, budget, most):
    tree = outline("".join(f"* {title}\n" for title in titles), "a.org")
    store = store_of([tree])
    needed = least(store, most)
    if budget < needed:
        event("too small")
        with pytest.raises(BudgetTooSmall):
            ls(store, "a.org", Limit(budget), most)
        budget = needed
    found = ls(store, "a.org", Limit(budget), most)
    assert count(found.text) == found.tokens <= budget
    assert len(found.rows) + sum(rest.more for rest in found.rest) == len(titles)
    event("whole" if not found.rest else "cut")


def test_private_notes_are_in_no_count(root: Path) -> None:
    (root / "orgctx.toml").write_text('private_tags = ["x", "hush"]\n', encoding="utf-8")
    (root / "z/e.org").write_text("#+filetags: :hush:\n* H\n", encoding="utf-8")
    for store in stores(root):
        assert bare(lines(store)) == ["notes — 4 files, 5 headlines"]
        assert not any("z/" in line or "One" in line for line in lines(store, "notes"))
        with pytest.raises(OrgctxError):
            ls(store, "z", Limit())


def test_json_has_the_same_fields(root: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert run(["ls", "p", "--root", str(root), "--json"]) == 0
    data = json.loads(capfdbinary.readouterr().out)
    assert data == json.loads(json.dumps(to_data(ls(open_store([root]), "p", Limit()))))
    assert [row["address"] for row in data["rows"]] == ["p/q/", "p/c.org"]


@pytest.mark.corpora
def test_counts_are_those_of_a_plain_walk() -> None:
    known, plain = stores(emacs.corpus_root())
    files, headlines = Counter(), Counter()
    for file in plain.files():
        parts = file.path.split("/")[:-1]
        for folder in ("/".join(parts[:n]) for n in range(len(parts) + 1)):
            files[folder] += 1
            headlines[folder] += file.headlines
    found, folders = {}, [known.folder("")]
    while folders:
        folder = folders.pop()
        found[folder.path] = folder.files, folder.headlines
        folders += known.folders_in(folder.path, 10**6)[0]
    assert found == {path: (files[path], headlines[path]) for path in files}
