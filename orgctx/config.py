"""Settings: `orgctx.toml` in a root or in the user's configuration folder.

A root's own file says what holds for that root; the user's file names roots and says what holds for
all. A wrong key or value is an error with file and line, never ignored.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from itertools import takewhile
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from .errors import BadConfig
from .ranks import Collection, collections_fault, profiles_fault, read_collections
from .tokens import ENCODINGS

if TYPE_CHECKING:
    from .core.model import Node

NAME = "orgctx.toml"


class Active(NamedTuple):
    """What makes an entry active: any of these.

    tags: its own or inherited ones. properties: names of its own, or NAME=VALUE.
    keywords: TODO keywords; None for each that is open in its file.
    """

    tags: tuple[str, ...] = ()
    properties: tuple[str, ...] = ()
    keywords: tuple[str, ...] | None = None

    def holds(self, node: Node) -> bool:
        """Whether a node is active; what is commented out is not."""
        open_ones = node.tree.todos if self.keywords is None else self.keywords
        is_tagged = bool(self.tags) and not set(self.tags).isdisjoint(node.inherited_tags)
        has_property = any(self._has(node, wanted) for wanted in self.properties)
        is_active = node.todo in open_ones or is_tagged or has_property
        return is_active and not node.is_in_comment

    @staticmethod
    def _has(node: Node, wanted: str) -> bool:
        name, is_pair, value = wanted.partition("=")
        found = node.get_property(name)
        return found is not None and (not is_pair or found == value)


class Summaries(NamedTuple):
    """The model that writes what folders are about.

    base_url: of a server that speaks OpenAI's protocol; None: the one that the SDK takes.
    api_key_env: the environment variable that holds the key; "": no key is sent.
    timeout: seconds, for each answer. input_tokens: the most that a request may hold.
    """

    model: str
    base_url: str | None = None
    api_key_env: str = "OPENAI_API_KEY"
    timeout: float = 20
    input_tokens: int = 2000


class Config(NamedTuple):
    """What may be set. None: not set.

    roots: name -> folder, in the user's file only.
    ignore: patterns of paths that are no notes, relative to the root; `*` and `?` do not match a
        slash, `**` does; a pattern without a slash is of a name at any depth.
    private_tags: nodes with one of these tags, inherited ones too, are absent from every answer.
    budget: int > 0. encoding: one of tokens.ENCODINGS.
    active: what an overview shows first.
    summaries: who writes what folders are about. Which key is sent, only the user's file says: to a
        server that a root's own file names, none is.
    semantic: whether a question's hits are ordered by what they mean, too.
    collections: of this file alone; paths are relative to the root, in the user's file to the
        memex. profiles: name -> collection's name -> tier.
    """

    roots: Mapping[str, str] = MappingProxyType({})
    ignore: tuple[str, ...] = ()
    private_tags: frozenset[str] = frozenset()
    budget: int | None = None
    encoding: str | None = None
    active: Active | None = None
    summaries: Summaries | None = None
    semantic: bool | None = None
    collections: tuple[Collection, ...] = ()
    profiles: Mapping[str, Mapping[str, int]] = MappingProxyType({})

    def over(self, other: Config) -> Config:
        """This configuration where it says something, else the other; patterns and tags add up."""
        return Config(
            roots=self.roots or other.roots,
            ignore=(*other.ignore, *self.ignore),
            private_tags=self.private_tags | other.private_tags,
            budget=self.budget or other.budget,
            encoding=self.encoding or other.encoding,
            active=self.active or other.active,
            summaries=self.summaries or other.summaries,
            semantic=other.semantic if self.semantic is None else self.semantic,
            collections=self.collections,
            profiles={**other.profiles, **self.profiles},
        )


def load(file: Path, is_users: bool = False) -> Config:
    """Read a configuration file.

    file: need not exist. is_users: whether it may name roots.
    Returns: Config; an empty one if there is no file.
    Raises: BadConfig with the file's line.
    """
    try:
        if not file.is_file() and file.exists():
            raise BadConfig(f"{file}: not a file", "mend it, or move it away", str(file))
        text = file.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return Config()
    except (OSError, UnicodeDecodeError) as error:
        raise BadConfig(f"{file}: {error}", "mend it, or move it away", str(file)) from error
    data = _parsed(file, text)
    known = set(Config._fields) - (set() if is_users else {"roots"})
    for key, value in data.items():
        if key == "roots" and not is_users:
            raise _bad(file, text, key, "in your own file only", f"say it in {users_file()}")
        if key not in known:
            hint = f"the keys are {', '.join(sorted(known))}"
            raise _bad(file, text, key, "there is no such key", hint)
        if fault := _CHECKS[key](value):
            raise _bad(file, text, key, fault, "see README.org, Ten thousand files")
    if not is_users and (table := data.get("summaries")):
        if "api_key_env" in table:
            hint = f"say it in {users_file()}"
            raise _bad(file, text, "api_key_env", "in your own file only", hint)
        data["summaries"] = {**table, **({"api_key_env": ""} if "base_url" in table else {})}
    return Config(**{key: _value(key, value, str(file)) for key, value in data.items()})


def _parsed(file: Path, text: str) -> dict[str, Any]:
    import tomllib  # only where there is something to read

    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # a number that is too long is no TOML fault
        raise BadConfig(f"{file}: {error}", "mend it, or move it away", str(file)) from error


def users_file() -> Path:
    """Where the user's configuration is, whether it is there or not."""
    from platformdirs import user_config_path  # only who looks for it pays

    return user_config_path("orgctx") / NAME


def _bad(file: Path, text: str, key: str, fault: str, hint: str) -> BadConfig:
    pattern = re.compile(rf"[ \t]*(?:\[+)?[ \t]*[\"']?{re.escape(key)}\b")
    lines = text.split("\n")
    line = next((number for number, line in enumerate(lines, 1) if pattern.match(line)), 1)
    within = takewhile(lambda row: not row[1].lstrip().startswith("["), enumerate(lines[line:], 1))
    below = fault.partition(":")[0]  # the key of a table that is at fault, if it is named
    line += next((n for n, each in within if each.partition("=")[0].strip("\"' \t") == below), 0)
    return BadConfig(f"{file}:{line}: {key}: {fault}", hint, f"{file}:{line}")


def _value(key: str, value: Any, file: str) -> Any:
    if key == "collections":
        return read_collections(value, file)
    if key == "ignore":
        return tuple(value)
    if key == "active":
        return Active(**{"keywords": (), **{name: tuple(each) for name, each in value.items()}})
    if key == "summaries":
        return Summaries(**value)
    return frozenset(tag.strip(":") for tag in value) if key == "private_tags" else value


def _is_strings(values: Any) -> bool:
    return isinstance(values, list) and all(isinstance(each, str) and each for each in values)


def _is_budget(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _are_tags(values: Any) -> bool:
    return _is_strings(values) and all(map(re.compile(r":?[\w@#%]+:?").fullmatch, values))


def _is_table(value: Any) -> bool:
    is_table = isinstance(value, dict) and all(isinstance(each, str) for each in value.values())
    return is_table and all(re.fullmatch(r"[^/:]+", name) for name in value)


def _rule_fault(table: Any) -> str:
    if not isinstance(table, dict):
        return "give a table of tags, properties or keywords"
    for name, values in table.items():
        if name not in Active._fields:
            return f"{name}: there is no such key; the keys are {', '.join(Active._fields)}"
        if not _is_strings(values) or any(each.startswith("=") for each in values):
            return f"{name}: give a list of texts"
    return ""


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_between(value: Any, least: float, most: float) -> bool:
    return isinstance(value, int | float) and value is not True and least <= value <= most


_OF_SUMMARIES: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "model": (_is_text, "give a model's name"),
    "base_url": (
        lambda v: _is_text(v) and re.match(r"https?://[^/]", v) is not None,
        "give an address that begins with http:// or https://",
    ),
    "api_key_env": (_is_text, "give the name of an environment variable"),
    "timeout": (lambda v: _is_between(v, 0.01, 3600), "give seconds, from 0.01 to 3600"),
    "input_tokens": (
        lambda v: _is_budget(v) and _is_between(v, 200, 10**6),
        "give a whole number from 200 to 1000000",
    ),
}


def _summaries_fault(table: Any) -> str:
    if not isinstance(table, dict):
        return "give a table with a model"
    for name, value in table.items():
        if name not in _OF_SUMMARIES:
            return f"{name}: there is no such key; the keys are {', '.join(_OF_SUMMARIES)}"
        is_right, fault = _OF_SUMMARIES[name]
        if not is_right(value):
            return f"{name}: {fault}"
    return "" if "model" in table else "give a model"


_CHECKS: Mapping[str, Callable[[Any], str]] = {
    "roots": lambda v: "" if _is_table(v) else "give a table of name = folder, no / or : in a name",
    "ignore": lambda v: "" if _is_strings(v) else "give a list of patterns",
    "private_tags": lambda v: "" if _are_tags(v) else "give a list of tags, letters, digits, _@#%",
    "budget": lambda v: "" if _is_budget(v) else "give a whole number from 1 up",
    "active": _rule_fault,
    "summaries": _summaries_fault,
    "semantic": lambda v: "" if isinstance(v, bool) else "give true or false",
    "collections": collections_fault,
    "profiles": profiles_fault,
    "encoding": lambda v: "" if v in ENCODINGS else f"give one of {', '.join(ENCODINGS)}",
}


def ignorer(patterns: Iterable[str]) -> Callable[[str], bool]:
    """Whether a path, relative to its root, is what one of `patterns` says, or below it."""
    found = re.compile("|".join(_translated(pattern) for pattern in patterns) or r"(?!)")
    return lambda path: found.match(path) is not None


def _translated(pattern: str) -> str:
    prefix = "" if "/" in pattern.rstrip("/") else r"(?:.*/)?"
    pattern = re.sub(r"(\*\*/)+", "**/", pattern.strip("/"))  # more of them say the same, slowly
    parts = re.split(r"(\*\*/?|\*|\?)", pattern)
    known = {"**/": r"(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return prefix + "".join(known.get(part, re.escape(part)) for part in parts) + r"(?:/|\Z)"
