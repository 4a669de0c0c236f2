"""What is known of words whatever the notes are: which say little, and which stand for others."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from ..store.words import is_spaceless, stems


@cache
def function_words() -> frozenset[str]:
    """English words that hold a question together."""
    return frozenset(word for line in _lines("function") for word in line.split())


@cache
def foreign_words() -> frozenset[str]:
    """The same in some other languages, but for words of English."""
    return frozenset(word for line in _lines("foreign") for word in line.split())


@cache
def shared_words() -> frozenset[str]:
    """The same in those languages, but words of English as well."""
    return frozenset(word for line in _lines("shared") for word in line.split())


@cache
def common_stems() -> frozenset[str]:
    """Stems of English words that anybody may use of anything."""
    return frozenset(stems([word for line in _lines("common") for word in line.split()]))


@cache
def synonyms() -> Mapping[str, tuple[str, ...]]:
    """Stem -> the words that stand for words of this stem, in the order of the list.

    A word of a script without spaces is its own stem.
    """
    groups = [line.split() for line in _lines("synonyms")]
    words = list(dict.fromkeys(word for group in groups for word in group))
    known = {w: w if is_spaceless(w) else s for w, s in zip(words, stems(words), strict=True)}
    found: dict[str, dict[str, str]] = {}
    for group in groups:
        for word in group:
            others = found.setdefault(known[word], {})
            others.update((known[each], each) for each in group if known[each] != known[word])
    return {stem: tuple(others.values()) for stem, others in found.items()}


def _lines(name: str) -> list[str]:
    text = (Path(__file__).parent / "wordlists" / f"{name}.txt").read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("#")]
