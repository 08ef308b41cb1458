"""Where a curve over sizes bends more than its points tell: which sizes should be measured, too.

A point that lies off the line between its neighbours, on logarithmic axes, by more than 5 % and by more than its
own interval, marks a bend: the middles of the steps on both sides of it are wanted (METHODS, 3).
"""

import math
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import NamedTuple

from assay import benchmarks
from assay.model.result import Estimate

#: A curve is known where interpolation errs by no more.
_ERROR = 0.05
#: Sizes nearer to each other than this factor tell no more.
_NEAREST = 1.15
#: Sizes that one round adds to a curve at most, those at its worst bends first.
_MOST = 6
#: Sizes above this are rounded to words of eight bytes, as messages mostly are.
_WORD = 8


class Bend(NamedTuple):
    """A size that a curve wants.

    Attributes:
        case: id of the case at one of the sizes beside it.
        axis: that is swept.
        size: to be measured.
        error: of interpolation at the bend, relative.
    """

    case: str
    axis: str
    size: int
    error: float


def bends(estimates: Iterable[Estimate]) -> tuple[Bend, ...]:
    """What all curves of messages want, the worst bends of each first; nothing where all are smooth."""
    curves: dict[tuple[object, ...], list[Estimate]] = {}
    for estimate in estimates:
        axis = _swept(estimate)
        if axis and estimate.median and int(estimate.params[axis]) > 0:
            curves.setdefault(_key(estimate, axis), []).append(estimate)
    return tuple(bend for curve in curves.values() for bend in _of_curve(curve))


def _swept(estimate: Estimate) -> str:
    """The axis of its curve; empty for what is no headline of messages, or no curve."""
    benchmark = benchmarks.get(estimate.benchmark)
    headline = benchmark.metrics_of(estimate.kernel, estimate.params)[0].name
    swept = next((axis.name for axis in benchmark.axes if axis.swept), "")
    return swept if benchmark.joint and estimate.metric == headline and swept in estimate.params else ""


def _key(estimate: Estimate, axis: str) -> tuple[object, ...]:
    fixed = tuple((name, value) for name, value in estimate.params.items() if name != axis)
    levels = tuple(estimate.factors.items())
    return (
        estimate.benchmark,
        estimate.kernel,
        fixed,
        levels,
        estimate.placement.label,
        estimate.placement.hosts,
        estimate.state,
    )


def _of_curve(curve: Sequence[Estimate]) -> list[Bend]:
    axis = _swept(curve[0])
    ordered = sorted(curve, key=lambda each: int(each.params[axis]))
    sizes = [int(each.params[axis]) for each in ordered]
    found: list[Bend] = []
    for at in range(1, len(ordered) - 1):
        error = _error(ordered[at - 1 : at + 2], sizes[at - 1 : at + 2])
        if error <= max(_ERROR, _half_width(ordered[at])):
            continue
        found += [
            Bend(ordered[at].case, axis, middle, error)
            for below, above in ((at - 1, at), (at, at + 1))
            if (middle := _middle(sizes[below], sizes[above])) not in sizes
            and _step(sizes[below], middle, sizes[above]) >= _NEAREST
        ]
    found.sort(key=lambda bend: (bend.size, -bend.error))
    worst = [next(alike) for _, alike in groupby(found, key=lambda bend: bend.size)]
    return sorted(worst, key=lambda bend: -bend.error)[:_MOST]


def _step(below: int, middle: int, above: int) -> float:
    """The smaller of the two steps that a middle makes, as a factor."""
    return min(middle / below, above / middle)


def _error(three: Sequence[Estimate], sizes: Sequence[int]) -> float:
    """How far the middle of three points lies off the line between the others, relative."""
    left, middle, right = (math.log(each.median or 1.0) for each in three)
    low, at, high = map(math.log, sizes)
    return math.expm1(abs(middle - (left + (right - left) * (at - low) / (high - low))))


def _half_width(estimate: Estimate) -> float:
    if estimate.lo is None or estimate.hi is None or not estimate.median:
        return 0.0
    return (estimate.hi - estimate.lo) / 2 / estimate.median


def _middle(below: int, above: int) -> int:
    middle = round(math.sqrt(below * above))
    return middle if below < _WORD * _WORD else _WORD * round(middle / _WORD)
