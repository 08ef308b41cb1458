"""Our mxp compared with our HPL and the product in single precision: same BLAS file and cpus, in blocks.

    python bench/mxp_ratio.py [--blocks 6] [--n 4096] [--blas NAME] [--mpi NAME]

Each block launches all in random order; the last solution of a launch counts. Prints the ratio of rates:
Hodges-Lehmann over the blocks with its exact 95 % interval, from six blocks on. HPL has a rank on each cpu; mxp
and the product have a thread on each.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parent.parent))
from bench.mpi import peers

from assay import toolchain


def _last_rate(command: list[str]) -> float:
    """The last figure that a program writes, flop/s."""
    rate: float = [each for each in peers.records(peers.output(command)) if each["type"] == "figure"][-1]["value"]
    return rate


def _product(command: list[str]) -> float:
    """Rate of the median sample of a product, flop/s."""
    records = list(peers.records(peers.output(command)))
    (header,) = (each for each in records if each["type"] == "header")
    (series,) = (each for each in records if each["type"] == "series" and each["phase"] == "measured")
    rate: float = header["work"]["multiply"]["flops"] * series["iterations"] / median(series["seconds"])
    return rate


def main() -> None:
    """Compare on all allowed cpus."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--blocks", type=int, default=6)
    parser.add_argument("--n", type=int, default=4096)
    parser.add_argument("--blas", default="")
    parser.add_argument("--mpi", default="")
    options = parser.parse_args()
    blas = peers.blas_file(options.blas or "openblas")
    cpus, order = sorted(os.sched_getaffinity(0)), str(options.n)
    mpis = [each for each in toolchain.find_mpis() if each.kind == "openmpi"]
    mpi = next(each for each in mpis if not options.mpi or each.name == options.mpi)
    own = toolchain.build(toolchain.get()).programs
    with_blas, threads = ["--library", f"blas={blas}"], ["--cpus", ",".join(map(str, cpus))]
    started = [mpi.launcher, "-n", str(len(cpus)), str(peers.program(mpi, "hpl")), *peers.placed(cpus)]
    competitors = {
        "mxp": lambda: _last_rate([own["mxp"], *with_blas, *threads, "--n", order, "--seconds", "3"]),
        "hpl": lambda: _last_rate([*started, *with_blas, "--n", order, "--seconds", "3"]),
        "sgemm": lambda: _product([own["dgemm"], *with_blas, *threads, "--n", order, "--format", "fp32"]),
    }
    draw = random.Random(peers.SEED)  # noqa: S311 - the order of launches, no secret
    rates = [
        {name: competitors[name]() for name in draw.sample(sorted(competitors), len(competitors))}
        for _ in range(options.blocks)
    ]
    ours = [block["mxp"] for block in rates]
    print(f"n = {order}, {len(cpus)} core(s), {blas}, {options.blocks} blocks")
    peers.print_rates("our HPL", ours, [block["hpl"] for block in rates])
    peers.print_rates("SGEMM", ours, [block["sgemm"] for block in rates])


if __name__ == "__main__":
    main()
