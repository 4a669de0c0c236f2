"""What a view shows and leaves out, and why, for a terminal."""

from __future__ import annotations

import sys

from rich.console import Console
from rich.text import Text
from rich.tree import Tree

from ..core.entry import many
from ..core.heading import printable
from ..core.model import Node, Omission, Shown, View
from ..views.explaining import LEGEND, SIGNS

STYLES = {"full": "green", "cut": "yellow", "skeleton": "cyan", "dropped": "dim"}
UNLIMITED = 100_000
"""Columns, so that rich cuts no line: a pipe has no width, and a terminal wraps by itself."""


def report(view: View) -> None:
    """Print to standard error each node shown, with its tokens, and each omission."""
    console = Console(file=sys.stderr, soft_wrap=True, highlight=False, width=UNLIMITED)
    left_out = {each.node: each for each in view.omitted}
    total = f"{view.tokens} of {view.budget} {view.unit}"
    root = holder = Tree(Text(f"{total}, {len(view.shown)} nodes", style="bold"))
    branches: dict[Node, Tree] = {}
    for each in view.shown:
        above = each.node.parent
        branch = (branches[above] if above else holder).add(_line(each, view.unit))
        branches[each.node] = branch
        holder = branch if each.level < 0 else holder
    for each in reversed(view.shown):
        if omission := left_out.get(each.node):
            branches[each.node].add(Text(_omission(omission), "red"))
    console.print(root)


def styled(explanation: str) -> str:
    """An explanation as the terminal that is standard output wants it; NO_COLOR is honoured."""
    console = Console(file=sys.stdout, soft_wrap=True, highlight=False, width=UNLIMITED)
    by_sign = {sign: STYLES[detail] for detail, sign in SIGNS.items()}
    with console.capture() as captured:
        for line in explanation.removesuffix("\n").split("\n"):
            style = by_sign.get(line[:1], "") if line != LEGEND else "dim"
            console.print(Text(line, style))
    return captured.get()


def _line(each: Shown, unit: str) -> Text:
    name = each.node.title or (each.path if each.level < 1 else "(no title)")
    text = Text(printable(name), style=STYLES.get(each.detail, ""))
    why = f"{each.relation} {each.interest:.1f}"
    return text.append(f"  {each.detail} {why}, {each.tokens} {unit}", "dim")


def _omission(omission: Omission) -> str:
    folders = omission.node.end_index - 1 if not omission.node.level and omission.paths else 0
    counts = [
        (omission.headlines, "headline"),
        (omission.lines, "line"),
        (len(omission.paths), "folder" if folders else "file"),
    ]
    words = [many(n, what) for n, what in counts if n]
    return f"… {' and '.join(words)} omitted"
