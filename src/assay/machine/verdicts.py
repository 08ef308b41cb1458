"""Judge single facts: what a setting or state means for measurements, and the command that changes it."""

from collections.abc import Callable
from typing import NamedTuple

from assay.model.facts import Fact, State
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
#: Clocks that programs read without a system call.
_FAST_CLOCKS = {
    "tsc", "arch_sys_counter", "timebase", "riscv_clocksource", "kvm-clock", "hyperv_clocksource_tsc_page",
}  # fmt: skip
_NETWORK_FILE_SYSTEMS = {"nfs", "nfs4", "lustre", "gpfs", "beegfs", "cifs", "ceph", "fuse.sshfs", "9p", "afs"}


class Verdict(NamedTuple):
    """The result of a rule."""

    state: State
    found: str
    remedy: str = ""


def governor(_machine: Machine, fact: Fact) -> Verdict:
    """All governors except `performance` change the clock with the load."""
    if fact.value == "performance":
        return Verdict("ok", "performance")
    return Verdict("warning", _strings(fact), "sudo cpupower frequency-set -g performance")


def energy(_machine: Machine, fact: Fact) -> Verdict:
    """The energy preference of the processor."""
    if fact.value in {"performance", "default"}:
        return Verdict("ok", str(fact.value))
    return Verdict("warning", _strings(fact), "sudo cpupower set --epp performance")


def boost(machine: Machine, fact: Fact) -> Verdict:
    """Whether cores may run above the nominal clock."""
    if fact.value:
        return Verdict("ok", "on: the clock depends on the number of active cores and their temperature")
    intel = "pstate" in str(machine.fact("frequency", "driver").value)
    command = (
        "echo 0 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo"
        if intel
        else "echo 1 | sudo tee /sys/devices/system/cpu/cpufreq/boost"
    )
    return Verdict("warning", "off", command)


def idle(machine: Machine, fact: Fact) -> Verdict:
    """Idle states with a long wake-up time."""
    times = machine.fact("frequency", "wake-up times, µs").listed
    disabled = machine.fact("frequency", "disabled idle states").listed
    known = zip(fact.listed, times, strict=False)
    deep = [f"{name} ({time} µs)" for name, time in known if int(time) > _DEEP_SLEEP_US and name not in disabled]
    if deep:
        return Verdict(
            "warning", f"cores may sleep in {', '.join(deep)}", f"sudo cpupower idle-set -D {_DEEP_SLEEP_US}"
        )
    return Verdict("ok", "no state has a long wake-up time")


def huge_pages(_machine: Machine, fact: Fact) -> Verdict:
    """`never` refuses huge pages even to programs that request them."""
    if fact.value == "never":
        command = "echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled"
        return Verdict("warning", "never: measurements with huge pages fail", command)
    return Verdict("ok", str(fact.value))


def balancing(machine: Machine, fact: Fact) -> Verdict:
    """It matters only with several memory nodes."""
    if fact.value and _memory_nodes(machine) > 1:
        return Verdict("warning", "on", "sudo sysctl kernel.numa_balancing=0")
    return Verdict("ok", "on, with one memory node" if fact.value else "off")


def reclaim(machine: Machine, fact: Fact) -> Verdict:
    """It matters only with several memory nodes."""
    if fact.value and _memory_nodes(machine) > 1:
        return Verdict("warning", "on", "sudo sysctl vm.zone_reclaim_mode=0")
    return Verdict("ok", "on, with one memory node" if fact.value else "off")


def modules(machine: Machine, fact: Fact) -> Verdict:
    """Modules should be equal, with equal numbers of channels per socket; the possible number is unknown."""
    kinds = fact.value if isinstance(fact.value, tuple | list) else (fact.value,)
    channels, sockets = machine.fact("memory", "populated channels"), max(1, len(machine.topology.packages))
    filled = f"; {_number(channels):.0f} channels filled" if channels.known else ""
    remedy = "put the same modules into every channel; the manual of the board shows the slots"
    if len(kinds) > 1:
        return Verdict("warning", f"they differ: {_strings(fact)}{filled}", remedy)
    if channels.known and _number(channels) % sockets:
        return Verdict(
            "warning", f"{_strings(fact)}{filled}, a different number at each of {sockets} sockets", remedy
        )
    return Verdict("ok", f"{_strings(fact)}{filled}")


def smt(_machine: Machine, fact: Fact) -> Verdict:
    """For information, never a warning."""
    text = (
        "on: placements run one thread a core unless they say all-threads"
        if fact.value == "on"
        else str(fact.value)
    )
    return Verdict("ok", text)


def cpus(machine: Machine, fact: Fact) -> Verdict:
    """Whether the whole machine may be used."""
    existing = {cpu for core in machine.topology.cores for cpu in core.cpus}
    allowed = existing & set(machine.topology.allowed_cpus)
    if not allowed:
        return Verdict("problem", "none is usable", "ask the scheduler for cpus, or widen the cpuset")
    if len(allowed) == len(existing):
        return Verdict("ok", f"all {fact.value}")
    found = f"{len(allowed)} of {len(existing)} ({format_cpu_list(tuple(allowed))})"
    return Verdict("warning", found, "taskset -cp $$ shows the mask; a job, container or cgroup sets it")


def nodes(machine: Machine, _fact: Fact) -> Verdict:
    """Whether the whole machine may be used."""
    holding = [node.index for node in machine.topology.numa_nodes if node.memory_bytes]
    allowed = [node for node in holding if node in machine.topology.allowed_nodes]
    if len(allowed) == len(holding):
        return Verdict("ok", f"all {len(holding)}")
    found = f"{len(allowed)} of {len(holding)} ({format_cpu_list(tuple(allowed))})"
    return Verdict("warning", found, "numactl --show shows the mask; a job, container or cgroup sets it")


def quota(machine: Machine, fact: Fact) -> Verdict:
    """A quota of cpu time below the number of cpus is a warning."""
    allowed = len(machine.topology.allowed_cpus)
    if _number(fact) == 0 or _number(fact) >= allowed:
        return Verdict(
            "ok", "none" if _number(fact) == 0 else f"{_number(fact):g} cpus, at least as many as are usable"
        )
    found = f"{_number(fact):.3g} cpu{'s' * (_number(fact) != 1)} of quota for {count_of(allowed, 'cpu')}"
    return Verdict("warning", found, "give the container or job a quota for all its cpus")


def memory(machine: Machine, fact: Fact) -> Verdict:
    """There must be room for arrays beyond the caches."""
    there = _number(fact)
    usable = set(machine.topology.allowed_cpus)
    last = max((cache.level for cache in machine.topology.caches), default=0)
    caches = [c.size_bytes for c in machine.topology.caches if c.level == last and usable & set(c.cpus)]
    wanted = _CACHES * sum(caches) / _MEMORY_SHARE
    if there < _LEAST_MEMORY:
        return Verdict(
            "problem",
            format_size(there),
            "end the processes that use it (ps aux --sort -rss), or raise the limit of the cgroup",
        )
    if there < wanted:
        found = f"{format_size(there)}; arrays larger than all caches need {format_size(wanted)}"
        return Verdict(
            "warning",
            found,
            "end the processes that use it (ps aux --sort -rss), or raise the limit of the cgroup",
        )
    return Verdict("ok", format_size(there))


def swap(_machine: Machine, fact: Fact) -> Verdict:
    """Memory that is swapped out, and will return."""
    if _number(fact) > _SWAPPED:
        return Verdict("warning", format_size(_number(fact)), "sudo swapoff -a, if there is enough memory")
    return Verdict("ok", "none" if not _number(fact) else format_size(_number(fact)))


def foreign_load(machine: Machine, fact: Fact) -> Verdict:
    """Cpu time that other processes use now."""
    share = f"{100 * _number(fact):.0f} % of all cpus' time"
    if _number(fact) <= _FOREIGN_SHARE:
        return Verdict("ok", share)
    busiest = machine.fact("now", "busiest processes")
    named = f": {_strings(busiest)}" if busiest.known and busiest.value != "none" else ""
    return Verdict("warning", f"{share}{named}", "end it or wait; Assay repeats disturbed launches")


def virtual(_machine: Machine, fact: Fact) -> Verdict:
    """Whether there is a hypervisor that moves virtual cores."""
    if fact.value == "none":
        return Verdict("ok", "none")
    return Verdict("warning", str(fact.value), "a guest cannot change this; measure on bare metal if you can")


def steal(_machine: Machine, fact: Fact) -> Verdict:
    """Cpu time that the host gives to others now."""
    share = f"{100 * _number(fact):.1f} % of all cpus' time"
    if _number(fact) > _STEAL_SHARE:
        return Verdict("warning", share, "ask for a dedicated host or for dedicated cores")
    return Verdict("ok", share)


def clock(_machine: Machine, fact: Fact) -> Verdict:
    """Whether the clock is read without a system call."""
    if fact.value in _FAST_CLOCKS:
        return Verdict("ok", str(fact.value))
    command = "cat /sys/devices/system/clocksource/clocksource0/available_clocksource; boot with tsc=reliable"
    return Verdict("warning", str(fact.value), command)


def mitigations(machine: Machine, _fact: Fact) -> Verdict:
    """For information, never a warning."""
    active = sum("Mitigation" in str(fact.value) for fact in machine.facts.get("mitigations", {}).values())
    return Verdict("ok", f"{active} active" if active else "none active")


def lockable(machine: Machine, fact: Fact) -> Verdict:
    """It matters only with InfiniBand."""
    limit = "unlimited" if fact.value == "unlimited" else format_size(_number(fact))
    if limit != "unlimited" and _number(fact) < _LOCKABLE and any(d.kind == "infiniband" for d in machine.devices):
        return Verdict("warning", limit, "ulimit -l unlimited, by /etc/security/limits.conf")
    return Verdict("ok", limit)


def present(_machine: Machine, fact: Fact) -> Verdict:
    """It is installed."""
    return Verdict("ok", _strings(fact))


def folder(variable: str, section_name: str) -> Callable[[Machine, Fact], Verdict]:
    """The rule for a folder: free space, and the kind of file system."""

    def judge(machine: Machine, fact: Fact) -> Verdict:
        kind = machine.fact("folders", f"file system of {section_name}")
        found = f"{format_size(_number(fact))} free on {kind.value or 'an unknown file system'}"
        if kind.value in _NETWORK_FILE_SYSTEMS:
            found += ", over the network"
        if _number(fact) < _ENOUGH_DISK:
            state: State = "problem" if _number(fact) < _LEAST_DISK else "warning"
            return Verdict(state, found, f"export {variable}=/a/folder/with/space")
        return Verdict("ok", found)

    return judge


def _strings(fact: Fact) -> str:
    return ", ".join(map(str, fact.value)) if isinstance(fact.value, tuple | list) else str(fact.value)


def _number(fact: Fact) -> float:
    return float(fact.value) if isinstance(fact.value, int | float) else 0.0


def _memory_nodes(machine: Machine) -> int:
    return sum(node.memory_bytes > 0 for node in machine.topology.numa_nodes)
