"""What a link between nodes can carry, from the facts of its device: frames, code of the wire, and PCI Express."""

from collections.abc import Iterable, Iterator, Mapping
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
#: What Linux counts of a frame before a shaper lets it go: its header, not what the wire adds.
_COUNTED = 14
#: IPv4 and TCP headers of 20 B each, and the time stamps of 12 B that Linux sends with each segment (RFC 7323).
_HEADERS = 52
#: Ports whose rate, as Linux gives it, still holds the code of the wire: bits of payload of those sent. Later ones
#: (EDR, HDR ...) are given without it (drivers/infiniband/core/sysfs.c, InfiniBand Architecture, volume 2).
_CODES = {"SDR": (8, 10), "DDR": (8, 10), "QDR": (8, 10), "FDR": (64, 66)}
#: Transfers per second up to which PCI Express uses 8b/10b (generations 1, 2), and 128b/130b (3, 4, 5).
_PCIE_8B, _PCIE_128B = 5e9, 32e9
#: Headers around a segment of TCP in a frame, by the family of its addresses; a segment includes its time stamps.
_HEADERS_OF = {"ipv4": 40, "ipv6": 60}
_TIME_STAMPS = 12
#: A device carried messages when it sent so much of their bytes.
CARRIED = 0.5


def tcp_share(mtu: int) -> float:
    """Payload of TCP over bits on an Ethernet wire: 1448/1538 = .941 for an MTU of 1500, .990 for 9000."""
    return (mtu - _HEADERS) / (mtu + _FRAME)


def asked(estimate: Estimate, plan: Plan) -> str:
    """The device that messages were to take; empty where none was named."""
    for factor in plan.factors:
        if factor.kind == "network" and factor.name in estimate.factors:
            return factor.devices.get(estimate.factors[factor.name], "")
    return plan.network


def carrier(estimate: Estimate) -> str:
    """The device whose counters show that it carried the messages; empty where none did, or none can be read."""
    proven = estimate.placement.proven
    carried = proven.carried if proven else {}
    most = max(carried, key=lambda name: carried[name], default="")
    return most if most and carried[most] >= CARRIED else ""


def device(machine: Machine, name: str, estimate: Estimate) -> Device | None:
    """The network device of this name as the messages of an estimate found it: with the MTU that it had then."""
    found, proven = machine.network_device(name), estimate.placement.proven
    read = {short(host): mtu for host, mtu in proven.mtus.items()} if proven else {}
    mtu = read.get(short(machine.host))
    if found is None or found.kind != "network" or mtu is None or name != carrier(estimate):
        return found
    source = "/sys/class/net, read while the messages passed"
    return msgspec.structs.replace(found, facts={**found.facts, "mtu": Fact(mtu, "B", source)})


def in_frames_of(found: Device, estimate: Estimate) -> Device:
    """The device as the messages of an estimate used it: shorter segments of sockets make shorter frames."""
    segment, mtu = int(roles.level_of(estimate, "segment-size") or 0), _number(found.facts, "mtu")
    if not segment or mtu is None:
        return found
    taken = min(int(mtu), segment + _around(estimate))
    shorter = msgspec.structs.replace(found.facts["mtu"], value=taken)
    return msgspec.structs.replace(found, facts={**found.facts, "mtu": shorter})


def mtu_for(segment: int, estimate: Estimate) -> int:
    """The MTU that segments with so many bytes of messages fill, beside their time stamps."""
    return segment + _TIME_STAMPS + _around(estimate)


def _around(estimate: Estimate) -> int:
    return _HEADERS_OF[str(roles.level_of(estimate, "address-family") or "ipv4")]


def limits(found: Device) -> Iterator[Limit]:
    """Bytes per second of payload in one direction: of the wire, of its shaper, of the slot of the card."""
    wire = _infiniband(found) if found.kind == "infiniband" else _ethernet(found)
    yield from filter(None, (wire, shaped(found), pcie(found)))


def raw(found: Device) -> float | None:
    """Bytes per second that the wire moves in one direction, headers and all; None where there is no wire."""
    return (wire_bits(found) or 0.0) / _BITS or None


def wire_bits(found: Device) -> float | None:
    """The same in bits per second, as wires are named."""
    return None if _virtual(found) else _number(found.facts, "rate" if found.kind == "infiniband" else "speed")


def held_bits(found: Device) -> float | None:
    """Bits per second, headers and all, to which a shaper of the kernel holds it; None where nothing shapes."""
    return _number(found.facts, "shaped rate")


def shaped(found: Device) -> Limit | None:
    """What a shaper of the kernel lets through, whatever carries it then; None where nothing shapes."""
    told = text("the rate of {device}: {rate}, set by its traffic shaper, x {share} (TCP in frames of MTU {mtu})")
    return _framed(found, held_bits(found), _COUNTED, told, "shaper")


def _framed(
    found: Device, rate: float | None, around: int, of: Text, kind: Literal["shaper", "wire"]
) -> Limit | None:
    """What TCP gets in frames of the device; None where its MTU or the rate is unknown.

    Args:
        found: the device.
        rate: in bits per second.
        around: bytes beside each frame's payload that count.
        of: template of what the limit is.
        kind: of limit.
    """
    mtu = _number(found.facts, "mtu")
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
    """What the slot of the card carries at its present speed and width, before the headers of its packets."""
    speed, lanes = _number(found.facts, "PCIe transfer rate"), _number(found.facts, "PCIe lanes")
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
    """Only of Ethernet: what IP over InfiniBand puts around its packets is another thing."""
    if _virtual(found) or _known(found.facts, "link layer") == INFINIBAND:
        return None
    told = text("the wire rate of {device}: {rate} x {share} (TCP in frames of MTU {mtu})")
    return _framed(found, _number(found.facts, "speed"), _FRAME, told, "wire")


def _infiniband(found: Device) -> Limit | None:
    rate = _number(found.facts, "rate")
    if rate is None:
        return None
    lanes = str(_known(found.facts, "lanes") or "")
    coded = _CODES.get(lanes.rpartition(" ")[2]) if _known(found.facts, "link layer") != "Ethernet" else None
    bits, of = coded or (1, 1)
    told = f"{format_quantity(rate, 'bit/s')} ({lanes})" if lanes else format_quantity(rate, "bit/s")
    wire = (
        text(
            "the wire rate of {device}: {rate} x {code}",
            device=found.name,
            rate=told,
            code=f"{bits}/{of} ({bits}b/{of}b)",
        )
        if coded
        else text("the wire rate of {device}: {rate}, without its line code", device=found.name, rate=told)
    )
    return Limit(rate / _BITS * bits / of, "derived", wire, "wire")


def _virtual(found: Device) -> bool:
    """An interface without a wire names a speed that nothing keeps."""
    return bool(_known(found.facts, "virtual"))


def _known(facts: Mapping[str, Fact], name: str) -> object:
    fact = facts.get(name)
    return fact.value if fact and fact.known else None


def _number(facts: Mapping[str, Fact], name: str) -> float | None:
    value = _known(facts, name)
    return float(value) if isinstance(value, int | float) and value > 0 else None


def narrowest(found: Iterable[Limit]) -> Limit | None:
    """The least of them; None of none."""
    return min(found, key=lambda each: each.value, default=None)
