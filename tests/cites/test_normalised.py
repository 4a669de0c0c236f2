"""Answers: each cite becomes a link to where its text is now, and nothing else does."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random

import pytest
from cited import NOTES, SECRET, SETTING, commit, forgetful, read_all, reloaded
from growth import check_growth, seconds
from hypothesis import given, settings
from hypothesis import strategies as st
from notes import snapshot, write

from orgctx import BadArgument, open_memex
from orgctx import cites as citing
from orgctx.cites import Cites, normalised, origin


def link(cites: Cites, answer: str, style: str = "link") -> str:
    """An answer in which nothing is wrong, written anew."""
    text, problems = normalised(answer, cites, style)
    assert problems == []
    return text


# --- Links ---------------------------------------------------------------------------------------


def test_a_cite_becomes_a_link(root):
    cites = read_all(root)
    assert link(cites, "Red [1:L4] and more [1:L4-L6].") == (
        "Red [[file:garden.org::4][Garden, line 4]] and more "
        "[[file:garden.org::4][Garden, lines 4-6]]."
    )


def test_a_link_is_named_after_the_smallest_part_that_was_read(root):
    cites, memex = read_all(root), open_memex(root)
    memex.read("garden.org::*Colors", cites=cites)
    assert link(cites, "[1:L5] [1:L8]") == (
        "[[file:garden.org::5][Colors, line 5]] [[file:garden.org::8][Garden, line 8]]"
    )
    write(root, {"plain.org": "* \ntext\n"})
    memex.read("plain.org", subtree=True, cites=cites)
    assert link(cites, "[2:L1]") == "[[file:plain.org::1][plain.org, line 1]]"


def test_footnotes_stand_below_the_answer(root):
    answer = "Red [1:L4], green [1:L5], red [1:L4].[fn:2]\n\n[fn:2] Mine\n"
    assert link(read_all(root), answer, "footnote") == (
        "Red [fn:1], green [fn:3], red [fn:1].[fn:2]\n\n[fn:2] Mine\n\n"
        "[fn:1] [[file:garden.org::4][Garden, line 4]]\n"
        "[fn:3] [[file:garden.org::5][Garden, line 5]]\n"
    )


@pytest.mark.parametrize(
    ("answer", "above"), [("a [1:L4]", "\n\n"), ("a [1:L4]\n", "\n"), ("a [1:L4]\n\n", "")]
)
def test_one_blank_line_is_above_footnotes(root, answer, above):
    text = link(read_all(root), answer, "footnote")
    assert text == answer.replace("[1:L4]", "[fn:1]") + above + (
        "[fn:1] [[file:garden.org::4][Garden, line 4]]\n"
    )


def test_a_footnote_at_the_start_of_a_line_is_not_taken_for_its_text(root):
    text = link(read_all(root), "[1:L4] is red\r\n[1:L5]", "footnote")
    assert text.startswith("\u200b[fn:1] is red\r\n\u200b[fn:2]\r\n\r\n[fn:1] [[")


def test_an_answer_without_cites_gets_no_footnotes(root):
    assert link(read_all(root), "text", "footnote") == "text"


def test_an_unknown_style_is_refused(root):
    with pytest.raises(BadArgument):
        normalised("", read_all(root), "note")
    with pytest.raises(BadArgument):
        normalised(b"", read_all(root))


BAD = (
    *("[7:L1]", "[0:L1]", "[01:L1]", f"[{'9' * 10_000}:L1]", "[1:12]", "[1:12-19]", "[1:L6-L4]"),
    *("[1:Lx]", "[1:L]", "[1:L0]", "[1:L0-L4]", "[1:L04]", "[1:l4]", "[1:L4-5]", "[1:L4–L5]"),
    *("[1:L4-]", "[1: L4]", "[ 1:L4]", "[1:L4 ]", "[1:L 4]", "[1:L4,L5]", "[1:L4; 1:L5]"),
    *("[1:L4-L5-L6]", "[1:line 4]", "[1:lines 4-5]", "[1:L4x]", "[1:12, 13]"),
)


@pytest.mark.parametrize("bad", BAD, ids=lambda bad: bad[:20])
@pytest.mark.parametrize("style", citing.STYLES)
def test_what_is_malformed_or_unknown_is_removed_and_reported(root, bad, style):
    text, problems = normalised(f"One\ntwo {bad}, three\n", read_all(root), style)
    assert text == "One\ntwo, three\n"
    [problem] = problems
    assert (problem.line, problem.is_removed) == (2, True)
    assert bad.startswith(problem.cite.rstrip("…"))
    assert len(problem.cite) <= 41


ALIKE = (
    *("[1]", "[12]", "[2024-01-01]", "[2024-01-01 Mon 10:30]", "[fn:1]", "[fn:1:L2]", "[1/2]"),
    *("[10:30]", "[7:12]", "[1:]", "[1:a]", "[1: see L4]", "[1:30pm]", "[:L1]", "[L1]", "1:L4"),
    *("[a1:L4]", "[-1:L4]", "[1.0:L4]", "[1:L4", "1:L4]", "[1\n:L4]", "[1:L4\n]", "(1:L4)"),
    *("[[id:x][1:L4]]", "[[id:x][see [1:L4]]]", "[[file:a.org::4][a [b] 1:L4]]", "[[*1:L4]]"),
    *("=[1:L4]=", "~x[1:L4]~", "(=a [7:L1] b=)", "[١:L4]", "[²:L4]"),
    "\n#+begin_src python\nx[1:L4] + y[7:L]\n#+end_src\n[1]",
    "\n  #+BEGIN_EXAMPLE\n[7:L1]\n  #+end_example\n",
)


@pytest.mark.parametrize("alike", ALIKE)
@pytest.mark.parametrize("style", citing.STYLES)
def test_what_only_looks_alike_is_left_as_it_is(root, alike, style):
    cites = read_all(root)
    for answer in (alike, f"See {alike}, and {alike}\n"):
        assert normalised(answer, cites, style) == (answer, [])


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("[[1:L4]]", "[LINK]"),
        ("a=[1:L4]=", "a=LINK="),
        ("#+begin_src\n[1:L4]\n", "#+begin_src\nLINK\n"),
        ("#+begin_src\n* A\n[1:L4]\n#+end_src\n", "#+begin_src\n* A\nLINK\n#+end_src\n"),
        ("#+begin_quote\n[1:L4]\n#+end_quote", "#+begin_quote\nLINK\n#+end_quote"),
        ("#+end_src\n[1:L4]\n#+begin_src", "#+end_src\nLINK\n#+begin_src"),
        ("[[id:x][y]][1:L4][[id:x]]", "[[id:x][y]]LINK[[id:x]]"),
        ("[[id:x\n][1:L4]]", "[[id:x\n]LINK]"),
        ("(see[1:L4])", "(seeLINK)"),
        ("[1:L4][1:L4]", "LINKLINK"),
    ],
)
def test_a_cite_is_found_beside_what_looks_alike(root, answer, expected):
    text = link(read_all(root), answer)
    assert text == expected.replace("LINK", "[[file:garden.org::4][Garden, line 4]]")


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("[7:L1] a", " a"),
        ("a [7:L1]", "a"),
        ("a [7:L1] b", "a b"),
        ("a [7:L1] [7:L2] b", "a b"),
        ("a[7:L1][7:L2]b", "ab"),
        ("a\n[7:L1]\nb", "a\n\nb"),
        ("[1[7:L1]:L4]", "[1\u200b:L4]"),
        ("[[7:L1]1:L4]", "[\u200b1:L4]"),
        ("[1:L[7:L1][7:L1]4]", "[1:L\u200b\u200b4]"),
    ],
)
def test_what_is_removed_leaves_nothing_that_could_be_a_cite(root, answer, expected):
    assert normalised(answer, read_all(root))[0] == expected


def test_lines_beyond_the_end_are_cited_as_the_last_and_reported(root):
    text, problems = normalised("[1:L8-L50] [1:L400]", read_all(root))
    assert text == (
        "[[file:garden.org::8][Garden, lines 8-9]] [[file:garden.org::9][Garden, line 9]]"
    )
    assert [(each.cite, each.is_removed) for each in problems] == [
        ("[1:L8-L50]", False),
        ("[1:L400]", False),
    ]
    assert "9 lines" in problems[0].what


def test_a_cite_of_lines_that_must_not_be_shown_is_one_of_lines_that_are_not_there(root):
    write(root, {"orgctx.toml": SETTING, "open.org": SECRET})
    cites = read_all(root, "open.org")
    text, problems = normalised("[1:L4-L5][1:L9][1:L3-L6][1:L12-L13]", cites)
    assert text == (
        "[[file:open.org::3][Open, lines 3-6]][[file:open.org::11][Open, line 11]]"
    )  # fmt: skip
    assert [each.is_removed for each in problems] == [True, True, False]
    assert "11 lines" in problems[2].what


NAMES = ("a b.org", "[x].org", "a\\]b.org", "tail\\.org", "new\nline.org", "ü.org", "a::b.org")
TITLES = ("a ]] b", "[[id:x][y]]", "[1:L4]", "a [b", "=x", "] [", "\\]", "a\tb\x1b[0m", "[fn:1]")


def hostile(root: Path) -> Cites:
    """What was read of files whose names and titles are full of markup."""
    memex, cites = open_memex(root), Cites()
    for name in NAMES:
        write(root, {name: "".join(f"* {title}\n" for title in TITLES)})
    memex.sync()
    for name in NAMES:
        for line in range(1, len(TITLES) + 1):
            memex.read(name, lines=f"{line}-{line}", cites=cites)
    return cites


def test_links_stay_links_whatever_is_in_a_path_or_a_title(root):
    cites = hostile(root)
    cited = [f"[{n}:L{m}]" for n in range(1, len(NAMES) + 1) for m in range(1, len(TITLES) + 1)]
    for style in citing.STYLES:
        text, problems = normalised("\n".join(cited), cites, style)
        assert problems == []
        assert normalised(text, cites, style) == (text, [])
        assert not [c for c in text if not c.isprintable() and c not in "\n\u200b"]


@pytest.mark.emacs
def test_emacs_reads_each_link(root, tmp_path):
    """One line holds one link, whose path and line are those that were cited."""
    cites = hostile(root)
    cited = [f"[{n}:L{m}]" for n in range(1, len(NAMES) + 1) for m in range(1, len(TITLES) + 1)]
    write(tmp_path, {"answer.txt": link(cites, "\n".join(cited))})
    program = """(progn (require 'org) (find-file "answer.txt") (org-mode)
      (org-element-map (org-element-parse-buffer) 'link (lambda (each)
        (princ (format "%s\\t%s\\t%d\\n" (org-element-property :path each)
          (org-element-property :search-option each)
          (line-number-at-pos (org-element-property :begin each)))))))"""
    asked = ["emacs", "--batch", "-Q", "--eval", program]
    done = subprocess.run(
        asked, capture_output=True, check=True, env={**os.environ, "LC_ALL": "C.UTF-8"}
    )
    found = [tuple(row.split("\t")) for row in done.stdout.decode().split("\n")[:-1]]
    paths = [name.replace("\n", "\\n") for name in NAMES for _ in TITLES]
    lines = [str(line) for _ in NAMES for line in range(1, len(TITLES) + 1)]
    expected = [
        (path, line, str(at)) for at, (path, line) in enumerate(zip(paths, lines, strict=True), 1)
    ]
    of_two = {each for each in expected if "::" in each[0]}  # Org reads the first as the end
    assert [each for each in found if "::" not in each[1]] == [
        each for each in expected if each not in of_two
    ]
    assert len(found) == len(expected)


# --- Links to what has changed -------------------------------------------------------------------


@pytest.mark.parametrize("again", [lambda cites: cites, reloaded], ids=["in memory", "reloaded"])
def test_a_link_leads_to_where_the_text_is_now(root, again):
    cites = again(read_all(root))
    write(root, {"garden.org": "new\nlines\nabove\n" + NOTES})
    assert link(cites, "[1:L4-L5]") == "[[file:garden.org::7][Garden, lines 7-8]]"
    write(root, {"garden.org": NOTES.partition("* Colors\n")[2]})
    assert link(cites, "[1:L4]") == "[[file:garden.org::1][Garden, line 1]]"


def test_a_link_to_text_that_is_no_longer_there_says_so(root):
    cites = read_all(root)
    changed = " (the file has changed)"
    write(root, {"garden.org": NOTES.replace("green", "grey")})
    assert link(cites, "[1:L5] [1:L4]") == (
        f"[[file:garden.org::5][Garden, line 5{changed}]] [[file:garden.org::4][Garden, line 4]]"
    )
    (root / "garden.org").unlink()
    assert link(cites, "[1:L4-L5]") == f"[[file:garden.org::4][Garden, lines 4-5{changed}]]"
    cites = forgetful(cites)
    assert link(cites, "[1:L4]") == f"[[file:garden.org::4][Garden, line 4{changed}]]"


def test_of_several_places_the_nearest_is_taken(root):
    write(root, {"garden.org": "a\nx\nb\nx\nc\nx\nd\nx\n"})
    cites = read_all(root)
    write(root, {"garden.org": "new\na\nx\nb\nx\nc\nx\nd\nx\n"})
    assert link(cites, "[1:L4]") == "[[file:garden.org::3][b, line 3]]".replace(
        "b, ", "garden.org, "
    )
    assert link(cites, "[1:L4-L5]") == "[[file:garden.org::5][garden.org, lines 5-6]]"


@settings(max_examples=60)
@given(
    st.lists(st.sampled_from("abcd"), min_size=1, max_size=14),
    st.lists(st.sampled_from("abcd"), max_size=14),
    st.data(),
)
def test_the_nearest_unchanged_place_is_found(tmp_path_factory, old, new, data):
    """Against trying every place."""
    root = tmp_path_factory.mktemp("notes")
    write(root, {"garden.org": "".join(f"{line}\n" for line in old)})
    cites = read_all(root)
    write(root, {"garden.org": "".join(f"{line}\n" for line in new)})
    first = data.draw(st.integers(1, len(old)))
    last = data.draw(st.integers(first, len(old)))
    text = old[first - 1 : last]
    places = [n for n in range(1, len(new) + 1) if new[n - 1 : n - 1 + len(text)] == text]
    found = cites.origin(1).place(first, last)
    if not places:
        assert found is None
    else:
        nearest = min(abs(place - first) for place in places)
        assert found
        assert found[0] in places
        assert (abs(found[0] - first), found[1] - found[0]) == (nearest, last - first)


def test_text_from_git_leads_a_link_too(root):
    commit(root, root / "garden.org")
    cites = forgetful(read_all(root))
    write(root, {"garden.org": "above\n" + NOTES})
    assert link(cites, "[1:L4]") == "[[file:garden.org::5][Garden, line 5]]"


def test_nothing_is_written_to_a_note(root, ask):
    os.utime(root / "garden.org", ns=(10**18, 10**18))
    before = snapshot(root)
    ask("read", "notes/garden.org", "--cites", "c.json")
    for style in citing.STYLES:
        ask("cite", "--cites", "c.json", "--style", style, given="[1:L2] [7:L1]")
    Cites.load("c.json").resolve(1, 2)
    assert snapshot(root) == before


# --- Hostile answers -----------------------------------------------------------------------------

PARTS = st.sampled_from(
    [*"[]:-=~ \n1", "L", "4", "[1:L4]", "[7:L1]", "[1:Lx]", "[[id:x]", "]]", "[fn:", "\u200b", "é"]
)


@settings(max_examples=500)
@given(st.lists(PARTS, max_size=30).map("".join), st.sampled_from(citing.STYLES))
def test_what_was_written_anew_is_all_right(answer, style):
    """No bad cite is left, and no good one; text that is no cite is all there, in order."""
    text, problems = normalised(answer, GARDEN, style)
    again, more = normalised(text, GARDEN, style)
    assert (again, more) == (text, [])
    assert len(problems) <= answer.count(":")
    if not problems and "file:" not in text:
        assert text == answer


class InMemory(Cites):
    """One file of nine lines, without any file."""

    def __init__(self) -> None:
        super().__init__()
        home = citing.Home("garden.org", (), None)
        blob = "0" * 40
        self.sources = [citing.Source("garden.org", "Garden", blob, ((1, 9),), home)]
        self._origin = Unchanged()

    def origin(self, number: int) -> citing.Origin:
        return self._origin


class Unchanged(citing.Origin):
    def __init__(self) -> None:
        """It knows nothing but where each line is."""

    def place(self, first: int, last: int) -> tuple[int, int]:
        return first, last


GARDEN = InMemory()

HOSTILE: dict[str, Callable[[int], str]] = {
    "open brackets": lambda n: "[" * n,
    "closed brackets": lambda n: "]" * n,
    "nested brackets": lambda n: "[" * (n // 2) + "1:L1" + "]" * (n // 2),
    "cites in cites": lambda n: "[1:L" * (n // 8) + "1" + "]" * (n // 2),
    "cites that make cites": lambda n: "[1[7:L1]:L4]" * (n // 12),
    "cites never closed": lambda n: "[1:L1" * (n // 5),
    "a huge number": lambda n: "[" + "9" * n + ":L1]",
    "a huge line": lambda n: "[1:L" + "9" * n + "]",
    "huge lines": lambda n: "[1:L1-L" + "9" * n + "]",
    "huge numbers": lambda n: ("[" + "9" * 5000 + ":L1]") * (n // 5004),
    "good cites": lambda n: "[1:L4]" * (n // 6),
    "many cites": lambda n: " ".join(f"[1:L{1 + k % 9}-L9]" for k in range(n // 11)),
    "bad cites": lambda n: "[7:L1] " * (n // 7),
    "bad cites by line": lambda n: "[7:L1]\n" * (n // 7),
    "links never closed": lambda n: "[[x][" * (n // 5),
    "links of backslashes": lambda n: "[[" + "\\" * n,
    "many links of backslashes": lambda n: "[[\\\\" * (n // 4),
    "verbatim never closed": lambda n: " =a" * (n // 3),
    "markers": lambda n: "=" * n,
    "both markers": lambda n: "=~ " * (n // 3),
    "blocks never closed": lambda n: "#+begin_src\n" * (n // 12),
    "blocks closed again and again": lambda n: "#+begin_src\n#+end_example\n" * (n // 26),
    "blanks": lambda n: " \t" * (n // 2) + "[",
    "blank lines": lambda n: "\n" * n,
    "footnotes and cites": lambda n: "".join(f"[fn:{k}][1:L{1 + k % 9}]" for k in range(n // 15)),
    "footnotes": lambda n: "".join(f"[fn:{k}]" for k in range(n // 9)) + "[1:L4]",
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("style", citing.STYLES)
def test_time_grows_with_the_answer_alone(name, style):
    """A megabyte is done in seconds, and twice as much in hardly more than twice the time."""

    def cost(size: int) -> float:
        answer = HOSTILE[name](size)
        run = partial(normalised, answer, GARDEN, style)
        return seconds(run, 3)

    assert cost(1_000_000) < max(3 * cost(500_000), 0.2) < 10


def test_time_grows_with_the_answer_alone_when_the_file_has_changed(root):
    write(root, {"garden.org": "".join(f"line {n % 50}\n" for n in range(3000))})
    cites = read_all(root)
    write(root, {"garden.org": "".join(f"line {n % 50}\n" for n in range(20, 3000))})
    noise = Random(2)
    answers = [
        " ".join(f"[1:L{(n := noise.randint(1, 2900))}-L{n + 80}]" for _ in range(size))
        for size in (2000, 4000)
    ]
    one, two = (seconds(partial(normalised, answer, cites), 3) for answer in answers)
    assert two < max(3 * one, 0.2)


def test_equal_lines_of_a_changed_file_take_no_longer_the_more_of_them_are_cited(root):
    """Each cite is of lines that begin at many places, and go on as they did until the last."""

    def changed(size):
        lines = "same\n" * size
        write(root, {f"{size}.org": f"{lines}end\n"})
        cites = Cites()
        open_memex(root).read(f"{size}.org", subtree=True, budget=10**6, cites=cites)
        write(root, {f"{size}.org": f"{lines}changed\n"})
        return " ".join(f"[1:L{n + 1}-L{size + 1}]" for n in range(size // 700)), cites

    check_growth(lambda given: normalised(*given), changed, 1400)


def test_where_too_much_was_looked_for_the_file_is_said_to_have_changed(root, monkeypatch):
    monkeypatch.setattr(origin, "COMPARED", 5)
    cites = read_all(root)
    write(root, {"garden.org": NOTES.replace("intro\n", "")})
    found = "[[file:garden.org::{}][Garden, lines {}{}]]"
    assert link(cites, "[1:L4-L5] [1:L5-L6]") == (
        f"{found.format(3, '3-4', '')} {found.format(5, '5-6', ' (the file has changed)')}"
    )
