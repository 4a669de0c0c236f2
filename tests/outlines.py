"""A model of an outline for the tests: entries by ID, and the edits that people make of them."""

from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from typing import NamedTuple

from hypothesis import strategies as st

from orgctx.core.outline import outline


@dataclass
class Outline:
    """texts: by ID, what each entry says. children: by ID, in order; those of "" are the top."""

    texts: dict[str, str] = field(default_factory=dict)
    children: dict[str, list[str]] = field(default_factory=lambda: {"": []})

    def render(self) -> str:
        """The Org text."""
        return "#+title: model\n" + "".join(self._render("", 1))

    def _render(self, parent: str, level: int) -> Iterator[str]:
        for id_ in self.children[parent]:
            yield f"{'*' * level} {id_}\n:PROPERTIES:\n:ID: {id_}\n:END:\n{self.texts[id_]}\n"
            yield from self._render(id_, level + 1)

    def parent(self, id_: str) -> str:
        return next(parent for parent, row in self.children.items() if id_ in row)

    def below(self, id_: str) -> list[str]:
        """An entry and all below it."""
        return [id_, *(each for child in self.children[id_] for each in self.below(child))]

    def places(self) -> dict[str, tuple[str, str]]:
        """For each entry its text and its parent."""
        return {id_: (text, self.parent(id_)) for id_, text in self.texts.items()}

    def above(self, id_: str) -> list[str]:
        """An entry and all above it."""
        way = [id_]
        while way[-1]:
            way.append(self.parent(way[-1]))
        return way


class Edit(NamedTuple):
    """what: "write", "insert", "delete" or "move". id_: of the entry. to: its parent or text."""

    what: str
    id_: str
    to: str = ""

    def is_possible(self, on: Outline) -> bool:
        is_there = self.id_ in on.texts
        if self.what == "insert":
            return not is_there and (not self.to or self.to in on.texts)
        if self.what == "move":
            is_target = not self.to or self.to in on.texts
            return is_there and is_target and self.id_ not in on.above(self.to)
        return is_there

    def made(self, on: Outline) -> Outline:
        """The outline after the edit."""
        after = deepcopy(on)
        _MADE[self.what](after, self)
        return after


def _write(on: Outline, edit: Edit) -> None:
    on.texts[edit.id_] = edit.to


def _insert(on: Outline, edit: Edit) -> None:
    on.texts[edit.id_], on.children[edit.id_] = "new", []
    on.children[edit.to].append(edit.id_)


def _delete(on: Outline, edit: Edit) -> None:
    for id_ in on.below(edit.id_):
        on.children[on.parent(id_)].remove(id_)
        del on.texts[id_]
    on.children = {id_: row for id_, row in on.children.items() if not id_ or id_ in on.texts}


def _move(on: Outline, edit: Edit) -> None:
    """To the end of what is below its new parent; where it is there already, it stays."""
    if edit.id_ in on.children[edit.to]:
        return
    on.children[on.parent(edit.id_)].remove(edit.id_)
    on.children[edit.to].append(edit.id_)


_MADE: dict[str, Callable[[Outline, Edit], None]] = {
    "write": _write,
    "insert": _insert,
    "delete": _delete,
    "move": _move,
}


@st.composite
def outlines(draw, size=8):
    """An outline of some entries."""
    found = Outline()
    for number in range(draw(st.integers(1, size))):
        parent = draw(st.sampled_from(sorted(found.children)))
        found = Edit("insert", f"e{number}", parent).made(found)
    return found


@st.composite
def series(draw, outline, mark, most=4):
    """Some edits, each possible after those before it. mark: what new IDs and texts begin with."""
    edits, now = list[Edit](), outline
    for number in range(draw(st.integers(0, most))):
        known = sorted(now.texts)
        what = draw(
            st.sampled_from(("write", "insert", "move", "delete") if known else ("insert",))
        )
        id_ = f"{mark}{number}" if what == "insert" else draw(st.sampled_from(known))
        parents = [each for each in ("", *known) if what == "insert" or each != id_]
        to = f"{mark}{number}" if what == "write" else draw(st.sampled_from(parents))
        edit = Edit(what, id_, to)
        is_within = what == "move" and edit.is_possible(now) and now.parent(id_) == to
        if edit.is_possible(now) and not is_within:
            edits, now = [*edits, edit], edit.made(now)
    return edits


def after(outline: Outline, edits: list[Edit], done: Outline | None = None) -> Outline | None:
    """The outline after some edits; None if one is not possible.

    done: what became of another outline with them. What is gone there need not be possible.
    """
    for edit in edits:
        if edit.is_possible(outline):
            outline = edit.made(outline)
        elif done is None or edit.id_ in done.texts:
            return None
    return outline


def overlaid(base: Outline, theirs: Outline, ours: Outline) -> dict[str, tuple[str, str]]:
    """The places in theirs, with all that is otherwise in ours than in the base."""
    found, was, now = theirs.places(), base.places(), ours.places()
    for id_ in {*was, *now}:
        if id_ not in now:
            found.pop(id_, None)
        elif id_ not in was:
            found[id_] = now[id_]
        elif id_ in found:
            triples = zip(was[id_], found[id_], now[id_], strict=True)
            text, parent = (there if here == before else here for before, there, here in triples)
            found[id_] = text, parent
    return found


def read(text: str) -> Outline:
    """The model of a text."""
    found = Outline()
    for node in outline(text, "").nodes[1:]:
        parent = node.parent.title if node.parent.level else ""
        found.children[parent].append(node.title)
        found.children[node.title] = []
        found.texts[node.title] = node.text.split(":END:\n")[1].removesuffix("\n")
    return found
