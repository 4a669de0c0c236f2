"""The server of the Model Context Protocol, measured as a ratio of one run.

usage: python tests/bench/serving.py

A call through standard input and output against the same call in this process, of a memex made by
memex.py. The two take turns, round by round, and of each the median of its fastest round counts.
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

FILES, ROUNDS, CALLS = 1000, 12, 20
FACTOR, WAY = 3, 5
"""How many times as long as here a call may take, and milliseconds for the way."""


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
    allowed = FACTOR * called + WAY
    report("focus by stdio, of 3 times the same call and 5 ms", served / allowed, 1.0)


async def turns(client: Client, tools: Tools) -> tuple[float, float]:
    """What a call by the client takes, and one in this process, in milliseconds."""
    rounds = []
    for _ in range(ROUNDS):
        served, called = [], []
        for number in range(CALLS):
            arguments = {"addresses": [memex.id_of(number, 0)]}
            begun = time.perf_counter()
            tools.call("focus", arguments)
            between = time.perf_counter()
            await client.call_tool("focus", arguments)
            called.append(1000 * (between - begun))
            served.append(1000 * (time.perf_counter() - between))
        rounds.append((statistics.median(served), statistics.median(called)))
    warm = rounds[1:]
    return min(served for served, _ in warm), min(called for _, called in warm)


if __name__ == "__main__":
    asyncio.run(main())
