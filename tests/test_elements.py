"""orgctx.core.elements: what opens and closes in a section, and org-element agrees."""

from __future__ import annotations

from itertools import chain, combinations, pairwise
from pathlib import Path

import emacs
import pytest
import strategies
from growth import check_growth
from hypothesis import given
from hypothesis import strategies as st

from orgctx.core.elements import Element, elements, loose
from orgctx.core.outline import outline


def found(text: str) -> list[tuple[str, int, int]]:
    """(kind, first line, last line) of each element, 0-based."""
    return [(each.kind, each.first, each.last) for each in elements(text.split("\n"))]


# --- Examples ------------------------------------------------------------------------------------


def test_b37_names_case_and_ends() -> None:
    text = (
        "* H\n#+begin_srcx awk\nx\n#+end_srcx\n#+BEGIN_SRC sh\n#+end_quote\necho\n#+end_src\n"
        "#+begin_quote\nnever closed\n"
    )
    assert found(text) == [("srcx", 1, 3), ("src", 4, 7)]
    assert not elements(text.split("\n"))[0].is_verbatim


def test_b34_a_logbook_with_lists_in_it() -> None:
    text = ":LOGBOOK:\n- note\n- more \\\\\n  lines\nCLOCK: [2024-01-02 Tue 09:00]\n:END:\n1. list"
    assert found(text) == [("drawer", 0, 5)]
    assert elements(text.split("\n"))[0].is_drawer


@pytest.mark.parametrize("kind", ["src", "example", "export", "comment", "verse"])
def test_nothing_is_read_in_a_verbatim_block(kind: str) -> None:
    inside = "#+begin_quote\n:NOTES:\n:END:\n#+end_quote\n\\begin{x}\n\\end{x}"
    assert found(f"#+begin_{kind} x\n{inside}\n#+end_{kind}\n") == [(kind, 0, 7)]
    assert elements([f"#+BEGIN_{kind.upper()}\r\n", f"#+end_{kind} \t\r\n"])[0].is_verbatim


@pytest.mark.parametrize(
    ("begin", "end", "kind"),
    [
        ("#+begin_quote", "#+END_QUOTE", "quote"),
        ("  #+begin_center", "\t#+end_center  ", "center"),
        ("#+begin_a+b(c)", "#+end_a+b(c)", "a+b(c)"),
        ("#+BEGIN: clocktable :scope file", "#+END:", "dynamic"),
        ("#+begin: x", "  #+end:", "dynamic"),
        (":NOTES:", ":END:", "drawer"),
        ("  :a-b:", ":end: ", "drawer"),
        (":результаты:", ":END:", "drawer"),
    ],
)
def test_what_nests(begin: str, end: str, kind: str) -> None:
    inside = "#+begin_src\nx\n#+end_src"
    assert found(f"text\n{begin}\n{inside}\n{end}\ntext") == [(kind, 1, 5), ("src", 2, 4)]


def test_drawer_in_block_and_block_in_drawer() -> None:
    text = (
        "#+begin_quote\n:A:\n#+begin_center\n:END:\n#+end_quote\n:B:\n#+begin_src\n:END:\n#+end_src"
    )
    assert found(text) == [("quote", 0, 4), ("drawer", 1, 3), ("drawer", 5, 7)]
    text = ":B:\n#+begin_src\n#+end_src\n:END:"
    assert found(text) == [("drawer", 0, 3), ("src", 1, 2)]


@pytest.mark.parametrize(
    "text",
    [
        "#+begin_src\nnever closed",
        "#+end_src",
        "#+begin_src\n#+end_src x",
        "#+begin_src\n#+end_srcx",
        "#+begin_\n#+end_",
        "x #+begin_src\n#+end_src",
        "# +begin_src\n#+end_src",
        ",#+begin_src\n,#+end_src",
        "#+begin_src\n,#+end_src",
        "#+begin:\n#+end:",
        ":NOTES: x\n:END:",
        ":NOTES:\n:END: x",
        ":NOTES:\nnever closed",
        ":a b:\n:END:",
        ":END:",
        "\\begin{a}\n\\end{b}",
        "\\begin{}\n\\end{}",
    ],
)
def test_what_is_text(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("#+begin_a\n#+begin_b\n#+end_a\n#+end_b", [("a", 0, 2)]),
        ("#+begin_a\n#+begin_a\n#+end_a\n#+end_a", [("a", 0, 2)]),
        ("#+begin_a\n:D:\n#+end_a\n:END:", [("a", 0, 2)]),
        (":D:\n#+begin_a\n:END:\n#+end_a", [("drawer", 0, 2)]),
        (":D:\n:E:\n:END:\n:END:", [("drawer", 0, 2)]),
        ("#+begin_src\n#+begin_src\n#+end_src\n#+end_src", [("src", 0, 2)]),
        ("#+begin_src\n#+begin_quote\n#+end_quote", [("quote", 1, 2)]),
        ("#+begin_a\n#+end_a\n#+begin_a\n#+end_a", [("a", 0, 1), ("a", 2, 3)]),
    ],
)
def test_the_first_end_before_the_end_of_what_encloses_it(
    text: str, expected: list[tuple[str, int, int]]
) -> None:
    assert found(text) == expected


def test_latex_environments_hide_fences() -> None:
    text = "\\begin{equation*}\n#+begin_quote\n:D:\n:END:\n#+end_quote\nx \\END{Equation*} \n"
    assert found(text) == [("\\equation*", 0, 5)]
    assert elements(text.split("\n"))[0].is_verbatim
    assert found("\\begin{a}[x]\n\\begin{b}\n\\end{b}\n\\end{a}") == [("\\a", 0, 3)]
    assert found("\\begin{a}\n\\end{a} text\n\\end{a}") == [("\\a", 0, 2)]


def test_line_ends_and_indentation_do_not_matter() -> None:
    lines = [":A:", "#+begin_src x", "#+end_src", ":END:", "\\begin{a}", "\\end{a}"]
    for end in ("", "\n", "\r\n"):
        assert elements([f" \t{line}{end}" for line in lines]) == elements(lines)
    assert len(elements(lines)) == 3


# --- Laws ----------------------------------------------------------------------------------------

# Lists and footnotes are left out: an element of theirs ends where its item does, which is more
# than `elements` has to know.
PAIRS = (
    *[("#+begin_src sh", "#+end_src"), ("#+BEGIN_SRC", "\t#+END_SRC\t"), ("#+begin_é", "#+END_É")],
    *[("#+begin_quote", "#+end_quote"), ("  #+Begin_Quote x", "  #+end_quote  ")],
    *[("#+begin_srcx", "#+end_srcx"), ("#+begin_example", "#+end_example")],
    *[("#+begin_verse", "#+end_verse"), ("#+begin_comment", "#+end_comment")],
    *[("#+begin_center", "#+end_center"), ("#+begin_export", "#+end_export")],
    *[("#+begin_a+b(c)", "#+end_a+b(c)"), ("#+begin_src\f", "#+end_src\f"), ("#+begin_", "#+end_")],
    *[
        ("#+begin_quote\xa0x", "#+end_quote\xa0x"),
        ("#+begin: x", "#+end:"),
        ("#+BEGIN: y", "#+END"),
    ],
    *[(":NOTES:", ":END:"), (":LOGBOOK:", "  :end:"), (":a-b:", ":END: x"), (":é:", ":END:")],
    *[(":a b:", ":END:"), (":::", ":END:"), (":a:b:", ":END:"), (":PROPERTIES:", ":END:")],
    *[("\\begin{a}", "\\end{a}"), ("  \\begin{A*}", "x \\end{a*}"), ("\\begin{a}[x]", "\\end{a}")],
    *[("\\begin{a}{b} y", "\\end{b}"), ("\\begin{a} text", "\\end{a} text")],
    *[("\\begin{x}", "\\END{x}"), ("\\BEGIN{x}", "\\end{X}")],
)
OTHERS = (
    *["text", "text", "text", "", "", "#+end_quote x", "\xa0#+end_src", ",#+end_src", ":ID: x"],
    *[": fixed", "# comment", "| table |", "-----", "#+name: x", "#+caption: y", "#+TODO: A | B"],
    *["%%(x)", "CLOCK: [2024-01-01 Mon]"],
)


@st.composite
def _fences(draw: st.DrawFn) -> list[str]:
    """Lines of a section, dense in fences that are closed about as often as not."""
    pairs = draw(st.lists(st.sampled_from(PAIRS), min_size=1, max_size=4))
    others = draw(st.lists(st.sampled_from(OTHERS), max_size=3))
    pool = [*chain.from_iterable(pairs), *others]
    return draw(st.lists(st.sampled_from(pool), min_size=2, max_size=12))


fences = _fences()


@given(fences | strategies.org_text().map(lambda text: text.split("\n")))
def test_elements_are_nested_or_disjoint(lines: list[str]) -> None:
    every = elements(lines)
    assert all(0 <= each.first < each.last < len(lines) for each in every)
    assert all(one.first < other.first for one, other in pairwise(every))
    for outer, inner in combinations(every, 2):
        assert inner.last < outer.last or outer.last < inner.first
        assert not (outer.is_verbatim and inner.first < outer.last)


@given(fences)
def test_an_element_is_one_without_its_surroundings(lines: list[str]) -> None:
    for each in elements(lines):
        alone = lines[each.first : each.last + 1]
        assert elements(alone)[0] == Element(each.kind, 0, len(alone) - 1)


# --- Emacs ---------------------------------------------------------------------------------------

LISP = """
(defconst oracle-kinds
  '(src-block example-block export-block comment-block verse-block quote-block center-block
    special-block dynamic-block drawer property-drawer latex-environment))
(defun oracle-elements ()
  (oracle-main
   (lambda (_coding)
     (org-element-map (org-element-parse-buffer 'element) oracle-kinds
       (lambda (element)
         (let ((end (org-element-property :end element)))
           `((first . ,(line-number-at-pos (org-element-property :post-affiliated element)))
             (last . ,(- (line-number-at-pos end)
                         (if (save-excursion (goto-char end) (bolp)) 1 0)
                         (org-element-property :post-blank element))))))))))
"""


def org_elements(texts: list[str], folder: Path) -> list[set[tuple[int, int]]]:
    """(first line, last line) of the blocks, drawers and environments that Emacs finds, 1-based."""
    lisp = folder / "elements.el"
    lisp.write_text(LISP)
    contents = [text.encode() for text in texts]
    rows = emacs._rows(["outline.el", str(lisp)], "oracle-elements", contents, "each")
    return [{(row["first"], row["last"]) for row in of_text} for of_text in rows]


def our_elements(text: str) -> set[tuple[int, int]]:
    return {
        (node.first_line + each.first, node.first_line + each.last)
        for node in outline(text, "t.org").nodes
        for each in elements(node.lines)
    }


@pytest.mark.emacs
def test_emacs_finds_the_same_elements(tmp_path: Path) -> None:
    sections = strategies.sample(fences, 700, seed_number=5)
    texts = ["* H\n" + "".join(f"{line}\n" for line in lines) for lines in sections]
    texts += strategies.sample(strategies.org_text(), 200, seed_number=5)
    answers = org_elements(texts, tmp_path)
    for text, answer in zip(texts, answers, strict=True):
        assert our_elements(text) == answer, text
    assert sum(map(len, answers[:700])) > 400
    assert sum(map(len, answers[700:])) > 400


# --- Growth --------------------------------------------------------------------------------------

GROWTH = {
    "unclosed": ["#+begin_src\n"],
    "unclosed, of many kinds": ["#+begin_quote\n", ":D:\n", "\\begin{a}\n", "#+begin: x\n"],
    "closed": [":D:\n", ":END:\n"],
    "ends": ["#+end_src\n", ":END:\n"],
}


@pytest.mark.parametrize("name", GROWTH)
def test_eight_times_as_much_takes_less_than_24_times_as_long(name: str) -> None:
    kinds = GROWTH[name]
    check_growth(elements, lambda n: kinds * n, 2_500 // len(kinds))


def test_blocks_in_blocks() -> None:
    depth = 5_000
    lines = [f"#+begin_{n}" for n in range(depth)] + [f"#+end_{n}" for n in range(depth)][::-1]
    assert found("\n".join(lines)) == [(str(n), n, 2 * depth - 1 - n) for n in range(depth)]


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        ("#+begin_src\nx\n#+end_src", []),
        ("#+begin_src\nx", [0]),
        ("x\n#+end_src", [1]),
        ("#+begin_src\n#+end_quote\n:x:\n#+end_src", []),
        ("#+begin_quote\n#+begin_src\nx\n#+end_quote", [1]),
        (":PROPERTIES:\n:empty:\n:ID: x\n:END:", []),
        (":PROPERTIES:\n:ID: x", [0]),
        (":NOTES:\n#+begin_src\n:END:", [1]),
        ("text\n:END:", [1]),
        (":word:\n\\begin{x}\n\\end{y}", [0, 1, 2]),
        ("plain\n: fixed\n# comment", []),
    ],
)
def test_half_an_element(lines: str, found: list[int]) -> None:
    assert loose(lines.split("\n")) == found
