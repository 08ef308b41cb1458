"""The interface for progress reports of a run."""

from typing import Protocol

import msgspec

from assay.model.plan import PlannedLaunch
from assay.model.record import Launch
from assay.model.run import LaunchRecords


class Progress(msgspec.Struct, frozen=True):
    """Progress of a run.

    Attributes:
        made: launches that were made.
        planned: launches that were made or will be made.
        cut: launches of the plan that will not be made: the budget has no time for them, or their cases failed.
        left_s: estimate of the remaining seconds.
        elapsed_s: seconds used so far, over all parts of the run.
    """

    made: int
    planned: int
    cut: int
    left_s: float
    elapsed_s: float


class Watcher(Protocol):
    """Receives a call before and after each launch; calls must be short."""

    def begins(self, launch: PlannedLaunch, attempt: int, progress: Progress) -> None:
        """The launch is about to start."""

    def waits(self, disturbed: Launch) -> None:
        """Other processes disturbed a launch: it is repeated as soon as they use little cpu time."""

    def ended(self, launch: LaunchRecords, progress: Progress) -> None:
        """The launch is committed."""
