"""Time of the analysis of a quick run and of a run with a million samples. Prints seconds; asserts nothing.

Run as `python bench/analysis_speed.py` from the root of the tree: it uses the simulated machine of the tests.
"""

import sys
import tempfile
import time
from pathlib import Path

import msgspec
import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.simulation import simulated_run

from assay import store
from assay.analyse import analyse
from assay.model.record import Series
from assay.model.run import Run

_MILLION = 1_000_000


def main() -> None:
    """Time both runs."""
    with tempfile.TemporaryDirectory() as folder:
        quick = store.load(simulated_run(Path(folder)))
    _tell("quick run", quick)
    _tell("long run", lengthened(quick, _MILLION))


def _tell(name: str, run: Run) -> None:
    times = []
    for _ in range(5):
        begin = time.perf_counter()
        analysis = analyse(run)
        times.append(time.perf_counter() - begin)
    print(f"{name}: {samples(run)} samples, {len(analysis.estimates)} estimates: {min(times):.3f} s (best of 5)")


def samples(run: Run) -> int:
    """Number of samples of a run, including warm-ups."""
    return sum(len(each.seconds) for launch in run.launches for case in launch.cases for each in case.series)


def lengthened(run: Run, total: int) -> Run:
    """The same run with so many more samples, with random noise like that of its series."""
    factor = -(-total // samples(run))
    rng = np.random.default_rng(1)

    def longer(series: Series) -> Series:
        seconds = np.tile(series.seconds, factor) * rng.lognormal(0, 0.003, factor * len(series.seconds))
        start = np.concatenate(([0.0], np.cumsum(seconds)[:-1]))
        return msgspec.structs.replace(series, seconds=seconds.tolist(), start_s=start.tolist())

    launches = tuple(
        msgspec.structs.replace(
            launch,
            cases=tuple(
                msgspec.structs.replace(case, series=tuple(map(longer, case.series))) for case in launch.cases
            ),
        )
        for launch in run.launches
    )
    return msgspec.structs.replace(run, launches=launches)


if __name__ == "__main__":
    main()
