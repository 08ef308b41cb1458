"""The peak of fused multiply-adds compared with clock, lanes and units, in one launch for each width.

    python bench/flops_ratio.py PATH/OF/flops [--blocks 6]

Each launch measures the loaded clock and then the peak on the same cores; widths and precisions are interleaved
in random order. Prints rate / (cores x measured clock x lanes x 2 x units), median and range over blocks, for
one unit and for two: the ratio near 1 shows the number of units of the processor.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
from collections import defaultdict
from pathlib import Path

_BITS = {"fp64": 64, "fp32": 32}
_WIDTHS = ("scalar", "128", "256", "512")
_FLOPS_OF_FMA = 2
_SEED = 20_260_901


def _measure(program: Path, cpus: list[int], precision: str, width: str) -> dict[str, float] | None:
    """Kernel -> cycles or flops per second, of the median sample; None if the width is not available."""
    axes = ["--format", precision, "--width", width, "--mix", "fma"]
    command = [str(program), "--cpus", ",".join(map(str, cpus)), "--seconds", "1", "--min-samples", "50", *axes]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        return None
    records = [json.loads(line) for line in done.stdout.splitlines()]
    work = {kernel: next(iter(amounts.values())) for kernel, amounts in records[0]["work"].items()}
    return {
        each["kernel"]: work[each["kernel"]] * each["iterations"] / statistics.median(each["seconds"])
        for each in records
        if each["type"] == "series" and each["phase"] == "measured"
    }


def _compare(program: Path, cpus: list[int], blocks: int) -> None:
    order = random.Random(_SEED)  # noqa: S311 - the order of launches, no secret
    kinds = [(precision, width) for precision in _BITS for width in _WIDTHS]
    clocks: dict[tuple[str, str], list[float]] = defaultdict(list)
    ratios: dict[tuple[str, str], list[float]] = defaultdict(list)
    for _ in range(blocks):
        for precision, width in order.sample(kinds, len(kinds)):
            found = _measure(program, cpus, precision, width)
            if found:
                lanes = 1 if width == "scalar" else int(width) // _BITS[precision]
                clock = found["loaded-clock"]
                clocks[precision, width].append(clock)
                ratios[precision, width].append(found["arithmetic"] / (len(cpus) * clock * lanes * _FLOPS_OF_FMA))
    print(
        f"\n{len(cpus)} core(s), {blocks} blocks: rate / (cores x clock x lanes x 2 x units), median [least, most]"
    )
    for (precision, width), values in sorted(ratios.items()):
        middle, least, most = statistics.median(values), min(values), max(values)
        units = ", ".join(f"{n} unit(s) {middle / n:.3f} [{least / n:.3f}, {most / n:.3f}]" for n in (1, 2))
        print(f"  {precision} {width:6} at {statistics.median(clocks[precision, width]) / 1e9:.2f} GHz: {units}")


def main() -> None:
    """Compare on one core and on all allowed ones."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path, help="our flops")
    parser.add_argument("--blocks", type=int, default=6)
    options = parser.parse_args()
    allowed = sorted(os.sched_getaffinity(0))
    for cpus in [allowed[:1], allowed] if len(allowed) > 1 else [allowed]:
        _compare(options.program, cpus, options.blocks)


if __name__ == "__main__":
    main()
