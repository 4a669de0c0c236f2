"""A store with a database beside it: kept up to date with the notes, and what was counted."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ..config import Config
from ..core.model import Problem
from ..errors import Unreadable
from ..tokens import DEFAULT_ENCODING, count_all, counter
from .connections import Connections
from .counts import (
    MARKS,
    Settings,
    add_counts,
    key_of_folder,
    known_count,
    known_counts,
    mark_texts,
    parts_of,
)
from .database import BUSY_SECONDS
from .roots import Root
from .store import Store

if TYPE_CHECKING:
    from .sync import Progress, Report
    from .writing import Asked

NO_STORE = sqlite3.Error, OSError
"""What is raised where the database cannot be read, written or made."""
WAKE = 500
"""Milliseconds after which watching looks whether it is to stop."""


def fault_of(error: Exception) -> str:
    """What is wrong with the database, in a clause."""
    if isinstance(error, OSError) and error.filename:
        return f"{error.filename}: {error.strerror}"
    return str(error)


class SyncedStore(Store):
    """Notes under some roots, and a database that sync keeps up to date with them.

    fault: why the database cannot be brought up to date; from then on the notes are read.
    """

    def __init__(
        self,
        roots: Iterable[str | Path] | Mapping[str, str],
        file: Path,
        inlinetask_min_level: int | None = None,
        config: Config | None = None,
        is_frozen: bool = False,
        progress: Progress | None = None,
        configs: Mapping[str, Config] | None = None,
    ) -> None:
        """file: where the database is, or is to be. is_frozen: never sync on its own.

        progress: is told of a first sync, which there is now.
        """
        super().__init__(roots, inlinetask_min_level, config, configs)
        self.database, self._is_frozen = file, is_frozen
        self._connections = Connections(file, self._sync)
        self.fault = ""
        if not is_frozen:
            self.fill(progress)

    def fill(self, progress: Progress | None = None) -> bool:
        """Sync if there is a root of which nothing is known. Returns: whether there was.

        Raises: sqlite3.Error or OSError if there can be no database.
        """
        if all(self._id_of(root) is not None for root in self.roots):
            return False
        self.sync(progress=progress, summaries="leave")
        return True

    @property
    def connection(self) -> sqlite3.Connection:
        """This thread's own connection."""
        return self._connections.own

    def sync(
        self,
        is_full: bool = False,
        progress: Progress | None = None,
        summaries: Literal["write", "dry-run", "leave"] = "write",
    ) -> Report:
        """Bring the database up to date with the notes.

        summaries: "write": ask the model that is configured, if any, for those that are due;
            "dry-run": only count what that would cost; "leave" them to another sync.
        Raises: sqlite3.Error. A model that fails is a note in the report.
        """
        total = self._connections.whole(lambda: self._sync(is_full, progress))
        if summaries != "leave":
            self._summarize(total, summaries == "dry-run", progress)
        return total

    def _sync(self, is_full: bool = False, progress: Progress | None = None) -> Report:
        from .sync import Report, sync  # most answers need no sync

        total = Report()
        for root in self.roots:
            settings = self._settings(root)
            connection, memory = self.connection, self._connections.memory
            done = sync(connection, root.folder, settings, is_full, progress, memory)
            total.read += done.read
            total.unchanged += done.unchanged
            total.removed += done.removed
            total.is_changed |= done.is_changed
            total.problems += [
                Problem(root.address(root.folder / each.path), each.line, each.what, each.hint)
                for each in done.problems
            ]
        self._count_marks()
        return total

    def _summarize(self, report: Report, is_dry: bool, progress: Progress | None) -> None:
        """Have a model write the summaries that are due, where one is configured."""
        settings = {root: self._settings(root) for root in self.roots}
        if any(each.config.summaries for each in settings.values()):
            from .writing import write  # only who has a model pays

            def written() -> tuple[Asked, list[str]]:
                ids = ((self._id_of(root), each) for root, each in settings.items())
                known = {id_: each for id_, each in ids if id_ is not None}
                return write(self.connection, known, is_dry, progress)

            report.summaries, notes = self._connections.whole(written)
            report.notes += notes
        elif is_dry:
            report.summaries.is_dry_run = True
            report.notes.append("no model writes summaries: orgctx.toml has no [summaries]")

    def freshen(self, progress: Progress | None = None) -> bool:
        """See Store.freshen."""
        if self._is_frozen or self.fault:  # what was waited for in vain is not waited for again
            return False
        try:
            report = self.sync(progress=progress, summaries="leave")
        except NO_STORE as error:
            self.fault = fault_of(error)
            return True
        return self._connections.have_news() or report.is_changed or bool(report.problems)

    def watch(self, stop: threading.Event | None = None) -> Iterator[Report]:
        """Sync now, and again whenever something changes under the roots, until `stop` is set.

        Returns: the first report, then one for each sync that read or removed something. Ends
            quietly on an interrupt. Any event means only: look again.
        Raises: Unreadable if the package watchfiles is not installed.
        """
        try:
            from watchfiles import watch  # an extra
        except ImportError as error:
            hint = "pip install 'orgctx[watch]'"
            raise Unreadable("watchfiles is not installed", hint, "watchfiles") from error
        yield self.sync(summaries="leave")
        folders, is_first = [root.folder for root in self.roots], True
        events = watch(*folders, stop_event=stop, yield_on_timeout=True, rust_timeout=WAKE)
        try:
            for changes in events:
                if not changes and not is_first:
                    continue
                is_first = False  # what changed before it began to watch is seen at its first wake
                report = self.sync(summaries="leave")
                if report.read or report.removed:
                    yield report
        except KeyboardInterrupt:
            return

    def _settings(self, root: Root) -> Settings:
        config = self.configs[root.name]
        encoding = config.encoding or DEFAULT_ENCODING
        return Settings(config, encoding, self.inlinetask_min_level)

    def _count_marks(self) -> None:
        """Have the counts of the usual omission marks ready, so that no tokenizer is needed."""
        for encoding in {self._settings(root).encoding for root in self.roots}:
            last = mark_texts(MARKS - 1)[-1]
            if known_count(self.connection, encoding, last) is None:
                counts = count_all(mark_texts(), encoding)
                self.connection.execute("BEGIN IMMEDIATE")
                add_counts(self.connection, encoding, counts)
                self.connection.execute("COMMIT")

    def counter(self, unit: str, encoding: str) -> Callable[[str], int]:
        """As tokens.counter, but it knows what was counted before."""
        if unit != "tokens":
            return counter(unit, encoding)
        known: dict[str, int] = {}

        def count(text: str) -> int:
            if text not in known:
                cost = self._known_counts([text], encoding).get(text)
                known[text] = counter("tokens", encoding)(text) if cost is None else cost
            return known[text]

        return count

    def page_counter(self, unit: str, encoding: str) -> Callable[[str], int]:
        """See Store.page_counter; what a line costs is remembered by whoever asks later, too."""
        if unit != "tokens" or self._edited:
            return self.counter(unit, encoding)
        known: dict[str, int] = {}

        def count(text: str) -> int:
            parts = parts_of(text)
            new = dict.fromkeys(part for part in parts if part not in known)
            known.update(self._line_counts(list(new), encoding))
            return sum(known[part] for part in parts)

        return count

    def _line_counts(self, lines: Sequence[str], encoding: str) -> dict[str, int]:
        """What lines cost; the tokenizer is asked for those alone that nobody has asked for."""
        found = self._known_counts(lines, encoding)
        if new := [line for line in lines if line not in found]:
            counted = count_all(new, encoding)
            if not self.fault:
                self._remember(lambda: add_counts(self.connection, encoding, counted))
            found |= counted
        return found

    def _known_counts(self, texts: Sequence[str], encoding: str) -> dict[str, int]:
        """What is remembered of these texts' costs; nothing while the database is at fault."""
        if self.fault:
            return {}
        try:
            return self._connections.whole(lambda: known_counts(self.connection, encoding, texts))
        except NO_STORE as error:
            self.fault = fault_of(error)
            return {}

    def remember_meanings(self, meanings: Mapping[int, bytes]) -> None:
        """See Store.remember_meanings."""
        into = "INSERT OR IGNORE INTO meaning SELECT ?, ? WHERE EXISTS"
        into += " (SELECT 1 FROM node WHERE id = ?)"
        rows = [(node, vectors, node) for node, vectors in meanings.items()]
        self._remember(lambda: self.connection.executemany(into, rows))

    def _remember(self, write: Callable[[], object]) -> None:
        """Keep something, unless the store is busy or may not be written: that costs but time."""
        self.connection.execute("PRAGMA busy_timeout = 0")
        try:
            self.connection.execute("BEGIN IMMEDIATE")
            write()
            self.connection.execute("COMMIT")
        except sqlite3.OperationalError:
            if self.connection.in_transaction:
                self.connection.execute("ROLLBACK")
        finally:
            self.connection.execute(f"PRAGMA busy_timeout = {BUSY_SECONDS * 1000}")

    def _id_of(self, root: Root) -> int | None:
        """The root's row, if it was synced as it would be now."""
        known = "SELECT id FROM root WHERE folder = ? AND settings = ?"
        key = (key_of_folder(root.folder), str(self._settings(root)))
        row = self._connections.whole(lambda: self.connection.execute(known, key).fetchone())
        return int(row[0]) if row else None
