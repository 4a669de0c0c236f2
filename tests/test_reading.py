"""Reading: a file's own lines by their true numbers, exactly within the budget, none private."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import emacs
import pytest
import strategies
from growth import seconds
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from notes import snapshot, write
from program import PROGRAM, Ask
from views import SIZES, OneTree

from orgctx import BadArgument, BudgetTooSmall, Memex, NotFound, OrgctxError, open_memex
from orgctx.cites import Cites
from orgctx.core.model import Tree
from orgctx.core.outline import outline
from orgctx.core.privacy import conceal
from orgctx.store.files import decode
from orgctx.views.reading import Reading, read, to_data
from orgctx.views.view import Limit

HUGE = 10**9
ENVELOPE = re.compile(r"\[(\d+)\] (.+) — ([0-9a-f]{12}), (?:lines (\d+)-(\d+)|no lines) of (\d+)")
REST = re.compile(r"… (\d+) lines? left: (orgctx read (.*?) ?--lines (\d+-\d+).*)")
GAP = re.compile(r"… (\d+) lines? not shown")


def lines_of(text: str) -> list[str]:
    r"""The lines of a text as the notes are read: `\n` and `\r\n` end one, nothing else does."""
    lines = text.replace("\r\n", "\n").split("\n")
    return lines if lines[-1] else lines[:-1]


class Shown(NamedTuple):
    """A reading's text, read back. rows: each line by its number. gaps: by the line behind them."""

    rows: dict[int, str]
    gaps: dict[int, int]


def parsed(found: Reading) -> Shown:
    """Read a reading's text back, which must say of itself what the data say."""
    envelope, *rest = found.text.split("\n")
    assert rest.pop() == ""
    match = ENVELOPE.fullmatch(envelope)
    assert match
    assert (int(match[1]), match[3]) == (found.handle, found.revision[:12])
    assert [int(each or 0) for each in match.groups()[3:]] == [found.first, found.last, found.total]
    left = REST.fullmatch(rest[-1]) if rest else None
    assert (left is None) == (found.resume is None) == (found.left == 0)
    if left:
        assert (int(left[1]), left[4]) == (found.left, found.resume)
        rest.pop()
    rows: dict[int, str] = {}
    gaps: dict[int, int] = {}
    for line in rest:
        if gap := GAP.fullmatch(line):
            gaps[max(rows) + int(gap[1]) + 1] = int(gap[1])
        else:
            number, _, text = line.partition(": ")
            rows[int(number)] = text
    assert list(rows) == sorted(rows)
    assert not rows or (min(rows), max(rows)) == (found.first, found.last)
    return Shown(rows, gaps)


def tree_of(content: str | bytes, *tags: str) -> Tree:
    data = content.encode() if isinstance(content, str) else content
    return conceal(outline(*decode_as(data)), frozenset(tags))


def decode_as(data: bytes) -> tuple[str, str, str]:
    text, encoding = decode(data, "a.org")
    return text, "a.org", encoding


def read_tree(tree: Tree, address: str = "a.org", budget: int = HUGE, **asked: object) -> Reading:
    limit = Limit(budget, **{n: asked.pop(n) for n in ("unit", "encoding") if n in asked})
    return read(OneTree(tree), address, limit, **asked)


def pages(tree: Tree, budget: int, **limit: str) -> Iterator[Reading]:
    """Read on to the end; where one line alone is over the budget, with what that needs."""
    asked: dict[str, object] = {"subtree": True}
    while True:
        found, least = with_enough(tree, budget, **asked, **limit)
        assert found.tokens <= budget or found.tokens == least
        yield found
        if found.resume is None:
            return
        asked = {"lines": found.resume}


def with_enough(tree: Tree, budget: int, **asked: object) -> tuple[Reading, int]:
    """A reading with this budget or what is needed, and what is needed if that is more."""
    try:
        return read_tree(tree, budget=budget, **asked), 0
    except BudgetTooSmall as error:
        return read_tree(tree, budget=error.needed, **asked), error.needed


# --- Laws ----------------------------------------------------------------------------------------


@given(strategies.org_bytes())
@example(b"")
@example(b"\n\n")
@example(b"* no newline at end\r")
@example(b"a\r\n\rb\n\r\r\n\xe2\x80\xa8c\xc2\x85\x0c\x00\n")
def test_a_whole_file_read_back_is_its_lines(content):
    tree = outline(*decode_as(content))
    found = read_tree(tree, subtree=True)
    lines = lines_of(tree.text)
    assert parsed(found) == (dict(enumerate(lines, 1)), {})
    assert (found.total, found.left, found.resume) == (len(lines), 0, None)
    assert found.tokens == SIZES["o200k_base"](found.text)


@given(strategies.org_bytes(), st.data())
def test_an_entry_is_its_own_lines(content, data):
    tree = outline(*decode_as(content))
    node = data.draw(st.sampled_from(list(tree.nodes)))
    subtree = data.draw(st.booleans())
    address = f"a.org:{node.first_line}" if node.level else "a.org"
    found = read_tree(tree, address, subtree=subtree)
    end = tree.nodes[node.end_index - 1] if subtree else node
    numbers = range(node.first_line, end.last_line + 1)
    every = lines_of(tree.text)
    assert parsed(found).rows == {number: every[number - 1] for number in numbers}
    assert found.title == node.title


BUDGETS = st.integers(30, 300) | st.integers(300, 3000)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(strategies.org_bytes(), BUDGETS, st.sampled_from(["o200k_base", "cl100k_base", "chars"]))
def test_reading_on_gives_each_line_once_and_keeps_the_budget(content, budget, unit):
    tree = outline(*decode_as(content))
    limit = {"unit": "chars"} if unit == "chars" else {"encoding": unit}
    count = SIZES.get(unit, len)
    rows: list[tuple[int, str]] = []
    for found in pages(tree, budget, **limit):
        rows += parsed(found).rows.items()
        assert count(found.text) == found.tokens
    assert rows == list(enumerate(lines_of(tree.text), 1))


@settings(max_examples=30)
@given(strategies.org_text(), st.sampled_from(["tokens", "chars"]))
def test_as_many_lines_are_shown_as_fit(text, unit):
    """No other budget gives more lines for such a cost; what is said to be needed is the least."""
    tree = tree_of("\n".join(line[:30] for line in text.split("\n")[:8]))

    def shown(budget: int) -> Reading | BudgetTooSmall:
        try:
            return read_tree(tree, budget=budget, subtree=True, unit=unit)
        except BudgetTooSmall as error:
            return error

    found = {budget: shown(budget) for budget in range(1, 420 if unit == "chars" else 140)}
    readings = {budget: each for budget, each in found.items() if isinstance(each, Reading)}
    least = min(readings)
    assert {each.needed for budget, each in found.items() if budget not in readings} <= {least}
    assert readings.keys() == set(range(least, max(found) + 1))
    for budget, reading in readings.items():
        assert reading.last == max(r.last for r in readings.values() if r.tokens <= budget)


def test_a_larger_budget_never_shows_less():
    tree = tree_of("* A\n" + "".join(f"text {'long ' * (n % 7)}{n}\n" for n in range(1100)))
    shown = [read_tree(tree, budget=budget, subtree=True).last for budget in range(50, 4000, 37)]
    assert shown == sorted(shown)


def test_special_tokens_are_text():
    text = "* A\n<|endoftext|> and <|im_start|>\n"
    assert (
        list(parsed(read_tree(tree_of(text), subtree=True)).rows.values()) == text.split("\n")[:2]
    )


@pytest.mark.corpora
def test_real_notes_are_read_as_they_are():
    checked = 0
    for path in emacs.corpora():
        tree = conceal(outline(*decode_as(path.read_bytes())))
        if not len(tree.nodes):
            continue
        found = read_tree(tree, subtree=True)
        every = lines_of(tree.text)
        rows = parsed(found).rows
        assert all(every[number - 1] == text for number, text in rows.items())
        assert found.total == len(every) or any("crypt" in node.tags for node in tree.nodes)
        on = [row for page in pages(tree, 8000) for row in parsed(page).rows.items()]
        assert on == list(rows.items())
        checked += len(rows)
    assert checked > 100_000


# --- Line ends, encodings, revisions -------------------------------------------------------------

ENDS = {
    "line feeds": b"* A\none\n\ntwo\n",
    "carriage returns": b"* A\r\none\r\n\r\ntwo\r\n",
    "both": b"* A\r\none\n\r\ntwo",
    "a byte order mark": b"\xef\xbb\xbf* A\none\n\ntwo\n",
}


@pytest.mark.parametrize("content", ENDS.values(), ids=ENDS)
def test_numbers_are_true_after_every_kind_of_line_end(content):
    rows = parsed(read_tree(tree_of(content), subtree=True)).rows
    assert rows == {1: "* A", 2: "one", 3: "", 4: "two"}


def test_what_only_looks_like_a_line_end_is_text():
    text = "* A\nold\f* b\nx\u2028y\x0bz\x85w\rv\n* B\n"
    rows = parsed(read_tree(tree_of(text), subtree=True)).rows
    assert rows == {1: "* A", 2: "old\f* b", 3: "x\u2028y\x0bz\x85w\rv", 4: "* B"}


@pytest.mark.parametrize(
    "content",
    [
        *ENDS.values(),
        b"",
        b"\n",
        "* é\n".encode(),
        "# -*- coding: latin-1 -*-\né\n".encode("latin-1"),
    ],
)
def test_the_revision_is_gits(content):
    expected = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
    assert read_tree(tree_of(content), subtree=True).revision == expected


def test_git_itself_gives_this_revision(tmp_path):
    write(tmp_path, {"a.org": ENDS["both"]})
    asked = ["git", "hash-object", "--no-filters", "a.org"]
    found = subprocess.run(asked, cwd=tmp_path, capture_output=True, check=True).stdout.decode()
    memex = open_memex(tmp_path)
    assert memex.read("a.org", subtree=True).revision == found.strip()


def test_an_empty_file_is_read():
    found = read_tree(tree_of(""), subtree=True)
    assert (found.text, found.first, found.last) == (
        "[1] a.org — e69de29bb2d1, no lines of 0\n", 0, 0,
    )  # fmt: skip


def test_a_file_without_text_above_its_headlines_has_none_to_read():
    found = read_tree(tree_of("* A\n* B\n"))
    assert found.text == f"[1] a.org — {found.revision[:12]}, no lines of 2\n"
    with pytest.raises(BudgetTooSmall) as caught:
        read_tree(tree_of("* A\n"), budget=3)
    assert read_tree(tree_of("* A\n"), budget=caught.value.needed).last == 0


def test_a_title_with_anything_in_it_stays_on_its_line():
    title = "a\x1b[31m\rb " + "long " * 1000
    found = read_tree(tree_of(f"* {title}\ntext\n"), "a.org:1")
    assert found.title == title.strip()
    envelope = found.text.partition("\n")[0]
    assert "\r" not in envelope
    assert "\x1b" not in envelope
    assert len(envelope) < 200
    parsed(found)


def test_a_long_line_needs_the_budget_it_needs():
    tree = tree_of("* A\n" + "word " * 20_000 + "\nb" * 30)
    first = read_tree(tree, budget=1000, subtree=True)
    assert (first.last, first.resume) == (1, "2-32")
    with pytest.raises(BudgetTooSmall) as caught:
        read_tree(tree, lines=first.resume, budget=1000)
    assert read_tree(tree, lines=first.resume, budget=caught.value.needed).last == 2


# --- What must not be shown ----------------------------------------------------------------------

SECRET = """\
#+title: Open
intro
* One
text one
** Hidden :private:
hidden text
*** below
* Two
text two
* Vault :crypt:
pin 0000
** child of the vault
* Three
text three
* Tail :private:
tail text
"""
HIDDEN = {5, 6, 7, 11, 12, 15, 16}


def test_lines_that_must_not_be_shown_are_gaps():
    found = read_tree(tree_of(SECRET, "private"), subtree=True)
    every = lines_of(SECRET)
    rows, gaps = parsed(found)
    assert rows == {n: text for n, text in enumerate(every, 1) if n not in HIDDEN}
    assert gaps == {8: 3, 13: 2}
    assert (found.total, found.left) == (14, 0)


@pytest.mark.parametrize("budget", range(40, 120, 7))
def test_gaps_are_counted_in_the_budget_and_read_over(budget):
    tree = tree_of(SECRET, "private")
    rows: dict[int, str] = {}
    for found in pages(tree, budget):
        rows |= parsed(found).rows
        assert SIZES["o200k_base"](found.text) == found.tokens <= max(budget, 60)
    assert set(rows) == set(range(1, 15)) - HIDDEN


def test_hidden_lines_are_not_told_apart_from_those_that_are_not_there():
    tree = tree_of(SECRET, "private")
    told = []
    for lines in ("5-7", "6", "11-12", "15-16", "15", "40-41", "17"):
        with pytest.raises(NotFound) as caught:
            read_tree(tree, lines=lines)
        told.append((caught.value.message.replace(lines, "N"), caught.value.hint))
    assert {message.replace("lines", "line") for message, _ in told} == {told[1][0]}
    assert {hint for _, hint in told} == {"give lines from 1 to 14"}


def test_a_range_over_hidden_lines_gives_the_others():
    found = read_tree(tree_of(SECRET, "private"), lines=(6, 99))
    assert (found.first, found.last, found.title) == (8, 14, "Two")


def test_what_follows_the_last_shown_line_leaves_no_trace():
    shorter = SECRET[: SECRET.index("* Tail")]
    one, other = (read_tree(tree_of(text, "private"), subtree=True) for text in (SECRET, shorter))
    assert one == other


def test_the_revision_tells_nothing_of_hidden_text():
    """Whoever knows the rest could else find out a short secret by trying."""
    other = SECRET.replace("pin 0000", "pin 1234").replace("hidden text", "quite another")
    one, two = (read_tree(tree_of(text, "private"), subtree=True) for text in (SECRET, other))
    assert one.revision == two.revision
    assert one.revision != read_tree(tree_of(SECRET), subtree=True).revision
    shown = SECRET.replace("text two", "text too")
    assert one.revision != read_tree(tree_of(shown, "private"), subtree=True).revision


@given(strategies.org_bytes(), st.sets(st.sampled_from(["a", "crypt", "private", "x", "1999"])))
def test_no_line_of_what_is_hidden_is_ever_shown(content, tags):
    tree = outline(*decode_as(content))
    concealed = conceal(tree, frozenset(tags))
    if not len(concealed.nodes):
        return
    may_be = {n for node in concealed.nodes for n in range(node.first_line, node.last_line + 1)}
    every = lines_of(tree.text)
    found = read_tree(concealed, subtree=True)
    rows, gaps = parsed(found)
    assert rows == {number: every[number - 1] for number in sorted(may_be)}
    assert sum(gaps.values()) == found.last + 1 - (found.first or 1) - len(may_be)
    assert [r for page in pages(concealed, 100) for r in parsed(page).rows.items()] == list(
        rows.items()
    )


# --- Arguments -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "lines", ["", "0-3", "3-2", "a-b", "1-", "-3", "1-2-3", "1 - 2", "٣-٤", (0, 1), (2, 1), (1,), 5]
)
def test_a_range_that_is_none_is_refused(lines):
    with pytest.raises(BadArgument):
        read_tree(tree_of("* A\n* B\n"), lines=lines)


@pytest.mark.parametrize(("lines", "shown"), [("2", (2, 2)), ("2-3", (2, 3)), ((1, 2), (1, 2))])
def test_a_range_is_a_text_or_two_numbers(lines, shown):
    found = read_tree(tree_of("* A\n* B\n* C\n"), lines=lines)
    assert (found.first, found.last) == shown


def test_a_range_that_goes_beyond_the_end_ends_there():
    found = read_tree(tree_of("* A\n* B\n"), lines=f"2-{'9' * 5000}")
    assert (found.first, found.last, found.total) == (2, 2, 2)


def test_the_title_of_a_range_is_that_of_its_first_line():
    text = "#+title: T\n* A\n** B\nb\n* C\n"
    titles = [read_tree(tree_of(text), lines=str(n)).title for n in range(1, 6)]
    assert titles == ["T", "A", "B", "B", "C"]


@pytest.mark.parametrize(
    "asked",
    [{"budget": 0}, {"unit": "words"}, {"encoding": "x"}, {"lines": "1", "subtree": True}],
)
def test_bad_arguments_are_refused(asked):
    with pytest.raises(BadArgument):
        read_tree(tree_of("* A\n"), **asked)


def test_lines_are_counted_in_a_file():
    with pytest.raises(BadArgument, match="counted in a file"):
        read_tree(tree_of("* A\n"), "a.org::*A", lines="1")


def test_time_grows_with_the_file_alone():
    def cost(size: int) -> float:
        tree = tree_of("".join(f"* H{n}\ntext of {n}\n" for n in range(size)))
        read_tree(tree, subtree=True)
        return seconds(partial(read_tree, tree, subtree=True), 3)

    assert cost(20_000) < 4 * cost(10_000)


# --- The command and the memex -------------------------------------------------------------------

NOTES = """\
#+title: Garden
intro
* House
** Roof
tiles
* Garden
:PROPERTIES:
:ID: 5f0c9a1e-1000
:END:
What grows.
"""


@pytest.fixture
def ask(home: Path, ask: Ask) -> Ask:
    """Run the program where NOTES are below the current folder."""
    write(home, {"notes/garden.org": NOTES})
    return ask


GARDEN = "notes/garden.org"


@pytest.mark.parametrize(
    ("arguments", "asked"),
    [
        ([GARDEN], {}),
        ([GARDEN, "--subtree"], {"subtree": True}),
        ([GARDEN, "--lines", "3-5"], {"lines": (3, 5)}),
        ([GARDEN, "--subtree", "--budget", "70"], {"subtree": True, "budget": 70}),
        (
            [GARDEN, "--subtree", "--budget", "70", "--encoding", "cl100k_base"],
            {"subtree": True, "budget": 70, "encoding": "cl100k_base"},
        ),
        (
            [GARDEN, "--subtree", "--budget", "200", "--unit", "chars"],
            {"subtree": True, "budget": 200, "unit": "chars"},
        ),
        ([f"{GARDEN}::*House"], {}),
        ([f"{GARDEN}::*House", "--subtree"], {"subtree": True}),
        ([f"{GARDEN}:5"], {}),
    ],
    ids=str,
)
def test_the_command_prints_what_the_memex_gives(ask, arguments, asked):
    found = open_memex(GARDEN).read(arguments[0], **asked)
    answer = ask("read", *arguments)
    if "budget" in asked:  # the program's call that goes on has its options too
        rows = answer.out.split("\n")[1:-2]
        assert rows == found.text.split("\n")[1 : len(rows) + 1]
        assert rows
    else:
        assert answer == (0, found.text, "")
        data = json.loads(ask("read", *arguments, "--json").out)
        assert data == json.loads(json.dumps(to_data(found)))
        assert data["tokens"] == SIZES["o200k_base"](data["text"])


@pytest.mark.parametrize("budget", [150, 180, 220, 300, 5000])
def test_json_keeps_the_budget_too(ask, budget):
    write(Path("notes"), {"long.org": "* A\n" + 'some "text" here\n' * 60})
    arguments = ("read", "notes/long.org", "--subtree", "--json", "--budget")
    answer = ask(*arguments, str(budget))
    assert (answer.status, answer.err) == (0, "")
    assert SIZES["o200k_base"](answer.out) <= budget
    assert json.loads(answer.out)["last"] == 61 or SIZES["o200k_base"](answer.out) > 0.8 * budget
    refused = ask(*arguments, "20")
    assert (refused.status, refused.out) == (3, "")
    needed = re.search(r"give a budget of (\d+)", refused.err)[1]
    assert SIZES["o200k_base"](ask(*arguments, needed).out) <= int(needed)


def test_the_first_line_says_what_it_is(ask):
    out = ask("read", f"{GARDEN}::*Garden").out
    revision = hashlib.sha1(b"blob %d\0" % len(NOTES) + NOTES.encode()).hexdigest()[:12]
    assert out == (
        f"[1] notes/garden.org — Garden — {revision}, lines 6-10 of 10\n"
        "6: * Garden\n7: :PROPERTIES:\n8: :ID: 5f0c9a1e-1000\n9: :END:\n10: What grows.\n"
    )


def test_an_id_is_read_in_its_root(ask):
    out = ask("read", "5f0c9a", "--root", "notes", "--budget", "60").out
    assert out.startswith("[1] garden.org — Garden — ")
    call = r" left: orgctx read garden\.org --lines \d+-10 --budget 60 --root notes\n\Z"
    assert re.search(call, out)


NAMES = ("a.org", "a b.org", "it's.org", "-n.org", "new\nline.org", "$HOME.org", "ü\\'.org")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("is_in_root", [False, True], ids=["alone", "root"])
def test_the_call_that_goes_on_is_exact(ask, name, is_in_root):
    """A shell runs what is printed, until nothing is left."""
    text = "* A\n" + "".join(f"line {n}\n" for n in range(60))
    Path("my notes").mkdir()
    write(Path("my notes" if is_in_root else "."), {name: text})
    arguments = ["--root", "my notes"] if is_in_root else []
    found = ask("read", "--subtree", "--budget", "300", *arguments, "--", name).out
    rows = {}
    for _ in range(10):
        rows |= {m[1]: m[2] for m in re.finditer(r"^(\d+): (.*)$", found, re.M)}
        if not (rest := REST.fullmatch(found.split("\n")[-2])):
            break
        call = rest[2].replace("orgctx", str(PROGRAM), 1)
        done = subprocess.run(["bash", "-c", call], capture_output=True, check=True)
        found = done.stdout.decode()
    assert list(rows.values()) == text.split("\n")[:-1]


def test_the_call_that_goes_on_names_the_registry(ask):
    out = ask("read", GARDEN, "--subtree", "--budget", "80", "--cites", "c.json").out
    assert re.search(r" --lines \d+-10 --budget 80 --cites c\.json\n\Z", out)


def test_the_default_budget_is_8000(ask):
    write(Path("notes"), {"long.org": "* A\n" + "one line of text\n" * 3000})
    plain = ask("read", "notes/long.org", "--subtree")
    assert "--budget" not in plain.out
    assert 7900 < SIZES["o200k_base"](plain.out) <= 8000
    assert open_memex("notes").read("long.org", subtree=True).tokens <= 8000


def test_a_configured_budget_holds(ask):
    write(Path("notes"), {"orgctx.toml": "budget = 60\n"})
    found = ask("read", "garden.org", "--subtree", "--root", "notes")
    assert SIZES["o200k_base"](found.out) <= 60


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (["nowhere.org"], 1),
        ([f"{GARDEN}::*Rooof"], 1),
        ([GARDEN, "--lines", "11-12"], 1),
        ([GARDEN, "--lines", "x"], 2),
        ([GARDEN, "--lines", "1", "--subtree"], 2),
        ([f"{GARDEN}:5", "--lines", "1"], 2),
        ([GARDEN, "--budget", "0"], 2),
        ([GARDEN, "--budget", "5"], 3),
        ([], 2),
    ],
    ids=str,
)
def test_refusals_are_one_line_and_a_status(ask, arguments, status):
    answer = ask("read", *arguments)
    assert (answer.status, answer.out) == (status, "")
    assert answer.err.count("\n") == 1


def test_what_is_needed_works(ask):
    needed = re.search(r"give a budget of (\d+)", ask("read", GARDEN, "--budget", "5").err)
    assert needed
    assert ask("read", GARDEN, "--budget", needed[1]).status == 0


def test_inline_tasks_are_text_where_that_is_asked_for(ask):
    asked = ("read", f"{GARDEN}::*House", "--json")
    assert json.loads(ask(*asked).out)["last"] == 3
    assert json.loads(ask(*asked, "--inlinetask-min-level", "2").out)["last"] == 5


def test_without_looking_for_changes_the_text_is_the_files_own(ask):
    ask("sync", "notes")
    write(Path(), {GARDEN: NOTES.replace("intro", "outro")})
    assert "2: outro\n" in ask("read", "garden.org", "--root", "notes", "--no-sync").out


@pytest.fixture
def secret(ask: Ask) -> Ask:
    write(
        Path("notes"),
        {
            "orgctx.toml": 'private_tags = ["private"]\n',
            "open.org": SECRET,
            "shut.org": "#+filetags: :private:\n* Shut\n",
        },
    )
    return ask


@pytest.mark.parametrize("more", [(), ("--json",), ("--budget", "60"), ("--cites", "c.json")])
@pytest.mark.parametrize("lines", [*(f"{n}" for n in range(1, 22)), "1-99", "5-7", "11-16"])
def test_no_command_tells_of_what_is_private(secret, lines, more):
    words = ("Hidden", "hidden text", "below", "pin", "child of", "Tail", "tail text")
    for address in (
        ["open.org", "--lines", lines],
        ["open.org", "--subtree"],
        [f"open.org:{lines}"],
    ):
        answer = secret("read", *address, "--root", "notes", *more)
        assert answer.status in (0, 1)
        assert not [word for word in words if word in answer.out + answer.err]


def test_a_private_file_is_not_there(secret):
    private = secret("read", "shut.org", "--lines", "1", "--root", "notes")
    nowhere = secret("read", "shot.org", "--lines", "1", "--root", "notes")
    assert (private.status, private.out) == (nowhere.status, nowhere.out) == (1, "")
    told, other = (re.split("[;\n]", each.err)[0] for each in (private, nowhere))
    assert told.replace("shut", "shot") == other


def test_reading_writes_to_no_note(ask):
    os.utime(GARDEN, ns=(10**18, 10**18))
    before = snapshot(Path("notes"))
    for more in ((), ("--subtree",), ("--lines", "2-4"), ("--cites", "c.json")):
        assert ask("read", GARDEN, *more).status == 0
    assert snapshot(Path("notes")) == before


def test_what_an_editor_has_not_saved_is_told(ask):
    """B94: the text is the file's, and it is said that there is newer text."""
    os.symlink("someone@host.123:456", "notes/.#garden.org")
    status, out, err = ask("read", GARDEN)
    assert (status, out) == (0, open_memex(GARDEN).read(GARDEN).text)
    assert "unsaved" in err


def test_several_roots_are_told_apart(tmp_path):
    write(tmp_path, {f"{root}/a.org": f"* {root}\n" for root in ("one", "two")})
    memex: Memex = open_memex(tmp_path / "one", tmp_path / "two")
    cites = Cites()
    found = [memex.read(f"{root}/a.org", subtree=True, cites=cites) for root in ("one", "two")]
    assert [(each.handle, each.path) for each in found] == [(1, "one/a.org"), (2, "two/a.org")]
    with pytest.raises(OrgctxError):
        memex.read("a.org")
