"""The work of `assay submit`: the job of a study or of the rest of a run, its limits, and its script."""

import os
import re
import shlex
import shutil
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import msgspec

from assay import machine, store, studies
from assay.cli.support import output, prepare
from assay.cli.support import site as where
from assay.cli.support.options import JobOptions, RunOptions
from assay.launch import batch
from assay.launch.batch import Job, Scheduler
from assay.launch.command import Command
from assay.model import other_programs
from assay.model.errors import UnfitEnvironmentError, UsageError
from assay.model.job import JOB_SCHEMA, Submitted
from assay.model.plan import Plan
from assay.model.units import parse_duration
from assay.run.ledger import remaining_work
from assay.run.process import Processes
from assay.store.jobs import job_file, jobs, runs_of, save_job, save_script

_MINUTE = 60
#: Minimum time limit: SIGTERM comes a minute before it, and there must be time to measure.
_LEAST_S = 2 * _MINUTE
_USUAL_S = 60 * _MINUTE
#: Time limit of a job, relative to the estimate of its plan; and seconds to build programs in it.
_ROOM, _BUILDING_S = 1.5, 10 * _MINUTE
#: Parts of a time limit that are not for measuring: the minute before its end; a share for starting and reporting;
#: and time to build programs that could not be built here, at most a third of the limit.
_ENDING_S, _OVERHEAD, _BUILDING_SHARE = _MINUTE, 0.05, 1 / 3
_CLOCK = re.compile(r"(?:(\d+)-)?(\d+):(\d\d):(\d\d)")
#: Time limit for an answer of the scheduler.
_PATIENCE_S = 60.0
#: Parameters of the job; all others are for the run in it.
_OF_JOB = {
    *("study", "count", "queue", "time", "account", "cpus", "words", "scheduler", "prologue", "resume", "runs"),
    "dry_run",
}
_OF_NODES = {"nodes", "hostfile"}
#: Parameters of a resumed run.
_RESUMING = {"budget", "confirm", "confirm_budget", "launcher", "ssh_config"}
#: Variables that are for a single process.
_OF_PROCESS = ("ASSAY_PARENT", "ASSAY_RUN", "ASSAY_JOB", "ASSAY_RUNS")


class _Wanted(NamedTuple):
    """The work of a job.

    Attributes:
        study: name of the study.
        run: run that it resumes; empty if it begins one.
        command: words after `assay`.
        hosts: names of the nodes; empty: any nodes.
        nodes: number of nodes.
        needs_s: estimated seconds; None if unknown.
        used_s: seconds of its budget that the run used so far; None if its study is complete.
        experiments_s: seconds for experiments beyond the budget; None if they may take as long as the study.
        built: whether its programs are built, or can be built here.
        before: the previous job of the run.
    """

    study: str
    run: str
    command: tuple[str, ...]
    hosts: tuple[str, ...]
    nodes: int
    needs_s: float | None
    used_s: float | None
    experiments_s: float | None
    built: bool
    before: Submitted | None = None


class Asked(NamedTuple):
    """The options of the job, and those of the run in it."""

    job: JobOptions
    run: RunOptions


def submit(study: str | None, resume: str | None, folder: Path, asked: Asked, *, dry: bool) -> None:
    """Submit the job of a study, or of the rest of a run, and print its id.

    Args:
        study: name of a study, or path of its file; None if a run is continued.
        resume: the run that is continued; None for a new one.
        folder: folder of the runs.
        asked: options of the job, and of the run in it.
        dry: print the job script only.
    """
    scheduler = batch.get(asked.job.scheduler) if asked.job.scheduler else batch.find_scheduler(shutil.which)
    limit_s = None if asked.job.time is None else _seconds(asked.job.time)
    if resume is None:
        study = prepare.named(study, "assay submit network -N 2")
        hosts, nodes = _nodes(asked)
        if not (dry or hosts):
            _require_nodes(study, nodes, asked, scheduler)
        wanted = _whole(study, asked, hosts, nodes, build=not dry)
    else:
        path = store.find(resume, folder)
        folder, wanted = path.absolute().parent, _rest(path, study, asked)
    folder = folder.absolute()
    order = _order(wanted, limit_s, asked, scheduler)
    made = _job(order, asked.job.cpus or 0, folder)
    if dry:
        output.hand_over(scheduler.script(made), newline=False)
        return
    output.echo(_submit(order, made, scheduler, folder))


def _nodes(asked: Asked) -> tuple[tuple[str, ...], int]:
    """The names of the nodes, if given, and their number."""
    hosts = where.named_nodes(asked.run.nodes, asked.run.hostfile)
    nodes = asked.job.count or len(hosts) or 1
    if hosts and nodes != len(hosts):
        raise UsageError(
            f"-N {nodes} and {len(hosts)} nodes by name",
            why="the numbers differ",
            remedy="leave out -N, or leave out --hosts and --hostfile",
        )
    return hosts, nodes


def _require_nodes(study: str, nodes: int, asked: Asked, scheduler: Scheduler) -> None:
    """UnfitEnvironmentError if the job's queue has fewer nodes: such a job may wait forever.

    There is no error if the scheduler does not list its queues, or if its own options may choose another queue.
    """
    if nodes == 1 or asked.job.words:
        return
    queues = scheduler.read_queues(other_programs.output(scheduler.queues, _PATIENCE_S))
    wanted = asked.job.queue or os.environ.get(scheduler.queue_variable)
    chosen = [each for each in queues if (each.name in wanted.split(",") if wanted else each.usual)]
    most = max(chosen or [each for each in queues if not each.name], key=lambda each: each.nodes, default=None)
    if most is None or most.nodes >= nodes:
        return
    other = next((each.name for each in queues if each.name and each.nodes >= nodes), "")
    instead = ("-N", str(nodes), "--partition", other) if other else ("-N", str(most.nodes))
    kept = output.typed({"study", "count", "queue"} if other else {"study", "count"})
    raise UnfitEnvironmentError(
        f"no job of {nodes} nodes can start",
        why=f"{f'partition {most.name}' if most.name else scheduler.name} has {most.nodes}",
        remedy=shlex.join(
            ("assay", "submit", study, *instead, *kept) if other or most.nodes else scheduler.queues
        ),
    )


def _whole(study: str, asked: Asked, hosts: tuple[str, ...], nodes: int, *, build: bool) -> _Wanted:
    """A whole study. It is planned here once, so that errors are reported before the job waits in the queue."""
    words = output.typed(_OF_JOB | _OF_NODES)
    options = prepare.options_of(asked.run, hosts)
    experiments_s = options.confirm_s if options.confirm else 0.0
    plan = _planned(study, asked, hosts or tuple(f"node{number}" for number in range(1, nodes + 1)), build=build)
    needs_s = (plan.budget_s or plan.estimate_s) + (plan.confirm_s or 0.0) if plan else None
    built = plan is not None
    return _Wanted(study, "", ("run", study, *words), hosts, nodes, needs_s, 0.0, experiments_s, built)


def _planned(study: str, asked: Asked, hosts: tuple[str, ...], *, build: bool) -> Plan | None:
    """The plan as if the nodes equalled this machine, with its programs built; None if that is impossible here."""
    here, document = machine.discover()
    wanted = studies.get(study, asked.run.sweeps)
    options = prepare.options_of(asked.run, hosts)
    try:
        plan = prepare.plan(study, wanted, {here.host: (here, document)}, options, asked.run.vary)
        if build:
            prepare.built(plan)
    except UnfitEnvironmentError as error:
        output.say(f"{error.what} ({error.why}); left to the job")
        return None
    return plan


def _rest(path: Path, study: str | None, asked: Asked) -> _Wanted:
    """The rest of a run, on the same nodes.

    Raises:
        UsageError: it is complete, or options would change its plan.
    """
    given = output.given_options()
    if study or given - _RESUMING - _OF_JOB or "count" in given:
        raise UsageError(
            "--resume takes neither a study nor nodes nor options of a plan",
            why="a continued run keeps its plan and its nodes",
            remedy=f"assay submit --resume {store.typed(path)}",
        )
    run = store.load(path)
    missing = remaining_work(run)
    further_s = prepare.confirm_s(run, prepare.options_of(asked.run, ()))
    trials = [left for each in run.plan.trials if (left := remaining_work(run, each))]
    if not (missing or trials or further_s):
        raise UsageError(f"run '{path.name}' is already complete", remedy=f"assay show {store.typed(path)}")
    experiments_s = sum(each.needed_s - each.used_s for each in trials) + (further_s or 0.0)
    needs_s = (missing.needed_s - missing.used_s if missing else 0.0) + experiments_s
    submitted = jobs(path.parent)
    of_run = [job for job in submitted if runs_of(submitted, path.parent).get(job.name) == path]
    words = output.typed(_OF_JOB | _OF_NODES)
    hosts = run.plan.hosts
    return _Wanted(
        run.info.study,
        path.name,
        ("run", "--resume", path.name, *words),
        hosts,
        len(hosts),
        needs_s,
        missing.used_s if missing else None,
        experiments_s,
        built=True,
        before=of_run[-1] if of_run else None,
    )


def _order(wanted: _Wanted, limit_s: int | None, asked: Asked, scheduler: Scheduler) -> Submitted:
    """The record of the job, without an id; options that are not given are those of the run's last job."""
    now = datetime.now(UTC)
    before = wanted.before
    label = re.sub(r"[^\w.-]+", "-", Path(wanted.study).stem)
    limit_s = limit_s or (before.seconds if before else None)
    usual_s = _USUAL_S if wanted.needs_s is None else _minutes(_ROOM * wanted.needs_s + _BUILDING_S)
    return Submitted(
        JOB_SCHEMA,
        name=f"{now:%Y%m%d-%H%M%S}-{label}-{os.urandom(2).hex()}",
        id="",
        scheduler=scheduler.name,
        study=label,
        run=wanted.run,
        command=("assay", *wanted.command, *(_budget(wanted, limit_s, asked) if limit_s else ())),
        submitted=now.isoformat(),
        nodes=wanted.nodes,
        seconds=limit_s or usual_s,
        hosts=wanted.hosts,
        queue=asked.job.queue or (before.queue if before else ""),
        account=asked.job.account or (before.account if before else ""),
        options=asked.job.words or (before.options if before else ()),
        prologue=asked.job.prologue or (before.prologue if before else ()),
    )


def _budget(wanted: _Wanted, limit_s: int, asked: Asked) -> tuple[str, ...]:
    """The option --budget for the time of the job; empty if the user has given a budget."""
    if wanted.used_s is None or asked.run.budget is not None:
        return ()
    building_s = 0.0 if wanted.built else min(_BUILDING_S, _BUILDING_SHARE * limit_s)
    left_s = (1 - _OVERHEAD) * limit_s - _ENDING_S - building_s
    left_s = left_s / 2 if wanted.experiments_s is None else left_s - wanted.experiments_s
    budget_s = wanted.used_s + max(1.0, left_s)
    output.say(
        f"budget of the run: {budget_s:.0f} s of its job's {limit_s} s; the rest is for building, starting and "
        "reporting, for experiments, and for the request to end a minute before the limit"
    )
    return ("--budget", f"{budget_s:.0f}s")


def _seconds(text: str) -> int:
    """Seconds of a time limit, `30m`, `2h`, `1:30:00` or `1-12:00:00`.

    Raises:
        UsageError: it is invalid, has no unit, or leaves no time to measure.
    """
    clock = _CLOCK.fullmatch(text.strip())
    if clock:
        days, hours, minutes, seconds = (int(part or 0) for part in clock.groups())
        limit = ((days * 24 + hours) * 60 + minutes) * 60 + seconds
    elif text.strip().isdecimal():
        raise UsageError(
            f"--time {text} has no unit", why="schedulers read a plain number as minutes", remedy=f"--time {text}m"
        )
    else:
        limit = round(parse_duration(text))
    if limit < _LEAST_S:
        raise UsageError(
            f"--time {text} is too short",
            why="the job is asked to end one minute before its limit",
            remedy=f"--time {_LEAST_S // _MINUTE}m, or more",
        )
    return limit


def _minutes(seconds: float) -> int:
    """Seconds rounded up to whole minutes, the unit of schedulers."""
    return int(-(-seconds // _MINUTE)) * _MINUTE


def _job(order: Submitted, cpus: int, folder: Path) -> Job:
    """The job that runs this Assay with its environment variables."""
    own = {name: value for name, value in os.environ.items() if name.startswith("ASSAY_")}
    variables = {name: value for name, value in own.items() if name not in _OF_PROCESS}
    variables |= {"ASSAY_JOB": order.name, "ASSAY_RUNS": str(folder)}
    assay = (sys.executable, "-P", "-m", "assay", *order.command[1:])
    return Job(
        name=f"assay-{order.study}",
        command=("env", *(f"{name}={value}" for name, value in sorted(variables.items())), *assay),
        folder=str(Path.cwd()),
        output=str(job_file(order.name, ".out", folder)),
        nodes=order.nodes,
        seconds=order.seconds,
        hosts=order.hosts,
        cpus=cpus,
        queue=order.queue,
        account=order.account,
        options=order.options,
        prologue=order.prologue,
    )


def _submit(order: Submitted, job: Job, scheduler: Scheduler, folder: Path) -> str:
    """Submit the job's script, write the job's record, and return its id.

    Raises:
        UnfitEnvironmentError: the scheduler refuses.
    """
    path = save_script(order.name, scheduler.script(job), folder)
    argv = scheduler.submit(str(path), job)
    outcome = Processes().execute(Command(argv, {}), _PATIENCE_S)
    if outcome.exit_code != 0:
        lines = (outcome.stderr or outcome.stdout).decode(errors="replace").strip().splitlines()
        silent = f"{argv[0]} did not answer" if outcome.exit_code is None else f"{argv[0]} gives no reason"
        raise UnfitEnvironmentError(
            f"{scheduler.name} refuses the job", why="; ".join(lines[-3:]) or silent, remedy=shlex.join(argv)
        )
    job_id = scheduler.job_id(outcome.stdout.decode(errors="replace"))
    save_job(msgspec.structs.replace(order, id=job_id), folder)
    output.say(f"submitted for {order.seconds // _MINUTE} minutes; next: assay status {job_id} --watch")
    return job_id
