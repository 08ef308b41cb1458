"""Our himeno compared with a plain C version: same grid, flags and cpus, interleaved launches in one run.

    python bench/himeno_ratio.py PATH/OF/himeno [--blocks 6] [--size M] [--flags="-O3 -march=native"]

The peer is `himeno_reference.c`. Each block launches both in random order; the median sweep of a launch counts.
Prints ratios of speed of launches of one block, median and range, on one core and on all.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shlex
import statistics
import subprocess
import tempfile
from pathlib import Path

GRIDS = {
    "XS": (32, 32, 64),
    "S": (64, 64, 128),
    "M": (128, 128, 256),
    "L": (256, 256, 512),
    "XL": (512, 512, 1024),
}
_HERE = Path(__file__).parent
_SAMPLES = 20
_POINTS_OF_A_SAMPLE = 4_000_000
_SEED = 20_260_902


def _compile_reference(folder: Path, size: str, flags: list[str]) -> Path:
    program = folder / f"himeno_reference_{size}"
    grid = [f"-D{axis}={points}" for axis, points in zip("IJK", GRIDS[size], strict=True)]
    source = str(_HERE / "himeno_reference.c")
    subprocess.run(["gcc", *flags, "-fopenmp", "-mcmodel=medium", *grid, source, "-o", str(program)], check=True)
    return program


def _reference(program: Path, cpus: list[int], sweeps: int) -> float:
    """Median seconds of a sweep; the first sample is left out."""
    places = ",".join(f"{{{cpu}}}" for cpu in cpus)
    environment = os.environ | {"OMP_NUM_THREADS": str(len(cpus)), "OMP_PLACES": places, "OMP_PROC_BIND": "true"}
    command = [str(program), str(_SAMPLES + 1), str(sweeps)]
    text = subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout
    samples = [float(line.split()[1]) for line in text.splitlines() if line.startswith("jacobi")]
    return statistics.median(samples[1:])


def _ours(program: Path, cpus: list[int], size: str) -> float:
    """Median seconds of a sweep."""
    command = [str(program), "--cpus", ",".join(map(str, cpus)), "--size", size, "--seconds", "60"]
    sampling = ["--min-samples", str(_SAMPLES), "--max-samples", str(_SAMPLES)]
    text = subprocess.run([*command, *sampling], check=True, capture_output=True, text=True).stdout
    (series,) = (json.loads(line) for line in text.splitlines() if '"measured"' in line)
    seconds: list[float] = series["seconds"]
    return statistics.median(seconds) / int(series["iterations"])


def _compare(ours: Path, reference: Path, cpus: list[int], size: str, blocks: int) -> None:
    i, j, k = GRIDS[size]
    inner = (i - 2) * (j - 2) * (k - 2)
    sweeps = max(1, _POINTS_OF_A_SAMPLE // inner)
    competitors = {
        "ours": lambda: _ours(ours, cpus, size),
        "plain C": lambda: _reference(reference, cpus, sweeps),
    }
    order = random.Random(_SEED)  # noqa: S311 - the order of launches, no secret
    seconds = [
        {name: competitors[name]() for name in order.sample(sorted(competitors), len(competitors))}
        for _ in range(blocks)
    ]
    ratios = [block["plain C"] / block["ours"] for block in seconds]
    mflops = {name: 34 * inner / statistics.median(block[name] for block in seconds) / 1e6 for name in competitors}
    print(f"\n{size}, {len(cpus)} core(s), {blocks} blocks")
    print(f"  ours {mflops['ours']:.0f} MFLOPS, plain C {mflops['plain C']:.0f} MFLOPS")
    middle, least, most = statistics.median(ratios), min(ratios), max(ratios)
    print(f"  speed of ours / plain C, median [least, most]: {middle:.3f} [{least:.3f}, {most:.3f}]")


def main() -> None:
    """Compare on one core and on all allowed ones."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path, help="our himeno")
    parser.add_argument("--blocks", type=int, default=6)
    parser.add_argument("--size", choices=GRIDS, default="M")
    parser.add_argument("--flags", default="-O3 -march=native", help="those that ours was compiled with")
    options = parser.parse_args()
    allowed = sorted(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory() as folder:
        reference = _compile_reference(Path(folder), options.size, shlex.split(options.flags))
        for cpus in [allowed[:1], allowed] if len(allowed) > 1 else [allowed]:
            _compare(options.program, reference, cpus, options.size, options.blocks)


if __name__ == "__main__":
    main()
