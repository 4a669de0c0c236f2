"""What commands about the notes as a whole tell is within a budget, page by page."""

import json
import shlex

import pytest

from orgctx.tokens import count

LONG = "a-note-whose-name-is-as-long-as-names-of-notes-may-become"
BAD = [f"{LONG}-{at:04}.org" for at in range(400)]
COLLECTIONS = [f"{LONG} {at:03}" for at in range(200)]
TABLE = {"status": ("status", "notes"), "collections": ("collections", "--root", "notes")}
LISTS = {"status": "problems", "collections": "collections"}


@pytest.fixture
def notes(home):
    """Many notes that cannot be read, and many collections, one with many paths."""
    root = home / "notes"
    root.mkdir()
    (root / "a.org").write_text("* A\n")
    for each in BAD:
        (root / each).write_bytes(b"* caf\xe9\n")
    rows = [f'[[collections]]\nname = "{each}"\npaths = ["a.org"]\n' for each in COLLECTIONS]
    wide = f'[[collections]]\nname = "wide"\npaths = {json.dumps(BAD)}\n'
    (root / "orgctx.toml").write_text("".join([wide, *rows]))
    return root


def texts(ask, *call):
    """The pages of a call without their last lines; none is over its budget."""
    while call:
        out = ask(*call).out
        assert count(out) <= int(call[call.index("--budget") + 1])
        *lines, last = out.splitlines(keepends=True)
        is_cut = last.startswith("… ")
        yield "".join(lines) if is_cut else out
        call = shlex.split(last.partition(": orgctx ")[2]) if is_cut else ()


def data(ask, *call):
    """The pages of a call as data; none is over its budget."""
    while call:
        out = ask(*call, "--json").out if "--json" not in call else ask(*call).out
        assert count(out) <= int(call[call.index("--budget") + 1])
        yield (found := json.loads(out))
        call = shlex.split(found["rest"][0]["call"])[1:] if found["rest"] else ()


@pytest.mark.parametrize("name", TABLE)
def test_the_pages_are_the_whole(notes, ask, name):
    whole = ask(*TABLE[name], "--budget", "1000000").out
    assert count(whole) > 4000 >= count(ask(*TABLE[name]).out)
    found = list(texts(ask, *TABLE[name], "--budget", "1500"))
    assert len(found) > 3
    assert "".join(found) == whole


def leaves(name, rows):
    """What is in the rows, one by one."""
    if name == "status":
        return [row["path"] for row in rows]
    return [(row["id"], path) for row in rows for path in row["paths"]]


@pytest.mark.parametrize("name", TABLE)
def test_the_pages_of_data_are_the_whole(notes, ask, name):
    [whole] = data(ask, *TABLE[name], "--budget", "1000000")
    found = list(data(ask, *TABLE[name], "--budget", "2000"))
    assert len(found) > 3
    parts = [part for page in found for part in leaves(name, page[LISTS[name]])]
    assert parts == leaves(name, whole[LISTS[name]])
    assert len(parts) >= 400


@pytest.mark.parametrize("form", ["text", "json"])
@pytest.mark.parametrize("name", TABLE)
def test_a_larger_budget_shows_no_less(notes, ask, name, form):
    budgets = [500, 501, 520, 700, 1000, 2000, 4000]
    found = [ask(*TABLE[name], "--format", form, "--budget", str(n)) for n in budgets]
    assert [each.status for each in found] == [0] * len(budgets)
    assert all(count(each.out) <= n for each, n in zip(found, budgets, strict=True))
    if form == "json":
        shown = [len(leaves(name, json.loads(each.out)[LISTS[name]])) for each in found]
    else:
        shown = [len(each.out.splitlines()) for each in found]
    assert shown == sorted(shown)
    assert shown[0] < shown[-1]


@pytest.mark.parametrize("budget", [3, 300])
@pytest.mark.parametrize("form", ["text", "json"])
def test_work_is_done_whatever_is_told_of_it(notes, ask, form, budget):
    how = ("--format", form, "--budget", str(budget))
    for call in ("sync", "notes"), ("collections", "move", "wide", "--to", "1", "--root", "notes"):
        found = ask(*call, *how)
        assert found.status == 0
        assert count(found.out) <= budget
        assert ("it is done" in found.err) == (budget == 3)
    assert "rank 1, " in ask("collections", "--root", "notes", "--budget", "1000000").out


def test_init_is_done_whatever_is_told_of_it(notes, ask, home):
    found = ask("init", "--root", "notes", "--budget", "100")
    assert found.status == 0
    assert count(found.out) <= 100
    assert found.out.endswith(" more lines: orgctx collections\n")
    assert len(json.loads((home / "collections.json").read_text())) == 201


def test_warnings_are_counted(notes, ask):
    assert len(ask("collections", "--root", "notes").err.splitlines()) == 11
