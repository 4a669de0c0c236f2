"""Collections in ranks: what is in which, what an answer is confined to, how they are moved."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from memexes import memexes, store_of
from notes import write
from program import Ask, as_json

from orgctx import NotFound, OutOfRange, open_memex
from orgctx.errors import BadArgument, BadConfig, OrgctxError
from orgctx.ranks import Collection, Place, moved, ranks
from orgctx.store.opening import open_store
from orgctx.store.store import Folder, Store
from orgctx.views import collecting
from orgctx.views.collecting import collected, confined, searched
from orgctx.views.context import context
from orgctx.views.focus import focus
from orgctx.views.listing import ls
from orgctx.views.view import Limit

SETTINGS = """\
# what I search, and when
[[collections]]
name = "Projects"   # now
paths = ["yard/", "inbox.org"]

[[collections]]
id = "lib"
name = "Library"
paths = ["ref"]
tier = 10           # then

[[collections]]
name = "Old"
paths = ["old"]
tier = 10

[profiles.reading]
Library = 0
Projects = 10
Nothing = 20
"""
NOTES = {
    "yard/p/a.org": "* Roses\n:PROPERTIES:\n:ID: id-roses\n:END:\n[[id:id-facts]]\n",
    "inbox.org": "* Inbox\n",
    "ref/r.org": "* Rose facts\n:PROPERTIES:\n:ID: id-facts\n:END:\n",
    "old/o.org": "* Old roses\n",
    "other.org": "* Other roses\n",
}


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Notes; the current folder is a workspace beside them."""
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    monkeypatch.chdir(workspace)
    return write(tmp_path / "notes", {**NOTES, "orgctx.toml": SETTINGS})


def stores(root: Path) -> tuple[Store, Store]:
    """The same notes, known from the database and read from the files."""
    return open_store([root]), Store([root])


# --- Ranks ---------------------------------------------------------------------------------------


@st.composite
def collections(draw: st.DrawFn) -> list[Collection]:
    tiers = draw(st.lists(st.integers(0, 12), min_size=1, max_size=7))
    scale = draw(st.sampled_from([1, 10]))
    return [Collection(f"c{n}", f"C{n}", (), scale * tier) for n, tier in enumerate(tiers)]


@given(collections())
def test_ranks_are_the_distinct_tiers_in_order(known: list[Collection]) -> None:
    found = ranks(known)
    assert [rank.number for rank in found] == list(range(len(found)))
    assert [rank.tier for rank in found] == sorted({each.tier for each in known})
    assert sorted(each for rank in found for each in rank.collections) == sorted(known)


def after_move(known: list[Collection], place: Place, one: Collection) -> list[set[str]]:
    tiers = moved(known, one, place)
    assert all(tier != each.tier for each in known if (tier := tiers.get(each.id)) is not None)
    now = [each._replace(tier=tiers.get(each.id, each.tier)) for each in known]
    return [{each.id for each in rank.collections} for rank in ranks(now)]


def without(found: list[set[str]], id_: str) -> list[set[str]]:
    return [left for each in found if (left := each - {id_})]


@given(collections(), st.data())
def test_a_collection_is_moved_and_the_order_of_the_others_stays(
    known: list[Collection], data: st.DataObject
) -> None:
    one = data.draw(st.sampled_from(known))
    others = [each for each in known if each != one]
    before = after_move(known, Place(to=len(ranks(known))), one)  # out of the way
    kind = data.draw(st.sampled_from(["to", "before", "after"] if others else ["to"]))
    if kind == "to":
        number = data.draw(st.integers(0, len(ranks(known))))
        found = after_move(known, Place(to=number), one)
        joined = {
            each.id for rank in ranks(known)[number : number + 1] for each in rank.collections
        }
        assert joined | {one.id} in found
    else:
        other = data.draw(st.sampled_from(others))
        found = after_move(known, Place(**{kind: other}), one)
        at, beside = found.index({one.id}), next(n for n, s in enumerate(found) if other.id in s)
        assert beside - at == (1 if kind == "before" else -1)
    assert without(found, one.id) == without(before, one.id)


@pytest.mark.parametrize(
    ("tiers", "place", "changed"),
    [
        ((0, 10, 20), ("c2", "before", "c1"), {"c2": 5}),
        ((0, 10, 20), ("c0", "after", "c2"), {"c0": 30}),
        ((5, 10, 20), ("c2", "before", "c0"), {"c2": 2}),
        ((0, 10, 20), ("c2", "before", "c0"), {"c2": 0, "c0": 10, "c1": 20}),
        ((0, 1, 7), ("c2", "before", "c1"), {"c2": 10, "c1": 20}),
        ((3, 4, 9), ("c2", "after", "c0"), {"c0": 0, "c2": 10, "c1": 20}),
        ((0, 7, 2**63 - 1), ("c0", "after", "c2"), {"c1": 0, "c2": 10, "c0": 20}),
    ],
)
def test_numbers_stay_as_long_as_there_is_room(tiers, place, changed):
    known = [Collection(f"c{n}", f"C{n}", (), tier) for n, tier in enumerate(tiers)]
    named = {each.id: each for each in known}
    one, kind, other = place
    assert moved(known, named[one], Place(**{kind: named[other]})) == changed


def test_there_is_one_rank_more_to_move_to_and_no_other() -> None:
    known = [Collection("a", "A", (), 0), Collection("b", "B", (), 10)]
    assert moved(known, known[0], Place(to=2)) == {"a": 20}
    with pytest.raises(BadArgument, match="no rank 3"):
        moved(known, known[0], Place(to=3))


# --- What they confine ---------------------------------------------------------------------------


def test_what_is_in_which_rank(root: Path, ask: Ask) -> None:
    assert ask("collections", "--root", root) == (
        0,
        "rank 0, tier 0: Projects — yard, inbox.org — 2 files, 2 headlines\n"
        "rank 1, tier 10: Library — ref — 1 file, 1 headline\n"
        "rank 1, tier 10: Old — old — 1 file, 1 headline\n"
        "in no collection — 1 file, 1 headline\n",
        "",
    )
    data = as_json(ask("collections", "--root", root, "--format", "json"))
    assert [row["id"] for row in data["collections"]] == ["Projects", "lib", "Old"]
    assert data["in_none"] == {"files": 1, "headlines": 1}


def test_without_collections_there_is_one_rank_with_everything(tmp_path: Path) -> None:
    for store in stores(write(tmp_path, {"a.org": "* A\n"})):
        known = collected(store)
        assert confined(store, collected(store), rank=0) is store
        assert searched(known, known.ranks[0]) == (
            "Searched priority tier 0 of 1 (everything); it is the last"
        )
        with pytest.raises(OutOfRange, match=r"^no priority tier 1; the last is 0$"):
            confined(store, collected(store), rank=1)


def test_the_answer_says_how_to_widen(root: Path) -> None:
    known = collected(open_store([root]))
    first, second = known.ranks
    assert searched(known, first) == ("Searched priority tier 0 of 2 (Projects); widen with rank=1")
    assert searched(known, second) == (
        "Searched priority tier 1 of 2 (Library, Old); it is the last"
    )


def test_nothing_outside_the_scope_is_there(root: Path) -> None:
    for whole in stores(root):
        store = confined(whole, collected(whole), rank=0)
        assert sorted(store.paths) == ["inbox.org", "yard/p/a.org"]
        assert [row.address for row in ls(store, "notes", Limit()).rows] == ["yard/", "inbox.org"]
        assert ls(store, "", Limit()).rows[0].files == 2
        assert store.holders("id-facts") == []
        assert store.folder("ref") is None
        assert store.folder("yard") == whole.folder("yard")
        for address in ("id-facts", "ref/r.org", "other.org:1"):
            with pytest.raises(NotFound):
                focus(store, [address], Limit())
        view = focus(store, ["id-roses"], Limit(), "fisheye")
        assert {each.path for each in view.shown} <= {"inbox.org", "yard/p/a.org", "memex"}
        assert "facts" not in view.text.replace("[[id:id-facts]]", "")
        assert sorted(whole.paths) == sorted(NOTES)


@given(memexes(), st.data())
def test_a_confined_store_is_one_of_those_files_alone(trees, data):
    paths = sorted(tree.path for tree in trees)
    folders = {path.rpartition("/")[0] for path in paths} - {""}
    scope = data.draw(st.lists(st.sampled_from([*paths, *sorted(folders)]), max_size=3))
    here = [t for t in trees if any(t.path == s or t.path.startswith(f"{s}/") for s in scope)]
    event(f"{len(here)} of {len(trees)} files" if here else "none")
    alone, store = store_of(here), store_of(trees).within(scope)
    for tree in trees:
        assert store.shows(tree.path) == alone.shows(tree.path)
    if here:
        addresses = [here[0].path]
        assert focus(store, addresses, Limit(600), "fisheye").text == (
            focus(alone, addresses, Limit(600), "fisheye").text
        )


@pytest.mark.parametrize(
    "arguments",
    [
        ("ls", "notes"),
        ("grep", "oses"),
        ("read", "yard/p/a.org"),
        ("focus", "id-roses"),
        ("overview",),
    ],
    ids=lambda arguments: arguments[0],
)
def test_every_command_has_the_scopes(root, ask, arguments):
    shown = ask(*arguments, "--root", root, "--rank", "0")
    assert shown[0] == 0
    assert "Other" not in shown[1]
    assert shown == ask(*arguments, "--root", root, "--collection", "Projects")
    assert ask(*arguments, "--root", root, "--rank", "2") == (
        3,
        "",
        "orgctx: no priority tier 2; the last is 1\n",
    )
    status, out, err = ask(*arguments, "--root", root, "--collection", "Nope")
    assert (status, out) == (1, "")
    assert err == "orgctx: Nope: no such collection; there is: Projects, Library, Old\n"
    both = ask(*arguments, "--root", root, "--rank", "0", "--collection", "Old")
    assert both[:2] == (2, "")


def test_python_has_the_scopes(root: Path) -> None:
    memex = open_memex(root)
    assert "Old roses" in memex.within(collection=["lib", "Old"]).grep("oses").text
    assert "other.org" not in memex.within(rank=1).grep("oses").text
    assert memex.within(rank=0).ledger is memex.ledger
    with pytest.raises(OutOfRange):
        memex.within(rank=2)
    for rank in (-1, True, "0", 1.5):
        with pytest.raises(BadArgument):
            memex.within(rank=rank)


def test_there_may_be_many_paths_and_parts_of_folders(tmp_path: Path) -> None:
    notes = {f"{n % 3}/{n}.org": f"* Roses {n}\nred\n" for n in range(1500)}
    store = open_store([write(tmp_path / "notes", notes)])
    scope = [name for name in notes if int(name[2:-4]) >= 100]
    inside = store.within([*scope, "2"])
    assert inside.folder("0") == Folder("0", 466, 466, "")
    assert inside.folder("2").files == 500
    assert store.within(["1/1.org"]).folder("0") is None
    assert context(inside, "roses 500", Limit(2000)).hits[0].path == "2/500.org"
    assert context(store, "roses 1", Limit(2000)).hits[0].path == "1/1.org"
    assert "1/1.org" not in {hit.path for hit in context(inside, "roses 1", Limit(2000)).hits}
    assert "- 1/ — 467 files, 467 headlines\n" in context(inside, "roses 1498", Limit(2000)).text


def test_what_is_confined_twice_is_in_both(root: Path) -> None:
    memex = open_memex(root)
    inside = memex.within(collection=["Projects", "Library"])
    assert inside.within(collection=["Library", "Old"])._store.paths.keys() == {"ref/r.org"}
    for store in stores(root):
        twice = store.within(["yard", "ref"]).within(["yard/p", "old", "ref/r.org"])
        assert sorted(twice.paths) == ["ref/r.org", "yard/p/a.org"]
        assert sorted(store.within(["yard/p"]).within(["yard"]).paths) == ["yard/p/a.org"]


# --- Workspaces ----------------------------------------------------------------------------------


def test_a_workspace_ranks_them_otherwise(root, ask):
    rows = [{"id": "lib", "name": "Library"}, {"name": "Projects", "tier": 10}]
    write(Path(), {"collections.json": json.dumps(rows)})
    status, out, err = ask("collections", "--root", root)
    assert (status, err) == (0, "")
    assert [line.partition(" — ")[0] for line in out.split("\n")[:-1]] == [
        "rank 0, tier 0: Library",
        "rank 1, tier 10: Projects",
        "in no collection",
    ]
    assert "facts" in open_memex(root, workspace=".").within(rank=0).grep("acts").text


BAD = [
    (3, "give it an id"),
    ({"tier": 0}, "give it an id"),
    ({"id": ""}, "give it an id"),
    ({"id": "lib", "tier": "1"}, "tier: give a whole number"),
    ({"id": "lib", "tier": True}, "tier: give a whole number"),
    ({"id": "nope"}, "no such collection"),
    ({"name": "Old"}, "it is there already"),
]


def test_bad_entries_are_skipped_and_reported(root, ask):
    rows = [{"id": "Old"}, *(row for row, _ in BAD), {"id": "Projects", "odd": 1}]
    write(Path(), {"collections.json": json.dumps(rows)})
    status, out, err = ask("collections", "--root", root)
    assert status == 0
    assert out.startswith("rank 0, tier 0: Old — ")
    assert "rank 0, tier 0: Projects — " in out
    assert err.split("\n")[:-1] == [
        f"orgctx: collections.json: entry {number}: {what}; it is skipped"
        for number, (_, what) in enumerate(BAD, 2)
    ]


@pytest.mark.parametrize("text", ["", "{}", "[", "[" * 100_000, "\0", "null", b"\xff"])
def test_a_file_that_is_no_list_is_an_error(root, ask, text):
    write(Path(), {"collections.json": text})
    for arguments in (("collections",), ("ls", "--rank", "0")):
        status, out, err = ask(*arguments, "--root", root)
        assert (status, out) == (1, "")
        assert err.startswith("orgctx: collections.json: ")
        assert err.count("\n") == 1


def test_a_profile_writes_what_exists(root, ask):
    status, out, err = ask("init", "--profile", "reading", "--root", root)
    assert (status, out) == (0, "tier 0: Library\ntier 10: Projects\n")
    assert err == "orgctx: reading: Nothing: no such collection; it is skipped\n"
    assert json.loads(Path("collections.json").read_text()) == [
        {"id": "lib", "name": "Library", "tier": 0},
        {"id": "Projects", "name": "Projects", "tier": 10},
    ]
    before = Path("collections.json").read_bytes()
    assert ask("init", "--root", root)[0] == 2
    assert Path("collections.json").read_bytes() == before
    assert ask("init", "--root", root, "--force")[0] == 0
    assert len(json.loads(Path("collections.json").read_text())) == 3
    status, out, err = ask("init", "--root", root, "--force", "--profile", "x")
    assert (status, out, err) == (1, "", "orgctx: x: no such profile; orgctx.toml has: reading\n")


# --- Moving --------------------------------------------------------------------------------------


def test_moving_keeps_comments_and_numbers(root, ask):
    status, out, _ = ask("collections", "move", "Old", "--to", "0", "--root", root)
    assert status == 0
    assert "rank 0, tier 0: Old — " in out
    written = (root / "orgctx.toml").read_text()
    assert written == SETTINGS.replace('"old"]\ntier = 10', '"old"]\ntier = 0')
    ask("collections", "move", "Projects", "--after", "lib", "--root", root)
    written = (root / "orgctx.toml").read_text()
    assert 'paths = ["yard/", "inbox.org"]\ntier = 20\n' in written
    assert "# what I search, and when" in written
    assert "# now" in written
    assert [
        [each.name for each in rank.collections] for rank in collected(open_store([root])).ranks
    ] == [["Old"], ["Library"], ["Projects"]]


def test_moving_in_a_workspace_leaves_the_settings_alone(root, ask):
    rows = [{"id": "Old", "mine": [1]}, 7, {"id": "Projects", "tier": 10}]
    write(Path(), {"collections.json": json.dumps(rows)})
    status, out, _ = ask("collections", "move", "Projects", "--before", "Old", "--root", root)
    assert status == 0
    assert out.startswith("rank 0, tier 0: Projects — ")
    assert (root / "orgctx.toml").read_text() == SETTINGS
    assert json.loads(Path("collections.json").read_text()) == [
        {"id": "Old", "mine": [1], "tier": 10},
        7,
        {"id": "Projects", "tier": 0},
    ]


def test_a_link_to_the_settings_stays_one(root, ask):
    (root / "orgctx.toml").rename(root.parent / "mine.toml")
    (root / "orgctx.toml").symlink_to(root.parent / "mine.toml")
    assert ask("collections", "move", "Old", "--to", "2", "--root", root)[0] == 0
    assert (root / "orgctx.toml").is_symlink()
    assert "tier = 20" in (root.parent / "mine.toml").read_text()


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (["Old"], 2),
        (["Old", "--to", "0", "--before", "lib"], 2),
        (["Old", "--to", "3"], 2),
        (["Old", "--to", "-1"], 2),
        (["Old", "--before", "Old"], 2),
        (["Old", "--before", "Nope"], 1),
        (["Nope", "--to", "0"], 1),
    ],
)
def test_what_cannot_be_moved_is_one_line(root, ask, arguments, status):
    found = ask("collections", "move", *arguments, "--root", root)
    assert found[:2] == (status, "")
    assert found[2].count("\n") == 1
    assert (root / "orgctx.toml").read_text() == SETTINGS


ONE = '[[collections]]\nname = "A"\npaths = ["a"]\n'


@pytest.mark.parametrize(
    ("settings", "line", "fault"),
    [
        ("collections = 3", 1, "write [[collections]], one for each"),
        ('[[collections]]\npaths = ["a"]', 1, "give each a name"),
        ('\n[[collections]]\nname = "A"', 2, "A: give a list of paths"),
        ('[[collections]]\nname = "A"\npaths = []', 1, "A: give a list of paths"),
        (
            '[[collections]]\nname = "A"\npaths = ["a"]\ntier = 1.5',
            1,
            "A: tier: give a whole number",
        ),
        (f"{ONE}tier = {2**63}", 1, "A: tier: give a whole number"),
        ('[[collections]]\nname = "A"\npaths = ["../a"]', 1, "A: ../a: leads out of the notes"),
        ('[[collections]]\nname = "A"\npaths = ["a/../.."]', 1, "A: a/../..: leads out"),
        ('[[collections]]\nname = "A"\npaths = ["a"]\nodd = 1', 4, "odd: there is no such key"),
        (f"{ONE}{ONE}", 1, "A: two collections of this id"),
        ('profiles = "x"', 1, "write [profiles.NAME]"),
        ('[profiles.a]\nB = "x"', 1, "a: give lines of COLLECTION = TIER"),
    ],
)
def test_wrong_settings_are_told_with_their_line(root, settings, line, fault):
    write(root, {"orgctx.toml": settings})
    with pytest.raises(BadConfig) as raised:
        open_store([root])
    key = "profiles" if "profiles" in settings else "collections"
    assert raised.value.message.startswith(f"{root / 'orgctx.toml'}:{line}: {key}: {fault}")


def test_the_users_file_names_paths_of_the_memex(tmp_path):
    write(tmp_path, dict.fromkeys(("one/x/a.org", "two/b.org", "two/c.org"), "* A\n"))
    mine = (
        f'[roots]\none = "{tmp_path / "one"}"\ntwo = "{tmp_path / "two"}"\n'
        '[[collections]]\nname = "Some"\npaths = ["one/x", "two/c.org"]\n'
    )
    write(Path(os.environ["XDG_CONFIG_HOME"]), {"orgctx/orgctx.toml": mine})
    memex = open_memex()
    assert sorted(memex.within(collection="Some")._store.paths) == ["one/x/a.org", "two/c.org"]


@pytest.mark.parametrize(
    ("path", "files"),
    {
        "./yard/": 1,
        "yard//p/.": 1,
        "/yard": 1,
        "old/../yard": 1,
        ".": 6,
        "/": 6,
        "inbox.org": 1,
        "./inbox.org": 1,
        "re\u0301f": 1,
        "nowhere": 0,
        "yar": 0,
        "yard/*": 0,
    }.items(),
)
def test_a_path_is_taken_for_what_it_means(root, ask, path, files):
    settings = f'[[collections]]\nname = "A"\npaths = ["{path}"]\n'
    write(root, {"réf/x.org": "* X\n", "orgctx.toml": settings})
    status, out, err = ask("collections", "--root", root, "--json")
    [row] = json.loads(out)["collections"]
    assert (status, row["files"]) == (0, files)
    assert (": no note at " in err) == (not files)
    assert len(open_memex(root).within(collection="A")._store.paths) == files


def test_a_path_at_which_there_is_no_note_is_told(root, ask):
    """Whether there is nothing, or nothing that may be seen."""
    settings = SETTINGS.replace('["old"]', '["old", "gone/"]')
    write(root, {"orgctx.toml": f'private_tags = ["hush"]\n{settings}'})
    status, out, err = ask("collections", "--root", root)
    what = "collection Old: no note at gone; mend this one of its paths, or take it out"
    assert (status, err) == (0, f"orgctx: {root / 'orgctx.toml'}: {what}\n")
    assert "Old — old, gone — 1 file" in out
    write(root, {"gone/x.org": "#+filetags: :hush:\n* X\n"})
    assert ask("collections", "--root", root) == (status, out, err)
    write(root, {"gone/y.org": "* Y\n"})
    assert ask("collections", "--root", root).err == ""
    Path(root / "gone/y.org").unlink()
    write(Path(), {"collections.json": '[{"id": "Projects"}]'})
    assert ask("collections", "--root", root).err == ""


@pytest.mark.parametrize("scope", [("--rank", "0"), ("--collection", "Old"), ()])
def test_what_is_read_to_search_in_ranks_is_read_once(root, ask, scope, monkeypatch):
    write(Path(), {"collections.json": '[{"id": "Old"}]'})
    files, read = [], collecting.rows_of
    monkeypatch.setattr(collecting, "rows_of", lambda file: files.append(file) or read(file))
    for command in ("context", "grep"):
        files.clear()
        assert ask(command, "roses", *scope, "--root", root).status == 0
        assert len(files) == (0 if command == "grep" and not scope else 1)


def test_a_name_is_text_in_one_line_that_is_not_too_long(root, ask):
    one = '[[collections]]\nname = "A\\n* instructions\\n- {}"\npaths = ["yard"]\n'
    write(root, {"orgctx.toml": "".join(one.format(n) for n in range(300))})
    text = ask("context", "roses", "--root", root).out
    [told] = [line for line in text.split("\n") if line.startswith("- Searched")]
    assert told.startswith("- Searched priority tier 0 of 1 (A\\n* instructions\\n- 0, A")
    assert len(told) < 200
    assert text.count("\n* instructions\n") == 1
    whole = ask("collections", "--root", root, "--budget", "100000").out
    assert whole.count("\n") == 301


def test_collections_of_several_roots_may_have_one_name(root, ask, tmp_path):
    other = write(tmp_path / "other", {"x.org": "* Roses\n", "orgctx.toml": ONE.replace("a", "x")})
    write(other, {"orgctx.toml": ONE.replace('"A"', '"Projects"').replace('"a"', '"x.org"')})
    both = ("--root", root, "--root", other)
    listed = ask("collections", *both).out
    assert "tier 0: Projects (notes/Projects) — notes/yard, notes/inbox.org — 2 files" in listed
    assert "tier 0: Projects (other/Projects) — other/x.org — 1 file" in listed
    assert "other — 1 file" in ask("ls", "--collection", "Projects", *both).out
    assert "other" not in ask("ls", "--collection", "notes/Projects", *both).out.split("\n")[0]
    status, _, err = ask("collections", "move", "Projects", "--to", "1", *both)
    assert (status, err.count("\n")) == (1, 1)
    assert "say notes/Projects or other/Projects" in err
    assert ask("collections", "move", "other/Projects", "--to", "1", *both).status == 0
    assert "tier = 10" in (other / "orgctx.toml").read_text()
    assert (root / "orgctx.toml").read_text() == SETTINGS


def test_a_number_that_is_too_long_is_a_wrong_setting(root, ask):
    write(root, {"orgctx.toml": f"{ONE}tier = 1{'0' * 5000}\n"})
    status, out, err = ask("collections", "--root", root)
    assert (status, out, err.count("\n")) == (1, "", 1)
    assert err.startswith(f"orgctx: {root / 'orgctx.toml'}: ")


def test_a_mark_of_the_encoding_is_no_fault(root, ask):
    write(root, {"orgctx.toml": "\ufeff" + SETTINGS.replace("\n", "\r\n")})
    write(Path(), {"collections.json": '\ufeff[{"id": "Old"}]'})
    assert ask("collections", "--root", root).out.startswith("rank 0, tier 0: Old — ")
    Path("collections.json").unlink()
    assert ask("collections", "move", "Old", "--to", "0", "--root", root).status == 0
    written = (root / "orgctx.toml").read_bytes()
    assert written.count(b"\n") == written.count(b"\r\n")


@pytest.mark.parametrize("arguments", [("context", "roses"), ("ls", "--rank", "0"),
                                       ("grep", "roses", "--collection", "Old")])  # fmt: skip
def test_whoever_searches_in_ranks_is_told_what_is_skipped(root, ask, arguments):
    write(Path(), {"collections.json": '[{"id": "Old"}, {"id": "nope"}]'})
    status, out, err = ask(*arguments, "--root", root)
    assert (status, bool(out)) == (0, True)
    assert err == "orgctx: collections.json: entry 2: no such collection; it is skipped\n"


def test_nothing_private_is_counted(root: Path, ask: Ask) -> None:
    before = ask("collections", "--root", root)
    write(root, {"orgctx.toml": 'private_tags = ["hush"]\n' + SETTINGS})
    write(root, dict.fromkeys(("ref/s.org", "secret.org"), "#+filetags: :hush:\n* Secret\n"))
    assert ask("collections", "--root", root) == before


def test_errors_are_of_orgctx() -> None:
    assert issubclass(OutOfRange, OrgctxError)
    assert OutOfRange.exit_status == 3
