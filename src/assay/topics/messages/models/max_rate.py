"""Rate of many pairs at once: the rate of one pair, the gain of each further pair, and the rate of the node."""

from collections.abc import Iterable

import numpy as np

from assay.analyse.curves import Curve, RunEstimates, point, with_ends
from assay.analyse.messages import curves
from assay.analyse.messages.curves import Times
from assay.analyse.statistics import Samples
from assay.model import roles
from assay.model.law import Model, Unfitted
from assay.model.quantity import Quantity
from assay.model.result import Estimate
from assay.model.text import text
from assay.topics.messages import pairs

LAW = "max-rate"
_PATTERNS = ("multi-bandwidth", "multi-latency")
#: Placements that take more and more cores of the same kind.
_SHARES = ("one-core", "half", "all")
_FEWEST_NUMBERS = 3


class MaxRate(Model, frozen=True, kw_only=True, tag=LAW):
    """Rate of many pairs at once. Figures that the measured sizes and pairs do not determine are None.

    Attributes:
        start: start-up time of a message, in s.
        one_pair: rate of a single pair, in B/s.
        each_further_pair: gain of each further pair, in B/s.
        node: maximum rate of any number of pairs, in B/s.
        pairs_that_fill: number of pairs that reach it.
    """

    start: Quantity | None
    one_pair: Quantity | None
    each_further_pair: Quantity | None
    node: Quantity | None
    pairs_that_fill: Quantity | None


def fit(known: RunEstimates) -> Iterable[Model]:
    """Fit one model for each curve over numbers of pairs and sizes; one number of pairs is no curve."""
    for benchmark in (name for name, by in roles.message_curves(known.run.plan.declarations).items() if by):
        for curve in curves.by_size(known, benchmark, "label"):
            members = tuple(each for each in curve.members if _counts(each.estimate))
            if len({pairs_of(each.estimate) for each in members}) > 1:
                over = members[0].estimate.placement.word.over
                marks = (f"@{over}", *curve.marks) if over else curve.marks
                yield _model(Curve(marks, members, curve.state))


def pairs_of(estimate: Estimate) -> int:
    """Return the number of pairs of ranks: half of the cores on all hosts."""
    return estimate.placement.ranks // 2


def _counts(estimate: Estimate) -> bool:
    word = estimate.placement.word
    return (
        estimate.params[curves.PATTERN] in _PATTERNS
        and curves.size(estimate) > 0
        and (word.count is not None or (word.share in _SHARES and not word.group))
    )


def _model(curve: Curve) -> Model:
    times = curves.times(curve.members)
    name = curves.named(LAW, curve.members[0].estimate.declared, curve.marks)
    identity = curve._replace(members=times.members).identity(LAW) | {"id": name}
    k = np.array([float(pairs_of(each.estimate)) for each in times.members])
    numbers = len(set(k))
    if numbers < _FEWEST_NUMBERS or len(set(times.sizes)) == 1:
        reason = text(
            "{numbers} numbers of pairs, {sizes} sizes: the model needs {needed} and 2",
            numbers=numbers,
            sizes=len(set(times.sizes)),
            needed=_FEWEST_NUMBERS,
        )
        return Unfitted(**identity, wanted=LAW, reason=reason)
    # Bandwidths add the bytes of all pairs: one message of each pair passes in this time.
    each_pair = k if times.members[0].estimate.unit != "s" else np.ones_like(k)
    seconds, draws = each_pair * times.seconds, each_pair * times.draws
    which, start, found = pairs.by_number(k, times.sizes, seconds)
    count = pairs.below(which, found[0])
    law = pairs.law_of(which, start, found, count)
    _, drawn_start, drawn_found = pairs.by_number(k, times.sizes, draws)
    drawn = pairs.law_of(which, drawn_start, drawn_found, count)
    ratios = seconds[0] / (law.start[0] + k * times.sizes / pairs.rates(k, law)[0])
    points = tuple(
        point(
            each.estimate,
            {"pairs": int(k[at]), "bytes": curves.size(each.estimate)},
            float(ratios[at]),
            curves.seconds(each.estimate).scaled(float(each_pair[at]), "s"),
        )
        for at, each in enumerate(times.members)
    )
    fills = np.isfinite(law.further[0]) and law.further[0] > 0 and np.isfinite(law.node[0])
    return MaxRate(
        **identity,
        residual=float(np.abs(ratios - 1).max()),
        points=points,
        start=_finite(law.start, drawn.start, times, "s"),
        one_pair=_finite(law.one, drawn.one, times, "B/s"),
        each_further_pair=_finite(law.further, drawn.further, times, "B/s"),
        node=_finite(law.node, drawn.node, times, "B/s"),
        pairs_that_fill=_finite(pairs.fill(law), pairs.fill(drawn), times) if fills else None,
    )


def _finite(value: Samples, draws: Samples, times: Times, unit: str = "") -> Quantity | None:
    """Return a figure of the law; None where the measured sizes and pairs do not determine it."""
    finite = draws[np.isfinite(draws)]
    return with_ends(value[0], finite, times.basis, unit) if np.isfinite(value[0]) and finite.size else None
