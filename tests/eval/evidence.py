"""Evidence at equal tokens: what share of questions a text of so many tokens can answer."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from statistics import mean

from .cutting import count
from .notebooks import Notebook
from .questions import KINDS, Case, cases
from .report import Panel, Part
from .rivals import OURS, RIVALS, WAYS

BUDGETS = (250, 500, 1000, 2000, 4000, 8000)
NOTICEABLE = 0.005
"""A difference of shares that is told."""
ALL = "all kinds"
"""The mean of the kinds, each weighing the same."""

Shares = dict[tuple[str, str, int], float]
"""(kind, way, budget) -> the share of questions whose evidence is in the text."""

TITLE = "Evidence at equal tokens"
PROSE = """\
Headlines are drawn at random. Of each, one line or title that stands once in the notes is the
evidence for a question: a line of the headline's own text, a line of a child's text, the title of a
headline above or beside it, a line of an entry that it links to by ID. Each way of putting notes
before a model is told the headline and the budget; the table has the share of questions whose
evidence stands, as a whole line or a headline's title, in what it returned. No text cost more than
its budget, counted by tiktoken. Below the table stands where a rival is better than either lens.

- focus :: =orgctx focus=, with either lens, and IDs in full, as it is without options.
- file's beginning :: the file, from its first line, as far as it goes.
- around point :: half before the headline, half from it on; what one side leaves is the other's.
- lineage :: the entry and those above it with their texts, as a branching context has them; then
  the subtree.
- BM25 passages :: passages of 300 tokens of the whole notebook, each below its headlines, asked
  with the file's name and all titles.
- skeleton :: headlines without text, as a map of a repository has names: the nearest of the file,
  then other files'.
"""
WHY = {
    ("target's text", "around point"): "half of it is spent on what is behind the headline line by "
    "line, while a view first sets aside what the headlines above and beside it cost",
    ("target's text", "lineage"): "it spends everything on the target's text before anything "
    "around it; a view shows the first 800 tokens, then the places around, then the rest",
    ("target's text", "BM25 passages"): "the titles lead to the target's own passages, and nothing "
    "is spent on what is around",
    ("child's text", "around point"): "what follows a headline is its children, line after line; "
    "a view gives each child its share, after the titles around",
    ("child's text", "lineage"): "where the ancestors have little text, what is left goes to the "
    "subtree in order",
    ("child's text", "BM25 passages"): "a child's passages bear the titles that are asked for",
    ("ancestor's title", "lineage"): "it has the same headlines and is never too small for them",
    ("ancestor's title", "BM25 passages"): "each passage stands below all the headlines above it",
    ("ancestor's title", "skeleton"): "it shows no IDs, which cost a view up to 50 tokens each, so "
    "it is never too small for the headlines above",
    ("sibling's title", "skeleton"): "it spends everything on headlines and nothing on text or IDs",
    ("sibling's title", "around point"): "without a text to show first, the neighbours are near",
    ("linked text", "BM25 passages"): "notes that link to each other share words, and the foveal "
    "lens does not follow links; the fisheye lens does, but only after what is nearer",
    ("linked text", "file's beginning"): "the linked entry is in the same file, near its beginning",
    ("linked text", "around point"): "the linked entry is in the same file, nearby",
    (ALL, "BM25 passages"): "it gains more at children's texts than it loses elsewhere",
    (ALL, "around point"): "it gains more at some of the kinds than it loses at others",
    ("linked text", "lineage"): "the linked entry is above or below in the same file",
}
"""Why a rival is better at a kind of question, where it is."""


def part(notebooks: Sequence[Notebook], per_kind: int, seed: int) -> Part:
    drawn = cases(notebooks, per_kind, seed)
    if not drawn:
        return Part(TITLE, "Left out: no line and no title stands once in these notes.\n")
    shares = measured(drawn, BUDGETS)
    asked = {kind: sum(kind in case.evidence for case in drawn) for kind in KINDS}
    there = [*(kind for kind in KINDS if asked[kind]), ALL]
    return Part(
        TITLE,
        f"{PROSE}\n{said_of(asked, len(drawn), seed)}",
        [("evidence", "way", *BUDGETS), *rows(shares, there)],
        [*worse(shares, there)] or ["No rival is better at any of them."],
        "evidence",
        [panel(kind, shares) for kind in there],
    )


def measured(drawn: Sequence[Case], budgets: Sequence[int]) -> Shares:
    """Raises: ValueError if a text costs more than its budget."""
    found: dict[tuple[str, str, int], list[bool]] = defaultdict(list)
    for case in drawn:
        for name, way in WAYS.items():
            for budget in budgets:
                text = way(case, budget)
                if count(text) > budget:
                    raise ValueError(f"{name}: {count(text)} tokens for a budget of {budget}")
                text = text.replace("\r\n", "\n")
                for kind, evidence in case.evidence.items():
                    found[kind, name, budget].append(evidence.is_in(text))
    shares = {key: mean(map(float, values)) for key, values in found.items()}
    kinds = {kind for kind, _, _ in shares}
    every = [(ALL, name, budget) for name in WAYS for budget in budgets]
    return shares | {key: mean(shares[kind, *key[1:]] for kind in kinds) for key in every}


def said_of(asked: Mapping[str, int], headlines: int, seed: int) -> str:
    """How many questions there are, and how much of a difference may be chance."""
    told = ", ".join(f"{number} of {kind}" for kind, number in asked.items())
    errors = ", ".join(f"{error(n):.2f} of {n}" for n in sorted({*asked.values()} - {0})[::-1])
    return (
        f"{sum(asked.values())} questions of {headlines} headlines (seed {seed}): {told}.\n"
        f"The standard error of a share of so many questions is at most: {errors}.\n"
        f"={ALL}= is the mean of the kinds, each weighing the same.\n"
    )


def error(questions: int) -> float:
    """The standard error of a share of so many questions, where it is largest."""
    return 0.5 / math.sqrt(questions)


def rows(shares: Shares, kinds: Sequence[str]) -> Iterator[tuple[object, ...]]:
    for kind in kinds:
        for name in WAYS:
            yield kind, name, *(shares[kind, name, budget] for budget in BUDGETS)


def panel(kind: str, shares: Shares) -> Panel:
    curves = {name: [shares[kind, name, budget] for budget in BUDGETS] for name in WAYS}
    return Panel(kind, "budget in tokens", BUDGETS, curves, "share in the text")


def worse(shares: Shares, kinds: Sequence[str]) -> Iterator[str]:
    """Where a rival is better than the better lens, in a line for each rival and kind."""
    for kind in kinds:
        for name in RIVALS:
            cells = [(b, shares[kind, name, b], best(shares, kind, b)) for b in BUDGETS]
            lost = [each for each in cells if each[1] > each[2] + NOTICEABLE]
            if lost:
                told = ", ".join(f"{theirs:.2f} to {ours:.2f} at {b:,}" for b, theirs, ours in lost)
                why = WHY.get((kind, name), "not explained yet")
                yield f"*Better than focus*, {kind}: {name}, {told}: {why}."


def best(shares: Shares, kind: str, budget: int) -> float:
    return max(shares[kind, name, budget] for name in OURS)
