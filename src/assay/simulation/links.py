"""The link between two simulated ranks: the time of a message, and the interface that carries it."""

import dataclasses
from collections.abc import Sequence

from assay.model.benchmark import Benchmark
from assay.model.traffic import Counter, HostTraffic, Traffic
from assay.simulation.law import Law, Link
from assay.simulation.rates import Setting, separation
from assay.simulation.request import Request

LOOPBACK = "lo"
#: Bytes on the wire for each byte of a message.
_HEADERS = 1.04


def hosts_in_use(request: Request, hosts: tuple[str, ...]) -> tuple[str, ...]:
    """Return the `hosts` that the ranks of a launch fill; all of them for a program without ranks."""
    if not request.ranks or request.counts:
        return hosts
    return hosts[: max(1, request.expected // len(request.ranks))]


def traffic(law: Law, request: Request, hosts: Sequence[str], payload: float, inside: str) -> Traffic:
    """Return the counters of the interfaces for a payload; `inside` carries the messages of a single host."""
    between = request.network or law.interfaces[0]
    carrier = law.detours.get(between, between) if len(hosts) > 1 else law.detours.get("inside", inside)
    names = dict.fromkeys(filter(None, [request.network, *law.interfaces, LOOPBACK]))
    each = round(_HEADERS * payload / len(hosts))
    counted = {name: Counter(each, each) if name == carrier else Counter(0, 0) for name in names}
    return Traffic(1.0, payload, tuple(HostTraffic(host, boot_id(law, host), counted) for host in hosts))


def boot_id(law: Law, host: str) -> str:
    """Return the boot id of the kernel of a host."""
    return "boot-of-all" if law.one_kernel else f"boot-of-{host}"


def first_link(setting: Setting) -> Link:
    """Return the link between the first two partners."""
    return link_between(setting, 0, setting.request.expected // 2)


def link_between(setting: Setting, first: int, second: int) -> Link:
    """Return the link between two ranks, numbered host by host."""
    request, law = setting.request, setting.law
    if request.host_of(first) != request.host_of(second):
        return _from_afar(setting, law.links.get(request.network) or law.links["host"], (first, second))
    cpus = tuple(request.ranks[rank % len(request.ranks)][0] for rank in (first, second))
    return law.links[separation(setting.topology, cpus) or "core"]


def _from_afar(setting: Setting, link: Link, ranks: tuple[int, int]) -> Link:
    """Return the link between two ranks, which may be farther from the card than others."""
    node = setting.law.cards.get(setting.request.network)
    cores = setting.topology.cores
    beside = [core for core in cores if core.numa == node]
    if setting.law.card_near == "package":
        beside = [core for core in cores if core.package in {each.package for each in beside}]
    near = {cpu for core in beside for cpu in core.cpus}
    far = 0 if node is None else sum(setting.request.every[rank][1][0] not in near for rank in ranks)
    later_s, share = setting.law.far_card
    left = share if far else 1.0
    return dataclasses.replace(
        link, latency_s=link.latency_s + far * later_s, rate=left * link.rate, most=left * link.most
    )


def exchanged(setting: Setting, benchmark: Benchmark) -> tuple[float, float]:
    """Return the seconds of the declared messages of a rank, one after the other, and the bytes of all ranks."""
    exchange = benchmark.growth.exchange(setting.params, setting.request.placement)
    if not exchange or not exchange.messages:
        return 0.0, 0.0
    link = first_link(setting)
    seconds = sum(number * one_way(link, size, link.rate) for number, size in exchange.messages)
    return seconds, setting.request.rank_count * sum(number * size for number, size in exchange.messages)


def one_way(link: Link, size: float, rate: float) -> float:
    """Return the seconds of a message to a waiting receiver, at `rate` bytes per second."""
    return link.latency_s + _rendezvous_s(link, size) + size / rate


def window_of(link: Link, size: int, window: int, rate: float) -> float:
    """Return the seconds of a window of messages, then an acknowledgement."""
    return window * (link.gap_s + size / rate) + _rendezvous_s(link, size) + link.latency_s


def share(law: Law, link: Link, pairs: int, links: int) -> float:
    """Return the bytes per second of each pair, one direction, limited by its link and by the fabric of all links.

    Args:
        law: law of the machine.
        link: link of each pair.
        pairs: number of pairs at once.
        links: links between nodes, which the pairs use equally; 0 inside a node.
    """
    most = min(link.most * max(1, links), law.fabric) if links else link.most
    return min(link.rate, most / pairs)


def _rendezvous_s(link: Link, size: float) -> float:
    return link.rendezvous_s if size > link.eager_bytes else 0.0
