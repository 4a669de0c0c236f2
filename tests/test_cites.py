"""Cites: numbers that stay, text as it was read, links to where it is now, and none besides."""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random

import pytest
from dulwich import porcelain
from growth import seconds
from hypothesis import given, settings
from hypothesis import strategies as st
from notes import snapshot, write
from program import loaded_by, script
from threads import at_once

from orgctx import BadArgument, BudgetTooSmall, NotFound, Stale, open_memex
from orgctx import cites as citing
from orgctx.cites import Cites, clip, normalised, numbers

NOTES = """\
#+title: Garden
intro
* Colors
red
green
blue
* Shapes
round
square
"""
SECRET = """\
#+title: Open
* One
text one
** Hidden :private:
hidden text
* Two
text two
* Vault :crypt:
pin 0000
* Last
text three
* Tail :private:
tail text
"""
SETTING = 'private_tags = ["private"]\n'


@pytest.fixture
def root(home: Path) -> Path:
    """A folder of notes below the current one."""
    return write(home / "notes", {"garden.org": NOTES})


def read_all(root: Path, *names: str, cites: Cites | None = None) -> Cites:
    """Read whole files, and give what remembers it."""
    cites, memex = cites or Cites(), open_memex(root)
    for name in names or ("garden.org",):
        memex.read(name, subtree=True, cites=cites)
    return cites


def forgetful(cites: Cites) -> Cites:
    """The same numbers, without the texts that were shown."""
    file = Path("forgetful.json")
    assert cites.save(file)
    data = json.loads(file.read_bytes())
    file.write_text(json.dumps({**data, "shown": []}), encoding="utf-8")
    return Cites.load(file)


def reloaded(cites: Cites) -> Cites:
    """The same, by way of a file."""
    assert cites.save("reloaded.json")
    return Cites.load("reloaded.json")


def link(cites: Cites, answer: str, style: str = "link") -> str:
    """An answer in which nothing is wrong, written anew."""
    text, problems = normalised(answer, cites, style)
    assert problems == []
    return text


# --- Numbers -------------------------------------------------------------------------------------


def test_a_file_at_a_revision_has_one_number(root):
    write(root, {"other.org": "* Other\n"})
    memex, cites = open_memex(root), Cites()
    asked = ["garden.org", "garden.org::*Colors", "other.org", "garden.org::*Shapes", "garden.org"]
    assert [memex.read(each, cites=cites).handle for each in asked] == [1, 1, 2, 1, 1]
    write(root, {"garden.org": NOTES + "new\n"})
    assert memex.read("garden.org", cites=cites).handle == 3
    write(root, {"garden.org": NOTES})
    assert memex.read("garden.org", cites=cites).handle == 1
    assert [(each.path, each.title) for each in cites.sources] == [
        ("garden.org", "Garden"),
        ("other.org", ""),
        ("garden.org", "Garden"),
    ]


def test_files_of_one_path_in_two_places_have_two_numbers(root, tmp_path):
    write(tmp_path / "more", {"garden.org": NOTES})
    cites = read_all(root)
    read_all(tmp_path / "more", cites=cites)
    assert len(cites.sources) == 2


def test_a_file_has_one_number_by_whatever_path_it_is_read(root, monkeypatch):
    cites = read_all(root)
    open_memex("notes/garden.org").read("notes/garden.org", cites=cites)
    monkeypatch.chdir(root)
    open_memex("garden.org").read("./garden.org", cites=cites)
    assert len(cites.sources) == 1


def test_a_read_without_a_registry_has_the_number_1(root):
    memex = open_memex(root)
    assert {memex.read(each).handle for each in ("garden.org", "garden.org::*Colors")} == {1}


def test_what_was_refused_is_not_remembered(root):
    cites = Cites()
    with pytest.raises(BudgetTooSmall):
        open_memex(root).read("garden.org", budget=3, cites=cites)
    with pytest.raises(NotFound):
        open_memex(root).read("garden.org", lines="40-50", cites=cites)
    assert cites._data() == {"sources": [], "shown": []}


def test_threads_get_numbers_of_their_own(root):
    names = [f"{number}.org" for number in range(40)]
    write(root, {name: f"* {name}\n" for name in names})
    memex, cites = open_memex("notes"), Cites()
    found = at_once(*(partial(memex.read, name, subtree=True, cites=cites) for name in names))
    assert sorted(each.handle for each in found) == list(range(1, 41))
    assert all(each.text.startswith(f"[{each.handle}] {each.path} ") for each in found)
    assert all(cites.resolve(each.handle, 1) == f"* {each.path}\n" for each in found)


@given(st.lists(st.integers(1, 9), max_size=12), st.integers(1, 60), st.integers(1, 60))
def test_lines_are_clipped_to_those_that_may_be_shown(steps, first, last):
    """Against counting one by one. steps: lengths of runs and of what is between them."""
    edges = [sum(steps[:n]) + 1 for n in range(len(steps) + 1)]
    spans = tuple((a, b - 1) for a, b in zip(edges[::2], edges[1::2], strict=False))
    inside = [n for a, b in spans for n in range(a, b + 1) if first <= n <= last]
    assert numbers(spans, first, last) == inside
    assert clip(spans, first, last) == ((inside[0], inside[-1]) if inside else None)


# --- Text at a revision --------------------------------------------------------------------------


@pytest.mark.parametrize("again", [lambda cites: cites, reloaded], ids=["in memory", "reloaded"])
def test_a_cite_is_of_the_file_as_it_was_read(root, again):
    """Unchanged, changed above, changed itself, and gone."""
    cites = again(read_all(root))
    lines = NOTES.splitlines()
    for text in (NOTES, f"* New\nabove\n{NOTES}", NOTES.replace("green", "grey"), "", None):
        if text is None:
            (root / "garden.org").unlink()
        else:
            write(root, {"garden.org": text})
        for first in range(1, 10):
            for last in range(first, 10):
                expected = "".join(f"{line}\n" for line in lines[first - 1 : last])
                assert cites.resolve(1, first, last) == expected


def test_a_cite_of_one_line_needs_no_last(root):
    assert read_all(root).resolve(1, 5) == "green\n"


def test_lines_beyond_the_end_are_the_last(root):
    cites = read_all(root)
    assert cites.resolve(1, 9, 10**30) == cites.resolve(1, 50) == "square\n"


def test_what_was_not_read_has_no_text(root):
    cites = read_all(root)
    for number in (0, 2, -1, 10**30):
        with pytest.raises(NotFound):
            cites.resolve(number, 1)


@pytest.mark.parametrize(("first", "last"), [(0, 1), (3, 2), (-1, 1), ("1", "2"), (1.5, 2)])
def test_what_are_no_lines_is_refused(root, first, last):
    with pytest.raises(BadArgument):
        read_all(root).resolve(1, first, last)


def test_line_ends_do_not_matter(root):
    write(root, {"garden.org": NOTES.replace("\n", "\r\n")})
    cites = read_all(root)
    assert cites.resolve(1, 4, 5) == "red\ngreen\n"
    write(root, {"garden.org": NOTES})
    assert cites.resolve(1, 4, 5) == "red\ngreen\n"


def test_only_the_lines_that_were_shown_are_remembered(root):
    cites = Cites()
    open_memex(root).read("garden.org::*Colors", cites=cites)
    assert cites.resolve(1, 8) == "round\n"
    write(root, {"garden.org": "other\n"})
    assert cites.resolve(1, 5, 8) == "green\nblue\n"
    with pytest.raises(Stale) as caught:
        cites.resolve(1, 8)
    assert (caught.value.exit_status, caught.value.where) == (1, "garden.org")


def test_text_that_is_nowhere_any_more_is_stale(root):
    cites = forgetful(read_all(root))
    assert cites.resolve(1, 5) == "green\n"
    write(root, {"garden.org": NOTES + "more\n"})
    with pytest.raises(Stale):
        cites.resolve(1, 5)
    write(root, {"garden.org": NOTES})
    assert cites.resolve(1, 5) == "green\n"


def test_the_oldest_texts_are_forgotten_first(root, monkeypatch):
    noise = Random(1)
    names = [f"{n}.org" for n in range(4)]
    for name in names:
        write(root, {name: f"* {name}\n" + "".join(f"{noise.random()}\n" for _ in range(1000))})
    cites = read_all(root, *names)
    each = len(cites._data()["shown"][0]["packed"])
    monkeypatch.setattr("orgctx.cites.registry.KEPT_BYTES", int(each * 2.5))
    read_all(root, names[0], cites=cites)
    for name in names:
        (root / name).unlink()
    assert {s["number"] for s in cites._data()["shown"]} == {4, 1}
    assert cites.resolve(1, 1) == "* 0.org\n"
    with pytest.raises(Stale):
        cites.resolve(2, 1)


def test_two_megabytes_are_kept(root):
    noise = Random(1)
    for number in range(16):
        write(root, {f"{number}.org": "".join(f"{noise.random()}\n" for _ in range(20_000))})
    cites, memex = Cites(), open_memex(root)
    for number in range(16):
        memex.read(f"{number}.org", budget=10**9, unit="chars", cites=cites)
    sizes = [len(each["packed"]) for each in cites._data()["shown"]]
    assert 2_000_000 - max(sizes) < sum(sizes) <= 2_000_000
    cites.save("c.json")
    assert os.path.getsize("c.json") < 2_010_000


# --- Git -----------------------------------------------------------------------------------------


def git(folder: Path, *arguments: str) -> None:
    name = ("-c", "user.name=A", "-c", "user.email=a@b")
    subprocess.run(["git", *name, *arguments], cwd=folder, check=True, capture_output=True)


def commit(repository: Path, *places: Path) -> None:
    """Commit files, by dulwich."""
    if not (repository / ".git").exists():
        porcelain.init(repository)
    porcelain.add(repository, paths=[str(place) for place in places])
    porcelain.commit(repository, message=b"x", author=b"A <a@b>", committer=b"A <a@b>")


@pytest.mark.parametrize("is_packed", [False, True], ids=["loose", "packed"])
@pytest.mark.parametrize("above", ["notes", "."], ids=["the root", "above the root"])
def test_text_is_found_in_git(root, tmp_path, is_packed, above):
    repository = (tmp_path / above).resolve()
    commit(repository, root / "garden.org")
    cites = forgetful(read_all(root))
    commit(repository, write(root, {"garden.org": "something else\n"}) / "garden.org")
    if is_packed:
        git(repository, "gc", "--quiet")
    before = snapshot(tmp_path)
    assert cites.resolve(1, 4, 6) == "red\ngreen\nblue\n"
    assert snapshot(tmp_path) == before
    (root / "garden.org").unlink()
    before = snapshot(tmp_path)
    assert cites.resolve(1, 4, 6) == "red\ngreen\nblue\n"
    assert snapshot(tmp_path) == before


def test_text_is_found_in_a_worktree_and_under_its_encoding(root, tmp_path):
    place = root / "garden.org"
    place.write_bytes("# -*- coding: latin-1 -*-\ngr\u00fcn\n".encode("latin-1"))
    git(root, "init", "--quiet")
    git(root, "add", ".")
    git(root, "commit", "--quiet", "-m", "x")
    git(root, "worktree", "add", "--quiet", str(tmp_path / "tree"))
    cites = forgetful(read_all(tmp_path / "tree"))
    write(tmp_path / "tree", {"garden.org": "other\n"})
    assert cites.resolve(1, 2) == "grün\n"


def test_a_text_that_was_never_committed_is_stale(root):
    commit(root, root / "garden.org")
    write(root, {"garden.org": "between\n"})
    cites = forgetful(read_all(root))
    write(root, {"garden.org": "after\n"})
    with pytest.raises(Stale):
        cites.resolve(1, 1)


@pytest.mark.parametrize("damage", ["config", "objects", "HEAD"])
def test_a_repository_that_cannot_be_read_has_nothing(root, damage):
    commit(root, root / "garden.org")
    cites = forgetful(read_all(root))
    write(root, {"garden.org": "after\n"})
    place = root / ".git" / damage
    if damage == "objects":
        for each in (each for each in place.rglob("*") if each.is_file()):
            each.chmod(0o600)
            each.write_bytes(b"nothing")
    else:
        place.write_bytes(b"[core]\n\trepositoryformatversion = 99\n")
    if damage == "HEAD":
        assert cites.resolve(1, 5) == "green\n"
    else:
        with pytest.raises(Stale):
            cites.resolve(1, 5)


def test_a_git_lookup_shows_nothing_private(root):
    write(root, {"orgctx.toml": SETTING})
    commit(root, write(root, {"open.org": SECRET}) / "open.org")
    cites = forgetful(read_all(root, "open.org"))
    write(root, {"open.org": "gone\n"})
    assert cites.resolve(1, 1, 99) == (
        "#+title: Open\n* One\ntext one\n* Two\ntext two\n* Vault :crypt:\n* Last\ntext three\n"
    )
    for line in (4, 5, 9):
        with pytest.raises(NotFound):
            cites.resolve(1, line)
    assert cites.resolve(1, 12) == cites.resolve(1, 11) == "text three\n"


def test_what_has_become_private_is_not_taken_from_git(root):
    commit(root, write(root, {"open.org": SECRET}) / "open.org")
    cites = forgetful(read_all(root, "open.org"))
    write(root, {"open.org": "gone\n"})
    assert cites.resolve(1, 4, 6) == "** Hidden :private:\nhidden text\n* Two\n"
    write(root, {"orgctx.toml": SETTING})
    cites = reloaded(cites)
    assert cites.resolve(1, 4, 6) == "* Two\n"
    with pytest.raises(Stale):
        cites.resolve(1, 5)


# --- The registry's file -------------------------------------------------------------------------


def test_a_registry_is_for_its_owner_alone_and_holds_no_private_text(root):
    write(root, {"orgctx.toml": SETTING, "open.org": SECRET})
    cites = read_all(root, "open.org", "garden.org")
    assert cites.save("c.json")
    assert stat.S_IMODE(os.stat("c.json").st_mode) == 0o600
    shown = [each for s in Cites.load("c.json")._stretches for each in s.texts().values()]
    for word in ("Hidden", "hidden text", "pin", "Tail", "tail text"):
        assert word not in " ".join(shown)
        assert word not in Path("c.json").read_text(encoding="utf-8")
    assert sorted(os.listdir()) == ["c.json", "notes"]


def test_a_registry_is_read_as_it_was_written(root):
    write(root, {"ü.org": "* A \\ ] \u2028 \x00\ntext\r\n"})
    cites = read_all(root, "garden.org", "ü.org")
    assert cites.save("c.json")
    again = Cites.load("c.json")
    assert again.sources == cites.sources
    assert again._stretches == cites._stretches
    before = os.stat("c.json").st_mtime_ns
    assert again.save("c.json")
    assert os.stat("c.json").st_mtime_ns == before


def test_a_link_to_a_registry_stays_one(root, tmp_path):
    (tmp_path / "there").mkdir()
    os.symlink("there/c.json", "c.json")
    for _ in range(2):
        cites = Cites.load("c.json", is_new_allowed=True)
        assert read_all(root, cites=cites).save("c.json")
    assert os.path.islink("c.json")
    assert len(Cites.load("there/c.json").sources) == 1


def test_a_registry_that_has_changed_meanwhile_is_not_overwritten(root):
    write(root, {"other.org": "* Other\n"})
    assert read_all(root).save("c.json")
    one, other = Cites.load("c.json"), Cites.load("c.json")
    assert read_all(root, "other.org", cites=other).save("c.json")
    kept = Path("c.json").read_bytes()
    assert not read_all(root, "garden.org::*Colors", cites=one).save("c.json")
    assert Path("c.json").read_bytes() == kept
    assert not read_all(root).save("c.json")
    assert sorted(os.listdir()) == ["c.json", "notes"]


def damages(good: bytes) -> dict[str, bytes]:
    """Files that are no registry, or one in which something is wrong."""
    data = json.loads(good)
    source, shown = data["sources"][0], data["shown"][0]

    def with_source(**change: object) -> bytes:
        return json.dumps({**data, "sources": [{**source, **change}]}).encode()

    def with_shown(**change: object) -> bytes:
        return json.dumps({**data, "shown": [{**shown, **change}]}).encode()

    return {
        "empty": b"",
        "a note": NOTES.encode(),
        "cut": good[:-20],
        "no UTF-8": b"\xff" + good,
        "a list": b"[]",
        "a number": b"1",
        "null": b"null",
        "no sources": b'{"shown": []}',
        "no texts": b'{"sources": []}',
        "deep": b"[" * 100_000,
        "a long number": b'{"sources": [' + b"9" * 10_000 + b"]}",
        "path": with_source(path=1),
        "revision": with_source(revision="x"),
        "blob": with_source(blob=None),
        "spans": with_source(spans=[[2, 1]]),
        "overlapping spans": with_source(spans=[[1, 4], [3, 5]]),
        "spans from 0": with_source(spans=[[0, 1]]),
        "home": with_source(home=[]),
        "roots": with_source(home={**source["home"], "roots": [1]}),
        "level": with_source(home={**source["home"], "inlinetask_min_level": 1}),
        "number": with_shown(number=7),
        "lines": with_shown(last=shown["last"] + 1),
        "true": with_shown(first=True),
        "text": with_shown(packed=shown["packed"][:-12]),
        "no gzip": with_shown(packed="QUFB"),
        "no base64": with_shown(packed="*"),
        "a flipped bit": with_shown(
            packed=shown["packed"][:40] + ("A" if shown["packed"][40] != "A" else "B")
            + shown["packed"][41:]
        ),
    }  # fmt: skip


def test_a_damaged_registry_is_one_clear_error_and_never_overwritten(root, ask):
    assert read_all(root).save("c.json")
    for name, damaged in damages(Path("c.json").read_bytes()).items():
        Path("c.json").write_bytes(damaged)
        for command in (["read", "notes/garden.org"], ["cite"]):
            status, out, err = ask(*command, "--cites", "c.json")
            assert (status, out) == (1, ""), name
            assert re.fullmatch(r"orgctx: c\.json: not a file of cites[^\n]*; [^\n]*\n", err), name
        assert Path("c.json").read_bytes() == damaged


@pytest.mark.parametrize("name", ["notes", "/dev/null"])
def test_what_is_no_file_is_no_registry(root, ask, name):
    status, out, err = ask("read", "notes/garden.org", "--cites", name)
    assert (status, out) == (1, "")
    assert err.startswith(f"orgctx: {name}: not a file")
    assert not os.path.isfile("/dev/null")


@pytest.mark.parametrize("name", ["", "a\0b"])
def test_what_is_no_name_is_refused(root, name):
    with pytest.raises(BadArgument):
        Cites.load(name, is_new_allowed=True)
    with pytest.raises(BadArgument):
        Cites().save(name)


def test_a_registry_in_no_folder_is_one_error(root, ask):
    status, out, err = ask("read", "notes/garden.org", "--cites", "nowhere/c.json")
    assert (status, out, err.count("\n")) == (1, "", 1)


def test_reads_at_once_get_numbers_of_their_own(root):
    names = [f"{number}.org" for number in range(4)]
    write(root, {name: f"* {name}\n" for name in names})
    call = ("read", "--cites", "c.json", "--subtree")
    answers = at_once(*(partial(script, *call, f"notes/{name}") for name in names))
    cites = Cites.load("c.json")
    for name, (_, out, _) in zip(names, answers, strict=True):
        handle = int(out[1 : out.index("]")])
        assert cites.resolve(handle, 1) == f"* {name}\n"
    assert len(cites.sources) == 4


# --- Links ---------------------------------------------------------------------------------------


def test_a_cite_becomes_a_link(root):
    cites = read_all(root)
    assert link(cites, "Red [1:L4] and more [1:L4-L6].") == (
        "Red [[file:garden.org::4][Garden, line 4]] and more "
        "[[file:garden.org::4][Garden, lines 4-6]]."
    )


def test_a_link_is_named_after_the_smallest_part_that_was_read(root):
    cites, memex = read_all(root), open_memex(root)
    memex.read("garden.org::*Colors", cites=cites)
    assert link(cites, "[1:L5] [1:L8]") == (
        "[[file:garden.org::5][Colors, line 5]] [[file:garden.org::8][Garden, line 8]]"
    )
    write(root, {"plain.org": "* \ntext\n"})
    memex.read("plain.org", subtree=True, cites=cites)
    assert link(cites, "[2:L1]") == "[[file:plain.org::1][plain.org, line 1]]"


def test_footnotes_stand_below_the_answer(root):
    answer = "Red [1:L4], green [1:L5], red [1:L4].[fn:2]\n\n[fn:2] Mine\n"
    assert link(read_all(root), answer, "footnote") == (
        "Red [fn:1], green [fn:3], red [fn:1].[fn:2]\n\n[fn:2] Mine\n\n"
        "[fn:1] [[file:garden.org::4][Garden, line 4]]\n"
        "[fn:3] [[file:garden.org::5][Garden, line 5]]\n"
    )


@pytest.mark.parametrize(
    ("answer", "above"), [("a [1:L4]", "\n\n"), ("a [1:L4]\n", "\n"), ("a [1:L4]\n\n", "")]
)
def test_one_blank_line_is_above_footnotes(root, answer, above):
    text = link(read_all(root), answer, "footnote")
    assert text == answer.replace("[1:L4]", "[fn:1]") + above + (
        "[fn:1] [[file:garden.org::4][Garden, line 4]]\n"
    )


def test_a_footnote_at_the_start_of_a_line_is_not_taken_for_its_text(root):
    text = link(read_all(root), "[1:L4] is red\r\n[1:L5]", "footnote")
    assert text.startswith("\u200b[fn:1] is red\r\n\u200b[fn:2]\r\n\r\n[fn:1] [[")


def test_an_answer_without_cites_gets_no_footnotes(root):
    assert link(read_all(root), "text", "footnote") == "text"


def test_an_unknown_style_is_refused(root):
    with pytest.raises(BadArgument):
        normalised("", read_all(root), "note")
    with pytest.raises(BadArgument):
        normalised(b"", read_all(root))


BAD = (
    *("[7:L1]", "[0:L1]", "[01:L1]", f"[{'9' * 10_000}:L1]", "[1:12]", "[1:12-19]", "[1:L6-L4]"),
    *("[1:Lx]", "[1:L]", "[1:L0]", "[1:L0-L4]", "[1:L04]", "[1:l4]", "[1:L4-5]", "[1:L4–L5]"),
    *("[1:L4-]", "[1: L4]", "[ 1:L4]", "[1:L4 ]", "[1:L 4]", "[1:L4,L5]", "[1:L4; 1:L5]"),
    *("[1:L4-L5-L6]", "[1:line 4]", "[1:lines 4-5]", "[1:L4x]", "[1:12, 13]"),
)


@pytest.mark.parametrize("bad", BAD, ids=lambda bad: bad[:20])
@pytest.mark.parametrize("style", citing.STYLES)
def test_what_is_malformed_or_unknown_is_removed_and_reported(root, bad, style):
    text, problems = normalised(f"One\ntwo {bad}, three\n", read_all(root), style)
    assert text == "One\ntwo, three\n"
    [problem] = problems
    assert (problem.line, problem.is_removed) == (2, True)
    assert bad.startswith(problem.cite.rstrip("…"))
    assert len(problem.cite) <= 41


ALIKE = (
    *("[1]", "[12]", "[2024-01-01]", "[2024-01-01 Mon 10:30]", "[fn:1]", "[fn:1:L2]", "[1/2]"),
    *("[10:30]", "[7:12]", "[1:]", "[1:a]", "[1: see L4]", "[1:30pm]", "[:L1]", "[L1]", "1:L4"),
    *("[a1:L4]", "[-1:L4]", "[1.0:L4]", "[1:L4", "1:L4]", "[1\n:L4]", "[1:L4\n]", "(1:L4)"),
    *("[[id:x][1:L4]]", "[[id:x][see [1:L4]]]", "[[file:a.org::4][a [b] 1:L4]]", "[[*1:L4]]"),
    *("=[1:L4]=", "~x[1:L4]~", "(=a [7:L1] b=)", "[١:L4]", "[²:L4]"),
    "\n#+begin_src python\nx[1:L4] + y[7:L]\n#+end_src\n[1]",
    "\n  #+BEGIN_EXAMPLE\n[7:L1]\n  #+end_example\n",
)


@pytest.mark.parametrize("alike", ALIKE)
@pytest.mark.parametrize("style", citing.STYLES)
def test_what_only_looks_alike_is_left_as_it_is(root, alike, style):
    cites = read_all(root)
    for answer in (alike, f"See {alike}, and {alike}\n"):
        assert normalised(answer, cites, style) == (answer, [])


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("[[1:L4]]", "[LINK]"),
        ("a=[1:L4]=", "a=LINK="),
        ("#+begin_src\n[1:L4]\n", "#+begin_src\nLINK\n"),
        ("#+begin_src\n* A\n[1:L4]\n#+end_src\n", "#+begin_src\n* A\nLINK\n#+end_src\n"),
        ("#+begin_quote\n[1:L4]\n#+end_quote", "#+begin_quote\nLINK\n#+end_quote"),
        ("#+end_src\n[1:L4]\n#+begin_src", "#+end_src\nLINK\n#+begin_src"),
        ("[[id:x][y]][1:L4][[id:x]]", "[[id:x][y]]LINK[[id:x]]"),
        ("[[id:x\n][1:L4]]", "[[id:x\n]LINK]"),
        ("(see[1:L4])", "(seeLINK)"),
        ("[1:L4][1:L4]", "LINKLINK"),
    ],
)
def test_a_cite_is_found_beside_what_looks_alike(root, answer, expected):
    text = link(read_all(root), answer)
    assert text == expected.replace("LINK", "[[file:garden.org::4][Garden, line 4]]")


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("[7:L1] a", " a"),
        ("a [7:L1]", "a"),
        ("a [7:L1] b", "a b"),
        ("a [7:L1] [7:L2] b", "a b"),
        ("a[7:L1][7:L2]b", "ab"),
        ("a\n[7:L1]\nb", "a\n\nb"),
        ("[1[7:L1]:L4]", "[1\u200b:L4]"),
        ("[[7:L1]1:L4]", "[\u200b1:L4]"),
        ("[1:L[7:L1][7:L1]4]", "[1:L\u200b\u200b4]"),
    ],
)
def test_what_is_removed_leaves_nothing_that_could_be_a_cite(root, answer, expected):
    assert normalised(answer, read_all(root))[0] == expected


def test_lines_beyond_the_end_are_cited_as_the_last_and_reported(root):
    text, problems = normalised("[1:L8-L50] [1:L400]", read_all(root))
    assert text == (
        "[[file:garden.org::8][Garden, lines 8-9]] [[file:garden.org::9][Garden, line 9]]"
    )
    assert [(each.cite, each.is_removed) for each in problems] == [
        ("[1:L8-L50]", False),
        ("[1:L400]", False),
    ]
    assert "9 lines" in problems[0].what


def test_a_cite_of_lines_that_must_not_be_shown_is_one_of_lines_that_are_not_there(root):
    write(root, {"orgctx.toml": SETTING, "open.org": SECRET})
    cites = read_all(root, "open.org")
    text, problems = normalised("[1:L4-L5][1:L9][1:L3-L6][1:L12-L13]", cites)
    assert text == (
        "[[file:open.org::3][Open, lines 3-6]][[file:open.org::11][Open, line 11]]"
    )  # fmt: skip
    assert [each.is_removed for each in problems] == [True, True, False]
    assert "11 lines" in problems[2].what


NAMES = ("a b.org", "[x].org", "a\\]b.org", "tail\\.org", "new\nline.org", "ü.org", "a::b.org")
TITLES = ("a ]] b", "[[id:x][y]]", "[1:L4]", "a [b", "=x", "] [", "\\]", "a\tb\x1b[0m", "[fn:1]")


def hostile(root: Path) -> Cites:
    """What was read of files whose names and titles are full of markup."""
    memex, cites = open_memex(root), Cites()
    for name in NAMES:
        write(root, {name: "".join(f"* {title}\n" for title in TITLES)})
    memex.sync()
    for name in NAMES:
        for line in range(1, len(TITLES) + 1):
            memex.read(name, lines=f"{line}-{line}", cites=cites)
    return cites


def test_links_stay_links_whatever_is_in_a_path_or_a_title(root):
    cites = hostile(root)
    cited = [f"[{n}:L{m}]" for n in range(1, len(NAMES) + 1) for m in range(1, len(TITLES) + 1)]
    for style in citing.STYLES:
        text, problems = normalised("\n".join(cited), cites, style)
        assert problems == []
        assert normalised(text, cites, style) == (text, [])
        assert not [c for c in text if not c.isprintable() and c not in "\n\u200b"]


@pytest.mark.emacs
def test_emacs_reads_each_link(root, tmp_path):
    """One line holds one link, whose path and line are those that were cited."""
    cites = hostile(root)
    cited = [f"[{n}:L{m}]" for n in range(1, len(NAMES) + 1) for m in range(1, len(TITLES) + 1)]
    write(tmp_path, {"answer.txt": link(cites, "\n".join(cited))})
    program = """(progn (require 'org) (find-file "answer.txt") (org-mode)
      (org-element-map (org-element-parse-buffer) 'link (lambda (each)
        (princ (format "%s\\t%s\\t%d\\n" (org-element-property :path each)
          (org-element-property :search-option each)
          (line-number-at-pos (org-element-property :begin each)))))))"""
    asked = ["emacs", "--batch", "-Q", "--eval", program]
    done = subprocess.run(
        asked, capture_output=True, check=True, env={**os.environ, "LC_ALL": "C.UTF-8"}
    )
    found = [tuple(row.split("\t")) for row in done.stdout.decode().split("\n")[:-1]]
    paths = [name.replace("\n", "\\n") for name in NAMES for _ in TITLES]
    lines = [str(line) for _ in NAMES for line in range(1, len(TITLES) + 1)]
    expected = [
        (path, line, str(at)) for at, (path, line) in enumerate(zip(paths, lines, strict=True), 1)
    ]
    of_two = {each for each in expected if "::" in each[0]}  # Org reads the first as the end
    assert [each for each in found if "::" not in each[1]] == [
        each for each in expected if each not in of_two
    ]
    assert len(found) == len(expected)


# --- Links to what has changed -------------------------------------------------------------------


@pytest.mark.parametrize("again", [lambda cites: cites, reloaded], ids=["in memory", "reloaded"])
def test_a_link_leads_to_where_the_text_is_now(root, again):
    cites = again(read_all(root))
    write(root, {"garden.org": "new\nlines\nabove\n" + NOTES})
    assert link(cites, "[1:L4-L5]") == "[[file:garden.org::7][Garden, lines 7-8]]"
    write(root, {"garden.org": NOTES.partition("* Colors\n")[2]})
    assert link(cites, "[1:L4]") == "[[file:garden.org::1][Garden, line 1]]"


def test_a_link_to_text_that_is_no_longer_there_says_so(root):
    cites = read_all(root)
    changed = " (the file has changed)"
    write(root, {"garden.org": NOTES.replace("green", "grey")})
    assert link(cites, "[1:L5] [1:L4]") == (
        f"[[file:garden.org::5][Garden, line 5{changed}]] [[file:garden.org::4][Garden, line 4]]"
    )
    (root / "garden.org").unlink()
    assert link(cites, "[1:L4-L5]") == f"[[file:garden.org::4][Garden, lines 4-5{changed}]]"
    cites = forgetful(cites)
    assert link(cites, "[1:L4]") == f"[[file:garden.org::4][Garden, line 4{changed}]]"


def test_of_several_places_the_nearest_is_taken(root):
    write(root, {"garden.org": "a\nx\nb\nx\nc\nx\nd\nx\n"})
    cites = read_all(root)
    write(root, {"garden.org": "new\na\nx\nb\nx\nc\nx\nd\nx\n"})
    assert link(cites, "[1:L4]") == "[[file:garden.org::3][b, line 3]]".replace(
        "b, ", "garden.org, "
    )
    assert link(cites, "[1:L4-L5]") == "[[file:garden.org::5][garden.org, lines 5-6]]"


@settings(max_examples=60)
@given(
    st.lists(st.sampled_from("abcd"), min_size=1, max_size=14),
    st.lists(st.sampled_from("abcd"), max_size=14),
    st.data(),
)
def test_the_nearest_unchanged_place_is_found(tmp_path_factory, old, new, data):
    """Against trying every place."""
    root = tmp_path_factory.mktemp("notes")
    write(root, {"garden.org": "".join(f"{line}\n" for line in old)})
    cites = read_all(root)
    write(root, {"garden.org": "".join(f"{line}\n" for line in new)})
    first = data.draw(st.integers(1, len(old)))
    last = data.draw(st.integers(first, len(old)))
    text = old[first - 1 : last]
    places = [n for n in range(1, len(new) + 1) if new[n - 1 : n - 1 + len(text)] == text]
    found = cites.origin(1).place(first, last)
    if not places:
        assert found is None
    else:
        nearest = min(abs(place - first) for place in places)
        assert found
        assert found[0] in places
        assert (abs(found[0] - first), found[1] - found[0]) == (nearest, last - first)


def test_text_from_git_leads_a_link_too(root):
    commit(root, root / "garden.org")
    cites = forgetful(read_all(root))
    write(root, {"garden.org": "above\n" + NOTES})
    assert link(cites, "[1:L4]") == "[[file:garden.org::5][Garden, line 5]]"


def test_nothing_is_written_to_a_note(root, ask):
    os.utime(root / "garden.org", ns=(10**18, 10**18))
    before = snapshot(root)
    ask("read", "notes/garden.org", "--cites", "c.json")
    for style in citing.STYLES:
        ask("cite", "--cites", "c.json", "--style", style, given="[1:L2] [7:L1]")
    Cites.load("c.json").resolve(1, 2)
    assert snapshot(root) == before


# --- Hostile answers -----------------------------------------------------------------------------

PARTS = st.sampled_from(
    [*"[]:-=~ \n1", "L", "4", "[1:L4]", "[7:L1]", "[1:Lx]", "[[id:x]", "]]", "[fn:", "\u200b", "é"]
)


@settings(max_examples=500)
@given(st.lists(PARTS, max_size=30).map("".join), st.sampled_from(citing.STYLES))
def test_what_was_written_anew_is_all_right(answer, style):
    """No bad cite is left, and no good one; text that is no cite is all there, in order."""
    text, problems = normalised(answer, GARDEN, style)
    again, more = normalised(text, GARDEN, style)
    assert (again, more) == (text, [])
    assert len(problems) <= answer.count(":")
    if not problems and "file:" not in text:
        assert text == answer


class InMemory(Cites):
    """One file of nine lines, without any file."""

    def __init__(self) -> None:
        super().__init__()
        home = citing.Home("garden.org", (), None)
        blob = "0" * 40
        self.sources = [citing.Source("garden.org", "Garden", blob, blob, ((1, 9),), home)]
        self._origin = Unchanged()

    def origin(self, number: int) -> citing.Origin:
        return self._origin


class Unchanged(citing.Origin):
    def __init__(self) -> None:
        """It knows nothing but where each line is."""

    def place(self, first: int, last: int) -> tuple[int, int]:
        return first, last


GARDEN = InMemory()

HOSTILE: dict[str, Callable[[int], str]] = {
    "open brackets": lambda n: "[" * n,
    "closed brackets": lambda n: "]" * n,
    "nested brackets": lambda n: "[" * (n // 2) + "1:L1" + "]" * (n // 2),
    "cites in cites": lambda n: "[1:L" * (n // 8) + "1" + "]" * (n // 2),
    "cites that make cites": lambda n: "[1[7:L1]:L4]" * (n // 12),
    "cites never closed": lambda n: "[1:L1" * (n // 5),
    "a huge number": lambda n: "[" + "9" * n + ":L1]",
    "a huge line": lambda n: "[1:L" + "9" * n + "]",
    "huge lines": lambda n: "[1:L1-L" + "9" * n + "]",
    "huge numbers": lambda n: ("[" + "9" * 5000 + ":L1]") * (n // 5004),
    "good cites": lambda n: "[1:L4]" * (n // 6),
    "many cites": lambda n: " ".join(f"[1:L{1 + k % 9}-L9]" for k in range(n // 11)),
    "bad cites": lambda n: "[7:L1] " * (n // 7),
    "bad cites by line": lambda n: "[7:L1]\n" * (n // 7),
    "links never closed": lambda n: "[[x][" * (n // 5),
    "links of backslashes": lambda n: "[[" + "\\" * n,
    "many links of backslashes": lambda n: "[[\\\\" * (n // 4),
    "verbatim never closed": lambda n: " =a" * (n // 3),
    "markers": lambda n: "=" * n,
    "both markers": lambda n: "=~ " * (n // 3),
    "blocks never closed": lambda n: "#+begin_src\n" * (n // 12),
    "blocks closed again and again": lambda n: "#+begin_src\n#+end_example\n" * (n // 26),
    "blanks": lambda n: " \t" * (n // 2) + "[",
    "blank lines": lambda n: "\n" * n,
    "footnotes and cites": lambda n: "".join(f"[fn:{k}][1:L{1 + k % 9}]" for k in range(n // 15)),
    "footnotes": lambda n: "".join(f"[fn:{k}]" for k in range(n // 9)) + "[1:L4]",
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("style", citing.STYLES)
def test_time_grows_with_the_answer_alone(name, style):
    """A megabyte is done in seconds, and twice as much in hardly more than twice the time."""

    def cost(size: int) -> float:
        answer = HOSTILE[name](size)
        run = partial(normalised, answer, GARDEN, style)
        return seconds(run, 3)

    assert cost(1_000_000) < max(3 * cost(500_000), 0.2) < 10


def test_time_grows_with_the_answer_alone_when_the_file_has_changed(root):
    write(root, {"garden.org": "".join(f"line {n % 50}\n" for n in range(3000))})
    cites = read_all(root)
    write(root, {"garden.org": "".join(f"line {n % 50}\n" for n in range(20, 3000))})
    noise = Random(2)
    answers = [
        " ".join(f"[1:L{(n := noise.randint(1, 2900))}-L{n + 80}]" for _ in range(size))
        for size in (2000, 4000)
    ]
    one, two = (seconds(partial(normalised, answer, cites), 3) for answer in answers)
    assert two < max(3 * one, 0.2)


# --- The command ---------------------------------------------------------------------------------


def test_a_conversation(root, ask):
    """Two reads, an answer that cites both, an edit above, and the answer once more."""
    first = ask("read", "notes/garden.org::*Colors", "--cites", "c.json")
    assert first.out.startswith("[1] notes/garden.org — Colors — ")
    write(root, {"other.org": "* Other\nthing\n"})
    second = ask("read", "notes/other.org", "--subtree", "--cites", "c.json")
    assert second.out.startswith("[2] notes/other.org — ")
    assert ask("read", "notes/garden.org", "--cites", "c.json").out.startswith("[1] ")
    answer = "Blue is one [1:L6], a thing another [2:L1-L2].\n"
    expected = (
        "Blue is one [[file:notes/garden.org::6][Colors, line 6]], a thing another "
        "[[file:notes/other.org::1][notes/other.org, lines 1-2]].\n"
    )
    assert ask("cite", "--cites", "c.json", given=answer) == (0, expected, "")
    write(root, {"garden.org": "above\n" + NOTES})
    moved = expected.replace("::6][Colors, line 6", "::7][Colors, line 7")
    assert ask("cite", "--cites", "c.json", given=answer) == (0, moved, "")
    assert ask("read", "notes/garden.org", "--cites", "c.json").out.startswith("[3] ")


def test_a_removal_is_status_3_and_the_text_is_written_all_the_same(root, ask):
    ask("read", "notes/garden.org", "--cites", "c.json")
    status, out, err = ask("cite", "--cites", "c.json", given="a [1:L1]\nb [7:L1]\nc [1:L99]\n")
    assert status == 3
    assert out == (
        "a [[file:notes/garden.org::1][Garden, line 1]]\nb\n"
        "c [[file:notes/garden.org::9][Garden, line 9]]\n"
    )
    assert err == (
        "orgctx: line 2: [7:L1]: nothing that was read has this number; removed\n"
        "orgctx: line 3: [1:L99]: the file has 9 lines; taken for its last line\n"
    )
    assert ask("cite", "--cites", "c.json", given="c [1:L99]\n").status == 0


def test_of_many_problems_the_first_are_told(root, ask):
    ask("read", "notes/garden.org", "--cites", "c.json")
    status, out, err = ask("cite", "--cites", "c.json", given="[7:L1]\n" * 1000)
    assert (status, out) == (3, "\n" * 1000)
    assert len(err.split("\n")) == 22
    assert err.endswith("orgctx: and 980 cites more\n")


def test_both_styles_are_those_of_python(root, ask):
    ask("read", "notes/garden.org", "--cites", "c.json")
    cites, memex = Cites.load("c.json"), open_memex(root)
    for style in citing.STYLES:
        out = ask("cite", "--cites", "c.json", "--style", style, given="[1:L1] a").out
        assert (out, []) == memex.cite("[1:L1] a", cites, style)


def test_an_answer_goes_out_byte_for_byte_but_for_its_cites(root, ask):
    ask("read", "notes/garden.org", "--cites", "c.json")
    answer = "\ufeffa\r\nb\x00\u2028\x0c\n\n* c [1]"
    assert ask("cite", "--cites", "c.json", given=answer) == (0, answer, "")
    assert ask("cite", "--cites", "c.json") == (0, "", "")


@pytest.mark.parametrize(
    ("arguments", "given", "status"),
    [
        (["--cites", "nowhere.json"], b"", 1),
        (["--cites", "c.json"], b"\xff", 1),
        (["--cites", "c.json", "--style", "x"], b"", 2),
        ([], b"", 2),
    ],
    ids=str,
)
def test_refusals_are_one_line_and_a_status(root, ask, arguments, given, status):
    ask("read", "notes/garden.org", "--cites", "c.json")
    answer = ask("cite", *arguments, given=given)
    assert (answer.status, answer.out) == (status, "")
    assert answer.err.count("\n") == 1
    assert not os.path.exists("nowhere.json")


def test_a_missing_module_of_git_is_not_needed_to_read(root):
    """dulwich is loaded only where nothing else has the text."""
    program = (
        "from orgctx import open_memex; from orgctx.cites import Cites; c = Cites();"
        "open_memex('notes').read('garden.org', cites=c); c.resolve(1, 1)"
    )
    assert loaded_by(program, "dulwich") == ("", set())


def test_the_users_private_tags_hold_for_a_file_alone(root, ask):
    """What stands in no root is concealed as the user's own file says, when read and when cited."""
    write(Path(os.environ["XDG_CONFIG_HOME"]), {"orgctx/orgctx.toml": SETTING})
    write(root, {"open.org": SECRET})
    commit(root, root / "open.org")
    out = ask("read", "notes/open.org", "--subtree", "--cites", "c.json").out
    assert "hidden" not in out
    write(root, {"open.org": "gone\n"})
    cites = forgetful(Cites.load("c.json"))
    assert cites.resolve(1, 3, 6) == "text one\n* Two\n"
