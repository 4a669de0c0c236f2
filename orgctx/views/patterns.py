"""How lines are searched: in normal form, by a text or an expression, and shown around a hit."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from typing import NamedTuple
from unicodedata import normalize

from ..errors import BadArgument
from ..store.roots import nfc

WIDTH = 200
"""How many characters of a line are shown."""

_MARKS = re.compile("[\u0300-\u036f\u200d\ufe00-\ufe0f\U0001f3fb-\U0001f3ff]{0,20}")


class Pattern(NamedTuple):
    """How lines are compared.

    fold: gives a text the form that is compared; line ends stay where they are.
    literal: what a folded text must hold, or there is no hit in it.
    find: (folded line) -> the hit's first character and the one after its last, or None.
    """

    fold: Callable[[str], str]
    literal: str
    find: Callable[[str], tuple[int, int] | None]

    def lines(self, text: str) -> list[int]:
        """The 1-based numbers of the lines that have a hit."""
        folded = self.fold(text)
        if self.literal not in folded:
            return []
        return [i for i, line in enumerate(lines_of(folded), 1) if self.find(line) is not None]

    def shown(self, line: str) -> str:
        """The line as it is shown."""
        if len(line) <= WIDTH:
            return line
        start, end = self.find(self.fold(line)) or (0, 0)
        return _cut(line, _original(line, start, self.fold), _original(line, end, self.fold))


def lines_of(text: str) -> list[str]:
    """The lines of a text without their ends; one more, an empty one, behind the last end."""
    return text.replace("\r\n", "\n").split("\n")


def pattern_of(text: str, is_expression: bool, ignore_case: bool) -> Pattern:
    """Raises: BadArgument for an expression that RE2 cannot read."""
    if is_expression and text:
        return Pattern(nfc, "", _expression(text, ignore_case))
    fold = caseless if ignore_case else nfc
    wanted = fold(text)

    def find(line: str) -> tuple[int, int] | None:
        at = line.find(wanted)
        return None if at < 0 else (at, at + len(wanted))

    return Pattern(fold, wanted, find)


def caseless(text: str) -> str:
    """The text with all that case may change folded (Unicode, section 3.13, D145)."""
    return nfc(normalize("NFD", text).casefold())


def _expression(pattern: str, ignore_case: bool) -> Callable[[str], tuple[int, int] | None]:
    """What finds an expression in a line. Raises: BadArgument if it is none."""
    import re2  # only who gives an expression pays

    options = re2.Options()
    options.log_errors, options.never_capture = False, True
    options.case_sensitive = not ignore_case
    try:
        search = re2.compile(nfc(pattern), options).search
    except re2.error as error:
        raise _bad_expression(pattern, error.args[0].decode("utf-8", "replace")) from error
    except UnicodeEncodeError as error:
        raise _bad_expression(pattern, "half a surrogate pair") from error

    def find(line: str) -> tuple[int, int] | None:
        data = line.encode()
        if (hit := search(data)) is None:
            return None
        start, end = (len(data[:at].decode("utf-8", "ignore")) for at in hit.span())
        return start, end

    return find


def _bad_expression(pattern: str, fault: str) -> BadArgument:
    """The error for an expression that RE2 cannot read. fault: what it says, and of which part."""
    part = fault.partition(": ")[2]
    at = nfc(pattern).find(part) if part else -1
    place = f", at character {at + 1}" if at >= 0 else ""
    hint = "the syntax is RE2's, which has no look-around and no back-references"
    return BadArgument(f"pattern {pattern!r}: {fault}{place}", hint, "pattern")


def _original(line: str, at: int, fold: Callable[[str], str]) -> int:
    """Where in a line its folded form's character `at` comes from."""
    if line.isascii():
        return at
    return bisect_right(range(len(line) + 1), at, key=lambda size: len(fold(line[:size]))) - 1


def _cut(line: str, start: int, end: int) -> str:
    """`WIDTH` characters of a line around its characters from `start` to `end`."""
    before = max(0, WIDTH - (end - start)) // 2
    first = max(0, min(start - before, len(line) - WIDTH))
    if marks := _MARKS.match(line, first):  # they belong to a character that is cut away
        first = min(marks.end(), start) if first else 0
    last = min(len(line), first + WIDTH)
    return f"{'…' if first else ''}{line[first:last]}{'…' if last < len(line) else ''}"
