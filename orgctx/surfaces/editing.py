"""The tools that write: edits in a private working copy, and its commit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from secrets import token_hex
from typing import NamedTuple

from ..errors import BadArgument, BudgetTooSmall, NotFound
from ..tokens import count
from ..views.page import lines_in
from ..views.view import Limit
from ..workcopy import POLICIES, Copy, Workcopies
from ..workcopy.entries import HEADLINES, WHERE
from ..workcopy.showing import DIGITS, outcome_line
from ..workcopy.working import Edit
from .answering import Given, Session, tool_call
from .answers import Part, Room
from .arguments import Parameter
from .tool import BUDGET, FLAG, Tool, text

INSTRUCTIONS = (
    " Edits go to a private copy of the notes, and answers are from it: with an edit give as base"
    " the revision that read told; diff shows what was edited, commit brings it into the notes."
)
"""What a server that lets write says of itself besides."""


class Desk(NamedTuple):
    """A working copy that a client edits, and where it is.

    is_passing: whether it was made for this client alone.
    """

    copies: Workcopies
    copy: Copy
    is_passing: bool = False

    def freshen(self) -> None:
        """Bring what was not edited up to date with the notes. Raises: NotFound, BadConfig."""
        self.copies.open(self.copy.id)

    def leave(self) -> str:
        """Discard a passing copy in which nothing was edited. Returns: the name of one that is."""
        if self.is_passing:
            with suppress(NotFound):  # somebody has discarded it
                if self.copies.changed(self.copy.id):
                    return self.copy.id
                self.copies.discard(self.copy.id)
        return ""


def check_level(inlinetask_min_level: int | None) -> None:
    """Raises: BadArgument if inline tasks are to be text: edits take them for headlines."""
    if inlinetask_min_level is not None:
        what = "inlinetask-min-level: where notes are edited, inline tasks are headlines"
        raise BadArgument(what, "leave it out", "inlinetask-min-level")


def desk_of(copy_id: str | None, inlinetask_min_level: int | None) -> Desk:
    """The desk of a copy that is there.

    Raises: BadArgument if none is named, or as `check_level`; NotFound.
    """
    check_level(inlinetask_min_level)
    if copy_id is None:
        hint = "open them with work=, the name of a working copy"
        raise BadArgument("write: these are not the notes of a copy", hint, "write")
    copies = Workcopies()
    return Desk(copies, copies.copy(copy_id))


def new_desk(roots: Sequence[str], copy_id: str = "") -> Desk:
    """A desk of the notes under some roots.

    roots: by default those of orgctx.toml. copy_id: the copy's name; "" makes one that passes.
    Raises: as `Workcopies.open`.
    """
    copies = Workcopies(*roots)
    return Desk(copies, copies.open(copy_id or f"mcp-{token_hex(4)}"), not copy_id)


@dataclass(frozen=True, kw_only=True)
class Editing(Session):
    """What a client that writes has: its desk as well."""

    desk: Desk

    def freshen(self) -> None:
        """See `Desk.freshen`."""
        self.desk.freshen()

    def leave(self) -> str:
        """See `Desk.leave`."""
        return self.desk.leave()


def _edit(name: str) -> Callable[[Editing, Given, Room], Part]:
    """The method of a copy that is called so, as a tool; "" takes a value away."""

    def ask(session: Editing, given: Given, room: Room) -> Part:
        how = {each: value for each, value in given.items() if each != "budget"}
        for each in {"keyword", "value"} & how.keys():
            how[each] = how[each] or None
        done = getattr(session.desk.copy, name)(**how)
        return _edited([done] if isinstance(done, Edit) else list(dict.fromkeys(done)), room)

    return ask


def _edited(edits: Sequence[Edit], room: Room) -> Part:
    """What was edited, and the revision that the next edit is based on."""
    lines = [
        f"{each.address}: {each.base[:DIGITS] or 'new'} -> {each.revision[:DIGITS] or 'deleted'}\n"
        for each in edits
    ]
    return Part(_told(lines, room), lists={"edits": [each._asdict() for each in edits]})


def _told(lines: Sequence[str], room: Room) -> str:
    """As much as fits of what was done. It is done, so there is no budget that is too small."""
    try:
        shown, rest = lines_in(lines, Limit(room.view), count, lambda shown: "", least=0)
    except BudgetTooSmall:
        return ""
    return shown + "".join(f"{each}\n" for each in rest)


def diff(session: Editing, given: Given, room: Room) -> Part:
    """See `Workcopies.diff`."""
    edited, after = session.desk.copies.diff(session.desk.copy.id), given.get("after", 0)
    lines = "".join(each.patch for each in edited).splitlines(keepends=True)
    data = [{"path": each.path, "what": each.what} for each in edited]
    if not lines:
        return Part("nothing was edited\n")

    def call(shown: int) -> str:
        return tool_call("diff", {**given, "after": after + shown})

    body, calls = lines_in(lines[after:], Limit(room.view), count, call)
    return Part(body, calls, lists={"edited": data})


def commit(session: Editing, given: Given, room: Room) -> Part:
    """See `Workcopies.commit`."""
    how = {each: given[each] for each in ("on_conflict", "allow_shrink") if each in given}
    report = session.desk.copies.commit(session.desk.copy.id, given["message"], **how)
    lines = [outcome_line(each) for each in report.outcomes] or ["nothing was edited\n"]
    data = [{"path": each.path, "what": each.what} for each in report.outcomes]
    facts = {"revision": report.revision, "is_whole": report.is_whole}
    return Part(_told(lines, room), (), facts, {"outcomes": data})


_WHERE = Parameter("string", "default last", WHERE)
_HEADLINES = Parameter("string", "what becomes of headlines that would stand beside it", HEADLINES)
_GIVEN = text(is_required=True)


def _editor(name: str, about: str, /, **parameters: Parameter) -> Tool:
    based = {"base": text("revision that was read"), **BUDGET}
    return Tool(name, about, {**parameters, **based}, _edit(name), is_reading=False)


WRITING = (
    _editor(
        "edit",
        "Replace a text in a note by another.",
        path=_GIVEN,
        old=text("there once", is_required=True),
        new=_GIVEN,
        replace_all=FLAG,
        headlines=_HEADLINES,
    ),
    _editor("write", "Make a note, or replace all of one.", path=_GIVEN, text=_GIVEN),
    _editor(
        "edit_entry",
        "Replace an entry's headline and text; what is below stays.",
        address=_GIVEN,
        text=_GIVEN,
        headlines=_HEADLINES,
    ),
    _editor(
        "insert_entry",
        "Put in an entry below or beside another, or in a file.",
        address=_GIVEN,
        text=text("begins with its headline", is_required=True),
        where=_WHERE,
        headlines=_HEADLINES,
    ),
    _editor(
        "move_entry",
        "Move an entry with all below it, also to another file.",
        address=_GIVEN,
        to=_GIVEN,
        where=_WHERE,
    ),
    _editor(
        "set_keyword",
        "Set a headline's TODO keyword.",
        address=_GIVEN,
        keyword=text("empty: none", is_required=True),
    ),
    _editor(
        "set_property",
        "Set a property of an entry.",
        address=_GIVEN,
        name=_GIVEN,
        value=text("empty: take it out", is_required=True),
    ),
    _editor("move", "Rename a note.", path=_GIVEN, to=_GIVEN),
    _editor("delete", "Delete a note, or an entry with all below it.", address=_GIVEN),
    Tool(
        "diff",
        "Show what was edited in the copy.",
        {"after": Parameter("integer", "lines to pass over", least=0), **BUDGET},
        diff,
    ),
    Tool(
        "commit",
        "Bring what was edited into the notes, entry by entry.",
        {
            "message": _GIVEN,
            "on_conflict": Parameter("string", "whose half is taken", POLICIES),
            "allow_shrink": Parameter("boolean", "a note may lose half its text"),
            **BUDGET,
        },
        commit,
        is_reading=False,
    ),
)
"""The tools that write; nothing but `commit` changes the notes."""
