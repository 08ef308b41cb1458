"""Whether intervals hold across runs: how often the median of one run is in the interval of another.

Run as `python bench/between_runs.py RUN RUN ...` with equal runs of one machine, or with `--runs FOLDER` (and
`--study NAME`) for all runs of a folder. For each pair of runs it prints the share of headline figures whose
median is in the other run's interval from its launches alone, and the share whose ratio of the two runs is not
significantly different from 1 by the interval of `assay compare`. That interval takes the variance between runs
from all other runs, so at least five runs are needed. Then it prints the width of this interval over that of
launches alone, and in how many runs the machine changed its state.

With `--simulated`, the variance of the runs is known: for each ratio of the standard deviation between runs to
that between launches, and each number of earlier runs, it prints the same three figures, and the smallest
possible width: the one that holds 95 % if the variance is known exactly.
"""

import argparse
import itertools
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from assay import store
from assay.analyse import states
from assay.analyse.comparisons.ranks import shift
from assay.analyse.history import FEWEST_RUNS, History, RunLogs, of_difference, widened
from assay.analyse.statistics import NORMAL, median_interval
from assay.compare.runs import is_like, run_logs
from assay.model.quantity import Quantity
from assay.model.run import Run

#: Of the simulated runs: launches, figures of a group, and pairs of runs for each line of the table.
_LAUNCHES, _FIGURES, _PAIRS = 6, 8, 300


class Held(NamedTuple):
    """One figure of two runs: whether each interval contained the other run's median, and the ratio of widths."""

    figure: str
    alone: bool
    compared: bool
    wider: float


def main() -> None:
    """Print both shares, by study."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", nargs="*", help="id, prefix or path")
    parser.add_argument("--runs", type=Path, help="folder of runs: all of it")
    parser.add_argument("--study", help="of these only")
    parser.add_argument("--simulated", action="store_true", help="runs whose variance is known")
    given = parser.parse_args()
    if given.simulated:
        _print_simulated()
        return
    paths = [store.find(each, given.runs) for each in given.run]
    if not paths:
        paths = [(given.runs or store.runs_folder()) / each.id for each in store.listing(given.runs)]
    runs = [run for run in map(store.load, paths) if given.study in {None, run.plan.study} and run.launches]
    for study in dict.fromkeys(run.plan.study for run in runs):
        _print(study, [run for run in runs if run.plan.study == study])


def _print(study: str, runs: Sequence[Run]) -> None:
    alike = [run for run in runs if is_like(run, runs[-1])]
    print(f"{study}: {len(alike)} runs of one machine and the same programs ({len(runs) - len(alike)} others)")
    if len(alike) < FEWEST_RUNS + 2:
        print(f"  at least {FEWEST_RUNS + 2} are needed")
        return
    found = list(held([run_logs(run) for run in alike]))
    if not found:
        print("  no figure has 6 launches in two of them")
        return
    split = sum(states.border(run) is not None for run in alike)
    print(f"  the machine changed its state within {split} of them")
    print(f"    {'':16}{'pairs':>6}  {'launches alone':>14}  {'compared':>8}  {'width':>5}")
    for benchmark in ("", *dict.fromkeys(each.figure.partition("/")[0] for each in found)):
        some = [each for each in found if benchmark in {"", each.figure.partition("/")[0]}]
        print(f"    {benchmark or 'all':16}{len(some):6}  {_told(some)}")


def _told(found: Sequence[Held]) -> str:
    alone, compared = (100 * np.mean([getattr(each, name) for each in found]) for name in ("alone", "compared"))
    return f"{alone:12.1f} %  {compared:6.1f} %  {np.median([each.wider for each in found]):5.2f}"


def held(runs: Sequence[RunLogs]) -> Iterator[Held]:
    """Every figure of every ordered pair of runs; the variance between runs comes from all other runs."""
    for a, b in itertools.combinations(range(len(runs)), 2):
        known = History(run for at, run in enumerate(runs) if at not in {a, b})
        for one, other in ((runs[a], runs[b]), (runs[b], runs[a])):
            yield from _held(one, other, known)


def _held(one: RunLogs, other: RunLogs, known: History) -> Iterator[Held]:
    for figure in one.values.keys() & other.values.keys():
        components = known.components(figure)
        alone = median_interval(one.values[figure])
        if components is None or not alone.has_interval or not other.values[figure]:
            continue
        effect = shift(one.values[figure], other.values[figure])
        wide = widened(effect, of_difference((components, components), same_day=one.day == other.day).half)
        inside = alone.lo <= float(np.median(other.values[figure])) <= alone.hi
        ratio = _width(wide) / _width(effect) if _width(effect) else math.inf
        yield Held(figure, inside, wide.lo <= 0 <= wide.hi, ratio)


def _width(ends: Quantity) -> float:
    return ends.hi - ends.lo


def _print_simulated() -> None:
    print("sd between runs / between launches, whether figures move together, earlier runs: as above")
    for between, together in itertools.product((0.0, 0.3, 0.6, 0.7, 0.8, 1.0, 1.5), (False, True)):
        for earlier in (3, 5, 8, 20):
            found = list(_simulated(between, earlier, together=together))
            # Half of the interval of 6 and 6 launches is about 1.3 of their standard deviations.
            least = math.hypot(1.3, NORMAL * math.sqrt(2) * between) / 1.3
            words = "together" if together else "alone"
            print(f"  {between:4.1f}  {words:8}  {earlier:3}  {_told(found)}  (known: {least:4.2f})", flush=True)


def _simulated(between: float, earlier: int, *, together: bool) -> Iterator[Held]:
    rng = np.random.default_rng([earlier, together])
    names = [f"figure/{at}" for at in range(_FIGURES)]
    for _ in range(_PAIRS):
        of_runs = rng.normal(0, between, (earlier + 2, 1 if together else _FIGURES))
        runs = [
            RunLogs(
                str(at),
                "day",
                {
                    name: (mean + rng.normal(size=_LAUNCHES)).tolist()
                    for name, mean in zip(names, means, strict=True)
                },
                dict.fromkeys(names, "group"),
            )
            for at, means in enumerate(np.broadcast_to(of_runs, (earlier + 2, _FIGURES)))
        ]
        yield from _held(runs[0], runs[1], History(runs[2:]))


if __name__ == "__main__":
    main()
