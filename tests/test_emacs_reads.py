"""Emacs reads every view: the outline it claims, no text where none belongs, no new lint."""

import random

import emacs
import pytest
import strategies
from memexes import KINDS, check_document, grown, least, level_in_document, questions
from test_laws import tree_of
from views import smallest_budget, view_of

from orgctx.core.model import Detail, Node, Shown, Tree, View
from orgctx.core.outline import outline
from orgctx.store.files import decode


def views_of(node: Node, draw: random.Random) -> list[View]:
    least = smallest_budget(node)
    return [view_of(node, least + more) for more in (0, draw.randrange(400), draw.randrange(4000))]


def claim(each: Shown, view: View) -> tuple:
    node, level = each.node, level_in_document(each, view)
    return level, node.todo, node.priority, node.title, node.tags, node.id


def reading(row: dict) -> tuple:
    tags = tuple(filter(None, row["tags"]))
    return row["level"], row["todo"], row["pri"], row["title"], tags, row["id"] or None


def versions_differ(node: Node) -> bool:
    """Headlines that Org 9.5 reads otherwise: without a title, or with COMMENT in a longer word."""
    return (not node.title and bool(node.todo or node.tags)) or "COMMENT" in node.title


def same(each: Shown, row: dict, view: View) -> bool:
    claimed, read = claim(each, view), reading(row)
    if versions_differ(each.node) or each.level < 1 or keywords_differ(each, view):
        return claimed[0] == read[0] and (each.level < 0 or claimed[-1] == read[-1])
    return claimed == read


def keywords_differ(each: Shown, view: View) -> bool:
    """A title that begins with a keyword of another file in the document, which is read as one."""
    trees = {shown.node.tree for shown in view.shown if shown.level >= 0}
    words = {word for tree in trees for word in (*tree.todos, *tree.dones)}
    foreign = words - {*each.node.tree.todos, *each.node.tree.dones}
    return each.node.title.split(" ")[0] in foreign


def check_reading(view: View, rows: list[dict]) -> None:
    headlines = [each for each in view.shown if level_in_document(each, view)]
    assert len(rows) == len(headlines)
    for each, row in zip(headlines, rows, strict=True):
        assert same(each, row, view), (claim(each, view), reading(row), view.text)
        if each.level < 1:
            continue
        if each.detail == Detail.SKELETON:
            assert not row["body"].strip(), "a skeleton shows no text"
        if each.detail == Detail.FULL:
            assert "".join(each.node.lines) in view.text


def check_all(views: list[View], line_ends: str = "each") -> None:
    """line_ends: see `emacs.outlines`."""
    texts = [view.text.encode() for view in views]
    for view, rows in zip(views, emacs.outlines(texts, line_ends), strict=True):
        check_reading(view, rows)
    sources = {tree: None for view in views for tree in trees_of(view)}
    linted = emacs.lint([tree.text.encode() for tree in sources], line_ends="each")
    known = dict(zip(sources, linted, strict=True))
    for view, complaints in zip(views, emacs.lint(texts, line_ends), strict=True):
        trees = trees_of(view)
        of_sources = {each for tree in trees for each in known[tree]}
        new = set(complaints) - of_sources
        if view.shown[0].level < 0:
            new = starless(complaints) - starless(of_sources)
        assert not new, f"{new}\n{view.text}"


BETWEEN_FILES = ("Duplicate CUSTOM_ID", "Deprecated QUOTE")
"""What holds of each file alone and may not of several: a CUSTOM_ID is unique within its file, and
a word that begins a title may be a keyword in another file."""


def starless(complaints: list[tuple[str, str]]) -> set[tuple[str, str]]:
    """The same whatever the level of the headline complained about."""
    kept = (each for each in complaints if not each[0].startswith(BETWEEN_FILES))
    return {(message, line.lstrip("*")) for message, line in kept}


def trees_of(view: View) -> set[Tree]:
    return {each.node.tree for each in view.shown if each.level >= 0}


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
@pytest.mark.parametrize("seed", range(2))
def test_documents_of_several_generated_files(seed):
    draw = random.Random(seed)
    views = []
    for question in strategies.sample(questions(), 150, seed):
        needed = least(question)
        views += [grown(question, needed + more).view for more in (draw.randrange(300), 2000)]
    assert sum(len(trees_of(view)) > 1 for view in views) > 150
    check_all(views, "detect")


@pytest.mark.emacs
@pytest.mark.corpora
def test_documents_of_several_real_files():
    draw = random.Random(11)
    paths = emacs.corpora()
    views = []
    for _ in range(30):
        few = sorted(draw.sample(paths, 4))
        trees = [
            outline(decode(p.read_bytes(), p.name)[0], f"p{n}/{p.name}") for n, p in enumerate(few)
        ]
        targets = [draw.choice(tree.nodes) for tree in trees]
        for kind in KINDS:
            question = trees, kind, targets
            views.append(grown(question, least(question) + draw.randrange(3000)).view)
    for view in views:
        check_document(view, [])
    check_all(views, "detect")


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
