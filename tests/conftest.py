"""What all tests share: no network, hypothesis profiles, and when tests may be skipped."""

import _socket
import io
import os
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

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

MARKERS = {
    "emacs": "needs Emacs, the measure of truth; skipped without it unless CI is set",
    "corpora": f"needs real Org files; {emacs.CORPORA_VARIABLE} names their folder",
}


def pytest_configure(config: pytest.Config) -> None:
    """Register the markers; where Emacs is required, its lack ends the session at once."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a shell ignores it in the background
        signal.signal(signal.SIGINT, signal.default_int_handler)
    for name, meaning in MARKERS.items():
        config.addinivalue_line("markers", f"{name}: {meaning}")
    required = next((name for name in ("CI", "ORGCTX_REQUIRE_EMACS") if os.environ.get(name)), None)
    if required and not emacs.emacs_available():
        raise pytest.UsageError(f"{required} is set, but there is no emacs on the PATH")


def _reasons_to_skip() -> dict[str, str]:
    """For each marker whose need is not met, the reason its tests are skipped."""
    root = emacs.corpus_root()
    reasons = {}
    if not emacs.emacs_available():
        reasons["emacs"] = "there is no emacs on the PATH"
    if root is None:
        reasons["corpora"] = f"{emacs.CORPORA_VARIABLE} is not set"
    elif not root.is_dir():
        reasons["corpora"] = f"{emacs.CORPORA_VARIABLE} is no folder: {root}"
    return reasons


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip the tests whose marker names something that is not here."""
    reasons = _reasons_to_skip()
    for item in items:
        for name in reasons.keys() & {mark.name for mark in item.iter_markers()}:
            # Each reason names what is lacking here; where CI is set, Emacs cannot be: see above.
            item.add_marker(pytest.mark.skip(reason=reasons[name]))


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
