"""The folder of runs."""

import os
from pathlib import Path


def runs_folder() -> Path:
    """`$ASSAY_RUNS`, else `./assay-runs`. It need not exist."""
    return Path(os.environ.get("ASSAY_RUNS") or "assay-runs")
