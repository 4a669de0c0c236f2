"""What orgparse knows of one entry, without letting one bad date take the rest along."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

_TIMESTAMP = re.compile(r"[<\[][^<>\[\]]*[>\]]")
_MAY_FAIL = re.compile(r"[<\[:]")


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
    bare = [line.rstrip("\r\n") for line in lines]
    if (node := _attempt(bare, todos, dones)) is not None:
        return Ast(node, ())
    mended, faults = _mend(bare)
    if (node := _attempt(mended, todos, dones)) is not None:
        return Ast(node, tuple(faults))
    return Ast(_attempt(["* "], (), ()), ((0, "an entry that orgparse cannot read"),))


def _attempt(lines: Sequence[str], todos: Sequence[str], dones: Sequence[str]) -> Any:
    """orgparse's node, or None: what it raises is not documented, so any exception counts."""
    from orgparse import loadi  # noqa: PLC0415  (only who asks for an entry's AST pays for it)
    from orgparse.node import OrgEnv  # noqa: PLC0415

    env = OrgEnv(todos=list(todos), dones=list(dones), filename="entry")
    try:
        loadi(lines, filename="entry", env=env)
        node = env.nodes[-1]
        Ast(node, ()).facts()
    except Exception:
        return None
    return node


def _mend(lines: Sequence[str]) -> tuple[list[str], list[tuple[int, str]]]:
    """Leave out what cannot be read, as little as possible, each line judged by itself."""
    mended, faults = list(lines), []
    for number, line in enumerate(lines):
        if _MAY_FAIL.search(line) and not _is_readable(line):
            mended[number] = _without_bad_dates(line)
            faults.append((number, "a date or a value that cannot be read"))
    return mended, faults


def _is_readable(line: str) -> bool:
    """Whether orgparse reads the line as a headline, as text and as a property."""
    if line.startswith("*"):
        return _attempt([line], (), ()) is not None
    contexts = (["* ", line], ["* ", ":PROPERTIES:", line, ":END:"])
    return all(_attempt(context, (), ()) is not None for context in contexts)


def _without_bad_dates(line: str) -> str:
    kept = _TIMESTAMP.sub(lambda stamp: stamp[0] if _is_readable(stamp[0]) else "", line)
    if _is_readable(kept):
        return kept
    return "* " if line.startswith("*") else ""


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
