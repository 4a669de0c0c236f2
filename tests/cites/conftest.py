"""A folder of notes to be cited."""

from __future__ import annotations

from pathlib import Path

import pytest
from cited import NOTES
from notes import write


@pytest.fixture
def root(home: Path) -> Path:
    """A folder of notes below the current one."""
    return write(home / "notes", {"garden.org": NOTES})
