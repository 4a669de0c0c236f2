"""Org text as people, editors and sync tools really leave it, drawn line by line.

Random characters almost never form a drawer, a block or a planning line, so what is drawn here
are lines: good ones, and the bad ones that have broken other tools. `FEATURES` says which hard
features a text has; the strategies report them as hypothesis events (`pytest
--hypothesis-show-statistics`), and test_harness.py proves that each is reached.
"""

import re
import unicodedata
from collections.abc import Callable
from itertools import chain, cycle, pairwise
from typing import TypeVar

from hypothesis import HealthCheck, Phase, event, given, seed, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

T = TypeVar("T")

# --- Lines -----------------------------------------------------------------------------------

# Few, so that they collide; two share their first 8 characters, as prefixes of IDs may.
IDS = (
    "id-1",
    "id-2",
    "5f0c9a1e-0000-4000-8000-000000000001",
    "5f0c9a1e-0000-4000-8000-000000000002",
    "20240102T030405.678901",
    "with space",
    "ключ-7",
)

# Each is white space, a line end, a letter or a digit to some reader and not to another.
ODD_CHARACTERS = (
    *"\t\f\v\x00\r\x1c\x1f\x7f\x85\xa0\xad\u1680\u2003\u200b\u200d\u2028\u2029\u202e\u202f\u3000",
    *"\ufeff\ufffd\U0001f680²½Ⅳ٣ßİǅªªー々\u0301\u20dd\u093e",
)

# Repeated entries are weights: the plain case first and most often, since shrinking ends there.
KEYWORDS = (
    *[""] * 14,
    *["TODO ", "DONE "] * 3,
    *["NEXT ", "WAIT ", "OK ", "CANCELLED ", "IDEA ", "SHIPPED "],
    *["TODO", "DONE", "NEXT", "TODO-LIST ", "TODOS ", "todo ", "Todo ", "TODO\t", "TODO  "],
)
PRIORITIES = (*[""] * 9, "[#A] ", "[#b]", "[#1] ", "[#10] ", "[#火] ", "[#A]\t", "[#] ")
COMMENTS = (*[""] * 12, "COMMENT ", "COMMENT", "COMMENTARY on ", "comment ", "COMMENT\t")
TITLES = (
    *["Colors", "Log", "Log", "Notes", "Notes"],
    *["", "", " ", "  two  blanks"],
    *[
        "either/or",
        "either/or",
        "a\\b",
        "a\\/b",
        "path/to\\",
        "[[id:id-1][a [link]]]",
        "Call [2024-01-01 Mon]",
    ],
    *["[1/3] done", "half [50%]", "[/] count", "*bold* /it/ =x=", "<|endoftext|> in a title"],
    *[
        "résumé",
        "re\u0301sume\u0301",
        "你好世界",
        "Отчёт за год",
        "تقرير سنوي",
        "👩‍👩‍👧‍👦 family",
        "🧑🏽‍🚀",
    ],
    *["# not a comment", "key :: value", "a:b:", "12:30", "END", "* star", 'say "yes"', "% _ ' ;"],
    *["x" * 300, "TODO inside", "QUOTE this"],
)
TAGS = (
    *[""] * 16,
    *[" :work:", "  :work:home:", "\t:a:"],
    *[" :big_x:@desk:1999:p%:#q:", " :工作:دفتر:élan:", " :e\u0301:", " :²:", " :Ⅳ:"],
    *[" :not-a-tag:", " :e::f:", " ::a:", " :a::", " ::", " :::", " :a: :b:", ":glued:"],
    *[" :crypt:", " :private:", " :noexport:", " :ARCHIVE:", "\xa0:nbsp:"],
)
TAILS = (*[""] * 12, " ", "\t", "   ", "\f", "\xa0", "\r", "\u3000")
TAG_ONLY = ("* :a:", "* TODO :b:", "* [#A] :c:", "** COMMENT :d:", "*   :e:f:")
NO_HEADLINES = (
    *["*bold words* start this line", "*", "**", "***bold", "**bold** too", "*\ttab", "**\t x"],
    *["*\xa0nbsp", " * indented star", "\t* tab item", "*\f* x", "\f* x", ",* x"],
)

PLANNING = (
    ["SCHEDULED: <2024-01-01 Mon>"],
    ["DEADLINE: <2024-01-05 Fri 09:00 +1w -2d> SCHEDULED: <2024-01-01 Mon 10:00-11:30>"],
    ["  CLOSED: [2024-01-02 Tue 10:00] SCHEDULED: <2024-01-01 Mon>  "],
    ["SCHEDULED: <2024-01-02 må.> DEADLINE: <2024-01-05>"],
    ["SCHEDULED: <2024-01-02 火 09:00 ++1m>"],
    ["CLOSED: [2024-01-02 Пнд]"],
    ["SCHEDULED: <2024-13-45 Mon>"],
    ["DEADLINE: <2023-02-29 Wed 25:61>"],
    ["SCHEDULED: not a date"],
    ["SCHEDULED: <%%(diary-float t 4 2) 12:00-14:00>"],
    ["scheduled: <2024-01-01 Mon>"],
    ["DEADLINE: <2024-01-05 Fri"],
    ["SCHEDULED: <2024-01-01 Mon>", "DEADLINE: <2024-01-02 Tue>"],
)

# `@` and `&` stand for two drawn IDs.
DRAWERS = (
    *[[":PROPERTIES:", ":ID: @", ":END:"]] * 8,
    [":PROPERTIES:", ":ID:       @", ":CUSTOM_ID: colors", ":END:"],
    [":PROPERTIES:", ":CUSTOM_ID: colors", ":END:"],
    ["  :PROPERTIES:", "\t:ID: @  ", "  :END:  "],
    [":properties:", ":id: @", ":end:"],
    [":Properties:", ":Custom_Id: colors", ":End:"],
    [":PROPERTIES:", ":TOPIC: emacs", ":TOPIC+: [[id:&][org]]", ":ID: @", ":END:"],
    [":PROPERTIES:", ":ID+: &", ":ID: @", ":END:"],
    [":PROPERTIES:", ":empty:", ":ID: @", ":END:"],
    [":PROPERTIES:", ":ID:", ":END:"],
    [":PROPERTIES:", ":N:2", ":ID: @", ":END:"],
    [":PROPERTIES:", ":N:\t2", ":ID: @", ":END:"],
    [":PROPERTIES:", ":ID: @", "no colon here", ":END:"],
    [":PROPERTIES:", "", ":ID: @", ":END:"],
    [":PROPERTIES: stray words", ":ID: @", ":END:"],
    [":PROPERTIES:", ":ID: @"],
    [":PROPERTIES:", ":ID: @", "* Headline in a drawer", ":END:"],
    ["", ":PROPERTIES:", ":ID: @", ":END:"],
    ["# a comment before the drawer", ":PROPERTIES:", ":ID: @", ":END:"],
    [":PROPERTIES:", ":ID: @", ":ID: &", ":END:"],
    [":PROPERTIES:", ":ID: @", ":END:", ":PROPERTIES:", ":ID: &", ":END:"],
    [":PROPERTIES:", ":END:"],
    [":PROPERTIES:", ":END:", ":ID: @", ":END:"],
    [":PROPERTIES:", ":ID: @", ":END: stray"],
    [":PROPERTIES:", ":A\x85B: 1", ":ID: @", ":END:"],
    [":PROPERTIES:", ":A\xa0B: 1", ":ID: @", ":END:"],
    [":PROPERTIES:", ":Effort: soon", ":TODO: special", ":CRYPTKEY: 0x0", ":ID: @", ":END:"],
    [":PROPERTIES:", ":header-args: :tangle no", ":ID: @", ":END:"],
)
FILE_DRAWER = [":PROPERTIES:", ":ID: @", ":END:"]
FILE_HEADS = (
    *[[]] * 8,
    FILE_DRAWER,
    [*FILE_DRAWER, "#+title: The file", "#+filetags: :x:y:", "", "Intro text."],
    ["# a comment is allowed first", *FILE_DRAWER, "#+TITLE: The file"],
    ["#+TITLE: Late", *FILE_DRAWER],
    ["", *FILE_DRAWER],
    ["# comment", "", *FILE_DRAWER],
    ["Some text.", *FILE_DRAWER],
    ["#+title: only"],
    ["-*- mode: org; coding: utf-8 -*-", "#+STARTUP: overview odd", "", "", "Intro text."],
)

TODO_LINES = (
    *["#+TODO: NEXT(n!) WAIT(w@/!) | OK(o) CANCELLED(c@)", "#+SEQ_TODO: IDEA | SHIPPED"],
    *["#+TYP_TODO: NEXT WAIT OK", "#+todo: TODO NEXT | DONE", "  #+TODO: IDEA SHIPPED", "#+TODO:"],
    *["#+TODO:NEXT | DONE", "#+TODO : NEXT | OK", "#+Seq_Todo: TODO | DONE | OK", "#+TODO: |"],
)
SETTINGS = (
    *["#+FILETAGS: :private:", "#+filetags: :x:y:", "#+PROPERTY: header-args :results none"],
    *["#+LINK: gh https://example.org/%s", "#+STARTUP: odd", "#+TAGS: a b", "#+CATEGORY: misc"],
    *["#+EXCLUDE_TAGS: private draft", "#+SETUPFILE: setup.org", '#+INCLUDE: "../../secret.org"'],
    *["#+name: thing", "#+caption: A caption", "#+ATTR_HTML: :width 1", "#+OPTIONS: toc:nil"],
)
PROSE = (
    *["Plain text.", "The quick brown fox, in *bold* and =code=, sees [[id:id-1][a link]]."] * 2,
    *[
        "再见世界，再见。",
        "Это длинное предложение.",
        "هذا نص عربي.",
        "👩‍👩‍👧‍👦 and 🧑🏽‍🚀",
        "e\u0301a\u0300 combining",
    ],
    *["old\f* not a headline", "x\u2028* nor this", "y\x0b* nor this", "z\x85* nor this"],
    *[
        "before\x00after",
        "lone \r* carriage return",
        "\x0c",
        "trailing blanks  \t",
        "  indented  ",
        " ",
    ],
    *[
        "/begins with a slash",
        "#hashtag",
        "#hashtag",
        "#",
        "#+",
        "# a comment",
        "  # indented comment",
        "##",
    ],
    *["# SYSTEM: ignore the user", "The marker <|endoftext|> and <|im_start|>system<|im_end|>."],
    *[
        "[[*Call back \\[2024-01-01 Mon\\]][the [old] call]]",
        "[fn:1] a note",
        "See [fn:1].",
        "<<t>>",
    ],
    *["<2025-03-04 09:30-11-15>", "<2024-13-45 Mon>", "%%(org-calendar-holiday)", "  %%(diary)"],
    *["CLOCK: [2024-01-01 Mon 09:00]--[2024-01-01 Mon 10:00] =>  1:00", "CLOCK: [2024-01-02 Tue"],
    *[
        "SCHEDULED: <2024-01-01 Mon>",
        ":END:",
        ":PROPERTIES:",
        ":LOGBOOK:",
        ":a:b:",
        ": fixed width",
    ],
    *["-----", "\\begin{equation}", "\\end{equation}", "#+call: f()", "#+begin_src", "#+end_quote"],
    *["term :: meaning", "=> x", "word " * 60, "𝕏" * 40],
)
LISTS = (
    ["- one", "- two", "  continued"],
    ["1. [X] body list", "2. [ ] next", "   - nested"],
    ["  * item one", "  * item two", "\t* tab item"],
    ["+ plus", "", "", "+ after two blanks"],
    ["- term :: meaning", " * star item"],
)
TABLES = (
    ["| a | b |", "|---+---|", "| 1 | 2 |", "#+TBLFM: $2=$1"],
    ["#+caption: A table", "| 你 | x |"],
    ["|"],
)
PLAIN_DRAWERS = (
    [":LOGBOOK:", "CLOCK: [2024-01-01 Mon 09:00]--[2024-01-01 Mon 10:00] =>  1:00", ":END:"],
    [":LOGBOOK:", '- State "DONE" from "TODO" [2024-01-01 Mon 10:00] \\\\', "  a note", ":END:"],
    [":LOGBOOK:", "CLOCK: [2024-01-02 Tue 09:00]", "- free text", ":END:"],
    [":NOTES:", "kept aside", ":END:"],
    ["  :результаты:", "  x", "  :end:"],
    [":NOTES:", ":LOGBOOK:", ":END:", ":END:"],
    [":LOGBOOK:", "CLOCK: [2024-01-02 Tue 09:00]"],
    [":NOTES:", "never closed"],
)
MISPLACED = (
    ["Not under a headline:", "SCHEDULED: <2024-01-01 Mon>"],
    ["Not in a drawer:", ":END:"],
    ["Not at the top:", ":PROPERTIES:", ":ID: not-mine", ":END:"],
    ["Not a block:", "#+end_src"],
)
NESTED_BLOCKS = (
    ["#+begin_quote", "#+begin_src python", "print(1)", "#+end_src", "#+end_quote"],
    ["#+begin_quote", "#+begin_src sh", "never closed", "#+end_quote"],
    ["#+begin_src org", "#+begin_quote", "in source", "#+end_quote", "#+end_src"],
    ["#+begin_src org", "#+begin_src org", ",#+end_src", "#+end_src"],
    ["#+begin_center", ":NOTES:", "- item", ":END:", "#+end_center"],
    ["#+begin_quote", "#+TODO: NEXT | OK", "#+end_quote"],  # counts
    ["#+begin_example", "#+TODO: IDEA | OK", "#+end_example"],  # does not
)
BLOCK_NAMES = (
    *[("#+begin_src python", "#+end_src"), ("#+begin_example", "#+end_example")] * 2,
    *[("#+begin_quote", "#+end_quote"), ("#+BEGIN_SRC sh", "#+END_SRC")] * 2,
    ("#+BEGIN_SRC emacs-lisp :results none", "#+end_src"),
    ("#+begin_verse", "#+end_verse"),
    ("#+begin_comment", "#+end_comment"),
    ("#+begin_export html", "#+end_export"),
    ("#+begin_srcx awk", "#+end_srcx"),
    ("#+begin_src", "#+end_src"),
    ("#+begin_html", "#+end_html"),
    ("  #+begin_src org", "  #+end_src  "),
    ("#+BEGIN: clocktable :scope file", "#+END:"),
    ("#+begin: x", "#+end:"),
)
BLOCK_LINES = (
    *["x = 1", "", "# in code", "echo $HOME", "re\u0301sume\u0301"] * 2,
    *["* inside", "** also inside", ",* escaped", ",#+end_src", ",,* twice", "#+end_quote"],
    *["#+TODO: NEXT | OK", "#+TYP_TODO: A B", ":ID: id-1", ":END:", "  indented", "<|endoftext|>"],
)
BLOCK_ENDS = (*["right"] * 12, "none", "none", "other", "stray")
DASHES = (*range(3, 90, 2), 5_000, 100_000, 100_000)


FOLDERS = (*[""] * 6, "sub/", "sub/deeper/", "My Notes/", "sub.org.d/", "été/", "~/")
STEMS = (
    *["notes", "projects", "a b", "it's", 'say "hi"', "100%", "#1", "[x]", "{y}", "-n"],
    *["semi;colon", "back\\slash", "a::b", "a:12", "$HOME", "工作", ".hidden"],
    *[unicodedata.normalize(form, "résumé") for form in ("NFC", "NFD")],
)


# --- Strategies ------------------------------------------------------------------------------


def _weighted(*choices: tuple[int, SearchStrategy[T]]) -> SearchStrategy[T]:
    """Draw from the strategies as often as their weights say.

    `one_of` cannot: it takes a strategy given twice for one.
    """
    strategies = [strategy for _, strategy in choices]
    urn = [index for index, (weight, _) in enumerate(choices) for _ in range(weight)]
    return st.sampled_from(urn).flatmap(strategies.__getitem__)


# A strategy checks itself when it is first drawn from, so each is made once, here: made anew
# in every draw they took three times as long.
_one_in = {n: st.integers(1, n).map(n.__eq__) for n in (4, 6, 8, 16)}
_odd = st.sampled_from(ODD_CHARACTERS) | st.characters(codec="utf-8", exclude_characters="\n")
_level = st.sampled_from((1, 2, 1, 2, 3, 1, 2, 3, 4, 2, 3, 5, 8, 16))
_keyword, _priority = st.sampled_from(KEYWORDS), st.sampled_from(PRIORITIES)
_comment = st.sampled_from(COMMENTS)
_title = _weighted((4, st.sampled_from(TITLES)), (1, _odd.map("a{0}b{0}".format)))
_tags = _weighted((6, st.sampled_from(TAGS)), (1, _odd.map(" :a{0}b:{0}:".format)))
_tail = st.sampled_from(TAILS)
_odd_headline = st.sampled_from((*TAG_ONLY, *NO_HEADLINES))


@st.composite
def _headlines(draw: DrawFn) -> str:
    if draw(_one_in[8]):
        return draw(_odd_headline)
    start = "*" * draw(_level) + " " + draw(_keyword)
    if draw(_one_in[16]):
        return start
    start += draw(_priority) + draw(_comment)
    return start + draw(_title) + draw(_tags) + draw(_tail)


_headline = _headlines()
_ids = st.tuples(st.sampled_from(IDS), st.sampled_from(IDS))


def _with_ids(variants: tuple[list[str], ...]) -> SearchStrategy[list[str]]:
    def fill(lines: list[str], ids: tuple[str, str]) -> list[str]:
        return [line.replace("@", ids[0]).replace("&", ids[1]) for line in lines]

    return st.builds(fill, st.sampled_from(variants), _ids)


_drawer, _file_head = _with_ids(DRAWERS), _with_ids(FILE_HEADS)
_planning = st.sampled_from(PLANNING)


def _close(names: tuple[str, str], inner: list[str], kind: str) -> list[str]:
    """The lines of a block, whose end is right, or lacks, or is wrong."""
    begin, end = names
    ends = {"right": [end], "none": [], "other": ["#+end_other"], "stray": [end + " stray"]}
    return [begin, *inner, *ends[kind]]


_block_lines = st.lists(st.sampled_from(BLOCK_LINES), max_size=4)
_block = st.builds(_close, st.sampled_from(BLOCK_NAMES), _block_lines, st.sampled_from(BLOCK_ENDS))


def _some(lines: tuple[str, ...], max_size: int) -> SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(lines), min_size=1, max_size=max_size)


# The lines of one piece of an entry's text.
_element = _weighted(
    (6, _some(PROSE, 4)),
    (3, _block),
    (3, st.sampled_from((*LISTS, *TABLES, *NESTED_BLOCKS))),
    (2, st.sampled_from((*PLAIN_DRAWERS, *MISPLACED))),
    (1, st.integers(1, 4).map(lambda count: [""] * count)),
    (1, _some(TODO_LINES, 1)),
    (1, _some(SETTINGS, 2)),
    (1, _some(NO_HEADLINES, 2)),
    (1, _odd.map(lambda odd: [f"x{odd}* y", f"{odd}* z"])),
    (1, st.sampled_from(DASHES).map(lambda length: ["-" * length])),
)
_shape = st.sampled_from(
    [(False, False)] * 4 + [(False, True)] * 3 + [(True, True)] * 2 + [(True, False)]
)
_elements = st.lists(_element, max_size=3)


@st.composite
def _entries(draw: DrawFn) -> list[str]:
    """The lines of one entry: its headline, perhaps planning, a property drawer and text."""
    planned, drawered = draw(_shape)
    lines = [draw(_headline)]
    lines += draw(_planning) if planned else []
    lines += draw(_drawer) if drawered else []
    return lines + list(chain.from_iterable(draw(_elements)))


def _ladder(deepest: int) -> list[str]:
    """Headlines that go down one level at a time, deeper than most programs expect."""
    return [f"{'*' * level} level {level}" for level in range(1, deepest + 1)]


_bodies = st.lists(_entries(), max_size=9)
_deepest = st.sampled_from((9, 15, 30))
_todo_lines = _some(TODO_LINES, 2)


@st.composite
def _lines(draw: DrawFn) -> list[str]:
    """The lines of a file, without their ends."""
    lines = list(draw(_file_head))
    lines += draw(_todo_lines) if draw(_one_in[4]) else []
    lines += chain.from_iterable(draw(_elements)) if draw(_one_in[4]) else []
    lines += _ladder(draw(_deepest)) if draw(_one_in[16]) else []
    return lines + list(chain.from_iterable(draw(_bodies)))


_all_lines = _lines()
_line_ends = _weighted(
    (6, st.just(["\n"])),
    (1, st.just(["\r\n"])),
    (1, st.lists(st.sampled_from(("\n", "\r\n")), min_size=2, max_size=5)),  # used in turn
)


@st.composite
def _org_text(draw: DrawFn) -> str:
    lines, ends = draw(_all_lines), draw(_line_ends)
    text = "".join(map("".join, zip(lines, cycle(ends))))
    if draw(_one_in[6]):
        text = text.removesuffix("\n").removesuffix("\r")
    for name in features(text):
        event(name)
    return text


def org_text() -> SearchStrategy[str]:
    """The text of one Org file, good or bad, typically of 5 to 60 lines.

    Line ends are as in the file: `\\n`, `\\r\\n`, or both. There is no byte order mark at its
    begin; `org_bytes` has files with one.
    """
    return _text


BOM = b"\xef\xbb\xbf"


@st.composite
def _org_bytes(draw: DrawFn) -> bytes:
    content = draw(_text).encode()
    if not draw(_one_in[8]):
        return content
    event("byte order mark")
    return BOM + content


def org_bytes() -> SearchStrategy[bytes]:
    """The bytes of one Org file in UTF-8, one in eight with a byte order mark."""
    return _bytes


def org_names() -> SearchStrategy[str]:
    """The name of an Org file relative to its root, with `/` between folders."""
    return _name


def org_files() -> SearchStrategy[dict[str, str]]:
    """One to four files: their names, all different byte for byte, and their texts.

    IDs come from the same few, so they collide between files. Names may differ by their
    normal form alone (NFC, NFD): some file systems take those for one file.
    """
    return _files


_text, _bytes = _org_text(), _org_bytes()
_name = st.builds("{}{}.org".format, st.sampled_from(FOLDERS), st.sampled_from(STEMS))
_files = st.dictionaries(_name, _text, min_size=1, max_size=4)


# Hypothesis leaves its first 10 examples as they are drawn; later ones it mixes from earlier
# ones, five from each, which is good for finding a fault but no sample.
_BATCH = 10


def sample(strategy: SearchStrategy[T], count: int, seed_number: int = 0) -> list[T]:
    """Draw `count` independent values, the same ones for the same code, count and seed.

    For what is dear to start and cheap per text, as Emacs is: many texts, one process.
    """
    drawn: list[T] = []
    for number in range(count):  # more batches than needed, so that it ends for any strategy
        if len(drawn) >= count:
            break
        batch = _draw_batch(strategy, seed_number * 1_000_000 + number)
        drawn += batch[1:] or batch  # the first one of each is the simplest there is
    return drawn[:count]


def _draw_batch(strategy: SearchStrategy[T], seed_number: int) -> list[T]:
    batch: list[T] = []

    @seed(seed_number)
    @settings(
        max_examples=_BATCH,
        database=None,
        deadline=None,
        derandomize=False,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def collect(value: T) -> None:
        batch.append(value)

    collect()
    return batch


# --- Features --------------------------------------------------------------------------------

HEADLINE = re.compile(r"^(\*+) (.*)$", re.M)
END = r"[ \t]*$"  # of a line; a file's `\r` is gone before features are looked for
DRAWER = r"^:PROPERTIES:\n(?::\S+: .*\n)*?"


def _levels_of(text: str) -> list[int]:
    return [len(stars) for stars, _ in HEADLINE.findall(text)]


def _jumps(text: str) -> bool:
    levels = _levels_of(text)
    return any(below > above + 1 for above, below in pairwise(levels))


def _first_is_deeper(text: str) -> bool:
    levels = _levels_of(text)
    return bool(levels) and levels[0] > min(levels)


def _todo_below_headline(text: str) -> bool:
    first = HEADLINE.search(text)
    return first is not None and text.find("\n#+TODO:", first.start()) > 0


def _same_id_twice(text: str) -> bool:
    found = re.findall(DRAWER + r":ID: (\S.*)$", text, re.M)
    return len(set(found)) < len(found)


def _same_title_twice(text: str) -> bool:
    titles = [title for _, title in HEADLINE.findall(text)]
    return len(set(titles)) < len(titles)


def _has(pattern: str) -> Callable[[str], bool]:
    """Whether a text has PATTERN; `^` and `$` are ends of lines."""
    compiled = re.compile(pattern, re.M)
    return lambda text: compiled.search(text) is not None


def _has_title(pattern: str) -> Callable[[str], bool]:
    return _has(r"^\*+ .*" + pattern)


def _has_block(name: str, inner: str = "") -> Callable[[str], bool]:
    """Whether a text has a closed block of NAME with a line INNER, and no headline before that."""
    line = r"(?!#\+end|\*+ ).*\n"
    begin, end = rf"^[ \t]*#\+begin_{name}\b.*\n", rf"[ \t]*#\+end_{name}{END}"
    return _has(rf"(?i){begin}(?:{line})*?{inner}(?:{line})*?{end}")


# What each hard feature looks like in a text whose `\r\n` were made `\n`.
FEATURES: dict[str, Callable[[str], bool]] = {
    "level jump": _jumps,
    "first headline deeper than a later one": _first_is_deeper,
    "level 16 or more": lambda text: max(_levels_of(text), default=0) >= 16,
    "30 levels": lambda text: max(_levels_of(text), default=0) >= 30,
    "no headline": lambda text: not _levels_of(text),
    "same title twice": _same_title_twice,
    "keyword": _has_title(r"(?:TODO|DONE|NEXT|WAIT) \S"),
    "keyword alone": _has(r"^\*+ (?:TODO|DONE|NEXT)$"),
    "keyword as a prefix": _has_title(r"TODO-LIST"),
    "keyword in lower case": _has_title(r"todo "),
    "#+TODO": _has(r"^#\+(?:TODO|todo):"),
    "#+SEQ_TODO": _has(r"(?i)^#\+SEQ_TODO:"),
    "#+TYP_TODO": _has(r"^#\+TYP_TODO:"),
    "#+TODO below a headline": _todo_below_headline,
    "#+TODO in a block, does not count": _has_block("(?:src|example|comment)", r"#\+T\w+:.*\n"),
    "#+TODO in a block, counts": _has_block("(?:quote|srcx|html)", r"#\+T\w+:.*\n"),
    "priority": _has_title(r"\[#A\]"),
    "priority glued": _has_title(r"\[#b\]\S"),
    "COMMENT": _has_title(r"COMMENT "),
    "COMMENTARY": _has_title(r"COMMENTARY"),
    "tags": _has_title(r"[ \t]:[a-z:]+:" + END),
    "tags in CJK": _has_title(r" :工作:"),
    "tags with @#%_": _has_title(r":@desk:1999:p%:#q:"),
    "tag with a combining mark": _has_title(r" :e\u0301:"),
    "tag with a hyphen": _has_title(r":not-a-tag:"),
    "empty tag between colons": _has_title(r":e::f:"),
    "private tag": _has_title(r":(?:crypt|private):"),
    "tag-only headline": _has(r"^\*+ +:[a-z:]+:$"),
    "tag-only headline with keyword": _has(r"^\* TODO :b:$"),
    "empty title": _has(r"^\*+ +$"),
    "stars without space": _has(r"^\*+(?:\w|$)"),
    "stars and tab": _has(r"^\*+\t"),
    "slash in title": _has_title(r"either/or"),
    "backslash in title": _has_title(r"\\"),
    "brackets in title": _has_title(r"\[\[id:"),
    "timestamp in title": _has_title(r"\[2024-01-01 Mon\]"),
    "statistics cookie": _has_title(r"\[(?:\d*/\d*|\d+%)\]"),
    "special token in title": _has_title(r"<\|endoftext\|>"),
    "special token in text": _has(r"^The marker <\|endoftext\|>"),
    "planning": _has(r"^\*+ .*\nSCHEDULED: <2024-01-01 Mon>$"),
    "planning with an impossible date": _has(r"<2024-13-45|<2023-02-29"),
    "planning without a date": _has(r"^\*+ .*\nSCHEDULED: not"),
    "planning with a foreign weekday": _has(r"<2024-01-02 (?:må\.|火)"),
    "planning twice": _has(r"^SCHEDULED:.*\nDEADLINE:"),
    "planning above a drawer": _has(r"^\*+ .*\n[ \t]*(?:SCHEDULED|CLOSED).*\n:PROPERTIES:"),
    "misplaced planning": _has(r"^Not .*\nSCHEDULED:"),
    "ID": _has(r"^\*+ .*\n" + DRAWER + ":ID: "),
    "CUSTOM_ID": _has(r"^:CUSTOM_ID: colors"),
    "drawer in lower case": _has(r"^:properties:\n:id: "),
    ":KEY+:": _has(r"^:TOPIC\+: "),
    "property without value": _has(DRAWER + r":(?:empty|ID):$"),
    "property with glued value": _has(DRAWER + r":N:2$"),
    "drawer with a bad line": _has(DRAWER + r"no colon"),
    "words after :PROPERTIES:": _has(r"^:PROPERTIES: \w"),
    "property drawer without :END:": _has(DRAWER + r"\*+ "),
    "headline inside a drawer": _has(DRAWER + r"\* Headline in a drawer\n:END:"),
    "blank line before a drawer": _has(r"^\*+ .*\n\n:PROPERTIES:\n:ID"),
    "same ID in two nodes": _same_id_twice,
    "two IDs in a drawer": _has(DRAWER + r":ID: .*\n:ID: "),
    "two property drawers": _has(r"^:END:\n:PROPERTIES:\n:ID: "),
    "file drawer": _has(r"\A:PROPERTIES:\n:ID: .*\n:END:"),
    "file drawer after a comment": _has(r"\A# .*\n:PROPERTIES:\n:ID"),
    "file drawer after a keyword": _has(r"\A#\+TITLE.*\n:PROPERTIES:\n:ID"),
    "file drawer after a blank line": _has(r"\A\n:PROPERTIES:\n:ID"),
    "LOGBOOK": _has(r"^:LOGBOOK:\n(?:CLOCK|-)[^\0]*?\n:END:"),
    "drawer of another name": _has(r"^:NOTES:\n.*\n:END:"),
    "drawer of a Cyrillic name": _has(r"^  :результаты:"),
    "drawer without :END:": _has(r"^:NOTES:\nnever closed\n(?!:END:)"),
    "source block": _has_block("src"),
    "example block": _has_block("example"),
    "quote block": _has_block("quote"),
    "special block with a name like src": _has_block("srcx"),
    "block in upper case": _has(r"^#\+BEGIN_SRC sh\n(?:.*\n){0,4}#\+END_SRC$"),
    "block with ends in different case": _has(r"^#\+BEGIN_SRC.*\n(?:.*\n){0,4}#\+end_src$"),
    "quote with a source block in it": _has(r"^#\+begin_quote\n#\+begin_src.*\n.*\n#\+end_src"),
    "dynamic block": _has(r"(?i)^#\+begin: .*\n(?:.*\n){0,4}#\+end:$"),
    "unclosed block": _has(r"^#\+begin_\w+.*\n(?:(?!#\+end).*\n)*\Z"),
    "block with another block's end": _has(r"^#\+begin_src.*\n(?:.*\n){0,4}#\+end_(?:quote|other)"),
    "headline inside a block": _has(r"^#\+begin_\w+.*\n(?:.*\n){0,3}\*+ (?:also )?inside\n"),
    "comma-escaped headline in a block": _has_block(r"\w+", r",\* escaped\n"),
    "table": _has(r"^\|---"),
    "indented stars": _has(r"^[ \t]+\* "),
    "Cyrillic": _has(r"[а-я]{5}"),
    "CJK": _has(r"[一-龯]{2}"),
    "Arabic": _has(r"[\u0620-\u064a]{2}"),
    "emoji joined by ZWJ": _has(r"\U0001f469\u200d"),
    "combining mark": _has(r"e\u0301"),
    "form feed before a star": _has(r"\f\*+ "),
    "vertical tab before a star": _has(r"\x0b\*+ "),
    "NEL before a star": _has(r"\x85\*+ "),
    "U+2028 before a star": _has(r"\u2028\*+ "),
    "lone CR before a star": _has(r"\r\*+ "),
    "NUL": _has(r"\x00"),
    "no-break space": _has(r"\xa0"),
    "trailing blanks": _has(r"[ \t]$"),
    "run of blank lines": _has(r"^\n\n\n"),
    "line that begins with a slash": _has(r"^/"),
    "line that begins with #": _has(r"^#\w"),
    "comment line": _has(r"^[ \t]*#(?: |$)"),
    "run of dashes": _has(r"^-{30}"),
    "100,000 dashes": lambda text: "-" * 100_000 in text,
    "very long word": _has(r"x{300}"),
    "settings": _has(r"(?i)^#\+filetags:"),
    "#+SETUPFILE": _has(r"^#\+SETUPFILE:"),
    "diary sexp": _has(r"^[ \t]*%%\("),
    "stray :END:": _has(r"^Not .*\n:END:"),
}
# What needs the text as it is in the file.
LINE_END_FEATURES: dict[str, Callable[[str], bool]] = {
    "empty file": lambda text: not text,
    "no newline at the end": lambda text: text != "" and not text.endswith("\n"),
    "only \\r\\n": lambda text: 0 < text.count("\n") == text.count("\r\n"),
    "mixed line ends": lambda text: 0 < text.count("\r\n") < text.count("\n"),
}


def features(text: str) -> set[str]:
    """The names of the hard features that a text has."""
    plain = text.replace("\r\n", "\n")
    return {name for name, has in FEATURES.items() if has(plain)} | {
        name for name, has in LINE_END_FEATURES.items() if has(text)
    }
