"""The report in a real Chromium: with scripts and without, wide and narrow, light and dark, on paper."""

import base64
import csv
import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page
from tests.browser.pages import LIVE, Look, choose, open_page
from tests.undrawn import undrawn_charts
from tests.unit.report_example import example
from tests.unit.report_node import node

from assay import store
from assay.analyse import analyse
from assay.model.run import Run
from assay.report import html
from assay.report.languages import Catalogue

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    here = example()
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(html.render(here.run, here.analysis), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def of_a_node(tmp_path_factory: pytest.TempPathFactory) -> Path:
    here = node(tmp_path_factory.mktemp("node"))
    path = tmp_path_factory.mktemp("report") / "node.html"
    with undrawn_charts():
        path.write_text(html.render(here.run, here.analysis), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of a real node."""
    run = store.load(Path(__file__).parents[1] / "runs" / "node.tar.xz")
    path = tmp_path_factory.mktemp("report") / "packed.html"
    with undrawn_charts():
        path.write_text(html.render(run, analyse(run)), encoding="utf-8")
    return path


def test_it_says_nothing_on_the_console_and_asks_for_nothing(look: Look, report: Path) -> None:
    opened = look(report)
    assert opened.messages == []
    assert opened.requests == [report.as_uri()]


def test_every_figure_becomes_a_live_chart_with_marks_and_tooltips(look: Look, report: Path) -> None:
    page = look(report).page
    charts = page.locator(".chart")
    assert charts.count() == 6
    for number in range(charts.count()):
        chart = charts.nth(number)
        assert chart.locator(".live svg .mark-symbol path").count() > 2
        assert not chart.locator(".static").first.is_visible()
    page.locator("#figure-memcpy .live .mark-symbol path").nth(4).hover()
    tooltip = page.locator("#vg-tooltip-element.visible")
    tooltip.wait_for()
    words = tooltip.inner_text()
    assert "hot buffers" in words
    assert "95 % interval, 6 launches" in words
    assert "16 B" in words


def test_every_figure_has_words_for_those_who_cannot_see_it(look: Look, report: Path) -> None:
    page = look(report).page
    images = page.get_by_role("img")
    assert images.count() == 6
    names = [images.nth(number).get_attribute("aria-label") or "" for number in range(6)]
    assert all(len(name) > 30 for name in names)
    assert any("42.2 GB/s" in name for name in names)
    for landmark in ("banner", "navigation", "main", "contentinfo"):
        assert page.get_by_role(landmark).count() == 1


def test_raw_samples_can_be_taken_from_the_page(look: Look, report: Path, tmp_path: Path) -> None:
    page = look(report).page
    with page.expect_download() as download:
        page.get_by_role("button", name="Raw samples (CSV)").click()
    target = tmp_path / "samples.csv"
    download.value.save_as(target)
    with target.open(newline="") as lines:
        rows = [row for row in csv.DictReader(lines) if row["case"]]
    assert [(row["kernel"], row["phase"], int(row["nanoseconds"])) for row in rows] == _samples(example().run)


def _samples(run: Run) -> list[tuple[str, str, int]]:
    return [
        (series.kernel, series.phase, round(seconds * 1e9))
        for records in run.launches
        for case in records.cases
        for series in case.series
        for seconds in series.seconds
    ]


_CONTRAST = """
() => {
  const light = (rgb) => {
    const [r, g, b] = rgb.match(/[\\d.]+/g).slice(0, 3).map(v => v / 255)
      .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const paper = (each) => {
    for (let at = each; at; at = at.parentElement) {
      const colour = getComputedStyle(at).backgroundColor;
      if (!/, 0\\)|transparent/.test(colour)) return colour;
    }
    return 'rgb(255, 255, 255)';
  };
  const worst = {};
  for (const each of document.querySelectorAll('p, li, td, th, h1, h2, h3, dd, dt, figcaption, a, svg text')) {
    if (!each.checkVisibility({ visibilityProperty: true }) || !each.textContent.trim()) continue;
    const style = getComputedStyle(each);
    const ink = light(each instanceof SVGElement ? style.fill : style.color);
    const back = light(paper(each));
    const ratio = (Math.max(ink, back) + 0.05) / (Math.min(ink, back) + 0.05);
    const name = each.tagName + '.' + (each.closest('[class]')?.getAttribute('class') ?? '');
    if (ratio < 4.5) worst[name] = ratio;
  }
  return worst;
}
"""


#: How light or dark a page is: red, green and blue.
_SHADE = "getComputedStyle(document.body).backgroundColor.match(/[0-9]+/g).slice(0, 3).map(Number)"


@pytest.mark.parametrize(("scheme", "shade"), [("light", range(255, 256)), ("dark", range(60))])
def test_all_text_has_the_contrast_that_reading_needs_and_dark_mode_is_dark(
    look: Look, report: Path, scheme: str, shade: range
) -> None:
    page = look(report, scheme=scheme).page
    assert page.evaluate(_CONTRAST) == {}
    assert set(page.evaluate(_SHADE)) <= set(shade)


def test_on_paper_everything_is_light_and_the_navigation_is_gone(look: Look, report: Path) -> None:
    page = look(report, scheme="dark").page
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not page.locator("nav").is_visible()
    folded = page.locator("#all-figures table").first.bounding_box()
    assert folded
    assert folded["height"] > 40
    assert page.locator(".chart svg").first.count() == 1
    page.emulate_media(media="screen")


def test_without_scripts_drawings_and_tables_stand(browser: Browser, report: Path) -> None:
    page = open_page(browser, report, scripts=False).page
    for number in range(4):
        drawing = page.locator(".chart").nth(number).locator(".wide svg")
        assert drawing.is_visible()
        assert drawing.locator(".mark-symbol path").count() > 2
    assert page.locator(".machine li").first.is_visible()
    page.locator("#memory-bandwidth summary", has_text="Table of").click()
    assert page.get_by_role("table", name="Memory bandwidth (STREAM): median").is_visible()
    assert page.locator("#all-figures tbody tr").count() == len(example().analysis.estimates)
    assert not page.locator("button").first.is_visible()


#: What a reader wants before any scrolling; on a phone the first bar is enough.
_WIDE = (".usable", ".headlines li:last-child", ".verdict:is(.wrong, .fine) :is(li, p)", ".verdict.next code")
_PHONE = (".usable", ".headlines li:first-child", ".verdict:is(.wrong, .fine) :is(li, p)", ".verdict.next code")


def test_the_first_screen_says_whether_to_use_figures_what_is_wrong_and_what_to_type(
    browser: Browser, packed: Path
) -> None:
    page = open_page(browser, packed).page
    assert 500 < len(page.inner_text("body").split()) <= 3500
    for width, height, parts in ((1280, 900, _WIDE), (390, 844, _PHONE)):
        page.set_viewport_size({"width": width, "height": height})
        for part in parts:
            box = page.locator(f"#summary {part}").first.bounding_box()
            assert box
            assert box["y"] + box["height"] <= height, part
            assert box["x"] + box["width"] <= width, part
        beside = ("value", "limit")
        figure, share = (page.locator(f"#summary .headlines .{each}").first.bounding_box() for each in beside)
        assert figure
        assert share
        assert share["y"] < figure["y"] + figure["height"]  # a number and its share stand beside each other
        assert figure["y"] < share["y"] + share["height"]


@pytest.mark.parametrize("scripts", [True, False])
def test_the_page_never_scrolls_sideways(browser: Browser, report: Path, *, scripts: bool) -> None:
    page = open_page(browser, report, 320, scripts=scripts).page
    for opened in ("false", "true"):
        page.evaluate(f"document.querySelectorAll('details').forEach(each => {{ each.open = {opened}; }})")
        for width in (320, 390, 800, 1280):
            page.set_viewport_size({"width": width, "height": 900})
            assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_on_a_phone_a_table_that_goes_on_has_a_shadow_at_its_edge(
    browser: Browser, report: Path, scheme: str
) -> None:
    page = open_page(browser, report, 390, scheme, scripts=False).page  # scripts make cards of its rows
    page.locator("#memory-bandwidth summary", has_text="Table of").click()
    table = page.locator("#memory-bandwidth .scroll").first
    assert table.evaluate("each => each.scrollWidth > each.clientWidth + 20")
    paper = page.evaluate("Number(getComputedStyle(document.body).backgroundColor.match(/[0-9]+/)[0])")
    beyond = _edge(page, table)
    table.evaluate("each => { each.scrollLeft = each.scrollWidth; }")
    assert _edge(page, table) == paper
    assert abs(beyond - paper) > 30


_LAST_COLUMN = """
async (picture) => {
  const bytes = Uint8Array.from(atob(picture), (letter) => letter.charCodeAt(0));
  const drawn = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
  const canvas = new OffscreenCanvas(drawn.width, drawn.height).getContext("2d");
  canvas.drawImage(drawn, 0, 0);
  const column = canvas.getImageData(drawn.width - 2, 0, 1, drawn.height).data;
  const reds = Array.from({ length: drawn.height }, (_, at) => column[4 * at]).sort((a, b) => a - b);
  return reds[reds.length >> 1];
}
"""


def _edge(page: Page, table: Locator) -> int:
    """How red the last column of pixels of a table is, in the middle of all its rows: between the letters."""
    red: int = page.evaluate(_LAST_COLUMN, base64.b64encode(table.screenshot()).decode())
    return red


def test_on_a_phone_figures_fit_and_their_text_is_readable(browser: Browser, report: Path) -> None:
    page = open_page(browser, report, 390).page
    for number in range(4):
        chart = page.locator(".chart").nth(number)
        shown = chart.locator(".live svg")
        box, frame = shown.bounding_box(), chart.bounding_box()
        assert box
        assert frame
        assert box["width"] <= frame["width"] + 1
        sizes = shown.locator("text").evaluate_all(
            "all => all.map(each => parseFloat(getComputedStyle(each).fontSize) * "
            "each.ownerSVGElement.getScreenCTM().a)"
        )
        assert min(sizes) >= 9


def every_figure_is_alive_quiet_and_fits(look: Look, path: Path, width: int, scheme: str) -> None:
    opened = look(path, width, scheme)
    page = opened.page
    assert opened.messages == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true; })")
    charts = page.locator(".chart")
    assert charts.count() == path.read_text("utf-8").count('<figure id="figure-') > 12
    for number in range(charts.count()):
        shown, frame = charts.nth(number).locator(".live svg").bounding_box(), charts.nth(number).bounding_box()
        assert shown
        assert frame
        assert shown["width"] <= frame["width"] + 1
        assert shown["height"] > 60
        assert charts.nth(number).locator(".live svg path, .live svg line").count() > 2
        assert len(charts.nth(number).get_attribute("aria-label") or "") > 30


def test_on_a_phone_in_the_dark_every_figure_of_a_node_is_alive_quiet_and_fits(
    look: Look, of_a_node: Path
) -> None:
    every_figure_is_alive_quiet_and_fits(look, of_a_node, 390, "dark")


def test_in_no_language_the_page_scrolls_sideways(look: Look, of_a_node: Path) -> None:
    page = look(of_a_node, 390, "dark").page
    page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true; })")
    for language, widths in (("ja", (390, 1280)), ("ru", (1280, 390))):
        choose(page, language)
        for width in widths:
            page.set_viewport_size({"width": width, "height": 900})
            assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_on_a_desk_every_figure_of_a_node_is_alive_quiet_and_fits(look: Look, of_a_node: Path) -> None:
    every_figure_is_alive_quiet_and_fits(look, of_a_node, 1280, "light")


def test_charts_speak_the_language_too(look: Look, of_a_node: Path) -> None:
    page = look(of_a_node).page
    labels = page.locator("#figure-saturation .live svg")
    assert _RUSSIAN not in (labels.text_content() or "")
    choose(page, "ru")
    page.locator("#figure-saturation .live svg text", has_text=_RUSSIAN).first.wait_for()


def test_the_keyboard_reaches_the_report_its_figures_and_its_tables(browser: Browser, report: Path) -> None:
    page = open_page(browser, report).page
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the report"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "content"
    seen = set()
    for _ in range(60):
        page.keyboard.press("Tab")
        seen.add(page.evaluate("document.activeElement.className.split(' ')[0] || document.activeElement.tagName"))
    assert {"canvas", "scroll", "SUMMARY", "BUTTON"} <= seen


def test_a_link_to_a_figure_opens_the_table_that_holds_it(browser: Browser, report: Path) -> None:
    page = open_page(browser, report).page
    row = page.locator("#all-figures tbody tr").first
    assert not row.is_visible()
    page.locator("#memory-bandwidth summary", has_text="Table of").click()
    page.locator("#memory-bandwidth tbody a").first.click()
    page.locator("tr:target").wait_for(state="visible")


def test_a_script_in_a_name_does_not_run(browser: Browser, tmp_path: Path) -> None:
    here = example(host="<img src=x onerror=alert(1)><script>alert(2)</script>")
    path = tmp_path / "hostile.html"
    path.write_text(html.render(here.run, here.analysis), encoding="utf-8")
    opened = open_page(browser, path)
    assert opened.messages == []
    assert opened.requests == [path.as_uri()]


#: GB/s in Russian.
_RUSSIAN = "ГБ/с"  # noqa: RUF001 (Cyrillic is meant)


def test_a_reader_chooses_the_language_and_the_page_keeps_it(browser: Browser, report: Path) -> None:
    opened = open_page(browser, report)
    page, heading = opened.page, opened.page.locator("#summary-title")
    tile = page.locator(".headlines .value > span").first
    english = page.locator("main").inner_text()
    value = tile.inner_text()
    assert page.locator("html").get_attribute("lang") == "en"
    assert re.fullmatch(r"\d+\.\d+", value)
    choose(page, "ru")
    assert heading.inner_text() == "Коротко о главном"  # noqa: RUF001 (Cyrillic is meant)
    assert tile.inner_text() == value.replace(".", ",")
    assert re.search(r"\[\d+,\d+; \d+,\d+\]|\d+,\d+…\d+,\d+", page.locator(".headlines .ends").first.inner_text())
    assert _RUSSIAN in page.locator(".headlines .unit").first.inner_text()
    assert page.locator("nav.contents").get_attribute("aria-label") == "Содержание"
    choose(page, "ja")
    assert heading.inner_text() == "概要"
    assert tile.inner_text() == value
    page.reload()
    page.wait_for_selector(LIVE, timeout=60_000)
    assert heading.inner_text() == "概要"
    choose(page, "en")
    assert page.locator("main").inner_text() == english
    assert opened.messages == []


def test_what_a_catalogue_lacks_is_english(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Catalogue, "forms", lambda _catalogue, template: template.split("|"))
    here = example()
    path = tmp_path / "lacking.html"
    path.write_text(html.render(here.run, here.analysis), encoding="utf-8")
    opened = open_page(browser, path)
    value = opened.page.locator(".headlines .value > span").first.inner_text()
    choose(opened.page, "ru")
    assert opened.page.locator("#summary-title").inner_text() == "At a glance"
    assert opened.page.locator(".headlines .value > span").first.inner_text() == value.replace(".", ",")
    assert opened.messages == []


def test_the_page_opens_in_the_language_that_was_asked_for(browser: Browser, tmp_path: Path) -> None:
    here = example()
    path = tmp_path / "ja.html"
    path.write_text(html.render(here.run, here.analysis, "ja"), encoding="utf-8")
    assert open_page(browser, path).page.locator("html").get_attribute("lang") == "ja"
    assert open_page(browser, path, scripts=False).page.locator("html").get_attribute("lang") == "en"
