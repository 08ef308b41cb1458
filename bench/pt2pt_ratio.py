"""Our pt2pt compared with a plain C version of OSU's patterns: same MPI, same cpus, interleaved launches.

    python bench/pt2pt_ratio.py [MPI] [--blocks 10]

The peer is `pt2pt_reference.c`, compiled with the MPI's own compiler. Each block launches both once for every
question, in random order. Prints ratios of launches of one block: median and range. 1 means that both find the
same. The peer prints means, like OSU's programs: other processes affect them, so compare on a quiet machine. A
virtual machine moves its cores between two states: single ratios may be far off.

What a library did before counts, too. MPICH passes messages of a node through buffers of UCX; those that the
receiver does not yet expect leave the buffers in another order. The plain program begins with fresh ones, ours
after the messages of its harness. So windows of the plain program are also measured after such messages: its
ratio to itself shows how much of a difference is the library's.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from bench.mpi.peers import SEED, output, placed, print_ratios, program, records, reference

from assay import toolchain

#: Pattern -> number of the peer's calls, and compared sizes.
_QUESTIONS = {
    "latency": ("blocking", (1, 8, 64, 4096)),
    "bandwidth": ("nonblocking", (8, 4096, 65536, 1 << 20)),
}
#: Unexpected messages before the first window: half of a window.
_EARLIER = 32
_CURVE = tuple(2**power for power in range(23))
_CURVE_S = 0.1  #: most seconds of a point of the curve
Launch = Callable[[str, Sequence[int]], dict[int, float]]


def _reference(launcher: Sequence[str], plain: Path, cpus: Sequence[int], earlier: int = 0) -> Launch:
    def measure(pattern: str, sizes: Sequence[int]) -> dict[int, float]:
        found: dict[int, float] = {}
        ranges = [(sizes[0], sizes[-1])] if sizes == _CURVE else [(size, size) for size in sizes]
        for first, last in ranges:
            text = output([*launcher, str(plain), pattern, str(first), str(last), *map(str, (*cpus, earlier))])
            found |= {int(line.split()[0]): float(line.split()[1]) for line in text.splitlines()}
        return found

    return measure


def _ours(launcher: Sequence[str], own: Path, cpus: Sequence[int], sampling: Sequence[str]) -> Launch:
    def measure(pattern: str, sizes: Sequence[int]) -> dict[int, float]:
        calls, _ = _QUESTIONS[pattern]
        axes = ["--pattern", pattern, "--calls", calls, "--alignment", "4096", *sampling]
        cases = [word for size in sizes for word in ("--case", str(size), f"--bytes={size}")]
        text = output([*launcher, str(own), *placed(cpus), *axes, *cases])
        found: dict[int, float] = {}
        size, messages = 0, 1.0
        for record in records(text):
            if record["type"] == "header":
                size, messages = int(record["case"]), record["work"]["message"]["messages"]
            elif record["type"] == "series" and record["phase"] == "measured":
                found[size] = statistics.median(record["seconds"]) / record["iterations"] / messages
        return found

    return measure


def _compare(both: dict[str, Launch], later: Launch, blocks: int, order: random.Random) -> None:
    questions = [(pattern, size) for pattern, (_, sizes) in _QUESTIONS.items() for size in sizes]
    found: dict[tuple[str, str, int], list[float]] = {}
    for _ in range(blocks):
        for pattern, size in order.sample(questions, len(questions)):
            launches = both | ({"later": later} if pattern == "bandwidth" else {})
            for name in order.sample(list(launches), len(launches)):
                found.setdefault((name, pattern, size), []).append(launches[name](pattern, (size,))[size])
    for pattern, size in questions:
        ours, plain = found["ours", pattern, size], found["plain", pattern, size]
        pairs = list(zip(ours, plain, strict=True))
        own = statistics.median(ours)
        if pattern == "latency":
            print_ratios(f"latency {size} B", [a / b for a, b in pairs], f"  ours {1e6 * own:.3f} us")
        else:
            rate = f"  ours {size / own / 1e9:.3g} GB/s, {1e-6 / own:.3g} M messages/s"
            print_ratios(f"bandwidth and rate {size} B", [b / a for a, b in pairs], rate)
            itself = zip(plain, found["later", pattern, size], strict=True)
            print_ratios("  plain after others / plain", [a / b for a, b in itself])


def _time_curves(both: dict[str, Launch], blocks: int) -> None:
    times: dict[tuple[str, str], list[float]] = {}
    for _ in range(blocks):
        for pattern in _QUESTIONS:
            for name, measure in both.items():
                begin = time.perf_counter()
                measure(pattern, _CURVE)
                times.setdefault((name, pattern), []).append(time.perf_counter() - begin)
    for pattern in _QUESTIONS:
        ours, plain = times["ours", pattern], times["plain", pattern]
        remark = f"  ours {statistics.median(ours):.2f} s, the plain sweep {statistics.median(plain):.2f} s"
        print_ratios(
            f"wall time, {len(_CURVE)} sizes, {pattern}", [a / b for a, b in zip(ours, plain, strict=True)], remark
        )
    whole = {
        name: [sum(pair) for pair in zip(*(times[name, each] for each in _QUESTIONS), strict=True)]
        for name in both
    }
    print_ratios("wall time of both curves", [a / b for a, b in zip(whole["ours"], whole["plain"], strict=True)])


def main() -> None:
    """Compare latency, bandwidth and rate, then the time of whole curves."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mpi", nargs="?", default="", help="as `assay list mpis` names it; by default the first")
    parser.add_argument("--blocks", type=int, default=10)
    options = parser.parse_args()
    cpus = sorted(os.sched_getaffinity(0))[:2]
    mpi = toolchain.get_mpi(options.mpi)
    own = program(mpi, "pt2pt")
    launcher = [mpi.launcher, "-n", "2"]
    with tempfile.TemporaryDirectory() as folder:
        peer = reference(mpi, "pt2pt_reference.c", Path(folder))
        plain, later = (_reference(launcher, peer, cpus, earlier) for earlier in (0, _EARLIER))
        print(
            f"{mpi.name}, cpus {cpus}, {options.blocks} blocks: ours / plain, of rates too, median [least, most]"
        )
        both = {"ours": _ours(launcher, own, cpus, ("--seconds", "0.5")), "plain": plain}
        _compare(both, later, options.blocks, random.Random(SEED))  # noqa: S311 - the order of launches, no secret
        both["ours"] = _ours(launcher, own, cpus, ("--seconds", str(_CURVE_S)))
        _time_curves(both, max(1, options.blocks // 3))


if __name__ == "__main__":
    main()
