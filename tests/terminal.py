"""An Emacs in a terminal, with somebody at its keys."""

from __future__ import annotations

import os
import shlex
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

COLUMNS, LINES = 84, 28
WAIT_SECONDS = 120
"""How long anything may take until it is on the screen: much longer than it does."""


class Terminal:
    """A terminal of tmux, in a server of its own."""

    def __init__(self, socket: Path) -> None:
        self._tmux = ("tmux", "-S", str(socket), "-f", os.devnull)

    def run(self, *arguments: str) -> str:
        """Run tmux. Returns: what it prints."""
        done = subprocess.run(
            [*self._tmux, *arguments], capture_output=True, check=True, encoding="utf-8"
        )
        return done.stdout

    def type(self, *keys: str) -> None:
        """Press keys, as tmux names them."""
        self.run("send-keys", *keys)

    def command(self, name: str) -> None:
        """Call a command of Emacs by its name."""
        self.type("M-x")
        self.run("send-keys", "-l", name)
        self.type("Enter")

    def screen(self, *options: str) -> str:
        """What is on the screen, without blanks at the ends of lines."""
        shown = self.run("capture-pane", "-p", *options)
        return "".join(f"{line.rstrip()}\n" for line in shown.splitlines())

    def wait_for(self, *words: str) -> str:
        """Wait until all these words are on the screen, and it stands still. Returns: it."""
        end, last = time.monotonic() + WAIT_SECONDS, ""
        while time.monotonic() < end:
            shown = self.screen()
            if shown == last and all(word in shown for word in words):
                return shown
            last = shown
            time.sleep(0.1)
        raise AssertionError(f"{words} is not on the screen:\n{last}")


@contextmanager
def emacs_in_terminal(home: Path, *arguments: str | Path, **environment: str) -> Iterator[Terminal]:
    """Start a bare Emacs with `home` for the user's files; it ends with the block."""
    socket = home / "tmux"
    variables = {
        "HOME": str(home),
        "XDG_CACHE_HOME": str(home / "cache"),
        "LC_ALL": "C.UTF-8",
        "TERM": "tmux-256color",
        **environment,
    }
    command = shlex.join(["emacs", "-nw", "-Q", *map(str, arguments)])
    settings = [part for name, value in variables.items() for part in ("-e", f"{name}={value}")]
    terminal = Terminal(socket)
    size = ("-x", str(COLUMNS), "-y", str(LINES))
    terminal.run("new-session", "-d", *size, *settings, "-c", str(home), command)
    try:
        terminal.run("set", "-g", "status", "off")
        yield terminal
    finally:
        terminal.run("kill-server")
