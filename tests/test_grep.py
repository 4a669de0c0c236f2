"""Search: where it looks, what it finds there, and how it says so."""

from __future__ import annotations

import json
import re
import shlex
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any
from unicodedata import normalize

import pytest
from notes import snapshot, write
from program import Ask
from test_grep_laws import pages
from views import SIZES

from orgctx import BadArgument, Memex, NotFound, OutsideRoot, open_memex
from orgctx.store.store import Store
from orgctx.views.query import Query
from orgctx.views.searching import LINES, Found, FoundEntry, to_data

count = SIZES["o200k_base"]


# --- A memex of files ----------------------------------------------------------------------------

GARDEN = """\
:PROPERTIES:
:ID: file-0000001
:END:
#+title: The garden
#+filetags: :outdoor:
Above all, zinnias.
* Beds :dig:
:PROPERTIES:
:ID: beds-0000001
:SIZE: small
:SIZE+: wet
:END:
Zinnias and tulips.
** TODO Tulips
red tulips
** DONE Asters
* COMMENT Old plans
tulips again
* Log
** Notes
one
** Notes
two tulips
"""
HOUSE = "* House\n挖地种花。\n** Straße\nDIE STRASSE\n"
SETTING = 'private_tags = ["private"]\n'


@pytest.fixture
def notes(home: Path) -> Path:
    """A folder of notes; the current folder is the one above."""
    return write(home / "notes", {"garden.org": GARDEN, "sub/house.org": HOUSE})


@pytest.fixture
def memex(notes: Path) -> Memex:
    return open_memex(notes)


def hits(found: Found) -> list[tuple[str, int, str]]:
    return [(each.address, *hit) for each in found.entries for hit in each.hits]


def test_hits_stand_under_their_entries(memex: Memex) -> None:
    assert memex.grep("tulips").text == (
        "id:beds-0000001 — garden.org::Beds :outdoor:dig:\n"
        "  13: Zinnias and tulips.\n"
        "garden.org::Beds/Tulips — TODO :outdoor:dig:\n"
        "  15: red tulips\n"
        "garden.org::Old plans — COMMENT :outdoor:\n"
        "  18: tulips again\n"
        "garden.org:22 — Log/Notes :outdoor:\n"
        "  23: two tulips\n"
    )


def test_an_entry_as_data(memex: Memex) -> None:
    [each] = memex.grep("red tulips").entries
    assert each == FoundEntry(
        address="garden.org::Beds/Tulips", path="garden.org", line=14, level=2, title="Tulips",
        outline_path="Beds/Tulips", todo="TODO", is_commented=False, tags=("outdoor", "dig"),
        hits=((15, "red tulips"),), left_out=0,
    )  # fmt: skip


def test_a_hit_above_the_first_headline_belongs_to_the_file(memex: Memex) -> None:
    [each] = memex.grep("all, zinnias").entries
    assert (each.address, each.level, each.line, each.title) == (
        "id:file-0000001", 0, 1, "The garden",
    )  # fmt: skip
    assert memex.grep("all, zinnias").text == (
        "id:file-0000001 — garden.org The garden :outdoor:\n  6: Above all, zinnias.\n"
    )


def test_an_entry_shows_its_first_lines_and_all_if_it_is_asked_for(notes: Path) -> None:
    write(notes, {"long.org": "* A\n" + "word\n" * 12 + "** B\nword\n* C\nword\n"})
    memex = open_memex(notes)
    found = memex.grep("word")
    assert [len(each.hits) for each in found.entries] == [LINES, 1, 1]
    assert found.entries[0].left_out == 12 - LINES
    assert found.cursor is None
    assert found.text.endswith("… for all lines of one entry, give its address as PATH\n")
    assert f"  … and {12 - LINES} more lines\n" in found.text
    found = memex.grep("word", "long.org::A")
    assert [len(each.hits) for each in found.entries] == [12, 1]
    assert "…" not in found.text


def test_a_page_that_ends_within_an_entry_goes_on_within_it(notes: Path) -> None:
    write(notes, {"long.org": "* A\n" + "a word of it\n" * 100})
    memex, lines, after = open_memex(notes), [], ""
    while after is not None:
        found = memex.grep("word", "long.org::A", budget=150, after=after)
        assert count(found.text) <= 150
        assert found.left_out == 0
        assert hits(found)
        lines += [line for _, line, _ in hits(found)]
        after = found.cursor
    assert lines == list(range(2, 102))


@pytest.mark.parametrize("after", ["garden.org:15", "garden.org::Beds/Tulips", "garden.org:17"])
def test_a_page_begins_behind_an_address_or_a_line(memex: Memex, after: str) -> None:
    assert [line for _, line, _ in hits(memex.grep("tulips", after=after))] == [18, 23]


@pytest.mark.parametrize("after", ["nowhere.org:3", "id:nothing-at-all", "garden.org:1x"])
def test_a_place_to_begin_that_is_not_there_is_an_error(memex: Memex, after: str) -> None:
    with pytest.raises(NotFound):
        memex.grep("tulips", after=after)


# --- Where ---------------------------------------------------------------------------------------

EVERYWHERE = ("", ".", "notes", "notes/", "./notes")


@pytest.mark.parametrize(
    ("path", "paths"),
    [
        *((path, ["garden.org", "sub/house.org"]) for path in EVERYWHERE),
        *((path, ["sub/house.org"]) for path in ("sub", "sub/", "notes/sub", "sub/house.org")),
        ("notes/sub/house.org", ["sub/house.org"]),
        ("garden.org", ["garden.org"]),
    ],
)
def test_a_path_is_a_root_a_folder_or_a_file(
    memex: Memex, monkeypatch: pytest.MonkeyPatch, notes: Path, path: str, paths: list[str]
) -> None:
    if path == ".":
        monkeypatch.chdir(notes)
    found = memex.grep("* ", path)
    assert list(dict.fromkeys(each.path for each in found.entries)) == paths


def test_a_node_is_searched_with_what_is_below_it(memex: Memex) -> None:
    assert [line for _, line, _ in hits(memex.grep("ulips", "beds-0000001"))] == [13, 14, 15]
    assert [line for _, line, _ in hits(memex.grep("ulips", "garden.org:14"))] == [14, 15]


def test_several_roots_are_named(tmp_path: Path, notes: Path) -> None:
    write(tmp_path, {"work/garden.org": "* Beds\ntulips\n"})
    memex = open_memex(notes, tmp_path / "work")
    assert [each.path for each in memex.grep("tulips", "work").entries] == ["work/garden.org"]
    assert {each.path for each in memex.grep("tulips").entries} == {
        "notes/garden.org", "work/garden.org",
    }  # fmt: skip


@pytest.mark.parametrize("path", ["nowhere", "nowhere/", "nowhere.org", "garden.org::*Nothing"])
def test_a_path_that_is_not_there_is_an_error(memex: Memex, path: str) -> None:
    with pytest.raises(NotFound):
        memex.grep("x", path)


def test_a_path_does_not_lead_out(tmp_path: Path, notes: Path) -> None:
    write(tmp_path, {"notes_secret/s.org": "tulips\n"})
    memex = open_memex(notes)
    for path in ("../notes_secret/s.org", str(tmp_path / "notes_secret/s.org"), "/etc/passwd"):
        with pytest.raises(OutsideRoot):
            memex.grep("tulips", path)
    for path in ("notes_secret", str(tmp_path), ".."):
        with pytest.raises((OutsideRoot, NotFound)):
            memex.grep("tulips", path)


def test_the_order_is_that_of_folders_files_and_lines(notes: Path) -> None:
    for name in ("b.org", "a/x.org", "a/b/y.org", "a.org", "é.org"):
        write(notes, {name: "* x\nzebra\n"})
    found = open_memex(notes).grep("zebra")
    paths = [each.path for each in found.entries]
    assert paths == ["a.org", "b.org", "é.org", "a/x.org", "a/b/y.org"]


# --- Filters -------------------------------------------------------------------------------------


def places(found: Found) -> list[int]:
    return [each.line for each in found.entries]


@pytest.mark.parametrize(
    ("filters", "lines"),
    [
        ({"todo": "TODO"}, [14]),
        ({"todo": ("TODO", "DONE")}, [14, 16]),
        ({"todo": "todo"}, []),
        ({"tag": "outdoor"}, [1, 7, 14, 16, 17, 19, 20, 22]),
        ({"tag": ("outdoor", "dig")}, [7, 14, 16]),
        ({"tag": ("dig", "nowhere")}, []),
        ({"property": "SIZE"}, [7]),
        ({"property": "size=small wet"}, [7]),
        ({"property": "SIZE=small"}, []),
        ({"property": ("ID", "SIZE")}, [7]),
        ({"todo": "DONE", "tag": "dig"}, [16]),
        ({"pattern": "ulips", "tag": "dig"}, [7, 14]),
        ({"pattern": "ulips", "todo": "TODO"}, [14]),
    ],
    ids=str,
)
def test_filters(memex: Memex, filters: dict[str, Any], lines: list[int]) -> None:
    assert places(memex.grep(path="garden.org", **filters)) == lines


def test_a_filter_alone_lists_entries(memex: Memex) -> None:
    assert memex.grep(todo=["TODO", "DONE"]).text == (
        "garden.org::Beds/Tulips — TODO :outdoor:dig:\n"
        "garden.org::Beds/Asters — DONE :outdoor:dig:\n"
    )


def test_a_file_that_begins_with_a_headline_is_listed_once(notes: Path) -> None:
    write(notes, {"bare.org": "* A\n#+filetags: :bare:\n* B\n"})
    store = open_memex(notes)._store
    found = [e.line for page in pages(store, Query(tag=("bare",)), 1) for e in page.entries]
    assert found == [1, 1, 3]


@pytest.mark.parametrize(
    "arguments",
    [
        {"pattern": ""},
        {"pattern": "a\nb"},
        {"pattern": 5},
        {"pattern": "a", "path": None},
        {"pattern": "a", "tag": [1]},
        {"pattern": "a", "property": "=x"},
        {"pattern": "a", "limit": 0},
        {"pattern": "a", "limit": True},
        {"pattern": "a", "budget": 0},
        {"pattern": "a", "budget": 3.5},
        {"pattern": "a", "after": 7},
    ],
    ids=str,
)
def test_what_cannot_be_asked_is_refused(memex: Memex, arguments: dict[str, Any]) -> None:
    with pytest.raises(BadArgument) as raised:
        memex.grep(**arguments)
    assert raised.value.where in arguments


# --- Letters -------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["NFC", "NFD"])
@pytest.mark.parametrize("regexp", [False, True])
def test_b71_either_normal_form_finds_the_other(notes: Path, form: str, regexp: bool) -> None:
    composed, apart = "* r\u00e9sum\u00e9", "* re\u0301sume\u0301"
    write(notes, {"forms.org": f"{composed}\n{apart}\n"})
    found = open_memex(notes).grep(normalize(form, "résumé"), regexp=regexp)
    assert hits(found) == [
        ("forms.org:1", 1, composed),
        ("forms.org:2", 2, apart),
    ]
    assert open_memex(notes).grep("resume", regexp=regexp).entries == ()


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        *[("STRASSE", "Straße"), ("straße", "STRASSE"), ("ß", "ẞ"), ("É", "e\u0301")],
        *[("ΣΊΣΥΦΟΣ", "σίσυφος"), ("ǰ", "J\u030c"), ("i\u0307", "İ"), ("İ", "i\u0307")],
        *[("ﬁn", "FIN"), ("ПРИВЕТ", "привет"), ("ᾳ", "ΑΙ")],
    ],
)
def test_letters_of_any_case_match_as_unicode_says(notes: Path, pattern: str, text: str) -> None:
    write(notes, {"case.org": f"* x\nabc {text} def\n"})
    memex = open_memex(notes)
    found = memex.grep(pattern, "case.org", ignore_case=True)
    assert hits(found) == [("case.org::x", 2, f"abc {text} def")]
    assert memex.grep(pattern, "case.org").entries == ()


def test_case_has_no_language(notes: Path) -> None:
    write(notes, {"turkish.org": "ISTANBUL\nistanbul\nıstanbul\n"})
    found = open_memex(notes).grep("istanbul", "turkish.org", ignore_case=True)
    assert [line for _, line, _ in hits(found)] == [1, 2]


def test_scripts_without_spaces_are_searched_like_others(memex: Memex) -> None:
    for pattern in ("挖", "地种", "种花。", "挖地种花。"):
        assert hits(memex.grep(pattern)) == [("sub/house.org::House", 2, "挖地种花。")]
    assert hits(memex.grep("地.花", regexp=True)) == [("sub/house.org::House", 2, "挖地种花。")]


ODD = ("a-b", '"', "(", "*", "AND", "foo:bar", "%", "_", "'; DROP", "\0", "[a", "\\", "$x", "--")


@pytest.mark.parametrize("pattern", ODD)
def test_b82_no_character_means_anything_in_a_literal(notes: Path, pattern: str) -> None:
    write(notes, {"odd.org": f"axb\nx {pattern} y\nEnd\n"})
    found = open_memex(notes).grep(pattern, "odd.org")
    assert hits(found) == [("odd.org", 2, f"x {pattern} y")]


def test_b46_only_line_feeds_end_lines(notes: Path) -> None:
    text = "* A\nold\f* x\nx\u2028* y\ny\x0b* z\nz\x85* w\nlone\rv needle\n"
    write(notes, {"ends.org": text})
    assert [line for _, line, _ in hits(open_memex(notes).grep("* ", "ends.org"))] == [
        1,
        2,
        3,
        4,
        5,
    ]
    assert hits(open_memex(notes).grep("needle"))[0][1:] == (6, "lone\rv needle")


def test_b43_a_line_ends_before_its_carriage_return(notes: Path) -> None:
    write(notes, {"crlf.org": "zero\r\n* A\r\nbody needle\r\nmixed needle\n\r\n"})
    memex = open_memex(notes)
    expected = [(3, "body needle"), (4, "mixed needle")]
    for query in ({"pattern": "needle"}, {"pattern": "needle$", "regexp": True}):
        assert [hit[1:] for hit in hits(memex.grep(path="crlf.org", **query))] == expected
    assert memex.grep("\r").entries == ()
    empty = memex.grep("^$", "crlf.org", regexp=True)
    assert [line for _, line, _ in hits(empty)] == [5]


def test_b44_a_byte_order_mark_is_no_text(notes: Path) -> None:
    write(notes, {"bom.org": b"\xef\xbb\xbf* needle\n"})
    assert hits(open_memex(notes).grep("^. needle", regexp=True)) == [
        ("bom.org::needle", 1, "* needle")
    ]


# --- Long lines ----------------------------------------------------------------------------------


def test_a_cut_line_says_where(notes: Path) -> None:
    write(notes, {"long.org": "a" * 5000 + " needle " + "b" * 5000 + "\n"})
    [(_, _, text)] = hits(open_memex(notes).grep("needle"))
    assert re.fullmatch(r"…a{90,99} needle b{90,99}…", text)
    write(notes, {"long.org": "needle " + "b" * 5000 + "\n"})
    [(_, _, text)] = hits(open_memex(notes).grep("needle"))
    assert re.fullmatch(r"needle b{193}…", text)


# --- Expressions ---------------------------------------------------------------------------------

EVIL = (
    *("(a+)+$", "(a|aa)+$", "(a|a?)+$", "(.*a){20}$", "(a*)*b", "a?" * 100 + "a" * 100 + "$"),
    *(".*.*.*.*=.*", "(?i)(a+)+$", r"\A(a+)+\z", "(x+x+)+y", "(.*){1,100}z"),
)


@pytest.mark.parametrize("pattern", EVIL)
def test_no_expression_hangs(notes: Path, pattern: str) -> None:
    write(notes, {"long.org": "a" * 300_000 + "!\n" + "x" * 300_000 + "\n"})
    memex = open_memex(notes)
    start = process_time()
    memex.grep(pattern, "long.org", regexp=True)
    assert process_time() - start < 5


def test_b50_a_line_of_millions_is_searched_in_linear_time(notes: Path) -> None:
    write(notes, {"long.org": "* A\nbefore\0after\n* C\n" + "é" * 3_000_000 + "needle\n"})
    memex = open_memex(notes)
    start = process_time()
    [(_, line, text)] = hits(memex.grep("needle"))
    assert (line, text[-6:]) == (4, "needle")
    [(_, line, text)] = hits(memex.grep("NEEDLE$", regexp=True, ignore_case=True))
    assert (line, text[-6:]) == (4, "needle")
    assert [hit[1:] for hit in hits(memex.grep("e\0a"))] == [(2, "before\0after")]
    assert process_time() - start < 30


@pytest.mark.parametrize(
    ("pattern", "says"),
    [
        ("ab(cd", "missing ): ab(cd, at character 1"),
        ("ab*+", "bad repetition operator: *+, at character 3"),
        ("x[z-a]", "invalid character class range: z-a, at character 3"),
        ("a(?=b)", "invalid perl operator: (?=, at character 2"),
        (r"(a)\1", r"invalid escape sequence: \1, at character 4"),
        ("a{5000}", "invalid repetition size: {5000}, at character 2"),
        ("((a{100}){100}){100}", "invalid repetition size"),
        ("x\udc80", "half a surrogate pair"),
    ],
)
def test_a_wrong_expression_is_a_usage_error(
    memex: Memex, pattern: str, says: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(BadArgument) as raised:
        memex.grep(pattern, regexp=True)
    assert says in raised.value.message
    assert raised.value.where == "pattern"
    assert capfd.readouterr() == ("", "")


def test_an_empty_match_is_a_match(memex: Memex) -> None:
    found = memex.grep("q*", "sub/house.org", regexp=True)
    assert [line for _, line, _ in hits(found)] == [1, 2, 3, 4]


# --- Privacy -------------------------------------------------------------------------------------

SECRETS = """\
* Open
needle in the open
* Needles hidden :private:
needle kept
** Needles below
needle below
* Vault needle :crypt:
:PROPERTIES:
:ID: vault-needle
:CRYPTKEY: needle-key
:END:
needle sealed
** Needle in the vault
* After
needle after
"""


@pytest.fixture
def secrets(notes: Path) -> Memex:
    write(
        notes,
        {
            "secrets.org": SECRETS,
            "hidden/needle.org": "#+filetags: :private:\n* needle\n",
            "sealed.org": "#+title: Sealed needle\n#+filetags: :crypt:\nneedle\n* needle\n",
            "orgctx.toml": SETTING,
        },
    )
    return open_memex(notes)


@pytest.mark.parametrize("query", [{}, {"regexp": True}, {"ignore_case": True}], ids=str)
def test_what_is_private_is_no_hit_and_what_is_sealed_shows_its_headline(
    secrets: Memex, query: dict[str, bool]
) -> None:
    found = secrets.grep("needle", **query)
    assert [hit[1:] for hit in hits(found)] == [
        (2, "needle in the open"),
        (7, "* Vault needle :crypt:"),
        (15, "needle after"),
    ]
    assert [page.left_out for page in (secrets.grep("needle", limit=1, **query),)] == [2]


def test_what_is_private_is_in_no_filter_and_in_no_suggestion(secrets: Memex) -> None:
    assert secrets.grep(tag="private").entries == ()
    assert places(secrets.grep(property="CRYPTKEY")) == []
    assert places(secrets.grep(property="ID=vault-needle")) == [7]
    assert secrets.grep("Needles belov").near == ()
    assert secrets.grep("Oqen").near == ("Open",)


@pytest.mark.parametrize("is_stored", [True, False])
def test_a_private_file_or_folder_is_not_there(
    secrets: Memex, notes: Path, is_stored: bool
) -> None:
    if not is_stored:
        secrets = Memex(Store([notes]))
    for path in ("hidden", "hidden/", "hidden/needle.org", "needle.org"):
        with pytest.raises(NotFound):
            secrets.grep("needle", path)
    with pytest.raises(NotFound):
        secrets.grep("needle", after="hidden/needle.org:1")
    assert secrets.grep("needle").unreadable == ()
    assert [line for _, line, _ in hits(secrets.grep("needle"))] == [2, 7, 15]


# --- Files ---------------------------------------------------------------------------------------


def test_what_changed_is_found(notes: Path) -> None:
    memex = open_memex(notes)
    assert memex.grep("wombat").entries == ()
    write(notes, {"new.org": "* New\nwombat\n", "garden.org": "* Other\nwombat too\n"})
    assert [hit[1:] for hit in hits(memex.grep("wombat"))] == [(2, "wombat too"), (2, "wombat")]
    (notes / "new.org").unlink()
    assert [hit[1:] for hit in hits(memex.grep("wombat"))] == [(2, "wombat too")]


def test_a_file_that_cannot_be_read_is_told_of_and_the_others_are_searched(notes: Path) -> None:
    write(notes, {"latin.org": "* caf\xe9 tulips\n".encode("latin-1")})
    found = open_memex(notes).grep("tulips")
    assert len(found.entries) == 4
    assert [(each.path, each.line) for each in found.unreadable] == [("latin.org", 0)]


def test_nothing_is_written_to_notes(notes: Path) -> None:
    before = snapshot(notes)
    memex = open_memex(notes)
    for query in ({"pattern": "tulips"}, {"pattern": "nothing"}, {"todo": "TODO"}):
        memex.grep(**query)
    memex.grep("t.*p", regexp=True, limit=1)
    assert snapshot(notes) == before


def test_b47_files_without_much_in_them(notes: Path) -> None:
    for number, text in enumerate(("", "\n\n", "#+title: only\n", "* no line feed at end")):
        write(notes, {f"small{number}.org": text})
    memex = open_memex(notes)
    assert hits(memex.grep("end", "small3.org")) == [
        ("small3.org::no line feed at end", 1, "* no line feed at end")
    ]
    assert [line for _, line, _ in hits(memex.grep("^$", "small1.org", regexp=True))] == [1, 2]
    assert memex.grep("x", "small0.org").entries == ()


def test_a_name_with_odd_characters_stays_on_its_line(notes: Path) -> None:
    write(notes, {"new\nline.org": "* A\nwombat\n* B\nwombat\n"})
    memex = open_memex(notes)
    found = memex.grep("wombat", limit=1)
    assert found.text.count("\n") == 3
    assert [line for _, line, _ in hits(memex.grep("wombat", after=found.cursor))] == [4]


# --- The command line ----------------------------------------------------------------------------


@pytest.fixture
def grep(notes: Path, ask: Ask) -> Ask:
    """Ask the command."""
    return partial(ask, "grep")


ROOT = ("--root", "notes")


@pytest.mark.parametrize(
    ("arguments", "query"),
    [
        (("tulips",), {"pattern": "tulips"}),
        (("TULIPS", "--ignore-case"), {"pattern": "tulips", "ignore_case": True}),
        (("t.l", "--regexp"), {"pattern": "t.l", "regexp": True}),
        (("", "--todo", "TODO", "--todo", "DONE"), {"todo": ("TODO", "DONE")}),
        (("ulip", "garden.org::Beds", "--tag", "dig"), {"pattern": "ulip", "tag": "dig"}),
        (("", "--property", "SIZE", "--property", "ID"), {"property": ("SIZE", "ID")}),
        (("i", "--limit", "2"), {"pattern": "i", "limit": 2}),
        (("i", "--budget", "90"), {"pattern": "i", "budget": 90}),
        (("tulips", "--after", "garden.org:15"), {"pattern": "tulips", "after": "garden.org:15"}),
        (("tulips", "--no-sync"), {"pattern": "tulips"}),
        (("--inlinetask-min-level", "15", "tulips"), {"pattern": "tulips"}),
    ],
    ids=str,
)
def test_the_command_prints_the_text(
    grep: Ask, memex: Memex, arguments: tuple[str, ...], query: dict[str, Any]
) -> None:
    text = memex.grep(**query).text
    status, out, err = grep(*arguments, *ROOT)
    assert (status, err) == (0, "")
    if "orgctx grep" not in out:
        assert out == text
        return
    shown, _, call = out.rpartition("orgctx grep ")
    assert text.startswith(shown[: shown.rindex("… and")])
    status, after, err = grep(*shlex.split(call))
    assert (status, err) == (0, "")
    assert not set(after.split("\n")[:1]) & set(out.split("\n")), "a call that goes on"


def test_the_command_prints_json_within_the_budget(grep: Ask, memex: Memex) -> None:
    status, out, err = grep("i", "--json", *ROOT)
    assert (status, err, json.loads(out)["cursor"]) == (0, "", None)
    assert json.loads(out) == json.loads(json.dumps(to_data(memex.grep("i"))))
    status, out, err = grep("i", "--json", "--budget", "300", *ROOT)
    assert (status, err) == (0, "")
    assert count(out) <= 300
    assert json.loads(out)["left_out"] > 0
    assert json.loads(out)["entries"][0]["hits"][0] == [2, ":ID: file-0000001"]


def test_nothing_found_says_so(grep: Ask) -> None:
    status, out, err = grep("wombat", *ROOT)
    assert (status, out) == (1, "")
    assert err == "orgctx: nothing found for 'wombat'; try another word, or --ignore-case\n"
    assert grep("Tulisp", *ROOT).err == (
        "orgctx: nothing found for 'Tulisp'; there is a title 'Tulips'\n"
    )
    assert grep("tulips", "sub", *ROOT, "--ignore-case").err == (
        "orgctx: nothing found for 'tulips' in sub; try another word\n"
    )
    assert grep("", "--todo", "NEXT", *ROOT).status == 1
    status, out, err = grep("wombat", "--json", *ROOT)
    assert (status, json.loads(out)["entries"]) == (1, [])


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        ((), 2),
        (("",), 2),
        (("a(", "--regexp"), 2),
        (("a", "--limit", "0"), 2),
        (("a", "--budget", "-1"), 2),
        (("a", "--budget", "1"), 3),
        (("a", "nowhere.org"), 1),
        (("a", "--after", "nowhere.org:1"), 1),
        (("a", "--property", "=x"), 2),
    ],
    ids=str,
)
def test_refusals(grep: Ask, arguments: tuple[str, ...], status: int) -> None:
    result = grep(*arguments, *ROOT)
    assert (result.status, result.out) == (status, "")
    assert re.fullmatch(r"orgctx: [^\n]+\n", result.err)


def test_the_smallest_budget_that_is_named_works(grep: Ask) -> None:
    needed = re.search(r"budget of (\d+) or more", grep("i", "--budget", "1", *ROOT).err)
    assert needed
    result = grep("i", "--budget", needed[1], *ROOT)
    assert result.status == 0
    assert count(result.out) <= int(needed[1])


def test_unreadable_files_are_named_on_standard_error(grep: Ask, notes: Path) -> None:
    write(notes, {"latin.org": "* caf\xe9\n".encode("latin-1")})
    status, out, err = grep("tulips", *ROOT)
    assert status == 0
    assert "latin" not in out
    assert re.fullmatch(r"orgctx: latin\.org: not UTF-8 text, from line 1 on; [^\n]+\n", err)


def test_unsaved_edits_of_what_is_shown_are_told_of(grep: Ask, notes: Path) -> None:
    (notes / "sub" / ".#house.org").symlink_to("somebody@host.1")
    assert grep("tulips", *ROOT).err == ""
    result = grep("挖", *ROOT)
    assert (result.status, result.out.count("\n")) == (0, 2)
    assert re.fullmatch(r"orgctx: sub/house\.org: [^\n]*unsaved[^\n]*\n", result.err)


def test_without_a_root_a_file_is_searched_alone(grep: Ask) -> None:
    result = grep("tulips", "notes/garden.org", "--limit", "1")
    assert result.out.startswith("id:beds-0000001 — notes/garden.org::Beds")
    assert grep("tulips", "notes").status == 1
    assert "--root" in grep("tulips", "notes").err


def test_the_default_roots_are_searched(grep: Ask, notes: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("ORGCTX_ROOT", str(notes))
    expected = grep("tulips", *ROOT)
    for path in ((), ("notes",), ("notes/garden.org",)):
        assert grep("tulips", *path) == expected


def test_the_budget_of_the_settings_holds(grep: Ask, notes: Path) -> None:
    write(notes, {"orgctx.toml": "budget = 90\n"})
    assert 40 < count(grep("i", *ROOT).out) <= 90


@pytest.mark.parametrize("size", [2**63 - 1, 2**63, 10**30])
def test_a_limit_or_budget_of_any_size_is_no_limit(tmp_path: Path, ask: Ask, size: int) -> None:
    root = write(tmp_path / "notes", {"f/a.org": "* One\n* One more\n", "f/b.org": "* One\n"})
    calls = [("grep", "One"), ("ls", "f"), ("ls", "."), ("ls", "f/a.org")]
    for call in calls:
        usual = ask(*call, "--root", root)
        assert (usual.status, usual.err) == (0, "")
        assert ask(*call, "--root", root, "--limit", str(size)) == usual
        assert ask(*call, "--root", root, "--budget", str(size)) == usual
    for call in (("read", "f/a.org"), ("focus", "f/a.org"), ("overview",), ("context", "One")):
        usual = ask(*call, "--root", root)
        assert ask(*call, "--root", root, "--budget", str(size)) == usual
