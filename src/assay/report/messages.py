"""What messages are called: what is counted, between whom, over what. For the terminal and the page alike."""

import re
from collections.abc import Callable, Iterable

from assay.model.result import Analysis, Estimate
from assay.report import choose, words

#: Benchmarks whose figures are of messages between partners, and what passes them.
BY = {"pt2pt": "MPI", "tcp": "TCP"}
LATENCY, ONE, BOTH = "latency", "bandwidth", "bidirectional"
#: Pattern -> what its headline counts.
COUNTED = {
    LATENCY: "Latency, one way",
    ONE: "Bandwidth, one direction",
    BOTH: "Bandwidth, both directions added",
    "multi-bandwidth": "Bandwidth of all pairs, one direction",
    "multi-latency": "Latency of the slowest pair, one way",
}
#: Charts and tables of more series are split: so many differ in colour, shape and dash.
MOST_SERIES = 6
#: The message that small ones are judged by.
SMALL_BYTES = 8

_PAIRS = {
    "pair": "two near cores",
    "pair:same-core": "two threads of a core",
    "pair:same-l3": "two cores of an L3 group",
    "pair:same-socket": "two cores of a socket",
    "pair:other-l3": "two L3 groups",
    "pair:other-numa": "two NUMA nodes",
    "pair:other-socket": "two sockets",
    "pair:other-node": "two nodes",
    "one-core@2": "two nodes",
    "one-core:near-nic@2": "two nodes, cores near the card",
    "one-core:far-nic@2": "two nodes, cores far from the card",
}
_GROUP = re.compile(r"(all|half|one-core):(numa|socket|l3):(\d+)(?:@.*)?")
_GROUPS = {"numa": "NUMA node", "socket": "socket", "l3": "L3 group"}
_SHARES = {"all": "", "half": "half of ", "one-core": "one core of "}


def of_patterns(analysis: Analysis, patterns: Iterable[str]) -> tuple[Estimate, ...]:
    """Headline estimates of messages between partners, in the order of the patterns."""
    wanted = tuple(patterns)
    found = [e for name in BY for e in choose.of_benchmark(analysis, name)]
    return (
        tuple(e for pattern in wanted for e in choose.headline_metric(found) if e.params.get("pattern") == pattern)
        if found
        else ()
    )


def pattern(estimate: Estimate) -> str:
    """Latency, bandwidth ... as the benchmarks call it."""
    return str(estimate.params.get("pattern", ""))


def size(estimate: Estimate) -> int:
    """Bytes of a message."""
    return int(estimate.params.get("bytes", 0)) + int(estimate.params.get("offset", 0))


def is_between(estimate: Estimate) -> bool:
    """Whether the messages went from node to node."""
    return len(estimate.placement.hosts) > 1


def ranks(estimate: Estimate) -> int:
    """Ranks on each node; each has one cpu."""
    return len(estimate.placement.cpus[0]) if estimate.placement.cpus else 0


def partners(label: str) -> str:
    """Between whom, of a word of placements; the word itself where it has no words."""
    return _PAIRS.get(label, label)


def where(estimate: Estimate) -> str:
    """Between whom messages went, for a reader who knows no placement words."""
    label, hosts = estimate.placement.label, estimate.placement.hosts
    if label in _PAIRS and not pattern(estimate).startswith("multi-"):
        return _PAIRS[label]
    group = _GROUP.fullmatch(label)
    share, kind, index = group.groups() if group else ("", "", "")
    one = f"{_SHARES[share]}{_GROUPS[kind]} {index}" if group else _cores(label.partition("@")[0])
    if len(hosts) <= 1:
        return f"in {one}" if group else f"{one} of a node"
    each = f"{len(hosts)} nodes" if len(hosts) > 2 else " – ".join(hosts)  # noqa: PLR2004, RUF001 (a pair)
    return f"{one}, {each}"


def _cores(word: str) -> str:
    name, _, count = word.partition(":")
    if count.isdigit() and name in {"cores", "spread"}:
        return words.count(int(count), "core", "cores spread" if name == "spread" else "cores")
    return words.cores(word)


def over(estimates: Iterable[Estimate]) -> Callable[[Estimate], str]:
    """What tells apart figures between the same partners: MPI or TCP, levels of factors, axes that vary."""
    estimates = tuple(estimates)
    groups = choose.grouped(estimates, lambda e: (e.benchmark, pattern(e)))
    names = {key: _varied(members) for key, members in groups.items()}
    several = len({e.benchmark for e in estimates}) > 1

    def name(estimate: Estimate) -> str:
        found = names.get((estimate.benchmark, pattern(estimate)), ())
        levels = (_level(estimate, each) for each in found)
        return ", ".join(filter(None, [BY.get(estimate.benchmark, "") if several else "", *levels]))

    return name


def _varied(estimates: tuple[Estimate, ...]) -> tuple[str, ...]:
    return tuple(name for name in choose.varied(estimates) if name not in {"bytes", "offset", "operation"})


def _level(estimate: Estimate, name: str) -> str:
    """MPIs by their names, which say what they are; other levels with what they are levels of."""
    if name == "mpi":
        return estimate.factors.get(name, "")
    return choose.levels(estimate, [name])


def series(estimates: Iterable[Estimate]) -> Callable[[Estimate], str]:
    """Name of a curve: between whom, where there are several, and over what."""
    estimates = tuple(estimates)
    way = over(estimates)
    several = len({where(e) for e in estimates}) > 1

    def name(estimate: Estimate) -> str:
        levels = way(estimate)
        return ", ".join(filter(None, [where(estimate) if several or not levels else "", levels]))

    return name


def split(estimates: tuple[Estimate, ...]) -> dict[str, tuple[Estimate, ...]]:
    """What a chart shows -> its estimates: one chart for few series, else as few charts as possible."""
    if _fits(estimates):
        return {"": estimates}
    ways = [choose.grouped(estimates, key) for key in _keys(estimates)]
    ways = [groups for groups in ways if len(groups) > 1] or [choose.grouped(estimates, over(estimates))]
    fitting = [groups for groups in ways if all(map(_fits, groups.values()))]
    if len(ways[0]) == 1:
        return {"": estimates}
    parts = min(fitting, key=len) if fitting else ways[0]
    return {
        ", ".join(filter(None, [name, finer])): few
        for name, members in parts.items()
        for finer, few in split(members).items()
    }


def _fits(estimates: tuple[Estimate, ...]) -> bool:
    name = series(estimates)
    return len({(name(e), e.state) for e in estimates}) <= MOST_SERIES


def _keys(estimates: tuple[Estimate, ...]) -> tuple[Callable[[Estimate], str], ...]:
    """What may split a chart, the most telling first."""
    factors = dict.fromkeys(name for e in estimates for name in e.factors)
    return (
        far,
        lambda e: BY.get(e.benchmark, ""),
        *((lambda e, name=name: _level(e, name)) for name in factors),
        where,
    )


def far(estimate: Estimate) -> str:
    """Whether messages went from node to node, in words."""
    return "between nodes" if is_between(estimate) else "inside a node"


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
