"""A batch job that was submitted, and how it and its run stand."""

from typing import Literal

import msgspec

JOB_SCHEMA = 1
#: Variable by which a run knows the job that it runs in: the job's name.
JOB_VARIABLE = "ASSAY_JOB"


class Submitted(msgspec.Struct, frozen=True):
    """`jobs/NAME.json`: written when a job is submitted, never changed. Beside it are NAME.sh and NAME.out.

    Attributes:
        schema: version of this record.
        name: of its files, sortable by time.
        id: the scheduler's.
        scheduler: slurm, pbs, flux.
        study: what it measures.
        run: that it goes on with; empty where it begins one, whose run.json then has the job's name.
        command: what the job runs.
        submitted: ISO time, UTC.
        nodes: how many.
        hosts: nodes by name; any where empty.
        seconds: its time limit.
        queue: partition or queue; empty for the usual one.
        account: that pays; empty for the usual one.
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
    """How a submitted job stands, and how far its run is.

    Attributes:
        job: the scheduler's id.
        name: of its files.
        scheduler: that was given it.
        study: what it measures.
        state: `timed-out` where the time limit ended it; `ended` where the scheduler has forgotten it and its run
            does not tell how; `unknown` where the scheduler does not answer.
        reason: why, as far as somebody says so.
        run: id; None where it has not begun.
        made: launches that are through.
        planned: launches of the plan; 0 where the run has not begun.
        left_s: estimate of what is missing of the run; None where it has not begun.
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
        """Whether it has not ended yet, as far as anybody knows."""
        return self.state in {"queued", "running"}
