"""Noise of the machine: the sentinel's tail and drift, other processes, and the states of the machine."""

import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import reduce
from typing import NamedTuple

import numpy as np

from assay.analyse import states
from assay.analyse.curves import is_headline
from assay.analyse.estimates import Measured
from assay.analyse.launches import CaseAttempt
from assay.analyse.statistics import (
    FEWEST_FOR_TAIL,
    NORMAL,
    Samples,
    chi_square,
    kendall,
    medians,
    pairs_of,
    percentile,
    sorted_median,
    stacked,
    theil_sen,
)
from assay.model.bracket import Bracket
from assay.model.grouping import grouped
from assay.model.noise import Noise
from assay.model.quantity import CONFIDENCE, Quantity, exact
from assay.model.run import Run
from assay.model.samples import PHASES, SampleTable, table_of

#: Fewer launches of the sentinel show no trend.
_FEWEST = 4
_ONE = "one"
#: A quantum of work was stopped, or its core was slower, if it took longer than the median by more than this.
_STOPPED = 0.1


def noise(
    run: Run, attempts: Mapping[str, Sequence[CaseAttempt]], border: float | None, measured: Iterable[Measured]
) -> Noise:
    """Return the noise of the run; disturbed launches of the sentinel count too."""
    relative = _sentinel(run, attempts)
    brackets = [launch.launch.bracket for launch in run.launches]
    drift, drift_p = _drift(run, {name: float(medians(values)) for name, values in relative.items()})
    pooled = np.sort(np.concatenate([np.zeros(0), *relative.values()]))
    measured = list(measured)
    figures_drift, figures_drift_p = _figures_drift(measured)
    by_launch = _stops_by_launch(run)
    stopped = _sum_of(by_launch)
    attempts_of = grouped((each.launch for each in run.launches), lambda launch: launch.id)
    return Noise(
        sentinel_p99=percentile(pooled, 0.99) / sorted_median(pooled) if pooled.size >= FEWEST_FOR_TAIL else None,
        drift=drift,
        drift_p=drift_p,
        steal=_steal(brackets),
        foreign=max((each.foreign for each in brackets if each.foreign is not None), default=None),
        states=_states(run, border),
        disturbed=sum(bool(bracket.disturbance) for bracket in brackets),
        launches=len(brackets),
        resolution=_resolution(measured),
        probed_s=stopped.probed_s,
        lost=lost_share(by_launch),
        longest_stop_s=stopped.longest_s if stopped.probed_s else None,
        stops_per_s=stopped.number / stopped.probed_s if stopped.probed_s else None,
        figures_drift=figures_drift,
        figures_drift_p=figures_drift_p,
        made=len(attempts_of),
        spoilt=sum(all(each.bracket.disturbance for each in made) for made in attempts_of.values()),
        crowded=sum(all(each.bracket.is_crowded for each in made) for made in attempts_of.values()),
        waited_s=sum(each.launch.waited_s for each in run.made) + (run.ending.waited_s if run.ending else 0.0),
    )


class Stops(NamedTuple):
    """Quanta of fixed work that took longer than usual: their number, and their time beyond the usual one."""

    probed_s: float = 0.0
    lost_s: float = 0.0
    longest_s: float = 0.0
    number: int = 0

    def plus(self, other: "Stops") -> "Stops":
        """Return the sum of both."""
        return Stops(
            self.probed_s + other.probed_s,
            self.lost_s + other.lost_s,
            max(self.longest_s, other.longest_s),
            self.number + other.number,
        )


def stops(run: Run) -> Stops:
    """Return the stops of the sentinel, whose samples are quanta of fixed work."""
    return _sum_of(_stops_by_launch(run))


def _stops_by_launch(run: Run) -> list[Stops]:
    """Return the stops of each launch of the sentinel."""
    sentinels = {case.id for case in run.plan.cases if case.role == "sentinel"}
    having = ([case for case in launch.cases if case.header.case in sentinels] for launch in run.launches)
    found = (_sum_of(stops_in(table_of(case.series)) for case in cases) for cases in having)
    return [each for each in found if each.probed_s]


def _sum_of(each: Iterable[Stops]) -> Stops:
    return reduce(Stops.plus, each, Stops())


def lost_share(launches: Sequence[Stops]) -> Quantity | None:
    """Return the share of time lost, with its 95 % interval; None without launches.

    Stops come in bursts: a launch is one observation, however many quanta it has. Shares of launches were
    exponential on an idle virtual machine (149 launches of 20 runs: standard deviation over mean 1.03,
    Kolmogorov-Smirnov p = .31), so 2 x sum / mean is chi-square with two degrees of freedom for each launch.
    Shares that scatter less have an interval that is too wide.
    """
    n, total = len(launches), _sum_of(launches)
    if not launches:
        return None
    share = total.lost_s / total.probed_s
    if n == 1 or not share:
        return exact(share)
    lo, hi = (2 * n * share / chi_square(2 * n, z) for z in (NORMAL, -NORMAL))
    return Quantity(share, lo, min(1.0, hi), basis="interval")


def stops_in(table: SampleTable) -> Stops:
    """Return the stops of every measured series, relative to its own median."""
    found = Stops()
    for row in np.flatnonzero((table.phase == PHASES.index("measured")) & (table.counts > 0)).tolist():
        quanta = table.seconds[int(table.ends[row] - table.counts[row]) : int(table.ends[row])]
        usual = float(medians(quanta))
        beyond = quanta[quanta > (1 + _STOPPED) * usual] - usual
        own = Stops(float(quanta.sum()), float(beyond.sum()), float(beyond.max(initial=0.0)), beyond.size)
        found = found.plus(own)
    return found


def _steal(brackets: Iterable[Bracket]) -> float | None:
    """Steal over all launches: counters tick too slowly for a short launch."""
    known = [(each.steal, each.elapsed_s) for each in brackets if each.steal is not None]
    elapsed_s = sum(each for _, each in known)
    return sum(steal * each for steal, each in known) / elapsed_s if elapsed_s else None


def _figures_drift(measured: Iterable[Measured]) -> tuple[float | None, float | None]:
    """Theil-Sen slope x blocks of the median slowness of all headline figures in each block, and Kendall's p."""
    blocks: dict[int, list[float]] = {}
    for each in measured:
        values = [(launch.block, launch.value) for launch in each.launches if launch.value > 0]
        if is_headline(each.estimate) and len(values) >= _FEWEST:
            usual = float(medians([value for _, value in values]))
            sign = 1 if each.estimate.better == "lower" else -1
            for block, value in values:
                blocks.setdefault(block, []).append(sign * math.log(value / usual))
    if len(blocks) < _FEWEST:
        return None, None
    at = sorted(blocks)
    slowness = [float(medians(blocks[block])) for block in at]
    return math.expm1(theil_sen(at, slowness) * (at[-1] - at[0])), kendall(at, slowness)[1]


def _resolution(measured: Iterable[Measured]) -> float | None:
    """The relative difference of two launches of one case: 95th percentile of |ln(a/b)| of headline metrics.

    Every pair of launches of an estimate counts.
    """
    known = [
        np.log([launch.value for launch in each.launches])
        for each in measured
        if is_headline(each.estimate) and len(each.launches) > 1
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


def _sentinel(run: Run, attempts: Mapping[str, Sequence[CaseAttempt]]) -> dict[tuple[str, int], Samples]:
    """(launch, attempt) -> samples of the sentinel, relative to the median of its kernel and host in this state.

    So a change of state counts neither as drift nor as tail.
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
    if (np.diff(times) <= 0).any():  # a clock set back, or too coarse: only the order is known
        times = np.arange(len(launches), dtype=np.float64)
    values = [medians[launch.id, launch.attempt] for launch in launches]
    return theil_sen(times - times[0], values) * float(times[-1] - times[0]), kendall(times, values)[1]


def _states(run: Run, border: float | None) -> dict[str, tuple[int, float]]:
    """State -> launches and median hand-over in seconds."""
    brackets = (each.launch.bracket for each in run.launches)
    probed = grouped(
        (each for each in brackets if each.probes), lambda bracket: states.state(bracket, border) or _ONE
    )
    return {
        name: (len(found), float(medians([probe.median_s for bracket in found for probe in bracket.probes])))
        for name, found in sorted(probed.items())
    }
