"""The longest prefix of a lens' steps that fits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .ledger import Ledger
from .model import Step

SLACK = 64


def longest_prefix(
    spine: Sequence[Step], steps: Iterable[Step], ledger: Ledger, budget: int
) -> tuple[list[Step], Ledger]:
    """Keep the longest prefix of `steps` whose rendered text costs at most `budget`.

    spine: taken first and as one; if it does not fit, nothing is kept.
    steps: ordered, most interesting first; read only as far as needed.
    ledger: fresh; counts in the unit of `budget`.
    budget: int > 0.
    Returns: the steps kept and a ledger of them, whose total is <= budget; none at all, and the
        spine's ledger, if the spine alone costs more. A larger budget returns a longer prefix.

    A longer prefix can cost less than a shorter one, by the marks that it makes unnecessary. So
    the walk goes on until the text alone, without marks, is over the budget; what text alone costs
    can fall only where blank lines merge with the line above, and SLACK is far more than that.
    """
    taken = list(spine)
    for step in spine:
        ledger.take(step)
    if ledger.total > budget:
        return [], ledger
    best, best_total = len(taken), ledger.total
    for step in steps:
        ledger.take(step)
        taken.append(step)
        if ledger.total <= budget:
            best, best_total = len(taken), ledger.total
        elif ledger.total - ledger.marks - SLACK > budget:
            break
    kept = taken[:best]
    fitting = ledger if best == len(taken) else ledger.replay(kept)
    assert fitting.total == best_total
    return kept, fitting
