"""One Chromium for the tests of a module."""

import shutil
from collections.abc import Hashable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright
from tests.browser.pages import Look, Opened, open_page

#: The first one on PATH; the headless shell needs a tenth less work for the same pages.
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
#: The page of address suggestions and the spare process for the next page, which each window would have.
_DISABLED_TOO = ("WebUIOmniboxPopup", "WebUIOmniboxAimPopup", "SpareRendererForSitePerProcess")
_DISABLED_BY_PLAYWRIGHT = ("AimEnabled", "HttpsUpgrades", "MediaRouter", "OptimizationHints", "PaintHolding")
_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    f"--disable-features={','.join((*_DISABLED_TOO, *_DISABLED_BY_PLAYWRIGHT))}",
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    chromium = next(filter(None, map(shutil.which, BROWSERS)), None)
    if chromium is None:
        pytest.skip("no Chromium on PATH")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=_FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def kept() -> dict[Hashable, Opened]:
    """One page for several tests, one after another."""
    return {}


@pytest.fixture(autouse=True)
def _closed(browser: Browser, kept: dict[Hashable, Opened]) -> Iterator[None]:
    """Let open pages continue to draw."""
    yield
    shown = [opened.page.context for opened in kept.values()]
    for context in browser.contexts:
        if context not in shown:
            context.close()


@pytest.fixture
def look(browser: Browser, kept: dict[Hashable, Opened]) -> Look:
    """A page for tests that only read it. The last page is reused if it is the same: loading is slow."""

    def opened(path: Path, width: int = 1280, scheme: str = "light") -> Opened:
        if (path, width, scheme) not in kept:
            for other in kept.values():
                other.page.context.close()
            kept.clear()
            kept[path, width, scheme] = open_page(browser, path, width, scheme)
        found = kept[path, width, scheme]
        found.page.set_viewport_size({"width": width, "height": 900})
        found.page.mouse.move(0, 0)
        return found

    return opened
