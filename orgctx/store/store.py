"""The store: all files of the memex, by address."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Self

from ..config import NAME as CONFIG_NAME
from ..config import Active, Config, load
from ..core.links import linked_ids
from ..core.model import Node, Problem, Tree
from ..core.outline import outline, problems
from ..core.planning import planned
from ..core.privacy import conceal
from ..errors import Ambiguous, BadArgument, NotFound, OrgctxError, Unreadable
from ..tokens import DEFAULT_ENCODING, counter
from . import files
from .ids import CountedIds, Ids
from .recent import Recent
from .roots import Root, name_of, nfc, notes_in, place_of, private_above, private_in, roots_of
from .words import Words

if TYPE_CHECKING:
    from .sync import Progress

CHECK = "check the name and the folder"


class File(NamedTuple):
    """A note, as a listing has it.

    path: its address. title: the file's name if it says none. headlines: how many may be shown.
    tokens: of all its entries, in the encoding of its root; 0 if nobody counted them.
    changed: its mtime in nanoseconds. is_active: whether it has an active entry.
    """

    path: str
    title: str
    headlines: int
    changed: int
    is_active: bool
    tokens: int = 0


class Fact(NamedTuple):
    """What is counted of an entry. tags: its own. planned: see `core.planning`."""

    todo: str | None
    tags: Sequence[str]
    planned: Sequence[tuple[str, str]]


class Folder(NamedTuple):
    """A folder that holds notes, at any depth.

    path: as addresses call it; "" for the only root. files, headlines: below it, at any depth.
    summary: what it is about; "" where that is not known.
    """

    path: str
    files: int
    headlines: int
    summary: str


def _folder_of(path: str, inside: list[File]) -> Folder:
    """A folder with these notes in it."""
    return Folder(path, len(inside), sum(file.headlines for file in inside), "")


class Store:
    """Notes under some roots, or one file alone. Reads on demand, and always what is there now.

    paths: address of each file -> where it is.
    problems: files that were passed over, and what was wrong in those that were read.
    fault: why nothing can be remembered; "" if that is not wanted or no trouble.
    was_empty: whether it was to answer from what is known, and had to be filled first.
    """

    fault: str = ""
    was_empty: bool = False
    scope: frozenset[str] | None = None
    """The folders and files to which answers are confined; None: all notes."""

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
        real = files.real(place)
        roots = (root for root in self.roots if real.is_relative_to(root.folder))
        return next((root.address(real) for root in roots), None)

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
    ) -> Store:
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

    def _config_for(self, path: str) -> Config:
        """The settings for a note's address."""
        root = next((each for each in self.roots if each.inside(path) is not None), None)
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
        below = self._below_only_root(plain)
        inside = (path for path in paths if nfc(path) == below and not self._hides(path))
        return next(inside, None) or self._by_place(place, paths)

    def path_inside(self, path: str) -> str:
        """A file's path relative to its root."""
        root = next((each for each in self.roots if path.startswith(each.prefix)), None)
        return path.removeprefix(root.prefix) if root else path

    def _below_only_root(self, name: str) -> str | None:
        """What a name is in the only root, by whose own name it begins; None if it does not."""
        top, _, below = name.partition("/")
        return below if [top] == [root.name for root in self.roots] else None

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
        real = files.real(place)
        return not any(real.is_relative_to(root.folder) for root in self.roots)

    def problems(self) -> list[Problem]:
        """What was passed over or could not be read, and what Org would not read in the rest."""
        found: list[Problem] = []
        within = [problem for tree in self.trees(found, found) for problem in problems(tree)]
        return [*found, *within, *self._duplicates()]

    def _duplicates(self) -> Iterator[Problem]:
        ids = self.ids()
        for tree in self.trees():
            for node in tree.nodes:
                if any(ids.count(each) > 1 for each in node.ids):
                    yield Problem(tree.path, node.first_line, "an ID that another node has too")

    def ids(self) -> Ids:
        """Every ID there is."""
        nodes = (node for tree in self.trees() for node in tree.nodes)
        return CountedIds(Counter(each for node in nodes for each in {*node.ids}))

    def holders(self, wanted: str) -> list[Node]:
        """The nodes whose ID is `wanted`, else those whose ID begins with it."""
        return matching(wanted, (tree for tree in self.trees() if wanted in tree.text))

    def with_custom_id(self, wanted: str) -> list[Node]:
        """The nodes with a CUSTOM_ID, in any file."""
        return [n for tree in self.trees() for n in tree.nodes if n.custom_id == wanted]

    def linking(self, wanted: str) -> list[Node]:
        """The nodes whose entries link to an ID, in path order."""
        return linked_from(wanted, (tree for tree in self.trees() if wanted in tree.text))

    def files(self) -> list[File]:
        """Every note there is."""
        return [file for tree in self.trees() if (file := self._file_of(tree))]

    def counted_files(self) -> list[File]:
        """Every note there is, with its tokens."""
        return [file._replace(tokens=self._tokens(file.path)) for file in self.files()]

    def _file_of(self, tree: Tree) -> File | None:
        """A file as a listing has it; None if it has gone since it was read."""
        rule = self.active(tree.path)
        try:
            changed = self.place(tree.path).stat().st_mtime_ns
        except (NotFound, OSError):
            return None
        title = tree.root.title or name_of(tree.path)
        is_active = any(map(rule.holds, tree.nodes))
        return File(tree.path, title, len(tree.nodes) - 1, changed, is_active)

    def folder(self, path: str) -> Folder | None:
        """A folder that holds notes, or a root; None for anything else."""
        inside = self._inside(path)
        if path not in self.tops and (not inside or not path):
            return None
        return _folder_of(path, inside)

    def _inside(self, path: str) -> list[File]:
        """The notes in a folder, at any depth."""
        start = f"{path}/" if path else ""
        return [file for file in self.files() if file.path.startswith(start)]

    def folder_named(self, name: str) -> str | None:
        """What addresses call the folder that a name means; "" for the only root; None for none.

        name: as addresses call it, in any Unicode normal form, its own before others, the root's
            name in front or not, a slash behind or not; or a path from the current folder.
        """
        exact = name.rstrip("/")
        exact = exact.removeprefix("./") or exact
        plain = nfc(exact)
        called = [
            each for way in (exact, plain) for each in (way or None, self._below_only_root(way))
        ]
        for each in (*called, "" if plain == "." else None, self._folder_at(name)):
            if each is not None and self.folder(each):
                return each
        files = () if plain.isascii() else self.files()  # of one that is, there is one form
        folders = {each.path.rpartition("/")[0] for each in files}
        return next((each for each in sorted(folders) if nfc(each) == plain), None)

    def _folder_at(self, name: str) -> str | None:
        """What addresses call the folder at a place."""
        if (named := place_of(name)) is None or not os.path.isdir(place := files.real(named)):
            return None
        return next((r.address(place) for r in self.roots if place.is_relative_to(r.folder)), None)

    def folders_in(self, path: str, most: int, after: str = "") -> tuple[list[Folder], int]:
        """The folders one level below a folder that hold notes, in path order.

        after: the path that comes before the first of them.
        Returns: (at most `most`, how many there are).
        """
        start, below = f"{path}/" if path else "", dict[str, list[File]]()
        for file in self._inside(path):
            name, slash, _ = file.path.removeprefix(start).partition("/")
            if slash and start + name > after:
                below.setdefault(start + name, []).append(file)
        return [_folder_of(name, below[name]) for name in sorted(below)[:most]], len(below)

    def files_in(self, path: str, most: int, after: str = "") -> tuple[list[File], int]:
        """The notes of a folder itself, in path order; otherwise as `folders_in`."""
        own = (file for file in self._inside(path) if file.path.rpartition("/")[0] == path)
        later = sorted(file for file in own if file.path > after)
        return [file._replace(tokens=self._tokens(file.path)) for file in later[:most]], len(later)

    def facts(self, path: str) -> Iterable[Fact]:
        """What is known of each entry of a file, or of a folder at any depth.

        path: as addresses call it; "" for the only root.
        """
        paths = [path] if self.has(path) else [file.path for file in self._inside(path)]
        return (fact_of(node) for tree in self._readable(paths) for node in tree.nodes)

    def _readable(self, paths: Iterable[str]) -> Iterator[Tree]:
        """These files as they are now; one that is gone is no answer."""
        for path in paths:
            try:
                yield self.tree(path)
            except OrgctxError:
                continue

    def encoding(self, path: str) -> str:
        """The encoding in which the tokens of a file are counted."""
        return self._config_for(path).encoding or DEFAULT_ENCODING

    def _tokens(self, path: str) -> int:
        count = self.counter("tokens", self.encoding(path))
        nodes = (node for tree in self._readable([path]) for node in tree.nodes)
        return sum(count("".join(node.lines)) for node in nodes)

    def active(self, path: str) -> Active:
        """What makes an entry of a file active."""
        return self._config_for(path).active or Active()

    @property
    def tops(self) -> list[str]:
        """The folders that are roots, as addresses name them."""
        return [root.prefix.rstrip("/") for root in self.roots]

    def counter(self, unit: str, encoding: str) -> Callable[[str], int]:
        """See tokens.counter."""
        return counter(unit, encoding)

    def page_counter(self, unit: str, encoding: str) -> Callable[[str], int]:
        """As `counter`, for pages, whose lines come again: they may be remembered."""
        return self.counter(unit, encoding)

    def words(self) -> Words:
        """The words of the notes, to be searched by."""
        from .indexing import words_of  # only where nothing is remembered

        return words_of(self)

    def remember_meanings(self, meanings: Mapping[int, bytes]) -> None:
        """Keep what nodes mean, as vectors, for the next question; by their rows in `words`."""

    def freshen(self, progress: Progress | None = None) -> bool:
        """Bring what is remembered up to date. Returns: whether that changed anything.

        progress: is told how far it is, (files that are done, of how many).
        """
        return False


def fact_of(node: Node) -> Fact:
    return Fact(node.todo, node.tags, planned(node.text) if node.level else ())


def matching(wanted: str, trees: Iterable[Tree]) -> list[Node]:
    """The nodes whose ID is `wanted`, else those whose ID begins with it."""
    exact: list[Node] = []
    begun: list[Node] = []
    for tree in trees:
        for node in tree.nodes:
            exact += [node] * (wanted in node.ids)
            begun += [node] * any(each.startswith(wanted) for each in node.ids)
    return exact or begun


def linked_from(wanted: str, trees: Iterable[Tree]) -> list[Node]:
    """The nodes whose entries link to an ID."""
    nodes = (node for tree in trees for node in tree.nodes if wanted in node.text)
    return [node for node in nodes if wanted in linked_ids(node.text)]


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
