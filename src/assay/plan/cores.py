"""The usable cores, in groups that share a cache, a memory node or a socket."""

from collections.abc import Callable, Iterable
from functools import lru_cache

from assay.model import grouping
from assay.model.machine import Core, Topology

#: Word in a placement -> name of such a group, and the key that its cores share.
GROUPS: dict[str, tuple[str, Callable[[Core], int]]] = {
    "l3": ("L3 group", lambda core: core.l3),
    "numa": ("NUMA node", lambda core: core.numa),
    "socket": ("socket", lambda core: core.package),
}

_L3 = 3
#: A curve over numbers of cores has every number up to this one, and as many points in each octave above it.
_EACH_UP_TO = 8


@lru_cache(maxsize=4)
def knows_shared_caches(topology: Topology) -> bool:
    """Whether `Core.l3` is about caches; if no shared cache is known, it repeats the NUMA node."""
    core_of = {cpu: core.index for core in topology.cores for cpu in core.cpus}
    return any(
        cache.level == _L3 or len({core_of.get(cpu) for cpu in cache.cpus}) > 1
        for cache in topology.caches
        if cache.kind != "instruction"
    )


def grouped(cores: Iterable[Core], kind: str) -> dict[int, tuple[Core, ...]]:
    """Index of the group -> its cores, both ascending; `kind` is a key of GROUPS."""
    return dict(sorted(grouping.grouped(cores, GROUPS[kind][1]).items()))


def spread(cores: tuple[Core, ...], count: int) -> tuple[Core, ...]:
    """`count` of the cores, spread evenly over sockets, NUMA nodes and L3 groups, in topology order."""
    if not count:
        return ()
    keys: list[Callable[[Core], int | str]] = [GROUPS[kind][1] for kind in ("socket", *inner_groups(cores))]
    keys.append(lambda core: core.kind)
    chosen = {core.index for core in _share(cores, count, tuple(keys))}
    return tuple(core for core in cores if core.index in chosen)


def filled(cores: tuple[Core, ...]) -> tuple[Core, ...]:
    """The cores in the order that fills one L3 group after the other, node by node and socket by socket.

    On a hybrid processor the performance cores come first.
    """
    keys = [GROUPS[kind][1] for kind in ("socket", *inner_groups(cores))]
    fast = first_choice(cores).kind
    return tuple(sorted(cores, key=lambda core: (core.kind != fast, *(key(core) for key in keys), core.index)))


def counts(most: int) -> tuple[int, ...]:
    """Numbers of cores of a saturation curve: each up to 8, then 8 per octave; also half and all."""
    octaves = (round(_EACH_UP_TO * 2 ** (step / _EACH_UP_TO)) for step in range(_EACH_UP_TO * most.bit_length()))
    wanted = {*range(1, _EACH_UP_TO + 1), *octaves, max(1, most // 2), most}
    return tuple(sorted(count for count in wanted if count <= most))


def nearest_pair(cores: tuple[Core, ...]) -> tuple[int, ...]:
    """One cpu of each of the two closest cores (same L3, else node, else socket); empty for one core.

    On a hybrid processor two performance cores come before others.
    """
    for candidates in (performance(cores), cores):
        for kind in ("l3", "numa", "socket"):
            for group in grouped(candidates, kind).values():
                if len(group) > 1:
                    return group[0].cpus[0], group[1].cpus[0]
    return (cores[0].cpus[0], cores[1].cpus[0]) if len(cores) > 1 else ()


def performance(cores: tuple[Core, ...]) -> tuple[Core, ...]:
    """The performance cores of a hybrid processor, else all cores."""
    kind = first_choice(cores).kind if cores else ""
    return tuple(core for core in cores if core.kind == kind)


def first_choice(cores: tuple[Core, ...]) -> Core:
    """The first performance core of a hybrid processor, else the first core."""
    return next((core for core in cores if core.kind == "performance"), cores[0])


def inner_groups(cores: tuple[Core, ...]) -> tuple[str, str]:
    """Kinds of groups inside a socket, the larger one first."""
    several_nodes_in_a_cache = any(len(grouped(group, "numa")) > 1 for group in grouped(cores, "l3").values())
    return ("l3", "numa") if several_nodes_in_a_cache else ("numa", "l3")


def _share(cores: tuple[Core, ...], count: int, keys: tuple[Callable[[Core], int | str], ...]) -> tuple[Core, ...]:
    if not keys:
        return cores[:count]
    groups = grouping.grouped(cores, keys[0]).values()
    quotas = _apportion([len(group) for group in groups], count)
    shares = (_share(group, quota, keys[1:]) for group, quota in zip(groups, quotas, strict=True))
    return tuple(core for share in shares for core in share)


def _apportion(sizes: list[int], count: int) -> list[int]:
    """Whole shares of `count` in proportion to `sizes`, by largest remainders; ties go to earlier groups."""
    total = sum(sizes)
    shares = [size * count // total for size in sizes]
    by_remainder = sorted(range(len(sizes)), key=lambda group: -(sizes[group] * count % total))
    for group in by_remainder[: count - sum(shares)]:
        shares[group] += 1
    return shares
