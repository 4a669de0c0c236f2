"""Where the tokens are: folders, files and headlines, the heaviest first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from heapq import heapify, heappop, heappush
from itertools import accumulate, dropwhile, islice
from typing import Any, NamedTuple

from ..core.entry import many
from ..core.frame import MEMEX, folder_of
from ..core.heading import printable
from ..core.model import Node, Tree
from ..errors import BadArgument, BudgetTooSmall, OrgctxError
from ..store.address import resolve
from ..store.names import Names
from ..store.roots import check_name, escaped, name_of
from ..store.store import File, Store
from .focus import focus
from .listing import LINES, resolve_path
from .page import Call, brief, fit, indent, plain
from .shell import shell_command
from .view import Limit, whole


class Part:
    """Something that holds tokens: the memex, a folder, a file or a headline.

    kind: "folder", "file" or "headline". path, line: where it is; line 0 for all but a headline.
    above: what holds it; None of the first. depth: how much holds it, from 0.
    tokens: of all in it, in the encoding of its root. files, headlines: in it, at any depth.
    totals: these three. node: of a headline, or of a file that is the first.
    """

    def __init__(
        self,
        kind: str,
        path: str,
        title: str,
        totals: tuple[int, int, int],
        above: Part | None,
        below: Callable[[Part], Iterable[Part]],
        node: Node | None = None,
    ) -> None:
        """totals: tokens, files, headlines. below: (part) -> what is in it, one level down."""
        self.kind, self.path, self.title, self.above, self.node = kind, path, title, above, node
        self.tokens, self.files, self.headlines = self.totals = totals
        self.line = node.first_line if node and node.level else 0
        self.depth: int = above.depth + 1 if above else 0
        self._below = below

    def below(self) -> Iterable[Part]:
        """What is one level below; a file is read for it."""
        return self._below(self)

    def __lt__(self, other: Part) -> bool:
        """The heavier, the sooner; no part comes before what holds it."""
        return self._rank < other._rank

    @property
    def _rank(self) -> tuple[int, str, int]:
        return -self.tokens, self.path, self.line


def by_weight(top: Part) -> Iterator[Part]:
    """All that is in a part, the heaviest first; of what is light no file is read."""
    waiting = [*top.below()]
    heapify(waiting)
    while waiting:
        yield (part := heappop(waiting))
        for each in part.below():
            heappush(waiting, each)


class Parts:
    """The notes of a store as parts, one in another."""

    def __init__(
        self, store: Store, seen: Iterable[Tree] = (), folders: Iterable[str] = ()
    ) -> None:
        """seen: files as they were read for a view, whatever has become of them. folders: its."""
        self._store, self._seen = store, {tree.path: tree for tree in seen}
        self._totals: dict[str, list[int]] = {"": [0, 0, 0]}
        self._folders: dict[str, list[str]] = {}
        self._files: dict[str, list[File]] = {}
        for folder in folders:
            self._count(folder, (0, 0, 0))
        for tree in self._seen.values():
            self._add(_file(store, tree))
        for file in store.counted_files():
            if file.path not in self._seen:
                self._add(file)

    def _add(self, file: File) -> None:
        folder = folder_of(file.path)
        self._files.setdefault(folder, []).append(file)
        self._count(folder, (file.tokens, 1, file.headlines))

    def _count(self, folder: str, totals: tuple[int, int, int]) -> None:
        """Add to a folder and to those above it."""
        while True:
            if folder not in self._totals:
                self._totals[folder] = [0, 0, 0]
                self._folders.setdefault(folder_of(folder), []).append(folder)
            for at, number in enumerate(totals):
                self._totals[folder][at] += number
            if not folder:
                return
            folder = folder_of(folder)

    def folder(self, path: str = "", above: Part | None = None) -> Part:
        """A folder or a root, as addresses call it; "" for all notes."""
        tokens, files, headlines = self._totals.get(path, [0, 0, 0])
        totals = tokens, files, headlines
        return Part("folder", path, name_of(path) or MEMEX, totals, above, self._in_folder)

    def _in_folder(self, part: Part) -> Iterator[Part]:
        for path in self._folders.get(part.path, ()):
            yield self.folder(path, part)
        for each in self._files.get(part.path, ()):
            totals = (each.tokens, 1, each.headlines)
            yield Part("file", each.path, each.title, totals, part, self._in_file)

    def _in_file(self, part: Part) -> Iterator[Part]:
        try:
            tree = self._seen.get(part.path) or self._store.tree(part.path)
        except OrgctxError:  # it has gone since it was counted
            return
        yield from _children(tree.root, part, _sums(self._store, tree))


def _file(store: Store, tree: Tree) -> File:
    """A file as `Store.counted_files` has it, but for when it was changed."""
    title, tokens = tree.root.title or name_of(tree.path), _sums(store, tree)[-1]
    return File(tree.path, title, len(tree.nodes) - 1, 0, False, tokens)


def _sums(store: Store, tree: Tree) -> list[int]:
    """What the entries in front of each node of a file cost."""
    count = store.counter("tokens", store.encoding(tree.path))
    return list(accumulate((count("".join(node.lines)) for node in tree.nodes), initial=0))


def _part(node: Node, above: Part | None, sums: Sequence[int]) -> Part:
    kind, title = "headline" if node.level else "file", node.title or name_of(node.path)
    headlines = node.end_index - node.index - 1
    totals = (sums[node.end_index] - sums[node.index], int(not node.level), headlines)
    below = partial(_children, node, sums=sums)
    return Part(kind, node.path, title, totals, above, below, node)


def _children(node: Node, above: Part, sums: Sequence[int]) -> Iterator[Part]:
    return (_part(child, above, sums) for child in node.children)


class Row(NamedTuple):
    """A line of the tree.

    kind: "folder", "file" or "headline". address: what lists it, or what to focus on.
    depth: how far below what was asked for, from 0. tokens: of all in it.
    share: of all that was asked for, 0 to 1.
    title: a long one is cut. files, headlines: in it, at any depth.
    """

    kind: str
    address: str
    title: str
    depth: int
    tokens: int
    share: float
    files: int
    headlines: int


class Weighing(NamedTuple):
    """Where the tokens of something are.

    path: as it was asked for. total: tokens of all of it. files, headlines: in it.
    view: what a view of it costs within `budget`, or the least budget that it needs; None for a
        folder.
    rows: the heaviest, each below what holds it. call: the one that goes on, "" at the end.
    cost: of a text.
    """

    path: str
    total: int
    files: int
    headlines: int
    budget: int
    view: int | None
    rows: tuple[Row, ...]
    call: str
    text: str
    cost: Callable[[str], int]

    @property
    def tokens(self) -> int:
        """What the text costs."""
        return self.cost(self.text)


def weigh(
    store: Store,
    path: str,
    limit: Limit,
    lines: int = LINES,
    after: str = "",
    call: Call | None = None,
    shape: Callable[[Weighing], str] | None = None,
) -> Weighing:
    """Tell what the folders, files and headlines in `path` cost, the heaviest first.

    path: a root, folder, file or headline, as `ls` calls it; "" for all notes.
    lines: the most rows, int > 0. after: the address of the last row of the page before, by weight.
    call, shape: see `listing.ls`.
    Returns: Weighing. What is on a page stands below what holds it, the heavier first. Tokens are
        counted in the encoding of each root, private nodes not at all.
    Raises: as `ls`.
    """
    limit.check()
    check_name("path", path)
    check_name("after", after)
    whole("limit", lines, 1)
    store.freshen()
    top = _top(store, path)
    behind = _behind(store, top, path, after)
    parts, names = list(islice(behind, lines + 1)), Names(store)
    addresses = [_address(part, names) for part in parts[:lines]]
    view, count = _view(store, top, limit, names), store.page_counter("tokens", limit.encoding)

    def page(shown: int) -> Weighing:
        more = call or shell_call()
        rest = more({"path": path, "after": addresses[shown - 1]}) if shown < len(parts) else ""
        rows = _tree(parts[:shown], addresses, top)
        found = Weighing(path, *top.totals, limit.budget, view, tuple(rows), rest, "", count)
        return found._replace(text=escaped(_text(found)))

    write = shape or (lambda weighing: weighing.text)
    return page(fit(lambda shown: write(page(shown)), len(addresses), limit, count))


def _top(store: Store, path: str) -> Part:
    """What a path means. Raises: as `ls`."""
    folder = store.folder_named(path) if path else ""
    if folder is None and path == MEMEX:
        folder = ""
    if folder is not None:
        return Parts(store).folder(folder)
    node = resolve_path(store, path)
    return _part(node, None, _sums(store, node.tree))


def _behind(store: Store, top: Part, path: str, after: str) -> Iterator[Part]:
    """The parts of one behind the one that `after` names. Raises: BadArgument if it is no such."""
    parts = by_weight(top)
    if not after:
        return parts
    last = _named(store, after)
    later = dropwhile(lambda part: (part.path, part.line) != last, parts)
    if next(later, None) is None:
        hint = "give an address of the page before, as it stands there"
        raise BadArgument(f"after: {after}: not in {path or MEMEX}", hint, "after")
    return later


def _named(store: Store, address: str) -> tuple[str, int] | None:
    """Path and line of a part; None if nothing is called so."""
    if (folder := store.folder_named(address)) is not None:
        return folder, 0
    try:
        node = resolve(store, address)
    except OrgctxError:
        return None
    return node.path, node.first_line if node.level else 0


def _address(part: Part, names: Names) -> str:
    if part.kind == "folder":
        return f"{part.path}/"
    return names.address(part.node) if part.node and part.line else part.path


def _view(store: Store, top: Part, limit: Limit, names: Names) -> int | None:
    """What a view of a node costs, or needs; None for a folder."""
    if top.node is None:
        return None
    try:
        return focus(store, [names.address(top.node)], limit).tokens
    except BudgetTooSmall as error:
        return error.needed


def _tree(parts: Sequence[Part], addresses: Sequence[str], top: Part) -> Iterator[Row]:
    """The parts as rows, each behind what holds it if that is among them."""
    places = {part: place for place, part in enumerate(parts)}
    held: dict[Part | None, list[Part]] = {}
    for part in parts:
        held.setdefault(part.above if part.above in places else None, []).append(part)
    waiting = held.get(None, [])[::-1]
    while waiting:
        part = waiting.pop()
        waiting += held.get(part, [])[::-1]
        share = part.tokens / top.tokens if top.tokens else 0.0
        place = (part.kind, addresses[places[part]], brief(part.title), part.depth - 1)
        yield Row(*place, part.tokens, share, part.files, part.headlines)


def _text(found: Weighing) -> str:
    view = f"at most {found.budget}" if found.view is None else found.view
    is_of_files = found.files or found.view is None  # a headline is in one
    head = f"{many(found.files, 'file')}, " if is_of_files else ""
    head += f"{many(found.headlines, 'headline')}: "
    head += f"{many(found.total, 'token')} as a whole, {view} in a view\n"
    rest = f"… and what is lighter: {found.call}\n" if found.call else ""
    return head + "".join(map(_line, found.rows)) + rest


def _line(row: Row) -> str:
    where = indent(row.depth) + printable(row.address)
    if not row.address.rstrip("/").replace("\\/", "/").endswith(row.title):
        where += f" — {plain(row.title)}"
    return f"{row.tokens:9} {100 * row.share:5.1f} %  {where}\n"


def shell_call(*words: str) -> Call:
    """The call as a shell wants it. words: options that it repeats."""

    def call(given: Mapping[str, str]) -> str:
        return shell_command("tokens", [given["path"]], [*words, "--after", given["after"]])

    return call


def to_data(weighing: Weighing) -> dict[str, Any]:
    """The weighing as data for JSON."""
    data = weighing._asdict()
    del data["text"], data["cost"]
    rows = [{**each._asdict(), "share": round(each.share, 4)} for each in weighing.rows]
    return {**data, "rows": rows, "tokens": weighing.tokens}
