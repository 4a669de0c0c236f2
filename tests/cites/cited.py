"""Notes to be cited, and registries of what was read of them."""

from __future__ import annotations

import json
from pathlib import Path

from dulwich import porcelain

from orgctx import open_memex
from orgctx.cites import Cites

NOTES = """\
#+title: Garden
intro
* Colors
red
green
blue
* Shapes
round
square
"""
SECRET = """\
#+title: Open
* One
text one
** Hidden :private:
hidden text
* Two
text two
* Vault :crypt:
pin 0000
* Last
text three
* Tail :private:
tail text
"""
UNSEALED = SECRET.replace(":crypt:", ":work:")
SETTING = 'private_tags = ["private"]\n'


def read_all(root: Path, *names: str, cites: Cites | None = None) -> Cites:
    """Read whole files, and give what remembers it."""
    cites, memex = cites or Cites(), open_memex(root)
    for name in names or ("garden.org",):
        memex.read(name, subtree=True, cites=cites)
    return cites


def forgetful(cites: Cites) -> Cites:
    """The same numbers, without the texts that were shown."""
    file = Path("forgetful.json")
    assert cites.save(file)
    data = json.loads(file.read_bytes())
    file.write_text(json.dumps({**data, "shown": []}), encoding="utf-8")
    return Cites.load(file)


def reloaded(cites: Cites) -> Cites:
    """The same, by way of a file."""
    assert cites.save("reloaded.json")
    return Cites.load("reloaded.json")


def commit(repository: Path, *places: Path) -> None:
    """Commit files, by dulwich."""
    if not (repository / ".git").exists():
        porcelain.init(repository)
    porcelain.add(repository, paths=[str(place) for place in places])
    porcelain.commit(repository, message=b"x", author=b"A <a@b>", committer=b"A <a@b>")
