"""The server of the Model Context Protocol, measured as a ratio of one run.

usage: python tests/bench/serving.py

A call through standard input and output against the same call in this process, of a memex made by
memex.py. The two take turns, and of each the median counts.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

import memex
from mcp import Client, StdioServerParameters
from store import report

from orgctx.store.indexed import IndexedStore
from orgctx.surfaces.tools import Tools

FILES, CALLS = 1000, 200
ALLOWED = 5
"""Milliseconds that a call may take for the way alone."""


async def main() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch)
        memex.make(place / "notes", FILES)
        tools = Tools(IndexedStore([place / "notes"], place / "ours.sqlite"))
        command = ["-m", "orgctx", "mcp", "--root", str(place / "notes")]
        environment = {**os.environ, "XDG_CACHE_HOME": str(place / "theirs")}
        server = StdioServerParameters(command=sys.executable, args=command, env=environment)
        async with Client(server) as client:
            served, called = await turns(client, tools)
    report("focus by stdio but for 5 ms, of the same call", (served - ALLOWED) / called, 3.0)


async def turns(client: Client, tools: Tools) -> tuple[float, float]:
    """The medians of a call by the client and of one in this process, in milliseconds."""
    served, called = [], []
    for number in range(CALLS):
        arguments = {"addresses": [memex.id_of(number % 20, 0)]}
        begun = time.perf_counter()
        tools.call("focus", arguments)
        between = time.perf_counter()
        await client.call_tool("focus", arguments)
        if number >= 20:  # each is warm by now
            called.append(1000 * (between - begun))
            served.append(1000 * (time.perf_counter() - between))
    return statistics.median(served), statistics.median(called)


if __name__ == "__main__":
    asyncio.run(main())
