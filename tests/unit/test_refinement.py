"""Curves get more sizes where they bend, and only there; the plan goes on with them in blocks of its own."""

import math
from pathlib import Path

import msgspec
from tests.simulation import carry_on, described, simulated_run
from tests.unit.test_osu import estimate

from assay import store
from assay.analyse import analyse
from assay.model.plan import Case, Measure, Plan, Study
from assay.model.quantity import Quantity
from assay.model.result import Estimate
from assay.plan import Options, make, stages
from assay.plan.refinement import WantedSize, wanted_sizes, with_sizes
from assay.simulation import Law, SimulatedMachine
from assay.topics.memory.models.latency_levels import LatencyLevels

SIZES = [4**power for power in range(11)]


def curve(seconds: list[float], sizes: list[int], half_width: float = 0.0) -> list[Estimate]:
    points = []
    for size, value in zip(sizes, seconds, strict=True):
        one = estimate("latency", "s", value, pattern="latency", bytes=size)
        ends = Quantity(value, value * (1 - half_width), value * (1 + half_width), "s", "range")
        points.append(msgspec.structs.replace(one, case=f"pt2pt/{size}", value=ends))
    return points


def switched(size: int) -> float:
    """A law with a protocol switch of a factor 2 after 4 KiB."""
    return (1e-6 + size / 1e9) * (2 if size > 4096 else 1)


def planned(budget_s: float | None = None, **options: object) -> Plan:
    measure = Measure("pt2pt", ("all",), axes={"pattern": "latency", "bytes": "1:4M"}, weight=0.01, why="w")
    study = Study("S", "Q?", (measure,), launches=3, refine=2, budget_s=budget_s)
    return make("own.toml", study, described(), Options(seed=1, **options))  # type: ignore[arg-type]


def of_size(plan: Plan, size: int) -> list[Case]:
    return [case for case in plan.cases if case.params.get("bytes") == size and case.role == "measure"]


def test_a_straight_line_on_logarithmic_axes_wants_nothing() -> None:
    assert wanted_sizes(curve([1e-9 * size**0.7 for size in SIZES], SIZES)) == ()


def test_a_switch_of_protocol_is_looked_at_on_both_sides() -> None:
    found = wanted_sizes(curve([switched(size) for size in SIZES], SIZES))
    assert {2048, 8192} <= {bend.size for bend in found}
    assert all(bend.error > 0.05 for bend in found)
    assert len(found) <= 6


def test_bisection_closes_in_on_the_switch() -> None:
    sizes = list(SIZES)
    for _ in range(4):
        found = wanted_sizes(curve([switched(size) for size in sizes], sizes))
        sizes = sorted({*sizes, *(bend.size for bend in found)})
    below = max(size for size in sizes if size <= 4096)
    above = min(size for size in sizes if size > 4096)
    assert above / below < 1.5


def test_what_the_interval_may_hide_is_no_bend() -> None:
    noisy = [1e-6 * (1.08 if at % 2 else 1.0) for at in range(len(SIZES))]
    assert wanted_sizes(curve(noisy, SIZES))
    assert wanted_sizes(curve(noisy, SIZES, half_width=0.2)) == ()


def test_a_message_without_bytes_stands_on_no_logarithmic_axis() -> None:
    assert wanted_sizes(curve([1e-6, 1e-6, 1e-6], [0, 1, 2])) == ()


def test_new_sizes_are_measured_in_blocks_after_the_others_at_every_level() -> None:
    plan = planned(mpis=("openmpi-4.1.4", "mpich-4.0.2"))
    (one, other) = of_size(plan, 4096)
    more = with_sizes(plan, [WantedSize(one.id, "bytes", 3000, 1.0)], None)
    fresh = of_size(more, 3000)
    assert {case.factors["mpi"] for case in fresh} == {"openmpi-4.1.4", "mpich-4.0.2"}
    assert [case.id.replace("3000", "4096") for case in fresh] == [one.id, other.id]
    assert more.order[: len(plan.order)] == plan.order
    added = more.order[len(plan.order) :]
    assert min(launch.block for launch in added) > max(launch.block for launch in plan.order)
    for case in fresh:
        launches = [launch for launch in added if case.id in launch.cases]
        assert len(launches) == plan.launches
        assert {launch.toolchain for launch in launches} == {
            launch.toolchain for launch in plan.order if case.id.replace("3000", "4096") in launch.cases
        }
    assert len({launch.id for launch in more.order}) == len(more.order)
    assert more.refine == plan.refine - 1


def test_what_the_budget_has_no_time_for_is_said() -> None:
    plan = planned(budget_s=60)
    (one,) = of_size(plan, 4096)
    more = with_sizes(plan, [WantedSize(one.id, "bytes", 3000, 1.0)], 0.01)
    assert more.order == plan.order
    assert more.refine == 0
    assert more.left_out[-1].request == "pt2pt at all"
    assert more.left_out[-1].reason == "the curve needs more sizes (2.93 KiB); the budget has no time for them"


def test_sizes_without_time_stand_in_one_line_for_each_curve() -> None:
    """Levels of a factor ask for the same sizes, and are measured at them together."""
    measure = Measure(
        "pt2pt", ("all",), axes={"pattern": ("latency", "bandwidth"), "bytes": "1:4M"}, weight=0.01, why="w"
    )
    study = Study("S", "Q?", (measure,), launches=3, refine=2, budget_s=60)
    mpis = ("openmpi-4.1.4", "mpich-4.0.2")
    plan = make("own.toml", study, described(), Options(seed=1, mpis=mpis))
    wished = [WantedSize(case.id, "bytes", size, 1.0) for case in of_size(plan, 4096) for size in (6144, 3000)]
    more = with_sizes(plan, wished, 0.01)
    assert [(left.request, left.reason) for left in more.left_out[len(plan.left_out) :]] == [
        (
            f"pt2pt at all, pattern={pattern}",
            "the curve needs more sizes (2.93 KiB, 6 KiB); the budget has no time for them",
        )
        for pattern in ("latency", "bandwidth")
    ]


def test_where_nothing_bends_the_run_is_over() -> None:
    plan = planned()
    assert with_sizes(plan, [], None).refine == 0


def test_the_error_is_that_of_interpolation() -> None:
    points = curve([1.0, 3.0, 4.0], [1, 2, 4])
    (bend, *_) = wanted_sizes(
        [
            msgspec.structs.replace(each, params=each.params | {"bytes": size})
            for each, size in zip(points, (16, 64, 256), strict=True)
        ]
    )
    assert isinstance(bend, WantedSize)
    assert math.isclose(bend.error, 3.0 / 2.0 - 1)


def test_steps_between_levels_of_working_sets_are_halved_down_to_eight_an_octave(tmp_path: Path) -> None:
    """Caches of 32 KiB, 1 MiB and 32 MiB; the walk goes on until memory is reached."""
    walk = Measure("latency", ("one-core",), axes={"bytes": "4K:64M/2", "pages": "huge"}, weight=0.03)
    run = store.load(simulated_run(tmp_path, study=Study("S", "Q?", (walk,), launches=6, refine=6)))
    for _ in range(6):
        analysis = analyse(run)
        plan = stages.refined(run, lambda: analysis)  # noqa: B023 (called at once)
        if plan is None or plan.order == run.plan.order:
            break
        directory = store.reopen(Path(run.path))
        directory.resume(plan)
        carry_on(directory, plan, SimulatedMachine(described().topology, Law(), seed=2))
        run = store.load(Path(run.path))
    sizes = sorted(int(case.params["bytes"]) for case in run.plan.studied)
    for cache in (32 * 2**10, 2**20, 32 * 2**20):
        above = min(size for size in sizes if size > cache)
        below = max(size for size in sizes if size <= cache)
        assert above / below < 2 ** (1 / 8) * 1.01
    assert len(sizes) < 50
    (model,) = (each for each in analyse(run).models if isinstance(each, LatencyLevels))
    assert model.levels[-1].answered_by == "memory"
    assert not model.goes_on
    assert 128 * 2**20 <= sizes[-1] <= 256 * 2**20
