"""Prepare a run: its plan, machines and programs."""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from assay import plan as planning
from assay import studies, toolchain
from assay.cli.support import output, peers, settings
from assay.cli.support import site as where
from assay.cli.support.options import RunOptions
from assay.cli.support.site import Machines
from assay.launch.starter import Starter
from assay.machine import job_limits
from assay.machine.folders import folder
from assay.model.errors import UsageError
from assay.model.facts import Fact
from assay.model.plan import Plan, Study
from assay.model.resource import GivenFolder
from assay.model.run import Run
from assay.model.toolchain import Build
from assay.model.units import format_size, parse_duration, parse_share
from assay.plan import Options

if TYPE_CHECKING:
    from assay.run.caches import Held


class Prepared(NamedTuple):
    """A prepared run.

    Attributes:
        plan: the plan.
        machines: machines of its hosts.
        builds: toolchain -> programs.
    """

    plan: Plan
    machines: Machines
    builds: dict[str, Build]


def options_of(given: RunOptions, hosts: tuple[str, ...]) -> Options:
    """The options of the plan for these nodes, from the parameters of a command line."""
    confirm_s = None if given.confirm_budget is None else parse_duration(given.confirm_budget)
    if confirm_s is not None and confirm_s <= 0:
        raise UsageError(
            f"{confirm_s:g} s is too short for experiments",
            why="each of their blocks takes at least one second",
            remedy="assay run STUDY --confirm-budget 5m",
        )
    return planning.Options(
        seed=given.seed,
        launches=given.launches,
        precision=None if given.precision is None else parse_share(given.precision),
        budget_s=None if given.budget is None else parse_duration(given.budget),
        toolchains=given.toolchains,
        mpis=given.mpis,
        blas=tuple(given.blas.split(",")) if given.blas else (),
        networks=planning.parse_networks(given.networks) if given.networks else {},
        messages=given.messages,
        values=given.values,
        sweeps=given.sweeps,
        nic_nodes=planning.parse_nodes(given.nic_node) if given.nic_node else {},
        refine=given.refine,
        full=given.full,
        confirm=given.confirm or confirm_s is not None,
        confirm_s=confirm_s,
        hosts=hosts,
        levels=planning.parse_levels(given.levels),
        folders=tuple(GivenFolder(str(Path(path).absolute())) for path in given.folders),
        peers=tuple(str(Path(path).expanduser().absolute()) for path in given.peers),
    )


def prepare(
    name: str, options: Options, varied: tuple[str, ...], starter: Starter, *, measures: bool = True
) -> Prepared:
    """Read the facts of the machines, plan the study for them and build its programs.

    Args:
        name: name of the study, or the path of its file.
        options: options of the plan; toolchains and MPIs as the user names them.
        varied: values of `--vary`.
        starter: reaches the nodes.
        measures: whether the capacity of the caches may be measured, if arrays beyond their stated size are large.
    """
    from assay.run.caches import find_held
    from assay.run.process import Processes

    study = studies.get(name, options.sweeps)
    machines = where.machines(options.hosts, starter)
    options = on_nodes(options, machines)
    made = plan(name, study, machines, options, varied)
    builds = built(made)
    absent = {name: each.absent for name, each in builds.items()}
    made = planning.without_programs(made, absent)
    here = machines.get(starter.site.host)
    held = find_held(made, here[0].topology, builds, starter, Processes()) if here and measures else None
    if held:
        output.say(_sentence(held))
        made = msgspec.structs.replace(made, prepared_s=held.seconds)
    if held and held.bytes:
        machines = _with_held(machines, starter.site.host, held)
        again = plan(name, study, machines, options, varied)
        made = msgspec.structs.replace(planning.without_programs(again, absent), prepared_s=held.seconds)
    return Prepared(made, machines, builds)


def _sentence(held: "Held") -> str:
    """The result of the passes before a run, and the reason."""
    claimed, size = format_size(held.claimed), format_size(held.bytes)
    made = f"{held.passes} pass{'es' * (held.passes != 1)} of {held.seconds:.0f} s"
    if not held.bytes:
        return f"arrays are sized by the {claimed} that caches claim ({made})"
    unsure = "" if held.agreed else "; the passes do not agree, so this is a guess on the safe side"
    return (
        f"caches claim {claimed}, but the rate is that of memory from {size} on ({made}): arrays are sized by "
        f"that{unsure}"
    )


def _with_held(machines: Machines, here: str, held: "Held") -> Machines:
    """The machines, with the measured capacity of caches for those that equal this one."""
    like = machines[here][0].topology.shape
    fact = Fact(held.bytes, "B", f"rates by working set, {held.passes} passes before the run")
    found = dict(machines)
    for host, (machine, document) in machines.items():
        if machine.topology.shape == like:
            memory = machine.facts.get("memory", {}) | {"held by caches, at most": fact}
            topology = msgspec.structs.replace(machine.topology, held_bytes=held.bytes, held_rates=held.rates)
            facts = machine.facts | {"memory": memory}
            found[host] = (msgspec.structs.replace(machine, topology=topology, facts=facts), document)
    return found


def on_nodes(options: Options, machines: Machines) -> Options:
    """The options, with networks resolved on the nodes; prints if one is the Ethernet of a faster card.

    Args:
        options: options of the user.
        machines: the known nodes of the plan.

    Raises:
        UsageError: no node has a requested device.
        UnfitEnvironmentError: some nodes have it and others do not.
    """
    devices = {
        host: [device.name for device in machine.devices if device.kind in {"network", "infiniband"}]
        for host, (machine, _) in machines.items()
    }
    networks = planning.resolve_networks(options.networks, devices)
    for name, device in networks.items():
        fabrics = {fabric for machine, _ in machines.values() if (fabric := machine.fabric_of(device))}
        if fabrics:
            output.say(f"messages over {device} use TCP; its card without TCP: --network {name}={min(fabrics)}")
    return msgspec.structs.replace(options, networks=networks)


def plan(name: str, study: Study, machines: Machines, options: Options, varied: tuple[str, ...]) -> Plan:
    """The plan of a study on these machines, with the installed toolchains and MPIs.

    Raises:
        UsageError: a BLAS that is missing, invalid, or not used by the study.
    """
    needed = planning.needed_libraries(study)
    libraries = [each for role in needed for each in toolchain.find_libraries(role, settings.table(role))]
    if options.blas and "blas" not in needed:
        raise UsageError(
            f"nothing in study '{name}' loads a BLAS",
            why="--blas has no effect on it",
            remedy="assay list studies",
        )
    others = peers.find(name, study, options.peers)
    files = tuple(planning.library_files("blas", options.blas, libraries).values())
    files = files or (others.blas(libraries) if "blas" in needed else ())
    varied = (*varied, f"blas={','.join(options.blas)}") if len(files) > 1 else varied
    factors = planning.parse(varied, study, settings.table("factor"), libraries)
    kinds = {factor.kind for factor in factors}
    declared = settings.table("toolchain")
    named = tuple(toolchain.full_name(name, declared) for name in options.toolchains)
    toolchains = named or (() if "toolchain" in kinds else (toolchain.get().name,))
    mpis = options.mpis
    if planning.passes_messages(study) and "mpi" not in kinds:
        mpis = toolchain.mpi_names(options.mpis or others.mpi, settings.table("mpi"))
    facts = {host: machine.fact("system", "boot id").value for host, (machine, _) in machines.items()}
    chosen = msgspec.structs.replace(
        options,
        toolchains=toolchains,
        mpis=mpis,
        libraries={each.role: each.file for each in reversed(libraries)} | ({"blas": files[0]} if files else {}),
        programs=frozenset(filter(shutil.which, planning.foreign_programs(study))) | others.executables,
        absent=others.absent,
        prefixes={name: place for name, place in others.places.items() if place},
        factors=factors,
        kernels={host: str(boot_id) for host, boot_id in facts.items() if boot_id},
    )
    lacking = _require_libraries(chosen, study, machines)
    chosen = _with_folders(msgspec.structs.replace(chosen, lacking=lacking), machines)
    planned_for = job_limits.of_each_kind({host: machine for host, (machine, _) in machines.items()})
    first = next(iter(planned_for.values()))
    unlike = {host: machine for host, machine in planned_for.items() if machine is not first}
    return planning.make(name, study, first, chosen, unlike)


def _with_folders(options: Options, machines: Machines) -> Options:
    """The options with what is known of the folders, if this machine is one of those that are measured."""
    if os.uname().nodename not in machines:
        return options
    known = [folder(each.path) for each in options.folders]
    why = next((why for _, why in known if why), "")
    return msgspec.structs.replace(options, folders=tuple(found for found, _ in known), no_folder=why)


def _require_libraries(options: Options, study: Study, machines: Machines) -> dict[str, frozenset[str]]:
    """Test each library that the programs will load: file -> optional functions that it lacks.

    Libraries on other machines cannot be tested here.

    Raises:
        UsageError: a file is not a library, or lacks a function.
        UnfitEnvironmentError: a library cannot be loaded.
    """
    here, others = os.uname().nodename in machines, planning.optional_functions(study)
    lacking: dict[str, frozenset[str]] = {}
    files = {factor.name: tuple(factor.files.values()) for factor in options.factors if factor.kind == "library"}
    for role, functions in planning.needed_libraries(study).items():
        single = (options.libraries[role],) if role in options.libraries else ()
        for file in files.get(role, single):
            if here or Path(file).exists():
                lacking[file] = toolchain.require_loadable(role, file, functions, others)
    return lacking


def built(made: Plan) -> dict[str, Build]:
    """Toolchain -> build of the programs of a plan; all names are checked before the first build starts."""
    declared, mpis = settings.table("toolchain"), settings.table("mpi")
    wanted = planning.programs(made)
    chosen = {name: toolchain.get(name, declared, mpis) for name in wanted}
    return {name: toolchain.build(one, output.say, programs=wanted[name]) for name, one in chosen.items()}


def further_programs(builds: Mapping[str, Build], part: Plan) -> dict[str, Build]:
    """Toolchain -> its build with the missing programs of a plan; only builds that lack any."""
    wanted = planning.programs(part)
    return {
        name: toolchain.build(each.toolchain, output.say, programs=wanted[name] | each.programs.keys())
        for name, each in builds.items()
        if wanted.get(name, frozenset()) & set(each.left)
    }


def named(study: str | None, example: str) -> str:
    """The study; UsageError with an example if none is named."""
    if study is None:
        raise UsageError("which study?", why=f"stored: {', '.join(studies.names())}; or a path", remedy=example)
    return study


def confirm_s(run: Run, options: Options) -> float | None:
    """Seconds for experiments: from the current options, else from the run's plan; None for no experiments."""
    if options.confirm:
        return options.confirm_s or planning.experiment_budget_s(run.plan.budget_s)
    return run.plan.confirm_s
