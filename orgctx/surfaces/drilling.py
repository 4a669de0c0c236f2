"""Commands that go down into the notes: ls, tokens."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any

import click

from ..views import listing, weighing
from . import output
from .options import (
    Whole,
    a_file,
    budget_option,
    choice,
    format_option,
    given,
    inlinetasks,
    limit_of,
    no_sync_option,
    option,
    roots_option,
    scope_options,
    store_for,
    tell_fault,
    work_option,
)

_path = click.argument("path", required=False, default="", shell_complete=a_file)
_after = option("--after", default="", metavar="ADDRESS", help="Go on behind it: the next page.")


def _limit(text: str) -> Callable[..., Any]:
    return option("--limit", "lines", type=Whole(1), default=listing.LINES, metavar="N", help=text)


@click.command()
@_path
@_limit("Lines of one kind, at most.")
@choice("--kind", listing.KINDS, "List folders or files alone.")
@_after
@option("--long", is_flag=True, help="Totals of keywords, tags and dates below each line.")
@budget_option()
@roots_option
@work_option
@scope_options
@no_sync_option
@format_option("text")
@inlinetasks
def ls(path: str, form: str, **options: Any) -> None:
    """List what is one level below PATH.

    PATH is a root, a folder, a file, or a headline; without it, the roots are listed. Each line
    begins with what to list or to focus on next.

    \b
    Example:
      orgctx ls garden/ --root ~/org --long
    """
    store, paths = store_for([path] if path else [], options)
    limit = limit_of(store, options)
    shape = _json if form == "json" else None
    call = listing.shell_call(*given("after", "kind"))
    asked = (options["lines"], options["kind"], options["after"], call)
    found = listing.ls(store, "".join(paths), limit, *asked, shape, options["long"])
    output.write(_json(found) if form == "json" else found.text)
    tell_fault(store)


def _json(found: listing.Listing) -> str:
    return output.to_json(listing.to_data(found))


@click.command()
@_path
@_limit("Lines, at most.")
@_after
@budget_option()
@roots_option
@work_option
@scope_options
@no_sync_option
@format_option("text")
@inlinetasks
def tokens(path: str, form: str, **options: Any) -> None:
    """Tell where the tokens are, the heaviest first.

    PATH is as for `ls`; without it, all notes. The first line says what all of it costs, and what a
    view of it does within the budget. Below it is a tree of the heaviest folders, files and
    headlines, with the share of each.

    \b
    Example:
      orgctx tokens garden/ --root ~/org --limit 20
    """
    store, paths = store_for([path] if path else [], options)
    limit = limit_of(store, options)
    shape = _weighing_json if form == "json" else attrgetter("text")
    call = weighing.shell_call(*given("after"))
    asked = (options["lines"], options["after"], call)
    found = weighing.weigh(store, "".join(paths), limit, *asked, shape)
    output.write(shape(found))
    tell_fault(store)


def _weighing_json(found: weighing.Weighing) -> str:
    return output.to_json(weighing.to_data(found))
