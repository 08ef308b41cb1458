"""Wishes of a study -> distinct cases on one machine; what folds together and what cannot be, with reasons."""

import itertools
from collections.abc import Iterator

import msgspec

from assay import benchmarks
from assay.model.benchmark import Benchmark
from assay.model.machine import Machine, Topology
from assay.model.placement import Memory, Placement
from assay.model.plan import Case, Factor, Folded, LeftOut, Measure
from assay.model.units import format_size
from assay.plan import factors
from assay.plan import hosts as over_nodes
from assay.plan.cores import GROUPS, allowed_cores, grouped, knows_shared_caches
from assay.plan.nodes import memory_targets
from assay.plan.placement import (
    AbsentPlacementError,
    Binding,
    Place,
    bindings,
    places,
    plural,
)
from assay.plan.points import MEMORY_SHARE, Point, Wish, fitted, unmet, wished
from assay.plan.sampling import facing, passed_over

#: Three arrays of doubles in 24 KB: inside any first-level data cache of 32 KiB.
_SENTINEL_ELEMENTS = 1000
_SENTINEL_WEIGHT = 0.1
#: Memory of each node that hwloc's short form names without a size.
_HWLOC_DEFAULT = 2**30


class Setting(msgspec.Struct, frozen=True):
    """What all cases of a plan share.

    Attributes:
        machine: where it will run.
        hosts: names of the nodes.
        factors: what is varied on purpose.
        nic_node: NUMA node of the network card where the user names it.
        kernels: host -> boot id, where known: hosts of one kernel are one machine, whose cores they share.
        stored: whether the study is one of Assay's own, which must fit any machine: what is absent is left out.
            In a user's study a missing index is an error.
    """

    machine: Machine
    hosts: tuple[str, ...]
    factors: tuple[Factor, ...]
    stored: bool
    nic_node: int | None = None
    kernels: dict[str, str] = {}


class Spot(msgspec.Struct, frozen=True):
    """Where a wish would run.

    Attributes:
        place: on each host; its word is the whole one, with the number of nodes.
        binding: of the memory.
        hosts: nodes.
        joint: whether each cpu is a rank of its own.
    """

    place: Place
    binding: Binding
    hosts: tuple[str, ...]
    joint: bool

    @property
    def ranks(self) -> int:
        """Ranks on each host."""
        return len(self.place.cpus) if self.joint else 1


class Selection(msgspec.Struct, frozen=True):
    """Cases by importance, and what became of the other wishes."""

    cases: tuple[Case, ...]
    folded: tuple[Folded, ...]
    left_out: tuple[LeftOut, ...]


def select(measures: tuple[Measure, ...], setting: Setting) -> Selection:
    """Distinct cases of a study on a machine, most important first.

    Raises:
        UsageError: unknown benchmark, axis, value or word; in a user's study also an index that does not exist.
    """
    topology = setting.machine.topology
    cases: dict[str, Case] = {}
    kept: dict[object, Spot] = {}
    folded: dict[Folded, None] = {}
    left_out: dict[LeftOut, None] = {}
    for host, same in over_nodes.machines(setting.hosts, setting.kernels).items():
        if host != same:
            left_out[LeftOut(f"what passes no messages on {host}", f"it is the same machine as {same}")] = None
    for measure in (factors.applied(each, setting.factors) for each in measures):
        benchmark = benchmarks.get(measure.benchmark)
        wishes = tuple(_possible(benchmark, measure, setting.machine, left_out))
        for spot in _spots(measure, setting, left_out):
            reason = _unfit(benchmark, spot)
            if reason:
                left_out[LeftOut(f"{benchmark.name} at {spot.place.word}", reason)] = None
                continue
            for point in _points(benchmark, spot, wishes, setting, left_out):
                first = kept.setdefault(_identity(benchmark, spot, point, setting, apart=measure.apart), spot)
                if first != spot:
                    folded[_fold(spot, first, topology)] = None
                    continue
                for case in _cases(benchmark, spot, point, (measure, setting), left_out):
                    cases.setdefault(case.id, case)
    return Selection(tuple(cases.values()), tuple(folded), tuple(left_out))


def sentinel(setting: Setting, *, first_host_only: bool = False) -> Case:
    """One core, arrays in the first-level cache: a fixed piece of work that only the machine's state can slow."""
    benchmark = benchmarks.get("stream")
    (place,) = places("one-core", setting.machine.topology)
    everywhere = over_nodes.chosen(place.word, "", setting.hosts, setting.kernels, joint=False)
    hosts = setting.hosts[:1] if first_host_only else everywhere
    params: Point = {"stores": "ordinary", "touch": "parallel", "elements": _SENTINEL_ELEMENTS}
    return Case(
        id="sentinel",
        benchmark=benchmark.name,
        params=params,
        placement=Placement(place.word, place.meaning, place.cpus, Memory(), hosts),
        factors=factors.surroundings(setting.factors),
        role="sentinel",
        weight=_SENTINEL_WEIGHT,
        memory_bytes=benchmark.memory_bytes(params),
        setup_s=0.01,
    )


def memory_available(machine: Machine, nodes: tuple[int, ...] = ()) -> int:
    """Bytes that a case may use: what the machine has left now and no more than its memory nodes hold."""
    wanted = set(nodes or memory_targets(machine.topology))
    holding = [node for node in machine.topology.numa_nodes if node.memory_bytes > 0]
    installed = sum(node.memory_bytes for node in holding if node.index in wanted)
    if not isinstance(machine.memory.value, int | float):
        return installed
    if all(node.index in wanted for node in holding):
        return int(machine.memory.value)  # a kernel that brings memory up late tells less of its nodes than it has
    return int(min(machine.memory.value, installed))


def _case_id(name: str, words: tuple[str, str], point: Point, levels: dict[str, str]) -> str:
    """`stream/all/first-touch/stores=ordinary,touch=parallel/toolchain=gcc`; `point` has no computed params."""
    axes = ",".join(f"{axis}={value}" for axis, value in point.items() if axis not in levels)
    varied = ",".join(f"{factor}={level}" for factor, level in levels.items())
    place, memory = words
    return "/".join(filter(None, (name, place, "" if factors.MEMORY in levels else memory, axes, varied)))


def _spots(measure: Measure, setting: Setting, left_out: dict[LeftOut, None]) -> Iterator[Spot]:
    """Every place with every memory policy of a measure; what is absent here goes to `left_out`."""
    topology = setting.machine.topology
    nodes = memory_targets(topology)
    if len(nodes) < measure.min_memory_nodes:
        needs = plural(measure.min_memory_nodes, "memory node")
        left_out[LeftOut(_wish(measure), f"it needs {needs}; {plural(len(nodes), 'memory node')} may be used")] = (
            None
        )
        return
    for word in measure.placements:
        try:
            plain, hosts = _resolved(word, measure, setting)
            found = _found(plain, topology, ranks=benchmarks.get(measure.benchmark).joint)
        except AbsentPlacementError as absent:
            _leave_out(absent, f"{measure.benchmark} at {word}", setting, left_out)
            continue
        if sampled := passed_over(plain, found, topology):
            left_out[LeftOut(f"{measure.benchmark} at {word}", sampled)] = None
        for memory in measure.memory:
            faced, sampled = facing(plain, memory, found, topology)
            if sampled:
                left_out[LeftOut(f"{measure.benchmark} at {_words(word, memory)}", sampled)] = None
            for place in faced:
                shown = _on_nodes(word, place, hosts)
                try:
                    for binding in bindings(memory, place, topology):
                        yield Spot(shown, binding, hosts, benchmarks.get(measure.benchmark).joint)
                except AbsentPlacementError as absent:
                    _leave_out(absent, f"{measure.benchmark} at {_words(shown.word, memory)}", setting, left_out)


def _found(word: str, topology: Topology, *, ranks: bool) -> tuple[Place, ...]:
    """Places of a word. Of ranks the last of a curve over cores is `all`: they have one name in all tables."""
    found = places(word, topology)
    if not ranks or word not in {"spread:*", "cores:*"}:
        return found
    (whole,) = places("all", topology)
    return tuple(whole if set(place.cpus) == set(whole.cpus) else place for place in found)


def _resolved(word: str, measure: Measure, setting: Setting) -> tuple[str, tuple[str, ...]]:
    """What a word means on each node, as a word of one, and the nodes; raises as `places`."""
    plain, nodes = over_nodes.split(word)
    joint = benchmarks.get(measure.benchmark).joint
    hosts = over_nodes.chosen(word, nodes, setting.hosts, setting.kernels, joint=joint)
    return over_nodes.beside_network(plain, setting.machine, setting.nic_node), hosts


def _on_nodes(word: str, place: Place, hosts: tuple[str, ...]) -> Place:
    """A place under the word that asked for it, with the nodes in its meaning."""
    _, nodes = over_nodes.split(word)
    meaning = f"{place.meaning}, on each of {plural(len(hosts), 'node')}" if nodes else place.meaning
    return Place(over_nodes.label(word, place.word), meaning, place.cpus)


def _leave_out(absent: AbsentPlacementError, wish: str, setting: Setting, left_out: dict[LeftOut, None]) -> None:
    if absent.indexed and not setting.stored:
        raise absent
    left_out[LeftOut(wish, absent.why)] = None


def _wish(measure: Measure) -> str:
    """`stream at all, touch=serial`."""
    axes = ((name, value if isinstance(value, tuple) else (value,)) for name, value in measure.axes.items())
    stated = "".join(f", {name}={','.join(map(str, values))}" for name, values in axes)
    return f"{measure.benchmark} at {', '.join(measure.placements)}{stated}"


def _unfit(benchmark: Benchmark, spot: Spot) -> str:
    """Why the number of cpus does not suit the benchmark; empty where it does."""
    place = spot.place
    count = len(place.cpus) * (len(spot.hosts) if benchmark.joint else 1)
    if count < benchmark.min_cpus:
        more = " (more nodes: see --hosts)" if "@" in place.word else ""
        return f"{benchmark.name} needs {plural(benchmark.min_cpus, 'cpu')}, {place.word} has {count}{more}"
    if benchmark.max_cpus is not None and count > benchmark.max_cpus:
        return f"{benchmark.name} uses {plural(benchmark.max_cpus, 'cpu')}, {place.word} has {count}"
    return ""


def _possible(
    benchmark: Benchmark, measure: Measure, machine: Machine, left_out: dict[LeftOut, None]
) -> Iterator[Wish]:
    """The wishes of a measure whose needs this machine meets; what it lacks goes to `left_out`."""
    for wish in wished(benchmark, measure):
        lacking = tuple(unmet(benchmark, wish, machine))
        left_out |= {LeftOut(f"{benchmark.name}, {value}", why): None for value, why in lacking}
        if not lacking:
            yield wish


def _points(
    benchmark: Benchmark, spot: Spot, wishes: tuple[Wish, ...], setting: Setting, left_out: dict[LeftOut, None]
) -> Iterator[Point]:
    """The points of a spot, sizes chosen by its memory; what was too large goes to `left_out`."""
    available = memory_available(setting.machine, spot.binding.memory.nodes)

    def needed(tried: Point) -> int:
        return spot.ranks * benchmark.memory_bytes(_params(benchmark, spot, tried, setting))

    for wish in wishes:
        point, passed = fitted(wish, needed, available)
        for large in passed:
            words = _words(spot.place.word, spot.binding.word)
            why = (
                f"it needs {format_size(large.needed)} of memory, more than {100 * MEMORY_SHARE:.0f} % of the "
                f"{format_size(available)} {_there(setting.machine)}; {large.instead} is measured instead"
            )
            left_out[LeftOut(f"{benchmark.name} at {words}, {large.axis}={large.value}", why)] = None
        yield from _each(benchmark, point, _placement(spot, setting))


def _there(machine: Machine) -> str:
    """What a case may use; hwloc gives a memory node 1 GiB where a description names no size."""
    assumed = machine.origin == "synthetic" and all(
        node.memory_bytes in {0, _HWLOC_DEFAULT} for node in machine.topology.numa_nodes
    )
    return f"that may be used{' (hwloc takes 1 GiB a node where none is named)' if assumed else ''}"


def _each(benchmark: Benchmark, point: Point, placement: Placement) -> Iterator[Point]:
    """A point with all values of the axes that follow from its placement and that it does not name."""
    axes = {axis: values for axis, values in benchmark.each(placement).items() if axis not in point}
    for combination in itertools.product(*axes.values()):
        yield point | dict(zip(axes, combination, strict=True))


def _params(benchmark: Benchmark, spot: Spot, point: Point, setting: Setting) -> Point:
    """Every axis with its value, those that follow from the machine too, in the order of the axes."""
    available = memory_available(setting.machine, spot.binding.memory.nodes)
    params = benchmark.size(setting.machine.topology, _placement(spot, setting), available) | point
    return {axis.name: params[axis.name] for axis in benchmark.axes if axis.name in params}


def _placement(spot: Spot, setting: Setting) -> Placement:
    ranks = tuple((cpu,) for cpu in spot.place.cpus) if spot.joint else ()
    return Placement(
        label=spot.place.word,
        meaning=spot.place.meaning,
        cpus=spot.place.cpus,
        memory=spot.binding.memory,
        hosts=spot.hosts,
        ranks=ranks,
        by_host=over_nodes.side_by_side(spot.place.cpus, spot.hosts, setting.kernels, setting.machine.topology)
        if spot.joint
        else (),
    )


def _cases(
    benchmark: Benchmark,
    spot: Spot,
    point: Point,
    of: tuple[Measure, Setting],
    left_out: dict[LeftOut, None],
) -> Iterator[Case]:
    """The case at every combination of factor levels; nothing, and why in `left_out`, where memory lacks."""
    measure, setting = of
    words = (spot.place.word, spot.binding.word)
    available = memory_available(setting.machine, spot.binding.memory.nodes)
    params = _params(benchmark, spot, point, setting)
    needed = spot.ranks * benchmark.memory_bytes(params)
    if needed > available:
        why = f"it needs {format_size(needed)} of memory; {format_size(available)} may be used"
        left_out[LeftOut(_case_id(benchmark.name, words, point, {}), why)] = None
        return
    # Inside a node messages go through memory: which network there is does not matter.
    inside = len(spot.hosts) == 1
    concerning = tuple(each for each in setting.factors if not (inside and each.kind == "network"))
    for levels in factors.combinations(benchmark.name, concerning, spot.binding.word, point):
        yield Case(
            id=_case_id(benchmark.name, words, point, levels),
            benchmark=benchmark.name,
            params=params,
            placement=_placement(spot, setting),
            factors=levels,
            weight=measure.weight,
            memory_bytes=needed,
            setup_s=benchmark.setup_seconds(params),
        )


def _identity(benchmark: Benchmark, spot: Spot, point: Point, setting: Setting, *, apart: bool) -> object:
    """Equal for wishes that would measure the same thing; what is varied on purpose never folds."""
    one_node = len(memory_targets(setting.machine.topology)) <= 1 and not apart
    policy: object = None if one_node else spot.binding.memory
    if any(factor.name == factors.MEMORY for factor in setting.factors):
        policy = spot.binding.word
    return benchmark.name, frozenset(spot.place.cpus), spot.hosts, policy, tuple(point.items())


def _words(place: str, memory: str) -> str:
    return place if memory == "first-touch" else f"{place}, {memory}"


def _fold(spot: Spot, first: Spot, topology: Topology) -> Folded:
    """The fold of a spot into an earlier one that is the same cpus and effectively the same memory."""
    same_memory = spot.binding.word == first.binding.word
    wish = _words(spot.place.word, spot.binding.word)
    into = _words(first.place.word, first.binding.word)
    if spot.place.word != first.place.word:
        return Folded(wish, into, _same_cpus(spot.place, first.place, topology))
    if same_memory or len(memory_targets(topology)) > 1:
        return Folded(wish, into, "for these cores they name the same memory nodes")
    existing = sum(node.memory_bytes > 0 for node in topology.numa_nodes)
    subject = "this machine has one memory node" if existing <= 1 else "one memory node may be used"
    return Folded(wish, into, f"{subject}, so every memory policy means the same")


def _same_cpus(place: Place, first: Place, topology: Topology) -> str:
    """Why two placement words are the same cpus, in words that a newcomer understands."""
    cores = allowed_cores(topology)
    if len(cores) == 1:
        return "this machine has one core" if len(topology.cores) == 1 else "one core may be used"
    if {place.word, first.word} == {"pair", "all"}:
        return "this machine has two cores" if len(topology.cores) == len(cores) else "two cores may be used"
    if {place.word, first.word} == {"half", "one-core"}:
        return f"half of {len(cores)} cores is one core"
    words = (place.word, first.word)
    kinds = [word.split(":")[1] for word in words if word.count(":") > 1]
    if all(word.startswith(("cores:", "spread:")) for word in words):
        kinds.append("l3" if knows_shared_caches(topology) else "numa")
    for kind in kinds:
        if len(grouped(cores, kind)) == 1:
            name = GROUPS[kind][0]
            one = len(grouped(topology.cores, kind)) == 1
            return f"this machine has one {name}" if one else f"one {name} may be used"
    if place.word.startswith("all:") and first.word.startswith("all:"):
        return f"{_named(place.word)} is all of {_named(first.word)}"
    return f"both are {first.meaning}"


def _named(word: str) -> str:
    """`all:numa:0` -> `NUMA node 0`."""
    _, kind, index = word.split(":")
    return f"{GROUPS[kind][0]} {index}"
