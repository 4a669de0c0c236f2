"""orgctx.store: which files are notes, how their bytes become text, and that it is always now."""

from __future__ import annotations

import errno
import inspect
import os
import subprocess
import sys
import unicodedata
from collections.abc import Callable
from pathlib import Path
from time import process_time

import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st
from notes import snapshot, with_id, write
from program import Ask

from orgctx import Ambiguous, NotFound, OrgctxError, Unreadable, open_memex
from orgctx.config import ignorer
from orgctx.core.model import Problem
from orgctx.store import files
from orgctx.store.files import decode
from orgctx.store.store import Store

SECRET = "* secret text\n"


def titles(store: Store) -> dict[str, list[str]]:
    return {tree.path: [node.title for node in tree.nodes[1:]] for tree in store.trees()}


def text_of(store: Store, path: str) -> str:
    return store.tree(path).text


# --- Walking -------------------------------------------------------------------------------------


def test_org_files_of_all_folders_are_notes_in_path_order(tmp_path: Path) -> None:
    names = ["b.org", "a/z.org", "a/b/c.org", "old.org_archive", ".hidden.org", "x.org/y.org"]
    others = ["a.txt", "org", "a.org.gpg", "a.org.age", "notes.orgx", ".git/x.org", "c.org.bak"]
    store = Store([write(tmp_path, dict.fromkeys([*names, *others], "* A\n"))])
    assert list(store.paths) == [*sorted(names)]
    assert store.problems() == []


LITTER = ("note.org~", "#note.org#", ".#note.org", "flycheck_note.org", "#a.org_archive#")


def test_what_an_editor_leaves_is_ignored_in_silence(tmp_path: Path) -> None:
    store = Store([write(tmp_path, {"note.org": "* A\n", **dict.fromkeys(LITTER, SECRET)})])
    (tmp_path / ".#lock.org").symlink_to("someone@host.123:456")
    assert titles(store) == {"note.org": ["A"]}
    assert store.problems() == []


@given(st.lists(st.sampled_from(["a", "b", "x.org"]), min_size=1, max_size=20), st.integers(2, 20))
def test_any_folders_said_many_times_are_any_folders(steps: list[str], times: int) -> None:
    """Each of them said apart would be tried with every split of the path."""
    path = "/".join(steps)
    for rest in ("x.org", "b/*.org", "b"):
        assert ignorer(["**/" * times + rest])(path) == ignorer([f"**/{rest}"])(path)


CONFLICTS = (
    "note.sync-conflict-20240101-101010-AB.org",
    "note (conflicted copy).org",
    "note (Ann's conflicted copy 2024-01-01).org",
    "note (Conflicted Copy).org_archive",
)


@pytest.mark.parametrize("name", CONFLICTS)
def test_a_sync_conflict_copy_is_reported_and_never_served(tmp_path: Path, name: str) -> None:
    copies = {"note.org": with_id("new", "c-123456"), name: with_id("old", "c-123456")}
    memex = open_memex(write(tmp_path, copies))
    assert memex.node("c-123456").title == "new"
    assert [(problem.path, problem.what) for problem in memex.problems()] == [
        (name, "a sync-conflict copy, left out")
    ]


def test_links_are_not_followed_and_those_that_hide_something_are_reported(tmp_path: Path) -> None:
    root = write(tmp_path, {"root/a.org": "* A\n", "outside/s.org": SECRET}) / "root"
    links = {
        **{"loop": ".", "sub/up": "..", "dup.org": "a.org", "dangling.org": "missing.org"},
        **{"out.org": "../outside/s.org", "out": "../outside", "abs.org": "/etc/passwd"},
    }
    (root / "sub").mkdir()
    for name, target in links.items():
        (root / name).symlink_to(target)
    store = Store([root])
    assert titles(store) == {"a.org": ["A"]}
    assert {(problem.path, problem.what) for problem in store.problems()} == {
        ("dangling.org", "a symbolic link to nothing, left out"),
        *((name, "a symbolic link out of the root, left out") for name in ("out.org", "out")),
        ("abs.org", "a symbolic link out of the root, left out"),
    }


BAD_LINKS = {"x": "x", "x.org": "x.org", "y": "a.org/z", "y.org": "a.org/z", "n.org": "n" * 300}


@pytest.mark.parametrize(("name", "target"), BAD_LINKS.items())
def test_a_link_that_the_system_cannot_follow_stops_nothing(
    tmp_path: Path, name: str, target: str
) -> None:
    store = Store([write(tmp_path, {"a.org": "* A\n"})])
    (tmp_path / name).symlink_to(target)
    assert titles(store) == {"a.org": ["A"]}
    assert [problem.path for problem in store.problems()] == [name] * name.endswith(".org")


@pytest.mark.parametrize("target", [".git/annex/key", ".git/a.org", "a.txt"])
def test_a_note_behind_a_link_is_served_or_reported(tmp_path: Path, target: str) -> None:
    """git-annex keeps files so: a link into a hidden folder, which is not walked."""
    write(tmp_path, {target: "* linked\n"})
    (tmp_path / "a.org").symlink_to(target)
    store = Store([tmp_path])
    assert titles(store) or [problem.path for problem in store.problems()] == ["a.org"]


def test_what_is_no_file_is_no_note_and_blocks_nothing(tmp_path: Path) -> None:
    (write(tmp_path, {"a.org": "* A\n"}) / "folder.org").mkdir()
    os.mkfifo(tmp_path / "fifo.org")
    assert titles(Store([tmp_path])) == {"a.org": ["A"]}


def test_folders_may_be_nested_deeper_than_python_may_recurse(tmp_path: Path) -> None:
    folder = tmp_path.joinpath(*["d"] * 300)
    write(folder, {"deep.org": "* deep\n"})
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack()) + 200)
    try:
        found = titles(Store([tmp_path]))
    finally:
        sys.setrecursionlimit(limit)
    assert list(found.values()) == [["deep"]]


def test_a_folder_that_cannot_be_listed_is_reported_and_the_rest_is_served(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, {"a.org": "* A\n", "locked/b.org": SECRET})
    refuse(monkeypatch, "scandir", tmp_path / "locked")
    store = Store([tmp_path])
    assert titles(store) == {"a.org": ["A"]}
    assert store.problems() == [
        Problem("locked", 0, "a folder that cannot be listed: Permission denied")
    ]


def refuse(monkeypatch: pytest.MonkeyPatch, call: str, place: Path) -> None:
    """Have the system refuse one path as it does a user; root, who may run tests, it lets in."""
    original: Callable[..., object] = getattr(os, call)

    def guarded(path: os.PathLike[str] | str, *arguments: object, **options: object) -> object:
        if os.fspath(path) == str(place):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return original(path, *arguments, **options)

    monkeypatch.setattr(os, call, guarded)


BROKEN: dict[str, str | bytes] = {
    "latin.org": b"* A\n* caf\xe9\n",
    "utf16.org": "* A\n".encode("utf-16"),
    "binary.org": bytes(range(256)),
}


def test_bad_files_are_reported_and_the_rest_is_served(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, {"a.org": "* A\n", "z.org": "* Z\n", "locked.org": SECRET, **BROKEN})
    refuse(monkeypatch, "open", tmp_path / "locked.org")
    memex = open_memex(tmp_path)
    assert memex.node("a.org::*A").title == "A"
    assert memex.node("z.org:1").title == "Z"
    assert {problem.path for problem in memex.problems()} == {"locked.org", *BROKEN}
    with pytest.raises(Unreadable):
        memex.node("locked.org:1")


def test_a_problem_says_where_and_what_once(tmp_path: Path) -> None:
    [problem] = Store([write(tmp_path, {"latin.org": BROKEN["latin.org"]})]).problems()
    assert problem.path == "latin.org"
    assert problem.what == "not UTF-8 text, from line 2 on"


@pytest.mark.parametrize(
    "name", ["My Notes", "it's", "semi;colon", "[x]", "100%", "-n", "new\nline"]
)
def test_a_root_may_have_any_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    write(tmp_path / name, {"a b.org": "* A\n"})
    assert titles(Store([f"~/{name}"])) == titles(Store([tmp_path / name])) == {"a b.org": ["A"]}


@pytest.mark.parametrize(
    "root", ["nowhere", "a.org", "~nobody-has-this-name", "a\0b", "n" * 300, ""]
)
def test_a_root_that_is_no_folder_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, root: str
) -> None:
    monkeypatch.chdir(write(tmp_path, {"a.org": "* A\n"}))
    with pytest.raises(OrgctxError) as caught:
        Store([root])
    assert caught.value.hint


def test_a_root_that_is_a_link_is_the_folder_it_names(tmp_path: Path) -> None:
    write(tmp_path, {"real/a.org": "* A\n"})
    (tmp_path / "link").symlink_to("real")
    store = Store([tmp_path / "link"])
    assert titles(store) == {"a.org": ["A"]}
    assert store.file(f"{tmp_path}/link/a.org") == "a.org"


# --- Leaving the root, writing and running -------------------------------------------------------


def test_a_file_that_became_a_link_is_not_read(tmp_path: Path) -> None:
    root = write(tmp_path, {"root/a.org": "* A\n", "root/b.org": "* B\n", "s.org": SECRET}) / "root"
    trees = Store([root]).trees()
    next(trees)
    (root / "b.org").unlink()
    (root / "b.org").symlink_to("../s.org")
    assert [tree.text for tree in trees] == []


def test_a_folder_that_became_a_link_is_not_read(tmp_path: Path) -> None:
    notes = {"root/a.org": "* A\n", "root/b/c.org": "* C\n", "outside/c.org": SECRET}
    root = write(tmp_path, notes) / "root"
    trees = Store([root]).trees()
    next(trees)
    (root / "b").rename(root / "elsewhere")
    (root / "b").symlink_to("../outside")
    assert [tree.text for tree in trees] == []


def test_only_notes_can_be_read(tmp_path: Path) -> None:
    write(tmp_path, {"root/a.org": "* A\n", "s.org": SECRET})
    with pytest.raises(OrgctxError):
        Store([tmp_path / "root"]).tree("../s.org")


MARKUP = """\
#+SETUPFILE: {outside}/setup.org
#+INCLUDE: "{outside}/secret.org"
#+BIND: x (shell-command "touch {outside}/ran")
* See [[file:{outside}/secret.org]] [[elisp:(shell-command "touch {outside}/ran")]]
:PROPERTIES:
:ATTACH_DIR: {outside}
:END:
[[attachment:secret.org]] [[file:../outside/secret.org::1]] [[https://example.org]]
#+begin_src sh :results output
touch {outside}/ran
#+end_src
# Local Variables:
# eval: (shell-command "touch {outside}/ran")
# End:
"""

WATCHED = """\
import sys
seen = []
sys.addaudithook(lambda event, details: seen.append((event, str(details))))
from orgctx import open_memex
memex = open_memex(sys.argv[1])
memex.focus("a.org:4", unit="chars", budget=10**6).report()
memex.problems()
for event, details in list(seen):
    if event.startswith(("socket.", "subprocess.", "os.system", "os.exec", "os.posix_spawn")):
        print(event, details)
    if "orgctx.toml" in details:
        continue
    if event in ("open", "os.scandir", "os.listdir") and sys.argv[2] in details:
        print(event, details)
"""


def test_markup_opens_nothing_and_runs_nothing(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    notes = {"root/a.org": MARKUP.format(outside=outside), "outside/secret.org": SECRET}
    write(tmp_path, {**notes, "outside/setup.org": "#+TODO: FROM | OUTSIDE\n"})
    arguments = [sys.executable, "-c", WATCHED, tmp_path / "root", tmp_path]
    run = subprocess.run(arguments, capture_output=True, text=True, check=False)
    assert run.stderr == ""
    places = {str(tmp_path / "root"), str(tmp_path / "root" / "a.org")}
    assert run.stdout
    for line in run.stdout.splitlines():
        assert any(f"'{place}'" in line for place in places), line
    assert sorted(path.name for path in outside.iterdir()) == ["secret.org", "setup.org"]


def test_reading_leaves_every_source_as_it_is(home: Path, ask: Ask) -> None:
    """What the store remembers is kept in the cache folder, which is elsewhere."""
    text = "#+title: T\r\n* A   \r\n:PROPERTIES:\r\n:ID: abcdef\r\n:END:\r\n* B :t:  \r\nend"
    write(home, {"root/a.org": text, "root/sub/b.org": b"\xef\xbb\xbf* B", **BROKEN})
    write(home, {".cache/x": "", "root/.#a.org": "lock"})
    before = snapshot(home)
    memex = open_memex("root")
    memex.focus("id:abcdef").report()
    memex.problems()
    for arguments in (
        ["focus", "root/a.org:2", "--report"],
        ["focus", "abcdef", "--root", "root", "--format", "json"],
        ["outline", "root", "--json"],
        ["focus", "latin.org"],
    ):
        ask(*arguments)
    assert snapshot(home) == before


# --- Decoding ------------------------------------------------------------------------------------

COOKIES = {
    "# -*- coding: latin-1 -*-\n* café\n": "latin-1",
    "# -*- mode: org; coding: iso-8859-1-unix; -*-\n* café\n": "iso-8859-1",
    "#!/bin/sh\n# -*- coding: windows-1251 -*-\n* Отчёт\n": "windows-1251",
    "# -*- CODING: koi8-r -*-\r\n* Отчёт\r\n": "koi8-r",
    "* 日本語\n# Local Variables:\n# coding: euc-jp\n# End:\n": "euc-jp",
    "# -*- coding: iso-latin-1 -*-\n* café\n": "iso-latin-1",  # Emacs' own name for latin-1
}


@pytest.mark.parametrize(("text", "name"), COOKIES.items(), ids=COOKIES.values())
def test_a_file_that_is_not_utf8_is_read_as_its_cookie_says(text: str, name: str) -> None:
    data = text.encode(name.replace("iso-latin-1", "latin-1"))
    decoded, encoding = decode(data, "a.org")
    assert decoded == text
    assert decoded.encode(encoding) == data


NOT_TEXT = {
    "no cookie": b"* A\n* caf\xe9\n",
    "unknown name": b"# -*- coding: no-such-coding -*-\n* caf\xe9\n",
    "no text coding": b"# -*- coding: rot13 -*-\n* caf\xe9\n",
    "not what it says": b"# -*- coding: ascii -*-\n* caf\xe9\n",
    "says UTF-8": b"# -*- coding: utf-8 -*-\n* caf\xe9\n",
    "cookie on line 3": b"#\n#\n# -*- coding: latin-1 -*-\n* caf\xe9\n",
    "cookie in prose": b"* A\ncoding: latin-1\n* caf\xe9\n",
    "UTF-16": "* café\n".encode("utf-16"),
    "UTF-32": "* café\n".encode("utf-32"),
    "half a character": "* café".encode()[:-1],
    "surrogate": b"* \xed\xa0\x80\n",
    "comes back otherwise": b"# -*- coding: raw_unicode_escape -*-\n* caf\xe9 \\u0041\n",
    "mark and latin-1": b"\xef\xbb\xbf* caf\xe9\n",
}


@pytest.mark.parametrize("data", NOT_TEXT.values(), ids=NOT_TEXT)
def test_what_is_no_text_is_refused_with_its_line_and_a_way_on(data: bytes) -> None:
    with pytest.raises(Unreadable) as caught:
        decode(data, "a.org")
    line = data.count(b"\n", 0, max(data.find(b"\xe9"), 0)) + 1
    assert caught.value.message == f"a.org: not UTF-8 text, from line {line} on"
    assert "UTF-8" in caught.value.hint


def test_a_byte_order_mark_is_no_text_and_comes_back(tmp_path: Path) -> None:
    data = b"\xef\xbb\xbf:PROPERTIES:\n:ID: bom-12\n:END:\n* A\n"
    assert decode(data, "a.org") == (data[3:].decode(), "utf-8-sig")
    memex = open_memex(write(tmp_path, {"a.org": data, "b.org": b"\xef\xbb\xbf* B\n"}))
    assert memex.node("bom-12").level == 0
    assert memex.node("b.org::*B").first_line == 1
    assert "\ufeff" not in memex.focus("b.org").text


@given(strategies.org_bytes())
def test_decoding_loses_nothing(data: bytes) -> None:
    text, encoding = decode(data, "a.org")
    assert text.encode(encoding) == data


def test_a_long_line_that_looks_like_cookies_is_decoded_in_linear_time() -> None:
    data = b"-*-" * 20_000 + b"\xff\n"
    start = process_time()
    with pytest.raises(Unreadable):
        decode(data, "a.org")
    assert process_time() - start < 0.5


def test_a_file_that_is_named_is_org_by_its_suffix_or_its_mode_line(tmp_path: Path) -> None:
    modes = {"a": "-*- org -*-\n* A\n", "b.txt": "# -*- mode: Org; x: y -*-\n* A\n"}
    others = {"c.txt": "* A\n", "d.txt": "-*- mode: text -*-\n", "e.txt": "\n-*- org -*-\n"}
    write(tmp_path, {**modes, **others})
    for name in modes:
        assert list(Store.of_files([str(tmp_path / name)]).ids()) == []
        assert titles(Store.of_files([str(tmp_path / name)])) == {str(tmp_path / name): ["A"]}
    for name in others:
        path = str(tmp_path / name)
        with pytest.raises(Unreadable, match="not an Org file"):
            Store.of_files([path]).tree(path)


# --- What is there now ---------------------------------------------------------------------------


def test_a_change_of_the_same_size_and_time_is_seen(tmp_path: Path) -> None:
    store = Store([write(tmp_path, {"a.org": "* A\none\n"})])
    before = (tmp_path / "a.org").stat()
    assert text_of(store, "a.org") == "* A\none\n"
    write(tmp_path, {"a.org": "* A\ntwo\n"})
    os.utime(tmp_path / "a.org", ns=(before.st_atime_ns, before.st_mtime_ns))
    assert text_of(store, "a.org") == "* A\ntwo\n"


@pytest.mark.parametrize("seconds", [0, 1, 2**31 + 10])
def test_a_change_is_seen_whatever_the_clock_says(tmp_path: Path, seconds: int) -> None:
    store = Store([write(tmp_path, {"a.org": "* A\n"})])
    store.tree("a.org")
    write(tmp_path, {"a.org": "* B\n"})
    os.utime(tmp_path / "a.org", (seconds, seconds))
    assert titles(store) == {"a.org": ["B"]}


def test_after_an_edit_above_an_id_finds_its_own_text(tmp_path: Path) -> None:
    text = with_id("A", "first-1") + "alpha\n" + with_id("B", "second-2") + "beta\n"
    memex = open_memex(write(tmp_path, {"a.org": text}))
    assert "beta" in memex.focus("second-2").text
    write(tmp_path, {"a.org": "* new\n" * 10 + text})
    view = memex.focus("second-2")
    assert "beta\n" in view.text
    assert "alpha" not in view.text
    assert memex.node("second-2").first_line == 16
    assert memex.focus("a.org:1").shown[1].node.title == "new"


def test_new_renamed_moved_and_deleted_files_are_seen(tmp_path: Path) -> None:
    store = Store([write(tmp_path, {"a.org": with_id("A", "abcdef")})])
    assert titles(store) == {"a.org": ["A"]}
    (tmp_path / "a.org").rename(tmp_path / "b.org")
    assert titles(store) == {"b.org": ["A"]}
    write(tmp_path, {"a.org": "* New\n"})
    assert titles(store) == {"a.org": ["New"], "b.org": ["A"]}
    (tmp_path / "b.org").unlink()
    assert store.holders("abcdef") == []
    with pytest.raises(NotFound):
        store.tree("b.org")


def test_a_file_that_went_bad_is_not_served_as_it_was(tmp_path: Path) -> None:
    memex = open_memex(write(tmp_path, {"a.org": with_id("A", "abcdef")}))
    assert memex.node("abcdef").title == "A"
    write(tmp_path, {"a.org": b"* caf\xe9\n"})
    for address, error in {"abcdef": NotFound, "a.org": Unreadable, "a.org:1": Unreadable}.items():
        with pytest.raises(error):
            memex.node(address)
    write(tmp_path, {"a.org": "* mended\n"})
    assert memex.node("a.org:1").title == "mended"


def test_an_unchanged_file_is_parsed_once(tmp_path: Path) -> None:
    store = Store([write(tmp_path, {"a.org": "* A\n"})])
    assert store.tree("a.org") is store.tree("a.org")


def test_the_saved_file_is_read_not_the_autosave(tmp_path: Path) -> None:
    write(tmp_path, {"note.org": "* A\nold\n", "#note.org#": "* A\nnew\n"})
    (tmp_path / ".#note.org").symlink_to("someone@host.123:456")
    text = open_memex(tmp_path).focus("note.org::*A").text
    assert "old" in text
    assert "new" not in text


# --- Problems ------------------------------------------------------------------------------------


def test_problems_of_all_files_are_listed_with_their_places(tmp_path: Path) -> None:
    notes = {
        "a.org": with_id("One", "dup-1") + with_id("Two", "dup-1"),
        "b.org": "\n" + with_id("Three", "dup-1") + with_id("Four", "uniq-1", "uniq-2"),
        "c.org": "* Five\n:PROPERTIES: stray\n:ID: x\n:END:\n",
    }
    found = Store([write(tmp_path, notes)]).problems()
    duplicate = "an ID that another node has too"
    assert {(each.path, each.line) for each in found if each.what == duplicate} == {
        ("a.org", 1),
        ("a.org", 5),
        ("b.org", 2),
    }
    assert {(each.path, each.line) for each in found if each.what != duplicate} == {
        ("b.org", 7),
        ("c.org", 2),
    }


def test_one_id_twice_in_one_drawer_is_no_other_nodes(tmp_path: Path) -> None:
    store = Store([write(tmp_path, {"a.org": with_id("A", "twice-1", "twice-1")})])
    assert [problem.what for problem in store.problems()] == [
        "more than one ID in a property drawer"
    ]


def test_a_problem_never_tells_a_notes_text(tmp_path: Path) -> None:
    notes = {"a.org": "* A\n:PROPERTIES: hushhush\n:END:\n", "b.org": b"* hushhush \xff\n"}
    for problem in Store([write(tmp_path, notes)]).problems():
        assert "hushhush" not in problem.what


def test_a_root_that_went_away_is_said_to_have(tmp_path: Path) -> None:
    root = write(tmp_path / "root", {"a.org": "* A\n"})
    store = Store([root])
    root.rename(tmp_path / "elsewhere")
    [problem] = store.problems()
    assert "cannot be listed" in problem.what
    assert titles(store) == {}


# --- Several roots -------------------------------------------------------------------------------


def several(tmp_path: Path, *roots: str) -> Store:
    return Store([tmp_path / root for root in roots])


def test_files_of_several_roots_are_named_by_root(tmp_path: Path) -> None:
    write(tmp_path, {"work/a.org": "* W\n", "home/a.org": "* H\n", "home/b/c.org": "* C\n"})
    store = several(tmp_path, "work", "home")
    assert titles(store) == {"work/a.org": ["W"], "home/a.org": ["H"], "home/b/c.org": ["C"]}
    assert store.file("b/c.org") == "home/b/c.org"
    with pytest.raises(Ambiguous) as caught:
        store.file("a.org")
    assert "work/a.org, home/a.org" in caught.value.hint


def test_roots_of_equal_names_are_told_apart(tmp_path: Path) -> None:
    write(tmp_path, {"1/n/a.org": "* 1\n", "2/n/a.org": "* 2\n", "3/n-2/a.org": "* 3\n"})
    store = several(tmp_path, "1/n", "2/n", "3/n-2")
    assert sorted(titles(store).values()) == [["1"], ["2"], ["3"]]
    assert titles(store)["n/a.org"] == ["1"]
    for path, (title,) in titles(store).items():
        assert store.tree(path).nodes[1].title == title


def test_a_file_named_as_a_folder_of_another_root_is_not_mixed_up(tmp_path: Path) -> None:
    write(tmp_path, {"x/y/a.org": "* in x\n", "y/a.org": "* in y\n"})
    store = several(tmp_path, "x", "y")
    assert store.tree(store.file("x/y/a.org") or "").nodes[1].title == "in x"
    assert store.tree(store.file("y/a.org") or "").nodes[1].title == "in y"


def test_a_root_that_is_named_twice_is_one(tmp_path: Path) -> None:
    write(tmp_path, {"n/a.org": with_id("A", "abcdef")})
    (tmp_path / "link").symlink_to("n")
    for roots in (("n", "n"), ("n", "link"), ("n", "n/../n")):
        assert titles(several(tmp_path, *roots)) == {"a.org": ["A"]}


@pytest.mark.parametrize("roots", [("n", "n/sub"), ("n/sub", "n")])
def test_a_root_inside_another_does_not_double_its_notes(
    tmp_path: Path, roots: tuple[str, str]
) -> None:
    write(tmp_path, {"n/sub/a.org": with_id("A", "abcdef")})
    store = several(tmp_path, *roots)
    assert len(store.holders("abcdef")) == 1
    assert store.problems() == []


@pytest.mark.parametrize("roots", [("n", "n/.private"), ("n/.private", "n")])
def test_a_root_in_a_hidden_folder_of_another_is_a_root(
    tmp_path: Path, roots: tuple[str, str]
) -> None:
    """A hidden folder is passed over unless somebody names it."""
    write(tmp_path, {"n/a.org": "* A\n", "n/.private/b.org": "* B\n"})
    assert sorted(titles(several(tmp_path, *roots)).values()) == [["A"], ["B"]]


def test_problems_of_several_roots_name_the_root(tmp_path: Path) -> None:
    write(tmp_path, {"1/n/bad.org": b"\xff", "2/n/bad.org": b"\xff"})
    (tmp_path / "2/n/gone.org").symlink_to("nowhere")
    assert [problem.path for problem in several(tmp_path, "1/n", "2/n").problems()] == [
        *["n/bad.org", "n-2/bad.org", "n-2/gone.org"]
    ]


def test_a_folder_without_notes_is_an_empty_memex(tmp_path: Path) -> None:
    store = Store([tmp_path])
    assert (list(store.trees()), store.problems(), store.paths) == ([], [], {})


def test_names_in_either_normal_form_name_the_file(tmp_path: Path) -> None:
    nfc = "r\u00e9sum\u00e9.org"
    nfd = unicodedata.normalize("NFD", nfc)
    store = Store([write(tmp_path, {nfd: "* A\n"})])
    assert store.file(nfc) == store.file(nfd) == nfd


@pytest.mark.parametrize(
    "content", ["", "\n\n", "#+title: only\n- list\n", "* a\n* b", "\x00\n* a"]
)
def test_small_and_odd_files_are_notes(tmp_path: Path, content: str) -> None:
    store = Store([write(tmp_path, {"a.org": content})])
    assert text_of(store, "a.org") == content
    assert store.problems() == []
    assert open_memex(tmp_path).focus("a.org").shown[0].node.level == 0


def test_a_link_is_read_only_where_that_is_allowed(tmp_path: Path) -> None:
    write(tmp_path, {"a.org": "* A\n"})
    (tmp_path / "link.org").symlink_to("a.org")
    assert files.read(tmp_path / "link.org", "link.org", is_link_allowed=True) == b"* A\n"
    with pytest.raises(Unreadable):
        files.read(tmp_path / "link.org", "link.org")


def test_reading_says_what_the_system_says(tmp_path: Path) -> None:
    (tmp_path / "loop.org").symlink_to("loop.org")
    (tmp_path / "folder.org").mkdir()
    for name, error in {
        "folder.org": Unreadable,
        "loop.org": Unreadable,
        "no.org": NotFound,
    }.items():
        with pytest.raises(error) as caught:
            files.read(tmp_path / name, name, is_link_allowed=True)
        assert caught.value.message.startswith(f"{name}: ")
        assert str(tmp_path) not in caught.value.message
