"""Ratio of two measurements of messages, size by size, paired by block."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from assay.analyse.comparisons.effects import block_ratio
from assay.analyse.curves import Curve, point, replicates, with_ends
from assay.analyse.estimates import Measured
from assay.analyse.messages.curves import BYTES, named, size
from assay.analyse.statistics import Samples
from assay.model.law import Model, Point, Unfitted
from assay.model.quantity import Quantity
from assay.model.text import text

#: Sizes from this share of the largest on count as long messages.
LONG = 0.25


class MeasuredPair(NamedTuple):
    """Two measurements of messages of one size: the judged one and its base."""

    judged: Measured
    base: Measured


class RatioBySize(Model, frozen=True, kw_only=True):
    """How many times as fast the judged messages are as their base.

    Attributes:
        smallest_size: ratio at the smallest size.
        long_messages: geometric mean over the sizes from a quarter of the largest on.
        least: the smallest ratio of all sizes.
    """

    smallest_size: Quantity
    long_messages: Quantity
    least: Quantity


def fitted(
    result: type[RatioBySize],
    curve: Curve,
    found: Sequence[MeasuredPair],
    **fields: Any,  # noqa: ANN401 (of the type)
) -> Model:
    """Fit how many times as fast the judged messages are as their base; each point is the ratio at one size.

    Args:
        result: type of the model.
        curve: of the judged messages.
        found: pairs in any order of sizes.
        fields: further fields of the model; their values are part of its id.
    """
    law = str(result.__struct_config__.tag)
    ordered = sorted(found, key=lambda each: size(each.judged.estimate))
    pairs = tuple(each for both in ordered for each in both)
    name = named(law, curve.members[0].estimate.declared, (*fields.values(), *curve.marks))
    identity = curve._replace(members=pairs).identity(law) | {"id": name}
    points = tuple(ratio for both in ordered if (ratio := _ratio(both)))
    if len(points) < len(ordered):
        return Unfitted(**identity, wanted=law, reason=text("some sizes have no block with both"))
    draws, basis = replicates(pairs)
    sizes = np.array([size(each.judged.estimate) for each in ordered])
    value, drawn = (
        np.exp(np.log(_faster(ordered, rows))[:, sizes >= LONG * sizes[-1]].mean(axis=1))
        for rows in (np.array([[each.estimate.median or 0.0 for each in pairs]]), draws)
    )
    return result(
        **identity,
        points=points,
        smallest_size=points[0].value,
        long_messages=with_ends(value[0], drawn, basis),
        least=min(points, key=lambda each: each.value.value).value,
        **fields,
    )


def _ratio(both: MeasuredPair) -> Point | None:
    estimate = both.judged.estimate
    found = block_ratio(*(both if estimate.better == "higher" else reversed(both)))
    if found is None:
        return None
    at = {BYTES: size(estimate), "blocks": found.blocks}
    return point(estimate, at, None, found.value)


def _faster(ordered: Sequence[MeasuredPair], draws: Samples) -> Samples:
    ratio: Samples = draws[:, ::2] / draws[:, 1::2]
    return ratio if ordered[0].judged.estimate.better == "higher" else 1 / ratio
