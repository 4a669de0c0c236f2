"""Where the page of --html is written, and where it is not."""

from __future__ import annotations

from os import curdir, pardir
from os.path import basename, realpath
from pathlib import Path

from ..config import NAME as CONFIG
from ..errors import BadArgument, NotFound
from ..store.files import is_note
from ..store.replacing import replace

STDOUT = "-"
"""What --html takes for standard output."""
OURS = b"<!doctype html>\n<!-- made by orgctx -->\n"
"""How a page begins: what begins otherwise is not replaced."""

_HINT = f"name a file, as page.html, or {STDOUT} for standard output"


def save(page: str, file: str) -> None:
    """Write a page to a file, all at once.

    file: of what is there, only such a page is replaced. A link stands for what it leads to.
    Raises: BadArgument if that is no name of a file, could be a note or settings, or if what is
        there is no page of ours; NotFound if its folder is not there; OSError.
    """
    place = Path(file)
    if basename(file) in ("", curdir, pardir) or (place.exists() and not place.is_file()):
        raise BadArgument(f"{file or '--html'}: that is no file", _HINT, file)
    for name in (place.name, Path(realpath(place)).name):
        if is_note(name) or name == CONFIG:
            kind = "a note" if is_note(name) else "settings"
            raise BadArgument(f"{file}: that is the name of {kind}", _HINT, file)
    if not place.parent.is_dir():
        raise NotFound(f"{file}: there is no folder {place.parent}", "make it first", file)
    if place.exists() and not _is_ours(place):
        hint = "name another file, or delete that one first"
        raise BadArgument(f"{file}: what is there was not made by --html", hint, file)
    replace(place, page.encode("utf-8", "backslashreplace"))


def _is_ours(place: Path) -> bool:
    with place.open("rb") as file:
        return file.read(len(OURS)) == OURS
