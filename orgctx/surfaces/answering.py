"""What each tool does: ask one view, within the room there is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from ..cites import Cites, normalised
from ..core.entry import many
from ..core.model import Omission, Problem, View
from ..store.store import Store
from ..tokens import count
from ..views import listing, reading, searching, syncing
from ..views.bundle import instructions
from ..views.collecting import Workspace, collected
from ..views.context import context as route
from ..views.context import narrowed
from ..views.focus import focus as focus_view
from ..views.overview import survey
from ..views.page import Call, fit
from ..views.query import How, query_of
from ..views.view import Limit, unsaved
from .answers import Part, Room, compact, fitting
from .calls import Calls

Given = Mapping[str, Any]

CALLS = 4
"""How many omissions get a line with the call that shows what they left out."""


@dataclass(frozen=True)
class Session:
    """What one client has: the notes, its own numbers for cites, and its own ledger.

    workspace: a folder that may rank the collections otherwise.
    """

    store: Store
    workspace: Workspace = None
    cites: Cites = field(default_factory=Cites)
    ledger: Calls = field(default_factory=Calls)

    def freshen(self) -> None:
        """Do what has to be done before each answer: nothing, the views look for changes."""

    def leave(self) -> str:
        """End it. Returns: the name of a copy made for it that has edits, or ""."""
        return ""


def focus(session: Session, given: Given, room: Room) -> Part:
    """See `views.focus.focus`."""
    limit = Limit(room.view, ids=given.get("ids", "full"))
    lens = given.get("lens", "foveal")
    return _of_view(session.store, focus_view(session.store, given["addresses"], limit, lens), room)


def overview(session: Session, given: Given, room: Room) -> Part:
    """See `views.overview.survey`."""
    view = survey(session.store, given.get("addresses", ()), Limit(room.view))
    return _of_view(session.store, view, room)


def _of_view(store: Store, view: View, room: Room) -> Part:
    targets = [each.path for each in view.shown if each.relation == "target"]
    notes = [*_complaints(unsaved(store, targets)), *_calls(view)]
    lists: dict[str, list[Any]] = {
        "omitted": [_omission(each) for each in view.omitted],
        "addresses": [each.address for each in view.shown],
    }
    return Part(view.text, fitting(notes, room.calls), {"targets": list(view.targets)}, lists)


def _omission(each: Omission) -> dict[str, Any]:
    counts = {"headlines": each.headlines, "lines": each.lines, "files": len(each.paths)}
    return {"address": each.address, **{name: n for name, n in counts.items() if n}}


def _calls(view: View) -> Iterator[str]:
    """How to get what is left out of the targets, and then of what else is shown."""
    omitted = sorted(view.omitted, key=lambda each: each.address not in view.targets)
    for each in omitted[:CALLS]:
        if each.lines:
            call = tool_call("read", {"address": each.address})
            yield f"… {many(each.lines, 'line')} left out: {call}"
        if each.headlines or each.paths:
            kind = "headline" if each.headlines else "file"
            what = many(each.headlines or len(each.paths), kind)
            yield f"… {what} left out: {tool_call('ls', {'path': each.address})}"


def context(session: Session, given: Given, room: Room) -> Part:
    """See `views.context.context`."""
    rank = given.get("rank")
    known = collected(session.store, session.workspace)
    store, searched = narrowed(session.store, known, rank, ())
    limit, mode = Limit(room.view), given.get("mode", "all")
    found = route(store, given["query"], limit, mode, searched=searched, call=tool_call)
    calls = instructions(found)
    body, _ = _split(found.text, len(calls) + 1)
    facts = {"abstained": found.abstained, "rank": searched.rank, "ranks": searched.ranks}
    addresses = {"addresses": [each.address for each in found.hits]}
    return Part(body, calls, facts, addresses)


def ls(session: Session, given: Given, room: Room) -> Part:
    """See `views.listing.ls`."""
    found = listing.ls(
        session.store,
        given.get("path", ""),
        Limit(room.view),
        given.get("limit", listing.LINES),
        given.get("kind", "all"),
        given.get("after", ""),
        _going_on("ls", given),
        is_long=given.get("long", False),
    )
    body, calls = _split(found.text, len(found.rest))
    rest = [{"kind": each.kind, "more": each.more} for each in found.rest]
    return Part(
        body, calls, {"omitted": rest}, {"addresses": [each.address for each in found.rows]}
    )


def grep(session: Session, given: Given, room: Room) -> Part:
    """See `views.searching.search`."""
    how = {name: given[name] for name in How.__annotations__ if name in given}
    query = query_of(given.get("pattern", ""), given.get("path", ""), **how)
    page = searching.Page(given.get("limit", searching.ENTRIES), given.get("after", ""))
    write = partial(searching.to_text, call=_going_on("grep", given))
    found = searching.search(session.store, query, page, Limit(room.view), write)
    body, calls = _split(write(found), searching.has_rest(found))
    edited = unsaved(session.store, (each.path for each in found.entries))
    complaints = fitting(_complaints((*found.unreadable, *edited)), room.calls)
    facts = {"omitted": found.left_out, "abstained": not found.entries}
    addresses = {"addresses": [each.address for each in found.entries]}
    return Part(body or _nothing(found), [*calls, *complaints], facts, addresses)


def _nothing(found: searching.Found) -> str:
    near = f"; there is a title {' or '.join(map(repr, found.near))}" if found.near else ""
    return f"nothing found{near}\n"


def read(session: Session, given: Given, room: Room) -> Part:
    """See `views.reading.read`."""
    found = reading.read(
        session.store,
        given["address"],
        Limit(room.view),
        given.get("subtree", False),
        given.get("lines"),
        session.cites,
        _going_on("read", {name: given[name] for name in given if name != "subtree"}),
    )
    body, calls = _split(found.text, found.left > 0)
    edited = fitting(_complaints(unsaved(session.store, [found.path])), room.calls)
    facts = {"path": found.path, "cite": found.handle, "revision": found.revision}
    lines = {"first": found.first, "last": found.last, "of": found.total, "omitted": found.left}
    return Part(body, [*calls, *edited], {**facts, **lines})


def cite(session: Session, given: Given, room: Room) -> Part:
    """See `cites.normalised`."""
    text, problems = normalised(given["answer"], session.cites, given.get("style", "link"))
    told = [f"line {each.line}: {each.cite}: {each.what}" for each in problems]
    return Part(text, fitting(told, room.calls), {"problems": len(problems)})


def status(session: Session, given: Given, room: Room) -> Part:
    """See `views.syncing.status`; and what this session has asked for so far."""
    session.store.freshen()
    data, ledger = syncing.status(session.store), session.ledger
    answers, refusals = ledger.answers.total(), ledger.refusals.total()
    asked = f"{many(answers, 'answer')}, {many(refusals, 'refusal')}, {ledger.total} tokens\n"
    lines = [f"this session so far: {asked}", *syncing.status_text(data).splitlines(keepends=True)]

    def write(shown: int) -> str:
        more = len(lines) - shown
        return "".join(lines[:shown]) + (f"… {many(more, 'more line')}\n" if more else "")

    shown = fit(write, len(lines), Limit(room.view), count)
    facts = {name: data[name] for name in ("ids", "duplicates")}
    return Part(write(shown), (), {**facts, "problems": data["problem_count"]})


def tool_call(name: str, arguments: Given) -> str:
    """A call as text: the tool, and its arguments as JSON."""
    return f"{name} {compact(arguments)}"


def _going_on(name: str, given: Given) -> Call:
    """The call that goes on behind this one."""

    def call(changed: Mapping[str, str]) -> str:
        arguments = {**given, **changed}
        return tool_call(name, {key: value for key, value in arguments.items() if value != ""})

    return call


def _split(text: str, calls: int) -> tuple[str, Sequence[str]]:
    """What stands above its last lines, and these."""
    if not calls:
        return text, ()
    lines = text.removesuffix("\n").split("\n")
    return "".join(f"{line}\n" for line in lines[:-calls]), lines[-calls:]


def _complaints(problems: Iterable[Problem]) -> list[str]:
    return [f"{each.path}: {each.what}{f'; {each.hint}' if each.hint else ''}" for each in problems]
