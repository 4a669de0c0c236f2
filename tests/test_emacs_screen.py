"""What is on the screen of somebody who uses orgctx in Emacs.

usage: python tests/test_emacs_screen.py    makes the picture in README.org anew
"""

from __future__ import annotations

import html
import io
import re
import tempfile
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from notes import snapshot, write
from program import PROGRAM
from rich.console import Console
from rich.text import Text
from terminal import COLUMNS, Terminal, emacs_in_terminal

import orgctx

pytestmark = [pytest.mark.emacs, pytest.mark.tmux]

PACKAGE = Path(orgctx.__path__[0], "surfaces", "emacs")
PICTURE = Path(__file__).parents[1] / "literate" / "emacs.svg"
GARDEN = """\
#+title: Garden
* House
Where the tools are.
** Roof
* Outdoors :garden:
What grows behind the house.
** TODO Beds :dig:
:PROPERTIES:
:ID: 5f0c9a1e-2000-4000-8000-000000000002
:END:
Dig them over before the frost, 挖地, and
let them rest until spring.
*** Tulips
In rows, a hand apart, as deep as
three of them are high.
*** Asters
** WAIT Paths
Gravel, or stone?
** Fence
** Gate
* Journal
"""
FOCUSED = """\
 94/95 tokens  foveal  3 nodes   RET visit  TAB expand  + - budget  g refresh
# garden.org
#+title: Garden
* Outdoors :garden:
** TODO Beds :dig:
:PROPERTIES:
:ID: 5f0c9a1e-2000-4000-8000-000000000002
:END:
Dig them over before the frost, 挖地, and
let them rest until spring.
# … 2 headlines omitted
# … 3 headlines omitted
# … 2 headlines omitted
"""
EXPANDED = """\
 126/190 tokens  foveal  10 nodes   RET visit  TAB expand  + - budget  g refresh
# garden.org
#+title: Garden
* House
* Outdoors :garden:
What grows behind the house.
** TODO Beds :dig:
:PROPERTIES:
:ID: 5f0c9a1e-2000-4000-8000-000000000002
:END:
Dig them over before the frost, 挖地, and
let them rest until spring.
*** Tulips
In rows, a hand apart, as deep as
three of them are high.
*** Asters
** WAIT Paths
Gravel, or stone?
** Fence
** Gate
* Journal
"""
LARGER = EXPANDED.replace("126/190", "126/380")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The home of somebody with notes."""
    return with_notes(tmp_path)


def with_notes(home: Path, program: str = f'"{PROGRAM}"') -> Path:
    """A home with a note, and an init file by which all that is shown has the one window.

    program: what orgctx-program is, as Lisp.
    """
    init = f"""
(add-to-list 'load-path "{PACKAGE}")
(require 'orgctx)
(setq orgctx-program {program} orgctx-budget 95
      make-backup-files nil create-lockfiles nil auto-save-default nil
      suggest-key-bindings nil
      display-buffer-alist '(("." (display-buffer-same-window))))
(menu-bar-mode -1)
(setq-default mode-line-format " %b %*")
"""
    return write(home, {"notes/garden.org": GARDEN, "init.el": init})


def started(home: Path) -> AbstractContextManager[Terminal]:
    """An Emacs that visits the note."""
    return emacs_in_terminal(home, "-l", home / "init.el", home / "notes/garden.org")


def at(terminal: Terminal, words: str) -> None:
    """Search for these words."""
    terminal.type("M-<", "C-s")
    terminal.run("send-keys", "-l", words)
    terminal.type("Enter")


def focused(terminal: Terminal) -> str:
    """Ask for the view of the beds. Returns: the screen."""
    terminal.wait_for("garden.org -")
    at(terminal, "Dig")
    terminal.command("orgctx-focus")
    return terminal.wait_for("/95 tokens")


def window(screen: str) -> str:
    """What the window shows, down to its mode line."""
    return re.split(r"\n+ \*?orgctx", screen)[0] + "\n"


def test_focus_expand_change_the_budget_and_visit(home: Path) -> None:
    notes = snapshot(home / "notes")
    with started(home) as terminal:
        assert window(focused(terminal)) == FOCUSED
        at(terminal, "# … 3 headlines")
        terminal.type("Tab")
        assert window(terminal.wait_for("/190 tokens")) == EXPANDED
        terminal.type("+")
        assert window(terminal.wait_for("/380 tokens")) == LARGER
        at(terminal, "WAIT Paths")
        terminal.type("Enter")
        assert "let them rest" in terminal.wait_for("garden.org -")
        terminal.run("send-keys", "-l", "here ")
        assert "** here WAIT Paths" not in (screen := terminal.wait_for("garden.org *"))
        assert "here ** WAIT Paths" in screen
        terminal.command("orgctx-focus")
        assert "here ** WAIT Paths" in terminal.wait_for("*orgctx: Asters*", "foveal")
    assert snapshot(home / "notes") == notes


def test_quit_cancels_what_runs_and_nothing_else(tmp_path: Path, home: Path) -> None:
    script = f'case "$*" in *--version*) exec {PROGRAM} --version;; *) exec sleep 600;; esac'
    with_notes(home, f"""'("sh" "-c" "{script.replace('"', chr(92) + '"')}" "orgctx")""")
    with started(home) as terminal:
        terminal.wait_for("garden.org -")
        terminal.command("orgctx-focus")
        terminal.type("Down", "Down")  # Emacs does not wait
        terminal.run("send-keys", "-l", "typed ")
        terminal.wait_for("typed Where", "garden.org *")
        terminal.type("C-g")
        terminal.wait_for("Orgctx: cancelled")
        terminal.type("C-g")
        terminal.wait_for("Quit")


def test_the_menu_leads_to_a_view(home: Path) -> None:
    with started(home) as terminal:
        terminal.wait_for("garden.org -")
        terminal.command("orgctx")
        terminal.wait_for("budget: 95 tokens", "lens: foveal", "ls: list level by level")
        terminal.type("e")
        terminal.wait_for("lens: fisheye")
        terminal.type("f")
        terminal.wait_for("/95 tokens  fisheye")


def svg_of(screen: str) -> str:
    """The picture of a screen, as tmux captures it with its colours."""
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)
    console.print(Text.from_ansi(screen.rstrip("\n")), end="")
    svg = console.export_svg(title="Emacs", unique_id="orgctx")
    return re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)  # it would be downloaded


def words_of(svg: str) -> str:
    """The text in a picture, without blanks."""
    lines = re.findall(r"<text[^>]*clip-path[^>]*>([^<]*)</text>", svg)
    return re.sub(r"\s", "", html.unescape("".join(lines)))


def picture(home: Path) -> str:
    """What the picture in README.org shows."""
    with started(home) as terminal:
        focused(terminal)
        return svg_of(terminal.screen("-e"))


def test_the_picture_in_the_readme_is_what_one_sees(home: Path) -> None:
    shown = PICTURE.read_text(encoding="utf-8")
    assert words_of(shown) == words_of(picture(home))
    assert re.sub(r"\s", "", FOCUSED) in words_of(shown)
    assert len(shown.encode()) < 60_000
    assert "url(http" not in shown


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        PICTURE.write_text(picture(with_notes(Path(folder))), encoding="utf-8")
