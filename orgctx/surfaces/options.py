"""Options that commands share, and where they say to look."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

import click
from click.core import ParameterSource

from ..config import Config, load, users_file
from ..errors import OrgctxError
from ..store import address as naming
from ..store.opening import open_store
from ..store.roots import is_file
from ..store.store import Store
from ..tokens import DEFAULT_ENCODING, ENCODINGS, UNITS
from ..views.view import BUDGET, EXPLAIN_BUDGET, IDS, Limit
from . import output

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from ..store.sync import Progress
    from ..views.collecting import Collections

ROOTS = "ORGCTX_ROOT"


class Whole(click.ParamType[int]):
    """A whole number from `least` up; the message says so."""

    name = "number"

    def __init__(self, least: int) -> None:
        self.least = least

    def convert(
        self, value: str | int, param: click.Parameter | None, ctx: click.Context | None
    ) -> int:
        try:
            number = int(value)
        except ValueError:
            number = self.least - 1
        if number < self.least:
            self.fail(f"give a whole number from {self.least} up, not {value}", param, ctx)
        return number


def _names(kind: str) -> Callable[..., list[CompletionItem]]:
    """What a shell is to complete: names of files, or of folders, which it knows best itself."""

    def complete(
        _context: click.Context, _parameter: click.Parameter, begun: str
    ) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem  # only a shell that completes pays

        return [CompletionItem(begun, type=kind)]

    return complete


a_file, a_folder = _names("file"), _names("dir")
_COMPLETED = {"FILE": a_file, "FILE[:LINE]": a_file, "ADDRESS": a_file, "DIR": a_folder}
"""How the value of an option is completed, by what help calls it."""


def option(*names: str, **settings: Any) -> Callable[..., Any]:
    """As click.option: a default that says something is shown, and names of files are completed."""
    shown = settings.get("default") not in (None, "")
    completed = _COMPLETED.get(settings.get("metavar", ""))
    return click.option(*names, show_default=shown, shell_complete=completed, **settings)


def choice(name: str, choices: Sequence[str], text: str) -> Callable[..., Any]:
    """An option that takes one of some words, by default the first of them."""
    return option(name, type=click.Choice(choices), default=choices[0], help=text)


inlinetasks = option(
    "--inlinetask-min-level",
    type=Whole(2),
    metavar="N",
    help="Headlines of N stars or more are text, as with org-inlinetask.  [default: none are]",
)


def budget_option(budget: int = BUDGET) -> Callable[..., Any]:
    """What an answer may cost. budget: the program's own for this command."""
    text = f"The hard limit.  [default: {budget}]"
    return option("--budget", type=Whole(1), metavar="N", help=text)


def _roots_option(default: str) -> Callable[..., Any]:
    return option(
        "--root",
        "roots",
        multiple=True,
        metavar="DIR",
        help=f"A folder of notes; repeatable.  [default: {default}]",
    )


roots_option = _roots_option(f"the address's own file, or {ROOTS}")
all_roots_option = _roots_option(f"those of {ROOTS}, or of orgctx.toml")
"""For a command that no address tells where to look."""
encoding_option = option(
    "--encoding",
    type=click.Choice(ENCODINGS),
    help=f"How tokens are counted.  [default: {DEFAULT_ENCODING}]",
)
work_option = option(
    "--work", metavar="COPY", help="Answer from this working copy, see orgctx work."
)
no_sync_option = option(
    "--no-sync", is_flag=True, help="Answer from the store as it is, without looking for changes."
)


stdin_option = option(
    "--stdin-path",
    metavar="FILE[:LINE]",
    help="FILE reads as standard input does, as in an editor; FILE:LINE is an ADDRESS, too.",
)


def format_option(*forms: str) -> Callable[..., Any]:
    """In which form to answer; the first is the usual one. `--json` is short for one of them."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        short = click.option("--json", "form", flag_value="json", help="As --format json.")
        choices = click.Choice([*forms, "json"])
        whole = option("--format", "form", type=choices, default=forms[0], help="What to print.")
        return cast("Callable[..., Any]", whole(short(command)))

    return decorate


def scope_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """What confines an answer to some collections."""
    rank = option("--rank", type=Whole(0), metavar="R", help="Look only in rank R of collections.")
    named = option(
        "--collection", multiple=True, metavar="NAME", help="Look only in it; repeatable."
    )
    return cast("Callable[..., Any]", rank(named(command)))


def view_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """What all commands take whose answer is a view."""
    options = (
        budget_option(),
        choice("--unit", UNITS, "What the budget counts."),
        encoding_option,
        choice("--ids", IDS, "What skeletons show of IDs."),
        roots_option,
        work_option,
        no_sync_option,
        scope_options,
        format_option("org"),
        option("--report", is_flag=True, help="Print what is shown and left out to stderr."),
        option("--explain", is_flag=True, help="Print why, not the view: costs, ranks, reasons."),
        option(
            "--explain-budget",
            type=Whole(1),
            default=EXPLAIN_BUDGET,
            metavar="N",
            help="The hard limit of --explain, in tokens.",
        ),
        option(
            "--html",
            metavar="FILE",
            help="Write a page that draws the view in its memex; - is standard output.",
        ),
        inlinetasks,
    )
    for decorate in reversed(options):
        command = decorate(command)
    return command


def store_for(addresses: Sequence[str], options: dict[str, Any]) -> tuple[Store, list[str]]:
    """Where to look, and the addresses there; confined to what --rank or --collection name.

    The working copy or the roots that were named; else the addresses' own files, which are all of
    the default roots' notes or stand alone; else the default roots, which are ORGCTX_ROOT's or
    those in orgctx.toml.
    """
    edited = None
    if (path := options.get("stdin_path")) is not None:
        edited, is_address = _edited_file(path)
        addresses = [path, *addresses] if is_address or not addresses else addresses
    store, found = _whole_store_for(addresses, options, edited)
    if edited is not None:
        name = edited if options["roots"] else store.holds(edited) or edited
        store = store.edited(name, standard_input())
    if options["rank"] is None and not options["collection"]:
        return store, found
    from ..views.collecting import confined  # only who asks for it pays

    return confined(store, told_collections(store), options["rank"], options["collection"]), found


def _edited_file(path: str) -> tuple[str, bool]:
    """The file that --stdin-path names, and whether a line in it, too.

    A file of that very name comes before one with a line behind it.
    """
    position = None if is_file(path) else naming.POSITION.match(path)
    return (position[1], True) if position else (path, False)


def standard_input() -> bytes:
    """All of it; nothing if it is closed."""
    return sys.stdin.buffer.read() if sys.stdin else b""


def _whole_store_for(
    addresses: Sequence[str], options: dict[str, Any], edited: str | None
) -> tuple[Store, list[str]]:
    """As `store_for`, before anything is confined. edited: the file of --stdin-path, if any."""
    level, no_sync = options["inlinetask_min_level"], options["no_sync"]
    if options["work"] is not None:
        from ..workcopy import store_in  # only who works in a copy pays

        return store_in(options["work"], options["roots"], level, no_sync), list(addresses)
    if options["roots"] or not addresses:
        return open_roots(options["roots"], level, no_sync), list(addresses)
    own = {each: naming.lone_file(_plain(each), edited) for each in addresses}
    config = load(users_file(), is_users=True)
    if variable_roots() or config.roots:
        store = open_roots([], level, no_sync)
        named = [_named(store, each, file) for each, file in own.items()]
        if None not in named:
            return store, [each for each in named if each]
    files = [file for file in (edited, *own.values()) if file is not None]
    for each, file in own.items():
        if file is None and (not files or naming.looks_like_file(each)):
            raise naming.nowhere(each)
    return Store.of_files(dict.fromkeys(files), level, config), list(addresses)


def _plain(address: str) -> str:
    """An address without the brackets of a link; its `file:` may be part of a file's name."""
    return naming.unlinked(address) if address.startswith("[[") else address


def _named(store: Store, address: str, file: str | None) -> str | None:
    """An address as the store names it; None if the file it begins with is not there."""
    if file is None:
        return address
    path = store.holds(file)
    return path and path + _plain(address).removeprefix("file:").removeprefix(file)


def limit_of(store: Store, options: dict[str, Any], budget: int = BUDGET) -> Limit:
    """The options that were given, else those of orgctx.toml, else the program's own.

    budget: the program's own for this command.
    """
    return limit_by([*store.configs.values(), store.config], options, budget)


def limit_by(configs: Sequence[Config], options: dict[str, Any], budget: int = BUDGET) -> Limit:
    """As `limit_of`, where no store is asked. configs: the settings that hold, first ones first."""
    given = {name: options.get(name) for name in ("budget", "unit", "encoding", "ids")}
    for name in ("budget", "encoding"):
        if given[name] is None:
            given[name] = next(filter(None, (getattr(each, name) for each in configs)), None)
    known = {name: value for name, value in given.items() if value is not None}
    return Limit(**{"budget": budget, **known})


def given(*but: str) -> list[str]:
    """The options of the running command as they were given, for the call that goes on.

    but: names of those that it has otherwise.
    """
    context, words, seen = click.get_current_context(), list[str](), {*but}
    for each in context.command.params:
        name = each.name or ""
        is_given = context.get_parameter_source(name) is ParameterSource.COMMANDLINE
        if isinstance(each, click.Option) and is_given and name not in seen:
            seen.add(name)  # --format and --json are one
            value = context.params[name]
            for one in value if each.multiple else [value]:
                words += [max(each.opts, key=len), *([] if each.is_flag else [str(one)])]
    return words


def variable_roots() -> list[str]:
    """The roots that ORGCTX_ROOT names, if any."""
    return [root for root in os.environ.get(ROOTS, "").split(os.pathsep) if root]


def open_roots(
    roots: Sequence[str],
    inlinetask_min_level: int | None,
    no_sync: bool,
    progress: Progress | None = None,
    is_filled: bool = True,
) -> Store:
    """A store of these roots, or of the default ones. is_filled: see `open_store`.

    progress: is told of a first sync; by default whoever called the program is.
    """
    named = roots_or_default(roots)
    try:
        with output.progress("reading notes") as told:
            return open_store(named, inlinetask_min_level, no_sync, progress or told, is_filled)
    except OrgctxError as error:
        if roots or not variable_roots():
            raise
        raise type(error)(f"{ROOTS}: {error.message}", error.hint, error.where) from error


def roots_or_default(roots: Sequence[str]) -> Sequence[str]:
    """The roots that were named, else those of ORGCTX_ROOT."""
    return roots or variable_roots()


def told_collections(store: Store) -> Collections:
    """The collections in this workspace; what of them could not be read is told."""
    from ..views.collecting import collected  # only who asks for it pays

    known = collected(store, os.curdir)
    output.complain_of(known.problems)
    return known


def tell_fault(store: Store) -> None:
    """Tell where the answer is from, if it is not from the store as it was to be."""
    if store.was_empty:
        output.complain(
            "the store knew nothing of these notes", "they were read in spite of --no-sync"
        )
    if store.fault:
        output.complain(
            f"no store: {store.fault}", "the notes are read instead, which takes longer"
        )
