"""How quiet the machine was: the sentinel's tail and drift, what others took, and the states seen."""

import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

import numpy as np

from assay.analyse import states
from assay.analyse.curves import headline
from assay.analyse.estimates import Measured
from assay.analyse.launches import Yield
from assay.analyse.statistics import (
    CONFIDENCE,
    Samples,
    kendall,
    medians,
    pairs_of,
    percentile,
    sorted_median,
    stacked,
    theil_sen,
)
from assay.model.result import Noise
from assay.model.run import Run

#: A trend over fewer launches of the sentinel says nothing.
_FEWEST = 4
_ONE = "one"


def noise(
    run: Run, attempts: Mapping[str, Sequence[Yield]], border: float | None, measured: Iterable[Measured]
) -> Noise:
    """Noise of the run; the sentinel's launches count whether disturbed or not, since it is they that show it."""
    relative = _sentinel(run, attempts)
    brackets = [launch.launch.bracket for launch in run.launches]
    drift, drift_p = _drift(run, {name: float(medians(values)) for name, values in relative.items()})
    pooled = np.sort(np.concatenate(list(relative.values()))) if relative else None
    return Noise(
        sentinel_p99=None if pooled is None else percentile(pooled, 0.99) / sorted_median(pooled),
        drift=drift,
        drift_p=drift_p,
        steal=max((each.steal for each in brackets if each.steal is not None), default=None),
        foreign=max((each.foreign for each in brackets if each.foreign is not None), default=None),
        states=_states(run, border),
        disturbed=sum(bool(bracket.disturbance) for bracket in brackets),
        launches=len(brackets),
        resolution=_resolution(measured),
    )


def _resolution(measured: Iterable[Measured]) -> float | None:
    """What two launches of one case differ by, relative: the 95th percentile of |ln(a/b)| of headline metrics.

    A against A, as the blocks of any run hold it. Every pair of launches of an estimate counts.
    """
    known = [
        np.log([launch.value for launch in each.launches])
        for each in measured
        if each.estimate.metric == headline(each.estimate) and len(each.launches) > 1
        if all(launch.value > 0 for launch in each.launches)  # messages of 0 bytes have no bandwidth
    ]
    differences = [
        np.abs(rows[:, one] - rows[:, other]).ravel()
        for _, rows in stacked(known)
        for one, other in [pairs_of(rows.shape[1], 1)]
    ]
    if not differences:
        return None
    return math.expm1(percentile(np.sort(np.concatenate(differences)), CONFIDENCE))


def _sentinel(run: Run, attempts: Mapping[str, Sequence[Yield]]) -> dict[tuple[str, int], Samples]:
    """(launch, attempt) -> samples of the sentinel, relative to the median of its kernel and host in this state.

    So a change of state is no drift and no tail: it is told as what it is.
    """
    parts: dict[tuple[str, int], list[Samples]] = {}
    for case in run.plan.cases:
        if case.role != "sentinel":
            continue
        complete = [each for each in attempts[case.id] if each.status == "complete"]
        for key, state in {(key, each.state) for each in complete for key in each.sampled}:
            having = [each for each in complete if key in each.sampled and each.state == state]
            usual = float(medians(np.concatenate([each.sampled[key].seconds for each in having])))
            for each in having:
                if usual:
                    parts.setdefault((each.launch, each.attempt), []).append(each.sampled[key].seconds / usual)
    return {launch: np.concatenate(samples) for launch, samples in parts.items()}


def _drift(run: Run, medians: Mapping[tuple[str, int], float]) -> tuple[float | None, float | None]:
    """Theil-Sen slope of the sentinel's launch medians x the duration they span, and Kendall's p."""
    launches = [each.launch for each in run.launches if (each.launch.id, each.launch.attempt) in medians]
    if len(launches) < _FEWEST:
        return None, None
    times = np.array([datetime.fromisoformat(launch.started).timestamp() for launch in launches])
    if (np.diff(times) <= 0).any():  # a clock set back, or too coarse: then the order is all that is known
        times = np.arange(len(launches), dtype=np.float64)
    values = [medians[launch.id, launch.attempt] for launch in launches]
    return theil_sen(times - times[0], values) * float(times[-1] - times[0]), kendall(times, values)[1]


def _states(run: Run, border: float | None) -> dict[str, tuple[int, float]]:
    """State -> launches and median hand-over in seconds."""
    probes: dict[str, list[float]] = {}
    launches: dict[str, int] = {}
    for bracket in (each.launch.bracket for each in run.launches):
        found = [probe.median_s for probe in (bracket.before, bracket.after) if probe is not None]
        if found:
            name = states.state(bracket, border) or _ONE
            probes.setdefault(name, []).extend(found)
            launches[name] = launches.get(name, 0) + 1
    return {name: (launches[name], float(medians(probes[name]))) for name in sorted(probes)}
