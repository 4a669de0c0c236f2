"""Cites: an answer's own citation of source lines, and the text that stood there.

Whoever reads a file gets a number for it, and may then say `[1:L12-L19]`: of what has the number 1,
lines 12 to 19. The numbers of one conversation are kept here, in memory or in a file. A cite is of
the file as it was when it was read. Nothing is ever written to a note.
"""

from .answer import STYLES, CiteProblem, normalised
from .origin import Origin
from .registry import Cites, source_of
from .sources import Home, Source
from .version import Version, clip, numbers, version

__all__ = (
    "STYLES",
    "CiteProblem",
    "Cites",
    "Home",
    "Origin",
    "Source",
    "Version",
    "clip",
    "normalised",
    "numbers",
    "source_of",
    "version",
)
