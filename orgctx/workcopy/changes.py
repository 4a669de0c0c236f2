"""What was edited in a copy, against its base."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple
from unicodedata import normalize

from ..config import Config, ignorer
from ..errors import OrgctxError
from ..store import files
from ..store.roots import Root
from ..store.signature import signature
from .base import Base, Row
from .confined import Files


class Change(NamedTuple):
    """A note that was edited in a copy.

    base: what the copy got; None if it did not get such a note. ours: what it has; None if the
    note is gone from it. refused: why it cannot become a note; "" if it can.
    """

    path: str
    base: bytes | None
    ours: bytes | None
    refused: str = ""


def changes(base: Base, roots: tuple[Root, ...], configs: Mapping[str, Config]) -> list[Change]:
    """What was edited, in path order.

    roots: those of the copy. configs: those of the notes, by root.
    Raises: Damaged; Unreadable if a file cannot be read.
    """
    gone, found, copied = dict(base.rows), list[Change](), Files(roots)
    for root in roots:
        ignored = ignorer(configs[root.name].ignore)
        for entry, within in _files(root.folder):
            path = root.prefix + within
            row = gone.pop(path, None)
            if row is None and files.is_litter(entry.name):
                continue
            if change := _change(base, copied, path, entry, row):
                is_left_out = row is None and ignored(within)
                why = "left out of the notes by `ignore` in orgctx.toml" if is_left_out else ""
                found.append(change._replace(refused=change.refused or why))
    found += (Change(path, base.data(path), None) for path in gone)
    return sorted(found)


def told_apart(found: list[Change], notes: Files) -> list[Change]:
    """The changes, of which those are refused whose notes this disk takes for one.

    Such as an added `Plan.org` and a deleted `plan.org`, where case makes no difference to it.
    """
    alike: dict[str, list[Change]] = defaultdict(list)
    for each in found:
        alike[normalize("NFC", each.path).casefold()].append(each)
    return sorted(each for group in alike.values() for each in _told_apart(group, notes))


def _told_apart(group: list[Change], notes: Files) -> list[Change]:
    """The changes whose paths differ in case alone."""
    if len(group) == 1 or not any(_is_misnamed(notes, each.path) for each in group):
        return group
    why = f"this disk takes {' and '.join(each.path for each in group)} for the same name"
    return [each._replace(refused=each.refused or why) for each in group]


def _is_misnamed(notes: Files, path: str) -> bool:
    """Whether a path leads to a note, though no folder has it under this very name."""
    try:
        return notes.read(path).data is not None and not notes.lists(path)
    except OrgctxError:  # it is told where the change is planned
        return False


def _files(folder: Path) -> Iterator[tuple[os.DirEntry[str], str]]:
    """Everything in a folder, at any depth, that is no folder, and its path in there."""
    waiting = [("", str(folder))] if folder.is_dir() else []
    while waiting:
        start, place = waiting.pop()
        with os.scandir(place) as entries:
            for entry in entries:
                if not entry.is_dir(follow_symlinks=False):
                    yield entry, start + entry.name
                elif not entry.name.startswith("."):
                    waiting.append((f"{start}{entry.name}/", entry.path))


def _change(
    base: Base, copied: Files, path: str, entry: os.DirEntry[str], row: Row | None
) -> Change | None:
    """What became of a file; None if it is as it was."""
    if row and row.copy == signature(entry.stat(follow_symlinks=False)):
        return None
    if entry.is_symlink():
        return Change(path, base.data(path), None, "a symbolic link")
    if not entry.is_file(follow_symlinks=False):
        return Change(path, base.data(path), None, "no regular file")
    ours = copied.read(path)
    if ours.data is None or (row and ours.revision == row.revision):
        return None
    return Change(path, base.data(path), ours.data, no_note(entry.name))


def no_note(name: str) -> str:
    """Why a file of this name is no note; "" if it is one."""
    if not files.is_note(name):
        return f"a note's name ends in {' or '.join(files.SUFFIXES)}"
    return "named like a sync-conflict copy" if files.is_conflict_copy(name) else ""
