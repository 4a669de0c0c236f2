"""The commands that find the way, as a shell sees them: the calls they print can be run."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from orgctx import open_memex
from orgctx.surfaces import cli

NOTES = {
    "a.org": "#+title: A\n* One :x:\ntext\n* Two :x:\n" + "todo\n" * 9 + "* Three :x:\n",
    "sub/-b.org": "* Four :x:\n* Five :x:\n",
}


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for path, text in NOTES.items():
        (tmp_path / "notes" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "notes" / path).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ORGCTX_ROOT", raising=False)
    return tmp_path / "notes"


def ask(capfd: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, str, str]:
    status = cli.run([*map(str, arguments)])
    return (status, *capfd.readouterr())


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
def test_every_page_of_a_search_is_one_call_away(root, capfd, asked):
    whole = ask(capfd, "grep", *asked, "--root", "notes")[1]
    heads = [line for line in whole.split("\n") if line and line[0] not in " …"]
    found, call = [], ["grep", *asked, "--root", "notes", "--limit", "1"]
    while call:
        status, out, err = ask(capfd, *call)
        assert (status, err) == (0, "")
        lines = out.split("\n")[:-1]
        found += [line for line in lines if line[0] not in " …"]
        rest = re.search(r" more \w+: orgctx (.+)$", lines[-1])
        call = shlex.split(rest[1]) if rest else []
    assert list(dict.fromkeys(found)) == heads
    assert len(heads) > 1


def test_nothing_to_look_for_is_refused(root, capfd):
    for arguments in ((), ("",), ("", "sub")):
        status, out, err = ask(capfd, "grep", *arguments, "--root", "notes")
        assert (status, out) == (2, "")
        assert "give a text, or a filter such as --tag" in err


def test_what_is_advised_would_help(root, capfd):
    assert "ignore-case" not in ask(capfd, "grep", "--tag", "none", "--root", "notes")[2]
    assert "ignore-case" in ask(capfd, "grep", "nowhere", "--root", "notes")[2]
    err = ask(capfd, "grep", "nowhere", "--ignore-case", "--root", "notes")[2]
    assert "ignore-case" not in err


def test_a_misspelt_command_is_told_with_the_nearest(root, capfd):
    assert ask(capfd, "gerp", "x") == (
        2,
        "",
        "orgctx: no such command: gerp; did you mean grep?; see orgctx --help\n",
    )
    assert ask(capfd, "ls", "-q")[2] == "orgctx: No such option '-q'; see orgctx ls --help\n"


def test_named_roots_are_found_again_by_their_names(tmp_path, root, capfd, monkeypatch):
    mine = tmp_path / "config" / "orgctx" / "orgctx.toml"
    mine.parent.mkdir(parents=True)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    (tmp_path / "other").mkdir()
    mine.write_text(f'[roots]\nmain = "{root}"\nmore = "{tmp_path / "other"}"\n')
    assert ask(capfd, "read", "main/a.org::One", "--cites", "c.json")[0] == 0
    monkeypatch.setattr("sys.stdin", open_text(tmp_path / "answer", "As [1:L2] says."))
    assert ask(capfd, "cite", "--cites", "c.json") == (
        0,
        "As [[file:main/a.org::2][One, line 2]] says.",
        "",
    )


def open_text(path: Path, text: str):
    path.write_text(text)
    return path.open()


def test_what_org_takes_literally_is_left_alone(tmp_path, root, capfd, monkeypatch):
    ask(capfd, "read", "a.org::One", "--root", "notes", "--cites", "c.json")
    answer = ": fixed [1:L2]\n  :\n:no [1:L2]\n: [1:L9999]"
    monkeypatch.setattr("sys.stdin", open_text(tmp_path / "answer", answer))
    status, out, err = ask(capfd, "cite", "--cites", "c.json")
    assert (status, err) == (0, "")
    assert out == answer.replace(":no [1:L2]", ":no [[file:a.org::2][One, line 2]]")


def test_a_registry_that_cannot_be_written_is_called_by_its_name(root, capfd):
    status, out, err = ask(
        capfd, "read", "a.org::One", "--root", "notes", "--cites", "nowhere/c.json"
    )
    assert (status, out) == (1, "")
    assert err.rstrip().endswith("nowhere/c.json")


@pytest.mark.parametrize("tag", ["hush", ":hush:", "hush:"])
def test_a_private_tag_may_be_written_with_its_colons(root, tag):
    (root / "orgctx.toml").write_text(f'private_tags = ["{tag}"]\n')
    (root / "s.org").write_text("* Secret :hush:\n* Open\n")
    assert [each.title for each in open_memex(root).grep("e", "s.org").entries] == ["Open"]


def test_settings_that_do_not_count_are_reported(root, capfd):
    (root / "sub" / "orgctx.toml").write_text('private_tags = ["x"]\n')
    out = ask(capfd, "sync", "notes")[1]
    assert "1 problem" in out
    assert "sub/orgctx.toml: settings that do not count: they are not in the root" in out
    assert "settings that do not count" in ask(capfd, "status", "notes")[1]


def test_a_sync_counts_the_problems_that_status_lists(root, capfd):
    (root / "p.org").write_text("* P\ntext\n:PROPERTIES:\n:ID: 1\n:END:\n")
    assert "1 problem (see orgctx status)\n" in ask(capfd, "sync", "notes")[1]
    assert "1 problem\n" in ask(capfd, "status", "notes")[1]
