"""Where the links of a headline lead, read from the notes alone and in the simplest way.

It shares nothing with the links that orgctx follows, so that what is asked does not hang on them:
links are found by one pattern, files by their paths, and places in them by a search of their lines.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from orgctx.core.model import Node, Tree

from .notebooks import Notebook

LINK = re.compile(r"\[\[([^][]+)\](?:\[[^\n]+?\])?\]|<((?:id|file):[^<>\n]+)>")
FILE = re.compile(r"file:|(?=\.\.?/)")


def linked(notebook: Notebook, node: Node) -> Iterator[Node]:
    """The nodes that an entry links to, in order."""
    for found in LINK.finditer(node.text):
        target = " ".join((found[1] or found[2]).split())
        if target.startswith("id:"):
            yield from notebook.with_id(target[3:].partition("::")[0])
            continue
        is_file = FILE.match(target)
        file, _, search = (
            FILE.sub("", target, count=1).partition("::") if is_file else ("", "", target)
        )
        path = posixpath.normpath(posixpath.join(posixpath.dirname(node.path), file))
        trees = [t for t in notebook.trees if t.path == (path if file else node.path)]
        yield from (place for tree in trees if (place := _place(tree, search, bool(file))))


def _place(tree: Tree, search: str, is_of_file: bool) -> Node | None:
    """What a search finds in a file."""
    if not search:
        return tree.root
    if search.startswith("#"):
        return _first(tree, rf":CUSTOM_ID:\s+{re.escape(search[1:])}")
    if is_of_file and search.isdecimal():
        return _holding(tree, int(search))
    words = r"\s+".join(map(re.escape, search.removeprefix("*").split()))
    is_headline = search.startswith("*")
    by_name = None if is_headline else _first(tree, rf".*<<{words}>>.*|#\+name:\s+{words}")
    return by_name or _first(
        tree, rf"\*+ (?:[A-Z]+ )?(?:\[#.\] )?{words}(?:\s*\[[\d/%]*\])?(?:\s+:\S+:)?"
    )


def _first(tree: Tree, pattern: str) -> Node | None:
    """The node of the first line that a pattern matches."""
    found = re.search(rf"^[ \t]*(?:{pattern})[ \t\r]*$", tree.text, re.MULTILINE | re.IGNORECASE)
    return _holding(tree, tree.text.count("\n", 0, found.end()) + 1) if found else None


def _holding(tree: Tree, line: int) -> Node | None:
    return next((n for n in tree.nodes if n.first_line <= line <= n.last_line), None)
