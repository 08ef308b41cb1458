"""Names and addresses of a lab, all in one place; pure functions."""

import json
import os
from dataclasses import dataclass
from pathlib import Path

#: Candidates for the second byte of a lab's addresses; the first one that no route of this machine overlaps is
#: used.
RANGES = range(200, 250)
MOST_NODES = 99
#: The last byte of the addresses of the controller and of this machine.
CONTROLLER_PLACE, HEAD_PLACE = 253, 254
#: Name of the machine with the bridges and slurmctld, and of this machine as seen by the nodes.
CONTROLLER, HEAD = "ctl", "head"


@dataclass(frozen=True)
class Network:
    """One network of the lab.

    Attributes:
        name: of its bridge; the interface of each node is this and `0`.
        place: third byte of its addresses.
        rate: in words of tc, for each direction of each port; empty where nothing is shaped.
        burst: what passes a port at once before the rate counts, in words of tc.
        segment: largest packet that a port takes in one piece, in bytes: no larger than the burst.
    """

    name: str
    place: int
    rate: str = ""
    burst: str = ""
    segment: int = 65536


NETWORKS = (
    Network("fast", 1),
    Network("gbe", 2, "1gbit", "32kb", 16384),
    Network("fe", 3, "100mbit", "8kb", 4096),
)


@dataclass(frozen=True)
class Lab:
    """A lab as its files and commands need it.

    Attributes:
        folder: of its state.
        range_: second byte of its addresses.
        count: of its nodes.
        shared_cpus: whether every node has all cpus of this machine; else each has a share of its own.
    """

    folder: Path
    range_: int
    count: int
    shared_cpus: bool = True

    @property
    def nodes(self) -> tuple[str, ...]:
        """Their names: node01, node02, ..."""
        return tuple(f"node{number:02}" for number in range(1, self.count + 1))

    @property
    def machines(self) -> tuple[str, ...]:
        """All machines with their own namespaces, the controller first."""
        return (CONTROLLER, *self.nodes)

    @property
    def slurm_conf(self) -> Path:
        """The value of SLURM_CONF."""
        return self.folder / "slurm" / "slurm.conf"

    @property
    def ssh_config(self) -> Path:
        """The file for `ssh -F`."""
        return self.folder / "ssh" / "config"

    @property
    def own(self) -> Path:
        """Each node's own folder for sockets and spools; outside the nodes it is the controller's."""
        return self.folder / "own"

    def own_seen_from_here(self, machine: str) -> Path:
        """The same folder, outside the machine's namespaces."""
        return self.own if machine == CONTROLLER else self.folder / machine

    def address(self, machine: str, network: Network) -> str:
        """IPv4, without the prefix, which is /24."""
        places = {HEAD: HEAD_PLACE, CONTROLLER: CONTROLLER_PLACE}
        place = places.get(machine) or self.nodes.index(machine) + 1
        return f"10.{self.range_}.{network.place}.{place}"

    def cpus(self, machine: str) -> tuple[int, ...]:
        """Cpus that the processes of a machine may use."""
        everything = tuple(sorted(os.sched_getaffinity(0)))
        if self.shared_cpus or machine not in self.nodes:
            return everything
        each = len(everything) // self.count
        first = self.nodes.index(machine) * each
        return everything[first : first + each]

    def head_link(self, network: Network) -> str:
        """Name of this machine's interface in a network; no other lab has it."""
        return f"lab{self.range_}-{network.name}"

    def environment(self) -> dict[str, str]:
        """Variables that a command needs to work with the lab, wherever it runs."""
        return {
            "SLURM_CONF": str(self.slurm_conf),
            "LAB_SSH_CONFIG": str(self.ssh_config),
            "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        }

    def save(self) -> None:
        """Store the numbers that `load` needs."""
        saved = {"range": self.range_, "count": self.count, "shared_cpus": self.shared_cpus}
        (self.folder / "lab.json").write_text(json.dumps(saved) + "\n")


def load(folder: Path) -> Lab:
    """The lab of a state folder; FileNotFoundError if it was never complete."""
    saved = json.loads((folder / "lab.json").read_text())
    return Lab(folder, saved["range"], saved["count"], saved["shared_cpus"])
