"""Keys of links: what an entry's links name, and by what names its own node may be meant.

Both are made from one entry, its file's settings and its path alone, so a file that changes leaves
the keys of all others as they are. Whoever shares no key with a node does not link to it; whether
one that does really does, `linking` says.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable

from ..core.frame import folder_of
from ..core.links import Link, links
from ..core.model import Node, Setting
from .files import is_note
from .roots import name_of, nfc
from .symbols import occurrences
from .titles import plain_title

_NAMING = frozenset({"name", "target"})
"""The kinds of symbols to which a link may lead."""
_OUTSIDE = "/"
"""What a key has before the name of a file in a folder that is not known; no path begins so."""
_ANY_LINE = ":"
"""What a key has for a line's number: on which entry that is depends on all of the file."""
_LONGEST = 300
"""Characters of a key; what is longer shares one with what begins so."""


def leaving(text: str, settings: Iterable[Setting], path: str) -> list[str]:
    """The keys of an entry's links, each once.

    text: the entry. settings, path: of its file; the path is that in its root.
    """
    found = (link for link in links(text, settings) if not link.file or is_note(_file_name(link)))
    return list(dict.fromkeys(_key_of(link, path) for link in found))


def reaching(node: Node, path: str) -> list[str]:
    """The keys of all links that may lead to a node. path: of its file, in its root."""
    named = (name for _, name, _ in occurrences(node.text, _NAMING))
    searches = {_ANY_LINE, f"*{folded(node.title)}", *map(folded, (node.title, *named))}
    searches |= {f"#{node.custom_id}"} if node.custom_id else set()
    searches |= set() if node.level else {""}
    files = (nfc(path), _OUTSIDE + nfc(name_of(path)))
    keys = [_key(file, search) for file in files for search in searches]
    return keys + [_id_key(id_) for id_ in node.ids]


def file_in_root(file: str, path: str) -> str:
    """Where in its root a link's file is, be it there or not.

    file: as the link has it. path: of the file that the link is in, in its root.
    Returns: its path; "" if the link leads out of the root, or may: a folder whose name begins with
        a dot is no part of it, but may be a root.
    """
    if file.startswith(("/", "~")):
        return ""
    joined = posixpath.normpath(posixpath.join(folder_of(path), file)) if file else path
    leaves = joined.startswith(("/", "../")) or "/." in f"/{folder_of(joined)}"
    return "" if leaves and file else joined


def folded(title: str) -> str:
    """A title as it is searched for, in any case."""
    return plain_title(title).casefold()


def is_line(link: Link) -> bool:
    """Whether a link names a line of a file."""
    return bool(link.file) and link.search.isascii() and link.search.isdigit()


def _key_of(link: Link, path: str) -> str:
    if link.id:
        return _id_key(link.id)
    inside = file_in_root(link.file, path)
    return _key(nfc(inside or _OUTSIDE + _file_name(link)), _search_key(link))


def _file_name(link: Link) -> str:
    """The name of the file that a link names."""
    return name_of(posixpath.normpath(link.file))


def _search_key(link: Link) -> str:
    if is_line(link):
        return _ANY_LINE
    if link.search.startswith("#"):
        return link.search
    mark = "*" if link.search.startswith("*") else ""
    return mark + folded(link.search.removeprefix(mark))


def _key(file: str, search: str) -> str:
    return _storable(f"{file}::{search}")


def _id_key(id_: str) -> str:
    return _storable(f"id:{id_}")


def _storable(text: str) -> str:
    """A key as a short text that a database takes; a path need not be one."""
    return text[:_LONGEST].encode("utf-8", "replace").decode().replace("\0", " ")
