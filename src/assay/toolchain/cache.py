"""The user's cache of builds and of their own MPIs."""

import os
from pathlib import Path

import platformdirs


def cache_folder() -> Path:
    """`$ASSAY_CACHE`, else the user's cache folder."""
    chosen = os.environ.get("ASSAY_CACHE")
    return Path(chosen).expanduser().resolve() if chosen else Path(platformdirs.user_cache_dir("assay"))


def builds_folder() -> Path:
    """The folder `builds` in the cache."""
    return cache_folder() / "builds"
