"""How edits and records look: as a patch, as lines, as the text of a version."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress
from difflib import unified_diff

from ..config import load, users_file
from ..core.entry import many
from ..core.heading import printable
from ..errors import NotFound, OrgctxError, Unreadable
from ..store.files import decode
from ..store.store import Store
from .copying import shown
from .history import History
from .record import SIDES, Outcome, Record, Status

DIGITS = 12
"""How much of a revision is shown."""
NOWHERE = "/dev/null"


def patch(path: str, before: bytes | None, after: bytes | None) -> str:
    """What changed in a file, as git and patch have it. None: there is no file."""
    old, new = (_lines(path, data) for data in (before, after))
    name = printable(path)
    names = (NOWHERE if before is None else f"a/{name}", NOWHERE if after is None else f"b/{name}")
    rows = list(unified_diff(old, new, *names))
    if not rows and before != after:  # an empty file comes or goes, or only bytes differ
        rows = [f"--- {names[0]}\n", f"+++ {names[1]}\n"]
    return "".join(_ended(row) for row in rows)


def _lines(path: str, data: bytes | None) -> list[str]:
    """The lines with their ends; of what is no text, one that says so."""
    try:
        text, _ = decode(data or b"", path)
    except Unreadable as error:
        return [f"({error.message.removeprefix(f'{path}: ')})\n"]
    lines = text.split("\n")
    last = lines.pop()
    return [line + "\n" for line in lines] + ([last] if last else [])


def _ended(row: str) -> str:
    return row if row.endswith("\n") else f"{row}\n\\ No newline at end of file\n"


def outcome_line(outcome: Outcome) -> str:
    """An outcome on one line: what, path, and why; of what is held back, both revisions."""
    line = f"{outcome.what} {printable(outcome.path)}"
    if outcome.why:
        line += f" — {printable(outcome.why)}"
    if outcome.is_held or outcome.conflicts:
        line += f" (ours {_short(outcome.ours)}, theirs {_short(outcome.theirs)})"
    return line + "\n"


def _short(revision: str | None) -> str:
    return revision[:DIGITS] if revision else "none"


def status_line(status: Status) -> str:
    """A copy on one line."""
    state = "damaged" if status.fault else many(len(status.changed), "edited note")
    return f"{printable(status.id)} — {state} — {printable(str(status.folder))}\n"


def log_line(revision: str, record: Record) -> str:
    """A record on one line."""
    first = printable(record.message.partition("\n")[0])
    names = f"{record.kind} of {printable(record.copy)}"
    return f"{_short(revision)} {_date(record.time)} {names}, {_counts(record)}: {first}\n"


def _date(seconds: int) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))


def _counts(record: Record) -> str:
    whats = [each.what for each in record.outcomes]
    return ", ".join(f"{whats.count(what)} {what}" for what in dict.fromkeys(whats)) or "nothing"


class Past:
    """What a history has to show; what is private now is not shown."""

    def __init__(self, history: History) -> None:
        self._history = history

    def show(self, name: str) -> str:
        """What is at REV, a record or a version of a file, or at REV:PATH, what became of a note.

        PATH may begin with a side: base, ours, theirs or result, which it is by default.
        Raises: NotFound, Ambiguous.
        """
        prefix, colon, path = name.partition(":")
        revision, is_record = self._history.find(prefix)
        if not is_record:
            if colon:
                raise NotFound(f"{prefix}: no record", "give it without a path", prefix)
            return self._version(revision)
        record = self._history.read(revision)
        return self._file(record, path) if colon else "".join(self._record(revision, record))

    def _record(self, revision: str, record: Record) -> Iterator[str]:
        yield f"{record.kind} {revision}\ncopy {printable(record.copy)}\n"
        yield f"date {_date(record.time)}\n\n"
        yield from (f"    {printable(line)}\n" for line in record.message.split("\n"))
        yield "\n"
        for each in record.outcomes:
            yield outcome_line(each)
        tags = _tags(record)
        for each in record.outcomes:
            is_written = each.theirs != each.result
            pair = (each.theirs, each.result) if is_written else (each.base, each.ours)
            yield patch(each.path, *(self._shown(each.path, side, tags) for side in pair))

    def _file(self, record: Record, path: str) -> str:
        side, _, rest = path.partition("/")
        known = {each.path: each for each in record.outcomes}
        found = known.get(path) or (known.get(rest) if side in SIDES else None)
        if found is None:
            names = ", ".join(known)
            raise NotFound(f"{path}: not in this record", f"it has: {names}", path)
        revision = getattr(found, "result" if found.path == path else side)
        data = self._shown(found.path, revision, _tags(record))
        if data is None:
            sides = [each for each in SIDES if getattr(found, each)]
            hint = f"there is one on: {', '.join(sides)}"
            raise NotFound(f"{path}: there is no such file", hint, path)
        return "".join(_lines(path, data))

    def _version(self, revision: str) -> str:
        """A version of a file, as far as it is known of which."""
        for _, record in self._history.log():
            for each in record.outcomes:
                if revision in (each.base, each.ours, each.theirs, each.result):
                    data = self._shown(each.path, revision, _tags(record))
                    return "".join(_lines(each.path, data))
        raise NotFound(f"{revision}: in no record", "see them with: orgctx work log", revision)

    def _shown(self, path: str, revision: str | None, tags: frozenset[str]) -> bytes | None:
        """A version, as far as it may be shown. tags: the private ones."""
        if revision is None:
            return None
        data = self._history.data(revision)
        try:
            return shown(data, path, tags)
        except Unreadable:  # of which `_lines` tells no more than that
            return data


def _tags(record: Record) -> frozenset[str]:
    """The tags that were private in a record's roots, or are now."""
    config, tags = load(users_file(), is_users=True), frozenset(record.private_tags)
    with suppress(OrgctxError):  # a root is gone
        configs = Store(record.roots, config=config).configs.values()
        tags = tags.union(*(each.private_tags for each in configs))
    return tags | config.private_tags
