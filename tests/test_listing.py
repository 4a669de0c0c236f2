"""ls: one level at a time, bounded, and a refusal that shows the way."""

import json
import os
import re
import shlex
import subprocess
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from unicodedata import normalize

import emacs
import pytest
from growth import check_growth
from hypothesis import event, given
from hypothesis import strategies as st
from memexes import store_of
from notes import write
from program import PROGRAM, TOKENIZERS, Ask, as_json, loaded_by

from orgctx.core.heading import printable
from orgctx.core.outline import outline
from orgctx.errors import BadArgument, BudgetTooSmall, NotFound, OrgctxError
from orgctx.store.database import connect
from orgctx.store.indexed import IndexedStore
from orgctx.store.opening import open_store
from orgctx.store.store import Store
from orgctx.surfaces.output import to_json
from orgctx.tokens import count
from orgctx.views.listing import ls, to_data
from orgctx.views.query import query_of
from orgctx.views.searching import Page, search
from orgctx.views.shell import shell_command
from orgctx.views.totals import totals
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
    return write(tmp_path / "notes", NOTES)


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
        assert lines(store, "a.org::Four") == ["nothing below a.org::Four"]


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
        assert lines(store, "empty") == ["nothing below empty"]


@pytest.mark.parametrize(
    ("path", "message", "hint"),
    [
        (
            "other",
            "other: no such root or folder",
            "the roots are: notes; the folders in notes/ are: p/, z/",
        ),
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


@pytest.mark.parametrize("way", ["{}", "{}/", "./{}", "notes/{}"])
def test_of_folders_in_two_normal_forms_the_one_that_is_named_is_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    names = {form: normalize(form, "rés") for form in ("NFC", "NFD")}
    root = write(tmp_path / "notes", {f"{name}/{f}.org": "* x\n" for f, name in names.items()})
    monkeypatch.chdir(root)
    for store in stores(root):
        for form, name in names.items():
            assert bare(lines(store, way.format(name)))[0].startswith(f"{name}/{form}.org")
            found = search(store, query_of("x", way.format(name)), Page(), Limit())
            assert f"{name}/{form}.org" in found.text
            assert found.text.count(".org") == 1


def test_an_unknown_root_lists_the_roots(root: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for store in stores(root, tmp_path / "empty"):
        with pytest.raises(NotFound, match=r"^other: no such root$") as raised:
            ls(store, "other", Limit())
        assert raised.value.hint == "the roots are: notes, empty"


@pytest.mark.parametrize(
    ("path", "after"),
    [("", "nowhere"), ("notes", "c.org"), ("notes", "p/c.org"), ("p", "c.org"), ("p", "p/q/d.org")],
)
def test_a_page_begins_behind_what_is_on_a_page(root: Path, path: str, after: str) -> None:
    for store in stores(root):
        if after == "c.org" and path == "notes":  # it may have been there
            assert [row.kind for row in ls(store, path, Limit(), after=after).rows] == [
                "folder"
            ] * 2
            continue
        with pytest.raises(BadArgument, match=f"^after: {after}: not in "):
            ls(store, path, Limit(), after=after)


def test_a_folder_that_is_called_as_its_root_does_not_hide_it(tmp_path: Path) -> None:
    for store in stores(write(tmp_path / "p", {"p/a.org": "* A\n", "b.org": "* B\n"})):
        [row] = ls(store, "", Limit()).rows
        assert [each.address for each in ls(store, row.address, Limit()).rows] == ["p/", "b.org"]
        assert [each.address for each in ls(store, "p", Limit()).rows] == ["p/a.org"]


ODD = (b"-a.org", b"a b's.org", b"b\xff.org", b"c\nd.org", b"c\nroot - 9 files.org", b"d\xfe/x.org",
       b"e\n/-y.org", "é.org".encode(), b"f/$HOME.org")  # fmt: skip


def test_every_page_is_one_call_away_whatever_files_are_called(tmp_path: Path) -> None:
    for name in ODD:
        place = Path(os.fsdecode(os.fsencode(tmp_path / "n") + b"/" + name))
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text("* A\n* B\n* C\n")
    names = [os.fsdecode(name) for name in ODD]
    calls = [shell_command("ls", [path], ["--root", "n", "--limit", "1"]) for path in (".", *names)]
    heads: list[str] = []
    while calls:
        call = calls.pop().replace("orgctx", shlex.quote(str(PROGRAM)), 1)
        done = subprocess.run(["bash", "-c", call], cwd=tmp_path, capture_output=True, check=True)
        lines = done.stdout.decode().split("\n")[:-1]
        heads += [line.partition(" — ")[0] for line in lines if line[0] != "…"]
        calls += [rest[0] for line in lines if line[0] == "…" and (rest := CALL.search(line))]
    assert len(heads) == len(set(heads)) == 3 + 6 + 3 * len(ODD)
    assert all(printable(head) == head for head in heads)


CALL = re.compile(r"orgctx ls .*")


def test_pages_cover_all_of_it_once(tmp_path: Path) -> None:
    for number in range(23):
        write(tmp_path, {f"f{number:02}/x.org": "* X\n", f"{number:02}.org": "* H\n" * number})
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
        write(tmp_path, {f"{number}.org": ""})
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
    write(root, {"orgctx.toml": 'private_tags = ["x", "hush"]\n'})
    write(root, {"z/e.org": "#+filetags: :hush:\n* H\n"})
    for store in stores(root):
        assert bare(lines(store)) == ["notes — 4 files, 5 headlines"]
        assert not any("z/" in line or "One" in line for line in lines(store, "notes"))
        with pytest.raises(OrgctxError):
            ls(store, "z", Limit())


def test_json_has_the_same_fields(root: Path, ask: Ask) -> None:
    data = as_json(ask("ls", "p", "--root", root, "--json"))
    assert data == json.loads(json.dumps(to_data(ls(open_store([root]), "p", Limit()))))
    assert [row["address"] for row in data["rows"]] == ["p/q/", "p/c.org"]


PLANNED = {
    "a.org": "#+filetags: :f:\n* TODO One :x:y:\nSCHEDULED: <2026-01-02> DEADLINE: <2026-02-01>\n"
    "** DONE Two :x:\nCLOSED: [2025-12-31 Wed]\n* TODO Three\nSCHEDULED: <2026-05-01 Fri>\n",
    "p/b.org": "* DONE Four :x:\nCLOSED: [2025-11-30 Sun 10:00]\n",
    "pq.org": "* NEXT :z:\n",
    "q/c.org": "* Sealed :crypt:\nSCHEDULED: <2026-01-01>\n* Private :hush:\n** TODO Hidden\n",
}


def test_long_adds_totals(tmp_path: Path, ask: Ask) -> None:
    write(tmp_path, {**PLANNED, "orgctx.toml": 'private_tags = ["hush"]\n'})
    name = tmp_path.name
    for store in stores(tmp_path):
        assert lines(store, "", is_long=True)[-1] == (
            "  DONE 2, TODO 2; :x: 3, :crypt: 1, :f: 1, :y: 1, :z: 1;"
            " CLOSED 2 (2025-11-30 to 2025-12-31), DEADLINE 1 (2026-02-01),"
            " SCHEDULED 2 (2026-01-02 to 2026-05-01)"
        )
        below = lines(store, name, is_long=True)
        assert below[below.index("p/ — 1 file, 1 headline") + 1] == (
            "  DONE 1; :x: 1; CLOSED 1 (2025-11-30)"
        )
        assert below[-1] == "  :z: 1"
        assert "  :crypt: 1" in below
        assert lines(store, "a.org", is_long=True)[1] == (
            "  DONE 1, TODO 1; :x: 2, :y: 1; CLOSED 1 (2025-12-31), DEADLINE 1 (2026-02-01),"
            " SCHEDULED 1 (2026-01-02)"
        )
    [row] = as_json(ask("ls", "p", "--root", tmp_path, "--long", "--format", "json"))["rows"]
    assert row["totals"] == {
        "keywords": {"DONE": 1},
        "tags": {"x": 1},
        "other_tags": 0,
        "dates": {"CLOSED": {"number": 1, "first": "2025-11-30", "last": "2025-11-30"}},
    }


def test_of_many_tags_the_most_frequent_are_named(tmp_path: Path) -> None:
    tags = [f"t{number:02}" for number in range(30) for _ in range(number)]
    text = "".join(f"* A :{tag}:\n" for tag in tags)
    for store in stores(write(tmp_path, {"a.org": text})):
        named = ", ".join(f":t{number:02}: {number}" for number in range(29, 19, -1))
        assert lines(store, tmp_path.name, is_long=True)[1] == f"  {named}, 19 other tags"


@pytest.mark.corpora
def test_totals_are_the_same_looked_up_and_read() -> None:
    known, plain = stores(emacs.corpus_root())
    known.sync()
    for path in ("", *(folder.path for folder in known.folders_in("", 5)[0])):
        assert totals(known.facts(path)) == totals(plain.facts(path))


@given(st.lists(st.text(st.characters(codec="utf-8"), max_size=20), max_size=8), st.booleans())
def test_pages_are_counted_line_by_line(pieces, is_ended):
    text = "\n".join(pieces) + "\n" * is_ended
    with TemporaryDirectory() as folder:
        for _ in range(2):  # once counted, once remembered
            store = IndexedStore([folder], Path(folder, "store.sqlite"))
            assert store.page_counter("tokens", "o200k_base")(text) == count(text)
            assert store.page_counter("chars", "o200k_base")(text) == len(text)


def test_a_busy_store_remembers_no_count(tmp_path: Path) -> None:
    store = IndexedStore([tmp_path], tmp_path / "store.sqlite")
    other = connect(tmp_path / "store.sqlite")
    [(before,)] = other.execute("SELECT count(*) FROM tokens").fetchall()
    for is_busy in (True, False):
        if is_busy:
            other.execute("BEGIN IMMEDIATE")
        assert store.page_counter("tokens", "o200k_base")("one\ntwo\n") == 4
        [(known,)] = other.execute("SELECT count(*) FROM tokens").fetchall()
        assert known - before == (0 if is_busy else 2)
        if is_busy:
            other.execute("ROLLBACK")


def test_a_listing_that_was_shown_before_needs_no_tokenizer(root: Path) -> None:
    write(root, {f"note {number}.org": "#+title: A title\n" for number in range(60)})
    script = (
        f"from orgctx import open_memex;open_memex({str(root)!r}).ls({root.name!r}, budget=700)"
    )
    shown = [loaded_by(script, *TOKENIZERS) for _ in range(3)]
    assert shown[1:] == [("", set())] * 2


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


def test_a_root_may_be_called_as_the_memex_is(tmp_path: Path) -> None:
    write(tmp_path, {"memex/a.org": "* A\n", "other/b.org": "* B\n"})
    for store in stores(tmp_path / "memex", tmp_path / "other"):
        assert [row.address for row in ls(store, "memex", Limit()).rows] == ["memex/a.org"]


def test_a_page_behind_a_headline_of_another_file_is_refused(root: Path) -> None:
    for store in stores(root):
        with pytest.raises(BadArgument, match=r"^after: b\.org:1: not in a\.org$"):
            ls(store, "a.org", Limit(), after="b.org:1")


@pytest.mark.parametrize(
    "text",
    [
        "* A :" + ":".join(f"t{number}" for number in range(3000)) + ":\n* B\n",
        f"* A\n:PROPERTIES:\n:ID: {'x' * 200_000}\n:END:\n* B\n",
        f"* A\n:PROPERTIES:\n:CUSTOM_ID: {'x' * 200_000}\n:END:\n* B\n",
        f"#+TODO: {'X' * 100_000} | DONE\n* {'X' * 100_000} A\n* B\n",
        f"* A :{'x' * 100_000}:\n* B\n",
        f"* {'title ' * 20_000}\n* B\n",
    ],
    ids=["tags", "id", "custom_id", "keyword", "tag", "title"],
)
def test_no_row_is_too_long_for_a_page(tmp_path: Path, text: str) -> None:
    write(tmp_path, {"a.org": text})
    for store in stores(tmp_path):
        for is_long in (False, True):
            for shape in (None, lambda listing: to_json(to_data(listing))):
                found = ls(store, "a.org", Limit(1000), shape=shape, is_long=is_long)
                assert [row.title[:5] for row in found.rows] in (["A", "B"], ["title", "B"])
                ls(store, "", Limit(1000), shape=shape, is_long=is_long)


def test_names_that_are_no_text_are_counted_as_they_are_written(tmp_path: Path) -> None:
    for name in (b"a\xff.org", b"b\xfe\xff.org", b"c\xff/d.org"):
        place = Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name))
        place.parent.mkdir(exist_ok=True)
        place.write_text("* A\n")
    for store in stores(tmp_path):
        whole = ls(store, ".", Limit())
        printed = whole.text.encode("utf-8", "backslashreplace").decode()
        assert whole.tokens == count(printed)
        with pytest.raises(BudgetTooSmall) as raised:
            ls(store, ".", Limit(10))
        assert ls(store, ".", Limit(raised.value.needed)).rows


def test_time_of_long_rows_grows_with_their_number(tmp_path: Path) -> None:
    def store(size: int) -> Store:
        text = "".join(f"* H{number} :x:\n" for number in range(size))
        folder = write(tmp_path / str(size), {"a.org": text})
        return open_store([folder])

    check_growth(lambda known: ls(known, "a.org", Limit(10**9), 10**6, is_long=True), store, 200)


def test_errors_are_no_way_around_a_budget(tmp_path: Path, ask: Ask) -> None:
    title = "Foo " * 20_000
    write(tmp_path / "n", {"big.org": f"* {title}\n", "b.org": "* B\n"})
    for number in range(300):
        write(tmp_path / "n", {f"bad{number}.org": b"* caf\xe9\n", f"top/f{number}/a.org": "* A\n"})
    for arguments in (
        ("read", "big.org::*foo foo"),
        ("ls", "top/nosuch"),
        ("focus", "x" * 100_000),
        ("grep", "B"),
    ):
        answer = ask(*arguments, "--root", tmp_path / "n", "--budget", "100")
        assert count(answer.out) <= 100
        assert count(answer.err) < 1200
    for arguments in (("status",), ("sync",)):
        data = as_json(ask(*arguments, tmp_path / "n", "--json"))
        assert data["problem_count"] == 300
        assert len(data["problems"]) + data["rest"][0]["more"] == 300
