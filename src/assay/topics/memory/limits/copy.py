"""Bytes per second that one core copies."""

from assay.analyse.bounds import Bounds, Law, describe, of_core
from assay.model.result import Estimate, Limit
from assay.model.text import text
from assay.model.units import format_size

#: Bytes that a core stores in the first cache in one cycle, by archspec's name of the microarchitecture. From the
#: vendors' optimisation manuals: an assumption, and the limit says so.
_STORED = {
    **dict.fromkeys(("haswell", "broadwell", "skylake", "zen2", "zen3", "zen4"), 32),
    **dict.fromkeys(("skylake_avx512", "cascadelake", "icelake", "sapphirerapids", "zen5"), 64),
    "zen": 16,
}


def _limit(estimate: Estimate, bounds: Bounds) -> Limit | None:
    """Return what a core stores in the first cache, the fastest copy in further caches, its traffic in memory."""
    buffers = "cold" if estimate.params.get("buffers") == "cold" else "hot"
    stored = _stored(estimate, bounds) if buffers == "hot" else None
    if stored:
        return stored
    best = bounds.best_like(estimate, buffers)
    size = best.params.get("bytes") if best else None
    if best is None or best.median is None or size is None:  # an import, which does not state its sizes
        return None
    of = text(
        "the best measured copy of this run ({size}, in memory)"
        if buffers == "cold"
        else "the best measured copy of this run ({size}, in cache)",
        size=format_size(int(size)),
    )
    fastest = Limit(best.median, "measured", of, "copy", "core", measured_by=best.id)
    stream = bounds.best_on(estimate, "memory-rate", "copy")
    if buffers == "hot" or stream is None or stream.median is None or stream.median / 2 <= best.median:
        return fastest
    of = text(
        "half of the best measured copy of STREAM on these cores ({which}), which counts bytes twice",
        which=describe(stream),
    )
    return Limit(stream.median / 2, "measured", of, "copy", "core")


def _stored(estimate: Estimate, bounds: Bounds) -> Limit | None:
    """Return the bytes stored per cycle x the clock under load, where source and target fit the first cache."""
    machine, clock, size = bounds.machine(estimate), bounds.loaded_clock(estimate), estimate.params.get("bytes")
    if machine is None or clock is None or size is None or not estimate.placement.cpus:
        return None
    name = machine.fact("processor", "microarchitecture").value
    width = _STORED.get(name) if isinstance(name, str) else None
    data = machine.topology.data_caches(estimate.placement.cpus[0][:1])
    first = min((each.size_bytes for each in data if each.level == 1), default=0)
    if width is None or 2 * int(size) > first:
        return None
    of = text(
        "{width} B stored a cycle (assumed for {name}) x {clock}", width=width, name=str(name), clock=clock[1]
    )
    return Limit(width * clock[0], "derived", of, "copy", "core")


law = Law(("copy",), _limit, given=of_core)
