"""Our HPL against hpcc's and against LAPACK's LU, all with the same OpenBLAS file on the same cpus, in blocks.

    python bench/hpl_ratio.py [--blocks 6] [--n 4000] [--nb 128,192,256] [--blas FILE] [--mpi NAME]

Each block launches all competitors in random order. hpcc solves with each block size in one launch, ours in one
launch each; of either the best one counts in each block. Printed is the ratio of rates: Hodges-Lehmann over the
blocks with its exact 95 % interval, from six blocks on.

hpcc is linked with a BLAS of the system: another file than that makes the first ratio one of two libraries, and
the line says so.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parent.parent))
from bench.mpi import peers

from assay import toolchain
from assay.analyse.statistics import hodges_lehmann
from assay.topics.linear_algebra.benchmarks import hpcc
from assay.topics.linear_algebra.benchmarks.hpl import operations

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from assay.model.toolchain import Mpi

_HERE = Path(__file__).parent
#: One line of HPL's table: name of the variant, N, NB, P, Q, time, Gflops.
_RESULT = re.compile(r"^W\w+\s+\d+\s+\d+\s+\d+\s+\d+\s+\S+\s+(\S+)$", re.MULTILINE)


def _hpcc(mpi: Mpi, cpus: Sequence[int], order: int, blocks: Sequence[int]) -> float:
    """The best rate over the block sizes, flop/s."""
    content = hpcc.INPUT.format(n=order, nb=" ".join(map(str, blocks)))
    content = content.replace("1            # of NBs", f"{len(blocks)}            # of NBs")
    content = content.replace("1            Qs", f"{len(cpus)}            Qs")
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "hpccinf.txt").write_text(content)
        listed = ",".join(map(str, cpus))
        command = [mpi.launcher, "-n", str(len(cpus)), "--cpu-set", listed, "--bind-to", "core", "hpcc"]
        environment = peers.ENVIRONMENT | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True)
        found = _RESULT.findall((Path(folder) / "hpccoutf.txt").read_text())
    if len(found) != len(blocks):
        raise SystemExit(f"hpcc gave {len(found)} results of {len(blocks)}")
    return 1e9 * max(map(float, found))


def _ours(mpi: Mpi, blas: str, cpus: Sequence[int], order: int, block: int) -> float:
    """The last rate of one launch, flop/s."""
    placed = [*peers.placed(cpus), "--library", f"blas={blas}", "--n", str(order), "--nb", str(block)]
    shape = ["--p", "1", "--q", str(len(cpus)), "--seconds", "1"]
    command = [mpi.launcher, "-n", str(len(cpus)), str(peers.program(mpi, "hpl")), *placed, *shape]
    text = subprocess.run(command, check=True, capture_output=True, text=True, env=peers.ENVIRONMENT).stdout
    figures = [each for each in map(json.loads, text.splitlines()) if each["type"] == "figure"]
    rate: float = figures[-1]["value"]
    return rate


def _dgetrf(program: Path, blas: str, cpus: Sequence[int], order: int) -> float:
    """Its rate, flop/s, with a thread on each cpu."""
    text = peers.output([str(program), blas, str(order), *map(str, cpus)])
    return operations(order) / float(text)


def _compiled(folder: Path) -> Path:
    program = folder / "dgetrf_reference"
    peers.output(["cc", "-O3", str(_HERE / "dgetrf_reference.c"), "-o", str(program), "-ldl"])
    return program


def _say(name: str, ours: Sequence[float], theirs: Sequence[float]) -> None:
    ratio = hodges_lehmann([math.log(a / b) for a, b in zip(ours, theirs, strict=True)])
    middle, low, high = map(math.exp, (ratio.value, ratio.lo, ratio.hi))
    basis = "95 % interval" if ratio.confidence else "range: an interval takes six blocks"
    best = f"best {max(ours) / 1e9:.1f} and {max(theirs) / 1e9:.1f} GFLOP/s"
    print(f"  ours / {name:24} {middle:.3f} [{low:.3f}, {high:.3f}] ({basis}; {best})", flush=True)


def _same_file(blas: str) -> bool:
    """Whether hpcc is linked with this file."""
    which = subprocess.run(["which", "hpcc"], capture_output=True, text=True, check=False).stdout.strip()
    linked = peers.output(["ldd", which]) if which else ""
    return any(Path(word).resolve() == Path(blas).resolve() for word in linked.split() if word.startswith("/"))


def _default_blas() -> str:
    """The OpenBLAS that hpcc is linked with, else the first one here."""
    found = [each.file for each in toolchain.find_libraries("blas") if "openblas" in each.name]
    if not found:
        raise SystemExit("no OpenBLAS is found: see assay list blas")
    return next(filter(_same_file, found), found[0])


def main() -> None:
    """Compare on all cpus that are allowed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--blocks", type=int, default=6)
    parser.add_argument("--n", type=int, default=4000)
    parser.add_argument("--nb", default="128,192,256")
    parser.add_argument("--blas", default="")
    parser.add_argument("--mpi", default="")
    options = parser.parse_args()
    blas, sizes = options.blas or _default_blas(), [int(each) for each in options.nb.split(",")]
    cpus, order = sorted(os.sched_getaffinity(0)), options.n
    mpis = [each for each in toolchain.find_mpis() if each.kind == "openmpi"]
    mpi = next(each for each in mpis if not options.mpi or each.name == options.mpi)
    has_hpcc = subprocess.run(["which", "hpcc"], capture_output=True, check=False).returncode == 0
    draw = random.Random(peers.SEED)  # noqa: S311 - the order of launches, no secret
    with tempfile.TemporaryDirectory() as folder:
        reference = _compiled(Path(folder))

        def ours(placed: Sequence[int], size: int) -> Callable[[], float]:
            return lambda: _ours(mpi, blas, placed, order, size)

        competitors: Mapping[str, Callable[[], float]] = {
            **{f"ours {size}": ours(cpus, size) for size in sizes},
            **{f"ours alone {size}": ours(cpus[:1], size) for size in sizes},
            "dgetrf": lambda: _dgetrf(reference, blas, cpus, order),
            "dgetrf alone": lambda: _dgetrf(reference, blas, cpus[:1], order),
            **({"hpcc": lambda: _hpcc(mpi, cpus, order, sizes)} if has_hpcc else {}),
        }
        rates = [
            {name: competitors[name]() for name in draw.sample(sorted(competitors), len(competitors))}
            for _ in range(options.blocks)
        ]
    best = [max(block[f"ours {size}"] for size in sizes) for block in rates]
    alone = [max(block[f"ours alone {size}"] for size in sizes) for block in rates]
    print(f"n = {order}, NB {options.nb}, {len(cpus)} core(s), {mpi.name}, {blas}, {options.blocks} blocks")
    if has_hpcc:
        same = "" if _same_file(blas) else ", another BLAS file"
        _say(f"hpcc's HPL{same}", best, [block["hpcc"] for block in rates])
    _say("dgetrf, as many threads", best, [block["dgetrf"] for block in rates])
    _say("dgetrf, both on one core", alone, [block["dgetrf alone"] for block in rates])


if __name__ == "__main__":
    main()
