"""The battery: ten fixed questions in one conversation, answered by a model with the tools.

Any endpoint that speaks OpenAI's chat completions can be asked. It is asked by urllib: one POST is
all it takes, so no package is wanted.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from notes import write

from orgctx import Memex, open_memex
from orgctx.errors import NotFound
from orgctx.surfaces.answers import Answer, refused
from orgctx.surfaces.tools import INSTRUCTIONS, Tools

from . import scripted
from .fixture import NOTES, TURNS, Turn
from .report import Part

OFFERED = ("ls", "read", "grep", "focus", "context")
CALLS = 12
"""How many calls a turn may take before it counts as given up."""
RECORDED = Path(__file__).with_name("battery.json")
SYSTEM = f"{INSTRUCTIONS} Answer in one short sentence; if the notes do not say, say so."
TIMEOUT_SECONDS = 600
PROSE = f"""\
Ten fixed questions over a memex of eight small documents in two roots, in one conversation, with
the tools {", ".join(OFFERED)}. A verdict is right if the answer has what it must have and nothing
that it must not. Calls are of tools; tokens are those of the tools' answers. The last columns are
the baseline, recorded of the model {{recorded}}.
"""

Message = dict[str, Any]
Ask = Callable[[Sequence[Message], Sequence[dict[str, Any]]], Message]
"""(messages, tools) -> the model's next message."""


class EndpointError(Exception):
    """The endpoint did not answer as one of its kind does; its text says how, in a line."""


@dataclass(frozen=True)
class Endpoint:
    """A server of chat completions. base_url: without `/chat/completions`. key: may be empty."""

    base_url: str
    model: str
    key: str = ""

    def __call__(self, messages: Sequence[Message], tools: Sequence[dict[str, Any]]) -> Message:
        """The model's next message. Raises: EndpointError."""
        asked = {"model": self.model, "messages": messages, "tools": tools, "temperature": 0}
        headers = {"Content-Type": "application/json"}
        if self.key:
            headers["Authorization"] = f"Bearer {self.key}"
        url = f"{self.base_url.rstrip('/')}/chat/completions"
        try:
            request = urllib.request.Request(url, json.dumps(asked).encode(), headers)
            with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as answer:
                message: Message = json.load(answer)["choices"][0]["message"]
                return message
        except (OSError, ValueError, LookupError, TypeError) as error:
            raise EndpointError(f"{url}: {error!r}; check --base-url and --model") from error


class Played(NamedTuple):
    """What became of a turn. tokens: of the tools' answers. verdict: right, wrong or gave up."""

    verdict: str
    calls: int
    tokens: int
    seconds: float


def part(ask: Ask, model: str, is_recorded: bool = False) -> Part:
    """is_recorded: whether this is to be the baseline."""
    played = battery(ask)
    if is_recorded:
        record(played, model)
    before = recorded()
    known = before["turns"]
    rows: list[Sequence[object]] = [
        ("turn", "verdict", "calls", "tokens", "seconds", "", "verdict", "calls", "tokens")
    ]
    for turn, now, then in zip(TURNS, played, known, strict=True):
        told = (now.verdict, now.calls, now.tokens, now.seconds)
        rows.append((turn.question, *told, "", then["verdict"], then["calls"], then["tokens"]))
    right = sum(each.verdict == "right" for each in played)
    then_right = sum(each["verdict"] == "right" for each in known)
    rows.append(
        ("all", f"{right} right", *totals(played), "", f"{then_right} right", *baseline(known))
    )
    return Part("Battery", PROSE.format(recorded=before["model"]), rows, [*remarks(played, model)])


def totals(played: Sequence[Played]) -> tuple[int, int, float]:
    return (
        sum(each.calls for each in played),
        sum(each.tokens for each in played),
        sum(each.seconds for each in played),
    )


def baseline(known: Sequence[dict[str, Any]]) -> tuple[int, int]:
    return sum(each["calls"] for each in known), sum(each["tokens"] for each in known)


def remarks(played: Sequence[Played], model: str) -> Iterator[str]:
    yield f"The model is {model}."
    if model == scripted.MODEL:
        yield (
            "It follows a script, so its verdicts say that the tools lead to the answers, not how"
            " well a model finds the way: for that, give =--base-url= and =--model=."
        )
    for turn, each in zip(TURNS, played, strict=True):
        if each.verdict != "right":
            yield f"*Worse than it should be*: “{turn.question}”: {each.verdict}."


def battery(ask: Ask) -> list[Played]:
    """Play all turns in one conversation over a fresh memex."""
    with tempfile.TemporaryDirectory() as scratch:
        return [*play(ask, memex_in(Path(scratch)).tools(), TURNS)]


def memex_in(folder: Path) -> Memex:
    write(folder, NOTES)
    return open_memex(*(folder / name for name in dict.fromkeys(p.split("/")[0] for p in NOTES)))


def play(ask: Ask, tools: Tools, turns: Sequence[Turn]) -> Iterator[Played]:
    offered = [each for each in tools.openai() if each["function"]["name"] in OFFERED]
    messages: list[Message] = [{"role": "system", "content": SYSTEM}]
    for turn in turns:
        messages.append({"role": "user", "content": turn.question})
        begun = time.perf_counter()
        answers: list[Answer] = []
        while (message := ask(messages, offered)).get("tool_calls") and len(answers) < CALLS:
            messages.append(message)
            for call in message["tool_calls"]:
                answers.append(answered(tools, call["function"]))
                told = {"role": "tool", "tool_call_id": call["id"], "content": answers[-1].text}
                messages.append(told)
        said = "" if message.get("tool_calls") else str(message.get("content") or "")
        messages.append({"role": "assistant", "content": said})
        tokens = sum(each.tokens for each in answers)
        yield Played(verdict(turn, said), len(answers), tokens, time.perf_counter() - begun)


def answered(tools: Tools, function: dict[str, str]) -> Answer:
    name = function["name"]
    if name not in OFFERED:
        return refused(NotFound(f"{name}: not offered", f"the tools are {', '.join(OFFERED)}"))
    return tools.call(name, function["arguments"])


def verdict(turn: Turn, said: str) -> str:
    if not said:
        return "gave up"
    has_all = all(re.search(pattern, said) for pattern in turn.right)
    has_wrong = any(re.search(pattern, said) for pattern in turn.wrong)
    return "right" if has_all and not has_wrong else "wrong"


def recorded() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(RECORDED.read_text(encoding="utf-8"))
    return found


def record(played: Sequence[Played], model: str) -> None:
    """Make this the baseline; times are of a machine, and not kept."""
    turns = [{"verdict": p.verdict, "calls": p.calls, "tokens": p.tokens} for p in played]
    text = json.dumps({"model": model, "turns": turns}, indent=1)
    RECORDED.write_text(f"{text}\n", encoding="utf-8")


def key() -> str:
    """The key of the endpoint, if one is set, as OpenAI's own client has it."""
    return os.environ.get("OPENAI_API_KEY", "")
