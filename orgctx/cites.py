"""Cites: an answer's own citation of source lines, and the text that stood there.

Whoever reads a file gets a number for it, and may then say `[1:L12-L19]`: of what has the number 1,
lines 12 to 19. The numbers of one conversation are kept here, in memory or in a file. A cite is of
the file as it was when it was read. Nothing is ever written to a note.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import os
import re
import sys
import tempfile
import zlib
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import count, pairwise
from operator import itemgetter
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

from .config import load, users_file
from .core.heading import printable
from .core.model import Tree
from .core.outline import outline
from .core.privacy import conceal
from .errors import BadArgument, NotFound, Stale, Unreadable
from .store import files
from .store.store import Store, place_of

STYLES = ("link", "footnote")
KEPT_BYTES = 2_000_000
"""How much of the texts that were shown a registry keeps, packed."""
LONGEST_CHARS = 20_000_000
"""The longest text that is kept."""
PLACES = 1000
"""How many places of a line are looked at to find a text again."""
QUOTED_CHARS = 40
"""How much of a bad cite a problem quotes."""
MOST_DIGITS = 18
ZERO_WIDTH_SPACE = "\u200b"
"""What keeps Org from reading a character as markup (Org manual, Escape Character)."""

Spans = tuple[tuple[int, int], ...]
"""First and last of each run of lines, 1-based, in order."""


# --- A file at one time --------------------------------------------------------------------------


class Version(NamedTuple):
    """A file's text at one time, as far as it may be shown.

    lines: all down to the last that may be shown, without their ends; "" for one that may not.
    spans: those that may be shown.
    revision: git's blob id of the file, 40 hex digits; if there is something that may not be shown,
        the id of the file with such lines empty, so that it tells nothing of what is in them.
    blob: git's blob id of the file as it is.
    """

    lines: Sequence[str]
    spans: Spans
    revision: str
    blob: str

    @property
    def total(self) -> int:
        """The last line that may be shown; 0 if none may."""
        return len(self.lines)

    def texts(self) -> dict[int, str]:
        """Each line that may be shown, by its number."""
        return {n: self.lines[n - 1] for n in numbers(self.spans, 1, self.total)}


def version(tree: Tree) -> Version:
    r"""What may be shown of a file. Only "\n" and "\r\n" end lines.

    tree: as a store gives it, private and sealed text left out of its nodes.
    """
    spans = tuple(_spans(tree))
    rows = tree.text.split("\n")
    total = spans[-1][1] if spans else 0
    kept = [""] * total
    for first, last in spans:
        kept[first - 1 : last] = rows[first - 1 : last]
    blob = _blob_id(tree.text, tree.encoding)
    shown = "\n".join(kept) + ("\n" if 0 < total < len(rows) else "")
    is_whole = shown == tree.text
    ended = [row.removesuffix("\r") for row in kept[: len(rows) - 1]]
    lines = (*ended, *kept[len(rows) - 1 :])
    return Version(lines, spans, blob if is_whole else _blob_id(shown, tree.encoding), blob)


def _spans(tree: Tree) -> Iterator[tuple[int, int]]:
    """The lines of all entries, neighbours joined."""
    first, last = 1, 0
    for node in tree.nodes:
        if last and node.first_line > last + 1:
            yield first, last
            last = 0
        if node.last_line >= node.first_line:
            first = first if last else node.first_line
            last = node.last_line
    if last:
        yield first, last


def _blob_id(text: str, encoding: str) -> str:
    """What git calls a file of this text (gitformat-pack, Object types)."""
    data = text.encode(encoding)
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def clip(spans: Spans, first: int, last: int) -> tuple[int, int] | None:
    """First and last of the lines in `spans` that are from `first` to `last`; None if none is."""
    at = bisect_left(spans, first, key=itemgetter(1))
    end = bisect_right(spans, last, key=itemgetter(0)) - 1
    if at > end or first > last:
        return None
    return max(spans[at][0], first), min(spans[end][1], last)


def numbers(spans: Spans, first: int, last: int) -> list[int]:
    """The lines in `spans` that are from `first` to `last`."""
    return [number for a, b in runs(spans, first, last) for number in range(a, b + 1)]


def runs(spans: Spans, first: int, last: int) -> Iterator[tuple[int, int]]:
    """The same as first and last line of each run."""
    at = bisect_left(spans, first, key=itemgetter(1))
    end = bisect_right(spans, last, key=itemgetter(0))
    return ((max(a, first), min(b, last)) for a, b in spans[at:end])


# --- The registry --------------------------------------------------------------------------------


class Home(NamedTuple):
    """Where a file can be read again.

    place: on disk. roots: the folders of its memex; none if it stands alone.
    """

    place: str
    roots: tuple[str, ...]
    inlinetask_min_level: int | None


class Source(NamedTuple):
    """A file as it was when it was read.

    path: as addresses name it. title: of the file; may be empty.
    revision, blob, spans: see Version.
    """

    path: str
    title: str
    revision: str
    blob: str
    spans: Spans
    home: Home

    @property
    def total(self) -> int:
        """The last line that may be shown; 0 if none may."""
        return self.spans[-1][1] if self.spans else 0


class Stretch(NamedTuple):
    """Lines that were shown. title: of what was read. packed: their text, gzip in base64."""

    number: int
    first: int
    last: int
    title: str
    packed: str

    def texts(self) -> dict[int, str]:
        """Each line by its number. Raises: ValueError if it is damaged."""
        text = _unpacked(self.packed)
        return dict(zip(range(self.first, self.last + 1), text.split("\n"), strict=True))


def _packed(lines: Iterable[str]) -> str:
    data = "\n".join(lines).encode("utf-8", "surrogatepass")
    return base64.b64encode(gzip.compress(data, mtime=0)).decode()


def _unpacked(packed: str) -> str:
    """Raises: ValueError if it is damaged."""
    unpacker = zlib.decompressobj(wbits=31)
    try:
        data = unpacker.decompress(base64.b64decode(packed, validate=True), 4 * LONGEST_CHARS)
    except zlib.error as error:
        raise ValueError("no gzip") from error
    if not unpacker.eof:
        raise ValueError("cut")
    return data.decode("utf-8", "surrogatepass")


class Cites:
    """The files that were read in one conversation, each revision by its number from 1 up.

    Threads may share it.
    """

    def __init__(self) -> None:
        self.sources: list[Source] = []
        self._stretches: list[Stretch] = []
        self._stores: dict[Home, Store] = {}
        self._saved: dict[Path, bytes] = {}
        self._lock = Lock()

    def number(self, source: Source) -> int:
        """The number that a source has, or would get: one for each revision of a file."""
        for number, known in enumerate(self.sources, 1):
            if (known.home.place, known.revision) == (source.home.place, source.revision):
                return number
        return len(self.sources) + 1

    def take(self, number: int, source: Source, store: Store) -> bool:
        """Give a source its number. Returns: whether it is still its own, and no other's."""
        with self._lock:
            if number != self.number(source):
                return False
            self._stores[source.home] = store
            self.sources += [source] if number > len(self.sources) else []
            return True

    def keep(self, number: int, title: str, read: Version, first: int, last: int) -> None:
        """Remember lines that were shown; the oldest are forgotten where it would be too much.

        title: of what was read.
        """
        for run in runs(read.spans, first, last):
            lines = read.lines[run[0] - 1 : run[1]]
            if sum(map(len, lines)) <= LONGEST_CHARS:
                self._add(Stretch(number, *run, title, _packed(lines)))

    def _add(self, stretch: Stretch) -> None:
        with self._lock:
            others = [each for each in self._stretches if each[:3] != stretch[:3]]
            self._stretches = [*others, stretch]
            size = sum(len(each.packed) for each in self._stretches)
            while size > KEPT_BYTES:
                size -= len(self._stretches.pop(0).packed)

    def source(self, number: int) -> Source:
        """Raises: NotFound if nothing has this number."""
        if not (isinstance(number, int) and 1 <= number <= len(self.sources)):
            raise NotFound(f"no file has the number {number}", "read it first", str(number))
        return self.sources[number - 1]

    def resolve(self, number: int, first: int, last: int | None = None) -> str:
        r"""The text of some lines as it was when they were read.

        number: of the file. first, last: 1-based; those beyond the file's end stand for its last.
        Returns: the lines, each ended by "\n": from the file if it has not changed, else those that
            were shown, else from the git repository in which the file lies. If that has them not
            all, those of them that were shown.
        Raises: NotFound if there is no such file or line; Stale if their text is nowhere any more.
        """
        last = first if last is None else last
        if not (isinstance(first, int) and isinstance(last, int) and 1 <= first <= last):
            what = f"lines {first!r} to {last!r}: give whole numbers from 1 up"
            raise BadArgument(what, where="lines")
        source = self.source(number)
        if (found := _clamped(source, first, last)) is None:
            hint = f"give 1 to {source.total}" if source.total else ""
            raise NotFound(f"{source.path}: there are no lines {first}-{last}", hint, source.path)
        return "".join(f"{line}\n" for line in self.origin(number).texts(*found).values())

    def title(self, number: int, line: int) -> str:
        """What the line is a part of: the smallest of what was read, else the file."""
        holding = [s for s in self._stretches if s.number == number and s.first <= line <= s.last]
        titles = [s.title for s in sorted(holding, key=lambda s: s.last - s.first) if s.title]
        return titles[0] if titles else self.source(number).title

    def origin(self, number: int) -> Origin:
        """Where the text of a source can still be found. Raises: NotFound."""
        stretches = [each for each in self._stretches if each.number == number]
        source = self.source(number)
        return Origin(source, stretches, self._stores.get(source.home))

    @classmethod
    def load(cls, file: str | Path, is_new_allowed: bool = False) -> Cites:
        """Read a registry.

        is_new_allowed: whether a missing file is a registry without sources.
        Raises: NotFound; Unreadable if it is no registry, or a damaged one.
        """
        cites, name, place = cls(), str(file), _real(file)
        if place.exists() and not place.is_file():
            raise Unreadable(f"{name}: not a file", "name another", name)
        try:
            data = files.read(place, name)
        except NotFound:
            if is_new_allowed:
                return cites
            raise
        try:
            known = json.loads(data)
            cites.sources = [_checked_source(each) for each in known["sources"]]
            cites._stretches = [_checked_stretch(each, cites.sources) for each in known["shown"]]
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            hint = "name another file, or delete this one: it is made anew"
            raise Unreadable(f"{name}: not a file of cites, or damaged", hint, name) from error
        cites._saved[place] = data
        return cites

    def save(self, file: str | Path) -> bool:
        """Write the registry, all at once, for its owner alone.

        Returns: whether it is there now. It is not if the file is no longer what was loaded from
            it, or written to it, before.
        Raises: OSError.
        """
        data = json.dumps(self._data()).encode() + b"\n"
        place = _real(file)
        if data == self._saved.get(place):
            return True
        handle, name = tempfile.mkstemp(prefix=f".{place.name}.", dir=place.parent)
        try:
            with open(handle, "wb") as new:
                new.write(data)
                new.flush()
                os.fsync(new.fileno())
            if (place.read_bytes() if place.exists() else None) != self._saved.get(place):
                return False
            os.replace(name, place)
        finally:
            Path(name).unlink(missing_ok=True)
        self._saved[place] = data
        return True

    def _data(self) -> dict[str, Any]:
        sources = [{**each._asdict(), "home": each.home._asdict()} for each in self.sources]
        return {"sources": sources, "shown": [each._asdict() for each in self._stretches]}


def _real(file: str | Path) -> Path:
    """Where a file is, whatever links lead to it. Raises: BadArgument if it is no name."""
    if (place := place_of(str(file))) is None:
        raise BadArgument(f"{str(file)!r}: no name of a file", "name another", "cites")
    return Path(os.path.realpath(place))


def source_of(store: Store, tree: Tree, read: Version) -> Source:
    """A file, as a cite needs it to be known."""
    place = store.place(tree.path) or tree.path
    roots = tuple(str(root.folder) for root in store.roots)
    home = Home(str(place), roots, store.inlinetask_min_level)
    return Source(tree.path, tree.root.title, read.revision, read.blob, read.spans, home)


def _checked_source(data: Any) -> Source:
    """Raises: ValueError, TypeError or KeyError if it is none."""
    home, level = data["home"], data["home"]["inlinetask_min_level"]
    spans = tuple((_whole(first), _whole(last)) for first, last in data["spans"])
    ids = [data["revision"], data["blob"]]
    is_hex = all(re.fullmatch("[0-9a-f]{40}", each) for each in ids)
    is_ordered = all(first <= last for first, last in spans)
    is_ordered &= all(above[1] < below[0] for above, below in pairwise(spans))
    if not is_hex or not is_ordered or (level is not None and _whole(level) < 2):
        raise ValueError("no source")
    path, title = _text(data["path"]), _text(data["title"])
    found = Home(_text(home["place"]), tuple(map(_text, home["roots"])), level)
    return Source(path, title, data["revision"], data["blob"], spans, found)


def _checked_stretch(data: Any, sources: Sequence[Source]) -> Stretch:
    """Raises: ValueError, TypeError or KeyError if it is none."""
    number, first, last = (_whole(data[name]) for name in ("number", "first", "last"))
    stretch = Stretch(number, first, last, _text(data["title"]), _text(data["packed"]))
    if stretch.number > len(sources) or not stretch.texts():
        raise ValueError("no stretch")
    return stretch


def _whole(value: Any) -> int:
    if type(value) is not int or value < 1:
        raise ValueError("no line")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("no text")
    return value


# --- Text at a revision --------------------------------------------------------------------------


class Origin:
    """Where the text of a source can still be found: looked up once, when it is first wanted."""

    def __init__(self, source: Source, stretches: Sequence[Stretch], store: Store | None) -> None:
        """store: with which it was read; None to open it again."""
        self._source, self._stretches = source, stretches
        self._path = source.path if store or source.home.roots else source.home.place
        self._store = store or _opened(source.home)

    @cached_property
    def now(self) -> Version | None:
        """The file as it is; None if it cannot be read any more."""
        try:
            return version(self._store.tree(self._path)) if self._store else None
        except (NotFound, Unreadable):
            return None

    @cached_property
    def _texts_now(self) -> dict[int, str]:
        return self.now.texts() if self.now else {}

    @cached_property
    def _places_now(self) -> dict[str, list[int]]:
        places: dict[str, list[int]] = {}
        for number, text in self._texts_now.items():
            places.setdefault(text, []).append(number)
        return places

    @property
    def is_unchanged(self) -> bool:
        """Whether the file is as it was read."""
        return self.now is not None and self.now.revision == self._source.revision

    @cached_property
    def _shown(self) -> dict[int, str]:
        """Lines that were shown."""
        return {n: text for each in self._stretches for n, text in each.texts().items()}

    @cached_property
    def _committed(self) -> dict[int, str]:
        """Lines that the repository has, if they might be shown then and now."""
        tags = self._private_tags()
        data = None if tags is None else _blob(Path(self._source.home.place), self._source.blob)
        if data is None or tags is None or self._store is None:
            return {}
        try:
            text, encoding = files.decode(data, self._path)
        except Unreadable:
            return {}
        tree = outline(text, self._path, encoding, self._store.inlinetask_min_level)
        texts = version(conceal(tree, tags)).texts()
        wanted = numbers(self._source.spans, 1, self._source.total)
        return {number: texts[number] for number in wanted if number in texts}

    def _private_tags(self) -> frozenset[str] | None:
        """What the file's memex holds private; None if that is not known any more."""
        store = self._store
        if store is None or not store.roots:
            return store.config.private_tags if store else None
        root = store.root_name(self._path)
        return store.configs[root].private_tags if root else None

    def _ways(self) -> Iterator[Mapping[int, str]]:
        if self.is_unchanged:
            yield self._texts_now
        yield self._shown
        yield self._committed

    def texts(self, first: int, last: int) -> dict[int, str]:
        """The lines that might be shown, as they were; if not all are known, those that were shown.

        Raises: Stale if there are none.
        """
        wanted = numbers(self._source.spans, first, last)
        for known in self._ways():
            if all(number in known for number in wanted):
                return {number: known[number] for number in wanted}
        rest = {**self._committed, **self._shown}
        if not (part := {number: rest[number] for number in wanted if number in rest}):
            what = f"{self._source.path}: lines {first}-{last} are no longer there as they were"
            raise Stale(what, "read the file again", self._source.path)
        return part

    def place(self, first: int, last: int) -> tuple[int, int] | None:
        """Where the text of some lines is now: the nearest place that has it unchanged.

        Returns: first and last line; None if it is not found.
        """
        if self.is_unchanged:
            return first, last
        try:
            old = self.texts(first, last) if self.now else {}
        except Stale:
            return None
        if len(old) < len(numbers(self._source.spans, first, last)):
            return None
        shift = self._shift(old)
        return None if shift is None else (first + shift, last + shift)

    def _shift(self, old: Mapping[int, str]) -> int | None:
        """By how many lines a text has moved. The line that is found least often leads to it."""
        known, now = self._places_now, self._texts_now
        anchor = min(list(old)[:PLACES], key=lambda number: len(known.get(old[number], ())))
        places = known.get(old[anchor], [])
        middle = bisect_left(places, anchor)
        near = places[max(middle - PLACES // 2, 0) : middle + PLACES // 2]
        for shift in sorted((place - anchor for place in near), key=abs):
            if all(now.get(number + shift) == text for number, text in old.items()):
                return shift
        return None


def _opened(home: Home) -> Store | None:
    """A store in which the file is, as it is set up now; None if its root is gone."""
    level, config = home.inlinetask_min_level, load(users_file(), is_users=True)
    try:
        if home.roots:
            return Store(home.roots, level, config)
        return Store.of_files([home.place], level, config)
    except NotFound:
        return None


def _blob(place: Path, blob: str) -> bytes | None:
    """The bytes that the git repository around a file has under an ID; None if it has none."""
    from dulwich import errors, objects, repo  # hardly ever

    broken = (errors.ChecksumMismatch, errors.FileFormatException, errors.ApplyDeltaError)
    other = (repo.UnsupportedVersion, repo.UnsupportedExtension, repo.InvalidWorktreeConfiguration)
    try:
        with repo.Repo.discover(place.parent) as repository:
            found = repository.object_store[objects.ObjectID(blob.encode())]
            return found.as_raw_string() if found.type_name == b"blob" else None
    except (errors.NotGitRepository, KeyError, OSError, ValueError, zlib.error, *broken, *other):
        return None


# --- Cites in an answer --------------------------------------------------------------------------


class CiteProblem(NamedTuple):
    """A cite that is not as it was written. line: of the answer, 1-based. cite: its beginning."""

    line: int
    cite: str
    what: str
    is_removed: bool


_TOKEN = re.compile(
    r"""
    \[\[ (?! [ \t]*+ [0-9]++ [ \t]*+ : [ \t]*+ [Ll] )  # a link, and no cite in brackets
        (?: [^][\\\n] | \\[^\n] )++ \]
        (?: \[ (?: [^][\n] | \[(?!\[) | \](?!\]) )*+ \] )? \]
    | (?<! [^\s\u200b\-('"{] )  # verbatim and code, if not a cite is what ends it
        (?: =(?!\s)[^=\n]++(?<!\s)= | ~(?!\s)[^~\n]++(?<!\s)~ )
        (?! [^\s\u200b\-.,;:!?'")}\[\\] | \[ [ \t]*+ [0-9]++ [ \t]*+ : )
    | \[ [ \t]*+ (?P<number>[0-9]++) [ \t]*+ : (?P<lines>[^][\n\u200b]*+) \]
    """,
    re.VERBOSE,
)
_CITE = re.compile(r"\[[1-9][0-9]*:L([1-9][0-9]*)(?:-L([1-9][0-9]*))?\]")
_LIKE_LINES = re.compile(r"[ \t]*+l(?:\S*+[ \t]*+\Z|(?:ines?)?[ \t]*+[0-9])", re.IGNORECASE)
_LIKE_NUMBERS = re.compile(r"[ \t]*+[0-9][0-9Ll \t,;:–—-]*+\Z")
_MARK = re.compile(
    r"^(?:\*+ |[ \t]*+#\+(begin|end)_(src|example|export|comment)\b.*\n?)", re.I | re.M
)
_FOOTNOTE = re.compile(r"\[fn:([0-9]{1,9})[\]:]")


def normalised(answer: str, cites: Cites, style: str = "link") -> tuple[str, list[CiteProblem]]:
    """Make each cite of an answer a link to the lines that it means.

    style: "link" puts it in the cite's place, "footnote" below the answer.
    Returns: (the answer, what was wrong). A cite that is malformed or of what nobody read is
        removed; one beyond the file's end becomes one of its last line. What Org takes literally,
        and links, are left as they are.
    Raises: BadArgument.
    """
    if not isinstance(answer, str):
        raise BadArgument(f"an answer is text, not {type(answer).__name__}", where="answer")
    if style not in STYLES:
        raise BadArgument(f"unknown style: {style!r}", f"choose {' or '.join(STYLES)}", "style")
    writer = _Writer(answer, cites, style == "footnote")
    writer.write()
    return writer.text(), writer.problems


class _Writer:
    """An answer, as it is written anew."""

    def __init__(self, answer: str, cites: Cites, is_in_footnotes: bool) -> None:
        self._answer, self._cites, self._is_in_footnotes = answer, cites, is_in_footnotes
        self.problems: list[CiteProblem] = []
        self._parts: list[str] = []
        self._is_in_brackets = False
        self._line, self._counted = 1, 0
        self._origins: dict[int, Origin] = {}
        self._links: dict[tuple[int, int, int], str] = {}
        self._footnotes: dict[str, int] = {}
        taken = {int(label) for label in _FOOTNOTE.findall(answer)}
        self._free_labels = (label for label in count(1) if label not in taken)

    def write(self) -> None:
        """Go through the answer once."""
        done = 0
        for match in _tokens(self._answer):
            if match["number"] is None:
                continue
            written = self._cite(match)
            if written is not None:
                self._put(self._answer[done : match.start()])
                self._replace(written, self._answer[match.end() : match.end() + 1])
                done = match.end()
        self._put(self._answer[done:])

    def text(self) -> str:
        """The answer, and its footnotes."""
        text = "".join(self._parts)
        if not self._footnotes:
            return text
        newline = "\r\n" if "\r\n" in self._answer else "\n"
        above = newline * (2 - text[-2 * len(newline) :].count("\n"))
        notes = (f"[fn:{label}] {link}{newline}" for link, label in self._footnotes.items())
        return text + above + "".join(notes)

    def _put(self, text: str) -> None:
        if text:
            self._parts.append(text)
            closed = max(text.rfind("]"), text.rfind("\n"))
            if closed >= 0 or "[" in text:
                self._is_in_brackets = text.rfind("[") > closed

    def _replace(self, written: str, behind: str) -> None:
        """Put what stands for a cite. behind: the next character.

        For one that is removed nothing does, and a blank too many goes with it; but what is around
        it shall not make a new one. A footnote at the start of a line would be taken for its text.
        """
        last = self._parts[-1] if self._parts else ""
        if not written and self._is_in_brackets:
            self._parts.append(ZERO_WIDTH_SPACE)
        elif not written:
            if not behind or behind in " \t\r\n.,;:!?":
                self._drop_blank()
        else:
            is_first = self._is_in_footnotes and (not last or last.endswith("\n"))
            self._put(ZERO_WIDTH_SPACE * is_first + written)

    def _drop_blank(self) -> None:
        if self._parts and self._parts[-1].endswith((" ", "\t")):
            last = self._parts.pop()[:-1]
            self._parts += [last] if last else []

    def _cite(self, match: re.Match[str]) -> str | None:
        """What stands for a cite: a link, "" if it is removed, None if it is none."""
        number, exact = _number(match["number"]), _CITE.fullmatch(match[0])
        is_known = 1 <= number <= len(self._cites.sources)
        if exact is None:
            like = _LIKE_LINES.match(match["lines"])
            if not like and not (is_known and _LIKE_NUMBERS.match(match["lines"])):
                return None
            return self._remove(match, "write [n:L12] or [n:L12-L19]")
        first, last = _number(exact[1]), _number(exact[2] or exact[1])
        if first > last:
            return self._remove(match, "the first line is behind the last")
        if not is_known:
            return self._remove(match, "nothing that was read has this number")
        return self._known_cite(match, number, first, last)

    def _known_cite(self, match: re.Match[str], number: int, first: int, last: int) -> str:
        source = self._cites.source(number)
        found = _clamped(source, first, last)
        if found is None:
            return self._remove(match, "there are no such lines")
        if last > source.total:
            self._tell(match, f"the file has {source.total} lines", is_removed=False)
        link = self._link(number, *found)
        return self._footnote(link) if self._is_in_footnotes else link

    def _link(self, number: int, first: int, last: int) -> str:
        key = number, first, last
        if key not in self._links:
            if number not in self._origins:
                self._origins[number] = self._cites.origin(number)
            place = self._origins[number].place(first, last)
            source, title = self._cites.source(number), self._cites.title(number, first)
            self._links[key] = _written(source.path, title, place or (first, last), place is None)
        return self._links[key]

    def _footnote(self, link: str) -> str:
        if link not in self._footnotes:
            self._footnotes[link] = next(self._free_labels)
        return f"[fn:{self._footnotes[link]}]"

    def _remove(self, match: re.Match[str], what: str) -> str:
        self._tell(match, what, is_removed=True)
        return ""

    def _tell(self, match: re.Match[str], what: str, is_removed: bool) -> None:
        self._line += self._answer.count("\n", self._counted, match.start())
        self._counted = match.start()
        whole = match[0]
        quoted = whole if len(whole) <= QUOTED_CHARS else f"{whole[:QUOTED_CHARS]}…"
        self.problems.append(CiteProblem(self._line, quoted, what, is_removed))


def _tokens(answer: str) -> Iterator[re.Match[str]]:
    """Links, verbatim text and what looks like a cite, outside of literal blocks."""
    done = 0
    for start, stop in [*_literal(answer), (len(answer), len(answer))]:
        yield from _TOKEN.finditer(answer, done, start)
        done = stop


def _literal(answer: str) -> Iterator[tuple[int, int]]:
    """Where blocks are whose text Org takes as it stands; one that is not closed is none."""
    marks = list(_MARK.finditer(answer))
    closing: dict[int, int] = {}
    ends: dict[str, int] = {}
    for mark in reversed(marks):
        if mark[1] is None:
            ends.clear()
        elif mark[1].lower() == "end":
            ends[mark[2].lower()] = mark.end()
        elif mark[2].lower() in ends:
            closing[mark.start()] = ends[mark[2].lower()]
    done = 0
    for start in sorted(closing):
        if start >= done:
            done = closing[start]
            yield start, done


def _number(digits: str) -> int:
    """A number; one with more digits than any that counts here is as good as the largest."""
    return int(digits) if len(digits) < MOST_DIGITS else sys.maxsize


def _clamped(source: Source, first: int, last: int) -> tuple[int, int] | None:
    """First and last of the lines that may be shown; beyond the end there is the last line."""
    return clip(source.spans, min(first, source.total), min(last, source.total))


def _written(path: str, title: str, lines: tuple[int, int], has_changed: bool) -> str:
    """The link, as Org wants it (its functions org-link-escape and org-link-make-string)."""
    place = re.sub(r"(\\*)([][])", lambda m: f"{m[1] * 2}\\{m[2]}", printable(path))
    name = " ".join(printable(title).split()) or printable(path)
    name = re.sub(r"([][])(?=\1)", rf"\1{ZERO_WIDTH_SPACE}", name)
    first, last = lines
    where = f"line {first}" if first == last else f"lines {first}-{last}"
    note = " (the file has changed)" if has_changed else ""
    return f"[[file:{place}::{first}][{name}, {where}{note}]]"
