"""The order and the cost of a plan as text."""

import math

from assay.catalogue import benchmarks
from assay.model.core_rate import Clock
from assay.model.plan import Plan
from assay.model.units import count_of, format_quantity
from assay.plan.experiments import FEWEST, MOST
from assay.plan.later import with_every_round
from assay.plan.order import longest_seconds, quiet_and_noisy_seconds

#: Launches are named if they take more than this share of a budget.
_NOTICED = 0.1
#: Both times are printed if that on a quiet machine is below this share of that on a noisy one.
_QUIET = 0.8
_MINUTE = 60
_HOUR = 3600
_CLOCKS: dict[Clock, str] = {
    "nominal": "the nominal clock",
    "highest": "the highest clock",
    "now": "the clock now",
    "assumed": "assumed",
}


def order_and_cost(plan: Plan) -> list[str]:
    """Lines on the order of a plan and its cost."""
    measured = len(plan.studied)
    in_each = count_of(sum(launch.block == 0 for launch in plan.order) - 1, "launch")
    launches = count_of(plan.launches, "launch")
    probe = f"cpus {plan.probe_cpus[0]} and {plan.probe_cpus[1]}" if plan.probe_cpus else "none: one core"
    within = f"{100 * plan.precision:.3g} %"
    lines = [
        f"{count_of(measured, 'case')}, {launches} each, sampled to a precision of {within}",
        f"{count_of(plan.launches, 'block')} of about {in_each} in random order (seed {plan.seed})",
        "sentinel, a small fixed kernel, before each block and after the last",
        f"cache-line probe around every launch: {probe}",
    ]
    if plan.later:
        waiting = len({case.id for case in plan.studied} - plan.launched)
        kept = f"; {100 * plan.later_share:.0f} % of the budget is kept for them" if plan.budget_s else ""
        why = "earlier results predict them"
        wait = "case waits" if waiting == 1 else "cases wait"
        lines.append(f"{waiting} {wait} until the others have ended: {why}{kept}")
    if plan.factors:
        varied = "; ".join(f"{factor.name} ({', '.join(factor.levels)})" for factor in plan.factors)
        lines.append(f"varied in each block, launches side by side in random order: {varied}")
        lines.append(
            "the first level is measured twice (A against A): this shows the smallest difference that the machine "
            "resolves"
        )
    if len(plan.hosts) > 1:
        lines.append(f"nodes: {', '.join(plan.hosts)}")
    budget = "no budget" if plan.budget_s is None else f"budget {duration(plan.budget_s)}"
    quiet_s, noisy_s = quiet_and_noisy_seconds(with_every_round(plan))
    takes = f"about {duration(noisy_s)}"
    if quiet_s < _QUIET * noisy_s:
        takes = f"{duration(quiet_s)} on a quiet machine to {duration(noisy_s)} on a noisy one"
    lines.append(f"{takes} (assumed: the times of set-ups and samples); {budget}")
    lines += _by_operations(plan)
    if plan.confirm_s is not None:
        lines.append(
            f"then experiments for candidate findings, if there are any: {FEWEST} to {MOST} blocks each, "
            f"at most {duration(plan.confirm_s)} more"
        )
    if plan.budget_s is not None and plan.budget_s < plan.estimate_s:
        lines.append(
            "the budget is shorter: every case is measured once before any is repeated, samples get fewer, then "
            "the last blocks are cut, and the run reports it; the whole plan needs "
            f"--budget {_budget(plan.estimate_s)}"
        )
    longest_s = longest_seconds(plan.cases, plan.order)
    if plan.budget_s is not None and not plan.grows and longest_s > _NOTICED * plan.budget_s:
        lines.append(
            f"a launch that has begun is not cut: the last one may end after the budget (the longest takes about "
            f"{duration(longest_s)})"
        )
    return lines


def _by_operations(plan: Plan) -> list[str]:
    """A line on the assumed rate of a core, if it decides how long cases take."""
    names = dict.fromkeys(case.benchmark for case in plan.studied)
    found = {name: each.share for name in names if (each := benchmarks.get(name).operations)}
    if not found:
        return []
    core = plan.core
    peak, clock = format_quantity(core.flops, "flop/s"), format_quantity(core.hertz, "Hz")
    shares = ", ".join(f"{name} {100 * share:.0f} %" for name, share in found.items())
    units = f"{count_of(core.units, 'unit')} of {core.bits} bits ({core.of or 'assumed'})"
    basis = f"{units} at {clock} ({_CLOCKS[core.clock]})"
    return [f"time of operations: assumed shares ({shares}) of the {peak} that a core can do by {basis}"]


def _budget(seconds: float) -> str:
    """The seconds, rounded up, as a value of --budget."""
    return f"{math.ceil(seconds)}s" if seconds < 2 * _MINUTE else f"{math.ceil(seconds / _MINUTE)}m"


def duration(seconds: float) -> str:
    """`90 s`, `2.5 min`, `1.9 h`."""
    if seconds < 2 * _MINUTE:
        return f"{seconds:.0f} s"
    if seconds < _HOUR:
        return f"{seconds / _MINUTE:.0f} min" if seconds >= 10 * _MINUTE else f"{seconds / _MINUTE:.1f} min"
    return f"{seconds / _HOUR:.1f} h"
