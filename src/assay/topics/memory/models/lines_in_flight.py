"""Cache lines that one core has in flight: why it does not saturate the memory bandwidth."""

from collections.abc import Iterable

from assay.analyse.bounds import memory_rates
from assay.analyse.curves import RunEstimates, figure
from assay.model.law import Model
from assay.model.quantity import Quantity
from assay.model.result import Estimate
from assay.topics.memory.models.latency_levels import MEMORY, LatencyLevels

LAW = "lines-in-flight"
NEEDS = ("latency_levels",)


class LinesInFlight(Model, frozen=True, kw_only=True, tag=LAW):
    """Little's law for one core: lines in flight = lines per second x seconds of one line.

    The latency is the one without load, so this is the least number of lines that the rate needs.

    Attributes:
        lines: bandwidth x latency / line.
        bandwidth: the most that this core moved from or to memory, in B/s, write-allocate counted.
        latency: of one load from memory, in s; with huge pages, without TLB misses, where these were measured.
        line_bytes: size of a line.
    """

    lines: Quantity
    bandwidth: Quantity
    latency: Quantity
    line_bytes: int


def fit(known: RunEstimates) -> Iterable[Model]:
    """Fit one model for each core whose walk reached memory and whose own memory rate was measured."""
    rates = memory_rates(known.estimates.values(), known.run.machines)
    seen: set[tuple[object, ...]] = set()
    for model in sorted(known.fitted(LatencyLevels), key=lambda each: each.pages != "huge"):
        walked, last = known.estimates[model.of[-1]], model.levels[-1]
        here = _place(walked)
        drawn = (each for each in rates if _place(each) == here and each.state in {None, model.state})
        most, line = max(drawn, key=lambda each: each.median or 0.0, default=None), walked.params.get("line")
        if last.answered_by == MEMORY and most and line and (*here, model.state) not in seen:
            seen.add((*here, model.state))
            yield LinesInFlight(
                id=model.id.replace(model.law, LAW, 1),
                of=(most.id, *model.of),
                state=model.state,
                lines=figure(most).times(last.latency, "").over(int(line)),
                bandwidth=figure(most),
                latency=last.latency,
                line_bytes=int(line),
            )


def _place(estimate: Estimate) -> tuple[object, ...]:
    """Return the core, its host and memory, and the levels of factors."""
    placed = estimate.placement
    return placed.cpus[:1], placed.hosts, placed.memory, tuple(estimate.factors.items())
