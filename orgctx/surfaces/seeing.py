"""Commands whose answer is a view, or the way to what it shows: focus, overview, where."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from ..core.lens import BACKGROUND
from ..core.model import View
from ..store.store import Store
from ..views import focus as focusing
from ..views.view import Growth, to_data, unsaved
from . import output
from .options import (
    Whole,
    a_file,
    choice,
    format_option,
    inlinetasks,
    limit_of,
    no_sync_option,
    option,
    roots_option,
    scope_options,
    stdin_option,
    store_for,
    tell_fault,
    view_options,
    work_option,
)

if TYPE_CHECKING:
    from ..views.explaining import Explanation


@click.command()
@click.argument("addresses", nargs=-1, metavar="ADDRESS...", shell_complete=a_file)
@choice("--lens", focusing.LENSES, "How far to look: fisheye goes on to links and other files.")
@option(
    "--background",
    type=Whole(0),
    default=BACKGROUND,
    metavar="N",
    help="Level-1 headlines of the rest of the file, at most.",
)
@stdin_option
@view_options
def focus(addresses: Sequence[str], lens: str, background: int, **options: Any) -> None:
    """Show nodes in full, what is around them as title and ID.

    The rest is counted.

    ADDRESS is FILE:LINE, FILE::*TITLE, FILE::OUTLINE/PATH, FILE::#CUSTOM_ID, FILE, #CUSTOM_ID, or
    an ID (id:… or bare; the first 6 characters are enough where they are unique). Several share one
    budget and one document.

    \b
    Example:
      orgctx focus 'projects.org::*Colors' --budget 2000
    """
    _require(addresses or options["stdin_path"])
    store, addresses = store_for(addresses, options)
    limit = limit_of(store, options)
    _show(store, focusing.grown(store, addresses, limit, lens, background), options)


def _require(address: object) -> None:
    """Raises: MissingParameter if it is none."""
    if not address:
        raise click.MissingParameter(param_hint="ADDRESS", param_type="argument")


@click.command()
@click.argument("address", required=False, default="", shell_complete=a_file)
@roots_option
@work_option
@stdin_option
@scope_options
@no_sync_option
@format_option("text")
@inlinetasks
def where(address: str, form: str, **options: Any) -> None:
    """Print where a node is, as FILE:LINE.

    There an editor can go. ADDRESS is as for `focus`.

    \b
    Example:
      orgctx where 'projects.org::*Colors'
    """
    from ..views.locating import locate

    _require(address or options["stdin_path"])
    store, addresses = store_for([address] if address else [], options)
    place = locate(store, addresses[-1])
    is_json = form == "json"
    line = f"{output.printable(place.file)}:{place.line}\n"
    output.write(output.to_json(place._asdict()) if is_json else line)
    tell_fault(store)


@click.command()
@click.argument("addresses", nargs=-1, metavar="[ADDRESS]...", shell_complete=a_file)
@view_options
def overview(addresses: Sequence[str], **options: Any) -> None:
    """Show all notes in outline, what is active first.

    ADDRESS is as for `focus`; such a node is shown with its own text. What is active says
    orgctx.toml; else it is what has an open TODO keyword, the newest files first.

    \b
    Example:
      orgctx overview --root ~/org --budget 3000
    """
    from ..views.overview import grown  # a focus should not pay for it

    store, addresses = store_for(addresses, options)
    _show(store, grown(store, addresses, limit_of(store, options)), options)


def _show(store: Store, growth: Growth, options: dict[str, Any]) -> None:
    """Print a view, or why it is as it is, or draw it: what cannot be done leaves all as it was."""
    answer = _answer(growth, options)
    if answer is not None:
        output.write(*answer)
    tell_fault(store)
    view = growth.view
    targets = (each.path for each in view.shown if each.relation == "target")
    output.complain_of(unsaved(store, targets))
    if options["report"]:
        from .report import report as print_report  # rich, only when asked for

        print_report(view)


def _answer(growth: Growth, options: dict[str, Any]) -> tuple[str, bool] | None:
    """What to print, and whether it is styled; None for nothing, as there is a page."""
    file, why = options["html"], _explanation(growth, options) if options["explain"] else None
    if file is None:
        return why or (_text(growth.view, options), False)
    from ..views.picture import picture  # only who asks for it pays
    from .pages import STDOUT, save

    page = picture(growth)
    if file != STDOUT:
        save(page, file)
        return why
    if why:
        raise click.UsageError("--html - and --explain both want standard output: name a file")
    return page, False


def _text(view: View, options: dict[str, Any]) -> str:
    return view.text if options["form"] == "org" else output.to_json(to_data(view))


def _explanation(growth: Growth, options: dict[str, Any]) -> tuple[str, bool]:
    """Why a view is as it is, and whether that is styled."""
    from ..views import explaining  # only who asks for it pays

    def as_json(found: Explanation) -> str:
        return output.to_json(explaining.to_data(found))

    budget = options["explain_budget"]
    if options["form"] == "json":
        return as_json(explaining.explain(growth, budget, as_json)), False
    text, is_terminal = explaining.explain(growth, budget).text, output.is_seen()
    if is_terminal:
        from .report import styled  # rich, only for a terminal

        text = styled(text)
    return text, is_terminal
