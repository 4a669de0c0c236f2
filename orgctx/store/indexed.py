"""The store with a memory: addresses are look-ups in a database that sync keeps up to date."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from ..config import Config
from ..core.model import Node, Problem, Tree
from ..errors import OrgctxError, Unreadable
from ..tokens import DEFAULT_ENCODING, counter
from .database import connect, is_damage, remade
from .store import File, Folder, Ids, Root, Store, linked_from, matching, name_of, place_of

if TYPE_CHECKING:
    from .sync import Progress, Report
from .counts import Settings, add_counts, count_all, key_of_folder, known_count, mark_texts

T = TypeVar("T")
WAKE = 500
"""Milliseconds after which watching looks whether it is to stop."""

_OF_IDS = "node_id CROSS JOIN node ON node.id = node_id.node CROSS JOIN file ON file.id = node.file"
_ID_COUNTS = f"SELECT value, count(*) AS n FROM {_OF_IDS} WHERE {{roots}} GROUP BY value"
_SIZES = (
    "SELECT root, count(*), sum(headlines) FROM file"
    " WHERE NOT is_private AND hash != x'' AND {roots} GROUP BY root"
)
_SHOWN = "NOT is_private AND hash != x''"
_FILE = "path, title, headlines, mtime, is_active, tokens"
_FOLDER = "path, files, headlines, summary"
_PASSED_OVER = "SELECT root, path, line, what, hint FROM problem WHERE {roots} ORDER BY rowid"
_UNREADABLE, _WITHIN = (
    "SELECT root, path, line, what, hint FROM file_problem JOIN file ON file.id = file_problem.file"
    f" WHERE {lines} AND {{roots}} ORDER BY file_problem.rowid"
    for lines in ("line = 0", "line > 0")
)
_DUPLICATES = (
    f"SELECT root, path, line, 'an ID that another node has too', '' FROM {_OF_IDS}"
    f" WHERE {{roots}} AND value IN (SELECT value FROM ({_ID_COUNTS}) WHERE n > 1)"
    " GROUP BY node.id ORDER BY node.id"
)


class IndexedStore(Store):
    """Notes under some roots, known from a database; every text shown is read from its file.

    fault: why the database cannot be brought up to date; from then on the notes are read.

    What the database says is checked against the file that is shown. An address that it does not
    know makes it sync before the answer is no.
    """

    def __init__(
        self,
        roots: Iterable[str | Path] | Mapping[str, str],
        file: Path,
        inlinetask_min_level: int | None = None,
        config: Config | None = None,
        is_frozen: bool = False,
    ) -> None:
        """file: where the database is, or is to be. is_frozen: never sync on its own."""
        super().__init__(roots, inlinetask_min_level, config)
        self.database, self._is_frozen = file, is_frozen
        self._local = threading.local()
        self.fault = ""
        if not is_frozen and any(self._id_of(root) is None for root in self.roots):
            self.sync(summaries="leave")

    @property
    def connection(self) -> sqlite3.Connection:
        """This thread's own connection."""
        if not hasattr(self._local, "connection"):
            self._keep(connect(self.database))
        connection: sqlite3.Connection = self._local.connection
        return connection

    def _keep(self, connection: sqlite3.Connection) -> None:
        self._local.connection = connection
        self._local.inode = self.database.stat().st_ino
        self._has_others_changes()

    def _whole(self, work: Callable[[], T]) -> T:
        """Do something with the database; if that is found to be damaged, with one made anew."""
        try:
            return work()
        except sqlite3.DatabaseError as error:
            if not is_damage(error):
                raise
        self.connection.close()
        self._keep(remade(self.database, self._local.inode))
        self._sync()
        return work()

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
        total = self._whole(lambda: self._sync(is_full, progress))
        if summaries != "leave":
            self._summarize(total, summaries == "dry-run", progress)
        return total

    def _sync(self, is_full: bool = False, progress: Progress | None = None) -> Report:
        from .sync import Report, sync  # most answers need no sync

        total = Report()
        for root in self.roots:
            settings = self._settings(root)
            done = sync(self.connection, root.folder, settings, is_full, progress)
            total.read += done.read
            total.unchanged += done.unchanged
            total.removed += done.removed
            total.is_changed |= done.is_changed
            total.problems += [
                Problem(self._name(root, root.folder / each.path), each.line, each.what, each.hint)
                for each in done.problems
            ]
        self._count_marks()
        return total

    def _summarize(self, report: Report, is_dry: bool, progress: Progress | None) -> None:
        """Have a model write the summaries that are due, where one is configured."""
        settings = {self._id_of(root): self._settings(root) for root in self.roots}
        if any(each.config.summaries for each in settings.values()):
            from .writing import write  # only who has a model pays

            known = {id_: each for id_, each in settings.items() if id_ is not None}
            report.summaries, notes = write(self.connection, known, is_dry, progress)
            report.notes += notes
        elif is_dry:
            report.summaries.is_dry_run = True
            report.notes.append("no model writes summaries: orgctx.toml has no [summaries]")

    def freshen(self) -> bool:
        """See Store.freshen."""
        if self._is_frozen:
            return False
        try:
            report = self.sync(summaries="leave")
        except sqlite3.Error as error:
            self.fault = str(error)
            return True
        return self._has_others_changes() or report.is_changed or bool(report.problems)

    def _has_others_changes(self) -> bool:
        """Whether somebody else has written since this was asked last: it may be news to us."""
        [(version,)] = self._local.connection.execute("PRAGMA data_version").fetchall()
        known, self._local.version = getattr(self._local, "version", None), version
        return bool(version != known)

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
        for changes in watch(
            *folders,
            stop_event=stop,
            raise_interrupt=False,
            yield_on_timeout=True,
            rust_timeout=WAKE,
        ):
            if not changes and not is_first:
                continue
            is_first = False  # what changed before it began to watch is seen at its first wake
            report = self.sync(summaries="leave")
            if report.read or report.removed:
                yield report

    def _settings(self, root: Root) -> Settings:
        config = self.configs[root.name]
        encoding = config.encoding or DEFAULT_ENCODING
        return Settings(config, encoding, self.inlinetask_min_level)

    def _count_marks(self) -> None:
        """Have the counts of the usual omission marks ready, so that no tokenizer is needed."""
        for encoding in {self._settings(root).encoding for root in self.roots}:
            texts = mark_texts()
            if known_count(self.connection, encoding, texts[-1]) is None:
                counts = count_all(texts, encoding)
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
                cost = self._whole(lambda: known_count(self.connection, encoding, text))
                known[text] = counter("tokens", encoding)(text) if cost is None else cost
            return known[text]

        return count

    @property
    def paths(self) -> dict[str, Path]:
        """Each note's address and place, as of the last sync."""
        if self.fault:
            return super().paths
        rows = self._query("SELECT root, path FROM file WHERE NOT is_private AND {roots}")
        places = ((root, root.folder / path) for root, path in rows)
        return dict(sorted((self._name(root, place), place) for root, place in places))

    def file(self, name: str) -> str | None:
        """See Store.file; what is spelled as it is stored is one look-up."""
        if self.fault:
            return super().file(name)
        if self.has(name):
            return name
        place = place_of(name)
        if not name.isascii() or place is None:
            return super().file(name)
        here = self._by_name_or_place(name, place)
        return here[0] if len(here) == 1 else super().file(name) if here else None

    def _by_name_or_place(self, name: str, place: Path) -> list[str]:
        """Addresses of files with this path inside their root, else of the file at `place`."""
        plain = name.removeprefix("./")
        is_here = name.startswith(".") and os.path.isfile(place)
        prefixes = [f"{root.name}/" if len(self.roots) > 1 else "" for root in self.roots]
        same = [] if is_here else [prefix + plain for prefix in prefixes]
        if (found := [path for path in same if self.has(path)]) or (
            ".." in place.parts and not os.path.isfile(place)
        ):
            return found
        real = Path(os.path.realpath(place))
        inside = (self._name(r, real) for r in self.roots if real.is_relative_to(r.folder))
        return [path for path in inside if self.has(path)]

    def has(self, path: str) -> bool:
        """Whether this is the address of a note, as of the last sync."""
        if self.fault:
            return super().has(path)
        for root in self.roots:
            prefix = f"{root.name}/" if len(self.roots) > 1 else ""
            if path.startswith(prefix) and self._query(
                "SELECT root, path FROM file WHERE path = ? AND NOT is_private AND {roots}",
                (os.fsencode(path.removeprefix(prefix)),),
                [root],
            ):
                return True
        return False

    def holders(self, wanted: str) -> list[Node]:
        """The nodes whose ID is `wanted`, else those whose ID begins with it."""
        if self.fault:
            return super().holders(wanted)
        rows = self._query(
            "SELECT DISTINCT root, path FROM node_id CROSS JOIN node ON node.id = node_id.node"
            " CROSS JOIN file ON file.id = node.file WHERE value >= ? AND value < ? AND {roots}",
            (wanted, wanted + "\U0010ffff"),
        )
        return matching(wanted, self._readable(rows))

    def with_custom_id(self, wanted: str) -> list[Node]:
        """The nodes with a CUSTOM_ID, in any file."""
        if self.fault:
            return super().with_custom_id(wanted)
        rows = self._query(
            "SELECT DISTINCT root, path FROM node CROSS JOIN file ON file.id = node.file"
            " WHERE custom_id = ? AND {roots}",
            (wanted,),
        )
        return [n for tree in self._readable(rows) for n in tree.nodes if n.custom_id == wanted]

    def linking(self, wanted: str) -> list[Node]:
        """See Store.linking; what links to it as of the last sync."""
        if self.fault:
            return super().linking(wanted)
        rows = self._query(
            "SELECT DISTINCT root, path FROM link CROSS JOIN node ON node.id = link.node"
            " CROSS JOIN file ON file.id = node.file WHERE target = ? AND {roots}",
            (wanted,),
        )
        return linked_from(wanted, self._readable(rows))

    def ids(self) -> Ids:
        """Every ID, as of the last sync."""
        if self.fault:
            return super().ids()
        return DatabaseIds(self._query)

    def files(self) -> list[File]:
        """See Store.files; as of the last sync."""
        if self.fault:
            return super().files()
        names = {self._id_of(root): root for root in self.roots}
        rows = self._run(f"SELECT root, {_FILE} FROM file WHERE {_SHOWN} AND {{roots}}")
        return sorted(self._file(names[root], row) for root, *row in rows)

    def _file(self, root: Root, row: Sequence[Any]) -> File:
        path = self._address(root, row[0])
        return File(path, row[1] or name_of(path), row[2], row[3], bool(row[4]), row[5])

    def _address(self, root: Root, path: bytes) -> str:
        """What addresses call a file or a folder of a root; "" for the only root."""
        name = os.fsdecode(path)
        return "/".join(filter(None, (root.name, name))) if len(self.roots) > 1 else name

    def _inside(self, address: str) -> tuple[Root, bytes] | None:
        """The root of an address, and the path in it; None if it begins with no root."""
        name, _, path = address.partition("/") if len(self.roots) > 1 else ("", "", address)
        root = next((each for each in self.roots if name in ("", each.name)), None)
        return (root, os.fsencode(path)) if root else None

    def folder(self, path: str) -> Folder | None:
        """See Store.folder; as of the last sync."""
        if self.fault:
            return super().folder(path)
        if not (place := self._inside(path)):
            return None
        query = "SELECT path, files, headlines, summary FROM folder WHERE path = ? AND {roots}"
        rows = self._run(query, (place[1],), [self._id_of(place[0])])
        if not rows and not place[1]:
            return Folder(path, 0, 0, "")
        return Folder(path, *rows[0][1:]) if rows else None

    def folders_in(self, path: str, most: int, after: str = "") -> tuple[list[Folder], int]:
        """See Store.folders_in; as of the last sync."""
        if self.fault:
            return super().folders_in(path, most, after)
        rows, count, root = self._page("folder", "parent", _FOLDER, path, most, after)
        return [Folder(self._address(root, row[0]), *row[1:]) for row in rows], count

    def files_in(self, path: str, most: int, after: str = "") -> tuple[list[File], int]:
        """See Store.files_in; as of the last sync."""
        if self.fault:
            return super().files_in(path, most, after)
        rows, count, root = self._page("file", "folder", _FILE, path, most, after, f"{_SHOWN} AND")
        return [self._file(root, row) for row in rows], count

    def _page(
        self, table: str, key: str, columns: str, path: str, most: int, after: str, but: str = ""
    ) -> tuple[list[tuple[Any, ...]], int, Root]:
        """Rows of a folder in path order behind `after`, and how many there are."""
        root, folder = self._inside(path) or (self.roots[0], os.fsencode(path))
        place = self._inside(after)
        where = f"FROM {table} WHERE {but} {key} = ? AND path > ? AND {{roots}}"
        values = (folder, place[1] if place else b"")
        ids = [self._id_of(root)]
        [(count,)] = self._run(f"SELECT count(*) {where}", values, ids)
        rows = self._run(f"SELECT {columns} {where} ORDER BY path LIMIT {most}", values, ids)
        return rows, count, root

    def problems(self) -> list[Problem]:
        """See Store.problems; looked up, once what changed in the notes is known."""
        self.freshen()
        if self.fault:
            return super().problems()
        kinds = (_UNREADABLE, _PASSED_OVER, _WITHIN, _DUPLICATES)
        return [problem for kind in kinds for problem in self._problems(kind)]

    def _problems(self, statement: str) -> list[Problem]:
        """Problems from rows of root, path, line, what and hint, in the order of a walk."""
        order = {self._id_of(root): place for place, root in enumerate(self.roots)}
        rows = [(order[row[0]], os.fsdecode(row[1]), *row[2:]) for row in self._run(statement)]
        rows.sort(key=lambda row: (row[0], row[1].split(os.sep)))
        return [
            Problem(self._name(self.roots[at], self.roots[at].folder / path), *rest)
            for at, path, *rest in rows
        ]

    def sizes(self) -> dict[str, tuple[int, int]]:
        """By root, how many notes may be shown and how many headlines, as of the last sync."""
        names = {self._id_of(root): root.name for root in self.roots}
        rows = {names[id_]: (files, headlines) for id_, files, headlines in self._run(_SIZES)}
        return {root.name: rows.get(root.name, (0, 0)) for root in self.roots}

    def id_totals(self) -> tuple[int, int]:
        """How many IDs there are, and how many of them several nodes have, as of the last sync."""
        [(ids, shared)] = self._run(f"SELECT count(*), count(nullif(n > 1, 0)) FROM ({_ID_COUNTS})")
        return ids, shared

    def _id_of(self, root: Root) -> int | None:
        """The root's row, if it was synced as it would be now."""
        known = "SELECT id FROM root WHERE folder = ? AND settings = ?"
        key = (key_of_folder(root.folder), str(self._settings(root)))
        row = self._whole(lambda: self.connection.execute(known, key).fetchone())
        return int(row[0]) if row else None

    def _query(
        self,
        statement: str,
        values: tuple[str | bytes, ...] = (),
        roots: Iterable[Root] | None = None,
    ) -> list[tuple[Root, str]]:
        """Rows of a statement whose first column is `root`, which is given back as a Root."""
        known = {self._id_of(root): root for root in roots or self.roots}
        rows = self._run(statement, values, known)
        return [(known[root], os.fsdecode(value)) for root, value in rows]

    def _run(
        self,
        statement: str,
        values: tuple[str | bytes, ...] = (),
        roots: Iterable[int | None] | None = None,
    ) -> list[tuple[Any, ...]]:
        """Rows of a statement, in which `{roots}` says that `root` is one of these, or of ours."""
        ids = map(self._id_of, self.roots) if roots is None else roots
        marks = ",".join(str(id_) for id_ in ids if id_ is not None) or "NULL"
        named = statement.format(roots=f"root IN ({marks})")
        return self._whole(lambda: self.connection.execute(named, values).fetchall())

    def _readable(self, rows: Iterable[tuple[Root, str]]) -> Iterable[Tree]:
        """The files of these rows as they are now; one that is gone is no answer."""
        for root, path in sorted(rows, key=lambda row: (row[0].name, row[1])):
            try:
                yield self.tree(self._name(root, root.folder / path))
            except OrgctxError:
                continue


class DatabaseIds:
    """IDs in the database, with what an answer asks of them."""

    def __init__(self, query: Callable[..., list[tuple[Root, str]]]) -> None:
        self._query = query

    def count(self, id_: str) -> int:
        """How many nodes have this ID."""
        return len(self._rows("value = ?", id_))

    def beside(self, id_: str) -> list[str]:
        """The IDs before and after it in the order of characters, if there are such."""
        before = self._rows("value < ?", id_, "ORDER BY value DESC LIMIT 1")
        after = self._rows("value > ?", id_, "ORDER BY value LIMIT 1")
        return [value for _, value in (*before, *after)]

    def __iter__(self) -> Iterator[str]:
        found = self._rows("value >= ?", "", "ORDER BY value")
        return iter(dict.fromkeys(value for _, value in found))

    def _rows(self, where: str, value: str, order: str = "") -> list[tuple[Root, str]]:
        return self._query(
            "SELECT root, value FROM node_id CROSS JOIN node ON node.id = node_id.node"
            f" CROSS JOIN file ON file.id = node.file WHERE {where} AND {{roots}} {order}",
            (value,),
        )
