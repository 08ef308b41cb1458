"""Rules on settings and states of a machine that change or spoil figures, in the order of the page.

A new check is one entry: what it reads, why it matters, and the function that judges it.
"""

from collections.abc import Collection

from assay.machine.rules import RULES, Judge, examine, rule
from assay.model.facts import Fact, State, Verdict
from assay.model.machine import Machine
from assay.model.units import count_of, format_cpu_list, format_size

__all__ = ["RULES", "examine"]

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


def _should_be(good: Collection[str], remedy: str) -> Judge:
    """The rule for a setting with good values; any other one is a warning."""

    def judge(_machine: Machine, fact: Fact) -> Verdict:
        found = _strings(fact)
        return Verdict("ok", found) if found in good else Verdict("warning", found, remedy)

    return judge


def _off_with_nodes(remedy: str) -> Judge:
    """The rule for what disturbs a machine with several memory nodes while it is on."""

    def judge(machine: Machine, fact: Fact) -> Verdict:
        if fact.value and sum(node.memory_bytes > 0 for node in machine.topology.numa_nodes) > 1:
            return Verdict("warning", "on", remedy)
        return Verdict("ok", "on, with one memory node" if fact.value else "off")

    return judge


rule(
    "frequency governor",
    ("frequency", "governor"),
    ("frequency", "driver"),
    why="other governors lower the clock of idle cores and raise it only some time after work starts",
)(_should_be({"performance"}, "sudo cpupower frequency-set -g performance"))
rule(
    "energy preference",
    ("frequency", "energy preference"),
    why="with an energy-saving preference the processor runs slower under partial load",
)(_should_be({"performance", "default"}, "sudo cpupower set --epp performance"))


@rule(
    "boost",
    ("frequency", "boost"),
    ("frequency", "driver"),
    why="without boost the cores stay at their nominal clock, below the maximum of this processor",
)
def _boost(machine: Machine, fact: Fact) -> Verdict:
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


@rule(
    "idle states",
    ("frequency", "idle states"),
    ("frequency", "idle governor"),
    why="a core wakes late from a deep sleep state: cache-line transfers and messages after a pause take longer",
)
def _idle(machine: Machine, fact: Fact) -> Verdict:
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


@rule("SMT", ("processor", "SMT"), why="two threads of a core share its execution units and its first caches")
def _smt(_machine: Machine, fact: Fact) -> Verdict:
    """For information, never a warning."""
    text = (
        "on: placements run one thread a core unless they say all-threads"
        if fact.value == "on"
        else str(fact.value)
    )
    return Verdict("ok", text)


@rule(
    "transparent huge pages",
    ("memory", "transparent huge pages"),
    why="small pages cause TLB misses: latency and bandwidth of large arrays depend on the page size",
)
def _huge_pages(_machine: Machine, fact: Fact) -> Verdict:
    """`never` refuses huge pages even to programs that request them."""
    if fact.value == "never":
        command = "echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled"
        return Verdict("warning", "never: measurements with huge pages fail", command)
    return Verdict("ok", str(fact.value))


rule(
    "NUMA balancing",
    ("memory", "NUMA balancing"),
    why="the kernel moves pages between nodes during a measurement and stops threads to do so",
)(_off_with_nodes("sudo sysctl kernel.numa_balancing=0"))
rule(
    "zone reclaim",
    ("memory", "zone reclaim"),
    why="a full node drops its file cache before it uses another node: first touch stalls",
)(_off_with_nodes("sudo sysctl vm.zone_reclaim_mode=0"))


@rule(
    "memory modules",
    ("memory", "modules"),
    ("memory", "populated channels"),
    why="an empty channel, or a channel with a different module, lowers the memory bandwidth",
)
def _modules(machine: Machine, fact: Fact) -> Verdict:
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


@rule(
    "cpus that may be used",
    ("processor", "cpus that may be used"),
    why="`all` means the cpus of this process; it cannot reach the limits of the whole node",
)
def _cpus(machine: Machine, fact: Fact) -> Verdict:
    """Whether the whole machine may be used."""
    existing = {cpu for core in machine.topology.cores for cpu in core.cpus}
    allowed = existing & set(machine.topology.allowed_cpus)
    if not allowed:
        return Verdict("problem", "none is usable", "ask the scheduler for cpus, or widen the cpuset")
    if len(allowed) == len(existing):
        return Verdict("ok", f"all {fact.value}")
    found = f"{len(allowed)} of {len(existing)} ({format_cpu_list(tuple(allowed))})"
    return Verdict("warning", found, "taskset -cp $$ shows the mask; a job, container or cgroup sets it")


@rule(
    "memory nodes that may be used",
    ("memory", "of the memory nodes"),
    why="the memory of other nodes cannot be measured",
)
def _nodes(machine: Machine, _fact: Fact) -> Verdict:
    """Whether the whole machine may be used."""
    holding = [node.index for node in machine.topology.numa_nodes if node.memory_bytes]
    allowed = [node for node in holding if node in machine.topology.allowed_nodes]
    if len(allowed) == len(holding):
        return Verdict("ok", f"all {len(holding)}")
    found = f"{len(allowed)} of {len(holding)} ({format_cpu_list(tuple(allowed))})"
    return Verdict("warning", found, "numactl --show shows the mask; a job, container or cgroup sets it")


@rule(
    "cpu quota",
    ("now", "cpu quota"),
    why="the kernel stops all threads when their cpu quota of a period is used up: samples become bimodal",
)
def _quota(machine: Machine, fact: Fact) -> Verdict:
    """A quota of cpu time below the number of cpus is a warning."""
    allowed = len(machine.topology.allowed_cpus)
    if _number(fact) == 0 or _number(fact) >= allowed:
        return Verdict(
            "ok", "none" if _number(fact) == 0 else f"{_number(fact):g} cpus, at least as many as are usable"
        )
    found = f"{_number(fact):.3g} cpu{'s' * (_number(fact) != 1)} of quota for {count_of(allowed, 'cpu')}"
    return Verdict("warning", found, "give the container or job a quota for all its cpus")


@rule(
    "memory that may be used",
    ("memory", "may be used now"),
    ("memory", "total"),
    why="arrays must be larger than the caches, and the system needs its share",
)
def _memory(machine: Machine, fact: Fact) -> Verdict:
    """There must be room for arrays beyond the caches."""
    there = _number(fact)
    usable = set(machine.topology.allowed_cpus)
    last = max((cache.level for cache in machine.topology.caches), default=0)
    caches = [c.size_bytes for c in machine.topology.caches if c.level == last and usable & set(c.cpus)]
    wanted = _CACHES * sum(caches) / _MEMORY_SHARE
    remedy = "end the processes that use it (ps aux --sort -rss), or raise the limit of the cgroup"
    if there < _LEAST_MEMORY:
        return Verdict("problem", format_size(there), remedy)
    if there < wanted:
        found = f"{format_size(there)}; arrays larger than all caches need {format_size(wanted)}"
        return Verdict("warning", found, remedy)
    return Verdict("ok", format_size(there))


@rule(
    "swap in use",
    ("now", "swap in use"),
    ("memory", "swap"),
    why="pages that were swapped out return during a measurement",
)
def _swap(_machine: Machine, fact: Fact) -> Verdict:
    """Memory that is swapped out, and will return."""
    if _number(fact) > _SWAPPED:
        return Verdict("warning", format_size(_number(fact)), "sudo swapoff -a, if there is enough memory")
    return Verdict("ok", "none" if not _number(fact) else format_size(_number(fact)))


@rule(
    "used by others",
    ("now", "used by others"),
    ("now", "busiest processes"),
    why="other processes use cores, caches and memory during a measurement",
)
def _foreign_load(machine: Machine, fact: Fact) -> Verdict:
    """Cpu time that other processes use now."""
    share = f"{100 * _number(fact):.0f} % of all cpus' time"
    if _number(fact) <= _FOREIGN_SHARE:
        return Verdict("ok", share)
    busiest = machine.fact("now", "busiest processes")
    named = f": {_strings(busiest)}" if busiest.known and busiest.value != "none" else ""
    return Verdict("warning", f"{share}{named}", "end it or wait; Assay repeats disturbed launches")


rule(
    "virtualisation",
    ("system", "virtualisation"),
    ("system", "product"),
    why="the host moves virtual cores unseen; Assay separates the resulting states (near, far) in a run",
)(_should_be({"none"}, "a guest cannot change this; measure on bare metal if you can"))


@rule(
    "taken by the hypervisor",
    ("now", "taken by the hypervisor"),
    why="the host gives time to others (steal): measured times become longer",
)
def _steal(_machine: Machine, fact: Fact) -> Verdict:
    """Cpu time that the host gives to others now."""
    share = f"{100 * _number(fact):.1f} % of all cpus' time"
    if _number(fact) > _STEAL_SHARE:
        return Verdict("warning", share, "ask for a dedicated host or for dedicated cores")
    return Verdict("ok", share)


rule(
    "clock source",
    ("system", "clock source"),
    why="a clock that needs a system call takes microseconds to read and adds noise to short samples",
)(
    _should_be(
        _FAST_CLOCKS,
        "cat /sys/devices/system/clocksource/clocksource0/available_clocksource; boot with tsc=reliable",
    )
)


@rule(
    "mitigations",
    ("mitigations", "spectre v2"),
    ("mitigations", "meltdown"),
    why="they slow down system calls and context switches, but hardly memory and arithmetic",
)
def _mitigations(machine: Machine, _fact: Fact) -> Verdict:
    """For information, never a warning."""
    active = sum("Mitigation" in str(fact.value) for fact in machine.facts.get("mitigations", {}).values())
    return Verdict("ok", f"{active} active" if active else "none active")


@rule("lockable memory", ("now", "lockable memory"), why="InfiniBand must lock its send buffers in memory")
def _lockable(machine: Machine, fact: Fact) -> Verdict:
    """It matters only with InfiniBand."""
    limit = "unlimited" if fact.value == "unlimited" else format_size(_number(fact))
    if limit != "unlimited" and _number(fact) < _LOCKABLE and any(d.kind == "infiniband" for d in machine.devices):
        return Verdict("warning", limit, "ulimit -l unlimited, by /etc/security/limits.conf")
    return Verdict("ok", limit)


def _present(_machine: Machine, fact: Fact) -> Verdict:
    """It is installed."""
    return Verdict("ok", _strings(fact))


def _folder(variable: str, section_name: str) -> Judge:
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


rule(
    "hwloc",
    ("system", "hwloc"),
    why="without it the topology comes from /sys only, and no XML of the machine is saved",
)(_present)
rule(
    "C++ compiler",
    ("tools", "compiler"),
    why="the benchmark programs are built for the machine that they measure",
    needed="as root: apt install g++, or dnf install gcc-c++; or: module load gcc",
)(_present)
rule(
    "CMake, and ninja or make",
    ("tools", "build tools"),
    why="they build the benchmark programs",
    needed="pip install cmake ninja, or: module load cmake",
)(_present)
rule(
    "MPI",
    ("tools", "MPI"),
    why="without one, studies whose ranks pass messages cannot be measured",
    needed="pip install 'assay[mpi]', or: module load openmpi; or as root: apt install libopenmpi-dev "
    "openmpi-bin, or dnf install openmpi-devel",
    partly=True,
)(_present)
rule(
    "BLAS",
    ("tools", "BLAS"),
    why="without one, products of matrices and dense systems of equations cannot be measured",
    needed="pip install 'assay[blas]'",
    partly=True,
)(_present)
rule(
    "folder of runs",
    ("folders", "runs"),
    ("folders", "file system of runs"),
    why="every launch is saved there as soon as it ends",
    needed="export ASSAY_RUNS=/a/folder/that/you/may/write",
)(_folder("ASSAY_RUNS", "runs"))
rule(
    "folder of builds",
    ("folders", "builds"),
    ("folders", "file system of builds"),
    why="the programs are built there once",
    needed="export ASSAY_CACHE=/a/folder/that/you/may/write",
)(_folder("ASSAY_CACHE", "builds"))
