"""The remaining launches of a plan, counted incrementally: a launch does not cost a pass over all others."""

from collections.abc import Iterable

import msgspec

from assay.model.plan import Plan, PlannedLaunch
from assay.run.budget import CostHistory, Outstanding


class Remaining:
    """Launches that are not made, cut or given up, without those of their cases that are.

    Args:
        plan: plan to execute.

    Attributes:
        outstanding: case -> number of measurements that remain.
    """

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._planned = {launch.id: launch for launch in plan.order}
        self._left = dict(self._planned)
        self._at = 0
        self._holding: dict[str, list[str]] = {}
        self._given_up: dict[str, list[str]] = {}
        self.outstanding: dict[str, Outstanding] = {}
        for launch in plan.order:
            self._count(launch, 1)
            for case_id in launch.cases:
                self._holding.setdefault(case_id, []).append(launch.id)

    def __len__(self) -> int:
        """Number of remaining launches."""
        return len(self._left)

    def get(self, launch_id: str) -> PlannedLaunch | None:
        """The launch with its remaining cases; None if it has none."""
        return self._left.get(launch_id)

    def first(self) -> PlannedLaunch | None:
        """The first remaining launch in the order of the plan; None if none is left."""
        order = self._plan.order
        while self._at < len(order) and order[self._at].id not in self._left:
            self._at += 1
        return self._left[order[self._at].id] if self._at < len(order) else None

    def launches(self) -> list[PlannedLaunch]:
        """All remaining launches, in the order of the plan."""
        return [self._left[each.id] for each in self._plan.order[self._at :] if each.id in self._left]

    def strike(self, launch_id: str, cases: Iterable[str]) -> None:
        """Remove cases of a launch that are made, cut or given up; unknown cases are ignored."""
        launch = self._left.get(launch_id)
        if launch is None:
            return
        struck = frozenset(cases)
        left = tuple(case_id for case_id in launch.cases if case_id not in struck)
        if len(left) == len(launch.cases):
            return
        self._count(launch, -1)
        if left:
            self._left[launch_id] = msgspec.structs.replace(launch, cases=left)
            self._count(self._left[launch_id], 1)
        else:
            del self._left[launch_id]

    def give_up(self, case_id: str) -> None:
        """Do not measure a case again, unless it is taken back."""
        for launch_id in self._holding.get(case_id, ()):
            if case_id in self._cases(launch_id):
                self._given_up.setdefault(case_id, []).append(launch_id)
            self.strike(launch_id, (case_id,))

    def take_back(self, case_id: str) -> None:
        """Undo `give_up`."""
        self._at = 0
        for launch_id in self._given_up.pop(case_id, ()):
            if launch_id in self._left:
                self._count(self._left[launch_id], -1)
            whole, wanted = self._planned[launch_id], {*self._cases(launch_id), case_id}
            cases = tuple(each for each in whole.cases if each in wanted)
            self._left[launch_id] = msgspec.structs.replace(whole, cases=cases)
            self._count(self._left[launch_id], 1)

    def _cases(self, launch_id: str) -> tuple[str, ...]:
        """The remaining cases of a launch."""
        return self._left[launch_id].cases if launch_id in self._left else ()

    def expected_s(self, costs: CostHistory) -> float:
        """Estimated seconds of all remaining launches."""
        return sum(costs.expected_s(each, case_id) for case_id, each in self.outstanding.items())

    def _count(self, launch: PlannedLaunch, sign: int) -> None:
        for case_id in launch.cases:
            times, starts = self.outstanding.get(case_id, Outstanding())
            times += sign
            if times:
                self.outstanding[case_id] = Outstanding(times, starts + sign / len(launch.cases))
            else:
                del self.outstanding[case_id]
