"""Our collective compared with a plain C version of OSU's allreduce and bcast: same MPI, same cpus.

    python bench/collective_ratio.py [MPI] [--ranks 2] [--blocks 10]

The peer is `collective_reference.c`, compiled with the MPI's own compiler. Each block launches both once for
every question, in random order. Prints ratios of launches of one block: median and range. The compared time of
an operation is the mean over the ranks of their own times (OSU prints it as its average), minus the cost of
reading the clock. Two things differ by design: the peer separates repetitions by the barrier of the MPI, our
program by its own dissemination barrier; and the peer gives a mean of repetitions, our program the median of
samples. Other processes affect the mean, so compare on a quiet machine. The last column is the time of the
slowest rank, which is our headline, over the same mean.
"""

import argparse
import os
import random
import statistics
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from bench.mpi.peers import SEED, output, placed, print_ratios, program, records, reference

from assay import toolchain

_OPERATIONS = ("allreduce", "bcast")
_SIZES = (8, 1024, 65536)
_SECONDS = 0.5

Question = tuple[str, int]


def _plain(launcher: Sequence[str], peer: Path, cpus: Sequence[int], asked: Question) -> dict[str, float]:
    operation, size = asked
    _, seconds, clock = output([*launcher, str(peer), operation, str(size), *map(str, cpus)]).split()
    return {"own": float(seconds) - float(clock)}


def _ours(launcher: Sequence[str], own: Path, cpus: Sequence[int], asked: Question) -> dict[str, float]:
    """Seconds of each kernel: mean over the ranks of their medians; for `slowest` all ranks have the same."""
    operation, size = asked
    options = ["--operation", operation, "--bytes", str(size), "--seconds", str(_SECONDS)]
    ranks: dict[str, list[float]] = {}
    for record in records(output([*launcher, str(own), *placed(cpus), *options])):
        if record["type"] == "series" and record["phase"] == "measured":
            median = statistics.median(record["seconds"]) / record["iterations"]
            ranks.setdefault(record["kernel"], []).append(median)
    return {kernel: statistics.mean(medians) for kernel, medians in ranks.items()}


def main() -> None:
    """Compare each operation with a short, a medium and a long message."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mpi", nargs="?", default="", help="as `assay list mpis` names it; by default the first")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--blocks", type=int, default=10)
    chosen = parser.parse_args()
    cpus = sorted(os.sched_getaffinity(0))[: chosen.ranks]
    if len(cpus) < chosen.ranks:
        parser.error(f"{chosen.ranks} ranks need as many cpus, {len(cpus)} are here")
    mpi = toolchain.get_mpi(chosen.mpi)
    launcher = [mpi.launcher, "-n", str(chosen.ranks)]
    order = random.Random(SEED)  # noqa: S311 - the order of launches, no secret
    questions = [(operation, size) for operation in _OPERATIONS for size in _SIZES]
    found: dict[tuple[str, Question], list[dict[str, float]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        programs = {
            "ours": (_ours, program(mpi, "collective")),
            "plain": (_plain, reference(mpi, "collective_reference.c", Path(folder))),
        }
        print(f"{mpi.name}, cpus {cpus}, {chosen.blocks} blocks: ours / plain, median [least, most]")
        for _ in range(chosen.blocks):
            for asked in order.sample(questions, len(questions)):
                for name in order.sample(list(programs), len(programs)):
                    measure, path = programs[name]
                    found.setdefault((name, asked), []).append(measure(launcher, path, cpus, asked))
    for asked in questions:
        pairs = list(zip(found["ours", asked], found["plain", asked], strict=True))
        middle = statistics.median(one["own"] for one, _ in pairs)
        slowest = statistics.median(one["slowest"] / other["own"] for one, other in pairs)
        remark = f"  ours {1e6 * middle:.3f} us; slowest rank / plain mean {slowest:.3f}"
        print_ratios(f"{asked[0]} {asked[1]} B", [one["own"] / other["own"] for one, other in pairs], remark)


if __name__ == "__main__":
    main()
