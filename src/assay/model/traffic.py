"""The record of what the network of every host carried, and how its cpus were used, while a case was sampled."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence

import msgspec

from assay.model.private import Host, Identifier


class Counter(msgspec.Struct, frozen=True):
    """Bytes that one network interface or InfiniBand port carried, by its own counters."""

    sent: int
    received: int


class HostTraffic(msgspec.Struct, frozen=True):
    """Traffic of one host by interface (`eth0`) and InfiniBand port (`mlx5_0:1`), and the use of its cpus.

    Attributes:
        mtus: interface -> MTU, B.
        cpus: number of cpus of the host; 0 if their use was not measured.
        used_s: cpu time used by all programs of the host.
        stolen_s: cpu time that a hypervisor took.
        own_s: cpu time used by the ranks of the launch.
    """

    host: Host
    boot_id: Identifier
    interfaces: dict[str, Counter]
    mtus: dict[str, int] = {}
    cpus: int = 0
    used_s: float = 0.0
    stolen_s: float = 0.0
    own_s: float = 0.0


class Summed(Sequence[HostTraffic]):
    """Hosts with the sums of their counters."""

    @abstractmethod
    def sent(self) -> Mapping[str, int]:
        """See Traffic."""


class Traffic(msgspec.Struct, frozen=True, tag="traffic"):
    """Activity of every host while a case was sampled; the bytes of its interfaces prove the path of the messages.

    Attributes:
        seconds: from the first reading of the counters to the last; the longest one if independent programs ran on
            several hosts.
        payload: bytes of all messages that ranks sent meanwhile, including warm-up and calibration.
        hosts: one entry per host, including other use of its interfaces.
    """

    seconds: float
    payload: float
    hosts: Sequence[HostTraffic]

    def sent(self) -> Mapping[str, int]:
        """Interface or port -> bytes that it sent, all hosts together."""
        if isinstance(self.hosts, Summed):
            return self.hosts.sent()
        sent: dict[str, int] = {}
        for host in self.hosts:
            for name, counter in host.interfaces.items():
                sent[name] = sent.get(name, 0) + counter.sent
        return sent
