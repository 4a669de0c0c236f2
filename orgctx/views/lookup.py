"""What the index knows of the terms of a query: where they are, and which nodes are likely."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field
from heapq import nsmallest
from math import log

from ..store.words import Words
from .terms import Term, Terms

TITLE = 1.5
"""What a term is worth there; in the text it is worth up to 2.2, which is BM25's k1 + 1."""
ALSO = 0.5
"""What a word is worth that stands for the one that was asked for."""
COVERAGE = 0.5
"""The power to which the share of the query that a node has is taken, as a factor."""
SATURATION, BY_SIZE = 1.2, 0.75
"""BM25's k1 and b: how soon more of a term is worth no more, and how far that hangs on the size."""
USUAL_SIZE = 800
"""Characters of an entry in which a term is worth what it is. BM25 has the mean of all entries, but
then a score would hang on notes that have nothing to do with it."""
ROWS, OCCURRENCES = 2000, 10_000
"""In how many nodes terms may be, all together, to be looked for everywhere; and how many places of
one are told apart, of those that it has in them."""
POOL, TOP = 100, 100
"""How many nodes are weighed against each other; and among how many of them links are looked for,
and what is too frequent for `ROWS`."""
RARE = 1000
"""How often a term may be there, that all places are looked at where it stands beside another."""


@dataclass
class Sought:
    """A term, and where the index has it.

    count: in how many nodes. rarity: what it is worth. text: node -> what it is worth in the text,
    0 to 2.2, or at first how often it is there. title, names: nodes. also, also_head: nodes that
    have in the text, or in title or names, what stands for it.
    """

    term: Term
    count: int
    rarity: float
    text: dict[int, float] = field(default_factory=dict)
    title: set[int] = field(default_factory=set)
    names: set[int] = field(default_factory=set)
    also: set[int] = field(default_factory=set)
    also_head: set[int] = field(default_factory=set)

    @property
    def is_telling(self) -> bool:
        """Whether it says what is asked for; a function word does not."""
        return self.term.kind != "function"

    @property
    def is_seen(self) -> bool:
        """Whether any note has it, or what stands for it."""
        return bool(self.count or self.also or self.also_head)

    @property
    def nodes(self) -> set[int]:
        """All nodes that have it, or what stands for it."""
        return self.text.keys() | self.title | self.names | self.also | self.also_head

    @property
    def size(self) -> int:
        """How many rows that took."""
        return sum(map(len, (self.text, self.title, self.names, self.also, self.also_head)))

    def parts(self) -> Iterator[tuple[set[int], float]]:
        """Nodes that have it elsewhere than in the text, and what it is worth there."""
        yield self.title | self.names, TITLE
        yield self.also_head - self.title - self.names, TITLE * ALSO
        yield self.also - self.text.keys(), ALSO

    def in_head(self, node: int) -> float:
        """How far title or names have it: all, what stands for it, or nothing."""
        if node in self.title or node in self.names:
            return 1.0
        return ALSO if node in self.also_head else 0.0

    def in_text(self, node: int) -> float:
        """What it is worth in the text, before its rarity."""
        return self.text.get(node, ALSO if node in self.also else 0.0)

    def share(self, node: int) -> float:
        """How far a node's own words have it; that a long text has it once is less."""
        return max(min(self.in_text(node), 1.0), self.in_head(node))


def counted(words: Words, term: Term, total: int) -> Sought:
    """A term and how rare it is."""
    count = min(words.count(term.match), total)
    return Sought(term, count, term.weight * log(1 + (total - count + 0.5) / (count + 0.5)))


def look_up(words: Words, found: Sequence[Sought], only: Set[int] | None = None) -> list[int]:
    """Look for each term, the rarest first. Returns: the best `POOL` nodes, roughly.

    only: the nodes that are wanted; None for all.

    All places of a term are looked at, or none but those of nodes that are likely anyway: what the
    index happens to have first is no better than the rest.
    """
    left, waiting, others = ROWS, list[Sought](), list[Sought]()
    for each in sorted(found, key=lambda each: each.count):
        if each.count > left:
            waiting.append(each)
            continue
        _look_everywhere(words, each)
        if not _look_for_others(words, each, left - each.size):
            others.append(each)
        left = max(left - each.size, 0)
    _weigh(words, found)
    best = _rough(found, only)
    if not waiting and not others:
        return best
    more = _together(words, waiting) if len(best) < TOP else ()
    nodes = dict.fromkeys([*best[:TOP], *more])
    with words.excerpt(list(nodes)) as few:
        for each in waiting:
            _look_everywhere(few, each)
        for each in others:
            _look_for_others(few, each, len(nodes))
    _weigh(words, waiting)
    return _rough(found, only)


def _look_everywhere(words: Words, each: Sought) -> None:
    """Look for a term; the text has how often it is there.

    A function word is looked for in the text alone, as prose has them: no title is about one.
    """
    _look_in_all(words, each)
    if not each.is_telling:
        each.title, each.names = set(), set()


def _look_in_all(words: Words, each: Sought) -> None:
    match = each.term.match
    if each.count and each.term.kind in ("word", "function") and " " not in each.term.stem:
        rows = words.occurrences(each.term.stem, OCCURRENCES)
        places = Counter(rows)
        each.text = {node: times for (node, part), times in places.items() if part == "body"}
        each.title = {node for node, part in places if part == "title"}
        each.names = {node for node, part in places if part == "names"}
        if len(rows) < OCCURRENCES:
            return
    if each.count:
        inside = words.nodes(f"{{body}}: {match}", each.count)
        each.text = {node: each.text.get(node, 1.0) for node in inside}
        each.title = set(words.nodes(f"{{title}}: {match}", each.count))
        each.names = set(words.nodes(f"{{names}}: {match}", each.count))


def _look_for_others(words: Words, each: Sought, most: int) -> bool:
    """Look for what stands for a term, unless that is in more than `most` nodes, which is told."""
    also = _also(each)
    if also and words.count(also) > most:
        return False
    if also:
        each.also = set(words.nodes(f"{{body}}: {also}", most))
        each.also_head = set(words.nodes(f"{{title names}}: {also}", most))
    return True


def _also(each: Sought) -> str:
    """An expression for what stands for a term; "" for nothing."""
    return f"({' OR '.join(each.term.also)})" if each.term.also else ""


def _together(words: Words, waiting: Iterable[Sought]) -> Iterator[int]:
    """Nodes that have all of some terms that are nearly everywhere, the first few.

    Those that have them in the title come first. Function words do not count.
    """
    if matches := [each.term.match for each in waiting if each.is_telling]:
        together = f"({' AND '.join(matches)})"
        yield from words.nodes(f"{{title}}: {together}", POOL)
        yield from words.nodes(together, TOP)


def _weigh(words: Words, found: Iterable[Sought]) -> None:
    """From how often a term is in a text to what that is worth: as BM25, but for `USUAL_SIZE`."""
    sizes = words.sizes({node for each in found for node in each.text})
    for each in found:
        for node, times in each.text.items():
            length = 1 - BY_SIZE + BY_SIZE * sizes[node] / USUAL_SIZE
            each.text[node] = times * (SATURATION + 1) / (times + SATURATION * length)


def _rough(found: Sequence[Sought], only: Set[int] | None) -> list[int]:
    """The nodes that score best by their own words, of those that not only have function words."""
    scores, covered = defaultdict[int, float](float), defaultdict[int, float](float)
    for each in found:
        for nodes, worth in each.parts():
            for node in nodes:
                scores[node] += each.rarity * worth
        for node, worth in each.text.items():
            scores[node] += each.rarity * worth
        for node in each.nodes if each.is_telling else ():
            covered[node] += each.rarity
    telling = set[int]().union(*(each.nodes for each in found if each.is_telling))
    wanted = telling if only is None else telling & only
    ranked = [(-scores[node] * covered[node] ** COVERAGE, node) for node in wanted]
    return [node for _, node in nsmallest(POOL, ranked)]


def beside(
    words: Words, asked: Terms, found: Sequence[Sought], best: Sequence[int]
) -> Iterator[tuple[float, Iterable[int]]]:
    """What terms that stand side by side in the query are worth, and where they do so, too."""
    frequent: list[tuple[float, str]] = []
    for match, one, other in asked.near:
        pair = found[one], found[other]
        rarest, worth = min(each.count for each in pair), min(each.rarity for each in pair)
        if rarest > RARE:
            frequent.append((worth, match))
        elif rarest:
            yield worth, words.nodes(match, ROWS)
    if frequent:
        with words.excerpt(best[:TOP]) as few:
            yield from [(worth, few.nodes(match, TOP)) for worth, match in frequent]
