"""The time of the phases of a solution, step by step."""

from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from assay.analyse.statistics import Samples, medians
from assay.model.result import Estimate
from assay.model.run import Run

#: Most groups of steps; a solution with more steps has groups of several.
_MOST = 48


class StepGroup(NamedTuple):
    """Some steps together.

    Attributes:
        first: number of the first one, from 1.
        last: number of the last one.
        seconds: phase -> seconds of these steps, median of the solutions.
        shares: phase -> share in the time of these steps: median, minimum and maximum of the solutions.
    """

    first: int
    last: int
    seconds: Mapping[str, float]
    shares: Mapping[str, tuple[float, float, float]]


def steps(run: Run, estimate: Estimate) -> tuple[StepGroup, ...]:
    """Return the steps of the solutions of an estimate; none where its program records no steps."""
    found = list(_solutions(run, estimate.case))
    if not found:
        return ()
    phases = list(found[0])
    count = len(found[0][phases[0]])
    edges = np.linspace(0, count, min(count, _MOST) + 1).astype(int)
    by_step = np.array([[each[phase] for phase in phases] for each in found])
    seconds = np.add.reduceat(by_step, edges[:-1], axis=2)
    shares = seconds / np.maximum(seconds.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    return tuple(
        StepGroup(
            int(begin) + 1,
            int(end),
            {phase: float(medians(seconds[:, row, at])) for row, phase in enumerate(phases)},
            {phase: _with_ends(shares[:, row, at]) for row, phase in enumerate(phases)},
        )
        for at, (begin, end) in enumerate(pairwise(edges))
    )


def numbers_of(run: Run, case: str, phase: str) -> tuple[int, ...]:
    """Return the different numbers of steps of a phase in the solutions of a case, without warm-ups, ascending."""
    return tuple(sorted({len(found[phase]) for found in _solutions(run, case) if phase in found}))


def _with_ends(values: Samples) -> tuple[float, float, float]:
    return float(medians(values)), float(values.min()), float(values.max())


def _solutions(run: Run, case: str) -> Iterable[Mapping[str, Samples]]:
    """Yield the seconds of the steps of each phase, for each solution of a case, without warm-ups."""
    for launch in run.launches:
        for records in launch.cases:
            if records.header.case == case:
                for figure in records.figures:
                    if figure.steps and not figure.warmup:
                        yield {phase: np.array(seconds) for phase, seconds in figure.steps.items()}
