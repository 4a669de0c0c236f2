"""Commands that find the way: grep, read, cite."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from operator import attrgetter
from typing import Any

import click

from ..cites import STYLES, Cites, normalised
from ..errors import Stale, Unreadable
from ..store.store import Store
from ..tokens import UNITS
from ..views import reading, searching
from ..views.query import Query
from ..views.searching import Found
from ..views.view import READING_BUDGET, Limit, unsaved
from . import output
from .options import (
    Whole,
    a_file,
    budget_option,
    choice,
    encoding_option,
    format_option,
    given,
    inlinetasks,
    limit_of,
    no_sync_option,
    option,
    roots_option,
    scope_options,
    standard_input,
    store_for,
    tell_fault,
    work_option,
)


@click.command()
@click.argument("pattern", default="")
@click.argument("path", default="", shell_complete=a_file)
@option("--regexp", is_flag=True, help="PATTERN is a regular expression, in RE2's syntax.")
@option("--ignore-case", is_flag=True, help="Letters match in any case.")
@option("--todo", multiple=True, metavar="KEYWORD", help="Entries with this keyword; repeatable.")
@option("--tag", multiple=True, metavar="TAG", help="Entries with this tag, inherited ones too.")
@option("--property", multiple=True, metavar="K=V", help="Entries with this property, or just K.")
@option("--limit", type=Whole(1), default=searching.ENTRIES, metavar="N", help="Entries a page.")
@option("--after", default="", metavar="ADDRESS", help="Go on behind this place.")
@budget_option()
@format_option("text")
@roots_option
@work_option
@scope_options
@no_sync_option
@inlinetasks
def grep(pattern: str, path: str, form: str, **options: Any) -> None:
    """Find lines by what stands in them, and show them by entry.

    PATTERN is literal, or an expression with --regexp; it may be left out or empty if there is a
    filter: a keyword, a tag, a property. One that begins with a dash comes behind `--`. PATH is a
    folder, a file, or the address of a node, whose subtree is searched; by default all notes are.
    Of an entry the first 5 hit lines are shown; if PATH is its address, all. Exit status 1 if
    nothing is found.

    \b
    Example:
      orgctx grep apple garden/ --todo TODO --root ~/org
    """
    store, paths = store_for([path] if path else [], options)
    filters = {name: options[name] for name in ("regexp", "ignore_case", "todo", "tag", "property")}
    query = Query(pattern, "".join(paths), **filters)
    page = searching.Page(options["limit"], options["after"])
    limit = limit_of(store, options)
    call = searching.shell_call((pattern, path), *given("after"))
    shape = _json if form == "json" else partial(searching.to_text, call=call)
    found = searching.search(store, query, page, limit, shape)
    output.write(shape(found))
    tell_fault(store)
    edited = unsaved(store, (each.path for each in found.entries))
    output.complain_of([*found.unreadable, *edited])
    if not found.entries:
        output.complain(*_nothing(query, page, found))
        raise click.exceptions.Exit(1)


def _json(found: Found) -> str:
    return output.to_json(searching.to_data(found))


def _nothing(query: Query, page: searching.Page, found: Found) -> tuple[str, str]:
    """What to say if nothing is found, and what to try."""
    what = f"nothing found for {query.pattern!r}" if query.pattern else "no entry found"
    where = f" in {query.path}" if query.path else ""
    behind = f" behind {page.after}" if page.after else ""
    if found.near:
        return what + where + behind, f"there is a title {' or '.join(map(repr, found.near))}"
    if not query.pattern:
        return what + where + behind, "try fewer filters"
    hint = "" if query.ignore_case else ", or --ignore-case"
    return what + where + behind, f"try another word{hint}"


TRIES = 100
"""How often a read begins anew because another one has written the same registry meanwhile."""
PROBLEMS = 20
"""How many problems of an answer are told one by one."""


@click.command()
@click.argument("address", shell_complete=a_file)
@option("--subtree", is_flag=True, help="All that is below, too; of a file, all of it.")
@option("--lines", metavar="A-B", help="These lines of a file.")
@budget_option(READING_BUDGET)
@choice("--unit", UNITS, "What the budget counts.")
@encoding_option
@option("--cites", metavar="FILE", help="Where the numbers of what is read are kept, for `cite`.")
@format_option("text")
@roots_option
@work_option
@scope_options
@no_sync_option
@inlinetasks
def read(address: str, form: str, **options: Any) -> None:
    """Print the true lines of an entry, each with its number.

    ADDRESS is as for `focus`; of a file, it is the text above the first headline. The first line
    says what it is: number, path, title, revision, lines. An answer may cite `[1:L12-L19]`.

    \b
    Example:
      orgctx read garden/trees.org --lines 12-40 --cites cites.json
    """
    store, addresses = store_for([address], options)
    shape = _reading_json if form == "json" else attrgetter("text")
    limit = limit_of(store, options, READING_BUDGET)
    found = _read(store, addresses[0], limit, options, shape)
    output.write(shape(found))
    tell_fault(store)
    output.complain_of(unsaved(store, [found.path]))


def _reading_json(found: reading.Reading) -> str:
    return output.to_json(reading.to_data(found))


def _read(
    store: Store,
    address: str,
    limit: Limit,
    options: dict[str, Any],
    shape: Callable[[reading.Reading], str],
) -> reading.Reading:
    """Read, and write down that it was read before it is shown."""
    call = reading.shell_call(*given("subtree", "lines"))
    asked, how = (options["subtree"], options["lines"]), (call, shape)
    if not options["cites"]:
        return reading.read(store, address, limit, *asked, None, *how)
    for _ in range(TRIES):
        cites = Cites.load(options["cites"], is_new_allowed=True)
        found = reading.read(store, address, limit, *asked, cites, *how)
        if cites.save(options["cites"]):
            return found
    raise Stale(f"{options['cites']}: it changes again and again", "try again", options["cites"])


@click.command()
@option("--cites", required=True, metavar="FILE", help="The file that `read` was given.")
@choice("--style", STYLES, "Where links go: in the cite's place, or below the answer.")
def cite(cites: str, style: str) -> None:
    """Turn the cites of an answer, from standard input, into links.

    `[1:L12-L19]` cites lines of what `read` gave the number 1. What is malformed, or of a
    number that no file has, is removed and named on standard error; then the exit status is 3.

    \b
    Example:
      orgctx cite --cites cites.json --style footnote < answer.org
    """
    text, problems = normalised(_input(), Cites.load(cites), style)
    output.write(text)
    for each in problems[:PROBLEMS]:
        what = "removed" if each.is_removed else "taken for its last line"
        output.complain(f"line {each.line}: {each.cite}: {each.what}; {what}")
    if len(problems) > PROBLEMS:
        output.complain(f"and {len(problems) - PROBLEMS} cites more")
    if any(each.is_removed for each in problems):
        raise click.exceptions.Exit(3)


def _input() -> str:
    """Standard input. Raises: Unreadable."""
    try:
        return standard_input().decode()
    except UnicodeDecodeError as error:
        raise Unreadable("standard input: not UTF-8 text", "save it as UTF-8") from error
