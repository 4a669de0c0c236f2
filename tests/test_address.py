"""orgctx.store.address: one way from a name to a node, and one back."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import pytest
import strategies
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from notes import with_id, write

from orgctx import (
    Ambiguous,
    BadArgument,
    Memex,
    NotFound,
    OrgctxError,
    OutsideRoot,
    open_memex,
)
from orgctx.core.model import Node
from orgctx.store.address import resolve
from orgctx.store.names import Names
from orgctx.store.store import Store
from orgctx.views.focus import focus
from orgctx.views.view import Limit

NFC, NFD = "r\u00e9sum\u00e9", "re\u0301sume\u0301"

COLORS = """\
#+title: The site

* Website
** Design
:PROPERTIES:
:ID: 5f0c9a1e-0000-4000-8000-000000000001
:END:
*** Colors [1/3]
:PROPERTIES:
:CUSTOM_ID: colors
:END:
- [X] blue
*** TODO [#A] either/or :tag:
**** back\\slash
* Log
** Notes
first
* Log
** Notes
second
** Notes
third
"""
LINES = COLORS.count("\n")


@pytest.fixture
def memex(tmp_path: Path) -> Memex:
    return open_memex(write(tmp_path, {"projects.org": COLORS}))


def headlines(*titles: str) -> str:
    return "".join(f"* {title}\n" for title in titles)


def refused(memex: Memex, address: str, kind: type[OrgctxError]) -> str:
    """The whole complaint about an address that is refused."""
    with pytest.raises(OrgctxError) as caught:
        memex.node(address)
    assert type(caught.value) is kind, caught.value
    return f"{caught.value.message}; {caught.value.hint}"


def places(complaint: str) -> list[str]:
    """The positions that a complaint offers."""
    return re.findall(r"[\w.]+\.org:\d+", complaint.partition("use one of: ")[2])


# --- The forms -----------------------------------------------------------------------------------

FORMS = {
    "id:5f0c9a1e-0000-4000-8000-000000000001": 4,
    "5f0c9a1e-0000-4000-8000-000000000001": 4,
    "id:5f0c9a": 4,
    "5f0c9a": 4,
    "projects.org::#colors": 8,
    "#colors": 8,
    "projects.org::*Website": 3,
    "projects.org::*Colors": 8,
    "projects.org::*Colors [2/7]": 8,
    "projects.org::*  Colors  ": 8,
    "projects.org::*cOLORS": 8,
    "projects.org::*either/or": 13,
    "projects.org::*back\\slash": 14,
    "projects.org::Website/Design": 4,
    "projects.org::Website/Design/Colors": 8,
    "projects.org::Website/Design/either\\/or": 13,
    "projects.org::Website/Design/either\\/or/back\\slash": 14,
    "projects.org:1": 1,
    "projects.org:2": 1,
    "projects.org:3": 3,
    "projects.org:12": 8,
    "projects.org:13": 13,
    f"projects.org:{LINES}": LINES - 1,
    f"projects.org:{LINES + 1}": LINES - 1,
    "projects.org": 1,
    "projects.org::website/design/COLORS": 8,
    "[[file:projects.org::*Colors][the colors]]": 8,
    "[[id:5f0c9a]]": 4,
    "file:projects.org:12": 8,
}


@pytest.mark.parametrize(("address", "line"), FORMS.items())
def test_each_form_of_address_finds_its_node(memex: Memex, address: str, line: int) -> None:
    node = memex.node(address)
    assert node.first_line == line
    assert bool(node.level) == (line > 1)


def test_the_first_line_is_the_headline_that_stands_there(tmp_path: Path) -> None:
    memex = open_memex(write(tmp_path, {"a.org": "* A\n* B"}))
    assert [memex.node(f"a.org:{line}").title for line in (1, 2, 3)] == ["A", "B", "B"]


def test_an_empty_file_has_one_place(tmp_path: Path) -> None:
    memex = open_memex(write(tmp_path, {"a.org": ""}))
    assert memex.node("a.org").level == memex.node("a.org:1").level == 0
    assert "give 1 to 0" not in refused(memex, "a.org:2", NotFound)


@pytest.mark.parametrize("line", ["0", "00", str(LINES + 2), "9" * 30, "9" * 5000])
def test_a_line_that_is_not_there_is_refused_with_the_range(memex: Memex, line: str) -> None:
    assert f"give 1 to {LINES}" in refused(memex, f"projects.org:{line}", NotFound)


def test_a_name_that_says_where_it_begins_is_of_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, {"root/a.org": "* above\n", "root/sub/a.org": "* below\n"})
    memex = open_memex(tmp_path / "root")
    monkeypatch.chdir(tmp_path / "root" / "sub")
    assert memex.node("a.org:1").title == memex.node("../a.org:1").title == "above"
    assert memex.node("./a.org:1").title == memex.node("sub/a.org:1").title == "below"
    monkeypatch.chdir(write(tmp_path / "elsewhere", {"a.org": "* elsewhere\n"}))
    with pytest.raises((OutsideRoot, NotFound)):
        memex.node("./a.org:1")


def test_an_exact_title_wins_over_the_same_in_other_case(tmp_path: Path) -> None:
    memex = open_memex(write(tmp_path, {"a.org": headlines("notes", "Notes", "NOTES")}))
    assert memex.node("a.org::*Notes").first_line == 2
    assert places(refused(memex, "a.org::*nOTES", Ambiguous)) == ["a.org:1", "a.org:2", "a.org:3"]


def test_a_title_folds_as_unicode_does(tmp_path: Path) -> None:
    memex = open_memex(write(tmp_path, {"a.org": headlines("straße", "ΣΟΦΟΣ")}))
    assert memex.node("a.org::*STRASSE").first_line == 1
    assert memex.node("a.org::*σοφος").first_line == 2


@pytest.mark.parametrize("title", ["[1/2] cook   [50%] rice", "cook rice", "cook [/] rice [%]"])
def test_blanks_and_cookies_of_a_title_do_not_count(tmp_path: Path, title: str) -> None:
    memex = open_memex(write(tmp_path, {"a.org": headlines(title + "  ", "cook")}))
    for wanted in ("*cook rice", "* cook \t rice ", "*[9/9] cook rice", "cook rice"):
        assert memex.node(f"a.org::{wanted}").first_line == 1


def test_what_only_looks_like_a_cookie_counts(tmp_path: Path) -> None:
    memex = open_memex(write(tmp_path, {"a.org": headlines("a [x/3]", "a [b]", "a")}))
    assert memex.node("a.org::*a [b]").first_line == 2
    assert memex.node("a.org::*a").first_line == 3


def test_titles_and_files_are_found_in_either_normal_form(tmp_path: Path) -> None:
    memex = open_memex(write(tmp_path, {f"{NFD}.org": headlines(NFD)}))
    for form in (NFC, NFD):
        for address in (f"{form}.org::*{form}", f"{form}.org::{form}", f"{form}.org:1"):
            assert memex.node(address).title == NFD


def test_an_absolute_path_is_found_in_either_normal_form(tmp_path: Path) -> None:
    memex = open_memex(write(tmp_path, {f"{NFD}.org": headlines("A")}))
    assert memex.node(f"{tmp_path}/{NFC}.org:1").title == "A"


def test_two_titles_that_differ_by_normal_form_alone_are_ambiguous(tmp_path: Path) -> None:
    memex = open_memex(write(tmp_path, {"a.org": headlines(NFC, NFD)}))
    assert places(refused(memex, f"a.org::*{NFC}", Ambiguous)) == ["a.org:1", "a.org:2"]


def test_two_files_that_differ_by_normal_form_alone_are_ambiguous(tmp_path: Path) -> None:
    both = {"a\u0301e\u0301.org": "* decomposed\n", "\u00e1e\u0301.org": "* mixed\n"}
    memex = open_memex(write(tmp_path, both))
    assert len(list(tmp_path.iterdir())) == 2, "this file system takes both names for one"
    complaint = refused(memex, "\u00e1\u00e9.org", Ambiguous)
    assert all(name in complaint for name in both)
    assert memex.node("\u00e1e\u0301.org:1").title == "mixed"  # typed exactly, it is that one


def test_an_empty_title_has_a_path_and_a_position(tmp_path: Path) -> None:
    memex = open_memex(write(tmp_path, {"a.org": "* \n** sub\n* other\n"}))
    assert memex.node("a.org:1").title == ""
    assert memex.node("a.org::/sub").first_line == 2


@pytest.mark.parametrize("title", ["key :: value", "c:12", "b.org", "#hash", "*star", "a/b.org:3"])
def test_a_title_that_looks_like_an_address_is_found(tmp_path: Path, title: str) -> None:
    memex = open_memex(write(tmp_path, {"a.org": headlines("first", title)}))
    assert memex.node(f"a.org::*{title}").first_line == 2


def test_custom_ids_are_of_the_file_that_is_named(tmp_path: Path) -> None:
    drawer = "* A\n:PROPERTIES:\n:CUSTOM_ID: c\n:END:\n"
    memex = open_memex(write(tmp_path, {"a.org": drawer, "b.org": "\n" + drawer}))
    assert memex.node("b.org::#c").first_line == 2
    assert places(refused(memex, "#c", Ambiguous)) == ["a.org:1", "b.org:2"]


# --- IDs -----------------------------------------------------------------------------------------


def test_a_prefix_of_an_id_needs_six_characters(tmp_path: Path) -> None:
    memex = open_memex(write(tmp_path, {"a.org": with_id("A", "abcdefgh") + with_id("B", "abc")}))
    assert memex.node("id:abcdef").title == memex.node("abcdef").title == "A"
    assert "6 characters" in refused(memex, "id:abcde", NotFound)
    assert memex.node("abc").title == "B"  # whole, it may be short


def test_a_whole_id_wins_over_one_that_begins_with_it(tmp_path: Path) -> None:
    memex = open_memex(
        write(tmp_path, {"a.org": with_id("A", "abcdef-1") + with_id("B", "abcdef")})
    )
    assert memex.node("abcdef").title == "B"
    assert memex.node("abcdef-").title == "A"


def test_a_prefix_of_two_ids_is_ambiguous_with_both(tmp_path: Path) -> None:
    files = {"a.org": with_id("A", "abcdef-1"), "b.org": with_id("B", "abcdef-2")}
    complaint = refused(open_memex(write(tmp_path, files)), "abcdef", Ambiguous)
    assert "a.org:1 (id:abcdef-1), b.org:1 (id:abcdef-2)" in complaint


@pytest.mark.parametrize("names", [("a.org", "a.org"), ("a.org", "b.org"), ("b.org", "a.org")])
def test_an_id_of_two_nodes_is_ambiguous_never_one_of_them(
    tmp_path: Path, names: tuple[str, str]
) -> None:
    for name in names:
        with (tmp_path / name).open("a") as file:
            file.write(with_id("One", "dup-12345"))
    memex = open_memex(tmp_path)
    known = ["a.org:1", "a.org:5"] if names[0] == names[1] else ["a.org:1", "b.org:1"]
    for address in ("id:dup-12345", "dup-12345", "dup-12"):
        complaint = refused(memex, address, Ambiguous)
        assert all(f"{place} (id:dup-12345)" in complaint for place in known)
    found = [memex.focus(place).targets[0] for place in known]
    assert len(set(found)) == 2
    assert "id:dup-12345" not in found


def test_both_ids_of_one_drawer_find_the_node(tmp_path: Path) -> None:
    memex = open_memex(write(tmp_path, {"a.org": with_id("A", "uniq-001", "uniq-002")}))
    found = [memex.node(address) for address in ("uniq-001", "uniq-002", "uniq-0")]
    assert [node.title for node in found] == ["A", "A", "A"]


def test_a_second_drawer_gives_no_id(tmp_path: Path) -> None:
    text = with_id("A", "uniq-001") + ":PROPERTIES:\n:ID: not-mine\n:END:\n"
    refused(open_memex(write(tmp_path, {"a.org": text})), "not-mine", NotFound)


@pytest.mark.parametrize(
    "id_", ["note.org", "2024/plan", "a.org:1", "k::v", "#one", "*two", "~x/y", "file:x"]
)
def test_an_id_that_looks_like_something_else_is_found(tmp_path: Path, id_: str) -> None:
    memex = open_memex(write(tmp_path, {"b.org": with_id("A", id_)}))
    assert memex.node(f"id:{id_}").title == "A"
    assert memex.focus("b.org:1").targets[0] == f"id:{id_}"


@pytest.mark.parametrize("id_", ["note.org", "2024/plan", "a.org:1", "k::value"])
def test_a_bare_id_that_looks_like_a_missing_file_is_found(tmp_path: Path, id_: str) -> None:
    memex = open_memex(write(tmp_path, {"b.org": with_id("A", id_)}))
    assert memex.node(id_).title == "A"


def test_a_file_wins_over_a_bare_id_of_its_name(tmp_path: Path) -> None:
    memex = open_memex(write(tmp_path, {"a.org": with_id("A", "b.org"), "b.org": "* B\n"}))
    assert memex.node("b.org").path == "b.org"
    assert memex.node("id:b.org").title == "A"


# --- Files of odd names --------------------------------------------------------------------------

ODD_NAMES = (
    *["a b.org", "it's.org", 'say "hi".org', "100%.org", "%2e%2e.org", "#1.org", "[x].org"],
    *["-n.org", "semi;colon.org", "$(id).org", "new\nline.org", "\x1b[31m.org", "back\\slash.org"],
    *["a::b.org", "a:12.org", "x.org/y.org", "*star.org", "*.org", " lead.org", "trail .org"],
    *["x.org.org", ".org.org", "abcdef.org", "日本.org", "\udcff\udcfe.org", "old.org_archive"],
    *["~.org", "~nobody-has-this-name.org", "~/t.org", "id:f.org", "id:d/f.org", "a::*b.org"],
    *["file:f.org", "[[x.org"],
)


@pytest.mark.parametrize("name", ODD_NAMES, ids=ascii)
def test_a_file_of_any_name_can_be_addressed(tmp_path: Path, name: str) -> None:
    write(tmp_path, {name: "#+title: T\n* H\n** TODO c\n"})
    memex = open_memex(tmp_path)
    assert memex.node(name).level == 0
    for address in (f"{name}:3", f"{name}::*c", f"{name}::H/c", f"{tmp_path}/{name}:3"):
        assert memex.node(address).first_line == 3
    for shown in memex.focus(name).shown:
        assert memex.node(shown.address) == shown.node


def test_a_file_whose_name_begins_with_another_and_colons(tmp_path: Path) -> None:
    files = {"a.org": "* T\n* b.org\n", "a.org::b.org": "\n\n* T\n"}
    memex = open_memex(write(tmp_path, files))
    assert memex.node("a.org::b.org").path == "a.org::b.org"
    for path in files:
        for shown in memex.focus(path).shown:
            assert memex.node(shown.address) == shown.node


def test_an_id_and_a_file_whose_addresses_are_alike_are_told_apart(tmp_path: Path) -> None:
    ids = [with_id(str(number), id_) for number, id_ in enumerate(("f.org", "f.org:1", "f.org::F"))]
    memex = open_memex(write(tmp_path, {"a.org": "".join(ids), "id:f.org": "* F\n"}))
    for path in ("a.org", "id:f.org"):
        for shown in memex.focus(path).shown:
            assert memex.node(shown.address) == shown.node


@pytest.mark.parametrize("titles", [("A", "..", "b.org"), ("A", "..", "..", "b"), (".", "b")])
def test_titles_that_look_like_folders_lead_nowhere_else(
    tmp_path: Path, titles: tuple[str, ...]
) -> None:
    text = "".join(f"{'*' * level} {title}\n" for level, title in enumerate(titles, 1))
    memex = open_memex(write(tmp_path, {"a.org": text, "b.org": "* B\n"}))
    for shown in memex.focus("a.org").shown:
        assert memex.node(shown.address) == shown.node
    assert memex.node("a.org::" + "/".join(titles)).title == titles[-1]


# --- Addresses that lead to no node --------------------------------------------------------------

NEAR = {
    "projects.org::*Colours": "projects.org::*Colors",
    "projects.org::*desing": "projects.org::*Design",
    "projects.org::#color": "projects.org::#colors",
    "#color": "#colors",
    "projects.org::Website/Design/Colour": "projects.org::Website/Design/Colors",
    "id:5f0c9a1e-0000-4000-8000-000000000007": "id:5f0c9a1e-0000-4000-8000-000000000001",
    "project.org": "projects.org",
    "project.org:12": "projects.org",
    "project.org::*Colors": "projects.org",
    "Projects.org": "projects.org",
}


@pytest.mark.parametrize(("address", "near"), NEAR.items())
def test_an_unknown_address_is_refused_with_near_matches(
    memex: Memex, address: str, near: str
) -> None:
    hint = refused(memex, address, NotFound).partition("did you mean ")[2]
    assert any(each.startswith(near) for each in re.split(" or |[?]", hint))


@pytest.mark.parametrize("address", ["", "  "])
def test_no_address_is_refused(memex: Memex, address: str) -> None:
    assert refused(memex, address, BadArgument).split("; ", 1)[1]


def test_a_folder_is_told_from_what_is_not_there(tmp_path: Path) -> None:
    memex = open_memex(write(tmp_path, {"p/a.org": "* A\n"}))
    for address in ("p", "p/", "./p"):
        assert refused(memex, address, NotFound).endswith(
            f"{address}: a folder; name a file in it: orgctx ls {address}"
        )


@pytest.mark.parametrize("address", ["id:", "#", "::", "*", "zzzzzz", "projects.org::", "\0"])
def test_an_address_that_is_nothing_like_one_is_refused_with_a_way_on(
    memex: Memex, address: str
) -> None:
    assert refused(memex, address, NotFound).split("; ", 1)[1]


def test_near_matches_are_addresses_that_work(tmp_path: Path) -> None:
    text = "* w\\\n** y\n* \n** sub\n* Log\n* Log\n* wxyz\n"
    memex = open_memex(write(tmp_path, {"a.org": text}))
    for address in ("a.org::w\\\\/yy", "a.org::*lo", "a.org::/su", "a.org::wxy"):
        with pytest.raises(OrgctxError) as caught:
            memex.node(address)
        near = caught.value.hint.removeprefix("did you mean ").removesuffix("?")
        if near != caught.value.hint:
            for each in near.split(" or "):
                memex.node(each)


@pytest.mark.parametrize(
    "address", ["projects.org::*qqqq", "projects.org::qq/qq", "qqqqqqqq", "#q"]
)
def test_what_is_near_to_nothing_is_told_how_to_look(memex: Memex, address: str) -> None:
    complaint = refused(memex, address, NotFound)
    assert "did you mean" not in complaint
    assert "orgctx ls" in complaint


AMBIGUOUS = {
    "projects.org::Log/Notes": (16, 19, 21),
    "projects.org::*Notes": (16, 19, 21),
    "projects.org::*notes": (16, 19, 21),
    "projects.org::Log": (15, 18),
    "projects.org::*Log": (15, 18),
}


@pytest.mark.parametrize(("address", "lines"), AMBIGUOUS.items())
def test_an_ambiguous_address_lists_every_candidate_with_its_line(
    memex: Memex, address: str, lines: tuple[int, ...]
) -> None:
    complaint = refused(memex, address, Ambiguous)
    assert f"names {len(lines)} nodes" in complaint
    assert places(complaint) == [f"projects.org:{line}" for line in lines]
    assert [memex.node(place).first_line for place in places(complaint)] == list(lines)


def test_of_very_many_candidates_the_rest_is_counted(tmp_path: Path) -> None:
    memex = open_memex(write(tmp_path, {"a.org": headlines(*["Log"] * 1000)}))
    complaint = refused(memex, "a.org::*Log", Ambiguous)
    assert "names 1000 nodes" in complaint
    assert f"and {1000 - len(places(complaint))} more" in complaint


LEADING_OUT = ("../secret.org", "/etc/passwd", "sub/../../secret.org", "~/x.org", "/no/where.org")


@pytest.mark.parametrize("address", LEADING_OUT)
@pytest.mark.parametrize("locator", ["", ":1", "::*A"])
def test_what_leads_out_of_the_root_is_refused_whether_or_not_it_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, address: str, locator: str
) -> None:
    write(tmp_path, {"root/sub/a.org": "* A\n", "secret.org": "* A\n"})
    monkeypatch.chdir(tmp_path / "root")
    memex = open_memex(tmp_path / "root")
    there = refused(memex, address + locator, OutsideRoot)
    (tmp_path / "secret.org").unlink()
    assert refused(memex, address + locator, OutsideRoot) == there


def test_a_folder_whose_name_begins_like_the_root_is_outside(tmp_path: Path) -> None:
    write(tmp_path, {"notes/a.org": "* A\n", "notes_secret/s.org": "* S\n"})
    memex = open_memex(tmp_path / "notes")
    refused(memex, f"{tmp_path}/notes_secret/s.org", OutsideRoot)
    for address in ("%2e%2e/notes_secret/s.org", "..\\notes_secret\\s.org", "a.org\0.txt"):
        refused(memex, address, NotFound)


def test_colons_in_the_name_of_a_folder_do_not_lead_out_of_it(tmp_path: Path) -> None:
    root = write(tmp_path / "x::y", {"a.org": "* A\n"})
    assert open_memex(root).node(f"{root}/a.org:1").title == "A"


# --- And back ------------------------------------------------------------------------------------


def addresses(store: Store) -> list[tuple[Node, str]]:
    """Every node of a store with its address."""
    names = Names(store)
    return [(node, names.address(node)) for tree in store.trees() for node in tree.nodes]


def check_the_way_back(store: Store) -> None:
    for node, address in addresses(store):
        assert resolve(store, address) is node, address


@settings(max_examples=600)
@given(strategies.org_text())
@example("* A\n* A\n** A\n* \n* a/b\n** c\n* a\\\n** /b\n* [1/2]\n* #x\n* *y\n* x\0y\n* 1::2:3\n")
def test_the_address_of_every_node_of_a_file_leads_back_to_it(text: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder, "notes.org")
        place.write_bytes(text.encode())
        check_the_way_back(Store([folder]))
        check_the_way_back(Store.of_files([str(place)]))


@settings(max_examples=150)
@given(strategies.org_files(), st.data())
def test_the_address_of_every_node_of_a_memex_leads_back_to_it(
    files: dict[str, str], data: st.DataObject
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        store = Store([write(Path(folder), files)])
        assume(len(store.paths) == len(files))  # a file system may take two names for one
        known = addresses(store)
        for node, address in known:
            assert resolve(store, address) is node, address
        target, address = data.draw(st.sampled_from(known))
        view = focus(store, [address], Limit(10**9, "chars"))
        assert view.targets == (address,)
        assert [each.address for each in view.shown] == [
            address for node, address in known if any(node is each.node for each in view.shown)
        ]
        assert target in [each.node for each in view.shown]


@settings(max_examples=60)
@given(st.lists(strategies.org_files(), min_size=2, max_size=3))
def test_addresses_lead_back_where_there_are_several_roots(roots: list[dict[str, str]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        places = [Path(folder, str(number), "notes") for number in range(len(roots))]
        store = Store([write(place, files) for place, files in zip(places, roots, strict=True)])
        check_the_way_back(store)


def test_the_address_of_a_node_is_its_id_then_custom_id_path_or_position(tmp_path: Path) -> None:
    text = with_id("Id", "the-id") + "* Custom\n:PROPERTIES:\n:CUSTOM_ID: c\n:END:\n"
    text += "* P\n** a/b [50%]\n* #x\n* Twice\n* Twice\n"
    store = Store([write(tmp_path, {"a.org": text})])
    assert [address for _, address in addresses(store)] == [
        *["a.org", "id:the-id", "a.org::#c", "a.org::P", "a.org::P/a\\/b"],
        *["a.org:11", "a.org:12", "a.org:13"],
    ]


def test_a_line_as_orgs_own_links_name_it(tmp_path):
    store = Store([write(tmp_path, {"a.org": "* 2\ntext\n* B\nmore\n"})])
    assert resolve(store, "a.org::4").title == "B"
    assert resolve(store, "[[file:a.org::4][x]]").title == "B"
    assert resolve(store, "a.org::2").title == "2", "a headline of that title comes first"
    with pytest.raises(NotFound):
        resolve(store, "a.org::9")


TAIL = "* Secret :private:\ntext\n** Below\n"


def at_lines(root: Path, text: str) -> dict[int, str]:
    """What each line of a file names, or how it is refused."""
    settings = 'private_tags = ["private"]\n'
    memex = open_memex(write(root, {"a.org": text, "orgctx.toml": settings}))
    found = {}
    for line in range(15):
        try:
            found[line] = memex.node(f"a.org:{line}").title
        except NotFound as error:
            found[line] = f"{error.message}; {error.hint}".replace(f"a.org:{line}:", "")
    return found


@pytest.mark.parametrize("tail", [TAIL, TAIL.replace("private", "crypt").partition("\n")[2]])
def test_lines_tell_nothing_of_hidden_lines_at_the_end(tmp_path: Path, tail: str) -> None:
    text = "top\n* A\ntext\n* Vault :crypt:\n"
    named = at_lines(tmp_path / "with", text + tail)
    assert named == at_lines(tmp_path / "without", text)
    assert [named[line] for line in (1, 3, 5)] == ["", "A", "Vault"]


def test_a_hidden_line_is_refused_as_one_beyond_the_end(tmp_path: Path) -> None:
    named = at_lines(tmp_path, f"* A\n{TAIL}* B\n")
    assert named[2] == named[4] == named[9]
    assert (named[1], named[5], named[6]) == ("A", "B", "B")
