"""What an edit of a copy does to its note: pure, on bytes."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..core.merge import Side, merge
from ..errors import Unreadable
from ..store.files import decode, revision_of
from .base import Row
from .changes import Change
from .copying import shown
from .record import CONFLICT, DELETED, MERGED, REFUSED, UNCHANGED, WRITTEN, Clash, Outcome


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to become of a path.

    what, why, conflicts: as in `Outcome`. result: the note's bytes when it is done, which are
    theirs if the edit is held back. Each is None where there is no file.
    """

    path: str
    base: bytes | None
    ours: bytes | None
    theirs: bytes | None
    result: bytes | None
    what: str
    why: str = ""
    conflicts: tuple[Clash, ...] = ()

    @property
    def is_held(self) -> bool:
        """Whether the edit stays in the copy."""
        return self.what in (CONFLICT, REFUSED)

    @property
    def writes(self) -> bool:
        """Whether the note changes."""
        return self.result != self.theirs

    def refused(self, why: str) -> Plan:
        """The same, held back."""
        return replace(self, what=REFUSED, why=why, result=self.theirs, conflicts=())

    def outcome(self) -> Outcome:
        """The plan once it is carried out."""
        versions = (self.base, self.ours, self.theirs, self.result)
        base, ours, theirs, result = (d if d is None else revision_of(d) for d in versions)
        names = (base, ours, theirs, result)
        return Outcome(self.path, self.what, self.why, *names, conflicts=self.conflicts)


def plan(
    change: Change,
    theirs: bytes | None,
    row: Row | None,
    prefer: Side | None,
    tags: frozenset[str],
) -> Plan:
    """Plan what becomes of a note that was edited in a copy.

    theirs: the note as it is now. row: what the base knows of it. tags: the private ones.
    prefer: whose half of each conflict is taken; None refuses the edit.
    """
    found = Plan(change.path, change.base, change.ours, theirs, change.ours, WRITTEN)
    try:
        if why := change.refused or _refusal(change, theirs, row, tags):
            return found.refused(why)
        if change.ours == theirs:
            return replace(found, what=UNCHANGED)
        source = None if theirs is None else revision_of(theirs)
        is_as_copied = source == (row.source if row else None)
        if is_as_copied and not _is_part(row):
            return replace(found, what=DELETED if change.ours is None else WRITTEN)
        if change.ours is None or theirs is None:
            return _one_is_gone(found, prefer)
        return _merged(found, prefer, WRITTEN if is_as_copied else MERGED)
    except Unreadable as error:
        return found.refused(error.message.removeprefix(f"{change.path}: "))


def _is_part(row: Row | None) -> bool:
    """Whether the copy got a part of the note: the rest is not shown."""
    return row is not None and row.source != row.revision


def _refusal(change: Change, theirs: bytes | None, row: Row | None, tags: frozenset[str]) -> str:
    """Why an edit cannot be planned; "" if it can. Raises: Unreadable."""
    if _is_part(row) and change.ours is None:
        return "there is more in the note than in the copy"
    if row is None and theirs is not None and shown(theirs, change.path, tags) != theirs:
        return "there is a note of this name, and the copy has not all of it"
    return ""


def _one_is_gone(found: Plan, prefer: Side | None) -> Plan:
    """A note that was deleted on one side, and edited on the other."""
    clash = (Clash("deleted", found.path, 1, int(found.theirs is not None), int(not found.theirs)),)
    here, there = ("deleted", "edited") if found.ours is None else ("edited", "deleted")
    why = f"{here} here, {there} in the notes"
    if prefer is None:
        return replace(found, what=CONFLICT, why=why, result=found.theirs, conflicts=clash)
    why += f"; settled for {prefer}"
    if prefer == "theirs":
        return replace(found, what=UNCHANGED, why=why, result=found.theirs, conflicts=clash)
    return replace(found, what=DELETED if found.ours is None else WRITTEN, why=why, conflicts=clash)


def _merged(found: Plan, prefer: Side | None, what: str) -> Plan:
    """A note that was edited on both sides, or of which the copy has a part."""
    assert found.ours is not None
    assert found.theirs is not None
    versions = (found.base or b"", found.theirs, found.ours)
    (base, *_), (there, *_), (here, *_) = texts = [decode(data, found.path) for data in versions]
    merged, codes = merge(base, there, here, prefer or "theirs"), [code for _, code in texts]
    clashes = tuple(Clash.at(found.path, conflict) for conflict in merged.conflicts)
    if clashes and prefer is None:
        names = ", ".join(f"{each.kind} {each.address}" for each in clashes)
        why = f"on both sides: {names}"
        return replace(found, what=CONFLICT, why=why, result=found.theirs, conflicts=clashes)
    code = codes[1] if codes[2] == codes[0] else codes[2]
    try:
        result = merged.text.encode(code)
    except UnicodeEncodeError:
        return found.refused(f"it has characters that {code} has not, the encoding of the note")
    why = f"settled for {prefer}" if clashes else ""
    what = UNCHANGED if result == found.theirs else what
    return replace(found, what=what, why=why, result=result, conflicts=clashes)
