"""The work of `assay run`: begin or continue a run, and print what it found."""

import shlex
import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import click
import msgspec

from assay import store, toolchain
from assay.catalogue import benchmarks
from assay.cli import show
from assay.cli.support import measuring, output, prepare, printed
from assay.cli.support import site as where
from assay.cli.support.measuring import OpenRun
from assay.cli.support.opened import without_collector
from assay.cli.support.options import RunOptions
from assay.cli.support.prepare import Prepared
from assay.cli.support.together import require_together
from assay.launch.command import Site
from assay.launch.remote import resume_command
from assay.launch.starter import Starter
from assay.model.errors import UsageError
from assay.model.plan import Plan
from assay.model.result import Analysis
from assay.model.run import Run
from assay.model.toolchain import Build
from assay.model.units import count_of, typed_duration
from assay.plan import Options
from assay.plan.stages import CONFIRM
from assay.report import html
from assay.report.provenance import chained
from assay.run.dry_run import dry_run, require_launchers, require_same
from assay.run.ledger import begun, remaining_work
from assay.run.levels import commands

#: Options of a run that is continued.
_WITH_RESUME = {"resume", "runs", "budget", "launcher", "ssh_config", "fail_on"}


def run(
    study: str | None, resume: str | None, folder: Path, options: RunOptions, *, dry: bool
) -> tuple[Run, Analysis] | None:
    """Measure a study or the rest of a run, print the result and return it; None if nothing is measured.

    Args:
        study: name of a study, or path of its file; None if a run is continued.
        resume: the run that is continued; None for a new one.
        folder: folder of the runs.
        options: options of the run.
        dry: print the commands only.
    """
    site = where.find(options.launcher, options.ssh_config)
    with _ending_on_request():
        if resume is not None:
            larger = "budget" in _given()
            path = store.find(resume, folder)
            chosen = prepare.options_of(options, ())
            if dry:
                _print_experiments(path, chosen, Starter(site))
                return None
            opened = _resume(path, chosen.budget_s if larger else None, chosen, site)
        else:
            chosen = prepare.options_of(options, where.node_names(options.nodes, options.hostfile))
            name = prepare.named(study, "assay run quick")
            prepared = prepare.prepare(name, chosen, options.vary, Starter(site), measures=not dry)
            if dry:
                _print_commands(prepared.plan, prepared.builds, Starter(site))
                return None
            opened = _begin(prepared, folder, site)
        return _printed(opened, site)


def _begin(prepared: Prepared, folder: Path, site: Site) -> OpenRun:
    """Measure a plan from its first launch."""
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
    run = store.load(path)
    for application in run.plan.applications:
        if application.name not in benchmarks.names():
            benchmarks.declare(application)
    requested = prepare.confirm_s(run, options)
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
    due = run.plan.confirm_s is not None or begun(run)
    whole = budget_s is None and due and run.ending is not None and run.ending.status != "interrupted"
    if whole or not _is_missing(run, budget_s, site):
        return run
    return msgspec.structs.replace(run, ending=None)


def _typed(run: Run) -> str:
    return store.typed(Path(run.path))


def _is_missing(run: Run, budget_s: float | None, site: Site) -> bool:
    """Whether a run has something left to measure; UsageError if it has but no time for it."""
    missing = remaining_work(run)
    cut = run.ending is not None and run.ending.status == "cut"
    whole_s = run.plan.budget_s if budget_s is None else budget_s
    if missing and whole_s is not None and (whole_s <= missing.used_s if budget_s else cut):
        raise UsageError(
            f"a budget of {whole_s:g} s is used up",
            why=f"the run took {missing.used_s:.0f} s so far, and its budget is for the whole of it",
            remedy=resume_command(_typed(run), site, "--budget", typed_duration(missing.needed_s)),
        )
    return bool(missing) or run.ending is None or run.ending.status != "complete"


def _require_same(run: Run, site: Site) -> None:
    """UnfitEnvironmentError if the run would continue on another machine or with other programs."""
    builds = {
        name: toolchain.build(each.toolchain, output.say, programs=each.programs.keys())
        for name, each in run.info.builds.items()
    }
    hosts = run.plan.hosts[:1] if set(run.plan.hosts) <= set(run.machines) else ()
    (machine, _), *_ = where.machines(hosts, Starter(site)).values()
    require_same(run, machine, builds)


def _print_experiments(path: Path, options: Options, starter: Starter) -> None:
    """Print the commands of the experiments of a run."""
    run = _requested(path, options)
    plan = measuring.following(run, CONFIRM, measuring.OpenRun(run, starter.site).analysis)
    if plan:
        _print_commands(plan, run.info.builds | prepare.further_programs(run.info.builds, plan), starter)


def _print_commands(plan: Plan, builds: Mapping[str, Build], starter: Starter) -> None:
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


def _printed(opened: OpenRun, site: Site) -> tuple[Run, Analysis]:
    """Print the result, and return it."""
    without_collector()
    run, analysis = opened.run, opened.analysis()
    printed.tell(Path(run.path), ("text",), lambda console: show.page(run, analysis, console))
    _print_cut(run, site)
    output.say(f"records: {chained(run)}")
    output.echo(output.write_page(run, html.render(run, analysis)))
    return run, analysis


def _print_cut(run: Run, site: Site) -> None:
    """Print what a budget cut, and the command that continues."""
    missing = remaining_work(run)
    if missing and run.ending and run.ending.status == "cut":
        resume = resume_command(_typed(run), site, "--budget", typed_duration(missing.needed_s))
        output.say(
            f"cases of {missing.launches} of {len(run.plan.order)} launches cut by the budget of "
            f"{run.plan.budget_s:g} s; continue with: {resume}"
        )


@contextmanager
def _ending_on_request() -> Iterator[None]:
    """Let SIGTERM and SIGHUP end a run as Ctrl-C does; signals that are ignored (nohup) stay ignored."""

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


def _given() -> set[str]:
    """The options given with --resume.

    Raises:
        UsageError: an option that a resumed run cannot take.
    """
    given = output.given_options()
    confirming = given & {"confirm", "confirm_budget"}
    shown = {"dry_run"} if confirming else set()
    if given - confirming - shown - _WITH_RESUME:
        raise UsageError(
            "--resume takes neither a study nor other options than --budget, --confirm, --launcher, --ssh-config",
            why="a continued run keeps its plan",
            remedy="assay run --resume last",
        )
    return given
