"""What is checked before anything is written: that an edit damages no note."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from functools import cached_property

from ..core.elements import loose
from ..core.outline import outline, problems
from ..errors import Unreadable
from ..store.files import decode
from .planning import Plan

IsElsewhere = Callable[[str, frozenset[str]], bool]
"""(ID, paths) -> whether a note that is at none of these paths has it."""


class _Version:
    """One version of a note, and what of it is checked.

    unreadable: why it is no text; "" if it is. Then there is nothing in it.
    """

    def __init__(self, path: str, data: bytes | None) -> None:
        text, self.unreadable = "", ""
        try:
            text, _ = decode(data or b"", path)
        except Unreadable as error:
            self.unreadable = error.message.removeprefix(f"{path}: ")
        self.size = len(text)
        self._tree = outline(text, path)

    @cached_property
    def ids(self) -> Counter[str]:
        """How many entries have each ID."""
        return Counter(each for node in self._tree.nodes for each in {*node.ids})

    @cached_property
    def entries(self) -> dict[str, int]:
        """The size of each entry, by its ID or else by its text; a mere headline is none."""
        nodes = ((node, node.text[node.level :].strip()) for node in self._tree.nodes)
        return {node.id or text: len(text) for node, text in nodes if node.id or "\n" in text}

    @cached_property
    def faults(self) -> list[tuple[int, str, str]]:
        """What is not whole, in the order of lines: line, what, and what it is compared by."""
        found = [(each.line, each.what, each.what) for each in problems(self._tree)]
        return sorted([*found, *self._loose()])

    def _loose(self) -> Iterator[tuple[int, str, str]]:
        for node in self._tree.nodes:
            lines = node.text.split("\n")
            for at in loose(lines):
                what = "half a block or drawer, or a headline inside it"
                yield node.first_line + at, what, lines[at].strip().lower()


class _Checked:
    """A plan with its versions: theirs, ours, and the result."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        versions = (plan.theirs, plan.ours, plan.result)
        self._theirs, self._ours, self._result = (_Version(plan.path, each) for each in versions)

    @property
    def result(self) -> _Version:
        """What the note becomes."""
        return self._theirs if self.plan.is_held else self._result

    @property
    def new_ids(self) -> Counter[str]:
        """The IDs that come into the note."""
        return self.result.ids - self._theirs.ids

    @cached_property
    def gained(self) -> Set[str]:
        """The entries that the edit puts into the note, whether it is held back or not."""
        return self._ours.entries.keys() - self._theirs.entries.keys()

    @cached_property
    def lost(self) -> Set[str]:
        """The entries that it takes out of it."""
        return self._theirs.entries.keys() - self._ours.entries.keys()

    def fault(self, arrived: Set[str] | None) -> str:
        """What is wrong with the edit by itself; "" if nothing is.

        arrived: the entries that edits put into notes; None: the note may lose text.
        """
        if not self.plan.writes or self.plan.result is None:
            return ""
        if self._result.unreadable:
            return self._result.unreadable
        known = Counter(key for _, _, key in self._theirs.faults)
        for line, what, key in self._result.faults:
            known[key] -= 1
            if known[key] < 0:
                return f"line {line}: {what}"
        if arrived is not None and self._is_shrunk(arrived):
            return "it would lose more than half of its text; allow it to shrink"
        return ""

    def _is_shrunk(self, arrived: Set[str]) -> bool:
        """Whether a note loses more than half its text, but for what goes to other notes."""
        moved = sum(self._theirs.entries[name] for name in self.lost & arrived)
        return (self._theirs.size - self._result.size - moved) * 2 > self._theirs.size

    def refuse(self, why: str) -> None:
        self.plan = self.plan.refused(why)


def checked(plans: Iterable[Plan], allow_shrink: bool, is_elsewhere: IsElsewhere) -> list[Plan]:
    """The plans, of which those are held back that would damage something.

    A block or drawer that is not whole; an ID that another entry has; an entry in two notes or in
    none, because one of two notes is held back; more than half of a note's text gone.
    allow_shrink: whether that last thing is wanted.
    """
    found = list(map(_Checked, plans))
    arrived = None if allow_shrink else {name for each in found for name in each.gained}
    for each in found:
        if fault := each.fault(arrived):
            each.refuse(fault)
    while refused := list(_Together(found, is_elsewhere).clashes()):
        for each, why in refused:
            each.refuse(why)
    return [each.plan for each in found]


class _Together:
    """What edits come to together."""

    def __init__(self, found: Sequence[_Checked], is_elsewhere: IsElsewhere) -> None:
        self._found, self._is_elsewhere = found, is_elsewhere
        self._paths = frozenset(each.plan.path for each in found)
        self._ids = Counter[str]()
        self._gained: dict[str, str] = {}
        self._lost: dict[str, str] = {}
        for each in found:
            self._ids.update(each.result.ids)
            if each.plan.is_held:
                self._gained |= dict.fromkeys(each.gained, each.plan.path)
                self._lost |= dict.fromkeys(each.lost, each.plan.path)

    def clashes(self) -> Iterator[tuple[_Checked, str]]:
        """The edits that would damage something together with the others, and how."""
        for each in self._found:
            if each.plan.writes and (why := self._clash(each)):
                yield each, why

    def _clash(self, this: _Checked) -> str:
        for id_ in this.new_ids:
            if self._ids[id_] > 1 or self._is_elsewhere(id_, self._paths):
                return f"another entry has the ID {id_}, too"
        bound = {self._gained[name] for name in this.lost & self._gained.keys()}
        bound |= {self._lost[name] for name in this.gained & self._lost.keys()}
        return f"entries go from one to the other, and {min(bound)} is held back" if bound else ""
