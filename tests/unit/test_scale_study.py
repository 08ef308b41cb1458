"""The study scale:NAME: its plan, its predictions, and its laws compared with published figures."""

import json
from pathlib import Path

import msgspec
import numpy as np
import pytest
import scipy
from click.testing import CliRunner
from tests.simulation import TWO_CORES, plan_for
from tests.unit.test_stages import begun_run, measured

from assay import studies
from assay.analyse import analyse
from assay.analyse.curves import RunEstimates
from assay.analyse.estimates import LaunchMedian, Measured
from assay.analyse.noise import Stops
from assay.catalogue import benchmarks
from assay.cli import assay
from assay.cli.support.plan_page import order_and_cost
from assay.model.benchmark import APART
from assay.model.errors import UnfitEnvironmentError, UsageError
from assay.model.plan import Plan, Study
from assay.model.quantity import Quantity, exact
from assay.model.result import Analysis
from assay.model.run import Run
from assay.plan import Options
from assay.report.sections import sections
from assay.simulation import Law
from assay.topics.scaling.laws import karp_flatt, most_events, usl
from assay.topics.scaling.models.scaling import Scaling, as_rate
from assay.topics.scaling.predictions import speed_up
from assay.topics.scaling.scores import scores, together
from assay.topics.scaling.steps import Step, advice, course

EIGHT = "pack:1 numa:1(memory=64GB) l3:1(size=16MB) l2:8(size=512kB) l1:1(size=32kB) core:1 pu:1"
#: Four cores draw nearly all that the memory gives.
SHARED = Law(core_traffic=12e9, node_traffic=30e9)


def planned(name: str, *sweeps: str, machine: str = EIGHT, hosts: tuple[str, ...] = ()) -> Plan:
    options = Options(sweeps=sweeps, hosts=hosts, values=("size=M",) if "himeno" in name else ())
    return plan_for(machine, studies.get(f"scale:{name}", sweeps), options)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    plan = planned("himeno_mpi", "ranks=1,2,4,8")
    with pytest.MonkeyPatch.context() as patch:
        return measured(patch, begun_run(tmp_path_factory.mktemp("scale"), plan, EIGHT), EIGHT, SHARED)


@pytest.fixture(scope="module")
def analysis(run: Run) -> Analysis:
    return analyse(run)


@pytest.mark.parametrize(
    ("speed_ups", "fractions"),
    [
        ((1.82, 2.50, 3.08, 3.57, 4.00, 4.38, 4.71), (0.1,) * 7),
        ((1.87, 2.61, 3.23, 3.73, 4.14, 4.46, 4.71), (0.070, 0.075, 0.080, 0.085, 0.090, 0.095, 0.100)),
    ],
)
def test_serial_fractions_are_those_of_a_textbook(
    speed_ups: tuple[float, ...], fractions: tuple[float, ...]
) -> None:
    """M. J. Quinn, Parallel Programming in C with MPI and OpenMP, 2003, section 7.5: 2 to 8 processors."""
    for processors, (speed, fraction) in enumerate(zip(speed_ups, fractions, strict=True), start=2):
        assert karp_flatt(exact(speed), processors).value == pytest.approx(fraction, abs=2e-3)


def test_the_ends_of_a_serial_fraction_change_places() -> None:
    found = karp_flatt(Quantity(3.0, 2.8, 3.2, basis="interval"), 4)
    assert found.lo < found.value < found.hi
    assert found.lo == pytest.approx((1 / 3.2 - 0.25) / 0.75)
    assert karp_flatt(exact(5.0), 4).value < 0


#: SPEC SDM91 on a SPARCcenter 2000: users, scripts an hour. Data and both fits: the R package usl.
USERS = np.array([18, 36, 72, 108, 144, 216.0])
SCRIPTS = np.array([995.9, 1652.4, 1853.2, 1828.9, 1775.0, 1702.2])


def test_the_universal_law_has_published_coefficients_of_a_published_system() -> None:
    law = usl(USERS, (SCRIPTS / 64.9)[None, :], np.ones((1, USERS.size)))
    assert law.sigma[0] == pytest.approx(1.705e-2, rel=1e-3)
    assert law.kappa[0] == pytest.approx(7.892e-5, rel=1e-3)


def test_the_maximum_of_the_universal_law_is_the_published_one() -> None:
    """Fitted with a scale of 89.995: alpha 0.0277285, beta 0.0001044, a peak of 1884 at 96.52."""
    law = usl(USERS, (SCRIPTS / 64.9)[None, :])._replace(sigma=np.array([0.0277285]), kappa=np.array([0.0001044]))
    assert law.most[0] == pytest.approx(96.52, rel=1e-3)
    assert 89.9952330 * law.speed_up(float(law.most[0]))[0] == pytest.approx(1884, rel=1e-3)


@pytest.mark.parametrize("seed", range(20))
def test_the_universal_law_is_the_bounded_least_squares_of_scipy(seed: int) -> None:
    random = np.random.default_rng(seed)
    factors = np.array([2.0, 4, 8, 16])[: 2 + seed % 3]
    speed_ups = factors * random.uniform(0.3, 1.2, factors.size)
    law, weights = usl(factors, speed_ups[None, :]), speed_ups / factors
    table = weights[:, None] * np.column_stack((factors - 1, factors * (factors - 1)))
    best = scipy.optimize.lsq_linear(table, weights * (factors / speed_ups - 1), (0, np.inf), tol=1e-12).x
    assert (law.sigma[0], law.kappa[0]) == pytest.approx(tuple(best), abs=1e-6)


def test_amdahl_alone_has_no_maximum() -> None:
    law = usl(np.array([2.0, 4.0]), np.array([[1.9, 3.4]]), coherent=False)
    assert law.kappa[0] == 0
    assert np.isinf(law.most[0])


def step(cores: int, speed: float, wide: float = 0.01, nodes: int = 1) -> Step:
    value = Quantity(speed, speed * (1 - wide), speed * (1 + wide), basis="interval")
    return Step(
        estimates=(f"on-{cores}",),
        label=f"{cores}x1",
        cores=cores,
        nodes=nodes,
        ranks=cores,
        copies=False,
        blocks=6,
        speed_up=value,
        efficiency=value.over(cores),
        node_time=value.inverse("").scaled(nodes, ""),
        serial=karp_flatt(value, cores),
    )


def test_advice_names_the_fastest_the_cheapest_and_the_most_cores_worth_it() -> None:
    steps = (step(2, 1.9, nodes=2), step(4, 3.0, nodes=4), step(8, 3.02, nodes=8))
    found = advice("base", 1, steps)
    assert found
    assert (found.fastest, found.as_fast, found.cheapest) == ("on-8", ("on-4",), "base")
    assert (found.worth, found.worth_is_sure) == (4, True)
    unsure = advice("base", 1, (step(2, 1.01, wide=0.1),))
    assert unsure
    assert (unsure.worth, unsure.worth_is_sure) == (2, False)
    assert advice("base", 1, ()) is None


def test_the_course_of_the_serial_fraction_needs_separate_intervals() -> None:
    assert course((step(2, 1.9), step(8, 3.0))) == "rises"
    assert course((step(2, 1.5), step(8, 7.0))) == "falls"
    assert course((step(2, 1.9, wide=0.05), step(4, 3.4, wide=0.05))) == "constant"
    assert course((step(2, 1.9),)) == ""
    assert course((step(2, 1.9), step(2, 1.8))) == ""
    assert course((step(2, 2.0, wide=0.05), step(4, 3.95, wide=0.05))) == "none"


def test_each_larger_number_of_cores_is_a_round_of_its_own() -> None:
    plan = planned("himeno_mpi", "ranks=1,2,4")
    first = {
        plan.case(each).cores for each in plan.launched if plan.case(each).params.get("coupling") == "sharing"
    }
    assert first == {1}
    assert [{plan.case(each).cores for each in ids} for ids in plan.later] == [{2}, {4}]


@pytest.mark.parametrize(
    ("name", "sweeps", "labels"),
    [
        ("weather", ("ranks=1,2", "threads=1,2"), {"1x1", "2x1", "1x2", "2x2"}),
        ("weather", ("threads=1,8",), {"1x1", "1x8"}),
        ("stream", ("threads=1,4,all",), {"cores:1", "cores:4", "all"}),
        ("stream", (), {f"cores:{count}" for count in range(1, 9)}),
        ("weather", ("nodes=1,2",), {"all@1", "all@2"}),
    ],
)
def test_sweeps_are_placements(name: str, sweeps: tuple[str, ...], labels: set[str]) -> None:
    plan = planned(name, *sweeps, hosts=("n1", "n2"))
    assert {case.placement.label for case in plan.studied if case.benchmark == name} == labels


def test_a_number_of_ranks_that_does_not_fit_is_left_out_alone() -> None:
    words = ["plan", "scale:weather", "--sweep", "ranks=1,2,4,all", "--synthetic", "core:2", "--json"]
    answer = CliRunner().invoke(assay, words, catch_exceptions=False)
    plan = json.loads(answer.stdout)
    cases = (each for each in plan["cases"] if each["benchmark"] == "weather")
    assert {each["placement"]["label"] for each in cases} >= {"1x1", "2x1"}
    assert [each["wish"].split()[2] for each in plan["left_out"] if "x1" in each["wish"]] == ["4x1"]


def test_weak_scaling_keeps_the_memory_per_core() -> None:
    plan = planned("weather", "ranks=1,2,4")
    cells = {
        case.cores: int(case.params["nx"]) ** 2 / case.cores
        for case in plan.studied
        if case.params.get("coupling") == "sharing" and int(case.params["nx"]) not in {400, 1600}
    }
    assert set(cells) == {2, 4}
    assert all(min(abs(each / size**2 - 1) for size in (400, 1600)) < 0.01 for each in cells.values())
    himeno = benchmarks.get("himeno_mpi")
    assert himeno.grown({"size": "S"}, 8) == {"size": "M"}
    assert himeno.grown({"size": "S"}, 4) is None
    assert himeno.grown({"size": "XL"}, 8) is None


@pytest.mark.parametrize(
    ("name", "sweeps", "why"),
    [
        ("hpll", (), "there is no benchmark 'hpll'"),
        ("hpl", ("cores=1",), "is not a sweep"),
        ("hpl", ("ranks=0",), "is not a sweep"),
        ("hpl", ("ranks=1", "ranks=2"), "swept twice"),
        ("nas", ("threads=1,2",), "has one thread"),
        ("weather", ("threads=1,all",), "names no numbers"),
        ("stream", ("ranks=1,2",), "passes no messages"),
    ],
)
def test_an_impossible_sweep_is_refused(name: str, sweeps: tuple[str, ...], why: str) -> None:
    with pytest.raises(UsageError) as caught:
        studies.get(f"scale:{name}", sweeps)
    assert why in f"{caught.value.what} {caught.value.why}"


def test_without_its_program_an_application_is_not_scaled() -> None:
    absent = {"wrf": "the program wrf.exe is not here"}
    with pytest.raises(UnfitEnvironmentError) as caught:
        plan_for(EIGHT, studies.get("scale:wrf"), Options(absent=absent))
    assert "wrf.exe is not here" in caught.value.why


def test_a_stored_study_is_not_swept() -> None:
    answer = CliRunner().invoke(assay, ["plan", "quick", "--sweep", "ranks=1,2", "--synthetic", "core:2"])
    assert isinstance(answer.exception, UsageError)
    assert answer.exception.why == "--sweep is for scale:NAME"


def test_every_number_of_ranks_is_predicted_before_its_launch(run: Run, analysis: Analysis) -> None:
    assert {run.plan.case(each.of).cores for each in run.predictions} == {2, 4, 8}
    ledger = together(scores(run, analysis))
    assert all(entry.held for entry in ledger.entries)
    assert ledger.error
    assert ledger.error.value < 0.03
    lines = [each for each in analysis.predictions if each.law == speed_up.LAW]
    assert len(lines) == len(run.predictions)
    assert not any(each.measured in each.of for each in lines)


def errors_on_uneven_nodes(tmp_path: Path, study: Study) -> dict[int, float]:
    """Return the error of the prediction for each number of cores."""
    hosts = tuple(f"n{number}" for number in range(1, 9))
    speeds = (1.0, 0.98, 0.96, 1.0, 0.94, 1.0, 1.0, 1.0)
    plan = plan_for(TWO_CORES, study, Options(hosts=hosts, values=("nx=400",)))
    uneven = Law(slow_hosts=dict(zip(hosts, speeds, strict=True)))
    with pytest.MonkeyPatch.context() as patch:
        run = measured(patch, begun_run(tmp_path, plan, TWO_CORES), TWO_CORES, uneven)
    errors = {
        run.plan.case(each.case).cores: each.error for each in scores(run, analyse(run)) if each.error is not None
    }
    assert set(errors) == {4, 8, 16}
    return errors


def test_nodes_that_differ_are_predicted_by_copies_on_them(tmp_path: Path) -> None:
    errors = errors_on_uneven_nodes(tmp_path, studies.get("scale:weather", ("nodes=1,2,4,8",)))
    assert all(abs(error) < 0.015 for error in errors.values()), errors


def test_without_copies_the_loss_on_fewer_nodes_continues(tmp_path: Path) -> None:
    """The slowest of more nodes is slower: the error of the law on fewer nodes corrects it."""
    study = studies.get("scale:weather", ("nodes=1,2,4,8",))
    together = tuple(each for each in study.measure if not APART & {*each.axes.values()})
    assert len(together) < len(study.measure)
    errors = errors_on_uneven_nodes(tmp_path, msgspec.structs.replace(study, measure=together))
    assert errors[4] == pytest.approx(-0.02, abs=0.01)
    assert all(abs(errors[cores]) < 0.01 for cores in (8, 16))


def test_ranks_that_wait_for_others_wait_for_their_stops(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """400 stops of .1 ms in 2 s take 2 % of the time of one rank, and with chance up to 2.2 %."""
    case = next(each for each in run.plan.studied if len(each.placement.rank_cpus) == 4)
    seen = RunEstimates(run, ())
    monkeypatch.setattr(speed_up, "stops", lambda _run: Stops(2.0, 0.04, 1e-4, 400))
    assert speed_up._waiting_for_stops(seen, case) == pytest.approx(3 * 0.02 * 1.103, rel=1e-3)
    monkeypatch.setattr(speed_up, "stops", lambda _run: Stops(2.0, 0.0, 0.0, 0))
    assert speed_up._waiting_for_stops(seen, case) == 0


@pytest.mark.parametrize("count", [0, 1, 2, 10, 400, 20_000])
def test_the_most_events_are_those_of_the_exact_interval(count: int) -> None:
    assert most_events(count) == pytest.approx(scipy.stats.chi2.ppf(0.975, 2 * (count + 1)) / 2, rel=1e-6)


def test_a_short_budget_counts_the_cores_that_wait(tmp_path: Path) -> None:
    plan = planned("himeno_mpi", "ranks=1,2,4")
    assert 0.3 < plan.later_share < 0.9
    kept = f"; {100 * plan.later_share:.0f} % of the budget is kept for them"
    assert any(line.endswith(kept) for line in order_and_cost(plan))
    budget_s = 0.5 * plan.estimate_s
    short = msgspec.structs.replace(plan, budget_s=budget_s, grows=False)
    with pytest.MonkeyPatch.context() as patch:
        run = measured(patch, begun_run(tmp_path, short, EIGHT), EIGHT, SHARED)
    figures = [each for each in analyse(run).estimates if each.benchmark == "himeno_mpi" and each.value]
    having = {run.plan.case(each.case).cores for each in figures}
    assert having == {1, 2, 4}
    assert run.plan.later_share == 0
    assert run.ending
    assert run.ending.elapsed_s < 1.2 * budget_s


def test_the_speed_of_a_time_is_its_inverse(analysis: Analysis) -> None:
    seconds = msgspec.structs.replace(
        analysis.estimates[0], better="lower", unit="s", value=Quantity(4.0, 2.0, 5.0, "s", "interval")
    )
    found = as_rate(Measured(seconds, (LaunchMedian(0, None, 4.0),)))
    assert found.estimate.value == Quantity(0.25, 0.2, 0.5, "1/s", "interval")
    assert found.launches == (LaunchMedian(0, None, 0.25),)


def test_on_a_machine_that_changes_a_prediction_misses(tmp_path: Path) -> None:
    """Half of the memory's rate is lost after the first round: the ledger says so."""
    plan = planned("himeno_mpi", "ranks=1,2")
    slower = Law(core_traffic=12e9, node_traffic=30e9, flips=((10.0, "far"),))
    with pytest.MonkeyPatch.context() as patch:
        run = measured(patch, begun_run(tmp_path, plan, EIGHT), EIGHT, slower)
    entries = together(scores(run, analyse(run))).entries
    assert any(entry.held is False and entry.error and entry.error < -0.2 for entry in entries)


def test_the_section_names_strong_and_weak_scaling_and_the_placement_to_take(run: Run, analysis: Analysis) -> None:
    models = [
        each for each in analysis.models if isinstance(each, Scaling) and each.base.startswith("himeno_mpi/")
    ]
    strong = next(each for each in models if not each.weak)
    assert [each.weak for each in models] == [False, True]
    assert strong.serial == "rises"
    assert strong.advice
    assert strong.advice.worth == 4
    (law,) = strong.universal
    assert law.points == 3
    assert all(each.shared and each.messages for each in strong.steps if not each.copies)
    (drawn,) = (each for each in sections(run, analysis) if each.id == "scaling")
    captions = [table.caption.partition(",")[0].partition(":")[0] for table in drawn.tables]
    assert captions == [
        "Speed-ups over the base",
        "Best placements",
        "Universal scalability law",
        "Where speed is lost",
        "Predictions",
    ]


def test_one_machine_of_two_cores_has_no_law_of_scalability(tmp_path: Path) -> None:
    plan = planned("himeno_mpi", machine=TWO_CORES)
    with pytest.MonkeyPatch.context() as patch:
        found = analyse(measured(patch, begun_run(tmp_path, plan, TWO_CORES), TWO_CORES, SHARED))
    assert not any(each.universal for each in found.models if isinstance(each, Scaling))
