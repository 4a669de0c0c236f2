"""Which entry of one version of a file is which of another."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from typing import NamedTuple, TypeVar

from .model import Node
from .outline import COOKIE, outline

T = TypeVar("T")


class _Outline:
    """A version's entries by position, the file node first, with all that may identify one."""

    def __init__(self, text: str) -> None:
        self.nodes = list(outline(text, "").nodes)
        self.children: list[list[int]] = [[] for _ in self.nodes]
        for node in self.nodes[1:]:
            self.children[node.parent_index].append(node.index)
        self.bodies, self.tails = zip(*map(_halves, self.nodes), strict=True)
        self.names = [_name(node) for node in self.nodes]
        self.titles = [" ".join(COOKIE.sub("", node.title).split()) for node in self.nodes]
        self.sections = [body.partition("\n")[2].strip() or None for body in self.bodies]
        self.below = [tuple(self.titles[at] for at in row) or None for row in self.children]
        self.subtrees: list[Hashable] = list(self.bodies)
        for at in reversed(range(len(self.nodes))):
            below = tuple(self.subtrees[child] for child in self.children[at])
            self.subtrees[at] = hash((self.bodies[at], below))


def _halves(node: Node) -> tuple[str, str]:
    """Body and blank lines of an entry; a headline is body even if it has no title."""
    text = node.text[node.level :]
    solid = len(text.rstrip())
    cut = (text.find("\n", solid) + 1 or len(text)) if solid or node.level else 0
    return text[:cut], text[cut:]


def _name(node: Node) -> tuple[str, str] | None:
    """The ID of an entry, else its CUSTOM_ID; the file's node is known without."""
    if node.level and node.id:
        return "ID", node.id
    return ("CUSTOM_ID", node.custom_id) if node.level and node.custom_id else None


_ALIKE = ("subtrees", "bodies")
_NAMED = (*_ALIKE, "titles")
_RETITLED = (*_NAMED, "sections", "below")


def _same(one: Sequence[T | None], other: Sequence[T | None]) -> dict[int, int]:
    """Pairs, position in `other` -> position in `one`, of what is once in each, and the same."""
    known, wanted = _once(one), _once(other)
    return {at: known[value] for value, at in wanted.items() if value in known}


def _once(values: Sequence[T | None]) -> dict[T, int]:
    places: dict[T, list[int]] = defaultdict(list)
    for at, value in enumerate(values):
        if value is not None:
            places[value].append(at)
    return {value: found[0] for value, found in places.items() if len(found) == 1}


def _pair(
    one: _Outline, other: _Outline, mates: dict[int, int], strange: set[int], keys: Iterable[str]
) -> dict[int, int]:
    """Add to the pairs what is the same below the same parent.

    mates: position in `other` -> position in `one`; it grows.
    strange: of `one`, positions that are not to be paired.
    keys: what is compared, the surest first.
    """
    taken = strange | set(mates.values())
    for parent in range(len(other.nodes)):  # each comes before what is below it
        if mates.get(parent, -1) < 0:
            continue
        for key in keys:
            waiting: dict[Hashable, list[int]] = defaultdict(list)
            for child in reversed(one.children[mates[parent]]):
                if child not in taken:
                    waiting[getattr(one, key)[child]].append(child)
            for child in other.children[parent] if waiting else ():
                found = waiting.get(value := getattr(other, key)[child])
                is_free = value is not None and child not in mates
                if is_free and found and _may_be(one, found[-1], other, child):
                    mates[child] = found.pop()
                    taken.add(mates[child])
    return mates


def _may_be(one: _Outline, first: int, other: _Outline, second: int) -> bool:
    """Whether no ID says that two entries are different."""
    names = one.names[first], other.names[second]
    return None in names or names[0] == names[1]


def _keys(base: _Outline, theirs: _Outline, ours: _Outline) -> tuple[list[int], list[int]]:
    """The keys of the entries of theirs and of ours, by position."""
    pairs = []
    for side in (theirs, ours):
        mates = _pair(base, side, {**_same(base.names, side.names), 0: 0}, set(), _NAMED)
        gone = set(range(len(base.nodes))) - set(mates.values())
        moved = _same(base.bodies, side.bodies)
        mates |= {at: key for at, key in moved.items() if key in gone and at not in mates}
        pairs.append(_pair(base, side, mates, set(), _RETITLED))
    in_theirs, in_ours = pairs
    back = {key: at for at, key in in_theirs.items()}
    both = {at: back.get(key, -1) for at, key in in_ours.items()}
    named = _same(theirs.names, ours.names)
    named = {at: mate for at, mate in named.items() if at not in both and mate not in in_theirs}
    both = _pair(theirs, ours, both | named, set(in_theirs), _ALIKE)
    first = len(base.nodes)
    new = {o: first + t for o, t in both.items() if o not in in_ours}
    own = first + len(theirs.nodes)
    return (
        [in_theirs.get(at, first + at) for at in range(len(theirs.nodes))],
        [in_ours.get(at, new.get(at, own + at)) for at in range(len(ours.nodes))],
    )


class Entry(NamedTuple):
    """An entry of a version.

    body: its text without stars and without the blank lines at its end, which are `tail`.
    place: the key of its parent, and how many stars more than that it has.
    """

    node: Node
    body: str
    tail: str
    place: tuple[int, int]


class Version:
    """A version by keys; the file's node has 0. children: of each entry, in order."""

    def __init__(self, source: _Outline, keys: Sequence[int]) -> None:
        self.entries: dict[int, Entry] = {}
        self.children = {
            key: [keys[child] for child in source.children[at]] for at, key in enumerate(keys)
        }
        for at, node in enumerate(source.nodes):
            above = source.nodes[max(node.parent_index, 0)]
            place = keys[above.index], node.level - above.level
            self.entries[keys[at]] = Entry(node, source.bodies[at], source.tails[at], place)


def identified(base: str, theirs: str, ours: str) -> tuple[Version, Version, Version]:
    """The three versions with a key for each entry: the same one in each version that has it.

    base, theirs, ours: texts of one file, without byte order mark, all of whose lines are ended.
    Returns: their tables, in that order; keys of the base go up in document order from 0.
    """
    first, second, third = map(_Outline, (base, theirs, ours))
    in_theirs, in_ours = _keys(first, second, third)
    return (
        Version(first, range(len(first.nodes))),
        Version(second, in_theirs),
        Version(third, in_ours),
    )
