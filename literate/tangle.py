"""Keep literate/NAME.org and orgctx/core/NAME.py the same program, and re-run the examples.

check: fail, with the repair, if a module is not its chapter's Python blocks in order, joined by
blank lines and formatted by ruff. sync: carry an edit of either over to the other. examples: run
the blocks with ":tangle no" that #+RESULTS: follow, in order, and compare what they print.
"""

import argparse
import ast
import contextlib
import difflib
import importlib.util
import io
import os
import re
import shutil
import subprocess
import sys
from itertools import pairwise, zip_longest
from pathlib import Path

COMMAND = "python literate/tangle.py"
# A block shown inside one of these is none. A headline is one everywhere, so it ends them.
BEGIN = re.compile(r"(?im)^[ \t]*#\+begin_((src|example|comment|export|verse)\b.*)\n")
BLOCK = re.compile(BEGIN.pattern + r"((?:(?!\*+ ).*\n)*?)[ \t]*#\+end_\2[ \t]*$")
PYTHON, UNTANGLED = re.compile(r"(?i)src\s+python(?!\S)"), re.compile(r":tangle\s+no(?!\S)")
# What an example printed is quoted, or of fixed width; something else is taken to be outdated.
QUOTED, FIXED = r"#\+begin_example.*\n((?:.*\n)*?)#\+end", r"((?![:#*\s]).+\n|(?::(?: .*)?\n)*)"
RESULTS = re.compile(rf"(?im)\s*^[ \t]*#\+results.*:.*\n(?:{QUOTED}_example|{FIXED})")
ESCAPED = re.compile(r"(?m)^([ \t]*,*),(?=\*|#\+)")
# Org itself also escapes an indented `*`, which needs none and is frequent in Python (`*args`).
TO_ESCAPE = re.compile(r"(?m)^([ \t]*(?=,*#\+|,+\*)|(?=\*))")


class Problem(Exception):
    """Something the user has to mend; its text says where and how."""


class Chapter:
    def __init__(self, name: str, text: str | None = None) -> None:
        self.org, self.py = f"literate/{name}.org", f"orgctx/core/{name}.py"
        self.text = text = (read(self.org) or "") if text is None else text
        if begin := BEGIN.search(BLOCK.sub(lambda block: " " * len(block[0]), text)):
            raise Problem(f"{self.org}:{self.line(begin)}: not closed: add #+end_{begin[2]}")
        python = [block for block in BLOCK.finditer(text) if PYTHON.match(block[1])]
        self.tangled = [block for block in python if not UNTANGLED.search(block[1])]
        self.examples = [block for block in python if UNTANGLED.search(block[1])]

    def line(self, block: re.Match[str]) -> int:
        return self.text.count("\n", 0, block.start()) + 1

    def source(self, *blocks: re.Match[str]) -> str:
        """The text of the blocks, each line with the number that it has in the chapter."""
        source = ""
        for block in blocks:
            source += "\n" * (self.line(block) - source.count("\n"))
            source += ESCAPED.sub(r"\1", block[3])
        return source

    def tangle(self) -> str:
        cut(self.org, self.source(*self.tangled))  # finds the line of what is no Python
        bodies = (self.source(block).strip("\n") for block in self.tangled)
        return formatted(self.py, "\n\n".join(filter(None, bodies)))

    def edited(self, spans: list[tuple[int, int]], texts: list[str]) -> str:
        text = self.text
        for (start, end), new in reversed(list(zip(spans, texts, strict=True))):
            text = text[:start] + new + text[end:]
        return text

    def changed_side(self, module: str) -> str | None:
        """The side that alone changed since HEAD; prose is no change."""
        org, py = (run(["git", "show", f"HEAD:./{it}"]).stdout for it in (self.org, self.py))
        old = [block[3] for block in Chapter("HEAD", org).tangled]
        changed = old != [block[3] for block in self.tangled], py != module
        return {(True, False): "org", (False, True): "py"}.get(changed)


def read(path: str) -> str | None:
    return Path(path).read_text("utf-8") if Path(path).exists() else None


def run(command: list[str], source: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, input=source, capture_output=True, encoding="utf-8", check=False)


def ruff() -> list[str]:
    """The command: of this Python, else of the checkout's .venv or on the PATH."""
    if importlib.util.find_spec("ruff"):
        return [sys.executable, "-m", "ruff"]
    if found := shutil.which("ruff", path=f".venv/bin{os.pathsep}{os.environ.get('PATH', '')}"):
        return [found]
    sys.exit("ruff, which formats the modules, is not installed: bash .ci/setup dev")


def formatted(label: str, source: str) -> str:
    done = run([*ruff(), "format", "--stdin-filename", label, "-"], source)
    if done.returncode:
        raise Problem(f"{label}: ruff format failed: {done.stderr.strip()}")
    return done.stdout


def cut(label: str, text: str) -> list[tuple[str, str]]:
    """Name and text of each statement, with the comments above it; a lone comment is one."""
    try:
        body = ast.parse(text).body
    except SyntaxError as error:
        raise Problem(f"{label}:{error.lineno}: not Python: {error.msg}") from None
    nodes = {min(d.lineno for d in [n, *getattr(n, "decorator_list", [])]): n for n in body}
    inside = {n for first, node in nodes.items() for n in range(first, (node.end_lineno or 0) + 1)}
    lines = ["", *text.split("\n")]
    remarks = {n for n, line in enumerate(lines) if line.startswith("#")} - inside
    starts = sorted(n for n in remarks | nodes.keys() if n - 1 not in remarks)
    pieces = []
    for first, end in pairwise([*starts, len(lines)]):
        name = next((name_of(nodes[n]) for n in range(first, end) if n in nodes), lines[first])
        pieces.append((name, "\n".join(lines[first:end]) + "\n"))
    return pieces


def name_of(node: ast.stmt) -> str:
    """The name that a statement defines; one that defines none is known by its text."""
    target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", node)
    return getattr(node, "name", None) or ast.unparse(target)


def owners(old: list[tuple[str, int]], new: list[str]) -> list[int]:
    """The block of each new name: the one it had, or that of what it replaces or follows."""
    home, found = dict(old), [0]
    matcher = difflib.SequenceMatcher(None, [name for name, _ in old], new, autojunk=False)
    for tag, i, i_end, j, j_end in matcher.get_opcodes():
        for at, name in enumerate(new[j:j_end], i):
            alike = old[at][1] if at < i_end else found[-1]
            found.append(alike if tag == "equal" else home.get(name, alike))
    return found[1:]


def woven(name: str, chapter: Chapter, module: str) -> dict[str, str]:
    """The texts after each block has become its statements as they stand in the module."""
    pieces, label = cut(chapter.py, formatted(chapter.py, module)), f"split block? {chapter.org}"
    cuts = [cut(label, chapter.source(block)) for block in chapter.tangled]
    old = [(key, number) for number, each in enumerate(cuts) for key, _ in each]
    bodies = [""] * len(cuts)
    for owner, (_, text) in zip(owners(old, [key for key, _ in pieces]), pieces, strict=True):
        bodies[owner] += text
    texts = [TO_ESCAPE.sub(r"\1,", body.rstrip("\n") + "\n" * bool(body)) for body in bodies]
    new = Chapter(name, chapter.edited([block.span(3) for block in chapter.tangled], texts))
    made = new.tangle()
    if [text.rstrip() for _, text in cut(new.py, made)] != [text.rstrip() for _, text in pieces]:
        raise Problem(f"{new.org}: its blocks cannot follow {new.py} in that order: edit them")
    return {new.org: new.text, new.py: made}


def difference(old: str, new: str, repair: str) -> str:
    """The first line that differs, a short diff, and the command that mends it."""
    both = old.split("\n"), new.split("\n")
    first = next(n for n, (a, b) in enumerate(zip_longest(*both), 1) if a != b)
    diff = list(difflib.unified_diff(*both, "chapter", "found", n=1, lineterm=""))
    return "\n".join([f"line {first} differs first", *diff[:20], f"repair: {COMMAND} {repair}"])


def sync(name: str, options: argparse.Namespace) -> dict[str, str]:
    """What is to be written, by path. Raises: Problem, also for `check` if there is any."""
    chapter = Chapter(name)
    made, module = chapter.tangle() if chapter.tangled else None, read(chapter.py)
    if made == module:
        return {}
    if made is None:
        raise Problem(f"{chapter.py} has no chapter: write {chapter.org}, or: git rm {chapter.py}")
    side = "org" if module is None else options.side or chapter.changed_side(module)
    if options.command == "check":
        what = f"{chapter.py} is " + ("missing" if module is None else "not what it makes")
        repair = f"sync {name}" if side else f"sync --from org {name}   (or --from py)"
        raise Problem(f"{chapter.org}: {what}: {difference(made, module or '', repair)}")
    if side is None:
        raise Problem(f"{chapter.org}, {chapter.py}: not just one changed since HEAD: --from?")
    return {chapter.py: made} if module is None or side == "org" else woven(name, chapter, module)


def examples(name: str, options: argparse.Namespace) -> dict[str, str]:
    """What is to be written, by path. Raises: Problem, without --write if there is any."""
    chapter, spans, texts = Chapter(name), [], []
    namespace: dict[str, object] = {"__name__": "__main__"}
    for block in chapter.examples:
        if shown := RESULTS.match(chapter.text, block.end()):
            place, is_quoted = f"{chapter.org}:{chapter.line(block)}", shown[1] is not None
            spans.append(shown.span(1 if is_quoted else 2))
            texts.append(results(chapter.source(block), namespace, place, is_quoted))
    new = chapter.edited(spans, texts)
    if new != chapter.text and not options.write:
        diff = difference(chapter.text, new, f"examples --write {name}")
        raise Problem(f"{chapter.org}: an example prints something else: {diff}")
    return {chapter.org: new}


def results(source: str, namespace: dict[str, object], place: str, is_quoted: bool) -> str:
    """What the example prints, as Org shows it."""
    try:
        with contextlib.redirect_stdout(io.StringIO()) as output:
            exec(source, namespace)
    except (Exception, SystemExit) as error:
        raise Problem(f"{place}: the example raised {error!r}") from None
    printed = re.sub(r"(?<=[^\n])\Z", "\n", output.getvalue())
    fixed_width = re.sub(r"(?m)^\n", ":\n", re.sub(r"(?m)^(?=.)", ": ", printed))
    return TO_ESCAPE.sub(r"\1,", printed) if is_quoted else fixed_width


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("command", choices=["check", "sync", "examples"])
    parser.add_argument("names", nargs="*", metavar="NAME", help="a chapter; default: all")
    parser.add_argument("--from", dest="side", choices=["org", "py"], help="the side to keep")
    parser.add_argument("--write", action="store_true", help="write the results of the examples")
    parser.add_argument("--root", default=Path(__file__).parent.parent, help="the checkout")
    options = parser.parse_intermixed_args()
    os.chdir(options.root)
    sys.path.insert(0, os.getcwd())
    modules = Path("orgctx/core").glob("*.py") if options.command == "check" else []
    known = {path.stem for path in [*Path("literate").glob("*.org"), *modules]} - {"__init__"}
    names = {Path(name).stem for name in options.names} or known
    if not known or names - known:
        parser.error(f"no such chapter; there are: {' '.join(sorted(known))}")
    texts, problems = dict[str, str](), list[str]()
    for name in sorted(names):
        try:
            texts |= (examples if options.command == "examples" else sync)(name, options)
        except Problem as problem:
            problems.append(str(problem))
    if problems:
        sys.exit("\n".join([*problems, "nothing was written"]))
    for path, text in texts.items():
        if read(path) != text:
            Path(f"{path}.{os.getpid()}").write_bytes(text.encode())
            os.replace(f"{path}.{os.getpid()}", path)
            print(f"wrote {path}")
    print(f"{options.command}: ok")


if __name__ == "__main__":
    main()
