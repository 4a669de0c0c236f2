"""The memory of a sync: where nothing has changed it is soon seen, and any change is."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from notes import note, write
from stores import check_equal_to_a_fresh_store, opened

from orgctx.store import files, signature
from orgctx.store.files import Walk, notes
from orgctx.store.indexed import IndexedStore

NOTES = {"a.org": note("A"), "p/b.org": note("B"), "p/q/c.org": note("C"), "p/x.txt": "no note"}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = write(tmp_path / "notes", NOTES)
    (folder / "empty").mkdir()
    return folder


class Walks:
    """How often the notes were walked."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = 0

        def counted(*arguments: object) -> Iterator[object]:
            self.count += 1
            return notes(*arguments)

        monkeypatch.setattr(files, "notes", counted)

    def of(self, work: Callable[[], object]) -> int:
        before = self.count
        work()
        return self.count - before


@pytest.fixture
def walks(monkeypatch: pytest.MonkeyPatch) -> Walks:
    return Walks(monkeypatch)


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever changed has been left alone for long."""
    monkeypatch.setattr(signature, "SETTLED_NS", -(10**15))


@pytest.fixture
def store(root: Path, settled: None) -> IndexedStore:
    """A store that has seen that nothing changed."""
    found = opened(root)
    found.sync()
    return found


def test_where_nothing_changed_nothing_is_walked_again(store: IndexedStore, walks: Walks) -> None:
    report = store.sync()
    assert walks.count == 0
    assert (report.read, report.unchanged, report.removed, report.is_changed) == (0, 3, 0, False)


def test_all_of_it_is_read_again_by_who_asks_for_it(store: IndexedStore, walks: Walks) -> None:
    assert store.sync(is_full=True).read == 3
    assert walks.count == 1


def same_size(root: Path) -> None:
    place = root / "p/q/c.org"
    place.write_bytes(place.read_bytes().replace(b"C", b"D"))


def replaced(root: Path) -> None:
    write(root, {"new": note("D")})
    os.replace(root / "new", root / "a.org")


def linked(root: Path) -> None:
    (root / "a.org").unlink()
    (root / "a.org").symlink_to(root / "p/b.org")


def swapped(root: Path) -> None:
    (root / "p").rename(root / "old")
    write(root, {"p/b.org": note("Other")})


CHANGES: dict[str, Callable[[Path], object]] = {
    "an edit that keeps the size": same_size,
    "an edit in place": lambda root: write(root, {"a.org": note("A") + note("More")}),
    "a replaced file": replaced,
    "a new file": lambda root: write(root, {"p/new.org": note("N")}),
    "a new file in a folder that was empty": lambda root: write(root, {"empty/n.org": note("N")}),
    "a new folder": lambda root: write(root, {"r/s/n.org": note("N")}),
    "a file that is gone": lambda root: (root / "p/b.org").unlink(),
    "a file of another name": lambda root: (root / "a.org").rename(root / "z.org"),
    "a file of another kind": lambda root: (root / "p/x.txt").rename(root / "p/x.org"),
    "a link in place of a file": linked,
    "a folder of another name": lambda root: (root / "p").rename(root / "r"),
    "another folder of the same name": swapped,
    "a folder that is hidden now": lambda root: (root / "p").rename(root / ".p"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_any_change_is_seen(
    store: IndexedStore, root: Path, tmp_path: Path, walks: Walks, change: str
) -> None:
    CHANGES[change](root)
    assert store.sync().is_changed
    assert walks.of(store.sync) == 1
    check_equal_to_a_fresh_store(root, tmp_path)


def test_what_another_writes_is_seen(store: IndexedStore, root: Path, walks: Walks) -> None:
    write(root, {"a.org": note("A again", "id-000001")})
    opened(root).sync()
    assert walks.of(store.sync) == 1
    assert [node.title for node in store.holders("id-000001")] == ["A again"]


def test_what_has_just_changed_may_change_again(root: Path, walks: Walks) -> None:
    store = opened(root)
    assert [walks.of(store.sync) for _ in range(3)] == [1, 1, 1]


def test_what_is_passed_over_is_looked_for_each_time(
    root: Path, settled: None, walks: Walks
) -> None:
    """Whether it is told hangs on what is in it, or on what it leads to."""
    write(root, {"x.sync-conflict-20240101-101010-AB.org": note("Copy")})
    (root / "link.org").symlink_to(root / "nowhere.org")
    store = opened(root)
    for _ in range(3):
        assert walks.of(lambda: store.sync(summaries="leave")) == 1
    assert len(store.problems()) == 2


def test_a_walk_tells_the_folders_that_it_listed(root: Path) -> None:
    walk = Walk()
    assert len(list(notes(root, None, walk))) == 3
    assert walk.is_plain
    assert [Path(path).relative_to(root).as_posix() for path, _ in walk.folders] == [
        *(".", "empty", "p", "p/q"),
    ]
