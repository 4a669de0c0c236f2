"""What an answer asks of the IDs of a memex."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, Protocol

OF_IDS = "node_id CROSS JOIN node ON node.id = node_id.node CROSS JOIN file ON file.id = node.file"
"""The rows of IDs in the database, with their nodes and files."""


class Ids(Protocol):
    """IDs, with what an answer asks of them."""

    def count(self, id_: str) -> int:
        """How many nodes have this ID."""

    def beside(self, id_: str) -> list[str]:
        """The IDs before and after it in the order of characters, if there are such."""

    def __iter__(self) -> Iterator[str]:
        """Each ID once."""


class CountedIds:
    """IDs that were counted."""

    def __init__(self, counts: Counter[str]) -> None:
        self._counts = counts
        self._sorted = sorted(counts)

    def count(self, id_: str) -> int:
        """How many nodes have this ID."""
        return self._counts[id_]

    def beside(self, id_: str) -> list[str]:
        """The IDs before and after it in the order of characters, if there are such."""
        place = bisect_left(self._sorted, id_)
        after = bisect_right(self._sorted, id_)
        return [*self._sorted[max(place - 1, 0) : place], *self._sorted[after : after + 1]]

    def __iter__(self) -> Iterator[str]:
        return iter(self._sorted)


class DatabaseIds:
    """IDs in the database, with what an answer asks of them."""

    def __init__(self, run: Callable[..., list[tuple[Any, ...]]]) -> None:
        """run: (statement with `{roots}`, values) -> rows."""
        self._run = run

    def count(self, id_: str) -> int:
        """How many nodes have this ID."""
        return len(self._rows("value = ?", id_))

    def beside(self, id_: str) -> list[str]:
        """The IDs before and after it in the order of characters, if there are such."""
        before = self._rows("value < ?", id_, "ORDER BY value DESC LIMIT 1")
        return [*before, *self._rows("value > ?", id_, "ORDER BY value LIMIT 1")]

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(self._rows("value >= ?", "", "ORDER BY value")))

    def _rows(self, where: str, value: str, order: str = "") -> list[str]:
        statement = f"SELECT value FROM {OF_IDS} WHERE {where} AND {{roots}} {order}"
        return [row[0] for row in self._run(statement, (value,))]


class EditedIds:
    """IDs in the database, but of some notes those that an editor has in them."""

    def __init__(self, known: Ids, gone: Counter[str], come: Counter[str]) -> None:
        """gone, come: those of these notes in the database, and in the editor."""
        self._known, self._gone, self._come = known, gone, CountedIds(come)

    def count(self, id_: str) -> int:
        """How many nodes have this ID."""
        return self._known.count(id_) - self._gone[id_] + self._come.count(id_)

    def beside(self, id_: str) -> list[str]:
        """The IDs before and after it in the order of characters, of both; some may be gone."""
        return [*self._known.beside(id_), *self._come.beside(id_)]

    def __iter__(self) -> Iterator[str]:
        return (each for each in sorted({*self._known, *self._come}) if self.count(each))
