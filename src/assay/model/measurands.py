"""The measurands of the figures of a case that was measured; `printed_measurands` has those of printed figures."""

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Literal

import msgspec

from assay.model.declaration import Axis, Declaration, Metric, Params, ParamValue
from assay.model.families import family, network_named
from assay.model.imported import UNSTATED
from assay.model.machine import Machine, Topology, allowed_cores, device_of
from assay.model.measurand import AxisValue, Direction, FactorRole, Layout, Level, Measurand, Places
from assay.model.placement import Memory, Placement, Word, parsed
from assay.model.plan import Case, Plan
from assay.model.run import Run
from assay.model.toolchain import Toolchain

#: Factor as plans and sources name it -> its role.
FACTOR_ROLES: Mapping[str, FactorRole] = {
    "network": "network",
    "mpi": "mpi",
    "toolchain": "compiler",
    "compiler": "compiler",
    "blas": "blas",
    "system": "system",
}
#: Factors that are parts of their own, or axes.
ELSEWHERE = frozenset(("memory",))
#: Params of imported figures that are parts of their own, unless the program has such an axis.
_COUNTS = frozenset(("ranks", "nodes", "threads", "direction"))
#: Params by which tools state a direction.
DIRECTIONS: Mapping[tuple[str, ParamValue], Direction] = {
    ("reverse", "Reverse"): "in",
    ("directions", "Bidirectional"): "both ways",
    ("time-of", "rtt"): "round trip",
    ("time-of", "lat"): "one way",
    **{("direction", direction): direction for direction in ("one way", "both ways", "round trip", "out", "in")},
}
#: Word for a share of the cores -> its name in a layout.
SHARES = {"all": "all cores", "half": "half of the cores", "all-threads": "all threads"}


def of_metric(case: Measurand, declared: Declaration, kernel: str, metric: Metric, params: Params) -> Measurand:
    """The measurand of one metric of a case: `case` is that of `of_case`."""
    return msgspec.structs.replace(
        case,
        kernel=kernel,
        metric=metric.name,
        role=metric.role or "",
        unit=metric.unit,
        better=metric.better,
        direction=direction_of(declared, params),
    )


def of_case(run: Run, case: Case, declared: Declaration, *, alone: bool = False) -> Measurand:
    """What the figures of a measured case have in common; kernel and metric are empty.

    Args:
        run: that measured it.
        case: of its plan.
        declared: its benchmark.
        alone: whether each host has a figure of its own.
    """
    placement, word = case.placement, parsed(case.placement.label)
    hosts = placement.hosts[:1] if alone else placement.hosts
    machine = run.machines.get(hosts[0] if hosts else "") or next(iter(run.machines.values()), None)
    cpus = placement.host_ranks[0] if placement.host_ranks else ((),)
    return Measurand(
        program=declared.name,
        version=str(declared.version),
        kernel="",
        metric="",
        axes=axes_of(declared, case.params, case.factors, stated=True),
        layout=_layout(placement, len(hosts), placement.rank_cpus, machine, declared),
        places=Places(
            part=_part(word, machine),
            relation="other node" if len(hosts) > 1 else _relation(cpus, machine),
            card=_card(run.plan, word, declared) if len(hosts) > 1 else "",
            memory=memory_of(placement.memory),
            folder=", ".join(dict.fromkeys(folder.file_system or UNSTATED for folder in placement.folders)),
            device=_device(placement, machine),
        ),
        levels=tuple(sorted(_levels(run, case, declared), key=lambda level: level.factor)),
    )


def axes_of(
    declared: Declaration, params: Params, factors: Mapping[str, str], *, stated: bool
) -> tuple[AxisValue, ...]:
    """Every axis of the program, and every param that it does not declare.

    Args:
        declared: the program.
        params: axis -> value.
        factors: levels; those of axes are in `params`, too.
        stated: whether absent axes have their default, else nobody states them.
    """
    values = []
    for axis in declared.axes:
        if axis.name in params:
            values.append(_axis(declared, axis, params[axis.name], varied=axis.name in factors))
        elif stated and axis.default is not None:
            values.append(AxisValue(axis.name, axis.default, axis.role or "", axis.unit, "default"))
        elif not stated and axis.name not in declared.derived:
            values.append(AxisValue(axis.name, UNSTATED, axis.role or "", axis.unit))
    names = {axis.name for axis in declared.axes}
    others = (name for name in params if name not in names and name not in _COUNTS)
    values += [AxisValue(name, params[name]) for name in others]
    return tuple(sorted(values, key=lambda axis: axis.name))


def _axis(declared: Declaration, axis: Axis, value: ParamValue, *, varied: bool) -> AxisValue:
    basis: Literal["chosen", "default", "derived"] = "chosen"
    if axis.name in declared.derived and not varied:
        basis = "derived"
    elif value == axis.default and not axis.swept and axis.role != "message-pattern":
        basis = "default"
    return AxisValue(axis.name, value, axis.role or "", axis.unit, basis)


def direction_of(declared: Declaration, params: Params) -> Direction:
    """How bytes pass: by the pattern of messages, or by the operation."""
    for axis in declared.axes:
        value = params.get(axis.name, "")
        if direction := DIRECTIONS.get(("direction", axis.level_roles.get(value, ""))):
            return direction
        if pattern := axis.patterns.get(str(value)):
            return "both ways" if pattern.directions > 1 else "one way"
        if axis.patterns:
            return "not stated"
    return ""


def _layout(
    placement: Placement,
    nodes: int,
    ranks: tuple[tuple[int, ...], ...],
    machine: Machine | None,
    declared: Declaration,
) -> Layout:
    of_node = placement.host_ranks[0] if placement.host_ranks else ((),)
    by_rank = placement.ranks or declared.launcher != "mpi"
    threads = len(of_node[0]) if by_rank else 1
    on_node = len(of_node) if by_rank else len(of_node[0])
    every = (len(ranks) if by_rank else sum(map(len, ranks))) if nodes == len(placement.hosts) else on_node
    devices = max(map(len, placement.devices), default=0)
    share = _share(placement.cpus, parsed(placement.label), machine)
    return Layout(nodes, every, on_node, threads, devices, share)


def _share(cpus: Iterable[int], word: Word, machine: Machine | None) -> str:
    """The share of the cores of a node, or of its part; empty if they are neither all nor half."""
    if machine is None:
        return SHARES.get(word.share, "")
    used = set(cpus)
    cores = [core for core in allowed_cores(machine.topology) if _is_in(core.numa, core.package, core.l3, word)]
    touched = [core for core in cores if used & set(core.cpus)]
    if len(touched) == len(cores):
        both = len(used) > len(touched)
        return "all threads" if both else "all cores"
    return "half of the cores" if 2 * len(touched) == len(cores) and len(touched) > 1 else ""


def _is_in(numa: int, package: int, l3: int, word: Word) -> bool:
    index = {"numa": numa, "socket": package, "l3": l3}.get(word.group)
    return index is None or word.index in {None, index}


def _part(word: Word, machine: Machine | None) -> str:
    """`numa 3`, `cpus 0-7`; empty where the part is the whole node."""
    if word.cpus:
        return "cpus {}-{}".format(*word.cpus)
    if word.group not in {"numa", "socket", "l3"} or word.index is None:
        return ""
    if machine and len(_groups(machine.topology)[word.group]) == 1:
        return ""
    return f"{word.group} {word.index}"


@lru_cache(maxsize=64)
def _groups(topology: Topology) -> Mapping[str, frozenset[int]]:
    cores = topology.cores
    return {
        "numa": frozenset(core.numa for core in cores),
        "socket": frozenset(core.package for core in cores),
        "l3": frozenset(core.l3 for core in cores),
    }


def _relation(ranks: tuple[tuple[int, ...], ...], machine: Machine | None) -> str:
    """The largest step between two cpus of a node."""
    cpus = {cpu for rank in ranks for cpu in rank}
    if len(cpus) == 1:
        return "one cpu"
    if machine is None or not cpus:
        return UNSTATED
    cores = [core for core in machine.topology.cores if cpus & set(core.cpus)]
    if len({core.package for core in cores}) > 1:  # they may share a memory node
        return "other socket"
    steps = (
        ("same core", {core.index for core in cores}),
        ("same L3", {core.l3 for core in cores}),
        ("same NUMA node", {core.numa for core in cores}),
    )
    return next((name for name, groups in steps if len(groups) == 1), "same socket" if cores else UNSTATED)


def _card(plan: Plan, word: Word, declared: Declaration) -> str:
    """Near or far from the network card, for messages of pairs; as words say it, also those that were folded."""
    if declared.message_size is None or not declared.between_two:
        return ""
    places = (folded.places for folded in plan.folded)
    words = (word, *(request for request, into in places if into.text == word.text))
    groups = {named.group for named in words}
    return "near" if "near-nic" in groups else "far" if "far-nic" in groups else UNSTATED


def _device(placement: Placement, machine: Machine | None) -> str:
    known = machine.devices if machine else ()
    return ", ".join(dict.fromkeys(given.kind(known) for rank in placement.devices for given in rank))


def memory_of(memory: Memory) -> str:
    """The memory policy, with its nodes only if it binds to them."""
    return str(memory) if memory.policy == "bind" else memory.policy


def _levels(run: Run, case: Case, declared: Declaration) -> Iterator[Level]:
    """Levels of varied factors, and the parts of the system with a role that the case used."""
    varied = {factor.name: factor for factor in run.plan.factors}
    axes = {axis.name for axis in declared.axes}
    toolchain = _toolchain(run, case)
    kinds = {"network": "network", "toolchain": "compiler", "mpi": "mpi", "library": "blas"}
    done: set[str] = set()
    for name, level in case.factors.items():
        if name in axes or name in ELSEWHERE:
            continue
        factor = varied.get(name)
        role: FactorRole = kinds.get(factor.kind, "") if factor else FACTOR_ROLES.get(name, "")  # type: ignore[assignment]
        levels, devices = (factor.levels, factor.devices) if factor else ((), {})
        kind, rate = _identified(run, role, level, devices)
        others = (other for other in levels if other != level)
        twin = any(_identified(run, role, other, devices) == (kind, rate) for other in others)
        done.add(role)
        yield Level(name, level, role, kind, rate, named=bool(kind) and twin)
    yield from (Level(name, level, varied=False) for name, level in run.plan.levels.items())
    yield from _used(run, case, declared, toolchain, done)


def _used(
    run: Run, case: Case, declared: Declaration, toolchain: Toolchain | None, done: set[str]
) -> Iterator[Level]:
    """Parts of the system that were not varied."""
    is_mpi = declared.launcher == "mpi" and declared.two_sided != "TCP"
    if "compiler" not in done and toolchain:
        kind = family("compiler", toolchain.version) or family("compiler", toolchain.name)
        yield Level("compiler", toolchain.name, "compiler", kind, varied=False)
    if "mpi" not in done and is_mpi and toolchain and toolchain.mpi:
        yield Level("mpi", toolchain.mpi.name, "mpi", toolchain.mpi.kind, varied=False)
    if "network" not in done and declared.launcher == "mpi" and len(case.placement.hosts) > 1:
        kind, rate = network_of(run, run.plan.network)
        yield Level("network", run.plan.network or UNSTATED, "network", kind, rate, varied=False)
    if "blas" not in done and "blas" in declared.needs:
        name = run.plan.libraries.get("blas", "")
        yield Level("blas", name or UNSTATED, "blas", family("blas", name), varied=False)


def _toolchain(run: Run, case: Case) -> Toolchain | None:
    """The toolchain that built the program of a case; None if none did."""
    names = (launch.toolchain for launch in run.plan.order if case.id in launch.cases)
    build = run.info.builds.get(case.factors.get("toolchain", "") or next(names, ""))
    return build.toolchain if build else None


def _identified(run: Run, role: FactorRole, level: str, devices: Mapping[str, str]) -> tuple[str, float]:
    """Kind and rate of a level with a role."""
    if role == "network":
        return network_of(run, devices.get(level, level), level)
    if role == "compiler":
        build = run.info.builds.get(level)
        return family(role, build.toolchain.version if build else level) or family(role, level), 0.0
    return (family(role, level) if role else ""), 0.0


def network_of(run: Run, device: str, level: str = "") -> tuple[str, float]:
    """Return kind and rate (B/s) of a network, from the facts of its device, else from its name."""
    machine = next(iter(run.machines.values()), None)
    card = machine.network_device(device_of(device)) if machine else None
    if card is None:
        return network_named(level or device)
    kind = str(card.value("link layer") or ("Ethernet" if card.kind == "network" else "InfiniBand"))
    return kind, next(filter(None, map(card.number, ("shaped rate", "rate", "speed"))), 0.0) / 8
