"""The commands about working copies: work open, status, diff, commit, discard, prune, log, show."""

from __future__ import annotations

from collections.abc import Sequence

import click

from ..core.entry import many
from ..core.heading import printable
from ..workcopy import POLICIES, Workcopies, seconds
from ..workcopy.record import CONFLICT, REFUSED, Outcome
from ..workcopy.showing import log_line, outcome_line, status_line
from . import output
from .options import Whole, all_roots_option, format_option, option, roots_or_default


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
@format_option("text")
def diff(copy_id: str, form: str) -> None:
    """Print what was edited in a copy, as a patch.

    \b
    Example:
      orgctx work diff draft
    """
    rows = Workcopies().diff(copy_id)
    if form == "json":
        output.write(output.to_json({"edited": [each._asdict() for each in rows]}))
    else:
        output.write("".join(each.patch for each in rows))


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
@format_option("text")
def log(limit: int, form: str) -> None:
    """List what was committed or discarded, the newest first.

    \b
    Example:
      orgctx work log --limit 5
    """
    rows = Workcopies().log(limit)
    if form == "json":
        data = [{"revision": revision, **record.to_data()} for revision, record in rows]
        output.write(output.to_json({"log": data}))
    else:
        output.write("".join(log_line(*row) for row in rows))


@work.command()
@click.argument("revision", metavar="REV[:PATH]")
def show(revision: str) -> None:
    """Print a commit, or a version of a note.

    REV is of a commit, or of a version as `commit` and `read` name it. PATH is a note in a commit;
    base/, ours/ or theirs/ before it mean another version than the result.

    \b
    Example:
      orgctx work show 3fa9c1d2
    """
    output.write(Workcopies().show(revision))
