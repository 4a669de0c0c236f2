"""The command: every part in turn, offline, and one report of them all."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import emacs
import judged

from orgctx.core.entry import many
from orgctx.errors import OrgctxError

from . import battery, evidence, filling, report, routing, scripted, speed, walking
from .notebooks import Notebook, notebooks_in, opened
from .report import Part

SEED = 9


class Sizes(NamedTuple):
    """How much is measured: questions of each kind, walks in each notebook, headlines, files."""

    questions: int
    walks: int
    headlines: int
    files: tuple[int, ...]


FULL = Sizes(150, 30, 150, (1_000, 3_000, 10_000, 30_000, 100_000))
SMALL = Sizes(4, 2, 4, (50, 200))


def main(arguments: Sequence[str]) -> int:
    """Returns: the exit status, as orgctx has it: 1 for what is not there, 2 for usage."""
    options = parsed(arguments)
    try:
        with own_cache() as cache:
            print(evaluated(options, cache))
    except (OrgctxError, battery.EndpointError, OSError) as error:
        print(f"evaluation: {error}", file=sys.stderr)
        return 1
    return 0


@contextmanager
def own_cache() -> Iterator[Path]:
    """A folder for stores: what the user's own store knows is left alone."""
    before = os.environ.get("XDG_CACHE_HOME")
    with tempfile.TemporaryDirectory() as cache:
        os.environ["XDG_CACHE_HOME"] = cache
        try:
            yield Path(cache)
        finally:
            del os.environ["XDG_CACHE_HOME"]
            os.environ.update({} if before is None else {"XDG_CACHE_HOME": before})


def evaluated(options: argparse.Namespace, cache: Path) -> Path:
    """Measure, and write it down. Returns: the report."""
    begun, facts, notebooks = time.time(), report.machine(), list(opened_by(options))
    options.out.mkdir(parents=True, exist_ok=True)  # before minutes are spent
    parts = list(measured(options, notebooks, cache))
    little = [("sizes", "a few of everything, by --small")] if options.small else []
    about = [("notes", told(notebooks)), *little, *facts, ("took", duration(time.time() - begun))]
    return report.write(options.out, about, parts)


def duration(seconds: float) -> str:
    return f"{seconds / 60:.0f} min" if seconds >= 90 else f"{seconds:.0f} s"


def parsed(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        "python -m tests.eval",
        description="Measure what views are worth, on real notes, and write a report in Org.",
        epilog=f"Without --notes, each folder in {emacs.CORPORA_VARIABLE} is a notebook, and"
        " queries.jsonl beside it has judged questions. No network is used but for --base-url.",
    )
    add = parser.add_argument
    add("--notes", action="append", type=Path, metavar="FOLDER", help="notes; repeatable")
    add("--queries", type=Path, metavar="FILE", help="judged questions; see tests/judged.py")
    add("--base-url", metavar="URL", help="of an OpenAI-compatible endpoint, for the battery")
    add("--model", metavar="NAME", help="which model it is asked for; its key: OPENAI_API_KEY")
    add("--record", action="store_true", help="make this battery the baseline of later ones")
    add("--out", type=Path, default=Path("evaluation"), metavar="DIR", help="%(default)s")
    add("--files", type=int, metavar="N", help="the most files whose growth is measured")
    add("--small", action="store_true", help="a few of everything, in seconds")
    options = parser.parse_args(arguments)
    if bool(options.base_url) != bool(options.model):
        parser.error("--base-url and --model belong together")
    if options.base_url and not options.base_url.startswith(("http://", "https://")):
        parser.error(
            f"--base-url {options.base_url}: give one that begins with http:// or https://"
        )
    if options.queries and not options.queries.is_file():
        parser.error(f"--queries {options.queries}: there is no such file")
    corpora = emacs.corpus_root()
    if not options.notes and (corpora is None or not corpora.is_dir()):
        parser.error(f"no notes: give --notes FOLDER, or set {emacs.CORPORA_VARIABLE}")
    fewest = sizes(options).files[0]
    if options.files is not None and options.files < fewest:
        parser.error(f"--files {options.files}: give {fewest} or more")
    return options


def sizes(options: argparse.Namespace) -> Sizes:
    return SMALL if options.small else FULL


def opened_by(options: argparse.Namespace) -> Iterator[Notebook]:
    if options.notes:
        yield from map(opened, options.notes)
    elif corpora := emacs.corpus_root():
        yield from notebooks_in(corpora)


def together(options: argparse.Namespace) -> Iterator[Notebook]:
    """All of the corpora as one notebook."""
    corpora = emacs.corpus_root()
    if not options.notes and corpora:
        yield opened(corpora)


def told(notebooks: Sequence[Notebook]) -> str:
    """How many notes there are, without a name or a word of them."""
    trees = [tree for each in notebooks for tree in each.trees]
    headlines = sum(len(tree.nodes) - 1 for tree in trees)
    size = sum(len(tree.text) for tree in trees) / 1e6
    return (
        f"{many(len(notebooks), 'notebook')}, {len(trees):,} files, {headlines:,} headlines,"
        f" {size:.1f} million characters"
    )


def measured(
    options: argparse.Namespace, notebooks: Sequence[Notebook], cache: Path
) -> Iterator[Part]:
    """Every part, each announced on standard error."""
    size = sizes(options)
    files = [n for n in size.files if n <= (options.files or size.files[-1])]
    queries, corpora = asked_of(options)
    parts: dict[str, Callable[[], Part]] = {
        "evidence": lambda: evidence.part(notebooks, size.questions, SEED),
        "routing": lambda: routing.part(queries, corpora, cache),
        "walks": lambda: walking.part([*notebooks, *together(options)], size.walks, SEED),
        "battery": lambda: played(options),
        "budgets": lambda: filling.part(notebooks, size.headlines, SEED),
        "speed": lambda: speed.part(files),
    }
    for name, part in parts.items():
        begun = time.time()
        yield part()
        print(f"{name}: {time.time() - begun:.0f} s", file=sys.stderr, flush=True)


def asked_of(options: argparse.Namespace) -> tuple[Path | None, Path]:
    """The judged questions, if there are any, and the folder in which their notebooks are."""
    if options.notes:
        return options.queries, options.notes[0].resolve().parent
    return options.queries or judged.judgments(), emacs.corpus_root() or Path()


def played(options: argparse.Namespace) -> Part:
    """The battery, by the endpoint that was named, else by the scripted model."""
    if options.base_url:
        endpoint = battery.Endpoint(options.base_url, options.model, battery.key())
        return battery.part(endpoint, options.model, options.record)
    with scripted.served() as url:
        endpoint = battery.Endpoint(url, scripted.MODEL)
        return battery.part(endpoint, scripted.MODEL, options.record)
