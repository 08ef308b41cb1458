"""How often two equal runs are called different, and how often plain differences are not: simulated and real runs.

Run as `python bench/equal_runs.py [PAIRS]` from the root of the tree (1,000 by default) for simulated runs, or
as `python bench/equal_runs.py --runs FOLDER` for all pairs of the equal runs of one machine in a folder, first
without earlier runs, then with all other runs as earlier ones.

Simulated pairs are of 1 to 268 figures with 6 or 10 launches, with a standard deviation between runs of 0.5 to 2 %
that figures have in common wholly, half, or not at all; with normal, heavy-tailed and skewed launches, and with a
launch that was disturbed; without earlier runs, and with 3, 5 and 8 of them. A pair counts if any of its figures
carries a claim: at most 5 % may. Then come equal levels in the blocks of one run, and differences: figures whose
intervals are disjoint, with a factor of 1.1 or more, must be called.
"""

import argparse
import itertools
import math
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parent.parent))

import msgspec
import numpy as np
from tests.simulation import simulated_run

from assay import store
from assay.analyse import examine
from assay.analyse.comparisons.judging import Pair, between_runs, in_blocks
from assay.analyse.estimates import LaunchMedian, Measured
from assay.analyse.history import BetweenRuns, History, RunLogs
from assay.compare.runs import against
from assay.model.result import Comparison, Estimate

Samples = np.ndarray
_PAIRS = 1000
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
        if self.disturbed and rng.random() < 0.5:  # noqa: PLR2004 (one in two)
            found[rng.integers(self.launches)] -= rng.uniform(0.05, 0.4) * (rng.random(self.figures) < 0.7)  # noqa: PLR2004
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
        found = between_runs(pairs, BetweenRuns(history, history, same_day=True), ("a", "b"))
        return [each for each in found if each]

    def of_levels(self, a: Samples, b: Samples) -> list[Comparison]:
        """Return the comparisons of two levels in the same blocks."""
        pairs = [Pair(one, other, "factor") for one, other in zip(self.measured(a), self.measured(b), strict=True)]
        return [each for each in in_blocks(pairs) if each]


def claims(found: Sequence[Comparison]) -> tuple[bool, bool]:
    """Return whether any is a claim, and whether one is beyond 5 %, as `--fail-below 5%` judges."""
    of = [each for each in found if each.is_claim]
    return bool(of), any(each.lo > 1.05 or each.hi < 1 / 1.05 for each in of)  # noqa: PLR2004 (5 %)


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
        of = [each for each, is_apart in zip(found, apart, strict=True) if is_apart and _factor(each) >= 1.1]  # noqa: PLR2004
        sure, plain = sure + sum(each.is_claim for each in of), plain + len(of)
    return sure, plain


def _factor(found: Comparison) -> float:
    return max(found.ratio, 1 / found.ratio)


def main() -> None:
    """Print the counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", type=int, nargs="?", default=_PAIRS)
    parser.add_argument("--runs", type=Path, help="folder of equal runs of one machine")
    given = parser.parse_args()
    if given.runs:
        _print_real(given.runs)
        return
    figures = Figures()
    _print("equal runs", list(equal(figures, given.pairs)))
    _print("equal levels in the blocks of a run", list(equal_levels(figures, given.pairs)))
    for blocks in (False, True):
        sure, plain = called(figures, given.pairs, blocks=blocks)
        kind = "levels in 6 blocks" if blocks else "two runs of 6 launches"
        print(f"{kind}: {sure} of {plain} figures with disjoint intervals and a factor of 1.1 or more are called")


def _print(what: str, found: Sequence[tuple[Setting, tuple[bool, bool]]]) -> None:
    print(f"{what}: any claim, a claim beyond 5 %")
    _line("all", [claimed for _, claimed in found])
    for name in Setting._fields:
        for value in sorted({_class(getattr(setting, name)) for setting, _ in found}):
            _line(f"{name} {value}", [claimed for own, claimed in found if _class(getattr(own, name)) == value])


def _class(value: object) -> str:
    """A value, or the range of a continuous one."""
    if isinstance(value, float) and value not in {0.0, 0.005, 0.01, 0.02, 0.5, 1.0}:
        return "0.5 to 1 %" if value < 0.01 else "1 to 2 %"  # noqa: PLR2004 (classes)
    return f"{value:3}" if isinstance(value, int) else str(value)


def _line(name: str, found: Sequence[tuple[bool, bool]]) -> None:
    counts = [sum(each[at] for each in found) for at in (0, 1)]
    shares = ", ".join(f"{count} ({100 * count / len(found):.1f} %)" for count in counts)
    print(f"  {name:22} {len(found):5} pairs: {shares}", flush=True)


def _print_real(folder: Path) -> None:
    runs = [store.load(folder / each.id) for each in store.listing(folder)]
    for words in ("without earlier runs", "with the others as earlier runs"):
        found, figures = [], []
        for base, run in itertools.combinations(runs, 2):
            earlier = [each for each in runs if each not in (base, run)] if words.startswith("with the") else []
            (compared,) = against([run], base, earlier=earlier)
            judged = [pair.comparison for pair in compared.pairs]
            found.append(claims(judged))
            figures += judged
        tested = [each for each in figures if each.p is not None]
        sure = sum(each.is_claim for each in figures)
        print(f"{words}: {sure} claims among {len(tested):,} tested figures")
        _line("pairs of runs", found)


if __name__ == "__main__":
    main()
