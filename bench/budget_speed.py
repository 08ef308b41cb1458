"""Cost of spreading a budget during a run: CPU seconds of the ledger in a simulated run.

    .venv/bin/python bench/budget_speed.py [--study node] [--budget SECONDS]

A stored study is planned for a machine of 64 cores (`node`: 2,251 launches) and run on the simulated machine.
Prints launches and cases, how the run ended, and the CPU time of the ledger.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import msgspec
from tests.simulation import EPYC_7601, begin, carry_on, described, plan_for

from assay.plan import Options
from assay.run.ledger import Ledger
from assay.simulation import SimulatedMachine

_spent = {"calls": 0.0, "seconds": 0.0}


def _timed(method: Callable[..., object]) -> Callable[..., object]:
    """Count the CPU time of a method, unless another counted method called it."""

    def timed(*given: object, **named: object) -> object:
        began, inside = time.process_time(), _spent.get("inside", 0.0)
        _spent["inside"] = 1.0
        try:
            return method(*given, **named)
        finally:
            _spent["inside"] = inside
            if not inside:
                _spent["seconds"] += time.process_time() - began
                _spent["calls"] += 1

    return timed


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--study", default="node")
    parser.add_argument("--budget", type=float)
    given = parser.parse_args()
    for name in [name for name, each in vars(Ledger).items() if callable(each)]:
        setattr(Ledger, name, _timed(getattr(Ledger, name)))
    options = Options(hosts=("n1",), budget_s=given.budget)
    plan = msgspec.structs.replace(plan_for(EPYC_7601, given.study, options), max_samples=20, min_samples=5)
    with tempfile.TemporaryDirectory() as folder:
        directory = begin(Path(folder), plan, EPYC_7601)
        began = time.process_time()
        end = carry_on(directory, plan, SimulatedMachine(described(EPYC_7601).topology, None, plan.hosts, 1))
        whole_s = time.process_time() - began
        made = len(directory.run.launches)
    print(
        f"{len(plan.order)} launches of {len(plan.cases)} cases, {made} made: {end.status}, {end.elapsed_s:.0f} s"
    )
    print(f"budget {plan.budget_s} s; cases cut {len(end.cut)}, case launches missing {_missing(end.cut)}")
    print(f"ledger {_spent['seconds']:.2f} s of CPU in {_spent['calls']:.0f} calls; the whole run {whole_s:.1f} s")


def _missing(cut: dict) -> int:  # type: ignore[type-arg]
    return sum(each.planned - each.made for each in cut.values())


if __name__ == "__main__":
    main()
