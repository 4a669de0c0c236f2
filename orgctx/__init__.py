"""orgctx: one Org headline in focus, its surroundings in outline, exactly within a budget."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .errors import (
    Ambiguous,
    BadArgument,
    BadConfig,
    BudgetTooSmall,
    NotFound,
    OrgctxError,
    OutOfRange,
    OutsideRoot,
    Stale,
    Unreadable,
)

if TYPE_CHECKING:
    from .surfaces.api import Memex, open_memex
    from .surfaces.node import Node

__version__ = "0.1.0"

__all__ = [
    "Ambiguous",
    "BadArgument",
    "BadConfig",
    "BudgetTooSmall",
    "Memex",
    "Node",
    "NotFound",
    "OrgctxError",
    "OutOfRange",
    "OutsideRoot",
    "Stale",
    "Unreadable",
    "__version__",
    "open_memex",
]


def __getattr__(name: str) -> Any:
    """The Python surface, loaded when it is asked for: the command line needs none of it."""
    if name not in ("Memex", "Node", "open_memex"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from .surfaces import api

    return getattr(api, name)
