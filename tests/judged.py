"""Questions whose answers were judged, put to the notes they are of, and how well they are led.

usage: python tests/judged.py [QUERIES [CORPORA]]    prints the figures by kind of question, and
                                                     of everyday questions

QUERIES: JSON lines of id, corpus, query, kind, and answers, each a path and a line; by default
queries.jsonl beside the folder that ORGCTX_CORPORA names.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import emacs

from orgctx import Memex, open_memex
from orgctx.core.model import Node
from orgctx.views.context import Bundle

Judgment = dict[str, Any]


class Place(Protocol):
    """Where a hit is. line: 1-based; 0 for the file."""

    @property
    def path(self) -> str: ...
    @property
    def line(self) -> int: ...


class Answer(Protocol):
    """What is made of a question. text: what a model would read, at most `BUDGET` tokens."""

    @property
    def hits(self) -> Sequence[Place]: ...
    @property
    def abstained(self) -> bool: ...
    @property
    def text(self) -> str: ...


BUDGET = 2000


class Figures(NamedTuple):
    """How well questions are led: means over those that have an answer.

    recall: answers among the first 3, of as many as there may be. rank: 1 / the first right hit's
    place among 10. bundle: share of questions whose bundle holds an answer's headline. kept: share
    of them that are answered. abstained: share of those without an answer that are not.
    """

    recall: float
    rank: float
    bundle: float
    kept: float
    abstained: float

    @property
    def balanced(self) -> float:
        """How often it is right whether there is an answer, both sides weighing the same."""
        return (self.kept + self.abstained) / 2


def judgments() -> Path | None:
    """Where the judged questions are, if they are here."""
    root = emacs.corpus_root()
    place = root.parent / "queries.jsonl" if root else None
    return place if place and place.is_file() else None


def bundle(memex: Memex, query: str, semantic: bool = False) -> Bundle:
    """What orgctx makes of a question."""
    found = memex.context(query, budget=BUDGET, semantic=semantic)
    assert found.tokens <= BUDGET
    return found


def figures(
    queries: Path,
    corpora: Path,
    cache: Path,
    ask: Callable[[Memex, str], Answer] = bundle,
) -> dict[str, Figures]:
    """Ask all questions. Returns: the figures by kind, and of all."""
    rows: dict[str, list[tuple[float, ...]]] = defaultdict(list)
    refused: list[bool] = []
    os.environ["XDG_CACHE_HOME"] = str(cache)
    memexes: dict[str, Memex] = {}
    for each in map(json.loads, queries.read_text(encoding="utf-8").splitlines()):
        memex = memexes.setdefault(each["corpus"], open_memex(corpora / each["corpus"]))
        answer = ask(memex, each["query"])
        if each["kind"] == "abstain":
            refused.append(answer.abstained)
            continue
        shown = any(wanted["title"] in answer.text for wanted in each["answers"])
        covered = [right(memex, hit, each) for hit in answer.hits]
        row = (*measured(covered, len(each["answers"])), shown, not answer.abstained)
        rows[each["kind"]].append(row)
        rows["all"].append(row)
    abstained = sum(refused) / max(len(refused), 1)
    return {kind: Figures(*map(mean, zip(*found, strict=True)), abstained)
            for kind, found in rows.items()}  # fmt: skip


def mean(values: tuple[float, ...]) -> float:
    return sum(values) / len(values)


def right(memex: Memex, hit: Place, judged: Judgment) -> set[int]:
    """The answers that a hit is right for: the headline, one below it, or the one right above."""
    return {
        number
        for number, answer in enumerate(judged["answers"])
        if answer["path"] == hit.path and hit.line in accepted(memex, answer)
    }


def accepted(memex: Memex, answer: dict[str, Any]) -> set[int]:
    address = f"{answer['path']}:{answer['line']}" if answer["line"] else answer["path"]
    node: Node = memex.node(address)._node
    below = {each.first_line for each in node.tree.nodes[node.index + 1 : node.end_index]}
    above = node.parent.first_line if node.parent and node.parent.level else 0
    return {answer["line"], *below, above}


def measured(covered: list[set[int]], answers: int) -> Iterator[float]:
    yield len(set().union(*covered[:3])) / min(3, answers)
    first = next((place for place, found in enumerate(covered[:10], 1) if found), 0)
    yield 1 / first if first else 0.0


def all_figures(cache: Path, ask: Callable[[Memex, str], Answer] = bundle) -> Figures:
    """Of all questions, where they are here."""
    queries, corpora = judgments(), emacs.corpus_root()
    assert queries
    assert corpora
    return figures(queries, corpora, cache, ask)["all"]


EVERYDAY = Path(__file__).parent / "everyday.json"
"""Long questions as people ask them: by notebook what is in it, and what is in none of them."""


def everyday_shares(corpora: Path, cache: Path) -> tuple[float, float]:
    """Put the everyday questions. Returns: the shares of those in the notes that are answered, and
    of those about something else that are not."""
    asked = json.loads(EVERYDAY.read_text(encoding="utf-8"))
    os.environ["XDG_CACHE_HOME"] = str(cache)
    answered, refused = list[float](), list[float]()
    for name, questions in asked["here"].items():
        memex = open_memex(corpora / name)
        answered += [not bundle(memex, each).abstained for each in questions]
        refused += [bundle(memex, each).abstained for each in asked["elsewhere"]]
    return mean(tuple(answered)), mean(tuple(refused))


def main(arguments: list[str]) -> None:
    queries = Path(arguments[0]) if arguments else judgments()
    corpora = Path(arguments[1]) if arguments[1:] else emacs.corpus_root()
    if queries is None or corpora is None:
        sys.exit(f"no questions: name them, or their corpora in {emacs.CORPORA_VARIABLE}")
    with tempfile.TemporaryDirectory() as cache:
        for kind, found in figures(queries, corpora, Path(cache)).items():
            print(f"{kind:12} recall@3 {found.recall:.3f}  MRR@10 {found.rank:.3f}"
                  f"  in the bundle {found.bundle:.3f}  kept {found.kept:.3f}")  # fmt: skip
        print(f"abstained    {found.abstained:.3f}, balanced {found.balanced:.3f}")
        answered, refused = everyday_shares(corpora, Path(cache))
        print(f"everyday     kept {answered:.3f}  abstained {refused:.3f}")


if __name__ == "__main__":
    main(sys.argv[1:])
