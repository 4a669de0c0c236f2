"""What may be looked at in a copy."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from typing import NamedTuple, Unpack

from ..cites import Cites, version
from ..core.entry import many
from ..core.heading import printable
from ..core.model import View
from ..errors import BadArgument
from ..store import files
from ..views.focus import focus
from ..views.listing import LINES, Listing, ls
from ..views.page import fit
from ..views.reading import Reading, read
from ..views.searching import ENTRIES, Found, How, Page, query_of, search
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

        Raises: NotFound, OutsideRoot, BadArgument.
        """
        self.store.freshen()
        roots = self._checkout.copied
        if len(roots) > 1 and not path.strip("/"):
            return [Item(root.name, True, 0, root.folder.stat().st_mtime_ns) for root in roots]
        return sorted(self._items(path))

    def _items(self, path: str) -> Iterator[Item]:
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
        from wcmatch import glob as patterns  # only who looks for names pays

        whole("limit", limit, 1)
        if not isinstance(pattern, str) or not pattern or ".." in pattern.split("/"):
            what = f"pattern {pattern!r}: no pattern of paths"
            raise BadArgument(what, "give one such as **/*.org", "pattern")
        start = "/".join((*parts_of(path), "")) if path.strip("/") else ""
        if start:
            self.items(path)
        self.store.freshen()
        inside = [each for each in sorted(self.store.paths) if each.startswith(start)]
        names = {each: each.removeprefix(start) for each in inside}
        if "/" not in pattern:
            names = {each: name.rpartition("/")[2] for each, name in names.items()}
        flags = patterns.BRACE | patterns.GLOBSTAR
        matcher = patterns.compile(pattern.lstrip("/"), flags=flags)
        found = [each for each, name in names.items() if matcher.match(name)]
        return Paths(tuple(found[:limit]), max(0, len(found) - limit))

    def tree(self, path: str = "", *, budget: int = BUDGET) -> Folders:
        """The folders and notes below a folder, each level indented.

        budget: int > 0, the most tokens that the text may cost.
        Raises: NotFound, OutsideRoot, BadArgument, BudgetTooSmall.
        """
        limit = Limit(budget)
        limit.check()
        rows = list(self._rows(path, 0))
        count = self.store.counter(limit.unit, limit.encoding)

        def write(shown: int) -> str:
            left = len(rows) - shown
            rest = f"… and {many(left, 'more line')}: name a folder\n" if left else ""
            return "".join(rows[:shown]) + rest

        shown = fit(write, len(rows), limit, count, path)
        return Folders(text := write(shown), len(rows) - shown, count(text))

    def _rows(self, path: str, depth: int) -> Iterator[str]:
        for each in self.items(path):
            name = printable(each.path.rpartition("/")[2])
            yield f"{'  ' * depth}{name}{'/' if each.is_folder else ''}\n"
            if each.is_folder:
                yield from self._rows(each.path, depth + 1)
