"""How much slower each of several similar nodes is than the others: figure by figure, and over many figures.

Nodes of the same run are compared, in logarithms of time: a rate and the time that it follows from give the same.
"""

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from assay.analyse.estimates import Measured
from assay.analyse.statistics import Samples, student
from assay.model import roles
from assay.model.grouping import grouped
from assay.model.quantity import Quantity
from assay.model.result import Estimate
from assay.model.role_words import Role

#: With fewer nodes there is no usual value; with fewer launches of a node its error is unknown.
FEWEST_NODES, FEWEST_LAUNCHES = 4, 2
#: A node is slow beyond so many median absolute deviations of the nodes, and beyond this share of the usual time,
DEVIATIONS = 6
MARGIN = 0.03
#: with at most this probability that noise makes any node slow in any figure.
ERROR = 0.01
#: Degrees of freedom that the nodes' usual variance adds to a node's own: a few launches may agree by chance.
_SHARED_FREEDOM = 4


class Crowd(NamedTuple):
    """One figure, measured on several nodes.

    Attributes:
        role: of the figure.
        hosts: of all figures of the run.
        estimates: host -> its estimate.
        excess: ln of the time over the median time of all nodes, shape (hosts, blocks); NaN where missing.
    """

    role: Role | None
    hosts: tuple[str, ...]
    estimates: dict[str, Estimate]
    excess: Samples


class Slowness(NamedTuple):
    """A node that is slow in a figure, or in the median of several figures.

    Attributes:
        crowds: the figures.
        factor: time over the median time of all nodes, median over the launches, with its ends.
        border: factor that the lower end exceeds.
    """

    crowds: Sequence[Crowd]
    factor: Quantity
    border: float


class _Effects(NamedTuple):
    """The median excess of each node over its launches, what it is judged by, and the spread of the nodes."""

    value: Samples
    variance: Samples
    launches: Samples
    spread: float


def crowds(measured: Iterable[Measured]) -> list[Crowd]:
    """Return the figures with a role of single nodes; of several metrics of the same samples the first one."""
    alone = [each for each in measured if len(each.estimate.placement.hosts) == 1 and each.launches]
    having = (each for each in alone if roles.role(each.estimate))
    figures = grouped(having, lambda each: (each.estimate.case, each.estimate.kernel, each.estimate.state))
    hosts = tuple(dict.fromkeys(each.estimate.placement.hosts[0] for each in alone))
    blocks = sorted({launch.block for each in alone for launch in each.launches})
    found = (_crowd(members, hosts, blocks) for members in figures.values())
    return [each for each in found if np.isfinite(each.excess).any()]


def _crowd(members: Sequence[Measured], hosts: tuple[str, ...], blocks: Sequence[int]) -> Crowd:
    first = members[0].estimate
    of_metric = [each for each in members if each.estimate.metric == first.metric]
    sign = -1.0 if first.better == "higher" else 1.0
    rows, columns = ({name: at for at, name in enumerate(names)} for names in (hosts, blocks))
    times = np.full((len(hosts), len(blocks)), np.nan)
    for each in of_metric:
        row = rows[each.estimate.placement.hosts[0]]
        for launch in each.launches:
            times[row, columns[launch.block]] = sign * math.log(launch.value) if launch.value > 0 else np.nan
    times[:, np.isfinite(times).sum(axis=0) < FEWEST_NODES] = np.nan
    estimates = {each.estimate.placement.hosts[0]: each.estimate for each in of_metric}
    return Crowd(roles.role(first), hosts, estimates, times - _median(times, 0))


def slow(figures: Sequence[Crowd]) -> dict[str, list[Slowness]]:
    """Return for each slow node the figures in which it is slow, the clearest first.

    Further figures are the medians over all figures of a role, and over all figures: noise that hides each single
    figure does not hide them. They stand behind the single ones.
    """
    by_role = grouped(figures, lambda each: each.role)
    several = [group for group in by_role.values() if len(group) > 1]
    groups = [*((each,) for each in figures), *several, *([tuple(figures)] if len(by_role) > 1 else [])]
    effects = [_effects(_together(group)) for group in groups]
    spreads = grouped(zip(figures, effects, strict=False), lambda each: each[0].role)
    usual = {role: float(np.median([each.spread for _, each in group])) for role, group in spreads.items()}
    tests = sum(int(np.sum(each.launches >= FEWEST_LAUNCHES)) for each in effects)
    found: dict[str, list[Slowness]] = {}
    for group, effect in zip(groups, effects, strict=True):
        spread = max(effect.spread, usual[group[0].role] if len(group) == 1 else 0.0)
        border = math.exp(max(math.log1p(MARGIN), DEVIATIONS * spread))
        for host, factor in _factors(group[0].hosts, effect, tests):
            if factor.lo > border:
                found.setdefault(host, []).append(Slowness(group, factor, border))
    return {
        host: sorted(slowness, key=lambda each: (len(each.crowds) > 1, each.border / each.factor.lo))
        for host, slowness in found.items()
    }


def _together(group: Sequence[Crowd]) -> Samples:
    """The median excess over several figures, for each node and block."""
    return group[0].excess if len(group) == 1 else _median(np.array([each.excess for each in group]), 0)


def _effects(excess: Samples) -> _Effects:
    value = _median(excess, 1)
    launches = np.isfinite(excess).sum(axis=1)
    mean = np.nansum(excess, axis=1) / np.maximum(launches, 1)
    squares = np.nansum((excess - mean[:, None]) ** 2, axis=1)
    free = np.maximum(launches - 1, 0)
    usual = _median(np.where(free > 0, squares / np.maximum(free, 1), np.nan), 0)
    variance = (_SHARED_FREEDOM * usual + squares) / (_SHARED_FREEDOM + free)
    return _Effects(value, variance, launches, float(_median(np.abs(value), 0)))


def _factors(hosts: Sequence[str], effects: _Effects, tests: int) -> Iterable[tuple[str, Quantity]]:
    """Each host with the factor of its time; the ends hold for all of so many tests."""
    for host, middle, variance, launches in zip(
        hosts, effects.value, effects.variance, effects.launches, strict=True
    ):
        if launches >= FEWEST_LAUNCHES:
            error = math.sqrt(math.pi / 2 * variance / launches)  # of a median
            half = student(int(launches) - 1 + _SHARED_FREEDOM, ERROR / tests) * error
            factor, lo, hi = (math.exp(end) for end in (middle, middle - half, middle + half))
            yield host, Quantity(factor, lo, hi, "", "derived")


def _median(values: Samples, axis: int) -> Samples:
    """The median along an axis without NaN; NaN where there is nothing."""
    ordered = np.sort(values, axis=axis)
    count = np.isfinite(values).sum(axis=axis, keepdims=True)
    low, high = (np.take_along_axis(ordered, at, axis) for at in (np.maximum(count - 1, 0) // 2, count // 2))
    middle: Samples = np.where(count > 0, (low + high) / 2, np.nan).squeeze(axis)
    return middle
