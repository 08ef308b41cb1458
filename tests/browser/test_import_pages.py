"""Pages of imports in a real Chromium: what figures show is said first, patterns of other tools are drawn."""

from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.browser.pages import Look, choose
from tests.undrawn import undrawn_charts
from tests.unit.test_import_imb_ranks import SEVERAL

from assay.cli import assay

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("imports")


def written(folder: Path, run: str) -> Path:
    path = folder / f"{run}.html"
    with undrawn_charts():
        result = CliRunner().invoke(assay, ["report", run, "-o", str(path)])
    assert result.exit_code == 0, result.output
    return path


@pytest.fixture(scope="module")
def published(folder: Path) -> Path:
    return written(folder, "epyc-7601")


@pytest.fixture(scope="module")
def of_ranks(folder: Path) -> Path:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ASSAY_RUNS", str(folder / "runs"))
        (folder / "imb.txt").write_text(SEVERAL, "utf-8")
        result = CliRunner().invoke(assay, ["import", "imb", str(folder / "imb.txt")])
        assert result.exit_code == 0, result.output
        return written(folder, result.stdout.strip())


@pytest.mark.parametrize(("language", "width"), [("en", 1280), ("en", 390), ("ja", 390), ("ru", 390)])
def test_the_first_page_says_what_published_figures_show(
    look: Look, published: Path, language: str, width: int
) -> None:
    opened = look(published, width)
    page = opened.page
    choose(page, language)
    assert opened.messages == []
    said = page.locator("#in-words .said").first.inner_text().replace("\u00a0", " ")
    for figure in ("24.7", "12.4", "6.80", "12.1"):
        assert (figure.replace(".", ",") if language == "ru" else figure) in said
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("width", [390, 1280])
def test_sendrecv_and_exchange_have_a_curve_for_each_number_of_ranks(
    look: Look, of_ranks: Path, width: int
) -> None:
    opened = look(of_ranks, width)
    page = opened.page
    for pattern in ("sendrecv", "exchange"):
        figure = page.locator(f"#figure-messages-{pattern}")
        figure.scroll_into_view_if_needed()
        for ranks in ("2 ranks", "4 ranks"):
            figure.locator(".live").get_by_text(ranks, exact=False).first.wait_for()
        assert figure.locator(".live .mark-symbol path").count() >= 15
    assert opened.messages == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_sizes_that_name_rows_are_in_the_units_of_the_language(look: Look, of_ranks: Path) -> None:
    page = look(of_ranks).page
    choose(page, "ru")
    heads = page.locator("#messages tbody th").all_text_contents()
    assert any(head.replace("\u00a0", " ") == "64 КиБ" for head in heads)
