"""The roofline and the limits of copies, flops and memory on estimates by hand, each from its definition."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, cast

import msgspec
import pytest
from tests.unit.law_evidence import NODES, known, machine, measured, placed
from tests.unit.scene_by_hand import rows, scene

from assay.analyse.bounds import Bounds
from assay.analyse.estimates import Measured
from assay.analyse.plateaus import Boundary, CachePlateaus, Plateau
from assay.model.facts import Fact
from assay.model.law import Unfitted
from assay.model.placed import Placed, Proof
from assay.model.quantity import Quantity
from assay.model.result import Limit
from assay.topics.cores.limits import clock as clock_limit
from assay.topics.cores.limits import flops_peak
from assay.topics.cores.limits import roofline as roofline_limit
from assay.topics.cores.models import roofline
from assay.topics.cores.models.roofline import Roofline
from assay.topics.cores.sections import roofline as roofline_section
from assay.topics.memory.limits import copy, memory

MIB = 2**20
CORE = placed("one-core", 0)


def stream(kernel: str, bandwidth: float, traffic: float, place: Placed = CORE) -> list[Measured]:
    given = {"stores": "ordinary", "touch": "parallel"}
    return [
        measured("stream", kernel, metric, [value] * 6, place, **given)
        for metric, value in (("bandwidth", bandwidth), ("traffic", traffic))
    ]


def flops(
    rate: float, place: Placed = CORE, *, form: str = "fp64", mix: str = "fma", width: str = "512"
) -> Measured:
    return measured("flops", "arithmetic", "rate", [rate] * 6, place, format=form, width=width, mix=mix)


def copied(rate: float, size: int = MIB, buffers: str = "hot", place: Placed = CORE) -> Measured:
    given: dict[str, Any] = {"bytes": size, "buffers": buffers, "offset": 0, "pool": MIB}
    return measured("memcpy", "memcpy", "bandwidth", [rate] * 6, place, **given)


def plateaus(of: Measured, rate: float, cause: str, offset: int = 0) -> CachePlateaus:
    end = Boundary(Quantity(1.0, 1.0, 1.0, "B"), cause) if cause else None
    figure = Quantity(rate, 0.9 * rate, 1.1 * rate, "B/s", "range")
    return CachePlateaus(id=cause or "last", of=(of.estimate.id,), offset=offset, plateaus=(Plateau(figure, end),))


def fitted(figures: Sequence[Measured], *models: CachePlateaus) -> Any:  # noqa: ANN401 (a model)
    (model,) = roofline.fit(known(figures, models))
    return model


#: STREAM's triad does 2 flops for 24 named bytes and moves 32 with write-allocate; add 1 for 24 (J. McCalpin).
KERNELS = [*stream("triad", 9e9, 12e9), *stream("add", 9.6e9, 12.8e9), *stream("copy", 8e9, 12e9)]


def test_kernels_stand_below_the_lower_of_peak_and_intensity_times_bandwidth() -> None:
    copies = copied(30e9)
    model = fitted(
        [flops(50e9), flops(40e9, mix="add"), flops(90e9, form="fp32"), *KERNELS, copies],
        plateaus(copies, 30e9, "L2"),
    )
    assert isinstance(model, Roofline)
    assert (model.peak.value, model.state) == (50e9, None)
    assert [(each.level, each.bandwidth.value) for each in model.roofs] == [("memory", 12.8e9), ("L2", 60e9)]
    assert [each.ridge.value for each in model.roofs] == pytest.approx([50 / 12.8, 50 / 60])
    points = {str(each.at["kernel"]): each for each in model.points}
    assert points.keys() == {"triad", "add"}  # a copy does no flops
    assert points["triad"].at["intensity"] == pytest.approx(2 / 32)
    assert points["triad"].value.value == pytest.approx(9e9 * 2 / 24)
    assert points["triad"].ratio == pytest.approx(0.75e9 / (2 / 32 * 12.8e9))
    assert points["add"].ratio == pytest.approx(9.6e9 / 24 / (1 / 32 * 12.8e9))
    assert model.id == "roofline/one-core/host=n1"
    slow = fitted([flops(0.5e9), *KERNELS])
    assert {str(each.at["kernel"]): each.ratio for each in slow.points} == pytest.approx(
        {"triad": 0.75e9 / 0.5e9, "add": 0.4e9 / (12.8e9 / 32)}
    )


def test_caches_without_a_name_or_of_shifted_copies_have_no_roof() -> None:
    copies = copied(30e9)
    for model in (plateaus(copies, 30e9, ""), plateaus(copies, 30e9, "L1", 8)):
        assert [each.level for each in fitted([flops(50e9), *KERNELS, copies], model).roofs] == ["memory"]
    other = copied(30e9, place=placed("other", 1))
    found = list(roofline.fit(known([flops(50e9), *KERNELS, other], [plateaus(other, 30e9, "L1")])))
    assert [[each.level for each in cast("Any", model).roofs] for model in found] == [["memory"]]


def test_without_a_peak_or_kernels_there_is_no_roofline_and_without_memory_it_says_so() -> None:
    assert not list(roofline.fit(known(KERNELS)))
    assert not list(roofline.fit(known([flops(90e9, form="fp32"), *KERNELS])))
    assert not list(roofline.fit(known([flops(50e9)])))
    fits = [Measured(msgspec.structs.replace(each.estimate, memory_bytes=MIB), each.launches) for each in KERNELS]
    none = fitted([flops(50e9), *fits])
    assert not isinstance(none, Unfitted) or "no memory roof" in none.reason
    assert isinstance(none, Unfitted)


def test_the_table_of_roofs_begins_with_the_peak_and_the_lowest_roof() -> None:
    copies = copied(30e9)
    figures = [flops(50e9), *KERNELS, copies]
    of = scene(figures, fitted(figures, plateaus(copies, 30e9, "L2")))
    shown = rows(roofline_section.declared.shared_tables[0], of)
    assert [row[:2] for row in shown] == [
        ("one-core: peak", "50.0 GFLOP/s"),
        ("one-core: memory", "12.8 GB/s"),
        ("one-core: L2", "60.0 GB/s"),
    ]
    assert not shown[0][3]
    assert shown[1][3].startswith("3.91")
    kernels = rows(roofline_section.declared.page_tables[0], of)
    assert [(row[0], row[2], row[3], row[6]) for row in kernels] == [
        ("triad, one-core", "0.062", "750 MFLOP/s", "94 %"),
        ("add, one-core", "0.031", "400 MFLOP/s", "100 %"),
    ]
    text = str(roofline_section.declared.sentences(of))
    assert "The peak of “one-core” is 50.0 GFLOP/s" in text
    assert "The roof of memory is stream add (stores ordinary, touch parallel)." in text
    assert "No cache has a roof" not in text
    bare = scene([flops(50e9), *KERNELS], fitted([flops(50e9), *KERNELS]))
    assert "no level of memcpy ends at the size of a cache" in str(roofline_section.declared.sentences(bare))
    (chart,) = roofline_section.declared.charts(of)
    assert chart.result.startswith("Peak 50.0 GFLOP/s")
    assert "triad 750 MFLOP/s" in chart.result
    assert "at 0.0625 flop/B" in chart.result


def test_rooflines_are_drawn_from_that_of_most_cores_with_kernels_of_the_usual_memory_only() -> None:
    everywhere = placed("all", 0, 1, 2, 3)
    bound = placed("all", 0, 1, 2, 3, memory="bind:1")
    figures = [
        flops(50e9),
        *KERNELS,
        flops(200e9, everywhere),
        *stream("triad", 30e9, 40e9, everywhere),
        *stream("triad", 15e9, 20e9, bound),
    ]
    of = scene(figures, *list(roofline.fit(known(figures))))
    widest, narrow = roofline_section.declared.charts(of)
    assert (widest.id, narrow.id) == ("figure-roofline", "figure-roofline-1")
    kernels = widest.spec["data"]["values"]
    assert [(each["label"], each["value"]) for each in kernels] == [("triad", pytest.approx(2.5))]  # in GFLOP/s
    assert [kernels[0][end] for end in ("lo", "hi")] == pytest.approx([2.5, 2.5])
    assert kernels[0]["intensity"] == pytest.approx(2 / 32)
    ends = next(
        layer["data"]["values"]
        for layer in widest.spec["layer"]
        if layer.get("data", {}).get("values") and "roof" in layer["data"]["values"][0]
    )
    (low, ridge) = ends
    assert (ridge["intensity"], ridge["value"]) == (pytest.approx(5.0), pytest.approx(200.0))
    assert low["value"] == pytest.approx(40 * low["intensity"])
    assert "GFLOP/s" in str(widest.spec)
    shown = rows(roofline_section.declared.shared_tables[0], of)
    assert [row[0] for row in shown] == ["all: peak", "all: memory", "one-core: peak", "one-core: memory"]
    text = str(roofline_section.declared.sentences(of))
    assert (
        "No cache has a roof on “all”: memcpy, which measures the bandwidth of caches, runs on one core." in text
    )


def bounds(figures: Sequence[Measured], **facts: dict[str, Fact]) -> Bounds:
    host = msgspec.structs.replace(machine(NODES), facts=facts)
    run: Any = SimpleNamespace(machines={"n1": host}, plan=SimpleNamespace())
    return Bounds(run, (each.estimate for each in figures))


def limit(law: Any, figure: Measured, *others: Measured, **facts: dict[str, Fact]) -> Limit | None:  # noqa: ANN401
    found: Limit | None = law.law.limit(figure.estimate, bounds([figure, *others], **facts))
    return found


def sampled(hertz: float, place: Placed = CORE) -> Measured:
    given = {"format": "fp64", "width": "512", "mix": "fma"}
    made = measured("flops", "loaded-clock", "frequency", [hertz] * 6, place, **given)
    return Measured(msgspec.structs.replace(made.estimate, max=hertz), made.launches)


@pytest.mark.parametrize(
    ("name", "width"),
    [("haswell", 32), ("zen4", 32), ("zen5", 64), ("skylake_avx512", 64), ("sapphirerapids", 64), ("zen", 16)],
)
def test_a_copy_in_the_first_cache_stores_what_the_manual_states(name: str, width: int) -> None:
    """Intel's and AMD's optimisation manuals: bytes stored in the L1 in a cycle."""
    fact = {"microarchitecture": Fact(name, source="test")}
    inside, outside = copied(1e9, 16 * 1024), copied(9e9, 16 * 1024 + 1)
    found = limit(copy, inside, outside, sampled(2e9), processor=fact)
    assert found
    assert (found.value, found.source, found.scope) == (width * 2e9, "derived", "core")
    beyond = limit(copy, outside, inside, sampled(2e9), processor=fact)
    assert beyond
    assert (beyond.value, beyond.source) == (9e9, "measured")
    assert limit(copy, inside, outside, processor=fact).source == "measured"  # type: ignore[union-attr]


def test_cold_copies_stand_against_the_best_of_them_or_half_of_streams_copy() -> None:
    cold, faster = copied(3e9, buffers="cold"), copied(4e9, 2 * MIB, "cold")
    found = limit(copy, cold, faster, copied(9e9))
    assert found
    assert (found.value, found.measured_by) == (4e9, faster.estimate.id)
    assert "(2 MiB, in memory)" in str(found.of)
    for rate, value in ((7.9e9, 4e9), (8.1e9, 4.05e9)):
        by_stream = limit(copy, cold, faster, *stream("copy", rate, 12e9))
        assert by_stream
        assert by_stream.value == value
    hot = limit(copy, copied(9e9), *stream("copy", 90e9, 12e9))
    assert hot
    assert (hot.value, "in cache" in str(hot.of)) == (9e9, True)


CHANNELS = {"populated channels": Fact(4, source="dmi"), "transfer rate": Fact(2.4e9, "T/s", "dmi")}


def on(
    cpus: Sequence[int], traffic: float, label: str = "all", kernel: str = "triad", pages: str = ""
) -> Measured:
    proof = Proof((tuple(cpus),), dict.fromkeys(pages, 1.0), as_asked=True) if pages else None
    place = msgspec.structs.replace(placed(label, *cpus), proven=proof)
    return stream(kernel, 0.75 * traffic, traffic, place)[1]


def test_memory_carries_eight_bytes_a_transfer_of_each_channel_in_even_shares() -> None:
    whole, node, core = on(range(4), 50e9), on((0, 1), 20e9, "node"), on((0,), 9e9, "one-core")
    of_all, of_node = (limit(memory, each, memory=CHANNELS) for each in (whole, node))
    assert of_all
    assert of_node
    assert (of_all.value, of_all.scope, of_all.source) == (4 * 2.4e9 * 8, "machine", "derived")
    assert (of_node.value, of_node.scope) == (2 * 2.4e9 * 8, "numa-node")
    assert limit(memory, core, memory=CHANNELS) is None  # nothing else was measured on this core
    again = limit(memory, core, on((0,), 9.5e9, "one-core", "copy"), memory=CHANNELS)
    assert again
    assert (again.value, again.scope, again.source) == (9.5e9, "core", "measured")


def test_several_nodes_carry_the_sum_of_theirs() -> None:
    whole = on(range(4), 50e9)
    place = Placed("all", ("n1", "n2"), ((0, 1, 2, 3), (0, 1, 2, 3)), "first-touch", None)
    both = Measured(msgspec.structs.replace(whole.estimate, placement=place), whole.launches)
    found = limit(memory, both, memory=CHANNELS)
    assert found
    assert found.value == 2 * 4 * 2.4e9 * 8
    assert str(found.of).startswith("2 nodes, each with: 4 populated channels x 2400 MT/s x 8 B, the whole node")
    assert not list(memory.law.ceilings(both.estimate, bounds([both], memory=CHANNELS)))


@pytest.mark.parametrize(
    ("cpus", "words"),
    [
        ((0, 1, 2, 3), "the best measured memory rate of this run: stream "),
        ((0, 1), "the best measured memory rate of NUMA node 0 of this run: stream "),
        ((0,), "the best measured memory rate of this core in this run: stream "),
        ((0, 2), "the best measured memory rate of these 2 cores in this run: stream "),
    ],
)
@pytest.mark.parametrize(
    "facts",
    [
        {},
        {"populated channels": Fact(0, source="x"), "transfer rate": Fact(2e9, "T/s", "x")},
        {"populated channels": Fact(4, source="x"), "transfer rate": Fact(0, "T/s", "x")},
        {"populated channels": Fact("four", source="x"), "transfer rate": Fact(2e9, "T/s", "x")},
        {"populated channels": Fact(4, source="x"), "transfer rate": Fact("fast", "T/s", "x")},
    ],
)
def test_without_known_channels_the_best_of_the_same_part_is_the_limit(
    cpus: tuple[int, ...], words: str, facts: dict[str, Fact]
) -> None:
    ours, better = on(cpus, 9e9), on(cpus, 9.5e9, kernel="copy")
    found = limit(memory, ours, better, memory=facts)
    assert found
    assert (found.value, found.measured_by) == (9.5e9, better.estimate.id)
    assert str(found.of).startswith(words)


@pytest.mark.parametrize(("rate", "source"), [(1.01, "derived"), (1.03, "measured")])
def test_channels_that_a_figure_exceeds_by_2_percent_were_guessed_wrong(rate: float, source: str) -> None:
    found = limit(memory, on(range(4), rate * 4 * 2.4e9 * 8), memory=CHANNELS)
    assert found
    assert found.source == source


def test_bytes_counted_stand_against_bytes_moved() -> None:
    counted, moved = stream("triad", 9e9, 12e9, placed("all", 0, 1, 2, 3))
    found = limit(memory, counted, moved, memory=CHANNELS)
    assert found
    assert found.value == pytest.approx(0.75 * 4 * 2.4e9 * 8)
    assert str(found.of).startswith("75 % of ")
    same = limit(memory, *stream("triad", 12e9, 12e9, placed("all", 0, 1, 2, 3)), memory=CHANNELS)
    assert same
    assert same.value == 4 * 2.4e9 * 8


@pytest.mark.parametrize(("size", "has_limit"), [(16 * MIB, False), (16 * MIB + 1, True)])
def test_arrays_that_caches_may_hold_have_no_limit_of_memory(size: int, *, has_limit: bool) -> None:
    whole = on(range(4), 50e9)
    made = Measured(msgspec.structs.replace(whole.estimate, memory_bytes=size), whole.launches)
    assert (limit(memory, made, memory=CHANNELS) is not None) == has_limit


def test_ceilings_of_memory_are_its_channels_and_copies_in_cache_counted_twice() -> None:
    whole, cached = on(range(4), 50e9), copied(30e9, 1024)
    known_bounds = bounds([whole, cached], memory=CHANNELS)
    found = [each.value for each in memory.law.ceilings(whole.estimate, known_bounds)]
    assert found == [4 * 2.4e9 * 8, 2 * 30e9 * 4]
    small = bounds([whole, copied(30e9, 1023)], memory={**CHANNELS, "populated channels": Fact(4, guessed=True)})
    assert not list(memory.law.ceilings(whole.estimate, small))


def test_a_limit_given_for_all_memory_is_shared_evenly() -> None:
    stated = Limit(80e9, "given", "by the user", "memory")
    known_bounds = bounds([])
    whole, node, core = (on(cpus, 1e9) for cpus in (range(4), (0, 1), (0,)))
    shares = [memory.law.given(each.estimate, known_bounds, stated) for each in (whole, node, core)]
    assert [each and (each.value, each.scope) for each in shares] == [
        (80e9, "machine"),
        (40e9, "numa-node"),
        None,
    ]


@pytest.mark.parametrize(("small", "share"), [(0.96, 0.5), (0.94, None)])
def test_memory_nodes_are_alike_within_5_percent(small: float, share: float | None) -> None:
    topology = machine(NODES).topology
    first, second = topology.numa_nodes
    less = msgspec.structs.replace(second, memory_bytes=int(small * first.memory_bytes))
    uneven = msgspec.structs.replace(topology, numa_nodes=(first, less))
    assert memory.even_share(frozenset({0}), uneven) == share
    assert memory.even_share(frozenset({0, 1}), uneven) == 1.0
    bare = msgspec.structs.replace(topology, numa_nodes=(first, msgspec.structs.replace(second, cpus=())))
    assert memory.even_share(frozenset({1}), bare) is None


def test_the_rate_of_kernels_is_limited_by_memory_or_by_flops() -> None:
    traffic = on(range(4), 50e9)
    place = traffic.estimate.placement
    solver = measured("himeno", "jacobi", "rate", [10e9] * 6, place, size="L", touch="parallel")
    moved = measured("himeno", "jacobi", "traffic", [20e9] * 6, place, size="L", touch="parallel")
    found = limit(roofline_limit, solver, moved, memory=CHANNELS)
    assert found
    assert found.value == pytest.approx(0.5 * 4 * 2.4e9 * 8)
    for best, value in ((30e9, 30e9), (39e9, 38.4e9), (9e9, 38.4e9)):
        by_flops = limit(roofline_limit, solver, moved, flops(best, place, form="fp32"), memory=CHANNELS)
        assert by_flops
        assert by_flops.value == pytest.approx(value)
    assert limit(roofline_limit, solver, memory=CHANNELS) is None
    stated = Limit(1.0, "given", "by the user", "memory")
    assert roofline_limit.law.given(solver.estimate, bounds([]), stated) is stated
    assert roofline_limit.law.given(flops(1.0).estimate, bounds([]), stated) is None


def test_the_peak_is_flops_per_cycle_at_the_nominal_clock_unless_a_figure_disproves_it() -> None:
    facts = {"nominal frequency": Fact(2e9, "Hz", "test"), "microarchitecture": Fact("zen2", source="test")}
    place = placed("all", 0, 1, 2, 3)
    peak = 4 * 2 * 4 * 2 * 2e9  # cores, units of 256 bits, lanes, flops, clock
    slow = limit(flops_peak, flops(1e9, place, width="256"), processor=facts)
    assert slow
    assert (slow.value, slow.reference, slow.scope) == (peak, True, "machine")
    for rate, source in ((1.59, "derived"), (1.61, "measured")):
        found = limit(flops_peak, flops(rate * peak, place, width="256"), processor=facts)
        assert found
        assert found.source == source
    nominal = limit(clock_limit, sampled(2.5e9), processor=facts)
    assert nominal
    assert (nominal.value, nominal.reference, nominal.kind) == (2e9, True, "clock")
    assert limit(clock_limit, sampled(2.5e9)) is None


def test_a_peak_given_for_all_cores_is_shared_by_their_number() -> None:
    stated = Limit(80e9, "given", "by the user", "flop-rate")
    shares = [
        flops_peak.law.given(flops(1e9, placed("x", *cpus)).estimate, bounds([]), stated)
        for cpus in ((0, 1, 2, 3), (0, 1, 2), (1,))
    ]
    assert [each and each.value for each in shares] == [80e9, 60e9, 20e9]
