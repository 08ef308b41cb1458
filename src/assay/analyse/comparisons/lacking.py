"""What a comparison lacks for a claim: the obstacle, and how many more blocks or launches decide."""

import math
from functools import cache
from statistics import NormalDist
from typing import NamedTuple

from assay.analyse.comparisons.families import PRIOR_FREEDOM
from assay.analyse.comparisons.ranks import FEWEST_LAUNCHES
from assay.analyse.history import FEWEST_RUNS
from assay.analyse.statistics import NORMAL, student
from assay.model.comparison import Comparison, Lack, Obstacle
from assay.model.quantity import CONFIDENCE

#: Fewer blocks have no interval; no more than so many blocks or launches are proposed.
FEWEST_BLOCKS, _MOST = 6, 60
_TAIL = (1 - CONFIDENCE) / 2


class Seen(NamedTuple):
    """The noise of a comparison.

    Attributes:
        deviation: standard deviation of ln(a / b) of a block, or of ln of a launch.
        of_runs: half of the 95 % interval that the effects of runs alone make; 0 in blocks.
        disturbed: launches of both figures that were disturbed and had no quiet repeat.
    """

    deviation: float
    of_runs: float
    disturbed: int


def lack(found: Comparison, seen: Seen) -> Lack:
    """Return why a comparison is inconclusive, and what decides it if the difference is as seen."""
    if 0 in found.launches:
        return Lack(("samples",))
    why: list[Obstacle] = []
    if found.confidence is None:
        why.append("launches")
    if found.adjusted_p is not None and found.adjusted_p > 1 - CONFIDENCE:
        why.append("among")
    if found.confidence and not is_beyond(found):
        half = math.log(found.hi / found.lo) / 2
        why.append("runs" if seen.of_runs > half / math.sqrt(2) else "margin")
    made = min(found.launches)
    decide = _deciding(found, seen)
    # With one block nothing is known of the noise: the fewest that make an interval are the least that is needed.
    more = None if decide is None else max(1, decide - made)
    without_runs = _deciding(found, seen._replace(of_runs=0.0))
    is_open = found.is_assumed and without_runs is not None and (decide is None or without_runs < decide)
    return Lack(tuple(why), more, FEWEST_RUNS if is_open else 0, seen.disturbed)


def by_runs(found: Comparison) -> bool:
    """Whether the variance between runs makes most of the interval: further launches help little."""
    of_runs = NORMAL * math.sqrt(2) * (found.between_runs or 0.0)
    return of_runs > math.log(found.hi / found.lo) / 2 / math.sqrt(2)


def is_beyond(found: Comparison) -> bool:
    """Whether the interval lies wholly beyond the margin."""
    return found.lo > 1 + found.margin or found.hi < 1 / (1 + found.margin)


def _deciding(found: Comparison, seen: Seen) -> int | None:
    """The least number of blocks, or of launches of each run, that claims such a difference in such noise."""
    effect, margin = abs(math.log(found.ratio)), math.log1p(found.margin)
    fewest, groups = (FEWEST_BLOCKS, 1) if found.blocks else (FEWEST_LAUNCHES, 2)
    tail = _TAIL / found.among
    of_runs = seen.of_runs * _normal(tail) / NORMAL

    def decides(count: int) -> bool:
        error, free = seen.deviation * math.sqrt(groups / count), groups * (count - 1)
        interval = math.hypot(student(free) * error, seen.of_runs)
        critical = math.hypot(student(free + PRIOR_FREEDOM, tail) * error, of_runs)
        return effect > interval + margin and effect >= critical

    return next(filter(decides, range(fewest, _MOST)), _MOST) if decides(_MOST) else None


@cache
def _normal(tail: float) -> float:
    """The quantile of the normal distribution with this tail."""
    return NormalDist().inv_cdf(1 - tail)
