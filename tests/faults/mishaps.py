"""What befalls a memex of twelve notes, and what its answers must be like then."""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from notes import note
from program import Answer, Ask
from stores import check_equal_to_a_fresh_store

from orgctx.store import files

SECRET = "platypus"
NOTES = 12


either_way = pytest.mark.parametrize("options", [(), ("--no-sync",)], ids=["sync", "no sync"])


def replace(place: Path, text: str) -> None:
    """Save as editors do: whoever reads sees the old file or the new one."""
    new = place.with_name(f".{place.name}.{threading.get_ident()}")
    new.write_text(text, encoding="utf-8")
    os.replace(new, place)


def edit(root: Path, version: int) -> None:
    """Write the next version of two notes, or at first of all."""
    for number in {version % NOTES, version * 7 % NOTES} if version else range(NOTES):
        text = note(f"N{number}", f"id-{number:06}", f"text of N{number} {version}")
        replace(root / f"{number}.org", text)


def overtake(
    monkeypatch: pytest.MonkeyPatch, at_start: Callable[[], object], at_end: Callable[[], object]
) -> None:
    """Let something happen while the next sync walks the folders."""
    walk = files.notes

    def overtaken(*arguments: Any) -> Iterator[files.Found]:
        monkeypatch.setattr(files, "notes", walk)
        at_start()
        yield from walk(*arguments)
        at_end()

    monkeypatch.setattr(files, "notes", overtaken)


def nothing() -> None:
    pass


SEVERAL = """\
import json, os, sys
from orgctx.surfaces.cli import run

def answer(call):
    pipes, kept = (os.pipe(), os.pipe()), (os.dup(1), os.dup(2))
    for at, (_, entry) in enumerate(pipes, 1):
        os.dup2(entry, at)
        os.close(entry)
    status = run(call)
    for at, place in enumerate(kept, 1):
        os.dup2(place, at)
        os.close(place)
    return [status, *(open(end, encoding="utf-8").read() for end, _ in pipes)]

print(json.dumps([answer(call) for call in json.loads(sys.argv[1])]))
"""


def elsewhere(
    *calls: tuple[str | Path, ...], seconds: float = 60, before: Callable[[], None] | None = None
) -> list[Answer]:
    """Run the program several times in a process of its own.

    before: called in that process, which may be put under limits. The answers are short.
    """
    given = json.dumps([[str(each) for each in call] for call in calls])
    command = [sys.executable, "-c", SEVERAL, given]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=seconds, check=True, preexec_fn=before
    )
    assert done.stderr == ""
    return [Answer(*each) for each in json.loads(done.stdout)]


def obey_modes() -> None:
    """In a process to be: have root obey file modes as anybody does."""
    cap_dac_override, cap_dac_read_search, drop = 1, 2, 24
    if os.geteuid() == 0:
        for capability in (cap_dac_override, cap_dac_read_search):
            if ctypes.CDLL(None).prctl(drop, capability, 0, 0, 0):
                os._exit(99)


def check_answer(answer: Answer) -> str:
    """The right text and no more than one line of complaint. Returns: that line."""
    assert answer.status == 0, answer.err
    assert "text of N3\n" in answer.out
    assert answer.out.count("text of") == 1
    if answer.err:
        assert answer.err.startswith("orgctx: no store: ")
        assert answer.err.count("\n") == 1
    return answer.err


def question(root: Path) -> tuple[str | Path, ...]:
    return "focus", "id-000003", "--root", root


def check_repaired(ask: Ask, root: Path, tmp_path: Path) -> None:
    """After a sync all is as it should be, and nothing complains."""
    synced = ask("sync", root)
    assert (synced.status, synced.err) == (0, "")
    assert check_answer(ask(*question(root))) == ""
    check_equal_to_a_fresh_store(root, tmp_path)
