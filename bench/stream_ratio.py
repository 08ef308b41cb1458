"""Our stream compared with a plain STREAM: same arrays, same cpus, interleaved launches in one run.

    python bench/stream_ratio.py PATH/OF/stream [--blocks 6] [--elements 16777216]

The peer is `stream_reference.c`, compiled with `gcc -O3 -march=native -fopenmp`. Each block launches every
competitor once, in random order; the median of a launch counts. Prints ratios of launches of one block: median
and range.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import tempfile
from collections import defaultdict
from pathlib import Path

KERNELS = ("copy", "scale", "add", "triad")
_HERE = Path(__file__).parent
_SAMPLES = 20
_SEED = 20_200_901


def _compile_reference(folder: Path, elements: int) -> Path:
    program = folder / "stream_reference"
    flags = ("-O3", "-march=native", "-fopenmp", "-mcmodel=medium", f"-DN={elements}")
    source = _HERE / "stream_reference.c"
    subprocess.run(["gcc", *flags, str(source), "-o", str(program), "-lm"], check=True)
    return program


def _reference(program: Path, cpus: list[int]) -> dict[str, float]:
    """Median seconds of each kernel; the first sample is left out, as STREAM does."""
    places = ",".join(f"{{{cpu}}}" for cpu in cpus)
    environment = os.environ | {"OMP_NUM_THREADS": str(len(cpus)), "OMP_PLACES": places, "OMP_PROC_BIND": "true"}
    command = [str(program), str(_SAMPLES)]
    text = subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout
    samples: dict[str, list[float]] = defaultdict(list)
    for line in text.splitlines():
        kernel, seconds = line.split()
        samples[kernel].append(float(seconds))
    return {kernel: statistics.median(values[1:]) for kernel, values in samples.items()}


def _ours(program: Path, cpus: list[int], elements: int, stores: str) -> dict[str, float]:
    """Median seconds of one iteration of each kernel."""
    command = [str(program), "--cpus", ",".join(map(str, cpus)), "--elements", str(elements), "--stores", stores]
    sampling = ["--min-samples", str(_SAMPLES), "--max-samples", str(_SAMPLES), "--seconds", "60"]
    text = subprocess.run([*command, *sampling], check=True, capture_output=True, text=True).stdout
    records = [json.loads(line) for line in text.splitlines()]
    return {
        record["kernel"]: statistics.median(record["seconds"]) / record["iterations"]
        for record in records
        if record["type"] == "series" and record["phase"] == "measured"
    }


def _compare(ours: Path, reference: Path, cpus: list[int], elements: int, blocks: int) -> None:
    competitors = {
        "plain STREAM": lambda: _reference(reference, cpus),
        "ordinary": lambda: _ours(ours, cpus, elements, "ordinary"),
        "non-temporal": lambda: _ours(ours, cpus, elements, "non-temporal"),
    }
    order = random.Random(_SEED)  # noqa: S311 - the order of launches, no secret
    seconds: list[dict[str, dict[str, float]]] = []
    for _ in range(blocks):
        names = order.sample(sorted(competitors), len(competitors))
        seconds.append({name: competitors[name]() for name in names})
    print(f"\n{len(cpus)} core(s), {elements} elements, {blocks} blocks: speed, median [least, most]")
    for name, base in (
        ("ordinary", "plain STREAM"),
        ("non-temporal", "plain STREAM"),
        ("non-temporal", "ordinary"),
    ):
        print(f"  {name} / {base}")
        for kernel in KERNELS:
            ratios = [block[base][kernel] / block[name][kernel] for block in seconds]
            print(f"    {kernel:6} {statistics.median(ratios):.3f} [{min(ratios):.3f}, {max(ratios):.3f}]")


def main() -> None:
    """Compare on one core and on all allowed ones."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path, help="our stream")
    parser.add_argument("--blocks", type=int, default=6)
    parser.add_argument("--elements", type=int, default=16 * 2**20)
    options = parser.parse_args()
    allowed = sorted(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory() as folder:
        reference = _compile_reference(Path(folder), options.elements)
        for cpus in [allowed[:1], allowed] if len(allowed) > 1 else [allowed]:
            _compare(options.program, reference, cpus, options.elements, options.blocks)


if __name__ == "__main__":
    main()
