"""What holds the files of a document that shows several: folders, and the memex."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from .entry import omitted
from .heading import printable
from .ledger import Prices
from .model import Node, Nodes, Tree
from .outline import outline

MEMEX = "memex"
USUAL_KEYWORDS = (("TODO",), ("DONE",))


def folder_of(path: str) -> str:
    """The folder of a file, both as addresses name them; "" for the memex itself."""
    return path.rpartition("/")[0]


def order_of(path: str) -> tuple[str, str]:
    """By what files are sorted in a document: those of one folder stand together."""
    return folder_of(path), path


@dataclass(frozen=True, eq=False)
class Frame:
    """What there is to hold the files of a document.

    files: the paths of all files of the memex.
    folders: for a document by folders, the headline of each folder, in order; None for one in which
        files stand side by side.
    """

    files: Sequence[str]
    folders: Mapping[str, str] | None = None

    @property
    def shift(self) -> int:
        """The level of a file, and how many levels down its headlines are."""
        return 1 if self.folders is None else 2

    @cached_property
    def tree(self) -> Tree:
        """The memex as a node, and below it the folders."""
        lines = [f"* {printable(line)}\n" for line in (self.folders or {}).values()]
        return outline("".join(lines), MEMEX)

    @cached_property
    def nodes(self) -> dict[str, Node]:
        """The folders that are headlines."""
        return dict(zip(self.folders or {}, self.tree.nodes[1:], strict=True))

    @cached_property
    def folder_names(self) -> dict[Node, str]:
        """The nodes that are folders."""
        return {node: folder for folder, node in self.nodes.items()}

    def holder(self, path: str) -> Node:
        """The node above a file."""
        return self.tree.root if self.folders is None else self.nodes[folder_of(path)]

    @cached_property
    def _sorted(self) -> list[str]:
        return sorted(self.files)

    def within(self, folder: str) -> range:
        """Which of the sorted files are in a folder, at any depth; "" for all of them."""
        ends = (folder + "/", folder + "0") if folder else ("", chr(0x10FFFF))  # "0" follows "/"
        return range(*(bisect_left(self._sorted, end) for end in ends))

    def below(self, folder: str) -> list[str]:
        """The paths of all files in a folder, at any depth."""
        return [self._sorted[at] for at in self.within(folder)]

    @cached_property
    def files_in(self) -> dict[str, list[str]]:
        """The files that each folder holds itself."""
        found: dict[str, list[str]] = {}
        for path in self._sorted:
            found.setdefault(folder_of(path), []).append(path)
        return found


@dataclass(slots=True, eq=False)
class Holders:
    """The holders of the files that a document shows, and what their lines and marks cost.

    shown: the paths of the files, by holder; of a folder that is shown alone, none.
    folder: the smallest one that holds all files shown; "" for the memex.
    """

    frame: Frame
    prices: Prices
    total: int = field(default=0, init=False)
    folder: str = field(default="", init=False)
    shown: dict[Node, set[str]] = field(default_factory=dict, init=False)
    _keywords: set[bool] = field(default_factory=set, init=False)
    _costs: dict[Node, int] = field(default_factory=dict, init=False)

    @property
    def root(self) -> Node:
        """What holds everything."""
        return self.frame.tree.root

    def show(self, holder: Node) -> None:
        """Show a holder, if it is not there yet."""
        self.shown.setdefault(holder, set())
        self._price(holder, self.root)

    def admit(self, tree: Tree) -> None:
        """Show a file, and its holder."""
        holder, folder = self.frame.holder(tree.path), folder_of(tree.path)
        if self.frame.folders is None:
            self.folder = common_folder(self.folder, folder) if self.shown else folder
        self._keywords.add((tree.todos, tree.dones) == USUAL_KEYWORDS)
        self.shown.setdefault(holder, set()).add(tree.path)
        self._price(holder, self.root)

    def _price(self, *holders: Node) -> None:
        for holder in holders:
            cost = self.cost(holder)
            self.total += cost - self._costs.get(holder, 0)
            self._costs[holder] = cost

    def cost(self, holder: Node) -> int:
        """What a holder's line and its mark cost."""
        return self.prices.once(self.text(holder)) + self.prices.once(self.mark(holder))

    def text(self, holder: Node) -> str:
        """A folder's headline; for what holds everything, a comment that names it.

        If some files have TODO keywords of their own and others have not, it says those of the
        others.
        """
        if holder.level:
            return holder.text
        todo = "#+TODO: TODO | DONE\n" if len(self._keywords) > 1 else ""
        return f"# {self.name(holder)}\n{todo}"

    def name(self, holder: Node) -> str:
        """The address of a holder: a folder with a slash behind it, or the memex."""
        folder = self.frame.folder_names[holder] if holder.level else self.folder
        return printable(folder) + "/" if folder else "./" if holder.level else MEMEX

    def mark(self, holder: Node) -> str:
        """The comment that announces what a holder holds and is not shown, or nothing."""
        count = self.announced(holder)
        return omitted(count, self.word(holder), "\n") if count else ""

    def word(self, holder: Node) -> str:
        """What a holder holds."""
        return "file" if holder.level or self.frame.folders is None else "folder"

    def announced(self, holder: Node) -> int:
        """How much it holds that is not shown; nothing for a folder of which nothing is."""
        if self.word(holder) == "folder":
            return len(self.frame.nodes) - len(self.shown) + (holder in self.shown)
        shown = len(self.shown.get(holder, ()))
        if not holder.level:
            return len(self.frame.within(self.folder)) - shown
        return len(self.frame.files_in[self.frame.folder_names[holder]]) - shown if shown else 0

    def left_out(self, holder: Node) -> list[str]:
        """The paths of what `announced` counts."""
        if not self.announced(holder):
            return []
        if self.word(holder) == "folder":
            return [name for name, node in self.frame.nodes.items() if node not in self.shown]
        name = self.frame.folder_names.get(holder)
        all_of_it = self.frame.below(self.folder) if name is None else self.frame.files_in[name]
        return [path for path in all_of_it if path not in self.shown[holder]]


def unified(tree: Tree) -> Tree:
    """A file as a part of a document of several, in which all lines end with a line feed."""
    if tree.newline == "\n":
        return tree

    def read(at: int) -> Node:
        return replace(tree.nodes[at], tree=again)

    again = replace(tree, newline="\n", nodes=Nodes(len(tree.nodes), read), asts={})
    return again


def common_folder(one: str, other: str) -> str:
    """The smallest folder that holds both."""
    parts, others = one.split("/"), other.split("/")
    pairs = enumerate(zip(parts, others, strict=False))
    shared = next((i for i, (a, b) in pairs if a != b), min(len(parts), len(others)))
    return "/".join(parts[:shared])
