"""The Python surface: `open_memex`, and what can be asked of a memex."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from os import PathLike, fspath
from typing import TYPE_CHECKING, Unpack

from ..config import load, users_file
from ..core.lens import BACKGROUND
from ..core.model import Problem, View
from ..store.address import resolve
from ..store.opening import open_store
from ..store.roots import is_file
from ..store.store import Store
from ..tokens import DEFAULT_ENCODING
from ..views.focus import focus
from ..views.listing import LINES, Listing, ls
from ..views.overview import seen, survey
from ..views.query import How, query_of
from ..views.searching import ENTRIES, Found, Page, search
from ..views.view import BUDGET, CONTEXT_BUDGET, EXPLAIN_BUDGET, READING_BUDGET, Limit, texts
from .calls import Calls, noted
from .node import Node

if TYPE_CHECKING:
    from ..cites import CiteProblem, Cites
    from ..views.context import Bundle
    from ..views.explaining import Explanation
    from ..views.reading import Reading
    from ..views.weighing import Weighing
    from .tools import Tools


class Memex:
    """Org notes under one or more roots. Every answer is read from the files as they are now.

    Several threads may ask the same memex.

    ledger: the calls so far, and what their answers cost; refusals apart.
    """

    def __init__(
        self,
        store: Store,
        workspace: str | PathLike[str] | None = None,
        work: str | None = None,
    ) -> None:
        """work: the working copy whose notes these are, if they are of one."""
        self._store, self._workspace, self._work = store, workspace, work
        self._place, self._confines = tuple(_place(store, work)), tuple[str, ...]()
        self.ledger = Calls()

    @noted
    def focus(
        self,
        *addresses: str,
        budget: int = BUDGET,
        unit: str = "tokens",
        encoding: str = DEFAULT_ENCODING,
        lens: str = "foveal",
        ids: str = "full",
        background: int = BACKGROUND,
    ) -> View:
        """Show nodes in their context within a budget; see `orgctx.views.focus.focus`.

        budget: int > 0, the most the text may cost in `unit`, "tokens" or "chars".
        encoding: a name in `orgctx.tokens.ENCODINGS`.
        ids: what skeletons show of IDs: "full", "short" (a unique prefix of them) or "none".
        """
        limit = Limit(budget, unit, encoding, ids)
        return focus(self._store, addresses, limit, lens, background)

    @noted
    def overview(
        self,
        *addresses: str,
        budget: int = BUDGET,
        unit: str = "tokens",
        encoding: str = DEFAULT_ENCODING,
        ids: str = "full",
    ) -> View:
        """Show all of the memex at low resolution; see `orgctx.views.overview.survey`.

        addresses: nodes to show in full. Other parameters as for `focus`.
        """
        return survey(self._store, addresses, Limit(budget, unit, encoding, ids))

    @noted
    def explain(
        self,
        *addresses: str,
        budget: int = BUDGET,
        unit: str = "tokens",
        encoding: str = DEFAULT_ENCODING,
        lens: str = "foveal",
        ids: str = "full",
        background: int = BACKGROUND,
        explain_budget: int = EXPLAIN_BUDGET,
    ) -> Explanation:
        """Tell why a view is as it is; see `orgctx.views.explaining.explain`.

        lens: as for `focus`, or "overview". explain_budget: int > 0, the most tokens that
            `explanation.text` may cost. Other parameters as for `focus`.
        Returns: Explanation; `explanation.view` is the view.
        """
        from ..views.explaining import explain  # a focus should not pay for it

        limit = Limit(budget, unit, encoding, ids)
        grown = seen(self._store, addresses, limit, lens, background)
        return explain(grown, explain_budget)

    def picture(
        self,
        *addresses: str,
        budget: int = BUDGET,
        unit: str = "tokens",
        encoding: str = DEFAULT_ENCODING,
        lens: str = "foveal",
        ids: str = "full",
        background: int = BACKGROUND,
    ) -> str:
        """Draw a view in its memex, as a page for people; see `orgctx.views.picture.picture`.

        Parameters as for `explain`. Returns: HTML, which no budget bounds: it is not for a model.
        """
        from ..views.picture import picture  # a focus should not pay for it

        limit = Limit(budget, unit, encoding, ids)
        return picture(seen(self._store, addresses, limit, lens, background))

    @noted
    def context(
        self,
        query: str,
        *,
        mode: str = "all",
        rank: int | None = None,
        collection: str | Iterable[str] = (),
        explain: bool = False,
        semantic: bool | None = None,
        budget: int = CONTEXT_BUDGET,
        unit: str = "tokens",
        encoding: str = DEFAULT_ENCODING,
    ) -> Bundle:
        """Find where the notes answer a query, and what to read; see `orgctx.views.context`.

        query: any text with a word in it. mode: "definitions", "entries" or "files" for these
        alone. rank: the number of the rank that is searched, by default 0; of a memex that is
        confined, all that it has. collection: the names of one or several instead.
        explain: whether `bundle.text` tells how each score comes about.
        semantic: whether hits are ordered by what they mean, too; None: as orgctx.toml has it.
        budget: int > 0, the most that `bundle.text` may cost.
        """
        from ..views.collecting import collected  # a focus should not pay for it
        from ..views.context import context, narrowed, shell_call

        names = texts("collection", collection)
        known = collected(self._store, self._workspace)
        store, searched = narrowed(self._store, known, rank, names)
        limit = Limit(budget, unit, encoding)
        call = shell_call(*self._options(rank, names))
        return context(
            store,
            query,
            limit,
            mode,
            explain=explain,
            searched=searched,
            call=call,
            semantic=semantic,
        )

    def _options(self, rank: int | None, collections: Sequence[str]) -> tuple[str, ...]:
        """What a command in a shell must be given to look where this memex looks."""
        return (*self._place, *(_confines(rank, collections) or self._confines))

    @noted
    def ls(
        self,
        path: str = "",
        *,
        limit: int = LINES,
        kind: str = "all",
        after: str = "",
        budget: int = BUDGET,
        long: bool = False,
    ) -> Listing:
        """List what is one level below `path`; see `orgctx.views.listing.ls`.

        path: a root, folder, file or headline; "" for the roots. limit: the most of one kind.
        kind: "folder" or "file" for these alone. after: an address of the page before.
        budget: int > 0, the most tokens that `listing.text` may cost.
        long: whether each row has totals of its keywords, tags and dates.
        """
        return ls(self._store, path, Limit(budget), limit, kind, after, is_long=long)

    @noted
    def tokens(
        self, path: str = "", *, limit: int = LINES, after: str = "", budget: int = BUDGET
    ) -> Weighing:
        """Tell what folders, files and headlines in `path` cost; see `orgctx.views.weighing.weigh`.

        path: a root, folder, file or headline; "" for all notes. limit: the most rows.
        after: the address of the last row by weight of the page before.
        budget: int > 0, the most tokens that `weighing.text` may cost, and a view.
        """
        from ..views.weighing import weigh  # a focus should not pay for it

        return weigh(self._store, path, Limit(budget), limit, after)

    @noted
    def grep(
        self,
        pattern: str = "",
        path: str = "",
        *,
        limit: int = ENTRIES,
        after: str = "",
        budget: int = BUDGET,
        **how: Unpack[How],
    ) -> Found:
        """Find the lines that a text is in, by entry; see `orgctx.views.searching.search`.

        path: what to search, a folder, file or node; "" for all.
        limit: the most entries. after: the `cursor` of the page before.
        budget: int > 0, the most tokens that `found.text` may cost.
        how: `regexp` and `ignore_case`, whether the pattern is an expression, and whether letters
            match in any case; `todo`, `tag` and `property`, what an entry must have, one text or
            several: of keywords one, of tags (inherited ones too) and of properties (NAME or
            NAME=VALUE) all.
        """
        query = query_of(pattern, path, **how)
        return search(self._store, query, Page(limit, after), Limit(budget))

    @noted
    def read(
        self,
        address: str,
        *,
        subtree: bool = False,
        lines: str | tuple[int, int] | None = None,
        budget: int = READING_BUDGET,
        unit: str = "tokens",
        encoding: str = DEFAULT_ENCODING,
        cites: Cites | None = None,
    ) -> Reading:
        """Read the true lines of an entry or a file; see `orgctx.views.reading.read`.

        lines: of a file, "12-19" or (12, 19). cites: an `orgctx.cites.Cites`, which gives the file
        its number and remembers what was shown. Other parameters as for `focus`.
        """
        from ..views.reading import read  # a focus should not pay for it

        return read(self._store, address, Limit(budget, unit, encoding), subtree, lines, cites)

    def cite(self, answer: str, cites: Cites, style: str = "link") -> tuple[str, list[CiteProblem]]:
        """Turn the cites of an answer into links; see `orgctx.cites.normalised`."""
        from ..cites import normalised

        return normalised(answer, cites, style)

    def node(self, address: str) -> Node:
        """The node at `address`, any form.

        Raises: NotFound, Ambiguous, OutsideRoot, Unreadable, BadArgument.
        """
        return Node(self._store, resolve(self._store, address))

    def within(self, *, rank: int | None = None, collection: str | Iterable[str] = ()) -> Memex:
        """The same memex, confined to some collections; other notes are not there.

        rank: the number of a rank, from 0. collection: the names of one or several instead.
        Returns: Memex, with the same ledger.
        Raises: NotFound, OutOfRange, BadArgument.
        """
        from ..views.collecting import collected, confined

        names, known = texts("collection", collection), collected(self._store, self._workspace)
        found = Memex(confined(self._store, known, rank, names), self._workspace)
        found.ledger = self.ledger
        found._place = self._place
        found._confines = _confines(rank, names) or self._confines
        return found

    def tools(self, data: bool = True, *, write: bool = False) -> Tools:
        """The tools for an agent, as its model is told of them, and as it calls them.

        data: whether answers have data beside their text.
        write: whether there are tools that edit, too, and commit; of a working copy alone.
        Returns: Tools, with its own cites and ledger.
        Raises: BadArgument if it is to write, and these are not the notes of a working copy, or
            inline tasks are text in them.
        """
        from .tools import Tools  # a focus should not pay for it

        desk = None
        if write:
            from .editing import desk_of  # only who works in a copy pays

            desk = desk_of(self._work, self._store.inlinetask_min_level)
        return Tools(self._store, data, workspace=self._workspace, desk=desk)

    def sync(self) -> bool:
        """Look for changes in the notes now. Returns: whether there were any."""
        return self._store.freshen()

    def problems(self) -> list[Problem]:
        """What was passed over under the roots, and what in the notes Org would not read."""
        return self._store.problems()


def _place(store: Store, work: str | None) -> Iterator[str]:
    """The notes of a memex as options of a command."""
    if work is not None:
        yield from ("--work", work)
    else:
        yield from (word for root in store.roots for word in ("--root", str(root.folder)))
    if (level := store.inlinetask_min_level) is not None:
        yield from ("--inlinetask-min-level", str(level))


def _confines(rank: int | None, collections: Sequence[str]) -> tuple[str, ...]:
    """The same as options of a command."""
    named = [word for name in collections for word in ("--collection", name)]
    return (*(() if rank is None else ("--rank", str(rank))), *named)


def open_memex(
    *roots: str | PathLike[str],
    inlinetask_min_level: int | None = None,
    workspace: str | PathLike[str] | None = None,
    work: str | None = None,
) -> Memex:
    """Open notes for reading.

    roots: folders of Org files, or one Org file. `~` is the home folder. None: those that
        orgctx.toml in the user's configuration folder names.
    work: the name of a working copy, whose notes they are instead; see `orgctx.workcopy`.
    inlinetask_min_level: headlines this deep or deeper are text, as with org-inlinetask; None
        reads them as headlines.
    workspace: a folder whose `collections.json` ranks the collections; None: orgctx.toml does.
    Returns: Memex. What is found is remembered in the user's cache folder; where that cannot be
        written, each question reads the notes.
    Raises: NotFound if a root or the copy is not there; BadConfig; BadArgument if there is no root,
        or one and a copy.
    """
    if work is not None:
        from ..workcopy import store_in  # only who works in a copy pays

        return Memex(store_in(work, roots, inlinetask_min_level), workspace, work)
    names = [fspath(root) for root in roots]
    if len(names) == 1 and is_file(names[0]):
        config = load(users_file(), is_users=True)
        return Memex(Store.of_files(names, inlinetask_min_level, config), workspace)
    return Memex(open_store(names, inlinetask_min_level), workspace)
