"""A submitted batch job, and the status of the job and its run."""

from typing import Literal

import msgspec

JOB_SCHEMA = 1
#: Environment variable with the name of the job in which a run is started.
JOB_VARIABLE = "ASSAY_JOB"


class Submitted(msgspec.Struct, frozen=True):
    """`jobs/NAME.json`: written when a job is submitted, never changed. The same folder has NAME.sh and NAME.out.

    Attributes:
        schema: version of this record.
        name: name of its files, sortable by time.
        id: id of the scheduler.
        scheduler: slurm, pbs, flux.
        study: name of the study.
        run: run that it resumes; empty if it begins one, whose run.json then has the job's name.
        command: command of the job.
        submitted: ISO time, UTC.
        nodes: number of nodes.
        hosts: names of the nodes; empty: any nodes.
        seconds: time limit.
        queue: partition or queue; empty for the default.
        account: account that pays; empty for the default.
        options: further words for the scheduler.
        prologue: lines of bash that the job runs first.
    """

    schema: int
    name: str
    id: str
    scheduler: str
    study: str
    run: str
    command: tuple[str, ...]
    submitted: str
    nodes: int
    seconds: int
    hosts: tuple[str, ...] = ()
    queue: str = ""
    account: str = ""
    options: tuple[str, ...] = ()
    prologue: tuple[str, ...] = ()


JobState = Literal["queued", "running", "complete", "failed", "cancelled", "timed-out", "ended", "unknown"]


class JobStatus(msgspec.Struct, frozen=True):
    """Status of a submitted job, and progress of its run.

    Attributes:
        job: id of the scheduler.
        name: name of its files.
        scheduler: its scheduler.
        study: name of the study.
        state: `timed-out` if its scheduler ended it (time limit, deadline, preemption); `ended` if the scheduler
            has forgotten it and its run does not show how it ended; `unknown` if the scheduler does not answer.
        reason: reason for the state, if known.
        run: id; None if it has not begun.
        made: launches that are complete.
        planned: launches of the plan; 0 if the run has not begun.
        left_s: estimate of the remaining seconds of the run; None if it has not begun.
    """

    job: str
    name: str
    scheduler: str
    study: str
    state: JobState
    reason: str = ""
    run: str | None = None
    made: int = 0
    planned: int = 0
    left_s: float | None = None

    @property
    def goes_on(self) -> bool:
        """Whether it has not ended yet, as far as known."""
        return self.state in {"queued", "running"}
