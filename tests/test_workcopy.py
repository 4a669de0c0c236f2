"""Working copies: opened, brought up to date, compared, discarded."""

import json
import os
import shutil
import subprocess
import threading
import time
from pathlib import Path

import copies
import pytest
from copies import Notes

from orgctx import open_memex
from orgctx.errors import BadArgument, NotFound, OutsideRoot, Unreadable
from orgctx.store.files import revision_of
from orgctx.workcopy import Workcopies, seconds
from orgctx.workcopy.base import Base
from orgctx.workcopy.confined import parts_of
from orgctx.workcopy.state import State


@pytest.fixture
def notes(tmp_path):
    return Notes.make(tmp_path)


def edited(notes, copy_id="x"):
    return {each.path: each.what for each in notes.work.diff(copy_id)}


def test_a_copy_has_the_notes_and_nothing_else(notes):
    for name in (".hidden/a.org", "#a.org#", "a.org~", ".#b.org", "x.txt", "orgctx.toml"):
        notes.put(name, "")
    notes.put("note.sync-conflict-20240101-101010-AB.org", "* old\n")
    (notes.root / "loop").symlink_to(".")
    before = copies.state(notes.root)
    copy = notes.work.open("x")
    assert copies.files(copy.folder) == {k: v.encode() for k, v in copies.NOTES.items()}
    assert copies.state(notes.root) == before
    whats = {each.path: each.what for each in copy.problems}
    assert "sync-conflict" in whats["note.sync-conflict-20240101-101010-AB.org"]
    assert edited(notes) == {}
    assert Path(copy) == copy.folder


def test_a_copy_is_for_its_owner_alone(notes):
    copy = notes.work.open("x")
    state = State().folder
    assert not any(place.stat().st_mode & 0o077 for place in (state, state / ".copies"))
    assert (copy.folder / "a.org").stat().st_mtime_ns == (notes.root / "a.org").stat().st_mtime_ns


def test_the_state_folder_may_be_in_a_root(notes, monkeypatch):
    """Then copies are no notes of that root, for no copy and no answer."""
    monkeypatch.setenv("XDG_STATE_HOME", str(notes.root / "state"))
    work = Workcopies(notes.root)
    for name in ("x", "y", "x"):
        assert set(copies.files(work.open(name).folder)) == set(copies.NOTES)
    assert open_memex(notes.root).ls().text.startswith("notes — 3 files")


def test_the_way_to_the_state_folder_may_be_a_link(notes, tmp_path, monkeypatch):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "link"))
    for work in (Workcopies(notes.root), Workcopies(notes.root, state=tmp_path / "link/own")):
        folder = work.open("x").folder
        assert set(copies.files(folder)) == set(copies.NOTES)
        (folder / "a.org").write_text(copies.A.replace("text one", str(folder)))
        assert [each.what for each in work.commit("x", "m", "ours").outcomes] == ["written"]
        assert str(folder) in notes.get("a.org")


def test_an_address_is_a_path_from_the_folder(tmp_path):
    for name in ("work", "home"):
        Notes(tmp_path / name, None).put("a.org", f"* {name}\n")
    one, two = (
        Workcopies(tmp_path / "work").open("one"),
        Workcopies(tmp_path / "work", tmp_path / "home").open("two"),
    )
    assert (one.folder / "a.org").read_text() == "* work\n"
    assert (two.folder / "home/a.org").read_text() == "* home\n"
    for copy in (one, two):
        for hit in copy.grep(todo=(), pattern="o").entries:
            assert (copy.folder / hit.address.partition("::")[0]).exists()


@pytest.mark.parametrize("name", ["thread-1", "a b", "x:task:1", "..", ".", "a/b", "é" * 30, "%2E"])
def test_any_text_names_a_copy(notes, name):
    copy = notes.work.open(name)
    assert copy.folder.is_relative_to(State().copies)
    assert [each.id for each in notes.work.status()] == [name]


@pytest.mark.parametrize("name", ["", "x" * 201, None, 3])
def test_what_names_no_copy(notes, name):
    with pytest.raises(BadArgument):
        notes.work.open(name)


def test_an_unknown_copy_has_near_matches(notes):
    notes.work.open("thread-1")
    with pytest.raises(NotFound) as error:
        notes.work.diff("thread-2")
    assert "thread-1" in error.value.hint
    assert [each.id for each in notes.work.status()] == ["thread-1"]


def test_opened_again_it_keeps_edits_and_gets_the_rest_anew(notes):
    copy = notes.work.open("x")
    notes.replace("a.org", "text one", "mine", copy.folder)
    notes.put("new.org", "* New here\n", copy.folder)
    (copy.folder / "sub/b.org").unlink()
    notes.replace("a.org", "text two", "theirs")
    notes.put("sub/deeper/c.org", "* C\nchanged\n")
    notes.put("sub/d.org", "* D\n")
    assert notes.work.open("x").folder == copy.folder
    assert copies.files(copy.folder) == {
        "a.org": copies.A.replace("text one", "mine").encode(),
        "new.org": b"* New here\n",
        "sub/deeper/c.org": b"* C\nchanged\n",
        "sub/d.org": b"* D\n",
    }
    assert edited(notes) == {"a.org": "changed", "new.org": "added", "sub/b.org": "deleted"}


def test_an_edit_made_while_it_is_opened_again_stays(notes, monkeypatch):
    """By a program that knows nothing of locks, after it was seen that nobody had edited it."""
    copy = notes.work.open("x")
    notes.replace("a.org", "text one", "theirs")
    (notes.root / "sub/b.org").unlink()
    notes.put("new.org", "* Theirs\n")
    announce = Base.announce

    def meanwhile(base):
        announce(base)
        notes.replace("a.org", "text two", "mine", copy.folder)
        notes.replace("sub/b.org", "text b", "mine", copy.folder)
        notes.put("new.org", "* Mine\n", copy.folder)

    monkeypatch.setattr(Base, "announce", meanwhile)
    notes.work.open("x")
    assert edited(notes) == {"a.org": "changed", "sub/b.org": "changed", "new.org": "added"}
    assert notes.outcomes() == {"a.org": "merged", "new.org": "merged", "sub/b.org": "conflict"}
    assert notes.get("a.org") == copies.A.replace("text one", "theirs").replace("text two", "mine")


def test_opened_again_it_loses_what_is_gone(notes):
    copy = notes.work.open("x")
    notes.replace("a.org", "text one", "mine", copy.folder)
    shutil.rmtree(notes.root / "sub")
    (notes.root / "a.org").unlink()
    notes.work.open("x")
    assert set(copies.files(copy.folder)) == {"a.org"}


def test_opened_again_after_the_same_size_and_time(notes):
    """A note that changed so shortly before may have changed again in the same tick."""
    place = notes.root / "a.org"
    found = place.stat()
    copy = notes.work.open("x")
    place.write_text(copies.A.replace("one", "uno"))
    os.utime(place, ns=(found.st_atime_ns, found.st_mtime_ns))
    notes.work.open("x")
    assert "text uno" in (copy.folder / "a.org").read_text()


def test_an_edit_of_the_same_size_and_time_is_seen(notes):
    for path in copies.NOTES:
        os.utime(notes.root / path, (1e9, 1e9))
    for number in range(20):
        copy = notes.work.open(f"x{number}")
        place = copy.folder / "a.org"
        found = place.stat()
        with place.open("r+b") as file:
            file.write(b"#+title: Z")
        os.utime(place, ns=(found.st_atime_ns, found.st_mtime_ns))
        assert edited(notes, f"x{number}") == {"a.org": "changed"}


def test_a_file_that_was_only_touched_is_not_edited(notes):
    copy = notes.work.open("x")
    os.utime(copy.folder / "a.org")
    shutil.copy(copy.folder / "sub/b.org", copy.folder / "sub/new.org")
    os.replace(copy.folder / "sub/new.org", copy.folder / "sub/b.org")
    assert edited(notes) == {}


def test_what_an_editor_leaves_in_the_copy_is_no_edit(notes):
    copy = notes.work.open("x")
    for name in ("a.org~", "#a.org#", ".#a.org", ".orgctx-1234", "sub/.hidden/x.org"):
        notes.put(name, "x", copy.folder)
    assert edited(notes) == {}


def test_a_diff_is_a_patch(notes, tmp_path):
    copy = notes.work.open("x")
    notes.replace("a.org", "text two\n", "text 2", copy.folder)
    notes.put("sub/new.org", "* N\n* M", copy.folder)
    notes.put("empty.org", "", copy.folder)
    (copy.folder / "sub/b.org").unlink()
    patch = "".join(each.patch for each in notes.work.diff("x"))
    target = tmp_path / "target"
    shutil.copytree(notes.root, target)
    subprocess.run(["git", "init", "-q", target], check=True)
    subprocess.run(["git", "apply", "-"], input=patch.encode(), cwd=target, check=True)
    shutil.rmtree(target / ".git")
    assert copies.files(target) | {"empty.org": b""} == copies.files(copy.folder)


def test_discard(notes):
    copy = notes.work.open("x")
    before = copies.state(notes.root)
    notes.replace("a.org", "text one", "mine", copy.folder)
    notes.work.discard("x")
    assert notes.work.status() == []
    assert not copy.folder.exists()
    assert copies.state(notes.root) == before
    [(revision, record)] = notes.work.log()
    assert (record.kind, record.copy) == ("discard", "x")
    assert "mine" in notes.work.show(f"{revision}:ours/a.org")
    with pytest.raises(NotFound):
        notes.work.discard("x")


def test_prune(notes):
    for name in ("old", "new", "edited"):
        notes.work.open(name)
    edited_file = State().copies / "edited/notes/notes/a.org"
    for name in ("old", "edited"):
        os.utime(State().copies / name / "base.json", (1e9, 1e9))
    edited_file.write_text("* Edited\n")
    assert notes.work.prune(3600) == ["old"]
    assert [each.id for each in notes.work.status()] == ["edited", "new"]
    time.sleep(0.01)
    assert notes.work.prune(0) == ["edited", "new"]
    assert [record.kind for _, record in notes.work.log()] == ["discard"]


@pytest.mark.parametrize("older_than", [-1, float("nan"), True])
def test_prune_takes_seconds(notes, older_than):
    with pytest.raises(BadArgument):
        notes.work.prune(older_than)


def test_durations():
    assert [seconds(each) for each in ("5s", "2m", "3h", "30d", "1w")] == [
        5,
        120,
        10800,
        2592000,
        604800,
    ]
    for wrong in ("", "5", "d", "-1d", "1y", "1.5h", "9" * 5000 + "d"):
        with pytest.raises(BadArgument):
            seconds(wrong)


def test_a_copy_keeps_its_roots(notes, tmp_path):
    notes.work.open("x")
    (tmp_path / "other").mkdir()
    with pytest.raises(BadArgument, match="other roots"):
        Workcopies(tmp_path / "other").open("x")
    assert Workcopies().open("x").id == "x"
    with pytest.raises(BadArgument, match="no root"):
        Workcopies().open("y")


def test_a_root_that_is_gone(notes):
    """Its copy is listed, and discarded; nothing is taken for deleted."""
    copy = notes.work.open("x")
    notes.replace("a.org", "text one", "mine", copy.folder)
    notes.root.rename(notes.root.with_name("elsewhere"))
    assert notes.work.status()[0].changed == ("a.org",)
    for call in (notes.work.open, lambda each: notes.work.commit(each, "m", "ours")):
        with pytest.raises(NotFound, match="no such folder"):
            call("x")
    assert copy.text("a.org").text == copies.A.replace("text one", "mine")
    notes.work.discard("x")
    assert len(notes.work.log()) == 1


def test_a_damaged_copy_is_named_and_can_be_discarded(notes):
    notes.work.open("x")
    (State().copies / "x/base.json").write_text("{")
    with pytest.raises(Unreadable, match="damaged"):
        notes.work.diff("x")
    notes.work.open("y")
    assert [(each.id, each.fault) for each in notes.work.status()] == [
        ("x", f"{State().copies / 'x/base.json'}: damaged"),
        ("y", ""),
    ]
    time.sleep(0.01)
    assert notes.work.prune(0) == ["y"]  # it may have edits, which nobody could keep
    notes.work.discard("x")
    assert notes.work.status() == []


def test_a_copy_whose_folder_is_gone_deletes_no_notes(notes):
    copy = notes.work.open("x")
    before = copies.state(notes.root)
    for again in (shutil.rmtree, lambda folder: folder.symlink_to(notes.root / "sub")):
        again(copy.folder)
        for call in (notes.work.open, notes.work.diff, lambda x: notes.work.commit(x, "m")):
            with pytest.raises(Unreadable, match="its folder is gone"):
                call("x")
    notes.work.discard("x")
    assert copies.files(notes.work.open("x").folder) == copies.files(notes.root)
    assert copies.state(notes.root) == before


def test_a_name_that_leads_to_another_copy_is_refused(notes):
    """As X does to x on a disk that ignores case."""
    notes.work.open("x")
    (State().copies / "X").symlink_to("x")
    for call in (notes.work.open, notes.work.discard):
        with pytest.raises(BadArgument, match="takes x for the same name"):
            call("X")
    (State().copies / "X").unlink()
    assert [each.id for each in notes.work.status()] == ["x"]


def test_a_file_of_a_copy_that_cannot_be_read_is_named_and_not_discarded(notes, monkeypatch):
    copy = notes.work.open("x")
    notes.replace("sub/b.org", "text b", "mine", copy.folder)
    real_open = os.open

    def closed(path, *arguments, **keywords):
        if path == "b.org":
            raise PermissionError(13, "Permission denied")
        return real_open(path, *arguments, **keywords)

    monkeypatch.setattr(os, "open", closed)
    for call in (notes.work.diff, notes.work.discard):
        with pytest.raises(Unreadable, match=r"sub/b\.org: Permission denied"):
            call("x")
    monkeypatch.undo()
    assert edited(notes) == {"sub/b.org": "changed"}


def test_a_base_that_is_damaged_merges_nothing(notes):
    copy = notes.work.open("x")
    notes.replace("a.org", "text one", "mine", copy.folder)
    place = State().copies / "x/base"
    place.write_bytes(place.read_bytes().replace(b"text two", b"text 222"))
    before = copies.state(notes.root)
    with pytest.raises(Unreadable, match="damaged"):
        notes.work.commit("x", "m")
    assert copies.state(notes.root) == before


def test_what_was_never_finished_is_swept_away(notes):
    notes.work.open("x")
    (State().copies / ".new-abc").mkdir()
    (State().copies / ".gone-abc/copy").mkdir(parents=True)
    notes.work.status()
    assert [each.name for each in State().copies.iterdir()] == ["x"]


def test_two_open_the_same_copy_at_once(notes):
    found, errors = [], []

    def work():
        try:
            found.append(notes.work.open("x").folder)
        except Exception as error:  # told below
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert len(set(found)) == 1


def test_private_notes_are_not_in_a_copy(tmp_path):
    notes = Notes.make(
        tmp_path,
        {
            "orgctx.toml": 'private_tags = ["private"]\n',
            "a.org": "* Open\n* Secret :private:\nhidden\n** Child\n"
            "* Vault :crypt:\npin 0000\n* End\n",
            "b.org": "#+filetags: :private:\nhidden\n",
        },
    )
    copy = notes.work.open("x")
    assert copies.files(copy.folder) == {"a.org": b"* Open\n* Vault :crypt:\n* End\n"}
    everything = b"".join(copies.files(State().folder).values())
    assert b"hidden" not in everything
    assert b"0000" not in everything


def test_notes_that_cannot_be_read_are_told_and_left_out(tmp_path):
    notes = Notes.make(tmp_path, {"a.org": "* A\n", "bad.org": b"* \xff\xfe\n"})
    copy = notes.work.open("x")
    assert set(copies.files(copy.folder)) == {"a.org"}
    assert [(each.path, "UTF-8" in each.what) for each in copy.problems] == [("bad.org", True)]


NAMES = [
    "a b.org",
    "it's.org",
    "100%.org",
    "#1.org",
    "[x].org",
    "-n.org",
    "semi;colon.org",
    "new\nline.org",
]


def test_b70_any_name(tmp_path):
    notes = Notes.make(tmp_path, {name: f"* {number}\n" for number, name in enumerate(NAMES)})
    copy = notes.work.open("x")
    assert set(copies.files(copy.folder)) == set(NAMES)
    for name in NAMES:
        notes.put(name, "* Edited\n", copy.folder)
    assert set(notes.outcomes().values()) == {"written"}
    assert set(copies.files(notes.root).values()) == {b"* Edited\n"}


def test_a_name_that_is_no_text(tmp_path):
    notes = Notes.make(tmp_path, {})
    name = os.fsdecode(b"caf\xe9.org")
    notes.put(name, "* A\n")
    copy = notes.work.open("x")
    notes.put(name, "* B\n", copy.folder)
    assert notes.outcomes() == {name: "written"}
    assert (notes.root / name).read_text() == "* B\n"
    assert "caf" in notes.work.show(notes.work.log()[0][0])


@pytest.mark.parametrize(
    "path",
    [
        "../a.org",
        "a/../../b.org",
        "/etc/passwd",
        "~/a.org",
        "..\\..\\x",
        "C:\\x.org",
        "sub/..",
        "~root",
    ],
)
def test_b83_a_path_that_leads_out(path):
    with pytest.raises(OutsideRoot):
        parts_of(path)


@pytest.mark.parametrize("path", ["", "a\0.txt", "a//b.org", "./a.org", "a/./b.org", None, 3])
def test_what_is_no_path(path):
    with pytest.raises(BadArgument):
        parts_of(path)


def test_the_base_tells_what_git_would(notes):
    notes.work.open("x")
    base = Base(State().copies / "x")
    assert {path: base.data(path) for path in base.rows} == {
        path: text.encode() for path, text in copies.NOTES.items()
    }
    for path, row in base.rows.items():
        assert row.revision == row.source == revision_of(copies.NOTES[path].encode())


def test_the_state_says_what_it_is(notes):
    notes.work.open("x")
    about = json.loads((State().copies / "x/copy.json").read_text())
    assert about == {"version": 1, "id": "x", "roots": {"notes": str(notes.root)}}
    assert Path(os.environ["XDG_STATE_HOME"]) in State().folder.parents


# --- Links ---------------------------------------------------------------------------------------


@pytest.fixture
def linked(tmp_path, monkeypatch):
    """Two roots apart, one of them by another name than its folder's, with links of every form."""
    monkeypatch.setenv("HOME", str(tmp_path))
    (home := tmp_path / "home" / "kept").mkdir(parents=True)
    ways = (f"{tmp_path}/office/notes/b.org", "~/office/notes/b.org", "../notes/b.org")
    across = (f"{home}/o.org", "~/home/kept/o.org", "../../home/kept/o.org")
    lines = [f"* {at}\n[[file:{way}::*B]]\n" for at, way in enumerate(ways)]
    lines += [f"* {at}\n[[{way}]]\n" for at, way in enumerate(across, 3)]
    (tmp_path / "office").mkdir()
    notes = Notes.make(tmp_path / "office", {"a.org": "".join(lines), "b.org": "* B\n* C\n"})
    notes.put("o.org", "* O\n[[file:../../office/notes/b.org::*B]]\n", home)
    roots = f'[roots]\nnotes = "{notes.root}"\nelse = "{home}"\n'
    notes.put("orgctx/orgctx.toml", roots, Path(os.environ["XDG_CONFIG_HOME"]))
    return notes, Workcopies().open("x")


def led(memex, address):
    """Where the links of a node lead, and whether they lead back."""
    node = memex.node(address)
    assert all(node in each.backlinks for each in node.links)
    return [each.address for each in node.links]


def test_links_in_a_copy_lead_to_what_is_in_it(linked):
    places = [f"notes/a.org::{at}" for at in range(6)] + ["else/o.org::O"]
    for memex in (open_memex(), open_memex(work="x")):
        found = [led(memex, place) for place in places]
        assert found == [["notes/b.org::B"]] * 3 + [["else/o.org"]] * 3 + [["notes/b.org::B"]]


def test_links_in_a_copy_know_its_edits(linked):
    notes, copy = linked
    (copy.folder / "notes/b.org").write_text("* b\n")
    assert led(open_memex(work="x"), "notes/a.org::0") == ["notes/b.org::b"]
    (copy.folder / "notes/b.org").rename(copy.folder / "else/b.org")
    (copy.folder / "else/o.org").unlink()
    memex = open_memex(work="x")
    assert [led(memex, f"notes/a.org::{at}") for at in range(6)] == [[]] * 6
    assert memex.node("else/b.org::b").backlinks == []
    place = copy.folder / "else/b.org"
    place.write_text(f"* b\n[[{notes.root.parent.parent}/home/kept/b.org::*b]] [[{place}]]\n")
    assert led(open_memex(work="x"), "else/b.org::b") == ["else/b.org::b", "else/b.org"]
    assert led(open_memex(), "notes/a.org::0") == ["notes/b.org::B"]
