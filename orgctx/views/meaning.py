"""Hits ordered by what they mean, too: by static word embeddings, if the extra is installed.

The model comes with the package wordllama and is English; nothing is downloaded. It only reorders
what was found by words, so that what means the same comes up among what says the same. It does not
say whether there is an answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import Unreadable
from ..store.store import Store
from ..store.words import Place, Words
from .ranking import Hit, Ranking, in_order

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

    Vectors = NDArray[float32]
    Embed = Callable[[Sequence[str]], Vectors]

PACKAGE = "wordllama"
WORTH = 2.4
"""What it is worth to mean the same, as a share of the best score."""
TITLE = 0.7
"""What title and outline are worth against title and beginning of the text."""
OUTLINE, BEGINNING = 100, 400
"""Characters of the titles above, and of the text."""
LEAST = 1e-9
"""What is shorter is no vector."""


def is_installed() -> bool:
    """Whether there is a model."""
    return find_spec(PACKAGE) is not None


def by_meaning(store: Store, words: Words, query: str, ranking: Ranking) -> Ranking:
    """Order the hits of a ranking by their words and by what they mean.

    Returns: Ranking; each hit's signals have what it means, too.
    Raises: Unreadable if the extra is not installed.
    """
    embed = _model()
    if not ranking.hits:
        return ranking
    best = ranking.hits[0].score
    alike = _alike(store, words, embed, query, [hit.node.id for hit in ranking.hits])
    hits = [
        _with(hit, WORTH * best * max(likeness, 0.0))
        for hit, likeness in zip(ranking.hits, alike, strict=True)
    ]
    return ranking._replace(hits=tuple(in_order(hits)))


def _with(hit: Hit, value: float) -> Hit:
    """A hit with one signal more."""
    signals = {**hit.signals, "meaning": value}
    return hit._replace(score=round(hit.score + value, 4), signals=signals)


@cache
def _model() -> Embed:
    """What gives a unit vector for each text. Raises: Unreadable."""
    try:
        import wordllama  # an extra, and slow to load
        from numpy import maximum, nan_to_num
        from numpy.linalg import norm
    except ImportError as error:
        hint = "pip install 'orgctx[semantic]'"
        raise Unreadable(f"{PACKAGE} is not installed", hint, PACKAGE) from error
    here = Path(wordllama.__file__).parent  # where its model is; otherwise it would look for one
    model = wordllama.WordLlama.load(cache_dir=here, disable_download=True)

    def embed(texts: Sequence[str]) -> Vectors:
        vectors: Vectors = model.embed(list(texts))
        lengths = norm(vectors, axis=1, keepdims=True)
        unit: Vectors = nan_to_num(vectors / maximum(lengths, LEAST))
        return unit

    return embed


def _alike(
    store: Store, words: Words, embed: Embed, query: str, nodes: Sequence[int]
) -> list[float]:
    """How much each node means what the query means, at most 1."""
    from numpy import concatenate, frombuffer, maximum

    known = words.meanings(nodes)
    new = [node for node in nodes if node not in known]
    if new:
        texts, places = words.beginnings(new, BEGINNING), words.places(new)
        titles = embed([_outline(places, node) for node in new])
        wholes = embed(["\n".join(texts[node]) for node in new])
        pairs = concatenate([titles, wholes], axis=1).astype("<f4")
        fresh = {node: pair.tobytes() for node, pair in zip(new, pairs, strict=True)}
        store.remember_meanings(fresh)
        known |= fresh
    vectors = frombuffer(b"".join(known[node] for node in nodes), "<f4").reshape(len(nodes), 2, -1)
    likeness = vectors @ embed([query])[0]
    return [float(each) for each in maximum(TITLE * likeness[:, 0], likeness[:, 1])]


def _outline(places: Mapping[int, Place], node: int) -> str:
    """A node's title, and then where it stands."""
    titles, above = [places[node].title], node
    while above:
        titles.insert(1, places[above].title)
        above = places[above].parent
    return f"{titles[0]} {'/'.join(titles[1:])[-OUTLINE:]}"
