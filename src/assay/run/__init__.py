"""Executing a plan: every launch in its bracket, every record checked, everything saved at once."""

from assay.run.engine import execute
from assay.run.watcher import Progress, Watcher

__all__ = ["Progress", "Watcher", "execute"]
