"""Checks of settings and states of a machine that change or spoil figures.

A check that asks for more than a good value of its first fact has a function here.
"""

from collections.abc import Callable, Mapping

from assay.machine.rules import MACHINE, Rule
from assay.model.facts import Check, Fact, State, Verdict
from assay.model.machine import Machine
from assay.model.units import count_of, format_cpu_list, format_size

#: Above these shares of all cpus' time a launch counts as disturbed, and is repeated.
_FOREIGN_SHARE = 0.08
_STEAL_SHARE = 0.01
#: Wake-up time of an idle state from which a core starts noticeably late.
_DEEP_SLEEP_US = 50
_LEAST_MEMORY = 256 * 2**20
#: STREAM's rule for three arrays, and the share of the memory that its arrays may take.
_CACHES = 12
_MEMORY_SHARE = 0.6
_SWAPPED = 64 * 2**20
_LEAST_DISK, _ENOUGH_DISK = 2**26, 2**30
_LOCKABLE = 2**26
_NETWORK_FILE_SYSTEMS = {"nfs", "nfs4", "lustre", "gpfs", "beegfs", "cifs", "ceph", "fuse.sshfs", "9p", "afs"}


def examine(machine: Machine) -> tuple[Check, ...]:
    """Every check of a machine, in the order of the table.

    In addition to discovered facts, the rules read the sections `now` (see assay.machine.state), `tools`
    (`compiler`, `build tools`, `MPI`, `BLAS`) and `folders` (free bytes and file system of the folders of runs and
    builds).
    """
    return tuple(_check(each, machine) for each in MACHINE)


def _check(rule: Rule, machine: Machine) -> Check:
    read = tuple(machine.fact(section, name) for section, name in rule.reads)
    if not read[0].known and rule.needed:
        verdict = Verdict("warning" if rule.partly else "problem", read[0].unavailable, rule.needed)
    elif not read[0].known:
        verdict = Verdict("unknown", read[0].unavailable)
    elif judge := _JUDGES.get(rule.name):
        verdict = judge(machine, *read)
    else:
        found = _strings(read[0])
        verdict = Verdict("ok" if found in (rule.good or (found,)) else "warning", found)
    return rule.check(verdict, read)


def _off_with_nodes(machine: Machine, fact: Fact) -> Verdict:
    """What disturbs a machine with several memory nodes while it is on."""
    if fact.value and sum(node.memory_bytes > 0 for node in machine.topology.numa_nodes) > 1:
        return Verdict("warning", "on")
    return Verdict("ok", "on, with one memory node" if fact.value else "off")


def _boost(_machine: Machine, fact: Fact, driver: Fact) -> Verdict:
    """Whether cores may run above the nominal clock."""
    if fact.value:
        return Verdict("ok", "on: the clock depends on the number of active cores and their temperature")
    of_intel = "echo 0 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo"
    return Verdict("warning", "off", of_intel if "pstate" in str(driver.value) else "")


def _idle(machine: Machine, fact: Fact, _governor: Fact) -> Verdict:
    """Idle states with a long wake-up time."""
    times = machine.fact("frequency", "wake-up times, µs").listed
    disabled = machine.fact("frequency", "disabled idle states").listed
    known = zip(fact.listed, times, strict=False)
    deep = [f"{name} ({time} µs)" for name, time in known if int(time) > _DEEP_SLEEP_US and name not in disabled]
    if deep:
        return Verdict("warning", f"cores may sleep in {', '.join(deep)}")
    return Verdict("ok", "no state has a long wake-up time")


def _smt(_machine: Machine, fact: Fact) -> Verdict:
    """For information, never a warning."""
    on = "on: placements run one thread a core unless they say all-threads"
    return Verdict("ok", on if fact.value == "on" else str(fact.value))


def _huge_pages(_machine: Machine, fact: Fact) -> Verdict:
    """`never` refuses huge pages even to programs that request them."""
    if fact.value == "never":
        return Verdict("warning", "never: measurements with huge pages fail")
    return Verdict("ok", str(fact.value))


def _modules(machine: Machine, fact: Fact, channels: Fact) -> Verdict:
    """Modules should be equal, with equal numbers of channels per socket; the possible number is unknown."""
    sockets = max(1, len(machine.topology.packages))
    found = f"{_strings(fact)}{f'; {_number(channels):.0f} channels filled' if channels.known else ''}"
    if len(fact.listed) > 1:
        return Verdict("warning", f"they differ: {found}")
    if channels.known and _number(channels) % sockets:
        return Verdict("warning", f"{found}, a different number at each of {sockets} sockets")
    return Verdict("ok", found)


def _cpus(machine: Machine, fact: Fact) -> Verdict:
    """Whether the whole machine may be used."""
    existing = {cpu for core in machine.topology.cores for cpu in core.cpus}
    allowed = existing & set(machine.topology.allowed_cpus)
    if not allowed:
        return Verdict("problem", "none is usable", "ask the scheduler for cpus, or widen the cpuset")
    if len(allowed) == len(existing):
        return Verdict("ok", f"all {fact.value}")
    return Verdict("warning", f"{len(allowed)} of {len(existing)} ({format_cpu_list(tuple(allowed))})")


def _nodes(machine: Machine, _fact: Fact) -> Verdict:
    """Whether the whole machine may be used."""
    holding = [node.index for node in machine.topology.numa_nodes if node.memory_bytes]
    allowed = [node for node in holding if node in machine.topology.allowed_nodes]
    if len(allowed) == len(holding):
        return Verdict("ok", f"all {len(holding)}")
    return Verdict("warning", f"{len(allowed)} of {len(holding)} ({format_cpu_list(tuple(allowed))})")


def _quota(machine: Machine, fact: Fact) -> Verdict:
    """A quota of cpu time below the number of cpus is a warning."""
    allowed, quota = len(machine.topology.allowed_cpus), _number(fact)
    if quota == 0 or quota >= allowed:
        return Verdict("ok", f"{quota:g} cpus, at least as many as are usable" if quota else "none")
    return Verdict("warning", f"{quota:.3g} cpu{'s' * (quota != 1)} of quota for {count_of(allowed, 'cpu')}")


def _memory(machine: Machine, fact: Fact, _total: Fact) -> Verdict:
    """There must be room for arrays beyond the caches."""
    there, topology = _number(fact), machine.topology
    wanted = _CACHES * topology.last_level_bytes(topology.allowed_cpus) / _MEMORY_SHARE
    if there < _LEAST_MEMORY:
        return Verdict("problem", format_size(there))
    if there < wanted:
        return Verdict(
            "warning", f"{format_size(there)}; arrays larger than all caches need {format_size(wanted)}"
        )
    return Verdict("ok", format_size(there))


def _swap(_machine: Machine, fact: Fact, _whole: Fact) -> Verdict:
    """Memory that is swapped out, and will return."""
    state: State = "warning" if _number(fact) > _SWAPPED else "ok"
    return Verdict(state, format_size(_number(fact)) if _number(fact) else "none")


def _foreign_load(_machine: Machine, fact: Fact, busiest: Fact) -> Verdict:
    """Cpu time that other processes use now."""
    share = f"{100 * _number(fact):.0f} % of all cpus' time"
    if _number(fact) <= _FOREIGN_SHARE:
        return Verdict("ok", share)
    named = f": {_strings(busiest)}" if busiest.known and busiest.value != "none" else ""
    return Verdict("warning", f"{share}{named}")


def _steal(_machine: Machine, fact: Fact) -> Verdict:
    """Cpu time that the host gives to others now."""
    state: State = "warning" if _number(fact) > _STEAL_SHARE else "ok"
    return Verdict(state, f"{100 * _number(fact):.1f} % of all cpus' time")


def _mitigations(machine: Machine, *_facts: Fact) -> Verdict:
    """For information, never a warning."""
    active = sum("Mitigation" in str(fact.value) for fact in machine.facts.get("mitigations", {}).values())
    return Verdict("ok", f"{active} active" if active else "none active")


def _lockable(machine: Machine, fact: Fact) -> Verdict:
    """It matters only with InfiniBand."""
    limit = "unlimited" if fact.value == "unlimited" else format_size(_number(fact))
    low = limit != "unlimited" and _number(fact) < _LOCKABLE
    return Verdict("warning" if low and any(d.kind == "infiniband" for d in machine.devices) else "ok", limit)


def _folder(_machine: Machine, fact: Fact, kind: Fact) -> Verdict:
    """Free space, and the kind of file system."""
    found = f"{format_size(_number(fact))} free on {kind.value or 'an unknown file system'}"
    if kind.value in _NETWORK_FILE_SYSTEMS:
        found += ", over the network"
    if _number(fact) < _ENOUGH_DISK:
        return Verdict("problem" if _number(fact) < _LEAST_DISK else "warning", found)
    return Verdict("ok", found)


#: Name of a check -> its function, which gets the machine and the facts that the check reads.
_JUDGES: Mapping[str, Callable[..., Verdict]] = {
    "boost": _boost, "idle states": _idle, "SMT": _smt, "transparent huge pages": _huge_pages,
    **dict.fromkeys(("NUMA balancing", "zone reclaim"), _off_with_nodes), "memory modules": _modules,
    "cpus that may be used": _cpus, "memory nodes that may be used": _nodes, "cpu quota": _quota,
    "memory that may be used": _memory, "swap in use": _swap, "used by others": _foreign_load,
    "taken by the hypervisor": _steal, "mitigations": _mitigations, "lockable memory": _lockable,
    **dict.fromkeys(("folder of runs", "folder of builds"), _folder),
}  # fmt: skip


def _strings(fact: Fact) -> str:
    return ", ".join(map(str, fact.value)) if isinstance(fact.value, tuple | list) else str(fact.value)


def _number(fact: Fact) -> float:
    return float(fact.value) if isinstance(fact.value, int | float) else 0.0
