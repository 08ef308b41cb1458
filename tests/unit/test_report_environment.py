"""Templates that were compiled once are not compiled again, and a cache that fails costs no page."""

from pathlib import Path

import jinja2
import pytest

from assay.report.environment import environment

PAGE = "report.html"


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def compiled(monkeypatch: pytest.MonkeyPatch) -> int:
    """How many templates are compiled to have a page's."""
    count = []
    compile_one = jinja2.Environment.compile

    def counting(*given: object, **named: object) -> object:
        count.append(given)
        return compile_one(*given, **named)  # type: ignore[call-overload]

    with monkeypatch.context() as patched:
        patched.setattr(jinja2.Environment, "compile", counting)
        environment().get_template(PAGE)
    return len(count)


@pytest.mark.usefixtures("cache")
def test_a_template_is_compiled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [compiled(monkeypatch), compiled(monkeypatch)] == [1, 0]


@pytest.mark.parametrize("kept", [b"", b"something else", None], ids=["empty", "other", "torn"])
def test_what_is_damaged_is_compiled_again(
    kept: bytes | None, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert compiled(monkeypatch) == 1
    (file,) = (cache / "report").glob("template-*")
    whole = file.read_bytes()
    for length in (len(whole) // 2, 20, 12) if kept is None else (0,):
        file.write_bytes(whole[:length] if kept is None else kept)
        assert compiled(monkeypatch) == 1
        assert file.read_bytes() == whole


def test_without_a_cache_it_is_compiled_each_time(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.write_text("no folder", encoding="utf-8")
    assert [compiled(monkeypatch), compiled(monkeypatch)] == [1, 1]
