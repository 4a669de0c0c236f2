"""What may be looked at in a copy."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import PurePosixPath
from typing import NamedTuple, Unpack

from ..cites import Cites, version
from ..core.entry import many
from ..core.heading import printable
from ..core.model import View
from ..errors import BadArgument, NotFound, OrgctxError
from ..store import files
from ..store.near import did_you_mean, get_close_matches
from ..views.focus import focus
from ..views.listing import LINES, Listing, ls
from ..views.page import fit
from ..views.patterns import Pattern, pattern_of
from ..views.query import How, query_of
from ..views.reading import Reading, read
from ..views.searching import ENTRIES, Found, Page, search
from ..views.view import BUDGET, READING_BUDGET, Limit, whole
from .confined import Folder, parts_of
from .working import Working

PATHS = 1000
"""How many paths a glob gives at most, unless more are asked for."""


class Item(NamedTuple):
    """What is in a folder. size: in bytes; 0 for a folder. mtime: in nanoseconds."""

    path: str
    is_folder: bool
    size: int
    mtime: int


class Text(NamedTuple):
    """A note's text as it may be shown, with line feeds, and its revision."""

    text: str
    revision: str


class Paths(NamedTuple):
    """Paths of notes in order. left_out: how many more there are."""

    paths: tuple[str, ...]
    left_out: int


class Match(NamedTuple):
    """A line that a text is in. line: its number in the note, 1-based."""

    path: str
    line: int
    text: str


class Matches(NamedTuple):
    """Lines that a text is in, in the order of paths and lines. is_cut: whether there are more."""

    matches: tuple[Match, ...]
    is_cut: bool


class Folders(NamedTuple):
    """Folders and notes, a line each. left_out: how many more there are. tokens: of the text."""

    text: str
    left_out: int
    tokens: int


class Looking(Working):
    """Tools that read. Each answer is from the copy, edits that were made just now included."""

    def focus(self, *addresses: str, lens: str = "foveal", budget: int = BUDGET) -> View:
        """Show entries in their context; see `views.focus.focus`."""
        return focus(self.store, addresses, Limit(budget), lens)

    def ls(
        self,
        path: str = "",
        *,
        limit: int = LINES,
        kind: str = "all",
        after: str = "",
        budget: int = BUDGET,
    ) -> Listing:
        """List what is one level below `path`; see `views.listing.ls`."""
        return ls(self.store, path, Limit(budget), limit, kind, after)

    def grep(
        self,
        pattern: str = "",
        path: str = "",
        *,
        limit: int = ENTRIES,
        after: str = "",
        budget: int = BUDGET,
        **how: Unpack[How],
    ) -> Found:
        """Find the lines that a text is in, by entry; see `views.searching.search`."""
        query = query_of(pattern, path, **how)
        return search(self.store, query, Page(limit, after), Limit(budget))

    def read(
        self,
        address: str,
        *,
        subtree: bool = False,
        lines: str | tuple[int, int] | None = None,
        budget: int = READING_BUDGET,
        cites: Cites | None = None,
    ) -> Reading:
        """Read true lines, each with its number; see `views.reading.read`.

        Its `revision` is what an edit of the note may be based on.
        """
        return read(self.store, address, Limit(budget), subtree, lines, cites)

    def text(self, path: str) -> Text:
        """All of a note that may be shown; lines that must not be are empty.

        Raises: NotFound with near matches; OutsideRoot, BadArgument, Unreadable.
        """
        path = self._path(path)
        tree = self.store.tree(path)
        found = version(tree)
        is_whole = found.revision == files.revision_of(tree.text.encode(tree.encoding))
        text = tree.text if is_whole else "".join(f"{line}\n" for line in found.lines)
        return Text(text.replace("\r\n", "\n"), found.revision)

    def items(self, path: str = "") -> list[Item]:
        """The notes and folders in a folder, in the order of their names; "" is the top.

        Raises: NotFound with near matches; OutsideRoot, BadArgument.
        """
        self.store.freshen()
        return self._listed(path)

    def _listed(self, path: str) -> list[Item]:
        """As `items`, as of the last look at the copy."""
        roots = self._checkout.copied
        if len(roots) > 1 and not path.strip("/"):
            return [Item(root.name, True, 0, root.folder.stat().st_mtime_ns) for root in roots]
        try:
            return sorted(self._items(path))
        except NotFound as error:
            raise NotFound(error.message, self._near_folders(path), path) from error

    def _near_folders(self, path: str) -> str:
        """A hint with the folders whose paths are like this one."""
        folders = {str(each) for path in self.store.paths for each in PurePosixPath(path).parents}
        close = get_close_matches(path, sorted(folders - {"."}), 3, 0.6)
        return did_you_mean(close) or "see what there is with ls"

    def _items(self, path: str) -> Iterator[Item]:
        path = self._meant(path) if path else ""
        parts = parts_of(path) if path else ()
        root = self._checkout.copied[0]
        if root.prefix:
            root, parts = self._files.root(f"{parts[0]}/.")[0], parts[1:]
        with Folder.at(root.folder) as top, top.within(parts) as folder:
            for name in os.listdir(folder.descriptor):
                found, place = folder.stat(name), root.address(root.folder.joinpath(*parts, name))
                if found is None:
                    continue
                if stat.S_ISDIR(found.st_mode) and not name.startswith("."):
                    yield Item(place, True, 0, found.st_mtime_ns)
                elif files.is_note(name) and self.store.has(place):
                    yield Item(place, False, found.st_size, found.st_mtime_ns)

    def glob(self, pattern: str, path: str = "", *, limit: int = PATHS) -> Paths:
        """The notes whose paths match a pattern.

        pattern: of `*`, `?`, `[…]`, `{…,…}` and `**`; one without a slash is of names at any depth,
            one with a slash of paths from `path`, the folder to look in.
        limit: int > 0, the most paths.
        Raises: NotFound if there is no such folder; BadArgument.
        """
        whole("limit", limit, 1)
        found = self._globbed(pattern, path)
        return Paths(tuple(found[:limit]), max(0, len(found) - limit))

    def _globbed(self, pattern: str, path: str) -> list[str]:
        """All notes in a folder whose paths match."""
        is_match = _matcher(pattern)
        start = "/".join((*parts_of(path), "")) if path.strip("/") else ""
        self.store.freshen()
        if start:
            self._listed(path)
        inside = [each for each in sorted(self.store.paths) if each.startswith(start)]
        return [each for each in inside if is_match(each.removeprefix(start))]

    def matches(
        self, pattern: str, path: str = "", *, glob: str = "", limit: int = PATHS
    ) -> Matches:
        """Every line that a text is in; texts are compared in normal form C.

        path: a folder, or one note; "" for all notes. glob: which notes, as in `glob`; "" for all.
        limit: int > 0, the most lines.
        Raises: NotFound with near matches; OutsideRoot, BadArgument.
        """
        whole("limit", limit, 1)
        query_of(pattern, path).check()
        if path.strip("/") and self.store.has(path):
            is_match = _matcher(glob or "*")
            paths = [path] if is_match(PurePosixPath(path).name) else []
        else:
            paths = self._globbed(glob or "*", path)
        most = min(limit, sys.maxsize - 1)
        found = list(islice(self._matches(pattern_of(pattern, False, False), paths), most + 1))
        return Matches(tuple(found[:limit]), len(found) > limit)

    def _matches(self, pattern: Pattern, paths: Sequence[str]) -> Iterator[Match]:
        for path in paths:
            try:
                tree = self.store.tree(path)
            except OrgctxError:  # it is gone, or no text
                continue
            if hits := pattern.lines(tree.text):
                texts = version(tree).texts()
                yield from (Match(path, hit, texts[hit]) for hit in hits if hit in texts)

    def tree(self, path: str = "", *, budget: int = BUDGET) -> Folders:
        """The folders and notes below a folder, each level indented.

        budget: int > 0, the most tokens that the text may cost.
        Raises: NotFound, OutsideRoot, BadArgument, BudgetTooSmall.
        """
        limit = Limit(budget)
        limit.check()
        self.store.freshen()
        rows = list(self._rows(path, 0))
        count = self.store.counter(limit.unit, limit.encoding)

        def write(shown: int) -> str:
            left = len(rows) - shown
            rest = f"… and {many(left, 'more line')}: name a folder\n" if left else ""
            return "".join(rows[:shown]) + rest

        shown = fit(write, len(rows), limit, count, path)
        return Folders(text := write(shown), len(rows) - shown, count(text))

    def _rows(self, path: str, depth: int) -> Iterator[str]:
        for each in self._listed(path):
            name = printable(each.path.rpartition("/")[2])
            yield f"{'  ' * depth}{name}{'/' if each.is_folder else ''}\n"
            if each.is_folder:
                yield from self._rows(each.path, depth + 1)


def _matcher(pattern: str) -> Callable[[str], bool]:
    """What tells whether a path matches; see `Looking.glob`. Raises: BadArgument."""
    from wcmatch import glob as patterns  # only who looks for names pays

    if not isinstance(pattern, str) or not pattern or ".." in pattern.split("/"):
        what = f"pattern {pattern!r}: no pattern of paths"
        raise BadArgument(what, "give one such as **/*.org", "pattern")
    flags = patterns.BRACE | patterns.GLOBSTAR
    try:
        found = patterns.compile(pattern.lstrip("/"), flags=flags)
    except Exception as error:  # its errors have no public class
        what = f"pattern {pattern!r}: it stands for too many, or cannot be read"
        raise BadArgument(what, "give a simpler one", "pattern") from error
    if "/" in pattern:
        return found.match
    return lambda path: found.match(path.rpartition("/")[2])
