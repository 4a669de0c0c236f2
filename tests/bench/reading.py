"""Reading and viewing against orgparse, as ratios of one run on one machine.

usage: python tests/bench/reading.py [FOLDER]

FOLDER: Org files to read; by default those that ORGCTX_CORPORA names, else generated ones.
"""

from __future__ import annotations

import os
import random
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import orgparse

from orgctx.core.model import Tree
from orgctx.core.outline import outline

ROUNDS = 5


def main(arguments: list[str]) -> None:
    folder = arguments[0] if arguments else os.environ.get("ORGCTX_CORPORA")
    texts = list(read(Path(folder))) if folder else list(generated(40, 500))
    size = sum(len(text) for text in texts)
    print(f"{len(texts)} files, {size / 1e6:.1f} million characters")
    print(f"orgparse takes {ratio(texts, outline_of):.1f} times as long as the outline (wanted: 8)")
    print(f"and {ratio(texts, every_node):.1f} times as long as reading every node of it")
    for name, make, number in (("headlines", flat, 20_000), ("nested levels", nested, 1_200)):
        text = make(number)
        print(
            f"{number} {name}: orgparse takes {ratio([text], outline_of):.1f} times as long; "
            f"twice the text takes {growth(make, number):.2f} times as long"
        )


def ratio(texts: list[str], work: Callable[[str], object]) -> float:
    """orgparse's time on these texts, in terms of `work`'s."""
    theirs = best(lambda: [parse(text) for text in texts], rounds=2)
    return theirs / best(lambda: [work(text) for text in texts])


def outline_of(text: str) -> Tree:
    return outline(text, "x.org")


def every_node(text: str) -> int:
    return sum(len(node.title) + len(node.id or "") for node in outline(text, "x.org").nodes)


def read(folder: Path) -> Iterator[str]:
    for path in sorted(folder.rglob("*.org")):
        yield path.read_bytes().decode("utf-8", "replace").removeprefix("\ufeff")


def generated(files: int, headlines: int) -> Iterator[str]:
    draw = random.Random(1)
    for _ in range(files):
        lines = []
        for number in range(headlines):
            lines.append(f"{'*' * draw.randint(1, 5)} TODO Headline {number} :tag:\n")
            lines.append(f":PROPERTIES:\n:ID: {draw.getrandbits(64):016x}\n:END:\n")
            lines.append("Some words of text in a paragraph.\n" * draw.randint(0, 20))
        yield "".join(lines)


def flat(headlines: int) -> str:
    return "".join(f"* Headline {n}\ntext\n" for n in range(headlines))


def nested(levels: int) -> str:
    return "".join(f"{'*' * n} level {n}\n" for n in range(1, levels + 1))


def parse(text: str) -> object | None:
    """What orgparse makes of a file; it gives up whole files over one bad date."""
    try:
        return orgparse.loadi(text.split("\n"))
    except Exception as error:
        return error


def growth(make: Callable[[int], str], number: int) -> float:
    """How much longer twice as many characters take: the number of headlines is chosen for that."""
    once, twice = make(number), make(number)
    while len(twice) < 2 * len(once):
        number = number * 11 // 10
        twice = make(number)
    per_size = len(twice) / len(once) / 2
    return best(lambda: every_node(twice)) / best(lambda: every_node(once)) / per_size


def best(work: Callable[[], object], rounds: int = ROUNDS) -> float:
    """The shortest of some rounds, in seconds."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


if __name__ == "__main__":
    main(sys.argv[1:])
