"""Settings and states of a machine that change or spoil figures: facts -> checks, by a table of rules.

A new check is one `Rule`: the facts that it reads, why they matter, and a function of `verdicts` that judges.
"""

from collections.abc import Callable
from dataclasses import dataclass

from assay.machine import verdicts
from assay.model.facts import Check, Fact
from assay.model.machine import Machine


@dataclass(frozen=True)
class Rule:
    """One check of the table.

    Attributes:
        name: what is checked.
        reads: section and name of the facts; the check is `unknown` if the first one is unknown.
        why: what it means for measurements.
        judge: judges the first fact.
        needed: remedy if Assay needs the fact: then an unknown fact is a problem, because measuring is impossible.
        partly: whether it is only a warning then, because some studies can be measured.
    """

    name: str
    reads: tuple[tuple[str, str], ...]
    why: str
    judge: Callable[[Machine, Fact], verdicts.Verdict]
    needed: str = ""
    partly: bool = False


def examine(machine: Machine) -> tuple[Check, ...]:
    """Every check of a machine, in the order of the table.

    In addition to discovered facts, the rules read the sections `now` (see assay.machine.state), `tools`
    (`compiler`, `build tools`, `MPI`, `BLAS`) and `folders` (free bytes and file system of the folders of runs and
    builds).
    """
    return tuple(_check(rule, machine) for rule in RULES)


def _check(rule: Rule, machine: Machine) -> Check:
    read = tuple(machine.fact(section, name) for section, name in rule.reads)
    if read[0].known:
        verdict = rule.judge(machine, read[0])
    elif rule.needed:
        verdict = verdicts.Verdict("warning" if rule.partly else "problem", read[0].unavailable, rule.needed)
    else:
        verdict = verdicts.Verdict("unknown", read[0].unavailable)
    return Check(rule.name, verdict.state, verdict.found, rule.why, verdict.remedy, read)


#: The rules: speed of cores, limits, other users, clocks, and the requirements of Assay.
RULES: tuple[Rule, ...] = (
    Rule(
        "frequency governor",
        (("frequency", "governor"), ("frequency", "driver")),
        "other governors lower the clock of idle cores and raise it only some time after work starts",
        verdicts.governor,
    ),
    Rule(
        "energy preference",
        (("frequency", "energy preference"),),
        "with an energy-saving preference the processor runs slower under partial load",
        verdicts.energy,
    ),
    Rule(
        "boost",
        (("frequency", "boost"), ("frequency", "driver")),
        "without boost the cores stay at their nominal clock, below the maximum of this processor",
        verdicts.boost,
    ),
    Rule(
        "idle states",
        (("frequency", "idle states"), ("frequency", "idle governor")),
        "a core wakes late from a deep sleep state: cache-line transfers and messages after a pause take longer",
        verdicts.idle,
    ),
    Rule(
        "SMT",
        (("processor", "SMT"),),
        "two threads of a core share its execution units and its first caches",
        verdicts.smt,
    ),
    Rule(
        "transparent huge pages",
        (("memory", "transparent huge pages"),),
        "small pages cause TLB misses: latency and bandwidth of large arrays depend on the page size",
        verdicts.huge_pages,
    ),
    Rule(
        "NUMA balancing",
        (("memory", "NUMA balancing"),),
        "the kernel moves pages between nodes during a measurement and stops threads to do so",
        verdicts.balancing,
    ),
    Rule(
        "zone reclaim",
        (("memory", "zone reclaim"),),
        "a full node drops its file cache before it uses another node: first touch stalls",
        verdicts.reclaim,
    ),
    Rule(
        "memory modules",
        (("memory", "modules"), ("memory", "populated channels")),
        "an empty channel, or a channel with a different module, lowers the memory bandwidth",
        verdicts.modules,
    ),
    Rule(
        "cpus that may be used",
        (("processor", "cpus that may be used"),),
        "`all` means the cpus of this process; it cannot reach the limits of the whole node",
        verdicts.cpus,
    ),
    Rule(
        "memory nodes that may be used",
        (("memory", "of the memory nodes"),),
        "the memory of other nodes cannot be measured",
        verdicts.nodes,
    ),
    Rule(
        "cpu quota",
        (("now", "cpu quota"),),
        "the kernel stops all threads when their cpu quota of a period is used up: samples become bimodal",
        verdicts.quota,
    ),
    Rule(
        "memory that may be used",
        (("memory", "may be used now"), ("memory", "total")),
        "arrays must be larger than the caches, and the system needs its share",
        verdicts.memory,
    ),
    Rule(
        "swap in use",
        (("now", "swap in use"), ("memory", "swap")),
        "pages that were swapped out return during a measurement",
        verdicts.swap,
    ),
    Rule(
        "used by others",
        (("now", "used by others"), ("now", "busiest processes")),
        "other processes use cores, caches and memory during a measurement",
        verdicts.foreign_load,
    ),
    Rule(
        "virtualisation",
        (("system", "virtualisation"), ("system", "product")),
        "the host moves virtual cores unseen; Assay separates the resulting states (near, far) in a run",
        verdicts.virtual,
    ),
    Rule(
        "taken by the hypervisor",
        (("now", "taken by the hypervisor"),),
        "the host gives time to others (steal): measured times become longer",
        verdicts.steal,
    ),
    Rule(
        "clock source",
        (("system", "clock source"),),
        "a clock that needs a system call takes microseconds to read and adds noise to short samples",
        verdicts.clock,
    ),
    Rule(
        "mitigations",
        (("mitigations", "spectre v2"), ("mitigations", "meltdown")),
        "they slow down system calls and context switches, but hardly memory and arithmetic",
        verdicts.mitigations,
    ),
    Rule(
        "lockable memory",
        (("now", "lockable memory"),),
        "InfiniBand must lock its send buffers in memory",
        verdicts.lockable,
    ),
    Rule(
        "hwloc",
        (("system", "hwloc"),),
        "without it the topology comes from /sys only, and no XML of the machine is saved",
        verdicts.present,
    ),
    Rule(
        "C++ compiler",
        (("tools", "compiler"),),
        "the benchmark programs are built for the machine that they measure",
        verdicts.present,
        needed="as root: apt install g++, or dnf install gcc-c++; or: module load gcc",
    ),
    Rule(
        "CMake, and ninja or make",
        (("tools", "build tools"),),
        "they build the benchmark programs",
        verdicts.present,
        needed="pip install cmake ninja, or: module load cmake",
    ),
    Rule(
        "MPI",
        (("tools", "MPI"),),
        "without one, studies whose ranks pass messages cannot be measured",
        verdicts.present,
        needed="pip install 'assay[mpi]', or: module load openmpi; or as root: apt install libopenmpi-dev "
        "openmpi-bin, or dnf install openmpi-devel",
        partly=True,
    ),
    Rule(
        "BLAS",
        (("tools", "BLAS"),),
        "without one, products of matrices and dense systems of equations cannot be measured",
        verdicts.present,
        needed="pip install 'assay[blas]'",
        partly=True,
    ),
    Rule(
        "folder of runs",
        (("folders", "runs"), ("folders", "file system of runs")),
        "every launch is saved there as soon as it ends",
        verdicts.folder("ASSAY_RUNS", "runs"),
        needed="export ASSAY_RUNS=/a/folder/that/you/may/write",
    ),
    Rule(
        "folder of builds",
        (("folders", "builds"), ("folders", "file system of builds")),
        "the programs are built there once",
        verdicts.folder("ASSAY_CACHE", "builds"),
        needed="export ASSAY_CACHE=/a/folder/that/you/may/write",
    ),
)
