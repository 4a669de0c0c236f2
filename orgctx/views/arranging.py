"""Moving collections between ranks, and choosing those of a workspace: what writes settings."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path

from ..core.model import Problem
from ..errors import BadArgument, NotFound, OrgctxError
from ..ranks import Collection, Place, moved
from ..store.replacing import replace
from ..store.store import Store
from .collecting import NAME, Collections, Workspace, collected, rows_of


def move(
    store: Store,
    workspace: Workspace,
    name: str,
    to: int | None = None,
    before: str | None = None,
    after: str | None = None,
) -> Collections:
    """Move a collection to a rank, or next to another collection.

    Written is the workspace's file if there is one, else the orgctx.toml that has the collection;
    comments stay, and so do all tiers for which there is room.
    Returns: the collections as they are then.
    Raises: NotFound, BadArgument, Unreadable, OrgctxError if a file cannot be written.
    """
    if [to, before, after].count(None) != 2:
        raise BadArgument("move: give one of to, before, after", where="to")
    known = collected(store, workspace)
    one = known.only(name)
    place = Place(to, *(known.only(each) if each else None for each in (before, after)))
    if one in place:
        raise BadArgument(f"{name}: cannot be moved next to itself", where=name)
    tiers = moved(known.all, one, place)
    for file in {each.file for each in known.all if each.id in tiers}:
        own = {each: tiers[each.id] for each in known.all if each.file == file and each.id in tiers}
        write = _in_workspace if Path(file).name == NAME else _in_settings
        write(Path(file), own)
    return known._replace(all=tuple(e._replace(tier=tiers.get(e.id, e.tier)) for e in known.all))


def _in_workspace(file: Path, tiers: Mapping[Collection, int]) -> None:
    rows = rows_of(file)
    for row in rows:
        for each, tier in tiers.items():
            if isinstance(row, dict) and row.get("id", row.get("name")) in (each.id, each.name):
                row["tier"] = tier
    _write(file, _listed(rows))


def _in_settings(file: Path, tiers: Mapping[Collection, int]) -> None:
    import tomlkit  # only what is moved needs it

    document = tomlkit.parse(file.read_bytes().decode("utf-8-sig"))  # line ends and all
    by_name = {each.name: tier for each, tier in tiers.items()}
    for row in document["collections"]:
        if row["name"] in by_name:
            row["tier"] = by_name[row["name"]]
    _write(file, tomlkit.dumps(document))


def choose_profile(
    store: Store,
    workspace: str | PathLike[str],
    profile: str | None = None,
    is_forced: bool = False,
) -> tuple[Collections, tuple[Problem, ...]]:
    """Write the collections of a profile, or all of them, into a workspace's file.

    is_forced: whether a file that is there may be replaced.
    Returns: the collections, and what the profile names that is not there.
    Raises: NotFound if there is no such profile; BadArgument if there is a file.
    """
    file = Path(workspace, NAME)
    if file.exists() and not is_forced:
        raise BadArgument(f"{file}: it is there already", "replace it with --force", str(file))
    known = collected(store)
    chosen, problems = known, tuple[Problem, ...]()
    if profile is not None:
        chosen, problems = _chosen(known, _profile(store, profile), profile)
    rows = [{"id": each.id, "name": each.name, "tier": each.tier} for each in chosen.all]
    _write(file, _listed(rows))
    return chosen, problems


def _profile(store: Store, name: str) -> Mapping[str, int]:
    """Raises: NotFound, which names what there is."""
    profiles = dict(store.config.profiles)
    for config in store.configs.values():
        profiles |= config.profiles
    if name not in profiles:
        there = ", ".join(profiles) or "none"
        raise NotFound(f"{name}: no such profile", f"orgctx.toml has: {there}", name)
    return profiles[name]


def _chosen(
    known: Collections, tiers: Mapping[str, int], profile: str
) -> tuple[Collections, tuple[Problem, ...]]:
    found: list[Collection] = []
    problems: list[Problem] = []
    for name, tier in tiers.items():
        try:
            found += [each._replace(tier=tier) for each in known.named(name)]
        except NotFound as error:
            problems.append(Problem(profile, 0, error.message, "it is skipped"))
    return Collections(tuple(found)), tuple(problems)


def _listed(rows: Iterable[object]) -> str:
    lines = ",\n".join(f"  {json.dumps(row, ensure_ascii=False)}" for row in rows)
    return f"[\n{lines}\n]\n"


def _write(file: Path, text: str) -> None:
    """Raises: OrgctxError."""
    try:
        replace(file, text.encode(), 0o644)
    except OSError as error:
        raise OrgctxError(f"{file}: {error.strerror}", "make it writable", str(file)) from error
