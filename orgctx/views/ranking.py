"""Which entries answer a query best, and whether any does: by counting words, and explained.

The index is asked for each term apart. What a node scores is a sum over the terms, each worth the
more the rarer it is: for the text as BM25 has it, for title, names, and what stands above it. On
that comes what is near it in the tree and in links, and, where the query asks for them, keyword and
recency.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from math import log
from typing import NamedTuple

from ..store.words import Note, Place, Words
from .lexicon import common_stems
from .lookup import COVERAGE, POOL, TITLE, TOP, Sought, beside, counted, look_up
from .terms import Term, Terms, terms

NAMES, ABOVE, FILE = 1.0, 0.5, 0.5
"""What a term is worth there, where one in a title is worth `lookup.TITLE`."""
TITLE_WORDS = 4
"""How long a title is whose terms are worth that; those of a longer one are worth less."""
NEAR = 0.25
PARENT, CHILD, LINK = 0.15, 0.25, 0.05
"""What a node gets of its parent's score, of what its children have and it has not, of links."""
WISH = 0.25
"""What is added, as a share of the score, to what is open or recent where the query asks for it."""


ENOUGH, ENOUGH_OF_STRANGE, ENOUGH_OF_SPACELESS = 0.3, 0.7, 0.28
"""The share of a query that one place must have to be an answer; where the query has a strange
word, one that the notes never use and not everybody does; and in a script without spaces."""
TRUSTED = 3
"""Among how many of the best places that is looked for."""
FEW = 100
"""Of how many nodes it says half that none has a word that anybody may use; the more, the more."""
FOREIGN, PAIR = 0.5, 0.4
"""What it says that no note has a word, in a language of which it is not known who may use it; and
what a pair of characters says, of which they say most themselves."""

OPEN_WORDS = frozenset({"open", "unfinished", "pending", "undone", "outstanding", "todo"})
RECENT_WORDS = frozenset({"recent", "recently", "latest", "newest"})


class Hit(NamedTuple):
    """A node that may answer a query. score: the sum of its signals; the higher, the better."""

    node: Place
    note: Note
    score: float
    signals: Mapping[str, float]


class Ranking(NamedTuple):
    """What was found.

    hits: best first. is_answer: whether the best are trusted to be one. covered: the share of the
    query that the best place has. strange: words that no note uses, and not everybody does.
    terms: what was looked for.
    """

    hits: tuple[Hit, ...] = ()
    is_answer: bool = False
    covered: float = 0.0
    strange: tuple[str, ...] = ()
    terms: tuple[Term, ...] = ()


def rank(words: Words, query: str, most: int, only: Set[int] | None = None) -> Ranking:
    """Find the nodes that answer a query best.

    words: of the notes that are looked in. query: any text. most: int > 0, how many hits.
    only: the nodes that may be hits, besides those above them; None for all.
    Returns: Ranking; the same for the same notes and query.
    """
    asked, total = terms(query), words.total()
    if not asked.terms or not total:
        return Ranking(terms=asked.terms)
    with words.searched() as own:
        return _ranked(own, asked, total, most, only)


def _ranked(words: Words, asked: Terms, total: int, most: int, only: Set[int] | None) -> Ranking:
    found = [counted(words, term, total) for term in asked.terms]
    best = look_up(words, found, only)
    board = _Board(words.places(best), found)
    board.add_near(beside(words, asked, found, best))
    board.add_tree()
    board.add_links(words.links(board.best(TOP)))
    asks = {term.text for term in asked.terms}
    board.add_open(bool(asks & OPEN_WORDS))
    hits = _hits(board, words, bool(asks & RECENT_WORDS), most)
    covered, strange = _evidence(found, board, hits[:TRUSTED], total, asked.is_foreign)
    is_spaceless = any(term.kind == "pair" for term in asked.terms)
    enough = ENOUGH_OF_SPACELESS if is_spaceless else ENOUGH
    enough = ENOUGH_OF_STRANGE if strange else enough
    return Ranking(tuple(hits), covered >= enough, covered, strange, asked.terms)


# --- What nodes score ----------------------------------------------------------------------------


class _Board:
    """What some nodes and those above them score, by signal."""

    def __init__(self, places: Mapping[int, Place], found: Sequence[Sought]) -> None:
        self.places, self._found = places, found
        self._whole = sum(each.rarity for each in found if each.is_telling) or 1.0
        self._worth = {node: dict(self._own(place)) for node, place in places.items()}
        self.signals = {node: self._signals(place) for node, place in places.items()}

    def score(self, node: int) -> float:
        """All of its signals."""
        return sum(self.signals[node].values())

    def best(self, most: int) -> list[int]:
        """The nodes that score best."""
        ranked = sorted(self.signals, key=lambda node: (-round(self.score(node), 6), node))
        return ranked[:most]

    def above(self, node: int) -> Iterator[int]:
        """The nodes above one, the nearest first; the file last."""
        while node := self.places[node].parent:
            yield node

    def share(self, each: Sought, node: int) -> float:
        """How far a node or what stands above it has a term."""
        return max(each.share(node), *(each.in_head(above) for above in self.above(node)), 0.0)

    def _own(self, place: Place) -> Iterator[tuple[int, dict[str, float]]]:
        """Number of a term -> what the node's own words are worth for it, by signal."""
        title_factor = 2 / (1 + max(len(place.title.split()), 1) / TITLE_WORDS)
        for number, each in enumerate(self._found):
            if each.share(place.id):
                title = 1.0 if place.id in each.title else 0.0
                names = 1.0 if place.id in each.names else 0.0
                title = max(title, 0.0 if names else each.in_head(place.id))
                yield (
                    number,
                    {
                        "text": each.rarity * each.in_text(place.id),
                        "title": each.rarity * TITLE * title_factor * title,
                        "names": each.rarity * NAMES * names,
                    },
                )

    def _signals(self, place: Place) -> dict[str, float]:
        """What a node scores by its words and those above it, taken by the share of the query."""
        sums, covered = defaultdict[str, float](float), 0.0
        own = self._worth[place.id]
        above = list(self.above(place.id)) if own else []
        for number, each in enumerate(self._found):
            inherited = self._inherited(each, above)
            if each.is_telling and (number in own or inherited):
                covered += each.rarity
            sums["above"] += each.rarity * inherited
            for signal, value in own.get(number, {}).items():
                sums[signal] += value
        factor = (covered / self._whole) ** COVERAGE
        return {signal: value * factor for signal, value in sums.items() if value}

    @staticmethod
    def _inherited(each: Sought, above: Sequence[int]) -> float:
        """What a term is worth that is in what stands above a node, before its rarity."""
        if not above:
            return 0.0
        *headlines, file = above
        in_headline = max((each.in_head(node) for node in headlines), default=0.0)
        return ABOVE * in_headline + FILE * each.in_head(file)

    def add_near(self, beside: Iterable[tuple[float, Iterable[int]]]) -> None:
        """Add what terms are worth that stand side by side as in the query."""
        for rarity, nodes in beside:
            for node in nodes:
                self._add(node, "near", NEAR * rarity)

    def add_tree(self) -> None:
        """Add what is due to a node's parent and children."""
        scores = {node: self.score(node) for node in self.signals}
        below = defaultdict[int, dict[int, float]](dict)
        for node, place in self.places.items():
            if place.parent and self.places[place.parent].level:
                self._add(node, "parent", PARENT * scores[place.parent])
            best = below[place.parent]
            for number, worth in self._worth[node].items():
                best[number] = max(best.get(number, 0.0), sum(worth.values()))
        for node in below.keys() - {0}:
            own = {number: sum(worth.values()) for number, worth in self._worth[node].items()}
            more = (max(0.0, v - own.get(number, 0.0)) for number, v in below[node].items())
            self._add(node, "children", CHILD * sum(more))

    def add_links(self, links: Iterable[tuple[int, int]]) -> None:
        """Add what is due to nodes that link to one another."""
        scores = {node: self.score(node) for node in self.signals}
        for one, other in links:
            self._add(one, "links", LINK * scores.get(other, 0.0))
            self._add(other, "links", LINK * scores.get(one, 0.0))

    def add_open(self, is_wanted: bool) -> None:
        """Prefer what has an open keyword."""
        for node, place in self.places.items():
            if is_wanted and place.is_open:
                self._add(node, "state", WISH * self.score(node))

    def add_recency(self, ages: Mapping[int, float]) -> None:
        """Prefer what changed last. ages: file -> 0 for the newest, 1 for the oldest."""
        for node, place in self.places.items():
            if place.file in ages:
                self._add(node, "recency", WISH * (1 - ages[place.file]) * self.score(node))

    def _add(self, node: int, signal: str, value: float) -> None:
        if value and node in self.signals:
            own = self.signals[node]
            own[signal] = own.get(signal, 0.0) + value


def _hits(board: _Board, words: Words, is_recency_wanted: bool, most: int) -> list[Hit]:
    """The best nodes; those that score the same in the order of files and lines."""
    files = {board.places[node].file for node in board.best(POOL)}
    notes = words.notes(sorted(files))
    if is_recency_wanted:
        newest = sorted(notes, key=lambda file: (-notes[file].changed, notes[file].path))
        board.add_recency({file: at / len(newest) for at, file in enumerate(newest)})
    hits = [
        Hit(place, notes[place.file], score, board.signals[node])
        for node in board.best(POOL)
        if (score := round(board.score(node), 4)) > 0 and (place := board.places[node])
    ]
    return in_order(hits)[:most]


def in_order(hits: Iterable[Hit]) -> list[Hit]:
    """The best first; those that score the same in the order of files and lines."""
    return sorted(hits, key=lambda hit: (-hit.score, hit.note.path, hit.node.place))


# --- Whether it is an answer ---------------------------------------------------------------------


def _evidence(
    found: Sequence[Sought], board: _Board, hits: Iterable[Hit], total: int, is_foreign: bool
) -> tuple[float, tuple[str, ...]]:
    """The share of the query that one place has; and the query's strange words."""
    telling = [each for each in found if each.is_telling]
    unseen = [each for each in telling if not each.is_seen and each.term.kind == "word"]
    common = common_stems() if unseen else frozenset[str]()
    if is_foreign:  # what everybody uses is not known
        common = frozenset(each.term.stem for each in unseen)
    worth = FOREIGN if is_foreign else total / (total + FEW)
    says = [_says(each, total, worth if each.term.stem in common else 1.0) for each in telling]
    covered = (
        sum(w * board.share(each, hit.node.id) for each, w in zip(telling, says, strict=True))
        for hit in hits
    )
    strange = tuple(each.term.text for each in unseen if each.term.stem not in common)
    return max(covered, default=0.0) / (sum(says) or 1.0), strange


def _says(each: Sought, total: int, worth: float) -> float:
    """How much it says that a place has a term. worth: of one that no note has."""
    if each.term.kind == "pair":
        return PAIR * each.rarity
    if each.is_seen or each.term.kind != "word":
        return each.rarity
    return worth * log(1 + (total + 0.5) / 0.5)
