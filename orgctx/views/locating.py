"""Where a node is, for an editor to go there."""

from __future__ import annotations

from typing import NamedTuple

from ..store.address import resolve
from ..store.names import Names
from ..store.store import Store


class Place(NamedTuple):
    """A node's address, its file as the system names it, and its first line, 1-based."""

    address: str
    file: str
    line: int


def locate(store: Store, address: str) -> Place:
    """Find the place of a node.

    address: any form that README.org lists under Addresses.
    Raises: NotFound, Ambiguous, OutsideRoot, Unreadable, BadArgument.
    """
    node = resolve(store, address)
    return Place(Names(store).address(node), str(store.place(node.path)), node.first_line)
