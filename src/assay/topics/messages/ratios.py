"""One way to pass messages against another, size by size, paired by block."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from assay.analyse.comparisons.effects import compare
from assay.analyse.curves import point, replicates, with_ends
from assay.analyse.estimates import Measured
from assay.analyse.messages.curves import BYTES, size
from assay.analyse.statistics import Samples
from assay.model.law import Model, Point, Unfitted
from assay.model.quantity import Quantity

#: Sizes from this share of the largest on show what long messages get.
_LONG = 0.25


class MeasuredPair(NamedTuple):
    """Two ways to pass messages of one size: the judged one and its base."""

    judged: Measured
    base: Measured


class RatioBySize(Model, frozen=True, kw_only=True):
    """How many times as fast one way is as its base.

    Attributes:
        smallest_size: at the smallest size.
        long_messages: geometric mean over the sizes from a quarter of the largest on.
        least: of all sizes.
    """

    smallest_size: Quantity
    long_messages: Quantity
    least: Quantity


def fitted(
    law: str, result: Callable[..., RatioBySize], name: str, state: str | None, found: Sequence[MeasuredPair]
) -> Model:
    """How many times as fast the judged way is as its base; points: at each size the ratio over its blocks.

    Args:
        law: name of the law.
        result: makes its result.
        name: id.
        state: of the machine.
        found: by any order of sizes.
    """
    ordered = sorted(found, key=lambda each: size(each.judged.estimate))
    pairs = [each for both in ordered for each in both]
    of = tuple(each.estimate.id for each in pairs)
    points = tuple(ratio for both in ordered if (ratio := _ratio(both)))
    if len(points) < len(ordered):
        return Unfitted(id=name, of=of, state=state, wanted=law, reason="some sizes have no block with both")
    draws, basis = replicates(pairs)
    sizes = np.array([size(each.judged.estimate) for each in ordered])
    value, drawn = (
        np.exp(np.log(_faster(ordered, rows))[:, sizes >= _LONG * sizes[-1]].mean(axis=1))
        for rows in (np.array([[each.estimate.median or 0.0 for each in pairs]]), draws)
    )
    return result(
        id=name,
        of=of,
        state=state,
        points=points,
        smallest_size=points[0].value,
        long_messages=with_ends(value[0], drawn, basis),
        least=min(points, key=lambda each: each.value.value).value,
    )


def _ratio(both: MeasuredPair) -> Point | None:
    estimate = both.judged.estimate
    comparison = compare(*(both if estimate.better == "higher" else reversed(both)))
    if comparison is None:
        return None
    at = {BYTES: size(estimate), "blocks": comparison.blocks}
    return point(estimate, at, None, comparison.value)


def _faster(ordered: Sequence[MeasuredPair], draws: Samples) -> Samples:
    ratio: Samples = draws[:, ::2] / draws[:, 1::2]
    return ratio if ordered[0].judged.estimate.better == "higher" else 1 / ratio
