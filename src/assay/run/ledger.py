"""The state of every launch of a plan, and the launches that remain."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec

from assay.model.plan import Plan, PlannedLaunch
from assay.model.run import LaunchRecords, Run, Shortfall, seconds_used, wall_s
from assay.run.budget import CostHistory, Outstanding
from assay.run.records import failures
from assay.run.remaining import Remaining
from assay.run.spread import Spread
from assay.run.watcher import Progress

#: A case that failed this often in a program is not tried again.
_MOST_FAILURES = 2
#: Repeats of one disturbed launch.
_MOST_REPEATS = 2
#: Repeats of all launches together, as a share of the plan: a machine that is never quiet is not waited for.
_REPEATED_SHARE = 0.25
_FEWEST_REPEATS = 4
#: The machine is waited for no longer than this in a run, and no more than this share of a budget; without one no
#: longer than the plan itself takes.
_LONGEST_WAIT_S = 30.0
_WAITED_SHARE = 0.1
#: Repeats never take more than this share of a budget from launches that have not been made once.
_REPEATED_TIME = 0.2
#: An estimate that shall suffice is this much longer than what is expected: waiting and repeats have their part.
_ROOM = 1.2 + _WAITED_SHARE + _REPEATED_TIME
#: From this share of a budget on, what launches took that failed is why it was used up.
_FAILED_SHARE = 0.25
#: Costs of a launch that differ this much from those foreseen, as a share of them, have the budget spread again.
_DIFFERS = 0.25
#: Each factor of a case with its level.
_Levels = frozenset[tuple[str, str]]


class RemainingWork(NamedTuple):
    """The launches of a plan that were not made, though none of them failed.

    Attributes:
        launches: number of launches with missing cases.
        used_s: seconds that the run has used so far.
        needed_s: estimated seconds of the whole run.
    """

    launches: int
    used_s: float
    needed_s: float


def remaining_work(run: Run, plan: Plan | None = None, used_s: float = 0.0) -> RemainingWork | None:
    """The work that a resumed run would do for its study, or for one plan of experiments; None if none is left.

    Args:
        run: as far as it is made.
        plan: of experiments; None for the study.
        used_s: seconds that it has used, where its ending does not say so: what passed between launches, too.
    """
    used_s = max(used_s, run.study_s or 0.0) if plan is None else used_s
    plan = plan or run.plan
    ledger = Ledger(plan, run.of(plan), 0.0)
    used_s, left = max(used_s, ledger.elapsed_s(0.0)), ledger.left
    needed_s = used_s + _ROOM * left.expected_s(ledger.costs)
    return RemainingWork(len(left), used_s, needed_s) if left else None


def begun(run: Run) -> tuple[Plan, ...]:
    """The parts of a run that were stopped: its study where it has no ending, experiments that have time left."""
    left = ((each, remaining_work(run, each)) for each in run.plan.trials)
    trials = [each for each, work in left if work and (each.budget_s is None or work.used_s < each.budget_s)]
    return (*((run.plan,) if run.ending is None else ()), *trials)


class Ledger:
    """The ledger counts each launch once and knows which launches remain.

    Args:
        plan: to be executed.
        history: launches committed by earlier sessions.
        began_s: executor's clock when this session began.
    """

    def __init__(self, plan: Plan, history: Sequence[LaunchRecords], began_s: float) -> None:
        self.plan = plan
        self.began_s = began_s
        self.earlier_s = seconds_used(history, plan.prepared_s)
        self.waited_s = 0.0
        self.costs = CostHistory(plan)
        self.left = Remaining(plan)
        self._spread: Spread | None = None
        self._expected_s: float | None = None
        self._block, self._in_block, self._next_spread, self._differs = -1, 0, 1, False
        #: Launch -> how often it lost a node in earlier sessions.
        self.lost: Counter[str] = Counter()
        self._launches: Counter[str] = Counter()
        #: The same, of a case that a later stage measures again in that stage: it is paired within blocks.
        self._paired: Counter[str] = Counter()
        self._since = _newest_blocks(plan)
        self._failures: Counter[str] = Counter()
        self._why: dict[str, str] = {}
        self._begun: set[str] = set()
        self._repeats = 0
        self._repeated_s = 0.0
        self._budget_cut: set[str] = set()
        self._failed_s = 0.0
        self._made = self._reconsidered = 0
        self._sentinels = {case.id for case in plan.cases if case.role == "sentinel"}
        #: Levels of factors -> seconds by which single launches under them took more than their share of a budget
        #: that a user gave: one slow network, or toolchain, takes no time from the others.
        self._excess_s: dict[_Levels, float] = {}
        self._levels = {case.id: frozenset(case.factors.items()) for case in plan.cases}
        shares = len({self._levels[case.id] for case in plan.studied})
        self._share_s = math.inf if plan.grows else (plan.budget_s or math.inf) / max(1, shares)
        for records in history:
            if records.launch.lost:
                self._book_lost(records)
            else:
                self.book(records, {}, wall_s(records.launch))
        self._kept_s = plan.later_share * max(0.0, (plan.budget_s or 0.0) - self.earlier_s)

    def _book_lost(self, records: LaunchRecords) -> None:
        """Count what a launch completed before it lost a node: the rest is made again, now that it is back."""
        whole = tuple(case.header.case for case in records.cases if case.end and case.end.status == "complete")
        self.lost[records.launch.id] += 1
        self._count(self.left.get(records.launch.id), whole)
        self.strike(records.launch.id, whole)

    def book(self, records: LaunchRecords, allowed: Mapping[str, float], wall_s: float) -> None:
        """Count a committed launch, its failures and its cost."""
        launch = records.launch
        self._made += 1
        self._begun.add(launch.id)
        if wall_s > self._share_s:
            levels = self._levels[launch.cases[0]]
            self._excess_s[levels] = self._excess_s.get(levels, 0.0) + wall_s - self._share_s
        planned = self.left.get(launch.id)
        before_s = self._foreseen_s(planned)
        self.costs.learn(records, allowed, wall_s)
        after_s = self._foreseen_s(planned)
        self._differs |= abs(after_s - before_s) > _DIFFERS * before_s
        self._in_block += 1
        self._count(planned, (*(case.header.case for case in records.cases), *records.unstarted))
        self.strike(launch.id, launch.cases)
        self.waited_s += launch.waited_s
        if launch.attempt > self.lost[launch.id]:
            self._repeats += 1
            self._repeated_s += wall_s
        failed = failures(records)
        self._failed_s += wall_s if failed else 0.0
        for case_id, why in failed.items():
            self._failures[case_id] += 1
            self._why[case_id] = why
            if self._failures[case_id] == _MOST_FAILURES:
                self.left.give_up(case_id)

    def following(self, now_s: float) -> PlannedLaunch | None:
        """The next launch that is not made and not cut, without the cases that are made or keep failing.

        Where none remains and time is left, what was cut is considered once more, as long as launches come of
        it: those before may have taken less than was foreseen.
        """
        left_s = self.left_s(now_s)
        if not self.left and self._budget_cut and self._made > self._reconsidered and left_s and left_s > 0:
            self._reconsidered = self._made
            for case_id in self._budget_cut:
                if self._failures[case_id] < _MOST_FAILURES:
                    self.left.take_back(case_id)
            self._budget_cut.clear()
            self._expected_s = self._spread = None
        return self.left.first()

    def allot(self, launch: PlannedLaunch, now_s: float, *, repeat: bool = False) -> dict[str, float]:
        """Seconds of sampling for the cases of a launch that is about to start; one that is missing is cut."""
        left_s = self.left_s(now_s)
        self._forget_what_has_changed(launch.block)
        if left_s is None:
            return {case_id: self.costs.unlimited_s(case_id) for case_id in launch.cases}
        if not repeat:
            self._cut_what_had_its_share(left_s)
            launch = self.left.get(launch.id) or msgspec.structs.replace(launch, cases=())
        if not launch.cases:
            return {}
        if self._spread is None or not (repeat or self._spread.fits(launch, left_s)):
            known = self.left.launches(), self._paired, left_s, self.costs
            self._spread = Spread(self.plan, *known, again=self._reconsidered > 0)
            self.cut(self._spread.dropped)
        if not repeat and self.left.get(launch.id) is None:
            return {}
        return self._spread.allot(launch, left_s, repeat=repeat)

    def _cut_what_had_its_share(self, left_s: float) -> None:
        """Cut what is left under levels that had all of the time that others left, and more."""
        had = {levels for levels, excess_s in self._excess_s.items() if left_s <= excess_s}
        if had:
            self.cut(case_id for case_id in self.left.outstanding if self._levels[case_id] in had)
            self._spread = None

    def cut(self, cases: Iterable[str]) -> None:
        """The budget has no time for these cases any more."""
        cut = tuple(cases)
        if not cut:
            return
        for case_id in cut:
            self._budget_cut.add(case_id)
            self.left.give_up(case_id)
        self._expected_s = None
        if self.left.outstanding.keys() <= self._sentinels:  # what drifts between no launches is nobody's matter
            self._budget_cut |= self.left.outstanding.keys()
            for case_id in tuple(self.left.outstanding):
                self.left.give_up(case_id)

    def may_repeat(self, records: LaunchRecords, cost_s: float, now_s: float) -> bool:
        """Whether a disturbed launch, which took `cost_s`, is made once more, before time is spent elsewhere.

        Never at the price of a launch that a case needs.
        """
        most = max(_FEWEST_REPEATS, round(_REPEATED_SHARE * len(self.plan.order)))
        return (
            bool(records.launch.bracket.disturbance)
            and not failures(records)
            and records.launch.attempt < _MOST_REPEATS
            and self._repeats < most
            and self._repeated_s + cost_s <= _REPEATED_TIME * (self.plan.budget_s or math.inf)
            and self._spare_s(now_s) > cost_s
        )

    def patience_s(self, now_s: float) -> float:
        """Seconds that the machine may be waited for to become quiet."""
        budget_s = self.plan.budget_s
        share_s = self.plan.estimate_s if budget_s is None else _WAITED_SHARE * budget_s
        most_s = min(_LONGEST_WAIT_S, share_s)
        return max(0.0, min(most_s - self.waited_s, self._spare_s(now_s)))

    def elapsed_s(self, now_s: float) -> float:
        """Seconds used so far, over all parts of the run."""
        return self.earlier_s + now_s - self.began_s

    def left_s(self, now_s: float) -> float | None:
        """Of the budget, without what is kept for cases that wait, for levels that had their share at most.

        None without a budget.
        """
        if self.plan.budget_s is None:
            return None
        return self.plan.budget_s - self._kept_s - self.elapsed_s(now_s) + sum(self._excess_s.values())

    def progress(self, now_s: float) -> Progress:
        """For people who wait."""
        if self._expected_s is None:
            self._expected_s = self.left.expected_s(self.costs)
        expected, left = max(0.0, self._expected_s) if self.left else 0.0, self.left_s(now_s)
        outstanding, planned = len(self.left), len(self.plan.order)
        taken_back = self._begun if self._reconsidered else ()  # some of them may have cases left
        made = len(self._begun) - sum(self.left.get(launch) is not None for launch in taken_back)
        return Progress(
            made,
            made + outstanding,
            planned - made - outstanding,
            expected if left is None else max(0.0, min(expected, left)),
        )

    def shortfalls(self, *, interrupted: bool) -> dict[str, Shortfall]:
        """Case -> why it has fewer launches than planned, for every such case."""
        planned = Counter(case_id for launch in self.plan.order for case_id in launch.cases)
        return {
            case.id: self._why_short(case.id, planned[case.id], interrupted=interrupted)
            for case in self.plan.cases
            if self._launches[case.id] < planned[case.id]
        }

    def _why_short(self, case_id: str, planned: int, *, interrupted: bool) -> Shortfall:
        made = self._launches[case_id]
        failed = self._failures[case_id]
        if failed >= _MOST_FAILURES:
            why = f"failed {failed} times, the last time because {self._why[case_id]}"
            return Shortfall("failures", why, made, planned)
        if case_id in self._budget_cut and self.plan.budget_s is not None:
            return Shortfall("budget", self._used_up(self.plan.budget_s), made, planned)
        if interrupted:
            return Shortfall("interrupted", "interrupted", made, planned)
        return Shortfall("unreached", "its program ended before it came to this case", made, planned)

    def _used_up(self, budget_s: float) -> str:
        """What used a budget up: launches that failed are named where they took a large part of it."""
        used = f"the budget of {budget_s:g} s was used up"
        if self._failed_s < _FAILED_SHARE * budget_s:
            return used
        case, why = next(iter(self._why.items()))
        return f"{used}, {self._failed_s:.0f} s of it by launches that failed ({case}: {why})"

    def _count(self, planned: PlannedLaunch | None, cases: Iterable[str]) -> None:
        """Count a launch for those of its planned cases that it measured."""
        if planned is None:
            return
        made = [case_id for case_id in cases if case_id in planned.cases]
        self._launches.update(made)
        self._paired.update(each for each in made if planned.block >= self._since.get(each, 0))

    def strike(self, launch_id: str, cases: Sequence[str]) -> None:
        """These cases of the launch are made or cut: what is left of it is what a run goes on with."""
        launch = self.left.get(launch_id)
        if launch is None:
            return
        part = Outstanding(1, 1 / len(launch.cases))
        for case_id in cases:
            if self._expected_s is not None and case_id in launch.cases:
                self._expected_s -= self.costs.expected_s(part, case_id)
            if self._spread and case_id in launch.cases:
                self._spread.through(case_id)
        self.left.strike(launch_id, cases)

    def _forget_what_has_changed(self, block: int) -> None:
        """Have all that remains looked at again at the start of a block, and in it where launches cost otherwise.

        In a block that is after 1, 2, 4, 8 ... launches at the most: looking takes as long as a block has cases.
        """
        if block != self._block:
            self._block, self._in_block, self._next_spread = block, 0, 1
        elif self._differs and self._in_block >= self._next_spread:
            self._next_spread = 2 * self._in_block
        else:
            return
        self._spread = self._expected_s = None
        self._differs = False

    def _spare_s(self, now_s: float) -> float:
        """Seconds that are left when every remaining launch takes only what it needs: what repeats may cost."""
        left_s = self.left_s(now_s)
        return math.inf if left_s is None or self._spread is None else self._spread.spare_s(left_s)

    def _foreseen_s(self, launch: PlannedLaunch | None) -> float:
        return self.costs.launch(launch).poor_s if launch else 0.0


def _newest_blocks(plan: Plan) -> dict[str, int]:
    """Cases that the newest stage of a plan measures -> its first block: the first that holds the newest cases."""
    first: dict[str, int] = {}
    for launch in plan.order:
        for case_id in launch.cases:
            first.setdefault(case_id, launch.block)
    begun = max(first.values(), default=0)
    return {case_id: begun for launch in plan.order if launch.block >= begun for case_id in launch.cases}
