"""States of the machine, from the brackets: the host of a virtual machine moves its cores near and far."""

import math
from collections import Counter

from assay.model.bracket import Bracket
from assay.model.run import Run

#: Two groups of hand-over times are two states if a gap of this factor is between them ...
FACTOR = 1.5
#: ... and this number of launches or more stayed in each: a single one may be chance.
_FEWEST = 2

NEAR, FAR, UNSETTLED = "near", "far", "unsettled"


def border(run: Run) -> float | None:
    """Return the hand-over time, in seconds, between near and far; None if the probes show one state.

    The border is in the widest gap (as a factor) between the medians of all probes, before and after launches.
    Launches must stay in a state: a probe that was delayed once is no state.
    """
    brackets = [launch.launch.bracket for launch in run.launches]
    probes = sorted(probe.median_s for each in brackets for probe in each.probes if probe.median_s > 0)
    splits = range(_FEWEST, len(probes) - _FEWEST + 1)
    split = max(splits, key=lambda at: probes[at] / probes[at - 1], default=None)
    if split is None or probes[split] / probes[split - 1] < FACTOR:
        return None
    between = math.sqrt(probes[split] * probes[split - 1])
    stayed = Counter(state(bracket, between) for bracket in brackets)
    return between if min(stayed[NEAR], stayed[FAR]) >= _FEWEST else None


def state(bracket: Bracket, between: float | None) -> str | None:
    """Return `near` or `far`; `unsettled` if both probes disagree; None without probes or border."""
    if between is None or not bracket.probes:
        return None
    far = {probe.median_s > between for probe in bracket.probes}
    if len(far) > 1:
        return UNSETTLED
    return FAR if far.pop() else NEAR
