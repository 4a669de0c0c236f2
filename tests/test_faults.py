"""Faults: whatever befalls notes, links, clocks and the store, the answer is right or refused."""

from __future__ import annotations

import ctypes
import json
import os
import random
import resource
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import click
import pytest
from notes import note, snapshot, write
from program import Answer, Ask, script
from stores import check_equal_to_a_fresh_store, opened, rows, stored_bytes
from threads import at_once, rounds

from orgctx import Memex, NotFound, open_memex
from orgctx.store import files
from orgctx.store import sync as syncing
from orgctx.store.database import VERSION, connect, remove
from orgctx.store.opening import database_file
from orgctx.surfaces import cli

SECRET = "platypus"
NOTES = 12


either_way = pytest.mark.parametrize("options", [(), ("--no-sync",)], ids=["sync", "no sync"])


def replace(place: Path, text: str) -> None:
    """Save as editors do: whoever reads sees the old file or the new one."""
    new = place.with_name(f".{place.name}.{threading.get_ident()}")
    new.write_text(text, encoding="utf-8")
    os.replace(new, place)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Notes N0 to N11, whose IDs are id-000000 to id-000011."""
    return write(
        tmp_path / "notes", {f"{n}.org": note(f"N{n}", f"id-{n:06}") for n in range(NOTES)}
    )


SEVERAL = """\
import json, os, sys
from orgctx.surfaces.cli import run

def answer(call):
    pipes, kept = (os.pipe(), os.pipe()), (os.dup(1), os.dup(2))
    for at, (_, entry) in enumerate(pipes, 1):
        os.dup2(entry, at)
        os.close(entry)
    status = run(call)
    for at, place in enumerate(kept, 1):
        os.dup2(place, at)
        os.close(place)
    return [status, *(open(end, encoding="utf-8").read() for end, _ in pipes)]

print(json.dumps([answer(call) for call in json.loads(sys.argv[1])]))
"""


def elsewhere(
    *calls: tuple[str | Path, ...], seconds: float = 60, before: Callable[[], None] | None = None
) -> list[Answer]:
    """Run the program several times in a process of its own.

    before: called in that process, which may be put under limits. The answers are short.
    """
    given = json.dumps([[str(each) for each in call] for call in calls])
    command = [sys.executable, "-c", SEVERAL, given]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=seconds, check=True, preexec_fn=before
    )
    assert done.stderr == ""
    return [Answer(*each) for each in json.loads(done.stdout)]


# --- Several processes at once -------------------------------------------------------------------

READERS = """\
import random, subprocess, sys, time
from orgctx import open_memex
way, root, end = sys.argv[1], sys.argv[2], time.time() + float(sys.argv[3])
asked = 0
while time.time() < end:
    memex = open_memex(root)
    for _ in range(1 if way == "process" else 20):
        number = random.randrange(12)
        if way == "process":
            call = [sys.executable, "-m", "orgctx", "focus", f"id-{number:06}", "--root", root]
            done = subprocess.run(call, capture_output=True, text=True)
            text, complaint = done.stdout, done.stderr
        else:
            text, complaint = memex.focus(f"id-{number:06}").text, ""
        asked += 1
        if f"\\ntext of N{number} " not in text or text.count("text of N") != 1 or complaint:
            print(number, text, complaint)
print("asked", asked > 0)
"""


def test_readers_and_writers_in_processes_of_their_own(root: Path, tmp_path: Path) -> None:
    """Four that read, two that sync, while notes are edited: no complaint, no wrong answer."""
    edit(root, 0)

    def read(way: str) -> None:
        call = [sys.executable, "-c", READERS, way, str(root), "3"]
        done = subprocess.run(call, capture_output=True, text=True, timeout=60, check=False)
        assert (done.stdout, done.stderr) == ("asked True\n", "")

    def sync_on(*options: str) -> None:
        for _ in rounds(4):
            synced = script("sync", root, *options)
            assert (synced.status, synced.err) == (0, "")

    def edit_on() -> None:
        for version in rounds(4):
            edit(root, version)
            time.sleep(0.01)

    readers = [partial(read, way) for way in ("process", "process", "python", "python")]
    at_once(*readers, sync_on, partial(sync_on, "--full"), edit_on)
    opened(root).sync()
    check_equal_to_a_fresh_store(root, tmp_path)


def edit(root: Path, version: int) -> None:
    for number in {version % NOTES, version * 7 % NOTES} if version else range(NOTES):
        text = note(f"N{number}", f"id-{number:06}", f"text of N{number} {version}")
        replace(root / f"{number}.org", text)


def overtake(
    monkeypatch: pytest.MonkeyPatch, at_start: Callable[[], object], at_end: Callable[[], object]
) -> None:
    """Let something happen while the next sync walks the folders."""
    walk = files.notes

    def overtaken(*arguments: Any) -> Iterator[files.Found]:
        monkeypatch.setattr(files, "notes", walk)
        at_start()
        yield from walk(*arguments)
        at_end()

    monkeypatch.setattr(files, "notes", overtaken)


def nothing() -> None:
    pass


def test_what_another_sync_has_just_found_is_found(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memex, other = open_memex(root), opened(root)
    write(root, {"new.org": note("New", "id-new")})
    overtake(monkeypatch, other.sync, nothing)
    assert memex.node("id-new").title == "New"


def test_a_sync_that_another_overtakes_is_right(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow, fast = opened(root), opened(root)
    for number in (3, 5, 7):
        replace(root / f"{number}.org", note(f"N{number} edited", f"id-{number:06}"))
    overtake(monkeypatch, nothing, fast.sync)
    slow.sync()
    check_equal_to_a_fresh_store(root, tmp_path)


def test_a_sync_that_a_full_one_overtakes_is_right(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow, fast = opened(root), opened(root)
    write(root, {"3.org": note("N3 edited", "id-000003"), "00.org": note("New", "id-new")})
    overtake(monkeypatch, nothing, lambda: fast.sync(is_full=True))
    slow.sync()
    check_equal_to_a_fresh_store(root, tmp_path)


def test_a_sync_forgets_no_file_that_came_meanwhile(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite gives the number of a deleted row to the next."""
    write(root, {"z.org": note("Z", "id-z")})
    slow, fast = opened(root), opened(root)
    (root / "z.org").unlink()

    def replaced() -> None:
        fast.sync()
        write(root, {"new.org": note("New", "id-new")})
        fast.sync()

    overtake(monkeypatch, nothing, replaced)
    slow.sync()
    check_equal_to_a_fresh_store(root, tmp_path)


def test_processes_that_find_a_damaged_store_at_once_all_answer(root: Path, tmp_path: Path) -> None:
    write(database_file().parent, {database_file().name: b"no database" * 500})
    answers = at_once(*[partial(script, *question(root))] * 3)
    assert {(each.status, "text of N3\n" in each.out, each.err) for each in answers} == {
        (0, True, "")
    }
    check_equal_to_a_fresh_store(root, tmp_path)


# --- Names that differ by case -------------------------------------------------------------------

RENAMED = {"0.ORG.org": "0.org", "Ab/c.org": "ab/c.org", "X/Y/z.org": "x/Y/z.org", "Q.org": "q.org"}


@pytest.mark.parametrize(("new", "old"), RENAMED.items())
def test_a_renaming_by_case_alone_is_followed(root: Path, ask: Ask, new: str, old: str) -> None:
    write(root, {old: note("Case", "id-case")})
    assert ask("focus", "id-case", "--root", root).status == 0
    (root / old.partition("/")[0]).rename(root / new.partition("/")[0])
    for address in ("id-case", new):
        assert f"# {new}\n" in ask("focus", address, "--root", root).out
    assert ask("focus", f"{old}:1", "--root", root).status == 1
    store = opened(root)
    store.sync()
    assert new in store.paths
    assert old not in store.paths


def test_names_that_differ_by_case_alone_are_two_files(tmp_path: Path, ask: Ask) -> None:
    root = write(tmp_path, {"a.org": note("small", "id-small"), "A.org": note("great", "id-great")})
    for path in root.glob("*.org"):  # one file where the disk does not tell cases apart
        shown = ask("focus", f"{path.name}:1", "--root", root).out
        assert path.read_text().splitlines()[-1] in shown


# --- Links ---------------------------------------------------------------------------------------

LINKS = {
    **{"loop": ".", "sub/up": "..", "self": "self", "one": "two", "two": "one", "in": "sub"},
    **{"same.org": "0.org", "sub/same.org": "../0.org", "out": "../outside"},
    **{
        "gone.org": "nowhere.org",
        "self.org": "self.org",
        "one.org": "two.org",
        "two.org": "one.org",
    },
    **{"out.org": "../outside/s.org", "far.org": "out/s.org", "etc.org": "/etc/passwd"},
}
OUT = "a symbolic link out of the root, left out"
NOWHERE = "a symbolic link to nothing, left out"
LEFT_OUT = {
    **dict.fromkeys(("out", "out.org", "far.org", "etc.org"), OUT),
    **dict.fromkeys(("gone.org", "self.org", "one.org", "two.org"), NOWHERE),
}


@pytest.fixture
def linked(root: Path) -> Path:
    """Notes among links of all kinds; what is outside holds the secret and an ID of the inside."""
    write(root.parent, {"outside/s.org": note(SECRET, "id-000001"), "notes/sub/b.org": "* B\n"})
    for name, target in LINKS.items():
        (root / name).symlink_to(target)
    return root


def test_each_file_is_read_once_and_nothing_behind_a_link(linked: Path, ask: Ask) -> None:
    done = json.loads(ask("sync", linked, "--json").out)
    assert done["read"] == NOTES + 1
    assert {each["path"]: each["what"] for each in done["problems"]} == LEFT_OUT
    known = json.loads(ask("status", linked, "--json").out)
    assert (known["roots"][0]["files"], known["duplicates"]) == (NOTES + 1, 0)
    assert {each["path"]: each["what"] for each in known["problems"]} == LEFT_OUT
    assert ask("focus", "id-000000", "--root", linked).out.startswith("# 0.org\n")
    assert "text of N1\n" in ask("focus", "id-000001", "--root", linked).out
    assert set(opened(linked).paths) == {*(f"{n}.org" for n in range(NOTES)), "sub/b.org"}


def test_a_link_to_a_note_is_no_name_of_it_but_from_its_own_folder(
    linked: Path, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(linked.parent)
    for address in ("same.org", "sub/same.org:1", "in/b.org"):
        assert ask("focus", address, "--root", linked).status == 1
    monkeypatch.chdir(linked)
    for address in ("same.org", "sub/same.org:1", f"{linked}/loop/0.org"):
        assert ask("focus", address, "--root", linked).out.startswith("# 0.org\n")
    for address in ("out.org", "out/s.org:1", "far.org::*x"):
        answer = ask("focus", address, "--root", linked)
        assert (answer.status, answer.out, answer.err.count("\n")) == (1, "", 1)


WATCHED = """\
import sys
opened = []
sys.addaudithook(lambda event, details: opened.append(f"{event} {details}"))
from orgctx.surfaces.cli import run
root, outside, place = sys.argv[1:4]
for address in ("out.org", "out/s.org", "far.org", "in/b.org", "loop/0.org", "same.org:1", "#x"):
    run(["focus", address, "--root", root])
    run(["focus", address, "--root", root, "--no-sync"])
for call in (["sync"], ["sync", "--full"], ["status", "--json"], ["outline"]):
    run([*call, root])
events = ("open", "os.scandir", "os.listdir")
with open(place, "w") as file:
    file.writelines(f"{e}\\n" for e in opened if e.startswith(events) and outside in e)
"""


def test_nothing_outside_is_opened(linked: Path, tmp_path: Path) -> None:
    arguments = [str(linked), str(tmp_path / "outside"), str(tmp_path / "seen")]
    done = subprocess.run(
        [sys.executable, "-c", WATCHED, *arguments], capture_output=True, text=True, check=True
    )
    assert (tmp_path / "seen").read_text() == ""
    assert SECRET not in done.stdout + done.stderr
    assert SECRET.encode() not in stored_bytes()


def file_to_link_out(root: Path) -> None:
    (root / "sub/c.org").unlink()
    (root / "sub/c.org").symlink_to("../../outside/c.org")


def folder_to_link_out(root: Path) -> None:
    shutil.rmtree(root / "sub")
    (root / "sub").symlink_to("../outside")


def file_to_link_within(root: Path) -> None:
    (root / "sub/c.org").unlink()
    (root / "sub/c.org").symlink_to("../other.org")


def file_to_folder(root: Path) -> None:
    (root / "sub/c.org").unlink()
    (root / "sub/c.org").mkdir()


def folder_to_file(root: Path) -> None:
    shutil.rmtree(root / "sub")
    write(root, {"sub": note(SECRET, "id-sub")})


SWAPS = (file_to_link_out, folder_to_link_out, file_to_link_within, file_to_folder, folder_to_file)
SWAPPED = ("id-sub", "sub/c.org", "sub/c.org:1", "sub/c.org::*Sub", "sub/c.org::#sub", "#sub")


@pytest.mark.parametrize("swap", SWAPS)
def test_a_note_that_is_swapped_after_a_sync_is_not_there(
    root: Path, ask: Ask, swap: Callable[[Path], None]
) -> None:
    text = "* Sub\n:PROPERTIES:\n:ID: id-sub\n:CUSTOM_ID: sub\n:END:\n"
    write(root.parent, {"notes/sub/c.org": text, "outside/c.org": f"{text}{SECRET}\n"})
    write(root, {"other.org": f"{text.replace('sub', 'other')}{SECRET}\n"})
    ask("sync", root)
    swap(root)
    for address in SWAPPED:
        for options in (["--no-sync"], []):
            answer = ask("focus", address, "--root", root, *options)
            assert (answer.status, answer.out) == (1, ""), (address, answer)
            assert SECRET not in answer.err
            assert answer.err.count("\n") == 1


def swapping(root: Path, monkeypatch: pytest.MonkeyPatch, is_swapped_back: bool) -> list[str]:
    """Let a folder be a link out of the root at the moment a file in it is opened, once."""
    original, swapped = os.open, []

    def open_(path: Any, *arguments: Any, **options: Any) -> int:
        if swapped or os.fspath(path) != str(root / "sub/c.org"):
            return original(path, *arguments, **options)
        swapped.append(str(path))
        (root / "sub").rename(root / "kept")
        (root / "sub").symlink_to("../outside")
        file = original(path, *arguments, **options)
        if is_swapped_back:
            (root / "sub").unlink()
            (root / "kept").rename(root / "sub")
        return file

    monkeypatch.setattr(os, "open", open_)
    return swapped


@pytest.mark.parametrize("is_swapped_back", [True, False])
def test_a_folder_that_is_swapped_while_it_is_read_leads_nowhere_else(
    root: Path, monkeypatch: pytest.MonkeyPatch, is_swapped_back: bool
) -> None:
    write(root.parent, {"notes/sub/c.org": "* Sub\n", "outside/c.org": f"* Sub\n{SECRET}\n"})
    store = opened(root)
    swapped = swapping(root, monkeypatch, is_swapped_back)
    if is_swapped_back:
        assert store.tree("sub/c.org").text == "* Sub\n"
    else:
        with pytest.raises(NotFound):
            store.tree("sub/c.org")
    assert swapped


def test_a_folder_that_is_swapped_while_it_is_walked_is_not_read(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(root.parent, {"notes/sub/c.org": "* Sub\n", "outside/c.org": note(SECRET, "id-secret")})
    list_, store = os.scandir, opened(root)

    def swapped(folder: str) -> Any:
        if folder == str(root / "sub"):
            folder_to_link_out(root)
        return list_(folder)

    monkeypatch.setattr(os, "scandir", swapped)
    store.sync(is_full=True)
    assert (root / "sub").is_symlink()
    assert store.holders("id-secret") == []
    assert SECRET not in str(rows(database_file()))


# --- A store that is damaged ---------------------------------------------------------------------


@pytest.fixture
def database(root: Path) -> Path:
    """The store's file after a sync, with nothing of it in a log."""
    store = opened(root)
    store.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    store.connection.close()
    assert not list(database_file().parent.glob("*-wal"))
    return database_file()


def check_answer(answer: Answer) -> str:
    """The right text and no more than one line of complaint. Returns: that line."""
    assert answer.status == 0, answer.err
    assert "text of N3\n" in answer.out
    assert answer.out.count("text of") == 1
    if answer.err:
        assert answer.err.startswith("orgctx: no store: ")
        assert answer.err.count("\n") == 1
    return answer.err


def question(root: Path) -> tuple[str | Path, ...]:
    return "focus", "id-000003", "--root", root


def check_repaired(ask: Ask, root: Path, tmp_path: Path) -> None:
    """After a sync all is as it should be, and nothing complains."""
    synced = ask("sync", root)
    assert (synced.status, synced.err) == (0, "")
    assert check_answer(ask(*question(root))) == ""
    check_equal_to_a_fresh_store(root, tmp_path)


@pytest.mark.parametrize(
    "part",
    [
        *(0, 1, 99, 100, 512, 4095, 4096, 8193, 0.3, 0.6, 0.99, -1, -100),
    ],
)
def test_a_store_that_is_cut_off_is_made_anew(
    root: Path, database: Path, tmp_path: Path, ask: Ask, part: float
) -> None:
    data = database.read_bytes()
    database.write_bytes(data[: part if isinstance(part, int) else int(len(data) * part)])
    assert check_answer(ask(*question(root))) == ""
    check_repaired(ask, root, tmp_path)


@pytest.mark.parametrize(("first", "size"), [(0, 16), (0, 100), (16, 84), (100, 3996), (0, 10**6)])
def test_a_store_that_begins_with_noise_is_made_anew(
    root: Path, database: Path, tmp_path: Path, ask: Ask, first: int, size: int
) -> None:
    overwrite(database, first, random.Random(5).randbytes(size))
    assert check_answer(ask(*question(root))) == ""
    check_repaired(ask, root, tmp_path)


def overwrite(place: Path, first: int, noise: bytes) -> None:
    with place.open("r+b") as file:
        file.seek(first)
        file.write(noise)


PARTS = ("root", "file", "node", "node_id", "sqlite_autoindex_file_1", "words_data", "tokens")


@pytest.mark.parametrize("part", PARTS)
def test_a_store_with_noise_inside_is_made_anew(
    root: Path, database: Path, tmp_path: Path, ask: Ask, part: str
) -> None:
    connection = sqlite3.connect(database)
    [size] = connection.execute("PRAGMA page_size").fetchone()
    number = "SELECT rootpage FROM sqlite_master WHERE name = ?"
    [page] = connection.execute(number, (part,)).fetchone()
    connection.close()
    overwrite(database, (page - 1) * size, random.Random(5).randbytes(size))
    check_answer(ask(*question(root)))
    replace(root / "5.org", note("N5 edited", "id-000005"))
    check_repaired(ask, root, tmp_path)


@pytest.mark.parametrize("part", ["nothing", "half", "noise", "noise at the end"])
def test_a_log_that_is_damaged_loses_nothing(
    root: Path, tmp_path: Path, ask: Ask, part: str
) -> None:
    """What was written but not yet moved into the store's own file."""
    store, kept = opened(root), tmp_path / "kept"
    shutil.copytree(database_file().parent, kept)
    store.connection.close()
    remove(database_file())
    log = (kept / "memex.sqlite-wal").read_bytes()
    assert log
    noise = random.Random(5).randbytes(len(log))
    damaged = {
        "nothing": b"",
        "half": log[: len(log) // 2],
        "noise": noise,
        "noise at the end": log[: len(log) // 2] + noise[len(log) // 2 :],
    }
    write(database_file().parent, {"memex.sqlite": (kept / "memex.sqlite").read_bytes()})
    write(database_file().parent, {"memex.sqlite-wal": damaged[part]})
    assert check_answer(ask(*question(root))) == ""
    check_repaired(ask, root, tmp_path)


@pytest.mark.parametrize("version", [VERSION + 1, 99, -1, 2**31 - 1, 0])
def test_a_store_of_any_other_version_is_made_anew(
    root: Path, database: Path, tmp_path: Path, ask: Ask, version: int
) -> None:
    connection = sqlite3.connect(database)
    connection.execute(f"PRAGMA user_version = {version}")
    connection.execute("DROP TABLE words")
    connection.close()
    assert check_answer(ask(*question(root))) == ""
    check_repaired(ask, root, tmp_path)


# --- No place for the store ----------------------------------------------------------------------


def file_for_the_cache(place: Path) -> None:
    write(place.parent.parent, {place.parent.name: ""})


def folder_for_the_store(place: Path) -> None:
    place.mkdir(parents=True)


def link_to_nowhere(place: Path) -> None:
    place.parent.mkdir(parents=True)
    place.symlink_to("/nowhere/at/all")


@pytest.mark.parametrize("block", [file_for_the_cache, folder_for_the_store, link_to_nowhere])
def test_where_there_can_be_no_store_notes_are_served(
    root: Path, tmp_path: Path, ask: Ask, block: Callable[[Path], None]
) -> None:
    block(database_file())
    check_without_a_store(ask, root)
    unblock(database_file())
    check_repaired(ask, root, tmp_path)


def check_without_a_store(ask: Ask, root: Path) -> None:
    assert check_answer(ask(*question(root))).startswith("orgctx: no store: ")
    for call in (["sync", root], ["sync", root, "--full"]):
        refused = ask(*call)
        assert (refused.status, refused.out, refused.err.count("\n")) == (1, "", 1)
        assert refused.err.startswith("orgctx: ")
    known = ask("status", root, "--json")
    assert (known.status, known.err.count("\n")) == (0, 1)
    assert json.loads(known.out)["roots"][0]["files"] == NOTES
    memex = open_memex(root)
    assert {memex.node(f"id-{n:06}").title for n in range(NOTES)} == {f"N{n}" for n in range(NOTES)}


def unblock(place: Path) -> None:
    if place.parent.is_file():
        place.parent.unlink()
    elif place.is_dir():
        place.rmdir()
    else:
        place.unlink()


@pytest.mark.parametrize("cache", ["/proc", "/dev/full", "/dev/null"])
def test_where_the_cache_folder_is_no_folder_notes_are_served(
    root: Path, ask: Ask, monkeypatch: pytest.MonkeyPatch, cache: str
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", cache)
    check_without_a_store(ask, root)


def obey_modes() -> None:
    """In a process to be: have root obey file modes as anybody does."""
    cap_dac_override, cap_dac_read_search, drop = 1, 2, 24
    if os.geteuid() == 0:
        for capability in (cap_dac_override, cap_dac_read_search):
            if ctypes.CDLL(None).prctl(drop, capability, 0, 0, 0):
                os._exit(99)


can_be_bound = pytest.mark.skipif(
    sys.platform != "linux" and os.geteuid() == 0,
    reason="root obeys no file modes, and only Linux' prctl can take that right from a process",
)


@can_be_bound
@pytest.mark.parametrize(("folder", "file"), [(0o500, 0o400), (0, 0o600), (0o700, 0)])
def test_a_store_that_may_not_be_written_is_told_in_one_line(
    root: Path, database: Path, tmp_path: Path, ask: Ask, folder: int, file: int
) -> None:
    replace(root / "3.org", note("N3", "id-000003", "edited\ntext of N3"))
    database.chmod(file)
    database.parent.chmod(folder)
    try:
        shown, refused = elsewhere(question(root), ("sync", root), before=obey_modes)
    finally:
        database.parent.chmod(0o700)
        database.chmod(0o600)
    assert check_answer(shown).count("\n") == 1
    assert (refused.status, refused.out, refused.err.count("\n")) == (1, "", 1)
    check_repaired(ask, root, tmp_path)


@pytest.mark.parametrize(
    ("size", "is_new"), [(0, False), (5_000, False), (0, True), (60_000, True)]
)
def test_on_a_full_disk_notes_are_served_and_nothing_is_lost(
    root: Path, database: Path, tmp_path: Path, ask: Ask, size: int, is_new: bool
) -> None:
    def fill() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    if is_new:
        remove(database)
    edit(root, 0)
    before = {place: place.read_bytes() for place in root.iterdir()}
    shown, synced = elsewhere(question(root), ("sync", root), before=fill)
    assert shown.status == 0
    assert "text of N3 0\n" in shown.out
    assert (synced.status, shown.err.count("\n"), synced.err.count("\n")) == (1, 1, 1)
    assert {place: place.read_bytes() for place in root.iterdir()} == before
    repaired = ask("sync", root)
    assert (repaired.status, repaired.err) == (0, "")
    check_equal_to_a_fresh_store(root, tmp_path)


# --- Notes that come, go and change meanwhile ----------------------------------------------------


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each file counts as one that has been left alone for long."""
    monkeypatch.setattr(syncing, "SETTLED_NS", -(10**15))


@pytest.mark.usefixtures("settled")
def test_a_known_file_that_vanishes_from_a_walk_is_forgotten(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = opened(root)
    vanishing(root, monkeypatch)
    assert store.sync().removed == 1
    check_equal_to_a_fresh_store(root, tmp_path)


@pytest.mark.parametrize("command", ["sync", "status", "outline"])
def test_a_new_file_that_vanishes_from_a_walk_is_no_fault(
    root: Path, ask: Ask, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    vanishing(root, monkeypatch)
    answer = ask(command, root)
    assert (answer.status, answer.err) == (0, "") or command == "outline"
    assert "Traceback" not in answer.err
    assert not (root / "4.org").exists()


def vanishing(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a file vanish when the walk has come to it."""
    walk = files.notes

    def vanish(*arguments: Any) -> Iterator[files.Found]:
        for found in walk(*arguments):
            if found.path == str(root / "4.org"):
                (root / "4.org").unlink(missing_ok=True)
            yield found

    monkeypatch.setattr(files, "notes", vanish)


@pytest.mark.usefixtures("settled")
@pytest.mark.parametrize("moment", ["before it is read", "after it is read"])
def test_a_change_while_a_sync_reads_is_seen_by_the_next(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    read, place, changed = files.read, root / "4.org", note("N4 changed", "id-000004")

    def change(path: Path, *rest: Any) -> bytes:
        if path == place and moment == "before it is read":
            place.write_text(changed)
        data = read(path, *rest)
        if path == place and moment == "after it is read":
            place.write_text(changed)
        return data

    monkeypatch.setattr(files, "read", change)
    store = opened(root)
    monkeypatch.setattr(files, "read", read)
    assert store.holders("id-000004")[0].title == "N4 changed"
    store.sync()
    check_equal_to_a_fresh_store(root, tmp_path)


@pytest.mark.usefixtures("settled")
def test_a_file_that_appears_behind_a_walk_is_seen_by_the_next(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = opened(root)
    overtake(monkeypatch, nothing, lambda: write(root, {"00.org": note("Late", "id-late")}))
    assert store.sync().read == 0
    assert open_memex(root).node("id-late").title == "Late"


def test_a_change_right_after_the_first_sync_of_a_watch_is_seen(root: Path) -> None:
    store, stop = opened(root), threading.Event()
    reports = store.watch(stop)
    next(reports)
    write(root, {"3.org": note("N3 edited", "id-000003")})
    threading.Timer(1.5, stop.set).start()
    assert [report.read for report in reports] == [1]


def emptied(folder: Path) -> None:
    shutil.rmtree(folder)


def made_a_file(folder: Path) -> None:
    shutil.rmtree(folder)
    folder.write_text("")


@pytest.mark.parametrize("change", [emptied, made_a_file])
def test_a_folder_that_vanishes_from_a_walk_is_no_fault(
    root: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    ask: Ask,
    change: Callable[[Path], None],
) -> None:
    write(root, {"sub/c.org": "* C\n", "sub/below/d.org": "* D\n", "z/e.org": "* E\n"})
    ask("sync", root)
    list_ = os.scandir

    def vanish(folder: str) -> Any:
        if folder == str(root / "sub") and (root / "sub").is_dir():
            change(root / "sub")
        return list_(folder)

    monkeypatch.setattr(os, "scandir", vanish)
    answer = ask("sync", root, "--json")
    monkeypatch.setattr(os, "scandir", list_)
    assert (answer.status, answer.err) == (0, "")
    assert json.loads(answer.out)["removed"] == 2
    assert "* E\n" in ask("focus", "z/e.org", "--root", root).out
    check_repaired(ask, root, tmp_path)


@can_be_bound
def test_what_may_not_be_read_is_a_problem_and_the_rest_is_served(
    root: Path, tmp_path: Path, ask: Ask
) -> None:
    write(root, {"sub/c.org": note(SECRET, "id-sub")})
    (root / "4.org").chmod(0)
    (root / "sub").chmod(0)
    calls = [(command, root, "--json") for command in ("sync", "status")]
    named = [("focus", address, "--root", root) for address in ("4.org", "sub/c.org")]
    try:
        synced, known, shown, *refused = elsewhere(
            *calls, question(root), *named, before=obey_modes
        )
    finally:
        (root / "4.org").chmod(0o600)
        (root / "sub").chmod(0o700)
    wanted = {
        "4.org": "Permission denied",
        "sub": "a folder that cannot be listed: Permission denied",
    }
    for answer in (synced, known):
        assert (answer.status, answer.err) == (0, "")
        assert {p["path"]: p["what"] for p in json.loads(answer.out)["problems"]} == wanted
    assert (shown.status, shown.err) == (0, "")
    assert {(each.status, each.err.count("\n")) for each in refused} == {(1, 1)}
    check_repaired(ask, root, tmp_path)
    assert SECRET in ask("focus", "id-sub", "--root", root).out


# --- Files that are no notes, and notes of odd names and bytes -----------------------------------


def listener(place: Path) -> None:
    folder = Path.cwd()
    os.chdir(place.parent)  # the name of a socket may be no longer than 108 bytes
    try:
        with socket.socket(socket.AF_UNIX) as ours:
            ours.bind(place.name)
    finally:
        os.chdir(folder)


def device(place: Path) -> None:
    os.mknod(place, 0o600 | 0o020000, os.makedev(1, 5))


KINDS: dict[str, Callable[[Path], None]] = {
    "pipe": os.mkfifo,
    "listener": listener,
    **({"device": device} if os.geteuid() == 0 else {}),
}
"""What has a name and is no file; only root may make a device."""


@either_way
def test_what_is_no_file_keeps_nobody_waiting(root: Path, options: tuple[str, ...]) -> None:
    """In the place of a note that is known, and of one that never was."""
    addresses = []
    write(root, {f"{kind}.org": note(kind, f"id-{kind}") for kind in KINDS})
    opened(root)
    for kind, make in KINDS.items():
        (root / f"{kind}.org").unlink()
        make(root / f"{kind}.org")
        make(root / f"new-{kind}.org")
        addresses += [f"id-{kind}", f"{kind}.org", f"{kind}.org:1", f"new-{kind}.org"]
    calls = [("focus", address, "--root", root, *options) for address in addresses]
    others = [(command, root) for command in ("sync", "status", "outline")]
    answers = elsewhere(*calls, *others, question(root), seconds=30)
    refused = answers[: len(calls)]
    assert {(each.status, each.out, each.err.count("\n")) for each in refused} == {(1, "", 1)}
    assert {(each.status, each.err) for each in answers[len(calls) :]} == {(0, "")}
    check_answer(answers[-1])


def test_a_configuration_that_is_no_file_keeps_nobody_waiting(root: Path) -> None:
    os.mkfifo(root / "orgctx.toml")
    [answer] = elsewhere(question(root), seconds=4)
    assert answer.err.count("\n") <= 1


ODD_NAMES = {
    "long": "n" * 251 + ".org",
    "long folders": f"{'a' * 255}/{'b' * 255}/c.org",
    "long and not ASCII": "é" * 125 + ".org",
    "new line": "a\n* b\n.org",
    "not UTF-8": os.fsdecode(b"\xff\xfe\xc3.org"),
    "folder not UTF-8": os.fsdecode(b"d\xff/x.org"),
    "controls": "\x01\x1b[31m\x7f.org",
}


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, id=kind) for kind, name in ODD_NAMES.items()],
)
def test_a_note_of_any_name_is_known_to_the_store_and_shown(
    root: Path, tmp_path: Path, ask: Ask, name: str
) -> None:
    write(root, {name: note("Odd", "id-odd") + "* Other\n:PROPERTIES:\n:CUSTOM_ID: odd\n:END:\n"})
    synced = ask("sync", root, "--json")
    assert (synced.status, json.loads(synced.out)["read"], synced.err) == (0, NOTES + 1, "")
    assert name in opened(root).paths
    for address in ("id-odd", "id:id-odd", f"{name}:1", f"{name}::*Odd", f"{name}::Odd"):
        data = json.loads(ask("focus", address, "--root", root, "--format", "json").out)
        assert "text of Odd\n" in data["text"]
        assert {each["path"] for each in data["shown"]} == {name}
        assert not any(line.startswith("* b") for line in data["text"].split("\n"))
    assert ask("focus", "#odd", "--root", root).status == 0
    assert json.loads(ask("sync", root, "--json").out)["unchanged"] == NOTES + 1
    (root / name).unlink()
    assert json.loads(ask("sync", root, "--json").out)["removed"] == 1
    check_equal_to_a_fresh_store(root, tmp_path)


def test_a_folder_too_deep_to_be_named_is_a_problem(root: Path, ask: Ask) -> None:
    place = os.open(root, os.O_RDONLY)
    for _ in range(20):
        os.mkdir("d" * 250, dir_fd=place)
        inner = os.open("d" * 250, os.O_RDONLY, dir_fd=place)
        os.close(place)
        place = inner
    os.close(os.open("deep.org", os.O_CREAT | os.O_WRONLY, dir_fd=place))
    os.close(place)
    done = json.loads(ask("sync", root, "--json").out)
    assert done["read"] == NOTES
    [problem] = done["problems"]
    assert problem["what"] == "a folder that cannot be listed: File name too long"
    assert "text of N3\n" in ask("focus", "id-000003", "--root", root).out


def test_a_root_whose_name_is_not_utf8_is_a_root(tmp_path: Path, ask: Ask) -> None:
    root = write(tmp_path / os.fsdecode(b"n\xff"), {"a.org": note("A", "id-a-long")})
    assert ask("sync", root).status == 0
    assert "text of A\n" in ask("focus", "id-a-long", "--root", root).out


@pytest.mark.parametrize(
    "form",
    ["0.org::#{}", "0.org::*{}", "{}", "id:{}", "#{}", "{}.org", "{}/0.org:1"],
)
def test_an_address_that_is_not_utf8_is_not_there(root: Path, ask: Ask, form: str) -> None:
    answer = ask("focus", form.format(os.fsdecode(b"\xff") * 8), "--root", root)
    assert (answer.status, answer.err.count("\n")) == (1, 1)


ODD_BYTES = {
    "nothing": b"",
    "a byte order mark": b"\xef\xbb\xbf",
    "line ends": b"\n\r\n\n",
    "a NUL": b"\0",
    "NULs": b"* A\nbefore\0after\n" + b"\0" * 10_000 + b"\n* B\nbehind\n",
    "half a surrogate pair": b"# -*- coding: raw_unicode_escape -*-\n* caf\xe9 \\ud800\n",
}


@pytest.mark.parametrize("data", ODD_BYTES.values(), ids=ODD_BYTES)
def test_a_note_of_any_bytes_stops_nothing(
    root: Path, tmp_path: Path, ask: Ask, data: bytes
) -> None:
    write(root, {"odd.org": data})
    synced = ask("sync", root, "--json")
    assert (synced.status, synced.err) == (0, "")
    is_text = b"coding" not in data
    assert [each["path"] for each in json.loads(synced.out)["problems"]] == ["odd.org"] * (
        not is_text
    )
    call = ("focus", "odd.org", "--root", root, "--format", "json", "--budget", "100000")
    answer = ask(*call)
    assert answer.status == (0 if is_text else 1)
    if is_text:
        text = json.loads(answer.out)["text"].partition("\n")[2]
        assert text.rstrip("\n") == data.decode("utf-8-sig").replace("\r\n", "\n").rstrip("\n")
    check_repaired(ask, root, tmp_path)


def test_what_follows_a_nul_is_found(root: Path) -> None:
    write(root, {"odd.org": ODD_BYTES["NULs"]})
    store = opened(root)
    for word in ("before", "after", "behind"):
        found = "SELECT count(*) FROM words WHERE words MATCH ?"
        assert store.connection.execute(found, (word,)).fetchone() == (1,)
    store.connection.execute("INSERT INTO words (words) VALUES ('integrity-check')")


# --- Sources are left as they are ----------------------------------------------------------------

SOURCES: dict[str, str | bytes] = {
    "a.org": "#+title: T\r\n* A   \r\n:PROPERTIES:\r\n:ID: id-a\r\n:END:\r\n* TODO B :t:\r\nend",
    "sub/b.org": b"\xef\xbb\xbf* B",
    "latin.org": b"# -*- coding: latin-1 -*-\n* caf\xe9\n",
    "bad.org": b"* caf\xe9\n",
    "nul.org": b"\0",
    "empty.org": b"",
    "x.sync-conflict-20240101-101010-AB.org": "* Copy\n",
    ".#a.org": "lock",
    "orgctx.toml": 'private_tags = ["private"]\n',
}
COMMANDS: dict[str, list[tuple[str, ...]]] = {
    "sync": [(), ("--json",), ("--full",)],
    "status": [(), ("--json",), ("--no-sync",)],
    "ls": [("--root",), ("a.org", "--root"), (".", "--json", "--root")],
    "read": [("a.org", "--subtree", "--root"), ("bad.org", "--json", "--root")],
    "cite": [],
    "outline": [(), ("--json",)],
    "focus": [
        (address, "--root", *form)
        for address in ("id:id-a", "a.org:6", "sub/b.org", "latin.org", "bad.org", "nowhere.org")
        for form in ((), ("--format", "json"), ("--report",), ("--no-sync",), ("--ids", "short"))
    ],
    "grep": [(".", "--regexp", "--root"), ("end", "a.org", "--json", "--root"), ("B", "--root")],
    "overview": [("--root", *form) for form in ((), ("--format", "json"), ("--report",))],
    "emacs": [],
    "watch": [],
}
"""Calls of each command, to which the root is added. `watch` is started by itself; `cite` is told
where notes are by what was read.
"""


def test_no_command_touches_a_source(tmp_path: Path, ask: Ask) -> None:
    root = write(tmp_path / "notes", SOURCES)
    for number, place in enumerate(sorted(root.rglob("*"))):
        os.utime(place, ns=(10**18 + number, 10**18 + number * 1_000_003))
    before = snapshot(root)
    assert set(COMMANDS) == set(cli.cli.list_commands(click.Context(cli.cli)))
    for command, calls in COMMANDS.items():
        for call in calls:
            answer = ask(command, *with_root(call, root))
            assert answer.status in (0, 1), answer
            assert snapshot(root) == before, (command, call)
    watching = subprocess.Popen(
        [sys.executable, "-m", "orgctx", "watch", str(root)], stdout=subprocess.PIPE
    )
    assert watching.stdout
    assert b" read, " in watching.stdout.readline()
    watching.send_signal(signal.SIGINT)
    watching.communicate(timeout=30)
    assert snapshot(root) == before


def with_root(call: tuple[str, ...], root: Path) -> list[str]:
    at = call.index("--root") + 1 if "--root" in call else len(call)
    return [*call[:at], str(root), *call[at:]]


# --- A store that is behind ----------------------------------------------------------------------

ENTRIES = """\
* First
:PROPERTIES:
:ID: id-first
:CUSTOM_ID: first
:END:
alpha
* Second
:PROPERTIES:
:ID: id-second
:CUSTOM_ID: second
:END:
beta
* Third
:PROPERTIES:
:ID: id-third
:CUSTOM_ID: third
:END:
gamma
"""
NAMES_OF_SECOND = ("id-second", "id:id-second", "id:id-sec", "#second", "a.org::#second",
                   "a.org::*Second", "a.org::Second")  # fmt: skip


def shown(answer: Answer) -> set[str]:
    return {word for word in ("alpha", "beta", "gamma", "delta") if word in answer.out}


@either_way
@pytest.mark.usefixtures("settled")
@pytest.mark.parametrize("address", NAMES_OF_SECOND)
@pytest.mark.parametrize("above", ["text\n" * 10, "* New\ndelta\n", "* Second of all\ndelta\n" * 9])
def test_lines_that_are_put_above_an_entry_do_not_move_its_name(
    root: Path, ask: Ask, address: str, above: str, options: tuple[str, ...]
) -> None:
    write(root, {"a.org": ENTRIES})
    ask("sync", root)
    write(root, {"a.org": above + ENTRIES})
    answer = ask("focus", address, "--root", root, *options)
    assert (answer.status, answer.err) == (0, "")
    assert shown(answer) == {"beta"}


@either_way
@pytest.mark.usefixtures("settled")
@pytest.mark.parametrize("address", NAMES_OF_SECOND)
def test_an_entry_that_is_gone_is_not_there_under_its_name(
    root: Path, ask: Ask, address: str, options: tuple[str, ...]
) -> None:
    write(root, {"a.org": ENTRIES})
    ask("sync", root)
    write(root, {"a.org": ENTRIES.replace("econd", "ixth").replace("beta", "delta")})
    answer = ask("focus", address, "--root", root, *options)
    assert (answer.status, answer.out) == (1, "")


@pytest.mark.usefixtures("settled")
@pytest.mark.parametrize("address", ["id-second", "id:id-sec", "#second", "b.org::*Second"])
def test_an_entry_that_moved_to_another_file_is_found(root: Path, ask: Ask, address: str) -> None:
    write(root, {"a.org": ENTRIES, "b.org": "* B\n"})
    ask("sync", root)
    first, second, third = (f"* {part}" for part in ENTRIES.split("* ")[1:])
    write(root, {"a.org": first + third, "b.org": f"* B\n{second}"})
    behind = ask("focus", address, "--root", root, "--no-sync")
    assert behind.status == 1 or shown(behind) == {"beta"}
    answer = ask("focus", address, "--root", root)
    assert (answer.status, shown(answer)) == (0, {"beta"})
    assert answer.out.startswith("# b.org\n")


@pytest.mark.parametrize("is_moved", [True, False])
def test_a_whole_id_that_the_store_does_not_know_wins_over_one_that_begins_so(
    root: Path, ask: Ask, is_moved: bool
) -> None:
    write(root, {"a.org": note("Whole", "id-whole", "alpha") if is_moved else "* A\n"})
    write(root, {"b.org": note("Longer", "id-whole-and-more", "beta")})
    ask("sync", root)
    write(root, {"a.org": "* A\n", "c.org": note("Whole", "id-whole", "alpha")})
    assert shown(ask("focus", "id-whole", "--root", root)) == {"alpha"}


@either_way
@pytest.mark.usefixtures("settled")
@pytest.mark.parametrize("seconds", [None, 0, 1, 10**9, 2**32], ids=str)
def test_an_edit_is_seen_whatever_size_and_clock_say(
    root: Path, ask: Ask, seconds: int | None, options: tuple[str, ...]
) -> None:
    """None: the file's own time, as if it had not been touched."""
    place = write(root, {"a.org": ENTRIES}) / "a.org"
    if seconds is not None:
        os.utime(place, (seconds, seconds))
    before = place.stat()
    ask("sync", root)
    write(root, {"a.org": ENTRIES.replace("beta", "delt")})
    os.utime(place, ns=(before.st_atime_ns, before.st_mtime_ns))
    after = place.stat()
    assert (after.st_size, after.st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    answer = ask("focus", "id-second", "--root", root, *options)
    assert (answer.status, "\ndelt\n" in answer.out, shown(answer)) == (0, True, set())
    if not options:
        assert json.loads(ask("sync", root, "--json").out)["read"] == 1


@pytest.mark.usefixtures("settled")
@pytest.mark.parametrize("seconds", [0, 2**32])
def test_a_store_that_is_older_or_newer_than_the_clock_is_no_hindrance(
    root: Path, database: Path, tmp_path: Path, ask: Ask, seconds: int
) -> None:
    os.utime(database, (seconds, seconds))
    replace(root / "3.org", note("N3", "id-000003", "delta"))
    assert shown(ask("focus", "id-000003", "--root", root)) == {"delta"}
    assert json.loads(ask("sync", root, "--json").out)["read"] == 1
    check_equal_to_a_fresh_store(root, tmp_path)


# --- Threads -------------------------------------------------------------------------------------


def many(version: int) -> str:
    return "".join(note(f"Many {n}", f"many-{n:03}", f"v{version}-{n}.") for n in range(40))


def check_an_answer(memex: Memex, draw: random.Random) -> None:
    """Ask for some node: the answer is of that one."""
    n = draw.choice([7, draw.randrange(40)])
    address = draw.choice([f"many-{n:03}", f"many.org::*Many {n}", f"many.org:{n * 5 + 2}"])
    view = memex.focus(address, budget=draw.choice([300, 4000]))
    view.report()
    bodies = [line for line in view.text.split("\n") if line.startswith("v")]
    assert [body.partition("-")[2] for body in bodies] == [f"{n}."], (address, view.text)
    assert "text of N3" in memex.node("id-000003").text


def test_threads_may_ask_one_memex_while_a_note_is_edited(root: Path) -> None:
    """Each answer is of one version of the file, and of the node that was asked for."""
    replace(root / "many.org", many(0))
    memex = open_memex(root)

    def ask_on(number: int) -> None:
        draw = random.Random(number)
        for _ in rounds(2):
            check_an_answer(memex, draw)

    def edit_on() -> int:
        for version in rounds(2):
            replace(root / "many.org", many(version))
            if version % 10 == 0:
                memex.sync()
            time.sleep(0.005)
        return version

    *_, versions = at_once(*(partial(ask_on, number) for number in range(8)), edit_on)
    assert versions > 10


def test_threads_that_sync_at_once_make_one_store(root: Path, tmp_path: Path) -> None:
    memex = open_memex(root)
    edit(root, 0)

    def sync() -> None:
        memex.sync()
        memex.node("id-000003")

    at_once(*[sync] * 8)
    assert "text of N3 0" in memex.focus("id-000003").text
    memex.sync()
    check_equal_to_a_fresh_store(root, tmp_path)


def test_connecting_from_many_threads_makes_one_schema(tmp_path: Path) -> None:
    file = tmp_path / "cache" / "memex.sqlite"
    at_once(*[lambda: connect(file).close()] * 8)
    assert connect(file).execute("SELECT count(*) FROM file").fetchone() == (0,)
