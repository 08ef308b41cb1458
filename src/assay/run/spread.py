"""A budget spread over launches: the sampling time of each case, and the cases that are cut. Pure functions.

Seconds in here are for scheduling only; none of them is ever a result.
"""

from collections.abc import Mapping, Sequence

from assay.model.grouping import grouped
from assay.model.plan import Plan, PlannedLaunch
from assay.run.budget import MARGIN, CostHistory, Need, total

#: Launches of a case that give an interval; fewer only a range, however many samples each has.
INTERVAL_LAUNCHES = 6
#: A budget that is the study's own may be exceeded by this share for launches that make intervals.
GROWTH = 0.2
#: Where cases are cut, so much is cut beyond what is needed: the next launch shall not cut one more.
_CUT_MARGIN = 1.05

#: Of the time, the most that the sentinel takes from launches that make intervals.
_SENTINEL_SHARE = 0.1


class Spread:
    """A budget spread over the launches that remain, as costs were known at one moment.

    First every case is measured once. Then come the launches that give each case an interval; where time is too
    short for them, the least important cases keep the launch that they have, and all others get every launch of
    theirs, with fewer samples where need be. A launch is paid for as long as one of its cases is kept. Further
    launches, which make no interval, are kept as far as all samples that are wanted fit. What is left over goes to
    the cases that would use it, by weight and distance from their precision.

    Sums go on as launches are made: what a launch leaves over, or takes too much, is spread over all others at
    once. Nothing walks over what remains.

    Args:
        plan: with the importance of cases (their order).
        launches: that remain, in the order of the plan.
        made: case -> how often it was, of a case that a stage measures again in that stage.
        left_s: of the budget, seconds.
        costs: so far.
        again: nothing else remains than what was cut before: the last launch may not end after the budget.
    """

    def __init__(  # noqa: PLR0913 (what is known, each by its name)
        self,
        plan: Plan,
        launches: Sequence[PlannedLaunch],
        made: Mapping[str, int],
        left_s: float,
        costs: CostHistory,
        *,
        again: bool = False,
    ) -> None:
        self._costs = costs
        self._is_again = again
        self._growth_s = GROWTH * plan.budget_s if plan.grows and plan.budget_s else 0.0
        self._launches = launches
        self._own: dict[str, list[int]] = {}
        for at, launch in enumerate(launches):
            for case in launch.cases:
                self._own.setdefault(case, []).append(at)
        needs = self._needs = {case: costs.need(case, 0.0) for case in self._own}
        starts = {case: costs.overhead_s(case, 1.0) - need.overhead_s for case, need in needs.items()}
        self._starts = [sum(starts[case] for case in each.cases) / len(each.cases) for each in launches]
        self._open = [0] * len(launches)
        self._kept = dict.fromkeys(self._own, 0)
        #: What all launches need that are kept.
        self.total = Need()
        known = [case for case in plan.cases if case.id in self._own]
        self._sentinels = [case.id for case in known if case.role == "sentinel"]
        self._figures = [case.id for case in known if case.role != "sentinel"]
        rank = {case: at for at, case in enumerate(self._figures)}
        foremost = [min(rank.get(case, 0) for case in launch.cases) for launch in launches]
        #: With the most important ones those that share the next launch, whose start is paid.
        self._sharing = sorted(self._figures, key=lambda case: foremost[self._own[case][0]])
        self._last_s = sum(costs.need(case, 1 / len(self._sentinels)).poor_s for case in self._sentinels)
        first = {case: int(not made.get(case)) for case in self._own}
        intervals = {case: max(0, INTERVAL_LAUNCHES - made.get(case, 0)) for case in self._own}
        self._is_least = False
        self._keep_all(intervals)
        if launches and not self.fits(launches[0], left_s):
            self._keep_all(first if plan.grows else dict.fromkeys(self._own, 0))
            most_s = self._most_s(launches[0], left_s)
            self._add(first, most_s)
            self._add(intervals, most_s)
            self._is_least = plan.grows and all(kept <= first[case] for case, kept in self._kept.items())
        self._add_rounds(intervals, left_s)
        is_known = not any(first[case] and self._kept[case] for case in self._figures)
        #: Cases of which nothing more is made; none as long as others wait for a launch that tells what they cost.
        self.dropped = [case for case, count in self._kept.items() if is_known and not count]

    def fits(self, launch: PlannedLaunch, left_s: float) -> bool:
        """Whether all that is kept can be made from this launch on, or nothing of it may be cut."""
        return self._is_least or self.total.poor_s <= self._most_s(launch, left_s)

    def allot(self, launch: PlannedLaunch, left_s: float, *, repeat: bool = False) -> dict[str, float]:
        """Seconds of sampling for the cases of a launch, or of a repeat of it; a missing case is cut."""
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
        if self._own.get(case):
            if self._kept[case]:
                self._count(case, self._own[case][:1], -1)
            del self._own[case][0]

    def spare_s(self, left_s: float) -> float:
        """Seconds that are left where every launch that is kept takes only what it needs."""
        return left_s - self.total.poor_s

    def _most_s(self, launch: PlannedLaunch, left_s: float) -> float:
        """Seconds that launches may take: one, and what is measured after all, may end after the budget."""
        beyond_s = 0.0
        if left_s > 0 and not self._is_again:
            after_s = 0.0 if self._is_sentinel(launch) else self._last_s
            beyond_s = _CUT_MARGIN * (self._costs.launch(launch).poor_s + after_s)
        return left_s + self._growth_s + beyond_s

    def _keep(self, case: str, launches: int) -> None:
        """Keep so many launches of a case, or all where it has no more."""
        kept, own = self._kept[case], self._own[case]
        if launches > kept:
            self._count(case, own[kept:launches], 1)
        elif launches < kept:
            self._count(case, own[launches:kept], -1)

    def _count(self, case: str, places: Sequence[int], sign: int) -> None:
        """Add a case to launches, or take it away: the first case and the last one bring the start with them."""
        starts_s = 0.0
        for at in places:
            starts_s += 0.0 if self._open[at] > (sign < 0) else self._starts[at]
            self._open[at] += sign
        self._kept[case] += sign * len(places)
        self.total = self.total.plus(self._needs[case], sign * len(places)).plus(Need(starts_s), sign)

    def _add(self, wanted: Mapping[str, int], most_s: float) -> None:
        """Keep so many launches of each case as far as they fit, in the order in which most of them do.

        The sentinel comes first where it takes little time, for without it nobody knows how quiet it was.
        """
        often = max((wanted[case] for case in self._sentinels), default=0)
        is_cheap = often * self._last_s <= _SENTINEL_SHARE * most_s
        before, found = dict(self._kept), list[dict[str, int]]()
        for figures in (self._figures, self._sharing):
            for case in (*self._sentinels, *figures) if is_cheap else (*figures, *self._sentinels):
                kept = self._kept[case]
                self._keep(case, wanted[case])
                if _CUT_MARGIN * self.total.poor_s > most_s:
                    self._keep(case, kept)
            found.append(dict(self._kept))
            self._keep_all(before)
        self._keep_all(max(found, key=lambda each: sum(each[case] for case in self._figures)))

    def _keep_all(self, launches: Mapping[str, int]) -> None:
        for case, count in launches.items():
            self._keep(case, count)

    def _add_rounds(self, intervals: Mapping[str, int], left_s: float) -> None:
        """Keep launches that make no interval, block by block, as far as all samples that are wanted fit.

        Where nothing else is left to do, cases without an interval get more of them launch by launch.
        """
        places = range(len(self._launches) if self.total.rich_s < left_s else 0)
        blocks = grouped(places, lambda at: self._launches[at].block).values()
        short = {case for case in self._figures if self._is_again and self._kept[case] < intervals[case]}
        single = ((at,) for at in places if short.intersection(self._launches[at].cases))
        following = {case: own[self._kept[case]] for case, own in self._own.items() if own[self._kept[case] :]}
        for some in (*single, *blocks):
            more = [(case, at) for at in some for case in self._launches[at].cases if following.get(case) == at]
            for case, at in more:
                self._count(case, (at,), 1)
            if self.total.rich_s <= left_s:
                following |= {case: own for case, _ in more for own in self._own[case][self._kept[case] :][:1]}
            else:
                for case, at in more:
                    self._count(case, (at,), -1)

    def _is_sentinel(self, launch: PlannedLaunch) -> bool:
        return launch.cases[0] in self._sentinels

    def _rates(self, left_s: float, need: Need) -> tuple[float, float]:
        """How far cases come from the floor to what they want (0 to 1); seconds beyond for a weight of 1."""
        sampling_s = max(0.0, left_s - MARGIN * need.overhead_s)
        floor_s, wanted_s = need.floor_s, need.wanted_s
        above = min(1.0, max(0.0, sampling_s - floor_s) / (wanted_s - floor_s)) if wanted_s > floor_s else 1.0
        return above, max(0.0, sampling_s - wanted_s) / need.weight if need.weight > 0 else 0.0
