"""The roofline: min(peak, intensity x bandwidth), and the kernels of the run under it.

Source: S. Williams, A. Waterman, D. Patterson, Roofline, Communications of the ACM 52, 2009. Peak and bandwidths
are those measured in this run on the same cpus; intensity is flops over the bytes that memory must move.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec

from assay.analyse.bounds import fastest, memory_rates
from assay.analyse.curves import RunEstimates, figure, point, states_of
from assay.analyse.plateaus import CachePlateaus
from assay.model import roles
from assay.model.grouping import grouped
from assay.model.law import Model, Point, Unfitted
from assay.model.quantity import Quantity
from assay.model.result import Estimate
from assay.model.text import text

LAW = "roofline"
NEEDS = ("cache_plateaus",)
MEMORY = "memory"
FLOP = "flop/s"
_PRECISION = "fp64"
#: memcpy counts a byte once, although it is read and written.
_BOTH_WAYS = 2


class Roof(msgspec.Struct, frozen=True):
    """Bandwidth of a level of caches or memory.

    Attributes:
        level: `memory`, `L1` ...
        bandwidth: in B/s.
        ridge: flops per byte from which on the peak bounds, not this level.
    """

    level: str
    bandwidth: Quantity
    ridge: Quantity


class Roofline(Model, frozen=True, kw_only=True, tag=LAW):
    """Roofs of one set of cpus.

    Attributes:
        peak: in flop/s.
        roofs: memory first.
    """

    peak: Quantity
    roofs: tuple[Roof, ...]


class _Placed(NamedTuple):
    """A kernel on the roofline."""

    estimate: Estimate
    intensity: float
    rate: Quantity


def fit(known: RunEstimates) -> Iterable[Model]:
    """Fit one model for each set of cpus with measured flops and kernels with known traffic."""
    having = (each for each in known.estimates.values() if each.median is not None)
    groups = grouped(having, lambda e: (e.placement.cpus[:1], e.placement.hosts, *e.factors.items()))
    for group in groups.values():
        for state in states_of(group):
            yield from _model([each for each in group if each.state in {None, state}], state, known)


def _model(group: Sequence[Estimate], state: str | None, known: RunEstimates) -> Iterable[Model]:
    flops = [each for each in group if roles.role(each) == "flop-rate"]
    peak = max((each for each in flops if roles.precision(each) == _PRECISION), key=_median, default=None)
    moved = {(each.case, each.kernel): _median(each) for each in group if roles.role(each) == "memory-traffic"}
    counted = [each for each in group if roles.role(each) == "memory-rate" and (each.case, each.kernel) in moved]
    of_state = [each for each in group if each.state == state]  # not those pooled over states
    machines = known.run.machines
    roofs = (fastest(memory_rates(each, machines)) for each in (of_state, group) if counted)
    memory = next(filter(None, roofs), None)
    stated = [  # kernels that state both their flops and their traffic
        _Placed(each, _median(each) / moved[each.case, each.kernel], figure(each))
        for each in group
        if each.unit == FLOP and (each.case, each.kernel) in moved
    ]
    if peak is None or not (counted or stated):
        return
    marks = [peak.placement.label, *(f"{name}={level}" for name, level in peak.factors.items())]
    marks += [f"host={host}" for host in peak.placement.hosts] + ([f"state={state}"] if state else [])
    name = "/".join([LAW, *marks])
    if memory is None:
        of = (peak.id, *(each.estimate.id for each in stated))
        reason = text("STREAM beyond the caches was not measured on these cpus: no memory roof")
        yield Unfitted(id=name, of=of, state=state, wanted=LAW, reason=reason)
        return
    bandwidths = {MEMORY: figure(memory)} | _cached(group, state, known)
    beyond = {(each.case, each.kernel) for each in memory_rates(group, machines)}
    outside = [
        each for each in counted if (each.case, each.kernel) in beyond
    ]  # memory is no roof of what caches hold
    placed = [*_counted(outside, moved), *stated]
    yield Roofline(
        id=name,
        of=(peak.id, memory.id, *(each.estimate.id for each in placed)),
        state=state,
        points=tuple(_point(each, _median(peak), _median(memory)) for each in placed),
        peak=figure(peak),
        roofs=tuple(
            Roof(level, value, figure(peak).times(value.inverse(""), "flop/B"))
            for level, value in bandwidths.items()
        ),
    )


def _median(estimate: Estimate) -> float:
    return estimate.median or 0.0


def _cached(group: Sequence[Estimate], state: str | None, known: RunEstimates) -> dict[str, Quantity]:
    """Return the bandwidth of each cache: the memcpy plateau that ends at it, counting bytes read and written."""
    ids = {each.id for each in group}
    return {
        plateau.end.cause: plateau.rate.scaled(_BOTH_WAYS, "B/s")
        for model in known.fitted(CachePlateaus)
        if ids & set(model.of) and not model.offset and (not state or model.state == state)
        for plateau in model.plateaus
        if plateau.end and plateau.end.cause
    }


def _counted(counted: Sequence[Estimate], moved: Mapping[tuple[str, str], float]) -> Iterable[_Placed]:
    """Yield the kernels whose flops follow, by their declaration, from the bytes that the source code names."""
    for each in counted:
        work = each.declared.work.get(each.kernel, {})
        if isinstance(flops := work.get("flops"), int) and isinstance(named := work.get("bytes"), int):
            rate = figure(each).scaled(flops / named, FLOP)
            yield _Placed(each, rate.value / moved[each.case, each.kernel], rate)


def _point(placed: _Placed, peak: float, memory: float) -> Point:
    estimate = placed.estimate
    place = {"benchmark": estimate.benchmark, "kernel": estimate.kernel}
    bound = min(peak, placed.intensity * memory)
    return point(estimate, {**place, "intensity": placed.intensity}, placed.rate.value / bound, placed.rate)
