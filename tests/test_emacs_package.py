"""The Emacs package, in a real Emacs: its own tests, and what a package archive asks of it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from program import PROGRAM

import orgctx

pytestmark = pytest.mark.emacs

HERE = Path(__file__).parent
PACKAGE = Path(orgctx.__path__[0], "surfaces", "emacs")
MAIN = PACKAGE / "orgctx.el"
FILES = sorted(PACKAGE.glob("*.el"))
COMMANDS = (
    *["orgctx", "orgctx-focus", "orgctx-focus-copy", "orgctx-focus-insert", "orgctx-focus-send"],
    *["orgctx-context", "orgctx-ls", "orgctx-collections", "orgctx-status"],
    *["orgctx-work-diff", "orgctx-work-commit"],
)
COOKIE = re.compile(
    r"^;;;###autoload.*\n\((?:defun|transient-define-prefix) ([\w-]+)", re.MULTILINE
)

# What package-lint 0.16 says for reasons that do not lie in the package.
NOT_OURS = (
    "This makes the package uninstallable in all released Emacs versions.",  # it predates Emacs 28
    "Package should have a Homepage or URL header.",  # the project has no public address yet
)


def emacs(home: Path, *args: str | Path) -> subprocess.CompletedProcess[str]:
    """Run Emacs in batch mode with `home` for the user's files; its messages are in `stdout`."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("ORGCTX_")}
    env = own | {
        "HOME": str(home),
        "XDG_CACHE_HOME": str(home / "cache"),
        "XDG_STATE_HOME": str(home / "state"),
        "ORGCTX_PROGRAM": str(PROGRAM),
    }
    return subprocess.run(
        ["emacs", "--batch", *args],
        cwd=home,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=900,
        check=False,
    )


def options(*loads: str | Path) -> list[str | Path]:
    """What has a bare Emacs find the package, and load these."""
    folders = [part for folder in (PACKAGE, HERE / "gptel") for part in ("-L", folder)]
    return ["-Q", *folders, *[part for load in loads for part in ("-l", load)]]


@pytest.mark.parametrize(
    ("tests", "locale", "selector"),
    [
        ("orgctx-test.el", "C.UTF-8", "t"),
        ("orgctx-test.el", "C", '"names"'),
        ("orgctx-gptel-test.el", "C.UTF-8", "t"),
    ],
)
def test_the_package_works_with_the_real_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tests: str, locale: str, selector: str
) -> None:
    assert PROGRAM.is_file(), f"install the project beside {sys.executable} first"
    monkeypatch.setenv("LC_ALL", locale)
    ert = ("--eval", f"(ert-run-tests-batch-and-exit {selector})")
    run = emacs(tmp_path, *options("ert", HERE / tests), *ert)
    assert run.returncode == 0, run.stdout
    assert re.search(r"Ran [1-9]\d* tests", run.stdout), run.stdout


def test_the_version_is_the_programs(tmp_path: Path) -> None:
    run = emacs(tmp_path, *options("orgctx"), "--eval", "(princ orgctx-version)")
    assert (run.returncode, run.stdout) == (0, orgctx.__version__)
    assert f"\n;; Version: {orgctx.__version__}\n" in MAIN.read_text(encoding="utf-8")


def test_the_lines_for_an_init_file_give_every_command(tmp_path: Path) -> None:
    """What `orgctx emacs` prints is read by a bare Emacs, which then has all commands."""
    init = tmp_path / "init.el"
    printed = subprocess.run([PROGRAM, "emacs"], capture_output=True, check=True).stdout
    init.write_bytes(printed)
    told = "(princ (list (seq-every-p #'commandp (list %s)) (featurep 'org) orgctx-program))"
    every = " ".join(f"'{command}" for command in COMMANDS)
    run = emacs(tmp_path, "-Q", "-l", init, "--eval", told % every)
    assert (run.returncode, run.stdout) == (0, f"(t nil {PROGRAM})")


def test_each_command_has_an_autoload_cookie() -> None:
    texts = [file.read_text(encoding="utf-8") for file in FILES]
    marked = {name for text in texts for name in COOKIE.findall(text)}
    assert {*COMMANDS, "orgctx-focus-string"} <= marked


def test_the_package_compiles_without_a_warning(tmp_path: Path) -> None:
    copies = [shutil.copy(file, tmp_path) for file in FILES]
    strict = "(setq byte-compile-error-on-warn t)"
    run = emacs(
        tmp_path, "-Q", "-L", tmp_path, "--eval", strict, "-f", "batch-byte-compile", *copies
    )
    assert (run.returncode, run.stdout) == (0, "")
    assert len(list(tmp_path.glob("*.elc"))) == len(FILES)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_checkdoc_finds_nothing(tmp_path: Path, file: Path) -> None:
    run = emacs(tmp_path, "-Q", file, "--eval", f'(checkdoc-file "{file}")')
    assert (run.returncode, run.stdout) == (0, "")


@pytest.mark.package_lint
def test_package_lint_finds_nothing(tmp_path: Path) -> None:
    main = f'(setq package-lint-main-file "{MAIN}")'
    lint = ("-l", "package-lint", "--eval", main, "-f", "package-lint-batch-and-exit")
    run = emacs(tmp_path, *lint, *FILES)
    findings = re.findall(r"^[\w-]+\.el:\d+:\d+: (?:error|warning): (.*)", run.stdout, re.M)
    assert findings or run.returncode == 0, run.stdout
    assert [finding for finding in findings if finding not in NOT_OURS] == []
