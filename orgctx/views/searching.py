"""Where a text stands in the notes: hit lines by entry, page by page, within a budget."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Any, NamedTuple

from ..core.entry import many
from ..core.frame import order_of
from ..core.model import Node, Problem, Tree
from ..errors import NotFound, OrgctxError
from ..store.address import POSITION, line_number, resolve
from ..store.names import Names
from ..store.near import get_close_matches
from ..store.roots import check_name
from ..store.store import Store
from ..store.titles import outline_path
from ..tokens import count
from .listing import resolve_path
from .page import Call, fit
from .patterns import Pattern, caseless, lines_of, pattern_of
from .query import Query
from .shell import shell_command
from .view import Limit, whole

ENTRIES = 50
LINES = 5
"""How many hit lines of an entry are shown, unless it is what is searched."""
NEAR_TITLES = 5000
"""How many titles are compared when nothing is found."""


class Page(NamedTuple):
    """Which part of the answer is wanted.

    limit: int > 0, the most entries. after: an address, or the `cursor` of the page before; what
    stands behind it in the order of files and lines is shown.
    """

    limit: int = ENTRIES
    after: str = ""

    def check(self) -> None:
        """Raises: BadArgument."""
        whole("limit", self.limit, 1)
        check_name("after", self.after)


class Hit(NamedTuple):
    """A line that the pattern is in. line: 1-based. text: the line, if it is long cut around it."""

    line: int
    text: str


@dataclass(frozen=True, slots=True)
class FoundEntry:
    """An entry that was found.

    line: its first, 1-based. tags: inherited ones too. hits: its first hit lines.
    left_out: how many more there are.
    """

    address: str
    path: str
    line: int
    level: int
    title: str
    outline_path: str
    todo: str | None
    is_commented: bool
    tags: tuple[str, ...]
    hits: tuple[Hit, ...]
    left_out: int


@dataclass(frozen=True, slots=True)
class Found:
    """A page of what was found.

    entries: in the order of files and lines. left_out: how many entries come after them.
    cursor: what `after` has to be for the next page; None if this is the last.
    unreadable: files that could not be searched.
    near: if nothing was found, titles that are like the pattern.
    """

    entries: tuple[FoundEntry, ...]
    left_out: int = 0
    cursor: str | None = None
    unreadable: tuple[Problem, ...] = ()
    near: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The page as text; see `to_text`."""
        return to_text(self)

    @property
    def tokens(self) -> int:
        """What the text costs in the usual encoding."""
        return count(self.text)


Shape = Callable[[Found], str]


def search(
    store: Store,
    query: Query,
    page: Page,
    limit: Limit,
    shape: Shape | None = None,
) -> Found:
    """Find the lines that a pattern is in, by entry.

    Texts are compared in normal form C. An expression is matched with each line alone, in linear
    time. Of an entry tagged `crypt` only the headline is searched.
    limit: what the page as `shape` writes it may cost. shape: `to_text` by default.
    Returns: Found; no entries if nothing is found. An entry shows its first `LINES` hit lines and
        counts the others; one that `query.path` names shows them all, over pages if need be. No
        hit line is on two pages.
    Raises: BadArgument, also for an expression that is none; NotFound, Ambiguous, OutsideRoot,
        Unreadable for path or cursor; BudgetTooSmall if not even one hit line fits.
    """
    for part in (query, page, limit):
        part.check()
    pattern = pattern_of(query.pattern, query.regexp, query.ignore_case)
    store.freshen()
    scope = _scope(store, query.path)
    start = _start(store, page.after)
    unreadable: list[Problem] = []
    trees = scope.trees(store, start, unreadable)
    found = [each for tree in trees for each in _candidates(tree, scope, query, pattern, start)]
    pages = _Pages(found, page.limit, Names(store), unreadable)
    shown = pages.fitting(limit, store.page_counter(limit.unit, limit.encoding), shape or to_text)
    if found or page.after:
        return shown
    return replace(shown, near=_near(query, scope.trees(store, start, [])))


# --- Where ---------------------------------------------------------------------------------------


class _Start(NamedTuple):
    """Where a page begins: behind this line of this file. line: 0 is above the first."""

    path: str = ""
    line: int = -1

    def line_in(self, path: str) -> int:
        """The line of a file of this page behind which it begins."""
        return self.line if path == self.path else -1


class _Scope(NamedTuple):
    """What is searched. paths: of files, in order. node: the one whose subtree it is."""

    paths: Sequence[str]
    node: Node | None = None

    def trees(self, store: Store, start: _Start, unreadable: list[Problem]) -> Iterator[Tree]:
        """The files from the one where the page begins; `unreadable` gets those that failed."""
        for path in self.paths:
            if order_of(path) < order_of(start.path) and start.path:
                continue
            try:
                yield self.node.tree if self.node else store.tree(path)
            except NotFound:  # gone since it was listed, or private
                continue
            except OrgctxError as error:
                what = error.message.removeprefix(f"{path}: ")
                unreadable.append(Problem(path, 0, what, error.hint))

    def nodes(self, tree: Tree) -> Sequence[Node]:
        """The nodes of a file that are searched."""
        return tree.nodes[self.node.index : self.node.end_index] if self.node else tree.nodes


def _scope(store: Store, path: str) -> _Scope:
    """Raises: as `resolve`."""
    paths = sorted(store.paths, key=order_of)
    if not path:
        return _Scope(paths)
    folder = None if store.file(path) else store.folder_named(path)
    if folder is not None:
        return _Scope([each for each in paths if not folder or each.startswith(f"{folder}/")])
    node = resolve_path(store, path)
    return _Scope([node.path], node)


def _start(store: Store, after: str) -> _Start:
    """Raises: as `resolve`."""
    if not after:
        return _Start()
    position = POSITION.match(after)
    if position and not store.file(after) and (path := store.file(position[1])):
        return _Start(store.tree(path).path, line_number(position[2]))
    node = resolve(store, after)
    return _Start(node.path, node.last_line)


# --- What is found -------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Candidate:
    """An entry that was found. lines: its hit lines behind the page's start. most: see `size`."""

    node: Node
    lines: Sequence[int]
    pattern: Pattern
    most: int | None

    @property
    def size(self) -> int:
        """In how many steps it comes into view: by hit line, or at once if it has none."""
        return max(1, len(self.lines[: self.most]))

    @cached_property
    def hits(self) -> list[Hit]:
        """Its hit lines, as many as it may show."""
        lines, first = lines_of(self.node.text), self.node.first_line
        shown = self.lines[: self.most]
        return [Hit(line, self.pattern.shown(lines[line - first])) for line in shown]


def _candidates(
    tree: Tree, scope: _Scope, query: Query, pattern: Pattern, start: _Start
) -> Iterator[_Candidate]:
    """The entries of a file that are found behind the start."""
    after = start.line_in(tree.path)
    found = pattern.lines(tree.text) if query.pattern else []
    if query.pattern and not found:
        return
    for node in scope.nodes(tree):
        first, last = (node.first_line if node.level else 0), node.last_line
        begin = bisect_left(found, max(first, after + 1))
        end = bisect_right(found, last)
        lines = found[begin:end]
        if (lines or (not query.pattern and first > after)) and query.holds(node):
            yield _Candidate(node, lines, pattern, None if node is scope.node else LINES)


class _Pages:
    """The page as it is after some steps. Each shows one more hit line, the first its entry too."""

    def __init__(
        self,
        found: Sequence[_Candidate],
        limit: int,
        names: Names,
        unreadable: Sequence[Problem],
    ) -> None:
        self._found, self._limit, self._unreadable = found, limit, tuple(unreadable)
        self._names = names
        self._addresses: dict[Node, str] = {}

    def fitting(self, limit: Limit, count: Callable[[str], int], shape: Shape) -> Found:
        """The most steps whose page fits. Raises: BudgetTooSmall."""

        def write(steps: int) -> str:
            return shape(self.page(steps))

        steps = sum(each.size for each in self._found[: self._limit])
        return self.page(fit(write, steps, limit, count))

    def page(self, steps: int) -> Found:
        """The page after that many steps."""
        entries: list[FoundEntry] = []
        cursor = None
        for each in self._found[: self._limit]:
            if steps <= 0:
                break
            entries.append(self._entry(each, steps))
            line = each.node.last_line if steps >= each.size else entries[-1].hits[-1].line
            is_last = len(entries) == len(self._found) and steps >= each.size
            cursor = None if is_last else f"{each.node.path}:{line}"
            steps -= each.size
        return Found(tuple(entries), len(self._found) - len(entries), cursor, self._unreadable)

    def _entry(self, each: _Candidate, steps: int) -> FoundEntry:
        node, hits = each.node, tuple(each.hits[:steps])
        return FoundEntry(
            address=self._address(node),
            path=node.path,
            line=node.first_line,
            level=node.level,
            title=node.title,
            outline_path=outline_path(node) if node.level else "",
            todo=node.todo,
            is_commented=node.is_in_comment,
            tags=node.inherited_tags,
            hits=hits,
            left_out=len(each.lines) - len(hits),
        )

    def _address(self, node: Node) -> str:
        if node not in self._addresses:
            self._addresses[node] = self._names.address(node)
        return self._addresses[node]


def _near(query: Query, trees: Iterator[Tree]) -> tuple[str, ...]:
    """Titles that are like a literal pattern."""
    if query.regexp or not query.pattern:
        return ()
    titles = (node.title for tree in trees for node in tree.nodes if node.title)
    known = {caseless(title): title for title in islice(titles, NEAR_TITLES)}
    close = get_close_matches(caseless(query.pattern), list(known), 3, 0.6)
    return tuple(known[each] for each in close)


# --- How it looks --------------------------------------------------------------------------------


def to_text(found: Found, call: Call | None = None) -> str:
    """A line for each entry, below it its hit lines, and a last one that says what is left out.

    call: how the one that goes on is written, by default for a shell.
    """
    return "".join(map(_entry_text, found.entries)) + _rest(found, call or shell_call())


def shell_call(arguments: Sequence[str] = ("…",), *options: str) -> Call:
    """The call as a shell wants it. arguments, options: what it repeats."""

    def call(given: Mapping[str, str]) -> str:
        return shell_command("grep", arguments, [*options, "--after", given["after"]])

    return call


def _entry_text(entry: FoundEntry) -> str:
    hits = "".join(f"  {hit.line}: {hit.text}\n" for hit in entry.hits)
    more = f"  … and {many(entry.left_out, 'more line')}\n" if entry.left_out else ""
    return f"{_head(entry)}\n{hits}{more}"


def _head(entry: FoundEntry) -> str:
    """Address, keyword, outline path unless the address says it, and tags."""
    place = f"{entry.path}::{entry.outline_path}" if entry.level else entry.path
    is_by_file = entry.address.startswith(entry.path)
    name = "" if entry.address == place else entry.outline_path if is_by_file else place
    tags = f":{':'.join(entry.tags)}:" if entry.tags else ""
    title = "" if entry.level else entry.title
    words = (entry.todo, "COMMENT" if entry.is_commented else "", name, title, tags)
    rest = " ".join(filter(None, words))
    return f"{entry.address} — {rest}".removesuffix(" — ").replace("\n", "\\n")


def has_rest(found: Found) -> bool:
    """Whether the page's last line says what is left out."""
    return bool(_rest(found, lambda _: ""))


def _rest(found: Found, call: Call) -> str:
    """What is left out, and how to get it; "" if that is nothing."""
    ways = []
    if any(each.left_out and len(each.hits) == LINES for each in found.entries):
        ways.append("for all lines of one entry, give its address as PATH")
    if found.cursor:  # last, so that all of the rest of the line is the call
        what = many(found.left_out, "more entry") if found.left_out else "more lines"
        ways.append(f"and {what}: {call({'after': found.cursor})}")
    line = "; ".join(ways).replace("\n", "\\n")
    return f"… {line}\n" if ways else ""


def to_data(found: Found) -> dict[str, Any]:
    """The page as data for JSON; it holds what the text does, each thing once."""
    return {
        "entries": list(map(asdict, found.entries)),
        "left_out": found.left_out,
        "cursor": found.cursor,
    }
