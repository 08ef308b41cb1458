"""How long the command line takes to answer, as ratios to Python itself, all measured in this one call.

Usage: bench/startup.py [RUN]. Commands are started in turn, so that drift of the machine falls on all alike;
medians of wall time. With a RUN (`last`), showing it is measured too.
"""

import statistics
import subprocess
import sys
import time
from pathlib import Path

ROUNDS = 30
ASSAY = str(Path(sys.prefix) / "bin" / "assay")


def main() -> None:
    """Measure and print a table."""
    commands = {
        "python -c pass": [sys.executable, "-c", "pass"],
        "assay --version": [ASSAY, "--version"],
        "assay --help": [ASSAY, "--help"],
        "assay run --help": [ASSAY, "run", "--help"],
    }
    if sys.argv[1:]:
        commands[f"assay show {sys.argv[1]}"] = [ASSAY, "show", sys.argv[1]]
    medians = {name: statistics.median(times) for name, times in measure(commands).items()}
    base = medians["python -c pass"]
    print(f"{'command':24} {'ms':>8} {'ratio':>8}   (median of {ROUNDS}; base of the ratio: python -c pass)")
    for name, median in medians.items():
        print(f"{name:24} {1000 * median:8.0f} {median / base:8.1f}")


def measure(commands: dict[str, list[str]]) -> dict[str, list[float]]:
    """Wall times in seconds of each command, started in turn."""
    times: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(ROUNDS):
        for name, command in commands.items():
            start = time.perf_counter()
            subprocess.run(command, check=True, capture_output=True)
            times[name].append(time.perf_counter() - start)
    return times


if __name__ == "__main__":
    main()
