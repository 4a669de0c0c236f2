"""Links to notes, as they stand in a text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from .model import Setting

_LINK = re.compile(
    r"\[\[(?P<bracket>(?>(?:[^][\\]|\\[][\\]?+)+))\](?P<next>[][])"
    r"|<(?P<angle>(?:id|file(?:\+\w+)?):[^<>\n]+)>"
    r"|:(?:(?<=\bid:)|(?<=\bfile:))(?P<plain>[^][\s()<>]*[\w/])"
)
"""In brackets, between angles, or plain. Brackets without an end are passed once, not again."""
_ESCAPED = re.compile(r"(?<!\\)(\\++)([][]|\Z)")
"""Backslashes of which every second one escapes."""
_BREAK = re.compile(r"(?:(?<![ \t])[ \t]++)?\r?\n[ \t]*+")
_FILE = re.compile(r"file(?:\+\w+)?:(?:/+(?=/))?")
"""What stands before a path; of the slashes of `file:///a.org` the last begins it."""
_PATH = re.compile(r"/|~|\.\.?/")
"""How a path begins that needs no `file:` before it."""
_ELSEWHERE = re.compile(
    r"(?:https?|ftp|mailto|news|doi|shell|elisp|info|help|attachment|docview|man|irc|gnus):"
)
"""The kinds of links that Org knows and that lead to no note."""
_LONGEST = 1024
"""Characters that are put for an abbreviation; without a limit, a small file means a huge one."""


class Link(NamedTuple):
    """What a link names.

    id: an ID; "" for a place in a file. file: its path as it stands; "" is the link's own file.
    search: `#CUSTOM_ID`, `*Title`, a line's number (of a file that is named), or the words of a
        target, a name or a title; "" is the file as a whole.
    """

    id: str = ""
    file: str = ""
    search: str = ""


def links(text: str, settings: Iterable[Setting] = ()) -> list[Link]:
    """What a text links to, in order, each once (Org manual: Link Format, External Links).

    text: an entry. settings: of its file, whose `#+LINK` lines abbreviate.
    Returns: what may be in a note; links to the web, mail, attachments, code and the like are not.
    """
    if "[[" not in text and "id:" not in text and "file:" not in text:
        return []
    known, paths = _abbreviations(settings), _paths(text)
    found = map(_link, (_expanded(path, known) for path in paths) if known else paths)
    return list(dict.fromkeys(link for link in found if link))


def _paths(text: str) -> Iterator[str]:
    """The targets of the links in a text, as they are meant."""
    at, last = 0, text.rfind("]]")
    while found := _LINK.search(text, at):
        at = found.end()
        path = found["bracket"]
        if found["plain"]:
            yield ("id:" if text[found.start() - 1] == "d" else "file:") + found["plain"]
        elif path is None:
            yield found["angle"]
        elif found["next"] == "]" or at <= last:
            at = at if found["next"] == "]" else text.find("]]", at) + 2
            yield _meant(path) if "\\" in path or "\n" in path else path.strip()


def _meant(path: str) -> str:
    """What stands between brackets without escapes and line breaks."""
    return _ESCAPED.sub(_unescaped, _BREAK.sub(" ", path)).strip()


def _unescaped(found: re.Match[str]) -> str:
    return found[1][: len(found[1]) // 2] + found[2]


def _abbreviations(settings: Iterable[Setting]) -> dict[str, str]:
    """What the `#+LINK` lines of a file put for a word."""
    lines = (setting.value.split(None, 1) for setting in settings if setting.key == "LINK")
    return {line[0]: line[1] for line in lines if len(line) == 2 and len(line[1]) <= _LONGEST}


def _expanded(path: str, abbreviations: Mapping[str, str]) -> str:
    """A link without abbreviation, as `org-link-expand-abbrev` has it: one `%s` is the tag."""
    word, _, tag = path.partition(":")
    whole, tag = abbreviations.get(word), tag.removeprefix(":")
    if whole is None or "%(" in whole or ("%h" in whole and "%s" not in whole):
        return path
    return whole.replace("%s", tag, 1) if "%s" in whole else whole + tag


def _link(path: str) -> Link | None:
    """What the target of a link names; None if that is nothing in a note."""
    if path.startswith("id:"):
        id_ = path[3:].partition("::")[0]
        return Link(id=id_) if id_ else None
    is_file = _FILE.match(path) or _PATH.match(path)
    if not is_file and _ELSEWHERE.match(path):
        return None
    file, _, search = _FILE.sub("", path, count=1).partition("::") if is_file else ("", "", path)
    is_node = search.strip("*# \t") or (file and not search)
    is_code = search[:1] + search[-1:] in ("()", "//")
    return Link("", file, search) if is_node and not is_code else None
