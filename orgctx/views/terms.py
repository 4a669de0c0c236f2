"""A query, taken apart: what is looked for, and how much it says."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, pairwise
from typing import NamedTuple

from ..store.roots import nfc
from ..store.words import is_spaceless, phrase, spaced, stems
from .lexicon import function_words, synonyms

MOST = 48
"""How many terms of a query are looked for, the first of them."""
FUNCTION = 0.5
"""What a word is worth that holds a question together."""
NEAR = 3
"""How many words may stand between two that were asked for side by side."""

_WORD = re.compile("[^\\W_]+(?:[\u0300-\u036f]+[^\\W_]*)*")


class Term(NamedTuple):
    """Something that is looked for.

    text: as the query has it. match: an expression of FTS5. weight: what it is worth, 0 to 1.
    also: expressions for what stands for it. kind: "word", "function", "character" or "pair", the
    last two of a script without spaces.
    """

    text: str
    match: str
    stem: str
    weight: float = 1.0
    also: tuple[str, ...] = ()
    kind: str = "word"


class Terms(NamedTuple):
    """What a query looks for.

    near: expressions for words that it has side by side, each with the numbers of the two terms.
    """

    terms: tuple[Term, ...]
    near: tuple[tuple[str, int, int], ...]


def terms(query: str) -> Terms:
    """Take a query apart.

    query: any text; nothing in it is syntax.
    Returns: its words by stem, each once; of scripts without spaces characters and pairs of them.
    """
    runs = [run for word in _WORD.findall(nfc(query)) for run in _runs(word)][: MOST * 2]
    found: dict[str, Term] = {}
    for run, stem in zip(runs, stems([run.lower() for run in runs]), strict=True):
        for term in _spaceless(run) if is_spaceless(run) else _word(run.lower(), stem):
            found.setdefault(term.stem, term)
    kept = tuple(found.values())[:MOST]
    places = {term.text: place for place, term in enumerate(kept) if term.kind == "word"}
    sequence = [run.lower() for run in runs if run.lower() in places]
    return Terms(kept, tuple(_near(sequence, places)))


def _runs(word: str) -> Iterable[str]:
    """A word, cut where a script without spaces begins or ends."""
    if word.isascii():
        return (word,)
    return ("".join(run) for _, run in groupby(word, is_spaceless))


def _word(text: str, stem: str) -> Iterator[Term]:
    if text in function_words():
        yield Term(text, phrase(text), stem, FUNCTION, (), "function")
    elif stem:
        also = synonyms().get(stem, ())
        yield Term(text, phrase(text), stem, 1.0, tuple(map(phrase, also)))


def _spaceless(run: str) -> Iterator[Term]:
    """Characters, pairs, and the words in it that others stand for."""
    known, little = synonyms(), function_words()
    for char in run:
        is_little = char in little
        kind, weight = ("function", FUNCTION) if is_little else ("character", 1.0)
        yield Term(char, phrase(char), char, weight, (), kind)
    for start in range(len(run) - 1):
        for size in (2, 3):
            text = run[start : start + size]
            also = tuple(phrase(spaced(each).strip()) for each in known.get(text, ()))
            if also or (size == 2 and not set(text) <= little):
                yield Term(text, phrase(spaced(text).strip()), text, 1.0, also, "pair")


def _near(sequence: Sequence[str], places: dict[str, int]) -> Iterator[tuple[str, int, int]]:
    for one, other in dict.fromkeys(pairwise(sequence)):
        if places[one] != places[other]:
            yield f"NEAR({phrase(one)} {phrase(other)}, {NEAR})", places[one], places[other]
