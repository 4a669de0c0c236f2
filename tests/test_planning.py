"""The dates of a planning line."""

import pytest

from orgctx.core.outline import outline
from orgctx.core.planning import planned

BOTH = "SCHEDULED: <2026-01-02 Fri +1w> DEADLINE: <2026-02-03>"


@pytest.mark.parametrize(
    ("text", "dates"),
    [
        ("* A", []),
        ("* A\ntext\n", []),
        (f"* A\n{BOTH}\n", [("SCHEDULED", "2026-01-02"), ("DEADLINE", "2026-02-03")]),
        ("* A\n  CLOSED: [2026-03-02 Mon 10:00]", [("CLOSED", "2026-03-02")]),
        ("* A\r\nclosed: [2026-03-02]\r\n", [("CLOSED", "2026-03-02")]),
        ("* A\nCLOSED:[2026-03-02]\n", [("CLOSED", "2026-03-02")]),
        ("* A\nDEADLINE: <2026-02-30 Mon>\n", [("DEADLINE", "2026-02-30")]),
        ("* A\nDEADLINE: <%%(diary-float t 4 2)>\n", []),
        ("* A\nDEADLINE: tomorrow\n", []),
        ("* A\nDEADLINE: <2026-1-2>\n", []),
        ("* A\nDEADLINE: <２０２６-01-02>\n", []),
        (f"* A\n\n{BOTH}\n", []),
        (f"* A\ntext {BOTH}\n", []),
        (f"* A\n:PROPERTIES:\n:END:\n{BOTH}\n", []),
        (f"* {BOTH}\n", []),
    ],
)
def test_only_the_line_below_the_headline_is_read(text, dates):
    assert planned(text) == dates
    assert planned(outline(text, "a.org").nodes[1].text) == dates
