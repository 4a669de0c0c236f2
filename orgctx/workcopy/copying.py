"""From notes to a copy: made when first opened, brought up to date when opened again."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from ..config import ignorer
from ..core.model import Problem
from ..core.outline import outline
from ..core.privacy import SEALED, conceal
from ..errors import NotFound, OrgctxError, OutsideRoot
from ..store import files
from ..store.roots import Root
from ..store.store import Store
from .base import Base, Row, signature
from .confined import Folder, parts_of


class Found(NamedTuple):
    """A note on the disk. path: its address. folder, name: where it is."""

    path: str
    root: Root
    folder: str
    name: str


def notes_of(store: Store, problems: list[Problem]) -> Iterator[Found]:
    """Every note under the roots. problems: get what was passed over."""
    for root in store.roots:
        config = store.configs[root.name]
        start = len(str(root.folder).rstrip(os.sep)) + 1
        for found in files.notes(root.folder, ignorer(config.ignore) if config.ignore else None):
            if isinstance(found, Problem):
                if not files.hides(Path(found.path), config.private_tags):
                    problems.append(Problem(root.address(found.path), 0, found.what))
            else:
                within = found.path[start:].replace(os.sep, "/")
                folder, _, name = within.rpartition("/")
                yield Found(root.prefix + within, root, folder, name)


def shown(data: bytes, path: str, tags: frozenset[str]) -> bytes | None:
    """What of a note may be shown; None if that is nothing.

    tags: the private ones. Raises: Unreadable.
    """
    text, encoding = files.decode(data, path)
    if not any(tag in text for tag in tags | SEALED):
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

    def __init__(self, store: Store, base: Base, place: Path) -> None:
        """store: of the notes. place: of the copy's files."""
        self._store, self._base, self._place = store, base, place
        self.problems: list[Problem] = []

    def all(self) -> None:
        """Bring what nobody edited in the copy up to date with the notes."""
        gone = dict(self._base.rows)
        found = notes_of(self._store, self.problems)
        with self._base.changing():
            for (root, folder), group in groupby(found, key=lambda each: (each.root, each.folder)):
                names = {each.name: each.path for each in group}
                for path in names.values():
                    gone.pop(path, None)
                try:
                    self._folder(root, folder, names)
                except (NotFound, OutsideRoot):  # moved away meanwhile
                    continue
            for path in gone:
                self._forget(path)

    def _folder(self, root: Root, path: str, names: dict[str, str]) -> None:
        """The notes in one folder. names: name -> address."""
        parts = parts_of(path) if path else ()
        top = self._place / root.name
        with Folder.at(root.folder) as outer, outer.within(parts) as source:
            known = {name: self._is_known(source, name, at) for name, at in names.items()}
            if all(known.values()):
                return
            top.mkdir(parents=True, exist_ok=True, mode=0o700)
            with Folder.at(top) as inner, inner.within(parts, make=True) as target:
                for name, is_known in known.items():
                    if not is_known:
                        self._note(root, source, target, name, names[name])

    def _is_known(self, source: Folder, name: str, path: str) -> bool:
        if (row := self._base.rows.get(path)) is None or not row.is_settled:
            return False
        found = source.stat(name)
        return found is not None and row.note == signature(found)

    def _note(self, root: Root, source: Folder, target: Folder, name: str, path: str) -> None:
        """Copy a note that is new, or may have changed, unless it was edited in the copy."""
        try:
            if (found := source.read(name)) is None:
                return
            data, note = found
            row = self._base.rows.get(path)
            if row and row.source == files.revision_of(data):
                self._base.touch(path, note)
                return
            if row and is_edited(target, name, row):
                return
            kept = shown(data, path, self._store.configs[root.name].private_tags)
        except OrgctxError as error:
            what = error.message.removeprefix(f"{path}: ")
            self.problems.append(Problem(path, 0, what, error.hint))
            return
        if kept is None:
            self._forget(path)
            return
        mtime = note.st_mtime_ns  # what is newest is shown first, in the copy as in the notes
        make = target.write if row else target.create
        if copy := make(name, kept, mtime=mtime):
            revision = "" if kept is data else files.revision_of(data)
            self._base.add(path, kept, revision, note, copy)

    def _forget(self, path: str) -> None:
        """Take a note out of the copy that is no longer there to be shown."""
        row = self._base.rows.get(path)
        root = next(each for each in self._store.roots if each.inside(path) is not None)
        *parts, name = parts_of(path.removeprefix(root.prefix))
        try:
            with Folder.at(self._place / root.name) as top, top.within(tuple(parts)) as target:
                if row is None or is_edited(target, name, row):
                    return
                target.remove(name)
        except (NotFound, OutsideRoot):  # its folder is gone from the copy
            return
        del self._base.rows[path]


def is_edited(folder: Folder, name: str, row: Row | None) -> bool:
    """Whether a copy's file is not what the base says; without a row, whether there is one.

    A file that was touched but holds what it held is not.
    """
    found = folder.stat(name)
    if row is None or found is None:
        return (row is None) != (found is None)
    if row.copy == signature(found):
        return False
    if not stat.S_ISREG(found.st_mode) or found.st_size != row.size:
        return True
    data = folder.read(name)
    return data is None or files.revision_of(data[0]) != row.revision
