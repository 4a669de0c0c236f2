"""A page of its own that shows a view in its memex, and how it grows with the budget."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from hashlib import sha256
from html import escape
from importlib.resources import files
from itertools import islice
from json import dumps
from re import sub
from typing import Any

from ..core.heading import printable
from ..core.model import Detail
from .growing import FOLDER, Key, Moment, Place, holder_of, moments
from .page import brief, plain
from .view import Growth
from .weighing import Part, Parts, by_weight

NODES = 20_000
"""How many nodes a page has, the heaviest; those that its view shows come on top."""
_DETAILS = (Detail.DROPPED, Detail.SKELETON, Detail.CUT, Detail.FULL)


def picture(growth: Growth) -> str:
    """Draw a view in its memex.

    Returns: an HTML page that needs nothing besides itself. Texts of notes are data in it, which no
        browser takes for anything else. Private nodes are not there, as in any answer.
    """
    script, style, data = _file("page.js"), _file("page.css"), _data(growth)
    values = {
        "title": escape(data["title"]),
        "style": style,
        "style_hash": _hash(style),
        "script": script,
        "script_hash": _hash(script),
        "data": dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c"),
    }
    return sub(r"\{(\w+)\}", lambda name: values[name[1]], _file("page.html"))


def _file(name: str) -> str:
    return (files(__package__) / "html" / name).read_text("utf-8")


def _hash(text: str) -> str:
    """What a content security policy knows a text by."""
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def _data(growth: Growth) -> dict[str, Any]:
    """What the page's script draws; see its first lines."""
    view, told = growth.view, list(moments(growth))
    shown = {place for moment in told for place in moment.details}
    parts = _ordered(_parts(growth, shown))
    numbers = {_place_of(part): number for number, part in enumerate(parts)}
    targets = [numbers[node.path, node.index] for node in growth.plan.targets]
    keys = sorted({change.key for moment in told for change in moment.changes})
    return {
        "title": printable(", ".join(view.targets)) or "overview",
        "budget": view.budget,
        "unit": view.unit,
        "target": targets[0] if targets else 0,
        "nodes": {
            "parent": [numbers[_place_of(each.above)] if each.above else -1 for each in parts],
            "tokens": [each.tokens for each in parts],
            "title": [brief(plain(each.title)) for each in parts],
            "place": [_address(each) for each in parts],
        },
        "spans": [numbers[holder_of(key)] for key in keys],
        "moments": _told(told, numbers, {key: at for at, key in enumerate(keys)}),
    }


def _told(told: list[Moment], numbers: dict[Place, int], keys: dict[Key, int]) -> list[list[Any]]:
    """The moments as data. numbers, keys: of the nodes and the spans, by which they are named."""
    return [
        [
            moment.tokens,
            [[keys[key], begin, end, lines] for key, begin, end, lines in moment.changes],
            [
                [numbers[place], _DETAILS.index(detail), why]
                for place, (detail, why) in moment.details.items()
            ],
        ]
        for moment in told
    ]


def _place_of(part: Part) -> Place:
    if part.kind == "folder":
        return part.path, FOLDER
    return part.path, part.node.index if part.node else 0


def _address(part: Part) -> str:
    return printable(f"{part.path}:{part.line}" if part.line else part.path)


def _parts(growth: Growth, shown: set[Place]) -> dict[Place, Part]:
    """The heaviest parts of the memex and all that is shown, by place, with all above each."""
    top = _all_of(growth).folder()
    wanted = {path for path, _ in shown}
    found = {_place_of(part): part for part in (top, *islice(by_weight(top), NODES))}
    waiting = [top] if shown - found.keys() else []
    while waiting:
        for part in waiting.pop().below():
            is_inside = part.kind == "folder" and any(p.startswith(f"{part.path}/") for p in wanted)
            if part.path in wanted or is_inside:
                found.setdefault(_place_of(part), part)
                waiting.append(part)
    return found


def _all_of(growth: Growth) -> Parts:
    """All notes; those that the view shows as it was made of them, whatever they are by now."""
    frame = growth.document.frame
    trees = dict.fromkeys(step.node.tree for step in growth.steps)
    if frame:
        trees.pop(frame.tree, None)
    return Parts(growth.names.store, trees, (frame and frame.folders) or ())


def _ordered(parts: dict[Place, Part]) -> list[Part]:
    """Each part before what is in it; folders before files, both by path, then headlines."""
    below: dict[Place, list[Part]] = {}
    for part in parts.values():
        if part.above:
            below.setdefault(_place_of(part.above), []).append(part)
    return list(_walk(parts["", FOLDER], below))


def _walk(top: Part, below: dict[Place, list[Part]]) -> Iterator[Part]:
    waiting = [top]
    while waiting:
        yield (part := waiting.pop())
        held = below.get(_place_of(part), [])
        order = sorted(held, key=lambda each: (each.kind != "folder", each.path, each.line))
        waiting += order[::-1]
