"""One level of the memex at a time: roots, folders, files, headlines."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from ..core.entry import many
from ..core.frame import MEMEX
from ..core.heading import printable
from ..core.model import Node
from ..errors import BadArgument, NotFound
from ..store.address import resolve
from ..store.names import Names
from ..store.roots import check_name, escaped, name_of
from ..store.store import File, Folder, Store, fact_of
from .page import Call, brief, fit
from .shell import shell_command
from .totals import Totals, to_line, totals
from .view import Limit, choose, whole

LINES = 50
TAGS = 10
NAMED = 20
"""How many folders a refusal names."""
DEEPEST = 100
"""How deep a refusal looks for the folder to which a path still leads: each look costs as much."""
KINDS = ("all", "folder", "file")

_NODE = re.compile(r"\.org(?:_archive)?(?::|\Z)|::|\A(?:id:|#|\[\[)")
"""What is meant to be a file or a headline."""


class Row(NamedTuple):
    """A line of a listing.

    kind: "root", "folder", "file" or "headline". address: what lists it, or what to focus on.
    files, headlines: how many it holds at any depth. tokens: of all its text; None where it is not
        known without reading all of it.
    title, todo, tags: long ones are cut. tags: the first `TAGS`. other_tags: how many more it has.
    totals: of keywords, tags and dates in all of it; None if nobody asked for them.
    """

    kind: str
    address: str
    title: str
    files: int
    headlines: int
    tokens: int | None = None
    summary: str = ""
    todo: str | None = None
    tags: tuple[str, ...] = ()
    other_tags: int = 0
    is_commented: bool = False
    totals: Totals | None = None


class Rest(NamedTuple):
    """What a listing leaves out: of which kind, how many, and the call that goes on."""

    kind: str
    more: int
    call: str


class Listing(NamedTuple):
    """One level. path: as it was asked for. rows: folders before files. cost: of a text."""

    path: str
    rows: tuple[Row, ...]
    rest: tuple[Rest, ...]
    text: str
    cost: Callable[[str], int]

    @property
    def tokens(self) -> int:
        """What the text costs, in the limit's unit."""
        return self.cost(self.text)


class _Part(NamedTuple):
    """Rows of one kind. total: how many there are from the first row on."""

    kind: str
    rows: list[Row]
    total: int


def ls(
    store: Store,
    path: str,
    limit: Limit,
    lines: int = LINES,
    kind: str = "all",
    after: str = "",
    call: Call | None = None,
    shape: Callable[[Listing], str] | None = None,
    is_long: bool = False,
) -> Listing:
    """List what is one level below `path`.

    path: a root, folder, file or headline, as the listing above it calls it; "" for the roots.
    lines: the most of one kind, int > 0. kind: "folder" or "file" for these alone.
    after: an address of the page before; goes on behind it.
    call: how one that goes on is written, by default for a shell. shape: how the listing is, by
        default as its text; that is what the budget holds for. is_long: whether each row has its
        totals.
    Returns: Listing; folders and files in path order, headlines in document order. What does not
        fit is counted, with the call that goes on.
    Raises: NotFound, which names what is there instead; Ambiguous, BadArgument, BudgetTooSmall.
    """
    limit.check()
    check_name("path", path)
    check_name("after", after)
    whole("limit", lines, 1)
    choose("kind", kind, KINDS)
    store.freshen()
    tokens = store.counter("tokens", limit.encoding)
    count = store.page_counter(limit.unit, limit.encoding)
    every = _Level(store, lines, after, tokens, is_long).parts(path)
    parts = [part for part in every if kind in ("all", part.kind)]
    rows = [row for part in parts for row in part.rows]

    def page(shown: int) -> Listing:
        rest = tuple(_rest(path, parts, rows[:shown], after, call or shell_call()))
        text = "".join([*map(_line, rows[:shown]), *map(_rest_line, rest)])
        text = text or f"nothing {f'behind {after}' if after else f'below {path}'}\n"
        return Listing(path, tuple(rows[:shown]), rest, escaped(text), count)

    write = shape or (lambda listing: listing.text)
    return page(fit(lambda shown: write(page(shown)), len(rows), limit, count))


class _Level(NamedTuple):
    """What is one level below something, by kind, from behind `after` on. tokens: of a text."""

    store: Store
    lines: int
    after: str
    tokens: Callable[[str], int]
    is_long: bool

    def parts(self, path: str) -> list[_Part]:
        """What is below a path. Raises: as `ls`."""
        folder = self.store.folder_named(path) if path else None
        if not path or (path == MEMEX and folder is None):
            return [self._roots()]
        if folder is None:
            return [self._headlines(resolve_path(self.store, path))]
        if self.after and self.after.rstrip("/").rpartition("/")[0] != folder:
            raise _no_page(self.after, path)
        folders, more = self.store.folders_in(folder, self.lines, self.after.rstrip("/"))
        files, others = self.store.files_in(folder, self.lines, self.after)
        return [
            _Part("folder", [self._whole(_of_folder(each), each.path) for each in folders], more),
            _Part("file", [self._whole(_of_file(each), each.path) for each in files], others),
        ]

    def _whole(self, row: Row, path: str) -> Row:
        """The row of a file or folder, with totals if they are wanted."""
        return row._replace(totals=totals(self.store.facts(path))) if self.is_long else row

    def _roots(self) -> _Part:
        rows = [self._whole(_root(self.store, top), top) for top in self.store.tops]
        places = {row.address: place for place, row in enumerate(rows, 1)}
        if self.after and self.after not in places:
            raise _no_page(self.after, "the roots")
        place = places.get(self.after, 0)
        return _Part("root", rows[place : place + self.lines], len(rows) - place)

    def _headlines(self, node: Node) -> _Part:
        names, behind = Names(self.store), 0
        if self.after:
            last = resolve(self.store, self.after)
            behind = last.first_line
            if last.path != node.path:
                raise _no_page(self.after, node.path)
        later = [child for child in node.children if child.first_line > behind]
        rows = [self._headline(child, names) for child in later[: self.lines]]
        return _Part("headline", rows, len(later))

    def _headline(self, node: Node, names: Names) -> Row:
        below = node.tree.nodes[node.index : node.end_index]
        return Row(
            "headline",
            names.address(node),
            brief(node.title),
            files=0,
            headlines=len(below) - 1,
            tokens=sum(self.tokens("".join(each.lines)) for each in below),
            todo=brief(node.todo) if node.todo else None,
            tags=tuple(map(brief, node.tags[:TAGS])),
            other_tags=max(0, len(node.tags) - TAGS),
            is_commented=node.is_commented,
            totals=totals(map(fact_of, below)) if self.is_long else None,
        )


def _no_page(after: str, path: str) -> BadArgument:
    hint = "give an address of the page before, as it stands there"
    return BadArgument(f"after: {after}: not in {path}", hint, "after")


def resolve_path(store: Store, path: str) -> Node:
    """The node at a path that is no folder's.

    Raises: as `resolve`, but of what looks like a folder NotFound says which folders there are.
    """
    try:
        return resolve(store, path)
    except NotFound as error:
        if _NODE.search(path):
            raise
        raise _no_folder(store, path) from error


def _no_folder(store: Store, path: str) -> NotFound:
    """A refusal that says what there is: the roots, or the folders where the path still leads."""
    above = "/".join(path.rstrip("/").split("/")[:-1][:DEEPEST])
    while above and store.folder_named(above) is None:
        above = above.rpartition("/")[0]
    roots = f"the roots are: {', '.join(root.name for root in store.roots)}"
    if above:
        return NotFound(f"{path}: no such folder", _folders_in(store, above), path)
    if len(store.roots) > 1:
        return NotFound(f"{path}: no such root", roots, path)
    hint = f"{roots}; {_folders_in(store, store.roots[0].name)}"
    return NotFound(f"{path}: no such root or folder", hint, path)


def _folders_in(store: Store, path: str) -> str:
    """What a refusal says of the folders in one."""
    folders, count = store.folders_in(store.folder_named(path) or "", NAMED)
    names = [f"{each.path}/" for each in folders]
    names += [f"{count - len(names)} more"] if count > len(names) else []
    return f"the folders in {path}/ are: {', '.join(names)}" if names else f"{path}/ has no folder"


def _root(store: Store, top: str) -> Row:
    found = store.folder(top) or Folder(top, 0, 0, "")
    name = top or store.roots[0].name
    address = "." if not top and store.folder(name) else name  # a folder of that name comes first
    return Row("root", address, name, found.files, found.headlines, summary=found.summary)


def _of_folder(folder: Folder) -> Row:
    path, files, headlines, summary = folder
    return Row("folder", path + "/", name_of(path), files, headlines, None, summary)


def _of_file(file: File) -> Row:
    return Row("file", file.path, brief(file.title), 1, file.headlines, file.tokens)


def _rest(
    path: str, parts: Iterable[_Part], rows: list[Row], after: str, call: Call
) -> Iterator[Rest]:
    """What is left of each kind behind these rows. call: how one that goes on is written."""
    shown = Counter(row.kind for row in rows)
    for part in parts:
        if more := part.total - shown[part.kind]:
            last = next((r.address for r in reversed(rows) if r.kind == part.kind), after)
            kind = part.kind if part.kind in KINDS else ""
            yield Rest(part.kind, more, call({"path": path, "kind": kind, "after": last}))


def shell_call(*words: str) -> Call:
    """The call as a shell wants it. words: options that it repeats."""

    def call(given: Mapping[str, str]) -> str:
        options = [*words, *(["--kind", given["kind"]] if given["kind"] else [])]
        options += ["--after", given["after"]] if given["after"] else []
        return shell_command("ls", [given["path"]], options)

    return call


def _rest_line(rest: Rest) -> str:
    more = f"… and {many(rest.more, f'more {rest.kind}')}"
    if rest.kind == "file":
        more += " in this folder: use grep PATTERN to find a specific one, or"
    else:
        more += ":"
    return f"{more} {rest.call}\n"


def _line(row: Row) -> str:
    return _own_line(row) + (to_line(row.totals) if row.totals else "")


def _own_line(row: Row) -> str:
    headlines = many(row.headlines, "headline")
    title = printable(row.title)
    if row.kind == "file":
        return (
            f"{printable(row.address)} — {title} — {headlines}, {many(row.tokens or 0, 'token')}\n"
        )
    if row.kind == "headline":
        tags = f":{':'.join(row.tags)}:" if row.tags else ""
        tags += f" and {many(row.other_tags, 'other tag')}" if row.other_tags else ""
        comment = "COMMENT" if row.is_commented else ""
        title = " ".join(filter(None, (row.todo, comment, title, tags)))
        return (
            f"{printable(row.address)} — {title} — {headlines}, {many(row.tokens or 0, 'token')}\n"
        )
    summary = printable(row.summary)
    counts = f"{printable(row.address)} — {many(row.files, 'file')}, {headlines}"
    if row.kind == "folder":
        return f"{counts}: {summary}\n" if summary else f"{counts}\n"
    return f"{counts}\n" + (f"  {summary}\n" if summary else "")


def to_data(listing: Listing) -> dict[str, Any]:
    """The listing as data for JSON."""
    return {
        "path": listing.path,
        "rows": [_row_data(row) for row in listing.rows],
        "rest": [each._asdict() for each in listing.rest],
        "tokens": listing.tokens,
    }


def _row_data(row: Row) -> dict[str, Any]:
    data = row._asdict()
    if row.totals:
        dates = {key: each._asdict() for key, each in row.totals.dates.items()}
        data["totals"] = {**row.totals._asdict(), "dates": dates}
    return data
