"""Names in a query that say which node is meant: an ID, a CUSTOM_ID, a file, or an address."""

from __future__ import annotations

from ..core.model import Node
from ..errors import OrgctxError
from ..store.address import POSITION, resolve
from ..store.files import is_note
from ..store.roots import name_of
from ..store.store import Store
from ..store.words import Words
from .page import LINK

MOST = 20
"""How many words of a query are taken for names, the first of them."""


def named(words: Words, query: str) -> list[int]:
    """The nodes that words of a query name, in its order; a name that fits several names none."""
    found: list[int] = []
    for word in [*_linked(query), *LINK.sub(" ", query).split()][:MOST]:
        plain = word.strip(",;?!()[]<>\"'`")
        if plain not in ("", "#", "id:"):
            nodes = words.named(plain)
            found += nodes if len(nodes) == 1 else []
    return list(dict.fromkeys(found))


def addressed(store: Store, query: str) -> list[Node]:
    """The nodes of a query that is an address by file, and of the links in it by file."""
    names = [query.strip(), *_linked(query)][:MOST]
    nodes = (_at(store, name.removeprefix("file:")) for name in names)
    return list(dict.fromkeys(filter(None, nodes)))


def _linked(query: str) -> list[str]:
    """What the links in a query point to."""
    return [link[1] for link in LINK.finditer(query)]


def _at(store: Store, address: str) -> Node | None:
    """The node at an address by file; None if it is not one, or of nothing."""
    position = POSITION.match(address)
    name = position[1] if position else address.partition("::")[0]
    if "\0" in address or not is_note(name_of(name)):
        return None
    try:
        return resolve(store, address) if store.file(name) else None
    except OrgctxError:
        return None
