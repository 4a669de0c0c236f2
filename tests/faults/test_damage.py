"""Faults: a store that is damaged, or for which there is no place, costs no answer."""

from __future__ import annotations

import json
import random
import resource
import shutil
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from mishaps import (
    NOTES,
    SECRET,
    check_answer,
    check_repaired,
    edit,
    elsewhere,
    obey_modes,
    question,
    replace,
)
from notes import note, write
from program import Ask
from stores import check_equal_to_a_fresh_store, opened

from orgctx import Memex, open_memex
from orgctx.store.database import VERSION, remove
from orgctx.store.opening import database_file

# --- A store that is damaged ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "part",
    [
        *(0, 1, 99, 100, 512, 4095, 4096, 8193, 0.3, 0.6, 0.99, -1, -100),
    ],
)
def test_a_store_that_is_cut_off_is_made_anew(
    root: Path, database: Path, tmp_path: Path, ask: Ask, part: float
) -> None:
    data = database.read_bytes()
    database.write_bytes(data[: part if isinstance(part, int) else int(len(data) * part)])
    assert check_answer(ask(*question(root))) == ""
    check_repaired(ask, root, tmp_path)


@pytest.mark.parametrize(("first", "size"), [(0, 16), (0, 100), (16, 84), (100, 3996), (0, 10**6)])
def test_a_store_that_begins_with_noise_is_made_anew(
    root: Path, database: Path, tmp_path: Path, ask: Ask, first: int, size: int
) -> None:
    overwrite(database, first, random.Random(5).randbytes(size))
    assert check_answer(ask(*question(root))) == ""
    check_repaired(ask, root, tmp_path)


def overwrite(place: Path, first: int, noise: bytes) -> None:
    with place.open("r+b") as file:
        file.seek(first)
        file.write(noise)


PARTS = ("root", "file", "node", "node_id", "sqlite_autoindex_file_1", "words_data", "tokens")


@pytest.mark.parametrize("part", PARTS)
def test_a_store_with_noise_inside_is_made_anew(
    root: Path, database: Path, tmp_path: Path, ask: Ask, part: str
) -> None:
    connection = sqlite3.connect(database)
    [size] = connection.execute("PRAGMA page_size").fetchone()
    number = "SELECT rootpage FROM sqlite_master WHERE name = ?"
    [page] = connection.execute(number, (part,)).fetchone()
    connection.close()
    overwrite(database, (page - 1) * size, random.Random(5).randbytes(size))
    check_answer(ask(*question(root)))
    replace(root / "5.org", note("N5 edited", "id-000005"))
    check_repaired(ask, root, tmp_path)


@pytest.mark.parametrize("part", ["nothing", "half", "noise", "noise at the end"])
def test_a_log_that_is_damaged_loses_nothing(
    root: Path, tmp_path: Path, ask: Ask, part: str
) -> None:
    """What was written but not yet moved into the store's own file."""
    store, kept = opened(root), tmp_path / "kept"
    shutil.copytree(database_file().parent, kept)
    store.connection.close()
    remove(database_file())
    log = (kept / "memex.sqlite-wal").read_bytes()
    assert log
    noise = random.Random(5).randbytes(len(log))
    damaged = {
        "nothing": b"",
        "half": log[: len(log) // 2],
        "noise": noise,
        "noise at the end": log[: len(log) // 2] + noise[len(log) // 2 :],
    }
    write(database_file().parent, {"memex.sqlite": (kept / "memex.sqlite").read_bytes()})
    write(database_file().parent, {"memex.sqlite-wal": damaged[part]})
    assert check_answer(ask(*question(root))) == ""
    check_repaired(ask, root, tmp_path)


@pytest.mark.parametrize("version", [VERSION + 1, 99, -1, 2**31 - 1, 0])
def test_a_store_of_any_other_version_is_made_anew(
    root: Path, database: Path, tmp_path: Path, ask: Ask, version: int
) -> None:
    connection = sqlite3.connect(database)
    connection.execute(f"PRAGMA user_version = {version}")
    connection.execute("DROP TABLE words")
    connection.close()
    assert check_answer(ask(*question(root))) == ""
    check_repaired(ask, root, tmp_path)


CALLS = [("ls",), ("ls", "."), ("grep", "N3"), ("read", "3.org"), ("overview",)]
BAD_ROWS = {
    "no JSON": "UPDATE {} SET facts = '{{'",
    "another JSON": "UPDATE {} SET facts = '{{}}'",
    "JSON of other types": """UPDATE {} SET facts = '[1, {{"a": "b"}}, {{}}, []]'""",
    "JSON of too few": "UPDATE {} SET facts = '[1, {{}}, {{}}]'",
    "numbers for titles": "UPDATE {} SET facts = '[1, {{}}, {{}}, [1]]'",
    "no text in facts": "UPDATE {} SET facts = CAST(x'5BFF706C617479707573' AS TEXT)",
}
ELSEWHERE = [
    "UPDATE folder SET summary = CAST(x'FF706C617479707573' AS TEXT)",
    "UPDATE file SET title = CAST(x'FF706C617479707573' AS TEXT)",
]


@pytest.mark.parametrize("table", ["file", "folder"])
@pytest.mark.parametrize("bad", BAD_ROWS)
def test_a_row_with_damaged_facts_is_damage(
    root: Path, database: Path, tmp_path: Path, ask: Ask, bad: str, table: str
) -> None:
    write(root, {"sub/1.org": note("Sub 1"), "sub/2.org": note("Sub 2")})
    opened(root).sync()
    check_mended(root, database, tmp_path, ask, BAD_ROWS[bad].format(table))


@pytest.mark.parametrize("statement", ELSEWHERE)
def test_a_row_that_is_no_text_is_damage(
    root: Path, database: Path, tmp_path: Path, ask: Ask, statement: str
) -> None:
    check_mended(root, database, tmp_path, ask, statement)


def check_mended(root: Path, database: Path, tmp_path: Path, ask: Ask, statement: str) -> None:
    """No answer fails or tells what was stored, and the store is as new behind them."""
    for call in (
        ["sync"],
        *([*each, "--root"] for each in CALLS),
        ["focus", "id-000007", "--root"],
    ):
        connection = sqlite3.connect(database)
        connection.execute(statement)
        connection.commit()
        connection.close()
        replace(root / "5.org", note("N5 edited", "id-000005", str(call)))
        answer = ask(*call, root)
        assert (answer.status, answer.err) == (0, "")
        assert SECRET not in answer.out
    assert ask("ls", ".", "--root", root).err == ""  # it reads all that is damaged here
    check_repaired(ask, root, tmp_path)


def cut(database: Path) -> None:
    with database.open("r+b") as file:
        file.truncate(database.stat().st_size // 2)


def junk(database: Path) -> None:
    database.write_bytes(b"hello" * 1000)


def other_version(database: Path) -> None:
    connection = sqlite3.connect(database)
    connection.execute("PRAGMA user_version = 99")
    connection.close()


def nothing_in_it(database: Path) -> None:
    remove(database)
    database.touch()


@pytest.mark.parametrize("damage", [remove, cut, junk, other_version, nothing_in_it])
def test_no_sync_is_no_excuse_to_know_nothing(
    root: Path, database: Path, ask: Ask, damage: Callable[[Path], None]
) -> None:
    for call in CALLS:
        expected = ask(*call, "--root", root)
        damage(database)
        answer = ask(*call, "--root", root, "--no-sync")
        assert (answer.status, answer.out) == (expected.status, expected.out)
        is_told = answer.err.startswith("orgctx: the store knew nothing of these notes; ")
        assert is_told or (answer.err == "" and damage in (cut, junk))  # found to be so too late
        replace(root / "new.org", "* New N3\n")
        again = ask(*call, "--root", root, "--no-sync")
        assert (again.status, again.out, again.err) == (expected.status, expected.out, "")
        (root / "new.org").unlink()


def test_no_sync_is_no_excuse_to_use_what_was_known_by_other_settings(root: Path, ask: Ask) -> None:
    before = ask("ls", ".", "--root", root)
    replace(root / "orgctx.toml", 'ignore = ["zzz"]\n')
    answer = ask("ls", ".", "--root", root, "--no-sync")
    assert (answer.status, answer.out) == (0, before.out)
    assert "--no-sync" in answer.err


def test_no_sync_where_there_can_be_no_store(
    root: Path, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/dev/null/x")
    for call in [*((*each, "--root") for each in CALLS), ("status",)]:
        assert ask(*call, root, "--no-sync") == (expected := ask(*call, root))
        assert expected.err.startswith("orgctx: no store: ")


# --- No place for the store ----------------------------------------------------------------------


def file_for_the_cache(place: Path) -> None:
    write(place.parent.parent, {place.parent.name: ""})


def folder_for_the_store(place: Path) -> None:
    place.mkdir(parents=True)


def link_to_nowhere(place: Path) -> None:
    place.parent.mkdir(parents=True)
    place.symlink_to("/nowhere/at/all")


@pytest.mark.parametrize("block", [file_for_the_cache, folder_for_the_store, link_to_nowhere])
def test_where_there_can_be_no_store_notes_are_served(
    root: Path, tmp_path: Path, ask: Ask, block: Callable[[Path], None]
) -> None:
    block(database_file())
    check_without_a_store(ask, root)
    unblock(database_file())
    check_repaired(ask, root, tmp_path)


def check_without_a_store(ask: Ask, root: Path) -> None:
    assert check_answer(ask(*question(root))).startswith("orgctx: no store: ")
    for call in (["sync", root], ["sync", root, "--full"]):
        refused = ask(*call)
        assert (refused.status, refused.out, refused.err.count("\n")) == (1, "", 1)
        assert refused.err.startswith("orgctx: ")
    known = ask("status", root, "--json")
    assert (known.status, known.err.count("\n")) == (0, 1)
    assert json.loads(known.out)["roots"][0]["files"] == NOTES
    memex = open_memex(root)
    assert {memex.node(f"id-{n:06}").title for n in range(NOTES)} == {f"N{n}" for n in range(NOTES)}


def unblock(place: Path) -> None:
    if place.parent.is_file():
        place.parent.unlink()
    elif place.is_dir():
        place.rmdir()
    else:
        place.unlink()


@pytest.mark.parametrize("cache", ["/proc", "/dev/full", "/dev/null"])
def test_where_the_cache_folder_is_no_folder_notes_are_served(
    root: Path, ask: Ask, monkeypatch: pytest.MonkeyPatch, cache: str
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", cache)
    check_without_a_store(ask, root)


def test_a_cache_folder_that_goes_while_a_memex_is_open_costs_no_answer(
    root: Path, database: Path
) -> None:
    """Another thread has no connection yet, and gets none any more."""
    questions: list[Callable[[Memex], object]] = [
        lambda memex: memex.ls("0.org").text,
        lambda memex: memex.grep("N3").text,
        lambda memex: memex.read("3.org", subtree=True).text,
        lambda memex: memex.focus("id-000003").text,
        lambda memex: memex.overview().text,
        lambda memex: "read 3.org --subtree" in memex.context("N3").text,
        lambda memex: memex.node("id-000003").title,
    ]
    expected = [ask(open_memex(root)) for ask in questions]
    for ask, answer in zip(questions, expected, strict=True):
        memex = open_memex(root)
        shutil.move(database.parent, database.parent.with_name("away"))
        database.parent.touch()
        with ThreadPoolExecutor(1) as thread:
            assert thread.submit(ask, memex).result() == answer
        database.parent.unlink()
        shutil.move(database.parent.with_name("away"), database.parent)


@pytest.mark.parametrize(("folder", "file"), [(0o500, 0o400), (0, 0o600), (0o700, 0)])
def test_a_store_that_may_not_be_written_is_told_in_one_line(
    root: Path, database: Path, tmp_path: Path, ask: Ask, folder: int, file: int
) -> None:
    replace(root / "3.org", note("N3", "id-000003", "edited\ntext of N3"))
    database.chmod(file)
    database.parent.chmod(folder)
    try:
        shown, refused = elsewhere(question(root), ("sync", root), before=obey_modes)
    finally:
        database.parent.chmod(0o700)
        database.chmod(0o600)
    assert check_answer(shown).count("\n") == 1
    assert (refused.status, refused.out, refused.err.count("\n")) == (1, "", 1)
    check_repaired(ask, root, tmp_path)


@pytest.mark.parametrize(
    ("size", "is_new"), [(0, False), (5_000, False), (0, True), (60_000, True)]
)
def test_on_a_full_disk_notes_are_served_and_nothing_is_lost(
    root: Path, database: Path, tmp_path: Path, ask: Ask, size: int, is_new: bool
) -> None:
    def fill() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    if is_new:
        remove(database)
    edit(root, 0)
    before = {place: place.read_bytes() for place in root.iterdir()}
    shown, synced = elsewhere(question(root), ("sync", root), before=fill)
    assert shown.status == 0
    assert "text of N3 0\n" in shown.out
    assert (synced.status, shown.err.count("\n"), synced.err.count("\n")) == (1, 1, 1)
    assert {place: place.read_bytes() for place in root.iterdir()} == before
    repaired = ask("sync", root)
    assert (repaired.status, repaired.err) == (0, "")
    check_equal_to_a_fresh_store(root, tmp_path)
