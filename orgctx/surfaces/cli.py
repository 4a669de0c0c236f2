"""The command line: parse arguments, call views, show errors."""

from __future__ import annotations

import os
import sqlite3
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from .. import __version__
from ..config import load, users_file
from ..core.lens import BACKGROUND
from ..core.model import View
from ..errors import OrgctxError
from ..store import address as addresses_
from ..store.indexed import IndexedStore
from ..store.opening import database_file, open_store
from ..store.store import Store
from ..tokens import ENCODINGS, UNITS
from ..views import focus as focusing
from ..views import outlines
from ..views import view as viewing
from . import output

BUG = 70
ROOTS = "ORGCTX_ROOT"


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="orgctx", message="%(prog)s %(version)s")
def cli() -> None:
    """Show Org notes to a language model: the right slice, exactly within a token budget.

    Exit status: 0 done, 1 something named is not there or cannot be read, 2 usage, 3 the budget is
    too small, 70 a fault of the program.
    """


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


def _option(*names: str, **settings: Any) -> Callable[..., Any]:
    return click.option(*names, show_default="default" in settings, **settings)


def _choice(name: str, choices: Sequence[str], text: str) -> Callable[..., Any]:
    return _option(name, type=click.Choice(choices), default=choices[0], help=text)


_inlinetasks = _option(
    "--inlinetask-min-level",
    type=Whole(2),
    metavar="N",
    help="Headlines of N stars or more are text, as with org-inlinetask.  [default: none are]",
)
_roots = _option(
    "--root",
    "roots",
    multiple=True,
    metavar="DIR",
    help=f"A folder of notes; repeatable.  [default: the address's own file, or {ROOTS}]",
)


_no_sync = _option(
    "--no-sync", is_flag=True, help="Answer from the store as it is, without looking for changes."
)
_json = _option("--json", "as_json", is_flag=True, help="Print JSON.")


def _view_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """What all commands take whose answer is a view."""
    options = (
        _option("--budget", type=Whole(1), metavar="N", help="The hard limit.  [default: 4000]"),
        _choice("--unit", UNITS, "What the budget counts."),
        _option(
            "--encoding",
            type=click.Choice(ENCODINGS),
            help="How tokens are counted.  [default: o200k_base]",
        ),
        _choice("--ids", viewing.IDS, "What skeletons show of IDs."),
        _roots,
        _no_sync,
        _option(
            "--format",
            "form",
            type=click.Choice(("org", "json")),
            default="org",
            help="What to print.",
        ),
        _option("--report", is_flag=True, help="Print what is shown and left out to stderr."),
        _inlinetasks,
    )
    for option in reversed(options):
        command = option(command)
    return command


@cli.command()
@click.argument("addresses", nargs=-1, required=True, metavar="ADDRESS...")
@_choice("--lens", focusing.LENSES, "How far to look around the target.")
@_option(
    "--background",
    type=Whole(0),
    default=BACKGROUND,
    metavar="N",
    help="Level-1 headlines of the rest of the file, at most.",
)
@_view_options
def focus(addresses: Sequence[str], lens: str, background: int, **options: Any) -> None:
    """Show nodes in full, their surroundings as title and ID, the rest as counts.

    ADDRESS is FILE:LINE, FILE::*TITLE, FILE::OUTLINE/PATH, FILE::#CUSTOM_ID, FILE, #CUSTOM_ID, or
    an ID (id:… or bare; the first 6 characters are enough where they are unique). Several share one
    budget and one document.
    """
    store, addresses = _store(addresses, options)
    limit = _limit(store, options)
    _show(store, focusing.focus(store, addresses, limit, lens, background), options)


@cli.command()
@click.argument("addresses", nargs=-1, metavar="[ADDRESS]...")
@_view_options
def overview(addresses: Sequence[str], **options: Any) -> None:
    """Show all notes at low resolution: folders, files, headlines; what is active first.

    ADDRESS is as for `focus`; such a node is shown with its own text. What is active says
    orgctx.toml; else it is what has an open TODO keyword, the newest files first.
    """
    from ..views.overview import survey  # a focus should not pay for it

    store, addresses = _store(addresses, options)
    _show(store, survey(store, addresses, _limit(store, options)), options)


def _show(store: Store, view: View, options: dict[str, Any]) -> None:
    """Print a view."""
    is_text = options["form"] == "org"
    output.write(view.text if is_text else output.to_json(viewing.to_data(view)))
    _tell_fault(store)
    if options["report"]:
        from .report import report as print_report  # rich, only when asked for

        print_report(view)


@cli.command()
@click.argument("paths", nargs=-1, required=True, metavar="FILE-OR-FOLDER...")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a headline.")
@_inlinetasks
def outline(paths: Sequence[str], as_json: bool, inlinetask_min_level: int | None) -> None:
    """List every headline of files and folders, as Emacs reads them."""
    found = outlines.Outlines(paths, inlinetask_min_level)
    for name, tree in found:
        rows = outlines.rows(name, tree)
        output.write("".join(map(output.to_json if as_json else output.to_line, rows)))
    for problem in found.passed_over + found.unreadable:
        output.complain(f"{problem.path}: {problem.what}", problem.hint)
    if found.unreadable:
        raise click.exceptions.Exit(1)


@cli.command("sync")
@click.argument("roots", nargs=-1, metavar="[ROOT]...")
@_option("--full", is_flag=True, help="Read every file again.")
@_json
@_inlinetasks
def sync_roots(
    roots: Sequence[str], full: bool, as_json: bool, inlinetask_min_level: int | None
) -> None:
    """Bring the store up to date: read what changed in the notes since the last time.

    ROOT is a folder of notes; by default those of ORGCTX_ROOT, or of orgctx.toml.
    """
    from ..views import syncing  # a focus should not pay for it

    store = _open(roots, inlinetask_min_level, no_sync=True)
    _tell_fault(store)
    if not isinstance(store, IndexedStore):
        raise click.exceptions.Exit(1)
    with output.progress("reading notes") as progress:
        report = store.sync(full, progress)
    output.write(output.to_json(syncing.to_data(report)) if as_json else syncing.to_text(report))


@cli.command()
@click.argument("roots", nargs=-1, metavar="[ROOT]...")
@_json
@_no_sync
@_inlinetasks
def status(
    roots: Sequence[str], as_json: bool, no_sync: bool, inlinetask_min_level: int | None
) -> None:
    """Tell what is known: roots, files, headlines, IDs, what is wrong, and the store's place."""
    from ..views import syncing

    store = _open(roots, inlinetask_min_level, no_sync)
    store.freshen()
    _tell_fault(store)
    data = syncing.status(store)
    output.write(output.to_json(data) if as_json else syncing.status_text(data))


@cli.command()
@click.argument("roots", nargs=-1, metavar="[ROOT]...")
@_inlinetasks
def watch(roots: Sequence[str], inlinetask_min_level: int | None) -> None:
    """Keep the store current while this runs; stop it with C-c.

    Prints a line for each time that something changed.
    """
    from ..views import syncing

    store = _open(roots, inlinetask_min_level, no_sync=True)
    _tell_fault(store)
    if not isinstance(store, IndexedStore):
        raise click.exceptions.Exit(1)
    for report in store.watch():
        output.write(syncing.to_text(report))


@cli.command()
def emacs() -> None:
    """Print where orgctx.el is, and the lines that load it."""
    from shutil import which  # a focus should not pay for it

    folder = Path(__file__).parent / "emacs"
    program = which(sys.argv[0]) or Path(sys.executable).with_name("orgctx")
    output.write(output.emacs_lines(folder, Path(program).absolute()))


def _store(addresses: Sequence[str], options: dict[str, Any]) -> tuple[Store, list[str]]:
    """Where to look, and the addresses there.

    The roots that were named; else the addresses' own files, which are all of the default roots'
    notes or stand alone; else the default roots, which are ORGCTX_ROOT's or those in orgctx.toml.
    """
    level, no_sync = options["inlinetask_min_level"], options["no_sync"]
    if options["roots"] or not addresses:
        return _open(options["roots"], level, no_sync), list(addresses)
    own = {each: addresses_.lone_file(_plain(each)) for each in addresses}
    config = load(users_file(), is_users=True)
    if _variable() or config.roots:
        store = _open([], level, no_sync)
        named = [_named(store, each, file) for each, file in own.items()]
        if None not in named:
            return store, [each for each in named if each]
    for each, file in own.items():
        if file is None:
            raise addresses_.nowhere(each)
    return Store.of_files(filter(None, own.values()), level, config), list(addresses)


def _plain(address: str) -> str:
    return addresses_.unlinked(address) if address.startswith("[[") else address


def _named(store: Store, address: str, file: str | None) -> str | None:
    """An address as the store names it; None if the file it begins with is not there."""
    if file is None:
        return address
    path = store.holds(file)
    return path and path + _plain(address).removeprefix("file:").removeprefix(file)


def _limit(store: Store, options: dict[str, Any]) -> viewing.Limit:
    """The options that were given, else those of orgctx.toml, else the program's own."""
    configs = [*store.configs.values(), store.config]
    given = {name: options[name] for name in ("budget", "unit", "encoding", "ids")}
    for name in ("budget", "encoding"):
        if given[name] is None:
            given[name] = next(filter(None, (getattr(each, name) for each in configs)), None)
    return viewing.Limit(**{name: value for name, value in given.items() if value is not None})


def _variable() -> list[str]:
    return [root for root in os.environ.get(ROOTS, "").split(os.pathsep) if root]


def _open(roots: Sequence[str], inlinetask_min_level: int | None, no_sync: bool) -> Store:
    """A store of these roots, or of the default ones."""
    try:
        return open_store(roots or _variable(), inlinetask_min_level, no_sync)
    except OrgctxError as error:
        if roots or not _variable():
            raise
        raise type(error)(f"{ROOTS}: {error.message}", error.hint, error.where) from error


def _tell_fault(store: Store) -> None:
    if store.fault:
        output.complain(
            f"no store: {store.fault}", "the notes are read instead, which takes longer"
        )


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the program. arguments: those of the process by default. Returns: the exit status."""
    try:
        status = cli.main(arguments, prog_name="orgctx", standalone_mode=False)
    except Exception as error:
        status = _explain(error)
    except SystemExit:  # click and `output` leave so when nobody reads any more
        status = output.NOBODY_READS
    except KeyboardInterrupt:
        status = 130
    return status if isinstance(status, int) else 0


def _explain(error: Exception) -> int:
    """Say in one line what went wrong. Returns: the exit status for it."""
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        error.show()
    elif isinstance(error, click.Abort):
        return 130
    elif isinstance(error, click.ClickException):
        output.complain(" ".join(error.format_message().split()), "see orgctx --help")
    elif isinstance(error, OrgctxError):
        output.complain(error.message, error.hint)
        return error.exit_status
    elif isinstance(error, sqlite3.Error):
        output.complain(f"the store: {error}", f"delete {database_file()}: it is made anew")
        return 1
    elif isinstance(error, OSError):
        output.complain(f"{error.strerror}{f': {error.filename}' if error.filename else ''}")
        return 1
    else:
        output.complain(f"this is a bug: {output.place_of(error)}", "please report it")
        return BUG
    return error.exit_code


def main() -> None:
    """The console script: run, then exit with its status."""
    sys.exit(run())
