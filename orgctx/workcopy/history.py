"""The history: a git repository in the state folder, which git itself can read.

Each commit in it is a record: the versions of each path that it is about, in the folders `base`,
`ours`, `theirs` and `result`, and what was done as `record.json`. It is never the user's own one.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING

from ..errors import Ambiguous, NotFound
from .record import SIDES, Record

if TYPE_CHECKING:
    from dulwich.objects import Commit, ObjectID
    from dulwich.repo import Repo

BRANCH = b"refs/heads/main"
RECORD = "record.json"
AUTHOR = b"orgctx <orgctx@localhost>"
MANY = 20
"""More versions than that are kept in one file, to wait for the disk once and not for each."""
SHORTEST = 4
"""Digits of a revision that are enough, as in git."""


class History:
    """Records, the newest first. Several may read it; who writes has the lock."""

    def __init__(self, folder: Path) -> None:
        """folder: made when something is recorded."""
        self._folder = folder

    @cached_property
    def _repository(self) -> Repo:
        from dulwich.repo import Repo  # only who looks at the history pays

        if not self._folder.exists():
            self._new.mkdir(mode=0o700)
            Repo.init_bare(str(self._new), default_branch=b"main").close()
            for each in (self._new, *self._new.rglob("*")):
                _sync(each)
            os.replace(self._new, self._folder)
            _sync(self._folder.parent)
        repository = Repo(str(self._folder), bare=True)
        repository.object_store.fsync_object_files = True
        return repository

    @property
    def _new(self) -> Path:
        return self._folder.with_name(".history")

    def sweep(self) -> None:
        """Delete what a command that was killed has left: its locks, a repository half made."""
        for pattern in ("*.lock", "tmp_pack_*"):
            for each in self._folder.rglob(pattern):
                each.unlink()
        rmtree(self._new, ignore_errors=True)

    def keep(self, versions: Iterable[bytes]) -> None:
        """Write versions of files, so that they are on the disk when this returns."""
        from dulwich.objects import Blob

        store = self._repository.object_store
        blobs = [Blob.from_string(data) for data in dict.fromkeys(versions)]
        if len(blobs) > MANY:
            store.add_objects([(blob, None) for blob in blobs])
        else:
            for blob in blobs:
                store.add_object(blob)
        self._sync_objects()

    def _sync_objects(self) -> None:
        """Have the folders of objects on the disk, for which git does not wait."""
        objects = self._folder / "objects"
        for each in (*filter(Path.is_dir, objects.iterdir()), objects):
            _sync(each)

    def record(self, record: Record) -> str:
        """Put a record on top of the log; all versions that it names are kept already.

        All that it is made of is on the disk before the log begins with it.
        Returns: its revision, which is the same if the same is recorded again at the same place.
        """
        from dulwich.index import commit_tree
        from dulwich.objects import Blob, ObjectID
        from dulwich.refs import Ref

        repository = self._repository
        store, head = repository.object_store, _head(repository)
        store.add_object(blob := Blob.from_string(_text_of(record).encode()))
        if head and _record_blob(repository, _commit_of(repository, head)) == blob.id:
            return head.decode()  # whoever was killed had come so far
        rows = [(os.fsencode(RECORD), blob.id, 0o100644)]
        for each in record.outcomes:
            for side in SIDES:
                if revision := getattr(each, side):
                    name = os.fsencode(f"{side}/{each.path}")
                    rows.append((name, ObjectID(revision.encode()), 0o100644))
        commit = self._commit(record, commit_tree(store, rows))
        commit.parents = [head] if head else []
        store.add_object(commit)
        self._sync_objects()
        repository.refs[Ref(BRANCH)] = commit.id
        for folder in (self._folder / "refs/heads", self._folder):
            _sync(folder)
        return commit.id.decode()

    @staticmethod
    def _commit(record: Record, tree: ObjectID) -> Commit:
        from dulwich.objects import Commit

        commit = Commit()
        commit.tree, commit.encoding = tree, b"UTF-8"
        commit.author = commit.committer = AUTHOR
        commit.author_time = commit.commit_time = record.time
        zone = time.localtime(record.time).tm_gmtoff
        commit.author_timezone = commit.commit_timezone = zone
        commit.message = record.message.encode("utf-8", "surrogateescape") + b"\n"
        return commit

    def log(self, after: str = "") -> Iterator[tuple[str, Record]]:
        """Each record with its revision, the newest first.

        after: how a revision begins; those behind it alone. Raises: NotFound, Ambiguous.
        """
        behind = self.find(after) if after else None
        if behind and not behind[1]:
            raise NotFound(f"{after}: no record", "see them with: orgctx work log", after)
        if not self._folder.exists():
            return
        repository = self._repository
        revision = _parent(repository, behind[0]) if behind else _head(repository)
        while revision:
            commit = _commit_of(repository, revision)
            yield commit.id.decode(), _record_of(repository, commit)
            revision = next(iter(commit.parents), None)

    def read(self, revision: str) -> Record:
        """The record of a revision that is one's."""
        from dulwich.objects import ObjectID

        repository = self._repository
        commit = _commit_of(repository, ObjectID(revision.encode()))
        return _record_of(repository, commit)

    def data(self, revision: str) -> bytes:
        """A version of a file by its revision. Raises: NotFound."""
        from dulwich.objects import ObjectID

        repository = self._repository
        try:
            found = repository.object_store[ObjectID(revision.encode())]
        except KeyError as error:
            raise NotFound(f"{revision}: no such revision", where=revision) from error
        return found.as_raw_string()

    def find(self, prefix: str) -> tuple[str, bool]:
        """The one revision that begins so, and whether it is a record's.

        Raises: NotFound, Ambiguous; Unreadable.
        """
        known = self._starting(prefix) if self._folder.exists() else {}
        if len(known) > 1:
            hint = f"use one of: {', '.join(known)}"
            raise Ambiguous(f"{prefix}: more than one revision", hint, prefix)
        if not known:
            hint = "see them with: orgctx work log"
            raise NotFound(f"{prefix}: no such revision", hint, prefix)
        return next(iter(known.items()))

    def _starting(self, prefix: str) -> dict[str, bool]:
        """The revisions that begin so, and whether each is a record's."""
        if len(prefix) < SHORTEST or set(prefix) - set("0123456789abcdef"):
            return {}
        repository = self._repository
        store = repository.object_store
        kinds = {id_: store[id_].type_name for id_ in store.iter_prefix(prefix.encode())}
        return {i.decode(): kind == b"commit" for i, kind in kinds.items() if kind != b"tree"}


def _sync(place: Path) -> None:
    """Have a file, or the names in a folder, on the disk."""
    descriptor = os.open(place, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _head(repository: Repo) -> ObjectID | None:
    from dulwich.refs import Ref

    with suppress(KeyError):
        return repository.refs[Ref(BRANCH)]
    return None


def _parent(repository: Repo, revision: str) -> ObjectID | None:
    from dulwich.objects import ObjectID

    return next(iter(_commit_of(repository, ObjectID(revision.encode())).parents), None)


def _commit_of(repository: Repo, revision: ObjectID) -> Commit:
    from dulwich.objects import Commit

    found = repository[revision]
    assert isinstance(found, Commit)
    return found


def _record_of(repository: Repo, commit: Commit) -> Record:
    text = repository[_record_blob(repository, commit)].as_raw_string()
    return Record.from_data(json.loads(text))


def _record_blob(repository: Repo, commit: Commit) -> ObjectID:
    from dulwich.objects import Tree

    tree = repository[commit.tree]
    assert isinstance(tree, Tree)
    return tree[RECORD.encode()][1]


def _text_of(record: Record) -> str:
    return json.dumps(record.to_data(), indent=1) + "\n"
