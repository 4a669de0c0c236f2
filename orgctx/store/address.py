"""Addresses: the way from a name to a node (README.org: Addresses); `names` has the one back."""

from __future__ import annotations

import os
import re
import sys
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from operator import attrgetter

from ..config import load, users_file
from ..core.model import Node, Tree
from ..errors import Ambiguous, BadArgument, NotFound, OrgctxError, OutsideRoot
from .files import is_note
from .near import did_you_mean, get_close_matches, near
from .notes import CHECK
from .roots import check_name, is_file, name_of, place_of
from .store import Store, with_custom_id
from .titles import Called, outline_path
from .words import MIN_PREFIX

CANDIDATES = 10
TITLE_LENGTH = 60

_SLASH = re.compile(r"(?<!\\)/")
POSITION = re.compile(r"(.+):(\d+)\Z", re.DOTALL)
"""A file and a line in it; see `line_number`."""


def resolve(store: Store, address: str) -> Node:
    """Find the one node that `address` names.

    address: any form that README.org lists under Addresses, or a link to it as Org writes it. A
        file of that very name wins over every other reading.
    Raises: NotFound with near matches; Ambiguous with the first 10 candidates; OutsideRoot;
        BadArgument if it can be no name; Unreadable if the file is.
    """
    check_name("address", address)
    if not address.strip():
        raise BadArgument("address: empty", "give one, as orgctx ls shows them", "address")
    try:
        node = _find(store, address)
        if not _is_begun(address, node) or not store.freshen():
            return node
    except NotFound:
        if not store.freshen():
            raise
    return _find(store, address)


def _is_begun(address: str, node: Node) -> bool:
    """Whether an address is the beginning of the node's ID: another may have it whole by now."""
    wanted = unlinked(address).removeprefix("id:")
    return wanted not in node.ids and any(each.startswith(wanted) for each in node.ids)


def _find(store: Store, address: str) -> Node:
    plain = unlinked(address)
    found = _by_file(store, address) or (_by_file(store, plain) if plain != address else None)
    return found or _anywhere(store, plain)


def _by_file(store: Store, address: str) -> Node | None:
    """The node of an address that begins with a file of the memex; None if it does not."""
    if tree := _tree(store, address):
        return tree.root
    if (position := POSITION.match(address)) and (tree := _tree(store, position[1])):
        return _at_line(tree, line_number(position[2]), address)
    for file, locator in _splits(address):
        if tree := _tree(store, file):
            return _in_file(tree, locator, address)
    return None


def _tree(store: Store, name: str) -> Tree | None:
    """The file of this name; None if there is none to be shown. Raises: Ambiguous, Unreadable."""
    path = store.file(name) or store.edited_file(name)
    try:
        return store.tree(path) if path is not None else None
    except NotFound:
        return None


def line_number(digits: str) -> int:
    """A line number; what has more digits than any file has lines is as good as the largest."""
    return int(digits) if len(digits) < sys.int_info.default_max_str_digits else sys.maxsize


def _anywhere(store: Store, address: str) -> Node:
    """The node of an ID or a CUSTOM_ID."""
    if not _is_text(address):
        raise NotFound(f"{address}: no such node", "give a text in UTF-8", address)
    if address.startswith("#"):
        nodes = store.with_custom_id(address[1:])
        return _only(nodes, address, lambda: _custom_id_names(store.trees()))
    if address.startswith("id:"):
        return _by_id(store, address[3:])
    is_folder = store.folder_named(address) is not None
    if (is_folder or looks_like_file(address)) and not store.holders(address):
        raise _no_file(store, address)
    return _by_id(store, address)


def _is_text(address: str) -> bool:
    """Whether it is more than bytes that are no text, as a command line may hold them."""
    return not any(0xD800 <= ord(char) < 0xE000 for char in address)


def unlinked(address: str) -> str:
    """What an Org link points to: `[[file:a.org::*B][b]]` is `a.org::*B`."""
    if address.startswith("[[") and address.endswith("]]"):
        address = address[2:-2].partition("][")[0]
    return address.removeprefix("file:")


def looks_like_file(address: str) -> bool:
    """Whether an address that names no file was meant to."""
    marks = ("::", "/", "\\", "..")
    is_path = any(mark in address for mark in marks)
    return is_path or bool(re.search(r"\.org(_archive)?(:|\Z)", address))


def lone_file(address: str, edited: str | None = None) -> str | None:
    """The existing file that an address begins with, as it names it; None if there is none.

    edited: a file that exists in an editor, at least.
    """
    names = [*file_parts(address), *file_parts(unlinked(address))]
    return next((name for name in names if name == edited or is_file(name)), None)


def nowhere(address: str) -> NotFound:
    """The error for an address that names no file while no root is known."""
    name = _file_part(unlinked(address))
    if _is_folder(name):
        return NotFound(f"{name}: a folder", "name a file, or give the folder with --root", name)
    if looks_like_file(address):
        beside = Store.of_files(_notes_beside(name), config=load(users_file(), is_users=True))
        near = _near_file(name, _notes_beside(name), beside.shows)
        return NotFound(f"{name}: there is no such file", near, name)
    hint = "say where to look: --root DIR, or the variable ORGCTX_ROOT"
    return NotFound(f"{address}: no file, and no root to look in", hint, address)


def _is_folder(name: str) -> bool:
    return (path := place_of(name)) is not None and os.path.isdir(path)


def _notes_beside(name: str) -> list[str]:
    """Notes in the folder that the name names, named likewise."""
    folder, place = os.path.dirname(name), place_of(name)
    if place is None or not os.path.isdir(place.parent):
        return []
    return [os.path.join(folder, name) for name in os.listdir(place.parent) if is_note(name)]


def _near_file(name: str, names: Iterable[str], shows: Callable[[str], bool]) -> str:
    """shows: whether a file is there to be shown; asked of the nearest, until there are enough."""
    known = list(names)
    same = [each for each in known if name_of(each) == name_of(name)]
    likely = dict.fromkeys((*same, *get_close_matches(name, known, len(known) or 1, 0.5)))
    close = list(islice(filter(shows, likely), 3))
    return did_you_mean(close) or CHECK


def _file_part(address: str) -> str:
    return re.split(r"::|:\d+\Z", address, maxsplit=1)[0]


def file_parts(address: str) -> list[str]:
    """What an address may mean by a file, in the order in which it is tried."""
    position = POSITION.match(address)
    splits = (file for file, _ in _splits(address))
    return [address, *([position[1]] if position else []), *splits]


def _splits(address: str) -> Iterator[tuple[str, str]]:
    """(file, locator) at each `::`, the last one first, since a file name may hold one."""
    for colons in reversed(list(re.finditer("::", address))):
        yield address[: colons.start()], address[colons.end() :]


def _by_id(store: Store, wanted: str) -> Node:
    nodes = store.holders(wanted) if wanted else []
    if len(wanted) < MIN_PREFIX and not any(wanted in node.ids for node in nodes):
        hint = f"give {MIN_PREFIX} characters or more of an ID, or FILE::*TITLE"
        raise NotFound(f"{wanted or 'id:'}: no node has this ID", hint, wanted)
    return _only(
        nodes,
        f"id:{wanted}",
        lambda: [f"id:{each}" for each in store.ids()],
        lambda near: bool(store.holders(near.removeprefix("id:"))),
    )


def _in_file(tree: Tree, locator: str, address: str) -> Node:
    def works(name: str) -> bool:
        return len(_located(tree, name.removeprefix(f"{tree.path}::"))) == 1

    nodes = _located(tree, locator)
    if not nodes and re.fullmatch(r"\d+", locator):  # a line, as Org's own links have it
        return _at_line(tree, line_number(locator), address)
    return _only(nodes, address, lambda: _names(tree, locator), works)


def _located(tree: Tree, locator: str) -> list[Node]:
    if locator in ("", "*", "#"):
        return []
    if locator.startswith("*"):
        return _titled(tree.nodes[1:], locator[1:])
    if locator.startswith("#"):
        return with_custom_id(locator[1:], [tree])
    return _by_path(tree, locator)


def _by_path(tree: Tree, path: str) -> list[Node]:
    nodes = [tree.root]
    for part in _SLASH.split(path):
        below = (child for node in nodes for child in node.children)
        nodes = _titled(below, part.replace(r"\/", "/"))
    return nodes


def _titled(nodes: Iterable[Node], title: str) -> list[Node]:
    return Called((node.title, node) for node in nodes).all(title)


def _at_line(tree: Tree, line: int, address: str) -> Node:
    """The node whose entry holds the line; the line after the last belongs to the last entry.

    A line that must not be shown is refused as one that is not there, and ends no file.
    """
    if node := node_at_line(tree, line):
        return node
    hint = f"give 1 to {tree.nodes[-1].last_line or 1}, as orgctx read numbers them"
    raise NotFound(f"{address}: there is no such line", hint, address)


def node_at_line(tree: Tree, line: int) -> Node | None:
    """The node whose entry holds the line, or the last if it is the line after its last one."""
    node = tree.nodes[bisect_right(tree.nodes, line, key=attrgetter("first_line")) - 1]
    is_end = line == tree.nodes[-1].last_line + 1
    return node if 1 <= line <= node.last_line or is_end else None


def _only(
    nodes: list[Node],
    address: str,
    names: Callable[[], Iterable[str]],
    works: Callable[[str], bool] = bool,
) -> Node:
    """The one node; else an error that tells what else could be meant.

    names: what there is. works: whether one of these is an address.
    """
    if len(nodes) == 1:
        return nodes[0]
    if nodes:
        shown = [_candidate(node) for node in nodes[:CANDIDATES]]
        more = f" and {len(nodes) - CANDIDATES} more" if len(nodes) > CANDIDATES else ""
        raise Ambiguous(
            f"{address}: names {len(nodes)} nodes", f"use one of: {', '.join(shown)}{more}", address
        )
    raise NotFound(f"{address}: no such node", near(address, names(), works), address)


def _candidate(node: Node) -> str:
    known = f"id:{node.id}" if node.id else outline_path(node)[:TITLE_LENGTH]
    return f"{node.path}:{node.first_line}" + (f" ({known})" if known else "")


def _names(tree: Tree, locator: str) -> Iterator[str]:
    """Addresses in a file in the form that was asked for, to be near matches."""
    for node in tree.nodes[1:]:
        if locator.startswith("*"):
            yield f"{tree.path}::*{node.title}"
        elif locator.startswith("#"):
            if node.custom_id:
                yield f"{tree.path}::#{node.custom_id}"
        else:
            yield f"{tree.path}::{outline_path(node)}"


def _custom_id_names(trees: Iterable[Tree]) -> Iterator[str]:
    return (f"#{node.custom_id}" for tree in trees for node in tree.nodes if node.custom_id)


def _no_file(store: Store, address: str) -> OrgctxError:
    name = _file_part(address)
    if store.leads_out(name):
        return OutsideRoot(f"{name}: outside the roots", "name its folder with --root", name)
    if store.folder_named(name) is not None:  # one that holds notes, not what is on the disk
        from shlex import quote  # only an error needs it

        hint = f"name a file in it: orgctx ls {quote(name)}"
        return NotFound(f"{name}: a folder", hint, name)
    return NotFound(
        f"{name}: there is no such file", _near_file(name, store.paths, store.shows), name
    )
