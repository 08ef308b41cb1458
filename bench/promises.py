"""Whether runs keep what Assay promises: time where it counts, enough samples, intervals, limits that hold.

Reads what `assay show RUN --json` prints, and the samples of the run. Prints for each run:

- complete figures with an interval;
- its seconds, and the share of them in which programs sampled;
- the shortest time that the engine gave a case, calibration and sleeping included (20 ms are promised);
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
from assay.model.samples import table_of

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


def sampled_s(run: Run) -> float:
    """Seconds of all samples of the study, warm-up included."""
    cases = (case for launch in run.launches for case in launch.cases if case.header.case != "sentinel")
    tables = [table_of(case.series) for case in cases]
    return sum(float(table.seconds.sum()) / max(1, len(set(table.rank.tolist()))) for table in tables)


def given_s(run: Run) -> list[float]:
    """Seconds of each case and launch, as the engine gave them to the program."""
    argv = (launch.launch.argv for launch in run.launches)
    return [float(words[at + 1]) for words in argv for at, word in enumerate(words) if word == "--seconds"]


def told(document: dict[str, Any], run: Run) -> str:
    """One line of a run, without its shares."""
    complete = [each for each in document["estimates"] if each["status"] == "complete" and each["value"]]
    having = sum(each["value"]["basis"] == "interval" for each in complete)
    effort, noise = document["effort"], document["noise"]
    words = [f"{having} of {len(complete)} figures have an interval"]
    if effort and effort["elapsed_s"]:
        share = sampled_s(run) / effort["elapsed_s"]
        words.append(f"{effort['elapsed_s']:.0f} s, {100 * share:.0f} % of them sampling")
    if given := given_s(run):
        words.append(f"a case got {1e3 * min(given):.0f} ms or more")
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
