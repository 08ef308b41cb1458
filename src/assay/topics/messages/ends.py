"""Both ends of a link: their MTU, and the share of the link rate that long messages between them get."""

from collections.abc import Iterable

from assay.analyse.messages import place
from assay.model import roles
from assay.model.result import Estimate
from assay.model.run import Run
from assay.topics.messages import link

#: A smaller share of the link rate is a shortfall.
SHARE = 0.90
#: The time of smaller messages is their start, not the link.
LONG_BYTES = 65536


def frames(estimate: Estimate, run: Run) -> tuple[str, tuple[tuple[str, int], ...]]:
    """Return the device that carried messages between nodes, else the requested one; host and MTU where known."""
    if not place.between(estimate):
        return "", ()
    name, found = link.carrier(estimate) or link.asked(estimate, run.plan), dict[str, int]()
    for host in estimate.placement.hosts:
        device = link.device(run.machines[host], name, estimate) if host in run.machines else None
        if mtu := device.number("mtu") if device else None:
            found[host] = int(mtu)
    return name, tuple(sorted(found.items()))


def differ(mtus: Iterable[tuple[str, int]]) -> bool:
    """Whether the hosts have different MTUs."""
    return len({mtu for _, mtu in mtus}) > 1


def tells(estimate: Estimate) -> bool:
    """Whether it is a bandwidth of messages between nodes, long enough to show their link."""
    return (
        estimate.declared.between_two
        and roles.role(estimate) == "message-bandwidth"
        and estimate.median is not None
        and place.between(estimate)
        and int(roles.level_of(estimate, "message-size") or 0) >= LONG_BYTES
    )


def most(estimate: Estimate) -> float:
    """Return the upper end of its share of its limit; 1 where it has no limit."""
    figure = estimate.median if estimate.hi is None else estimate.hi
    return (figure or 0.0) / estimate.limit.value if estimate.limit else 1.0
