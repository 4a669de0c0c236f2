"""What measurements have in common: time, and the floors that a store is compared with."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable
from pathlib import Path

from orgctx.config import Config
from orgctx.store.counts import Settings
from orgctx.store.database import connect, remove
from orgctx.store.sync import sync

SETTINGS = Settings(Config(), "o200k_base")


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def sync_anew(folder: Path, database: Path) -> None:
    remove(database)
    connection = connect(database)
    sync(connection, folder.resolve(), SETTINGS)
    connection.close()


def reads_and_counts(folder: Path, encode: Callable[[str], list[int]]) -> None:
    for path in folder.rglob("*.org"):
        text = path.read_bytes().decode("utf-8", "replace")
        list(re.finditer(r"^\*+ ", text, re.MULTILINE))
        len(encode(text))


def settle(folder: Path) -> None:
    """Wait until no file changed so shortly ago that it has to be read again to be sure."""
    newest = max(path.stat().st_ctime for path in folder.rglob("*.org"))
    while time.time() < newest + 2.1:
        time.sleep(0.1)


def stats(folder: str) -> None:
    for entry in os.scandir(folder):
        entry.stat(follow_symlinks=False)
        if entry.is_dir(follow_symlinks=False):
            stats(entry.path)
