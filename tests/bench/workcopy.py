"""Working copies: what opening one costs, and what is left after being killed.

usage: python tests/bench/workcopy.py [ratios] [kills [N]] [crowd [SECONDS]]

ratios: opening copies, as ratios to `cp -r` of the same notes in the same run. kills: N commits
(50) by processes that are killed at random moments. crowd: 8 processes that edit and commit
overlapping notes for some SECONDS (10). All three by default, which is short enough to be run
often; what is promised is `kills 200` and `crowd 60`. Each figure is printed with what it should
not exceed; what kills and crowd find lost, torn or left behind is an error.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import memex
from store import report

from orgctx.workcopy import Copy, Workcopies
from orgctx.workcopy.state import State

SMALL, LARGE = 500, 10_000
ROUNDS = 8
PEOPLE = 8


def main(arguments: list[str]) -> None:
    names = [each for each in arguments if not each.isdigit()] or ["ratios", "kills", "crowd"]
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch)
        if "ratios" in names:
            ratios(place)
        if "kills" in names:
            kills(place / "kills", number_after("kills", arguments, 50))
        if "crowd" in names:
            crowd(place / "crowd", number_after("crowd", arguments, 10))


def number_after(name: str, arguments: list[str], default: int) -> int:
    behind = arguments[arguments.index(name) + 1 :] if name in arguments else []
    return int(behind[0]) if behind and behind[0].isdigit() else default


# --- Ratios --------------------------------------------------------------------------------------


def ratios(place: Path) -> None:
    for files, at_most in ((SMALL, 2.0), (LARGE, 3.0)):
        notes = place / str(files)
        memex.make(notes, files)
        settle(notes)
        opening(notes, place, files, at_most)


def settle(folder: Path) -> None:
    """Wait until no note changed so shortly ago that it has to be read again to be sure."""
    newest = max(path.stat().st_ctime for path in folder.rglob("*.org"))
    while time.time() < newest + 2.1:
        time.sleep(0.1)


def opening(notes: Path, place: Path, files: int, at_most: float) -> None:
    """What is compared takes turns, and of each the fastest time counts."""
    turns = range(ROUNDS if files < LARGE else 2)
    rows = [turn(notes, place / f"{files}-{number}") for number in turns]
    cp, first, stats, again, commit = map(min, zip(*rows, strict=True))
    report(f"opening a copy of {files} notes, of cp -r", first / cp, at_most)
    if files == LARGE:  # of few notes, it is the time to get at the copy at all
        report("opening it again, of scandir and stat of the notes", again / stats, 4.0)
        report("committing one edit in it, of the same", commit / stats, 12.0)


def turn(notes: Path, place: Path) -> tuple[float, ...]:
    """The times of cp, opening, looking at each note, opening again, and committing an edit."""
    work = Workcopies(notes, state=place / "state")
    cp = seconds(partial(subprocess.run, ["cp", "-r", notes, place], check=True))
    first = seconds(partial(work.open, "x"))
    stats = min(seconds(partial(stat_all, str(notes))) for _ in range(3))
    again = min(seconds(partial(work.open, "x")) for _ in range(3))
    append(work.copy("x").folder / "area-000/note-000000.org", "* More\n")
    commit = seconds(partial(work.commit, "x", "m"))
    shutil.rmtree(place)
    return cp, first, stats, again, commit


def stat_all(folder: str) -> None:
    for entry in os.scandir(folder):
        entry.stat(follow_symlinks=False)
        if entry.is_dir(follow_symlinks=False):
            stat_all(entry.path)


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


# --- Kills ---------------------------------------------------------------------------------------


def kills(place: Path, number: int) -> None:
    """Each commit is of four notes; a user edits one of them meanwhile, now and then."""
    notes, draw = place / "notes", random.Random(1)
    memex.make(notes, 40)
    os.environ["XDG_STATE_HOME"] = os.environ["XDG_CACHE_HOME"] = str(place / "state")
    work = Workcopies(notes)
    copy = work.open("x")
    paths, wanted, halfway, done, times = copy.glob("*.org").paths, set[str](), 0, 0, list[float]()
    while done < number:
        chosen = draw.sample(paths, 4)
        marks = [f"mark-{len(times)}-{at}" for at in range(4)]
        for path, mark in zip(chosen, marks, strict=True):
            copy.insert_entry(path, f"* {mark}\n")
        if draw.random() < 0.3:
            marks.append(f"user-{len(times)}")
            append(notes / chosen[0], f"* {marks[-1]}\n")
        usual = statistics.median(times[-20:]) if times else 1.0
        done += killed_commit(usual * draw.random() if len(times) > 4 else 10.0, marks[0])
        halfway += State().doing.exists()
        work.status()
        found = [mark for mark in marks[:4] if mark in text_of(notes)]
        check(len(found) in (0, 4), f"half a commit: {found} of {marks}")
        check(not litter(place), f"left behind: {litter(place)}")
        copy.insert_entry(chosen[3], f"* after-{len(times)}\n")
        times.append(seconds(lambda: work.commit("x", "after")))
        wanted |= set(marks)
        lost = wanted - set(re.findall(r"^\*+ ((?:mark|user)-\S+)$", text_of(notes), re.M))
        check(not lost, f"lost: {lost}")
    twice = [mark for mark in wanted if text_of(notes).count(f"* {mark}\n") != 1]
    check(not twice, f"there twice: {twice}")
    print(
        f"{done} commits were killed, {halfway} of them on the way; none lost, torn or left behind"
    )


def killed_commit(after: float, message: str) -> bool:
    """Commit in a process of its own, which is killed after some seconds if it still runs."""
    child = os.fork()
    if not child:
        Workcopies().commit("x", message)
        os._exit(0)
    end = time.perf_counter() + after
    while time.perf_counter() < end:
        if os.waitpid(child, os.WNOHANG)[0]:
            return False
    os.kill(child, signal.SIGKILL)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def append(place: Path, text: str) -> None:
    """As an editor does: a new file in place of the old one."""
    new = place.with_name(f"{place.name}.new")
    new.write_text(place.read_text(encoding="utf-8") + text, encoding="utf-8")
    os.replace(new, place)


# --- A crowd -------------------------------------------------------------------------------------


def crowd(place: Path, duration: int) -> None:
    """Each edits entries of the same few notes in a copy of its own, and commits; some fall out."""
    notes = place / "notes"
    notes.mkdir(parents=True)
    for number in range(5):
        entries = "".join(f"* Entry {each}\ntext\n" for each in range(20))
        (notes / f"{number}.org").write_text(f"#+title: {number}\n{entries}", encoding="utf-8")
    os.environ["XDG_STATE_HOME"] = os.environ["XDG_CACHE_HOME"] = str(place / "state")
    Workcopies(notes).open("warm")
    call = [sys.executable, __file__, "--person", str(notes), str(duration)]
    people = [
        subprocess.Popen([*call, str(number)], stdout=subprocess.PIPE) for number in range(PEOPLE)
    ]
    told = [person.communicate()[0].decode().split() for person in people]
    check(all(person.returncode == 0 for person in people), "a process has failed")
    written = {mark for each in told for mark in each if mark.startswith("mark-")}
    outcomes = [each for row in told for each in row if not each.startswith("mark-")]
    work = Workcopies()
    there = text_of(notes) + history(work)
    lost = {mark for mark in written if f"* {mark}\n" not in there}
    check(not lost, f"lost: {lost}")
    for path in notes.glob("*.org"):
        text = path.read_text(encoding="utf-8")
        titles = re.findall(r"^\* (.*)$", text, re.M)
        check(text.startswith("#+title:") and text.endswith("\n"), f"torn: {path}")
        check(len(titles) == len(set(titles)), f"an entry twice: {path}")
        check(len([each for each in titles if each.startswith("Entry")]) == 20, f"torn: {path}")
    check(not litter(place), f"left behind: {litter(place)}")
    check(
        [each.changed for each in work.status()] == [()] * (PEOPLE + 1), "edits are left in a copy"
    )
    counts = ", ".join(f"{outcomes.count(each)} {each}" for each in sorted(set(outcomes)))
    print(f"{PEOPLE} processes, {duration} s: {len(written)} edits, {counts}; none lost or torn")


def person(notes: str, duration: str, number: str) -> None:
    """One of the crowd; prints what it wrote, and what became of it."""
    work, draw = Workcopies(notes), random.Random(int(number))
    name, end, each = f"p{number}", time.time() + float(duration), 0
    while time.time() < end:
        copy = work.open(name)
        each += 1
        one_edit(copy, draw, f"mark-{number}-{each}")
        found = work.commit(name, f"{number} {each}", draw.choice(("refuse", "ours", "theirs")))
        if not found.is_whole:
            print("conflict", *(o.what for o in found.outcomes), flush=True)
            found = work.commit(name, f"{number} {each} again", "ours")
        print(*(o.what for o in found.outcomes), flush=True)


def one_edit(copy: Copy, draw: random.Random, mark: str) -> None:
    """A new entry, whose mark is told; and a change of an entry that others change as well."""
    path = f"{draw.randrange(5)}.org"
    print(mark)
    copy.insert_entry(path, f"* {mark}\n", where=draw.choice(("first", "last")))
    entry = draw.randrange(20)
    copy.edit_entry(f"{path}::Entry {entry}", f"* Entry {entry}\n{mark}\n")


def history(work: Workcopies) -> str:
    """Every version of every note that was ever committed, refused or overwritten."""
    shown = []
    for _, record in work.log(10**6):
        for each in record.outcomes:
            for revision in {each.ours, each.theirs, each.result} - {None}:
                shown.append(work.show(str(revision)) if each.is_held or each.conflicts else "")
    return "".join(shown)


# --- What both look at ---------------------------------------------------------------------------


def text_of(notes: Path) -> str:
    return "".join(path.read_text(encoding="utf-8") for path in sorted(notes.rglob("*.org")))


def litter(place: Path) -> list[str]:
    """What must not be left behind; the store's own lock is a file that nobody holds."""
    names = (str(each) for each in place.rglob("*") if each.name != "memex.sqlite.lock")
    return [n for n in names if ".orgctx-" in n or n.endswith((".lock", "/doing", ".new"))]


def check(holds: bool, what: str) -> None:
    if not holds:
        sys.exit(f"error: {what}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--person"]:
        person(*sys.argv[2:5])
    else:
        main(sys.argv[1:])
