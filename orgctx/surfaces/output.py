"""What leaves the program: text as bytes, data as JSON lines, complaints as one line.

With --events all of it is JSON lines on standard output, each an object that is known by its first
key: `output` (text), `warning`, `progress`, `error`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import click

from ..core.entry import many
from ..core.heading import printable as seen
from ..core.model import Problem
from ..errors import OrgctxError, clipped

COMPLAINTS = 10
"""How many problems are told one by one."""
NOBODY_READS = 141
"""The exit status of a program that wrote to a closed pipe, as a shell reports it."""
STEPS = 50
"""How many events tell of the progress of one thing, at most."""

Told = Callable[[int, int], None]


def write(text: str, is_styled: bool = False) -> None:
    """Write to standard output, line ends and all; a terminal gets no control characters.

    is_styled: but for those that are in a text which was made printable before it was styled.
    Raises: OrgctxError if it cannot be written; SystemExit if nobody reads any more.
    """
    if sys.stdout is None:
        raise OrgctxError("standard output: closed", "give the program somewhere to write")
    if _is_told_by_events():
        text = to_json({"output": text})
    elif is_seen() and not is_styled:
        lines = text.replace("\r\n", "\n").split("\n")
        text = "\n".join(printable(line, keep="\t") for line in lines)
    _write(text)


def _is_told_by_events() -> bool:
    """Whether the command was called with --events."""
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.find_root().params.get("events"))


def _write(text: str) -> None:
    try:
        sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace"))
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        _discard_output()
        sys.exit(NOBODY_READS)
    except OSError as error:
        _discard_output()
        hint = "make room, or write elsewhere"
        raise OrgctxError(f"standard output: {error.strerror}", hint) from error


def is_seen() -> bool:
    """Whether standard output is a terminal."""
    return sys.stdout is not None and sys.stdout.isatty()


def _discard_output() -> None:
    """Let the interpreter's last flush go nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def complain(message: str, hint: str = "") -> None:
    """Write one line to standard error."""
    if _is_told_by_events():
        _write(to_json({"warning": clipped(message), "hint": clipped(hint)}))
        return
    line = f"orgctx: {clipped(message)}{f'; {clipped(hint)}' if hint else ''}"
    sys.stderr.buffer.write((printable(line) + "\n").encode("utf-8", "backslashreplace"))
    sys.stderr.buffer.flush()


def refuse(error: dict[str, str | int]) -> None:
    """Tell an error. error: see OrgctxError.to_data."""
    if _is_told_by_events():
        _write(to_json(error))
    else:
        complain(str(error["message"]), str(error["hint"]))


def complain_of(problems: Sequence[Problem]) -> None:
    """Write a line for each of the first problems, and one that counts the others."""
    for problem in problems[:COMPLAINTS]:
        complain(f"{problem.path}: {problem.what}", problem.hint)
    if len(problems) > COMPLAINTS:
        rest = len(problems) - COMPLAINTS
        complain(f"{many(rest, 'more problem')} of this kind", "see orgctx status")


def printable(text: str, keep: str = "") -> str:
    """The text with its control characters written out: it steers no terminal, breaks no line."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in keep or c == " " else _escape(c) for c in text)


def _escape(char: str) -> str:
    return char if ord(char) > 0x9F and not 0xD800 <= ord(char) < 0xE000 else ascii(char)[1:-1]


def to_json(data: dict[str, Any]) -> str:
    """One line of JSON, wherever lines may be taken to end: what is not seen is written out."""
    import json  # only who prints it pays

    return seen(json.dumps(data, ensure_ascii=False)) + "\n"


def to_line(row: dict[str, Any]) -> str:
    """A headline's row for people: place, stars, keyword, title and tags."""
    words = ["*" * row["level"], row["todo"], row["pri"] and f"[#{row['pri']}]", row["title"]]
    tags = f" :{':'.join(row['tags'])}:" if row["tags"] else ""
    return f"{printable(row['f'])}:{row['line']}: {' '.join(filter(None, words))}{tags}\n"


def program() -> Path:
    """Where this program is, for whoever is to start it."""
    from shutil import which  # a focus should not pay for it

    found = which(sys.argv[0]) or Path(sys.executable).with_name("orgctx")
    return Path(found).absolute()


def emacs_lines(folder: Path, program: Path) -> str:
    """Where orgctx.el is, as a comment, and the lines for an init file."""
    return (
        f";; {folder}\n"
        f"(add-to-list 'load-path {_lisp(folder)})\n"
        "(require 'orgctx)\n"
        f"(setq orgctx-program {_lisp(program)})\n"
        ";; or, from Emacs 30 on, as a package from the repository:\n"
        f';; (use-package orgctx :vc (:url "{_repository()}" :lisp-dir "orgctx/surfaces/emacs")\n'
        f";;   :custom (orgctx-program {_lisp(program)}))\n"
    )


def _repository() -> str:
    """Where the program was installed from (PEP 610); URL where that is not told."""
    import json
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        told = distribution("orgctx").read_text("direct_url.json")
    except PackageNotFoundError:
        told = None
    return str(json.loads(told)["url"]) if told else "URL"


def _lisp(path: Path) -> str:
    """The path as a string of Emacs Lisp."""
    quoted = str(path).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{quoted}"'


@contextmanager
def progress(what: str) -> Iterator[Told | None]:
    """What shows how far something is; None where nobody would see it."""
    if _is_told_by_events():
        yield _events_of(what)
    elif sys.stderr is not None and sys.stderr.isatty():
        with ExitStack() as stack:
            yield _bar_when_told(what, stack)
    else:
        yield None


def _events_of(what: str) -> Told:
    """Tell by events, not of every step."""
    last = -1

    def tell(done: int, total: int) -> None:
        nonlocal last
        step = STEPS * done // max(total, 1)
        if step > last:
            last = step
            _write(to_json({"progress": done, "total": total, "what": what}))

    return tell


def _bar_when_told(what: str, stack: ExitStack) -> Told:
    """Tell by a bar, which is there from the first step on: most often there is none."""
    tell: Told | None = None

    def first(done: int, total: int) -> None:
        nonlocal tell
        tell = tell or stack.enter_context(_bar(what))
        tell(done, total)

    return first


@contextmanager
def _bar(what: str) -> Iterator[Told]:
    """A bar on standard error with rate and time left."""
    from rich import progress as bars  # rich, only for a terminal
    from rich.console import Console

    columns = (bars.BarColumn(), bars.MofNCompleteColumn(), bars.TimeRemainingColumn())
    shown = bars.Progress(what, *columns, console=Console(file=sys.stderr), transient=True)
    with shown:
        task = shown.add_task(what, total=None)
        yield lambda done, total: shown.update(task, completed=done, total=total)


def origin_of(error: BaseException) -> str:
    """Where an exception came from; not its message, which may hold a note's text."""
    from traceback import extract_tb  # only a bug needs it

    frames = extract_tb(error.__traceback__)
    where = f" at {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}{where}"
