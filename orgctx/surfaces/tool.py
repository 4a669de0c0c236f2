"""A tool: what a model is told of it, and what answers it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from .answers import MOST, Part
from .arguments import Parameter, schema_of


class Tool(NamedTuple):
    """A tool.

    parameters: of its calls. ask: (session, arguments, room) -> what it has to say.
    is_reading: whether it changes nothing.
    """

    name: str
    about: str
    parameters: Mapping[str, Parameter]
    ask: Callable[..., Part]
    is_reading: bool = True

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON schema of its arguments."""
        return schema_of(self.parameters)


def text(about: str = "", is_required: bool = False) -> Parameter:
    """A parameter that is any text."""
    return Parameter("string", about, is_required=is_required)


BUDGET = {"budget": Parameter("integer", most=MOST)}
"""What every tool takes."""
FLAG, WHOLE, TEXTS = Parameter("boolean"), Parameter("integer"), Parameter("strings")
