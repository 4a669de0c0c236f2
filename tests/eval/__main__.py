"""What orgctx is worth, measured: `python -m tests.eval --help`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # where pytest looks, too

from eval.command import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
