"""Waits of about 40 or 200 ms, which timers of TCP leave in times that should be far shorter."""

import numpy as np

from assay.analyse.statistics import Samples, quantiles

#: Where such a wait ends: an acknowledgement that is held back 40 ms (Linux; RFC 1122 allows 500), the least time
#: until a lost segment is sent again, 200 ms (Linux; RFC 6298). Least and most seconds, the timer's own first.
BANDS = {0.04: (0.036, 0.050), 0.2: (0.190, 0.230)}
_LEAST = min(least for least, _ in BANDS.values())
#: What a wait is added to lasts this share of it at most.
_SHORT = 0.5
#: Share of samples that are no faster.
_QUIET = 0.1


def waits(seconds: Samples, iterations: int) -> dict[float, float]:
    """Wait -> share of the samples that hold it: one, beyond what the quiet ones last, or one in each iteration.

    Args:
        seconds: of each sample.
        iterations: of a sample.
    """
    if seconds.max() < _LEAST:  # nearly all of them: nothing is as long as the shortest wait
        return dict.fromkeys(BANDS, 0.0)
    (quiet,) = quantiles(seconds, (_QUIET,))
    found = {}
    for wait, (least, most) in BANDS.items():
        beyond, each = seconds - quiet, seconds / iterations
        once = (beyond >= least) & (beyond <= most) & (quiet <= _SHORT * wait)
        found[wait] = float(np.mean(once | ((each >= least) & (each <= most))))
    return found
