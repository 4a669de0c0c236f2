"""The longest prefix of a lens' steps that fits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from .ledger import Ledger
from .model import Step


def longest_prefix(
    spine: Sequence[Step], steps: Iterable[Step], ledger: Ledger, budget: int
) -> tuple[list[Step], int]:
    """Keep the longest prefix of `steps` whose rendered text costs at most `budget`.

    spine: in every prefix, as one.
    steps: ordered, most interesting first; read only as far as needed.
    ledger: fresh; it is used up. It counts in the unit of `budget`.
    budget: int > 0.
    Returns: (the steps kept, the least that any prefix costs). Nothing is kept if even that is
        over the budget. A larger budget keeps a longer prefix.
    """
    for step in spine:
        ledger.take(step)
    taken, least = list(spine), ledger.total
    best = len(taken) if least <= budget else 0
    for step in _one_by_one(steps, ledger, budget):
        taken.append(step)
        least = min(least, ledger.total)
        if ledger.total <= budget:
            best = len(taken)
        elif ledger.least() > max(budget, least):
            break
    return taken[:best], least


def _one_by_one(steps: Iterable[Step], ledger: Ledger, budget: int) -> Iterator[Step]:
    """Take each step: all of its pieces at once if that fits, else piece by piece."""
    for step in steps:
        before = ledger.shown.get(step.node.index, 0)
        is_hopeless = step.pieces > before + 1 and ledger.priced(step.node).is_long(budget)
        if not is_hopeless:
            ledger.take(step)
            if ledger.total <= budget or step.pieces <= before + 1:
                yield step
                continue
        for pieces in range(before + 1, step.pieces + 1):
            ledger.take(one := replace(step, pieces=pieces))
            yield one
