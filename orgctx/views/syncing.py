"""What a sync did, and what is known."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from typing import Any

from ..core.entry import many
from ..core.model import Problem
from ..store.indexed import IndexedStore
from ..store.store import Store
from ..store.sync import Report
from ..store.writing import Asked

SHOWN, LISTED = 20, 100
"""How many problems a text and data tell one by one where not all are told."""


def to_data(report: Report) -> dict[str, Any]:
    """A sync's report as data, but for its problems, which are counted."""
    return {
        "read": report.read,
        "unchanged": report.unchanged,
        "removed": report.removed,
        "problem_count": len(report.problems),
        "summaries": asdict(report.summaries),
        "notes": report.notes,
    }


def to_text(report: Report) -> str:
    """A sync's report in a line, one on summaries and notes, and one for each first problem."""
    counts = f"{report.read} read, {report.unchanged} unchanged, {report.removed} removed"
    notes = "".join(f"{each}\n" for each in (*_asked(report.summaries), *report.notes))
    files = [each for each in report.problems if not each.line]
    rest = " (see orgctx status)\n" if len(report.problems) > len(files) else "\n"
    return f"{counts}, {many(len(report.problems), 'problem')}{rest}{notes}{_listed(files)}"


def _asked(asked: Asked) -> Iterator[str]:
    """What was asked of a model, or would be; nothing if no model was to write."""
    cost = f"{many(asked.calls, 'call')}, {many(asked.input_tokens, 'input token')}"
    if asked.is_dry_run:
        about = "" if asked.is_exact else "about "
        yield f"summaries to be written: {about}{cost}"
    elif asked.calls:
        yield f"{many(asked.written, 'summary')} written: {cost}"


def status(store: Store, most: int | None = LISTED) -> dict[str, Any]:
    """Roots with their files and headlines, IDs, duplicates, problems, the store's size and place.

    most: how many problems are told one by one; None: all.
    Counts are of what may be shown: private notes are in none of them.
    """
    problems = store.problems()
    place = store.database if isinstance(store, IndexedStore) else None
    counts = _known(store) if isinstance(store, IndexedStore) and not store.fault else _read(store)
    return {
        **counts,
        "problems": [each._asdict() for each in problems[:most]],
        "problem_count": len(problems),
        "store": str(place) if place else None,
        "store_bytes": place.stat().st_size if place and place.exists() else 0,
    }


def _known(store: IndexedStore) -> dict[str, Any]:
    """The counts as the database has them."""
    ids, duplicates = store.id_totals()
    return {"roots": _roots(store, store.sizes()), "ids": ids, "duplicates": duplicates}


def _read(store: Store) -> dict[str, Any]:
    """The counts, from the notes themselves."""
    sizes: dict[str | None, tuple[int, int]] = {}
    for tree in store.trees():
        files, headlines = sizes.get(name := store.root_name(tree.path), (0, 0))
        sizes[name] = files + 1, headlines + len(tree.nodes) - 1
    ids = store.ids()
    found = list(ids)
    duplicates = sum(ids.count(each) > 1 for each in found)
    return {"roots": _roots(store, sizes), "ids": len(found), "duplicates": duplicates}


def _roots(store: Store, sizes: Mapping[Any, tuple[int, int]]) -> list[dict[str, Any]]:
    """Each root with its files and headlines."""
    rows = ((root, *sizes.get(root.name, (0, 0))) for root in store.roots)
    return [
        {"name": root.name, "folder": str(root.folder), "files": files, "headlines": headlines}
        for root, files, headlines in rows
    ]


def status_text(data: dict[str, Any], most: int | None = SHOWN) -> str:
    """The status for people. most: how many problems it lists; None: all."""
    roots = "".join(
        f"{each['name']} — {many(each['files'], 'file')}, "
        f"{many(each['headlines'], 'headline')} ({each['folder']})\n"
        for each in data["roots"]
    )
    problems = [Problem(**each) for each in data["problems"]]
    counts = f"{many(data['ids'], 'ID')}, {data['duplicates']} of them on several nodes\n"
    place = f"store: {data['store']}, {data['store_bytes'] / 1e6:.1f} MB\n" if data["store"] else ""
    return (
        f"{roots}{counts}{many(data['problem_count'], 'problem')}\n{_listed(problems, most)}{place}"
    )


def _listed(problems: Iterable[Problem], most: int | None = SHOWN) -> str:
    found = list(problems)
    lines = [
        f"  {each.path}{f':{each.line}' if each.line else ''}: {each.what}\n"
        for each in found[:most]
    ]
    rest = len(found) - len(lines)
    return "".join(lines) + (f"  … and {rest} more: see orgctx status\n" if rest else "")
