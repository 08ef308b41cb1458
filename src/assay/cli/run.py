"""`assay run`: plan, build, measure, analyse, report."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli.support import output
from assay.cli.support import site as where
from assay.cli.support.opened import without_collector
from assay.cli.support.options import RunOptions, run_options

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from assay.cli.support.measuring import OpenRun
    from assay.cli.support.prepare import Prepared
    from assay.launch.command import Site
    from assay.launch.starter import Starter
    from assay.model.plan import Plan
    from assay.model.result import Analysis
    from assay.model.run import Run
    from assay.model.toolchain import Build
    from assay.plan import Options


@click.command()
@click.argument("study", required=False)
@run_options
@click.option(
    "--resume",
    metavar="RUN",
    help="Continue a stopped run: its id, a prefix, or last. If a budget cut it, give a larger --budget for the "
    "whole run.",
)
@click.option("--runs", metavar="DIRECTORY", help="Folder of runs.  [default: $ASSAY_RUNS, else ./assay-runs]")
@click.option("--dry-run", is_flag=True, help="Print the exact commands; measure nothing.")
def command(
    study: str | None, resume: str | None, runs: str | None, *, dry_run: bool, options: RunOptions
) -> None:
    """Measure STUDY on this machine or on nodes, and explain the result.

    STUDY is the name of a stored study (see assay list studies), scale:BENCHMARK, or the path of your own (.toml).
    Every launch is saved as soon as it ends. After Ctrl-C, SIGTERM, SIGHUP or a crash, continue with --resume
    last.

    The last line of the output is the path of the report. Exit codes: 0 all cases were measured; 1 a case failed;
    5 a case was not measured; 130 interrupted by a signal.
    """
    from assay import store
    from assay.cli.support.prepare import options_of, prepare
    from assay.launch.starter import Starter

    site = where.find(options.launcher, options.ssh_config)
    folder = folder_of(runs)
    with _ending_on_request():
        if resume is not None:
            larger = "budget" in _given()
            path = store.find(resume, folder)
            chosen = options_of(options, ())
            if dry_run:
                _print_experiments(path, chosen, Starter(site))
                return
            opened = _resume(path, chosen.budget_s if larger else None, chosen, site)
        else:
            chosen = options_of(options, where.node_names(options.nodes, options.hostfile))
            name = named(study, "assay run quick")
            prepared = prepare(name, chosen, options.vary, Starter(site), measures=not dry_run)
            if dry_run:
                _print_commands(prepared.plan, prepared.builds, Starter(site))
                return
            opened = _begin(prepared, folder, site)
        _print_result(opened, site)


@contextmanager
def _ending_on_request() -> Iterator[None]:
    """Let SIGTERM and SIGHUP end a run as Ctrl-C does; signals that are ignored (nohup) stay ignored."""
    import signal

    def end(_number: int, _frame: object) -> None:
        for each in handled:  # ignore further signals while the run ends
            signal.signal(each, signal.SIG_IGN)
        raise KeyboardInterrupt

    requests = (signal.SIGTERM, signal.SIGHUP)
    handled = [each for each in requests if signal.getsignal(each) is signal.SIG_DFL]
    for each in handled:
        signal.signal(each, end)
    try:
        yield
    finally:
        for each in handled:
            signal.signal(each, signal.SIG_DFL)


def folder_of(runs: str | None) -> Path:
    """The folder of runs given by --runs, else the default one."""
    from assay import store
    from assay.model.errors import UsageError

    if runs is not None and not runs.strip():
        raise UsageError("--runs needs a folder", why="it is empty", remedy="assay run quick --runs ./assay-runs")
    return Path(runs) if runs else store.runs_folder()


def named(study: str | None, example: str) -> str:
    """The study; UsageError with an example if none is named."""
    from assay import studies
    from assay.model.errors import UsageError

    if study is None:
        raise UsageError("which study?", why=f"stored: {', '.join(studies.names())}; or a path", remedy=example)
    return study


def _given() -> set[str]:
    """The options given with --resume.

    Raises:
        UsageError: an option that a resumed run cannot take.
    """
    from assay.model.errors import UsageError

    given = output.given_options()
    confirming = given & {"confirm", "confirm_budget"}
    shown = {"dry_run"} if confirming else set()
    if given - confirming - shown - {"resume", "runs", "budget", "launcher", "ssh_config"}:
        raise UsageError(
            "--resume takes neither a study nor other options than --budget, --confirm, --launcher, --ssh-config",
            why="a continued run keeps its plan",
            remedy="assay run --resume last",
        )
    return given


def _begin(prepared: Prepared, folder: Path, site: Site) -> OpenRun:
    """Measure a plan from its first launch."""
    import sys

    from assay import store
    from assay.cli.support import measuring
    from assay.cli.support.together import require_together
    from assay.launch.starter import Starter
    from assay.model.units import count_of
    from assay.run.dry_run import require_launchers

    plan, builds = prepared.plan, prepared.builds
    require_launchers(plan, Starter(site), builds)
    require_together(plan, builds, Starter(site))
    directory = store.create(plan, prepared.machines, builds, ("assay", *sys.argv[1:]), folder)
    cases, launches = count_of(len(plan.studied), "case"), count_of(len(plan.order), "launch")
    output.say(f"{plan.title}: {cases} in {launches}, into {directory.path}")
    with measuring.OpenRun(directory.run, site, directory) as opened:
        measuring.measure_all(opened)
    return opened


def _resume(path: Path, budget_s: float | None, options: Options, site: Site) -> OpenRun:
    """Measure the missing part of a run and of its experiments; a complete run does not change."""
    from assay.cli.support import measuring

    run = _continued(_requested(path, options, budget_s), budget_s, site)
    with measuring.OpenRun(run, site, require=lambda: _require_same(run, site)) as opened:
        measuring.measure_all(opened)
    if not opened.is_open:
        output.say(f"run {path.name} is already complete")
    return opened


def _requested(path: Path, options: Options, budget_s: float | None = None) -> Run:
    """The stored run, with the current options in its plan.

    Raises:
        UsageError: experiments are requested for an imported run.
    """
    import msgspec

    from assay import store
    from assay.catalogue import benchmarks
    from assay.model.errors import UsageError

    run = store.load(path)
    for application in run.plan.applications:
        if application.name not in benchmarks.names():
            benchmarks.declare(application)
    requested = confirm_s(run, options)
    if run.imported and requested is not None:
        raise UsageError(
            f"run '{run.info.id}' was imported",
            why="imported figures cannot be measured again",
            remedy=f"assay show {_typed(run)}   # its candidate findings show the command",
        )
    plan = msgspec.structs.replace(run.plan, confirm_s=requested)
    if budget_s is not None:
        plan = msgspec.structs.replace(plan, budget_s=budget_s, grows=False)
    return msgspec.structs.replace(run, plan=plan)


def _continued(run: Run, budget_s: float | None, site: Site) -> Run:
    """The run, without its ending if its study continues.

    If only experiments are requested, a study that used its budget is not continued.
    """
    import msgspec

    from assay.run.ledger import begun

    due = run.plan.confirm_s is not None or begun(run)
    whole = budget_s is None and due and run.ending is not None and run.ending.status != "interrupted"
    if whole or not _is_missing(run, budget_s, site):
        return run
    return msgspec.structs.replace(run, ending=None)


def _typed(run: Run) -> str:
    from assay import store

    return store.typed(Path(run.path))


def confirm_s(run: Run, options: Options) -> float | None:
    """Seconds for experiments: from the current options, else from the run's plan; None for no experiments."""
    from assay.plan import experiment_budget_s

    if options.confirm:
        return options.confirm_s or experiment_budget_s(run.plan.budget_s)
    return run.plan.confirm_s


def _is_missing(run: Run, budget_s: float | None, site: Site) -> bool:
    """Whether a run has something left to measure; UsageError if it has but no time for it."""
    from assay.launch.remote import resume_command
    from assay.model.units import typed_duration
    from assay.run.ledger import remaining_work

    missing = remaining_work(run)
    cut = run.ending is not None and run.ending.status == "cut"
    whole_s = run.plan.budget_s if budget_s is None else budget_s
    if missing and whole_s is not None and (whole_s <= missing.used_s if budget_s else cut):
        from assay.model.errors import UsageError

        raise UsageError(
            f"a budget of {whole_s:g} s is used up",
            why=f"the run took {missing.used_s:.0f} s so far, and its budget is for the whole of it",
            remedy=resume_command(_typed(run), site, "--budget", typed_duration(missing.needed_s)),
        )
    return bool(missing) or run.ending is None or run.ending.status != "complete"


def _require_same(run: Run, site: Site) -> None:
    """UnfitEnvironmentError if the run would continue on another machine or with other programs."""
    from assay import toolchain
    from assay.launch.starter import Starter
    from assay.run.dry_run import require_same

    builds = {
        name: toolchain.build(each.toolchain, output.say, programs=each.programs.keys())
        for name, each in run.info.builds.items()
    }
    hosts = run.plan.hosts[:1] if set(run.plan.hosts) <= set(run.machines) else ()
    (machine, _), *_ = where.machines(hosts, Starter(site)).values()
    require_same(run, machine, builds)


def _print_experiments(path: Path, options: Options, starter: Starter) -> None:
    """Print the commands of the experiments of a run."""
    from assay.cli.support import measuring, prepare
    from assay.plan.stages import CONFIRM

    run = _requested(path, options)
    plan = measuring.following(run, CONFIRM, measuring.OpenRun(run, starter.site).analysis)
    if plan:
        _print_commands(plan, run.info.builds | prepare.further_programs(run.info.builds, plan), starter)


def _print_commands(plan: Plan, builds: Mapping[str, Build], starter: Starter) -> None:
    import shlex

    from assay.run.dry_run import dry_run
    from assay.run.levels import commands

    made = 0
    for launch, order in dry_run(plan, starter, builds):
        variables = [f"{name}={value}" for name, value in order.environment.items()]
        for name, lines in order.files.items():
            click.echo(f"printf '%s\\n' {shlex.join(lines)} > {name}.txt")
            variables.append(f"{name}={name}.txt")
        made += 1
        output.echo(f"# launch {launch.id}")
        cases = [plan.case(case) for case in launch.cases]
        for argv in commands(plan, cases).values():
            for host in cases[0].placement.hosts:
                output.echo(shlex.join(argv if host == starter.site.host else starter.on_host(host, argv).argv))
        output.echo(shlex.join(["env", *variables, *order.argv]))
    if made < len(plan.order):
        output.say(f"the budget of {plan.budget_s:g} s is enough for about {made} of {len(plan.order)} launches")
    if plan.confirm_s is not None:
        output.say(
            f"experiments for candidate findings take at most {plan.confirm_s:g} s more; the results of the study "
            "decide which ones"
        )


def _print_result(opened: OpenRun, site: Site) -> None:
    from assay.cli import show
    from assay.cli.support import printed
    from assay.report import html

    without_collector()
    run, analysis = opened.run, opened.analysis()
    printed.tell(Path(run.path), ("text",), lambda console: show.page(run, analysis, console))
    _print_cut(run, site)
    output.echo(output.write_page(run, html.render(run, analysis)))
    _judge(run, analysis)


def _print_cut(run: Run, site: Site) -> None:
    """Print what a budget cut, and the command that continues."""
    from assay.launch.remote import resume_command
    from assay.model.units import typed_duration
    from assay.run.ledger import remaining_work

    missing = remaining_work(run)
    if missing and run.ending and run.ending.status == "cut":
        resume = resume_command(_typed(run), site, "--budget", typed_duration(missing.needed_s))
        output.say(
            f"cases of {missing.launches} of {len(run.plan.order)} launches cut by the budget of "
            f"{run.plan.budget_s:g} s; continue with: {resume}"
        )


def _judge(run: Run, analysis: Analysis) -> None:
    """Raise the error for the exit code; the report is already written."""
    from assay.model.errors import MeasurementError, PartialRunError
    from assay.report.summary import counted

    skipped = [one for one in analysis.outcomes if one.status == "skipped"]
    failed = [one for one in analysis.outcomes if one.status not in {"complete", "skipped"}]
    for outcomes, kind, words in (
        (failed, MeasurementError, "gave no valid result"),
        (skipped, PartialRunError, "were not measured"),
    ):
        if outcomes:
            raise kind(
                f"{counted(run, outcomes)} {words}",
                why=f"the first, {run.plan.names[outcomes[0].case]}: {outcomes[0].reason}",
                remedy=f"assay show {_typed(run)}",
            )
