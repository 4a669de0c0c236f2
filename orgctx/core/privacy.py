"""What nobody is shown: private nodes are absent, sealed ones show title and ID only."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import replace
from unicodedata import normalize

from .model import Node, Nodes, Tree
from .outline import file_tags

SEALED = frozenset({"crypt"})


def conceal(tree: Tree, private_tags: frozenset[str] = frozenset()) -> Tree:
    """Leave out of a tree what must not be shown.

    private_tags: nodes that have one of them, their own or inherited, are left out with all below;
        in any Unicode normal form.
    Returns: a tree without them, in which a node tagged `crypt` has no text but its headline, no
        property but its IDs, and nothing below it; the same tree if there is nothing to leave out.
        It may be empty.
    """
    if not may_hide(tree.text, private_tags):
        return tree
    kept = _kept(tree, frozenset(map(_nfc, private_tags)))
    if len(kept) == len(tree.nodes) and not any(map(_is_sealed, kept)):
        return tree
    return _without(tree, kept)


def may_hide(text: str, private_tags: frozenset[str]) -> bool:
    """Say whether a text has the word for something in it that must not be shown.

    False is certain, and known without reading an outline.
    """
    text = _nfc(text)
    return any(tag in text for tag in SEALED.union(map(_nfc, private_tags)))


def _nfc(text: str) -> str:
    return normalize("NFC", text)


def _kept(tree: Tree, hidden: frozenset[str]) -> list[Node]:
    kept, resume = [], 0
    for node in tree.nodes:
        if node.index < resume:
            continue
        is_private = not hidden.isdisjoint(map(_nfc, node.tags))
        if not is_private:
            kept.append(node)
        if is_private or _is_sealed(node):
            resume = node.end_index
    return kept


def _without(tree: Tree, kept: list[Node]) -> Tree:
    ends = [len(_head(node)) if _is_sealed(node) else len(node.text) for node in kept]
    places = [node.index for node in kept]

    def read(at: int) -> Node:
        node = kept[at]
        is_sealed = _is_sealed(node)
        return replace(
            node,
            tags=node.tags if node.level else tags,
            properties=_ids(node) if is_sealed else node.properties,
            drawer=None if is_sealed else node.drawer,
            tree=concealed,
            index=at,
            parent_index=bisect_left(places, node.parent_index) if node.level else -1,
            end_index=bisect_left(places, node.end_index),
            end=node.start + ends[at],
            last_line=_last_line(node, ends[at]),
        )

    spans = [(node.first_line, _last_line(node, end)) for node, end in zip(kept, ends, strict=True)]
    settings = tuple(s for s in tree.settings if any(a <= s.line <= b for a, b in spans))
    known = SEALED.union(file_tags(settings))
    tags = tuple(tag for tag in tree.root.tags if tag in known)
    concealed = replace(tree, settings=settings, nodes=Nodes(len(kept), read), asts={})
    return concealed


def _is_sealed(node: Node) -> bool:
    return not SEALED.isdisjoint(node.tags)


def _head(node: Node) -> str:
    """The headline, as it stands in the file; nothing of a file node."""
    text = node.text
    return text[: text.find("\n") + 1 or len(text)] if node.level else ""


def _ids(node: Node) -> tuple[tuple[str, str], ...]:
    """What a sealed headline still says of itself; its drawer is not shown, its IDs are known."""
    if not node.level:
        return ()
    return tuple(pair for pair in node.properties if pair[0].upper() in ("ID", "CUSTOM_ID"))


def _last_line(node: Node, size: int) -> int:
    """The last line of the entry's first `size` characters."""
    text = node.text[:size]
    return node.first_line + text.count("\n") - (1 if text.endswith("\n") or not text else 0)
