"""The head of an entry: its ID drawer, and a file as a headline among others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from .model import Node, Setting
from .outline import outline

Ids = Callable[[str], str] | None

SAID_BY_HEADLINE = frozenset({"TITLE", "FILETAGS"})
"""The keywords of a file for which its headline may stand."""
KEPT = frozenset("\u200c\u200d\u00a0\u1680\u202f\u205f\u3000").union(
    map(chr, range(0x2000, 0x200B))
)
"""Not seen itself, but words are written with it: joiners of letters and emoji, and spaces."""


def first_line(node: Node) -> int:
    """The 1-based line in the file of an entry's first; of a file's, its naming comment is 0."""
    return node.first_line if node.level else blanks_above(node)


def blanks_above(node: Node) -> int:
    """How many blank lines above a file's drawer are left out: a comment there voids the drawer."""
    lines = node.lines if node.drawer else []
    return next((i for i, line in enumerate(lines) if line.strip()), 0)


def printable(path: str) -> str:
    """A path that stays on its line."""
    if path.isprintable():
        return path
    from json import dumps  # hardly ever

    return "".join(c if c.isprintable() or c in KEPT else dumps(c)[1:-1] for c in path)


def id_drawer(node: Node, drawer: Sequence[str], ids: Ids) -> str:
    """The drawer with nothing but the ID, or the CUSTOM_ID where there is none; "" without any.

    drawer: the lines of the node's drawer; none of a sealed node, of which they are not shown.
    ids: what is shown of an ID; None for nothing.
    """
    line = _id_line(node, drawer, ids)
    frame = drawer or [f":PROPERTIES:{node.tree.newline}", f":END:{node.tree.newline}"]
    return frame[0] + line + frame[-1] if line else ""


def _id_line(node: Node, drawer: Sequence[str], ids: Ids) -> str:
    name, value = ("ID", node.id) if node.id else ("CUSTOM_ID", node.custom_id)
    if ids is None or not value:
        return ""
    if not drawer:  # it is sealed
        return f":{name}: {ids(value) if name == 'ID' else value}{node.tree.newline}"
    keys = [key.upper() for key, _ in node.properties]
    line = drawer[len(keys) - keys[::-1].index(name)]
    if name == "CUSTOM_ID":
        return line
    head, _, tail = line.rpartition(value)
    return head + ids(value) + tail


def as_headline(
    node: Node, lines: Sequence[str], reduced: dict[int, str], ids: Ids, stars: int
) -> tuple[list[str], dict[int, str]]:
    """Write a file's lines, and what a skeleton shows of them, as those of a headline.

    lines: a comment that names the file, and its own. reduced: by line.
    Returns: the same two in the same order. The headline says title and file tags, and its drawer
        the path; the drawer comes before any comment. All other lines stay where they are.
    """
    first = first_line(node)
    drawer = _drawer_lines(node)
    own, above = [lines[i] for i in drawer][1:-1], [lines[i] for i in range(1, drawer.start)]
    gone = {*range(1, drawer.stop), *(s.line - first for s in replaced_by_headline(node))}
    brief = {i: "" if i in gone else text for i, text in reduced.items()}
    brief[0] = file_head(node, ids, stars)
    whole = [*_head_lines(node, own, stars), *above]
    return ["".join(whole), *("" if i in gone else x for i, x in enumerate(lines) if i)], brief


def file_head(node: Node, ids: Ids, stars: int) -> str:
    """A file's headline, with its ID and its path in a drawer."""
    lines = [node.lines[node.drawer[0] - 1 + i] for i in range(_size(node))] if node.drawer else []
    return "".join(_head_lines(node, [_id_line(node, lines, ids)], stars))


def _size(node: Node) -> int:
    return node.drawer[1] - node.drawer[0] + 1 if node.drawer else 0


def _drawer_lines(node: Node) -> range:
    """Where a file's drawer is, counted from its naming comment; empty at 1 without one."""
    start = node.drawer[0] - first_line(node) if node.drawer else 1
    return range(start, start + _size(node))


def _head_lines(node: Node, properties: Sequence[str], stars: int) -> list[str]:
    end = node.tree.newline
    title = node.title if _is_title(node) else printable(node.path.rpartition("/")[2])
    tags = [tag for tag in node.tags if outline(f"* x :{tag}:\n", "").nodes[1].tags == (tag,)]
    headline = f"{'*' * stars} {title}" + (f" :{':'.join(tags)}:" if tags else "")
    path = f":PATH: {printable(node.path)}"
    return [headline + end, f":PROPERTIES:{end}", *properties, path + end, f":END:{end}"]


def replaced_by_headline(node: Node) -> list[Setting]:
    """The keyword lines of a file that its headline says."""
    keys = SAID_BY_HEADLINE if _is_title(node) else {"FILETAGS"}
    return [setting for setting in node.tree.settings if setting.key in keys]


def _is_title(node: Node) -> bool:
    """Whether a file's title, as that of a headline, would be read as it is."""
    if not node.title:
        return False
    words = " ".join((*node.tree.todos, *node.tree.dones, "TODO", "DONE"))
    read = outline(f"#+todo: {words}\n* {node.title}\n", "").nodes[1]
    is_plain = read.tags == () and read.todo is None and read.priority is None
    return is_plain and read.title == node.title


def setting_lines(node: Node) -> Iterator[tuple[Setting, str]]:
    """A file's keyword lines, wherever they stand, with the view's line ends."""
    source = node.tree.text.split("\n") if node.tree.settings else []
    for setting in node.tree.settings:
        yield setting, source[setting.line - 1].removesuffix("\r") + node.tree.newline
