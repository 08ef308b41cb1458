"""Spread a budget over launches: the sampling time of each case, and the cases that are cut.

The seconds in this module are for scheduling only and never a result.
"""

import math
from collections.abc import Mapping, Sequence

from assay.model.grouping import grouped
from assay.model.plan import Plan, PlannedLaunch
from assay.run.budget import MARGIN, CostHistory, Need, total

#: Launches of a case that give an interval; fewer give only a range, whatever their samples.
INTERVAL_LAUNCHES = 6
#: Launches may end after a budget that a user gave by this share of it, or by so many seconds.
_OVERRUN, _LEAST_OVERRUN_S = 0.1, 1.0
#: Launches that make intervals may exceed the study's own budget by this share.
GROWTH = 0.2
#: If cases are cut, cut a little more than needed, so that the next launch does not cut another one.
_CUT_MARGIN = 1.05

#: Largest share of the time that the sentinel may take from launches that make intervals.
_SENTINEL_SHARE = 0.1


def overrun_s(plan: Plan) -> float:
    """Seconds by which launches may end after the budget; without limit if it is none that a user gave."""
    if plan.budget_s is None or plan.grows:
        return math.inf
    return max(_OVERRUN * plan.budget_s, _LEAST_OVERRUN_S)


class Spread:
    """A budget spread over the remaining launches, with the costs known at one moment.

    First every case is measured once. Then come the launches that give each case an interval; if time is too short
    for them, the least important cases keep their one launch, and all others get all their launches, with fewer
    samples if necessary. Cases that differ only in levels of factors are compared block by block: they get equally
    many launches, and if no six blocks fit, as many as do. A launch costs its start as long as one of its cases
    is kept. Further launches, which make no interval, are kept if all wanted samples fit. The rest of the time
    goes to the cases that can use it, by weight and distance from their precision.

    Sums are updated as launches are made: time that a launch saves or exceeds is spread over all others at once,
    without a pass over the remaining launches.

    Args:
        plan: the order of its cases is their importance.
        launches: remaining launches, in the order of the plan.
        made: case -> its launches so far; for a case that a stage measures again, those in that stage.
        left_s: remaining seconds of the budget.
        costs: costs so far.
        again: only cases that were cut before remain: the last launch may not end after the budget.
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
        self._overrun_s = overrun_s(plan)
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
        #: Need of all kept launches.
        self.total = Need()
        known = [case for case in plan.cases if case.id in self._own]
        self._sentinels = [case.id for case in known if case.role == "sentinel"]
        figures = [case for case in known if case.role != "sentinel"]
        rank = {case.id: at for at, case in enumerate(figures)}
        foremost = [min(rank.get(case, 0) for case in launch.cases) for launch in launches]
        by_subject = grouped(figures, lambda case: case.subject).values()
        self._groups = [tuple(case.id for case in group) for group in by_subject]
        #: Groups by their next launch: the most important ones with those that share its start.
        self._sharing = sorted(self._groups, key=lambda group: min(foremost[self._own[case][0]] for case in group))
        self._last_s = sum(costs.need(case, 1 / len(self._sentinels)).poor_s for case in self._sentinels)
        begun = {case: max(made.get(each, 0) for each in group) for group in self._groups for case in group}
        first = {case: max(1, begun.get(case, 1)) - made.get(case, 0) for case in self._own}
        first = {case: max(0, launches) for case, launches in first.items()}
        intervals = {case: max(0, INTERVAL_LAUNCHES - made.get(case, 0)) for case in self._own}
        self._is_least = False
        self._keep_all(intervals)
        if launches and not self.fits(launches[0], left_s):
            self._keep_all(first if plan.grows else dict.fromkeys(self._own, 0))
            most_s = self._most_s(launches[0], left_s)
            self._add(first, most_s)
            self._add_blocks(intervals, most_s, 1 if any(case.factors for case in figures) else INTERVAL_LAUNCHES)
            self._is_least = plan.grows and all(kept <= first[case] for case, kept in self._kept.items())
        self._add_rounds(intervals, left_s)
        is_known = not any(self._kept[case.id] and not made.get(case.id) for case in figures)
        #: Cases that get no more launches; empty as long as others wait for a first launch, which shows their
        #: costs.
        self.dropped = [case for case, count in self._kept.items() if is_known and not count]

    def fits(self, launch: PlannedLaunch, left_s: float) -> bool:
        """Whether all kept launches fit from this launch on, or none of them may be cut."""
        return self._is_least or self.total.poor_s <= self._most_s(launch, left_s)

    def allot(self, launch: PlannedLaunch, left_s: float, *, repeat: bool = False) -> dict[str, float]:
        """Seconds of sampling for the cases of a launch or its repeat; a missing case is cut."""
        kept = [case for case in launch.cases if repeat or self._kept.get(case)]
        needs = {case: self._costs.need(case, 1 / len(launch.cases)) for case in kept}
        # A repeat is not one of the remaining launches.
        above, per_weight = self._rates(left_s, self.total.plus(total(needs.values())) if repeat else self.total)
        return {
            case: need.floor_s + above * (need.wanted_s - need.floor_s) + per_weight * need.weight
            for case, need in needs.items()
        }

    def through(self, case: str) -> None:
        """Count a launch of the case that is made or cut."""
        if self._own.get(case):
            if self._kept[case]:
                self._count(case, self._own[case][:1], -1)
            del self._own[case][0]

    def spare_s(self, left_s: float) -> float:
        """Seconds that are left if every kept launch takes only its minimum."""
        return left_s - self.total.poor_s

    def _most_s(self, launch: PlannedLaunch, left_s: float) -> float:
        """Seconds for launches: the current one, and the last sentinel, may end after the budget."""
        beyond_s = 0.0
        if left_s > 0 and not self._is_again:
            after_s = 0.0 if self._is_sentinel(launch) else self._last_s
            beyond_s = _CUT_MARGIN * (self._costs.launch(launch).poor_s + after_s)
            beyond_s = min(beyond_s, self._overrun_s)
        return left_s + self._growth_s + beyond_s

    def _keep(self, case: str, launches: int) -> None:
        """Keep a number of launches of a case, or all if it has fewer."""
        kept, own = self._kept[case], self._own[case]
        if launches > kept:
            self._count(case, own[kept:launches], 1)
        elif launches < kept:
            self._count(case, own[launches:kept], -1)

    def _count(self, case: str, places: Sequence[int], sign: int) -> None:
        """Add a case to launches, or remove it: the first case of a launch adds its start, the last removes it."""
        starts_s = 0.0
        for at in places:
            starts_s += 0.0 if self._open[at] > (sign < 0) else self._starts[at]
            self._open[at] += sign
        self._kept[case] += sign * len(places)
        self.total = self.total.plus(self._needs[case], sign * len(places)).plus(Need(starts_s), sign)

    def _add_blocks(self, intervals: Mapping[str, int], most_s: float, fewest: int) -> None:
        """Keep the launches that make intervals; if none of them fit, as many blocks as do, down to `fewest`."""
        before = dict(self._kept)
        for fewer in range(INTERVAL_LAUNCHES - fewest + 1):
            wanted = {case: max(before[case], launches - fewer) for case, launches in intervals.items()}
            self._add(wanted, most_s)
            if fewer == INTERVAL_LAUNCHES - fewest or any(
                self._kept[case] > before[case] for group in self._groups for case in group
            ):
                return
            self._keep_all(before)

    def _add(self, wanted: Mapping[str, int], most_s: float) -> None:
        """Keep the wanted launches of each case as far as they fit, in the order by which more of them fit.

        The sentinel comes first if it takes little time, because without it the noise is unknown.
        """
        often = max((wanted[case] for case in self._sentinels), default=0)
        is_cheap = often * self._last_s <= _SENTINEL_SHARE * most_s
        before, found = dict(self._kept), list[dict[str, int]]()
        sentinels = [(case,) for case in self._sentinels]
        for groups in (self._groups, self._sharing):
            for group in (*sentinels, *groups) if is_cheap else (*groups, *sentinels):
                kept = {case: self._kept[case] for case in group}
                self._keep_all({case: wanted[case] for case in group})
                if _CUT_MARGIN * self.total.poor_s > most_s:
                    self._keep_all(kept)
            found.append(dict(self._kept))
            self._keep_all(before)
        self._keep_all(max(found, key=lambda each: sum(each[case] for group in self._groups for case in group)))

    def _keep_all(self, launches: Mapping[str, int]) -> None:
        for case, count in launches.items():
            self._keep(case, count)

    def _add_rounds(self, intervals: Mapping[str, int], left_s: float) -> None:
        """Keep launches that make no interval, block by block, as far as all wanted samples fit.

        If nothing else remains, cases without an interval get more launches one by one.
        """
        places = range(len(self._launches) if self.total.rich_s < left_s else 0)
        blocks = grouped(places, lambda at: self._launches[at].block).values()
        alone = (group[0] for group in self._groups if self._is_again and len(group) == 1)
        short = {case for case in alone if self._kept[case] < intervals[case]}
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
        """Position between the floor and the wanted sampling (0 to 1); further seconds for a weight of 1."""
        sampling_s = max(0.0, left_s - MARGIN * need.overhead_s)
        floor_s, wanted_s = need.floor_s, need.wanted_s
        above = min(1.0, max(0.0, sampling_s - floor_s) / (wanted_s - floor_s)) if wanted_s > floor_s else 1.0
        return above, max(0.0, sampling_s - wanted_s) / need.weight if need.weight > 0 else 0.0
