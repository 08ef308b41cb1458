"""Our NAS kernels compared with plain C versions of the same definitions, compiled with the same flags.

    python bench/nas_ratio.py [--blocks 6] [--class A] [--problems ep,is,cg,mg,ft] [--flags="-O3 -march=native"]

The peer is `nas_reference.c`, for one core; both run there. Each block launches both in random order; the
fastest of a few solutions of a launch counts. Our program verifies its solutions itself; those of the peer are
verified here. Prints the ratio of rates: Hodges-Lehmann over the blocks with its exact 95 % interval, from six
blocks on.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parent.parent))
from bench.mpi import peers

from assay import toolchain
from assay.analyse.statistics import hodges_lehmann
from assay.topics.kernels.sizes import PROBLEMS, demand

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_SOURCE = Path(__file__).parent / "nas_reference.c"
_SOLUTIONS = 3
#: Class -> macros of the peer: sizes, and the weights of MG's smoother.
_SMOOTHER = {"MG_C0": "(-3./8)", "MG_C1": "(1./32)", "MG_C2": "(-1./64)"}
_SIZES: Mapping[str, Mapping[str, object]] = {
    "S": {"EP_M": 24, "IS_KEYS": 16, "IS_VALUES": 11, "CG_N": 1400, "CG_Z": 7, "CG_SHIFT": 10.0, "MG_N": 32}
    | {"FT_X": 64, "FT_Y": 64, "FT_Z": 64},
    "W": {"EP_M": 25, "IS_KEYS": 20, "IS_VALUES": 16, "CG_N": 7000, "CG_Z": 8, "CG_SHIFT": 12.0, "MG_N": 128}
    | {"FT_X": 128, "FT_Y": 128, "FT_Z": 32},
    "A": {"EP_M": 28, "IS_KEYS": 23, "IS_VALUES": 19, "CG_N": 14000, "CG_Z": 11, "CG_SHIFT": 20.0, "MG_N": 256}
    | {"FT_X": 256, "FT_Y": 256, "FT_Z": 128},
}
_ITERATIONS = {"CG_I": 15, "MG_I": 4, "FT_I": 6}
#: Class -> what the peer must find: the sum of X, keys in order, zeta, norm, real part of the last checksum.
_RIGHT: Mapping[str, Mapping[str, float]] = {
    "S": {"ep": -3.247834652034740e3, "is": 2**16, "cg": 8.5971775078648, "mg": 0.5307707005734e-4}
    | {"ft": 554.2683411902},
    "W": {"ep": -2.863319731645753e3, "is": 2**20, "cg": 10.362595087124, "mg": 0.6467329375339e-5}
    | {"ft": 550.4159734538},
    "A": {"ep": -4.295875165629892e3, "is": 2**23, "cg": 17.130235054029, "mg": 0.2433365309069e-5}
    | {"ft": 509.1487099959},
}


def _compiled(folder: Path, size: str, flags: Sequence[str]) -> Path:
    program = folder / "nas_reference"
    macros = [f"-D{name}={value}" for name, value in ({**_SIZES[size], **_ITERATIONS, **_SMOOTHER}).items()]
    peers.output(["gcc", *flags, "-mcmodel=medium", *macros, str(_SOURCE), "-o", str(program), "-lm"])
    return program


def _plain(program: Path, cpu: int, problem: str, size: str) -> float:
    """Rate of the fastest solution, op/s."""
    text = peers.output(["taskset", "-c", str(cpu), str(program), problem, str(_SOLUTIONS)])
    solutions = [tuple(map(float, line.split())) for line in text.splitlines()]
    for _, value in solutions:
        if not math.isclose(value, _RIGHT[size][problem], rel_tol=1e-8):
            raise SystemExit(f"the plain {problem} is wrong: {value}, not {_RIGHT[size][problem]}")
    return demand(problem, size).operations / min(seconds for seconds, _ in solutions)


def _ours(program: Path, cpu: int, problem: str, size: str) -> float:
    """The same for our program, which fails if it does not verify."""
    sampling = ["--min-samples", str(_SOLUTIONS), "--max-samples", str(_SOLUTIONS), "--seconds", "600"]
    command = [str(program), "--cpus", str(cpu), *sampling, "--npb", problem, "--npb-class", size]
    figures = [each for each in map(json.loads, peers.output(command).splitlines()) if each["type"] == "figure"]
    return float(max(each["value"] for each in figures))


def main() -> None:
    """Compare on the first allowed cpu."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--blocks", type=int, default=6)
    parser.add_argument("--class", dest="size", choices=_SIZES, default="A")
    parser.add_argument("--problems", default=",".join(PROBLEMS))
    parser.add_argument("--mpi", default="")
    parser.add_argument("--flags", default="-O3 -march=native", help="those that ours was compiled with")
    options = parser.parse_args()
    mpis = toolchain.find_mpis()
    mpi = next(each for each in mpis if not options.mpi or each.name == options.mpi)
    ours, cpu = peers.program(mpi, "nas"), min(os.sched_getaffinity(0))
    draw = random.Random(peers.SEED)  # noqa: S311 - the order of launches, no secret
    print(f"class {options.size}, one core, {options.blocks} blocks")
    with tempfile.TemporaryDirectory() as folder:
        plain = _compiled(Path(folder), options.size, shlex.split(options.flags))
        for problem in options.problems.split(","):
            found: dict[str, list[float]] = {"ours": [], "plain": []}
            for _ in range(options.blocks):
                for name in draw.sample(sorted(found), len(found)):
                    rate = _ours if name == "ours" else _plain
                    found[name].append(rate(ours if name == "ours" else plain, cpu, problem, options.size))
            _say(problem, found["ours"], found["plain"])


def _say(problem: str, ours: Sequence[float], plain: Sequence[float]) -> None:
    ratio = hodges_lehmann([math.log(a / b) for a, b in zip(ours, plain, strict=True)])
    middle, low, high = map(math.exp, (ratio.value, ratio.lo, ratio.hi))
    basis = "95 % interval" if ratio.confidence else "range: an interval takes six blocks"
    best = f"best {max(ours) / 1e6:.0f} and {max(plain) / 1e6:.0f} Mop/s"
    print(f"  {problem}: ours / plain {middle:.3f} [{low:.3f}, {high:.3f}] ({basis}; {best})", flush=True)


if __name__ == "__main__":
    try:
        main()
    except subprocess.CalledProcessError as error:
        raise SystemExit(f"{error}\n{error.stderr}") from error
