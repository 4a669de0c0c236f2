"""Budgets: whether any answer costs more than its own, and how much of it is used where it cuts."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from statistics import mean
from typing import NamedTuple

from orgctx import Memex
from orgctx.errors import BudgetTooSmall

from .cutting import count
from .evidence import BUDGETS
from .notebooks import Notebook, address
from .report import Panel, Part

Asked = Callable[[Memex, str, int], str]
ASKED: dict[str, Asked] = {
    "focus, foveal": lambda memex, at, budget: memex.focus(at, budget=budget).text,
    "focus, fisheye": lambda memex, at, n: memex.focus(at, budget=n, lens="fisheye").text,
    "overview": lambda memex, at, budget: memex.overview(at, budget=budget).text,
    "read, subtree": lambda memex, at, n: memex.read(at, subtree=True, budget=n).text,
}
PROSE = """\
Headlines drawn at random, each shown with every budget; each text is counted again by tiktoken. A
budget cuts where twice as much shows more; of those that cut, the part that was used. Where one is
too small for any answer, the error names one that works, which is tried.
"""


class Filling(NamedTuple):
    """What became of one budget. used: parts of it, of the answers that it cut."""

    answers: int
    over: int
    too_small: int
    used: list[float]

    @property
    def worst(self) -> float:
        """The mean of the worst twentieth."""
        return mean(sorted(self.used)[: max(len(self.used) // 20, 1)]) if self.used else 1.0

    @property
    def mean(self) -> float:
        return mean(self.used) if self.used else 1.0


def part(notebooks: Sequence[Notebook], targets: int, seed: int) -> Part:
    every = [(each.memex, address(node)) for each in notebooks for node in each.headlines]
    drawn = random.Random(seed).sample(every, min(targets, len(every)))
    found = {name: fillings(ask, drawn, BUDGETS) for name, ask in ASKED.items()}
    over = sum(each.over for filled in found.values() for each in filled)
    answers = sum(each.answers for filled in found.values() for each in filled)
    remark = f"{over} of {answers:,} answers to {len(drawn)} headlines cost more than their budget."
    panels = [
        Panel(title, "budget in tokens", BUDGETS, {
            name: [getattr(each, what) for each in filled] for name, filled in found.items()
        }, "part of the budget used")
        for title, what in (("mean", "mean"), ("worst twentieth", "worst"))
    ]  # fmt: skip
    return Part("Budget use and exactness", PROSE, [*rows(found)], [remark], "budget", panels)


def fillings(
    ask: Asked, drawn: Sequence[tuple[Memex, str]], budgets: Sequence[int]
) -> list[Filling]:
    """One for each budget."""
    found = [Filling(0, 0, 0, []) for _ in budgets]
    for memex, at in drawn:
        texts = [answered(ask, memex, at, n) for n in (*budgets, 2 * budgets[-1])]
        for number, budget in enumerate(budgets):
            found[number] = counted(found[number], texts[number], texts[number + 1], budget)
    return found


def answered(ask: Asked, memex: Memex, at: str, budget: int) -> str | int:
    """The text, or the budget that is needed.

    Raises: BudgetTooSmall if that one does not work; ValueError if the answer then costs more.
    """
    try:
        return ask(memex, at, budget)
    except BudgetTooSmall as error:
        needed = error.needed
    if count(ask(memex, at, needed)) > needed:
        raise ValueError(f"{at}: more than {needed} tokens")
    return needed


def counted(so_far: Filling, text: str | int, larger: str | int, budget: int) -> Filling:
    if isinstance(text, int):
        return so_far._replace(too_small=so_far.too_small + 1)
    cost = count(text)
    used = [*so_far.used, cost / budget] if text != larger else so_far.used
    over = so_far.over + (cost > budget)
    return so_far._replace(answers=so_far.answers + 1, over=over, used=used)


def rows(found: dict[str, list[Filling]]) -> Iterator[Sequence[object]]:
    yield "way", "budget", "answers", "over", "too small", "cut", "used, mean", "worst twentieth"
    for name, fillings_ in found.items():
        for budget, each in zip(BUDGETS, fillings_, strict=True):
            yield (
                *(name, budget, each.answers, each.over, each.too_small, len(each.used)),
                *((each.mean, each.worst) if each.used else ("", "")),
            )
