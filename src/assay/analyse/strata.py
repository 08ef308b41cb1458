"""Which benchmarks the states of the machine explain: decided once for a benchmark, over all of its launches.

Labels of single figures would be split by chance: three launches of six lie beyond the other three in one of ten.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from assay.analyse.launches import CaseAttempt, used
from assay.analyse.states import FACTOR, FAR, NEAR
from assay.analyse.statistics import Samples
from assay.model.plan import Case

#: Fewer launches in a state say nothing of it.
FEWEST = 3
#: Chance that states explain something in a run where they explain nothing.
_LEVEL = 0.01
#: Smaller differences are of no interest.
_EFFECT = math.log(1.02)
#: Labels are drawn so often: p of 1 / 5,000 can be told, enough for 50 benchmarks.
_DRAWS = 4_999
_SEED = 1
#: Turns of a fit that seldom needs more than five.
_ROUNDS = 20
#: Where launches are too few for a test: states that lie so many times farther apart than the launches of either.
#: Noise of any size makes that of 3 and 3 launches in 1 of 6,000 cases (found by simulation).
_PLAIN = 4

Attempts = Mapping[str, Sequence[CaseAttempt]]


class Stratum(NamedTuple):
    """Launches that could have held the same cases, in the two states.

    Attributes:
        near: ln of how much slower each launch was than is usual for its cases.
        far: the same of the launches of the other state.
    """

    near: Samples
    far: Samples


def explained(*runs: tuple[Iterable[Case], Attempts]) -> frozenset[str]:
    """Names of the benchmarks whose launches the states explain.

    Args:
        runs: cases of a plan, and what their launches gave; of two runs where they are compared.
    """
    seen = {each.state for _, attempts in runs for taken in attempts.values() for each in taken}
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
    """Benchmark -> its launches by placement and levels, where some were near and some far."""
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
    """ln of the median of one kernel of a case on one host in one launch."""

    figure: tuple[str, ...]
    launch: tuple[str, int]
    state: str | None
    value: float


def _times(case: Case, taken: Iterable[CaseAttempt]) -> Iterable[_Time]:
    for each in taken:
        for key, sampled in each.sampled.items():
            if sampled.median > 0:
                yield _Time((case.id, *key), (each.launch, each.attempt), each.state, math.log(sampled.median))


def _slower(times: Sequence[_Time]) -> dict[tuple[str, int], float]:
    """Launch -> how much slower it was than is usual for its cases: its part in ln time = figure + launch.

    Least squares, by turns: launches need not hold the same cases, and what is usual for a case must not depend on
    how many of its launches were near.
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
    """Whether near and far lie as far apart as what tells the states from each other, and each by itself close.

    With three launches or more in each, the gap between the two is a factor of 1.5, and four times either's range.
    """
    if not _enough([stratum]):
        return False
    gap = max(stratum.far.min() - stratum.near.max(), stratum.near.min() - stratum.far.max())
    return bool(gap >= max(math.log(FACTOR), _PLAIN * np.ptp(stratum.near), _PLAIN * np.ptp(stratum.far)))


def _significant(strata: Mapping[str, Sequence[Stratum]]) -> set[str]:
    """Benchmarks with a difference of 2 % or more that chance makes in less than 1 % of runs (Holm).

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
    """Share of labellings that set near and far as far apart: p of a permutation test.

    Labels of launches are drawn anew within each stratum, so that what the cases of a launch have in common stays
    together. The labelling found counts as one of those drawn, hence p is valid. Source: B. Phipson, G. K. Smyth,
    Permutation P-values Should Never Be Zero, Statistical Applications in Genetics and Molecular Biology 9, 2010.
    """
    rng = np.random.default_rng(_SEED)
    drawn = np.zeros(_DRAWS)
    for each in strata:
        shuffled = rng.permuted(np.tile(np.concatenate(each), (_DRAWS, 1)), axis=1)
        drawn += _apart(shuffled, each.near.size) / len(strata)
    as_far = np.count_nonzero(drawn >= _effect(strata) * (1 - 1e-12))
    return (1 + int(as_far)) / (1 + _DRAWS)


def _effect(strata: Sequence[Stratum]) -> float:
    """The statistic: how far near and far lie apart, mean over strata."""
    return sum(float(_apart(np.concatenate(each), each.near.size)) for each in strata) / len(strata)


def _apart(values: Samples, near: int) -> Samples:
    """|mean of the first `near` - mean of the others|, last axis: with medians too many labellings look alike."""
    apart: Samples = np.abs(values[..., :near].mean(axis=-1) - values[..., near:].mean(axis=-1))
    return apart
