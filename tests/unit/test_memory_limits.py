"""What rates of memory and copies stand against: the highest measured rate, and what a core stores."""

from pathlib import Path

import msgspec
import pytest
from tests.simulation import simulated_run
from tests.unit.limited_runs import MACHINE, knowing, slowed

from assay import store
from assay.analyse import analyse
from assay.model.facts import Fact
from assay.model.law import Model, Unfitted
from assay.model.plan import Measure, Study
from assay.model.run import Run
from assay.simulation import Law
from assay.topics.cores.models.roofline import Roofline

MEMORY = Study(
    "Memory",
    "Who knows the highest rate?",
    (
        Measure("stream", ("all", "one-core"), axes={"stores": ("ordinary", "non-temporal")}),
        Measure("loaded_latency", ("all",), axes={"delay": 0}),
        Measure("flops", ("all",), axes={"format": "fp64", "width": "512", "mix": "fma"}),
        Measure("himeno", ("all",), axes={"size": "L"}),
    ),
    launches=6,
)


@pytest.mark.parametrize(
    ("slow", "benchmark"),
    [((), "stream"), (("stream", "himeno"), "loaded_latency"), (("stream", "loaded_latency"), "himeno")],
)
def test_the_measured_limit_of_memory_is_the_highest_rate_that_any_benchmark_saw(
    tmp_path: Path, slow: tuple[str, ...], benchmark: str
) -> None:
    run = store.load(simulated_run(tmp_path, description=MACHINE, study=MEMORY))
    analysis = analyse(slowed(run, 2, lambda _launch, case, _series: case.header.benchmark in slow))
    rates = {("stream", "traffic"), ("loaded_latency", "bandwidth"), ("himeno", "traffic")}
    known = [each for each in analysis.estimates if (each.benchmark, each.metric) in rates]
    best = max(known, key=lambda each: each.median or 0)
    assert best.benchmark == benchmark
    of_one_core = max(each.median or 0 for each in known if each.placement.label == "one-core")
    for each in analysis.estimates:
        if each.benchmark == "stream" or (each.benchmark, each.metric) == ("himeno", "traffic"):
            one = each.placement.label == "one-core"
            assert each.limit is not None
            # Bytes counted stand against bytes counted, so that both metrics of a kernel have one share.
            (moved,) = [
                other
                for other in known
                if (other.case, other.kernel) == (each.case, each.kernel) and other.metric == "traffic"
            ]
            share = (moved.median or 0) / (of_one_core if one else best.median or 0)
            assert each.limit.source == "simulated"
            assert (each.median or 0) / each.limit.value == pytest.approx(share)
            assert each.limit.scope == ("core" if one else "machine")
            whose = "rate of this core in this run: stream " if one else f"rate of this run: {benchmark} "
            assert f"the best measured memory {whose}" in each.limit.of
            assert (each.median or 0) <= each.limit.value
    (roof,) = [each for each in analysis.models if each.law == "roofline"]
    assert best.id in roof.of
    assert isinstance(roof, Roofline)
    assert roof.roofs[0].bandwidth.value == best.median


def _roofs(run: Run) -> list[Model]:
    return [each for each in analyse(run).models if each.law == "roofline"]


def _measuring(folder: Path, *measures: Measure) -> Run:
    study = msgspec.structs.replace(MEMORY, measure=measures, launches=3)
    return store.load(simulated_run(folder, description=MACHINE, study=study))


def test_what_cores_draw_that_pause_is_no_roof_and_without_stream_there_is_none(tmp_path: Path) -> None:
    stream, _, flops, himeno = MEMORY.measure
    waiting = Measure("loaded_latency", ("all",), axes={"delay": 15})
    (none,) = _roofs(_measuring(tmp_path / "none", waiting, flops, himeno))
    assert isinstance(none, Unfitted)
    assert "STREAM" in none.reason
    slow = slowed(
        _measuring(tmp_path / "slow", stream, waiting, flops),
        4,
        lambda _launch, case, _series: case.header.benchmark == "stream",
    )
    (roof,) = _roofs(slow)
    assert roof.of[1].startswith("stream/")


def test_a_roofline_without_kernels_is_left_out(tmp_path: Path) -> None:
    _, loaded, flops, _ = MEMORY.measure
    assert not _roofs(_measuring(tmp_path, loaded, flops))


def test_a_figure_that_caches_may_help_sets_no_limit_and_has_no_share_of_one_that_it_exceeds(
    tmp_path: Path,
) -> None:
    half = msgspec.structs.replace(MEMORY.measure[-1], axes={"size": "M"})  # 235 MB beside 100 MB of cache
    study = msgspec.structs.replace(MEMORY, measure=(*MEMORY.measure[:-1], half))
    run = store.load(simulated_run(tmp_path, description=MACHINE.replace("32MB", "100MB"), study=study))
    slow = analyse(slowed(run, 2, lambda _launch, case, _series: case.header.benchmark != "himeno"))
    (traffic,) = [each for each in slow.estimates if (each.benchmark, each.metric) == ("himeno", "traffic")]
    assert traffic.limit is None
    assert traffic.exceeds is not None
    assert (traffic.median or 0) > 1.02 * traffic.exceeds.value
    (found,) = [each for each in slow.findings if each.id == "wrong_limit:himeno:memory"]
    assert traffic.id in found.evidence
    assert found.numbers["statistic"].value > found.numbers["threshold"].value == 1.02


def test_copies_in_the_first_cache_stand_against_what_a_core_stores_and_others_do_not(tmp_path: Path) -> None:
    study = Study(
        "Copies",
        "How fast?",
        (
            Measure("memcpy", ("one-core",), axes={"bytes": (8192, 262144)}),
            Measure("flops", ("one-core",), axes={"format": "fp64", "width": "512", "mix": "fma"}),
        ),
        launches=6,
    )
    run = store.load(simulated_run(tmp_path, Law(clock_hz=2e9), description=MACHINE, study=study))
    analysis = analyse(knowing(run, microarchitecture=Fact("zen5", source="test")))
    first, second = (each.limit for each in analysis.estimates if each.metric == "bandwidth")
    assert first is not None
    assert second is not None
    # Software Optimization Guide for the AMD Zen5 Microarchitecture: one store of 512 bits a cycle.
    assert first.source == "derived"
    assert first.value == pytest.approx(64 * 2e9, rel=0.02)
    assert second.source == "simulated"
