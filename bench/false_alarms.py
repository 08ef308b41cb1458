"""How often the rules accuse a healthy machine: simulated runs with nothing wrong. Prints a table.

Run as `python bench/false_alarms.py [RUNS]` from the root of the tree (1,000 runs by default): it uses the
simulated machine of the tests. `write_allocate` does not count: its law holds there, so it is right to speak.
"""

import sys
import tempfile
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.simulation import simulated_run

from assay import store
from assay.analyse import analyse
from assay.launch.simulated import Law
from assay.model.plan import Measure, Study
from assay.plan import Options

_RUNS = 1000
_MACHINE = "pack:2 numa:1(memory=8GB) l3:1(size=8MB) l2:4(size=512kB) l1:1(size=32kB) core:1 pu:2"
#: Remote memory costs little, no page table is walked, threads of a core share it fairly, and noise is .5 %.
_HEALTHY = Law(core_traffic=30e9, node_traffic=60e9, remote=0.9, remote_load=1.15, noise=0.004, launch_noise=0.003)
_STUDY = Study(
    "A healthy machine",
    "Is it left alone?",
    (
        Measure("stream", ("all", "half", "all-threads"), axes={"stores": "non-temporal"}),
        Measure("stream", ("all:numa:*",), memory=("bind:*",)),
        Measure("latency", ("one-core",), axes={"bytes": 2**26, "pages": ("small", "huge")}),
        Measure("latency", ("one-core:numa:*",), memory=("bind:*",), axes={"bytes": 2**26, "pages": "small"}),
        Measure("himeno", ("all",), axes={"size": "M"}),
        Measure("core_to_core", tuple(f"pair:{2 * a}-{2 * b}" for a in range(8) for b in range(a + 1, 8))),
    ),
)
_LAUNCHES = (3, 6)
_RIGHT = {"write_allocate"}


def main() -> None:
    """Count runs with a problem, or an advice that has no ground, for 3 and for 6 launches."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else _RUNS
    for launches in _LAUNCHES:
        problems, advice, rules = 0, 0, Counter[str]()
        for seed in range(runs):
            accused = {each for each in _accusations(launches, seed) if each[0] not in _RIGHT}
            rules.update({rule for rule, _ in accused})
            problems += any(severity == "problem" for _, severity in accused)
            advice += any(severity == "advice" for _, severity in accused)
        print(
            f"{launches} launches, {runs} healthy runs: a problem in {100 * problems / runs:.1f} %, "
            f"an advice in {100 * advice / runs:.1f} %; by rule: {dict(rules) or 'none'}"
        )


def _accusations(launches: int, seed: int) -> set[tuple[str, str]]:
    with tempfile.TemporaryDirectory() as folder:
        options = Options(seed=seed, launches=launches)
        path = simulated_run(
            Path(folder), _HEALTHY, description=_MACHINE, study=_STUDY, options=options, seed=seed
        )
        analysis = analyse(store.load(path))
    found = (each for each in analysis.findings if each.status != "not assessed")
    return {(each.rule, each.severity) for each in found if each.severity != "fact"}


if __name__ == "__main__":
    main()
