"""What an editor is told: each thing that leaves the program is a line of JSON of its own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from notes import write
from program import Ask, script

from orgctx import open_memex

HERE = Path()


@pytest.fixture
def ask(home: Path, ask: Ask) -> Ask:
    """Run the program in a folder with notes in it."""
    write(home, {"garden.org": "* Beds\nDig, 挖地.\n* Paths\n", "x/#+é.org": '* {"error": "x"}\n'})
    return ask


def told(ask: Ask, *arguments: str, status: int = 0, given: str = "") -> list[dict[str, Any]]:
    """The events of a call, which says nothing else."""
    answer = ask("--events", *arguments, given=given)
    assert (answer.status, answer.err) == (status, "")
    assert answer.out.endswith("\n") or not answer.out
    return [json.loads(line) for line in answer.out.split("\n")[:-1]]


@pytest.mark.parametrize(
    "arguments",
    [
        ("focus", "garden.org:1"),
        ("focus", "garden.org:1", "--format", "json"),
        ("focus", "x/#+é.org:1"),
        ("read", "garden.org:1"),
        ("outline", "garden.org"),
    ],
)
def test_output_is_what_it_is_without_events(ask: Ask, arguments: tuple[str, ...]) -> None:
    events = told(ask, *arguments)
    assert [list(event) for event in events] == [["output"]] * len(events)
    assert "".join(event["output"] for event in events) == ask(*arguments).out != ""


ERRORS: dict[tuple[str, ...], tuple[str, int]] = {
    ("focus", "nowhere.org"): ("NotFound", 1),
    ("focus", "garden.org:1", "--budget", "1"): ("BudgetTooSmall", 3),
    ("focus", "garden.org:1", "--budget", "x"): ("BadParameter", 2),
    ("focus",): ("MissingParameter", 2),
    ("fokus",): ("UsageError", 2),
    ("ls",): ("BadArgument", 2),
    ("outline", "x/none.org"): ("NotFound", 1),
    ("cite", "--cites", "x/none.json"): ("NotFound", 1),
}


@pytest.mark.parametrize(("arguments", "wanted"), ERRORS.items())
def test_an_error_is_told_with_its_class_message_and_hint(
    ask: Ask, arguments: tuple[str, ...], wanted: tuple[str, int]
) -> None:
    kind, status = wanted
    *_, error = told(ask, *arguments, status=status)
    assert error["error"] == kind
    plain = ask(*arguments)
    hint = f"; {error['hint']}" if error["hint"] else ""
    assert plain == (status, "", f"orgctx: {error['message']}{hint}\n")


def test_too_small_a_budget_names_the_one_that_works(ask: Ask) -> None:
    [error] = told(ask, "focus", "garden.org:1", "--budget", "1", status=3)
    assert error["where"] == "garden.org:1"
    [event] = told(ask, "focus", "garden.org:1", "--budget", str(error["needed"]))
    assert "* Beds" in event["output"]


def test_a_fault_of_the_program_is_an_error_too(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("orgctx.surfaces.seeing.store_for", lambda *_: 1 / 0)
    [error] = told(ask, "focus", "garden.org:1", status=70)
    assert error["error"] == "ZeroDivisionError"
    assert "bug" in error["message"]


def test_progress_and_warnings_are_told(ask: Ask) -> None:
    write(HERE, {f"many/{n}.org": f"* {n}\n" for n in range(300)})
    *steps, output, warning = told(ask, "ls", "--no-sync", "--root", "many")
    assert 40 < len(steps) <= 51
    assert steps[-1] == {"progress": 300, "total": 300, "what": "reading notes"}
    assert [step["progress"] for step in steps] == sorted({step["progress"] for step in steps})
    assert (list(output), list(warning)) == (["output"], ["warning", "hint"])
    assert [next(iter(event)) for event in told(ask, "ls", "--root", "many")] == ["output"]


def test_what_the_system_calls_text_is_told_as_json(home: Path) -> None:
    write(home, {"a.org": b"* A\n"})
    answer = script("--events", "focus", b"\xff.org".decode("utf-8", "surrogateescape"))
    assert (answer.status, answer.err) == (1, "")
    assert json.loads(answer.out)["error"] == "NotFound"


def test_a_first_sync_reads_each_note_once(home: Path, ask: Ask) -> None:
    write(home, {f"many/{n}.org": f"* {n}\n" for n in range(3)})
    events = told(ask, "sync", "many", "--json")
    assert [event["progress"] for event in events[:-1]] == [1, 2, 3]
    assert json.loads(events[-1]["output"])["read"] == 3
    assert len(open_memex("many").ls().rows) == 1
