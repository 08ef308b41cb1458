"""List the commands of a run without starting them; checks before a run starts or resumes."""

from collections.abc import Iterator, Mapping

import msgspec

from assay.launch.command import Command, Sampling
from assay.launch.starter import Starter
from assay.model.errors import UnfitEnvironmentError
from assay.model.machine import Machine
from assay.model.plan import Plan, PlannedLaunch
from assay.model.run import Run
from assay.model.toolchain import Build
from assay.run.budget import sampling
from assay.run.ledger import Ledger


def dry_run(plan: Plan, starter: Starter, builds: Mapping[str, Build]) -> Iterator[tuple[PlannedLaunch, Command]]:
    """Every launch with its command, with the sampling times of launches that cost what the plan expects."""
    cases = {case.id: case for case in plan.cases}
    ledger, now_s = Ledger(plan, (), 0.0), 0.0
    while launch := ledger.following(now_s):
        seconds = ledger.allot(launch, now_s)
        ledger.cut(case for case in launch.cases if case not in seconds)
        launch = msgspec.structs.replace(launch, cases=tuple(seconds))
        ledger.strike(launch.id, launch.cases)
        now_s += ledger.costs.launch(launch).overhead_s + sum(seconds.values())
        if seconds:
            group = tuple(cases[case_id] for case_id in seconds)
            build, much = builds[launch.toolchain], sampling(plan, group, seconds)
            for command in starter.commands(plan, group, build, launch.program, much):
                yield launch, command


def require_launchers(plan: Plan, starter: Starter, builds: Mapping[str, Build]) -> None:
    """Refuse a plan, before anything is measured, if one of its launches cannot be started here.

    Raises:
        UsageError: no launcher has the name that the user gives.
        UnfitEnvironmentError: this launcher cannot start it, or no launcher can.
    """
    cases = {case.id: case for case in plan.cases}
    kinds = {(launch.toolchain, cases[launch.cases[0]].placement): launch for launch in plan.order}
    for launch in kinds.values():
        group = tuple(cases[case_id] for case_id in launch.cases)
        none = Sampling(plan.precision, plan.min_samples, plan.max_samples, dict.fromkeys(launch.cases, 0.0))
        starter.commands(plan, group, builds[launch.toolchain], launch.program, none)


def require_same(run: Run, machine: Machine, builds: Mapping[str, Build]) -> None:
    """Refuse to resume a run on another machine or with other programs: samples would not be comparable.

    Raises:
        UnfitEnvironmentError: what differs.
    """
    again = f"assay run {run.info.study}"
    if machine.host not in run.machines:
        raise UnfitEnvironmentError(
            f"run '{run.info.id}' was begun on another machine",
            why=f"it measures {', '.join(run.machines)}; this is {machine.host}",
            remedy=f"resume it there, or start a new run here: {again}",
        )
    if machine.topology.shape != run.machines[machine.host].topology.shape:
        raise UnfitEnvironmentError(
            f"'{machine.host}' is not the machine it was when run '{run.info.id}' began",
            why="its cores, caches or memory nodes, or what this process may use of them, have changed",
            remedy=f"resume it under the same limits (taskset, cgroup, cpuset), or start a new run: {again}",
        )
    for name, build in builds.items():
        if build.key != run.info.builds[name].key:
            raise UnfitEnvironmentError(
                f"run '{run.info.id}' was begun with other programs",
                why=f"toolchain '{name}': build {run.info.builds[name].key} then, {build.key} now",
                remedy=f"start a new run: {again}",
            )
