"""Figures of profiles: estimates, parameters of laws, and what follows from them, with their ends."""

from collections.abc import Iterable

import msgspec

from assay.model.profile import Stated
from assay.model.result import Estimate, Model

_WITH_ENDS = frozenset({"order-statistics", "range"})


def of_estimate(estimate: Estimate) -> Stated:
    """An estimate that has a figure."""
    sure = estimate.method in _WITH_ENDS
    return Stated(
        estimate.median or 0.0,
        estimate.lo if sure else None,
        estimate.hi if sure else None,
        estimate.unit,
        estimate.method or "",
        estimate.confidence,
        estimate.launches,
        (estimate.id,),
    )


def of_model(model: Model, name: str, behind: Iterable[Estimate], unit: str = "") -> Stated | None:
    """A parameter of a law, as sure as the weakest estimate behind it; None where the law has none.

    Refitted to a few launches a parameter may miss its own value: the ends hold it, as a range must.
    """
    weakest = min(behind, key=lambda each: each.launches, default=None)
    if name not in model.parameters or weakest is None:
        return None
    value, lo, hi = model.parameters[name]
    sure = weakest.method in _WITH_ENDS
    return Stated(
        value,
        min(lo, value) if sure else None,
        max(hi, value) if sure else None,
        unit,
        weakest.method or "",
        weakest.confidence,
        weakest.launches,
        (model.id,),
    )


def over(stated: Stated, base: float, unit: str = "") -> Stated:
    """The figure over a bare number."""
    return msgspec.structs.replace(
        stated,
        value=stated.value / base,
        lo=None if stated.lo is None else stated.lo / base,
        hi=None if stated.hi is None else stated.hi / base,
        unit=unit,
    )


def inverse(stated: Stated, unit: str) -> Stated:
    """One over the figure: of a time how often it fits into a second."""
    return msgspec.structs.replace(
        stated,
        value=1 / stated.value,
        lo=None if stated.hi is None else 1 / stated.hi,
        hi=None if not stated.lo else 1 / stated.lo,
        unit=unit,
    )
