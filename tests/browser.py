"""A real browser, told by pipe what to do: no socket, no driver, only Debian's chromium.

The Chrome DevTools Protocol, as `--remote-debugging-pipe` speaks it: JSON, ended by a NUL.
"""

from __future__ import annotations

import base64
import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PROGRAM = "chromium"
KEYS = {"Enter": 13, "Escape": 27, "Home": 36, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39}
KEYS["ArrowDown"] = 40


class Browser:
    """One page. events: all that was told of it: requests, exceptions, lines of the console."""

    def __init__(self, to: int, back: int) -> None:
        self._to, self._back, self._rest = to, back, b""
        self._calls, self._session = 0, ""
        self.events: list[dict[str, Any]] = []

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._calls += 1
        message = {"id": self._calls, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._calls:
                assert "error" not in answer, answer
                return answer["result"]
            self.events.append(answer)

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            piece = os.read(self._back, 1 << 20)
            assert piece, "the browser is gone"
            self._rest += piece
        message, _, self._rest = self._rest.partition(b"\0")
        return json.loads(message)

    def begin(self) -> None:
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        found = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = found["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def open(self, place: Path, width: int = 1300, height: int = 640) -> None:
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        self.events.clear()
        self.call("Page.navigate", url=place.as_uri())
        while not any(each.get("method") == "Page.loadEventFired" for each in self.events):
            self.events.append(self._next())

    def value(self, expression: str) -> Any:
        """What an expression is in the page. It fails if that throws."""
        done = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in done, done
        return done["result"].get("value")

    def press(self, *keys: str) -> None:
        for key in keys:
            what = {"key": key, "code": key, "windowsVirtualKeyCode": KEYS[key]}
            self.call("Input.dispatchKeyEvent", type="rawKeyDown", **what)
            self.call("Input.dispatchKeyEvent", type="keyUp", **what)

    def mouse(self, x: float, y: float, is_click: bool = False) -> None:
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        for kind in ("mousePressed", "mouseReleased") if is_click else ():
            what = {"button": "left", "clickCount": 1}
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **what)

    def scheme(self, name: str) -> None:
        """Prefer "dark" or "light"."""
        features = [{"name": "prefers-color-scheme", "value": name}]
        self.call("Emulation.setEmulatedMedia", features=features)

    def picture(self) -> bytes:
        return base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])

    def requests(self) -> list[str]:
        """What was asked for, but for what the page's own policy refused."""
        refused = {
            each["params"]["requestId"]
            for each in self.events
            if each["params"].get("blockedReason") == "csp"
        }
        told = (e["params"] for e in self.events if e["method"] == "Network.requestWillBeSent")
        return [each["request"]["url"] for each in told if each["requestId"] not in refused]

    def complaints(self) -> list[dict[str, Any]]:
        """Exceptions, and all that stands on the console."""
        kinds = {"Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded"}
        return [each for each in self.events if each["method"] in kinds]


@contextmanager
def opened(home: Path) -> Iterator[Browser]:
    """A browser whose own files are in a folder."""
    (theirs_in, ours_out), (ours_in, theirs_out) = os.pipe(), os.pipe()
    options = ("--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe")
    shell = f'exec "$@" 3<&{theirs_in} 4>&{theirs_out}'
    process = subprocess.Popen(
        ["bash", "-c", shell, "bash", PROGRAM, *options, f"--user-data-dir={home}"],
        pass_fds=(theirs_in, theirs_out),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "HOME": str(home)},
    )
    os.close(theirs_in)
    os.close(theirs_out)
    browser = Browser(ours_out, ours_in)
    try:
        browser.begin()
        yield browser
    finally:
        os.close(ours_out)
        os.close(ours_in)
        process.terminate()
        process.wait(30)
