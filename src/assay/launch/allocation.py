"""Find the scheduler's allocation in which this process runs, and its nodes."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Literal

import msgspec

from assay.model import node_sets

#: Slurm's count for several nodes: `2(x3)` is 2, three times.
_COUNT = re.compile(r"(\d+)(?:\(x(\d+)\))?")
#: The command that prints the hosts of the Flux instance of a job.
_FLUX_HOSTS = ("flux", "hostlist", "--expand", "local")


class Allocation(msgspec.Struct, frozen=True):
    """An allocation of a scheduler.

    Attributes:
        scheduler: empty outside an allocation.
        hosts: nodes in the scheduler's order; this host with its own name.
        job: id of the job.
        cpus: number of cpus on each host, as Slurm counts them; empty for other schedulers.
    """

    scheduler: Literal["", "slurm", "pbs", "flux", "lsf"] = ""
    hosts: tuple[str, ...] = ()
    job: str = ""
    cpus: tuple[int, ...] = ()


def allocation(
    environment: Mapping[str, str],
    read: Callable[[str], str],
    ask: Callable[[tuple[str, ...]], str],
    host: str,
) -> Allocation:
    """The allocation described by an environment.

    Args:
        environment: environment of this process.
        read: reads a file.
        ask: runs a command and returns its output.
        host: name of this machine. Schedulers may give it with or without its domain.
    """
    if job := environment.get("FLUX_JOB_ID") or environment.get("FLUX_ENCLOSING_ID"):
        return _of("flux", ask(_FLUX_HOSTS).split(), job, host)  # the inner one: an instance may run inside Slurm
    if nodes := environment.get("SLURM_JOB_NODELIST"):
        found = _of("slurm", node_sets.expanded(nodes), environment.get("SLURM_JOB_ID", ""), host)
        cpus = _task_counts(environment.get("SLURM_JOB_CPUS_PER_NODE", ""))
        return msgspec.structs.replace(found, cpus=cpus) if len(cpus) == len(found.hosts) else found
    if file := environment.get("PBS_NODEFILE"):
        return _of("pbs", read(file).split(), environment.get("PBS_JOBID", ""), host)
    if file := environment.get("LSB_DJOB_HOSTFILE"):
        return _of("lsf", read(file).split(), environment.get("LSB_JOBID", ""), host)
    return Allocation()


def _of(
    scheduler: Literal["slurm", "pbs", "flux", "lsf"], names: Iterable[str], job: str, host: str
) -> Allocation:
    """An allocation with each host once; files name a host once for each of its slots."""
    known = (host if name.partition(".")[0] == host.partition(".")[0] else name for name in names)
    return Allocation(scheduler, tuple(dict.fromkeys(known)), job)


def _task_counts(text: str) -> tuple[int, ...]:
    """`2(x3),1` is 2, 2, 2, 1; empty if it cannot be parsed."""
    parts = [_COUNT.fullmatch(part) for part in text.split(",")]
    return tuple(int(part[1]) for part in parts if part for _ in range(int(part[2] or 1))) if all(parts) else ()
