"""What was asked of a memex, and what the answers cost."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from ..errors import OrgctxError


class Calls:
    """A ledger of calls by name; several threads may add to it.

    answers: how often each was answered. tokens: what those answers cost together, in the unit of
    each. refusals: how often each was refused.
    """

    def __init__(self) -> None:
        self.answers: Counter[str] = Counter()
        self.tokens: Counter[str] = Counter()
        self.refusals: Counter[str] = Counter()
        self._lock = threading.Lock()

    def add(self, name: str, tokens: int | None) -> None:
        """Note an answer; no tokens: a refusal."""
        with self._lock:
            if tokens is None:
                self.refusals[name] += 1
            else:
                self.answers[name] += 1
                self.tokens[name] += tokens

    @property
    def total(self) -> int:
        """What all answers cost."""
        return self.tokens.total()


class _Asked(Protocol):
    ledger: Calls


class _Answer(Protocol):
    @property
    def tokens(self) -> int: ...


S = TypeVar("S", bound=_Asked)
P = ParamSpec("P")
A = TypeVar("A", bound="_Answer")


def noted(method: Callable[Concatenate[S, P], A]) -> Callable[Concatenate[S, P], A]:
    """A method whose answers, which have `tokens`, and refusals are noted in its ledger."""

    @wraps(method)
    def asked(self: S, /, *args: P.args, **kwargs: P.kwargs) -> A:
        try:
            answer = method(self, *args, **kwargs)
        except OrgctxError:
            self.ledger.add(method.__name__, None)
            raise
        self.ledger.add(method.__name__, answer.tokens)
        return answer

    return asked
