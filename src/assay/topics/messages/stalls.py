"""Waits of about 40 or 200 ms, caused by timers of TCP, in messages that should take far less time."""

from typing import NamedTuple

import numpy as np

from assay.analyse.statistics import Samples, quantiles
from assay.model.text import Text, text


class Timer(NamedTuple):
    """A timer of TCP, and the range of waits, in s, that it causes."""

    milliseconds: int
    least: float
    most: float
    cause: Text

    @property
    def seconds(self) -> float:
        """Its time in seconds."""
        return self.milliseconds / 1000


#: An acknowledgement delayed by 40 ms (Linux; RFC 1122 allows 500), and the least time until a lost segment is
#: sent again, 200 ms (Linux; RFC 6298).
TIMERS = (
    Timer(40, 0.036, 0.050, text("a delayed acknowledgement for which Nagle's algorithm waits (no TCP_NODELAY)")),
    Timer(200, 0.190, 0.230, text("a lost segment that is sent again after its timer")),
)
_LEAST = min(timer.least for timer in TIMERS)
#: Samples without a wait take at most this share of it.
_SHORT = 0.5
#: Share of the samples below the time that counts as quiet.
_QUIET = 0.1


def waits(seconds: Samples, iterations: int) -> dict[Timer, float]:
    """Timer -> share of the samples with its wait: once, in addition to the quiet time, or in each iteration.

    Args:
        seconds: duration of each sample.
        iterations: iterations of a sample.
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
