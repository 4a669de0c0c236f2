"""Why a view shows what it shows: each node with its detail, its cost, its rank and the reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence, Set
from typing import Any, NamedTuple

from ..core.entry import many
from ..core.frame import order_of
from ..core.lens import rank_of
from ..core.model import Detail, Node, Relation, Shown, View
from ..store.roots import escaped
from .page import brief, fit, indent, plain
from .view import EXPLAIN_BUDGET, Growth, Limit, whole

SIGNS = {Detail.FULL: "+", Detail.CUT: "~", Detail.SKELETON: "-", Detail.DROPPED: "."}
LEGEND = "+ full  ~ cut  - title and ID  . dropped, and what title and ID would cost"
WIDTH = 80

_BAR = "{:10} {:7} {:3.0f} %  "
_PLACE = "{:1}{:>7} {:>5}  "
_TITLE = 34
_LEAST_ROW = 10
"""Tokens that no row costs less than."""


class Bar(NamedTuple):
    """What the nodes of one relation cost in a view. share: of the budget, 0 to 1."""

    relation: str
    nodes: int
    tokens: int
    share: float


class Row(NamedTuple):
    """A node that the lens has come to, or would come to next.

    depth: in the tree, from 0. tokens: what it costs; of one that is dropped, what its title and ID
        would cost in a view of its file. ranks: those that made it what it is; where it is dropped,
        the one that would show it. reason: the last of them, in words.
    lines: of its text, left out. unlisted: what is below it, dropped and in no row.
    """

    address: str
    path: str
    line: int
    title: str
    depth: int
    detail: Detail
    tokens: int
    relation: Relation
    ranks: tuple[int, ...]
    reason: str
    lines: int = 0
    unlisted: int = 0


class Explanation(NamedTuple):
    """Why a view is as it is.

    nodes: how many are shown. of: how many there are in the files that are shown.
    bars: by relation. rows: as a tree; the first in the lens' order that fit. more: how many shown
        nodes have no row. cost: of a text.
    """

    view: View
    nodes: int
    of: int
    bars: tuple[Bar, ...]
    rows: tuple[Row, ...]
    more: int
    text: str
    cost: Callable[[str], int]

    @property
    def tokens(self) -> int:
        """What the text costs, in tokens whatever the view counts."""
        return self.cost(self.text)


def explain(
    growth: Growth,
    explain_budget: int = EXPLAIN_BUDGET,
    shape: Callable[[Explanation], str] | None = None,
) -> Explanation:
    """Tell of each node in and around a view why it is there, or is not.

    explain_budget: int > 0, the most tokens that the explanation may cost. shape: how it is
        written, by default as its text; that is what the budget holds for.
    Returns: Explanation. Its rows are the longest beginning of the lens' order that fits.
    Raises: BadArgument, BudgetTooSmall.
    """
    whole("explain_budget", explain_budget, 1)
    limit, store = Limit(explain_budget, encoding=growth.limit.encoding), growth.names.store
    count = store.page_counter("tokens", limit.encoding)
    reasons, view = _Reasons(growth, explain_budget // _LEAST_ROW), growth.view
    order, bars, of = reasons.order(view), tuple(_bars(view)), _nodes_around(view)

    def page(listed: int) -> Explanation:
        rows = tuple(reasons.rows(view, {*order[:listed]}))
        nodes = len(view.shown)
        more = nodes - sum(row.detail != Detail.DROPPED for row in rows)
        found = Explanation(view, nodes, of, bars, rows, more, "", count)
        return found._replace(text=escaped(_text(found)))

    write = shape or (lambda explanation: explanation.text)
    return page(fit(lambda n: write(page(n)), len(order), limit, count, "explain_budget"))


def _bars(view: View) -> Iterator[Bar]:
    nodes, tokens = Counter[str](), Counter[str]()
    for each in view.shown:
        nodes[each.relation] += 1
        tokens[each.relation] += each.tokens
    for relation in filter(nodes.__contains__, Relation):
        cost = tokens[relation]
        yield Bar(relation, nodes[relation], cost, cost / view.budget)


def _nodes_around(view: View) -> int:
    """How many nodes the files have that are shown, and what holds them."""
    trees = {each.node.tree for each in view.shown if each.level >= 0}
    holders = sum(each.level < 0 for each in view.shown)
    return holders + sum(len(tree.nodes) for tree in trees)


class _Reasons:
    """Why each node is shown, and of those that are not the first that would be."""

    def __init__(self, growth: Growth, most: int) -> None:
        """most: how many dropped nodes are looked for."""
        self._growth, self._document = growth, growth.document
        self._ranks: dict[Node, dict[int, Relation]] = {}
        for step in growth.steps:
            self._ranks.setdefault(step.node, {})[rank_of(step.interest)] = step.relation
        self._dropped: dict[Node, dict[int, Relation]] = {}
        later = (step for step in growth.later() if self._document.state(step.node) < 0)
        for step in later:
            self._dropped.setdefault(step.node, {rank_of(step.interest): step.relation})
            if len(self._dropped) >= most:
                break

    def order(self, view: View) -> list[Node]:
        """All nodes that there is a reason for: what holds files, then in the lens' order."""
        holders = (each.node for each in view.shown if each.node not in self._ranks)
        return [*holders, *self._ranks, *self._dropped]

    def rows(self, view: View, listed: Set[Node]) -> Iterator[Row]:
        """These nodes as a tree, in document order."""
        shown = {each.node: each for each in view.shown}
        left_out = {each.node: each for each in view.omitted}
        below: dict[Node | None, list[Node]] = {}
        for node in listed:
            above = self._above(node)
            below.setdefault(above if above in listed else None, []).append(node)
        waiting = [(node, 0) for node in _sorted(below.get(None, ()))]
        while waiting:
            node, depth = waiting.pop()
            waiting += [(each, depth + 1) for each in _sorted(below.get(node, ()))]
            row = self._shown(shown[node]) if node in shown else self._lacking(node)
            if omission := left_out.get(node):
                dropped = sum(each not in shown for each in below.get(node, ()))
                unlisted = max(0, omission.headlines + len(omission.paths) - dropped)
                row = row._replace(lines=omission.lines, unlisted=unlisted)
            yield row._replace(depth=depth)

    def _above(self, node: Node) -> Node | None:
        """What holds a node in the document."""
        frame = self._document.frame
        if node.parent or frame is None or self._document.is_of_one_file or node.tree is frame.tree:
            return node.parent
        return frame.holder(node.path)

    def _shown(self, each: Shown) -> Row:
        why = self._ranks.get(each.node, {1: each.relation})
        row = self._row(each.node, each.address, each.detail, each.tokens, why)
        return row._replace(line=each.line, path=each.path, relation=each.relation)

    def _lacking(self, node: Node) -> Row:
        document, frame = self._document, self._document.frame
        if frame and document.holders and node.tree is frame.tree:
            address = document.holders.name(node)
            cost = document.prices.once(document.holders.text(node))
        else:
            address = self._growth.names.address(node)
            cost = document.prices.of(node).base(0)
        return self._row(node, address, Detail.DROPPED, cost, self._dropped[node])

    def _row(
        self, node: Node, address: str, detail: Detail, cost: int, why: dict[int, Relation]
    ) -> Row:
        last = max(why)
        words = f"{why[last]}, {self._growth.plan.ranks[last].words}"
        title = brief(node.title) or (address if node.level < 1 else "(no title)")
        place = (address, node.path, node.first_line, title)
        return Row(*place, 0, detail, cost, why[last], tuple(sorted(why)), words)


def _sorted(nodes: Sequence[Node]) -> list[Node]:
    """In the order of a document, backwards: what is taken from the end comes in order."""
    return sorted(nodes, key=lambda node: (order_of(node.path), node.index), reverse=True)


def _text(found: Explanation) -> str:
    view = found.view
    used = f"{view.tokens} of {many(view.budget, view.unit[:-1])}"
    nodes = f"{found.nodes} of {many(found.of, 'node')} of the files shown"
    head = f"{used} ({100 * view.tokens / view.budget:.0f} %), {nodes}\n"
    bars = "".join(_bar(bar.relation, bar.tokens, bar.share) for bar in found.bars)
    unused = view.budget - view.tokens
    bars += _bar("unused", unused, unused / view.budget, "░")
    more = f"… and {many(found.more, 'more node')} shown: see --explain-budget\n"
    columns = _PLACE.format("", "tokens", "rank").replace("tokens", f"{view.unit:>6}") + "\n"
    rows = "".join(map(_lines, found.rows))
    return f"{head}{bars}{LEGEND}\n{columns.rstrip()}\n{rows}{more if found.more else ''}"


def _bar(name: str, tokens: int, share: float, cell: str = "█") -> str:
    start = _BAR.format(name, tokens, 100 * share)
    cells = round(share * (WIDTH - len(start)))
    return f"{start}{cell * max(cells, tokens > 0)}".rstrip() + "\n"


def _lines(row: Row) -> str:
    """A row, and below it what is left out there."""
    first, last = row.ranks[0], row.ranks[-1]
    cost = f"+{row.tokens}" if row.detail == Detail.DROPPED else row.tokens
    place = _PLACE.format(SIGNS[row.detail], cost, first if first == last else f"{first}-{last}")
    title = indent(row.depth) + plain(row.title)
    counts = [(row.lines, "line"), (row.unlisted, "more node")]
    rest = " and ".join(many(number, what) for number, what in counts if number)
    mark = f"{' ' * len(place)}{indent(row.depth)}  … {rest} left out\n" if rest else ""
    return f"{place}{_fitted(title)} {row.reason}\n{mark}"


def _fitted(title: str) -> str:
    """A title as wide as its column, where some characters take two cells and some none."""
    from rich.cells import cell_len, set_cell_size  # only who explains pays

    if cell_len(title) > _TITLE:
        return set_cell_size(title, _TITLE - 1) + "…"
    return set_cell_size(title, _TITLE)


def to_data(explanation: Explanation) -> dict[str, Any]:
    """The explanation as data for JSON."""
    view = explanation.view
    return {
        "tokens": view.tokens,
        "budget": view.budget,
        "unit": view.unit,
        "encoding": view.encoding,
        "targets": view.targets,
        "nodes": explanation.nodes,
        "of": explanation.of,
        "relations": [
            {**each._asdict(), "share": round(each.share, 4)} for each in explanation.bars
        ],
        "rows": [each._asdict() for each in explanation.rows],
        "more": explanation.more,
    }
