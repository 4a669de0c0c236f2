"""What help says of every command, and what a shell may complete of it."""

from __future__ import annotations

import re
from collections.abc import Iterator

import click
import pytest
from click.shell_completion import ShellComplete
from program import Ask

from orgctx.surfaces.cli import cli
from orgctx.surfaces.tools import tools_of


def contexts(command: click.Command, above: click.Context | None = None) -> Iterator[click.Context]:
    """A command and those below it, each as it is called, on a terminal of 80 columns."""
    name = command.name if above else "orgctx"
    context = command.make_context(name, [], above, resilient_parsing=True, terminal_width=80)
    yield context
    if isinstance(command, click.Group):
        for each in command.list_commands(context):
            found = command.get_command(context, each)
            assert found
            yield from contexts(found, context)


ALL = {context.command_path: context for context in contexts(cli)}
"""Every command, by what it is called."""


def completed(*words: str) -> list[tuple[str, str]]:
    """What a shell is offered behind some words: the kind and the text, the last word begun."""
    shell = ShellComplete(cli, {}, "orgctx", "_ORGCTX_COMPLETE")
    found = shell.get_completions([*words[:-1]], words[-1])
    return [(each.type, each.value) for each in found]


@pytest.mark.parametrize("name", ALL)
def test_help_is_whole_in_80_columns(name: str) -> None:
    lines = ALL[name].get_help().split("\n")
    usage, *rest = lines
    assert usage.startswith(f"Usage: {name} ")
    assert max(map(len, lines)) <= 80
    assert not [line for line in rest if line.endswith("...")]
    assert not [line for line in rest if re.search(r"\[default: (\"\"|None|False|)\]", line)]


@pytest.mark.parametrize("name", ALL)
def test_what_is_a_file_or_a_folder_is_completed_as_one(name: str) -> None:
    context = ALL[name]
    for each in context.command.params:
        metavar = each.make_metavar(context)
        for pattern, kinds in (("FILE|PATH|ADDRESS", {"file"}), ("DIR|ROOT", {"dir"})):
            if re.fullmatch(rf"\W*({pattern})\b.*", metavar) and ":PATH" not in metavar:
                assert {item.type for item in each.shell_complete(context, "x")} == kinds, each.name


def test_the_tools_of_an_agent_are_completed() -> None:
    assert completed("tool", "") == [("plain", each.name) for each in tools_of(is_writing=True)]
    assert completed("tool", "foc") == [("plain", "focus")]


@pytest.mark.parametrize("wrong", ["--html", "--explain=1", "--nosuch", "--lens=x"])
def test_what_is_called_wrongly_names_the_help_that_helps(ask: Ask, wrong: str) -> None:
    answer = ask("focus", "a.org", wrong)
    assert (answer.status, answer.out) == (2, "")
    assert answer.err.endswith("; see orgctx focus --help\n")
    assert ask("--nosuch").err.endswith("; see orgctx --help\n")


@pytest.mark.parametrize("words", [("nosuch", ""), ("focsu", "--le"), ("work", "nosuch", "")])
def test_a_shell_that_completes_is_told_nothing_of_an_error(
    words: tuple[str, ...], capfd: pytest.CaptureFixture[str]
) -> None:
    assert all(kind == "plain" for kind, _ in completed(*words))
    assert capfd.readouterr() == ("", "")
