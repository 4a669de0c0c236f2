"""Three versions of a file become one, entry by entry."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Literal, NamedTuple, TypeVar

from .identity import Entry, Version, identified
from .model import Node

T = TypeVar("T")
Side = Literal["theirs", "ours"]


class Conflict(NamedTuple):
    """An entry to which both sides did something, each something else.

    kind: "changed": its text; "moved"; "reordered": the order of what is right below it; "deleted":
        by one side, while the other changed it, moved it, or put something below it; "added": by
        both under one ID, with different text or in different places.
    titles: from the outermost headline down to its own; none for the text above the first headline.
    base, theirs, ours: its first line in each version, 1-based; 0 where it is not.
    """

    kind: str
    titles: tuple[str, ...]
    base: int
    theirs: int
    ours: int


class Merged(NamedTuple):
    """text: one version of three. conflicts: in the order of the base; see `merge`."""

    text: str
    conflicts: tuple[Conflict, ...]


class _Form(NamedTuple):
    """newline: "" if the text has none. is_ended: whether its last line is."""

    newline: str
    is_ended: bool


def _form(text: str) -> _Form:
    crlf = text.count("\r\n")
    newline = "\r\n" if crlf else "\n" * ("\n" in text)
    return _Form(newline, text.endswith("\n") or not text)


def _is_mixed(text: str) -> bool:
    is_stray = "\r\r\n" in text or text.endswith("\r")
    return is_stray or 0 < text.count("\r\n") < text.count("\n")


def _merged_form(base: _Form, theirs: _Form, ours: _Form) -> _Form:
    newlines = (form.newline or base.newline for form in (base, theirs, ours))
    ends = (form.is_ended for form in (base, theirs, ours))
    return _Form(_choose(*newlines)[0], _choose(*ends)[0])


def _plain(text: str, is_raw: bool) -> str:
    """The text with all its lines ended, and with line feeds unless it is to stay raw."""
    plain = text if is_raw else text.replace("\r\n", "\n")
    return plain + "\n" * (not _form(text).is_ended)


def _in_form(text: str, form: _Form, is_raw: bool) -> str:
    """The reverse of `_plain`."""
    text = text if form.is_ended else text.removesuffix("\n")
    return text.replace("\n", form.newline) if form.newline == "\r\n" and not is_raw else text


def _choose(base: T, theirs: T, ours: T) -> list[T]:
    """What three versions of a value become: one value, or both in a conflict."""
    if theirs in (base, ours):
        return [ours]
    return [theirs] if ours == base else [theirs, ours]


class _Merge:
    """Three versions with the same keys, as they become one."""

    def __init__(self, base: Version, theirs: Version, ours: Version) -> None:
        self.base, self.theirs, self.ours = self.versions = base, theirs, ours
        self.keys = list(dict.fromkeys(chain.from_iterable(each.entries for each in self.versions)))

    def _of(self, key: int) -> list[Entry | None]:
        """The entry in each version."""
        return [version.entries.get(key) for version in self.versions]

    def orders(self, key: int) -> list[list[int]]:
        """In each version, the order of the children that the entry has in all three."""
        rows = [version.children.get(key, []) for version in self.versions]
        shared = set(rows[0]).intersection(*rows[1:])
        return [[child for child in row if child in shared] for row in rows]

    def is_touched(self, key: int, side: Version) -> bool:
        """Whether a side changed an entry, moved it, or put something right below it."""
        was, now = self.base.entries[key], side.entries[key]
        is_own = set(self.base.children[key]).issuperset(side.children[key])
        return (was.body, was.place) != (now.body, now.place) or not is_own

    def conflicts(self) -> list[Conflict]:
        """Each, in the order of the base; then those of what is new."""
        found = {(key, kind) for key in self.keys for kind in self._kinds(key)}
        circles = _circular({key: self._agreed(key) for key in self.keys})
        found |= {(key, "moved") for key in circles if self._is_moved(key)}
        return [self._conflict(key, kind) for key, kind in sorted(found)]

    def _kinds(self, key: int) -> Iterator[str]:
        base, theirs, ours = self._of(key)
        if base is None:
            if theirs and ours and (theirs.body, theirs.place) != (ours.body, ours.place):
                yield "added"
        elif theirs and ours:
            if len(_choose(base.body, theirs.body, ours.body)) > 1:
                yield "changed"
            if len(_choose(base.place, theirs.place, ours.place)) > 1:
                yield "moved"
            if len(_choose(*self.orders(key))) > 1:
                yield "reordered"
        elif (theirs or ours) and self.is_touched(key, self.theirs if theirs else self.ours):
            yield "deleted"

    def _agreed(self, key: int) -> int:
        """The parent of an entry if no conflict is settled: where both sides differ, as it was."""
        base, theirs, ours = self._of(key)
        places = sorted(entry.place for entry in (theirs, ours) if entry)
        if base and len(places) == 2:
            choice = _choose(base.place, *places)
            places = choice if len(choice) == 1 else [base.place]
        return places[0][0] if places else 0

    def _is_moved(self, key: int) -> bool:
        was = self.base.entries.get(key)
        sides = (side.entries.get(key) for side in (self.theirs, self.ours))
        return was is not None and any(now and now.place != was.place for now in sides)

    def _conflict(self, key: int, kind: str) -> Conflict:
        found = self._of(key)
        ways = (_titles(entry.node) for entry in found if entry)
        titles = next(ways) if found[0] else min(ways)
        return Conflict(kind, titles, *(entry.node.first_line if entry else 0 for entry in found))


def _titles(node: Node) -> tuple[str, ...]:
    return tuple(each.title for each in (*node.ancestors, node) if each.level)


def _circular(parents: dict[int, int]) -> list[int]:
    """The keys that are above themselves. parents: of each key; the file's node is its own."""
    state: dict[int, int] = {0: -1}
    found: list[int] = []
    for start in parents:
        way: list[int] = []
        key = start
        while key in parents and key not in state:
            state[key] = start
            way.append(key)
            key = parents[key]
        if key in way and state[key] == start:
            found += way[way.index(key) :]
    return found


class _Settled(_Merge):
    """Three versions as they become one, with a side that wins conflicts."""

    def __init__(self, base: Version, theirs: Version, ours: Version, prefer: Side) -> None:
        super().__init__(base, theirs, ours)
        self.preferred = theirs if prefer == "theirs" else ours

    def entries(self) -> dict[int, Entry]:
        """What each entry becomes; those that are deleted are not there."""
        chosen = {key: entry for key in self.keys if (entry := self._entry(key))}
        while stray := self._stray(chosen):
            for key in stray:
                followed = self.preferred.entries.get(key)
                if followed is None:
                    chosen.pop(key, None)
                elif key in chosen:
                    chosen[key] = chosen[key]._replace(place=followed.place)
                else:
                    chosen[key] = followed
        return chosen

    def _stray(self, chosen: dict[int, Entry]) -> set[int]:
        """Entries below none, and the parents that they miss; if there are none, circles."""
        parents = {key: entry.place[0] for key, entry in chosen.items()}
        missing = {key: parent for key, parent in parents.items() if parent not in chosen}
        circles = [] if missing else _circular(parents)
        return {*missing, *missing.values(), *self.preferred.entries.keys() & circles}

    def _entry(self, key: int) -> Entry | None:
        base, theirs, ours = self._of(key)
        followed = self.preferred.entries.get(key)
        if base is None:
            return followed or theirs or ours
        if theirs and ours:
            return Entry(
                ours.node,
                self._one(base.body, theirs.body, ours.body),
                _choose(base.tail, theirs.tail, ours.tail)[0],
                self._one(base.place, theirs.place, ours.place),
            )
        kept = self.theirs if theirs else self.ours
        is_wanted = (theirs or ours) and self.is_touched(key, kept)
        return followed if is_wanted else None

    def _one(self, base: T, theirs: T, ours: T) -> T:
        choice = _choose(base, theirs, ours)
        return choice[0 if self.preferred is self.theirs else -1]

    def order(self, key: int, chosen: set[int]) -> list[int]:
        """The children of an entry in order. chosen: which ones those are."""
        theirs, ours = (
            [child for child in side.children.get(key, ()) if child in chosen]
            for side in (self.theirs, self.ours)
        )
        orders = [[child for child in row if child in chosen] for row in self.orders(key)]
        if self._one(*orders) == orders[2]:
            return _woven(ours, theirs, False)
        return _woven(theirs, ours, True)


def _woven(main: Sequence[int], extra: Sequence[int], is_extra_last: bool) -> list[int]:
    """The children of one side, and in between those that only the other side has there.

    is_extra_last: whether of two that are put behind the same neighbour, that of `main` is first.
    """
    known = set(main)
    behind: dict[int, list[int]] = defaultdict(list)
    last = -1
    for key in extra:
        if key in known:
            last = key
        else:
            behind[last].append(key)
    shared, woven = set(extra), list[int]()
    waiting = behind.pop(-1, [])
    for key in main:
        if key in shared or not is_extra_last:
            woven += waiting
            waiting = []
        woven.append(key)
        waiting += behind.pop(key, [])
    return woven + waiting


def merge(base: str, theirs: str, ours: str, prefer: Side = "theirs") -> Merged:
    """Bring what two versions made of a third together, entry by entry.

    base, theirs, ours: texts of one file, without byte order mark; malformed Org is text.
    prefer: whose half of each conflict stands in the text.
    Returns: Merged; its text is the merge of all that is in no conflict, and that half of the rest.
        The conflicts are the same whatever is preferred.
    """
    texts = (base, theirs, ours)
    is_raw = any(map(_is_mixed, texts))
    plain = (_plain(text, is_raw) for text in texts)
    settled = _Settled(*identified(*plain), prefer)
    form = _merged_form(*map(_form, texts))
    return Merged(_in_form(_written(settled), form, is_raw), tuple(settled.conflicts()))


def _written(settled: _Settled) -> str:
    entries = settled.entries()
    below: dict[int, set[int]] = defaultdict(set)
    for key, entry in entries.items():
        if key:
            below[entry.place[0]].add(key)
    parts: list[str] = []
    waiting = [(0, 0)]
    while waiting:
        key, level = waiting.pop()
        parts += ["*" * level, entries[key].body, entries[key].tail]
        children = settled.order(key, below[key]) if key in below else []
        steps = [(child, entries[child].place[1]) for child in children]
        steps.sort(key=lambda step: -step[1])
        waiting += [(child, level + step) for child, step in reversed(steps)]
    return "".join(parts)
