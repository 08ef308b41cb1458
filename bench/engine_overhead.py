"""What the engine adds to a launch and takes from a sample, measured in one call with interleaved launches.

    python bench/engine_overhead.py [--launches 20] [--mpi NAME]

A launch by the engine (bracket, start, check, append, sync) is compared with the same command started directly;
the difference is what the engine adds. Samples taken while the engine waits are compared with samples taken
while nothing waits: the ratio is what a waiting engine costs the program that measures. With `--mpi` a launch
has two ranks. Then the launcher of this MPI is also timed with `true`, and with a program that only calls
MPI_Init and MPI_Finalize: this is the MPI's own part of the command's time.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

sys.path.insert(0, str(Path(__file__).parent.parent))

from bench.mpi.peers import ENVIRONMENT, reference

from assay import machine, store, toolchain
from assay import plan as planning
from assay.launch.command import Command, Sampling, Site
from assay.launch.starter import Starter
from assay.model.plan import Measure, Plan, PlannedLaunch, Study
from assay.run import execute
from assay.run.process import Processes

if TYPE_CHECKING:
    from assay.model.record import Launch
    from assay.model.run import LaunchRecords
    from assay.model.toolchain import Build
    from assay.run import Progress

_ALONE = Measure("stream", ("one-core",), axes={"elements": 100_000})
_MESSAGES = Measure("pt2pt", ("pair",), axes={"bytes": 8})
_SECONDS = 0.2


class Clocked:
    """A watcher that records the duration of each launch, from its first probe to its commit, and its parts."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self.parts: dict[str, list[float]] = {"its probes": [], "Assay itself": []}
        self._began = 0.0

    def begins(self, launch: PlannedLaunch, attempt: int, progress: Progress) -> None:
        """Start the clock."""
        del launch, attempt, progress
        self._began = time.perf_counter()

    def waits(self, disturbed: Launch) -> None:
        """Let the clock run."""

    def ended(self, launch: LaunchRecords, progress: Progress) -> None:
        """Stop the clock."""
        del progress
        self.seconds.append(time.perf_counter() - self._began)
        self.parts["its probes"].append(launch.launch.probes_s)
        self.parts["Assay itself"].append(
            self.seconds[-1] - launch.launch.bracket.elapsed_s - launch.launch.probes_s
        )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--launches", type=int, default=20)
    parser.add_argument("--mpi", help="as `assay list mpis` names it")
    asked = parser.parse_args()
    mpi = toolchain.get_mpi(asked.mpi) if asked.mpi else None
    chosen = toolchain.get(f"{toolchain.get().name}/{mpi.name}" if mpi else "")
    study = Study("Overhead", "What does the engine add?", (_MESSAGES if mpi else _ALONE,))
    build = toolchain.build(chosen)
    here, xml = machine.discover()
    machines = {here.host: (here, xml)}
    options = planning.Options(seed=1, launches=1, toolchains=(chosen.name,))
    plan = planning.make("overhead", study, here, options)
    one = next(launch for launch in plan.order if launch.cases != ("sentinel",))
    command = _command(plan, one, build)
    starter = Starter(Site(here.host))
    clocked, waited, alone = Clocked(), [], []
    single = msgspec.structs.replace(plan, order=(one,))
    os.environ.update(ENVIRONMENT)
    environment = os.environ | command.environment
    started: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        parts = {"the same command alone": command.argv}
        if mpi:
            launcher = command.argv[: command.argv.index(build.programs[one.program])]
            parts["MPI_Init and MPI_Finalize"] = (*launcher, str(reference(mpi, "mpi_init.c", Path(folder))))
            parts["the launcher with `true`"] = (*launcher, "true")
        for _ in range(asked.launches):
            for name, argv in parts.items():
                began = time.perf_counter()
                done = subprocess.run(argv, check=True, capture_output=True, env=environment)
                started.setdefault(name, []).append(time.perf_counter() - began)
                if argv is command.argv:
                    alone.append(_iteration(done.stdout))
            waited.append(_iteration(Processes().execute(command, 60).stdout))
            directory = store.create(single, machines, {chosen.name: build}, ("bench",), Path(folder))
            with directory:
                execute(single, directory, starter, Processes(), {chosen.name: build}, clocked)
    _print(clocked, started, waited, alone)


def _command(plan: Plan, launch: PlannedLaunch, build: Build) -> Command:
    cases = tuple(plan.case(case_id) for case_id in launch.cases)
    fewest = Sampling(1e-9, 50, 50, dict.fromkeys(launch.cases, _SECONDS))
    (command,) = Starter(Site(plan.hosts[0])).commands(plan, cases, build, launch.program, fewest)
    return command


def _iteration(stdout: bytes) -> float:
    """Median seconds of an iteration of the last kernel."""
    records = [json.loads(line) for line in stdout.splitlines() if line.startswith(b"{")]
    series = [each for each in records if each["type"] == "series" and each["phase"] == "measured"][-1]
    return float(statistics.median(series["seconds"]) / series["iterations"])


def _print(clocked: Clocked, started: dict[str, list[float]], waited: list[float], alone: list[float]) -> None:
    bare, engine = next(iter(started.values())), clocked.seconds
    print(f"a launch by the engine      {statistics.median(engine):.3f} s  (median of {len(engine)})")
    for name, seconds in started.items():
        shares = [one / whole for one, whole in zip(seconds, bare, strict=True)]
        print(f"{name:27} {statistics.median(seconds):.3f} s  {statistics.median(shares):.2f} of the command")
    added = [by_engine - alone_s for by_engine, alone_s in zip(engine, bare, strict=True)]
    print(f"added by the engine         {statistics.median(added):.3f} s  ({min(added):.3f} to {max(added):.3f})")
    for name, seconds in clocked.parts.items():
        print(f"  {name:25} {statistics.median(seconds):.3f} s")
    ratios = [with_engine / without for with_engine, without in zip(waited, alone, strict=True)]
    print(
        f"an iteration, engine waiting / nobody waiting: {statistics.median(ratios):.3f}"
        f"  ({min(ratios):.3f} to {max(ratios):.3f})"
    )


if __name__ == "__main__":
    main()
