"""States of the machine that the brackets show: on a virtual machine the host moves cores near and far unseen."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence

from assay.model.record import Bracket
from assay.model.run import Run

#: Groups of hand-over times are two states when a gap of this factor lies between them ...
_FACTOR = 1.5
#: ... and so many launches stayed in each: a single one may be chance.
_FEWEST = 2
#: A state explains the modes of a case when its launches differ by more than this from those of the other ...
_EXPLAINS = 0.02
#: ... but two launches so far apart are no rarity: with fewer than so many on either side ...
_CERTAIN = 3
#: ... only a gap counts that launches of one state seldom make by chance: 3 % noise (standard deviation) makes it
#: between one launch and one other in 2 of 100,000 cases, 5 % noise in 1 of 100.
_PLAIN = 0.20

NEAR, FAR, UNSETTLED = "near", "far", "unsettled"


def border(run: Run) -> float | None:
    """The hand-over time, in seconds, between near and far; None when the probes show one state.

    The border lies in the widest gap (as a factor) between the medians of all probes, before and after launches. A
    state is one that launches stayed in: a probe that was held up once is none.
    """
    brackets = [launch.launch.bracket for launch in run.launches]
    probes = sorted(
        probe.median_s
        for bracket in brackets
        for probe in (bracket.before, bracket.after)
        if probe is not None and probe.median_s > 0
    )
    splits = range(_FEWEST, len(probes) - _FEWEST + 1)
    split = max(splits, key=lambda at: probes[at] / probes[at - 1], default=None)
    if split is None or probes[split] / probes[split - 1] < _FACTOR:
        return None
    between = math.sqrt(probes[split] * probes[split - 1])
    stayed = Counter(state(bracket, between) for bracket in brackets)
    return between if min(stayed[NEAR], stayed[FAR]) >= _FEWEST else None


def state(bracket: Bracket, between: float | None) -> str | None:
    """`near` or `far`; `unsettled` when the probes before and after disagree; None without probes or border."""
    probes = [probe.median_s for probe in (bracket.before, bracket.after) if probe is not None]
    if between is None or not probes:
        return None
    far = {probe > between for probe in probes}
    if len(far) > 1:
        return UNSETTLED
    return FAR if far.pop() else NEAR


def explain(medians: Mapping[str | None, Sequence[float]]) -> bool:
    """Whether states explain the launches' medians: near and far never overlap, and a gap lies between them.

    The gap is 2 % where both states have three launches, else 20 %.
    """
    near, far = medians.get(NEAR), medians.get(FAR)
    if not near or not far:
        return False
    gap = 1 + (_EXPLAINS if min(len(near), len(far)) >= _CERTAIN else _PLAIN)
    return max(near) * gap < min(far) or max(far) * gap < min(near)
