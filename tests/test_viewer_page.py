"""The viewer's page in a real browser: everything that people do with it, and how it looks.

Screenshots of all views are kept in the directory that NOVELTREE_SCREENSHOTS names, if it does.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import cv2
import pytest

from noveltree.episodes import drive
from noveltree.protocol import make_protocol
from noveltree.viewer.export import export_page
from noveltree.viewer.recorded import watch_recorded
from noveltree.viewer.sessions import MOST_SESSIONS
from tests.support.episodes import recorded
from tests.support.watching import Server, watching

pytest.importorskip("starlette", reason="needs the extra watch")

#: What the page says of itself.
GOAL = "document.body.dataset.goal"
DECISIONS = "Number(document.body.dataset.decisions)"
SHOWN = "document.body.dataset.shown"
CAPTION = "document.querySelector('#tree-a .caption').textContent"
#: Elements that can be pressed and have no name for those who do not see them.
UNNAMED = """() => [...document.querySelectorAll("button, select, input, canvas")].filter((element) => {
  const labelled = element.getAttribute("aria-label") || element.closest("label")?.textContent.trim();
  return !element.closest("[hidden]") && !labelled && !element.textContent.trim();
}).map((element) => element.outerHTML)"""
#: Every text that is seen, with its colour and the one behind it.
TEXTS = """(() => {
  const parse = (text) => text.match(/[\\d.]+/g).map(Number);
  const found = [];
  for (const element of document.querySelectorAll("body *")) {
    const texts = [...element.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE);
    const own = texts.map((text) => text.data).join("").trim();
    if (!own || !element.getClientRects().length || element.closest("svg, script, option")) continue;
    let behind = null;
    for (let each = element; each && !behind; each = each.parentElement) {
      const colour = parse(getComputedStyle(each).backgroundColor);
      if (colour.length === 3 || colour[3] === 1) behind = colour.slice(0, 3);
    }
    found.push([own.slice(0, 40), parse(getComputedStyle(element).color).slice(0, 3), behind]);
  }
  return found;
})()"""
TOO_WIDE = """() => [...document.querySelectorAll("body *")].filter((element) =>
  element.getBoundingClientRect().right > document.documentElement.clientWidth + 0.5 &&
  !element.closest("dialog, .unseen")).map((element) => element.tagName + "#" + element.id)"""


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with watching("breakout", "--budget", 30) as started:
        yield started


class Page:
    """A page, and what is done with it."""

    def __init__(self, page: Any) -> None:
        self.page = page

    def says(self, expression: str) -> Any:
        return self.page.evaluate(expression)

    def until(self, expression: str, *, within: float = 60.0) -> None:
        """Wait until something is true on the page; its policy allows no scripts but its own to do so."""
        end = time.monotonic() + within
        while not self.says(expression):
            assert time.monotonic() < end, f"{expression}: {self.says('document.body.innerText')}"
            self.page.wait_for_timeout(40)

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def pause(self) -> None:
        self.until(f"{GOAL} === 'play'")
        self.press("k")
        self.until(f"{GOAL} === 'pause'")

    def decide(self) -> int:
        """One decision more; which one is shown then."""
        now = f"({SHOWN} + ' ' + {DECISIONS})"
        before = self.says(now)
        self.press("d")
        self.until(f"{now} !== '{before}' && {GOAL} === 'pause' && {SHOWN}.endsWith(':done')")
        return int(self.says(f"parseInt({SHOWN})"))

    def picture(self, name: str) -> None:
        place = os.environ.get("NOVELTREE_SCREENSHOTS")
        if place:
            Path(place).mkdir(parents=True, exist_ok=True)
            self.page.screenshot(path=Path(place) / f"{name}.png")


Open = Callable[..., Page]


@pytest.fixture
def open_page(browser: Any, server: Server) -> Iterator[Open]:
    """Open the page; that nothing was complained about and nothing fetched from elsewhere is found at the end."""
    contexts, said, fetched = [], [], []

    def open_it(address: str = server.address, *, width: int = 1280, height: int = 800, **choices: Any) -> Page:
        context = browser.new_context(viewport={"width": width, "height": height}, **choices)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: fetched.append(request.url))
        page.goto(address)
        return Page(page)

    yield open_it
    for context in contexts:
        context.close()
    assert said == []
    assert all(url.startswith(("http://127.0.0.1:", "file:", "data:", "blob:")) for url in fetched)


class TestPlaying:
    def test_it_plays_by_itself_and_pauses(self, open_page: Open) -> None:
        page = open_page(color_scheme="dark")
        page.until(f"{DECISIONS} >= 3")
        assert "token" not in page.says("location.href")
        page.picture("playing")
        page.pause()
        before = page.says(DECISIONS)
        page.page.wait_for_timeout(600)
        assert page.says(DECISIONS) == before

    def test_the_game_is_seen_in_colour(self, open_page: Open) -> None:
        page = open_page()
        page.until(f"{DECISIONS} >= 1")
        colours = page.says("""(() => {
          const canvas = document.getElementById("screen");
          const data = canvas.getContext("2d").getImageData(0, 0, 160, 210).data;
          const found = new Set();
          for (let i = 0; i < data.length; i += 4) found.add(data[i] << 16 | data[i + 1] << 8 | data[i + 2]);
          return found.size;
        })()""")
        assert colours >= 8

    def test_one_decision_and_one_rollout(self, open_page: Open) -> None:
        page = open_page()
        page.pause()
        page.decide()
        t = page.says(DECISIONS)
        page.press("r")
        page.until(f"{DECISIONS} === {t + 1} && {GOAL} === 'pause' && {SHOWN} === '{t + 1}:growing'")
        sizes = [page.says(f"parseInt({CAPTION}.split('·')[1])")]
        for _ in range(3):
            page.press("r")
            page.page.wait_for_timeout(300)
            sizes.append(page.says(f"parseInt({CAPTION}.split('·')[1])"))
        assert sizes == sorted(sizes)
        assert sizes[-1] > sizes[0]
        page.picture("rollout")

    def test_the_decision_has_bars_with_the_chosen_one_marked(self, shared: Page) -> None:
        page = shared
        assert page.says("[...document.querySelectorAll('.bar .name')].map((name) => name.textContent)") == [
            *("NOOP", "FIRE", "RIGHT", "LEFT")
        ]
        assert page.says("document.querySelectorAll('.bar.chosen').length") == 1
        assert "30 / 30" in page.says("document.getElementById('account').textContent")
        page.page.set_viewport_size({"width": 1280, "height": 660})
        page.until("document.getElementById('game').scrollHeight <= document.getElementById('game').clientHeight")
        page.page.set_viewport_size({"width": 1280, "height": 800})

    def test_speed_budget_and_agent_change_on_the_fly(self, open_page: Open) -> None:
        page = open_page()
        page.pause()
        page.page.locator("#budget").fill("12")
        page.page.locator("#budget").press("Enter")
        page.page.locator("#agent").select_option("bfs")
        page.until("document.getElementById('subtitle').textContent.startsWith('bfs')")
        page.says("document.activeElement.blur()")
        page.decide()
        assert "12 / 12" in page.says("document.getElementById('account').textContent")
        page.page.locator("#speed").select_option("0")
        page.until("document.getElementById('speed').value === '0'")

    def test_two_agents_are_compared_at_the_same_state(self, open_page: Open) -> None:
        page = open_page(color_scheme="dark")
        page.pause()
        page.page.locator("#compare").select_option("bfs")
        page.until("!document.getElementById('tree-b').hidden")
        page.decide()
        page.until("document.querySelector('#tree-b .caption').textContent.startsWith('bfs · ')")
        page.picture("compare")
        page.page.locator("#compare").select_option("")
        page.until("document.getElementById('tree-b').hidden")

    def test_somebody_takes_over_and_hands_back(self, open_page: Open) -> None:
        page = open_page()
        page.pause()
        t = page.says(DECISIONS)
        page.press("h")
        assert page.page.locator("#hands").is_visible()
        page.press(" ")
        page.until(f"{DECISIONS} === {t + 1}")
        page.page.wait_for_timeout(500)
        page.press("ArrowLeft")
        page.until(f"{DECISIONS} === {t + 2}")
        page.picture("take over")
        page.press("h")
        assert not page.page.locator("#hands").is_visible()
        page.press("k")
        page.until(f"{DECISIONS} >= {t + 4}")


@pytest.fixture(scope="module")
def decided(browser: Any, server: Server) -> Iterator[Page]:
    """A page that several tests look at: its agent has made a decision, and waits."""
    context = browser.new_context(viewport={"width": 1280, "height": 800}, color_scheme="dark")
    page = Page(context.new_page())
    page.page.goto(server.address)
    page.pause()
    page.decide()
    yield page
    context.close()


@pytest.fixture
def shared(decided: Page) -> Page:
    """That page, with no node selected and all of the tree in view."""
    decided.page.locator("#tree-a canvas").focus()
    decided.press("Escape", "0")
    decided.page.wait_for_timeout(250)
    return decided


class TestNodes:
    def test_a_node_tells_why_it_is_novel_and_another_why_it_was_pruned(self, shared: Page) -> None:
        page = shared
        page.page.locator("#tree-a canvas").focus()
        seen: dict[str, str] = {}
        page.press("ArrowRight", "ArrowRight", "ArrowRight")
        for key in ["ArrowDown", "ArrowRight", "ArrowDown", "ArrowRight", "ArrowUp", "ArrowLeft"] * 8:
            page.press(key)
            page.until("!document.getElementById('inspector').hidden")
            page.page.wait_for_timeout(120)
            text = page.says("document.getElementById('inspector').innerText")
            for label, sign in (("novel", "Novel: first to have"), ("pruned", "Pruned: all")):
                if sign in text and label not in seen:
                    seen[label] = text
                    page.picture(f"why {label}")
            if len(seen) == 2:
                break
        assert "pixel values" in seen["novel"]
        assert "Seen first by" in seen["pruned"]
        assert "Node" in page.says("document.getElementById('said').textContent")

    def test_pointing_at_a_node_shows_it_and_going_away_hides_it(self, shared: Page) -> None:
        page = shared
        box = page.page.locator("#tree-a canvas").bounding_box()
        page.page.mouse.move(box["x"] + 34, box["y"] + box["height"] / 2)
        for y in range(60, int(box["height"]) - 40, 6):  # the root stands somewhere at the left
            page.page.mouse.move(box["x"] + 34, box["y"] + y)
            page.page.wait_for_timeout(15)
            if page.says("document.querySelector('#tree-a canvas').style.cursor") == "pointer":
                break
        page.until("!document.getElementById('inspector').hidden")
        page.page.mouse.move(10, 10)
        page.until("document.getElementById('inspector').hidden")

    def test_a_jump_leads_to_the_node_that_had_the_features_first(self, shared: Page) -> None:
        page = shared
        page.page.locator("#tree-a canvas").focus()
        page.press("ArrowRight", "ArrowRight")
        for key in ["ArrowRight", "ArrowDown"] * 20:
            page.press(key)
            page.page.wait_for_timeout(120)
            if page.page.locator(".holders button").count():
                break
        button = page.page.locator(".holders button").first
        name = button.text_content().split()[-1]
        button.click()
        page.until(f"/^(Node {name}|The root)/.test(document.querySelector('#inspector h2').textContent)")

    def test_branches_are_folded(self, shared: Page) -> None:
        page = shared
        page.page.locator("#tree-a canvas").focus()
        page.press("ArrowRight", "Enter")
        page.picture("folded")
        page.press("Enter", "0", "c", "+", "-")


class TestTime:
    def test_the_strip_leads_to_any_decision_and_back(self, open_page: Open) -> None:
        page = open_page()
        page.until(f"{DECISIONS} >= 4")
        page.pause()
        head = page.says(DECISIONS)
        page.page.locator("#strip").focus()
        page.press("Home")
        page.until(f"{SHOWN} === '0:done'")
        assert page.says("document.getElementById('step').textContent") == "0"
        page.press("ArrowRight", "ArrowRight")
        page.until(f"{SHOWN} === '2:done'")
        page.press("End")
        page.until(f"parseInt({SHOWN}) === {head}")

    def test_a_link_leads_to_its_decision(self, open_page: Open, server: Server) -> None:
        page = open_page()
        page.until(f"{DECISIONS} >= 3")
        page.pause()
        t = page.says(DECISIONS) - 2
        page.press("[", "[")
        page.until(f"{SHOWN} === '{t}:done'")
        page.press("l")
        page.until("location.hash.includes('decision=')")
        address = page.says("location.href")
        other = Page(page.page.context.new_page())
        other.page.goto(address)
        other.until(f"{SHOWN} === '{t}:done'")

    def test_a_reload_and_a_second_tab_come_back_to_where_it_was(self, open_page: Open) -> None:
        page = open_page()
        page.until(f"{DECISIONS} >= 2")
        page.pause()
        before, session = page.says(DECISIONS), page.says("sessionStorage.getItem('session')")
        page.page.reload()
        page.until(f"{DECISIONS} === {before}")
        assert page.says("sessionStorage.getItem('session')") == session

    def test_a_killed_planner_is_replaced_and_the_page_goes_on(self, open_page: Open, server: Server) -> None:
        page = open_page()
        page.until(f"{DECISIONS} >= 2")
        before = page.says(DECISIONS)
        for pid in server.planners():
            os.kill(pid, signal.SIGKILL)
        page.until(f"{DECISIONS} >= {before + 3}")

    def test_a_planner_killed_on_its_way_to_a_decision_goes_on(self, open_page: Open, server: Server) -> None:
        page = open_page(f"{server.address}#decision=500")
        page.until(f"{GOAL} === 'seek' && {DECISIONS} >= 1")
        os.kill(server.planners()[-1], signal.SIGKILL)
        page.until("document.getElementById('message').textContent.startsWith('The planning process ended')")
        page.until(f"{GOAL} === 'seek'")
        before = page.says(DECISIONS)
        page.until(f"{DECISIONS} > {before}")
        page.press("k")
        page.until(f"{GOAL} === 'pause'")

    def test_a_killed_planner_leaves_the_page_at_the_decision_that_is_looked_at(
        self, open_page: Open, server: Server
    ) -> None:
        page = open_page()
        page.until(f"{DECISIONS} >= 2")
        page.pause()
        page.press("[")
        shown = int(page.says(DECISIONS)) - 1
        page.until(f"{SHOWN} === '{shown}:done'")
        os.kill(server.planners()[-1], signal.SIGKILL)
        page.until("document.getElementById('message').textContent.startsWith('The planning process ended')")
        page.page.wait_for_timeout(3000)
        assert page.says("document.getElementById('step').textContent") == str(shown)


class TestLooks:
    @pytest.mark.parametrize("scheme", ["light", "dark"])
    def test_on_a_phone_nothing_is_wider_than_the_screen(self, open_page: Open, scheme: str) -> None:
        page = open_page(width=390, height=844, color_scheme=scheme, has_touch=True, is_mobile=True)
        page.until(f"{DECISIONS} >= 2")
        page.pause()
        page.decide()
        assert page.says("document.documentElement.scrollWidth") == 390
        assert page.page.evaluate(TOO_WIDE) == []
        page.page.locator("#tree-a canvas").tap(position={"x": 34, "y": 180})
        page.picture(f"phone {scheme}")

    def test_it_follows_the_system_and_changes_by_a_key(self, open_page: Open) -> None:
        page = open_page(color_scheme="light")
        page.until(f"{DECISIONS} >= 4")
        page.pause()
        page.decide()
        assert page.says("document.documentElement.dataset.theme") == "light"
        page.picture("light")
        page.press("t")
        assert page.says("document.documentElement.dataset.theme") == "dark"

    def test_everything_that_can_be_pressed_has_a_name_and_the_help_lists_keys(self, shared: Page) -> None:
        page = shared
        assert page.page.evaluate(UNNAMED) == []
        page.press("?")
        assert page.page.locator("#keys").is_visible()
        assert page.page.locator("#keys kbd").count() > 20
        page.picture("keys")
        page.press("Escape")
        assert not page.page.locator("#keys").is_visible()

    def test_the_keyboard_reaches_everything(self, shared: Page) -> None:
        page = shared
        reached = set()
        for _ in range(40):
            page.press("Tab")
            reached.add(page.says("document.activeElement.id || document.activeElement.parentElement?.id || ''"))
        assert {"play", "one-decision", "speed", "budget", "agent", "strip", "tree-a", "help"} <= reached

    def test_with_reduced_motion_the_last_frame_is_shown_at_once(self, open_page: Open) -> None:
        page = open_page(reduced_motion="reduce")
        page.until(f"{DECISIONS} >= 2")

    def test_a_decision_is_saved_as_png_and_svg(self, shared: Page, tmp_path: Path) -> None:
        page = shared
        for key, start in (("p", b"\x89PNG"), ("v", b"<svg")):
            with page.page.expect_download() as download:
                page.press(key)
            file = tmp_path / download.value.suggested_filename
            download.value.save_as(file)
            assert file.read_bytes().startswith(start)
            assert file.stat().st_size > 2_000

    def test_the_episode_is_saved_as_mp4(self, shared: Page, tmp_path: Path) -> None:
        page = shared
        page.decide()
        decisions = page.says(DECISIONS)
        with page.page.expect_download(timeout=120_000) as download:
            page.press("e")
        file = tmp_path / download.value.suggested_filename
        download.value.save_as(file)
        assert file.name == "Breakout riw-c.mp4"
        video = cv2.VideoCapture(str(file))
        assert video.get(cv2.CAP_PROP_FRAME_COUNT) == 15 * decisions
        assert (video.get(cv2.CAP_PROP_FRAME_WIDTH), video.get(cv2.CAP_PROP_FRAME_HEIGHT)) == (480 + 944, 630)

    @pytest.mark.parametrize("scheme", ["light", "dark"])
    def test_every_text_can_be_read_by_day_and_by_night(self, open_page: Open, scheme: str) -> None:
        """The contrast that WCAG asks of texts, measured on what is shown."""
        page = open_page(color_scheme=scheme)
        page.pause()
        page.page.locator("#compare").select_option("bfs")
        page.decide()
        page.until("document.querySelector('#tree-b .caption').textContent.includes('chooses')")
        page.page.locator("#tree-a canvas").focus()
        page.press("ArrowRight", "ArrowRight")
        page.until("!document.getElementById('inspector').hidden")
        page.press("h", "?")
        faint = [(text, round(of, 2)) for text, *colours in page.says(TEXTS) if (of := contrast(*colours)) < 4.5]
        assert faint == []


def contrast(text: list[float], behind: list[float]) -> float:
    """The ratio of WCAG 2, from 1 to 21."""

    def luminance(colour: list[float]) -> float:
        parts = [value / 255 for value in colour[:3]]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    dark, light = sorted((luminance(text), luminance(behind)))
    return (light + 0.05) / (dark + 0.05)


class TestRecorded:
    def test_a_recorded_episode_is_planned_again_up_to_the_cursor(self, open_page: Open, tmp_path: Path) -> None:
        file = recorded(tmp_path, make_protocol("breakout", budget=12, max_frames=180), wrong=5)
        with watching(file) as server:
            page = open_page(server.address)
            page.until(f"{GOAL} === 'play'")
            page.pause()
            page.page.locator("#strip").focus()
            page.press("End")
            page.until(f"parseInt({SHOWN}) >= 11 && {GOAL} === 'pause'")
            page.press("Home")
            for _ in range(5):
                page.press("]")
                page.page.wait_for_timeout(100)
            page.until("document.getElementById('message').textContent.startsWith('The record has')")
            page.picture("recorded")
            page.page.close()

    def test_a_page_that_was_exported_needs_no_server(self, open_page: Open, tmp_path: Path) -> None:
        file = recorded(tmp_path, make_protocol("breakout", budget=12, max_frames=180))
        export_page(watch_recorded(file), tmp_path / "page.html")
        assert (tmp_path / "page.html").stat().st_size < 12 * 50_000
        page = open_page((tmp_path / "page.html").as_uri(), color_scheme="dark")
        page.until(f"{SHOWN} === '0:done'")
        page.press("]", "]")
        page.until(f"{SHOWN} === '2:done'")
        page.page.locator("#tree-a canvas").focus()
        page.press("ArrowRight")
        page.until("!document.getElementById('inspector').hidden")
        page.picture("exported")
        page.press("Escape", "h")  # there is nobody to hand back to
        assert page.says("document.getElementById('hands').hidden")
        assert "Take over" not in page.says("document.getElementById('keys').textContent")
        page.press(">")
        assert page.says("document.getElementById('speed').value") == "2"
        page.press("k")
        page.until(f"{SHOWN} === '6:done'")


def test_a_notebook_shows_a_lookahead_in_which_nodes_can_be_pointed_at(open_page: Open, tmp_path: Path) -> None:
    """Two lookaheads in one page, as in a notebook, without anything from elsewhere."""
    protocol = make_protocol("breakout", budget=40)
    play = protocol.make_play(protocol.make_simulator(), seed=0, index=0)
    drawn: list[str] = []
    drive([play], decisions=2, on_choice=lambda play, choice: drawn.append(play.lookahead._repr_html_()))
    (tmp_path / "notebook.html").write_text(f"<!doctype html><meta charset='utf-8'>{drawn[0]}<hr>{drawn[1]}")
    page = open_page((tmp_path / "notebook.html").as_uri())
    about, other = (
        "document.querySelectorAll('[data-about]')[1].innerText",
        "document.querySelector('[data-about]').innerText",
    )
    before, untouched = page.says(about), page.says(other)
    assert "Point at a node" in before
    marks = page.page.locator(".nt-widget").nth(1).locator("[data-node]")
    marks.nth(12).hover()
    assert page.says(about).startswith("node ")
    assert "collected" in page.says(about)
    page.page.mouse.move(0, 0)
    assert page.says(about) == before
    marks.nth(12).click()
    page.page.mouse.move(0, 0)
    selected = page.says(about)
    assert selected.startswith("node ")
    page.page.locator(".nt-widget svg").nth(1).focus()
    page.press("ArrowLeft")
    assert page.says(about) != selected
    page.picture("notebook")
    page.press("Escape")
    assert page.says(about) == before
    assert page.says(other) == untouched


def test_a_page_of_another_origin_gets_nothing(browser: Any, server: Server, tmp_path: Path) -> None:
    """A foreign page in the very browser that has the cookie."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(server.address)
    assert page.title()
    (tmp_path / "evil.html").write_text("<title>evil</title>")
    page.goto((tmp_path / "evil.html").as_uri())
    opened = page.evaluate(
        """(port) => new Promise((done) => {
      const socket = new WebSocket(`ws://127.0.0.1:${port}/watch`);
      socket.onopen = () => done("open");
      socket.onerror = () => done("refused");
    })""",
        server.port,
    )
    assert opened == "refused"
    fetch = "(address) => fetch(address, {credentials: 'include'}).then(() => 'read', () => 'refused')"
    fetched = page.evaluate(fetch, f"{server.origin}/")
    assert fetched == "refused"
    context.close()


def test_a_page_for_which_there_is_no_room_says_so_and_comes_in_when_there_is(open_page: Open) -> None:
    with watching("corridor", "--budget", 3) as server:
        pages = [open_page(server.address) for _ in range(MOST_SESSIONS)]
        for page in pages:
            page.until(f"{SHOWN} !== undefined")
        last = open_page(server.address)
        last.until("document.getElementById('message').textContent.includes('sessions are being watched')")
        last.page.wait_for_timeout(1000)
        assert "sessions are being watched" in last.says("document.getElementById('message').textContent")
        pages[0].page.close()
        last.until(f"{SHOWN} !== undefined")
        assert "sessions" not in last.says("document.getElementById('message').textContent")
        for page in (*pages[1:], last):
            page.page.close()


def test_an_observation_that_is_no_image_is_shown_as_text(open_page: Open) -> None:
    with watching("corridor", "--budget", 5) as server:
        page = open_page(server.address)
        page.until("!document.getElementById('screen-text').hidden")
        page.until("/^\\[\\d+\\]$/.test(document.getElementById('screen-text').textContent)")
        page.picture("text")
        page.page.close()
