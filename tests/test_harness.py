"""The tools of the other tests, tested: strategies reach their cases, the oracle is right."""

import json
import os
import socket
import statistics
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import emacs
import pytest
import strategies
from hypothesis import find, given, settings

HERE = Path(__file__).parent
CENSUS = 1000
FEATURES = [*strategies.FEATURES, *strategies.LINE_END_FEATURES]


# --- Strategies ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def census() -> list[str]:
    """Many drawn texts, the same ones in every run."""
    return strategies.sample(strategies.org_text(), CENSUS)


@pytest.fixture(scope="module")
def reached(census: list[str]) -> Counter[str]:
    return Counter(name for text in census for name in strategies.features(text))


@pytest.mark.parametrize("name", FEATURES)
def test_every_hard_feature_is_drawn(reached: Counter[str], name: str) -> None:
    assert reached[name] > 0


def test_texts_are_small_but_not_trivial(census: list[str]) -> None:
    lines = sorted(text.count("\n") for text in census)
    assert 5 <= statistics.median(lines) <= 60
    assert lines[-1] <= 200


def test_huge_texts_are_rare(census: list[str]) -> None:
    huge = sum(len(text) > 50_000 for text in census)
    assert 0 < huge < CENSUS / 20


def test_sample_draws_the_same_again() -> None:
    first, again = (strategies.sample(strategies.org_text(), 40) for _ in range(2))
    assert first == again
    assert first != strategies.sample(strategies.org_text(), 40, seed_number=1)


def test_texts_shrink_to_nothing() -> None:
    assert find(strategies.org_text(), lambda text: True) == ""


@given(strategies.org_bytes())
def test_bytes_are_utf_8(content: bytes) -> None:
    content.decode()


def test_some_bytes_begin_with_a_mark() -> None:
    drawn = strategies.sample(strategies.org_bytes(), 400)
    marked = [content for content in drawn if content.startswith(strategies.BOM)]
    assert 0 < len(marked) < 200


@pytest.mark.parametrize("first", [b"* ", b":PROPERTIES:"])
def test_a_mark_may_stand_before_a_headline_or_a_drawer(first: bytes) -> None:
    begin = strategies.BOM + first
    found = find(
        strategies.org_bytes(),
        lambda content: content.startswith(begin),
        settings=settings(max_examples=20_000, database=None),
    )
    assert found.startswith(begin)


@pytest.fixture(scope="module")
def roots() -> list[dict[str, str]]:
    return strategies.sample(strategies.org_files(), 150)


def test_file_sets_hold_one_to_four_files(roots: list[dict[str, str]]) -> None:
    assert {len(files) for files in roots} == {1, 2, 3, 4}


@pytest.mark.parametrize("part", [" ", "'", '"', "#1.org", "[x].org", "/", "r\u00e9", "re\u0301"])
def test_file_names_are_hard(roots: list[dict[str, str]], part: str) -> None:
    assert any(part in name for files in roots for name in files)


def test_ids_collide_between_files(roots: list[dict[str, str]]) -> None:
    line = ":PROPERTIES:\n:ID: id-1\n:END:"
    assert any(sum(line in text for text in files.values()) > 1 for files in roots)


def test_file_names_stay_below_their_root(roots: list[dict[str, str]]) -> None:
    names = {name for files in roots for name in files}
    assert all(not name.startswith("/") and ".." not in name.split("/") for name in names)


# --- The oracle ------------------------------------------------------------------------------


def _one(text: str | bytes, line_ends: emacs.LineEnds = "detect") -> list[emacs.Row]:
    content = text.encode() if isinstance(text, str) else text
    return emacs.outlines([content], line_ends)[0]


@pytest.mark.emacs
def test_a_headline_row_is_complete() -> None:
    text = (
        "intro\n* TODO [#A] COMMENT Title :a:b:\n:PROPERTIES:\n:ID: x\n:Custom_id: c\n:END:\ntext\n"
    )
    assert _one(text) == [
        {
            **{"line": 2, "level": 1, "todo": "TODO", "pri": "A", "title": "Title"},
            **{"tags": ["a", "b"], "id": "x", "cid": "c", "commented": True},
            **{"keys": ["ID", "Custom_id"], "body": "text\n"},
        }
    ]


@pytest.mark.emacs
@pytest.mark.parametrize(
    ("below", "body"),
    [
        (":PROPERTIES:\n:ID: x\n:END:\n# a comment\n#\n", ""),
        (":PROPERTIES:\n:ID: x\n:END:\n#+name: y\n", "#+name: y\n"),
        (
            "SCHEDULED: <2024-01-01 Mon>\n:PROPERTIES:\n:ID: x\n:END:",
            "SCHEDULED: <2024-01-01 Mon>\n",
        ),
        ("\n:PROPERTIES:\n:ID: not right\n:END:\n", "\n:PROPERTIES:\n:ID: not right\n:END:\n"),
        ("own\n** child\nnot own\n", "own\n"),
        ("", ""),
    ],
)
def test_body_is_the_text_of_the_entry_alone(below: str, body: str) -> None:
    assert _one(f"* H\n{below}")[0]["body"] == body


@pytest.mark.emacs
def test_answers_come_in_the_order_of_the_texts() -> None:
    texts = [f"* number {number}\n".encode() * number for number in range(120)]
    answers = emacs.outlines(texts)
    assert [len(rows) for rows in answers] == list(range(120))
    assert all(row["title"] == f"number {n}" for n, rows in enumerate(answers) for row in rows)
    assert emacs.outlines([]) == []


@pytest.mark.emacs
@pytest.mark.parametrize("word", ["A", "é", "你好"])
@pytest.mark.parametrize("mark", [b"", strategies.BOM])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_marks_and_line_ends_change_nothing(mark: bytes, end: str, word: str) -> None:
    lines = [f"* {word} :t:", ":PROPERTIES:", f":ID: {word}", ":END:", f"** {word}", ""]
    rows = _one(mark + end.join(lines).encode())
    assert [(row["line"], row["title"], row["id"]) for row in rows] == [
        (1, word, word),
        (5, word, None),
    ]
    assert rows[0]["tags"] == ["t"]


@pytest.mark.emacs
def test_mixed_line_ends_are_read_either_way() -> None:
    text = "* A :t:\r\n* B\n:PROPERTIES:\r\n:ID: x\r\n:END:\r\n"
    assert [(row["tags"], row["id"]) for row in _one(text)] == [([], None), ([], None)]
    assert [(row["tags"], row["id"]) for row in _one(text, "each")] == [(["t"], None), ([], "x")]


@pytest.mark.emacs
def test_a_lone_carriage_return_ends_a_line_only_for_emacs() -> None:
    text = "* A\r* B\r"
    assert [row["title"] for row in _one(text)] == ["A", "B"]
    assert [row["title"] for row in _one(text, "each")] == ["A\r* B"]
    assert emacs.file_nodes([text.encode()])[0]["eol"] == "mac"


@pytest.mark.emacs
def test_file_nodes_know_drawer_keywords_and_tags() -> None:
    drawer = ":PROPERTIES:\n:ID: one\n:ID: two\n:END:\n"
    texts = [drawer + "#+filetags: :x: y\n#+TODO: A(a) | B\n* H\n", f"* H\n{drawer}"]
    right, headline_only = emacs.file_nodes([text.encode() for text in texts])
    assert right == {
        **{"level": 0, "eol": "unix", "id": "one", "element_id": "two"},
        **{"keywords": ["A", "B"], "done": ["B"], "tags": ["x", "y"]},
    }
    assert (headline_only["id"], headline_only["element_id"]) == (None, None)


@pytest.mark.emacs
def test_the_oracle_opens_and_evaluates_nothing(tmp_path: Path) -> None:
    setup, witness = tmp_path / "setup.org", tmp_path / "witness"
    setup.write_text("#+TODO: FROM_SETUP | X\n#+FILETAGS: from_setup\n")
    evil = f'(write-region "" nil "{witness}")'
    text = (
        f"# -*- mode: org; eval: {evil} -*-\n"
        f"#+SETUPFILE: {setup}\n#+SETUPFILE: https://example.org/x.setup\n"
        f"#+SETUPFILE: /ssh:example.org:/x\n#+MACRO: evil (eval {evil})\n{{{{{{evil}}}}}}\n"
        f"#+BIND: org-todo-keywords {evil}\n#+begin_src emacs-lisp :var x={evil}\n#+end_src\n"
        f"* FROM_SETUP [[elisp:{evil}]]\n:PROPERTIES:\n:header-args: :var x={evil}\n:END:\n"
        f"# Local Variables:\n# eval: {evil}\n# End:\n"
    )
    contents = [text.encode()]
    assert emacs.outlines(contents)[0][0]["todo"] is None
    assert emacs.file_nodes(contents)[0]["tags"] == []
    assert emacs.lint(contents)
    assert not witness.exists()


@pytest.mark.emacs
def test_the_oracle_answers_for_every_drawn_text() -> None:
    drawn = strategies.sample(strategies.org_bytes(), 300)
    for line_ends in ("detect", "each"):
        headlines = emacs.outlines(drawn, line_ends)
        assert len(headlines) == len(drawn)
        assert sum(map(len, headlines)) > len(drawn)
    assert len(emacs.lint(drawn)) == len(drawn)


def test_an_error_in_one_text_is_an_error() -> None:
    with pytest.raises(emacs.EmacsError, match="text number 1: oops"):
        emacs._by_text(b'{"f": 0, "level": 0}\n{"f": 1, "error": "oops"}\n', 2)


@pytest.mark.emacs
def test_a_failing_emacs_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(emacs.EmacsError, match="emacs ended with"):
        emacs._run_emacs(["-f", "no-such-function"], home=str(tmp_path))


# --- org-lint --------------------------------------------------------------------------------

PLANTED = {
    "incomplete drawer": ("* A\n:NOTES:\ntext\n", "Possible incomplete drawer", ":NOTES:"),
    "drawer in a drawer": (
        "* A\n:NOTES:\n:LOGBOOK:\nx\n:END:\n",
        "Possible misleading drawer entry",
        ":LOGBOOK:",
    ),
    "unclosed block": ("* A\n#+begin_src sh\nx\n", "Possible incomplete block", "#+begin_src sh"),
    "orphan end": ("* A\nx\n#+end_src\n", "Possible incomplete block", "#+end_src"),
    "words after an end": (
        "* A\n#+begin_src sh\n#+end_src x\n",
        "Invalid block closing line",
        "#+end_src x",
    ),
    "bad drawer": (
        "* A\n:PROPERTIES:\nno colon\n:END:\n",
        "Incorrect contents for PROPERTIES drawer",
        ":PROPERTIES:",
    ),
    "late drawer": ("* A\nx\n:PROPERTIES:\n:ID: x\n:END:\n", "Incorrect ", ":PROPERTIES:"),
    "special property": (
        "* A\n:PROPERTIES:\n:TODO: x\n:END:\n",
        'Special property "TODO"',
        ":TODO: x",
    ),
    "two equal CUSTOM_IDs": (
        "* A\n:PROPERTIES:\n:CUSTOM_ID: x\n:END:\n" * 2,
        'Duplicate CUSTOM_ID property "x"',
        ":CUSTOM_ID: x",
    ),
    "misplaced planning": (
        "* A\nx\nSCHEDULED: <2024-01-01 Mon>\n",
        "Misplaced planning info line",
        "SCHEDULED: <2024-01-01 Mon>",
    ),
    "empty tag": ("* A :b::c:\n", "Tags contain a spurious colon", "* A :b::c:"),
    "no language": (
        "* A\n#+begin_src\n#+end_src\n",
        "Missing language in source block",
        "#+begin_src",
    ),
    "orphaned name": (
        "* A\n#+name: x\n\ntext\n",
        'Orphaned affiliated keyword: "NAME"',
        "#+name: x",
    ),
    "sexp out of its block": ("* A\n  %%(x)\n", "Possible indented diary-sexp", "  %%(x)"),
}


@pytest.fixture(scope="module")
def planted() -> dict[str, list[tuple[str, str]]]:
    complaints = emacs.lint([text.encode() for text, _, _ in PLANTED.values()])
    return dict(zip(PLANTED, complaints, strict=True))


@pytest.mark.emacs
@pytest.mark.parametrize("name", PLANTED)
def test_lint_finds_what_was_planted(planted: dict[str, list[tuple[str, str]]], name: str) -> None:
    _, message, line = PLANTED[name]
    assert any(text == line and said.startswith(message) for said, text in planted[name])


@pytest.mark.emacs
def test_lint_is_silent_on_good_text_and_on_links() -> None:
    text = (
        ":PROPERTIES:\n:ID: f\n:END:\n#+title: T\n* TODO A :b:\nSCHEDULED: <2024-01-01 Mon>\n"
        ":PROPERTIES:\n:ID: a\n:END:\n:LOGBOOK:\n- note\n:END:\n#+name: x\n#+begin_src sh\n"
        "  %%(x)\n#+end_src\n# … 3 lines omitted\n[[file:none.org]] [[id:none]] [[*None]] [fn:1]\n"
        '#+INCLUDE: "none.org"\n#+SETUPFILE: none.org\n{{{none}}}\n'
    )
    assert emacs.lint([text.encode(), text.replace("\n", "\r\n").encode()]) == [[], []]


# --- Real files ------------------------------------------------------------------------------

RECORD = "outlines.jsonl"
RECORDED = ("line", "level", "todo", "pri", "title", "tags", "id", "cid")


def _recorded() -> dict[str, list[dict[str, Any]]]:
    """The outlines that came with the corpora, by file; none where none came."""
    root = emacs.corpus_root()
    rows: dict[str, list[dict[str, Any]]] = defaultdict(list)
    if root is not None and (root / RECORD).is_file():
        for line in (root / RECORD).read_text().split("\n")[:-1]:
            row = json.loads(line)
            rows[row["f"]].append(_comparable(row))
    return rows


def _comparable(row: dict[str, Any]) -> dict[str, Any]:
    """A row without what versions of Org differ in: `* TODO` was a title up to 9.5."""
    kept = {name: row[name] for name in RECORDED}
    if kept["todo"] and not kept["title"]:
        kept |= {"todo": None, "title": kept["todo"]}
    return kept


@pytest.mark.emacs
@pytest.mark.corpora
@pytest.mark.records
def test_the_oracle_agrees_with_the_recorded_outlines() -> None:
    record, root = _recorded(), emacs.corpus_root()
    assert root
    sample = [path for path in emacs.corpora() if str(path.relative_to(root)) in record][::8]
    answers = emacs.outlines([path.read_bytes() for path in sample])
    for path, rows in zip(sample, answers, strict=True):
        assert [_comparable(row) for row in rows] == record[str(path.relative_to(root))], path
    assert len(sample) > 20


@pytest.mark.corpora
def test_corpora_are_org_files_below_their_root() -> None:
    root, paths = emacs.corpus_root(), emacs.corpora()
    assert root is not None
    assert paths
    assert all(path.is_relative_to(root) and path.suffix in emacs.SUFFIXES for path in paths)


# --- The session -----------------------------------------------------------------------------


def test_connecting_is_an_error_that_names_the_attempt() -> None:
    with pytest.raises(OSError, match=r"create_connection.*example\.org"):
        socket.create_connection(("example.org", 80))
    with pytest.raises(OSError, match=r"getaddrinfo.*example\.org"):
        socket.getaddrinfo("example.org", 80)
    with (
        socket.socket(socket.AF_INET, socket.SOCK_STREAM) as plain,
        pytest.raises(OSError, match=r"connect.*127\.0\.0\.1"),
    ):
        plain.connect(("127.0.0.1", 9))


def test_local_sockets_still_connect(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # a socket's path may have no more than 107 bytes
    with socket.socket(socket.AF_UNIX) as server, socket.socket(socket.AF_UNIX) as client:
        server.bind("s")
        server.listen()
        client.connect("s")


def test_the_profile_follows_the_environment() -> None:
    assert settings().deadline is None
    assert settings().derandomize == bool(os.environ.get("CI"))


INNER_TEST = """
import pytest

@pytest.mark.emacs
def test_emacs():
    pass

@pytest.mark.corpora
def test_corpora():
    pass

def test_plain():
    pass
"""


def _inner_session(folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run three tests under this conftest, with nothing on the PATH."""
    for name in ("conftest.py", "emacs.py", "program.py", "loopback.py"):
        (folder / name).write_bytes((HERE / name).read_bytes())
    (folder / "test_inner.py").write_text(INNER_TEST)
    (folder / "pytest.ini").write_text("[pytest]\naddopts = --strict-markers -p no:cacheprovider\n")
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-rs", str(folder)],
        env={"PATH": str(folder), **variables},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def test_without_emacs_and_corpora_their_tests_say_why_they_are_skipped(tmp_path: Path) -> None:
    done = _inner_session(tmp_path)
    assert done.returncode == 0
    assert "1 passed, 2 skipped" in done.stdout
    assert "there is no emacs on the PATH" in done.stdout
    assert "ORGCTX_CORPORA is not set" in done.stdout


@pytest.mark.parametrize("variable", ["CI", "ORGCTX_REQUIRE_EMACS"])
def test_where_emacs_is_required_its_lack_fails_the_session(tmp_path: Path, variable: str) -> None:
    done = _inner_session(tmp_path, **{variable: "1"})
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert done.stderr.strip() == f"ERROR: {variable} is set, but there is no emacs on the PATH"


def test_where_ci_installs_what_a_test_needs_its_lack_fails_the_session(tmp_path: Path) -> None:
    (tmp_path / "emacs").write_text("#!/bin/sh\n")
    (tmp_path / "emacs").chmod(0o700)
    needing = "import pytest\n\n@pytest.mark.tmux\ndef test_tmux():\n    pass\n"
    (tmp_path / "test_needing.py").write_text(needing)
    done = _inner_session(tmp_path)
    assert "there is no tmux on the PATH" in done.stdout
    done = _inner_session(tmp_path, CI="1")
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "CI is set, but there is no tmux on the PATH" in done.stdout + done.stderr
