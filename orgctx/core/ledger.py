"""What a partial view costs, kept up to date step by step."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import accumulate

from .entry import Entry, Piece, Run, omitted
from .model import Node, Step, Tree

Count = Callable[[str], int]

LONG = 40
"""Characters a token of a limit. Text seldom has as many, so longer text hardly ever fits."""


@dataclass(slots=True, eq=False)
class Priced:
    """An entry with the cost of each of its states, worked out as far as anybody asked."""

    entry: Entry
    count: Count
    _bases: list[int] = field(default_factory=list)
    _passed: list[int] = field(default_factory=lambda: [0])
    _waiting: dict[int, int] = field(default_factory=dict)
    _behind: list[int] = field(default_factory=list)
    _whole: int = -1
    _shrinkage: int = -1

    def base(self, state: int) -> int:
        """The cost of the source's lines shown in `state`.

        Of the skeleton and of the whole entry it is the count of one text; between them pieces add
        up.
        """
        pieces = self.entry.pieces
        if not self._bases:
            self._bases.append(self.count("".join(piece.reduced for piece in pieces)))
        if state and state == len(self.entry.order):
            if self._whole < 0:
                self._whole = self.count("".join(piece.text for piece in pieces))
            return self._whole
        while len(self._bases) <= state:
            piece = pieces[self.entry.order[len(self._bases) - 1]]
            self._bases.append(self._bases[-1] + self._gain(piece))
        return self._bases[state]

    def is_long(self, limit: int) -> bool:
        """Whether the text is so long that counting it all, to compare with `limit`, is a waste."""
        return sum(len(piece.text) for piece in self.entry.pieces) > LONG * limit

    def _gain(self, piece: Piece) -> int:
        """What it costs that a piece becomes whole; less than nothing in rare cases."""
        return self.count(piece.text) - (self.count(piece.reduced) if piece.reduced else 0)

    def least(self, state: int) -> int:
        """What the source's lines cost at least in `state` and in each later one."""
        if self._shrinkage < 0:
            pieces = (self.entry.pieces[at] for at in self.entry.order)
            gains = (self._gain(piece) for piece in pieces if piece.reduced)
            self._shrinkage = -sum(gain for gain in gains if gain < 0)
        return self.base(state) - self._shrinkage

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
        if limit is None or (not self.is_long(limit) and self.base(states) <= limit):
            return states
        state = 0
        while state < states and self.base(state + 1) <= limit:
            state += 1
        return state


@dataclass(slots=True, eq=False)
class Prices:
    """What each node's entry costs, worked out once; in a document of several files too.

    open_entry: (node, stars) -> its entry, as far as it may be shown; stars: of a file that is a
        headline, else 0.
    count: (text) -> cost, int >= 0, pure; adds up where `is_split` says so.
    """

    open_entry: Callable[[Node, int], Entry]
    count: Count
    _known: dict[tuple[Node, int], Priced] = field(default_factory=dict, init=False)
    _costs: dict[str, int] = field(default_factory=dict, init=False)

    def of(self, node: Node, stars: int = 0) -> Priced:
        """The node's entry with its costs. stars: of a file that is a headline, else 0."""
        key = node, 0 if node.level else stars
        if key not in self._known:
            self._known[key] = Priced(self.open_entry(*key), self.count)
        return self._known[key]

    def once(self, text: str) -> int:
        """The cost of a short text that is wanted again and again."""
        if text not in self._costs:
            self._costs[text] = self.count(text) if text else 0
        return self._costs[text]


@dataclass(slots=True, eq=False)
class Ledger:
    """A growing set of shown nodes of one file and its exact cost.

    prices: what entries cost.
    tree: the file.
    spine: the nodes, by index, that announce their omissions from the start: the targets and those
        above them.
    shift: how many levels down the file is shown: 0 if its document is of this file alone.
    total: cost of all shown.
    shown: for each shown node, by index, the state of its entry.
    """

    prices: Prices
    tree: Tree
    spine: frozenset[int]
    shift: int = 0
    total: int = field(default=0, init=False)
    shown: dict[int, int] = field(default_factory=dict, init=False)
    _children: dict[int, int] = field(default_factory=dict, init=False)
    _children_shown: Counter[int] = field(default_factory=Counter, init=False)

    def take(self, step: Step) -> None:
        """Show as much of the step's node as the step says."""
        node, parent = step.node, step.node.parent
        before = self._standing(node, parent)
        if node.index not in self.shown and parent is not None:
            self._children_shown[parent.index] += 1
        self.shown[node.index] = step.pieces
        self.total += self._standing(node, parent) - before

    def _standing(self, node: Node, parent: Node | None) -> int:
        """The cost of what a step can change: the node, and its parent's mark."""
        above = self._mark(parent) if parent is not None and parent.index in self.shown else 0
        return above + (self.cost(node) if node.index in self.shown else 0)

    def least(self) -> int:
        """A bound that the total is not below, now and after any further step."""
        nodes = self.tree.nodes
        return sum(
            self.priced(nodes[index]).least(state) + self._stars(nodes[index])
            for index, state in self.shown.items()
        )

    def cost(self, node: Node) -> int:
        """What a shown node costs: its lines and all that it announces."""
        priced, state = self.priced(node), self.shown[node.index]
        return priced.base(state) + priced.marks(state) + self._stars(node) + self._mark(node)

    def _stars(self, node: Node) -> int:
        """What it costs that a headline stands deeper than in its file: stars are always apart."""
        if not self.shift or not node.level:
            return 0
        deeper = self.prices.once("*" * (node.level + self.shift))
        return deeper - self.prices.once("*" * node.level)

    def announced(self, node: Node) -> int:
        """How many children a shown node announces as left out.

        The spine and nodes that show text announce, and whoever shows some child; a bare skeleton
        does not.
        """
        shown_children = self._children_shown[node.index]
        if not (node.index in self.spine or shown_children or self.shows_text(node)):
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
        return self.prices.once(self.mark(node))

    def priced(self, node: Node) -> Priced:
        """The node's entry with its costs."""
        return self.prices.of(node, self.shift)

    def text(self, node: Node) -> str:
        """A shown node's lines as they stand in the document."""
        text = self.priced(node).entry.text(self.shown[node.index])
        return "*" * self.shift + text if node.level else text
