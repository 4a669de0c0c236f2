"""The store with a memory: addresses are look-ups in a database that sync keeps up to date."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial, wraps
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

from ..core.model import Node, Problem, Tree
from . import files
from .ids import OF_IDS, DatabaseIds, EditedIds, Ids
from .link_keys import reaching
from .roots import Root, name_of, place_of
from .store import Fact, File, Folder, Store, matching, with_custom_id
from .synced import NO_STORE, SyncedStore, fault_of
from .words import Words

P = ParamSpec("P")
T = TypeVar("T")
_ID_COUNTS = f"SELECT value, count(*) AS n FROM {OF_IDS} WHERE {{roots}} GROUP BY value"
_SHOWN = "NOT is_private AND hash != x''"
_SIZES = (
    f"SELECT root, count(*), sum(headlines) FROM file WHERE {_SHOWN} AND {{roots}} GROUP BY root"
)
_FILE = "path, title, headlines, mtime, is_active, tokens"
_FOLDER = "path, files, headlines, summary"
_PASSED_OVER = "SELECT root, path, line, what, hint FROM problem WHERE {roots} ORDER BY rowid"
_UNREADABLE, _WITHIN = (
    "SELECT root, path, line, what, hint FROM file_problem JOIN file ON file.id = file_problem.file"
    f" WHERE {lines} AND {{roots}} ORDER BY file_problem.rowid"
    for lines in ("line = 0", "line > 0")
)
_DUPLICATES = (
    f"SELECT root, path, line, 'an ID that another node has too', '' FROM {OF_IDS}"
    f" WHERE {{roots}} AND value IN (SELECT value FROM ({_ID_COUNTS}) WHERE n > 1)"
    " GROUP BY node.id ORDER BY node.id"
)


def looked_up(
    method: Callable[Concatenate[IndexedStore, P], T],
) -> Callable[Concatenate[IndexedStore, P], T]:
    """A look-up in the database as of the last sync; once that is at fault, the notes are read."""
    read: Callable[..., T] = getattr(Store, method.__name__)

    @wraps(method)
    def found(self: IndexedStore, /, *args: P.args, **kwargs: P.kwargs) -> T:
        if not self.fault:
            try:
                return method(self, *args, **kwargs)
            except NO_STORE as error:
                self.fault = fault_of(error)
        return read(self, *args, **kwargs)

    return found


class IndexedStore(SyncedStore):
    """Notes under some roots, known from a database; every text shown is read from its file.

    What the database says is checked against the file that is shown. An address that it does not
    know makes it sync before the answer is no.
    """

    @property
    def paths(self) -> dict[str, Path]:
        """Each note's address and place, as of the last sync."""
        if self.fault:
            return super().paths
        rows = self._query("SELECT root, path FROM file WHERE NOT is_private AND {roots}")
        places = ((root, root.folder / path) for root, path in rows)
        named = sorted((root.address(place), place) for root, place in places)
        return {path: place for path, place in named if self.holds_all(path)}

    @looked_up
    def file(self, name: str) -> str | None:
        """See Store.file; what is spelled as it is stored is one look-up."""
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
        same = [] if is_here else [root.prefix + plain for root in self.roots]
        same += filter(None, [None if is_here else self.below_only_root(plain)])
        if (found := [path for path in same if self.has(path)]) or (
            ".." in place.parts and not os.path.isfile(place)
        ):
            return found
        return [path for path in self.addresses_at(files.real(place)) if self.has(path)]

    @looked_up
    def has(self, path: str) -> bool:
        """Whether this is the address of a note, as of the last sync."""
        if not self.holds_all(path):
            return False
        for root in self.roots:
            inside = root.inside(path)
            if inside is not None and self._query(
                "SELECT root, path FROM file WHERE path = ? AND NOT is_private AND {roots}",
                (os.fsencode(inside),),
                [root],
            ):
                return True
        return False

    @looked_up
    def holders(self, wanted: str) -> list[Node]:
        """The nodes whose ID is `wanted`, else those whose ID begins with it."""
        rows = self._query(
            "SELECT DISTINCT root, path FROM node_id CROSS JOIN node ON node.id = node_id.node"
            " CROSS JOIN file ON file.id = node.file WHERE value >= ? AND value < ? AND {roots}",
            (wanted, wanted + "\U0010ffff"),
        )
        return matching(wanted, self._readable_rows(rows))

    @looked_up
    def with_custom_id(self, wanted: str) -> list[Node]:
        """The nodes with a CUSTOM_ID, in any file."""
        rows = self._query(
            "SELECT DISTINCT root, path FROM node CROSS JOIN file ON file.id = node.file"
            " WHERE custom_id = ? AND {roots}",
            (wanted,),
        )
        return with_custom_id(wanted, self._readable_rows(rows))

    @looked_up
    def linking(self, node: Node) -> list[str]:
        """See Store.linking; as of the last sync."""
        from json import dumps  # only who looks for links needs it

        rows = self._query(
            "SELECT DISTINCT root, path FROM link CROSS JOIN node ON node.id = link.node"
            " CROSS JOIN file ON file.id = node.file"
            " WHERE target IN (SELECT value FROM json_each(?)) AND {roots}",
            (dumps(reaching(node, self.path_inside(node.path))),),
        )
        return self._paths_of(rows)

    @looked_up
    def known_notes(self) -> Callable[[str], bool]:
        """See Store.known_notes."""
        edited = frozenset(filter(self.holds_all, self._edited))
        return lambda path: path in edited or self.has(path)

    @looked_up
    def ids(self) -> Ids:
        """Every ID, as of the last sync."""
        known = DatabaseIds(self._run)
        if not self._edited:
            return known
        nodes = (node for tree in self.readable(self._edited) for node in tree.nodes)
        come = Counter(each for node in nodes for each in {*node.ids})
        return EditedIds(known, self._ids_of_edited(), come)

    def _ids_of_edited(self) -> Counter[str]:
        """The IDs of the notes that an editor has otherwise, as of the last sync."""
        places = filter(None, map(self._place, self._edited))
        statement = f"SELECT value FROM {OF_IDS} WHERE path = ? AND {{roots}}"
        rows = (self._run(statement, (path,), [self._id_of(root)]) for root, path in places)
        return Counter(row[0] for some in rows for row in some)

    @looked_up
    def files(self) -> list[File]:
        """See Store.files; as of the last sync."""
        names = {self._id_of(root): root for root in self.roots}
        rows = self._run(f"SELECT root, {_FILE} FROM file WHERE {_SHOWN} AND {{roots}}")
        found = sorted(self._file(names[root], row) for root, *row in rows)
        return [file for file in found if self.holds_all(file.path)]

    def counted_files(self) -> list[File]:
        """See Store.counted_files; as of the last sync, which has counted them."""
        found = self.files()
        return super().counted_files() if self.fault else found

    def _file(self, root: Root, row: Sequence[Any]) -> File:
        path = _address(root, os.fsdecode(row[0]))
        return File(path, row[1] or name_of(path), row[2], row[3], bool(row[4]), row[5])

    def _place(self, address: str) -> tuple[Root, bytes] | None:
        """The root of an address, and the path in it; None if it begins with no root."""
        root = self._root_named(address)
        return (root, os.fsencode(root.inside(address) or "")) if root else None

    @looked_up
    def folder(self, path: str) -> Folder | None:
        """See Store.folder; as of the last sync."""
        if not (place := self._place(path)):
            return None if self.holds_all(path) else super().folder(path)
        if not self.holds_all(path):
            size = self.words().size_of(self._id_of(place[0]) or 0, place[1])
            return Folder(path, *size, "") if size[0] or path in self.tops else None
        query = "SELECT path, files, headlines, summary FROM folder WHERE path = ? AND {roots}"
        rows = self._run(query, (place[1],), [self._id_of(place[0])])
        if not rows and not place[1]:
            return Folder(path, 0, 0, "")
        return Folder(path, *rows[0][1:]) if rows else None

    @looked_up
    def folders_in(self, path: str, most: int, after: str = "") -> tuple[list[Folder], int]:
        """See Store.folders_in; as of the last sync."""
        if not self.holds_all(path):
            found, more = super().folders_in(path, most, after)
            return [(self.holds_all(f.path) and self.folder(f.path)) or f for f in found], more
        rows, count, root = self._page("folder", "parent", _FOLDER, path, most, after)
        return [Folder(_address(root, os.fsdecode(row[0])), *row[1:]) for row in rows], count

    @looked_up
    def files_in(self, path: str, most: int, after: str = "") -> tuple[list[File], int]:
        """See Store.files_in; as of the last sync."""
        if not self.holds_all(path):
            return super().files_in(path, most, after)
        rows, count, root = self._page("file", "folder", _FILE, path, most, after, f"{_SHOWN} AND")
        return [self._file(root, row) for row in rows], count

    @looked_up
    def facts(self, path: str) -> Iterable[Fact]:
        """See Store.facts; as of the last sync."""
        if not self.holds_all(path):
            return super().facts(path)
        root, inside = self._place(path) or (self.roots[0], b"")
        below = inside + b"/" if inside else b""
        rows = self._run(
            "SELECT root, todo, tags, planned FROM file CROSS JOIN node ON node.file = file.id"
            " WHERE (path = ? OR path >= ? AND path < ?) AND {roots}",
            (inside, below, below[:-1] + b"0" if below else b"\xff" * 2),
            [self._id_of(root)],
        )
        return (Fact(todo, tags.split(), _pairs(planned)) for _, todo, tags, planned in rows)

    def _page(
        self, table: str, key: str, columns: str, path: str, most: int, after: str, but: str = ""
    ) -> tuple[list[tuple[Any, ...]], int, Root]:
        """Rows of a folder in path order behind `after`, and how many there are."""
        root, folder = self._place(path) or (self.roots[0], os.fsencode(path))
        place = self._place(after)
        where = f"FROM {table} WHERE {but} {key} = ? AND path > ? AND {{roots}}"
        values = (folder, place[1] if place else b"")
        ids = [self._id_of(root)]
        [(count,)] = self._run(f"SELECT count(*) {where}", values, ids)
        page = f"ORDER BY path LIMIT {min(most, count)}"  # SQLite takes no number of any size
        rows = self._run(f"SELECT {columns} {where} {page}", values, ids)
        return rows, count, root

    @looked_up
    def words(self) -> Words:
        """See Store.words; as of the last sync."""
        roots = {id_: root for root in self.roots if (id_ := self._id_of(root)) is not None}
        [(others,)] = self._run(f"SELECT count(*) FROM root WHERE id NOT IN ({_marks(roots)})")
        return Words(
            lambda statement, values: self._rows(statement, tuple(values)),
            {id_: partial(_address, root) for id_, root in roots.items()},
            self._scope_paths(),
            is_all=self.scope is None and not others,
        )

    def _scope_paths(self) -> list[tuple[int, str]] | None:
        """The scope as the database knows it."""
        if self.scope is None:
            return None
        places = filter(None, map(self._place, sorted(filter(None, self.scope))))
        return [(self._id_of(root) or 0, os.fsdecode(path)) for root, path in places]

    def problems(self) -> list[Problem]:
        """See Store.problems; looked up, once what changed in the notes is known."""
        self.freshen()
        return super().problems() if self.fault else self.known_problems()

    def known_problems(self) -> list[Problem]:
        """The problems as of the last sync."""
        kinds = (_UNREADABLE, _PASSED_OVER, _WITHIN, _DUPLICATES)
        return [problem for kind in kinds for problem in self._problems(kind)]

    def _problems(self, statement: str) -> list[Problem]:
        """Problems from rows of root, path, line, what and hint, in the order of a walk."""
        order = {self._id_of(root): place for place, root in enumerate(self.roots)}
        rows = [(order[row[0]], os.fsdecode(row[1]), *row[2:]) for row in self._run(statement)]
        rows.sort(key=lambda row: (row[0], row[1].split(os.sep)))
        return [
            Problem(self.roots[at].address(self.roots[at].folder / path), *rest)
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
        return self._rows(statement.format(roots=f"root IN ({_marks(ids)})"), values)

    def _rows(self, statement: str, values: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        return self._connections.whole(
            lambda: self.connection.execute(statement, values).fetchall()
        )

    def _readable_rows(self, rows: Iterable[tuple[Root, str]]) -> Iterator[Tree]:
        """The files of these rows as they are now, and those that an editor has otherwise."""
        return self.readable(self._paths_of(rows))

    def _paths_of(self, rows: Iterable[tuple[Root, str]]) -> list[str]:
        """The addresses of these rows, and of the notes that an editor has otherwise."""
        ordered = sorted(rows, key=lambda row: (row[0].name, row[1]))
        paths = [_address(root, path) for root, path in ordered]
        return sorted({*paths, *self._edited}) if self._edited else paths


def _marks(ids: Iterable[int | None]) -> str:
    """Numbers as SQL lists them; never nothing."""
    return ",".join(str(id_) for id_ in ids if id_ is not None) or "NULL"


def _address(root: Root, path: str) -> str:
    return root.called(path.replace(os.sep, "/"))


def _pairs(words: str) -> list[tuple[str, str]]:
    """Words of a text, two by two."""
    each = iter(words.split())
    return list(zip(each, each, strict=True))
