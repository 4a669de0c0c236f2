"""What all views have in common: how one is built from steps, and how it looks as data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ..core.budget import longest_prefix
from ..core.document import Document
from ..core.entry import Entry
from ..core.frame import Frame, Holders, unified
from ..core.heading import Ids
from ..core.ledger import Ledger, Prices
from ..core.lens import TOP, Pieces, Rank
from ..core.model import Detail, Node, Omission, Problem, Relation, Shown, Step, Tree, View
from ..core.outline import problems
from ..core.render import render
from ..errors import BadArgument, BudgetTooSmall, OrgctxError, Unreadable
from ..store.address import resolve
from ..store.names import Names
from ..store.store import Store
from ..tokens import DEFAULT_ENCODING, ENCODINGS, UNITS, counter

BUDGET = 4000
READING_BUDGET = 8000
CONTEXT_BUDGET = 2000
EXPLAIN_BUDGET = 4000
IDS = ("full", "short", "none")
PROBLEMS = 20
TRIES = 3


class Limit(NamedTuple):
    """What a view may cost, and how its IDs are shown.

    budget: int > 0, the most the text may cost in `unit` ("tokens" or "chars").
    encoding: a name in `tokens.ENCODINGS`.
    ids: "full", "short" (a prefix of 8 characters or more that no other ID has) or "none": what
        skeletons show of IDs; what is shown in full is never changed.
    """

    budget: int = BUDGET
    unit: str = "tokens"
    encoding: str = DEFAULT_ENCODING
    ids: str = "full"

    def check(self) -> None:
        """Raises: BadArgument."""
        whole("budget", self.budget, 1)
        choose("unit", self.unit, UNITS)
        choose("encoding", self.encoding, ENCODINGS)
        choose("ids", self.ids, IDS)

    def shown_ids(self, names: Names) -> Ids:
        """What a skeleton shows of an ID."""
        shown: dict[str, Ids] = {"full": str, "short": names.short_id, "none": None}
        return shown[self.ids]

    def scaled(self, pieces: Pieces) -> Pieces:
        """A lens' limits are in tokens; a token is about 4 characters."""
        factor = 1 if self.unit == "tokens" else 4
        return lambda node, limit: pieces(node, None if limit is None else limit * factor)


def whole(name: str, value: int, least: int) -> None:
    """Raises: BadArgument if it is no whole number from `least` up."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise BadArgument(f"{name} {value!r}: give a whole number from {least} up", where=name)


def choose(name: str, value: str, choices: Sequence[str]) -> str:
    """One of the choices. Raises: BadArgument for any other value."""
    if value not in choices:
        raise BadArgument(
            f"{name} {value!r}: there is no such {name}", f"use {' or '.join(choices)}", name
        )
    return value


def texts(name: str, value: str | Iterable[str]) -> tuple[str, ...]:
    """What is given as one text or as several. Raises: BadArgument for anything else."""
    if not isinstance(value, Iterable) or isinstance(value, bytes):
        raise BadArgument(f"{name} {value!r}: give a text, or several", where=name)
    several = (value,) if isinstance(value, str) else tuple(value)
    for each in several:
        if not isinstance(each, str):
            raise BadArgument(f"{name} {each!r}: give a text", where=name)
    return several


class Reading:
    """The files of one answer, each as it was when it was first read.

    is_of_several: whether the answer may show more than one file; then all have line feeds.
    """

    def __init__(self, store: Store, is_of_several: bool) -> None:
        self.store, self._is_of_several = store, is_of_several
        self._trees: dict[str, tuple[Tree, Tree]] = {}

    def targets(self, addresses: Iterable[str]) -> list[Node]:
        """The nodes at these addresses, each once.

        Raises: as `resolve`; Unreadable if a file changes again and again.
        """
        for _ in range(TRIES):
            self._trees.clear()
            nodes = [self.node(resolve(self.store, each)) for each in addresses]
            if None not in nodes:
                return list(dict.fromkeys(node for node in nodes if node))
        raise Unreadable("the files change while they are read", "try again")

    def node(self, node: Node) -> Node | None:
        """The node as this answer shows it; None if its file has changed since."""
        if node.path not in self._trees:
            tree = unified(node.tree) if self._is_of_several else node.tree
            self._trees[node.path] = node.tree, tree
        source, tree = self._trees[node.path]
        return tree.nodes[node.index] if source is node.tree else None

    def source(self, node: Node) -> Node:
        """The node as the store has it. node: as this answer shows it."""
        return self._trees[node.path][0].nodes[node.index]

    def nodes(self, nodes: Iterable[Node]) -> Iterator[Node]:
        """Those nodes whose files have not changed since."""
        return (own for node in nodes if (own := self.node(node)))

    def files(self, paths: Iterable[str]) -> Iterator[Node]:
        """The file nodes at these paths, but for those that cannot be read now."""
        for path in paths:
            if path in self._trees:
                yield self._trees[path][1].root
                continue
            try:
                yield from self.nodes([self.store.tree(path).root])
            except OrgctxError:
                continue


class Plan(NamedTuple):
    """What a view is made of.

    steps: those of its lens, behind the spine. ranks: what they are for, by number.
    open_entry: see `ledger.Prices`. frame: None if it can show one file alone.
    """

    targets: Sequence[Node]
    spine: Sequence[Step]
    steps: Callable[[Document], Iterable[Step]]
    ranks: Mapping[int, Rank]
    open_entry: Callable[[Node, int], Entry]
    frame: Frame | None


class Growth(NamedTuple):
    """A view and how it came about.

    steps: those that it is made of, in order, the spine first. document: with all of them taken.
    """

    plan: Plan
    limit: Limit
    names: Names
    steps: Sequence[Step]
    document: Document

    def later(self) -> Iterator[Step]:
        """The steps behind those, as a larger budget would take them."""
        document = self.document.replay(self.steps)
        for step in self.plan.steps(document):
            if step.pieces > document.state(step.node):
                yield step

    @property
    def view(self) -> View:
        """What is shown."""
        document, limit, names = self.document, self.limit, self.names
        targets = self.plan.targets
        return View(
            text=render(document),
            tokens=document.total,
            budget=limit.budget,
            unit=limit.unit,
            encoding=limit.encoding if limit.unit == "tokens" else None,
            targets=tuple(map(names.address, targets)),
            shown=tuple(_shown(document, self.steps, names)),
            omitted=tuple(_omitted(document, names)),
            find_problems=lambda: _problems(names.store, targets),
        )


def grow(plan: Plan, limit: Limit, names: Names, what: str) -> Growth:
    """Show as much as fits.

    what: the question, for an error.
    Raises: BudgetTooSmall.
    """
    count = names.store.counter(limit.unit, limit.encoding)
    document = Document(Prices(plan.open_entry, count), plan.targets, plan.frame)
    kept, least = longest_prefix(plan.spine, plan.steps(document), document, limit.budget)
    if not kept:
        raise _too_small(limit, least, what)
    return Growth(plan, limit, names, kept, document.replay(kept))


def _too_small(limit: Limit, needed: int, what: str) -> BudgetTooSmall:
    return BudgetTooSmall(
        f"{what}: a budget of {limit.budget} {limit.unit} is below the {needed} that the headline "
        "and those above it need",
        needed,
        f"give a budget of {needed} or more",
        what,
    )


def _shown(document: Document, kept: Sequence[Step], names: Names) -> Iterator[Shown]:
    """All that is shown, in document order."""
    first = {step.node: step for step in reversed(kept)}
    holders = None if document.is_of_one_file else document.holders
    if holders:
        yield _holder(holders, holders.root, first)
    for folder, ledgers in document.groups():
        if folder and holders:
            yield _holder(holders, folder, first)
        for ledger in ledgers:
            for index in sorted(ledger.shown):
                yield _headline(ledger, ledger.tree.nodes[index], first, names)


def _holder(holders: Holders, node: Node, first: dict[Node, Step]) -> Shown:
    """A folder, or what holds all files; it comes with the first of them."""
    return Shown(
        address=holders.name(node),
        path=holders.name(node),
        line=0,
        level=-1,
        detail=Detail.SKELETON,
        tokens=holders.cost(node),
        relation=first[node].relation if node in first else Relation.CONTAINER,
        interest=first[node].interest if node in first else TOP,
        node=node,
    )


def _headline(ledger: Ledger, node: Node, first: dict[Node, Step], names: Names) -> Shown:
    return Shown(
        address=names.address(node),
        path=node.path,
        line=node.first_line,
        level=node.level,
        detail=detail_of(ledger, node),
        tokens=ledger.cost(node),
        relation=first[node].relation,
        interest=first[node].interest,
        node=node,
    )


def detail_of(ledger: Ledger, node: Node) -> Detail:
    entry = ledger.priced(node).entry
    if not (entry.is_target or ledger.shows_text(node)):
        return Detail.SKELETON
    return Detail.FULL if ledger.shown[node.index] == len(entry.order) else Detail.CUT


def _omitted(document: Document, names: Names) -> Iterator[Omission]:
    """What is announced, in document order."""
    holders = None if document.is_of_one_file else document.holders
    nodes = [holders.root] if holders else []
    for folder, ledgers in document.groups():
        nodes += [folder] if folder else []
        if holders:
            yield from _of_holders(holders, nodes)
        nodes = []
        for ledger in ledgers:
            yield from _of_file(ledger, names)


def _of_holders(holders: Holders, nodes: Iterable[Node]) -> Iterator[Omission]:
    for node in nodes:
        if paths := holders.left_out(node):
            yield Omission(holders.name(node), 0, 0, node, tuple(paths))


def _of_file(ledger: Ledger, names: Names) -> Iterator[Omission]:
    for index in sorted(ledger.shown):
        node = ledger.tree.nodes[index]
        headlines = ledger.announced(node)
        lines = ledger.priced(node).entry.lines_left_out(ledger.shown[index])
        if headlines or lines:
            yield Omission(names.address(node), headlines, lines, node)


def unsaved(store: Store, paths: Iterable[str]) -> list[Problem]:
    """Those of the files that an editor holds with edits that nobody can see yet."""
    what, hint = "an editor has unsaved edits of it", "save them to have them shown"
    edited = filter(store.is_edited, dict.fromkeys(paths))
    return [Problem(path, 0, what, hint) for path in edited]


def _problems(store: Store, targets: Iterable[Node]) -> tuple[Problem, ...]:
    """What orgparse could not read of the targets, and Org of their files; the first of it."""
    edited = unsaved(store, (target.path for target in targets))
    faults = [
        Problem(target.path, target.first_line + line, what)
        for target in targets
        for line, what in target.ast.faults
    ]
    trees = dict.fromkeys(target.tree for target in targets)
    found = [*edited, *faults, *(each for tree in trees for each in problems(tree))]
    rest = len(found) - PROBLEMS
    more = [Problem(found[0].path, 0, f"and {rest} more")] if rest > 0 else []
    return (*found[:PROBLEMS], *more)


def to_data(view: View) -> dict[str, Any]:
    """The view as data for JSON: what is shown and left out, and what is known of the targets.

    The targets' facts together cost at most the budget once more; what does not fit is counted
    under `left_out`.
    """
    return {
        "text": view.text,
        "tokens": view.tokens,
        "budget": view.budget,
        "unit": view.unit,
        "encoding": view.encoding,
        "targets": _targets(view),
        "shown": [
            {
                "address": each.address,
                "path": each.path,
                "line": each.line,
                "level": each.level,
                "title": each.node.title,
                "detail": each.detail,
                "tokens": each.tokens,
                "relation": each.relation,
                "interest": round(each.interest, 4),
            }
            for each in view.shown
        ],
        "omitted": [
            {
                "address": each.address,
                "headlines": each.headlines,
                "lines": each.lines,
                "paths": len(each.paths),
            }
            for each in view.omitted
        ],
        "problems": [
            {"path": each.path, "line": each.line, "what": each.what} for each in view.problems
        ],
    }


def _targets(view: View) -> list[dict[str, Any]]:
    rest, found = view.budget, []
    for address in view.targets:
        node = next(s.node for s in view.shown if s.address == address)
        facts, rest = _facts(node, view, rest)
        found.append({"address": address, **facts})
    return found


def _facts(node: Node, view: View, rest: int) -> tuple[dict[str, Any], int]:
    """What is known of a target, the dearest lists last; those dearer than `rest` are counted."""
    facts: dict[str, Any] = {
        "path": node.path,
        "line": node.first_line,
        "level": node.level,
        "title": node.title,
        "todo": node.todo,
        "priority": node.priority,
        "tags": node.tags,
        "inherited_tags": node.inherited_tags,
        "is_commented": node.is_in_comment,
        "id": node.id,
        "custom_id": node.custom_id,
    }
    from json import dumps  # only who prints it pays

    left_out = {}
    count = counter(view.unit, view.encoding or DEFAULT_ENCODING)
    properties = {key.removesuffix("+"): "" for key, _ in node.properties}
    known = {name: node.get_property(name) for name in properties}
    for name, value in {**node.ast.facts(), "properties": known}.items():
        cost = count(dumps({name: value}, ensure_ascii=False))
        if cost <= rest or not value:
            facts[name], rest = value, rest - cost
        else:
            left_out[name] = len(value)
    return {**facts, "left_out": left_out}, rest
