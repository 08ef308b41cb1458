"""The limits of a link between nodes, from the facts of its device: frames, line code, PCI Express."""

from collections.abc import Iterable, Iterator
from typing import Literal

import msgspec

from assay.analyse.joint import short
from assay.model import roles
from assay.model.facts import Fact
from assay.model.machine import INFINIBAND, Device, Machine
from assay.model.plan import Plan
from assay.model.result import Estimate, Limit
from assay.model.text import Text, filled, text
from assay.model.units import format_quantity

_BITS = 8
#: Preamble 8 B, header 14 B, check sum 4 B and gap 12 B around each Ethernet frame (IEEE 802.3).
_FRAME = 38
#: Bytes of a frame besides its payload that a traffic shaper of Linux counts: the header, without the overhead of
#: the wire.
_COUNTED = 14
#: IPv4 and TCP headers of 20 B each, and the time stamps of 12 B that Linux sends with each segment (RFC 7323).
_HEADERS = 52
#: Ports whose rate, as Linux states it, includes the line code: bits of payload, and bits sent. Later ones (EDR,
#: HDR ...) are stated without it (drivers/infiniband/core/sysfs.c, InfiniBand Architecture, volume 2).
_CODES = {"SDR": (8, 10), "DDR": (8, 10), "QDR": (8, 10), "FDR": (64, 66)}
#: Transfers per second up to which PCI Express uses 8b/10b (generations 1, 2), and 128b/130b (3, 4, 5).
_PCIE_8B, _PCIE_128B = 5e9, 32e9
#: Headers around a segment of TCP in a frame, by the family of its addresses; a segment includes its time stamps.
_HEADERS_OF = {"ipv4": 40, "ipv6": 60}
_TIME_STAMPS = 12
#: A device carried messages if it sent this share of their bytes or more.
CARRIED = 0.5


def tcp_share(mtu: int) -> float:
    """Return payload of TCP over bytes on the wire: 1448/1538 = 0.941 for an MTU of 1500, 0.990 for 9000."""
    return (mtu - _HEADERS) / (mtu + _FRAME)


def asked(estimate: Estimate, plan: Plan) -> str:
    """Return the requested device of messages; empty if none was named."""
    for factor in plan.factors:
        if factor.kind == "network" and factor.name in estimate.factors:
            return factor.devices.get(estimate.factors[factor.name], "")
    return plan.network


def carrier(estimate: Estimate) -> str:
    """Return the device that carried the messages, by its counters; empty if none did, or none can be read."""
    proven = estimate.placement.proven
    carried = proven.carried if proven else {}
    most = max(carried, key=lambda name: carried[name], default="")
    return most if most and carried[most] >= CARRIED else ""


def device(machine: Machine, name: str, estimate: Estimate) -> Device | None:
    """Return the network device of this name, with its MTU at the time of the estimate."""
    found, proven = machine.network_device(name), estimate.placement.proven
    read = {short(host): mtu for host, mtu in proven.mtus.items()} if proven else {}
    mtu = read.get(short(machine.host))
    if found is None or found.kind != "network" or mtu is None or name != carrier(estimate):
        return found
    source = "/sys/class/net, read while the messages passed"
    return msgspec.structs.replace(found, facts={**found.facts, "mtu": Fact(mtu, "B", source)})


def in_frames_of(found: Device, estimate: Estimate) -> Device:
    """Return the device with the frames that an estimate used: shorter segments of sockets make shorter frames."""
    segment, mtu = int(roles.level_of(estimate, "segment-size") or 0), found.number("mtu")
    if not segment or mtu is None:
        return found
    taken = min(int(mtu), segment + _around(estimate))
    shorter = msgspec.structs.replace(found.facts["mtu"], value=taken)
    return msgspec.structs.replace(found, facts={**found.facts, "mtu": shorter})


def mtu_for(segment: int, estimate: Estimate) -> int:
    """Return the MTU that a segment with so many bytes of a message fills, with its time stamps."""
    return segment + _TIME_STAMPS + _around(estimate)


def _around(estimate: Estimate) -> int:
    return _HEADERS_OF[str(roles.level_of(estimate, "address-family") or "ipv4")]


def limits(found: Device) -> Iterator[Limit]:
    """Yield limits of the payload in one direction, in B/s: wire, traffic shaper, slot of the card."""
    wire = _infiniband(found) if found.kind == "infiniband" else _ethernet(found)
    yield from filter(None, (wire, shaped(found), pcie(found)))


def raw(found: Device) -> float | None:
    """Return the rate of the wire in one direction in B/s, headers included; None without a wire."""
    return (wire_bits(found) or 0.0) / _BITS or None


def wire_bits(found: Device) -> float | None:
    """Return the same in bit/s, as wires are named."""
    return None if found.value("virtual") else found.number("rate" if found.kind == "infiniband" else "speed")


def held_bits(found: Device) -> float | None:
    """Return the rate of its traffic shaper in bit/s, headers included; None without a shaper."""
    return found.number("shaped rate")


def bucket_bytes(found: Device) -> int | None:
    """Return the bytes that its traffic shaper lets pass at once, 0 if it has no bucket; None if unknown."""
    value = found.value("shaped burst")
    return value if isinstance(value, int) else None


def shaped(found: Device) -> Limit | None:
    """Return the limit of its traffic shaper; None without a shaper."""
    of = text("the rate of {device}: {rate}, set by its traffic shaper, x {share} (TCP in frames of MTU {mtu})")
    return _framed(found, held_bits(found), _COUNTED, of, "shaper")


def _framed(
    found: Device, rate: float | None, around: int, of: Text, kind: Literal["shaper", "wire"]
) -> Limit | None:
    """The limit of TCP in frames of the device; None if its MTU or the rate is unknown.

    Args:
        found: the device.
        rate: in bits per second.
        around: counted bytes besides the payload of each frame.
        of: template of the name of the limit.
        kind: of limit.
    """
    mtu = found.number("mtu")
    if rate is None or mtu is None:
        return None
    words = {
        "device": found.name,
        "rate": format_quantity(rate, "bit/s"),
        "share": f"{mtu - _HEADERS:.0f}/{mtu + around:.0f}",
        "mtu": f"{mtu:.0f} B",
    }
    value = rate / _BITS * ((mtu - _HEADERS) / (mtu + around))
    return Limit(value, "derived", filled(of, words), kind, framed=True)


def pcie(found: Device) -> Limit | None:
    """Return the limit of the card's slot at its present speed and width, packet headers included."""
    speed, lanes = found.number("PCIe transfer rate"), found.number("PCIe lanes")
    if speed is None or lanes is None or speed > _PCIE_128B:
        return None
    bits, of = (8, 10) if speed <= _PCIE_8B else (128, 130)
    value = speed * lanes * bits / of / _BITS
    return Limit(
        value,
        "derived",
        text(
            "the PCI Express slot of {device}: {lanes} lanes x {speed} x {code}",
            device=found.name,
            lanes=round(lanes),
            speed=f"{speed / 1e9:g} GT/s",
            code=f"{bits}/{of} ({bits}b/{of}b)",
        ),
        "pcie",
    )


def _ethernet(found: Device) -> Limit | None:
    """The limit of an Ethernet wire; IP over InfiniBand has other headers."""
    if found.value("virtual") or found.value("link layer") == INFINIBAND:
        return None
    of = text("the wire rate of {device}: {rate} x {share} (TCP in frames of MTU {mtu})")
    return _framed(found, found.number("speed"), _FRAME, of, "wire")


def _infiniband(found: Device) -> Limit | None:
    rate = found.number("rate")
    if rate is None:
        return None
    lanes = str(found.value("lanes") or "")
    coded = _CODES.get(lanes.rpartition(" ")[2]) if found.value("link layer") != "Ethernet" else None
    bits, of = coded or (1, 1)
    shown = f"{format_quantity(rate, 'bit/s')} ({lanes})" if lanes else format_quantity(rate, "bit/s")
    wire = (
        text(
            "the wire rate of {device}: {rate} x {code}",
            device=found.name,
            rate=shown,
            code=f"{bits}/{of} ({bits}b/{of}b)",
        )
        if coded
        else text("the wire rate of {device}: {rate}, without its line code", device=found.name, rate=shown)
    )
    return Limit(rate / _BITS * bits / of, "derived", wire, "wire")


def narrowest(found: Iterable[Limit]) -> Limit | None:
    """Return the smallest limit; None if there is none."""
    return min(found, key=lambda each: each.value, default=None)
