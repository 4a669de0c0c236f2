"""What can go wrong, as data: each error says what, where, and how to mend it.

Every surface shows the same three fields; the command line turns the class into an exit status
and MCP and Emacs receive them as they are. The text of a note never stands in an error.
"""

from __future__ import annotations


class OrgctxError(Exception):
    """Base of everything orgctx raises on purpose.

    message: what is wrong, one line.
    hint: how to mend it, one line; "" if there is nothing to say.
    where: the address, file or option at fault; "" if there is none.
    """

    exit_status = 1

    def __init__(self, message: str, hint: str = "", where: str = "") -> None:
        super().__init__(clipped(message))
        self.message, self.hint, self.where = clipped(message), clipped(hint), where

    def to_data(self) -> dict[str, str | int]:
        """The same as data: the class, as `error`, message, hint, where."""
        named = {"error": type(self).__name__, "message": self.message, "hint": self.hint}
        return {**named, "where": self.where}


LONGEST = 1000
"""Characters of a message or a hint: an error is no way around a budget."""


def clipped(text: str) -> str:
    """A text of at most `LONGEST` characters, without its middle if it was longer."""
    half = LONGEST // 2
    return text if len(text) <= LONGEST else f"{text[: half - 1]}…{text[-half:]}"


class NotFound(OrgctxError):
    """No node, file or folder has this name."""


class Ambiguous(OrgctxError):
    """More than one node has this name; the hint lists them."""


class OutsideRoot(OrgctxError):
    """The path leads out of the roots. It is not said whether anything is there."""


class Unreadable(OrgctxError):
    """A file that cannot be read as Org text, or a part of the program that is damaged."""


class BadArgument(OrgctxError, ValueError):
    """A value that no call can accept: a budget of zero, an unknown encoding."""

    exit_status = 2


class BudgetTooSmall(OrgctxError):
    """Not even the spine fits. `needed` is the smallest budget that works, in the view's unit."""

    exit_status = 3

    def __init__(self, message: str, needed: int, hint: str = "", where: str = "") -> None:
        super().__init__(message, hint, where)
        self.needed = needed

    def to_data(self) -> dict[str, str | int]:
        """See OrgctxError.to_data; with what is needed."""
        return {**super().to_data(), "needed": self.needed}


class OutOfRange(OrgctxError):
    """A number beyond the last there is, such as that of a rank."""

    exit_status = 3


class Stale(OrgctxError):
    """A text is no longer there as it was when it was read. `revision` is the current text's."""

    def __init__(self, message: str, hint: str = "", where: str = "", revision: str = "") -> None:
        super().__init__(message, hint, where)
        self.revision = revision


class BadConfig(OrgctxError):
    """A configuration file that cannot be read, or says what cannot be."""
