"""Cites: numbers that stay, and text as it was read, wherever it is now."""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
from functools import partial
from pathlib import Path
from random import Random

import pytest
from cited import NOTES, SECRET, SETTING, UNSEALED, commit, forgetful, read_all, reloaded
from hypothesis import given
from hypothesis import strategies as st
from notes import snapshot, write
from program import loaded_by, script
from threads import at_once

from orgctx import BadArgument, BudgetTooSmall, NotFound, Stale, open_memex
from orgctx import cites as citing
from orgctx.cites import Cites, clip, numbers

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


def test_what_was_not_shown_whole_is_not_looked_up_in_git(root):
    """By what would it be: an id of all of it could be guessed from."""
    write(root, {"orgctx.toml": SETTING})
    commit(root, write(root, {"open.org": SECRET}) / "open.org")
    cites = forgetful(read_all(root, "open.org"))
    write(root, {"open.org": "gone\n"})
    for line in (1, 3, 11):
        with pytest.raises(Stale):
            cites.resolve(1, line)
    for line in (4, 5, 9):
        with pytest.raises(NotFound):
            cites.resolve(1, line)


@pytest.mark.parametrize("tag", ["private", "crypt"])
def test_a_registry_does_not_hang_on_what_is_hidden(root, tag):
    """No guess at the hidden text can be tried on it."""
    registries = []
    for pin in ("1234", "4321"):
        text = f"* One\n* Bank :{tag}:\npin {pin}\n"
        write(root, {"orgctx.toml": SETTING, "open.org": text})
        read_all(root, "open.org").save(f"{pin}.json")
        registries.append(Path(f"{pin}.json").read_bytes())
    assert registries[0] == registries[1]


def test_what_has_become_private_is_not_taken_from_git(root):
    commit(root, write(root, {"open.org": UNSEALED}) / "open.org")
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
    write(root, {"open.org": UNSEALED})
    commit(root, root / "open.org")
    ask("read", "notes/open.org", "--subtree", "--cites", "c.json")
    write(Path(os.environ["XDG_CONFIG_HOME"]), {"orgctx/orgctx.toml": SETTING})
    assert "hidden" not in ask("read", "notes/open.org", "--subtree").out
    write(root, {"open.org": "gone\n"})
    cites = forgetful(Cites.load("c.json"))
    assert cites.resolve(1, 3, 6) == "text one\n* Two\n"
