"""The number of series with the promised samples, and the time that was spent."""

from collections.abc import Mapping, Sequence

from assay.analyse.joint import MEAN, SOLVED
from assay.analyse.launches import CaseAttempt
from assay.model.result import Effort, TimeSpent
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
        time=time_spent(run),
        grown_s=max(0.0, beyond_s),
        grows=run.plan.grows,
    )


def time_spent(run: Run) -> TimeSpent | None:
    """The parts of the time of a run, experiments included; None if its records do not have them all."""
    ending, made = run.ending, [each.launch for each in run.made]
    engine = [each.engine_s for each in made if each.engine_s is not None]
    if ending is None or len(engine) < len(made):
        return None
    sampled_s = sum(each.sampled_s for each in made)
    programs_s = sum(each.bracket.elapsed_s for each in made)
    return TimeSpent(
        sampled_s=sampled_s,
        setup_s=run.plan.prepared_s + programs_s - sampled_s + ending.unfinished_s,
        probes_s=sum(each.probes_s for each in made),
        waited_s=sum(each.waited_s for each in made) + ending.waited_s,
        engine_s=sum(engine) + ending.engine_s,
    )
