"""Where links lead: from a node to those that its entry links to, and back (Org manual: Links)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import cache, cached_property
from itertools import accumulate
from operator import itemgetter

from ..core.elements import elements
from ..core.links import Link
from ..core.links import links as links_in
from ..core.model import Node, Tree
from ..errors import NotFound
from . import files
from .address import line_number, node_at_line
from .link_keys import file_in_root, is_line
from .roots import name_of, nfc, place_of
from .store import Store
from .symbols import occurrences
from .titles import Called


def links(store: Store, node: Node) -> Iterator[Node]:
    """The nodes that an entry links to, in the order of the links, each once.

    A link leads to what Org finds: the first of several that have a title, a CUSTOM_ID or a name;
    of several with one ID, to each. One to what is not there, or may not be shown, leads nowhere.

    store: its scope confines where links lead. node: of it, as it was read.
    """
    ways, seen = _Ways(store), set[tuple[str, int]]()
    here = Places(node.tree)
    for link in links_in(node.text, node.tree.settings):
        for to in ways.led_to(link, here):
            if (to.path, to.index) not in seen:
                seen.add((to.path, to.index))
                yield to


def backlinks(store: Store, node: Node) -> Iterator[Node]:
    """The nodes whose entries link to a node, in path order: those that have it in `links`.

    Parameters as for `links`.
    """
    ways, there = _Ways(store), Places(node.tree)
    for tree in store.readable(store.linking(node)):
        for each in tree.nodes:
            found = links_in(each.text, tree.settings)
            if any(ways.is_led(link, tree.path, there, node) for link in found):
                yield each


class Places:
    """What a link's search finds in a file: the first that has the name, as Org does.

    The very name goes before one that differs in case.
    """

    def __init__(self, tree: Tree) -> None:
        self.tree = tree

    def find(self, link: Link) -> Node | None:
        """The node that a link to this file names."""
        search = link.search
        if not search:
            return self.tree.root
        if is_line(link):
            return node_at_line(self.tree, line_number(search))
        if search.startswith("#"):
            return self._custom_ids.get(search[1:])
        if search.startswith("*"):
            return self._titles.first(search[1:])
        tables = (self._targets, self._names, self._titles)
        return next((node for each in tables if (node := each.first(search))), None)

    @cached_property
    def _custom_ids(self) -> dict[str, Node]:
        nodes = ((node.custom_id, node) for node in reversed(self.tree.nodes))
        return {custom_id: node for custom_id, node in nodes if custom_id}

    @cached_property
    def _titles(self) -> Called:
        return Called((node.title, node) for node in self.tree.nodes[1:])

    @cached_property
    def _targets(self) -> Called:
        return Called(self._symbols("target"))

    @cached_property
    def _names(self) -> Called:
        return Called(self._symbols("name"))

    def _symbols(self, kind: str) -> Iterator[tuple[str, Node]]:
        return ((name, node) for node in self.tree.nodes for name in _given_names(node, kind))


def _given_names(node: Node, kind: str) -> Iterator[str]:
    """The names of a kind that an entry gives; in a block of code there are none."""
    text = node.text
    given = [(name, start) for _, name, start in occurrences(text, {kind})]
    lines = text.split("\n") if given else []
    blocks = [each for each in elements(lines) if each.is_verbatim]
    starts = list(accumulate((len(line) + 1 for line in lines), initial=0)) if blocks else []
    spans = [(starts[each.first], starts[each.last]) for each in blocks]
    for name, place in given:
        at = bisect_right(spans, place, key=itemgetter(0)) - 1
        if at < 0 or place >= spans[at][1]:
            yield name


class _Ways:
    """The ways of one answer: each file that links name is looked for once."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._is_known = store.known_notes()
        self._called, self._note = cache(self._find_called), cache(self._find_note)
        self._places = cache(self._find_places)

    def led_to(self, link: Link, here: Places) -> Iterable[Node]:
        """The nodes that a link names. here: the file it is in."""
        if link.id:
            return [node for node in self._store.holders(link.id) if link.id in node.ids]
        path = self._path(link.file, here.tree.path)
        places = here if path == here.tree.path else path and self._places(path)
        node = places.find(link) if places else None
        return [node] if node else []

    def is_led(self, link: Link, path: str, there: Places, node: Node) -> bool:
        """Whether a link leads to a node. path: of the file it is in. there: the node's file."""
        if link.id:
            return link.id in node.ids
        called, wanted = self._called(link.file, path), there.tree.path
        if called is None or nfc(called) != nfc(wanted):  # most are, and need no look for a note
            return False
        found = there.find(link) if self._path(link.file, path) == wanted else None
        return found is not None and found.index == node.index

    def _path(self, file: str, path: str) -> str | None:
        """The address of the note that a link's file is; None if it is none.

        path: of the note that the link is in.
        """
        called = self._called(file, path)
        return called if called is None or called == path else self._note(called)

    def _find_places(self, path: str) -> Places | None:
        """The file at an address; None if it cannot be read now."""
        tree = next(iter(self._store.readable([path])), None)
        return Places(tree) if tree else None

    def _find_note(self, called: str) -> str | None:
        """The address of a note that is called so, in any normal form; None if there is none."""
        if not files.is_note(name_of(called)):
            return None
        if self._is_known(called):
            return called
        return None if called.isascii() else self._paths.get(nfc(called))

    @cached_property
    def _paths(self) -> dict[str, str]:
        """The addresses of all notes, by their normal form; of several with one the first."""
        return {nfc(path): path for path in reversed(self._store.every_path())}

    def _find_called(self, file: str, path: str) -> str | None:
        """What addresses would call a link's file, be it there or not; None if it has no name."""
        if not file:
            return path
        inside = self._store.path_inside(path)
        found = file_in_root(file, inside)
        return path.removesuffix(inside) + found if found else self._outside(file, path)

    def _outside(self, file: str, path: str) -> str | None:
        """The same for one that is elsewhere, maybe in another root."""
        if (place := place_of(file)) is None:
            return None
        try:
            place = self._store.home(path).parent / place
        except NotFound:
            return None
        real = files.real(place.parent) / place.name
        if not self._store.roots:
            return self._store.holds(str(real))
        return next(self._store.meant_at(real), None)
