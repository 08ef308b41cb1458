"""What became of every launch of the plan so far, and what therefore comes next."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec

from assay.model.plan import Plan, PlannedLaunch
from assay.model.run import LaunchRecords, Run
from assay.run.budget import Experience, allot, expected_s, inexperienced, spare_s
from assay.run.records import failures
from assay.run.watcher import Progress

#: A case that failed this often in a program is not tried again.
_MOST_FAILURES = 2
#: Repeats of one disturbed launch.
_MOST_REPEATS = 2
#: Repeats of all launches together, as a share of the plan: a machine that is never quiet is not waited for.
_REPEATED_SHARE = 0.25
_FEWEST_REPEATS = 4
#: Repeats never take more than this share of a budget from launches that have not been made once.
_REPEATED_TIME = 0.2
#: An estimate of time that shall suffice is this much longer than what is expected.
_ROOM = 1.2
#: Probes around a launch of an earlier session, which only the launch itself was timed of.
_PROBES_S = 0.05


class Unmade(NamedTuple):
    """What a run was planned to make and has not made, though nothing was wrong with it.

    Attributes:
        launches: of which cases are missing.
        used_s: what the run took so far.
        needed_s: an estimate of what the whole of it takes.
    """

    launches: int
    used_s: float
    needed_s: float


def unmade(run: Run, plan: Plan | None = None) -> Unmade | None:
    """What resuming a run would make of its study, or of one plan of experiments; None where there is nothing."""
    plan = plan or run.plan
    ledger = Ledger(plan, run.of(plan), 0.0)
    launches = ledger.remaining()
    used_s = ledger.elapsed_s(0.0)
    needed_s = used_s + _ROOM * expected_s(plan, launches, ledger.experience)
    return Unmade(len(launches), used_s, needed_s) if launches else None


class Ledger:
    """Books each launch once and answers what is left to do.

    Args:
        plan: to be executed.
        history: launches committed by earlier sessions.
        began_s: executor's clock when this session began.
    """

    def __init__(self, plan: Plan, history: Sequence[LaunchRecords], began_s: float) -> None:
        self.plan = plan
        self.began_s = began_s
        self.earlier_s = 0.0
        self.experience: Experience = inexperienced(plan)
        self._left = {launch.id: launch for launch in plan.order}
        self._launches: Counter[str] = Counter()
        self._failures: Counter[tuple[str, str]] = Counter()
        self._why: dict[str, str] = {}
        self._repeats = 0
        self._repeated_s = 0.0
        self._budget_cut: set[str] = set()
        self._last_block: float = math.inf
        for records in history:
            wall_s = records.launch.bracket.elapsed_s + _PROBES_S
            self.earlier_s += wall_s
            self.book(records, {}, wall_s)

    def book(self, records: LaunchRecords, allowed: Mapping[str, float], wall_s: float) -> None:
        """A launch is committed."""
        launch = records.launch
        self.experience = self.experience.after(self.plan, records, allowed, wall_s)
        new = frozenset(self._left[launch.id].cases if launch.id in self._left else ())
        told = (*(case.header.case for case in records.cases), *records.unstarted)
        self._launches.update(case_id for case_id in told if case_id in new)
        self._strike(launch.id, launch.cases)
        if launch.attempt:
            self._repeats += 1
            self._repeated_s += wall_s
        for case_id, why in failures(records).items():
            self._failures[launch.program, case_id] += 1
            self._why[case_id] = why

    def remaining(self) -> list[PlannedLaunch]:
        """Launches not made and not cut, in order, without the cases that are made or keep failing."""
        if not self._failures:
            return list(self._left.values())
        left = []
        for launch in self._left.values():
            cases = tuple(case_id for case_id in launch.cases if not self._given_up(launch, case_id))
            if cases:
                whole = len(cases) == len(launch.cases)
                left.append(launch if whole else msgspec.structs.replace(launch, cases=cases))
        return left

    def allot(self, launch: PlannedLaunch, now_s: float) -> dict[str, float]:
        """Seconds of sampling for the cases of a launch that is about to start; one that is missing is cut.

        After the first block of which something is cut, only what was never measured is made.
        """
        others = [other for other in self.remaining() if other.id != launch.id]
        measured = frozenset(self._launches)
        seconds = allot(self.plan, [launch, *others], self.left_s(now_s), measured, self.experience)
        late = launch.block > self._last_block
        return {case_id: share for case_id, share in seconds.items() if not (late and case_id in measured)}

    def cut(self, launch: PlannedLaunch, cases: Iterable[str]) -> None:
        """The budget has no time for these cases of the launch."""
        cut = tuple(cases)
        self._budget_cut.update(cut)
        if cut:
            self._last_block = min(self._last_block, launch.block)
        self._strike(launch.id, cut)

    def may_repeat(self, records: LaunchRecords, cost_s: float, now_s: float) -> bool:
        """Whether a disturbed launch, which took `cost_s`, is made once more.

        With a budget, not before every launch of the first block is made: all cases once come before any repeat.
        """
        remaining = self.remaining()
        covering = self.plan.budget_s is not None and any(one.block == 0 for one in remaining)
        most = max(_FEWEST_REPEATS, round(_REPEATED_SHARE * len(self.plan.order)))
        return (
            bool(records.launch.bracket.disturbance)
            and not failures(records)
            and not covering
            and records.launch.attempt < _MOST_REPEATS
            and self._repeats < most
            and self._repeated_s + cost_s <= _REPEATED_TIME * (self.plan.budget_s or math.inf)
            and spare_s(remaining, self.left_s(now_s), self.experience) > cost_s
        )

    def elapsed_s(self, now_s: float) -> float:
        """Of all sessions together."""
        return self.earlier_s + now_s - self.began_s

    def left_s(self, now_s: float) -> float | None:
        """Of the budget; None without one."""
        return None if self.plan.budget_s is None else self.plan.budget_s - self.elapsed_s(now_s)

    def progress(self, now_s: float) -> Progress:
        """For people who wait."""
        remaining = self.remaining()
        expected, left = expected_s(self.plan, remaining, self.experience), self.left_s(now_s)
        planned = len(self.plan.order)
        return Progress(
            planned - len(remaining), planned, expected if left is None else max(0.0, min(expected, left))
        )

    def shortfalls(self, *, interrupted: bool) -> dict[str, str]:
        """Case -> why it has fewer launches than planned, for every such case."""
        planned = Counter(case_id for launch in self.plan.order for case_id in launch.cases)
        return {
            case.id: self._why_short(case.id, planned[case.id], interrupted=interrupted)
            for case in self.plan.cases
            if self._launches[case.id] < planned[case.id]
        }

    def _why_short(self, case_id: str, planned: int, *, interrupted: bool) -> str:
        made = self._launches[case_id]
        count = f"{made} of {planned} launches" if made else "not measured"
        failed = max((n for (_, case), n in self._failures.items() if case == case_id), default=0)
        if failed >= _MOST_FAILURES:
            return f"{count}: failed {failed} times, the last time because {self._why[case_id]}"
        if case_id in self._budget_cut and self.plan.budget_s is not None:
            return f"{count}: the budget of {self.plan.budget_s:g} s was used up"
        return f"{count}: {'interrupted' if interrupted else 'its program ended before it came to this case'}"

    def _strike(self, launch_id: str, cases: Sequence[str]) -> None:
        """These cases of the launch are made or cut: what is left of it is what a run goes on with."""
        launch = self._left.get(launch_id)
        if launch is None:
            return
        left = tuple(case_id for case_id in launch.cases if case_id not in cases)
        if left:
            self._left[launch_id] = msgspec.structs.replace(launch, cases=left)
        else:
            del self._left[launch_id]

    def _given_up(self, launch: PlannedLaunch, case_id: str) -> bool:
        return self._failures[launch.program, case_id] >= _MOST_FAILURES
