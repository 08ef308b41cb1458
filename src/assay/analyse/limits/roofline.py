"""A rate of floating-point operations that memory decides: intensity x bandwidth."""

from assay.analyse.bounds import Bounds, Law, describe
from assay.analyse.limits import memory
from assay.model.result import Estimate, Limit

_TRAFFIC = "traffic"


def _limit(estimate: Estimate, bounds: Bounds) -> Limit | None:
    """Flops a byte of the same samples x what bounds their traffic, or the best flops of these cores if less."""
    traffic = bounds.same_case(estimate, _TRAFFIC)
    if traffic is None or not traffic.median or estimate.median is None:
        return None
    above = memory.law.limit(traffic, bounds)
    if above is None:
        return None
    intensity = estimate.median / traffic.median
    best = bounds.best_flops(estimate)
    if best is not None and best.median is not None and estimate.median <= best.median < intensity * above.value:
        return Limit(best.median, "measured", f"the best measured flops on these cores ({describe(best)})")
    return Limit(intensity * above.value, above.source, f"{intensity:.3g} flops a byte x {above.of}")


law = Law(("roofline",), _limit)
