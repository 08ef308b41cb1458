"""Time of a message by its size: start-up and time per byte, in pieces where the protocol changes."""

import math
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from assay.analyse.curves import Curve, RunEstimates, between, figure, point, with_ends
from assay.analyse.messages import curves
from assay.analyse.messages.curves import Times
from assay.analyse.messages.steps import LAW, Break, MessageLaw, Piece
from assay.analyse.statistics import Samples, medians, stacked
from assay.model import roles
from assay.model.law import Model, Unfitted
from assay.model.quantity import Quantity
from assay.model.text import text
from assay.topics.messages import figures, pieces, scatter
from assay.topics.messages.causes import causes as possible_causes
from assay.topics.messages.lines import Lines

_FEWEST_LAUNCHES = 2
#: Of a step of the law.
causes = possible_causes


def fit(known: RunEstimates) -> Iterable[Model]:
    """Fit one model for each curve: a benchmark, pattern and placement; a single size is no curve."""
    for benchmark in roles.message_curves(known.run.plan.declarations):
        for curve in curves.by_size(known, benchmark):
            if len(curve.members) > 1:
                yield _law(curve)


def _law(curve: Curve) -> Model:
    """Fit the law of one curve.

    The breaks are those of the medians; the coefficients are fitted again to every draw of launches.
    """
    times = curves.times(curve.members)
    name = curves.named(LAW, curve.members[0].estimate.declared, curve.marks)
    identity = curve._replace(members=times.members).identity(LAW) | {"id": name}
    if (sizes := len(set(times.sizes))) < pieces.FEWEST:
        few = text("{sizes} sizes: the model needs {needed}", sizes=sizes, needed=pieces.FEWEST)
        return Unfitted(**identity, wanted=LAW, reason=few)
    spread = _spread(times)
    off = scatter.weighed(times.sizes, times.seconds[0], _of_medians(times, spread))
    cut = pieces.edges(times.sizes, times.seconds[0], off)
    found, drawn = (pieces.refit(times.sizes, rows, cut, off) for rows in (times.seconds, times.draws))
    fitted = pieces.fitted(times.sizes, cut, found)[0]
    ratios = times.seconds[0] / fitted
    points = tuple(
        point(
            each.estimate,
            {"bytes": curves.size(each.estimate), "piece": int(np.searchsorted(cut, at, side="right"))},
            float(ratios[at]),
            curves.seconds(each.estimate),
        )
        for at, each in enumerate(times.members)
    )
    return MessageLaw(
        **identity,
        residual=float(np.abs(ratios - 1).max()),
        points=points,
        start=with_ends(found.start[0, 0], drawn.start[:, 0], times.basis, "s"),
        start_measured=curves.seconds(times.members[0].estimate),
        **_figures(times, cut, found, drawn),
        scatter=max(scatter.left(times.sizes, times.seconds[0], fitted, cut), spread),
        pieces=tuple(_pieces(times, cut, found, drawn)),
    )


def _figures(times: Times, cut: list[int], found: Lines, drawn: Lines) -> dict[str, Any]:
    """Return rate, half-rate sizes and saturation, each a Quantity or None, by field of the law."""
    sizes, highest = times.sizes, times.sizes[-1]
    rate, rates = figures.rate(found), figures.rate(drawn)
    half, halves = (figures.half_size(sizes, cut, each) for each in (found, drawn))
    measured, measureds = (figures.half_size_measured(sizes, each) for each in (times.seconds, times.draws))
    saturated, saturateds = (figures.saturation(sizes, each) for each in (times.seconds, times.draws))
    fastest = rates[np.isfinite(rates)].max(initial=rate[0])
    return {
        "rate": _finite(rate, rates, times, fastest, "B/s"),
        "half_rate_size": _finite(half, halves, times, highest, "B"),
        "half_rate_size_measured": _finite(measured, measureds, times, highest, "B"),
        "saturation": _finite(saturated, saturateds, times, highest, "B"),
    }


def _finite(value: Samples, draws: Samples, times: Times, beyond: float, unit: str) -> Quantity | None:
    """Return a figure; None where it is not finite. Draws that are not finite count as `beyond`."""
    held = np.where(np.isfinite(draws), draws, beyond)
    return with_ends(value[0], held, times.basis, unit) if math.isfinite(value[0]) else None


def _pieces(times: Times, cut: list[int], found: Lines, drawn: Lines) -> Iterator[Piece]:
    jumps, drawn_jumps = (figures.steps(times.sizes, cut, each) for each in (found, drawn))
    for at, (_, end) in enumerate(pairwise(cut)):
        after = None
        if end < times.sizes.size:
            size = between(times.sizes[end - 1], times.sizes[end])
            after = Break(size, with_ends(jumps[0, at], drawn_jumps[:, at], times.basis))
        yield Piece(
            with_ends(found.start[0, at], drawn.start[:, at], times.basis, "s"),
            with_ends(found.per_byte[0, at], drawn.per_byte[:, at], times.basis, "s/B"),
            after,
        )


def _spread(times: Times) -> float:
    """Return the relative standard deviation of the launches: the median over the sizes; 0 for single launches."""
    several = [each for each in times.members if len(each.launches) >= _FEWEST_LAUNCHES]
    values = [np.array([launch.value for launch in each.launches]) for each in several]
    deviations = np.zeros(len(several))
    for places, rows in stacked(values):
        deviations[places] = rows.std(axis=1, ddof=1)
    return float(medians(deviations / [figure(each.estimate).value for each in several])) if several else 0.0


def _of_medians(times: Times, spread: float) -> float | None:
    """Return the relative standard deviation of the median of a size; None where no size has two launches."""
    if not spread:
        return None
    launches = float(medians([float(len(each.launches)) for each in times.members]))
    usual = (1 - 2 / 9 / max(launches - 1, 1)) ** 3  # the median of a variance over its mean (Wilson, Hilferty)
    return spread * math.sqrt(math.pi / 2 / launches / usual)
