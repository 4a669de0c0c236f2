"""How a context bundle looks: as Org, as Markdown, as data. All text of notes in it is data."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from .context import FILES, INDEXES, MAPS, NAMES, Bundle, Row
from .routing import Found

_ESCAPED = re.compile(r"^([ \t]*)(,*(?:\*|#\+))", re.MULTILINE)
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~!])")
NO_MATCH = "no match: the notes do not seem to hold an answer"


def to_org(bundle: Bundle) -> str:
    """The bundle as an Org document."""
    return "".join(
        [f"#+title: Context bundle: {bundle.query}\n\n"]
        + [
            f"* {name}\n{''.join(lines)}"
            for name, lines in _sections(bundle, str, _block, f": {bundle.query}\n")
        ]
    )


def to_markdown(bundle: Bundle) -> str:
    """The bundle as Markdown, section by section the same."""
    query = _plain(bundle.query)
    return "".join(
        [f"# Context bundle: {query}\n\n"]
        + [
            f"## {name}\n\n{''.join(lines)}\n"
            for name, lines in _sections(bundle, _plain, _fence, f"> {query}\n\n")
        ]
    )


def _sections(
    bundle: Bundle,
    written: Callable[[str], str],
    block: Callable[[str], str],
    query: str,
) -> Iterator[tuple[str, list[str]]]:
    """Each section that says anything. written: how a line looks; block: a map; query: itself."""
    missing = [f"- {NO_MATCH}\n"] if bundle.abstained else []
    near = [f"- there is a title: {written(title)}\n" for title in bundle.near]
    where = [f"- {written(bundle.searched.told)}\n"] if bundle.searched.told else []
    yield "query", [query, *where, *missing, *near]
    for name in (INDEXES, MAPS, FILES, NAMES):
        rows = [row for row in bundle.rows if row.section == name]
        if name == MAPS:
            maps = _latest(rows)
            lines = [block(text) for text in maps]
        else:
            lines = [f"- {written(row.text)}{_score(row, bundle)}\n" for row in rows]
        if lines:
            yield name, lines
    yield "instructions", [f"- {line}\n" for line in instructions(bundle)]


def instructions(bundle: Bundle) -> list[str]:
    """What to do with a bundle, each with the call for it."""
    if bundle.abstained:
        return [f"say so, or ask in other words; to see what there is: {bundle.calls[0]}"]
    list_, focus, read = bundle.calls
    return [
        f"read the indexes first, for orientation: {list_}",
        f"then the maps, and what is around a place: {focus}",
        f"read the source itself before you edit or assert anything: {read}",
    ]


def _latest(rows: Sequence[Row]) -> list[str]:
    """The maps, of each file the last and fullest; its first line names the file."""
    return list({row.text.split("\n", 1)[0]: row.text for row in rows}.values())


def _score(row: Row, bundle: Bundle) -> str:
    return f" — {explained(bundle.hits[row.hit])}" if bundle.is_explained and row.hit >= 0 else ""


def explained(hit: Found) -> str:
    """A hit's score, and the signals of which it is the sum."""
    signals = sorted(hit.signals.items(), key=lambda pair: (-pair[1], pair[0]))
    return f"{hit.score:.2f} = {' + '.join(f'{name} {value:.2f}' for name, value in signals)}"


def _block(text: str) -> str:
    """Org text in a block, so that nothing of it is read as Org (Org manual, Literal Examples)."""
    escaped = _ESCAPED.sub(r"\1,\2", text)
    return f"#+begin_src org\n{escaped}#+end_src\n"


def _fence(text: str) -> str:
    ticks = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, ticks + 1)
    return f"{fence}org\n{text}{fence}\n"


def _plain(text: str) -> str:
    """Text in which Markdown sees no markup."""
    return _SPECIAL.sub(r"\\\1", text)


def to_data(bundle: Bundle) -> dict[str, Any]:
    """The bundle as data for JSON; see README.org."""
    return {
        "query": bundle.query,
        "hits": [_hit(hit, bundle.is_explained) for hit in bundle.hits],
        "abstained": bundle.abstained,
        "near": list(bundle.near),
        "rank": bundle.searched.rank,
        "ranks": bundle.searched.ranks,
        "searched": bundle.searched.told,
        "sections": list(_data_sections(bundle)),
        "tokens": bundle.tokens,
    }


def _hit(hit: Found, is_explained: bool) -> dict[str, Any]:
    data = {
        "path": hit.inside,
        "line": hit.line,
        "address": hit.address,
        "title": hit.title,
        "score": hit.score,
    }
    signals = {name: round(value, 4) for name, value in hit.signals.items()}
    return {**data, "signals": signals} if is_explained else data


def _data_sections(bundle: Bundle) -> Iterator[dict[str, Any]]:
    """Each section that is not in `query` or `hits`."""
    for name in (INDEXES, MAPS, NAMES):
        rows = [row for row in bundle.rows if row.section == name]
        items: Iterable[str] = _latest(rows) if name == MAPS else (row.text for row in rows)
        if found := list(items):
            yield {"title": name, "items": found}
    yield {"title": "instructions", "items": instructions(bundle)}
