"""The costs of launches so far, and the needs of further ones.

The seconds in this module are for scheduling only and never a result.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.catalogue import benchmarks
from assay.launch.command import Sampling
from assay.model.plan import LEAST_S, UNLIMITED_S, Case, Plan, PlannedLaunch, probe_s
from assay.model.record import Series
from assay.model.run import LaunchRecords
from assay.model.samples import PHASES, STOPS, SampleTable, starts_of, table_of

#: Maximum pieces of the fixed work in a launch and kernel, and over all ranks.
_MOST_QUANTA = 1500
_MOST_OF_RANKS = 40_000
#: Samples may be fewer than wanted, down to this share of the time of the minimum samples.
_MIN_SAMPLING_SHARE = 0.25
#: Reserve for starts and set-ups that take longer than expected, as a factor.
MARGIN = 1.1
#: Limits of the correction of set-up estimates.
_CORRECTION_LIMITS = (0.2, 5.0)
#: A case that stopped by itself in one launch may take longer in the next by this factor.
_ROOM = 1.5
#: A precision that is never reached.
_NEVER = 1e-9
#: The distance of a figure from its precision counts up to this factor: beyond it, more time does not help.
_FARTHEST = 4.0


class Overhead(NamedTuple):
    """Time of a launch without its sampling.

    Attributes:
        start_s: start of processes, probes around them, and what only the first case of a launch takes.
        setup_s: set-up of one case, between the samples of the previous case and its own.
    """

    start_s: float
    setup_s: float


class Need(NamedTuple):
    """The seconds that launches need, and their weight for the time that is left over.

    Attributes:
        overhead_s: start and set-up.
        floor_s: the shortest sampling that is worth a launch.
        wanted_s: sampling until a case stops by itself, or has the minimum samples.
        weight: weight for time beyond that, for a case that can use it; it grows with the distance from its
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
        """Seconds with all wanted sampling, and the reserve."""
        return MARGIN * self.overhead_s + self.wanted_s

    def plus(self, other: "Need", times: float = 1.0) -> "Need":
        """The sum with `times` another need."""
        return Need(*(mine + times * theirs for mine, theirs in zip(self, other, strict=True)))


@dataclass
class CostHistory:
    """The costs of the launches so far; `learn` adds a launch.

    Attributes:
        plan: plan of the launches.
        overheads: case -> overhead of its last launch.
        span_s: case -> seconds of sampling in its last launch.
        least_s: case -> seconds of the minimum samples.
        content: cases that stopped by themselves in their last launch: they cannot use more time.
        planned_s: program -> sum of the planned overheads of its launches, seconds.
        measured_s: program -> sum of the measured overheads of its launches, seconds.
        start_s: seconds of the start of a process and of its two probes: the smallest overhead of a launch.
    """

    plan: Plan
    overheads: dict[str, Overhead] = field(default_factory=dict)
    span_s: dict[str, float] = field(default_factory=dict)
    least_s: dict[str, float] = field(default_factory=dict)
    content: set[str] = field(default_factory=set)
    planned_s: dict[str, float] = field(default_factory=dict)
    measured_s: dict[str, float] = field(default_factory=dict)
    start_s: float = 0.0

    def __post_init__(self) -> None:
        """Look up the plan's values of each case."""
        self._start_s = {case.id: benchmarks.get(case.benchmark).start_seconds for case in self.plan.cases}
        times = Counter(case for launch in self.plan.order for case in launch.cases)
        self._probe_s = {case.id: probe_s(times[case.id]) for case in self.plan.cases if case.role == "sentinel"}
        self._program = {case: launch.program for launch in self.plan.order for case in launch.cases}
        self._setup_s = {case.id: case.setup_s for case in self.plan.cases}
        self._measured = {case.id for case in self.plan.cases if case.setup_measured}
        self._weight = {case.id: case.weight for case in self.plan.cases}
        self._ends: dict[tuple[str, str], tuple[float, float]] = {}  # smallest and largest median of a launch
        self._miss: dict[str, float] = {}  # half of their range over the wanted precision

    def learn(self, records: LaunchRecords, allowed: Mapping[str, float], wall_s: float) -> None:
        """Add the costs of a launch that took `wall_s`. Finished cases of an aborted launch count."""
        launch = records.launch
        sampled = {
            case.header.case: self.learn_case(case.header.case, case.series)
            for case in records.cases
            if case.series and case.end
        }
        if launch.exit_code is None or launch.exit_code < 0 or len(records.cases) < len(launch.cases):
            return
        gaps, beyond, ended_s, sampling_s = list[float](), list[float](), 0.0, 0.0
        for case_id, (first_s, last_s) in sampled.items():
            # Sampling beyond the given time, because a single sample takes long, counts as overhead; but not the
            # time that the case will be given next time.
            given_s = max(allowed.get(case_id, math.inf), self.need(case_id, 0.0).floor_s)
            beyond.append(max(0.0, last_s - first_s - given_s))
            gaps.append(max(0.0, first_s - ended_s))
            ended_s, sampling_s = max(ended_s, last_s), sampling_s + last_s - first_s - beyond[-1]
        # The time before the first samples includes the start: scale its planned set-up as for the other cases.
        first, *others = (self._setup_s[case_id] for case_id in sampled or launch.cases[:1])
        gaps[:1] = [
            min(gap_s, first * (sum(gaps[1:]) / sum(others) if sum(others) else 1.0)) for gap_s in gaps[:1]
        ]
        setups = dict(zip(sampled, map(sum, zip(gaps, beyond, strict=True)), strict=True))
        overhead = max(0.0, wall_s - sampling_s)
        foreseen = self._start_s[launch.cases[0]] + sum(self._setup_s[case_id] for case_id in launch.cases)
        if overhead > 0:
            self.start_s = min(overhead, self.start_s if self.overheads else overhead)
        start_s = max(0.0, overhead - sum(setups.values()))
        for case_id in launch.cases:
            self.overheads[case_id] = Overhead(start_s, setups.get(case_id, 0.0))
        self.planned_s[launch.program] = self.planned_s.get(launch.program, 0.0) + foreseen
        self.measured_s[launch.program] = self.measured_s.get(launch.program, 0.0) + overhead

    def learn_case(self, case_id: str, series: Sequence[Series]) -> tuple[float, float]:
        """Add the samples of one case; return start of the first and end of the last, from the program's start."""
        table = table_of(series)
        first_s, last_s = _ends(table, starts_of(series))
        self.span_s[case_id] = last_s - first_s
        self.least_s[case_id] = _least(table, self.plan.min_samples)
        measured = np.flatnonzero((table.phase == PHASES.index("measured")) & (table.counts > 0))
        hungry = bool((table.stop[measured] == STOPS.index("time")).any())
        (self.content.discard if hungry else self.content.add)(case_id)
        for row in measured[table.rank[measured] == table.rank[measured].min()] if measured.size else ():
            end, key = int(table.ends[row]), (case_id, table.kernels[table.kernel[row]])
            # np.median takes ten times as long.
            ordered = np.sort(table.seconds[end - int(table.counts[row]) : end])
            middle = (ordered[(ordered.size - 1) // 2] + ordered[ordered.size // 2]) / 2
            median = float(middle / table.iterations[row])
            if median > 0:
                least, most = self._ends.get(key, (median, median))
                self._ends[key] = least, most = min(least, median), max(most, median)
                spread = (most - least) / (most + least) / self.plan.precision
                self._miss[case_id] = max(self._miss.get(case_id, 1.0), spread)
        return first_s, last_s

    def need(self, case_id: str, part: float) -> Need:
        """The need of one launch of a case; `part` (0 to 1) is its share of the start."""
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
        """The need of a launch."""
        return total(self.need(case_id, 1 / len(launch.cases)) for case_id in launch.cases)

    def expected_s(self, each: "Outstanding", case_id: str) -> float:
        """Estimated seconds of the remaining launches of a case, for the user."""
        typical_s = (
            sum(self.span_s.values()) / len(self.span_s)
            if self.span_s
            else self.plan.estimate_s / max(1, sum(len(one.cases) for one in self.plan.order))
        )
        overhead_s = self.overhead_s(case_id, each.starts / each.times) if each.times else 0.0
        return each.times * (overhead_s + self.span_s.get(case_id, typical_s))

    def overhead_s(self, case_id: str, part: float) -> float:
        """Seconds of set-up and of this `part` of the start: those of the last launch, else the planned ones.

        For a case that has not run yet, the plan is corrected by the ratio of measured to planned overheads of its
        program, within limits. If the program has not run either, only the start of other programs is known.
        Set-ups that come from measurements are not corrected.
        """
        if case_id in self.overheads:
            return self.overheads[case_id].start_s * part + self.overheads[case_id].setup_s
        program, planned_s = self._program[case_id], self._start_s[case_id] * part + self._setup_s[case_id]
        if program not in self.planned_s or case_id in self._measured:
            return max(self.start_s, self._start_s[case_id]) * part + self._setup_s[case_id]
        least, most = _CORRECTION_LIMITS
        return planned_s * min(max(self.measured_s[program] / self.planned_s[program], least), most)


def sampling(plan: Plan, cases: Sequence[Case], seconds: Mapping[str, float]) -> Sampling:
    """Limits of sampling of a launch: the sentinel's fixed work uses all of its time."""
    if any(case.role == "sentinel" for case in cases):
        ranks = max(1, len(cases[0].placement.hosts))
        most = max(plan.max_samples, min(_MOST_QUANTA, _MOST_OF_RANKS // ranks))
        return Sampling(_NEVER, plan.min_samples, most, dict(seconds))
    return Sampling(plan.precision, plan.min_samples, plan.max_samples, dict(seconds))


def total(needs: Iterable[Need]) -> Need:
    """The sum of several needs."""
    added = Need()
    for each in needs:
        added = added.plus(each)
    return added


class Outstanding(NamedTuple):
    """Number of measurements of a case that remain.

    Attributes:
        times: launches that hold it.
        starts: sum of its shares of their starts.
    """

    times: int = 0
    starts: float = 0.0


def _ends(table: SampleTable, starts: NDArray[np.float64]) -> tuple[float, float]:
    """Start of the first sample, and end of the last one."""
    if not starts.size:
        return 0.0, 0.0
    lasts, firsts = ((table.ends - behind)[table.counts > 0] for behind in (1, table.counts))
    return float(starts[firsts].min()), float((starts[lasts] + table.seconds[lasts]).max())


def _least(table: SampleTable, min_samples: int) -> float:
    seconds = 0.0
    for row in np.flatnonzero((table.rank == 0) & (table.counts > 0)):
        count, end = int(table.counts[row]), int(table.ends[row])
        total_s = sum(table.seconds[end - count : end].tolist())
        seconds += total_s if PHASES[table.phase[row]] == "warmup" else min_samples * total_s / count
    return seconds
