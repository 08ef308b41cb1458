"""Plans of experiments that decide candidate findings, in extra blocks after those of the study."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec

from assay.catalogue import benchmarks
from assay.model.left_out import LeftOut
from assay.model.plan import Arm, Case, Effect, Experiment, Plan, PlannedLaunch, case_id
from assay.model.result import Analysis
from assay.model.run import LaunchRecords
from assay.plan.costs import Cost, costs
from assay.plan.order import append_blocks, estimate_seconds, shared_setups

#: Blocks that an interval of 95 % needs.
FEWEST = 6
#: Maximum blocks: with these, two disturbed blocks do not decide the result.
MOST = 10
_CONFIRM_S = 300.0


def experiment_budget_s(study_s: float | None) -> float:
    """Default seconds for experiments: the budget of their study, else five minutes."""
    return _CONFIRM_S if study_s is None else study_s


def wanted(analysis: Analysis, plan: Plan) -> dict[str, Experiment]:
    """Id of a finding -> its experiment, if it was not made yet; the most important first."""
    made = {finding for trial in plan.trials for finding in trial.experiments}
    return {each.id: each.experiment for each in analysis.findings if each.experiment and each.id not in made}


class _Trial(NamedTuple):
    """Cases of experiments by id, the toolchain of each, and its cost if known."""

    cases: dict[str, Case]
    toolchains: dict[str, str]
    costs: dict[str, Cost]

    def plus(self, other: "_Trial") -> "_Trial":
        return _Trial(self.cases | other.cases, self.toolchains | other.toolchains, self.costs | other.costs)


def experiment_plan(
    plan: Plan, wanted: Mapping[str, Experiment], seconds: float, launches: Sequence[LaunchRecords] = ()
) -> Plan:
    """The plan of experiments after a study; without cases if none fits into the time.

    All of them share blocks: each block measures every arm once, in random order.

    Args:
        plan: plan of the study, with all experiments so far.
        wanted: id of a finding -> its experiment, the most important first.
        seconds: time for all of them. An experiment without time for the minimum blocks goes to `left_out`.
        launches: launches of the study, which give the costs of cases.
    """
    shown = costs(plan, launches)
    trial = _Trial({}, {}, {case.id: shown[case.id] for case in plan.cases if case.id in shown})
    made: dict[str, Experiment] = {}
    left_out: list[LeftOut] = []
    for finding, experiment in wanted.items():
        both = trial.plus(_cases(plan, experiment, shown))
        needed = _estimate(plan, both, FEWEST)
        if needed > seconds:
            why = (
                f"{seconds:.0f} s have no room for its {FEWEST} blocks, about {needed:.0f} s; give it more time "
                "with --confirm-budget"
            )
            left_out.append(LeftOut(finding, why))
            continue
        trial = both
        made[finding] = _with_own_cases(plan, experiment)
    counts = range(MOST, FEWEST, -1)
    blocks = next((each for each in counts if _estimate(plan, trial, each) <= seconds), FEWEST)
    order = _order(plan, trial, blocks)
    sentinels = tuple(case for case in plan.cases if case.role == "sentinel") if trial.cases else ()
    varied = {each.factor.name: each.factor for each in made.values() if each.factor}
    names = {factor.name for factor in plan.factors}
    return msgspec.structs.replace(
        plan,
        seed=plan.seed + (order[0].block if order else 0),
        launches=blocks,
        budget_s=seconds,
        estimate_s=_estimate(plan, trial, blocks),
        cases=shared_setups((*trial.cases.values(), *sentinels), order),
        order=order,
        folded=(),
        left_out=tuple(left_out),
        factors=(*plan.factors, *(each for name, each in varied.items() if name not in names)),
        refine=0,
        grows=False,
        confirm_s=None,
        prepared_s=0.0,
        trials=(),
        experiments=made,
    )


def _cases(plan: Plan, experiment: Experiment, shown: Mapping[str, Cost]) -> _Trial:
    """The cases of an experiment, each with the toolchain and the cost of the case that it repeats."""
    toolchains = {case: launch.toolchain for launch in plan.order for case in launch.cases}
    trial = _Trial({}, {}, {})
    for arm in (arm for effect in experiment.effects for arm in effect.arms):
        case = _case(plan, experiment, arm)
        trial.toolchains[case.id] = toolchains[arm.case]
        if cost := shown.get(arm.case):
            case = msgspec.structs.replace(case, setup_s=cost.setup_s(case))
            trial.costs[case.id] = cost._replace(fewest_s=cost.fewest_s * _longer(plan.case(arm.case), case))
        trial.cases[case.id] = case
    return trial


def _longer(like: Case, case: Case) -> float:
    """Time of an iteration of the case, over that of the case that it repeats."""
    return case.iteration_s / like.iteration_s if case.iteration_s and like.iteration_s else 1.0


def _case(plan: Plan, experiment: Experiment, arm: Arm) -> Case:
    like = plan.case(arm.case)
    levels = dict(like.factors)
    if experiment.factor and arm.level:
        levels[experiment.factor.name] = arm.level
    name = like.subject
    for axis, value in arm.params.items():
        name = name.replace(f"{axis}={like.params[axis]}", f"{axis}={value}")
    placement = arm.placement or like.placement
    name = name.replace(f"/{like.placement.label}/", f"/{placement.label}/")
    benchmark, params = benchmarks.get(like.benchmark), like.params | arm.params
    subject = f"confirm/{name}"
    return msgspec.structs.replace(
        like,
        id=case_id(subject, levels),
        plain=subject if levels else "",
        params=params,
        placement=placement,
        factors=levels,
        memory_bytes=benchmark.host_memory_bytes(params, placement),
        setup_s=benchmark.setup_s(params, placement, plan.core),
        iteration_s=benchmark.iteration_s(params, placement, plan.core),
    )


def _with_own_cases(plan: Plan, experiment: Experiment) -> Experiment:
    """The experiment with the ids of its own cases in place of the repeated ones."""

    def own(effect: Effect) -> Effect:
        arms = (msgspec.structs.replace(arm, case=_case(plan, experiment, arm).id) for arm in effect.arms)
        return msgspec.structs.replace(effect, arms=tuple(arms))

    return msgspec.structs.replace(experiment, effects=tuple(map(own, experiment.effects)))


def _order(plan: Plan, trial: _Trial, blocks: int) -> tuple[PlannedLaunch, ...]:
    return append_blocks(plan, tuple(trial.cases.values()), blocks, trial.toolchains) if trial.cases else ()


def _estimate(plan: Plan, trial: _Trial, blocks: int) -> float:
    order = _order(plan, trial, blocks)
    sentinels = (case for case in plan.cases if case.role == "sentinel")
    return estimate_seconds(shared_setups((*trial.cases.values(), *sentinels), order), order, trial.costs)
