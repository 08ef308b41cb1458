"""Where a program runs and where its memory lies: portable words, and what they mean on one machine."""

from functools import lru_cache
from typing import Literal

import msgspec

from assay.model.units import parse_cpu_list

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

    @staticmethod
    def parsed(text: str) -> "Memory":
        """The policy of a word: `first-touch`, `bind:0`, `interleave:0-7`."""
        policy, _, nodes = text.partition(":")
        return Memory(policy, parse_cpu_list(nodes) if nodes else ())  # type: ignore[arg-type] # a word

    def __str__(self) -> str:
        """As on the command line of a native program: `first-touch`, `bind:0`, `interleave:0,1`."""
        return f"{self.policy}:{','.join(map(str, self.nodes))}" if self.nodes else self.policy


#: Words that are the same as others with a number of nodes -> that number.
_NODES = {"pair:other-node": 2}


class Word(msgspec.Struct, frozen=True):
    """A placement word, taken apart.

    Attributes:
        text: the word as it stands.
        share: which cores: `all`, `half`, `one-core`, `all-threads`, `pair`, `cores`, `spread`; the whole of a
            word that is none of ours.
        group: of which group they are; empty for those of a whole node.
        index: of that group; None where the word stands for several or for the first one.
        every: whether it stands for each such group.
        count: of `cores` and `spread`, how many.
        partners: of `pair`, which two: `same-l3`, or `3-7`; empty for the nearest two.
        over: what follows the `@`; empty where nothing does.
        nodes: how many it names; None where it names no number.
    """

    text: str
    share: str
    group: str = ""
    index: int | None = None
    every: bool = False
    count: int | None = None
    partners: str = ""
    over: str = ""
    nodes: int | None = None

    @property
    def plain(self) -> str:
        """The word without what follows the `@`."""
        return self.text.partition("@")[0]

    @property
    def kind(self) -> str:
        """The word without its index or count, `all:numa` for `all:numa:3`; the word itself over several nodes."""
        if self.over or (self.index is None and self.count is None):
            return self.text
        return f"{self.share}:{self.group}" if self.group else self.share

    @property
    def starred(self) -> str:
        """The word with `*` in place of its index, its count or its two cpus; itself over several nodes."""
        if self.share == "pair" and self.partners[:1].isdecimal() and not self.over:
            return f"{self.share}:*"
        return self.text if self.kind == self.text else f"{self.kind}:*"


@lru_cache(maxsize=4096)
def parsed(text: str) -> Word:
    """The parts of a placement word; any text is one."""
    plain, _, over = text.partition("@")
    share, *rest = plain.split(":")
    nodes = int(over) if over.isdecimal() else _NODES.get(text)
    last = rest[-1] if rest else ""
    index = int(last) if last.isdecimal() else None
    if share in {"cores", "spread"} and len(rest) == 1:
        return Word(text, share, count=index, every=last == "*", over=over, nodes=nodes)
    if share == "pair" and len(rest) <= 1:
        return Word(text, share, partners=last, every=last == "*", over=over, nodes=nodes)
    if share in {"all", "half", "one-core"} and rest:
        return Word(text, share, rest[0], index, last == "*", over=over, nodes=nodes)
    return Word(text, plain, over=over, nodes=nodes)


class Placement(msgspec.Struct, frozen=True):
    """A placement resolved on one machine (or on a group of like machines).

    Attributes:
        label: portable word, e.g. `one-core`, `half`, `all`, `all:numa:0`, `all-threads`.
        meaning: the same in words, e.g. `all 8 cores of NUMA node 0`.
        cpus: OS indices, one thread each, in thread order; of all ranks of a host together.
        memory: policy for the pages it touches.
        hosts: names of the nodes that run it.
        ranks: cpus of each rank on the first host; ranks are numbered host by host. Empty where each host has one
            rank with all of the cpus.
        by_host: the ranks of each host where they are not those of the first: hosts of another topology, and
            nodes that are one machine and share its cores.
        devices: of each rank, in the order of the ranks over all hosts; empty where no rank has any.
    """

    label: str
    meaning: str
    cpus: tuple[int, ...]
    memory: Memory
    hosts: tuple[str, ...]
    ranks: tuple[tuple[int, ...], ...] = ()
    by_host: tuple[tuple[tuple[int, ...], ...], ...] = ()
    devices: tuple[tuple[str, ...], ...] = ()

    @property
    def host_ranks(self) -> tuple[tuple[tuple[int, ...], ...], ...]:
        """Cpus of each rank of each host, host by host."""
        return self.by_host or ((self.ranks or (self.cpus,)),) * len(self.hosts)

    @property
    def rank_cpus(self) -> tuple[tuple[int, ...], ...]:
        """Cpus of each rank, in the order of the ranks, over all hosts."""
        return tuple(cpus for ranks in self.host_ranks for cpus in ranks)

    @property
    def rank_hosts(self) -> tuple[str, ...]:
        """Host of each rank, in the order of the ranks."""
        return tuple(host for host, ranks in zip(self.hosts, self.host_ranks, strict=True) for _ in ranks)

    @property
    def most_ranks(self) -> int:
        """Ranks on the host that has most of them."""
        return max(map(len, self.host_ranks), default=1)
