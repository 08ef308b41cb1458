"""Later rounds: cases that wait until others are measured, so that these predict them.

The same blocks measure their base of comparison again: the same problem on the fewest cores.
"""

from collections.abc import Sequence

import msgspec

from assay.catalogue import benchmarks
from assay.model.grouping import grouped
from assay.model.left_out import LeftOut
from assay.model.plan import Case, Plan, PlannedLaunch
from assay.plan.order import append_blocks, estimate_seconds, fewest_seconds


def with_later(plan: Plan, left_s: float | None) -> Plan:
    """The plan with launches of its next later round, as the budget allows, and one round less.

    A case has room if one of its launches has: the budget cuts the others.

    Args:
        plan: the measured plan.
        left_s: remaining seconds of the budget; cases without room go to `left_out`. None: no budget.
    """
    following = _with_round(plan, left_s)
    launched = following.order[len(plan.order) :]
    return msgspec.structs.replace(following, later_share=share_of_later(following, launched))


def share_of_later(plan: Plan, order: tuple[PlannedLaunch, ...]) -> float:
    """Estimated share of the later rounds in the time of these rounds and the launches in `order`."""
    every = with_every_round(plan).order[len(plan.order) :]
    now_s, then_s = (estimate_seconds(plan.cases, each) for each in (order, every))
    return then_s / (now_s + then_s) if then_s else 0.0


def with_every_round(plan: Plan) -> Plan:
    """The plan with launches of all later rounds."""
    while plan.later:
        plan = _with_round(plan, None)
    return plan


def _with_round(plan: Plan, left_s: float | None) -> Plan:
    first, *rest = plan.later
    waiting = [case for case in plan.cases if case.id in first]
    fresh: tuple[Case, ...] = ()
    left_out: dict[LeftOut, None] = {}
    for subject in grouped(waiting, lambda case: case.subject).values():
        tried = (*fresh, *subject)
        if left_s is not None and fewest_seconds(plan.cases, _order(plan, tried)) > plan.launches * left_s:
            where = f"{subject[0].benchmark} at {subject[0].placement.label}"
            left_out[LeftOut(where, "it waits for all others; the budget has no time left for it")] = None
        else:
            fresh = tried
    dropped = {case.id for case in waiting} - {case.id for case in fresh}
    return msgspec.structs.replace(
        plan,
        cases=tuple(case for case in plan.cases if case.id not in dropped),
        order=(*plan.order, *(_order(plan, fresh) if fresh else ())),
        left_out=(*plan.left_out, *left_out),
        later=tuple(rest),
    )


def _order(plan: Plan, fresh: Sequence[Case]) -> tuple[PlannedLaunch, ...]:
    """Blocks of cases and of their bases, with the toolchains of similar cases."""
    built = {case: launch.toolchain for launch in plan.order for case in launch.cases}
    launched = [case for case in plan.cases if case.id in built]
    bases = {base.id: base for case in fresh if (base := _base(launched, case))}
    like = {case.id: next(each for each in launched if _like(each, case)) for case in fresh}
    toolchains = {name: built[name] for name in bases} | {name: built[each.id] for name, each in like.items()}
    return append_blocks(plan, (*fresh, *bases.values()), plan.launches, toolchains)


def _base(launched: Sequence[Case], case: Case) -> Case | None:
    """The same problem on the fewest cores; if there is none, the problem from which it was grown."""
    benchmark = benchmarks.get(case.benchmark)
    peers = [
        each
        for each in launched
        if _like(each, case) and (each.role, each.placement.memory) == (case.role, case.placement.memory)
    ]
    same = [each for each in peers if benchmark.problem(each.params) == benchmark.problem(case.params)]
    grown = (each for each in peers if benchmark.is_grown(case.params, each.params, case.cores / each.cores))
    return min(same or grown, key=lambda each: each.cores, default=None)


def _like(one: Case, case: Case) -> bool:
    """Whether `one` has the benchmark of `case` and none but its levels; inside a node no network varies."""
    return one.benchmark == case.benchmark and one.factors.items() <= case.factors.items()
