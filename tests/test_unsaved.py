"""Unsaved text counts: a view of a note as an editor has it is the view of that note saved so."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from notes import snapshot, with_id, write
from program import Ask, as_json
from stores import opened, rows, stored_bytes
from strategies import org_text, sample

from orgctx.core.model import View
from orgctx.errors import Ambiguous, NotFound, OrgctxError
from orgctx.store.address import resolve
from orgctx.store.names import Names
from orgctx.store.opening import database_file
from orgctx.store.store import Store
from orgctx.views import focus as focusing
from orgctx.views.view import Limit

HERE = Path()
ID = "5f0c9a1e-1000-4000-8000-00000000000"
SAVED = f"* Before\n{with_id('Roof', ID + '1')}old tiles\n* Last\n"
UNSAVED = f"{with_id('New', ID + '2')}* Before\n{with_id('Roof', ID + '1')}new tiles\n** Gutter\n"
OTHER = f"* Other\n[[id:{ID}1]] and [[id:{ID}2]]\n"


@pytest.fixture
def ask(home: Path, ask: Ask) -> Ask:
    """Run the program in a folder with notes in it."""
    write(home, {"notes/house.org": SAVED, "notes/other.org": OTHER})
    return ask


# --- A view of unsaved text ----------------------------------------------------------------------

WAYS: dict[str, tuple[str, ...]] = {
    "alone": (),
    "root": ("--root", "notes"),
    "fisheye": ("--root", "notes", "--lens", "fisheye"),
    "short": ("--root", "notes", "--ids", "short", "--format", "json"),
}


@pytest.mark.parametrize("way", WAYS)
def test_the_view_is_that_of_the_text_saved(ask: Ask, way: str) -> None:
    call = ("focus", *WAYS[way])
    if "--root" in call:
        ask("sync", "notes")
    unsaved = ask(*call, "--stdin-path", "notes/house.org:9", given=UNSAVED)
    write(HERE, {"notes/house.org": UNSAVED})
    ask("sync", "notes")
    assert "new tiles" in unsaved.out
    assert unsaved == ask(*call, "notes/house.org:9")


def test_by_default_roots_the_view_is_the_same(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ORGCTX_ROOT", os.path.abspath("notes"))
    monkeypatch.chdir("notes")
    unsaved = ask("focus", "--lens", "fisheye", "--stdin-path", "house.org:9", given=UNSAVED)
    write(HERE, {"house.org": UNSAVED})
    assert unsaved == ask("focus", "--lens", "fisheye", "house.org:9")
    assert "* Other" in unsaved.out


def test_other_addresses_are_looked_up_in_the_text(ask: Ask) -> None:
    call = ("focus", "--stdin-path", "notes/house.org", "--root", "notes")
    assert "** Gutter" in ask(*call, "house.org::Roof/Gutter", given=UNSAVED).out
    assert "new tiles" in ask(*call, f"id:{ID}1", given=UNSAVED).out
    assert "* New" in ask(*call, f"id:{ID}2", given=UNSAVED).out
    assert "no such node" in ask(*call, "house.org::Last", given=UNSAVED).err
    several = ask(
        "focus", "--stdin-path", "notes/house.org:9", "notes/house.org::New", given=UNSAVED
    )
    assert "new tiles" in several.out
    assert ID + "2" in several.out


def test_a_file_alone_is_the_address(ask: Ask) -> None:
    shown = as_json(ask("focus", "--json", "--stdin-path", "notes/house.org", given="text\n* A\n"))
    assert shown["targets"][0]["level"] == 0
    assert shown["text"] == "# notes/house.org\ntext\n* A\n"


@pytest.mark.parametrize("root", [(), ("--root", "notes")])
def test_a_note_that_was_never_saved(ask: Ask, root: tuple[str, ...]) -> None:
    answer = ask("focus", *root, "--stdin-path", "notes/new.org:2", given="* A\n** B\ntext\n")
    assert (answer.status, answer.err) == (0, "")
    assert answer.out.endswith("* A\n** B\ntext\n")
    assert not Path("notes/new.org").exists()


def test_text_is_read_as_a_file_is(ask: Ask) -> None:
    call = ("focus", "--stdin-path", "notes/house.org:1")
    assert ask(*call, given=b"\xef\xbb\xbf* A\r\ntext\r\n").out.endswith("* A\r\ntext\r\n")
    latin = "# -*- coding: latin-1 -*-\n* é\n".encode("latin-1")
    assert "* é" in ask(*call, given=latin).out
    refused = ask(*call, given=b"* \xff\n")
    assert (refused.status, refused.out) == (1, "")
    assert "not UTF-8" in refused.err


def test_private_text_stays_private(ask: Ask) -> None:
    write(HERE, {"notes/orgctx.toml": 'private_tags = ["secret"]\n'})
    text = "* A\n* B :secret:\nhidden\n* C :crypt:\ndecrypted\n"
    for line, status in ((1, 0), (3, 1), (5, 0)):
        answer = ask(
            "focus", "--root", "notes", "--stdin-path", f"notes/house.org:{line}", given=text
        )
        assert answer.status == status
        assert not any(word in answer.out + answer.err for word in ("hidden", "decrypted"))


def test_an_editors_lock_is_no_reason_to_complain(ask: Ask) -> None:
    Path("notes/.#house.org").symlink_to("me@here.1")
    assert "unsaved" in ask("focus", "notes/house.org:1").err
    assert ask("focus", "--stdin-path", "notes/house.org:1", given=UNSAVED).err == ""


BAD: dict[tuple[str, ...], str] = {
    ("--stdin-path", "notes/house.org:99"): "no such line",
    ("--stdin-path", "notes/house.txt:1"): "not an Org file",
    ("--stdin-path", "nowhere/new.txt:1", "--root", "notes"): "no such file",
    ("--stdin-path", "outside.org:1", "--root", "notes"): "outside.org",
    ("--stdin-path", ""): "ADDRESS",
}


@pytest.mark.parametrize(("arguments", "words"), BAD.items())
def test_what_cannot_be_read_is_refused(ask: Ask, arguments: tuple[str, ...], words: str) -> None:
    answer = ask("focus", *arguments, given=UNSAVED)
    assert answer.status in (1, 2)
    assert words in answer.err
    assert (answer.out, answer.err.count("\n")) == ("", 1)


def test_a_link_out_of_the_root_leads_nowhere(ask: Ask) -> None:
    write(HERE, {"outside.org": "* Outside\n"})
    Path("notes/link.org").symlink_to("../outside.org")
    answer = ask("focus", "--root", "notes", "--stdin-path", "notes/link.org:1", given="* A\n")
    assert (answer.status, answer.out) == (1, "")


# --- Nothing of it is remembered -----------------------------------------------------------------


def test_the_store_and_the_notes_stay_as_they_are(ask: Ask) -> None:
    ask("sync", "notes")
    known, files = rows(database_file()), snapshot(Path("notes"))
    for lens in focusing.LENSES:
        call = ("focus", "--root", "notes", "--lens", lens, "--stdin-path", "notes/house.org:9")
        assert "new tiles" in ask(*call, given=UNSAVED).out
        assert ask("where", "--root", "notes", *call[-2:], given=UNSAVED).status == 0
    assert rows(database_file()) == known
    assert snapshot(Path("notes")) == files
    assert b"tiles" in stored_bytes()
    assert b"new tiles" not in stored_bytes()
    assert "old tiles" in ask("focus", "--root", "notes", "house.org::Roof").out


def test_counts_of_lines_are_not_remembered_either(home: Path) -> None:
    store = opened(write(home / "n", {"a.org": "* A\n"})).edited("a.org", b"* Unheard-of words\n")
    before = stored_bytes()
    assert store.page_counter("tokens", "o200k_base")("* Unheard-of words\n") > 3
    assert stored_bytes() == before


# --- Laws ----------------------------------------------------------------------------------------


def told(store: Store, line: int, lens: str) -> View | tuple[type, str]:
    """The view of a line of a.org, or why there is none."""
    try:
        return focusing.focus(store, [f"a.org:{line}"], Limit(400), lens)
    except OrgctxError as error:
        return type(error), error.message


def test_any_text_unsaved_is_shown_as_it_is_when_saved(home: Path) -> None:
    texts = sample(org_text(), 90)
    for old, new, other in zip(texts[::3], texts[1::3], texts[2::3], strict=True):
        root = write(home / "n", {"a.org": old, "b.org": other})
        store = opened(root)
        store.freshen()
        edited = [each.edited("a.org", new.encode()) for each in (store, Store([root]))]
        found = [told(each, n, lens) for each in edited for n in (1, 5) for lens in focusing.LENSES]
        write(root, {"a.org": new})
        saved = Store([root])
        wanted = [told(saved, n, lens) for _ in edited for n in (1, 5) for lens in focusing.LENSES]
        for one, two in zip(found, wanted, strict=True):
            if isinstance(one, View) and isinstance(two, View):
                assert one.text == two.text
                assert [each.address for each in one.shown] == [each.address for each in two.shown]
            else:
                assert one == two


def test_each_address_leads_back_in_the_text(home: Path) -> None:
    root = write(home / "n", {"a.org": SAVED, "b.org": OTHER})
    twice = with_id("Copy", ID + "1") + with_id("Copy", ID + "1")
    moved = with_id("Moved", ID + "3")
    write(root, {"b.org": OTHER + moved})
    for text in (UNSAVED, SAVED + twice, SAVED + moved, "", "* Only\n"):
        store = opened(root).edited("a.org", text.encode())
        names = Names(store)
        for node in store.tree("a.org").nodes:
            assert resolve(store, names.address(node)).index == node.index


def test_an_id_that_is_gone_from_the_text_names_nothing(home: Path) -> None:
    root = write(home / "n", {"a.org": SAVED, "b.org": OTHER})
    store = opened(root).edited("a.org", b"* Only\n")
    with pytest.raises(NotFound):
        resolve(store, ID + "1")
    assert list(store.ids()) == []
    with pytest.raises(Ambiguous):
        resolve(opened(root).edited("b.org", SAVED.encode()), ID + "1")


# --- where ---------------------------------------------------------------------------------------


def test_where_names_the_file_and_the_line(ask: Ask) -> None:
    place = os.path.abspath("notes/house.org")
    for address in ("notes/house.org::Roof", "notes/house.org:3"):
        assert ask("where", address) == (0, f"{place}:2\n", "")
    found = as_json(ask("where", ID + "1", "--root", "notes", "--json"))
    assert found == {"address": f"id:{ID}1", "file": place, "line": 2}
    unsaved = ask(
        "where", "--root", "notes", "--stdin-path", "notes/house.org", ID + "1", given=UNSAVED
    )
    assert unsaved == (0, f"{place}:6\n", "")


def test_where_tells_what_is_wrong_as_focus_does(ask: Ask) -> None:
    for call in (("notes/house.org::Rof",), ("../x.org", "--root", "notes"), ()):
        where, focus = ask("where", *call), ask("focus", *call)
        assert (where.status, where.out) == (focus.status, "")
        assert where.err.replace("where", "focus") == focus.err
    name = "notes/it's\nnew é.org"
    write(HERE, {name: "* A\n"})
    assert json.loads(ask("where", f"{name}:1", "--json").out)["file"] == os.path.abspath(name)
    assert ask("where", f"{name}:1").out.count("\n") == 1


def test_an_id_beside_a_file_is_looked_up_in_it(ask: Ask) -> None:
    assert "old tiles" in ask("focus", "notes/house.org:1", f"id:{ID}1").out
    place = ask("where", f"id:{ID}1", "--stdin-path", "notes/house.org", given=UNSAVED)
    assert place == (0, f"{os.path.abspath('notes/house.org')}:6\n", "")
    assert "no root to look in" in ask("focus", f"id:{ID}1").err
    assert "house.org" in ask("focus", "notes/house.org:1", "notes/hose.org:1").err
