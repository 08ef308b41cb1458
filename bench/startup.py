"""How long the command line takes to answer, as ratios to `import numpy`, all measured in this one call.

Usage: bench/startup.py [RUN]. Commands are started in turn, so that drift of the machine affects all equally;
prints medians of wall time and CPU time. With a RUN (`last`), showing it and its report are measured too. Each
command is measured twice: as it is, and where Python may not write bytecode, as in a container that is only read:
there it has what the set-up compiled.
"""

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROUNDS = 20
ASSAY = str(Path(sys.prefix) / "bin" / "assay")
BASE = "python -c 'import numpy'"
_FORBIDS = "PYTHONDONTWRITEBYTECODE"
Times = list[tuple[float, float]]
#: Name of a command, and whether bytecode may be written.
Kind = tuple[str, bool]


def main() -> None:
    """Measure and print a table."""
    with tempfile.TemporaryDirectory() as folder:
        commands = {
            "python -c pass": [sys.executable, "-c", "pass"],
            BASE: [sys.executable, "-c", "import numpy"],
            "assay --version": [ASSAY, "--version"],
            "assay --help": [ASSAY, "--help"],
            "assay run --help": [ASSAY, "run", "--help"],
            "assay plan node": [ASSAY, "plan", "node"],
            "assay doctor": [ASSAY, "doctor"],
        }
        for run in sys.argv[1:2]:
            commands["assay show RUN"] = [ASSAY, "show", run]
            commands["assay report RUN"] = [ASSAY, "report", run, "-o", str(Path(folder) / "page.html")]
        times = measure(commands)
    medians = {kind: tuple(map(statistics.median, zip(*taken, strict=True))) for kind, taken in times.items()}
    wall_of_base, cpus_of_base = medians[BASE, True]
    print(f"medians of {ROUNDS}; base: numpy; read only: Python may not write bytecode")
    print(f"{'command':26} {'ms':>6} {'ratio':>6} {'cpu ms':>7} {'ratio':>6}   read only: {'ms':>6} {'ratio':>6}")
    for name in commands:
        (wall, cpus), (kept_wall, _) = medians[name, True], medians[name, False]
        ratios = wall / wall_of_base, cpus / cpus_of_base, kept_wall / wall_of_base
        print(
            f"{name:26} {1000 * wall:6.0f} {ratios[0]:6.2f} {1000 * cpus:7.0f} {ratios[1]:6.2f}"
            f"              {1000 * kept_wall:6.0f} {ratios[2]:6.2f}"
        )


def measure(commands: dict[str, list[str]]) -> dict[Kind, Times]:
    """Wall time and CPU time, in seconds, of each command, started in turn; the first round is a warm-up."""
    kept = {name: value for name, value in os.environ.items() if name != _FORBIDS}
    times: dict[Kind, Times] = {(name, writes): [] for name in commands for writes in (True, False)}
    for turn in range(ROUNDS + 1):
        for (name, writes), taken in times.items():
            environment = kept if writes else kept | {_FORBIDS: "1"}
            start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run(commands[name], check=name != "assay doctor", capture_output=True, env=environment)
            wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
            if turn:
                cpus = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
                taken.append((wall, cpus))
    return times


if __name__ == "__main__":
    main()
