"""Reading and writing below a folder, and nowhere else.

A path is checked twice: as a name, and again when it is opened, step by step, each in the folder
opened before it, following no symbolic link. So nobody who moves folders meanwhile leads out.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import NamedTuple

from ..errors import BadArgument, NotFound, OutsideRoot, Stale, Unreadable
from ..store.files import open_folder, revision_of
from ..store.roots import Root, check_name
from ..store.signature import signature

_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_TEMPORARY = re.compile(r"\.orgctx-[0-9a-f]{12}")
"""The name of a file that is about to take another's place; people's own look otherwise."""


def parts_of(path: str) -> tuple[str, ...]:
    """The names on a path in a root.

    Raises: BadArgument if it is no path; OutsideRoot if it says to look elsewhere.
    """
    check_name("path", path)
    if not path or "\0" in path:
        raise BadArgument(f"path {path!r}: give the path of a note", where="path")
    parts = path.rstrip("/").split("/")
    is_elsewhere = path.startswith(("/", "~")) or ".." in re.split(r"[/\\]", path)
    if is_elsewhere or re.match(r"[A-Za-z]:[\\/]", path):
        raise OutsideRoot(f"{path}: outside the roots", "give a path inside a root", path)
    if not all(parts) or "." in parts:
        raise BadArgument(f"path {path!r}: an empty step", "give it without", "path")
    return tuple(parts)


class Folder:
    """An open folder, through which all in it is reached."""

    def __init__(self, descriptor: int, name: str) -> None:
        """name: what errors call it."""
        self.descriptor, self.name = descriptor, name

    @classmethod
    @contextmanager
    def at(cls, place: Path) -> Iterator[Folder]:
        """A folder by its absolute path.

        Raises: NotFound, also if a link is on the way; Unreadable.
        """
        try:
            way = open_folder(place)
            try:
                folder = cls(os.open(".", _FOLDER, dir_fd=way), str(place))
            finally:
                os.close(way)
        except (FileNotFoundError, NotADirectoryError) as error:
            raise NotFound(f"{place}: there is no such folder", where=str(place)) from error
        except PermissionError as error:
            raise _closed(str(place), error) from error
        try:
            yield folder
        finally:
            os.close(folder.descriptor)

    @contextmanager
    def within(self, parts: tuple[str, ...], make: bool = False) -> Iterator[Folder]:
        """A folder below this one. make: whether folders that lack are made.

        Raises: NotFound if there is none; OutsideRoot if a link or a file is in its place;
            Unreadable.
        """
        descriptor = os.dup(self.descriptor)
        try:
            for part in parts:
                if make:
                    with suppress(FileExistsError):
                        os.mkdir(part, 0o777, dir_fd=descriptor)
                descriptor, outer = self._step(part, "/".join(parts), descriptor), descriptor
                os.close(outer)
            yield Folder(descriptor, "/".join((self.name, *parts)))
        finally:
            os.close(descriptor)

    def _step(self, part: str, path: str, descriptor: int) -> int:
        try:
            return os.open(part, _FOLDER, dir_fd=descriptor)
        except NotADirectoryError as error:
            what = f"{path}: {part} is no folder, or a link to one"
            raise OutsideRoot(what, "name a folder in the root", path) from error
        except PermissionError as error:
            raise _closed(path, error) from error
        except OSError as error:
            if error.errno not in (errno.ENOENT, errno.ENAMETOOLONG):
                raise
            raise NotFound(f"{path}: there is no such folder", where=path) from error

    def read(self, name: str) -> tuple[bytes, os.stat_result] | None:
        """A file's bytes and what is known of it; None if there is none.

        Raises: OutsideRoot if it is a link; Unreadable if it is no file or cannot be read.
        """
        try:
            descriptor = os.open(name, _READ, dir_fd=self.descriptor)
        except FileNotFoundError:
            return None
        except OSError as error:
            if self.is_link(name):
                what = f"{name}: a symbolic link"
                raise OutsideRoot(what, "links are not followed", name) from error
            raise _closed(name, error) from error
        try:
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode):
                raise Unreadable(f"{name}: not a file", where=name)
            return _all_of(descriptor, found.st_size), found
        finally:
            os.close(descriptor)

    def is_link(self, name: str) -> bool:
        """Whether there is a symbolic link of this name."""
        found = self.stat(name)
        return found is not None and stat.S_ISLNK(found.st_mode)

    def stat(self, name: str) -> os.stat_result | None:
        """What is known of a name; None if there is none."""
        try:
            return os.stat(name, dir_fd=self.descriptor, follow_symlinks=False)
        except OSError as error:
            if error.errno in (errno.ENOENT, errno.ENAMETOOLONG):
                return None
            raise

    def create(self, name: str, data: bytes, mtime: int) -> os.stat_result | None:
        """Make a file where none is, with a time of its own in nanoseconds; None if one is."""
        try:
            descriptor = os.open(name, _WRITE, 0o600, dir_fd=self.descriptor)
        except FileExistsError:
            return None
        try:
            _write(descriptor, data)
            os.utime(descriptor, ns=(mtime, mtime))
            return os.fstat(descriptor)
        finally:
            os.close(descriptor)

    def write(
        self,
        name: str,
        data: bytes,
        mode: int | None = 0o600,
        mtime: int | None = None,
        like: os.stat_result | None = None,
        is_durable: bool = False,
        is_only: bool = False,
    ) -> os.stat_result:
        """Put a file in place of another, or where none is, at once and whole.

        mode: its permissions; None for those that the user's mask leaves of all.
        like: what is known of the other one, whose mode and owner it gets.
        mtime: its time in nanoseconds; None for now.
        is_durable: whether its bytes are on the disk before it takes its place; see `sync`.
        is_only: whether it may take the place of nothing but that, to the last moment.
        Returns: what is known of it.
        Raises: Stale if it may not.
        """
        temporary = f".orgctx-{token_hex(6)}"
        bits = 0o666 if mode is None and like is None else 0o600
        descriptor = os.open(temporary, _WRITE, bits, dir_fd=self.descriptor)
        try:
            _write(descriptor, data)
            _dress(descriptor, mode, like)
            if mtime is not None:
                os.utime(descriptor, ns=(mtime, mtime))
            if is_durable:
                os.fsync(descriptor)
            if is_only:
                self.check(name, like)
            self.rename(temporary, self, name)
        except BaseException:
            self.remove(temporary)
            raise
        finally:
            os.close(descriptor)
        return os.stat(name, dir_fd=self.descriptor, follow_symlinks=False)

    def check(self, name: str, found: os.stat_result | None) -> None:
        """Raises: Stale if a file is not what was found there; None: none."""
        if signature(self.stat(name)) != signature(found):
            raise Stale(f"{name}: it has just changed", "try again", name)

    def sync(self, parts: tuple[str, ...] = ()) -> None:
        """Have what was written, renamed or removed in the folder, or in one below, on the disk."""
        with self.within(parts) as folder:
            os.fsync(folder.descriptor)

    def sweep(self) -> None:
        """Delete what a killed command has left in the folder."""
        for name in os.listdir(self.descriptor):
            if _TEMPORARY.fullmatch(name):
                self.remove(name)

    def rename(self, name: str, folder: Folder, to: str) -> None:
        """Move a file or folder, in place of what is there."""
        os.replace(name, to, src_dir_fd=self.descriptor, dst_dir_fd=folder.descriptor)

    def remove(self, name: str) -> None:
        """Delete a file, if there is one."""
        with suppress(FileNotFoundError):
            os.unlink(name, dir_fd=self.descriptor)


class Note(NamedTuple):
    """A file as it is now. data, found: None if there is none."""

    data: bytes | None = None
    found: os.stat_result | None = None

    @property
    def revision(self) -> str | None:
        """What git calls it."""
        return None if self.data is None else revision_of(self.data)

    @property
    def mode(self) -> int | None:
        """Its permissions."""
        return stat.S_IMODE(self.found.st_mode) if self.found else None


class Files:
    """The files under some roots, which are read and written by their addresses."""

    def __init__(self, roots: tuple[Root, ...]) -> None:
        self._roots = roots

    @contextmanager
    def at(self, path: str, make: bool = False) -> Iterator[tuple[Folder, str]]:
        """The folder of a file, and its name in it. make: whether folders that lack are made.

        Raises: NotFound, OutsideRoot, BadArgument.
        """
        root, inside = self.root(path)
        *folders, name = parts_of(inside)
        with Folder.at(root.folder) as top, top.within(tuple(folders), make) as folder:
            yield folder, name

    def root(self, path: str) -> tuple[Root, str]:
        """The root of an address, and the path in it. Raises: NotFound."""
        for root in self._roots:
            if inside := root.inside(path):
                return root, inside
        names = ", ".join(each.name for each in self._roots)
        raise NotFound(f"{path}: in no root", f"begin with one of: {names}", path)

    def read(self, path: str) -> Note:
        """A file. Raises: OutsideRoot, Unreadable."""
        try:
            with self.at(path) as (folder, name):
                return Note(*(folder.read(name) or (None, None)))
        except NotFound:
            return Note()
        except (OutsideRoot, Unreadable) as error:
            what = error.message.removeprefix(f"{error.where}: ")
            raise type(error)(f"{path}: {what}", error.hint, path) from error

    def lists(self, path: str) -> bool:
        """Whether each step of a path is in its folder in these very letters. Raises: NotFound."""
        root, inside = self.root(path)
        parts = parts_of(inside)
        with Folder.at(root.folder) as top:
            for at, part in enumerate(parts):
                with top.within(parts[:at]) as folder:
                    if part not in os.listdir(folder.descriptor):
                        return False
        return True

    def write(
        self,
        path: str,
        data: bytes | None,
        mode: int | None = None,
        mtime: int | None = None,
        is_durable: bool = False,
        before: Note | None = None,
    ) -> os.stat_result | None:
        """Put a file in place, whose mode and owner stay, or delete it; see `Folder.write`.

        mode: of one that is not there yet. before: what has to be there still; None: anything.
        Returns: what is known of it; None if it was deleted.
        Raises: Stale if something else is there.
        """
        if data is None:
            with suppress(NotFound), self.at(path) as (folder, name):
                if before:
                    folder.check(name, before.found)
                folder.remove(name)
            return None
        with self.at(path, make=True) as (folder, name):
            like = before.found if before else folder.stat(name)
            return folder.write(name, data, mode, mtime, like, is_durable, before is not None)

    def sync(self, paths: Iterable[str]) -> None:
        """Have what was written or deleted at some paths on the disk, and the folders on the way.

        One of these may be new, and would be gone after a power cut with all that is in it.
        """
        for root, parts in sorted({way for path in paths for way in self._ways(path)}):
            with suppress(NotFound, OutsideRoot, Unreadable), Folder.at(root) as top:
                top.sync(parts)

    def _ways(self, path: str) -> Iterator[tuple[Path, tuple[str, ...]]]:
        """The folders that lead to a file, the root first: each by its root and what is below."""
        root, inside = self.root(path)
        parts = parts_of(inside)
        yield from ((root.folder, parts[:at]) for at in range(len(parts)))

    def tidy(self, path: str) -> None:
        """Delete the folders that led to a file that is gone, as far as they are empty now.

        As git does; never a root. One that is not empty, or cannot be deleted, is where it ends.
        """
        with suppress(OSError, NotFound, OutsideRoot, Unreadable):
            for root, parts in reversed([*self._ways(path)][1:]):
                with Folder.at(root) as top, top.within(parts[:-1]) as folder:
                    os.rmdir(parts[-1], dir_fd=folder.descriptor)

    def sweep(self, path: str) -> None:
        """Delete what a killed command has left in a file's folder."""
        with suppress(NotFound, OutsideRoot, Unreadable), self.at(path) as (folder, _):
            folder.sweep()


def _closed(name: str, error: OSError) -> Unreadable:
    return Unreadable(f"{name}: {error.strerror}", "check its permissions", name)


def _all_of(descriptor: int, size: int) -> bytes:
    """All of an open file. size: how many bytes it has, or had."""
    parts = [os.read(descriptor, size + 1)]
    while parts[-1]:
        parts.append(os.read(descriptor, size + 1))
    return b"".join(parts)


def _dress(descriptor: int, mode: int | None, like: os.stat_result | None) -> None:
    """Give a file mode and owner, the owner as far as the user may."""
    if like:
        own = os.fstat(descriptor)
        if (own.st_uid, own.st_gid) != (like.st_uid, like.st_gid):
            with suppress(PermissionError):
                os.fchown(descriptor, like.st_uid, like.st_gid)
        mode = stat.S_IMODE(like.st_mode)
    if mode is not None:
        os.fchmod(descriptor, mode)


def _write(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
