"""How long the command line takes to answer, as ratios to `import numpy`, all measured in this one call.

Usage: bench/startup.py [RUN]. Commands are started in turn, so that drift of the machine affects all equally;
prints medians of wall time and CPU time. With a RUN (`last`), showing it is measured too. Bytecode of modules is
kept, as Python does unless it is forbidden.
"""

import os
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROUNDS = 30
ASSAY = str(Path(sys.prefix) / "bin" / "assay")
BASE = "python -c 'import numpy'"
Times = list[tuple[float, float]]


def main() -> None:
    """Measure and print a table."""
    commands = {
        "python -c pass": [sys.executable, "-c", "pass"],
        BASE: [sys.executable, "-c", "import numpy"],
        "assay --version": [ASSAY, "--version"],
        "assay --help": [ASSAY, "--help"],
        "assay run --help": [ASSAY, "run", "--help"],
        "assay doctor": [ASSAY, "doctor"],
    }
    if sys.argv[1:]:
        commands["assay show RUN"] = [ASSAY, "show", sys.argv[1]]
    medians = {
        name: tuple(statistics.median(each) for each in zip(*times, strict=True))
        for name, times in measure(commands).items()
    }
    wall_of_base, cpus_of_base = medians[BASE]
    print(f"{'command':26} {'ms':>6} {'ratio':>6} {'cpu ms':>7} {'ratio':>6}   (medians of {ROUNDS}; base: numpy)")
    for name, (wall, cpus) in medians.items():
        ratios = wall / wall_of_base, cpus / cpus_of_base
        print(f"{name:26} {1000 * wall:6.0f} {ratios[0]:6.2f} {1000 * cpus:7.0f} {ratios[1]:6.2f}")


def measure(commands: dict[str, list[str]]) -> dict[str, Times]:
    """Wall time and CPU time, in seconds, of each command, started in turn; the first round is a warm-up."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    times: dict[str, Times] = {name: [] for name in commands}
    for turn in range(ROUNDS + 1):
        for name, command in commands.items():
            start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run(command, check=name != "assay doctor", capture_output=True, env=kept)
            wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
            if turn:
                cpus = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
                times[name].append((wall, cpus))
    return times


if __name__ == "__main__":
    main()
