"""Pages in a real Chromium as tests open them."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from playwright.sync_api import Browser, Page

#: A page whose charts are drawn by its script.
LIVE = "html[data-figures=live]"


@dataclass
class Opened:
    """A page with all of its messages and requests."""

    page: Page
    messages: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


#: Path, width and colour scheme -> a page that is not closed between tests.
Look = Callable[..., Opened]


def open_page(
    browser: Browser, path: Path, width: int = 1280, scheme: str = "light", *, scripts: bool = True
) -> Opened:
    context = browser.new_context(
        viewport={"width": width, "height": 900},
        color_scheme=scheme,  # type: ignore[arg-type]
        java_script_enabled=scripts,
    )
    opened = Opened(context.new_page())
    opened.page.on("console", lambda message: opened.messages.append(f"{message.type}: {message.text}"))
    opened.page.on("pageerror", lambda error: opened.messages.append(str(error)))
    opened.page.on("request", lambda request: opened.requests.append(request.url))
    opened.page.goto(path.as_uri())
    if scripts:
        opened.page.wait_for_selector(LIVE, timeout=60_000)
    return opened


def choose(page: Page, language: str) -> None:
    page.locator(f"[data-language={language}]").click()
    page.wait_for_function("name => document.documentElement.lang === name", arg=language)
