"""The chart of a run over time: its units, its panels, and the ends of their axes."""

from typing import Any

import msgspec
import pytest

from assay.report.charts.theme import COLOURS
from assay.topics.health.ranked import Node, ranked
from assay.topics.health.strips import Dot, Share, cumulative, strips
from assay.topics.health.timeline import DISTURBED, QUIET, Span, timeline

Spec = dict[str, Any]
QUIET_SPAN = Span(0.0, 10.0, "stream", QUIET, "l1", QUIET, None, None, None, None, None)


def span(**changed: object) -> Span:
    return msgspec.structs.replace(QUIET_SPAN, **changed)


def drawn(*spans: Span, crowded: float = 5.0) -> list[Spec]:
    panels: list[Spec] = timeline(list(spans), crowded)["vconcat"]
    return panels


def titles(*spans: Span) -> list[str]:
    return [str(each.get("title", "")) for each in drawn(*spans)]


def y_domain(panel: Spec) -> list[float]:
    domain: list[float] = panel["layer"][0]["encoding"]["y"]["scale"]["domain"]
    return domain


@pytest.mark.parametrize(("end", "unit", "word"), [(600.0, 1, "(s)"), (600.1, 60, "(min)")])
def test_a_run_of_more_than_ten_minutes_has_an_axis_in_minutes(end: float, unit: int, word: str) -> None:
    spans = [span(start=30.0, end=90.0), span(start=90.0, end=end), span(start=95.0, end=99.0)]
    spec = timeline(spans, 5.0)
    rows = spec["data"]["values"]
    assert [(row["start"], row["end"]) for row in rows] == [(each.start / unit, each.end / unit) for each in spans]
    x = spec["vconcat"][-1]["layer"][0]["encoding"]["x"]
    assert x["scale"]["domain"] == [0, end / unit]
    assert word in x["axis"]["title"]
    assert x["axis"]["labels"]
    assert x["axis"]["ticks"]


def test_only_the_last_panel_has_an_axis_of_time() -> None:
    panels = drawn(span(foreign=1.0, clock=3.0))
    assert len(panels) == 3
    labelled = [
        layer["encoding"]["x"]["axis"]["labels"]
        for panel in panels
        for layer in panel["layer"]
        if "x" in layer["encoding"]
    ]
    assert labelled == [False, False, False, False, True]


def test_a_panel_is_drawn_for_what_was_measured_in_any_launch() -> None:
    assert len(titles(span())) == 1
    assert titles(span(), span(foreign=0.0))[1:] == ["used by other processes (% of cpu time)"]
    assert titles(span(), span(steal=0.0))[1:] == ["taken by the hypervisor (%)"]
    assert titles(span(), span(clock=3.0))[1:] == ["clock under load (GHz)"]
    assert len(titles(span(before=30.0))) == 1
    assert titles(span(), span(before=30.0, after=31.0))[1:] == ["cache-line transfer of the probe, one way (ns)"]


def test_each_program_has_a_row() -> None:
    (one,), (two,) = drawn(span(), span()), drawn(span(), span(program="memcpy"), span())
    assert two["height"] == 2 * one["height"] > 0
    assert two["layer"][0]["encoding"]["y"]["sort"] == ["stream", "memcpy"]


def test_disturbed_launches_have_their_own_colour_and_a_cross() -> None:
    (panel,) = drawn(span(state=DISTURBED))
    bar, _, cross = panel["layer"]
    assert bar["encoding"]["color"]["scale"] == {"domain": [QUIET, DISTURBED], "range": COLOURS[:2]}
    assert cross["transform"] == [{"filter": {"field": "state", "equal": DISTURBED}}]


@pytest.mark.parametrize(
    ("shares", "crowded", "top"),
    [((0.1, 0.2), 0.5, 1.0), ((2.0, 10.0), 5.0, 11.0), ((2.0, 3.0), 5.0, 7.0)],
)
def test_shares_reach_over_the_largest_and_over_the_border(
    shares: tuple[float, float], crowded: float, top: float
) -> None:
    foreign, steal = (
        drawn(*(span(**{name: each}) for each in shares), crowded=crowded)[1] for name in ("foreign", "steal")
    )
    assert y_domain(foreign) == [0, pytest.approx(top)]
    assert y_domain(steal) == [0, pytest.approx(max(1.0, 1.1 * shares[1]))]
    assert [len(each["layer"]) for each in (foreign, steal)] == [2, 1]
    assert foreign["layer"][1]["data"]["values"] == [{"foreign": crowded}]
    assert foreign["layer"][0]["encoding"]["y2"] == {"datum": 0}


@pytest.mark.parametrize(
    ("before", "after", "scale"),
    [
        (10.0, 30.0, {"zero": True, "domain": [0, pytest.approx(34.5)]}),
        (10.0, 30.1, {"type": "log", "nice": False, "domain": [8.0, pytest.approx(37.625)]}),
    ],
)
def test_probes_that_differ_by_more_than_three_have_a_logarithmic_axis(
    before: float, after: float, scale: Spec
) -> None:
    panel = drawn(span(before=before, after=before), span(before=before, after=after))[-1]
    assert panel["layer"][0]["encoding"]["y"]["scale"] == scale


@pytest.mark.parametrize(("after", "is_long"), [(1000.0, False), (1000.1, True)])
def test_probes_beyond_a_microsecond_have_their_own_words(after: float, *, is_long: bool) -> None:
    panel = drawn(span(before=20.0, after=after))[-1]
    axis = panel["layer"][0]["encoding"]["y"]["axis"]
    assert ("labelExpr" in axis) == is_long
    assert (axis.get("values") == [100.0, 1000.0]) == is_long
    assert ("(ns)" in panel["title"]) != is_long


@pytest.mark.parametrize(("launches", "layers"), [(250, 2), (251, 1)])
def test_probes_of_many_launches_have_no_points(launches: int, layers: int) -> None:
    panel = drawn(*[span(before=20.0, after=21.0)] * launches)[-1]
    assert len(panel["layer"]) == layers


def test_times_in_tooltips_of_probes_have_three_digits() -> None:
    panel = drawn(span(before=20.0, after=21.0))[-1]
    formats = {line["field"]: line.get("format") for line in panel["layer"][0]["encoding"]["tooltip"]}
    assert formats == {"launch": None, "before": ",.3r", "after": ",.3r", "note": None}


def test_nodes_are_ranked_from_1_and_the_first_has_its_name() -> None:
    nodes = [Node(name, value, f"{value} s", "range") for name, value in (("n3", 9.0), ("n1", 5.0), ("n2", 4.0))]
    spec = ranked(nodes, "time (s)")
    assert [(row["rank"], row["name"], row["value"]) for row in spec["data"]["values"]] == [
        (1, "n3", 9.0),
        (2, "", 5.0),
        (3, "", 4.0),
    ]
    y = spec["encoding"]["y"]
    assert (y["axis"]["title"], y["scale"]["zero"]) == ("time (s)", False)


def test_dots_of_a_row_stand_by_their_block_in_the_order_of_numbers() -> None:
    dots = [Dot(row, block, 1.0, "1.000", "l") for row in ("b", "a") for block in ("10", "2", "9")]
    spec = strips(dots, "title")
    places = {(row["row"], row["series"]): (row["slot"], row["within"]) for row in spec["data"]["values"]}
    assert places == {
        (name, block): (slot, pytest.approx((at + 0.5) / 3))
        for slot, name in enumerate(("b", "a"))
        for at, block in enumerate(("2", "9", "10"))
    }
    one = strips([each for each in dots if each.row == "a"], "title")
    assert spec["height"] == 2 * one["height"] > 0
    assert spec["usermeta"]["narrow_height"] == 2 * one["usermeta"]["narrow_height"] > 0
    names = [layer["data"]["values"] for layer in spec["layer"] if "data" in layer]
    assert [{"value": 1}] in names  # the line of the median
    assert [{"row": "b", "slot": 0.5, "line": 0}, {"row": "a", "slot": 1.5, "line": 1}] in names
    assert [{"row": "a", "slot": 1.5, "line": 1}] in names


@pytest.mark.parametrize(("blocks", "has_legend"), [(1, False), (2, True)])
def test_blocks_have_a_legend_if_there_are_several(blocks: int, *, has_legend: bool) -> None:
    spec = strips([Dot("a", str(block), 1.0, "1.000", "l") for block in range(blocks)], "title")
    (layer,) = (each for each in spec["layer"] if "transform" in each)
    assert (layer["encoding"]["color"]["legend"] is not None) == has_legend


def test_cumulative_curves_show_shares_of_their_cases() -> None:
    spec = cumulative([Share("a", 1.0, 50.0), Share("a", 1.2, 99.0)], "title")
    assert [(row["value"], row["share"]) for row in spec["data"]["values"]] == [(1.0, 50.0), (1.2, 99.0)]


@pytest.mark.parametrize(
    ("values", "ends"), [((1.0, 1.01), (0.98 / 1.01, 1.02 * 1.01)), ((0.9, 1.3), (0.9 / 1.01, 1.3 * 1.01))]
)
def test_ratios_have_an_axis_around_1_that_reaches_beyond_them(
    values: tuple[float, float], ends: tuple[float, float]
) -> None:
    spec = cumulative([Share("a", value, 50.0) for value in values], "title")
    assert spec["layer"][0]["encoding"]["x"]["scale"]["domain"] == pytest.approx(list(ends))
    assert spec["layer"][0]["encoding"]["y"]["scale"]["domain"] == [0, 100]
