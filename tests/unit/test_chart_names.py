"""Names of rows in charts: on a phone a long one stands whole, in two lines."""

import re
from collections.abc import Callable

import pytest

from assay.report import vega
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
