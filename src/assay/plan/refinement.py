"""More sizes where a curve is not known well enough, in extra blocks after those of the study.

The method depends on the role of the swept axis. Messages: a point that is off the line between its neighbours, on
logarithmic axes, by more than 5 % and by more than its own interval, marks a bend, and the steps on both sides are
halved. Working sets: steps whose ends differ by more than 5 %, and by more than their intervals, are
halved down to 8 sizes per octave; a curve that continues according to its model gets its next octave.
"""

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec

from assay.catalogue import benchmarks
from assay.model.declaration import Axis
from assay.model.left_out import LeftOut
from assay.model.machine import Machine
from assay.model.plan import Case, Plan, PlannedLaunch
from assay.model.result import Analysis, Estimate
from assay.model.role_words import AxisRole
from assay.model.units import format_size
from assay.plan.order import append_blocks, estimate_seconds
from assay.plan.points import MEMORY_SHARE

#: A curve is known well enough if the error of interpolation, or the difference of neighbours, is smaller.
_ERROR = 0.05
#: Factor on the estimated time, for launches that are made in any case.
_ROOM = 2.0
#: Sizes of a curve's next octave, relative to its last size.
_ONWARD = (math.sqrt(2), 2.0)


class WantedSize(NamedTuple):
    """A further size for a curve.

    Attributes:
        case: id of the case at a neighbouring size.
        axis: swept axis.
        size: size to measure.
        error: relative error of interpolation at the bend.
        setup_s: estimated set-up of such a case; None: the benchmark's estimate.
    """

    case: str
    axis: str
    size: int
    error: float
    setup_s: float | None = None


class Refinement(NamedTuple):
    """How curves along an axis get more sizes.

    Attributes:
        errors: estimates of a curve and their sizes, ascending -> error of each step to halve, by the index of its
            lower end.
        nearest: smallest ratio of two sizes.
        most: maximum sizes that one round adds to a curve, those with the largest errors first.
        grain: sizes are multiples of so many bytes if they are at least its square.
    """

    errors: Callable[[Sequence[Estimate], Sequence[int]], Mapping[int, float]]
    nearest: float
    most: int
    grain: int


def wanted_sizes(estimates: Iterable[Estimate]) -> tuple[WantedSize, ...]:
    """Further sizes for all curves, the worst steps of each first; empty if all are known well enough."""
    curves: dict[tuple[object, ...], list[Estimate]] = {}
    for estimate in estimates:
        axis = _swept(estimate)
        if axis and estimate.median and int(estimate.params[axis.name]) > 0:
            curves.setdefault(_key(estimate, axis.name), []).append(estimate)
    return tuple(bend for curve in curves.values() for bend in _of_curve(curve))


def onward(analysis: Analysis, plan: Plan, machines: Mapping[str, Machine]) -> tuple[WantedSize, ...]:
    """The next octave of the curves that continue, as far as memory allows."""
    known = {each.id: each for each in analysis.estimates}
    cases = {case.id: case for case in plan.cases}
    found: dict[tuple[str, int], WantedSize] = {}
    for model in analysis.models:
        curve = [known[each] for each in model.of if each in known]
        axis = _swept(curve[0]) if curve and model.goes_on else None
        if axis is None:
            continue
        last = max(curve, key=lambda each: int(each.params[axis.name]))
        for factor in _ONWARD:
            size = _whole(int(last.params[axis.name]) * factor, _REFINED[axis.role].grain)  # type: ignore[index]
            if _fits(cases[last.case], axis.name, size, machines):
                found.setdefault((last.case, size), WantedSize(last.case, axis.name, size, math.inf))
    return tuple(found.values())


def _fits(case: Case, axis: str, size: int, machines: Mapping[str, Machine]) -> bool:
    machine = next((machines[host] for host in case.placement.hosts if host in machines), None)
    free = machine.memory.value if machine else None
    needed = benchmarks.get(case.benchmark).host_memory_bytes(case.params | {axis: size}, case.placement)
    return isinstance(free, int) and needed <= MEMORY_SHARE * free


def _swept(estimate: Estimate) -> Axis | None:
    """The axis of its curve; None if it is not a headline figure, or on no curve that gets more sizes."""
    benchmark = benchmarks.get(estimate.benchmark)
    if estimate.metric != benchmark.metrics_of(estimate.kernel, estimate.params)[0].name:
        return None
    return next(
        (axis for axis in benchmark.axes if axis.swept and axis.role in _REFINED and axis.name in estimate.params),
        None,
    )


def _key(estimate: Estimate, axis: str) -> tuple[object, ...]:
    fixed = tuple((name, value) for name, value in estimate.params.items() if name != axis)
    levels = tuple(estimate.factors.items())
    return (
        estimate.benchmark,
        estimate.kernel,
        fixed,
        levels,
        estimate.placement.label,
        estimate.placement.hosts,
        estimate.state,
    )


def _of_curve(curve: Sequence[Estimate]) -> list[WantedSize]:
    axis = _swept(curve[0])
    if axis is None or axis.role is None:
        return []
    refinement = _REFINED[axis.role]
    ordered = sorted(curve, key=lambda each: int(each.params[axis.name]))
    sizes = [int(each.params[axis.name]) for each in ordered]
    found = [
        WantedSize(ordered[at].case, axis.name, middle, error)
        for at, error in refinement.errors(ordered, sizes).items()
        if (middle := _whole(math.sqrt(sizes[at] * sizes[at + 1]), refinement.grain)) not in sizes
        and min(middle / sizes[at], sizes[at + 1] / middle) >= refinement.nearest
    ]
    return sorted(found, key=lambda bend: -bend.error)[: refinement.most]


def _whole(size: float, grain: int) -> int:
    return round(size) if size < grain * grain else grain * round(size / grain)


def _near_bends(ordered: Sequence[Estimate], sizes: Sequence[int]) -> Mapping[int, float]:
    """The steps on both sides of points that are off the line between their neighbours."""
    found: dict[int, float] = {}
    for at in range(1, len(ordered) - 1):
        error = _error(ordered[at - 1 : at + 2], sizes[at - 1 : at + 2])
        if error > max(_ERROR, _half_width(ordered[at])):
            found |= {step: max(error, found.get(step, 0.0)) for step in (at - 1, at)}
    return found


def _between_levels(ordered: Sequence[Estimate], _sizes: Sequence[int]) -> Mapping[int, float]:
    """The steps with different ends."""
    found: dict[int, float] = {}
    for at, (one, other) in enumerate(itertools.pairwise(ordered)):
        error = math.expm1(abs(math.log((other.median or 1.0) / (one.median or 1.0))))
        if error > max(_ERROR, _half_width(one) + _half_width(other)):
            found[at] = error
    return found


#: Role of an axis -> its refinement. A step of half an octave is halved twice: to an eighth.
_REFINED: Mapping[AxisRole, Refinement] = {
    "message-size": Refinement(_near_bends, nearest=1.15, most=6, grain=8),
    "working-set": Refinement(_between_levels, nearest=1.085, most=20, grain=64),
}


def _error(three: Sequence[Estimate], sizes: Sequence[int]) -> float:
    """Relative distance of the middle of three points from the line between the others."""
    left, middle, right = (math.log(each.median or 1.0) for each in three)
    low, at, high = map(math.log, sizes)
    return math.expm1(abs(middle - (left + (right - left) * (at - low) / (high - low))))


def _half_width(estimate: Estimate) -> float:
    if estimate.lo is None or estimate.hi is None or not estimate.median:
        return 0.0
    return (estimate.hi - estimate.lo) / 2 / estimate.median


def with_sizes(plan: Plan, wanted: Iterable[WantedSize], left_s: float | None) -> Plan:
    """The plan with these sizes, at every level of its factors; one round of refinement less.

    Args:
        plan: the measured plan.
        wanted: further sizes, the most important first.
        left_s: remaining seconds of the budget; sizes without room go to `left_out`. None: no budget.
    """
    built = _toolchains(plan)
    fresh: dict[str, Case] = {}
    left_out: dict[str, list[int]] = {}
    cases = {case.id: case for case in plan.cases}
    rounds = plan.refine - 1
    for bend in wanted:
        case = cases[bend.case]
        added = {one.id: one for one in _at_size(plan, case, bend) if one.id not in cases}
        more = _order(plan, (*fresh.values(), *added.values()), built)
        if left_s is not None and estimate_seconds((*plan.cases, *fresh.values(), *added.values()), more) > left_s:
            left_out.setdefault(_curve(plan, case, bend.axis), []).append(bend.size)
            continue
        fresh |= added
    return msgspec.structs.replace(
        plan,
        cases=(*plan.cases, *fresh.values()),
        order=(*plan.order, *(_order(plan, tuple(fresh.values()), built) if fresh else ())),
        left_out=(*plan.left_out, *(_untimed(curve, sizes) for curve, sizes in left_out.items())),
        refine=rounds if fresh else 0,
    )


def with_sizes_once(plan: Plan, wanted: Iterable[WantedSize], used_s: float) -> Plan | None:
    """The plan with one launch of each of these sizes, and a budget with room for them; None if none is new.

    Args:
        plan: the measured plan.
        wanted: further sizes.
        used_s: seconds that the run took so far.
    """
    cases = {case.id: case for case in plan.cases}
    requests = [one for bend in wanted for one in _at_size(plan, cases[bend.case], bend)]
    fresh = tuple(one for one in requests if one.id not in cases and one.role == "measure")
    if not fresh:
        return None
    order = _order(plan, fresh, _toolchains(plan), blocks=1)
    budget_s = plan.budget_s
    if budget_s is not None:
        budget_s = max(budget_s, used_s + _ROOM * estimate_seconds((*plan.cases, *fresh), order))
    return msgspec.structs.replace(
        plan, cases=(*plan.cases, *fresh), order=(*plan.order, *order), budget_s=budget_s, full=False
    )


def _curve(plan: Plan, case: Case, axis: str) -> str:
    """Name of the curve of a case, without levels: `tcp at pair, pattern=latency, waiting=polling`."""
    every = [one.params for one in plan.studied if one.benchmark == case.benchmark]
    varying = [
        f"{name}={value}"
        for name, value in case.params.items()
        if name != axis and len({params.get(name) for params in every}) > 1
    ]
    return ", ".join((f"{case.benchmark} at {case.placement.label}", *varying))


def _untimed(curve: str, sizes: Iterable[int]) -> LeftOut:
    """One entry for all sizes of a curve; several levels of a factor may want the same size."""
    listed = ", ".join(format_size(size) for size in sorted(set(sizes)))
    return LeftOut(curve, f"the curve needs more sizes ({listed}); the budget has no time for them")


def _at_size(plan: Plan, like: Case, bend: WantedSize) -> Iterable[Case]:
    """The case at another size, at every level of every factor, including controls."""
    benchmark, axis, size = benchmarks.get(like.benchmark), bend.axis, bend.size
    for case in plan.cases:
        if case.subject == like.subject:
            params = case.params | {axis: size}
            before, after = f"{axis}={case.params[axis]}", f"{axis}={size}"
            yield msgspec.structs.replace(
                case,
                id=case.id.replace(before, after),
                plain=case.plain.replace(before, after),
                repeats=case.repeats.replace(before, after),
                params=params,
                memory_bytes=benchmark.host_memory_bytes(params, case.placement),
                setup_s=benchmark.setup_s(params, case.placement, plan.core)
                if bend.setup_s is None
                else bend.setup_s,
                setup_measured=bend.setup_s is not None,
                iteration_s=benchmark.iteration_s(params, case.placement, plan.core),
            )


def _order(
    plan: Plan, fresh: tuple[Case, ...], built: Mapping[object, str], blocks: int | None = None
) -> tuple[PlannedLaunch, ...]:
    """Blocks of the new cases, by default one for each launch of the plan, with the toolchains of their family."""
    toolchains = {case.id: built[_family(case)] for case in fresh}
    return append_blocks(plan, fresh, plan.launches if blocks is None else blocks, toolchains)


def _toolchains(plan: Plan) -> dict[object, str]:
    """Family of cases -> its toolchain."""
    toolchains = {case: launch.toolchain for launch in plan.order for case in launch.cases}
    return {_family(case): toolchains[case.id] for case in plan.cases if case.id in toolchains}


def _family(case: Case) -> object:
    return case.benchmark, tuple(case.factors.items())
