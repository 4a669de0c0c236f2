"""Commands about collections: collections, init."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from typing import Any

import click

from ..store.store import Store
from ..views import arranging, collecting
from ..views.page import plain
from ..views.view import Limit
from . import output
from .options import (
    Whole,
    all_roots_option,
    budget_option,
    format_option,
    limit_of,
    no_sync_option,
    open_roots,
    option,
    tell_fault,
)
from .paging import Call, after_option, going_on, told_done, write_data, write_lines


@click.group(invoke_without_command=True)
@all_roots_option
@no_sync_option
@budget_option()
@after_option
@format_option("text")
@click.pass_context
def collections(
    context: click.Context,
    /,
    roots: Sequence[str],
    no_sync: bool,
    after: int,
    form: str,
    **options: Any,
) -> None:
    """Show the collections by rank, or move one.

    Collections are named in orgctx.toml; `collections.json` in the current folder may rank them
    otherwise. What --rank R searches is rank R alone. What does not fit the budget is counted in
    the last line, with the call that goes on; as JSON, --after passes over paths of collections.

    \b
    Example:
      orgctx collections --root ~/org
    """
    if context.invoked_subcommand is None:
        store, again = open_roots(roots, None, no_sync), going_on("collections")
        known, limit = collecting.collected(store, os.curdir), limit_of(store, options)
        _write(collecting.to_data(store, known), form, after, limit, again)
        _tell(store, known)


def _write(
    data: dict[str, Any], form: str, after: int, limit: Limit, again: Call, least: int = 1
) -> None:
    if form == "json":
        parts = [(row, path) for row in data.pop("collections") for path in row["paths"] or [None]]
        write_data("collections", parts, _row_data, after, limit, again, data, least)
    else:
        lines = collecting.to_text(data).splitlines(keepends=True)
        write_lines(lines, after, limit, again, least)


def _row_data(row: dict[str, Any], paths: list[str | None]) -> dict[str, Any]:
    return {**row, "paths": [each for each in paths if each is not None]}


def _tell(store: Store, known: collecting.Collections) -> None:
    """Tell what is wrong with the store, or with collections."""
    tell_fault(store)
    output.complain_of([*known.problems, *collecting.without_notes(store, known)])


@collections.command()
@click.argument("name")
@option("--to", type=Whole(0), metavar="R", help="Into rank R; the number after the last is new.")
@option("--before", metavar="NAME", help="Into a rank of its own, before that of NAME.")
@option("--after", metavar="NAME", help="Into a rank of its own, after that of NAME.")
@all_roots_option
@no_sync_option
@budget_option()
@format_option("text")
def move(
    name: str, roots: Sequence[str], no_sync: bool, budget: int | None, form: str, **place: Any
) -> None:
    """Move the collection NAME to another rank, and show them all.

    Written is the tier alone, in `collections.json` of the current folder if it is there, else in
    the orgctx.toml that has the collection.

    \b
    Example:
      orgctx collections move Projects --to 0
    """
    store = open_roots(roots, None, no_sync)
    limit = limit_of(store, {"budget": budget})
    known = arranging.move(store, os.curdir, name, **place)
    again, data = going_on("collections", but=["to", "before"]), collecting.to_data(store, known)
    told_done(partial(_write, data, form, 0, limit, again, least=0), "orgctx collections")
    _tell(store, known)


@click.command()
@option("--profile", metavar="NAME", help="The collections and tiers of [profiles.NAME].")
@option("--force", is_flag=True, help="Replace the file that is there.")
@all_roots_option
@budget_option()
def init(profile: str | None, force: bool, roots: Sequence[str], **options: Any) -> None:
    """Choose the collections that count in this folder.

    `collections.json` is written into the current folder. The collections are those of a profile in
    orgctx.toml, or all; names that are not there are skipped.

    \b
    Example:
      orgctx init --profile writing --root ~/org
    """
    store = open_roots(roots, None, no_sync=True, is_filled=False)
    where, limit = "orgctx collections", limit_of(store, options)
    known, problems = arranging.choose_profile(store, os.curdir, profile, force)
    lines = [f"tier {each.tier}: {plain(each.name)}\n" for each in known.all]
    told_done(partial(write_lines, lines, 0, limit, lambda _: where, least=0), where)
    output.complain_of(problems)
