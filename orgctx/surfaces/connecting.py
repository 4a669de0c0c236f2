"""The command that serves agents: mcp."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

import click

from ..errors import BadArgument, NotFound, Unreadable
from ..tokens import count
from . import output
from .answers import compact
from .clients import CLIENTS, snippet
from .options import (
    all_roots_option,
    choice,
    inlinetasks,
    open_roots,
    option,
    roots_or_default,
)
from .tools import STRUCTURED, Tools, described, instructions, tools_of

if TYPE_CHECKING:
    from ..store.store import Store
    from ..store.sync import Progress
    from .editing import Desk
    from .serving import Server


@click.command()
@all_roots_option
@option("--http", metavar="HOST:PORT", help="Serve HTTP on this machine, not standard input.")
@option("--token-file", metavar="FILE", help="Where HTTP's token is; made if it is not there.")
@choice(
    "--structured",
    STRUCTURED,
    "Whether answers have data beside their text; auto: not for clients that show it alone.",
)
@option(
    "--work",
    is_flag=False,
    flag_value="",
    metavar="[COPY]",
    help="Let clients edit: this working copy, or one for each session; see orgctx work.",
)
@option("--print-config", type=click.Choice(list(CLIENTS)), help="Print a client's settings.")
@option("--dry-run", metavar="QUESTION", help="Print what a client would be sent, and its cost.")
@inlinetasks
def mcp(
    roots: Sequence[str],
    http: str | None,
    token_file: str | None,
    structured: str,
    work: str | None,
    print_config: str | None,
    dry_run: str | None,
    inlinetask_min_level: int | None,
) -> None:
    """Serve the notes to agents, by the Model Context Protocol.

    Over standard input and output, or over HTTP on this machine. Clients read, only below the roots
    that are named here; with --work they also edit, in a copy of their own, and commit it. Needs
    pip install 'orgctx[mcp]'.

    \b
    Example:
      orgctx mcp --root ~/org --print-config claude-code
    """
    if token_file and not http:
        raise BadArgument("token-file: only with --http", "see orgctx mcp --help", "token-file")
    if work is not None:
        from .editing import check_level  # only who lets edit pays

        check_level(inlinetask_min_level)
    if print_config:
        output.complain(f"this belongs into {CLIENTS[print_config].place}")
        output.write(_settings(print_config, roots, structured, work, inlinetask_min_level))
        return
    roots = _roots_of(roots, work)
    if dry_run is not None:
        output.write(_dry_run(dry_run, roots, structured, work, inlinetask_min_level))
        return
    # What is wrong is told now.
    open_roots(roots, inlinetask_min_level, no_sync=True, is_filled=False)
    try:
        from .serving import Server
    except ImportError as error:
        hint = "pip install 'orgctx[mcp]'"
        raise Unreadable("the package mcp is not installed", hint, "mcp") from error
    open_notes = partial(_opened, roots, inlinetask_min_level)
    server = Server(open_notes, structured, _desks(roots, work))
    try:
        _serve_http(server, http, token_file) if http else _serve_stdio(server)
    finally:
        for name in server.close():
            output.complain(f"copy {name} has edits", f"orgctx work diff {name}")


def _roots_of(roots: Sequence[str], work: str | None) -> Sequence[str]:
    """The roots that were named, else those of the working copy that was, if it is there."""
    if roots or not work:
        return roots
    from ..workcopy import Workcopies  # only who works in a copy pays

    try:
        return Workcopies().roots(work)
    except NotFound:
        return roots


def _desks(roots: Sequence[str], work: str | None) -> Callable[[], Desk] | None:
    """What opens a session's working copy, if clients may edit; one that is named serves all.

    Raises: BadArgument if that is no name, or the copy is of other roots.
    """
    if work is None:
        return None
    from .editing import new_desk  # only who lets edit pays

    named = roots_or_default(roots)
    if not work:
        return partial(new_desk, named)
    desk = new_desk(named, work)
    return lambda: desk


def _opened(roots: Sequence[str], inlinetask_min_level: int | None, progress: Progress) -> Store:
    """The notes as they are now. progress: is told of a sync, the first or not."""
    store = open_roots(roots, inlinetask_min_level, no_sync=False, progress=progress)
    store.freshen(progress)
    return store


def _settings(
    client: str,
    roots: Sequence[str],
    structured: str,
    work: str | None,
    inlinetask_min_level: int | None,
) -> str:
    words = ["mcp"]
    for root in roots_or_default(roots):
        words += ["--root", os.path.abspath(os.path.expanduser(root))]
    words += ["--structured", structured] if structured != "auto" else []
    if work is not None:
        words += ["--work", work] if work else ["--work"]
    if inlinetask_min_level is not None:
        words += ["--inlinetask-min-level", str(inlinetask_min_level)]
    return snippet(client, str(output.program()), words)


def _dry_run(
    question: str,
    roots: Sequence[str],
    structured: str,
    work: str | None,
    inlinetask_min_level: int | None,
) -> str:
    """What a client is sent before it asks, and for this question, with what each costs."""
    store = _dry_store(roots, work, inlinetask_min_level)
    tools = Tools(store, structured != "never", workspace=os.curdir)
    manifest, said = described(tools_of(work is not None)), instructions(work is not None)
    arguments = {"query": question}
    found = tools.call("context", arguments)
    data = "" if found.data is None else compact(found.data)
    return (
        f"instructions: {count(said)} tokens\n"
        f"{len(manifest)} tools: {count(compact(manifest))} tokens\n"
        f"context {compact(arguments)}: {found.tokens} tokens of text, {count(data)} of data\n"
        f"{found.text}{data}{'' if not data else chr(10)}"
    )


def _dry_store(roots: Sequence[str], work: str | None, level: int | None) -> Store:
    """What would be asked: the working copy that is named, if it is there, and no other notes."""
    if work:
        from ..workcopy import Workcopies  # only who works in a copy pays

        with suppress(NotFound):
            return Workcopies().store(work, level)
    return open_roots(roots, level, no_sync=False)


def _serve_stdio(server: Server) -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # a read of standard input waits for more else
    try:
        server.run("stdio")
    except BaseExceptionGroup as group:
        if group.split(BrokenPipeError)[1] is not None:
            raise
        raise click.exceptions.Exit(output.NOBODY_READS) from group  # the client is gone


def _serve_http(server: Server, place: str, token_file: str | None) -> None:
    import uvicorn
    from mcp.server.transport_security import TransportSecuritySettings

    from . import guarding
    from .serving import SESSIONS

    listening = guarding.bound(place)
    token = guarding.token_in(token_file) if token_file else guarding.new_token()
    names = guarding.names_of(listening)
    application = server.streamable_http_app(
        max_sessions=SESSIONS,
        transport_security=TransportSecuritySettings(
            allowed_hosts=names, allowed_origins=[f"http://{name}" for name in names]
        ),
    )
    output.complain(f"http://{names[0]}/mcp")
    output.complain(f"the token is in {token_file}" if token_file else f"the token is {token}")
    config = uvicorn.Config(
        guarding.Guard(application, token),
        log_config=None,
        access_log=False,
        server_header=False,
        ws="none",
        timeout_graceful_shutdown=1,
    )
    uvicorn.Server(config).run(sockets=[listening])
