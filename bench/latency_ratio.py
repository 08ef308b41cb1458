"""Our latency compared with a plain pointer chase as defined by multichase, interleaved launches in one run.

    python bench/latency_ratio.py PATH/OF/latency [--blocks 6] [--smallest 32768] [--largest 2147483648]

The peer is `latency_reference.c`, compiled with `gcc -O3`: samples of half a second on an endless random walk,
the first dropped; the best of the others counts, as multichase prints it. Ours is measured twice: in a launch of a
study, whose figure is the median of its samples, and in a long launch, of whose samples the same half seconds are
made, so that both figures are the same quantity. A mean has the time that the host takes, a median has not. Each
block launches all three once for every working set and page size, in random order. Prints ratios of launches of
one block: median, and its 95 % interval (fewer than six blocks: the range). 1 means that both find the same
latency. Then our program on a long walk: a load of the first lap over one of the eighth, which is 1 if the warm-up
is sufficient.
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

from assay.analyse.statistics import median_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.model.quantity import Quantity

_KIB, _MIB = 2**10, 2**20
_SIZES = (
    *(size * _KIB for size in (32, 256, 512)),
    *(size * _MIB for size in (1, 2, 4, 8, 16, 24, 32, 64, 128, 512, 2048)),
)
_PAGES = ("small", "huge")
#: Of the peer: number of counted samples, and duration of each.
_SAMPLES, _SAMPLE_S = 3, 0.5
#: Working sets whose laps are compared: a lap has several samples, and eight laps take less than a second.
_WALKED = {8 * _MIB, 16 * _MIB, 32 * _MIB, 64 * _MIB}
_LAPS = 8
#: Duration of one of our samples, and the longest load.
_OWN_SAMPLE_S, _SLOWEST_LOAD_S = 400e-6, 300e-9
#: Both agree if their ratio is not farther from 1 than this, as a factor.
_AGREES = 1.02
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


def _of_study(program: Path, cpu: int, size: int, pages: str) -> float:
    """Median seconds of one load."""
    loads, seconds = _measured(program, cpu, size, pages, ())
    return statistics.median(seconds) / loads


def _by_definition(program: Path, cpu: int, size: int, pages: str) -> float:
    """Best mean of half seconds, the first one dropped: seconds of one load."""
    most = str(round((_SAMPLES + 1) * _SAMPLE_S / _OWN_SAMPLE_S))
    loads, seconds = _measured(
        program, cpu, size, pages, ("--seconds", "60", "--min-samples", most, "--max-samples", most)
    )
    halves: list[list[float]] = [[]]
    spent = 0.0
    for each in seconds:
        if spent >= _SAMPLE_S:
            halves, spent = [*halves, []], 0.0
        halves[-1].append(each)
        spent += each
    return min(statistics.fmean(half) for half in halves[1:] if sum(half) > _SAMPLE_S / 2) / loads


def _laps(program: Path, cpu: int, size: int, pages: str) -> float:
    """Time of a load on the first lap of a launch, divided by that on the eighth."""
    most = str(int(_LAPS * size / 64 * _SLOWEST_LOAD_S / _OWN_SAMPLE_S))
    loads, seconds = _measured(
        program, cpu, size, pages, ("--seconds", "60", "--min-samples", most, "--max-samples", most)
    )
    lap = max(1, size // 64 // loads)
    first, last = seconds[:lap], seconds[(_LAPS - 1) * lap : _LAPS * lap]
    return statistics.median(first) / statistics.median(last)


def _told(size: int, pages: str, *ratios: Quantity) -> str:
    told = "  ".join(f"{each.value:.3f} [{each.lo:.3f}, {each.hi:.3f}]" for each in ratios)
    return f"  {size / _MIB:8.3f} MiB {pages:5}  {told}"


def _summary(ratios: Sequence[Quantity]) -> str:
    inside = sum(each.lo >= 1 / _AGREES and each.hi <= _AGREES for each in ratios)
    outside = sum(each.lo > _AGREES or each.hi < 1 / _AGREES for each in ratios)
    by_value = sum(1 / _AGREES <= each.value <= _AGREES for each in ratios)
    return (
        f"of {len(ratios)} ratios {by_value} within 2 %; with both ends {inside} within and {outside} beyond, the "
        f"others open"
    )


def main() -> None:
    """Compare inside each cache level and in memory, then laps."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path, help="our latency")
    parser.add_argument("--blocks", type=int, default=6)
    parser.add_argument("--smallest", type=int, default=_SIZES[0], help="bytes; smaller working sets are left out")
    parser.add_argument("--largest", type=int, default=_SIZES[-1], help="bytes; larger working sets are left out")
    options = parser.parse_args()
    cpu = min(os.sched_getaffinity(0))
    order = random.Random(_SEED)  # noqa: S311 - the order of launches, no secret
    sizes = [size for size in _SIZES if options.smallest <= size <= options.largest]
    points = [(size, pages) for size in sizes for pages in _PAGES]
    found: dict[tuple[str, int, str], list[float]] = {}
    laps: dict[tuple[int, str], list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        programs = {
            "plain": (_reference, _compile_reference(Path(folder))),
            "study": (_of_study, options.program),
            "definition": (_by_definition, options.program),
        }
        for _ in range(options.blocks):
            for size, pages in order.sample(points, len(points)):
                for name in order.sample(tuple(programs), len(programs)):
                    measure, program = programs[name]
                    found.setdefault((name, size, pages), []).append(measure(program, cpu, size, pages))
            for size in sorted(_WALKED & set(sizes)):
                for pages in _PAGES:
                    laps.setdefault((size, pages), []).append(_laps(options.program, cpu, size, pages))
    print(f"cpu {cpu}, {options.blocks} blocks: ours / plain chase, as in studies and by its definition")
    ratios: dict[str, list[Quantity]] = {"study": [], "definition": []}
    for point in points:
        for name, those in ratios.items():
            pairs = zip(found[name, *point], found["plain", *point], strict=True)
            those.append(median_interval([ours / plain for ours, plain in pairs]))
        nanoseconds = 1e9 * statistics.median(found["study", *point])
        print(f"{_told(*point, *(those[-1] for those in ratios.values()))}  ours {nanoseconds:.2f} ns")
    for name, those in ratios.items():
        print(f"{name}: {_summary(those)}")
    print("our first lap / our eighth")
    for point, found_laps in laps.items():
        print(_told(*point, median_interval(found_laps)))


if __name__ == "__main__":
    main()
