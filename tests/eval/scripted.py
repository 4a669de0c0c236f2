"""A model that follows a script, behind a real HTTP server on this machine.

It is as deterministic as a model can be, and knows nothing of the notes: its answers, and the
addresses that it goes on with, are found by patterns in what the tools answered.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, NamedTuple

HOST = "127.0.0.1"
MODEL = "scripted"
NOT_FOUND = "That is not in the notes."


class Step(NamedTuple):
    """A call. take: what of the last answer, as its group, replaces TAKEN in the arguments."""

    tool: str
    arguments: Mapping[str, Any]
    take: str = ""


class Script(NamedTuple):
    """What is done for a question. say: what of the last answer is the answer; else NOT_FOUND."""

    steps: Sequence[Step]
    say: str


TAKEN = "<taken>"
FOCUS = {"addresses": [TAKEN]}
ADDRESS = r'"addresses":\["([^"]+)'
SCRIPTS = {
    "Which folders does the root studio have?": Script(
        [Step("ls", {}), Step("ls", {"path": TAKEN}, r"(?m)^(studio) ")], r"studio/(\w+)/ "
    ),
    "At how many degrees is celadon fired?": Script(
        [
            Step("context", {"query": "At how many degrees is celadon fired?"}),
            Step("focus", FOCUS, ADDRESS),
        ],
        r"Celadon\n[^*]*?(\d+ degrees)",
    ),
    "When are the tiles for the stairwell to be delivered?": Script(
        [
            Step("grep", {"pattern": "Tiles for the stairwell"}),
            Step("ls", {"path": TAKEN}, r"(?m)^(\S+\.org) "),
            Step("focus", FOCUS, r"(?m)^(\S+) — Order"),
        ],
        r"Delivery on (\d+ \w+)",
    ),
    "And how thick are they?": Script(
        [Step("read", {"address": TAKEN, "subtree": True}, r":ID: (\S+)")], r"(\w+ millimetres)"
    ),
    "Which headlines are tagged urgent?": Script(
        [Step("grep", {"tag": ["urgent"]})], r"::(.+?) — TODO"
    ),
    "How many of the bowls cracked?": Script(
        [
            Step("grep", {"pattern": "cracked", "path": "studio/"}),
            Step("read", {"address": TAKEN}, r"(?m)^(\S+?\.org::.+?) — "),
        ],
        r"(\w+) cracked",
    ),
    "What is the booking code of the journey to Lisbon?": Script(
        [
            Step("ls", {"path": "household/travel/"}),
            Step("read", {"address": TAKEN, "lines": "1-9"}, r"(?m)^(\S+lisbon\.org) "),
        ],
        r"booking code (\w+)",
    ),
    "What is our customer number at Hartmann?": Script(
        [
            Step("context", {"query": "customer number at Hartmann"}),
            Step("read", {"address": TAKEN}, r'read \{"address":"([^"]+)'),
        ],
        r"Customer number (\d+)",
    ),
    "Which glaze do the tiles get, and how much iron oxide is in it?": Script(
        [
            Step("grep", {"pattern": "glazed with"}),
            Step("focus", {"addresses": [TAKEN], "lens": "fisheye"}, r"(?m)^(\S+) — .*Order"),
        ],
        r"(Celadon)\n|(Iron oxide \w+ percent)",
    ),
    "What is Ida's telephone number?": Script(
        [
            Step("grep", {"pattern": "telephone"}),
            Step("focus", {"addresses": ["studio/index.org::People/Ida"]}),
        ],
        r"telephone (?:number )?([\d ]+)",
    ),
}  # fmt: skip


def reply(messages: Sequence[Mapping[str, Any]], scripts: Mapping[str, Script]) -> dict[str, Any]:
    """The next message of the model."""
    asked = max(at for at, each in enumerate(messages) if each["role"] == "user")
    script = scripts[messages[asked]["content"]]
    steps = sum(each["role"] == "tool" for each in messages[asked:])
    before = next((each["content"] for each in messages[::-1] if each["role"] == "tool"), "")
    if steps < len(script.steps):
        step = script.steps[steps]
        taken = re.search(step.take, before) if step.take else None
        if taken or not step.take:
            return calling(step, taken[1] if taken else "", len(messages))
    found = [part for match in re.finditer(script.say, before) for part in match.groups() if part]
    return {"role": "assistant", "content": ", ".join(dict.fromkeys(found)) or NOT_FOUND}


def calling(step: Step, taken: str, number: int) -> dict[str, Any]:
    """A message that calls a tool."""
    arguments = json.dumps(step.arguments).replace(TAKEN, json.dumps(taken)[1:-1])
    function = {"name": step.tool, "arguments": arguments}
    call = {"id": f"call-{number}", "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


@contextmanager
def served(scripts: Mapping[str, Script] = SCRIPTS) -> Iterator[str]:
    """Serve the model. Yields: the base URL, for as long as it is served."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            known = self.path == "/v1/chat/completions" and asked["model"] == MODEL
            message = reply(asked["messages"], scripts) if known else None
            answer = {"choices": [{"message": message}]} if known else {"error": "not here"}
            data = json.dumps(answer).encode()
            self.send_response(200 if known else 404)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            """Say nothing on standard error."""

    server = ThreadingHTTPServer((HOST, 0), Handler)
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://{HOST}:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
