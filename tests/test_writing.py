"""A model writes what folders are about: only what changed, nothing private, and it may fail."""

import json
import os
import signal
import socket
import sqlite3
import sys
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from loopback import LOOPBACK
from notes import write
from program import TOKENIZERS, Ask, as_json, loaded_by
from stores import opened

from orgctx.config import load
from orgctx.errors import BadConfig
from orgctx.store.indexed import IndexedStore
from orgctx.store.opening import database_file, open_store
from orgctx.store.sync import Report
from orgctx.store.writing import CHARACTERS, SENTENCES, usable
from orgctx.tokens import count
from orgctx.views.syncing import to_text

pytestmark = pytest.mark.usefixtures("loopback")


def test_other_places_stay_blocked() -> None:
    for reach in (socket.create_connection, socket.socket().connect):
        with pytest.raises(OSError, match="in a test"):
            reach(("192.0.2.1", 80))


class Model(ThreadingHTTPServer):
    """A server that speaks the protocol, and remembers what it was asked.

    act: what it does, by the number of the request; by default it answers well.
    is_over: set when nobody waits for an answer any more.
    """

    daemon_threads = True
    block_on_close = False

    def __init__(self) -> None:
        super().__init__((LOOPBACK, 0), Handler)
        self.bodies: list[bytes] = []
        self.keys: list[str | None] = []
        self.is_over = threading.Event()
        self.act: Callable[[Handler, int], None] = lambda handler, number: handler.say(
            f"Summary {number}."
        )

    @property
    def url(self) -> str:
        return f"http://{LOOPBACK}:{self.server_address[1]}/v1"

    @property
    def asked(self) -> list[str]:
        """What stood in each request."""
        return [json.loads(body)["messages"][0]["content"] for body in self.bodies]

    @property
    def folders(self) -> list[str]:
        """The folders asked about, in order."""
        return [text.partition("\nFolder: ")[2].partition("\n")[0] for text in self.asked]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that has gone is no fault."""


class Handler(BaseHTTPRequestHandler):
    server: Model

    def do_POST(self) -> None:
        assert self.path == "/v1/chat/completions"
        self.server.keys.append(self.headers["Authorization"])
        self.server.bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.act(self, len(self.server.bodies))

    def say(self, content: object) -> None:
        message = {"role": "assistant", "content": content}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        reply = {"id": "1", "object": "chat.completion", "created": 1, "model": "m"}
        self.send(200, json.dumps({**reply, "choices": [choice]}).encode())

    def send(self, status: int, data: bytes, length: int | None = None) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data) if length is None else length))
        self.end_headers()
        self.wfile.write(data)
        self.wfile.flush()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def model() -> Iterator[Model]:
    server = Model()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield server
    server.is_over.set()
    server.shutdown()
    thread.join()
    server.server_close()


NOTES = {
    f"{folder}{name}.org": f"#+title: {name.title()} of {folder or 'all'}\n* {name} words\ntext\n"
    for folder in ("", "soups/", "soups/hot/", "cakes/")
    for name in ("first", "second")
} | {"lonely/one.org": "#+title: Alone\n"}
DEEPEST_FIRST = ["soups/hot", "cakes", "soups", "(all notes)"]


def configure(root: Path, model: Model, name: str = "m", **more: object) -> None:
    values = {"model": name, "base_url": model.url, **more}
    lines = "".join(f"{key} = {json.dumps(value)}\n" for key, value in values.items())
    write(root, {"orgctx.toml": f'private_tags = ["private"]\n[summaries]\n{lines}'})


@pytest.fixture
def root(tmp_path: Path, model: Model) -> Path:
    root = write(tmp_path / "notes", NOTES)
    configure(root, model)
    return root


def summaries(store: IndexedStore) -> dict[str, str]:
    rows = store.connection.execute("SELECT path, summary FROM folder WHERE files > 1")
    return {path.decode(): summary for path, summary in rows}


def failed(report: Report) -> str:
    """The one note of a sync whose model failed."""
    [note] = report.notes
    assert not any(word in note for word in ("words", "First", "soups", "Summary"))
    assert note in to_text(report)
    return note


# --- What is written -----------------------------------------------------------------------------


def test_each_folder_of_several_notes_is_written_about_from_below(root: Path, model: Model) -> None:
    store = opened(root)
    report = store.sync()
    assert model.folders == DEEPEST_FIRST
    assert summaries(store) == {
        "soups/hot": "Summary 1.",
        "cakes": "Summary 2.",
        "soups": "Summary 3.",
        "": "Summary 4.",
    }
    assert "- hot/: Summary 1." in model.asked[2]
    assert "- soups/: Summary 3." in model.asked[3]
    assert "- lonely/: Alone" in model.asked[3]
    assert "- First of cakes/ (" in model.asked[1]
    assert (report.summaries.calls, report.summaries.written, report.notes) == (4, 4, [])
    assert "4 summaries written: 4 calls, " in to_text(report)
    folder = store.folder("soups")
    assert folder is not None
    assert folder.summary == "Summary 3."


def test_what_did_not_change_is_never_asked_again(root: Path, model: Model) -> None:
    store = opened(root)
    store.sync()
    model.bodies.clear()
    assert store.sync().summaries.calls == 0
    write(root, {"soups/first.org": "* Other\n"})
    assert store.sync().summaries.calls == 2
    assert model.folders == ["soups", "(all notes)"]
    assert store.sync().summaries.calls == 0
    (root / "cakes/first.org").unlink()
    model.bodies.clear()
    store.sync()
    assert model.folders == ["(all notes)"]


def test_another_model_is_asked_about_everything(root: Path, model: Model) -> None:
    opened(root).sync()
    configure(root, model, "other")
    store = opened(root)
    assert store.sync().summaries.calls == 4
    assert {json.loads(body)["model"] for body in model.bodies[4:]} == {"other"}
    assert store.sync().summaries.calls == 0


def test_without_a_model_the_summaries_that_need_none_come_back(root: Path, model: Model) -> None:
    store = opened(root)
    plain = summaries(store)
    store.sync()
    write(root, {"orgctx.toml": 'private_tags = ["private"]\n'})
    store = opened(root)
    report = store.sync(is_full=True)
    assert summaries(store) == plain
    assert (report.summaries.calls, report.notes, len(model.bodies)) == (0, [], 4)


def test_only_a_sync_that_was_asked_for_asks(root: Path, model: Model, ask: Ask) -> None:
    store = opened(root)
    store.freshen()
    store.problems()
    assert ask("focus", "soups/first.org", "--root", root).status == 0
    assert next(store.watch()).summaries.calls == 0
    assert model.bodies == []
    assert store.sync().summaries.calls == 4


def test_a_folder_that_changes_while_it_is_asked_about_is_due_still(
    root: Path, model: Model
) -> None:
    def meanwhile(handler: Handler, number: int) -> None:
        if number == 1:
            write(root, {"soups/hot/first.org": "* Other\n"})
            IndexedStore([root], database_file(), is_frozen=True).sync(summaries="leave")
        handler.say(f"Summary {number}.")

    store, model.act = opened(root), meanwhile
    store.sync()
    assert summaries(store)["soups/hot"] != "Summary 1."
    model.bodies.clear()
    store.sync()
    assert model.folders == ["soups/hot", "soups", "(all notes)"]


@pytest.mark.parametrize("most", [200, 260, 2000])
def test_a_request_never_costs_more_than_it_may(tmp_path: Path, model: Model, most: int) -> None:
    notes = {
        f"{n:03}.org": f"#+title: Nöte {n} 漢字漢字 of many\n* Ünlike {n}\n" for n in range(99)
    }
    configure(root := write(tmp_path / "many", notes), model, input_tokens=most)
    report = opened(root).sync()
    [asked] = model.asked
    assert 0.8 * most < count(asked) <= most
    assert report.summaries.input_tokens == count(asked)


def test_a_server_of_a_roots_own_file_gets_no_key(
    root: Path, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    opened(root).sync()
    assert set(model.keys) == {"Bearer none"}


def test_a_server_of_the_users_file_gets_the_key_that_is_named(
    root: Path, model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "orgctx.toml").unlink()
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("MY_KEY", "mine")
    configure(tmp_path / "config/orgctx", model, api_key_env="MY_KEY")
    opened(root).sync()
    assert set(model.keys) == {"Bearer mine"}


# --- What cannot be written ----------------------------------------------------------------------


def raw(data: bytes) -> Callable[[Handler, int], None]:
    return lambda handler, _: handler.send(200, data)


def saying(content: object) -> Callable[[Handler, int], None]:
    return lambda handler, _: handler.say(content)


def cut(handler: Handler, _: int) -> None:
    handler.send(200, b'{"choices": [', 1000)
    handler.connection.shutdown(socket.SHUT_RDWR)


def hang_up(handler: Handler, _: int) -> None:
    handler.connection.shutdown(socket.SHUT_RDWR)


def drip(handler: Handler, _: int) -> None:
    handler.send(200, b"", 10**6)
    for _ in range(1000):
        if handler.server.is_over.wait(0.05):
            break
        handler.wfile.write(b" ")


def echo_as_error(handler: Handler, number: int) -> None:
    handler.send(500, json.dumps({"error": {"message": handler.server.asked[-1]}}).encode())


FAULTS: dict[str, tuple[Callable[[Handler, int], None], str]] = {
    "late": (lambda handler, _: handler.server.is_over.wait(60), "no answer within"),
    "drips": (drip, "no answer within"),
    "500": (echo_as_error, "HTTP 500"),
    "401": (lambda handler, _: handler.send(401, b"{}"), "HTTP 401"),
    "429": (lambda handler, _: handler.send(429, b"no json"), "HTTP 429"),
    "cut": (cut, "connection"),
    "hung up": (hang_up, "connection"),
    "no json": (raw(b"<html>soups"), "usable"),
    "not text": (raw(b"\xff\xfe\x00"), "usable"),
    "nothing": (raw(b""), "usable"),
    "null": (raw(b"null"), "usable"),
    "a list": (raw(b"[1]"), "usable"),
    "no choices": (raw(b'{"choices": []}'), "usable"),
    "odd choices": (raw(b'{"choices": 3}'), "usable"),
    "odd message": (raw(b'{"choices": [{"message": "x"}]}'), "usable"),
    "deep": (raw(b"[" * 10**5), "m: "),
    "refusal": (saying(None), "usable"),
    "a number": (saying(7), "usable"),
    "empty": (saying(""), "usable"),
    "blank": (saying(" \n\t "), "usable"),
    "markup": (saying("```json\n{}\n```"), "usable"),
    "endless": (saying("word " * 500), "usable"),
}


def timed_failure(store: IndexedStore) -> tuple[float, str]:
    """The time that passes until a sync gives up, and its note."""
    start = time.monotonic()
    report = store.sync()
    return time.monotonic() - start, failed(report)


@pytest.mark.parametrize(("act", "words"), FAULTS.values(), ids=FAULTS)
def test_a_failure_ends_it_and_keeps_what_was_there(
    root: Path, model: Model, act: Callable[[Handler, int], None], words: str
) -> None:
    configure(root, model, timeout=0.5)
    good, store = model.act, opened(root)
    plain, model.act = summaries(store), act
    seconds, told = timed_failure(store)
    assert words in told
    assert len(model.bodies) == 1
    assert summaries(store) == plain
    model.act = good
    assert store.sync().summaries.written == 4
    write(root, {"cakes/first.org": "* Other\n"})
    written, model.act = summaries(store), act
    again, told = timed_failure(store)
    assert "2 left to the next sync" in told
    assert min(seconds, again) < 3, "what else the machine does only adds"
    assert len(model.bodies) == 6
    assert summaries(store) == written
    model.act = good
    assert store.sync().summaries.written == 2
    assert summaries(store)["cakes"] == "Summary 7."


def test_after_the_first_failure_nothing_is_asked_and_the_rest_is_written_later(
    root: Path, model: Model
) -> None:
    good = model.act
    model.act = lambda handler, number: (good if number != 2 else echo_as_error)(handler, number)
    store = opened(root)
    assert "HTTP 500; 3 left" in failed(store.sync())
    assert model.folders == ["soups/hot", "cakes"]
    assert store.sync().summaries.written == 3
    assert model.folders[2:] == ["cakes", "soups", "(all notes)"]


def test_a_failure_of_one_root_ends_it_for_all(root: Path, model: Model, tmp_path: Path) -> None:
    other = write(tmp_path / "other", NOTES)
    configure(other, model)
    model.act = echo_as_error
    store = open_store([root, other])
    assert isinstance(store, IndexedStore)
    assert "8 left" in failed(store.sync())
    assert len(model.bodies) == 1


def test_a_server_that_is_not_there_is_a_note(root: Path, model: Model) -> None:
    with socket.socket() as free:
        free.bind((LOOPBACK, 0))
        url = f"http://{LOOPBACK}:{free.getsockname()[1]}"
    configure(root, model, base_url=url)
    assert "connection" in failed(opened(root).sync())


def test_without_a_key_or_the_package_it_is_a_note(
    root: Path, model: Model, monkeypatch: pytest.MonkeyPatch, ask: Ask
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    write(root, {"orgctx.toml": '[summaries]\nmodel = "m"\n'})
    assert "OPENAI_API_KEY is not set" in failed(opened(root).sync())
    configure(root, model)
    monkeypatch.setitem(sys.modules, "openai", None)
    assert "orgctx[llm]" in failed(opened(root).sync())
    assert ask("sync", root).status == 0
    assert model.bodies == []


def test_an_interrupt_in_the_middle_loses_nothing(root: Path, model: Model) -> None:
    def interrupt(handler: Handler, number: int) -> None:
        if number == 3:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(1)
        handler.say(f"Summary {number}.")

    store, model.act = opened(root), interrupt
    plain = summaries(store)
    with pytest.raises(KeyboardInterrupt):
        store.sync()
    now = summaries(store)
    assert (now["soups/hot"], now["cakes"]) == ("Summary 1.", "Summary 2.")
    assert (now["soups"], now[""]) == (plain["soups"], plain[""])
    assert store.sync().summaries.written == 2
    assert model.folders[3:] == ["soups", "(all notes)"]


def test_progress_is_told(root: Path, model: Model) -> None:
    seen: list[tuple[int, int]] = []
    opened(root).sync(progress=lambda *each: seen.append(each))
    assert seen[-4:] == [(1, 4), (2, 4), (3, 4), (4, 4)]


# --- What is private -----------------------------------------------------------------------------

CANARIES = (
    "sealedword",
    "secretword",
    "hiddenword",
    "cryptword",
    "belowword",
    "textword",
    "ignoredword",
)
SECRETS = {
    "d/a.org": "#+title: Open\n* Plain\n* Diary secretword :private:secrettag:\n** secretword\n",
    "d/b.org": "#+filetags: :private:\n#+title: hiddenword\n* hiddenword\nhiddenword\n",
    "d/c.org": "#+title: Vault\n* Safe :crypt:\ncryptword\n** belowword\n* Else\ntextword here\n",
    "d/f.org": "#+filetags: :crypt:\n#+title: Sealed\nsealedword\n* sealedword\nsealedword\n",
    "d/hiddenword/e.org": "#+filetags: :private:\n* Any\n",
    "archive/ignoredword.org": "* ignoredword\n",
}


def test_nothing_private_and_no_text_is_ever_sent(root: Path, model: Model) -> None:
    write(root, SECRETS)
    text = (root / "orgctx.toml").read_text()
    write(root, {"orgctx.toml": f'ignore = ["archive/"]\n{text}'})
    store = opened(root)
    store.sync()
    write(root, {"d/a.org": SECRETS["d/a.org"] + "* More\n"})
    store.sync(is_full=True)
    sent = b"\n".join(model.bodies)
    assert b"Vault" in sent
    for word in (*CANARIES, "secrettag"):
        assert word.encode() not in sent, word


def test_what_a_model_wrote_of_what_became_private_goes_even_if_it_fails(
    root: Path, model: Model
) -> None:
    model.act = saying("All about canaryword.")
    store = opened(root)
    store.sync()
    write(root, {"cakes/first.org": "* canaryword :private:\n* Other\n"})
    model.act = echo_as_error
    failed(store.sync())
    known = summaries(store)
    assert "canaryword" not in known["cakes"] + known[""]
    assert "canaryword" in known["soups"]  # of which nothing changed


# --- What it would cost --------------------------------------------------------------------------


def test_a_dry_run_asks_nobody_and_counts_what_would_be_sent(
    root: Path, model: Model, ask: Ask
) -> None:
    for name in ("soups/hot/first.org", "soups/hot/second.org"):
        (root / name).unlink()
    for name in ("soups/first.org", "cakes/first.org"):
        (root / name).unlink()
    told = as_json(ask("sync", root, "--summaries-dry-run", "--json"))["summaries"]
    assert model.bodies == []
    assert (told["calls"], told["written"], told["is_exact"]) == (1, 0, True)
    status, out, _ = ask("sync", root, "--summaries-dry-run")
    line = f"summaries to be written: 1 call, {told['input_tokens']} input tokens\n"
    assert (status, line in out) == (0, True)
    done = as_json(ask("sync", root, "--json"))["summaries"]
    assert told["input_tokens"] == done["input_tokens"] == sum(map(count, model.asked)) > 0


def test_a_dry_run_says_that_it_does_not_know_what_is_not_written_yet(
    root: Path, model: Model
) -> None:
    model.act = saying("Always the same.")
    store = opened(root)
    dry = store.sync(summaries="dry-run")
    assert (dry.summaries.calls, dry.summaries.is_exact) == (4, False)
    assert "about 4 calls" in to_text(dry)
    real = store.sync().summaries.input_tokens
    assert abs(dry.summaries.input_tokens - real) < 0.3 * real
    write(root, {"soups/hot/first.org": "* Other\n"})
    dry = store.sync(summaries="dry-run")  # an answer as long as the one before costs the same
    assert dry.summaries.input_tokens == store.sync().summaries.input_tokens
    assert sum(map(count, model.asked[4:])) == dry.summaries.input_tokens


def test_a_dry_run_without_a_model_says_so(tmp_path: Path) -> None:
    report = opened(write(tmp_path / "notes", NOTES)).sync(summaries="dry-run")
    assert report.summaries.calls == 0
    assert "no model" in failed(report)


# --- Settings and answers ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lines", "word"),
    [
        ("", "give a model"),
        ("model = ''", "model: give"),
        ("model = 3", "model: give"),
        ("model = 'm'\nbase_url = 'ftp://x'", "base_url: give"),
        ("model = 'm'\ntimeout = 0", "timeout: give"),
        ("model = 'm'\ntimeout = nan", "timeout: give"),
        ("model = 'm'\ntimeout = true", "timeout: give"),
        ("model = 'm'\ninput_tokens = 1.5", "input_tokens: give"),
        ("model = 'm'\ninput_tokens = 10", "input_tokens: give"),
        ("model = 'm'\napi_key_env = ''", "api_key_env: give"),
        ("model = 'm'\nkey = 'x'", "key: there is no such key"),
    ],
)
def test_a_wrong_setting_is_told_with_its_line(tmp_path: Path, lines: str, word: str) -> None:
    file = tmp_path / "orgctx.toml"
    file.write_text(f"budget = 5\n[summaries]\n{lines}\n")
    with pytest.raises(BadConfig) as caught:
        load(file, is_users=True)
    assert word in caught.value.message
    assert caught.value.where == f"{file}:{2 + len(lines.splitlines())}"


def test_a_roots_own_file_does_not_choose_a_key(tmp_path: Path) -> None:
    file = tmp_path / "orgctx.toml"
    file.write_text("[summaries]\nmodel = 'm'\napi_key_env = 'OTHER_SECRET'\n")
    assert load(file, is_users=True).summaries
    with pytest.raises(BadConfig, match="own file only"):
        load(file)


@pytest.mark.parametrize(
    ("answer", "kept"),
    [
        ("  Soups\nand  stews. ", "Soups and stews."),
        ("Soups", "Soups"),
        ("One. Two! Three? Four.", "One. Two! Three?"),
        ('Soups, e.g. leek. "Stews." Pies. More.', 'Soups, e.g. leek. "Stews." Pies.'),
        ("汤。炖菜！馅饼。更多。", "汤。炖菜！馅饼。"),
        ("Short. " + "Long " * 100, "Short."),
        ("a\x1b[31m\ud800b", "a [31m b"),
        ("...", ""),
        ("<b>Soups</b>", ""),
        ("word " * 200, ""),
    ],
)
def test_what_is_usable_of_an_answer(answer: str, kept: str) -> None:
    assert usable(answer) == kept
    assert len(kept) <= CHARACTERS
    assert SENTENCES == 3


def test_the_package_is_loaded_only_to_ask(root: Path, model: Model) -> None:
    opened(root).sync()
    script = (
        "from orgctx.store.opening import open_store;"
        f"print(open_store([{str(root)!r}]).sync().summaries.calls)"
    )
    assert loaded_by(script, "openai", *TOKENIZERS) == ("0", set())


def test_the_store_says_who_wrote(root: Path, model: Model) -> None:
    store = opened(root)
    query = "SELECT DISTINCT author FROM folder WHERE files > 1"
    assert sqlite3.connect(database_file()).execute(query).fetchall() == [("",)]
    store.sync()
    assert sqlite3.connect(database_file()).execute(query).fetchall() == [("m",)]
