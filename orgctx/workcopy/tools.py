"""What may be written in a copy: files, and entries by their addresses."""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Iterator

from ..core.model import Node, Tree
from ..errors import Ambiguous, BadArgument, NotFound
from ..store.near import get_close_matches
from .confined import parts_of
from .entries import (
    HEADLINES,
    demoted,
    inserted,
    place,
    read_again,
    removed,
    replaced,
    with_keyword,
    with_property,
)
from .looking import Looking
from .working import Edit, Working, encoded

PLACES = 5
"""How many lines an error names at most."""


class FileTools(Working):
    """Tools that write files.

    Each takes `base`, the revision that the edit was made for, as `read` gave it, and refuses one
    that is no longer the note's (Stale). Not to be found is an error with near matches.
    """

    def write(self, path: str, text: str, *, base: str | None = None) -> Edit:
        """Make a note, or put another text in the place of all of one.

        The note keeps its encoding, byte order mark and line ends.
        Raises: BadArgument, OutsideRoot, NotFound, Stale.
        """
        _check_text(text)
        with self._state.lock():
            meant = self._meant(path)
            path = self.store.file(path) or meant
            self._check_new(path)
            if self._files.read(path).data is None:
                if base is not None:
                    raise NotFound(f"{path}: there is no such file", "leave out base", path)
                self._files.write(path, encoded(text, "utf-8"), 0o600)
                return Edit(path, path, "", self.revision(path))
            before = self._check_base(path, base)
            tree = self._tree(path)
            new = text.replace("\r\n", "\n").replace("\n", tree.newline)
            return self._put(tree, new, before)

    def edit(
        self,
        path: str,
        old: str,
        new: str,
        *,
        replace_all: bool = False,
        headlines: str = "refuse",
        base: str | None = None,
    ) -> Edit:
        """Put one text in place of another in a note.

        old: must be there once, or `replace_all` says that each one is meant.
        headlines: what is done with a line of `new` that would be a headline beside the entry that
            `old` is in: "refuse", "demote" or "allow". If `old` has a headline, it is allowed.
        Raises: NotFound if it is not there; Ambiguous with the lines if it is there more than once;
            BadArgument, OutsideRoot, Stale.
        """
        _check_text(old, new)
        if not old or headlines not in HEADLINES:
            hint = "give the text to replace" if not old else f"use {', '.join(HEADLINES)}"
            name = "headlines" if old else "old"
            raise BadArgument(f"{name}: {headlines if old else 'empty'}", hint, name)
        with self._state.lock():
            path = self._path(path)
            before, tree = self._check_base(path, base), self._tree(path)
            old, new = (
                each.replace("\r\n", "\n").replace("\n", tree.newline) for each in (old, new)
            )
            places = list(_places(tree.text, old))
            if not places:
                raise _not_there(tree, old)
            if len(places) > 1 and not replace_all:
                raise _more_than_once(tree, places)
            text = tree.text
            for at in reversed(places):
                text = _replaced(tree, text, at, old, new, headlines)
            return self._put(tree, text, before)

    def delete(self, address: str, *, base: str | None = None) -> Edit:
        """Delete a note, or an entry with all that is below it.

        Raises: NotFound with near matches, Ambiguous, OutsideRoot, BadArgument, Stale.
        """
        with self._state.lock():
            node = self._node(address)
            before = self._check_base(node.path, base)
            if node.level:
                return self._put(node.tree, removed(node)[0], before)
            self._files.write(node.path, None)
            return Edit(node.path, node.path, before, "")

    def move(self, path: str, to: str, *, base: str | None = None) -> Edit:
        """Give a note another name or folder; none is overwritten.

        Raises: NotFound, OutsideRoot, BadArgument, Stale.
        """
        with self._state.lock():
            path = self._path(path)
            before = self._check_base(path, base)
            to = self._meant(to)
            self._check_new(to)
            if self._files.read(to).data is not None:
                raise BadArgument(f"{to}: there is such a file", "give another name", "to")
            with self._files.at(path) as (source, name), self._files.at(to, make=True) as target:
                source.rename(name, *target)
            return Edit(to, to, before, self.revision(to))

    def mkdir(self, path: str) -> None:
        """Make a folder, and those above it. Raises: OutsideRoot, BadArgument, NotFound."""
        path = self._meant(path)
        self._check_new_folder(path, parts_of(path))
        with self._state.lock(), self._files.at(f"{path.rstrip('/')}/x", make=True):
            return

    def rmdir(self, path: str) -> None:
        """Delete an empty folder. Raises: NotFound, OutsideRoot, BadArgument."""
        path = self._meant(path)
        with self._state.lock(), self._files.at(path.rstrip("/")) as (folder, name):
            with folder.within((name,)) as inner:
                if os.listdir(inner.descriptor):
                    raise BadArgument(f"{path}: not empty", "delete what is in it first", "path")
            os.rmdir(name, dir_fd=folder.descriptor)


class EntryTools(Working):
    """Tools that write entries, by address; what is not named in an edit stays as it is.

    `base` as in `FileTools`. `headlines` says what is done with a line of a text that would be a
    headline beside the entry: "refuse", "demote" (it gets below the entry), or "allow".
    Each raises NotFound with near matches, Ambiguous with all places, OutsideRoot, Stale, and
    BadArgument for what cannot be read as it is meant.
    """

    def edit_entry(
        self, address: str, text: str, *, headlines: str = "refuse", base: str | None = None
    ) -> Edit:
        """Put another text in place of an entry's; what is below it stays.

        text: begins with its headline; its level stays, and so do the blank lines at its end. It
            has to keep the entry's ID. Of a file: what is above the first headline.
        """
        _check_text(text)
        return self._change(address, base, lambda n: (replaced(n, text, headlines), n.index))

    def insert_entry(
        self,
        address: str,
        text: str,
        *,
        where: str = "last",
        headlines: str = "refuse",
        base: str | None = None,
    ) -> Edit:
        """Put in an entry, and what is below it.

        address: of the entry, or file, it is put below ("last" or "first" of what is there), or
            beside ("before", "after").
        text: begins with a headline, whose level becomes that of the place.
        """
        _check_text(text)

        def change(node: Node) -> tuple[str, int]:
            at = place(node, where)
            return inserted(node.tree, at, text, headlines), at.behind

        return self._change(address, base, change)

    def move_entry(
        self, address: str, to: str, *, where: str = "last", base: str | None = None
    ) -> tuple[Edit, Edit]:
        """Move an entry, and what is below it, within a note or to another.

        to: of the entry, or file, it is put below or beside; where: as in `insert_entry`.
        Returns: the edits of the note that it comes from, and of the one that it is in now.
        """
        with self._state.lock():
            source, target = self._node(address), self._node(to)
            before = self._check_base(source.path, base)
            if not source.level:
                raise BadArgument(f"{address}: a file", "move it as a file", "address")
            rest, moved = removed(source)
            if source.path != target.path:
                at = place(target, where)
                new = inserted(target.tree, at, moved, "allow")
                there = self.revision(target.path)
                put = self._put(target.tree, new, there, at.behind)
                return self._put(source.tree, rest, before), put
            if source.index <= target.index < source.end_index:
                raise BadArgument(f"{to}: inside what is moved", "name another place", "to")
            size = source.end_index - source.index
            index = target.index - (size if target.index > source.index else 0)
            after = read_again(source.tree, rest)
            at = place(after.nodes[index], where)
            new = inserted(after, at, moved, "allow")
            edit = self._put(source.tree, new, before, at.behind)
            return edit, edit

    def set_keyword(self, address: str, keyword: str | None, *, base: str | None = None) -> Edit:
        """Set the TODO keyword of a headline, one of those of its file; None takes it away."""
        return self._change(address, base, lambda n: (with_keyword(n, keyword), n.index))

    def set_property(
        self, address: str, name: str, value: str | None, *, base: str | None = None
    ) -> Edit:
        """Set a property in an entry's drawer, which is made where it lacks; None takes it out."""
        if value is not None:
            _check_text(value)
        return self._change(address, base, lambda n: (with_property(n, name, value), n.index))


class Copy(Looking, FileTools, EntryTools):
    """A working copy with all tools. Threads and processes may share it."""


def _check_text(*texts: str) -> None:
    for text in texts:
        if not isinstance(text, str):
            raise BadArgument(f"text: {type(text).__name__}", "give a text", "text")


def _places(text: str, wanted: str) -> Iterator[int]:
    at = text.find(wanted)
    while at >= 0:
        yield at
        at = text.find(wanted, at + len(wanted))


def _line(tree: Tree, at: int) -> int:
    return tree.text.count("\n", 0, at) + 1


def _not_there(tree: Tree, old: str) -> NotFound:
    """The error for a text that is not there; it names lines that are like its first."""
    lines = tree.text.split("\n")
    first = next((line for line in old.split("\n") if line.strip()), old)
    close = get_close_matches(first, lines[:5000], 3, 0.6)
    near = sorted({lines.index(each) + 1 for each in close})
    hint = "read the note again"
    if near:
        hint += f"; like its first line: {', '.join(map(str, near))}"
    return NotFound(f"{tree.path}: the text to replace is not there", hint, tree.path)


def _more_than_once(tree: Tree, places: list[int]) -> Ambiguous:
    named = ", ".join(str(_line(tree, at)) for at in places[:PLACES])
    more = " and more" if len(places) > PLACES else ""
    what = f"{tree.path}: the text to replace is there {len(places)} times"
    hint = f"give more of it, or replace_all; it begins on lines {named}{more}"
    return Ambiguous(what, hint, tree.path)


def _replaced(tree: Tree, text: str, at: int, old: str, new: str, headlines: str) -> str:
    """One text in place of another. Raises: BadArgument, see `FileTools.edit`.

    tree: the note as it was. text: as it is now, which is the same down to where `old` ends.
    """
    head, behind = text[:at], text[at + len(old) :]
    starts = [node.start for node in tree.nodes[1:]]
    within = tree.nodes[bisect_right(starts, at)]
    is_inside = not any(at < start < at + len(old) for start in starts)
    has_headline = within.level > 0 and within.start == at
    if "*" not in new or headlines == "allow" or not is_inside or has_headline:
        return head + new + behind
    span, nodes = range(at, at + len(new)), read_again(tree, head + new + behind).nodes
    opened = [node for node in nodes if node.start in span and node.start > within.start]
    beside = [node for node in opened if node.level <= within.level or not within.level]
    if beside and headlines == "demote" and within.level:
        cut = 0 if head.endswith("\n") else new.find("\n") + 1
        return head + new[:cut] + demoted(new[cut:], within.level) + behind
    if beside:
        what = f"text: line {beside[0].first_line} would be a headline beside the entry"
        hint = "indent it, put it in as an entry, or say headlines=demote or allow"
        raise BadArgument(what, hint, "new")
    return head + new + behind
