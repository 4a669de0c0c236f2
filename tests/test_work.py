"""The commands about working copies, and `--work` of those that read."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import copies
import pytest
from copies import Notes
from program import script
from test_cli import check_complaint

from orgctx import NotFound, open_memex
from orgctx.surfaces import cli
from orgctx.tokens import count
from orgctx.workcopy.state import State


@pytest.fixture
def run(home, ask):
    """Run the program in this process, in the home folder."""
    return ask


@pytest.fixture
def notes(home):
    """The folder `notes` in the current one."""
    return Notes.make(home)


@pytest.fixture
def folder(notes, run):
    """That of the copy x."""
    found = run("work", "open", "x", "--root", "notes")
    assert (found.status, found.err) == (0, "")
    return Path(found.out.removesuffix("\n"))


def test_open_prints_the_folder(notes, run, folder):
    assert copies.files(folder) == {k: v.encode() for k, v in copies.NOTES.items()}
    again = run("work", "open", "x")
    assert again.out == f"{folder}\n"


def test_open_takes_the_default_roots(notes, run, monkeypatch):
    check_complaint(run("work", "open", "x"), 2)
    monkeypatch.setenv("ORGCTX_ROOT", "notes")
    assert run("work", "open", "x").status == 0


def test_the_folder_stands_alone_on_the_last_line(notes, run):
    notes.put("bad.org", b"* \xff\n")
    found = run("work", "open", "x", "--root", "notes")
    assert found.status == 0
    assert Path(found.out.split("\n")[-2]).is_dir()
    assert "bad.org: not UTF-8" in found.err


def test_from_open_to_commit(notes, run, folder):
    notes.replace("a.org", "text one", "mine", folder)
    (folder / "sub/b.org").unlink()
    notes.put("n.org", "* N\n", folder)
    status = run("work", "status").out
    assert status == f"x — 3 edited notes — {folder}\n"
    diff = run("work", "diff", "x").out
    assert "\n-text one\n+mine\n" in diff
    assert "+++ /dev/null\n" in diff
    done = run("work", "commit", "x", "-m", "did it")
    assert (done.status, done.err) == (0, "")
    assert done.out == "written a.org\nwritten n.org\ndeleted sub/b.org\n"
    assert run("work", "diff", "x").out == ""
    log = run("work", "log").out
    assert re.fullmatch(r"[0-9a-f]{12} \S+ \S+ commit of x, 2 written, 1 deleted: did it\n", log)
    shown = run("work", "show", log[:12]).out
    assert "    did it\n" in shown
    assert run("work", "show", f"{log[:12]}:n.org").out == "* N\n"
    assert run("work", "show", f"{log[:12]}:theirs/a.org").out == copies.A


def test_an_empty_commit(notes, run, folder):
    found = run("work", "commit", "x", "-m", "m")
    assert found == (0, "", "")
    assert run("work", "log").out == ""


def test_a_conflict_is_an_exit_status(notes, run, folder):
    notes.replace("a.org", "text one", "mine", folder)
    notes.replace("a.org", "text one", "theirs")
    found = run("work", "commit", "x", "-m", "m")
    assert found.status == 3
    line = found.out
    pattern = (
        r"conflict a\.org — on both sides: changed a\.org::One \(ours (\w{12}), theirs (\w{12})\)\n"
    )
    ours, theirs = re.fullmatch(pattern, line).groups()
    assert "mine" in run("work", "show", ours).out
    assert "theirs" in run("work", "show", theirs).out
    found = run("work", "commit", "x", "-m", "m", "--on-conflict", "ours")
    assert found.status == 0
    assert found.out.startswith("merged a.org — settled for ours (ours ")
    assert "mine" in notes.get("a.org")


def test_json_is_the_same_as_data(notes, run, folder):
    notes.replace("a.org", "text one", "mine", folder)
    notes.replace("a.org", "text one", "theirs")
    notes.put("x.txt", "", folder)
    [row] = json.loads(run("work", "status", "--format", "json").out)["copies"]
    assert (row["id"], row["changed"]) == ("x", ["a.org", "x.txt"])
    edited = json.loads(run("work", "diff", "x", "--format", "json").out)["edited"]
    assert [(each["path"], each["what"]) for each in edited] == [
        ("a.org", "changed"),
        ("x.txt", "added"),
    ]
    found = run("work", "commit", "x", "-m", "m", "--format", "json")
    assert found.status == 3
    assert found.err.startswith("orgctx: 2 edited notes not committed: still in the copy x; --on-")
    data = json.loads(found.out)
    assert [(each["path"], each["what"]) for each in data["outcomes"]] == [
        ("a.org", "conflict"),
        ("x.txt", "refused"),
    ]
    assert data["outcomes"][0]["conflicts"][0]["address"] == "a.org::One"
    [record] = json.loads(run("work", "log", "--json").out)["log"]
    assert record["revision"] == data["revision"]
    assert record["outcomes"] == data["outcomes"]


def test_shrink(notes, run, folder):
    notes.put("a.org", "* A\n", folder)
    found = run("work", "commit", "x", "-m", "m")
    assert found.status == 3
    assert found.out.startswith("refused a.org — it would lose more than half")
    assert found.err.endswith("commit again; --allow-shrink lets a note shrink\n")
    assert run("work", "commit", "x", "-m", "m", "--allow-shrink").out == "written a.org\n"


def test_discard_and_prune(notes, run, folder):
    assert run("work", "discard", "x") == (0, "", "")
    assert not folder.exists()
    run("work", "open", "old", "--root", "notes")
    assert run("work", "prune").out == ""
    base = State().copies / "old/base.json"
    os.utime(base, (1e9, 1e9))
    assert run("work", "prune", "--older-than", "12h").out == "old\n"
    assert run("work", "status").out == ""


@pytest.mark.parametrize(
    ("call", "status"),
    [
        (("diff", "nope"), 1),
        (("commit", "nope", "-m", "m"), 1),
        (("discard", "nope"), 1),
        (("show", "abcdef"), 1),
        (("open", ""), 2),
        (("commit", "x"), 2),
        (("commit", "x", "-m", ""), 2),
        (("commit", "x", "-m", "m", "--on-conflict", "mine"), 2),
        (("prune", "--older-than", "soon"), 2),
        (("log", "--limit", "0"), 2),
        (("open", "y", "--root", "nowhere"), 1),
        (("frobnicate",), 2),
    ],
)
def test_refusals(notes, run, folder, call, status):
    check_complaint(run("work", *call), status)


def test_help_names_every_command(run):
    text = run("work", "--help").out
    for name in ("open", "status", "diff", "commit", "discard", "prune", "log", "show"):
        assert f"  {name} " in text
        assert run("work", name, "--help").out


# --- --work --------------------------------------------------------------------------------------

READS = (
    ("focus", "a.org::One"),
    ("focus", "id:one-1", "--report"),
    ("overview",),
    ("tokens", "n.org"),
    ("context", "mine"),
    ("ls", "n.org"),
    ("tokens", "n.org"),
    ("grep", "mine"),
    ("read", "a.org", "--subtree"),
    ("read", "a.org::One"),
)


@pytest.mark.parametrize("call", READS, ids=" ".join)
def test_answers_come_from_the_copy(notes, run, folder, call):
    before = copies.state(notes.root)
    notes.put("n.org", "* mine too\n", folder)
    notes.replace("a.org", "text one", "mine", folder)
    found = run(*call, "--work", "x")
    assert found.status == 0
    assert "mine" in found.out or call == ("overview",)
    assert "text one" not in found.out
    assert copies.state(notes.root) == before
    assert not {"n.org", "text mine", "mine too"} & set(run(*call, "--root", "notes").out.split())


def test_a_reading_goes_on_in_the_copy(notes, run, folder):
    found = run("read", "a.org", "--subtree", "--work", "x", "--budget", "60").out
    call = re.search(r"left: orgctx (.*)\n", found)[1]
    assert "--work x" in call
    assert run(*call.split()).status == 0
    listing = run("ls", "--work", "x", "--limit", "1", "sub").out
    assert "--work x" in run("grep", "text", "--work", "x", "--limit", "1").out
    assert "sub/" in listing


def test_work_is_a_place_of_its_own(notes, run, folder):
    check_complaint(run("ls", "--work", "x", "--root", "notes"), 2)
    check_complaint(run("ls", "--work", "y"), 1)
    check_complaint(run("focus", "nope.org", "--work", "x"), 1)
    assert run("work", "status").out.count("\n") == 1


def test_a_revision_that_was_read_is_that_of_git(notes, run, folder):
    read = json.loads(run("read", "a.org", "--work", "x", "--json").out)
    git = subprocess.run(["git", "hash-object", folder / "a.org"], capture_output=True, check=True)
    assert read["revision"] == git.stdout.decode().strip()


def test_a_copy_from_python(notes, folder):
    notes.replace("a.org", "text one", "mine", folder)
    memex = open_memex(work="x")
    assert "mine" in memex.focus("id:one-1").text
    assert memex.read("a.org").revision != open_memex(notes.root).read("a.org").revision
    with pytest.raises(NotFound):
        open_memex(work="y")


def test_reading_loads_no_git_and_no_lock(notes, run):
    """Who does not work in a copy does not pay for it."""
    run("ls", "--root", "notes")
    code = (
        "import sys; from orgctx.surfaces import cli; cli.run(['ls', '--root', 'notes']);"
        "print([m for m in ('dulwich', 'filelock', 'orgctx.workcopy') if m in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert found.stdout.decode().split("\n")[-2] == "[]"


def test_the_program_itself(notes, folder):
    notes.replace("a.org", "text one", "mine", folder)
    found = script("work", "commit", "x", "-m", "m")
    assert found == (0, "written a.org\n", "")


def test_names_steer_no_terminal(notes, run, folder):
    notes.put("x\x1b[31m\n.org", "* A\n", folder)
    found = run("work", "commit", "x", "-m", "m")
    assert found.out == "written x\\u001b[31m\\n.org\n"
    assert "\x1b" not in run("work", "log").out
    assert "work" in cli.COMMANDS


def pages(run, *call):
    """The pages of a call, each what it says without its last line; none is over its budget."""
    while call:
        found = run(*call)
        assert found.status == 0
        budget = int(call[call.index("--budget") + 1])
        assert count(found.out) <= budget
        *lines, last = found.out.splitlines(keepends=True)
        rest = re.fullmatch(r"… (?:\d+ more lines?|and older ones): orgctx (.+)\n", last)
        yield "".join(lines) if rest else found.out
        call = shlex.split(rest[1]) if rest else ()


def test_a_diff_comes_in_pages(notes, run, folder):
    for at in range(5):
        notes.put(f"n{at}.org", "".join(f"* Headline {n}\n" for n in range(40)), folder)
    whole = run("work", "diff", "x", "--budget", "100000")
    assert whole.err == ""
    found = list(pages(run, "work", "diff", "x", "--budget", "300"))
    assert len(found) > 3
    assert "".join(found) == whole.out
    cut = run("work", "diff", "x", "--budget", "300")
    assert "orgctx: not all of it fits the budget; " in cut.err


def test_a_diff_as_json_comes_in_pages(notes, run, folder):
    for at in range(5):
        notes.put(f"n{at}.org", "".join(f"* Headline {n}\n" for n in range(40)), folder)
    whole = run("work", "diff", "x", "--json", "--budget", "100000")
    rows = json.loads(whole.out)["edited"]
    call, patches, turns = ["work", "diff", "x", "--json", "--budget", "400"], {}, 0
    while call:
        out = run(*call).out
        assert count(out) <= 400
        data, turns = json.loads(out), turns + 1
        for each in data["edited"]:
            patches[each["path"]] = patches.get(each["path"], "") + each["patch"]
        call = shlex.split(data["rest"][0]["call"])[1:] if data["rest"] else []
    assert turns > 3
    assert patches == {each["path"]: each["patch"] for each in rows}


def test_the_log_comes_in_pages(notes, run, folder):
    for at in range(12):
        notes.put(f"n{at}.org", "* N\n", folder)
        run("work", "commit", "x", "-m", f"the commit {at}")
    whole = run("work", "log").out
    assert whole.count("\n") == 12
    for how in ("--budget", "150"), ("--limit", "5", "--budget", "4000"):
        found = list(pages(run, "work", "log", *how))
        assert len(found) > 2
        assert "".join(found) == whole
    data = json.loads(run("work", "log", "--json", "--budget", "900").out)
    assert 0 < len(data["log"]) < 12
    assert data["rest"][0]["call"].endswith(f"--after {data['log'][-1]['revision'][:12]}")
    check_complaint(run("work", "log", "--after", "abcdef"), 1)


def test_what_is_shown_comes_in_pages(notes, run, folder):
    text = "".join(f"* Headline {n}\nits text\n" for n in range(200))
    notes.put("long.org", text, folder)
    run("work", "commit", "x", "-m", "long")
    revision = run("work", "log").out[:12]
    found = list(pages(run, "work", "show", f"{revision}:long.org", "--budget", "500"))
    assert len(found) > 2
    assert "".join(found) == text
    assert list(pages(run, "work", "show", revision, "--budget", "500"))[1:]
    assert run("work", "show", f"{revision}:long.org").out == text


def test_a_page_that_no_line_fits_is_refused(notes, run, folder):
    notes.put("n.org", "* N\n", folder)
    for call in ("diff", "x"), ("diff", "x", "--json"):
        found = run("work", *call, "--budget", "3")
        check_complaint(found, 3)
        needed = re.search(r"budget of (\d+) or more", found.err)[1]
        assert run("work", *call, "--budget", needed).status == 0


def json_pages(run, *call):
    """The pages of a call as data; none is over its budget."""
    while call:
        found = run(*call)
        assert found.status == 0
        assert count(found.out) <= int(call[call.index("--budget") + 1])
        yield (data := json.loads(found.out))
        call = shlex.split(data["rest"][0]["call"])[1:] if data["rest"] else ()


LONG = "a-note-whose-name-is-as-long-as-names-of-notes-may-become"


@pytest.fixture
def many(notes, folder):
    """The paths of the notes that are new in the copy x: many, with long names."""
    paths = [f"{LONG}-{at:04}.org" for at in range(300)]
    for each in paths:
        notes.put(each, "* N\n", folder)
    return paths


def test_the_copies_come_in_pages(notes, run, folder):
    for at in range(30):
        notes.work.open(f"copy-{at}")
    whole = run("work", "status", "--budget", "100000").out
    assert whole.count("\n") == 31
    found = list(pages(run, "work", "status", "--budget", "300"))
    assert len(found) > 3
    assert "".join(found) == whole


def test_a_copy_with_many_edits_comes_in_pages_as_json(run, many):
    whole = json.loads(run("work", "status", "--json", "--budget", "100000").out)
    found = list(json_pages(run, "work", "status", "--json", "--budget", "1500"))
    assert len(found) > 3
    assert [path for page in found for path in page["copies"][0]["changed"]] == many
    assert whole["copies"][0]["changed"] == many


def shown_of(text):
    """How many rows the text, or the JSON, of a commit shows."""
    if text.startswith("{"):
        return len(json.loads(text)["outcomes"])
    return text.count(f"written {LONG}")


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_commit_is_whole_and_its_report_within_the_budget(notes, run, many, form):
    found = run("work", "commit", "x", "-m", "many", "--budget", "900", "--format", form)
    assert (found.status, found.err) == (0, "")
    assert count(found.out) <= 900
    assert 0 < shown_of(found.out) < len(many)
    assert all(notes.get(each) == "* N\n" for each in many)
    revision = run("work", "log").out[:12]
    assert f"orgctx work show {revision}" in found.out.splitlines()[-1]
    assert many[-1] in run("work", "show", revision, "--budget", "100000").out


def test_a_larger_budget_shows_no_less_of_a_commit(notes, run, folder):
    shown = []
    for at, budget in enumerate((40, 80, 200, 400, 800)):
        for each in range(40):
            notes.put(f"{LONG}-{each}.org", f"* N {at}\n", folder)
        out = run("work", "commit", "x", "-m", "many", "--budget", str(budget)).out
        assert count(out) <= budget
        shown.append(shown_of(out))
    assert shown == sorted(shown)
    assert shown[0] < shown[-1]


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_commit_is_done_where_no_report_fits(notes, run, many, form):
    found = run("work", "commit", "x", "-m", "many", "--budget", "3", "--format", form)
    assert (found.status, found.out) == (0, "")
    assert "orgctx: it is done, and not even the first line fits the budget; see " in found.err
    assert notes.get(many[-1]) == "* N\n"


def test_a_commit_held_back_keeps_its_status_where_no_report_fits(notes, run, folder):
    notes.replace("a.org", "text one", "mine", folder)
    notes.replace("a.org", "text one", "theirs")
    found = run("work", "commit", "x", "-m", "m", "--budget", "3")
    assert (found.status, found.out) == (3, "")


def test_all_old_copies_are_discarded_whatever_is_told(notes, run, folder):
    for at in range(30):
        notes.work.open(f"copy-{at:02}")
    found = run("work", "prune", "--older-than", "0s", "--budget", "60")
    assert found.status == 0
    assert count(found.out) <= 60
    assert found.out.endswith(" more lines: orgctx work log\n")
    assert run("work", "status").out == ""


def test_problems_of_a_copy_are_counted(notes, run):
    for at in range(30):
        notes.put(f"bad{at:02}.org", b"* \xff\n")
    found = run("work", "open", "x", "--root", "notes")
    assert found.status == 0
    assert len(found.err.splitlines()) == 11
    assert "20 more problems of this kind" in found.err
