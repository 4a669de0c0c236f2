"""Calls as a shell wants them, each on one line: what is printed can be run as it stands."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence


def shell_command(name: str, arguments: Sequence[str], options: Iterable[str]) -> str:
    """The call of a command. arguments: empty ones at the end are left out."""
    last = max((at for at, each in enumerate(arguments, 1) if each), default=0)
    given, words = [*map(quoted, arguments[:last])], [*map(quoted, options)]
    if any(each.startswith("-") for each in arguments[:last]):
        return " ".join(["orgctx", name, *words, "--", *given])
    return " ".join(["orgctx", name, *given, *words])


def quoted(word: str) -> str:
    """A word as a shell wants it, on one line, also one that is no text or not printable."""
    if word.isprintable():
        return shlex.quote(word)
    escaped = word.replace("\\", "\\\\").replace("'", "\\'")
    return "$'" + "".join(c if c.isprintable() else _bytes(c) for c in escaped) + "'"


def _bytes(char: str) -> str:
    return "".join(f"\\x{byte:02x}" for byte in char.encode("utf-8", "surrogateescape"))
