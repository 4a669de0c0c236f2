"""Collections of notes, and the ranks in which they are searched."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Any, NamedTuple

from .errors import BadArgument

GAP = 10
"""How far apart tiers are where nobody says otherwise: there is room for others in between."""
TIERS = range(-(2**63), 2**63)
"""What a tier may be: TOML's whole numbers (TOML 1.0, Integer)."""


class Collection(NamedTuple):
    """A named set of paths in the memex.

    id: what it is known by; its name unless it says one. paths: of files and folders.
    tier: the lower, the sooner it is searched; collections of one tier are searched together.
    file: the configuration file that says so.
    """

    id: str
    name: str
    paths: tuple[str, ...] = ()
    tier: int = 0
    file: str = ""


class Rank(NamedTuple):
    """Collections that are searched together. number: 0 is searched first."""

    number: int
    tier: int
    collections: tuple[Collection, ...]


def ranks(collections: Iterable[Collection]) -> tuple[Rank, ...]:
    """The distinct tiers in ascending order; within one, collections keep their order."""
    by_tier = groupby(sorted(collections, key=attrgetter("tier")), attrgetter("tier"))
    return tuple(Rank(n, tier, tuple(each)) for n, (tier, each) in enumerate(by_tier))


class Place(NamedTuple):
    """Where to move a collection; one of them is set.

    to: the number of a rank, which it joins; that after the last is a new one.
    before, after: another collection, next to whose rank it gets one of its own.
    """

    to: int | None = None
    before: Collection | None = None
    after: Collection | None = None


def moved(collections: Sequence[Collection], one: Collection, place: Place) -> dict[str, int]:
    """Move a collection to another place; the order of the others stays.

    Returns: id -> tier of those whose tier changes. Others keep theirs as long as there is room.
    Raises: BadArgument if there is no such rank.
    """
    others = [each for each in collections if each.id != one.id]
    tiers = sorted({each.tier for each in others})
    if place.to is not None:
        at, tier = len(tiers), _tier_of(ranks(collections), place.to)
        is_there = place.to < len(ranks(collections))
    else:
        next_to = place.before or place.after
        assert next_to is not None
        at = tiers.index(next_to.tier) + (place.before is None)
        tier = _between(tiers, at)
        is_there = False
    if not is_there and (tier in tiers or tier not in TIERS):  # no room: all are numbered anew
        numbers = {old: GAP * (n + (n >= at)) for n, old in enumerate(tiers)}
        wanted = {each.id: numbers[each.tier] for each in others} | {one.id: GAP * at}
    else:
        wanted = {one.id: tier}
    known = {each.id: each.tier for each in collections}
    return {id_: tier for id_, tier in wanted.items() if tier != known[id_]}


def _tier_of(known: Sequence[Rank], number: int) -> int:
    if not 0 <= number <= len(known):
        hint = f"the last is {len(known) - 1}; {len(known)} makes a new one"
        raise BadArgument(f"to: no rank {number}", hint, "to")
    return known[number].tier if number < len(known) else known[-1].tier + GAP


def _between(tiers: Sequence[int], at: int) -> int:
    """A tier in front of the one at `at`, not below 0; one of `tiers` if there is no room."""
    if at == len(tiers):
        return tiers[-1] + GAP
    least = tiers[at - 1] if at else min(-1, tiers[0])
    return (least + tiers[at] + (at == 0)) // 2


# --- As they are written -------------------------------------------------------------------------


def read_collections(rows: Sequence[Mapping[str, Any]], file: str) -> tuple[Collection, ...]:
    """The collections of a configuration file, of which `collections_fault` finds nothing."""
    return tuple(
        Collection(
            str(row.get("id", row["name"])),
            row["name"],
            tuple(map(str, map(inside, row["paths"]))),
            row.get("tier", 0),
            file,
        )
        for row in rows
    )


def collections_fault(rows: Any) -> str:
    """What is wrong with `[[collections]]`; "" if nothing is."""
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        return "write [[collections]], one for each"
    faults = (fault for row in rows if (fault := _fault(row)))
    if fault := next(faults, ""):
        return fault
    for key in ("id", "name"):
        values = [row.get(key, row["name"]) for row in rows]
        if twice := next((each for each in values if values.count(each) > 1), None):
            return f"{twice}: two collections of this {key}"
    return ""


def _fault(row: Mapping[str, Any]) -> str:
    """What is wrong with one collection."""
    known = ("name", "paths", "tier", "id")
    if odd := next((key for key in row if key not in known), None):
        return f"{odd}: there is no such key; the keys are {', '.join(known)}"
    if not is_text(row.get("name")):
        return "give each a name"
    if not is_text(row.get("id", "x")):
        return f"{row['name']}: id: give a text"
    paths = row.get("paths")
    if not isinstance(paths, list) or not paths or not all(map(is_text, paths)):
        return f"{row['name']}: give a list of paths"
    if out := next((path for path in paths if inside(path) is None), None):
        return f"{row['name']}: {out}: leads out of the notes"
    return "" if is_tier(row.get("tier", 0)) else f"{row['name']}: tier: give a whole number"


def profiles_fault(table: Any) -> str:
    """What is wrong with `[profiles.NAME]` tables; "" if nothing is."""
    if not isinstance(table, dict):
        return "write [profiles.NAME]"
    for name, tiers in table.items():
        if not isinstance(tiers, dict) or not all(map(is_tier, tiers.values())):
            return f"{name}: give lines of COLLECTION = TIER, a whole number"
    return ""


def inside(path: str) -> str | None:
    """A path without detours, "" for the folder it starts from; None if it leads out of that."""
    plain = posixpath.normpath(path.rstrip("/") or "/")
    if ".." in plain.split("/")[:1]:
        return None
    return "" if plain in (".", "/") else plain


def is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def is_tier(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value in TIERS
