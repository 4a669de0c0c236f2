"""Two copies and a user, random edits by entry, commits in any order: the notes are the model's."""

import os
from pathlib import Path
from tempfile import TemporaryDirectory

import outlines
import pytest
from hypothesis import event, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from outlines import Outline, overlaid, read
from test_merge import footprint

from orgctx.workcopy import Copy, Workcopies

FILES = ("one.org", "two.org")
MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
"""A disk would be what most of the time is spent on."""
COPIES = ("x", "y")


def carry_out(copy: Copy, path: str, edit: outlines.Edit) -> None:
    """Make an edit of the model with the tools of a copy."""
    to = f"id:{edit.to}" if edit.to else path
    drawer = f":PROPERTIES:\n:ID: {edit.id_}\n:END:\n"
    if edit.what == "write":
        copy.edit_entry(f"id:{edit.id_}", f"* {edit.id_}\n{drawer}{edit.to}\n")
    elif edit.what == "insert":
        copy.insert_entry(to, f"* {edit.id_}\n{drawer}new\n")
    elif edit.what == "move":
        copy.move_entry(f"id:{edit.id_}", to)
    else:
        copy.delete(f"id:{edit.id_}")


class TwoCopies(RuleBasedStateMachine):
    """`notes`: the model of each file. `edits`: of each copy and file, since it was based."""

    @initialize(data=st.data())
    def start(self, data):
        self._place = TemporaryDirectory(dir=MEMORY)
        self.root = Path(self._place.name) / "notes"
        self.root.mkdir()
        self.work = Workcopies(self.root, state=Path(self._place.name) / "state")
        self.numbers = iter(range(1000))
        self.notes = {}
        for path in FILES:
            mark = path[0]
            found = data.draw(outlines.outlines(3))
            self.notes[path] = Outline()
            for parent, row in found.children.items():
                self.notes[path].children[parent and mark + parent] = [mark + each for each in row]
            self.notes[path].texts = {mark + each: text for each, text in found.texts.items()}
            self._write(path)
        self.edits = {(copy, path): [] for copy in COPIES for path in FILES}
        self.based = {(copy, path): self.notes[path] for copy in COPIES for path in FILES}
        self.copies = {copy: self.work.open(copy) for copy in COPIES}

    def _write(self, path):
        (self.root / path).write_text(self.notes[path].render())

    def _edit(self, data, outline):
        [*edits] = data.draw(outlines.series(outline, f"n{next(self.numbers)}-", most=3))
        return edits

    @rule(data=st.data(), copy=st.sampled_from(COPIES), path=st.sampled_from(FILES))
    def edit_in_a_copy(self, data, copy, path):
        key = copy, path
        for edit in self._edit(data, outlines.after(self.based[key], self.edits[key])):
            carry_out(self.copies[copy], path, edit)
            self.edits[key].append(edit)

    @rule(data=st.data(), path=st.sampled_from(FILES))
    def edit_as_the_user(self, data, path):
        for edit in self._edit(data, self.notes[path]):
            self.notes[path] = edit.made(self.notes[path])
            self._write(path)

    @rule(copy=st.sampled_from(COPIES))
    def open_again(self, copy):
        self.copies[copy] = self.work.open(copy)
        for path in FILES:
            based = self.based[copy, path]
            if outlines.after(based, self.edits[copy, path]).render() == based.render():
                self.edits[copy, path], self.based[copy, path] = [], self.notes[path]

    @rule(
        copy=st.sampled_from(COPIES), prefer=st.sampled_from(("refuse", "refuse", "ours", "theirs"))
    )
    def commit(self, copy, prefer):
        report = self.work.commit(copy, "m", prefer, allow_shrink=True)
        found = {each.path: each for each in report.outcomes}
        for path in FILES:
            if path in found:
                self._check(copy, path, found[path])

    def _check(self, copy, path, outcome):
        key = copy, path
        edits, before = self.edits[key], self.notes[path]
        event(f"{outcome.what}, settled: {bool(outcome.conflicts) and not outcome.is_held}")
        text = (self.root / path).read_text()
        if outcome.conflicts:
            theirs = self._theirs(key)
            assert not theirs.isdisjoint(footprint(self.based[key], edits))
        if outcome.is_held:
            assert text == before.render()
            return
        if outcome.conflicts:
            self.notes[path] = read(text)
            assert text == self.notes[path].render()
        else:
            ours = outlines.after(self.based[key], edits)
            self.notes[path] = read(text)
            assert text == self.notes[path].render()
            assert self.notes[path].places() == overlaid(self.based[key], before, ours)
            if outcome.what == "written":
                assert text == ours.render()
        self.edits[key], self.based[key] = [], self.notes[path]

    def _theirs(self, key):
        """The entries that are otherwise in the notes than in the base, and those around them."""
        base, now = self.based[key], self.notes[key[1]]
        was, is_ = base.places(), now.places()
        changed = {each for each in {*was, *is_} if each and was.get(each) != is_.get(each)}
        for outline in (base, now):
            for each in list(changed & outline.texts.keys()):
                changed |= {*outline.above(each), *outline.below(each)} - {""}
        for parent in base.children.keys() & now.children.keys():
            if base.children[parent] != now.children[parent]:
                changed |= {*base.children[parent], *now.children[parent]}
        return changed

    @invariant()
    @precondition(lambda self: hasattr(self, "notes"))
    def all_is_as_the_model_has_it(self):
        for path in FILES:
            assert (self.root / path).read_text() == self.notes[path].render()
            for copy in COPIES:
                text = (self.copies[copy].folder / path).read_text()
                expected = outlines.after(self.based[copy, path], self.edits[copy, path])
                assert text == expected.render()

    def teardown(self):
        if hasattr(self, "_place"):
            self._place.cleanup()


TestTwoCopies = TwoCopies.TestCase
TestTwoCopies.settings = settings(max_examples=100, stateful_step_count=30, deadline=None)
TestTwoCopies = pytest.mark.usefixtures("_own_store")(TestTwoCopies)
