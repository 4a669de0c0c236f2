"""Addresses and IDs by which nodes are told: the way from a node to a name; see `address`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import pairwise, takewhile

from ..core.model import Node, Tree
from .address import file_parts
from .ids import Ids
from .store import Store
from .titles import plain_title, step

SHORT_ID = 8
LONGEST_PATH = 300
"""Characters of an outline path or an ID; a longer one is dear, and a line names the node."""


class Names:
    """Addresses and IDs as one answer uses them: the memex is read for them once, if at all."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._outline_paths: dict[Node, str] = {}
        self._titles: dict[Node, Counter[str]] = {}
        self._files: dict[str, bool] = {}
        self._custom: dict[str, Counter[str | None]] = {}

    @cached_property
    def _ids(self) -> Ids:
        return self.store.ids()

    def _is_file(self, name: str) -> bool:
        if name not in self._files:
            self._files[name] = self.store.has(name)
        return self._files[name]

    def address(self, node: Node) -> str:
        """The shortest stable address of a node that leads back to it and to no other.

        Returns: its ID if it has one that no other node has, else CUSTOM_ID, outline path or
            position; none that would be read as the name of another file.
        """
        is_own = node.id and len(node.id) <= LONGEST_PATH and self._ids.count(node.id) == 1
        if is_own and self._is_plain(f"id:{node.id}", ""):
            return f"id:{node.id}"
        if not node.level:
            return node.path
        return next(each for each in self._in_file(node) if self._is_plain(each, node.path))

    def _in_file(self, node: Node) -> Iterator[str]:
        """Addresses by file, the most stable first; the last one if a file is called as the others.

        Nobody puts a zero before a line's number, but whoever reads it takes it for that line.
        """
        custom_id = node.custom_id or ""
        if 0 < len(custom_id) <= LONGEST_PATH and self._custom_ids(node.tree)[custom_id] == 1:
            yield f"{node.path}::#{node.custom_id}"
        path = self._outline_path(node)
        if path and path[0] not in "*#" and len(path) <= LONGEST_PATH:
            yield f"{node.path}::{path}"
        yield f"{node.path}:{node.first_line}"
        yield f"{node.path}:0{node.first_line}"

    def _is_plain(self, address: str, path: str) -> bool:
        """Whether the first file that the address is read as beginning with is `path`."""
        return next((file for file in file_parts(address) if self._is_file(file)), path) == path

    def _outline_path(self, node: Node) -> str:
        """The outline path of a node, or "" if a title on it is empty or not the only one there."""
        path = ""
        for above, each in pairwise((*node.ancestors, node)):
            if each not in self._outline_paths:
                is_one = self._count_of(each.title, above) == 1
                last = step(each.title)
                is_led_to = is_one and (path or not above.level) and not last.endswith("\\")
                self._outline_paths[each] = f"{path}/{last}"[not path :] if is_led_to else ""
            path = self._outline_paths[each]
        return path

    def _count_of(self, title: str, parent: Node) -> int:
        """How many children of `parent` have a title; 0 for none."""
        if parent not in self._titles:
            self._titles[parent] = Counter(plain_title(child.title) for child in parent.children)
        return self._titles[parent][plain_title(title)] if plain_title(title) else 0

    def short_id(self, id_: str) -> str:
        """The shortest prefix, of 8 characters or more, that no other ID begins with."""
        most = max((shared(id_, each) for each in self._ids.beside(id_)), default=0)
        return id_[: max(SHORT_ID, most + 1)]

    def _custom_ids(self, tree: Tree) -> Counter[str | None]:
        if tree.path not in self._custom:
            self._custom[tree.path] = Counter(node.custom_id for node in tree.nodes)
        return self._custom[tree.path]


def shared(one: Sequence[object], other: Sequence[object]) -> int:
    """How many items two texts or lists have in common at their beginning."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
