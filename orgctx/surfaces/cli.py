"""The command line: find the command, run it, show errors."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from importlib import import_module

import click

from .. import __version__
from ..errors import OrgctxError
from ..store.opening import database_file
from . import output

BUG = 70

COMMANDS = {
    "focus": "seeing",
    "overview": "seeing",
    "where": "seeing",
    "context": "asking",
    "ls": "drilling",
    "tokens": "drilling",
    "grep": "finding",
    "read": "finding",
    "cite": "finding",
    "outline": "keeping",
    "sync": "keeping",
    "status": "keeping",
    "collections": "collecting",
    "init": "collecting",
    "watch": "keeping",
    "mcp": "connecting",
    "tool": "calling",
    "work": "copies",
    "emacs": "keeping",
}
"""The module of each command, which is loaded when it is called: a focus should start at once."""


class Commands(click.Group):
    """The commands, in the order in which help lists them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All names."""
        return list(COMMANDS)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that is called, and its arguments; for a misspelt one, the nearest names."""
        is_misspelt = args[0] not in COMMANDS and not args[0].startswith("-")
        if is_misspelt and not ctx.resilient_parsing:  # a shell that completes is told nothing
            from difflib import get_close_matches  # only an error needs it

            near = get_close_matches(args[0], COMMANDS, 2)
            hint = f"; did you mean {' or '.join(near)}?" if near else ""
            ctx.fail(f"no such command: {args[0]}{hint}")
        return super().resolve_command(ctx, args)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name, or None."""
        if cmd_name not in COMMANDS:
            return None
        module = import_module(f".{COMMANDS[cmd_name]}", __package__)
        command: click.Command = getattr(module, cmd_name)
        return command

    def invoke(self, ctx: click.Context) -> object:
        """Run the command; what goes wrong in it is explained while it is known how to tell."""
        try:
            return super().invoke(ctx)
        except (click.exceptions.Exit, click.Abort):
            raise
        except Exception as error:
            return _explain(error)


@click.command(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="orgctx", message="%(prog)s %(version)s")
@click.option(
    "--events",
    is_flag=True,
    help="For an editor: JSON lines of output, warnings, progress, errors.",
)
def cli(events: bool) -> None:
    """Show Org notes to a language model: the right slice, exactly within a token budget.

    Exit status: 0 done, 1 something named is not there or cannot be read, 2 usage, 3 a limit or
    check could not be met, 70 a fault of the program.
    """


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the program. arguments: those of the process by default. Returns: the exit status."""
    try:
        status = cli.main(arguments, prog_name="orgctx", standalone_mode=False)
    except Exception as error:
        status = _explain(error)
    except SystemExit as end:  # for a shell that completes, or when nobody reads any more
        status = output.NOBODY_READS if end.code else 0
    except KeyboardInterrupt:
        status = 130
    return status if isinstance(status, int) else 0


def _explain(error: Exception) -> int:
    """Say in one line what went wrong. Returns: the exit status for it."""
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        error.show()
        return error.exit_code
    if isinstance(error, click.Abort):
        return 130
    told, status = _told(error)
    output.refuse({"error": type(error).__name__, **told})
    return status


def _told(error: Exception) -> tuple[dict[str, str | int], int]:
    """What is told of an error, as `OrgctxError.to_data` has it, and the exit status for it."""
    if isinstance(error, OrgctxError):
        return error.to_data(), error.exit_status
    if isinstance(error, click.ClickException):
        message = " ".join(error.format_message().split()).rstrip(".")
        return _fields(message, f"see {_called(error)} --help"), error.exit_code
    if isinstance(error, sqlite3.Error):
        return _fields(f"the store: {error}", f"delete {database_file()}: it is made anew"), 1
    if isinstance(error, OSError):
        what = f"{f'{error.filename}: ' if error.filename else ''}{error.strerror}"
        hint = "check its permissions" if isinstance(error, PermissionError) else ""
        return _fields(what, hint), 1
    return _fields(f"this is a bug: {output.origin_of(error)}", "please report it"), BUG


def _called(error: click.ClickException) -> str:
    """The command that was called wrongly; of an option without its value click does not tell."""
    if isinstance(error, click.UsageError) and error.ctx:
        return error.ctx.command_path
    context = click.get_current_context(silent=True)
    command = context.invoked_subcommand if context else None
    return f"orgctx {command}" if command else "orgctx"


def _fields(message: str, hint: str = "") -> dict[str, str | int]:
    return {"message": message, "hint": hint, "where": ""}
