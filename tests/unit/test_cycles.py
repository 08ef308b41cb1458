"""Times as cycles of the measured clock, and lines in flight: held against the laws of the simulated machine."""

from pathlib import Path
from typing import TypeVar

import msgspec
import pytest
from tests.simulation import simulated_run

from assay import store
from assay.analyse import analyse
from assay.model.law import Model
from assay.model.plan import Measure, Study
from assay.model.quantity import Quantity
from assay.model.result import Analysis
from assay.simulation import Law
from assay.topics.cores.models.operations_per_cycle import OperationsPerCycle
from assay.topics.memory.models.latency_levels import LatencyLevels
from assay.topics.memory.models.lines_in_flight import LinesInFlight
from assay.topics.memory.models.loaded_latency import LoadedLatency

FOUR_CORES = "pack:1 numa:1(memory=8GB) l3:1(size=8MB) l2:4(size=512kB) l1:1(size=32kB) core:1 pu:1"
CLOCK, CLOCK_OF_ALL = 2.5e9, 2.1e9
FLOPS = Measure("flops", ("one-core", "all"), axes={"mix": ("fma", "divide"), "width": ("scalar", "256")})
WALK = Measure("latency", ("one-core",), axes={"bytes": "4K:256M/2", "pages": ("small", "huge")})
LOADED = Measure("loaded_latency", ("all",), axes={"delay": (0, 300), "pages": ("small", "huge")})
STREAM = Measure("stream", ("all", "one-core"), axes={"stores": ("ordinary", "non-temporal")})
M = TypeVar("M", bound=Model)


def _analysis(folder: Path, *measures: Measure) -> Analysis:
    study = Study("Cycles", "How many cycles?", measures, launches=6)
    law = Law(clock_hz=CLOCK, loaded_clock_hz=CLOCK_OF_ALL, core_traffic=10e9, node_traffic=25e9)
    return analyse(store.load(simulated_run(folder, law, description=FOUR_CORES, study=study)))


def _of(analysis: Analysis, law: type[M]) -> list[M]:
    return [each for each in analysis.models if isinstance(each, law)]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Analysis:
    return _analysis(tmp_path_factory.mktemp("cycles"), FLOPS, WALK, STREAM, LOADED)


def test_a_load_of_each_level_is_told_in_cycles_of_the_measured_clock(whole: Analysis) -> None:
    levels = [level for model in _of(whole, LatencyLevels) for level in model.levels]
    assert levels
    for level in levels:
        assert level.cycles is not None
        assert level.cycles.value == pytest.approx(CLOCK * level.latency.value, rel=0.02)
        assert level.cycles.lo < level.cycles.value < level.cycles.hi


def test_without_a_measured_clock_no_load_has_cycles(tmp_path: Path) -> None:
    levels = [level for model in _of(_analysis(tmp_path, WALK), LatencyLevels) for level in model.levels]
    assert levels
    assert all(level.cycles is None for level in levels)


def test_lines_in_flight_of_one_core_follow_from_its_bandwidth_and_latency(whole: Analysis) -> None:
    (model,) = _of(whole, LinesInFlight)
    memory = {
        level.latency for each in _of(whole, LatencyLevels) if each.pages == "huge" for level in each.levels[-1:]
    }
    assert {model.latency} == memory
    assert model.bandwidth.value == pytest.approx(10e9, rel=0.02)
    assert model.lines.value == pytest.approx(10e9 * model.latency.value / 64, rel=0.02)
    (one_core,) = (each for each in whole.findings if each.rule == "one_core")
    assert model.id in one_core.evidence


@pytest.mark.parametrize("pages", ["small", "huge"])
def test_idle_latency_is_one_load_of_the_walk_through_the_same_pages(whole: Analysis, pages: str) -> None:
    (walk,) = (each for each in _of(whole, LatencyLevels) if each.pages == pages)
    (loaded,) = (each for each in _of(whole, LoadedLatency) if f"pages={pages}" in each.id)
    assert loaded.idle == walk.levels[-1].latency
    assert loaded.lightest.value == pytest.approx(loaded.idle.value, rel=0.05)
    assert loaded.points[-1].ratio == pytest.approx(loaded.loaded.value / loaded.idle.value)


def test_without_the_walk_alone_a_loaded_latency_has_no_idle_one(tmp_path: Path) -> None:
    for model in _of(_analysis(tmp_path, LOADED), LoadedLatency):
        assert model.idle is None
        assert model.points[-1].ratio == pytest.approx(model.loaded.value / model.lightest.value)


def test_the_load_beside_a_walk_stands_against_what_memory_gives(whole: Analysis) -> None:
    full = [
        e
        for e in whole.estimates
        if (e.benchmark, e.kernel) == ("loaded_latency", "load") and not e.params["delay"]
    ]
    assert full
    assert all(each.limit and 0.5 < (each.median or 0) / each.limit.value <= 1.0 for each in full)


def test_operations_per_cycle_are_of_one_core_and_assume_nothing_of_its_units(whole: Analysis) -> None:
    one, every = sorted(_of(whole, OperationsPerCycle), key=lambda each: each.cores)
    assert (one.cores, every.cores) == (1, 4)
    estimates = {each.id: each for each in whole.estimates}
    for model, clock in ((one, CLOCK), (every, CLOCK_OF_ALL)):
        assert {point.at["mix"] for point in model.points} == {"fma", "divide"}
        for point in model.points:
            rate = estimates[point.estimate].median
            assert rate
            assert point.value.value == pytest.approx(rate / clock / model.cores, rel=0.02)


def test_a_product_has_the_farthest_ends() -> None:
    one, other = Quantity(2.0, 1.0, 3.0, "s", "interval"), Quantity(5.0, 4.0, 6.0, "Hz", "range")
    assert one.times(other, "") == Quantity(10.0, 4.0, 18.0, "", "derived")
    single = msgspec.structs.replace(one, lo=2.0, hi=2.0, basis="single")
    assert single.times(single, "").basis == "single"
