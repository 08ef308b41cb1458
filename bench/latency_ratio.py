"""Our latency against a plain pointer chase in C: the same working sets and cpu, launches interleaved in one run.

    python bench/latency_ratio.py PATH/OF/latency [--blocks 6]

The peer is `latency_reference.c`, compiled with `gcc -O3`. Each block launches both once for every working set, in
random order; a launch counts by its median. Printed are ratios of launches of one block: their median and their
range. 1 means that both find the same latency.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import tempfile
from pathlib import Path

#: Working set -> loads in a sample of the peer: some 20 us, as ours last, so that processes that run in between
#: spoil as few of them.
_LOADS = {16 * 2**10: 20_000, 256 * 2**10: 6_000, 4 * 2**20: 1_500, 128 * 2**20: 200}
_HERE = Path(__file__).parent
_SAMPLES = 200
_SEED = 20_221_207


def _compile_reference(folder: Path) -> Path:
    program = folder / "latency_reference"
    subprocess.run(["gcc", "-O3", str(_HERE / "latency_reference.c"), "-o", str(program)], check=True)
    return program


def _reference(program: Path, cpu: int, size: int) -> float:
    """Median seconds of one load."""
    command = ["taskset", "-c", str(cpu), str(program), str(size), str(_SAMPLES), str(_LOADS[size])]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return statistics.median(float(line) for line in text.splitlines()) / _LOADS[size]


def _ours(program: Path, cpu: int, size: int) -> float:
    """Median seconds of one load."""
    command = [str(program), "--cpus", str(cpu), "--bytes", str(size), "--pages", "small", "--seconds", "2"]
    sampling = ["--min-samples", str(_SAMPLES), "--max-samples", "200"]
    text = subprocess.run([*command, *sampling], check=True, capture_output=True, text=True).stdout
    records = [json.loads(line) for line in text.splitlines()]
    (series,) = (each for each in records if each["type"] == "series" and each["phase"] == "measured")
    return float(statistics.median(series["seconds"]) / series["iterations"])


def main() -> None:
    """Compare inside each level of the caches and in memory."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path, help="our latency")
    parser.add_argument("--blocks", type=int, default=6)
    options = parser.parse_args()
    cpu = min(os.sched_getaffinity(0))
    order = random.Random(_SEED)  # noqa: S311 - the order of launches, no secret
    with tempfile.TemporaryDirectory() as folder:
        reference = _compile_reference(Path(folder))
        found: dict[tuple[str, int], list[float]] = {}
        for _ in range(options.blocks):
            launches = [(name, size) for size in _LOADS for name in ("ours", "plain")]
            for name, size in order.sample(launches, len(launches)):
                measure, program = (_ours, options.program) if name == "ours" else (_reference, reference)
                found.setdefault((name, size), []).append(measure(program, cpu, size))
    print(f"cpu {cpu}, {options.blocks} blocks: our latency / plain chase, median [least, most]")
    for size in _LOADS:
        ratios = [ours / plain for ours, plain in zip(found["ours", size], found["plain", size], strict=True)]
        own = statistics.median(found["ours", size])
        print(
            f"  {size / 2**20:8.3f} MiB  {statistics.median(ratios):.3f} [{min(ratios):.3f}, {max(ratios):.3f}]"
            f"  ours {1e9 * own:.2f} ns"
        )


if __name__ == "__main__":
    main()
