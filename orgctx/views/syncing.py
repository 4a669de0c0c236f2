"""What a sync did, and what is known."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from ..core.model import Problem
from ..store.indexed import IndexedStore
from ..store.store import Store
from ..store.sync import Report

SHOWN = 20


def to_data(report: Report) -> dict[str, Any]:
    """A sync's report as data."""
    return {
        "read": report.read,
        "unchanged": report.unchanged,
        "removed": report.removed,
        "problems": [asdict(each) for each in report.problems],
    }


def to_text(report: Report) -> str:
    """A sync's report in a line, and a line for each of the first problems."""
    counts = f"{report.read} read, {report.unchanged} unchanged, {report.removed} removed"
    return f"{counts}, {len(report.problems)} problems\n{_listed(report.problems)}"


def status(store: Store) -> dict[str, Any]:
    """Roots with their files and headlines, IDs, duplicates, problems, the store's size and place.

    Counts are of what may be shown: private notes are in none of them.
    """
    trees = list(store.trees())
    ids = store.ids()
    found = list(ids)
    place = store.database if isinstance(store, IndexedStore) else None
    return {
        "roots": [
            {"name": root.name, "folder": str(root.folder), **_counts(store, root.name, trees)}
            for root in store.roots
        ],
        "ids": len(found),
        "duplicates": sum(ids.count(each) > 1 for each in found),
        "problems": [asdict(each) for each in store.problems()],
        "store": str(place) if place else None,
        "store_bytes": place.stat().st_size if place and place.exists() else 0,
    }


def _counts(store: Store, name: str, trees: list[Any]) -> dict[str, int]:
    here = [tree for tree in trees if store.root_name(tree.path) == name]
    return {"files": len(here), "headlines": sum(len(tree.nodes) - 1 for tree in here)}


def status_text(data: dict[str, Any]) -> str:
    """The status for people."""
    roots = "".join(
        "{name} — {files} files, {headlines} headlines ({folder})\n".format(**each)
        for each in data["roots"]
    )
    problems = [Problem(**each) for each in data["problems"]]
    counts = f"{data['ids']} IDs, {data['duplicates']} of them on several nodes\n"
    place = f"store: {data['store']}, {data['store_bytes'] / 1e6:.1f} MB\n" if data["store"] else ""
    return f"{roots}{counts}{len(problems)} problems\n{_listed(problems)}{place}"


def _listed(problems: Iterable[Problem]) -> str:
    found = list(problems)
    lines = [
        f"  {each.path}{f':{each.line}' if each.line else ''}: {each.what}\n"
        for each in found[:SHOWN]
    ]
    rest = len(found) - SHOWN
    return "".join(lines) + (f"  … and {rest} more: see --json\n" if rest > 0 else "")
