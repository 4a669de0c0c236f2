"""Collections: which notes each has, in which rank it is searched, what it confines."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from ..core.entry import many
from ..core.model import Problem
from ..errors import BadArgument, NotFound, OutOfRange, Unreadable
from ..ranks import Collection, Rank, is_text, is_tier, ranks
from ..store.store import File, Store
from .view import whole

NAME = "collections.json"
"""The file by which a workspace says otherwise than orgctx.toml."""
EVERYTHING = Collection("", "everything")


Workspace = str | PathLike[str] | None


class Collections(NamedTuple):
    """The collections of a memex. problems: what of a workspace's file was skipped."""

    all: tuple[Collection, ...]
    problems: tuple[Problem, ...] = ()

    @property
    def ranks(self) -> tuple[Rank, ...]:
        """The order of search; one rank with everything if there are no collections."""
        return ranks(self.all) or (Rank(0, 0, (EVERYTHING,)),)

    def named(self, name: str) -> Collection:
        """The collection of this name or id. Raises: NotFound, which names what there is."""
        found = [each for each in self.all if name in (each.id, each.name)]
        if not found:
            names = ", ".join(each.name for each in self.all) or "none"
            raise NotFound(f"{name}: no such collection", f"there is: {names}", name)
        return found[0]

    def rank(self, number: int) -> Rank:
        """The rank of this number, from 0. Raises: OutOfRange behind the last."""
        whole("rank", number, 0)
        if number >= len(self.ranks):
            last = f"the last is {len(self.ranks) - 1}"
            raise OutOfRange(f"no priority tier {number}; {last}", where="rank")
        return self.ranks[number]


def collected(store: Store, workspace: Workspace = None) -> Collections:
    """The collections of a memex, paths as addresses call them.

    workspace: a folder whose `collections.json` lists those that count there, and their tiers.
    Raises: BadConfig, which opening the store has found; Unreadable.
    """
    known = list(_configured(store))
    file = Path(workspace, NAME) if workspace is not None else None
    if file is None or not file.is_file():
        return Collections(tuple(known))
    return _overridden(known, file)


def _configured(store: Store) -> Iterable[Collection]:
    """Those that orgctx.toml names: the user's, then each root's own."""
    for each in store.config.collections:
        yield each._replace(paths=tuple(_address(store, path) for path in each.paths))
    for root in store.roots:
        for each in store.configs[root.name].collections:
            yield each._replace(paths=tuple(root.prefix + p.strip("/") for p in each.paths))


def _address(store: Store, path: str) -> str:
    """What addresses call a file or folder that the user's own file names."""
    plain = path.rstrip("/")
    return store.file(plain) or store.folder_named(plain) or plain


def _overridden(known: Sequence[Collection], file: Path) -> Collections:
    """The collections that a workspace lists, as it ranks them."""
    problems: list[Problem] = []
    found: dict[str, Collection] = {}
    for number, row in enumerate(rows_of(file), 1):
        fault = _row_fault(row)
        same = [c for c in known if not fault and row.get("id", row.get("name")) in (c.id, c.name)]
        if fault or not same or same[0].id in found:
            what = fault or ("no such collection" if not same else "it is there already")
            problems.append(Problem(str(file), 0, f"entry {number}: {what}", "it is skipped"))
        else:
            found[same[0].id] = same[0]._replace(tier=row.get("tier", 0), file=str(file))
    return Collections(tuple(found.values()), tuple(problems))


def rows_of(file: Path) -> list[Any]:
    """What a workspace's file lists. Raises: Unreadable if it is no list."""
    try:
        rows = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        hint = f"mend it, or move it away; it is a list such as {EXAMPLE}"
        raise Unreadable(f"{file}: {error}", hint, str(file)) from error
    if not isinstance(rows, list):
        raise Unreadable(f"{file}: not a list", f"write a list such as {EXAMPLE}", str(file))
    return rows


EXAMPLE = '[{"id": "Projects", "name": "Projects", "tier": 0}]'


def _row_fault(row: Any) -> str:
    """What is wrong with an entry of a workspace's file; "" if nothing is."""
    if not isinstance(row, dict) or not is_text(row.get("id", row.get("name"))):
        return "give it an id"
    return "" if is_tier(row.get("tier", 0)) else "tier: give a whole number"


# --- What they confine ---------------------------------------------------------------------------


def confined(
    store: Store,
    workspace: Workspace = None,
    rank: int | None = None,
    collection: Sequence[str] = (),
) -> Store:
    """The store, confined to a rank, or to collections by name; as it is if neither is given.

    Raises: NotFound for a name, OutOfRange behind the last rank, BadArgument for both at once.
    """
    if rank is None and not collection:
        return store
    if rank is not None and collection:
        raise BadArgument("rank and collection: give one of them", where="rank")
    known = collected(store, workspace)
    wanted = known.rank(rank).collections if rank is not None else map(known.named, collection)
    return within(store, wanted)


def within(store: Store, wanted: Iterable[Collection]) -> Store:
    """The store, confined to some collections."""
    wanted = tuple(wanted)
    is_all = EVERYTHING in wanted
    return store if is_all else store.within([path for each in wanted for path in each.paths])


def searched(known: Collections, rank: Rank) -> str:
    """What was searched, and how to search more, in a sentence."""
    names = ", ".join(each.name for each in rank.collections)
    is_last = rank.number == len(known.ranks) - 1
    rest = "it is the last" if is_last else f"widen with rank={rank.number + 1}"
    return f"Searched priority tier {rank.number} of {len(known.ranks)} ({names}); {rest}"


# --- How they look -------------------------------------------------------------------------------


class Size(NamedTuple):
    """How many notes and headlines."""

    files: int
    headlines: int


def _size(files: Iterable[File]) -> Size:
    found = list(files)
    return Size(len(found), sum(file.headlines for file in found))


def to_data(store: Store, known: Collections) -> dict[str, Any]:
    """Ranks, their collections with paths and counts, and what is in none, as data."""
    store.freshen()
    files = store.files()
    rows, left = [], set(files)
    for rank in ranks(known.all):
        for each in rank.collections:
            here = [file for file in files if store.within(each.paths).holds_all(file.path)]
            left -= set(here)
            named = {"rank": rank.number, "id": each.id, "name": each.name, "tier": each.tier}
            rows.append({**named, "paths": list(each.paths), **_size(here)._asdict()})
    return {"collections": rows, "in_none": _size(left)._asdict()}


def to_text(data: dict[str, Any]) -> str:
    """The same as text: a line for each collection, and one for what is in none."""
    lines = [
        f"rank {row['rank']}, tier {row['tier']}: {row['name']} — {', '.join(row['paths'])}"
        f" — {_counts(row)}"
        for row in data["collections"]
    ]
    rest = _counts(data["in_none"])
    lines.append(f"in no collection — {rest}" if lines else f"no collections — {rest}")
    return "".join(f"{line}\n" for line in lines)


def _counts(row: dict[str, Any]) -> str:
    return f"{many(row['files'], 'file')}, {many(row['headlines'], 'headline')}"
