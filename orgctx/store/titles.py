"""Titles as Org searches for them, and as the steps of an outline path."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from ..core.model import Node
from ..core.outline import COOKIE
from .roots import nfc


def plain_title(title: str) -> str:
    """A title as Org searches for it: blanks and statistics cookies do not count."""
    return " ".join(COOKIE.sub(" ", nfc(title)).split())


class Called:
    """Nodes by their titles or other names, as Org searches for them.

    Blanks and statistics cookies do not count; case does only where a name is there as it is given.
    """

    def __init__(self, called: Iterable[tuple[str, Node]]) -> None:
        """called: (name, node), in the order of the file."""
        self._exact: dict[str, list[Node]] = defaultdict(list)
        self._folded: dict[str, list[Node]] = defaultdict(list)
        for name, node in called:
            plain = plain_title(name)
            self._exact[plain].append(node)
            self._folded[plain.casefold()].append(node)

    def all(self, name: str) -> list[Node]:
        """The nodes of a name, in order."""
        plain = plain_title(name)
        return self._exact.get(plain) or self._folded.get(plain.casefold(), [])

    def first(self, name: str) -> Node | None:
        """The node to which a link of this name leads; none does to what has no name."""
        return next(iter(self.all(name)), None) if plain_title(name) else None


def outline_path(node: Node) -> str:
    """The titles from the outermost headline down, joined by slashes; a slash inside is `\\/`."""
    return path_of(each.title for each in (*node.ancestors[1:], node))


def path_of(titles: Iterable[str]) -> str:
    """The outline path of some titles."""
    return "/".join(map(step, titles))


def step(title: str) -> str:
    """A title as a step of an outline path, without the cookies that count what is done."""
    return COOKIE.sub("", title).strip().replace("/", r"\/")
