"""What a run would start, without starting it; and whether a run may be taken up here again."""

from collections.abc import Iterator, Mapping

import msgspec

from assay.launch.command import Command, Sampling
from assay.launch.starter import Starter
from assay.model.errors import UnfitEnvironmentError
from assay.model.machine import Machine, Topology
from assay.model.plan import Plan, PlannedLaunch
from assay.model.run import Run
from assay.model.toolchain import Build
from assay.run.budget import inexperienced, spread


def rehearse(plan: Plan, starter: Starter, builds: Mapping[str, Build]) -> Iterator[tuple[PlannedLaunch, Command]]:
    """Every launch with its command; seconds of sampling as they are allotted before the first launch is made."""
    cases = {case.id: case for case in plan.cases}
    shares = spread(plan, plan.order, plan.budget_s, frozenset(), inexperienced(plan))
    for launch in plan.order:
        seconds = {case: shares[launch.id, case] for case in launch.cases if (launch.id, case) in shares}
        sampling = Sampling(plan.precision, plan.min_samples, plan.max_samples, seconds)
        if seconds:
            group = tuple(cases[case_id] for case_id in seconds)
            build = builds[launch.toolchain]
            for command in starter.commands(plan, group, build, launch.program, sampling):
                yield launch, command


def require_launchers(plan: Plan, starter: Starter, builds: Mapping[str, Build]) -> None:
    """Refuse a plan of which a launch cannot be started here, before anything is measured.

    Raises:
        UsageError: there is no launcher of the name that the user gives.
        UnfitEnvironmentError: it does not fit, or none does.
    """
    cases = {case.id: case for case in plan.cases}
    kinds = {(launch.toolchain, cases[launch.cases[0]].placement): launch for launch in plan.order}
    for launch in kinds.values():
        group = tuple(cases[case_id] for case_id in launch.cases)
        none = Sampling(plan.precision, plan.min_samples, plan.max_samples, dict.fromkeys(launch.cases, 0.0))
        starter.commands(plan, group, builds[launch.toolchain], launch.program, none)


def require_same(run: Run, machine: Machine, builds: Mapping[str, Build]) -> None:
    """Refuse to go on with a run on another machine or with other programs: its samples would not be of one thing.

    Raises:
        UnfitEnvironmentError: what differs.
    """
    again = f"assay run {run.info.study}"
    if machine.host not in run.machines:
        raise UnfitEnvironmentError(
            f"run '{run.info.id}' was begun on another machine",
            why=f"it measures {', '.join(run.machines)}; this is {machine.host}",
            remedy=f"resume it there, or begin anew here: {again}",
        )
    if _shape(machine.topology) != _shape(run.machines[machine.host].topology):
        raise UnfitEnvironmentError(
            f"'{machine.host}' is not the machine it was when run '{run.info.id}' began",
            why="its cores, caches or memory nodes, or what this process may use of them, have changed",
            remedy=f"resume it under the same limits (taskset, cgroup, cpuset), or begin anew: {again}",
        )
    for name, build in builds.items():
        if build.key != run.info.builds[name].key:
            raise UnfitEnvironmentError(
                f"run '{run.info.id}' was begun with other programs",
                why=f"toolchain '{name}': build {run.info.builds[name].key} then, {build.key} now",
                remedy=f"begin anew: {again}",
            )


def _shape(topology: Topology) -> Topology:
    """What must not change; the size of memory does by some pages from boot to boot."""
    nodes = tuple(msgspec.structs.replace(node, memory_bytes=0) for node in topology.numa_nodes)
    return msgspec.structs.replace(topology, numa_nodes=nodes)
