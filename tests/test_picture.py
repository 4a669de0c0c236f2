"""--html: the page in a real browser, what is written where, and what no note can do in it."""

import json
import os
import re
import shutil
from collections.abc import Callable, Iterator
from importlib import resources
from pathlib import Path

import pytest
from browser import Browser, opened
from growth import seconds
from hypothesis import given, settings
from memexes import grown, questions
from notes import snapshot, write
from program import Ask

from orgctx import Memex, open_memex
from orgctx.core.model import Shown
from orgctx.errors import BadArgument, BudgetTooSmall
from orgctx.store.opening import open_store
from orgctx.store.store import Store
from orgctx.surfaces.pages import OURS, save
from orgctx.views import focus as focusing
from orgctx.views import overview
from orgctx.views.picture import NODES, picture
from orgctx.views.view import Limit

EVIL = "</script><img src=x onerror=\"document.title='evil'\">"
NOTES = {
    "garden.org": f"#+title: Garden {EVIL}\nOn <b>plants</b> &amp; 土.\n"
    f"* Beds {EVIL}\n" + "".join(f"line {n} of the beds\n" for n in range(40)) + "** Tulips 🌷\n"
    "text\n** Asters\n* Paths\n<!-- <script>document.title='evil'</script> \u2028\n",
    "shed/tools.org": "* Spade\n" + "sharp\n" * 99 + "* Rake :private:\nsecretly\n",
    "orgctx.toml": 'private_tags = ["private"]\n',
}


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with opened(tmp_path_factory.mktemp("browser")) as found:
        yield found


@pytest.fixture
def notes(home: Path) -> Path:
    return write(home / "notes", NOTES)


@pytest.fixture
def memex(notes: Path) -> Memex:
    return open_memex(notes)


def data_of(page: str) -> dict:
    [data] = re.findall(r'<script id="data" type="application/json">(.*?)</script>', page)
    return json.loads(data)


def shown(browser: Browser) -> str:
    return browser.value("document.getElementById('text').textContent")


def told(browser: Browser) -> str:
    return browser.value("document.getElementById('node').textContent")


def press_on_map(browser: Browser, *keys: str) -> None:
    browser.value("document.getElementById('map').focus()")
    browser.press(*keys)


# --- In the browser ------------------------------------------------------------------------------


@pytest.fixture
def page(browser: Browser, memex: Memex, tmp_path: Path) -> Iterator[Browser]:
    """The page of a view, in the browser. It asks for nothing and complains of nothing."""
    save(memex.picture("garden.org:3", budget=400), str(tmp_path / "page.html"))
    browser.open(tmp_path / "page.html")
    yield browser
    assert browser.requests() == [(tmp_path / "page.html").as_uri()]
    assert browser.complaints() == []


@pytest.mark.chromium
def test_the_text_is_the_view(page: Browser, memex: Memex) -> None:
    assert shown(page) == memex.focus("garden.org:3", budget=400).text


@pytest.mark.chromium
def test_no_note_can_do_anything(page: Browser, memex: Memex) -> None:
    address = memex.focus("garden.org:3").targets[0]
    assert EVIL.replace("/", "\\/") in address
    assert page.value("document.images.length + document.querySelectorAll('b').length") == 0
    assert page.value("document.scripts.length") == 2
    assert EVIL in shown(page)
    press_on_map(page, "Home", "ArrowDown", "ArrowRight")
    assert EVIL in told(page)
    assert page.value("document.title") == address  # as text


@pytest.mark.chromium
def test_the_policy_forbids_all_else(page: Browser) -> None:
    made = "Object.assign(document.createElement"
    page.value(f"document.body.append({made}('img'), {{src: 'https://example.invalid/x.png'}})), 0")
    page.value(f"document.body.append({made}('script'), {{text: 'window.done = 1'}})), 0")
    page.value("document.body.setAttribute('style', 'color: red'), 0")
    assert page.value("typeof window.done") == "undefined"
    refused = [json.dumps(each) for each in page.complaints()]
    for directive in ("script-src", "style-src", "default-src"):
        assert any("Content Security Policy" in each and directive in each for each in refused)
    page.events[:] = [each for each in page.events if each not in page.complaints()]


@pytest.mark.chromium
def test_the_slider_shows_the_view_within_each_budget(page: Browser, memex: Memex) -> None:
    last = page.value("Number(document.getElementById('budget').max)")
    budgets = [moment[0] for moment in page.value("data.moments")]
    assert len(budgets) == last + 1 > 20
    for at in (0, 1, last // 2, last - 1, 3, last):
        page.value(
            f"slider.value = {at}; slider.dispatchEvent(new Event('input', {{bubbles: true}}))"
        )
        view = memex.focus("garden.org:3", budget=budgets[at])
        assert (shown(page), view.tokens) == (view.text, budgets[at])
        cost = page.value("document.getElementById('cost').textContent")
        assert cost.startswith(f"{budgets[at]} of 400 tokens")
        details = dict(zip(page.value("data.nodes.place"), page.value("[...detail]"), strict=True))
        for each in view.shown:
            place = f"{each.path}:{each.line}" if each.level else each.path
            assert details[place] == {"skeleton": 1, "cut": 2, "full": 3}[each.detail]


@pytest.mark.chromium
def test_keys_move_the_slider(page: Browser, memex: Memex) -> None:
    page.value("document.getElementById('budget').focus()")
    page.press("Home")
    assert "view 1 of" in page.value("document.getElementById('cost').textContent")
    page.press("ArrowRight", "ArrowRight")
    assert "view 3 of" in page.value("document.getElementById('cost').textContent")
    least = page.value("document.getElementById('budget').getAttribute('aria-valuetext')")
    assert shown(page) == memex.focus("garden.org:3", budget=int(least.split()[0])).text


@pytest.mark.chromium
def test_keys_move_about_the_map(page: Browser) -> None:
    press_on_map(page, "Home")
    assert told(page).startswith("memex — dropped — ")
    page.press("ArrowDown")
    assert told(page).startswith("shed — ")
    page.press("ArrowRight")
    assert told(page).startswith("Garden ")
    page.press("ArrowDown", "ArrowRight", "ArrowLeft")
    assert told(page).startswith("Beds ")
    assert "target, always there" not in told(page)
    assert "sharp" not in page.value("document.querySelector('.chosen').textContent")
    assert "Beds" in page.value("document.querySelector('.chosen').textContent")
    page.press("Enter")
    assert page.value("zoomed === chosen && share(zoomed)") == 1
    page.press("Escape")
    assert told(page).startswith("Garden ")
    assert page.value("zoomed === parent[data.target]") is True


@pytest.mark.chromium
@pytest.mark.parametrize(
    ("addresses", "holder"),
    [
        (("garden.org::Paths",), "garden.org"),
        (("shed/tools.org::Spade",), "shed/tools.org"),
        (("shed/tools.org::Spade", "shed/saws/fret.org"), "shed"),
        (("shed/tools.org::Spade", "garden.org"), ""),
        ((), ""),
    ],
)
def test_the_map_opens_on_what_holds_all_that_is_shown(
    browser: Browser, notes: Path, tmp_path: Path, addresses: tuple[str, ...], holder: str
) -> None:
    """A view of one small file among many notes would be a line a pixel wide."""
    write(notes, {"shed/saws/fret.org": "* Blade\n"})
    lens = "foveal" if addresses else "overview"
    page = open_memex(notes).picture(*addresses, lens=lens, budget=2000)
    save(page, str(tmp_path / "page.html"))
    browser.open(tmp_path / "page.html")
    assert browser.value("place[zoomed]") == holder
    assert browser.value("chosen === data.target")
    assert browser.value("[...detail.keys()].every((i) => !detail[i] || holds(zoomed, i))")


FRAMED = """((pixels, colour) => pixels.some((_, at) =>
  at % 4 === 0 && colour.every((channel, i) => pixels[at + i] === channel))
)([...map.getContext('2d').getImageData(0, 0, map.width, map.height).data], [194, 37, 92])"""
"""Whether a pixel of the map has the colour of what is chosen, in the light."""


@pytest.mark.chromium
@pytest.mark.parametrize(
    ("files", "lens", "addresses"),
    [
        ({}, "overview", ()),
        ({"empty.org": ""}, "overview", ()),
        ({"empty.org": ""}, "foveal", ("empty.org",)),
        ({"a.org": "* A\n", "empty.org": ""}, "foveal", ("empty.org",)),
    ],
)
def test_what_has_no_width_is_framed_when_it_is_chosen(
    browser: Browser, tmp_path: Path, files: dict[str, str], lens: str, addresses: tuple[str, ...]
) -> None:
    (tmp_path / "notes").mkdir()
    memex = open_memex(write(tmp_path / "notes", files))
    save(memex.picture(*addresses, lens=lens), str(tmp_path / "page.html"))
    browser.scheme("light")
    browser.open(tmp_path / "page.html")
    assert told(browser).startswith("empty.org — full" if addresses else "memex — ")
    assert browser.value(FRAMED)
    assert browser.complaints() == []


@pytest.mark.chromium
def test_the_map_has_no_more_levels_than_there_are_to_see(browser: Browser, tmp_path: Path) -> None:
    deep = "".join(f"{'*' * n} L{n}\n" for n in range(1, 30)) + "* Flat\n** Below\n"
    memex = open_memex(write(tmp_path / "notes", {"deep.org": deep, "flat.org": "* A\n** B\n"}))
    save(memex.picture("flat.org::A"), str(tmp_path / "page.html"))
    browser.open(tmp_path / "page.html")
    assert browser.value("map.clientHeight / row") == 4
    for name, levels in (("memex", 31), ("L28", 31), ("Flat", 4), ("Below", 4), ("flat.org", 4)):
        browser.value(f"zoom(title.indexOf('{name}'))")
        assert browser.value("map.clientHeight / row") == levels
    assert browser.complaints() == []


@pytest.mark.chromium
def test_the_map_is_as_sharp_as_the_screen(page: Browser) -> None:
    """A canvas that is shown larger or smaller than it is drawn is blurred."""
    assert page.value("[map.width, map.height]") == page.value(
        "[map.clientWidth, map.clientHeight]"
    )


@pytest.mark.chromium
def test_the_mouse_looks_and_goes_closer(page: Browser) -> None:
    page.value("zoom(0)")
    box = page.value("JSON.parse(JSON.stringify(map.getBoundingClientRect()))")
    tools = page.value("data.nodes.place.indexOf('shed/tools.org')")
    x = box["x"] + page.value(f"left({tools}) + share({tools}) / 2") * box["width"]
    y = box["y"] + page.value(f"(depth[{tools}] + .5) * row")
    page.mouse(x, y)
    assert told(page).startswith("tools.org — dropped — ")
    assert page.value("zoomed") == 0
    page.mouse(x, y, is_click=True)
    assert page.value("zoomed") == tools


@pytest.mark.chromium
def test_nothing_but_the_text_scrolls_when_one_looks_around(
    browser: Browser, memex: Memex, tmp_path: Path
) -> None:
    """On a narrow screen the text is below the map; what is looked at stays where it is."""
    save(memex.picture("garden.org:3", budget=2000), str(tmp_path / "page.html"))
    browser.open(tmp_path / "page.html", 600, 400)
    for at in range(browser.value("count")):
        browser.value(f"choose({at})")
        assert browser.value("window.scrollY") == 0
    browser.value("choose(title.indexOf('Paths'))")
    inside = "(b => b.top < a.bottom && b.bottom > a.top)(document.querySelector('.chosen')"
    box = "(a => " + inside + ".getBoundingClientRect()))(text.getBoundingClientRect())"
    assert browser.value(box)
    assert browser.value("text.scrollTop") > 0
    assert browser.value("document.documentElement.scrollWidth <= window.innerWidth")


@pytest.mark.chromium
def test_what_the_keys_choose_is_on_the_map(page: Browser) -> None:
    press_on_map(page, "Home", "ArrowDown", "Enter")
    assert page.value("title[zoomed]") == "shed"
    page.press("ArrowRight")
    seen = "left(chosen) < 1 && left(chosen) + share(chosen) > 0"
    assert told(page).startswith("Garden ")
    assert page.value(seen)
    page.press("Enter", "ArrowUp")
    assert page.value(f"{seen} && title[zoomed].startsWith('Garden')")


@pytest.mark.chromium
def test_what_is_told_is_in_the_words_of_the_legend_and_ends_with_a_place(page: Browser) -> None:
    press_on_map(page, "Home")
    assert told(page).endswith(" tokens with all in it, 100.0 %")
    page.value("tokens[1] = 1, tokens[0] = 2000, choose(1)")
    assert " less than 0.1 % — " in told(page)
    legend = [each[2:] for each in page.value("[...legend.children].map((e) => e.textContent)")]
    assert legend == page.value("[...NAMES].reverse()")


def brightness(colour: str) -> float:
    """Relative luminance, as WCAG 2 has it."""
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_words_can_be_read_on_every_colour() -> None:
    """WCAG 2, 1.4.3: a contrast of 4.5, in the light and in the dark."""
    style = (resources.files("orgctx.views") / "html" / "page.css").read_text("utf-8")
    schemes = [dict(re.findall(r"--(\w+): (#\w{6})", each)) for each in style.split("dark)")]
    assert len(schemes) == 2
    for colours in schemes:
        grounds = [colours[name] for name in ("full", "cut", "skeleton", "dropped", "ground")]
        pairs = [*((colours["ink"], each) for each in grounds), (colours["faint"], grounds[-1])]
        for pair in pairs:
            low, high = sorted(map(brightness, pair))
            assert (high + 0.05) / (low + 0.05) >= 4.5, pair


@pytest.mark.chromium
def test_dark_and_light_differ_and_nothing_else(page: Browser) -> None:
    pictures = []
    for scheme in ("light", "dark", "light"):
        page.scheme(scheme)
        page.value("new Promise(requestAnimationFrame) && 0")
        pictures.append(page.picture())
        ground = page.value("getComputedStyle(document.body).backgroundColor")
        assert (sum(map(int, re.findall(r"\d+", ground))) > 380) == (scheme == "light")
    assert pictures[0] == pictures[2] != pictures[1]


@pytest.mark.chromium
def test_ten_thousand_nodes_take_their_share_of_the_time(browser: Browser, tmp_path: Path) -> None:
    """Ten times as many nodes are drawn in less than thirty times the time."""
    times = []
    for files in (10, 100):
        notes = {
            f"{n % 10}/{n}.org": "".join(f"* H{k}\ntext {k}\n" for k in range(99))
            for n in range(files)
        }
        memex = open_memex(write(tmp_path / str(files), notes))
        place = tmp_path / f"{files}.html"
        save(memex.picture("0/0.org", budget=2000), str(place))
        browser.open(place)
        assert browser.value("count") == files * 100 + 11
        assert browser.complaints() == []
        drawing = "(() => { const t = performance.now(); for (let i = 0; i < 20; i++) draw();"
        drawing += (
            " map.getContext('2d').getImageData(0, 0, 1, 1); return performance.now() - t })()"
        )
        times.append(min(browser.value(drawing) for _ in range(3)))
    assert times[1] < 30 * times[0]


@pytest.mark.chromium
def test_a_map_of_very_many_levels_is_drawn(browser: Browser, tmp_path: Path) -> None:
    """A canvas has a greatest height, which many levels on a fine screen are beyond."""
    deep = "".join(f"{'*' * n} L{n}\n" for n in range(1, 1201))
    memex = open_memex(write(tmp_path / "notes", {"deep.org": deep}))
    save(memex.picture("deep.org:1", budget=500), str(tmp_path / "page.html"))
    browser.open(tmp_path / "page.html")
    screen = {"width": 1300, "height": 640, "deviceScaleFactor": 3, "mobile": False}
    browser.call("Emulation.setDeviceMetricsOverride", **screen)
    browser.value("draw()")
    assert browser.value("map.height") <= 32767
    assert browser.value("map.getContext('2d').getImageData(5, 5, 1, 1).data[3]") == 255
    assert browser.value("status.getBoundingClientRect().bottom < window.innerHeight")
    assert browser.complaints() == []


# --- The page as a text --------------------------------------------------------------------------


@settings(max_examples=15)
@given(questions())
def test_any_notes_make_a_page_whose_data_is_whole(question):
    try:
        growth = grown(question, 500)
    except BudgetTooSmall as error:
        growth = grown(question, error.needed)
    page = picture(growth)
    data = data_of(page)
    parts: dict[int, list[str]] = {}
    for _, changes, _ in data["moments"]:
        for part, begin, end, lines in changes:
            old = parts.get(part, [])
            parts[part] = old[:begin] + lines + old[len(old) - end :]
    assert "".join("".join(parts[part]) for part in sorted(parts)) == growth.view.text
    nodes = data["nodes"]
    details = {
        nodes["place"][number]: detail for *_, told in data["moments"] for number, detail, _ in told
    }
    assert sorted(place for place, detail in details.items() if detail) == sorted(
        {_place_in(each) for each in growth.view.shown}
    )
    parents = nodes["parent"]
    for number in range(1, len(parents)):  # what is in a node comes right behind it
        above = number - 1
        while above > parents[number]:
            above = parents[above]
        assert above == parents[number]
    trees = question[0]
    assert sum(1 for each in nodes["place"] if ":" in each) == sum(len(t.nodes) - 1 for t in trees)


def _place_in(each: Shown) -> str:
    """What the page calls it: the memex has no path, and a folder no slash."""
    if each.level < 0:
        return "" if each.path in ("memex", "./") else each.path[:-1]
    return f"{each.path}:{each.line}" if each.level else each.path


def remove(folder: Path) -> None:
    shutil.rmtree(folder / "shed")


@pytest.mark.parametrize(
    "change",
    [
        lambda folder: (folder / "garden.org").unlink(),
        lambda folder: (folder / "garden.org").write_text(""),
        lambda folder: (folder / "garden.org").write_bytes(b"* \xff\xfe\x00"),
        lambda folder: (folder / "garden.org").write_text("* Beds :private:\n" * 9),
        remove,
        shutil.rmtree,
    ],
    ids=["gone", "empty", "no text", "private", "a folder gone", "all gone"],
)
@pytest.mark.parametrize("lens", ["foveal", "fisheye", "overview", "file"])
def test_notes_that_change_meanwhile_are_drawn_as_the_view_has_them(
    notes: Path, lens: str, change: Callable[[Path], None]
) -> None:
    if lens == "overview":
        growth = overview.grown(open_store([notes]), [], Limit(4000))
    elif lens == "file":
        store = Store.of_files({"notes/garden.org": None})
        growth = focusing.grown(store, ["notes/garden.org:3"], Limit(4000))
    else:
        targets = ["garden.org:3", "shed/tools.org::Spade"]
        growth = focusing.grown(open_store([notes]), targets, Limit(4000), lens)
    before = data_of(picture(growth))
    change(notes)
    after = data_of(picture(growth))
    assert after["moments"][-1][0] == growth.view.tokens
    assert [moment[:1] for moment in after["moments"]] == [m[:1] for m in before["moments"]]
    shown = {place for _, _, details in after["moments"] for place, _, _ in details}
    places = {after["nodes"]["place"][at] for at in shown}
    assert {f"{s.path}:{s.line}" for s in growth.view.shown if s.level > 0} <= places


def test_a_title_steers_nothing(home: Path) -> None:
    evil = "\u202erm\u2066 \x1b[2J [[https://example.org][a link]]"
    data = data_of(open_memex(write(home / "x", {"a.org": f"* {evil}\n"})).picture("a.org:1"))
    assert data["nodes"]["title"][-1] == "\\u202erm\\u2066 \\u001b[2J a link"
    assert data["title"].isprintable()


def test_what_is_private_is_not_in_it(memex: Memex) -> None:
    for page in (memex.picture("shed/tools.org"), memex.picture(lens="overview")):
        assert "Spade" in page
        assert not re.search("Rake|secretly|tools.org:[0-9]{3}", page)


def test_what_is_shown_is_there_however_many_nodes_there_are(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr("orgctx.views.picture.NODES", 3)
    heavy = {f"{n}.org": "* A\n" + "word " * 200 + "\n" for n in range(5)}
    memex = open_memex(write(tmp_path, {**heavy, "a/b/light.org": "* X\n** Y\n* Z\n"}))
    places = data_of(memex.picture("a/b/light.org::X/Y"))["nodes"]["place"]
    assert {"a/b/light.org:1", "a/b/light.org:2", "a/b/light.org:3"} <= set(places)
    assert len(places) < 12 < NODES


# --- The file ------------------------------------------------------------------------------------


def test_the_command_writes_the_page_and_prints_nothing(notes: Path, ask: Ask) -> None:
    before = snapshot(notes)
    call = ("focus", "garden.org:3", "--root", "notes", "--budget", "99")
    answer = ask(*call, "--html", "page.html")
    assert answer == (0, "", "")
    page = Path("page.html").read_bytes()
    assert page.startswith(OURS)
    assert page.decode() == open_memex("notes").picture("garden.org:3", budget=99)
    assert os.stat("page.html").st_mode & 0o777 == 0o600
    again = ask("overview", "--root", "notes", "--html", "page.html", "--explain")
    assert (again.status, again.err) == (0, "")
    assert " of 4000 tokens (" in again.out
    assert Path("page.html").read_bytes() != page
    assert snapshot(notes) == before


@pytest.mark.parametrize(
    "name",
    [
        *("notes/garden.org", "notes/new.org", "other.txt", "notes", "pipe", "/dev/null"),
        *("", "new/", "notes/", ".", "..", "nowhere/.", "notes/.."),
    ],
)
def test_nothing_else_is_overwritten(notes: Path, ask: Ask, name: str) -> None:
    write(Path(), {"other.txt": "mine\n"})
    os.mkfifo("pipe")
    before = snapshot(Path())
    answer = ask("focus", "garden.org:3", "--root", "notes", "--html", name)
    assert (answer.status, answer.out, answer.err.count("\n")) == (2, "", 1)
    assert answer.err.startswith(f"orgctx: {name or '--html'}: ")
    assert snapshot(Path()) == before


def test_a_dash_is_standard_output(notes: Path, ask: Ask) -> None:
    call = ("focus", "garden.org:3", "--root", "notes", "--budget", "99", "--html", "-")
    page = open_memex("notes").picture("garden.org:3", budget=99)
    before = snapshot(Path())
    assert ask(*call) == (0, page, "")
    assert json.loads(ask("--events", *call).out) == {"output": page}
    both = ask(*call, "--explain")
    assert (both.status, both.out, both.err.count("\n")) == (2, "", 1)
    assert snapshot(Path()) == before
    ask(*call[:-1], "./-")
    assert Path("-").read_text(encoding="utf-8") == page


@pytest.mark.parametrize(
    "wrong", [("--explain-budget", "1"), ("--explain-budget", "1", "--json"), ("--budget", "1")]
)
def test_a_call_that_fails_writes_no_page(notes: Path, ask: Ask, wrong: tuple[str, ...]) -> None:
    call = ("focus", "garden.org:3", "--root", "notes", "--html", "page.html", "--explain")
    answer = ask(*call, *wrong)
    assert (answer.status, answer.out, answer.err.count("\n")) == (3, "", 1)
    assert not Path("page.html").exists()


def test_a_link_is_followed_to_what_it_means(notes: Path) -> None:
    write(Path(), {"mine.txt": "mine\n"})
    Path("link.html").symlink_to("mine.txt")
    with pytest.raises(BadArgument):
        save("page", "link.html")
    assert Path("mine.txt").read_text() == "mine\n"


def test_no_note_and_no_settings_are_made(home: Path) -> None:
    """A link to nothing is a name for what it leads to: the page would be a note from then on."""
    Path("notes").mkdir()
    Path("link.html").symlink_to("notes/new.org")
    Path("settings.html").symlink_to("notes/orgctx.toml")
    for name in ("link.html", "settings.html", "notes/orgctx.toml"):
        with pytest.raises(BadArgument, match=f"^{name}: that is the name of "):
            save("page", name)
    assert list(Path("notes").iterdir()) == []


def test_a_folder_that_is_not_there_is_one_line(notes: Path, ask: Ask) -> None:
    answer = ask("focus", "garden.org:3", "--root", "notes", "--html", "nowhere/page.html")
    assert (answer.status, answer.out, answer.err.count("\n")) == (1, "", 1)
    assert answer.err.startswith("orgctx: nowhere/page.html: there is no folder nowhere; ")


def test_a_page_of_many_notes_is_made_in_time(tmp_path: Path) -> None:
    def time_of(files: int) -> float:
        notes = {f"{n}.org": "".join(f"* H{k}\n" for k in range(20)) for n in range(files)}
        memex = open_memex(write(tmp_path / str(files), notes))
        return seconds(lambda: memex.picture("0.org"), 3)

    assert time_of(160) < 24 * time_of(20)
