"""Possible causes of a step in the law of a curve of messages."""

from collections.abc import Iterator

from assay.analyse.evidence import Evidence
from assay.analyse.messages import place
from assay.analyse.messages.curves import BYTES
from assay.analyse.messages.steps import MessageLaw, Step
from assay.model import roles
from assay.model.imported import UNSTATED
from assay.model.result import Burst, Estimate
from assay.model.text import joined, text
from assay.topics.messages import configured

#: A configured size explains a break within this factor of it.
_NEAR = 2
#: If the device is unknown; later generations of InfiniBand have larger ones.
_USUAL_MTUS = {"Ethernet": 1500, "InfiniBand": 2048}
#: A longer step is no work of the processor: a timer or the card waited.
_TIMER_S = 20e-6
_INLINE_BYTES = 1024


def burst(evidence: Evidence, model: MessageLaw, step: Step) -> Burst:
    """Return whether messages before a step can be the burst of a traffic shaper, which then ends at the step."""
    before = (evidence.estimates[point.estimate] for point in model.points if point.at[BYTES] == step.before)
    return next((each.exceeds.burst for each in before if each.exceeds), "")


def causes(evidence: Evidence, estimate: Estimate, step: Step) -> Iterator[str]:
    """Yield possible causes of this step, first those that are configured near it."""
    for name, value in configured.settings(evidence, estimate).variables.items():
        if value.isdecimal() and _near(int(value), step):
            yield text("{setting} of the MPI", setting=f"{name}={value}")
    # Sockets inside a node use the loopback interface, which has large frames.
    by_interface = _may_be_between(estimate) or roles.by_sockets(estimate)
    if by_interface and (mtu := frames(evidence, estimate, step)):
        yield text("messages longer than one frame ({frames})", frames=mtu)
    if roles.by_sockets(estimate):
        yield text("socket buffers")
    else:
        yield text("the MPI's switch from the eager to the rendezvous protocol")
    if _may_be_between(estimate) and step.seconds >= _TIMER_S:
        yield text("interrupt coalescing of the network card (rx-usecs)")
    if _may_be_between(estimate) and step.after <= _INLINE_BYTES and not configured.is_tcp(evidence, estimate):
        yield text("the card takes small messages inline with the command and fetches larger ones")
    if not place.between(estimate):
        yield text("buffers that no longer fit a cache")


def _may_be_between(estimate: Estimate) -> bool:
    """Whether messages pass between nodes, or their place is not stated."""
    return place.between(estimate) or estimate.placement.label == UNSTATED


def frames(evidence: Evidence, estimate: Estimate, step: Step) -> str:
    """Return the MTU near this step, in words; empty if none is near it."""
    known = configured.mtu(evidence, estimate)
    if known is not None:
        return f"MTU {known} B" if _near(known, step) else ""
    possible = ("Ethernet",) if configured.is_ethernet(evidence) else tuple(_USUAL_MTUS)
    usual = [
        text("{size} of {network}", size=f"{_USUAL_MTUS[network]} B", network=network)
        for network in (possible if _may_be_between(estimate) else ())
        if _near(_USUAL_MTUS[network], step)
    ]
    return text("if the MTU is the default {sizes}", sizes=joined(", ", usual)) if usual else ""


def _near(size: int, step: Step) -> bool:
    return step.before <= _NEAR * size and size <= _NEAR * step.after
