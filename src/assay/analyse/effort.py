"""The number of series with the promised samples, and the time that was spent."""

from collections.abc import Mapping, Sequence

from assay.analyse.joint import MEAN, SOLVED
from assay.analyse.launches import CaseAttempt
from assay.model.result import Effort
from assay.model.run import Run


def effort(run: Run, attempts: Mapping[str, Sequence[CaseAttempt]]) -> Effort:
    """Count series in the records, not in the plan. Programs that solve one problem once promise no samples."""
    counts = [
        sampled.seconds.size
        for case in run.plan.cases
        if case.role != "sentinel"
        for attempt in attempts[case.id]
        for (_, over), sampled in attempt.sampled.items()
        if over != MEAN and sampled.stop != SOLVED  # the mean has the same samples as the slowest
    ]
    budget_s, study_s = run.plan.budget_s, run.study_s
    beyond_s = study_s - budget_s if budget_s is not None and study_s is not None else 0.0
    return Effort(
        series=len(counts),
        short=sum(count < run.plan.min_samples for count in counts),
        promised=run.plan.min_samples,
        budget_s=budget_s,
        elapsed_s=run.ending.elapsed_s if run.ending else None,
        grown_s=max(0.0, beyond_s),
        grows=run.plan.grows,
    )
