"""How a view grows with its budget: one sequence of moments, each a little more than the last."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..core.frame import Holders, place_of
from ..core.lens import rank_of
from ..core.model import Detail, Node, Step
from .view import Growth, detail_of

MOMENTS = 1000
"""How many are told; of more, those between are left out."""

Key = tuple[int, int, tuple[str, str], int, int, int]
"""Where a part of a document stands: of two parts the lower one comes first."""

_NOWHERE = ("", "")


class Change(NamedTuple):
    """A part of the text that is now another. begin, end: how many of its lines stay as they were.

    lines: those in between, line ends and all.
    """

    key: Key
    begin: int
    end: int
    lines: list[str]


class Moment(NamedTuple):
    """What a budget of `tokens` or more shows otherwise than a smaller one.

    details: of the nodes of which more is shown, with the reason for it.
    """

    tokens: int
    changes: list[Change]
    details: dict[Node, tuple[Detail, str]]


def moments(growth: Growth, most: int = MOMENTS) -> Iterator[Moment]:
    """Tell how a view came to be, from the least budget that works to its own.

    most: the most moments, int >= 2; the first and the last are always among them.
    """
    steps, totals = _one_by_one(growth)
    stops, writer = set(_stops(totals, most)), _Writer(growth)
    for at, step in enumerate(steps):
        writer.take(step)
        if at in stops:
            yield writer.moment()


def _one_by_one(growth: Growth) -> tuple[list[Step], list[int | None]]:
    """The steps, a piece at a time, and what the text costs after each; None within the spine."""
    document, steps, totals = growth.document.replay(()), list[Step](), list[int | None]()
    for at, step in enumerate(growth.steps, 1):
        for pieces in range(document.state(step.node) + 1, step.pieces + 1):
            steps.append(step._replace(pieces=pieces))
            document.take(steps[-1])
            totals.append(document.total if at > len(growth.plan.spine) else None)
        if at == len(growth.plan.spine):
            totals[-1] = document.total
    return steps, totals


def _stops(totals: Sequence[int | None], most: int) -> Sequence[int]:
    """After which steps some budget ends: those that no later one makes cheaper."""
    found, least = list[int](), None
    for at in range(len(totals) - 1, -1, -1):
        total = totals[at]
        if total is not None and (least is None or total < least):
            found.append(at)
            least = total
    found.reverse()
    if len(found) <= most:
        return found
    return [found[at * (len(found) - 1) // (most - 1)] for at in range(most)]


class _Writer:
    """A document that grows, and what of its text was told last."""

    def __init__(self, growth: Growth) -> None:
        self._document = growth.document.replay(())
        self._ranks = growth.plan.ranks
        self._told: dict[Key, list[str]] = {}
        self._reasons: dict[Node, str] = {}
        self._touched: dict[Node, None] = {}  # in order
        self._was_one = True

    def take(self, step: Step) -> None:
        self._document.take(step)
        rank = self._ranks[rank_of(step.interest)]
        self._reasons[step.node] = f"{step.relation}, {rank.words}"
        self._touched |= dict.fromkeys(each for each in (step.node, step.node.parent) if each)

    def moment(self) -> Moment:
        """What is otherwise than at the moment before."""
        document = self._document
        if self._was_one and not document.is_of_one_file:  # from here on files are headlines
            self._touched |= dict.fromkeys(self._reasons)
        self._was_one = document.is_of_one_file
        changes, details = list[Change](), dict[Node, tuple[Detail, str]]()
        for node in self._touched:
            if ledger := document.ledger(node):
                details[node] = detail_of(ledger, node), self._reasons[node]
            elif node in self._reasons:
                details[node] = Detail.SKELETON, self._reasons[node]
        for key, text in sorted(self._parts()):
            changes += self._change(key, text)
        self._touched = {}
        return Moment(document.total, changes, details)

    def _parts(self) -> Iterator[tuple[Key, str]]:
        """The parts that what was touched stands in, as they are now."""
        document = self._document
        holders = None if document.is_of_one_file else document.holders
        for node in self._touched:
            if ledger := document.ledger(node):
                at = self._position(holders, node)
                place = place_of(node.path)
                yield (at, 1, place, node.index, 1, 0), ledger.text(node)
                yield (at, 1, place, node.end_index, 0, -node.index), ledger.mark(node)
        if holders:
            yield from _held(holders, {self._position(holders, node) for node in self._touched})

    def _position(self, holders: Holders | None, node: Node) -> int:
        """The place of the folder in which a node is; 0 where folders are no headlines."""
        if holders is None or holders.frame.folders is None:
            return 0
        own = node.tree is holders.frame.tree
        return node.index if own else holders.frame.holder(node.path).index

    def _change(self, key: Key, text: str) -> Iterator[Change]:
        old = self._told.get(key, [])
        new = [f"{line}\n" for line in text.split("\n")]
        new[-1] = new[-1][:-1]
        new = new if new[-1] else new[:-1]
        if new == old:
            return
        begin = _common(old, new)
        end = _common(old[begin:][::-1], new[begin:][::-1])
        self._told[key] = new
        yield Change(key, begin, end, new[begin : len(new) - end])


def _held(holders: Holders, positions: set[int]) -> Iterator[tuple[Key, str]]:
    """The lines of what holds the files, and its marks."""
    last = len(holders.frame.tree.nodes)
    yield (-1, 0, _NOWHERE, 0, 0, 0), holders.text(holders.root)
    yield (last, 0, _NOWHERE, 0, 0, 0), holders.mark(holders.root)
    for at in positions - {0}:
        folder = holders.frame.tree.nodes[at]
        yield (at, 0, _NOWHERE, 0, 0, 0), holders.text(folder)
        yield (at, 2, _NOWHERE, 0, 0, 0), holders.mark(folder)


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """How many lines both begin with."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))
