"""What messages are called: what is counted, between whom, over what. For the terminal and the page alike."""

import re
from collections.abc import Callable, Hashable, Iterable, Sequence

from assay.model.imported import UNSTATED
from assay.model.result import Analysis, Estimate
from assay.model.text import joined, text
from assay.report import choose, words

#: Benchmarks whose figures are of messages between partners, and what passes them.
BY = {"pt2pt": "MPI", "tcp": "TCP"}
LATENCY, ONE, BOTH = "latency", "bandwidth", "bidirectional"
#: Pattern -> what its headline counts.
COUNTED = {
    LATENCY: text("Latency, one way"),
    ONE: text("Bandwidth, one direction"),
    BOTH: text("Bandwidth, both directions added"),
    "multi-bandwidth": text("Bandwidth of all pairs, one direction"),
    "multi-latency": text("Latency of the slowest pair, one way"),
    "multi-bidirectional": text("Bandwidth of all pairs, both directions added"),
    "ping-pong": text("Bandwidth, to and fro"),
    "pingping": text("Time against an oncoming message"),
    "sendrecv": text("Time to send and receive (Sendrecv)"),
    "exchange": text("Exchange with both neighbours"),
}
#: The same within a sentence.
_WITHIN = {
    LATENCY: text("latency, one way"),
    ONE: text("bandwidth, one direction"),
    BOTH: text("bandwidth, both directions added"),
    "multi-bandwidth": text("bandwidth of all pairs, one direction"),
    "multi-latency": text("latency of the slowest pair, one way"),
    "multi-bidirectional": text("bandwidth of all pairs, both directions added"),
}
#: Charts and tables of more series are split: so many differ in colour, shape and dash.
MOST_SERIES = 6
#: The message that small ones are judged by.
SMALL_BYTES = 8

_PAIRS: dict[str, str] = {
    UNSTATED: text("partners that are not stated"),
    "pair": text("two near cores"),
    "pair:same-core": text("two threads of a core"),
    "pair:same-l3": text("two cores of an L3 group"),
    "pair:same-socket": text("two cores of a socket"),
    "pair:other-l3": text("two L3 groups"),
    "pair:other-numa": text("two NUMA nodes"),
    "pair:other-socket": text("two sockets"),
    "pair:other-node": text("two nodes"),
    "one-core@2": text("two nodes"),
    "one-core:near-nic@2": joined(", ", (text("two nodes"), text("cores near the card"))),
    "one-core:far-nic@2": joined(", ", (text("two nodes"), text("cores far from the card"))),
}
#: Params that make the size of a message.
_SIZE = ("bytes", "offset")
#: Of other tools' tables, where no placement says how many ranks took part.
RANKS = "ranks"
#: What a figure is called.
Name = Callable[[Estimate], str]
_GROUP = re.compile(r"(all|half|one-core):(numa|socket|l3):(\d+)(?:@.*)?")
_GROUPS = {"numa": text("NUMA node"), "socket": text("socket"), "l3": text("L3 group")}


def of_patterns(analysis: Analysis, patterns: Iterable[str]) -> tuple[Estimate, ...]:
    """Headline estimates of messages between partners, in the order of the patterns."""
    wanted = tuple(patterns)
    found = [e for name in BY for e in choose.of_benchmark(analysis, name)]
    groups = choose.grouped(found, pattern)
    return tuple(e for name in wanted if name in groups for e in choose.headline_metric(groups[name]))


def pattern(estimate: Estimate) -> str:
    """Latency, bandwidth ... as the benchmarks call it."""
    return str(estimate.params.get("pattern", ""))


def size(estimate: Estimate) -> int:
    """Bytes of a message."""
    return int(estimate.params.get("bytes", 0)) + int(estimate.params.get("offset", 0))


def is_between(estimate: Estimate) -> bool:
    """Whether the messages went from node to node."""
    return estimate.placement.nodes > 1


def ranks(estimate: Estimate) -> int:
    """Ranks on each node; each has one cpu. 0 where nobody says so."""
    return len(estimate.placement.cpus[0]) if estimate.placement.cpus else 0


def partners(label: str) -> str:
    """Between whom, of a word of placements; the word itself where it has no words."""
    return _PAIRS.get(label, label)


def where(estimate: Estimate) -> str:
    """Between whom messages went, for a reader who knows no placement words."""
    label, hosts = estimate.placement.label, estimate.placement.hosts
    of_two = not pattern(estimate).startswith("multi-") and (label != UNSTATED or estimate.benchmark in BY)
    return between(label, hosts) if of_two else cores(label, hosts)


def between(label: str, hosts: Sequence[str]) -> str:
    """Between whom messages of one pair go, of a word of placements on so many nodes."""
    return _PAIRS[label] if label in _PAIRS else cores(label, hosts)


def cores(label: str, hosts: Sequence[str]) -> str:
    """Which cores of which nodes pass messages, of a word of placements."""
    if label == UNSTATED:
        return text("not stated")
    group = _GROUP.fullmatch(label)
    share, kind, index = group.groups() if group else ("", "", "")
    one = _share(share, _GROUPS[kind], index) if group else _cores(label.partition("@")[0])
    nodes = len(hosts) or int(label.partition("@")[2] or 1)  # a table of others may count nodes and name none
    if nodes <= 1:
        return text("in {part}", part=one) if group else text("{part} of a node", part=one)
    each = (
        words.count(nodes, "node", "nodes")
        if len(hosts) != 2  # noqa: PLR2004 (a pair)
        else " – ".join(hosts)  # noqa: RUF001 (a pair)
    )
    return joined(", ", (one, each))


def counted(pattern: str) -> str:
    """What a pattern's headline counts, within a sentence; the word itself where it has no words."""
    return _WITHIN.get(pattern, pattern)


def _share(share: str, kind: str, index: str) -> str:
    """`half of NUMA node 3`."""
    if share == "half":
        return text("half of {kind} {index}", kind=kind, index=index)
    if share == "one-core":
        return text("one core of {kind} {index}", kind=kind, index=index)
    return text("{kind} {index}", kind=kind, index=index)


def _cores(word: str) -> str:
    name, _, count = word.partition(":")
    if count.isdigit() and name in {"cores", "spread"}:
        return words.count(int(count), "core", "cores spread" if name == "spread" else "cores")
    return words.cores(word)


def over(estimates: Iterable[Estimate]) -> Name:
    """What tells apart figures between the same partners: MPI or TCP, levels of factors, axes that vary."""
    curves = _curves(estimates)
    firsts = [members[0] for members in curves]
    groups = choose.grouped(firsts, lambda e: (e.benchmark, pattern(e)))
    names = {key: _varied(members) for key, members in groups.items()}
    several = len({e.benchmark for e in firsts}) > 1

    def name(estimate: Estimate) -> str:
        found = names.get((estimate.benchmark, pattern(estimate)), ())
        levels = (_level(estimate, each) for each in found)
        return joined(", ", [BY.get(estimate.benchmark, "") if several else "", *levels])

    return _said(name, curves)


def _varied(estimates: tuple[Estimate, ...]) -> tuple[str, ...]:
    return tuple(name for name in choose.varied(estimates) if name not in {*_SIZE, "operation"})


def _level(estimate: Estimate, name: str) -> str:
    """MPIs by their names, which say what they are; other levels with what they are levels of."""
    if name == "mpi":
        return estimate.factors.get(name, "")
    if name == RANKS:
        return words.count(int(estimate.params.get(name, 0)), "rank", "ranks")
    return choose.levels(estimate, [name])


def series(estimates: Iterable[Estimate]) -> Name:
    """Name of a curve: between whom, where there are several, and over what."""
    curves = _curves(estimates)
    firsts = [members[0] for members in curves]
    way = over(firsts)
    several = len(set(map(where, firsts))) > 1

    def name(estimate: Estimate) -> str:
        levels = way(estimate)
        return joined(", ", [where(estimate) if several or not levels else "", levels])

    return _said(name, curves)


def _curves(estimates: Iterable[Estimate]) -> list[tuple[Estimate, ...]]:
    """Figures that only the size of their messages tells apart, together: whatever names one of them names all."""
    return list(choose.grouped(estimates, _apart_from_size).values())


def _apart_from_size(e: Estimate) -> Hashable:
    params = tuple(item for item in e.params.items() if item[0] not in _SIZE)
    where = e.placement
    return (e.benchmark, e.kernel, e.metric, where.label, where.hosts, params, tuple(e.factors.items()), e.state)


def _said(name: Name, curves: Iterable[tuple[Estimate, ...]]) -> Name:
    """The same name, found once for each curve."""
    told = {e.id: said for members in curves for said in [name(members[0])] for e in members}
    return lambda estimate: told[estimate.id] if estimate.id in told else name(estimate)


def split(estimates: tuple[Estimate, ...]) -> dict[str, tuple[Estimate, ...]]:
    """What a chart shows -> its estimates: one chart for few series, else as few charts as possible."""
    curves = {members[0].id: members for members in _curves(estimates)}
    order = {e.id: at for at, e in enumerate(estimates)}
    return {
        part: tuple(sorted((e for first in firsts for e in curves[first.id]), key=lambda e: order[e.id]))
        for part, firsts in _split(tuple(members[0] for members in curves.values())).items()
    }


def _split(firsts: tuple[Estimate, ...]) -> dict[str, tuple[Estimate, ...]]:
    """The same for the first figure of each curve."""
    if fits(firsts):
        return {"": firsts}
    ways = [choose.grouped(firsts, key) for key in _keys(firsts)]
    ways = [groups for groups in ways if len(groups) > 1] or [choose.grouped(firsts, over(firsts))]
    fitting = [groups for groups in ways if all(map(fits, groups.values()))]
    if len(ways[0]) == 1:
        return {"": firsts}
    parts = min(fitting, key=len) if fitting else ways[0]
    return {
        joined(", ", [name, finer]): few
        for name, members in parts.items()
        for finer, few in _split(members).items()
    }


def fits(estimates: tuple[Estimate, ...]) -> bool:
    """Whether they are few enough curves for one chart."""
    name = series(estimates)
    return len({(name(e), e.state) for e in estimates}) <= MOST_SERIES


def _keys(estimates: tuple[Estimate, ...]) -> tuple[Name, ...]:
    """What may split a chart, the most telling first."""
    factors = dict.fromkeys(name for e in estimates for name in e.factors)
    return (
        far,
        lambda e: BY.get(e.benchmark, ""),
        *((lambda e, name=name: _level(e, name)) for name in factors),
        where,
        *((lambda e, name=name: choose.levels(e, [name])) for name in _varied(estimates) if name not in factors),
    )


def far(estimate: Estimate) -> str:
    """Whether messages went from node to node, in words."""
    if estimate.placement.label == UNSTATED:
        return text("at a place that is not stated")
    return text("between nodes") if is_between(estimate) else text("inside a node")


def small(estimates: Iterable[Estimate]) -> Estimate | None:
    """Of a curve the figure of the small message: 8 B, else the smallest that is not empty, else the empty one."""
    ordered = sorted(choose.measured(estimates), key=lambda e: (size(e) == 0, size(e) != SMALL_BYTES, size(e)))
    return ordered[0] if ordered else None


def largest(estimates: Iterable[Estimate]) -> Estimate | None:
    """Of a curve the figure of the largest message, of a size without an offset where there is one."""
    return max(choose.measured(estimates), key=lambda e: (not e.params.get("offset"), size(e)), default=None)


def at(estimate: Estimate) -> str:
    """`8 B`."""
    return words.param(size(estimate), "B")
