"""Views for the tests: the engine over one tree, and what must hold of each of its answers."""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path

from orgctx.core import lens
from orgctx.core.document import Document
from orgctx.core.entry import Entry, entry, skeleton
from orgctx.core.ledger import Prices
from orgctx.core.model import Detail, Node, Step, Tree, View
from orgctx.core.render import render
from orgctx.errors import BudgetTooSmall
from orgctx.store.store import Store
from orgctx.tokens import ENCODINGS, get_encoding
from orgctx.views.focus import focus
from orgctx.views.view import Limit

MARK = re.compile(r"^# … (\d+) (headline|line|file|folder)s? omitted\r?\n", re.MULTILINE)


def by_tiktoken(encoding: str) -> Callable[[str], int]:
    """What tiktoken itself counts, whatever else may count."""
    encode = get_encoding(encoding).encode
    return lambda text: len(encode(text, disallowed_special=()))


SIZES = {name: by_tiktoken(name) for name in ENCODINGS}


class OneTree(Store):
    """A store of one tree that is already read."""

    def __init__(self, tree: Tree) -> None:
        super().__init__()
        self._tree = tree
        self._lone = {tree.path: None}

    def tree(self, path: str) -> Tree:
        assert path == self._tree.path
        return self._tree

    def place(self, path: str) -> Path:
        return Path("/", path)

    def is_edited(self, path: str) -> bool:
        return False


def view_of(node: Node, budget: int, **options: object) -> View:
    """Focus on a node by its place in the tree, without any address."""
    lens = {name: options.pop(name) for name in ("lens", "background") if name in options}
    return focus(OneTree(node.tree), [_address(node)], Limit(budget, **options), **lens)


def _address(node: Node) -> str:
    return f"{node.path}:{node.first_line}" if node.level else node.path


def smallest_budget(node: Node, **options: object) -> int:
    """What the spine costs."""
    try:
        return view_of(node, 1, **options).tokens
    except BudgetTooSmall as error:
        return error.needed


@cache
def whole(text: str) -> int:
    return SIZES["o200k_base"](text)


def check(view: View, count: Callable[[str], int] = SIZES["o200k_base"]) -> None:
    """What holds of every single view: the limit, closure, order, and that omissions add up."""
    assert count(view.text) == view.tokens <= view.budget
    assert sum(each.tokens for each in view.shown) == view.tokens
    shown = {each.node.index: each for each in view.shown}
    assert list(shown) == sorted(shown)
    for each in view.shown:
        assert each.node.parent_index in shown or each.node.level == 0
    check_omissions(view, shown)


def check_omissions(view: View, shown: dict) -> None:
    announced = {each.node.index: each for each in view.omitted}
    for each in view.shown:
        node, children = each.node, list(each.node.children)
        there = sum(child.index in shown for child in children)
        speaks = each.relation in ("target", "ancestor") or there or each.detail != Detail.SKELETON
        missing = announced[node.index].headlines if node.index in announced else 0
        assert missing == (len(children) - there if speaks else 0)
    assert [(int(n), what) for n, what in MARK.findall(view.text)].count((0, "line")) == 0
    counted = dict.fromkeys(("headline", "line", "file", "folder"), 0)
    for number, what in MARK.findall(view.text):
        counted[what] += int(number)
    source = dict.fromkeys(counted, 0)
    for number, what in MARK.findall(view.shown[0].node.tree.text):
        source[what] += int(number)
    if not any(source.values()):
        assert counted["headline"] == sum(each.headlines for each in view.omitted)
        assert counted["line"] == sum(each.lines for each in view.omitted)


RANK = {Detail.SKELETON: 0, Detail.CUT: 1, Detail.FULL: 2}
Place = tuple[str, int, int]


def states(view: View) -> dict[Place, tuple[int, int]]:
    """For each shown node its detail as something that may only grow."""
    left = {each.node: each.lines for each in view.omitted}
    return {
        (each.path, each.line, each.level): (RANK[each.detail], -left.get(each.node, 0))
        for each in view.shown
        if each.level >= 0
    }


def check_nesting(views: Iterable[View]) -> None:
    """A larger budget never shows less. views: of one question, by growing budget."""
    before: dict[Place, tuple[int, int]] = {}
    for now in map(states, views):
        for place, state in before.items():
            assert now[place] >= state
        before = now


def all_steps(
    target: Node, count: Callable[[str], int]
) -> tuple[list[Step], Callable[[], Document]]:
    """The whole sequence of the foveal lens, and a maker of fresh documents for it."""
    read = {child.index for child in target.children if not child.is_commented}

    def open_entry(node: Node, stars: int) -> Entry:
        if node.index == target.index:
            return entry(node, str, is_target=True)
        return entry(node, str) if node.index in read else skeleton(node, str)

    def fresh() -> Document:
        return Document(Prices(open_entry, count), [target])

    return list(lens.foveal(target, fresh().pieces)), fresh


def best_by_trying_all(target: Node, budget: int, count: Callable[[str], int]) -> str | None:
    """The longest prefix that fits, found by rendering and counting every prefix."""
    steps, fresh = all_steps(target, count)
    spine, best = lens.spine(target), None
    document = fresh()
    for step in spine:
        document.take(step)
    for step in [None, *one_by_one(steps)]:
        if step is not None:
            document.take(step)
        text = render(document)
        if count(text) <= budget:
            best = text
    return best


def one_by_one(steps: list[Step]) -> Iterator[Step]:
    """The steps with each piece on its own."""
    shown: dict[Node, int] = {}
    for step in steps:
        begun = shown.get(step.node, 0)
        for pieces in range(begun + 1, step.pieces + 1) if step.pieces else [0]:
            yield step._replace(pieces=pieces)
        shown[step.node] = step.pieces
