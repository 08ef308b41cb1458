"""A plan that goes on: further sizes of the curves that it has, in blocks of their own after the others."""

from collections.abc import Iterable, Mapping

import msgspec

from assay import benchmarks
from assay.model.plan import Case, LeftOut, Plan, PlannedLaunch
from assay.model.units import format_size
from assay.plan.order import estimate_seconds, following


def refined(plan: Plan, sizes: Iterable[tuple[str, str, int]], left_s: float | None) -> Plan:
    """The plan with these sizes too, at every level of what it varies; one round of refinement less.

    Args:
        plan: as it was measured.
        sizes: case, axis, size: the case is measured at that size as well, the most wanted first.
        left_s: seconds of the budget; what has no room in it is left out, and that is said. None for no budget.
    """
    built = _toolchains(plan)
    fresh: dict[str, Case] = {}
    left_out: dict[str, list[int]] = {}
    cases = {case.id: case for case in plan.cases}
    rounds = plan.refine - 1
    for case_id, axis, size in sizes:
        added = {one.id: one for one in _at(plan, cases[case_id], axis, size) if one.id not in cases}
        more = _order(plan, (*fresh.values(), *added.values()), built)
        if left_s is not None and estimate_seconds((*plan.cases, *fresh.values(), *added.values()), more) > left_s:
            left_out.setdefault(_curve(plan, cases[case_id], axis), []).append(size)
            continue
        fresh |= added
    return msgspec.structs.replace(
        plan,
        cases=(*plan.cases, *fresh.values()),
        order=(*plan.order, *(_order(plan, tuple(fresh.values()), built) if fresh else ())),
        left_out=(*plan.left_out, *(_untimed(curve, sizes) for curve, sizes in left_out.items())),
        refine=rounds if fresh else 0,
    )


def _curve(plan: Plan, case: Case, axis: str) -> str:
    """The curve that a case is a point of, at whatever level: `tcp at pair, pattern=latency, waiting=polling`."""
    alike = [one.params for one in plan.studied if one.benchmark == case.benchmark]
    told = [
        f"{name}={value}"
        for name, value in case.params.items()
        if name != axis and len({params.get(name) for params in alike}) > 1
    ]
    return ", ".join((f"{case.benchmark} at {case.placement.label}", *told))


def _untimed(curve: str, sizes: Iterable[int]) -> LeftOut:
    """One line for all sizes of a curve; levels of a factor may have asked for the same."""
    told = ", ".join(format_size(size) for size in sorted(set(sizes)))
    return LeftOut(curve, f"the curve bends at {told}; the budget has no time to measure there")


def _at(plan: Plan, like: Case, axis: str, size: int) -> Iterable[Case]:
    """The case at another size, at every level of every factor, controls included."""
    benchmark = benchmarks.get(like.benchmark)
    for case in plan.cases:
        if case.subject == like.subject:
            params = case.params | {axis: size}
            yield msgspec.structs.replace(
                case,
                id=case.id.replace(f"{axis}={case.params[axis]}", f"{axis}={size}"),
                params=params,
                memory_bytes=benchmark.memory_bytes(params) * max(1, len(case.placement.ranks)),
                setup_s=benchmark.setup_seconds(params),
            )


def _order(plan: Plan, fresh: tuple[Case, ...], built: Mapping[object, str]) -> tuple[PlannedLaunch, ...]:
    """Blocks of the new cases after those of the plan; what cases like them are built with."""
    return following(plan, fresh, plan.launches, {case.id: built[_family(case)] for case in fresh})


def _toolchains(plan: Plan) -> dict[object, str]:
    """What cases that share it are built with."""
    toolchains = {case: launch.toolchain for launch in plan.order for case in launch.cases}
    return {_family(case): toolchains[case.id] for case in plan.cases if case.id in toolchains}


def _family(case: Case) -> object:
    return case.benchmark, tuple(case.factors.items())
