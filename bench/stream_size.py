"""The smallest arrays with which STREAM finds the memory rate, on all cores: rates as ratios to the largest.

    python bench/stream_size.py PATH/OF/stream [--blocks 3] [--largest 402653184]

By default the largest working set is STREAM's rule for a claimed cache of 32 MiB: three arrays of four times
that. Each block launches every size once, in random order. Prints the ratios of triad's rates in one block,
median and range, the time of a launch without its samples, and the size that `assay run` would choose.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import time
from pathlib import Path

from assay.run.caches import held_bytes

_LEAST = 16 * 2**20
_ARRAYS_BYTES = 24
_SAMPLING_S = 0.2
_SEED = 19_910_101


def _launch(program: Path, cpus: list[int], size: int) -> tuple[float, float]:
    """Bytes per second of triad, and the seconds of the launch without its samples."""
    command = [str(program), "--cpus", ",".join(map(str, cpus)), "--elements", str(size // _ARRAYS_BYTES)]
    begin = time.perf_counter()
    sampling = ["--seconds", str(_SAMPLING_S)]
    text = subprocess.run([*command, *sampling], check=True, capture_output=True, text=True).stdout
    wall = time.perf_counter() - begin
    records = [json.loads(line) for line in text.splitlines()]
    measured = [each for each in records if each["type"] == "series" and each["phase"] == "measured"]
    (triad,) = (each for each in measured if each["kernel"] == "triad")
    rate = triad["iterations"] * records[0]["work"]["triad"]["bytes"] / min(triad["seconds"])
    return rate, wall - sum(sum(each["seconds"]) for each in measured)


def main() -> None:
    """Compare the sizes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path, help="our stream")
    parser.add_argument("--blocks", type=int, default=3)
    parser.add_argument("--largest", type=int, default=3 * 4 * 32 * 2**20, help="bytes of all arrays")
    options = parser.parse_args()
    cpus = sorted(os.sched_getaffinity(0))
    order = random.Random(_SEED)  # noqa: S311 - the order of launches, no secret
    sizes = [options.largest]
    while sizes[-1] // 2 >= _LEAST:
        sizes.append(sizes[-1] // 2)
    found: dict[int, list[tuple[float, float]]] = {}
    for _ in range(options.blocks):
        for size in order.sample(sizes, len(sizes)):
            found.setdefault(size, []).append(_launch(options.program, cpus, size))
    print(f"{len(cpus)} cores, {options.blocks} blocks: triad / triad of the largest, median [least, most]")
    for size in sizes:
        pairs = zip(found[size], found[sizes[0]], strict=True)
        ratios = [rate / whole for (rate, _), (whole, _) in pairs]
        beside = statistics.median(seconds for _, seconds in found[size])
        told = f"{statistics.median(ratios):.3f} [{min(ratios):.3f}, {max(ratios):.3f}]"
        print(f"  {size / 2**20:8.1f} MiB  {told}  {beside:.2f} s beside the samples")
    best = [(size, max(rate for rate, _ in found[size])) for size in sizes]
    print(f"rates are memory's from {held_bytes(best) / 2**20:.0f} MiB on (0: at the largest alone)")


if __name__ == "__main__":
    main()
