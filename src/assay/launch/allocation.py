"""Whether this process runs inside an allocation of a scheduler, and which nodes that has."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Literal

import msgspec

#: Slurm's count for as many nodes in a row: `2(x3)`.
_COUNT = re.compile(r"(\d+)(?:\(x(\d+)\))?")
#: What Flux says of itself by a command alone: the hosts of the instance that a job runs in.
_FLUX_HOSTS = ("flux", "hostlist", "--expand", "local")


class Allocation(msgspec.Struct, frozen=True):
    """Nodes that a scheduler gave.

    Attributes:
        scheduler: that gave them; empty outside an allocation.
        hosts: in the scheduler's order; this host by its own name.
        job: its id.
        cpus: that it has of each host, as Slurm counts them; empty if the scheduler does not tell.
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
    """The allocation that an environment tells of.

    Args:
        environment: of this process.
        read: content of a file.
        ask: what a command prints.
        host: name of this machine. Schedulers may give it with its domain, or without.
    """
    if job := environment.get("FLUX_JOB_ID") or environment.get("FLUX_ENCLOSING_ID"):
        return _of("flux", ask(_FLUX_HOSTS).split(), job, host)  # the inner one: an instance may run inside Slurm
    if nodes := environment.get("SLURM_JOB_NODELIST"):
        found = _of("slurm", _expand_nodes(nodes), environment.get("SLURM_JOB_ID", ""), host)
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
    """Files name a host once for each of its slots."""
    known = (host if name.partition(".")[0] == host.partition(".")[0] else name for name in names)
    return Allocation(scheduler, tuple(dict.fromkeys(known)), job)


def _task_counts(text: str) -> tuple[int, ...]:
    """`2(x3),1` is 2, 2, 2, 1; nothing where it is not understood."""
    parts = [_COUNT.fullmatch(part) for part in text.split(",")]
    return tuple(int(part[1]) for part in parts if part for _ in range(int(part[2] or 1))) if all(parts) else ()


def _expand_nodes(nodes: str) -> tuple[str, ...]:
    from ClusterShell.NodeSet import RESOLVER_NOGROUP, NodeSet  # noqa: PLC0415 (50 ms, if there is need of it)

    return tuple(NodeSet(nodes, resolver=RESOLVER_NOGROUP))
