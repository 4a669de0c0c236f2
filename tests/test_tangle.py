"""`literate/tangle.py`: drift is found, edits go both ways exactly, examples are what they show."""

import ast
import importlib.util
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

ROOT = Path(__file__).resolve().parent.parent
TANGLE = ROOT / "literate/tangle.py"

spec = importlib.util.spec_from_file_location("tangle", TANGLE)
assert spec
assert spec.loader
tangle = importlib.util.module_from_spec(spec)
sys.modules["tangle"] = tangle  # where dataclasses look for their module
spec.loader.exec_module(tangle)


class Checkout:
    """A checkout in a temporary folder."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        (root / "orgctx/core").mkdir(parents=True)
        (root / "literate").mkdir()
        shutil.copy(ROOT / "pyproject.toml", root)

    def write(self, label: str, text: str) -> None:
        (self.root / label).write_bytes(text.encode())

    def read(self, label: str) -> str:
        return (self.root / label).read_bytes().decode()

    def edit(self, label: str, old: str, new: str) -> None:
        assert old in self.read(label)
        self.write(label, self.read(label).replace(old, new, 1))

    def files(self) -> dict[str, bytes]:
        files = (path for path in self.root.rglob("*") if path.is_file())
        return {str(path): path.read_bytes() for path in files if ".git" not in path.parts}

    def git(self, *arguments: str) -> None:
        user = ["-c", "user.name=t", "-c", "user.email=t@t.invalid", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", *user, *arguments], cwd=self.root, check=True, capture_output=True)

    def commit(self) -> None:
        self.git("init", "-q")
        self.git("add", "-A")
        self.git("commit", "-qm", "state")

    def run(self, *arguments: str, python: tuple[str, ...] = (), cwd: str = "/") -> tuple[int, str]:
        """Exit code and all output, from another folder than the checkout's."""
        command = [sys.executable, *python, str(TANGLE), *arguments, "--root", str(self.root)]
        done = subprocess.run(command, capture_output=True, text=True, cwd=cwd, check=False)
        return done.returncode, done.stdout + done.stderr

    def main(self, *arguments: str) -> int:
        """As `run`, in this process: quicker, for commands that run no examples."""
        return tangle.main([*arguments, "--root", str(self.root)])


A_ORG, A_PY = "literate/a.org", "orgctx/core/a.py"
CHAPTER = '''\
#+title: A chapter

The first block.

#+begin_src python
"""A module."""

import os
#+end_src

* Two functions

#+begin_src python
def one():
    return os.sep
#+end_src

Prose with a ~#+begin_src~ in it, and \u2028 too.

  #+BEGIN_SRC Python :results none
  def two():
      return 2
  #+END_SRC

#+begin_src python :tangle no
print("no part of the module")
#+end_src

#+begin_src emacs-lisp
(message "nor this")
#+end_src
'''
MODULE = '''\
"""A module."""

import os


def one():
    return os.sep


def two():
    return 2
'''


@pytest.fixture
def repo(tmp_path: Path) -> Checkout:
    """A checkout at peace, its chapter and module in HEAD."""
    checkout = Checkout(tmp_path)
    checkout.write(A_ORG, CHAPTER)
    checkout.write(A_PY, MODULE)
    checkout.commit()
    return checkout


def chapter_of(*bodies: str, eol: str = "\n") -> str:
    parts = ["#+title: t\n"]
    for number, body in enumerate(bodies):
        lines = body.split("\n") if body else []
        lines = ["", f"Prose {number}.", "#+begin_src python", *lines, "#+end_src"]
        parts += [line + "\n" for line in lines]
    return "".join(parts).replace("\n", eol)


def bodies_of(chapter: str) -> list[str]:
    blocks = re.findall(r"(?sm)^#\+begin_src python\n(.*?)^#\+end_src$", chapter)
    return [body.removesuffix("\n") for body in blocks]


def carry_back(repo: Checkout, bodies: list[str], old: str, new: str) -> list[str]:
    """The chapter's blocks after an edit of the module was carried back, which must be exact."""
    repo.write(A_ORG, chapter_of(*bodies))
    assert repo.main("sync", "--from", "org") == 0
    repo.commit()
    repo.edit(A_PY, old, new)
    module = repo.read(A_PY)
    assert repo.main("sync") == 0
    assert repo.read(A_PY) == module
    assert repo.main("check") == 0
    return bodies_of(repo.read(A_ORG))


# --- check ---------------------------------------------------------------------------------------


def test_a_module_made_by_its_chapter_is_no_drift(repo):
    assert repo.run("check") == (0, "modules that are what their chapters make: 1\n")


def test_drift_names_chapter_module_line_and_a_repair_that_works(repo):
    repo.edit(A_ORG, "return 2", "return 3")
    code, output = repo.run("check")
    lines = output.splitlines()
    assert code == 1
    assert lines[0] == f"{A_ORG} does not make {A_PY}: line 11 differs first"
    assert {"-    return 3", "+    return 2"} <= set(lines)
    repair = lines[-1].removeprefix("repair: python ").split()
    subprocess.run([sys.executable, *repair], cwd="/", check=True, capture_output=True)
    assert repo.read(A_PY) == MODULE.replace("2", "3")
    assert repo.run("check")[0] == 0


def test_the_repair_asks_for_a_side_when_git_does_not_tell(repo):
    repo.edit(A_ORG, "return 2", "return 3")
    repo.edit(A_PY, "return 2", "return 4")
    line = repo.run("check")[1].splitlines()[-1]
    assert re.fullmatch(r"repair: .* sync --from org a .*  \(or --from py: keep the module\)", line)


def test_a_long_diff_is_capped(repo):
    repo.write(A_PY, "".join(f"x{n} = {n}\n" for n in range(300)))
    output = repo.run("check")[1]
    assert len(output.splitlines()) == tangle.DIFF_LINES_MAX + 3
    assert re.search(r"^\.\.\. 29\d more lines$", output, re.M)


def test_check_writes_nothing(repo):
    repo.edit(A_ORG, "return 2", "return 3")
    before = repo.files()
    assert repo.main("check") == 1
    assert repo.files() == before


def test_a_chapter_without_module_and_a_module_without_chapter_are_drift(repo):
    repo.write("literate/b.org", chapter_of("x = 1"))
    repo.commit()
    repo.write("orgctx/core/c.py", "")
    repo.write("orgctx/core/__init__.py", "")
    code, output = repo.run("check")
    assert code == 1
    assert "literate/b.org: its module orgctx/core/b.py is missing\nrepair: " in output
    assert "--from" not in output
    assert "orgctx/core/c.py has no chapter: write literate/c.org" in output
    assert "__init__" not in output


def test_chapters_without_tangled_blocks_have_no_module(repo):
    repo.write("literate/index.org", "* Index\n#+begin_src python :tangle no\n1\n#+end_src\n")
    repo.write("literate/evaluation.org", "")
    assert repo.main("check") == 0
    repo.write("orgctx/core/index.py", "x = 1\n")
    code, output = repo.run("check")
    assert code == 1
    assert "orgctx/core/index.py has no chapter: no block of literate/index.org" in output


def test_names_restrict_a_command_and_may_be_paths(repo):
    repo.write("literate/b.org", chapter_of("x = 1"))
    assert repo.main("check", "a") == repo.main("check", A_PY) == repo.main("check", A_ORG) == 0
    assert repo.main("check", "b") == 1
    code, output = repo.run("check", "nope")
    assert (code, output) == (1, "no chapter literate/nope.org; there are: a b\n")


@pytest.mark.parametrize("arguments", [[], ["tidy"], ["check", "--write"], ["sync", "--from", "x"]])
def test_bad_usage_exits_2(arguments):
    done = subprocess.run([sys.executable, TANGLE, *arguments], capture_output=True, check=False)
    assert done.returncode == 2
    assert b"usage: " in done.stderr


def test_a_folder_without_chapters_is_refused(tmp_path):
    assert tangle.main(["check", "--root", str(tmp_path)]) == 1


def test_help_names_the_commands():
    done = subprocess.run([sys.executable, TANGLE, "--help"], capture_output=True, check=True)
    assert all(word in done.stdout for word in [b"check", b"sync", b"examples", b"--root"])


def test_a_missing_ruff_is_said_once_with_its_installation(repo):
    repo.write("literate/b.org", chapter_of("x = 1"))
    code, output = repo.run("check", python=("-S",))  # without site-packages
    assert code == 1
    assert output.startswith("ruff is missing, which formats the modules; install it: ")
    assert output.endswith("-m pip install 'ruff>=0.11'\n")
    assert output.count("\n") == 1


# --- broken chapters -----------------------------------------------------------------------------


@pytest.mark.parametrize("rest", ["x = 1\n", "x = 1\n* Headline\n#+end_src\n", ""])
def test_an_unclosed_block_is_reported_at_its_line_and_nothing_is_written(repo, rest):
    repo.write("literate/b.org", f"Prose.\n\n#+begin_src python\n{rest}")
    repo.edit(A_ORG, "return 2", "return 3")
    before = repo.files()
    for command in ["check", "sync", "examples"]:
        code, output = repo.run(command)
        assert code == 1
        assert "literate/b.org:3: the src block is not closed: add #+end_src" in output
        assert ("before the headline in line 5" in output) == ("*" in rest)
    assert repo.files() == before


@pytest.mark.parametrize("broken", ["    return (", "    return 2 +", "  = 1"])
def test_a_syntax_error_is_reported_at_the_line_of_the_chapter(repo, broken):
    repo.write(A_ORG, CHAPTER.replace("    return os.sep", broken).split("Prose with")[0])
    before = repo.files()
    code, output = repo.run("sync")
    assert code == 1
    assert re.match(rf"{A_ORG}:15: not Python: \w", output)
    assert output.endswith("nothing was written\n")
    assert repo.files() == before


def test_a_syntax_error_in_the_module_is_reported_there(repo):
    repo.edit(A_PY, "return 2", "return return")
    code, output = repo.run("sync")
    assert code == 1
    assert output.startswith(f"{A_PY}:11: not Python: ")


def test_text_that_is_not_utf_8_is_reported(repo):
    (repo.root / A_PY).write_bytes(b"x = '\xff'\n")
    assert repo.run("check") == (1, f"{A_PY}: not UTF-8 at byte 5: save it as UTF-8\n")


# --- what a chapter makes ------------------------------------------------------------------------


def tangled(repo: Checkout, chapter: str) -> str:
    repo.write("literate/b.org", chapter)
    assert repo.main("sync", "b", "--from", "org") == 0
    assert repo.main("check", "b") == 0
    return repo.read("orgctx/core/b.py")


def test_a_class_and_a_decorator_may_be_split_over_blocks(repo):
    bodies = [
        "import f",
        "@f.cache",
        "def a(): pass",
        "class C:",
        "    x = 1",
        "    def m(self): 1",
    ]
    assert tangled(repo, chapter_of(*bodies)) == (
        "import f\n\n\n@f.cache\ndef a():\n    pass\n\n\n"
        "class C:\n    x = 1\n\n    def m(self):\n        1\n"
    )


def test_commas_are_undone_and_indentation_is_that_of_the_block(repo):
    body = 'x = """\n,* no headline\n,#+end_src\n  ,#+x\n,,* comma\n"""\ny = f(\n    *x)'
    expected = 'x = """\n* no headline\n#+end_src\n  #+x\n,* comma\n"""\ny = f(*x)\n'
    assert tangled(repo, chapter_of(body)) == expected
    indented = re.sub("(?m)^", "   ", chapter_of(body))
    assert tangled(repo, indented) == expected


def test_modules_are_formatted_by_the_settings_of_the_checkout(repo):
    line = "x = f(" + ", ".join(["argument"] * 9) + ")\n"
    assert 88 < len(line) <= 100
    assert tangled(repo, chapter_of(line)) == line
    repo.write("pyproject.toml", "[tool.ruff]\nline-length = 60\n")
    assert tangled(repo, chapter_of(line)).count("\n") > 1


def test_python_files_in_the_current_folder_do_no_harm(repo):
    repo.write("orgctx/core/ruff.py", "raise SystemExit(3)\n")
    code, output = repo.run("check", "a", cwd=str(repo.root / "orgctx/core"))
    assert (code, output) == (0, "modules that are what their chapters make: 1\n")


def test_a_line_left_of_its_block_does_not_move_alone(repo):
    for left in ["", " ", "  "]:
        chapter = f"  #+begin_src python\n{left}if x:\n{left}  y\n{left}z\n  #+end_src\n"
        assert tangled(repo, chapter) == "if x:\n    y\nz\n"


def test_blocks_shown_in_other_blocks_are_not_tangled(repo):
    shown = "#+begin_{0}\n#+begin_src python\nx = 1\n#+end_src\n#+end_{0}\n"
    shown = shown.format("example") + shown.format("export") + shown.format("comment")
    assert tangled(repo, shown + chapter_of("y = 2")) == "y = 2\n"
    quoted = "#+begin_quote\n#+begin_src python\nx = 1\n#+end_src\n#+end_quote\n"
    assert tangled(repo, quoted + chapter_of("y = 2")) == "x = 1\n\ny = 2\n"


@pytest.mark.parametrize(
    ("arguments", "is_tangled"),
    [
        ("python :tangle no", False),
        ("python :results output :tangle   no :eval no", False),
        ("python :tangle nowhere.py", True),
        ("python -n :tangle yes", True),
        ("PYTHON", True),
        ("python3", False),
        ("", False),
    ],
)
def test_language_and_tangle_argument_decide(repo, arguments, is_tangled):
    text = tangled(repo, f"#+BEGIN_src {arguments}\nx = 1\n#+end_SRC\n{chapter_of('y = 2')}")
    assert ("x" in text) == is_tangled


def test_crlf_chapters_make_the_same_module_and_stay_crlf(repo):
    repo.write(A_ORG, CHAPTER.replace("\n", "\r\n"))
    assert repo.main("check") == 0
    repo.edit(A_PY, "return 2", "x = 2\n    return x")
    assert repo.main("sync") == 0
    expected = CHAPTER.replace("return 2", "x = 2\n      return x").replace("\n", "\r\n")
    assert repo.read(A_ORG) == expected


def test_a_crlf_module_is_no_drift(repo):
    repo.write(A_PY, MODULE.replace("\n", "\r\n"))
    assert repo.main("check") == 0


# --- sync: which side ----------------------------------------------------------------------------


def test_a_changed_chapter_goes_to_the_module(repo):
    repo.edit(A_ORG, "return 2", "return 3")
    chapter = repo.read(A_ORG)
    assert repo.run("sync") == (0, f"wrote {A_PY}\n")
    assert repo.read(A_PY) == MODULE.replace("2", "3")
    assert repo.read(A_ORG) == chapter


def test_a_changed_module_goes_to_the_chapter(repo):
    repo.edit(A_PY, "return 2", "return 3")
    assert repo.run("sync") == (0, f"wrote {A_ORG}\n")
    assert repo.read(A_ORG) == CHAPTER.replace("return 2", "return 3")


def test_a_module_that_ruff_would_change_is_formatted_too(repo):
    repo.edit(A_PY, "return 2", "return  3")
    assert repo.main("sync") == 0
    assert repo.read(A_PY) == MODULE.replace("2", "3")
    assert repo.read(A_ORG) == CHAPTER.replace("return 2", "return 3")


def test_a_module_of_blank_lines_empties_its_blocks_and_is_emptied(repo):
    repo.write(A_ORG, chapter_of("x = 1", "y = 2"))
    repo.write(A_PY, "\n\n")
    assert repo.main("sync", "--from", "py") == 0
    assert (repo.read(A_ORG), repo.read(A_PY)) == (chapter_of("", ""), "")


def test_new_prose_is_no_conflict_with_a_changed_module(repo):
    repo.edit(A_ORG, "The first block", "The very first block")
    repo.edit(A_PY, "return 2", "return 3")
    assert repo.main("sync") == 0
    expected = CHAPTER.replace("first block", "very first block").replace("return 2", "return 3")
    assert repo.read(A_ORG) == expected


@pytest.mark.parametrize("in_git", ["both changed", "both new", "neither changed", "no git"])
def test_sync_refuses_until_told_which_side_to_keep(tmp_path, in_git):
    repo = Checkout(tmp_path)
    if in_git in ("both new", "both changed"):
        repo.write(A_ORG, CHAPTER if in_git == "both changed" else "")
        repo.write(A_PY, MODULE if in_git == "both changed" else "")
        if in_git == "both new":
            (repo.root / A_ORG).unlink()
            (repo.root / A_PY).unlink()
        repo.commit()
    chapter, module = CHAPTER.replace("return 2", "return 3"), MODULE.replace("2", "4")
    repo.write(A_ORG, chapter)
    repo.write(A_PY, module)
    if in_git == "neither changed":
        repo.commit()
    before = repo.files()
    code, output = repo.run("sync")
    assert code == 1
    assert f"{A_ORG} and {A_PY} differ, and not just one changed since git HEAD" in output
    assert repo.files() == before
    assert repo.main("sync", "--from", "org") == 0
    assert (repo.read(A_ORG), repo.read(A_PY)) == (chapter, MODULE.replace("2", "3"))
    repo.write(A_PY, module)
    assert repo.main("sync", "--from", "py") == 0
    assert (repo.read(A_ORG), repo.read(A_PY)) == (CHAPTER.replace("return 2", "return 4"), module)


def test_one_conflict_and_nothing_is_written(repo):
    repo.write("literate/b.org", chapter_of("x = 1"))  # could be written: its module is missing
    repo.edit(A_ORG, "return 2", "return 3")
    repo.edit(A_PY, "return 2", "return 4")
    before = repo.files()
    assert repo.run("sync")[1].endswith("--from org or py?\nnothing was written\n")
    assert repo.files() == before
    assert repo.main("sync", "b") == 0
    assert repo.read("orgctx/core/b.py") == "x = 1\n"


@pytest.mark.parametrize("side", [[], ["--from", "org"], ["--from", "py"]])
def test_a_missing_module_is_made_from_its_chapter(repo, side):
    shutil.rmtree(repo.root / "orgctx")
    assert repo.main("sync", *side) == 0
    assert (repo.read(A_ORG), repo.read(A_PY)) == (CHAPTER, MODULE)


def test_a_chapter_broken_in_head_and_mended_since_has_changed(repo):
    repo.write(A_ORG, CHAPTER + "#+begin_src python\n")
    repo.commit()
    repo.write(A_ORG, CHAPTER.replace("return 2", "return 3"))
    assert repo.main("sync") == 0
    assert repo.read(A_PY) == MODULE.replace("2", "3")


def test_a_checkout_may_be_a_folder_of_a_repository(tmp_path):
    (tmp_path / "sub").mkdir()
    repo = Checkout(tmp_path / "sub")
    repo.write(A_ORG, CHAPTER)
    repo.write(A_PY, MODULE)
    outer = Checkout(tmp_path)
    outer.commit()
    repo.edit(A_PY, "return 2", "return 3")
    assert repo.main("sync") == 0
    assert repo.read(A_ORG) == CHAPTER.replace("return 2", "return 3")


def test_files_keep_their_mode_and_nothing_else_is_left(repo):
    (repo.root / A_PY).chmod(0o640)
    repo.edit(A_ORG, "return 2", "return 3")
    names = set(repo.files())
    assert repo.main("sync") == 0
    assert (repo.root / A_PY).stat().st_mode & 0o777 == 0o640
    assert set(repo.files()) == names


def test_a_file_is_replaced_never_rewritten_in_place(repo):
    (repo.root / "reader.py").hardlink_to(repo.root / A_PY)  # what a reader has open
    repo.edit(A_ORG, "return 2", "return 3")
    assert repo.main("sync") == 0
    assert repo.read(A_PY) != repo.read("reader.py") == MODULE


def test_a_failed_write_changes_no_file(repo, monkeypatch):
    repo.edit(A_ORG, "return 2", "return 3")
    repo.write("literate/b.org", chapter_of("x = 1"))
    before = repo.files()
    write = Path.write_bytes

    def full_disk(path: Path, data: bytes) -> int:
        if "b.py" in path.name:
            raise OSError(28, "No space left on device")
        return write(path, data)

    monkeypatch.setattr(Path, "write_bytes", full_disk)
    with pytest.raises(OSError, match="No space"):
        repo.main("sync")
    assert repo.files() == before


# --- sync: from the module, exactly --------------------------------------------------------------

X150, Y150 = "\n\n".join(["x"] * 150), "\n\n".join(["y"] * 150)
F, G = "def f():\n    return 1", "def g():\n    return 2"


@pytest.mark.parametrize(
    ("bodies", "old", "new", "expected"),
    [
        # Lines next to a block's own go to that block, on either side of a border.
        ([F, G], "return 1", "x = 0\n    return 1", [F.replace("return", "x = 0\n    return"), G]),
        ([F, G], "return 1\n", "return 1\n    x\n", [F + "\n    x", G]),
        ([F, G], "def g", "@cache\ndef g", [F, "@cache\n" + G]),
        ([F, G], "def g", "# why\ndef g", [F, "# why\n" + G]),
        # What stands alone between two blocks goes to the earlier one.
        ([F, G], "def g", "def h():\n    pass\n\n\ndef g", [F + "\n\n\ndef h():\n    pass", G]),
        # ... with a decorator of the later block behind it.
        (
            [F, G],
            "def g",
            "def h():\n    pass\n\n\n@cache\ndef g",
            [F + "\n\n\ndef h():\n    pass", "@cache\n" + G],
        ),
        # Both sides of the border at once.
        (
            [F, G],
            "return 1\n\n\ndef g():",
            "return -1\n\n\ndef gg():",
            [F.replace("1", "-1"), G.replace("g", "gg")],
        ),
        (
            [F, G],
            "1\n\n\n" + G,
            '-1\n\n\nS = """\n\n\n\n\n"""',
            [F.replace("1", "-1"), 'S = """\n\n\n\n\n"""'],
        ),
        ([F, G], F + "\n\n\n", "", ["", G]),
        ([F, G], "\n\n" + G + "\n", "", [F, ""]),
        ([F, G], F + "\n\n\n" + G + "\n", "", ["", ""]),
        ([F, "", G], "return 2", "return 3", [F, "", G.replace("2", "3")]),
        ([F, G], F, "import os\n\n\n" + F, ["import os\n\n\n" + F, G]),
        ([F, G], G + "\n", G + "\n\n\nz = 1\n", [F, G + "\n\n\nz = 1"]),
        # The blank lines at a border are kept in the block if there must be more than usual.
        (["x = 1", "y = 2"], "x = 1\n\ny", "x = 1\n\n\ny", ["x = 1\n", "y = 2"]),
        (["x = 1", "y = 2", "z = 3"], "y = 2\n", "", ["x = 1\n", "", "z = 3"]),
        (["x = 1", "y = 2", F], F, "z = 3", ["x = 1", "y = 2\n", "z = 3"]),
        # Lines that occur often do not mislead.
        ([X150, Y150], "x\n\ny", "x\n\nz\n\ny", [X150 + "\n\nz", Y150]),
        (
            ["x = 1", "x = 1\n\n" + F, F],
            "x = 1\n\nx",
            "x = 1\n\nx = 1\n\nx",
            ["x = 1\n\nx = 1", "x = 1\n\n" + F, F],
        ),
        (["", ""], "", "x = 1\n", ["x = 1", ""]),
        # A class that goes on in a second block.
        (
            ["class C:\n    x = 1", "    def m(self):\n        pass"],
            "    def m",
            "    y = 2\n\n    @p\n    def m",
            ["class C:\n    x = 1\n\n    y = 2", "    @p\n    def m(self):\n        pass"],
        ),
        # Only the block that changed is rewritten as ruff formats it.
        (["x  = 1", "y  = 2"], "y = 2", "y = 3", ["x  = 1", "y = 3"]),
        # Lines that Org would read are escaped.
        (
            ['x = """\n"""'],
            '"""\n"""',
            '"""\n* a\n#+end_src\n  #+x\n,* b\n  *c\n"""',
            ['x = """\n,* a\n,#+end_src\n  ,#+x\n,,* b\n  *c\n"""'],
        ),
    ],
)
def test_an_edit_of_the_module_goes_to_the_block_that_owns_it(repo, bodies, old, new, expected):
    assert carry_back(repo, bodies, old, new) == expected


def test_an_edit_that_no_blocks_can_make_is_refused(repo):
    repo.write(A_ORG, chapter_of("x = 1", "y = 2"))
    assert repo.main("sync", "--from", "org") == 0
    repo.commit()
    repo.edit(A_PY, "x = 1\n\ny = 2", "x = 1\ny = 2")
    before = repo.files()
    code, output = repo.run("sync")
    assert code == 1
    assert f"{A_PY}: the blocks of {A_ORG} cannot make this edit exactly" in output
    assert repo.files() == before


PIECES = [
    "import os",
    "X = 1",
    "Y = 2\nZ = 3",
    "# A remark of its own.",
    F,
    G,
    "def f():\n    return 1\n\n\ndef g():\n    x = 1\n\n    return x",
    "@cache\ndef h(a, *b):\n    # why\n\n    return a",
    'T = """\n* star\n\n#+end_src\n,* comma\n\n  *x\n"""',
    "class C:\n    x = 1\n\n    def m(self):\n        pass\n\n    def n(self): return 'n'",
    "f(\n    1,\n    *a,\n)",
    "if X:\n    Y = 1\nelse:\n\n    Y = 2",
]
pieces = st.lists(st.sampled_from(PIECES), min_size=1, max_size=3)


def escaped(body: str) -> str:
    return re.sub(r"(?m)^([ \t]*)(?=,*(\*|#\+))", r"\1,", body)


def prose_of(chapter: str) -> str:
    return re.sub(r"(?ms)(^#\+begin_src python\n).*?(^#\+end_src$)", r"\1\2", chapter)


def check_carried_back(bodies: list[str], edited) -> int:
    """Carry an edit back in a fresh checkout: all exact, or all as before. Returns: exit code."""
    with tempfile.TemporaryDirectory() as folder:
        repo = Checkout(Path(folder))
        chapter = chapter_of(*map(escaped, bodies))
        repo.write(A_ORG, chapter)
        assert repo.main("sync") == 0
        old = repo.read(A_PY)
        assert ruff_formatted(repo, old) == old, "what is tangled stays as ruff formats it"
        module = ruff_formatted(repo, edited(old))
        repo.write(A_PY, module)
        code = repo.main("sync", "--from", "py")
        after = (repo.read(A_PY), repo.read(A_ORG))
        assert after[0] == module
        assert prose_of(after[1]) == prose_of(chapter)
        assert code == 0 or after[1] == chapter
        assert repo.main("check") == 0 or code == 1
        return code


def ruff_formatted(repo: Checkout, text: str) -> str:
    return tangle.formatted(repo.root, [text], A_PY, [1])


def statements(module: str) -> list[str]:
    """The module's top-level statements, each with the comments before it."""
    starts = [
        min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))]) - 1
        for node in ast.parse(module).body
    ]
    lines = module.split("\n")
    pairs = zip([0, *starts[1:]], [*starts[1:], len(lines)], strict=True) if starts else []
    return ["\n".join(lines[start:end]) for start, end in pairs]


@settings(max_examples=25, deadline=None)
@given(st.data(), st.lists(pieces, min_size=1, max_size=4))
def test_whole_statements_put_in_taken_out_or_changed_are_carried_back(data, groups):
    bodies = ["\n\n".join(group) for group in groups]

    def edited(module: str) -> str:
        parts = statements(module)
        for _ in range(data.draw(st.integers(1, 3))):
            at = data.draw(st.integers(0, len(parts)))
            new = data.draw(pieces)
            parts[at : at + data.draw(st.integers(0, 2))] = data.draw(st.sampled_from([new, []]))
        return "\n\n\n".join(parts)

    assert check_carried_back(bodies, edited) == 0


@settings(max_examples=25, deadline=None)
@given(st.data(), st.lists(pieces, min_size=1, max_size=4))
def test_any_edit_of_lines_is_carried_back_exactly_or_refused_whole(data, groups):
    bodies = ["\n\n".join(group) for group in groups]

    def edited(module: str) -> str:
        lines = module.split("\n")
        for _ in range(data.draw(st.integers(1, 4))):
            at = data.draw(st.integers(0, len(lines)))
            new = data.draw(st.sampled_from([[], ["X = 1"], ["", ""], ["    y = 2"], ["# c"]]))
            changed = [*lines[:at], *new, *lines[at + data.draw(st.integers(0, 3)) :]]
            if is_python("\n".join(changed)):
                lines = changed
        return "\n".join(lines)

    check_carried_back(bodies, edited)


def is_python(text: str) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


LINES = [
    "",
    "*",
    "* a",
    "  * a",
    "#+x",
    "#+end_src",
    "\t#+end_src",
    ",* a",
    ",,#+x",
    " ,*",
    "x",
    ",",
]


@given(
    st.lists(st.sampled_from(LINES) | st.text("*#+, \ta", max_size=6)),
    st.sampled_from(["", "  ", "\t"]),
    st.sampled_from(["\n", "\r\n"]),
)
def test_what_is_written_into_a_block_is_read_from_it(body, column, eol):
    text = f"* a\n{column}#+begin_src python\n{column}old\n{column}#+end_src\n* b\n"
    chapter = tangle.Chapter("a", text.replace("\n", eol))
    after = chapter.edited([chapter.with_body(chapter.blocks[0], body)])
    again = tangle.Chapter("a", after)
    assert [again.body(block) for block in again.blocks] == [body]
    assert after.replace("\r\n", "\n").count("\r") == 0
    assert not any(re.match(r"\*+ ", line) for line in again.lines[2:-2])


# --- examples ------------------------------------------------------------------------------------

EXAMPLES = """\
#+begin_src python :tangle no :results output
import helper
x = helper.x
print(x)
#+end_src

#+RESULTS:
: 1

  #+begin_src python :tangle no
  print("* star", "", "#+end_example", x, sep="\\n")
  #+end_src

  #+results[abc123]: name
  #+begin_example
  ,* star

  ,#+end_example
  1
  #+end_example

#+begin_src python :tangle no
x = 2
#+end_src

#+RESULTS:

#+begin_src python :tangle no
x = "a block without results is not run"
#+end_src

#+begin_src python :tangle no :eval no
raise ValueError
#+end_src

#+RESULTS:
: not run

#+begin_src python
x = "tangled, so not run"
#+end_src

#+RESULTS:
: not run

#+begin_src python :tangle no
print(x, open("literate/a.org").read(11), sep="\\n\\n")
#+end_src

#+RESULTS:
: 2
:
: #+begin_src
"""


@pytest.fixture
def shown(repo: Checkout) -> Checkout:
    repo.write(A_ORG, EXAMPLES)
    repo.write("helper.py", "x = 1\n")
    return repo


def test_examples_that_print_what_they_show_pass(shown):
    before = shown.files()
    assert shown.run("examples") == (0, "examples run: 4\n")
    assert shown.run("examples", "--write") == (0, "examples run: 4\n")
    assert {name: shown.files()[name] for name in before} == before


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [(": 1\n", ": 2\n", 7), ("  1\n", "", 14), (": 1\n", "", 7), ("  ,* star\n", "  star\n", 14)],
)
def test_a_wrong_result_fails_with_line_and_diff_and_is_mended_by_write(shown, old, new, line):
    shown.edit(A_ORG, old, new)
    code, output = shown.run("examples")
    assert code == 1
    assert f"{A_ORG}:{line}: the example prints something else\n" in output
    assert "+++ printed\n" in output
    repair = output.splitlines()[-1].removeprefix("if that is right: python ").split()
    subprocess.run([sys.executable, *repair], cwd="/", check=True, capture_output=True)
    assert shown.read(A_ORG) == EXAMPLES


def test_output_where_none_is_shown_fails_and_write_puts_it_there(shown):
    shown.edit(A_ORG, "x = 2\n", "x = 2\nprint('two', end='')\n")
    assert "\n+two\n" in shown.run("examples")[1]
    assert shown.run("examples", "--write")[0] == 0
    assert "print('two', end='')\n#+end_src\n\n#+RESULTS:\n: two\n\n#+begin" in shown.read(A_ORG)


@pytest.mark.parametrize(
    ("code", "what"),
    [
        ("x = 3\nx = 1 / 0", "48: the example raised ZeroDivisionError: division by zero"),
        ("\ndef f(): 1 / 0\n\nf()", "48: the example raised ZeroDivisionError: "),
        ("\nx = (", "48: the example raised SyntaxError: "),
        ("\nraise SystemExit(0)", "48: the example raised SystemExit: 0"),
        ("import helper2", "47: the example raised NameError: "),
    ],
)
def test_an_example_that_raises_fails_at_its_line_and_nothing_is_written(shown, code, what):
    shown.write("helper2.py", "\n\n\nnope\n")
    shown.edit(A_ORG, ": 1\n", ": 2\n")
    shown.edit(A_ORG, 'print(x, open("literate/a.org").read(11), sep="\\n\\n")', code)
    for arguments in [["examples"], ["examples", "--write"]]:
        exit_code, output = shown.run(*arguments)
        assert exit_code == 1
        assert f"{A_ORG}:{what}" in output
    assert ": 2\n" in shown.read(A_ORG)


def test_blank_lines_in_the_output_count(shown):
    shown.edit(A_ORG, "x = 2\n", "x = 2\nprint('\\n\\n two\\n')\n")
    assert shown.run("examples", "--write")[0] == 0
    assert "\n#+RESULTS:\n:\n:\n:  two\n:\n\n" in shown.read(A_ORG)
    assert shown.run("examples")[0] == 0


def test_results_of_another_form_are_refused(shown):
    shown.edit(A_ORG, ": 1\n", "| 1 |\n")
    code, output = shown.run("examples", "--write")
    assert (code, output) == (1, f"{A_ORG}:8: results are `: ` lines or an example block\n")


def test_each_chapter_has_its_own_namespace(shown):
    text = "#+begin_src python :tangle no\nprint(x)\n#+end_src\n\n#+RESULTS:\n: 1\n"
    shown.write("literate/b.org", text)
    code, output = shown.run("examples")
    assert code == 1
    assert "literate/b.org:2: the example raised NameError" in output
    assert shown.run("examples", "a")[0] == 0


# --- this repository -----------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["check", "examples"])
def test_this_repository_is_in_order(command):
    done = subprocess.run(
        [sys.executable, TANGLE, command], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert not done.stdout.endswith(": 0\n"), "no chapter was looked at"
