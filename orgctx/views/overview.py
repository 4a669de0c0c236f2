"""The whole memex at low resolution, within a budget: what there is, and what is going on in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from ..core.document import Document
from ..core.entry import Entry, entry, many, skeleton
from ..core.frame import Frame, folder_of
from ..core.lens import OVERVIEW_RANKS, TOP, Survey, overview, spine
from ..core.model import Node, Relation, Step, View
from ..store.names import Names
from ..store.store import File, Store
from .focus import LENSES
from .focus import grown as focused
from .view import Growth, Limit, Plan, Reading, choose, grow


def survey(store: Store, addresses: Sequence[str], limit: Limit) -> View:
    """Show folders, files and headlines, what is active first, and some nodes in full.

    addresses: none or more, of any form that README.org lists under Addresses.
    Returns: View; view.tokens <= limit.budget.
    Raises: NotFound, Ambiguous, OutsideRoot, Unreadable, BadArgument, BudgetTooSmall.
    """
    return grown(store, addresses, limit).view


def grown(store: Store, addresses: Sequence[str], limit: Limit) -> Growth:
    """As `survey`, with how the view came about."""
    limit.check()
    store.freshen()
    reading = Reading(store, is_of_several=True)
    targets = reading.targets(addresses)
    names, files = Names(store), store.files()
    ids = limit.shown_ids(names)

    def open_entry(node: Node, stars: int) -> Entry:
        is_target = node in targets
        return entry(node, ids, True, stars=stars) if is_target else skeleton(node, ids, stars)

    frame = Frame([file.path for file in files], _folders(store, files))
    known = _Survey(reading, files)

    def steps(document: Document) -> Iterator[Step]:
        folders = sorted(frame.nodes, key=lambda name: (name.count("/") + bool(name), name))
        found = Survey([frame.nodes[name] for name in folders], known.active, known.others)
        return overview(targets, limit.scaled(document.pieces), found)

    memex = Step(frame.tree.root, 0, Relation.CONTAINER, TOP)
    plan = Plan(targets, [memex, *spine(*targets)], steps, OVERVIEW_RANKS, open_entry, frame)
    return grow(plan, limit, names, " ".join(["overview", *addresses]))


def seen(
    store: Store, addresses: Sequence[str], limit: Limit, lens: str, background: int
) -> Growth:
    """A view by any lens with how it came about. lens: "overview", or one of `focus`."""
    if choose("lens", lens, (*LENSES, "overview")) == "overview":
        return grown(store, addresses, limit)
    return focused(store, addresses, limit, lens, background)


def _folders(store: Store, files: Sequence[File]) -> dict[str, str]:
    """Each folder that holds notes, and each root, with its headline; counts are recursive."""
    own = {folder_of(file.path) for file in files} | set(store.tops)
    counts, headlines = Counter[str](), Counter[str]()
    for file in files:
        for folder in _above(file.path):
            counts[folder] += 1
            headlines[folder] += file.headlines
    return {
        folder: f"{folder or '.'}/ — {many(counts[folder], 'file')}, "
        f"{many(headlines[folder], 'headline')}"
        for folder in sorted(own)
    }


def _above(path: str) -> Iterator[str]:
    """All folders that hold a file."""
    while path:
        path = folder_of(path)
        yield path


class _Survey:
    """The files, the newest first, read when somebody asks."""

    def __init__(self, reading: Reading, files: Sequence[File]) -> None:
        self._reading = reading
        newest = sorted(files, key=lambda file: (-file.changed, file.path))
        self._active = [file.path for file in newest if file.is_active]
        self._others = [file.path for file in newest if not file.is_active]

    def active(self) -> Iterator[tuple[Node, list[Node]]]:
        """See `lens.Survey`."""
        for file in self._reading.files(self._active):
            rule = self._reading.store.active(file.path)
            yield file, [node for node in file.tree.nodes if rule.holds(node)]

    def others(self) -> Iterator[Node]:
        """See `lens.Survey`."""
        return self._reading.files(self._others)
