"""`python -m orgctx` is the console script."""

from .surfaces.cli import main

main()
