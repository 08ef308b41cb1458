"""Where a program runs and where its memory is: portable words, and their meaning on one machine."""

import re
from functools import lru_cache
from typing import Literal

import msgspec

from assay.model.private import Host
from assay.model.resource import GivenDevice, GivenFolder
from assay.model.units import parse_cpu_list

Policy = Literal["first-touch", "bind", "interleave"]


class Memory(msgspec.Struct, frozen=True):
    """A memory policy of a process.

    Attributes:
        policy: `first-touch` leaves pages to the thread that first writes them; `bind` allows only `nodes`;
            `interleave` deals pages to `nodes` in turn.
        nodes: OS indices; empty for first touch.
    """

    policy: Policy = "first-touch"
    nodes: tuple[int, ...] = ()

    @staticmethod
    def parsed(text: str) -> "Memory":
        """The policy of a memory word: `first-touch`, `bind:0`, `interleave:0-7`."""
        policy, _, nodes = text.partition(":")
        return Memory(policy, parse_cpu_list(nodes) if nodes else ())  # type: ignore[arg-type] # a word

    def __str__(self) -> str:
        """As on the command line of a native program: `first-touch`, `bind:0`, `interleave:0,1`."""
        return f"{self.policy}:{','.join(map(str, self.nodes))}" if self.nodes else self.policy


#: One core on each of two nodes: near the network card, or any core if the card's place is unknown.
OTHER_NODE = "pair:other-node"
#: Words without `@` that mean several nodes -> their number.
_NODES = {OTHER_NODE: 2}
_NUMBER = re.compile(r"[1-9]\d*")
#: Word for every node.
EVERY = "all"

#: Cores of a whole node, of a group, near the network card, near a device; a number of cores; two cores; one rank
#: for each group; ranks of a number of cores.
Form = Literal["whole", "group", "card", "device", "count", "pair", "rank-per", "ranks"]
#: The grammar of placement words, without what follows the `@`; all other words are foreign labels.
_FORMS: dict[Form, re.Pattern[str]] = {
    "whole": re.compile("one-core|pair|half|all|all-threads"),
    "group": re.compile(r"(?:all|half|one-core):(?:l3|numa|socket):(?:\d+|\*|first)"),
    "card": re.compile("(?:all|half|one-core):(?:near-nic|far-nic)"),
    "device": re.compile(r"(?:all|half|one-core):(?:gpu|device):(?:\d+|\*|first)"),
    "count": re.compile(r"(?:cores|spread):(?:[1-9]\d*|\*)"),
    "pair": re.compile(
        r"pair:(?:\*|(?P<one>\d+)-(?P<other>\d+)|same-core|same-l3|other-l3|other-numa|other-socket|other-node)"
    ),
    "rank-per": re.compile("rank-per:(?:core|l3|numa|socket|gpu|device)"),
    "ranks": re.compile(r"(?P<ranks>\*|(?:[1-9]\d*|all)(?:,(?:[1-9]\d*|all))*)x(?P<width>[1-9]\d*)"),
}


def studied_memory(word: str) -> str:
    """The memory word of a study: `interleave` for `interleave:0,1`, which deals pages to all nodes."""
    return word if word.startswith("bind") else word.partition(":")[0]


def starred_memory(word: str) -> str:
    """A memory word with `*` in place of its node: `bind:*` for `bind:3`."""
    policy, _, node = word.partition(":")
    return f"{policy}:*" if node.isdecimal() else word


class Word(msgspec.Struct, frozen=True):
    """A parsed placement word.

    Attributes:
        text: the whole word.
        share: which cores: `all`, `half`, `one-core`, `all-threads`, `pair`, `cores`, `spread`, or `rank-per`; for
            a foreign word the whole word.
        group: group of the cores; empty for those of a whole node.
        index: index of that group; None if the word means several groups or the first one.
        every: whether it means each such group.
        count: number of cores, for `cores` and `spread`.
        partners: which two, for `pair`: `same-l3`, or `3-7`; empty for the nearest two.
        cpus: the two cpus of `pair:3-7`; empty for others.
        ranks: numbers of ranks in `1,2,allx8`, unchanged; `*` for 1, 2, 4 ... all.
        width: number of cores of each such rank.
        over: what follows the `@`; empty if nothing does.
        nodes: number of nodes; None if it names no number.
        form: kind of the word; None for a foreign word.
    """

    text: str
    share: str
    group: str = ""
    index: int | None = None
    every: bool = False
    count: int | None = None
    partners: str = ""
    cpus: tuple[int, ...] = ()
    ranks: tuple[str, ...] = ()
    width: int = 0
    over: str = ""
    nodes: int | None = None
    form: Form | None = None

    @property
    def plain(self) -> str:
        """The word without what follows the `@`."""
        return self.text.partition("@")[0]

    @property
    def names_nodes(self) -> bool:
        """Whether it states a number of nodes, valid or not."""
        return "@" in self.text or self.text in _NODES

    @property
    def by_card(self) -> bool:
        """Whether it depends on where the network card is."""
        return self.form == "card" or self.plain == OTHER_NODE

    @property
    def each_over(self) -> tuple[str, ...]:
        """`2x2@1,2,all` -> `2x2@1`, `2x2@2`, `2x2@all`; any other word gives itself."""
        return tuple(f"{self.plain}@{each}" for each in self.over.split(",")) if "@" in self.text else (self.text,)

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
    """The parsed placement word; any text is accepted."""
    plain, _, over = text.partition("@")
    matches = ((form, pattern.fullmatch(plain)) for form, pattern in _FORMS.items())
    form, match = next(((form, match) for form, match in matches if match), (None, None))
    parts = match.groupdict() if match else {}
    share, *rest = plain.split(":")
    nodes = int(over) if _NUMBER.fullmatch(over) else _NODES.get(text)
    last = rest[-1] if rest else ""
    index = int(last) if last.isdecimal() else None
    word = Word(text, share, every=form is not None and last == "*", over=over, nodes=nodes, form=form)
    if share in {"cores", "spread"} and len(rest) == 1:
        return msgspec.structs.replace(word, count=index)
    if share == "pair" and len(rest) <= 1:
        cpus = (int(parts["one"]), int(parts["other"])) if parts.get("one") else ()
        return msgspec.structs.replace(word, partners=last, cpus=cpus)
    if form == "ranks":
        return msgspec.structs.replace(word, ranks=tuple(parts["ranks"].split(",")), width=int(parts["width"]))
    if share in {"all", "half", "one-core", "rank-per"} and rest:
        return msgspec.structs.replace(word, group=rest[0], index=index)
    return msgspec.structs.replace(word, share=plain)


class Placement(msgspec.Struct, frozen=True):
    """A placement resolved on one machine (or on a group of equal machines).

    Attributes:
        label: portable word, e.g. `one-core`, `half`, `all`, `all:numa:0`, `all-threads`.
        meaning: the same as text, e.g. `all 8 cores of NUMA node 0`.
        cpus: OS indices, one thread each, in thread order, over all ranks of a host.
        memory: policy for the pages it touches.
        hosts: names of the nodes that run it.
        ranks: cpus of each rank on the first host; ranks are numbered host by host. Empty where each host has one
            rank with all of the cpus.
        by_host: the ranks of each host if they differ from those of the first: hosts of another topology, and
            nodes that are one machine and share its cores.
        devices: devices of each rank, in the order of the ranks over all hosts; empty if no rank has any.
        folders: folder of each rank, in the same order; a single one is that of all ranks. Empty if no rank has
            any.
    """

    label: str
    meaning: str
    cpus: tuple[int, ...]
    memory: Memory
    hosts: tuple[Host, ...]
    ranks: tuple[tuple[int, ...], ...] = ()
    by_host: tuple[tuple[tuple[int, ...], ...], ...] = ()
    # Earlier versions wrote names under `devices`, which nothing proved.
    devices: tuple[tuple[GivenDevice, ...], ...] = msgspec.field(default=(), name="given_devices")
    folders: tuple[GivenFolder, ...] = ()

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

    def devices_on(self, host: int) -> tuple[tuple[GivenDevice, ...], ...]:
        """The devices of each rank of a host, by the number of the host."""
        counts = list(map(len, self.host_ranks))
        return self.devices[sum(counts[:host]) : sum(counts[: host + 1])]

    def folder_of(self, rank: int) -> GivenFolder | None:
        """The folder of a rank; None if it has none."""
        return self.folders[rank % len(self.folders)] if self.folders else None

    @property
    def passes_between_hosts(self) -> bool:
        """Whether it has ranks on several hosts."""
        return bool(self.ranks) and len(self.hosts) > 1

    @property
    def most_ranks(self) -> int:
        """Number of ranks on the host with the most ranks."""
        return max(map(len, self.host_ranks), default=1)
