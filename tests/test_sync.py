"""Sync: only what changed is read, nothing is lost whatever happens, nothing private is kept."""

import multiprocessing
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import strategies
from hypothesis import event, example, given, settings
from hypothesis import strategies as st
from notes import note, write
from program import TOKENIZERS, Ask, as_json, loaded_by
from stores import opened, stored_bytes
from threads import at_once, rounds

from orgctx import open_memex, tokens
from orgctx.config import Config
from orgctx.core.entry import entry, skeleton
from orgctx.core.outline import outline
from orgctx.core.privacy import conceal
from orgctx.errors import BadConfig, NotFound
from orgctx.store import counts, files, writer
from orgctx.store import sync as syncing
from orgctx.store.database import VERSION, connect, remove
from orgctx.store.indexed import IndexedStore
from orgctx.store.opening import database_file, open_store
from orgctx.store.store import Store
from orgctx.tokens import counter, get_encoding
from orgctx.views.syncing import status


@pytest.fixture
def root(tmp_path: Path) -> Path:
    files = {f"{n}.org": note(f"N{n}", f"id-{n:06}") for n in range(5)}
    return write(tmp_path / "notes", files)


def contents(store: Store) -> dict[str, list[str]]:
    return {tree.path: [node.text for node in tree.nodes] for tree in store.trees()}


def titles_in_database() -> set[str]:
    rows = sqlite3.connect(database_file()).execute("SELECT title FROM node WHERE level > 0")
    return {title for (title,) in rows}


def test_a_second_sync_reads_nothing(root: Path) -> None:
    store = opened(root)
    again = store.sync()
    assert (again.read, again.unchanged, again.removed, again.problems) == (0, 5, 0, [])
    assert store.sync(is_full=True).read == 5


def test_one_edit_is_one_file_read(root: Path) -> None:
    store = opened(root)
    write(root, {"2.org": note("Edited", "id-000002")})
    assert store.sync().read == 1
    assert store.holders("id-000002")[0].title == "Edited"


def test_new_renamed_and_deleted_files_are_seen(root: Path) -> None:
    store = opened(root)
    (root / "0.org").unlink()
    (root / "1.org").rename(root / "Renamed.org")
    (root / "2.org").rename(root / "2.ORG.org")
    write(root, {"sub/new.org": note("New", "id-new-one")})
    report = store.sync()
    assert (report.read, report.removed) == (3, 3)
    assert set(store.paths) == {"2.ORG.org", "3.org", "4.org", "Renamed.org", "sub/new.org"}
    assert store.holders("id-000001")[0].path == "Renamed.org"
    assert store.holders("id-000000") == []


def test_b61_same_size_and_time_but_other_text_is_seen(root: Path) -> None:
    store = opened(root)
    place = root / "0.org"
    before = place.stat()
    place.write_text(note("M0", "id-000000"), encoding="utf-8")
    os.utime(place, ns=(before.st_atime_ns, before.st_mtime_ns))
    store.sync()
    assert "M0" in titles_in_database()


def test_b62_a_clock_that_went_back_hides_no_edit(root: Path) -> None:
    store = opened(root)
    for ahead in (3600, -(10**8)):
        os.utime(root / "0.org", (time.time() + ahead,) * 2)
        store.sync()
        write(root, {"0.org": note(f"Edited {ahead}", "id-000000")})
        store.sync()
        assert f"Edited {ahead}" in titles_in_database()


def test_b73_what_is_shown_is_read_from_the_file_as_it_is(root: Path) -> None:
    memex = open_memex(root)
    text = "inserted\n" * 10 + note("N3 now", "id-000003", "new text")
    write(root, {"3.org": text})
    view = memex.focus("id:id-000003")
    assert view.shown[-1].line == 11
    assert "* N3 now\n" in view.text
    assert "new text" in view.text


def test_an_id_that_moved_to_another_file_is_found(root: Path) -> None:
    memex = open_memex(root)
    write(root, {"3.org": note("gone"), "elsewhere.org": note("Moved", "id-000003")})
    assert memex.node("id:id-000003").path == "elsewhere.org"


def test_an_unknown_address_makes_it_look_again(root: Path) -> None:
    memex = open_memex(root)
    write(root, {"later.org": note("Later", "id-later")})
    assert memex.node("id-later").title == "Later"
    write(root, {"last.org": note("Last")})
    assert memex.node("last.org::*Last").title == "Last"
    with pytest.raises(NotFound):
        memex.node("id-never")


def test_a_frozen_store_answers_from_what_it_knows(root: Path) -> None:
    opened(root)
    write(root, {"later.org": note("Later", "id-later")})
    store = open_store([root], is_frozen=True)
    assert store.holders("id-later") == []
    assert store.freshen() is False


def test_a_store_and_reading_the_notes_agree(root: Path) -> None:
    write(
        root,
        {
            "dup.org": note("Twice", "id-000001"),
            "c.org": "* C\n:PROPERTIES:\n:CUSTOM_ID: c\n:END:\n",
        },
    )
    store, plain = opened(root), Store([root])
    assert contents(store) == contents(plain)
    assert list(store.ids()) == list(plain.ids())
    for id_ in (*plain.ids(), "id-0", "zzz", "id-000001x"):
        assert store.ids().count(id_) == plain.ids().count(id_)
        assert store.ids().beside(id_) == plain.ids().beside(id_)
        found, wanted = store.holders(id_), plain.holders(id_)
        assert [(n.path, n.index) for n in found] == [(n.path, n.index) for n in wanted]
    assert [n.path for n in store.with_custom_id("c")] == ["c.org"]
    assert {p.path for p in store.problems()} == {p.path for p in plain.problems()}


def test_a_warm_view_that_cuts_nothing_loads_no_tokenizer(root: Path) -> None:
    opened(root)
    script = (
        "from orgctx import open_memex;"
        f"print(open_memex({str(root)!r}).focus('id:id-000002').tokens)"
    )
    tokens, loaded = loaded_by(script, *TOKENIZERS)
    assert loaded == set()
    assert int(tokens) == Store([root]).counter("tokens", "o200k_base")(
        open_memex(root).focus("id:id-000002").text
    )


# --- Faults --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "damage",
    [b"", b"no database at all", b"SQLite format 3\0" + b"\0" * 4000],
    ids=["empty", "other", "cut off"],
)
def test_a_damaged_store_is_made_anew(root: Path, damage: bytes) -> None:
    opened(root)
    remove(database_file())
    database_file().write_bytes(damage)
    assert open_memex(root).node("id-000003").title == "N3"


def test_a_truncated_store_is_made_anew(root: Path) -> None:
    store = opened(root)
    store.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    store.connection.close()
    data = database_file().read_bytes()
    remove(database_file())
    database_file().write_bytes(data[: len(data) // 3])
    assert open_memex(root).node("id-000003").title == "N3"


@pytest.mark.parametrize("version", [0, VERSION - 1, 99])
def test_a_store_of_another_version_is_made_anew(root: Path, version: int) -> None:
    opened(root).connection.execute(f"PRAGMA user_version = {version}")
    assert open_memex(root).node("id-000003").title == "N3"
    assert "N3" in titles_in_database()


def test_without_a_place_for_the_store_the_notes_are_read(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    store = open_store([root])
    assert type(store) is Store
    assert store.fault
    assert open_memex(root).focus("id:id-000003").text


def sync_for_ever(root: str) -> None:
    store = opened(Path(root))
    while True:
        store.sync(is_full=True)


def test_b65_a_sync_that_is_killed_leaves_a_store_that_is_right(root: Path) -> None:
    """50 times at a random moment; then the store is right without repair by hand."""
    write(root, {f"more/{n}.org": note(f"M{n}", f"more-{n:06}") * 3 for n in range(60)})
    before = {path: path.read_bytes() for path in root.rglob("*.org")}
    draw = random.Random(3)
    context = multiprocessing.get_context("fork")
    for _ in range(50):
        process = context.Process(target=sync_for_ever, args=(str(root),))
        process.start()
        process.join(draw.uniform(0.01, 0.25))
        os.kill(process.pid, signal.SIGKILL)
        process.join()
    store = opened(root)
    store.sync()
    assert store.connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert contents(store) == contents(Store([root]))
    assert list(store.ids()) == list(Store([root]).ids())
    count = store.connection.execute("SELECT count(*) FROM words").fetchone()[0]
    assert count == store.connection.execute("SELECT count(*) FROM node").fetchone()[0]
    assert {path: path.read_bytes() for path in root.rglob("*.org")} == before


def test_b64_readers_and_writers_at_once(root: Path) -> None:
    opened(root)

    def write_on() -> None:
        store = opened(root)
        for _ in rounds(3):
            write(root, {"4.org": note(f"N4 {random.random()}", "id-000004")})
            store.sync()

    def read_on() -> None:
        store = opened(root)
        for _ in rounds(3):
            assert store.holders("id-000002")[0].title == "N2"

    at_once(*[write_on] * 2, *[read_on] * 4)


def test_a_file_that_vanishes_in_the_middle_is_no_fault(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = files.read

    def gone(path: Path, *rest: object) -> bytes:
        if path.name == "1.org":
            path.unlink()
        return read(path, *rest)

    monkeypatch.setattr(files, "read", gone)
    store = opened(root)
    assert set(store.paths) == {"0.org", "2.org", "3.org", "4.org"}


# --- Privacy and settings ------------------------------------------------------------------------

SECRETS = {
    "a.org": "* Open\ntext\n* Diary :private:\nmy secret heart\n** Monday below\n",
    "hidden.org": "#+filetags: :private:\n#+title: Hidden whole\n* All of it\n",
    "vault.org": "* Vault :crypt:\n:PROPERTIES:\n:ID: vault-1\n:END:\npin 0000\n** Code below\n",
    "orgctx.toml": 'private_tags = ["private"]\nignore = ["archive/", "*.draft.org"]\n',
    "archive/old.org": "* Archived away\n",
    "new.draft.org": "* Drafted\n",
}
SECRET_WORDS = (
    *("secret heart", "Monday below", "Hidden whole", "All of it", "pin 0000", "Code below"),
    *("Archived away", "Drafted", "Diary"),
)


def test_nothing_private_is_in_the_bytes_of_the_store(tmp_path: Path) -> None:
    opened(write(tmp_path / "notes", SECRETS)).connection.close()
    stored = stored_bytes()
    assert b"Vault" in stored
    for word in SECRET_WORDS:
        assert word.encode() not in stored


def test_what_becomes_private_is_purged(tmp_path: Path) -> None:
    root = write(tmp_path / "notes", {"a.org": "* Plain\nonce readable words\n"})
    store = opened(root)
    write(root, {"a.org": "* Plain :crypt:\nonce readable words\n"})
    store.sync()
    store.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    store.connection.close()
    stored = stored_bytes()
    assert b"once readable" not in stored


@pytest.mark.parametrize("tag", ["private", "crypt"])
def test_what_is_kept_of_a_file_does_not_hang_on_what_is_hidden(tmp_path: Path, tag: str) -> None:
    """No guess at the hidden text can be tried on it, and all else is known as before."""
    kept = []
    for pin in ("1234", "4321"):
        text = f"* One\n* Bank :{tag}:\npin {pin}\n* Two\n"
        folder = write(tmp_path / pin, {"a.org": text, "orgctx.toml": 'private_tags = ["private"]'})
        store = opened(folder)
        query = "SELECT hash FROM file JOIN root ON root.id = file.root WHERE root.folder = ?"
        kept += store.connection.execute(query, (str(folder),)).fetchall()
        write(folder, {"a.org": text.replace(pin, "0000")})
        assert (store.sync().read, store.sync().unchanged) == (0, 1)
        write(folder, {"a.org": text.replace("pin", "two\nlines")})
        assert store.sync().read == 1
    assert kept[0] == kept[1]


def test_private_nodes_are_in_no_answer(tmp_path: Path) -> None:
    root = write(tmp_path / "notes", SECRETS)
    for memex in (open_memex(root), open_memex(root)):
        assert memex.focus("a.org", background=24).text == "# a.org\n* Open\ntext\n"
        for address in (
            "hidden.org",
            "a.org::*Diary",
            "a.org:4",
            "archive/old.org",
            "new.draft.org",
        ):
            with pytest.raises(NotFound) as caught:
                memex.node(address)
            for word in SECRET_WORDS[3:5]:
                assert word not in caught.value.hint
        assert "pin" not in memex.focus("id:vault-1").text


def test_other_settings_make_it_read_again(tmp_path: Path) -> None:
    root = write(tmp_path / "notes", SECRETS)
    opened(root)
    write(root, {"orgctx.toml": "private_tags = []\n"})
    assert open_memex(root).node("hidden.org").title == "Hidden whole"


@pytest.mark.parametrize(
    ("text", "line", "word"),
    [
        ("budget = 0\n", 1, "whole number"),
        ("\nbudgets = 3\n", 2, "no such key"),
        ('# c\nencoding = "gpt2"\n', 2, "o200k_base"),
        ("ignore = 3\n", 1, "list of patterns"),
        ("private_tags = [1]\n", 1, "list of tags"),
        ('[roots]\na = "/x"\n', 1, "in your own file only"),
        ('private_tags = ["has space"]\n', 1, "list of tags"),
        ('\n[active]\n# c\nkeyword = ["A"]\n', 4, "keyword: there is no such key"),
        ('[active]\ntags = []\nproperties = ["=x"]\n', 3, "properties: give a list"),
        ('[summaries]\nmodel = "m"\ntimeout = "x"\n', 3, "timeout: give seconds"),
        ("budget = \n", 1, "line 1"),
    ],
)
def test_a_wrong_setting_is_told_with_its_line(root: Path, text: str, line: int, word: str) -> None:
    write(root, {"orgctx.toml": text})
    with pytest.raises(BadConfig) as caught:
        open_memex(root)
    assert word in caught.value.message
    assert f"orgctx.toml:{line}" in caught.value.message or f"line {line}" in caught.value.message


def test_the_users_file_names_roots(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    write(tmp_path / "config", {"orgctx/orgctx.toml": f'[roots]\nmine = "{root}"\n'})
    assert open_memex().node("id-000001").title == "N1"


def test_the_store_is_for_its_owner_alone(root: Path) -> None:
    opened(root)
    assert database_file().stat().st_mode & 0o777 == 0o600
    assert database_file().parent.stat().st_mode & 0o777 == 0o700


def test_connecting_twice_makes_one_schema(tmp_path: Path) -> None:
    file = tmp_path / "cache" / "memex.sqlite"
    first, second = connect(file), connect(file)
    assert first.execute("SELECT count(*) FROM file").fetchone() == (0,)
    assert second.execute("PRAGMA user_version").fetchone() == (VERSION,)


def test_settings_are_the_defaults_of_the_command_line(root: Path, ask: Ask) -> None:
    write(root, {"orgctx.toml": 'budget = 30\nencoding = "cl100k_base"\n'})
    write(root, {"long.org": note("Long", "long-one", "many words in a line\n" * 50)})
    for arguments, budget in (([], 30), (["--budget", "40"], 40)):
        view = as_json(ask("focus", "long-one", "--root", root, "--format", "json", *arguments))
        assert (view["budget"], view["encoding"]) == (budget, "cl100k_base")


def test_sync_and_status_on_the_command_line(root: Path, ask: Ask) -> None:
    write(root, {"bad.org": "* A\n:PROPERTIES: x\n:END:\n", "latin.org": b"* caf\xe9\n"})
    done = as_json(ask("sync", root, "--json"))
    problems = [each["path"] for each in done["problems"]]
    assert (done["read"], problems) == (6, ["latin.org", "bad.org"])
    known = as_json(ask("status", root, "--json"))
    assert known["roots"][0]["files"] == 6
    assert known["roots"][0]["headlines"] == 6
    assert (known["ids"], known["duplicates"]) == (5, 0)
    assert {(each["path"], each["line"]) for each in known["problems"]} == {
        *{("latin.org", 0), ("bad.org", 2)},
    }
    assert known["store_bytes"] > 0
    for arguments in (("sync", root), ("status", root), ("sync", root, "--full")):
        status, out, err = ask(*arguments)
        assert (status, err) == (0, "")
        assert "problems" in out


def test_watching_sees_a_change_and_stops_cleanly(root: Path) -> None:
    store, stop = opened(root), threading.Event()
    reports = store.watch(stop)
    assert next(reports).unchanged == 5
    writer = threading.Timer(0.5, lambda: write(root, {"9.org": note("Nine", "id-nine")}))
    writer.start()
    assert next(reports).read == 1
    assert store.holders("id-nine")[0].title == "Nine"
    stop.set()
    assert list(reports) == []


def test_the_program_that_watches_ends_with_an_interrupt(root: Path) -> None:
    command = [sys.executable, "-m", "orgctx", "watch", str(root)]
    watching = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert watching.stdout
    assert b"5 read" in watching.stdout.readline()
    write(root, {"9.org": note("Nine")})
    assert b"1 read" in watching.stdout.readline(), "it waits for changes"
    watching.send_signal(signal.SIGINT)
    out, err = watching.communicate(timeout=30)
    assert watching.returncode in (0, 130), out
    assert err.strip() == b""


def test_on_a_full_disk_the_notes_are_read(
    root: Path, monkeypatch: pytest.MonkeyPatch, ask: Ask
) -> None:
    write(
        root, {f"more/{n}.org": note(f"M{n}", f"more-{n:06}", "words\n" * 500) for n in range(50)}
    )

    def small(file: Path) -> sqlite3.Connection:
        connection = connect(file)
        connection.execute("PRAGMA max_page_count = 60")
        return connection

    monkeypatch.setattr("orgctx.store.connections.connect", small)
    store = open_store([root])
    assert type(store) is Store
    assert "full" in store.fault
    answer = ask("focus", "more-000048", "--root", root)
    assert answer.status == 0
    assert "no store" in answer.err
    assert open_memex(root).node("more-000049").title == "M49"


def test_a_store_that_cannot_be_made_is_told_with_its_place(
    root: Path, monkeypatch: pytest.MonkeyPatch, ask: Ask
) -> None:
    def denied(file: Path) -> sqlite3.Connection:
        raise PermissionError(13, "Permission denied", str(file))

    monkeypatch.setattr("orgctx.store.connections.connect", denied)
    answer = ask("ls", "--root", root)
    assert answer.status == 0
    assert f"no store: {database_file()}: Permission denied; the notes are read" in answer.err


def test_a_store_that_cannot_be_read_is_told_in_one_line(
    root: Path, monkeypatch: pytest.MonkeyPatch, ask: Ask
) -> None:
    def broken(*_: object) -> list[object]:
        raise sqlite3.DatabaseError("database disk image is malformed")

    monkeypatch.setattr(IndexedStore, "holders", broken)
    answer = ask("focus", "id-000001", "--root", root)
    assert (answer.status, answer.out, answer.err.count("\n")) == (1, "", 1)
    assert str(database_file()) in answer.err


# --- What is looked up is what reading tells ------------------------------------------------------

ODD_FILES: dict[str, bytes] = {
    "latin.org": b"* caf\xe9\n",
    "sub/cookie.org": b"# -*- coding: latin-1 -*-\n* caf\xe9\n:PROPERTIES: x\n",
    "empty.org": b"",
    "a.sync-conflict-20240101-101010-AB.org": b"* Copy\n",
    "Z.org": b"* TODO open\n* DONE closed\n:PROPERTIES:\n:ID: id-1\n:ID: id-2\n:END:\n",
}
"""Two that cannot be read or are passed over, and some that have problems of their own."""


@st.composite
def folders(draw: st.DrawFn) -> dict[str, bytes]:
    """Notes of a root, and perhaps what makes some of them private or ignored."""
    notes = {name: text.encode() for name, text in draw(strategies.org_files()).items()}
    for name in draw(st.sets(st.sampled_from(sorted(ODD_FILES)))):
        notes[name] = ODD_FILES[name]
    tags = draw(st.sets(st.sampled_from(("a", "private", "e", "1999"))))
    ignore = draw(st.sampled_from(((), ("sub/",), ("*.sync-conflict-*",))))
    notes["orgctx.toml"] = f"private_tags = {sorted(tags)}\nignore = {list(ignore)}\n".encode()
    return notes


def lay(root: Path, notes: dict[str, bytes]) -> Path:
    """Make a root that holds these files and no others."""
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir(parents=True)
    return write(root, notes)


def told(store: Store) -> dict[str, object]:
    """What status tells of the notes; not of a private file, which a reader takes for gone."""
    known = status(store)
    problems = [each for each in known["problems"] if each["what"] != "there is no such file"]
    rest = {key: known[key] for key in ("roots", "ids", "duplicates")}
    return {**rest, "problems": problems}


@settings(max_examples=60)
@given(st.lists(st.tuples(folders(), folders()), min_size=1, max_size=2))
def test_problems_and_status_are_the_same_looked_up_and_read(
    tmp_path_factory: pytest.TempPathFactory, roots: list[tuple[dict[str, bytes], ...]]
) -> None:
    place = tmp_path_factory.mktemp("memex")
    for notes in zip(*roots, strict=True):  # the second time it has to follow what changed
        folders = [lay(place / f"r{at}" / "notes", each) for at, each in enumerate(notes)]
        store, plain = IndexedStore(folders, place / "memex.sqlite"), Store(folders)
        assert told(store) == told(plain)
        assert [each for each in store.problems() if each.line] == [
            each for each in plain.problems() if each.line
        ]
        event("problems" if store.problems() else "no problems")
        store.connection.close()


def test_problems_are_as_of_now_unless_the_store_is_frozen(root: Path) -> None:
    opened(root)
    write(root, {"bad.org": "* A\n:PROPERTIES: x\n:END:\n", "1.org": note("N1", "id-000002")})
    assert open_store([root], is_frozen=True).problems() == []
    found = [(each.path, each.line) for each in opened(root).problems()]
    assert found == [("bad.org", 2), ("1.org", 1), ("2.org", 1)]
    (root / "bad.org").unlink()
    write(root, {"1.org": note("N1", "id-000001")})
    assert opened(root).problems() == []
    store = opened(root)
    assert store.connection.execute("SELECT count(*) FROM file_problem").fetchone() == (0,)


def test_without_a_database_problems_and_status_are_read(root: Path) -> None:
    write(root, {"bad.org": "* A\n:PROPERTIES: x\n:END:\n", "1.org": note("N1", "id-000002")})
    store = opened(root)
    wanted = told(store)
    store.fault = "broken"
    store.connection.execute("DELETE FROM file")
    assert told(store) == wanted


def test_open_is_what_has_a_keyword_that_is_open_in_its_file(root: Path) -> None:
    write(root, {"a.org": "#+TODO: NEXT | OK\n* NEXT A\n* OK B\n* TODO C\n* D\n"})
    write(root, {"b.org": "* TODO E\n* DONE F\n* NEXT G\n"})
    rows = opened(root).connection.execute("SELECT title FROM node WHERE is_open ORDER BY title")
    assert [title for (title,) in rows] == ["A", "E"]


# --- Counts --------------------------------------------------------------------------------------


def by_tiktoken(_unit: str, encoding: str) -> Callable[[str], int]:
    """See tokens.counter, where nothing faster is installed."""
    return partial(
        lambda it, text: len(it.encode(text, disallowed_special=())), get_encoding(encoding)
    )


TEXTS = st.one_of(
    strategies.org_text(),
    st.text(),
    st.sampled_from(
        ("", " ", "\n", "<|endoftext|>", "<|endo", "ftext|>", "<|endofprompt|>", "x" * 10**5)
    ),
)


@pytest.mark.parametrize("encoding", ["o200k_base", "cl100k_base"])
@given(texts=st.lists(TEXTS, max_size=8))
def test_counted_as_one_is_counted_one_by_one(encoding: str, texts: list[str]) -> None:
    count = by_tiktoken("tokens", encoding)
    with pytest.MonkeyPatch.context() as patch:
        for each in (lambda _: None, tokens._toktok):
            patch.setattr(tokens, "_toktok", each)
            assert tokens.count_all(texts, encoding) == {text: count(text) for text in texts}


@given(strategies.org_bytes(), st.sets(st.sampled_from(["a", "crypt", "e"])))
@example(b"* Sealed :crypt:\n:PROPERTIES:\n:ID: id-1\n:END:\ntext\n", set())
@example(b"* Sealed :crypt:\n:PROPERTIES:\n:KEY: x\n:END:\n", set())
@example(b"#+filetags: :crypt:\n* A\n", set())
def test_what_is_counted_is_each_entry_whole_and_its_skeleton(data: bytes, tags: set[str]) -> None:
    tree = conceal(outline(files.decode(data, "a.org")[0], "a.org"), frozenset(tags))
    is_plain = "\r" not in tree.text
    for node in tree.nodes:
        cut = entry(node, str)
        texts = cut.text(len(cut.order)), "".join(p.text for p in skeleton(node, str).pieces)
        assert counts.texts_shown(node, node.text, is_plain) == texts


def test_of_two_texts_of_one_row_only_the_first_is_remembered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    connection = connect(tmp_path / "memex.sqlite")
    monkeypatch.setattr(counts, "key_of", lambda text, _: (7, len(text)))
    counts.add_counts(connection, "o200k_base", {"a": 1})
    counts.add_counts(connection, "o200k_base", {"bb": 2})
    assert counts.known_count(connection, "o200k_base", "a") == 1
    assert counts.known_count(connection, "o200k_base", "bb") is None


def test_a_text_is_counted_for_each_encoding(root: Path) -> None:
    text = "* Donaudampfschifffahrtsgesellschaftskapitän 漢字\n"
    write(root, {"a.org": text})
    store = opened(root)
    for encoding in ("o200k_base", "cl100k_base", "o200k_base"):
        assert store.counter("tokens", encoding)(text) == counter("tokens", encoding)(text)


def test_a_sync_that_reads_nothing_loads_no_tokenizer(root: Path) -> None:
    opened(root)
    script = (
        "from orgctx.store.opening import open_store;"
        f"print(open_store([{str(root)!r}]).sync().unchanged)"
    )
    assert loaded_by(script, *TOKENIZERS) == ("5", set())


# --- Large memexes, and what happens in the middle ------------------------------------------------


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many transactions and slices for few notes."""
    monkeypatch.setattr(syncing, "BATCH_BYTES", 500)
    for name, value in (("SLICE_CHARS", 100), ("SLICE_NODES", 3)):
        monkeypatch.setattr(writer, name, value)
    monkeypatch.setattr(counts, "CHUNK_CHARS", 100)


def rows_of(store: IndexedStore) -> dict[str, list[tuple[object, ...]]]:
    """All that is known but for times and file numbers."""
    run = store.connection.execute
    tables = ("node", "node_id", "link", "words", "tokens", "file_problem")
    known = {table: run(f"SELECT * FROM {table} ORDER BY 1, 2").fetchall() for table in tables}
    known["file"] = run("SELECT path, hash, headlines, title FROM file ORDER BY id").fetchall()
    return known


@pytest.mark.usefixtures("small_batches")
def test_batches_and_slices_change_nothing(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "".join(note(f"M{n}", f"more-{n:03}", f"[[id:more-{n - 1:03}]]\n") for n in range(40))
    write(root, {"more.org": text, "bad.org": "* A\n:PROPERTIES: x\n"})
    in_parts = rows_of(opened(root))
    monkeypatch.undo()
    remove(database_file())
    assert rows_of(opened(root)) == in_parts


@pytest.mark.usefixtures("small_batches")
def test_a_sync_that_is_stopped_goes_on_where_it_was(root: Path) -> None:
    write(
        root, {f"more/{n:02}.org": note(f"M{n}", f"more-{n:03}", "words\n" * 20) for n in range(40)}
    )
    stopped = 30

    def stop(done: int, total: int) -> None:
        if done == stopped:
            raise KeyboardInterrupt

    store = IndexedStore([root], database_file(), is_frozen=True)
    with pytest.raises(KeyboardInterrupt):
        store.sync(progress=stop)
    kept = store.connection.execute("SELECT count(*) FROM file").fetchone()[0]
    assert 20 < kept < stopped
    assert store.sync().read == 45 - kept


def test_what_is_held_while_it_syncs_does_not_grow_with_the_memex(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(syncing, "BATCH_BYTES", 30_000)
    counter("tokens")("load")
    peaks = []
    for size in (150, 300):
        root = write(
            tmp_path / str(size),
            {f"{n}.org": note(f"M{n}", f"m-{n}", f"word {n} " * 100) for n in range(size)},
        )
        store = IndexedStore([root], tmp_path / f"{size}.sqlite", is_frozen=True)
        tracemalloc.start()
        store.sync()
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.4 * peaks[0]


def test_syncs_of_one_root_at_once_all_succeed(root: Path) -> None:
    write(root, {f"more/{n}.org": note(f"M{n}", f"more-{n:06}", "words\n" * 50) for n in range(60)})
    stores = [IndexedStore([root], database_file(), is_frozen=True) for _ in range(4)]
    reports = at_once(*(store.sync for store in stores))
    assert sum(report.read for report in reports) == 65
    assert contents(stores[0]) == contents(Store([root]))
    assert list(stores[0].ids()) == list(Store([root]).ids())


def test_a_sync_with_other_settings_in_the_middle_ends_this_one(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else what one of them hides would be known by the other's rules."""
    write(root, {f"more/{n}.org": "* A :private:\nheart\n" for n in range(40)})
    config, walk = Config(private_tags=frozenset({"private"})), files.notes

    def overtaken(*arguments: Any) -> Iterator[files.Found]:
        monkeypatch.setattr(files, "notes", walk)
        yield from walk(*arguments)
        IndexedStore([root], database_file(), config=config)

    monkeypatch.setattr(files, "notes", overtaken)
    with pytest.raises(sqlite3.OperationalError, match="other settings"):
        IndexedStore([root], database_file()).sync()
    store = IndexedStore([root], database_file(), config=config)
    found = store.connection.execute("SELECT count(*) FROM words WHERE words MATCH 'heart'")
    assert found.fetchone() == (0,)


def test_a_full_sync_never_empties_what_others_look_up(root: Path) -> None:
    store, seen = opened(root), []
    store.sync(is_full=True, progress=lambda *_: seen.append(len(open_store([root]).paths)))
    assert seen == [5] * 5


@pytest.mark.parametrize("change", ["tag", "setting", "move"])
def test_traces_are_purged_by_the_next_sync_if_this_one_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    root = write(tmp_path / "notes", {"a.org": "* Plain\nonce readable\n", "b.org": "* B\n"})
    store = opened(root)
    if change == "tag":
        write(root, {"a.org": "* Plain :crypt:\nonce readable\n"})
    elif change == "setting":
        write(root, {"a.org": "* Plain :diary:\nonce readable\n"})
        store.sync()
        write(root, {"orgctx.toml": 'private_tags = ["diary"]\n'})
    else:
        write(root, {"a.org": "* Plain\n", "b.org": "* B :crypt:\nonce readable\n"})
    store.connection.close()
    store = IndexedStore([root], database_file(), is_frozen=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(syncing, "_purge", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            store.sync()
    store.sync()
    store.connection.close()
    stored = stored_bytes()
    assert b"readable" not in stored
