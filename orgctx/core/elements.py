"""Blocks and drawers: the elements of a section that open and close."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

VERBATIM = frozenset({"src", "example", "export", "comment", "verse"})

_END = r"(?=[ \t\r\n]*\Z)"
_FENCE = re.compile(
    r"[ \t]*(?:"
    r"#\+begin_(?P<begin>\S+)"
    rf"|#\+end_(?P<end>\S+){_END}"
    r"|#\+(?P<begin_dynamic>begin):?[ ]"
    rf"|#\+(?P<end_dynamic>end):?{_END}"
    rf"|:(?P<end_drawer>end):{_END}"
    rf"|:(?P<drawer>[\w-]+):{_END}"
    r"|\\begin\{(?P<latex>[a-z0-9*]+)\}"
    r")",
    re.IGNORECASE,
)
_LATEX_END = re.compile(rf"\\end\{{([a-z0-9*]+)\}}{_END}", re.IGNORECASE)


class Element(NamedTuple):
    """A block or drawer. first, last: its own first and last line, 0-based."""

    kind: str
    first: int
    last: int

    @property
    def is_drawer(self) -> bool:
        return self.kind == "drawer"

    @property
    def is_verbatim(self) -> bool:
        """Whether Org reads nothing inside it as Org."""
        return self.kind in VERBATIM or self.kind.startswith("\\")


def elements(lines: Sequence[str]) -> list[Element]:
    """Find the blocks and drawers among `lines`, as org-element does, outer before inner.

    lines: of one section; line ends may be there.
    Returns: complete ones only: a fence without its end is text (Org syntax, Blocks, Drawers).
    """
    opening, closing = _fences(lines)
    found: list[Element] = []
    limits = [len(lines)]
    spent: set[int] = set()
    resume = 0
    for line, kind in opening:
        if line < resume or line in spent:
            continue
        while line >= limits[-1]:
            limits.pop()
        last = _end(closing.get(kind, ()), line, limits[-1])
        if last is None:
            continue
        found.append(element := Element(kind, line, last))
        spent.add(last)
        if element.is_verbatim:
            resume = last + 1
        else:
            limits.append(last)
    return found


def _fences(lines: Sequence[str]) -> tuple[list[tuple[int, str]], dict[str, list[int]]]:
    """Lines that may open an element, in order, and for each kind the lines that may close it."""
    opening: list[tuple[int, str]] = []
    closing: dict[str, list[int]] = {}
    for number, line in enumerate(lines):
        for kind, opens in _fence(line):
            if opens:
                opening.append((number, kind))
            else:
                closing.setdefault(kind, []).append(number)
    return opening, closing


def _fence(line: str) -> Iterator[tuple[str, bool]]:
    """(kind, whether it opens) of a line, if it is a fence at all."""
    if "\\" in line and (end := _LATEX_END.search(line)):
        yield "\\" + end[1].lower(), False
    elif line.lstrip(" \t")[:1] in ("#", ":", "\\") and (fence := _FENCE.match(line)):
        name = fence.lastgroup or ""
        kind = {
            "begin_dynamic": "dynamic", "end_dynamic": "dynamic",
            "drawer": "drawer", "end_drawer": "drawer",
            "latex": "\\" + fence[name].lower(),
        }.get(name, fence[name].lower())  # fmt: skip
        if not name.startswith("end") or kind == "drawer":
            yield kind, True
        if name.startswith("end"):
            yield kind, False


def _end(lines: Sequence[int], after: int, before: int) -> int | None:
    position = bisect_right(lines, after)
    found = position < len(lines) and lines[position] < before
    return lines[position] if found else None


def loose(lines: Sequence[str]) -> list[int]:
    """Find the fences among `lines` that belong to no element; 0-based, in order.

    lines: of one section; line ends may be there.
    """
    found = elements(lines)
    known = {line for each in found for line in (each.first, each.last)}
    for each in found:
        if each.is_verbatim:
            known.update(range(each.first, each.last))
    in_drawers = {n for each in found if each.is_drawer for n in range(each.first, each.last)}
    opening, closing = _fences(lines)
    fences = {*opening, *((line, kind) for kind, numbers in closing.items() for line in numbers)}
    return sorted(
        {n for n, kind in fences if n not in known and not (kind == "drawer" and n in in_drawers)}
    )
