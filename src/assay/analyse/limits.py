"""Limits of figures, and impossible figures: the laws of all topics that bound a metric.

A metric declares the name of its law. A limit is `given` by the user, else `derived` from facts of the machine,
else the best `measured` in this run, which names the estimate that set it.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Literal

import msgspec

from assay.analyse.bounds import MOST_SHARE, Bounds, Law
from assay.analyse.estimates import Measured
from assay.catalogue import topics
from assay.model import roles
from assay.model.quantity import Quantity
from assay.model.result import Estimate, Limit
from assay.model.run import Run
from assay.model.text import text
from assay.model.units import format_quantity

#: Facts and clocks are known to a few percent: a figure is impossible only beyond this factor of a ceiling.
TOLERANCE = 1.05


@cache
def laws() -> dict[str, Law]:
    """Return the laws by the names that metrics use."""
    return {name: module.law for module in topics.modules("limits").values() for name in module.law.names}


def limit(name: str, estimate: Estimate, bounds: Bounds) -> Limit | None:
    """Return what a law, by its name in `Metric.limit`, says of an estimate; None without such a law."""
    law = laws().get(name)
    return law.limit(estimate, bounds) if law else None


def bound(run: Run, measured: Sequence[Measured], given: Mapping[str, float]) -> list[Measured]:
    """Return estimates with their limits; those above a physical ceiling have a reason instead of a figure."""
    bounds = Bounds(run, (each.estimate for each in measured))
    possible = [_possible(each, bounds) for each in measured]
    if any(kept is not each for kept, each in zip(possible, measured, strict=True)):
        bounds = Bounds(run, (each.estimate for each in possible))
    limits = ((each, _limit(each.estimate, bounds, given)) for each in possible)
    limited = (
        msgspec.structs.replace(each, estimate=_limited(each.estimate, limit, simulated=run.simulated))
        for each, limit in limits
    )
    return [msgspec.structs.replace(each, estimate=_timed(each.estimate, bounds, given)) for each in limited]


def _limited(estimate: Estimate, limit: Limit | None, *, simulated: bool) -> Estimate:
    """The estimate with its limit, or with the ceiling that it exceeds; a simulated limit is not `measured`."""
    if limit and simulated and limit.source == "measured":
        limit = msgspec.structs.replace(limit, source="simulated")
    if limit and not limit.reference and share(estimate.median or 0.0, limit, estimate.better) > MOST_SHARE:
        return msgspec.structs.replace(estimate, exceeds=limit)
    return msgspec.structs.replace(estimate, limit=limit)


def _timed(estimate: Estimate, bounds: Bounds, given: Mapping[str, float]) -> Estimate:
    """The time of a message; with the least time that the link between the nodes allows, if it takes less.

    The rate of a message is its size over its time, and has the limit of a bandwidth.
    """
    size, metrics = roles.size(estimate), estimate.declared.metrics
    rate = next((each for each in metrics if each.role == "message-bandwidth"), None)
    if roles.role(estimate) != "message-time" or not size or not estimate.median or rate is None:
        return estimate
    value = size / estimate.median
    alike = msgspec.structs.replace(
        estimate,
        metric=rate.name,
        unit=rate.unit,
        better="higher",
        value=Quantity(value, value, value, rate.unit, "derived"),
    )
    found = _limit(alike, bounds, given)
    if found is None or found.scope != "link" or share(value, found, "higher") <= MOST_SHARE:
        return estimate
    return msgspec.structs.replace(estimate, exceeds=msgspec.structs.replace(found, value=size / found.value))


def share(median: float, limit: Limit, better: Literal["higher", "lower"]) -> float:
    """Return the figure over its limit; for a time, the limit over the figure. 0 if either is 0."""
    over, under = (median, limit.value) if better == "higher" else (limit.value, median)
    return over / under if under else 0.0


def named(estimate: Estimate) -> str:
    """Return the name of the law that its declaration wants; empty without one."""
    metrics = estimate.declared.metrics
    return next((metric.limit for metric in metrics if metric.name == estimate.metric), "")


def _limit(estimate: Estimate, bounds: Bounds, given: Mapping[str, float]) -> Limit | None:
    name = named(estimate)
    if estimate.median is None or not name:
        return estimate.limit
    law = laws().get(name)
    if name in given:
        stated = Limit(given[name], "given", text("{name}, given by the user", name=name), "user")
        own = law.given(estimate, bounds, stated) if law else stated
        if own is not None:
            return own
    return law.limit(estimate, bounds) or estimate.limit if law else estimate.limit


def _possible(measured: Measured, bounds: Bounds) -> Measured:
    """The estimate; invalid if it exceeds a ceiling of the machine."""
    estimate = measured.estimate
    law = laws().get(named(estimate))
    if estimate.median is None or law is None:
        return measured
    for ceiling in law.ceilings(estimate, bounds):
        if estimate.median > TOLERANCE * ceiling.value:
            figure, most = (format_quantity(value, estimate.unit) for value in (estimate.median, ceiling.value))
            reason = text(
                "{figure} is impossible: it is above {most}, {of}", figure=figure, most=most, of=ceiling.of
            )
            return _invalid(estimate, reason)
    return measured


def _invalid(estimate: Estimate, reason: str) -> Measured:
    return Measured(msgspec.structs.replace(estimate, value=None, modes=(), status="invalid", reason=reason), ())


def without_refused(run: Run, measured: Sequence[Measured]) -> list[Measured]:
    """Return the estimates for a comparison: impossible clocks lose their figures."""
    bounds = Bounds(run, (each.estimate for each in measured))
    reason = text("it is not the clock of a core, which was interrupted")
    return [_invalid(each.estimate, reason) if bounds.is_refused(each.estimate) else each for each in measured]
