"""The Python surface: `open_memex`, and what can be asked of a memex."""

from __future__ import annotations

import os
from os import PathLike, fspath

from ..core.lens import BACKGROUND
from ..core.model import Node, Problem, View
from ..store.address import resolve
from ..store.opening import open_store
from ..store.store import Store
from ..tokens import DEFAULT_ENCODING
from ..views.focus import BUDGET, focus


class Memex:
    """Org notes under one or more roots. Every answer is read from the files as they are now."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def focus(
        self,
        address: str,
        budget: int = BUDGET,
        *,
        unit: str = "tokens",
        encoding: str = DEFAULT_ENCODING,
        lens: str = "foveal",
        ids: str = "full",
        background: int = BACKGROUND,
    ) -> View:
        """Show one node in its context within a budget; see `orgctx.views.focus.focus`."""
        return focus(self._store, address, budget, unit, encoding, lens, ids, background)

    def node(self, address: str) -> Node:
        """The node at `address`, any form.

        Raises: NotFound, Ambiguous, OutsideRoot, Unreadable, BadArgument.
        """
        return resolve(self._store, address)

    def sync(self) -> bool:
        """Look for changes in the notes now. Returns: whether there were any."""
        return self._store.freshen()

    def problems(self) -> list[Problem]:
        """What was passed over under the roots, and what in the notes Org would not read."""
        return self._store.problems()


def open_memex(*roots: str | PathLike[str], inlinetask_min_level: int | None = None) -> Memex:
    """Open notes for reading.

    roots: folders of Org files, or one Org file. `~` is the home folder. None: those that
        orgctx.toml in the user's configuration folder names.
    inlinetask_min_level: headlines this deep or deeper are text, as with org-inlinetask; None
        reads them as headlines.
    Returns: Memex. What is found is remembered in the user's cache folder; where that cannot be
        written, each question reads the notes.
    Raises: NotFound if a root is not there; BadConfig; BadArgument if there is no root.
    """
    names = [fspath(root) for root in roots]
    if len(names) == 1 and os.path.isfile(os.path.expanduser(names[0])):
        return Memex(Store.of_file(names[0], inlinetask_min_level))
    return Memex(open_store(names, inlinetask_min_level))
