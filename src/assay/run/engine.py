"""Execute a plan. No time measured here is a result: programs time themselves."""

from collections.abc import Callable, Mapping, Sequence
from typing import Literal, NoReturn

import msgspec

from assay.catalogue import benchmarks
from assay.launch.command import Command, Executor, Outcome
from assay.launch.remote import resume_command
from assay.launch.starter import Starter
from assay.model.bracket import Bracket, Handover
from assay.model.errors import UnfitEnvironmentError
from assay.model.plan import Case, Plan, PlannedLaunch
from assay.model.record import Launch
from assay.model.run import Ending, LaunchRecords
from assay.model.toolchain import Build
from assay.run.budget import sampling
from assay.run.causes import cause_of, death_of, is_of_ending_job, lost_nodes
from assay.run.ledger import Ledger, remaining_work
from assay.run.leftovers import Cleanup, end_leftovers, find_stuck, require_clear
from assay.run.levels import Levels, levels_restored
from assay.run.merging import merge_hosts, switches_of
from assay.run.process import signals_held
from assay.run.quiet import shares, shares_elsewhere, wait_until_quiet
from assay.run.records import (
    Answer,
    describe_exit,
    program_message,
    read_answer,
    read_handover,
    sampling_s,
    split_launcher_output,
)
from assay.run.timesheet import Timesheet
from assay.run.watcher import Watcher
from assay.store import RunDirectory, typed

#: Seconds of sampling of the probe around a launch, and its time limit.
_PROBE_S = 0.005
_PROBE_LIMIT_S = 5.0
#: A launch that takes longer than expected by this factor is assumed to hang, and is ended. The factor is large: a
#: few iterations are made however short the sampling time is, and other users may take most of the cpus.
_PATIENCE = 10.0
_LEAST_PATIENCE_S = 30.0
#: Seconds for an MPI's launcher on slow nodes, and for each rank. Assumptions, for time limits only.
_MPI_START_S = 30.0
_RANK_START_S = 0.1
#: Bytes per second of the slowest expected network, a little below 100 Mbit/s. An assumption.
_SLOWEST_RATE = 1e7
#: Minimum iterations of a case: to calibrate, to warm up, to measure.
_FEWEST_ITERATIONS = 3
_MESSAGE = 2000


def execute(  # noqa: PLR0913, PLR0917 (the six things a run is made of, and what went before)
    plan: Plan,
    directory: RunDirectory,
    starter: Starter,
    executor: Executor,
    builds: Mapping[str, Build],
    watcher: Watcher,
    before: Ending | None = None,
) -> Ending:
    """Make every launch of the plan that the directory does not hold yet.

    Args:
        plan: the run's own plan, or one of its plans of experiments.
        directory: run directory; every launch is saved there as soon as it ends.
        starter: makes the command lines.
        executor: starts them and has the clock.
        builds: toolchain -> programs.
        watcher: gets reports of the progress.
        before: for experiments: the ending of the study. It stays the run's ending; only its time grows.

    Returns:
        How the run ended.

    Raises:
        UnfitEnvironmentError: a program is missing or cannot be started, a host cannot be reached, the disk is
            full, or the command of a factor's level fails. Earlier launches are kept, and the run can be resumed.
    """
    _require_programs(plan, builds)
    session = _Session(plan, directory, starter, executor, builds)
    interrupted = False
    with levels_restored(session.levels):
        try:
            require_clear(plan, starter, executor)
            while launch := session.ledger.following(executor.now()):
                session.make(launch, watcher)
        except KeyboardInterrupt:
            interrupted = True
        with signals_held():
            ending = session.ending(interrupted=interrupted)
            took_s = ending.elapsed_s - session.ledger.earlier_s
            directory.end(_with_time_of(before, ending, took_s) if before else ending)
    return ending


def _with_time_of(before: Ending, ended: Ending, took_s: float) -> Ending:
    """The ending of the study, with the time of experiments after it."""
    return msgspec.structs.replace(
        before,
        ended=ended.ended,
        elapsed_s=before.elapsed_s + took_s,
        unfinished_s=before.unfinished_s + ended.unfinished_s,
        waited_s=before.waited_s + ended.waited_s,
        engine_s=before.engine_s + ended.engine_s,
    )


class _Session:
    """One execution of a plan: from the first missing launch to the last, or until the user stops it."""

    def __init__(
        self,
        plan: Plan,
        directory: RunDirectory,
        starter: Starter,
        executor: Executor,
        builds: Mapping[str, Build],
    ) -> None:
        self.plan = plan
        self.directory = directory
        self.starter = starter
        self.executor = executor
        self.builds = builds
        self.levels = Levels(plan, directory, starter, executor)
        self.cases = {case.id: case for case in plan.cases}
        self.timesheet = Timesheet(executor.now)
        self.ledger = Ledger(plan, directory.run.of(plan), executor.now())

    def make(self, launch: PlannedLaunch, watcher: Watcher) -> None:
        """Make a launch, and repeat it while it is disturbed; without cases for which the budget has no time."""
        first = self.ledger.lost[launch.id]
        for attempt in range(first, first + len(self.plan.order)):
            allotment = self.ledger.allot(launch, self.executor.now(), repeat=attempt > first)
            self.ledger.cut(case_id for case_id in launch.cases if case_id not in allotment)
            if not allotment:
                return
            launch = msgspec.structs.replace(launch, cases=tuple(allotment))
            watcher.begins(launch, attempt, self.ledger.progress(self.executor.now()))
            began = self.executor.now()
            records = self.attempt(launch, attempt, allotment)
            now = self.executor.now()
            self.ledger.book(records, allotment, now - began)
            watcher.ended(records, self.ledger.progress(now))
            if not self.ledger.may_repeat(records, now - began, now):
                return
            here = self.starter.is_local(tuple(self.cases[case_id] for case_id in launch.cases))
            if here and records.launch.bracket.is_crowded:
                watcher.waits(records.launch)
                with self.timesheet.counting("waits"):
                    quiet = wait_until_quiet(self.executor, self.ledger.patience_s(now))
                if not quiet:
                    return

    def attempt(self, launch: PlannedLaunch, attempt: int, seconds: dict[str, float]) -> LaunchRecords:
        """Set the levels; probe, launch, probe; check the output of the program; save it."""
        cases = tuple(self.cases[case_id] for case_id in launch.cases)
        began_s = self.ledger.elapsed_s(self.executor.now())
        prepared = self.levels.set(cases, _name(launch.id, attempt))
        build = self.builds[launch.toolchain]
        amount = sampling(self.plan, cases, seconds)
        commands = self.starter.commands(self.plan, cases, build, launch.program, amount)
        started = self.executor.date().isoformat()
        limit_s, by_budget = self._limit(launch, cases, seconds)
        stuck: list[str] = []

        def look() -> None:
            if not by_budget:
                stuck.append(find_stuck(cases, self.starter, self.executor))

        try:
            outcomes, bracket = self.bracketed(commands, limit_s, cases, look)
        except KeyboardInterrupt:
            end_leftovers(cases, self.starter, self.executor)
            raise
        if cases[0].placement.ranks:
            outcomes = tuple(map(split_launcher_output, outcomes))
        outcomes, outputs = _with_figures(outcomes, cases, _name(launch.id, attempt))
        outcome = merge_hosts(outcomes, launch.cases)
        over_budget = outcome.exit_code is None and by_budget
        if over_budget and benchmarks.get(cases[0].benchmark).foreign:
            from assay.run.foreign import broken_off  # noqa: PLC0415 (it loads the readers of all tools)

            outcome = msgspec.structs.replace(outcome, stdout=broken_off(outcome.stdout))
        swept = end_leftovers(cases, self.starter, self.executor) if outcome.exit_code != 0 else Cleanup()
        failed = program_message(outcome.stderr) if outcome.exit_code != 0 else ""
        ended_with_job = outcome.exit_code is not None and is_of_ending_job(failed)  # None: at its own time limit
        if ended_with_job and not swept.down and not lost_nodes(failed):
            self.directory.log(f"{_name(launch.id, attempt)}.err", outcome.stderr)
            raise KeyboardInterrupt  # as at the user's request, which may come later than the end of the program
        answer = read_answer(outcome.stdout, cases)
        if bracket.foreign is None:
            steal, foreign = shares_elsewhere(answer.cases)
            bracket = msgspec.structs.replace(bracket, steal=steal, foreign=foreign)
        lost = tuple(swept.unreached) or lost_nodes(failed)
        found = f"node failure: {', '.join(lost)}" if lost else "".join(stuck)
        found = "the budget was used up" if over_budget and not lost else found
        spent = self.timesheet.closed()
        record = Launch(
            id=launch.id,
            attempt=attempt,
            block=launch.block,
            program=launch.program,
            toolchain=launch.toolchain,
            build=build.key,
            cases=launch.cases,
            argv=commands[0].argv,
            environment=commands[0].environment,
            started=started,
            exit_code=outcome.exit_code,
            bracket=bracket,
            message=_message(answer, outcome, swept.sentences, found),
            prepared=prepared,
            sampled_s=sum(map(sampling_s, answer.cases)),
            probes_s=spent.probes,
            waited_s=spent.waits,
            engine_s=spent.engine,
            lost=lost,
            over_budget=over_budget,
            began_s=began_s,
            ended_s=self.ledger.elapsed_s(self.executor.now()),
        )
        self._log(record, answer, outcome)
        for file, output in outputs.items():
            self.directory.keep_output(file, output)
        made = LaunchRecords(record, answer.cases, answer.unstarted)
        self.directory.keep(answer.lines, made)
        if swept.unreached:
            self._stop(outcome, swept.unreached)
        return made  # not the stored form, whose samples would be decoded from columns again

    def bracketed(
        self, commands: tuple[Command, ...], limit_s: float, cases: tuple[Case, ...], at_limit: Callable[[], None]
    ) -> tuple[tuple[Outcome, ...], Bracket]:
        """Run commands between two probes of the machine's state; `at_limit` runs before the limit ends them."""
        before = self._probe()
        times, began = self.executor.cpu_times(), self.executor.now()
        with self.timesheet.counting("programs"):
            outcomes = self.executor.execute_together(commands, limit_s, at_limit)
        elapsed = self.executor.now() - began
        here = self.starter.is_local(cases)
        steal, foreign = shares(times, self.executor.cpu_times(), elapsed) if here else (None, None)
        after = self._probe()
        return outcomes, Bracket(before, after, elapsed, steal, foreign, switches_of(outcomes), times.load)

    def ending(self, *, interrupted: bool) -> Ending:
        """How the run ends now."""
        cut = self.ledger.shortfalls(interrupted=interrupted)
        status: Literal["complete", "cut", "interrupted"] = "cut" if cut else "complete"
        used_s = self.ledger.elapsed_s(self.executor.now())
        missing = remaining_work(self.directory.run, used_s=used_s) if cut else None
        ended = self.executor.date().isoformat()
        elapsed_s, spent = self.ledger.elapsed_s(self.executor.now()), self.timesheet.closed()
        return Ending(
            "interrupted" if interrupted else status,
            ended,
            elapsed_s,
            cut,
            missing.needed_s if missing else None,
            unfinished_s=spent.programs + spent.probes,
            waited_s=spent.waits,
            engine_s=spent.engine,
        )

    def _probe(self) -> Handover | None:
        build = next(iter(self.builds.values()))
        probe = benchmarks.probe()
        if not self.plan.probe_cpus or probe.program not in build.programs:
            return None
        command = self.starter.probe(self.plan, build, probe.program, _PROBE_S)
        with self.timesheet.counting("probes"):
            outcome = self.executor.execute(command, _PROBE_LIMIT_S)
        return read_handover(outcome.stdout, self.plan.probe_cpus, probe.metrics[0].work)

    def _limit(
        self, launch: PlannedLaunch, cases: tuple[Case, ...], seconds: Mapping[str, float]
    ) -> tuple[float, bool]:
        """Seconds after which a launch is ended, and whether this is because the budget is used up then."""
        patience_s = self._patience_s(launch, cases, seconds)
        budget_s = self.ledger.most_s(launch, self.executor.now())
        return min(patience_s, budget_s), budget_s < patience_s

    def _patience_s(self, launch: PlannedLaunch, cases: tuple[Case, ...], seconds: Mapping[str, float]) -> float:
        """Seconds after which a launch is assumed to hang."""
        foreseen = sum(case.setup_s for case in cases)
        spans = self.ledger.costs.span_s
        sampling = sum(max(seconds[case.id], spans.get(case.id, 0.0)) for case in cases)
        expected = max(self.ledger.costs.launch(launch).overhead_s, foreseen) + sampling
        start = _MPI_START_S + _RANK_START_S * len(cases[0].placement.rank_cpus)
        patience = max(_PATIENCE * expected, expected + sum(map(_slowest_s, cases)))
        foreign = benchmarks.get(cases[0].benchmark).foreign
        limit_s = foreign.limit_s if foreign else 0.0  # the starter enforces it and reports it
        return (start if cases[0].placement.ranks else _LEAST_PATIENCE_S) + max(patience, 2 * limit_s)

    def _stop(self, outcome: Outcome, unreached: Mapping[str, str]) -> NoReturn:
        """Stop because a host was lost during a launch; a resumed run repeats that launch."""
        host, why = next(iter(unreached.items()))
        raise UnfitEnvironmentError(
            f"'{host}' cannot be reached any more; what was measured is kept in {self.directory.path}, and "
            "the run can go on when the node is back",
            why=f"{why}; {describe_exit(outcome.exit_code)}",
            remedy=resume_command(typed(self.directory.path), self.starter.site),
        )

    def _log(self, launch: Launch, answer: Answer, outcome: Outcome) -> None:
        name = _name(launch.id, launch.attempt)
        if outcome.stderr:
            self.directory.log(f"{name}.err", outcome.stderr)
        if answer.refused:  # invalid lines are saved nowhere else
            self.directory.log(f"{name}.out", outcome.stdout)


def _with_figures(
    outcomes: tuple[Outcome, ...], cases: tuple[Case, ...], name: str
) -> tuple[tuple[Outcome, ...], dict[str, str]]:
    """The outcomes with the figures of a third-party command; file -> its output, if that is long."""
    if not benchmarks.get(cases[0].benchmark).foreign:
        return outcomes, {}
    from assay.run.foreign import with_figures  # noqa: PLC0415 (it loads the readers of all tools)

    files = [f"logs/{name}.output{f'.{at}' if at else ''}.gz" for at in range(len(outcomes))]
    answered = {file: with_figures(each, cases, file) for file, each in zip(files, outcomes, strict=True)}
    outputs = {file: each.output for file, each in answered.items() if each.output}
    return tuple(each.outcome for each in answered.values()), outputs


def _slowest_s(case: Case) -> float:
    """Seconds of the minimum iterations over the slowest network, for messages between nodes."""
    if len(case.placement.hosts) < 2:  # noqa: PLR2004 (one node alone)
        return 0.0
    passed = benchmarks.get(case.benchmark).message_bytes(case.params)
    return _FEWEST_ITERATIONS * passed / _SLOWEST_RATE


def _name(launch: str, attempt: int) -> str:
    """Name of the logs of a launch."""
    return f"{launch}.{attempt}" if attempt else launch


def _require_programs(plan: Plan, builds: Mapping[str, Build]) -> None:
    for launch in plan.order:
        if launch.program not in (builds[launch.toolchain].programs if launch.toolchain in builds else ()):
            raise UnfitEnvironmentError(
                f"program '{launch.program}' is not built with toolchain '{launch.toolchain}'",
                why=f"built with: {', '.join(builds) or 'none'}",
                remedy="assay build",
            )


def _message(answer: Answer, outcome: Outcome, swept: Sequence[str], found: str) -> str:
    lines = [f"assay: {found}"] if found else []
    if answer.refused:
        lines.append(f"assay: {answer.refused}")
    if outcome.lingered:
        lines.append("assay: all records were in and it did not end by itself, so it was ended")
    elif outcome.exit_code is None or outcome.exit_code < 0:
        lines.append(f"assay: {describe_exit(outcome.exit_code)}")
    text = program_message(outcome.stderr)
    causes = (cause_of(text), "" if outcome.exit_code is None else death_of(text))
    lines += [f"assay: {each}" for each in causes if each and outcome.exit_code != 0][:1]
    room = _MESSAGE - sum(len(line) + 1 for line in (*lines, *swept))
    return "\n".join(filter(None, [*lines, text[: max(0, room)], *swept]))[:_MESSAGE]
