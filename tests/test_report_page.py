"""Reports as people see them: the page in a real browser, by day and by night, and what LaTeX makes of them."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from noveltree.report.document import Document
from noveltree.report.html import to_html
from noveltree.report.latex import to_latex
from tests.support.benchmarks import LESS_BUDGET, SHORTER, SMALL, TINY, create, fail, played
from tests.support.programs import program
from tests.support.reports import ATARI, SCRIPT, report_of

WIDTHS = (1280, 390)

#: The colour that is seen behind an element, and that of its text, as red, green and blue.
COLOURS = """(element) => {
  const parse = (text) => text.match(/[\\d.]+/g).map(Number);
  let behind = null;
  for (let each = element; each && !behind; each = each.parentElement) {
    const colour = parse(getComputedStyle(each).backgroundColor);
    if (colour.length === 3 || colour[3] === 1) behind = colour.slice(0, 3);
  }
  return [parse(getComputedStyle(element).color).slice(0, 3), behind];
}"""
#: Whatever is wider than the window, without standing in something that scrolls.
TOO_WIDE = """() => [...document.querySelectorAll("body *")].filter((element) => {
  if (element.closest(".scroll, nav, svg")) return false;
  return element.getBoundingClientRect().right > document.documentElement.clientWidth + 0.5;
}).map((element) => element.tagName + "." + element.className)"""
#: Of the text of an A4 page on its side, in pixels.
A4_WIDTH = 1032
#: Words of charts that reach beyond them.
CUT_OFF = """() => [...document.querySelectorAll("svg.chart text")].filter((text) => {
  const [inner, outer] = [text, text.closest("svg")].map((each) => each.getBoundingClientRect());
  return inner.left < outer.left - 0.5 || inner.right > outer.right + 0.5
    || inner.top < outer.top - 0.5 || inner.bottom > outer.bottom + 0.5;
}).map((text) => text.textContent)"""
CELLS = """([name, column]) => [...document.querySelectorAll(`#${name}-table tbody tr`)].map(
  (row) => row.cells[column].textContent)"""


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Document]:
    """The paper's results, and a report with everything that records can give."""
    place = tmp_path_factory.mktemp("records of a page")
    troubled = played(place / "troubled", TINY)
    create(troubled, TINY.replace("trials: 2", "trials: 3"))
    fail(troubled, "trials/corridor/riw-d/trial-2", SCRIPT)
    less = played(place / "less", LESS_BUDGET)
    # Agents with long names: on paper and on phones they must be told apart.
    others = [
        played(place / f"other{frames}", SHORTER.replace("150", str(frames)).replace("budget: 5", "budget: 4"))
        for frames in (120, 130, 140)
    ]
    learnt = played(place / "learnt", SMALL.replace("  - riw-c\n", "").replace("trials: 3", "trials: 2"))
    atari = place / "atari.csv"
    atari.write_text(ATARI)
    return {
        "paper": report_of(published=True),
        "own": report_of(troubled, less, *others, learnt, atari, published=True, base=place),
    }


@pytest.fixture(scope="module")
def pages(documents: dict[str, Document], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    place = tmp_path_factory.mktemp("pages")
    files = {name: place / f"{name}.html" for name in documents}
    for name, file in files.items():
        file.write_text(to_html(documents[name]))
    return files


Open = Callable[..., Any]


@pytest.fixture
def open_page(browser: Any, pages: dict[str, Path]) -> Iterator[Open]:
    """Open a report; that nothing was fetched and nothing was complained about is found at the end."""
    opened, said, fetched = [], [], []

    def open_it(name: str, *, width: int = 1280, **choices: Any) -> Any:
        context = browser.new_context(viewport={"width": width, "height": 900}, **choices)
        opened.append(context)
        page = context.new_page()
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: fetched.append(request.url))
        page.goto(pages[name].as_uri())
        return page

    yield open_it
    for context in opened:
        context.close()
    assert said == []
    assert set(fetched) <= {path.as_uri() for path in pages.values()}
    assert len(fetched) == len(opened)


def contrast(first: list[float], second: list[float]) -> float:
    """The contrast of two colours by the Web Content Accessibility Guidelines."""

    def luminance(colour: list[float]) -> float:
        shares = [value / 255 for value in colour]
        linear = [share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    high, low = sorted((luminance(first), luminance(second)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("name", ["paper", "own"])
class TestBrowser:
    @pytest.mark.parametrize("width", WIDTHS)
    def test_the_page_is_as_wide_as_the_window(self, open_page: Open, name: str, width: int) -> None:
        page = open_page(name, width=width)
        assert page.evaluate("document.documentElement.scrollWidth") == width
        assert page.evaluate("window.innerWidth") == width
        assert page.evaluate(TOO_WIDE) == []

    @pytest.mark.parametrize("width", WIDTHS)
    def test_the_words_in_charts_are_not_cut_off(self, open_page: Open, name: str, width: int) -> None:
        page = open_page(name, width=width)
        assert page.locator("svg.chart text").count() > 5
        assert page.evaluate(CUT_OFF) == []

    def test_it_is_readable_by_day_and_by_night(self, open_page: Open, name: str) -> None:
        backgrounds = []
        for scheme in ("light", "dark"):
            page = open_page(name, color_scheme=scheme)
            text, behind = page.eval_on_selector("body", COLOURS)
            assert contrast(text, behind) >= 7
            backgrounds.append(behind)
            least = {
                "td.best": 4.5,
                "td.words": 4.5,
                "td .pm": 4.5,
                "figcaption span": 4.5,
                "thead th": 4.5,
                ".lead": 4.5,
                "nav a": 4.5,
                "section a": 4.5,
                ".notice b": 4.5,
                ".badge": 4.5,
            }
            for selector, wanted in least.items():
                for text, behind in page.evaluate(
                    f"""(selector) => {{
                    const colours = {COLOURS};
                    return [...document.querySelectorAll(selector)].map(colours);
                }}""",
                    selector,
                ):
                    assert contrast(text, behind) >= wanted, (scheme, selector, text, behind)
        assert contrast(*backgrounds) > 10

    def test_cells_that_are_coloured_can_be_read(self, open_page: Open, name: str) -> None:
        """Their colour lies over that of the card, more or less strongly."""
        for scheme in ("light", "dark"):
            page = open_page(name, color_scheme=scheme)
            found = page.evaluate("""() => {
                const parse = (text) => text.match(/[\\d.]+/g).map(Number);
                return [...document.querySelectorAll("td.heat")].map((cell) => {
                    const style = getComputedStyle(cell);
                    const tone = parse(style.getPropertyValue("--tone"));
                    const strength = Number(style.getPropertyValue("--strength"));
                    const card = parse(getComputedStyle(cell.closest("figure")).backgroundColor);
                    const behind = tone.map((value, n) => value * strength + card[n] * (1 - strength));
                    return [parse(style.color).slice(0, 3), behind];
                });
            }""")
            assert len(found) > 20
            assert min(contrast(text, behind) for text, behind in found) >= 4.5

    def test_on_paper_tables_fit_and_pages_repeat_headings_but_not_totals(self, open_page: Open, name: str) -> None:
        """Chromium leaves out what stands in a button of a heading that it repeats, unless that has no box."""
        page = open_page(name, width=A4_WIDTH)
        page.emulate_media(media="print")
        wide = "(found) => found.filter((each) => each.offsetWidth > innerWidth).map((each) => each.innerText)"
        assert page.eval_on_selector_all("table", wide) == []
        display = "(found) => [...new Set(found.map((each) => getComputedStyle(each).display))]"
        assert page.eval_on_selector_all("thead", display) == ["table-header-group"]
        assert page.eval_on_selector_all("thead button", display) == ["contents"]
        assert page.eval_on_selector_all("tfoot", display) == ["table-row-group"]

    def test_agents_can_be_told_apart_on_a_phone(self, open_page: Open, name: str) -> None:
        page = open_page(name, width=WIDTHS[-1])
        hidden = "(found) => found.filter((each) => each.scrollWidth > each.clientWidth + 1).length"
        assert page.eval_on_selector_all("tbody th, tfoot th", hidden) == 0

    def test_it_prints_on_several_pages(self, open_page: Open, name: str) -> None:
        page = open_page(name)
        printed = page.pdf(prefer_css_page_size=True)
        assert printed.startswith(b"%PDF")
        assert len(re.findall(rb"/Type\s*/Page\b", printed)) > 1

    def test_the_first_table_that_scrolls_is_reached_by_the_keyboard(self, open_page: Open, name: str) -> None:
        page = open_page(name, width=390)
        links = page.locator("nav a").count()
        reached = []
        for _ in range(links + 3):
            page.keyboard.press("Tab")
            reached.append(page.evaluate("document.activeElement.className || document.activeElement.tagName"))
        assert reached[:links] == ["A"] * links
        assert "scroll" in reached

    def test_without_scripts_it_is_the_same_but_for_sorting(self, open_page: Open, name: str) -> None:
        page = open_page(name, java_script_enabled=False)
        assert page.locator("table").count() == page.locator("div.scroll").count() > 5
        assert page.locator("thead button").count() == 0


class TestSorting:
    def test_a_click_sorts_numbers_as_numbers_and_back(self, open_page: Open) -> None:
        page = open_page("paper")
        heading = page.locator("#paper-intervals-table thead th").nth(5)
        heading.locator("button").click()
        assert heading.get_attribute("aria-sort") == "descending"
        values = self.values(page, "paper-intervals", 5)
        assert values == sorted(values, reverse=True)
        assert len(set(values)) > 40
        heading.locator("button").click()
        assert heading.get_attribute("aria-sort") == "ascending"
        assert self.values(page, "paper-intervals", 5) == sorted(values)

    def test_another_click_sorts_by_another_column_alone(self, open_page: Open) -> None:
        page = open_page("paper")
        headings = page.locator("#paper-intervals-table thead th")
        headings.nth(1).locator("button").click()
        headings.nth(0).locator("button").click()
        assert headings.nth(1).get_attribute("aria-sort") is None
        names = page.evaluate(CELLS, ["paper-intervals", 0])
        assert names[0].startswith("Zaxxon")
        headings.nth(0).locator("button").press("Enter")
        assert page.evaluate(CELLS, ["paper-intervals", 0])[0].startswith("Alien")

    def test_the_totals_stay_at_the_foot(self, open_page: Open) -> None:
        page = open_page("paper")
        page.locator("#paper-scores-table thead th").nth(1).locator("button").click()
        assert page.locator("#paper-scores-table tfoot th").first.text_content() == "times marked"

    def test_dashes_come_last_both_ways(self, open_page: Open) -> None:
        page = open_page("own")
        titles = page.locator("#own-scores-table thead tr:last-child th").all_text_contents()
        column = titles.index("mine")
        for _ in range(2):
            page.locator("#own-scores-table thead tr:last-child th").nth(column).locator("button").click()
            shown = page.evaluate(CELLS, ["own-scores", column])
            numbers = [text for text in shown if text != "—"]
            assert len(numbers) == 2
            assert shown == [*numbers, "—", "—"]

    def values(self, page: Any, name: str, column: int) -> list[float]:
        shown = page.evaluate(CELLS, [name, column])
        return [float(text.partition("±")[0].strip().replace(",", "")) for text in shown]


def test_a_link_of_a_score_leads_to_its_episodes(open_page: Open) -> None:
    page = open_page("own")
    page.locator("#own-scores-table td a").first.click()
    target = page.evaluate("location.hash.slice(1)")
    assert page.locator(f"[id='{target}'] a").count() == 6
    assert page.locator(f"[id='{target}']").is_visible()


class TestLatex:
    def compile(self, text: str, place: Path) -> str:
        """The log of a compilation that succeeds."""
        (place / "report.tex").write_text(text)
        done = subprocess.run(
            [program("pdflatex"), "-interaction=nonstopmode", "-halt-on-error", "report.tex"],
            cwd=place,
            capture_output=True,
            encoding="latin-1",
            timeout=120,
        )
        log = (place / "report.log").read_text(encoding="latin-1")
        assert done.returncode == 0, log[-2000:]
        assert (place / "report.pdf").stat().st_size > 10_000
        return log

    @pytest.mark.parametrize("name", ["paper", "own"])
    def test_it_compiles_and_everything_fits_the_page(
        self, documents: dict[str, Document], name: str, tmp_path: Path
    ) -> None:
        log = self.compile(to_latex(documents[name]), tmp_path)
        assert re.findall(r"^Overfull .*", log, re.MULTILINE) == []
        assert re.findall(r"^LaTeX Warning: .*(?:undefined|multiply).*", log, re.MULTILINE) == []

    def test_names_with_special_characters_compile(self, tmp_path: Path) -> None:
        names = ["[a]", "*b", "c|d", "~^{}$#%&_\\e", "f`g'h", '"i" <j>', "ä € 火 π", "k -- l", "?`m"]
        lines = [f"{quoted(name)},{game},0,0,evaluation,1" for name in names for game in ("pong", "breakout")]
        (tmp_path / "table.csv").write_text("\n".join(["agent,game,trial,episode,phase,score", *lines]))
        document = report_of(tmp_path / "table.csv", title="100% [of] *it*")
        assert re.findall(r"^Overfull .*", self.compile(to_latex(document), tmp_path), re.MULTILINE) == []


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
