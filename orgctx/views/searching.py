"""Where a text stands in the notes: hit lines by entry, page by page, within a budget."""

from __future__ import annotations

import os
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple
from unicodedata import normalize

from ..core.frame import place_of as order_of
from ..core.model import Node, Problem, Tree
from ..core.privacy import SEALED
from ..errors import BadArgument, NotFound, OrgctxError
from ..store.address import Names, get_close_matches, outline_path, resolve
from ..store.store import Store, place_of
from ..tokens import count
from .page import fit
from .view import Limit, whole

ENTRIES = 50
LINES = 5
"""How many hit lines of an entry are shown, unless it is what is searched."""
WIDTH = 200
"""How many characters of a line are shown."""
NEAR_TITLES = 5000
"""How many titles are compared when nothing is found."""

_POSITION = re.compile(r"(.+):(\d{1,18})\Z", re.DOTALL)
_MARKS = re.compile("[\u0300-\u036f\u200d\ufe00-\ufe0f\U0001f3fb-\U0001f3ff]{0,20}")
_SEALED_KEYS = ("ID", "CUSTOM_ID")


class Query(NamedTuple):
    """What is looked for, and where.

    pattern: the text, or an expression of RE2; may be "" if there is a filter.
    path: a root, folder, file or node, whose subtree it is; "" for all notes.
    regexp: whether the pattern is an expression. ignore_case: whether letters match in any case.
    todo: keywords, one of which an entry has. tag: tags, all of which it has, inherited ones too.
    property: NAME or NAME=VALUE, all of which are in its own drawer.
    """

    pattern: str = ""
    path: str = ""
    regexp: bool = False
    ignore_case: bool = False
    todo: tuple[str, ...] = ()
    tag: tuple[str, ...] = ()
    property: tuple[str, ...] = ()

    def check(self) -> None:
        """Raises: BadArgument."""
        for name in ("pattern", "path", "todo", "tag", "property"):
            value = getattr(self, name)
            for each in (value,) if name in ("pattern", "path") else value:
                if not isinstance(each, str):
                    raise BadArgument(f"{name} {each!r}: give a text", where=name)
        if not (self.pattern or self.todo or self.tag or self.property):
            raise BadArgument("pattern: empty", "give a text, or a filter such as --tag", "pattern")
        if "\n" in self.pattern:
            raise BadArgument("pattern: a line break; hits are lines", "give one line", "pattern")
        if any(not each.partition("=")[0] for each in self.property):
            raise BadArgument("property: no name", "give NAME or NAME=VALUE", "property")

    def holds(self, node: Node) -> bool:
        """Whether a node passes the filters."""
        todo, tags = map(_nfc, self.todo), set(map(_nfc, self.tag))
        return (
            (not self.todo or _nfc(node.todo or "") in todo)
            and tags <= set(map(_nfc, node.inherited_tags if tags else ()))
            and all(_has(node, each) for each in self.property)
        )


def _bytes(text: str) -> bytes:
    """A text as it is written: half a surrogate pair is written out."""
    return text.encode("utf-8", "backslashreplace")


def _has(node: Node, wanted: str) -> bool:
    """Whether a node has a property, and with that value; of a sealed one only its ID is seen."""
    name, is_pair, value = wanted.partition("=")
    if _is_sealed(node) and name.upper() not in _SEALED_KEYS:
        return False
    found = node.get_property(name)
    return found is not None and (not is_pair or _nfc(found) == _nfc(value))


def _is_sealed(node: Node) -> bool:
    return not SEALED.isdisjoint(node.tags)


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
        if not isinstance(self.after, str):
            raise BadArgument(f"after {self.after!r}: give an address or a cursor", where="after")


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
    pattern = _pattern(query)
    store.freshen()
    scope = _scope(store, query.path)
    start = _start(store, page.after)
    unreadable: list[Problem] = []
    trees = scope.trees(store, start, unreadable)
    found = [each for tree in trees for each in _candidates(tree, scope, query, pattern, start)]
    pages = _Pages(found, page.limit, Names(store), unreadable)
    shown = pages.fitting(limit, store.counter(limit.unit, limit.encoding), shape or to_text)
    if found or page.after:
        return shown
    return replace(shown, near=_near(query, scope.trees(store, start, [])))


# --- Patterns ------------------------------------------------------------------------------------


class _Pattern(NamedTuple):
    """How lines are compared.

    fold: gives a text the form that is compared; line ends stay where they are.
    literal: what a folded text must hold, or there is no hit in it.
    find: (folded line) -> the hit's first character and the one after its last, or None.
    """

    fold: Callable[[str], str]
    literal: str
    find: Callable[[str], tuple[int, int] | None]

    def lines(self, text: str) -> list[int]:
        """The 1-based numbers of the lines that have a hit."""
        folded = self.fold(text)
        if self.literal not in folded:
            return []
        return [i for i, line in enumerate(_lines(folded), 1) if self.find(line) is not None]

    def shown(self, line: str) -> str:
        """The line as it is shown."""
        if len(line) <= WIDTH:
            return line
        start, end = self.find(self.fold(line)) or (0, 0)
        return _cut(line, _original(line, start, self.fold), _original(line, end, self.fold))


def _lines(text: str) -> list[str]:
    """The lines of a text without their ends; one more, an empty one, behind the last end."""
    return text.replace("\r\n", "\n").split("\n")


def _pattern(query: Query) -> _Pattern:
    """Raises: BadArgument."""
    if query.regexp and query.pattern:
        return _Pattern(_nfc, "", _expression(query.pattern, query.ignore_case))
    fold = _caseless if query.ignore_case else _nfc
    wanted = fold(query.pattern)

    def find(line: str) -> tuple[int, int] | None:
        at = line.find(wanted)
        return None if at < 0 else (at, at + len(wanted))

    return _Pattern(fold, wanted, find)


def _nfc(text: str) -> str:
    return normalize("NFC", text)


def _caseless(text: str) -> str:
    """The text with all that case may change folded (Unicode, section 3.13, D145)."""
    return _nfc(normalize("NFD", text).casefold())


def _expression(pattern: str, ignore_case: bool) -> Callable[[str], tuple[int, int] | None]:
    """What finds an expression in a line. Raises: BadArgument if it is none."""
    import re2  # only who gives an expression pays

    options = re2.Options()
    options.log_errors, options.never_capture = False, True
    options.case_sensitive = not ignore_case
    try:
        search = re2.compile(_nfc(pattern), options).search
    except re2.error as error:
        raise _bad_expression(pattern, error.args[0].decode("utf-8", "replace")) from error
    except UnicodeEncodeError as error:
        raise _bad_expression(pattern, "half a surrogate pair") from error

    def find(line: str) -> tuple[int, int] | None:
        data = line.encode()
        if (hit := search(data)) is None:
            return None
        start, end = (len(data[:at].decode("utf-8", "ignore")) for at in hit.span())
        return start, end

    return find


def _bad_expression(pattern: str, fault: str) -> BadArgument:
    """The error for an expression that RE2 cannot read. fault: what it says, and of which part."""
    part = fault.partition(": ")[2]
    at = _nfc(pattern).find(part) if part else -1
    place = f", at character {at + 1}" if at >= 0 else ""
    hint = "the syntax is RE2's, which has no look-around and no back-references"
    return BadArgument(f"pattern {pattern!r}: {fault}{place}", hint, "pattern")


def _original(line: str, at: int, fold: Callable[[str], str]) -> int:
    """Where in a line its folded form's character `at` comes from."""
    if line.isascii():
        return at
    return bisect_right(range(len(line) + 1), at, key=lambda size: len(fold(line[:size]))) - 1


def _cut(line: str, start: int, end: int) -> str:
    """`WIDTH` characters of a line around its characters from `start` to `end`."""
    before = max(0, WIDTH - (end - start)) // 2
    first = max(0, min(start - before, len(line) - WIDTH))
    if marks := _MARKS.match(line, first):  # they belong to a character that is cut away
        first = min(marks.end(), start) if first else 0
    last = min(len(line), first + WIDTH)
    return f"{'…' if first else ''}{line[first:last]}{'…' if last < len(line) else ''}"


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
    names = [path.rstrip("/"), *_without_root(store, path)]
    is_file = any(store.file(name) for name in names if name)
    if not is_file and (folder := folder_of(store, path)) is not None:
        return _Scope([each for each in paths if _is_in(each, folder)])
    own = next((name for name in names if name and store.file(name)), path)
    node = resolve(store, own)
    return _Scope([node.path], node)


def _without_root(store: Store, path: str) -> list[str]:
    """What a path is inside the root that it names, where there is only one."""
    if len(store.roots) != 1:
        return []
    top, _, inside = path.rstrip("/").partition("/")
    return [inside] if top == store.roots[0].name else []


def folder_of(store: Store, name: str) -> str | None:
    """The folder of notes that a name means, as addresses call it; "" for all; None for none.

    name: as addresses call it, the name of the root in front or not; or a path from the current
        folder to one that is in a root.
    """
    plain = _nfc(name.rstrip("/"))
    called = [plain, *_without_root(store, plain), *_inside_roots(store, name)]
    paths = sorted(store.paths)
    for folder in dict.fromkeys(called):
        if any(_is_in(path, folder) and _is_there(store, path) for path in paths):
            return folder
    return None


def _inside_roots(store: Store, name: str) -> Iterator[str]:
    """What addresses call the folder at a place."""
    place = place_of(name)
    real = Path(os.path.realpath(place)) if place else Path()
    for root in store.roots:
        if place and real.is_dir() and real.is_relative_to(root.folder):
            inside = real.relative_to(root.folder).as_posix().removeprefix(".")
            yield "/".join(filter(None, (root.name if len(store.roots) > 1 else "", inside)))


def _is_in(path: str, folder: str) -> bool:
    return not folder or _nfc(path).startswith(_nfc(folder) + "/")


def _is_there(store: Store, path: str) -> bool:
    """Whether a file is there for anybody to see, be it readable or not."""
    try:
        return bool(store.tree(path))
    except NotFound:
        return False
    except OrgctxError:
        return True


def _start(store: Store, after: str) -> _Start:
    """Raises: as `resolve`."""
    if not after:
        return _Start()
    position = _POSITION.match(after)
    if position and not store.file(after) and (path := store.file(position[1])):
        return _Start(store.tree(path).path, int(position[2]))
    node = resolve(store, after)
    return _Start(node.path, node.last_line)


# --- What is found -------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Candidate:
    """An entry that was found. lines: its hit lines behind the page's start. most: see `size`."""

    node: Node
    lines: Sequence[int]
    pattern: _Pattern
    most: int | None

    @property
    def size(self) -> int:
        """In how many steps it comes into view: by hit line, or at once if it has none."""
        return max(1, len(self.lines[: self.most]))

    @cached_property
    def hits(self) -> list[Hit]:
        """Its hit lines, as many as it may show."""
        lines, first = _lines(self.node.text), self.node.first_line
        shown = self.lines[: self.most]
        return [Hit(line, self.pattern.shown(lines[line - first])) for line in shown]


def _candidates(
    tree: Tree, scope: _Scope, query: Query, pattern: _Pattern, start: _Start
) -> Iterator[_Candidate]:
    """The entries of a file that are found behind the start."""
    after = start.line_in(tree.path)
    found = pattern.lines(tree.text) if query.pattern else []
    if query.pattern and not found:
        return
    for node in scope.nodes(tree):
        first, last = (node.first_line if node.level else 0), node.last_line
        begin = bisect_left(found, max(first, after + 1))
        end = bisect_right(found, first if _is_sealed(node) else last)
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

        def cost(text: str) -> int:
            """Its tokens; its bytes, which are no fewer, if even those are within the budget."""
            written = _bytes(text)
            is_short = limit.unit == "tokens" and len(written) <= limit.budget
            return len(written) if is_short else count(written.decode())

        def write(steps: int) -> str:
            return shape(self.page(steps))

        steps = sum(each.size for each in islice(self._found, self._limit))
        most = min(steps, limit.budget)  # a line costs a token at least
        if cost(write(most)) > limit.budget:
            most = fit(write, most, limit, cost)
        return self.page(most)

    def page(self, steps: int) -> Found:
        """The page after that many steps."""
        entries: list[FoundEntry] = []
        cursor = None
        for each in islice(self._found, self._limit):
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
    known = {_caseless(title): title for title in islice(titles, NEAR_TITLES)}
    close = get_close_matches(_caseless(query.pattern), list(known), 3, 0.6)
    return tuple(known[each] for each in close)


# --- How it looks --------------------------------------------------------------------------------


CALL = "orgctx grep … --after {}"


def to_text(found: Found, call: str = CALL) -> str:
    """A line for each entry, below it its hit lines, and a last one that says what is left out.

    call: how one goes on, with `{}` for the cursor.
    """
    return "".join(map(_entry_text, found.entries)) + _rest(found, call)


def _entry_text(entry: FoundEntry) -> str:
    hits = "".join(f"  {hit.line}: {hit.text}\n" for hit in entry.hits)
    more = f"  … and {_many(entry.left_out, 'more line')}\n" if entry.left_out else ""
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


def _rest(found: Found, call: str) -> str:
    """What is left out, and how to get it; "" if that is nothing."""
    from shlex import quote  # only where something is

    ways = []
    if found.cursor:
        what = _many(found.left_out, "more entry") if found.left_out else "more lines"
        ways.append(f"and {what}: {call.replace('{}', quote(found.cursor), 1)}")
    if any(each.left_out and len(each.hits) == LINES for each in found.entries):
        ways.append("for all lines of one entry, give its address as PATH")
    line = "; ".join(ways).replace("\n", "\\n")
    return f"… {line}\n" if ways else ""


def _many(count: int, what: str) -> str:
    plural = f"{what[:-1]}ies" if what.endswith("y") else f"{what}s"
    return f"{count} {what if count == 1 else plural}"


def to_data(found: Found) -> dict[str, Any]:
    """The page as data for JSON; it holds what the text does, each thing once."""
    return {
        "entries": list(map(asdict, found.entries)),
        "left_out": found.left_out,
        "cursor": found.cursor,
    }
