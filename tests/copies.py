"""Notes and working copies for the tests."""

import os
from pathlib import Path
from typing import NamedTuple

from orgctx.workcopy import Workcopies

A = "#+title: A\n* One\n:PROPERTIES:\n:ID: one-1\n:END:\ntext one\n* Two\ntext two\n"
B = "* B\ntext b\n** Below\nmore\n"
NOTES = {"a.org": A, "sub/b.org": B, "sub/deeper/c.org": "* C\ntext c\n"}


class Notes(NamedTuple):
    """A root, and the working copies of it."""

    root: Path
    work: Workcopies

    @classmethod
    def make(cls, place: Path, notes: dict[str, str | bytes] | None = None) -> "Notes":
        """notes: path -> text or bytes."""
        root = place / "notes"
        root.mkdir()
        made = cls(root, Workcopies(root))
        for path, text in (NOTES if notes is None else notes).items():
            made.put(path, text)
        return made

    def put(self, path: str, text: str | bytes, root: Path | None = None) -> None:
        place = (root or self.root) / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text if isinstance(text, bytes) else text.encode())

    def get(self, path: str) -> str | None:
        place = self.root / path
        return place.read_bytes().decode() if place.exists() else None

    def replace(self, path: str, old: str, new: str, root: Path | None = None) -> None:
        place = (root or self.root) / path
        text = place.read_bytes().decode()
        assert old in text
        place.write_bytes(text.replace(old, new).encode())

    def outcomes(self, copy_id: str = "x", **how) -> dict[str, str]:
        """Commit, and tell what became of each path."""
        report = self.work.commit(copy_id, "a test", **how)
        return {each.path: each.what for each in report.outcomes}


def state(root: Path) -> dict[str, tuple[bytes, int, int]]:
    """All files below a folder: bytes, mtime and mode."""
    found = {}
    for folder, _, names in os.walk(root):
        for name in names:
            place = Path(folder) / name
            if not place.is_symlink():
                stat = place.stat()
                found[str(place)] = (place.read_bytes(), stat.st_mtime_ns, stat.st_mode)
    return found


def files(root: Path) -> dict[str, bytes]:
    """The bytes of all files below a folder, by path in it."""
    return {os.path.relpath(path, root): data for path, (data, _, _) in state(root).items()}
