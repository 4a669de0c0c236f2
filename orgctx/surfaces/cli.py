"""The command line: parse arguments, call views, show errors."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import click

from .. import __version__
from ..core.lens import BACKGROUND
from ..errors import OrgctxError
from ..store import address as addresses
from ..store.store import Store
from ..tokens import DEFAULT_ENCODING, ENCODINGS, UNITS
from ..views import focus as focusing
from ..views import outlines
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


def _inlinetasks(command: Callable[..., None]) -> Callable[..., None]:
    return click.option(
        "--inlinetask-min-level",
        type=click.IntRange(min=2),
        metavar="N",
        help="Headlines of N stars or more are text, as with org-inlinetask.  [default: none are]",
    )(command)


@cli.command()
@click.argument("address")
@click.option("--budget", type=click.IntRange(min=1), default=focusing.BUDGET, show_default=True,
              metavar="N", help="The most the text may cost.")  # fmt: skip
@click.option("--unit", type=click.Choice(UNITS), default=UNITS[0], show_default=True,
              help="What the budget counts.")  # fmt: skip
@click.option("--encoding", type=click.Choice(ENCODINGS), default=DEFAULT_ENCODING,
              show_default=True, help="How tokens are counted.")  # fmt: skip
@click.option("--lens", type=click.Choice(focusing.LENSES), default=focusing.LENSES[0],
              show_default=True, help="What interest falls off with.")  # fmt: skip
@click.option("--ids", type=click.Choice(focusing.IDS), default=focusing.IDS[0],
              show_default=True, help="What skeletons show of IDs.")  # fmt: skip
@click.option("--background", type=click.IntRange(min=0), default=BACKGROUND, show_default=True,
              metavar="N", help="Level-1 headlines of the rest of the file, at most.")  # fmt: skip
@click.option("--root", "roots", multiple=True, metavar="DIR",
              help=f"A folder of notes; repeatable.  [default: the address's own file, or {ROOTS}]")  # fmt: skip
@click.option("--format", "form", type=click.Choice(("org", "json")), default="org",
              show_default=True, help="What to print.")  # fmt: skip
@click.option("--report", is_flag=True, help="Print what is shown and left out to stderr.")
@_inlinetasks
def focus(  # noqa: PLR0913  (one parameter an option)
    address: str, budget: int, unit: str, encoding: str, lens: str, ids: str, background: int,
    roots: Sequence[str], form: str, report: bool, inlinetask_min_level: int | None,
) -> None:  # fmt: skip
    """Show one node in full, its surroundings as title and ID, the rest as counts.

    ADDRESS is FILE:LINE, FILE::*TITLE, FILE::OUTLINE/PATH, FILE::#CUSTOM_ID, FILE, #CUSTOM_ID, or
    an ID (id:… or bare; the first 6 characters are enough where they are unique).
    """
    store = _store(address, roots, inlinetask_min_level)
    view = focusing.focus(store, address, budget, unit, encoding, lens, ids, background)
    output.write(view.text if form == "org" else output.to_json(focusing.to_data(view)))
    if report:
        from .report import report as print_report  # noqa: PLC0415  (rich, only when asked for)

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
        output.complain(f"{problem.path}: {problem.what}")
    if found.unreadable:
        raise click.exceptions.Exit(1)


@cli.command()
def emacs() -> None:
    """Print where orgctx.el is, and the lines that load it."""
    folder = Path(__file__).parent / "emacs"
    output.write(output.emacs_lines(folder))


def _store(address: str, roots: Sequence[str], inlinetask_min_level: int | None) -> Store:
    """The roots that were named; else the address's own file, in ORGCTX_ROOT if it lies there."""
    if roots:
        return Store(roots, inlinetask_min_level)
    own = addresses.lone_file(address)
    by_default = [root for root in os.environ.get(ROOTS, "").split(os.pathsep) if root]
    if by_default:
        store = Store(by_default, inlinetask_min_level)
        if own is None or store.holds(own):
            return store
    if own is None:
        raise addresses.nowhere(address)
    return Store.of_file(own, inlinetask_min_level)


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the program. arguments: those of the process by default. Returns: the exit status."""
    try:
        status = cli.main(arguments, prog_name="orgctx", standalone_mode=False)
        return status if isinstance(status, int) else 0
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return error.exit_code
    except click.ClickException as error:
        output.complain(" ".join(error.format_message().split()), "see orgctx --help")
        return error.exit_code
    except OrgctxError as error:
        output.complain(error.message, error.hint)
        return error.exit_status
    except BrokenPipeError:
        output.silence()
        return 141
    except (click.Abort, KeyboardInterrupt):
        return 130
    except Exception as error:  # noqa: BLE001  (the last line of defence: a bug is told as one)
        output.complain(f"this is a bug: {output.place_of(error)}", "please report it")
        return BUG


def main() -> None:
    """The console script: run, then exit with its status."""
    sys.exit(run())
