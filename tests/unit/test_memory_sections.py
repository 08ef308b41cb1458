"""Sections of memory on models by hand: shown cells are the figures of the models."""

from collections.abc import Sequence
from typing import Any, cast

import msgspec
import pytest
from tests.unit.law_evidence import measured, placed
from tests.unit.scene_by_hand import exactly, rows, scene

from assay.analyse.estimates import Measured
from assay.model.law import Point
from assay.model.placed import Placed
from assay.model.quantity import Quantity
from assay.model.result import Limit
from assay.topics.memory.models.loaded_latency import LoadedLatency
from assay.topics.memory.models.numa_matrix import NodeClass, NumaMatrix, RankCorrelation
from assay.topics.memory.sections import loaded_latency, numa

MIB = 2**20


def loaded(delay: int, *, rate: float, place: Placed, limit: float | None = None) -> list[Measured]:
    chase = measured(
        "loaded_latency", "chase", "latency", [1e-7] * 2, place, delay=delay, pages="small", bytes=MIB
    )
    load = measured(
        "loaded_latency", "load", "bandwidth", [rate] * 2, place, delay=delay, pages="small", bytes=MIB
    )
    known = Limit(limit, "measured", "the best", "memory") if limit else None
    return [chase, Measured(msgspec.structs.replace(load.estimate, limit=known), load.launches)]


def under_load(
    limits: Sequence[float | None], label: str = "all", *, bandwidth: float | None = 4e9, idle: float | None = 8e-8
) -> tuple[list[Measured], LoadedLatency]:
    place = placed(label, 0, 1)
    pairs = [
        loaded(delay, rate=rate, place=place, limit=limit)
        for delay, rate, limit in zip((20, 0), (1e9, 4e9), limits, strict=True)
    ]
    names = [chase.estimate.id for chase, _ in pairs]
    points = tuple(
        Point(name, {"delay": delay, "bandwidth": rate}, exactly(1e-7, "s"), 1.0)
        for name, delay, rate in zip(names, (20, 0), (1e9, 4e9), strict=True)
    )
    model = LoadedLatency(
        id=f"law/{label}",
        of=tuple(names),
        points=points,
        lightest=exactly(1e-7, "s"),
        loaded=exactly(2e-7, "s"),
        bandwidth=exactly(bandwidth, "B/s") if bandwidth else None,
        idle=exactly(idle, "s") if idle else None,
    )
    return [each for pair in pairs for each in pair], model


@pytest.mark.parametrize(
    ("limits", "places", "title"),
    [
        ((5e9, 5e9), [20.0, 80.0], "load: share of the memory bandwidth (%)"),
        ((5e9, 6e9), [1.0, 4.0], "load bandwidth (GB/s)"),
        ((5e9, None), [1.0, 4.0], "load bandwidth (GB/s)"),
        ((None, None), [1.0, 4.0], "load bandwidth (GB/s)"),
    ],
)
def test_loads_are_shares_of_their_limit_where_all_have_the_same(
    limits: Sequence[float | None], places: list[float], title: str
) -> None:
    figures, model = under_load(limits)
    (chart,) = loaded_latency.declared.charts(scene(figures, model, picked="loaded_latency"))
    points = chart.spec["data"]["values"]
    assert [row["x"] for row in points] == pytest.approx(places)
    assert title in str(chart.spec)
    assert "1.00 GB/s load; " in chart.result or "at 1.00 GB/s load" in chart.result


def test_rows_of_loaded_latency_are_the_figures_of_the_model() -> None:
    figures, model = under_load((5e9, 5e9))
    others, without = under_load((None, None), "half", bandwidth=None, idle=None)
    shown = rows(loaded_latency.declared.shared_tables[0], scene([*figures, *others], model, without))
    known, unknown = shown
    assert known[1:6] == (
        "80.0 ns [72.0, 88.0]",
        "",
        "200 ns [180, 220]",
        "2.50",
        "4.00 GB/s [3.60, 4.40]",
    )
    assert known[6].startswith("80 %")
    assert unknown[1:] == ("", "100 ns [90, 110]", "200 ns [180, 220]", "2.00", "not known", "")
    drawn = scene([*figures, *others], without, model)
    (headline,) = loaded_latency.declared.headlines(drawn)
    assert headline.estimate.id == model.points[-1].estimate
    assert not loaded_latency.declared.charts(scene(others, without))


def matrix(*, what: str = "latency", tau: float = 1.0, p: float = 0.01, away: bool = True) -> Any:  # noqa: ANN401
    cells = [(0, 0), (0, 1), (1, 0), (1, 1)]
    kernel, metric, benchmark = (
        ("chase", "latency", "latency") if what == "latency" else ("triad", "bandwidth", "stream")
    )
    figures = [
        measured(
            benchmark, kernel, metric, [1e-7] * 2, placed(f"all:numa:{cpu}", 2 * cpu, memory=f"bind:{memory}")
        )
        for cpu, memory in cells
    ]
    points = tuple(
        Point(
            each.estimate.id,
            cast("dict[str, Any]", {"cpu node": cpu, "memory node": memory})
            | {"class": "same node" if cpu == memory else "one hop"}
            | ({"distance": 10 + 11 * (cpu != memory) + cpu} if away else {}),
            exactly(1e-7, "s"),
            None,
        )
        for each, (cpu, memory) in zip(figures, cells, strict=True)
    )
    classes = (
        NodeClass("same node", exactly(8e-8, "s"), Quantity(1.0, 1.0, 1.0)),
        NodeClass("one hop", exactly(1.6e-7, "s"), Quantity(2.0, 1.5, 2.25)),
        NodeClass("two hops", exactly(9e-7, "s"), None),
    )
    model = NumaMatrix(
        id=f"numa-matrix/{what}/all:numa/x",
        of=tuple(each.estimate.id for each in figures),
        points=points,
        what=what,
        classes=classes,
        agreement=RankCorrelation(tau, p) if away else None,
    )
    return figures, model


def test_classes_of_pairs_show_distances_numbers_and_ratios() -> None:
    figures, model = matrix()
    shown = rows(numa.declared.shared_tables[0], scene(figures, model))
    assert [row[1:] for row in shown] == [
        ("same node", "10, 11", "2", "80.0 ns", "1.00 (1.00 to 1.00)"),
        ("one hop", "21, 22", "2", "160 ns", "2.00 (1.50 to 2.25)"),
    ]
    bare = msgspec.structs.replace(matrix(away=False)[1], points=model.points[:1])
    lone = msgspec.structs.replace(
        bare, points=(msgspec.structs.replace(bare.points[0], at={"class": "same node", "cpu node": 0}),)
    )
    assert rows(numa.declared.shared_tables[0], scene(figures, lone))[0][2:] == (
        "none given",
        "1",
        "80.0 ns",
        "1.00",
    )
    assert numa.cells(scene(figures, model).analysis) == frozenset(model.of)


@pytest.mark.parametrize(
    ("tau", "p", "said"),
    [
        (0.5, 0.05, "the firmware distances order the pairs as measured"),
        (-0.5, 0.04, "the firmware distances do not order the pairs as measured"),
        (0.0, 0.04, "the firmware distances do not order the pairs as measured"),
        (0.5, 0.051, "too few pairs to compare"),
    ],
)
def test_distances_of_firmware_agree_where_it_is_sure(tau: float, p: float, said: str) -> None:
    figures, model = matrix(tau=tau, p=p)
    text = " ".join(map(str, numa.declared.sentences(scene(figures, model))))
    assert said in text
    assert f"(Kendall's τ {tau:.2f}, p = {p:.2g})" in text
    assert "80.0 ns for same node (×1.00) and 160 ns for one hop (×2.00)" in text  # noqa: RUF001 (a factor)
    none = " ".join(map(str, numa.declared.sentences(scene(*[matrix(away=False)[0]], matrix(away=False)[1]))))
    assert "The firmware gives equal distances" in none


def test_a_matrix_is_named_where_there_are_several() -> None:
    (times, first), (rates, second) = matrix(), matrix(what="bandwidth")
    alone, both = scene(times, first), scene([*times, *rates], first, second)
    (figure,) = numa.declared.charts(alone)
    assert figure.caption.startswith("Latency of a load in ns: ")
    assert "the firmware distance" in figure.caption
    captions = [each.caption for each in numa.declared.charts(both)]
    assert captions[0].startswith("Latency of a load in ns: ")
    assert captions[1].startswith("Triad bandwidth in ")
    (plain,) = numa.declared.charts(scene(*[matrix(away=False)[0]], matrix(away=False)[1]))
    assert "the firmware distance" not in plain.caption
