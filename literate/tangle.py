"""Keep literate/NAME.org and orgctx/core/NAME.py the same program, and re-run the examples.

A chapter's Python blocks, in order, joined by blank lines and formatted by ruff, are its module;
blocks with ":tangle no", or of another language, are not part of it. A block's text starts at the
column of its #+begin_src, so a class may go on in a later block. Org's comma escapes are undone.
No markers and no state file: which side changed is asked of git.

An example is a Python block with ":tangle no", without ":eval no", that #+RESULTS: follow. Those
of a chapter are run in order in one namespace; what they print must be the results shown.
"""

import argparse
import contextlib
import difflib
import importlib.util
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import traceback
from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass
from itertools import pairwise, takewhile
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve()
DIFF_LINES_MAX = 20

# The blocks whose text Org does not parse: a source block shown inside one of them is no block.
BEGIN = re.compile(r"([ \t]*)#\+begin_(src|example|comment|export|verse)(?:[ \t]+(.*))?$", re.I)
HEADLINE = re.compile(r"\*+ ")
RESULTS = re.compile(r"[ \t]*#\+results(\[.*?\])?:", re.I)
FIXED_WIDTH = re.compile(r"[ \t]*:(?: |$)")
ESCAPED = re.compile(r"^([ \t]*,*),(?=\*|#\+)")
# Org itself also escapes an indented `*`, which needs none and is frequent in Python (`*args`).
TO_ESCAPE = re.compile(r"^([ \t]*(?=,*#\+|,+\*)|(?=\*))")


class Problem(Exception):
    """Something the user has to mend; its text says where and how."""


@dataclass(frozen=True)
class Block:
    """A block whose text is `lines[first:end]` of its chapter, 0-based, `end` excluded."""

    kind: str
    arguments: str
    column: str
    first: int
    end: int

    @property
    def is_python(self) -> bool:
        return self.kind == "src" and self.arguments.lower().split()[:1] == ["python"]

    def has(self, argument: str) -> bool:
        return f" {argument} " in f" {' '.join(self.arguments.split())} "


class Edit(NamedTuple):
    """Put `new` in the place of `lines[first:end]`."""

    first: int
    end: int
    new: list[str]


class Chapter:
    """A chapter's lines and blocks, and the source that its tangled blocks make.

    source: the lines before formatting; source_numbers: the chapter's line of each, 1-based;
    starts: how many of its lines that are not blank come before each of the blocks `tangled`.
    """

    def __init__(self, name: str, text: str) -> None:
        self.name, self.label = name, f"literate/{name}.org"
        self._raw = text.split("\n")  # with the "\r" of CRLF: what is not edited stays as it is
        self.lines = [line.removesuffix("\r") for line in self._raw]
        self.blocks = list(self._scan())
        self.tangled = [b for b in self.blocks if b.is_python and not b.has(":tangle no")]
        self.source: list[str] = []
        self.source_numbers: list[int] = []
        self.starts = [self._append(block) for block in self.tangled]

    def _scan(self) -> Iterator[Block]:
        end = -1
        for number, line in enumerate(self.lines):
            if number > end and (begin := BEGIN.match(line)):
                end = self._end_of(begin[2], number)
                yield Block(begin[2].lower(), begin[3] or "", begin[1], number + 1, end)

    def _end_of(self, kind: str, begin: int) -> int:
        is_end = re.compile(rf"[ \t]*#\+end_{kind}[ \t]*$", re.I).match
        hint = f"add #+end_{kind}"
        for number in range(begin + 1, len(self.lines)):
            if is_end(self.lines[number]):
                return number
            if HEADLINE.match(self.lines[number]):
                hint += f" before the headline in line {number + 1}, or write `,*` if it is none"
                break
        raise Problem(f"{self.label}:{begin + 1}: the {kind} block is not closed: {hint}")

    def _append(self, block: Block) -> int:
        body = self.body(block)
        # A block that an edit has emptied stays in its prose, and adds nothing to the module.
        is_blank = not any(map(str.strip, body))
        if self.source and not is_blank:
            self.source.append("")
            self.source_numbers.append(block.first)
        start = sum(1 for line in self.source if line.strip())
        if not is_blank:
            self.source += body
            self.source_numbers += range(block.first + 1, block.end + 1)
        return start

    def body(self, block: Block) -> list[str]:
        """The block's text, without its indentation and its comma escapes."""
        lines = self.lines[block.first : block.end]
        indent = block.column
        # Never more than all lines share: a line further left must not move alone.
        while not all(line.startswith(indent) for line in lines if line.strip()):
            indent = indent[:-1]
        return [ESCAPED.sub(r"\1", line.removeprefix(indent)) for line in lines]

    def with_body(self, block: Block, body: list[str]) -> Edit:
        """The edit after which `body(block)` is `body`."""
        escaped = (TO_ESCAPE.sub(r"\1,", line) for line in body)
        return Edit(block.first, block.end, [line and block.column + line for line in escaped])

    def edited(self, edits: list[Edit]) -> str:
        """The chapter's text after `edits`, which must not overlap."""
        raw = list(self._raw)
        for first, end, new in sorted(edits, reverse=True):
            # New lines end as the line above them does, so a CRLF chapter stays one.
            line_end = "\r" if raw[first - 1].endswith("\r") else ""
            raw[first:end] = [line + line_end for line in new]
        return "\n".join(raw)


@dataclass(frozen=True)
class Pair:
    """A chapter, the module it makes, and the text of the module there is (None: no file)."""

    root: Path
    chapter: Chapter
    tangled: str
    module_text: str | None

    @property
    def module(self) -> str:
        return module_label(self.chapter.name)

    @property
    def has_drifted(self) -> bool:
        return self.module_text != self.tangled


def module_label(name: str) -> str:
    return f"orgctx/core/{name}.py"


def read(root: Path, label: str) -> str:
    try:
        return (root / label).read_bytes().decode()
    except UnicodeDecodeError as error:
        raise Problem(f"{label}: not UTF-8 at byte {error.start}: save it as UTF-8") from None


def read_chapter(root: Path, name: str) -> Chapter:
    return Chapter(name, read(root, f"literate/{name}.org"))


def unix(text: str) -> str:
    """Line ends of a module are git's business, no difference between it and its chapter."""
    return text.replace("\r\n", "\n")


def write_all(root: Path, texts: dict[str, str]) -> None:
    """Replace the files whose text is new; none of them if one cannot be written beside it."""
    data = {root / label: text.encode() for label, text in texts.items()}
    changed = [path for path in data if not path.exists() or path.read_bytes() != data[path]]
    staged = {path: path.with_name(f".{path.name}.{os.getpid()}.tmp") for path in changed}
    try:
        for path, beside in staged.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            beside.write_bytes(data[path])
            if path.exists():
                shutil.copymode(path, beside)
        for path, beside in staged.items():
            os.replace(beside, path)
            print(f"wrote {path.relative_to(root)}")
    finally:
        for beside in staged.values():
            beside.unlink(missing_ok=True)


def attempt(problems: list[str], function: Callable[..., Any], *arguments: Any) -> Any:
    """The function's value; or None, and its Problem among `problems`: all are told at once."""
    try:
        return function(*arguments)
    except Problem as problem:
        problems.append(str(problem))
        return None


def chapter_names(root: Path, asked: list[str]) -> list[str]:
    """The chapters asked for, by name or by the path of either file; without any, all."""
    if not (root / "literate").is_dir():
        raise Problem(f"{root}: no folder literate/ in it: give the checkout with --root")
    present = sorted(path.stem for path in (root / "literate").glob("*.org"))
    names = list(dict.fromkeys(Path(name).stem for name in asked)) or present
    if unknown := [name for name in names if name not in present]:
        raise Problem(f"no chapter literate/{unknown[0]}.org; there are: {' '.join(present)}")
    return names


def formatted(root: Path, lines: list[str], label: str, numbers: list[int] | range) -> str:
    """The lines as ruff formats them; `numbers` are their line numbers in the file `label`.

    Raises: Problem, at the line in that file, if they are not Python.
    """
    if not solid(lines):
        return ""  # where ruff would keep one blank line
    # The file's name and folder make ruff find the pyproject.toml of the root.
    ruff = [sys.executable, "-m", "ruff", "format", "--stdin-filename", str(root / label), "-"]
    source = "\n".join(lines).encode()
    done = subprocess.run(ruff, input=source, cwd=root, capture_output=True, check=False)
    if done.returncode == 0:
        return done.stdout.decode()
    message = done.stderr.decode().strip()
    place = re.search(r"parse .*?(\d+):\d+: (.*)", message)
    if not place or not numbers:
        raise Problem(f"{label}: ruff failed: {message}")
    # A file that ends too soon is reported one line after its last.
    line = numbers[min(int(place[1]), len(numbers)) - 1]
    raise Problem(f"{label}:{line}: not Python: {place[2]}")


def tangle(root: Path, chapter: Chapter) -> str:
    """The module that the chapter makes. Raises: Problem, at the chapter's line."""
    return formatted(root, chapter.source, chapter.label, chapter.source_numbers)


def read_pair(root: Path, name: str) -> Pair | None:
    """The chapter and its module; None for a chapter that has none, as the index."""
    chapter, label = read_chapter(root, name), module_label(name)
    if not chapter.tangled:
        if (root / label).exists():
            raise Problem(f"{label} has no chapter: no block of {chapter.label} is tangled")
        return None
    module_text = unix(read(root, label)) if (root / label).exists() else None
    return Pair(root, chapter, tangle(root, chapter), module_text)


def collect(root: Path, asked: list[str]) -> tuple[list[Pair], list[str]]:
    """The chapters asked for that make modules, and what keeps others from being compared."""
    if importlib.util.find_spec("ruff") is None:
        install = shlex.join([sys.executable, "-m", "pip", "install", "ruff>=0.11"])
        raise Problem(f"ruff is missing, which formats the modules; install it: {install}")
    names = chapter_names(root, asked)
    problems: list[str] = []
    pairs = [attempt(problems, read_pair, root, name) for name in names]
    return list(filter(None, pairs)), problems


def orphans(root: Path) -> list[str]:
    modules = {path.stem for path in (root / "orgctx/core").glob("*.py")}
    repair = "{0} has no chapter: write literate/{1}.org, or: git rm {0}"
    alone = sorted(modules - {"__init__", *chapter_names(root, [])})
    return [repair.format(module_label(name), name) for name in alone]


def check(root: Path, asked: list[str]) -> int:
    """Print each module that its chapter does not make, and the repair. Returns: exit code."""
    pairs, problems = collect(root, asked)
    problems += [drift(pair) for pair in pairs if pair.has_drifted]
    problems += [] if asked else orphans(root)
    print("\n".join(problems) or f"modules that are what their chapters make: {len(pairs)}")
    return 1 if problems else 0


def drift(pair: Pair) -> str:
    if pair.module_text is None:
        return f"{pair.chapter.label}: its module {pair.module} is missing\n{repair(pair)}"
    tangled, module = pair.tangled.split("\n"), pair.module_text.split("\n")
    both = zip(tangled, module, strict=False)
    alike = sum(1 for _ in takewhile(lambda lines: lines[0] == lines[1], both))
    head = f"{pair.chapter.label} does not make {pair.module}: line {alike + 1} differs first"
    return "\n".join([head, *short_diff(tangled, module, "chapter", "module"), repair(pair)])


def short_diff(old: list[str], new: list[str], old_name: str, new_name: str) -> list[str]:
    diff = list(difflib.unified_diff(old, new, old_name, new_name, n=1, lineterm=""))
    hidden = len(diff) - DIFF_LINES_MAX
    return diff[:DIFF_LINES_MAX] + ([f"... {hidden} more lines"] if hidden > 0 else [])


def repair(pair: Pair) -> str:
    name = pair.chapter.name
    if changed_side(pair):
        return f"repair: {command(pair.root, 'sync', name)}"
    from_org = command(pair.root, "sync", "--from", "org", name)
    return f"repair: {from_org}   (or --from py: keep the module)"


def command(root: Path, *words: str) -> str:
    """This file's command as it can be typed in the current folder."""
    elsewhere = [] if root == HERE.parent.parent else ["--root", str(root)]
    return shlex.join(["python", os.path.relpath(HERE), *words, *elsewhere])


def sync(root: Path, asked: list[str], side: str | None) -> int:
    """Carry each edit over to the other side, or change nothing. Returns: exit code."""
    pairs, problems = collect(root, asked)
    texts: dict[str, str] = {}
    for pair in filter(lambda pair: pair.has_drifted, pairs):
        texts |= attempt(problems, synced, pair, side) or {}
    if problems:
        raise Problem("\n".join([*problems, "nothing was written"]))
    write_all(root, texts)
    return 0


def synced(pair: Pair, side: str | None) -> dict[str, str]:
    """The new texts of a pair that has drifted; `side`, if given, is the one to keep."""
    side = "org" if pair.module_text is None else side or changed_side(pair)
    if side is None:
        both = f"{pair.chapter.label} and {pair.module}"
        raise Problem(f"{both} differ, and not just one changed since git HEAD: --from org or py?")
    return {pair.module: pair.tangled} if side == "org" else carried_back(pair)


def changed_side(pair: Pair) -> str | None:
    """The side, "org" or "py", that alone changed since git HEAD; None if there is no such.

    A chapter whose prose alone changed has not: the module's edit leaves prose as it is.
    """
    if pair.module_text is None:
        return "org"
    module_changed = head_text(pair.root, pair.module) != pair.module_text
    if module_changed == has_new_source(pair):
        return None
    return "py" if module_changed else "org"


def has_new_source(pair: Pair) -> bool:
    text = head_text(pair.root, pair.chapter.label)
    with contextlib.suppress(Problem):  # a chapter broken in HEAD has been mended since
        return text is None or Chapter("", text).source != pair.chapter.source
    return True


def head_text(root: Path, label: str) -> str | None:
    """The file in git HEAD; None if it is not there, or if there is no HEAD, or no git."""
    git = ["git", "-C", str(root), "cat-file", "blob", f"HEAD:./{label}"]
    try:
        return unix(subprocess.run(git, capture_output=True, check=True).stdout.decode())
    except (OSError, subprocess.CalledProcessError, UnicodeDecodeError):
        return None


def carried_back(pair: Pair) -> dict[str, str]:
    """The chapter with the module's edit in its blocks, and the module as ruff formats it.

    Raises: Problem, unless the chapter then makes exactly that module.
    """
    chapter, lines = pair.chapter, (pair.module_text or "").split("\n")
    module = formatted(pair.root, lines, pair.module, range(1, len(lines) + 1))
    old, new = pair.tangled.split("\n"), module.split("\n")
    old_starts = carried(chapter.starts, chapter.source, old)
    starts, loose = carried(old_starts, old, new), set[int]()
    for _ in range(2):
        text = rewoven(chapter, shares(old, old_starts), shares(new, starts, loose))
        made = tangle(pair.root, Chapter(chapter.name, text))
        if made == module:
            return {chapter.label: text, pair.module: module}
        # Where the border's own blank line is too little, the blocks must bring more.
        loose = set(loose_ends(starts, made.split("\n"), new))
    raise Problem(
        f"{pair.module}: the blocks of {chapter.label} cannot make this edit exactly, "
        "for where two blocks meet there is a blank line: edit the chapter instead"
    )


def rewoven(chapter: Chapter, old_bodies: list[list[str]], bodies: list[list[str]]) -> str:
    """The chapter's text with the new bodies; a block whose share did not change stays as it is."""
    blocks = zip(chapter.tangled, old_bodies, bodies, strict=True)
    return chapter.edited([chapter.with_body(b, body) for b, was, body in blocks if body != was])


def loose_ends(starts: list[int], made: list[str], wanted: list[str]) -> Iterator[int]:
    """The blocks that too few or too many blank lines follow."""
    made_gaps, gaps = gaps_before(made), gaps_before(wanted)
    for number, start in enumerate(starts[1:]):
        if made_gaps[start : start + 1] != gaps[start : start + 1]:
            yield number


def shares(lines: list[str], starts: list[int], loose: Container[int] = ()) -> list[list[str]]:
    """The lines cut at `starts`, without the blank lines at a cut, or one less if it is loose."""
    places = [*solid(lines), len(lines)]
    cuts = [0, *(places[start] for start in starts[1:]), len(lines)]
    pieces = [lines[start:end] for start, end in pairwise(cuts)]
    for number, piece in enumerate(pieces):
        while piece and not piece[-1].strip():
            piece.pop()
            if number in loose:
                break
    return pieces


def solid(lines: list[str]) -> list[int]:
    """Where the lines are that are not blank. Blocks are told apart by these: ruff keeps them."""
    return [number for number, line in enumerate(lines) if line.strip()]


def gaps_before(lines: list[str]) -> list[int]:
    """How many blank lines come before each solid one, and before the end."""
    return [0, *(end - start - 1 for start, end in pairwise([*solid(lines), len(lines)]))]


def carried(starts: list[int], old: list[str], new: list[str]) -> list[int]:
    """The blocks' starts in `new`, from those in `old`, in solid lines; the order stays."""
    old_solid, new_solid = ([line for line in lines if line.strip()] for lines in (old, new))
    matcher = difflib.SequenceMatcher(None, old_solid, new_solid, autojunk=False)
    opcodes, gaps = matcher.get_opcodes(), gaps_before(new)
    return [0, *(carried_start(start, opcodes, gaps) for start in starts[1:])]


def carried_start(start: int, opcodes: list[Any], gaps: list[int]) -> int:
    touching = (opcode for opcode in opcodes if opcode[1] <= start <= opcode[2])
    tag, first, end, new_first, new_end = min(
        touching, key=lambda opcode: opcode[0] == "equal", default=("equal", 0, 0, 0, 0)
    )
    if tag == "equal":
        return int(new_first + start - first)
    # The edit is at the border of two blocks. New lines with no blank line between them and a
    # block belong to it (a decorator, a last statement); what stands alone, to the earlier block.
    wish = new_end if start == end else min(new_end, new_first + start - first)
    places = range(new_first, new_end + 1)
    return max(places, key=lambda place: (min(gaps[place], 2), -abs(place - wish)))


@dataclass(frozen=True)
class Example:
    """A block and its results: `lines[first:end]` of the chapter show the output `shown`."""

    chapter: Chapter
    block: Block
    first: int
    end: int
    shown: list[str]
    shown_block: Block | None  # None: fixed-width lines


def examples(root: Path, asked: list[str], write: bool) -> int:
    """Compare what the examples print with their results, or write it. Returns: exit code."""
    sys.path.insert(0, str(root))
    problems: list[str] = []
    texts: dict[str, str] = {}
    count = 0
    for name in chapter_names(root, asked):
        with contextlib.chdir(root):
            runs = attempt(problems, run_chapter, root, name) or []
        wrong = [(example, printed) for example, printed in runs if printed != example.shown]
        if write and wrong:
            chapter = wrong[0][0].chapter
            texts[chapter.label] = chapter.edited([results(*run) for run in wrong])
        problems += [difference(root, *run) for run in wrong if not write]
        count += len(runs)
    if problems:
        raise Problem("\n".join(problems))
    write_all(root, texts)
    print(f"examples run: {count}")
    return 0


def run_chapter(root: Path, name: str) -> list[tuple[Example, list[str]]]:
    """Run the examples in order and in one namespace, as a reader would type them in."""
    chapter = read_chapter(root, name)
    namespace = {"__name__": "__main__"}
    found = filter(None, (example_of(chapter, block) for block in chapter.blocks))
    return [(example, printed_by(example, namespace)) for example in list(found)]


def example_of(chapter: Chapter, block: Block) -> Example | None:
    """The block as an example; None if it is not to be run, or has no results to compare."""
    lines = chapter.lines
    # As Org has it, only blank lines stand between a block and its results.
    at = next((n for n in range(block.end + 1, len(lines)) if lines[n].strip()), block.end)
    is_run = block.is_python and block.has(":tangle no") and not block.has(":eval no")
    if not is_run or not RESULTS.match(lines[at]):
        return None
    for shown in chapter.blocks:
        if shown.kind == "example" and shown.first == at + 2:
            return Example(chapter, block, at + 1, shown.end + 1, chapter.body(shown), shown)
    fixed = list(takewhile(FIXED_WIDTH.match, lines[at + 1 :]))
    if not fixed and "".join(lines[at + 1 : at + 2]).strip():
        raise Problem(f"{chapter.label}:{at + 2}: results are `: ` lines or an example block")
    shown_lines = [FIXED_WIDTH.sub("", line, count=1) for line in fixed]
    return Example(chapter, block, at + 1, at + 1 + len(fixed), shown_lines, None)


def printed_by(example: Example, namespace: dict[str, Any]) -> list[str]:
    """The lines that the example prints. Raises: Problem, at the chapter's line, if it raises."""
    label, block = example.chapter.label, example.block
    # Blank lines first, so that Python counts lines as the chapter does.
    code = "\n" * block.first + "\n".join(example.chapter.body(block))
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            exec(compile(code, label, "exec"), namespace)
    except (Exception, SystemExit) as error:
        what = traceback.format_exception_only(error)[-1].strip()
        line = line_of(error, label) or block.first
        raise Problem(f"{label}:{line}: the example raised {what}") from None
    return printed.getvalue().removesuffix("\n").split("\n") if printed.getvalue() else []


def line_of(error: BaseException, label: str) -> int | None:
    """The line of the file `label` that raised the error, or is no Python."""
    if isinstance(error, SyntaxError) and error.filename == label:
        return error.lineno
    frames = traceback.extract_tb(error.__traceback__)
    return next((frame.lineno for frame in reversed(frames) if frame.filename == label), None)


def difference(root: Path, example: Example, printed: list[str]) -> str:
    chapter = example.chapter
    head = f"{chapter.label}:{example.first}: the example prints something else"
    diff = short_diff(example.shown, printed, "shown", "printed")
    write = f"if that is right: {command(root, 'examples', '--write', chapter.name)}"
    return "\n".join([head, *diff, write])


def results(example: Example, printed: list[str]) -> Edit:
    if example.shown_block:
        return example.chapter.with_body(example.shown_block, printed)
    lines = [f"{example.block.column}:{line and ' ' + line}" for line in printed]
    return Edit(example.first, example.end, lines)


def parser() -> argparse.ArgumentParser:
    common = argparse.ArgumentParser(add_help=False, argument_default=argparse.SUPPRESS)
    common.add_argument("--root", metavar="DIR", help="the checkout, if not this file's own")
    top = argparse.ArgumentParser(description=__doc__, parents=[common])
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, about in {
        "check": "exit 1 if a module is not what its chapter makes",
        "sync": "carry an edit of a chapter or of its module over to the other",
        "examples": "run the examples and compare what they print with their results",
    }.items():
        sub = commands.add_parser(name, help=about, description=about, parents=[common])
        sub.add_argument("names", nargs="*", metavar="NAME", help="a chapter; default: all")
        if name == "sync":
            keep = "the side to keep; default: the one that alone changed since git HEAD"
            sub.add_argument("--from", dest="side", choices=["org", "py"], help=keep)
        elif name == "examples":
            sub.add_argument("--write", action="store_true", help="write the results instead")
    return top


def main(arguments: list[str] | None = None) -> int:
    options = parser().parse_args(arguments)
    root = Path(getattr(options, "root", HERE.parent.parent)).resolve()
    try:
        if options.command == "check":
            return check(root, options.names)
        if options.command == "sync":
            return sync(root, options.names, options.side)
        return examples(root, options.names, options.write)
    except Problem as problem:
        print(problem, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
