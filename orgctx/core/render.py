"""From a ledger to Org text: kept lines as they stand, and marks where something is missing."""

from __future__ import annotations

from .ledger import Ledger
from .model import Node


def render(ledger: Ledger) -> str:
    """Write the nodes that a ledger shows as an Org document.

    ledger: the file node is among them.
    Returns: the source's own lines in the source's order, with the file's line ends; a mark for
        what a node announces stands behind its last shown child, or behind its own text.
    """
    parts: list[str] = []
    opened: list[Node] = []
    for index in sorted(ledger.shown):
        node = ledger.target.tree.nodes[index]
        while opened and opened[-1].end_index <= index:
            parts.append(ledger.mark(opened.pop()))
        opened.append(node)
        parts.append(ledger.priced(node).entry.text(ledger.shown[index]))
    return "".join(parts) + "".join(ledger.mark(node) for node in reversed(opened))
