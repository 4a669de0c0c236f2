"""The store: what one may ask of all notes."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ..config import Active
from ..core.frame import folder_of
from ..core.model import Node, Problem, Tree
from ..core.outline import problems
from ..core.planning import planned
from ..errors import NotFound, OrgctxError
from ..tokens import DEFAULT_ENCODING, counter
from . import files
from .ids import CountedIds, Ids
from .notes import Notes
from .roots import name_of, nfc, place_of
from .words import Words

if TYPE_CHECKING:
    from .sync import Progress


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


def _folder_with(path: str, inside: list[File]) -> Folder:
    """A folder that holds these notes and no others."""
    return Folder(path, len(inside), sum(file.headlines for file in inside), "")


class Store(Notes):
    """Notes, and what one may ask of all of them; here each answer reads them.

    problems: files that were passed over, and what was wrong in those that were read.
    fault: why nothing can be remembered; "" if that is not wanted or no trouble.
    was_empty: whether it was to answer from what is known, and had to be filled first.
    """

    fault: str = ""
    was_empty: bool = False

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
        trees = self.readable(self.every_path())
        return matching(wanted, (tree for tree in trees if wanted in tree.text))

    def with_custom_id(self, wanted: str) -> list[Node]:
        """The nodes with a CUSTOM_ID, in any file."""
        return with_custom_id(wanted, self.trees())

    def linking(self, node: Node) -> list[str]:
        """The files in which entries may link to a node, in path order; see `linking`."""
        return self.every_path()

    def known_notes(self) -> Callable[[str], bool]:
        """Says for one answer whether an address is that of a note, be it saved or not."""
        return frozenset(self.every_path()).__contains__

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
        return _folder_with(path, inside)

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
            each for way in (exact, plain) for each in (way or None, self.below_only_root(way))
        ]
        for each in (*called, "" if plain == "." else None, self._folder_at(name)):
            if each is not None and self.folder(each):
                return each
        files = () if plain.isascii() else self.files()  # of one that is, there is one form
        folders = {folder_of(each.path) for each in files}
        return next((each for each in sorted(folders) if nfc(each) == plain), None)

    def _folder_at(self, name: str) -> str | None:
        """What addresses call the folder at a place."""
        if (named := place_of(name)) is None or not os.path.isdir(place := files.real(named)):
            return None
        return next(self.addresses_at(place), None)

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
        return [_folder_with(name, below[name]) for name in sorted(below)[:most]], len(below)

    def files_in(self, path: str, most: int, after: str = "") -> tuple[list[File], int]:
        """The notes of a folder itself, in path order; otherwise as `folders_in`."""
        own = (file for file in self._inside(path) if folder_of(file.path) == path)
        later = sorted(file for file in own if file.path > after)
        return [file._replace(tokens=self._tokens(file.path)) for file in later[:most]], len(later)

    def facts(self, path: str) -> Iterable[Fact]:
        """What is known of each entry of a file, or of a folder at any depth.

        path: as addresses call it; "" for the only root.
        """
        paths = [path] if self.has(path) else [file.path for file in self._inside(path)]
        return (fact_of(node) for tree in self.readable(paths) for node in tree.nodes)

    def readable(self, paths: Iterable[str]) -> Iterator[Tree]:
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
        """What the entries of a file cost; 0 if it has gone."""
        count = self.counter("tokens", self.encoding(path))
        nodes = (node for tree in self.readable([path]) for node in tree.nodes)
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
    """What is counted of an entry."""
    return Fact(node.todo, node.tags, planned(node.text) if node.level else ())


def with_custom_id(wanted: str, trees: Iterable[Tree]) -> list[Node]:
    """The nodes whose CUSTOM_ID is `wanted`."""
    return [node for tree in trees for node in tree.nodes if node.custom_id == wanted]


def matching(wanted: str, trees: Iterable[Tree]) -> list[Node]:
    """The nodes whose ID is `wanted`, else those whose ID begins with it."""
    exact: list[Node] = []
    begun: list[Node] = []
    for tree in trees:
        for node in tree.nodes:
            exact += [node] * (wanted in node.ids)
            begun += [node] * any(each.startswith(wanted) for each in node.ids)
    return exact or begun
