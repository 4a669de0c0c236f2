"""A memex of any size, made by rule, for tests and measurements.

usage: python tests/bench/memex.py FOLDER FILES [HEADLINES]
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

WORDS = [
    "garden",
    "river",
    "budget",
    "letter",
    "engine",
    "winter",
    "colour",
    "market",
    "silver",
    "stone",
    "music",
    "paper",
]
CJK = "会議資料計画東京予算報告"


def make(folder: Path, files: int, headlines: int = 5, seed: int = 1, in_folder: int = 100) -> None:
    """Write a memex: 1 to 2 * `headlines` headlines a file, with IDs, links and CJK.

    in_folder: how many files a folder has. The same arguments make the same bytes.
    """
    draw = random.Random(seed)
    for number in range(files):
        place = folder / f"area-{number // in_folder:03}" / f"note-{number:06}.org"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(note(draw, number, files, headlines), encoding="utf-8")


def note(draw: random.Random, number: int, files: int, headlines: int) -> str:
    lines = [f"#+title: Note {number} on {draw.choice(WORDS)}", ""]
    for part in range(draw.randint(1, 2 * headlines - 1)):
        stars = "*" * draw.randint(1, 3)
        lines.append(
            f"{stars} {draw.choice(('', 'TODO ', 'DONE '))}{sentence(draw, 4)} :tag{part}:"
        )
        lines += [":PROPERTIES:", f":ID: {id_of(number, part)}", ":END:"]
        lines += [sentence(draw, 12) for _ in range(draw.randint(0, 8))]
        lines.append(f"See [[id:{id_of(draw.randrange(files), 0)}][there]].")
    return "\n".join(lines) + "\n"


def sentence(draw: random.Random, words: int) -> str:
    if not draw.randrange(8):
        return "".join(draw.choice(CJK) for _ in range(words))
    return " ".join(draw.choice(WORDS) for _ in range(words))


def id_of(number: int, part: int) -> str:
    return f"{number:08x}-0000-4000-8000-{part:012x}"


if __name__ == "__main__":
    make(Path(sys.argv[1]), int(sys.argv[2]), *map(int, sys.argv[3:4]))
