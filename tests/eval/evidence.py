"""Evidence at equal tokens: what share of questions a text of so many tokens can answer."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from math import comb
from statistics import mean
from typing import NamedTuple

from orgctx.core.model import Shown
from orgctx.errors import BudgetTooSmall

from .cutting import count
from .notebooks import Notebook, address
from .questions import KINDS, Case, cases
from .report import Panel, Part
from .rivals import OURS, RIVALS, WAYS

BUDGETS = (250, 500, 1000, 2000, 4000, 8000)
NOTICEABLE = 0.005
"""A difference of shares that is told."""
ALL = "all kinds"
"""The mean of the kinds, each weighing the same."""

LINKED = "linked text"
UNEXPLAINED = "not explained yet"
CHANCE = 0.05
"""What a sign test must be below, so that a difference is not put down to chance."""

Key = tuple[str, str, int]
"""(kind, way, budget)."""
Hits = dict[Key, list[bool]]
"""Of each question, in order, whether its evidence is in the text."""
Shares = dict[Key, float]

TITLE = "Evidence at equal tokens"
PROSE = """\
Headlines are drawn at random. Of each, one line or title that stands once in the notes is the
evidence for a question: a line of the headline's own text, a line of a child's text, the title of a
headline above or beside it, a line of an entry that it links to, by ID, title, custom ID, target or
file, as a plain search of the notes finds it. Each way of putting notes before a model is told the
headline and the budget; the table has the share of questions whose evidence stands, as a whole line
or a headline's title, in what it returned. No text cost more than its budget, counted by tiktoken.
Below the table stands where a rival is better than either lens.

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
    (
        "target's text",
        "lineage",
    ): "it begins with the target's text, a view with the headlines"
    " above it and the file's keywords",
    ("child's text", "around point"): "what follows a headline is its children, and half of it goes"
    " there; a view first shows the target's text and the headlines around",
    ("child's text", "BM25 passages"): "the target's titles stand above the passages of all that is"
    " below it, so they come at once; a view first shows the target's text and what is around it",
    ("sibling's title", "skeleton"): "it has headlines alone, a view spends on texts, too",
}
"""Why a rival is better at a kind of question; the remark on what a view spends bears it out."""


def part(notebooks: Sequence[Notebook], per_kind: int, seed: int) -> Part:
    drawn = cases(notebooks, per_kind, seed)
    if not drawn:
        return Part(TITLE, "Left out: no line and no title stands once in these notes.\n")
    hits = measured(drawn, BUDGETS)
    shares = shares_of(hits, BUDGETS)
    there = [kind for kind in KINDS if any(kind in case.evidence for case in drawn)]
    return Part(
        TITLE,
        f"{PROSE}\n{said_of(drawn, seed)}",
        [("evidence", "way", *BUDGETS), *rows(shares, [*there, ALL])],
        [*worse(hits, there), *worse_in_all(shares), spent(drawn, BUDGETS[0])],
        "evidence",
        [panel(kind, shares) for kind in (*there, ALL)],
    )


def measured(drawn: Sequence[Case], budgets: Sequence[int]) -> Hits:
    """Raises: ValueError if a text costs more than its budget."""
    found: Hits = defaultdict(list)
    for case in drawn:
        for name, way in WAYS.items():
            for budget in budgets:
                text = way(case, budget)
                if count(text) > budget:
                    raise ValueError(f"{name}: {count(text)} tokens for a budget of {budget}")
                text = text.replace("\r\n", "\n")
                for kind, evidence in case.evidence.items():
                    found[kind, name, budget].append(evidence.is_in(text))
    return dict(found)


def shares_of(hits: Hits, budgets: Sequence[int]) -> Shares:
    """The share of questions whose evidence is in the text, by kind and of all kinds."""
    shares = {key: mean(map(float, values)) for key, values in hits.items()}
    kinds = list(dict.fromkeys(kind for kind, _, _ in shares))
    every = [(ALL, name, budget) for name in WAYS for budget in budgets]
    return shares | {key: mean(shares[kind, *key[1:]] for kind in kinds) for key in every}


def said_of(drawn: Sequence[Case], seed: int) -> str:
    """How many questions there are, and what they do not tell."""
    asked = {kind: sum(kind in case.evidence for case in drawn) for kind in KINDS}
    told = ", ".join(f"{number} of {kind}" for kind, number in asked.items())
    linked = [case for case in drawn if LINKED in case.evidence]
    inside = sum(case.evidence[LINKED].wanted in case.node.tree.text for case in linked)
    return (
        f"{sum(asked.values())} questions of {len(drawn)} headlines (seed {seed}): {told}.\n"
        f"Of the {len(linked)} linked entries, {inside} are in the file of the headline itself.\n"
        f"={ALL}= is the mean of the kinds, each weighing the same.\n"
    )


def rows(shares: Shares, kinds: Sequence[str]) -> Iterator[tuple[object, ...]]:
    for kind in kinds:
        for name in WAYS:
            yield kind, name, *(shares[kind, name, budget] for budget in BUDGETS)


def panel(kind: str, shares: Shares) -> Panel:
    curves = {name: [shares[kind, name, budget] for budget in BUDGETS] for name in WAYS}
    return Panel(kind, "budget in tokens", BUDGETS, curves, "share in the text")


def worse(hits: Hits, kinds: Sequence[str]) -> Iterator[str]:
    """Where a rival is better than the better lens, in a line for each rival and kind."""
    for kind in kinds:
        for name in RIVALS:
            lost = [each for budget in BUDGETS if (each := compared(hits, kind, name, budget))]
            if lost:
                told = ", ".join(each.told for each in lost)
                is_chance = all(each.chance >= CHANCE for each in lost)
                why = "it may be chance" if is_chance else WHY.get((kind, name), UNEXPLAINED)
                yield f"*Better than focus*, {kind}: {name}, {told}. Why: {why}."


class Lost(NamedTuple):
    """A budget at which a rival is better. chance: the sign test's p."""

    told: str
    chance: float


def compared(hits: Hits, kind: str, rival: str, budget: int) -> Lost | None:
    """The rival against the better lens, question by question; None if it is not better."""
    theirs = hits[kind, rival, budget]
    ours = max((hits[kind, name, budget] for name in OURS), key=sum)
    if mean(map(float, theirs)) <= mean(map(float, ours)) + NOTICEABLE:
        return None
    only = [sum(a and not b for a, b in zip(*pair, strict=True))
            for pair in ((theirs, ours), (ours, theirs))]  # fmt: skip
    shares = f"{mean(map(float, theirs)):.2f} to {mean(map(float, ours)):.2f}"
    told = f"{shares} at {budget:,} ({only[0]} questions it alone, {only[1]} focus alone)"
    return Lost(told, sign_test(*only))


def sign_test(one: int, other: int) -> float:
    """How likely it is that chance alone would divide so many questions as unevenly or more."""
    tosses = one + other
    tail = sum(comb(tosses, heads) for heads in range(min(one, other) + 1))
    return min(1.0, 2 * tail / (1 << tosses))


def worse_in_all(shares: Shares) -> Iterator[str]:
    """Where a rival is better in the mean of the kinds."""
    for name in RIVALS:
        for budget in BUDGETS:
            ours = max(shares[ALL, each, budget] for each in OURS)
            if shares[ALL, name, budget] > ours + NOTICEABLE:
                told = f"{shares[ALL, name, budget]:.2f} to {ours:.2f} at {budget:,}"
                yield f"*Better than focus*, {ALL}: {name}, {told}: the mean of the rows above."


def spent(drawn: Sequence[Case], budget: int) -> str:
    """What foveal views of these headlines spend their tokens on."""
    tokens: Counter[str] = Counter()
    for case in drawn:
        for each in shown(case, budget):
            tokens[each.relation.value] += each.tokens
    parts = (f"{name} {number / tokens.total():.0%}" for name, number in tokens.most_common())
    return f"At {budget} tokens a foveal view of these headlines spends: {', '.join(parts)}."


def shown(case: Case, budget: int) -> Sequence[Shown]:
    try:
        return case.notebook.memex.focus(address(case.node), budget=budget).shown
    except BudgetTooSmall:
        return ()
