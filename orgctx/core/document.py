"""A document: one file, or several below what holds them, and what all of it costs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .frame import Frame, Holders, order_of
from .ledger import Ledger, Prices
from .model import Node, Step, Tree


class Document:
    """A growing set of shown nodes, in one file or several, and the exact cost of its text.

    As long as all of them are in one file, the file is the document. From the second file on each
    is a headline in it, and the smallest folder that holds them is the document. So one step may
    change the whole; until then the document is kept in both forms.
    """

    def __init__(self, prices: Prices, targets: Iterable[Node], frame: Frame | None = None) -> None:
        """prices: of what may be shown.

        targets: they, and all above them, announce their omissions from the start.
        frame: what holds the files; None if nothing but one file can ever be shown.
        """
        self.prices, self.targets, self.frame = prices, tuple(targets), frame
        self.holders = Holders(frame, prices) if frame else None
        self._alone: Ledger | None = None
        self._among: dict[Tree, Ledger] = {}
        self._files_total = 0

    @property
    def is_of_one_file(self) -> bool:
        """Whether a file is the document."""
        return self.frame is None or (self.frame.folders is None and len(self._among) < 2)

    @property
    def total(self) -> int:
        """What the text of all that is shown costs."""
        if self.holders is None or self.is_of_one_file:
            return self._alone.total if self._alone else 0
        return self._files_total + self.holders.total

    @property
    def ledgers(self) -> list[Ledger]:
        """The files shown, in document order."""
        if self.is_of_one_file:
            return [self._alone] if self._alone else []
        return sorted(self._among.values(), key=lambda each: order_of(each.tree.path))

    def groups(self) -> Iterator[tuple[Node | None, list[Ledger]]]:
        """The files shown, in document order, below the folders that are headlines."""
        if self.frame is None or self.holders is None or self.frame.folders is None:
            yield None, self.ledgers
            return
        below: dict[Node, list[Ledger]] = {}
        for ledger in self.ledgers:
            below.setdefault(self.frame.holder(ledger.tree.path), []).append(ledger)
        for folder in self.frame.nodes.values():
            if folder in self.holders.shown:
                yield folder, below.get(folder, [])

    def take(self, step: Step) -> None:
        """Show as much of the step's node as the step says."""
        tree = step.node.tree
        if self.holders and tree is self.holders.frame.tree:
            self.holders.show(step.node)
            return
        if self.is_of_one_file and (self._alone is None or tree is self._alone.tree):
            self._alone = self._alone or self._open(tree, 0)
            self._alone.take(step)
        if self.holders:
            self._take_among(self.holders, step)

    def _take_among(self, holders: Holders, step: Step) -> None:
        tree = step.node.tree
        if tree not in self._among:
            self._among[tree] = self._open(tree, holders.frame.shift)
            holders.admit(tree)
        before = self._among[tree].total
        self._among[tree].take(step)
        self._files_total += self._among[tree].total - before

    def _open(self, tree: Tree, shift: int) -> Ledger:
        spine = {n.index for t in self.targets if t.tree is tree for n in (t, *t.ancestors)}
        return Ledger(self.prices, tree, frozenset(spine), shift)

    def ledger(self, node: Node) -> Ledger | None:
        """The file of a node, if something of it is shown."""
        if self._alone and self.is_of_one_file:
            return self._alone if node.tree is self._alone.tree else None
        return self._among.get(node.tree)

    def state(self, node: Node) -> int:
        """How many pieces of a node's text are shown; -1 if not even its skeleton is."""
        if self.holders and node in self.holders.shown:
            return 0
        ledger = self.ledger(node)
        return ledger.shown.get(node.index, -1) if ledger else -1

    def pieces(self, node: Node, limit: int | None) -> int:
        """How many pieces of the node's text cost at most `limit`; None: how many there are."""
        return self.prices.of(node, self.frame.shift if self.frame else 0).within(limit)

    def is_long(self, node: Node, limit: int) -> bool:
        """See Priced.is_long."""
        return self.prices.of(node, self.frame.shift if self.frame else 0).is_long(limit)

    def least(self) -> int:
        """A bound that the total is not below, now and after any further step."""
        among = sum(ledger.least() for ledger in self._among.values())
        if not self.is_of_one_file:
            return among
        alone = self._alone.least() if self._alone else 0
        return min(alone, among) if self._among else alone

    def replay(self, steps: Iterable[Step]) -> Document:
        """A document with the same prices in which only `steps` were taken."""
        again = Document(self.prices, self.targets, self.frame)
        for step in steps:
            again.take(step)
        return again
