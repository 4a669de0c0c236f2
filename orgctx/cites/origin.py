"""Where the text of a source can still be found: in its file, in what was shown, or in git."""

from __future__ import annotations

import zlib
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import takewhile
from pathlib import Path

from ..config import load, users_file
from ..core.outline import outline
from ..core.privacy import conceal
from ..errors import NotFound, Stale, Unreadable
from ..store import files
from ..store.store import Store
from .sources import Home, Source, Stretch
from .version import Version, numbers, version

PLACES = 1000
"""How many places of a line are looked at to find a text again."""
COMPARED = 1_000_000
"""How many lines are compared to find texts of one source again; of what then is left, it is not
known where it is now."""


class Origin:
    """Where the text of a source can still be found: looked up once, when it is first wanted."""

    def __init__(self, source: Source, stretches: Sequence[Stretch], store: Store | None) -> None:
        """store: with which it was read; None to open it again."""
        self._source, self._stretches = source, stretches
        self._path = source.path if store or source.home.roots else source.home.place
        self._store = store or _opened(source.home)
        self._left = COMPARED

    @cached_property
    def now(self) -> Version | None:
        """The file as it is; None if it cannot be read any more."""
        try:
            return version(self._store.tree(self._path)) if self._store else None
        except (NotFound, Unreadable):
            return None

    @cached_property
    def _texts_now(self) -> dict[int, str]:
        return self.now.texts() if self.now else {}

    @cached_property
    def _places_now(self) -> dict[str, list[int]]:
        places: dict[str, list[int]] = {}
        for number, text in self._texts_now.items():
            places.setdefault(text, []).append(number)
        return places

    @property
    def is_unchanged(self) -> bool:
        """Whether the file is as it was read."""
        return self.now is not None and self.now.revision == self._source.revision

    @cached_property
    def _shown(self) -> dict[int, str]:
        """Lines that were shown."""
        return {n: text for each in self._stretches for n, text in each.texts().items()}

    @cached_property
    def _committed(self) -> dict[int, str]:
        """Lines that the repository has, if all of the file might be shown then, and they now."""
        tags = self._private_tags()
        if tags is None or self._store is None:
            return {}
        data = _blob(Path(self._source.home.place), self._source.revision)
        if data is None:
            return {}
        try:
            text, encoding = files.decode(data, self._path)
        except Unreadable:
            return {}
        tree = outline(text, self._path, encoding, self._store.inlinetask_min_level)
        texts = version(conceal(tree, tags)).texts()
        wanted = numbers(self._source.spans, 1, self._source.total)
        return {number: texts[number] for number in wanted if number in texts}

    def _private_tags(self) -> frozenset[str] | None:
        """What the file's memex holds private; None if that is not known any more."""
        store = self._store
        if store is None or not store.roots:
            return store.config.private_tags if store else None
        root = store.root_name(self._path)
        return store.configs[root].private_tags if root else None

    def _ways(self) -> Iterator[Mapping[int, str]]:
        if self.is_unchanged:
            yield self._texts_now
        yield self._shown
        yield self._committed

    def texts(self, first: int, last: int) -> dict[int, str]:
        """The lines that might be shown, as they were; if not all are known, those that were shown.

        Raises: Stale if there are none.
        """
        wanted = numbers(self._source.spans, first, last)
        for known in self._ways():
            if all(number in known for number in wanted):
                return {number: known[number] for number in wanted}
        rest = {**self._committed, **self._shown}
        if not (part := {number: rest[number] for number in wanted if number in rest}):
            what = f"{self._source.path}: lines {first}-{last} are no longer there as they were"
            raise Stale(what, "read the file again", self._source.path)
        return part

    def place(self, first: int, last: int) -> tuple[int, int] | None:
        """Where the text of some lines is now: the nearest place that has it unchanged.

        Returns: first and last line; None if it is not found, or too much was looked for.
        """
        if self.is_unchanged:
            return first, last
        self._left -= last - first + 1  # they are looked up, at least
        if self._left < 0:
            return None
        try:
            old = self.texts(first, last) if self.now else {}
        except Stale:
            return None
        if len(old) < len(numbers(self._source.spans, first, last)):
            return None
        shift = self._shift(old)
        return None if shift is None else (first + shift, last + shift)

    def _shift(self, old: Mapping[int, str]) -> int | None:
        """By how many lines a text has moved. The line that is found least often leads to it."""
        known, now = self._places_now, self._texts_now
        anchor = min(list(old)[:PLACES], key=lambda number: len(known.get(old[number], ())))
        places = known.get(old[anchor], [])
        middle = bisect_left(places, anchor)
        near = places[max(middle - PLACES // 2, 0) : middle + PLACES // 2]
        for shift in sorted((place - anchor for place in near), key=abs):
            pairs = ((now.get(number + shift), text) for number, text in old.items())
            same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
            self._left -= same + 1
            if same == len(old) or self._left < 0:
                return shift if same == len(old) else None
        return None


def _opened(home: Home) -> Store | None:
    """A store in which the file is, as it is set up now; None if its root is gone."""
    level, config = home.inlinetask_min_level, load(users_file(), is_users=True)
    try:
        if home.roots:
            return Store(dict(home.roots), level, config)
        return Store.of_files([home.place], level, config)
    except NotFound:
        return None


def _blob(place: Path, blob: str) -> bytes | None:
    """The bytes that the git repository around a file has under an ID; None if it has none."""
    from dulwich import errors, objects, repo  # hardly ever

    broken = (errors.ChecksumMismatch, errors.FileFormatException, errors.ApplyDeltaError)
    other = (repo.UnsupportedVersion, repo.UnsupportedExtension, repo.InvalidWorktreeConfiguration)
    try:
        with repo.Repo.discover(place.parent) as repository:
            found = repository.object_store[objects.ObjectID(blob.encode())]
            return found.as_raw_string() if found.type_name == b"blob" else None
    except (errors.NotGitRepository, KeyError, OSError, ValueError, zlib.error, *broken, *other):
        return None
