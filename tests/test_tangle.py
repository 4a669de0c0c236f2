"""`literate/tangle.py`: drift is found, edits go both ways exactly, examples are what they show."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

ROOT = Path(__file__).resolve().parent.parent
TANGLE = str(ROOT / "literate/tangle.py")
A_ORG, A_PY = "literate/a.org", "orgctx/core/a.py"
B_ORG, B_PY = "literate/b.org", "orgctx/core/b.py"
F, G = "def f():\n    return 1", "def g():\n    return 2"
H = "# why\n@cache(\n    1,\n)\ndef h():\n    pass"
T = 'T = """\n# no\n"""'
ESCAPED = 'T = """\n,* a\n,#+end_src\n  ,#+x\n,,* b\n  *c\n"""'
REPAIR = re.compile(r"\nrepair: python literate/tangle\.py (.*)\n")
CHAPTER = '''\
#+begin_src python
"""A module."""

import os
#+end_src

* A function

#+begin_src python
def two():
  return 2
#+end_src
'''
MODULE = '"""A module."""\n\nimport os\n\n\ndef two():\n    return 2\n'


class Checkout:
    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        (root / "orgctx/core").mkdir(parents=True)
        (root / "literate").mkdir()
        shutil.copy(ROOT / "pyproject.toml", root)
        self.write(A_ORG, CHAPTER)
        self.write(A_PY, MODULE)

    def write(self, label: str, text: str) -> None:
        (self.root / label).write_bytes(text.encode())

    def read(self, label: str) -> str:
        return (self.root / label).read_bytes().decode()

    def texts(self) -> tuple[str, str]:
        return self.read(A_ORG), self.read(A_PY)

    def edit(self, label: str, old: str, new: str) -> None:
        assert old in self.read(label)
        self.write(label, self.read(label).replace(old, new, 1))

    def files(self) -> dict[str, bytes]:
        files = (path for path in self.root.rglob("*") if path.is_file())
        return {str(path): path.read_bytes() for path in files if ".git" not in path.parts}

    def commit(self) -> None:
        user = ["-c", "user.name=t", "-c", "user.email=t@t.invalid", "-c", "commit.gpgsign=false"]
        for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "state"]):
            subprocess.run(["git", *user, *words], cwd=self.root, check=True, capture_output=True)

    def run(self, *arguments: str) -> tuple[int, str]:
        command = [sys.executable, "-B", TANGLE, *arguments, "--root", str(self.root)]
        done = subprocess.run(command, capture_output=True, text=True, cwd="/", check=False)
        return done.returncode, done.stdout + done.stderr

    def done(self, *arguments: str) -> None:
        code, output = self.run(*arguments)
        assert code == 0, output

    def refused(self, *arguments: str) -> str:
        """The output of a command that must fail and write nothing."""
        before = self.files()
        code, output = self.run(*arguments)
        assert (code, self.files()) == (1, before)
        return output


@pytest.fixture
def repo(tmp_path: Path) -> Checkout:
    checkout = Checkout(tmp_path)
    checkout.commit()
    return checkout


def chapter_of(*bodies: str) -> str:
    blocks = (f"\nProse.\n#+begin_src python\n{body}\n#+end_src\n" for body in bodies)
    return "#+title: t\n" + "".join(blocks).replace("python\n\n#+end", "python\n#+end")


def test_drift_names_chapter_module_line_and_a_repair_that_works(repo):
    assert repo.run("check") == (0, "check: ok\n")
    repo.edit(A_ORG, "return 2", "return 3")
    output = repo.refused("check")
    assert output.startswith(f"{A_ORG}: {A_PY} is not what it makes: line 7 differs first\n")
    assert "\n-    return 3\n+    return 2\n" in output
    repo.done(*REPAIR.search(output)[1].split())
    assert repo.read(A_PY) == MODULE.replace("2", "3")


def test_a_chapter_without_module_and_a_module_without_chapter_are_drift(repo):
    repo.write(B_ORG, chapter_of("\n".join(f"x{n} = 1" for n in range(300))))
    for name in ("c", "index", "__init__"):
        repo.write(f"orgctx/core/{name}.py", "x = 1\n")
    repo.write("literate/index.org", "#+begin_src python :tangle no\n1\n#+end_src\n")
    repo.write("literate/evaluation.org", "Such a chapter has no module.\n")
    output = repo.refused("check")
    assert f"{B_ORG}: {B_PY} is missing: " in output
    for name in ("c", "index"):
        assert f"orgctx/core/{name}.py has no chapter: write literate/{name}.org" in output
    assert not re.search(f"__init__|evaluation|{A_ORG}", output)
    assert len(output.splitlines()) == 25, "a long diff is capped"
    repo.done("sync", "b")


def test_names_restrict_a_command_and_bad_usage_exits_2(repo):
    repo.write(B_ORG, chapter_of("x = 1"))
    repo.done("check", "a", A_PY, A_ORG)
    repo.refused("check", "b")
    assert repo.run("check", "nope")[1].endswith("error: no such chapter; there are: a b\n")
    (repo.root / "literate").rename(repo.root / "gone")
    assert repo.run("sync")[0] == repo.run("sync", "--from", "x")[0] == repo.run("tidy")[0] == 2


def tangled(repo: Checkout, chapter: str) -> str:
    repo.write(B_ORG, chapter)
    repo.done("sync", "--from", "org", "b")
    repo.done("check", "b")
    return repo.read(B_PY)


@pytest.mark.parametrize("rest", ["x = 1\n", "x = 1\n* Headline\n#+end_src\n", ""])
def test_an_unclosed_block_is_reported_at_its_line_and_nothing_is_written(repo, rest):
    repo.write(B_ORG, f"{chapter_of('x = 1')}#+begin_src python\n{rest}")
    repo.edit(A_ORG, "return 2", "return 3")
    for command in ["check", "sync", "examples"]:
        assert f"{B_ORG}:7: not closed: add #+end_src\n" in repo.refused(command)


def test_what_is_not_python_is_reported_at_its_line(repo):
    repo.edit(A_ORG, "return 2", "return (")
    assert f"{A_ORG}:11: not Python: '(' was never closed\n" in repo.refused("sync")
    repo.write(A_ORG, CHAPTER)
    repo.edit(A_PY, "return 2", "return return")
    assert f"{A_PY}:7:" in repo.refused("sync")


def test_commas_are_undone_and_modules_formatted_by_the_settings_of_the_checkout(repo):
    repo.write("pyproject.toml", "[tool.ruff.format]\nquote-style = 'single'\n")
    body = 'x = """\n,* no headline\n,#+end_src\n  ,#+x\n,,* comma\n"""\ny  = f(\n    *"x")'
    expected = "x = '''\n* no headline\n#+end_src\n  #+x\n,* comma\n'''\ny = f(*'x')\n"
    assert tangled(repo, chapter_of(body)) == expected.replace("'''", '"""')


def test_language_argument_and_place_decide_what_is_tangled(repo):
    shown = "#+begin_{0}\n#+begin_src python\n0\n#+end_src\n#+end_{0}\n"
    chapter = shown.format("example") + shown.format("export") + chapter_of("1", "", "2")
    words = ["python :results output :tangle   no", "python3", "", "sh", "Python :tangle nono"]
    for number, word in enumerate(words, 3):
        chapter += f"  #+BEGIN_SRC {word}\n{number}\n #+end_src\n"
    assert tangled(repo, chapter) == "1\n\n2\n\n7\n"


def test_a_changed_chapter_goes_to_the_module_which_is_replaced_in_one_step(repo):
    repo.edit(A_ORG, "return 2", "return 3")
    chapter = repo.read(A_ORG).replace("\n", "\r\n")
    repo.write(A_ORG, chapter)
    repo.write(A_PY, MODULE.replace("\n", "\r\n"))  # line ends are no change
    (repo.root / "reader.py").hardlink_to(repo.root / A_PY)  # what a reader has open
    names = set(repo.files())
    assert repo.run("sync") == (0, f"wrote {A_PY}\nsync: ok\n")
    assert repo.texts() == (chapter, MODULE.replace("2", "3"))
    assert "return 2" in repo.read("reader.py")
    assert set(repo.files()) == names


def test_a_changed_module_goes_to_the_chapter_both_formatted(repo):
    repo.edit(A_ORG, "* A function", "* New prose is no conflict")
    expected = repo.read(A_ORG).replace("  return 2", "    return 3")
    repo.edit(A_PY, "return 2", "return  3")
    repo.done("sync")
    assert repo.texts() == (expected, MODULE.replace("2", "3"))


@pytest.mark.parametrize("in_git", ["both changed", "neither changed", "no git"])
def test_sync_refuses_until_told_which_side_to_keep(tmp_path, in_git):
    repo = Checkout(tmp_path)
    if in_git == "both changed":
        repo.commit()
    repo.edit(A_ORG, "  return 2", "    return 3")
    repo.edit(A_PY, "2", "4")
    if in_git == "neither changed":
        repo.commit()
    repo.write(B_ORG, chapter_of("x = 1"))  # could be written: its module is missing
    chapter, module = repo.texts()
    expected = f"{A_ORG}, {A_PY}: not just one changed since HEAD: --from?\nnothing was written\n"
    assert repo.refused("sync") == expected
    assert "tangle.py sync --from org a   (or --from py)\n" in repo.refused("check")
    repo.done("sync", "--from", "org", "a")
    assert repo.texts() == (chapter, MODULE.replace("2", "3"))
    repo.write(A_PY, module)
    repo.done("sync", "--from", "py")
    assert repo.texts() == (chapter.replace("return 3", "return 4"), module)
    assert repo.read(B_PY) == "x = 1\n"


def edit_module(repo: Checkout, bodies: list[str], old: str, new: str) -> str:
    repo.write(A_ORG, chapter_of(*bodies))
    repo.done("sync", "--from", "org")
    repo.commit()
    repo.edit(A_PY, old, new)
    return repo.read(A_ORG)


@pytest.mark.parametrize(
    ("bodies", "old", "new", "expected"),
    [
        ([F, G], "1", "1  # one", [F + "  # one", G]),
        ([F, G], "def g", "# why\n@cache\ndef g", [F, "# why\n@cache\n" + G]),
        ([F, G], F, "import os\n\n\n" + F, ["import os\n\n\n" + F, G]),
        (["import a", F], "import a", "import a\nimport b", ["import a\nimport b", F]),
        ([F, G], "def g", "def h", [F, G.replace("g", "h")]),
        (["x = 1", "x = 2\nz = 3"], "x = 2", "y = 4", ["x = 1", "y = 4\nz = 3"]),
        (["x = 1", "x = 2"], "x = 1", "x = 3", ["x = 3", "x = 2"]),
        ([F, "y: int = 2"], "y: int", "z = 3\n\ny: str", [F + "\n\n\nz = 3", "y: str = 2"]),
        ([F, "y = 2"], "y = 2", "z = 3\n\ny = 4", [F + "\n\n\nz = 3", "y = 4"]),
        ([F, G], "def g():", H + "\n\n\ndef g(x):", [F + "\n\n\n" + H, G.replace("()", "(x)")]),
        (["# no", G], G, G + "\n\n\n" + T, ["# no", G + "\n\n\n" + T]),
        ([F, "", G], F + "\n\n\n", "", ["", "", G]),
        (["x = 1", "# Two\n\n\n" + F], "1\n\n", "2\n\n", ["x = 2", "# Two\n\n\n" + F]),
        (["T = 1"], "T = 1", re.sub("(?m)^( *),", r"\1", ESCAPED), [ESCAPED]),
    ],
)
def test_an_edit_of_the_module_goes_to_the_block_that_owns_it(repo, bodies, old, new, expected):
    """What is new goes to the block of the statement before it; what is renamed stays."""
    edit_module(repo, bodies, old, new)
    module = repo.read(A_PY)
    repo.done("sync")
    assert repo.texts() == (chapter_of(*expected), module)
    repo.done("check")


def test_what_the_blocks_cannot_follow_is_refused_but_for_blank_lines_between_them(repo):
    chapter = edit_module(repo, ["x = 1", "y = 2"], "x = 1\n\ny", "x = 1\n\n\ny")
    repo.done("sync")
    assert repo.texts() == (chapter, "x = 1\n\ny = 2\n")
    edit_module(repo, [F, G], F + "\n\n\n" + G, G + "\n\n\n" + F)
    assert f"{A_ORG}: its blocks cannot follow {A_PY} in that order" in repo.refused("sync")
    edit_module(repo, ["class C:\n    x = 1", "    y = 2"], "y = 2", "y = 3")
    assert f"split block? {A_ORG}:11: not Python: " in repo.refused("sync")


PIECES = ["import os", "X = 1", "Y = 2\nZ = 3", "# A remark.", F, G, H, "class C:\n    x = 1"]
GROUPS = st.lists(st.lists(st.sampled_from([*PIECES, ESCAPED, "f(\n*a)"])), min_size=1, max_size=4)


@settings(max_examples=15, deadline=None)
@given(GROUPS, st.data())
def test_any_module_is_carried_back_exactly_or_refused_whole(tmp_path_factory, groups, data):
    flat = [piece for group in groups for piece in group]
    for _ in range(data.draw(st.integers(1, 3))):
        at, new = data.draw(st.integers(0, len(flat))), data.draw(st.sampled_from(PIECES))
        flat[at : at + data.draw(st.integers(0, 2))] = [new] * data.draw(st.integers(0, 1))
    repo, chapter = Checkout(tmp_path_factory.mktemp("x")), chapter_of(*map("\n\n".join, groups))
    repo.write(A_ORG, chapter)
    repo.write(A_PY, tangled(repo, chapter_of("", *flat)))
    code, output = repo.run("sync", "a", "--from", "py")
    assert re.sub("\n+", "\n", repo.read(A_PY)) == re.sub("\n+", "\n", repo.read(B_PY))
    assert repo.read(A_ORG) == chapter if code else repo.run("check")[0] == 0
    assert code == 0 or "cannot follow" in output


EXAMPLES = """\
#+begin_src python :tangle no :results output
import helper
print(x := helper.x)
#+end_src

#+RESULTS:
: 1

#+begin_src python :tangle no
print("* star", "", "#+end_example", x, sep="\\n")
x = 2
#+end_src

#+results[abc123]: name
#+begin_example
,* star

,#+end_example
1
#+end_example

#+begin_src python :tangle no
x = "not run"
#+end_src
#+begin_src python :tangle no
print(x, open("literate/a.org").read(11), sep="\\n\\n", end="")
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


CHANGES = [(": 1\n", ": 2\n", 7), (": 1\n", "", 7), (": 1\n", "| 1 |\n", 7)]
CHANGES += [(",* star\n", "star\n", 16), (": 2\n:\n", ": 2\n", 31)]


@pytest.mark.parametrize(("old", "new", "line"), CHANGES)
def test_a_wrong_result_fails_with_line_and_diff_and_is_mended_by_write(shown, old, new, line):
    shown.edit(A_ORG, old, new)
    output = shown.refused("examples")
    assert f"{A_ORG}: an example prints something else: line {line} differs first\n" in output
    shown.done(*REPAIR.search(output)[1].split())
    assert shown.read(A_ORG) == EXAMPLES
    assert shown.run("examples") == shown.run("examples", "--write") == (0, "examples: ok\n")


def test_an_example_that_raises_fails_at_its_line_and_sees_no_other_chapter(shown):
    shown.edit(A_ORG, ": 1\n", ": 2\n")
    for label, code in [(B_ORG, "x"), ("literate/c.org", "raise SystemExit(0)")]:
        shown.write(label, f"#+begin_src python :tangle no\n{code}\n#+end_src\n\n#+RESULTS:\n")
    output = shown.refused("examples", "--write")
    assert f"{B_ORG}:1: the example raised NameError(" in output
    assert "literate/c.org:1: the example raised SystemExit(0)\n" in output


@pytest.mark.parametrize("command", ["check", "examples"])
def test_this_repository_is_in_order(command):
    done = subprocess.run([sys.executable, TANGLE, command], capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{command}: ok\n".encode(), b"")


def test_ruff_is_found_in_the_checkout_or_its_lack_is_told_in_one_line(tmp_path: Path) -> None:
    """A Python that has no ruff itself, as a contributor's own."""
    real = Path(sys.executable).with_name("ruff")
    chapter = "#+begin_src python\nx = 1\n#+end_src\n"
    for path, text in {"literate/a.org": chapter, "orgctx/core/a.py": "x = 1\n"}.items():
        (tmp_path / path).parent.mkdir(parents=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    tool = Path(__file__).parent.parent / "literate" / "tangle.py"
    command = [sys.executable, "-S", str(tool), "check", "--root", str(tmp_path)]
    lacking = subprocess.run(command, env={"PATH": ""}, capture_output=True, text=True, check=False)
    assert lacking.returncode == 1
    assert lacking.stderr.count("\n") == 1
    assert ".ci/setup dev" in lacking.stderr
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / ".venv" / "bin" / "ruff").symlink_to(real)
    found = subprocess.run(command, env={"PATH": ""}, capture_output=True, text=True, check=False)
    assert (found.returncode, found.stderr) == (0, "")
