"""What figures stand against: published peaks, and the order of sources."""

import re
from pathlib import Path

import pytest
from tests.simulation import simulated_run
from tests.unit.limited_runs import MACHINE, knowing, slowed

from assay import store
from assay.analyse import analyse
from assay.analyse.limits import laws
from assay.compare.runs import between
from assay.model.declaration import ParamValue
from assay.model.facts import Fact
from assay.model.plan import Measure, Study
from assay.model.record import Series
from assay.model.result import Analysis, Estimate
from assay.model.run import CaseRecords, Run
from assay.simulation import Law

AXES: dict[str, tuple[ParamValue, ...] | ParamValue] = {
    "format": ("fp64", "fp32"),
    "width": ("scalar", "512"),
    "mix": ("fma", "add", "divide", "sqrt"),
}
FLOPS = Study("Peak", "What is the peak?", (Measure("flops", ("all", "one-core"), axes=AXES),), launches=6)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return store.load(
        simulated_run(tmp_path_factory.mktemp("flops"), Law(clock_hz=3e9), description=MACHINE, study=FLOPS)
    )


def _rate(analysis: Analysis, label: str = "all", **params: str) -> Estimate:
    wanted = {"format": "fp64", "width": "512", "mix": "fma"} | params
    (found,) = [
        each
        for each in analysis.estimates
        if each.unit == "flop/s" and each.placement.label == label and wanted.items() <= each.params.items()
    ]
    return found


def test_laws_are_found_by_the_name_that_metrics_use() -> None:
    assert {"memory-bandwidth", "memory-traffic", "copy", "flops-peak", "clock", "roofline"} <= laws().keys()


def test_the_peak_is_cores_clock_units_lanes_and_two_flops_and_says_each(run: Run) -> None:
    known = knowing(
        run, nominal_frequency=Fact(2.5e9, "Hz", "test"), microarchitecture=Fact("zen5", source="test")
    )
    limit = _rate(analyse(known)).limit
    assert limit is not None
    assert (limit.source, limit.kind, limit.value) == ("derived", "flop-rate", 4 * 2.5e9 * 2 * 8 * 2)
    for part in (
        "4 cores",
        "2 units (proven by 1.98 operations per cycle and core)",
        "8 lanes",
        "2 flops",
        "2.50 GHz nominal (test)",
    ):
        assert part in limit.of


@pytest.mark.parametrize(
    ("microarchitecture", "clock", "per_core"),
    [
        # Intel, APP metrics: Xeon Platinum 8280, 28 cores at 2.7 GHz, 2419.2 GFLOP/s; Xeon E5-2697 v3, 14 cores at
        # 2.6 GHz, 582.4. AMD, EPYC 7742 in HPC literature: 64 cores at 2.25 GHz, 2304.
        ("cascadelake", 2.7e9, 2419.2e9 / 28),
        ("haswell", 2.6e9, 582.4e9 / 14),
        ("zen2", 2.25e9, 2304e9 / 64),
    ],
)
def test_peaks_are_those_that_vendors_publish(
    run: Run, microarchitecture: str, clock: float, per_core: float
) -> None:
    facts = {
        "nominal_frequency": Fact(clock, "Hz", "test"),
        "microarchitecture": Fact(microarchitecture, source="test"),
    }
    slow = _rate(
        analyse(knowing(slowed(run, 4, lambda _launch, _case, each: each.kernel != "loaded-clock"), **facts))
    )
    assert slow.limit is not None
    assert slow.limit.value == pytest.approx(4 * per_core)


@pytest.mark.parametrize("mix", ["divide", "sqrt"])
def test_divisions_and_roots_are_compared_with_their_own_kind(run: Run, mix: str) -> None:
    found = analyse(run)
    own = [_rate(found, mix=mix, width=width) for width in ("scalar", "512")]
    fastest = max(own, key=lambda each: each.median or 0.0)
    for each in own:
        assert each.limit is not None
        assert (each.limit.source, each.limit.measured_by) == ("simulated", fastest.id)
        assert each.limit.value == fastest.median
        assert mix in each.limit.of


def test_without_a_nominal_clock_the_loaded_one_counts_and_is_said_to_be_measured(run: Run) -> None:
    limit = _rate(analyse(knowing(run, microarchitecture=Fact("zen5", source="test"))), width="scalar").limit
    assert limit is not None
    assert limit.value == pytest.approx(4 * 3e9 * 2 * 1 * 2, rel=0.02)
    assert "best sample of this run" in limit.of


def test_units_that_the_measured_rate_proves_count_more_than_an_assumption(run: Run) -> None:
    # Two units of 512 bits do 8 times what two of 128 bits do at half of the lanes.
    facts = {"nominal_frequency": Fact(2.5e9, "Hz", "test"), "microarchitecture": Fact("zen", source="test")}
    limit = _rate(analyse(knowing(run, **facts))).limit
    assert limit is not None
    assert (limit.source, limit.value, limit.reference) == ("derived", 4 * 2.5e9 * 2 * 8 * 2, True)


def test_units_that_are_not_used_are_no_proof_of_fewer(run: Run) -> None:
    known = knowing(run, microarchitecture=Fact("zen5", source="test"))
    half = _rate(analyse(slowed(known, 2, lambda _launch, _case, each: each.kernel != "loaded-clock")))
    assert half.limit is not None
    assert (half.median or 0) / half.limit.value == pytest.approx(0.5, rel=0.02)


def test_an_assumption_that_a_figure_exceeds_and_no_unit_explains_is_not_used(run: Run) -> None:
    facts = {"nominal_frequency": Fact(2.5e9, "Hz", "test"), "microarchitecture": Fact("zen", source="test")}
    slow = slowed(knowing(run, **facts), 1.1, lambda _launch, _case, each: each.kernel != "loaded-clock")
    limit = _rate(analyse(slow)).limit
    assert limit is not None
    assert limit.source == "simulated"


def test_a_peak_that_the_user_gives_counts_more_than_what_is_derived(run: Run) -> None:
    known = knowing(run, nominal_frequency=Fact(2.5e9, "Hz", "test"))
    limit = _rate(analyse(known, {"flops-peak": 1e12})).limit
    assert limit is not None
    assert (limit.source, limit.value) == ("given", 1e12)


def test_efficiency_is_told_at_the_nominal_and_the_loaded_clock_and_beyond_it_is_turbo(run: Run) -> None:
    known = knowing(
        run, nominal_frequency=Fact(2.5e9, "Hz", "test"), microarchitecture=Fact("zen5", source="test")
    )
    found = {each.id: each for each in analyse(known).findings}
    claim = found["flops_peak:fp64"].claim
    assert "120 % at 2.50 GHz nominal" in claim
    assert re.search(r"(97|98|99|100) % at 3\.0\d GHz under load", claim)
    assert "turbo" in claim
    assert any(
        each.rule == "clock" and each.severity == "fact" and "Turbo" in each.claim for each in found.values()
    )


def test_a_rate_that_one_unit_fewer_could_not_give_proves_those_that_are_assumed(run: Run) -> None:
    known = knowing(run, microarchitecture=Fact("zen5", source="test"))
    for factor, basis in ((1.0, "proven by 1.98"), (1.2, "proven by 1.6"), (1.9, "assumed for zen5")):
        claim = _claim(slowed(known, factor, lambda _launch, _case, each: each.kernel == "arithmetic"))
        assert f"2 units ({basis}" in claim


def test_an_unknown_processor_has_as_many_units_as_its_best_rate_needs(run: Run) -> None:
    """A guest hid instructions of a processor that does 512 bits as two halves: half of its peak seemed lost."""
    unknown = knowing(run, microarchitecture=Fact("x86_64_v4", source="test"))
    for factor, count, measured in (
        (1.0, "2 units", "1.98"),
        (2.0, "1 unit", "0.99"),
        (2.3, "1 unit", "0.86"),
        (1.5, "2 units", "1.32"),
        (0.94, "2 units", "2.11"),  # a clock of another moment proves no third unit
    ):
        slower = slowed(unknown, factor, lambda _launch, _case, each: each.kernel == "arithmetic")
        assert f"{count} (as many as {measured} operations per cycle and core need" in _claim(slower)
        limit = _rate(analyse(slower)).limit
        assert limit is not None
        assert limit.source == ("simulated" if factor < 1 else "derived")  # a peak that is exceeded is not used


def test_cores_of_an_unknown_processor_that_are_slower_together_have_the_units_of_one(run: Run) -> None:
    unknown = knowing(run, microarchitecture=Fact("x86_64_v4", source="test"))
    all_cores = _rate(analyse(unknown)).placement.cpus
    together = {case.id for case in run.plan.cases if case.placement.cpus == all_cores[0]}
    slower = slowed(
        unknown, 2.3, lambda _, case, each: each.kernel == "arithmetic" and case.header.case in together
    )
    limit = _rate(analyse(slower)).limit
    assert limit is not None
    assert "2 units (as many as 1.98 operations" in limit.of
    assert (_rate(analyse(slower)).median or 0.0) / limit.value == pytest.approx(1 / 2.3, rel=0.03)


def test_a_share_of_the_loaded_clock_above_all_of_it_is_not_told(run: Run) -> None:
    known = knowing(run, microarchitecture=Fact("zen5", source="test"))
    shares = re.compile(
        r"(?:99|100) % at 3\.0\d GHz under load \([\d.]+ to [\d.]+ %, 95 % interval of 6 launches\)"
    )
    assert shares.search(_claim(known))
    wrong = _claim(slowed(known, 1.08, lambda _launch, case, series: _is_clock(case, series)))
    assert "% at" not in wrong
    assert "share is unknown: clock and rate were not measured in the same state" in wrong
    limit = _rate(analyse(slowed(known, 1.08, lambda _launch, _case, each: each.kernel == "loaded-clock"))).limit
    assert limit is not None
    assert limit.source == "simulated"
    assert "so this limit is not used" in limit.of


def test_a_clock_of_one_disturbed_launch_leaves_the_share_as_it_is(run: Run) -> None:
    known = knowing(run, microarchitecture=Fact("zen5", source="test"))
    first = known.launches[0].launch.block
    claim = _claim(
        slowed(known, 1.3, lambda launch, case, each: launch.launch.block == first and _is_clock(case, each))
    )
    assert re.search(r"(9\d|100) % at 3\.\d\d GHz under load \(", claim)


def test_a_share_that_differs_from_launch_to_launch_by_more_than_itself_has_no_ends(run: Run) -> None:
    known = knowing(run, microarchitecture=Fact("zen5", source="test"))
    taken = {launch.launch.id for launch in known.launches if launch.launch.block % 2}
    slow = slowed(known, 50, lambda launch, _, each: launch.launch.id in taken and each.kernel == "arithmetic")
    claim = _claim(slow)
    assert "the share is unknown: it differs too much from launch to launch" in claim
    assert "interval of" not in claim


def test_a_clock_that_was_refused_is_not_compared(run: Run) -> None:
    slow = slowed(run, 50, lambda _launch, case, series: _is_clock(case, series))
    refused = {each for found in analyse(slow).findings if found.id == "clock:refused" for each in found.evidence}
    assert refused
    compared = between(slow, run)
    assert not refused & {pair.a.id for pair in compared.pairs}
    assert {compared.uncompared[name] for name in refused} == {
        "it is not the clock of a core, which was interrupted"
    }
    assert refused <= {pair.a.id for pair in between(run, run).pairs}


def _claim(run: Run) -> str:
    return next(each.claim for each in analyse(run).findings if each.id == "flops_peak:fp64")


def test_a_clock_below_what_is_allowed_is_a_problem_and_the_nominal_one_is_not(tmp_path: Path, run: Run) -> None:
    nominal = Fact(3e9, "Hz", "test")
    assert not [each for each in analyse(knowing(run, nominal_frequency=nominal)).findings if each.rule == "clock"]
    path = simulated_run(
        tmp_path, Law(clock_hz=3e9, loaded_clock_hz=2e9), description=MACHINE, study=FLOPS
    )  # fmt: skip
    slow = analyse(knowing(store.load(path), nominal_frequency=nominal))
    (problem,) = [each for each in slow.findings if each.rule == "clock"]
    assert (problem.severity, problem.status) == ("problem", "observed")
    assert "67 %" in problem.claim


def test_both_precisions_stand_against_one_clock(run: Run) -> None:
    analysis = analyse(knowing(run, microarchitecture=Fact("zen5", source="test")))
    double, single = (_rate(analysis, format=precision).limit for precision in ("fp64", "fp32"))
    assert double is not None
    assert single is not None
    assert single.value == 2 * double.value
    assert double.of.split(" x ")[-1] == single.of.split(" x ")[-1]


def _is_clock(case: CaseRecords, series: Series) -> bool:
    """Whether these are the samples of the clock beside 512-bit fused multiply-adds."""
    return series.kernel == "loaded-clock" and {"512", "fma"} <= set(map(str, case.header.params.values()))


def test_a_launch_whose_cores_were_taken_away_sets_no_clock(run: Run) -> None:
    known = knowing(run, microarchitecture=Fact("zen5", source="test"))
    taken = {launch.launch.id for launch in known.launches if launch.launch.block == 0}
    slow = slowed(known, 50, lambda launch, case, series: launch.launch.id in taken and _is_clock(case, series))
    limit, undisturbed = _rate(analyse(slow)).limit, _rate(analyse(known)).limit
    assert limit is not None
    assert undisturbed is not None
    assert limit.value == pytest.approx(undisturbed.value, rel=0.02)


def test_clocks_below_half_of_the_runs_own_are_refused_and_no_problem(run: Run) -> None:
    known = knowing(run, microarchitecture=Fact("zen5", source="test"), nominal_frequency=Fact(3e9, "Hz", "test"))
    analysis = analyse(slowed(known, 50, lambda _, case, series: _is_clock(case, series)))
    (refused,) = [each for each in analysis.findings if each.id == "clock:refused"]
    assert "not clocks of a core" in refused.claim
    assert len(refused.evidence) == 4  # two precisions on two placements
    estimates = {each.id: each for each in analysis.estimates}
    assert all(59e6 < (estimates[name].median or 0) < 61e6 for name in refused.evidence)
    assert all(estimates[name].limit is None for name in refused.evidence)
    assert not [each for each in analysis.findings if each.rule == "clock" and each.severity == "problem"]
    without = _rate(analyse(knowing(slowed(run, 50, lambda _, case, series: _is_clock(case, series))))).limit
    assert without is not None
    assert without.value == pytest.approx(4 * 3e9 * 2 * 8 * 2, rel=0.03)
    assert "beside 512 fma" not in without.of


def test_the_clocks_of_a_healthy_run_are_all_accepted(run: Run) -> None:
    assert not [each for each in analyse(run).findings if each.id == "clock:refused"]


def test_without_facts_the_clock_is_not_assessed(run: Run) -> None:
    (finding,) = [each for each in analyse(run).findings if each.rule == "clock"]
    assert finding.status == "not assessed"
