"""Simulated ranks that pass messages: where each of them is, how long its messages take, over which interface."""

import dataclasses
import math
from collections.abc import Sequence

from assay.launch.simulated.law import Law, Link
from assay.launch.simulated.loads import apart
from assay.launch.simulated.rates import PAGE_BYTES, Workload, mean, page_shares, params_of
from assay.launch.simulated.request import CaseRequest, Request
from assay.model.machine import Topology
from assay.model.record import Counter, HostTraffic, Traffic

_LOOPBACK = "lo"
_WINDOW = 64
#: Bytes on the wire for each byte of a message.
_HEADERS = 1.04


def pt2pt(topology: Topology, law: Law, request: Request, case: CaseRequest) -> Workload:
    """Rank i of the first half with rank i of the second: to and fro, or windows of messages, one way or both."""
    return _pairs(topology, law, request, case, _link(topology, law, request))


def tcp(topology: Topology, law: Law, request: Request, case: CaseRequest) -> Workload:
    """The same over sockets, slower by the law's factors."""
    link, (latency, each_byte) = _link(topology, law, request), law.tcp
    slowed = dataclasses.replace(
        link, latency_s=latency * link.latency_s, rate=link.rate / each_byte, most=link.most / each_byte
    )
    return _pairs(topology, law, request, case, slowed)


def collective(topology: Topology, law: Law, request: Request, case: CaseRequest) -> Workload:
    """As many steps as the binary logarithm of the ranks, each with the message."""
    params = params_of(case, {"operation": "allreduce", "bytes": 8, "calls": "blocking", "root": "fixed"})
    steps = math.ceil(math.log2(max(2, request.expected)))
    seconds = steps * _one_way(_link(topology, law, request), int(params["bytes"]), 1)
    return Workload(
        params,
        {"slowest": {}, "own": {}},
        {"slowest": seconds, "own": seconds},
        PAGE_BYTES,
        mean(page_shares(topology, request, serial=False)),
        (1.0,) * request.expected,
        float(steps * int(params["bytes"])),
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


def _pairs(topology: Topology, law: Law, request: Request, case: CaseRequest, link: Link) -> Workload:
    params = params_of(case, {"pattern": "latency", "bytes": 8, "calls": "nonblocking", "window": _WINDOW})
    pattern, size = str(params["pattern"]), int(params["bytes"]) + int(params.get("offset", 0))
    pairs = request.expected // 2
    if "latency" in pattern:
        seconds, messages = 2 * _one_way(link, size, pairs), 2 * pairs
    else:
        both = pattern == "bidirectional"
        seconds = _window(link, size, pairs, int(params["window"]), both=both)
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


def _link(topology: Topology, law: Law, request: Request) -> Link:
    """The way between the first two partners."""
    if request.expected > len(request.ranks):
        return law.links.get(request.network) or law.links["host"]
    pair = (request.ranks[0][0], request.ranks[len(request.ranks) // 2][0])
    return law.links[apart(topology, pair) or "core"]


def _one_way(link: Link, size: int, pairs: int) -> float:
    return link.latency_s + _announced(link, size) + size / min(link.rate, link.most / pairs)


def _window(link: Link, size: int, pairs: int, window: int, *, both: bool) -> float:
    """Messages one behind the other, then an acknowledgement."""
    rate = min(link.rate, link.most / pairs) * (link.duplex / 2 if both else 1.0)
    return window * (link.gap_s + size / rate) + _announced(link, size) + link.latency_s


def _announced(link: Link, size: int) -> float:
    return link.announce_s if size > link.eager_bytes else 0.0
