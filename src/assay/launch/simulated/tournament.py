"""Simulated ranks of which every pair meets once, in the rounds of a tournament."""

from typing import NamedTuple

from assay.launch.simulated.law import Law
from assay.launch.simulated.messages import link_between, one_way, share, window_of
from assay.launch.simulated.rates import PAGE_BYTES, Workload, mean, page_shares, params_of
from assay.launch.simulated.request import CaseRequest, Request
from assay.model.benchmark import ParamValue
from assay.model.machine import Topology

_WINDOW = 64
_DEFAULTS: dict[str, ParamValue] = {
    "pattern": "latency",
    "bytes": 8,
    "schedule": "all",
    "round": 0,
    "window": _WINDOW,
}


class _Pair(NamedTuple):
    """Two ranks, the lower one first."""

    first: int
    second: int


def tournament(topology: Topology, law: Law, request: Request, case: CaseRequest) -> Workload:
    """The pairs of a round, one after the other or all at once; ValueError where there is no such round."""
    params = params_of(case, _DEFAULTS)
    met = [_Pair(*pair) for pair in meetings(request.expected, int(params["round"]))]
    size, both = int(params["bytes"]), params["pattern"] == "bidirectional"
    messages = 2 if params["pattern"] == "latency" else (2 if both else 1) * int(params["window"])
    work = {"messages": float(messages), "bytes": float(messages * size)}
    work |= {"one-way": 2.0} if params["pattern"] == "latency" else {}
    seconds = [_seconds(topology, law, request, params, (pair, met)) for pair in met]
    timed = [(rank, each) for pair, each in zip(met, seconds, strict=True) for rank in pair[: 2 if both else 1]]
    timed.sort()
    least = min(seconds)
    return Workload(
        params,
        {"message": work},
        {"message": least},
        max(PAGE_BYTES, 2 * size),
        mean(page_shares(topology, request, serial=False)),
        tuple(each / least for _, each in timed),
        len(met) * work["bytes"],
        tuple(rank for rank, _ in timed),
        " ".join(f"{pair.first}-{pair.second}" for pair in met),
    )


def meetings(ranks: int, number: int) -> list[tuple[int, int]]:
    """The pairs of a round, the lower rank first, in its order: the circle method, as the program has it.

    Those meet whose numbers add up to that of the round, modulo the number of rounds; who would meet itself meets
    the last rank of an even number, or rests.
    """
    rounds = ranks - 1 + ranks % 2
    if not 0 <= number < rounds:
        message = f"a tournament of {ranks} ranks has no round {number}"
        raise ValueError(message)
    found = []
    for rank in range(rounds):
        other = (number - rank) % rounds
        other = rounds if other == rank else other
        if rank < other < ranks:
            found.append((rank, other))
    return found


def _seconds(
    topology: Topology, law: Law, request: Request, params: dict[str, ParamValue], met: tuple[_Pair, list[_Pair]]
) -> float:
    """Of one iteration of a pair in its round."""
    pair, every = met
    link = link_between(topology, law, request, *pair)
    between = sum(_host(request, each.first) != _host(request, each.second) for each in every)
    across = _host(request, pair.first) != _host(request, pair.second)
    loaded = between if across and params["schedule"] == "all" else 1
    rate = share(law, link, loaded, loaded if across else 0)
    size = int(params["bytes"])
    if params["pattern"] == "latency":
        seconds = 2 * one_way(link, size, rate)
    else:
        rate *= link.duplex / 2 if params["pattern"] == "bidirectional" else 1.0
        seconds = window_of(link, size, int(params["window"]), rate)
    hosts = (_host(request, pair.first), _host(request, pair.second))
    slowest = min(law.slow_hosts.get(host, 1.0) for host in hosts)
    return seconds * law.slow_ways.get(hosts, 1.0) / slowest


def _host(request: Request, rank: int) -> str:
    return request.hosts[rank // len(request.ranks)]
