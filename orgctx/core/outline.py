"""From text to nodes: one scan, Org's own rules, every character in exactly one node."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from operator import attrgetter
from typing import NamedTuple
from unicodedata import category

from .elements import Element, elements
from .model import Node, Nodes, Problem, Setting, Tree

_SPACE = "\t\n\f\r \xa0\u2000-\u200b\u202f\u205f\u3000"
_EOL = r"[ \t]*+\r?"
_HEADLINE = re.compile(r"\n(\*+) ([^\n]*)")
_PLANNING = re.compile(r"[ \t]*(?:CLOSED|DEADLINE|SCHEDULED):[^\n]*\n", re.IGNORECASE)
_DRAWER = re.compile(
    rf"[ \t]*+:PROPERTIES:{_EOL}\n((?:[ \t]*+:[^{_SPACE}]+:(?: [^\n]*+|{_EOL})\n)*?)"
    rf"[ \t]*+:END:{_EOL}(?:\n|\Z)",
    re.IGNORECASE,
)
_PROPERTY = re.compile(rf"[ \t]*:([^{_SPACE}]+):[ \t]*([^\n]*)\n")
_DRAWER_START = re.compile(r":PROPERTIES:", re.IGNORECASE)
_ABOVE_FILE_DRAWER = re.compile(r"(?>(?:[ \t]*+(?>(?:#(?>(?: [^\n]*+)?))?)\r?\n)*)")
_COMMENTS = re.compile(r"(?>(?:#(?>(?: [^\n]*+)?)\r?\n)*)")
COOKIE = re.compile(r"\[(?:\d*/\d*|\d*%)\]")
"""Org syntax: Statistics Cookies, which count what is done."""
_SETTING = re.compile(
    r"#\+(TITLE|TODO|SEQ_TODO|TYP_TODO|FILETAGS|PROPERTY|LINK|STARTUP|PRIORITIES):([^\n]*)",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^ \t\r\f\v]+")
_ACCESS_KEY = re.compile(r"\(.*\)\Z")
_ASCII_TAGS = re.compile(r":[A-Za-z0-9_@#%:]+:")


class _Line(NamedTuple):
    """A headline line, taken apart."""

    title: str
    todo: str | None
    priority: str | None
    is_commented: bool
    tags: tuple[str, ...]


@dataclass(frozen=True)
class _Scan:
    """Where the nodes of a text are; lists by index of the node, made when they are wanted.

    starts, first_lines: one more for the end. parents_and_ends: see `_family`.
    heads: of all but the file node; found in the text behind one line feed, so that a headline
        begins where its match does, and the line below it where the match ends.
    """

    text: str
    heads: list[re.Match[str]]

    @cached_property
    def starts(self) -> list[int]:
        return [0, *(head.start() for head in self.heads), len(self.text)]

    @cached_property
    def levels(self) -> list[int]:
        return [0, *(len(head[1]) for head in self.heads)]

    @cached_property
    def parents_and_ends(self) -> tuple[list[int], list[int]]:
        return _family(self.levels)

    @cached_property
    def first_lines(self) -> list[int]:
        return _first_lines(self.text, self.starts)

    def lines(self, index: int) -> list[str]:
        return self.text[self.starts[index] : self.starts[index + 1]].split("\n")


def outline(
    text: str, path: str, encoding: str = "utf-8", inlinetask_min_level: int | None = None
) -> Tree:
    """Read the outline of one file as org-element does (Org syntax: Headings, Property Drawers).

    text: the file's characters, without byte order mark; `\\n` and `\\r\\n` end lines.
    path: how addresses name the file.
    encoding: how the file's bytes became `text`; "utf-8-sig" if there was a byte order mark.
    inlinetask_min_level: headlines this deep or deeper are text of the entry above them, as with
        org-inlinetask; None reads them as headlines, as Org does without that library.
    Returns: Tree; its nodes' texts joined are `text`. Malformed Org is text; see `problems`.
    """
    scan = _scan(text, inlinetask_min_level)
    settings = list(_settings(scan))
    todos, dones = _keywords(settings)
    prefix = _prefix(todos + dones)

    def read(index: int) -> Node:
        line = _headline(prefix, scan.heads[index - 1][2]) if index else _file_line(settings)
        return _node(tree, scan, index, line)

    tree = Tree(
        path=path,
        text=text,
        encoding=encoding,
        newline=_newline(text),
        todos=todos,
        dones=dones,
        settings=tuple(settings),
        nodes=Nodes(len(scan.heads) + 1, read),
    )
    return tree


def _scan(text: str, inlinetask_min_level: int | None) -> _Scan:
    heads = list(_HEADLINE.finditer("\n" + text))
    if inlinetask_min_level is not None:
        heads = [head for head in heads if len(head[1]) < inlinetask_min_level]
    return _Scan(text, heads)


def _first_lines(text: str, starts: Sequence[int]) -> list[int]:
    lines, line = [1], 1
    for start, stop in pairwise(starts):
        line += text.count("\n", start, stop)
        lines.append(line)
    if text and not text.endswith("\n"):
        lines[-1] += 1
    return lines


def _newline(text: str) -> str:
    """CRLF where every line ends so; a file of mixed ends is shown with LF, as Emacs opens it."""
    crlf = text.count("\r\n") if "\r" in text else 0
    return "\r\n" if crlf and crlf == text.count("\n") else "\n"


def _settings(scan: _Scan) -> Iterator[Setting]:
    """The keyword lines that count: a title in the zeroth section, the others anywhere."""
    if "#+" not in scan.text:
        return
    known, verbatim = -1, list[Element]()
    for match in _SETTING.finditer(scan.text):
        start = scan.text.rfind("\n", 0, match.start()) + 1
        index = bisect_right(scan.starts, match.start(), hi=len(scan.starts) - 1) - 1
        key = match[1].upper()
        if scan.text[start : match.start()].strip(" \t") or (key == "TITLE" and index):
            continue
        if match[2][:1] not in (" ", "\t") and ":" in (match[2].split() or [""])[0]:
            continue
        if index != known:
            known, verbatim = index, _verbatim(scan.lines(index))
        within = scan.text.count("\n", scan.starts[index], start)
        if not _stands_in(verbatim, within):
            yield Setting(scan.first_lines[index] + within, key, match[2].strip(" \t\r"))


def _verbatim(lines: Sequence[str]) -> list[Element]:
    """The blocks in which Org reads nothing; none is inside another."""
    return [block for block in elements(lines) if block.is_verbatim]


def _stands_in(blocks: Sequence[Element], line: int) -> bool:
    """Whether a line, 0-based, is inside one of `blocks`, which are in order and apart."""
    at = bisect_right(blocks, line, key=attrgetter("first")) - 1
    return at >= 0 and blocks[at].first < line < blocks[at].last


def _keywords(settings: Sequence[Setting]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The open and the closed TODO keywords (Org manual, Per-file keywords)."""
    sequences = [
        _WORD.findall(s.value) for s in settings if s.key in ("TODO", "SEQ_TODO", "TYP_TODO")
    ]
    todos: list[str] = []
    dones: list[str] = []
    for words in sequences or [["TODO", "DONE"]]:
        bar = words.index("|") if "|" in words else len(words) - 1
        todos += [_ACCESS_KEY.sub("", word) for word in words[:bar]]
        dones += [_ACCESS_KEY.sub("", word) for word in words[bar:] if word != "|"]
    return tuple(filter(None, todos)), tuple(filter(None, dones))


def _file_line(settings: Sequence[Setting]) -> _Line:
    """The file node's title and tags, in the form of a headline's."""
    titles = [s.value for s in settings if s.key == "TITLE" and s.value]
    return _Line(" ".join(titles), None, None, False, file_tags(settings))


def file_tags(settings: Iterable[Setting]) -> tuple[str, ...]:
    """The tags that keyword lines give a file, each once."""
    words = (word for s in settings if s.key == "FILETAGS" for word in _WORD.findall(s.value))
    return tuple(dict.fromkeys(tag for word in words for tag in word.split(":") if tag))


def _node(tree: Tree, scan: _Scan, index: int, line: _Line) -> Node:
    """One node. line: what its headline says."""
    start, first = scan.starts[index], scan.first_lines[index]
    parents, ends = scan.parents_and_ends
    drawer = _drawer(scan.text, scan.heads[index - 1].end()) if index else _file_drawer(scan.text)
    return Node(
        tree=tree,
        index=index,
        parent_index=parents[index],
        end_index=ends[index],
        level=scan.levels[index],
        first_line=first,
        last_line=scan.first_lines[index + 1] - 1,
        start=start,
        end=scan.starts[index + 1],
        title=line.title,
        todo=line.todo,
        priority=line.priority,
        is_commented=line.is_commented,
        tags=line.tags,
        properties=_properties(drawer[1]) if drawer else (),
        drawer=_drawer_lines(scan.text, start, first, drawer) if drawer else None,
    )


def _family(levels: Sequence[int]) -> tuple[list[int], list[int]]:
    """For each node its parent, and the index after its last descendant; one pass, one stack."""
    parents, ends = [-1] * len(levels), [len(levels)] * len(levels)
    above = [0]
    for index, level in enumerate(levels[1:], 1):
        while levels[above[-1]] >= level:
            ends[above.pop()] = index
        parents[index] = above[-1]
        above.append(index)
    return parents, ends


def _prefix(keywords: Sequence[str]) -> re.Pattern[str]:
    """What stands before a title: keyword, priority and COMMENT, each optional, in this order."""
    names = "|".join(re.escape(word) for word in sorted(keywords, key=len, reverse=True)) or "(?!)"
    return re.compile(
        rf"[ \t]*(?:({names})(?: |\Z)[ \t]*)?(?:\[#([^\n])\][ \t]*)?(?:(COMMENT)(?= |\Z))?"
    )


def _headline(prefix: re.Pattern[str], line: str) -> _Line:
    """line: what follows the stars and one space, without its line feed."""
    line = line.removesuffix("\r")
    match = prefix.match(line)
    assert match is not None  # every part of the pattern is optional
    todo, priority, comment = match.groups()
    title = line[match.end() :].rstrip(" \t")
    tags: tuple[str, ...] = ()
    if title.endswith(":"):
        word = max(title.rfind(" "), title.rfind("\t")) + 1
        is_apart = word or line[: match.end()][-1:] in ("", " ", "\t")
        if is_apart and _are_tags(title[word:]):
            title, tags = title[:word], tuple(filter(None, title[word:].split(":")))
    return _Line(title.strip(" \t\r"), todo, priority, comment is not None, tags)


def _are_tags(word: str) -> bool:
    """Whether `word` is `:a:b:` of tag characters: Emacs' alphanumerics, `_`, `@`, `#`, `%`."""
    if _ASCII_TAGS.fullmatch(word):
        return True
    is_framed = len(word) > 2 and word[0] == ":" == word[-1]
    return is_framed and not word.isascii() and all(map(_is_tag_character, word))


def _is_tag_character(char: str) -> bool:
    return char in "_@#%:" or category(char)[0] in "LM" or category(char) in ("Nd", "Nl")


def drawer_place(node: Node) -> int:
    """Where in the file's text a node's property drawer would have to begin, if it had one.

    Below its headline and planning; of a file node below the comments at the top, without a blank
    line in between, as all versions of Org read it.
    """
    text = node.tree.text
    if not node.level:
        above = _COMMENTS.match(text)
        return above.end() if above else 0
    below = text.find("\n", node.start, node.end) + 1 or node.end
    planning = _PLANNING.match(text, below, node.end)
    return planning.end() if planning else below


def _drawer(text: str, below: int) -> re.Match[str] | None:
    """The property drawer in its place: right below the headline, or below its planning line.

    below: where the line under the headline begins.
    """
    if planning := _PLANNING.match(text, below):
        below = planning.end()
    return _DRAWER.match(text, below)


def _file_drawer(text: str) -> re.Match[str] | None:
    above = _ABOVE_FILE_DRAWER.match(text)
    return _DRAWER.match(text, above.end() if above else 0)


def _properties(lines: str) -> tuple[tuple[str, str], ...]:
    return tuple((key, value.rstrip(" \t\r")) for key, value in _PROPERTY.findall(lines))


def _drawer_lines(text: str, start: int, first: int, drawer: re.Match[str]) -> tuple[int, int]:
    """The drawer's first and last line. start, first: of its entry, in characters and lines."""
    first += text.count("\n", start, drawer.start())
    return first, first + drawer[1].count("\n") + 1


def problems(tree: Tree) -> list[Problem]:
    """What looks like a property drawer and is none, and other drawers that deserve a word.

    Returns: in the order of lines, without a word of the note's text.
    """
    found: list[Problem] = []
    known, verbatim = -1, list[Element]()
    for match in _DRAWER_START.finditer(tree.text):
        start = tree.text.rfind("\n", 0, match.start()) + 1
        node = tree.nodes[bisect_right(tree.nodes, start, key=attrgetter("start")) - 1]
        if start >= node.end or tree.text[start : match.start()].strip(" \t"):
            continue
        within = tree.text.count("\n", node.start, start)
        line = node.first_line + within
        if node.drawer and line == node.drawer[0]:
            found += [Problem(tree.path, line, what) for what in _oddities(node, within)]
            continue
        if node.index != known:
            known, verbatim = node.index, _verbatim(node.text.split("\n"))
        if not _stands_in(verbatim, within):
            found.append(Problem(tree.path, line, "a property drawer out of place or not whole"))
    return found


def _oddities(node: Node, above: int) -> Iterator[str]:
    """What is odd about a property drawer that has `above` lines of its entry above it."""
    if len(node.ids) > 1:
        yield "more than one ID in a property drawer"
    if not node.level and any(not line.strip() for line in node.lines[:above]):
        yield "a blank line above the file's drawer, for which some versions of Org do not see it"
