"""Execute a plan: probes around every launch, checks of every record, everything saved immediately."""

from assay.run.engine import execute
from assay.run.watcher import Progress, Watcher

__all__ = ["Progress", "Watcher", "execute"]
