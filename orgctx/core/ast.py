"""What orgparse knows of one entry, without letting one bad date take the rest along."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

_TIMESTAMP = re.compile(r"[<\[][^<>\[\]]*[>\]]")
_DATED = re.compile(r"[<\[]\d{4}-\d")
_WELL_FORMED = re.compile(
    r"[<\[](\d{4})-(\d{2})-(\d{2})(?: +[^]\d\s>+-]+)?(?: +(\d{1,2}:\d{2})(?:--?(\d{1,2}:\d{2}))?)?"
    r"(?: +(?:\.\+|\+\+|\+|--|-)\d+[hdwmy](?:/\d+[hdwmy])?)* *[>\]]"
)
_BEGINNING = re.compile(r"[<\[]\d{4}-\d{2}-\d{2}(?: +[^]\d\s>+-]+)?(?: +\d{1,2}:\d{2})?")
_TIME = re.compile(r"(?:[01]?\d|2[0-3]):[0-5]\d")
_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_PLANNING = re.compile(r"[ \t]*(?:CLOSED|DEADLINE|SCHEDULED):", re.IGNORECASE)
_MAY_FAIL = re.compile(r"[<\[:]")
_LONGEST = 2000
"""Characters of a line that are read: orgparse's patterns are quadratic in runs of blanks."""

UNREADABLE = "a date or a value that cannot be read"


@dataclass(frozen=True, slots=True)
class Ast:
    """An entry as orgparse reads it.

    node: orgparse's node.
    faults: (0-based line of the entry, what is wrong) for each line of which a part was left out.
    """

    node: Any
    faults: tuple[tuple[int, str], ...]

    def facts(self) -> dict[str, Any]:
        """Planning, timestamps, clocks and repeats as plain data; dates and times in ISO form."""
        node = self.node
        planned = {name: getattr(node, name, None) for name in ("scheduled", "deadline", "closed")}
        stamps = (*node.datelist, *node.rangelist)
        return {
            **{name: _date(date) for name, date in planned.items()},
            "timestamps": [_date(date) for date in stamps],
            "clocks": [_date(clock) for clock in getattr(node, "clock", ())],
            "repeats": [_repeat(task) for task in getattr(node, "repeated_tasks", ())],
        }


def read(lines: Sequence[str], todos: Sequence[str], dones: Sequence[str]) -> Ast:
    """Read one entry with orgparse; what makes orgparse raise costs only itself.

    lines: the entry's lines; a headline first, unless it is a file node's.
    todos, dones: the file's keywords.
    Returns: Ast; a timestamp or line that cannot be read is blank in it, and a fault.
    """
    entry = [_without_bad_stamps(line.rstrip("\r\n")) for line in lines]
    faults = {n for n, line in enumerate(lines) if entry[n] != line.rstrip("\r\n")}
    node = _attempt(entry, todos, dones)
    for is_readable in (_is_text, _is_property):
        if node is None:
            faults |= _mend(entry, is_readable)
            node = _attempt(entry, todos, dones)
    if node is None:
        return Ast(_attempt(["* "], (), ()), ((0, "an entry that orgparse cannot read"),))
    return Ast(node, tuple((number, UNREADABLE) for number in sorted(faults)))


def _without_bad_stamps(line: str) -> str:
    """The line without timestamps that are none, cut where it gets too long."""

    def keep(stamp: re.Match[str]) -> str:
        if not _DATED.match(stamp[0]) or _is_real(stamp[0]):
            return stamp[0]
        begun = _BEGINNING.match(stamp[0])
        what_org_reads = begun[0] + stamp[0][-1] if begun else ""
        return what_org_reads if _is_real(what_org_reads) else ""

    return _TIMESTAMP.sub(keep, line[:_LONGEST])


def _is_real(stamp: str) -> bool:
    """Whether Org reads all of a timestamp, and there is such a day and such a time."""
    if not (match := _WELL_FORMED.fullmatch(stamp)):
        return False
    year, month, day = int(match[1]), int(match[2]), int(match[3])
    leap = month == 2 and year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    is_day = year > 0 and 1 <= month <= 12 and 1 <= day <= _DAYS[month - 1] + leap
    return is_day and all(_TIME.fullmatch(time) for time in match.group(4, 5) if time)


def _attempt(lines: Sequence[str], todos: Sequence[str], dones: Sequence[str]) -> Any:
    """orgparse's node, or None: what it raises is not documented, so any exception counts.

    orgparse takes the line below a headline for planning whatever it begins with; an empty line
    in between keeps it from that.
    """
    from orgparse import loadi  # only who asks for an entry's AST pays for it
    from orgparse.node import OrgEnv

    has_headline = bool(lines) and _is_headline(lines[0])
    is_planned = len(lines) > 1 and _PLANNING.match(lines[1])
    shield = [""] if has_headline and not is_planned else []
    env = OrgEnv(todos=list(todos), dones=list(dones), filename="entry")
    try:
        loadi([*lines[:has_headline], *shield, *lines[has_headline:]], filename="entry", env=env)
        node = env.nodes[has_headline]
        Ast(node, ()).facts()
    except Exception:
        return None
    return node


def _mend(lines: list[str], is_readable: Callable[[str], bool]) -> set[int]:
    """Take out of `lines` what cannot be read, as little as possible.

    Returns: the numbers of the lines that were changed.
    """
    bad = {n for n, line in enumerate(lines) if _MAY_FAIL.search(line) and not is_readable(line)}
    for number in bad:
        line = lines[number]
        kept = _TIMESTAMP.sub(lambda stamp: stamp[0] if is_readable(stamp[0]) else "", line)
        blank = "* " if _is_headline(line) else ""
        lines[number] = kept if is_readable(kept) else blank
    return bad


def _is_text(line: str) -> bool:
    """Whether orgparse reads the line as a headline, as planning, or as text."""
    if _is_headline(line):
        return _attempt([line], (), ()) is not None
    places = (["* ", line], ["* ", "", line])
    return all(_attempt(place, (), ()) is not None for place in places)


def _is_property(line: str) -> bool:
    """Whether orgparse reads the line in a property drawer, wherever it sees one."""
    if _is_headline(line):
        return True
    return _attempt(["* ", ":PROPERTIES:", line, ":END:"], (), ()) is not None


def _is_headline(line: str) -> bool:
    return line.startswith("*") and line.lstrip("*").startswith(" ")


def _date(date: Any) -> dict[str, Any] | None:
    """An orgparse date as data; None where there is none."""
    if not date:
        return None
    ends = {"start": date.start, "end": date.end}
    stamp: dict[str, Any] = {name: end.isoformat() for name, end in ends.items() if end}
    if repeater := getattr(date, "_repeater", None):
        stamp["repeater"] = "".join(map(str, repeater))
    return {**stamp, "is_active": date.is_active()}


def _repeat(task: Any) -> dict[str, Any]:
    return {"start": task.start.isoformat(), "before": task.before, "after": task.after}
