"""Both directions at once over one direction: whether messages slow each other down."""

from collections.abc import Iterable

from assay.analyse.curves import RunEstimates
from assay.analyse.messages import curves
from assay.model import roles
from assay.model.law import Model
from assay.topics.messages import ratios
from assay.topics.messages.ratios import MeasuredPair, RatioBySize

LAW = "duplex"
_ONE, _BOTH = "bandwidth", "bidirectional"


class Duplex(RatioBySize, frozen=True, kw_only=True, tag=LAW):
    """Both directions together over one direction alone."""


def fit(known: RunEstimates) -> Iterable[Model]:
    """Fit one model for each pair of curves that differ in their directions alone."""
    for benchmark in roles.message_curves(known.run.plan.declarations):
        for curve in curves.by_size(known, benchmark, curves.PATTERN):
            one, both = (
                {curves.size(e.estimate): e for e in curve.members if e.estimate.params[curves.PATTERN] == pattern}
                for pattern in (_ONE, _BOTH)
            )
            found = [MeasuredPair(both[size], one[size]) for size in sorted(one.keys() & both.keys())]
            if found:
                yield ratios.fitted(Duplex, curve, found)
