"""What the time of a run was spent on, counted from its records."""

from pathlib import Path

import msgspec
import pytest
from tests.simulation import begin, carry_on, described, plan_for

from assay import store
from assay.analyse import analyse
from assay.cli.support.plan_page import order_and_cost
from assay.model.plan import Measure, Study
from assay.model.result import Analysis
from assay.model.run import Run
from assay.plan import Options
from assay.plan.order import quiet_and_noisy_seconds
from assay.report import formatting
from assay.report.summary import spent
from assay.simulation import Law, SimulatedMachine

STUDY = Study(
    "S",
    "Q?",
    (
        Measure("stream", ("one-core",), axes={"elements": 50_000_000}),
        Measure("memcpy", ("one-core",), axes={"bytes": "1K:64K", "buffers": "hot"}),
    ),
)


def measured(folder: Path, law: Law, budget_s: float, *, grows: bool) -> tuple[Run, Analysis]:
    plan = plan_for(study=STUDY, options=Options(launches=6, budget_s=budget_s))
    plan = msgspec.structs.replace(plan, grows=grows)
    directory = begin(folder, plan)
    carry_on(directory, plan, SimulatedMachine(described().topology, law))
    run = store.load(directory.path)
    return run, analyse(run)


def test_series_short_of_their_samples_are_counted_from_the_records(tmp_path: Path) -> None:
    run, analysis = measured(tmp_path, Law(), 8, grows=True)
    counts = [
        len(series.seconds)
        for launch in run.launches
        for case in launch.cases
        for series in case.series
        if series.phase == "measured" and case.header.case != "sentinel"
    ]
    assert analysis.effort is not None
    assert 0 < analysis.effort.short < analysis.effort.series
    assert analysis.effort.short == sum(count < run.plan.min_samples for count in counts)
    assert analysis.effort.series == len(counts)
    assert f"{analysis.effort.short} of {analysis.effort.series} series" in spent(analysis)


def test_what_a_study_took_beyond_its_budget_is_said(tmp_path: Path) -> None:
    run, _ = measured(tmp_path, Law(), 20, grows=True)
    assert run.ending is not None
    for elapsed_s, grows, beyond_s in (
        (23.0, True, 3.0),
        (23.0, False, 3.0),
        (19.0, True, 0.0),
        (19.0, False, 0.0),
    ):
        plan = msgspec.structs.replace(run.plan, grows=grows)
        ending = msgspec.structs.replace(run.ending, elapsed_s=elapsed_s)
        analysis = analyse(msgspec.structs.replace(run, plan=plan, ending=ending))
        assert analysis.effort is not None
        assert (analysis.effort.budget_s, analysis.effort.grown_s) == (20.0, beyond_s)
        assert ("3 s " in spent(analysis)) == bool(beyond_s)
        assert ("after the budget of 20 s" in spent(analysis)) == (bool(beyond_s) and not grows)


@pytest.mark.parametrize("noise", [0.002, 0.02, 0.1])
@pytest.mark.parametrize("study", ["memory", "flops"])
def test_a_plan_foresees_what_a_run_takes_on_quiet_and_noisy_machines(
    tmp_path: Path, study: str, noise: float
) -> None:
    plan = plan_for(study=study, options=Options(launches=2))
    simulated = SimulatedMachine(described().topology, Law(noise=noise, sampled_s=0.02))
    took_s = carry_on(begin(tmp_path, plan), plan, simulated).elapsed_s
    quiet_s, noisy_s = quiet_and_noisy_seconds(plan)
    assert quiet_s < 0.8 * noisy_s
    assert 0.8 * quiet_s < took_s < 1.2 * noisy_s
    assert noise > 0.01 or took_s < 1.2 * quiet_s
    assert noise < 0.1 or took_s > 0.8 * noisy_s  # it keeps figures imprecise
    words = " ".join(order_and_cost(plan))
    assert (
        f"{formatting.seconds(quiet_s)} on a quiet machine to {formatting.seconds(noisy_s)} on a noisy one"
        in words
    )
