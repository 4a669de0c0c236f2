"""A copy's notes as a store, so that every question is answered from the copy."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from secrets import token_hex

from ..config import load, users_file
from ..store.counts import key_of_folder
from ..store.database import VERSION
from ..store.indexed import IndexedStore
from ..store.opening import database_file
from ..store.store import Store
from ..store.synced import fault_of
from .checkout import Checkout, folders_by_name


def store_of(checkout: Checkout, level: int | None = None, is_frozen: bool = False) -> Store:
    """The notes in a copy; their settings are those of the notes that they were made from.

    Links lead to what is in the copy where in the notes they lead to what that was made from.

    level: headlines this deep or deeper are text; None: none are.
    is_frozen: answer from what is known, without looking for changes first.
    """
    store = _opened(checkout, level, is_frozen)
    store.homes = checkout.roots
    return store


def _opened(checkout: Checkout, level: int | None, is_frozen: bool) -> Store:
    roots = folders_by_name(checkout.copied)
    config, configs = load(users_file(), is_users=True), checkout.configs
    file = checkout.place / "memex.sqlite"
    try:
        if not file.exists():
            _seed(checkout, file)
        return IndexedStore(roots, file, level, config, is_frozen, configs=configs)
    except (sqlite3.Error, OSError) as error:
        store = Store(roots, level, config, configs)
        store.fault = fault_of(error)
        return store


def _seed(checkout: Checkout, file: Path) -> None:
    """Begin with what is known of the notes: then only what differs has to be read and counted.

    A first answer from ten thousand notes takes a tenth of the time with this.
    """
    known, new = database_file(), file.with_suffix(f".{token_hex(4)}")
    if not known.exists():
        return
    try:
        with closing(sqlite3.connect(new)) as target:
            new.chmod(0o600)
            with closing(sqlite3.connect(f"{known.as_uri()}?mode=ro", uri=True)) as source:
                if not _is_known(source, checkout):
                    return
                source.backup(target)
            for root, copied in zip(checkout.roots, checkout.copied, strict=True):
                folders = key_of_folder(copied.folder), key_of_folder(root.folder)
                target.execute("UPDATE root SET folder = ? WHERE folder = ?", folders)
            target.commit()
        os.replace(new, file)
    except sqlite3.Error:  # it is read from the copy then
        return
    finally:
        with suppress(FileNotFoundError):
            new.unlink()


def _is_known(source: sqlite3.Connection, checkout: Checkout) -> bool:
    """Whether a database, of this version, has the notes."""
    if source.execute("PRAGMA user_version").fetchone()[0] != VERSION:
        return False
    query = "SELECT EXISTS (SELECT 1 FROM root WHERE folder = ?)"
    keys = (key_of_folder(root.folder) for root in checkout.roots)
    return all(source.execute(query, (key,)).fetchone()[0] for key in keys)
