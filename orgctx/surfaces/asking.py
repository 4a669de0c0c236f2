"""The command that routes a question: context."""

from __future__ import annotations

from typing import Any

import click

from ..views import bundle
from ..views.context import MODES, Bundle, narrowed, shell_call
from ..views.context import context as ask
from ..views.view import CONTEXT_BUDGET
from . import output
from .options import (
    all_roots_option,
    budget_option,
    choice,
    format_option,
    given,
    inlinetasks,
    limit_of,
    no_sync_option,
    option,
    scope_options,
    store_for,
    tell_fault,
    told_collections,
    work_option,
)


@click.command()
@click.argument("query")
@budget_option(CONTEXT_BUDGET)
@choice("--mode", MODES, "What to look for.")
@option(
    "--semantic/--no-semantic",
    default=None,
    help="Order hits by what they mean, too: wants pip install 'orgctx[semantic]'.",
)
@option("--explain", is_flag=True, help="Tell how each score comes about.")
@format_option("org", "md")
@all_roots_option
@work_option
@scope_options
@no_sync_option
@inlinetasks
def context(query: str, form: str, **options: Any) -> None:
    """Find where the notes answer QUERY, and say what to read.

    What is printed is a document for a prompt. Nothing in QUERY is syntax: it is words, names or
    IDs. Where the notes do not seem to hold an answer, the bundle says `no match`.

    \b
    Example:
      orgctx context 'how do I prune an apple tree?' --root ~/org
    """
    every, _ = store_for([], {**options, "rank": None, "collection": ()})
    known = told_collections(every)
    store, searched = narrowed(every, known, options["rank"], options["collection"])
    limit = limit_of(store, options, CONTEXT_BUDGET)
    shape = {"org": bundle.to_org, "md": bundle.to_markdown, "json": _json}[form]
    explain, mode, semantic = options["explain"], options["mode"], options["semantic"]
    call = shell_call(*given("budget", "mode", "explain", "semantic", "form"))
    found = ask(store, query, limit, mode, shape, explain, searched, call, semantic)
    output.write(shape(found))
    tell_fault(store)


def _json(found: Bundle) -> str:
    return output.to_json(bundle.to_data(found))
