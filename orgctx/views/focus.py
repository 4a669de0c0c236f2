"""The foveal view: one headline in full, its surroundings in outline, within a budget."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from ..core import lens as lenses
from ..core.budget import longest_prefix
from ..core.entry import Entry, Ids, entry, skeleton
from ..core.ledger import Ledger
from ..core.model import Detail, Node, Omission, Problem, Relation, Shown, Step, View
from ..core.outline import problems
from ..core.render import render
from ..errors import BadArgument, BudgetTooSmall
from ..store.address import Names, resolve
from ..store.store import Store
from ..tokens import DEFAULT_ENCODING, UNITS, counter

BUDGET = 4000
LENSES = ("foveal",)
IDS = ("full", "short", "none")
PROBLEMS = 20


def focus(
    store: Store,
    address: str,
    budget: int = BUDGET,
    unit: str = "tokens",
    encoding: str = DEFAULT_ENCODING,
    lens: str = "foveal",
    ids: str = "full",
    background: int = lenses.BACKGROUND,
) -> View:
    """Show the node at `address` in its context, within a budget.

    address: any form of design 3.
    budget: int > 0, the most the text may cost in `unit` ("tokens" or "chars").
    encoding: a name in `tokens.ENCODINGS`.
    lens: "foveal". ids: "full", "short" (a prefix of 8 characters or more that no other ID has)
        or "none": what skeletons show of IDs; what is shown in full is never changed.
    background: how many level-1 headlines of the rest of the file may be sketched, int >= 0.
    Returns: View; view.tokens <= budget.
    Raises: NotFound, Ambiguous, OutsideRoot, Unreadable, BadArgument, BudgetTooSmall.
    """
    _check(budget, background)
    _choose("lens", lens, LENSES)
    _choose("ids", ids, IDS)
    count = store.counter(_choose("unit", unit, UNITS), encoding)
    target = resolve(store, address)
    names = Names(store)
    ledger = Ledger(_opener(target, _shown_ids(ids, names)), count, target)
    steps = lenses.foveal(target, _scaled(ledger.pieces, unit), background)
    kept, least = longest_prefix(lenses.spine(target), steps, ledger, budget)
    if not kept:
        raise _too_small(budget, least, unit, address)
    ledger = ledger.replay(kept)
    return View(
        text=render(ledger),
        tokens=ledger.total,
        budget=budget,
        unit=unit,
        encoding=encoding if unit == "tokens" else None,
        target=names.address(target),
        shown=_shown(kept, ledger, names),
        omitted=_omitted(ledger, names),
        find_problems=lambda: _first([*_faults(target), *problems(target.tree)]),
    )


def _check(budget: int, background: int) -> None:
    for name, value, least in (("budget", budget, 1), ("background", background, 0)):
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise BadArgument(f"{name} {value!r}: give a whole number from {least} up", where=name)


def _choose(name: str, value: str, choices: Sequence[str]) -> str:
    if value not in choices:
        raise BadArgument(
            f"{name} {value!r}: there is no such {name}", f"use {' or '.join(choices)}", name
        )
    return value


def _scaled(pieces: lenses.Pieces, unit: str) -> lenses.Pieces:
    """The lens' limits are in tokens; a token is about 4 characters."""
    factor = 1 if unit == "tokens" else 4
    return lambda node, limit: pieces(node, None if limit is None else limit * factor)


def _opener(target: Node, ids: Ids) -> Callable[[Node], Entry]:
    """What may be shown of a node: the target and its open children in full, else a skeleton."""
    read = {child.index for child in target.children if not child.is_commented}

    def open_entry(node: Node) -> Entry:
        if node.index == target.index:
            return entry(node, ids, is_target=True)
        return entry(node, ids) if node.index in read else skeleton(node, ids)

    return open_entry


def _shown_ids(ids: str, names: Names) -> Ids:
    """What a skeleton shows of an ID."""
    shown: dict[str, Ids] = {"full": str, "short": names.short_id, "none": None}
    return shown[ids]


def _too_small(budget: int, needed: int, unit: str, address: str) -> BudgetTooSmall:
    return BudgetTooSmall(
        f"{address}: a budget of {budget} {unit} is below the {needed} that its headline and "
        "those above it need",
        needed,
        f"give a budget of {needed} or more",
        address,
    )


def _shown(kept: Sequence[Step], ledger: Ledger, names: Names) -> tuple[Shown, ...]:
    first = {step.node.index: step for step in reversed(kept)}
    return tuple(
        Shown(
            address=names.address(step.node),
            path=step.node.path,
            line=step.node.first_line,
            level=step.node.level,
            detail=_detail(step.node, ledger),
            tokens=ledger.cost(step.node),
            relation=step.relation,
            interest=step.interest,
            node=step.node,
        )
        for _, step in sorted(first.items())
    )


def _detail(node: Node, ledger: Ledger) -> Detail:
    entry = ledger.priced(node).entry
    if not (entry.is_target or ledger.shows_text(node)):
        return Detail.SKELETON
    return Detail.FULL if ledger.shown[node.index] == len(entry.order) else Detail.CUT


def _omitted(ledger: Ledger, names: Names) -> tuple[Omission, ...]:
    found = []
    for index in sorted(ledger.shown):
        node = ledger.target.tree.nodes[index]
        headlines = ledger.announced(node)
        lines = ledger.priced(node).entry.lines_left_out(ledger.shown[index])
        if headlines or lines:
            found.append(Omission(names.address(node), headlines, lines, node))
    return tuple(found)


def _faults(target: Node) -> list[Problem]:
    """What orgparse could not read of the target."""
    return [
        Problem(target.path, target.first_line + line, what) for line, what in target.ast.faults
    ]


def _first(found: list[Problem]) -> tuple[Problem, ...]:
    """No more problems than an answer should carry."""
    rest = len(found) - PROBLEMS
    more = [Problem(found[0].path, 0, f"and {rest} more")] if rest > 0 else []
    return (*found[:PROBLEMS], *more)


def to_data(view: View) -> dict[str, Any]:
    """The view as data for JSON: what is shown and left out, and what orgparse knows of the target.

    The target's facts together cost at most the budget once more; what does not fit is counted
    under `left_out`.
    """
    target = next(each.node for each in view.shown if each.relation is Relation.TARGET)
    return {
        "text": view.text,
        "tokens": view.tokens,
        "budget": view.budget,
        "unit": view.unit,
        "encoding": view.encoding,
        "target": {"address": view.target, **_facts(target, view)},
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
            {"address": each.address, "headlines": each.headlines, "lines": each.lines}
            for each in view.omitted
        ],
        "problems": [
            {"path": each.path, "line": each.line, "what": each.what} for each in view.problems
        ],
    }


def _facts(node: Node, view: View) -> dict[str, Any]:
    """What is known of the target, the dearest lists last; those that do not fit are counted."""
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
    left_out = {}
    count = counter(view.unit, view.encoding or DEFAULT_ENCODING)
    rest = view.budget
    properties = {key.removesuffix("+"): "" for key, _ in node.properties}
    known = {name: node.get_property(name) for name in properties}
    for name, value in {**node.ast.facts(), "properties": known}.items():
        cost = count(json.dumps({name: value}, ensure_ascii=False))
        if cost <= rest or not value:
            facts[name], rest = value, rest - cost
        else:
            left_out[name] = len(value)
    return {**facts, "left_out": left_out}
