"""The hits of a query: what is ranked, checked against the notes as they are now."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import cached_property
from operator import itemgetter
from typing import NamedTuple

from ..core.model import Node
from ..errors import OrgctxError
from ..store.names import Names
from ..store.near import get_close_matches
from ..store.store import Store
from ..store.symbols import Symbol
from ..store.titles import outline_path
from ..store.words import Place, Words, is_spaceless, stems
from .handles import addressed, named
from .page import brief, plain
from .ranking import Hit, Ranking, rank

HITS, NEAR = 10, 3
"""How many hits there are at most, and how many titles where there is none."""
WEAK = 0.25
"""What a hit must score against the best."""
RANKED = 100
"""How many nodes are ranked, of which a mode may leave some out."""
NEAR_TITLES = 5000
"""How many titles are compared when no word is found."""
ENOUGH = 0.25
"""The share of a query that a name must have to be told, unless half of it is in the query."""
HANDLES = ("custom_id", "name", "target")
"""What a whole query may be called by, besides addresses."""
GLOSSARIES = ("glossary", "definitions", "术语", "词汇")
"""What a file of definitions is called."""


class Found(NamedTuple):
    """A place that may answer the query.

    path: as addresses have it. inside: the same, relative to its root; where there are several,
    only `path` and `address` say in which. line: 1-based; 0 for a file. address: stable, for focus
    and read. outline: titles from the outermost headline down. score: the sum of its signals.
    """

    path: str
    inside: str
    line: int
    address: str
    title: str
    outline: str
    score: float
    signals: Mapping[str, float]

    @property
    def place(self) -> str:
        """File and line, which is an address, too."""
        return f"{self.path}:{self.line}" if self.line else self.path


class Search:
    """The hits of a query, each checked against its file as it is now."""

    def __init__(
        self, store: Store, words: Words, query: str, mode: str, is_semantic: bool = False
    ) -> None:
        """is_semantic: whether hits are ordered by what they mean, too."""
        self.store, self.words, self.names = store, words, Names(store)
        self._query, self._mode = query, mode
        only = words.defining(GLOSSARIES) if mode == "definitions" else None
        self.ranking: Ranking = rank(words, query, RANKED, only)
        if is_semantic:
            from .meaning import by_meaning  # only who asks for it pays

            self.ranking = by_meaning(store, words, query, self.ranking)
        self._nodes: dict[int, Node | None] = {}
        self._named = named(words, query)
        self._named += self._called()
        handled = list(self._handled())
        self.abstains = not handled and not self.ranking.is_answer
        self.nodes, self.hits = self._hits(handled)
        self.abstains |= not self.hits

    def _handled(self) -> Iterator[Node]:
        """The nodes that the query names."""
        places = self.words.places(self._named)
        nodes = (self._node(places[id_], self._path(places[id_])) for id_ in self._named)
        for node in (*addressed(self.store, self._query), *nodes):
            if node and (self._mode != "entries" or node.level):
                yield node

    def _called(self) -> list[int]:
        """The node in which something has a name that is the whole query, if there is one."""
        whole = self._query.strip().casefold()
        nodes = [
            node
            for node, symbols in self.symbols.items()
            if any(each.kind in HANDLES and each.name.casefold() == whole for each, _ in symbols)
        ]
        return nodes if len(nodes) == 1 and nodes[0] not in self._named else []

    def _hits(self, handled: Sequence[Node]) -> tuple[list[Node], list[Found]]:
        """The hits, the nodes that are named before all that are only likely."""
        likely = () if self.abstains else tuple(filter(self._suits, self.ranking.hits))
        best = likely[0].score if likely else 0.0
        above = {"handle": best + 1}
        found = {
            node: Found(*self._facts(node), best + 1, above) for node in map(self._as, handled)
        }
        for hit in likely:
            if len(found) == HITS or hit.score < WEAK * best:
                break
            if node := self.node(hit):
                shown = self._as(node)
                found.setdefault(shown, Found(*self._facts(shown), hit.score, hit.signals))
        return list(found), list(found.values())

    def _as(self, node: Node) -> Node:
        """What is shown for a node: itself, or its file."""
        return node.tree.root if self._mode == "files" else node

    def _suits(self, hit: Hit) -> bool:
        """Whether the mode wants a hit."""
        if self._mode == "entries":
            return bool(hit.node.level)
        if self._mode != "definitions":
            return True
        name = f"{hit.note.path} {hit.note.title}".casefold()
        has_term = any(each.kind == "term" for each, _ in self.symbols.get(hit.node.id, ()))
        return has_term or any(word in name for word in GLOSSARIES)

    def _facts(self, node: Node) -> tuple[str, str, int, str, str, str]:
        line, title = (node.first_line, node.title) if node.level else (0, title_of(node))
        outline = outline_path(node) if node.level else title
        inside = self.store.path_inside(node.path)
        return node.path, inside, line, self.names.address(node), title, outline

    def node(self, hit: Hit) -> Node | None:
        """The node of a hit as it is now; None if it is not there any more."""
        return self._node(hit.node, hit.note.path)

    def _path(self, place: Place) -> str:
        return self.words.notes([place.file])[place.file].path

    def _node(self, place: Place, path: str) -> Node | None:
        if place.id not in self._nodes:
            self._nodes[place.id] = self._now(place, path)
        return self._nodes[place.id]

    def _now(self, place: Place, path: str) -> Node | None:
        try:
            nodes = self.store.tree(path).nodes
        except OrgctxError:
            return None
        known = (place.title, place.level)
        here = nodes[place.place : place.place + 1]
        if here and (here[0].title, here[0].level, here[0].first_line) == (*known, place.line):
            return here[0]
        same = [node for node in nodes if (node.title, node.level) == known]
        return same[0] if len(same) == 1 else None  # it has changed, and nothing is guessed

    @cached_property
    def symbols(self) -> dict[int, list[tuple[Symbol, int]]]:
        """What entries give a name that the query says, by row; and how many words of it each has.

        A whole ID or CUSTOM_ID has them all.
        """
        likely = (hit.node.id for hit in self.ranking.hits if hit.signals.get("names"))
        nodes = list(dict.fromkeys([*self._named, *likely]))
        known = self.words.symbols(nodes)
        each = [(node, symbol) for node in nodes for symbol in known.get(node, ())]
        terms = self.ranking.terms
        wanted = {t.stem for t in terms if t.kind in ("word", "pair")}
        wanted = wanted or {t.stem for t in terms if t.kind == "character"}
        found: dict[int, list[tuple[Symbol, int]]] = {}
        for (node, symbol), own in zip(each, stems([s.name for _, s in each]), strict=True):
            if said := self._said(symbol, own.split(), wanted):
                found.setdefault(node, []).append((symbol, said))
        return found

    def _said(self, symbol: Symbol, stems: Sequence[str], wanted: Set[str]) -> int:
        """How many words of the query a name has; 0 if it is much neither of it nor of the name."""
        if symbol.kind in ("id", "custom_id") and symbol.name in self._query:
            return len(self.ranking.terms)
        pairs = sum(is_spaceless(each) and each in symbol.name for each in wanted)
        both = len(wanted & set(stems))
        is_much = both >= ENOUGH * len(wanted) or 2 * both >= len(stems)
        return pairs + both if pairs or is_much else 0

    def given(self) -> list[tuple[Node, Symbol]]:
        """Those of them that are still there and in a hit; what says most, and of the best hit."""
        places = self.words.places(self.symbols) if self.hits else {}
        order = {node: number for number, node in enumerate(self.nodes)}
        found: list[tuple[int, int, Node, Symbol]] = []
        for id_, place in places.items():
            node = self._node(place, self._path(place)) if id_ in self.symbols else None
            if node and (number := order.get(self._as(node))) is not None:
                found += [
                    (-said, number, node, symbol)
                    for symbol, said in self.symbols[id_]
                    if self._is_wanted(symbol) and _still_there(symbol, node)
                ]
        found.sort(key=itemgetter(0, 1))
        return [(node, symbol) for _, _, node, symbol in found]

    def _is_wanted(self, symbol: Symbol) -> bool:
        return self._mode != "definitions" or symbol.kind == "term"

    @cached_property
    def near(self) -> tuple[str, ...]:
        """If there is no answer, the titles that are likest."""
        if not self.abstains:
            return ()
        ids = [hit.node.id for hit in self.ranking.hits[: 2 * NEAR]] or list(self._alike())
        places = self.words.places(ids)
        notes = self.words.notes({places[id_].file for id_ in ids})
        nodes = (self._node(places[id_], notes[places[id_].file].path) for id_ in ids)
        titles = dict.fromkeys(title_of(node) for node in nodes if node)
        return tuple(brief(plain(title)) for title in titles)[:NEAR]

    def _alike(self) -> Iterator[int]:
        """Nodes whose titles are spelled much as the query is."""
        known = {title.casefold(): node for node, title in self.words.titles(NEAR_TITLES)}
        for title in get_close_matches(self._query.casefold()[:200], list(known), NEAR, 0.6):
            yield known[title]


def title_of(node: Node) -> str:
    return node.title or node.path.rpartition("/")[2]


def _still_there(symbol: Symbol, node: Node) -> bool:
    known: Iterable[str] = node.ids if symbol.kind == "id" else (node.custom_id or "",)
    if symbol.kind == "tag":
        known = node.tags
    return symbol.name in (known if symbol.kind in ("id", "custom_id", "tag") else node.text)
