"""The state of every launch of a plan, and the launches that remain."""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec

from assay.model.plan import Plan, PlannedLaunch
from assay.model.record import Launch
from assay.model.run import LaunchRecords, Run, Shortfall, seconds_used, wall_s
from assay.run.budget import CostHistory, Outstanding
from assay.run.records import failures
from assay.run.remaining import Remaining
from assay.run.spread import Spread, overrun_s
from assay.run.watcher import Progress

#: A case that failed this often in a program is not tried again.
_MOST_FAILURES = 2
#: Repeats of one disturbed launch.
_MOST_REPEATS = 2
#: Repeats of all launches, as a share of the plan: Assay does not wait for a machine that is never quiet.
_REPEATED_SHARE = 0.25
_FEWEST_REPEATS = 4
#: Maximum wait for a quiet machine in a run, and as a share of a budget; without a budget at most the time of the
#: plan itself.
_LONGEST_WAIT_S = 30.0
_WAITED_SHARE = 0.1
#: Largest share of a budget for repeats.
_REPEATED_TIME = 0.2
#: A sufficient time, relative to the expected one: it includes waiting and repeats.
_ROOM = 1.2 + _WAITED_SHARE + _REPEATED_TIME
#: From this share of a budget on, failed launches are named as the reason why it was used up.
_FAILED_SHARE = 0.25
#: A launch is ended after this part of the time by which a budget may be exceeded; the rest is for its processes
#: to end. No launch is ended earlier than this.
_OF_OVERRUN, _LEAST_S = 0.75, 0.5
#: A launch that takes longer than expected by this factor is slow.
_SLOW = 2.0
#: If the costs of a launch differ from the expected ones by this share, the budget is spread again.
_DIFFERS = 0.25
#: Each factor of a case with its level.
_Levels = frozenset[tuple[str, str]]


class RemainingWork(NamedTuple):
    """The launches of a plan that were not made, not counting failed ones.

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
        run: the run so far.
        plan: plan of experiments; None for the study.
        used_s: seconds that it has used, including the time between launches, if its ending does not state them.
    """
    used_s = max(used_s, run.study_s or 0.0) if plan is None else used_s
    plan = plan or run.plan
    ledger = Ledger(plan, run.of(plan), 0.0)
    used_s, left = max(used_s, ledger.elapsed_s(0.0)), ledger.left
    needed_s = used_s + _ROOM * left.expected_s(ledger.costs)
    return RemainingWork(len(left), used_s, needed_s) if left else None


def begun(run: Run) -> tuple[Plan, ...]:
    """The parts of a run that were stopped: its study if it has no ending, experiments that have time left."""
    left = ((each, remaining_work(run, each)) for each in run.plan.trials)
    trials = [each for each, work in left if work and (each.budget_s is None or work.used_s < each.budget_s)]
    return (*((run.plan,) if run.ending is None else ()), *trials)


class Ledger:
    """The ledger counts each launch once and knows which launches remain.

    Args:
        plan: plan to execute.
        history: launches of earlier parts of the run.
        began_s: executor's clock when this part of the run began.
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
        #: Launch -> how often it lost a node, or its budget, in earlier parts of the run.
        self.lost: Counter[str] = Counter()
        self._launches: Counter[str] = Counter()
        #: The same; but for a case that a later stage measures again, only the launches of that stage, which are
        #: paired within blocks.
        self._paired: Counter[str] = Counter()
        self._since = _newest_blocks(plan)
        self._failures: Counter[str] = Counter()
        self._why: dict[str, str] = {}
        self._begun: set[str] = set()
        self._repeats = 0
        self._repeated_s = 0.0
        self._budget_cut: set[str] = set()
        self._failed_s = 0.0
        #: Case in which the budget ended a launch, and the seconds of that launch.
        self._ended = "", 0.0
        self._made = self._reconsidered = 0
        self._sentinels = {case.id for case in plan.cases if case.role == "sentinel"}
        self._levels = {case.id: frozenset(case.factors.items()) for case in plan.cases}
        #: Seconds of a budget for each combination of levels: one slow network takes no time from the others.
        self._share_s = (plan.budget_s or math.inf) / max(1, len({self._levels[case.id] for case in plan.studied}))
        self._overrun_s = overrun_s(plan)
        for records in history:
            if records.launch.lost or records.launch.over_budget:
                self._book_part(records)
            else:
                self.book(records, {}, wall_s(records.launch))
        self._kept_s = plan.later_share * max(0.0, (plan.budget_s or 0.0) - self.earlier_s)

    def _book_part(self, records: LaunchRecords) -> None:
        """Count the cases that a launch completed before it lost a node, or its budget: the rest is made again."""
        whole = tuple(case.header.case for case in records.cases if case.end and case.end.status == "complete")
        self.lost[records.launch.id] += 1
        self._count(self.left.get(records.launch.id), whole)
        self.strike(records.launch.id, whole)

    def book(self, records: LaunchRecords, allowed: Mapping[str, float], wall_s: float) -> None:
        """Count a committed launch, its failures and its cost."""
        launch = records.launch
        self._made += 1
        self._begun.add(launch.id)
        planned = self.left.get(launch.id)
        before_s = self._foreseen_s(planned)
        self.costs.learn(records, allowed, wall_s)
        after_s = self._foreseen_s(planned)
        self._differs |= abs(after_s - before_s) > _DIFFERS * before_s
        self._in_block += 1
        made = [case.header.case for case in records.cases if case.end or not launch.over_budget]
        self._count(planned, (*made, *records.unstarted))
        self.strike(launch.id, launch.cases)
        if launch.over_budget:
            self._cut_others_of(launch, made)
            self._ended = next((case_id for case_id in launch.cases if case_id not in made), ""), wall_s
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
        """The next launch that is not made and not cut, without cases that are made or failed repeatedly.

        If none remains and time is left, cases that were cut are considered again, as long as this leads to
        launches: earlier launches may have taken less time than expected.
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
        """Seconds of sampling for the cases of a launch that is about to start; a missing case is cut."""
        left_s = self.left_s(now_s)
        self._forget_outdated(launch.block)
        if left_s is None:
            return {case_id: self.costs.unlimited_s(case_id) for case_id in launch.cases}
        if not repeat:
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

    def _cut_others_of(self, launch: Launch, made: Collection[str]) -> None:
        """Cut what a launch that took its share of the budget did not finish, and all else at its levels."""
        levels = self._levels[launch.cases[0]]
        several = len({*self._levels.values()}) > 1
        others = (case_id for case_id in self.left.outstanding if several and self._levels[case_id] == levels)
        self.cut([*(case_id for case_id in launch.cases if case_id not in made), *others])
        self._spread = None

    def cut(self, cases: Iterable[str]) -> None:
        """Give up these cases, because the budget has no time for them."""
        cut = tuple(cases)
        if not cut:
            return
        for case_id in cut:
            self._budget_cut.add(case_id)
            self.left.give_up(case_id)
        self._expected_s = None
        if self.left.outstanding.keys() <= self._sentinels:  # without other launches drift does not matter
            self._budget_cut |= self.left.outstanding.keys()
            for case_id in tuple(self.left.outstanding):
                self.left.give_up(case_id)

    def may_repeat(self, records: LaunchRecords, cost_s: float, now_s: float) -> bool:
        """Whether a disturbed launch, which took `cost_s`, is repeated now.

        A repeat never replaces a launch that a case needs.
        """
        most = max(_FEWEST_REPEATS, round(_REPEATED_SHARE * len(self.plan.order)))
        return (
            bool(records.launch.bracket.disturbance)
            and not failures(records)
            and not records.launch.over_budget
            and records.launch.attempt < _MOST_REPEATS
            and self._repeats < most
            and self._repeated_s + cost_s <= _REPEATED_TIME * (self.plan.budget_s or math.inf)
            and self._spare_s(now_s) > cost_s
        )

    def patience_s(self, now_s: float) -> float:
        """Maximum seconds to wait for the machine to become quiet."""
        budget_s = self.plan.budget_s
        share_s = self.plan.estimate_s if budget_s is None else _WAITED_SHARE * budget_s
        most_s = min(_LONGEST_WAIT_S, share_s)
        return max(0.0, min(most_s - self.waited_s, self._spare_s(now_s)))

    def elapsed_s(self, now_s: float) -> float:
        """Seconds used so far, over all parts of the run."""
        return self.earlier_s + now_s - self.began_s

    def left_s(self, now_s: float) -> float | None:
        """Remaining seconds of the budget, without the part kept for later rounds.

        None without a budget.
        """
        if self.plan.budget_s is None:
            return None
        return self.plan.budget_s - self._kept_s - self.elapsed_s(now_s)

    def most_s(self, launch: PlannedLaunch, now_s: float) -> float:
        """Seconds after which a launch that begins now is ended, because it has used up the budget of the user.

        If there are several levels, one that takes twice as long as expected gets the share of its level.
        """
        if self.plan.budget_s is None or math.isinf(self._overrun_s):
            return math.inf
        needed_s = self.costs.launch(launch).rich_s
        left_s = self.plan.budget_s - self.elapsed_s(now_s) + _OF_OVERRUN * self._overrun_s
        return max(_LEAST_S, min(left_s, max(self._share_s, _SLOW * needed_s)))

    def progress(self, now_s: float) -> Progress:
        """Progress, for the user."""
        if self._expected_s is None:
            self._expected_s = self.left.expected_s(self.costs)
        expected, left = max(0.0, self._expected_s) if self.left else 0.0, self.left_s(now_s)
        outstanding, planned = len(self.left), len(self.plan.order)
        taken_back = self._begun if self._reconsidered else ()  # some of them may have cases left
        made = len(self._begun) - sum(self.left.get(launch) is not None for launch in taken_back)
        return Progress(
            made,
            made + outstanding,
            max(0, planned - made - outstanding),  # one made again for the rest of its cases is one more
            expected if left is None else max(0.0, min(expected, left)),
            self.elapsed_s(now_s),
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
        """Why a budget was used up; failed launches are named if they took a large part of it."""
        used = f"the budget of {budget_s:g} s was used up"
        if self._ended[0] and self._ended[1] >= _FAILED_SHARE * budget_s:
            return f"{used}, {self._ended[1]:.0f} s of it by the launch that it ended in {self._ended[0]}"
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
        """Remove cases of a launch that are made or cut."""
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

    def _forget_outdated(self, block: int) -> None:
        """Spread the budget again at the start of a block, and inside it if launches cost other than expected.

        Inside a block this is done at most after 1, 2, 4, 8 ... launches: it takes time in proportion to the
        cases.
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
        """Seconds that are left if every remaining launch takes only its minimum: they may be used for repeats."""
        left_s = self.left_s(now_s)
        return math.inf if left_s is None or self._spread is None else self._spread.spare_s(left_s)

    def _foreseen_s(self, launch: PlannedLaunch | None) -> float:
        return self.costs.launch(launch).poor_s if launch else 0.0


def _newest_blocks(plan: Plan) -> dict[str, int]:
    """Case of the newest stage of a plan -> first block of that stage, that is, of its newest cases."""
    first: dict[str, int] = {}
    for launch in plan.order:
        for case_id in launch.cases:
            first.setdefault(case_id, launch.block)
    begun = max(first.values(), default=0)
    return {case_id: begun for launch in plan.order if launch.block >= begun for case_id in launch.cases}
