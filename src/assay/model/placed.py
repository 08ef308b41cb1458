"""Where an estimate was measured: as it was asked for, and as it was found."""

from typing import Literal

import msgspec

from assay.model.placement import Memory, Word, parsed


class Proof(msgspec.Struct, frozen=True):
    """Placement as the programs read it back, over all launches of the estimate.

    Attributes:
        cpus: distinct affinity lists found, one list per host.
        page_nodes: memory node -> share of the touched pages found on it; empty where the kernel does not say.
        as_asked: whether every launch was placed as asked.
        machines: number of kernels that it ran on, by their boot ids: two hosts of one kernel are one machine.
        carried: interface or port -> bytes that it sent while the case was sampled, over those of all messages;
            empty where nothing was passed, or all of it through memory.
        mtus: host -> largest frame in bytes of the interface that sent most of them, as it was while they passed;
            of several launches the last; empty where nobody looked.
        libraries: role -> what was loaded at launch, in its own words; of several launches the last.
        of: `thread` where each thread was found on its own cpu, `rank` where those of a process share its cpus.
    """

    cpus: tuple[tuple[int, ...], ...]
    page_nodes: dict[str, float]
    as_asked: bool
    machines: int = 1
    carried: dict[str, float] = {}
    mtus: dict[str, int] = {}
    libraries: dict[str, dict[str, str]] = {}
    of: Literal["thread", "rank"] = "thread"


class Placed(msgspec.Struct, frozen=True):
    """Placement of an estimate: asked and proven.

    Attributes:
        label: portable word.
        hosts: nodes.
        cpus: asked for, one list per host.
        memory: policy asked for, e.g. `first-touch`, `bind:0`.
        proven: what was found.
        laid_out: ranks of all hosts together where they have several cpus each; 0 where each cpu is one.
    """

    label: str
    hosts: tuple[str, ...]
    cpus: tuple[tuple[int, ...], ...]
    memory: str
    proven: Proof | None
    laid_out: int = 0

    @property
    def ranks(self) -> int:
        """How many, of a program whose ranks pass messages."""
        return self.laid_out or sum(map(len, self.cpus))

    @property
    def nodes(self) -> int:
        """How many; by the word where no source names them."""
        return len(self.hosts) or self.word.nodes or 1

    @property
    def is_one_machine(self) -> bool:
        """Whether all of its hosts answered with one kernel."""
        return self.proven is not None and self.proven.machines == 1

    @property
    def word(self) -> Word:
        """The label, taken apart."""
        return parsed(self.label)

    @property
    def policy(self) -> Memory:
        """The memory policy, taken apart."""
        return Memory.parsed(self.memory)
