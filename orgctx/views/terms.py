"""A query, taken apart: what is looked for, and how much it says."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence, Set
from itertools import groupby, pairwise
from typing import NamedTuple
from unicodedata import category

from ..store.words import folded, is_spaceless, phrase, spaced, stems
from .lexicon import foreign_words, function_words, shared_words, synonyms

MOST = 48
"""How many terms of a query are looked for, the first of them."""
FUNCTION = 0.8
"""What a word is worth that holds a question together; in a text alone, no title is about it."""
LEAST, ENDING = 4, 2
"""How many characters of a word stand for it where its stem is not known, at least; and how many at
its end do not."""
NEAR = 3
"""How many words may stand between two that were asked for side by side."""

_WORD = re.compile("[^\\W_]+")


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
    is_foreign: whether it is in a language of which no stems are known.
    """

    terms: tuple[Term, ...]
    near: tuple[tuple[str, int, int], ...]
    is_foreign: bool = False


def terms(query: str) -> Terms:
    """Take a query apart.

    query: any text; nothing in it is syntax.
    Returns: its words by stem, each once; of scripts without spaces characters and pairs of them.
        Where all of them are function words, that is what is asked for, and none is one.
    """
    runs = [run for word in _words(folded(query)) for run in _runs(word)][: MOST * 2]
    is_foreign = _is_foreign({run.lower() for run in runs})
    found: dict[str, Term] = {}
    for run, stem in zip(runs, stems([run.lower() for run in runs]), strict=True):
        for term in _spaceless(run) if is_spaceless(run) else _word(run.lower(), stem, is_foreign):
            found.setdefault(term.stem, term)
    kept = _telling(tuple(found.values())[:MOST])
    places = {term.text: place for place, term in enumerate(kept) if term.kind == "word"}
    sequence = [run.lower() for run in runs if run.lower() in places]
    return Terms(kept, tuple(_near(sequence, places)), is_foreign)


def _telling(given: tuple[Term, ...]) -> tuple[Term, ...]:
    """Terms of which some say what is asked for: all, if each is a function word."""
    if any(term.kind != "function" for term in given):
        return given
    kinds = ("character" if is_spaceless(term.text) else "word" for term in given)
    return tuple(t._replace(weight=1.0, kind=kind) for t, kind in zip(given, kinds, strict=True))


def _is_foreign(words: Set[str]) -> bool:
    """Whether a question is not English, by the words that hold it together."""
    return len(words & foreign_words()) > len(words & (function_words() - shared_words()))


def _words(text: str) -> Iterable[str]:
    """The words of a text; in other scripts than Latin a mark may be a vowel."""
    if text.isascii():
        return _WORD.findall(text)
    runs = groupby(text, lambda char: char.isalnum() or category(char).startswith("M"))
    words = ("".join(run) for is_word, run in runs if is_word)
    return (word for word in words if _WORD.search(word))


def _runs(word: str) -> Iterable[str]:
    """A word, cut where a script without spaces begins or ends."""
    if word.isascii():
        return (word,)
    return ("".join(run) for _, run in groupby(word, is_spaceless))


def _word(text: str, stem: str, is_foreign: bool) -> Iterator[Term]:
    little = foreign_words() | shared_words() if is_foreign else function_words()
    if text in little:
        yield Term(text, phrase(text), stem, FUNCTION, (), "function")
    elif stem:
        also = tuple(map(phrase, synonyms().get(stem, ())))
        beginning = text[: max(len(text) - ENDING, LEAST)]
        also += (f"{phrase(beginning)}*",) if is_foreign and len(text) > LEAST else ()
        yield Term(text, phrase(text), stem, 1.0, also)


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
