"""The commands that find the way, as a shell sees them: the calls they print can be run."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path

import pytest
from notes import write
from program import Ask

from orgctx import open_memex

NOTES = {
    "a.org": "#+title: A\n* One :x:\ntext\n* Two :x:\n" + "todo\n" * 9 + "* Three :x:\n",
    "sub/-b.org": "* Four :x:\n* Five :x:\n",
}


@pytest.fixture
def root(home: Path) -> Path:
    """A folder of notes below the current one."""
    return write(home / "notes", NOTES)


@pytest.mark.parametrize(
    "asked",
    [
        ["--tag", "x"],
        ["", "--tag", "x"],
        ["", "sub", "--tag", "x"],
        ["--tag", ":x:"],
        ["o", "--tag", "x"],
        ["o"],
    ],
)
def test_every_page_of_a_search_is_one_call_away(root: Path, ask: Ask, asked: list[str]) -> None:
    whole = ask("grep", *asked, "--root", "notes")[1]
    heads = [line for line in whole.split("\n") if line and line[0] not in " …"]
    found, call = [], ["grep", *asked, "--root", "notes", "--limit", "1"]
    while call:
        status, out, err = ask(*call)
        assert (status, err) == (0, "")
        lines = out.split("\n")[:-1]
        found += [line for line in lines if line[0] not in " …"]
        rest = re.search(r" more \w+: orgctx (.+)$", lines[-1])
        call = shlex.split(rest[1]) if rest else []
    assert list(dict.fromkeys(found)) == heads
    assert len(heads) > 1


def test_nothing_to_look_for_is_refused(root: Path, ask: Ask) -> None:
    for arguments in ((), ("",), ("", "sub")):
        status, out, err = ask("grep", *arguments, "--root", "notes")
        assert (status, out) == (2, "")
        assert "give a text, or a filter such as --tag" in err


def test_what_is_advised_would_help(root: Path, ask: Ask) -> None:
    assert "ignore-case" not in ask("grep", "--tag", "none", "--root", "notes")[2]
    assert "ignore-case" in ask("grep", "nowhere", "--root", "notes")[2]
    err = ask("grep", "nowhere", "--ignore-case", "--root", "notes")[2]
    assert "ignore-case" not in err


def test_a_misspelt_command_is_told_with_the_nearest(root: Path, ask: Ask) -> None:
    assert ask("gerp", "x") == (
        2,
        "",
        "orgctx: no such command: gerp; did you mean grep?; see orgctx --help\n",
    )
    assert ask("ls", "-q")[2] == "orgctx: No such option '-q'; see orgctx ls --help\n"


def test_named_roots_are_found_again_by_their_names(tmp_path: Path, root: Path, ask: Ask) -> None:
    other = tmp_path / "other"
    other.mkdir()
    roots = f'[roots]\nmain = "{root}"\nmore = "{other}"\n'
    write(Path(os.environ["XDG_CONFIG_HOME"]), {"orgctx/orgctx.toml": roots})
    assert ask("read", "main/a.org::One", "--cites", "c.json")[0] == 0
    assert ask("cite", "--cites", "c.json", given="As [1:L2] says.") == (
        0,
        "As [[file:main/a.org::2][One, line 2]] says.",
        "",
    )


def test_what_org_takes_literally_is_left_alone(root: Path, ask: Ask) -> None:
    ask("read", "a.org::One", "--root", "notes", "--cites", "c.json")
    answer = ": fixed [1:L2]\n  :\n:no [1:L2]\n: [1:L9999]"
    status, out, err = ask("cite", "--cites", "c.json", given=answer)
    assert (status, err) == (0, "")
    assert out == answer.replace(":no [1:L2]", ":no [[file:a.org::2][One, line 2]]")


def test_a_registry_that_cannot_be_written_is_called_by_its_name(root: Path, ask: Ask) -> None:
    status, out, err = ask("read", "a.org::One", "--root", "notes", "--cites", "nowhere/c.json")
    assert (status, out) == (1, "")
    assert "nowhere/c.json: No such file or directory" in err


@pytest.mark.parametrize("tag", ["hush", ":hush:", "hush:"])
def test_a_private_tag_may_be_written_with_its_colons(root: Path, tag: str) -> None:
    write(
        root, {"orgctx.toml": f'private_tags = ["{tag}"]\n', "s.org": "* Secret :hush:\n* Open\n"}
    )
    assert [each.title for each in open_memex(root).grep("e", "s.org").entries] == ["Open"]


def test_settings_that_do_not_count_are_reported(root: Path, ask: Ask) -> None:
    write(root, {"sub/orgctx.toml": 'private_tags = ["x"]\n'})
    out = ask("sync", "notes")[1]
    assert "1 problem" in out
    assert "sub/orgctx.toml: settings that do not count: they are not in the root" in out
    assert "settings that do not count" in ask("status", "notes")[1]


def test_a_sync_counts_the_problems_that_status_lists(root: Path, ask: Ask) -> None:
    write(root, {"p.org": "* P\ntext\n:PROPERTIES:\n:ID: 1\n:END:\n"})
    assert "1 problem (see orgctx status)\n" in ask("sync", "notes")[1]
    assert "1 problem\n" in ask("status", "notes")[1]
