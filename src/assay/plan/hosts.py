"""Placement words over several nodes.

`WORD@2` is WORD on each of two nodes, `WORD@1,2,all` on one, on two and on all of them. Without it a program that
passes messages stays inside the first node; others run on every node at once.
"""

from collections.abc import Mapping

from assay.model.errors import UsageError
from assay.model.machine import Topology, allowed_cores
from assay.model.placement import EVERY, parsed
from assay.plan.placement import AbsentPlacementError, plural

#: Ranks of a host, each with its cpus.
_Ranks = tuple[tuple[int, ...], ...]


def split(word: str) -> tuple[str, str]:
    """`all:numa:*@2` -> (`all:numa:*`, `2`); the second is empty if no number of nodes is named.

    Raises:
        UsageError: the text after `@` is not a number of nodes.
    """
    asked = parsed(word)
    if not asked.names_nodes:
        return word, ""
    if asked.nodes is None and asked.over != EVERY:
        raise UsageError(
            f"'{word}' names no number of nodes",
            why="after @ stands a number, or all",
            remedy=f"write {asked.plain}@2",
        )
    return asked.plain, asked.over or str(asked.nodes)


def label(word: str, place: str) -> str:
    """The label of a case: the word, with the index that replaces its `*`."""
    asked = parsed(word)
    return word if asked.by_card else place + word.removeprefix(asked.plain)


def machine_of_hosts(hosts: tuple[str, ...], kernels: Mapping[str, str]) -> dict[str, str]:
    """Host -> the first host with the same kernel: the host itself, except for nodes that are one machine."""
    first: dict[str, str] = {}
    return {host: first.setdefault(kernels.get(host, host), host) for host in hosts}


def select_hosts(
    word: str, nodes: str, hosts: tuple[str, ...], kernels: Mapping[str, str], *, ranks: bool
) -> tuple[str, ...]:
    """The hosts of a word's places; without `ranks`, only one of the nodes that are one machine.

    Raises:
        AbsentPlacementError: it asks for more nodes than there are.
    """
    if not ranks:
        hosts = tuple(dict.fromkeys(machine_of_hosts(hosts, kernels).values()))
    if not nodes:
        return hosts[:1] if ranks else hosts
    wanted = len(hosts) if nodes == EVERY else int(nodes)
    if wanted > len(hosts):
        why = f"it needs {plural(wanted, 'node')}; this run has {plural(len(hosts), 'node')} (see --hosts)"
        raise AbsentPlacementError(word, why, nodes=True)
    return hosts[:wanted]


def ranks_by_host(
    ranks: Mapping[str, _Ranks], kernels: Mapping[str, str], topologies: Mapping[str, Topology]
) -> tuple[_Ranks, ...]:
    """The ranks of each host if they differ between hosts; empty if they are equal.

    They differ if hosts have different topologies, and if hosts are one machine: its first host has the requested
    cpus, the next one those of the following cores, since two ranks on one core would take turns.

    Args:
        ranks: host -> its ranks, as if it were alone on its machine.
        kernels: host -> boot id, if known.
        topologies: host -> topology of its machine.
    """
    before: dict[str, int] = {}
    found = []
    for host, own in ranks.items():
        kernel = kernels.get(host, host)
        taken = before.get(kernel, 0)
        found.append(_moved(own, taken, topologies[host]) if taken else own)
        before[kernel] = taken + sum(map(len, own))
    return tuple(found) if any(found) and (len(before) < len(found) or len(set(found)) > 1) else ()


def _moved(ranks: _Ranks, cores: int, topology: Topology) -> _Ranks:
    """The ranks moved by a number of cores; cpus that are not the first of their core stay."""
    order = [core.cpus[0] for core in allowed_cores(topology)]
    place = {cpu: at for at, cpu in enumerate(order)}
    return tuple(
        tuple(order[(place[cpu] + cores) % len(order)] if cpu in place else cpu for cpu in cpus) for cpus in ranks
    )
