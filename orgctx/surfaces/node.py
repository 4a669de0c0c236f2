"""A node as Python code has it: what stands in the notes, and what is around it there."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any

from ..core import model
from ..store.linking import backlinks, links
from ..store.names import Names
from ..store.store import Store


class Node:
    """A file node or a headline in its memex; what is not here is as in `orgctx.core.model.Node`.

    It is what was in the file when it was asked for; two of the same place are equal.
    """

    def __init__(self, store: Store, node: model.Node) -> None:
        self._store, self._node = store, node

    def __getattr__(self, name: str) -> Any:
        return getattr(self._node, name)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *dir(self._node)})

    def __repr__(self) -> str:
        return f"<Node {self._node.path}:{self._node.first_line}>"

    def __eq__(self, other: object) -> bool:
        return self._node is (other._node if isinstance(other, Node) else other)

    def __hash__(self) -> int:
        return hash(self._node)

    def _all(self, nodes: Iterable[model.Node]) -> list[Node]:
        return [Node(self._store, node) for node in dict.fromkeys(nodes)]

    @cached_property
    def address(self) -> str:
        """The shortest stable address that leads back to the node."""
        return Names(self._store).address(self._node)

    @property
    def parent(self) -> Node | None:
        """The node above; None for a file node."""
        above = self._node.parent
        return Node(self._store, above) if above else None

    @property
    def ancestors(self) -> list[Node]:
        """All nodes above, the file node first."""
        return self._all(self._node.ancestors)

    @property
    def children(self) -> list[Node]:
        """The nodes one step below, in document order."""
        return self._all(self._node.children)

    @property
    def links(self) -> list[Node]:
        """The nodes that this one's entry links to, in the order of the links; as `backlinks`.

        By ID, CUSTOM_ID, title, target, name, file or line, as Org follows them.
        """
        self._store.freshen()
        return self._all(links(self._store, self._node))

    @property
    def backlinks(self) -> list[Node]:
        """The nodes whose entries link to this one, in path order; changes are looked for."""
        self._store.freshen()
        return self._all(backlinks(self._store, self._node))
