"""Emacs reads every view: the outline it claims, no text where none belongs, no new lint."""

import random

import emacs
import pytest
import strategies
from test_laws import tree_of
from views import smallest_budget, view_of

from orgctx.core.model import Detail, Node, Shown, View
from orgctx.core.outline import outline
from orgctx.store.files import decode


def views_of(node: Node, draw: random.Random) -> list[View]:
    least = smallest_budget(node)
    return [view_of(node, least + more) for more in (0, draw.randrange(400), draw.randrange(4000))]


def claim(each: Shown) -> tuple:
    node = each.node
    return node.level, node.todo, node.priority, node.title, node.tags, node.id


def reading(row: dict) -> tuple:
    tags = tuple(filter(None, row["tags"]))
    return row["level"], row["todo"], row["pri"], row["title"], tags, row["id"] or None


def versions_differ(node: Node) -> bool:
    """Headlines that Org 9.5 reads otherwise: without a title, or with COMMENT in a longer word."""
    return (not node.title and bool(node.todo or node.tags)) or "COMMENT" in node.title


def same(each: Shown, row: dict) -> bool:
    claimed, read = claim(each), reading(row)
    if versions_differ(each.node):
        return claimed[0] == read[0] and claimed[-1] == read[-1]
    return claimed == read


def check_reading(view: View, rows: list[dict]) -> None:
    headlines = [each for each in view.shown if each.level]
    assert len(rows) == len(headlines)
    for each, row in zip(headlines, rows, strict=True):
        assert same(each, row), (claim(each), reading(row))
        if each.detail == Detail.SKELETON:
            assert not row["body"].strip(), "a skeleton shows no text"
        if each.detail == Detail.FULL:
            assert "".join(each.node.lines) in view.text


def check_all(views: list[View]) -> None:
    texts = [view.text.encode() for view in views]
    for view, rows in zip(views, emacs.outlines(texts, line_ends="each"), strict=True):
        check_reading(view, rows)
    sources = {view.shown[0].node.tree: None for view in views}
    linted = emacs.lint([tree.text.encode() for tree in sources], line_ends="each")
    known = dict(zip(sources, linted, strict=True))
    for view, complaints in zip(views, emacs.lint(texts, line_ends="each"), strict=True):
        source = view.shown[0].node.tree
        new = set(complaints) - set(known[source])
        assert not new, f"{new}\n{view.text}\n---- of\n{source.text}"


@pytest.mark.emacs
@pytest.mark.parametrize("seed", range(3))
def test_views_of_generated_notes(seed):
    draw = random.Random(seed)
    views = []
    for data in strategies.sample(strategies.org_bytes(), 150, seed):
        nodes = tree_of(data).nodes
        views += views_of(draw.choice(nodes), draw)
    check_all(views)


@pytest.mark.emacs
@pytest.mark.corpora
def test_views_of_real_notes():
    draw = random.Random(7)
    files = draw.sample(emacs.corpora(), 120)
    views = []
    for path in files:
        tree = outline(decode(path.read_bytes(), path.name)[0], path.name)
        views += views_of(draw.choice(tree.nodes), draw)
    check_all(views)
