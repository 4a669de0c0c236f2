"""Faults: several processes and threads at once get right answers and make one store."""

from __future__ import annotations

import random
import sqlite3
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from mishaps import edit, nothing, overtake, question, replace
from notes import note, write
from program import Ask, script
from stores import check_equal_to_a_fresh_store, opened
from threads import at_once, rounds

from orgctx import Memex, open_memex
from orgctx.store import database as store_database
from orgctx.store import sync as syncing
from orgctx.store.database import connect
from orgctx.store.opening import database_file

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
    assert versions > 2


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


WAITING = [
    ("status", []),
    ("ls", ["--root"]),
    ("ls", ["0.org", "--root"]),
    ("tokens", ["--root"]),
    ("grep", ["N3", "--root"]),
    ("overview", ["--root"]),
    ("context", ["N3", "--root"]),
    ("read", ["id-nowhere", "--root"]),
]


@pytest.mark.parametrize(("command", "options"), WAITING)
def test_a_lock_is_waited_for_once(
    root: Path, ask: Ask, monkeypatch: pytest.MonkeyPatch, command: str, options: list[str]
) -> None:
    monkeypatch.setattr(store_database, "BUSY_SECONDS", 0.05)
    opened(root)
    replace(root / "3.org", note("N3 edited", "id-000003"))
    holder, vain, sync = connect(database_file()), list[Exception](), syncing.sync

    def counted(*arguments: Any) -> syncing.Report:
        try:
            return sync(*arguments)
        except sqlite3.OperationalError as error:
            vain.append(error)
            raise

    monkeypatch.setattr(syncing, "sync", counted)
    holder.execute("BEGIN IMMEDIATE")
    answer = ask(command, *options, root)
    holder.close()
    assert len(vain) == 1
    assert ("database is locked" in answer.err) is (answer.status == 0)
    assert answer.status == ("id-nowhere" in options)


def test_a_store_that_is_another_s_alone_is_waited_for_once(
    root: Path, database: Path, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_database, "BUSY_SECONDS", 0.05)
    holder, tries, open_it = sqlite3.connect(database), list[Path](), store_database._opened

    def counted(file: Path) -> sqlite3.Connection:
        tries.append(file)
        return open_it(file)

    monkeypatch.setattr(store_database, "_opened", counted)
    holder.execute("PRAGMA locking_mode = EXCLUSIVE")
    holder.execute("BEGIN EXCLUSIVE")
    answer = ask("ls", "--root", root)
    holder.close()
    assert len(tries) == 1
    assert (answer.status, answer.out.count("12 files")) == (0, 1)
    assert "database is locked" in answer.err
