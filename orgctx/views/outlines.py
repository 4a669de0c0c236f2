"""Every headline of files and folders, as Emacs reads them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ..config import load, users_file
from ..core.model import Problem, Tree
from ..errors import NotFound
from ..store.notes import CHECK
from ..store.roots import is_file, place_of
from ..store.store import Store


class Outlines:
    """The outlines of some files and folders; paths are relative to the current folder.

    passed_over, unreadable: filled while it is walked.
    """

    def __init__(self, paths: Sequence[str], inlinetask_min_level: int | None = None) -> None:
        """Raises: NotFound if one of `paths` is not there, or a folder has no Org files."""
        self.passed_over: list[Problem] = []
        self.unreadable: list[Problem] = []
        self._stores = [_store(path, inlinetask_min_level) for path in paths]

    def __iter__(self) -> Iterator[tuple[str, Tree]]:
        """Each file's path and outline."""
        for store in self._stores:
            passed_over: list[Problem] = []
            unreadable: list[Problem] = []
            for tree in store.trees(passed_over, unreadable):
                yield _from_here(store, tree.path), tree
            self.passed_over += [_named(store, problem) for problem in passed_over]
            self.unreadable += [_named(store, problem) for problem in unreadable]


def _from_here(store: Store, path: str) -> str:
    """The path from the current folder."""
    folder = store.roots[0].folder if store.roots else Path()
    return os.path.relpath(folder / (place_of(path) or path))


def _named(store: Store, problem: Problem) -> Problem:
    return problem._replace(path=_from_here(store, problem.path))


def _store(path: str, inlinetask_min_level: int | None) -> Store:
    place, config = place_of(path), load(users_file(), is_users=True)
    if is_file(path):
        return Store.of_files([path], inlinetask_min_level, config)
    if place is None or not os.path.isdir(place):
        raise NotFound(f"{path}: there is no such file", CHECK, path)
    store = Store([path], inlinetask_min_level, config)
    if not store.paths:
        raise NotFound(f"{path}: no Org files in this folder", "Org files end in .org", path)
    return store


def rows(name: str, tree: Tree) -> Iterator[dict[str, Any]]:
    """A row for each headline: f (file), line, level, todo, pri, title, tags (own), id, cid."""
    for node in tree.nodes[1:]:
        yield {
            "f": name,
            "line": node.first_line,
            "level": node.level,
            "todo": node.todo,
            "pri": node.priority,
            "title": node.title,
            "tags": node.tags,
            "id": node.id,
            "cid": node.custom_id,
        }
