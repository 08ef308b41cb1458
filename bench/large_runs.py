"""What large things cost: the report of a run of 200 curves and a million samples, and 50 runs side by side.

    .venv/bin/python bench/large_runs.py [FOLDER]

The runs are made by the simulated machine of the tests, which takes minutes, and reported by the command line in
fresh processes. With a FOLDER they are kept there, and taken from there the next time. Prints one line a command:
time, CPU time and peak memory, and what the project promises.
"""

import os
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.simulation import EPYC_7601, TWO_CORES, simulated_run

from assay import store
from assay.launch.simulated import Law, Link
from assay.model.plan import Measure, Study
from assay.plan import Options

_PLACES = ("pair:other-node", "pair", "pair:other-l3", "pair:other-numa", "pair:other-socket")
_PATTERNS = ("latency", "bandwidth", "bidirectional")
#: 36 curves on each of 4 ways inside a node and over 2 networks between nodes: 216, and the base network twice.
_WIDE = Study(
    "Messages, every way",
    "What does a run of 200 curves cost?",
    (
        Measure(
            "pt2pt",
            _PLACES,
            axes={
                "pattern": _PATTERNS,
                "buffers": ("hot", "rotating", "cold"),
                "calls": ("nonblocking", "blocking", "persistent", "synchronous"),
                "bytes": "1:4M",
            },
            weight=0.02,
        ),
    ),
    launches=6,
)
_USUAL = Study(
    "Messages",
    "What does one of 50 runs cost?",
    (Measure("pt2pt", ("pair:other-node",), axes={"pattern": _PATTERNS, "bytes": "1:4M"}, weight=0.02),),
    launches=6,
)
_LAW = Law(
    links={
        **Law().links,
        "mlx5_0:1": Link(1.5e-6, 12e9, 12e9, eager_bytes=8192, announce_s=2e-6),
        "eth0": Link(25e-6, 0.117e9, 0.117e9, duplex=1.0),
    }
)
_MANY = 50
_NODES = ("n1", "n2")
_MIB = 1024


def main(folder: Path) -> None:
    """Make what is not there yet, and measure."""
    wide = _made(folder / "wide", 1)
    few = _made(folder / "many", _MANY)
    run = store.load(wide[0])
    samples = sum(len(series.seconds) for each in run.launches for case in each.cases for series in case.series)
    curves = {
        (
            case.placement.label,
            *(case.params[name] for name in ("pattern", "buffers", "calls")),
            *case.factors.values(),
        )
        for case in run.plan.cases
        if case.role == "measure"
    }
    del run
    _tell(
        f"report of a run of {len(curves)} curves, {samples:,} samples",
        [str(wide[0])],
        "< 10 s, < 500 MB",
    )
    _tell(f"{_MANY} runs side by side", list(map(str, few)), "< 5 s, < 500 MB")


def _made(folder: Path, count: int) -> list[Path]:
    """Run directories, made where they are not there yet."""
    folder.mkdir(parents=True, exist_ok=True)
    for seed in range(len(_ended(folder)), count):
        if count == 1:
            options = Options(
                hosts=_NODES, networks={"ib": "mlx5_0:1", "gbe": "eth0"}, launches=6, precision=0.004
            )
            simulated_run(folder, _LAW, description=EPYC_7601, study=_WIDE, options=options)
        else:
            options = Options(hosts=_NODES, precision=0.004)
            simulated_run(folder, _LAW, description=TWO_CORES, study=_USUAL, options=options, seed=seed)
    return _ended(folder)[:count]


def _ended(folder: Path) -> list[Path]:
    return sorted(path.parent for path in folder.glob("*/ending.json"))


def _tell(name: str, runs: list[str], promise: str) -> None:
    """One start of `assay report` in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        command = [sys.executable, "-m", "assay", "report", *runs, "-o", str(page)]
        begin = time.perf_counter()
        process = os.posix_spawn(sys.executable, command, os.environ)
        _, status, used = os.wait4(process, 0)
        wall = time.perf_counter() - begin
        if status:
            raise SystemExit(f"{name}: exit status {os.waitstatus_to_exitcode(status)}")
        largest = f"{used.ru_maxrss / _MIB:.0f} MiB in its largest process"
        cost = f"{wall:.1f} s, {used.ru_utime + used.ru_stime:.1f} s of CPU, {largest}"
        size = f"page of {page.stat().st_size / 1e6:.1f} MB"
        print(f"{name}: {cost}, {size} (promised: {promise})", flush=True)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]).resolve())
    else:
        with tempfile.TemporaryDirectory() as temporary:
            main(Path(temporary))
