"""What an entry gives a name of its own: named elements, targets, and defined terms."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from operator import itemgetter
from typing import NamedTuple

_NAMED = re.compile(r"[ \t]*#\+(?:name|tblname):[ \t]*(\S.*?)[ \t\r]*$", re.IGNORECASE)
_TARGET = re.compile(r"<<<?([^<>\s](?:[^<>]*[^<>\s])?)>>>?")
_TERM = re.compile(
    r"[ \t]*(?:[-+]|(?<=[ \t])\*|\d+[.)])[ \t]+(?:\[[ X-]\][ \t]+)?(\S.*?)[ \t]+::(?=\s|$)"
)
_KINDS = (("name", "#+", _NAMED), ("target", "<<", _TARGET), ("term", " ::", _TERM))
"""Each with what has to be in its line."""
KINDS = ("name", "target", "term")
LONGEST = 80
"""Characters of a name; what is longer is a sentence."""


class Symbol(NamedTuple):
    """A name in an entry. kind: "name", "target" or "term". line: 1-based, in the file."""

    kind: str
    name: str
    line: int


def symbols(text: str, first_line: int) -> list[Symbol]:
    """The names that an entry gives, in their order.

    text: the entry. first_line: its first line in the file, 1-based.
    Returns: `#+name:` lines, `<<targets>>` and the terms of description lists, each kind once per
        name (Org syntax: Affiliated Keywords, Targets, Plain Lists).
    """
    found = dict[tuple[str, str], int]()
    for kind, name, start in sorted(occurrences(text), key=itemgetter(2)):
        found.setdefault((kind, name), first_line + text.count("\n", 0, start))
    return [Symbol(kind, name, line) for (kind, name), line in found.items()]


def occurrences(text: str, kinds: Container[str] = KINDS) -> Iterator[tuple[str, str, int]]:
    """Kind, name and place of each name of some kinds in an entry, those of a kind in order."""
    for kind, mark, pattern in (each for each in _KINDS if each[0] in kinds):
        for start, line in _lines_with(text, mark):
            for each in [pattern.match(line)] if kind != "target" else pattern.finditer(line):
                if each and len(each[1]) <= LONGEST:
                    yield kind, each[1], start + each.start(1)


def _lines_with(text: str, mark: str) -> Iterator[tuple[int, str]]:
    """The lines that a mark is in, and where they start."""
    place = text.find(mark)
    while place >= 0:
        start, end = text.rfind("\n", 0, place) + 1, text.find("\n", place)
        end = len(text) if end < 0 else end
        yield start, text[start:end]
        place = text.find(mark, end)
