"""What may be done in a copy."""

from __future__ import annotations

from pathlib import Path

from ..core.model import Problem
from .checkout import Checkout
from .state import State


class Copy:
    """A working copy. problems: what was passed over when it was opened."""

    def __init__(self, state: State, checkout: Checkout, problems: list[Problem]) -> None:
        self._state, self._checkout = state, checkout
        self.problems = problems

    @property
    def id(self) -> str:
        """The copy's name."""
        return self._checkout.id

    @property
    def folder(self) -> Path:
        """The folder to work in: the address of a note is its path from here."""
        return self._checkout.folder
