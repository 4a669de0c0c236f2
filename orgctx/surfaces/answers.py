"""What a tool answers: text between marks that no note can forge, and lean data, in one budget."""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..errors import BudgetTooSmall, OrgctxError
from ..store.roots import escaped
from ..tokens import count
from .output import printable

BUDGET, MOST = 8000, 20_000
"""Tokens of an answer: by default, and at most; clients cut or refuse more than 25,000."""
FRAME = 28
"""Tokens of the two marks, whatever their number, and what a line end between them may cost."""
DATA, CALLS = 600, 160
"""The most tokens that data, and the lines below the marks, take from the text."""
ERROR = 500
"""The most tokens of a refusal."""


class Room(NamedTuple):
    """How a budget is divided. budget: of the whole answer. has_data: whether data is part of it.

    A larger budget makes no part smaller.
    """

    budget: int
    has_data: bool = True

    @property
    def data(self) -> int:
        """For the structured content."""
        return min(self.budget // 8, DATA) if self.has_data else 0

    @property
    def text(self) -> int:
        """For all of the text content."""
        return self.budget - self.data

    @property
    def calls(self) -> int:
        """For lines below the marks that the view itself does not count."""
        return min(self.text // 8, CALLS)

    @property
    def view(self) -> int:
        """For what stands between the marks; at least 1, which no view fits in."""
        return max(1, self.text - FRAME - self.calls)

    def check(self) -> None:
        """That what was done can be told, if only by its marks.

        Raises: BudgetTooSmall.
        """
        if self.text < FRAME:
            raise too_small(self, self.least("text", FRAME))

    def least(self, part: str, needed: int) -> int:
        """The smallest budget of which a part is `needed`."""
        budgets = range(1, 3 * needed + 4 * FRAME)
        return 1 + bisect_left(budgets, needed, key=lambda n: getattr(Room(n, self.has_data), part))


class Part(NamedTuple):
    """What a view has to say.

    body: what stands in notes, or is about them. calls: lines below it, how to get what is left
    out. facts: of the data. lists: those of the data that give way where it would cost too much.
    """

    body: str
    calls: Sequence[str] = ()
    facts: Mapping[str, Any] = {}
    lists: Mapping[str, Sequence[Any]] = {}


@dataclass(frozen=True, slots=True)
class Answer:
    """What the caller of a tool gets.

    text: of the answer, or one line of JSON that says what was wrong. data: lean facts about it;
    None where there is no room, or none is wanted. tokens: what the text costs.
    """

    text: str
    data: dict[str, Any] | None
    tokens: int
    is_error: bool = False


class Seal:
    """Marks around text: their number depends on it and on a secret, so nothing in it can know."""

    def __init__(self, secret: bytes = b"") -> None:
        """secret: a new one by default."""
        self._secret = secret or secrets.token_bytes(32)

    def around(self, body: str) -> str:
        """The text between its marks, each on a line of its own."""
        digest = hmac.digest(self._secret, body.encode(), hashlib.sha256)
        number = f"{int.from_bytes(digest) % 10**12:012}"
        end = "" if not body or body.endswith("\n") else "\n"
        return f"<notes {number}>\n{body}{end}</notes {number}>\n"


def answer(part: Part, seal: Seal, room: Room) -> Answer:
    """Put an answer together. Raises: BudgetTooSmall."""
    text = seal.around(escaped(part.body)) + "".join(map(_line, part.calls))
    tokens = count(text)
    if tokens > room.text:
        raise too_small(room, room.least("text", tokens))
    data = _data({"tokens": tokens, **part.facts}, part.lists, room.data)
    return Answer(text, data, tokens)


def too_small(room: Room, needed: int) -> BudgetTooSmall:
    """A refusal that names the budget that works."""
    hint = f"give a budget of {needed} or more" if needed <= MOST else "ask for less at once"
    what = f"a budget of {room.budget} tokens is below the {needed} that this answer needs"
    return BudgetTooSmall(what, needed, hint, "budget")


def fitting(lines: Sequence[str], budget: int) -> list[str]:
    """The first lines whose cost together is within a budget."""
    kept: list[str] = []
    for line in lines:
        budget -= count(_line(line))
        if budget < 0:
            break
        kept.append(line)
    return kept


def _line(text: str) -> str:
    """A line below the marks: nothing in it breaks it."""
    return f"{printable(escaped(text))}\n"


def compact(data: object) -> str:
    """JSON as clients get it: without blanks, each character as it is."""
    return escaped(json.dumps(data, ensure_ascii=False, separators=(",", ":")))


def _data(
    facts: Mapping[str, Any], lists: Mapping[str, Sequence[Any]], budget: int
) -> dict[str, Any] | None:
    """Facts and as many items as fit, with the number of those that do not; None: not even facts.

    The lists are filled in their order.
    """

    def first(items: int) -> dict[str, Any]:
        data, left = dict(facts), {}
        for name, values in lists.items():
            data[name] = list(values[:items])
            if more := len(values) - len(data[name]):
                left[name] = more
            items -= len(data[name])
        return {**data, "more": left} if left else data

    def cost(items: int) -> int:
        return count(compact(first(items)))

    items = bisect_right(range(sum(map(len, lists.values())) + 1), budget, key=cost) - 1
    while items >= 0 and cost(items) > budget:  # without what is said of the rest it may cost less
        items -= 1
    return json.loads(compact(first(items))) if items >= 0 else None


def refused(error: OrgctxError) -> Answer:
    """An error as one line of JSON: class, message, hint, where, and what is needed.

    A field that would make it cost too much is cut.
    """
    fields = error.to_data()
    chars = max(len(each) for each in fields.values() if isinstance(each, str))
    while count(text := compact(fields)) > ERROR:
        chars = chars * 3 // 4
        for name, value in fields.items():
            if isinstance(value, str) and len(value) > chars:
                fields[name] = f"{value[: chars - 1]}…"
    return Answer(text, None, count(text), is_error=True)
