"""Experiments in blocks of their own: a real cause is confirmed, chance is refuted, the study stays as it was."""

import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.simulation import confirm, go_on, simulated_run, starter_for

from assay import store
from assay.analyse import analyse
from assay.cli import assay
from assay.launch.starter import Starter
from assay.model.errors import UsageError
from assay.model.plan import Measure, Plan, Study
from assay.model.result import Analysis, Finding
from assay.plan import Options
from assay.plan import experiment_plan as planned
from assay.plan.experiments import wanted
from assay.run.ledger import remaining_work
from assay.simulation import Fault, Law
from assay.topics.interchange.exports.csv_ import samples

MACHINE = "pack:1 numa:2(memory=8GB) l3:1(size=8MB) l2:4(size=512kB) l1:1(size=32kB) core:1 pu:1"
STUDY = Study("Halves", "Do half of the cores get more?", (Measure("stream", ("all", "half")),), launches=3)
HEALTHY = Law(core_traffic=12e9, node_traffic=30e9)
CONTENDED = Law(core_traffic=12e9, node_traffic=20e9, contention=0.3)


def candidate(folder: Path, law: Law = CONTENDED, seed: int = 1) -> Path:
    """A run of three launches in which half of the cores beat all of them, as the law has it."""
    return simulated_run(folder, law, description=MACHINE, study=STUDY, seed=seed)


def half_cores(analysis: Analysis) -> Finding:
    (found,) = [each for each in analysis.findings if each.rule == "half_cores"]
    return found


def trial_of(path: Path, seconds: float = 600.0) -> Plan:
    run = store.load(path)
    return planned(run.plan, wanted(analyse(run), run.plan), seconds)


def test_a_candidate_names_the_command_that_decides(tmp_path: Path) -> None:
    path = candidate(tmp_path)
    found = half_cores(analyse(store.load(path)))
    assert found.status == "candidate"
    assert found.next.startswith(f"assay run --resume {path.name} --confirm ")


def test_an_experiment_is_planned_by_what_its_cases_took_in_the_study(tmp_path: Path) -> None:
    path = candidate(tmp_path)
    run = store.load(path)
    assumed_s = trial_of(path).estimate_s
    took_s = confirm(path, CONTENDED, MACHINE).elapsed_s
    foreseen_s = store.load(path).plan.trials[0].estimate_s
    assert 0.9 * took_s < foreseen_s < 1.5 * took_s < 0.8 * assumed_s
    assert planned(run.plan, wanted(analyse(run), run.plan), foreseen_s, run.launches).order
    assert not planned(run.plan, wanted(analyse(run), run.plan), 0.5 * foreseen_s, run.launches).order


def test_a_real_cause_is_confirmed_by_blocks_of_its_own(tmp_path: Path) -> None:
    path = candidate(tmp_path)
    confirm(path, CONTENDED, MACHINE)
    found = half_cores(analyse(store.load(path)))
    assert found.status == "confirmed"
    assert "95 % interval of 10 blocks, above the threshold of 1.02" in found.statistic
    assert "Confirmed by experiment" in found.claim
    assert "OMP_NUM_THREADS" in found.next  # the remedy


def test_what_the_machine_does_not_do_again_is_refuted(tmp_path: Path) -> None:
    path = candidate(tmp_path)
    confirm(path, HEALTHY, MACHINE)  # what made it a candidate, another program perhaps, is gone
    found = half_cores(analyse(store.load(path)))
    assert found.status == "refuted"
    assert found.severity == "fact"
    assert "it was chance" in found.claim
    assert not found.next


def test_an_interval_on_both_sides_of_the_border_leaves_it_open(tmp_path: Path) -> None:
    path = candidate(tmp_path)
    noisy = Law(core_traffic=12e9, node_traffic=30e9, launch_noise=0.2)
    confirm(path, noisy, MACHINE)
    found = half_cores(analyse(store.load(path)))
    assert found.status == "candidate"
    assert "The experiment did not decide" in found.claim
    assert "--confirm" in found.next


def test_an_experiment_that_fails_leaves_it_open_and_says_so(tmp_path: Path) -> None:
    path = candidate(tmp_path)
    broken = Law(core_traffic=12e9, node_traffic=30e9, faults=(Fault("crash", "confirm/"),))
    confirm(path, broken, MACHINE)
    found = half_cores(analyse(store.load(path)))
    assert found.status == "candidate"
    assert "The experiment did not decide" in found.claim


def test_no_figure_of_the_study_rests_on_an_experiment(tmp_path: Path) -> None:
    path = candidate(tmp_path)
    before = store.load(path)
    confirm(path, HEALTHY, MACHINE)
    after = store.load(path)
    assert after.launches == before.launches
    assert after.trials
    analyses = [analyse(each) for each in (before, after)]
    for part in ("estimates", "comparisons", "models", "noise", "outcomes"):
        assert getattr(analyses[0], part) == getattr(analyses[1], part)
    assert after.ending
    assert before.ending
    assert after.ending.status == before.ending.status
    assert after.ending.elapsed_s > before.ending.elapsed_s


def test_a_healthy_machine_asks_for_no_experiment(tmp_path: Path) -> None:
    path = candidate(tmp_path, HEALTHY)
    assert trial_of(path).experiments == {}
    assert trial_of(path).order == ()


def test_every_block_holds_every_arm_once_and_follows_those_of_the_study(tmp_path: Path) -> None:
    path = candidate(tmp_path)
    plan, own = store.load(path).plan, trial_of(path)
    measured = [case.id for case in own.cases if case.role == "measure"]
    assert len(measured) == 2
    assert all(name.startswith("confirm/stream/") for name in measured)
    assert not {case.id for case in plan.cases} & set(measured)
    blocks: dict[int, list[str]] = {}
    for launch in own.order:
        blocks.setdefault(launch.block, []).extend(launch.cases)
    assert min(blocks) > max(launch.block for launch in plan.order)
    assert sum(sorted(cases) == sorted([*measured, "sentinel"]) for cases in blocks.values()) == 10
    assert not {launch.id for launch in own.order} & {launch.id for launch in plan.order}
    orders = {tuple(case for case in cases if case in measured) for cases in blocks.values()} - {()}
    assert len(orders) == 2  # neither is always first


def test_little_time_makes_fewer_blocks_and_too_little_none(tmp_path: Path) -> None:
    path = candidate(tmp_path)
    ten = trial_of(path)
    some = trial_of(path, ten.estimate_s * 0.8)
    assert 6 <= some.launches < 10
    assert some.estimate_s <= ten.estimate_s * 0.8
    none = trial_of(path, ten.estimate_s * 0.3)
    assert none.experiments == {}
    assert "no room for its 6 blocks" in none.left_out[0].reason


def test_an_experiment_is_made_once(tmp_path: Path) -> None:
    path = candidate(tmp_path)
    confirm(path, Law(core_traffic=12e9, node_traffic=30e9, launch_noise=0.2), MACHINE)
    assert half_cores(analyse(store.load(path))).status == "candidate"
    assert trial_of(path).experiments == {}


def test_one_that_was_interrupted_goes_on_where_it_stopped(tmp_path: Path) -> None:
    path = candidate(tmp_path)
    stopped = Law(
        core_traffic=12e9, node_traffic=20e9, contention=0.3, faults=(Fault("interrupt", "confirm/", (7,)),)
    )
    assert confirm(path, stopped, MACHINE).status == "interrupted"
    run = store.load(path)
    (plan,) = run.plan.trials
    made = len(run.trials)
    assert 0 < made < len(plan.order)
    assert run.ending
    assert run.ending.status == "complete"  # of the study, which it was
    assert remaining_work(run) is None
    assert remaining_work(run, plan)
    go_on(path, CONTENDED, MACHINE, run.ending)
    run = store.load(path)
    assert len(run.trials) == len(plan.order)
    assert remaining_work(run, plan) is None
    assert half_cores(analyse(run)).status == "confirmed"


def test_a_run_that_its_budget_cut_is_confirmed_without_the_rest_of_it(tmp_path: Path) -> None:
    options = Options(budget_s=1.0)
    path = simulated_run(tmp_path, CONTENDED, description=MACHINE, study=STUDY, options=options)
    run = store.load(path)
    if run.ending is None or run.ending.status != "cut":
        pytest.fail("the budget was meant to cut the run")
    made = len(run.launches)
    confirm(path, CONTENDED, MACHINE)
    assert len(store.load(path).launches) == made


def test_assay_run_prints_the_experiments_of_a_run_without_making_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = candidate(tmp_path)
    monkeypatch.setenv("ASSAY_RUNS", str(tmp_path))
    monkeypatch.setattr(Starter, "commands", starter_for(store.load(path).plan).commands)
    shown = CliRunner().invoke(assay, ["run", "--resume", path.name, "--confirm", "--dry-run"])
    assert shown.exit_code == 0, shown.exception
    assert ": 2 more cases in 31 launches, about " in shown.output
    assert shown.output.count("--case confirm/stream/half/") == 10
    assert store.load(path).plan.trials == ()


def test_a_run_without_candidates_says_that_there_is_nothing_to_confirm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = candidate(tmp_path, HEALTHY)
    monkeypatch.setenv("ASSAY_RUNS", str(tmp_path))
    shown = CliRunner().invoke(assay, ["run", "--resume", path.name, "--confirm", "--dry-run"])
    assert shown.exit_code == 0, shown.exception
    assert "no candidate finding" in shown.output


def test_what_others_measured_is_not_measured_again() -> None:
    refused = CliRunner().invoke(assay, ["run", "--resume", "hpcdiy-qdr", "--confirm", "--dry-run"]).exception
    assert isinstance(refused, UsageError)
    assert "was imported" in refused.what


@pytest.mark.parametrize(
    ("words", "seconds"),
    [
        (("--confirm",), "1 min 15 s"),
        (("--confirm-budget", "5m"), "5 min"),
        (("--budget", "30s", "--confirm"), "30 s"),
    ],
)
def test_a_plan_says_what_experiments_may_take(words: tuple[str, ...], seconds: str) -> None:
    shown = CliRunner().invoke(assay, ["plan", "quick", "--synthetic", MACHINE, *words])
    assert shown.exit_code == 0, shown.exception
    assert f"6 to 10 blocks each, at most {seconds} more" in " ".join(shown.output.split())
    assert shlex.join(words) in shown.output  # in the command that comes next


def test_no_time_is_no_time_for_experiments() -> None:
    refused = CliRunner().invoke(assay, ["plan", "quick", "--synthetic", MACHINE, "--confirm-budget", "0s"])
    assert isinstance(refused.exception, UsageError)


def test_raw_samples_of_experiments_are_exported(tmp_path: Path) -> None:
    path = candidate(tmp_path)
    confirm(path, CONTENDED, MACHINE)
    lines = list(samples(store.load(path)))
    assert any("confirm/stream/half/" in line for line in lines)
    assert any(',"stream/half/' in line for line in lines)
