"""The interface for progress reports of a run."""

from typing import Protocol

import msgspec

from assay.model.plan import PlannedLaunch
from assay.model.record import Launch
from assay.model.run import LaunchRecords


class Progress(msgspec.Struct, frozen=True):
    """How far a run is.

    Attributes:
        made: launches that were measured.
        planned: those, and the ones that are still to be measured.
        cut: launches of the plan that will not be made: the budget has no time for them, or their cases failed.
        left_s: estimate of the seconds that are left.
    """

    made: int
    planned: int
    cut: int
    left_s: float


class Watcher(Protocol):
    """Is told before and after each launch; it must not take long."""

    def begins(self, launch: PlannedLaunch, attempt: int, progress: Progress) -> None:
        """The launch is about to start."""

    def waits(self, disturbed: Launch) -> None:
        """Other processes disturbed a launch: it is made again as soon as they use little."""

    def ended(self, launch: LaunchRecords, progress: Progress) -> None:
        """The launch is committed."""
