"""context: one bundle for a question, within its budget, or the word that there is no answer."""

from __future__ import annotations

import json
import os
import random
import re
import shlex
from collections.abc import Callable
from pathlib import Path

import emacs
import judged
import pytest
from growth import check_growth
from hypothesis import event, given, settings
from hypothesis import strategies as st
from memexes import memexes, store_of
from notes import write
from program import TOKENIZERS, Ask, as_json, loaded_by
from test_terms import QUERIES

from orgctx import open_memex
from orgctx.core.model import Tree
from orgctx.core.outline import outline
from orgctx.errors import BadArgument, BudgetTooSmall, OrgctxError
from orgctx.store.indexed import IndexedStore
from orgctx.store.opening import open_store
from orgctx.store.store import Store
from orgctx.surfaces import output
from orgctx.tokens import count
from orgctx.views import lookup
from orgctx.views.bundle import to_data, to_markdown, to_org
from orgctx.views.context import MODES, Bundle, context, shell_call
from orgctx.views.view import Limit

SECTIONS = ["query", "relevant indexes", "relevant maps", "likely files", "relevant symbols",
            "instructions"]  # fmt: skip
NOTES = {
    "garden/beds.org": """\
#+title: Beds
What grows where.
* Roses
:PROPERTIES:
:ID: roses-0001
:ROAM_ALIASES: "Queen of flowers"
:END:
Cut them in spring, above the third eye.
** Black spot
A fungus. Take off the leaves and burn them.
** TODO Order new ones :shop:
* Tomatoes
Water them from below. See [[id:roses-0001][roses]].
#+name: yields
| year | kilos |
* Compost
- Mulch :: straw or bark on the soil
- Humus :: what is left when all has rotted
<<heap>> The heap stands behind the shed.
""",
    "garden/tools.org": "#+title: Tools\n* Spade\nSharpen it.\n* Rake\n",
    "house/heating.org": """\
#+title: Heating
* Boiler
:PROPERTIES:
:CUSTOM_ID: boiler
:END:
It is serviced in autumn. Roses are not heated.
** Error codes
E10 means no water.
* Radiators
Bleed them when they gurgle.
""",
    "中文.org": "#+title: 笔记\n* 会议记录\n下周讨论预算。\n* 旅行计划\n去北京要订酒店。\n",
}
Shape = Callable[[Bundle], str]
SHAPES: dict[str, Shape] = {
    "org": to_org,
    "md": to_markdown,
    "json": lambda bundle: output.to_json(to_data(bundle)),
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write(tmp_path / "notes", NOTES)


def asked(store: Store, query: str, **how: object) -> Bundle:
    budget = how.pop("budget", 2000)
    return context(store, query, Limit(budget), **how)


def places(bundle: Bundle) -> list[str]:
    return [hit.place for hit in bundle.hits]


def lines_of(bundle: Bundle, section: str) -> list[str]:
    return [row.text for row in bundle.rows if row.section == section]


# --- Laws ----------------------------------------------------------------------------------------

STORED = st.sampled_from(["Linked", "node-0001", "a.org", "it", "headline text", "list item 1"])
ASKED = st.one_of(QUERIES, STORED, st.text(max_size=40))


def refused(store: Store, query: str, **how: object) -> Bundle | None:
    """The bundle; None for an error that is meant. Any other is raised."""
    try:
        return asked(store, query, **how)
    except OrgctxError as error:
        return None if "\n" not in error.message + error.hint else pytest.fail(repr(error))


@given(memexes(), ASKED, st.integers(1, 700), st.sampled_from(sorted(SHAPES)), st.booleans(),
       st.sampled_from(MODES))  # fmt: skip
def test_what_is_written_is_within_its_budget(trees, query, budget, form, explain, mode):
    store, shape = store_of(trees), SHAPES[form]
    how = {"budget": budget, "shape": shape, "explain": explain, "mode": mode}
    needed = needed_by(lambda: asked(store, query, **how))
    if needed is None:
        event("no word")
        assert not any(char.isalnum() for char in query)
        return
    assert needed == 0 or needed > budget
    event("too small" if needed else "fits")
    how["budget"] = max(needed, budget)
    bundle = asked(store, query, **how)
    event(f"abstained {bundle.abstained}, {min(len(bundle.hits), 3)} hits")
    assert count(shape(bundle)) <= how["budget"]
    assert bundle.tokens == count(bundle.text)


def needed_by(question: Callable[[], Bundle]) -> int | None:
    """The budget that a question asks for; 0 if it has enough, None if it is refused as no text."""
    try:
        question()
    except BudgetTooSmall as error:
        return error.needed
    except BadArgument:
        return None
    return 0


@given(memexes(), ASKED)
def test_the_same_question_has_the_same_answer(trees, query):
    answers = [refused(store_of(each), query) for each in (trees, trees[::-1])]
    texts = [each and {form: shape(each) for form, shape in SHAPES.items()} for each in answers]
    assert texts[0] == texts[1]


@given(memexes(), ASKED, st.integers(60, 2000))
def test_a_larger_budget_shows_no_less(trees, query, budget):
    store = store_of(trees)
    less, more = (refused(store, query, budget=each) for each in (budget, 4000))
    if less and more:
        event(f"cut {len(less.rows) < len(more.rows)}")
        assert less.rows == more.rows[: len(less.rows)]
        assert less.hits == more.hits[: len(less.hits)]


@given(memexes(), ASKED, st.booleans())
def test_the_bundle_is_org_of_stable_sections(trees, query, explain):
    if bundle := refused(store_of(trees), query, explain=explain):
        nodes = outline(bundle.text, "bundle").nodes
        titles = [node.title for node in nodes[1:]]
        event(f"{len(titles)} sections")
        assert titles == [name for name in SECTIONS if name in titles]
        assert {"query", "instructions"} <= set(titles)
        assert all(node.level == 1 and node.todo is None and not node.tags for node in nodes[1:])
        assert all(not node.properties for node in nodes)
        assert nodes[0].title == f"Context bundle: {bundle.query}".strip()


@given(memexes(), ASKED)
def test_markdown_has_the_same_sections(trees, query):
    if bundle := refused(store_of(trees), query):
        text = re.sub(r"^(`{3,})org\n.*?^\1\n", "", to_markdown(bundle), flags=re.M | re.S)
        titles = re.findall(r"^#+ (.*)", text, re.MULTILINE)
        assert titles[1:] == [node.title for node in outline(bundle.text, "b").nodes[1:]]
        assert titles[0].startswith("Context bundle: ")


@given(memexes(), ASKED, st.sampled_from(MODES))
def test_hits_are_nodes_best_first_and_their_addresses_lead_to_them(trees, query, mode):
    store = store_of(trees)
    if not (bundle := refused(store, query, mode=mode)):
        return
    assert bundle.abstained == (not bundle.hits)
    scores = [hit.score for hit in bundle.hits]
    assert scores == sorted(scores, reverse=True)
    assert len({(hit.path, hit.line) for hit in bundle.hits}) == len(bundle.hits) <= 10
    for hit in bundle.hits:
        nodes = [
            n for n in store.tree(hit.path).nodes if (n.first_line if n.level else 0) == hit.line
        ]
        assert nodes, hit
        event(f"level {min(nodes[0].level, 2)}")
        assert sum(hit.signals.values()) == pytest.approx(hit.score, abs=1e-3)


@given(memexes(), st.sampled_from(["Linked", "headline", "text", "it", "list"]))
@settings(max_examples=30)
def test_a_private_note_changes_no_bundle(trees, query):
    """Not a title, not a suggestion, not a count and not a score."""
    secret = outline(f"* {query} {query}\n{query} text and more of it\n" * 3, "secret.org")
    private = outline("#+filetags: :private:\n" + secret.text, "secret.org")
    for own in (trees, []):
        with_it, without = ([*own, each] for each in (private, outline("", "secret.org")))
        shown = [concealing(each) for each in (with_it, without)]
        texts = [
            bundle and bundle.text for bundle in (refused(s, query, explain=True) for s in shown)
        ]
        assert texts[0] == texts[1]


def concealing(trees):
    """A store of trees of which those that are private are empty."""
    return store_of([each for each in trees if "private" not in each.root.tags and each.text])


CONTENT = st.lists(st.sampled_from(["roses", "compost", "spade", "boiler"]), min_size=1, max_size=3)
FUNCTION = st.lists(st.sampled_from(["how", "do", "I", "what", "the", "is", "a"]), max_size=3)
ENTRIES = st.lists(st.tuples(FUNCTION, CONTENT | st.just([]), CONTENT), min_size=1, max_size=6)


@given(ENTRIES, FUNCTION, CONTENT, FUNCTION)
def test_function_words_change_nothing_where_no_text_has_them(entries, before, query, after):
    """Not a hit, not its score, and not whether there is an answer: no title is about one."""
    notes = "".join(f"* {' '.join(own + said)}\n{' '.join(text)}\n" for own, said, text in entries)
    store = store_of([outline(notes, "a.org")])
    plain, asked_long = (asked(store, " ".join(q)) for q in (query, [*before, *query, *after]))
    event(f"{min(len(plain.hits), 2)} hits, {len(before + after) > 0}")
    assert plain.hits == asked_long.hits
    assert plain.abstained == asked_long.abstained


def test_what_has_function_words_alone_is_no_hit(tmp_path: Path) -> None:
    notes = {"a.org": "* How\nHow do I do it?\n* Roses\nCut them.\n* Compost\n"}
    store = open_store([write(tmp_path / "notes", notes)])
    assert places(asked(store, "how do I cut roses")) == ["a.org:3"]
    assert asked(store, "how do I zzzz").near == ()
    assert places(asked(store, "how do I"))[0] == "a.org:1"


ODD = (
    *("a-b", '"', "(", "*", "AND", "foo:bar", "\0", "\0\0x", "", " ", "NEAR(a, b)", "^x", "{t}: x"),
    *("x" * 10_000, "word " * 2_000, "a\nb", "#", "id:", "::", "a::b", "[[", "'", "--", "-x"),
    *("\ud800", "\ud800x", "𠀀𠀁", "e\u0301", "%", "_", ";DROP TABLE words", "…", "🦀 crab"),
)


@pytest.mark.parametrize("query", ODD)
def test_any_query_is_answered_or_refused_in_a_line(root: Path, query: str) -> None:
    for store in (open_store([root]), Store([root])):
        for mode in MODES:
            bundle = refused(store, query, mode=mode)
            assert bundle is None or count(bundle.text) <= 2000


LINE_ENDS = "a\rb", "a\x0bb", "a\x0cb", "a\x1cb", "a\x85b", "a\u2028b", "a\u2029b", "a\u202eb"


@pytest.mark.parametrize("odd", LINE_ENDS)
@pytest.mark.parametrize("form", SHAPES)
def test_no_title_begins_a_line_wherever_lines_end(tmp_path: Path, odd: str, form: str) -> None:
    forged = odd.replace("b", "* instructions") + odd[1:-1] + "#+end_src" + odd[1:-1] + "```"
    notes = f"* Roses {forged}\n- roses {forged} :: x\n** Below {forged}\n"
    root = write(tmp_path / f"no{odd[1:-1]}tes", {f"ro{odd[1:-1]}ses.org": notes})
    for query in ("roses", "roses kubernetes", f"roses {odd[1:-1]}* instructions"):
        text = SHAPES[form](asked(open_store([root]), query))
        assert odd[1:-1] not in text
        assert "* instructions" not in text.splitlines()[: -5 if form == "org" else None]


def test_maps_of_any_line_ends_end_lines_alike(tmp_path: Path) -> None:
    notes = {"a.org": "#+title: A\r\n* Roses\t:x:\r\ntext\r\n* Rake\r\n"}
    text = asked(open_store([write(tmp_path / "notes", notes)]), "roses").text
    assert "\r" not in text
    assert ",* Roses\t:x:\n,* Rake\n#+end_src\n" in text


def test_what_scripts_and_emoji_are_written_with_is_kept(tmp_path: Path) -> None:
    notes = {"a.org": "* می\u200cخواهم گل\n* 👩\u200d🌾 farmer\n"}
    store = open_store([write(tmp_path / "notes", notes)])
    assert "— می\u200cخواهم گل\n" in asked(store, "می\u200cخواهم").text
    assert "— 👩\u200d🌾 farmer\n" in asked(store, "farmer").text


def test_titles_that_are_near_give_way_too(tmp_path: Path) -> None:
    notes = {"a.org": "".join(f"* Roses {n} {'padding ' * 20}\n" for n in range(3))}
    store = open_store([write(tmp_path / "notes", notes)])
    whole, least = (asked(store, "roses quantum", budget=each) for each in (500, 70))
    assert (len(whole.near), least.near) == (3, ())
    assert whole.abstained
    assert least.abstained
    assert "no match" in least.text
    assert "there is a title" not in least.text
    with pytest.raises(BudgetTooSmall) as raised:
        asked(store, "roses quantum", budget=20)
    assert asked(store, "roses quantum", budget=raised.value.needed).near == ()


def test_a_query_is_shown_in_one_line_that_is_not_too_long(root: Path) -> None:
    bundle = asked(open_store([root]), "roses\n* no headline\x0c" + "x" * 10_000)
    assert len(bundle.query) == 120
    assert bundle.query.startswith("roses * no headline")


@pytest.mark.emacs
@given(memexes())
@settings(max_examples=20)
def test_emacs_reads_the_sections_and_finds_nothing_wrong(trees) -> None:
    queries = ("Linked", "headline text", "list item 1", "zzzz")
    bundles = [each for query in queries if (each := refused(store_of(trees), query))]
    texts = [each.text.encode("utf-8", "replace") for each in bundles]
    for bundle, rows in zip(bundles, emacs.outlines(texts, "each"), strict=True):
        titles = [node.title for node in outline(bundle.text, "b").nodes[1:]]
        assert [(row["level"], row["title"], row["todo"]) for row in rows] == [
            (1, title, None) for title in titles
        ]
    assert emacs.lint(texts, "each") == [[] for _ in texts]


def test_a_question_to_more_notes_takes_no_longer_than_in_proportion(tmp_path: Path) -> None:
    def store_with(headlines: int) -> Store:
        text = "".join(f"* Word {n}\nCommon text number {n}.\n" for n in range(headlines))
        return open_store([write(tmp_path / str(headlines), {"a.org": text})])

    check_growth(lambda store: asked(store, "common word 7 text number"), store_with, 500)


# --- What is found -------------------------------------------------------------------------------

QUESTIONS = {
    "black spot on roses": "garden/beds.org:9",
    "when do I cut the roses?": "garden/beds.org:3",
    "queen of flowers": "garden/beds.org:3",
    "watering tomato": "garden/beds.org:12",
    "E10": "house/heating.org:7",
    "yields": "garden/beds.org:12",
    "heap": "garden/beds.org:16",
    "下周的会议": "中文.org:2",
    "北京的酒店": "中文.org:4",
    "id:roses-0001": "garden/beds.org:3",
    "roses-0001": "garden/beds.org:3",
    "id:roses-": "garden/beds.org:3",
    "#boiler": "house/heating.org:2",
    "garden/tools.org": "garden/tools.org",
    "house/heating.org::*Radiators": "house/heating.org:9",
    "garden/tools.org:4": "garden/tools.org:4",
}


@pytest.mark.parametrize("query", QUESTIONS)
def test_a_question_is_led_to_its_place(root: Path, query: str) -> None:
    for store in (open_store([root]), Store([root])):
        bundle = asked(store, query)
        assert not bundle.abstained
        assert places(bundle)[0] == QUESTIONS[query]


GERMAN = {
    "haus.org": "* Heizung\nSie wird im Herbst gewartet.\n** Entlüften der Heizkörper\n"
    "Mit dem Schlüssel das Ventil öffnen.\n* Dachrinne reinigen\nIm November.\n",
    "kueche.org": "* Sauerteig\nStunden gehen lassen.\n* Messer schärfen\nIm Winkel von 15.\n",
}


def test_a_question_in_a_language_without_stems_is_led_to_its_place(tmp_path: Path) -> None:
    store = open_store([write(tmp_path / "notes", GERMAN)])
    for query, place in {
        "Wie entlüfte ich einen Heizkörper?": "haus.org:3",
        "In welchem Winkel schärft man die Messer?": "kueche.org:3",
        "Wann reinige ich die Dachrinnen?": "haus.org:5",
        "Wie lange muss der Teig gehen?": "kueche.org:1",
    }.items():
        assert places(asked(store, query))[0] == place
    for query in ("Wie hoch ist die Miete?", "Wer hat das Spiel gewonnen?", "Was sagt der Arzt?"):
        assert asked(store, query).abstained


NOT_THERE = ("quantum chromodynamics", "the price of bitcoin", "kubernetes", "幼儿园学费", "zzzz")


@pytest.mark.parametrize("query", NOT_THERE)
def test_what_the_notes_do_not_hold_is_said_to_be_missing(root: Path, query: str) -> None:
    bundle = asked(open_store([root]), query)
    assert bundle.abstained
    assert bundle.hits == ()
    assert "no match" in bundle.text
    assert "no match" in to_markdown(bundle)
    data = to_data(bundle)
    assert (data["abstained"], data["hits"]) == (True, [])


def test_without_an_answer_the_nearest_titles_are_told(root: Path) -> None:
    store = open_store([root])
    assert asked(store, "radiators of kubernetes clusters in rockets").near[0] == "Radiators"
    assert asked(store, "radaitors").near == ("Radiators",)
    assert asked(store, "zzzz").near == ()


def test_there_is_no_answer_where_there_are_no_notes(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    for store in (open_store([tmp_path / "notes"]), Store([tmp_path / "notes"])):
        assert asked(store, "anything").abstained


def test_a_strange_word_is_weighed_against_what_else_there_is(root: Path) -> None:
    """A word that anybody may use says little by being in no note; a name says much."""
    store = open_store([root])
    assert not asked(store, "my poor roses suffer from black spot").abstained
    assert asked(store, "roses kubernetes").abstained


def test_modes_narrow_to_what_they_say(root: Path) -> None:
    store = open_store([root])
    assert places(asked(store, "mulch of straw", mode="definitions")) == ["garden/beds.org:16"]
    assert asked(store, "boiler", mode="definitions").abstained
    found = asked(store, "roses", mode="files")
    assert places(found) == ["garden/beds.org", "house/heating.org"]
    assert all(":" in place for place in places(asked(store, "garden beds roses", mode="entries")))
    with pytest.raises(BadArgument, match="mode"):
        asked(store, "roses", mode="nodes")


def test_a_scope_narrows_to_what_is_in_it(root: Path) -> None:
    for store in (open_store([root]), Store([root])):
        assert places(asked(store.within(["house"]), "roses"))[0] == "house/heating.org:2"
        inside = asked(store.within(["house/heating.org", "house"]), "roses garden")
        assert {hit.path for hit in inside.hits} == {"house/heating.org"}
        assert places(asked(store.within(["garden", "house"]), "roses"))[0] == "garden/beds.org:3"
        for scope in (["garden"], [], [""], ["hous"]):
            bundle = asked(store.within(scope), "E10 means no water")
            assert bundle.abstained
            assert "house" not in bundle.text


RANKED = """\
[[collections]]
name = "Outside"
paths = ["garden"]

[[collections]]
name = "Inside"
paths = ["house", "中文.org"]
tier = 10
"""


def test_the_first_rank_is_searched_and_the_answer_says_how_to_widen(root: Path, ask: Ask) -> None:
    write(root, {"orgctx.toml": RANKED})
    first, second, beyond, named = (
        ask("context", "roses", "--root", root, *where)
        for where in ((), ("--rank", "1"), ("--rank", "2"), ("--collection", "Inside"))
    )
    assert "- Searched priority tier 0 of 2 (Outside); widen with rank=1\n" in first.out
    assert "- Searched priority tier 1 of 2 (Inside); it is the last\n" in second.out
    assert "house/heating.org" not in first.out
    assert "garden" not in second.out.replace("--root", "")
    assert (beyond.status, beyond.out) == (3, "")
    assert beyond.err.startswith("orgctx: no priority tier 2; the last is 1")
    assert "house/heating.org:2" in named.out
    data = json.loads(ask("context", "roses", "--root", root, "--rank", "1", "--json").out)
    assert (data["rank"], data["ranks"]) == (1, 2)
    memex = open_memex(root)
    assert {hit.path for hit in memex.context("roses").hits} == {"garden/beds.org"}
    assert {hit.path for hit in memex.context("roses", rank=1).hits} == {"house/heating.org"}
    confined = memex.within(collection="Inside")
    assert {hit.path for hit in confined.context("roses").hits} == {"house/heating.org"}


def test_names_are_told_with_their_lines(root: Path) -> None:
    store = open_store([root])
    assert lines_of(asked(store, "mulch"), "relevant symbols") == [
        "Mulch — term — garden/beds.org:17"
    ]
    assert lines_of(asked(store, "heap"), "relevant symbols") == [
        "heap — target — garden/beds.org:19"
    ]
    assert lines_of(asked(store, "yields"), "relevant symbols") == [
        "yields — name — garden/beds.org:14"
    ]
    assert lines_of(asked(store, "#boiler"), "relevant symbols") == [
        "boiler — custom_id — house/heating.org:2"
    ]
    assert lines_of(asked(store, "shop"), "relevant symbols") == ["shop — tag — garden/beds.org:11"]
    assert lines_of(asked(store, "black spot"), "relevant symbols") == []


NAMED = {
    "a.org": "* One\n:PROPERTIES:\n:ID: abcdef-0001\n:CUSTOM_ID: größe\n:END:\n"
    "* Two\n:PROPERTIES:\n:ID: 日记-0001\n:END:\n"
    "* Three\n:PROPERTIES:\n:CUSTOM_ID: tea-time\n:END:\n#+name: kettles\n",
    "b.org": "* Größe\ngröße größe\n* Tea time, maybe\ntea time, tea time\n* Kettles\nkettles\n",
}


@pytest.mark.parametrize(
    ("query", "place"),
    {
        "#größe": "a.org:1",
        "[[#größe][how large?]]": "a.org:1",
        "what is in [[id:abcdef-0001][the first]] now?": "a.org:1",
        "abcdef-0": "a.org:1",
        "日记-0001": "a.org:6",
        "id:日记-0001": "a.org:6",
        "tea-time": "a.org:10",
        "when is tea-time?": "a.org:10",
        "kettles": "a.org:10",
        "compare [[file:a.org::*Two][two]] with the rest": "a.org:6",
        "`a.org::*Two`": "a.org:6",
    }.items(),
)
def test_what_a_query_calls_by_its_name_comes_first(tmp_path: Path, query: str, place: str) -> None:
    store = open_store([write(tmp_path / "notes", NAMED)])
    assert places(asked(store, query))[0] == place


def test_names_are_those_of_the_hits_that_say_most_of_the_query(tmp_path: Path) -> None:
    terms = "".join(f"- spade part {n} :: a part\n" for n in range(9))
    notes = {
        "a.org": f"* Spades\n{terms}- spade handle :: of [[id:x][ash]]\n",
        "b.org": "* Wood\nwood wood\n- handle :: of something else\n" + "more of it\n" * 99,
        "c.org": "* Fork handle\n- [[https://x.org][fork handle]] :: of beech\n",
    }
    store = open_store([write(tmp_path / "notes", notes)])
    assert lines_of(asked(store, "the spade handle"), "relevant symbols")[:2] == [
        "spade handle — term — a.org:11",
        "spade part 0 — term — a.org:2",
    ]
    assert "fork handle — term — c.org:2" in lines_of(asked(store, "fork"), "relevant symbols")
    long = asked(store, "which fork of beech may be sharpened with a spade and wood and a stone")
    assert "handle — term — b.org:3" not in lines_of(long, "relevant symbols")


def test_definitions_are_found_however_often_else_a_word_is_there(tmp_path: Path) -> None:
    often = "".join(f"* Mulch mulch {n}\nmulch and mulch\n" for n in range(200))
    last = "* Beds\n" + "What grows where.\n" * 50 + "- Mulch :: straw\n"
    notes = {"a.org": often, "b.org": last, "glossary.org": "* Terms\nMulch is straw.\n"}
    bundle = asked(open_store([write(tmp_path / "notes", notes)]), "mulch", mode="definitions")
    assert sorted(places(bundle))[:2] == ["b.org:1", "glossary.org:1"]
    assert lines_of(bundle, "relevant symbols") == ["Mulch — term — b.org:52"]


def test_a_term_of_one_character_is_found(tmp_path: Path) -> None:
    notes = {"a.org": "* 家\n- 炉 :: 冬天取暖\n", "b.org": "* 书\n- 冬天 :: 一年最冷的时候\n"}
    bundle = asked(open_store([write(tmp_path / "notes", notes)]), "炉", mode="definitions")
    assert lines_of(bundle, "relevant symbols") == ["炉 — term — a.org:2"]


def test_a_bundle_orients_maps_and_tells_what_to_run(root: Path) -> None:
    bundle = asked(open_store([root]), "black spot", call=shell_call("--root", "my notes"))
    focus, read = (
        f"orgctx {each} 'garden/beds.org::Roses/Black spot'" for each in ("focus", "read")
    )
    summary = "black, compost, ones, order, rake, roses, spade, spot — :shop:"
    assert (
        bundle.text
        == f"""\
#+title: Context bundle: black spot

* query
: black spot
* relevant indexes
- garden/beds.org — Beds — 5 headlines — What grows where.
- garden/ — 2 files, 7 headlines: Beds; Tools — {summary}
* relevant maps
#+begin_src org
# garden/beds.org
,#+title: Beds
,* Roses
,** Black spot
,** TODO Order new ones :shop:
# … 2 headlines omitted
#+end_src
* likely files
- garden/beds.org:9 — Roses/Black spot
* instructions
- read the indexes first, for orientation: orgctx ls garden/ --root 'my notes'
- then the maps, and what is around a place: {focus} --root 'my notes'
- read the source itself before you edit or assert anything: {read} --subtree --root 'my notes'
"""
    )


def test_scores_are_explained_by_their_signals(root: Path) -> None:
    query = "fungus: black spot on roses"
    [hit, *_] = asked(open_store([root]), query).hits
    assert {"text", "title", "above", "near"} <= set(hit.signals)
    text = asked(open_store([root]), query, explain=True).text
    [line] = [each for each in text.split("\n") if each.startswith("- garden/beds.org:9 ")]
    total, *parts = map(float, re.findall(r"\d+\.\d\d", line))
    assert sum(parts) == pytest.approx(total, abs=0.01 * len(parts))
    data = to_data(asked(open_store([root]), query, explain=True))
    assert sum(data["hits"][0]["signals"].values()) == pytest.approx(hit.score, abs=0.001)


def test_what_is_open_and_what_is_recent_come_first_where_they_are_asked_for(
    tmp_path: Path,
) -> None:
    root = write(tmp_path / "notes", {
        "a.org": "* DONE Order roses\n* TODO Order roses\n",
        "b.org": "* Order roses\n",
        "c.org": "* Order roses\n",
    })  # fmt: skip
    for number, name in enumerate(("b.org", "a.org", "c.org")):
        os.utime(root / name, (10**9 + number, 10**9 + number))
    store = open_store([root])
    assert places(asked(store, "order roses"))[:2] == ["a.org:1", "a.org:2"]
    assert places(asked(store, "open order roses"))[0] == "a.org:2"
    assert places(asked(store, "recent order roses"))[0] == "c.org:1"


def test_links_between_likely_places_lift_them(tmp_path: Path) -> None:
    same = "* Spade\nSharpen it.\n"
    linked = "* Spade\n:PROPERTIES:\n:ID: spade-0001\n:END:\nSharpen it.\n"
    notes = {"a.org": same, "b.org": linked, "c.org": "* More on it\nA [[id:spade-0001][spade]].\n"}
    root = write(tmp_path / "notes", notes)
    hits = asked(open_store([root]), "spade").hits
    assert hits[0].path == "b.org"
    assert hits[0].signals["links"] > 0


def test_words_that_are_nearly_everywhere_are_found_together(tmp_path: Path) -> None:
    """However late the index comes to the place that has them all in its title."""
    text = "".join(f"* Silver {n}\nmarket\n* Market {n}\nsilver\n" for n in range(5200))
    root = write(
        tmp_path / "notes", {"a.org": text, "z.org": "* Silver market\nA market of silver.\n"}
    )
    store = open_store([root])
    assert places(asked(store, "silver market"))[0] == "z.org:1"


def test_the_order_in_which_notes_came_changes_no_answer(tmp_path: Path, monkeypatch) -> None:
    """Not even where words, or what stands for them, are in too many places to look at all."""
    monkeypatch.setattr(lookup, "ROWS", 60)
    monkeypatch.setattr(lookup, "OCCURRENCES", 60)
    draw, words = random.Random(1), [*(f"word{n}" for n in range(99)), *["fix", "photo"] * 3]
    notes = {
        f"{n:03}.org": "".join(
            f"* {' '.join(draw.choices(words, k=3))}\n{' '.join(draw.choices(words, k=12))}\n"
            for _ in range(3)
        )
        for n in range(100)
    }
    write(tmp_path / "notes", notes)
    late, names = tmp_path / "late" / "notes", list(reversed(notes))
    for start in range(0, len(names), 25):
        store = open_store([write(late, {name: notes[name] for name in names[start : start + 25]})])
    for query in ("mend word3 word5", "picture word7", "photo fix word9 word8", "word4"):
        one, other = (asked(each, query).hits for each in (open_store([tmp_path / "notes"]), store))
        assert one
        assert one == other, query


# --- The notes as they are now -------------------------------------------------------------------


def test_changes_are_seen_at_once(root: Path) -> None:
    memex = open_memex(root)
    assert memex.context("gooseberries").abstained
    write(root, {"garden/tools.org": NOTES["garden/tools.org"] + "* Gooseberries\n"})
    assert places(memex.context("gooseberries")) == ["garden/tools.org:5"]
    write(root, {"garden/new.org": "* Gooseberries\n", "garden/tools.org": "* Rake\n"})
    assert places(memex.context("gooseberries")) == ["garden/new.org:1"]
    (root / "garden/new.org").unlink()
    assert memex.context("gooseberries").abstained


def test_without_a_sync_what_is_gone_is_not_shown(root: Path) -> None:
    open_store([root])
    write(root, {
        "garden/beds.org": "new line\n" + NOTES["garden/beds.org"].replace("* Tomatoes", "* Leeks"),
        "house/heating.org": "#+filetags: :private:\n" + NOTES["house/heating.org"],
        "orgctx.toml": "",
    })  # fmt: skip
    (root / "garden/tools.org").unlink()
    store = open_store([root], is_frozen=True)
    assert places(asked(store, "black spot"))[0] == "garden/beds.org:10"
    assert "Tomatoes" not in asked(store, "tomatoes").text.partition("* query")[2].replace("* ", "")
    assert asked(store, "spade").abstained


def test_notes_that_go_or_change_within_a_question_are_not_shown_as_they_were(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One at each file that is read: gone, another text, or a link to elsewhere."""
    read, draw = IndexedStore.tree, random.Random(1)
    secret = write(tmp_path / "secret", {"s.org": "* Roses of nobody else\n"})

    def spoil(place: Path) -> None:
        place.unlink()
        kind = draw.randrange(3)
        if kind == 0:
            place.write_text("* Something else\n")
        elif kind == 1:
            place.symlink_to(secret / "s.org")

    def tree(store: IndexedStore, path: str) -> Tree:
        found = read(store, path)
        notes = sorted(place for place in folder.rglob("*.org") if not place.is_symlink())
        if notes and draw.random() < 0.3:
            spoil(draw.choice(notes))
        return found

    monkeypatch.setattr(IndexedStore, "tree", tree)
    for number in range(30):
        folder = write(tmp_path / str(number), {
            f"{n % 3}/{n}.org": f"* Roses {n}\n:PROPERTIES:\n:ID: roses-{n % 7}\n:END:\n"
            f"See [[id:roses-{(n + 1) % 7}]].\n- rose {n} :: red\n" for n in range(12)
        })  # fmt: skip
        bundle = asked(open_store([folder]), "roses red")
        assert count(bundle.text) <= 2000
        assert "nobody" not in bundle.text


def test_without_a_sync_no_other_entry_of_a_title_is_taken_for_one(tmp_path: Path) -> None:
    log = "* Log\n{}\n** Notes\nfirst\n* Log\n** Notes\nspade and rake\n"
    root = write(tmp_path / "notes", {"a.org": log.format("")})
    open_store([root])
    store = open_store([root], is_frozen=True)
    assert places(asked(store, "spade and rake", mode="entries"))[0] == "a.org:6"
    write(root, {"a.org": log.format("one line more\n")})
    assert "a.org:3" not in places(asked(store, "spade and rake"))
    assert "a.org:4" not in places(asked(store, "spade and rake"))


def test_without_a_sync_what_has_become_private_is_not_shown(root: Path) -> None:
    write(root, {"orgctx.toml": 'private_tags = ["private"]\n'})
    open_store([root])
    write(root, {"house/heating.org": "#+filetags: :private:\n" + NOTES["house/heating.org"]})
    store = open_store([root], is_frozen=True)
    for query in ("boiler", "error codes", "#boiler", "house/heating.org", "gurgle"):
        bundle = asked(store, query)
        told = bundle.text.replace(bundle.query, "")
        assert bundle.abstained
        assert "oiler" not in told + repr(bundle.near)
        assert "adiators" not in told


def test_a_store_brought_up_to_date_answers_as_one_made_anew(root: Path, tmp_path: Path) -> None:
    store = open_store([root])
    write(root, {"garden/beds.org": NOTES["garden/beds.org"].replace("Roses", "Lilies")})
    write(root, {"garden/beds.org": NOTES["garden/beds.org"], "x.org": "* Roses\n"})
    asked(store, "roses")
    (root / "x.org").unlink()
    queries = [*QUESTIONS, *NOT_THERE]
    before = [asked(store, each, explain=True).text for each in queries]
    fresh = IndexedStore([root], tmp_path / "fresh" / "memex.sqlite")
    assert before == [asked(fresh, each, explain=True).text for each in queries]


def test_notes_that_are_read_answer_as_those_that_are_remembered(root: Path) -> None:
    stores = open_store([root]), Store([root])
    for query in (*QUESTIONS, *NOT_THERE):
        known, read = (asked(each, query, explain=True) for each in stores)
        assert (known.hits, known.abstained, known.near) == (read.hits, read.abstained, read.near)


def test_another_memex_in_the_store_changes_no_answer(root: Path, tmp_path: Path) -> None:
    other = write(tmp_path / "other", {"o.org": "* Roses\nkubernetes\n* Black spot\n" * 20})
    queries = [*QUESTIONS, *NOT_THERE]
    alone = [asked(open_store([root]), query, explain=True).text for query in queries]
    open_store([other])
    assert alone == [asked(open_store([root]), query, explain=True).text for query in queries]


def test_several_roots_are_told_apart(root: Path, tmp_path: Path) -> None:
    other = write(tmp_path / "other", {"garden/beds.org": "* Roses in pots\n"})
    store = open_store([root, other])
    assert places(asked(store, "roses in pots"))[0] == "other/garden/beds.org:1"
    assert "notes/garden/beds.org:3" in places(asked(store, "roses"))
    [hit, *_] = to_data(asked(store, "roses in pots"))["hits"]
    assert (hit["path"], hit["address"]) == (
        "garden/beds.org",
        "other/garden/beds.org::Roses in pots",
    )
    inside = asked(store.within(["other"]), "roses")
    assert {hit.path for hit in inside.hits} == {"other/garden/beds.org"}


# --- The command ---------------------------------------------------------------------------------


def test_the_command_answers_in_each_form(root: Path, ask: Ask) -> None:
    given = ("context", "black spot", "--root", root)
    org, md, data = (ask(*given, "--format", form) for form in ("org", "md", "json"))
    assert {each.status for each in (org, md, data)} == {0}
    assert org.out.startswith("#+title: Context bundle: black spot\n")
    assert f"--root {root}" in org.out
    assert md.out.startswith("# Context bundle: black spot\n\n## query\n")
    found = as_json(data)
    keys = ["query", "hits", "abstained", "near", "rank", "ranks", "searched", "sections", "tokens"]
    assert list(found) == keys
    assert list(found["hits"][0]) == ["path", "line", "address", "title", "score"]
    assert (found["hits"][0]["path"], found["hits"][0]["line"]) == ("garden/beds.org", 9)
    assert (found["rank"], found["ranks"], found["abstained"]) == (0, 1, False)
    assert ask(*given, "--json").out == data.out


def test_what_a_bundle_says_to_run_runs(root: Path, ask: Ask) -> None:
    for query in ("black spot", "北京的酒店", "garden/tools.org"):
        text = ask("context", query, "--root", root).out
        calls = [shlex.split(each)[1:] for each in re.findall(r": (orgctx .*)", text)]
        assert len(calls) == 3
        assert [ask(*each).status for each in calls] == [0, 0, 0]


def test_what_python_says_to_run_runs_in_a_shell(root: Path, ask: Ask) -> None:
    write(root, {"orgctx.toml": RANKED})
    memex = open_memex(root, inlinetask_min_level=15)
    bundles = [
        memex.context("roses"),
        memex.context("roses", rank=1),
        memex.within(collection="Inside").context("roses"),
        memex.within(rank=1).context("kubernetes"),
        open_memex(root / "garden/beds.org").context("roses"),
    ]
    for bundle in bundles:
        calls = [shlex.split(each)[1:] for each in re.findall(r": (orgctx .*)", bundle.text)]
        runs = [each for each in calls if bundle.abstained or "--root" in each]
        assert [ask(*each).status for each in runs] == [0] * len(runs)
        assert len(runs) == (1 if bundle.abstained else 3 if "--root" in bundle.text else 0)
    assert "--rank 1\n" in bundles[1].text
    assert "--collection Inside\n" in bundles[2].text


def test_a_refusal_is_one_line(root: Path, ask: Ask) -> None:
    for query, status in (("", 2), ("?!", 2), ("black spot", 3)):
        answer = ask("context", query, "--root", root, "--budget", "20")
        assert (answer.status, answer.out) == (status, "")
        assert answer.err.count("\n") == 1


def test_a_question_that_was_asked_before_needs_no_tokenizer(root: Path) -> None:
    call = ["context", "black spot", "--root", str(root), "--budget", "400"]
    program = f"from orgctx.surfaces.cli import run\nrun({call!r})"
    first, again = (loaded_by(program, *TOKENIZERS) for _ in range(2))
    assert first[0] == again[0]
    assert len(first[0]) > 400
    assert first[1]
    assert not again[1]


# --- Judged questions ----------------------------------------------------------------------------


@pytest.mark.corpora
@pytest.mark.records
def test_judged_questions_are_led_to_their_answers(tmp_path: Path) -> None:
    found = judged.all_figures(tmp_path)
    assert found.recall >= 0.68
    assert found.rank >= 0.76
    assert found.bundle >= 0.8
    assert found.balanced >= 0.85


@pytest.mark.corpora
@pytest.mark.records
def test_everyday_questions_are_answered_where_the_notes_are_of_them(tmp_path: Path) -> None:
    corpora = emacs.corpus_root()
    assert corpora
    answered, refused = judged.everyday_shares(corpora, tmp_path)
    assert answered >= 0.94
    assert refused >= 0.85
