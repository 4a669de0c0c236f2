"""What puts notes before a model: ours, and what people use without it, at the same budget.

Each is told the headline that somebody looks at, and returns a text of at most `budget` tokens. The
rivals get the benefit of the doubt: they are cut in whole lines, take what is nearest first, and
BM25 is asked with the file's name and all the titles above.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from orgctx.core.model import Node
from orgctx.errors import BudgetTooSmall

from .bm25 import best_of, breadcrumb, headline
from .cutting import cost, filled, first, last
from .notebooks import address
from .questions import Case

Way = Callable[[Case, int], str]


def focus(lens: str, case: Case, budget: int) -> str:
    """A view; nothing where the budget is too small for one."""
    try:
        return case.notebook.memex.focus(address(case.node), budget=budget, lens=lens).text
    except BudgetTooSmall:
        return ""


def beginning(case: Case, budget: int) -> str:
    """The file's first tokens."""
    return first(case.node.tree.text, budget)


def around_point(case: Case, budget: int) -> str:
    """Half before the headline, half from it on; what one side leaves over is the other's."""
    text, at = case.node.tree.text, case.node.start
    behind = first(text[at:], budget - cost(last(text[:at], budget // 2)))
    before = last(text[:at], budget - cost(behind))
    return before + behind


def lineage(case: Case, budget: int) -> str:
    """The entry and those above it, with their texts (a branching context), then what is below."""
    node = case.node
    below = node.tree.nodes[node.index + 1 : node.end_index]
    return filled([node, *reversed(node.ancestors), *below], budget)


def passages(case: Case, budget: int) -> str:
    """The best of BM25."""
    return best_of(case.notebook.passages, breadcrumb(case.node), budget)


def skeleton(case: Case, budget: int) -> str:
    """Headlines alone, as a map of a repository has names alone: the nearest, then other files'."""
    here, kept = case.node.tree, []
    for node in nearest(case.node):
        budget -= cost(headline(node))
        if budget < 0:
            break
        kept.append(node)
    text = "".join(headline(each) for each in sorted(kept, key=lambda each: each.index))
    others = (tree for tree in case.notebook.trees if tree is not here)
    for tree in others if budget > 0 else ():
        part = first("".join([f"# {tree.path}\n", *map(headline, tree.nodes[1:])]), budget)
        budget -= cost(part)
        text += part
        if not part:
            break
    return text


def nearest(node: Node) -> Iterator[Node]:
    """The headlines of its file: those above, itself, and the others by their distance."""
    nodes = node.tree.nodes
    first_of_all = [node, *reversed(node.ancestors[1:])]
    yield from first_of_all
    known = {each.index for each in first_of_all}
    for distance in range(1, len(nodes)):
        for index in (node.index - distance, node.index + distance):
            if 0 < index < len(nodes) and index not in known:
                yield nodes[index]


OURS: dict[str, Way] = {
    "focus, foveal": partial(focus, "foveal"),
    "focus, fisheye": partial(focus, "fisheye"),
}
RIVALS: dict[str, Way] = {
    "file's beginning": beginning,
    "around point": around_point,
    "lineage": lineage,
    "BM25 passages": passages,
    "skeleton": skeleton,
}
WAYS = OURS | RIVALS
