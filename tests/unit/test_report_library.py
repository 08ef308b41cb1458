"""The library of the page's figures is put together once and kept."""

from functools import cache
from pathlib import Path

import pytest
import vl_convert

from assay.report import vega


def test_the_library_is_kept_and_a_torn_copy_is_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path))
    bundle = cache(vl_convert.javascript_bundle)  # it takes two seconds
    monkeypatch.setattr(vl_convert, "javascript_bundle", bundle)
    vega.library.cache_clear()
    made = vega.library()
    (kept,) = (tmp_path / "report").iterdir()
    monkeypatch.setattr(vl_convert, "javascript_bundle", lambda *_, **__: pytest.fail("put together again"))
    vega.library.cache_clear()
    assert vega.library() == made
    monkeypatch.setattr(vl_convert, "javascript_bundle", bundle)
    kept.write_bytes(kept.read_bytes()[:1000])
    vega.library.cache_clear()
    assert vega.library() == made


def test_a_cache_that_cannot_be_written_stops_no_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "file"))
    monkeypatch.setattr(vl_convert, "javascript_bundle", lambda *_, **__: "vega")
    vega.library.cache_clear()
    assert vega.library().text
    vega.library.cache_clear()
