"""From a ledger to Org text: kept lines as they stand, and marks where something is missing."""

from __future__ import annotations

from .entry import omitted
from .ledger import Ledger
from .model import Node


def render(root: Node, ledger: Ledger) -> str:
    """Write the shown nodes of one file as an Org document.

    root: the file node, shown. ledger: which nodes are shown, and how much of each.
    Returns: the source's own lines in the source's order, with the file's line ends; a mark for
        what a node announces stands behind its last shown child, or behind its own text.
    """
    parts: list[str] = []
    opened: list[Node] = []

    def close() -> None:
        node = opened.pop()
        if count := ledger.announced(node):
            parts.append(omitted(count, "headline", node.tree.newline))

    for index in sorted(ledger.shown):
        node = root.tree.nodes[index]
        while opened and opened[-1].end_index <= index:
            close()
        opened.append(node)
        parts.append(ledger.priced(node).entry.text(ledger.shown[index]))
    while opened:
        close()
    return "".join(parts)
