"""The arguments of a tool: one description is its JSON schema and what a call is checked by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ..errors import BadArgument


class Parameter(NamedTuple):
    """An argument. What its schema does not say is told when it is wrong: manifests are dear.

    kind: "string", "integer", "boolean" or "strings". about: "" where the name says it.
    choices: the only values of a string. least, most: of an integer; 0: there is no most.
    """

    kind: str
    about: str = ""
    choices: Sequence[str] = ()
    least: int = 1
    most: int = 0
    is_required: bool = False

    @property
    def schema(self) -> dict[str, Any]:
        """As JSON Schema."""
        schema: dict[str, Any] = {"type": "array" if self.kind == "strings" else self.kind}
        if self.kind == "strings":
            schema["items"] = {"type": "string"}
        if self.choices:
            schema["enum"] = list(self.choices)
        if self.about:
            schema["description"] = self.about
        return schema

    def checked(self, name: str, value: Any) -> Any:
        """The value, if it is one. Raises: BadArgument."""
        if self.kind == "strings" and isinstance(value, list):
            if all(map(_is_text, value)):
                return value
        elif self.kind == "string" and _is_text(value):
            return self._chosen(name, value)
        elif self.kind == "integer" and _is_whole(value):
            return self._bounded(name, int(value))
        elif self.kind == "boolean" and isinstance(value, bool):
            return value
        wanted = {"strings": "a list of texts", "string": "a text", "integer": "a whole number"}
        raise BadArgument(f"{name}: give {wanted.get(self.kind, 'true or false')}", where=name)

    def _chosen(self, name: str, value: str) -> str:
        if self.choices and value not in self.choices:
            raise BadArgument(f"{name}: give {' or '.join(self.choices)}", where=name)
        return value

    def _bounded(self, name: str, value: int) -> int:
        if value < self.least or (self.most and value > self.most):
            most = f"to {self.most}" if self.most else "up"
            what = f"{name}: give a whole number from {self.least} {most}"
            raise BadArgument(what, where=name)
        return value


def _is_text(value: Any) -> bool:
    """Whether it is text that the system can write, as the arguments of a program are."""
    try:
        return isinstance(value, str) and value.encode("utf-8", "surrogateescape") is not None
    except UnicodeEncodeError:  # half of a character
        return False


def _is_whole(value: Any) -> bool:
    if isinstance(value, float):
        return value.is_integer()
    return isinstance(value, int) and not isinstance(value, bool)


def schema_of(parameters: Mapping[str, Parameter]) -> dict[str, Any]:
    """The JSON schema of all of them."""
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {name: each.schema for name, each in parameters.items()},
    }
    required = [name for name, each in parameters.items() if each.is_required]
    return {**schema, "required": required} if required else schema


def checked(parameters: Mapping[str, Parameter], arguments: object) -> dict[str, Any]:
    """The arguments of a call; one that is null is not given.

    Raises: BadArgument, which names the one that is unknown, missing, or of the wrong kind.
    """
    if not isinstance(arguments, Mapping):
        raise BadArgument("arguments: give an object", where="arguments")
    for name in arguments:
        if name not in parameters:
            there = f"the arguments are {', '.join(parameters)}" if parameters else "it takes none"
            raise BadArgument(f"{name}: no such argument", there, str(name))
    given = {name: value for name, value in arguments.items() if value is not None}
    for name, each in parameters.items():
        if each.is_required and name not in given:
            raise BadArgument(f"{name}: not given", f"give {name}", name)
    return {name: parameters[name].checked(name, value) for name, value in given.items()}
