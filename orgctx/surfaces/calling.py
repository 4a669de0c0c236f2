"""The command that calls the tools of an agent: tool."""

from __future__ import annotations

import os
from collections.abc import Sequence

import click

from . import output
from .options import all_roots_option, inlinetasks, open_roots, standard_input, work_option
from .tools import Tools, described, tools_of


def _names(_context: click.Context, _parameter: click.Parameter, begun: str) -> list[str]:
    """The tools that a shell may complete."""
    names = (each.name for each in tools_of(is_writing=True))
    return [name for name in names if name.startswith(begun)]


@click.command()
@click.argument("name", default="", shell_complete=_names)
@click.argument("arguments", default="")
@all_roots_option
@work_option
@inlinetasks
def tool(
    name: str,
    arguments: str,
    roots: Sequence[str],
    work: str | None,
    inlinetask_min_level: int | None,
) -> None:
    """Call a tool as an agent does, or list the tools.

    NAME is that of a tool, ARGUMENTS a JSON object, or - to read it from standard input. What is
    printed is what the agent would be told; exit status 1 if it is refused. Without NAME the tools
    are listed as JSON: name, description, input_schema. With --work there are those that write,
    too.

    \b
    Example:
      orgctx tool focus '{"addresses": ["projects.org::*Colors"], "budget": 2000}'
    """
    if not name:
        output.write(output.to_json({"tools": described(tools_of(is_writing=work is not None))}))
        return
    given = standard_input().decode("utf-8", "replace") if arguments == "-" else arguments
    answer = _tools(roots, work, inlinetask_min_level).call(name, given)
    output.write(answer.text if answer.text.endswith("\n") else f"{answer.text}\n")
    if answer.is_error:
        raise click.exceptions.Exit(1)


def _tools(roots: Sequence[str], work: str | None, level: int | None) -> Tools:
    if work is None:
        return Tools(open_roots(roots, level, no_sync=False), has_data=False, workspace=os.curdir)
    from ..workcopy import check_alone  # only who works in a copy pays
    from .editing import desk_of

    check_alone(work, roots)
    desk = desk_of(work, level)
    return Tools(desk.copy.store, has_data=False, workspace=os.curdir, desk=desk)
