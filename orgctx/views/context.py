"""One question, one bundle: where to look, what is there, and what to read next."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import starmap
from typing import Any, NamedTuple

from ..core.entry import many
from ..core.frame import folder_of
from ..core.heading import printable
from ..core.model import Node
from ..errors import BadArgument
from ..store.store import Store
from ..store.symbols import Symbol
from .collecting import Collections, confined, within
from .collecting import searched as told_of
from .maps import outline_map
from .page import brief, fit, plain, readable
from .routing import Found, Search, title_of
from .shell import shell_command
from .view import Limit, choose

MODES = ("all", "definitions", "entries", "files")
PLACES, SYMBOLS = 3, 5
"""How many hits a bundle maps, and how many names it tells, at most."""
STRONG = 0.5
"""What a hit must score against the best to be mapped."""
MAP_CHARS, SMALL_MAP_CHARS = 800, 1
INDEXES, MAPS, FILES, NAMES = (
    *("relevant indexes", "relevant maps", "likely files", "relevant symbols"),
)
"""The sections between the query, which is first, and the instructions, which are last."""
NEAR = "query"
"""The section that has the titles that are near, if there is no answer."""


class Searched(NamedTuple):
    """Where was looked. rank, ranks: in which of how many. told: a sentence of it, or nothing."""

    rank: int = 0
    ranks: int = 1
    told: str = ""


EVERYWHERE = Searched()


class Row(NamedTuple):
    """A line of a section, or a map. hit: the number of the hit that the line is; -1 for none."""

    section: str
    text: str
    hit: int = -1


class Bundle(NamedTuple):
    """An answer.

    query: in one line. hits: best first; none if it abstains, which it does where the notes do not
    seem to hold an answer. near: titles that are likest then. rows: of all sections. searched:
    where. calls: what to run next, in order: to list, to focus, to read.
    is_explained: whether scores are told by signal. text: as Org. cost: of a text.
    """

    query: str
    hits: tuple[Found, ...]
    abstained: bool
    near: tuple[str, ...]
    rows: tuple[Row, ...]
    searched: Searched
    calls: tuple[str, ...]
    is_explained: bool
    text: str
    cost: Callable[[str], int]

    @property
    def tokens(self) -> int:
        """What the text costs, in the limit's unit."""
        return self.cost(self.text)


Shape = Callable[[Bundle], str]
Caller = Callable[[str, Mapping[str, Any]], str]
"""How a call is written: (command, arguments by name) -> the call."""


def context(
    store: Store,
    query: str,
    limit: Limit,
    mode: str = "all",
    shape: Shape | None = None,
    explain: bool = False,
    searched: Searched = EVERYWHERE,
    call: Caller | None = None,
    semantic: bool | None = None,
) -> Bundle:
    """Find where the notes answer a query, and say what to read.

    query: any text with a word in it. mode: "definitions", "entries" or "files" for these alone.
    shape: how the bundle is written, by default as Org; that is what the budget holds for.
    explain: whether to tell how each score comes about.
    searched: the rank to which the store is confined; see `narrowed`.
    call: how the calls that are proposed are written, by default for a shell.
    Returns: Bundle; what does not fit gives way from the weakest hit up.
    Raises: BadArgument for a query without a word; BudgetTooSmall; Unreadable if it is to be
        semantic and the extra is not installed.
    """
    from .bundle import to_org  # it writes what is made here

    limit.check()
    choose("mode", mode, MODES)
    asked = _line(query)
    query = query.encode("utf-8", "replace").decode()  # a command line may hold what is no text
    store.freshen()
    search = Search(store, store.words(), query, mode, _is_semantic(store, semantic))
    rows, write = list(_rows(search)), shape or to_org
    least = 0 if search.abstains else 1
    calls = tuple(starmap(call or shell_call(), _calls(search)))
    count = store.page_counter(limit.unit, limit.encoding)

    def bundle(shown: int) -> Bundle:
        kept = tuple(rows[:shown])
        hits = tuple(search.hits[: len({row.hit for row in kept} - {-1})])
        near = tuple(row.text for row in kept if row.section == NEAR)
        made = Bundle(asked, hits, search.abstains, near, kept, searched, calls, explain, "", count)
        return made._replace(text=to_org(made))

    rows_shown = fit(lambda shown: write(bundle(shown)), len(rows), limit, count, "context", least)
    return bundle(rows_shown)


def _is_semantic(store: Store, asked: bool | None) -> bool:
    """Whether hits are to be ordered by what they mean."""
    if asked is None and any(each.semantic for each in (*store.configs.values(), store.config)):
        from .meaning import is_installed  # only who wants it pays

        return is_installed()
    return bool(asked)


def narrowed(
    store: Store, known: Collections, rank: int | None, collection: Sequence[str]
) -> tuple[Store, Searched]:
    """The store, confined to a rank, by default the first; or to collections by name.

    known: see `collected`.
    Raises: NotFound for a name, OutOfRange behind the last rank, BadArgument for both at once.
    """
    if collection or store.scope is not None:
        return confined(store, known, rank, collection), EVERYWHERE
    found = known.rank(rank or 0)
    told = told_of(known, found) if known.all else ""
    return within(store, found.collections), Searched(found.number, len(known.ranks), told)


def _line(query: str) -> str:
    """The query in one line that is not too long. Raises: BadArgument if there is no word in it."""
    if not isinstance(query, str):
        raise BadArgument(f"query {query!r}: give a text", where="query")
    if not any(char.isalnum() for char in query):
        raise BadArgument("query: no word in it", "say what you look for", "query")
    return brief(printable(" ".join(query.split())))


# --- What is said of it --------------------------------------------------------------------------


def _rows(search: Search) -> Iterator[Row]:
    """All that a bundle says, what gives way last first."""
    yield from (Row(NEAR, title) for title in search.near)
    places = _places(search)
    lines = [Row(FILES, _hit_line(hit), at) for at, hit in enumerate(search.hits)]
    indexes = list(dict.fromkeys(line for at in places for line in _index_lines(search, at)))
    yield from lines[:1]
    yield from (Row(INDEXES, line) for line in indexes[:1])
    yield from lines[1 : len(places)]
    yield from (Row(INDEXES, line) for line in indexes[1:])
    yield from _maps(search, places, SMALL_MAP_CHARS)
    yield from lines[len(places) :]
    yield from (Row(NAMES, line) for line in _symbol_lines(search))
    yield from _maps(search, places, MAP_CHARS)


def _places(search: Search) -> list[int]:
    """The hits that are mapped."""
    best = search.hits[0].score if search.hits else 0.0
    strong = [at for at, hit in enumerate(search.hits) if hit.score >= STRONG * best]
    return strong[:PLACES]


def _hit_line(hit: Found) -> str:
    return f"{printable(hit.place)} — {brief(printable(hit.outline))}"


def _index_lines(search: Search, at: int) -> Iterator[str]:
    """The file of a hit, and its folder."""
    node = search.nodes[at].tree.root
    parts = [title_of(node), many(len(node.tree.nodes) - 1, "headline"), _opening(node)]
    yield " — ".join([printable(node.path), *(brief(plain(each)) for each in parts if each)])
    name = folder_of(node.path)
    if folder := search.store.folder(name):
        counts = f"{many(folder.files, 'file')}, {many(folder.headlines, 'headline')}"
        said = f": {printable(folder.summary)}" if folder.summary else ""
        yield f"{printable(name)}{'/' if name else './'} — {counts}{said}"


def _opening(node: Node) -> str:
    """The first line of a file's own text that is a sentence of it."""
    lines = (line.strip() for line in node.text[:2000].split("\n"))
    return next((line for line in lines if line[:1].isalnum()), "")


def _maps(search: Search, places: Sequence[int], chars: int) -> Iterator[Row]:
    """A map of each file that a place is in."""
    files: dict[str, list[Node]] = {}
    for at in places:
        node = search.nodes[at]
        files.setdefault(node.path, []).append(node)
    for nodes in files.values():
        yield Row(MAPS, readable(outline_map(search.names, nodes, chars)))


def _symbol_lines(search: Search) -> Iterator[str]:
    """What entries give a name that the query has a word of; the best entries' first."""
    said: dict[str, None] = {}
    for node, symbol in search.given():
        said.setdefault(f"{plain(symbol.name)} — {symbol.kind} — {_of(symbol, node)}")
        if len(said) == SYMBOLS:
            break
    return iter(said)


def _of(symbol: Symbol, node: Node) -> str:
    return printable(f"{node.path}:{symbol.line or node.first_line}")


def _calls(search: Search) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """What to run next: list, focus, read; without an answer, what may find one."""
    if search.abstains:
        yield "ls", {}
        return
    best, folder = search.hits[0], folder_of(search.hits[0].path)
    yield "ls", {"path": f"{folder}/"} if folder else {}
    yield "focus", {"addresses": [best.address]}
    yield "read", {"address": best.address, "subtree": True}


def shell_call(*words: str) -> Caller:
    """The calls as a shell wants them. words: options that each repeats."""

    def call(command: str, arguments: Mapping[str, Any]) -> str:
        flags = [f"--{name}" for name, value in arguments.items() if value is True]
        texts = [[each] if isinstance(each, str) else each for each in arguments.values()]
        places = [place for each in texts if each is not True for place in each]
        return shell_command(command, places, [*flags, *words])

    return call
