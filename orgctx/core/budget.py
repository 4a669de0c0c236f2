"""The longest prefix of a lens' steps that fits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

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
    for step in steps:
        ledger.take(step)
        taken.append(step)
        least = min(least, ledger.total)
        if ledger.total <= budget:
            best = len(taken)
        elif ledger.least > max(budget, least):
            break
    return taken[:best], least
