"""Sync: only what changed is read, nothing is lost whatever happens, nothing private is kept."""

import json
import multiprocessing
import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from orgctx import open_memex
from orgctx.errors import BadConfig, NotFound
from orgctx.store import files
from orgctx.store.database import connect, remove
from orgctx.store.indexed import IndexedStore
from orgctx.store.opening import database_file, open_store
from orgctx.store.store import Store
from orgctx.surfaces.cli import run


def note(title: str, id_: str = "", text: str = "text\n") -> str:
    drawer = f":PROPERTIES:\n:ID: {id_}\n:END:\n" if id_ else ""
    return f"* {title}\n{drawer}{text}"


def write(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return root


@pytest.fixture
def root(tmp_path: Path) -> Path:
    files = {f"{n}.org": note(f"N{n}", f"id-{n:06}") for n in range(5)}
    return write(tmp_path / "notes", files)


def opened(root: Path) -> IndexedStore:
    store = open_store([root])
    assert isinstance(store, IndexedStore), store.fault
    return store


def age(path: Path, seconds: float = 100) -> None:
    """Let a file look as if it had been left alone for a while."""
    then = time.time() - seconds
    os.utime(path, (then, then))


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
    text = "inserted\n" * 10 + note("N3 now", "id-000003", "new text\n")
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
        "import sys; from orgctx import open_memex; from pathlib import Path;"
        f"view = open_memex({str(root)!r}).focus('id:id-000002');"
        "print('tiktoken' in sys.modules, view.tokens)"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded, tokens = ran.stdout.split()
    assert loaded == "False"
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


def test_a_store_of_another_version_is_made_anew(root: Path) -> None:
    opened(root).connection.execute("PRAGMA user_version = 99")
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
    errors: list[BaseException] = []
    done = threading.Event()

    def work(is_writer: bool) -> None:
        try:
            store = opened(root)
            while not done.is_set():
                if is_writer:
                    write(root, {"4.org": note(f"N4 {random.random()}", "id-000004")})
                    store.sync()
                else:
                    assert store.holders("id-000002")[0].title == "N2"
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(n < 2,)) for n in range(6)]
    for thread in threads:
        thread.start()
    done.wait(3)
    done.set()
    for thread in threads:
        thread.join()
    assert errors == []


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
    stored = b"".join(path.read_bytes() for path in database_file().parent.iterdir())
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
    stored = b"".join(path.read_bytes() for path in database_file().parent.iterdir())
    assert b"once readable" not in stored


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
        ('[roots]\na = "/x"\n', 1, "no such key"),
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
    assert second.execute("PRAGMA user_version").fetchone() == (1,)


def test_settings_are_the_defaults_of_the_command_line(
    root: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    write(root, {"orgctx.toml": 'budget = 30\nencoding = "cl100k_base"\n'})
    write(root, {"long.org": note("Long", "long-one", "many words in a line\n" * 50)})
    for arguments, budget in (([], 30), (["--budget", "40"], 40)):
        call = ["focus", "long-one", "--root", str(root), "--format", "json", *arguments]
        assert run(call) == 0
        view = json.loads(capfdbinary.readouterr().out)
        assert (view["budget"], view["encoding"]) == (budget, "cl100k_base")


def test_sync_and_status_on_the_command_line(
    root: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    write(root, {"bad.org": "* A\n:PROPERTIES: x\n:END:\n"})
    (root / "latin.org").write_bytes(b"* caf\xe9\n")
    assert run(["sync", str(root), "--json"]) == 0
    done = json.loads(capfdbinary.readouterr().out)
    assert (done["read"], [each["path"] for each in done["problems"]]) == (6, ["latin.org"])
    assert run(["status", str(root), "--json"]) == 0
    known = json.loads(capfdbinary.readouterr().out)
    assert known["roots"][0]["files"] == 6
    assert known["roots"][0]["headlines"] == 6
    assert (known["ids"], known["duplicates"]) == (5, 0)
    assert {(each["path"], each["line"]) for each in known["problems"]} == {
        *{("latin.org", 0), ("bad.org", 2)},
    }
    assert known["store_bytes"] > 0
    for arguments in (["sync", str(root)], ["status", str(root)], ["sync", str(root), "--full"]):
        assert run(arguments) == 0
        out = capfdbinary.readouterr()
        assert b"problems" in out.out
        assert out.err == b""


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
    watching.send_signal(signal.SIGINT)
    out, err = watching.communicate(timeout=30)
    assert watching.returncode in (0, 130), out
    assert err.strip() == b""


def test_on_a_full_disk_the_notes_are_read(
    root: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    write(
        root, {f"more/{n}.org": note(f"M{n}", f"more-{n:06}", "words\n" * 500) for n in range(50)}
    )

    def small(file: Path) -> sqlite3.Connection:
        connection = connect(file)
        connection.execute("PRAGMA max_page_count = 60")
        return connection

    monkeypatch.setattr("orgctx.store.indexed.connect", small)
    store = open_store([root])
    assert type(store) is Store
    assert "full" in store.fault
    assert run(["focus", "more-000048", "--root", str(root)]) == 0
    assert b"no store" in capfdbinary.readouterr().err
    assert open_memex(root).node("more-000049").title == "M49"


def test_a_store_that_cannot_be_read_is_told_in_one_line(
    root: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    def broken(*_: object) -> list[object]:
        raise sqlite3.DatabaseError("database disk image is malformed")

    monkeypatch.setattr(IndexedStore, "holders", broken)
    assert run(["focus", "id-000001", "--root", str(root)]) == 1
    out = capfdbinary.readouterr()
    assert out.out == b""
    assert out.err.count(b"\n") == 1
    assert str(database_file()).encode() in out.err
