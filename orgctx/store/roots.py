"""Roots: the folders of notes, what they are called, and what is private in a part of one."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple
from unicodedata import normalize

from ..config import NAME as CONFIG_NAME
from ..config import Config, ignorer, load, users_file
from ..core.model import Problem
from ..errors import BadArgument, NotFound
from . import files


class Root(NamedTuple):
    """A folder of notes.

    name: what it is called. prefix: what addresses in it begin with: name and slash where there are
        several roots, else "".
    """

    name: str
    folder: Path
    prefix: str

    def address(self, place: str | Path) -> str:
        """What addresses call a place in the root; "" for the only root itself."""
        within = Path(place).relative_to(self.folder).as_posix()
        return self.called("" if within == "." else within)

    def called(self, inside: str) -> str:
        """What addresses call a path in the root, with slashes; "" is the root itself."""
        return self.prefix + inside if inside else self.prefix.rstrip("/")

    def inside(self, address: str) -> str | None:
        """The path in the root that an address begins with; None if it is of another root."""
        is_here = address.startswith(self.prefix) or address == self.prefix.rstrip("/")
        return address[len(self.prefix) :] if is_here else None


def roots_of(places: Sequence[str], names: Sequence[str]) -> tuple[Root, ...]:
    """The roots, each once; one inside another is a part of it. names: of the first ones."""
    folders = [_folder(place) for place in places]
    wanted = dict(reversed(list(zip(folders, names, strict=False))))
    outer = [each for each in folders if not any(_is_walked(each, from_) for from_ in folders)]
    called: dict[str, Path] = {}
    for folder in dict.fromkeys(outer):
        base = wanted.get(folder) or folder.name or "root"
        called[next(name for name in _names(base) if name not in called)] = folder
    is_alone = len(called) == 1
    return tuple(
        Root(name, place, "" if is_alone else f"{name}/") for name, place in called.items()
    )


def addresses_at(real: Path, roots: Iterable[Root]) -> Iterator[str]:
    """What addresses call a place in some roots, those in the innermost first."""
    around = [root for root in roots if real.is_relative_to(root.folder)]
    around.sort(key=lambda root: -len(root.folder.parts))
    return (root.address(real) for root in around)


def _is_walked(folder: Path, root: Path) -> bool:
    """Whether a walk of `root` comes to a folder below it."""
    if folder == root or not folder.is_relative_to(root):
        return False
    return not any(part.startswith(".") for part in folder.relative_to(root).parts)


def _folder(name: str) -> Path:
    place = place_of(name)
    if place is None or not os.path.isdir(place):
        what = "a file, not a folder" if is_file(name) else "there is no such folder"
        raise NotFound(f"{name or repr(name)}: {what}", "a root is a folder of Org files", name)
    return Path(os.path.realpath(place))


def notes_in(folder: Path, config: Config, walk: files.Walk | None = None) -> Iterator[files.Found]:
    """Walk a root by its settings; see `files.notes`. Of what they hide, nothing is told."""
    is_ignored = ignorer(config.ignore) if config.ignore else None
    for found in files.notes(folder, is_ignored, walk):
        is_fault = isinstance(found, Problem)
        if not (is_fault and files.hides(Path(found.path), config.private_tags)):
            yield found


def _names(base: str) -> Iterator[str]:
    yield base
    number = 2
    while True:
        yield f"{base}-{number}"
        number += 1


def place_of(name: str) -> Path | None:
    """The path that a name means from the current folder, `~` included; None if it is none."""
    if not name or "\0" in name:
        return None
    try:
        return Path(name).expanduser()
    except RuntimeError:
        return Path(name)


def is_file(name: str) -> bool:
    """Whether a name is that of a file; one of which all is private is not there."""
    place = place_of(name)
    if place is None or not os.path.isfile(place):
        return False
    real = files.real(place)
    users = load(users_file(), is_users=True)
    return not files.hides(real, users.private_tags | private_in(real.parent))


def check_name(what: str, value: str) -> None:
    """Raises: BadArgument if it is no text, or one that stands for no bytes."""
    if not isinstance(value, str) or not _is_encodable(value):
        raise BadArgument(f"{what} {value!r}: give a text that can be a name", where=what)


def _is_encodable(text: str) -> bool:
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        return False
    return True


def name_of(path: str) -> str:
    """The name of a file."""
    return path.rpartition("/")[2]


def private_in(folder: Path) -> frozenset[str]:
    """The private tags of a folder: whoever names a part of a root does not open it."""
    return load(folder / CONFIG_NAME).private_tags | private_above(folder)


def private_above(folder: Path) -> frozenset[str]:
    """The private tags of the folders above one."""
    tags = (load(above / CONFIG_NAME).private_tags for above in folder.parents)
    return frozenset().union(*tags)


def escaped(text: str) -> str:
    """The text with an escape for each byte of a name that is no text, as it leaves the program."""
    return text.encode("utf-8", "backslashreplace").decode()


def nfc(text: str) -> str:
    """Normal form C, in which names are compared."""
    return normalize("NFC", text)
