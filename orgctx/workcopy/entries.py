"""Edits of an outline by entry: pure, from a file's text to its new text.

Each changes the entry it is about and no byte of another, and none gets another parent.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from ..core.model import Node, Tree
from ..core.outline import drawer_place, outline
from ..errors import BadArgument

HEADLINES = ("refuse", "demote", "allow")
"""What is done with a line of an entry's text that would be a headline beside the entry."""
WHERE = ("last", "first", "before", "after")
"""Where an entry is put: as the last or first child of another, or before or after it."""

_STARS = re.compile(r"\*+(?= )")
_NAME = re.compile(r"[^\s:](?:\S*[^\s:])?")


class Place(NamedTuple):
    """Where an entry is put. at: in the file's text. behind: the first node behind it."""

    at: int
    behind: int
    level: int


def read_again(tree: Tree, text: str) -> Tree:
    """The outline of a file's new text."""
    return outline(text, tree.path, tree.encoding)


def place(node: Node, where: str) -> Place:
    """The place in relation to a node. Raises: BadArgument."""
    if where not in WHERE:
        hint = f"use {', '.join(WHERE)}"
        raise BadArgument(f"where {where!r}: there is no such place", hint, "where")
    children, nodes = list(node.children), node.tree.nodes
    if where in ("first", "last"):
        beside = children[-1 if where == "last" else 0].level if children else node.level + 1
        index = node.index + 1 if where == "first" else node.end_index
        return Place(nodes[index - 1].end, index, beside)
    if not node.level:
        raise BadArgument(f"{node.path}: a file has no entry beside it", "name an entry", "where")
    index = node.index if where == "before" else node.end_index
    return Place(nodes[index - 1].end, index, node.level)


def inserted(tree: Tree, at: Place, text: str, headlines: str) -> str:
    """Put an entry, with what is below it, in its place.

    text: begins with its headline, of any level. headlines: see HEADLINES.
    Raises: BadArgument if there is no headline, or one beside it that is not wanted, or if what is
        behind the place would get another parent.
    """
    own, beside = _entries(text, at.level, headlines)
    before, behind = tree.text[: at.at], tree.text[at.at :]
    new = _joined(tree, before, own + beside, behind)
    _check_places(tree, read_again(tree, new), at.behind, at.behind)
    return new


def replaced(node: Node, text: str, headlines: str) -> str:
    """Put another text in place of an entry's own; what is below it stays.

    text: begins with its headline, whose level is that of the entry whatever it says; of a file,
        what is above the first headline. The blank lines at the entry's end stay as they are.
    headlines: see HEADLINES; those that are allowed come behind what is below the entry.
    Raises: BadArgument as `inserted`; or if the text leaves out the entry's ID.
    """
    tree = node.tree
    if node.level:
        own, beside = _entries(text, node.level, headlines)
    elif _STARS.search(text) and len(outline(text, "").nodes) > 1:
        raise BadArgument("text: it has a headline", "put entries in by themselves", "text")
    else:
        own, beside = text.replace("\r\n", "\n"), ""
    tail = _blank_lines(node.text) if own.strip() or not node.level else ""
    own = own.rstrip("\n") + "\n" if own.strip() else ""
    end = tree.nodes[node.end_index - 1].end
    head, below = tree.text[: node.start], tree.text[node.end : end]
    new = _joined(tree, head, own + tail.replace("\r\n", "\n"), below + tree.text[end:])
    after = read_again(tree, new)
    _check_places(tree, after, node.index, node.index + 1)
    if node.id and after.nodes[node.index].id != node.id:
        what = "text: it leaves out the entry's ID, by which others link to it"
        raise BadArgument(what, "keep its property drawer", "text")
    if beside:
        put = Place(after.nodes[after.nodes[node.index].end_index - 1].end, 0, node.level)
        new = _joined(after, new[: put.at], beside, new[put.at :])
    return new


def removed(node: Node) -> tuple[str, str]:
    """The file's text without an entry and what is below it, and the text of these."""
    text, end = node.tree.text, node.tree.nodes[node.end_index - 1].end
    rest = text[: node.start] + text[end:]
    is_ended = text.endswith("\n")
    return rest if is_ended else _without_end(rest), text[node.start : end]


def _without_end(text: str) -> str:
    return text.removesuffix("\n").removesuffix("\r")


def with_keyword(node: Node, keyword: str | None) -> str:
    """Set the TODO keyword of a headline, or take it away. Raises: BadArgument."""
    tree = node.tree
    known = (*tree.todos, *tree.dones)
    if not node.level:
        raise BadArgument(f"{node.path}: a file has no keyword", "name a headline", "address")
    if keyword is not None and keyword not in known:
        hint = f"those of this file are {', '.join(known)}"
        raise BadArgument(f"keyword {keyword!r}: there is no such keyword", hint, "keyword")
    stars = "*" * node.level + " "
    rest = node.text[len(stars) :]
    if node.todo:
        rest = rest.lstrip(" \t").removeprefix(node.todo)
        rest = re.sub(r"\A[ \t]+", "", rest)
    space = "" if rest[:1] in ("", "\n", "\r") else " "
    changed = stars + (keyword + space if keyword else "") + rest
    new = tree.text[: node.start] + changed + tree.text[node.end :]
    found = read_again(tree, new).nodes[node.index]
    if (found.todo, found.title, found.tags) != (keyword, node.title, node.tags):
        hint = "edit the entry's text"
        raise BadArgument("keyword: the headline would be read otherwise", hint, "keyword")
    return new


def with_property(node: Node, name: str, value: str | None) -> str:
    """Set a property of an entry or a file, or take it away. Raises: BadArgument."""
    if not isinstance(name, str) or not _NAME.fullmatch(name) or name.upper() in ("END",):
        hint = "give a name without blanks and colons at its ends"
        raise BadArgument(f"property {name!r}: no name", hint, "name")
    if value is not None and ("\n" in value or "\r" in value):
        raise BadArgument(f"property {name}: a value is one line", "leave out line ends", "value")
    tree = node.tree
    lines = tree.text.split("\n")
    if node.drawer:
        _change_drawer(node, lines, name, value)
        new = "\n".join(lines)
    elif value is None:
        return tree.text
    else:
        at = drawer_place(node)
        drawer = f":PROPERTIES:\n{_property(name, value)}\n:END:\n"
        new = _joined(tree, tree.text[:at], drawer, tree.text[at:])
    found = read_again(tree, new).nodes[node.index]
    now = [each for key, each in found.properties if key.upper() == name.upper()]
    if now != ([] if value is None else [value.strip(" \t")]):
        hint = "edit the entry's text"
        raise BadArgument(f"property {name}: it would be read otherwise", hint, "name")
    return new


def _change_drawer(node: Node, lines: list[str], name: str, value: str | None) -> None:
    """Change the line of a property in its drawer. Raises: BadArgument if there are several."""
    assert node.drawer
    first, last = node.drawer[0] - 1, node.drawer[1] - 1
    pattern = re.compile(rf"([ \t]*:{re.escape(name)}:)([ \t]*).*?(\r?)", re.IGNORECASE)
    found = [at for at in range(first + 1, last) if pattern.fullmatch(lines[at])]
    if len(found) > 1:
        hint = "edit the entry's text"
        raise BadArgument(f"property {name}: it is there {len(found)} times", hint, "name")
    if value is None:
        is_last = last - first == 2 and found
        lines[first : last + 1] = (
            []
            if is_last
            else [line for at, line in enumerate(lines[first : last + 1], first) if at not in found]
        )
    elif found and (match := pattern.fullmatch(lines[found[0]])):
        space = match[2] or " " if value else ""
        lines[found[0]] = f"{match[1]}{space}{value}{match[3]}"
    else:
        end = lines[last]
        indent, cr = end[: len(end) - len(end.lstrip(" \t"))], "\r" * end.endswith("\r")
        lines.insert(last, f"{indent}{_property(name, value)}{cr}")


def _property(name: str, value: str) -> str:
    """A property's line, laid out as Org does (org-property-format)."""
    return f"{f':{name}:':10} {value}".rstrip(" ")


def demoted(text: str, level: int) -> str:
    """The text with its headlines below `level`, those of an entry of that level."""
    tree, by, parts = outline(text, ""), 0, list[str]()
    for node in tree.nodes:
        if node.level and node.level <= level:
            by = level + 1 - node.level
        parts.append("*" * (by if node.level else 0) + node.text)
    return "".join(parts)


def _entries(text: str, level: int, headlines: str) -> tuple[str, str]:
    """A text as an entry of a level with what is below it, and the entries beside it.

    Raises: BadArgument.
    """
    if headlines not in HEADLINES:
        hint = f"use {', '.join(HEADLINES)}"
        raise BadArgument(f"headlines {headlines!r}: unknown", hint, "headlines")
    nodes: Sequence[Node] = outline(text.replace("\r\n", "\n"), "").nodes
    if len(nodes) < 2 or nodes[0].text.strip():
        hint = "begin with the entry's headline: stars, a blank, its title"
        raise BadArgument("text: it does not begin with a headline", hint, "text")
    first = nodes[1]
    beside = next((node for node in nodes[2:] if node.level <= first.level), None)
    if beside and headlines == "refuse":
        hint = "indent such a line, or say what is to be done with it: headlines=demote or allow"
        what = f"text: line {beside.first_line} would be a headline beside the entry"
        raise BadArgument(what, hint, "text")
    shifted, by = list[str](), level - first.level
    for node in nodes[1:]:
        if node is not first and node.level <= first.level:
            by = level - node.level + (headlines == "demote")
        shifted.append("*" * (node.level + by) + node.text[node.level :])
    cut = beside.index - 1 if beside and headlines == "allow" else len(shifted)
    own, others = "".join(shifted[:cut]), "".join(shifted[cut:])
    return own if own.endswith("\n") else own + "\n", others


def _joined(tree: Tree, before: str, text: str, behind: str) -> str:
    """The text between two others, with the file's line ends, its last line ended or not as is."""
    newline = tree.newline
    if before and not before.endswith("\n"):
        before += newline
    if text and not text.endswith("\n"):
        text += "\n"
    new = before + text.replace("\n", newline) + behind
    is_ended = tree.text.endswith("\n") or not tree.text
    return new if is_ended or behind else new.removesuffix(newline)


def _blank_lines(text: str) -> str:
    """The blank lines at the end of an entry."""
    solid = len(text.rstrip())
    return text[text.find("\n", solid) + 1 :] if "\n" in text[solid:] else ""


def _check_places(before: Tree, after: Tree, first: int, stop: int) -> None:
    """Raises: BadArgument if what is behind an edit has another parent now.

    first, stop: the nodes that were replaced.
    """
    shift = len(after.nodes) - len(before.nodes)
    for node in before.nodes[stop:]:
        above = node.parent_index + (shift if node.parent_index >= stop else 0)
        now = after.nodes[node.index + shift]
        if now.parent_index != above or now.level != node.level:
            what = f"line {node.first_line} would get below another headline"
            raise BadArgument(f"text: {what}", "give the headlines other levels", "text")
