"""What figures stand against, and what cannot be: the laws that bound a metric, one a file, found by its name.

A metric declares the name of its law. A limit is `given` by the user, else `derived` from facts of the machine,
else the best `measured` in this run, which names the estimate that set it.
"""

import importlib
import pkgutil
from collections.abc import Mapping, Sequence
from functools import cache

import msgspec

from assay import benchmarks
from assay.analyse.bounds import Bounds, Law
from assay.analyse.estimates import Measured
from assay.model.result import Estimate, Limit
from assay.model.run import Run
from assay.model.text import text
from assay.model.units import format_quantity

#: Facts and clocks are known to a few percent: only what lies beyond this factor of a ceiling is impossible.
TOLERANCE = 1.05


@cache
def laws() -> dict[str, Law]:
    """Name that metrics use -> law."""
    modules = [importlib.import_module(f"{__name__}.{module.name}") for module in pkgutil.iter_modules(__path__)]
    return {name: module.law for module in modules for name in module.law.names}


def bound(run: Run, measured: Sequence[Measured], given: Mapping[str, float]) -> list[Measured]:
    """The same estimates with their limits; those above a physical ceiling lose their figures and say why."""
    bounds = Bounds(run, (each.estimate for each in measured))
    possible = [_possible(each, bounds) for each in measured]
    if any(kept is not each for kept, each in zip(possible, measured, strict=True)):
        bounds = Bounds(run, (each.estimate for each in possible))
    return [
        msgspec.structs.replace(
            each, estimate=msgspec.structs.replace(each.estimate, limit=_limit(each.estimate, bounds, given))
        )
        for each in possible
    ]


def _name(estimate: Estimate) -> str:
    declared = benchmarks.find(estimate.benchmark)
    metrics = declared.metrics if declared else ()
    return next((metric.limit for metric in metrics if metric.name == estimate.metric), "")


def _limit(estimate: Estimate, bounds: Bounds, given: Mapping[str, float]) -> Limit | None:
    name = _name(estimate)
    if estimate.median is None or not name:
        return None
    law = laws().get(name)
    if name in given:
        told = Limit(given[name], "given", text("{name} as given by the user", name=name))
        meant = law.given(estimate, bounds, told) if law else told
        if meant is not None:
            return meant
    return law.limit(estimate, bounds) if law else None


def _possible(measured: Measured, bounds: Bounds) -> Measured:
    """The estimate, or an invalid one where it exceeds what the machine can do."""
    estimate = measured.estimate
    law = laws().get(_name(estimate))
    if estimate.median is None or law is None:
        return measured
    for ceiling in law.ceilings(estimate, bounds):
        if estimate.median > TOLERANCE * ceiling.value:
            figure, most = (format_quantity(value, estimate.unit) for value in (estimate.median, ceiling.value))
            reason = text("{figure} is impossible: above {most}, {of}", figure=figure, most=most, of=ceiling.of)
            condemned = msgspec.structs.replace(
                estimate, median=None, lo=None, hi=None, method=None, confidence=None, modes=(), status="invalid",
                reason=reason,
            )  # fmt: skip
            return Measured(condemned, ())
    return measured
