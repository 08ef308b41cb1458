"""The folders of a user: runs, and the cache of builds."""

import os
from pathlib import Path


def runs_folder() -> Path:
    """`$ASSAY_RUNS`, else `./assay-runs`. It need not exist."""
    return Path(os.environ.get("ASSAY_RUNS") or "assay-runs")


def cache_folder() -> Path:
    """`$ASSAY_CACHE`, else the user's cache folder."""
    import platformdirs  # noqa: PLC0415 (runs do not need it)

    chosen = os.environ.get("ASSAY_CACHE")
    return Path(chosen).expanduser().resolve() if chosen else Path(platformdirs.user_cache_dir("assay"))


def builds_folder() -> Path:
    """The folder `builds` in the cache."""
    return cache_folder() / "builds"
