"""Runs on machines that do not exist: from a plan to a run directory, exactly and in milliseconds."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import MappingProxyType

import msgspec

from assay import machine, store, studies
from assay import plan as planning
from assay.analyse import analyse
from assay.catalogue import benchmarks
from assay.launch.command import Site
from assay.launch.starter import Starter
from assay.model.facts import Fact
from assay.model.machine import Machine, Topology
from assay.model.plan import Plan, PlannedLaunch, Study
from assay.model.record import Launch
from assay.model.run import Ending, LaunchRecords
from assay.model.toolchain import Build, Toolchain
from assay.plan.experiments import wanted
from assay.run import Progress, Watcher, execute
from assay.simulation import Law, SimulatedMachine
from assay.simulation.launcher import Simulated
from assay.simulation.programs import memory_bytes, setting_of, workload
from assay.simulation.rates import Workload, mean
from assay.simulation.request import Request

TWO_CORES = "pack:1 numa:1(memory=8GB) l3:1(size=32MB) l2:2(size=1MB) l1:1(size=32kB) core:1 pu:1"
EPYC_7601 = "pack:2 numa:4(memory=16GB) l3:2(size=8MB) l2:4(size=512kB) l1:1(size=32kB) core:1 pu:1"
SANDY_BRIDGE = "pack:2 numa:1(memory=32GB) l3:1(size=20MB) core:8 pu:1"
#: Beginning of a description -> what it cannot say of such a machine: the nominal clock in Hz, the
#: microarchitecture, and the distances of the first memory node, in the order of the nodes of a package.
STATED = {
    "pack:2 numa:4(": (2.2e9, "zen", ((10, 16, 16, 16), (22, 28, 28, 28))),
    "pack:2 numa:1(memory=32GB)": (2.7e9, "sandybridge", ((10,), (21,))),
}


@dataclass
class Recorder:
    """A watcher that records events."""

    launches: list[Launch] = field(default_factory=list)
    begun: list[tuple[str, int]] = field(default_factory=list)
    progress: list[Progress] = field(default_factory=list)
    waited: list[Launch] = field(default_factory=list)

    def begins(self, launch: PlannedLaunch, attempt: int, progress: Progress) -> None:
        self.begun.append((launch.id, attempt))
        self.progress.append(progress)

    def waits(self, disturbed: Launch) -> None:
        self.waited.append(disturbed)

    def ended(self, launch: LaunchRecords, progress: Progress) -> None:
        self.launches.append(launch.launch)
        self.progress.append(progress)


@dataclass(frozen=True, kw_only=True)
class SimulatedCase(Workload):
    """What a case does, the memory that each rank touches, and the share of its pages on each memory node."""

    memory_bytes: int
    nodes: Mapping[int, float]


def simulated_case(topology: Topology, law: Law, request: Request) -> SimulatedCase:
    """The first case of a request."""
    setting = setting_of(topology, law, request, request.cases[0])
    load = workload(setting)
    nodes = mean(setting.page_shares(serial=load.serial))
    return SimulatedCase(**vars(load), memory_bytes=memory_bytes(setting), nodes=nodes)


@cache
def described(description: str = TWO_CORES) -> Machine:
    """A machine from hwloc's synthetic form, of which this process may use everything."""
    found = _stated(machine.synthetic(description), description)
    total = sum(node.memory_bytes for node in found.topology.numa_nodes)
    return msgspec.structs.replace(found, host="simulated", memory=Fact(total, "B", "simulated"))


def _stated(found: Machine, description: str) -> Machine:
    """The machine with facts that its description cannot say, if it is one of those of which they are known."""
    known = next((facts for begin, facts in STATED.items() if description.startswith(begin)), None)
    if known is None:
        return found
    clock, architecture, (inside, beyond) = known
    count = len(inside)
    distances = tuple(
        tuple(
            (inside if here // count == there // count else beyond)[(there - here) % count]
            for there in range(2 * count)
        )
        for here in range(2 * count)
    )
    facts = {
        "nominal frequency": Fact(clock, "Hz", "simulated"),
        "microarchitecture": Fact(architecture, source="simulated"),
    }
    return msgspec.structs.replace(
        found,
        topology=msgspec.structs.replace(found.topology, distances=distances),
        facts={**found.facts, "processor": {**found.facts["processor"], **facts}},
    )


def unlike_machines(descriptions: Mapping[str, str]) -> dict[str, Machine]:
    """Host -> its machine, for hosts that differ from the first."""
    return {host: msgspec.structs.replace(described(each), host=host) for host, each in descriptions.items()}


def plan_for(
    description: str = TWO_CORES,
    study: str | Study = "quick",
    options: planning.Options | None = None,
    unlike: Mapping[str, str] = MappingProxyType({}),
) -> Plan:
    """A plan of a stored study, or of a study made by the test, with a fixed seed."""
    options = options or planning.Options()
    options = msgspec.structs.replace(options, seed=7 if options.seed is None else options.seed)
    name, wish = ("test", study) if isinstance(study, Study) else (study, studies.get(study))
    return planning.make(name, wish, described(description), options, unlike_machines(unlike))


def builds_for(plan: Plan) -> dict[str, Build]:
    """Builds with every program of the plan, but without files."""
    names = {*benchmarks.names(), *(case.benchmark for case in plan.cases)}
    programs = {name: f"/simulated/{name}" for name in sorted(benchmarks.get(each).program for each in names)}
    return {
        name: Build(
            key="0" * 16,
            toolchain=Toolchain(name, "none", "simulated", ()),
            target="simulated",
            sources="0" * 16,
            programs=programs,
            sha256={},
            openmp=True,
            built="",
        )
        for name in {launch.toolchain for launch in plan.order}
    }


def begin(
    folder: Path, plan: Plan, description: str = TWO_CORES, unlike: Mapping[str, str] = MappingProxyType({})
) -> store.RunDirectory:
    """An empty run directory for the plan."""
    machine = described(description)
    machines = {machine.host: (machine, "")}
    machines |= {host: (each, "") for host, each in unlike_machines(unlike).items()}
    return store.create(plan, machines, builds_for(plan), ("assay", "run", plan.study), folder)


def starter_for(plan: Plan) -> Starter:
    """Makes the commands of a simulated machine."""
    return Starter(Site(plan.hosts[0]), Simulated())


def carry_on(
    directory: store.RunDirectory, plan: Plan, simulated: SimulatedMachine, watcher: Watcher | None = None
) -> Ending:
    """Execute the rest of the plan."""
    with directory:
        return execute(plan, directory, starter_for(plan), simulated, builds_for(plan), watcher or Recorder())


def simulated_run(  # noqa: PLR0913 (each argument is one thing that tests vary)
    folder: Path,
    law: Law | None = None,
    *,
    description: str = TWO_CORES,
    study: str | Study = "quick",
    options: planning.Options | None = None,
    seed: int = 1,
    unlike: Mapping[str, str] = MappingProxyType({}),
) -> Path:
    """Plan the study for a described machine, run it on a simulated one, and return the run directory.

    Args:
        folder: of runs, e.g. pytest's `tmp_path`.
        law: of the machine; a plain one where None.
        description: hwloc's short form, e.g. `TWO_CORES` or `EPYC_7601`.
        study: name of a stored study, or a Study.
        options: of the plan: budget_s, launches, precision, hosts ...; seed 7 where it has none.
        seed: of the machine's noise.
        unlike: host -> description, of hosts that are unlike the first.
    """
    plan = plan_for(description, study, options, unlike)
    directory = begin(folder, plan, description, unlike)
    topologies = {host: each.topology for host, each in unlike_machines(unlike).items()}
    carry_on(directory, plan, SimulatedMachine(described(description).topology, law, plan.hosts, seed, topologies))
    return directory.path


def confirm(
    path: Path,
    law: Law,
    description: str = TWO_CORES,
    *,
    seed: int = 2,
    given: Mapping[str, float] = MappingProxyType({}),
) -> Ending:
    """Run the experiments that candidates of a run request, and return how they ended.

    Args:
        path: of the run.
        law: of the machine, which need not be what it was.
        description: hwloc's short form.
        seed: of the machine's noise.
        given: limits that a user promises.
    """
    run = store.load(path)
    fresh = planning.experiment_plan(run.plan, wanted(analyse(run, given), run.plan), 600.0, run.launches)
    with store.reopen(path) as directory:
        directory.resume(msgspec.structs.replace(run.plan, trials=(*run.plan.trials, fresh)))
    return go_on(path, law, description, run.ending, seed=seed)


def go_on(path: Path, law: Law, description: str, before: Ending | None, *, seed: int = 2) -> Ending:
    """Execute the rest of the last experiments of a run, whose study ended in this way."""
    plan = store.load(path).plan
    simulated = SimulatedMachine(described(description).topology, law, plan.hosts, seed)
    trial = plan.trials[-1]
    with store.reopen(path) as directory:
        return execute(trial, directory, starter_for(plan), simulated, builds_for(plan), Recorder(), before)
