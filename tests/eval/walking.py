"""The cost of a walk: calls and tokens to reach a headline by `ls`, against one flat listing."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from statistics import mean
from typing import NamedTuple

from walks import walk

from orgctx.core.model import Node
from orgctx.errors import OrgctxError
from orgctx.surfaces.calls import Calls

from .cutting import count
from .notebooks import Notebook
from .report import Panel, Part

PROSE = """\
Somebody who knows where a headline is goes there from the roots with =ls=, level by level, using
only addresses that the answer before has printed, and at last =read=s 300 tokens of it; where a
level has too many headlines, =grep= finds the title. The flat listing is a line for each headline,
its address and its title, all in one call. A headline that is not reached so is lost.
"""
ONE_CALL = (
    "*Better than a walk*: the flat listing is one call; a walk takes {calls:.1f} in the mean, one"
    " for each level, and one to read."
)
LESS = (
    "*Better than a walk*: in {names} the flat listing costs no more tokens: so few headlines need"
    " no levels."
)
LOST = "{lost} of {walks} walks did not arrive."


class Walks(NamedTuple):
    """What walks in a notebook cost. flat: tokens of the flat listing. lost: how many failed."""

    notebook: Notebook
    flat: int
    calls: list[int]
    tokens: list[int]
    lost: int

    @property
    def name(self) -> str:
        return self.notebook.folder.name


def part(notebooks: Sequence[Notebook], walks: int, seed: int) -> Part:
    found = sorted(
        (walked(each, walks, seed) for each in notebooks),
        key=lambda each: len(each.notebook.headlines),
    )
    panel = Panel(
        "tokens to reach a headline",
        "headlines in the notebook",
        [len(each.notebook.headlines) for each in found],
        {
            "walk, mean": [mean(each.tokens or [0]) for each in found],
            "walk, most": [max(each.tokens, default=0) for each in found],
            "flat listing": [each.flat for each in found],
        },
        "tokens",
        is_log=True,
    )
    return Part("Walk cost", PROSE, [*rows(found)], [*remarks(found)], "walk", [panel])


def walked(notebook: Notebook, walks: int, seed: int) -> Walks:
    """Walk to headlines drawn at random, of those that have a title of their own."""
    titled = [node for node in notebook.headlines if notebook.titles[node.title] == 1]
    drawn = random.Random(seed).sample(titled, min(walks, len(titled)))
    costs = [each for node in drawn if (each := cost(notebook, node))]
    calls, tokens = ([each[at] for each in costs] for at in (0, 1))
    return Walks(notebook, count(flat(notebook)), calls, tokens, len(drawn) - len(costs))


def cost(notebook: Notebook, node: Node) -> tuple[int, int] | None:
    """Calls and tokens; None if the walk does not arrive."""
    memex = notebook.memex
    memex.ledger = Calls()
    try:
        walk(memex, node, notebook.folder.name)
    except (OrgctxError, AssertionError, StopIteration, IndexError):
        return None
    return sum(memex.ledger.answers.values()), memex.ledger.total


def flat(notebook: Notebook) -> str:
    return "".join(f"{n.path}:{n.first_line} {n.title}\n" for n in notebook.headlines)


def rows(found: Sequence[Walks]) -> Iterator[Sequence[object]]:
    yield (
        *("notebook", "files", "headlines", "flat listing"),
        *("walk, mean", "most", "calls, mean", "most", "lost"),
    )
    for each in found:
        files, headlines = len(each.notebook.trees), len(each.notebook.headlines)
        tokens, calls = each.tokens or [0], each.calls or [0]
        yield (
            *(each.name, files, headlines, each.flat),
            *(round(mean(tokens)), max(tokens), float(mean(calls)), max(calls), each.lost),
        )


def remarks(found: Sequence[Walks]) -> Iterator[str]:
    calls = [number for each in found for number in each.calls]
    if calls:
        yield ONE_CALL.format(calls=mean(calls))
    cheap = [each.name for each in found if each.tokens and each.flat <= mean(each.tokens)]
    if cheap:
        yield LESS.format(names=", ".join(cheap))
    if lost := sum(each.lost for each in found):
        yield LOST.format(lost=lost, walks=lost + sum(len(each.calls) for each in found))
