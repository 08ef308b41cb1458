"""Simulated programs whose ranks pass messages in pairs."""

import dataclasses

from assay.model.declaration import ParamValue
from assay.model.machine import Topology
from assay.simulation.law import Law, Link
from assay.simulation.links import LOOPBACK, first_link, link_between, one_way, share, window_of
from assay.simulation.rates import PAGE_BYTES, Workload, mean, page_shares
from assay.simulation.request import CaseRequest, Request

#: Two ranks, the lower one first.
_Pair = tuple[int, int]

_MICROSECOND = 1e-6
#: Bytes of the IPv4 and TCP headers of a segment, and of the options in it.
_HEADERS_OF_IP, _TIME_STAMPS = 40, 12


def pt2pt(topology: Topology, law: Law, request: Request, case: CaseRequest) -> Workload:
    """Pass messages from rank i of the first half to rank i of the second: to and fro, or in windows."""
    link = first_link(topology, law, request)
    limit = link.eager_bytes if request.eager_bytes is None else request.eager_bytes
    return _pairs(topology, law, request, case, dataclasses.replace(link, eager_bytes=limit))


def tcp(topology: Topology, law: Law, request: Request, case: CaseRequest) -> Workload:
    """Do the same over sockets, slower by the factors of the law."""
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
    """Transfer to and fro, or in windows; fences and locks cost an empty message."""
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
    """Let the pairs of a round exchange messages, in turn or at once; ValueError where there is no such round."""
    params = case.params
    met = pairs_of_round(request.expected, int(params["round"]))
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
        " ".join(f"{first}-{second}" for first, second in met),
    )


def pairs_of_round(ranks: int, number: int) -> list[_Pair]:
    """Return the pairs of a round, the lower rank first, by the circle method, in the order of the program.

    Two ranks meet if the sum of their numbers is that of the round, modulo the number of rounds. A rank that would
    meet itself meets the last rank if the number of ranks is even; else it rests.
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
    """Return the seconds of one iteration of a pair in its round."""
    pair, every = met
    hosts = _hosts(request, pair)
    across = hosts[0] != hosts[1]
    between = sum(first != second for first, second in (_hosts(request, each) for each in every))
    link = link_between(topology, law, request, *pair)
    loaded = between if across and params["schedule"] == "all" else 1
    rate = share(law, link, loaded, loaded if across else 0)
    seconds = _iteration_s(link, rate, params, int(params["bytes"]))
    slowest = min(law.slow_hosts.get(host, 1.0) for host in hosts)
    return seconds * law.slow_paths.get(hosts, 1.0) / slowest


def _iteration_s(link: Link, rate: float, params: dict[str, ParamValue], size: int) -> float:
    """Return the seconds of a message to and fro, or of a window of messages, one way or both."""
    if "latency" in str(params["pattern"]):
        return 2 * one_way(link, size, rate)
    rate *= link.duplex / 2 if params["pattern"] == "bidirectional" else 1.0
    return window_of(link, size, int(params["window"]), rate)


def _work(params: dict[str, ParamValue], size: int, pairs: int = 1) -> dict[str, float]:
    """Return the messages and bytes of all pairs in an iteration."""
    to_and_fro = "latency" in str(params["pattern"])
    each = 2 if to_and_fro else (2 if params["pattern"] == "bidirectional" else 1) * int(params["window"])
    work = {"messages": float(each * pairs), "bytes": float(each * pairs * size)}
    return work | ({"one-way": 2.0} if to_and_fro else {})


def _hosts(request: Request, pair: _Pair) -> tuple[str, str]:
    first, second = (request.hosts[request.host_of(rank)] for rank in pair)
    return first, second


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
