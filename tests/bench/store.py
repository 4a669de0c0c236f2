"""The store, measured as ratios of one run on one machine, and in megabytes.

usage: python tests/bench/store.py [FOLDER]

FOLDER: notes for the first row; by default those that ORGCTX_CORPORA names, else made ones. The
other rows are of memexes made by memex.py. Each figure is printed with what it should not exceed.
What is compared takes turns, and of each the fastest time counts. org-workspace, to which one row
compares, has to be installed beside orgctx (pip install org-workspace).
"""

from __future__ import annotations

import importlib.util
import os
import statistics
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from sqlite3 import Connection
from unittest.mock import patch

import memex
from measuring import SETTINGS, reads_and_counts, seconds, settle, stats, sync_anew

from orgctx.core.model import Tree
from orgctx.store import folders, summaries
from orgctx.store.database import connect
from orgctx.store.indexed import IndexedStore
from orgctx.store.summaries import Facts
from orgctx.store.sync import sync
from orgctx.surfaces.api import Memex
from orgctx.tokens import counter, get_encoding
from orgctx.views.syncing import status

SMALL, LARGE, HUGE = 1_000, 10_000, 20_000
"""How many files; of 5 headlines each, so that the most are 100,000 headlines."""
PEAK = """\
import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""
"""A process says what its only child needed; that of a large one would count its parent too."""
THEIRS = """\
import sys
from pathlib import Path
from org_workspace import OrgWorkspace
folders = sorted(place for place in Path(sys.argv[1]).iterdir() if place.is_dir())
print(len(OrgWorkspace(roots=folders).files()))
"""
"""org-workspace looks for notes in a folder, but not in the folders in it."""


def main(arguments: list[str]) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch)
        for files in (SMALL, LARGE, HUGE):
            memex.make(place / str(files), files)
        given = arguments[0] if arguments else os.environ.get("ORGCTX_CORPORA")
        first_sync(Path(given) if given else place / str(SMALL), place / "first")
        first_sync_of_theirs(place / str(LARGE), place)
        later_syncs(place / str(LARGE), place / "later")
        looking_up(place)
        whole_process(place / str(LARGE), place / "whole")
        listing(place / str(LARGE), place / "whole")
        asking(place / str(LARGE), place / "whole")
        summing_up(place)
        memory(place / str(HUGE), place / "memory")


def report(what: str, figure: float, at_most: float, unit: str = "x") -> None:
    print(f"{what:66} {figure:7.2f} {unit:2} (at most {at_most:g} {unit})", flush=True)


def first_sync(folder: Path, cache: Path) -> None:
    """The floor is what tiktoken takes, even if toktok is installed and the sync counts by it."""
    encoding, count, floor, ours = get_encoding(SETTINGS.encoding), counter(), [], []
    count("load the tokenizer")
    for _ in range(4):
        floor.append(seconds(lambda: reads_and_counts(folder, encoding.encode_ordinary)))
        ours.append(seconds(lambda: sync_anew(folder, cache / "memex.sqlite")))
    report("first sync, of reading and counting everything", min(ours) / min(floor), 2.0)


def first_sync_of_theirs(folder: Path, cache: Path) -> None:
    what = f"first sync of {LARGE} files, a process, of org-workspace loading them"
    if importlib.util.find_spec("org_workspace") is None:
        print(f"{what}: left out, org-workspace is not installed here")
        return
    theirs = seconds(lambda: run([sys.executable, "-c", THEIRS, str(folder)], cache))
    caches = (cache / name for name in ("one", "two", "three"))
    ours = min(seconds(partial(run, orgctx("sync", folder), each)) for each in caches)
    report(what, ours / theirs, 0.2)


def later_syncs(folder: Path, cache: Path) -> None:
    connection, count = connect(cache / "memex.sqlite"), counter()
    count("load the tokenizer")
    folder = folder.resolve()
    sync(connection, folder, SETTINGS)
    settle(folder)
    sync(connection, folder, SETTINGS)
    bare = min(seconds(lambda: stats(str(folder))) for _ in range(5))
    nothing = min(seconds(lambda: sync(connection, folder, SETTINGS)) for _ in range(5))
    report(f"sync of {LARGE} files, none changed, of scandir and stat", nothing / bare, 3.0)
    edited = min(one_edit(connection, folder, n) for n in range(5))
    report("sync after one edit, of the row above", edited / nothing, 1.2)
    store = IndexedStore([folder], cache / "memex.sqlite")
    known = min(seconds(lambda: status(store)) for _ in range(5))
    report("status of them, of the sync in it that reads nothing", known / nothing, 3.0)


def one_edit(connection: Connection, folder: Path, number: int) -> float:
    place = folder / "area-050" / "note-005000.org"
    place.write_text(place.read_text(encoding="utf-8") + f"edit {number}\n", encoding="utf-8")
    return seconds(lambda: sync(connection, folder, SETTINGS))


def looking_up(place: Path) -> None:
    medians = {}
    for files in (SMALL, LARGE):
        store = IndexedStore([place / str(files)], place / f"look-{files}" / "memex.sqlite")
        addresses = (f"id:{memex.id_of(number * files // 50, 0)}" for number in range(50))
        times = [seconds(partial(Memex(store).focus, address)) for address in addresses]
        medians[files] = statistics.median(times)
    report(f"focus by ID, {LARGE} of {SMALL} files", medians[LARGE] / medians[SMALL], 1.3)


def whole_process(folder: Path, cache: Path) -> None:
    call = orgctx("focus", memex.id_of(5000, 0), "--root", folder)
    run(orgctx("sync", folder), cache)
    bare = [sys.executable, "-c", "import click, sqlite3"]
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(11):
        times[0].append(seconds(lambda: run(call, cache)))
        times[1].append(seconds(lambda: run(bare, cache)))
    ours, theirs = map(statistics.median, times)
    report("orgctx focus ID, a process, of importing click and sqlite3", ours / theirs, 2.5)


def listing(folder: Path, cache: Path) -> None:
    """Of the listing alone: looking for changes in all files is a row of its own."""
    listed = orgctx("ls", folder.name, "--root", folder, "--no-sync")
    focus = orgctx("focus", memex.id_of(5000, 0), "--root", folder)
    times: tuple[list[float], list[float]] = ([], [])
    run(listed, cache)
    for _ in range(11):
        times[0].append(seconds(lambda: run(listed, cache)))
        times[1].append(seconds(lambda: run(focus, cache)))
    ours, theirs = map(statistics.median, times)
    report(f"orgctx ls --no-sync, {LARGE} files, of orgctx focus ID", ours / theirs, 1.5)


QUESTIONS = (
    *("garden river budget", "winter letter", "where is the market of silver stones?", "note 5000"),
    *("会议资料", "the report on paper music", "tag3 river", "silver"),
)
"""The notes have a dozen words, each in most of them: no question takes longer in others."""


def asking(folder: Path, cache: Path) -> None:
    """Of a process, with the look for changes in all files; in one, without and with it."""
    context = orgctx("context", QUESTIONS[0], "--root", folder)
    focus = orgctx("focus", memex.id_of(5000, 0), "--root", folder)
    times: tuple[list[float], list[float]] = ([], [])
    run(context, cache)
    for _ in range(11):
        times[0].append(seconds(lambda: run(context, cache)))
        times[1].append(seconds(lambda: run(focus, cache)))
    ours, theirs = map(statistics.median, times)
    report(f"orgctx context, {LARGE} files, of orgctx focus ID", ours / theirs, 2.5)
    store = IndexedStore([folder], cache / "orgctx" / "memex.sqlite")
    for what, frozen in (("without a look for changes", True), ("with it", False)):
        store._is_frozen = frozen
        asked = [
            seconds(partial(Memex(store).context, each)) for _ in range(4) for each in QUESTIONS
        ]
        median = statistics.median(asked[len(QUESTIONS) :]) * 1000
        report(f"a question in one process, {what}, the median", median, 50, "ms")


def summing_up(place: Path) -> None:
    """What it takes to boil notes down and to sum them up, of a sync that does neither."""
    folder = place / "folders"
    memex.make(folder, LARGE, in_folder=10)
    database, with_them, without = place / "summaries.sqlite", [], []
    for _ in range(3):
        with_them.append(seconds(lambda: sync_anew(folder, database)))
        with patch.object(summaries, "facts_of", no_facts), patch.object(folders, "fold", no_fold):
            without.append(seconds(lambda: sync_anew(folder, database)))
    share = min(with_them) / min(without) - 1
    report("summaries of 1000 folders, of the first sync without them", share, 0.25)


def no_facts(_tree: Tree) -> Facts:
    return Facts(1, {}, {}, [])


def no_fold(*_arguments: object) -> list[bytes]:
    return []


def memory(folder: Path, cache: Path) -> None:
    first = peak_megabytes(orgctx("sync", folder), cache)
    report("memory of the first sync of 100000 headlines", first, 250, "MB")
    call = orgctx("focus", memex.id_of(5000, 0), "--root", folder)
    report("memory of orgctx focus ID then", peak_megabytes(call, cache), 60, "MB")


def peak_megabytes(call: list[str], cache: Path) -> float:
    """The most that a process had in memory at once."""
    size = int(run([sys.executable, "-c", PEAK, *call], cache))
    return size / (1e6 if sys.platform == "darwin" else 1e3)


def orgctx(*arguments: str | Path) -> list[str]:
    return [sys.executable, "-m", "orgctx", *map(str, arguments)]


def run(call: list[str], cache: Path) -> bytes:
    """Run a process that has its store in `cache`. Returns: what it printed.

    It keeps its bytecode, whatever is set here: an installed program has it, as click has.
    """
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    return subprocess.run(call, env=environment, stdout=subprocess.PIPE, check=True).stdout


if __name__ == "__main__":
    main(sys.argv[1:])
