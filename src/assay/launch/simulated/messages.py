"""Simulated ranks that pass messages: where each of them is, how long its messages take, over which interface."""

import dataclasses
from collections.abc import Sequence

from assay.launch.simulated.law import Law, Link
from assay.launch.simulated.loads import apart
from assay.launch.simulated.rates import PAGE_BYTES, Workload, mean, page_shares, params_of
from assay.launch.simulated.request import CaseRequest, Request
from assay.model.benchmark import ParamValue
from assay.model.machine import Topology
from assay.model.record import Counter, HostTraffic, Traffic

_LOOPBACK = "lo"
_WINDOW = 64
#: Bytes on the wire for each byte of a message.
_HEADERS = 1.04
#: Of IPv4 and TCP around a segment, and of the options in it.
_HEADERS_OF_IP, _TIME_STAMPS = 40, 12
_ONE_SIDED: dict[str, ParamValue] = {
    "operation": "put",
    "synchronisation": "flush",
    "pattern": "latency",
    "bytes": 8,
    "allocation": "allocate",
    "window": _WINDOW,
}


def pt2pt(topology: Topology, law: Law, request: Request, case: CaseRequest) -> Workload:
    """Rank i of the first half with rank i of the second: to and fro, or windows of messages, one way or both."""
    link = link_of(topology, law, request)
    limit = link.eager_bytes if request.eager_bytes is None else request.eager_bytes
    return _pairs(topology, law, request, case, dataclasses.replace(link, eager_bytes=limit))


def tcp(topology: Topology, law: Law, request: Request, case: CaseRequest) -> Workload:
    """The same over sockets, slower by the law's factors."""
    link, (latency, each_byte) = link_of(topology, law, request), law.tcp
    slowed = dataclasses.replace(
        link, latency_s=latency * link.latency_s, rate=link.rate / each_byte, most=link.most / each_byte
    )
    params = params_of(case, {"send-buffer": 0, "segment": 0})
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
    return dataclasses.replace(load, segment=payload, lost=longest > law.longest_frame)


def onesided(topology: Topology, law: Law, request: Request, case: CaseRequest) -> Workload:
    """To and fro until each sees it, or a window of transfers; fences and locks cost a message without bytes."""
    params = params_of(case, _ONE_SIDED)
    link, size = link_of(topology, law, request), int(params["bytes"])
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


def filled(request: Request, hosts: tuple[str, ...]) -> tuple[str, ...]:
    """Those of `hosts` that the ranks of a launch fill; all of them for a program without ranks of its own."""
    return hosts[: max(1, request.expected // len(request.ranks))] if request.ranks else hosts


def traffic(law: Law, request: Request, hosts: Sequence[str], payload: float) -> Traffic:
    """What the interfaces of the hosts counted for so many bytes of messages; memory has no counter."""
    between = request.network or law.interfaces[0]
    inside = _LOOPBACK if request.program == "tcp" else ""
    way = law.detours.get(between, between) if len(hosts) > 1 else law.detours.get("inside", inside)
    names = dict.fromkeys(filter(None, [request.network, *law.interfaces, _LOOPBACK]))
    each = round(_HEADERS * payload / len(hosts))
    counted = {name: Counter(each, each) if name == way else Counter(0, 0) for name in names}
    return Traffic(1.0, payload, tuple(HostTraffic(host, boot_id(law, host), counted) for host in hosts))


def boot_id(law: Law, host: str) -> str:
    """Of the kernel of a host."""
    return "boot-of-all" if law.one_kernel else f"boot-of-{host}"


def link_of(topology: Topology, law: Law, request: Request) -> Link:
    """The way between the first two partners."""
    return link_between(topology, law, request, 0, request.expected // 2)


def link_between(topology: Topology, law: Law, request: Request, first: int, second: int) -> Link:
    """The way between two ranks, numbered host by host."""
    here = len(request.ranks)
    if first // here != second // here:
        return law.links.get(request.network) or law.links["host"]
    return law.links[apart(topology, (request.ranks[first % here][0], request.ranks[second % here][0])) or "core"]


def one_way(link: Link, size: int, rate: float) -> float:
    """Seconds of a message that finds its receiver waiting, at so many bytes per second."""
    return link.latency_s + _announced(link, size) + size / rate


def window_of(link: Link, size: int, window: int, rate: float) -> float:
    """Seconds of messages one behind the other, then an acknowledgement."""
    return window * (link.gap_s + size / rate) + _announced(link, size) + link.latency_s


def share(law: Law, link: Link, pairs: int, links: int) -> float:
    """Bytes per second of each of so many pairs, one direction: of their link, and of what all links share.

    Args:
        law: of the machine.
        link: that each of them takes.
        pairs: at once.
        links: between nodes, in equal use by them; 0 inside a node.
    """
    most = min(link.most * max(1, links), law.fabric) if links else link.most
    return min(link.rate, most / pairs)


def _pairs(topology: Topology, law: Law, request: Request, case: CaseRequest, link: Link) -> Workload:
    params = params_of(case, {"pattern": "latency", "bytes": 8, "calls": "nonblocking", "window": _WINDOW})
    pattern, size = str(params["pattern"]), int(params["bytes"]) + int(params.get("offset", 0))
    pairs = request.expected // 2
    rate = share(law, link, pairs, len(request.hosts) // 2)
    if "latency" in pattern:
        seconds, messages = 2 * one_way(link, size, rate), 2 * pairs
    else:
        both = pattern == "bidirectional"
        rate *= link.duplex / 2 if both else 1.0
        seconds = window_of(link, size, int(params["window"]), rate)
        messages = (2 if both else 1) * pairs * int(params["window"])
    work = {"messages": float(messages), "bytes": float(messages * size)}
    work |= {"one-way": 2.0} if "latency" in pattern else {}
    slow = [min(law.slow_cores.get(cpu, 1.0) for cpu in cpus) for cpus in request.ranks]
    timing = request.expected if pattern == "bidirectional" else pairs
    return Workload(
        params,
        {"message": work},
        {"message": seconds},
        max(PAGE_BYTES, 2 * size),
        mean(page_shares(topology, request, serial=False)),
        tuple(1 / slow[number % len(slow)] for number in range(timing)),
        work["bytes"],
    )


def _announced(link: Link, size: int) -> float:
    return link.announce_s if size > link.eager_bytes else 0.0
