"""Himeno's rate predicted from the memory bandwidth of stream."""

from collections.abc import Iterable, Sequence

from assay.analyse.bounds import cached_bytes, fits_caches
from assay.analyse.curves import RunEstimates, figure
from assay.model import roles
from assay.model.law import Prediction
from assay.model.quantity import Quantity, distance
from assay.model.result import Estimate
from assay.model.text import joined, text
from assay.model.units import format_quantity, format_size
from assay.topics.stencil.benchmarks.himeno import benchmark

LAW = "himeno"
#: Traffic of one point, B: 60 of the stencil and 12 of copying back; 80 where planes fall out of the cache between
#: their uses (the layer condition breaks). See docs/models.md.
_FLOPS, _BYTES = (int(benchmark.amount("jacobi", quantity)) for quantity in ("flops", "traffic_bytes"))
_MOST_BYTES = 80


def predict(known: RunEstimates) -> Iterable[Prediction]:
    """Predict each rate of himeno in memory: [34/80, 34/72] x the traffic of the triad at the same placement."""
    moved = (each.estimate for each in known.of_role("memory-traffic", main=True))
    triads = [each for each in moved if not roles.solves(each)]
    for each in known.of_role("stencil-rate"):
        estimate = each.estimate
        if estimate.declared.launcher == "mpi":
            continue  # messages limit the rate, too
        machine = known.machine(estimate)
        if machine and fits_caches(estimate, machine.topology):
            continue
        equal = [triad for triad in triads if _is_equal(triad, estimate)]
        # Ordinary stores are preferred: himeno has no others.
        sources = [triad for triad in equal if triad.params.get("stores") == "ordinary"] or equal
        if sources:
            yield _prediction(estimate, sources, cached_bytes(estimate, machine.topology) if machine else 0)


def _is_equal(triad: Estimate, estimate: Estimate) -> bool:
    """Whether both have the same cpus, hosts, memory policy, first touch, factors and state."""
    one, other = (
        (e.placement.cpus, e.placement.hosts, e.placement.memory, e.params.get("touch", "parallel"), e.factors)
        for e in (triad, estimate)
    )
    return one == other and (triad.state == estimate.state or None in {triad.state, estimate.state})


def _prediction(estimate: Estimate, sources: Sequence[Estimate], cache_bytes: int) -> Prediction:
    """Predict from one triad; from that of each state where the predicted figure pools the states."""
    slow, fast = min(figure(each).lo for each in sources), max(figure(each).hi for each in sources)
    lower, upper = _FLOPS / _MOST_BYTES * slow, _FLOPS / _BYTES * fast
    middle = (lower + upper) / 2
    value = figure(estimate)
    predicted = Quantity(middle, lower, upper, estimate.unit, "derived")
    states = joined(", ", [each.state for each in sources if each.state])
    traffic = text(
        "{flops} flops per point / {most} B to {least} B per point x the memory traffic of stream's triad at "
        "the same placement{state} ({slow} to {fast})",
        flops=_FLOPS,
        most=_MOST_BYTES,
        least=_BYTES,
        state=text(", state {states}", states=states) if states else "",
        slow=format_quantity(slow, "B/s"),
        fast=format_quantity(fast, "B/s"),
    )
    caches = text("its arrays are larger than the {size} of the last-level caches", size=format_size(cache_bytes))
    return Prediction(
        id=f"{LAW}:{estimate.id}",
        law=LAW,
        what=text(
            "rate of himeno, {label}, {memory}", label=estimate.placement.label, memory=estimate.placement.memory
        ),
        predicted=predicted,
        of=tuple(each.id for each in sources),
        states=(*(each.state for each in sources), estimate.state),
        derivation=joined("; ", (traffic, caches if cache_bytes else "")),
        measured=estimate.id,
        value=value,
        deviation=value.value / middle - 1,
        error=distance(value, predicted),
        by=text("bandwidth"),
    )
