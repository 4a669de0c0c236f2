"""What all tools of a copy have in common: the notes in it, and how one is changed."""

from __future__ import annotations

import os
from bisect import bisect_left
from collections.abc import Callable, Sequence
from functools import cached_property
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

from ..cites import version
from ..config import ignorer
from ..core.model import Node, Problem, Tree
from ..core.outline import outline
from ..errors import BadArgument, NotFound, OrgctxError, Stale
from ..store import files
from ..store.address import resolve
from ..store.store import Store
from .answers import store_of
from .changes import no_note
from .checkout import Checkout
from .confined import Folder, parts_of
from .state import State

LEAST_DIGITS = 7
"""Digits of a revision that are enough to name it."""
LONGEST_NAME = 255
"""Bytes, on any usual file system."""
DEEPEST = 50
"""How many folders deep a new one may be: all that goes through folders has to come back."""


class Edit(NamedTuple):
    """An edit that was made.

    path: the note. address: of the entry that it is about, a position; else the path.
    base: the note's revision before; "" if there was none. revision: now; "" if it is gone.
    """

    path: str
    address: str
    base: str
    revision: str


class Working:
    """A copy and its notes; as a path, it is the folder.

    problems: what was passed over when it was opened.
    """

    def __init__(self, state: State, checkout: Checkout, problems: list[Problem]) -> None:
        self._state, self._checkout, self._files = state, checkout, checkout.files
        self.problems = problems

    @property
    def id(self) -> str:
        """The copy's name."""
        return self._checkout.id

    @property
    def folder(self) -> Path:
        """The folder to work in: the address of a note is its path from here."""
        return self._checkout.folder

    def __fspath__(self) -> str:
        return str(self.folder)

    @cached_property
    def store(self) -> Store:
        """The notes in the copy; every view takes it."""
        return store_of(self._checkout)

    def revision(self, path: str) -> str:
        """The revision of a note as `read` gives it, 40 hex digits. Raises: NotFound."""
        try:
            return version(self.store.tree(path)).revision
        except OrgctxError:  # all that is in it is private, or it is no text
            if revision := self._files.read(path).revision:
                return revision
            raise

    def _path(self, path: str) -> str:
        """The address of a note that is there.

        Raises: NotFound with near matches; OutsideRoot, BadArgument, Ambiguous.
        """
        parts_of(path)
        node = resolve(self.store, path)
        if node.level:
            raise BadArgument(f"{path}: an entry", f"name its file: {node.path}", path)
        return node.path

    def _meant(self, path: str) -> str:
        """What a path means where nothing may be yet, as readers take it (`Store.folder_named`).

        The only root's own name in front is left out, unless there is something of that name in it.
        Raises: as `parts_of`.
        """
        top, *_ = parts_of(path)
        below = self.store.below_only_root(path)
        with Folder.at(self._checkout.copied[0].folder) as root:
            return path if below is None or root.stat(top) else below

    def _node(self, address: str) -> Node:
        """The node at an address, in all of its file. Raises: as `resolve`; Stale."""
        found = resolve(self.store, address)
        parts_of(found.path)
        tree = self._tree(found.path)
        at = bisect_left(tree.nodes, found.start, key=attrgetter("start"), lo=found.level > 0)
        if at < len(tree.nodes):
            node = tree.nodes[at]
            if (node.start, node.level, node.title) == (found.start, found.level, found.title):
                return node
        raise self._stale(found.path)

    def _tree(self, path: str) -> Tree:
        """A note, with what is not shown. Raises: NotFound, Unreadable."""
        data = self._files.read(path).data
        if data is None:
            raise NotFound(f"{path}: there is no such file", where=path)
        text, encoding = files.decode(data, path)
        return outline(text, path, encoding)

    def _check_base(self, path: str, base: str | None) -> str:
        """The revision of a note. Raises: Stale if it is not `base`; BadArgument."""
        revision = self.revision(path)
        if base is not None:
            is_name = isinstance(base, str) and not set(base) - set("0123456789abcdef")
            if not is_name or len(base) < LEAST_DIGITS:
                hint = f"give {LEAST_DIGITS} digits or more of what `read` gave"
                raise BadArgument(f"base {base!r}: no revision", hint, "base")
            if not revision.startswith(base):
                raise self._stale(path, base)
        return revision

    def _stale(self, path: str, base: str = "") -> Stale:
        revision = self.revision(path)
        was = f"it is no longer {base[:12]}" if base else "it has just changed"
        what = f"{path}: {was}, but {revision[:12]}"
        return Stale(what, "read it again", path, revision)

    def _change(
        self, address: str, base: str | None, change: Callable[[Node], tuple[str, int]]
    ) -> Edit:
        """Change the file of a node. change: (node) -> its new text, and the entry's index."""
        with self._state.lock():
            node = self._node(address)
            before = self._check_base(node.path, base)
            text, index = change(node)
            return self._put(node.tree, text, before, index)

    def _put(self, tree: Tree, text: str, before: str, index: int | None = None) -> Edit:
        """Write a note anew. index: of the entry that the edit is about."""
        path = tree.path
        if text != tree.text:
            self._files.write(path, encoded(text, tree.encoding), 0o600)
        address = path
        if index:
            address = f"{path}:{outline(text, path).nodes[index].first_line}"
        return Edit(path, address, before, self.revision(path))

    def _check_new(self, path: str) -> None:
        """Raises: BadArgument, NotFound, OutsideRoot if there can be no note of this name."""
        *folders, name = parts_of(path)
        self._check_new_folder(path, folders)
        root, inside = self._checkout.notes.root(path)
        why = no_note(name)
        if not why and ignorer(self._checkout.store.configs[root.name].ignore)(inside):
            why = "orgctx.toml says to ignore such a file"
        elif not why and len(os.fsencode(name)) > LONGEST_NAME:
            why = f"a name of more than {LONGEST_NAME} bytes"
        if why:
            raise BadArgument(f"{path}: {why}", "give another name", "path")

    @staticmethod
    def _check_new_folder(path: str, parts: Sequence[str]) -> None:
        """Raises: BadArgument if there can be no such folder with notes."""
        if any(each.startswith(".") for each in parts):
            raise BadArgument(f"{path}: a hidden folder has no notes", "give another name", "path")
        if len(parts) > DEEPEST:
            what = f"{path}: more than {DEEPEST} folders deep"
            raise BadArgument(what, "give a shorter path", "path")


def encoded(text: str, encoding: str) -> bytes:
    """A text as bytes. Raises: BadArgument if it has characters that the encoding has not."""
    try:
        return text.encode(encoding)
    except UnicodeEncodeError as error:
        what = f"text: characters that {encoding} has not, the encoding of the note"
        raise BadArgument(what, "leave them out", "text") from error
