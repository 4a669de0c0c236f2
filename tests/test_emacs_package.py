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

PACKAGE = Path(orgctx.__path__[0], "surfaces", "emacs", "orgctx.el")
ERT_FILE = Path(__file__).with_name("orgctx-test.el")

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
        timeout=300,
        check=False,
    )


@pytest.mark.parametrize(("locale", "tests"), [("C.UTF-8", "t"), ("C", '"names"')])
def test_the_package_works_with_the_real_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, locale: str, tests: str
) -> None:
    assert PROGRAM.is_file(), f"install the project beside {sys.executable} first"
    monkeypatch.setenv("LC_ALL", locale)
    ert = ("-l", "ert", "-l", ERT_FILE, "--eval", f"(ert-run-tests-batch-and-exit {tests})")
    run = emacs(tmp_path, "-Q", "-L", PACKAGE.parent, *ert)
    assert run.returncode == 0, run.stdout
    assert re.search(r"Ran [1-9]\d* tests", run.stdout), run.stdout


def test_the_package_compiles_without_a_warning(tmp_path: Path) -> None:
    copy = shutil.copy(PACKAGE, tmp_path)
    strict = "(setq byte-compile-error-on-warn t)"
    run = emacs(tmp_path, "-Q", "--eval", strict, "-f", "batch-byte-compile", copy)
    assert run.returncode == 0, run.stdout
    assert (tmp_path / "orgctx.elc").is_file()


def test_checkdoc_finds_nothing(tmp_path: Path) -> None:
    run = emacs(tmp_path, "-Q", PACKAGE, "--eval", f'(checkdoc-file "{PACKAGE}")')
    assert (run.returncode, run.stdout) == (0, "")


def test_package_lint_finds_nothing(tmp_path: Path) -> None:
    # Without -Q: that would hide the folder where Debian installs package-lint.
    if emacs(tmp_path, "-l", "package-lint").returncode != 0:
        # Never where it counts: `.ci/run` installs it, and its lack is a failure there.
        assert "CI" not in os.environ, "CI needs the Debian package elpa-package-lint"
        pytest.skip("package-lint is not installed (Debian: elpa-package-lint)")
    run = emacs(tmp_path, "-l", "package-lint", "-f", "package-lint-batch-and-exit", PACKAGE)
    findings = re.findall(r"^orgctx\.el:\d+:\d+: (?:error|warning): (.*)", run.stdout, re.M)
    assert findings or run.returncode == 0, run.stdout
    assert [finding for finding in findings if finding not in NOT_OURS] == []
