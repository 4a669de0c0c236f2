"""The tools that write: in a copy, bounded and sealed; the notes change at commit."""

import json
import os
from pathlib import Path
from typing import Any

import copies
import pytest
from copies import Notes
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from program import Ask
from test_tools import ANY, MARKED, cost, error, parts, rarely

from orgctx import open_memex
from orgctx.errors import BadArgument
from orgctx.surfaces.answers import BUDGET, ERROR
from orgctx.surfaces.editing import INSTRUCTIONS, WRITING, new_desk
from orgctx.surfaces.tools import READING, Tools, instructions
from orgctx.tokens import count

EXAMPLES = int(os.environ.get("ORGCTX_EXAMPLES", "300"))


@pytest.fixture
def notes(tmp_path: Path) -> Notes:
    return Notes.make(tmp_path)


@pytest.fixture
def tools(notes: Notes) -> Tools:
    notes.work.open("x")
    return open_memex(work="x").tools(write=True)


def done(tools: Tools, name: str, /, **arguments: Any) -> list[str]:
    """The lines of an answer."""
    answer = tools.call(name, arguments)
    assert not answer.is_error, answer.text
    return parts(answer)[0].splitlines()


# --- The words -----------------------------------------------------------------------------------


def test_the_tools_that_read_come_first_and_are_the_same(tools: Tools) -> None:
    names = [each["name"] for each in tools.anthropic()]
    assert names == [each.name for each in (*READING, *WRITING)]
    assert len(set(names)) == len(names)
    assert [each.name for each in WRITING if each.is_reading] == ["diff"]
    assert all(each.is_reading for each in READING)


def test_the_manifest_is_small(tools: Tools) -> None:
    assert count(json.dumps(tools.anthropic(), separators=(",", ":"))) <= 1900
    assert instructions(is_writing=True).endswith(INSTRUCTIONS)
    assert count(INSTRUCTIONS) <= 60


def test_who_only_reads_has_no_tools_that_write(notes: Notes) -> None:
    answer = open_memex(notes.root).tools().call("commit", {"message": "m"})
    assert error(answer)["error"] == "NotFound"
    with pytest.raises(BadArgument, match="not the notes of a copy"):
        open_memex(notes.root).tools(write=True)


# --- Edits ---------------------------------------------------------------------------------------


def test_an_edit_is_read_at_once_and_is_in_the_notes_at_commit(notes: Notes, tools: Tools) -> None:
    before = copies.state(notes.root)
    read = tools.call("read", {"address": "id:one-1"})
    revision = parts(read)[0].splitlines()[0].split(" — ")[-1].split(",")[0]
    edited = tools.call(
        "edit", {"path": "a.org", "old": "text one", "new": "mine", "base": revision}
    )
    assert parts(edited)[0].startswith(f"a.org: {revision[:12]}")
    assert "mine" in tools.call("focus", {"addresses": ["id:one-1"]}).text
    assert copies.state(notes.root) == before
    assert "+mine" in done(tools, "diff")
    assert done(tools, "commit", message="say mine") == ["written a.org"]
    assert notes.get("a.org") == copies.A.replace("text one", "mine")
    assert done(tools, "diff") == done(tools, "commit", message="again") == ["nothing was edited"]


def test_each_tool_edits(notes: Notes, tools: Tools) -> None:
    done(tools, "write", path="new.org", text="* New\n* TODO Second\n")
    done(tools, "edit_entry", address="new.org::New", text="* Newer\nbody\n")
    done(tools, "insert_entry", address="new.org::Newer", text="* Inner\n", where="first")
    done(tools, "set_keyword", address="new.org::Newer", keyword="TODO")
    done(tools, "set_keyword", address="new.org::Second", keyword="")
    done(tools, "set_property", address="new.org::Second", name="Effort", value="1:00")
    done(tools, "set_property", address="new.org::Newer", name="Effort", value="1:00")
    done(tools, "set_property", address="new.org::Newer", name="Effort", value="")
    moved = tools.call("move_entry", {"address": "sub/b.org::B/Below", "to": "new.org::Second"})
    assert [each["path"] for each in moved.data["edits"]] == ["sub/b.org", "new.org"]
    done(tools, "move", path="new.org", to="sub/new.org")
    done(tools, "delete", address="sub/deeper/c.org")
    assert sorted(done(tools, "commit", message="all of it", allow_shrink=True)) == [
        "deleted sub/deeper/c.org",
        "written sub/b.org",
        "written sub/new.org",
    ]
    second = "* Second\n:PROPERTIES:\n:Effort:   1:00\n:END:\n** Below\nmore\n"
    assert notes.get("sub/new.org") == "* TODO Newer\nbody\n** Inner\n" + second
    assert notes.get("sub/b.org") == "* B\ntext b\n"


def test_what_others_write_is_seen_by_the_next_call(notes: Notes, tools: Tools) -> None:
    done(tools, "edit", path="a.org", old="text one", new="mine")
    notes.put("sub/b.org", "* Theirs\n")
    notes.replace("a.org", "text two", "theirs")
    assert "Theirs" in tools.call("ls", {"path": "sub/b.org"}).text
    assert done(tools, "commit", message="merge") == ["merged a.org"]
    assert notes.get("a.org") == copies.A.replace("text one", "mine").replace("text two", "theirs")


def test_a_conflict_is_told_and_stays_in_the_copy(notes: Notes, tools: Tools) -> None:
    done(tools, "edit", path="a.org", old="text one", new="mine")
    notes.replace("a.org", "text one", "theirs")
    answer = tools.call("commit", {"message": "m"})
    assert parts(answer)[0].startswith("conflict a.org")
    assert answer.data["is_whole"] is False
    assert done(tools, "commit", message="m", on_conflict="ours")[0].startswith("merged a.org")
    assert "mine" in (notes.get("a.org") or "")


@pytest.mark.parametrize(
    ("name", "arguments", "kind"),
    [
        ("edit", {"path": "a.org", "old": "text", "new": "x"}, "Ambiguous"),
        ("edit", {"path": "a.org", "old": "nowhere", "new": "x"}, "NotFound"),
        ("edit", {"path": "a.org", "old": "text one", "new": "x", "base": "0" * 12}, "Stale"),
        ("edit", {"path": "a.org", "old": "text one", "new": "* Up"}, "BadArgument"),
        ("edit_entry", {"address": "a.org::Onee", "text": "* x\n"}, "NotFound"),
        ("write", {"path": "../out.org", "text": ""}, "OutsideRoot"),
        ("write", {"path": "out.txt", "text": ""}, "BadArgument"),
        ("move", {"path": "a.org", "to": "sub/b.org"}, "BadArgument"),
        ("delete", {"address": "gone.org"}, "NotFound"),
        ("set_keyword", {"address": "a.org::One", "keyword": "PERHAPS"}, "BadArgument"),
        ("commit", {"message": " "}, "BadArgument"),
        ("diff", {"after": -1}, "BadArgument"),
    ],
)
def test_what_cannot_be_done_is_refused(
    notes: Notes, tools: Tools, name: str, arguments: dict[str, Any], kind: str
) -> None:
    assert error(tools.call(name, arguments))["error"] == kind
    assert done(tools, "diff") == ["nothing was edited"]


def test_a_long_diff_goes_on(notes: Notes, tools: Tools) -> None:
    done(tools, "write", path="long.org", text="".join(f"* Line {n}\n" for n in range(300)))
    found, after, whole = [], 0, done(tools, "diff")
    while True:
        answer = tools.call("diff", {"budget": 400, "after": after})
        body, below = parts(answer)
        assert cost(answer) <= 400
        found += body.splitlines()
        if not below:
            break
        after = json.loads(below[0].partition(": diff ")[2])["after"]
    assert found == whole


def test_the_command_edits_in_a_copy(notes: Notes, ask: Ask) -> None:
    notes.work.open("x")
    names = [each["name"] for each in json.loads(ask("tool", "--work", "x").out)["tools"]]
    assert names == [each.name for each in (*READING, *WRITING)]
    edited = {"path": "a.org", "old": "text one", "new": "mine"}
    assert ask("tool", "edit", json.dumps(edited), "--work", "x").status == 0
    assert notes.get("a.org") == copies.A
    assert ask("tool", "commit", '{"message": "m"}', "--work", "x").status == 0
    assert notes.get("a.org") == copies.A.replace("text one", "mine")
    assert ask("tool", "diff", "--work", "x", "--root", notes.root).status == 2
    assert ask("tool", "diff", "--work", "none").status == 1


@pytest.mark.parametrize(
    "call", [("tool", "diff"), ("mcp", "--dry-run", "eggs"), ("mcp", "--print-config", "codex")]
)
def test_inline_tasks_are_headlines_to_who_edits(
    notes: Notes, ask: Ask, call: tuple[str, ...]
) -> None:
    notes.work.open("x")
    refused = ask(*call, "--work", "x", "--inlinetask-min-level", "15")
    assert (refused.status, refused.out) == (2, "")
    assert "leave it out" in refused.err
    memex = open_memex(work="x", inlinetask_min_level=15)
    assert memex.tools().call("ls").is_error is False
    with pytest.raises(BadArgument):
        memex.tools(write=True)


# --- Whatever is asked ---------------------------------------------------------------------------

PATHS = st.sampled_from(["a.org", "a.org::One", "sub/b.org", "id:one-1", "new.org", "sub/"])
WORDS = st.sampled_from(["text one", "* New\n", "mine\n", "* a\n** b\n", "", "last", "0" * 12])
RIGHT = {
    "string": rarely(PATHS | WORDS, st.text(max_size=20)),
    "integer": st.integers(0, 60) | st.integers(0, 900),
    "boolean": st.booleans(),
}


@st.composite
def calls(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    """Mostly calls that do something."""
    tool = draw(st.sampled_from(WRITING))
    given: dict[str, Any] = {}
    for name, each in tool.parameters.items():
        if each.is_required or draw(st.integers(0, 4)) == 0:
            right = st.sampled_from(each.choices) if each.choices else RIGHT[each.kind]
            given[name] = draw(rarely(right, ANY))
    return tool.name, given


@settings(max_examples=EXAMPLES // 10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(calls(), min_size=5, max_size=15))
def test_any_call_is_answered_within_its_budget(
    tmp_path_factory: pytest.TempPathFactory, asked: list[tuple[str, dict[str, Any]]]
) -> None:
    place = tmp_path_factory.mktemp("any")
    notes = Notes.make(place)
    copy_id = place.name
    notes.work.open(copy_id)
    tools = open_memex(work=copy_id).tools(write=True)
    before = copies.state(notes.root)
    for name, arguments in asked:
        edited = notes.work.diff(copy_id)
        answer = tools.call(name, arguments)
        if answer.is_error:
            found = error(answer)
            assert found["error"] != "Bug", (name, arguments, found)
            assert found["message"]
            assert count(answer.text) <= ERROR
            assert (copies.state(notes.root), notes.work.diff(copy_id)) == (before, edited)
            event(f"{found['error']}")
        else:
            assert MARKED.match(answer.text)
            assert cost(answer) <= (arguments.get("budget") or BUDGET)
            event(f"{name} answered")
        if name != "commit":
            assert copies.state(notes.root) == before
        before = copies.state(notes.root)
    notes.work.discard(copy_id)


def test_what_is_done_is_told_within_any_budget_or_it_is_not_done(
    notes: Notes, tools: Tools
) -> None:
    """A refusal after the work would have it done again."""
    for budget in range(1, 80):
        told = {}
        for name in ("edit", "commit"):
            if name == "commit" and told["edit"].is_error:
                done(tools, "edit", path="a.org", old="text one", new=f"{budget} text one")
            before = copies.state(notes.root), notes.work.diff("x")
            given = {"path": "a.org", "old": "text one", "new": f"{budget} text one"}
            call = {"message": "m"} if name == "commit" else given
            told[name] = tools.call(name, {**call, "budget": budget})
            is_done = before != (copies.state(notes.root), notes.work.diff("x"))
            assert is_done != told[name].is_error
            assert cost(told[name]) <= budget or told[name].is_error


def test_a_passing_copy_without_edits_is_gone_at_the_end(notes: Notes) -> None:
    for is_edited in (False, True):
        desk = new_desk([str(notes.root)])
        tools = Tools(desk.copy.store, desk=desk)
        if is_edited:
            done(tools, "write", path="new.org", text="* New\n")
        assert tools.close() == (desk.copy.id if is_edited else "")
        assert [each.id for each in notes.work.status()] == [desk.copy.id] * is_edited
    named = new_desk([str(notes.root)], "mine")
    assert Tools(named.copy.store, desk=named).close() == ""
    assert "mine" in [each.id for each in notes.work.status()]
