"""orgctx: one Org headline in focus, its surroundings in outline, exactly within a budget."""

from __future__ import annotations

from importlib.metadata import version

from .errors import (
    Ambiguous,
    BadArgument,
    BudgetTooSmall,
    NotFound,
    OrgctxError,
    OutsideRoot,
    Unreadable,
)
from .surfaces.api import Memex, open_memex

__version__ = version("orgctx")

__all__ = [
    "Ambiguous",
    "BadArgument",
    "BudgetTooSmall",
    "Memex",
    "NotFound",
    "OrgctxError",
    "OutsideRoot",
    "Unreadable",
    "__version__",
    "open_memex",
]
