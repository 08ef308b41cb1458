"""Several systems in a real Chromium: their page, and published curves that a reader lays beside a figure."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser
from tests.browser.pages import open_page
from tests.undrawn import undrawn_charts
from tests.unit.test_compare_curves import published
from tests.unit.test_report_messages import example

from assay.compare import page as compare_page
from assay.report import html

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def side_by_side(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("several") / "several.html"
    path.write_text(compare_page.render(published("hpcdiy-qdr", "hpcdiy-gbe")), "utf-8")
    return path


@pytest.fixture(scope="module")
def of_messages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    here = example(tmp_path_factory.mktemp("messages"))
    path = tmp_path_factory.mktemp("several") / "messages.html"
    with undrawn_charts():
        path.write_text(html.render(here.run, here.analysis), "utf-8")
    return path


@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_of_several_is_alive_fits_and_asks_for_nothing(
    browser: Browser, side_by_side: Path, width: int
) -> None:
    opened = open_page(browser, side_by_side, width)
    page = opened.page
    assert opened.messages == []
    assert opened.requests == [side_by_side.as_uri()]
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    charts = page.locator(".chart")
    assert charts.count() == 8
    for number in range(charts.count()):
        shown, frame = charts.nth(number).locator(".live svg").bounding_box(), charts.nth(number).bounding_box()
        assert shown
        assert frame
        assert shown["width"] <= frame["width"] + 1
        assert charts.nth(number).locator(".live .mark-symbol path").count() > 10
    assert page.get_by_text("28.7 times as fast as Gigabit Ethernet at 4 MiB").first.is_visible()


def test_without_scripts_the_page_of_several_has_its_drawings_and_words(
    browser: Browser, side_by_side: Path
) -> None:
    page = open_page(browser, side_by_side, scripts=False).page
    assert page.locator(".chart .wide svg").first.is_visible()
    assert page.get_by_text("about 0.6 µs more").first.is_visible()
    names = [each.get_attribute("aria-label") or "" for each in page.get_by_role("img").all()]
    assert all("InfiniBand" in name or "Gigabit" in name or "two" in name for name in names)


@pytest.mark.parametrize("width", [1280, 390])
def test_a_reader_lays_published_curves_beside_a_figure_and_takes_them_away(
    browser: Browser, of_messages: Path, width: int
) -> None:
    opened = open_page(browser, of_messages, width)
    page = opened.page
    figure = page.locator("figure[id^='figure-messages-latency']:has(.published)").first
    marks = figure.locator(".live .mark-symbol path")
    before = marks.count()
    figure.locator(".published summary").click()
    box = figure.get_by_label("hpcdiy-gbe: two nodes", exact=True)
    box.check()
    figure.locator(".live").get_by_text("hpcdiy-gbe: two nodes").wait_for()
    assert marks.count() >= before + 23
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    box.uncheck()
    figure.locator(".live").get_by_text("hpcdiy-gbe: two nodes").wait_for(state="detached")
    assert marks.count() == before
    assert opened.requests == [of_messages.as_uri()]
