"""Whether runs keep what Assay promises: time where it counts, enough samples, intervals, limits that hold.

Reads what `assay show RUN --json` prints, and the samples of the run. Prints for each run:

- complete figures with an interval;
- its seconds, and the share of them in which programs sampled;
- the shortest time that a case got whose sampling ended for lack of time (20 ms are promised);
- series of samples that are shorter than promised;
- the seconds of fixed work on each host that tell how quiet the machine was (1 s is promised);
- the largest share of a ceiling that a figure or the roof of a kernel reaches.

Exits 1 if a share is above 1.02: then the ceiling is wrong. Without runs, it reads the packed ones of the
repository, which earlier versions made.

    python bench/promises.py [RUN ...]
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from assay import store
from assay.model.run import Run
from assay.model.samples import PHASES, STOPS, table_of

ROOT = Path(__file__).parents[1]
MOST = 1.02


def shares(document: dict[str, Any]) -> Iterator[tuple[str, float]]:
    """Shares of ceilings that figures reach, and of roofs that kernels reach: id and share."""
    for each in document["estimates"]:
        limit, value = each["limit"], each["value"]
        if limit and value and not limit["reference"] and limit["value"] and value["value"]:
            share = value["value"] / limit["value"]
            yield each["id"], share if each["better"] == "higher" else 1 / share
    for model in document["models"]:
        if model["type"] == "roofline":
            yield from ((f"{model['id']}: {point['estimate']}", point["ratio"]) for point in model["points"])


def sampling(run: Run) -> Iterator[tuple[float, bool]]:
    """Seconds of all samples of each case and launch, and whether a lack of time ended them."""
    for case in (case for launch in run.launches for case in launch.cases if case.header.case != "sentinel"):
        table = table_of(case.series)
        measured = table.phase == PHASES.index("measured")
        if measured.any():
            ranks = max(1, len(set(table.rank.tolist())))
            yield float(table.seconds.sum()) / ranks, bool((table.stop[measured] == STOPS.index("time")).any())


def told(document: dict[str, Any], run: Run) -> str:
    """One line of a run, without its shares."""
    complete = [each for each in document["estimates"] if each["status"] == "complete" and each["value"]]
    having = sum(each["value"]["basis"] == "interval" for each in complete)
    effort, noise = document["effort"], document["noise"]
    sampled = list(sampling(run))
    words = [f"{having} of {len(complete)} figures have an interval"]
    if effort and effort["elapsed_s"]:
        share = sum(seconds for seconds, _ in sampled) / effort["elapsed_s"]
        words.append(f"{effort['elapsed_s']:.0f} s, {100 * share:.0f} % of them sampling")
    if ended := [seconds for seconds, by_time in sampled if by_time]:
        words.append(f"{len(ended)} of {len(sampled)} ended by time, the shortest after {1e3 * min(ended):.0f} ms")
    if effort:
        words.append(f"{effort['short']} of {effort['series']} series short of {effort['promised']} samples")
    hosts = {host for case in run.plan.cases if case.role == "sentinel" for host in case.placement.hosts}
    words.append(f"fixed work for {noise['probed_s'] / max(1, len(hosts)):.2f} s")
    return ", ".join(words)


def main() -> int:
    """Print a line for each run, its largest share, and every share that is too large."""
    packed = sorted([*(ROOT / "tests" / "runs").glob("*.tar.xz"), *(ROOT / "docs" / "gallery").glob("*.tar.xz")])
    wrong = 0
    for name in sys.argv[1:] or map(str, packed):
        command = [sys.executable, "-m", "assay", "show", name, "--json"]
        document = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        found = sorted(shares(document), key=lambda each: -each[1])
        above = [each for each in found if each[1] > MOST]
        wrong += len(above)
        print(f"{Path(name).name}: {told(document, store.load(store.find(name)))}")
        print(f"  {len(found)} shares, the largest {found[0][1] if found else 0:.3f}")
        for figure, share in above:
            print(f"  {share:.3f}  {figure}")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
