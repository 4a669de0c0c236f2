"""Connections to the store's file: one a thread, and to a new file in place of a damaged one."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from .database import connect, is_damage, remade

if TYPE_CHECKING:
    from .memory import Memory

T = TypeVar("T")


class Connections:
    """The connections of all threads, each made when its thread wants it."""

    def __init__(self, file: Path, fill: Callable[[], object]) -> None:
        """file: where the store is, or is to be. fill: what fills one that was made anew."""
        self._file, self._fill = file, fill
        self._local = threading.local()

    @property
    def own(self) -> sqlite3.Connection:
        """This thread's connection."""
        if not hasattr(self._local, "connection"):
            self._keep(connect(self._file))
        connection: sqlite3.Connection = self._local.connection
        return connection

    @property
    def memory(self) -> Memory:
        """What this thread's connection knew of files when it synced last."""
        if self._local.memory is None:
            from .memory import Memory  # only a sync needs it

            self._local.memory = Memory()
        memory: Memory = self._local.memory
        return memory

    def _keep(self, connection: sqlite3.Connection) -> None:
        self._local.connection, self._local.memory = connection, None
        self._local.inode = self._file.stat().st_ino
        self.have_news()

    def have_news(self) -> bool:
        """Whether somebody else has written since this thread asked last."""
        [(version,)] = self._local.connection.execute("PRAGMA data_version").fetchall()
        known, self._local.version = getattr(self._local, "version", None), version
        return bool(version != known)

    def whole(self, work: Callable[[], T]) -> T:
        """Do something with the store; if that is found to be damaged, with one made anew."""
        try:
            return work()
        except sqlite3.DatabaseError as error:
            if not is_damage(error):
                raise
        self.own.close()
        self._keep(remade(self._file, self._local.inode))
        self._fill()
        return work()
