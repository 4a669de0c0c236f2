"""The cites in an answer: each becomes a link to the lines that it means, or goes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import count
from typing import NamedTuple

from ..core.heading import printable
from ..errors import BadArgument
from ..store.address import line_number
from .origin import Origin
from .registry import Cites

STYLES = ("link", "footnote")
QUOTED_CHARS = 40
"""How much of a bad cite a problem quotes."""
ZERO_WIDTH_SPACE = "\u200b"
"""What keeps Org from reading a character as markup (Org manual, Escape Character)."""


class CiteProblem(NamedTuple):
    """A cite that is not as it was written. line: of the answer, 1-based. cite: its beginning."""

    line: int
    cite: str
    what: str
    is_removed: bool


_TOKEN = re.compile(
    r"""
    \[\[ (?! [ \t]*+ [0-9]++ [ \t]*+ : [ \t]*+ [Ll] )  # a link, and no cite in brackets
        (?> (?: [^][\\\n] | \\[^\n] )+ ) \]
        (?: \[ (?> (?: [^][\n] | \[(?!\[) | \](?!\]) )* ) \] )? \]
    | (?<! [^\s\u200b\-('"{] )  # verbatim and code, if not a cite is what ends it
        (?: =(?!\s)[^=\n]++(?<!\s)= | ~(?!\s)[^~\n]++(?<!\s)~ )
        (?! [^\s\u200b\-.,;:!?'")}\[\\] | \[ [ \t]*+ [0-9]++ [ \t]*+ : )
    | \[ [ \t]*+ (?P<number>[0-9]++) [ \t]*+ : (?P<lines>[^][\n\u200b]*+) \]
    """,
    re.VERBOSE,
)
_CITE = re.compile(r"\[[1-9][0-9]*:L([1-9][0-9]*)(?:-L([1-9][0-9]*))?\]")
_LIKE_LINES = re.compile(r"[ \t]*+l(?:\S*+[ \t]*+\Z|(?:ines?)?[ \t]*+[0-9])", re.IGNORECASE)
_LIKE_NUMBERS = re.compile(r"[ \t]*+[0-9][0-9Ll \t,;:–—-]*+\Z")
_MARK = re.compile(
    r"^(?:\*+ |[ \t]*+#\+(begin|end)_(src|example|export|comment)\b.*\n?)", re.I | re.M
)
_FIXED = re.compile(r"^[ \t]*:(?: .*)?$", re.M)
_FOOTNOTE = re.compile(r"\[fn:([0-9]{1,9})[\]:]")


def normalised(answer: str, cites: Cites, style: str = "link") -> tuple[str, list[CiteProblem]]:
    """Make each cite of an answer a link to the lines that it means.

    style: "link" puts it in the cite's place, "footnote" below the answer.
    Returns: (the answer, what was wrong). A cite that is malformed or of what nobody read is
        removed; one beyond the file's end becomes one of its last line. What Org takes literally,
        and links, are left as they are.
    Raises: BadArgument.
    """
    if not isinstance(answer, str):
        raise BadArgument(f"an answer is text, not {type(answer).__name__}", where="answer")
    if not isinstance(cites, Cites):
        raise BadArgument(f"cites {cites!r}: give an orgctx.cites.Cites", where="cites")
    if style not in STYLES:
        raise BadArgument(f"unknown style: {style!r}", f"choose {' or '.join(STYLES)}", "style")
    writer = _Writer(answer, cites, style == "footnote")
    writer.write()
    return writer.text(), writer.problems


class _Writer:
    """An answer, as it is written anew."""

    def __init__(self, answer: str, cites: Cites, is_in_footnotes: bool) -> None:
        self._answer, self._cites, self._is_in_footnotes = answer, cites, is_in_footnotes
        self.problems: list[CiteProblem] = []
        self._parts: list[str] = []
        self._is_in_brackets = False
        self._line, self._counted = 1, 0
        self._origins: dict[int, Origin] = {}
        self._links: dict[tuple[int, int, int], str] = {}
        self._footnotes: dict[str, int] = {}
        taken = {int(label) for label in _FOOTNOTE.findall(answer)}
        self._free_labels = (label for label in count(1) if label not in taken)

    def write(self) -> None:
        """Go through the answer once."""
        done = 0
        for match in _tokens(self._answer):
            if match["number"] is None:
                continue
            written = self._cite(match)
            if written is not None:
                self._put(self._answer[done : match.start()])
                self._replace(written, self._answer[match.end() : match.end() + 1])
                done = match.end()
        self._put(self._answer[done:])

    def text(self) -> str:
        """The answer, and its footnotes."""
        text = "".join(self._parts)
        if not self._footnotes:
            return text
        newline = "\r\n" if "\r\n" in self._answer else "\n"
        above = newline * (2 - text[-2 * len(newline) :].count("\n"))
        notes = (f"[fn:{label}] {link}{newline}" for link, label in self._footnotes.items())
        return text + above + "".join(notes)

    def _put(self, text: str) -> None:
        if text:
            self._parts.append(text)
            closed = max(text.rfind("]"), text.rfind("\n"))
            if closed >= 0 or "[" in text:
                self._is_in_brackets = text.rfind("[") > closed

    def _replace(self, written: str, behind: str) -> None:
        """Put what stands for a cite. behind: the next character.

        For one that is removed nothing does, and a blank too many goes with it; but what is around
        it shall not make a new one. A footnote at the start of a line would be taken for its text.
        """
        last = self._parts[-1] if self._parts else ""
        if not written and self._is_in_brackets:
            self._parts.append(ZERO_WIDTH_SPACE)
        elif not written:
            if not behind or behind in " \t\r\n.,;:!?":
                self._drop_blank()
        else:
            is_first = self._is_in_footnotes and (not last or last.endswith("\n"))
            self._put(ZERO_WIDTH_SPACE * is_first + written)

    def _drop_blank(self) -> None:
        if self._parts and self._parts[-1].endswith((" ", "\t")):
            last = self._parts.pop()[:-1]
            self._parts += [last] if last else []

    def _cite(self, match: re.Match[str]) -> str | None:
        """What stands for a cite: a link, "" if it is removed, None if it is none."""
        number, exact = line_number(match["number"]), _CITE.fullmatch(match[0])
        is_known = 1 <= number <= len(self._cites.sources)
        if exact is None:
            like = _LIKE_LINES.match(match["lines"])
            if not like and not (is_known and _LIKE_NUMBERS.match(match["lines"])):
                return None
            return self._remove(match, "write [n:L12] or [n:L12-L19]")
        first, last = line_number(exact[1]), line_number(exact[2] or exact[1])
        if first > last:
            return self._remove(match, "the first line is behind the last")
        if not is_known:
            return self._remove(match, "nothing that was read has this number")
        return self._known_cite(match, number, first, last)

    def _known_cite(self, match: re.Match[str], number: int, first: int, last: int) -> str:
        source = self._cites.source(number)
        found = source.clamped(first, last)
        if found is None:
            return self._remove(match, "there are no such lines")
        if last > source.total:
            self._tell(match, f"the file has {source.total} lines", is_removed=False)
        link = self._link(number, *found)
        return self._footnote(link) if self._is_in_footnotes else link

    def _link(self, number: int, first: int, last: int) -> str:
        key = number, first, last
        if key not in self._links:
            if number not in self._origins:
                self._origins[number] = self._cites.origin(number)
            place = self._origins[number].place(first, last)
            source, title = self._cites.source(number), self._cites.title(number, first)
            self._links[key] = _written(source.path, title, place or (first, last), place is None)
        return self._links[key]

    def _footnote(self, link: str) -> str:
        if link not in self._footnotes:
            self._footnotes[link] = next(self._free_labels)
        return f"[fn:{self._footnotes[link]}]"

    def _remove(self, match: re.Match[str], what: str) -> str:
        self._tell(match, what, is_removed=True)
        return ""

    def _tell(self, match: re.Match[str], what: str, is_removed: bool) -> None:
        self._line += self._answer.count("\n", self._counted, match.start())
        self._counted = match.start()
        whole = match[0]
        quoted = whole if len(whole) <= QUOTED_CHARS else f"{whole[:QUOTED_CHARS]}…"
        self.problems.append(CiteProblem(self._line, quoted, what, is_removed))


def _tokens(answer: str) -> Iterator[re.Match[str]]:
    """Links, verbatim text and what looks like a cite, outside of literal blocks and lines."""
    done = 0
    fixed = (line.span() for line in _FIXED.finditer(answer))
    for start, stop in sorted([*_literal(answer), *fixed, (len(answer), len(answer))]):
        if start >= done:
            yield from _TOKEN.finditer(answer, done, start)
            done = stop


def _literal(answer: str) -> Iterator[tuple[int, int]]:
    """Where blocks are whose text Org takes as it stands; one that is not closed is none."""
    marks = list(_MARK.finditer(answer))
    closing: dict[int, int] = {}
    ends: dict[str, int] = {}
    for mark in reversed(marks):
        if mark[1] is None:
            ends.clear()
        elif mark[1].lower() == "end":
            ends[mark[2].lower()] = mark.end()
        elif mark[2].lower() in ends:
            closing[mark.start()] = ends[mark[2].lower()]
    done = 0
    for start in sorted(closing):
        if start >= done:
            done = closing[start]
            yield start, done


def _written(path: str, title: str, lines: tuple[int, int], has_changed: bool) -> str:
    """The link, as Org wants it (its functions org-link-escape and org-link-make-string)."""
    place = re.sub(r"(\\*)([][])", lambda m: f"{m[1] * 2}\\{m[2]}", printable(path))
    name = " ".join(printable(title).split()) or printable(path)
    name = re.sub(r"([][])(?=\1)", rf"\1{ZERO_WIDTH_SPACE}", name)
    first, last = lines
    where = f"line {first}" if first == last else f"lines {first}-{last}"
    note = " (the file has changed)" if has_changed else ""
    return f"[[file:{place}::{first}][{name}, {where}{note}]]"
