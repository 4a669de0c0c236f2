"""The registry of one conversation: the files that were read, by number."""

from __future__ import annotations

import json
import os
from pathlib import Path
from threading import Lock
from typing import Any

from ..core.model import Tree
from ..errors import BadArgument, NotFound, Unreadable
from ..store import files
from ..store.replacing import replace
from ..store.roots import place_of
from ..store.store import Store
from .origin import Origin
from .sources import LONGEST_CHARS, Home, Source, Stretch, checked_source, checked_stretch, packed
from .version import Version, runs

KEPT_BYTES = 2_000_000
"""How much of the texts that were shown a registry keeps, packed."""


class Cites:
    """The files that were read in one conversation, each revision by its number from 1 up.

    Threads may share it.
    """

    def __init__(self) -> None:
        self.sources: list[Source] = []
        self._stretches: list[Stretch] = []
        self._stores: dict[Home, Store] = {}
        self._saved: dict[Path, bytes] = {}
        self._lock = Lock()

    def number(self, source: Source) -> int:
        """The number that a source has, or would get: one for each revision of a file."""
        for number, known in enumerate(self.sources, 1):
            if (known.home.place, known.revision) == (source.home.place, source.revision):
                return number
        return len(self.sources) + 1

    def take(self, number: int, source: Source, store: Store) -> bool:
        """Give a source its number. Returns: whether it is still its own, and no other's."""
        with self._lock:
            if number != self.number(source):
                return False
            self._stores[source.home] = store
            self.sources += [source] if number > len(self.sources) else []
            return True

    def keep(self, number: int, title: str, read: Version, first: int, last: int) -> None:
        """Remember lines that were shown; the oldest are forgotten where it would be too much.

        title: of what was read.
        """
        for run in runs(read.spans, first, last):
            lines = read.lines[run[0] - 1 : run[1]]
            if sum(map(len, lines)) <= LONGEST_CHARS:
                self._add(Stretch(number, *run, title, packed(lines)))

    def _add(self, stretch: Stretch) -> None:
        with self._lock:
            others = [each for each in self._stretches if each[:3] != stretch[:3]]
            self._stretches = [*others, stretch]
            size = sum(len(each.packed) for each in self._stretches)
            while size > KEPT_BYTES:
                size -= len(self._stretches.pop(0).packed)

    def source(self, number: int) -> Source:
        """Raises: NotFound if nothing has this number."""
        if not (isinstance(number, int) and 1 <= number <= len(self.sources)):
            raise NotFound(f"no file has the number {number}", "read it first", str(number))
        return self.sources[number - 1]

    def resolve(self, number: int, first: int, last: int | None = None) -> str:
        r"""The text of some lines as it was when they were read.

        number: of the file. first, last: 1-based; those beyond the file's end stand for its last.
        Returns: the lines, each ended by "\n": from the file if it has not changed, else those that
            were shown, else from the git repository in which the file lies, unless something of the
            file was not to be shown. If that has them not all, those of them that were shown.
        Raises: NotFound if there is no such file or line; Stale if their text is nowhere any more.
        """
        last = first if last is None else last
        if not (isinstance(first, int) and isinstance(last, int) and 1 <= first <= last):
            what = f"lines {first!r} to {last!r}: give whole numbers from 1 up"
            raise BadArgument(what, where="lines")
        source = self.source(number)
        if (found := source.clamped(first, last)) is None:
            hint = f"give 1 to {source.total}" if source.total else ""
            raise NotFound(f"{source.path}: there are no lines {first}-{last}", hint, source.path)
        return "".join(f"{line}\n" for line in self.origin(number).texts(*found).values())

    def title(self, number: int, line: int) -> str:
        """What the line is a part of: the smallest of what was read, else the file."""
        holding = [s for s in self._stretches if s.number == number and s.first <= line <= s.last]
        titles = [s.title for s in sorted(holding, key=lambda s: s.last - s.first) if s.title]
        return titles[0] if titles else self.source(number).title

    def origin(self, number: int) -> Origin:
        """Where the text of a source can still be found. Raises: NotFound."""
        stretches = [each for each in self._stretches if each.number == number]
        source = self.source(number)
        return Origin(source, stretches, self._stores.get(source.home))

    @classmethod
    def load(cls, file: str | Path, is_new_allowed: bool = False) -> Cites:
        """Read a registry.

        is_new_allowed: whether a missing file is a registry without sources.
        Raises: NotFound; Unreadable if it is no registry, or a damaged one.
        """
        cites, name, place = cls(), str(file), _real(file)
        if place.exists() and not place.is_file():
            raise Unreadable(f"{name}: not a file", "name another", name)
        try:
            data = files.read(place, name)
        except NotFound:
            if is_new_allowed:
                return cites
            raise
        try:
            known = json.loads(data)
            cites.sources = [checked_source(each) for each in known["sources"]]
            cites._stretches = [checked_stretch(each, cites.sources) for each in known["shown"]]
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            hint = "name another file, or delete this one: it is made anew"
            raise Unreadable(f"{name}: not a file of cites, or damaged", hint, name) from error
        cites._saved[place] = data
        return cites

    def save(self, file: str | Path) -> bool:
        """Write the registry, all at once, for its owner alone.

        Returns: whether it is there now. It is not if the file is no longer what was loaded from
            it, or written to it, before.
        Raises: OSError.
        """
        data = json.dumps(self._data()).encode() + b"\n"
        place = _real(file)
        if data == self._saved.get(place):
            return True
        known = self._saved.get(place)
        is_written = replace(place, data, is_due=lambda: _bytes_of(place) == known)
        if is_written:
            self._saved[place] = data
        return is_written

    def _data(self) -> dict[str, Any]:
        sources = [{**each._asdict(), "home": each.home._asdict()} for each in self.sources]
        return {"sources": sources, "shown": [each._asdict() for each in self._stretches]}


def _bytes_of(place: Path) -> bytes | None:
    return place.read_bytes() if place.exists() else None


def _real(file: str | Path) -> Path:
    """Where a file is, whatever links lead to it. Raises: BadArgument if it is no name."""
    if (place := place_of(str(file))) is None:
        raise BadArgument(f"{str(file)!r}: no name of a file", "name another", "cites")
    return Path(os.path.realpath(place))


def source_of(store: Store, tree: Tree, read: Version) -> Source:
    """A file, as a cite needs it to be known."""
    place = store.place(tree.path) or tree.path
    roots = tuple((root.name, str(root.folder)) for root in store.roots)
    home = Home(str(place), roots, store.inlinetask_min_level)
    return Source(tree.path, tree.root.title, read.revision, read.spans, home)
