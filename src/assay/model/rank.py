"""What stands in records of one process of a launch: its placement, and what it took of the machine."""

from typing import Annotated, Literal

import msgspec

from assay.model.private import Host, Identifier


class Usage(msgspec.Struct, frozen=True):
    """What a rank of a foreign program took of the machine, by the kernel's accounts.

    Attributes:
        resident_bytes: most memory at once; where a rank is several processes, of the largest.
        voluntary_switches: how often it gave its cpu up.
        involuntary_switches: how often its cpu was taken from it.
        strayed_s: that it worked with a cpu in its mask that was not asked for, as libraries do while they start.
    """

    resident_bytes: int
    voluntary_switches: int
    involuntary_switches: int
    strayed_s: float


class MpiCall(msgspec.Struct, frozen=True):
    """What a rank did by one function of MPI.

    Attributes:
        kind: `send`; `wait` for messages; `collective`; `all`: a collective one that all leave together.
        calls: how many.
        seconds: in all of them.
        bytes: that the rank contributed, as far as the arguments say it.
        sizes: power of two -> calls that contributed at most so many bytes, and more than half of it.
    """

    kind: Literal["send", "wait", "collective", "all"]
    calls: int
    seconds: float
    bytes: int
    sizes: dict[str, int] = {}


class MpiTimes(msgspec.Struct, frozen=True):
    """What a rank did by MPI: of a foreign program from the end of MPI_Init to the begin of MPI_Finalize.

    Of programs of ours it is what they did while samples that count were taken.

    Attributes:
        seconds: in which calls were counted.
        overhead_s: cost of counting a call, measured in the rank.
        calls: function -> what it did; empty where messages pass by ways that nobody counts.
    """

    seconds: float
    overhead_s: float
    calls: dict[str, MpiCall]

    @property
    def inside(self) -> float:
        """Seconds in all calls."""
        return sum(each.seconds for each in self.calls.values())


class Rank(msgspec.Struct, frozen=True):
    """One process of a launch: where it was asked to be and where it was found.

    Attributes:
        rank: from 0.
        host: host name.
        boot_id: of the kernel; two hosts with one boot id are one machine.
        requested_cpus: asked for, one per thread.
        cpus: read back from the affinity masks of its threads, one per thread, in thread order.
        requested_memory: policy asked for, e.g. `bind:0`.
        page_nodes: memory node -> pages of the touched buffers found on it (move_pages); empty where the kernel
            does not say.
        huge_page_share: share of the touched buffers that lies in huge pages (smaps); None where the kernel does
            not say.
        proof: `thread`: each thread stands on the cpu that was asked for; `rank`: all threads of the process run
            together on the cpus that were asked for, and `cpus` lists those, ascending.
        devices: that it found and used, by the names that it was told; None where its program does not say.
        usage: of a foreign program.
        mpi: of a foreign program that was started with others, and of programs of ours whose messages are a part
            of their time; None where it passes no messages, or did not end.
    """

    rank: int
    host: Host
    boot_id: Identifier
    requested_cpus: tuple[int, ...]
    cpus: tuple[int, ...]
    requested_memory: str
    page_nodes: dict[str, int]
    huge_page_share: Annotated[float, msgspec.Meta(ge=0, le=1)] | None = None
    proof: Literal["thread", "rank"] = "thread"
    devices: tuple[str, ...] | None = None
    usage: Usage | None = None
    mpi: MpiTimes | None = None
