"""From notes to a copy: made when first opened, brought up to date when opened again."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from itertools import groupby
from typing import NamedTuple

from ..core.model import Problem
from ..core.outline import outline
from ..core.privacy import conceal, may_hide
from ..errors import NotFound, OrgctxError, OutsideRoot
from ..store import files
from ..store.roots import Root, notes_in
from ..store.signature import signature
from ..store.store import Store
from .base import Base, Row
from .confined import Files, Folder, Note, parts_of


class Found(NamedTuple):
    """A note on the disk. path: its address. folder, name: where it is in its root."""

    path: str
    root: Root
    folder: str
    name: str
    entry: os.DirEntry[str]


def notes_of(store: Store, problems: list[Problem]) -> Iterator[Found]:
    """Every note under the roots. problems: get what was passed over."""
    for root in store.roots:
        start = len(str(root.folder).rstrip(os.sep)) + 1
        for found in notes_in(root.folder, store.configs[root.name]):
            if isinstance(found, Problem):
                problems.append(Problem(root.address(found.path), 0, found.what))
            else:
                within = found.path[start:]
                folder, _, name = within.rpartition("/")
                yield Found(root.prefix + within, root, folder, name, found)


def shown(data: bytes, path: str, tags: frozenset[str]) -> bytes | None:
    """What of a note may be shown; None if that is nothing.

    tags: the private ones. Raises: Unreadable.
    """
    text, encoding = files.decode(data, path)
    if not may_hide(text, tags):
        return data
    tree = outline(text, path, encoding)
    kept = conceal(tree, tags)
    if kept is tree:
        return data
    return "".join(node.text for node in kept.nodes).encode(encoding) if kept.nodes else None


class Copying:
    """Notes on their way into a copy.

    problems: what was passed over, or could not be read.
    """

    def __init__(self, store: Store, base: Base, copied: tuple[Root, ...]) -> None:
        """store: of the notes. copied: the same roots in the copy."""
        self._store, self._base = store, base
        self._notes, self._files = Files(store.roots), Files(copied)
        self._places = {root.name: root.folder for root in copied}
        self.problems: list[Problem] = []

    def make(self) -> None:
        """Copy all notes into a new copy, which nobody else knows yet."""
        found = notes_of(self._store, self.problems)
        with self._base.changing():
            for (root, folder), group in groupby(found, key=lambda each: (each.root, each.folder)):
                parts, place = parts_of(folder) if folder else (), self._places[root.name]
                try:
                    with Folder.at(root.folder) as outer, outer.within(parts) as source:
                        place.mkdir(parents=True, exist_ok=True, mode=0o700)
                        with Folder.at(place) as inner, inner.within(parts, make=True) as target:
                            for each in group:
                                self._copy(each, source, target)
                except (NotFound, OutsideRoot):  # moved away meanwhile
                    continue

    def _copy(self, found: Found, source: Folder, target: Folder) -> None:
        """One note."""
        try:
            data, note = source.read(found.name) or (b"", None)
            kept = self._shown(found, data) if note else None
        except OrgctxError as error:
            self._tell(found.path, error)
            return
        if note is not None and kept is not None:
            # what is newest is shown first, in the copy as in the notes
            copy = target.create(found.name, kept, note.st_mtime_ns)
            revision = "" if kept is data else files.revision_of(data)
            self._base.add(found.path, kept, revision, note, copy)

    def _shown(self, found: Found, data: bytes) -> bytes | None:
        return shown(data, found.path, self._store.configs[found.root.name].private_tags)

    def _tell(self, path: str, error: OrgctxError) -> None:
        what = error.message.removeprefix(f"{path}: ")
        self.problems.append(Problem(path, 0, what, error.hint))

    def refresh(self) -> None:
        """Bring what nobody edited in a copy up to date with the notes.

        The base says first what is to be, and then it is written: see `Base.announce`.
        """
        before = dict(self._base.rows)
        gone, times = dict(before), dict[str, int | None]()
        with self._base.changing():
            for found in notes_of(self._store, self.problems):
                row = gone.pop(found.path, None)
                try:
                    times.update(self._changed(found, row))
                except FileNotFoundError:  # it has just vanished
                    continue
                except OrgctxError as error:
                    self._tell(found.path, error)
            left = (each for each, row in gone.items() if not is_edited(self._files, each, row))
            times |= dict.fromkeys(left)
            for path, mtime in times.items():
                if mtime is None:
                    del self._base.rows[path]
            if times:
                self._base.announce()
            for path, mtime in times.items():
                self._write(path, mtime, before.get(path))

    def _changed(self, found: Found, row: Row | None) -> Iterator[tuple[str, int | None]]:
        """The path and time of a note that is to be copied anew, which the base knows then.

        The time is None where nothing of the note may be shown any more.
        """
        path = found.path
        if row and row.is_settled and row.note == signature(found.entry.stat()):
            return
        data, note = self._notes.read(path)
        if data is None or note is None:
            return
        if row and row.source == files.revision_of(data):
            self._base.touch(path, note)
        elif not is_edited(self._files, path, row):
            kept = self._shown(found, data)
            if kept is not None:
                revision = "" if kept is data else files.revision_of(data)
                self._base.add(path, kept, revision, note, None)
                yield path, note.st_mtime_ns
            elif row:
                yield path, None

    def _write(self, path: str, mtime: int | None, before: Row | None) -> None:
        """Write a copy's file as the base has it, or delete it; if it is still what it was."""
        self._files.sweep(path)
        if is_edited(self._files, path, before):  # since it was looked at
            self._base.set(path, before)
            return
        copy = self._files.write(path, self._base.data(path), mtime=mtime)
        if not copy:
            self._files.tidy(path)
        if copy:
            self._base.rows[path] = self._base.rows[path]._replace(copy=signature(copy))


def is_edited(copied: Files, path: str, row: Row | None) -> bool:
    """Whether a copy's file is not what the base says; without a row, whether there is one.

    A file that was touched but holds what it held is not.
    """
    try:
        with copied.at(path) as (folder, name):
            found = folder.stat(name)
            if row is None or found is None:
                return (row is None) != (found is None)
            if row.copy == signature(found):
                return False
            is_other = not stat.S_ISREG(found.st_mode) or found.st_size != row.size
            return is_other or Note(*(folder.read(name) or (None, None))).revision != row.revision
    except NotFound:
        return row is not None
    except OutsideRoot:
        return True
