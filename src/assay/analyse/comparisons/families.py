"""Many comparisons tested together: Westfall and Young's step-down maximum of a moderated t.

The figures of a run rise and fall together. So the law of the largest statistic of a family comes from the data:
whole blocks change the sign of their differences, or whole launches their run, and all figures with them. No
independence is assumed, and the error is bounded over the family: the probability of any false claim.

Sources: P. H. Westfall, S. S. Young, Resampling-Based Multiple Testing, 1993, algorithm 4.1 (step-down maximum);
G. K. Smyth, Linear Models and Empirical Bayes Methods, Statistical Applications in Genetics and Molecular Biology
3, 2004 (moderated variance).
"""

import itertools
import math
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.analyse.statistics import Samples, medians

#: Above this number of rearrangements, so many are drawn at random; also the number of drawn effects of runs.
MOST_DRAWN = 10_000
#: Degrees of freedom with which the median variance of the family counts for each figure.
PRIOR_FREEDOM = 4
#: Least variance of a logarithm: figures that never vary, as counts, differ or do not.
_LEAST = 1e-18
#: Statistics that differ by rounding only are equal.
_ROUNDING = 1 - 1e-9
_SEED = 1
#: Numbers that are worked on at a time.
_CHUNK = 1_000_000
#: Families of fewer figures do not show whether runs move their figures together ...
_FEWEST_FOR_SHARE = 10
#: ... and never that they do so wholly: least standard deviation of a figure alone over that of its run's effect.
_LEAST_ALONE = 0.25
#: Half of a normal law lies within this many standard deviations.
_HALF = 0.6744898


class Tested(NamedTuple):
    """The test of a family, one value a figure.

    Attributes:
        single: two-sided p of each figure alone.
        adjusted: the same over the family.
        between: variance of ln(a / b) by the effects of the two runs; 0 in blocks.
    """

    single: Samples
    adjusted: Samples
    between: Samples


class RunEffects(NamedTuple):
    """What runs add to the logarithm of each figure of a family, beside its launches.

    Attributes:
        variance: of the difference of the two runs, one a figure.
        freedom: degrees of freedom of each variance; infinite for an assumption.
        relative: each variance is at least this many times that of the difference of two single launches; 0 for
            those that were measured.
        common: share of the variance that all figures have in common; None to judge by the differences themselves.
    """

    variance: Samples
    freedom: Samples
    relative: Samples
    common: float | None = None


def of_blocks(differences: Samples) -> Tested:
    """Test whether figures differ, by all patterns of signs of the blocks.

    Args:
        differences: ln(a / b), shape (blocks, figures), NaN where a block lacks a figure; each has 2 or more.
    """
    present = ~np.isnan(differences)
    values, count = np.where(present, differences, 0.0), present.sum(axis=0)
    squares = (values * values).sum(axis=0)

    def variances(means: Samples) -> Samples:
        found: Samples = (squares - count * means * means) / (count - 1)
        return found

    prior = prior_of(variances(values.sum(axis=0) / count))

    def statistics(signs: Samples) -> Samples:
        means = signs @ values / count
        variance = moderated(variances(means), count - 1, prior)
        found: Samples = np.abs(means) / np.sqrt(variance / count)
        return found

    signs = _signs(len(values))
    step = max(1, _CHUNK // values.shape[1])
    drawn = (statistics(signs[at : at + step]) for at in range(0, len(signs), step))
    single, adjusted = _step_down(statistics(signs[:1])[0], drawn)
    return Tested(single, adjusted, np.zeros(values.shape[1]))


class _Launches(NamedTuple):
    """Logarithms of the launches of two runs, one row a launch; `present` says where a figure has one, else 0."""

    values: Samples
    present: NDArray[np.bool_]

    def parts(
        self, chosen: Samples, effects: RunEffects, prior: float | None = None
    ) -> tuple[Samples, Samples, Samples, float]:
        """Return the differences of the means, their variance by launches, that by effects of runs, and the prior.

        Args:
            chosen: 1 for launches of the first run, shape (exchanges, launches).
            effects: of runs.
            prior: see `moderated`; None for that of the first row.
        """
        ones, of_ones = chosen @ self.present, chosen @ self.values
        others, of_others = self.present.sum(axis=0) - ones, self.values.sum(axis=0) - of_ones
        lacks = (ones == 0) | (others == 0)
        ones, others = np.maximum(ones, 1), np.maximum(others, 1)
        difference = np.where(lacks, 0.0, of_ones / ones - of_others / others)
        squares, free = (self.values * self.values).sum(axis=0), self.present.sum(axis=0) - 2
        within = squares - of_ones * of_ones / ones - of_others * of_others / others
        prior = prior_of(within[0] / free) if prior is None else prior
        launch = moderated(within / free, free, prior)
        between = np.maximum(effects.variance, effects.relative * 2 * launch)
        return difference, launch * (1 / ones + 1 / others), between, prior


def of_runs(a: Samples, b: Samples, effects: RunEffects) -> Tested:
    """Test whether the figures of two runs differ, by exchanges of launches and effects of runs.

    Launches of one run never show what the run has in common, so their exchange alone would call equal runs
    different. So the part of each difference that effects of runs explain, by their share of its variance, is
    taken away, launches are exchanged, and effects of two runs are drawn with their variance.

    Args:
        a: ln of each launch of the judged run, shape (launches, figures); NaN where a figure lacks one.
        b: of the base; each figure has 2 launches or more in both.
        effects: of runs.
    """
    both = np.concatenate([a, b])
    present = ~np.isnan(both)
    launches = _Launches(np.where(present, both - np.nanmean(both, axis=0), 0.0), present)
    as_made = np.concatenate([np.ones(len(a)), np.zeros(len(b))])
    *parts, prior = launches.parts(as_made[None], effects)
    difference, launch, between = (each[0] for each in parts)
    observed = np.abs(difference) / np.sqrt(launch + between)
    common = _common(difference, launch, between) if effects.common is None else effects.common
    expected = difference * between / (launch + between)
    exchanged = launches._replace(values=launches.values - as_made[:, None] * present * expected)
    chosen = _relabelled(len(a), len(b))
    rng = np.random.default_rng(_SEED)

    def drawn() -> Iterator[Samples]:
        yield observed[None]
        step = max(1, _CHUNK // observed.size)
        for at in range(0, len(chosen), step):
            difference, launch, between, _ = exchanged.parts(chosen[at : at + step], effects, prior)
            spread, root = np.sqrt(between), np.sqrt(launch + between)
            for _ in range(-(-MOST_DRAWN // len(chosen))):
                moved = difference + spread * _effects(rng, difference.shape, effects.freedom, common)
                yield np.abs(moved) / root

    return Tested(*_step_down(observed, drawn()), between)


def prior_of(variance: Samples) -> float:
    """Return the prior of `moderated`: the median of the variances of a family, as it was measured."""
    return float(medians(np.maximum(variance, _LEAST)))


def moderated(variance: Samples, free: NDArray[np.int_], prior: float) -> Samples:
    """Return the variances along the last axis, drawn towards the prior as by 4 more degrees of freedom.

    A few blocks give a poor estimate: the smallest of many is far too small, and its t far too large. The prior is
    the same for every rearrangement: figures that truly differ vary more when rearranged, and where they are most
    of the family, a median of rearranged variances would make the t of all other figures too small.
    """
    found: Samples = (PRIOR_FREEDOM * prior + free * np.maximum(variance, _LEAST)) / (PRIOR_FREEDOM + free)
    return found


def _signs(blocks: int) -> Samples:
    """Patterns of signs, the observed one first; the first block keeps its sign, because the test is two-sided."""
    others = blocks - 1
    if 2**others <= MOST_DRAWN:
        numbers = np.arange(2**others)
        minus = numbers[:, None] >> np.arange(others) & 1
    else:
        minus = np.random.default_rng(_SEED).integers(0, 2, (MOST_DRAWN, others))
        minus[0] = 0
    return np.concatenate([np.ones((len(minus), 1)), 1.0 - 2.0 * minus], axis=1)


def _relabelled(m: int, n: int) -> Samples:
    """Which of m + n launches count as of the first run, one row an exchange."""
    if math.comb(m + n, m) <= MOST_DRAWN:
        places = np.array(list(itertools.combinations(range(m + n), m)))
    else:
        rng = np.random.default_rng(_SEED)
        places = np.argsort(rng.random((MOST_DRAWN, m + n)), axis=1)[:, :m]
    chosen = np.zeros((len(places), m + n))
    np.put_along_axis(chosen, places, 1.0, axis=1)
    return chosen


def _effects(rng: np.random.Generator, shape: tuple[int, ...], freedom: Samples, common: float) -> Samples:
    """Effects of two runs in their standard deviations: normal, over the error of an estimated deviation."""
    draws, _ = shape
    alone = rng.standard_normal(shape)
    alone *= math.sqrt(1 - common)
    alone += math.sqrt(common) * rng.standard_normal((draws, 1))
    for free in np.unique(freedom[np.isfinite(freedom)]):
        alone[:, freedom == free] *= np.sqrt(free / rng.chisquare(free, (draws, 1)))
    return alone


def _common(difference: Samples, launch: Samples, between: Samples) -> float:
    """The share of the effects of runs that all figures have in common, as their differences show it.

    The tightest half of the figures tells how much each figure moves alone: beside a few that became faster, and
    when most became so.
    """
    if difference.size < _FEWEST_FOR_SHARE:
        return 0.0
    ordered = np.sort(difference / np.sqrt(between))
    half = ordered.size // 2
    width = float((ordered[half:] - ordered[: ordered.size - half]).min())
    alone = (width / (2 * _HALF)) ** 2 - float(medians(launch / between))
    return 1 - min(1.0, max(_LEAST_ALONE**2, alone))


def _step_down(observed: Samples, drawn: Iterable[Samples]) -> tuple[Samples, Samples]:
    """The share of rearrangements in which a figure, or any that is no more significant, reaches its value.

    Args:
        observed: statistics, one a figure.
        drawn: the same of all rearrangements, among them the observed one; shape (rearrangements, figures).
    """
    rising = np.argsort(observed)
    border = observed * _ROUNDING
    single, family, draws = np.zeros(observed.size), np.zeros(observed.size), 0
    for each in drawn:
        single += (each >= border).sum(axis=0)
        largest = np.maximum.accumulate(each[:, rising], axis=1)
        family += (largest >= border[rising]).sum(axis=0)
        draws += len(each)
    adjusted = np.empty(observed.size)
    adjusted[rising[::-1]] = np.maximum.accumulate(family[::-1] / draws)
    return single / draws, adjusted
