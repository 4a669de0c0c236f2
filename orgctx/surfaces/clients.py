"""What clients want in their settings to start the server."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

Writer = Callable[[str, list[str]], str]


class Client(NamedTuple):
    """A client. place: where its settings are. write: (program, arguments) -> its settings."""

    place: str
    write: Writer


def snippet(client: str, program: str, arguments: Sequence[str]) -> str:
    """The lines for a client's settings.

    client: one of CLIENTS. program: what is started, with these arguments.
    """
    return f"{CLIENTS[client].write(program, list(arguments))}\n"


def _json(*keys: str, **own: Any) -> Writer:
    """Writes {keys: {"orgctx": command and arguments}}."""

    def write(program: str, arguments: list[str]) -> str:
        data: dict[str, Any] = {"orgctx": {**own, "command": program, "args": arguments}}
        for key in reversed(keys):
            data = {key: data}
        return json.dumps(data, indent=2, ensure_ascii=False)

    return write


def _opencode(program: str, arguments: list[str]) -> str:
    server = {"type": "local", "command": [program, *arguments], "enabled": True}
    return json.dumps({"mcp": {"orgctx": server}}, indent=2, ensure_ascii=False)


def _codex(program: str, arguments: list[str]) -> str:
    words = ", ".join(map(_toml, arguments))
    return f"[mcp_servers.orgctx]\ncommand = {_toml(program)}\nargs = [{words}]"


def _toml(text: str) -> str:
    """A basic string of TOML, which JSON's strings are but for DEL."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _gptel(program: str, arguments: list[str]) -> str:
    words = " ".join(map(_lisp, arguments))
    return (
        "(require 'gptel-integrations)\n"
        "(setq mcp-hub-servers\n"
        f'      \'(("orgctx" :command {_lisp(program)} :args ({words}))))\n'
        '(gptel-mcp-connect \'("orgctx"))'
    )


def _lisp(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


CLIENTS: Mapping[str, Client] = {
    "claude-code": Client(".mcp.json in the project", _json("mcpServers")),
    "codex": Client("~/.codex/config.toml", _codex),
    "cursor": Client("~/.cursor/mcp.json, or the project's", _json("mcpServers")),
    "opencode": Client("opencode.json in the project", _opencode),
    "vscode": Client(".vscode/mcp.json in the workspace", _json("servers", type="stdio")),
    "gptel": Client("your init file, with the packages gptel and mcp", _gptel),
}
