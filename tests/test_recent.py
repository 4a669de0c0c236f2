"""Outlines that are kept: the last ones, and those that somebody has."""

import gc
from collections.abc import Iterator
from pathlib import Path
from weakref import ref

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from notes import write

from orgctx import open_memex
from orgctx.core.outline import outline
from orgctx.store import recent
from orgctx.store.recent import Recent


@pytest.fixture(autouse=True)
def frozen() -> Iterator[None]:
    """Nothing that was there before is looked at when garbage is collected, which takes long."""
    gc.freeze()
    yield
    gc.unfreeze()


def tree(text: str):
    return outline(text, "")


def test_one_outline_for_each_text() -> None:
    kept, one = Recent(), tree("* One\n")
    assert kept.put("a", b"1", one) is one
    assert kept.get("a", b"1") is one
    assert kept.get("a", b"2") is None
    assert kept.put("a", b"1", tree("* One\n")) is one
    two = tree("* Two\n")
    assert kept.put("a", b"2", two) is two
    assert kept.get("a", b"1") is None


@settings(max_examples=40)
@given(
    st.lists(st.tuples(st.sampled_from("abcdefgh"), st.integers(0, 9)), min_size=1, max_size=40),
    st.integers(0, 60),
    st.sets(st.sampled_from("abcdefgh")),
)
def test_what_is_kept(asked: list[tuple[str, int]], most: int, wanted: set[str]) -> None:
    """What was asked for last, as far as it is small enough; and what somebody has."""
    kept, held, last = Recent(most), {}, {}
    for path, size in asked:
        data = path.encode() * size
        found = kept.get(path, data) or kept.put(path, data, tree(f"* {path}{size}\n"))
        last[path] = data, ref(found)
        held.pop(path, None)
        if path in wanted:
            held[path] = found
    found = None
    gc.collect()
    alive = {path for path, (_, each) in last.items() if each() is not None}
    assert alive >= held.keys() | {path}
    assert sum(len(last[each][0]) for each in alive - held.keys() - {path}) <= most
    assert all(kept.get(each, last[each][0]) is there for each, there in held.items())
    is_enough = sum(size for _, size in asked) <= most
    assert alive == last.keys() or not is_enough
    event(f"enough for all: {is_enough}, all are kept: {alive == last.keys()}")


def test_an_answer_from_more_than_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, {f"{n}.org": f"* Headline {n}\ntext {n}\n" for n in range(9)})
    addresses = [f"{n}.org::Headline {n}" for n in range(9)]
    expected = open_memex(tmp_path).focus(*addresses, lens="fisheye").text
    monkeypatch.setattr(recent.Recent.__init__, "__defaults__", (1,))
    memex = open_memex(tmp_path)
    assert memex.focus(*addresses, lens="fisheye").text == expected
    assert memex.grep("text").text == open_memex(tmp_path).grep("text").text
