"""What orgparse knows of one entry, without letting one bad date take the rest along."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

TIMESTAMP = re.compile(r"[<\[][^<>\[\]\n]*[>\]]")


@dataclass(frozen=True, slots=True)
class Ast:
    """An entry as orgparse reads it.

    node: orgparse's `OrgNode`; its ancestors are there, so inherited properties work.
    faults: (0-based line of the entry, what could not be read) for each line that was mended.
    """

    node: Any
    faults: tuple[tuple[int, str], ...]

    def facts(self) -> dict[str, Any]:
        """Planning, timestamps, clocks, repeats and properties as plain data, dates in ISO form."""
        node = self.node
        return {
            "scheduled": _date(node.scheduled),
            "deadline": _date(node.deadline),
            "closed": _date(node.closed),
            "timestamps": [_date(date) for date in (*node.datelist, *node.rangelist)],
            "clocks": [_date(clock) for clock in node.clock],
            "repeats": [_repeat(task) for task in node.repeated_tasks],
            "properties": dict(node.properties),
        }


def read(
    lines: Sequence[str], spine: Sequence[str], todos: Sequence[str], dones: Sequence[str]
) -> Ast:
    """Read one entry with orgparse; what makes orgparse raise costs only itself.

    lines: the entry's lines, headline first (a file node's lines have none).
    spine: the ancestors' headlines and property drawers, outermost first, for inheritance.
    todos, dones: the file's keywords.
    Returns: Ast; where a line could not be read, its timestamps (or the line) are blank in it.
    """

    def parse(above: Sequence[str], entry: Sequence[str]) -> Any:
        return _parse([*above, *entry], todos, dones)

    bare = [line.rstrip("\r\n") for line in lines]
    above = [line.rstrip("\r\n") for line in spine]
    if (node := _attempt(parse, above, bare)) is not None:
        return Ast(node, ())
    mended, faults = _mend(bare, lambda entry: _attempt(parse, [], entry) is not None)
    above, _ = _mend(above, lambda entry: _attempt(parse, [], entry) is not None)
    node = _attempt(parse, above, mended)
    return Ast(node if node is not None else parse([], mended[:1]), tuple(faults))


def _parse(lines: Sequence[str], todos: Sequence[str], dones: Sequence[str]) -> Any:
    from orgparse.node import OrgEnv, parse_lines  # noqa: PLC0415  (0.1 s, only for what is in focus)

    env = OrgEnv(todos=list(todos), dones=list(dones), filename="entry")
    root = parse_lines(list(lines), filename="entry", env=env)
    node = root.env.nodes[-1]
    _ = (node.scheduled, node.clock, node.datelist, node.rangelist, node.properties, node.body)
    return node


def _attempt(parse: Callable[..., Any], above: Sequence[str], entry: Sequence[str]) -> Any | None:
    """Parse, or None where orgparse raises: it promises no exception class, so all are meant."""
    try:
        return parse(above, entry)
    except Exception:
        return None


def _mend(
    lines: Sequence[str], is_readable: Callable[[Sequence[str]], bool]
) -> tuple[list[str], list[tuple[int, str]]]:
    """Blank what cannot be read, as little as possible; one pass, each line judged alone."""
    mended, faults = list(lines), []
    for number, line in enumerate(lines):
        alone = [line] if line.startswith("*") else ["* ", ":PROPERTIES:", line, ":END:"]
        if is_readable(alone) and is_readable(["* ", line]):
            continue
        mended[number] = _without_bad_dates(line, is_readable)
        faults.append((number, "a date or value that cannot be read"))
    return mended, faults


def _without_bad_dates(line: str, is_readable: Callable[[Sequence[str]], bool]) -> str:
    def keep(stamp: re.Match[str]) -> str:
        return stamp[0] if is_readable(["* ", stamp[0]]) else ""

    kept = TIMESTAMP.sub(keep, line)
    return kept if is_readable(["* ", ":PROPERTIES:", kept, ":END:"]) else ""


def _date(date: Any) -> dict[str, Any] | None:
    if not date:
        return None
    ends = {"start": date.start, "end": date.end}
    stamp: dict[str, Any] = {name: end.isoformat() for name, end in ends.items() if end}
    repeater = getattr(date, "_repeater", None)
    if repeater:
        stamp["repeater"] = "".join(str(part) for part in repeater)
    return stamp


def _repeat(task: Any) -> dict[str, Any]:
    return {"start": task.start.isoformat(), "before": task.before, "after": task.after}
