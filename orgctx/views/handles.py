"""Names in a query that say which node is meant: an ID, a CUSTOM_ID, a file, or an address."""

from __future__ import annotations

from ..core.model import Node
from ..errors import OrgctxError
from ..store.address import POSITION, resolve
from ..store.files import is_note
from ..store.store import Store
from ..store.words import Words

MOST = 20
"""How many words of a query are taken for names, the first of them."""


def named(words: Words, query: str) -> list[int]:
    """The nodes that words of a query name, in its order; a name that fits several names none."""
    found: list[int] = []
    for word in query.split()[:MOST]:
        plain = word.strip(",;?!()[]<>\"'")
        if plain.isascii() and plain not in ("", "#", "id:"):
            nodes = words.named(plain)
            found += nodes if len(nodes) == 1 else []
    return list(dict.fromkeys(found))


def addressed(store: Store, query: str) -> Node | None:
    """The node of a query that is an address by file; None if it is not, or of nothing."""
    query = query.strip()
    position = POSITION.match(query)
    name = position[1] if position else query.partition("::")[0]
    if "\0" in query or not is_note(name.rpartition("/")[2]):
        return None
    try:
        return resolve(store, query) if store.file(name) else None
    except OrgctxError:
        return None
