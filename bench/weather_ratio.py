"""Our weather compared with a plain C version of the definition: same plane, steps and flags; one core; in blocks.

    python bench/weather_ratio.py [--blocks 6] [--planes 100,400,1600] [--flags="-O3 -march=native"] [--mpi NAME]

The peer is `weather_reference.c`. Each block launches both in random order; the fastest of a few solutions of a
launch counts. Our program verifies its solutions itself; those of the peer are verified here. Prints the ratio
of rates: Hodges-Lehmann over the blocks with its exact 95 % interval, from six blocks on.
"""

from __future__ import annotations

import argparse
import os
import random
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
from bench.mpi import peers

from assay import toolchain
from assay.topics.stencil.benchmarks.weather import cells

_SOURCE = Path(__file__).parent / "weather_reference.c"
_SOLUTIONS = 3
#: Approximate cell updates in a solution.
_UPDATES = 6e6
#: Allowed relative changes of the peer's mass (summed without care) and energy.
_MASS, _LOSS = 1e-11, 4.5e-5


def _plain(program: Path, cpu: int, columns: int, steps: int) -> float:
    """Rate of the fastest solution, update/s."""
    command = ["taskset", "-c", str(cpu), str(program), str(columns), str(steps), str(_SOLUTIONS)]
    solutions = [tuple(map(float, line.split())) for line in peers.output(command).splitlines()]
    for _, mass, energy in solutions:
        if not (abs(mass) <= _MASS and -_LOSS <= energy <= _MASS):
            raise SystemExit(f"the plain version is wrong: mass changes by {mass}, energy by {energy}")
    return cells(columns) * steps / min(seconds for seconds, *_ in solutions)


def _ours(program: Path, cpu: int, columns: int, steps: int) -> float:
    """The same for our program, which fails if it does not verify."""
    sampling = ["--min-samples", str(_SOLUTIONS), "--max-samples", str(_SOLUTIONS), "--seconds", "600"]
    axes = ["--nx", str(columns), "--time-steps", str(steps)]
    text = peers.output([str(program), "--cpus", str(cpu), *sampling, *axes])
    return float(max(each["value"] for each in peers.records(text) if each["type"] == "figure"))


def main() -> None:
    """Compare on the first allowed cpu."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--blocks", type=int, default=6)
    parser.add_argument("--planes", default="100,400,1600", help="cells along x of each")
    parser.add_argument("--flags", default="-O3 -march=native", help="those that ours was compiled with")
    parser.add_argument("--mpi", default="")
    options = parser.parse_args()
    mpis = toolchain.find_mpis()
    mpi = next(each for each in mpis if not options.mpi or each.name == options.mpi)
    ours, cpu = peers.program(mpi, "weather"), min(os.sched_getaffinity(0))
    draw = random.Random(peers.SEED)  # noqa: S311 - the order of launches, no secret
    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder) / "weather_reference"
        peers.output(["gcc", *shlex.split(options.flags), str(_SOURCE), "-o", str(plain), "-lm"])
        for columns in map(int, options.planes.split(",")):
            steps = 2 * max(1, round(_UPDATES / cells(columns) / 2))
            rates: dict[str, list[float]] = {"ours": [], "plain": []}
            for _ in range(options.blocks):
                for name in draw.sample(sorted(rates), len(rates)):
                    rate = _ours if name == "ours" else _plain
                    rates[name].append(rate(ours if name == "ours" else plain, cpu, columns, steps))
            print(f"{columns} x {columns // 2} cells, {steps} steps, one core, {options.blocks} blocks")
            peers.print_rates("the plain definition", rates["ours"], rates["plain"], "Gupdate/s")


if __name__ == "__main__":
    try:
        main()
    except subprocess.CalledProcessError as error:
        raise SystemExit(f"{error}\n{error.stderr}") from error
