"""Files: which ones are notes, and how their bytes become text."""

from __future__ import annotations

import codecs
import hashlib
import os
import re
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from operator import attrgetter
from pathlib import Path

from ..config import NAME as CONFIG_NAME
from ..core.model import Problem
from ..core.outline import outline
from ..core.privacy import conceal
from ..errors import NotFound, OrgctxError, Unreadable

SUFFIXES = (".org", ".org_archive")

_LITTER = re.compile(r"\.#|flycheck_|#.*#\Z")
_CONFLICT = re.compile(r"\.sync-conflict-\d|\([^()]*conflicted copy[^()]*\)", re.IGNORECASE)
_COOKIE = re.compile(rb"coding:[ \t]*([\w.-]+)", re.IGNORECASE)
_LOCAL_CODING = re.compile(rb"^[ \t]*\S*[ \t]*coding:[ \t]*([\w.-]+)", re.IGNORECASE | re.MULTILINE)
_ORG_MODE = re.compile(rb"(?:\A|mode:|;)[ \t]*org[ \t]*(?:;|\Z)", re.IGNORECASE)

_FLAGS = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
"""A named pipe is opened at once, or it would keep the reader waiting for a writer."""

COPY = "a sync-conflict copy, left out"
ATTEMPTS = 10
"""How often a file is opened that others replace at the same time."""

Found = os.DirEntry[str] | Problem


class Walk:
    """What a walk came by. folders: those that were listed, as they were before, the root first.

    began: when it began, in nanoseconds. is_plain: whether there was nothing but files and folders,
    so that what it finds hangs on nothing else.
    """

    def __init__(self) -> None:
        self.began = time.time_ns()
        self.folders: list[tuple[str, os.stat_result]] = []
        self.is_plain = os.stat in os.supports_dir_fd


def notes(
    root: Path, is_ignored: Callable[[str], bool] | None = None, walk: Walk | None = None
) -> Iterator[Found]:
    """Walk a root for Org files, in path order.

    root: a real folder, no symbolic link.
    is_ignored: (path relative to the root) -> whether it, and what is below it, is no note.
    walk: gets to know what it came by.
    Returns: each note once, and a Problem for each file passed over that a user might look for.
        Left out in silence: hidden folders, lock files, autosaves, backups, links to other notes.
    """
    start = len(str(root).rstrip(os.sep)) + 1
    waiting: list[os.DirEntry[str]] = []
    walk = walk or Walk()
    yield from _listed(str(root), waiting, walk)
    while waiting:
        entry = waiting.pop()
        if is_ignored and is_ignored(entry.path[start:]):
            continue
        if _is_open_folder(entry):
            yield from _listed(entry.path, waiting, walk)
        elif entry.is_symlink():
            walk.is_plain = False
            yield from _link(root, entry)
        elif entry.name == CONFIG_NAME and entry.path != str(root / CONFIG_NAME):
            yield Problem(entry.path, 0, "settings that do not count: they are not in the root")
        elif is_note(entry.name) and entry.is_file():
            is_copy = is_conflict_copy(entry.name)
            walk.is_plain &= not is_copy
            yield Problem(entry.path, 0, COPY) if is_copy else entry


def _is_open_folder(entry: os.DirEntry[str]) -> bool:
    return not entry.name.startswith(".") and entry.is_dir(follow_symlinks=False)


def _listed(folder: str, waiting: list[os.DirEntry[str]], walk: Walk) -> Iterator[Problem]:
    """Put what is in a folder on top of what waits, so that the first comes next."""
    try:
        walk.folders.append((folder, os.stat(folder)))
        waiting.extend(sorted(os.scandir(folder), key=attrgetter("name"), reverse=True))
    except OSError as error:
        walk.is_plain = False
        yield Problem(folder, 0, f"a folder that cannot be listed: {error.strerror}")


def is_note(name: str) -> bool:
    """Whether a file of this name can be a note: an Org suffix, and nothing an editor left."""
    return name.endswith(SUFFIXES) and not _LITTER.match(name)


def is_conflict_copy(name: str) -> bool:
    """Whether a file of this name is what a program that syncs files makes of a conflict."""
    return "conflict" in name.casefold() and _CONFLICT.search(name) is not None


def is_litter(name: str) -> bool:
    """Whether a file of this name is no note, and hidden or something that an editor leaves."""
    is_hidden = name.startswith(".") or name.endswith("~") or _LITTER.match(name) is not None
    return is_hidden and not is_note(name)


def _link(root: Path, entry: os.DirEntry[str]) -> Iterator[Problem]:
    """A link is never followed: a note it names inside the root is walked anyway."""
    if is_note(entry.name) or os.path.isdir(entry.path):
        place = real(entry.path)
        within = place.relative_to(root).parts if place.is_relative_to(root) else None
        if not os.path.exists(place):
            yield Problem(entry.path, 0, "a symbolic link to nothing, left out")
        elif within is None:
            yield Problem(entry.path, 0, "a symbolic link out of the root, left out")
        elif any(part.startswith(".") for part in within) or not _is_taken(place):
            yield Problem(entry.path, 0, "a symbolic link to what is no note, left out")


def _is_taken(path: Path) -> bool:
    """Whether a walk that gets to `path` takes it: a folder, or a file named as a note."""
    return os.path.isdir(path) or is_note(path.name)


def read(path: Path, name: str, is_link_allowed: bool = False) -> bytes:
    """Read a file's bytes.

    name: what errors call it. is_link_allowed: whether `path` itself may be a symbolic link.
    Raises: NotFound, also if a link leads to it that may not be one; Unreadable.
    """
    flags = _FLAGS if is_link_allowed else _FLAGS | getattr(os, "O_NOFOLLOW", 0)
    try:
        for _ in range(ATTEMPTS):
            with open(path, "rb", opener=lambda place, _: os.open(place, flags)) as file:
                found = os.fstat(file.fileno())
                if stat.S_ISREG(found.st_mode) and (is_link_allowed or _is_at(path, found)):
                    return file.read()
    except FileNotFoundError as error:
        raise NotFound(f"{name}: there is no such file", where=name) from error
    except OSError as error:
        raise Unreadable(f"{name}: {error.strerror}", "check its permissions", name) from error
    raise NotFound(f"{name}: there is no such file", where=name)


def _is_at(path: Path, found: os.stat_result) -> bool:
    """Whether an opened file is at `path` with no link on the way, whoever moves folders meanwhile.

    Where the system has no way to tell, its name alone is trusted, which was looked up before.
    """
    if not hasattr(os, "O_PATH"):
        return True
    try:
        with _folder(path) as folder:
            here = os.stat(path.name, dir_fd=folder, follow_symlinks=False)
    except (FileNotFoundError, NotADirectoryError):
        return False
    return os.path.samestat(found, here)


def real(place: str | Path) -> Path:
    """The place to which a path leads; the path itself if it is changed again and again."""
    for _ in range(ATTEMPTS):
        try:
            return Path(os.path.realpath(place))
        except OSError:  # what was a link is none any more
            continue
    return Path(os.path.abspath(place))


def is_real(path: Path) -> bool:
    """Whether a place is no link and none is on the way to it, be anything there or not.

    path: absolute. The time is that of its length; `realpath` looks up each part from the top.
    """
    if ".." in path.parts or not hasattr(os, "O_PATH"):
        return str(real(path)) == str(path)
    try:
        with _folder(path) as folder:
            return not stat.S_ISLNK(os.lstat(path.name, dir_fd=folder).st_mode)
    except NotADirectoryError:  # so is a link, as it is opened
        return False
    except OSError:
        return True


@contextmanager
def _folder(path: Path) -> Iterator[int]:
    """The folder of a path, as `open_folder` opens it. Raises: OSError."""
    folder = open_folder(path.parent)
    try:
        yield folder
    finally:
        os.close(folder)


def open_folder(path: Path) -> int:
    """Open a folder with no symbolic link on the way, to reach what is in it by its descriptor.

    path: absolute.
    Raises: FileNotFoundError; NotADirectoryError, also where there is a link on the way.
    """
    way = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW
    folder = os.open(path.anchor, way)
    for part in path.parts[1:]:
        try:
            inner = os.open(part, way, dir_fd=folder)
        finally:
            os.close(folder)
        folder = inner
    return folder


def revision_of(data: bytes) -> str:
    """What git calls a file of these bytes (gitformat-pack, Object types): 40 hex digits."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def hides(place: Path, private_tags: frozenset[str]) -> bool:
    """Whether all of a file is private, so that not even its name may be told."""
    if not private_tags:
        return False
    try:
        text, encoding = decode(read(place, place.name), place.name)
    except OrgctxError:
        return False
    return not conceal(outline(text, place.name, encoding), private_tags).nodes


def decode(data: bytes, name: str) -> tuple[str, str]:
    """Turn a file's bytes into text, losing nothing.

    Returns: (text without byte order mark, the encoding that gives the bytes back).
    Raises: Unreadable if it is neither UTF-8 nor what its coding cookie says.
    """
    try:
        if data.startswith(codecs.BOM_UTF8):
            return data[3:].decode(), "utf-8-sig"
        return data.decode(), "utf-8"
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        if (decoded := _by_cookie(data)) is not None:
            return decoded
        hint = "save it as UTF-8, or name its encoding in a -*- coding: … -*- line"
        raise Unreadable(f"{name}: not UTF-8 text, from line {line} on", hint, name) from error


def _by_cookie(data: bytes) -> tuple[str, str] | None:
    lines = data.split(b"\n", 2)[:2]
    tail = data[-3000:]
    local = tail[tail.find(b"Local Variables:") :] if b"Local Variables:" in tail else b""
    cookies = (*(_COOKIE.search(_mode_line(line)) for line in lines), _LOCAL_CODING.search(local))
    cookie = next(filter(None, cookies), None)
    if cookie is None:
        return None
    encoding = _python_name(cookie[1].decode("ascii", "replace"))
    try:
        text = data.decode(encoding)
        text.encode()  # half a surrogate pair is no text
        return (text, encoding) if text.encode(encoding) == data else None
    except (LookupError, UnicodeError):
        return None


def _mode_line(line: bytes) -> bytes:
    """What stands between `-*-` and `-*-`."""
    parts = line.split(b"-*-", 2)
    return parts[1] if len(parts) == 3 else b""


def _python_name(coding: str) -> str:
    """Emacs' name of an encoding, without the line ends it may name, as Python knows it."""
    name = re.sub(r"-(unix|dos|mac)\Z", "", coding.lower())
    return name.removeprefix("iso-") if name.startswith("iso-latin") else name


def is_org(name: str, data: bytes) -> bool:
    """Whether a file somebody names is Org text: by its suffix, or by its mode line."""
    mode = _mode_line(data.split(b"\n", 1)[0])
    return name.endswith(SUFFIXES) or bool(_ORG_MODE.search(mode.strip()))
