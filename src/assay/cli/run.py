"""`assay run`: plan, build, measure, analyse, report."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from assay.cli import output
from assay.cli import site as where

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from assay.cli.prepare import Prepared
    from assay.launch.command import Site
    from assay.launch.starter import Starter
    from assay.model.plan import Plan
    from assay.model.result import Analysis
    from assay.model.run import Run
    from assay.model.toolchain import Build
    from assay.plan import Options
    from assay.store import RunDirectory


@click.command()
@click.argument("study", required=False)
@click.option(
    "--budget", metavar="DURATION", help="Time budget of the whole run: 60s, 5m, 1h. What it cuts is said."
)
@click.option("--precision", metavar="SHARE", help="Half-width of a launch's interval to reach: 1% or 0.01.")
@output.launches_option
@output.seed_option
@output.toolchains_option
@click.option(
    "--vary",
    "wishes",
    metavar="NAME[=A,B]",
    multiple=True,
    help="Vary it level by level in the same blocks: memory=first-touch,interleave, toolchain=gcc,clang, "
    "flags='-O3|-O2', an axis, an environment variable (UCX_RNDV_THRESH=default,65536), or a factor of "
    "assay.toml. Several make every combination.",
)
@output.mpis_option
@output.networks_option
@output.messages_option
@output.nic_node_option
@output.refine_option
@output.confirm_option
@output.confirm_budget_option
@where.options
@click.option(
    "--resume",
    metavar="RUN",
    help="Go on with a run that was stopped: its id, a prefix, or last. Where a budget cut it, --budget "
    "gives the whole of it a larger one.",
)
@click.option("--runs", metavar="DIRECTORY", help="Folder of runs.  [default: $ASSAY_RUNS, else ./assay-runs]")
@click.option("--dry-run", is_flag=True, help="Print the exact commands; measure nothing.")
def command(  # noqa: PLR0913, PLR0917 (one parameter an option)
    study: str | None,
    wishes: tuple[str, ...],
    resume: str | None,
    runs: str | None,
    nodes: tuple[str, ...],
    hostfile: str | None,
    launcher: str | None,
    ssh_config: str | None,
    *,
    dry_run: bool,
    **asked: Any,  # noqa: ANN401 (the options of the plan, which prepare reads)
) -> None:
    """Measure STUDY on this machine, or on nodes, and explain the result.

    STUDY is the name of a stored study (see assay list studies) or the path of your own (.toml). Every launch is
    saved as soon as it is through: after Ctrl-C, a request to end (SIGTERM, SIGHUP) or a crash, go on with
    --resume last.

    The last line of the output is the path of the report. Exit codes: 0 all measured; 1 a case failed; 5 a case
    was never measured; 130 interrupted, by whichever signal.
    """
    from assay import store
    from assay.cli.prepare import options_of, prepare
    from assay.launch.starter import Starter
    from assay.model.units import parse_duration

    site = where.find(launcher, ssh_config)
    folder = folder_of(runs)
    budget_s = None if asked["budget"] is None else parse_duration(asked["budget"])
    with _ending_on_request():
        if resume is not None:
            larger = "budget" in _given()
            path = store.find(resume, folder)
            options = options_of(asked, ())
            if dry_run:
                _print_experiments(path, options, Starter(site))
                return
            _go_on(path, budget_s if larger else None, options, site)
        else:
            options = options_of(asked, where.node_names(nodes, hostfile))
            prepared = prepare(named(study, "assay run quick"), options, wishes, Starter(site))
            if dry_run:
                _print_commands(prepared.plan, prepared.builds, Starter(site))
                return
            path = _begin(prepared, folder, site)
        _tell_result(path, site)


@contextmanager
def _ending_on_request() -> Iterator[None]:
    """A batch system, or a terminal that closes, ends a run as Ctrl-C does; what is ignored (nohup) stays so."""
    import signal

    def end(_number: int, _frame: object) -> None:
        for each in handled:  # one is enough: the run is ending
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
    """The folder of runs that --runs names, else the usual one."""
    from pathlib import Path

    from assay import store
    from assay.model.errors import UsageError

    if runs is not None and not runs.strip():
        raise UsageError("--runs names no folder", why="it is empty", remedy="assay run quick --runs ./assay-runs")
    return Path(runs) if runs else store.runs_folder()


def named(study: str | None, example: str) -> str:
    """The study; UsageError where none is named, with an example of what to type."""
    from assay import studies
    from assay.model.errors import UsageError

    if study is None:
        raise UsageError("which study?", why=f"stored: {', '.join(studies.names())}; or a path", remedy=example)
    return study


def _given() -> set[str]:
    """What stands on the command line beside --resume; a configuration's defaults do not matter.

    Raises:
        UsageError: what a run that goes on cannot take.
    """
    from click.core import ParameterSource

    from assay.model.errors import UsageError

    context = click.get_current_context()
    given = {name for name in context.params if context.get_parameter_source(name) is ParameterSource.COMMANDLINE}
    confirming = given & {"confirm", "confirm_budget"}
    shown = {"dry_run"} if confirming else set()
    if given - confirming - shown - {"resume", "runs", "budget", "launcher", "ssh_config"}:
        raise UsageError(
            "--resume takes neither a study nor other options than --budget, --confirm, --launcher, --ssh-config",
            why="a run goes on by the plan that it began with",
            remedy="assay run --resume last",
        )
    return given


def _begin(prepared: Prepared, folder: Path, site: Site) -> Path:
    """Measure a plan from its first launch on; the directory of the run."""
    import sys

    from assay import store
    from assay.cli import measuring
    from assay.launch.starter import Starter
    from assay.run.rehearsal import require_launchers

    plan, builds = prepared.plan, prepared.builds
    require_launchers(plan, Starter(site), builds)
    directory = store.create(plan, prepared.machines, builds, ("assay", *sys.argv[1:]), folder)
    _say(f"{plan.title}: {len(plan.studied)} cases in {len(plan.order)} launches, into {directory.path}")
    measuring.measure(directory, site)
    measuring.refine(directory.path, site)
    measuring.confirm(directory.path, site)
    return directory.path


def _go_on(path: Path, budget_s: float | None, options: Options, site: Site) -> None:
    """Measure what is missing of a run and of its experiments; one that has all of it stays as it is."""
    from assay import store
    from assay.cli import measuring

    run = store.load(path)
    wished = confirm_s(run, options)
    due = wished is not None or any(measuring.goes_on(run, each) for each in run.plan.trials)
    whole = budget_s is None and due and run.ending is not None and run.ending.status != "interrupted"
    if not whole and _is_missing(run, budget_s, site):
        measuring.measure(_reopen(run, site, budget_s), site)
        measuring.refine(path, site)
    elif due:
        _require_same(run, site)
    else:
        _say(f"run {path.name} is complete already")
    measuring.confirm(path, site, wished)


def confirm_s(run: Run, options: Options) -> float | None:
    """Seconds for experiments: what is asked for now, else what the run was begun with; None for none."""
    from assay.plan import seconds_for

    if options.confirm:
        return options.confirm_s or seconds_for(run.plan.budget_s)
    return run.plan.confirm_s


def _is_missing(run: Run, budget_s: float | None, site: Site) -> bool:
    """Whether a run has something left to measure; UsageError where it has and no time for it."""
    from assay.launch.remote import going_on
    from assay.model.units import typed_duration
    from assay.run.ledger import unmade

    missing = unmade(run)
    cut = run.ending is not None and run.ending.status == "cut"
    whole_s = run.plan.budget_s if budget_s is None else budget_s
    if missing and whole_s is not None and (whole_s <= missing.used_s if budget_s else cut):
        from assay.model.errors import UsageError

        raise UsageError(
            f"a budget of {whole_s:g} s is used up",
            why=f"the run took {missing.used_s:.0f} s so far, and its budget is for the whole of it",
            remedy=going_on(run.info.id, site, "--budget", typed_duration(missing.needed_s)),
        )
    return bool(missing) or run.ending is None or run.ending.status != "complete"


def _require_same(run: Run, site: Site) -> None:
    """UnfitEnvironmentError where the run would go on with another machine or other programs."""
    from assay import toolchain
    from assay.launch.starter import Starter
    from assay.run.rehearsal import require_same

    builds = {name: toolchain.build(build.toolchain, _say) for name, build in run.info.builds.items()}
    hosts = run.plan.hosts[:1] if set(run.plan.hosts) <= set(run.machines) else ()
    (machine, _), *_ = where.machines(hosts, Starter(site)).values()
    require_same(run, machine, builds)


def _reopen(run: Run, site: Site, budget_s: float | None) -> RunDirectory:
    from pathlib import Path

    from assay import store

    _require_same(run, site)
    directory = store.reopen(Path(run.path), budget_s)
    for sentence in run.damage:
        _say(sentence)
    made = len({launch.launch.id for launch in run.launches})
    _say(f"going on with {run.info.id}: {made} of {len(run.plan.order)} launches are made")
    return directory


def _print_experiments(path: Path, options: Options, starter: Starter) -> None:
    """The commands of the experiments that a run would be confirmed by."""
    from assay import store
    from assay.cli import measuring

    run = store.load(path)
    plan = measuring.experiments(run, confirm_s(run, options) or 0.0)
    if plan.experiments:
        _print_commands(plan, run.info.builds, starter)


def _print_commands(plan: Plan, builds: Mapping[str, Build], starter: Starter) -> None:
    import shlex

    from assay.run.levels import commands
    from assay.run.rehearsal import rehearse

    made = 0
    for launch, order in rehearse(plan, starter, builds):
        variables = [f"{name}={value}" for name, value in order.environment.items()]
        made += 1
        click.echo(f"# launch {launch.id}")
        for argv in commands(plan, [plan.case(case) for case in launch.cases]).values():
            click.echo(shlex.join(argv))
        click.echo(shlex.join(["env", *variables, *order.argv]))
    if made < len(plan.order):
        _say(
            f"the budget of {plan.budget_s:g} s has time for {made} of {len(plan.order)} launches, as it looks now"
        )
    if plan.confirm_s is not None:
        _say(
            f"experiments for candidates among the findings, if there are any, take at most {plan.confirm_s:g} s "
            "more; which ones is known when the study is through"
        )


def _tell_result(path: Path, site: Site) -> None:
    from assay.report import html, terminal

    run, analysis = output.load(str(path))
    terminal.render(run, analysis, output.console())
    if run.plan.factors:
        from assay.analyse.comparisons.runs import within
        from assay.report import compare_table

        compare_table.render(within(run, analysis), output.console(), floor=False)
    _tell_cut(run, site)
    click.echo(output.write_page(run, html.render(run, analysis)))
    _judge(run, analysis)


def _tell_cut(run: Run, site: Site) -> None:
    """What a budget cut, and how to have it nevertheless."""
    from assay.launch.remote import going_on
    from assay.model.units import typed_duration
    from assay.run.ledger import unmade

    missing = unmade(run)
    if missing and run.ending and run.ending.status == "cut":
        _say(
            f"{missing.launches} of {len(run.plan.order)} launches cut by the budget of {run.plan.budget_s:g} s; "
            f"go on with: {going_on(run.info.id, site, '--budget', typed_duration(missing.needed_s))}"
        )


def _judge(run: Run, analysis: Analysis) -> None:
    """Raise what the exit code must say; the report stands already."""
    from assay.model.errors import MeasurementError, PartialRunError
    from assay.report.summary import counted

    skipped = [one for one in analysis.outcomes if one.status == "skipped"]
    failed = [one for one in analysis.outcomes if one.status not in {"complete", "skipped"}]
    for outcomes, kind, words in (
        (failed, MeasurementError, "gave no valid result"),
        (skipped, PartialRunError, "were never measured"),
    ):
        if outcomes:
            raise kind(
                f"{counted(run, outcomes)} {words}",
                why=f"the first, {outcomes[0].case}: {outcomes[0].reason}",
                remedy=f"assay show {run.info.id}",
            )


def _say(text: str) -> None:
    click.echo(f"assay: {text}", err=True)
