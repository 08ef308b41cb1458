"""Settings and states of a machine that move or spoil figures: facts -> checks, by a table of rules.

Adding a check is one `Rule`: which facts it reads, why they matter, a small function of `verdicts` that judges.
"""

from collections.abc import Callable
from dataclasses import dataclass

from assay.machine import verdicts
from assay.model.check import Check
from assay.model.facts import Fact
from assay.model.machine import Machine


@dataclass(frozen=True)
class Rule:
    """One check of the table.

    Attributes:
        name: what is looked at.
        reads: section and name of the facts; the check is `unknown` where the first is not known.
        why: what it means for measurements.
        judge: from the machine and the first fact's value.
        needed: remedy where measuring is impossible without the fact; then an unknown fact is a problem.
    """

    name: str
    reads: tuple[tuple[str, str], ...]
    why: str
    judge: Callable[[Machine, Fact], verdicts.Verdict]
    needed: str = ""


def examine(machine: Machine) -> tuple[Check, ...]:
    """Every check of a machine, in the order of the table.

    Beside what discovery finds, the rules read the sections `now` (see assay.machine.state), `tools` (`compiler`,
    `build tools`) and `folders` (free bytes and file system of where runs and builds go).
    """
    return tuple(_check(rule, machine) for rule in RULES)


def _check(rule: Rule, machine: Machine) -> Check:
    read = tuple(machine.fact(section, name) for section, name in rule.reads)
    if read[0].known:
        verdict = rule.judge(machine, read[0])
    elif rule.needed:
        verdict = verdicts.Verdict("problem", read[0].unavailable, rule.needed)
    else:
        verdict = verdicts.Verdict("unknown", read[0].unavailable)
    return Check(rule.name, verdict.state, verdict.found, rule.why, verdict.remedy, read)


#: The table: how fast cores run, what they may use, who else is there, how time is read, what Assay needs.
RULES: tuple[Rule, ...] = (
    Rule(
        "frequency governor",
        (("frequency", "governor"), ("frequency", "driver")),
        "other governors lower the clock of cores that rest, and raise it some time after work begins",
        verdicts.governor,
    ),
    Rule(
        "energy preference",
        (("frequency", "energy preference"),),
        "the processor saves power where it is told to, and runs slower under part load",
        verdicts.energy,
    ),
    Rule(
        "boost",
        (("frequency", "boost"), ("frequency", "driver")),
        "without boost the cores stay at their nominal clock, below what this processor can do",
        verdicts.boost,
    ),
    Rule(
        "idle states",
        (("frequency", "idle states"), ("frequency", "idle governor")),
        "a core that slept deeply begins late: it lengthens hand-overs and messages after a gap",
        verdicts.idle,
    ),
    Rule(
        "SMT",
        (("processor", "SMT"),),
        "two threads of a core share its units and its first caches",
        verdicts.smt,
    ),
    Rule(
        "transparent huge pages",
        (("memory", "transparent huge pages"),),
        "small pages cost address translation: latency and bandwidth of large arrays depend on them",
        verdicts.huge_pages,
    ),
    Rule(
        "NUMA balancing",
        (("memory", "NUMA balancing"),),
        "the kernel moves pages between nodes while they are measured, and stops threads to do so",
        verdicts.balancing,
    ),
    Rule(
        "zone reclaim",
        (("memory", "zone reclaim"),),
        "a full node throws its file cache away before it uses another node: first touch stalls",
        verdicts.reclaim,
    ),
    Rule(
        "memory modules",
        (("memory", "modules"), ("memory", "populated channels")),
        "an empty channel, or one with another module, takes its share of the memory's bandwidth away",
        verdicts.modules,
    ),
    Rule(
        "cpus that may be used",
        (("processor", "cpus that may be used"),),
        "`all` is all that this process was given; limits of the whole node cannot be reached",
        verdicts.cpus,
    ),
    Rule(
        "memory nodes that may be used",
        (("memory", "of the memory nodes"),),
        "memory of other nodes cannot be measured",
        verdicts.nodes,
    ),
    Rule(
        "cpu quota",
        (("now", "cpu quota"),),
        "the kernel stops all threads when their share of a period is used up: samples of two kinds",
        verdicts.quota,
    ),
    Rule(
        "memory that may be used",
        (("memory", "may be used now"), ("memory", "total")),
        "arrays must be larger than the caches, and leave the system its own",
        verdicts.memory,
    ),
    Rule(
        "swap in use",
        (("now", "swap in use"), ("memory", "swap")),
        "what was swapped out comes back while something else is measured",
        verdicts.swap,
    ),
    Rule(
        "used by others",
        (("now", "used by others"), ("now", "busiest processes")),
        "other processes take time of cores, caches and memory from what is measured",
        verdicts.others,
    ),
    Rule(
        "virtualisation",
        (("system", "virtualisation"), ("system", "product")),
        "the host moves virtual cores unseen: runs show states, near and far, and Assay tells them apart",
        verdicts.virtual,
    ),
    Rule(
        "taken by the hypervisor",
        (("now", "taken by the hypervisor"),),
        "time that the host gave to others (steal) is missing from what is measured",
        verdicts.steal,
    ),
    Rule(
        "clock source",
        (("system", "clock source"),),
        "a clock that the kernel must be asked for takes microseconds to read, and blurs short samples",
        verdicts.clock,
    ),
    Rule(
        "mitigations",
        (("mitigations", "spectre v2"), ("mitigations", "meltdown")),
        "they slow system calls and switches of context, hardly what memory and arithmetic do",
        verdicts.mitigations,
    ),
    Rule(
        "lockable memory",
        (("now", "lockable memory"),),
        "InfiniBand must lock the memory that it sends from",
        verdicts.lockable,
    ),
    Rule(
        "hwloc",
        (("system", "hwloc"),),
        "without it the topology comes from /sys alone, and no XML of the machine is kept",
        verdicts.present,
    ),
    Rule(
        "C++ compiler",
        (("tools", "compiler"),),
        "the programs that measure are built for the machine they measure",
        verdicts.present,
        needed="as root: apt install g++, or dnf install gcc-c++; or: module load gcc",
    ),
    Rule(
        "CMake, and ninja or make",
        (("tools", "build tools"),),
        "they build the programs that measure",
        verdicts.present,
        needed="pip install cmake ninja, or: module load cmake",
    ),
    Rule(
        "folder of runs",
        (("folders", "runs"), ("folders", "file system of runs")),
        "every launch is saved there as soon as it is through",
        verdicts.folder("ASSAY_RUNS", "runs"),
        needed="export ASSAY_RUNS=/a/folder/that/you/may/write",
    ),
    Rule(
        "folder of builds",
        (("folders", "builds"), ("folders", "file system of builds")),
        "programs are built there once",
        verdicts.folder("ASSAY_CACHE", "builds"),
        needed="export ASSAY_CACHE=/a/folder/that/you/may/write",
    ),
)
