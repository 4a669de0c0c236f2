"""An agent that finds its way to a headline with the calls that a memex prints."""

from __future__ import annotations

from collections.abc import Callable

from orgctx.core.model import Node
from orgctx.surfaces.api import Memex
from orgctx.views.listing import Row


def walk(memex: Memex, node: Node, top: str) -> int:
    """From the roots to the text. Returns: how many levels there are above it.

    It knows where a headline is, and calls only what the answers before printed.
    top: the root's name.
    """
    folders = node.path.split("/")[:-1]
    paths = [f"{'/'.join(folders[: n + 1])}/" for n in range(len(folders))]
    at = ""
    for path in [top, *paths, node.path]:
        at = choose(memex, at, lambda row, wanted=path: row.address == wanted, path)
    for above in [*node.ancestors[1:], node]:
        rows = memex.ls(at, budget=700).rows
        found = next((row.address for row in rows if row.title == above.title), None)
        if found is None:  # it is on a later page: whoever knows the title searches for it
            at = search(memex, node)
            break
        at = found
    assert memex.read(at, budget=300).title == node.title
    return len(paths) + 2 + node.level


def choose(memex: Memex, at: str, is_it: Callable[[Row], bool], path: str) -> str:
    """The address of a root, or of a folder or a file, listed from where its name is in order."""
    if not at:
        return next(row.address for row in memex.ls().rows if is_it(row))
    kind = "folder" if path.endswith("/") else "file"
    rows = memex.ls(at, kind=kind, after=path.rstrip("/")[:-1], limit=5).rows
    return next(row.address for row in rows if is_it(row))


def search(memex: Memex, node: Node) -> str:
    """The address of a headline in its file, found by its title."""
    found = memex.grep(node.title, node.path, after=f"{node.path}:{node.first_line - 1}", limit=1)
    return found.entries[0].address
