"""The lens: from a node's relation to the target to its interest, as one ordered sequence."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from heapq import merge
from itertools import chain, count, pairwise, zip_longest
from typing import NamedTuple

from .model import Node, Relation, Step

TARGET_FIRST = 800
CHILD_FIRST = 300
NEAR_SIBLINGS = 10
BACKGROUND = 24

LINKED = 24
ACTIVE_FIRST = 3
TOP = 20.0

Pieces = Callable[[Node, int | None], int]


def spine(*targets: Node) -> list[Step]:
    """The steps without which nothing can be placed: skeletons from file nodes to the targets."""
    above = dict.fromkeys(node for target in targets for node in target.ancestors)
    steps = [Step(node, 0, Relation.ANCESTOR, TOP) for node in above if node not in targets]
    return [*steps, *(Step(target, 0, Relation.TARGET, TOP) for target in dict.fromkeys(targets))]


def together(sequences: Iterable[Iterable[Step]]) -> Iterator[Step]:
    """The steps of several targets as one sequence: the most interesting of all first.

    A node may come up more than once; whoever takes the steps passes over what is shown already.
    """
    return merge(*sequences, key=lambda step: -step.interest)


def foveal(target: Node, pieces: Pieces, background: int = BACKGROUND) -> Iterator[Step]:
    """Order all that may be shown around `target`, most interesting first.

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
    yield from _texts(2, [target], Relation.TARGET, pieces, (0, TARGET_FIRST))
    yield from together(
        (
            _skeletons(3, enumerate(children, 1), Relation.CHILD),
            _skeletons(3, near, Relation.SIBLING),
        )
    )
    yield from _texts(4, [target], Relation.TARGET, pieces, (TARGET_FIRST, None))
    yield from _texts(5, open_children, Relation.CHILD, pieces, (0, CHILD_FIRST))
    yield from _skeletons(6, far, Relation.SIBLING)
    yield from _texts(7, open_children, Relation.CHILD, pieces, (CHILD_FIRST, None))
    yield from _skeletons(8, _deeper(open_children), Relation.DESCENDANT)
    yield from _skeletons(9, _rest_of_file(target, background), Relation.BACKGROUND)


class Around(NamedTuple):
    """What is near a target beyond what its tree tells; each is asked for only when it is wanted.

    links: the nodes that the target links to. backlinks: those that link to it.
    files: the other files' nodes, the nearest first.
    """

    links: Callable[[Node], Iterable[Node]]
    backlinks: Callable[[Node], Iterable[Node]]
    files: Callable[[Node], Iterable[Node]]


def fisheye(
    target: Node, pieces: Pieces, around: Around, background: int = BACKGROUND
) -> Iterator[Step]:
    """As `foveal`, and then what is next nearest, in other files too.

    around: where that is. Other parameters as for `foveal`.
    Returns: steps as `foveal` does; a node of another place comes behind all that is above it.
    """
    yield from foveal(target, pieces, background)
    parent = [node for node in target.ancestors[-1:] if not node.is_commented]
    yield from _texts(10, parent, Relation.ANCESTOR, pieces, (0, None))
    linked = _linked(target, around)
    for distance, (node, relation) in enumerate(linked, 1):
        yield from _placed(11, distance, node, relation)
    for rank, limits in ((12, (0, CHILD_FIRST)), (13, (CHILD_FIRST, None))):
        yield from (
            step
            for distance, (node, relation) in enumerate(linked, 1)
            for step in _texts(rank, [node], relation, pieces, limits, distance)
            if not node.is_in_comment
        )
    near, far = _siblings(target)
    siblings = [node for _, node in (*near, *far) if not node.is_commented]
    yield from _texts(14, siblings, Relation.SIBLING, pieces, (0, None))
    yield from _skeletons(15, _beside_ancestors(target), Relation.BACKGROUND)
    yield from _skeletons(16, enumerate(around.files(target), 1), Relation.FILE)


class Survey(NamedTuple):
    """All of a memex, in parts that are each asked for only when they are wanted.

    folders: their nodes, a folder before those in it.
    active: (file node, its active entries), the newest file first.
    others: the nodes of the files without any, the newest first.
    """

    folders: Iterable[Node]
    active: Callable[[], Iterable[tuple[Node, Sequence[Node]]]]
    others: Callable[[], Iterable[Node]]


def overview(targets: Sequence[Node], pieces: Pieces, survey: Survey) -> Iterator[Step]:
    """Order a whole memex: folders, files, then headlines, and what is active before the rest.

    targets: shown with all of their own text, before anything else. The spine is not repeated.
    pieces: as for `foveal`.
    Returns: steps as `foveal` does. Of each active file the first entries come with it, so that
        many files do not push out what goes on in them.
    """
    yield from _texts(2, targets, Relation.TARGET, pieces, (0, None))
    yield from _skeletons(3, enumerate(survey.folders, 1), Relation.FOLDER)
    for distance, (file, entries) in enumerate(survey.active(), 1):
        yield Step(file, 0, Relation.FILE, _interest(4, distance))
        for node in entries[:ACTIVE_FIRST]:
            yield from _placed(4, distance, node, Relation.ACTIVE)
    yield from _skeletons(5, enumerate(survey.others(), 1), Relation.FILE)
    for distance, (_, entries) in enumerate(survey.active(), 1):
        for node in entries[ACTIVE_FIRST:]:
            yield from _placed(6, distance, node, Relation.ACTIVE)
    files = chain((file for file, _ in survey.active()), survey.others())
    yield from (
        step
        for distance, file in enumerate(files, 1)
        for step in _skeletons(7, ((distance, n) for n in file.children), Relation.BACKGROUND)
    )


def _linked(target: Node, around: Around) -> list[tuple[Node, Relation]]:
    """The first LINKED nodes that the target links to or that link to it, each once."""
    links = ((node, Relation.LINK) for node in around.links(target))
    backlinks = ((node, Relation.BACKLINK) for node in around.backlinks(target))
    found: dict[Node, Relation] = {}
    for node, relation in chain(links, backlinks):
        if node is not target:
            found.setdefault(node, relation)
        if len(found) == LINKED:
            break
    return list(found.items())


def _placed(rank: int, distance: int, node: Node, relation: Relation) -> Iterator[Step]:
    """The skeleton of a node, behind those above it."""
    interest = _interest(rank, distance)
    yield from (Step(above, 0, Relation.CONTAINER, interest) for above in node.ancestors)
    yield Step(node, 0, relation, interest)


def _texts(
    rank: int,
    nodes: Iterable[Node],
    relation: Relation,
    pieces: Pieces,
    limits: tuple[int, int | None],
    first: int = 1,
) -> Iterator[Step]:
    """Each node's text, from the first limit to the second. first: the first node's distance."""
    begun, limit = limits
    for distance, node in enumerate(nodes, first):
        wanted = pieces(node, limit)
        if wanted > (pieces(node, begun) if begun else 0):
            yield Step(node, wanted, relation, _interest(rank, distance))


def _skeletons(rank: int, nodes: Iterable[tuple[int, Node]], relation: Relation) -> Iterator[Step]:
    """The skeletons of (distance, node)."""
    return (Step(node, 0, relation, _interest(rank, distance)) for distance, node in nodes)


def _interest(rank: int, distance: int) -> float:
    """Ranks come first, distance orders within one: a number from TOP - rank - 1 to TOP - rank."""
    return TOP - rank - distance / (distance + 1)


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


def _beside_ancestors(target: Node) -> Iterator[tuple[int, Node]]:
    """(distance, node) of what is beside those above the target, the nearest level first."""
    nearest = (
        node
        for above, beside in pairwise(reversed(target.ancestors))
        for _, node in _nearest(list(beside.children), above)
    )
    return enumerate(nearest, 1)


class Rank(NamedTuple):
    """What is wanted at one rank of a lens.

    words: what it is, behind a relation: "child, nearby". relations: of its nodes.
    is_text: whether it shows text; else skeletons.
    """

    words: str
    relations: frozenset[Relation]
    is_text: bool = False


LINKED_ONES = frozenset({Relation.LINK, Relation.BACKLINK})
FOCUS_RANKS = {
    1: Rank("always there", frozenset({Relation.TARGET, Relation.ANCESTOR})),
    2: Rank(f"up to {TARGET_FIRST} tokens", frozenset({Relation.TARGET}), True),
    3: Rank("nearby", frozenset({Relation.CHILD, Relation.SIBLING})),
    4: Rank(f"beyond {TARGET_FIRST} tokens", frozenset({Relation.TARGET}), True),
    5: Rank(f"up to {CHILD_FIRST} tokens", frozenset({Relation.CHILD}), True),
    6: Rank("farther off", frozenset({Relation.SIBLING})),
    7: Rank(f"beyond {CHILD_FIRST} tokens", frozenset({Relation.CHILD}), True),
    8: Rank("level by level", frozenset({Relation.DESCENDANT})),
    9: Rank("top level", frozenset({Relation.BACKGROUND})),
    10: Rank("its text", frozenset({Relation.ANCESTOR}), True),
    11: Rank("its place", LINKED_ONES | {Relation.CONTAINER}),
    12: Rank(f"up to {CHILD_FIRST} tokens", LINKED_ONES, True),
    13: Rank(f"beyond {CHILD_FIRST} tokens", LINKED_ONES, True),
    14: Rank("its text", frozenset({Relation.SIBLING}), True),
    15: Rank("beside ancestors", frozenset({Relation.BACKGROUND})),
    16: Rank("nearest first", frozenset({Relation.FILE})),
}
OVERVIEW_RANKS = {
    1: Rank("always there", frozenset({Relation.TARGET, Relation.ANCESTOR})),
    2: Rank("its text", frozenset({Relation.TARGET}), True),
    3: Rank("level by level", frozenset({Relation.FOLDER})),
    4: Rank("active first", frozenset({Relation.FILE, Relation.ACTIVE, Relation.CONTAINER})),
    5: Rank("nothing active", frozenset({Relation.FILE})),
    6: Rank("the rest", frozenset({Relation.ACTIVE, Relation.CONTAINER})),
    7: Rank("newest first", frozenset({Relation.BACKGROUND})),
}


def rank_of(interest: float) -> int:
    """The rank of a step, from 1; the spine is the first."""
    return max(1, int(TOP - interest))
