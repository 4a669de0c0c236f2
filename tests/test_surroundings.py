"""What is around a target in other files, several targets at once, and the whole memex."""

import os
from pathlib import Path

import pytest
from notes import write
from program import Ask, as_json

from orgctx import BadConfig, BudgetTooSmall, open_memex
from orgctx.tokens import count

GARDEN = """\
#+title: Garden
#+filetags: :outdoor:
#+TODO: NEXT | DONE
About the garden.
* Beds
:PROPERTIES:
:ID: beds-000001
:END:
With [[id:spade-00001][the spade]], [[id:nowhere-0001]] and [[id:beds-000001][itself]].
** NEXT Dig
* Paths
Gravel.
"""
TOOLS = """\
#+title: Tools
About tools.
* Spade
:PROPERTIES:
:ID: spade-00001
:END:
It is sharp.
* TODO Hose
For [[id:beds-000001]].
* COMMENT Rake
For <id:beds-000001> too.
* Wheelbarrow
"""


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    files = {"garden.org": GARDEN, "shed/tools.org": TOOLS, "shed/empty.org": ""}
    return write(tmp_path / "notes", files)


def titles(view, relation=None):
    return [s.node.title for s in view.shown if relation in (None, s.relation)]


# --- Links ---------------------------------------------------------------------------------------


def test_a_node_knows_its_links_and_backlinks_across_files(notes: Path) -> None:
    beds = open_memex(notes).node("beds-000001")
    assert [each.title for each in beds.links] == ["Spade", "Beds"]
    assert [each.title for each in beds.backlinks] == ["Beds", "Hose", "Rake"]
    assert [each.title for each in beds.children] == ["Dig"]
    assert beds.parent.title == "Garden"
    assert beds.links[0].address == "id:spade-00001"
    assert beds.links[0].backlinks[0] == beds


def test_a_link_that_was_just_written_is_a_backlink(notes: Path) -> None:
    memex = open_memex(notes)
    spade = memex.node("spade-00001")
    assert len(spade.backlinks) == 1
    write(notes, {"new.org": "* New\n[[id:spade-00001]]\n"})
    assert [each.title for each in spade.backlinks] == ["Beds", "New"]
    write(notes, {"garden.org": "* Empty now\n"})
    assert [each.title for each in spade.backlinks] == ["New"]


# --- The fisheye ---------------------------------------------------------------------------------


def test_the_fisheye_goes_on_in_other_files(notes: Path) -> None:
    view = open_memex(notes).focus("beds-000001", lens="fisheye")
    assert titles(view, "link") == ["Spade"]
    assert titles(view, "backlink") == ["Hose", "Rake"]
    assert titles(view, "sibling") == ["Paths"]
    assert {"It is sharp.", "Gravel.", "About the garden."} <= set(view.text.split("\n"))
    assert "For <id:beds-000001> too." not in view.text, "what is commented out is not read"
    assert "About tools." not in view.text, "a file that only holds something is not read"
    assert [s.path for s in view.shown if s.level == 0] == [
        "garden.org", "shed/empty.org", "shed/tools.org",
    ]  # fmt: skip
    assert view.text.startswith("# memex\n#+TODO: TODO | DONE\n* Garden :outdoor:\n:PROPERTIES:\n")


def test_the_fisheye_shows_what_the_fovea_shows_first(notes: Path) -> None:
    memex = open_memex(notes)
    foveal = memex.focus("beds-000001")
    wide = memex.focus("beds-000001", lens="fisheye", budget=foveal.tokens)
    assert wide.text == foveal.text, "a document of one file as long as only one is shown"
    interests = {s.address: s.interest for s in memex.focus("beds-000001", lens="fisheye").shown}
    assert interests["id:spade-00001"] < min(s.interest for s in foveal.shown)


def test_the_document_is_the_smallest_folder_that_holds_it(notes: Path) -> None:
    memex = open_memex(notes)
    view = memex.focus("shed/tools.org", "shed/empty.org")
    assert view.text.startswith("# shed/\n* empty.org\n")
    assert view.shown[0].address == "shed/"
    assert "omitted" not in view.text.rpartition("\n* ")[0]


def test_of_many_backlinks_the_first_are_shown(notes: Path) -> None:
    for number in range(100):
        write(notes, {f"{number:03}.org": "* L\n[[id:spade-00001]]\n"})
    view = open_memex(notes).focus("spade-00001", lens="fisheye", budget=100_000)
    assert len(titles(view, "backlink")) == 24
    assert len({s.path for s in view.shown if s.level == 0}) == 103


def test_a_private_node_is_no_link(notes: Path) -> None:
    write(notes, {"orgctx.toml": 'private_tags = ["hush"]\n'})
    text = TOOLS.replace("* Spade", "* Spade :hush:").replace("* TODO Hose", "* TODO Hose :hush:")
    write(notes, {"shed/tools.org": text})
    memex = open_memex(notes)
    view = memex.focus("beds-000001", lens="fisheye")
    assert not {"Spade", "Hose"} & set(titles(view))
    assert "sharp" not in view.text + memex.overview().text
    assert memex.node("beds-000001").links[0].title == "Beds"
    assert "Hose" not in [each.title for each in memex.node("beds-000001").backlinks]


# --- Several targets -----------------------------------------------------------------------------


def test_several_targets_share_the_budget(notes: Path) -> None:
    memex = open_memex(notes)
    view = memex.focus("beds-000001", "spade-00001", "beds-000001", budget=2000)
    assert view.targets == ("id:beds-000001", "id:spade-00001")
    assert titles(view, "target") == ["Beds", "Spade"]
    assert "It is sharp." in view.text
    assert "With [[id:" in view.text
    assert view.text.endswith("# … 1 file omitted\n")
    with pytest.raises(BudgetTooSmall) as raised:
        memex.focus("beds-000001", "spade-00001", budget=10)
    assert memex.focus("beds-000001", "spade-00001", budget=raised.value.needed)


def test_targets_above_and_below_one_another(notes: Path) -> None:
    view = open_memex(notes).focus("garden.org::Beds/Dig", "garden.org", "beds-000001")
    assert titles(view, "target") == ["Garden", "Beds", "Dig"]
    assert "About the garden." in view.text
    assert view.text.startswith("# garden.org\n")


def test_files_without_a_root_in_one_document(
    notes: Path, monkeypatch: pytest.MonkeyPatch, ask: Ask
) -> None:
    monkeypatch.chdir(notes)
    data = as_json(ask("focus", "garden.org", "shed/tools.org::*Hose", "--format", "json"))
    assert [each["path"] for each in data["targets"]] == ["garden.org", "shed/tools.org"]
    assert data["targets"][1]["todo"] == "TODO"
    assert data["shown"][0] | {"tokens": 0} == {
        **{"address": "memex", "path": "memex", "line": 0, "level": -1, "title": ""},
        **{"detail": "skeleton", "tokens": 0, "relation": "container", "interest": 20.0},
    }


# --- The whole memex -----------------------------------------------------------------------------


def test_an_overview_shows_what_is_active_first(notes: Path) -> None:
    os.utime(notes / "garden.org", (2e9, 2e9))
    memex = open_memex(notes)
    everything = memex.overview(budget=10_000)
    assert titles(everything, "active") == ["Dig", "Hose"]
    assert titles(everything, "background") == ["Paths", "Spade", "Rake", "Wheelbarrow"]
    assert "omitted" not in everything.text
    folders = [s.node.title for s in everything.shown if s.level < 0]
    assert folders == ["", "./ — 3 files, 7 headlines", "shed/ — 2 files, 4 headlines"]
    least = memex.overview(budget=1 + count("# memex\n# … 2 folders omitted\n"))
    assert least.shown[0].address == "memex"
    newest = next(s for s in everything.shown if s.path == "garden.org")
    assert newest.interest > max(s.interest for s in everything.shown if s.path == "shed/tools.org")


def test_an_overview_gives_the_addresses_in_full(notes: Path) -> None:
    view = open_memex(notes).overview("spade-00001", budget=110)
    assert view.targets == ("id:spade-00001",)
    assert "It is sharp." in view.text


@pytest.mark.parametrize(
    ("rule", "active"),
    [
        ("", ["Dig", "Hose"]),
        ('keywords = ["NEXT"]', ["Dig"]),
        ('tags = ["outdoor"]', ["Garden", "Beds", "Dig", "Paths"]),
        ('properties = ["ID"]', ["Beds", "Spade"]),
        ('properties = ["id=spade-00001"]', ["Spade"]),
        ('keywords = ["TODO"]\nproperties = ["ID=beds-000001"]', ["Beds", "Hose"]),
    ],
)
def test_what_is_active_is_a_rule_of_the_user(notes: Path, rule: str, active: list[str]) -> None:
    if rule:
        write(notes, {"orgctx.toml": f"[active]\n{rule}\n"})
    view = open_memex(notes).overview(budget=10_000)
    shown = [s.node.title for s in view.shown if s.relation in ("active", "file", "container")]
    assert [each for each in shown if each in active] == active
    strictly = set(titles(view, "active")) | {"Garden", "Beds"}
    assert strictly >= set(active)


@pytest.mark.parametrize("rule", ['active = "x"', '[active]\ntag = ["x"]', "[active]\ntags = [1]"])
def test_a_wrong_rule_is_an_error_with_its_line(notes: Path, rule: str) -> None:
    write(notes, {"orgctx.toml": f"# rules\n{rule}\n"})
    with pytest.raises(BadConfig, match=r"orgctx\.toml:[23]: active: "):
        open_memex(notes)


def test_an_overview_of_several_roots_names_each(notes: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    view = open_memex(notes, tmp_path / "empty").overview()
    folders = [s.node.title for s in view.shown if s.level < 0]
    assert folders == [
        "",
        "empty/ — 0 files, 0 headlines",
        "notes/ — 3 files, 7 headlines",
        "notes/shed/ — 2 files, 4 headlines",
    ]


def test_an_overview_needs_a_root(ask: Ask) -> None:
    status, _, err = ask("overview")
    assert status == 2
    assert err == "orgctx: no root; name one: --root DIR, ORGCTX_ROOT, or orgctx.toml\n"
    assert ask("overview", "--budget", "0").status == 2


def test_a_root_is_called_what_its_user_calls_it(notes: Path, tmp_path: Path) -> None:
    other = write(tmp_path / "else", {"a.org": "* A\n"})
    roots = f'[roots]\nb = "{notes}"\na = "{other}"\n'
    write(Path(os.environ["XDG_CONFIG_HOME"]), {"orgctx/orgctx.toml": roots})
    memex = open_memex()
    assert memex.node("beds-000001").path == "b/garden.org"
    assert memex.node("a/a.org::A").path == "a/a.org"


def test_unsaved_edits_in_an_editor_are_mentioned(notes: Path, ask: Ask) -> None:
    arguments = ("focus", "garden.org::*Paths", "--root", notes)
    plain = ask(*arguments)
    (notes / ".#garden.org").symlink_to("someone@host.123:456")
    write(notes, {"#garden.org#": "* Paths\nunsaved\n"})
    edited = ask(*arguments)
    assert (edited.status, edited.out) == (0, plain.out)
    assert (plain.status, plain.err, edited.err) == (
        0,
        "",
        "orgctx: garden.org: an editor has unsaved edits of it; save them to have them shown\n",
    )
    problems = open_memex(notes).focus("garden.org::*Paths").problems
    assert [(each.path, each.what) for each in problems] == [
        ("garden.org", "an editor has unsaved edits of it")
    ]
