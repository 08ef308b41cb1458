"""Facts of one node: its topology, what this process may use of it, and further facts."""

from collections.abc import Collection
from functools import lru_cache
from typing import Literal

import msgspec

from assay.model.facts import Fact, FactValue
from assay.model.private import Host

MACHINE_SCHEMA = 1


class Cache(msgspec.Struct, frozen=True):
    """One cache and the cpus that share it.

    Attributes:
        level: 1, 2, 3 ...
        kind: what it holds.
        size_bytes: capacity.
        line_bytes: line size, 0 if unknown.
        cpus: OS indices of the processing units below it, ascending.
    """

    level: int
    kind: Literal["data", "instruction", "unified"]
    size_bytes: int
    line_bytes: int
    cpus: tuple[int, ...]


class Core(msgspec.Struct, frozen=True):
    """One physical core.

    Attributes:
        index: position of the core in the machine, from 0, in topology order (unique, unlike OS core ids).
        cpus: OS indices of its hardware threads, ascending.
        package: index of its package in `Topology.packages`.
        numa: OS index of the nearest NUMA node that has memory local to it.
        l3: index among the machine's last-level-cache groups, in topology order; cores that share
            their largest shared cache carry the same number.
        kind: efficiency class on hybrid processors (`performance`, `efficiency`), else empty.
    """

    index: int
    cpus: tuple[int, ...]
    package: int
    numa: int
    l3: int
    kind: str = ""


class NumaNode(msgspec.Struct, frozen=True):
    """One memory node.

    Attributes:
        index: OS index.
        memory_bytes: memory that belongs to it.
        cpus: OS indices of the cpus local to it; empty for memory-only (CXL, HBM) nodes.
        package: index of its package, None if it belongs to none.
    """

    index: int
    memory_bytes: int
    cpus: tuple[int, ...]
    package: int | None


class Topology(msgspec.Struct, frozen=True, cache_hash=True):
    """How cores, caches and memory of one node are connected.

    Attributes:
        packages: for each package (socket), the OS indices of its cpus.
        numa_nodes: by ascending OS index.
        cores: in topology order. All cores, including those that this process may not use.
        caches: every cache, L1 first.
        distances: firmware's relative distances, `distances[i][j]` from cpus of `numa_nodes[i]` to memory of
            `numa_nodes[j]`; empty if firmware gives none.
        allowed_cpus: OS indices that this process may run on.
        allowed_nodes: OS indices of memory nodes it may allocate from.
        held_bytes: measured capacity of all caches together; 0 if their stated sizes are used.
        held_rates: the measurement behind it: working set of all cores in B, the largest first, and its rate in
            B/s.
    """

    packages: tuple[tuple[int, ...], ...]
    numa_nodes: tuple[NumaNode, ...]
    cores: tuple[Core, ...]
    caches: tuple[Cache, ...]
    distances: tuple[tuple[int, ...], ...]
    allowed_cpus: tuple[int, ...]
    allowed_nodes: tuple[int, ...]
    held_bytes: int = 0
    held_rates: tuple[tuple[int, float], ...] = ()

    @property
    def shape(self) -> "Topology":
        """Without what differs from boot to boot or run to run: some pages of memory, measured values."""
        nodes = tuple(msgspec.structs.replace(node, memory_bytes=0) for node in self.numa_nodes)
        return msgspec.structs.replace(self, numa_nodes=nodes, held_bytes=0, held_rates=())

    def data_caches(self, cpus: Collection[int]) -> tuple[Cache, ...]:
        """The data caches that some cpus use."""
        used = set(cpus)
        return tuple(each for each in self.caches if each.kind != "instruction" and used & set(each.cpus))

    def last_level_bytes(self, cpus: Collection[int]) -> int:
        """Bytes of the last-level caches that some cpus use, no more than was measured; 0 if none is known."""
        last = max((cache.level for cache in self.caches), default=0)
        used = set(cpus)
        claimed = sum(each.size_bytes for each in self.caches if each.level == last and used & set(each.cpus))
        return min(claimed, self.held_bytes or claimed)

    @property
    def smt(self) -> int:
        """Largest number of hardware threads of one core."""
        return max((len(core.cpus) for core in self.cores), default=1)


@lru_cache(maxsize=4)
def allowed_cores(topology: Topology) -> tuple[Core, ...]:
    """Cores with an allowed hardware thread, in topology order; their `cpus` hold the allowed threads only."""
    allowed = set(topology.allowed_cpus)
    narrowed = (
        msgspec.structs.replace(core, cpus=tuple(cpu for cpu in core.cpus if cpu in allowed))
        for core in topology.cores
    )
    return tuple(core for core in narrowed if core.cpus)


#: Link layers of ports and interfaces other than Ethernet.
INFINIBAND = "InfiniBand"
SLINGSHOT = "Slingshot"


class Device(msgspec.Struct, frozen=True):
    """A network interface, InfiniBand port or accelerator.

    Attributes:
        name: as the operating system calls it.
        kind: kind of device.
        facts: driver, speed, mtu, numa node, address ... by name.
    """

    name: str
    kind: Literal["network", "infiniband", "accelerator", "storage"]
    facts: dict[str, Fact]

    def value(self, name: str) -> FactValue | None:
        """The value of a fact; None if it is unknown."""
        fact = self.facts.get(name)
        return fact.value if fact else None

    def number(self, name: str) -> float | None:
        """The value of a fact that is a number above 0; None for others."""
        value = self.value(name)
        return float(value) if isinstance(value, int | float) and value > 0 else None


def is_port(name: str, device: str) -> bool:
    """Whether a name is that of a device or of one of its ports: `mlx5_0:1` is a port of `mlx5_0`.

    `device` may include the provider that uses it.
    """
    return device_of(device) in {name, card_of(name)}


def device_of(network: str) -> str:
    """The device of a network whose name may include the provider: `cxi0` of `cxi/cxi0`."""
    return network.rpartition("/")[2]


def card_of(name: str) -> str:
    """The device of a port: `mlx5_0` of `mlx5_0:1`; an interface is its own device."""
    return name.partition(":")[0]


class Machine(msgspec.Struct, frozen=True):
    """Everything known of one node.

    Attributes:
        schema: version of this record.
        host: its host name, or the name of the file or description it was loaded from.
        origin: `live` when it is the machine this process runs on; only such a machine can be measured.
        topology: cores, caches, memory nodes.
        memory: bytes that this process may use now (the least of what is available, cgroup and ulimit).
        facts: section -> name -> fact, e.g. `facts["processor"]["model"]`. Sections in display order.
        devices: network interfaces, InfiniBand ports, accelerators.
    """

    schema: int
    host: Host
    origin: Literal["live", "file", "synthetic"]
    topology: Topology
    memory: Fact
    facts: dict[str, dict[str, Fact]]
    devices: tuple[Device, ...]

    def fact(self, section: str, name: str) -> Fact:
        """The named fact, or an unavailable one that says that it was not looked for."""
        return self.facts.get(section, {}).get(name) or Fact(unavailable="not looked for")

    def network_device(self, name: str) -> Device | None:
        """The interface or port of this name; `mlx5_0` is its first port."""
        named = (each for each in self.devices if is_port(each.name, name))
        return next((each for each in named if each.kind in {"network", "infiniband"}), None) if name else None

    def fabric_of(self, interface: str) -> str:
        """The network that uses the card of an interface without TCP; empty if none is known."""
        found = self.network_device(interface)
        if found is None or found.kind != "network" or (at := found.value("PCI address")) is None:
            return ""
        cards = (each for each in self.devices if each.kind == "infiniband" and each.value("PCI address") == at)
        card = next(cards, None)
        if card is None:
            return ""
        return f"cxi/{card.name}" if card.value("link layer") == SLINGSHOT else card.name
