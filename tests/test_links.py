"""Links: what a text names, where that leads, and that backlinks are the same ways back."""

import os
from pathlib import Path

import emacs
import pytest
import strategies
from growth import check_growth
from hypothesis import event, given
from hypothesis import strategies as st
from memexes import Trees, memexes, store_of
from notes import with_id, write
from stores import opened

from orgctx import open_memex
from orgctx.core.links import Link, links
from orgctx.core.model import Node, Setting, Tree
from orgctx.core.outline import outline
from orgctx.core.privacy import conceal
from orgctx.store import linking
from orgctx.store.address import node_at_line
from orgctx.store.store import Store

Place = tuple[str, int]


def place(node: Node) -> Place:
    return node.path, node.index


def ways(store: Store) -> tuple[set[tuple[Place, Place]], set[tuple[Place, Place]]]:
    """All (from, to) of a store, by its links and by its backlinks."""
    nodes = [node for tree in store.readable(store.every_path()) for node in tree.nodes]
    there = {(place(n), place(to)) for n in nodes for to in linking.links(store, n)}
    back = {(place(each), place(n)) for n in nodes for each in linking.backlinks(store, n)}
    return there, back


# --- Laws ----------------------------------------------------------------------------------------


@given(memexes())
def test_a_backlink_is_a_link_seen_from_its_other_end(trees) -> None:
    there, back = ways(store_of(trees))
    assert there == back
    for (path, _), (other, index) in there:
        event("into a file" if not index else "within" if path == other else "across")


@given(memexes())
def test_links_come_in_order_each_once(trees) -> None:
    store = store_of(trees)
    for node in (node for tree in trees for node in tree.nodes):
        found = [place(each) for each in linking.links(store, node)]
        assert len(set(found)) == len(found)
        for link in links(node.text, node.tree.settings):
            if found and link.id and any(link.id in n.ids for t in trees for n in t.nodes):
                assert any(link.id in store.tree(p).nodes[i].ids for p, i in found)


@given(memexes())
def test_what_is_remembered_leads_to_the_same(tmp_path_factory, drawn) -> None:
    """A store with a database, one without, and one of trees in memory."""
    folder = tmp_path_factory.mktemp("same")
    texts = {tree.path: tree.text.encode() for tree in drawn}
    write(folder, texts)
    trees = [conceal(outline(text.decode(), path)) for path, text in texts.items()]
    expected = ways(store_of(trees))
    assert ways(Store([folder])) == ways(opened(folder)) == expected


@given(strategies.org_text())
def test_any_text_has_links(text: str) -> None:
    for link in links(text):
        assert link.id or link.search or link.file
        assert not (link.id and (link.file or link.search))


BRACKETS = st.text("[]\\: \n*#(ab/", max_size=20)


@given(st.lists(BRACKETS, max_size=4).map("[[".join), st.sampled_from(["", "]]", "][d]]"]))
def test_any_brackets_have_links(text: str, end: str) -> None:
    links(f"[[{text}{end}")


@given(st.text("[]\\aé :", min_size=1).filter(str.strip))
def test_what_org_escapes_is_read_as_it_was(title: str) -> None:
    """`org-link-escape` puts a backslash before brackets, and doubles those before it."""
    wanted = title.strip()
    named = links(f"[[*{escaped(wanted)}]]")
    assert [each.search for each in named] == [f"*{wanted}"]


def escaped(path: str) -> str:
    out = ""
    for at, char in enumerate(path):
        rest = path[at:].lstrip("\\")
        is_doubled = char == "\\" and rest[:1] in ("[", "]", "")
        out += f"\\{char}" if char in "[]" or is_doubled else char
    return out


@pytest.mark.parametrize("text", ["[[a][", "[[", "[[a\\", "<id:", "[[a]] ", "file:!", "[[a][b"])
def test_links_are_found_in_one_pass(text: str) -> None:
    check_growth(links, lambda size: text * size, 2000)


@pytest.mark.parametrize("run", [" ", "\t", "\\", "\n", " \n"])
def test_what_a_link_means_is_read_in_one_pass(run: str) -> None:
    check_growth(links, lambda size: f"[[a\nb{run * size}b]]", 2000)


def test_many_links_in_one_entry_are_followed_in_one_pass() -> None:
    def make(size: int) -> Trees:
        heads = "".join(f"* Head {n}\n<<spot {n}>>\n" for n in range(size))
        body = "".join(f"[[*Head {n}]] [[file:b.org::spot {n}]]\n" for n in range(size))
        return store_of([outline(f"{body}{heads}", "a.org"), outline(heads, "b.org")])

    def follow(store: Trees) -> None:
        assert len(list(linking.links(store, store.tree("a.org").root))) > 1
        assert len(list(linking.backlinks(store, store.tree("b.org").nodes[1]))) == 1

    check_growth(follow, make, 200)


# --- Emacs ---------------------------------------------------------------------------------------

NAMES = ("a", "a b", "a  b", "b a", "a: b", "[a]", "a\\b", "1", "c*", "é")
HOLDERS = (
    *("* {}", "** TODO {} :tag:", "* [#A] {} [1/2]", "* DONE [#B] {}", "* COMMENT {}", "*** {}."),
    *("text <<{}>> more", "- <<{}>>", "#+name: {}\n| 1 |", "#+NAME: {} \n: 1"),
    *("* x\n:PROPERTIES:\n:CUSTOM_ID: {}\n:END:", "#+begin_src sh\n<<{}>>\n#+end_src"),
    *("#+begin_example\n<<{}>>\n#+name: {}\n#+end_example", "* [[*{}]]", "{}"),
)
SEARCHES = ("*{}", "{}", "#{}", "* {}", "{} ", "a {}", "./{}")


@st.composite
def linked_texts(draw):
    """A file of things that may be linked to, and its links, one a line."""
    name = st.sampled_from(NAMES)
    held, found = (
        [
            each.replace("{}", draw(name))
            for each in draw(st.lists(st.sampled_from(of), min_size=5, max_size=12))
        ]
        for of in (HOLDERS, SEARCHES)
    )
    ends = st.sampled_from(("]]", "][described]]", "][a [b] c]]"))
    return "\n".join([*held, "* Links", *(f"[[{escaped(each)}{draw(ends)}" for each in found), ""])


@pytest.mark.emacs
def test_emacs_goes_where_links_lead() -> None:
    texts = strategies.sample(linked_texts(), 400)
    reached = 0
    for text, lines in zip(texts, emacs.links([t.encode() for t in texts]), strict=True):
        tree = outline(text, "a.org")
        found = list[int | None]()
        for node in tree.nodes:
            for line in node.text.split("\n"):
                if "[[" in line:
                    found += led_in(tree, line)
        theirs = [node_at_line(tree, line).index if line else None for line in lines]
        assert found == theirs, text
        reached += len(lines) - lines.count(0)
    assert reached > 300


def led_in(tree: Tree, line: str) -> list[int | None]:
    """The nodes to which the links in a line lead."""
    places = linking.Places(tree)
    found = [places.find(each) if not each.file and not each.id else None for each in links(line)]
    return [node.index if node else None for node in found]


def test_no_title_leads_to_a_headline_that_is_a_cookie_alone() -> None:
    tree = outline("* [1/2]\n* x\n", "a.org")  # nor in Org
    assert led_in(tree, r"[[*\[1/2\]]] [[\[1/2\]]] [[*x]]") == [None, None, 2]


# --- What a text names ---------------------------------------------------------------------------

IN_A_TEXT = {
    "[[id:a]] and [[id:b][c]] and [[id:a]]": [Link("a"), Link("b")],
    "[[id:s-1][a [b] c]]": [Link("s-1")],
    "[[id:a::*Part][x]] [[id:x:y]] [[id:x::y]]": [Link("a"), Link("x:y"), Link("x")],
    "<id:a b::c> <id:> [[id:]] [[ID:upper]]": [Link("a b"), Link(search="ID:upper")],
    "id:plain, (id:more). =id:code=": [Link("plain"), Link("more"), Link("code")],
    "[[file:a.org][id:x]] [[file:a.org][see file:b.org]]": [Link(file="a.org")],
    "[[a.org]]": [Link(search="a.org")],
    "[[./a.org]] [[../a b.org::*T]]": [Link("", "./a.org"), Link("", "../a b.org", "*T")],
    "[[~/a.org]] [[/a.org]] [[file:///a.org]]": [Link("", "~/a.org"), Link("", "/a.org")],
    "file:a.org::12. <file:a b.org::T u>": [Link("", "a.org", "12"), Link("", "a b.org", "T u")],
    "[[file+emacs:a.org::#c]]": [Link("", "a.org", "#c")],
    "[[file:::*T]] [[file:]] [[*]] [[#]]": [Link(search="*T")],
    "[[*A \\[b\\]]] [[a\\b]] [[c\\\\]]": [Link(search=s) for s in ("*A [b]", "a\\b", "c\\")],
    "[[*A\r\n  b]]": [Link(search="*A b")],
    "[[(code)]] [[file:a.el::(code)]] [[file:a.org::/re/]]": [],
    "[[https://a.org]] [[mailto:a@b.org]] [[attachment:a.org]] [[shell:ls]]": [],
    "[[Note: this]]": [Link(search="Note: this")],
    "[[a%20b]] [[file:a%20b.org]]": [Link(search="a%20b"), Link(file="a%20b.org")],
    "[[file:a::b.org::*T]]": [Link("", "a", "b.org::*T")],
    "[[a][b": [],
    "#+begin_src sh\n[[*In code]]\n#+end_src\n": [Link(search="*In code")],
}


@pytest.mark.parametrize(("text", "found"), IN_A_TEXT.items())
def test_links_in_a_text(text: str, found: list[Link]) -> None:
    assert links(text) == found


def test_abbreviations() -> None:
    lines = ("p file:p.org::#%s", "q file:", "w https://x/%s", "f file:%(up).org", "alone")
    settings = [Setting(1, "LINK", line) for line in lines]
    text = "[[p:a:b]] [[q:c.org]] [[w:d.org]] [[q]] [[alone:e]] [[f:x]]"
    assert links(text, settings)[:2] == [Link("", "p.org", "#a:b"), Link("", "c.org")]
    assert links(text, settings)[2:] == [Link(search="alone:e"), Link(search="f:x")]


def test_an_abbreviation_takes_its_tag_once_as_in_org() -> None:
    settings = [
        Setting(1, "LINK", line) for line in ("x file:%s/%s.org", "c file:", "m file:%h/%s")
    ]
    found = links("[[x:a]] [[c::b.org::3]] [[m:a]]", settings)
    assert found == [Link("", "a/%s.org"), Link("", "b.org", "3"), Link("", "%h/a")]


def test_abbreviations_do_not_make_much_of_little() -> None:
    """What links mean grows as their text does, however long what is put for a word."""

    def meant(size: int) -> int:
        text = "".join(f"[[x:{number}]]" for number in range(size))
        found = links(text, [Setting(1, "LINK", "x file:" + "%s" * size)])
        return sum(len(link.file) + len(link.search) for link in found)

    assert meant(4000) < 3 * meant(2000)


# --- Where it leads ------------------------------------------------------------------------------

FILES = {
    "a.org": "#+title: A\n\n"
    "* TODO [#A] Head  line [1/3] :tag:\n* head line\n* Head line\n:PROPERTIES:\n"
    ":CUSTOM_ID: one\n:END:\n* Twin\n:PROPERTIES:\n:CUSTOM_ID: one\n:END:\n"
    "#+begin_src sh\n<<spot>>\n#+end_src\n** Deep\n<<spot>> <<<radio>>>\n#+NAME: table\n"
    "* spot\n* Note: colon\n* A [b] c\n* COMMENT Off\n* ü\n",
    "sub/c.org": "* Here\n* There\n",
    "b.org": "* B\ntext\n* Last\n",
    "[x].org": "* In brackets\n",
    "c::d.org": "* Colons\n",
    "new.org": with_id("By id", "by-id-0001"),
}


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    return write(tmp_path / "notes", FILES)


def led(root: Path, link: str, path: str = "a.org") -> list[str]:
    """Where a link leads that is at the end of a file, as PATH:LINE; checked backwards too."""
    text = (root / path).read_text(encoding="utf-8")
    write(root, {path: f"{text}* From\n{link}\n"})
    memex = open_memex(root)
    line = text.count("\n") + 1
    node = memex.node(f"{path}:{line}")
    found = node.links
    assert all(node in each.backlinks for each in found)
    return [f"{each.path}:{each.first_line}" if each.level else each.path for each in found]


LEADS = {
    "[[*Head line]]": ["a.org:3"],
    "[[*head   line]]": ["a.org:4"],
    "[[*HEAD LINE \\[2/2\\]]]": ["a.org:3"],
    "[[Head line]]": ["a.org:3"],
    "[[#one]]": ["a.org:5"],
    "[[#One]] [[*]] [[*Nowhere]] [[nowhere]]": [],
    "[[spot]]": ["a.org:16"],
    "[[*spot]]": ["a.org:19"],
    "[[table]] [[radio]]": ["a.org:16"],
    "[[Note: colon]]": ["a.org:20"],
    "[[*A \\[b\\] c][A]]": ["a.org:21"],
    "[[*Off]] [[*ü]] [[*Ü]]": ["a.org:22", "a.org:23"],
    "[[file:a.org]] [[./a.org::*Deep]] [[*Deep]] [[file:a.org::17]]": ["a.org", "a.org:16"],
    "[[*From]] [[From]] file:a.org::25": ["a.org:24"],
    "[[file:b.org]] [[file:b.org::2]] [[file:b.org::99]]": ["b.org", "b.org:1"],
    "[[file:b.org::*Last][b]] <file:b.org::last>": ["b.org:3"],
    "[[file:sub/c.org::There]] [[sub/c.org]]": ["sub/c.org:2"],
    "[[file:\\[x\\].org]] [[file:c::d.org]]": ["[x].org"],
    "[[id:by-id-0001::*x]] id:by-id-0001 [[file:new.org::*By id]]": ["new.org:1"],
    "[[file:../notes/b.org]]": ["b.org"],
    "[[file:../else.org]] [[file:/etc/passwd]] [[file:sub]] [[file:b.org/x.org]]": [],
}


@pytest.mark.parametrize(("link", "leads"), LEADS.items())
def test_a_link_leads_where_org_goes(notes: Path, link: str, leads: list[str]) -> None:
    assert led(notes, link) == leads


def test_links_from_a_folder_below(notes: Path) -> None:
    text = "#+link: up file:../b.org::%s\n[[up:Last]] [[file:c.org::Here]] [[file:../a.org]]\n"
    assert led(notes, text, "sub/c.org") == ["b.org:3", "sub/c.org:1", "a.org"]


def test_links_by_whole_paths_into_a_root(notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(notes.parent))
    (notes.parent / "way").symlink_to(notes)
    for file in (f"{notes}/b.org", "~/notes/b.org", "~/way/b.org", f"{notes}/sub/../b.org"):
        assert "b.org" in led(notes, f"[[{file}]] <file:{file}>")


def test_links_between_roots(notes: Path, tmp_path: Path) -> None:
    other = write(tmp_path / "other", {"x.org": "* X\n[[file:../notes/b.org::*Last]]\n"})
    memex = open_memex(notes, other)
    [last] = memex.node("other/x.org::*X").links
    assert last.address == "notes/b.org::Last"
    assert [each.path for each in last.backlinks] == ["other/x.org"]
    assert open_memex(other).node("x.org::*X").links == [], "out of the roots"


def test_links_into_a_root_inside_another(notes: Path) -> None:
    """No walk of the outer one comes to a folder that begins with a dot."""
    inner = write(notes / "sub/.kept", {"k.org": "* K\n[[file:../../b.org]] [[file:k.org::*K]]\n"})
    ways_in = ("sub/.kept/k.org", f"{inner}/k.org")
    write(notes, {f"{at}.org": f"* {at}\n[[file:{way}::*K]]\n" for at, way in enumerate(ways_in)})
    memex = open_memex(notes, inner)
    k = memex.node(".kept/k.org::*K")
    assert [each.address for each in k.links] == ["notes/b.org", ".kept/k.org::K"]
    assert [each.path for each in k.backlinks] == [".kept/k.org", "notes/0.org", "notes/1.org"]
    assert [memex.node(f"notes/{at}.org::{at}").links for at in range(2)] == [[k], [k]]
    there, back = ways(Store([notes, inner]))
    assert (there, back) == ways(memex._store)
    assert there == back
    assert open_memex(notes).node("0.org::0").links == []


def test_a_name_in_another_normal_form(notes: Path) -> None:
    write(notes, {"u\u0308.org": "* U\n"})
    assert led(notes, "[[file:\u00fc.org::*U]]") == ["u\u0308.org:1"]


def test_dead_links_do_not_look_through_all_notes() -> None:
    """As many notes as links that lead nowhere and have a name that may be in another form."""

    def notes(size: int) -> Store:
        links_ = "".join(f"[[file:é{number}.org]]\n" for number in range(size))
        trees = [outline("* N\n", f"n{number}.org") for number in range(size)]
        return store_of([outline(f"* A\n{links_}", "a.org"), *trees])

    def follow(store: Store) -> None:
        assert not list(linking.links(store, store.tree("a.org").nodes[1]))

    check_growth(follow, notes, 100)


def test_line_ends_do_not_matter(notes: Path) -> None:
    write(notes, {"dos.org": b"* D\r\n[[file:dos.org::*E\r\n  f]] [[file:b.org]]\r\n* E f\r\n"})
    memex = open_memex(notes)
    assert [each.path for each in memex.node("dos.org::*D").links] == ["dos.org", "b.org"]
    view = memex.focus("dos.org::*D", lens="fisheye")
    assert "E f" in [s.node.title for s in view.shown]
    assert [s.path for s in view.shown if s.relation == "link"] == ["b.org"]


def test_a_renamed_file_takes_its_links_along(notes: Path) -> None:
    write(notes, {"x.org": "* X\n[[file:b.org::*Last]] [[*X]]\n"})
    memex = open_memex(notes)
    assert [e.path for e in memex.node("b.org::*Last").backlinks] == ["x.org"]
    os.rename(notes / "x.org", notes / "sub/x.org")
    assert memex.node("b.org::*Last").backlinks == [], "from there it leads elsewhere"
    os.rename(notes / "b.org", notes / "sub/b.org")
    [last] = memex.node("sub/x.org::*X").links[:1]
    assert last.address == "sub/b.org::Last"
    assert [e.path for e in last.backlinks] == ["sub/x.org"]


def test_a_file_that_changes_leaves_other_rows_as_they_are(notes: Path) -> None:
    write(notes, {"x.org": "* X\n[[file:b.org::*Last]]\n"})
    memex = open_memex(notes)
    assert len(memex.node("x.org::*X").links) == 1
    write(notes, {"b.org": "* Before\n* B\n* Last of all\n"})
    assert memex.node("x.org::*X").links == []
    write(notes, {"b.org": "* LAST\n"})
    assert [e.title for e in memex.node("x.org::*X").links] == ["LAST"]
    assert [e.path for e in memex.node("b.org::*LAST").backlinks] == ["x.org"]


@pytest.mark.parametrize("tags", [":hush:", ":crypt:"])
def test_nothing_private_is_led_to(notes: Path, tags: str) -> None:
    hidden = f"* Secret {tags}\n<<spot>>\n** In it\n:PROPERTIES:\n:CUSTOM_ID: in\n:END:\n"
    write(notes, {"orgctx.toml": 'private_tags = ["hush"]\n', "h.org": f"* O\n{hidden}* Open\n"})
    write(notes, {"all.org": f"#+filetags: {tags}\n* Deep\n"})
    for search in ("::spot", "::*In it", "::#in", "::3", "::4"):
        assert led(notes, f"[[file:h.org{search}]]") == []
    assert led(notes, "[[file:h.org::*Open]]") == ["h.org:8"]
    assert led(notes, "[[file:all.org::*Deep]]") == []
    if tags == ":hush:":
        assert led(notes, "[[file:h.org::*Secret]] [[file:all.org]]") == []


def test_what_is_ignored_is_not_led_to(notes: Path) -> None:
    write(notes, {"orgctx.toml": 'ignore = ["b.org"]\n', ".git/x.org": "* X\n"})
    assert led(notes, "[[file:b.org]] [[file:.git/x.org]] [[file:sub/c.org]]") == ["sub/c.org"]


def test_the_fisheye_follows_them(notes: Path) -> None:
    write(notes, {"x.org": "* X\n[[file:b.org::*Last]] [[*Y]]\n* Y\n* Z\n[[#no]] [[X]]\n"})
    view = open_memex(notes).focus("x.org::*X", lens="fisheye", budget=20_000)
    shown = {s.node.title: s.relation for s in view.shown}
    assert shown["Last"] == "link"
    back = open_memex(notes).focus("b.org::*Last", lens="fisheye", budget=20_000)
    assert {s.node.title: s.relation for s in back.shown}["X"] == "backlink"


def test_links_of_a_lone_file_stay_in_it(notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(notes)
    write(notes, {"x.org": "* X\n[[file:b.org]] [[*Y]] [[file:x.org::*Y]] [[~/x.org]]\n* Y\n"})
    store = Store.of_files(["x.org"])
    found = list(linking.links(store, store.tree("x.org").nodes[1]))
    assert [each.title for each in found] == ["Y"]
    both = Store.of_files([f"{notes}/x.org", f"{notes}/b.org"])
    there, back = ways(both)
    assert there == back
    assert {to for _, to in there} == {(f"{notes}/x.org", 2), (f"{notes}/b.org", 0)}


def test_links_of_what_an_editor_has(notes: Path) -> None:
    """What is not saved links, and is linked to; nothing of it is remembered."""
    for store in (opened(notes), Store([notes])):
        edited = store.edited("b.org", b"* B\n[[file:sub/c.org::*There]] [[*New]]\n* New\n")
        [there, new] = linking.links(edited, edited.tree("b.org").nodes[1])
        assert [there.title, new.title] == ["There", "New"]
        assert [each.title for each in linking.backlinks(edited, there)] == ["B"]
        assert [each.title for each in linking.backlinks(edited, new)] == ["B"]
        assert list(linking.backlinks(store, there)) == []


@pytest.mark.parametrize("path", ["b.org", "sub/unsaved.org"])
def test_what_an_editor_has_is_linked_as_if_it_was_saved(notes: Path, path: str) -> None:
    text = f"* N\n[[./]] [[file:{notes}/a.org]] [[*N]]\n* Last\n:PROPERTIES:\n:ID: new-id\n:END:\n"
    links_ = f"[[file:{path}]] [[{notes}/{path}::*N]] [[id:new-id]] [[file:{path}::Last]]"
    write(notes, {"to.org": f"* To\n{links_}\n", "sub/d.org": "* D\n[[file:unsaved.org]]\n"})
    found = []
    for make in (opened, lambda folder: Store([folder])):
        found.append(ways(make(notes).edited(str(notes / path), text.encode())))
    write(notes, {path: text})
    there, back = ways(Store([notes]))
    assert {to for way, to in there if way[0] == "to.org"} == {(path, at) for at in range(3)}
    assert found == [(there, back)] * 2


def test_the_longest_titles_are_told_apart(notes: Path) -> None:
    titles = ["word " * 200 + end for end in ("a", "b")]
    write(notes, {"long.org": "".join(f"* {each}\n" for each in titles)})
    assert led(notes, f"[[file:long.org::*{titles[1]}]]") == ["long.org:2"]


def test_links_out_of_the_scope_lead_nowhere(notes: Path) -> None:
    write(notes, {"sub/x.org": "* X\n[[file:c.org::*There]] [[file:../b.org]] [[id:by-id-0001]]\n"})
    for store in (opened(notes).within(["sub"]), Store([notes]).within(["sub"])):
        found = list(linking.links(store, store.tree("sub/x.org").nodes[1]))
        assert [each.title for each in found] == ["There"]
        assert [each.title for each in linking.backlinks(store, found[0])] == ["X"]


def test_a_hub_is_read_no_further_than_it_is_asked(notes: Path) -> None:
    for number in range(40):
        write(notes, {f"hub/{number:02}.org": "* L\n[[file:../b.org::*Last]]\n"})
    store = opened(notes)
    last, read = store.tree("b.org").nodes[2], list[str]()
    tree = store.tree
    store.tree = lambda path: read.append(path) or tree(path)
    ways_back = linking.backlinks(store, last)
    assert [next(ways_back).path, next(ways_back).path] == ["hub/00.org", "hub/01.org"]
    assert read == ["hub/00.org", "hub/01.org"]
