"""Working copies: a private folder to edit in, a diff, a checked commit; no agent framework."""

from .port import POLICIES, Edited, Workcopies, check_alone, seconds, store_in
from .record import Clash, Outcome, Record, Report, Status
from .tools import Copy

__all__ = (
    "POLICIES",
    "Clash",
    "Copy",
    "Edited",
    "Outcome",
    "Record",
    "Report",
    "Status",
    "Workcopies",
    "check_alone",
    "seconds",
    "store_in",
)
