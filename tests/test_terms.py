"""Terms: a query is words, and nothing in it is syntax."""

import sqlite3

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from orgctx.store.words import TOKENIZE, spaced, stems
from orgctx.views.lexicon import (
    common_stems,
    foreign_words,
    function_words,
    shared_words,
    synonyms,
)
from orgctx.views.terms import FUNCTION, MOST, terms

SYNTAX = st.sampled_from(
    [*('"', "(", ")", "*", "^", "AND", "NOT", "OR", "NEAR(a b)", "a:b", "{x}:", "\0", "''", "a-b")]
)
KNOWN = st.characters(max_codepoint=0x52F, exclude_categories=("Cn", "Co", "Cs"))
"""SQLite takes what it does not know, such as newer characters, for parts of words."""
QUERIES = st.lists(
    st.one_of(
        SYNTAX, st.text(KNOWN, max_size=12), st.sampled_from(["budget", "How", "会议资料", "été"])
    ),
    max_size=12,
).map(" ".join)


@pytest.fixture(scope="module")
def index():
    connection = sqlite3.connect(":memory:")
    connection.execute(f'CREATE VIRTUAL TABLE words USING fts5(body, tokenize="{TOKENIZE}")')
    return connection


def matches(index, expression, text):
    """Whether an expression of FTS5 matches a text."""
    index.execute("DELETE FROM words")
    index.execute("INSERT INTO words VALUES (?)", (spaced(text),))
    query = "SELECT count(*) FROM words WHERE words MATCH ?"
    return bool(index.execute(query, (expression,)).fetchone()[0])


def texts(query):
    return [term.text for term in terms(query).terms]


@given(QUERIES)
def test_each_term_is_found_in_the_query_itself(index, query):
    found = terms(query)
    event(f"{min(len(found.terms), 5)} terms")
    for term in found.terms:
        assert matches(index, term.match, query), term
        for also in term.also:
            matches(index, also, "x")
    for expression, one, other in found.near:
        event("side by side")
        assert one != other
        matches(index, expression, query)


@given(QUERIES)
def test_a_query_has_each_term_once_and_few(query):
    found = [term.stem for term in terms(query).terms]
    assert len(found) == len(set(found)) <= MOST


def test_words_are_taken_by_stem_and_without_diacritics():
    assert texts("Exporting exported exports Café cafe") == ["exporting", "café"]
    assert stems(["exporting", "Café", "a-b", "?"]) == ["export", "cafe", "a b", ""]


@pytest.mark.parametrize(
    ("asked", "stands", "is_same"),
    [
        ("किताब", "किताब", True),
        ("किताब", "कातिब", False),
        ("שלום", "שָׁלוֹם", True),
        ("كِتَاب", "كتاب", True),
        ("میخواهم", "می\u200cخواهم", True),
        ("STRASSE", "Straße", True),
        ("r\u00e9sum\u00e9", "re\u0301sume\u0301", True),
        ("re\u0301sume\u0301", "R\u00c9SUM\u00c9", True),
        ("cooperate", "co\u00adoperate", True),
        ("api", "ＡＰＩ", True),
        ("office file", "oﬃce ﬁle", True),
        ("ελληνικος", "ΕΛΛΗΝΙΚΌΣ", True),
        ("елка", "ёлка", True),
        ("мой", "мои", False),
        ("カナ", "ｶﾅ", True),
        ("istanbul", "İstanbul", True),
        ("สวัสดี", "สวัสดี", True),
    ],
)
def test_a_word_is_found_however_it_is_written(index, asked, stands, is_same):
    assert all(matches(index, term.match, stands) for term in terms(asked).terms) == is_same


def test_words_that_hold_a_question_together_say_less():
    weights = {term.text: term.weight for term in terms("How do I export a table?").terms}
    assert weights == {"how": FUNCTION, "do": FUNCTION, "i": FUNCTION, "a": FUNCTION,
                       "export": 1.0, "table": 1.0}  # fmt: skip


@pytest.mark.parametrize(("query", "kind"), [("Getting things done", "word"), ("的", "character")])
def test_words_that_are_all_there_is_are_what_is_asked_for(query, kind):
    assert {(term.kind, term.weight) for term in terms(query).terms} == {(kind, 1.0)}


def test_a_script_without_spaces_is_characters_and_pairs(index):
    assert texts("会议 x") == ["会", "议", "会议", "x"]
    [pair] = [term for term in terms("会议").terms if term.kind == "pair"]
    assert matches(index, pair.match, "明天会议")
    assert not matches(index, pair.match, "议会")


def test_what_stands_for_a_word_is_looked_for_too(index):
    [picture] = terms("pictures").terms
    assert any(matches(index, also, "an image") for also in picture.also)
    [deletion] = [term for term in terms("删除").terms if term.kind == "pair"]
    assert any(matches(index, also, "移除它") for also in deletion.also)


def test_words_side_by_side_are_looked_for_as_such(index):
    [(near, one, other)] = terms("the table of contents").near
    assert (one, other) == (1, 3)
    assert matches(index, near, "contents table")
    assert not matches(index, near, "table " + "x " * 9 + "contents")


def test_a_long_query_is_taken_apart_in_proportion():
    assert len(terms("word " * 10_000).terms) == 1
    assert len(terms(" ".join(f"w{n}" for n in range(10_000))).terms) == MOST


# --- The lists of words --------------------------------------------------------------------------


def test_synonyms_are_mutual_and_no_word_stands_for_itself():
    known = synonyms()
    for stem, others in known.items():
        own = stems(others)
        assert stem not in own
        assert len(set(others)) == len(others)
        assert all(known[other if other in known else word]
                   for other, word in zip(own, others, strict=True))  # fmt: skip


def test_function_words_are_never_synonyms():
    words = {word for others in synonyms().values() for word in others}
    assert words.isdisjoint(function_words())


def test_common_words_are_words_that_anybody_uses():
    assert {"guess", "rival", "broken"} <= set(common_stems())
    assert {"kubernet", "todoist", "hunspel"}.isdisjoint(common_stems())


def test_words_of_one_language_are_not_of_another():
    assert foreign_words().isdisjoint(function_words() | shared_words())
    assert foreign_words().isdisjoint(synonyms())


def test_in_other_languages_a_word_may_end_otherwise(index):
    asked = terms("Wie schärfe ich die alte Säge?")
    assert asked.is_foreign
    kinds = {term.text: term.kind for term in asked.terms}
    assert kinds == dict.fromkeys(("wie", "ich", "die"), "function") | dict.fromkeys(
        ("schärfe", "alte", "säge"), "word"
    )
    [also] = next(term.also for term in asked.terms if term.text == "schärfe")
    assert also == '"schär"*'
    for english in (
        "how do I die in this war?",
        "MIT license",
        "los angeles",
        "du -h",
        "La Scala is",
    ):
        assert not terms(english).is_foreign
