"""Our hpcg compared with a plain C version of the definition: same boxes, flags, MPI and cpus, in blocks.

    python bench/hpcg_ratio.py [--blocks 6] [--n 64] [--iterations 10] [--flags="-O3 -march=native"] [--mpi NAME]

The peer is `hpcg_reference.c`, with ranks in a row. Each block launches both in random order, with one rank and
with one on each cpu; the last solution of a launch counts. Prints the ratio of rates: Hodges-Lehmann over the
blocks with its exact 95 % interval, from six blocks on. Both count the operations of the definition.
"""

from __future__ import annotations

import argparse
import os
import random
import shlex
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parent.parent))
from bench.mpi import peers

from assay import toolchain
from assay.topics.kernels.benchmarks.hpcg import operations
from assay.topics.kernels.grid import grid_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.model.toolchain import Mpi

_HERE = Path(__file__).parent
#: Solutions in a launch.
_SOLUTIONS = 3


def _compiled(mpi: Mpi, folder: Path, flags: Sequence[str]) -> Path:
    program = folder / "hpcg_reference"
    compiler = mpi.compiler.replace("mpicxx", "mpicc")
    peers.output([compiler, *flags, str(_HERE / "hpcg_reference.c"), "-o", str(program), "-lm"])
    return program


def _started(mpi: Mpi, cpus: Sequence[int]) -> list[str]:
    return [mpi.launcher, "-n", str(len(cpus))]


def _reference(mpi: Mpi, program: Path, cpus: Sequence[int], edge: int, iterations: int) -> float:
    """The peer's last rate, flop/s."""
    listed = ",".join(map(str, cpus))
    command = [*_started(mpi, cpus), "--cpu-set", listed, "--bind-to", "core", str(program)]
    text = peers.output([*command, str(edge), str(iterations), str(_SOLUTIONS)])
    seconds = float(text.splitlines()[-1].split()[0])
    return operations(len(cpus), edge, iterations) / seconds


def _ours(mpi: Mpi, cpus: Sequence[int], edge: int, iterations: int) -> float:
    """Our last rate, flop/s."""
    program = peers.program(mpi, "hpcg")
    sampling = ["--max-samples", str(_SOLUTIONS - 1), "--min-samples", "2", "--seconds", "600"]
    axes = ["--n", str(edge), "--cg-iterations", str(iterations)]
    text = peers.output([*_started(mpi, cpus), str(program), *peers.placed(cpus), *sampling, *axes])
    rate: float = [each for each in peers.records(text) if each["type"] == "figure"][-1]["value"]
    return rate


def main() -> None:
    """Compare with one rank, and with one on each allowed cpu."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--blocks", type=int, default=6)
    parser.add_argument("--n", type=int, default=64)
    parser.add_argument("--iterations", type=int, default=10)
    parser.add_argument("--flags", default="-O3 -march=native", help="those that ours was compiled with")
    parser.add_argument("--mpi", default="")
    options = parser.parse_args()
    allowed, edge, iterations = sorted(os.sched_getaffinity(0)), options.n, options.iterations
    mpis = [each for each in toolchain.find_mpis() if each.kind == "openmpi"]
    mpi = next(each for each in mpis if not options.mpi or each.name == options.mpi)
    draw = random.Random(peers.SEED)  # noqa: S311 - the order of launches, no secret
    with tempfile.TemporaryDirectory() as folder:
        reference = _compiled(mpi, Path(folder), shlex.split(options.flags))
        for cpus in [allowed[:1], allowed] if len(allowed) > 1 else [allowed]:
            if grid_of(len(cpus))[:2] != (1, 1):
                print(f"{len(cpus)} ranks stand in a grid of ours that is no row: left out")
                continue
            rates: dict[str, list[float]] = {"ours": [], "plain": []}
            for _ in range(options.blocks):
                for name in draw.sample(sorted(rates), len(rates)):
                    rate = (
                        _ours(mpi, cpus, edge, iterations)
                        if name == "ours"
                        else _reference(mpi, reference, cpus, edge, iterations)
                    )
                    rates[name].append(rate)
            print(
                f"box {edge}^3, {iterations} iterations, {len(cpus)} rank(s), {mpi.name}, {options.blocks} blocks"
            )
            peers.print_rates("the plain definition", rates["ours"], rates["plain"])


if __name__ == "__main__":
    main()
