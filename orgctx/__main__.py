"""The program."""

from __future__ import annotations

import gc
import sys

GARBAGE = 20_000
"""Objects between two collections: a short run is over before the first is worth its time."""


def main() -> None:
    """Run the program, then exit with its status."""
    gc.set_threshold(GARBAGE)
    from .surfaces.cli import run

    sys.exit(run())


if __name__ == "__main__":
    main()
