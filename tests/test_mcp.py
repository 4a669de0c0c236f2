"""The server, asked by the SDK's own client over standard input and HTTP."""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
import signal
import stat
import subprocess
import sys
import threading
import time
import tomllib
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import emacs
import httpx2
import pytest
from bench import memex as made
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from notes import write
from program import PROGRAM, Ask, run_python

from orgctx import open_memex
from orgctx.errors import Unreadable
from orgctx.surfaces import serving
from orgctx.surfaces.answers import ERROR, compact
from orgctx.surfaces.clients import CLIENTS, snippet
from orgctx.surfaces.editing import Desk, new_desk
from orgctx.surfaces.serving import SHOWS_DATA_ALONE
from orgctx.surfaces.tools import READING
from orgctx.tokens import count

pytestmark = pytest.mark.usefixtures("loopback")

SESSIONS = int(os.environ.get("ORGCTX_SESSIONS", "8"))
CALLS = int(os.environ.get("ORGCTX_CALLS", "160"))
"""How much is asked at once; set them to 32 and 1000 before a release."""
MEGABYTES = 400
"""What a server may need at most for that."""
MODES = ("auto", "legacy")
"""The protocol as of 2026-07-28, which has no sessions, and as it was before."""
NUMBER = re.compile(r"(?<=notes )[0-9]{12}(?=>$)", re.M)
MARKS = re.compile(r"\A<notes ([0-9]{12})>\n.*^</notes \1>\n", re.M | re.S)
NOTES = {
    "a.org": "#+title: Alpha\n* One\n:PROPERTIES:\n:ID: 11111111-one\n:END:\n" + "text\n" * 9,
    "b.org": "* Two\n* Hidden :private:\nsecret\n",
    "orgctx.toml": 'private_tags = ["private"]\n',
}


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    write(tmp_path / "notes", NOTES)
    return tmp_path / "notes"


def run(work: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(asyncio.wait_for(work(), 300))


def stdio(root: Path, mode: str = "auto", *arguments: str, **options: Any) -> Client:
    """A client with a server process of its own."""
    words = ["mcp", "--root", str(root), *arguments]
    server = StdioServerParameters(command=str(PROGRAM), args=words, env=dict(os.environ))
    return Client(server, mode=mode, **options)


class Served(NamedTuple):
    """A server of HTTP."""

    process: subprocess.Popen[str]
    url: str
    token: str

    def client(self, mode: str, session: str = "", **headers: str) -> Client:
        known = {"Authorization": f"Bearer {self.token}", **headers}
        http = httpx2.AsyncClient(headers=known, timeout=300, trust_env=False)
        url = f"{self.url}?session={session}" if session else self.url
        return Client(streamable_http_client(url, http_client=http), mode=mode)

    def get(self, **headers: str) -> httpx2.Response:
        accepted = {"Accept": "application/json, text/event-stream", **headers}
        return httpx2.post(self.url, json={}, headers=accepted, trust_env=False)


@contextmanager
def http(root: Path, *arguments: str) -> Iterator[Served]:
    command = [str(PROGRAM), "mcp", "--root", str(root), "--http", "127.0.0.1:0", *arguments]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr
        url = process.stderr.readline().removeprefix("orgctx: ").strip()
        token = process.stderr.readline().rpartition(" ")[2].strip()
        try:
            yield Served(process, url, token)
        finally:
            process.terminate()


def text(result: Any) -> str:
    assert len(result.content) == 1
    said: str = result.content[0].text
    return said


def plain(said: str) -> str:
    """An answer without the number of its marks, which each session has for itself."""
    return NUMBER.sub("0", said)


# --- What a client gets --------------------------------------------------------------------------


@pytest.mark.parametrize("mode", MODES)
def test_the_manifest_is_small_and_says_that_it_reads(notes: Path, mode: str) -> None:
    async def work() -> None:
        async with stdio(notes, mode) as client:
            listed = await client.list_tools()
            sent = listed.model_dump(mode="json", by_alias=True, exclude_none=True)
            assert count(json.dumps(sent, separators=(",", ":"))) <= 1000, "as it is sent"
            assert count(json.dumps(sent["tools"])) <= 1000, "as a client may show it"
            assert len(listed.tools) <= 8
            assert all(each.annotations.read_only_hint for each in listed.tools)
            assert "never an instruction" in client.instructions
            assert (await client.list_resources()).resources == []
            assert (await client.list_prompts()).prompts == []

    run(work)


CALLED: list[tuple[str, dict[str, Any]]] = [
    ("context", {"query": "where is text on alpha"}),
    ("context", {"query": "quetzalcoatl", "rank": 0}),
    ("context", {"query": "alpha", "rank": 1}),
    ("focus", {"addresses": ["a.org::One"]}),
    ("overview", {}),
    ("ls", {"path": "a.org"}),
    ("grep", {"pattern": "text", "budget": 300}),
    ("read", {"address": "11111111-one", "budget": 200}),
    ("cite", {"answer": "so [1:L6]"}),
    ("status", {}),
    ("focus", {"addresses": ["a.org::Onee"]}),
    ("focus", {"adress": "a.org"}),
    ("ls", {"budget": 30_000}),
    ("nothing", {}),
]


@pytest.mark.parametrize("mode", MODES)
def test_answers_are_those_of_the_python_api(notes: Path, mode: str) -> None:
    async def work() -> None:
        ours = open_memex(notes).tools()
        async with stdio(notes, mode) as client:
            for name, arguments in CALLED:
                theirs = await client.call_tool(name, arguments)
                expected = ours.call(name, arguments)
                assert plain(text(theirs)) == plain(expected.text)
                assert theirs.structured_content == expected.data
                assert theirs.is_error == expected.is_error
                assert "secret" not in text(theirs)

    run(work)


@pytest.mark.corpora
def test_real_notes_are_served_as_they_are_answered_in_python() -> None:
    root = Path(os.environ[emacs.CORPORA_VARIABLE])
    memex, draw = open_memex(root), random.Random(8)
    ours, files = memex.tools(), memex._store.files()

    async def work() -> None:
        async with stdio(root) as client:
            for each in draw.sample(files, 12):
                budget = draw.choice((500, 2000, 20_000))
                for name, arguments in (
                    ("focus", {"addresses": [each.path], "lens": "fisheye", "budget": budget}),
                    ("read", {"address": each.path, "subtree": True, "budget": budget}),
                    ("ls", {"path": each.path, "long": True, "budget": budget}),
                    ("context", {"query": each.title, "budget": budget}),
                ):
                    found = await client.call_tool(name, arguments)
                    expected = ours.call(name, arguments)
                    assert plain(text(found)) == plain(expected.text), (name, arguments)
                    data = found.structured_content
                    cost = count(text(found)) + (count(compact(data)) if data else 0)
                    assert cost <= (ERROR if found.is_error else budget), (name, arguments)

    run(work)


@pytest.mark.parametrize("name", SHOWS_DATA_ALONE)
def test_who_shows_data_alone_gets_the_text_alone(notes: Path, name: str) -> None:
    async def work() -> None:
        from mcp_types import Implementation

        known = Implementation(name=f"{name}-client", version="1")
        for structured, has_data in (("auto", False), ("always", True), ("never", False)):
            arguments = ("auto", "--structured", structured)
            async with stdio(notes, *arguments, client_info=known) as client:
                found = await client.call_tool("ls", {})
                assert (found.structured_content is not None) is has_data
                assert MARKS.match(text(found))

    run(work)


def test_an_edit_is_seen_by_the_next_call(notes: Path) -> None:
    async def work() -> None:
        async with stdio(notes) as client:
            assert "Three" not in text(await client.call_tool("ls", {"path": "a.org"}))
            write(notes, {"a.org": "* Three\n:PROPERTIES:\n:ID: three-0001\n:END:\n"})
            assert "Three" in text(await client.call_tool("ls", {"path": "a.org"}))
            assert not (await client.call_tool("focus", {"addresses": ["three-0001"]})).is_error

    run(work)


def test_nothing_that_a_client_sends_widens_the_roots(notes: Path, tmp_path: Path) -> None:
    write(tmp_path, {"outside.org": "* Outside\n"})
    (notes / "link.org").symlink_to(tmp_path / "outside.org")

    async def work() -> None:
        async def roots(_: Any) -> Any:
            from mcp_types import ListRootsResult

            return ListRootsResult.model_validate({"roots": [{"uri": tmp_path.as_uri()}]})

        async with stdio(notes, "legacy", list_roots_callback=roots) as client:
            place = str(tmp_path / "outside.org")
            for address in ("../outside.org", place, "link.org", "outside.org"):
                for name, arguments in (
                    ("focus", {"addresses": [address]}),
                    ("read", {"address": address}),
                    ("ls", {"path": address}),
                    ("grep", {"pattern": "Outside", "path": address}),
                ):
                    found = await client.call_tool(name, arguments)
                    assert found.is_error
                    assert "* Outside" not in text(found)

    run(work)


# --- Writing -------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", MODES)
def test_edits_are_in_a_copy_until_they_are_committed(notes: Path, ask: Ask, mode: str) -> None:
    text_before = (notes / "a.org").read_text()

    async def work() -> None:
        async with stdio(notes, mode, "--work") as client:
            listed = (await client.list_tools()).tools
            reading = {each.name for each in listed if each.annotations.read_only_hint}
            assert reading == {*(each.name for each in READING), "diff"}
            assert "private copy" in client.instructions
            asked = {"address": "a.org::One", "keyword": "TODO"}
            assert not (await client.call_tool("set_keyword", asked)).is_error
            assert "TODO One" in text(await client.call_tool("ls", {"path": "a.org"}))
            assert (notes / "a.org").read_text() == text_before
            assert not (await client.call_tool("commit", {"message": "one"})).is_error
            assert (notes / "a.org").read_text() == text_before.replace("* One", "* TODO One")
            await client.call_tool("write", {"path": "c.org", "text": "* Left\n"})

    run(work)
    copy_id = json.loads(ask("work", "status", "--format", "json").out)["copies"][0]["id"]
    assert copy_id.startswith("mcp-")
    assert "+* Left" in ask("work", "diff", copy_id).out


def test_sessions_that_write_do_not_see_each_others_edits(notes: Path, ask: Ask) -> None:
    async def work(served: Served) -> None:
        async with served.client("auto", "one") as one, served.client("auto", "two") as two:
            for each, name in ((one, "Mine"), (two, "Yours")):
                asked = {"address": "a.org", "text": f"* {name}\n"}
                assert not (await each.call_tool("insert_entry", asked)).is_error
            assert "Yours" not in text(await one.call_tool("ls", {"path": "a.org"}))
            assert "Mine" not in text(await two.call_tool("ls", {"path": "a.org"}))
            for each in (one, two):
                found = await each.call_tool("commit", {"message": "m"})
                assert text(found).splitlines()[1].split()[0] in ("written", "merged")
            shown = text(await one.call_tool("ls", {"path": "a.org"}))
            assert "Mine" in shown
            assert "Yours" in shown

    with http(notes, "--work") as served:
        run(lambda: work(served))
        served.process.send_signal(signal.SIGINT)
        served.process.wait(30)
    assert json.loads(ask("work", "status", "--format", "json").out) == {"copies": [], "rest": []}


def test_what_a_forgotten_session_has_edited_is_told_at_the_end(
    notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The names of two copies; a third that somebody has discarded is no trouble."""
    monkeypatch.setattr(serving, "SESSIONS", 1)
    desks = [new_desk([str(notes)]) for _ in range(5)]
    opened = iter(desks)
    store = desks[0].copy.store
    server = serving.Server(lambda progress: store, open_desk=lambda: next(opened))
    for number in range(5):
        tools = server._tools((str(number), ""), store)
        if number in (0, 4):
            assert not tools.call("write", {"path": "c.org", "text": "* Left\n"}).is_error
    desks[3].copies.discard(desks[3].copy.id)
    left = [desks[0].copy.id, desks[4].copy.id]
    assert server.close() == left
    assert [each.id for each in desks[0].copies.status()] == sorted(left)


def test_a_session_that_opens_slowly_lets_the_others_answer(notes: Path) -> None:
    desks = [new_desk([str(notes)]) for _ in range(2)]
    store, is_opening, may_go_on = desks[0].copy.store, threading.Event(), threading.Event()

    opened = iter(desks)

    def open_desk() -> Desk:
        if (desk := next(opened)) is desks[1]:
            is_opening.set()
            assert may_go_on.wait(30)
        return desk

    server = serving.Server(lambda progress: store, open_desk=open_desk)
    server._tools(("fast", ""), store)
    with ThreadPoolExecutor() as threads:
        slow = threads.submit(server._tools, ("slow", ""), store)
        assert is_opening.wait(30)
        fast = threads.submit(server._answered, ("fast", ""), "ls", {}, lambda done, total: None)
        try:
            assert not fast.result(timeout=30).is_error
            assert not slow.done()
        finally:
            may_go_on.set()
        assert slow.result(timeout=30) is server._tools(("slow", ""), store)
    assert server.close() == []
    assert desks[0].copies.status() == []


def test_a_session_whose_copy_cannot_be_opened_tries_again(notes: Path) -> None:
    desk = new_desk([str(notes)])
    turns = iter([Unreadable("no room"), desk])

    def open_desk() -> Desk:
        turn = next(turns)
        if isinstance(turn, Desk):
            return turn
        raise turn

    server = serving.Server(lambda progress: desk.copy.store, open_desk=open_desk)
    with pytest.raises(Unreadable):
        server._tools(("", ""), desk.copy.store)
    assert not server._tools(("", ""), desk.copy.store).call("ls").is_error
    assert server.close() == []


def test_a_copy_that_is_named_is_the_one_of_the_command(notes: Path, ask: Ask) -> None:
    async def work() -> None:
        async with stdio(notes, "auto", "--work", "mine") as client:
            await client.call_tool("write", {"path": "c.org", "text": "* Left\n"})

    run(work)
    assert "+* Left" in ask("work", "diff", "mine").out
    assert ask("mcp", "--work", "mine", "--dry-run", "left").status == 0
    other = write(notes.parent / "other", {"x.org": "* X\n"})
    assert ask("mcp", "--root", other, "--work", "mine").status == 2


def test_a_dry_run_asks_the_copy_that_is_named_and_not_the_notes(notes: Path, ask: Ask) -> None:
    copy = Path(ask("work", "open", "mine", "--root", notes).out.removesuffix("\n"))
    write(copy, {"c.org": "* Gooseberry of the copy\n"})
    write(notes, {"d.org": "* Gooseberry of the notes\n"})
    state = Path(os.environ["XDG_CACHE_HOME"])
    before = sorted(state.rglob("*"))
    found = ask("mcp", "--work", "mine", "--dry-run", "gooseberry")
    assert found.status == 0
    assert "Gooseberry of the copy" in found.out
    assert "Gooseberry of the notes" not in found.out
    assert sorted(state.rglob("*")) == before
    new = ask("mcp", "--root", notes, "--work", "new", "--dry-run", "gooseberry")
    assert "Gooseberry of the notes" in new.out


# --- A first sync --------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", MODES)
def test_a_first_sync_tells_how_far_it_is_and_can_be_cancelled(tmp_path: Path, mode: str) -> None:
    made.make(tmp_path / "many", 1500)
    told: list[tuple[float, float | None]] = []
    begun = asyncio.Event()

    async def note(done: float, total: float | None, _: str | None) -> None:
        told.append((done, total))
        begun.set()

    async def work() -> None:
        async with stdio(tmp_path / "many", mode) as client:
            call = asyncio.create_task(client.call_tool("ls", {}, progress_callback=note))
            await begun.wait()
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
            stopped = len(told)
            found = await client.call_tool("ls", {}, progress_callback=note)
            assert "1500 files" in text(found)
            assert told[-1] == (told[-1][1], told[-1][1])
            assert stopped <= len(told) <= 60
            before = len(told)
            await client.call_tool("ls", {}, progress_callback=note)
            assert len(told) == before

    run(work)


# --- HTTP ----------------------------------------------------------------------------------------


def test_http_wants_the_token_and_a_known_host_and_origin(notes: Path) -> None:
    with http(notes) as served:
        known = {"Authorization": f"Bearer {served.token}"}
        port = served.url.split(":")[2].partition("/")[0]
        assert served.url.startswith("http://127.0.0.1:")
        assert served.get().status_code == 401
        assert served.get(Authorization="Bearer wrong").status_code == 401
        assert served.get(Authorization=served.token).status_code == 401
        assert served.get(**known, Host="evil.example").status_code == 421
        assert served.get(**known, Host=f"evil.example:{port}").status_code == 421
        assert served.get(**known, Origin="http://evil.example").status_code == 403
        assert served.get(**known, Origin="http://127.0.0.1:1").status_code == 403
        assert served.get(**known, Origin=f"http://127.0.0.1:{port}").status_code == 400
        for name in ("localhost", "127.0.0.1"):
            assert served.get(**known, Host=f"{name}:{port}").status_code == 400
        assert "server" not in served.get().headers


@pytest.mark.parametrize("mode", MODES)
def test_sessions_over_http_have_their_own_cites(notes: Path, mode: str) -> None:
    async def work(served: Served) -> None:
        async with served.client(mode, "one") as one, served.client(mode, "two") as two:
            await one.call_tool("read", {"address": "a.org"})
            assert "[2] b.org" in text(await one.call_tool("read", {"address": "b.org::Two"}))
            assert "[1] b.org" in text(await two.call_tool("read", {"address": "b.org::Two"}))
            for each, answers in ((one, 2), (two, 1)):
                status = text(await each.call_tool("status", {}))
                assert f"this session so far: {answers} answer" in status

    with http(notes) as served:
        run(lambda: work(served))


@pytest.mark.parametrize(
    ("place", "told"),
    [
        ("0.0.0.0:0", "this machine alone"),
        ("192.0.2.1:80", "this machine alone"),
        ("example.org:80", "this machine alone"),
        ("127.0.0.1", "no HOST:PORT"),
        ("127.0.0.1:99999", "no HOST:PORT"),
    ],
)
def test_http_is_for_this_machine_alone(notes: Path, ask: Ask, place: str, told: str) -> None:
    answer = ask("mcp", "--root", notes, "--http", place)
    assert answer.status == 2
    assert told in answer.err
    assert answer.err.count("\n") == 1


def test_a_token_is_kept_in_a_file_for_its_owner(notes: Path, tmp_path: Path, ask: Ask) -> None:
    file = tmp_path / "token"
    call = ("mcp", "--root", notes, "--http", "127.0.0.1:0", "--token-file", file)
    with http(notes, "--token-file", str(file)) as served:
        assert served.token == str(file)
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        token = file.read_text().strip()
        assert len(token) >= 40
        assert served.get(Authorization=f"Bearer {token}").status_code == 400
    file.chmod(0o644)
    assert "chmod 600" in ask(*call).err
    file.write_text("short\n")
    file.chmod(0o600)
    assert "holds no token" in ask(*call).err
    assert ask("mcp", "--root", notes, "--token-file", file).status == 2


# --- Many, and gone ------------------------------------------------------------------------------


def mixed(draw: random.Random, files: int) -> tuple[str, dict[str, Any]]:
    """A call, some of them wrong."""
    id_ = made.id_of(draw.randrange(files), 0)
    path = f"area-{draw.randrange(files) // 100:03}/note-{draw.randrange(files):06}.org"
    budget = draw.choice((300, 1000, 4000))
    return draw.choice(
        [
            ("focus", {"addresses": [id_], "budget": budget}),
            ("focus", {"addresses": [id_], "lens": "fisheye", "budget": budget}),
            ("ls", {"path": "area-001", "limit": 20, "budget": budget}),
            ("read", {"address": path, "subtree": True, "budget": budget}),
            ("grep", {"pattern": "silver stone", "limit": 5, "budget": budget}),
            ("context", {"query": "silver stone in winter", "budget": budget}),
            ("overview", {"budget": budget}),
            ("focus", {"addresses": [id_ + "x"]}),
            ("ls", {"paht": path}),
        ]
    )


def megabytes(process: subprocess.Popen[str]) -> float:
    """The most memory that a process has had."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    (kilobytes,) = re.findall(r"VmHWM:\s+(\d+) kB", status)
    return int(kilobytes) / 1000


@pytest.mark.proc
def test_many_sessions_at_once_get_the_right_answers(tmp_path: Path) -> None:
    root, files = tmp_path / "many", 300
    made.make(root, files)
    expected = open_memex(root).tools()
    wrong: list[str] = []

    async def session(served: Served, number: int, mode: str) -> None:
        draw, name = random.Random(number), f"session {number}"
        async with served.client(mode, name) as client:
            for _ in range(CALLS // SESSIONS):
                call = mixed(draw, files)
                found = await client.call_tool(*call)
                right = await asyncio.to_thread(expected.call, *call)
                said = re.sub(r"^\[[0-9]+\]", "[1]", plain(text(found)), flags=re.M)
                if said != re.sub(r"^\[[0-9]+\]", "[1]", plain(right.text), flags=re.M):
                    wrong.append(f"{call}: {said}")

    async def work(served: Served) -> None:
        await asyncio.gather(*(session(served, n, MODES[n % 2]) for n in range(SESSIONS)))

    with http(root) as served:
        run(lambda: work(served))
        assert wrong == []
        used = megabytes(served.process)
        assert used < MEGABYTES, used
        print(f"{SESSIONS} sessions, {CALLS} calls, {used:.0f} MB", file=sys.stderr)


KILLED = """
import asyncio, sys
from mcp import Client, StdioServerParameters

async def main():
    server = StdioServerParameters(command=sys.argv[1], args=sys.argv[2:])
    async with Client(server) as client:
        call = client.call_tool("ls", {}, progress_callback=note)
        await call
        await note()

async def note(*_):
    print("begun", flush=True)
    await asyncio.sleep(60)

asyncio.run(main())
"""


@pytest.mark.proc
@pytest.mark.parametrize("files", [2, 3000], ids=["idle", "in its first sync"])
def test_a_killed_client_leaves_nothing_behind(tmp_path: Path, files: int) -> None:
    made.make(tmp_path / "many", files)
    call = [sys.executable, "-c", KILLED, str(PROGRAM), "mcp", "--root", str(tmp_path / "many")]
    with subprocess.Popen(call, stdout=subprocess.PIPE) as client:
        assert client.stdout
        assert client.stdout.readline() == b"begun\n"
        servers = children(client.pid)
        assert servers
        client.send_signal(signal.SIGKILL)
    end = time.monotonic() + 20
    while (left := [pid for pid in servers if Path(f"/proc/{pid}").exists()]) and (
        time.monotonic() < end
    ):
        time.sleep(0.05)
    assert left == []
    assert f"{files} files" in open_memex(tmp_path / "many").ls().text


def children(parent: int) -> list[int]:
    """The processes that a process has started."""
    found = []
    for place in Path("/proc").glob("[0-9]*/stat"):
        try:
            words = place.read_text().rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        if int(words[1]) == parent:
            found.append(int(place.parent.name))
    return found


@pytest.mark.parametrize("way", [(), ("--http", "127.0.0.1:0")], ids=["stdio", "http"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_server(notes: Path, way: tuple[str, ...], number: signal.Signals) -> None:
    command, pipe = [str(PROGRAM), "mcp", "--root", str(notes), *way], subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe) as server:
        assert server.stdin
        assert server.stdout
        assert server.stderr
        if way:
            server.stderr.readline()
        else:
            server.stdin.write(b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n')
            server.stdin.flush()
            server.stdout.readline()
        server.send_signal(number)
        assert server.wait(10) in (130, -number)
        assert b"Traceback" not in server.stderr.read()


def test_a_broken_message_ends_no_server(notes: Path) -> None:
    client = {"name": "t", "version": "1"}
    known = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client}
    wrong = {"name": "ls", "arguments": {"path": "\ud800"}}
    messages: list[dict[str, Any]] = [
        {"id": 1, "method": "initialize", "params": known},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": {"name": 7}},
        {"id": 3, "method": "tools/call", "params": wrong},
        {"id": 4, "method": "tools/call", "params": {"name": "status"}},
    ]
    lines = [json.dumps({"jsonrpc": "2.0", **each}) for each in messages]
    command = [str(PROGRAM), "mcp", "--root", str(notes)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, text=True, stdin=pipe, stdout=pipe, stderr=pipe) as server:
        assert server.stdin
        assert server.stdout
        assert server.stderr
        print("no JSON", *lines, sep="\n", file=server.stdin, flush=True)
        answers: dict[int | None, dict[str, Any]] = {}
        while 4 not in answers:
            answer = json.loads(server.stdout.readline())
            answers[answer.get("id")] = answer
        assert "this session" in answers[4]["result"]["content"][0]["text"]
        server.stdin.close()
        assert server.wait(20) == 0
        assert server.stderr.read() == ""


# --- The command ---------------------------------------------------------------------------------


def test_without_the_package_one_line_says_how_to_get_it(notes: Path) -> None:
    told = run_python(
        "import sys\n"
        "sys.modules['mcp'] = None\n"
        "from orgctx.surfaces.cli import run\n"
        "sys.stderr = sys.stdout\n"
        f"print(run(['mcp', '--root', {str(notes)!r}]))"
    )
    assert told == "orgctx: the package mcp is not installed; pip install 'orgctx[mcp]'\n1\n"


def test_what_is_wrong_with_the_roots_is_told_at_once(tmp_path: Path, ask: Ask) -> None:
    assert ask("mcp", "--root", tmp_path / "nowhere").status == 1
    assert ask("mcp").status == 2
    write(tmp_path, {"orgctx.toml": "colour = 1\n"})
    assert "colour" in ask("mcp", "--root", tmp_path).err


@pytest.mark.parametrize("client", CLIENTS)
def test_settings_for_every_client_start_the_server(client: str, ask: Ask, home: Path) -> None:
    call = ("mcp", "--root", '~/my "notes"', "--structured", "never", "--print-config", client)
    told = ask(*call)
    assert (told.status, told.err.count("\n")) == (0, 1)
    assert CLIENTS[client].place in told.err
    words = ["mcp", "--root", str(home / 'my "notes"'), "--structured", "never"]
    command, arguments = started_by(client, told.out)
    assert arguments == words
    assert Path(command).is_absolute()


def started_by(client: str, settings: str) -> tuple[str, list[str]]:
    """What a client's settings start."""
    if client == "codex":
        server = tomllib.loads(settings)["mcp_servers"]["orgctx"]
    elif client == "gptel":
        found = re.findall(r'"((?:[^"\\]|\\.)*)"', settings)
        words = [re.sub(r"\\(.)", r"\1", each) for each in found]
        return words[1], words[2:-1]
    elif client == "opencode":
        command = json.loads(settings)["mcp"]["orgctx"]["command"]
        return command[0], command[1:]
    else:
        data = json.loads(settings)
        server = (data.get("mcpServers") or data["servers"])["orgctx"]
    return server["command"], server["args"]


@pytest.mark.parametrize("client", sorted({*CLIENTS} - {"cursor"}))  # which is as claude-code
def test_the_settings_in_the_readme_are_those_that_are_printed(client: str) -> None:
    readme = (Path(__file__).parents[1] / "README.org").read_text(encoding="utf-8")
    words = ["mcp", "--root", "/home/me/org"]
    assert snippet(client, "/home/me/.local/bin/orgctx", words) in readme


def test_a_dry_run_prints_what_a_client_would_be_sent(notes: Path, ask: Ask) -> None:
    told = ask("mcp", "--root", notes, "--dry-run", "text")
    assert told.status == 0
    head, said = told.out.split("\n", 3)[:3], told.out.split("\n", 3)[3]
    expected = open_memex(notes).tools().call("context", {"query": "text"})
    assert f": {expected.tokens} tokens of text" in head[2]
    assert plain(said).startswith(plain(expected.text))
