"""Cases that wait until others are through, so that what is known by then predicts them.

With them, in the same blocks, is measured again what they are compared with: their base on the fewest cores.
"""

from collections.abc import Sequence

import msgspec

from assay.model import benchmarks
from assay.model.grouping import grouped
from assay.model.plan import Case, LeftOut, Plan, PlannedLaunch
from assay.plan.order import append_blocks, estimate_seconds, fewest_seconds


def with_later(plan: Plan, left_s: float | None) -> Plan:
    """The plan with launches of its first round of later cases, as the budget allows, and one round less.

    A case has room where one launch of it has: the budget of what follows cuts the others.

    Args:
        plan: as it was measured.
        left_s: seconds of the budget; what has no room in it is left out, and that is said. None for no budget.
    """
    following = _with_round(plan, left_s)
    launched = following.order[len(plan.order) :]
    return msgspec.structs.replace(following, later_share=share_of_later(following, launched))


def share_of_later(plan: Plan, order: tuple[PlannedLaunch, ...]) -> float:
    """What the cases that wait take, as a share of that and of these launches: estimated, and without cuts."""
    every = with_every_round(plan).order[len(plan.order) :]
    now_s, then_s = (estimate_seconds(plan.cases, each) for each in (order, every))
    return then_s / (now_s + then_s) if then_s else 0.0


def with_every_round(plan: Plan) -> Plan:
    """The plan with launches of all of its cases."""
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
    """Blocks of cases and of their bases, built as cases like them are."""
    built = {case: launch.toolchain for launch in plan.order for case in launch.cases}
    launched = [case for case in plan.cases if case.id in built]
    bases = {base.id: base for case in fresh if (base := _base(launched, case))}
    like = {case.id: next(each for each in launched if _like(each, case)) for case in fresh}
    toolchains = {name: built[name] for name in bases} | {name: built[each.id] for name, each in like.items()}
    return append_blocks(plan, (*fresh, *bases.values()), plan.launches, toolchains)


def _base(launched: Sequence[Case], case: Case) -> Case | None:
    """The same problem on the fewest cores; if there is none, the one that grew to it."""
    benchmark = benchmarks.get(case.benchmark)

    alike = [
        each
        for each in launched
        if _like(each, case) and (each.role, each.placement.memory) == (case.role, case.placement.memory)
    ]
    same = [each for each in alike if benchmark.problem(each.params) == benchmark.problem(case.params)]
    grown = (each for each in alike if benchmark.is_grown(case.params, each.params, case.cores / each.cores))
    return min(same or grown, key=lambda each: each.cores, default=None)


def _like(one: Case, case: Case) -> bool:
    """Whether a case is of the same benchmark, at levels that another has too; inside a node no network varies."""
    return one.benchmark == case.benchmark and one.factors.items() <= case.factors.items()
