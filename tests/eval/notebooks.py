"""The notes that are looked at: each folder is one notebook, opened as one memex."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from orgctx import Memex, open_memex
from orgctx.core.model import Node, Tree
from orgctx.errors import NotFound, OrgctxError

from .bm25 import Index, entries, passages


@dataclass(frozen=True)
class Notebook:
    """A folder of notes. trees: its files as they were when it was opened."""

    folder: Path
    memex: Memex
    trees: list[Tree]

    @property
    def headlines(self) -> list[Node]:
        return [node for tree in self.trees for node in tree.nodes[1:]]

    @cached_property
    def lines(self) -> Counter[str]:
        """How often each line stands in the notes, blanks around it aside."""
        return Counter(line.strip() for tree in self.trees for line in tree.text.split("\n"))

    @cached_property
    def titles(self) -> Counter[str]:
        return Counter(node.title for node in self.headlines)

    @cached_property
    def passages(self) -> Index:
        """Passages of entries for BM25."""
        return Index(passages(self.trees))

    @cached_property
    def entries(self) -> Index:
        """Whole entries for BM25."""
        return Index(entries(self.trees))

    def with_id(self, wanted: str) -> Iterator[Node]:
        for tree in self.trees:
            if wanted in tree.text:
                yield from (node for node in tree.nodes if wanted in node.ids)


def opened(folder: Path) -> Notebook:
    """A folder of notes. Raises: NotFound if there is none, or no headline in it."""
    memex = open_memex(folder)
    found = Notebook(folder, memex, list(memex._store.trees()))
    if not found.headlines:
        raise NotFound(f"{folder}: no headline is there to ask for", "name a folder of notes")
    return found


def notebooks_in(corpora: Path) -> Iterable[Notebook]:
    """Each folder of the corpora that holds notes."""
    for folder in sorted(each for each in corpora.iterdir() if each.is_dir()):
        with suppress(OrgctxError):
            yield opened(folder)


def address(node: Node) -> str:
    """Where a node stands, as an editor knows it."""
    return f"{node.path}:{node.first_line}" if node.level else node.path
