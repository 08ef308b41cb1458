"""Measurements of experiments, separate from the study: neither uses figures of the other."""

import msgspec

from assay.analyse.estimates import Measured, measure
from assay.analyse.launches import yields
from assay.analyse.outcomes import outcomes
from assay.model.plan import Plan
from assay.model.run import Run


class Trial(msgspec.Struct, frozen=True):
    """One round of experiments.

    Attributes:
        plan: its own.
        measured: figures of its cases, each of the launches of its own blocks.
    """

    plan: Plan
    measured: tuple[Measured, ...]

    def figure(self, case: str, kernel: str, metric: str) -> Measured | None:
        """Return a figure of one of its cases, or None."""
        wanted = (case, kernel, metric)
        named = ((each, each.estimate) for each in self.measured)
        return next((each for each, e in named if (e.case, e.kernel, e.metric) == wanted and each.launches), None)


def trials(run: Run) -> tuple[Trial, ...]:
    """Return every round of experiments of a run, in order."""
    return tuple(_trial(run, plan) for plan in run.plan.trials)


def _trial(run: Run, plan: Plan) -> Trial:
    part = msgspec.structs.replace(run, plan=plan, launches=run.of(plan), trials=())
    attempts = yields(part, None)
    return Trial(plan, tuple(measure(part, attempts, outcomes(part, attempts))))
