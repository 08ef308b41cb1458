"""Where a program runs and where its memory lies: portable words, and what they mean on one machine."""

from typing import Literal

import msgspec

Policy = Literal["first-touch", "bind", "interleave"]


class Memory(msgspec.Struct, frozen=True):
    """A memory policy.

    Attributes:
        policy: `first-touch` leaves pages to the thread that first writes them; `bind` allows only `nodes`;
            `interleave` deals pages to `nodes` in turn.
        nodes: OS indices; empty for first touch.
    """

    policy: Policy = "first-touch"
    nodes: tuple[int, ...] = ()

    def __str__(self) -> str:
        """As on the command line of a native program: `first-touch`, `bind:0`, `interleave:0,1`."""
        return f"{self.policy}:{','.join(map(str, self.nodes))}" if self.nodes else self.policy


class Placement(msgspec.Struct, frozen=True):
    """A placement resolved on one machine (or on a group of like machines).

    Attributes:
        label: portable word, e.g. `one-core`, `half`, `all`, `all:numa:0`, `all-threads`.
        meaning: the same in words, e.g. `all 8 cores of NUMA node 0`.
        cpus: OS indices, one thread each, in thread order; of all ranks of a host together.
        memory: policy for the pages it touches.
        hosts: names of the nodes that run it.
        ranks: cpus of each rank on a host, the same on every host; ranks are numbered host by host. Empty where
            each host has one rank with all of the cpus.
        by_host: the ranks of each host where they are not the same: nodes that are one machine share its cores.
    """

    label: str
    meaning: str
    cpus: tuple[int, ...]
    memory: Memory
    hosts: tuple[str, ...]
    ranks: tuple[tuple[int, ...], ...] = ()
    by_host: tuple[tuple[tuple[int, ...], ...], ...] = ()

    @property
    def rank_cpus(self) -> tuple[tuple[int, ...], ...]:
        """Cpus of each rank, in the order of the ranks, over all hosts."""
        if self.by_host:
            return tuple(cpus for ranks in self.by_host for cpus in ranks)
        return (self.ranks or (self.cpus,)) * len(self.hosts)
