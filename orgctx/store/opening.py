"""How a store is opened: with a memory where there can be one."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ..config import load, users_file
from ..errors import BadArgument
from .indexed import IndexedStore
from .store import Store
from .synced import fault_of

if TYPE_CHECKING:
    from .sync import Progress


def database_file() -> Path:
    """Where the database is: in the user's cache folder."""
    from platformdirs import user_cache_path  # only who needs the store pays

    return user_cache_path("orgctx") / "memex.sqlite"


def open_store(
    roots: Iterable[str | Path] | Mapping[str, str],
    inlinetask_min_level: int | None = None,
    is_frozen: bool = False,
    progress: Progress | None = None,
    is_filled: bool = True,
) -> Store:
    """Open the notes under some roots; with none given, those that the user's file names.

    roots: folders, or name -> folder.
    is_frozen: answer from what is known, without looking for changes first.
    progress: is told of a first sync, (files that are done, of how many).
    is_filled: whether a frozen store is synced all the same if there is a root of which it knows
        nothing, or what was known by other settings.
    Returns: Store; where there can be no database its `fault` says why, and each question reads the
        notes themselves.
    Raises: NotFound, BadConfig, BadArgument if there is no root at all.
    """
    config = load(users_file(), is_users=True)
    folders = roots if isinstance(roots, Mapping) else [str(root) for root in roots]
    folders = folders or config.roots
    if not folders:
        raise BadArgument("no root", "name one: --root DIR, ORGCTX_ROOT, or orgctx.toml", "root")
    try:
        file = database_file()
        indexed = IndexedStore(folders, file, inlinetask_min_level, config, is_frozen, progress)
        indexed.was_empty = is_frozen and is_filled and indexed.fill(progress)
        return indexed
    except (sqlite3.Error, OSError) as error:
        store = Store(folders, inlinetask_min_level, config)
        store.fault = fault_of(error)
        return store
