"""`assay status`: the state of submitted jobs, and the progress of their runs."""

from __future__ import annotations

import shlex
import time
from contextlib import nullcontext
from typing import TYPE_CHECKING

import click

from assay.cli.support import opened, output
from assay.model.errors import (
    AssayError,
    InterruptedRunError,
    MeasurementError,
    PartialRunError,
    UnfitEnvironmentError,
    UsageError,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from rich.table import Table

    from assay.launch.batch import Status
    from assay.model.job import JobState, JobStatus, Submitted
    from assay.model.run import Run
    from assay.run.ledger import RemainingWork

_LOOK_EVERY_S = 5.0
_PATIENCE_S = 30.0
#: Number of attempts while a scheduler, which may be busy, does not answer; then the state is unknown.
_SILENT_LOOKS = 12
_MINUTE_S = 60
_STYLES = {"running": "cyan", "complete": "green", "failed": "red", "cancelled": "yellow", "timed-out": "yellow"}


@click.command()
@click.argument("reference", metavar="[JOB|RUN]", required=False)
@click.option("--watch", is_flag=True, help="Update until every job has ended.")
@opened.runs_option
@output.json_option
def command(reference: str | None, runs: str | None, *, watch: bool, as_json: bool) -> None:
    """Show the state of submitted jobs and the progress of their runs.

    JOB is the id of the scheduler, RUN the id of a run or a prefix of it; last is the newest job.

    Exit codes, if JOB or RUN is named: 0 queued, running or complete; 1 failed; 5 cancelled or out of time.
    """
    folder = opened.folder_of(runs)
    chosen = _chosen(reference, folder)
    found = _watched(chosen, folder, quiet=as_json) if watch else _look(chosen, folder)
    if as_json:
        output.print_json({"schema": 1, "jobs": found})
    elif not chosen:
        output.say("no job was submitted yet; next: assay submit network -N 2")
    elif not watch:
        output.console().print(_table(found))
    if reference is not None:
        _judge(found[-1], chosen[-1])


def _chosen(reference: str | None, folder: Path) -> tuple[Submitted, ...]:
    """The jobs that a user names, oldest first.

    Raises:
        UsageError: there are none.
    """
    from assay.store.jobs import jobs, runs_of

    submitted = jobs(folder)
    if reference is None or (reference == "last" and submitted):
        return submitted if reference is None else submitted[-1:]
    runs = {name: path.name for name, path in runs_of(submitted, folder).items()}
    named = tuple(job for job in submitted if reference == job.id)
    chosen = named or tuple(
        job for job in submitted if any(name.startswith(reference) for name in (job.name, runs.get(job.name, "")))
    )
    if not chosen:
        known = ", ".join(job.id for job in submitted[-10:])
        raise UsageError(
            f"there is no job or run '{reference}'",
            why=f"in {folder} there are: {known}" if known else f"in {folder} there is none",
            remedy="assay status",
        )
    return chosen


def _look(chosen: Sequence[Submitted], folder: Path) -> tuple[JobStatus, ...]:
    """The current status of each job."""
    from assay import store
    from assay.store.jobs import runs_of

    # The schedulers are asked before the records are read: those of a job that has ended are then whole.
    asked = [(job, *_ask(job)) for job in chosen]
    paths = runs_of(tuple(chosen), folder)
    found = []
    for job, status, why in asked:
        try:
            run = store.load(paths[job.name]) if job.name in paths else None
        except AssayError:  # it is being written, or damaged, which assay list shows
            run = None
        found.append(judged(job, status, why, run))
    return tuple(found)


def _ask(job: Submitted) -> tuple[Status | None, str]:
    """The status of a job from the scheduler, or why there is none."""
    from assay.launch import batch
    from assay.launch.command import Command
    from assay.run.process import Processes

    scheduler = batch.get(job.scheduler)
    why = ""
    for argv in scheduler.status(job.id):
        try:
            outcome = Processes().execute(Command(argv, {}), _PATIENCE_S)
        except UnfitEnvironmentError as error:
            why = why or error.what
            continue
        status = scheduler.read(outcome.stdout.decode(errors="replace")) if outcome.exit_code == 0 else None
        if status:
            return status, ""
        why = why or outcome.last_error_line
    return None, why


def judged(job: Submitted, status: Status | None, why: str, run: Run | None) -> JobStatus:
    """The status of a job, from its scheduler and from the ending of its run.

    Args:
        job: the submitted job.
        status: status from the scheduler; None if it does not know the job (any more).
        why: error of the scheduler in that case.
        run: run of the job; None if it has not begun.
    """
    from assay.model.job import JobStatus
    from assay.run.ledger import remaining_work

    state: JobState
    ended = run.ending.status if run and run.ending and run.ending.ended > job.submitted else ""
    if status is None:
        state = "complete" if ended in {"complete", "cut"} else "ended" if ended else "unknown"
        reason = {"complete": "", "ended": ended}.get(state, why)
    elif status.state == "failed" and status.exit_code == InterruptedRunError.exit_code:
        # It was not cancelled, so only its scheduler can have ended it.
        state, reason = "timed-out", "asked to end by the scheduler"
    else:
        state, reason = status.state, status.reason
    if run is None:
        return JobStatus(job.id, job.name, job.scheduler, job.study, state, reason)
    missing = remaining_work(run)
    return JobStatus(
        job.id,
        job.name,
        job.scheduler,
        job.study,
        state,
        reason,
        run.info.id,
        len(run.plan.order) - (missing.launches if missing else 0),
        len(run.plan.order),
        _left_s(run, missing),
    )


def _left_s(run: Run, missing: RemainingWork | None) -> float:
    """Estimated seconds for the rest of a run, within its budget while it runs."""
    if missing is None:
        return 0.0
    whole_s, budget_s = missing.needed_s - missing.used_s, run.plan.budget_s
    return whole_s if run.ending or budget_s is None else max(0.0, min(whole_s, budget_s - missing.used_s))


def _watched(chosen: Sequence[Submitted], folder: Path, *, quiet: bool) -> tuple[JobStatus, ...]:
    """Repeat until all jobs have ended: a table that is updated in a terminal, else a line for each change."""
    from rich.live import Live

    console = output.console()
    found = _look(chosen, folder)
    live = Live(console=console, auto_refresh=False) if console.is_terminal and not quiet else None
    printed: dict[str, str] = {}
    silent = 0
    with live or nullcontext():
        while True:
            if live:
                live.update(_table(found), refresh=True)
            elif not quiet:
                _print_changes(found, printed)
            silent = silent + 1 if any(one.state == "unknown" for one in found) else 0
            if not any(one.goes_on for one in found) and not 0 < silent < _SILENT_LOOKS:
                return found
            time.sleep(_LOOK_EVERY_S)
            found = _look(chosen, folder)


def _print_changes(found: Sequence[JobStatus], printed: dict[str, str]) -> None:
    """Print a line for each job whose status has changed."""
    for one in found:
        line = f"{one.job} {one.state}" + (f" ({one.reason})" if one.reason else "")
        line += f", {_progress(one)}" if one.run else ""
        if printed.get(one.name) != line:
            output.echo(line)
        printed[one.name] = line


def _table(found: Sequence[JobStatus]) -> Table:
    from rich.text import Text

    table = output.table("job", "state", "study", "run", "launches", "why", unwrapped=("job", "run"))
    for one in found:
        state = Text(one.state, _STYLES.get(one.state, ""))
        cells = (one.study, one.run or "", _progress(one), one.reason)
        table.add_row(one.job, state, *map(Text, cells))
    return table


def _progress(one: JobStatus) -> str:
    if one.run is None:
        return ""
    left = ""
    if one.left_s:
        minutes = one.left_s / _MINUTE_S
        left = f", {one.left_s:.0f} s left" if minutes < 2 else f", {minutes:.0f} min left"  # noqa: PLR2004 (minutes)
    return f"{one.made}/{one.planned}{left}"


def _judge(one: JobStatus, job: Submitted) -> None:
    """Raise the error for the exit code."""
    if one.state == "failed":
        raise MeasurementError(
            f"job {one.job} failed",
            why=one.reason,
            remedy=f"assay show {one.run}" if one.run else f"less {one.name}.out, in the folder jobs of the runs",
        )
    again = ("--resume", one.run) if one.run else job.command[2:]
    if one.state in {"cancelled", "timed-out"} or (one.state == "ended" and one.left_s):
        raise PartialRunError(
            f"job {one.job} ended before its run",
            why=one.reason or one.state,
            remedy=shlex.join(("assay", "submit", *again)),
        )
