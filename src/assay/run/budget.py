"""How long each case may sample, and what has to be cut. Pure: the past and the plan in, seconds out.

Seconds in here are for scheduling only; none of them is ever a result.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from assay.model.plan import Plan, PlannedLaunch
from assay.model.record import Series
from assay.model.run import LaunchRecords

#: Most seconds of sampling of a case without a budget, as the native programs have it.
UNLIMITED_S = 2.0
#: Start and end of a process with its two probes, until a launch has told better.
_LAUNCH_S = 0.1
#: Sampling that makes a case worth its launch, until a launch has told better.
_LEAST_S = 0.02
#: A launch is made even when its samples will be fewer than wanted, down to this share of the time they need.
_POOR = 0.25
#: Set-up estimates may be wrong by this factor before we stop believing the correction.
_STRETCH = (0.2, 5.0)
_SHORTEST_S = 0.001


@dataclass(frozen=True)
class Experience:
    """What the launches so far have cost.

    Attributes:
        setup_s: case -> what the plan foresees before its first sample.
        stretch: case -> seconds beyond sampling of its last launch, over what was foreseen for that launch.
        span_s: case -> seconds of sampling in its last launch.
        least_s: case -> seconds in which it takes the fewest samples allowed.
        foreseen_s: sum of the overheads that were foreseen for these launches.
        real_s: sum of what they were.
    """

    setup_s: Mapping[str, float]
    stretch: Mapping[str, float] = field(default_factory=dict)
    span_s: Mapping[str, float] = field(default_factory=dict)
    least_s: Mapping[str, float] = field(default_factory=dict)
    foreseen_s: float = 0.0
    real_s: float = 0.0

    def after(
        self, plan: Plan, records: LaunchRecords, allowed: Mapping[str, float], wall_s: float
    ) -> "Experience":
        """With one more launch that took `wall_s`. One that broke off teaches nothing."""
        launch = records.launch
        if launch.exit_code is None or launch.exit_code < 0 or len(records.cases) < len(launch.cases):
            return self
        spans = {case.header.case: _span(case.series) for case in records.cases}
        # What a case samples beyond its time, because a single sample takes long, is overhead to the budget.
        overhead = wall_s - sum(min(span, allowed.get(case_id, span)) for case_id, span in spans.items())
        overhead = max(0.0, overhead)
        foreseen = self._foreseen(launch.cases)
        least = {case.header.case: _least(case.series, plan.min_samples) for case in records.cases}
        return Experience(
            self.setup_s,
            {**self.stretch, **dict.fromkeys(launch.cases, overhead / foreseen)},
            {**self.span_s, **spans},
            {**self.least_s, **least},
            self.foreseen_s + foreseen,
            self.real_s + overhead,
        )

    def overhead(self, launch: PlannedLaunch) -> float:
        """Seconds that a launch takes beyond sampling: as foreseen, corrected by what its cases took before.

        A case that has not run yet is corrected as all were together, within reason.
        """
        others = self.real_s / self.foreseen_s if self.foreseen_s else 1.0
        others = min(max(others, _STRETCH[0]), _STRETCH[1])
        start_s = _LAUNCH_S / len(launch.cases)
        return sum((start_s + self.setup_s[one]) * self.stretch.get(one, others) for one in launch.cases)

    def least(self, launch: PlannedLaunch) -> float:
        """Seconds of sampling that make a launch worth while."""
        return sum(self.least_of(case_id) for case_id in launch.cases)

    def least_of(self, case_id: str) -> float:
        """Seconds of sampling that make a case worth while."""
        return self.least_s.get(case_id, _LEAST_S)

    def _foreseen(self, case_ids: Sequence[str]) -> float:
        return _LAUNCH_S + sum(self.setup_s[case_id] for case_id in case_ids)


def inexperienced(plan: Plan) -> Experience:
    """Before the first launch: only what the plan foresees."""
    return Experience({case.id: case.setup_s for case in plan.cases})


def _span(series: Sequence[Series]) -> float:
    """First sample's start to the last one's end."""
    starts = [one.start_s[0] for one in series if one.start_s]
    ends = [one.start_s[-1] + one.seconds[-1] for one in series if one.start_s]
    return max(ends) - min(starts) if starts else 0.0


def _least(series: Sequence[Series], min_samples: int) -> float:
    seconds = 0.0
    for one in series:
        if one.rank == 0 and one.seconds:
            total = sum(one.seconds)
            seconds += total if one.phase == "warmup" else min_samples * total / len(one.seconds)
    return seconds


def allot(
    plan: Plan,
    remaining: Sequence[PlannedLaunch],
    left_s: float | None,
    measured: frozenset[str],
    experience: Experience,
) -> dict[str, float]:
    """Seconds of sampling for each case of the next launch; empty when the launch has to be cut.

    The seconds that are left are spread over the launches that remain.

    Every case gets what it needs for the fewest samples, and of the rest a share by its weight. Where that does
    not fit, later blocks are cut whole, last first; then launches of the block at hand: first those whose cases are
    measured already, then those that would be measured for the first time; the least important first.

    Args:
        plan: with weights and importance (the order of its cases).
        remaining: launches not made yet, at least one.
        left_s: of the budget; None without one.
        measured: cases that have a launch.
        experience: costs so far.
    """
    if left_s is None:
        return dict.fromkeys(remaining[0].cases, UNLIMITED_S)
    needs = [_Need(one, experience.overhead(one), experience.least(one)) for one in remaining]
    kept = _fitting(plan, needs, left_s, measured)
    if needs[0] not in kept:
        return {}
    sampling_s = max(0.0, left_s - sum(need.overhead_s for need in kept))
    least_s = sum(need.least_s for need in kept)
    weights = {case.id: case.weight for case in plan.cases}
    weight = sum(weights[case_id] for need in kept for case_id in need.launch.cases) or 1.0
    spare = max(0.0, sampling_s - least_s)
    scale = min(1.0, sampling_s / least_s) if least_s else 1.0
    return {
        case_id: max(_SHORTEST_S, scale * experience.least_of(case_id) + spare * weights[case_id] / weight)
        for case_id in remaining[0].cases
    }


def spare_s(remaining: Sequence[PlannedLaunch], left_s: float | None, experience: Experience) -> float:
    """Seconds that are left when every remaining launch takes only what it needs: what repeats may cost."""
    if left_s is None:
        return float("inf")
    return left_s - sum(experience.overhead(launch) + experience.least(launch) for launch in remaining)


def expected_s(plan: Plan, remaining: Sequence[PlannedLaunch], experience: Experience) -> float:
    """Estimate of the seconds that launches will take, for people who wait."""
    known = list(experience.span_s.values())
    typical = (
        sum(known) / len(known) if known else plan.estimate_s / max(1, sum(len(one.cases) for one in plan.order))
    )
    return sum(
        experience.overhead(launch) + sum(experience.span_s.get(case_id, typical) for case_id in launch.cases)
        for launch in remaining
    )


@dataclass(frozen=True)
class _Need:
    launch: PlannedLaunch
    overhead_s: float
    least_s: float


def _fitting(plan: Plan, needs: Sequence[_Need], left_s: float, measured: frozenset[str]) -> list[_Need]:
    kept = list(needs)
    block = kept[0].launch.block
    while kept[-1].launch.block != block and _sum(kept, 1.0) > left_s:
        last = kept[-1].launch.block
        kept = [need for need in kept if need.launch.block != last]
    if kept[-1].launch.block != block or _sum(kept, _POOR) <= left_s:
        return kept
    importance = {case.id: position for position, case in enumerate(plan.cases)}

    def dispensable(need: _Need) -> tuple[bool, int]:
        cases = need.launch.cases
        return measured.issuperset(cases), min(importance[case_id] for case_id in cases)

    cut = {id(need) for need in _least_dispensable_last(kept, left_s, dispensable)}
    return [need for need in kept if id(need) not in cut]


def _least_dispensable_last(
    needs: Sequence[_Need], left_s: float, dispensable: Callable[[_Need], tuple[bool, int]]
) -> list[_Need]:
    """The needs to be cut so that the others fit."""
    total, cut = _sum(needs, _POOR), []
    for need in sorted(needs, key=dispensable, reverse=True):
        if total <= left_s:
            break
        total -= _sum([need], _POOR)
        cut.append(need)
    return cut


def _sum(needs: Sequence[_Need], share: float) -> float:
    return sum(need.overhead_s + share * need.least_s for need in needs)
