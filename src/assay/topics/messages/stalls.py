"""Waits of about 40 or 200 ms, which timers of TCP leave in times that should be far shorter."""

from typing import NamedTuple

import numpy as np

from assay.analyse.statistics import Samples, quantiles
from assay.model.text import Text, text


class Timer(NamedTuple):
    """A timer of TCP, and between which seconds the waits lie that it ends."""

    milliseconds: int
    least: float
    most: float
    cause: Text

    @property
    def seconds(self) -> float:
        """Its own time."""
        return self.milliseconds / 1000


#: An acknowledgement that is held back 40 ms (Linux; RFC 1122 allows 500), the least time until a lost segment is
#: sent again, 200 ms (Linux; RFC 6298).
TIMERS = (
    Timer(40, 0.036, 0.050, text("a delayed acknowledgement for which Nagle's algorithm waits (no TCP_NODELAY)")),
    Timer(200, 0.190, 0.230, text("a lost segment that is sent again after its timer")),
)
_LEAST = min(timer.least for timer in TIMERS)
#: What a wait is added to lasts this share of it at most.
_SHORT = 0.5
#: Share of samples that are no faster.
_QUIET = 0.1


def waits(seconds: Samples, iterations: int) -> dict[Timer, float]:
    """Timer -> share of the samples that hold it: one, beyond what the quiet ones last, or one in each iteration.

    Args:
        seconds: of each sample.
        iterations: of a sample.
    """
    if seconds.max() < _LEAST:  # nearly all of them: nothing is as long as the shortest wait
        return dict.fromkeys(TIMERS, 0.0)
    (quiet,) = quantiles(seconds, (_QUIET,))
    found = {}
    for timer in TIMERS:
        beyond, each = seconds - quiet, seconds / iterations
        once = (beyond >= timer.least) & (beyond <= timer.most) & (quiet <= _SHORT * timer.seconds)
        found[timer] = float(np.mean(once | ((each >= timer.least) & (each <= timer.most))))
    return found
