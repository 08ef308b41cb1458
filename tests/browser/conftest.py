"""One Chromium for the tests of a module."""

import shutil
from collections.abc import Hashable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright
from tests.browser.pages import Look, Opened, open_page

#: The first that is on PATH; the one without windows works a tenth less for the same pages.
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
#: What hangs down from the line of addresses is a page, too, and a process waits for the next page: each window
#: would have both. The others are those that Playwright forgoes.
_SPARED = ("WebUIOmniboxPopup", "WebUIOmniboxAimPopup", "SpareRendererForSitePerProcess")
_FORGONE = ("AimEnabled", "HttpsUpgrades", "MediaRouter", "OptimizationHints", "PaintHolding")
_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    f"--disable-features={','.join((*_SPARED, *_FORGONE))}",
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
    """The page that several tests look at, one after the other."""
    return {}


@pytest.fixture(autouse=True)
def _closed(browser: Browser, kept: dict[Hashable, Opened]) -> Iterator[None]:
    """Pages that stay open go on drawing."""
    yield
    shown = [opened.page.context for opened in kept.values()]
    for context in browser.contexts:
        if context not in shown:
            context.close()


@pytest.fixture
def look(browser: Browser, kept: dict[Hashable, Opened]) -> Look:
    """A page for tests that only look at it: the last one again where it is the same: loading takes longest."""

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
