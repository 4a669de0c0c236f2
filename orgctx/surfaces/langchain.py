"""The tools of an agent as LangChain's, which deep agents take: the same words and answers."""

from __future__ import annotations

from collections.abc import Callable

from .tools import Tools

try:
    from langchain_core.tools import BaseTool, StructuredTool
except ImportError as error:
    raise ImportError("pip install 'orgctx[deepagents]'") from error

PREFIX = "orgctx_"
"""Before a tool's name, for deep agents have an ls and a grep of their own."""


def langchain_tools(tools: Tools) -> list[BaseTool]:
    """The tools for an agent of LangChain, or a deep agent, as `create_deep_agent(tools=…)` takes.

    tools: those of `Memex.tools`; their session is the agent's.
    Returns: each with the name, description, schema and answers that every agent gets.
    """
    return [
        StructuredTool(
            name=PREFIX + each["name"],
            description=each["description"],
            args_schema=each["input_schema"],
            func=_function(tools, each["name"]),
        )
        for each in tools.anthropic()
    ]


def _function(tools: Tools, name: str) -> Callable[..., str]:
    """A tool as a function; one that LangChain can ask for its annotations."""

    def ask(**arguments: object) -> str:
        return tools.call(name, arguments).text

    return ask
