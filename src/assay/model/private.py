"""Private parts of a run: what identifies a site, a machine or a user, declared by the types of its records.

A field is private by its type: `host: Host`. An entry of a dictionary (a fact, an environment variable) is private
by its name in `NAMED`.
"""

import re
from collections.abc import Mapping
from typing import Annotated, Literal

import msgspec

from assay.model.facts import Fact

Kind = Literal["", "host", "domain", "user", "login", "path", "address", "hardware", "identifier", "job", "other"]

#: Key of the kind in the metadata of a type.
PRIVATE = "private"

Host = Annotated[str, msgspec.Meta(extra={PRIVATE: "host"})]
Identifier = Annotated[str, msgspec.Meta(extra={PRIVATE: "identifier"})]
FilePath = Annotated[str, msgspec.Meta(extra={PRIVATE: "path"})]

#: Name of a fact, an environment variable or an hwloc info -> what it reveals.
NAMED: dict[str, Kind] = {
    "host name": "host",
    "HostName": "host",
    "boot id": "identifier",
    "cgroup": "path",
    "LinuxCgroup": "path",
    "busiest processes": "other",
    **dict.fromkeys(("DMIProductUUID", "DMIProductSerial", "DMIBoardSerial", "DMIChassisSerial"), "identifier"),
    **dict.fromkeys(("DMIBoardAssetTag", "DMIChassisAssetTag", "SerialNumber"), "identifier"),
    **dict.fromkeys(("SLURM_JOB_ID", "SLURM_JOBID", "SLURM_JOB_NAME", "ASSAY_JOB"), "job"),
    "SLURM_JOB_USER": "user",
    **dict.fromkeys(("SLURM_JOB_UID", "SLURM_JOB_GID", "SLURM_JOB_GROUP", "SLURM_JOB_ACCOUNT"), "other"),
    **dict.fromkeys(("SLURM_JOB_PARTITION", "SLURM_JOB_QOS", "SLURM_JOB_RESERVATION"), "other"),
}


#: Names of the two facts in the section `system`.
COMMAND_LINE = "kernel command line"
LEFT_OUT = "kernel options left out"
_NONE = "none"
#: Recorded options, with `_` for `-` as the kernel reads them. A `*` at the end matches any rest of the name.
_NAMES = (
    "mitigations*", "isolcpus", "nohz_full", "rcu_nocbs", "hugepages*", "default_hugepagesz",
    "transparent_hugepage", "intel_pstate", "amd_pstate", "intel_idle.*", "processor.max_cstate", "idle",
    "nosmt", "nowatchdog", "clocksource", "tsc", "numa_balancing", "maxcpus", "nr_cpus", "mem", "iommu",
    "intel_iommu", "amd_iommu", "pcie_aspm", "audit", "preempt", "skew_tick", "irqaffinity", "cgroup*",
)  # fmt: skip
_EXACT = frozenset(name for name in _NAMES if not name.endswith("*"))
_PREFIXES = tuple(name.removesuffix("*") for name in _NAMES if name.endswith("*"))
#: A space inside double quotes does not end a word.
_WORD = re.compile(r'(?:[^\s"]|"[^"]*"?)+')


def kernel_facts(command_line: str, source: str) -> dict[str, Fact]:
    """The recorded words of a kernel's command line, in their order, and the number of omitted words.

    Words after `--` are for the first process, not for the kernel: they are omitted, and counted.

    Args:
        command_line: content of /proc/cmdline.
        source: where it was read from.
    """
    words = _WORD.findall(command_line)
    own = words[: words.index("--")] if "--" in words else words
    kept = [word for word in own if _is_recorded(word)]
    return {
        COMMAND_LINE: Fact(" ".join(kept) or _NONE, source=source),
        LEFT_OUT: Fact(len(words) - len(kept), source=source),
    }


def without_private_words(facts: Mapping[str, Mapping[str, Fact]]) -> dict[str, dict[str, Fact]]:
    """The facts of a machine, with the command line reduced as by `kernel_facts`.

    Runs of earlier versions hold the whole command line, and no number of omitted words.
    """
    found = {section: dict(named) for section, named in facts.items()}
    system = found.get("system", {})
    whole = system.get(COMMAND_LINE)
    if whole is not None and isinstance(whole.value, str) and LEFT_OUT not in system:
        system |= kernel_facts(whole.value, whole.source)
        found["system"] = system
    return found


def _is_recorded(word: str) -> bool:
    name = word.partition("=")[0].strip('"').replace("-", "_")
    return name in _EXACT or name.startswith(_PREFIXES)
