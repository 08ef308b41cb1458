"""Pairs of equal runs, and of runs with plain differences, whose law is known; see `bench/equal_runs.py`.

Figures go the way of all comparisons: they are named, and judged as one family.
"""

import math
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec
import numpy as np
from tests.simulation import simulated_run

from assay import store
from assay.analyse import examine
from assay.analyse.comparisons.judging import Pair, between_runs, in_blocks
from assay.analyse.estimates import LaunchMedian, Measured
from assay.analyse.history import BetweenRuns, History, RunLogs
from assay.model.comparison import Comparison

if TYPE_CHECKING:
    from assay.model.result import Estimate

Samples = np.ndarray
_MOST_FIGURES = 268
_LAWS: dict[str, Callable[[np.random.Generator, tuple[int, int]], Samples]] = {
    "normal": lambda rng, shape: rng.standard_normal(shape),
    "heavy tails": lambda rng, shape: rng.standard_t(3, shape) / math.sqrt(3),
    "skewed": lambda rng, shape: rng.exponential(1, shape) - 1,
}


class Setting(NamedTuple):
    """One kind of runs.

    Attributes:
        figures: of a run.
        launches: of each figure.
        between: standard deviation of ln(figure) from run to run.
        together: share of this variance, and of that of launches, that all figures have in common.
        noise: standard deviation of a launch.
        law: of launches.
        disturbed: whether one launch of a run in two is slower by 5 to 40 % in 7 of 10 figures.
        earlier: number of earlier runs.
    """

    figures: int
    launches: int = 6
    between: float = 0.0
    together: float = 0.0
    noise: float = 0.01
    law: str = "normal"
    disturbed: bool = False
    earlier: int = 0

    def drawn(self, rng: np.random.Generator) -> Samples:
        """Return ln of the launches of a run, shape (launches, figures)."""
        shape, common, own = (self.launches, self.figures), math.sqrt(self.together), math.sqrt(1 - self.together)
        launches = common * rng.standard_normal((self.launches, 1)) + own * _LAWS[self.law](rng, shape)
        runs = common * rng.standard_normal() + own * rng.standard_normal(self.figures)
        found: Samples = self.noise * launches + self.between * runs
        if self.disturbed and rng.random() < 0.5:
            found[rng.integers(self.launches)] -= rng.uniform(0.05, 0.4) * (rng.random(self.figures) < 0.7)
        return found


def any_setting(rng: np.random.Generator) -> Setting:
    """Return a kind of runs by chance."""
    return Setting(
        figures=int(rng.choice([1, 3, 10, 40, _MOST_FIGURES])),
        launches=int(rng.choice([6, 10])),
        between=float(rng.uniform(0.005, 0.02)),
        together=float(rng.choice([0.0, 0.5, 1.0])),
        noise=float(rng.choice([0.005, 0.01, 0.02])),
        law=str(rng.choice(list(_LAWS))),
        disturbed=bool(rng.integers(2)),
        earlier=int(rng.choice([0, 0, 3, 5, 8])),
    )


class Figures:
    """Figures with names, as measured."""

    def __init__(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            first = examine(store.load(simulated_run(Path(folder)))).measured[0].estimate
        self.estimates: list[Estimate] = [
            msgspec.structs.replace(first, id=f"figure/{at}", state=None) for at in range(_MOST_FIGURES)
        ]

    def measured(self, logs: Samples) -> list[Measured]:
        """Return figures with these logarithms of launches."""
        return [
            Measured(estimate, tuple(LaunchMedian(at, None, math.exp(each)) for at, each in enumerate(column)))
            for estimate, column in zip(self.estimates, logs.T.tolist(), strict=False)
        ]

    def of_runs(self, a: Samples, b: Samples, earlier: Sequence[Samples]) -> list[Comparison]:
        """Return the comparisons of two runs."""
        names = [each.id for each in self.estimates[: a.shape[1]]]
        history = History(
            RunLogs(str(at), "day", dict(zip(names, run.T.tolist(), strict=True)), dict.fromkeys(names, "group"))
            for at, run in enumerate(earlier)
        )
        pairs = [Pair(one, other, "run") for one, other in zip(self.measured(a), self.measured(b), strict=True)]
        found = between_runs(pairs, BetweenRuns(history, history, same_day=True))
        return [each for each in found if each]

    def of_levels(self, a: Samples, b: Samples) -> list[Comparison]:
        """Return the comparisons of two levels in the same blocks."""
        pairs = [Pair(one, other, "factor") for one, other in zip(self.measured(a), self.measured(b), strict=True)]
        return [each for each in in_blocks(pairs) if each]


def claims(found: Sequence[Comparison]) -> tuple[bool, bool]:
    """Return whether any is a claim, and whether one is beyond 5 %, as `--fail-below 5%` judges."""
    of = [each for each in found if each.is_claim]
    return bool(of), any(each.lo > 1.05 or each.hi < 1 / 1.05 for each in of)


def equal(figures: Figures, pairs: int, seed: int = 1) -> Iterator[tuple[Setting, tuple[bool, bool]]]:
    """Yield for each pair of equal runs its kind and its claims."""
    rng = np.random.default_rng(seed)
    for _ in range(pairs):
        setting = any_setting(rng)
        a, b, *earlier = (setting.drawn(rng) for _ in range(2 + setting.earlier))
        yield setting, claims(figures.of_runs(a, b, earlier))


def equal_levels(figures: Figures, pairs: int, seed: int = 2) -> Iterator[tuple[Setting, tuple[bool, bool]]]:
    """Yield for each pair of equal levels of one run its kind and its claims."""
    rng = np.random.default_rng(seed)
    for _ in range(pairs):
        setting = any_setting(rng)._replace(between=0.0, earlier=0)
        yield setting, claims(figures.of_levels(setting.drawn(rng), setting.drawn(rng)))


def called(figures: Figures, pairs: int, *, blocks: bool, seed: int = 3) -> tuple[int, int]:
    """Return how many figures with disjoint intervals and a factor of 1.1 or more are called, and of how many.

    One figure, an eighth or all of them differ by 1.1 to 3; launches vary by 0.5 to 2 %, runs by 0.5 % at most.
    """
    rng, sure, plain = np.random.default_rng(seed), 0, 0
    for _ in range(pairs):
        setting = Setting(
            figures=int(rng.choice([1, 3, 10, 40, _MOST_FIGURES])),
            between=0.0 if blocks else float(rng.uniform(0.0, 0.005)),
            together=float(rng.choice([0.0, 0.5])),
            noise=float(rng.choice([0.005, 0.01, 0.02])),
        )
        a, b = setting.drawn(rng), setting.drawn(rng)
        differing = int(rng.choice([1, -(-setting.figures // 8), setting.figures]))
        a[:, :differing] += rng.uniform(math.log(1.1), math.log(3.0), differing)
        found = figures.of_levels(a, b) if blocks else figures.of_runs(a, b, ())
        apart = (a.min(axis=0) > b.max(axis=0)) | (a.max(axis=0) < b.min(axis=0))
        of = [each for each, is_apart in zip(found, apart, strict=True) if is_apart and _factor(each) >= 1.1]
        sure, plain = sure + sum(each.is_claim for each in of), plain + len(of)
    return sure, plain


def _factor(found: Comparison) -> float:
    return max(found.ratio, 1 / found.ratio)
