"""Make the command of a planned launch: the program's arguments, and the launcher's."""

import shlex
from collections.abc import Mapping
from types import MappingProxyType

import msgspec

from assay.catalogue import benchmarks
from assay.launch import arguments, select, sweep
from assay.launch.command import Command, Launcher, Layout, Sampling, Site
from assay.launch.remote import forwarded_environment
from assay.model.placement import Placement
from assay.model.plan import UNSET, Case, Plan
from assay.model.ranks_seen import PROGRAM
from assay.model.toolchain import Build, Mpi

#: Variables that override the user's: OpenMP runtimes that pin threads themselves, or let them sleep between
#: parallel regions, would disturb the programs' own placement.
_ENVIRONMENT = {"OMP_PROC_BIND": "false", "OMP_DYNAMIC": "false", "OMP_WAIT_POLICY": "active"}


class Starter:
    """Makes the commands of a run; it starts nothing.

    Args:
        site: the place where Assay runs.
        launcher: launcher for all commands; None: the one that fits each layout best.
    """

    def __init__(self, site: Site, launcher: Launcher | None = None) -> None:
        self.site = site
        self._launcher = launcher

    def commands(
        self, plan: Plan, cases: tuple[Case, ...], build: Build, program: str, sampling: Sampling
    ) -> tuple[Command, ...]:
        """The commands that measure `cases`, which share placement and levels, with a program of the build.

        There is one command; but one for each host, to be started together, for a program without MPI on several.

        Raises:
            UnfitEnvironmentError: no launcher can start it.
        """
        network = network_of(plan, cases[0])
        variables, prefix = variables_of(plan, cases[0]), prefix_of(plan, cases[0])
        if prefix:  # the program may not be a child process: the run's id finds it
            variables = forwarded_environment(variables, self.site)
        placement = cases[0].placement
        layout = layout_of(placement, build.toolchain.mpi, network)
        argv = arguments.measure_command(
            build.programs[program],
            cases,
            sampling,
            network,
            libraries_of(plan, cases[0]),
            plan.prefixes.get(cases[0].benchmark, ""),
        )
        same = not (placement.by_host or placement.devices or len(placement.folders) > 1)
        if layout.mpi or (self._launcher and (placement.ranks or same)):
            found = [self._translated(layout, prefix + argv, variables)]
        else:
            found = []
            for number, (host, ranks) in enumerate(zip(layout.hosts, placement.host_ranks, strict=True)):
                own = arguments.on_host(argv, placement, number)
                found.append(self._translated(Layout((host,), ranks), prefix + own, variables))
        return tuple(msgspec.structs.replace(each, ends=len(cases)) for each in found)

    def probe(self, plan: Plan, build: Build, program: str, seconds: float) -> Command:
        """The command that measures the hand-over between the plan's probe cpus, on its first host."""
        layout = Layout(plan.hosts[:1], (plan.probe_cpus,))
        return self._translated(layout, arguments.probe_command(build.programs[program], plan.probe_cpus, seconds))

    def on_host(self, host: str, argv: tuple[str, ...]) -> Command:
        """The command that starts any program once on a host.

        Raises:
            UnfitEnvironmentError: no launcher reaches it.
        """
        return self._translated(Layout((host,), ((),)), argv)

    def trial(self, build: Build, hosts: tuple[str, ...], network: str, patience_s: int) -> Command:
        """The command that starts one rank on each host, which reports its rank and passes a message.

        A single rank, which passes none, is started like any program there: it shows whether its MPI is complete.

        Raises:
            UnfitEnvironmentError: no launcher can start programs of the build's MPI there.
        """
        layout = Layout(hosts, ((),), build.toolchain.mpi if len(hosts) > 1 else None, network)
        return self._translated(layout, (build.programs[PROGRAM], "--patience", f"{patience_s}"))

    def is_local(self, cases: tuple[Case, ...]) -> bool:
        """Whether all of the cases run on this machine, so that its counters cover them."""
        return all(host == self.site.host for host in cases[0].placement.hosts)

    def sweep(self, hosts: tuple[str, ...]) -> dict[str, Command]:
        """Host -> command that ends remaining processes of the run there; empty if processes carry no run id.

        Raises:
            UnfitEnvironmentError: no launcher reaches a host.
        """
        return self._everywhere(hosts, sweep.SCRIPT)

    def look(self, hosts: tuple[str, ...]) -> dict[str, Command]:
        """Host -> command that prints number and state of each rank of the run there; empty as for `sweep`.

        Raises:
            UnfitEnvironmentError: no launcher reaches a host.
        """
        return self._everywhere(hosts, sweep.LOOK)

    def _everywhere(self, hosts: tuple[str, ...], script: str) -> dict[str, Command]:
        return sweep.commands(self.site, hosts, script) if self.site.run and not self._launcher else {}

    def _translated(
        self, layout: Layout, argv: tuple[str, ...], variables: Mapping[str, str] = MappingProxyType({})
    ) -> Command:
        launcher = self._launcher or select(layout, self.site)
        return launcher.translate(layout, self.site, argv, _ENVIRONMENT | dict(variables))


def layout_of(placement: Placement, mpi: Mpi | None, network: str = "") -> Layout:
    """The layout of a placement; without ranks it is for programs without MPI."""
    if not placement.ranks:
        return Layout(placement.hosts, (placement.cpus,))
    return Layout(placement.hosts, placement.ranks, mpi, network, placement.by_host)


def variables_of(plan: Plan, case: Case) -> dict[str, str]:
    """The environment variables that the levels of a case set; at the level `default` the user's value stays."""
    names = {factor.name for factor in plan.factors if factor.kind == "variable"}
    return {name: level for name, level in case.factors.items() if name in names and level != UNSET}


def prefix_of(plan: Plan, case: Case) -> tuple[str, ...]:
    """The words before the program of a case, from its levels, factor by factor."""
    having = (each for each in plan.factors if each.prefixes and each.name in case.factors)
    return tuple(word for each in having for word in shlex.split(each.prefixes[case.factors[each.name]]))


def libraries_of(plan: Plan, case: Case) -> dict[str, str]:
    """Role -> shared library that a case's program loads: that of its level, else that of the plan."""
    levels = {
        factor.name: factor.files[case.factors[factor.name]]
        for factor in plan.factors
        if factor.kind == "library" and factor.name in case.factors
    }
    return {
        role: file
        for role in benchmarks.get(case.benchmark).needs
        if (file := (plan.libraries | levels).get(role))
    }


def network_of(plan: Plan, case: Case) -> str:
    """The device of a case's network; empty if none is chosen."""
    found = (factor for factor in plan.factors if factor.kind == "network" and factor.name in case.factors)
    return next((factor.devices[case.factors[factor.name]] for factor in found), plan.network)
