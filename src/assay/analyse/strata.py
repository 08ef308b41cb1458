"""The benchmarks that states of the machine explain, decided once for a benchmark, over all of its launches.

A decision for each figure would often be chance: three launches are all beyond three others in one of ten cases.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from assay.analyse.launches import CaseAttempt, used
from assay.analyse.states import FACTOR, FAR, NEAR
from assay.analyse.statistics import Samples
from assay.model.plan import Case

#: With fewer launches a state is not judged.
FEWEST = 3
#: Probability of a false decision in a run.
_LEVEL = 0.01
#: Smaller differences do not matter.
_EFFECT = math.log(1.02)
#: Number of random labellings: the least p is 1 / 5,000, enough for 50 benchmarks.
_DRAWS = 4_999
_SEED = 1
#: Iterations of a fit that seldom needs more than five.
_ROUNDS = 20
#: With too few launches for a test: minimum gap between the states over the range of either state.
#: Noise of any size does this for 3 and 3 launches in 1 of 6,000 cases (by simulation).
_PLAIN = 4

Attempts = Mapping[str, Sequence[CaseAttempt]]


class Stratum(NamedTuple):
    """Launches with the same kind of cases, in the two states.

    Attributes:
        near: ln of the slowness of each launch, relative to the usual time of its cases.
        far: the same for the other state.
    """

    near: Samples
    far: Samples


def explained(*runs: tuple[Iterable[Case], Attempts]) -> frozenset[str]:
    """Return the names of the benchmarks that the states explain.

    Args:
        runs: cases of a plan with their attempts; of both runs in a comparison.
    """
    seen = {each.state for _, attempts in runs for of_case in attempts.values() for each in of_case}
    if not seen >= {NEAR, FAR}:
        return frozenset()
    strata: dict[str, list[Stratum]] = {}
    for cases, attempts in runs:
        for benchmark, found in _strata(cases, attempts).items():
            strata.setdefault(benchmark, []).extend(found)
    strata = {name: each for name, each in strata.items() if _enough(each)}
    return frozenset(_significant(strata) | {name for name, each in strata.items() if any(map(plain, each))})


def _enough(strata: Sequence[Stratum]) -> bool:
    return min(sum(each.near.size for each in strata), sum(each.far.size for each in strata)) >= FEWEST


def _strata(cases: Iterable[Case], attempts: Attempts) -> dict[str, list[Stratum]]:
    """Benchmark -> its launches by placement and levels, if some were near and some far."""
    times: dict[tuple[object, ...], list[_Time]] = {}
    for case in cases:
        if case.role != "sentinel":
            place = case.placement
            key = (case.benchmark, place.label, str(place.memory), place.hosts, *case.factors.items())
            times.setdefault(key, []).extend(_times(case, used(attempts[case.id])))
    found: dict[str, list[Stratum]] = {}
    for (benchmark, *_), each in times.items():
        slower = _slower(each)
        states = {time.launch: time.state for time in each}
        near, far = (
            np.array([slower[launch] for launch, seen in states.items() if seen == state]) for state in (NEAR, FAR)
        )
        if near.size and far.size:
            found.setdefault(str(benchmark), []).append(Stratum(near, far))
    return found


class _Time(NamedTuple):
    """The median of one kernel of a case on one host in one launch; `value`: its ln."""

    figure: tuple[str, ...]
    launch: tuple[str, int]
    state: str | None
    value: float


def _times(case: Case, attempts: Iterable[CaseAttempt]) -> Iterable[_Time]:
    for each in attempts:
        for key, sampled in each.sampled.items():
            if sampled.median > 0:
                yield _Time((case.id, *key), (each.launch, each.attempt), each.state, math.log(sampled.median))


def _slower(times: Sequence[_Time]) -> dict[tuple[str, int], float]:
    """Launch -> its slowness relative to the usual time of its cases: its part in ln time = figure + launch.

    The fit is alternating least squares: launches need not have the same cases, and the usual time of a case must
    not depend on how many of its launches were near.
    """
    figures = {name: at for at, name in enumerate(dict.fromkeys(each.figure for each in times))}
    launches = {name: at for at, name in enumerate(dict.fromkeys(each.launch for each in times))}
    row = np.array([figures[each.figure] for each in times], dtype=np.intp)
    column = np.array([launches[each.launch] for each in times], dtype=np.intp)
    values = np.array([each.value for each in times])
    slower = np.zeros(len(launches))
    for _ in range(_ROUNDS):
        usual = np.bincount(row, values - slower[column]) / np.bincount(row)
        slower = np.bincount(column, values - usual[row]) / np.bincount(column)
    return dict(zip(launches, slower.tolist(), strict=True))


def plain(stratum: Stratum) -> bool:
    """Whether near and far are clearly separate.

    Each has three launches or more; the gap between them is a factor of 1.5 and four times the range of either.
    """
    if not _enough([stratum]):
        return False
    gap = max(stratum.far.min() - stratum.near.max(), stratum.near.min() - stratum.far.max())
    return bool(gap >= max(math.log(FACTOR), _PLAIN * np.ptp(stratum.near), _PLAIN * np.ptp(stratum.far)))


def _significant(strata: Mapping[str, Sequence[Stratum]]) -> set[str]:
    """The benchmarks with a difference of 2 % or more that is chance in less than 1 % of runs (Holm).

    Source: S. Holm, A Simple Sequentially Rejective Multiple Test Procedure, Scandinavian Journal of Statistics 6,
    1979.
    """
    found: set[str] = set()
    ranked = sorted((chance(each) if _effect(each) >= _EFFECT else 1.0, name) for name, each in strata.items())
    for at, (p, name) in enumerate(ranked):
        if p > _LEVEL / (len(ranked) - at):
            break
        found.add(name)
    return found


def chance(strata: Sequence[Stratum]) -> float:
    """Return p of a permutation test: the share of labellings with at least this difference of near and far.

    Labels of launches are permuted within each stratum, so that the cases of a launch stay together. The real
    labelling counts as one of the draws, hence p is valid. Source: B. Phipson, G. K. Smyth,
    Permutation P-values Should Never Be Zero, Statistical Applications in Genetics and Molecular Biology 9, 2010.
    """
    rng = np.random.default_rng(_SEED)
    drawn = np.zeros(_DRAWS)
    for each in strata:
        shuffled = rng.permuted(np.tile(np.concatenate(each), (_DRAWS, 1)), axis=1)
        drawn += _distance(shuffled, each.near.size) / len(strata)
    as_far = np.count_nonzero(drawn >= _effect(strata) * (1 - 1e-12))
    return (1 + int(as_far)) / (1 + _DRAWS)


def _effect(strata: Sequence[Stratum]) -> float:
    """The statistic: the difference of near and far, mean over strata."""
    return sum(float(_distance(np.concatenate(each), each.near.size)) for each in strata) / len(strata)


def _distance(values: Samples, near: int) -> Samples:
    """|mean of the first `near` - mean of the others|, last axis: with medians too many labellings are equal."""
    distance: Samples = np.abs(values[..., :near].mean(axis=-1) - values[..., near:].mean(axis=-1))
    return distance
