"""What `assay run` measures, one part after the other: a study, more sizes of its curves, its experiments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.cli import output

if TYPE_CHECKING:
    from pathlib import Path

    from assay.launch.command import Site
    from assay.model.plan import Plan
    from assay.model.run import Ending, Run
    from assay.store import RunDirectory


def measure(directory: RunDirectory, site: Site, trial: Plan | None = None, before: Ending | None = None) -> None:
    """Make the launches that are missing; InterruptedRunError when the user has enough.

    Args:
        directory: of the run.
        site: where launchers start.
        trial: experiments of the run in place of its study ...
        before: ... and how that ended.
    """
    import msgspec

    from assay import store
    from assay.cli import progress
    from assay.launch.remote import going_on
    from assay.launch.starter import Starter
    from assay.model.errors import InterruptedRunError
    from assay.run import execute
    from assay.run.process import Processes

    with directory, progress.shown() as watcher:
        plan = trial or store.load(directory.path).plan
        starter = Starter(msgspec.structs.replace(site, run=directory.info.id))
        ending = execute(plan, directory, starter, Processes(), directory.info.builds, watcher, before)
    if ending.status == "interrupted":
        path = directory.path
        raise InterruptedRunError(
            f"interrupted; what was measured is kept in {path}",
            why=f"{sum(case.id in ending.cut for case in plan.studied)} of {len(plan.studied)} cases have fewer "
            "launches than planned",
            remedy=going_on(path.name, site),
        )


def refine(path: Path, site: Site) -> None:
    """Measure curves of messages at more sizes where they bend, as long as the plan and its budget allow."""
    from assay import analyse, store
    from assay.analyse.refinement import bends
    from assay.plan.refine import refined

    run = store.load(path)
    while run.plan.refine > 0 and run.ending and run.ending.status == "complete":
        left_s = None if run.plan.budget_s is None else run.plan.budget_s - run.ending.elapsed_s
        wanted = [(bend.case, bend.axis, bend.size) for bend in bends(analyse.analyse(run).estimates)]
        plan = refined(run.plan, wanted, left_s)
        fresh = len(plan.studied) - len(run.plan.studied)
        if fresh:
            output.say(f"curves bend between their sizes: {fresh} cases more")
        measure(store.reopen(path, plan=plan), site)
        run = store.load(path)


def goes_on(run: Run, trial: Plan) -> bool:
    """Whether experiments were stopped before their blocks were through, or their time was over."""
    from assay.run.ledger import unmade

    missing = unmade(run, trial)
    return missing is not None and (trial.budget_s is None or missing.used_s < trial.budget_s)


def confirm(path: Path, site: Site, seconds: float | None = None) -> None:
    """Go on with experiments that were begun; then make those that candidates ask for.

    Args:
        path: of the run, whose study is through.
        site: where launchers start.
        seconds: for new experiments; what the plan has where None.
    """
    import msgspec

    from assay import store

    run = store.load(path)
    for trial in run.plan.trials:
        if goes_on(run, trial):
            measure(store.reopen(path), site, trial, run.ending)
            run = store.load(path)
    seconds = run.plan.confirm_s if seconds is None else seconds
    fresh = experiments(run, seconds) if seconds is not None else None
    if fresh and fresh.experiments:
        plan = msgspec.structs.replace(run.plan, confirm_s=None, trials=(*run.plan.trials, fresh))
        measure(store.reopen(path, plan=plan), site, fresh, run.ending)


def experiments(run: Run, seconds: float) -> Plan:
    """The plan of the experiments that candidates of a run ask for in this time; says what it costs.

    Raises:
        UsageError: nobody measured here.
    """
    from assay.analyse import analyse
    from assay.analyse.experiments import wanted
    from assay.model.errors import UsageError
    from assay.plan import trials

    if run.imported:
        raise UsageError(
            f"run '{run.info.id}' was imported",
            why="what others measured cannot be measured again",
            remedy=f"assay show {run.info.id}   # its candidates name what to type",
        )
    plan = trials(run.plan, wanted(analyse(run, output.given_limits(())), run.plan), seconds)
    for left in plan.left_out:
        output.say(f"no experiment for {left.wish}: {left.reason}; give it more by --confirm-budget")
    cases = len(plan.studied)
    if plan.experiments:
        count = len(plan.experiments)
        output.say(
            f"experiments for {count} candidate{'s' * (count > 1)}: {cases} cases in {plan.launches} blocks, "
            f"about {plan.estimate_s:.0f} s, {seconds:.0f} s at most"
        )
    elif not plan.left_out:
        output.say("no candidate among the findings asks for an experiment that was not made yet")
    return plan
