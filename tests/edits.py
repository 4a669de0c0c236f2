"""Edits of Org files as people and agents make them, drawn one by one, on any text.

Each edit leaves its mark: a word that nobody else writes, so that a test can ask where it went.
"""

import re
from collections.abc import Callable

from hypothesis import event
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from orgctx.core.model import Node
from orgctx.core.outline import outline

Edit = Callable[[DrawFn, list[Node], str], list[str]]
"""(draw, the nodes, the mark) -> the texts of all entries, in order."""


def _texts(nodes: list[Node]) -> list[str]:
    """The texts of the entries, each with its last line ended."""
    texts = [node.text for node in nodes]
    if texts[-1] and not texts[-1].endswith("\n"):
        texts[-1] += "\n"
    return texts


def _one(draw: DrawFn, nodes: list[Node], least: int = 1) -> Node | None:
    """One of the nodes, or None if there is none but the file's."""
    return nodes[draw(st.integers(least, len(nodes) - 1))] if len(nodes) > least else None


def _restarred(texts: list[str], by: int) -> list[str]:
    return [re.sub(r"\A\*+", lambda m: "*" * max(1, len(m[0]) + by), text) for text in texts]


def change(draw: DrawFn, nodes: list[Node], mark: str) -> list[str]:
    node, texts = _one(draw, nodes, 0), _texts(nodes)
    lines = texts[node.index].split("\n") if node else [""]
    at = draw(st.integers(min(1, node.level), len(lines) - 1)) if node else 0
    lines.insert(at, mark)
    texts[node.index if node else 0] = "\n".join(lines)
    return texts


def extend(draw: DrawFn, nodes: list[Node], mark: str) -> list[str]:
    """A line more at the end of an entry, where it voids no drawer."""
    texts = _texts(nodes)
    texts[draw(st.integers(0, len(nodes) - 1))] += f"{mark}\n"
    return texts


def retitle(draw: DrawFn, nodes: list[Node], mark: str) -> list[str]:
    texts = _texts(nodes)
    if node := _one(draw, nodes):
        word = draw(st.sampled_from(("TODO ", "DONE ", "")))
        texts[node.index] = re.sub(r"\A(\*+ )", rf"\1{word}{mark} ", texts[node.index])
    return texts


def delete(draw: DrawFn, nodes: list[Node], mark: str) -> list[str]:
    texts = _texts(nodes)
    if node := _one(draw, nodes):
        end = node.end_index if draw(st.booleans()) else node.index + 1
        texts[node.index : end] = []
    return texts


def insert(draw: DrawFn, nodes: list[Node], mark: str) -> list[str]:
    texts = _texts(nodes)
    at, level = draw(st.integers(1, len(nodes))), draw(st.integers(1, 4))
    drawer = draw(st.sampled_from(("", f":PROPERTIES:\n:ID: {mark}\n:END:\n")))
    texts.insert(at, f"{'*' * level} {mark}\n{drawer}")
    return texts


def append(draw: DrawFn, nodes: list[Node], mark: str) -> list[str]:
    """A headline at the end, where it has nothing below it."""
    return [*_texts(nodes), f"* {mark}\ntext\n"]


def insert_alike(draw: DrawFn, nodes: list[Node], mark: str) -> list[str]:
    """What somebody else may insert likewise, there or elsewhere."""
    texts = _texts(nodes)
    same = ("* Alike\n", "* Alike\nbody\n", "* Named\n:PROPERTIES:\n:ID: named\n:END:\n")
    texts.insert(draw(st.integers(1, len(nodes))), draw(st.sampled_from(same)))
    return texts


def move(draw: DrawFn, nodes: list[Node], mark: str) -> list[str]:
    texts = _texts(nodes)
    if node := _one(draw, nodes):
        moved = texts[node.index : node.end_index]
        rest = texts[: node.index] + texts[node.end_index :]
        at = draw(st.integers(1, len(rest)))
        by = draw(st.integers(-2, 2))
        return rest[:at] + _restarred(moved, by) + rest[at:]
    return texts


def shift(draw: DrawFn, nodes: list[Node], mark: str) -> list[str]:
    texts = _texts(nodes)
    if node := _one(draw, nodes):
        end = node.end_index if draw(st.booleans()) else node.index + 1
        part = slice(node.index, end)
        texts[part] = _restarred(texts[part], draw(st.sampled_from((-1, 1))))
    return texts


def copy(draw: DrawFn, nodes: list[Node], mark: str) -> list[str]:
    texts = _texts(nodes)
    if node := _one(draw, nodes):
        at = draw(st.integers(1, len(texts)))
        texts[at:at] = texts[node.index : node.end_index]
    return texts


def space(draw: DrawFn, nodes: list[Node], mark: str) -> list[str]:
    texts = _texts(nodes)
    at = draw(st.integers(0, len(nodes) - 1))
    texts[at] += draw(st.sampled_from(("\n", "\n\n", "  \n")))
    return texts


def end(draw: DrawFn, nodes: list[Node], mark: str) -> list[str]:
    """The newline at the end of the file goes, or comes."""
    text = "".join(node.text for node in nodes)
    return [text.removesuffix("\n") if text.endswith("\n") else text + "\n"]


def newlines(draw: DrawFn, nodes: list[Node], mark: str) -> list[str]:
    text = "".join(_texts(nodes)).replace("\r\n", "\n")
    return [text.replace("\n", "\r\n")] if draw(st.booleans()) else [text]


BODY = (*[change] * 4, *[retitle] * 2, *[insert] * 3, delete, space)
ANY = (*BODY, delete, insert_alike, insert_alike, *[move] * 3, shift, copy, end, newlines)


@st.composite
def edited(draw: DrawFn, text: str, mark: str, edits: tuple[Edit, ...] = ANY, most: int = 4) -> str:
    """The text after some edits. mark: what the words that they leave begin with."""
    for number in range(draw(st.integers(0, most))):
        edit = draw(st.sampled_from(edits))
        event(edit.__name__)
        text = "".join(edit(draw, list(outline(text, "").nodes), f"{mark}{number}"))
    return text
