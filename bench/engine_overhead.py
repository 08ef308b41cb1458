"""What the engine adds to a launch and takes from a sample, measured in this one call, launches interleaved.

    python bench/engine_overhead.py [--launches 20]

A launch by the engine (bracket, start, check, append, sync) stands against the same command started directly; the
difference is what the engine adds. Samples taken while the engine waits stand against samples taken while nothing
waits: their ratio is what a waiting engine costs the program that measures.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from assay import machine, store, toolchain
from assay import plan as planning
from assay.launch.command import Command, Sampling, Site
from assay.launch.starter import Starter
from assay.model.plan import Measure, Plan, PlannedLaunch, Study
from assay.run import execute
from assay.run.process import Processes

if TYPE_CHECKING:
    from assay.model.record import Launch
    from assay.model.toolchain import Build
    from assay.run import Progress

_STUDY = Study(
    "Overhead", "What does the engine add?", (Measure("stream", ("one-core",), axes={"elements": 100_000}),)
)
_SECONDS = 0.2


class Clocked:
    """A watcher that notes how long each launch took, from before its first probe to its commit."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self._began = 0.0

    def begins(self, launch: PlannedLaunch, attempt: int, progress: Progress) -> None:
        """Start the clock."""
        del launch, attempt, progress
        self._began = time.perf_counter()

    def waits(self, disturbed: Launch) -> None:
        """The clock goes on."""

    def ended(self, launch: Launch, progress: Progress) -> None:
        """Stop it."""
        del launch, progress
        self.seconds.append(time.perf_counter() - self._began)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--launches", type=int, default=20)
    launches = parser.parse_args().launches
    chosen = toolchain.get()
    build = toolchain.build(chosen)
    here, xml = machine.discover()
    machines = {here.host: (here, xml)}
    options = planning.Options(seed=1, launches=1, toolchains=(chosen.name,))
    plan = planning.make("overhead", _STUDY, here, options)
    one = next(launch for launch in plan.order if launch.cases != ("sentinel",))
    command = _command(plan, one, build)
    starter = Starter(Site(here.host))
    clocked, bare, waited, alone = Clocked(), [], [], []
    single = msgspec.structs.replace(plan, order=(one,))
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(launches):
            began = time.perf_counter()
            alone.append(_triad(subprocess.run(command.argv, check=True, capture_output=True).stdout))
            bare.append(time.perf_counter() - began)
            waited.append(_triad(Processes().execute(command, 60).stdout))
            directory = store.create(single, machines, {chosen.name: build}, ("bench",), Path(folder))
            with directory:
                execute(single, directory, starter, Processes(), {chosen.name: build}, clocked)
    _print(clocked.seconds, bare, waited, alone)


def _command(plan: Plan, launch: PlannedLaunch, build: Build) -> Command:
    cases = tuple(plan.case(case_id) for case_id in launch.cases)
    fewest = Sampling(1e-9, 50, 50, dict.fromkeys(launch.cases, _SECONDS))
    (command,) = Starter(Site(plan.hosts[0])).commands(plan, cases, build, launch.program, fewest)
    return command


def _triad(stdout: bytes) -> float:
    """Median seconds of a triad iteration."""
    records = [json.loads(line) for line in stdout.splitlines()]
    series = next(r for r in records if r.get("kernel") == "triad" and r["phase"] == "measured")
    return float(statistics.median(series["seconds"]) / series["iterations"])


def _print(engine: list[float], bare: list[float], waited: list[float], alone: list[float]) -> None:
    added = [by_engine - statistics.median(bare) for by_engine in engine]
    print(f"a launch by the engine   {statistics.median(engine):.3f} s  (median of {len(engine)})")
    print(f"the same command alone   {statistics.median(bare):.3f} s")
    print(f"added by the engine      {statistics.median(added):.3f} s  ({min(added):.3f} to {max(added):.3f})")
    ratios = [with_engine / without for with_engine, without in zip(waited, alone, strict=True)]
    print(
        f"triad, engine waiting / nobody waiting: {statistics.median(ratios):.3f}"
        f"  ({min(ratios):.3f} to {max(ratios):.3f})"
    )


if __name__ == "__main__":
    main()
