"""Notes as the files of a deep agent, which edits them in a working copy of its thread."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import wraps
from os import PathLike
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar, Unpack

try:
    from deepagents.backends.protocol import (
        FILE_NOT_FOUND,
        INVALID_PATH,
        IS_DIRECTORY,
        BackendProtocol,
        DeleteResult,
        EditResult,
        FileData,
        FileDownloadResponse,
        FileInfo,
        FileUploadResponse,
        GlobResult,
        GrepMatch,
        GrepResult,
        LsResult,
        ReadResult,
        WriteResult,
    )
except ImportError as error:
    raise ImportError(
        f"orgctx.surfaces.deepagents needs deepagents ({error}): pip install 'orgctx[deepagents]'"
    ) from None

from ..cites import Cites
from ..errors import BadArgument, NotFound, OrgctxError, OutsideRoot, Unreadable
from ..store import files
from ..store.roots import check_name
from ..views.reading import Reading, read
from ..views.view import READING_BUDGET, Limit
from ..workcopy import Copy, Report, Workcopies
from .output import printable
from .threads import Threads
from .tools import known

if TYPE_CHECKING:
    from .turns import Middleware, Policy

P = ParamSpec("P")
R = TypeVar("R")
LINES = 1000
"""The most lines that a search gives, unless more are asked for."""


def told(error: Exception) -> str:
    """What is wrong, on one line: class, message, hint."""
    what = known(error)
    hint = f"; {what.hint}" if what.hint else ""
    return printable(f"{type(what).__name__}: {what.message}{hint}")


def answered(
    failed: Callable[[str], R],
) -> Callable[
    [Callable[Concatenate[OrgctxBackend, P], R]], Callable[Concatenate[OrgctxBackend, P], R]
]:
    """A method whose errors are answers. failed: makes one of what is wrong."""

    def wrapped(
        method: Callable[Concatenate[OrgctxBackend, P], R],
    ) -> Callable[Concatenate[OrgctxBackend, P], R]:
        @wraps(method)
        def asked(self: OrgctxBackend, /, *args: P.args, **kwargs: P.kwargs) -> R:
            try:
                return method(self, *args, **kwargs)
            except Exception as error:
                return failed(told(error))

        return asked

    return wrapped


class OrgctxBackend(BackendProtocol):
    """The notes under some roots, as a backend of `deepagents.create_deep_agent`.

    Each thread has a working copy of its own, `thread-{thread_id}`, in which its sub-agents work
    too. The notes change when it is committed: `middleware` does so at the end of each turn.

    Paths are those of the notes from their root, or from the root's name where there are several,
    and begin with a slash. No method raises: what is wrong is the `error` of its answer. Each has
    its async twin, which does the work in another thread (see BackendProtocol).
    """

    def __init__(
        self,
        *roots: str | PathLike[str],
        state: str | PathLike[str] | None = None,
        thread_id: str = "default",
    ) -> None:
        """Name the notes.

        roots, state: as for `orgctx.workcopy.Workcopies`.
        thread_id: the thread of runs that have none, and of calls outside of a run.
        """
        self._threads = Threads(Workcopies(*roots, state=state), thread_id)

    def copy(self, thread_id: str | None = None) -> Copy:
        """The working copy of a thread, with all its tools. Raises: OrgctxError.

        thread_id: by default, here and below, that of the run in which this is called.
        """
        return self._threads.copy(self._threads.copy_id(thread_id))

    def copy_id(self, thread_id: str | None = None) -> str:
        """The name of that copy, for `orgctx work` and `Workcopies`."""
        return self._threads.copy_id(thread_id)

    def cites(self, thread_id: str | None = None) -> Cites:
        """What a thread has read through `middleware`, by the numbers of its cites."""
        return self._threads.cites(self._threads.copy_id(thread_id))

    def commit(
        self,
        message: str,
        on_conflict: str = "refuse",
        allow_shrink: bool = False,
        thread_id: str | None = None,
    ) -> Report:
        """Bring what a thread has edited into the notes; see `Workcopies.commit`.

        Returns: Report, an outcome for each path; none if nothing was edited. Raises: OrgctxError.
        """
        copy_id = self._threads.copy_id(thread_id)
        return self._threads.commit(copy_id, message, on_conflict, allow_shrink)

    def discard(self, thread_id: str | None = None) -> list[str]:
        """Throw away what a thread has edited; the history keeps it.

        Returns: the paths. Raises: OrgctxError.
        """
        return self._threads.discard(self._threads.copy_id(thread_id))

    def middleware(
        self, backend: BackendProtocol | None = None, **policy: Unpack[Policy]
    ) -> list[Middleware]:
        """What `create_deep_agent` takes as `middleware` for these notes.

        `turns.FileTools` takes the place of deepagents' own file tools, so that reads show lines
        by number, to be cited; `turns.Turns` commits at the end of each turn.
        backend: the one that the agent has, if these notes are only a part of it.
        policy: see `turns.Turns`.
        """
        from .turns import FileTools, Turns  # which know this module

        return [FileTools(self, backend), Turns(self, **policy)]

    # --- The protocol ----------------------------------------------------------------------------

    @answered(LsResult)
    def ls(self, path: str) -> LsResult:
        """List the notes and folders in a folder."""
        copy, inside = self.copy(), _inside(path)
        if inside and copy.store.has(inside):  # deepagents looks for the word before it deletes
            raise BadArgument(f"{path}: not_a_directory", "it is a note, read it", "path")
        infos = [
            FileInfo(
                path=f"/{item.path}/" if item.is_folder else f"/{item.path}",
                is_dir=item.is_folder,
                size=item.size,
                modified_at=datetime.fromtimestamp(item.mtime / 1e9, UTC).isoformat(),
            )
            for item in copy.items(inside)
        ]
        return LsResult(entries=infos)

    @answered(ReadResult)
    def read(self, file_path: str, offset: int = 0, limit: int = 2000) -> ReadResult:
        r"""Read lines of a note, verbatim; "\n" and "\r\n" end them, and nothing else does.

        offset: how many to skip. limit: the most. Either may be negative, which is none.
        """
        if any(not isinstance(each, int) for each in (offset, limit)):
            what = f"offset {offset!r}, limit {limit!r}: give whole numbers"
            raise BadArgument(what, where="offset")
        start, most = max(offset, 0), max(limit, 0)
        text = _text(self.copy(), file_path)
        if not text.strip():
            return ReadResult(file_data=_data(text))
        if not most:
            return ReadResult(file_data=_data(""), no_lines_requested=True)
        lines = text.removesuffix("\n").split("\n")
        end, total = min(start + most, len(lines)), len(lines)
        if start >= total:
            what = f"{file_path}: line offset {start} exceeds file length ({total} lines)"
            raise BadArgument(what, f"give 0 to {total - 1}", "offset")
        shown = "\n".join(lines[start:end])
        return ReadResult(
            file_data=_data(shown + "\n" if end < total or text.endswith("\n") else shown),
            total_lines=total,
            start_line=start + 1,
            end_line=end,
            next_offset=end if end < total else None,
        )

    @answered(GrepResult)
    def grep(
        self,
        pattern: str,
        path: str | None = None,
        glob: str | None = None,
        *,
        max_count: int | None = None,
    ) -> GrepResult:
        """Find the lines that a text is in.

        path: a folder, or one note. glob: of which notes. max_count: int > 0, the most lines.
        """
        most = LINES if max_count is None else max_count
        found = self.copy().matches(pattern, _inside(path or ""), glob=glob or "", limit=most)
        matches = [GrepMatch(path=f"/{p}", line=line, text=text) for p, line, text in found.matches]
        return GrepResult(matches=matches, truncated=found.is_cut)

    @answered(GlobResult)
    def glob(self, pattern: str, path: str | None = None) -> GlobResult:
        """Find notes by their paths; see `Copy.glob`."""
        found = self.copy().glob(pattern, _inside(path or ""))
        infos = [FileInfo(path=f"/{each}", is_dir=False) for each in found.paths]
        if not found.left_out:
            return GlobResult(matches=infos)
        return GlobResult(matches=infos, truncated=True, truncation_reason="budget")

    @answered(WriteResult)
    def write(self, file_path: str, content: str) -> WriteResult:
        """Make a note, or put another text in the place of all of one."""
        return WriteResult(path=self._written(file_path, content))

    @answered(EditResult)
    def edit(
        self, file_path: str, old_string: str, new_string: str, replace_all: bool = False
    ) -> EditResult:
        """Put one text in place of another in a note.

        A line of `new_string` that would be a headline beside the entry is refused, as a bullet of
        Markdown is, unless `old_string` has a headline.
        """
        copy = self.copy()
        text = _text(copy, file_path)
        path = _inside(file_path)
        try:
            copy.edit(path, old_string, new_string, replace_all=replace_all)
        except BadArgument as error:
            if error.where != "new":
                raise
            hint = "indent it; or to add a headline, have the one beside it in old_string too"
            raise BadArgument(error.message, hint, "new_string") from error
        count = text.count(old_string.replace("\r\n", "\n")) if replace_all else 1
        return EditResult(path=f"/{path}", occurrences=count)

    @answered(DeleteResult)
    def delete(self, file_path: str) -> DeleteResult:
        """Delete a note, or a folder with all notes below it."""
        copy, path = self.copy(), _inside(file_path).rstrip("/")
        if not path or path in copy.store.tops:
            hint = "name a note, or a folder in it"
            raise BadArgument(f"{file_path}: a root of the notes", hint, "path")
        if _is_folder(copy, path):
            _clear(copy, path)
        else:
            _text(copy, path)
            copy.delete(path)
        return DeleteResult(path=f"/{path}")

    def upload_files(self, files: list[tuple[str, bytes]]) -> list[FileUploadResponse]:
        """Write notes, each from its text in UTF-8."""
        return [self._uploaded(each) for each in files]

    def download_files(self, paths: list[str]) -> list[FileDownloadResponse]:
        """Read notes, each as its text in UTF-8, with line feeds."""
        return [self._downloaded(path) for path in paths]

    # --- What it is made of ----------------------------------------------------------------------

    def numbered(
        self, file_path: str, offset: int, limit: int, budget: int = READING_BUDGET
    ) -> Reading:
        """Lines of a note behind their numbers, to be cited; see `orgctx.views.reading.read`.

        offset, limit: as for `read`. budget: int > 0, the most tokens. Raises: OrgctxError.
        """
        lines = max(offset, 0) + 1, max(offset, 0) + limit
        store, path = self.copy().store, _inside(file_path)
        return read(store, path, Limit(budget), lines=lines, cites=self.cites(), call=_reads_on)

    def _written(self, file_path: str, text: str) -> str:
        copy, path = self.copy(), _inside(file_path)
        if path and (other := copy.store.file(path)) not in (None, path):
            raise BadArgument(f"{file_path}: another name of /{other}", "use that one", "path")
        copy.write(path, text)
        return f"/{path}"

    def _uploaded(self, file: tuple[str, bytes]) -> FileUploadResponse:
        path = ""
        try:
            if not (isinstance(file, tuple | list) and len(file) == 2):
                raise BadArgument(f"{file!r}: no file", "give path and bytes", "file")
            path, data = file
            if not isinstance(data, bytes):
                raise BadArgument(f"{path}: no bytes", "give the text in UTF-8", "data")
            text, encoding = files.decode(data, str(path))
            if not encoding.startswith("utf-8"):
                raise Unreadable(f"{path}: in {encoding}", "give the text in UTF-8", "data")
            self._written(path, text)
        except Exception as error:
            return FileUploadResponse(str(path), _code(error))
        return FileUploadResponse(path)

    def _downloaded(self, path: str) -> FileDownloadResponse:
        try:
            copy = self.copy()
            if _is_folder(copy, _inside(path)):
                return FileDownloadResponse(path, error=IS_DIRECTORY)
            return FileDownloadResponse(path, content=_text(copy, path).encode())
        except Exception as error:
            return FileDownloadResponse(str(path), error=_code(error))


def _inside(path: str) -> str:
    """The address of what an agent calls by its path. Raises: BadArgument."""
    check_name("path", path)
    return path.lstrip("/")


def _text(copy: Copy, file_path: str) -> str:
    """The text of a note, which has to be called by its path: rules for paths hold for it then.

    Raises: NotFound with near matches; OutsideRoot, BadArgument, Unreadable.
    """
    path = _inside(file_path)
    text = copy.text(path).text
    if not copy.store.has(path):  # an ID, or another form of its name
        other = copy.store.file(path)
        hint = f"its path is /{other}" if other else "give its path"
        raise NotFound(f"{file_path}: no path of a note", hint, "path")
    return text


def _is_folder(copy: Copy, path: str) -> bool:
    if path and copy.store.has(path):
        return False
    try:
        copy.items(path)
    except (NotFound, OutsideRoot):
        return False
    return True


def _clear(copy: Copy, folder: str) -> None:
    """Delete a folder and all that is below it."""
    for item in copy.items(folder):
        if item.is_folder:
            _clear(copy, item.path)
        else:
            copy.delete(item.path)
    copy.rmdir(folder)


def _data(text: str) -> FileData:
    return FileData(content=text, encoding="utf-8")


def _code(error: Exception) -> str:
    """What is wrong, in one of the protocol's words where it has one."""
    if isinstance(error, NotFound):
        return FILE_NOT_FOUND
    is_of_path = isinstance(error, OrgctxError) and error.where == "path"
    return INVALID_PATH if is_of_path or isinstance(error, OutsideRoot) else told(error)


def _reads_on(given: Mapping[str, str]) -> str:
    """The call that reads on, as the tool of deepagents wants it."""
    first = int(given["lines"].partition("-")[0])
    return f"read_file, offset {first - 1}"
