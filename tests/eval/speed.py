"""Speed and growth: what ten and a hundred times as many notes take, as ratios."""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from bench import measuring
from bench.memex import id_of, make
from growth import seconds

from orgctx import Memex
from orgctx.store.database import connect
from orgctx.store.indexed import IndexedStore
from orgctx.store.sync import sync

from .cutting import count, encoded
from .report import Panel, Part

FOCUSES = 30
QUESTION = "winter garden budget"
PROSE = """\
Notes made by rule, about five headlines a file, a hundred files a folder. The first sync is
compared with reading every file and counting its tokens; a sync that finds nothing changed, with
=scandir= and =stat= alone; the others with the same of the fewest files. A focus is by ID, without
a look for changes, as ls and the question are.

All is processor time, the least of several runs: what else a machine does only adds to a clock's,
and to a call of a millisecond it may add tenfold. So waiting for the disk is not in these figures.
The made notes are short, so what a sync writes weighs more than what it counts: of real notes the
first sync takes a smaller part, which =python tests/bench/store.py= prints.
"""
WHY = {
    "ls": "the root has more folders to show, up to the 50 lines that a listing has",
    "a question": "its words stand in more entries, up to the 2,000 of each that are looked at",
}
GROWN = ("a focus", "ls", "a question")
MOST = 100_000


class Speed(NamedTuple):
    """Seconds of processor time, of so many files.

    read: of reading and counting all of them. look: of scandir and stat.
    """

    files: int
    read: float
    first_sync: float
    look: float
    sync: float
    focus: float
    ls: float
    context: float

    @property
    def of_floor(self) -> tuple[float, float]:
        """The first sync and one that finds nothing, of what they cannot do without."""
        return self.first_sync / self.read, self.sync / self.look

    def grown(self, least: Speed) -> tuple[float, ...]:
        """A focus, a listing and a question, of the same with the fewest files."""
        ours, theirs = self[-3:], least[-3:]
        return tuple(one / other for one, other in zip(ours, theirs, strict=True))


def part(sizes: Sequence[int]) -> Part:
    """sizes: how many files, from the fewest on."""
    found = [measured(files) for files in sizes]
    least = found[0]
    floors = list(zip(*(each.of_floor for each in found), strict=True))
    growth = list(zip(*(each.grown(least) for each in found), strict=True))
    names = ("focus by ID", "ls of the root", "question")
    panels = [
        Panel("of what cannot be done without", "files", sizes,
              dict(zip(("first sync", "sync, nothing changed"), floors, strict=True)), "times"),
        Panel(f"of the same with {sizes[0]:,} files", "files", sizes,
              {name: list(each) for name, each in zip(names, growth, strict=True)}, "times"),
    ]  # fmt: skip
    return Part("Speed and growth", PROSE, [*rows(found)], remarks(found), "speed", panels)


def measured(files: int) -> Speed:
    with tempfile.TemporaryDirectory() as scratch:
        place, database = Path(scratch, "notes").resolve(), Path(scratch, "memex.sqlite")
        make(place, files)
        count("load the tokenizer")
        rounds = 1 if files > 20_000 else 3
        read = seconds(partial(measuring.reads_and_counts, place, encoded), rounds)
        first = seconds(partial(measuring.sync_anew, place, database), rounds)
        measuring.settle(place)
        connection = connect(database)
        sync(connection, place, measuring.SETTINGS)
        again = seconds(lambda: sync(connection, place, measuring.SETTINGS))
        look = seconds(partial(measuring.stats, str(place)))
        connection.close()
        return Speed(files, read, first, look, again, *asked(place, database, files))


def asked(place: Path, database: Path, files: int) -> Iterator[float]:
    """Of a focus, the median of several; of a listing and of a question."""
    store = IndexedStore([place], database)
    store._is_frozen = True  # the look for changes is measured by itself
    memex = Memex(store)
    addresses = [f"id:{id_of(number * files // FOCUSES, 0)}" for number in range(FOCUSES)]
    yield statistics.median(seconds(partial(memex.focus, each)) for each in addresses)
    yield seconds(partial(memex.ls, place.name))
    yield seconds(partial(memex.context, QUESTION))


def rows(found: Sequence[Speed]) -> Iterator[Sequence[object]]:
    yield (
        *("files", "first sync, of reading", "sync, of looking"),
        *("focus", "ls", "question", "focus, ms", "question, ms"),
    )
    for each in found:
        milliseconds = (1000 * each.focus, 1000 * each.context)
        yield each.files, *each.of_floor, *each.grown(found[0]), *milliseconds


def remarks(found: Sequence[Speed]) -> list[str]:
    most, least = found[-1], found[0]
    times = most.files / least.files
    slow = [
        f"*Grows*: with {times:,.0f} times as many files, {name} takes {factor:.1f} times as long:"
        f" {WHY.get(name, 'not explained yet')}."
        for name, factor in zip(GROWN, most.grown(least), strict=True)
        if factor > 2
    ]
    none = f"With {times:,.0f} times as many files none of them takes twice as long."
    cut = f"Measured up to {most.files:,} files here; without =--files= it is {MOST:,}."
    return [*(slow or [none]), *([cut] if most.files < MOST else [])]
