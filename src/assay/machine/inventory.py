"""The inventory of several nodes: equal ones together, and every fact in which some differ."""

from collections.abc import Iterator, Mapping

import msgspec

from assay.model.facts import Fact
from assay.model.grouping import grouped
from assay.model.machine import Machine

#: Section and name of facts that always differ between nodes or moments.
_OWN = {
    ("processor", "frequency now"),
    ("memory", "may be used now"),
    ("system", "host name"),
    ("system", "boot id"),
    ("system", "cgroup"),
}
#: Sizes of memory count as equal below this difference, because firmware and kernel reserve some memory.
_SAME_SIZE = 0.02


class Kind(msgspec.Struct, frozen=True):
    """Nodes with the same topology.

    Attributes:
        hosts: their names.
        machine: machine of the first one.
    """

    hosts: tuple[str, ...]
    machine: Machine


class Difference(msgspec.Struct, frozen=True):
    """A fact in which nodes differ.

    Attributes:
        section: section of the fact, or its device.
        name: name of the fact.
        values: each value with its nodes; the most frequent first.
    """

    section: str
    name: str
    values: tuple[tuple[Fact, tuple[str, ...]], ...]


def kinds(machines: Mapping[str, Machine]) -> tuple[Kind, ...]:
    """The nodes by topology, in the order of the first of each kind."""
    found = grouped(machines, lambda host: machines[host].topology.shape)
    return tuple(Kind(hosts, machines[hosts[0]]) for hosts in found.values())


def differences(machines: Mapping[str, Machine]) -> tuple[Difference, ...]:
    """Every fact of nodes and their devices in which some nodes differ; virtual devices are left out."""
    by_host = {host: dict(_facts(each)) for host, each in machines.items()}
    names = dict.fromkeys(name for each in by_host.values() for name in each)
    found = []
    for section, name in names:
        values: list[tuple[Fact, list[str]]] = []
        for host, facts in by_host.items():
            fact = facts.get((section, name), _ABSENT)
            same = next((hosts for other, hosts in values if _equal(fact, other)), None)
            if same is None:
                values.append((fact, [host]))
            else:
                same.append(host)
        if len(values) > 1:
            ordered = sorted(values, key=lambda each: -len(each[1]))
            found.append(Difference(section, name, tuple((fact, tuple(hosts)) for fact, hosts in ordered)))
    return tuple(found)


_ABSENT = Fact(unavailable="it is not there")


def _facts(machine: Machine) -> Iterator[tuple[tuple[str, str], Fact]]:
    for section, facts in machine.facts.items():
        yield from (((section, name), fact) for name, fact in facts.items() if (section, name) not in _OWN)
    for device in machine.devices:
        if device.value("virtual") is not True:
            yield from (((device.name, name), fact) for name, fact in device.facts.items())


def _equal(one: Fact, other: Fact) -> bool:
    if one.unit == other.unit == "B" and isinstance(one.value, int) and isinstance(other.value, int):
        return abs(one.value - other.value) <= _SAME_SIZE * max(one.value, other.value)
    return one.value == other.value
