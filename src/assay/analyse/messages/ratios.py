"""One way to pass messages against another, size by size, paired by block."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from assay.analyse.comparisons.effects import compare
from assay.analyse.curves import ends, point, replicates
from assay.analyse.estimates import Measured
from assay.analyse.messages.curves import size
from assay.analyse.statistics import Samples
from assay.model.result import Model, Point

#: Sizes from this share of the largest on show what long messages get.
_LONG = 0.25


class Beside(NamedTuple):
    """Two ways to pass messages of one size: the judged one and its base."""

    judged: Measured
    base: Measured


def model(name: str, law: str, found: Sequence[Beside]) -> Model:
    """How many times as fast the judged way is as its base.

    Parameters: `smallest size`, `long messages` (geometric mean over the sizes from a quarter of the largest
    on) and `least`, of all sizes. Points: at each size the ratio over its blocks (Hodges-Lehmann).
    """
    ordered = sorted(found, key=lambda each: size(each.judged.estimate))
    of = tuple(each.estimate.id for both in ordered for each in both)
    points = [ratio for both in ordered if (ratio := _ratio(both))]
    if len(points) < len(ordered):
        return Model(name, law, of, {}, None, "some sizes have no block with both")
    pairs = [each for both in ordered for each in both]
    draws, confident = replicates(pairs)
    sizes = np.array([size(each.judged.estimate) for each in ordered])
    own, drawn = (
        np.exp(np.log(_faster(ordered, rows))[:, sizes >= _LONG * sizes[-1]].mean(axis=1))
        for rows in (np.array([[each.estimate.median or 0.0 for each in pairs]]), draws)
    )
    parameters = {
        "smallest size": points[0].value,
        "long messages": (float(own[0]), *ends(drawn, confident=confident)),
        "least": min((each.value for each in points), key=lambda value: value[0]),
    }
    return Model(name, law, of, parameters, None, points=tuple(points))


def _ratio(both: Beside) -> Point | None:
    estimate = both.judged.estimate
    comparison = compare(*(both if estimate.better == "higher" else reversed(both)))
    if comparison is None:
        return None
    ends_ = (comparison.ratio, comparison.lo, comparison.hi)
    at = {"bytes": size(estimate), "blocks": comparison.blocks}
    return point(estimate, at, None, ends_)


def _faster(ordered: Sequence[Beside], draws: Samples) -> Samples:
    ratio: Samples = draws[:, ::2] / draws[:, 1::2]
    return ratio if ordered[0].judged.estimate.better == "higher" else 1 / ratio
