"""A memex of twelve notes, and its store."""

from __future__ import annotations

from pathlib import Path

import pytest
from mishaps import NOTES
from notes import note, write
from stores import opened

from orgctx.store import signature
from orgctx.store.opening import database_file


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Notes N0 to N11, whose IDs are id-000000 to id-000011."""
    return write(
        tmp_path / "notes", {f"{n}.org": note(f"N{n}", f"id-{n:06}") for n in range(NOTES)}
    )


@pytest.fixture
def database(root: Path) -> Path:
    """The store's file after a sync, with nothing of it in a log."""
    store = opened(root)
    store.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    store.connection.close()
    assert not list(database_file().parent.glob("*-wal"))
    return database_file()


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each file counts as one that has been left alone for long."""
    monkeypatch.setattr(signature, "SETTLED_NS", -(10**15))
