"""Faults: notes that come, go and change meanwhile are shown as they are, or refused."""

from __future__ import annotations

import errno
import json
import os
import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from mishaps import (
    SECRET,
    check_repaired,
    either_way,
    elsewhere,
    nothing,
    obey_modes,
    overtake,
    question,
    replace,
)
from notes import note, write
from program import Answer, Ask
from stores import check_equal_to_a_fresh_store, opened

from orgctx import open_memex
from orgctx.store import files
from orgctx.store.store import Store

# --- Notes that come, go and change meanwhile ----------------------------------------------------


@pytest.mark.usefixtures("settled")
def test_a_known_file_that_vanishes_from_a_walk_is_forgotten(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = opened(root)
    vanishing(root, monkeypatch)
    assert store.sync().removed == 1
    check_equal_to_a_fresh_store(root, tmp_path)


@pytest.mark.parametrize("command", ["sync", "status", "outline"])
def test_a_new_file_that_vanishes_from_a_walk_is_no_fault(
    root: Path, ask: Ask, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    vanishing(root, monkeypatch)
    answer = ask(command, root)
    assert (answer.status, answer.err) == (0, "") or command == "outline"
    assert "Traceback" not in answer.err
    assert not (root / "4.org").exists()


def vanishing(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a file vanish when the walk has come to it."""
    walk = files.notes

    def vanish(*arguments: Any) -> Iterator[files.Found]:
        for found in walk(*arguments):
            if found.path == str(root / "4.org"):
                (root / "4.org").unlink(missing_ok=True)
            yield found

    monkeypatch.setattr(files, "notes", vanish)


@pytest.mark.usefixtures("settled")
@pytest.mark.parametrize("moment", ["before it is read", "after it is read"])
def test_a_change_while_a_sync_reads_is_seen_by_the_next(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    read, place, changed = files.read, root / "4.org", note("N4 changed", "id-000004")

    def change(path: Path, *rest: Any) -> bytes:
        if path == place and moment == "before it is read":
            place.write_text(changed)
        data = read(path, *rest)
        if path == place and moment == "after it is read":
            place.write_text(changed)
        return data

    monkeypatch.setattr(files, "read", change)
    store = opened(root)
    monkeypatch.setattr(files, "read", read)
    assert store.holders("id-000004")[0].title == "N4 changed"
    store.sync()
    check_equal_to_a_fresh_store(root, tmp_path)


@pytest.mark.usefixtures("settled")
def test_a_file_that_appears_behind_a_walk_is_seen_by_the_next(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = opened(root)
    overtake(monkeypatch, nothing, lambda: write(root, {"00.org": note("Late", "id-late")}))
    assert store.sync().read == 0
    assert open_memex(root).node("id-late").title == "Late"


def test_a_change_right_after_the_first_sync_of_a_watch_is_seen(root: Path) -> None:
    store, stop = opened(root), threading.Event()
    reports = store.watch(stop)
    next(reports)
    write(root, {"3.org": note("N3 edited", "id-000003")})
    threading.Timer(1.5, stop.set).start()
    assert [report.read for report in reports] == [1]


def emptied(folder: Path) -> None:
    shutil.rmtree(folder)


def made_a_file(folder: Path) -> None:
    shutil.rmtree(folder)
    folder.write_text("")


@pytest.mark.parametrize("change", [emptied, made_a_file])
def test_a_folder_that_vanishes_from_a_walk_is_no_fault(
    root: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    ask: Ask,
    change: Callable[[Path], None],
) -> None:
    write(root, {"sub/c.org": "* C\n", "sub/below/d.org": "* D\n", "z/e.org": "* E\n"})
    ask("sync", root)
    list_ = os.scandir

    def vanish(folder: str) -> Any:
        if folder == str(root / "sub") and (root / "sub").is_dir():
            change(root / "sub")
        return list_(folder)

    monkeypatch.setattr(os, "scandir", vanish)
    answer = ask("sync", root, "--json")
    monkeypatch.setattr(os, "scandir", list_)
    assert (answer.status, answer.err) == (0, "")
    assert json.loads(answer.out)["removed"] == 2
    assert "* E\n" in ask("focus", "z/e.org", "--root", root).out
    check_repaired(ask, root, tmp_path)


def test_what_may_not_be_read_is_a_problem_and_the_rest_is_served(
    root: Path, tmp_path: Path, ask: Ask
) -> None:
    write(root, {"sub/c.org": note(SECRET, "id-sub")})
    (root / "4.org").chmod(0)
    (root / "sub").chmod(0)
    calls = [(command, root, "--json") for command in ("sync", "status")]
    named = [("focus", address, "--root", root) for address in ("4.org", "sub/c.org")]
    try:
        synced, known, shown, *refused = elsewhere(
            *calls, question(root), *named, before=obey_modes
        )
    finally:
        (root / "4.org").chmod(0o600)
        (root / "sub").chmod(0o700)
    wanted = {
        "4.org": "Permission denied",
        "sub": "a folder that cannot be listed: Permission denied",
    }
    for answer in (synced, known):
        assert (answer.status, answer.err) == (0, "")
        assert {p["path"]: p["what"] for p in json.loads(answer.out)["problems"]} == wanted
    assert (shown.status, shown.err) == (0, "")
    assert {(each.status, each.err.count("\n")) for each in refused} == {(1, 1)}
    check_repaired(ask, root, tmp_path)
    assert SECRET in ask("focus", "id-sub", "--root", root).out


# --- A store that is behind ----------------------------------------------------------------------

ENTRIES = """\
* First
:PROPERTIES:
:ID: id-first
:CUSTOM_ID: first
:END:
alpha
* Second
:PROPERTIES:
:ID: id-second
:CUSTOM_ID: second
:END:
beta
* Third
:PROPERTIES:
:ID: id-third
:CUSTOM_ID: third
:END:
gamma
"""
NAMES_OF_SECOND = ("id-second", "id:id-second", "id:id-sec", "#second", "a.org::#second",
                   "a.org::*Second", "a.org::Second")  # fmt: skip


def shown(answer: Answer) -> set[str]:
    return {word for word in ("alpha", "beta", "gamma", "delta") if word in answer.out}


@either_way
@pytest.mark.usefixtures("settled")
@pytest.mark.parametrize("address", NAMES_OF_SECOND)
@pytest.mark.parametrize("above", ["text\n" * 10, "* New\ndelta\n", "* Second of all\ndelta\n" * 9])
def test_lines_that_are_put_above_an_entry_do_not_move_its_name(
    root: Path, ask: Ask, address: str, above: str, options: tuple[str, ...]
) -> None:
    write(root, {"a.org": ENTRIES})
    ask("sync", root)
    write(root, {"a.org": above + ENTRIES})
    answer = ask("focus", address, "--root", root, *options)
    assert (answer.status, answer.err) == (0, "")
    assert shown(answer) == {"beta"}


@either_way
@pytest.mark.usefixtures("settled")
@pytest.mark.parametrize("address", NAMES_OF_SECOND)
def test_an_entry_that_is_gone_is_not_there_under_its_name(
    root: Path, ask: Ask, address: str, options: tuple[str, ...]
) -> None:
    write(root, {"a.org": ENTRIES})
    ask("sync", root)
    write(root, {"a.org": ENTRIES.replace("econd", "ixth").replace("beta", "delta")})
    answer = ask("focus", address, "--root", root, *options)
    assert (answer.status, answer.out) == (1, "")


@pytest.mark.usefixtures("settled")
@pytest.mark.parametrize("address", ["id-second", "id:id-sec", "#second", "b.org::*Second"])
def test_an_entry_that_moved_to_another_file_is_found(root: Path, ask: Ask, address: str) -> None:
    write(root, {"a.org": ENTRIES, "b.org": "* B\n"})
    ask("sync", root)
    first, second, third = (f"* {part}" for part in ENTRIES.split("* ")[1:])
    write(root, {"a.org": first + third, "b.org": f"* B\n{second}"})
    behind = ask("focus", address, "--root", root, "--no-sync")
    assert behind.status == 1 or shown(behind) == {"beta"}
    answer = ask("focus", address, "--root", root)
    assert (answer.status, shown(answer)) == (0, {"beta"})
    assert answer.out.startswith("# b.org\n")


@pytest.mark.parametrize("is_moved", [True, False])
def test_a_whole_id_that_the_store_does_not_know_wins_over_one_that_begins_so(
    root: Path, ask: Ask, is_moved: bool
) -> None:
    write(root, {"a.org": note("Whole", "id-whole", "alpha") if is_moved else "* A\n"})
    write(root, {"b.org": note("Longer", "id-whole-and-more", "beta")})
    ask("sync", root)
    write(root, {"a.org": "* A\n", "c.org": note("Whole", "id-whole", "alpha")})
    assert shown(ask("focus", "id-whole", "--root", root)) == {"alpha"}


@either_way
@pytest.mark.usefixtures("settled")
@pytest.mark.parametrize("seconds", [None, 0, 1, 10**9, 2**32], ids=str)
def test_an_edit_is_seen_whatever_size_and_clock_say(
    root: Path, ask: Ask, seconds: int | None, options: tuple[str, ...]
) -> None:
    """None: the file's own time, as if it had not been touched."""
    place = write(root, {"a.org": ENTRIES}) / "a.org"
    if seconds is not None:
        os.utime(place, (seconds, seconds))
    before = place.stat()
    ask("sync", root)
    write(root, {"a.org": ENTRIES.replace("beta", "delt")})
    os.utime(place, ns=(before.st_atime_ns, before.st_mtime_ns))
    after = place.stat()
    assert (after.st_size, after.st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    answer = ask("focus", "id-second", "--root", root, *options)
    assert (answer.status, "\ndelt\n" in answer.out, shown(answer)) == (0, True, set())
    if not options:
        assert json.loads(ask("sync", root, "--json").out)["read"] == 1


@pytest.mark.usefixtures("settled")
@pytest.mark.parametrize("seconds", [0, 2**32])
def test_a_store_that_is_older_or_newer_than_the_clock_is_no_hindrance(
    root: Path, database: Path, tmp_path: Path, ask: Ask, seconds: int
) -> None:
    os.utime(database, (seconds, seconds))
    replace(root / "3.org", note("N3", "id-000003", "delta"))
    assert shown(ask("focus", "id-000003", "--root", root)) == {"delta"}
    assert json.loads(ask("sync", root, "--json").out)["read"] == 1
    check_equal_to_a_fresh_store(root, tmp_path)


# --- Files that become links, or go, within a call -----------------------------------------------


@pytest.mark.parametrize("times", [1, 10**9])
@pytest.mark.parametrize("error", [errno.EINVAL, errno.ENOENT])
def test_what_becomes_a_link_and_is_none_again_costs_no_answer(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, times: int, error: int
) -> None:
    """Then `realpath` sees a link, and finds none when it reads it."""
    (root / "link.org").symlink_to(root / "3.org")
    realpath, calls = os.path.realpath, list[str]()

    def overtaken(place: str | Path) -> str:
        calls.append(str(place))
        if len(calls) <= times:
            raise OSError(error, os.strerror(error))
        return realpath(place)

    for store in (opened(root), Store([root])):
        calls.clear()
        with monkeypatch.context() as patch:
            patch.chdir(root)
            patch.setattr(os.path, "realpath", overtaken)
            assert store.file("./3.org") == "3.org"
            assert store.folder_named(str(root)) == ""
            assert store.leads_out(str(tmp_path / "x.org"))
            assert len(list(store.trees())) == 12
            store.problems()
        assert calls


@pytest.mark.parametrize(
    ("what", "looks"), [("files", 2), ("facts", 3), ("files_in", 3), ("is_edited", 1)]
)
def test_a_note_that_goes_while_a_folder_is_looked_through_is_not_there(
    root: Path, monkeypatch: pytest.MonkeyPatch, what: str, looks: int
) -> None:
    """looks: at which look at it the note is gone."""
    store, place_of, gone = Store([root]), Store.place, root / "3.org"
    looked = list[str]()

    def overtaken(self: Store, path: str) -> Path:
        if path == "3.org":
            looked.append(path)
        if len(looked) == looks and not gone.is_symlink():
            gone.unlink()
            gone.symlink_to("/nowhere")
        return place_of(self, path)

    monkeypatch.setattr(Store, "place", overtaken)
    if what == "files":
        assert "3.org" not in {file.path for file in store.files()}
    elif what == "facts":
        assert len(list(store.facts(""))) == 2 * 11
    elif what == "files_in":
        assert sum(file.tokens > 0 for file in store.files_in("", 50)[0]) == 11
    else:
        assert not store.is_edited("3.org")
    assert gone.is_symlink()
