"""Variance of figures of one machine from run to run, from its earlier runs. Pure functions.

The launches of one run are made within a minute or two and do not include drift over hours: their interval
contains the median of another run too seldom. So the variance between earlier runs of the same machine widens the
intervals of comparisons between runs, and is drawn in their test. A machine without earlier runs is assumed to
vary as `ASSUMED` says.
"""

import math
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from assay.analyse.statistics import NORMAL, student
from assay.model.grouping import grouped
from assay.model.quantity import Quantity

#: With fewer earlier runs of a figure their variance is unknown.
FEWEST_RUNS = 3
#: Number of further runs as which the variance of its whole group counts for a figure.
_SHARED_FREEDOM = 2
#: Standard deviation of ln(figure) from run to run where no earlier runs show it (docs/comparing.md) ...
ASSUMED = 0.02
#: ... or this many times the one between its launches, if that is larger: as the runs of docs/comparing.md vary;
#: more where others used the machine, whose work lasts longer than a run.
ASSUMED_RATIO, DISTURBED_RATIO = 0.6, 1.4


class RunLogs(NamedTuple):
    """The figures of one earlier run.

    Attributes:
        run: id.
        day: that it began on; runs of one day have more in common.
        values: figure -> ln of the median of each launch.
        groups: figure -> its group, which has a similar variance, such as its benchmark.
        is_later: whether it was made after the compared runs, not before them.
    """

    run: str
    day: str
    values: Mapping[str, Sequence[float]]
    groups: Mapping[str, Hashable]
    is_later: bool = False


class Components(NamedTuple):
    """Variances of ln(figure): between launches of a run, between runs of a day, between days.

    Attributes:
        launch: of one launch about its run.
        run: of one run about its day.
        day: of one day.
        runs: number of runs that they were estimated from.
        together: share of the variance between runs that the figures of its group have in common.
        stretches: number of stretches of time, each with a mean of its own, that the runs are of.
    """

    launch: float
    run: float
    day: float
    runs: int
    together: float = 0.0
    stretches: int = 1

    @property
    def between(self) -> float:
        """Standard deviation from run to run, over all days."""
        return math.sqrt(self.run + self.day)

    @property
    def freedom(self) -> float:
        """Degrees of freedom: a group that moves together is one value a run, however many figures it has."""
        return self.runs - self.stretches + _SHARED_FREEDOM * (1 - self.together)


class Sums(NamedTuple):
    """Sums of squares of a nested analysis of variance, and the coefficients of their expected values.

    `ss_run` expects `df_run` x launch + `run_in_run` x run; `ss_day` expects `df_day` x launch + `run_in_day` x
    run + `day_in_day` x day. Source: S. R. Searle, G. Casella, C. E. McCulloch, Variance Components, 1992, section
    5.2 (Henderson's method I, here for launches nested in runs nested in days, unbalanced).
    """

    ss_launch: float = 0.0
    df_launch: float = 0.0
    ss_run: float = 0.0
    df_run: float = 0.0
    run_in_run: float = 0.0
    ss_day: float = 0.0
    df_day: float = 0.0
    run_in_day: float = 0.0
    day_in_day: float = 0.0

    def plus(self, other: "Sums", scale: float = 1.0) -> "Sums":
        """Return the sums of several figures; `scale` divides the squares of the other one."""
        squares = {"ss_launch", "ss_run", "ss_day"}
        added = zip(self._fields, self, other, strict=True)
        return Sums(*(mine + (its / scale if name in squares else its) for name, mine, its in added))

    def solved(self) -> tuple[float, float, float]:
        """Return the launch, run and day component by the method of moments; none is below 0."""
        launch = self.ss_launch / self.df_launch if self.df_launch else 0.0
        run = max(0.0, (self.ss_run - self.df_run * launch) / self.run_in_run) if self.run_in_run else 0.0
        rest = self.ss_day - self.df_day * launch - self.run_in_day * run
        return launch, run, max(0.0, rest / self.day_in_day) if self.day_in_day else 0.0


def sums(days: Sequence[Sequence[Sequence[float]]]) -> Sums:
    """Return the sums of one figure; `days`: values of each launch of each run of each day."""
    runs = [[np.asarray(run, dtype=np.float64) for run in day] for day in days]
    counts = [np.array([run.size for run in day], dtype=np.float64) for day in runs]
    means = [np.array([run.mean() for run in day]) for day in runs]
    of_days = np.array([count.sum() for count in counts])
    day_means = np.array([float(count @ mean) / count.sum() for count, mean in zip(counts, means, strict=True)])
    whole = float(of_days.sum())
    grand = float(of_days @ day_means) / whole
    within = sum(float(count @ count) / count.sum() for count in counts)
    return Sums(
        ss_launch=sum(float(((run - run.mean()) ** 2).sum()) for day in runs for run in day),
        df_launch=whole - sum(map(len, runs)),
        ss_run=sum(
            float(count @ (mean - own) ** 2)
            for count, mean, own in zip(counts, means, day_means.tolist(), strict=True)
        ),
        df_run=sum(map(len, runs)) - len(runs),
        run_in_run=whole - within,
        ss_day=float(of_days @ (day_means - grand) ** 2),
        df_day=len(runs) - 1,
        run_in_day=within - sum(float(count @ count) for count in counts) / whole,
        day_in_day=whole - float(of_days @ of_days) / whole,
    )


class History:
    """The variance of figures of one machine, from its other runs.

    A machine may have been changed between the runs that are compared: that is what their comparison asks. So runs
    made before both and runs made after both vary about a mean of their own, and none between the two counts.

    A few runs give a poor estimate for one figure. So the variance of its group, relative to the launches of each
    figure, counts as some further runs. Source of the shrinkage: G. K. Smyth, Linear
    Models and Empirical Bayes Methods, Statistical Applications in Genetics and Molecular Biology 3, 2004.

    Args:
        runs: other runs that measured the same programs on the same machine.
    """

    def __init__(self, runs: Iterable[RunLogs]) -> None:
        self.runs = tuple(runs)
        self._figures: dict[str, tuple[Sums, int, int, Hashable]] = {}
        groups: dict[Hashable, Sums] = {}
        for figure in dict.fromkeys(name for run in self.runs for name in run.values):
            having = [run for run in self.runs if len(run.values.get(figure, ())) > 1]
            stretches = grouped(having, _stretch).values()
            if len(having) - len(stretches) < FEWEST_RUNS - 1:
                continue
            found = Sums()
            for stretch in stretches:
                found = found.plus(sums([[run.values[figure] for run in day] for day in _by_day(stretch)]))
            launch, _, _ = found.solved()
            group = having[-1].groups[figure]
            self._figures[figure] = found, len(having), len(stretches), group
            if launch > 0:
                groups[group] = groups.get(group, Sums()).plus(found, launch)
        self._shared = {group: found.solved() for group, found in groups.items()}
        self._together = {
            group: self.together([name for name, (*_, own) in self._figures.items() if own == group])
            for group in dict.fromkeys(own for *_, own in self._figures.values())
        }

    def together(self, figures: Collection[str]) -> float:
        """Return the share of the variance between runs that these figures have in common; 0 if it is unknown.

        The mean over m standardised figures of a run varies by r + (1 - r) / m.
        """
        known = [name for name in figures if name in self._figures]
        having = [run for run in self.runs if any(run.values.get(name) for name in known)]
        stretches = [
            np.array([[_mean(run.values.get(name, ())) for name in known] for run in stretch], dtype=np.float64)
            for stretch in grouped(having, _stretch).values()
            if len(stretch) > 1
        ]
        free = sum(map(len, stretches)) - len(stretches)
        if free < FEWEST_RUNS - 1:
            return 0.0
        apart = np.concatenate([means - np.nanmean(means, axis=0) for means in stretches])
        counts = np.sum(~np.isnan(apart), axis=0) - len(stretches)
        spread = np.sqrt(np.nansum(apart * apart, axis=0) / np.maximum(counts, 1))
        apart = apart[:, spread > 0] / spread[spread > 0]
        count = apart.shape[1]
        if count < 2:  # noqa: PLR2004 (a single figure moves with none)
            return 1.0
        of_mean = float(np.sum(np.nanmean(apart, axis=1) ** 2)) / free
        return float(min(1.0, max(0.0, (of_mean * count - 1) / (count - 1))))

    def renamed(self, name: Callable[[str], str]) -> "History":
        """Return the same with other ids of the figures."""
        return History(
            run._replace(
                values={name(figure): of for figure, of in run.values.items()},
                groups={name(figure): of for figure, of in run.groups.items()},
            )
            for run in self.runs
        )

    def components(self, figure: str) -> Components | None:
        """Return the variances of a figure; None if too few runs measured it."""
        if figure not in self._figures:
            return None
        own, runs, stretches, group = self._figures[figure]
        (launch, run, day), shared = own.solved(), self._shared.get(group, (0.0, 0.0, 0.0))
        run = _shrunk(run, own.df_run, shared[1] * launch)
        day = _shrunk(day, own.df_day, shared[2] * launch) if own.df_day else 0.0
        return Components(launch, run, day, runs, self._together[group], stretches)


class BetweenRuns(NamedTuple):
    """The variance of two runs that are compared.

    Attributes:
        run: earlier runs of the machine of the judged run.
        base: the same of the base.
        same_day: whether both runs began on one day.
    """

    run: History
    base: History
    same_day: bool


class OfDifference(NamedTuple):
    """The variance of ln(a / b) by the two runs that are compared.

    Attributes:
        variance: of the difference.
        freedom: degrees of freedom of the variance; infinite for an assumption.
        history: number of earlier runs that give it; 0 for an assumption.
    """

    variance: float
    freedom: float
    history: int

    @property
    def deviation(self) -> float:
        """Standard deviation of one run."""
        return math.sqrt(self.variance / 2)

    @property
    def half(self) -> float:
        """Half of the 95 % interval of the difference that only the runs make."""
        quantile = NORMAL if math.isinf(self.freedom) else student(self.freedom)
        return quantile * math.sqrt(self.variance)


def of_difference(sides: Collection[Components | None], *, same_day: bool) -> OfDifference:
    """Return the variance of the difference of two runs; by assumption if neither side has a history."""
    known = [each for each in sides if each is not None]
    if not known:
        return OfDifference(2 * ASSUMED**2, math.inf, 0)
    of_known = sum(each.run + (0.0 if same_day else each.day) for each in known)
    least = min(known, key=lambda each: each.freedom)
    return OfDifference(of_known * 2 / len(known), least.freedom, least.runs)


def widened(effect: Quantity, half: float) -> Quantity:
    """Return the difference of two runs, its interval widened by that of the effects of runs."""
    if not effect.has_interval:
        return effect
    return Quantity(
        effect.value,
        effect.value - math.hypot(effect.value - effect.lo, half),
        effect.value + math.hypot(effect.hi - effect.value, half),
        effect.unit,
        effect.basis,
    )


def _stretch(run: RunLogs) -> bool:
    return run.is_later


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values) if values else math.nan


def _by_day(runs: Sequence[RunLogs]) -> list[tuple[RunLogs, ...]]:
    """Runs of each day; if no day has two runs, all count as runs of one day."""
    days = list(grouped(runs, lambda each: each.day).values())
    return days if len(days) < len(runs) else [tuple(runs)]


def _shrunk(own: float, freedom: float, shared: float) -> float:
    return (freedom * own + _SHARED_FREEDOM * shared) / (freedom + _SHARED_FREEDOM)


def logs(values: Iterable[float]) -> list[float]:
    """Return ln of the values above 0."""
    return [math.log(value) for value in values if value > 0]
