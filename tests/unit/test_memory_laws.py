"""The laws of memory and cores on estimates by hand: each figure from its definition, each border twice."""

import math
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, cast

import msgspec
import pytest
import scipy
from tests.unit.law_evidence import NODES, known, machine, measured, placed

from assay.analyse.estimates import Measured
from assay.model.law import Model, Unfitted
from assay.model.quantity import Quantity
from assay.topics.cores.models import core_to_core, operations_per_cycle
from assay.topics.memory.models import (
    cache_plateaus,
    lines_in_flight,
    loaded_latency,
    numa_matrix,
    saturation,
)
from assay.topics.memory.models.latency_levels import LatencyLevel, LatencyLevels

KIB, MIB = 2**10, 2**20
MANY = "pack:1 numa:1(memory=8GB) l3:1(size=8MB) l2:8(size=1MB) l1:1(size=32kB) core:1 pu:1"


def only(found: Any) -> Any:  # noqa: ANN401 (models of any law)
    (model,) = found
    return model


def triad(cores: int, *rates: float, word: str = "cores", stores: str = "ordinary") -> Measured:
    label = "one-core" if cores == 1 else "all" if cores == 8 else f"{word}:{cores}"
    return measured("stream", "triad", "bandwidth", rates, placed(label, *range(cores)), stores=stores)


def saturated(*figures: Measured) -> list[Model]:
    cases = [SimpleNamespace(placement=each.estimate.placement) for each in figures]
    plan = SimpleNamespace(cases=cases, folded=())
    return list(saturation.fit(known(figures, description=MANY, plan=plan)))


@pytest.mark.parametrize(("rate", "fewest", "lo"), [(94.9, 8, 5.0), (95.0, 4, 3.0)])
def test_the_fewest_cores_reach_95_percent_of_the_most(rate: float, fewest: int, lo: float) -> None:
    model = only(
        saturated(triad(4, rate, rate), triad(8, 100.0, 100.0), triad(1, 20.0, 20.0), triad(2, 50.0, 50.0))
    )
    assert tuple(model.cores) == (fewest, lo, fewest)  # one more than the last that was too small
    assert (model.maximum.value, model.cores_at_maximum.value, model.one_core.value) == (100.0, 8.0, 20.0)
    assert [(each.at["cores"], each.ratio) for each in model.points] == [
        (1, 0.2),
        (2, 0.5),
        (4, pytest.approx(rate / 100)),
        (8, 1.0),
    ]
    assert model.order == model.kind == "compact"


def test_ends_of_the_fewest_cores_are_those_of_the_launches() -> None:
    """In the second launch all eight are needed, in the first three; the median launch needs four."""
    model = only(
        saturated(triad(2, 10.0, 10.0), triad(3, 100.0, 60.0), triad(4, 99.0, 93.0), triad(8, 100.0, 100.0))
    )
    assert tuple(model.cores) == (4.0, 3.0, 8.0)
    assert tuple(model.cores_at_maximum) == (8.0, 3.0, 8.0)
    assert model.one_core is None


def test_one_number_of_cores_is_no_curve_nor_is_less_than_half_of_another() -> None:
    few = only(saturated(triad(4, 1.0)))
    assert isinstance(few, Unfitted)
    assert "a curve needs 2" in few.reason
    assert not isinstance(only(saturated(triad(4, 1.0), triad(3, 1.0))), Unfitted)
    others = [triad(cores, 1.0, stores="non-temporal") for cores in (2, 3, 4, 5, 6)]
    assert isinstance(saturated(*others, triad(2, 1.0), triad(3, 1.0))[1], Unfitted)
    assert not isinstance(saturated(*others[:4], triad(2, 1.0), triad(3, 1.0))[1], Unfitted)
    assert not saturated(triad(1, 1.0), triad(8, 1.0))  # no numbers of cores in between were asked for


def with_distances(figures: Sequence[Measured], back: int = 21) -> Any:  # noqa: ANN401 (see `only`)
    """Estimates on a machine whose firmware gives the distances of its memory nodes."""
    found = machine()
    topology = msgspec.structs.replace(found.topology, distances=((10, 20), (back, 10)))
    return known(figures, machines={"n1": msgspec.structs.replace(found, topology=topology)})


def node_pair(cpu: int, memory: int, seconds: float) -> Measured:
    place = placed(f"all:numa:{cpu}", 2 * cpu, 2 * cpu + 1, memory=f"bind:{memory}")
    return measured("latency", "chase", "latency", [seconds] * 2, place, bytes=64 * MIB, pages="huge")


def test_pairs_of_memory_nodes_have_classes_and_ratios_to_the_cores_own_memory() -> None:
    cells = [node_pair(0, 0, 80.0), node_pair(0, 1, 120.0), node_pair(1, 0, 200.0), node_pair(1, 1, 100.0)]
    model: Any = only(numa_matrix.fit(with_distances(cells)))
    two_distances = only(numa_matrix.fit(with_distances(cells, 20)))
    assert two_distances.agreement.tau == pytest.approx(
        scipy.stats.kendalltau([10, 20, 20, 10], [80.0, 120.0, 200.0, 100.0]).statistic
    )
    assert only(numa_matrix.fit(with_distances(cells[:2]))).agreement is not None
    near, far = model.classes
    assert (str(near.name), tuple(near.value), tuple(near.ratio)) == ("same node", (90.0, 80.0, 100.0), (1, 1, 1))
    assert (str(far.name), tuple(far.value), tuple(far.ratio)) == (
        "same socket",
        (160.0, 120.0, 200.0),
        (1.75, 1.5, 2),
    )
    assert (model.what, model.kind, model.headline) == ("latency", "latency", near.ratio)
    points = {(each.at["cpu node"], each.at["memory node"]): each.ratio for each in model.points}
    assert points == {(0, 0): 1.0, (0, 1): 1.5, (1, 0): 2.0, (1, 1): 1.0}
    assert [each.at["distance"] for each in model.points] == [10, 20, 21, 10]
    tau = scipy.stats.kendalltau([10, 20, 21, 10], [80.0, 120.0, 200.0, 100.0])
    assert model.agreement.tau == pytest.approx(tau.statistic)


def test_bandwidth_agrees_with_distances_if_it_falls() -> None:
    def rate(cpu: int, memory: int, value: float) -> Measured:
        place = placed(f"all:numa:{cpu}", 2 * cpu, 2 * cpu + 1, memory=f"bind:{memory}")
        return measured("stream", "triad", "bandwidth", [value] * 2, place, stores="ordinary", touch="parallel")

    cells = [rate(0, 0, 90.0), rate(0, 1, 40.0), rate(1, 0, 50.0), rate(1, 1, 80.0)]
    assert only(numa_matrix.fit(known(cells))).agreement is None  # firmware gives no distances
    model = only(numa_matrix.fit(with_distances(cells)))
    tau = scipy.stats.kendalltau([10, 20, 21, 10], [-90.0, -40.0, -50.0, -80.0])
    assert model.agreement.tau == pytest.approx(tau.statistic)
    assert model.what == "bandwidth"


def test_memory_of_one_node_or_of_several_is_no_matrix() -> None:
    assert not list(numa_matrix.fit(known([node_pair(0, 1, 1.0), node_pair(1, 1, 2.0)])))
    without_own = list(numa_matrix.fit(known([node_pair(0, 1, 1.0), node_pair(1, 0, 2.0)])))
    (model,) = cast("list[Any]", without_own)
    assert [each.ratio for each in model.points] == [None, None]
    assert (model.classes[0].ratio, model.headline) == (None, model.classes[0].value)
    assert model.agreement is None
    spread = placed("all", 0, 1, 2, 3, memory="bind:0")
    other = measured("latency", "chase", "latency", [1.0], spread, bytes=64 * MIB, pages="huge")
    two = placed("all:numa:0", 0, 1, memory="bind:0-1")
    third = measured("latency", "chase", "latency", [1.0], two, bytes=64 * MIB, pages="huge")
    assert not list(numa_matrix.fit(known([node_pair(0, 0, 1.0), other, third])))


def loaded(delay: int, seconds: float, rate: float) -> list[Measured]:
    place = placed("all", 0, 1, 2, 3)
    given: dict[str, Any] = {"delay": delay, "pages": "small", "line": 64}
    return [
        measured("loaded_latency", "chase", "latency", [seconds] * 2, place, **given),
        measured("loaded_latency", "load", "bandwidth", [rate] * 2, place, **given),
    ]


def alone(seconds: float, *, pages: str = "small", cpu: int = 0, by: str = "memory") -> tuple[Measured, Model]:
    walked = measured(
        "latency", "chase", "latency", [seconds] * 2, placed("one-core", cpu), bytes=64 * MIB, pages=pages, line=64
    )
    figure = Quantity(seconds, 0.9 * seconds, 1.2 * seconds, "s", "interval")
    levels = (LatencyLevel(figure, by, beyond_tlb=False, step=1, end=None),)
    return walked, LatencyLevels(
        id=f"latency-levels/{pages}/{cpu}", of=(walked.estimate.id,), pages=pages, levels=levels
    )


def test_loaded_latency_is_relative_to_the_walk_alone_through_the_same_pages() -> None:
    figures = [each for delay in (0, 100, 20) for each in loaded(delay, 300.0 / (1 + delay), 9e9 / (1 + delay))]
    walks = [alone(75.0), alone(60.0, pages="huge"), alone(50.0, cpu=1), alone(1.0, by="L3")]
    for idle, (walk, model) in ((75.0, walks[0]), *((None, other) for other in walks[1:])):
        law = only(loaded_latency.fit(known([*figures, walk], [model])))
        assert [each.at["delay"] for each in law.points] == [100, 20, 0]
        assert [each.at["bandwidth"] for each in law.points] == pytest.approx([9e9 / 101, 9e9 / 21, 9e9])
        assert (law.lightest.value, law.loaded.value) == pytest.approx((300 / 101, 300.0))
        assert law.bandwidth.value == 9e9
        assert (law.idle.value if law.idle else None) == idle
        base = idle or 300 / 101
        assert law.base.value == law.headline.value == pytest.approx(base)
        assert [each.ratio for each in law.points] == pytest.approx(
            [300 / (1 + delay) / base for delay in (100, 20, 0)]
        )


def test_one_delay_is_no_curve_and_unknown_loads_are_left_out() -> None:
    single = only(loaded_latency.fit(known(loaded(0, 1.0, 1.0))))
    assert isinstance(single, Unfitted)
    assert "1 delay: a curve needs 2" in single.reason
    chases = [loaded(delay, 1.0 + delay, 1.0)[0] for delay in (0, 10)]
    heaviest = only(loaded_latency.fit(known([*chases, loaded(10, 1.0, 7.0)[1]])))
    assert heaviest.bandwidth is None
    assert [each.at.get("bandwidth") for each in heaviest.points] == [7.0, None]
    law = only(loaded_latency.fit(known(chases)))
    assert law.bandwidth is None
    assert all("bandwidth" not in each.at for each in law.points)


def one_core(rate: float, cpu: int = 0, kernel: str = "triad") -> Measured:
    return measured("stream", kernel, "traffic", [rate] * 2, placed("one-core", cpu), stores="ordinary")


def test_lines_in_flight_are_littles_law() -> None:
    walk, levels = alone(80e-9)
    figures = [one_core(9e9), one_core(12e9, kernel="copy"), one_core(99e9, cpu=1), walk]
    law = only(lines_in_flight.fit(known(figures, [levels])))
    assert law.lines.value == pytest.approx(12e9 * 80e-9 / 64)  # 15 lines of 64 B
    assert tuple(law.lines)[1:] == pytest.approx((0.9 * 15, 1.2 * 15))
    assert (law.bandwidth.value, law.latency.value, law.line_bytes) == (12e9, 80e-9, 64)


def test_lines_in_flight_need_memory_and_prefer_huge_pages() -> None:
    small, huge, cached = alone(90e-9), alone(80e-9, pages="huge"), alone(14e-9, by="L3")
    figures = [one_core(12e9), small[0], huge[0], cached[0]]
    law = only(lines_in_flight.fit(known(figures, [small[1], huge[1]])))
    assert law.latency.value == 80e-9
    assert not list(lines_in_flight.fit(known(figures, [cached[1]])))
    assert not list(lines_in_flight.fit(known(figures[1:], [small[1]])))


SIZES = tuple(int(KIB * 2 ** (step / 2)) for step in range(31))  # 1 KiB to 32 MiB


def copies(rates: Sequence[float], sizes: Sequence[int] = SIZES, offset: int = 0) -> list[Measured]:
    place = placed("one-core", 0)
    return [
        measured(
            "memcpy", "memcpy", "bandwidth", [rate] * 2, place, bytes=size, buffers="hot", offset=offset, pool=1
        )
        for size, rate in zip(sizes, rates, strict=True)
    ]


def steps(size: int) -> float:
    """Rates where both buffers share an L1 of 32 KiB, an L2 of 1 MiB, an L3 of 8 MiB; calls cost below 4 KiB."""
    return (
        20.0
        if size < 4 * KIB
        else 60.0
        if size <= 14 * KIB
        else 30.0
        if size <= 500 * KIB
        else 12.0
        if size <= 4 * MIB
        else 5.0
    )


def test_copies_have_a_plateau_for_each_cache_that_holds_source_and_target() -> None:
    law = only(cache_plateaus.fit(known(copies([steps(size) for size in SIZES], offset=8))))
    assert [tuple(each.rate) for each in law.plateaus] == [pytest.approx((rate,) * 3) for rate in (60, 30, 12, 5)]
    ends = [each.end for each in law.plateaus if each.end]
    assert [(each.cause, each.cache_bytes) for each in ends] == [("L1", 32 * KIB), ("L2", MIB), ("L3", 8 * MIB)]
    for end, border in zip(ends, (14 * KIB, 500 * KIB, 4 * MIB), strict=True):
        low, high = max(s for s in SIZES if s <= border), min(s for s in SIZES if s > border)
        assert tuple(end.size) == pytest.approx((math.sqrt(low * high), low, high))
    assert law.plateaus[-1].end is None
    assert (law.offset, law.residual) == (8, pytest.approx(0.0, abs=1e-12))
    assert law.id == "cache-plateaus/memcpy/one-core/first-touch/offset=8/host=n1"
    plain = only(cache_plateaus.fit(known(copies([steps(size) for size in SIZES]))))
    assert plain.id == "cache-plateaus/memcpy/one-core/first-touch/host=n1"
    assert len(law.of) == len(SIZES)


def test_a_cache_ends_at_the_nearest_of_two_falls() -> None:
    """Both are within a factor of two of a cache of 32 KiB: at 10 KiB and at 17 KiB of each buffer."""
    kib = [5, 8, 9.9, 10.1, 14, 16.9, 17.1, 24, 36]
    rates = [60.0] * 3 + [40.0] * 3 + [20.0] * 3
    law = only(cache_plateaus.fit(known(copies(rates, [int(each * KIB) for each in kib]))))
    assert [each.end.cause for each in law.plateaus if each.end] == ["", "L1"]
    assert [each.rate.value for each in law.plateaus] == pytest.approx([60.0, 40.0, 20.0])


@pytest.mark.parametrize(("rate", "plateaus"), [(8.7, 1), (8.3, 2)])
def test_rates_of_a_plateau_scatter_by_a_tenth(rate: float, plateaus: int) -> None:
    """A second plateau of twelve and twelve points costs 4 ln 24; one plateau the squares over its scatter."""
    squares = 24 * (math.log(10 / rate) / 2 / 0.1) ** 2
    assert (squares > 4 * math.log(24)) == (plateaus > 1)
    law = only(cache_plateaus.fit(known(copies([10.0] * 12 + [rate] * 12, SIZES[:24]))))
    assert len(law.plateaus) == plateaus


def test_a_plateau_is_the_geometric_mean_of_its_rates_with_the_least_and_the_largest() -> None:
    law = only(cache_plateaus.fit(known(copies([9.0, 10.0, 10.0, 11.0], SIZES[:4]))))
    mean = (9 * 10 * 10 * 11) ** 0.25
    assert tuple(law.plateaus[0].rate) == pytest.approx((mean, 9.0, 11.0))
    assert law.residual == pytest.approx(11 / mean - 1)


@pytest.mark.parametrize(("small", "fits"), [(0.79, False), (0.81, True)])
def test_sizes_below_80_percent_of_the_best_rate_cost_their_call(small: float, *, fits: bool) -> None:
    law = only(cache_plateaus.fit(known(copies([10 * small, 10.0, 10.0, 10.0], SIZES[:4]))))
    assert isinstance(law, Unfitted) != fits
    if not fits:
        assert "3 sizes cost more than a call: two plateaus need 4" in law.reason


@pytest.mark.parametrize(("border", "cause"), [(7.9, ""), (8.1, "L1"), (31.0, "L1"), (33.0, "")])
def test_a_fall_belongs_to_a_cache_within_a_factor_of_two(border: float, cause: str) -> None:
    """Source and target of 16 KiB fill an L1 of 32 KiB. The sizes around the fall differ by 1 B."""
    half = int(border * KIB)
    sizes = [half // 2, half * 3 // 4, half, half + 1, 2 * half, 3 * half]
    law = only(cache_plateaus.fit(known(copies([60.0] * 3 + [30.0] * 3, sizes))))
    assert [each.end.cause for each in law.plateaus if each.end] == [cause]


@pytest.mark.parametrize(("rate", "fits"), [(7.0, False), (7.2, True)])
def test_rates_a_quarter_off_their_plateau_follow_another_law(rate: float, *, fits: bool) -> None:
    law = only(cache_plateaus.fit(known(copies([10.0, 10.0, 10.0, 10.0, rate, 10.0], SIZES[:6]))))
    assert isinstance(law, Unfitted) != fits
    assert law.residual == pytest.approx(1 - (rate / 10) ** (5 / 6))  # its mean is geometric
    if not fits:
        assert "rates differ by up to 26 % from their plateaus" in law.reason


def pair(a: int, b: int, *seconds: float) -> Measured:
    return measured("core_to_core", "handover", "latency", seconds, placed(f"pair:{a}-{b}", a, b))


def test_pairs_of_cores_have_the_class_of_what_they_share() -> None:
    pairs = [pair(0, 1, 20.0, 22.0), pair(2, 3, 30.0, 30.0), pair(0, 2, 50.0, 54.0), pair(1, 3, 90.0, 70.0)]
    law = only(core_to_core.fit(known(pairs)))
    near, far = law.classes
    assert (str(near.name), str(far.name)) == ("same L3", "same socket")
    assert tuple(near.time) == (25.5, 21.0, 30.0)
    assert tuple(far.time) == (66.0, 52.0, 80.0)
    # The median pair of each launch: 25 and 26, and 70 and 62; with that of the medians.
    assert tuple(near.median) == (25.5, 25.0, 26.0)
    assert tuple(far.median) == (66.0, 62.0, 70.0)
    assert law.headline == near.time
    assert [(each.at["a"], each.at["b"]) for each in law.points] == [(0, 1), (2, 3), (0, 2), (1, 3)]
    ratios = [21 / 25.5, 30 / 25.5, 52 / 66, 80 / 66]
    assert [each.ratio for each in law.points] == pytest.approx(ratios)
    assert law.residual == pytest.approx(max(abs(ratio - 1) for ratio in ratios))
    alone_in_class = only(core_to_core.fit(known([pair(0, 1, 20.0, 22.0)])))
    assert tuple(alone_in_class.classes[0].median) == (21.0, 20.0, 22.0)


@pytest.mark.parametrize(
    ("description", "cpus", "name"),
    [
        (NODES.replace("pu:1", "pu:2"), (0, 1), "same core"),
        (NODES, (0, 1), "same L3"),
        ("pack:2 numa:1(memory=8GB) l3:2(size=8MB) core:1 pu:1", (0, 1), "same node"),
        (NODES, (0, 3), "same socket"),
        (NODES.replace("pack:1", "pack:2"), (0, 7), "other socket"),
        (NODES, (0, 99), "other socket"),
    ],
)
def test_two_cpus_share_the_nearest_unit(description: str, cpus: tuple[int, int], name: str) -> None:
    law = only(core_to_core.fit(known([pair(*cpus, 1.0)], description=description)))
    assert str(law.classes[0].name) == name


def flops(rate: float, clock: float | None, *cpus: int, mix: str = "fma", width: str = "512") -> list[Measured]:
    place, given = placed("all", *cpus), {"format": "fp64", "width": width, "mix": mix}
    found = [measured("flops", "arithmetic", "rate", [rate] * 2, place, **given)]
    if clock:
        found.append(measured("flops", "loaded-clock", "frequency", [clock] * 2, place, **given))
    return found


def test_operations_per_cycle_are_those_of_a_core_at_the_clock_of_the_same_samples() -> None:
    figures = [
        *flops(96e9, 2e9, 0, 1, 2),
        *flops(30e9, 2.5e9, 0, 1, 2, mix="add"),
        *flops(1e9, None, 0, 1, 2, mix="x"),
    ]
    law = only(operations_per_cycle.fit(known(figures)))
    assert [each.value.value for each in law.points] == pytest.approx([96 / 2 / 3, 30 / 2.5 / 3])
    assert (law.most.value, law.cores) == (pytest.approx(16.0), 3)
    assert [each.at for each in law.points] == [{"mix": "fma", "width": "512"}, {"mix": "add", "width": "512"}]
    assert not list(operations_per_cycle.fit(known(flops(1e9, None, 0))))
