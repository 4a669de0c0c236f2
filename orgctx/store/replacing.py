"""Replacing a file all at once: whoever looks sees the old text or the new, never a part."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

OWN = 0o600
"""The mode of a file that is for its owner alone."""


def replace(
    place: Path, data: bytes, mode: int = OWN, is_due: Callable[[], bool] = lambda: True
) -> bool:
    """Give a file other bytes, or make it.

    mode: of a new file; one that is there keeps its own. What a link leads to is replaced.
    is_due: asked when all is ready; the answer no leaves the file as it is.
    Returns: whether it was due.
    Raises: OSError; then the file is as it was.
    """
    place = Path(os.path.realpath(place))
    try:
        handle, name = tempfile.mkstemp(prefix=f".{place.name}.", dir=place.parent)
    except OSError as error:  # which names a file that nobody knows
        raise OSError(error.errno, error.strerror, str(place)) from error
    try:
        with open(handle, "wb") as new:
            new.write(data)
            new.flush()
            os.fsync(new.fileno())
        os.chmod(name, place.stat().st_mode if place.exists() else mode)
        if is_due():
            os.replace(name, place)
            return True
        return False
    finally:
        Path(name).unlink(missing_ok=True)
