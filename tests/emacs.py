"""The oracle: what Emacs itself reads in Org texts, and what org-lint says of them.

Starting Emacs costs about a third of a second and a text about a millisecond: give it many
texts at once (`strategies.sample` draws them), not one per example.
"""

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

HERE = Path(__file__).parent
CORPORA_VARIABLE = "ORGCTX_CORPORA"
SUFFIXES = (".org", ".org_archive")
TIMEOUT_SECONDS = 600  # only so that a regexp gone wild cannot hold a session for ever

LineEnds = Literal["detect", "each"]
Row = dict[str, Any]


class EmacsError(Exception):
    """Emacs failed, on a whole or on one text: the oracle gave no answer."""


def emacs_available() -> bool:
    """Whether there is an `emacs` on the PATH."""
    return shutil.which("emacs") is not None


def outlines(texts: Sequence[bytes], line_ends: LineEnds = "detect") -> list[list[Row]]:
    """Read every headline of `texts` by one Emacs, as org-element-parse-buffer does.

    line_ends: "detect" reads as visiting a file does: `\\r\\n` where all line ends are, a lone
        `\\r` as a line end where there is no `\\n`, else `\\n`, and then `\\r` is text.
        "each" is the project's rule: every `\\r\\n` ends a line, no lone `\\r` does.
    Returns: for each text its headlines in order, as dicts of
        line: int, 1-based.                level: int, the number of stars.
        todo, pri, id, cid: str or None.   title: str, as it stands, without the rest.
        tags: list of str, own tags; a tag may be "" (`:a::b:`).
        commented: bool, its own COMMENT.
        keys: list of str, the keys in its property drawer as they are written.
        body: str, its own text: without children, property drawer and comment lines.
        A byte that is no UTF-8 comes as Emacs prints it, as in `\\377`.
    Raises: EmacsError.
    """
    rows = _rows(["outline.el"], "oracle-outlines", texts, line_ends)
    return [[row for row in of_text if row["level"] > 0] for of_text in rows]


def file_nodes(texts: Sequence[bytes], line_ends: LineEnds = "detect") -> list[Row]:
    """Read what Emacs knows of each file as a whole; the parameters are those of `outlines`.

    Returns: for each text a dict of
        eol: "unix", "dos", "mac", or None where there is no line end.
        id: str or None, the file's ID for org-entry-get and so for org-id: drawer on the
            first line or under comments, first `:ID:` line.
        element_id: str or None, for org-element: last `:ID:` line; whether blank lines may
            come before the drawer depends on the version of Org (9.5: no).
        keywords, done: lists of str, the file's TODO keywords, and those that mean done.
        tags: list of str, from #+FILETAGS.
    Raises: EmacsError.
    """
    rows = _rows(["outline.el"], "oracle-outlines", texts, line_ends)
    return [of_text[0] for of_text in rows]


def lint(texts: Sequence[bytes], line_ends: LineEnds = "detect") -> list[list[tuple[str, str]]]:
    """Run org-lint's structural checkers, named in lint.el, on each text.

    Returns: for each text its complaints in the order of lines, as pairs of the checker's
        message and the text of the line complained about.
    Raises: EmacsError.
    """
    rows = _rows(["outline.el", "lint.el"], "oracle-lints", texts, line_ends)
    return [[(row["message"], row["text"]) for row in of_text] for of_text in rows]


def corpus_root() -> Path | None:
    """The folder of real Org files that ORGCTX_CORPORA names, or None if it names none."""
    name = os.environ.get(CORPORA_VARIABLE)
    return Path(name) if name else None


def corpora() -> list[Path]:
    """All Org files below `corpus_root`, sorted; none if there is no such folder."""
    root = corpus_root()
    if root is None:
        return []
    return sorted(path for path in root.rglob("*") if path.suffix in SUFFIXES and path.is_file())


def _rows(
    lisp: Sequence[str], function: str, texts: Sequence[bytes], line_ends: LineEnds
) -> list[list[Row]]:
    """Have one Emacs write the rows of all `texts`, and sort them by text."""
    with tempfile.TemporaryDirectory(prefix="orgctx-oracle-") as scratch:
        folder, out = Path(scratch, "texts"), Path(scratch, "rows.jsonl")
        folder.mkdir()
        for number, text in enumerate(texts):
            content = text.replace(b"\r\n", b"\n") if line_ends == "each" else text
            (folder / f"{number:08}.org").write_bytes(content)
        loads = [part for name in lisp for part in ("-l", str(HERE / name))]
        mode = "lf" if line_ends == "each" else "detect"
        _run_emacs([*loads, "-f", function, f"{folder}/", str(out), mode], home=scratch)
        return _by_text(out.read_bytes(), len(texts))


def _run_emacs(arguments: Sequence[str], home: str) -> None:
    """Run one batch Emacs that knows nothing of the user: no init file, no caches, no folders."""
    try:
        done = subprocess.run(
            ["emacs", "--batch", "-Q", *arguments],
            env={**os.environ, "HOME": home, "LC_ALL": "C.UTF-8"},
            stdin=subprocess.DEVNULL,  # a prompt must fail, not wait
            capture_output=True,
            timeout=TIMEOUT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise EmacsError(f"emacs did not run to its end: {problem}") from problem
    if done.returncode:
        raise EmacsError(f"emacs ended with {done.returncode}: {done.stderr.decode()[-2000:]}")


def _by_text(dump: bytes, count: int) -> list[list[Row]]:
    """Sort the JSON lines of `dump` into `count` lists by their field `f`."""
    rows: list[list[Row]] = [[] for _ in range(count)]
    for line in dump.split(b"\n")[:-1]:
        row = json.loads(line)
        number = row.pop("f")
        if "error" in row:
            raise EmacsError(f"emacs failed on text number {number}: {row['error']}")
        rows[number].append(row)
    return rows


def links(texts: Sequence[bytes]) -> list[list[int]]:
    """Follow every link of `texts` by one Emacs, within each text alone.

    Returns: for each text, and each link in it in order, the line to which Org goes, 1-based; 0
        if it goes nowhere, or the link is no search in its own file.
    Raises: EmacsError.
    """
    with tempfile.TemporaryDirectory(prefix="orgctx-oracle-") as scratch:
        folder, out = Path(scratch, "texts"), Path(scratch, "rows.jsonl")
        folder.mkdir()
        for number, text in enumerate(texts):
            (folder / f"{number:08}.org").write_bytes(text)
        call = f'(oracle-links "{folder}/" "{out}")'
        _run_emacs(["-l", str(HERE / "links.el"), "--eval", call], home=scratch)
        return [json.loads(line) for line in out.read_bytes().split(b"\n")[:-1]]
