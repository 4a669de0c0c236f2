"""What tells that a file or folder has changed, without reading it."""

from __future__ import annotations

import os

SETTLED_NS = 2_000_000_000
"""What changed so shortly before it was looked at may change again in the same clock tick."""

Signature = tuple[int, int, int, int]
"""Size, mtime, ctime and inode, times in nanoseconds."""


def signature(found: os.stat_result | None) -> Signature:
    """The signature of a file or folder; None has one that nothing has."""
    if found is None:
        return 0, 0, 0, 0
    return found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino


def is_settled(known: Signature, now: int) -> bool:
    """Whether a change at `now`, in nanoseconds, or later would show in a signature."""
    return max(known[1:3]) < now - SETTLED_NS
