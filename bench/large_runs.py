"""Cost of large runs: many nodes, a run of 200 curves and a million samples, and 50 runs side by side.

    .venv/bin/python bench/large_runs.py [FOLDER [NAME ...]]

The runs are made by the simulated machine of the tests, which takes minutes, and shown and reported by the
command line in fresh processes. With a FOLDER they are kept there, and reused the next time. With names
(`pairs`, `nodes`, `wide`, `many`) only those are made.

Prints one line per command: time, CPU time, memory of its largest process and size of the page, and what the
project promises. Exits 1 if a promise about sizes or memory is not kept.
"""

import os
import sys
import tempfile
import time
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.simulation import EPYC_7601, TWO_CORES, simulated_run

from assay import store
from assay.model.plan import Measure, Study
from assay.model.samples import count_of
from assay.plan import Options
from assay.simulation import Law, Link

_PLACES = ("pair:other-node", "pair", "pair:other-l3", "pair:other-numa", "pair:other-socket")
_PATTERNS = ("latency", "bandwidth", "bidirectional")
#: 36 curves on each of 4 paths inside a node and over 2 networks between nodes: 216, and the base network twice.
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
        "mlx5_0:1": Link(1.5e-6, 12e9, 12e9, eager_bytes=8192, rendezvous_s=2e-6),
        "eth0": Link(25e-6, 0.117e9, 0.117e9, duplex=1.0),
    }
)
_MANY = 50
_NODES = ("n1", "n2")
_MIB = 1024
_RECORDS = ("records.jsonl", "samples.columns", "plan.json", "run.json")


@dataclass(frozen=True)
class Promise:
    """Limits of a command; None if nothing is promised.

    Attributes:
        seconds: on an idle machine of two cores: told, not judged.
        mib: memory of the largest process.
        page_mb: of the report.
        run_mb: of the run's directory.
    """

    seconds: float | None = None
    mib: float | None = None
    page_mb: float | None = None
    run_mb: float | None = None

    def kept(self, mib: float, page_mb: float, run_mb: float) -> bool:
        """Whether memory and sizes are within the limits."""
        pairs = ((mib, self.mib), (page_mb, self.page_mb), (run_mb, self.run_mb))
        return all(most is None or found <= most for found, most in pairs)

    def __str__(self) -> str:
        """The limits in words."""
        parts = (
            f"{self.seconds:g} s" if self.seconds else "",
            f"{self.mib:g} MiB" if self.mib else "",
            f"page of {self.page_mb:g} MB" if self.page_mb else "",
            f"run of {self.run_mb:g} MB" if self.run_mb else "",
        )
        return ", ".join(filter(None, parts))


def main(folder: Path, wanted: Collection[str]) -> bool:
    """Make missing runs, and measure; return whether every promise is kept."""
    kept = True
    if "pairs" in wanted:
        sizes = []
        for count in (64, 128, 256):
            path = _simulated(folder / f"pairs-{count}", "node-pairs", count)
            pairs = count * (count - 1) // 2
            promise = Promise(None, 500, 5, 60) if count == 256 else Promise()  # noqa: PLR2004
            kept &= _tell(f"node-pairs of {count} nodes, {pairs:,} pairs", [str(path)], promise)
            sizes.append(_megabytes(path) / pairs)
        growth = sizes[-1] / sizes[0]
        print(f"bytes a pair, 256 nodes over 64: x{growth:.2f} (promised: no more than the pairs)", flush=True)
        kept &= growth <= 1
    if "nodes" in wanted:
        path = _simulated(folder / "nodes", "node", 64)
        kept &= _tell("node on 64 nodes", [str(path)], Promise(15, 500))
    if "wide" in wanted:
        (wide,) = _made(folder / "wide", 1)
        kept &= _tell(f"report of a run of {_curves(wide)}", [str(wide)], Promise(10, 500))
    if "many" in wanted:
        few = _made(folder / "many", _MANY)
        kept &= _tell(f"{_MANY} runs side by side", list(map(str, few)), Promise(5, 500))
    return kept


def _curves(path: Path) -> str:
    run = store.load(path)
    samples = sum(count_of(case.series) for each in run.launches for case in each.cases)
    curves = {
        (
            case.placement.label,
            *(case.params[name] for name in ("pattern", "buffers", "calls")),
            *case.factors.values(),
        )
        for case in run.plan.cases
        if case.role == "measure"
    }
    return f"{len(curves)} curves, {samples:,} samples"


def _simulated(folder: Path, study: str, count: int) -> Path:
    """The run of a stored study on so many nodes; its clocks count nanoseconds like real ones."""
    if not _ended(folder):
        options = Options(hosts=tuple(f"n{number:03}" for number in range(count)))
        folder.mkdir(parents=True, exist_ok=True)
        begin = time.perf_counter()
        simulated_run(folder, Law(nanoseconds=True), study=study, options=options)
        print(f"made {study} of {count} nodes in {time.perf_counter() - begin:.0f} s", flush=True)
    return _ended(folder)[0]


def _made(folder: Path, count: int) -> list[Path]:
    """Run directories; missing ones are made."""
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


def _tell(name: str, runs: list[str], promise: Promise) -> bool:
    """`assay show` of one run, and `assay report`, in separate processes; return whether the promise is kept."""
    if len(runs) == 1:
        wall, cpu, mib = _cost(["show", *runs])
        print(f"{name}: show: {wall:.1f} s, {cpu:.1f} s of CPU, {mib:.0f} MiB in its largest process", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        wall, cpu, mib = _cost(["report", *runs, "-o", str(page)])
        page_mb, run_mb = page.stat().st_size / 1e6, sum(_megabytes(Path(run)) for run in runs)
    cost = f"{wall:.1f} s, {cpu:.1f} s of CPU, {mib:.0f} MiB in its largest process"
    kept = promise.kept(mib, page_mb, run_mb)
    promised = f"; promised: {promise}{'' if kept else ': NOT KEPT'}" if str(promise) else ""
    print(f"{name}: report: {cost}, page of {page_mb:.1f} MB, run of {run_mb:.1f} MB{promised}", flush=True)
    return kept


def _cost(words: list[str]) -> tuple[float, float, float]:
    """Seconds, CPU seconds, and MiB of the largest process of one start of `assay`."""
    begin = time.perf_counter()
    silent = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    command = [sys.executable, "-m", "assay", *words]
    process = os.posix_spawn(sys.executable, command, os.environ, file_actions=silent)
    _, status, used = os.wait4(process, 0)
    if status:
        raise SystemExit(f"{' '.join(words)}: exit status {os.waitstatus_to_exitcode(status)}")
    return time.perf_counter() - begin, used.ru_utime + used.ru_stime, used.ru_maxrss / _MIB


def _megabytes(path: Path) -> float:
    """Bytes of the records and samples of a run."""
    return sum((path / name).stat().st_size for name in _RECORDS if (path / name).exists()) / 1e6


if __name__ == "__main__":
    names = sys.argv[2:] or ["pairs", "nodes", "wide", "many"]
    with tempfile.TemporaryDirectory() as temporary:
        sys.exit(not main(Path(sys.argv[1] if len(sys.argv) > 1 else temporary).resolve(), names))
