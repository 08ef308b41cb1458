"""Simulated programs whose ranks pass messages in pairs."""

import dataclasses
from typing import NamedTuple

from assay.model.benchmark import ParamValue
from assay.model.machine import Topology
from assay.simulation.law import Law, Link
from assay.simulation.links import LOOPBACK, first_link, link_between, one_way, share, window_of
from assay.simulation.rates import PAGE_BYTES, Workload, mean, page_shares
from assay.simulation.request import CaseRequest, Request

_MICROSECOND = 1e-6
#: Of IPv4 and TCP around a segment, and of the options in it.
_HEADERS_OF_IP, _TIME_STAMPS = 40, 12


class _Pair(NamedTuple):
    """Two ranks, the lower one first."""

    first: int
    second: int


def pt2pt(topology: Topology, law: Law, request: Request, case: CaseRequest) -> Workload:
    """Rank i of the first half with rank i of the second: to and fro, or windows of messages, one way or both."""
    link = first_link(topology, law, request)
    limit = link.eager_bytes if request.eager_bytes is None else request.eager_bytes
    return _pairs(topology, law, request, case, dataclasses.replace(link, eager_bytes=limit))


def tcp(topology: Topology, law: Law, request: Request, case: CaseRequest) -> Workload:
    """The same over sockets, slower by the law's factors."""
    link, (latency, each_byte) = first_link(topology, law, request), law.tcp
    slowed = dataclasses.replace(
        link, latency_s=latency * link.latency_s, rate=link.rate / each_byte, most=link.most / each_byte
    )
    params = case.params
    given, segment = int(params["send-buffer"]), int(params["segment"])
    mtu, each_frame = law.frames
    payload = min(segment or mtu, mtu - _HEADERS_OF_IP) - _TIME_STAMPS
    if each_frame:
        slowed = dataclasses.replace(slowed, rate=min(slowed.rate, payload / each_frame))
    if segment and law.segments:
        slowed = dataclasses.replace(slowed, eager_bytes=payload)
    if given and law.socket_buffers:
        slowed = dataclasses.replace(slowed, eager_bytes=given)
    load = _pairs(topology, law, request, case, slowed)
    longest = min(payload, int(load.work["message"]["bytes"]) // 2) + _TIME_STAMPS + _HEADERS_OF_IP
    return dataclasses.replace(load, segment=payload, lost=longest > law.longest_frame, inside=LOOPBACK)


def onesided(topology: Topology, law: Law, request: Request, case: CaseRequest) -> Workload:
    """To and fro until each sees it, or a window of transfers; fences and locks cost a message without bytes."""
    params = case.params
    link, size = first_link(topology, law, request), int(params["bytes"])
    passive = params["synchronisation"] in {"flush", "lock"}
    empty = one_way(link, 0, link.rate)
    if params["pattern"] == "bandwidth":
        transfers = int(params["window"])
        seconds = window_of(link, size, transfers, link.rate)
    elif passive and params["operation"] == "get":
        transfers, seconds = 1, empty + one_way(link, size, link.rate)
    else:
        transfers, seconds = 2, 2 * (one_way(link, size, link.rate) + empty)
    seconds += {"flush": 0.0, "pscw": 0.0}.get(str(params["synchronisation"]), empty)
    work = {"bytes": float(transfers * size)}
    work |= {"one-way": float(transfers)} if params["pattern"] == "latency" else {}
    return Workload(
        params,
        {"transfer": work},
        {"transfer": seconds},
        max(PAGE_BYTES, 2 * size),
        mean(page_shares(topology, request, serial=False)),
        (1.0,),
        work["bytes"],
    )


def round_robin(topology: Topology, law: Law, request: Request, case: CaseRequest) -> Workload:
    """The pairs of a round, one after the other or all at once; ValueError where there is no such round."""
    params = case.params
    met = [_Pair(*pair) for pair in pairs_of_round(request.expected, int(params["round"]))]
    size, both = int(params["bytes"]), params["pattern"] == "bidirectional"
    work = _work(params, size)
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


def pairs_of_round(ranks: int, number: int) -> list[tuple[int, int]]:
    """The pairs of a round, the lower rank first, in its order: the circle method, as the program has it.

    Those meet whose numbers add up to that of the round, modulo the number of rounds; who would meet itself meets
    the last rank of an even number, or rests.
    """
    rounds = ranks - 1 + ranks % 2
    if not 0 <= number < rounds:
        message = f"a round robin of {ranks} ranks has no round {number}"
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
    seconds = _iteration_s(link, rate, params, int(params["bytes"]))
    hosts = (_host(request, pair.first), _host(request, pair.second))
    slowest = min(law.slow_hosts.get(host, 1.0) for host in hosts)
    return seconds * law.slow_paths.get(hosts, 1.0) / slowest


def _iteration_s(link: Link, rate: float, params: dict[str, ParamValue], size: int) -> float:
    """A message to and fro, or a window of them, one way or both."""
    if "latency" in str(params["pattern"]):
        return 2 * one_way(link, size, rate)
    rate *= link.duplex / 2 if params["pattern"] == "bidirectional" else 1.0
    return window_of(link, size, int(params["window"]), rate)


def _work(params: dict[str, ParamValue], size: int, pairs: int = 1) -> dict[str, float]:
    """What so many pairs pass in an iteration."""
    to_and_fro = "latency" in str(params["pattern"])
    each = 2 if to_and_fro else (2 if params["pattern"] == "bidirectional" else 1) * int(params["window"])
    work = {"messages": float(each * pairs), "bytes": float(each * pairs * size)}
    return work | ({"one-way": 2.0} if to_and_fro else {})


def _host(request: Request, rank: int) -> str:
    return request.hosts[request.host_of(rank)]


def _pairs(topology: Topology, law: Law, request: Request, case: CaseRequest, link: Link) -> Workload:
    params = case.params
    size, pairs = int(params["bytes"]) + int(params.get("offset", 0)), request.expected // 2
    rate = share(law, link, pairs, len(request.hosts) // 2)
    seconds, work = _iteration_s(link, rate, params, size), _work(params, size, pairs)
    asleep_s, wake_s = law.wake
    seconds += wake_s if int(params["gap"]) * _MICROSECOND >= asleep_s else 0.0
    slow = [min(law.slow_cores.get(cpu, 1.0) for cpu in cpus) for cpus in request.ranks]
    timing = request.expected if params["pattern"] == "bidirectional" else pairs
    return Workload(
        params,
        {"message": work},
        {"message": seconds},
        max(PAGE_BYTES, 2 * size),
        mean(page_shares(topology, request, serial=False)),
        tuple(1 / slow[number % len(slow)] for number in range(timing)),
        work["bytes"],
    )


programs = {"pt2pt": pt2pt, "tcp": tcp, "onesided": onesided, "pairs": round_robin}
