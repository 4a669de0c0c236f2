"""From a document to Org text: kept lines as they stand, and marks where something is missing."""

from __future__ import annotations

from .document import Document
from .ledger import Ledger
from .model import Node


def render(document: Document) -> str:
    """Write all that a document shows as Org.

    Returns: the source's own lines in the source's order, with the file's line ends. In a document
        of several files each is a headline, below that of its folder if there are any. A mark for
        what a node announces stands behind its last shown child, or behind its own text.
    """
    holders = document.holders
    if holders is None or document.is_of_one_file:
        return "".join(map(_file, document.ledgers))
    parts = [holders.text(holders.root)]
    for folder, ledgers in document.groups():
        parts += [holders.text(folder) if folder else "", *map(_file, ledgers)]
        parts.append(holders.mark(folder) if folder else "")
    return "".join([*parts, holders.mark(holders.root)])


def _file(ledger: Ledger) -> str:
    """All that is shown of one file."""
    parts: list[str] = []
    opened: list[Node] = []
    for index in sorted(ledger.shown):
        node = ledger.tree.nodes[index]
        while opened and opened[-1].end_index <= index:
            parts.append(ledger.mark(opened.pop()))
        opened.append(node)
        parts.append(ledger.text(node))
    return "".join(parts) + "".join(ledger.mark(node) for node in reversed(opened))
