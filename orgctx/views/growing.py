"""How a view grows with its budget: one sequence of moments, each a little more than the last."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..core.frame import Holders, order_of
from ..core.lens import rank_of
from ..core.model import Detail, Node, Relation, Step
from ..store.names import shared
from .view import Growth, detail_of

MOMENTS = 1000
"""How many are told; of more, those between are left out."""

FOLDER = -1

Place = tuple[str, int]
"""Where a node is: its file and its number there; of a folder, its path and `FOLDER`."""

Key = tuple[int, int, tuple[str, str], int, int, int]
"""Where a span of a document stands: of two spans the lower one comes first."""


class Change(NamedTuple):
    """A span of the text that is now another. begin, end: how many of its lines stay as they were.

    lines: those in between, line ends and all.
    """

    key: Key
    begin: int
    end: int
    lines: list[str]


class Moment(NamedTuple):
    """What a budget of `tokens` or more shows otherwise than a smaller one.

    details: of what is shown otherwise, with the reason for it. All is shown ever more, but for the
        folder that heads a document of several files: a wider one takes its place.
    """

    tokens: int
    changes: list[Change]
    details: dict[Place, tuple[Detail, str]]


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


def holder_of(key: Key) -> Place:
    """The node whose text or mark a span of the document is."""
    _, kind, (_, path), index, is_text, mark = key
    return (path, index if is_text else -mark) if kind == 1 else (path, FOLDER)


class _Writer:
    """A document that grows, and what of it was told last."""

    def __init__(self, growth: Growth) -> None:
        self._document = growth.document.replay(())
        self._ranks = growth.plan.ranks
        self._told: dict[Key, list[str]] = {}
        self._reasons: dict[Node, str] = {}
        self._touched: dict[Node, None] = {}  # in order
        self._known: dict[Place, tuple[Detail, str]] = {}
        self._head: str | None = None  # the folder that heads it; None while a file does

    def take(self, step: Step) -> None:
        self._document.take(step)
        node, rank = step.node, self._ranks[rank_of(step.interest)]
        self._reasons[node] = f"{step.relation}, {rank.words}"
        holder = self._holder(node)
        around = node, node.parent, holder, holder and holder.parent
        self._touched |= dict.fromkeys(each for each in around if each)

    def _holder(self, node: Node) -> Node | None:
        """The folder that a node's file stands below."""
        frame = self._document.frame
        return frame.holder(node.path) if frame and node.tree is not frame.tree else None

    def moment(self) -> Moment:
        """What is otherwise than at the moment before."""
        head, holders = self._head, self._holders
        self._head = holders.folder if holders else None
        if holders and head is None:  # from here on files are headlines
            self._touched |= dict.fromkeys([holders.root, *self._reasons])
        texts, details = dict(self._texts()), dict(self._details())
        if holders and head is not None and head != self._head:  # a wider one took its place
            texts |= dict.fromkeys(_ends(holders, holders.root, head), "")
            details[head, FOLDER] = Detail.DROPPED, ""
        self._touched = {}
        return Moment(self._document.total, [*self._changes(texts)], self._news(details))

    def _news(self, details: dict[Place, tuple[Detail, str]]) -> dict[Place, tuple[Detail, str]]:
        """Those that were not told yet."""
        news = {place: how for place, how in details.items() if self._known.get(place) != how}
        self._known |= news
        return news

    @property
    def _holders(self) -> Holders | None:
        """What holds the files, once there are several."""
        return None if self._document.is_of_one_file else self._document.holders

    def _texts(self) -> Iterator[tuple[Key, str]]:
        """The spans that what was touched stands in, as they are now."""
        holders = self._holders
        for node in self._touched:
            if ledger := self._document.ledger(node):
                at, place = self._position(node), order_of(node.path)
                yield (at, 1, place, node.index, 1, 0), ledger.text(node)
                yield (at, 1, place, node.end_index, 0, -node.index), ledger.mark(node)
            elif holders:
                first, last = _ends(holders, node, _folder(holders, node))
                yield first, holders.text(node)
                yield last, holders.mark(node)

    def _details(self) -> Iterator[tuple[Place, tuple[Detail, str]]]:
        """How much is shown of what was touched, and why."""
        holders = self._holders
        for node in self._touched:
            if ledger := self._document.ledger(node):
                yield (node.path, node.index), (detail_of(ledger, node), self._reasons[node])
            elif holders:
                why = self._reasons.get(node, f"{Relation.CONTAINER}, {self._ranks[1].words}")
                yield (_folder(holders, node), FOLDER), (Detail.SKELETON, why)

    def _position(self, node: Node) -> int:
        """The place of the folder in which a node is; 0 where folders are no headlines."""
        holder = self._holder(node)
        return holder.index if holder else 0

    def _changes(self, texts: dict[Key, str]) -> Iterator[Change]:
        """What makes the spans as they were told into these."""
        for key in sorted(texts):
            old, new = self._told.get(key, []), _lines(texts[key])
            if new != old:
                begin = shared(old, new)
                end = shared(old[begin:][::-1], new[begin:][::-1])
                self._told[key] = new
                yield Change(key, begin, end, new[begin : len(new) - end])


def _folder(holders: Holders, holder: Node) -> str:
    """The folder that a holder stands for; for the first, the smallest that holds all."""
    return holders.frame.folder_names.get(holder, holders.folder)


def _ends(holders: Holders, holder: Node, folder: str) -> tuple[Key, Key]:
    """Where the line of a holder stands and where its mark, around all that it holds."""
    first, last = (holder.index,) * 2 if holder.level else (-1, len(holders.frame.tree.nodes))
    return (first, 0, ("", folder), 0, 0, 0), (last, 2, ("", folder), 0, 0, 0)


def _lines(text: str) -> list[str]:
    """A text line by line, line feeds and all."""
    *whole, rest = text.split("\n")
    return [f"{line}\n" for line in whole] + ([rest] if rest else [])
