"""A release: built as it is published, installed into an empty environment, and used there."""

import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest
from notes import write

import orgctx

ROOT = Path(__file__).parent.parent
INSIDE = (
    "surfaces/emacs/orgctx.el",
    *(f"views/wordlists/{name}.txt" for name in ("common", "function", "synonyms")),
    *(f"views/html/page.{kind}" for kind in ("html", "css", "js")),
    "py.typed",
)
"""What is in the package besides its modules."""


def run(*command: str | Path, cwd: Path) -> str:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("sdist")
    run(sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", place, cwd=ROOT)
    return place / f"orgctx-{orgctx.__version__}.tar.gz"


@pytest.fixture(scope="module")
def wheel(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from the sdist, as a packager does."""
    place = tmp_path_factory.mktemp("wheel")
    with tarfile.open(sdist) as archive:
        archive.extractall(place)
    source = place / sdist.name.removesuffix(".tar.gz")
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", place, cwd=source)
    return place / f"orgctx-{orgctx.__version__}-py3-none-any.whl"


def test_the_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    package = Path(orgctx.__path__[0])
    own = {p for p in package.rglob("*") if p.is_file() and p.suffix not in (".pyc", ".elc")}
    assert {f"orgctx/{each}" for each in INSIDE} <= names
    assert {f"orgctx/{each.relative_to(package).as_posix()}" for each in own} == {
        each for each in names if each.startswith("orgctx/")
    }
    assert {each.partition("/")[0] for each in names} == {
        "orgctx",
        f"orgctx-{orgctx.__version__}.dist-info",
    }


def test_the_sdist_holds_what_tests_and_readers_need(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        names = {each.partition("/")[2] for each in archive.getnames()}
    assert {"README.org", "LICENSE", "literate/lens.org", "tests/conftest.py"} <= names
    assert not any(each.startswith((".git/", ".venv/", "dist/")) for each in names)


def test_it_works_in_an_empty_environment(wheel: Path, tmp_path: Path) -> None:
    """What it depends on is that of this environment: nothing is downloaded in a test."""
    home = tmp_path / "environment"
    venv.create(home, with_pip=False)
    python = home / "bin" / "python"
    site = Path(
        run(python, "-c", "import site; print(site.getsitepackages()[0])", cwd=tmp_path).strip()
    )
    (site / "needed.pth").write_text(sysconfig.get_path("purelib") + "\n")
    installed = (sys.executable, "-m", "pip", "--python", python, "install", "--no-deps", "-q")
    run(*installed, "--no-index", wheel, cwd=tmp_path)
    write(tmp_path, {"a.org": "* A\ntext\n"})
    program = home / "bin" / "orgctx"
    assert run(program, "--version", cwd=tmp_path) == f"orgctx {orgctx.__version__}\n"
    assert run(program, "focus", "a.org::A", cwd=tmp_path) == "# a.org\n* A\ntext\n"
    assert "environment/lib/" in run(program, "emacs", cwd=tmp_path).splitlines()[0]
    run(program, "focus", "a.org", "--html", "page.html", cwd=tmp_path)
    assert "<canvas" in (tmp_path / "page.html").read_text()
    assert "a.org" in run(program, "context", "what is the text?", "--root", ".", cwd=tmp_path)
