"""README.org is true: its commands are run and their output is what it shows.

usage: python tests/test_readme.py    runs them and writes the output into README.org
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest

import orgctx
from orgctx.surfaces.cli import COMMANDS, cli

ROOT = Path(__file__).parent.parent
README = ROOT / "README.org"
BLOCK = re.compile(
    r"^(#\+begin_src (?P<language>sh|python)(?P<header>[^\n]*)\n(?P<code>.*?)^#\+end_src\n)"
    r"(?P<results>\n#\+RESULTS:\n(?:#\+begin_example\n.*?^#\+end_example\n|(?:: [^\n]*\n|:\n)*))?",
    re.DOTALL | re.MULTILINE,
)
SETUP = "bash .ci/setup && "


def output_of(block: re.Match[str]) -> str:
    """What the block prints, standard error included; setting up is left to .ci/run."""
    if block["language"] == "python":
        command = [sys.executable, "-c", block["code"]]
    else:
        command = ["bash", "-c", block["code"].replace(SETUP, "").replace(".venv/bin/", "")]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "COLUMNS": "100", "NO_COLOR": "1"}
    environment.pop("ORGCTX_ROOT", None)
    ran = subprocess.run(
        command,
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    return ran.stdout.decode()


def shown(output: str) -> str:
    """The output as an Org example, its lines escaped where Org wants it."""
    escaped = re.sub(r"^(,*)(\*|#\+)", r",\1\2", output, flags=re.MULTILINE)
    return f"\n#+RESULTS:\n#+begin_example\n{escaped}#+end_example\n"


def rewritten(text: str) -> str:
    def run(block: re.Match[str]) -> str:
        return block[1] + shown(output_of(block)) if block["results"] else block[0]

    return BLOCK.sub(run, text)


def test_what_is_shown_is_what_happens():
    text = README.read_text(encoding="utf-8")
    assert rewritten(text) == text


def test_no_output_is_empty_or_of_a_fault():
    for block in BLOCK.finditer(README.read_text(encoding="utf-8")):
        results = block["results"] or "something"
        assert "this is a bug" not in results, block["code"]
        assert "Traceback" not in results, block["code"]
        assert results.count("\n") != shown("").count("\n"), block["code"]


def test_every_command_is_run_or_says_that_it_is_not():
    for block in BLOCK.finditer(README.read_text(encoding="utf-8")):
        assert block["results"] or ":eval no" in block["header"], block["code"]


def test_every_command_and_option_is_described():
    text = README.read_text(encoding="utf-8")
    for name, command in commands().items():
        assert f"orgctx {name}" in text
        for parameter in command.params:
            for option in parameter.opts if parameter.param_type_name == "option" else ():
                assert option in text, f"{option} of {name}"


def commands() -> dict[str, click.Command]:
    """All commands by what one types, those of a group too."""
    found = {name: cli.get_command(None, name) for name in COMMANDS}
    groups = {name: each for name, each in found.items() if isinstance(each, click.Group)}
    below = {f"{name} {n}": c for name, group in groups.items() for n, c in group.commands.items()}
    return found | below


EXAMPLE = re.compile(r"^  Example:\n    (orgctx (.*))\n", re.MULTILINE)


@pytest.mark.parametrize("name", commands())
def test_help_is_whole_and_its_example_can_be_run(name):
    """Usage, what it does, an example that parses, and what each option is for."""
    command = commands()[name]
    usual = {"help_option_names": ["-h", "--help"]}
    with click.Context(command, info_name=f"orgctx {name}", **usual) as context:
        text = command.get_help(context)
    example = EXAMPLE.search(text)
    words = re.split(r" (?:<|>>) ", example[2])[0]
    assert words.startswith(name)
    arguments = shlex.split(words)[len(name.split()) :]
    with command.make_context(name, arguments, **usual) as parsed:
        assert parsed.command is command
    for parameter in command.params:
        assert parameter.param_type_name == "argument" or parameter.help, parameter


def test_the_changelog_is_that_of_this_version():
    text = README.read_text(encoding="utf-8").partition("* Changelog\n")[2]
    assert re.search(r"^\*\* (\S+)$", text, re.MULTILINE)[1] == orgctx.__version__


if __name__ == "__main__":
    README.write_text(rewritten(README.read_text(encoding="utf-8")), encoding="utf-8")
