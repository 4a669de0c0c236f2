"""What a commit did, as data: a record of it, and an outcome for each path."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

from ..store.titles import path_of

WRITTEN, MERGED, DELETED, UNCHANGED = "written", "merged", "deleted", "unchanged"
CONFLICT, REFUSED = "conflict", "refused"
DISCARDED = "discarded"
SIDES = ("base", "ours", "theirs", "result")


class Clash(NamedTuple):
    """An entry that is in conflict.

    kind: see `core.merge.Conflict`. address: of the entry.
    base, theirs, ours: its line in each version, 1-based; 0 where it is not.
    """

    kind: str
    address: str
    base: int
    theirs: int
    ours: int

    @classmethod
    def at(cls, path: str, conflict: tuple[str, tuple[str, ...], int, int, int]) -> Clash:
        """A conflict in a file."""
        kind, titles, *lines = conflict
        return cls(kind, f"{path}::{path_of(titles)}" if titles else path, *lines)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a path.

    what: "written", "merged" with what others wrote, "deleted" or "unchanged"; "conflict" or
        "refused" if the note is as it was and the edit still in the copy; "discarded" if the edit
        was thrown away with its copy.
    why: one clause; "" if there is nothing to say.
    base, ours, theirs, result: what git calls each version, 40 hex digits; None where there is no
        file. They are in the history.
    conflicts: the entries in conflict; of a path that was settled for a side, those as well.
    """

    path: str
    what: str
    why: str = ""
    base: str | None = None
    ours: str | None = None
    theirs: str | None = None
    result: str | None = None
    conflicts: tuple[Clash, ...] = ()

    @property
    def is_held(self) -> bool:
        """Whether the edit is not in the notes."""
        return self.what in (CONFLICT, REFUSED)

    def to_data(self) -> dict[str, Any]:
        """As data for JSON."""
        return {**asdict(self), "conflicts": [each._asdict() for each in self.conflicts]}

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> Outcome:
        """The reverse of `to_data`."""
        clashes = tuple(Clash(**each) for each in data["conflicts"])
        return cls(**{**data, "conflicts": clashes})


@dataclass(frozen=True, slots=True)
class Record:
    """What was done with the edits of a copy.

    kind: "commit", or "discard" if they were thrown away. time: seconds since 1970.
    roots: name -> folder of the notes. private_tags: of all of them then.
    """

    kind: str
    copy: str
    message: str
    time: int
    roots: dict[str, str]
    private_tags: tuple[str, ...]
    outcomes: tuple[Outcome, ...]

    def to_data(self) -> dict[str, Any]:
        """As data for JSON."""
        return {**asdict(self), "outcomes": [each.to_data() for each in self.outcomes]}

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> Record:
        """The reverse of `to_data`."""
        outcomes = tuple(map(Outcome.from_data, data["outcomes"]))
        return cls(**{**data, "private_tags": tuple(data["private_tags"]), "outcomes": outcomes})


class Report(NamedTuple):
    """A commit. revision: its name in the history; "" if there was nothing to do."""

    revision: str
    outcomes: tuple[Outcome, ...]

    @property
    def is_whole(self) -> bool:
        """Whether all edits are in the notes."""
        return not any(each.is_held for each in self.outcomes)


class Status(NamedTuple):
    """A copy.

    changed: the notes that were edited in it. used: when last, in seconds since 1970.
    fault: why nothing is known of it but its name and place; "" if it is whole.
    """

    id: str
    folder: Path
    roots: dict[str, str]
    changed: tuple[str, ...]
    used: float
    fault: str = ""
