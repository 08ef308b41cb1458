"""Both directions at once over one: whether messages that meet stand in each other's way."""

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
    """One model for each pair of curves that only the directions tell apart."""
    for benchmark in roles.message_curves():
        for curve in curves.by_size(known, benchmark, curves.PATTERN):
            by_pattern = {
                pattern: {
                    curves.size(each.estimate): each
                    for each in curve.members
                    if each.estimate.params[curves.PATTERN] == pattern
                }
                for pattern in (_ONE, _BOTH)
            }
            one, both = by_pattern[_ONE], by_pattern[_BOTH]
            found = [MeasuredPair(both[size], one[size]) for size in sorted(one.keys() & both.keys())]
            if found:
                yield ratios.fitted(LAW, Duplex, curves.named(LAW, benchmark, curve.marks), curve.state, found)
