"""Variance of figures of one machine from run to run, from its earlier runs. Pure functions.

The launches of one run are made within a minute or two and do not include drift over hours: their interval
contains the median of another run too seldom. So the variance between earlier runs of the same machine widens the
intervals of comparisons between runs.
"""

import math
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from assay.analyse.statistics import student
from assay.model.grouping import grouped
from assay.model.quantity import Quantity

#: With fewer earlier runs of a figure their variance is unknown.
FEWEST_RUNS = 3
#: Number of further runs as which the variance of its whole group counts for a figure.
_SHARED_FREEDOM = 2


class RunLogs(NamedTuple):
    """The figures of one earlier run.

    Attributes:
        run: id.
        day: that it began on; runs of one day have more in common.
        values: figure -> ln of the median of each launch.
        groups: figure -> its group, which has a similar variance, such as its benchmark.
    """

    run: str
    day: str
    values: Mapping[str, Sequence[float]]
    groups: Mapping[str, Hashable]


class Components(NamedTuple):
    """Variances of ln(figure): between launches of a run, between runs of a day, between days.

    Attributes:
        launch: of one launch about its run.
        run: of one run about its day.
        day: of one day.
        runs: number of runs that they were estimated from.
    """

    launch: float
    run: float
    day: float
    runs: int

    @property
    def between(self) -> float:
        """Standard deviation from run to run, over all days."""
        return math.sqrt(self.run + self.day)

    @property
    def quantile(self) -> float:
        """Half of a 95 % interval in standard deviations, by Student's t for so few runs."""
        return student(self.runs - 1 + _SHARED_FREEDOM)


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
    """The variance of figures of one machine, from its earlier runs.

    A few runs give a poor estimate for one figure. So the variance of its group, relative to the launches of each
    figure, counts as some further runs. Source of the shrinkage: G. K. Smyth, Linear
    Models and Empirical Bayes Methods, Statistical Applications in Genetics and Molecular Biology 3, 2004.

    Args:
        runs: earlier runs that measured the same programs on the same machine.
    """

    def __init__(self, runs: Iterable[RunLogs]) -> None:
        self.runs = tuple(runs)
        self._figures: dict[str, tuple[Sums, int, Hashable]] = {}
        groups: dict[Hashable, Sums] = {}
        for figure in dict.fromkeys(name for run in self.runs for name in run.values):
            having = [run for run in self.runs if len(run.values.get(figure, ())) > 1]
            if len(having) < FEWEST_RUNS:
                continue
            found = sums([[run.values[figure] for run in day] for day in _by_day(having)])
            launch, _, _ = found.solved()
            group = having[-1].groups[figure]
            self._figures[figure] = found, len(having), group
            if launch > 0:
                groups[group] = groups.get(group, Sums()).plus(found, launch)
        self._shared = {group: found.solved() for group, found in groups.items()}

    def components(self, figure: str) -> Components | None:
        """Return the variances of a figure; None if too few runs measured it."""
        if figure not in self._figures:
            return None
        own, runs, group = self._figures[figure]
        (launch, run, day), shared = own.solved(), self._shared.get(group, (0.0, 0.0, 0.0))
        run = _shrunk(run, own.df_run, shared[1] * launch)
        day = _shrunk(day, own.df_day, shared[2] * launch) if own.df_day else 0.0
        return Components(launch, run, day, runs)


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


def widened(effect: Quantity, sides: Collection[Components | None], *, same_day: bool) -> Quantity:
    """Return the difference of two runs, its interval widened by the variance from run to run (and day to day)."""
    known = [each for each in sides if each is not None]
    if not known or not effect.has_interval:
        return effect
    extra = sum(each.run + (0.0 if same_day else each.day) for each in known) * len(sides) / len(known)
    beyond = max(each.quantile for each in known) ** 2 * extra
    return Quantity(
        effect.value,
        effect.value - math.hypot(effect.value - effect.lo, math.sqrt(beyond)),
        effect.value + math.hypot(effect.hi - effect.value, math.sqrt(beyond)),
        effect.unit,
        effect.basis,
    )


def _by_day(runs: Sequence[RunLogs]) -> list[tuple[RunLogs, ...]]:
    """Runs of each day; if no day has two runs, all count as runs of one day."""
    days = list(grouped(runs, lambda each: each.day).values())
    return days if len(days) < len(runs) else [tuple(runs)]


def _shrunk(own: float, freedom: float, shared: float) -> float:
    return (freedom * own + _SHARED_FREEDOM * shared) / (freedom + _SHARED_FREEDOM)


def logs(values: Iterable[float]) -> list[float]:
    """Return ln of the values above 0."""
    return [math.log(value) for value in values if value > 0]
