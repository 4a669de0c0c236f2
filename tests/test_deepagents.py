"""Notes as the files of a deep agent: the protocol's rules, and turns that end in one commit."""

import asyncio
import inspect
import re
import subprocess
import sys

import copies
import pytest
from copies import Notes
from hypothesis import event, given
from hypothesis import strategies as st
from test_odd_arguments import ODD, ODD_TEXTS

pytest.importorskip("deepagents", reason="needs pip install 'orgctx[deepagents]'")

from deepagents import FilesystemPermission, create_deep_agent
from deepagents.backends import CompositeBackend, StateBackend, StoreBackend
from deepagents.backends.protocol import BackendProtocol, FileData
from deepagents.backends.utils import slice_read_response
from deepagents.middleware.filesystem import READ_FILE_TOOL_DESCRIPTION
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import RunnableLambda
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.store.memory import InMemoryStore
from langgraph.types import Command

from orgctx import open_memex
from orgctx.cites import normalised
from orgctx.errors import BadArgument
from orgctx.surfaces.deepagents import OrgctxBackend
from orgctx.surfaces.langchain import langchain_tools
from orgctx.surfaces.turns import FileTools, Turns, asked, tool_descriptions
from orgctx.tokens import count
from orgctx.workcopy import Workcopies

METHODS = (
    "ls",
    "read",
    "grep",
    "glob",
    "write",
    "edit",
    "delete",
    "upload_files",
    "download_files",
)
HOUSE = "House and garden, all that is to be done."


@pytest.fixture
def notes(tmp_path):
    return Notes.make(tmp_path)


@pytest.fixture
def backend(notes):
    return OrgctxBackend(notes.root)


def paths(infos):
    return [info["path"] for info in infos]


# --- The protocol --------------------------------------------------------------------------------


def test_every_method_of_the_protocol_is_there():
    known = {
        name: method
        for name, method in inspect.getmembers(BackendProtocol, inspect.isfunction)
        if not name.startswith("_") and not inspect.iscoroutinefunction(method)
    }
    assert set(known) == set(METHODS)
    for name, method in known.items():
        own = getattr(OrgctxBackend, name)
        assert own is not method
        wanted = inspect.signature(method).parameters.values()
        assert [
            (p.name, p.default, p.kind) for p in inspect.signature(own).parameters.values()
        ] == [(p.name, p.default, p.kind) for p in wanted]


def test_ls(backend):
    found = backend.ls("/").entries
    assert paths(found) == ["/a.org", "/sub/"]
    assert [info["is_dir"] for info in found] == [False, True]
    assert found[0]["size"] == len(copies.A)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:.]+\+00:00", found[0]["modified_at"])
    assert paths(backend.ls("/sub/").entries) == ["/sub/b.org", "/sub/deeper/"]
    assert (
        backend.ls("/a.org").error == "BadArgument: /a.org: not_a_directory; it is a note, read it"
    )
    assert "did you mean sub/deeper?" in backend.ls("/sub/deper").error
    assert backend.ls("/..").entries is None


def test_several_roots(tmp_path):
    for name in ("office", "attic"):
        Notes(tmp_path / name, None).put("sub/a.org", f"* {name}\n")
    backend = OrgctxBackend(tmp_path / "office", tmp_path / "attic")
    assert paths(backend.ls("/").entries) == ["/office/", "/attic/"]
    assert paths(backend.glob("a.org").matches) == ["/attic/sub/a.org", "/office/sub/a.org"]
    assert backend.edit("/attic/sub/a.org", "attic", "here").path == "/attic/sub/a.org"
    assert backend.write("/a.org", "* x\n").error.startswith("NotFound: a.org: in no root")
    for path in ("/", "/office", "/office/"):
        assert "a root of the notes" in backend.delete(path).error
    assert [each.what for each in backend.commit("a test").outcomes] == ["written"]
    assert (tmp_path / "attic/sub/a.org").read_text() == "* here\n"


@pytest.mark.parametrize(
    ("offset", "limit", "shown", "window"),
    [
        (0, 2000, "1\n2\n3\n", (1, 3, None)),
        (0, 2, "1\n2\n", (1, 2, 2)),
        (1, 1, "2\n", (2, 2, 2)),
        (2, 5, "3\n", (3, 3, None)),
        (-5, 1, "1\n", (1, 1, 1)),
    ],
)
def test_a_window(backend, offset, limit, shown, window):
    backend.write("/n.org", "1\n2\n3\n")
    found = backend.read("/n.org", offset, limit)
    assert found.file_data == {"content": shown, "encoding": "utf-8"}
    assert (found.start_line, found.end_line, found.next_offset) == window
    assert found.total_lines == 3


def test_no_window(backend):
    backend.write("/n.org", "1\n2\n3\n")
    for limit in (0, -3):
        found = backend.read("/n.org", 0, limit)
        assert found.no_lines_requested
        assert found.file_data["content"] == ""
    assert "exceeds file length (3 lines); give 0 to 2" in backend.read("/n.org", 3).error
    backend.write("/n.org", " \n")
    found = backend.read("/n.org", 5, 0)
    assert (found.file_data["content"], found.start_line, found.no_lines_requested) == (
        " \n",
        None,
        False,
    )


@pytest.mark.parametrize("text", ["a\x0cb\nc\x85d\u2028e\n\x1c\n", "a\rb\nc"])
def test_what_else_would_end_a_line_does_not(backend, text):
    backend.write("/n.org", text)
    lines = text.removesuffix("\n").split("\n")
    for number, line in enumerate(lines):
        found = backend.read("/n.org", number, 1)
        assert found.file_data["content"].removesuffix("\n") == line
        assert found.total_lines == len(lines)


LINES = st.lists(st.text("ab *\t", max_size=4), max_size=6)


@given(LINES, st.booleans(), st.integers(-2, 8), st.integers(-1, 8))
def test_a_window_is_upstreams(tmp_path_factory, lines, is_ended, offset, limit):
    text = "\n".join(lines) + "\n" * is_ended
    place = tmp_path_factory.mktemp("n")
    notes = Notes.make(place, {"n.org": text})
    found = OrgctxBackend(notes.root, state=place / "state").read("/n.org", offset, limit)
    wanted = slice_read_response(FileData(content=text, encoding="utf-8"), offset, limit)
    event("error" if wanted.error else f"window: {wanted.start_line is not None}")
    if wanted.error:
        assert wanted.error.lower() in found.error
        wanted.error = found.error
    assert found == wanted


def test_write_and_read(backend, notes):
    assert backend.write("/new/n.org", "* N\n").path == "/new/n.org"
    assert backend.read("/new/n.org").file_data["content"] == "* N\n"
    assert backend.write("/new/n.org", "* M\n").error is None
    assert backend.read("/new/n.org").file_data["content"] == "* M\n"
    assert notes.get("new/n.org") is None
    assert backend.write("/n.txt", "x").error == (
        "BadArgument: n.txt: a note's name ends in .org or .org_archive; give another name"
    )


def test_edit(backend):
    found = backend.edit("/a.org", "text one", "mine")
    assert (found.path, found.occurrences) == ("/a.org", 1)
    assert "there 5 times; give more of it" in backend.edit("/a.org", "t", "T").error
    assert backend.edit("/a.org", "t", "T", replace_all=True).occurrences == 5
    assert backend.read("/a.org").file_data["content"] == copies.A.replace(
        "text one", "mine"
    ).replace("t", "T")
    assert "like its first line" in backend.edit("/a.org", "* Owo\n", "").error
    assert "did you mean sub/b.org" in backend.edit("/b.org", "a", "b").error


def test_an_edit_that_would_open_a_headline_says_how_to(backend):
    wrong = backend.edit("/sub/b.org", "text b", "* bullet")
    assert "would be a headline beside the entry; indent it; or to add a headline" in wrong.error
    assert backend.edit("/sub/b.org", "* B\n", "* New\n* B\n").occurrences == 1


def test_delete(backend):
    assert backend.delete("/a.org").path == "/a.org"
    assert backend.delete("/a.org").error.startswith("NotFound: a.org")
    backend.write("/sub/deeper/d.org", "* D\n")
    assert backend.delete("/sub/").path == "/sub"
    assert backend.ls("/").entries == []
    for path in ("/", "", "//"):
        assert "a root of the notes" in backend.delete(path).error


def test_upload_and_download(backend, notes):
    crlf = "* C\r\nd\r\n"
    notes.put("crlf.org", crlf)
    up = backend.upload_files(
        [
            ("/n.org", "* ü\n".encode()),
            ("/../x.org", b""),
            ("/n.txt", b""),
            ("/l.org", b"# -*- coding: latin-1 -*-\n\xfc\n"),
            ("/m.org", b"\xff"),
            ("/crlf.org", b"* C\ne\n"),
            ("/a.org", "text"),
            None,
        ]
    )
    errors = [each.error for each in up]
    assert errors[:3] == [None, "invalid_path", "invalid_path"]
    assert errors[3] == "Unreadable: /l.org: in latin-1; give the text in UTF-8"
    assert errors[4].startswith("Unreadable: /m.org: not UTF-8")
    assert errors[5] is None
    assert all(each.startswith("BadArgument: ") for each in errors[6:])
    down = backend.download_files(["/n.org", "/crlf.org", "/b.org", "/sub", "/..", 5])
    assert [each.content for each in down] == ["* ü\n".encode(), b"* C\ne\n", *[None] * 4]
    assert [each.error for each in down][2:] == [
        *("file_not_found", "is_directory", "invalid_path", "invalid_path"),
    ]
    assert (backend.copy().folder / "crlf.org").read_bytes() == b"* C\r\ne\r\n"


TREE = {
    "a.org": "* needle\n",
    "readme.org_archive": "",
    "sub/b.org": "no\nneedle\nneedle\n",
    "sub/nested/c.org": "needle\n",
}
EVERY = {"/a.org", "/sub/b.org", "/sub/nested/c.org"}
MATRIX = [
    ("*.org", "/", EVERY),
    ("**/*.org", "/", EVERY),
    ("*", "/", EVERY | {"/readme.org_archive"}),
    ("*.org_archive", None, {"/readme.org_archive"}),
    ("sub/*.org", "/", {"/sub/b.org"}),
    ("sub/**/*.org", "/", {"/sub/b.org", "/sub/nested/c.org"}),
    ("/*.org", "/", {"/a.org"}),
    ("/*.org", "/sub", {"/sub/b.org"}),
    ("a.org/**", "/", set()),
    ("*.org", "/sub", {"/sub/b.org", "/sub/nested/c.org"}),
    ("*.org", "sub/", {"/sub/b.org", "/sub/nested/c.org"}),
    ("nested/*", "/sub", {"/sub/nested/c.org"}),
    ("*.{org,md}", "/", EVERY),
    ("*.{org,org_archive}", "/", EVERY | {"/readme.org_archive"}),
    ("{a,{b,x}}.org", "/", {"/a.org", "/sub/b.org"}),
    ("?.org", "/", EVERY),
    ("[ab].org", "/", {"/a.org", "/sub/b.org"}),
    ("[!a].org", "/", EVERY - {"/a.org"}),
    ("[^a].org", "/", EVERY - {"/a.org"}),
    (".*", "/", set()),
    ("sub", "/", set()),
    ("sub/", "/", set()),
    ("*.org/", "/", set()),
    ("a.org", "/sub", set()),
    ("A.org", "/", set()),
]


@pytest.mark.parametrize(("pattern", "path", "found"), MATRIX)
def test_glob(tmp_path, pattern, path, found):
    backend = OrgctxBackend(Notes.make(tmp_path, TREE).root)
    result = backend.glob(pattern, path)
    assert set(paths(result.matches)) == found
    assert (result.error, result.truncated) == (None, False)
    if found:
        hits = {each["path"] for each in backend.grep("needle", path, glob=pattern).matches}
        assert hits == found - {"/readme.org_archive"}


@pytest.mark.parametrize("pattern", ["../*.org", "a/../*", "{a,b}" * 20, "", None])
def test_a_pattern_that_is_none(backend, pattern):
    for result in (backend.glob(pattern), backend.grep("text", glob=pattern or "../x")):
        assert result.matches is None
        assert result.error.startswith("BadArgument: pattern")


def test_glob_and_grep_where_nothing_is(backend):
    for result in (backend.glob("*", "/sbu"), backend.grep("text", "/sbu")):
        assert result.error == "NotFound: sbu: there is no such folder; did you mean sub?"


def test_a_long_answer_is_cut(tmp_path):
    many = {f"{number:04}.org": "needle\n" for number in range(1002)}
    backend = OrgctxBackend(Notes.make(tmp_path, many).root)
    found = backend.glob("*")
    assert (len(found.matches), found.truncated, found.truncation_reason) == (1000, True, "budget")
    assert (len(backend.grep("needle").matches), backend.grep("needle").truncated) == (1000, True)
    assert len(backend.grep("needle", max_count=1001).matches) == 1001
    exact = backend.grep("needle", max_count=1002)
    assert (len(exact.matches), exact.truncated) == (1002, False)


def test_grep(backend):
    found = backend.grep("text", "/a.org")
    assert found.matches == [
        {"path": "/a.org", "line": 6, "text": "text one"},
        {"path": "/a.org", "line": 8, "text": "text two"},
    ]
    assert backend.grep("te.t").matches == []
    assert backend.grep("").error.startswith("BadArgument: pattern: empty")
    assert backend.grep("text", max_count=0).error.startswith("BadArgument: limit")


OTHER_NAMES = [
    "id:file-1",
    "/id:file-1",
    "notes/a.org",
    "/a.org:3",
    "/a.org::One",
    "#c",
    "[[a.org]]",
]


@pytest.mark.parametrize("name", OTHER_NAMES)
def test_a_note_has_one_path(notes, backend, name):
    """Else a rule that denies its path would not hold."""
    notes.put("a.org", ":PROPERTIES:\n:ID: file-1\n:CUSTOM_ID: c\n:END:\n* One\nneedle\n")
    before = copies.files(backend.copy().folder)
    for result in (
        backend.read(name),
        backend.ls(name),
        backend.edit(name, "needle", "x"),
        backend.delete(name),
        backend.write(name, "* x\n"),
        backend.grep("needle", name),
        *backend.upload_files([(name, b"* x\n")]),
        *backend.download_files([name]),
    ):
        assert result.error
        assert "needle" not in result.error
    assert copies.files(backend.copy().folder) == before


@pytest.mark.parametrize(
    "path", ["/../x.org", "../x.org", "~/x.org", "/sub/../../x.org", "/a\0.org"]
)
def test_nothing_outside_is_reached(tmp_path, notes, backend, path):
    notes.put("x.org", "needle", tmp_path)
    backend.copy()
    before = copies.state(tmp_path)
    for result in (
        backend.read(path),
        backend.ls(path),
        backend.edit(path, "needle", "x"),
        backend.delete(path),
        backend.write(path, "* x\n"),
        backend.grep("needle", path),
        backend.glob("*", path),
        *backend.upload_files([(path, b"* x\n")]),
        *backend.download_files([path]),
    ):
        assert result.error
    assert copies.state(tmp_path) == before


def test_what_is_private_is_not_there(tmp_path):
    texts = {
        "orgctx.toml": 'private_tags = ["private"]\n',
        "a.org": "* Open\n* Hidden :private:\nneedle\n",
        "b.org": "#+filetags: :private:\nneedle\n",
    }
    backend = OrgctxBackend(Notes.make(tmp_path, texts).root)
    assert paths(backend.ls("/").entries) == ["/a.org"]
    assert backend.read("/a.org").file_data["content"] == "* Open\n"
    assert backend.grep("needle").matches == []
    assert backend.read("/b.org").error.startswith("NotFound: b.org: there is no such file")


USUAL = {
    "ls": {"path": "/sub"},
    "read": {"file_path": "/a.org", "offset": 1, "limit": 2},
    "grep": {"pattern": "text", "path": "/sub", "glob": "*.org", "max_count": 1},
    "glob": {"pattern": "*.org", "path": "/sub"},
    "write": {"file_path": "/a.org", "content": "* x\n"},
    "edit": {"file_path": "/a.org", "old_string": "t", "new_string": "T", "replace_all": True},
    "delete": {"file_path": "/a.org"},
    "upload_files": {"files": [("/a.org", b"* x\n"), ("/..", b"")]},
    "download_files": {"paths": ["/a.org", "/.."]},
}


@pytest.mark.parametrize("name", METHODS)
def test_the_async_twin_answers_the_same(tmp_path, name):
    answers = []
    for each in ("sync", "async"):
        (tmp_path / each).mkdir()
        backend = OrgctxBackend(Notes.make(tmp_path / each).root, thread_id=each)
        found = getattr(backend, name if each == "sync" else f"a{name}")(**USUAL[name])
        found = asyncio.run(found) if each == "async" else found
        if name == "ls":
            found = paths(found.entries)
        answers.append((found, copies.files(backend.copy().folder)))
    assert answers[0] == answers[1]


def check_answered(result):
    """One line of what is wrong, or an answer; not both, and no bug of ours."""
    if result.error is not None:
        assert re.fullmatch(
            r"[A-Z]\w+: [^\n]+|file_not_found|is_directory|invalid_path", result.error
        )
        assert not result.error.startswith(("Bug:", "OrgctxError:"))
        assert len(result.error) < 5000
    others = {name: value for name, value in vars(result).items() if name != "error"}
    given_back = [value for name, value in others.items() if name != "path" and value]
    assert not (result.error and given_back)
    return result.error is None


@pytest.fixture(scope="module")
def odd_root(tmp_path_factory):
    return Notes.make(tmp_path_factory.mktemp("odd")).root


@pytest.mark.parametrize(
    ("method", "name"),
    [(method, name) for method, usual in USUAL.items() for name in usual],
)
def test_an_odd_value_is_answered(odd_root, method, name):
    backend, outcomes = OrgctxBackend(odd_root), set()
    for value in ODD:
        backend.write("/a.org", copies.A)
        is_batch = method.endswith("_files")
        wrapped = value if not is_batch else [value, (value, b"* x\n"), ("/n.org", value)]
        found = getattr(backend, method)(**{**USUAL[method], name: wrapped})
        outcomes |= {check_answered(each) for each in (found if is_batch else [found])}
    assert False in outcomes or name == "replace_all"


@given(st.data())
def test_several_odd_values_are_answered(odd_root, data):
    odd = st.sampled_from(ODD) | st.sampled_from(ODD_TEXTS) | st.text(max_size=5) | st.integers()
    method = data.draw(st.sampled_from([name for name in METHODS if not name.endswith("_files")]))
    some = st.dictionaries(st.sampled_from(sorted(USUAL[method])), odd, min_size=1, max_size=3)
    backend = OrgctxBackend(
        odd_root, thread_id=data.draw(st.sampled_from(["x", "\ud800", "y" * 300]))
    )
    is_good = check_answered(getattr(backend, method)(**{**USUAL[method], **data.draw(some)}))
    event("answered" if is_good else "refused")


# --- A turn --------------------------------------------------------------------------------------


class Scripted(BaseChatModel):
    """A model that says what it was told to. script: messages, or errors to raise.

    tools: what it was offered last. heard: all that tools have answered, to whomever.
    """

    script: list
    tools: list
    heard: list

    @property
    def _llm_type(self):
        return "scripted"

    def bind_tools(self, tools, **_):
        self.tools[:] = tools
        return self

    def _generate(self, messages, stop=None, run_manager=None, **_):
        self.heard += [each.text for each in messages if each.type == "tool"]
        said = self.script.pop(0)
        if isinstance(said, Exception):
            raise said
        return ChatResult(generations=[ChatGeneration(message=said)])


def call(name, **arguments):
    """A message that calls a tool."""
    id_ = f"call_{call.__dict__.setdefault('count', 0)}"
    call.count += 1
    return AIMessage("", tool_calls=[{"name": name, "args": arguments, "id": id_}])


def edit(old, new, path="/a.org"):
    return call("edit_file", file_path=path, old_string=old, new_string=new)


class Agent:
    """A deep agent on notes, with a scripted model."""

    def __init__(self, notes, *, backend=None, composite=None, policy=None, clerks=(), **options):
        """clerks: the agents to which it may delegate, besides the one that there always is."""
        self.notes = notes
        self.backend = backend or OrgctxBackend(notes.root)
        self.model = Scripted(script=[], tools=[], heard=[])
        self.graph = create_deep_agent(
            self.model,
            backend=composite or self.backend,
            **{
                "middleware": self.backend.middleware(composite, **(policy or {})),
                "checkpointer": InMemorySaver(),
                "subagents": clerks,  # the name that deepagents gives its parameter
                **options,
            },
        )

    def turn(self, *script, thread="t", resume=None):
        """What the agent's state is after a turn. resume: of one that waits."""
        self.model.script[:] = [*script, AIMessage("done")]
        asked_for = {"messages": [HumanMessage(HOUSE)]}
        return self.graph.invoke(Command(resume=resume) if resume else asked_for, config(thread))

    def tool_answers(self, *script, **how):
        """What the tools have answered to the last so many calls."""
        messages = self.turn(*script, **how)["messages"]
        return [each for each in messages if each.type == "tool"][-len(script) :]


def config(thread):
    return {"configurable": {"thread_id": thread}}


def whats(receipt):
    return {each["path"]: each["what"] for each in receipt["outcomes"]}


def log(notes):
    return [(record.kind, record.copy, record.message) for _, record in notes.work.log()]


def ids(notes):
    return [status.id for status in notes.work.status()]


def test_a_turn_is_one_commit(notes):
    state = Agent(notes).turn(
        edit("text one", "mine"),
        call("write_file", file_path="/n.org", content="* N\n"),
        call("delete", file_path="/sub"),
    )
    receipt = state["notes_commit"]
    assert whats(receipt) == {
        "a.org": "written",
        "n.org": "written",
        "sub/b.org": "deleted",
        "sub/deeper/c.org": "deleted",
    }
    assert (receipt["error"], state["notes_left"]["outcomes"]) == ("", [])
    assert "mine" in notes.get("a.org")
    assert log(notes) == [("commit", "thread-t", HOUSE)]
    assert notes.work.log()[0][0] == receipt["revision"]


def test_a_turn_without_edits_leaves_nothing(notes):
    agent = Agent(notes)
    assert agent.turn()["notes_commit"] == {"revision": "", "outcomes": [], "error": ""}
    assert ids(notes) == []
    agent.turn(call("ls", path="/"))
    assert (ids(notes), log(notes)) == (["thread-t"], [])


def delegation(what, to):
    """A call of the tool that delegates, in the words of its schema in deepagents."""
    return call("task", description=what, subagent_type=to)


def delegated(*script, to="general-purpose"):
    return [delegation("do it", to), *script, AIMessage("I did.")]


@pytest.mark.parametrize("to", ["general-purpose", "clerk"])
def test_a_delegated_write_lands_in_the_parents_commit(notes, to):
    backend = OrgctxBackend(notes.root)
    clerk = {
        "name": "clerk",
        "description": "writes",
        "system_prompt": "",
        "middleware": backend.middleware(),
    }
    agent = Agent(notes, backend=backend, clerks=[clerk])
    read, write = call("read_file", file_path="/a.org"), edit("text one", "the clerk's")
    seen = agent.tool_answers(
        *delegated(read, write, to=to), edit("the clerk's", "the clerk's, and mine")
    )
    assert agent.model.heard[0].startswith("[1] a.org — A — ")
    assert "Successfully replaced 1" in seen[-1].content
    assert "the clerk's, and mine" in notes.get("a.org")
    assert log(notes) == [("commit", "thread-t", HOUSE)]
    assert ids(notes) == ["thread-t"]
    assert [status.changed for status in notes.work.status()] == [()]


def test_a_sub_agent_in_a_thread_of_its_own(notes):
    """Some harnesses run it in `{parent}::task:{id}`."""
    backend = OrgctxBackend(notes.root)
    inner = Agent(notes, backend=backend)
    state = inner.turn(edit("text one", "the clerk's"), thread="t::task:1::task:2")
    assert "notes_commit" not in state
    assert (ids(notes), log(notes)) == (["thread-t"], [])
    outer = Agent(notes, backend=backend)
    assert whats(outer.turn(edit("text two", "mine"))["notes_left"]) == {"a.org": "written"}
    assert [message for _, _, message in log(notes)] == [HOUSE, "left by the turn before"]
    assert "the clerk's" in notes.get("a.org")


def test_parallel_sub_agents(notes):
    calls = [each for what in ("1", "2") for each in delegation(what, "clerk").tool_calls]
    both = AIMessage("", tool_calls=calls)

    def work(state):
        number = state["messages"][-1].content
        backend.write(f"/{number}.org", f"* {number}\n")
        return {"messages": [AIMessage("I did.")]}

    backend = OrgctxBackend(notes.root)
    clerk = {"name": "clerk", "description": "writes", "runnable": RunnableLambda(work)}
    state = Agent(notes, backend=backend, clerks=[clerk]).turn(both)
    assert whats(state["notes_commit"]) == {"1.org": "written", "2.org": "written"}
    assert ids(notes) == ["thread-t"]


def test_an_agent_that_does_not_wait(notes):
    agent = Agent(notes)
    agent.model.script[:] = [*delegated(edit("text one", "mine")), AIMessage("done")]
    state = asyncio.run(agent.graph.ainvoke({"messages": [HumanMessage(HOUSE)]}, config("t")))
    assert whats(state["notes_commit"]) == {"a.org": "written"}
    assert log(notes) == [("commit", "thread-t", HOUSE)]
    agent.model.script[:] = [call("read_file", file_path="/a.org"), AIMessage("done")]
    state = asyncio.run(agent.graph.ainvoke({"messages": [HumanMessage(HOUSE)]}, config("t")))
    assert "\n6: mine\n" in state["messages"][-2].content


def test_two_threads_are_isolated(notes):
    agent = Agent(notes, interrupt_on={"delete": True})
    wait = call("delete", file_path="/sub/b.org")
    agent.turn(edit("text one", "the first's"), wait, thread="1")
    seen = agent.tool_answers(
        call("read_file", file_path="/a.org"), edit("text two", "the second's"), thread="2"
    )
    assert "text one" in seen[0].content
    assert ids(notes) == ["thread-1", "thread-2"]
    assert "the second's" in notes.get("a.org")
    state = agent.turn(thread="1", resume={"decisions": [{"type": "approve"}]})
    assert whats(state["notes_commit"]) == {"a.org": "merged", "sub/b.org": "deleted"}
    assert notes.get("a.org") == copies.A.replace("text one", "the first's").replace(
        "text two", "the second's"
    )


def test_runs_without_a_thread(notes):
    agent = Agent(notes, checkpointer=None)
    agent.model.script[:] = [edit("text one", "mine"), AIMessage("done")]
    state = agent.graph.invoke({"messages": [HumanMessage(HOUSE)]})
    assert whats(state["notes_commit"]) == {"a.org": "written"}
    assert ids(notes) == ["thread-default"]
    assert agent.backend.copy_id() == "thread-default"


class CrashError(Exception):
    """What ends a turn."""


@pytest.mark.parametrize("left", ["commit", "discard"])
def test_a_turn_that_crashed(notes, left):
    agent = Agent(notes, policy={"left": left})
    with pytest.raises(CrashError):
        agent.turn(edit("text one", "mine"), CrashError())
    assert (notes.get("a.org"), log(notes)) == (copies.A, [])
    again = Agent(notes, policy={"left": left})  # as another process would
    state = again.turn(edit("text two", "mine, too"))
    is_kept = left == "commit"
    assert whats(state["notes_left"]) == {"a.org": "written" if is_kept else "discarded"}
    assert whats(state["notes_commit"]) == {"a.org": "written"}
    assert ("text one" not in notes.get("a.org")) == is_kept
    assert "mine, too" in notes.get("a.org")
    revision, record = notes.work.log()[1]
    assert record.kind == left
    assert "mine" in notes.work.show(f"{revision}:ours/a.org")


def test_a_turn_begins_with_the_notes_as_they_are(notes):
    agent = Agent(notes)
    agent.turn(call("ls", path="/"))
    notes.replace("a.org", "text one", "the user's")
    assert "the user's" in agent.tool_answers(call("read_file", file_path="/a.org"))[0].content


def test_a_conflict_is_told_and_settled_later(notes):
    agent = Agent(notes, interrupt_on={"delete": True})
    agent.turn(edit("text one", "mine"), call("delete", file_path="/sub"))
    notes.replace("a.org", "text one", "the user's")
    state = agent.turn(resume={"decisions": [{"type": "reject"}]})
    (outcome,) = state["notes_commit"]["outcomes"]
    assert outcome["what"] == "conflict"
    assert outcome["conflicts"][0]["address"] == "a.org::One"
    assert "the user's" in notes.get("a.org")
    assert whats(agent.turn()["notes_left"]) == {"a.org": "conflict"}
    state = Agent(notes, policy={"on_conflict": "ours"}).turn()
    assert whats(state["notes_left"]) == {"a.org": "merged"}
    assert "mine" in notes.get("a.org")


def test_a_commit_that_fails_is_told(notes, monkeypatch):
    def fail(*_, **__):
        raise OSError(28, "No space left on device")

    agent = Agent(notes)
    monkeypatch.setattr(Workcopies, "commit", fail)
    state = agent.turn(edit("text one", "mine"))
    assert state["messages"][-1].text == "done"
    assert state["notes_commit"]["error"] == "Unreadable: No space left on device; call again"
    monkeypatch.undo()
    assert whats(agent.turn()["notes_left"]) == {"a.org": "written"}


def test_what_a_commit_is_called():
    long = HumanMessage("word " * 30)
    assert asked([HumanMessage("first"), AIMessage("x"), HumanMessage(" a\n\nb ")]) == "a b"
    assert len(asked([long])) == 72
    assert asked([long]).endswith("…")
    assert asked([]) == asked([HumanMessage("")]) == "a turn of an agent"


def test_a_policy_that_is_none(backend):
    for policy in ({"left": "keep"}, {"on_conflict": "mine"}):
        with pytest.raises(BadArgument, match="unknown"):
            Turns(backend, **policy)
    with pytest.raises(BadArgument, match="budget"):
        FileTools(backend, budget=0)


def test_by_hand(notes):
    backend = OrgctxBackend(notes.root, thread_id="mine")
    assert backend.commit("nothing").outcomes == ()
    assert backend.discard() == []
    backend.edit("/a.org", "text one", "mine")
    assert backend.discard() == ["a.org"]
    backend.edit("/a.org", "text one", "mine")
    assert [each.what for each in backend.commit("a test").outcomes] == ["written"]
    backend.edit("/a.org", "mine", "x")
    notes.work.discard("thread-mine")
    assert "mine" in backend.read("/a.org").file_data["content"]


# --- What the model is told ----------------------------------------------------------------------


def description(agent, name="read_file"):
    return next(tool.description for tool in agent.model.tools if tool.name == name)


def test_what_is_said_of_a_read_is_true(notes):
    notes.put("long.org", "".join(f"line {number}\n" for number in range(1, 9)))
    notes.put("empty.org", "")
    agent = Agent(notes)
    whole, part, empty = agent.tool_answers(
        call("read_file", file_path="/a.org"),
        call("read_file", file_path="/long.org", offset=3, limit=2),
        call("read_file", file_path="/empty.org"),
    )
    said = description(agent)
    assert "has each line behind its number in the note, a colon and a blank" in said
    head, *lines = whole.content.removesuffix("\n").split("\n")
    example = r"\[1\] \S+ — \S+ — [0-9a-f]{12}, lines \d+-\d+ of \d+"
    assert re.search(f"^{example}$", said, re.MULTILINE)
    assert re.fullmatch(example, head)
    assert lines == [f"{n}: {line}" for n, line in enumerate(copies.A.split("\n")[:-1], 1)]
    assert "`offset` is how many lines to skip, `limit` how many to read" in said
    assert part.content.endswith("lines 4-5 of 8\n4: line 4\n5: line 5\n")
    assert "An empty note gets a reminder in place of lines" in said
    assert empty.content == "System reminder: File exists but has empty contents"


def test_its_cites_hold(notes):
    agent = Agent(notes, interrupt_on={"delete": True})
    seen = agent.turn(
        call("read_file", file_path="/sub/b.org"),
        edit("text b", "mine", path="/sub/b.org"),
        call("read_file", file_path="/sub/b.org"),
        call("delete", file_path="/a.org"),
    )["messages"]
    assert "cite its lines as [1:L12] or [1:L12-L19]" in description(agent)
    heads = [each.content[:4] for each in seen if each.type == "tool" and each.name == "read_file"]
    assert heads == ["[1] ", "[2] "]
    assert agent.backend.cites("t::task:1") is agent.backend.cites("t")
    assert agent.backend.cites().sources == []
    answer, problems = normalised("As in [2:L2] and [1:L4].", agent.backend.cites("t"))
    assert answer == "As in [[file:sub/b.org::2][B, line 2]] and [[file:sub/b.org::4][B, line 4]]."
    assert problems == []


def test_a_read_keeps_its_budget(notes):
    notes.put("long.org", "".join(f"line {number}\n" for number in range(1, 2000)))
    notes.put("wide.org", "* x\n" + "word " * 3000 + "\n")
    backend = OrgctxBackend(notes.root)
    agent = Agent(notes, middleware=[FileTools(backend, budget=300), Turns(backend)])
    cut, wide = agent.tool_answers(
        call("read_file", file_path="/long.org", offset=10, limit=1000),
        call("read_file", file_path="/wide.org", offset=1),
    )
    assert "An answer costs at most 300 tokens" in description(agent)
    assert 290 < count(cut.content) <= 300
    last = int(re.findall(r"^(\d+): line", cut.content, re.MULTILINE)[-1])
    assert cut.content.endswith(f"… {1010 - last} lines left: read_file, offset {last}\n")
    assert "or has a line too long for an answer, is shown without numbers" in description(agent)
    assert wide.content.startswith("@@ lines 2-2 of 2")


def test_what_deepagents_says_of_a_read_is_true_without_our_tools(notes):
    agent = Agent(notes, middleware=[])
    (seen,) = agent.tool_answers(call("read_file", file_path="/a.org", limit=3))
    assert description(agent) == READ_FILE_TOOL_DESCRIPTION
    assert "every line after it is verbatim file content" in description(agent)
    head, _, text = seen.content.partition("\n")
    assert head == "@@ lines 1-3 of 8 | next offset 3 @@"
    assert copies.A.startswith(text)


def test_every_tool_is_described(notes):
    agent = Agent(notes)
    agent.turn()
    own = tool_descriptions()
    assert {tool.name for tool in agent.model.tools} >= set(own)
    for name, text in own.items():
        assert description(agent, name) == text
    assert "{a,b}" in own["glob"]
    assert sum(map(count, own.values())) < 900


def test_rules_for_paths_hold(notes):
    rule = FilesystemPermission(operations=["read"], paths=["/sub/**"], mode="deny")
    agent = Agent(notes, permissions=[rule])
    for each in agent.tool_answers(
        call("read_file", file_path="/sub/b.org"),
        call("read_file", file_path="notes/sub/b.org"),
        call("grep", pattern="text b", output_mode="content"),
        call("glob", pattern="b.org"),
    ):
        assert "text b" not in each.content
        assert "/sub/b.org" not in each.content or each.status == "error"


def test_notes_beside_other_files(notes):
    backend = OrgctxBackend(notes.root)
    composite = CompositeBackend(
        default=StateBackend(),
        routes={"/notes/": backend, "/notes/own/": StoreBackend(namespace=lambda _: ("x",))},
    )
    notes.put("own/x.org", "* not this one\n")
    agent = Agent(notes, backend=backend, composite=composite, store=InMemoryStore())
    state = agent.turn(
        call("write_file", file_path="/a.org", content="a draft\n"),
        call("write_file", file_path="/notes/own/x.org", content="* this one\n"),
        edit("text one", "mine", path="/notes/a.org"),
        *(
            call("read_file", file_path=path)
            for path in ("/a.org", "/notes/own/x.org", "/notes/a.org")
        ),
    )
    draft, own, note = [each.content for each in state["messages"] if each.type == "tool"][-3:]
    assert (draft, own) == ("@@ lines 1-1 of 1 @@\na draft", "@@ lines 1-1 of 1 @@\n* this one")
    assert note.startswith("[1] a.org — A — ")
    assert "\n6: mine\n" in note
    assert whats(state["notes_commit"]) == {"a.org": "written"}


def test_what_deepagents_puts_aside_is_no_note(notes):
    """A large result of a tool goes into a file, if there is a backend that takes it."""

    def big() -> str:
        """Say much."""
        return "word " * 30_000

    kept = Agent(notes, tools=[big]).tool_answers(call("big"))[0].content
    assert len(kept) == 150_000
    backend = OrgctxBackend(notes.root)
    composite = CompositeBackend(default=backend, routes={"/large_tool_results/": StateBackend()})
    agent = Agent(notes, backend=backend, composite=composite, tools=[big])
    aside = agent.tool_answers(call("big"), edit("text one", "mine"))[0].content
    assert "/large_tool_results/" in aside
    assert len(aside) < 10_000
    assert "mine" in notes.get("a.org")
    assert sorted(copies.files(notes.root)) == sorted(copies.NOTES)


# --- The extra -----------------------------------------------------------------------------------


def run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


def test_who_does_not_want_it_does_not_pay():
    code = "import sys, orgctx.surfaces.cli, orgctx.workcopy; print('deepagents' in sys.modules)"
    assert run(code).stdout == "False\n"


def test_without_the_extra_one_line_says_how_to_get_it():
    ran = run("import sys; sys.modules['deepagents'] = None; import orgctx.surfaces.deepagents")
    last = ran.stderr.splitlines()[-1]
    assert last.startswith("ImportError: orgctx.surfaces.deepagents needs deepagents (")
    assert last.endswith("): pip install 'orgctx[deepagents]'")
    assert ran.stderr.count("Error") == 2  # the name of the class, and in the line that raises it


# --- The tools that all agents have --------------------------------------------------------------


def test_tools_are_those_of_every_agent(notes):
    ours = open_memex(notes.root).tools(data=False)
    told = langchain_tools(ours)
    assert [each.name for each in told] == [f"orgctx_{each['name']}" for each in ours.anthropic()]
    agent = Agent(notes, tools=told)
    (focus, refused) = agent.tool_answers(
        call("orgctx_focus", addresses=["a.org::One"], budget=300),
        call("orgctx_read", adress="a.org"),
    )
    assert focus.text == ours.call("focus", {"addresses": ["a.org::One"], "budget": 300}).text
    assert '"error":"BadArgument"' in refused.text
    offered = {each.name: each for each in agent.model.tools if hasattr(each, "args_schema")}
    for each in ours.anthropic():
        tool = offered[f"orgctx_{each['name']}"]
        assert (tool.description, tool.args_schema) == (each["description"], each["input_schema"])
