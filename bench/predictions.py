"""Accuracy of predictions that are written before their launches: on simulated clusters, and in a user's runs.

Run as `python bench/predictions.py [RUNS]` from the root of the tree. `--here` measures on this machine, which
must be quiet: `scale:NAME` from one to two ranks, each program as often as RUNS says (2), in about 12 minutes. It
exits 1 unless 85 % of the intervals of each program held, the median error is at most 5 %, and the median width at
most 15 % to each side.

Otherwise each simulated cluster has eight nodes of two cores with different speeds (`--spread`, sigma of a
lognormal law). `scale:NAME` predicts 2, 4 and 8 nodes in turn; `assay predict` predicts, from a quick network
alone, the same cases over a slow network, which are then measured. `--stored` scores the predictions of all runs
in the folder of runs instead, like `assay show ledger`.
"""

import argparse
import contextlib
import io
import math
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from statistics import median

import msgspec
import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.simulation import TWO_CORES, plan_for, simulated_run
from tests.unit.test_hpl import WITH_BLAS
from tests.unit.test_stages import begun_run, measured
from tests.unit.test_what_if import LAW, NODES, SLOW, STUDY

from assay import store, studies
from assay.analyse import analyse, examine
from assay.simulation import Law
from assay.topics.scaling.scores import Score, scores, together
from assay.topics.scaling.what_if import over_network, stated_network

_PROBLEMS = {"weather": ("nx=400",), "himeno_mpi": ("size=M",), "hpl": ("n=4096",)}
_SWEEP = ("nodes=1,2,4,8",)
#: Required on a quiet machine: share of intervals that held, median error, and median width to each side.
_HELD, _ERROR, _WIDTH = 0.85, 0.05, 0.15


def main() -> None:
    """Print, for each benchmark, the errors and how often the intervals held."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", type=int, nargs="?", help="simulated clusters (10), or runs of each program (2)")
    parser.add_argument("--here", action="store_true", help="measure on this machine, from one to two ranks")
    parser.add_argument("--budget", type=float, default=115, help="seconds of each run, with --here (115)")
    parser.add_argument("--spread", type=float, default=0.02, help="of the speeds of nodes (0.02)")
    parser.add_argument("--stored", action="store_true", help="score the runs in the folder of runs")
    chosen = parser.parse_args()
    if chosen.here:
        sys.exit(_here(chosen.runs or 2, chosen.budget))
    chosen.runs = chosen.runs or 10
    if chosen.stored:
        runs = [store.load(path) for path in store.predicting(store.runs_folder())]
        print(_told("stored runs", [score for run in runs for score in scores(run, analyse(run))]))
        return
    every: list[Score] = []
    for name, values in _PROBLEMS.items():
        found = [score for seed in range(chosen.runs) for score in _scaled(name, values, chosen.spread, seed)]
        print(_told(f"scale:{name}, 2, 4 and 8 nodes from fewer", found), flush=True)
        every += found
    print(_told("all of them", every))
    errors: dict[str, list[tuple[float, bool]]] = {}
    for seed in range(chosen.runs):
        for benchmark, error, held in _over_the_slow_one(chosen.spread, seed):
            errors.setdefault(benchmark, []).append((error, held))
    for benchmark, those in errors.items():
        sizes = [abs(error) for error, _ in those]
        print(
            f"another network, {benchmark}: {len(those)} predictions, error {100 * median(sizes):.1f} % at the "
            f"median, {100 * max(sizes):.1f} % at most, held {sum(held for _, held in those)} of {len(those)}"
        )


def _here(repeats: int, budget_s: float) -> int:
    """Measure each program from one to two ranks of this machine; return 1 if a bound does not hold."""
    assay = Path(sys.executable).with_name("assay")
    found: dict[str, list[Score]] = {name: [] for name in _PROBLEMS}
    with tempfile.TemporaryDirectory() as folder:
        for number, name in enumerate([*_PROBLEMS] * repeats):
            runs = Path(folder) / f"{number}"
            what = (f"scale:{name}", "--sweep", "ranks=1,2")
            words = ("run", *what, "--budget", f"{budget_s:g}s", "--runs", runs)
            done = subprocess.run([assay, *words], check=False, capture_output=True, text=True)
            for path in store.predicting(runs):
                run = store.load(path)
                found[name] += scores(run, analyse(run))
            if not found[name]:
                print(done.stdout, done.stderr)
    well = []
    for name, entries in found.items():
        print(_told(f"scale:{name}, from one to two ranks", entries), flush=True)
        for each in entries:
            print(
                f"  {each.problem} {each.predicted.parts} {each.error} {each.held} {each.score} {each.disturbed}"
            )
        known = together(entries)
        well.append(
            known.error is not None
            and known.coverage is not None
            and known.width is not None
            and known.coverage.value >= _HELD
            and known.error.value <= _ERROR
            and math.expm1(known.width.value / 2) <= _WIDTH
        )
    print(_told("all of them", [each for entries in found.values() for each in entries]))
    return int(not all(well))


def _told(what: str, found: Iterable[Score]) -> str:
    known = together(found)
    if known.error is None or known.coverage is None or known.width is None or known.score is None:
        return f"{what}: no prediction with a figure"
    sizes = [abs(each.error) for each in known.entries if each.error is not None]
    low, high = 100 * known.coverage.lo, 100 * known.coverage.hi
    return (
        f"{what}: {len(sizes)} predictions, error {100 * known.error.value:.1f} % at the median, "
        f"{100 * max(sizes):.1f} % at most, held in {100 * known.coverage.value:.0f} % ({low:.0f} to {high:.0f}), "
        f"median width +-{100 * math.expm1(known.width.value / 2):.1f} %, mean interval score "
        f"{100 * known.score:.1f} %, {sum(each.refused is not None for each in known.entries)} counted as none"
    )


def _law(spread: float, seed: int) -> Law:
    speeds = np.random.default_rng(seed).lognormal(0.0, spread, len(NODES))
    return Law(links=LAW.links, slow_hosts=dict(zip(NODES, map(float, speeds), strict=True)))


def _scaled(name: str, values: tuple[str, ...], spread: float, seed: int) -> Iterable[Score]:
    """The ledger of one study on one cluster."""
    options = msgspec.structs.replace(
        WITH_BLAS, sweeps=_SWEEP, hosts=NODES, values=values, networks={"net": "eth0"}, seed=seed
    )
    plan = plan_for(TWO_CORES, studies.get(f"scale:{name}", _SWEEP), options)
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        with contextlib.redirect_stderr(io.StringIO()):  # progress messages of the run
            run = measured(patch, begun_run(Path(folder), plan, TWO_CORES), TWO_CORES, _law(spread, seed), seed)
        return tuple(scores(run, analyse(run)))


def _over_the_slow_one(spread: float, seed: int) -> Iterator[tuple[str, float, bool]]:
    """Benchmark, signed error and whether the interval holds, for each case on two nodes."""
    law = _law(spread, seed)
    with tempfile.TemporaryDirectory() as folder:
        runs: list[Path] = []
        for device in ("eth0", "eth1"):
            options = msgspec.structs.replace(WITH_BLAS, hosts=NODES[:2], networks={"net": device}, seed=seed)
            at = Path(folder) / device
            at.mkdir()
            runs.append(simulated_run(at, law, study=STUDY, options=options, seed=2 * seed + len(runs)))
        quick, slow = (store.load(path) for path in runs)
        there = {(each.case, each.metric): each.value for each in analyse(slow).estimates if each.value}
        for each in over_network(examine(quick), stated_network(SLOW.latency_s, SLOW.rate)):
            value, said = there[each.case, each.metric], each.predicted
            yield each.benchmark, value.value / said.value - 1, said.lo <= value.hi and value.lo <= said.hi


if __name__ == "__main__":
    main()
