"""An entry in pieces: what can be shown of it, in which order, and what each state looks like."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

from .elements import Element, elements
from .heading import (
    SAID_BY_HEADLINE,
    Ids,
    as_headline,
    blanks_above,
    file_head,
    first_line,
    id_drawer,
    printable,
    replaced_by_headline,
    setting_lines,
)
from .model import Node

_AFFILIATED = re.compile(
    r"[ \t]*#\+(?:(?:caption|name|headers?|plot|results|tblname|data|label|srcname|source|result"
    r"|resname)(?:\[[^\n]*\])?|attr_\S+):",
    re.IGNORECASE,
)
# Empty, blank, or a line end among the leading blanks; possessive, as a line may be all blanks.
_DOUBTFUL_START = re.compile(r"[^\S\r\n]*+(?:[\r\n]|\Z)")

TODO_KEYS = frozenset({"TODO", "SEQ_TODO", "TYP_TODO"})


class Piece(NamedTuple):
    """Lines of an entry that come into view together.

    text: all of them. reduced: what a skeleton shows of them, "" for nothing.
    has_more: whether that is less than all.
    hidden_lines: lines that `reduced` leaves out.
    closing: end lines of the blocks that are open behind this piece, innermost first.
    breaks: whether a reduced piece ends a run of omitted lines (a reduced drawer does not, since
        a mark between a headline and its drawer would cut them apart).
    """

    text: str
    reduced: str
    has_more: bool
    hidden_lines: int
    closing: tuple[str, ...]
    is_drawer: bool
    breaks: bool


class Run(NamedTuple):
    """Consecutive lines left out. before: index of the piece in front of which its mark stands."""

    before: int
    lines: int
    closing: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Entry:
    """A node's entry, cut into pieces. In state `k` its first `k` pieces of `order` are whole.

    is_target: the target announces what is missing from the start; others once they show text.
    is_read: whether the lens may show more of it than a skeleton.
    """

    node: Node
    pieces: tuple[Piece, ...]
    is_target: bool
    is_read: bool

    @cached_property
    def order(self) -> tuple[int, ...]:
        """The pieces that have more to show than a skeleton does: text first, then drawers."""
        more = [i for i, piece in enumerate(self.pieces) if piece.has_more]
        return tuple(sorted(more, key=lambda i: self.pieces[i].is_drawer))

    @cached_property
    def texts(self) -> int:
        """How many of these are text: the states up to this one have a cut."""
        return sum(not self.pieces[i].is_drawer for i in self.order)

    @cached_property
    def breaks(self) -> tuple[int, ...]:
        """The pieces that end a run of lines left out: a skeleton shows something of them."""
        return tuple(i for i, piece in enumerate(self.pieces) if piece.breaks)

    @cached_property
    def _hidden_before(self) -> list[int]:
        return list(accumulate((piece.hidden_lines for piece in self.pieces), initial=0))

    def speaks(self, state: int) -> bool:
        """Whether lines left out are announced: of the target always, of others with some text."""
        return state > 0 or self.is_target

    def cut(self, state: int) -> int:
        """The last text piece that is whole in `state`, at most `texts`; -1 if none is."""
        return self.order[state - 1] if state else -1

    def runs(self, state: int) -> Iterator[Run]:
        """The runs of lines left out in `state`, in document order."""
        if not self.speaks(state):
            return
        if state > self.texts:
            yield from self._drawer_runs(self.order[state:])
        else:
            cut = self.cut(state)
            yield from self._drawer_runs(i for i in self.order[self.texts :] if i < cut)
            yield from self.run_behind_cut(state)
            for at in self.breaks[bisect_right(self.breaks, cut) :]:
                yield from self.run_behind_break(at)

    def runs_passed(self, state: int) -> Iterator[Run]:
        """Those between the cut of `state`, from 1 to `texts`, and the cut before it."""
        drawers = self.order[self.texts :]
        first, stop = (bisect_right(drawers, self.cut(each)) for each in (state - 1, state))
        return self._drawer_runs(drawers[first:stop])

    def run_behind_cut(self, state: int) -> Iterator[Run]:
        """The one from the cut of `state` to the next piece of which something is shown, if any."""
        cut = self.cut(state)
        closing = self.pieces[cut].closing if state else ()
        return self._run(cut + 1, self._next_break(cut), closing)

    def run_behind_break(self, at: int) -> Iterator[Run]:
        """The one that begins with what a skeleton does not show of piece `at`, if any."""
        return self._run(at, self._next_break(at), ())

    def _next_break(self, piece: int) -> int:
        at = bisect_right(self.breaks, piece)
        return self.breaks[at] if at < len(self.breaks) else len(self.pieces)

    def _drawer_runs(self, drawers: Iterable[int]) -> Iterator[Run]:
        for first, last in _neighbours(drawers):
            yield from self._run(first, last + 1, ())

    def _run(self, first: int, stop: int, closing: tuple[str, ...]) -> Iterator[Run]:
        lines = self._hidden_before[stop] - self._hidden_before[first] - len(closing)
        if lines:
            yield Run(stop, lines, closing)

    def text(self, state: int) -> str:
        """The entry as it stands in `state`: whole pieces, reduced pieces, and omission marks."""
        whole = set(self.order[:state])
        marks = {run.before: self.mark(run) for run in self.runs(state)}
        parts: list[str] = []
        for index, piece in enumerate(self.pieces):
            parts += [marks.get(index, ""), piece.text if index in whole else piece.reduced]
        return "".join(parts) + marks.get(len(self.pieces), "")

    def mark(self, run: Run) -> str:
        """The comment that announces a run, and the end lines of blocks it cuts."""
        return omitted(run.lines, "line", self.node.tree.newline) + "".join(run.closing)

    def lines_left_out(self, state: int) -> int:
        """How many lines of text the marks in `state` announce."""
        return sum(run.lines for run in self.runs(state))


def _neighbours(indices: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Join adjacent numbers to (first, last)."""
    first = last = -2
    for index in indices:
        if index != last + 1:
            if last >= 0:
                yield first, last
            first = index
        last = index
    if last >= 0:
        yield first, last


def omitted(count: int, what: str, newline: str) -> str:
    """The omission mark: an Org comment line that counts what is left out."""
    return f"# … {many(count, what)} omitted{newline}"


def many(count: int, what: str) -> str:
    """A number of things, in words."""
    plural = f"{what[:-1]}ies" if what.endswith("y") else f"{what}s"
    return f"{count} {what if count == 1 else plural}"


def entry(
    node: Node, ids: Ids, is_target: bool = False, is_read: bool = True, stars: int = 0
) -> Entry:
    """Cut a node's entry into pieces.

    ids: what a skeleton shows of an ID; None for no drawer at all.
    stars: of a file node that is shown as a headline, int > 0; 0 for the head of its document.
        The pieces are the same ones either way.
    Returns: Entry; its last state is the entry as it stands in the source, for a file node below
        one comment line that names the file, or below its headline (see `as_headline`).
    """
    if node.properties and not node.drawer:  # it is sealed
        return replace(skeleton(node, ids), is_target=is_target)
    lines = _lines(node)
    blocks = elements(lines)
    starts = _starts(node, lines, blocks)
    spans = list(zip(starts, [*starts[1:], len(lines)], strict=True))
    drawers = _movable(blocks, spans, node)
    reduced = _reduced(node, lines, blocks, ids)
    cuttable = [each for each in blocks if not each.is_drawer and each.last not in reduced]
    closing = _closing(lines, cuttable, [stop - 1 for _, stop in spans])
    shown = as_headline(node, lines, reduced, ids, stars) if stars else (lines, reduced)
    pieces = [
        _piece(lines, span, reduced, shown, ends, span[0] in drawers)
        for span, ends in zip(spans, closing, strict=True)
    ]
    return Entry(node, (*pieces, *_settings_below(node, stars > 0)), is_target, is_read)


def skeleton(node: Node, ids: Ids, stars: int = 0) -> Entry:
    """An entry that can show no more than its skeleton; cheaper than cutting all of it.

    Parameters as for `entry`. Of a file's keyword lines, its headline needs only the TODO keywords.
    """
    if node.level:
        head = node.head
        text = head[0] + id_drawer(node, head[1:], ids)
    elif stars:
        todo = [line for s, line in setting_lines(node) if s.key in TODO_KEYS]
        text = file_head(node, ids, stars) + "".join(dict.fromkeys(todo))
    else:
        text = "".join(piece.reduced for piece in entry(node, ids).pieces)
    return Entry(node, (Piece(text, text, False, 0, (), False, True),), False, False)


def is_split(before_line: str, line: str) -> bool:
    r"""Say whether token counts are certain to add up at the border between two lines.

    True promises, for every A that ends with `before_line` and every B that begins with `line`:
    count(A + B) == count(A) + count(B), in cl100k_base and o200k_base. False promises nothing.

    before_line: ends with "\n"; any other text gives False.
    line: one line, with or without its line end.
    """
    if not before_line.endswith("\n") or _DOUBTFUL_START.match(line):
        return False
    return not line.startswith("/") or _ends_in_ascii_word(before_line)


def _ends_in_ascii_word(line: str) -> bool:
    last = line.rstrip("\r\n")[-1:]
    return last.isascii() and last.isalnum()


def _lines(node: Node) -> list[str]:
    """The entry's lines; a file node's follow the comment that names the file.

    Blank lines above a file's drawer are left out: below a comment they would void the drawer.
    """
    if node.level:
        return node.lines
    lines = node.lines
    return [f"# {printable(node.path)}{node.tree.newline}", *lines[blanks_above(node) :]]


def _starts(node: Node, lines: Sequence[str], blocks: Sequence[Element]) -> list[int]:
    """The lines at which a piece begins: where text may be cut, and where token counts add up.

    Kept together: a drawer; the first and the last line of a block with the line inside it; a
    line and what is about it (#+name: and its kin).
    """
    joined: set[int] = set()
    for block in blocks:
        inner = range(block.first + 1, block.last + 1)
        joined.update(inner if block.is_drawer else (inner[0], block.last))
    joined.update(i + 1 for i, line in enumerate(lines) if _AFFILIATED.match(line))
    starts = [
        i
        for i, line in enumerate(lines)
        if not i or (i not in joined and is_split(lines[i - 1], line))
    ]
    return starts if node.level else _file_starts(node, lines, starts)


def _file_starts(node: Node, lines: Sequence[str], starts: Sequence[int]) -> list[int]:
    """Those of `starts` that hold whether the file's head is a comment or a headline.

    Down to its drawer the head is one piece. A line that a headline stands for begins a piece only
    if that is all of the piece, and one that begins with a slash, which might be read on from the
    line above, never does.
    """
    head = node.drawer[1] - first_line(node) if node.drawer else 0
    said = (setting for setting in node.tree.settings if setting.key in SAID_BY_HEADLINE)
    replaced = {setting.line - first_line(node) for setting in said}
    kept: list[int] = []
    after = len(lines)
    for start in reversed(starts):
        is_all = start not in replaced or after == start + 1
        if not start or (start > head and is_all and not lines[start].startswith("/")):
            kept.append(start)
            after = start
    return kept[::-1]


def _closing(
    lines: Sequence[str], blocks: Sequence[Element], ends: Sequence[int]
) -> Iterator[tuple[str, ...]]:
    """For each last line of a piece, the end lines of the blocks that are open behind it."""
    opened: list[Element] = []
    ahead = iter([*blocks, None])
    block = next(ahead)
    for end in ends:
        while block is not None and block.first <= end:
            opened.append(block)
            block = next(ahead)
        opened = [each for each in opened if each.last > end]
        yield tuple(lines[each.last] for each in reversed(opened))


def _movable(blocks: Sequence[Element], spans: Sequence[tuple[int, int]], node: Node) -> set[int]:
    """First lines of the drawers that give way to text: all but the property drawer.

    Nor one with which the end of a block around it comes into view.
    """
    own = node.drawer[0] - first_line(node) if node.drawer else -1
    first_of = {block.last: block.first for block in blocks if not block.is_drawer}
    ends = {
        start
        for start, stop in spans
        for line in range(start, stop)
        if first_of.get(line, start) < start
    }
    return {block.first for block in blocks if block.is_drawer} - ends - {own}


def _reduced(
    node: Node, lines: Sequence[str], blocks: Sequence[Element], ids: Ids
) -> dict[int, str]:
    """What a skeleton shows, by the line it begins at: headline, ID drawer, file keywords."""
    first = first_line(node)
    shown = {0: lines[0]}
    if not node.level:
        keywords = [s.line - first for s in node.tree.settings if s.line <= node.last_line]
        shown.update((line, lines[line]) for line in (*keywords, *_edges(blocks, keywords)))
    if node.drawer:
        start, stop = node.drawer[0] - first, node.drawer[1] - first + 1
        shown[start] = id_drawer(node, lines[start:stop], ids)
    return shown


def _edges(blocks: Sequence[Element], lines: Sequence[int]) -> Iterator[int]:
    """First and last line of the blocks and drawers around any of `lines`, which are in order."""
    for block in blocks:
        at = bisect_right(lines, block.first)
        if at < len(lines) and lines[at] < block.last:
            yield from (block.first, block.last)


def _piece(
    lines: Sequence[str],
    span: tuple[int, int],
    reduced: dict[int, str],
    shown: tuple[Sequence[str], dict[int, str]],
    closing: tuple[str, ...],
    is_drawer: bool,
) -> Piece:
    """The piece of the lines in `span`. shown: how they and their reduced form are written."""
    source = "".join(reduced.get(i, "") for i in range(*span))
    return Piece(
        text="".join(shown[0][span[0] : span[1]]),
        reduced="".join(shown[1].get(i, "") for i in range(*span)),
        has_more=source != "".join(lines[span[0] : span[1]]),
        hidden_lines=span[1] - span[0] - source.count("\n"),
        closing=closing,
        is_drawer=is_drawer,
        breaks=bool(source) and not _opens_properties(lines[span[0]]),
    )


def _opens_properties(line: str) -> bool:
    return line.lstrip(" \t").upper().startswith(":PROPERTIES:")


def _settings_below(node: Node, is_headline: bool) -> list[Piece]:
    """Keyword lines that stand in other entries: Org reads them for the whole file."""
    if node.level:
        return []
    replaced = replaced_by_headline(node) if is_headline else []
    below = (
        line for s, line in setting_lines(node) if s.line > node.last_line and s not in replaced
    )
    text = "".join(dict.fromkeys(below))
    return [Piece(text, text, False, 0, (), False, True)] if text else []
