"""A copy on the disk: its files, what they were made from, and the notes that they are of."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from tempfile import mkdtemp

from ..config import Config, load, users_file
from ..core.model import Problem
from ..errors import BadArgument, NotFound, OrgctxError, Stale
from ..store import files
from ..store.roots import Root
from ..store.store import Store
from .base import Base, Damaged
from .changes import Change, changes
from .confined import Files, Note
from .copying import Copying, shown
from .history import History
from .record import Outcome
from .state import State

FILES = "notes"
VERSION = 1


class Checkout:
    """A copy that is there; whoever changes it has the lock.

    id: its name. place: its folder, in which are `copy.json`, the base, and the files in FILES.
    roots: those of the notes. copied: the same in the copy.
    notes, files: those under the roots, and those of the copy.
    """

    def __init__(self, copy_id: str, place: Path) -> None:
        """Raises: Damaged; BadArgument if there is another copy in its place."""
        self.id, self.place = copy_id, place
        try:
            about = json.loads((place / "copy.json").read_bytes())
            self.roots = recorded(about["roots"])
            known_as, version = about["id"], about["version"]
            if version != VERSION:
                raise ValueError(version)
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            hint = "save what you need of its files, and discard it"
            raise Damaged(f"copy {copy_id}: damaged", hint, str(place)) from error
        if known_as != copy_id:
            what = f"copy {copy_id}: this disk takes {known_as} for the same name"
            raise BadArgument(what, "give another name", "copy")
        self.copied = tuple(r._replace(folder=place / FILES / r.name) for r in self.roots)
        for root in self.copied:
            if not files.is_real(root.folder) or not root.folder.is_dir():
                hint = "discard it, and open it again"
                raise Damaged(f"copy {copy_id}: its folder is gone", hint, str(root.folder))
        self.notes, self.files = Files(self.roots), Files(self.copied)

    @cached_property
    def base(self) -> Base:
        """What the files were made from; who only reads them does without.

        Raises: Damaged.
        """
        found = Base(self.place)
        found.resolve(self._revision)
        return found

    def _revision(self, path: str) -> str | None:
        return self._copied(path).revision

    @cached_property
    def store(self) -> Store:
        """The notes. Raises: NotFound if a root is not there any more; BadConfig."""
        return Store(folders_by_name(self.roots), config=load(users_file(), is_users=True))

    @property
    def configs(self) -> Mapping[str, Config]:
        """What holds in each root; where a root is gone, nothing is known of it."""
        try:
            return self.store.configs
        except NotFound:
            return {root.name: Config() for root in self.roots}

    @classmethod
    def make(cls, state: State, copy_id: str, store: Store) -> tuple[Checkout, list[Problem]]:
        """Make a copy of the notes as they are now, at once and whole.

        Returns: it, and what was passed over.
        """
        new = Path(mkdtemp(prefix=".new-", dir=state.copies))
        about = {"version": VERSION, "id": copy_id, "roots": folders_by_name(store.roots)}
        (new / "copy.json").write_text(json.dumps(about), encoding="ascii")
        copied = tuple(r._replace(folder=new / FILES / r.name) for r in store.roots)
        for root in copied:
            root.folder.mkdir(parents=True, mode=0o700)
        copying = Copying(store, Base(new), copied)
        copying.make()
        os.rename(new, place := state.place(copy_id))
        return cls(copy_id, place), copying.problems

    @property
    def folder(self) -> Path:
        """Where to work: the address of a note is its path from here."""
        return self.copied[0].folder if len(self.roots) == 1 else self.place / FILES

    def tags(self, path: str) -> frozenset[str]:
        """The tags that are private where a note is."""
        root, _ = self.notes.root(path)
        return self.store.configs[root.name].private_tags

    def refresh(self) -> list[Problem]:
        """Bring what nobody edited up to date with the notes. Returns: what was passed over."""
        copying = Copying(self.store, self.base, self.copied)
        copying.refresh()
        return copying.problems

    def changes(self) -> list[Change]:
        """What was edited."""
        return changes(self.base, self.copied, self.configs)

    def settle(self, outcomes: tuple[Outcome, ...], history: History) -> None:
        """Have the files that are in the notes now as they are there, and base them on that.

        What was edited since it was committed stays, based on what was committed.
        """
        with self.base.changing():
            for each in outcomes:
                if not each.is_held:
                    self._settle(each, history)

    def _settle(self, outcome: Outcome, history: History) -> None:
        path, ours = outcome.path, _version(history, outcome.ours)
        kept = result = _version(history, outcome.result)
        if result is not None:
            kept = shown(result, path, self.tags(path))
        note = self.notes.read(path)
        try:
            copy = self._become(path, (ours, kept), note)
        except Stale:
            self._rebase(path, ours, "", None, None)
            return
        found = note.found if note.revision == outcome.result else None
        self._rebase(path, kept, outcome.result or "", found, copy)

    def _become(
        self, path: str, versions: tuple[bytes | None, bytes | None], note: Note
    ) -> os.stat_result | None:
        """Have the last of two versions in a file that has one of them, as old as its note.

        Raises: Stale if it has neither of them: it was edited.
        """
        self.files.sweep(path)
        before, data = self._copied(path), versions[-1]
        if before.data not in versions:
            raise Stale(f"{path}: it was edited", where=path)
        if before.data == data:
            return before.found
        mtime = note.found.st_mtime_ns if note.found else None
        return self.files.write(path, data, mtime=mtime, before=before)

    def _copied(self, path: str) -> Note:
        """A file of the copy; of what was put in its place and is no file, nothing."""
        try:
            return self.files.read(path)
        except OrgctxError:
            return Note()

    def _rebase(
        self,
        path: str,
        data: bytes | None,
        source: str,
        note: os.stat_result | None,
        copy: os.stat_result | None,
    ) -> None:
        if data is None:
            self.base.rows.pop(path, None)
        else:
            self.base.add(path, data, source, note, copy)

    def used(self, edits: Iterable[Change]) -> float:
        """When somebody last opened, edited or committed it, in seconds since 1970.

        edits: its changes.
        """
        times = [(self.place / "base.json").stat().st_mtime]
        for each in edits:
            found = self.files.read(each.path).found if each.ours is not None else None
            times += [found.st_mtime] if found else []
        return max(times)


def folders_by_name(roots: Iterable[Root]) -> dict[str, str]:
    """The roots as they are written down: name -> folder."""
    return {root.name: str(root.folder) for root in roots}


def recorded(folders: Mapping[str, str]) -> tuple[Root, ...]:
    """The reverse of `folders_by_name`."""
    is_alone = len(folders) == 1
    return tuple(
        Root(name, Path(folder), "" if is_alone else f"{name}/") for name, folder in folders.items()
    )


def _version(history: History, revision: str | None) -> bytes | None:
    return None if revision is None else history.data(revision)
