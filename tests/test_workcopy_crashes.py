"""Commands on working copies that are killed: at every step they take, and at random moments."""

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import copies
import pytest
from copies import Notes

from orgctx.workcopy.state import State

STEPS = ("open", "write", "replace", "rename", "unlink", "mkdir", "rmdir")
"""What changes the disk; of `open`, where it makes a file."""


def killed_at(step: int, work: Callable[[], object]) -> bool:
    """Do something in a process that is killed before its step of this number.

    Returns: whether it got so far.
    """
    if child := os.fork():
        _, status = os.waitpid(child, 0)
        assert os.WIFSIGNALED(status) or os.waitstatus_to_exitcode(status) == 0
        return os.WIFSIGNALED(status)
    left, real_open = step, os.open
    for name in STEPS:
        call = getattr(os, name)

        def counted(*arguments, _call=call, **keywords):
            nonlocal left
            if _call is not real_open or arguments[1] & os.O_CREAT:
                if left == 0:
                    os.kill(os.getpid(), signal.SIGKILL)
                left -= 1
            return _call(*arguments, **keywords)

        setattr(os, name, counted)
    status = 1
    try:
        work()
        status = 0
    finally:
        os._exit(status)


def litter(place: Path) -> list[str]:
    """What a command must not leave behind."""
    names = (each.relative_to(place).as_posix() for each in place.rglob("*"))
    return [
        each for each in names if ".orgctx-" in each or each.endswith((".lock", "doing", ".new"))
    ]


def edit(notes: Notes, folder: Path) -> None:
    """An edit of each kind, of four notes; others edit one of them."""
    notes.replace("a.org", "text one", "mine", folder)
    notes.put("sub/new/n.org", "* New\n", folder)
    (folder / "sub/b.org").unlink()
    notes.replace("sub/deeper/c.org", "* C\n", "* C\n** Mine\n", folder)
    notes.replace("a.org", "text two", "theirs")


AFTER = {
    "a.org": copies.A.replace("text one", "mine").replace("text two", "theirs").encode(),
    "sub/new/n.org": b"* New\n",
    "sub/deeper/c.org": b"* C\n** Mine\ntext c\n",
}


@pytest.fixture
def tmp_path(tmp_path):
    """In memory where that is possible: what is killed often should not wait for a disk."""
    memory = Path("/dev/shm")
    if not os.access(memory, os.W_OK):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir=memory) as place:
        yield Path(place)


def edited(place):
    """Notes in a new folder, with a state folder of their own and a copy that was edited."""
    place.mkdir()
    os.environ["XDG_STATE_HOME"] = str(place / "state")
    notes = Notes.make(place)
    edit(notes, notes.work.open("x").folder)
    return notes


def test_a_commit_killed_at_any_step_is_completed_or_undone(tmp_path):
    step, ends = 0, set()
    while True:
        notes = edited(tmp_path / str(step))
        before = copies.files(notes.root)
        was_killed = killed_at(step, partial(notes.work.commit, "x", "m"))
        [status] = notes.work.status()
        now = copies.files(notes.root)
        assert now in (before, AFTER)
        assert (now == AFTER) == (status.changed == ())
        assert len(notes.work.log()) == (now == AFTER)
        ends.add(now == AFTER)
        if now == before:
            assert set(notes.outcomes().values()) == {"merged", "written", "deleted"}
        assert copies.files(notes.root) == copies.files(status.folder) == AFTER
        assert litter(notes.root) + litter(State().folder) == []
        if not was_killed:
            assert ends == {True, False}
            return
        step += 1


@pytest.mark.parametrize("path", ["a.org", "sub/b.org", "sub/deeper/c.org", "sub/new/n.org"])
def test_a_note_edited_after_a_kill_keeps_the_edit(tmp_path, path):
    """Then the rest is put back, and the next commit merges."""
    step, seen = 0, set()
    while True:
        notes = edited(tmp_path / str(step))
        was_killed = killed_at(step, partial(notes.work.commit, "x", "m"))
        if not State().doing.exists():
            if was_killed:
                step += 1
                continue
            assert len(seen) > 1
            return
        notes.put(path, f"{notes.get(path) or ''}* Late\n")
        notes.work.status()
        assert "* Late" in notes.get(path)
        others = {
            each: notes.get(each) for each in (*copies.NOTES, "sub/new/n.org") if each != path
        }
        done = {each: data.decode() for each, data in AFTER.items()} | {"sub/b.org": None}
        states = {each: text == done[each] for each, text in others.items()}
        assert len(set(states.values())) == 1
        seen.add(states.popitem()[1])
        notes.work.commit("x", "again", "ours")
        assert "* Late" in (notes.get(path) or "* Late" * (path == "sub/b.org"))
        assert litter(notes.root) + litter(State().folder) == []
        step += 3


@pytest.mark.parametrize("what", ["open", "again", "discard"])
def test_other_commands_killed_at_any_step(tmp_path, what):
    step = 0
    while True:
        place = tmp_path / str(step)
        place.mkdir()
        os.environ["XDG_STATE_HOME"] = str(place / "state")
        notes = Notes.make(place)
        if what != "open":
            folder = notes.work.open("x").folder
            notes.replace("a.org", "text one", "mine", folder)
            notes.replace("sub/b.org", "text b", "theirs")
            notes.put("sub/d.org", "* D\n")
        before = copies.state(notes.root)
        call = notes.work.discard if what == "discard" else notes.work.open
        was_killed = killed_at(step, partial(call, "x"))
        changed = {each.id: each.changed for each in notes.work.status()}
        assert changed in ({}, {"x": ("a.org",)} if what != "open" else {"x": ()})
        if what == "discard":
            assert changed or notes.work.log()
        folder = notes.work.open("x").folder
        expected = copies.files(notes.root)
        if what == "again" or (changed and what == "discard"):
            expected["a.org"] = copies.A.replace("text one", "mine").encode()
        assert copies.files(folder) == expected
        assert copies.state(notes.root) == before
        assert litter(notes.root) + litter(State().folder) == []
        if not was_killed:
            return
        step += 1


def test_a_note_that_became_private_is_never_taken_for_deleted(tmp_path):
    step = 0
    while True:
        place = tmp_path / str(step)
        place.mkdir()
        os.environ["XDG_STATE_HOME"] = str(place / "state")
        secret = {"orgctx.toml": 'private_tags = ["private"]\n', "a.org": "* A\n"}
        notes = Notes.make(place, {**secret, "b.org": "* B\n"})
        folder = notes.work.open("x").folder
        notes.put("a.org", "#+filetags: :private:\n* A\n")
        was_killed = killed_at(step, partial(notes.work.open, "x"))
        assert [each.changed for each in notes.work.status()] == [()]
        notes.work.open("x")
        assert set(copies.files(folder)) == {"b.org"}
        if not was_killed:
            return
        step += 1


def run(*arguments: str) -> subprocess.Popen:
    """The program, as a process of its own."""
    quiet = subprocess.DEVNULL
    return subprocess.Popen(
        [sys.executable, "-m", "orgctx", *arguments], stdout=quiet, stderr=quiet
    )


def test_the_program_killed_at_random_moments(tmp_path):
    """A few of them; tests/bench/workcopy.py does it 200 times."""
    notes = Notes.make(tmp_path)
    copy = notes.work.open("x")
    draw, text = random.Random(4), copies.A
    for number in range(6):
        new = text.replace("#+title: A", f"#+title: A{number}")
        notes.put("a.org", new, copy.folder)
        notes.put(f"new{number}.org", f"* New {number}\n", copy.folder)
        process = run("work", "commit", "x", "-m", f"edit {number}")
        time.sleep(draw.uniform(0.1, 0.4))
        process.kill()
        process.wait()
        notes.work.status()
        assert (notes.get("a.org") == new) == (notes.get(f"new{number}.org") is not None)
        assert litter(notes.root) + litter(State().folder) == []
        notes.outcomes()
        assert notes.get("a.org") == new
    assert len(copies.files(notes.root)) == len(copies.NOTES) + 6


def test_several_processes_commit_at_once(tmp_path):
    notes = Notes.make(tmp_path, {"log.org": "#+title: Log\n"})
    folders = [notes.work.open(f"x{number}").folder for number in range(4)]
    for number, folder in enumerate(folders):
        place = folder / "log.org"
        place.write_text(f"{place.read_text()}* Entry {number}\n")
    processes = [run("work", "commit", f"x{number}", "-m", "m") for number in range(4)]
    assert [process.wait() for process in processes] == [0] * 4
    lines = notes.get("log.org").split("\n")
    assert lines[0] == "#+title: Log"
    assert sorted(lines[1:-1]) == [f"* Entry {number}" for number in range(4)]
    assert len(notes.work.log()) == 4
