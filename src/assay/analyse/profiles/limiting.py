"""What limits long messages, as far as the run shows it: what can be reached is a limit, what is not is none."""

from typing import NamedTuple

from assay.analyse.bounds import Bounds
from assay.analyse.messages import link
from assay.model.machine import Device
from assay.model.profile import Ceiling, LimitedBy, Stated
from assay.model.result import Estimate, Limit

#: Who gets so much of a limit stands at it.
REACHED = 0.90
#: So many times what one pair gets is more than one pair.
_MORE = 1.10


class Long(NamedTuple):
    """Long messages of one way, and what was measured beside them.

    Attributes:
        estimate: in one direction; None where none was measured.
        rate: of it.
        share: of its ceiling; None without one.
        tcp_share: of sockets over the same way.
        pairs_rate: of many pairs over the same way.
        over_copy: inside a node, over a plain copy by one core.
    """

    estimate: Estimate | None
    rate: Stated | None
    share: Stated | None
    tcp_share: Stated | None
    pairs_rate: Stated | None
    over_copy: Stated | None


def ceiling(estimate: Estimate | None, bounds: Bounds) -> tuple[LimitedBy, Ceiling] | None:
    """What kind of limit an estimate stands against, and the limit; None without one."""
    if estimate is None or estimate.limit is None:
        return None
    limit = estimate.limit
    bare = Ceiling(limit.value, limit.of)
    if len(estimate.placement.hosts) == 1:
        return "memory", bare
    machine = bounds.machine(estimate)
    name = link.carrier(estimate) or link.asked(estimate, bounds.plan)
    found = link.device(machine, name) if machine else None
    return ("given", bare) if found is None or limit.source == "given" else _of_device(limit, found)


def _of_device(limit: Limit, found: Device) -> tuple[LimitedBy, Ceiling]:
    if _is(limit, link.shaped(found)):
        return "shaper", Ceiling(limit.value, limit.of, found.name, link.held_bits(found))
    if _is(limit, link.pcie(found)):
        return "slot", Ceiling(limit.value, limit.of, found.name)
    return "wire", Ceiling(limit.value, limit.of, found.name, link.wire_bits(found))


def _is(limit: Limit, law: Limit | None) -> bool:
    return law is not None and limit.of.startswith(law.of)


def limited_by(long: Long, kind: LimitedBy | None) -> LimitedBy:
    """The limit that the upper end reaches, as in `link_ceiling`; else who gets more; else why nobody knows."""
    if long.estimate is None or long.rate is None:
        return "not-measured"
    proven, between = long.estimate.placement.proven, len(long.estimate.placement.hosts) > 1
    told: tuple[tuple[LimitedBy, bool], ...] = (
        (kind or "undecided", long.share is not None and long.share.most >= REACHED),
        ("mpi", _reached(long.tcp_share)),
        ("one-pair", long.pairs_rate is not None and long.pairs_rate.least > _MORE * long.rate.most),
        ("copy", _reached(long.over_copy)),
        ("one-machine", between and not kind and proven is not None and proven.machines == 1),
        ("undecided", kind is not None),
    )
    return next((name for name, shows in told if shows), "no-limit-known")


def _reached(share: Stated | None) -> bool:
    return share is not None and share.least >= REACHED
