"""Notes for the tests: written below a folder, and looked at for any change."""

from collections.abc import Mapping
from pathlib import Path


def write(root: Path, files: Mapping[str, str | bytes]) -> Path:
    """Write files by their paths below a folder, text as UTF-8. Returns: the folder."""
    for path, content in files.items():
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content.encode() if isinstance(content, str) else content)
    return root


def with_id(title: str, *ids: str) -> str:
    """A headline whose drawer holds these IDs."""
    lines = "".join(f":ID: {each}\n" for each in ids)
    return f"* {title}\n:PROPERTIES:\n{lines}:END:\n"


def note(title: str, id_: str = "", text: str = "") -> str:
    """An entry; by default its text tells whose it is."""
    headline = with_id(title, id_) if id_ else f"* {title}\n"
    return f"{headline}{text or f'text of {title}'}\n"


def snapshot(root: Path) -> dict[str, tuple[bytes, int, int, int]]:
    """All there is below a folder: bytes, times in nanoseconds and mode, so any touch shows."""
    return {
        str(place.relative_to(root)): (
            place.read_bytes() if place.is_file() else b"",
            place.lstat().st_mtime_ns,
            place.lstat().st_ctime_ns,
            place.lstat().st_mode,
        )
        for place in [root, *sorted(root.rglob("*"))]
    }
