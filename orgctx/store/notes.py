"""Notes under some roots: where each is, which one a name means, and its outline as it is now."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from copy import copy
from pathlib import Path
from typing import Self

from ..config import NAME as CONFIG_NAME
from ..config import Config, load
from ..core.model import Problem, Tree
from ..core.outline import outline
from ..core.privacy import conceal
from ..errors import Ambiguous, BadArgument, NotFound, OrgctxError, Unreadable
from . import files
from .recent import Recent
from .roots import (
    Root,
    addresses_at,
    nfc,
    notes_in,
    place_of,
    private_above,
    private_in,
    roots_of,
)

CHECK = "check the name and the folder"


class Notes:
    """Notes under some roots, or files alone. Reads on demand, and always what is there now.

    paths: address of each file -> where it is.
    """

    scope: frozenset[str] | None = None
    """The folders and files to which answers are confined; None: all notes."""
    homes: tuple[Root, ...] = ()
    """The roots of the notes that these are copies of, and that they are meant to go back to."""

    def __init__(
        self,
        roots: Iterable[str | Path] | Mapping[str, str] = (),
        inlinetask_min_level: int | None = None,
        config: Config | None = None,
        configs: Mapping[str, Config] | None = None,
    ) -> None:
        """Know some roots.

        roots: folders, or name -> folder; else a folder's own name is what addresses call it.
        config: the user's; a root's own file goes before it.
        configs: by root, what holds there instead of what its own file says.
        Raises: NotFound, BadConfig.
        """
        self.inlinetask_min_level = _level(inlinetask_min_level)
        self.config = config or Config()
        named = roots if isinstance(roots, Mapping) else {}
        self.roots = roots_of(list(map(str, named.values() or roots)), list(named))
        self.configs = configs or {root.name: self._config_of(root) for root in self.roots}
        self._lone: dict[str, Path] = {}
        self._recent = Recent()
        self._edited: dict[str, bytes] = {}

    def _config_of(self, root: Root) -> Config:
        own = load(root.folder / CONFIG_NAME).over(self.config)
        return own._replace(private_tags=own.private_tags | private_above(root.folder))

    def within(self, scope: Sequence[str]) -> Self:
        """The same store, confined to some folders and files: no others are there.

        scope: their paths, as addresses call them. Of a store that is confined already, only what
            is in both is there.
        """
        confined, wanted = copy(self), frozenset(path.rstrip("/") for path in scope)
        inside = (each for each in self.scope or () if _is_in(each, wanted))
        confined.scope = frozenset((*filter(self.holds_all, wanted), *inside))
        return confined

    def edited(self, name: str, data: bytes) -> Self:
        """The same store, in which a note reads as an editor has it; nothing of that is remembered.

        name: as for `file`; or that of a new note, in a root.
        data: what the file would hold if it were saved.
        Raises: NotFound, Ambiguous.
        """
        path = self.file(name) or self._new_file(name)
        if path is None:
            raise NotFound(f"{name}: there is no such file", CHECK, name)
        edited = copy(self)
        edited._edited = {**self._edited, path: data}
        return edited

    def _new_file(self, name: str) -> str | None:
        """The address of a note that is not there yet; None if it can be none."""
        if (plain := name.removeprefix("./")) in self._lone:
            return plain
        if (place := place_of(name)) is None or not files.is_note(place.name):
            return None
        return next(self.addresses_at(files.real(place)), None)

    def edited_file(self, name: str) -> str | None:
        """The address of a note that only an editor has, if `name` means it."""
        path = self._new_file(name) if self._edited else None
        return path if path in self._edited else None

    def holds_all(self, path: str) -> bool:
        """Whether the scope has all that is in a file or folder."""
        return self.scope is None or _is_in(path, self.scope)

    @classmethod
    def of_files(
        cls,
        paths: Iterable[str],
        inlinetask_min_level: int | None = None,
        config: Config | None = None,
    ) -> Self:
        """A store of these files alone, which keep the names the user gave them."""
        store = cls((), inlinetask_min_level, config)
        names = {path.removeprefix("./"): (place_of(path) or Path(path)) for path in paths}
        store._lone = {name: place.absolute() for name, place in names.items()}
        above = {files.real(place).parent for place in store._lone.values()}
        tags = store.config.private_tags.union(*map(private_in, above))
        store.config = store.config._replace(private_tags=tags)
        return store

    def shows(self, path: str) -> bool:
        """Whether there is such a file, and something in it that may be shown."""
        try:
            return bool(self.tree(path).nodes)
        except OrgctxError:
            return False

    @property
    def paths(self) -> dict[str, Path]:
        """Each note's address and place, in path order; the roots are walked anew."""
        every = self._lone or dict(self._walk([]))
        return {path: place for path, place in every.items() if self.holds_all(path)}

    def every_path(self) -> list[str]:
        """The address of each note, in path order; those that only an editor has are among them."""
        paths = self.paths
        return sorted({*paths, *filter(self.holds_all, self._edited)}) if self._edited else [*paths]

    def _walk(self, problems: list[Problem]) -> Iterator[tuple[str, Path]]:
        for root in self.roots:
            for found in notes_in(root.folder, self.configs[root.name]):
                if isinstance(found, Problem):
                    problems.append(Problem(root.address(found.path), 0, found.what))
                else:
                    yield root.address(found.path), Path(found.path)

    def tree(self, path: str) -> Tree:
        """The outline of a file, read now; parsed again only if its bytes are others.

        path: a key of `paths`.
        Raises: NotFound, Unreadable.
        """
        if not self.holds_all(path):
            raise NotFound(f"{path}: there is no such file", CHECK, path)
        place = self.place(path)
        data = self._edited.get(path)
        if data is None:
            data = files.read(place, path, is_link_allowed=bool(self._lone))
        tree = self._recent.get(path, data)
        if tree is None:
            if not files.is_org(place.name, data):
                hint = f"Org files end in {' or '.join(files.SUFFIXES)}, or say -*- mode: org -*-"
                raise Unreadable(f"{path}: not an Org file", hint, path)
            text, encoding = files.decode(data, path)
            tree = outline(text, path, encoding, self.inlinetask_min_level)
            tree = self._recent.put(path, data, conceal(tree, self._private_tags(path)))
        if not len(tree.nodes):  # all of it is private: as if it were not there
            raise NotFound(f"{path}: there is no such file", CHECK, path)
        return tree

    def _private_tags(self, path: str) -> frozenset[str]:
        return self._config_for(path).private_tags

    def _root_named(self, path: str) -> Root | None:
        """The root with whose name an address begins; None if it is that of a lone file."""
        return next((root for root in self.roots if root.inside(path) is not None), None)

    def _config_for(self, path: str) -> Config:
        """The settings for a note's address."""
        root = self._root_named(path)
        return self.configs[root.name] if root else self.config

    def place(self, path: str) -> Path:
        """Where the file is. Raises: NotFound if that is no note, or not really in its root."""
        if path in self._lone:
            return self._lone[path]
        if (root := self._root_of(path)) is None:
            raise NotFound(f"{path}: there is no such file", where=path)
        return root.folder / path.removeprefix(root.prefix)

    def is_edited(self, path: str) -> bool:
        """Whether an editor has edits of a note that are not seen here: Emacs leaves a lock."""
        if path in self._edited:
            return False
        try:
            place = self.place(path)
        except NotFound:  # it has gone since it was read
            return False
        return os.path.lexists(place.with_name(f".#{place.name}"))

    def root_name(self, path: str) -> str | None:
        """The name of the root in which a note is."""
        root = self._root_of(path)
        return root.name if root else None

    def _root_of(self, path: str) -> Root | None:
        """The root of a note's address; None if it is none, or not really in its root."""
        for root in self.roots:
            if (inside := root.inside(path)) is None:
                continue
            place = root.folder / inside
            is_inside = place.is_relative_to(root.folder) and files.is_real(place)
            if is_inside and files.is_note(place.name):
                return root
        return None

    def trees(
        self, passed_over: list[Problem] | None = None, unreadable: list[Problem] | None = None
    ) -> Iterator[Tree]:
        """Every file's outline, in path order.

        passed_over, unreadable: get what is no note though it looks like one, and what failed.
        """
        skipped: list[Problem] = []
        for path in self._lone or dict(self._walk(skipped)):
            if not self.holds_all(path):
                continue
            try:
                yield self.tree(path)
            except OrgctxError as error:
                is_gone = isinstance(error, NotFound)  # just now, or none of it may be shown
                if unreadable is not None and (self._lone or not is_gone):
                    what = error.message.removeprefix(f"{path}: ")
                    unreadable.append(Problem(path, 0, what, error.hint))
        if passed_over is not None:
            passed_over.extend(skipped)

    def has(self, path: str) -> bool:
        """Whether this is the address of a note."""
        return path in self.paths and not self._hides(path)

    def _hides(self, path: str) -> bool:
        """Whether all of a note is private, so that it is not there; one that is gone is not."""
        try:
            self.tree(path)
        except NotFound:
            return True
        except OrgctxError:
            return False
        return False

    def file(self, name: str) -> str | None:
        """The address of the file that `name` means, or None.

        name: as in `paths`, in any Unicode normal form, the root's name in front or not; or a path
            from the current folder. One that begins with a dot means the current folder's file, if
            there is one.
        Raises: Ambiguous if it means several.
        """
        paths = self.paths
        place, is_here = place_of(name), name in paths and not self._hides(name)
        if is_here or place is None:
            return name if is_here else None
        if name.startswith(".") and os.path.isfile(place):
            return self._by_place(place, paths)
        plain = nfc(name.replace(os.sep, "/").removeprefix("./"))
        called = (path for path in paths if plain in (nfc(path), nfc(self.path_inside(path))))
        same = [path for path in called if not self._hides(path)]
        if len(same) > 1 and plain not in same:
            raise Ambiguous(f"{name}: more than one file", f"use one of: {', '.join(same)}", name)
        if same:
            return plain if plain in same else same[0]
        below = self.below_only_root(plain)
        inside = (path for path in paths if nfc(path) == below and not self._hides(path))
        return next(inside, None) or self._by_place(place, paths)

    def path_inside(self, path: str) -> str:
        """A file's path relative to its root."""
        root = self._root_named(path)
        return path.removeprefix(root.prefix) if root else path

    def below_only_root(self, name: str) -> str | None:
        """What a name is in the only root, by whose own name it begins; None if it does not."""
        top, _, below = name.partition("/")
        return below if [top] == [root.name for root in self.roots] else None

    def addresses_at(self, real: Path) -> Iterator[str]:
        """What addresses call a place in the roots, be it a note or not, there or not."""
        return addresses_at(real, self.roots)

    def home(self, path: str) -> Path:
        """Where a file is for what is written in it: of a copy, where it goes back to.

        Raises: NotFound if that is no note, or not really in its root.
        """
        inside = self.path_inside(path)
        homes = (home.folder / inside for home in self.homes if home.called(inside) == path)
        return next(homes, None) or self.place(path)

    def meant_at(self, real: Path) -> Iterator[str]:
        """What addresses call a place that a note names; see `home`."""
        return addresses_at(real, (*self.homes, *self.roots))

    def _by_place(self, place: Path, paths: dict[str, Path]) -> str | None:
        if ".." in place.parts and not os.path.isfile(place):
            return None
        real = nfc(str(files.real(place)))
        same = (path for path, where in paths.items() if nfc(str(where)) == real)
        return next((path for path in same if not self._hides(path)), None)

    def holds(self, name: str) -> str | None:
        """The address of the file at `name`, from the current folder, if it is one of the notes."""
        place = place_of(name)
        return None if place is None else self._by_place(place, self.paths)

    def leads_out(self, name: str) -> bool:
        """Whether a name says to look outside the roots, whatever is there."""
        place = place_of(name)
        if place is None or not self.roots or not (place.is_absolute() or ".." in place.parts):
            return False
        return not any(True for _ in self.addresses_at(files.real(place)))


def _level(level: int | None) -> int | None:
    """A level that can be that of inline tasks. Raises: BadArgument."""
    is_number = isinstance(level, int) and not isinstance(level, bool)
    if level is not None and not (is_number and level >= 2):
        what = f"inlinetask_min_level {level!r}: give a whole number from 2 up, or None"
        raise BadArgument(what, where="inlinetask_min_level")
    return level


def _is_in(path: str, scope: Set[str]) -> bool:
    """Whether a file or folder is one of some, or inside one."""
    while path not in scope and "/" in path:
        path = path.rpartition("/")[0]
    return path in scope
