"""Bytes per second that one core copies."""

from assay.analyse.bounds import Bounds, Law, describe
from assay.model.result import Estimate, Limit


def _limit(estimate: Estimate, bounds: Bounds) -> Limit | None:
    """Copies that are met again in cache: the fastest of this run. In memory: what the same cores move at best."""
    buffers = "cold" if estimate.params.get("buffers") == "cold" else "hot"
    best = bounds.best("memcpy", estimate.metric, buffers)
    if best is None or best.median is None:
        return None
    where = "in memory" if buffers == "cold" else "in cache"
    fastest = Limit(
        best.median, "measured", f"the best measured copy of this run ({best.params.get('bytes')} B, {where})"
    )
    stream = bounds.best_on(estimate, "stream", "bandwidth", "copy")
    if buffers == "hot" or stream is None or stream.median is None or stream.median / 2 <= best.median:
        return fastest
    of = f"half of the best measured copy of STREAM on these cores ({describe(stream)}), which counts bytes twice"
    return Limit(stream.median / 2, "measured", of)


law = Law(("copy",), _limit)
