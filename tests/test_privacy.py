"""What nobody is shown: private nodes are absent, sealed ones show title and ID only."""

from unicodedata import normalize

import pytest
import strategies
from hypothesis import event, given
from hypothesis import strategies as st

from orgctx.core.outline import outline, problems
from orgctx.core.privacy import conceal
from orgctx.store.files import decode
from orgctx.views.focus import focus
from orgctx.views.view import Limit

from views import OneTree, check  # isort: skip

VAULT = """* Work
text
* Vault :crypt:
:PROPERTIES:
:ID: vault-1
:CRYPTKEY: 0x0
:END:
-----BEGIN PGP MESSAGE-----
hQEMA0dummydummydummy
** child with secret
#+TODO: SECRET | OPEN
* Vault not yet encrypted :crypt:
pin 0000
* After
"""
PRIVATE = frozenset({"private"})


def titles(text: str, tags: frozenset[str] = frozenset()) -> list[str]:
    return [node.title for node in conceal(outline(text, "a.org"), tags).nodes]


def test_b86_a_sealed_entry_shows_title_and_id_only():
    tree = conceal(outline(VAULT, "a.org"))
    assert [node.title for node in tree.nodes] == [
        *["", "Work", "Vault", "Vault not yet encrypted", "After"],
    ]
    text = focus(OneTree(tree), ["a.org::*Vault"], Limit(10_000)).text
    assert ":ID: vault-1" in text
    for secret in ("hQEMA0", "pin", "child", "SECRET"):
        assert secret not in text


def test_b86_a_line_inside_a_sealed_entry_is_no_address():
    tree = conceal(outline(VAULT, "a.org"))
    assert tree.nodes[3].last_line == 12
    assert tree.nodes[-1].first_line == 14


def test_b88_private_tags_are_inherited_from_headlines_and_files():
    assert titles("* P :private:\n** Q\n*** R\n* S\n", PRIVATE) == ["", "S"]
    assert titles("* A\n** B\n#+filetags: :x:private:\n", PRIVATE) == []
    assert titles("* P :notprivate:\n* not private\n", PRIVATE) == ["", "P", "not private"]


@pytest.mark.parametrize("form", ["NFC", "NFD"])
@pytest.mark.parametrize("tag", ["privé", "한국"])
def test_a_private_tag_hides_in_any_normal_form(tag, form):
    private = frozenset({normalize(form, tag)})
    for written in (normalize("NFC", tag), normalize("NFD", tag)):
        assert titles(f"* A :{written}:\n** B\n* C\n", private) == ["", "C"]
        assert titles(f"#+filetags: :{written}:\n* A\n", private) == []


@pytest.mark.parametrize("hiding", ["private", "crypt"])
def test_file_tags_in_what_is_hidden_are_not_told(hiding):
    text = f"#+filetags: :b:\n* A\n* P :{hiding}:\n#+filetags: :qq:b:\n"
    root = conceal(outline(text, "a.org"), PRIVATE).root
    assert root.tags == next(root.children).inherited_tags == ("b",)
    assert conceal(outline("* A\n#+filetags: :qq:crypt:\n", "a.org")).root.tags == ("crypt",)


@given(strategies.org_bytes(), st.sets(st.sampled_from(["a", "crypt", "e", "big_x", "1999"])))
def test_a_concealed_tree_is_the_tree_without_what_is_private(data, tags):
    text, encoding = decode(data, "a.org")
    tree = outline(text, "a.org", encoding)
    concealed = conceal(tree, frozenset(tags))
    hidden = {
        node.index
        for node in tree.nodes
        if {*node.inherited_tags, *tree.root.tags} & tags
        or any("crypt" in above.tags for above in node.ancestors)
    }
    event("something is hidden" if hidden else "nothing is hidden")
    kept = [node for node in tree.nodes if node.index not in hidden]
    assert [n.first_line for n in concealed.nodes] == [n.first_line for n in kept]
    for node, before in zip(concealed.nodes, kept, strict=True):
        assert (node.parent and node.parent.first_line) == (
            before.parent and before.parent.first_line
        )
        visible = [child.first_line for child in before.children if child.index not in hidden]
        assert [child.first_line for child in node.children] == (
            [] if "crypt" in node.tags else visible
        )
        sealed = "crypt" in node.tags
        assert before.text.startswith(node.text) if sealed else node.text == before.text
    assert all(problem in problems(tree) for problem in problems(concealed) if concealed.nodes)


@given(strategies.org_bytes(), st.integers(0, 10**6))
def test_views_of_concealed_trees_keep_the_laws(data, pick):
    tree = conceal(outline(decode(data, "a.org")[0], "a.org"), frozenset({"a", "e"}))
    if tree.nodes:
        node = tree.nodes[pick % len(tree.nodes)]
        address = f"a.org:{node.first_line}" if node.level else "a.org"
        check(focus(OneTree(tree), [address], Limit(10_000)))
