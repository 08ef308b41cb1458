"""A rate of work that memory limits: intensity x bandwidth."""

from assay.analyse import limits
from assay.analyse.bounds import Bounds, Law, describe
from assay.analyse.parts import part
from assay.model.result import Estimate, Limit
from assay.model.text import text
from assay.topics.cores.limits import flops_peak

_FLOPS = "flop/s"


def _limit(estimate: Estimate, bounds: Bounds) -> Limit | None:
    """Return work per byte x the limit of the traffic; for flops the best rate of these cores if it is lower."""
    traffic = bounds.same_case(estimate, "memory-traffic")
    if traffic is None or not traffic.median or estimate.median is None:
        return None
    above = limits.limit("memory-traffic", traffic, bounds)
    if above is None:
        return None
    intensity = estimate.median / traffic.median
    best = bounds.best_flops(estimate) if estimate.unit == _FLOPS else None
    if best is not None and best.median is not None and estimate.median <= best.median < intensity * above.value:
        of = text("the best measured flops on these cores ({which})", which=describe(best))
        scope = flops_peak.scope_of(estimate, bounds.machine(estimate))
        return Limit(best.median, "measured", of, "flop-rate", scope, measured_by=best.id)
    of = (
        text("{intensity} flops a byte x {of}", intensity=f"{intensity:.3g}", of=above.of)
        if estimate.unit == _FLOPS
        else text("{of} / {bytes} B for each", bytes=f"{1 / intensity:.3g}", of=above.of)
    )
    own = estimate.id if above.measured_by == traffic.id else ""  # its own traffic is the limit
    return Limit(intensity * above.value, above.source, of, above.kind, above.scope, measured_by=own)


def _given(estimate: Estimate, bounds: Bounds, given: Limit) -> Limit | None:
    """Return a limit given for the machine, for all of its cores only."""
    machine = bounds.machine(estimate)
    return (
        given if machine and len(part(estimate, machine.topology).cores) == len(machine.topology.cores) else None
    )


law = Law(("roofline",), _limit, given=_given)
