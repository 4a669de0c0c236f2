"""Commands about collections: collections, init."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import click

from ..store.store import Store
from ..views import arranging, collecting
from . import output
from .options import (
    Whole,
    all_roots_option,
    format_option,
    no_sync_option,
    open_roots,
    option,
    tell_fault,
)


@click.group(invoke_without_command=True)
@all_roots_option
@no_sync_option
@format_option("text")
@click.pass_context
def collections(context: click.Context, roots: Sequence[str], no_sync: bool, form: str) -> None:
    """Show the collections by rank, or move one.

    Collections are named in orgctx.toml; `collections.json` in the current folder may rank them
    otherwise. What --rank R searches is rank R alone.

    \b
    Example:
      orgctx collections --root ~/org
    """
    if context.invoked_subcommand is None:
        store = open_roots(roots, None, no_sync)
        _show(store, form, collecting.collected(store, os.curdir))


def _show(store: Store, form: str, known: collecting.Collections) -> None:
    data = collecting.to_data(store, known)
    output.write(output.to_json(data) if form == "json" else collecting.to_text(data))
    tell_fault(store)
    output.complain_of([*known.problems, *collecting.without_notes(store, known)])


@collections.command()
@click.argument("name")
@option("--to", type=Whole(0), metavar="R", help="Into rank R; the number after the last is new.")
@option("--before", metavar="NAME", help="Into a rank of its own, before that of NAME.")
@option("--after", metavar="NAME", help="Into a rank of its own, after that of NAME.")
@all_roots_option
@no_sync_option
@format_option("text")
def move(name: str, roots: Sequence[str], no_sync: bool, form: str, **place: Any) -> None:
    """Move the collection NAME to another rank, and show them all.

    Written is the tier alone, in `collections.json` of the current folder if it is there, else in
    the orgctx.toml that has the collection.

    \b
    Example:
      orgctx collections move Projects --to 0
    """
    store = open_roots(roots, None, no_sync)
    _show(store, form, arranging.move(store, os.curdir, name, **place))


@click.command()
@option("--profile", metavar="NAME", help="The collections and tiers of [profiles.NAME].")
@option("--force", is_flag=True, help="Replace the file that is there.")
@all_roots_option
def init(profile: str | None, force: bool, roots: Sequence[str]) -> None:
    """Choose the collections that count in this folder.

    `collections.json` is written into the current folder. The collections are those of a profile in
    orgctx.toml, or all; names that are not there are skipped.

    \b
    Example:
      orgctx init --profile writing --root ~/org
    """
    store = open_roots(roots, None, no_sync=True, is_filled=False)
    known, problems = arranging.choose_profile(store, os.curdir, profile, force)
    for each in known.all:
        output.write(f"tier {each.tier}: {each.name}\n")
    output.complain_of(problems)
