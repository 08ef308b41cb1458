"""Layouts on one machine: the number of ranks, and the cores and devices of each rank."""

from collections.abc import Iterator

from assay.model.machine import Core, Device, Machine, allowed_cores
from assay.model.placement import EVERY, Word, parsed
from assay.plan.cores import (
    GROUPS,
    filled,
    first_choice,
    grouped,
    inner_groups,
    knows_shared_caches,
    spread,
)
from assay.plan.placement import AbsentPlacementError, Place, plural

#: Drivers of display controllers that can compute; the others are for the console of a server.
_GPU_DRIVERS = frozenset(("nvidia", "amdgpu", "i915", "xe"))
_COMPUTING = frozenset(("3D controller", "processing accelerator"))

_Ranks = tuple[tuple[Core, ...], ...]


def is_layout(word: str) -> bool:
    """Whether a placement word, without its nodes, is a layout of ranks."""
    return parsed(word).form in {"rank-per", "ranks"}


def layouts(word: str, machine: Machine) -> tuple[Place, ...]:
    """The places of a layout word on a machine; several if it names several numbers of ranks.

    Raises:
        AbsentPlacementError: the machine does not have such a place, or not enough cores.
    """
    cores = allowed_cores(machine.topology)
    if not cores:
        raise AbsentPlacementError(word, "no cpu may be used")
    asked = parsed(word)
    if asked.form == "ranks":
        return tuple(_ranks_of(count, asked.width, machine) for count in _counts(asked, cores))
    kind = asked.group
    if kind == "gpu":
        return (_rank_per_gpu(word, machine),)
    if kind == "core":
        return (
            _place(word, f"one rank for each of {plural(len(cores), 'core')}", tuple((core,) for core in cores)),
        )
    if kind == "l3" and not knows_shared_caches(machine.topology):
        raise AbsentPlacementError(word, "no cache is known that several cores share")
    groups = tuple(grouped(cores, kind).values())
    return (_place(word, f"one rank for each {GROUPS[kind][0]}: {_sizes(groups)}", groups),)


def _counts(word: Word, cores: tuple[Core, ...]) -> tuple[int, ...]:
    """The numbers of ranks in a counted layout, ascending."""
    most = len(cores) // word.width
    if not most:
        raise AbsentPlacementError(word.text, f"{plural(len(cores), 'core')} may be used", indexed=True)
    if word.ranks == ("*",):
        return tuple(sorted({*(2**power for power in range(most.bit_length())), most}))
    return tuple(sorted({most if number == EVERY else int(number) for number in word.ranks}))


def _ranks_of(count: int, each: int, machine: Machine) -> Place:
    """`count` ranks of `each` cores, each inside the smallest kind of domain that has room for all ranks."""
    word, cores = f"{count}x{each}", allowed_cores(machine.topology)
    if count * each > len(cores):
        why = f"it needs {plural(count * each, 'core')}; {plural(len(cores), 'core')} may be used"
        raise AbsentPlacementError(word, why, indexed=True)
    larger, smaller = inner_groups(cores)
    kinds = [kind for kind in (smaller, larger, "socket") if kind != "l3" or knows_shared_caches(machine.topology)]
    for kind in kinds:
        slots = tuple(slot for group in grouped(cores, kind).values() for slot in _slots(group, each))
        if len(slots) >= count:
            domain = f" of one {GROUPS[kind][0]}" if each > 1 and len(grouped(cores, kind)) > 1 else ""
            chosen = _far_apart(slots, count)
            return _place(word, _sizes(chosen, domain), chosen)
    ordered = filled(cores)
    chosen = tuple(ordered[at : at + each] for at in range(0, count * each, each))
    return _place(word, f"{_sizes(chosen)}, one group of cores filled after another", chosen)


def _slots(group: tuple[Core, ...], each: int) -> Iterator[tuple[Core, ...]]:
    """Disjoint sets of `each` cores of one kind."""
    for kind in dict.fromkeys(core.kind for core in group):
        equal = tuple(core for core in group if core.kind == kind)
        yield from (equal[at : at + each] for at in range(0, len(equal) - each + 1, each))


def _far_apart(slots: _Ranks, count: int) -> _Ranks:
    """`count` of the slots, spread evenly over the machine; on a hybrid processor performance cores come first."""
    by_index = {slot[0].index: slot for slot in slots}
    heads = tuple(sorted((slot[0] for slot in slots), key=lambda core: core.index))
    best = first_choice(heads).kind
    fast = tuple(core for core in heads if core.kind == best)
    slow = tuple(core for core in heads if core.kind != best)
    chosen = spread(fast, min(count, len(fast))) + spread(slow, max(0, count - len(fast)))
    return tuple(by_index[core.index] for core in chosen)


def _rank_per_gpu(word: str, machine: Machine) -> Place:
    gpus = [device for device in machine.devices if _computes(device)]
    if not gpus:
        raise AbsentPlacementError(word, "no GPU is known on this machine")
    cores = allowed_cores(machine.topology)
    of_node = grouped(cores, "numa")
    near: dict[int | None, list[Device]] = {}
    for gpu in gpus:
        node = gpu.facts["NUMA node"].value if "NUMA node" in gpu.facts else None
        near.setdefault(node if isinstance(node, int) and node in of_node else None, []).append(gpu)
    if None in near and len(near) > 1:
        raise AbsentPlacementError(word, f"it is not known which cores are nearest to {near[None][0].name}")
    ranks: dict[str, tuple[Core, ...]] = {}
    for node, sharing in near.items():
        around = cores if node is None else of_node[node]
        share = len(around) // len(sharing)
        if not share:
            raise AbsentPlacementError(word, f"{len(sharing)} GPUs share {plural(len(around), 'core')}")
        ranks |= {gpu.name: around[at * share : (at + 1) * share] for at, gpu in enumerate(sharing)}
    chosen = tuple(ranks[gpu.name] for gpu in gpus)
    return _place(word, f"one rank for each GPU: {_sizes(chosen)}", chosen, tuple((gpu.name,) for gpu in gpus))


def _computes(device: Device) -> bool:
    facts = {name: device.facts[name].value for name in ("class", "driver") if name in device.facts}
    return device.kind == "accelerator" and (
        facts.get("class") in _COMPUTING or facts.get("driver") in _GPU_DRIVERS
    )


def _place(word: str, meaning: str, ranks: _Ranks, devices: tuple[tuple[str, ...], ...] = ()) -> Place:
    cpus = tuple(tuple(core.cpus[0] for core in rank) for rank in ranks)
    return Place(word, meaning, tuple(cpu for rank in cpus for cpu in rank), cpus, devices)


def _sizes(ranks: _Ranks, domain: str = "") -> str:
    """`one rank on 8 cores`, `4 ranks, 8 cores of one NUMA node each`, `2 ranks, 6 to 8 cores each`."""
    sizes = [len(rank) for rank in ranks]
    least, most = min(sizes), max(sizes)
    cores = (plural(most, "core") if least == most else f"{least} to {most} cores") + domain
    return f"one rank on {cores}" if len(ranks) == 1 else f"{len(ranks)} ranks, {cores} each"
