"""What many pairs get at once: the rate of one, what each further one adds, and where the node's rate ends it."""

from collections.abc import Iterable, Sequence

import numpy as np

from assay.analyse.curves import RunEstimates, point, with_ends
from assay.analyse.estimates import Measured
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
    """What many pairs get at once. What the law leaves open is None.

    Attributes:
        start: of a message, in s.
        one_pair: rate of a single pair, in B/s.
        each_further_pair: what each pair more adds.
        node: what no number of pairs exceeds.
        pairs_that_fill: how many it takes to get that.
    """

    start: Quantity | None
    one_pair: Quantity | None
    each_further_pair: Quantity | None
    node: Quantity | None
    pairs_that_fill: Quantity | None


def fit(known: RunEstimates) -> Iterable[Model]:
    """One model for each curve over numbers of pairs and sizes; one number of pairs is no curve."""
    for benchmark in (name for name, by in roles.message_curves().items() if by):
        for curve in curves.by_size(known, benchmark, "label"):
            members = [each for each in curve.members if _counts(each.estimate)]
            if len({pairs_of(each.estimate) for each in members}) > 1:
                over = members[0].estimate.placement.word.over
                marks = (f"@{over}", *curve.marks) if over else curve.marks
                yield _model(curves.named(LAW, benchmark, marks), curve.state, members)


def pairs_of(estimate: Estimate) -> int:
    """Pairs of ranks: half of the cores on all hosts."""
    return estimate.placement.ranks // 2


def _counts(estimate: Estimate) -> bool:
    word = estimate.placement.word
    return (
        estimate.params[curves.PATTERN] in _PATTERNS
        and curves.size(estimate) > 0
        and (word.count is not None or (word.share in _SHARES and not word.group))
    )


def _model(name: str, state: str | None, members: Sequence[Measured]) -> Model:
    times = curves.times(members)
    of = tuple(each.estimate.id for each in times.members)
    k = np.array([float(pairs_of(each.estimate)) for each in times.members])
    numbers = len(set(k))
    if numbers < _FEWEST_NUMBERS or len(set(times.sizes)) == 1:
        reason = text(
            "{numbers} numbers of pairs, {sizes} sizes: the model needs {needed} and 2",
            numbers=numbers,
            sizes=len(set(times.sizes)),
            needed=_FEWEST_NUMBERS,
        )
        return Unfitted(id=name, of=of, state=state, wanted=LAW, reason=reason)
    # All pairs' bytes pass in the time that a bandwidth gives to one message.
    each_pair = k if times.members[0].estimate.unit != "s" else np.ones_like(k)
    seconds, draws = each_pair * times.seconds, each_pair * times.draws
    which, start, found = pairs.by_number(k, times.sizes, seconds)
    count = pairs.below(which, found[0])
    law = pairs.law_of(which, start, found, count)
    _, drawn_start, drawn_found = pairs.by_number(k, times.sizes, draws)
    drawn = pairs.law_of(which, drawn_start, drawn_found, count)
    said = law.start[0] + k * times.sizes / pairs.rates(k, law)[0]
    points = tuple(
        point(
            each.estimate,
            {"pairs": int(k[at]), "bytes": curves.size(each.estimate)},
            float(seconds[0, at] / said[at]),
            curves.seconds(each.estimate).scaled(float(each_pair[at]), "s"),
        )
        for at, each in enumerate(times.members)
    )
    residual = max(abs((each.ratio or 1.0) - 1) for each in points)
    fills = np.isfinite(law.further[0]) and law.further[0] > 0 and np.isfinite(law.node[0])
    return MaxRate(
        id=name,
        of=of,
        state=state,
        residual=residual,
        points=points,
        start=_finite(law.start, drawn.start, times, "s"),
        one_pair=_finite(law.one, drawn.one, times, "B/s"),
        each_further_pair=_finite(law.further, drawn.further, times, "B/s"),
        node=_finite(law.node, drawn.node, times, "B/s"),
        pairs_that_fill=_finite(pairs.fill(law), pairs.fill(drawn), times) if fills else None,
    )


def _finite(value: Samples, draws: Samples, times: Times, unit: str = "") -> Quantity | None:
    """A figure of the law; None where the sizes and pairs measured leave it open."""
    finite = draws[np.isfinite(draws)]
    return with_ends(value[0], finite, times.basis, unit) if np.isfinite(value[0]) and finite.size else None
