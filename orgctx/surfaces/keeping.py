"""Commands about the notes as a whole: outline, sync, status, watch, emacs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from ..store.indexed import IndexedStore
from ..views import outlines
from . import output
from .options import (
    a_file,
    a_folder,
    format_option,
    inlinetasks,
    no_sync_option,
    open_roots,
    option,
    tell_fault,
)


@click.command()
@click.argument(
    "paths", nargs=-1, required=True, metavar="FILE-OR-FOLDER...", shell_complete=a_file
)
@format_option("text")
@inlinetasks
def outline(paths: Sequence[str], form: str, inlinetask_min_level: int | None) -> None:
    """List every headline of files, as Emacs reads them.

    \b
    Example:
      orgctx outline ~/org --json
    """
    found = outlines.Outlines(paths, inlinetask_min_level)
    for name, tree in found:
        rows = outlines.rows(name, tree)
        output.write("".join(map(output.to_json if form == "json" else output.to_line, rows)))
    output.complain_of(found.passed_over + found.unreadable)
    if found.unreadable:
        raise click.exceptions.Exit(1)


@click.command()
@click.argument("roots", nargs=-1, metavar="[ROOT]...", shell_complete=a_folder)
@option("--full", is_flag=True, help="Read every file again.")
@option(
    "--summaries-dry-run", is_flag=True, help="Ask no model; say what its summaries would cost."
)
@format_option("text")
@inlinetasks
def sync(
    roots: Sequence[str],
    full: bool,
    summaries_dry_run: bool,
    form: str,
    inlinetask_min_level: int | None,
) -> None:
    """Read what changed in the notes since the last time.

    ROOT is a folder of notes; by default those of ORGCTX_ROOT, or of orgctx.toml.

    \b
    Example:
      orgctx sync ~/org --full
    """
    from ..views import syncing  # a focus should not pay for it

    store = open_roots(roots, inlinetask_min_level, no_sync=True, is_filled=False)
    tell_fault(store)
    if not isinstance(store, IndexedStore):
        raise click.exceptions.Exit(1)
    with output.progress("reading notes") as progress:
        report = store.sync(full, progress, "dry-run" if summaries_dry_run else "write")
        report.problems = store.known_problems()
    is_json = form == "json"
    output.write(output.to_json(syncing.to_data(report)) if is_json else syncing.to_text(report))


@click.command()
@click.argument("roots", nargs=-1, metavar="[ROOT]...", shell_complete=a_folder)
@format_option("text")
@no_sync_option
@inlinetasks
def status(
    roots: Sequence[str], form: str, no_sync: bool, inlinetask_min_level: int | None
) -> None:
    """Tell what is known of the notes, and what is wrong.

    That is roots, files, headlines, IDs, problems, and where the store is.

    \b
    Example:
      orgctx status ~/org --json
    """
    from ..views import syncing

    store = open_roots(roots, inlinetask_min_level, no_sync)
    store.freshen()
    tell_fault(store)
    data = syncing.status(store)
    output.write(output.to_json(data) if form == "json" else syncing.status_text(data))


@click.command()
@click.argument("roots", nargs=-1, metavar="[ROOT]...", shell_complete=a_folder)
@inlinetasks
def watch(roots: Sequence[str], inlinetask_min_level: int | None) -> None:
    """Keep the store current while this runs; stop it with C-c.

    Prints a line for each time that something changed.

    \b
    Example:
      orgctx watch ~/org
    """
    from ..views import syncing

    store = open_roots(roots, inlinetask_min_level, no_sync=True, is_filled=False)
    tell_fault(store)
    if not isinstance(store, IndexedStore):
        raise click.exceptions.Exit(1)
    for report in store.watch():
        output.write(syncing.to_text(report))


@click.command()
def emacs() -> None:
    """Print where orgctx.el is, and the lines that load it.

    \b
    Example:
      orgctx emacs >> ~/.emacs.d/init.el
    """
    folder = Path(__file__).parent / "emacs"
    output.write(output.emacs_lines(folder, output.program()))
