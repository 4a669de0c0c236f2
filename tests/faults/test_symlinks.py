"""Faults: links, and names that differ by case, lead to no other file."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from growth import check_growth
from mishaps import NOTES, SECRET
from notes import note, write
from program import Ask
from stores import opened, rows, stored_bytes

from orgctx import NotFound
from orgctx.store import files
from orgctx.store.opening import database_file
from orgctx.store.store import Store

# --- Names that differ by case -------------------------------------------------------------------

RENAMED = {"0.ORG.org": "0.org", "Ab/c.org": "ab/c.org", "X/Y/z.org": "x/Y/z.org", "Q.org": "q.org"}


@pytest.mark.parametrize(("new", "old"), RENAMED.items())
def test_a_renaming_by_case_alone_is_followed(root: Path, ask: Ask, new: str, old: str) -> None:
    write(root, {old: note("Case", "id-case")})
    assert ask("focus", "id-case", "--root", root).status == 0
    (root / old.partition("/")[0]).rename(root / new.partition("/")[0])
    for address in ("id-case", new):
        assert f"# {new}\n" in ask("focus", address, "--root", root).out
    assert ask("focus", f"{old}:1", "--root", root).status == 1
    store = opened(root)
    store.sync()
    assert new in store.paths
    assert old not in store.paths


def test_names_that_differ_by_case_alone_are_two_files(tmp_path: Path, ask: Ask) -> None:
    root = write(tmp_path, {"a.org": note("small", "id-small"), "A.org": note("great", "id-great")})
    for path in root.glob("*.org"):  # one file where the disk does not tell cases apart
        shown = ask("focus", f"{path.name}:1", "--root", root).out
        assert path.read_text().splitlines()[-1] in shown


# --- Links ---------------------------------------------------------------------------------------

LINKS = {
    **{"loop": ".", "sub/up": "..", "self": "self", "one": "two", "two": "one", "in": "sub"},
    **{"same.org": "0.org", "sub/same.org": "../0.org", "out": "../outside"},
    **{
        "gone.org": "nowhere.org",
        "self.org": "self.org",
        "one.org": "two.org",
        "two.org": "one.org",
    },
    **{"out.org": "../outside/s.org", "far.org": "out/s.org", "etc.org": "/etc/passwd"},
}
OUT = "a symbolic link out of the root, left out"
NOWHERE = "a symbolic link to nothing, left out"
LEFT_OUT = {
    **dict.fromkeys(("out", "out.org", "far.org", "etc.org"), OUT),
    **dict.fromkeys(("gone.org", "self.org", "one.org", "two.org"), NOWHERE),
}


@pytest.fixture
def linked(root: Path) -> Path:
    """Notes among links of all kinds; what is outside holds the secret and an ID of the inside."""
    write(root.parent, {"outside/s.org": note(SECRET, "id-000001"), "notes/sub/b.org": "* B\n"})
    for name, target in LINKS.items():
        (root / name).symlink_to(target)
    return root


def test_each_file_is_read_once_and_nothing_behind_a_link(linked: Path, ask: Ask) -> None:
    done = json.loads(ask("sync", linked, "--json").out)
    assert done["read"] == NOTES + 1
    assert {each["path"]: each["what"] for each in done["problems"]} == LEFT_OUT
    known = json.loads(ask("status", linked, "--json").out)
    assert (known["roots"][0]["files"], known["duplicates"]) == (NOTES + 1, 0)
    assert {each["path"]: each["what"] for each in known["problems"]} == LEFT_OUT
    assert ask("focus", "id-000000", "--root", linked).out.startswith("# 0.org\n")
    assert "text of N1\n" in ask("focus", "id-000001", "--root", linked).out
    assert set(opened(linked).paths) == {*(f"{n}.org" for n in range(NOTES)), "sub/b.org"}


def test_a_link_to_a_note_is_no_name_of_it_but_from_its_own_folder(
    linked: Path, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(linked.parent)
    for address in ("same.org", "sub/same.org:1", "in/b.org"):
        assert ask("focus", address, "--root", linked).status == 1
    monkeypatch.chdir(linked)
    for address in ("same.org", "sub/same.org:1", f"{linked}/loop/0.org"):
        assert ask("focus", address, "--root", linked).out.startswith("# 0.org\n")
    for address in ("out.org", "out/s.org:1", "far.org::*x"):
        answer = ask("focus", address, "--root", linked)
        assert (answer.status, answer.out, answer.err.count("\n")) == (1, "", 1)


WATCHED = """\
import sys
opened = []
sys.addaudithook(lambda event, details: opened.append(f"{event} {details}"))
from orgctx.surfaces.cli import run
root, outside, place = sys.argv[1:4]
for address in ("out.org", "out/s.org", "far.org", "in/b.org", "loop/0.org", "same.org:1", "#x"):
    run(["focus", address, "--root", root])
    run(["focus", address, "--root", root, "--no-sync"])
for call in (["sync"], ["sync", "--full"], ["status", "--json"], ["outline"]):
    run([*call, root])
events = ("open", "os.scandir", "os.listdir")
with open(place, "w") as file:
    file.writelines(f"{e}\\n" for e in opened if e.startswith(events) and outside in e)
"""


def test_nothing_outside_is_opened(linked: Path, tmp_path: Path) -> None:
    arguments = [str(linked), str(tmp_path / "outside"), str(tmp_path / "seen")]
    done = subprocess.run(
        [sys.executable, "-c", WATCHED, *arguments], capture_output=True, text=True, check=True
    )
    assert (tmp_path / "seen").read_text() == ""
    assert SECRET not in done.stdout + done.stderr
    assert SECRET.encode() not in stored_bytes()


def file_to_link_out(root: Path) -> None:
    (root / "sub/c.org").unlink()
    (root / "sub/c.org").symlink_to("../../outside/c.org")


def folder_to_link_out(root: Path) -> None:
    shutil.rmtree(root / "sub")
    (root / "sub").symlink_to("../outside")


def file_to_link_within(root: Path) -> None:
    (root / "sub/c.org").unlink()
    (root / "sub/c.org").symlink_to("../other.org")


def file_to_folder(root: Path) -> None:
    (root / "sub/c.org").unlink()
    (root / "sub/c.org").mkdir()


def folder_to_file(root: Path) -> None:
    shutil.rmtree(root / "sub")
    write(root, {"sub": note(SECRET, "id-sub")})


SWAPS = (file_to_link_out, folder_to_link_out, file_to_link_within, file_to_folder, folder_to_file)
SWAPPED = ("id-sub", "sub/c.org", "sub/c.org:1", "sub/c.org::*Sub", "sub/c.org::#sub", "#sub")


@pytest.mark.parametrize("swap", SWAPS)
def test_a_note_that_is_swapped_after_a_sync_is_not_there(
    root: Path, ask: Ask, swap: Callable[[Path], None]
) -> None:
    text = "* Sub\n:PROPERTIES:\n:ID: id-sub\n:CUSTOM_ID: sub\n:END:\n"
    write(root.parent, {"notes/sub/c.org": text, "outside/c.org": f"{text}{SECRET}\n"})
    write(root, {"other.org": f"{text.replace('sub', 'other')}{SECRET}\n"})
    ask("sync", root)
    swap(root)
    for address in SWAPPED:
        for options in (["--no-sync"], []):
            answer = ask("focus", address, "--root", root, *options)
            assert (answer.status, answer.out) == (1, ""), (address, answer)
            assert SECRET not in answer.err
            assert answer.err.count("\n") == 1


def swapping(root: Path, monkeypatch: pytest.MonkeyPatch, is_swapped_back: bool) -> list[str]:
    """Let a folder be a link out of the root at the moment a file in it is opened, once."""
    original, swapped = os.open, []

    def open_(path: Any, *arguments: Any, **options: Any) -> int:
        if swapped or os.fspath(path) != str(root / "sub/c.org"):
            return original(path, *arguments, **options)
        swapped.append(str(path))
        (root / "sub").rename(root / "kept")
        (root / "sub").symlink_to("../outside")
        file = original(path, *arguments, **options)
        if is_swapped_back:
            (root / "sub").unlink()
            (root / "kept").rename(root / "sub")
        return file

    monkeypatch.setattr(os, "open", open_)
    return swapped


@pytest.mark.parametrize("is_swapped_back", [True, False])
def test_a_folder_that_is_swapped_while_it_is_read_leads_nowhere_else(
    root: Path, monkeypatch: pytest.MonkeyPatch, is_swapped_back: bool
) -> None:
    write(root.parent, {"notes/sub/c.org": "* Sub\n", "outside/c.org": f"* Sub\n{SECRET}\n"})
    store = opened(root)
    swapped = swapping(root, monkeypatch, is_swapped_back)
    if is_swapped_back:
        assert store.tree("sub/c.org").text == "* Sub\n"
    else:
        with pytest.raises(NotFound):
            store.tree("sub/c.org")
    assert swapped


def test_a_folder_that_is_swapped_while_it_is_walked_is_not_read(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(root.parent, {"notes/sub/c.org": "* Sub\n", "outside/c.org": note(SECRET, "id-secret")})
    list_, store = os.scandir, opened(root)

    def swapped(folder: str) -> Any:
        if folder == str(root / "sub"):
            folder_to_link_out(root)
        return list_(folder)

    monkeypatch.setattr(os, "scandir", swapped)
    store.sync(is_full=True)
    assert (root / "sub").is_symlink()
    assert store.holders("id-secret") == []
    assert SECRET not in str(rows(database_file()))


@pytest.mark.parametrize("name", ["a/b/c.org", "a/b", "a/gone.org", "gone/x/c.org", ".", "a/c"])
def test_a_place_is_real_if_that_is_its_real_path(tmp_path: Path, name: str) -> None:
    write(tmp_path, {"a/b/c.org": "* C\n"})
    place = tmp_path / name
    assert files.is_real(place)
    for link in (place, *place.parents):
        if link.is_relative_to(tmp_path) and link.exists() and link != tmp_path:
            away = tmp_path / "away"
            link.rename(away)
            link.symlink_to(away)
            assert not files.is_real(place)
            assert os.path.realpath(place) != str(place)
            link.unlink()
            away.rename(link)
    assert not files.is_real(tmp_path / "a" / ".." / name)


def test_a_note_in_folders_eight_times_as_deep_takes_hardly_longer_than_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is looked up from the top for each folder on the way."""

    def deep(depth: int) -> tuple[Store, str]:
        root = tmp_path / str(depth)
        root.mkdir()
        monkeypatch.chdir(root)
        for _ in range(depth):
            Path("d").mkdir()
            os.chdir("d")
        Path("a.org").write_text("* A\n", encoding="utf-8")
        return Store([root]), "d/" * depth + "a.org"

    try:
        check_growth(lambda given: given[0].tree(given[1]), deep, 125)
    finally:  # pytest cannot
        subprocess.run(["rm", "-r", *map(str, tmp_path.iterdir())], check=True)
