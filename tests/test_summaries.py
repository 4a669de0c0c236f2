"""What folders are about: telling, the same each time, and made only where something changed."""

import sqlite3
from pathlib import Path

import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from notes import write
from stores import opened

from orgctx.core.outline import outline
from orgctx.store import folders
from orgctx.store.database import make_tables
from orgctx.store.opening import database_file, open_store
from orgctx.store.summaries import Facts, facts_of, from_json, summary, terms, to_json, total

GARDEN = "#+title: {0}\n#+filetags: :outdoor:\nCompost and beds.\n* Watering {0}\n* Meeting notes\n"
OFFICE = "#+title: {0}\n#+filetags: :work:\nBudget for taxes.\n* Invoice {0}\n* Meeting notes\n"


def facts(*texts):
    return total(facts_of(outline(text, "a/b.org")) for text in texts)


def test_a_summary_says_what_the_folders_beside_it_do_not():
    garden = facts(*(GARDEN.format(name) for name in ("Roses", "Tulips", "Compost heap")))
    office = facts(*(OFFICE.format(name) for name in ("January", "February", "March")))
    text = summary(garden, office)
    assert "Roses" in text
    assert "watering" in text
    assert ":outdoor:" in text
    assert "meeting" not in text
    assert "\n" not in text


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Садовые заметки", ["садовые", "заметки"]),
        ("حديقة الورود", ["حديقة", "الورود"]),
        ("花园", ["花园"]),
        ("花园植物笔记", ["花园…", "园植…", "植物…", "物笔…", "笔记…"]),
        ("हिन्दी कविता", ["हिन्दी", "कविता"]),
        ("தமிழ் எழுத்து", ["தமிழ்", "எழுத்து"]),
        ("كِتَابُ النَّحْو", ["كِتَابُ", "النَّحْو"]),
        ("q̄uark ภาษา", ["q̄uark", "ภาษา"]),
        ("Übergrößen ﬁne-tuning of it", ["übergrössen", "fine", "tuning"]),
        ("", []),
    ],
)
def test_words_of_any_script_are_terms(text, found):
    assert list(terms(text)) == found


FAMILY = "👩\u200d👩\u200d👧"


@pytest.mark.parametrize("last", ["e\u0301", "कि", FAMILY])
def test_a_title_is_cut_between_characters(last):
    for size in range(36, 42):
        title = facts(f"#+title: {'a' * size}{last}{'b' * 9}\n").titles[0]
        assert title.rstrip("b…").removesuffix(last) == "a" * min(size, 39)


@pytest.mark.parametrize("words", [("розы", "тюльпаны"), ("ورود", "أشجار"), ("玫瑰", "郁金香")])
def test_a_summary_in_any_script(words):
    here = facts(*(f"#+title: {word}\n* {word} 1\n* {word} 2\n" for word in words))
    beside = facts("#+title: else\n* other\n")
    assert all(word in summary(here, beside) for word in words)


def test_words_of_scripts_without_spaces_are_taken_whole_from_titles():
    titles = ("机器学习面试题", "机器学习笔记", "统计学习方法", "深度学习框架比较", "会议记录")
    here = facts(*(f"#+title: {title}\n" for title in titles))
    text = summary(here, facts("#+title: 家庭旅行计划\n"))
    named = text.partition(" — ")[2].split(", ")
    assert {*named} & {"面试题", "机器", "笔记", "统计", "方法", "会议记录"}
    assert all(any(word in title for title in titles) for word in named)
    assert not {"习面", "习笔", "器学", "计学", "习方"} & {*named}


HAN = st.text("学习机器方法会议记录图", min_size=1, max_size=12)


@given(st.lists(HAN, min_size=1, max_size=8), st.lists(HAN, max_size=4))
def test_no_word_is_named_that_nobody_wrote(titles, others):
    here = facts(*(f"#+title: {title}\n" for title in titles))
    text = summary(here, facts(*(f"#+title: {title}\n" for title in others)))
    words = text.partition(" — ")[2].split(", ")
    assert "…" not in text
    for word in filter(None, words):
        assert any(word in title for title in titles)
        event("several words" if len(words) > 1 else "one word")


@given(st.lists(st.text(max_size=200), max_size=6), st.lists(st.text(max_size=200), max_size=4))
def test_any_text_has_a_summary_of_a_line_which_is_always_the_same(texts, others):
    here, beside = facts(*texts), facts(*others)
    text = summary(here, beside)
    assert text == summary(facts(*texts), facts(*others))
    assert from_json(to_json(here)) == Facts(here.files, here.words, here.tags, here.titles)
    assert len(text) < 1000


@pytest.fixture
def root(tmp_path: Path) -> Path:
    notes = {
        f"{folder}/{number}.org": f"#+title: {folder} {number}\n* Words of {folder}\n"
        for folder in ("a", "a/deep", "b", "c")
        for number in range(3)
    }
    return write(tmp_path / "notes", notes)


def test_only_folders_on_the_way_to_the_root_are_made_again(root, monkeypatch):
    store, made = open_store([root]), []
    fold = folders.fold
    monkeypatch.setattr("orgctx.store.folders.fold", lambda *args: made.append(fold(*args)))
    before = {path: store.folder(path).summary for path in ("", "a", "a/deep", "b", "c")}
    assert all(before.values())
    store.sync()
    assert made == []
    write(root, {"a/deep/1.org": "#+title: Zebra\n* Stripes\n"})
    store.sync()
    assert made == [[b"a/deep", b"a", b""]]
    assert "Zebra" in store.folder("a/deep").summary
    assert {path: store.folder(path).summary for path in "bc"} == {p: before[p] for p in "bc"}


def test_a_folder_of_one_file_has_none_and_one_without_files_is_gone(root):
    store = open_store([root])
    for number in (1, 2):
        (root / "a/deep" / f"{number}.org").unlink()
    store.sync()
    assert store.folder("a/deep") == ("a/deep", 1, 1, "")
    (root / "a/deep/0.org").unlink()
    store.sync()
    assert store.folder("a/deep") is None
    assert store.folder("a").files == 3


def test_folders_are_right_after_a_sync_that_was_stopped(root, monkeypatch):
    def stopped(*_):
        raise KeyboardInterrupt

    store = open_store([root])
    write(root, {"b/9.org": "* New\n"})
    with monkeypatch.context() as patch:
        patch.setattr("orgctx.store.folders.fold", stopped)
        with pytest.raises(KeyboardInterrupt):
            store.sync()
    assert store.folder("b").files == 3
    store.sync()
    assert store.folder("b").files == 4
    assert store.folder("").files == 13


HELD = "path, parent, files, headlines, facts, is_summarized"


def folder_rows(columns):
    """What the store says of folders, of which none waits to be added up."""
    connection = sqlite3.connect(database_file())
    assert connection.execute("SELECT count(*) FROM stale_folder").fetchall() == [(0,)]
    rows = connection.execute(f"SELECT {columns} FROM folder ORDER BY path").fetchall()
    connection.close()
    return rows


def check_equal_to_afresh(root, columns):
    kept = folder_rows(columns)
    database_file().unlink()
    open_store([root])
    assert kept == folder_rows(columns)


@pytest.mark.parametrize("stop", range(5))
def test_a_sync_that_is_stopped_between_folders_is_gone_on_with(root, monkeypatch, stop):
    add_up, calls = folders._add_up, []

    def stopping(*args):
        calls.append(args)
        if len(calls) > stop:
            raise KeyboardInterrupt
        add_up(*args)

    with monkeypatch.context() as patch:
        patch.setattr(folders, "SLICE", 1)
        patch.setattr(folders, "_add_up", stopping)
        with pytest.raises(KeyboardInterrupt):
            open_store([root])
    opened(root).sync()
    check_equal_to_afresh(root, f"{HELD}, summary")


def test_others_may_write_while_folders_are_added_up(root, monkeypatch):
    """What is written meanwhile is added up too."""
    add_up, written = folders._add_up, []
    store = opened(root)
    other = opened(root)
    other.connection.execute("PRAGMA busy_timeout = 0")

    def overtaken(connection, folder, path, keeps):
        add_up(connection, folder, path, keeps)
        if path == b"a":
            connection.execute("COMMIT")
            monkeypatch.setattr(folders, "_add_up", add_up)
            write(root, {"a/deep/new.org": "#+title: Lemur\n"})
            written.append(other.sync().read)
            connection.execute("BEGIN IMMEDIATE")

    monkeypatch.setattr(folders, "SLICE", 1)
    monkeypatch.setattr(folders, "_add_up", overtaken)
    write(root, {"a/deep/1.org": "#+title: Zebra\n* Stripes\n"})
    store.sync()
    assert written == [1]
    check_equal_to_afresh(root, HELD)


def test_eight_times_as_many_folders_cost_the_database_about_eight_times_as_many_steps():
    once, eightfold = map(steps_to_fold, (100, 800))
    assert eightfold < 12 * once


def steps_to_fold(number):
    """How many instructions SQLite carries out to add up so many folders of a note each."""
    connection, steps = sqlite3.connect(":memory:", isolation_level=None), []
    make_tables(connection)
    connection.execute("INSERT INTO root VALUES (1, '', '', 0)")
    for n in range(number):
        path = b"f%05d" % n
        connection.execute(
            "INSERT INTO file VALUES (NULL, 1, ?, 0, 0, 0, 0, 0, x'01', 1, '', 0, ?, 0, 0, ?)",
            (path + b"/a.org", path, to_json(facts("* H\n"))),
        )
    connection.execute("INSERT INTO stale_folder SELECT root, folder FROM file")
    connection.set_progress_handler(lambda: steps.append(1), 10)
    folders.fold(connection, 1)
    return len(steps)
