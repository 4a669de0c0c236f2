"""The Python surface refuses whatever is no value for it, and says so as it says all else."""

from __future__ import annotations

import inspect
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from notes import write

from orgctx import Memex, open_memex
from orgctx.cites import Cites
from orgctx.errors import BadArgument, NotFound, OrgctxError
from orgctx.store.store import Store

ODD_TEXTS = [
    *("", " ", "\0", "a\0", "f/\0", "\ud800", "f/\ud800", "id:\ud800", "#\ud800", "\udcff.org"),
    *("a.org::*\ud800", "x" * 300, "f/" + "x" * 300, "x" * 300 + ".org", "x" * 5000),
    *("/".join(["x"] * 5000), "id:" + "x" * 5000, "a.org:" + "9" * 5000, "a.org::*" + "x" * 5000),
    *("~", "~nobody-of-this-name", "/", "//", ".", "./", "..", "../..", "a.org/", "a.org/x"),
    *("::", ":", "*", "#", "id:", "[[", "[[]]", "-", "--", "a\nb", "\n", "\x1b[0m", "ä"),
    *("a\u0308", "\U0010ffff", "1-", "0-0", "1-" + "9" * 5000, "needle \udcff\ud800"),
]  # fmt: skip
ODD = [
    *(None, True, False, 0, -1, 5, 2**63, 10**30, -(10**30), 1.5, float("nan"), b"a.org", 1j),
    *([], [None], ["a.org"], ["\ud800"], (), (1, 2), (1, 2, 3), (None, None), (2**70, 2**70)),
    *({}, {"a": 1}, set(), object(), Path("a.org"), Ellipsis, type),
    *ODD_TEXTS,
]
"""Values that are of another type, no text, no name, or not there."""

USUAL: dict[str, dict[str, Any]] = {
    "focus": {"addresses": "a.org"},
    "overview": {"addresses": "a.org"},
    "context": {"query": "needle"},
    "ls": {"path": "f"},
    "grep": {"pattern": "needle"},
    "read": {"address": "a.org"},
    "cite": {"answer": "[1:L1]", "cites": Cites()},
    "node": {"address": "a.org"},
    "within": {"collection": "work"},
}
HOW = ("regexp", "ignore_case", "todo", "tag", "property")
SWITCHES = ("explain", "semantic", "long", "subtree", "regexp", "ignore_case")
"""What any value turns on or off."""
NOT_NOTED = {"cite", "node", "within"}


def parameters(method: str) -> list[str]:
    """What a method takes."""
    names = [
        name for name in inspect.signature(getattr(Memex, method)).parameters if name != "self"
    ]
    return [*(name for name in names if name != "how"), *(HOW if "how" in names else ())]


EVERY = [(method, name) for method in USUAL for name in parameters(method)]


def ask(memex: Memex, method: str, given: dict[str, Any]) -> Any:
    """Call a method. given: by name; that of `addresses` is the one address."""
    known = {**USUAL[method], **given}
    addresses = [known.pop("addresses")] if "addresses" in known else []
    return getattr(memex, method)(*addresses, **known)


def check_answered_or_refused(memex: Memex, method: str, given: dict[str, Any]) -> bool:
    """Whether it was answered; if it was refused, the ledger counts that."""
    calls = memex.ledger
    before = calls.answers[method], calls.refusals[method]
    try:
        ask(memex, method, given)
        message, counted = "", (1, 0)
    except OrgctxError as error:
        message, counted = error.message, (0, 1)
    assert bool(message) == (counted == (0, 1))
    if method not in NOT_NOTED:
        after = calls.answers[method], calls.refusals[method]
        assert (after[0] - before[0], after[1] - before[1]) == counted
    return counted == (1, 0)


@pytest.fixture(params=["with a store", "without"])
def memex(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Memex:
    root = notes_in(tmp_path)
    monkeypatch.chdir(root / "f")
    return open_memex(root) if request.param == "with a store" else Memex(Store([root]))


def notes_in(folder: Path) -> Path:
    text = "#+title: A\nneedle\n* One :x:\nneedle\n"
    return write(folder / "notes", {"a.org": text, "f/b.org": text, "f/g/c.org": text})


@pytest.mark.parametrize(("method", "name"), EVERY)
def test_an_odd_value_is_answered_or_refused(memex: Memex, method: str, name: str) -> None:
    outcomes = {check_answered_or_refused(memex, method, {name: value}) for value in ODD}
    assert False in outcomes or name in SWITCHES


@given(st.data())
def test_several_odd_values_are_answered_or_refused(data: st.DataObject) -> None:
    odd = st.sampled_from(ODD) | st.text(max_size=5) | st.integers() | st.floats() | st.binary()
    method = data.draw(st.sampled_from(sorted(USUAL)))
    given = data.draw(
        st.dictionaries(st.sampled_from(parameters(method)), odd, min_size=1, max_size=3)
    )
    with TemporaryDirectory() as folder:
        memex = Memex(Store([notes_in(Path(folder))]))
        event("answered" if check_answered_or_refused(memex, method, given) else "refused")


@pytest.mark.parametrize("value", [5, None, b"a", [], 1.5, object()])
@pytest.mark.parametrize(
    ("method", "name"),
    [
        *(("ls", "path"), ("ls", "after"), ("ls", "kind"), ("grep", "pattern"), ("grep", "path")),
        *(("grep", "after"), ("read", "address"), ("node", "address"), ("focus", "addresses")),
        *(("context", "query"), ("context", "mode"), ("cite", "answer"), ("overview", "addresses")),
    ],
)
def test_what_is_no_text_is_a_bad_argument(
    memex: Memex, method: str, name: str, value: object
) -> None:
    with pytest.raises(BadArgument):
        ask(memex, method, {name: value})


@pytest.mark.parametrize("name", ["\0", "a\0", "f/\0", "\ud800", "x" * 300, "f/" + "x" * 300])
@pytest.mark.parametrize(
    ("method", "parameter"),
    [("ls", "path"), ("grep", "path"), ("read", "address"), ("focus", "addresses")],
)
def test_what_is_no_name_is_not_found(memex: Memex, method: str, parameter: str, name: str) -> None:
    with pytest.raises((NotFound, BadArgument)):
        ask(memex, method, {parameter: name})
