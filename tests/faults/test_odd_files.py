"""Faults: files that are no notes, and notes of odd names and bytes; none is touched."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import click
import pytest
from mishaps import NOTES, check_answer, check_repaired, either_way, elsewhere, question
from notes import note, snapshot, write
from program import Ask
from stores import check_equal_to_a_fresh_store, opened

from orgctx.surfaces import cli

# --- Files that are no notes, and notes of odd names and bytes -----------------------------------


def listener(place: Path) -> None:
    folder = Path.cwd()
    os.chdir(place.parent)  # the name of a socket may be no longer than 108 bytes
    try:
        with socket.socket(socket.AF_UNIX) as ours:
            ours.bind(place.name)
    finally:
        os.chdir(folder)


def device(place: Path) -> None:
    os.mknod(place, 0o600 | 0o020000, os.makedev(1, 5))


KINDS: dict[str, Callable[[Path], None]] = {
    "pipe": os.mkfifo,
    "listener": listener,
    **({"device": device} if os.geteuid() == 0 else {}),
}
"""What has a name and is no file; only root may make a device."""


@either_way
def test_what_is_no_file_keeps_nobody_waiting(root: Path, options: tuple[str, ...]) -> None:
    """In the place of a note that is known, and of one that never was."""
    addresses = []
    write(root, {f"{kind}.org": note(kind, f"id-{kind}") for kind in KINDS})
    opened(root)
    for kind, make in KINDS.items():
        (root / f"{kind}.org").unlink()
        make(root / f"{kind}.org")
        make(root / f"new-{kind}.org")
        addresses += [f"id-{kind}", f"{kind}.org", f"{kind}.org:1", f"new-{kind}.org"]
    calls = [("focus", address, "--root", root, *options) for address in addresses]
    others = [(command, root) for command in ("sync", "status", "outline")]
    answers = elsewhere(*calls, *others, question(root), seconds=30)
    refused = answers[: len(calls)]
    assert {(each.status, each.out, each.err.count("\n")) for each in refused} == {(1, "", 1)}
    assert {(each.status, each.err) for each in answers[len(calls) :]} == {(0, "")}
    check_answer(answers[-1])


def test_a_configuration_that_is_no_file_keeps_nobody_waiting(root: Path) -> None:
    os.mkfifo(root / "orgctx.toml")
    [answer] = elsewhere(question(root), seconds=4)
    assert answer.err.count("\n") <= 1


ODD_NAMES = {
    "long": "n" * 251 + ".org",
    "long folders": f"{'a' * 255}/{'b' * 255}/c.org",
    "long and not ASCII": "é" * 125 + ".org",
    "new line": "a\n* b\n.org",
    "not UTF-8": os.fsdecode(b"\xff\xfe\xc3.org"),
    "folder not UTF-8": os.fsdecode(b"d\xff/x.org"),
    "controls": "\x01\x1b[31m\x7f.org",
}


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, id=kind) for kind, name in ODD_NAMES.items()],
)
def test_a_note_of_any_name_is_known_to_the_store_and_shown(
    root: Path, tmp_path: Path, ask: Ask, name: str
) -> None:
    write(root, {name: note("Odd", "id-odd") + "* Other\n:PROPERTIES:\n:CUSTOM_ID: odd\n:END:\n"})
    synced = ask("sync", root, "--json")
    assert (synced.status, json.loads(synced.out)["read"], synced.err) == (0, NOTES + 1, "")
    assert name in opened(root).paths
    for address in ("id-odd", "id:id-odd", f"{name}:1", f"{name}::*Odd", f"{name}::Odd"):
        data = json.loads(ask("focus", address, "--root", root, "--format", "json").out)
        assert "text of Odd\n" in data["text"]
        assert {each["path"] for each in data["shown"]} == {name}
        assert not any(line.startswith("* b") for line in data["text"].split("\n"))
    assert ask("focus", "#odd", "--root", root).status == 0
    assert json.loads(ask("sync", root, "--json").out)["unchanged"] == NOTES + 1
    (root / name).unlink()
    assert json.loads(ask("sync", root, "--json").out)["removed"] == 1
    check_equal_to_a_fresh_store(root, tmp_path)


def test_a_folder_too_deep_to_be_named_is_a_problem(root: Path, ask: Ask) -> None:
    place = os.open(root, os.O_RDONLY)
    for _ in range(20):
        os.mkdir("d" * 250, dir_fd=place)
        inner = os.open("d" * 250, os.O_RDONLY, dir_fd=place)
        os.close(place)
        place = inner
    os.close(os.open("deep.org", os.O_CREAT | os.O_WRONLY, dir_fd=place))
    os.close(place)
    done = json.loads(ask("sync", root, "--json").out)
    assert done["read"] == NOTES
    [problem] = done["problems"]
    assert problem["what"] == "a folder that cannot be listed: File name too long"
    assert "text of N3\n" in ask("focus", "id-000003", "--root", root).out


def test_a_root_whose_name_is_not_utf8_is_a_root(tmp_path: Path, ask: Ask) -> None:
    root = write(tmp_path / os.fsdecode(b"n\xff"), {"a.org": note("A", "id-a-long")})
    assert ask("sync", root).status == 0
    assert "text of A\n" in ask("focus", "id-a-long", "--root", root).out


@pytest.mark.parametrize(
    "form",
    ["0.org::#{}", "0.org::*{}", "{}", "id:{}", "#{}", "{}.org", "{}/0.org:1"],
)
def test_an_address_that_is_not_utf8_is_not_there(root: Path, ask: Ask, form: str) -> None:
    answer = ask("focus", form.format(os.fsdecode(b"\xff") * 8), "--root", root)
    assert (answer.status, answer.err.count("\n")) == (1, 1)


ODD_BYTES = {
    "nothing": b"",
    "a byte order mark": b"\xef\xbb\xbf",
    "line ends": b"\n\r\n\n",
    "a NUL": b"\0",
    "NULs": b"* A\nbefore\0after\n" + b"\0" * 10_000 + b"\n* B\nbehind\n",
    "half a surrogate pair": b"# -*- coding: raw_unicode_escape -*-\n* caf\xe9 \\ud800\n",
}


@pytest.mark.parametrize("data", ODD_BYTES.values(), ids=ODD_BYTES)
def test_a_note_of_any_bytes_stops_nothing(
    root: Path, tmp_path: Path, ask: Ask, data: bytes
) -> None:
    write(root, {"odd.org": data})
    synced = ask("sync", root, "--json")
    assert (synced.status, synced.err) == (0, "")
    is_text = b"coding" not in data
    assert [each["path"] for each in json.loads(synced.out)["problems"]] == ["odd.org"] * (
        not is_text
    )
    call = ("focus", "odd.org", "--root", root, "--format", "json", "--budget", "100000")
    answer = ask(*call)
    assert answer.status == (0 if is_text else 1)
    if is_text:
        text = json.loads(answer.out)["text"].partition("\n")[2]
        assert text.rstrip("\n") == data.decode("utf-8-sig").replace("\r\n", "\n").rstrip("\n")
    check_repaired(ask, root, tmp_path)


def test_what_follows_a_nul_is_found(root: Path) -> None:
    write(root, {"odd.org": ODD_BYTES["NULs"]})
    store = opened(root)
    for word in ("before", "after", "behind"):
        found = "SELECT count(*) FROM words WHERE words MATCH ?"
        assert store.connection.execute(found, (word,)).fetchone() == (1,)
    store.connection.execute("INSERT INTO words (words) VALUES ('integrity-check')")


# --- Sources are left as they are ----------------------------------------------------------------

SOURCES: dict[str, str | bytes] = {
    "a.org": "#+title: T\r\n* A   \r\n:PROPERTIES:\r\n:ID: id-a\r\n:END:\r\n* TODO B :t:\r\nend",
    "sub/b.org": b"\xef\xbb\xbf* B",
    "latin.org": b"# -*- coding: latin-1 -*-\n* caf\xe9\n",
    "bad.org": b"* caf\xe9\n",
    "nul.org": b"\0",
    "empty.org": b"",
    "x.sync-conflict-20240101-101010-AB.org": "* Copy\n",
    ".#a.org": "lock",
    "orgctx.toml": 'private_tags = ["private"]\n',
}
COMMANDS: dict[str, list[tuple[str, ...]]] = {
    "sync": [(), ("--json",), ("--full",)],
    "status": [(), ("--json",), ("--no-sync",)],
    "ls": [("--root",), ("a.org", "--root"), (".", "--json", "--root")],
    "where": [("id:id-a", "--root"), ("a.org:6", "--json", "--root"), ("nowhere.org", "--root")],
    "tokens": [("--root",), ("a.org", "--root"), (".", "--json", "--root")],
    "read": [("a.org", "--subtree", "--root"), ("bad.org", "--json", "--root")],
    "cite": [],
    "outline": [(), ("--json",)],
    "focus": [
        (address, "--root", *form)
        for address in ("id:id-a", "a.org:6", "sub/b.org", "latin.org", "bad.org", "nowhere.org")
        for form in ((), ("--format", "json"), ("--report",), ("--no-sync",), ("--ids", "short"))
    ]
    + [
        ("a.org:6", "--root", "--explain"),
        ("a.org", "--root", "--explain", "--json"),
        ("a.org", "--root", "--html", "page.html"),
    ],
    "grep": [(".", "--regexp", "--root"), ("end", "a.org", "--json", "--root"), ("B", "--root")],
    "context": [
        (query, *form, "--root")
        for query in ("end", "id:id-a", "bad.org", "nothing of the kind")
        for form in ((), ("--json",), ("--no-sync", "--explain"), ("--format", "md"))
    ],
    "overview": [("--root", *form) for form in ((), ("--format", "json"), ("--report",))],
    "collections": [("--root",), ("--root", "--format", "json")],
    "init": [("--force", "--root")],
    "mcp": [("--print-config", "codex", "--root"), ("--dry-run", "B", "--root")],
    "tool": [
        *(("status", "--root"), ("ls", '{"path": "a.org"}', "--root")),
        ("read", '{"address": "bad.org", "subtree": true}', "--root"),
    ],
    "emacs": [],
    "watch": [],
    "work": [("open", "x", "--root")],
}
"""Calls of each command, to which the root is added. `watch` is started by itself; `cite` is told
where notes are by what was read.
"""
COPY_CALLS = (
    *(("open", "x"), ("status",), ("diff", "x"), ("commit", "x", "-m", "m"), ("log",)),
    *(("show", "abcdef"), ("prune",), ("discard", "x")),
)
"""Calls of `work` once there is a copy, in which nothing was edited."""


def test_no_command_touches_a_source(home: Path, ask: Ask) -> None:
    root = write(home / "notes", SOURCES)
    for number, place in enumerate(sorted(root.rglob("*"))):
        os.utime(place, ns=(10**18 + number, 10**18 + number * 1_000_003))
    before = snapshot(root)
    assert set(COMMANDS) == set(cli.cli.list_commands(click.Context(cli.cli)))
    for command, calls in COMMANDS.items():
        for call in calls:
            answer = ask(command, *with_root(call, root))
            assert answer.status in (0, 1), answer
            assert snapshot(root) == before, (command, call)
    for call in COPY_CALLS:
        answer = ask("work", *call)
        assert answer.status == int(call[0] == "show"), answer
        assert snapshot(root) == before, call
    watching = subprocess.Popen(
        [sys.executable, "-m", "orgctx", "watch", str(root)], stdout=subprocess.PIPE
    )
    assert watching.stdout
    assert b" read, " in watching.stdout.readline()
    watching.send_signal(signal.SIGINT)
    watching.communicate(timeout=30)
    assert snapshot(root) == before


def with_root(call: tuple[str, ...], root: Path) -> list[str]:
    at = call.index("--root") + 1 if "--root" in call else len(call)
    return [*call[:at], str(root), *call[at:]]
