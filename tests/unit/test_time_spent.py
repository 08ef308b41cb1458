"""The parts of the time of a run close: sampling, set-up, probes, waits and Assay's own work are its time."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

import msgspec
import pytest
from tests.simulation import TWO_CORES, begin, builds_for, carry_on, described, plan_for, starter_for
from tests.simulation import Recorder as Watcher
from tests.time_of_runs import closed

from assay import plan as planning
from assay import store
from assay.analyse import analyse
from assay.launch.command import Command, Outcome
from assay.model.plan import Measure, Plan, Study
from assay.model.result import TimeSpent
from assay.model.run import Run
from assay.plan import Options
from assay.plan.experiments import wanted
from assay.report.declared import Scene
from assay.run import execute
from assay.simulation import Burst, Fault, Law, SimulatedMachine
from assay.topics.health.sections import noise as section

FEW = Study(
    "Few",
    "?",
    (
        Measure("stream", ("one-core", "all"), axes={"elements": 1_000_000}),
        Measure("memcpy", ("one-core",), axes={"bytes": (64, 4096), "buffers": "hot"}),
    ),
    launches=3,
)
#: Others come and go: some waits end in quiet, some are given up.
CROWDED = tuple(Burst(second + 0.2, second + 0.9, 0.5) for second in range(200))
#: Half of the cores get more than all of them: a candidate finding, which asks for an experiment.
HALVES = Study("Halves", "?", (Measure("stream", ("all", "half")),), launches=3)
CONTENDED = Law(core_traffic=12e9, node_traffic=20e9, contention=0.3)
EIGHT_CORES = "pack:1 numa:2(memory=8GB) l3:1(size=8MB) l2:4(size=512kB) l1:1(size=32kB) core:1 pu:1"


class Clocked(SimulatedMachine):
    """A machine on which Assay's own work takes time, too; it notes what its time passed in."""

    def __init__(self, law: Law | None = None, description: str = TWO_CORES) -> None:
        super().__init__(described(description).topology, law)
        self.passed = defaultdict[str, float](float)
        self._inside = False

    @contextmanager
    def _noted(self, what: str) -> Iterator[None]:
        began_s, self._inside = self.now(), True
        try:
            yield
        finally:
            self.passed[what] += self.now() - began_s
            self._inside = False

    def date(self) -> datetime:
        """The engine asks for it once a launch: its own work takes 20 ms."""
        with self._noted("engine"):
            self.pass_time(0.02, 1)
        return super().date()

    def sleep(self, seconds: float) -> None:
        with self._noted("waits"):
            super().sleep(seconds)

    def execute_together(
        self, commands: Sequence[Command], timeout: float, at_limit: Callable[[], None] = lambda: None
    ) -> tuple[Outcome, ...]:
        with self._noted("programs"):
            return super().execute_together(commands, timeout, at_limit)

    def execute(self, command: Command, timeout: float) -> Outcome:
        if self._inside:
            return super().execute(command, timeout)
        with self._noted("probes"):
            return super().execute(command, timeout)


def measured(folder: Path, machine: Clocked, options: Options | None = None) -> Run:
    plan = plan_for(study=FEW, options=options)
    directory = begin(folder, plan)
    carry_on(directory, plan, machine)
    return store.load(directory.path)


def parts(run: Run) -> TimeSpent:
    """The parts, which the analysis has, too."""
    effort = analyse(run).effort
    assert effort is not None
    assert effort.time == closed(run)
    return closed(run)


def sampled_s(run: Run) -> float:
    """From the first sample of each case to the end of its last, over all cases."""
    total = 0.0
    for case in (case for records in run.made for case in records.cases):
        ends = [
            start + length for one in case.series for start, length in zip(one.start_s, one.seconds, strict=True)
        ]
        starts = [start for one in case.series for start in one.start_s]
        total += max(ends, default=0.0) - min(starts, default=0.0)
    return total


def agrees(spent: TimeSpent, passed: Mapping[str, float], sampling_s: float, prepared_s: float = 0.0) -> None:
    assert spent.sampled_s == pytest.approx(sampling_s)
    assert spent.setup_s == pytest.approx(passed["programs"] - sampling_s + prepared_s)
    assert spent.probes_s == pytest.approx(passed.get("probes", 0.0))
    assert spent.waited_s == pytest.approx(passed.get("waits", 0.0))
    assert spent.engine_s == pytest.approx(passed.get("engine", 0.0))


@pytest.mark.parametrize(
    "law",
    [Law(), Law(spawn_s=0.3), Law(bursts=CROWDED), Law(faults=(Fault("hang", "bytes=4096", starts=(1,)),))],
    ids=["quiet", "slow starts", "crowded", "a hang"],
)
@pytest.mark.parametrize("budget_s", [None, 12.0])
def test_the_parts_are_what_the_clock_of_the_machine_passed_in(
    tmp_path: Path, law: Law, budget_s: float | None
) -> None:
    machine = Clocked(law)
    run = measured(tmp_path, machine, Options(budget_s=budget_s))
    agrees(parts(run), machine.passed, sampled_s(run))


def test_every_wait_counts_whether_it_ended_in_quiet_or_was_given_up(tmp_path: Path) -> None:
    machine = Clocked(Law(bursts=CROWDED))
    run = measured(tmp_path, machine)
    given_up = Clocked(Law(bursts=(Burst(0.0, 1e9, 0.5),)))
    never = measured(tmp_path / "never", given_up)
    assert machine.passed["waits"] > 0.5
    assert given_up.passed["waits"] > 0.5
    for found, clock in ((run, machine), (never, given_up)):
        assert analyse(found).noise.waited_s == pytest.approx(clock.passed["waits"])
        assert parts(found).waited_s == pytest.approx(clock.passed["waits"])


def test_a_run_that_was_interrupted_and_went_on_closes_both_times(tmp_path: Path) -> None:
    plan = plan_for(study=FEW)
    first = Clocked(Law(faults=(Fault("interrupt", "bytes=4096", starts=(1,)),)))
    directory = begin(tmp_path, plan)
    assert carry_on(directory, plan, first).status == "interrupted"
    stopped = store.load(directory.path)
    spent = parts(stopped)  # the launch that was interrupted is not in the records: it counts as set-up
    not_sampled_s = first.passed["programs"] + first.passed["probes"] - sampled_s(stopped)
    assert spent.setup_s + spent.probes_s == pytest.approx(not_sampled_s)
    assert spent.engine_s == pytest.approx(first.passed["engine"])
    second = Clocked()
    carry_on(store.reopen(directory.path), plan, second)
    whole = store.load(directory.path)
    assert whole.ending
    assert whole.ending.status == "complete"
    assert parts(whole).sampled_s == pytest.approx(sampled_s(whole))


def test_passes_before_a_run_are_set_up(tmp_path: Path) -> None:
    plan, machine = msgspec.structs.replace(plan_for(study=FEW), prepared_s=7.0), Clocked()
    directory = begin(tmp_path, plan)
    carry_on(directory, plan, machine)
    run = store.load(directory.path)
    agrees(parts(run), machine.passed, sampled_s(run), prepared_s=7.0)


def trial_of(run: Run) -> Plan:
    return planning.experiment_plan(run.plan, wanted(analyse(run), run.plan), 600.0, run.launches)


def test_experiments_count_as_the_study_does(tmp_path: Path) -> None:
    plan = plan_for(EIGHT_CORES, HALVES)
    clocks = Clocked(CONTENDED, EIGHT_CORES), Clocked(CONTENDED, EIGHT_CORES)
    directory = begin(tmp_path, plan, EIGHT_CORES)
    carry_on(directory, plan, clocks[0])
    study = store.load(directory.path)
    trial = trial_of(study)
    with store.reopen(directory.path) as again:
        again.resume(msgspec.structs.replace(plan, trials=(trial,)))
    with store.reopen(directory.path) as again:
        execute(trial, again, starter_for(plan), clocks[1], builds_for(plan), Watcher(), study.ending)
    run = store.load(directory.path)
    assert run.trials
    both = {what: clocks[0].passed[what] + clocks[1].passed[what] for what in clocks[0].passed}
    agrees(parts(run), both, sampled_s(run))


def test_a_run_of_an_earlier_version_has_no_parts_and_no_table(tmp_path: Path) -> None:
    run = measured(tmp_path, Clocked())
    older = [
        msgspec.structs.replace(each, launch=msgspec.structs.replace(each.launch, engine_s=None))
        for each in run.launches[:1]
    ]
    mixed = msgspec.structs.replace(run, launches=(*older, *run.launches[1:]))
    analysis = analyse(mixed)
    assert analysis.effort is not None
    assert analysis.effort.time is None
    times = section.declared.page_tables[-1]
    assert times(Scene(mixed, analysis, (), (), ())) == ()


def test_the_page_has_each_part_with_its_share(tmp_path: Path) -> None:
    run = measured(tmp_path, Clocked())
    spent = parts(run)
    times = section.declared.page_tables[-1]
    (table,) = times(Scene(run, analyse(run), (), (), ()))
    shares = [float(row[2].removesuffix(" %").removeprefix("<")) for row in table.rows]
    assert len(table.rows) == len(msgspec.structs.fields(TimeSpent))
    assert sum(shares) == pytest.approx(100, abs=1.5)
    assert shares[0] == pytest.approx(100 * spent.sampled_s / spent.whole_s, abs=0.6)
    assert f"{1e3 * spent.engine_s / len(run.made):.1f} ms a launch" in table.rows[-1][3]
