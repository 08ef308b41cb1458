"""Layouts on one machine: the number of ranks, and the cores and devices of each rank."""

from collections.abc import Iterator

from assay.model.machine import Core, Machine, allowed_cores
from assay.model.placement import EVERY, Word, parsed
from assay.model.resource import GivenDevice
from assay.plan.cores import (
    GROUPS,
    filled,
    first_choice,
    grouped,
    inner_groups,
    knows_shared_caches,
    spread,
)
from assay.plan.devices import NAMES, cores_near, usable
from assay.plan.placement import AbsentPlacementError, Place, plural

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
    if kind in NAMES:
        return (_rank_per_device(word, kind, machine),)
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


def near_devices(word: str, machine: Machine) -> tuple[Place, ...]:
    """The places of a word for cores near a device, `all:gpu:0`, `one-core:device:*`: one for each device.

    Raises:
        AbsentPlacementError: the machine does not have such a device, or it may not be used.
    """
    asked = parsed(word)
    devices = usable(word, asked.group, machine)
    if asked.index is not None and asked.index >= len(devices):
        raise AbsentPlacementError(word, f"{plural(len(devices), NAMES[asked.group])} may be used", indexed=True)
    chosen = range(len(devices)) if asked.every else (asked.index or 0,)
    around = cores_near(word, devices, machine)
    found = []
    for index in chosen:
        device = devices[index]
        near = around[device]
        count = {"one-core": 1, "half": max(1, len(near) // 2)}.get(asked.share, len(near))
        cpus = tuple(core.cpus[0] for core in spread(near, count))
        meaning = f"{plural(count, 'core')} near {NAMES[asked.group]} {index} ({device.name})"
        found.append(Place(f"{asked.share}:{asked.group}:{index}", meaning, cpus, devices=((device,),)))
    return tuple(found)


def _rank_per_device(word: str, kind: str, machine: Machine) -> Place:
    near = cores_near(word, usable(word, kind, machine), machine)
    chosen = tuple(near.values())
    meaning = f"one rank for each {NAMES[kind]}: {_sizes(chosen)}"
    return _place(word, meaning, chosen, tuple((device,) for device in near))


def _place(word: str, meaning: str, ranks: _Ranks, devices: tuple[tuple[GivenDevice, ...], ...] = ()) -> Place:
    cpus = tuple(tuple(core.cpus[0] for core in rank) for rank in ranks)
    return Place(word, meaning, tuple(cpu for rank in cpus for cpu in rank), cpus, devices)


def _sizes(ranks: _Ranks, domain: str = "") -> str:
    """`one rank on 8 cores`, `4 ranks, 8 cores of one NUMA node each`, `2 ranks, 6 to 8 cores each`."""
    sizes = [len(rank) for rank in ranks]
    least, most = min(sizes), max(sizes)
    cores = (plural(most, "core") if least == most else f"{least} to {most} cores") + domain
    return f"one rank on {cores}" if len(ranks) == 1 else f"{len(ranks)} ranks, {cores} each"
