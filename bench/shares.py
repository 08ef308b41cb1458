"""Whether any figure of a run exceeds 102 % of a ceiling: then the ceiling would be wrong.

Reads what `assay show RUN --json` prints: limits of estimates that are no reference, and the roofs of kernels.
Exits 1 if any share is larger. Without runs, it reads the packed ones of the repository.

    python bench/shares.py [RUN ...]
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

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


def main() -> int:
    """Print the largest share of each run, and every share that is too large."""
    packed = sorted([*(ROOT / "tests" / "runs").glob("*.tar.xz"), *(ROOT / "docs" / "gallery").glob("*.tar.xz")])
    wrong = 0
    for run in sys.argv[1:] or map(str, packed):
        shown = subprocess.run(
            [sys.executable, "-m", "assay", "show", run, "--json"], check=True, capture_output=True, text=True
        )
        found = sorted(shares(json.loads(shown.stdout)), key=lambda each: -each[1])
        above = [each for each in found if each[1] > MOST]
        wrong += len(above)
        print(f"{Path(run).name}: {len(found)} shares, the largest {found[0][1] if found else 0:.3f}")
        for name, share in above:
            print(f"  {share:.3f}  {name}")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
