"""The nouns: nodes of a tree, steps of a lens, and what a view shows and leaves out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple, overload

if TYPE_CHECKING:
    from .ast import Ast


class Problem(NamedTuple):
    """Something in a file that could not be understood; it is text all the same.

    path: the file, as addresses name it. line: 1-based; 0 for the file itself.
    what: one clause, without the note's text. hint: how to mend it; may be empty.
    """

    path: str
    line: int
    what: str
    hint: str = ""


class Setting(NamedTuple):
    """A keyword line that changes how Org reads the file, or names it. line: 1-based."""

    line: int
    key: str
    value: str


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Tree:
    """One file: its text, and its nodes in document order, the file node first.

    path: how addresses name the file. text: without byte order mark, line ends as they stand.
    encoding: how the file's bytes became `text`; "utf-8-sig" if there was a byte order mark.
    newline: the line end of a view of this file: CRLF if each of its line ends is, else LF.
    todos, dones: the keywords that are open and closed in this file.
    settings: the title and the keywords that change how Org reads the rest, in order.
    nodes: the file node first; each is read when somebody asks for it.
    asts: what `Node.ast` has read.
    """

    path: str
    text: str = field(repr=False)
    encoding: str
    newline: str
    todos: tuple[str, ...]
    dones: tuple[str, ...]
    settings: tuple[Setting, ...]
    nodes: Nodes = field(repr=False)
    asts: dict[int, Ast] = field(default_factory=dict, repr=False)

    @property
    def root(self) -> Node:
        """The file node."""
        return self.nodes[0]


class Nodes(Sequence["Node"]):
    """The nodes of a file in document order, each read once, when it is first asked for."""

    def __init__(self, size: int, read: Callable[[int], Node]) -> None:
        """size: how many there are. read: (index) -> the node."""
        self._size = size
        self._read = read
        self._known: dict[int, Node] = {}

    def __len__(self) -> int:
        return self._size

    @overload
    def __getitem__(self, at: int) -> Node: ...

    @overload
    def __getitem__(self, at: slice) -> list[Node]: ...

    def __getitem__(self, at: int | slice) -> Node | list[Node]:
        if isinstance(at, slice):
            return [self[index] for index in range(*at.indices(len(self)))]
        node = self._known.get(at)
        return self._first(range(self._size)[at]) if node is None else node

    def _first(self, at: int) -> Node:
        """The node at `at`, from 0; of two threads that read it at once, both get the same."""
        return self._known.get(at) or self._known.setdefault(at, self._read(at))


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """A file node (level 0) or a headline with its entry.

    index: position in `tree.nodes`. parent_index: -1 for the file node.
    end_index: index after the last descendant. level: number of stars.
    first_line, last_line: of the entry, 1-based, inclusive; last_line < first_line if it is empty.
    start, end: the entry's characters in `tree.text`.
    tags: own tags only. properties: the property drawer, keys and values as they stand, in order.
    drawer: first and last line of the property drawer, 1-based, or None.
    """

    tree: Tree = field(repr=False)
    index: int
    parent_index: int
    end_index: int
    level: int
    first_line: int
    last_line: int
    start: int
    end: int
    title: str
    todo: str | None
    priority: str | None
    is_commented: bool
    tags: tuple[str, ...]
    properties: tuple[tuple[str, str], ...]
    drawer: tuple[int, int] | None

    @property
    def path(self) -> str:
        """The file, as addresses name it."""
        return self.tree.path

    @property
    def text(self) -> str:
        """The entry as it stands in the file."""
        return self.tree.text[self.start : self.end]

    @property
    def byte_span(self) -> tuple[int, int]:
        """First byte of the entry in its file, and the byte after its last; 0 is the file's first.

        A byte order mark belongs to the file node.
        """
        text, encoding = self.tree.text, self.tree.encoding
        mark = 3 if encoding == "utf-8-sig" else 0
        codec = "utf-8" if mark else encoding
        first = len(text[: self.start].encode(codec)) + (mark if self.index else 0)
        return first, first + len(self.text.encode(codec)) + (0 if self.index else mark)

    @property
    def lines(self) -> list[str]:
        """The entry's lines with the view's line ends; the last one is ended too."""
        return self._split(self.text)

    def _split(self, text: str) -> list[str]:
        newline = self.tree.newline
        if newline == "\n" and "\r\n" in text:
            text = text.replace("\r\n", "\n")
        lines = text.split("\n")
        last = lines.pop()
        return [line + "\n" for line in lines] + ([last + newline] if last else [])

    @property
    def ids(self) -> tuple[str, ...]:
        """Each value of `ID` in the drawer; Org's reader takes the last."""
        return tuple(value for key, value in self.properties if key.upper() == "ID" and value)

    @property
    def id(self) -> str | None:
        """The node's ID as org-element reads it."""
        return self._last("ID")

    @property
    def custom_id(self) -> str | None:
        """The node's CUSTOM_ID as org-element reads it."""
        return self._last("CUSTOM_ID")

    def _last(self, name: str) -> str | None:
        values = [value for key, value in self.properties if key.upper() == name]
        return values[-1] or None if values else None

    def get_property(self, name: str) -> str | None:
        """The node's own property, `:NAME+:` lines added to it (Org manual, Property Syntax).

        name: in any case.
        """
        value: str | None = None
        for key, text in self.properties:
            if key.upper() == name.upper():
                value = text
            elif key.upper() == name.upper() + "+":
                value = text if value is None else f"{value} {text}"
        return value

    @property
    def parent(self) -> Node | None:
        """The node above; None for the file node."""
        return None if self.parent_index < 0 else self.tree.nodes[self.parent_index]

    @property
    def ancestors(self) -> list[Node]:
        """All nodes above, the file node first."""
        above, node = [], self.parent
        while node is not None:
            above.append(node)
            node = node.parent
        return above[::-1]

    @property
    def children(self) -> Iterator[Node]:
        """The nodes one step below, in document order."""
        index = self.index + 1
        while index < self.end_index:
            child = self.tree.nodes[index]
            yield child
            index = child.end_index

    @property
    def inherited_tags(self) -> tuple[str, ...]:
        """File tags, ancestors' tags and own tags, each once, outermost first."""
        own = [tag for node in (*self.ancestors, self) for tag in node.tags]
        return tuple(dict.fromkeys(own))

    @property
    def is_in_comment(self) -> bool:
        """Whether the headline or one above it is commented out."""
        return self.is_commented or any(node.is_commented for node in self.ancestors)

    @property
    def ast(self) -> Ast:
        """orgparse's reading of the entry, made on first use (see ast.read)."""
        known = self.tree.asts.get(self.index)
        if known is None:
            from . import ast  # only who asks for it pays for its patterns

            known = ast.read(self.lines, self.tree.todos, self.tree.dones)
            self.tree.asts[self.index] = known
        return known

    @property
    def head(self) -> list[str]:
        """The lines of the headline and of the property drawer alone."""
        lines = self._split(self.head_text)
        planning = self.drawer[0] - self.first_line if self.drawer else 1
        return (lines[:1] if self.level else []) + lines[planning:]

    @property
    def head_text(self) -> str:
        """The entry down to the end of its property drawer, or its first line if it has none."""
        text, stop = self.text, 0
        for _ in range(self.first_line, (self.drawer[1] if self.drawer else self.first_line) + 1):
            stop = text.find("\n", stop) + 1 or len(text)
        return text[:stop]


class Detail(StrEnum):
    """How much of a node is shown."""

    FULL = "full"
    CUT = "cut"
    SKELETON = "skeleton"
    DROPPED = "dropped"


class Relation(StrEnum):
    """What a node is to the target, or why else it is shown.

    LINK: the target links to it. BACKLINK: it links to the target. CONTAINER: it holds something
    that is shown for another reason. BACKGROUND: of the rest of the file. FILE, FOLDER: of the rest
    of the memex. ACTIVE: see `config.Active`.
    """

    TARGET = "target"
    ANCESTOR = "ancestor"
    CHILD = "child"
    SIBLING = "sibling"
    DESCENDANT = "descendant"
    BACKGROUND = "background"
    LINK = "link"
    BACKLINK = "backlink"
    CONTAINER = "container"
    ACTIVE = "active"
    FILE = "file"
    FOLDER = "folder"


class Step(NamedTuple):
    """One increment of detail: show `node` with at least `pieces` pieces of its text.

    pieces: 0 for the skeleton alone.
    interest: the higher, the sooner; never rises along a lens' sequence.
    """

    node: Node
    pieces: int
    relation: Relation
    interest: float


@dataclass(frozen=True, slots=True)
class Shown:
    """A node in a view; in one of several files, a folder too, or the memex.

    level: of the headline in its file; 0 for a file, -1 for a folder or the memex.
    tokens: what its own lines and its omission marks cost, in the view's unit.
    relation, interest: why it is shown, and how soon.
    """

    address: str
    path: str
    line: int
    level: int
    detail: Detail
    tokens: int
    relation: Relation
    interest: float
    node: Node = field(repr=False)


@dataclass(frozen=True, slots=True)
class Omission:
    """What a shown node announces as left out.

    address: focus on it to see more. headlines: children left out. lines: lines of text left out.
    paths: the files left out of a folder or the memex; of the memex by folders, those folders.
    """

    address: str
    headlines: int
    lines: int
    node: Node = field(repr=False)
    paths: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class View:
    """One answer: an Org document within its budget, and what it shows and leaves out.

    tokens: exact count of `text` in `unit`; tokens <= budget.
    encoding: the encoding that counted; None for characters.
    targets: the addresses of what was asked for.
    """

    text: str
    tokens: int
    budget: int
    unit: str
    encoding: str | None
    targets: tuple[str, ...]
    shown: tuple[Shown, ...]
    omitted: tuple[Omission, ...]
    find_problems: Callable[[], tuple[Problem, ...]] = field(repr=False, compare=False)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What Org would not read of the targets' files, and orgparse not of the targets."""
        return self.find_problems()

    def report(self) -> list[dict[str, Any]]:
        """Everything that was left out, as data.

        Returns: a row for each node that is shown and something of it is not: address, headlines,
            lines, paths (as in `omitted`; none for a skeleton, which announces nothing), and
            left_out: line, level and title of each headline below that is missing, at any depth.
        """
        shown = {each.node for each in self.shown}
        announced = {each.node: each for each in self.omitted}
        rows = []
        for each in self.shown:
            missing = _missing(each.node, shown) if each.level >= 0 else []
            omission = announced.get(each.node, Omission(each.address, 0, 0, each.node))
            if missing or each.node in announced:
                rows.append(
                    {
                        "address": each.address,
                        "headlines": omission.headlines,
                        "lines": omission.lines,
                        "paths": list(omission.paths),
                        "left_out": missing,
                    }
                )
        return rows


def _missing(node: Node, shown: set[Node]) -> list[dict[str, Any]]:
    """The headlines below a node that are left out, but for those below one that is shown."""
    return [
        {"line": below.first_line, "level": below.level, "title": below.title}
        for child in node.children
        if child not in shown
        for below in child.tree.nodes[child.index : child.end_index]
    ]
