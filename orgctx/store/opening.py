"""How a store is opened: with a memory where there can be one."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from ..config import load, users_file
from ..errors import BadArgument
from .indexed import IndexedStore
from .store import Store

if TYPE_CHECKING:
    from .sync import Progress


def database_file() -> Path:
    """Where the database is: in the user's cache folder."""
    from platformdirs import user_cache_path  # only who needs the store pays

    return user_cache_path("orgctx") / "memex.sqlite"


def open_store(
    roots: Iterable[str | Path],
    inlinetask_min_level: int | None = None,
    is_frozen: bool = False,
    progress: Progress | None = None,
) -> Store:
    """Open the notes under some roots; with none given, those that the user's file names.

    is_frozen: answer from what is known, without looking for changes first.
    progress: is told of a sync now, (files that are done, of how many).
    Returns: Store; where there can be no database its `fault` says why, and each question reads the
        notes themselves.
    Raises: NotFound, BadConfig, BadArgument if there is no root at all.
    """
    config = load(users_file(), is_users=True)
    folders = [str(root) for root in roots] or config.roots
    if not folders:
        raise BadArgument("no root", "name one: --root DIR, ORGCTX_ROOT, or orgctx.toml", "root")
    try:
        file = database_file()
        return IndexedStore(folders, file, inlinetask_min_level, config, is_frozen, progress)
    except (sqlite3.Error, OSError) as error:
        store = Store(folders, inlinetask_min_level, config)
        store.fault = str(error)
        return store
