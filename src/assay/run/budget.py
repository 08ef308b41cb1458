"""How long each case may sample, and what has to be cut. Pure: the past and the plan in, seconds out.

Seconds in here are for scheduling only; none of them is ever a result.
"""

import dataclasses
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from assay.model.plan import Plan, PlannedLaunch
from assay.model.record import Series
from assay.model.run import LaunchRecords

#: Most seconds of sampling of a case without a budget, as the native programs have it.
UNLIMITED_S = 2.0
#: Start and end of a process with its two probes, until a launch has told better.
_LAUNCH_S = 0.1
#: Sampling that makes a case worth its launch, until a launch has told better. Less is not allotted: a launch of
#: a sample or two would count as much as one of many.
_LEAST_S = 0.02
#: Where launches have told, samples may be fewer than wanted, down to this share of the time they need.
_POOR = 0.25
#: Blocks that are kept as long as poor launches fit: so many give an interval, fewer only a range, however many
#: samples each has. A block beyond them must fit with the fewest samples wanted.
_CONFIDENT = 6
#: What is kept back for starts and set-ups that take longer than foreseen.
_MARGIN = 1.1
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
        foreseen_s: program -> sum of the overheads that were foreseen for its launches.
        real_s: program -> sum of what they were.
    """

    setup_s: Mapping[str, float]
    stretch: Mapping[str, float] = field(default_factory=dict)
    span_s: Mapping[str, float] = field(default_factory=dict)
    least_s: Mapping[str, float] = field(default_factory=dict)
    foreseen_s: Mapping[str, float] = field(default_factory=dict)
    real_s: Mapping[str, float] = field(default_factory=dict)

    def after(
        self, plan: Plan, records: LaunchRecords, allowed: Mapping[str, float], wall_s: float
    ) -> "Experience":
        """With one more launch that took `wall_s`. Of one that broke off, the cases that it finished teach."""
        launch = records.launch
        finished = [case for case in records.cases if case.series and case.end]
        spans = {case.header.case: _span(case.series) for case in finished}
        least = {case.header.case: _least(case.series, plan.min_samples) for case in finished}
        known = dataclasses.replace(self, span_s={**self.span_s, **spans}, least_s={**self.least_s, **least})
        if launch.exit_code is None or launch.exit_code < 0 or len(records.cases) < len(launch.cases):
            return known
        # What a case samples beyond its time, because a single sample takes long, is overhead to the budget.
        overhead = wall_s - sum(min(span, allowed.get(case_id, span)) for case_id, span in spans.items())
        overhead = max(0.0, overhead)
        foreseen = self._foreseen(launch.cases)
        return dataclasses.replace(
            known,
            stretch={**self.stretch, **dict.fromkeys(launch.cases, overhead / foreseen)},
            foreseen_s={**self.foreseen_s, launch.program: self.foreseen_s.get(launch.program, 0.0) + foreseen},
            real_s={**self.real_s, launch.program: self.real_s.get(launch.program, 0.0) + overhead},
        )

    def overhead(self, launch: PlannedLaunch) -> float:
        """Seconds that a launch takes beyond sampling."""
        return sum(self.overhead_of(launch, case_id) for case_id in launch.cases)

    def overhead_of(self, launch: PlannedLaunch, case_id: str) -> float:
        """A case's part of that: as foreseen, corrected by what its launch took before."""
        foreseen = _LAUNCH_S / len(launch.cases) + self.setup_s[case_id]
        return foreseen * self.stretch_of(launch.program, case_id)

    def stretch_of(self, program: str, case_id: str) -> float:
        """By what the overhead that is foreseen for a case is corrected.

        A case that has not run yet is corrected as all of its program were together, within reason.
        """
        stretch = self.stretch.get(case_id)
        if stretch is None:
            foreseen = self.foreseen_s.get(program)
            others = self.real_s[program] / foreseen if foreseen else 1.0
            stretch = min(max(others, _STRETCH[0]), _STRETCH[1])
        return stretch

    def least(self, launch: PlannedLaunch) -> float:
        """Seconds of sampling that make a launch worth while."""
        return sum(self.least_of(case_id) for case_id in launch.cases)

    def least_of(self, case_id: str) -> float:
        """Seconds of sampling in which a case takes the fewest samples allowed."""
        return max(_SHORTEST_S, self.least_s.get(case_id, _LEAST_S))

    def floor_of(self, case_id: str) -> float:
        """Seconds of sampling below which a case is not worth its launch."""
        return max(_SHORTEST_S, _POOR * self.least_s[case_id] if case_id in self.least_s else _LEAST_S)

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
    """Seconds of sampling for the cases of the next launch; a case that is missing has to be cut.

    The seconds that are left are spread over the launches that remain: every case gets what it needs for the
    fewest samples, and of the rest a share by its weight. Where that does not fit, later blocks are cut whole,
    last first; the first six, which give an interval, only where fewer samples do not make them fit. Then cases of
    the block at hand are cut: first those that are measured already, then those that would be measured for the
    first time; the least important first. A plan whose budget grows cuts none of the latter: where its launches
    take longer than foreseen, every case is measured once nevertheless.

    Args:
        plan: with weights and importance (the order of its cases).
        remaining: launches not made yet, at least one; the next one first.
        left_s: of the budget; None without one.
        measured: cases that have a launch.
        experience: costs so far.
    """
    following = remaining[0]
    shares = spread(plan, remaining, left_s, measured, experience)
    return {
        case_id: shares[following.id, case_id] for case_id in following.cases if (following.id, case_id) in shares
    }


def spread(
    plan: Plan,
    remaining: Sequence[PlannedLaunch],
    left_s: float | None,
    measured: frozenset[str],
    experience: Experience,
) -> dict[tuple[str, str], float]:
    """What `allot` gives to each case of each launch, as it looks now; (launch, case) -> seconds."""
    if left_s is None:
        return {(launch.id, case_id): UNLIMITED_S for launch in remaining for case_id in launch.cases}
    weights = {case.id: case.weight for case in plan.cases}
    kept = _fitting(plan, _needs(remaining, experience), left_s, measured)
    sampling_s = max(0.0, left_s - _MARGIN * sum(need.overhead_s for need in kept))
    floor_s, least_s = sum(need.floor_s for need in kept), sum(need.least_s for need in kept)
    weight = sum(weights[need.case] for need in kept) or 1.0
    spare = max(0.0, sampling_s - least_s)
    above = min(1.0, max(0.0, sampling_s - floor_s) / (least_s - floor_s)) if least_s > floor_s else 1.0
    return {
        (need.launch.id, need.case): need.floor_s
        + above * (need.least_s - need.floor_s)
        + spare * weights[need.case] / weight
        for need in kept
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
    # Of a plan of thousands of cases this is asked before and after each launch: a case is looked up once.
    times: Counter[tuple[str, str]] = Counter()
    starts: dict[tuple[str, str], float] = {}
    for launch in remaining:
        share = 1 / len(launch.cases)
        for case_id in launch.cases:
            key = launch.program, case_id
            times[key] += 1
            starts[key] = starts.get(key, 0.0) + share
    return sum(
        (starts[key] * _LAUNCH_S + count * experience.setup_s[case_id]) * experience.stretch_of(program, case_id)
        + count * experience.span_s.get(case_id, typical)
        for key, count in times.items()
        for program, case_id in [key]
    )


class _Need(NamedTuple):
    """What one case of one launch needs."""

    launch: PlannedLaunch
    case: str
    overhead_s: float
    floor_s: float
    least_s: float

    @property
    def poor_s(self) -> float:
        """What it takes at the least."""
        return _MARGIN * self.overhead_s + self.floor_s

    @property
    def wanted_s(self) -> float:
        """What it takes with the fewest samples allowed."""
        return _MARGIN * self.overhead_s + self.least_s


def _needs(launches: Sequence[PlannedLaunch], experience: Experience) -> list[_Need]:
    return [
        _Need(
            launch,
            case_id,
            experience.overhead_of(launch, case_id),
            experience.floor_of(case_id),
            experience.least_of(case_id),
        )
        for launch in launches
        for case_id in launch.cases
    ]


def _by_block(needs: Sequence[_Need], seconds: Callable[[_Need], float]) -> dict[int, float]:
    blocks: dict[int, float] = {}
    for need in needs:
        blocks[need.launch.block] = blocks.get(need.launch.block, 0.0) + seconds(need)
    return blocks


def _fitting(plan: Plan, needs: list[_Need], left_s: float, measured: frozenset[str]) -> list[_Need]:
    block = needs[0].launch.block
    confident = plan.order[0].block + _CONFIDENT
    wanted = _by_block(needs, lambda need: need.wanted_s)
    # Nothing is kept back here: where it was too little the sixth loses launches, else it would lose them all.
    poor = _by_block(needs, lambda need: need.overhead_s + need.floor_s)
    blocks = set(wanted)
    for last in sorted(blocks, reverse=True):
        seconds = wanted if last >= confident else poor
        if last == block or sum(seconds[kept] for kept in blocks) <= left_s:
            break
        blocks.remove(last)
    kept = [need for need in needs if need.launch.block in blocks]
    total = sum(need.poor_s for need in kept)
    if kept[-1].launch.block != block or total <= left_s:
        return kept
    importance = {case.id: position for position, case in enumerate(plan.cases)}
    cut: set[int] = set()
    for need in sorted(kept, key=lambda need: (need.case in measured, importance[need.case]), reverse=True):
        if total <= left_s or (plan.grows and need.case not in measured):
            break
        total -= need.poor_s
        cut.add(id(need))
    return [need for need in kept if id(need) not in cut]
