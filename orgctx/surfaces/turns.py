"""The turns of a deep agent on notes: its file tools, and one commit at the end of each."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Annotated, Any, NotRequired, TypedDict

from deepagents.backends import CompositeBackend
from deepagents.backends.protocol import BackendProtocol
from deepagents.middleware.filesystem import FilesystemMiddleware, ReadFileSchema
from langchain.agents.middleware.types import (
    AgentMiddleware,
    AgentState,
    OmitFromInput,
    ToolCallRequest,
)
from langchain_core.messages import AnyMessage, HumanMessage, ToolMessage
from langgraph.runtime import Runtime
from langgraph.types import Command

from ..errors import BadArgument, OrgctxError
from ..views.view import READING_BUDGET, whole
from ..workcopy import POLICIES
from .deepagents import OrgctxBackend, told
from .threads import is_delegated

Middleware = AgentMiddleware[Any, Any, Any]
ToolAnswer = ToolMessage | Command[Any]
LEFT = ("commit", "discard")
MESSAGE = 72
"""Characters of a commit's message, as is usual with git."""


class Receipt(TypedDict):
    """What became of a turn's edits.

    revision: the commit's name in the history; "" if there is none.
    outcomes: one for each path, see `orgctx.workcopy.Outcome`.
    error: why nothing could be committed; "" if it could. The edits are in the copy still.
    """

    revision: str
    outcomes: list[dict[str, Any]]
    error: str


class TurnState(AgentState[Any]):
    """What a turn adds to the state of an agent.

    notes_commit: of this turn. notes_left: of what an earlier turn that did not end had left.
    """

    notes_commit: NotRequired[Annotated[Receipt, OmitFromInput]]
    notes_left: NotRequired[Annotated[Receipt, OmitFromInput]]


def asked(messages: Sequence[AnyMessage]) -> str:
    """The beginning of what the user asked for last, as a message for the commit."""
    texts = (each.text for each in reversed(messages) if isinstance(each, HumanMessage))
    words = " ".join(next(texts, "").split())
    if len(words) > MESSAGE:
        words = f"{words[: MESSAGE - 1]}…"
    return words or "a turn of an agent"


class Policy(TypedDict, total=False):
    """How turns end; see `Turns`."""

    left: str
    on_conflict: str
    allow_shrink: bool
    message: Callable[[Sequence[AnyMessage]], str]


class Turns(AgentMiddleware[TurnState, Any, Any]):
    """Commits what an agent, and its sub-agents, have edited in notes when its turn ends.

    It belongs to the outermost agent; in a sub-agent it does nothing. A turn that crashes leaves
    its edits in the thread's copy; one that waits for an approval goes on with them.
    """

    state_schema = TurnState

    def __init__(
        self,
        notes: OrgctxBackend,
        *,
        left: str = "commit",
        on_conflict: str = "refuse",
        allow_shrink: bool = False,
        message: Callable[[Sequence[AnyMessage]], str] = asked,
    ) -> None:
        """Know the notes.

        left: what is done with edits that are there when a turn begins, because the one before
            crashed, or they were in conflict or refused: "commit" or "discard". Either way they
            are in the history.
        on_conflict, allow_shrink: as for `Workcopies.commit`.
        message: (messages of the conversation) -> that of the commit.
        Raises: BadArgument.
        """
        super().__init__()
        for name, value, known in (
            ("left", left, LEFT),
            ("on_conflict", on_conflict, POLICIES),
        ):
            if value not in known:
                raise BadArgument(f"{name} {value!r}: unknown", f"use {', '.join(known)}", name)
        self._notes, self._is_left_committed = notes, left == "commit"
        self._on_conflict, self._allow_shrink = on_conflict, allow_shrink
        self._message = message

    @property
    def name(self) -> str:
        """What it is called among other middleware."""
        return "OrgctxTurns"

    def before_agent(self, state: TurnState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Begin with the notes as they are now."""
        return None if is_delegated() else {"notes_left": self._settled_left()}

    async def abefore_agent(self, state: TurnState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """The same in another thread."""
        return await asyncio.to_thread(self.before_agent, state, runtime)

    def after_agent(self, state: TurnState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Commit."""
        if is_delegated():
            return None
        return {"notes_commit": self._committed(self._message(state["messages"]))}

    async def aafter_agent(self, state: TurnState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """The same in another thread."""
        return await asyncio.to_thread(self.after_agent, state, runtime)

    def _settled_left(self) -> Receipt:
        if self._is_left_committed:
            return self._committed("left by the turn before")
        try:
            paths = self._notes.discard()
        except (OrgctxError, OSError) as error:
            return Receipt(revision="", outcomes=[], error=told(error))
        gone = [{"path": path, "what": "discarded"} for path in paths]
        return Receipt(revision="", outcomes=gone, error="")

    def _committed(self, message: str) -> Receipt:
        try:
            report = self._notes.commit(message, self._on_conflict, self._allow_shrink)
        except (OrgctxError, OSError) as error:  # the answer of the turn is worth more
            return Receipt(revision="", outcomes=[], error=told(error))
        outcomes = [each.to_data() for each in report.outcomes]
        return Receipt(revision=report.revision, outcomes=outcomes, error="")


class FileTools(FilesystemMiddleware[Any, Any]):
    """The file tools of deepagents, for notes: a read shows each line behind its number.

    It takes the place of deepagents' own middleware of that name, in the main agent and in its
    general-purpose sub-agent; other sub-agents name it as their `middleware`.
    """

    def __init__(
        self,
        notes: OrgctxBackend,
        backend: BackendProtocol | None = None,
        *,
        budget: int = READING_BUDGET,
        custom_tool_descriptions: Mapping[str, str] | None = None,
        **options: Any,
    ) -> None:
        """Know the notes.

        backend: the one that the agent has, if the notes are only a part of it.
        budget: int > 0, the most tokens of a read.
        custom_tool_descriptions: what is said of tools instead, by name.
        options: others of FilesystemMiddleware.
        Raises: BadArgument.
        """
        whole("budget", budget, 1)
        own = {**tool_descriptions(budget), **(custom_tool_descriptions or {})}
        super().__init__(backend=backend or notes, custom_tool_descriptions=own, **options)
        self._notes, self._budget = notes, budget

    @property
    def name(self) -> str:
        """The name of the middleware whose place it takes."""
        return FilesystemMiddleware.__name__

    def wrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], ToolAnswer]
    ) -> ToolAnswer:
        """Have a read of a note show numbers; whether it may be read is deepagents' to say."""
        return self._numbered(request, super().wrap_tool_call(request, handler))

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[ToolAnswer]]
    ) -> ToolAnswer:
        """The same, for an agent that does not wait."""
        answer = await super().awrap_tool_call(request, handler)
        return await asyncio.to_thread(self._numbered, request, answer)

    def _numbered(self, request: ToolCallRequest, answer: ToolAnswer) -> ToolAnswer:
        is_read = request.tool_call["name"] == "read_file"
        if not is_read or not isinstance(answer, ToolMessage) or answer.status == "error":
            return answer
        wanted = ReadFileSchema.model_validate(request.tool_call["args"])
        if (path := self._in_notes(wanted.file_path)) is None:
            return answer
        try:
            found = self._notes.numbered(path, wanted.offset, wanted.limit, self._budget)
        except OrgctxError:  # there are no lines, or not even one fits
            return answer
        return answer.model_copy(update={"content": found.text})

    def _in_notes(self, path: str) -> str | None:
        """The path in the notes; None if the file is not theirs."""
        if not isinstance(self.backend, CompositeBackend):
            return path
        routes = [each for each in self.backend.routes if path.startswith(each)]
        route = max(routes, key=len, default="/")
        owner = self.backend.routes.get(route, self.backend.default)
        return path.removeprefix(route) if owner is self._notes else None


def tool_descriptions(budget: int = READING_BUDGET) -> dict[str, str]:
    """What a model is told of the file tools of deepagents if the files are notes.

    budget: int > 0, the most tokens of a read.
    Returns: name -> description, as `FilesystemMiddleware(custom_tool_descriptions=...)` wants
        them. That of `read_file` is true where `FileTools` is in its place.
    """
    return {name: text.format(budget=budget) for name, text in _DESCRIPTIONS.items()}


_DESCRIPTIONS = {
    "ls": "Lists the Org notes and the folders in a folder; / is the top.",
    "read_file": """Reads lines of an Org note. The answer begins with a line such as

[1] work/plan.org — Plan — 5e3f0c2a9b1d, lines 1-40 of 120

and then has each line behind its number in the note, a colon and a blank.

- [1] is the handle of the note: cite its lines as [1:L12] or [1:L12-L19]. A note that has changed \
gets another handle.
- The first line and the numbers are not in the note: leave them out of old_string and new_string.
- `offset` is how many lines to skip, `limit` how many to read, 100 by default. An answer costs at \
most {budget} tokens; what is left then, and the offset to read on from, is said in its last line.
- An empty note gets a reminder in place of lines. What is no note, or has a line too long for an \
answer, is shown without numbers, below a header @@ … @@.
- Read a note before you edit it.""",
    "write_file": """Writes an Org note: makes it, or puts another text in the place of all of it.

- Its name ends in .org; folders that lack are made.
- Edit a note that is there with edit_file; write what is new, or all new.""",
    "edit_file": """Puts one text in the place of another in an Org note.

- old_string is what stands in the note, once, or replace_all is true; without the numbers that \
read_file shows.
- A line of new_string that begins with stars and a blank is a headline, no bullet: lists begin \
with - or +. It is refused unless old_string has a headline: to add one, have the headline beside \
it in both.
- The notes change when your turn ends, checked against what others did meanwhile.""",
    "delete": """Deletes an Org note, or a folder with all notes below it. It is done when your \
turn ends, and the history keeps what was deleted.""",
    "glob": """Finds Org notes by their paths, which begin with a slash.

- * stands for any characters in a name, ** for any folders, ? for one character, [ab] and [!ab] \
for one of a set, {{a,b}} for one of several.
- A pattern without a slash is of names at any depth; one with a slash is of paths from `path`, \
the folder to look in, by default the top: /*.org finds the notes at the top alone.""",
    "grep": """Finds the lines of Org notes that a text is in, just as it is: it is no regular \
expression, and case matters. For several texts search several times.

- `path` is a folder or one note, `glob` says which notes, as in the tool glob.
- `output_mode` says what is shown: paths, lines with their numbers, or counts.""",
}
