"""Symbols: the names that an entry gives, and where."""

import strategies
from hypothesis import event, given

from orgctx.core.outline import outline
from orgctx.store.files import decode
from orgctx.store.symbols import LONGEST, Symbol, symbols

ENTRY = """\
* Shapes
#+name: tab one
| a |
- Circle :: round
  1. [X] Square :: four sides
- <<corner>> and <<<radius>>> :: both
 * Star :: a bullet that is no headline
* Not :: a term
text :: no list
- none::of
#+NAME:  upper\r
#+tblname: old
"""


def test_named_elements_targets_and_terms_are_found_with_their_lines():
    assert symbols(ENTRY, 10) == [
        Symbol("name", "tab one", 11),
        Symbol("term", "Circle", 13),
        Symbol("term", "Square", 14),
        Symbol("term", "<<corner>> and <<<radius>>>", 15),
        Symbol("target", "corner", 15),
        Symbol("target", "radius", 15),
        Symbol("term", "Star", 16),
        Symbol("name", "upper", 20),
        Symbol("name", "old", 21),
    ]


def test_a_name_is_told_once_for_its_first_line():
    assert symbols("<<a>>\n- a :: x\n<<a>>\n", 1) == [
        Symbol("target", "a", 1),
        Symbol("term", "a", 2),
    ]


def test_a_sentence_is_no_name():
    assert symbols(f"- {'x' * LONGEST} ::\n- {'y' * (LONGEST + 1)} ::\n", 1) == [
        Symbol("term", "x" * LONGEST, 1)
    ]


@given(strategies.org_bytes())
def test_each_name_stands_in_its_line(data):
    tree = outline(decode(data, "a.org")[0], "a.org")
    lines = tree.text.split("\n")
    for node in tree.nodes:
        for symbol in symbols(node.text, node.first_line):
            event(symbol.kind)
            assert symbol.name in lines[symbol.line - 1]
            assert node.first_line <= symbol.line <= node.last_line
