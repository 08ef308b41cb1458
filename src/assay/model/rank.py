"""The record of one process of a launch: its placement, and the resources it used."""

from typing import Annotated, Literal

import msgspec

from assay.model.private import Host, Identifier
from assay.model.resource import OpenedDevice, OpenedFolder


class Usage(msgspec.Struct, frozen=True):
    """Resources that a rank of a foreign program used, as the kernel counts them.

    Attributes:
        resident_bytes: peak resident memory; of the largest process if a rank has several.
        voluntary_switches: voluntary context switches.
        involuntary_switches: involuntary context switches.
        strayed_s: seconds that it worked with a cpu in its mask that was not asked for, as libraries do while they
            start.
    """

    resident_bytes: int
    voluntary_switches: int
    involuntary_switches: int
    strayed_s: float


class MpiCall(msgspec.Struct, frozen=True):
    """Calls of one MPI function by one rank.

    Attributes:
        kind: `send`; `wait` for messages; `collective`; `all`: a collective that all ranks leave together.
        calls: number of calls.
        seconds: time in all of them.
        bytes: bytes that the rank contributed, as far as the arguments state them.
        sizes: power of two -> calls that contributed at most so many bytes, and more than half of it.
    """

    kind: Literal["send", "wait", "collective", "all"]
    calls: int
    seconds: float
    bytes: int
    sizes: dict[str, int] = {}


class MpiTimes(msgspec.Struct, frozen=True):
    """MPI calls of one rank. For a foreign program: from the end of MPI_Init to the start of MPI_Finalize.

    For our own programs: while the measured samples were taken.

    Attributes:
        seconds: time in which calls were counted.
        overhead_s: cost of counting one call, measured in the rank.
        calls: function -> its calls; empty if messages pass by ways that are not counted.
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
        boot_id: boot id of the kernel; two hosts with one boot id are one machine.
        requested_cpus: asked for, one per thread.
        cpus: read back from the affinity masks of its threads, one per thread, in thread order.
        requested_memory: policy asked for, e.g. `bind:0`.
        page_nodes: memory node -> pages of the touched buffers found on it (move_pages); empty if the kernel
            does not say.
        huge_page_share: share of the touched buffers that lies in huge pages (smaps); None if the kernel does
            not say.
        proof: `thread`: each thread runs on the cpu that was asked for; `rank`: all threads of the process share
            the cpus that were asked for, and `cpus` lists those, ascending.
        devices: devices that it opened, as it read them back; None if its program works on none.
        folder: folder in which it worked; None if its program uses none.
        usage: resources of a foreign program.
        mpi: MPI calls of a foreign program with several ranks, and of our programs whose messages are a part of
            their time; None if it passes no messages, or did not end.
    """

    rank: int
    host: Host
    boot_id: Identifier
    requested_cpus: tuple[int, ...]
    cpus: tuple[int, ...]
    requested_memory: str
    page_nodes: dict[Annotated[str, msgspec.Meta(pattern=r"^\d+$")], int]
    huge_page_share: Annotated[float, msgspec.Meta(ge=0, le=1)] | None = None
    proof: Literal["thread", "rank"] = "thread"
    devices: tuple[OpenedDevice, ...] | None = None
    folder: OpenedFolder | None = None
    usage: Usage | None = None
    mpi: MpiTimes | None = None
