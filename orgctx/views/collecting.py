"""Collections: which notes each has, in which rank it is searched, what it confines."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from ..core.entry import many
from ..core.model import Problem
from ..errors import Ambiguous, BadArgument, NotFound, OutOfRange, Unreadable
from ..ranks import Collection, Rank, is_text, is_tier, ranks
from ..store.store import File, Store
from .page import brief, plain
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

    def named(self, name: str) -> tuple[Collection, ...]:
        """The collections of this id, or else of this name, which several roots may have.

        Raises: NotFound, which names what there is.
        """
        found = [each for each in self.all if name == each.id]
        found = found or [each for each in self.all if name == each.name]
        if not found:
            names = brief(plain(", ".join(each.name for each in self.all))) or "none"
            raise NotFound(f"{name}: no such collection", f"there is: {names}", name)
        return tuple(found)

    def only(self, name: str) -> Collection:
        """The one collection of this id or name. Raises: NotFound, Ambiguous."""
        found = self.named(name)
        if len(found) > 1:
            ids = " or ".join(each.id for each in found)
            raise Ambiguous(f"{name}: {len(found)} collections have this name", f"say {ids}", name)
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


def _configured(store: Store) -> Iterator[Collection]:
    """Those that orgctx.toml names: the user's, then each root's own.

    Of those that have one id, each of a root has the root's name in front of it.
    """
    own = [(root, each) for root in store.roots for each in store.configs[root.name].collections]
    ids = Counter(each.id for each in (*store.config.collections, *(each for _, each in own)))
    for each in store.config.collections:
        yield each._replace(paths=tuple(_address(store, path) for path in each.paths))
    for root, each in own:
        id_ = each.id if ids[each.id] == 1 else f"{root.name}/{each.id}"
        paths = (root.prefix + path.lstrip("/") for path in each.paths)
        yield each._replace(id=id_, paths=tuple(_address(store, path) for path in paths))


def _address(store: Store, path: str) -> str:
    """What addresses call a file or folder that a configuration file names."""
    plain = path.rstrip("/")
    if not plain:
        return ""
    return store.file(plain) or store.folder_named(plain) or plain


def _overridden(known: Sequence[Collection], file: Path) -> Collections:
    """The collections that a workspace lists, as it ranks them."""
    problems: list[Problem] = []
    found: dict[str, Collection] = {}
    for number, row in enumerate(rows_of(file), 1):
        fault = _row_fault(row)
        name = "" if fault else row.get("id", row.get("name"))
        same = [c for c in known if name == c.id] or [c for c in known if name == c.name]
        if fault or not same or same[0].id in found:
            what = fault or ("no such collection" if not same else "it is there already")
            problems.append(Problem(str(file), 0, f"entry {number}: {what}", "it is skipped"))
            continue
        tier = row.get("tier", 0)
        found |= {each.id: each._replace(tier=tier, file=str(file)) for each in same}
    return Collections(tuple(found.values()), tuple(problems))


def rows_of(file: Path) -> list[Any]:
    """What a workspace's file lists. Raises: Unreadable if it is no list."""
    try:
        rows = json.loads(file.read_text(encoding="utf-8-sig"))
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


def without_notes(store: Store, known: Collections) -> Iterator[Problem]:
    """The paths of collections at which there is no note, as problems of the file that has them."""
    notes, counted = [file.path for file in store.files()], {each.id for each in known.all}
    for each in _configured(store):
        for path in each.paths if each.id in counted else ():
            if path and not any(f"{note}/".startswith(f"{path}/") for note in notes):
                what = f"collection {plain(each.name)}: no note at {plain(path)}"
                yield Problem(each.file, 0, what, "mend this one of its paths, or take it out")


# --- What they confine ---------------------------------------------------------------------------


def confined(
    store: Store, known: Collections, rank: int | None = None, collection: Sequence[str] = ()
) -> Store:
    """The store, confined to a rank, or to collections by name; as it is if neither is given.

    known: see `collected`.
    Raises: NotFound for a name, OutOfRange behind the last rank, BadArgument for both at once.
    """
    if rank is None and not collection:
        return store
    if rank is not None and collection:
        raise BadArgument("rank and collection: give one of them", where="rank")
    if rank is not None:
        return within(store, known.rank(rank).collections)
    return within(store, [each for name in collection for each in known.named(name)])


def within(store: Store, wanted: Iterable[Collection]) -> Store:
    """The store, confined to some collections."""
    wanted = tuple(wanted)
    paths = [path for each in wanted for path in each.paths]
    return store if EVERYTHING in wanted or "" in paths else store.within(paths)


def searched(known: Collections, rank: Rank) -> str:
    """What was searched, and how to search more, in a sentence."""
    names = brief(plain(", ".join(each.name for each in rank.collections)))
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
            inside = within(store, [each])
            here = [file for file in files if inside.holds_all(file.path)]
            left -= set(here)
            named = {"rank": rank.number, "id": each.id, "name": each.name, "tier": each.tier}
            rows.append({**named, "paths": list(each.paths), **_size(here)._asdict()})
    return {"collections": rows, "in_none": _size(left)._asdict()}


def to_text(data: dict[str, Any]) -> str:
    """The same as text: a line for each collection, and one for what is in none."""
    names = Counter(row["name"] for row in data["collections"])
    lines = [
        f"rank {row['rank']}, tier {row['tier']}: {_called(row, names)} — {_places(row)}"
        f" — {_counts(row)}"
        for row in data["collections"]
    ]
    rest = _counts(data["in_none"])
    lines.append(f"in no collection — {rest}" if lines else f"no collections — {rest}")
    return "".join(f"{line}\n" for line in lines)


def _called(row: dict[str, Any], names: Counter[str]) -> str:
    """Its name, and its id where another has this name."""
    name = plain(row["name"])
    return name if names[row["name"]] == 1 else f"{name} ({plain(row['id'])})"


def _places(row: dict[str, Any]) -> str:
    return brief(", ".join(plain(path) or "everything" for path in row["paths"]))


def _counts(row: dict[str, Any]) -> str:
    return f"{many(row['files'], 'file')}, {many(row['headlines'], 'headline')}"
