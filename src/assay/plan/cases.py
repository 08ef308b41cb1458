"""Requests of a study -> distinct cases on one machine; equal and impossible ones are listed with reasons."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType

import msgspec

from assay.catalogue import benchmarks
from assay.model.benchmark import Benchmark, Resources
from assay.model.core_rate import core_rate
from assay.model.left_out import Folded, LeftOut
from assay.model.machine import Machine, Topology, allowed_cores
from assay.model.placement import Memory, Placement, parsed, starred_memory
from assay.model.plan import Case, Measure, case_id
from assay.model.units import format_size
from assay.plan import factors
from assay.plan import hosts as over_nodes
from assay.plan.cores import GROUPS, grouped, knows_shared_caches
from assay.plan.nodes import memory_targets
from assay.plan.placement import places, plural
from assay.plan.points import (
    MEMORY_SHARE,
    Combination,
    ExpandedPoint,
    Point,
    combinations,
    expand,
    fit_sizes,
    fitting,
    supported,
    with_largest,
)
from assay.plan.spots import ResolvedPlacement, Setting, in_words, missing_resources, spots, too_full

_SENTINEL_WEIGHT = 0.1


class Selection(msgspec.Struct, frozen=True):
    """Cases, the most important first, and the requests that are not measured."""

    cases: tuple[Case, ...]
    folded: tuple[Folded, ...]
    left_out: tuple[LeftOut, ...]


def select(measures: tuple[Measure, ...], setting: Setting) -> Selection:
    """Distinct cases of a study on a machine, the most important first.

    Raises:
        UsageError: unknown benchmark, axis, value or word; in a user's study also an index that does not exist.
    """
    cases: dict[str, Case] = {}
    kept: dict[object, ResolvedPlacement] = {}
    folded: dict[Folded, None] = {}
    left_out = _absent(measures, setting)
    for host, same in over_nodes.machine_of_hosts(setting.hosts, setting.options.kernels).items():
        if host != same:
            why = f"it is the same machine as {same}"
            left_out[LeftOut(f"what passes no messages on {host}", why, family=("same machine", same))] = None
    for measure in (factors.apply(each, setting.factors) for each in _here(measures, setting)):
        benchmark = benchmarks.get(measure.benchmark)
        for part in setting.parts(benchmark):
            lacking: dict[LeftOut, None] = {}
            requests = tuple(_possible(benchmark, measure, part.machine, lacking))
            for spot in spots(measure, part, lacking):
                reason, option = missing_resources(benchmark, spot.placement, part)
                if why := _unfit(benchmark, spot.placement) or _missing_software(benchmark, part) or reason:
                    more_nodes, request = (
                        _lacks_nodes(benchmark, spot.placement),
                        f"{benchmark.name} at {spot.word}",
                    )
                    family = (benchmark.name, parsed(spot.word).starred)
                    lacking[LeftOut(request, why, more_nodes, family=family, option=option)] = None
                    continue
                for point in _points(benchmark, spot, requests, (measure, part), lacking):
                    first = kept.setdefault(_identity(benchmark, spot, point, part, apart=measure.apart), spot)
                    if first != spot:
                        folded[_fold(spot, first, part.machine.topology)] = None
                        continue
                    for case in _cases(benchmark, spot, point, (measure, part), lacking):
                        cases.setdefault(case.id, case)
            left_out |= dict.fromkeys(_on_hosts_like(part, each) for each in lacking)
    return Selection(tuple(cases.values()), tuple(folded), tuple(left_out))


def _absent(measures: tuple[Measure, ...], setting: Setting) -> dict[LeftOut, None]:
    """The applications that cannot be started here, each once with its reason."""
    names = (each.benchmark for each in measures)
    return {LeftOut(name, setting.options.absent[name]): None for name in names if name in setting.options.absent}


def _here(measures: tuple[Measure, ...], setting: Setting) -> tuple[Measure, ...]:
    absent = setting.options.absent
    return tuple(each for each in measures if not {each.benchmark, each.beside} & absent.keys())


def _on_hosts_like(part: Setting, left: LeftOut) -> LeftOut:
    if not part.only:
        return left
    return msgspec.structs.replace(left, request=f"{left.request}, on hosts like {part.only[0]}")


def sentinel(setting: Setting, *, first_host_only: bool = False) -> Case:
    """The fixed work of one core, which only the state of the machine can slow."""
    benchmark = benchmarks.sentinel()
    (place,) = places("one-core", setting.machine.topology)
    everywhere = over_nodes.select_hosts(place.word, "", setting.hosts, setting.options.kernels, ranks=False)
    hosts = setting.hosts[:1] if first_host_only else everywhere
    params = dict(benchmark.sentinel)
    cpus = {host: places("one-core", setting.machine_of(host).topology)[0].cpus for host in hosts}
    by_host = tuple((each,) for each in cpus.values()) if len(set(cpus.values())) > 1 else ()
    placement = Placement(place.word, place.meaning, place.cpus, Memory(), hosts, by_host=by_host)
    return Case(
        id="sentinel",
        benchmark=benchmark.name,
        params=params,
        placement=placement,
        factors=factors.first_levels(setting.factors),
        role="sentinel",
        weight=_SENTINEL_WEIGHT,
        memory_bytes=benchmark.host_memory_bytes(params, placement),
        setup_s=0.01,
        iteration_s=benchmark.iteration_s(params, placement, core_rate(setting.machine)),
    )


def _subject(name: str, words: tuple[str, str], point: Point, levels: dict[str, str], on: str = "") -> str:
    """`stream/all/first-touch/stores=ordinary,touch=parallel`, without `levels`; `point` has no computed params.

    `on` is the first host of a group with equal machines, which has a case of its own.
    """
    axes = ",".join(f"{axis}={value}" for axis, value in point.items() if axis not in levels)
    place, memory = words
    group = f"on={on}" if on else ""
    return "/".join(filter(None, (name, place, "" if factors.MEMORY in levels else memory, axes, group)))


def _request(
    benchmark: Benchmark,
    spot: ResolvedPlacement,
    point: ExpandedPoint,
    levels: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """`hpl at all, n=100000`: a case as text, with values that are not the defaults."""
    chosen = {axis: value for axis, value in point.named.items() if benchmark.defaults.get(axis) != value}
    stated = (f"{name}={value}" for name, value in (chosen | dict(levels)).items())
    return f"{benchmark.name} at {', '.join((in_words(spot.word, spot.binding.word), *stated))}"


def _missing_software(benchmark: Benchmark, setting: Setting) -> str:
    """The libraries or the program that a benchmark needs and that are missing; empty if none is."""
    varied = {factor.name for factor in setting.factors if factor.kind == "library"}
    if (
        benchmark.foreign
        and benchmark.foreign.tool
        and not setting.options.programs.intersection(benchmark.foreign.executables)
    ):
        return f"the program {benchmark.foreign.name} is not here: {benchmark.foreign.install}"
    missing = [role for role in benchmark.needs if role not in setting.options.libraries.keys() | varied]
    return f"no {' and no '.join(missing)} library is found here: see assay list {missing[0]}" if missing else ""


def _missing_executable(benchmark: Benchmark, point: ExpandedPoint, placement: Placement, setting: Setting) -> str:
    """A message that the third-party program of a point is missing; empty if it is installed."""
    if benchmark.foreign is None or (benchmark.foreign.application and not benchmark.foreign.names):
        return ""
    name = benchmark.foreign.executable(point.params, placement)
    return (
        "" if name in setting.options.programs else f"the program {name} is not here: {benchmark.foreign.install}"
    )


def _missing_functions(
    benchmark: Benchmark, point: ExpandedPoint, levels: dict[str, str], setting: Setting
) -> str:
    """The functions that a point needs and its library lacks; empty if it has one of them, or if unknown."""
    varied = {
        each.name: each.files[levels[each.name]] for each in setting.factors if each.files and each.name in levels
    }
    files = [file for role, file in (setting.options.libraries | varied).items() if role in benchmark.needs]
    for axis in benchmark.axes:
        wanted = axis.functions.get(point.params.get(axis.name, ""), ())
        for file in files if wanted else ():
            if setting.options.lacking.get(file, frozenset()).issuperset(wanted):
                return f"{file} has no {' and no '.join(wanted)}"
    return ""


def _count(benchmark: Benchmark, placement: Placement) -> int:
    """Number of ranks of an MPI program, or of cpus of another program, that work together at a placement."""
    return len(placement.rank_cpus) if benchmark.launcher == "mpi" else len(placement.cpus)


def _lacks_nodes(benchmark: Benchmark, placement: Placement) -> bool:
    """Whether a placement on several nodes has too few ranks, so that more nodes would help."""
    return bool(parsed(placement.label).over) and _count(benchmark, placement) < benchmark.min_cpus


def _unfit(benchmark: Benchmark, placement: Placement) -> str:
    """Why the number of cpus is wrong for the benchmark; empty if it is right."""
    word, count = placement.label, _count(benchmark, placement)
    what = "rank" if benchmark.launcher == "mpi" else "cpu"
    if count < benchmark.min_cpus:
        more = " (more nodes: see --hosts)" if _lacks_nodes(benchmark, placement) else ""
        return f"{benchmark.name} needs {plural(benchmark.min_cpus, what)}, {word} has {count}{more}"
    if benchmark.max_cpus is not None and count > benchmark.max_cpus:
        return f"{benchmark.name} uses {plural(benchmark.max_cpus, what)}, {word} has {count}"
    widest, most = max(map(len, placement.rank_cpus)), benchmark.max_rank_cpus
    if placement.ranks and most is not None and widest > most:
        return f"{benchmark.name} uses {plural(most, 'cpu')} a rank, {word} has {widest}"
    return ""


def _possible(
    benchmark: Benchmark, measure: Measure, machine: Machine, left_out: dict[LeftOut, None]
) -> Iterator[Combination]:
    """The combinations of a measure that this machine supports; the others go to `left_out`."""
    for request in combinations(benchmark, measure):
        kept, lacking = supported(benchmark, request, machine)
        for each in lacking:
            why = each.why if each.instead is None else f"{each.why}; {each.instead} is measured instead"
            about = f"{each.axis}={each.value}"
            left_out[LeftOut(f"{benchmark.name}, {about}", why, levels=(about,))] = None
        if kept is not None:
            yield kept


def _points(
    benchmark: Benchmark,
    spot: ResolvedPlacement,
    requests: tuple[Combination, ...],
    of: tuple[Measure, Setting],
    left_out: dict[LeftOut, None],
) -> Iterator[ExpandedPoint]:
    """The points of a placement, with sizes chosen by its memory; sizes that are too large go to `left_out`."""
    placement, (measure, setting) = spot.placement, of
    available = setting.available(placement.hosts, placement.memory.nodes)
    resources = Resources(placement, setting.machine.topology, available)

    def needed(tried: Point) -> int:
        return benchmark.host_memory_bytes(expand(benchmark, resources, tried)[0].params, placement)

    for requested in requests:
        point, passed = fit_sizes(requested, needed, available)
        for large in passed:
            words = in_words(spot.word, spot.binding.word)
            why = (
                f"it needs {format_size(large.needed)} of memory, more than {100 * MEMORY_SHARE:.0f} % of the "
                f"{format_size(available)} {_free_now(setting.machine, 'that ')}; "
                f"{large.instead} is measured instead"
            )
            about = (spot.binding.word, str(large.value))
            request = f"{benchmark.name} at {words}, {large.axis}={large.value}"
            left_out[LeftOut(request, why, levels=about, family=(*_family(benchmark, spot), large.axis))] = None
        if measure.grows:
            cores = sum(map(len, placement.rank_cpus))
            grown = benchmark.grown(point, cores)
            if grown is None:
                why = f"no problem of it is {cores} times as large"
                left_out[LeftOut(f"{benchmark.name} at {spot.word}, a problem that grows with the cores", why)] = (
                    None
                )
                continue
            point = {**point, **grown}
        yield from expand(benchmark, resources, with_largest(benchmark, resources, point))


def _family(benchmark: Benchmark, spot: ResolvedPlacement) -> tuple[str, str, str]:
    """A key shared by placements of a benchmark that differ only in an index."""
    return benchmark.name, parsed(spot.word).starred, starred_memory(spot.binding.word)


def _free_now(machine: Machine, which: str = "") -> str:
    """Text for the memory that a case may use, and the assumption behind it if it is unknown."""
    memory = machine.memory
    if not isinstance(memory.value, int | float):
        return f"assumed: {memory.unavailable}"
    return f"{which}may be used{f' ({memory.source})' if memory.guessed else ''}"


def _cases(
    benchmark: Benchmark,
    spot: ResolvedPlacement,
    point: ExpandedPoint,
    of: tuple[Measure, Setting],
    left_out: dict[LeftOut, None],
) -> Iterator[Case]:
    """The case at every combination of factor levels; impossible ones go to `left_out`."""
    measure, setting = of
    placement, words = spot.placement, (spot.word, spot.binding.word)
    available = setting.available(placement.hosts, placement.memory.nodes)
    needed = benchmark.host_memory_bytes(point.params, placement)
    why, too_large, instead = _missing_executable(benchmark, point, placement, setting), "", ""
    why = why or too_full(benchmark, point.params, placement)
    if not why and needed > available:
        why = f"it needs {format_size(needed)} of memory; {format_size(available)} {_free_now(setting.machine)}"
        too_large = benchmark.name
        if smaller := fitting(benchmark, point, placement, available):
            instead = "=".join(map(str, smaller))
            why += f", enough for {instead}"
    if why:
        left = LeftOut(
            _request(benchmark, spot, point),
            why,
            levels=(spot.binding.word, *map(str, point.named.values())),
            family=(*_family(benchmark, spot), "memory"),
            benchmark=too_large,
            instead=instead,
        )
        left_out[left] = None
        return
    core = core_rate(setting.machine)
    # Inside a node messages pass through memory: the network does not matter.
    inside = len(placement.hosts) == 1
    concerning = tuple(
        msgspec.structs.replace(each, levels=(spot.network,)) if each.kind == "network" and spot.network else each
        for each in setting.factors
        if not (inside and each.kind == "network")
    )
    for levels in factors.combinations(benchmark.name, concerning, spot.binding.word, point.named):
        subject = _subject(benchmark.name, words, point.named, levels, "".join(setting.only[:1]))
        if why := _missing_functions(benchmark, point, levels, setting):
            family = (*_family(benchmark, spot), "functions", *levels.values())
            left_out[LeftOut(_request(benchmark, spot, point, levels), why, family=family)] = None
            continue
        yield Case(
            id=case_id(subject, levels),
            benchmark=benchmark.name,
            params=point.params,
            placement=placement,
            factors=levels,
            weight=measure.weight,
            memory_bytes=needed,
            launches=measure.launches,
            setup_s=benchmark.setup_s(point.params, placement, core),
            iteration_s=benchmark.iteration_s(point.params, placement, core),
            plain=subject if levels else "",
        )


def _identity(
    benchmark: Benchmark, spot: ResolvedPlacement, point: ExpandedPoint, setting: Setting, *, apart: bool
) -> object:
    """A key shared by requests that would measure the same; levels of factors are always distinct."""
    one_node = len(memory_targets(setting.machine.topology)) <= 1 and not apart
    placement = spot.placement
    policy: object = None if one_node else spot.binding.memory
    if any(factor.name == factors.MEMORY for factor in setting.factors):
        policy = spot.binding.word
    cpus = frozenset(placement.ranks or placement.cpus)
    what = benchmark.name, spot.network, tuple(point.named.items())
    return *what, cpus, placement.hosts, placement.devices, policy


def _fold(spot: ResolvedPlacement, first: ResolvedPlacement, topology: Topology) -> Folded:
    """The fold of a placement into an earlier one with the same cpus and effectively the same memory."""
    same_memory = spot.binding.word == first.binding.word
    request = in_words(spot.word, spot.binding.word) + spot.over
    into = in_words(first.word, first.binding.word) + first.over
    existing = sum(node.memory_bytes > 0 for node in topology.numa_nodes)
    one_node = "this machine has one memory node" if existing <= 1 else "one memory node may be used"
    if spot.word != first.word:
        why = _same_cpus(spot.placement, first.placement, topology)
    elif same_memory or len(memory_targets(topology)) > 1:
        why = "for these cores they name the same memory nodes"
    else:
        why = f"{one_node}, so every memory policy means the same"
    memory = starred_memory(spot.binding.word)
    family = (parsed(spot.word).starred, memory, spot.over, parsed(first.word).starred)
    return Folded(request, into, why, (spot.word, first.word), family)


def _same_cpus(place: Placement, first: Placement, topology: Topology) -> str:
    """Why two placement words mean the same cpus, in plain words."""
    cores = allowed_cores(topology)
    if len(cores) == 1:
        return "this machine has one core" if len(topology.cores) == 1 else "one core may be used"
    if {place.label, first.label} == {"pair", "all"}:
        return "this machine has two cores" if len(topology.cores) == len(cores) else "two cores may be used"
    if {place.label, first.label} == {"half", "one-core"}:
        return f"half of {len(cores)} cores is one core"
    words = (parsed(place.label), parsed(first.label))
    kinds = [word.group for word in words if word.group in GROUPS]
    if all(word.count is not None for word in words):
        kinds.append("l3" if knows_shared_caches(topology) else "numa")
    for kind in kinds:
        if len(grouped(cores, kind)) == 1:
            name = GROUPS[kind][0]
            one = len(grouped(topology.cores, kind)) == 1
            return f"this machine has one {name}" if one else f"one {name} may be used"
    if all(word.share == "all" and word.group in GROUPS for word in words):
        return " is all of ".join(f"{GROUPS[word.group][0]} {word.index}" for word in words)
    return f"both are {first.meaning}"
