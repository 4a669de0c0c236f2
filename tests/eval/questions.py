"""Questions with known evidence, of headlines drawn at random.

What the evidence is is read from the notes alone: a line of a text, or a title, which stands there
once. Whether a text holds it is whether it holds that line, whoever made the text.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Iterable
from typing import NamedTuple

from orgctx.core.model import Node

from .linked import linked
from .notebooks import Notebook

LEAST = 20
"""Characters of a line that may be evidence; a shorter one says little."""
NO_TEXT = (":", "#", "*", "CLOCK:", "SCHEDULED:", "DEADLINE:", "CLOSED:", "|-")
"""How lines begin that are no text: drawers, keywords, comments, planning, rules."""


class Evidence(NamedTuple):
    """What a text has to hold. is_title: a headline's title, else a whole line."""

    wanted: str
    is_title: bool = False

    def is_in(self, text: str) -> bool:
        if self.wanted not in text:
            return False
        lines = (line.strip() for line in text.split("\n"))
        if not self.is_title:
            return self.wanted in lines
        title = re.compile(rf"\*+ (?:.* )?{re.escape(self.wanted)}(?:\s+:[\w@#%:]+:)?")
        return any(title.fullmatch(line) for line in lines)


class Case(NamedTuple):
    """A headline that somebody looks at, and the evidence for what they may ask, by kind."""

    notebook: Notebook
    node: Node
    evidence: dict[str, Evidence]


Draw = random.Random
Finder = Callable[[Notebook, Node, Draw], Evidence | None]


def own_text(notebook: Notebook, node: Node, draw: Draw) -> Evidence | None:
    body = node.text[len(node.head_text) :]
    lines = [line.strip() for line in body.split("\n")]
    telling = [line for line in lines if is_telling(line) and notebook.lines[line] == 1]
    return Evidence(draw.choice(telling)) if telling else None


def is_telling(line: str) -> bool:
    return len(line) >= LEAST and not line.startswith(NO_TEXT)


def text_of_any(notebook: Notebook, nodes: Iterable[Node], draw: Draw) -> Evidence | None:
    """Of one node that has a text, drawn at random."""
    found = [each for node in nodes if (each := own_text(notebook, node, draw))]
    return draw.choice(found) if found else None


def title_of_any(notebook: Notebook, nodes: Iterable[Node], draw: Draw) -> Evidence | None:
    titles = [node.title for node in nodes if node.title and notebook.titles[node.title] == 1]
    return Evidence(draw.choice(titles), is_title=True) if titles else None


def childs_text(notebook: Notebook, node: Node, draw: Draw) -> Evidence | None:
    return text_of_any(notebook, node.children, draw)


def ancestors_title(notebook: Notebook, node: Node, draw: Draw) -> Evidence | None:
    return title_of_any(notebook, node.ancestors[1:], draw)


def siblings_title(notebook: Notebook, node: Node, draw: Draw) -> Evidence | None:
    beside = node.parent.children if node.parent else ()
    return title_of_any(notebook, (each for each in beside if each is not node), draw)


def linked_text(notebook: Notebook, node: Node, draw: Draw) -> Evidence | None:
    others = dict.fromkeys(each for each in linked(notebook, node) if each is not node)
    return text_of_any(notebook, others, draw)


KINDS: dict[str, Finder] = {
    "target's text": own_text,
    "child's text": childs_text,
    "ancestor's title": ancestors_title,
    "sibling's title": siblings_title,
    "linked text": linked_text,
}


def cases(notebooks: Iterable[Notebook], per_kind: int, seed: int) -> list[Case]:
    """Draw headlines until each kind has its questions, or all headlines are drawn."""
    draw = random.Random(seed)
    every = [(notebook, node) for notebook in notebooks for node in notebook.headlines]
    draw.shuffle(every)
    drawn: Counter[str] = Counter()
    found = []
    for notebook, node in every:
        wanted = [kind for kind in KINDS if drawn[kind] < per_kind]
        if not wanted:
            break
        each = {kind: KINDS[kind](notebook, node, draw) for kind in wanted}
        evidence = {kind: value for kind, value in each.items() if value}
        drawn.update(evidence.keys())
        if evidence:
            found.append(Case(notebook, node, evidence))
    return found
