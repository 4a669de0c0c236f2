"""The tree of what a view shows and leaves out, for a terminal."""

from __future__ import annotations

import sys

from rich.console import Console
from rich.text import Text
from rich.tree import Tree

from ..core.model import Shown, View
from .output import printable

STYLES = {"full": "bold", "cut": "yellow", "skeleton": "dim"}
UNLIMITED = 100_000
"""Columns, so that rich cuts no line: a pipe has no width, and a terminal wraps by itself."""


def report(view: View) -> None:
    """Print to standard error each node shown, with its tokens, and each omission."""
    console = Console(file=sys.stderr, soft_wrap=True, highlight=False, width=UNLIMITED)
    left_out = {each.node.index: each for each in view.omitted}
    total = f"{view.tokens} of {view.budget} {view.unit}"
    root = Tree(Text(f"{total}, {len(view.shown)} nodes", style="bold"))
    branches: dict[int, Tree] = {-1: root}
    for each in view.shown:
        branch = branches[each.node.parent_index].add(_line(each, view.unit))
        branches[each.node.index] = branch
    for each in reversed(view.shown):
        if omission := left_out.get(each.node.index):
            branches[each.node.index].add(
                Text(_omission(omission.headlines, omission.lines), "red")
            )
    console.print(root)


def _line(each: Shown, unit: str) -> Text:
    name = each.node.title or (each.path if not each.level else "(no title)")
    text = Text(printable(name), style=STYLES.get(each.detail, ""))
    return text.append(f"  {each.detail} {each.relation}, {each.tokens} {unit}", "dim")


def _omission(headlines: int, lines: int) -> str:
    counts = [(headlines, "headline"), (lines, "line")]
    words = [f"{n} {what}{'' if n == 1 else 's'}" for n, what in counts if n]
    return f"… {' and '.join(words)} omitted"
