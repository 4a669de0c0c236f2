"""The ledger of calls, and an agent that finds its way with few of them."""

import random

import emacs
import pytest
from notes import write
from test_listing import NOTES
from threads import at_once
from walks import walk

from orgctx import NotFound, open_memex
from orgctx.surfaces.api import Memex
from orgctx.surfaces.calls import Calls
from orgctx.tokens import count


@pytest.fixture
def memex(tmp_path) -> Memex:
    return open_memex(write(tmp_path, NOTES))


def test_answers_are_noted_with_their_exact_cost_and_refusals_apart(memex):
    texts = [
        memex.ls().text,
        memex.ls("a.org").text,
        memex.focus("a.org::One").text,
        memex.overview().text,
        memex.grep("Two").text,
        memex.read("a.org", subtree=True).text,
    ]
    for wrong in (memex.ls, memex.focus, memex.read):
        with pytest.raises(NotFound):
            wrong("nowhere.org")
    ledger = memex.ledger
    assert ledger.answers == {"ls": 2, "focus": 1, "overview": 1, "grep": 1, "read": 1}
    assert ledger.refusals == {"ls": 1, "focus": 1, "read": 1}
    assert ledger.total == sum(map(count, texts)) == sum(ledger.tokens.values())
    assert ledger.tokens["ls"] == count(texts[0]) + count(texts[1])


def test_threads_share_a_ledger(memex):
    at_once(*[lambda: [memex.ls("a.org") for _ in range(20)]] * 6)
    assert memex.ledger.answers["ls"] == 120


@pytest.mark.corpora
def test_an_agent_walks_to_any_headline_with_few_calls():
    """It knows where a headline is, and calls only what the answers before printed."""
    root, draw = emacs.corpus_root(), random.Random(30)
    spent, memex = [], open_memex(root)
    trees = [tree for tree in memex._store.trees() if len(tree.nodes) > 3]
    for tree in draw.sample(trees, 30):
        node = draw.choice(tree.nodes[1:])
        memex.ledger = Calls()
        levels = walk(memex, node, root.name)
        assert sum(memex.ledger.answers.values()) <= levels + 2
        assert not memex.ledger.refusals
        spent.append(memex.ledger.total)
    assert max(spent) <= 3000, f"mean {sum(spent) / len(spent)}, {spent}"
