"""Memexes for the tests: several generated files that link to one another, as a store of trees."""

import posixpath
from pathlib import Path

import strategies
from hypothesis import strategies as st
from views import MARK, SIZES

from orgctx.core.frame import folder_of
from orgctx.core.model import Detail, Shown, Tree, View
from orgctx.core.outline import outline
from orgctx.errors import BudgetTooSmall, NotFound
from orgctx.store.files import decode
from orgctx.store.store import File, Store
from orgctx.views import focus, overview
from orgctx.views.view import Growth, Limit

LINKS = (
    *("[[id:{id}]]", "<id:{id}>", "[[id:{id}::*x][to [it]]]", "id:{id}."),
    *("[[file:{file}]]", "[[./{file}][d]]", "<file:{file}>", "file:{file}", "[[f:{file}]]"),
    *("[[file:{file}::*Linked]]", "[[./{file}::*linked \n \\[1/2\\]]]", "file:{file}::Linked"),
    *("[[file:{file}::#one\\[1\\]]]", "[[file:{file}::The  spot]]", "[[f:{file}::thing]]"),
    *("[[file:{file}::{line}]]", "[[/{path}::{line}]]", "[[~/{path}]]", "[[file:/{path}]]"),
    *("[[*Linked]]", "[[linked]]", "[[#one\\[1\\]]]", "[[the spot]]", "[[Thing]]", "[[*A]]"),
    *("[[file:::*Linked]]", "[[nowhere]]", "[[file:no.org]]", "[[https://{file}]]", "[[(r)]]"),
)
"""Links of all forms that name another place, or none."""
PATHS = ("a.org", "b.org", "p/a.org", "p/b.org", "p/q/a.org", "z y/ü.org")


class Trees(Store):
    """A store of trees that are already read."""

    def __init__(self, trees: list[Tree]) -> None:
        super().__init__()
        self._trees = {tree.path: tree for tree in trees}
        self._lone = dict.fromkeys(self._trees)

    def tree(self, path: str) -> Tree:
        if path not in self.paths:
            raise NotFound(f"{path}: not in this store")
        return self._trees[path]

    def place(self, path: str) -> Path:
        return Path("/", path)

    def is_edited(self, path: str) -> bool:
        return False

    def _file_of(self, tree: Tree) -> File:
        is_active = any(self.active("").holds(node) for node in tree.nodes)
        return File(tree.path, tree.path, len(tree.nodes) - 1, len(tree.text), is_active)


@st.composite
def memexes(draw):
    """Files with IDs, linked to one another, some with keywords of their own, some CRLF."""
    paths = draw(st.permutations(PATHS))[: draw(st.integers(2, 5))]
    texts = [decode(draw(strategies.org_bytes()), path)[0] for path in paths]
    ids = [f"node-{number:04}" for number in range(len(paths))]
    heads = st.sampled_from(
        (
            "",
            "#+title: TODO it\n",
            "#+title: A  b\n\n",
            "#+filetags: :x:a-b:\n/slash\n",
            "#+TODO: NEXT | OK\n",
            "#+link: f file:%s\n<<the spot>>\n",
        )
    )
    return [
        outline(
            _linked(draw, text, draw(heads), id_, path, list(zip(ids, paths, strict=True))), path
        )
        for path, text, id_ in zip(paths, texts, ids, strict=True)
    ]


@st.composite
def links_to(draw, path, others):
    """A link in the file at `path`. others: (ID, path) of what it may name."""
    id_, other = draw(st.sampled_from(others))
    file = posixpath.relpath(other, posixpath.dirname(path) or ".")
    return draw(st.sampled_from(LINKS)).format(
        id=id_, file=file, path=other, line=draw(st.integers(0, 30))
    )


def _linked(draw, text, head, id_, path, others):
    """The text with a head of its own, and an entry that links to others."""
    body = draw(st.lists(links_to(path, others), max_size=4))
    newline = "\r\n" if "\r\n" in text and "\n" not in text.replace("\r\n", "") else "\n"
    lines = [
        "",
        "* Linked",
        ":PROPERTIES:",
        f":ID: {id_}",
        ":CUSTOM_ID: one[1]",
        ":END:",
        *draw(st.sampled_from(((), ("<<The spot>>", "#+name: thing")))),
        *body,
    ]
    return head.replace("\n", newline) + text + newline.join([*lines, ""])


def store_of(trees):
    return Trees(sorted(trees, key=lambda tree: tree.path))


KINDS = ("fisheye", "several", "overview")


@st.composite
def questions(draw):
    """A memex and a question whose answer may show several files."""
    trees = draw(memexes())
    nodes = [node for tree in trees for node in tree.nodes]
    linked = [node for node in nodes if node.title == "Linked"]
    count = draw(st.integers(1, 3))
    targets = draw(
        st.lists(st.sampled_from(linked) | st.sampled_from(nodes), min_size=count, max_size=count)
    )
    return trees, draw(st.sampled_from(KINDS)), targets


def grown(question, budget, **options) -> Growth:
    """The answer to a question, with how it came about."""
    trees, kind, targets = question
    store, limit = store_of(trees), Limit(budget, **options)
    addresses = [f"{t.path}:{t.first_line}" if t.level else t.path for t in targets]
    if kind == "overview":
        return overview.grown(store, addresses[1:], limit)
    if kind == "fisheye":
        return focus.grown(store, addresses[:1], limit, "fisheye")
    return focus.grown(store, addresses, limit)


def least(question, **options) -> int:
    """The smallest budget that a question can be answered within."""
    try:
        return grown(question, 1, **options).view.tokens
    except BudgetTooSmall as error:
        return error.needed


def check_document(view: View, trees: list[Tree]) -> None:
    """What holds of every view of one or more files.

    trees: all of the memex; none if the notes themselves may hold what looks like a mark.
    """
    assert SIZES["o200k_base"](view.text) == view.tokens <= view.budget
    assert sum(each.tokens for each in view.shown) == view.tokens
    nodes = {each.node for each in view.shown}
    is_of_several = view.shown[0].level < 0
    files = {each.path for each in view.shown if each.level >= 0}
    assert is_of_several or len(files) == 1
    for each in view.shown:
        assert each.node.parent is None or each.node.parent in nodes
    for each in view.shown:
        if each.level > 0 and each.detail == Detail.FULL:
            assert "".join(each.node.lines) in view.text
    check_places(view)
    if trees:
        check_counts(view, trees)


def check_places(view: View) -> None:
    """Files stand in order of folder and path, and their headlines in the file's."""
    places = [(folder_of(s.path), s.path, s.line) for s in view.shown if s.level >= 0]
    assert places == sorted(places)


def check_counts(view: View, trees: list[Tree]) -> None:
    """Shown and announced files are all there are in the smallest folder that holds the shown."""
    if view.shown[0].level >= 0:
        return
    announced = {each.node: each for each in view.omitted}
    shown = [each for each in view.shown if each.level == 0]
    root = view.shown[0]
    by_folder = any(each.level < 0 for each in view.shown[1:])
    if not by_folder and shown:
        here = "" if root.path == "memex" else root.path
        held = {tree.path for tree in trees if tree.path.startswith(here)}
        left = set(announced[root.node].paths) if root.node in announced else set()
        assert {each.path for each in shown} | left == held
        assert {each.path for each in shown}.isdisjoint(left)
        tops = {each.path[len(here) :].partition("/")[0] for each in shown}
        assert len(tops) > 1 or len(shown) == 1
    total = sum(int(number) for number, what in MARK.findall(view.text) if what == "file")
    assert total == sum(len(s.paths) for s in view.omitted if s.node.level or not by_folder)


def level_in_document(each: Shown, view: View) -> int:
    """How many stars a shown node has in the document; 0 for what is no headline there."""
    if view.shown[0].level >= 0:
        return each.level
    shift = 2 if any(s.level < 0 for s in view.shown[1:]) else 1
    return each.node.level if each.level < 0 else each.level + shift
