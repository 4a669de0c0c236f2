"""What all tests share: no network, hypothesis profiles, and when tests may be skipped."""

import _socket
import io
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import emacs
import pytest
from hypothesis import settings
from loopback import LOOPBACK
from program import Answer, Ask

from orgctx.surfaces import cli

# What fails in these helpers is told as it is in a test.
pytest.register_assert_rewrite("cited", "growth", "memexes", "mishaps", "stores", "views")

# Kept as they are before a fixture of all tests puts its own in their place.
create_connection, getaddrinfo = socket.create_connection, socket.getaddrinfo

settings.register_profile("ci", derandomize=True, deadline=None, print_blob=True)
settings.register_profile("dev", deadline=None)
settings.load_profile("ci" if os.environ.get("CI") else "dev")

RECORDS = ("outlines.jsonl", "../queries.jsonl")


class Need(NamedTuple):
    """What some tests need. lacking: (nothing) -> what is not here; "" if all is.

    is_installed: whether `.ci/run` sees to it; then its lack is an error where CI is set.
    """

    meaning: str
    lacking: Callable[[], str]
    is_installed: bool = True


def _program(name: str) -> Callable[[], str]:
    return lambda: "" if shutil.which(name) else f"there is no {name} on the PATH"


def _package_lint() -> str:
    """Without -Q, which hides the folder where Debian installs it."""
    call = ["emacs", "--batch", "-l", "package-lint"]
    is_there = emacs.emacs_available() and (
        subprocess.run(call, capture_output=True, check=False).returncode == 0
    )
    return "" if is_there else "Emacs has no package-lint (Debian: elpa-package-lint)"


def _proc() -> str:
    return "" if Path("/proc/self/status").exists() else "there is no /proc, which Linux has"


def _corpora() -> str:
    root = emacs.corpus_root()
    if root is None:
        return f"{emacs.CORPORA_VARIABLE} is not set"
    return "" if root.is_dir() else f"{emacs.CORPORA_VARIABLE} is no folder: {root}"


def _records() -> str:
    """The variable may name any folder of notes."""
    root = emacs.corpus_root()
    lacking = [each for each in RECORDS if root is None or not (root / each).is_file()]
    return f"the folder of real notes has no {lacking[0]}" if lacking else ""


NEEDS = {
    "emacs": Need("needs Emacs, the measure of truth", _program("emacs")),
    "package_lint": Need("needs Emacs' package-lint", _package_lint),
    "tmux": Need("needs tmux, a terminal for Emacs", _program("tmux")),
    "chromium": Need("needs a browser", _program("chromium")),
    "proc": Need("reads what processes need from /proc", _proc),
    "corpora": Need(f"needs real Org files, in {emacs.CORPORA_VARIABLE}", _corpora, False),
    "records": Need("needs what others read and judged of the real Org files", _records, False),
}


def pytest_configure(config: pytest.Config) -> None:
    """Register the markers; where Emacs is required, its lack ends the session at once."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a shell ignores it in the background
        signal.signal(signal.SIGINT, signal.default_int_handler)
    for name, need in NEEDS.items():
        config.addinivalue_line("markers", f"{name}: {need.meaning}")
    required = next((name for name in ("CI", "ORGCTX_REQUIRE_EMACS") if os.environ.get(name)), None)
    if required and (reason := NEEDS["emacs"].lacking()):
        raise pytest.UsageError(f"{required} is set, but {reason}")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip the tests whose need is not met; where `.ci/run` sees to it, that is an error.

    The reason says what the tests need and what of it is not here, so that anybody can look:
    which program or folder, or which variable is not set.
    """
    for name, need in NEEDS.items():
        needing = [item for item in items if item.get_closest_marker(name)]
        lacking = need.lacking() if needing else ""
        if lacking and need.is_installed and os.environ.get("CI"):
            raise pytest.UsageError(f"CI is set, but {lacking}")
        for item in needing if lacking else ():
            item.add_marker(pytest.mark.skip(reason=f"{need.meaning}: {lacking}"))


class NetworkBlockedError(OSError):
    """A test, or the code under test, wanted to reach the network."""


def _block(name: str) -> Callable[..., Any]:
    def refuse(*arguments: Any, **_options: Any) -> Any:
        raise NetworkBlockedError(f"socket.{name}{arguments!r} in a test")

    return refuse


def _local_only(name: str, connect: Callable[..., Any]) -> Callable[..., Any]:
    def guarded(self: socket.socket, address: Any) -> Any:
        if self.family == socket.AF_UNIX:
            return connect(self, address)
        raise NetworkBlockedError(f"socket.{name}({address!r}) in a test")

    return guarded


@pytest.fixture(autouse=True, scope="session")
def _no_network() -> Iterator[None]:
    """Nothing in orgctx may reach the network, so an attempt is an error that names itself."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("connect", "connect_ex"):
            original = getattr(socket.socket, name)
            patch.setattr(socket.socket, name, _local_only(name, original))
        for name in ("create_connection", "getaddrinfo"):
            patch.setattr(socket, name, _block(name))
        yield


@pytest.fixture
def loopback(monkeypatch: pytest.MonkeyPatch, _no_network: None) -> None:
    """What is blocked for all tests stays so, but for this machine itself."""

    def to_loopback(allowed: Callable[..., Any], otherwise: Callable[..., Any], at: int) -> Any:
        def guarded(*arguments: Any, **options: Any) -> Any:
            place = arguments[at]
            host = place[0] if isinstance(place, tuple) else place
            return (allowed if host == LOOPBACK else otherwise)(*arguments, **options)

        return guarded

    for name in ("connect", "connect_ex"):
        allowed, otherwise = getattr(_socket.socket, name), getattr(socket.socket, name)
        monkeypatch.setattr(socket.socket, name, to_loopback(allowed, otherwise, 1))
    for name, allowed in (("create_connection", create_connection), ("getaddrinfo", getaddrinfo)):
        monkeypatch.setattr(socket, name, to_loopback(allowed, getattr(socket, name), 0))


@pytest.fixture(autouse=True)
def _own_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Each test has cache, configuration and state folders of its own, and no root by default.

    They stay its own when it undoes its patches.
    """
    with pytest.MonkeyPatch.context() as patch:
        for name in ("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"):
            patch.setenv(name, str(tmp_path_factory.mktemp(name)))
        patch.delenv("ORGCTX_ROOT", raising=False)
        yield


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's home folder, which is the current one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def ask(monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> Ask:
    """Run the program in this process. given: its standard input."""

    def ask(*arguments: str | Path, given: str | bytes = b"") -> Answer:
        data = given.encode() if isinstance(given, str) else given
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        capfdbinary.readouterr()
        status = cli.run([str(each) for each in arguments])
        out, err = capfdbinary.readouterr()
        return Answer(status, out.decode(), err.decode())

    return ask
