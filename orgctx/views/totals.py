"""What many entries come to: keywords, tags and dates, counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from ..core.entry import many
from ..store.store import Fact
from .page import brief

MOST = 10
"""How many tags are named; the others are counted."""


class Dates(NamedTuple):
    """Dates of one kind. number: how many there are. first, last: of them, in ISO form."""

    number: int
    first: str
    last: str


class Totals(NamedTuple):
    """What some entries come to.

    keywords: how many have each. tags: the same, own ones, the `MOST` most frequent.
    other_tags: how many tags more there are. dates: by planning keyword.
    """

    keywords: dict[str, int]
    tags: dict[str, int]
    other_tags: int
    dates: dict[str, Dates]


def totals(facts: Iterable[Fact]) -> Totals:
    """Count entries. facts: of each entry."""
    keywords, tags = Counter[str](), Counter[str]()
    dates: dict[str, list[str]] = {}
    for each in facts:
        keywords.update(filter(None, (brief(each.todo or ""),)))
        tags.update(map(brief, each.tags))
        for keyword, date in each.planned:
            dates.setdefault(keyword, []).append(date)
    spans = {key: Dates(len(all_), min(all_), max(all_)) for key, all_ in sorted(dates.items())}
    return Totals(_ranked(keywords), _ranked(tags, MOST), max(0, len(tags) - MOST), spans)


def _ranked(counts: Counter[str], most: int | None = None) -> dict[str, int]:
    """The most frequent first, of equals by name."""
    return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:most])


def to_line(found: Totals) -> str:
    """The totals as a line below what they are of; "" if there are none."""
    tags = [f":{tag}: {number}" for tag, number in found.tags.items()]
    if found.other_tags:
        tags.append(many(found.other_tags, "other tag"))
    parts = (
        [f"{keyword} {number}" for keyword, number in found.keywords.items()],
        tags,
        [f"{key} {dates.number} ({_span(dates)})" for key, dates in found.dates.items()],
    )
    line = "; ".join(", ".join(part) for part in parts if part)
    return f"  {line}\n" if line else ""


def _span(dates: Dates) -> str:
    return dates.first if dates.first == dates.last else f"{dates.first} to {dates.last}"
