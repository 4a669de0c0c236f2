"""What a partial view costs, kept up to date step by step."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from .entry import Entry, omitted
from .model import Node, Step

Count = Callable[[str], int]


@dataclass(slots=True)
class Priced:
    """An entry with the cost of each of its states, worked out as far as anybody asked."""

    entry: Entry
    count: Count
    bases: list[int] = field(default_factory=list)

    def base(self, state: int) -> int:
        """The cost of the source's lines shown in `state`: pieces add up."""
        if not self.bases:
            self.bases.append(sum(self.count(piece.reduced) for piece in self.entry.pieces))
        while len(self.bases) <= state:
            piece = self.entry.pieces[self.entry.order[len(self.bases) - 1]]
            more = self.count(piece.text) - self.count(piece.reduced)
            self.bases.append(self.bases[-1] + more)
        return self.bases[state]

    def within(self, limit: int | None) -> int:
        """The most pieces whose cost, with the skeleton's, is at most `limit`; None: all."""
        states = len(self.entry.order)
        if limit is None:
            return states
        state = 0
        while state < states and self.base(state + 1) <= limit:
            state += 1
        return state


@dataclass(slots=True)
class Ledger:
    """A growing set of shown nodes and its exact cost.

    open_entry: (node) -> its entry, as far as it may be shown.
    count: (text) -> cost, int >= 0, pure; adds up over texts that begin with `*` or `#` and end
        in a line feed.
    target: announces its omissions from the start, as its ancestors do.
    total: cost of all shown. marks: the part of it that omission marks cost.
    """

    open_entry: Callable[[Node], Entry]
    count: Count
    target: Node
    total: int = 0
    marks: int = 0
    shown: dict[int, int] = field(default_factory=dict)
    _priced: dict[int, Priced] = field(default_factory=dict)
    _children: dict[int, int] = field(default_factory=dict)
    _children_shown: dict[int, int] = field(default_factory=dict)
    _spine: frozenset[int] = frozenset()
    _counts: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._spine = frozenset(node.index for node in (*self.target.ancestors, self.target))

    def pieces(self, node: Node, limit: int | None) -> int:
        """How many pieces of the node's text cost at most `limit`; None: how many there are."""
        return self.priced(node).within(limit)

    def take(self, step: Step) -> None:
        """Show what the step adds."""
        node, parent = step.node, step.node.parent
        before = self._standing(node, parent)
        if node.index not in self.shown and parent is not None:
            shown = self._children_shown.get(parent.index, 0)
            self._children_shown[parent.index] = shown + 1
        self.shown[node.index] = max(step.pieces, self.shown.get(node.index, 0))
        after = self._standing(node, parent)
        self.total += after[0] - before[0]
        self.marks += after[1] - before[1]

    def _standing(self, node: Node, parent: Node | None) -> tuple[int, int]:
        """(cost, of which marks) of the node and of its parent's mark: what a step can change."""
        own = self.cost(node) if node.index in self.shown else (0, 0)
        above = self._mark(parent) if parent is not None and parent.index in self.shown else 0
        return own[0] + above, own[1] + above

    def cost(self, node: Node) -> tuple[int, int]:
        """(cost, of which marks) of a shown node: its lines and all that it announces."""
        priced, state = self.priced(node), self.shown[node.index]
        marks = sum(self._cost_of(priced.entry.mark(run)) for run in priced.entry.runs(state))
        marks += self._mark(node)
        return priced.base(state) + marks, marks

    def announced(self, node: Node) -> int:
        """How many children a shown node announces as left out (design 4.4).

        The spine and nodes that show text announce, and whoever shows some child; a bare skeleton
        does not.
        """
        shown_children = self._children_shown.get(node.index, 0)
        speaks = node.index in self._spine or shown_children or self.shows_text(node)
        if not speaks:
            return 0
        if node.index not in self._children:
            self._children[node.index] = sum(1 for _ in node.children)
        return self._children[node.index] - shown_children

    def shows_text(self, node: Node) -> bool:
        """Whether the node shows more than a skeleton, or has no more and is meant to be read."""
        entry = self.priced(node).entry
        return self.shown[node.index] > 0 or (entry.is_read and not entry.order)

    def _mark(self, node: Node) -> int:
        count = self.announced(node)
        return self._cost_of(omitted(count, "headline", node.tree.newline)) if count else 0

    def _cost_of(self, mark: str) -> int:
        if mark not in self._counts:
            self._counts[mark] = self.count(mark)
        return self._counts[mark]

    def priced(self, node: Node) -> Priced:
        """The node's entry with its costs."""
        if node.index not in self._priced:
            self._priced[node.index] = Priced(self.open_entry(node), self.count)
        return self._priced[node.index]

    def replay(self, steps: Iterable[Step]) -> Ledger:
        """A ledger of the same nodes and prices in which only `steps` were taken."""
        again = Ledger(self.open_entry, self.count, self.target, _priced=self._priced)
        for step in steps:
            again.take(step)
        return again
