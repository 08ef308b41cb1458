"""Differences between two runs. Some of them forbid a comparison until the user declares them."""

import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from assay.model.compared import Difference
from assay.model.errors import UsageError
from assay.model.facts import Fact
from assay.model.machine import Machine, Topology
from assay.model.record import RECORD_SCHEMA
from assay.model.run import Run
from assay.model.toolchain import Build
from assay.model.units import format_cpu_list, format_size
from assay.report import provenance

#: Kinds of differences that a user must declare before such runs are compared.
GUARDED = ("machine", "topology", "toolchain", "sources", "schema", "level")
_MACHINE = {("processor", name) for name in ("model", "architecture", "vector instructions")}
#: Facts that change within minutes or at each boot, and mean nothing for a comparison.
_PASSING = {
    ("processor", "frequency now"),
    ("memory", "may be used now"),
    ("system", "boot id"),
    ("system", "cgroup"),
    ("system", "host name"),
}
_UNKNOWN = "unknown"
#: Settings that show the noise of a run, not its level.
_OF_NOISE = frozenset(("disturbed launches", "hand-over between cores", "status"))


def differences(run: Run, base: Run) -> tuple[Difference, ...]:
    """Return the differences, guarded kinds first; `a` of a difference is of the run, `b` of the base.

    Of imported or published figures, only facts that both state can differ, and no difference is guarded.
    """
    if run.imported or base.imported:
        stated, other_stated = _stated(run), _stated(base)
        both = [name for name in other_stated if name in stated]
        a, b = ({name: facts[name] for name in both} for facts in (stated, other_stated))
        return tuple(_differing("fact", a, b))
    one, other = _machine(run), _machine(base)
    builds = _common(run.info.builds, base.info.builds)
    found = [
        *_differing("schema", _schemas(run), _schemas(base)),
        *_differing("machine", _facts(one, _MACHINE), _facts(other, _MACHINE)),
        *_differing("topology", _shape(one.topology), _shape(other.topology)),
        *_differing("sources", *map(_sources, builds)),
        *_differing("toolchain", *map(_toolchains, builds)),
        *_differing("level", run.plan.levels, base.plan.levels),
        *_differing("setting", _settings(run), _settings(base)),
        *_differing("environment", run.info.environment, base.info.environment),
        *_differing("fact", _facts(one) | _cards(one), _facts(other) | _cards(other)),
    ]
    return tuple(found)


def between(runs: Sequence[Run], bases: Sequence[Run]) -> tuple[Difference, ...]:
    """Return the differences of two runs; of two levels of whole runs, those that all of their runs have."""
    every = [differences(run, base) for run in runs for base in bases]
    if len(every) == 1:
        return every[0]
    named = [{(each.kind, each.name): each for each in found} for found in every]
    common = [key for key in named[0] if key[1] not in _OF_NOISE and all(key in found for found in named)]

    def values(key: tuple[str, str], side: str) -> str:
        return ", ".join(dict.fromkeys(getattr(found[key], side) for found in named))

    return tuple(Difference(*key, values(key, "a"), values(key, "b")) for key in common)


def is_one_machine(found: Iterable[Difference]) -> bool:
    """Whether both runs are of one machine: then states mean the same, and ratios of machines are 1."""
    return not {each.kind for each in found} & {"machine", "topology"}


def refuse_undeclared(found: Iterable[Difference], declared: Sequence[str]) -> None:
    """Raise UsageError if a guarded kind differs that the user has not declared."""
    undeclared = [each for each in found if each.kind in GUARDED and not is_declared(each, declared)]
    if not undeclared:
        return
    kinds = list(dict.fromkeys(each.name if each.kind == "level" else each.kind for each in undeclared))
    first = undeclared[0]
    more = f"; and {len(undeclared) - 1} more" if len(undeclared) > 1 else ""
    raise UsageError(
        f"these runs differ in what nobody declared: {', '.join(kinds)}",
        why=f"{first.name}: {first.a} against {first.b}{more}",
        remedy=f"assay compare BASE RUN {_declared(kinds)}, if you compare the {kinds[0]}; "
        f"to compare all the same: assay compare BASE RUN {_declared(('', *kinds))}",
    )


def is_declared(each: Difference, declared: Collection[str]) -> bool:
    """Whether the user declared a difference: its kind, or the factor whose levels differ."""
    return each.kind in declared or (each.kind == "level" and each.name in declared)


def _declared(kinds: Sequence[str]) -> str:
    """The options that declare these kinds: `--across` for the first unless it is empty, `--allow` for others."""
    across, *allowed = kinds
    return " ".join([*([f"--across {across}"] if across else []), *(f"--allow {kind}" for kind in allowed)])


def _differing(kind: str, a: Mapping[str, str], b: Mapping[str, str]) -> Iterator[Difference]:
    for name in dict.fromkeys([*b, *a]):
        left, right = a.get(name, "none"), b.get(name, "none")
        if left != right:
            yield Difference(kind, name, left, right)


def _stated(run: Run) -> dict[str, str]:
    """Facts of a run and of its machine, whoever measured it."""
    how = "simulated" if run.simulated else "measured"
    found = {"figures": f"{how} by Assay", "machine": run.plan.machine}
    facts: Mapping[str, Mapping[str, Fact]] = _machine(run).facts if run.machines else {}
    if run.imported:
        facts = run.imported.facts
        found["figures"] = ", ".join(source.name for source in run.imported.sources)
    return found | provenance.stated(facts)


def _machine(run: Run) -> Machine:
    return run.machines.get(run.plan.machine) or next(iter(run.machines.values()))


def _schemas(run: Run) -> dict[str, str]:
    headers = {case.header.schema for launch in run.launches for case in launch.cases} or {RECORD_SCHEMA}
    return {"run directory": str(run.info.schema), "records": ", ".join(map(str, sorted(headers)))}


def _facts(machine: Machine, only: set[tuple[str, str]] | None = None) -> dict[str, str]:
    """Facts by name: only these, or all except passing states and the machine itself."""
    return {
        name if section == "processor" and only else f"{section}: {name}": _text(fact)
        for section, facts in machine.facts.items()
        for name, fact in facts.items()
        if ((section, name) in only if only else (section, name) not in _PASSING | _MACHINE)
    }


def _cards(machine: Machine) -> dict[str, str]:
    """The drivers of network cards."""
    return {
        f"{device.name}: {name}": _text(device.facts[name])
        for device in machine.devices
        if device.kind in {"network", "infiniband"} and "driver" in device.facts and device.facts["driver"].known
        for name in ("driver", "driver version", "firmware")
        if name in device.facts
    }


def _text(fact: Fact) -> str:
    return provenance.fact(fact) if fact.known else _UNKNOWN


def _shape(topology: Topology) -> dict[str, str]:
    """The meaning of placements: equal if every word names the same cpus and memory nodes."""
    caches = {
        f"level {cache.level} cache ({cache.kind})": f"{format_size(cache.size_bytes)} for {len(cache.cpus)} cpus"
        for cache in topology.caches
    }
    return {
        "packages": str(len(topology.packages)),
        "memory nodes": format_cpu_list(tuple(node.index for node in topology.numa_nodes)),
        "cores": str(len(topology.cores)),
        "threads of a core": str(topology.smt),
        "cpus allowed": format_cpu_list(topology.allowed_cpus),
        "memory nodes allowed": format_cpu_list(topology.allowed_nodes),
        "cores of each node": "; ".join(format_cpu_list(node.cpus) for node in topology.numa_nodes),
        "distances": "; ".join(" ".join(map(str, row)) for row in topology.distances),
        **caches,
    }


def _common(one: Mapping[str, Build], other: Mapping[str, Build]) -> tuple[Sequence[Build], Sequence[Build]]:
    """Return the builds to compare: those of toolchains that both runs have, else all.

    A toolchain of one run only, such as the MPI of another study, is no difference. Nor is a run without builds.
    """
    names = [name for name in one if name in other]
    if names or not (one and other):
        return [one[name] for name in names], [other[name] for name in names]
    return tuple(one.values()), tuple(other.values())


def _sources(builds: Sequence[Build]) -> dict[str, str]:
    return {"native programs": _listed(build.sources[:8] for build in builds)}


def _toolchains(builds: Sequence[Build]) -> dict[str, str]:
    """Compiler, flags and OpenMP."""
    return {
        "compiler": _listed(build.toolchain.version for build in builds),
        "flags": _listed(shlex.join(build.toolchain.flags) for build in builds),
        "OpenMP": _listed("yes" if build.openmp else "no" for build in builds),
    }


def _listed(values: Iterable[str]) -> str:
    return "; ".join(sorted(set(values)))


def _settings(run: Run) -> dict[str, str]:
    """The settings of the measurement, and the state of the machine."""
    brackets = [launch.launch.bracket for launch in run.launches]
    probes = sorted(bracket.before.median_s for bracket in brackets if bracket.before)
    found = {
        "host": ", ".join(run.machines),
        "assay": run.info.assay,
        "study": run.plan.study,
        "launches of each case": str(run.plan.launches),
        "precision": f"{100 * run.plan.precision:.3g} %",
        "samples": f"{run.plan.min_samples} to {run.plan.max_samples}",
        "status": run.ending.status if run.ending else "incomplete",
    }
    disturbed = sum(bool(bracket.disturbance) for bracket in brackets)
    found["disturbed launches"] = f"{disturbed} of {len(brackets)}"
    if probes:
        found["hand-over between cores"] = f"{1e9 * probes[len(probes) // 2]:.0f} ns"
    return found
