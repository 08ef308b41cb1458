"""Whether intervals hold across runs: how often a median of one run lies in the interval of another one.

Run as `python bench/between_runs.py RUN RUN ...` with equal runs of one machine, or with `--runs FOLDER` (and
`--study NAME`) for all runs of a folder. For each pair of runs, each way round: the share of headline figures
whose median lies in the other run's interval from its launches alone, and in the interval that compares runs,
which knows the variance between runs from all others (so at least five runs are needed). Then how wide the latter
is, over the former. Within how many runs the machine changed its state is printed, too.
"""

import argparse
import itertools
import math
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from assay import store
from assay.analyse import states
from assay.analyse.history import FEWEST_RUNS, History, RunLogs, between_runs
from assay.analyse.statistics import median_interval
from assay.compare.runs import is_like, run_logs
from assay.model.run import Run


class Held(NamedTuple):
    """One figure of a pair of runs: whether each interval held the other median, and the ratio of their widths."""

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
    given = parser.parse_args()
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
    found = held([run_logs(run) for run in alike])
    if not found:
        print("  no figure has 6 launches in two of them")
        return
    split = sum(states.border(run) is not None for run in alike)
    print(f"  the machine changed its state within {split} of them")
    alone, compared = (np.mean([getattr(each, name) for each in found]) for name in ("alone", "compared"))
    print(f"  {len(found)} pairs of figures: median in the interval of launches alone {100 * alone:.1f} %,")
    print(
        f"  in the interval between runs {100 * compared:.1f} %; median width {_median(found):.2f} of the former"
    )
    for benchmark in dict.fromkeys(each.figure.partition("/")[0] for each in found):
        some = [each for each in found if each.figure.partition("/")[0] == benchmark]
        shares = (100 * np.mean([getattr(each, name) for each in some]) for name in ("alone", "compared"))
        told = "  ".join(f"{share:5.1f} %" for share in shares)
        print(f"    {benchmark:16}{len(some):6} pairs  {told}  {_median(some):.2f}")


def held(runs: Sequence[RunLogs]) -> list[Held]:
    """Every figure of every ordered pair of runs, the variance between runs being known from all others."""
    found = []
    for a, b in itertools.combinations(range(len(runs)), 2):
        known = History(run for at, run in enumerate(runs) if at not in {a, b})
        for one, other in ((runs[a], runs[b]), (runs[b], runs[a])):
            for figure in one.values.keys() & other.values.keys():
                components = known.components(figure)
                alone = median_interval(one.values[figure])
                if components is None or not alone.has_interval or not other.values[figure]:
                    continue
                middle = float(np.median(other.values[figure]))
                wide = between_runs(one.values[figure], components)
                width = alone.hi - alone.lo
                found.append(
                    Held(
                        figure,
                        alone.lo <= middle <= alone.hi,
                        wide.lo <= middle <= wide.hi,
                        (wide.hi - wide.lo) / width if width else math.inf,
                    )
                )
    return found


def _median(found: Sequence[Held]) -> float:
    return float(np.median([each.wider for each in found]))


if __name__ == "__main__":
    main()
