"""What a partial view costs, kept up to date step by step."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import accumulate

from .entry import Entry, Run, omitted
from .model import Node, Step

Count = Callable[[str], int]


@dataclass(slots=True)
class Priced:
    """An entry with the cost of each of its states, worked out as far as anybody asked."""

    entry: Entry
    count: Count
    _bases: list[int] = field(default_factory=list)
    _passed: list[int] = field(default_factory=lambda: [0])
    _waiting: dict[int, int] = field(default_factory=dict)
    _behind: list[int] = field(default_factory=list)
    _shrinkage: int = 0

    def base(self, state: int) -> int:
        """The cost of the source's lines shown in `state`: pieces add up."""
        if not self._bases:
            self._begin()
        while len(self._bases) <= state:
            piece = self.entry.pieces[self.entry.order[len(self._bases) - 1]]
            more = self.count(piece.text) - self.count(piece.reduced)
            self._bases.append(self._bases[-1] + more)
        return self._bases[state]

    def least(self, state: int) -> int:
        """What the source's lines cost at least in `state` and in each later one."""
        return self.base(state) - self._shrinkage

    def _begin(self) -> None:
        """The skeleton's cost, and by how much it can fall when its pieces become whole."""
        briefs = [piece for piece in self.entry.pieces if piece.reduced]
        self._bases.append(sum(self.count(piece.reduced) for piece in briefs))
        changing = [piece for piece in briefs if piece.reduced != piece.text]
        gains = (self.count(piece.reduced) - self.count(piece.text) for piece in changing)
        self._shrinkage = sum(gain for gain in gains if gain > 0)

    def marks(self, state: int) -> int:
        """What the marks in `state` cost, with the end lines of blocks that are cut.

        From one state to the next little changes, so nothing is added up twice: the marks in front
        of the cut, those behind the next break, and of drawers that wait, are sums.
        """
        entry = self.entry
        if not entry.speaks(state):
            return 0
        if state > entry.texts:
            return self._cost_of_waiting(state)
        while len(self._passed) <= state:
            more = self._cost(entry.runs_passed(len(self._passed)))
            self._passed.append(self._passed[-1] + more)
        return self._passed[state] + self._cost(entry.run_behind_cut(state)) + self._rest(state)

    def _rest(self, state: int) -> int:
        """What the marks behind the first break after the cut cost."""
        breaks = self.entry.breaks
        if not self._behind:
            costs = (self._cost(self.entry.run_behind_break(at)) for at in reversed(breaks))
            self._behind = list(accumulate(costs, initial=0))[::-1]
        return self._behind[bisect_right(breaks, self.entry.cut(state))]

    def _cost_of_waiting(self, state: int) -> int:
        """What the marks cost when all text is there and the drawers from `state` on are not."""
        if not self._waiting:
            entry, total, lines, after = self.entry, 0, 0, -1
            self._waiting[len(entry.order)] = 0
            for at in range(len(entry.order) - 1, entry.texts, -1):
                index = entry.order[at]
                hidden = entry.pieces[index].hidden_lines
                joined = lines if after == index + 1 else 0
                total += self._cost_of_lines(joined + hidden) - self._cost_of_lines(joined)
                lines, after = joined + hidden, index
                self._waiting[at] = total
        return self._waiting[state]

    def _cost(self, runs: Iterable[Run]) -> int:
        return sum(self.count(self.entry.mark(run)) for run in runs)

    def _cost_of_lines(self, lines: int) -> int:
        return self._cost([Run(0, lines, ())]) if lines else 0

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
    count: (text) -> cost, int >= 0, pure; adds up where `is_split` says so.
    target: announces its omissions from the start, as its ancestors do.
    total: cost of all shown. least: a bound that the total of no later state is below.
    shown: for each shown node, by index, the state of its entry.
    """

    open_entry: Callable[[Node], Entry]
    count: Count
    target: Node
    total: int = field(default=0, init=False)
    least: int = field(default=0, init=False)
    shown: dict[int, int] = field(default_factory=dict, init=False)
    _priced: dict[int, Priced] = field(default_factory=dict)
    _children: dict[int, int] = field(default_factory=dict, init=False)
    _children_shown: Counter[int] = field(default_factory=Counter, init=False)
    _spine: frozenset[int] = field(default=frozenset(), init=False)
    _costs: dict[str, int] = field(default_factory=dict, init=False)

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
            self._children_shown[parent.index] += 1
        self.shown[node.index] = max(step.pieces, self.shown.get(node.index, 0))
        after = self._standing(node, parent)
        self.total += after[0] - before[0]
        self.least += after[1] - before[1]

    def _standing(self, node: Node, parent: Node | None) -> tuple[int, int]:
        """(cost, least cost later) of what a step can change: the node and its parent's mark."""
        above = self._mark(parent) if parent is not None and parent.index in self.shown else 0
        if node.index not in self.shown:
            return above, 0
        return self.cost(node) + above, self.priced(node).least(self.shown[node.index])

    def cost(self, node: Node) -> int:
        """What a shown node costs: its lines and all that it announces."""
        priced, state = self.priced(node), self.shown[node.index]
        return priced.base(state) + priced.marks(state) + self._mark(node)

    def announced(self, node: Node) -> int:
        """How many children a shown node announces as left out (design 4.4).

        The spine and nodes that show text announce, and whoever shows some child; a bare skeleton
        does not.
        """
        shown_children = self._children_shown[node.index]
        if not (node.index in self._spine or shown_children or self.shows_text(node)):
            return 0
        if node.index not in self._children:
            self._children[node.index] = sum(1 for _ in node.children)
        return self._children[node.index] - shown_children

    def shows_text(self, node: Node) -> bool:
        """Whether the node shows more than a skeleton, or has no more and is meant to be read."""
        entry = self.priced(node).entry
        return self.shown[node.index] > 0 or (entry.is_read and not entry.order)

    def mark(self, node: Node) -> str:
        """The comment that announces a shown node's children that are left out, or nothing."""
        count = self.announced(node)
        return omitted(count, "headline", node.tree.newline) if count else ""

    def _mark(self, node: Node) -> int:
        mark = self.mark(node)
        if mark not in self._costs:
            self._costs[mark] = self.count(mark) if mark else 0
        return self._costs[mark]

    def priced(self, node: Node) -> Priced:
        """The node's entry with its costs."""
        if node.index not in self._priced:
            self._priced[node.index] = Priced(self.open_entry(node), self.count)
        return self._priced[node.index]

    def replay(self, steps: Iterable[Step]) -> Ledger:
        """A ledger of the same nodes and prices in which only `steps` were taken."""
        again = Ledger(self.open_entry, self.count, self.target, self._priced)
        for step in steps:
            again.take(step)
        return again
