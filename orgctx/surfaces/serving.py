"""The tools as a server of the Model Context Protocol, for clients on this machine."""

from __future__ import annotations

import asyncio
import os
import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult, ContentBlock, TextContent, Tool, ToolAnnotations

from .. import __version__
from ..store.store import Store
from .answers import Answer
from .tools import Tools, instructions, refusal, tools_of

if TYPE_CHECKING:
    from .editing import Desk

WORKERS = 4
"""How many calls are answered at once; the others wait."""
SESSIONS = 64
"""How many sessions there may be at once; of twice as many the cites and the ledger are kept."""
STEPS = 20
"""How many notices of its progress a first sync gives, at most."""
SHOWS_DATA_ALONE = ("claude-code", "codex", "cursor")
"""Clients, by the beginning of their names, whose model sees structured content in place of the
text (modelcontextprotocol issue 1411, claude-code issue 79944): they get the text alone."""

Progress = Callable[[int, int], None]
Opener = Callable[[Progress], Store]


class Server(MCPServer[Any]):
    """Serves the tools to any number of sessions, each with its own cites and ledger."""

    def __init__(
        self,
        open_notes: Opener,
        structured: str = "auto",
        open_desk: Callable[[], Desk] | None = None,
    ) -> None:
        """open_notes: called once, by the first call. structured: see `tools.STRUCTURED`.

        open_desk: called once for each session; None: sessions only read.
        """
        self._open_desk, self._is_writing = open_desk, open_desk is not None
        super().__init__(
            "orgctx",
            instructions=instructions(self._is_writing),
            version=__version__,
            log_level="CRITICAL",  # others quote arguments, and errors that may quote notes
            subscriptions=False,
        )
        self._notes, self._structured = _Notes(open_notes), structured
        self._workers = ThreadPoolExecutor(WORKERS, "orgctx")
        self._stopping = threading.Event()
        self._sessions: OrderedDict[tuple[str, str], _Session] = OrderedDict()
        self._left: list[str] = []
        self._lock = threading.Lock()

    async def list_tools(self) -> list[Tool]:
        """The manifest. It says no more than a model has to know."""
        return [
            Tool(
                name=each.name,
                description=each.about,
                input_schema=each.schema,
                annotations=ToolAnnotations(read_only_hint=each.is_reading),
            )
            for each in tools_of(self._is_writing)
        ]

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None
    ) -> CallToolResult:
        """Answer a call. Raises: ToolError, which is what a client may be told."""
        told = _Told(context, asyncio.get_running_loop(), self._stopping)
        session = _session_of(context)
        work = partial(self._answered, session, name, arguments, told)
        try:
            found = await asyncio.get_running_loop().run_in_executor(self._workers, work)
        except asyncio.CancelledError:
            told.stopped.set()
            raise
        await told.all()
        if found.is_error:
            raise ToolError(found.text)
        content: list[ContentBlock] = [TextContent(type="text", text=found.text)]
        if found.data is None:
            return CallToolResult(content=content)
        return CallToolResult(content=content, structured_content=found.data)

    def close(self) -> list[str]:
        """Have the workers end as soon as they can, and end all sessions.

        Returns: the names of copies made for them that have edits. Raises: OrgctxError.
        """
        self._stopping.set()
        self._workers.shutdown(wait=self._is_writing, cancel_futures=True)
        while self._sessions:
            self._forget()
        return self._left

    def _answered(
        self, session: tuple[str, str], name: str, arguments: dict[str, Any], told: _Told
    ) -> Answer:
        try:
            tools = self._tools(session, self._notes.opened(told))
        except _Stopped:
            raise
        except Exception as error:
            return refusal(error)
        return tools.call(name, arguments)

    def _tools(self, session: tuple[str, str], store: Store) -> Tools:
        """The tools of a session; those of the longest unused ones are forgotten."""
        while True:
            with self._lock:
                new = _Session(partial(self._opened, session, store))
                found = self._sessions.setdefault(session, new)
                self._sessions.move_to_end(session)
                is_full = len(self._sessions) > 2 * SESSIONS
            if is_full:
                self._forget()
            if tools := found.tools():
                return tools

    def _opened(self, session: tuple[str, str], store: Store) -> Tools:
        desk = self._open_desk() if self._open_desk else None
        return Tools(store, self._gets_data(session[1]), workspace=os.curdir, desk=desk)

    def _forget(self) -> None:
        """End the longest unused session; its copy is told of at the end if it has edits."""
        with self._lock:
            _, session = self._sessions.popitem(last=False)
        if name := session.close():
            self._left.append(name)

    def _gets_data(self, client: str) -> bool:
        if self._structured == "auto":
            return not client.lower().startswith(SHOWS_DATA_ALONE)
        return self._structured == "always"


def _session_of(context: Context[Any, Any] | None) -> tuple[str, str]:
    """Who asks: the session's name, and the client's.

    Over HTTP the name is that of the protocol's session; revisions from 2026-07-28 on have none,
    and then it is what the URL says (`?session=NAME`). A process on stdio is one session.
    """
    if context is None:
        return "", ""
    request, client = context.request_context.request, context.session.client_params
    name = client.client_info.name if client and client.client_info else ""
    if request is None:
        return "", name
    own = request.headers.get("mcp-session-id") or request.query_params.get("session", "")
    return own, name


class _Stopped(Exception):
    """Nobody waits for the answer any more."""


class _Session:
    """The tools of a session, opened by its first call: the other sessions do not wait for that."""

    def __init__(self, open_tools: Callable[[], Tools]) -> None:
        self._open, self._lock = open_tools, threading.Lock()
        self._tools: Tools | None = None
        self._is_ended = False

    def tools(self) -> Tools | None:
        """None if the session has ended. Raises: what opening raises; the next call tries anew."""
        with self._lock:
            if self._tools is None and not self._is_ended:
                self._tools = self._open()
            return self._tools

    def close(self) -> str:
        """End it. Returns: the name of a copy made for it that has edits, or ""."""
        with self._lock:
            tools, self._tools, self._is_ended = self._tools, None, True
        return tools.close() if tools else ""


class _Notes:
    """The store, opened once, by whoever asks first."""

    def __init__(self, open_notes: Opener) -> None:
        self._open, self._lock = open_notes, threading.Lock()
        self._store: Store | None = None

    def opened(self, progress: Progress) -> Store:
        """Raises: what opening raises; the next call tries anew."""
        with self._lock:
            if self._store is None:
                self._store = self._open(progress)
            return self._store


class _Told:
    """What a client is told of its call while it waits; called in the thread that works for it."""

    def __init__(
        self,
        context: Context[Any, Any] | None,
        loop: asyncio.AbstractEventLoop,
        stopping: threading.Event,
    ) -> None:
        self._context, self._loop, self._stopping = context, loop, stopping
        self._sent: list[Future[None]] = []
        self._step = -1
        self.stopped = threading.Event()

    def __call__(self, done: int, total: int) -> None:
        """Tell how far a sync is. Raises: _Stopped if nobody wants it any more."""
        if self.stopped.is_set() or self._stopping.is_set():
            raise _Stopped
        step = STEPS * done // max(total, 1)
        if self._context is not None and step > self._step:
            self._step = step
            notice = self._context.report_progress(done, total, "reading notes")
            self._sent.append(asyncio.run_coroutine_threadsafe(notice, self._loop))

    async def all(self) -> None:
        """Wait until all of it is sent."""
        sent = map(asyncio.wrap_future, self._sent)
        await asyncio.gather(*sent, return_exceptions=True)
