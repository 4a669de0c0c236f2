"""A plain BM25, the rival that everybody has: no stemming, no tuning.

Words are runs of letters, digits and "_" in small letters; runs of Han, kana and hangul are cut
into pairs of characters. k1 and b are as usual (Robertson and Zaragoza, 2009).
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from orgctx.core.model import Node, Tree

from .cutting import cost, ended, first

K1, B = 1.2, 0.75
PASSAGE = 300
"""The most tokens of a passage, as retrieval commonly cuts documents."""
CJK = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
WORD = re.compile(f"[{CJK}]+|[^\\W{CJK}]+")


class Document(NamedTuple):
    """What is found. node: the entry it is of. text: what is shown. words: what is searched."""

    node: Node
    text: str
    words: str


class Index:
    """Documents, to be searched."""

    def __init__(self, documents: Iterable[Document]) -> None:
        self.documents = list(documents)
        self._sizes: list[int] = []
        self._postings: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for number, each in enumerate(self.documents):
            found = Counter(words(each.words))
            self._sizes.append(found.total())
            for word, times in found.items():
                self._postings[word].append((number, times))
        self._mean = sum(self._sizes) / max(len(self._sizes), 1)

    def search(self, query: str) -> tuple[list[Document], float]:
        """The documents that have a word of the query, best first.

        Returns: them, and how good the best is, from 0 to 1 for the best that there could be.
        """
        scores: dict[int, float] = defaultdict(float)
        most = 0.0
        for word in sorted({*words(query)}):
            postings = self._postings.get(word, [])
            weight = (K1 + 1) * self._rarity(len(postings))
            most += weight
            for number, times in postings:
                scores[number] += weight * times / (times + self._damping(number))
        best = sorted(scores.items(), key=lambda each: (-each[1], each[0]))
        return [self.documents[number] for number, _ in best], best[0][1] / most if best else 0.0

    def _rarity(self, holders: int) -> float:
        return math.log(1 + (len(self.documents) - holders + 0.5) / (holders + 0.5))

    def _damping(self, number: int) -> float:
        return K1 * (1 - B + B * self._sizes[number] / self._mean)


def words(text: str) -> Iterator[str]:
    for word in WORD.findall(text.lower()):
        if re.match(f"[{CJK}]", word) and len(word) > 1:
            yield from (word[at : at + 2] for at in range(len(word) - 1))
        else:
            yield word


def entries(trees: Iterable[Tree]) -> Iterator[Document]:
    """Each entry, with the headlines above it to be searched by."""
    for tree in trees:
        for node in tree.nodes:
            yield Document(node, node.text, f"{breadcrumb(node)}\n{node.text}")


def passages(trees: Iterable[Tree]) -> Iterator[Document]:
    """Each entry in parts of at most `PASSAGE` tokens, each below the headlines above it."""
    for tree in trees:
        for node in tree.nodes:
            head = "".join(map(headline, [*node.ancestors[1:], node]))
            body = ended(node.text[len(headline(node)) :])
            for part in parts(body) if body else [""]:
                yield Document(node, head + part, f"{breadcrumb(node)}\n{part}")


def parts(text: str) -> Iterator[str]:
    """The text in runs of whole lines, each as long as `PASSAGE` lets it be, but one line."""
    while text:
        part = first(text, PASSAGE) or text[: text.find("\n") + 1]
        yield part
        text = text[len(part) :]


def headline(node: Node) -> str:
    """The headline's line; nothing of a file."""
    return ended(node.text.partition("\n")[0]) if node.level else ""


def breadcrumb(node: Node) -> str:
    """The file's name and title, and the titles from the outermost headline down."""
    name = node.path.removesuffix(".org").replace("_", " ")
    return "\n".join([name, *(each.title for each in [*node.ancestors, node])])


def best_of(index: Index, query: str, budget: int) -> str:
    """The best documents, best first, as many as fit; the last one may be cut."""
    shown = []
    for each in index.search(query)[0]:
        kept = first(ended(each.text), budget)
        shown.append(kept)
        budget -= cost(kept)
        if kept != ended(each.text):
            break
    return "".join(shown)
