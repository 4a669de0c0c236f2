"""Privacy, everywhere: no answer, no error, no object and no byte of the store tells of it.

Each private thing has a rare word of its own, so that one that is found anywhere names its leak.
"""

from __future__ import annotations

import base64
import gzip
import json
import os
import re
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import click
import pytest
from notes import write
from program import Answer, Ask, as_json, script
from stores import stored_bytes

from orgctx import Memex, OrgctxError, open_memex
from orgctx.cites import Cites
from orgctx.core import model
from orgctx.store.opening import open_store
from orgctx.surfaces import cli
from orgctx.surfaces.node import Node

PUBLIC = {
    "open.org": """\
#+title: Notes in the open
An introduction.
* Flowers :outdoor:
:PROPERTIES:
:ID: shared-public-1
:CUSTOM_ID: flowers
:END:
Roses and soil.
** Beds
[[id:shared-public-1][up]]
** Same
** Same
* Last
:PROPERTIES:
:ID: last-000001
:END:
[[*Same]] [[#flowers]] [[file:safe.org::*Safe]] [[file:second.org]] [[spot]] [[file:open.org::26]]
""",
    "second.org": "* Second :outdoor:\n",
    "safe.org": "* Safe :crypt:\n:PROPERTIES:\n:ID: safe-000001\n:END:\n",
    "sealed.org": "#+title: Sealed\n#+filetags: :crypt:\n",
}
"""What anybody may see."""

PRIVATE = {
    "open.org": """\
* TODO Aardwolf plans :private:binturong:
SCHEDULED: <2024-13-45 Mon>
:PROPERTIES:
:ID: cassowary-0001
:CUSTOM_ID: dugongidae
:Echidna: flycatcher
:END:
Text on gharial and a [[id:hoatzin-0002][iguanodon]].
[[*kakapo]] [[#lorikeet]] [[file:second.org::mongoose]] [[~/numbat.org]] <<spot>> <<okapi>>
[[file:second.org]] [[*Last]] [[#flowers]] [[file:safe.org::*Safe][potto]]
#+title: jackalope
** Kinkajou below
:PROPERTIES:
:ID: lammergeier-0001
:CUSTOM_ID: markhor
:END:
nightjar
*** Same
:PROPERTIES: ocellated
:END:
* Same :private:
:PROPERTIES:
:ID: shared-private-2
:CUSTOM_ID: flowers
:END:
[[id:shared-public-1][pangolin]]
* Flowers :private:
:PROPERTIES:
:ID: shared-public-1
:END:
""",
    "sub/quokka.org": """\
:PROPERTIES:
:ID: raccoon-0001
:END:
#+title: Sitatunga
tarsier [[id:last-000001][umbrellabird]]
* Vaquita :walrus:
:PROPERTIES:
:ID: xenarthra-0001
:CUSTOM_ID: yaguarondi
:END:
zorilla
#+filetags: :private:
""",
    "safe.org": """\
axolotl
** Barramundi in it
:PROPERTIES:
:ID: coelacanth-0001
:CUSTOM_ID: dormouse
:END:
euplectes [[id:last-000001][galliwasp]] [[file:open.org::*quetzal]] [[file:second.org]]
""",
    "sealed.org": "gibbonesque\n* Hellbender :ichneumon:\njackdaw\n",
}
"""What stands below that, or in files of its own; nobody may see it."""

FILE_WORD = "quokka"
WORDS = {
    *("aardwolf", "binturong", "cassowary", "dugongidae", "echidna", "flycatcher", "gharial"),
    *("hoatzin", "iguanodon", "jackalope", "kinkajou", "lammergeier", "markhor", "nightjar"),
    *("ocellated", "pangolin", "quokka", "raccoon", "sitatunga", "tarsier", "umbrellabird"),
    *("vaquita", "walrus", "xenarthra", "yaguarondi", "zorilla", "axolotl", "barramundi"),
    *("coelacanth", "dormouse", "euplectes", "galliwasp", "gibbonesque", "hellbender"),
    *("ichneumon", "jackdaw", "kakapo", "lorikeet", "mongoose", "numbat", "okapi", "potto"),
    "quetzal",
}
SETTING = 'private_tags = ["private"]\n'


def joined(*parts: dict[str, str]) -> dict[str, str]:
    names = dict.fromkeys(name for part in parts for name in part)
    return {name: "".join(part.get(name, "") for part in parts) for name in names}


def found_in(text: str, *given: str) -> set[str]:
    """The private words in a text that are not in what the user gave."""
    known = " ".join(given).lower()
    return {word for word in WORDS if word in text.lower() and word not in known}


def test_each_private_word_is_in_the_private_part_alone() -> None:
    private, public = (joined(part) for part in (PRIVATE, PUBLIC))
    assert found_in("".join([*private, *private.values()])) == WORDS
    assert found_in("".join([*public, *public.values()])) == set()


# --- The memex, with a store and without ---------------------------------------------------------


@pytest.fixture
def notes(home: Path) -> Path:
    """The folder of the memex; the current folder is the one above."""
    return write(home / "notes", {**joined(PUBLIC, PRIVATE), "orgctx.toml": SETTING})


def let_the_user_set_it(notes: Path) -> None:
    """Say what is private in the user's configuration, not in the root's."""
    (notes / "orgctx.toml").unlink()
    write(Path(os.environ["XDG_CONFIG_HOME"]), {"orgctx/orgctx.toml": SETTING})


@pytest.fixture(params=["with a store", "without a store"])
def store(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    if "without" in request.param:
        write(tmp_path, {"no-folder": ""})
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "no-folder"))
    return str(request.param)


# --- Every command -------------------------------------------------------------------------------

SHOWN = (
    *("open.org", "open.org::*Flowers", "open.org::Flowers/Beds", "open.org::*Last", "open.org:4"),
    *("id:shared-public-1", "shared", "id:shared", "#flowers", "open.org::#flowers", "last-0"),
    *("second.org", "safe.org", "safe-000001", "safe.org::*Safe", "sealed.org"),
)
"""Addresses of what may be seen; some are of private nodes as well."""

NEAR = (
    *("id:cassowar-0001", "cassowar", "id:lammergeie-0001", "id:coelacant-0001", "id:raccoo-01"),
    *("#dugongida", "#markho", "#yaguarond", "open.org::#dugongida", "safe.org::#dormous"),
    *("open.org::*Aardwol plans", "open.org::Aardwol plans/Kinkajo below", "open.org::Aardwol"),
    *("sub/quokk.org", "quokk.org", "sub/quokk.org::*Vaquit", "sub", "sub/x.org"),
    *("safe.org::*Barramund in it", "safe.org::Safe/Barramund", "sealed.org::*Hellbende"),
    *("open.org::*Same", "open.org::Flowers/Same"),
)
"""Addresses that are like those of something private, or of several nodes."""

EXACT = (
    *("id:cassowary-0001", "cassowary-0001", "cassowary", "id:lammergeier-0001", "raccoon-0001"),
    *("id:xenarthra-0001", "[[id:raccoon-0001][x]]", "coelacanth-0001"),
    *("#dugongidae", "#markhor", "#yaguarondi", "#dormouse", "open.org::#dugongidae"),
    *("open.org::*Aardwolf plans", "open.org::Aardwolf plans/Kinkajou below"),
    *("open.org::*Kinkajou below", "sealed.org::*Hellbender", "safe.org::*Barramundi in it"),
    *("safe.org::Safe/Barramundi in it", "sub/quokka.org", "quokka.org", "./sub/quokka.org"),
    *("sub/quokka.org:6", "sub/quokka.org::*Vaquita", "sub/quokka.org::Vaquita"),
    *("sub/quokka.org::#yaguarondi", "[[file:sub/quokka.org::*Vaquita][x]]", "file:sub/quokka.org"),
)
"""Addresses of what is private."""

HIDDEN_LINES = (
    "open.org:20",
    "open.org:22",
    "open.org:30",
    "open.org:99",
    "safe.org:6",
    "sealed.org:4",
)
"""Lines of what is private, and one below the file."""

ROOT = ("--root", "notes")
FORMS = (
    ROOT,
    (*ROOT, "--format", "json", "--report"),
    (*ROOT, "--no-sync", "--ids", "short"),
    (*ROOT, "--budget", "90", "--format", "json", "--report"),
    (*ROOT, "--budget", "90", "--explain"),
    (*ROOT, "--explain", "--json"),
)

ALL = (*ROOT, "--regexp", "--limit", "500", "--budget", "100000", "--json")
FILTERS = (
    *(("--tag", "private"), ("--tag", "binturong"), ("--tag", "crypt"), ("--todo", "TODO")),
    *(("--property", "Echidna"), ("--property", "ID"), ("--property", "CUSTOM_ID=flowers")),
)
LISTS = (ROOT, (*ROOT, "--json", "--limit", "2"))
ASKED_FOR = (
    *("flowers", "roses and soil", "aardwolf plans", "same", "kinkajou below", "outdoor"),
    *("todo plans", "sitatunga quokka", "barramundi in it", "safe", "introduction to tarsier"),
)
BUNDLES = (
    (*ROOT, "--explain"),
    (*ROOT, "--json", "--explain"),
    (*ROOT, "--format", "md", "--budget", "150"),
    *((*ROOT, "--mode", mode, "--no-sync") for mode in ("definitions", "entries", "files")),
)
PLACE = (*ROOT, "--json", "--no-sync")
READS = (ROOT, (*ROOT, "--subtree", "--json"), (*ROOT, "--subtree", "--budget", "90"))

CALLS: dict[str, list[tuple[str, ...]]] = {
    "focus": [
        *((address, *form) for address in SHOWN for form in FORMS),
        *((address, *ROOT, "--lens", "fisheye", "--report") for address in SHOWN),
        *((address, *ROOT, "--lens", "fisheye", "--explain") for address in SHOWN),
        *((address, *form) for address in (*NEAR, *EXACT) for form in FORMS[:3:2]),
        ("open.org", "safe.org", *ROOT),
        ("second.org", "sub/quokk.org", *ROOT),
    ],
    "overview": [(*given, *form) for given in ((), SHOWN[:2], ("quokk.org",)) for form in FORMS],
    "where": [
        *((address, *form) for address in (*SHOWN, *NEAR, *EXACT) for form in (ROOT, PLACE)),
    ],
    "context": [
        *((given, *ROOT) for given in (*sorted(WORDS), *SHOWN, *NEAR[::3], *EXACT[::3])),
        *((given, *form) for given in ASKED_FOR for form in BUNDLES),
    ],
    "grep": [
        *((given, *ROOT) for given in sorted(WORDS)),
        *((".", *path, *ALL) for path in ((), ("open.org",), ("safe.org",), ("sealed.org",))),
        *(
            (".", path, *ALL)
            for path in ("sub", "sub/quokka.org", "cassowary-0001", "sub/quokk.org")
        ),
        *(("", name, value, *ROOT) for name, value in FILTERS),
        *((each, *ROOT, "--ignore-case") for each in ("cassowar", "Kinkaj", "2024-13", "quokk")),
    ],
    "ls": [
        ROOT,
        *((path, *form) for path in (*SHOWN, *NEAR, *EXACT, "sub", "notes") for form in LISTS),
    ],
    "tokens": [
        ROOT,
        *((path, *form) for path in (*SHOWN, *NEAR, *EXACT, "sub", "notes") for form in LISTS),
    ],
    "read": [
        *((address, *form) for address in SHOWN for form in READS),
        *((address, *ROOT) for address in (*NEAR, *EXACT)),
        *((name, *ROOT, "--lines", "1-60") for name in (*PUBLIC, "sub/quokka.org")),
    ],
    "cite": [],
    "outline": [
        *((path, *form) for path in ("notes", "notes/sub") for form in ((), ("--json",))),
        *((f"notes/{name}", "--json") for name in PUBLIC),
    ],
    "sync": [("notes",), ("notes", "--json"), ("notes", "--full"), ("notes", "--full", "--json")],
    "status": [("notes",), ("notes", "--json"), ("notes", "--no-sync"), ("notes", "nowhere")],
    "watch": [],
    "collections": [ROOT, (*ROOT, "--format", "json"), (*ROOT, "--no-sync")],
    "init": [(*ROOT, "--force")],
    "mcp": [(*ROOT, "--print-config", "codex")],
    "tool": [
        ("status", *ROOT),
        *(
            (name, json.dumps(given), *ROOT)
            for each in (*SHOWN, *NEAR, *EXACT)
            for name, given in (("read", {"address": each}), ("focus", {"addresses": [each]}))
        ),
        *(("context", json.dumps({"query": each}), *ROOT) for each in ASKED_FOR),
    ],
    "work": [
        *(("open", "x", *ROOT), ("open", "x"), ("status",), ("status", "--format", "json")),
        *(("diff", "x"), ("commit", "x", "-m", "m"), ("log",), ("prune",)),
        *(("diff", "y"), ("show", "abcdef"), ("discard", "x"), ("discard", "x")),
    ],
    "emacs": [()],
}
"""Calls of every command; `watch`, `cite` and edits in a copy have tests of their own."""

HIDDEN_CALLS = {
    "mcp": [("--dry-run", word, *ROOT) for word in sorted(WORDS)],
    "focus": [(line, *ROOT) for line in HIDDEN_LINES],
    "where": [(line, *ROOT) for line in HIDDEN_LINES],
    "ls": [(line, *ROOT) for line in HIDDEN_LINES],
    "tokens": [(line, *ROOT) for line in HIDDEN_LINES],
    "grep": [(".", line, *ALL) for line in HIDDEN_LINES],
    "read": [
        *((line, *ROOT, "--subtree") for line in HIDDEN_LINES),
        *(("open.org", *ROOT, "--lines", lines) for lines in ("18-22", "22", "25-99", "99-999")),
        *(("safe.org", *ROOT, "--lines", lines) for lines in ("1-99", "5-6", "6")),
    ],
}
"""Calls that name lines which only the private part has."""


def test_every_command_is_asked() -> None:
    assert set(CALLS) == set(cli.cli.list_commands(click.Context(cli.cli)))


ASKED = [name for name, calls in CALLS.items() if calls]


@pytest.mark.parametrize("command", ASKED)
def test_no_command_tells_what_is_in_a_private_note(
    notes: Path, store: str, ask: Ask, command: str
) -> None:
    for set_it in (None, let_the_user_set_it):
        if set_it:
            set_it(notes)
        ask("sync", "notes")
        calls = CALLS[command] + HIDDEN_CALLS.get(command, [])
        assert leaks_of(ask, command, calls, WORDS - {FILE_WORD}) == {}


@pytest.mark.parametrize("command", ASKED)
def test_no_command_tells_the_name_of_a_private_file(
    notes: Path, store: str, ask: Ask, command: str
) -> None:
    ask("sync", "notes")
    assert leaks_of(ask, command, CALLS[command], {FILE_WORD}) == {}


def leaks_of(
    ask: Ask, command: str, calls: list[tuple[str, ...]], words: set[str]
) -> dict[str, set[str]]:
    leaks = {}
    for call in calls:
        answer = ask(command, *call)
        assert answer.status in (0, 1, 3), answer
        if found := found_in(answer.out + answer.err, *call) & words:
            leaks[" ".join(call)] = found
    return leaks


def test_what_may_be_seen_is_shown(notes: Path, store: str, ask: Ask) -> None:
    assert {address for address in SHOWN if ask("focus", address, *ROOT).status} == set()


def test_watching_tells_no_private_word(notes: Path) -> None:
    command = [sys.executable, "-m", "orgctx", "watch", "notes"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as watching:
        assert watching.stdout
        told = b""
        for number in range(200):
            write(notes, {"sub/quokka.org": PRIVATE["sub/quokka.org"] + f"{number}\n"})
            write(notes, {"open.org": PUBLIC["open.org"] + PRIVATE["open.org"] * number})
            if select.select([watching.stdout], [], [], 0.1)[0]:
                told += os.read(watching.stdout.fileno(), 10_000)
            if told.count(b" read, ") > 1:
                break
        watching.send_signal(signal.SIGINT)
        out, err = watching.communicate(timeout=30)
    assert told.count(b" read, ") > 1
    assert found_in((told + out + err).decode()) == set()


def test_citing_tells_no_private_word(notes: Path, tmp_path: Path, ask: Ask) -> None:
    kept = tmp_path / "cites"
    ask("read", "sealed.org", "--subtree", "--cites", kept, *ROOT)
    for name in ("open.org", "safe.org"):
        for form in (("--subtree",), ("--lines", "1-60")):
            assert ask("read", name, *form, "--cites", kept, *ROOT).status == 0
    assert ask("read", "sub/quokka.org", "--cites", kept, *ROOT).status == 1
    data = kept.read_bytes()
    packed = re.findall(rb"H4sI[A-Za-z0-9+/=]+", data)
    texts = [gzip.decompress(base64.b64decode(each)) for each in packed]
    assert b"Roses and soil" in data + b"".join(texts)
    assert found_in((data + b"".join(texts)).decode("utf-8", "replace")) == set()
    write(notes, {"open.org": PUBLIC["open.org"].replace("Roses", "Lilies") + PRIVATE["open.org"]})
    lines = " ".join(
        f"[{n}:L{a}-L{b}]" for n in (1, 2, 3, 4) for a, b in ((1, 9), (5, 30), (20, 22))
    )
    for style in ("link", "footnote"):
        done = script("cite", "--cites", kept, "--style", style, given=lines)
        assert done.status in (0, 3), done.err
        assert done.out
        assert found_in(done.out + done.err) == set()


# --- Nothing is changed by what is private -------------------------------------------------------


def plain(answer: Answer, folder: Path) -> Answer:
    """An answer without the memex's place and without the size of the store."""
    out, err = (text.replace(str(folder), "") for text in (answer.out, answer.err))
    out = re.sub(r'"store_bytes": \d+|[\d.]+ MB', "", out)
    return Answer(answer.status, out, err)


SAME = ("focus", "overview", "context", "ls", "tokens", "grep", "read", "status", "collections")


@pytest.mark.parametrize("command", SAME)
def test_an_answer_is_the_same_whether_or_not_there_is_something_private(
    tmp_path: Path,
    notes: Path,
    store: str,
    ask: Ask,
    monkeypatch: pytest.MonkeyPatch,
    command: str,
) -> None:
    less = write(tmp_path / "less" / "notes", {**joined(PUBLIC), "orgctx.toml": SETTING})
    answers = []
    for folder in (notes, less):
        for place in folder.rglob("*.org"):
            os.utime(place, (10**9, 10**9))
        monkeypatch.chdir(folder.parent)
        ask("sync", "notes")
        answers.append({call: plain(ask(command, *call), folder) for call in CALLS[command]})
    differing = {call: answer for call, answer in answers[0].items() if answers[1][call] != answer}
    assert differing == {}


def test_what_is_private_is_not_told_apart_from_what_is_not_there(
    notes: Path, store: str, ask: Ask
) -> None:
    """But for the near matches, which are those of the name that was given."""
    told_apart = {}
    for address in EXACT:
        nowhere = ask("focus", masked(address), *ROOT)
        private = ask("focus", address, *ROOT)
        kinds = {
            (status, masked(message(err)), ";" in err) for status, _, err in (private, nowhere)
        }
        if len(kinds) > 1:
            told_apart[address] = private.err, nowhere.err
    assert told_apart == {}


NEIGHBOURS = (
    *(f"note{number}.org" for number in range(1, 13)),
    *(f"d{number}/note1.org" for number in range(12)),
    "re\u0301s.org",
)
NAMES = ("note1.org", "note1.org:1", "note1.org::x", "d1/note1.org", "x/note1.org", "note.org")


@pytest.mark.parametrize("root", ["ORGCTX_ROOT", "--root", "none"])
def test_a_private_file_is_answered_as_one_that_is_not_there(
    tmp_path: Path, store: str, ask: Ask, monkeypatch: pytest.MonkeyPatch, root: str
) -> None:
    """The hint too: neither the file itself nor others like it stand in the way of near names."""
    private = dict.fromkeys(NEIGHBOURS, "#+filetags: :private:\n* P\n")
    answers = []
    for kind, given in (("with", private), ("without", {})):
        folder = tmp_path / kind
        files = {"notes.org": "* A\n", "r\u00e9s.org": "* B\n", "orgctx.toml": SETTING}
        write(folder / "notes", {**files, **given})
        for name in private:
            (folder / "notes" / name).parent.mkdir(exist_ok=True)
        monkeypatch.chdir(folder)
        monkeypatch.setenv("ORGCTX_ROOT", str(folder / "notes") if root == "ORGCTX_ROOT" else "")
        named = [f"{above}{name}" for above in ("", "notes/") for name in (*NAMES, "re\u0301s.org")]
        calls = [(command, name) for command in ("read", "ls", "focus") for name in named]
        calls += [("grep", "A", name) for name in named] + [("outline", f"notes/{NAMES[0]}")]
        calls += [("ls", "--root", f"notes/{NAMES[0]}")] * (root != "--root")
        last = ROOT if root == "--root" else ()
        answers.append({call: plain(ask(*call, *last), folder) for call in calls})
        try:
            open_memex(folder / "notes" / NAMES[0])
        except OrgctxError as error:
            answers[-1]["open_memex"] = plain(Answer(0, error.message, error.hint), folder)
    differing = {
        call: (answers[1][call], a) for call, a in answers[0].items() if answers[1][call] != a
    }
    assert differing == {}
    assert "did you mean" in answers[0]["read", "notes/note1.org"].err


def message(err: str) -> str:
    """The last complaint without its hint."""
    return err.splitlines()[-1].partition(";")[0]


def masked(text: str) -> str:
    """The text with letters that mean nothing in the place of each private word."""
    return re.sub("|".join(WORDS), lambda word: "q" * len(word[0]), text, flags=re.IGNORECASE)


# --- Files that are named without a root ---------------------------------------------------------

ALONE: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "a path": ("", ".", ("focus", "notes/sub/quokka.org")),
    "a line": ("", ".", ("focus", "notes/open.org:21")),
    "a title": ("", ".", ("focus", "notes/open.org::*Aardwolf plans")),
    "a near path": ("", ".", ("focus", "notes/sub/quokk.org")),
    "a path in a known root": ("notes", ".", ("focus", "notes/sub/quokka.org")),
    "a name in a known root": ("notes", "notes/sub", ("focus", "quokka.org")),
    "a folder of the root": ("", ".", ("focus", "quokka.org", "--root", "notes/sub")),
    "an overview": ("", ".", ("overview", "notes/open.org")),
    "a search": ("", ".", ("grep", "gharial", "notes/open.org")),
}
"""What a private file is named by: the default root, the current folder, and the call."""


def hidden_when_named(way: str, notes: Path, ask: Ask, monkeypatch: pytest.MonkeyPatch) -> set[str]:
    root, folder, call = ALONE[way]
    monkeypatch.setenv("ORGCTX_ROOT", root and str(notes))
    monkeypatch.chdir(notes.parent / folder)
    answer = ask(*call)
    return found_in(answer.out + answer.err, *call)


@pytest.mark.parametrize("way", ALONE)
def test_a_file_named_alone_hides_what_its_root_says_is_private(
    notes: Path, ask: Ask, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    assert hidden_when_named(way, notes, ask, monkeypatch) == set()


@pytest.mark.parametrize(
    "way",
    ALONE,
)
def test_a_file_named_alone_hides_what_the_user_says_is_private(
    notes: Path, ask: Ask, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    let_the_user_set_it(notes)
    assert hidden_when_named(way, notes, ask, monkeypatch) == set()


def test_a_file_opened_alone_hides_what_the_user_says_is_private(notes: Path) -> None:
    let_the_user_set_it(notes)
    memex = open_memex(notes / "open.org")
    assert found_in(memex.focus(str(notes / "open.org")).text) == set()


# --- Python --------------------------------------------------------------------------------------


def words_of(thing: Any, depth: int = 3) -> Iterator[str]:
    """What can be read off an object: itself as text, and what its public attributes give.

    The tree of a node is not looked into: its text is the file.
    """
    yield repr(thing)
    if isinstance(thing, dict):
        yield json.dumps(thing, default=repr)
    elif isinstance(thing, (list, tuple, set, frozenset)):
        for each in thing:
            yield from words_of(each, depth)
    elif depth and type(thing).__module__.startswith("orgctx"):
        named = {each.name for each in fields(thing)} if is_dataclass(thing) else set(vars(thing))
        types = (type(thing), model.Node) if isinstance(thing, Node) else (type(thing),)
        made = {name for each in types for name in dir(each)}
        for name in sorted((named | made) - {"tree", "with_traceback"}):
            if not name.startswith("_") and not callable(value := getattr(thing, name)):
                yield from words_of(value, depth - 1)


def cited(memex: Memex, address: str) -> object:
    cites = Cites()
    memex.read(address, subtree=True, cites=cites)
    return memex.cite("[1:L1-L30] [1:L22] [2:L1]", cites)


def told_by_tools(memex: Memex, address: str) -> list[object]:
    """Everything that an agent gets to see of an address."""
    tools, budget = memex.tools(), {"budget": 20_000}
    calls: list[tuple[str, dict[str, Any]]] = [
        ("context", {"query": f"what is {address}"}),
        ("focus", {"addresses": [address], "lens": "fisheye"}),
        ("overview", {"addresses": [address]}),
        ("ls", {"path": address, "long": True}),
        ("grep", {"pattern": ".", "path": address, "regexp": True}),
        ("read", {"address": address, "subtree": True}),
        ("cite", {"answer": "[1:L1-L30] [1:L22] [2:L1]"}),
        ("status", {}),
    ]
    assert {name for name, _ in calls} == set(tools.functions)
    return [tools.call(name, {**given, **budget}) for name, given in calls]


QUESTIONS: dict[str, Callable[[Memex, str], Any]] = {
    "focus": lambda memex, address: memex.focus(address, lens="fisheye"),
    "overview": lambda memex, address: memex.overview(address),
    "explain": lambda memex, address: memex.explain(address, lens="fisheye", budget=90),
    "picture": lambda memex, address: memex.picture(address, lens="fisheye"),
    "ls": lambda memex, address: memex.ls(address, budget=10**5),
    "tokens": lambda memex, address: memex.tokens(address, budget=10**5),
    "node": lambda memex, address: memex.node(address),
    "context": lambda memex, address: memex.context(address, explain=True),
    "grep": lambda memex, address: memex.grep(".", address, regexp=True, limit=500, budget=10**5),
    "read": lambda memex, address: memex.read(address, subtree=True),
    "cite": cited,
    "within": lambda memex, address: memex.within(rank=0).focus(address, lens="fisheye"),
    "problems": lambda memex, _: memex.problems(),
    "tools": told_by_tools,
    "sync": lambda memex, _: memex.sync(),
}


def test_every_method_is_asked() -> None:
    assert set(QUESTIONS) == {name for name in vars(Memex) if not name.startswith("_")}


@pytest.mark.parametrize("method", QUESTIONS)
def test_no_object_and_no_exception_tells_a_private_word(
    notes: Path, store: str, method: str
) -> None:
    assert told_in_python(notes, method, WORDS - {FILE_WORD}) == {}


@pytest.mark.parametrize("method", QUESTIONS)
def test_no_object_and_no_exception_tells_the_name_of_a_private_file(
    notes: Path, store: str, method: str
) -> None:
    assert told_in_python(notes, method, {FILE_WORD}) == {}


def told_in_python(notes: Path, method: str, words: set[str]) -> dict[str, set[str]]:
    memex, leaks = open_memex(notes), {}
    for address in (*SHOWN, *NEAR, *EXACT, *HIDDEN_LINES):
        try:
            answer = QUESTIONS[method](memex, address)
            told = [*words_of(answer), *(words_of(answer.report()) if is_view(answer) else ())]
        except OrgctxError as error:
            told = [str(error), repr(error), error.message, error.hint, error.where]
        if found := found_in("\n".join(told), address) & words:
            leaks[address] = found
    return leaks


def is_view(answer: Any) -> bool:
    return hasattr(answer, "report")


def test_what_can_be_read_off_an_object_is_looked_at(notes: Path) -> None:
    """The test above would see a word in any of these places."""
    memex = open_memex(notes)
    told = "\n".join(words_of(memex.focus("open.org::*Flowers")))
    for word in ("Roses and soil", "shared-public-1", "flowers", "outdoor", "Beds", "Same"):
        assert word in told
    assert "outdoor" in "\n".join(words_of(memex.node("open.org::Flowers/Beds")))


# --- The bytes of the store ----------------------------------------------------------------------


def stored() -> str:
    """All bytes of the store's files, as text in lower case."""
    return stored_bytes().decode("latin-1").lower()


def stored_words() -> set[str]:
    """The private words in the store. The index of words keeps what a word shares with the one
    before it only once, so the rest of each is looked for. That a file is private is remembered
    with its path, which is in no answer.
    """
    held = stored().replace("sub/quokka.org", "")
    return {word for word in WORDS if word[2:] in held}


def test_no_byte_of_the_store_tells_a_private_word(notes: Path, ask: Ask) -> None:
    store = open_store([notes])
    for command, calls in CALLS.items():
        for call in calls[:8]:
            ask(command, *call)
    assert "introduction"[2:] in stored()
    assert stored_words() == set()
    del store
    assert stored_words() == set()


def private_by_tag(notes: Path) -> None:
    write(notes, {"was.org": "* Was :private:\naxolotl\n"})


def private_by_filetags(notes: Path) -> None:
    write(notes, {"was.org": "#+filetags: :private:\n* Was\naxolotl\n"})


def private_by_sealing(notes: Path) -> None:
    write(notes, {"was.org": "* Was :crypt:\naxolotl\n"})


def private_by_setting(notes: Path) -> None:
    write(notes, {"orgctx.toml": 'private_tags = ["private", "secret"]\n'})


def private_by_moving(notes: Path) -> None:
    write(notes, {"was.org": "* Other\n", "new.org": "* Was :private:\naxolotl\n"})


def private_by_renaming(notes: Path) -> None:
    (notes / "was.org").unlink()
    write(notes, {"new.org": "* Was :private:\naxolotl\n"})


def ignored(notes: Path) -> None:
    write(notes, {"orgctx.toml": f'{SETTING}ignore = ["was.org"]\n'})


CHANGES = (
    *(private_by_tag, private_by_filetags, private_by_sealing, private_by_setting),
    *(private_by_moving, private_by_renaming, ignored),
)


@pytest.mark.parametrize("change", CHANGES)
def test_what_becomes_private_leaves_no_byte_in_the_store(
    tmp_path: Path, change: Callable[[Path], None]
) -> None:
    notes = write(tmp_path / "notes", {"was.org": "* Was :secret:\naxolotl\n", "b.org": "* B\n"})
    write(notes, {"orgctx.toml": SETTING})
    before = open_store([notes])
    assert "axolotl"[2:] in stored()
    change(notes)
    after = open_store([notes])
    after.freshen()
    assert "axolotl"[2:] not in stored()
    del before, after


# --- What became private after the last sync -----------------------------------------------------

LATER = {
    "id:axolot-0001": "* Was\n:PROPERTIES:\n:ID: axolotl-0001\n:END:\n",
    "#axolot": "* Was\n:PROPERTIES:\n:CUSTOM_ID: axolotl\n:END:\n",
    "axolot.org": "* Was\n",
    "axolotl.org::*Axolot was": "* Axolotl was\n",
}


@pytest.mark.parametrize("options", [(), ("--no-sync",)], ids=["sync", "no sync"])
@pytest.mark.parametrize("address", LATER)
def test_what_became_private_since_the_last_sync_is_not_told(
    notes: Path, ask: Ask, address: str, options: tuple[str, ...]
) -> None:
    write(notes, {"axolotl.org": LATER[address]})
    assert "xolotl" in ask("focus", address, *ROOT).err
    write(notes, {"axolotl.org": f"#+filetags: :private:\n{LATER[address]}"})
    answer = ask("focus", address, *ROOT, *options)
    assert answer.status == 1
    assert found_in(answer.out + answer.err, address) == set()


# --- Sealed entries ------------------------------------------------------------------------------

SEALED = """* TODO Safe :crypt:
SCHEDULED: <2024-01-01 Mon>
:PROPERTIES:
:ID: safe-000001
:Axolotl: gibbonesque
:END:
euplectes
"""


def test_a_sealed_entry_shows_title_and_id_only(tmp_path: Path, ask: Ask) -> None:
    root = write(tmp_path, {"safe.org": SEALED})
    for call in (("safe-000001",), ("safe-000001", "--format", "json"), ("safe.org",)):
        answer = ask("focus", *call, "--root", root)
        assert answer.status == 0
        assert found_in(answer.out) == set()
        assert "2024" not in answer.out


# --- Counts --------------------------------------------------------------------------------------


def test_a_sync_does_not_count_what_is_private(tmp_path: Path, ask: Ask) -> None:
    notes = write(tmp_path, {"a.org": "* A\n", "b.org": "* B\n#+filetags: :private:\n"})
    write(notes, {"orgctx.toml": SETTING})
    assert as_json(ask("sync", notes, "--json"))["read"] == 1


def test_a_sync_conflict_copy_of_a_private_file_is_not_named(notes: Path, ask: Ask) -> None:
    name = "sub/quokka.sync-conflict-20240101-101010-AB.org"
    write(notes, {name: PRIVATE["sub/quokka.org"]})
    answer = ask("sync", "notes", "--json")
    assert found_in(answer.out) == set()


def test_a_link_of_a_private_name_to_a_note_is_not_named(notes: Path, ask: Ask) -> None:
    (notes / "quokka.org").symlink_to("sub/quokka.org")
    (notes / "raccoon.org").symlink_to("open.org")
    answers = [ask("sync", "notes", "--json"), ask("focus", "quokk.org", *ROOT)]
    assert found_in("".join(each.out + each.err for each in answers)) == set()
