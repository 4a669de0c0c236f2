"""The tools of a copy: reading what was just written, and writing just what was meant."""

import os
import threading

import copies
import pytest
from copies import Notes

from orgctx.errors import Ambiguous, BadArgument, BudgetTooSmall, NotFound, OutsideRoot, Stale
from orgctx.tokens import count
from orgctx.workcopy import Workcopies, tools
from orgctx.workcopy.state import State


@pytest.fixture
def notes(tmp_path):
    return Notes.make(tmp_path)


@pytest.fixture
def copy(notes):
    return notes.work.open("x")


def text(copy, path="a.org"):
    return (copy.folder / path).read_bytes().decode()


# --- Reading -------------------------------------------------------------------------------------


def test_what_was_written_is_read(notes, copy):
    before = copies.state(notes.root)
    copy.edit_entry("id:one-1", "* Uno\n:PROPERTIES:\n:ID: one-1\n:END:\nmine\n")
    copy.insert_entry("id:one-1", "* Child\n:PROPERTIES:\n:ID: child-1\n:END:\n")
    copy.write("new/n.org", "* New note\nneedle\n")
    assert "mine" in copy.focus("id:one-1").text
    assert "mine" in copy.read("id:one-1").text
    assert copy.read("id:child-1").title == "Child"
    assert [row.address for row in copy.ls("new").rows] == ["new/n.org"]
    assert [entry.path for entry in copy.grep("needle").entries] == ["new/n.org"]
    assert copies.state(notes.root) == before


def test_edits_from_outside_the_tools_are_read_too(copy):
    (copy.folder / "a.org").write_text("* Other\nneedle\n")
    assert copy.text("a.org").text == "* Other\nneedle\n"
    assert [entry.path for entry in copy.grep("needle").entries] == ["a.org"]


def test_a_store_that_is_known_is_not_read_again(notes, monkeypatch):
    """What is known of the notes is known of their copy."""
    from orgctx.store.opening import open_store
    from orgctx.store.sync import Writer

    open_store([notes.root]).freshen()
    added, add = [], Writer.add

    def noted(self, tree, state):
        added.append(tree.path)
        return add(self, tree, state)

    monkeypatch.setattr(Writer, "add", noted)
    copy = notes.work.open("x")
    copy.write("n.org", "* N\n")
    assert copy.ls("sub").rows
    assert copy.grep("text b").entries[0].path == "sub/b.org"
    assert added == ["n.org"]


def test_a_text_and_its_revision(notes, copy):
    found = copy.text("a.org")
    assert (found.text, found.revision) == (copies.A, copy.read("a.org").revision)
    copy.write("n.org", "* A\n* Vault :crypt:\npin\n* B\n")
    assert copy.text("n.org").text == "* A\n* Vault :crypt:\n\n* B\n"
    notes.put("crlf.org", copies.A.replace("\n", "\r\n"), copy.folder)
    assert copy.text("crlf.org").text == copies.A


@pytest.mark.parametrize(
    ("pattern", "path", "found"),
    [
        ("*.org", "", ["a.org", "sub/b.org", "sub/deeper/c.org"]),
        ("b.org", "", ["sub/b.org"]),
        ("**/*.org", "", ["a.org", "sub/b.org", "sub/deeper/c.org"]),
        ("*/*.org", "", ["sub/b.org"]),
        ("/*.org", "", ["a.org"]),
        ("sub/**", "", ["sub/b.org", "sub/deeper/c.org"]),
        ("*.org", "sub", ["sub/b.org", "sub/deeper/c.org"]),
        ("deeper/*", "sub/", ["sub/deeper/c.org"]),
        ("{a,b}.org", "", ["a.org", "sub/b.org"]),
        ("[!a].org", "", ["sub/b.org", "sub/deeper/c.org"]),
        ("?.org", "sub/deeper", ["sub/deeper/c.org"]),
        ("*.md", "", []),
        ("A.ORG", "", []),
    ],
)
def test_glob(copy, pattern, path, found):
    assert copy.glob(pattern, path) == (tuple(found), 0)


def test_glob_says_what_it_leaves_out(copy):
    assert copy.glob("*.org", limit=2) == (("a.org", "sub/b.org"), 1)


@pytest.mark.parametrize("pattern", ["", "../*", "a/../*.org", None, 5, "{a,b}" * 20, "{1..9999}"])
def test_what_is_no_pattern(copy, pattern):
    with pytest.raises(BadArgument):
        copy.glob(pattern)


@pytest.mark.parametrize(
    ("pattern", "path", "glob", "found"),
    [
        ("text", "", "", [("a.org", 6), ("a.org", 8), ("sub/b.org", 2), ("sub/deeper/c.org", 2)]),
        ("text", "sub", "", [("sub/b.org", 2), ("sub/deeper/c.org", 2)]),
        ("text", "sub/", "/*.org", [("sub/b.org", 2)]),
        ("text", "a.org", "", [("a.org", 6), ("a.org", 8)]),
        ("text", "a.org", "b*", []),
        ("text", "", "[bc].org", [("sub/b.org", 2), ("sub/deeper/c.org", 2)]),
        ("te.t", "", "", []),
        ("TEXT", "", "", []),
        ("", "", "", BadArgument),
        ("a\nb", "", "", BadArgument),
        ("text", "nowhere", "", NotFound),
        ("text", "..", "", OutsideRoot),
        ("text", "", "../*", BadArgument),
    ],
)
def test_matches(copy, pattern, path, glob, found):
    if not isinstance(found, list):
        with pytest.raises(found):
            copy.matches(pattern, path, glob=glob)
        return
    matches, is_cut = copy.matches(pattern, path, glob=glob)
    assert ([each[:2] for each in matches], is_cut) == (found, False)
    for match in matches:
        assert text(copy, match.path).split("\n")[match.line - 1] == match.text
    if len(found) > 1:
        assert copy.matches(pattern, path, glob=glob, limit=1) == (matches[:1], True)


def test_items(copy):
    copy.mkdir("empty/folder")
    found = [(item.path, item.is_folder) for item in copy.items()]
    assert found == [("a.org", False), ("empty", True), ("sub", True)]
    assert [item.path for item in copy.items("sub/")] == ["sub/b.org", "sub/deeper"]
    assert copy.items("empty/folder") == []
    assert copy.items("sub")[0].size == len(copies.B)
    for path, error in (("a.org", OutsideRoot), ("../..", OutsideRoot), ("\ud800", BadArgument)):
        with pytest.raises(error):
            copy.items(path)
    for path, hint in (("sub/deper", "sub/deeper"), ("x" * 300, "see what there is")):
        with pytest.raises(NotFound) as error:
            copy.items(path)
        assert hint in error.value.hint


def test_items_of_several_roots(tmp_path):
    for name in ("work", "home"):
        Notes(tmp_path / name, None).put("sub/a.org", f"* {name}\n")
    copy = Workcopies(tmp_path / "work", tmp_path / "home").open("x")
    assert [item.path for item in copy.items()] == ["work", "home"]
    assert [item.path for item in copy.items("home")] == ["home/sub"]
    assert [item.path for item in copy.items("home/sub")] == ["home/sub/a.org"]
    assert copy.glob("*.org", "work").paths == ("work/sub/a.org",)
    assert copy.write("home/new.org", "* N\n").path == "home/new.org"
    with pytest.raises(NotFound, match="in no root"):
        copy.write("elsewhere/new.org", "* N\n")


def test_a_tree_keeps_to_its_budget(copy):
    whole = copy.tree()
    assert whole.text == "a.org\nsub/\n  b.org\n  deeper/\n    c.org\n"
    assert copy.tree("sub/deeper").text == "c.org\n"
    with pytest.raises(BudgetTooSmall) as error:
        copy.tree(budget=1)
    for budget in range(error.value.needed, whole.tokens + 1):
        found = copy.tree(budget=budget)
        assert count(found.text) == found.tokens <= budget
        assert f"… and {found.left_out} more" in found.text or not found.left_out


def test_the_copy_is_looked_through_once_for_an_answer(copy, monkeypatch):
    looks, freshen = [], copy.store.freshen
    monkeypatch.setattr(copy.store, "freshen", lambda: looks.append(freshen()))
    assert copy.tree().text.count("/\n") == 2
    assert copy.glob("*.org", "sub").paths
    assert len(looks) == 2


def test_private_text_is_not_there(tmp_path):
    config = 'private_tags = ["private"]\n'
    secret = "* Open\n* Hidden :private:\nneedle\n"
    notes = Notes.make(
        tmp_path, {"orgctx.toml": config, "a.org": secret, "b.org": "#+filetags: :private:\n"}
    )
    copy = notes.work.open("x")
    assert [item.path for item in copy.items()] == ["a.org"]
    assert copy.glob("*").paths == ("a.org",)
    copy.write("crypt.org", "* Vault :crypt:\nneedle\n* needle\n")
    assert copy.matches("needle").matches == (("crypt.org", 3, "* needle"),)
    copy.delete("crypt.org")
    assert copy.text("a.org").text == "* Open\n"
    with pytest.raises(NotFound):
        copy.edit("a.org", "needle", "x")
    for call in (copy.text, copy.delete, copy.read):
        with pytest.raises(NotFound):
            call("b.org")


# --- Files ---------------------------------------------------------------------------------------


def test_write(copy):
    edit = copy.write("n/new.org", "* N\n")
    assert (edit.path, edit.base) == ("n/new.org", "")
    again = copy.write("n/new.org", "* M\n", base=edit.revision)
    assert (again.base, text(copy, "n/new.org")) == (edit.revision, "* M\n")
    assert copy.write("n/new.org", "* M\n").revision == again.revision


def test_write_keeps_the_form_of_a_note(notes, copy):
    notes.put("a.org", b"\xef\xbb\xbf" + copies.A.replace("\n", "\r\n").encode(), copy.folder)
    copy.write("a.org", "* A\nb\n")
    assert (copy.folder / "a.org").read_bytes() == b"\xef\xbb\xbf* A\r\nb\r\n"


@pytest.mark.parametrize(
    "path",
    [
        *("x.txt", "x", ".hidden/a.org", "#a.org#", "a.org~", ".#a.org", "", "a\0.org", "a//b.org"),
        *("\ud800.org", "a/" * 51 + "b.org", "x" * 300 + ".org"),
    ],
)
def test_what_is_no_note_is_not_written(copy, path):
    with pytest.raises(BadArgument):
        copy.write(path, "* A\n")


@pytest.mark.parametrize("path", ["../x.org", "/x.org", "~/x.org", "sub/../../x.org", "C:\\x.org"])
def test_b83_nothing_is_written_outside(tmp_path, copy, path):
    before = copies.state(tmp_path)
    for call in (
        lambda: copy.write(path, "* A\n"),
        lambda: copy.move("a.org", path),
        lambda: copy.mkdir(path),
        lambda: copy.rmdir(path),
        lambda: copy.items(path),
        lambda: copy.text(path),
        lambda: copy.delete(path),
        lambda: copy.edit(path, "a", "b"),
        lambda: copy.glob("*", path),
        lambda: copy.tree(path),
    ):
        with pytest.raises((OutsideRoot, NotFound)):
            call()
    assert copies.state(tmp_path) == before


def test_a_link_in_the_copy_leads_nowhere(tmp_path, copy):
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/s.org").write_text("* Secret\n")
    (copy.folder / "out").symlink_to(tmp_path / "outside")
    (copy.folder / "s.org").symlink_to(tmp_path / "outside/s.org")
    for call in (
        lambda: copy.write("out/s.org", "* Mine\n"),
        lambda: copy.write("s.org", "* Mine\n"),
        lambda: copy.edit("s.org", "Secret", "Mine"),
        lambda: copy.text("out/s.org"),
        lambda: copy.move("a.org", "out/b.org"),
        lambda: copy.delete("out/s.org"),
        lambda: copy.items("out"),
    ):
        with pytest.raises((NotFound, OutsideRoot)):
            call()
    assert (tmp_path / "outside/s.org").read_text() == "* Secret\n"
    assert [each.name for each in (tmp_path / "outside").iterdir()] == ["s.org"]


def test_edit(copy):
    edit = copy.edit("a.org", "text one", "mine")
    assert text(copy) == copies.A.replace("text one", "mine")
    assert edit.base != edit.revision == copy.text("a.org").revision
    copy.edit("a.org", "e", "E", replace_all=True)
    assert text(copy) == copies.A.replace("text one", "mine").replace("e", "E")


def test_edit_of_what_is_not_there(copy):
    with pytest.raises(NotFound) as error:
        copy.edit("a.org", "text tow\n", "x")
    assert error.value.hint == "read the note again; like its first line: 6, 8"
    assert "text" not in error.value.hint
    with pytest.raises(Ambiguous) as error:
        copy.edit("a.org", "text", "x")
    assert "lines 6, 8" in error.value.hint
    for path in ("A.org", "nope.org", "sub"):
        with pytest.raises(NotFound):
            copy.edit(path, "a", "b")
    with pytest.raises(NotFound) as error:
        copy.edit("sub/bb.org", "a", "b")
    assert "sub/b.org" in error.value.hint
    assert copies.files(copy.folder) == {k: v.encode() for k, v in copies.NOTES.items()}
    with pytest.raises(BadArgument):
        copy.edit("a.org", "", "x")


@pytest.mark.parametrize("new", ["one\n* two\n* three", "one\n** two\n* three"])
def test_edit_that_would_open_a_headline(copy, new):
    """As a list in Markdown does."""
    with pytest.raises(BadArgument, match="would be a headline beside the entry"):
        copy.edit("a.org", "text one", new)
    assert text(copy) == copies.A
    copy.edit("a.org", "text one", new, headlines="demote")
    assert [row.title for row in copy.ls("a.org").rows] == ["One", "Two"]
    copy.edit("a.org", "text two", new, headlines="allow")
    assert "three" in [row.title for row in copy.ls("a.org").rows]


def test_edit_in_the_text_above_the_first_headline(copy):
    with pytest.raises(BadArgument, match="line 2 would be a headline"):
        copy.edit("a.org", "#+title: A\n", "#+title: A\n* bullet\n")


def test_edit_of_headlines_is_asked_for(copy):
    copy.edit("a.org", "text one\n* Two\n", "text one\n* New\n* Two\n")
    copy.edit("a.org", "* Two\n", "* Two\n* Three\n")
    assert [row.title for row in copy.ls("a.org").rows] == ["One", "New", "Two", "Three"]


def test_edit_in_many_places(copy):
    copy.write("a.org", "* A\nx\n** x\nx, x\n")
    copy.edit("a.org", "x", "y\n* z", replace_all=True, headlines="demote")
    assert text(copy) == "* A\ny\n** z\n** y\n*** z\ny\n*** z, y\n*** z\n"


def test_a_note_is_not_read_again_for_text_that_opens_no_headline(copy, monkeypatch):
    copy.write("a.org", "* A\n" + "x\n" * 100)
    read, read_again = [], tools.read_again
    monkeypatch.setattr(tools, "read_again", lambda *given: read.append(1) or read_again(*given))
    copy.edit("a.org", "x", "y", replace_all=True)
    assert text(copy) == "* A\n" + "y\n" * 100
    assert not read


def test_edit_in_another_form(notes, copy):
    notes.put("a.org", copies.A.replace("\n", "\r\n"), copy.folder)
    copy.edit("a.org", "text one\n* Two\n", "one\n\n* Two\n")
    assert text(copy) == copies.A.replace("text one\n", "one\n\n").replace("\n", "\r\n")


def test_delete_and_move(copy):
    revision = copy.text("a.org").revision
    assert copy.move("a.org", "moved/z.org").revision == revision
    assert (copy.folder / "moved/z.org").read_text() == copies.A
    assert copy.delete("moved/z.org").base == revision
    assert not (copy.folder / "moved/z.org").exists()
    for call in (lambda: copy.delete("a.org"), lambda: copy.move("a.org", "b.org")):
        with pytest.raises(NotFound):
            call()
    with pytest.raises(BadArgument, match="there is such a file"):
        copy.move("sub/b.org", "sub/deeper/c.org")


def test_delete_an_entry(copy):
    copy.delete("sub/b.org::B")
    assert text(copy, "sub/b.org") == ""
    copy.delete("id:one-1")
    assert text(copy) == "#+title: A\n* Two\ntext two\n"


def test_folders(copy):
    copy.mkdir("new/deep")
    copy.mkdir("new/deep")
    assert (copy.folder / "new/deep").is_dir()
    with pytest.raises(BadArgument, match="not empty"):
        copy.rmdir("new")
    copy.rmdir("new/deep/")
    copy.rmdir("new")
    with pytest.raises(NotFound):
        copy.rmdir("new")
    for path in (".hidden", "a/" * 51):
        with pytest.raises(BadArgument):
            copy.mkdir(path)
    with pytest.raises((OutsideRoot, BadArgument)):
        copy.rmdir("a.org")


# --- Entries -------------------------------------------------------------------------------------


def test_edit_an_entry(copy):
    edit = copy.edit_entry("a.org::Two", "* DONE Two\nnew text\n")
    assert text(copy) == copies.A.replace("* Two\ntext two", "* DONE Two\nnew text")
    assert edit.address == "a.org:7"
    copy.edit_entry("sub/b.org::B", "*** B\nx")
    assert text(copy, "sub/b.org") == "* B\nx\n** Below\nmore\n"
    copy.edit_entry("a.org", "#+title: Z\n#+filetags: :x:\n")
    assert text(copy).startswith("#+title: Z\n#+filetags: :x:\n* One\n")


def test_insert_an_entry(copy):
    edit = copy.insert_entry("sub/b.org::B", "* New\nx\n** Deep\n")
    assert text(copy, "sub/b.org") == f"{copies.B}** New\nx\n*** Deep\n"
    assert copy.read(edit.address).title == "New"
    copy.insert_entry("sub/b.org::B/Below", "* Before", where="before")
    copy.insert_entry("sub/b.org", "**** Top", where="first")
    copy.insert_entry("sub/b.org::B/Below", "* After", where="after")
    titles = [line for line in text(copy, "sub/b.org").split("\n") if line.startswith("*")]
    assert titles == [
        *("* Top", "* B", "** Before", "** Below", "** After", "** New", "*** Deep"),
    ]


def test_move_an_entry(copy):
    source, target = copy.move_entry("id:one-1", "sub/b.org::B")
    assert text(copy) == "#+title: A\n* Two\ntext two\n"
    one = copies.A[len("#+title: A\n") : copies.A.index("* Two")]
    assert text(copy, "sub/b.org") == f"{copies.B}*{one}"
    assert (source.path, target.path, target.address) == ("a.org", "sub/b.org", "sub/b.org:5")
    edit, same = copy.move_entry("id:one-1", "sub/b.org", where="first")
    assert edit == same
    assert text(copy, "sub/b.org") == one + copies.B
    copy.move_entry("id:one-1", "sub/b.org::B/Below")
    assert text(copy, "sub/b.org") == copies.B + one.replace("* One", "*** One")


@pytest.mark.parametrize("to", ["sub/b.org::B", "sub/b.org::B/Below"])
def test_an_entry_does_not_move_into_itself(copy, to):
    with pytest.raises(BadArgument, match="inside what is moved"):
        copy.move_entry("sub/b.org::B", to)
    with pytest.raises(BadArgument, match="a file"):
        copy.move_entry("sub/b.org", "a.org")


def test_keyword_and_property(copy):
    copy.set_keyword("a.org::Two", "TODO")
    copy.set_property("a.org::Two", "EFFORT", "1:00")
    assert "* TODO Two\n:PROPERTIES:\n:EFFORT:   1:00\n:END:\ntext two\n" in text(copy)
    copy.set_keyword("a.org::Two", None)
    copy.set_property("a.org::Two", "effort", None)
    assert text(copy) == copies.A
    copy.set_property("a.org", "ID", "file-1")
    assert copy.read("id:file-1").path == "a.org"


LOG = "* Log\n** Notes\nfirst\n* Log\n** Notes\nsecond\n** Notes\nthird\n"


@pytest.mark.parametrize("address", ["log.org::Log/Notes", "log.org::*Notes", "log.org::Log"])
def test_b11_b74_a_repeated_headline_is_ambiguous_for_writing_as_for_reading(notes, address):
    notes.put("log.org", LOG)
    copy = notes.work.open("x")
    seen = set()
    for call in (
        lambda: copy.read(address),
        lambda: copy.edit_entry(address, "** Notes\nx\n"),
        lambda: copy.insert_entry(address, "* x"),
        lambda: copy.move_entry(address, "a.org"),
        lambda: copy.move_entry("a.org::Two", address),
        lambda: copy.set_keyword(address, "TODO"),
        lambda: copy.set_property(address, "A", "b"),
        lambda: copy.delete(address),
    ):
        with pytest.raises(Ambiguous) as error:
            call()
        seen.add(error.value.hint)
    assert len(seen) == 1
    assert text(copy, "log.org") == LOG
    copy.edit_entry("log.org:6", "** Notes\nx\n")
    assert text(copy, "log.org") == LOG.replace("second", "x")


@pytest.mark.parametrize("address", ["a.org::Tow", "id:one-2", "b.org", "a.org:99", "#nope"])
def test_what_is_not_there_is_never_made(copy, address):
    for call in (
        lambda: copy.edit_entry(address, "* x\n"),
        lambda: copy.insert_entry(address, "* x"),
        lambda: copy.move_entry(address, "a.org"),
        lambda: copy.set_keyword(address, "TODO"),
        lambda: copy.set_property(address, "A", "b"),
        lambda: copy.delete(address),
    ):
        with pytest.raises(NotFound) as error:
            call()
        assert error.value.hint
    assert copies.files(copy.folder) == {k: v.encode() for k, v in copies.NOTES.items()}


# --- Stale ---------------------------------------------------------------------------------------


def stale_calls(copy, base):
    return (
        lambda: copy.write("a.org", "* x\n", base=base),
        lambda: copy.edit("a.org", "text one", "x", base=base),
        lambda: copy.delete("a.org", base=base),
        lambda: copy.move("a.org", "z.org", base=base),
        lambda: copy.edit_entry("a.org::Two", "* Two\nx\n", base=base),
        lambda: copy.insert_entry("a.org", "* x", base=base),
        lambda: copy.move_entry("a.org::Two", "sub/b.org", base=base),
        lambda: copy.set_keyword("a.org::Two", "TODO", base=base),
        lambda: copy.set_property("a.org::Two", "A", "b", base=base),
    )


def test_b76_an_edit_of_what_has_changed_is_refused(copy):
    base = copy.read("a.org::Two").revision
    copy.edit("a.org", "text one", "another agent's")
    before, now = copies.files(copy.folder), copy.text("a.org").revision
    for call in stale_calls(copy, base):
        with pytest.raises(Stale) as error:
            call()
        assert error.value.revision == now
        assert now[:12] in error.value.message
    assert copies.files(copy.folder) == before
    copy.set_keyword("a.org::Two", "TODO", base=now[:12])


@pytest.mark.parametrize("base", ["", "abc", "zzzzzzzzzzzz", 3])
def test_what_is_no_base(copy, base):
    for call in stale_calls(copy, base):
        with pytest.raises(BadArgument):
            call()


def test_a_base_of_what_is_not_there(copy):
    with pytest.raises(NotFound):
        copy.write("new.org", "* x\n", base="1234567")


def test_edits_one_after_another(copy):
    first = copy.set_keyword("a.org::Two", "TODO", base=copy.text("a.org").revision)
    second = copy.set_property("a.org::Two", "A", "b", base=first.revision)
    assert (second.base, second.revision) == (first.revision, copy.text("a.org").revision)


def test_many_threads_edit_the_same_note(copy):
    errors = []

    def work(number):
        try:
            for each in range(5):
                copy.insert_entry("a.org::Two", f"* {number}-{each}")
        except Exception as error:  # told below
            errors.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    titles = [row.title for row in copy.ls("a.org::Two").rows]
    assert sorted(titles) == [f"{n}-{e}" for n in range(6) for e in range(5)]


def test_two_who_share_a_copy(notes, copy):
    """A sub-agent works in the copy of its parent, which commits for both."""
    other = Workcopies().copy("x")
    other.edit("a.org", "text one", "the sub-agent's")
    assert "the sub-agent's" in copy.text("a.org").text
    copy.set_keyword("a.org::Two", "TODO")
    assert notes.outcomes() == {"a.org": "written"}
    assert "the sub-agent's" in notes.get("a.org")
    assert "* TODO Two" in notes.get("a.org")


def test_no_tool_writes_to_the_notes(notes, copy):
    before = copies.state(notes.root)
    for call in stale_calls(copy, None):
        try:
            call()
        except NotFound:  # a.org is deleted on the way
            continue
    copy.mkdir("new")
    copy.tree()
    assert copies.state(notes.root) == before
    assert not os.path.exists(notes.root / "new")
    assert not State().history.exists()


def test_the_only_roots_name_in_front_is_left_out_as_readers_do(notes, copy):
    done = copy.write("notes/new.org", "* New\n")
    assert done.path == "new.org"
    assert copy.write("notes/fresh/deep.org", "* Deep\n").path == "fresh/deep.org"
    assert copy.write("notes/a.org", "* A\n").path == "a.org"
    assert copy.move("new.org", "notes/other.org").path == "other.org"
    copy.mkdir("notes/made")
    assert {each.path for each in copy.items("notes")} == {each.path for each in copy.items("")}
    assert "made" in {each.path for each in copy.items("")}
    copy.rmdir("notes/made")
    assert not (copy.folder / "notes").exists()
    assert copy.read("notes/other.org").path == "other.org"


def test_a_folder_called_as_the_only_root_comes_first(notes, copy):
    copy.folder.joinpath("notes").mkdir()
    assert copy.write("notes/new.org", "* New\n").path == "notes/new.org"
    assert copy.read("notes/new.org").path == "notes/new.org"
    assert copy.write("notes/a.org", "* A\n").path == "a.org"
