"""What is looked for in the notes: a text or a pattern, where, and in which entries."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple, TypedDict, Unpack

from ..core.model import Node
from ..errors import BadArgument
from ..store.roots import check_name, nfc
from .view import texts


class Query(NamedTuple):
    """What is looked for, and where.

    pattern: the text, or an expression of RE2; may be "" if there is a filter.
    path: a root, folder, file or node, whose subtree it is; "" for all notes.
    regexp: whether the pattern is an expression. ignore_case: whether letters match in any case.
    todo: keywords, one of which an entry has. tag: tags, all of which it has, inherited ones too.
    property: NAME or NAME=VALUE, all of which are in its own drawer.
    """

    pattern: str = ""
    path: str = ""
    regexp: bool = False
    ignore_case: bool = False
    todo: tuple[str, ...] = ()
    tag: tuple[str, ...] = ()
    property: tuple[str, ...] = ()

    def check(self) -> None:
        """Raises: BadArgument."""
        check_name("path", self.path)
        if not isinstance(self.pattern, str):
            raise BadArgument(f"pattern {self.pattern!r}: give a text", where="pattern")
        for name in ("todo", "tag", "property"):
            texts(name, getattr(self, name))
        if not (self.pattern or self.todo or self.tag or self.property):
            raise BadArgument("pattern: empty", "give a text, or a filter such as --tag", "pattern")
        if "\n" in self.pattern:
            raise BadArgument("pattern: a line break; hits are lines", "give one line", "pattern")
        if any(not each.partition("=")[0] for each in self.property):
            raise BadArgument("property: no name", "give NAME or NAME=VALUE", "property")

    def holds(self, node: Node) -> bool:
        """Whether a node passes the filters."""
        todo, tags = map(nfc, self.todo), {nfc(tag.strip(":")) for tag in self.tag}
        return (
            (not self.todo or nfc(node.todo or "") in todo)
            and tags <= set(map(nfc, node.inherited_tags if tags else ()))
            and all(_has(node, each) for each in self.property)
        )


def _has(node: Node, wanted: str) -> bool:
    """Whether a node has a property, and with that value."""
    name, is_pair, value = wanted.partition("=")
    found = node.get_property(name)
    return found is not None and (not is_pair or nfc(found) == nfc(value))


Texts = str | Iterable[str]


class How(TypedDict, total=False):
    """What a query may say besides pattern and path; see Query. One text, or several."""

    regexp: bool
    ignore_case: bool
    todo: Texts
    tag: Texts
    property: Texts


def query_of(pattern: str, path: str, **how: Unpack[How]) -> Query:
    """A query in which what may be one text or several is several."""
    known: dict[str, Any] = dict(how)
    for name in known.keys() & {"todo", "tag", "property"}:
        known[name] = texts(name, known[name])
    return Query(pattern, path, **known)
