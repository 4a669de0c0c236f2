"""The dates of an entry's planning line, as they stand."""

from __future__ import annotations

import re

_LINE = re.compile(r"[^\n]*\n[ \t]*((?:CLOSED|DEADLINE|SCHEDULED):[^\n]*)", re.IGNORECASE)
_DATE = re.compile(
    r"(CLOSED|DEADLINE|SCHEDULED):[ \t]*[<\[](\d{4}-\d\d-\d\d)", re.IGNORECASE | re.ASCII
)


def planned(text: str) -> list[tuple[str, str]]:
    """The dates for which an entry is planned (Org manual, Deadlines and Scheduling).

    text: the entry, its headline first.
    Returns: (CLOSED, DEADLINE or SCHEDULED; date in ISO form), in their order.
    """
    line = _LINE.match(text)
    dates = _DATE.findall(line[1]) if line else []
    return [(keyword.upper(), date) for keyword, date in dates]
