"""Our HPL compared with LAPACK's LU and the product: same BLAS file, same cpus, in blocks.

    python bench/hpl_ratio.py [--blocks 6] [--n 4000] [--product N] [--nb 128,192] [--blas NAME] [--mpi NAME]
                              [--peers-only]

Each block launches all competitors in random order; our program is launched with each block size, and in each
block the best of them counts. Our program runs with a rank on each cpu, with one rank that has a thread on each
cpu, and with one rank on one cpu. Prints the ratio of rates: Hodges-Lehmann over the blocks with its exact 95 %
interval, from six blocks on. The last lines compare our program with itself: without look-ahead, and with panels
that are passed on. `--peers-only`: our program with a rank on each cpu against dgetrf and the product; otherwise
large orders take minutes per block. HPL itself, and that of hpcc, are laid beside ours by `assay run beside:hpl`
and `beside:hpcc`.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parent.parent))
from bench.mpi import peers

from assay import toolchain
from assay.topics.linear_algebra.benchmarks.hpl import operations

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from assay.model.toolchain import Mpi

_HERE = Path(__file__).parent


def _ours(mpi: Mpi, blas: str, ranks: Sequence[Sequence[int]], order: int, *axes: str) -> float:
    """The last rate of one launch with these cpus for its ranks, flop/s."""
    cpus = "/".join(",".join(map(str, each)) for each in ranks)
    placed = ["--cpus", cpus, "--expect-ranks", str(len(ranks)), "--library", f"blas={blas}", "--n", str(order)]
    shape = ["--p", "1", "--q", str(len(ranks)), "--seconds", "1"]
    command = [mpi.launcher, "-n", str(len(ranks)), str(peers.program(mpi, "hpl")), *placed, *shape, *axes]
    text = subprocess.run(command, check=True, capture_output=True, text=True, env=peers.ENVIRONMENT).stdout
    figures = [each for each in map(json.loads, text.splitlines()) if each["type"] == "figure"]
    rate: float = figures[-1]["value"]
    return rate


def _dgemm(blas: str, cpus: Sequence[int], order: int) -> float:
    """The best rate of a product by our program, flop/s, with a thread on each cpu."""
    program = toolchain.build(toolchain.get()).programs["dgemm"]
    listed = ",".join(map(str, cpus))
    options = ["--cpus", listed, "--library", f"blas={blas}", "--n", str(order), "--seconds", "1"]
    found = peers.records(peers.output([program, *options]))
    times = [
        seconds / each["iterations"]
        for each in found
        if each["type"] == "series" and each["phase"] == "measured"
        for seconds in each["seconds"]
    ]
    return 2.0 * order**3 / float(min(times))


def _dgetrf(program: Path, blas: str, cpus: Sequence[int], order: int) -> float:
    """The rate of LAPACK's LU, flop/s, with a thread on each cpu."""
    text = peers.output([str(program), blas, str(order), *map(str, cpus)])
    return operations(order) / float(text)


def _compiled(folder: Path) -> Path:
    program = folder / "dgetrf_reference"
    peers.output(["cc", "-O3", str(_HERE / "dgetrf_reference.c"), "-o", str(program), "-ldl"])
    return program


def _default_blas() -> str:
    """The first OpenBLAS here."""
    found = [each.file for each in toolchain.find_libraries("blas") if "openblas" in each.name]
    if not found:
        raise SystemExit("no OpenBLAS is found: see assay list blas")
    return found[0]


def main() -> None:
    """Compare on all allowed cpus."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--blocks", type=int, default=6)
    parser.add_argument("--n", type=int, default=4000)
    parser.add_argument("--product", type=int, default=0, help="order of the product; that of the system if 0")
    parser.add_argument("--nb", default="128,192,256,384")
    parser.add_argument("--blas", default="")
    parser.add_argument("--mpi", default="")
    parser.add_argument("--peers-only", action="store_true")
    options = parser.parse_args()
    blas = peers.blas_file(options.blas) if options.blas else _default_blas()
    sizes = [int(each) for each in options.nb.split(",")]
    cpus, order = sorted(os.sched_getaffinity(0)), options.n
    mpis = [each for each in toolchain.find_mpis() if each.kind == "openmpi"]
    mpi = next(each for each in mpis if not options.mpi or each.name == options.mpi)
    draw = random.Random(peers.SEED)  # noqa: S311 - the order of launches, no secret
    with tempfile.TemporaryDirectory() as folder:
        reference = _compiled(Path(folder))

        def ours(ranks: Sequence[Sequence[int]], size: int, *axes: str) -> Callable[[], float]:
            return lambda: _ours(mpi, blas, ranks, order, "--nb", str(size), *axes)

        each, middle = [[cpu] for cpu in cpus], sizes[len(sizes) // 2]
        competitors: dict[str, Callable[[], float]] = {
            **{f"ours {size}": ours(each, size) for size in sizes},
            "dgemm": lambda: _dgemm(blas, cpus, options.product or order),
            "dgetrf": lambda: _dgetrf(reference, blas, cpus, order),
        }
        variants: Mapping[str, Callable[[], float]] = {
            **{f"ours threads {size}": ours([cpus], size) for size in sizes},
            **{f"ours alone {size}": ours(each[:1], size) for size in sizes},
            "waiting": ours(each, middle, "--look-ahead", "none"),
            "passing": ours(each, middle, "--broadcast", "modified-ring"),
            "dgetrf alone": lambda: _dgetrf(reference, blas, cpus[:1], order),
        }
        if not options.peers_only:
            competitors |= variants
        rates = [
            {name: competitors[name]() for name in draw.sample(sorted(competitors), len(competitors))}
            for _ in range(options.blocks)
        ]

    def best_of(kind: str) -> list[float]:
        return [max(block[f"{kind} {size}"] for size in sizes) for block in rates]

    def of(name: str) -> list[float]:
        return [block[name] for block in rates]

    best, one = best_of("ours"), of(f"ours {middle}")
    print(f"n = {order}, NB {options.nb}, {len(cpus)} core(s), {mpi.name}, {blas}, {options.blocks} blocks")
    peers.print_rates("dgetrf, as many threads", best, of("dgetrf"))
    peers.print_rates("the product", best, of("dgemm"))
    if options.peers_only:
        return
    peers.print_rates("dgetrf, ours by threads", best_of("ours threads"), of("dgetrf"))
    peers.print_rates("dgetrf, both on one core", best_of("ours alone"), of("dgetrf alone"))
    peers.print_rates("ours without look-ahead", one, of("waiting"))
    peers.print_rates("ours with panels passed on", one, of("passing"))


if __name__ == "__main__":
    main()
