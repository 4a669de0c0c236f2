"""Routing: whether a question is led to the entries that were judged to answer it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import judged
from judged import BUDGET, Figures

from orgctx import Memex

from .bm25 import Document, Index, best_of, entries, passages
from .report import Part

TITLE = "Routing"
HITS = 10
OURS, PLAIN, HINDSIGHT = "orgctx context", "BM25", "BM25, abstains"
PROSE = f"""\
Questions whose answers somebody judged, headline by headline, each put to its notebook. recall@3 is
the part of the answers among the first three hits, MRR@10 one divided by the first right hit's
place. A hit is right if it is the headline, one below it, or the one right above. Then the share of
questions of which an answer's headline stands in {BUDGET:,} tokens: the bundle, or BM25's best
passages. The last column is how often it is right to answer or, without an answer, to abstain.

BM25 ranks whole entries, with the file's name and all titles above them among their words. It never
abstains by itself. In the rows of =BM25, abstains= it does so below a score that was chosen with
hindsight, so that it is right about these very questions as often as any score can make it: the
best that it could do, not what it would.
"""
WHY = (
    "*Better than orgctx context*: {way}, {what} of {kind}, {theirs:.2f} to {ours:.2f}; of {number}"
    " questions one more or less is {one:.2f}."
)


class Place(NamedTuple):
    """See `judged.Place`."""

    path: str
    line: int


class Answer(NamedTuple):
    """See `judged.Answer`."""

    hits: Sequence[Place]
    abstained: bool
    text: str


class Rival:
    """BM25 as one that answers questions. ratios: of each question, how good its best hit was."""

    def __init__(self, threshold: float = 0.0) -> None:
        self.ratios: dict[str, float] = {}
        self._threshold = threshold
        self._indexes: dict[Memex, tuple[Index, Index]] = {}

    def __call__(self, memex: Memex, query: str) -> Answer:
        whole, parts = self._indexed(memex)
        found, self.ratios[query] = whole.search(query)
        if self.ratios[query] < self._threshold or not found:
            return Answer((), True, "")
        return Answer([place(each) for each in found[:HITS]], False, best_of(parts, query, BUDGET))

    def _indexed(self, memex: Memex) -> tuple[Index, Index]:
        if memex not in self._indexes:
            trees = list(memex._store.trees())
            self._indexes[memex] = Index(entries(trees)), Index(passages(trees))
        return self._indexes[memex]


def place(found: Document) -> Place:
    return Place(found.node.path, found.node.first_line if found.node.level else 0)


def part(queries: Path | None, corpora: Path, cache: Path) -> Part:
    """queries: see `judged`; None if there are none for these notes."""
    if queries is None:
        return Part(TITLE, "Left out: there are no judged questions for these notes.\n")
    asked = [json.loads(line) for line in queries.read_text(encoding="utf-8").splitlines()]

    def measured(ask: Callable[[Memex, str], Any]) -> dict[str, Figures]:
        return judged.figures(queries, corpora, cache, ask)

    plain = Rival()
    found = {OURS: measured(judged.bundle), PLAIN: measured(plain)}
    found[HINDSIGHT] = measured(Rival(best_threshold(asked, plain.ratios)))
    numbers = Counter(each["kind"] for each in asked)
    numbers["all"] = len(asked) - numbers["abstain"]
    remarks = [*worse(found, numbers)] or ["BM25 is better at none of them."]
    return Part(TITLE, PROSE, [*rows(found, numbers)], remarks)


def best_threshold(asked: Sequence[dict[str, Any]], ratios: dict[str, float]) -> float:
    """The score below which to abstain, so that both kinds of question fare best, in the mean."""
    with_answer = [ratios[each["query"]] for each in asked if each["kind"] != "abstain"]
    without = [ratios[each["query"]] for each in asked if each["kind"] == "abstain"]

    def balanced(threshold: float) -> float:
        kept = sum(ratio >= threshold for ratio in with_answer) / max(len(with_answer), 1)
        return kept + sum(ratio < threshold for ratio in without) / max(len(without), 1)

    return max([0.0, *sorted(with_answer + without)], key=balanced)


def rows(found: dict[str, dict[str, Figures]], numbers: Counter[str]) -> Iterator[Sequence[object]]:
    yield (
        *("kind", "questions", "way", "recall@3", "MRR@10"),
        *(f"in {BUDGET:,} tokens", "right to answer"),
    )
    for kind in (*sorted(numbers.keys() - {"all", "abstain"}), "all"):
        for way, figures in found.items():
            each = figures[kind]
            yield kind, numbers[kind], way, each.recall, each.rank, each.bundle, each.kept
    for way, figures in found.items() if numbers["abstain"] else ():
        yield "abstain", numbers["abstain"], way, "", "", "", figures["all"].abstained


COMPARED = (
    ("recall", "recall@3", PLAIN),
    ("rank", "MRR@10", PLAIN),
    ("bundle", f"in {BUDGET:,} tokens", PLAIN),
    ("kept", "right to answer", HINDSIGHT),  # the plain one answers whatever it is asked
    ("abstained", "right to abstain", HINDSIGHT),
)
"""What is compared, as it is called, and with which BM25."""


def worse(found: dict[str, dict[str, Figures]], numbers: Counter[str]) -> Iterator[str]:
    """Where BM25 is better, in a line each."""
    for kind, ours in found[OURS].items():
        for name, what, way in COMPARED:
            theirs = getattr(found[way][kind], name)
            number = numbers["abstain" if name == "abstained" else kind]
            if theirs > getattr(ours, name) and (name != "abstained" or kind == "all"):
                yield WHY.format(
                    way=way,
                    what=what,
                    kind=kind,
                    theirs=theirs,
                    ours=getattr(ours, name),
                    number=number,
                    one=1 / number,
                )
