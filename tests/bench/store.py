"""The store, measured as ratios of one run on one machine.

usage: python tests/bench/store.py [FOLDER]

FOLDER: notes for the first row; by default those that ORGCTX_CORPORA names, else made ones. The
other rows are of memexes made by memex.py. Each figure is printed with what it should not exceed.
"""

from __future__ import annotations

import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from sqlite3 import Connection

import memex

from orgctx.config import Config
from orgctx.store.counts import Settings
from orgctx.store.database import connect
from orgctx.store.indexed import IndexedStore
from orgctx.store.sync import sync
from orgctx.tokens import counter
from orgctx.views.focus import focus

SMALL, LARGE = 1_000, 10_000
SETTINGS = Settings(Config(), "o200k_base")


def main(arguments: list[str]) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch)
        for files in (SMALL, LARGE):
            memex.make(place / str(files), files)
        given = arguments[0] if arguments else os.environ.get("ORGCTX_CORPORA")
        first_sync(Path(given) if given else place / str(SMALL), place / "first")
        later_syncs(place / str(LARGE), place / "later")
        looking_up(place)
        whole_process(place / str(LARGE), place)


def report(what: str, ratio: float, at_most: float) -> None:
    print(f"{what:62} {ratio:6.2f} x   (at most {at_most} x)")


def first_sync(folder: Path, cache: Path) -> None:
    count = counter()
    count("load the tokenizer")
    floor = seconds(lambda: reads_and_counts(folder, count))
    connection = connect(cache / "memex.sqlite")
    ours = seconds(lambda: sync(connection, folder.resolve(), SETTINGS, count))
    report("first sync, of reading and counting everything", ours / floor, 2.0)


def reads_and_counts(folder: Path, count: Callable[[str], int]) -> None:
    for path in folder.rglob("*.org"):
        text = path.read_bytes().decode("utf-8", "replace")
        list(re.finditer(r"^\*+ ", text, re.MULTILINE))
        count(text)


def later_syncs(folder: Path, cache: Path) -> None:
    connection, count = connect(cache / "memex.sqlite"), counter()
    folder = folder.resolve()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    sync(connection, folder, SETTINGS, count)
    settle(folder)
    sync(connection, folder, SETTINGS, count)
    bare = min(seconds(lambda: stats(str(folder))) for _ in range(5))
    nothing = min(seconds(lambda: sync(connection, folder, SETTINGS, count)) for _ in range(5))
    report(f"sync of {LARGE} files, none changed, of scandir and stat", nothing / bare, 3.0)
    edited = min(one_edit(connection, folder, count, n) for n in range(5))
    report("sync after one edit, of the row above", edited / nothing, 1.2)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"peak memory after that sync: {peak / 1000:.0f} MB, {before / 1000:.0f} MB before it")


def settle(folder: Path) -> None:
    """Wait until no file changed so shortly ago that it has to be read again to be sure."""
    newest = max(path.stat().st_ctime for path in folder.rglob("*.org"))
    while time.time() < newest + 2.1:
        time.sleep(0.1)


def stats(folder: str) -> None:
    for entry in os.scandir(folder):
        entry.stat(follow_symlinks=False)
        if entry.is_dir(follow_symlinks=False):
            stats(entry.path)


def one_edit(
    connection: Connection, folder: Path, count: Callable[[str], int], number: int
) -> float:
    place = folder / "area-050" / "note-005000.org"
    place.write_text(place.read_text(encoding="utf-8") + f"edit {number}\n", encoding="utf-8")
    return seconds(lambda: sync(connection, folder, SETTINGS, count))


def looking_up(place: Path) -> None:
    medians = {}
    for files in (SMALL, LARGE):
        store = IndexedStore([place / str(files)], place / f"look-{files}" / "memex.sqlite")
        addresses = (f"id:{memex.id_of(number * files // 50, 0)}" for number in range(50))
        times = [seconds(partial(focus, store, address)) for address in addresses]
        medians[files] = statistics.median(times)
    report(f"focus by ID, {LARGE} of {SMALL} files", medians[LARGE] / medians[SMALL], 1.3)


def whole_process(folder: Path, cache: Path) -> None:
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache)}
    call = [sys.executable, "-m", "orgctx", "focus", memex.id_of(5000, 0), "--root", str(folder)]
    subprocess.run([sys.executable, "-m", "orgctx", "sync", str(folder)], env=environment,
                   stdout=subprocess.DEVNULL, check=True)  # fmt: skip
    bare = [sys.executable, "-c", "import click, sqlite3"]
    ours, theirs = process(call, environment), process(bare, environment)
    report("orgctx focus ID, a process, of importing click and sqlite3", ours / theirs, 2.5)


def process(call: list[str], environment: dict[str, str]) -> float:
    """The median of some runs."""

    def run() -> None:
        subprocess.run(call, env=environment, stdout=subprocess.DEVNULL, check=True)

    return statistics.median(seconds(run) for _ in range(11))


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


if __name__ == "__main__":
    main(sys.argv[1:])
