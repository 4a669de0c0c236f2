"""Commits: what becomes of each path, what is checked, and that nothing else changes."""

import os
import shutil
import stat
import subprocess
from collections.abc import Callable

import copies
import pytest
from copies import Notes
from growth import check_growth

from orgctx.errors import BadArgument, NotFound, OrgctxError, Stale
from orgctx.store.files import revision_of
from orgctx.workcopy import Workcopies
from orgctx.workcopy.checkout import Checkout
from orgctx.workcopy.checks import checked
from orgctx.workcopy.committing import Commit
from orgctx.workcopy.confined import Folder
from orgctx.workcopy.history import MANY, History
from orgctx.workcopy.planning import Plan
from orgctx.workcopy.record import WRITTEN
from orgctx.workcopy.state import State
from orgctx.workcopy.writing import Doing, Task


@pytest.fixture
def notes(tmp_path):
    return Notes.make(tmp_path)


def reasons(report):
    return {each.path: each.why for each in report.outcomes}


# --- Outcomes ------------------------------------------------------------------------------------


def test_what_was_edited_is_written_and_nothing_else(notes):
    copy = notes.work.open("x")
    before = copies.state(notes.root)
    notes.replace("a.org", "text one", "mine", copy.folder)
    notes.put("sub/new/n.org", "* New\n", copy.folder)
    (copy.folder / "sub/b.org").unlink()
    assert notes.outcomes() == {
        "a.org": "written",
        "sub/b.org": "deleted",
        "sub/new/n.org": "written",
    }
    assert notes.get("a.org") == copies.A.replace("text one", "mine")
    assert (notes.get("sub/b.org"), notes.get("sub/new/n.org")) == (None, "* New\n")
    untouched = str(notes.root / "sub/deeper/c.org")
    assert copies.state(notes.root)[untouched] == before[untouched]
    assert notes.work.diff("x") == []
    assert notes.outcomes() == {}


def test_files_that_are_no_notes_stay(notes):
    """Whatever they are called; half a note that a killed commit left has a name of its own."""
    copy = notes.work.open("x")
    others = (".orgctx-own", ".orgctx-0123456789abc", "b.txt", "orgctx.toml", "sub/.hidden")
    for name in others:
        notes.put(name, "")
    for path in copies.NOTES:
        notes.replace(path, "text", "mine", copy.folder)
    assert set(notes.outcomes().values()) == {"written"}
    assert set(copies.files(notes.root)) == {*copies.NOTES, *others}


def test_what_others_edited_is_never_reverted(notes):
    copy = notes.work.open("x")
    notes.replace("a.org", "text one", "mine", copy.folder)
    notes.put("sub/b.org", "* Theirs\n")
    (notes.root / "sub/deeper/c.org").unlink()
    assert notes.outcomes() == {"a.org": "written"}
    assert notes.get("sub/b.org") == "* Theirs\n"
    assert notes.get("sub/deeper/c.org") is None


def test_a_note_that_both_edited_is_merged(notes):
    copy = notes.work.open("x")
    notes.replace("a.org", "text one", "mine", copy.folder)
    notes.replace("a.org", "text two", "theirs")
    assert notes.outcomes() == {"a.org": "merged"}
    both = copies.A.replace("text one", "mine").replace("text two", "theirs")
    assert notes.get("a.org") == both
    assert (copy.folder / "a.org").read_text() == both
    assert notes.work.diff("x") == []


def test_both_made_the_same_note(notes):
    copy = notes.work.open("x")
    notes.put("day.org", "#+title: Day\n* Ann\n")
    notes.put("day.org", "#+title: Day\n* Bob\n", copy.folder)
    assert notes.outcomes() == {"day.org": "merged"}
    assert notes.get("day.org") == "#+title: Day\n* Ann\n* Bob\n"


def test_what_both_did_alike_is_unchanged(notes):
    copy = notes.work.open("x")
    for root in (notes.root, copy.folder):
        notes.replace("a.org", "text one", "same", root)
        notes.put("n.org", "* New\n", root)
        (root / "sub/b.org").unlink()
    before = copies.state(notes.root)
    assert notes.outcomes() == {
        "a.org": "unchanged",
        "n.org": "unchanged",
        "sub/b.org": "unchanged",
    }
    assert copies.state(notes.root) == before
    assert notes.work.diff("x") == []


def conflicting(notes):
    copy = notes.work.open("x")
    notes.replace("a.org", "text one", "mine", copy.folder)
    notes.replace("a.org", "text two", "also mine", copy.folder)
    notes.replace("a.org", "text one", "theirs")
    return copy


def test_a_conflict_is_refused_and_told(notes):
    copy = conflicting(notes)
    theirs, ours = notes.get("a.org"), (copy.folder / "a.org").read_text()
    report = notes.work.commit("x", "a test")
    [outcome] = report.outcomes
    assert (outcome.what, report.is_whole) == ("conflict", False)
    assert outcome.why == "on both sides: changed a.org::One"
    assert [each.address for each in outcome.conflicts] == ["a.org::One"]
    assert outcome.ours == revision_of(ours.encode())
    assert outcome.theirs == outcome.result == revision_of(theirs.encode())
    assert (notes.get("a.org"), (copy.folder / "a.org").read_text()) == (theirs, ours)
    for revision, text in ((outcome.ours, ours), (outcome.theirs, theirs)):
        assert notes.work.show(revision) == text
    assert [each.path for each in notes.work.diff("x")] == ["a.org"]


@pytest.mark.parametrize(
    ("side", "what", "one"), [("ours", "merged", "mine"), ("theirs", "merged", "theirs")]
)
def test_a_conflict_is_settled_for_a_side(notes, side, what, one):
    copy = conflicting(notes)
    theirs, ours = notes.get("a.org"), (copy.folder / "a.org").read_text()
    report = notes.work.commit("x", "a test", side)
    [outcome] = report.outcomes
    assert (outcome.what, outcome.why) == (what, f"settled for {side}")
    assert notes.get("a.org") == ours.replace("mine\n* Two", f"{one}\n* Two")
    assert (copy.folder / "a.org").read_text() == notes.get("a.org")
    assert notes.work.show(f"{report.revision[:10]}:ours/a.org") == ours
    assert notes.work.show(f"{report.revision[:10]}:theirs/a.org") == theirs


def test_a_conflict_that_is_all_there_is_leaves_theirs_unchanged(notes):
    copy = notes.work.open("x")
    notes.replace("a.org", "text one", "mine", copy.folder)
    notes.replace("a.org", "text one", "theirs")
    before = copies.state(notes.root)
    assert notes.outcomes(on_conflict="theirs") == {"a.org": "unchanged"}
    assert copies.state(notes.root) == before
    assert (copy.folder / "a.org").read_text() == notes.get("a.org")


@pytest.mark.parametrize(
    ("side", "outcome", "is_there"),
    [("refuse", "conflict", True), ("theirs", "unchanged", True), ("ours", "deleted", False)],
)
def test_deleted_here_and_edited_there(notes, side, outcome, is_there):
    copy = notes.work.open("x")
    (copy.folder / "a.org").unlink()
    notes.replace("a.org", "text one", "theirs")
    theirs = notes.get("a.org")
    assert notes.outcomes(on_conflict=side) == {"a.org": outcome}
    assert notes.get("a.org") == (theirs if is_there else None)
    revision = notes.work.log()[0][0]
    assert notes.work.show(f"{revision}:theirs/a.org") == theirs


@pytest.mark.parametrize(
    ("side", "outcome", "is_there"),
    [("refuse", "conflict", False), ("theirs", "unchanged", False), ("ours", "written", True)],
)
def test_edited_here_and_deleted_there(notes, side, outcome, is_there):
    copy = notes.work.open("x")
    notes.replace("a.org", "text one", "mine", copy.folder)
    ours = (copy.folder / "a.org").read_text()
    (notes.root / "a.org").unlink()
    assert notes.outcomes(on_conflict=side) == {"a.org": outcome}
    assert notes.get("a.org") == (ours if is_there else None)
    assert (copy.folder / "a.org").exists() == (side != "theirs")
    revision = notes.work.log()[0][0]
    assert notes.work.show(f"{revision}:ours/a.org") == ours


def test_what_is_held_back_holds_back_nothing_else(notes):
    copy = conflicting(notes)
    notes.replace("sub/b.org", "text b", "mine", copy.folder)
    assert notes.outcomes() == {"a.org": "conflict", "sub/b.org": "written"}
    notes.replace("a.org", "theirs", "text one")
    assert notes.outcomes() == {"a.org": "written"}


def test_every_outcome_is_one_of_six(notes):
    whats = {"written", "merged", "conflict", "unchanged", "deleted", "refused"}
    copy = conflicting(notes)
    notes.put("x.txt", "", copy.folder)
    (copy.folder / "sub/b.org").unlink()
    found = notes.outcomes()
    assert found == {"a.org": "conflict", "sub/b.org": "deleted", "x.txt": "refused"}
    assert set(found.values()) <= whats


@pytest.mark.parametrize("message", ["", "  \n", None])
def test_a_message_says_what_was_done(notes, message):
    notes.work.open("x")
    with pytest.raises(BadArgument):
        notes.work.commit("x", message)


def test_an_unknown_policy(notes):
    notes.work.open("x")
    with pytest.raises(BadArgument, match="mine"):
        notes.work.commit("x", "m", "mine")


# --- What stays as it is -------------------------------------------------------------------------


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o644, 0o755])
def test_the_mode_stays(notes, mode):
    place = notes.root / "a.org"
    place.chmod(mode)
    copy = notes.work.open("x")
    notes.replace("a.org", "text one", "mine", copy.folder)
    assert notes.outcomes() == {"a.org": "written"}
    assert stat.S_IMODE(place.stat().st_mode) == mode


def test_a_new_note_has_the_mode_that_the_user_gives_files(notes):
    copy = notes.work.open("x")
    notes.put("n.org", "* N\n", copy.folder)
    before = os.umask(0o027)
    try:
        notes.outcomes()
    finally:
        os.umask(before)
    assert stat.S_IMODE((notes.root / "n.org").stat().st_mode) == 0o640


def test_the_owner_stays(notes):
    """And the group, which anybody may change to another one of theirs."""
    owner = (12345, 12345) if os.geteuid() == 0 else (os.geteuid(), max(os.getgroups()))
    os.chown(notes.root / "a.org", *owner)
    copy = notes.work.open("x")
    notes.replace("a.org", "text one", "mine", copy.folder)
    notes.outcomes()
    found = (notes.root / "a.org").stat()
    assert (found.st_uid, found.st_gid) == owner


FORMS: dict[str, Callable[[str], bytes]] = {
    "byte order mark": lambda text: b"\xef\xbb\xbf" + text.encode(),
    "CRLF": lambda text: text.replace("\n", "\r\n").encode(),
    "no newline at the end": lambda text: text.removesuffix("\n").encode(),
    "mixed line ends": lambda text: text.replace("* Two\n", "* Two\r\n").encode(),
    "blanks": lambda text: text.replace("* One\n", "* One   \n\n\n  ").encode(),
    "latin-1": lambda text: f"# -*- coding: latin-1 -*-\n{text}é\n".encode("latin-1"),
    "odd characters": lambda text: (text + "\f x\u2028\x85\x0b\x00 y\n").encode(),
}


@pytest.mark.parametrize("form", FORMS)
def test_b77_bytes_that_nobody_edited_stay(tmp_path, form):
    made = FORMS[form]
    notes = Notes.make(tmp_path, {"a.org": made(copies.A)})
    copy = notes.work.open("x")
    assert (copy.folder / "a.org").read_bytes() == made(copies.A)
    place = copy.folder / "a.org"
    place.write_bytes(place.read_bytes().replace(b"text one", b"mine"))
    there = notes.root / "a.org"
    there.write_bytes(there.read_bytes().replace(b"text two", b"theirs"))
    assert notes.outcomes() == {"a.org": "merged"}
    expected = made(copies.A.replace("text one", "mine").replace("text two", "theirs"))
    assert there.read_bytes() == expected


def test_a_byte_order_mark_that_they_added_stays(notes):
    copy = notes.work.open("x")
    notes.replace("a.org", "text one", "mine", copy.folder)
    notes.put("a.org", b"\xef\xbb\xbf" + copies.A.encode())
    assert notes.outcomes() == {"a.org": "merged"}
    both = copies.A.replace("text one", "mine").encode()
    assert (notes.root / "a.org").read_bytes() == b"\xef\xbb\xbf" + both


def test_a_root_that_is_a_git_repository_changes_in_its_work_tree_alone(notes):
    for call in (["init", "-q"], ["add", "-A"]):
        subprocess.run(["git", *call], cwd=notes.root, check=True)
    git = copies.state(notes.root / ".git")
    copy = notes.work.open("x")
    assert not (copy.folder / ".git").exists()
    notes.replace("a.org", "text one", "mine", copy.folder)
    notes.outcomes()
    assert copies.state(notes.root / ".git") == git


def test_private_text_survives_a_commit_and_is_shown_nowhere(tmp_path):
    text = "* Open\ntext\n* Secret :private:\nhidden\n* Vault :crypt:\npin 0000\n** Code\n* End\n"
    config = 'private_tags = ["private"]\n'
    notes = Notes.make(tmp_path, {"orgctx.toml": config, "a.org": text})
    copy = notes.work.open("x")
    notes.replace("a.org", "text", "mine", copy.folder)
    report = notes.work.commit("x", "a test")
    assert [each.what for each in report.outcomes] == ["written"]
    assert notes.get("a.org") == text.replace("text", "mine")
    notes.replace("a.org", "mine", "ours", copy.folder)
    notes.replace("a.org", "hidden", "still hidden")
    report = notes.work.commit("x", "a test")
    assert [each.what for each in report.outcomes] == ["merged"]
    assert "still hidden" in notes.get("a.org")
    revision = report.revision
    everything = [
        *(
            notes.work.show(each)
            for each in (revision, f"{revision}:a.org", f"{revision}:theirs/a.org")
        ),
        *(notes.work.show(each) for each in (report.outcomes[0].theirs, report.outcomes[0].result)),
        *(each.patch for each in notes.work.diff("x")),
        repr(report),
        repr(notes.work.log()),
    ]
    for word in ("hidden", "0000", "Secret", "Code"):
        assert not any(word in each for each in everything)


@pytest.mark.parametrize("edit", ["delete", "empty", "drop"])
def test_what_hides_private_text_is_not_deleted(tmp_path, edit):
    text = "* Open\n** Secret :private:\nhidden\n* End\n"
    config = 'private_tags = ["private"]\n'
    notes = Notes.make(tmp_path, {"orgctx.toml": config, "a.org": text})
    place = notes.work.open("x").folder / "a.org"
    if edit == "delete":
        place.unlink()
    else:
        place.write_text("" if edit == "empty" else "* End\n")
    report = notes.work.commit("x", "m", allow_shrink=True)
    assert [each.is_held for each in report.outcomes] == [True]
    assert notes.get("a.org") == text
    assert "hidden" not in repr(report)
    assert "Secret" not in repr(report)


def test_a_note_of_the_name_of_a_private_one_is_refused(tmp_path):
    config = 'private_tags = ["private"]\n'
    secret = "#+filetags: :private:\n* Hidden\n"
    notes = Notes.make(tmp_path, {"orgctx.toml": config, "a.org": secret})
    copy = notes.work.open("x")
    notes.put("a.org", "* Mine\n", copy.folder)
    report = notes.work.commit("x", "m")
    assert [each.what for each in report.outcomes] == ["refused"]
    assert notes.get("a.org") == secret


# --- Checks --------------------------------------------------------------------------------------


def refusal(notes, path="a.org", **how):
    """Why a path is refused; "" if it is not."""
    before = notes.get(path)
    report = notes.work.commit("x", "a test", **how)
    [outcome] = [each for each in report.outcomes if each.path == path]
    if outcome.what != "refused":
        return ""
    assert notes.get(path) == before
    assert not report.is_whole
    return outcome.why


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        (":END:\n", "", "line 3: a property drawer out of place or not whole"),
        ("text one\n", "text\n:PROPERTIES:\n:ID: x\n:END:\n", "line 7: a property drawer out of"),
        (":ID: one-1\n", ":ID: one-1\nno property\n", "line 3: a property drawer out of place"),
        ("text one\n", "#+begin_src sh\nls\n", "line 6: half a block"),
        ("text one\n", "#+begin_src org\n* inside\n#+end_src\n", "line 6: half a block"),
        ("text one\n", "one\n#+end_quote\n", "line 7: half a block"),
        ("text one\n", ":LOGBOOK:\nCLOCK: [2024-01-01 Mon 09:00]\n", "line 6: half a block"),
        (":ID: one-1\n", ":ID: one-1\n:ID: one-2\n", "line 3: more than one ID"),
    ],
)
def test_drawers_and_blocks_stay_whole(notes, old, new, why):
    copy = notes.work.open("x")
    notes.replace("a.org", old, new, copy.folder)
    assert refusal(notes).startswith(why)


def test_what_was_broken_before_is_nobody_s_fault(tmp_path):
    broken = "* A\n:PROPERTIES:\n:ID: x\n* B\n#+begin_src\ntext\n"
    notes = Notes.make(tmp_path, {"a.org": broken})
    copy = notes.work.open("x")
    notes.replace("a.org", "text", "mine", copy.folder)
    assert notes.outcomes() == {"a.org": "written"}


def test_half_a_note_may_go_but_no_more(notes):
    copy = notes.work.open("x")
    text = "* A\n" + "x" * 95 + "\n"
    notes.put("n.org", text, copy.folder)
    notes.outcomes()
    notes.put("n.org", text[:50], copy.folder)
    assert notes.outcomes() == {"n.org": "written"}
    notes.put("n.org", text[:24], copy.folder)
    assert "more than half" in refusal(notes, "n.org")
    assert notes.outcomes(allow_shrink=True) == {"n.org": "written"}
    notes.put("n.org", "", copy.folder)
    assert "more than half" in refusal(notes, "n.org")


def test_what_goes_to_another_note_is_not_lost(notes):
    copy = notes.work.open("x")
    moved = "* Two\ntext two\n"
    one = copies.A.replace(moved, "")
    notes.put("a.org", "#+title: A\n", copy.folder)
    rest = one.removeprefix("#+title: A\n") + moved
    notes.put("new.org", rest, copy.folder)
    assert notes.outcomes() == {"a.org": "written", "new.org": "written"}


def test_an_id_is_unique_in_all_notes(notes):
    copy = notes.work.open("x")
    drawer = ":PROPERTIES:\n:ID: one-1\n:END:\n"
    notes.put("sub/b.org", copies.B.replace("text b", f"{drawer}text b"), copy.folder)
    assert refusal(notes, "sub/b.org") == "another entry has the ID one-1, too"
    notes.put("sub/b.org", copies.B, copy.folder)
    notes.replace("a.org", "* Two\n", f"* Two\n{drawer}", copy.folder)
    assert refusal(notes) == "another entry has the ID one-1, too"


def test_an_id_that_somebody_else_has_just_used(notes):
    copy = notes.work.open("x")
    drawer = ":PROPERTIES:\n:ID: new-1\n:END:\n"
    notes.replace("a.org", "* Two\n", f"* Two\n{drawer}", copy.folder)
    notes.put("other.org", f"* Other\n{drawer}")
    assert refusal(notes) == "another entry has the ID new-1, too"


def test_two_new_entries_of_one_id(notes):
    copy = notes.work.open("x")
    for name in ("m.org", "n.org"):
        notes.put(name, "* New\n:PROPERTIES:\n:ID: new-1\n:END:\n", copy.folder)
    assert notes.outcomes() == {"m.org": "refused", "n.org": "refused"}


def test_an_id_may_move_to_another_note(notes):
    copy = notes.work.open("x")
    entry = copies.A[len("#+title: A\n") : copies.A.index("* Two")]
    notes.replace("a.org", entry, "", copy.folder)
    notes.put("sub/b.org", copies.B + entry, copy.folder)
    assert notes.outcomes() == {"a.org": "written", "sub/b.org": "written"}


@pytest.mark.parametrize(
    "entry", ["* One\n:PROPERTIES:\n:ID: one-1\n:END:\ntext one\n", "* Two\ntext two\n"]
)
@pytest.mark.parametrize("held", ["a.org", "sub/b.org"])
def test_an_entry_on_its_way_is_never_in_no_note_or_in_two(notes, entry, held):
    """If one of two notes is held back, the other one is as well."""
    copy = notes.work.open("x")
    notes.replace("a.org", entry, "", copy.folder)
    notes.put("sub/b.org", copies.B + entry, copy.folder)
    lock = notes.root / os.path.dirname(held) / f".#{os.path.basename(held)}"
    lock.symlink_to("somebody@host.123:456")
    before = copies.files(notes.root)
    assert notes.outcomes() == {"a.org": "refused", "sub/b.org": "refused"}
    assert copies.files(notes.root) == before
    lock.unlink()
    assert notes.outcomes() == {"a.org": "written", "sub/b.org": "written"}


def test_b94_unsaved_edits_in_an_editor_refuse_the_note(notes):
    copy = notes.work.open("x")
    notes.replace("a.org", "text one", "mine", copy.folder)
    notes.replace("sub/b.org", "text b", "mine", copy.folder)
    (notes.root / ".#a.org").symlink_to("somebody@host.123:456")
    assert notes.outcomes() == {"a.org": "refused", "sub/b.org": "written"}
    (notes.root / ".#a.org").unlink()
    assert notes.outcomes() == {"a.org": "written"}


def test_a_read_only_note_is_refused(notes):
    copy = notes.work.open("x")
    notes.replace("a.org", "text one", "mine", copy.folder)
    (notes.root / "a.org").chmod(0o444)
    assert refusal(notes) == "it is read-only"


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("x.txt", "a note's name ends in .org or .org_archive"),
        ("a (conflicted copy).org", "named like a sync-conflict copy"),
        ("drafts/x.org", "left out of the notes by `ignore` in orgctx.toml"),
    ],
)
def test_what_would_be_no_note_is_refused(notes, name, why):
    notes.put("orgctx.toml", 'ignore = ["drafts/"]\n')
    copy = notes.work.open("x")
    notes.put(name, "* X\n", copy.folder)
    assert refusal(notes, name) == why


def test_what_is_no_text_is_refused(notes):
    copy = notes.work.open("x")
    notes.put("a.org", b"* \xff\xfe\n" + copies.A.encode(), copy.folder)
    assert "not UTF-8" in refusal(notes)
    [(revision, _)] = notes.work.log()
    assert "not UTF-8" in notes.work.show(f"{revision}:ours/a.org")


def test_characters_that_the_note_s_encoding_has_not(tmp_path):
    text = "# -*- coding: latin-1 -*-\n* One\né\n* Two\ntext\n"
    notes = Notes.make(tmp_path, {"a.org": text.encode("latin-1")})
    copy = notes.work.open("x")
    place = copy.folder / "a.org"
    place.write_bytes(place.read_bytes().replace(b"latin-1", b"utf-8"))
    place.write_text(place.read_bytes().decode("latin-1").replace("text", "火"), encoding="utf-8")
    there = notes.root / "a.org"
    there.write_bytes(there.read_bytes().replace(b"\xe9", b"\xe9\xe9"))
    assert notes.outcomes() == {"a.org": "merged"}
    assert there.read_bytes().decode().endswith("* Two\n火\n")


# --- Confinement ---------------------------------------------------------------------------------


def test_b83_a_link_in_the_copy_is_not_followed(notes, tmp_path):
    copy = notes.work.open("x")
    (tmp_path / "secret.org").write_text("* Secret\n")
    (copy.folder / "a.org").unlink()
    (copy.folder / "a.org").symlink_to(tmp_path / "secret.org")
    (copy.folder / "out").symlink_to(tmp_path)
    report = notes.work.commit("x", "m")
    assert reasons(report) == {"a.org": "a symbolic link", "out": "a symbolic link"}
    assert notes.get("a.org") == copies.A
    assert b"Secret" not in b"".join(copies.files(State().folder).values())


def test_a_link_in_the_root_is_not_written_through(notes, tmp_path):
    copy = notes.work.open("x")
    notes.replace("sub/b.org", "text b", "mine", copy.folder)
    notes.replace("a.org", "text one", "mine", copy.folder)
    outside = tmp_path / "outside"
    outside.mkdir()
    shutil.copy(notes.root / "sub/b.org", outside / "b.org")
    shutil.rmtree(notes.root / "sub")
    (notes.root / "sub").symlink_to(outside)
    (notes.root / "a.org").rename(outside / "a.org")
    (notes.root / "a.org").symlink_to(outside / "a.org")
    before = copies.state(outside)
    report = notes.work.commit("x", "m", "ours")
    assert {each.what for each in report.outcomes} == {"refused"}
    assert copies.state(outside) == before


def test_a_folder_that_is_swapped_for_a_link_at_the_last_moment(notes, tmp_path, monkeypatch):
    copy = notes.work.open("x")
    notes.replace("sub/b.org", "text b", "mine", copy.folder)
    outside = tmp_path / "outside"
    shutil.copytree(notes.root / "sub", outside)
    before = copies.state(outside)
    made = Commit._made

    def swap(*arguments):
        monkeypatch.setattr(Commit, "_made", made)
        (notes.root / "sub").rename(tmp_path / "moved")
        (notes.root / "sub").symlink_to(outside)
        return made(*arguments)

    monkeypatch.setattr(Commit, "_made", swap)
    assert set(notes.outcomes().values()) == {"refused"}
    assert copies.state(outside) == before


def test_a_prefix_twin_is_another_root(tmp_path):
    """Root /notes is not /notes-secret, and a copy is not the one whose name goes on."""
    notes = Notes.make(tmp_path)
    Notes(tmp_path / "notes-secret", None).put("s.org", "* S\n")
    copy = notes.work.open("x")
    notes.work.open("x-secret")
    for path in ("../notes-secret/s.org", "../../../x-secret/notes/notes/a.org"):
        with pytest.raises(Exception, match="outside the roots"):
            copy.text(path)


# --- Others at the same time ---------------------------------------------------------------------


def test_a_note_that_changes_while_it_is_committed_is_planned_anew(notes, monkeypatch):
    copy = notes.work.open("x")
    notes.replace("a.org", "text one", "mine", copy.folder)
    notes.replace("sub/b.org", "text b", "mine", copy.folder)
    made, calls = Commit._made, []

    def meanwhile(*arguments):
        calls.append(1)
        if len(calls) == 1:
            notes.replace("sub/b.org", "more", "theirs")
        return made(*arguments)

    monkeypatch.setattr(Commit, "_made", meanwhile)
    assert notes.outcomes() == {"a.org": "written", "sub/b.org": "merged"}
    assert notes.get("sub/b.org") == copies.B.replace("text b", "mine").replace("more", "theirs")
    assert (len(calls), len(notes.work.log())) == (2, 1)


@pytest.mark.parametrize("deleted", [False, True])
def test_a_note_that_is_saved_at_the_last_moment(notes, monkeypatch, deleted):
    """While the notes go to the disk: it is not written over, but merged."""
    copy = notes.work.open("x")
    notes.replace("a.org", "text one", "mine", copy.folder)
    (copy.folder / "sub/b.org").unlink()
    fsync, moments = os.fsync, iter(["now"])

    def slow(descriptor):
        fsync(descriptor)
        if list(notes.root.glob(".orgctx-*")) and next(moments, ""):
            notes.replace("a.org", "text two", "theirs")
            if deleted:
                (notes.root / "a.org").unlink()

    monkeypatch.setattr(os, "fsync", slow)
    found = notes.outcomes()
    assert not next(moments, "")
    assert found == {"a.org": "conflict" if deleted else "merged", "sub/b.org": "deleted"}
    both = copies.A.replace("text one", "mine").replace("text two", "theirs")
    assert notes.get("a.org") == (None if deleted else both)


def test_notes_that_change_all_the_time(notes, monkeypatch):
    copy = notes.work.open("x")
    notes.replace("a.org", "text one", "mine", copy.folder)
    notes.replace("sub/b.org", "text b", "mine", copy.folder)
    made, numbers = Commit._made, iter(range(100))

    def meanwhile(*arguments):
        notes.put("sub/b.org", copies.B + f"theirs {next(numbers)}\n")
        return made(*arguments)

    monkeypatch.setattr(Commit, "_made", meanwhile)
    with pytest.raises(Stale, match="again and again"):
        notes.work.commit("x", "m")
    monkeypatch.undo()
    assert notes.get("a.org") == copies.A
    assert "mine" not in notes.get("sub/b.org")
    assert notes.outcomes() == {"a.org": "written", "sub/b.org": "merged"}


@pytest.mark.parametrize(("kind", "name"), [(Commit, "_made"), (Folder, "write")])
def test_an_edit_made_while_its_copy_is_committed_stays(notes, monkeypatch, kind, name):
    """While the commit is made, and while the copy gets what was merged."""
    copy = notes.work.open("x")
    notes.replace("a.org", "text one", "mine", copy.folder)
    notes.replace("a.org", "text two", "theirs")
    usual = getattr(kind, name)

    def meanwhile(self, *arguments, **keywords):
        if kind is Commit or self.name == str(copy.folder):
            notes.replace("a.org", "title: A", "title: late", copy.folder)
        return usual(self, *arguments, **keywords)

    monkeypatch.setattr(kind, name, meanwhile)
    assert notes.outcomes() == {"a.org": "merged"}
    monkeypatch.undo()
    assert "title: late" in (copy.folder / "a.org").read_text()
    assert notes.outcomes() == {"a.org": "merged"}
    both = copies.A.replace("text one", "mine").replace("text two", "theirs")
    assert notes.get("a.org") == both.replace("title: A", "title: late")


def test_two_copies(notes):
    one, two = notes.work.open("one"), notes.work.open("two")
    notes.replace("a.org", "text one", "first", one.folder)
    notes.replace("a.org", "text two", "second", two.folder)
    assert notes.outcomes("one") == {"a.org": "written"}
    assert notes.outcomes("two") == {"a.org": "merged"}
    assert notes.get("a.org") == copies.A.replace("text one", "first").replace("text two", "second")


@pytest.mark.parametrize("fails_at", [1, 2, 3])
def test_a_full_disk_leaves_all_notes_as_they_were(notes, monkeypatch, fails_at):
    copy = notes.work.open("x")
    for path in copies.NOTES:
        notes.replace(path, "text", "mine", copy.folder)
    before, write, calls = copies.files(notes.root), Folder.write, []

    def full(self, name, *arguments, **keywords):
        if name.endswith(".org") and self.name.startswith(str(notes.root)):
            calls.append(name)
            if len(calls) == fails_at:
                raise OSError(28, "No space left on device")
        return write(self, name, *arguments, **keywords)

    monkeypatch.setattr(Folder, "write", full)
    with pytest.raises(OrgctxError, match="No space left"):
        notes.work.commit("x", "m")
    assert copies.files(notes.root) == before
    assert not State().doing.exists()
    monkeypatch.undo()
    assert set(notes.outcomes().values()) == {"written"}


def test_a_full_disk_that_stays_full_is_undone_by_the_next_command(notes, monkeypatch):
    """Nor is what was renamed put back by then; as soon as there is room, all is."""
    copy = notes.work.open("x")
    for path in copies.NOTES:
        notes.replace(path, "text", "mine", copy.folder)
    write, calls = Folder.write, []

    def full(self, name, *arguments, **keywords):
        if name.endswith(".org") and self.name.startswith(str(notes.root)):
            calls.append(name)
            if len(calls) >= 2:
                raise OSError(28, "No space left on device")
        return write(self, name, *arguments, **keywords)

    monkeypatch.setattr(Folder, "write", full)
    for _ in range(2):
        with pytest.raises(OrgctxError, match="org: No space left") as caught:
            notes.work.commit("x", "m")
        assert "half done" in caught.value.hint
    monkeypatch.undo()
    assert {each.changed for each in notes.work.status()} == {()}
    assert all("mine" in notes.get(path) for path in copies.NOTES)


def test_a_history_that_is_full_when_all_is_written_is_completed_by_the_next_command(
    notes, monkeypatch
):
    copy = notes.work.open("x")
    notes.replace("a.org", "text one", "mine", copy.folder)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(History, "record", full)
    with pytest.raises(OrgctxError, match="No space left") as caught:
        notes.work.commit("x", "m")
    assert "the notes are written" in caught.value.hint
    with pytest.raises(OrgctxError, match="No space left"):
        notes.work.status()
    notes.replace("a.org", "text two", "theirs")
    monkeypatch.undo()
    assert [each.changed for each in notes.work.status()] == [()]
    assert [record.message for _, record in notes.work.log()] == ["m"]
    both = copies.A.replace("text one", "mine").replace("text two", "theirs")
    assert notes.get("a.org") == both
    assert (notes.work.open("x").folder / "a.org").read_text() == both


def test_a_copy_that_cannot_be_brought_up_to_date_keeps_nobody_waiting(notes, monkeypatch):
    """Its edits are in the notes; its next commit finds that."""
    copy = notes.work.open("x")
    notes.replace("a.org", "text one", "mine", copy.folder)
    notes.put("new.org", "* New\n", copy.folder)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Checkout, "settle", full)
    assert notes.outcomes() == {"a.org": "written", "new.org": "written"}
    monkeypatch.undo()
    notes.replace("a.org", "text two", "theirs")
    assert notes.outcomes() == {"a.org": "unchanged", "new.org": "unchanged"}
    both = copies.A.replace("text one", "mine").replace("text two", "theirs")
    assert notes.get("a.org") == (copy.folder / "a.org").read_text() == both


def test_what_is_half_done_waits_for_a_root_that_is_gone(notes, monkeypatch):
    """It may be a disk that comes back. Other copies wait as well, as it may be their root."""
    copy = notes.work.open("x")
    for path in copies.NOTES:
        notes.replace(path, "text", "mine", copy.folder)

    def killed(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(Doing, "end", killed)
    monkeypatch.setattr(Task, "carry_out", killed)
    with pytest.raises(KeyboardInterrupt):
        notes.work.commit("x", "m")
    monkeypatch.undo()
    away = notes.root.with_name("away")
    notes.root.rename(away)
    for _ in range(2):
        with pytest.raises(NotFound, match="no such folder") as caught:
            notes.work.status()
        assert str(State().doing) in caught.value.hint
        notes.root.unlink(missing_ok=True)
        notes.root.symlink_to(away)
    notes.root.unlink()
    away.rename(notes.root)
    assert [each.changed for each in notes.work.status()] == [()]
    assert all("mine" in notes.get(path) for path in copies.NOTES)


def test_a_folder_that_is_closed_refuses_what_is_in_it(notes, monkeypatch):
    copy = notes.work.open("x")
    for path in copies.NOTES:
        notes.replace(path, "text", "mine", copy.folder)
    real_open, closed = os.open, (notes.root / "sub/deeper").stat()

    def refuse(path, *arguments, **keywords):
        if path == "deeper":
            here = os.stat(path, dir_fd=keywords["dir_fd"])
            if os.path.samestat(here, closed):
                raise PermissionError(13, "Permission denied")
        return real_open(path, *arguments, **keywords)

    monkeypatch.setattr(os, "open", refuse)
    report = notes.work.commit("x", "m")
    written = {"a.org": "", "sub/b.org": ""}
    assert reasons(report) == {**written, "sub/deeper/c.org": "Permission denied"}
    assert {each.what for each in report.outcomes} == {"written", "refused"}


def test_a_folder_in_the_place_of_a_note(notes):
    """What is in it comes into the notes once the note is out of the way."""
    copy = notes.work.open("x")
    (copy.folder / "a.org").unlink()
    notes.put("a.org/b.org", "* Inner\n", copy.folder)
    assert notes.outcomes() == {"a.org": "deleted", "a.org/b.org": "refused"}
    assert notes.outcomes() == {"a.org/b.org": "written"}
    assert notes.get("a.org/b.org") == "* Inner\n"
    assert notes.outcomes() == {}


def test_a_note_in_the_place_of_a_folder(notes):
    copy = notes.work.open("x")
    shutil.rmtree(copy.folder / "sub/deeper")
    notes.put("sub/deeper.org", "* No folder\n", copy.folder)
    assert notes.outcomes() == {"sub/deeper.org": "written", "sub/deeper/c.org": "deleted"}


def test_other_letters_are_another_name(notes):
    copy = notes.work.open("x")
    (copy.folder / "a.org").rename(copy.folder / "A.org")
    (copy.folder / "sub").rename(copy.folder / "Sub")
    outcomes = notes.outcomes()
    assert {path for path, what in outcomes.items() if what == "deleted"} == set(copies.NOTES)
    assert notes.get("A.org") == copies.A
    assert notes.get("Sub/b.org") == copies.B


def test_other_letters_are_the_same_name_on_some_disks(notes, monkeypatch):
    """There two names lead to a note, of which its folder has one; neither edit deletes it."""
    copy = notes.work.open("x")
    (copy.folder / "a.org").rename(copy.folder / "A.org")
    notes.replace("sub/b.org", "text b", "mine", copy.folder)
    os.link(notes.root / "a.org", notes.root / "A.org")
    listdir = os.listdir
    monkeypatch.setattr(os, "listdir", lambda place: sorted({*listdir(place)} - {"A.org"}))
    report = notes.work.commit("x", "m")
    why = "this disk takes A.org and a.org for the same name"
    assert reasons(report) == {"A.org": why, "a.org": why, "sub/b.org": ""}
    assert notes.get("a.org") == copies.A


# --- History -------------------------------------------------------------------------------------


def test_the_history_is_a_git_repository(notes):
    copy = notes.work.open("x")
    for number in range(3):
        notes.replace("a.org", "#+title: A", f"#+title: A{number}", copy.folder)
        notes.work.commit("x", f"edit {number}\n\nwith a body")
    git = ["git", "-C", str(State().history)]
    subjects = subprocess.run([*git, "log", "--format=%s"], capture_output=True, check=True).stdout
    assert subjects.decode().split("\n")[:3] == ["edit 2", "edit 1", "edit 0"]
    subprocess.run([*git, "fsck", "--strict"], check=True)
    log = notes.work.log()
    assert [record.message.split("\n")[0] for _, record in log] == ["edit 2", "edit 1", "edit 0"]
    assert notes.work.log(1) == log[:1]
    for side, text in (("base", "#+title: A1"), ("result", "#+title: A21")):
        assert text in notes.work.show(f"{log[0][0]}:{side}/a.org").split("\n")[0]


def test_many_versions_are_kept_in_one_file(tmp_path):
    notes = Notes.make(tmp_path, {f"{number}.org": f"* {number}\n" for number in range(MANY)})
    copy = notes.work.open("x")
    for number in range(MANY):
        notes.put(f"{number}.org", f"* {number}\nmine\n", copy.folder)
    assert set(notes.outcomes().values()) == {"written"}
    assert len(list(State().history.rglob("*.pack"))) == 1
    [(revision, _)] = notes.work.log()
    for number in range(MANY):
        assert notes.work.show(f"{revision}:{number}.org") == f"* {number}\nmine\n"
        assert notes.work.show(f"{revision}:base/{number}.org") == f"* {number}\n"
    subprocess.run(["git", "-C", State().history, "fsck", "--strict"], check=True)


def test_show_a_commit(notes):
    copy = notes.work.open("x")
    notes.replace("a.org", "text one", "mine", copy.folder)
    revision = notes.work.commit("x", "my message").revision
    shown = notes.work.show(revision[:8])
    assert shown.startswith(f"commit {revision}\ncopy x\n")
    assert "    my message\n" in shown
    assert "\nwritten a.org\n" in shown
    assert "\n-text one\n+mine\n" in shown


@pytest.mark.parametrize("name", ["", "abc", "zzzz", "0000000", "HEAD~1", "--help", "0000:a.org"])
def test_show_what_is_not_there(notes, name):
    with pytest.raises(NotFound):
        notes.work.show(name)
    copy = notes.work.open("x")
    notes.replace("a.org", "text one", "mine", copy.folder)
    notes.outcomes()
    with pytest.raises(NotFound):
        notes.work.show(name)


def test_show_a_path_that_is_not_there(notes):
    copy = notes.work.open("x")
    (copy.folder / "sub/b.org").unlink()
    notes.outcomes()
    revision = notes.work.log()[0][0]
    with pytest.raises(NotFound) as error:
        notes.work.show(f"{revision}:sub/b.org")
    assert error.value.hint == "there is one on: base, theirs"
    with pytest.raises(NotFound) as error:
        notes.work.show(f"{revision}:sub/x.org")
    assert "sub/b.org" in error.value.hint


def test_a_message_and_names_of_any_kind(tmp_path):
    name = "sub/\u202enew\nline \x1b[31m.org"
    notes = Notes.make(tmp_path, {name: "* A\n"})
    copy = notes.work.open("x\ny")
    notes.put(name, "* B\n", copy.folder)
    notes.work.commit("x\ny", "héllo \x1b[31m")
    revision, record = notes.work.log()[0]
    assert (record.copy, record.message) == ("x\ny", "héllo \x1b[31m")
    assert "\x1b" not in notes.work.show(revision)


def test_several_roots(tmp_path):
    for name in ("work", "home"):
        Notes(tmp_path / name, None).put("a.org", f"* {name}\ntext\n")
    work = Workcopies(tmp_path / "work", tmp_path / "home")
    copy = work.open("x")
    for name in ("work", "home"):
        (copy.folder / name / "a.org").write_text(f"* {name}\nmine\n")
    assert {each.path for each in work.commit("x", "m").outcomes} == {"work/a.org", "home/a.org"}
    assert (tmp_path / "home/a.org").read_text() == "* home\nmine\n"
    (copy.folder / "stray.org").write_text("* Stray\n")
    assert work.commit("x", "m").outcomes == ()


def test_what_is_checked_grows_with_the_edits():
    """Not with their square: each brings an ID, and an entry that another note may have lost."""

    def make(count):
        for number in range(count):
            before = f"* Head {number}\ntext\n".encode()
            ours = before + f"* New\n:PROPERTIES:\n:ID: id-{number}\n:END:\n".encode()
            yield Plan(f"{number}.org", before, ours, before, ours, WRITTEN)

    def check(plans):
        found = checked(plans, False, lambda id_, paths: False)
        assert all(plan.what == WRITTEN for plan in found)

    check_growth(check, lambda size: list(make(size)), 150)


def test_all_that_the_log_begins_with_is_on_the_disk(notes, monkeypatch):
    """After a power cut nothing is missing that a commit names."""
    fsync, written = os.fsync, set()

    def noted(descriptor):
        written.add(os.fstat(descriptor).st_ino)
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", noted)
    notes.replace("a.org", "text one", "mine", notes.work.open("x").folder)
    assert notes.outcomes() == {"a.org": "written"}
    history = State().history
    kept = [each for each in (history / "objects").rglob("*") if each.is_file()]
    kept += [each for each in (history / "refs").rglob("*") if each.is_file()]
    assert len(kept) > 5
    assert {each.stat().st_ino for each in kept} <= written


# --- folders -------------------------------------------------------------------------------------


def test_folders_that_a_commit_empties_are_deleted_as_git_does(tmp_path):
    kept = {"a.org": "* A\n", "kept/b.org": "* B\n", "kept/.hidden": "", "other/p.png": ""}
    notes = Notes.make(tmp_path, {**kept, "deep/er/c.org": "* C\n", "deep/d.org": "* D\n"})
    (notes.root / "empty").mkdir()
    folder = notes.work.open("x").folder
    for path in "kept/b.org", "deep/er/c.org", "deep/d.org":
        (folder / path).unlink()
    notes.work.commit("x", "m")
    assert sorted(each.name for each in notes.root.iterdir()) == [
        "a.org",
        "empty",
        "kept",
        "other",
    ]
    assert [each.name for each in (notes.root / "kept").iterdir()] == [".hidden"]


def test_a_root_stays_when_all_its_notes_are_deleted(tmp_path):
    notes = Notes.make(tmp_path, {"a.org": "* A\n", "d/b.org": "* B\n"})
    folder = notes.work.open("x").folder
    for path in "a.org", "d/b.org":
        (folder / path).unlink()
    notes.work.commit("x", "m")
    assert [*notes.root.iterdir()] == []


def test_a_folder_of_a_deletion_that_is_refused_stays(tmp_path):
    notes = Notes.make(tmp_path, {"a.org": "* A\n", "d/b.org": "* B\n"})
    folder = notes.work.open("x").folder
    (folder / "d/b.org").unlink()
    notes.put("d/b.org", "* B\nedited\n")
    assert notes.outcomes() == {"d/b.org": "conflict"}
    assert notes.get("d/b.org") == "* B\nedited\n"


def test_a_folder_that_is_gone_from_the_notes_goes_from_the_copy(tmp_path):
    notes = Notes.make(tmp_path, {"a.org": "* A\n", "d/e/b.org": "* B\n"})
    folder = notes.work.open("x").folder
    shutil.rmtree(notes.root / "d")
    notes.work.open("x")
    assert [each.name for each in folder.iterdir()] == ["a.org"]


def test_all_that_a_commit_makes_or_deletes_is_on_the_disk(tmp_path, monkeypatch):
    """After the last change of a folder's names somebody has waited for the disk."""
    notes = Notes.make(tmp_path, {"a.org": "* A\n", "d/b.org": "* B\n"})
    folder = notes.work.open("x").folder
    (folder / "d/b.org").unlink()
    notes.put("new/deep/er/n.org", "* N\n", folder)
    notes.replace("a.org", "A", "A too", folder)
    waiting, seen = set(), set()

    def place(path, descriptor):
        return os.path.dirname(path) or "." if descriptor is None else descriptor

    def number(path):
        return os.stat(path).st_ino

    def changing(name, of_last):
        call = getattr(os, name)

        def changed(*arguments, **keywords):
            found = call(*arguments, **keywords)
            path = os.fspath(arguments[1 if of_last else 0])
            descriptor = keywords.get("dst_dir_fd" if of_last else "dir_fd")
            waiting.add(number(place(path, descriptor)))
            seen.add(name)
            return found

        monkeypatch.setattr(os, name, changed)

    fsync = os.fsync

    def synced(descriptor):
        fsync(descriptor)
        waiting.discard(number(descriptor))

    for name, of_last in ("mkdir", False), ("replace", True), ("rename", True):
        changing(name, of_last)
    monkeypatch.setattr(os, "fsync", synced)
    notes.work.commit("x", "m")
    monkeypatch.undo()
    ours = [notes.root, *(each for each in notes.root.rglob("*") if each.is_dir())]
    history = State().history
    ours += [history.parent, history, *(each for each in history.rglob("*") if each.is_dir())]
    assert {"mkdir", "replace"} <= seen
    lost = [each for each in ours if number(each) in waiting]
    assert lost == []
