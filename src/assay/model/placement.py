"""Where a program runs and where its memory lies: portable words, and what they mean on one machine."""

import re
from functools import lru_cache
from typing import Literal

import msgspec

from assay.model.private import Host
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


#: One core on each of two nodes: beside the network card, or any core where nobody knows where that is.
OTHER_NODE = "pair:other-node"
#: Words that are the same as others with a number of nodes -> that number.
_NODES = {OTHER_NODE: 2}
_NUMBER = re.compile(r"[1-9]\d*")
#: `all` for every node.
EVERY = "all"

#: Cores of a whole node, of a group, by the network card; so many cores; two of them; a rank for each group; ranks
#: of so many cores.
Form = Literal["whole", "group", "card", "count", "pair", "rank-per", "ranks"]
#: The grammar of placement words, without what follows the `@`; all others are labels of somebody else.
_FORMS: dict[Form, re.Pattern[str]] = {
    "whole": re.compile("one-core|pair|half|all|all-threads"),
    "group": re.compile(r"(?:all|half|one-core):(?:l3|numa|socket):(?:\d+|\*|first)"),
    "card": re.compile("(?:all|half|one-core):(?:near-nic|far-nic)"),
    "count": re.compile(r"(?:cores|spread):(?:[1-9]\d*|\*)"),
    "pair": re.compile(
        r"pair:(?:\*|(?P<one>\d+)-(?P<other>\d+)|same-core|same-l3|other-l3|other-numa|other-socket|other-node)"
    ),
    "rank-per": re.compile("rank-per:(?:core|l3|numa|socket|gpu)"),
    "ranks": re.compile(r"(?P<ranks>\*|(?:[1-9]\d*|all)(?:,(?:[1-9]\d*|all))*)x(?P<width>[1-9]\d*)"),
}


def starred_memory(word: str) -> str:
    """A memory word with `*` in place of its node: `bind:*` for `bind:3`."""
    policy, _, node = word.partition(":")
    return f"{policy}:*" if node.isdecimal() else word


class Word(msgspec.Struct, frozen=True):
    """A placement word, taken apart.

    Attributes:
        text: the word as it stands.
        share: which cores: `all`, `half`, `one-core`, `all-threads`, `pair`, `cores`, `spread`, or `rank-per`; the
            whole of another word.
        group: of which group they are; empty for those of a whole node.
        index: of that group; None where the word stands for several or for the first one.
        every: whether it stands for each such group.
        count: of `cores` and `spread`, how many.
        partners: of `pair`, which two: `same-l3`, or `3-7`; empty for the nearest two.
        cpus: the two of `pair:3-7`; empty for others.
        ranks: of `1,2,allx8`, the numbers of ranks as they stand; `*` for 1, 2, 4 ... all.
        width: of such ranks, how many cores each has.
        over: what follows the `@`; empty where nothing does.
        nodes: how many it names; None where it names no number.
        form: what kind of word it is; None for one that is none of ours.
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
        """Whether it is on a number of nodes, be it a wrong one."""
        return "@" in self.text or self.text in _NODES

    @property
    def by_card(self) -> bool:
        """Whether it depends on where the network card is."""
        return self.form == "card" or self.plain == OTHER_NODE

    @property
    def each_over(self) -> tuple[str, ...]:
        """`2x2@1,2,all` -> `2x2@1`, `2x2@2`, `2x2@all`; any other word is alone."""
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
    """The parts of a placement word; any text is one."""
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
    hosts: tuple[Host, ...]
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
    def passes_between_hosts(self) -> bool:
        """Whether it has ranks on several hosts."""
        return bool(self.ranks) and len(self.hosts) > 1

    @property
    def most_ranks(self) -> int:
        """Ranks on the host that has most of them."""
        return max(map(len, self.host_ranks), default=1)
