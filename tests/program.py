"""The program, in this process or in one of its own, and what it answers."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import orgctx

PROGRAM = Path(sys.executable).with_name("orgctx")
TOKENIZERS = ("tiktoken", "toktok")


class Answer(NamedTuple):
    """The exit status, and what was written to standard output and to standard error."""

    status: int
    out: str
    err: str


Ask = Callable[..., Answer]
"""(*arguments, given) -> the answer. given: standard input; see the fixture `ask`."""


def as_json(answer: Answer) -> dict[str, Any]:
    """What a call that succeeded says on its one line of JSON."""
    assert (answer.status, answer.err) == (0, ""), answer
    assert answer.out.count("\n") == 1, answer.out
    return json.loads(answer.out)


def script(*arguments: str | Path, given: str = "", shell: str = "", **environment: str) -> Answer:
    """Run the console script itself, by a shell if there is something to do for it.

    given: its standard input. shell: what a shell has behind the call.
    """
    command: list[str | Path] = [PROGRAM, *arguments]
    if shell:
        command = ["bash", "-c", f'set -o pipefail; "$@" {shell}', "bash", *command]
    done = subprocess.run(
        command,
        env={**os.environ, **environment},
        input=given.encode(),
        capture_output=True,
        timeout=60,
        check=False,
    )
    return Answer(done.returncode, done.stdout.decode(), done.stderr.decode())


def run_python(script: str, cwd: Path | None = None, **environment: str) -> str:
    """Run `script` in a fresh interpreter; its standard output. It fails if the script does."""
    done = subprocess.run(
        [sys.executable, "-B", "-c", script],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(Path(orgctx.__file__).parents[1]), **environment},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def loaded_by(script: str, *packages: str) -> tuple[str, set[str]]:
    """Run `script` in a fresh interpreter.

    Returns: what it printed, without the last line's end; and which of the packages it loaded.
    """
    told = run_python(f"{script}\nimport sys\nprint(*{{*sys.modules}} & {{*{packages}}})")
    printed, _, loaded = told.removesuffix("\n").rpartition("\n")
    return printed, set(loaded.split())


def on_terminal(*arguments: str | Path, **environment: str) -> bytes:
    """What the script writes where its output is a terminal."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [PROGRAM, *arguments], stdout=theirs, stderr=theirs, env={**os.environ, **environment}
    ) as process:
        os.close(theirs)
        shown = b""
        while True:
            try:
                shown += (piece := os.read(ours, 65536))
            except OSError:  # how Linux says that the other side is closed
                break
            if not piece:
                break
    os.close(ours)
    assert process.returncode == 0
    return shown
