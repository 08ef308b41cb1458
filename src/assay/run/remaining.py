"""The launches of a plan that remain, counted so that nobody walks over all of them for each launch."""

from collections.abc import Iterable

import msgspec

from assay.model.plan import Plan, PlannedLaunch
from assay.run.budget import CostHistory, Outstanding


class Remaining:
    """Launches that are neither made nor cut nor given up, without the cases of them that are.

    Args:
        plan: to be executed.

    Attributes:
        outstanding: case -> how often it is still to be measured.
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
        """Launches."""
        return len(self._left)

    def get(self, launch_id: str) -> PlannedLaunch | None:
        """The launch with the cases that are left of it; None if none are."""
        return self._left.get(launch_id)

    def first(self) -> PlannedLaunch | None:
        """The first launch in the order of the plan; None if none is left."""
        order = self._plan.order
        while self._at < len(order) and order[self._at].id not in self._left:
            self._at += 1
        return self._left[order[self._at].id] if self._at < len(order) else None

    def launches(self) -> list[PlannedLaunch]:
        """All that are left, in the order of the plan."""
        return [self._left[each.id] for each in self._plan.order[self._at :] if each.id in self._left]

    def strike(self, launch_id: str, cases: Iterable[str]) -> None:
        """These cases of the launch are made, cut or given up; unknown ones are none."""
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
        """A case is not tried again, unless it is taken back."""
        for launch_id in self._holding.get(case_id, ()):
            if case_id in self._cases(launch_id):
                self._given_up.setdefault(case_id, []).append(launch_id)
            self.strike(launch_id, (case_id,))

    def take_back(self, case_id: str) -> None:
        """A case that was given up is to be measured again as often as it was then."""
        self._at = 0
        for launch_id in self._given_up.pop(case_id, ()):
            if launch_id in self._left:
                self._count(self._left[launch_id], -1)
            whole, wanted = self._planned[launch_id], {*self._cases(launch_id), case_id}
            cases = tuple(each for each in whole.cases if each in wanted)
            self._left[launch_id] = msgspec.structs.replace(whole, cases=cases)
            self._count(self._left[launch_id], 1)

    def _cases(self, launch_id: str) -> tuple[str, ...]:
        """What is left of a launch."""
        return self._left[launch_id].cases if launch_id in self._left else ()

    def expected_s(self, costs: CostHistory) -> float:
        """Estimate of the seconds that all of it takes."""
        return sum(costs.expected_s(each, case_id) for case_id, each in self.outstanding.items())

    def _count(self, launch: PlannedLaunch, sign: int) -> None:
        for case_id in launch.cases:
            times, starts = self.outstanding.get(case_id, Outstanding())
            times += sign
            if times:
                self.outstanding[case_id] = Outstanding(times, starts + sign / len(launch.cases))
            else:
                del self.outstanding[case_id]
