"""The library of the page's figures is put together once and kept."""

import os
from functools import cache
from pathlib import Path

import pytest
import vl_convert

from assay.report import vega
from assay.report.charts.theme import Spec, chart


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


def mark(kind: str) -> Spec:
    return chart([], [{"mark": kind}], height=1)


def drawings(folder: Path) -> list[Path]:
    return sorted((folder / "report" / "drawings").iterdir())


def test_a_chart_is_drawn_once_and_a_torn_copy_is_drawn_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path))
    drawn: list[str] = []

    def draw(spec: Spec, **_: object) -> str:
        drawn.append(spec["layer"][0]["mark"])
        return f"<svg>{drawn[-1]}</svg>"

    monkeypatch.setattr(vl_convert, "vegalite_to_svg", draw)
    for kind in ("point", "bar", "point", "bar"):
        assert vega.plain(mark(kind)) == f"<svg>{kind}</svg>"
    assert drawn == ["point", "bar"]
    for file in drawings(tmp_path):
        file.write_bytes(file.read_bytes()[:10])
    assert vega.plain(mark("bar")) == "<svg>bar</svg>"
    assert drawn == ["point", "bar", "bar"]


def test_drawings_of_another_version_are_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path))
    monkeypatch.setattr(vl_convert, "vegalite_to_svg", lambda *_, **__: "<svg>old</svg>")
    assert vega.plain(mark("point")) == "<svg>old</svg>"
    monkeypatch.setattr(vl_convert, "vegalite_to_svg", lambda *_, **__: "<svg>new</svg>")
    monkeypatch.setattr(vega, "_maker", lambda: "another")
    assert vega.plain(mark("point")) == "<svg>new</svg>"


def test_of_many_drawings_the_newer_half_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path))
    monkeypatch.setattr(vega, "_MOST_DRAWINGS", 4)
    vega.forget_drawings()
    folder = tmp_path / "report" / "drawings"
    folder.mkdir(parents=True)
    for at in range(5):
        vega.forget_drawings()
        assert len(drawings(tmp_path)) == at
        (folder / f"{at}").write_text("")
        os.utime(folder / f"{at}", (at, at))
    vega.forget_drawings()
    assert [file.name for file in drawings(tmp_path)] == ["3", "4"]
