"""The commands about working copies: work open, status, diff, commit, discard, prune, log, show."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import click

from ..core.entry import many
from ..core.heading import printable
from ..views.page import fit
from ..views.shell import shell_command
from ..views.view import READING_BUDGET, Limit
from ..workcopy import POLICIES, Workcopies, seconds
from ..workcopy.port import Edited
from ..workcopy.record import CONFLICT, REFUSED, Outcome, Record, Report, Status
from ..workcopy.showing import DIGITS, log_line, outcome_line, status_line
from . import output
from .options import Whole, all_roots_option, budget_option, format_option, option, roots_or_default
from .paging import (
    Call,
    after_option,
    counter_of,
    going_on,
    told_done,
    users_limit,
    write_data,
    write_lines,
)


@click.group()
def work() -> None:
    """Edit notes in a copy of one's own, and commit them.

    What was edited is checked on its way into the notes. ID names a copy. Exit status 3 of commit:
    something is in conflict or was refused, and is still in the copy.

    \b
    Example:
      orgctx work open draft
    """


@work.command("open")
@click.argument("copy_id", metavar="ID")
@all_roots_option
def open_(copy_id: str, roots: Sequence[str]) -> None:
    """Open a copy, made on first use, and print its folder.

    A copy that was there keeps its edits; the rest of it becomes what the notes are now.

    \b
    Example:
      orgctx work open draft --root ~/org
    """
    copy = Workcopies(*roots_or_default(roots)).open(copy_id)
    output.complain_of(copy.problems)
    output.write(f"{copy.folder}\n")


@work.command()
@budget_option()
@after_option
@format_option("text")
def status(after: int, form: str, **options: Any) -> None:
    """List the copies: name, edited notes, folder.

    What does not fit the budget is counted in the last line, with the call that goes on. As JSON,
    --after passes over edited notes, each of which has a line there.

    \b
    Example:
      orgctx work status
    """
    rows, limit, again = Workcopies().status(), users_limit(options), going_on("work status")
    if form == "json":
        parts = [(each, path) for each in rows for path in each.changed or [None]]
        write_data("copies", parts, _status_data, after, limit, again)
    else:
        write_lines(list(map(status_line, rows)), after, limit, again)


def _status_data(row: Status, changed: list[str | None]) -> dict[str, Any]:
    known = {"folder": str(row.folder), "changed": [each for each in changed if each is not None]}
    return {**row._asdict(), **known}


@work.command()
@click.argument("copy_id", metavar="ID")
@budget_option()
@after_option
@format_option("text")
def diff(copy_id: str, after: int, form: str, **options: Any) -> None:
    """Print what was edited in a copy, as a patch.

    What does not fit the budget is counted in the last line, with the call that goes on.

    \b
    Example:
      orgctx work diff draft
    """
    rows, limit = Workcopies().diff(copy_id), users_limit(options)
    again = going_on("work diff", copy_id)
    if form == "json":
        parts = [(each, line) for each in rows for line in _lines(each.patch)]
        write_data("edited", parts, _diff_data, after, limit, again)
    else:
        _write_text("".join(each.patch for each in rows), after, limit, again)


def _diff_data(row: Edited, lines: list[str]) -> dict[str, Any]:
    return {**row._asdict(), "patch": "".join(lines)}


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def _write_text(text: str, after: int, limit: Limit, again: Call) -> None:
    """Print what fits; what does not is told twice, as the text may be on its way into a file."""
    if write_lines(_lines(text), after, limit, again):
        output.complain("not all of it fits the budget", "give a larger --budget, or page on")


@work.command()
@click.argument("copy_id", metavar="ID")
@option("-m", "--message", required=True, metavar="TEXT", help="What was done.")
@option(
    "--on-conflict",
    type=click.Choice(POLICIES),
    default=POLICIES[0],
    help="What becomes of an entry that was edited here and in the notes: nothing, or this half.",
)
@option("--allow-shrink", is_flag=True, help="A note may lose more than half of its text.")
@budget_option()
@format_option("text")
def commit(
    copy_id: str, message: str, on_conflict: str, allow_shrink: bool, form: str, **options: Any
) -> None:
    """Bring what was edited in a copy into the notes.

    A line for each path says how. What others edited meanwhile is merged, entry by entry. Outcomes:
    written, merged, deleted, unchanged; conflict, refused. All is committed whatever the budget;
    the last line counts the lines that do not fit it, with the call that shows them.

    \b
    Example:
      orgctx work commit draft -m 'Close what is done'
    """
    limit = users_limit(options)
    report = Workcopies().commit(copy_id, message, on_conflict, allow_shrink)
    where = shell_command("work show", [report.revision[:DIGITS]], [])
    told_done(partial(_write_report, report, form, limit, lambda _: where), where)
    if not report.is_whole:
        _tell_held(copy_id, report.outcomes)
        raise click.exceptions.Exit(3)


def _write_report(report: Report, form: str, limit: Limit, again: Call) -> None:
    if form == "json":
        parts, facts = [(each, None) for each in report.outcomes], {"revision": report.revision}
        write_data("outcomes", parts, _outcome_data, 0, limit, again, facts, least=0)
    else:
        write_lines(list(map(outcome_line, report.outcomes)), 0, limit, again, least=0)


def _outcome_data(outcome: Outcome, _: list[None]) -> dict[str, Any]:
    return outcome.to_data()


def _tell_held(copy_id: str, outcomes: Sequence[Outcome]) -> None:
    """Say what was not committed, and what to do about it."""
    held = [each for each in outcomes if each.is_held]
    what = f"{many(len(held), 'edited note')} not committed: still in the copy {copy_id}"
    hints = {
        "--on-conflict ours takes the copy's half, theirs the note's": _is_in(held, CONFLICT),
        "put right what was refused, and commit again": _is_in(held, REFUSED),
        "--allow-shrink lets a note shrink": any("shrink" in each.why for each in held),
    }
    output.complain(what, "; ".join(each for each, is_so in hints.items() if is_so))


def _is_in(outcomes: Sequence[Outcome], what: str) -> bool:
    return any(each.what == what for each in outcomes)


@work.command()
@click.argument("copy_id", metavar="ID")
def discard(copy_id: str) -> None:
    """Delete a copy; what was edited in it stays in the history.

    \b
    Example:
      orgctx work discard draft
    """
    Workcopies().discard(copy_id)


@work.command()
@option(
    "--older-than",
    default="30d",
    metavar="TIME",
    help="Not used for so long: a number and s, m, h, d or w.",
)
@budget_option()
def prune(older_than: str, **options: Any) -> None:
    """Discard the copies that nobody has used for long.

    Their names are printed, as many as fit the budget; all are discarded.

    \b
    Example:
      orgctx work prune --older-than 2w
    """
    limit, where = users_limit(options), shell_command("work log", [], [])
    names = [f"{printable(each)}\n" for each in Workcopies().prune(seconds(older_than))]
    told_done(partial(write_lines, names, 0, limit, lambda _: where, least=0), where)


@work.command()
@option("--limit", type=Whole(1), default=20, metavar="N", help="The newest so many.")
@option("--after", default="", metavar="REV", help="Go on behind it: the next page.")
@budget_option()
@format_option("text")
def log(limit: int, after: str, form: str, **options: Any) -> None:
    """List what was committed or discarded, the newest first.

    \b
    Example:
      orgctx work log --limit 5
    """
    rows, budget = Workcopies().log(limit + 1, after), users_limit(options)
    again = going_on("work log")
    most = min(limit, len(rows))
    shape = _log_json if form == "json" else _log_text

    def write(shown: int) -> str:
        is_all = shown == len(rows)
        return shape(rows[:shown], "" if is_all else again(rows[shown - 1][0][:DIGITS]))

    output.write(write(fit(write, most, budget, counter_of(budget))))


def _log_text(rows: Sequence[tuple[str, Record]], call: str) -> str:
    return "".join(log_line(*row) for row in rows) + (call and f"… and older ones: {call}\n")


def _log_json(rows: Sequence[tuple[str, Record]], call: str) -> str:
    data = [{"revision": revision, **record.to_data()} for revision, record in rows]
    return output.to_json({"log": data, "rest": [{"kind": "record", "call": call}] if call else []})


@work.command()
@click.argument("revision", metavar="REV[:PATH]")
@budget_option(READING_BUDGET)
@after_option
def show(revision: str, after: int, **options: Any) -> None:
    """Print a commit, or a version of a note.

    REV is of a commit, or of a version as `commit` and `read` name it. PATH is a note in a commit;
    base/, ours/ or theirs/ before it mean another version than the result. What does not fit the
    budget is counted in the last line, with the call that goes on.

    \b
    Example:
      orgctx work show 3fa9c1d2
    """
    limit, again = users_limit(options, READING_BUDGET), going_on("work show", revision)
    _write_text(Workcopies().show(revision), after, limit, again)
