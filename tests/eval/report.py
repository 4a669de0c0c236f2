"""The report: an Org file of parts, each some prose, a table, and curves beside it."""

from __future__ import annotations

import os
import platform
import sqlite3
from collections.abc import Mapping, Sequence
from datetime import date
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import orgctx

NAME = "evaluation"
LIBRARIES = ("tiktoken", "toktok-rs", "orgparse")


class Panel(NamedTuple):
    """Curves over one axis. curves: name -> its values, one for each of `at`.

    unit: of the values. is_log: whether the values' axis is logarithmic, as the other always is.
    """

    title: str
    along: str
    at: Sequence[int]
    curves: Mapping[str, Sequence[float]]
    unit: str = ""
    is_log: bool = False


class Part(NamedTuple):
    """A part of the report.

    prose: paragraphs, above the table. rows: the table, its head first; none if it was left out.
    remarks: below it. name: of the picture's file. panels: what is drawn; none for no picture.
    """

    title: str
    prose: str
    rows: Sequence[Sequence[object]] = ()
    remarks: Sequence[str] = ()
    name: str = ""
    panels: Sequence[Panel] = ()


def write(folder: Path, facts: Sequence[tuple[str, str]], parts: Sequence[Part]) -> Path:
    """Write the report and its pictures into a folder. Returns: the report.

    facts: what the figures depend on; see `machine`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for part in parts:
        if part.panels:
            from .plots import draw  # loading matplotlib takes seconds

            draw(part.panels, folder / picture(part))
    place = folder / f"{NAME}.org"
    place.write_text("\n".join([preface(facts), *map(section, parts)]), encoding="utf-8")
    return place


def preface(facts: Sequence[tuple[str, str]]) -> str:
    return (
        "#+title: What a view is worth\n#+startup: showall\n\n"
        "Measured by =python -m tests.eval=, which writes this page. Where a rival is better, it\n"
        "says so.\n\n"
        f"{table([('what', 'which'), ('date', date.today().isoformat()), *facts])}"
    )


def machine() -> list[tuple[str, str]]:
    """What figures depend on: versions, and the machine's kind, never its name."""
    installed = [each for each in LIBRARIES if find_spec(each.removesuffix("-rs"))]
    libraries = ", ".join(f"{name} {version(name)}" for name in installed)
    return [
        ("orgctx", orgctx.__version__),
        ("Python", f"{platform.python_version()}, SQLite {sqlite3.sqlite_version}"),
        ("libraries", libraries),
        ("machine", f"{platform.system()} {platform.machine()}, {processor()}"),
        ("its load at the start", load()),
    ]


def processor() -> str:
    """What processor it is, where Linux says so, and how many there are."""
    known = Path("/proc/cpuinfo")
    lines = known.read_text(encoding="utf-8").splitlines() if known.is_file() else []
    named = [line.partition(": ")[2] for line in lines if line.startswith("model name")]
    return f"{os.cpu_count()} × {named[0] if named else 'processor'}"


def load() -> str:
    return f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"


def section(part: Part) -> str:
    blocks = [f"* {part.title}\n", part.prose]
    if part.rows:
        blocks.append(table(part.rows))
    if part.panels:
        blocks.append(f"[[file:{picture(part)}]]\n")
    if part.remarks:
        blocks.append("".join(f"- {each}\n" for each in part.remarks))
    return "\n".join(blocks)


def picture(part: Part) -> str:
    return f"{NAME}-{part.name}.png"


def table(rows: Sequence[Sequence[object]]) -> str:
    """An Org table, aligned; the first row is its head."""
    cells = [[shown(value) for value in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = ["| " + " | ".join(map(str.ljust, row, widths)) + " |\n" for row in cells]
    rule = "|-" + "-+-".join("-" * width for width in widths) + "-|\n"
    return "".join([lines[0], rule, *lines[1:]])


def shown(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.2f}" if value < 100 else f"{value:,.0f}"
    text = f"{value:,}" if isinstance(value, int) else str(value)
    return text.replace("|", "\\vert{}")
