"""The command line: Org or JSON on stdout, one line on stderr, and an exit status that tells."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from unicodedata import category

import pytest
from notes import write
from program import PROGRAM, Answer, Ask, as_json, on_terminal, script

import orgctx
from orgctx import open_memex
from orgctx.surfaces import output
from orgctx.tokens import count
from orgctx.views import focus as focusing

HERE = Path()

NOTES = """\
#+title: Garden
#+todo: TODO WAIT | DONE

* House
** Roof
* Garden :outdoor:
:PROPERTIES:
:ID: 5f0c9a1e-1000-4000-8000-000000000001
:END:
What grows behind the house.
** TODO [#A] Beds :dig:
SCHEDULED: <2024-03-01 Fri +1w>
:PROPERTIES:
:ID: 5f0c9a1e-2000-4000-8000-000000000002
:Effort: 1:00
:END:
:LOGBOOK:
CLOCK: [2024-02-01 Thu 09:00]--[2024-02-01 Thu 10:00] =>  1:00
:END:
Dig them over, 挖地.
*** Tulips
*** Asters
** WAIT Paths
** Fence
* Journal
** Monday
"""


@pytest.fixture
def ask(home: Path, ask: Ask) -> Ask:
    """Run the program in a folder with NOTES in it."""
    write(home, {"garden.org": NOTES})
    return ask


def check_complaint(answer: Answer, status: int) -> None:
    """What every refusal has in common."""
    assert answer.status == status
    assert answer.out == ""
    assert re.fullmatch(r"orgctx: [^\n]+; [^\n]+\n", answer.err), answer.err
    assert not {category(char) for char in answer.err[:-1]} & {"Cc", "Cs"}
    assert "Traceback" not in answer.err


# --- focus ---------------------------------------------------------------------------------------

OPTIONS: list[dict[str, Any]] = [
    {},
    {"budget": 150},
    {"budget": 10**12},
    {"budget": 400, "unit": "chars"},
    {"budget": 150, "encoding": "cl100k_base"},
    {"lens": "foveal", "ids": "short"},
    {"ids": "none"},
    {"background": 0},
    {"background": 1},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_focus_prints_exactly_the_views_text(ask: Ask, options: dict[str, Any]) -> None:
    flags = [word for name, value in options.items() for word in (f"--{name}", str(value))]
    view = open_memex("garden.org").focus("garden.org::*Beds", **options)
    assert ask("focus", "garden.org::*Beds", *flags) == (0, view.text, "")


def test_the_defaults_are_the_documented_ones(ask: Ask) -> None:
    defaults = "--budget 4000 --unit tokens --encoding o200k_base --lens foveal --ids full"
    more = "--background 24 --format org"
    plain = ask("focus", "garden.org:10")
    assert ask("focus", "garden.org:10", *defaults.split(), *more.split()) == plain


@pytest.mark.parametrize(
    "flags",
    ["--budget 150", "--budget 400 --unit chars", "--ids none", "--ids short", "--background 0"],
)
def test_each_option_changes_the_answer(ask: Ask, flags: str) -> None:
    plain, changed = (ask("focus", "garden.org::*Beds", *more) for more in ([], flags.split()))
    assert changed.status == plain.status == 0
    assert changed.out != plain.out


def test_an_id_that_is_shortened_still_leads_to_its_node(ask: Ask) -> None:
    text = ask("focus", "garden.org::*Beds", "--ids", "short").out
    assert re.findall(":ID: (.*)", text) == ["5f0c9a1e-1", "5f0c9a1e-2000-4000-8000-000000000002"]
    assert "What grows" in ask("focus", "5f0c9a1e-1", "--root", ".").out


def test_tokens_are_counted_in_the_encoding_that_is_named(ask: Ask) -> None:
    flags = ("--format", "json", "--encoding", "cl100k_base")
    data = as_json(ask("focus", "garden.org", *flags))
    assert data["tokens"] == count(data["text"], "cl100k_base") != count(data["text"])


def test_inline_tasks_are_text_where_that_is_asked_for(ask: Ask) -> None:
    focus = ("focus", "garden.org::*Beds", "--format", "json")
    assert len(as_json(ask(*focus, "--inlinetask-min-level", "3"))["shown"]) == (
        len(as_json(ask(*focus))["shown"]) - 2
    )


@pytest.mark.parametrize("content", [b"* A\r\nx\r\n* B\r\n", b"* A\nx\r\n* B", b"\xef\xbb\xbf* A"])
def test_line_ends_and_bytes_go_out_as_they_are_in_the_view(ask: Ask, content: bytes) -> None:
    write(HERE, {"a.org": content})
    view = open_memex("a.org").focus("a.org:1")
    answer = ask("focus", "a.org:1")
    assert answer.out == view.text
    assert ("\r\n" in answer.out) == (content.count(b"\r\n") == content.count(b"\n") > 0)


def test_a_file_in_another_encoding_goes_out_as_utf8(ask: Ask) -> None:
    write(HERE, {"a.org": "# -*- coding: latin-1 -*-\n* café\n".encode("latin-1")})
    assert "* café\n" in ask("focus", "a.org").out


@pytest.mark.parametrize(
    "address",
    [
        *["garden.org:10", "garden.org::*Garden", "garden.org::Garden", "./garden.org:10"],
        *["~/garden.org:10", "~/garden.org::*garden"],
    ],
)
def test_the_addresss_own_file_needs_no_root(ask: Ask, address: str) -> None:
    answer = ask("focus", address)
    assert answer.status == 0
    assert "What grows" in answer.out


def test_an_id_needs_a_root(ask: Ask) -> None:
    check_complaint(ask("focus", "id:5f0c9a1e-2000-4000-8000-000000000002"), 1)
    assert "--root" in ask("focus", "id:5f0c9a").err
    for address in ("id:5f0c9a1e-2000-4000-8000-000000000002", "#none"):
        assert (ask("focus", address, "--root", ".").status == 0) == address.startswith("id:")


def test_several_roots_are_one_memex(ask: Ask) -> None:
    write(HERE, {"other/b.org": "* B\n:PROPERTIES:\n:ID: abcdef\n:END:\n", "work/c.org": "* C\n"})
    roots = ("--root", "other", "--root", "~/work")
    assert "* B" in ask("focus", "abcdef", *roots).out
    assert "* C" in ask("focus", "work/c.org", *roots).out


def test_a_name_like_an_option_is_given_after_two_dashes(ask: Ask) -> None:
    write(HERE, {"-n.org": "* N\n"})
    assert "* N" in ask("focus", "--", "-n.org").out
    check_complaint(ask("focus", "-n.org"), 2)


# --- focus, as JSON ------------------------------------------------------------------------------


def test_json_has_the_documented_fields(ask: Ask) -> None:
    data = as_json(ask("focus", "garden.org::*Beds", "--format", "json", "--budget", "150"))
    view = open_memex("garden.org").focus("garden.org::*Beds", budget=150)
    assert data["text"] == view.text
    assert data["tokens"] == count(view.text) == view.tokens <= 150
    assert (data["budget"], data["unit"], data["encoding"]) == (150, "tokens", "o200k_base")
    shown, omitted = data["shown"], data["omitted"]
    assert {"address", "path", "line", "level", "detail", "tokens"} <= shown[0].keys()
    assert [each["line"] for each in shown] == [each.line for each in view.shown]
    assert sum(each["tokens"] for each in shown) == data["tokens"]
    assert {"address", "headlines", "lines"} <= omitted[0].keys()
    assert [each["headlines"] for each in omitted] == [each.headlines for each in view.omitted]
    assert data["problems"] == []
    assert {each["path"] for each in shown} == {"garden.org"}


def test_json_tells_what_orgparse_knows_of_the_target(ask: Ask) -> None:
    target = as_json(ask("focus", "garden.org::*Beds", "--format", "json"))["targets"][0]
    assert target["address"] == "id:5f0c9a1e-2000-4000-8000-000000000002"
    assert (target["path"], target["line"], target["level"]) == ("garden.org", 11, 2)
    assert (target["todo"], target["priority"], target["tags"]) == ("TODO", "A", ["dig"])
    assert target["inherited_tags"] == ["outdoor", "dig"]
    assert target["scheduled"]["start"] == "2024-03-01"
    assert target["scheduled"]["repeater"] == "+1w"
    assert target["deadline"] is None
    assert [clock["end"] for clock in target["clocks"]] == ["2024-02-01T10:00:00"]
    assert target["properties"]["Effort"] == "1:00"


def test_json_names_the_problems_of_the_file(ask: Ask) -> None:
    write(HERE, {"a.org": "* A\nSCHEDULED: <2024-13-45 Mon>\n* B\n:PROPERTIES: stray\n:END:\n"})
    problems = as_json(ask("focus", "a.org:1", "--format", "json"))["problems"]
    assert [(each["path"], each["line"]) for each in problems] == [("a.org", 2), ("a.org", 4)]


def test_json_holds_any_text_on_one_line(ask: Ask) -> None:
    text = '* say "x"]] \\ \x00 \x1b \u2028 \ud83d\ude80\n'.encode("utf-16", "surrogatepass")
    write(HERE, {"a.org": text.decode("utf-16")})
    answer = ask("focus", "a.org", "--format", "json")
    assert as_json(answer)["text"].split("\n")[1:] == text.decode("utf-16").split("\n")
    assert not re.search(r"[\x00-\x09\x0b-\x1f]", answer.out)


def test_json_counts_characters_without_an_encoding(ask: Ask) -> None:
    data = as_json(ask("focus", "garden.org", "--unit", "chars", "--format", "json"))
    assert (data["unit"], data["encoding"], data["tokens"]) == ("chars", None, len(data["text"]))


FACTS = ("scheduled", "deadline", "closed", "timestamps", "clocks", "repeats", "properties")


def facts_entry() -> str:
    clocks = "CLOCK: [2024-01-01 Mon 09:00]--[2024-01-01 Mon 10:00] =>  1:00\n" * 60
    properties = "".join(f":KEY_{number}: value of it\n" for number in range(60))
    drawers = f":PROPERTIES:\n{properties}:END:\n:LOGBOOK:\n{clocks}:END:\n"
    return f"* A\nDEADLINE: <2024-01-01 Mon>\n{drawers}" + "<2024-02-02 Fri>\n" * 60


@pytest.mark.parametrize("budget", [14, 30, 60, 200, 1000, 3000, 10_000])
def test_what_is_known_of_the_target_costs_at_most_the_budget_again(ask: Ask, budget: int) -> None:
    write(HERE, {"a.org": facts_entry()})
    flags = ("--format", "json", "--budget", str(budget))
    target = as_json(ask("focus", "a.org:1", *flags))["targets"][0]
    facts = {name: target[name] for name in FACTS if target.get(name)}
    assert count(json.dumps(facts, ensure_ascii=False)) <= max(budget, count("{}"))
    whole = {"deadline", "timestamps", "clocks", "properties"}
    assert set(facts) | set(target["left_out"]) == whole
    assert not set(facts) & set(target["left_out"])
    assert target["left_out"].get("clocks", 60) == 60
    assert bool(facts) == (budget > 14)
    assert bool(target["left_out"]) == (budget < 10_000)


# --- focus, with a report ------------------------------------------------------------------------


def test_the_report_goes_to_stderr_alone(ask: Ask) -> None:
    flags = ("garden.org::*Beds", "--budget", "150")
    plain, reported = ask("focus", *flags), ask("focus", *flags, "--report")
    assert reported.out == plain.out
    view = open_memex("garden.org").focus("garden.org::*Beds", budget=150)
    assert f"{view.tokens} of 150 tokens" in reported.err
    for each in view.shown:
        title = each.node.title or each.path
        why = f"{each.relation} {each.interest:.1f}"
        line = rf"{re.escape(title)}  {each.detail} {why}, {each.tokens} tokens"
        assert re.search(line, reported.err)
    assert reported.err.count(" omitted\n") == len(view.omitted) > 0
    assert "\x1b" not in reported.err


def test_a_refusal_has_no_report(ask: Ask) -> None:
    check_complaint(ask("focus", "garden.org::*Beds", "--budget", "1", "--report"), 3)


def test_the_report_shows_titles_whole(ask: Ask) -> None:
    write(HERE, {"a.org": f"* {'long title ' * 30}end\n** [bold]not markup[/bold] :smile:\n"})
    answer = ask("focus", "a.org:1", "--report")
    assert f"{'long title ' * 30}end  full target 20.0" in answer.err
    assert "[bold]not markup[/bold]" in answer.err


def test_no_title_steers_the_report(ask: Ask) -> None:
    """Neither by a control character nor by one that turns the way in which others are read."""
    write(HERE, {"a.org": "* x\u202ey \u2028 \x1b[2J\n"})
    assert r"x\u202ey \u2028 \u001b[2J" in ask("focus", "a.org:1", "--report").err


def test_the_report_of_many_levels_shows_each(ask: Ask) -> None:
    write(HERE, {"deep.org": "".join(f"{'*' * level} level {level}\n" for level in range(1, 151))})
    answer = ask("focus", "deep.org:150", "--report")
    assert answer.status == 0
    assert answer.err.count("\n") == 152


# --- The budget ----------------------------------------------------------------------------------


@pytest.mark.parametrize("encoding", ["o200k_base", "cl100k_base"])
@pytest.mark.parametrize("address", ["garden.org", "garden.org::*Beds", "garden.org::*Asters"])
def test_a_budget_holds_from_the_smallest_that_works(ask: Ask, address: str, encoding: str) -> None:
    flags = ("focus", address, "--encoding", encoding, "--budget")
    refusal = ask(*flags, "1")
    check_complaint(refusal, 3)
    needed = int(re.search(r"give a budget of (\d+) or more", refusal.err)[1])
    assert ask(*flags, str(needed - 1)).status == 3
    assert f"{needed} or more" in ask(*flags, str(needed - 1)).err
    before = ""
    for budget in range(needed, needed + 60):
        answer = ask(*flags, str(budget))
        assert (answer.status, answer.err) == (0, "")
        assert count(answer.out, encoding) <= budget
        assert answer.out.count("\n* ") >= before.count("\n* ")
        before = answer.out


def test_a_budget_in_characters_holds(ask: Ask) -> None:
    flags = ("focus", "garden.org::*Beds", "--unit", "chars", "--budget")
    needed = int(re.search(r"budget of (\d+) or more", ask(*flags, "1").err)[1])
    for budget in (needed, needed + 1, needed + 100):
        assert len(ask(*flags, str(budget)).out) <= budget
    check_complaint(ask(*flags, str(needed - 1)), 3)


# --- outline -------------------------------------------------------------------------------------


def test_outline_prints_a_json_object_a_headline(ask: Ask) -> None:
    drawer = ":PROPERTIES:\n:ID: i\n:CUSTOM_ID: c\n:END:\n"
    write(
        HERE,
        {
            "notes/a.org": f"#+title: x\n* TODO [#B] T :a:b:\n{drawer}",
            "notes/sub/b.org": "** 再见\n",
        },
    )
    answer = ask("outline", "notes", "--json")
    assert (answer.status, answer.err) == (0, "")
    assert [json.loads(line) for line in answer.out.split("\n")[:-1]] == [
        {
            **{"f": "notes/a.org", "line": 2, "level": 1, "todo": "TODO", "pri": "B"},
            **{"title": "T", "tags": ["a", "b"], "id": "i", "cid": "c"},
        },
        {
            **{"f": "notes/sub/b.org", "line": 1, "level": 2, "todo": None, "pri": None},
            **{"title": "再见", "tags": [], "id": None, "cid": None},
        },
    ]


def test_outline_names_files_from_the_current_folder(
    ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(HERE, {"notes/a.org": "* A\n"})
    monkeypatch.chdir("notes")
    for path in ("a.org", ".", "../notes", str(Path.cwd()), "~/notes", "./a.org"):
        assert ask("outline", path).out == "a.org:1: * A\n"
    assert ask("outline", "..").out.startswith("../garden.org:4: * House\n")


def test_outline_for_people_shows_place_keyword_priority_and_tags(ask: Ask) -> None:
    assert "garden.org:11: ** TODO [#A] Beds :dig:\n" in ask("outline", "garden.org").out


def test_outline_takes_files_and_folders_and_reads_inline_tasks(ask: Ask) -> None:
    write(HERE, {"sub/b.org": "* B\n*************** inline\n*************** END\n"})
    assert ask("outline", "sub/b.org", "sub").out.count("inline") == 2
    assert ask("outline", "sub", "--inlinetask-min-level", "15").out == "sub/b.org:1: * B\n"


def test_outline_prints_what_it_can_and_says_what_it_cannot(ask: Ask) -> None:
    write(HERE, {"n/a.org": "* A\n", "n/bad.org": b"* caf\xe9\n", "n/z.org": "* Z\n"})
    answer = ask("outline", "n")
    assert answer.status == 1
    assert answer.out == "n/a.org:1: * A\nn/z.org:1: * Z\n"
    assert answer.err.count("\n") == 1
    assert answer.err.count("bad.org") == 1
    assert "not UTF-8" in answer.err
    assert "n/bad.org" in answer.err, "as the headlines name their files"


def test_outline_says_what_it_passed_over_and_succeeds(ask: Ask) -> None:
    write(HERE, {"n/a.org": "* A\n", "n/a.sync-conflict-20240101-101010-AB.org": "* old\n"})
    answer = ask("outline", "n")
    assert (answer.status, answer.out) == (0, "n/a.org:1: * A\n")
    assert answer.err.count("\n") == 1


# --- emacs, help, version ------------------------------------------------------------------------


def test_emacs_prints_the_folder_and_the_init_lines(ask: Ask) -> None:
    answer = script("emacs")
    comment, *lines = answer.out.splitlines()[:4]
    folder = comment.removeprefix(";; ")
    assert (answer.status, answer.err) == (0, "")
    assert Path(folder, "orgctx.el").is_file()
    assert lines[0] == f'(add-to-list \'load-path "{folder}")'
    assert lines[1:] == ["(require 'orgctx)", f'(setq orgctx-program "{PROGRAM}")']
    assert ';; (use-package orgctx :vc (:url "' in answer.out
    assert '" :lisp-dir "orgctx/surfaces/emacs")' in answer.out


def test_emacs_reads_any_path_as_it_is() -> None:
    lines = output.emacs_lines(Path('/a "b" c'), Path("/d\\e"))
    assert '(add-to-list \'load-path "/a \\"b\\" c")' in lines
    assert '(setq orgctx-program "/d\\\\e")' in lines


def test_version_is_the_packages_own(ask: Ask) -> None:
    assert ask("--version") == (0, f"orgctx {orgctx.__version__}\n", "")


DOCUMENTED = {
    (): ("focus", "outline", "emacs", "--version", "Exit status"),
    ("focus",): (
        *["ADDRESS", "--budget", "--unit", "tokens|chars", "--encoding", "--lens", "--ids"],
        *["full|short|none", "--background", "--root", "ORGCTX_ROOT", "--format", "org|json"],
        *["--report", "4000", "o200k_base", "foveal"],
    ),
    ("outline",): ("FILE-OR-FOLDER", "--json"),
    ("emacs",): ("orgctx.el",),
}


@pytest.mark.parametrize("flag", ["-h", "--help"])
@pytest.mark.parametrize(("command", "words"), DOCUMENTED.items())
def test_help_names_every_option(
    ask: Ask, command: tuple[str, ...], words: tuple[str, ...], flag: str
) -> None:
    status, out, err = ask(*command, flag)
    assert (status, err) == (0, "")
    assert [word for word in words if word not in out] == []


def test_without_a_command_there_is_help_and_a_usage_status(ask: Ask) -> None:
    answer = ask()
    assert (answer.status, answer.out) == (2, "")
    assert "focus" in answer.err


# --- Bad input -----------------------------------------------------------------------------------

USAGE: dict[tuple[str, ...], str] = {
    ("focus",): "ADDRESS",
    ("outline",): "FILE-OR-FOLDER",
    ("nonsense",): "nonsense",
    ("--nonsense",): "--nonsense",
    ("focus", "garden.org", "--nonsense"): "--nonsense",
    ("focus", "garden.org", "--budget"): "--budget",
    **{
        ("focus", "garden.org", "--budget", value): "from 1 up"
        for value in ("0", "-1", "abc", "3.5", "", "1e3", "0x10", "nan", "∞", "-" + "9" * 5000)
    },
    ("focus", "garden.org", "--background", "-1"): "from 0 up",
    ("focus", "garden.org", "--inlinetask-min-level", "1"): "from 2 up",
    ("outline", ".", "--inlinetask-min-level", "x"): "from 2 up",
    ("focus", "garden.org", "--unit", "words"): "'tokens', 'chars'",
    ("focus", "garden.org", "--encoding", "utf-8"): "'o200k_base'",
    ("focus", "garden.org", "--encoding", ""): "'o200k_base'",
    ("focus", "garden.org", "--lens", "macro"): "foveal",
    ("focus", "garden.org", "--ids", "some"): "'full', 'short', 'none'",
    ("focus", "garden.org", "--format", "xml"): "'org', 'json'",
    ("emacs", "x"): "x",
}


@pytest.mark.parametrize(("arguments", "says"), USAGE.items(), ids=lambda value: str(value)[:60])
def test_wrong_usage_is_one_line_and_status_2(
    ask: Ask, arguments: tuple[str, ...], says: str
) -> None:
    answer = ask(*arguments)
    check_complaint(answer, 2)
    assert says in answer.err


LONG = "x" * 300
REFUSED: dict[tuple[str, ...], str] = {
    ("focus", "nowhere.org"): "nowhere.org: there is no such file",
    ("focus", "nowhere.org:3"): "nowhere.org: there is no such file",
    ("focus", "/etc/nowhere.org::*A"): "/etc/nowhere.org: there is no such file",
    ("focus", "empty/gardn.org"): "empty/gardn.org: there is no such file",
    ("focus", "gardn.org"): "did you mean garden.org",
    ("focus", "sub/lgo.org"): "did you mean sub/log.org",
    ("focus", "folder.org"): "a folder",
    ("focus", "folder.org::*A"): "a folder",
    ("focus", "."): "a folder",
    ("focus", "fifo.org"): "fifo.org",
    ("focus", "text.txt"): "not an Org file",
    ("focus", "text.txt:1"): "not an Org file",
    ("focus", "latin.org"): "latin.org: not UTF-8 text, from line 2 on",
    ("focus", "latin.org:1"): "coding",
    ("focus", "utf16.org"): "not UTF-8",
    ("focus", "binary.org"): "not UTF-8",
    ("focus", "loop.org"): "loop.org",
    ("focus", "garden.org:0"): "give 1 to",
    ("focus", "garden.org:999"): "give 1 to",
    ("focus", "garden.org::*Bed"): "did you mean garden.org::*Beds",
    ("focus", "garden.org::Garden/Bed"): " garden.org::Garden/Beds",
    ("focus", "garden.org::#none"): "no such node",
    ("focus", "garden.orgs"): "garden.orgs",
    ("focus", ""): "--root",
    ("focus", "abcdef"): "--root",
    ("focus", "id:abcdef"): "--root",
    ("focus", "id:abcdef", "--root", "."): "no such node",
    ("focus", "id:abc", "--root", "."): "6 characters",
    ("focus", "5f0c9a1e", "--root", "."): "names 2 nodes",
    ("focus", "gardn.org", "--root", "."): "did you mean garden.org",
    ("focus", "../x.org", "--root", "."): "outside the roots",
    ("focus", "/etc/passwd", "--root", "."): "outside the roots",
    ("focus", "garden.org", "--root", "nowhere"): "nowhere: there is no such folder",
    ("focus", "garden.org", "--root", "garden.org"): "a file, not a folder",
    ("focus", "garden.org", "--root", ""): "no such folder",
    ("focus", "garden.org", "--root", "empty"): "garden.org",
    ("focus", "x", "--root", "empty"): "x",
    ("outline", "empty"): "no Org files",
    ("outline", "nowhere"): "no such file",
    ("outline", "text.txt"): "not an Org file",
    ("outline", "garden.org", "nowhere"): "no such file",
    ("focus", "a\x1b[31mb.org"): "\\x1b",
    ("focus", "a\nb\r.org"): "\\n",
    ("focus", "garden.org::*\x07\x9b"): "\\x9b",
    ("focus", "\udcff.org"): "\\udcff",
    ("focus", LONG): LONG,
    ("focus", f"garden.org::*{LONG}"): "no such node",
    ("focus", f"{LONG}/a.org"): "no such file",
    ("focus", "garden.org:" + "9" * 5000): "give 1 to",
    ("focus", "a.org", "--root", LONG): "no such folder",
    ("outline", LONG): "no such file",
    ("focus", "~nobody-has-this-name/a.org"): "no such file",
    ("focus", "a.org", "--root", "~nobody-has-this-name"): "no such folder",
    ("outline", "~nobody-has-this-name"): "no such file",
}


@pytest.mark.parametrize(
    ("arguments", "says"), REFUSED.items(), ids=lambda value: ascii(value)[:60]
)
def test_what_cannot_be_shown_is_one_line_and_status_1(
    ask: Ask, arguments: tuple[str, ...], says: str
) -> None:
    write(
        HERE,
        {
            "text.txt": "* A\n",
            "sub/log.org": "* A\n",
            "latin.org": b"* A\n* caf\xe9\n",
            "utf16.org": "* A\n".encode("utf-16"),
            "binary.org": bytes(range(256)),
        },
    )
    for folder in ("folder.org", "empty"):
        Path(folder).mkdir()
    os.mkfifo("fifo.org")
    Path("loop.org").symlink_to("loop.org")
    answer = ask(*arguments)
    check_complaint(answer, 1)
    assert says in answer.err


def test_what_an_editor_left_is_no_near_match(ask: Ask) -> None:
    write(HERE, {".#gardens.org": "", "gardens.sync-conflict-20240101-101010-AB.org": ""})
    hint = ask("focus", "gardens.org").err
    assert "garden.org" in hint
    assert ".#" not in hint
    assert "conflict" not in hint


def test_a_file_that_may_not_be_read_is_one_line(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    """Root may read anything, so the system's refusal is played."""
    original = os.open

    def refuse(path: Any, *arguments: Any, **options: Any) -> int:
        if Path(os.fsdecode(path)).name == "garden.org":
            raise PermissionError(13, "Permission denied", path)
        return original(path, *arguments, **options)

    monkeypatch.setattr(os, "open", refuse)
    answer = ask("focus", "garden.org:3")
    check_complaint(answer, 1)
    assert "garden.org: Permission denied; check its permissions" in answer.err


def test_titles_of_notes_cannot_steer_a_terminal_through_an_error(ask: Ask) -> None:
    write(HERE, {"a.org": "* evil\x1b[2J\x9b\r\x0b\x85title\n"})
    answer = ask("focus", "a.org::*evil")
    check_complaint(answer, 1)
    assert "evil\\x1b[2J\\x9b\\r\\x0b\\x85title" in answer.err


def test_a_fault_of_the_program_is_status_70_and_tells_no_text(
    ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_arguments: Any, **_options: Any) -> None:
        raise ValueError("hushhush")

    monkeypatch.setattr(focusing, "grown", fail)
    answer = ask("focus", "garden.org")
    check_complaint(answer, 70)
    assert "ValueError" in answer.err
    assert "hushhush" not in answer.err


# --- ORGCTX_ROOT ---------------------------------------------------------------------------------


@pytest.fixture
def org(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder named by ORGCTX_ROOT; beside it one that is not."""
    write(
        HERE,
        {
            "org/a.org": "* in the root\n:PROPERTIES:\n:ID: abcdef\n:END:\n",
            "org/sub/a.org": "* in the folder\n",
            "else/a.org": "* outside\n",
            "else/b.org": "* outside\n",
        },
    )
    monkeypatch.setenv("ORGCTX_ROOT", "~/org")
    return Path.cwd() / "org"


def test_the_variable_names_the_root_by_default(ask: Ask, org: Path) -> None:
    for address in ("abcdef", "a.org", "a.org:1", f"{org}/a.org:1", "org/a.org::*in the root"):
        assert "* in the root" in ask("focus", address).out
    assert as_json(ask("focus", "org/a.org", "--format", "json"))["targets"][0]["path"] == "a.org"


def test_a_file_that_is_here_is_meant_before_one_of_its_name_in_the_root(
    ask: Ask, org: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder, title in {"sub": "* in the folder", ".": "* in the root"}.items():
        monkeypatch.chdir(org / folder)
        for address in ("a.org", "a.org:1", "./a.org", str(org / folder / "a.org")):
            assert title in ask("focus", address).out
    monkeypatch.chdir(org.parent / "else")
    assert "* outside" in ask("focus", "a.org").out


LINKED = (
    *["org/c.org::*see [[id:x][y]]", "org/c.org::see [[id:x][y]]", "org/c.org:1"],
    *["[[file:org/c.org::*plain]]", "[[file:org/c.org::*plain][a link]]"],
    *["file:org/c.org:2", "[[file:org/c.org:2]]", "[[org/c.org::plain][a [link]]]"],
)


@pytest.mark.parametrize("address", LINKED)
@pytest.mark.parametrize("root", ["~/org", ""])
def test_an_address_means_the_same_with_and_without_the_variable(
    ask: Ask, org: Path, monkeypatch: pytest.MonkeyPatch, address: str, root: str
) -> None:
    write(HERE, {"org/c.org": "* see [[id:x][y]]\n* plain\n"})
    monkeypatch.setenv("ORGCTX_ROOT", root)
    line = as_json(ask("focus", address, "--format", "json"))["targets"][0]["line"]
    assert line == (2 if "plain" in address or ":2" in address else 1)


def test_a_file_outside_the_variables_root_is_its_own_root(ask: Ask, org: Path) -> None:
    data = as_json(ask("focus", "else/b.org:1", "--format", "json"))
    assert data["targets"][0]["path"] == "else/b.org"
    check_complaint(ask("focus", "else/nowhere.org"), 1)


def test_an_option_overrules_the_variable(ask: Ask, org: Path) -> None:
    assert "* outside" in ask("focus", "a.org", "--root", "else").out
    check_complaint(ask("focus", "abcdef", "--root", "else"), 1)


def test_the_variable_may_name_several_folders_or_none(
    ask: Ask, org: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ORGCTX_ROOT", f"{org}{os.pathsep}{os.pathsep}else")
    assert "* in the root" in ask("focus", "abcdef").out
    assert "* outside" in ask("focus", "b.org").out
    monkeypatch.setenv("ORGCTX_ROOT", "")
    check_complaint(ask("focus", "abcdef"), 1)


def test_a_variable_that_names_no_folder_is_told_by_name(
    ask: Ask, org: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ORGCTX_ROOT", "/no/where")
    answer = ask("focus", "abcdef")
    check_complaint(answer, 1)
    assert "ORGCTX_ROOT" in answer.err


# --- The process ---------------------------------------------------------------------------------


def test_the_script_and_the_module_are_the_same_program(ask: Ask) -> None:
    here = ask("focus", "garden.org::*Beds", "--budget", "200")
    assert script("focus", "garden.org::*Beds", "--budget", "200") == here
    command = [sys.executable, "-m", "orgctx", "focus", "garden.org::*Beds", "--budget", "200"]
    assert subprocess.run(command, capture_output=True, check=True).stdout.decode() == here.out


def test_the_script_ends_with_the_status(ask: Ask) -> None:
    for status, arguments in {
        1: ["focus", "nowhere.org"],
        2: ["focus", "garden.org", "--budget", "0"],
        3: ["focus", "garden.org", "--budget", "1"],
    }.items():
        check_complaint(script(*arguments), status)


def test_the_locale_does_not_change_what_is_written(ask: Ask) -> None:
    plain = script("focus", "garden.org::*Beds")
    ascii_only = {"PYTHONIOENCODING": "ascii", "LC_ALL": "C"}
    assert script("focus", "garden.org::*Beds", **ascii_only) == plain
    assert script("focus", "garden.org::*Beds", "--report", **ascii_only).status == 0


@pytest.mark.parametrize("command", ["focus", "outline", "help"])
def test_a_reader_that_goes_away_is_no_fault(ask: Ask, command: str) -> None:
    write(HERE, {"big.org": "* A\n" + "word word\n" * 30_000, "many.org": "* A\n" * 30_000})
    arguments = {
        "focus": ["focus", "big.org::*A", "--unit", "chars", "--budget", "1000000"],
        "outline": ["outline", "many.org", "--json"],
        "help": ["--help"],
    }[command]
    answer = script(*arguments, shell="| true")
    assert answer.err == ""
    assert answer.status in ((0, 141) if command == "help" else (141,))


def test_output_that_cannot_be_written_is_one_line_and_no_bug(ask: Ask) -> None:
    for shell in (">/dev/full", ">&-"):
        answer = script("focus", "garden.org", shell=shell)
        check_complaint(answer, 1)


def test_without_stderr_the_status_still_tells(ask: Ask) -> None:
    assert script("focus", "nowhere.org", shell="2>&-") == (1, "", "")
    assert script("focus", "garden.org:1", shell="2>&-").status == 0


def test_a_terminal_gets_no_control_characters(ask: Ask) -> None:
    write(HERE, {"a.org": "* evil\x1b[2J \x9b31m\x07 \x7f\nsafe\roverwritten\ttab\n"})
    shown = on_terminal("focus", "a.org") + on_terminal("outline", "a.org")
    assert b"\\x1b[2J" in shown
    assert b"\ttab" in shown
    assert not re.search(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|\xc2\x9b|\r(?!\n)", shown)


# --- Completion ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("orgctx to", ["plain,tokens", "plain,tool"]),
        ("orgctx focus --len", ["plain,--lens"]),
        ("orgctx focus --lens f", ["plain,foveal", "plain,fisheye"]),
        ("orgctx focus gar", ["file,gar"]),
        ("orgctx ls --root ~/o", ["dir,~/o"]),
        ("orgctx work open x --root ~/o", ["dir,~/o"]),
    ],
)
def test_a_shell_is_told_what_could_come_next(
    ask: Ask, monkeypatch: pytest.MonkeyPatch, words: str, offered: list[str]
) -> None:
    environment = {"COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    told = script(_ORGCTX_COMPLETE="bash_complete", **environment)
    assert (told.status, told.out.splitlines(), told.err) == (0, offered, "")
    for shell in ("zsh", "fish"):
        assert "_ORGCTX_COMPLETE" in script(_ORGCTX_COMPLETE=f"{shell}_source").out
