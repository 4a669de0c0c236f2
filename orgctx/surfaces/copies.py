"""The commands about working copies: work open, status, diff, commit, discard, prune, log, show."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import Any

import click

from ..config import load, users_file
from ..core.entry import many
from ..core.heading import printable
from ..tokens import counter
from ..views.page import fit, lines_in
from ..views.shell import shell_command
from ..views.view import BUDGET, READING_BUDGET, Limit
from ..workcopy import POLICIES, Workcopies, seconds
from ..workcopy.port import Edited
from ..workcopy.record import CONFLICT, REFUSED, Outcome, Record
from ..workcopy.showing import DIGITS, log_line, outcome_line, status_line
from . import output
from .options import (
    Whole,
    all_roots_option,
    budget_option,
    format_option,
    given,
    limit_by,
    option,
    roots_or_default,
)

Call = Callable[[str], str]
"""How a call that goes on is written: (behind what) -> the call."""
_after = option(
    "--after", type=Whole(0), default=0, metavar="N", help="Pass over N lines: the next page."
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
    for problem in copy.problems:
        output.complain(f"{problem.path}: {problem.what}", problem.hint)
    output.write(f"{copy.folder}\n")


@work.command()
@format_option("text")
def status(form: str) -> None:
    """List the copies: name, edited notes, folder.

    \b
    Example:
      orgctx work status
    """
    rows = Workcopies().status()
    if form == "json":
        data = [{**each._asdict(), "folder": str(each.folder)} for each in rows]
        output.write(output.to_json({"copies": data}))
    else:
        output.write("".join(map(status_line, rows)))


@work.command()
@click.argument("copy_id", metavar="ID")
@budget_option()
@_after
@format_option("text")
def diff(copy_id: str, after: int, form: str, **options: Any) -> None:
    """Print what was edited in a copy, as a patch.

    What does not fit the budget is counted in the last line, with the call that goes on.

    \b
    Example:
      orgctx work diff draft
    """
    rows, limit = Workcopies().diff(copy_id), _limit(options)
    again = _going_on("diff", copy_id)
    if form == "json":
        output.write(_diff_json(rows, after, limit, again))
    else:
        _write_lines("".join(each.patch for each in rows), after, limit, again)


def _diff_json(rows: Sequence[Edited], after: int, limit: Limit, again: Call) -> str:
    """As many lines of the patches as fit, each with its note."""
    lines = [(each, line) for each in rows for line in _lines(each.patch)][after:]

    def write(shown: int) -> str:
        kept = groupby(lines[:shown], key=itemgetter(0))
        edited = [
            {**each._asdict(), "patch": "".join(line for _, line in group)} for each, group in kept
        ]
        more = len(lines) - shown
        rest = {"kind": "line", "more": more, "call": again(str(after + shown))}
        return output.to_json({"edited": edited, "rest": [rest] if more else []})

    return write(fit(write, len(lines), limit, _counter(limit)))


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def _write_lines(text: str, after: int, limit: Limit, again: Call) -> None:
    """Print what fits; what does not is told twice, as the text may be on its way into a file."""
    call = partial(_behind, again, after)
    shown, rest = lines_in(_lines(text)[after:], limit, _counter(limit), call)
    output.write(shown + "".join(f"{each}\n" for each in rest))
    if rest:
        output.complain("not all of it fits the budget", "give a larger --budget, or page on")


def _behind(again: Call, after: int, shown: int) -> str:
    return again(str(after + shown))


def _limit(options: dict[str, Any], budget: int = BUDGET) -> Limit:
    return limit_by([load(users_file(), is_users=True)], options, budget)


def _counter(limit: Limit) -> Callable[[str], int]:
    return counter(limit.unit, limit.encoding)


def _going_on(name: str, *arguments: str) -> Call:
    """The running command, going on behind a place."""

    def call(after: str) -> str:
        return shell_command(f"work {name}", arguments, [*given("after"), "--after", after])

    return call


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
@format_option("text")
def commit(copy_id: str, message: str, on_conflict: str, allow_shrink: bool, form: str) -> None:
    """Bring what was edited in a copy into the notes.

    A line for each path says how. What others edited meanwhile is merged, entry by entry. Outcomes:
    written, merged, deleted, unchanged; conflict, refused.

    \b
    Example:
      orgctx work commit draft -m 'Close what is done'
    """
    report = Workcopies().commit(copy_id, message, on_conflict, allow_shrink)
    if form == "json":
        rows = [each.to_data() for each in report.outcomes]
        output.write(output.to_json({"revision": report.revision, "outcomes": rows}))
    else:
        output.write("".join(map(outcome_line, report.outcomes)))
    if not report.is_whole:
        _tell_held(copy_id, report.outcomes)
        raise click.exceptions.Exit(3)


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
def prune(older_than: str) -> None:
    """Discard the copies that nobody has used for long.

    Their names are printed.

    \b
    Example:
      orgctx work prune --older-than 2w
    """
    for each in Workcopies().prune(seconds(older_than)):
        output.write(f"{printable(each)}\n")


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
    rows, budget, again = Workcopies().log(limit + 1, after), _limit(options), _going_on("log")
    most = min(limit, len(rows))
    shape = _log_json if form == "json" else _log_text

    def write(shown: int) -> str:
        is_all = shown == len(rows)
        return shape(rows[:shown], "" if is_all else again(rows[shown - 1][0][:DIGITS]))

    output.write(write(fit(write, most, budget, _counter(budget))))


def _log_text(rows: Sequence[tuple[str, Record]], call: str) -> str:
    return "".join(log_line(*row) for row in rows) + (call and f"… and older ones: {call}\n")


def _log_json(rows: Sequence[tuple[str, Record]], call: str) -> str:
    data = [{"revision": revision, **record.to_data()} for revision, record in rows]
    return output.to_json({"log": data, "rest": [{"kind": "record", "call": call}] if call else []})


@work.command()
@click.argument("revision", metavar="REV[:PATH]")
@budget_option(READING_BUDGET)
@_after
def show(revision: str, after: int, **options: Any) -> None:
    """Print a commit, or a version of a note.

    REV is of a commit, or of a version as `commit` and `read` name it. PATH is a note in a commit;
    base/, ours/ or theirs/ before it mean another version than the result. What does not fit the
    budget is counted in the last line, with the call that goes on.

    \b
    Example:
      orgctx work show 3fa9c1d2
    """
    limit, again = _limit(options, READING_BUDGET), _going_on("show", revision)
    _write_lines(Workcopies().show(revision), after, limit, again)
