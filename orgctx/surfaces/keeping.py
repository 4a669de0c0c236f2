"""Commands about the notes as a whole: outline, sync, status, watch, emacs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click

from ..core.model import Problem
from ..store.indexed import IndexedStore
from ..store.sync import Report
from ..views import outlines
from ..views.shell import shell_command
from ..views.view import Limit
from . import output
from .options import (
    a_file,
    a_folder,
    budget_option,
    format_option,
    inlinetasks,
    limit_of,
    no_sync_option,
    open_roots,
    option,
    tell_fault,
)
from .paging import after_option, going_on, told_done, write_data, write_lines


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
@budget_option()
@format_option("text")
@inlinetasks
def sync(
    roots: Sequence[str],
    full: bool,
    summaries_dry_run: bool,
    form: str,
    inlinetask_min_level: int | None,
    **options: Any,
) -> None:
    """Read what changed in the notes since the last time.

    ROOT is a folder of notes; by default those of ORGCTX_ROOT, or of orgctx.toml. All is read
    whatever the budget, which is that of what is told.

    \b
    Example:
      orgctx sync ~/org --full
    """
    store = open_roots(roots, inlinetask_min_level, no_sync=True, is_filled=False)
    tell_fault(store)
    if not isinstance(store, IndexedStore):
        raise click.exceptions.Exit(1)
    with output.progress("reading notes") as progress:
        report = store.sync(full, progress, "dry-run" if summaries_dry_run else "write")
        report.problems = store.known_problems()
    where = shell_command("status", roots, [])
    told_done(partial(_write_report, report, form, limit_of(store, options), where), where)


def _write_report(report: Report, form: str, limit: Limit, where: str) -> None:
    from ..views import syncing  # a focus should not pay for it

    if form == "json":
        parts, facts = [(each, None) for each in report.problems], syncing.to_data(report)
        write_data("problems", parts, _problem_data, 0, limit, lambda _: where, facts, least=0)
    else:
        lines = syncing.to_text(report).splitlines(keepends=True)
        write_lines(lines, 0, limit, lambda _: where, least=0)


def _problem_data(problem: Problem, _: list[None]) -> dict[str, Any]:
    return problem._asdict()


@click.command()
@click.argument("roots", nargs=-1, metavar="[ROOT]...", shell_complete=a_folder)
@budget_option()
@after_option
@format_option("text")
@no_sync_option
@inlinetasks
def status(
    roots: Sequence[str],
    after: int,
    form: str,
    no_sync: bool,
    inlinetask_min_level: int | None,
    **options: Any,
) -> None:
    """Tell what is known of the notes, and what is wrong.

    That is roots, files, headlines, IDs, problems, and where the store is. What does not fit the
    budget is counted in the last line, with the call that goes on; as JSON, --after passes over
    problems.

    \b
    Example:
      orgctx status ~/org --json
    """
    from ..views import syncing

    store = open_roots(roots, inlinetask_min_level, no_sync)
    store.freshen()
    tell_fault(store)
    data, limit = syncing.status(store, None), limit_of(store, options)
    again = going_on("status", *roots)
    if form == "json":
        parts = [(each, None) for each in data.pop("problems")]
        write_data("problems", parts, lambda row, _: row, after, limit, again, data)
    else:
        lines = syncing.status_text(data, None).splitlines(keepends=True)
        write_lines(lines, after, limit, again)


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
