"""The largest problem that fits into the remaining budget, from the time of smaller ones.

Along an axis of the role `order`, work grows with the third power and memory with the second. The time of a
solution is the sum of its measured phases: no rate is assumed.
"""

from collections.abc import Mapping

from assay.catalogue import benchmarks
from assay.model import roles
from assay.model.machine import Machine
from assay.model.plan import Case, Plan
from assay.model.result import Analysis
from assay.plan.points import largest_order
from assay.plan.refinement import WantedSize

#: Time besides the solution: filling and checking as a share of it, and seconds to start.
_OVERHEAD, _START_S = 0.3, 2.0
#: Share of the remaining budget for the largest problems.
_BUDGET_SHARE = 0.9
#: Smallest ratio to the largest measured order that is worth a measurement.
_LEAST_STEP = 1.1


def largest(
    analysis: Analysis, plan: Plan, machines: Mapping[str, Machine], left_s: float | None
) -> tuple[WantedSize, ...]:
    """The largest order of each curve that fits into memory and, with all launches, into the remaining time."""
    if left_s is None:
        return ()
    took = _solution_s(analysis)
    tops = _tops(plan, took)
    share = _BUDGET_SHARE * left_s / max(1, len(tops))
    found = (_larger(plan, case, took[case.id], machines, share) for case in tops)
    return tuple(each for each in found if each)


def filling(
    plan: Plan, machines: Mapping[str, Machine], analysis: Analysis | None = None
) -> tuple[WantedSize, ...]:
    """The largest order of each curve that fits into memory, whatever its time, if it was not measured yet.

    Without an analysis its time is what the benchmark assumes.
    """
    took = _solution_s(analysis) if analysis else {case.id: 0.0 for case in plan.studied}
    found = []
    for case in _tops(plan, took):
        axis = _axis(case)
        order, size = int(case.params[axis]), _fitting(case, machines)
        if size > order:
            found.append(_wanted(case, axis, size, took[case.id] * (size / order) ** 3))
    return tuple(found)


def _tops(plan: Plan, took: Mapping[str, float]) -> tuple[Case, ...]:
    """The case with the largest measured order of each curve."""
    cases = {case.id: case for case in plan.studied}
    tops: dict[object, Case] = {}
    for case in (cases[each] for each in took if each in cases):
        axis = _axis(case)
        if axis:
            key = (case.benchmark, case.placement, *(item for item in case.params.items() if item[0] != axis))
            top = tops.get(key)
            tops[key] = case if top is None or int(case.params[axis]) > int(top.params[axis]) else top
    return tuple(tops.values())


def _axis(case: Case) -> str:
    """The axis of the order; empty if the benchmark has none."""
    axis = benchmarks.get(case.benchmark).axis("order")
    return axis.name if axis else ""


def _solution_s(analysis: Analysis) -> dict[str, float]:
    """Case -> seconds of its solution, over all phases; the longest if there are several states."""
    seconds: dict[tuple[str, str | None], float] = {}
    for each in analysis.estimates:
        if roles.role(each) == "phase-time" and each.median:
            key = each.case, each.state
            seconds[key] = seconds.get(key, 0.0) + each.median
    longest: dict[str, float] = {}
    for (case, _), value in seconds.items():
        longest[case] = max(value, longest.get(case, 0.0))
    return longest


def _larger(
    plan: Plan, case: Case, took_s: float, machines: Mapping[str, Machine], seconds: float
) -> WantedSize | None:
    axis = _axis(case)
    order = int(case.params[axis])
    repeats = sum(each.subject == case.subject for each in plan.cases)
    each_s = seconds / (plan.launches * repeats) - _START_S
    if each_s <= 0:
        return None
    grain = int(case.params.get(benchmarks.get(case.benchmark).order_grain, 1))
    wanted = int(order * (each_s / ((1 + _OVERHEAD) * took_s)) ** (1 / 3)) // grain * grain
    size = min(wanted, _fitting(case, machines))
    if size < _LEAST_STEP * order:
        return None
    return _wanted(case, axis, size, took_s * (size / order) ** 3)


def _wanted(case: Case, axis: str, size: int, solution_s: float) -> WantedSize:
    seconds = _START_S + (1 + _OVERHEAD) * solution_s if solution_s else None
    return WantedSize(case.id, axis, size, float("inf"), seconds)


def _fitting(case: Case, machines: Mapping[str, Machine]) -> int:
    """The largest order that fits into the memory of a case's hosts; 0 if their memory is unknown."""
    free = [machines[host].memory.value for host in case.placement.hosts if host in machines]
    known = [each for each in free if isinstance(each, int)]
    least = min(known, default=0) if len(known) == len(free) else 0
    return largest_order(benchmarks.get(case.benchmark), case.params, case.placement, least)
