"""Maps: the outline of a file around some of its headlines, by the engine that makes a focus."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..core.document import Document
from ..core.entry import Entry, skeleton
from ..core.lens import FOCUS_RANKS, foveal, spine, together
from ..core.model import Node, Step
from ..errors import BudgetTooSmall
from ..store.names import Names
from .view import Limit, Plan, grow


def outline_map(names: Names, targets: Sequence[Node], chars: int) -> str:
    """Show where some headlines of one file stand: titles alone, no text.

    targets: one or more nodes of one file. chars: int > 0, how long it may be; longer only if the
        headlines and those above them are.
    Returns: an Org document.
    """

    def open_entry(node: Node, stars: int) -> Entry:
        return skeleton(node, None, stars)

    def steps(document: Document) -> Iterator[Step]:
        return together(foveal(each, document.pieces, 0) for each in targets)

    plan = Plan(targets, spine(*targets), steps, FOCUS_RANKS, open_entry, None)
    limit = Limit(chars, "chars", ids="none")
    try:
        return grow(plan, limit, names, targets[0].path).view.text
    except BudgetTooSmall as error:
        enough = limit._replace(budget=error.needed)
        return grow(plan, enough, names, targets[0].path).view.text
