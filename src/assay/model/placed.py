"""Where an estimate was measured: the requested placement, and the proven one."""

from typing import Literal

import msgspec

from assay.model.placement import Memory, Word, parsed
from assay.model.resource import OpenedDevice


class Proof(msgspec.Struct, frozen=True):
    """Placement as the programs read it back, over all launches of the estimate.

    Attributes:
        cpus: distinct affinity lists found, one list per host.
        page_nodes: memory node -> share of the touched pages found on it; empty if the kernel does not report it.
        as_asked: whether every launch was placed as requested.
        machines: number of kernels that it ran on, by their boot ids: two hosts of one kernel are one machine.
        carried: interface or port -> bytes that it sent while the case was sampled, over the bytes of all
            messages; empty if there were no messages, or all of them used shared memory.
        mtus: host -> MTU of the interface that sent most of them, in bytes, read while they passed; from the last
            launch; empty if not measured.
        libraries: role -> the library loaded at launch, as it describes itself; from the last launch.
        devices: devices that ranks opened, as they read them back; each once.
        file_systems: type and source of the file systems of its folders, `ext4 /dev/nvme0n1p2`; each once.
        of: `thread` if each thread was found on its own cpu, `rank` if those of a process share its cpus.
    """

    cpus: tuple[tuple[int, ...], ...]
    page_nodes: dict[str, float]
    as_asked: bool
    machines: int = 1
    carried: dict[str, float] = {}
    mtus: dict[str, int] = {}
    libraries: dict[str, dict[str, str]] = {}
    devices: tuple[OpenedDevice, ...] = ()
    file_systems: tuple[str, ...] = ()
    of: Literal["thread", "rank"] = "thread"


class Placed(msgspec.Struct, frozen=True):
    """Placement of an estimate: requested and proven.

    Attributes:
        label: portable word.
        hosts: nodes.
        cpus: requested cpus, one list per host.
        memory: requested policy, e.g. `first-touch`, `bind:0`.
        proven: what was found.
        laid_out: number of ranks over all hosts if each has several cpus; 0 if each cpu is a rank.
    """

    label: str
    hosts: tuple[str, ...]
    cpus: tuple[tuple[int, ...], ...]
    memory: str
    proven: Proof | None
    laid_out: int = 0

    @property
    def ranks(self) -> int:
        """Number of ranks of an MPI program."""
        return self.laid_out or sum(map(len, self.cpus))

    @property
    def nodes(self) -> int:
        """Number of nodes; from the word if no source names them."""
        return len(self.hosts) or self.word.nodes or 1

    @property
    def is_one_machine(self) -> bool:
        """Whether all of its hosts have the same kernel."""
        return self.proven is not None and self.proven.machines == 1

    @property
    def word(self) -> Word:
        """The parsed label."""
        return parsed(self.label)

    @property
    def policy(self) -> Memory:
        """The parsed memory policy."""
        return Memory.parsed(self.memory)
