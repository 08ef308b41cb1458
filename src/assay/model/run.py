"""An executed plan: the content of a run directory as one value."""

from collections.abc import Iterable, Sequence
from typing import Literal

import msgspec

from assay.model.imported import Imported
from assay.model.machine import Machine
from assay.model.placement import Placement
from assay.model.plan import Plan
from assay.model.record import (
    SIMULATED,
    End,
    FigureOfMerit,
    Header,
    Launch,
    Prediction,
    Refusal,
    Series,
    Threads,
    Verdict,
)
from assay.model.toolchain import Build
from assay.model.traffic import Traffic

RUN_SCHEMA = 1
#: Seconds of the probes around a launch in runs of earlier versions, which timed only the launch itself.
_PROBES_S = 0.05


class RunInfo(msgspec.Struct, frozen=True):
    """`run.json`: written when a run begins, never changed.

    Attributes:
        schema: version of the run directory.
        id: name of the directory, sortable by time.
        study: name of the study.
        started: ISO time, UTC.
        assay: version that measured.
        command: the command line that began it.
        environment: allowlisted environment variables that can change results (OMP_*, SLURM_* ...), and the name
            of the job that began it (ASSAY_JOB).
        builds: toolchain -> manifest.
        chained: whether its records are chained from the first one on.
    """

    schema: int
    id: str
    study: str
    started: str
    assay: str
    command: tuple[str, ...]
    environment: dict[str, str]
    builds: dict[str, Build]
    chained: bool = False


class CaseRecords(msgspec.Struct, frozen=True):
    """The records of one case in one launch.

    Attributes:
        header: its placement and its work.
        series: raw samples, including warm-ups; those of a large launch are decoded from columns on access.
        verdict: None if the program ended before it.
        end: None if the records are cut off.
        traffic: activity of hosts and networks meanwhile; None if not measured.
        figures: values of whole solutions.
        threads: times that threads worked without waiting.
    """

    header: Header
    series: Sequence[Series]
    verdict: Verdict | None
    end: End | None
    traffic: Traffic | None = None
    figures: tuple[FigureOfMerit, ...] = ()
    threads: tuple[Threads, ...] = ()


class LaunchRecords(msgspec.Struct, frozen=True):
    """One committed launch.

    Attributes:
        launch: what was started and what the machine did around it.
        cases: cases that began, in the order they ran.
        unstarted: case -> its end record, for cases that ended before they began (no header).
    """

    launch: Launch
    cases: tuple[CaseRecords, ...]
    unstarted: dict[str, End] = {}


Cause = Literal["budget", "failures", "interrupted", "unreached", "other"]


class Shortfall(msgspec.Struct, frozen=True):
    """Why a case has fewer launches than planned.

    Attributes:
        cause: the budget, repeated failures, the user, or a program that ended before the case; `other` for a
            reason of another version.
        why: the same as text.
        made: launches that were made.
        planned: launches that were planned; 0 if an older version did not record it.
    """

    cause: Cause
    why: str
    made: int = 0
    planned: int = 0

    def __str__(self) -> str:
        """`not measured: the budget of 4 s was used up`, `3 of 6 launches: interrupted`."""
        return f"{self.made} of {self.planned} launches: {self.why}" if self.made else f"not measured: {self.why}"


class Ending(msgspec.Struct, frozen=True):
    """`ending.json`: written when the plan is complete or was stopped; absent after a crash.

    Attributes:
        status: `complete` when every launch was made, `cut` when the budget ended it, `interrupted` by the user.
        ended: ISO time, UTC.
        elapsed_s: seconds used, over all parts of the run.
        cut: case or launch -> why it was not (fully) measured.
        needed_s: estimated seconds of the whole plan, from the part that was made; None if all was made (or it was
            not asked for).
        unfinished_s: seconds of launches that were interrupted, and are not in the records.
        waited_s: see Launch: the seconds after the last launch, of the study and of its experiments.
        engine_s: the same.
        chain: hash of the last record; empty in runs of earlier versions.
    """

    status: Literal["complete", "cut", "interrupted"]
    ended: str
    elapsed_s: float
    cut: dict[str, Shortfall]
    needed_s: float | None = None
    chain: str = ""
    unfinished_s: float = 0.0
    waited_s: float = 0.0
    engine_s: float = 0.0


class Chain(msgspec.Struct, frozen=True):
    """The chain of hashes over the records of a run.

    Attributes:
        last: hash of the last record; empty if no record is chained.
        since: line of the first chained record; 0 if there is none.
        broken: line of the first record that is not as it was written, or before which some are missing; 0 if all
            are as they were written.
    """

    last: str = ""
    since: int = 0
    broken: int = 0


class Refused(msgspec.Struct, frozen=True):
    """A prediction in the records that does not count, and why."""

    prediction: Prediction
    why: Refusal


class Run(msgspec.Struct, frozen=True):
    """Everything in a run directory.

    Attributes:
        path: of the directory or packed file.
        info: run.json.
        plan: plan.json.
        machines: host -> facts.
        launches: launches of the study, in the order they were made.
        ending: None for a run that was killed and not resumed, or that is still running.
        damage: what could not be read, one sentence each (line number and reason); such launches count as not
            made.
        imported: figures that other tools printed or others published; None if Assay measured.
        trials: launches of experiments, which no figure of the study uses.
        predictions: in the order they were made, each before the first launch of its case.
        refused: predictions that do not count.
        chain: whether the records are as they were written.
    """

    path: str
    info: RunInfo
    plan: Plan
    machines: dict[str, Machine]
    launches: tuple[LaunchRecords, ...]
    ending: Ending | None
    damage: tuple[str, ...] = ()
    imported: Imported | None = None
    trials: tuple[LaunchRecords, ...] = ()
    predictions: tuple[Prediction, ...] = ()
    refused: tuple[Refused, ...] = ()
    chain: Chain = Chain()

    @property
    def made(self) -> tuple[LaunchRecords, ...]:
        """All launches: those of the study, then those of its experiments."""
        return (*self.launches, *self.trials)

    @property
    def simulated(self) -> bool:
        """Whether it ran on a simulated machine, with its clock."""
        first = next((each for launch in self.made for each in launch.cases), None)
        return first is not None and first.header.clock.name == SIMULATED

    def takes_turns(self, placement: Placement) -> bool:
        """Whether ranks of several hosts have a cpu in common: the hosts are one machine."""
        taken: set[tuple[object, int]] = set()
        for host, ranks in zip(placement.hosts, placement.host_ranks, strict=True):
            known = self.machines.get(host)
            kernel = (known and known.fact("system", "boot id").value) or host
            own = {(kernel, cpu) for cpus in ranks for cpu in cpus}
            if taken & own:
                return True
            taken |= own
        return False

    @property
    def study_s(self) -> float | None:
        """Seconds of the study, to which its budget applies: without experiments; None if it is still running."""
        if self.ending is None:
            return None
        return self.ending.elapsed_s - sum(seconds_used(self.of(trial)) for trial in self.plan.trials)

    def of(self, plan: Plan) -> tuple[LaunchRecords, ...]:
        """The launches of one of its plans (study or experiments), in the order they were made."""
        names = {launch.id for launch in plan.order}
        return tuple(each for each in self.made if each.launch.id in names)


def seconds_used(launches: Iterable[LaunchRecords], before_s: float = 0.0) -> float:
    """Seconds that a plan has used at the end of its last launch, over all parts of a run.

    Runs of earlier versions did not record the time between launches.

    Args:
        launches: launches of the plan, in the order they were made.
        before_s: seconds that it had used before the first launch.
    """
    for launch in (each.launch for each in launches):
        before_s = launch.ended_s or before_s + wall_s(launch) + launch.waited_s
    return before_s


def wall_s(launch: Launch) -> float:
    """Seconds of a launch, including its levels and probes."""
    return launch.ended_s - launch.began_s if launch.ended_s else launch.bracket.elapsed_s + _PROBES_S
