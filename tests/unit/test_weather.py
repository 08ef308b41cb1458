"""Weather: its planes and steps, its figures and phases, its scaling, and what the report says; all simulated."""

from pathlib import Path

import msgspec
import pytest
from tests.simulation import TWO_CORES, described, plan_for, simulated_run

from assay import store
from assay.analyse import analyse
from assay.catalogue import benchmarks
from assay.model.benchmark import Resources
from assay.model.placement import Memory, Placement
from assay.model.plan import Measure, Study
from assay.model.result import Analysis, Estimate
from assay.model.run import Run
from assay.model.units import format_quantity, parse_quantity
from assay.report.section import Section
from assay.report.sections import sections
from assay.simulation import Fault, Law
from assay.topics.scaling.models.scaling import Scaling
from assay.topics.stencil.benchmarks.weather import cells
from assay.topics.stencil.sections import weather

WEATHER = benchmarks.get("weather")
PHASES = WEATHER.kernels[1:]


def placed(*ranks: int) -> Placement:
    """Ranks with so many cpus each."""
    cpus = tuple(tuple(range(count)) for count in ranks)
    return Placement("", "", tuple(range(sum(ranks))), Memory(), ("n1",), cpus)


def points(placement: Placement, memory: int, **params: int | str) -> list[tuple[int, int]]:
    found = WEATHER.points(Resources(placement, described().topology, memory), {"coupling": "sharing", **params})
    return [(int(each["nx"]), int(each["time-steps"])) for each in found]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return store.load(simulated_run(tmp_path_factory.mktemp("weather"), Law(), study="weather"))


@pytest.fixture(scope="module")
def analysis(run: Run) -> Analysis:
    return analyse(run)


def estimates(analysis: Analysis, metric: str, columns: int = 1600) -> list[Estimate]:
    return [
        each
        for each in analysis.estimates
        if (each.benchmark, each.metric, each.params.get("nx")) == ("weather", metric, columns)
        and each.kernel == "rate"
    ]


def section(run: Run, analysis: Analysis) -> Section:
    return next(each for each in sections(run, analysis) if each.id == "weather")


def test_planes_go_as_far_as_memory_and_patience() -> None:
    assert points(placed(1), 2**36) == [(400, 150), (1600, 10)]
    assert points(placed(1, 1, 1, 1), 2**36) == [(400, 150), (1600, 10), (6400, 2)]
    assert points(placed(4), 2**36) == [(400, 150), (1600, 10), (6400, 2)]
    assert points(placed(1), 10**8) == [(400, 150)]
    assert points(placed(1), 1) == []
    assert points(placed(1, 1), 2**28, coupling="uncoupled") == [(400, 150), (1600, 10)]


def test_a_plane_that_is_wanted_stays_and_passes_no_more_than_400_seconds() -> None:
    assert points(placed(1), 1, nx=6400) == [(6400, 2)]
    assert points(placed(1), 2**36, nx=100) == [(100, 600)]
    assert points(placed(1), 2**36, nx=16) == [(16, 96)]


def test_ranks_share_the_memory_of_a_plane_with_and_without_messages() -> None:
    whole = WEATHER.memory_bytes({"nx": 1600, "coupling": "sharing"}, placed(1))
    assert 96 * cells(1600) < whole < 1.2 * 96 * cells(1600)
    assert WEATHER.memory_bytes({"nx": 1600, "coupling": "sharing"}, placed(*[1] * 8)) < 0.25 * whole
    assert WEATHER.memory_bytes({"nx": 1600, "coupling": "uncoupled"}, placed(*[1] * 8)) < 0.25 * whole


def test_every_layout_has_a_rate_with_an_interval(analysis: Analysis) -> None:
    rates = [each for each in estimates(analysis, "rate") if each.params["coupling"] == "sharing"]
    assert {(each.basis, each.unit, each.launches) for each in rates} == {("interval", "update/s", 6)}
    layouts = {(*map(len, each.placement.cpus), each.placement.ranks) for each in rates}
    assert len(layouts) == len(rates) == 3  # one core, two ranks, two threads


def test_time_of_a_step_operations_and_traffic_are_those_of_the_rate(analysis: Analysis) -> None:
    for rate in estimates(analysis, "rate"):
        (step, arithmetic, traffic) = (
            next(each for each in estimates(analysis, metric) if each.case == rate.case)
            for metric in ("step", "arithmetic", "traffic")
        )
        assert rate.median
        assert step.median == pytest.approx(cells(1600) / rate.median)
        assert arithmetic.median == pytest.approx(540 * rate.median)
        assert traffic.median == pytest.approx(640 * rate.median)


def test_a_rate_stands_against_what_memory_allows(analysis: Analysis) -> None:
    limited = [each for each in estimates(analysis, "rate") if each.limit]
    assert limited
    for rate in limited:
        assert rate.limit
        assert rate.median
        assert 0.3 < rate.median / rate.limit.value <= 1.02
        assert "640 B for each" in rate.limit.of


def test_phases_add_up_and_only_ranks_that_share_pass_messages(analysis: Analysis) -> None:
    for rate in estimates(analysis, "rate"):
        own = [each for each in analysis.estimates if each.case == rate.case and each.kernel in PHASES]
        found = {each.kernel: each.median for each in own if each.median}
        messages = rate.placement.ranks > 1 and rate.params["coupling"] == "sharing"
        assert set(found) == set(PHASES) - (set() if messages else {"halo"})
        assert rate.median
        whole = cells(1600) * int(rate.params["time-steps"]) / rate.median
        assert sum(found.values()) == pytest.approx(whole, rel=0.02)


def test_ranks_and_threads_are_steps_of_one_curve(analysis: Analysis) -> None:
    models = [each for each in analysis.models if isinstance(each, Scaling) and each.base.startswith("weather/")]
    assert [each.problem["nx"] for each in models] == [400, 1600]
    for model in models:
        assert model.base_cores == 1
        shared = [step for step in model.steps if not step.copies]
        assert sorted(step.ranks for step in shared) == [1, 2]
        assert all(step.efficiency.has_interval for step in shared)
        (ranks,) = (step for step in shared if step.ranks > 1)
        assert ranks.messages
        assert 0 < ranks.messages.value < 1


def test_the_section_shows_rates_steps_and_phases(run: Run, analysis: Analysis) -> None:
    found = section(run, analysis)
    assert {each.id for each in found.figures} == {"figure-weather", "figure-weather-phases"}
    (table,) = found.tables
    rows = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
    assert {row["Plane"].partition(",")[0] for row in rows} == {"400 x 200", "1600 x 800"}
    assert all(row["Rate"].endswith("update/s") for row in rows)
    assert all(row["Time of a step"].endswith("s") for row in rows)
    assert "Messages take the largest share of the time in" in " ".join(found.meaning)
    assert [each.label.partition(",")[0] for each in found.headlines] == ["Weather"]


def test_a_failed_check_yields_no_figure(tmp_path: Path) -> None:
    measure = Measure("weather", ("all",), axes={"nx": 400})
    law = Law(faults=(Fault("wrong-result"),))
    wrong = analyse(store.load(simulated_run(tmp_path, law, study=Study("Weather", "?", (measure,), launches=6))))
    assert not any(each.median for each in wrong.estimates if each.benchmark == "weather")
    assert any("wrong result" in str(each) for each in wrong.outcomes)


def test_parts_and_the_copies_of_earlier_versions_are_named_as_what_they_are(
    analysis: Analysis,
) -> None:
    apart = next(each for each in estimates(analysis, "rate") if each.params["coupling"] == "uncoupled")
    copies = msgspec.structs.replace(apart, params={**apart.params, "coupling": "independent"})
    parts, before = (weather._name(each) for each in (apart, copies))
    assert "parts without messages" in parts
    assert "independent copies" in before


def test_a_plane_too_large_for_memory_is_left_out_with_what_it_needs() -> None:
    measure = Measure("weather", ("one-core",), axes={"nx": (400, 65536)})
    plan = plan_for(TWO_CORES, Study("Weather", "?", (measure,), launches=6))
    assert [case.params["nx"] for case in plan.cases if case.benchmark == "weather"] == [400]
    (left,) = plan.left_out
    assert "GiB" in left.reason


def test_updates_a_second_are_a_unit() -> None:
    assert format_quantity(55.3e6, "update/s") == "55.3 Mupdate/s"
    amount, unit = parse_quantity("1.2 Gupdate/s")
    assert amount == pytest.approx(1.2e9)
    assert unit == "update/s"
