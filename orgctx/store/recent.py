"""The outlines of files as they were read last, so that a file is parsed once for each text."""

from __future__ import annotations

import threading
from collections import OrderedDict
from weakref import WeakKeyDictionary, WeakValueDictionary

from ..core.model import Tree

MOST = 16 * 2**20
"""Bytes of files whose outlines are kept though nobody has them; memory takes seven times that."""


class Recent:
    """Outlines by path: those that were asked for last, and each that somebody still has.

    So the nodes of an answer stay those of one outline, however many files it goes through. Threads
    may share it.
    """

    def __init__(self, most: int = MOST) -> None:
        """most: bytes of the files whose outlines are kept; at least one is."""
        self._most, self._size = most, 0
        self._kept: OrderedDict[str, tuple[bytes, Tree]] = OrderedDict()
        self._alive: WeakValueDictionary[str, Tree] = WeakValueDictionary()
        self._sources: WeakKeyDictionary[Tree, bytes] = WeakKeyDictionary()
        self._lock = threading.Lock()

    def get(self, path: str, data: bytes) -> Tree | None:
        """The outline of a file, if it was put and these are its bytes."""
        with self._lock:
            tree = self._alive.get(path)
            if tree is None or self._sources[tree] != data:
                return None
            self._keep(path, data, tree)
            return tree

    def put(self, path: str, data: bytes, tree: Tree) -> Tree:
        """Keep the outline of a file. Returns: it, or one that another thread has put meanwhile."""
        with self._lock:
            other = self._alive.get(path)
            if other is not None and self._sources[other] == data:
                return other
            self._alive[path], self._sources[tree] = tree, data
            self._keep(path, data, tree)
            return tree

    def _keep(self, path: str, data: bytes, tree: Tree) -> None:
        before = self._kept.pop(path, None)
        self._size += len(data) - (len(before[0]) if before else 0)
        self._kept[path] = data, tree
        while self._size > self._most and len(self._kept) > 1:
            self._size -= len(self._kept.popitem(last=False)[1][0])
