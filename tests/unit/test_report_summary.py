"""The first page: what was cut stands first, counts agree, and one launch earns no praise."""

import io
import re
from pathlib import Path
from typing import Literal

import msgspec
import pytest
from rich.console import Console
from tests.simulation import simulated_run
from tests.unit.report_example import Example, example

from assay import store
from assay.analyse import analyse
from assay.analyse.findings import rules
from assay.catalogue import benchmarks
from assay.compare import figure_rows
from assay.compare.runs import within
from assay.model.left_out import LeftOut
from assay.model.plan import Factor
from assay.model.quantity import Basis, Quantity
from assay.model.result import Analysis, Finding, Limit
from assay.model.run import LaunchRecords, Run
from assay.model.text import Rooted, cli, text
from assay.model.units import typed_duration
from assay.plan import Options
from assay.report import formatting, terminal
from assay.report.section import Headline
from assay.report.spoken import Spoken
from assay.report.summary import counted, heading, planned, shortfall, summary, usable, verdict
from assay.simulation import Law

#: A machine that nothing else uses.
HEALTHY = Law(core_traffic=12e9, node_traffic=30e9)


@pytest.fixture(scope="module")
def cut(tmp_path_factory: pytest.TempPathFactory) -> Example:
    """A run whose budget has time for a part of its plan."""
    run = store.load(simulated_run(tmp_path_factory.mktemp("cut"), options=Options(budget_s=1)))
    assert run.ending is not None
    assert run.ending.status == "cut"
    return Example(run, analyse(run))


def _shown(here: Example) -> str:
    console = Console(file=io.StringIO(), width=200, force_terminal=False)
    terminal.render(here.run, here.analysis, console)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_cases_are_those_of_the_study_wherever_they_are_counted(tmp_path: Path) -> None:
    """The fixed work between blocks, and the second measurements A against A, are none."""
    options = Options(budget_s=2, factors=(Factor("touch", ("parallel", "serial"), "axis"),))
    run = store.load(simulated_run(tmp_path, options=options))
    here = Example(run, analyse(run))
    roles = {case.role for case in run.plan.cases}
    assert roles == {"measure", "control", "sentinel"}
    count = len(run.plan.studied)
    missing = tuple(each for each in here.analysis.outcomes if each.status != "complete")
    fewer = sum(each.case in {case.id for case in run.plan.studied} for each in missing)
    assert 0 < fewer < len(missing)
    assert counted(run, missing) == f"{fewer} of {count} cases"
    assert f"{fewer} of {count} cases" in shortfall(run, here.analysis)
    (finding,) = (each for each in here.analysis.findings if each.id == "not_measured:missing")
    assert finding.claim.startswith(f"{fewer} of {count} cases were not measured: the budget of 2 s was used up")
    shown = _shown(here)
    # The case that the budget ended is told apart from those that it left.
    assert sum(map(int, re.findall(r"^ +(\d+) cases? skipped: ", shown, re.MULTILINE))) == fewer
    assert f"{fewer - 1} cases skipped: the budget of 2 s was used up" in shown
    others = len(missing) - fewer
    assert f"{others} control measurement{'s' * (others > 1)} skipped: " in shown
    controls = tuple(each for each in missing if run.plan.case(each.case).role != "measure")
    assert counted(run, controls) == f"{others} of {len(run.plan.cases) - count} control measurements"


def test_what_the_machine_cannot_tell_apart_is_said_once_behind_a_run(tmp_path: Path) -> None:
    options = Options(factors=(Factor("touch", ("parallel", "serial"), "axis"),))
    run = store.load(simulated_run(tmp_path, options=options))
    analysis = analyse(run)
    console = Console(file=io.StringIO(), width=200, force_terminal=False)
    terminal.render(run, analysis, console)
    figure_rows.render(within(run, analysis), console)
    assert isinstance(console.file, io.StringIO)
    assert console.file.getvalue().count("A against A: two measurements of the same case differ by less than") == 1


def test_what_was_cut_stands_first_in_what_is_wrong(cut: Example) -> None:
    wished = planned(cut.run, cut.analysis)
    missing = sum(outcome.status != "complete" for outcome in wished)
    assert 0 < missing < len(wished)
    first = summary(cut.run, cut.analysis).wrong[0]
    assert first.startswith(f"The time budget of 1 s cut the run short: {missing} of {len(wished)} cases were not")


def test_what_is_typed_next_continues_the_run_before_it_begins_another(cut: Example) -> None:
    first, *others = summary(cut.run, cut.analysis).next
    assert cut.run.ending
    needed = typed_duration(cut.run.ending.needed_s or 0)
    assert first.do == f"assay run --resume {cut.run.info.id} --budget {needed}"
    assert first.why
    assert all(step.do != first.do for step in others)
    kinds = [bool(step.commands) for step in others]
    assert kinds == sorted(kinds, reverse=True)


def test_the_terminal_says_near_its_top_that_the_run_was_cut(cut: Example) -> None:
    assert shortfall(cut.run, cut.analysis) in "\n".join(_shown(cut).splitlines()[2:4])


def _grade(here: Example) -> tuple[str, str]:
    found = usable(here.run, here.analysis)
    return found.grade, found.reason


def test_the_verdict_names_the_worst_that_speaks_against_the_figures(tmp_path: Path, cut: Example) -> None:
    run = store.load(simulated_run(tmp_path, HEALTHY, options=Options(launches=6)))
    analysis = analyse(run)
    assert _grade(Example(run, analysis))[0] == "good"
    assert _grade(cut) == ("care", shortfall(cut.run, cut.analysis))
    replaced = msgspec.structs.replace
    noise = next(each for each in analysis.findings if each.rule == "machine_noise")
    loud = replace_finding(analysis, replaced(noise, severity="problem", claim="Others took a core."))
    assert _grade(Example(run, loud)) == ("care", "Others took a core.")
    for lost, least, grade in ((0.05, 0.02, "care"), (0.12, 0.05, "care"), (0.69, 0.6, "bad")):
        share = Quantity(lost, least, 0.9, basis="interval")
        noisy = replaced(analysis.noise, lost=share)
        stopped = replaced(loud, noise=noisy, flaw="disturbed" if noisy.spoils else "")
        assert _grade(Example(run, stopped)) == (grade, "Others took a core.")
    proof = analysis.estimates[0].placement.proven
    assert proof
    astray = replaced(analysis.estimates[0].placement, proven=replaced(proof, as_asked=False))
    wrong = (replaced(analysis.estimates[0], placement=astray), *analysis.estimates[1:])
    misplaced = replaced(loud, estimates=wrong, flaw="misplaced")
    assert _grade(Example(run, misplaced)) == ("bad", "1 figure is not of the cpus asked.")
    assert _grade(Example(run, replaced(analysis, estimates=())))[0] == "bad"


def moved_cores(run: Run, count: int) -> Run:
    """The same run, had the cores moved during so many of its launches."""

    def moved(each: LaunchRecords) -> LaunchRecords:
        bracket = each.launch.bracket
        assert bracket.after
        after = msgspec.structs.replace(bracket.after, seconds=[2 * value for value in bracket.after.seconds])
        bracket = msgspec.structs.replace(bracket, after=after)
        return msgspec.structs.replace(each, launch=msgspec.structs.replace(each.launch, bracket=bracket))

    launches = (*map(moved, run.launches[:count]), *run.launches[count:])
    return msgspec.structs.replace(run, launches=launches)


def test_the_verdict_counts_disturbed_launches_and_calls_no_such_run_quiet(tmp_path: Path) -> None:
    run = store.load(simulated_run(tmp_path, HEALTHY, options=Options(launches=6)))
    made = len(run.launches)
    assert made == len({each.launch.id for each in run.launches}) >= 20
    runs = [run, *(moved_cores(run, count) for count in (1, made // 4, made // 2 + 1))]
    verdicts = [usable(each, analyse(each)) for each in runs]
    assert [each.grade for each in verdicts] == ["good", "good", "care", "bad"]
    assert verdicts[0].reason.endswith("the machine was quiet.")
    assert verdicts[1].reason.endswith(f" 1 of {made} launches were disturbed.")
    assert verdicts[2].reason.startswith(f"{made // 4} of {made} launches were disturbed at every attempt")
    claims = [each.claim for each in analyse(runs[2]).findings if each.rule == "machine_noise"]
    assert not [each for each in claims if "was quiet" in each]
    assert verdicts[3].sentence == "Do not use these figures."
    killed = msgspec.structs.replace(runs[3], ending=None)
    assert summary(killed, analyse(killed)).next[0].do.startswith("repeat on an idle machine: `assay run ")


def test_the_verdict_says_that_a_machine_is_simulated_and_what_one_node_leaves_out(tmp_path: Path) -> None:
    run = store.load(simulated_run(tmp_path, HEALTHY, options=Options(launches=6)))
    analysis, replaced = analyse(run), msgspec.structs.replace
    found = verdict(run, analysis)
    assert (found.grade, found.sentence, found.beyond) == ("care", "These figures are simulated.", "")
    first, *others = run.launches
    clock = replaced(first.cases[0].header.clock, name="CLOCK_MONOTONIC")
    header = replaced(first.cases[0].header, clock=clock)
    cases = (replaced(first.cases[0], header=header), *first.cases[1:])
    real = replaced(run, launches=(replaced(first, cases=cases), *others))
    assert verdict(real, analysis) == usable(real, analysis)
    for nodes in (False, True):
        left = LeftOut("messages", "it needs 2 nodes", nodes)
        alone = replaced(real, plan=replaced(real.plan, left_out=(left,)))
        assert bool(verdict(alone, analysis).beyond) is nodes
        asked = [step.do for step in summary(alone, analysis).next if "--hosts" in step.do]
        assert len(asked) == nodes
    passing = tuple(replaced(case, benchmark="pt2pt") for case in real.plan.cases)
    passed = replaced(real.plan, cases=passing, declarations=(benchmarks.get("pt2pt").declaration,))
    assert heading(replaced(real, plan=passed)) == f"{run.plan.title}: messages inside one node"
    assert heading(real) == run.plan.title


def test_what_only_an_administrator_may_type_comes_after_what_anybody_may(tmp_path: Path) -> None:
    run = store.load(simulated_run(tmp_path, HEALTHY, options=Options(launches=6)))
    analysis = analyse(run)
    whole = text("for all: `{command}`", command=Rooted("sudo change"))
    mine = text("use non-temporal stores")
    first = msgspec.structs.replace(analysis.findings[0], severity="advice", status="observed")
    for asked in ((whole, mine), (mine, whole)):
        found = tuple(msgspec.structs.replace(first, next=each, claim=str(each)) for each in asked)
        steps = summary(run, msgspec.structs.replace(analysis, findings=found)).next
        assert [step.do for step in steps][:2] == [mine, whole]


def replace_finding(analysis: Analysis, finding: Finding) -> Analysis:
    """The analysis with this finding in place of the one of its id."""
    found = tuple(finding if each.id == finding.id else each for each in analysis.findings)
    return msgspec.structs.replace(analysis, findings=found)


def test_figures_of_a_single_launch_are_used_with_care_for_they_have_no_interval(tmp_path: Path) -> None:
    run = store.load(simulated_run(tmp_path, HEALTHY, options=Options(launches=1)))
    assert _grade(Example(run, analyse(run))) == (
        "care",
        "Most of them have no interval: the launches were too few.",
    )


@pytest.mark.parametrize(
    ("better", "ends", "drawn"),
    [
        ("higher", (45.0, 50.0, 60.0), (50.0, 45.0, 60.0)),
        ("lower", (200.0, 200.0, 200.0), (50.0, 50.0, 50.0)),
        ("higher", (99.0, 104.0, 108.0), (100.0, 99.0, 100.0)),
    ],
)
def test_a_bar_is_the_share_of_the_limit(
    better: Literal["higher", "lower"], ends: tuple[float, float, float], drawn: tuple[float, float, float]
) -> None:
    lo, value, hi = ends
    limit = Limit(100.0, "derived", "by hand", "memory")
    one = msgspec.structs.replace(
        example().analysis.estimates[0],
        better=better,
        value=Quantity(value, lo, hi, "B/s", "interval"),
        limit=limit,
    )
    bar = formatting.bar(one)
    assert bar is not None
    assert bar == pytest.approx(drawn)
    assert formatting.bar(msgspec.structs.replace(one, limit=None)) is None
    own = msgspec.structs.replace(limit, measured_by=one.id)
    assert formatting.bar(msgspec.structs.replace(one, limit=own)) is None


@pytest.mark.parametrize(
    ("basis", "ends", "wide"),
    [
        ("interval", (45.0, 50.0, 60.0), True),
        ("interval", (99.0, 104.0, 108.0), False),
        ("single", (50.0, 50.0, 50.0), True),
        ("imported", (50.0, 50.0, 50.0), False),
    ],
)
def test_a_wide_interval_is_called_so_with_and_without_a_limit(
    basis: Basis, ends: tuple[float, float, float], *, wide: bool
) -> None:
    lo, value, hi = ends
    one = msgspec.structs.replace(example().analysis.estimates[0], value=Quantity(value, lo, hi, "B/s", basis))
    assert formatting.vague(one) is formatting.vague(msgspec.structs.replace(one, limit=None)) is wide


def test_what_is_wrong_says_how_many_rules_had_what_they_judge_by(tmp_path: Path) -> None:
    run = store.load(simulated_run(tmp_path, HEALTHY, options=Options(launches=6)))
    analysis = analyse(run)
    missing = {each.rule for each in analysis.findings if each.status == "not assessed"}
    assert {"machine_noise", "not_measured"} <= set(analysis.tested)
    assert not missing & set(analysis.tested)
    # no message was passed: nobody looked whether any waits for a timer
    assert not {"delayed_ack", "lost_frames", "mtu", "link_ceiling"} & set(analysis.tested)
    found = summary(run, analysis)
    assert found.checked
    assert not found.wrong
    assert found.tested.startswith(f"{len(analysis.tested)} of {len(rules())} rules were tested")
    published = store.load(store.find("epyc-7601"))
    unchecked = summary(published, analyse(published))
    assert not unchecked.checked
    assert re.fullmatch(r"Means without samples decide [1-5] of \d+ rules\.", unchecked.tested)


def test_the_largest_loss_is_named_where_nothing_is_a_fault(tmp_path: Path) -> None:
    law = Law(core_traffic=12e9, node_traffic=15e9)
    run = store.load(simulated_run(tmp_path, law, options=Options(launches=6)))
    analysis = analyse(run)
    figure = next(each for each in analysis.estimates if each.median is not None)
    limit = Limit(2 * (figure.median or 0), "derived", "of a test", "memory")
    half = Headline("Half of it", msgspec.structs.replace(figure, limit=limit))
    assert summary(run, analysis, [half]).worth == "The farthest from its limit: Half of it, 50 %."
    near = msgspec.structs.replace(limit, value=1.01 * (figure.median or 0))
    all_of_it = Headline("All of it", msgspec.structs.replace(figure, limit=near))
    advice = [each for each in analysis.findings if each.severity == "advice" and each.status == "observed"]
    assert summary(run, analysis, [all_of_it]).worth in {"", *(each.claim for each in advice)}


def test_one_node_of_a_study_of_several_is_repeated_on_two(tmp_path: Path) -> None:
    run = store.load(simulated_run(tmp_path, HEALTHY, options=Options(launches=6)))
    plan = msgspec.structs.replace(run.plan, left_out=(LeftOut("messages", "it needs two nodes", nodes=True),))
    run = msgspec.structs.replace(run, plan=plan)
    analysis = analyse(run)
    (command,) = (each for step in summary(run, analysis).next for each in step.commands if "--hosts" in each)
    assert command == f"assay run {run.info.study} --hosts NODE1,NODE2"
    noise = next(each for each in analysis.findings if each.rule == "machine_noise")
    repeat = text("repeat on an idle machine: `{command}`", command=cli("run", run.info.study, "--launches", "12"))
    loud = replace_finding(analysis, msgspec.structs.replace(noise, severity="problem", next=repeat))
    first, *others = summary(run, loud).next
    assert "--hosts NODE1,NODE2" in first.do
    assert "--launches 12" in first.do
    assert heading(run) == f"{run.plan.title}: one node"
    assert str(Spoken().prose(first.do)).endswith("</span></code></span>")  # no full stop that is copied with it
    assert '<code class="typed">' in str(Spoken().prose(first.do))
    assert formatting.apart(first.do).splitlines()[1].startswith(f"assay run {run.info.study} ")
    assert not any("--hosts" in str(step.do) for step in others)


def test_a_whole_run_says_nothing_of_a_cut(tmp_path: Path) -> None:
    run = store.load(simulated_run(tmp_path, options=Options(launches=1)))
    here = Example(run, analyse(run))
    assert not shortfall(here.run, here.analysis)
    assert "cut the run short" not in _shown(here)
    assert not any("--resume" in str(step.do) for step in summary(here.run, here.analysis).next)
