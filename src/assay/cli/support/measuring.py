"""The parts of `assay run`: the rest of a stopped run, then each stage."""

from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec

from assay import store
from assay.analyse import analyse, expected
from assay.cli.support import opened, output, prepare, progress
from assay.launch.command import Site
from assay.launch.remote import resume_command
from assay.launch.starter import Starter
from assay.model.errors import InterruptedRunError
from assay.model.plan import Plan
from assay.model.result import Analysis
from assay.model.run import Run
from assay.model.units import count_of
from assay.plan.order import estimate_seconds
from assay.plan.stages import STAGES, Stage
from assay.report import formatting
from assay.run import execute
from assay.run.ledger import begun
from assay.run.process import Processes
from assay.store import RunDirectory


class OpenRun:
    """A run that is measured; its directory is opened at the first missing launch. A context manager.

    The run is read and analysed again only after it has changed.

    Args:
        run: the run so far; its plan, with the current options, replaces the stored one.
        site: the place where Assay runs.
        directory: the run's directory, if it is open already.
        require: raises an error if the run cannot continue here; called before its directory is opened.
    """

    def __init__(
        self,
        run: Run,
        site: Site,
        directory: RunDirectory | None = None,
        require: Callable[[], None] = lambda: None,
    ) -> None:
        self._run = run
        self._site = site
        self._directory = directory
        self._require = require
        self._analysed: tuple[Run, Analysis] | None = None

    @property
    def run(self) -> Run:
        """The run so far."""
        return self._directory.run if self._directory else self._run

    @property
    def is_open(self) -> bool:
        """Whether there was anything to measure."""
        return self._directory is not None

    def analysis(self) -> Analysis:
        """The analysis of the run, with the limits of the configuration."""
        run = self.run
        if self._analysed is None or not _has_same_analysis(self._analysed[0], run):
            self._analysed = run, analyse(run, opened.given_limits(()))
        return self._analysed[1]

    def measure(self, part: Plan) -> None:
        """Make the missing launches of the study or of experiments; InterruptedRunError if the user stops them."""
        run = self.run
        directory = self._directory = self._directory or self._open()
        directory.resume(run.plan.with_part(part))
        if further := prepare.further_programs(directory.info.builds, part):
            directory.add(further)
        self._predict(run, part)
        before = run.ending if part.experiments else None
        with progress.shown(part) as watcher:
            starter = Starter(msgspec.structs.replace(self._site, run=directory.info.id))
            try:
                ending = execute(part, directory, starter, Processes(), directory.info.builds, watcher, before)
            except KeyboardInterrupt:  # it came while the ending was written
                written = directory.run.ending
                if written is None or written.status != "interrupted":
                    raise
                ending = written
        if ending.status == "interrupted":
            path, fewer = directory.path, sum(case.id in ending.cut for case in part.studied)
            raise InterruptedRunError(
                f"interrupted; the launches so far are saved in {path}",
                why=f"{fewer} of {len(part.studied)} cases have fewer launches than planned",
                remedy=resume_command(store.typed(path), self._site),
            )

    def _predict(self, run: Run, part: Plan) -> None:
        """Write predictions from the figures so far for cases that are launched for the first time."""
        now = part.launched - run.plan.launched
        fresh = [case for case in part.studied if case.id in now]
        if self._directory and run.made and fresh and not part.experiments:
            for each in expected(run, fresh):
                self._directory.predict(each)
                output.say(f"prediction: {each.of}: {formatting.interval(each, '').short}")

    def _open(self) -> RunDirectory:
        self._require()
        directory = store.reopen(Path(self._run.path))
        for sentence in self._run.damage:
            output.say(sentence)
        made = len({launch.launch.id for launch in self._run.launches})
        output.say(f"continuing {self._run.info.id}: {made} of {len(self._run.plan.order)} launches exist")
        return directory

    def __enter__(self) -> Self:
        """Return the object itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Release its directory."""
        if self._directory:
            self._directory.close()


def _has_same_analysis(one: Run, other: Run) -> bool:
    """Whether two runs differ only in what an analysis ignores: the time used, and the remaining plan."""
    endings = [(each.ending.status, each.ending.cut) if each.ending else None for each in (one, other)]
    return (
        one.made == other.made
        and one.plan.cases == other.plan.cases
        and one.plan.order == other.plan.order
        and one.plan.trials == other.plan.trials
        and endings[0] == endings[1]
    )


def measure_all(opened: OpenRun) -> None:
    """Measure the stopped parts of a run, then each stage, until it has no further launch."""
    for part in begun(opened.run):
        opened.measure(part)
    for stage in STAGES:
        while more := following(opened.run, stage, opened.analysis):
            made = len(opened.run.made)
            opened.measure(more)
            if len(opened.run.made) == made:
                break


def following(run: Run, stage: Stage, analysis: Callable[[], Analysis]) -> Plan | None:
    """The next plan of a stage, None if there is none; prints what it measures and its cost.

    Args:
        run: the run so far.
        stage: stage that may follow.
        analysis: makes the analysis of the run.
    """
    part = stage.following(run, analysis)
    if part is None:
        return None
    for left in part.left_out:
        if left not in run.plan.left_out:
            output.say(f"not measured: {left.request}: {left.reason}")
    now, made = part.launched - run.plan.launched, {launch.id for launch in run.plan.order}
    cases = [case for case in part.studied if case.id in now]
    launches = tuple(launch for launch in part.order if launch.id not in made)
    if cases:
        seconds = part.estimate_s if part.experiments else estimate_seconds(part.cases, launches)
        more = f"{count_of(len(cases), 'more case')} in {count_of(len(launches), 'launch')}"
        output.say(f"{stage.why}: {more}, about {seconds:.0f} s")
    elif stage.nothing and not part.left_out:
        output.say(stage.nothing)
    return part if part.order else None
