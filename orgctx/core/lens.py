"""The lens: from a node's relation to the target to its interest, as one ordered sequence."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from heapq import merge
from itertools import count, zip_longest

from .model import Node, Relation, Step

TARGET_FIRST = 800
CHILD_FIRST = 300
NEAR_SIBLINGS = 10
BACKGROUND = 24

Pieces = Callable[[Node, int | None], int]


def spine(target: Node) -> list[Step]:
    """The steps without which nothing can be placed: skeletons from the file node to the target."""
    above = [Step(node, 0, Relation.ANCESTOR, 10.0) for node in target.ancestors]
    return [*above, Step(target, 0, Relation.TARGET, 10.0)]


def foveal(target: Node, pieces: Pieces, background: int = BACKGROUND) -> Iterator[Step]:
    """Order all that may be shown around `target`, most interesting first (design 4.2).

    target: any node. The spine is not repeated.
    pieces: (node, limit) -> how many pieces of its text cost at most `limit` tokens; limit None:
        how many there are. Called only when the sequence gets there.
    background: how many level-1 headlines of the rest of the file may be sketched, int >= 0.
    Returns: steps of never rising interest; a node's skeleton precedes its text, an ancestor its
        descendants. A step of many pieces stands for as many steps, in order. The order does not
        depend on any budget. A commented child keeps to its skeleton: what its author switched off
        is read only when asked for.
    """
    children = list(target.children)
    open_children = [child for child in children if not child.is_commented]
    near, far = _siblings(target)

    def text(
        rank: int, nodes: list[Node], relation: Relation, begun: int, limit: int | None
    ) -> Iterator[Step]:
        for distance, node in enumerate(nodes, 1):
            wanted = pieces(node, limit)
            if wanted > (pieces(node, begun) if begun else 0):
                yield Step(node, wanted, relation, _interest(rank, distance))

    def skeletons(
        rank: int, nodes: Iterable[tuple[int, Node]], relation: Relation
    ) -> Iterator[Step]:
        return (Step(node, 0, relation, _interest(rank, far)) for far, node in nodes)

    yield from text(2, [target], Relation.TARGET, 0, TARGET_FIRST)
    yield from merge(
        skeletons(3, enumerate(children, 1), Relation.CHILD),
        skeletons(3, near, Relation.SIBLING),
        key=lambda step: -step.interest,
    )
    yield from text(4, [target], Relation.TARGET, TARGET_FIRST, None)
    yield from text(5, open_children, Relation.CHILD, 0, CHILD_FIRST)
    yield from skeletons(6, far, Relation.SIBLING)
    yield from text(7, open_children, Relation.CHILD, CHILD_FIRST, None)
    yield from skeletons(8, _deeper(open_children), Relation.DESCENDANT)
    yield from skeletons(9, _rest_of_file(target, background), Relation.BACKGROUND)


def _interest(rank: int, distance: int) -> float:
    """Ranks come first, distance orders within one: a number in (9 - rank, 10 - rank)."""
    return 10 - rank - distance / (distance + 1)


def _siblings(target: Node) -> tuple[list[tuple[int, Node]], list[tuple[int, Node]]]:
    """(distance, sibling), nearest first, those within NEAR_SIBLINGS apart from the others."""
    parent = target.parent
    nearest = [] if parent is None else list(_nearest(list(parent.children), target))
    split = sum(distance <= NEAR_SIBLINGS for distance, _ in nearest)
    return nearest[:split], nearest[split:]


def _nearest(nodes: list[Node], centre: Node) -> Iterator[tuple[int, Node]]:
    """The other nodes with their distance from `centre`, nearest first, the earlier one first."""
    place = nodes.index(centre)
    pairs = zip_longest(reversed(nodes[:place]), nodes[place + 1 :])
    for distance, pair in zip(count(1), pairs, strict=False):
        yield from ((distance, node) for node in pair if node is not None)


def _deeper(children: list[Node]) -> Iterator[tuple[int, Node]]:
    """(depth, descendant) below the children, nearest level first, in document order."""
    level = children
    for depth in count(1):
        level = [node for above in level for node in above.children if not above.is_commented]
        if not level:
            return
        yield from ((depth, node) for node in level)


def _rest_of_file(target: Node, background: int) -> Iterator[tuple[int, Node]]:
    """The level-1 headlines nearest to the one above the target, unless they are its siblings."""
    above = target.ancestors
    if len(above) < 2:
        return iter(())
    nearest = _nearest(list(above[0].children), above[1])
    return (pair for pair, _ in zip(nearest, range(background), strict=False))
