"""Placement words and memory words on one machine: cpus, memory nodes, and a text for both."""

import difflib
import re
from collections.abc import Iterable

import msgspec

from assay.model.errors import UsageError
from assay.model.machine import Core, NumaNode, Topology, allowed_cores
from assay.model.placement import Memory, Word, parsed
from assay.model.resource import GivenDevice
from assay.model.units import format_cpu_list
from assay.plan import nodes, pairs
from assay.plan.cores import (
    GROUPS,
    counts,
    filled,
    first_choice,
    grouped,
    knows_shared_caches,
    nearest_pair,
    spread,
)
from assay.plan.nodes import memory_targets
from assay.plan.placement_words import MEMORY_WORDS, WORDS

_NO_SHARED_CACHE = "no cache is known that several cores share"
_BIND_WORD = re.compile(r"bind:(\d+|\*|local|remote)")


class Place(msgspec.Struct, frozen=True):
    """A placement word on one machine.

    Attributes:
        word: placement word with its index.
        meaning: the same as text.
        cpus: cpus in thread order.
        ranks: cpus of each rank, if the word is a layout of ranks; else empty, and the benchmark defines the
            ranks.
        devices: devices of each of these ranks, or of all ranks if it has none; empty without devices.
    """

    word: str
    meaning: str
    cpus: tuple[int, ...]
    ranks: tuple[tuple[int, ...], ...] = ()
    devices: tuple[tuple[GivenDevice, ...], ...] = ()


class Binding(msgspec.Struct, frozen=True):
    """A memory word on one machine."""

    word: str
    memory: Memory


class AbsentPlacementError(UsageError):
    """A valid word for something that this machine does not have or that may not be used; `why` is the reason.

    Attributes:
        indexed: whether the word names an index, so that its author meant a certain machine.
        nodes: whether more nodes would help.
    """

    def __init__(self, word: str, why: str, *, indexed: bool = False, nodes: bool = False) -> None:
        super().__init__(
            f"'{word}' means nothing on this machine", why=why, remedy="assay discover shows what there is"
        )
        self.indexed, self.nodes = indexed, nodes


def places(word: str, topology: Topology) -> tuple[Place, ...]:
    """The places of a placement word on this machine; several if its index is `*`.

    Raises:
        UsageError: no such word.
        AbsentPlacementError: this machine does not have such a place.
    """
    asked = parsed(word)
    if asked.form not in {"whole", "group", "count", "pair"} or asked.names_nodes or asked.by_card:
        raise _unknown(word, "placement", WORDS)
    cores = allowed_cores(topology)
    if not cores:
        raise AbsentPlacementError(word, "no cpu may be used")
    if asked.form == "pair":
        return _paired(asked, cores, topology)
    if asked.form == "count":
        numbers = counts(len(cores)) if asked.count is None else (asked.count,)
        return _counted(asked.share, numbers, cores, topology)
    if asked.form == "group":
        if asked.group == "l3" and not knows_shared_caches(topology):
            raise AbsentPlacementError(word, _NO_SHARED_CACHE)
        return _groups(asked.share, asked.group, _indices(asked, topology), topology)
    return (_whole(word, cores, topology),)


def bindings(word: str, place: Place, topology: Topology) -> tuple[Binding, ...]:
    """The bindings of a memory word for a place; several if its index is `*`; raises as `places`."""
    targets = memory_targets(topology)
    if word == "first-touch":
        return (Binding(word, Memory()),)
    if word == "interleave":
        if not targets:
            raise AbsentPlacementError(word, "no memory node is known")
        return (Binding(word, Memory("interleave", targets)),)
    match = _BIND_WORD.fullmatch(word)
    if not match:
        raise _unknown(word, "memory policy", MEMORY_WORDS)
    if match[1] == "local":
        return (Binding(word, Memory("bind", _local_nodes(word, place, topology))),)
    if match[1] == "remote":
        return (Binding(word, Memory("bind", (_remote_node(word, place, topology),))),)
    sampled = nodes.sample(topology)
    wanted = tuple(node for node in targets if node in sampled) if match[1] == "*" else (int(match[1]),)
    for node in wanted:
        if node not in targets:
            raise AbsentPlacementError(word, _no_memory(node, topology), indexed=True)
    return tuple(Binding(f"bind:{node}", Memory("bind", (node,))) for node in wanted)


def plural(count: int, noun: str) -> str:
    """`one core`, `2 cores`."""
    return f"one {noun}" if count == 1 else f"{count} {noun}s"


def _whole(word: str, cores: tuple[Core, ...], topology: Topology) -> Place:
    if word == "one-core":
        core = first_choice(cores)
        return Place(word, f"one {core.kind} core" if core.kind else "one core", core.cpus[:1])
    if word == "pair":
        cpus = nearest_pair(cores)
        if not cpus:
            raise AbsentPlacementError(word, _only_one(len(topology.cores), "core"))
        return Place(word, _two(cpus, topology), cpus)
    if word == "half":
        chosen = spread(cores, max(1, len(cores) // 2))
        return Place(
            word, f"{len(chosen)} of {plural(len(cores), 'core')}{_per_group(chosen, topology)}", _one_each(chosen)
        )
    if word == "all":
        return Place(word, _all_of(cores, topology) + _threads_unused(cores), _one_each(cores))
    threads = tuple(cpu for core in cores for cpu in core.cpus)
    if len(threads) == len(cores):
        raise AbsentPlacementError(word, _no_siblings(topology))
    return Place(word, f"all {len(threads)} hardware threads of {plural(len(cores), 'core')}", threads)


def _counted(
    order: str, numbers: tuple[int, ...], cores: tuple[Core, ...], topology: Topology
) -> tuple[Place, ...]:
    in_order = filled(cores)
    fast = tuple(core for core in in_order if core.kind == in_order[0].kind)
    slow = in_order[len(fast) :]
    kind = "l3" if knows_shared_caches(topology) else "numa"
    existing = len(grouped(cores, kind))
    found = []
    for count in numbers:
        word = f"{order}:{count}"
        if count > len(cores):
            raise AbsentPlacementError(word, f"{plural(len(cores), 'core')} may be used", indexed=True)
        if order == "cores":
            chosen = in_order[:count]
        else:  # on a hybrid processor, too, the performance cores come first
            chosen = spread(fast, min(count, len(fast))) + spread(slow, max(0, count - len(fast)))
        chosen = tuple(sorted(chosen, key=lambda core: core.index))
        on = f", on {plural(len(grouped(chosen, kind)), GROUPS[kind][0])}" if existing > 1 else ""
        found.append(Place(word, f"{count} of {plural(len(cores), 'core')}{on}", _one_each(chosen)))
    return tuple(found)


def _groups(share: str, kind: str, indices: tuple[int, ...], topology: Topology) -> tuple[Place, ...]:
    allowed, existing = grouped(allowed_cores(topology), kind), grouped(topology.cores, kind)
    return tuple(_group((share, kind, index), allowed[index], len(existing[index]), topology) for index in indices)


def _group(parts: tuple[str, str, int], members: tuple[Core, ...], exists: int, topology: Topology) -> Place:
    share, kind, index = parts
    word = f"{share}:{kind}:{index}"
    name = f"{GROUPS[kind][0]} {index}"
    if share == "one-core":
        core = first_choice(members)
        return Place(
            word, f"one {core.kind} core of {name}" if core.kind else f"one core of {name}", core.cpus[:1]
        )
    if share == "half":
        chosen = spread(members, max(1, len(members) // 2))
        meaning = f"{len(chosen)} of {plural(len(members), 'core')} of {name}{_per_group(chosen, topology)}"
        return Place(word, meaning, _one_each(chosen))
    count = (
        f"all {exists} cores"
        if exists == len(members) > 1
        else f"the {plural(len(members), 'core')}"
        if exists == len(members)
        else f"{len(members)} allowed of {plural(exists, 'core')}"
    )
    return Place(word, f"{count} of {name}{_inside(members, kind)}", _one_each(members))


def _indices(word: Word, topology: Topology) -> tuple[int, ...]:
    """Indices of the groups that a word means: every group, the one that it names, or the first."""
    usable = tuple(grouped(allowed_cores(topology), word.group))
    if word.every:
        return usable
    if word.index is None:
        return usable[:1]
    if word.index in usable:
        return (word.index,)
    raise AbsentPlacementError(word.text, _no_group(word.group, word.index, topology), indexed=True)


def _no_group(kind: str, index: int, topology: Topology) -> str:
    name = GROUPS[kind][0]
    existing = grouped(topology.cores, kind)
    if index in existing:
        return f"no core of {name} {index} may be used (allowed cpus: {format_cpu_list(topology.allowed_cpus)})"
    node = next((node for node in topology.numa_nodes if node.index == index), None)
    if kind == "numa" and node:
        if node.cpus:
            return f"{name} {index} has no memory; its cores count to the nearest node that has"
        return f"{name} {index} has memory but no cores"
    return f"this machine has {plural(len(existing), name)} ({format_cpu_list(tuple(existing))})"


def _no_memory(node: int, topology: Topology) -> str:
    known = {each.index: each for each in topology.numa_nodes}
    if node not in known:
        indices = format_cpu_list(tuple(known))
        return f"this machine has {plural(len(known), 'memory node')}" + (f" ({indices})" if indices else "")
    return (
        f"node {node} has no memory" if not known[node].memory_bytes else f"memory of node {node} is not allowed"
    )


def _local_nodes(word: str, place: Place, topology: Topology) -> tuple[int, ...]:
    used = set(place.cpus)
    local = {core.numa for core in topology.cores if used & set(core.cpus)}
    nodes = tuple(node for node in memory_targets(topology) if node in local)
    if len(nodes) < len(local):
        missing = min(local - set(nodes))
        raise AbsentPlacementError(word, f"{place.word} runs next to memory node {missing}, which is not allowed")
    return nodes


def _remote_node(word: str, place: Place, topology: Topology) -> int:
    """The allowed memory node farthest from the place, by the firmware's distances, else by socket."""
    used = set(place.cpus)
    cores = [core for core in topology.cores if used & set(core.cpus)]
    local, sockets = {core.numa for core in cores}, {core.package for core in cores}
    targets = memory_targets(topology)
    others = [node for node in topology.numa_nodes if node.index in targets and node.index not in local]
    if not others:
        one = "this machine has one memory node" if len(topology.numa_nodes) <= 1 else "no other node may be used"
        raise AbsentPlacementError(
            word, one if len(targets) <= 1 else f"{place.word} runs next to every memory node"
        )
    position = {node.index: number for number, node in enumerate(topology.numa_nodes)}

    def farness(node: NumaNode) -> tuple[int, bool, int]:
        near = (topology.distances[position[own]][position[node.index]] for own in local if topology.distances)
        return min(near, default=0), node.package not in sockets, -node.index

    return max(others, key=farness).index


def _one_each(cores: Iterable[Core]) -> tuple[int, ...]:
    return tuple(core.cpus[0] for core in cores)


def _all_of(cores: tuple[Core, ...], topology: Topology) -> str:
    if len(cores) < len(topology.cores):
        return f"{plural(len(cores), 'core')}, all that may be used of {len(topology.cores)}"
    kinds = sorted({core.kind for core in cores if core.kind}, reverse=True)
    counts = ", ".join(f"{sum(core.kind == kind for core in cores)} {kind}" for kind in kinds)
    return (
        f"all {len(cores)} cores" * (len(cores) > 1)
        + "the one core" * (len(cores) == 1)
        + (f" ({counts})" if len(kinds) > 1 else "")
    )


def _threads_unused(cores: tuple[Core, ...]) -> str:
    return ", one thread each" if any(len(core.cpus) > 1 for core in cores) else ""


def _per_group(chosen: tuple[Core, ...], topology: Topology) -> str:
    """How many cores of each L3 group (NUMA node if no L3 is known), if there are several."""
    kind = "l3" if knows_shared_caches(topology) else "numa"
    name = GROUPS[kind][0]
    counts = [len(group) for group in grouped(chosen, kind).values()]
    if len(counts) == 1:
        return ""
    low, high = min(counts), max(counts)
    return f", {low} of each {name}" if low == high else f", {low} to {high} of each {name}"


def _inside(members: tuple[Core, ...], kind: str) -> str:
    """Text of the groups inside a group, or of the node around an L3 group."""
    if kind == "l3":
        return f" (NUMA node {members[0].numa})"
    inner = "numa" if kind == "socket" and len(grouped(members, "numa")) > 1 else "l3"
    count = len(grouped(members, inner))
    if count == 1:
        return ""
    return f", both {GROUPS[inner][0]}s" if count == 2 else f", its {count} {GROUPS[inner][0]}s"  # noqa: PLR2004


def _paired(asked: Word, cores: tuple[Core, ...], topology: Topology) -> tuple[Place, ...]:
    word, kind = asked.text, asked.partners
    if asked.cpus:
        return (_two_cpus(word, asked.cpus, topology),)
    if kind == "same-core":
        threads = next((core.cpus[:2] for core in cores if len(core.cpus) > 1), None)
        if not threads:
            raise AbsentPlacementError(word, _no_siblings(topology))
        return (Place(word, f"cpus {threads[0]} and {threads[1]}, two hardware threads of one core", threads),)
    if asked.every:
        chosen = pairs.sample(cores, topology)
        if not chosen:
            raise AbsentPlacementError(word, _only_one(len(topology.cores), "core"))
        known = knows_shared_caches(topology)
        return tuple(_two_cores(f"pair:{a.cpus[0]}-{b.cpus[0]}", (a, b), known_caches=known) for a, b in chosen)
    if kind == "same-l3" and not knows_shared_caches(topology):
        raise AbsentPlacementError(word, _NO_SHARED_CACHE)
    nearest = pairs.nearest(kind, cores, topology)
    if not nearest:
        raise AbsentPlacementError(word, f"there are no two cores {pairs.BETWEEN[kind]} that may be used")
    return (_two_cores(word, nearest, known_caches=knows_shared_caches(topology)),)


def _two_cores(word: str, pair: pairs.Pair, *, known_caches: bool) -> Place:
    cpus = (pair[0].cpus[0], pair[1].cpus[0])
    relation = pairs.relation(*pair, known_caches=known_caches)
    return Place(word, f"cpus {cpus[0]} and {cpus[1]}, two cores {relation}", cpus)


def _two_cpus(word: str, cpus: tuple[int, ...], topology: Topology) -> Place:
    known = {cpu for core in topology.cores for cpu in core.cpus} & set(topology.allowed_cpus)
    for cpu in cpus:
        if cpu not in known:
            why = f"cpu {cpu} may not be used (allowed: {format_cpu_list(topology.allowed_cpus)})"
            raise AbsentPlacementError(word, why, indexed=True)
    if cpus[0] == cpus[1]:
        raise AbsentPlacementError(word, "a pair is two different cpus", indexed=True)
    return Place(word, f"cpus {cpus[0]} and {cpus[1]}, {_two(cpus, topology)}", cpus)


def _two(cpus: tuple[int, ...], topology: Topology) -> str:
    """`two cores of one L3 group`, `two hardware threads of one core`."""
    one, *others = (core for core in topology.cores if set(core.cpus) & set(cpus))
    if not others:
        return "two hardware threads of one core"
    return f"two cores {pairs.relation(one, others[0], known_caches=knows_shared_caches(topology))}"


def _no_siblings(topology: Topology) -> str:
    one = "this machine has one hardware thread per core"
    return one if topology.smt == 1 else "one thread of each core may be used"


def _only_one(existing: int, noun: str) -> str:
    return f"this machine has one {noun}" if existing == 1 else f"one {noun} may be used"


def _written(word: str) -> str:
    """A word of the lists above, with numbers in place of its letters, as an example."""
    numbers = {"I": "0", "N": "1", "A-B": "0-1", "RxC": "2x4"}
    head, colon, tail = word.rpartition(":")
    return f"{head}{colon}{numbers.get(tail, tail)}"


def _unknown(word: str, what: str, words: dict[str, str]) -> UsageError:
    near = difflib.get_close_matches(word, words, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(near)}? " if near else ""
    return UsageError(
        f"there is no {what} '{word}'",
        why=f"{hint}known: {', '.join(words)}",
        remedy=f"write it as {_written(near[0] if near else next(iter(words)))}",
    )
