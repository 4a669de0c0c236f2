"""Hits by what they mean: the extra, which reorders what was found by words."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

import judged
import pytest
from notes import write
from program import Ask, loaded_by
from stores import opened

from orgctx import Unreadable, open_memex
from orgctx.store.store import Store
from orgctx.views import meaning
from orgctx.views.context import context
from orgctx.views.view import Limit

NOTES = {
    "pets.org": "* Beta\nThe bill is warm.\n* Alpha\nThe puppy is warm.\n",
    "empty.org": "* \n* 会议\n*** \n",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write(tmp_path / "notes", NOTES)


def scores(store: Store, query: str, semantic: bool) -> dict[str, dict[str, float]]:
    bundle = context(store, query, Limit(2000), semantic=semantic)
    return {hit.place: dict(hit.signals) for hit in bundle.hits}


def test_a_hit_that_means_the_same_comes_up(root: Path) -> None:
    query = "warm animal"
    by_words = scores(opened(root), query, semantic=False)
    by_meaning = scores(opened(root), query, semantic=True)
    assert list(by_words)[:2] == ["pets.org:1", "pets.org:3"]
    assert list(by_meaning)[:2] == ["pets.org:3", "pets.org:1"]
    for place, signals in by_words.items():
        rest = {name: value for name, value in by_meaning[place].items() if name != "meaning"}
        assert rest == signals


def test_the_same_question_has_the_same_answer_when_it_is_remembered(root: Path) -> None:
    store = opened(root)
    first = scores(store, "warm", semantic=True)
    assert store.connection.execute("SELECT count(*) FROM meaning").fetchone()[0] > 0
    assert scores(store, "warm", semantic=True) == first
    assert scores(Store([root]), "warm", semantic=True) == first


def test_what_is_remembered_goes_with_its_note(root: Path) -> None:
    store = opened(root)
    scores(store, "warm", semantic=True)
    (root / "pets.org").unlink()
    store.sync()
    assert store.connection.execute("SELECT count(*) FROM meaning").fetchone() == (0,)


def test_an_entry_of_nothing_means_nothing(root: Path) -> None:
    for signals in scores(opened(root), "会议 warm", semantic=True).values():
        assert signals["meaning"] >= 0


def test_it_does_not_say_whether_there_is_an_answer(root: Path) -> None:
    memex = open_memex(root)
    for query in ("feline", "kubernetes", "warm puppy"):
        assert memex.context(query, semantic=True).abstained == memex.context(query).abstained


def test_it_is_off_unless_it_is_asked_for(root: Path, ask: Ask) -> None:
    usual = ask("context", "warm", "--root", root, "--explain").out
    assert "meaning" not in usual
    assert "meaning" in ask("context", "warm", "--root", root, "--explain", "--semantic").out
    write(root, {"orgctx.toml": "semantic = true\n"})
    assert "meaning" in ask("context", "warm", "--root", root, "--explain").out
    assert ask("context", "warm", "--root", root, "--explain", "--no-semantic").out == usual
    write(root, {"orgctx.toml": 'semantic = "yes"\n'})
    refused = ask("context", "warm", "--root", root)
    assert (refused.status, refused.out) == (1, "")
    assert "semantic: give true or false" in refused.err


def test_without_the_extra_it_is_off_and_who_asks_for_it_is_told_how_to_have_it(
    root: Path, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "wordllama", None)
    monkeypatch.setattr(meaning, "is_installed", lambda: False)
    meaning._model.cache_clear()
    write(root, {"orgctx.toml": "semantic = true\n"})
    assert ask("context", "warm", "--root", root).status == 0
    refused = ask("context", "warm", "--root", root, "--semantic")
    assert (refused.status, refused.out) == (1, "")
    assert "pip install 'orgctx[semantic]'" in refused.err
    with pytest.raises(Unreadable, match="wordllama"):
        open_memex(root).context("warm", semantic=True)


def test_who_does_not_ask_for_it_does_not_load_it(root: Path) -> None:
    program = "from orgctx.surfaces.cli import run\nrun(['context', 'warm', '--root', {!r}])"
    assert loaded_by(program.format(str(root)), "numpy", "wordllama")[1] == set()


@pytest.mark.corpora
@pytest.mark.records
def test_judged_questions_are_led_to_their_answers_more_often(tmp_path: Path) -> None:
    found = judged.all_figures(tmp_path, partial(judged.bundle, semantic=True))
    assert found.recall >= 0.73
    assert found.rank >= 0.82
    assert found.bundle >= 0.8
    assert found.balanced >= 0.85
