"""From a study to what a run begins with: the plan, the machines that it is for, the programs that it starts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import click

from assay.cli import settings
from assay.cli import site as where

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.cli.site import Machines
    from assay.launch.starter import Starter
    from assay.model.machine import Machine
    from assay.model.plan import Plan, Study
    from assay.model.toolchain import Build
    from assay.plan import Options


class Prepared(NamedTuple):
    """What a run begins with.

    Attributes:
        plan: what will be measured.
        machines: on what.
        builds: toolchain -> programs.
    """

    plan: Plan
    machines: Machines
    builds: dict[str, Build]


def options_of(given: Mapping[str, Any], hosts: tuple[str, ...]) -> Options:
    """What the options of a command line, by their parameters' names, ask of a plan on these nodes."""
    from assay import plan as planning
    from assay.model.errors import UsageError
    from assay.model.units import parse_duration, parse_share

    confirm_s = None if given["confirm_budget"] is None else parse_duration(given["confirm_budget"])
    if confirm_s is not None and confirm_s <= 0:
        raise UsageError(
            f"{confirm_s:g} s is no time for experiments",
            why="each of their blocks takes a second or more",
            remedy="assay run STUDY --confirm-budget 5m",
        )
    return planning.Options(
        seed=given["seed"],
        launches=given["launches"],
        precision=None if given["precision"] is None else parse_share(given["precision"]),
        budget_s=None if given["budget"] is None else parse_duration(given["budget"]),
        toolchains=given["toolchains"],
        mpis=given["mpis"],
        networks=planning.parse_networks(given["networks"]) if given["networks"] else {},
        messages=given["messages"],
        nic_node=given["nic_node"],
        refine=given.get("refine"),
        confirm=given["confirm"] or confirm_s is not None,
        confirm_s=confirm_s,
        hosts=hosts,
    )


def prepare(name: str, options: Options, wishes: tuple[str, ...], starter: Starter) -> Prepared:
    """Ask the machines what they are, plan the study for them and build what it needs.

    Args:
        name: of the study, or the path of its file.
        options: of the plan; toolchains and MPIs as the user names them.
        wishes: what `--vary` says.
        starter: reaches the nodes.
    """
    from assay import studies

    wish = studies.get(name)
    machines = where.machines(options.hosts, starter)
    made = plan(name, wish, machines, on_nodes(options, machines), wishes)
    return Prepared(made, machines, built(tuple(dict.fromkeys(launch.toolchain for launch in made.order))))


def on_nodes(options: Options, machines: Machines) -> Options:
    """The options with networks as the nodes themselves call them.

    Args:
        options: as a user gives them.
        machines: the nodes that the plan is for, as far as they are known.

    Raises:
        UsageError: no node has a device that is asked for.
        UnfitEnvironmentError: some nodes have it and others do not.
    """
    import msgspec

    from assay import plan as planning

    devices = {
        host: [device.name for device in machine.devices if device.kind in {"network", "infiniband"}]
        for host, (machine, _) in machines.items()
    }
    return msgspec.structs.replace(options, networks=planning.on_nodes(options.networks, devices))


def plan(name: str, wish: Study, machines: Machines, options: Options, wishes: tuple[str, ...]) -> Plan:
    """The plan of a study on machines like the first of them, with toolchains and MPIs that are there.

    Raises:
        UnfitEnvironmentError: no cpu may be used on all of them.
    """
    import msgspec

    from assay import plan as planning
    from assay import toolchain

    factors = planning.parse(wishes, wish, settings.table("factor"))
    kinds = {factor.kind for factor in factors}
    declared = settings.table("toolchain")
    named = tuple(toolchain.full_name(name, declared) for name in options.toolchains)
    toolchains = named or (() if "toolchain" in kinds else (toolchain.get().name,))
    mpis = options.mpis
    if planning.passes_messages(wish) and "mpi" not in kinds:
        mpis = toolchain.mpi_names(options.mpis, settings.table("mpi"))
    facts = {host: machine.fact("system", "boot id").value for host, (machine, _) in machines.items()}
    chosen = msgspec.structs.replace(
        options,
        toolchains=toolchains,
        mpis=mpis,
        factors=factors,
        kernels={host: str(boot_id) for host, boot_id in facts.items() if boot_id},
    )
    return planning.make(name, wish, _alike(machines), chosen)


def _alike(machines: Machines) -> Machine:
    """The first machine, with what may be used on all that are like it.

    Raises:
        UnfitEnvironmentError: they have no cpu in common.
    """
    from assay.machine import granted
    from assay.model.errors import UnfitEnvironmentError
    from assay.model.units import format_cpu_list

    common = granted.common([machine for machine, _ in machines.values()])
    if common.topology.allowed_cpus:
        return common
    used = (f"{format_cpu_list(one.topology.allowed_cpus)} on {host}" for host, (one, _) in machines.items())
    raise UnfitEnvironmentError(
        "no cpu may be used on all nodes",
        why=f"a rank has the same cpus on each node; allowed are {', '.join(used)}",
        remedy=f"salloc -N{len(machines)} --exclusive",
    )


def built(names: tuple[str, ...]) -> dict[str, Build]:
    """A build of each; all names are looked up first, so that none is built when another is wrong."""
    from assay import toolchain

    declared, mpis = settings.table("toolchain"), settings.table("mpi")
    chosen = {name: toolchain.get(name, declared, mpis) for name in names}
    return {name: toolchain.build(one, _say) for name, one in chosen.items()}


def _say(text: str) -> None:
    click.echo(f"assay: {text}", err=True)
