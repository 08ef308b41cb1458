"""One loop measures what is begun and what stages ask for; a further stage is a function."""

from pathlib import Path

import msgspec
import pytest
from tests.simulation import begin, described, plan_for, simulated_run, starter_for

from assay import store
from assay.cli.support import measuring
from assay.cli.support.measuring import OpenRun, measure_all
from assay.launch.command import Site
from assay.model.errors import InterruptedRunError
from assay.model.plan import Measure, Plan, Study
from assay.model.run import Run
from assay.plan import Options
from assay.plan.refinement import WantedSize, with_sizes
from assay.plan.stages import Stage
from assay.run.ledger import begun
from assay.simulation import Fault, Law, Link, SimulatedMachine

MACHINE = "pack:1 numa:2(memory=8GB) l3:1(size=8MB) l2:4(size=512kB) l1:1(size=32kB) core:1 pu:1"
HALVES = Study("Halves", "Do half of the cores get more?", (Measure("stream", ("all", "half")),), launches=3)
#: A law by which half of the cores beat all of them, and one by which all paths switch protocol after 4 KiB.
CONTENDED = Law(core_traffic=12e9, node_traffic=20e9, contention=0.3)
SWITCHING = Law(
    links=dict.fromkeys(
        ("core", "l3", "numa", "package"), Link(5e-7, 7e9, 40e9, eager_bytes=4096, rendezvous_s=2e-6)
    )
)


def measured(monkeypatch: pytest.MonkeyPatch, run: Run, machine: str, law: Law, seed: int = 1) -> Run:
    """The run as `measure_all` leaves it on a simulated machine."""
    simulated = SimulatedMachine(described(machine).topology, law, run.plan.hosts, seed)
    monkeypatch.setattr("assay.cli.support.measuring.Processes", lambda: simulated)
    monkeypatch.setattr("assay.cli.support.measuring.Starter", lambda _site: starter_for(run.plan))
    with OpenRun(run, Site("simulated")) as opened:
        measure_all(opened)
    return store.load(Path(run.path))


def begun_run(folder: Path, plan: Plan, machine: str) -> Run:
    with begin(folder, plan, machine) as directory:
        return directory.run


def test_the_study_then_its_experiments_are_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = plan_for(MACHINE, HALVES, Options(confirm=True, confirm_s=600.0))
    run = measured(monkeypatch, begun_run(tmp_path, plan, MACHINE), MACHINE, CONTENDED)
    assert run.ending
    assert run.ending.status == "complete"
    assert len(run.launches) == len(plan.order)
    (trial,) = run.plan.trials
    assert len(run.trials) == len(trial.order)
    assert run.plan.confirm_s is None
    assert run.plan.cases == plan.cases


def test_a_curve_gets_sizes_as_long_as_it_has_steps_and_rounds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    measure = Measure("pt2pt", ("all",), axes={"pattern": "latency", "bytes": "1:4M"}, weight=0.01)
    study = Study("Curve", "Where does it switch?", (measure,), launches=3, refine=2)
    plan = plan_for(MACHINE, study)
    run = measured(monkeypatch, begun_run(tmp_path, plan, MACHINE), MACHINE, SWITCHING)
    sizes = {case.params["bytes"] for case in run.plan.studied} - {case.params["bytes"] for case in plan.studied}
    assert sizes
    assert run.plan.order[: len(plan.order)] == plan.order
    assert len(run.launches) == len(run.plan.order)
    assert run.plan.refine == 0


def test_an_interrupted_experiment_is_begun_and_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = simulated_run(tmp_path, CONTENDED, description=MACHINE, study=HALVES)
    run = store.load(path)
    run = msgspec.structs.replace(run, plan=msgspec.structs.replace(run.plan, confirm_s=600.0))
    law = Law(core_traffic=12e9, node_traffic=20e9, contention=0.3, faults=(Fault("interrupt", "confirm/", (7,)),))
    with pytest.raises(InterruptedRunError):
        measured(monkeypatch, run, MACHINE, law)
    run = store.load(path)
    (trial,) = run.plan.trials
    assert 0 < len(run.trials) < len(trial.order)
    assert begun(run) == (trial,)
    run = measured(monkeypatch, run, MACHINE, CONTENDED)
    assert len(run.trials) == len(trial.order)
    assert begun(run) == ()
    assert run.ending
    assert run.ending.status == "complete"


def test_a_further_stage_is_one_function_and_ends_when_it_makes_no_launch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A size that another stage still needs, asked for again and again."""
    asked: list[int] = []

    def needed(run: Run, _analysis: object) -> Plan:
        asked.append(len(run.made))
        (case, *_) = [each for each in run.plan.studied if each.params["bytes"] == 64]
        return with_sizes(run.plan, [WantedSize(case.id, "bytes", 3000, 1.0)], None)

    monkeypatch.setattr(measuring, "STAGES", (Stage(needed, "sizes that are needed"),))
    measure = Measure("pt2pt", ("all",), axes={"pattern": "latency", "bytes": (64, 4096)})
    plan = plan_for(MACHINE, Study("S", "Q?", (measure,), launches=3))
    run = measured(monkeypatch, begun_run(tmp_path, plan, MACHINE), MACHINE, Law())
    assert {case.params["bytes"] for case in run.plan.studied} == {64, 3000, 4096}
    assert asked == [len(plan.order), len(run.launches)]


def test_a_run_that_is_whole_is_not_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = simulated_run(tmp_path, Law(), description=MACHINE, study=HALVES)
    before = {each: each.read_bytes() for each in path.rglob("*") if each.is_file()}
    run = measured(monkeypatch, store.load(path), MACHINE, Law())
    assert run.ending
    assert {each: each.read_bytes() for each in path.rglob("*") if each.is_file()} == before
