"""Names in charts: rows of a long name in two lines on a phone; every axis with its title and ticks."""

import re
from collections.abc import Callable

import pytest

from assay.report import vega
from assay.report.charts.curve import UNGUIDED, CurvePoint, Guides, curve
from assay.report.charts.intervals import Point, intervals
from assay.report.charts.shares import Share, shares
from assay.report.charts.theme import Spec, narrowed

NAMES = ("n 8192, all@2, 2 x 2 ranks", "n 3072, rank-per:l3, 1 x 1 ranks", "n 4096, all, 1 x 2 ranks", "all")


def bars() -> Spec:
    return shares([Share(name, "update", 0, 100, "100 %") for name in NAMES], "share (%)")


def bands() -> Spec:
    points = [Point(name, "measured", 1, 1, 1, None, "1", "1", "", band=(0, 2)) for name in NAMES]
    return intervals(points, "rate", "predicted")


@pytest.mark.parametrize("made", [bars, bands])
def test_a_long_name_is_whole_on_a_page_and_on_a_phone(made: Callable[[], Spec]) -> None:
    page, phone = (re.sub("<[^>]*>", "\n", vega.plain(spec)) for spec in (made(), narrowed(made())))
    assert "…" not in page + phone
    assert all(f"\n{name}\n" in page for name in NAMES)
    for name in NAMES[:-1]:
        n, placement, grid = name.split(", ")
        assert f"\n{n}, {placement}\n" in phone
        assert f"\n{grid}\n" in phone
    assert "\nall\n" in phone


@pytest.mark.parametrize(
    ("guides", "ticks"), [(UNGUIDED, ("10", "100")), (Guides(second=("cycles", 3.0)), ("10", "100", "500"))]
)
def test_a_curve_has_its_axes_with_ticks_and_titles(guides: Guides, ticks: tuple[str, ...]) -> None:
    points = [CurvePoint(2.0**at, "a", "", 2.0**at, 2.0**at, 2.0**at, "", "", "") for at in range(3, 9)]
    spec = curve(points, ("size", "time"), guides)
    for drawn in (spec, narrowed(spec)):
        words = re.sub("<[^>]*>", "\n", vega.plain(drawn)).split("\n")
        assert {"size", "time", *ticks} <= set(words)
        assert words.count("time") == 1
        assert ("cycles" in words) == bool(guides.second)
