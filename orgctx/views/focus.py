"""Some headlines in full, their surroundings in outline, within a budget."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from ..core.document import Document
from ..core.entry import Entry, entry, skeleton
from ..core.frame import Frame, common_folder, folder_of
from ..core.heading import Ids
from ..core.lens import BACKGROUND, FOCUS_RANKS, Around, Pieces, fisheye, foveal, spine, together
from ..core.model import Node, Step, View
from ..errors import BadArgument
from ..store.linking import backlinks, links
from ..store.names import Names
from ..store.store import Store
from .view import Growth, Limit, Plan, Reading, choose, grow, whole

LENSES = ("foveal", "fisheye")

Finder = Callable[[Node], Iterable[Node]]


def focus(
    store: Store,
    addresses: Sequence[str],
    limit: Limit,
    lens: str = "foveal",
    background: int = BACKGROUND,
) -> View:
    """Show the nodes at `addresses` in their context, within a budget.

    addresses: one or more, of any form that README.org lists under Addresses; they share the budget
        and one document.
    lens: "foveal" looks at the target's file; "fisheye" goes on with its parent's text, what it
        links to and what links to it, its siblings' text, and other files.
    background: how many level-1 headlines of the rest of the file may be sketched, int >= 0.
    Returns: View; view.tokens <= limit.budget.
    Raises: NotFound, Ambiguous, OutsideRoot, Unreadable, BadArgument, BudgetTooSmall.
    """
    return grown(store, addresses, limit, lens, background).view


def grown(
    store: Store,
    addresses: Sequence[str],
    limit: Limit,
    lens: str = "foveal",
    background: int = BACKGROUND,
) -> Growth:
    """As `focus`, with how the view came about."""
    limit.check()
    whole("background", background, 0)
    is_wide = choose("lens", lens, LENSES) == "fisheye"
    if isinstance(addresses, str) or not addresses:
        raise BadArgument("no address", "name a node", "address")
    reading = Reading(store, is_wide or len(addresses) > 1)
    targets = reading.targets(addresses)
    names = Names(store)
    opener = _Opener(targets, limit.shown_ids(names), is_wide)
    around = Around(
        links=opener.noted(_links(reading)),
        backlinks=opener.noted(_backlinks(reading)),
        files=_other_files(reading),
    )

    def steps(document: Document) -> Iterator[Step]:
        pieces: Pieces = limit.scaled(document.pieces)
        if is_wide:
            return together(fisheye(each, pieces, around, background) for each in targets)
        return together(foveal(each, pieces, background) for each in targets)

    frame = _frame(store, is_wide or len({each.path for each in targets}) > 1)
    plan = Plan(targets, spine(*targets), steps, FOCUS_RANKS, opener.open, frame)
    return grow(plan, limit, names, " ".join(addresses))


def _frame(store: Store, is_wanted: bool) -> Frame | None:
    """All files, as they are now, if more than one may be shown."""
    if not is_wanted:
        return None
    store.freshen()
    return Frame([file.path for file in store.files()])


class _Opener:
    """What may be shown of each node: all of it, or its skeleton alone.

    The foveal lens reads the targets and their open children; the fisheye lens everything but what
    is commented out, and of files those that it has a reason to read.
    """

    def __init__(self, targets: Sequence[Node], ids: Ids, is_wide: bool) -> None:
        self._targets, self._ids, self._is_wide = set(targets), ids, is_wide
        self._read = {n for t in targets for n in t.children if not n.is_commented}
        self._files = {target.parent for target in targets}

    def open(self, node: Node, stars: int) -> Entry:
        """See `ledger.Prices`."""
        if node in self._targets:
            return entry(node, self._ids, is_target=True, stars=stars)
        if node in self._read:
            return entry(node, self._ids, stars=stars)
        is_open = node in self._files if not node.level else not node.is_commented
        if self._is_wide and is_open:
            return entry(node, self._ids, is_read=False, stars=stars)
        return skeleton(node, self._ids, stars)

    def noted(self, find: Finder) -> Finder:
        """The same finder; the files that it finds are read too."""

        def found(target: Node) -> Iterator[Node]:
            for node in find(target):
                self._files.add(node)
                yield node

        return found


def _links(reading: Reading) -> Finder:
    """What a node links to, in the order of its links."""
    return lambda target: reading.nodes(links(reading.store, reading.source(target)))


def _backlinks(reading: Reading) -> Finder:
    """What links to a node, in path order."""
    return lambda target: reading.nodes(backlinks(reading.store, reading.source(target)))


def _other_files(reading: Reading) -> Finder:
    """All files, those of the same folder first, then of folders nearby."""

    def files(target: Node) -> Iterator[Node]:
        here = folder_of(target.path)

        def distance(path: str) -> tuple[int, str]:
            there = folder_of(path)
            return _depth(here) + _depth(there) - 2 * _depth(common_folder(here, there)), path

        return reading.files(sorted((f.path for f in reading.store.files()), key=distance))

    return files


def _depth(folder: str) -> int:
    return folder.count("/") + bool(folder)
