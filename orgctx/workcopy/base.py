"""What a copy was made from: each note as it was then, and how to tell whether it changed.

The texts stand one behind the other in one file, which only grows; a table says where each is.
One large file takes a small part of the time of thousands of small ones.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import Unreadable
from ..store.files import revision_of
from ..store.signature import Signature, is_settled, signature

TICKS = 40
"""Milliseconds until the clock of any file system that is not very coarse has ticked."""


class Damaged(Unreadable):
    """A copy of which cannot be said any more what was edited in it."""


class Row(NamedTuple):
    """A note as the copy got it.

    start, size: of its bytes in the file of all texts. revision: what git calls them.
    source: what git calls the note's own bytes, which are others where something is not shown.
    note, copy: the signatures of the note and of the copy's file.
    is_settled: whether the note's tells every change; the copy's does, see `Base.changing`.
    """

    start: int
    size: int
    revision: str
    source: str
    note: Signature
    copy: Signature
    is_settled: bool


class Base:
    """The base of a copy, by the addresses of its notes."""

    def __init__(self, folder: Path) -> None:
        """folder: the copy's. Raises: Damaged."""
        self._texts, self._table = folder / "base", folder / "base.json"
        self._next = folder / "next.json"
        self.rows = _read(self._table)

    def resolve(self, revision: Callable[[str], str | None]) -> None:
        """Find out how far somebody came who announced changes and was killed.

        revision: (path) -> what git calls the copy's file now; None if there is none.
        """
        announced = _read(self._next)
        if not self._next.exists():
            return
        for path in {*self.rows, *announced}:
            row, new = self.rows.get(path), announced.get(path)
            if row != new and revision(path) == (new.revision if new else None):
                self.set(path, new)

    def data(self, path: str) -> bytes | None:
        """A note as the copy got it; None if it did not. Raises: Damaged if that is lost."""
        if (row := self.rows.get(path)) is None:
            return None
        with open(self._texts, "rb") as file:
            file.seek(row.start)
            data = file.read(row.size)
        if revision_of(data) != row.revision:
            raise _damaged(self._texts)
        return data

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Add to the base, or take from it; what was done is kept when this ends well.

        The table's time says when that was last. It ends in a later tick than the last file was
        written, so that whoever writes it next changes its signature.
        """
        self._last, before = 0, dict(self.rows)
        with open(self._texts, "ab", opener=_for_owner) as self._file:
            yield
        if self.rows != before or not self._table.exists() or self._next.exists():
            self._save(self._table)
            self._next.unlink(missing_ok=True)
        os.utime(self._table)

    def announce(self) -> None:
        """Say what the base will be, before the copy's files become it; only in `changing`.

        Else, of whoever is killed in between, a file that was brought up to date would look like
        one that was edited.
        """
        self._file.flush()
        self._save(self._next)

    def _save(self, table: Path) -> None:
        temporary = table.with_suffix(".new")
        with open(temporary, "w", encoding="ascii", opener=_for_owner) as file:
            file.write(json.dumps(self.rows, separators=(",", ":")))
        _wait_for_tick(temporary, self._last)
        os.replace(temporary, table)

    def add(
        self,
        path: str,
        data: bytes,
        source: str,
        note: os.stat_result | None,
        copy: os.stat_result | None,
    ) -> None:
        """Note what a copy got, and from where; only in `changing`.

        data: the bytes that the copy got. source: what git calls the note's; "" if that is the
            same. note, copy: None if it has to be looked at again.
        """
        start = self._file.tell()
        self._file.write(data)
        self._last = max(self._last, copy.st_ctime_ns if copy else 0)
        revision = revision_of(data)
        names = revision, source or revision
        self.rows[path] = Row(start, len(data), *names, signature(None), signature(copy), False)
        self.touch(path, note)

    def touch(self, path: str, note: os.stat_result | None) -> None:
        """Note that a note is what it was, though its signature is another."""
        marks = signature(note)
        row = self.rows[path]._replace(note=marks, is_settled=is_settled(marks, time.time_ns()))
        self.rows[path] = row

    def set(self, path: str, row: Row | None) -> None:
        """Have a row for a note, or none."""
        self.rows.pop(path, None)
        if row:
            self.rows[path] = row


def _read(table: Path) -> dict[str, Row]:
    """The rows of a table; none if it is not there. Raises: Damaged."""
    try:
        found = json.loads(table.read_bytes()) if table.exists() else {}
        return {path: _row(*values) for path, values in found.items()}
    except (ValueError, TypeError, AttributeError) as error:
        raise _damaged(table) from error


def _row(
    start: int, size: int, revision: str, source: str, note: Any, copy: Any, settled: bool
) -> Row:
    return Row(start, size, revision, source, tuple(note), tuple(copy), settled)


def _wait_for_tick(file: Path, last: int) -> None:
    """Wait until the file's clock shows a later time, in nanoseconds."""
    for _ in range(TICKS):
        if file.stat().st_ctime_ns > last:
            return
        time.sleep(0.001)
        os.utime(file)


def _for_owner(place: str, flags: int) -> int:
    return os.open(place, flags, 0o600)


def _damaged(place: Path) -> Damaged:
    hint = "save what you need of the copy's files, and discard it"
    return Damaged(f"{place}: damaged", hint, str(place))
