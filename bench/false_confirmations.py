"""How often experiments confirm what is false: simulated experiments with a known truth. Prints a table.

Run as `python bench/false_confirmations.py [RUNS]` from the root of the tree (400 experiments of each kind by
default). One study finds that half of the cores draw more from memory than all of them. Its experiment is then
run on machines without this effect, machines exactly at the limit of the rule, and machines with the effect;
quiet and noisy ones, each time with different noise. The data that made the candidate has no part in the
verdict, so these are the rates for any given candidate. Rates have their upper bounds (95 %).
"""

import argparse
import shutil
import sys
import tempfile
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from bench.false_alarms import share
from tests.simulation import confirm, simulated_run

from assay import store
from assay.analyse import analyse
from assay.model.plan import Measure, Study
from assay.simulation import Law

_RUNS = 400
_MACHINE = "pack:1 numa:2(memory=8GB) l3:1(size=8MB) l2:4(size=512kB) l1:1(size=32kB) core:1 pu:1"
_STUDY = Study("Halves", "Do half of the cores get more?", (Measure("stream", ("all", "half")),), launches=3)
#: Two of four cores of a node contend a third as much as all four.
_FEWER = 1 / 3
_BORDER = 1.02
#: Sigma of the common deviation of all samples in a launch.
_NOISES = (0.003, 0.05)


def main() -> None:
    """Count the outcomes of experiments."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", type=int, nargs="?", default=_RUNS)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        study = simulated_run(Path(folder), _law(1.3, 0.003), description=_MACHINE, study=_STUDY)
        for noise in _NOISES:
            for truth in (1.0, _BORDER, 1.1, 1.3):
                told = Counter(_outcome(study, _law(truth, noise), seed) for seed in range(2, chosen.runs + 2))
                words = ("confirmed", "refuted", "candidate")
                rates = ", ".join(f"{word} {share(told[word], chosen.runs)}" for word in words)
                what = f"half / all x{truth:.2f}, launches {100 * noise:.1f} % apart"
                print(f"{what}, {chosen.runs} experiments: {rates}", flush=True)


def _law(ratio: float, noise: float) -> Law:
    """A machine on which half of the cores get `ratio` times what all cores get."""
    contention = (ratio - 1) / (ratio - _FEWER)
    return Law(core_traffic=12e9, node_traffic=20e9, contention=contention, launch_noise=noise)


def _outcome(study: Path, law: Law, seed: int) -> str:
    """Status of the candidate after its experiment."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(shutil.copytree(study, Path(folder) / study.name))
        confirm(path, law, _MACHINE, seed=seed)
        findings = analyse(store.load(path)).findings
    return next(each.status for each in findings if each.rule == "half_cores")


if __name__ == "__main__":
    main()
