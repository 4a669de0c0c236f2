"""HTTP for this machine alone: loopback, known Host and Origin, a token."""

from __future__ import annotations

import hmac
import ipaddress
import os
import secrets
import socket
import stat
from collections.abc import Awaitable, Callable, MutableMapping
from pathlib import Path
from typing import Any

from ..errors import BadArgument, Unreadable

TOKEN_CHARS = 16
"""The fewest characters of a token."""

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]


def bound(place: str) -> socket.socket:
    """A socket at HOST:PORT of this machine. Port 0: any that is free.

    Raises: BadArgument if it is none, or not on the loopback interface; OSError.
    """
    host, _, port = place.rpartition(":")
    host = host.strip("[]")
    if not port.isdecimal() or int(port) > 65535:
        raise BadArgument(f"http {place!r}: no HOST:PORT", "for example 127.0.0.1:8377", "http")
    address = "127.0.0.1" if host in ("", "localhost") else host
    if not _is_loopback(address):
        hint = "use 127.0.0.1; from elsewhere, through ssh -L"
        raise BadArgument(f"http {place!r}: not an address of this machine alone", hint, "http")
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    return socket.create_server((address, int(port)), family=family)


def _is_loopback(address: str) -> bool:
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False


def names_of(listening: socket.socket) -> list[str]:
    """What clients may call a socket: each HOST:PORT; the first is its own."""
    host, port = listening.getsockname()[:2]
    own = f"[{host}]" if ":" in host else host
    return [f"{own}:{port}", f"localhost:{port}"]


def token_in(file: str) -> str:
    """The token that a file holds; one that is not there gets a new token.

    Raises: Unreadable if others may read it, or if it holds no token; OSError.
    """
    try:
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return _known_token(file)
    with os.fdopen(descriptor, "w", encoding="ascii") as new:
        token = new_token()
        new.write(f"{token}\n")
    return token


def _known_token(file: str) -> str:
    status = os.stat(file)
    if not stat.S_ISREG(status.st_mode) or status.st_mode & 0o077:
        raise Unreadable(f"{file}: others may read it", f"chmod 600 {file}", file)
    token = Path(file).read_text(encoding="ascii", errors="replace").strip()
    if len(token) < TOKEN_CHARS or not token.isascii() or not token.isprintable() or " " in token:
        hint = f"one line of {TOKEN_CHARS} letters and digits or more; delete it to have it made"
        raise Unreadable(f"{file}: holds no token", hint, file)
    return token


def new_token() -> str:
    """A token that nobody guesses."""
    return secrets.token_urlsafe(32)


class Guard:
    """Lets pass who sends the token."""

    def __init__(self, application: Application, token: str) -> None:
        self._application, self._wanted = application, f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See the ASGI specification."""
        if scope["type"] == "lifespan" or self._is_known(scope):
            await self._application(scope, receive, send)
            return
        headers = [(b"www-authenticate", b"Bearer"), (b"content-type", b"text/plain")]
        await send({"type": "http.response.start", "status": 401, "headers": headers})
        await send({"type": "http.response.body", "body": b"send the token of orgctx mcp\n"})

    def _is_known(self, scope: Scope) -> bool:
        sent = [value for name, value in scope["headers"] if name == b"authorization"]
        return len(sent) == 1 and hmac.compare_digest(sent[0], self._wanted)
