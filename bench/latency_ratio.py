"""Our latency compared with a plain pointer chase as defined by multichase, interleaved launches in one run.

    python bench/latency_ratio.py PATH/OF/latency [--blocks 6] [--largest 2147483648]

The peer is `latency_reference.c`, compiled with `gcc -O3`: samples of half a second on an endless random walk,
the first dropped; the best of the others counts, as multichase prints it. Our launches are those of a study.
Each block launches both once for every working set and page size, in random order. Prints ratios of launches of
one block: median and range. 1 means that both find the same latency. Then our program on a long walk: a load of
the first lap over one of the eighth, which is 1 if the warm-up is sufficient.
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
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_KIB, _MIB = 2**10, 2**20
_SIZES = (
    *(size * _KIB for size in (32, 256, 512)),
    *(size * _MIB for size in (1, 2, 4, 8, 16, 24, 32, 64, 128, 512, 2048)),
)
_PAGES = ("small", "huge")
#: Of the peer: number of counted samples, and duration of each.
_SAMPLES, _SAMPLE_S = 3, 0.5
#: Working sets whose laps are compared: a lap has several samples, and eight laps take less than a second.
_WALKED = (8 * _MIB, 16 * _MIB, 32 * _MIB, 64 * _MIB)
_LAPS = 8
#: Duration of one of our samples, and the longest load.
_OWN_SAMPLE_S, _SLOWEST_LOAD_S = 400e-6, 300e-9
_HERE = Path(__file__).parent
_SEED = 20_221_207


def _compile_reference(folder: Path) -> Path:
    program = folder / "latency_reference"
    subprocess.run(["gcc", "-O3", str(_HERE / "latency_reference.c"), "-o", str(program)], check=True)
    return program


def _reference(program: Path, cpu: int, size: int, pages: str) -> float:
    """Best mean of a sample: seconds of one load."""
    words = ["taskset", "-c", str(cpu), str(program), str(size), pages, str(_SAMPLES), str(_SAMPLE_S)]
    text = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    return 1e-9 * min(map(float, text.split()))


def _measured(program: Path, cpu: int, size: int, pages: str, sampling: Sequence[str]) -> tuple[int, list[float]]:
    """Loads of one of our samples, and the seconds of each sample."""
    words = [str(program), "--cpus", str(cpu), "--bytes", str(size), "--pages", pages, *sampling]
    text = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    records = [json.loads(line) for line in text.splitlines()]
    (series,) = (each for each in records if each["type"] == "series" and each["phase"] == "measured")
    return series["iterations"], series["seconds"]


def _ours(program: Path, cpu: int, size: int, pages: str) -> float:
    """Median seconds of one load."""
    loads, seconds = _measured(program, cpu, size, pages, ())
    return statistics.median(seconds) / loads


def _laps(program: Path, cpu: int, size: int, pages: str) -> float:
    """Time of a load on the first lap of a launch, divided by that on the eighth."""
    most = str(int(_LAPS * size / 64 * _SLOWEST_LOAD_S / _OWN_SAMPLE_S))
    loads, seconds = _measured(
        program, cpu, size, pages, ("--seconds", "60", "--min-samples", most, "--max-samples", most)
    )
    lap = max(1, size // 64 // loads)
    first, last = seconds[:lap], seconds[(_LAPS - 1) * lap : _LAPS * lap]
    return statistics.median(first) / statistics.median(last)


def _told(size: int, pages: str, ratios: Sequence[float], remark: str = "") -> str:
    told = f"{statistics.median(ratios):.3f} [{min(ratios):.3f}, {max(ratios):.3f}]"
    return f"  {size / _MIB:8.3f} MiB {pages:5}  {told}{remark}"


def main() -> None:
    """Compare inside each cache level and in memory, then laps."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path, help="our latency")
    parser.add_argument("--blocks", type=int, default=6)
    parser.add_argument("--largest", type=int, default=_SIZES[-1], help="bytes; larger working sets are left out")
    options = parser.parse_args()
    cpu = min(os.sched_getaffinity(0))
    order = random.Random(_SEED)  # noqa: S311 - the order of launches, no secret
    points = [(size, pages) for size in _SIZES if size <= options.largest for pages in _PAGES]
    found: dict[tuple[str, int, str], list[float]] = {}
    laps: dict[tuple[int, str], list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        reference = _compile_reference(Path(folder))
        for _ in range(options.blocks):
            for size, pages in order.sample(points, len(points)):
                for name in order.sample(("ours", "plain"), 2):
                    measure, program = (_ours, options.program) if name == "ours" else (_reference, reference)
                    found.setdefault((name, size, pages), []).append(measure(program, cpu, size, pages))
            for size in _WALKED:
                for pages in _PAGES:
                    laps.setdefault((size, pages), []).append(_laps(options.program, cpu, size, pages))
    print(f"cpu {cpu}, {options.blocks} blocks: our latency / plain chase, median [least, most]")
    for size, pages in points:
        both = zip(found["ours", size, pages], found["plain", size, pages], strict=True)
        own = f"  ours {1e9 * statistics.median(found['ours', size, pages]):.2f} ns"
        print(_told(size, pages, [ours / plain for ours, plain in both], own))
    print("our first lap / our eighth, median [least, most]")
    for (size, pages), ratios in laps.items():
        print(_told(size, pages, ratios))


if __name__ == "__main__":
    main()
