"""Bytes per second that one core copies."""

import msgspec

from assay.analyse.bounds import Bounds, Law, describe
from assay.model.result import Estimate, Limit
from assay.model.text import text
from assay.model.units import format_size


def _limit(estimate: Estimate, bounds: Bounds) -> Limit | None:
    """Copies that are met again in cache: the fastest by a core of this kind. In memory: what the core moves."""
    buffers = "cold" if estimate.params.get("buffers") == "cold" else "hot"
    best = bounds.best_like(estimate, buffers)
    size = best.params.get("bytes") if best else None
    if best is None or best.median is None or size is None:  # of others, who do not say how much they copied
        return None
    of = text(
        "the best measured copy of this run ({size}, in memory)"
        if buffers == "cold"
        else "the best measured copy of this run ({size}, in cache)",
        size=format_size(int(size)),
    )
    fastest = Limit(best.median, "measured", of, "core")
    stream = bounds.best_on(estimate, "stream", "bandwidth", "copy")
    if buffers == "hot" or stream is None or stream.median is None or stream.median / 2 <= best.median:
        return fastest
    of = text(
        "half of the best measured copy of STREAM on these cores ({which}), which counts bytes twice",
        which=describe(stream),
    )
    return Limit(stream.median / 2, "measured", of, "core")


def _given(_estimate: Estimate, _bounds: Bounds, told: Limit) -> Limit:
    return msgspec.structs.replace(told, scope="core")


law = Law(("copy",), _limit, given=_given)
