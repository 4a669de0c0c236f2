"""What a folder is about, in a line: what its notes say and those beside it do not.

Nothing here reads a file or a database. A note is boiled down to weighted terms when it is read, a
folder to the sum of what it holds, and a summary is what stands out of it against the folders
beside it. All of it is counting, so the same notes always have the same summary.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, pairwise
from math import log
from typing import NamedTuple
from unicodedata import category, normalize

from ..core.model import Tree

TITLE, TAG, HEADLINE, TEXT = 4.0, 4.0, 1.0, 0.5
MOST = 6.0
"""The most that one note adds to a term: none may speak for a folder alone."""
LEAST = 1.0
"""What one mention in a text is not enough for."""
OF_FILE, OF_FOLDER = 40, 150
"""How many terms are kept."""
WORDS, TAGS, TITLES = 8, 5, 3
"""How many of each a summary names."""
FIRST_LINES = 400
TITLE_LENGTH = 40
SMOOTH = 0.05

_SPACELESS = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_WORD = rf"[{_SPACELESS}]+|[^\W\d_{_SPACELESS}](?:[^\W_{_SPACELESS}]|[%s])+"
_ASCII_WORD = re.compile(r"[a-z]{4,}")
_IS_SPACELESS = re.compile(rf"[{_SPACELESS}]")
_JOINER = "\u200d"
_TARGET = re.compile(r"\w+://\S+|\[\[[^\]]*\]")
SHORT_RUN = 4
SHORT_WORD = 4
PART = "…"
"""What marks a pair of characters of a longer run: it need be no word, see `_grown`."""
ALIKE = 0.75
"""Pairs side by side are of one word if the weight of neither is less of the other's."""


_Weights = defaultdict[str, float]


class Facts(NamedTuple):
    """What a note or a folder says, in weighted terms.

    files: how many notes this is. words, tags: term -> weight, summed over the notes.
    titles: of notes, in path order.
    """

    files: int
    words: Mapping[str, float]
    tags: Mapping[str, float]
    titles: Sequence[str]


def facts_of(tree: Tree) -> Facts:
    """Boil a note down. tree: without what must not be shown; it is not empty."""
    root, words = tree.root, _Weights(float)
    headlines = _TARGET.sub(" ", "\n".join(node.title for node in tree.nodes[1:]))
    for weight, text in ((TITLE, root.title), (TEXT, _opening(root.text)), (HEADLINE, headlines)):
        for term, number in Counter(terms(text)).items():
            words[term] += weight * number
    tags = Counter(tag for node in tree.nodes for tag in node.tags)
    name = root.title or tree.path.rpartition("/")[2].partition(".")[0]
    title = name.encode("utf-8", "replace").decode()
    return Facts(1, _capped(words), _capped(tags), [_brief(title)])


def _brief(title: str) -> str:
    """A title that is not too long, cut at a word if there are any."""
    if len(title) <= TITLE_LENGTH:
        return title
    cut = title[: _boundary(title, TITLE_LENGTH - 1)]
    return f"{cut.rpartition(' ')[0] or cut}…"


def _boundary(text: str, most: int) -> int:
    """The last place up to `most` that is between what is read as characters (UAX 29)."""
    at = most
    while at and (_is_mark(text[at]) or _JOINER in text[at - 1 : at + 1]):
        at -= 1
    return at or most


def _is_mark(char: str) -> bool:
    """Whether a character belongs to the one before it."""
    return category(char)[0] == "M"


def _opening(text: str) -> str:
    """The first lines of a note that are text, without what they link to."""
    lines = (line for line in text[:FIRST_LINES].split("\n") if line[:1] not in ("#", ":"))
    return _TARGET.sub(" ", "\n".join(lines))


def _capped(weights: Mapping[str, float]) -> dict[str, float]:
    ranked = sorted(weights.items(), key=lambda pair: (-pair[1], pair[0]))
    return {term: min(weight, MOST) for term, weight in ranked[:OF_FILE]}


def terms(text: str) -> Iterable[str]:
    """The words of a text, folded; of scripts without spaces, short runs or pairs of characters."""
    if text.isascii():
        return _ASCII_WORD.findall(text.casefold())
    folded = _folded(text)
    return chain.from_iterable(map(_terms_of, re.findall(_WORD % _marks(folded), folded)))


def _marks(text: str) -> str:
    """The marks in a text that a word is written with; never none, so that they make a class."""
    marks = filter(_is_mark, {"\u0300", *text})
    return "".join(sorted(mark for mark in marks if not _IS_SPACELESS.match(mark)))


def _folded(text: str) -> str:
    return normalize("NFKC", text).casefold()


def _terms_of(word: str) -> Iterable[str]:
    if not _IS_SPACELESS.match(word):
        return (word,) if len(word) >= SHORT_WORD or not word.isascii() else ()
    return (word,) if len(word) <= SHORT_RUN else (a + b + PART for a, b in pairwise(word))


def total(parts: Iterable[Facts]) -> Facts:
    """What several notes and folders say together."""
    files, words, tags, titles = 0, _Weights(float), _Weights(float), list[str]()
    parts = list(parts)
    share = max(1, OF_FOLDER // max(len(parts), 1))
    for part in parts:
        files += part.files
        for sums, weights in ((words, part.words), (tags, part.tags)):
            for term, weight in weights.items():
                sums[term] += weight
        titles += part.titles[:share]
    return Facts(files, _kept(words), _kept(tags), titles[:OF_FOLDER])


NOTHING = Facts(0, {}, {}, [])


def rest(whole: Facts, part: Facts) -> Facts:
    """What a folder says but for one that is in it."""
    words, tags = (
        {term: weight - less.get(term, 0.0) for term, weight in sums.items()}
        for sums, less in ((whole.words, part.words), (whole.tags, part.tags))
    )
    return Facts(whole.files - part.files, words, tags, [])


def _kept(sums: _Weights) -> dict[str, float]:
    ranked = sorted(sums.items(), key=lambda pair: (-pair[1], pair[0]))
    return dict(ranked[:OF_FOLDER])


def summary(here: Facts, beside: Facts) -> str:
    """Say in a line what a folder is about.

    here: what it says. beside: what the folders beside it say together; no files if there are none.
    Returns: its most telling words, tags and titles; "" if there is nothing to say.
    """
    scores = telling(here.words, here.files, beside.words, beside.files)
    tags = telling(here.tags, here.files, beside.tags, beside.files)
    titles = _titles(here.titles, scores)
    shown = {*chain.from_iterable(map(terms, titles)), *map(str.casefold, tags)}
    words = _words(_best(scores, len(scores), shown), here)
    parts = [
        "; ".join(titles),
        ", ".join(words[:WORDS]),
        " ".join(f":{tag}:" for tag in _best(tags, TAGS, set())),
    ]
    return " — ".join(filter(None, parts))


def telling(
    here: Mapping[str, float], files: int, beside: Mapping[str, float], others: int
) -> dict[str, float]:
    """How much each term tells: its weight a note here, and how much more than beside."""
    found = {}
    for term, weight in here.items():
        if weight < LEAST:
            continue
        share = weight / max(files, 1)
        other = beside.get(term, 0.0) / others if others else 0.0
        contrast = log((share + SMOOTH) / (other + SMOOTH)) if others else 1.0
        if contrast > 0:
            found[term] = share * contrast
    return found


def _best(scores: Mapping[str, float], count: int, but: set[str]) -> list[str]:
    ranked = sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))
    return [term for term, _ in ranked if term not in but][:count]


def _words(ranked: Iterable[str], here: Facts) -> list[str]:
    """Terms as words, each once: a pair of characters as the word of a title it is a part of."""
    titles = [_folded(title) for title in here.titles]
    words: list[str] = []
    for term in ranked:
        word = _grown(term.removesuffix(PART), titles, here.words) if PART in term else term
        if word and not any(word in each for each in words):
            words.append(word)
    return words


def _grown(pair: str, titles: Iterable[str], weights: Mapping[str, float]) -> str:
    """A pair with what stands beside it in a title and is as frequent; "" if it is no word's."""
    title = next((title for title in titles if pair in title), "")
    pairs = [weights.get(a + b + PART, 0.0) for a, b in pairwise(title)]

    def is_inside(at: int) -> bool:
        """Whether the pair at `at` is within a word like this, not between it and a heavier one."""
        beside = pairs[max(at - 1, 0) : at + 2]
        return bool(beside) and weight * ALIKE <= pairs[at] and max(beside) * ALIKE <= weight

    start = end = title.find(pair)
    weight = weights[pair + PART]
    while start > 0 and is_inside(start - 1):
        start -= 1
    while end + 1 < len(pairs) and is_inside(end + 1):
        end += 1
    return title[start : end + 2] if title and is_inside(title.find(pair)) else ""


def _titles(titles: Sequence[str], scores: Mapping[str, float]) -> list[str]:
    """The titles that tell most, each something new."""
    chosen: list[str] = []
    left = dict(scores)
    rest = dict.fromkeys(titles)
    for _ in range(min(TITLES, len(rest))):
        best = max(rest, key=lambda title: sum(left.get(term, 0.0) for term in {*terms(title)}))
        chosen.append(best)
        del rest[best]
        for term in terms(best):
            left.pop(term, None)
    return chosen


def to_json(facts: Facts) -> str:
    """Facts as text, to be kept."""
    from json import dumps  # only a sync needs it

    return dumps(facts, ensure_ascii=False)


def from_json(text: str) -> Facts:
    """What `to_json` made. Raises: ValueError if it did not make this."""
    from json import loads

    match loads(text):
        case [int(files), dict(words), dict(tags), list(titles)]:
            weights = chain(words.values(), tags.values())
            are_numbers = all(isinstance(each, float | int) for each in weights)
            if are_numbers and all(isinstance(each, str) for each in titles):
                return Facts(files, words, tags, titles)
    raise ValueError("no facts")
