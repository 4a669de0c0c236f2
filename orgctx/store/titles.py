"""Titles as Org searches for them, and as the steps of an outline path."""

from __future__ import annotations

from collections.abc import Iterable

from ..core.model import Node
from ..core.outline import COOKIE
from .roots import nfc


def plain_title(title: str) -> str:
    """A title as Org searches for it: blanks and statistics cookies do not count."""
    return " ".join(COOKIE.sub(" ", nfc(title)).split())


def outline_path(node: Node) -> str:
    """The titles from the outermost headline down, joined by slashes; a slash inside is `\\/`."""
    return path_of(each.title for each in (*node.ancestors[1:], node))


def path_of(titles: Iterable[str]) -> str:
    """The outline path of some titles."""
    return "/".join(map(step, titles))


def step(title: str) -> str:
    """A title as a step of an outline path, without the cookies that count what is done."""
    return COOKIE.sub("", title).strip().replace("/", r"\/")
