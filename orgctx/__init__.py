"""orgctx: one Org headline in focus, its surroundings in outline, exactly within a budget."""

from __future__ import annotations

from .errors import (
    Ambiguous,
    BadArgument,
    BadConfig,
    BudgetTooSmall,
    NotFound,
    OrgctxError,
    OutsideRoot,
    Unreadable,
)
from .surfaces.api import Memex, Node, open_memex

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
    "OutsideRoot",
    "Unreadable",
    "__version__",
    "open_memex",
]
