"""How long the report of a run with a million samples takes, how large it is, and how fast the commands start.

    .venv/bin/python bench/report_speed.py

Prints one line per figure: the median and the range of its repeats, and what the project promises.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import msgspec
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.simulation import simulated_run

from assay import analyse, store
from assay.model.record import Series
from assay.model.run import CaseRecords, LaunchRecords, Run
from assay.report import html

_SAMPLES = 1_000_000
_REPEATS = 9
_STARTS = (
    ("python alone", [sys.executable, "-c", "pass"], "-"),
    ("assay --help", ["assay", "--help"], "< 150 ms"),
    ("assay show last", ["assay", "show", "last"], "< 300 ms"),
)


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as folder:
        run = store.load(simulated_run(Path(folder)))
        _report(_grown(run))
        environment = os.environ | {"ASSAY_RUNS": folder}
        for name, command, promise in _STARTS:
            seconds = [_started(command, environment) for _ in range(_REPEATS)]
            spread = f"{1e3 * min(seconds):.0f} to {1e3 * max(seconds):.0f}"
            print(f"{name}: {1e3 * median(seconds):.0f} ms (range {spread}, n={_REPEATS}; promised: {promise})")


def _report(run: Run) -> None:
    count = sum(len(series.seconds) for each in run.launches for case in each.cases for series in case.series)
    start = time.perf_counter()
    analysis = analyse.analyse(run)
    analysed = time.perf_counter()
    page = html.render(run, analysis)
    written = time.perf_counter()
    print(f"report of {count:,} samples: {written - analysed:.2f} s (promised: < 5 s)")
    print(f"  analysis before it: {analysed - start:.2f} s")
    print(f"  size of the page: {len(page.encode()) / 1e6:.2f} MB (promised: < 5 MB)")


def _grown(run: Run) -> Run:
    """The run with a million samples, one per cent of noise, whole nanoseconds."""
    random = np.random.default_rng(1)
    series = sum(len(case.series) for each in run.launches for case in each.cases)
    samples = _SAMPLES // series + 1

    def grow(one: Series) -> Series:
        noise = random.normal(1.0, 0.01, samples)
        seconds = np.rint(1e9 * float(np.median(one.seconds)) * noise) / 1e9
        return msgspec.structs.replace(one, start_s=np.cumsum(seconds).tolist(), seconds=seconds.tolist())

    def case(one: CaseRecords) -> CaseRecords:
        return msgspec.structs.replace(one, series=tuple(map(grow, one.series)))

    def launch(one: LaunchRecords) -> LaunchRecords:
        return msgspec.structs.replace(one, cases=tuple(map(case, one.cases)))

    return msgspec.structs.replace(run, launches=tuple(map(launch, run.launches)))


def _started(command: list[str], environment: dict[str, str]) -> float:
    program = str(Path(sys.executable).with_name(command[0])) if command[0] == "assay" else command[0]
    start = time.perf_counter()
    subprocess.run([program, *command[1:]], env=environment, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
