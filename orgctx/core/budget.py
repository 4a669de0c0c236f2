"""The longest prefix of a lens' steps that fits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from .document import Document
from .model import Step


def longest_prefix(
    spine: Sequence[Step], steps: Iterable[Step], document: Document, budget: int
) -> tuple[list[Step], int]:
    """Keep the longest prefix of `steps` whose rendered text costs at most `budget`.

    spine: in every prefix, as one.
    steps: ordered, most interesting first; read only as far as needed. One that shows nothing new
        is passed over.
    document: empty; it is used up. It counts in the unit of `budget`.
    budget: int > 0.
    Returns: (the steps kept, the least that any prefix costs). Nothing is kept if even that is
        over the budget. A larger budget keeps a longer prefix.
    """
    for step in spine:
        document.take(step)
    taken, least = list(spine), document.total
    best = len(taken) if least <= budget else 0
    for step in _one_by_one(steps, document, budget):
        taken.append(step)
        least = min(least, document.total)
        if document.total <= budget:
            best = len(taken)
        elif document.least() > max(budget, least):
            break
    return taken[:best], least


def _one_by_one(steps: Iterable[Step], document: Document, budget: int) -> Iterator[Step]:
    """Take each step: all of its pieces at once if that fits, else piece by piece."""
    for step in steps:
        before = document.state(step.node)
        if step.pieces <= before:
            continue
        is_hopeless = step.pieces > before + 1 and document.is_long(step.node, budget)
        if not is_hopeless:
            document.take(step)
            if document.total <= budget or step.pieces <= before + 1:
                yield step
                continue
        for pieces in range(before + 1, step.pieces + 1):
            document.take(one := step._replace(pieces=pieces))
            yield one
