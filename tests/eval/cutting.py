"""Texts cut to a budget, in whole lines, counted by tiktoken itself: what rivals are made of."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from orgctx.core.model import Node
from orgctx.tokens import get_encoding

ENCODING = "o200k_base"
CHARS = 8
"""A first guess of how many characters a token has, from above."""


def count(text: str) -> int:
    """What tiktoken counts, whoever counts for the engine."""
    return len(encoded(text))


def encoded(text: str) -> list[int]:
    return get_encoding(ENCODING).encode(text, disallowed_special=())


def first(text: str, budget: int) -> str:
    """The longest beginning of a text, of whole lines, that costs at most `budget` tokens."""
    size = _enough(text, budget, from_end=False)
    if size >= len(text) and count(text) <= budget:
        return text
    kept = _decoded(encoded(text[:size])[:budget])
    kept = kept[: kept.rfind("\n") + 1]
    while count(kept) > budget:  # the tokens of a part may be more than its part of the tokens
        kept = kept[: kept.rfind("\n", 0, -1) + 1]
    return kept


def last(text: str, budget: int) -> str:
    """The longest end of a text, of whole lines, that costs at most `budget` tokens."""
    size = _enough(text, budget, from_end=True)
    if size >= len(text) and count(text) <= budget:
        return text
    kept = _decoded(encoded(text[-size:])[-budget:]) if budget else ""
    before = text[: len(text) - len(kept)]
    if before and not before.endswith("\n"):
        kept = _behind_first_line(kept)
    while count(kept) > budget:
        kept = _behind_first_line(kept)
    return kept


def filled(nodes: Iterable[Node], budget: int) -> str:
    """Entries of one file in document order, as many as fit; given from the most wanted on."""
    kept: dict[int, str] = {}
    for node in nodes:
        kept[node.index] = first(ended(node.text), budget)
        budget -= cost(kept[node.index])
        if kept[node.index] != ended(node.text):
            break
    return "".join(kept[index] for index in sorted(kept))


@lru_cache(maxsize=4096)
def cost(text: str) -> int:
    """`count`, remembered."""
    return count(text)


def ended(text: str) -> str:
    """The text with its last line ended."""
    return text if text.endswith("\n") or not text else f"{text}\n"


def _enough(text: str, budget: int, from_end: bool) -> int:
    """How many characters cost more than the budget, or all that there are."""
    size = CHARS * budget + 1
    while size < len(text) and count(text[-size:] if from_end else text[:size]) <= budget + 1:
        size *= 2
    return min(size, len(text))


def _decoded(tokens: list[int]) -> str:
    return get_encoding(ENCODING).decode_bytes(tokens).decode("utf-8", "ignore")


def _behind_first_line(text: str) -> str:
    """The text without its first line."""
    return text[text.find("\n") + 1 :] if "\n" in text else ""
