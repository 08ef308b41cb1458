"""How long a message takes by its size: start and time for each byte, in pieces where the protocol changes."""

import math
from collections.abc import Iterable
from itertools import pairwise

import numpy as np

from assay.analyse.curves import Known, ends, figure, point
from assay.analyse.messages import curves, figures, pieces, scatter
from assay.analyse.messages.curves import Times
from assay.analyse.messages.lines import Lines
from assay.analyse.statistics import Samples, medians, stacked
from assay.model.result import Model
from assay.model.text import text

LAW = "message-law"
#: What the start of the first piece is called: of a message alone, of messages one behind the other.
LATENCY, GAP = "latency", "gap"
_FEWEST_LAUNCHES = 2


def fit(known: Known) -> Iterable[Model]:
    """One model for each curve: a benchmark, pattern and placement; a single size is no curve."""
    for benchmark in curves.PROGRAMS:
        for curve in curves.by_size(known, benchmark):
            if len(curve.members) > 1:
                yield law(curves.named(LAW, benchmark, curve.marks), curves.times(curve.members))


def law(name: str, times: Times) -> Model:
    """Parameters: see docs/models.md.

    The breaks are those of the medians; the coefficients are fitted again to every draw of launches.
    """
    of = tuple(each.estimate.id for each in times.members)
    if len(of) < pieces.FEWEST:
        return Model(
            name,
            LAW,
            of,
            {},
            None,
            text("{sizes} sizes: a law needs {needed}", sizes=len(of), needed=pieces.FEWEST),
        )
    spread = _spread(times)
    off = scatter.weighed(times.sizes, times.seconds[0], _of_medians(times, spread))
    cut = pieces.edges(times.sizes, times.seconds[0], off)
    found, drawn = (pieces.refit(times.sizes, rows, cut, off) for rows in (times.seconds, times.draws))
    parameters = _figures(times, cut, found, drawn)
    said = pieces.fitted(times.sizes, cut, found)[0]
    parameters["scatter"] = (max(scatter.left(times.sizes, times.seconds[0], said, cut), spread),) * 3
    parameters |= _pieces(times, cut, found, drawn)
    points = tuple(
        point(
            each.estimate,
            {"bytes": curves.size(each.estimate), "piece": int(np.searchsorted(cut, at, side="right"))},
            float(times.seconds[0, at] / said[at]),
            curves.seconds(each.estimate),
        )
        for at, each in enumerate(times.members)
    )
    residual = max(abs((each.ratio or 1.0) - 1) for each in points)
    return Model(name, LAW, of, parameters, residual, points=points)


def _figures(times: Times, cut: list[int], found: Lines, drawn: Lines) -> dict[str, tuple[float, float, float]]:
    first = times.members[0].estimate
    start = LATENCY if first.unit == "s" else GAP
    value, low, high = curves.seconds(first)
    parameters = {
        start: _with_ends(found.start[:, 0], drawn.start[:, 0], times),
        f"{start} measured": (value, low, high),
    }
    highest = times.sizes[-1]
    wanted = {
        "rate": (figures.rate(found), figures.rate(drawn)),
        "half-rate size": tuple(figures.half_size(times.sizes, cut, each) for each in (found, drawn)),
        "half-rate size measured": tuple(
            figures.half_size_measured(times.sizes, each) for each in (times.seconds, times.draws)
        ),
        "saturation": tuple(figures.saturation(times.sizes, each) for each in (times.seconds, times.draws)),
    }
    for name, (one, draws) in wanted.items():
        if math.isfinite(one[0]):
            finite = draws[np.isfinite(draws)]
            beyond = finite.max(initial=one[0]) if name == "rate" else highest
            parameters[name] = _with_ends(one, np.where(np.isfinite(draws), draws, beyond), times)
    return parameters


def _pieces(times: Times, cut: list[int], found: Lines, drawn: Lines) -> dict[str, tuple[float, float, float]]:
    parameters: dict[str, tuple[float, float, float]] = {}
    jumps, drawn_jumps = (figures.steps(times.sizes, cut, each) for each in (found, drawn))
    for at, (_, end) in enumerate(pairwise(cut)):
        parameters[f"start {at + 1}"] = _with_ends(found.start[:, at], drawn.start[:, at], times)
        parameters[f"per byte {at + 1}"] = _with_ends(found.per_byte[:, at], drawn.per_byte[:, at], times)
        if end < times.sizes.size:
            before, after = float(times.sizes[end - 1]), float(times.sizes[end])
            parameters[f"break {at + 1}"] = (math.sqrt(before * after), before, after)
            parameters[f"step {at + 1}"] = _with_ends(jumps[:, at], drawn_jumps[:, at], times)
    return parameters


def _with_ends(value: Samples, draws: Samples, times: Times) -> tuple[float, float, float]:
    return float(value[0]), *ends(draws, confident=times.confident)


def _spread(times: Times) -> float:
    """Relative standard deviation of the launches of a size: the median over the sizes; 0 for single launches."""
    several = [each for each in times.members if len(each.launches) >= _FEWEST_LAUNCHES]
    values = [np.array([launch.value for launch in each.launches]) for each in several]
    deviations = np.zeros(len(several))
    for places, rows in stacked(values):
        deviations[places] = rows.std(axis=1, ddof=1)
    return float(medians(deviations / [figure(each.estimate)[0] for each in several])) if several else 0.0


def _of_medians(times: Times, spread: float) -> float | None:
    """Relative standard deviation of a size's median, as its launches show it; None where no size has two."""
    if not spread:
        return None
    launches = float(medians([float(len(each.launches)) for each in times.members]))
    usual = (1 - 2 / 9 / max(launches - 1, 1)) ** 3  # the median of a variance over its mean (Wilson, Hilferty)
    return spread * math.sqrt(math.pi / 2 / launches / usual)
