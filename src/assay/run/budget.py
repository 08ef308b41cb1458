"""The sampling time of each case within the budget, and the cases that are cut. Pure functions of plan and costs.

Seconds in here are for scheduling only; none of them is ever a result.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.launch.command import Sampling
from assay.model import benchmarks
from assay.model.plan import LEAST_S, PROBED_S, UNLIMITED_S, Case, Plan, PlannedLaunch
from assay.model.record import Series
from assay.model.run import LaunchRecords
from assay.model.samples import PHASES, STOPS, SampleTable, starts_of, table_of

#: Pieces of that work at most in a launch and kernel, and of all ranks.
_MOST_QUANTA = 1500
_MOST_OF_RANKS = 40_000
#: Launches of a case that give an interval; fewer only a range, however many samples each has.
INTERVAL_LAUNCHES = 6
#: A budget that is the study's own may be exceeded by this share for launches that make intervals.
GROWTH = 0.2
#: Samples may be fewer than wanted, down to this share of the time that the fewest allowed need.
_MIN_SAMPLING_SHARE = 0.25
#: What is kept back for starts and set-ups that take longer than foreseen.
_MARGIN = 1.1
#: Where cases are cut, so much is cut beyond what is needed: the next launch shall not cut one more.
_CUT_MARGIN = 1.05
#: Set-up estimates may be wrong by this factor before we stop believing the correction.
_CORRECTION_LIMITS = (0.2, 5.0)
#: What stopped by itself in one launch may take this much longer in the next.
_ROOM = 1.5
#: A precision that no samples reach.
_NEVER = 1e-9
#: How far a figure is from its precision counts up to this factor: beyond it, time does not help.
_FARTHEST = 4.0


class Need(NamedTuple):
    """The seconds that launches need, and their weight in what is left over.

    Attributes:
        overhead_s: start and set-up.
        floor_s: the shortest sampling that is worth a launch.
        wanted_s: sampling until a case stops by itself, or has the fewest samples allowed.
        weight: share of the time beyond that: of a case that would use it, the more the farther it is from its
            precision.
    """

    overhead_s: float = 0.0
    floor_s: float = 0.0
    wanted_s: float = 0.0
    weight: float = 0.0

    @property
    def poor_s(self) -> float:
        """Seconds with the shortest sampling."""
        return self.overhead_s + self.floor_s

    @property
    def rich_s(self) -> float:
        """Seconds with all of the sampling that is wanted, and what is kept back."""
        return _MARGIN * self.overhead_s + self.wanted_s

    def plus(self, other: "Need", times: float = 1.0) -> "Need":
        """The sum with another one `times` over."""
        return Need(*(mine + times * theirs for mine, theirs in zip(self, other, strict=True)))


@dataclass
class CostHistory:
    """The costs of the launches so far; `learn` adds those of one more.

    Attributes:
        plan: whose launches they are.
        correction: case -> overhead of its last launch divided by the planned overhead.
        span_s: case -> seconds of sampling in its last launch.
        least_s: case -> seconds in which it takes the fewest samples allowed.
        content: cases that stopped by themselves in their last launch: more time is of no use to them.
        planned_s: program -> sum of the planned overheads of its launches, seconds.
        measured_s: program -> sum of the measured overheads of its launches, seconds.
        start_s: seconds of the start of a process and of its two probes: no launch had less overhead.
    """

    plan: Plan
    correction: dict[str, float] = field(default_factory=dict)
    span_s: dict[str, float] = field(default_factory=dict)
    least_s: dict[str, float] = field(default_factory=dict)
    content: set[str] = field(default_factory=set)
    planned_s: dict[str, float] = field(default_factory=dict)
    measured_s: dict[str, float] = field(default_factory=dict)
    start_s: float = 0.0

    def __post_init__(self) -> None:
        """What the plan says of each case."""
        self._start_s = {case.id: benchmarks.get(case.benchmark).start_seconds for case in self.plan.cases}
        times = Counter(case for launch in self.plan.order for case in launch.cases)
        self._probe_s = {
            case.id: max(LEAST_S, PROBED_S / max(1, times[case.id]))
            for case in self.plan.cases
            if case.role == "sentinel"
        }
        self._program = {case: launch.program for launch in self.plan.order for case in launch.cases}
        self._setup_s = {case.id: case.setup_s for case in self.plan.cases}
        self._measured = {case.id for case in self.plan.cases if case.setup_measured}
        self._weight = {case.id: case.weight for case in self.plan.cases}
        self._ends: dict[tuple[str, str], tuple[float, float]] = {}  # least and largest median of a launch
        self._miss: dict[str, float] = {}  # half of their range over the precision that is wanted

    def learn(self, records: LaunchRecords, allowed: Mapping[str, float], wall_s: float) -> None:
        """Add the costs of a launch, which took `wall_s`. Finished cases of an aborted launch count."""
        launch = records.launch
        spans: dict[str, float] = {}
        for case in (case for case in records.cases if case.series and case.end):
            spans[case.header.case] = self.learn_case(case.header.case, case.series)
        if launch.exit_code is None or launch.exit_code < 0 or len(records.cases) < len(launch.cases):
            return
        # What a case samples beyond its time, because a single sample takes long, is overhead to the budget.
        overhead = wall_s - sum(min(span, allowed.get(case_id, span)) for case_id, span in spans.items())
        overhead = max(0.0, overhead)
        foreseen = self._start_s[launch.cases[0]] + sum(self._setup_s[case_id] for case_id in launch.cases)
        if overhead > 0:
            self.start_s = min(overhead, self.start_s if self.correction else overhead)
        self.correction.update(dict.fromkeys(launch.cases, overhead / foreseen))
        self.planned_s[launch.program] = self.planned_s.get(launch.program, 0.0) + foreseen
        self.measured_s[launch.program] = self.measured_s.get(launch.program, 0.0) + overhead

    def learn_case(self, case_id: str, series: Sequence[Series]) -> float:
        """Take the samples of one case in; seconds from its first to the end of its last."""
        table = table_of(series)
        self.span_s[case_id] = _span(table, starts_of(series))
        self.least_s[case_id] = _least(table, self.plan.min_samples)
        measured = np.flatnonzero((table.phase == PHASES.index("measured")) & (table.counts > 0))
        hungry = bool((table.stop[measured] == STOPS.index("time")).any())
        (self.content.discard if hungry else self.content.add)(case_id)
        for row in measured[table.rank[measured] == table.rank[measured].min()] if measured.size else ():
            end, key = int(table.ends[row]), (case_id, table.kernels[table.kernel[row]])
            median = float(np.median(table.seconds[end - int(table.counts[row]) : end]) / table.iterations[row])
            if median > 0:
                least, most = self._ends.get(key, (median, median))
                self._ends[key] = least, most = min(least, median), max(most, median)
                spread = (most - least) / (most + least) / self.plan.precision
                self._miss[case_id] = max(self._miss.get(case_id, 1.0), spread)
        return self.span_s[case_id]

    def need(self, case_id: str, part: float) -> Need:
        """What one launch of a case needs, of whose start it has such a `part` (0 to 1)."""
        if case_id in self._probe_s:
            return Need(self.overhead_s(case_id, part), self._probe_s[case_id], self._probe_s[case_id])
        least_s = self.least_s.get(case_id, LEAST_S)
        content = case_id in self.content
        miss = min(_FARTHEST, self._miss.get(case_id, 1.0))
        return Need(
            self.overhead_s(case_id, part),
            max(LEAST_S, _MIN_SAMPLING_SHARE * least_s),
            max(LEAST_S, least_s, _ROOM * self.span_s[case_id] if content else 0.0),
            0.0 if content else self._weight[case_id] * miss**2,
        )

    def unlimited_s(self, case_id: str) -> float:
        """Seconds of sampling of a case without a budget."""
        return self._probe_s.get(case_id, UNLIMITED_S)

    def launch(self, launch: PlannedLaunch) -> Need:
        """What a launch needs."""
        return total(self.need(case_id, 1 / len(launch.cases)) for case_id in launch.cases)

    def expected_s(self, each: "Outstanding", case_id: str) -> float:
        """Estimate of the seconds that the launches of a case will take, for people who wait."""
        typical_s = (
            sum(self.span_s.values()) / len(self.span_s)
            if self.span_s
            else self.plan.estimate_s / max(1, sum(len(one.cases) for one in self.plan.order))
        )
        overhead_s = self.overhead_s(case_id, each.starts / each.times) if each.times else 0.0
        return each.times * (overhead_s + self.span_s.get(case_id, typical_s))

    def overhead_s(self, case_id: str, part: float) -> float:
        """Seconds of start and set-up: the planned ones, corrected by what launches took.

        A case that has not run yet is corrected as all of its program were together, within reason. Of a program
        that has not run either, no more is known than the start of others. What launches took already is no
        assumption that they correct.
        """
        program, planned_s = self._program[case_id], self._start_s[case_id] * part + self._setup_s[case_id]
        if case_id in self.correction:
            return planned_s * self.correction[case_id]
        if program not in self.planned_s or case_id in self._measured:
            return max(self.start_s, self._start_s[case_id]) * part + self._setup_s[case_id]
        least, most = _CORRECTION_LIMITS
        return planned_s * min(max(self.measured_s[program] / self.planned_s[program], least), most)


def sampling(plan: Plan, cases: Sequence[Case], seconds: Mapping[str, float]) -> Sampling:
    """How much a launch of these cases may measure: the sentinel's fixed work goes on for all of its time."""
    if any(case.role == "sentinel" for case in cases):
        ranks = max(1, len(cases[0].placement.hosts))
        most = max(plan.max_samples, min(_MOST_QUANTA, _MOST_OF_RANKS // ranks))
        return Sampling(_NEVER, plan.min_samples, most, dict(seconds))
    return Sampling(plan.precision, plan.min_samples, plan.max_samples, dict(seconds))


def total(needs: Iterable[Need]) -> Need:
    """The sum of what several need."""
    added = Need()
    for each in needs:
        added = added.plus(each)
    return added


class Outstanding(NamedTuple):
    """How often a case is still to be measured.

    Attributes:
        times: launches that hold it.
        starts: its parts of their starts together.
    """

    times: int = 0
    starts: float = 0.0


class Spread:
    """A budget spread over the launches that remain, as costs were known at one moment.

    First every case is measured once. Then come the launches that give each case an interval; where time is too
    short for them, the least important cases keep the launch that they have, and all others get every launch of
    theirs, with fewer samples where need be. Launches beyond these are made, round by round, as long as all
    samples that are wanted fit. What is left over goes to the cases that would use it, by weight and distance from
    their precision.

    Sums go on as launches are made: what a launch leaves over, or takes too much, is spread over all others at
    once. Nothing walks over what remains.

    Args:
        plan: with the importance of cases (their order).
        remaining: case -> how often it is still to be measured.
        made: case -> how often it was, of a case that a stage measures again in that stage.
        left_s: of the budget, seconds.
        costs: so far.
        may_exceed: whether the last launch may end after the budget.
    """

    def __init__(  # noqa: PLR0913 (what is known, each by its name)
        self,
        plan: Plan,
        remaining: Mapping[str, Outstanding],
        made: Mapping[str, int],
        left_s: float,
        costs: CostHistory,
        *,
        may_exceed: bool = True,
    ) -> None:
        self._costs = costs
        self._may_exceed = may_exceed
        self._growth_s = GROWTH * plan.budget_s if plan.grows and plan.budget_s else 0.0
        self._first = {case for case in remaining if not made.get(case)}
        self._needs = {case: costs.need(case, each.starts / each.times) for case, each in remaining.items()}
        self._kept = {
            case: min(each.times, max(0, INTERVAL_LAUNCHES - made.get(case, 0)))
            for case, each in remaining.items()
        }
        #: What all launches need that are kept.
        self.total = self._all(self._kept)
        self._sentinels = [case.id for case in plan.cases if case.role == "sentinel" and case.id in remaining]
        self._to_cut = [*self._sentinels, *(each.id for each in plan.cases if _is_figure(each, remaining))]
        self._to_skip = [] if plan.grows else list(self._to_cut)
        self._keep_rounds({case: each.times - self._kept[case] for case, each in remaining.items()}, left_s)
        #: Cases of which nothing more is made.
        self.dropped = [case for case, launches in self._kept.items() if not launches]

    def allot(self, launch: PlannedLaunch, left_s: float, *, repeat: bool = False) -> dict[str, float]:
        """Seconds of sampling for the cases of a launch, or of a repeat of it; a missing case is cut."""
        ends = {*launch.cases, *self._sentinels} & self._needs.keys()  # one launch, and what is measured after all
        last_s = max(self._costs.launch(launch).poor_s, total(self._needs[case] for case in ends).poor_s)
        beyond_s = _CUT_MARGIN * last_s if left_s > 0 and self._may_exceed else 0.0
        self._cut_to(left_s + self._growth_s, beyond_s)
        kept = [case for case in launch.cases if repeat or self._kept.get(case)]
        needs = {case: self._costs.need(case, 1 / len(launch.cases)) for case in kept}
        # What a repeat takes is no part of what remains.
        above, per_weight = self._rates(left_s, self.total.plus(total(needs.values())) if repeat else self.total)
        return {
            case: need.floor_s + above * (need.wanted_s - need.floor_s) + per_weight * need.weight
            for case, need in needs.items()
        }

    def through(self, case: str) -> None:
        """A launch of the case is made, or was cut: it needs nothing more."""
        self._first.discard(case)
        if self._kept.get(case):
            self._keep(case, self._kept[case] - 1)

    def spare_s(self, left_s: float) -> float:
        """Seconds that are left where every launch that is kept takes only what it needs."""
        return left_s - self.total.poor_s

    def _all(self, times: Mapping[str, int]) -> Need:
        return total(Need().plus(self._needs[case], count) for case, count in times.items())

    def _keep(self, case: str, launches: int) -> None:
        self.total = self.total.plus(self._needs[case], launches - self._kept[case])
        self._kept[case] = launches

    def _keep_rounds(self, beyond: Mapping[str, int], left_s: float) -> None:
        """Keep as many rounds of launches that no interval needs as fit with all samples that are wanted."""
        rounds = max(beyond.values(), default=0)
        round_s = self._all(beyond).rich_s / rounds if rounds else 0.0
        if not round_s:
            return
        cut = rounds - min(rounds, max(0, int((left_s - self.total.rich_s) / round_s)))
        for case, count in beyond.items():
            self._keep(case, self._kept[case] + max(0, count - cut))

    def _cut_to(self, left_s: float, last_s: float) -> None:
        """Cut launches of the least important cases while those that are kept do not fit but for the last one.

        Every case keeps its first launch; only of a budget that a user gave that goes, too.

        Args:
            left_s: seconds that launches may take.
            last_s: seconds that the last of them may take beyond.
        """
        if self.total.poor_s <= left_s + last_s:
            return
        before: dict[str, int] = {}
        while self._to_cut and _CUT_MARGIN * self.total.poor_s > left_s + last_s:
            case = self._to_cut.pop()
            before[case] = self._kept[case]
            self._keep(case, min(self._kept[case], int(case in self._first)))
        for case, launches in reversed(before.items()):  # a cheap case may fit where one more important does not
            more = self.total.plus(self._needs[case], launches - self._kept[case])
            if _CUT_MARGIN * more.poor_s <= left_s + last_s:
                self._keep(case, launches)
        while self._to_skip and self.total.poor_s > left_s + last_s:
            case = self._to_skip.pop()
            before.setdefault(case, self._kept[case])
            self._keep(case, 0)
        self.dropped += [case for case, launches in before.items() if launches and not self._kept[case]]

    def _rates(self, left_s: float, need: Need) -> tuple[float, float]:
        """How far cases come from the floor to what they want (0 to 1); seconds beyond for a weight of 1."""
        sampling_s = max(0.0, left_s - _MARGIN * need.overhead_s)
        floor_s, wanted_s = need.floor_s, need.wanted_s
        above = min(1.0, max(0.0, sampling_s - floor_s) / (wanted_s - floor_s)) if wanted_s > floor_s else 1.0
        return above, max(0.0, sampling_s - wanted_s) / need.weight if need.weight > 0 else 0.0


def _is_figure(case: Case, remaining: Mapping[str, Outstanding]) -> bool:
    """Whether it is more than the sentinel, which is cut last: without that, nobody knows how quiet it was."""
    return case.role != "sentinel" and case.id in remaining


def _span(table: SampleTable, starts: NDArray[np.float64]) -> float:
    """First sample's start to the last one's end."""
    lasts, firsts = ((table.ends - behind)[table.counts > 0] for behind in (1, table.counts))
    return float((starts[lasts] + table.seconds[lasts]).max() - starts[firsts].min()) if starts.size else 0.0


def _least(table: SampleTable, min_samples: int) -> float:
    seconds = 0.0
    for row in np.flatnonzero((table.rank == 0) & (table.counts > 0)):
        count, end = int(table.counts[row]), int(table.ends[row])
        total_s = sum(table.seconds[end - count : end].tolist())
        seconds += total_s if PHASES[table.phase[row]] == "warmup" else min_samples * total_s / count
    return seconds
