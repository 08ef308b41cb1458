"""Simulated programs whose ranks pass messages in pairs."""

import dataclasses

from assay.simulation.law import Link
from assay.simulation.links import LOOPBACK, first_link, link_between, one_way, share, window_of
from assay.simulation.rates import Setting, Workload

#: Two ranks, the lower one first.
_Pair = tuple[int, int]

_MICROSECOND = 1e-6
#: Bytes of the IPv4 and TCP headers of a segment, and of the options in it.
_HEADERS_OF_IP, _TIME_STAMPS = 40, 12


def pt2pt(setting: Setting) -> Workload:
    """Pass messages from rank i of the first half to rank i of the second: to and fro, or in windows."""
    link, limit = first_link(setting), setting.request.eager_bytes
    return _pairs(setting, link if limit is None else dataclasses.replace(link, eager_bytes=limit))


def tcp(setting: Setting) -> Workload:
    """Do the same over sockets, slower by the factors of the law."""
    law, link, (latency, each_byte) = setting.law, first_link(setting), setting.law.tcp
    slowed = dataclasses.replace(
        link, latency_s=latency * link.latency_s, rate=link.rate / each_byte, most=link.most / each_byte
    )
    given, segment = int(setting.params["send-buffer"]), int(setting.params["segment"])
    mtu, each_frame = law.frames
    payload = min(segment or mtu, mtu - _HEADERS_OF_IP) - _TIME_STAMPS
    if each_frame:
        slowed = dataclasses.replace(slowed, rate=min(slowed.rate, payload / each_frame))
    if segment and law.segments:
        slowed = dataclasses.replace(slowed, eager_bytes=payload)
    if given and law.socket_buffers:
        slowed = dataclasses.replace(slowed, eager_bytes=given)
    load = _pairs(setting, slowed)
    longest = min(payload, int(load.work["message"]["bytes"]) // 2) + _TIME_STAMPS + _HEADERS_OF_IP
    return dataclasses.replace(load, segment=payload, lost=longest > law.longest_frame, inside=LOOPBACK)


def onesided(setting: Setting) -> Workload:
    """Transfer to and fro, or in windows; fences and locks cost an empty message."""
    link, size = first_link(setting), int(setting.params["bytes"])
    mode, one_direction = str(setting.params["synchronisation"]), setting.params["pattern"] == "bandwidth"
    empty = one_way(link, 0, link.rate)
    if one_direction:
        transfers = int(setting.params["window"])
        seconds = window_of(link, size, transfers, link.rate)
    elif mode in {"flush", "lock"} and setting.params["operation"] == "get":
        transfers, seconds = 1, empty + one_way(link, size, link.rate)
    else:
        transfers, seconds = 2, 2 * (one_way(link, size, link.rate) + empty)
    seconds += {"flush": 0.0, "pscw": 0.0}.get(mode, empty)
    work = {"bytes": float(transfers * size)} | ({} if one_direction else {"one-way": float(transfers)})
    return Workload({"transfer": work}, {"transfer": seconds}, paces={0: 1.0}, payload=work["bytes"])


def round_robin(setting: Setting) -> Workload:
    """Let the pairs of a round exchange messages, in turn or at once; ValueError where there is no such round."""
    met = pairs_of_round(setting.request.expected, int(setting.params["round"]))
    work = _work(setting, int(setting.params["bytes"]))
    seconds = [_seconds(setting, pair, met) for pair in met]
    taking = 2 if setting.params["pattern"] == "bidirectional" else 1
    timed = {rank: each for pair, each in zip(met, seconds, strict=True) for rank in pair[:taking]}
    least = min(seconds)
    return Workload(
        {"message": work},
        {"message": least},
        paces={rank: timed[rank] / least for rank in sorted(timed)},
        payload=len(met) * work["bytes"],
        pairs=" ".join(f"{first}-{second}" for first, second in met),
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


def _seconds(setting: Setting, pair: _Pair, every: list[_Pair]) -> float:
    """Return the seconds of one iteration of a pair in its round."""
    hosts = _hosts(setting, pair)
    across = hosts[0] != hosts[1]
    between = sum(first != second for first, second in (_hosts(setting, each) for each in every))
    link = link_between(setting, *pair)
    loaded = between if across and setting.params["schedule"] == "all" else 1
    rate = share(setting.law, link, loaded, loaded if across else 0)
    seconds = _iteration_s(setting, link, rate, int(setting.params["bytes"]))
    slowest = min(setting.law.slow_hosts.get(host, 1.0) for host in hosts)
    return seconds * setting.law.slow_paths.get(hosts, 1.0) / slowest


def _iteration_s(setting: Setting, link: Link, rate: float, size: int) -> float:
    """Return the seconds of a message to and fro, or of a window of messages, one way or both."""
    if "latency" in str(setting.params["pattern"]):
        return 2 * one_way(link, size, rate)
    rate *= link.duplex / 2 if setting.params["pattern"] == "bidirectional" else 1.0
    return window_of(link, size, int(setting.params["window"]), rate)


def _work(setting: Setting, size: int, pairs: int = 1) -> dict[str, float]:
    """Return the messages and bytes of all pairs in an iteration."""
    to_and_fro = "latency" in str(setting.params["pattern"])
    directions = 2 if setting.params["pattern"] == "bidirectional" else 1
    each = 2 if to_and_fro else directions * int(setting.params["window"])
    work = {"messages": float(each * pairs), "bytes": float(each * pairs * size)}
    return work | ({"one-way": 2.0} if to_and_fro else {})


def _hosts(setting: Setting, pair: _Pair) -> tuple[str, str]:
    first, second = (setting.request.hosts[setting.request.host_of(rank)] for rank in pair)
    return first, second


def _pairs(setting: Setting, link: Link) -> Workload:
    params, law = setting.params, setting.law
    size, pairs = int(params["bytes"]) + int(params.get("offset", 0)), setting.request.expected // 2
    rate = share(law, link, pairs, len(setting.request.hosts) // 2)
    seconds, work = _iteration_s(setting, link, rate, size), _work(setting, size, pairs)
    asleep_s, wake_s = law.wake
    seconds += wake_s if int(params["gap"]) * _MICROSECOND >= asleep_s else 0.0
    slow = [min(law.slow_cores.get(cpu, 1.0) for cpu in cpus) for cpus in setting.request.ranks]
    timing = setting.request.expected if params["pattern"] == "bidirectional" else pairs
    paces = {rank: 1 / slow[rank % len(slow)] for rank in range(timing)}
    return Workload({"message": work}, {"message": seconds}, paces=paces, payload=work["bytes"])


programs = {"pt2pt": pt2pt, "tcp": tcp, "onesided": onesided, "pairs": round_robin}
