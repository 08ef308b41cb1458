"""A parallel efficiency that falls, and its cause: the shared node, or messages."""

from collections.abc import Iterable, Mapping, Sequence

from assay.analyse.evidence import Evidence, Rule, digits, numbers, stands_on
from assay.model import places, roles
from assay.model.declaration import ParamValue
from assay.model.quantity import Quantity
from assay.model.result import Estimate, Finding
from assay.model.text import Text, cli, joined, text
from assay.report import selection
from assay.topics.scaling.models.scaling import Scaling
from assay.topics.scaling.steps import Step

#: A lower efficiency is a finding.
_LEAST = 0.8
#: A higher factor of the efficiency is no reason.
_HARMLESS = 0.95


def _assess(evidence: Evidence) -> Iterable[Finding]:
    found = [model for model in evidence.fitted(Scaling) if any(_shares(step) for step in model.steps)]
    if not found:
        why = text("No rate of ranks that pass messages was measured on several numbers of cores")
        yield rule.not_assessed(why, cli("run", "one-two-two"))
    told: set[str] = set()
    for model in sorted(found, key=lambda each: each.grows):
        low = [step for step in model.steps if _shares(step) and step.efficiency.hi < _LEAST]
        # The largest problem of a placement may be one of a curve of a single problem, which has told it.
        low = [step for step in low if not (model.grows and told.issuperset(step.estimates))]
        told.update(name for step in low for name in step.estimates)
        if low:
            step = min(low, key=lambda step: step.efficiency.value)
            yield _finding(evidence, model, step, _larger(evidence, found, model, step))


def _shares(step: Step) -> bool:
    """Whether its ranks work on one problem."""
    return step.ranks > 0 and not step.copies


def _larger(
    evidence: Evidence, found: Sequence[Scaling], model: Scaling, step: Step
) -> tuple[Scaling, Step] | None:
    """Return the curve of the largest problem with this step, if it is larger and loses less; else None.

    A study measures small problems on purpose: what messages cost them is no fault of the machine.
    """
    declared = evidence.estimates[model.base].declared
    size = roles.problem_size(declared, model.problem)
    grows = declared.larger.axis if declared.larger else ""
    alike = [
        (each_size, each, other)
        for each in found
        if (each_size := roles.problem_size(declared, each.problem)) is not None
        and evidence.estimates[each.base].benchmark == evidence.estimates[model.base].benchmark
        and (each.state, each.weak) == (model.state, model.weak)
        and _without(each.problem, grows) == _without(model.problem, grows)
        for other in each.steps
        if (other.label, other.nodes, other.cores, other.copies) == (step.label, step.nodes, step.cores, False)
    ]
    most, curve, other = max(alike, key=lambda each: each[0], default=(0.0, model, step))
    return (
        (curve, other) if size is not None and most > size and other.efficiency.lo > step.efficiency.hi else None
    )


def _without(problem: Mapping[str, ParamValue], axis: str) -> dict[str, ParamValue]:
    return {name: value for name, value in problem.items() if name != axis}


def _problem(evidence: Evidence, model: Scaling) -> str:
    growing = text("weak scaling") if model.weak else ""
    named = (f"{name} {value}" for name, value in model.problem.items())
    return joined(", ", (selection.title(evidence.estimates[model.base].declared), *named, growing))


def _finding(evidence: Evidence, model: Scaling, step: Step, larger: tuple[Scaling, Step] | None) -> Finding:
    base = evidence.estimates[model.base]
    case = next(each for each in evidence.run.plan.cases if each.id == evidence.estimates[step.estimates[0]].case)
    turns = evidence.run.takes_turns(case.placement)
    sure = step.efficiency.has_interval
    reason: str = text("The nodes are one machine: ranks take turns on its cores.") if turns else _reason(step)
    if larger:
        curve, other = larger
        reason = text(
            "The larger problem, {problem}, loses {loss} there.",
            problem=joined(", ", (f"{name} {value}" for name, value in curve.problem.items())),
            loss=_loss(other.efficiency.value),
        )
    return rule.finding(
        model.id,
        claim=text(
            "{problem} on {where}: {loss} of a linear speed-up over {base} is lost. {reason}",
            problem=_problem(evidence, model),
            where=step.where,
            loss=_loss(step.efficiency.value),
            base=places.cores(model.base_label),
            reason=reason,
        ),
        severity="problem" if sure and not turns and not larger else "fact",
        status="observed" if sure else "candidate",
        evidence=(*step.estimates, model.base),
        numbers=numbers(step.efficiency, _LEAST),
        statistic=text(
            "upper end of the efficiency {high} ({basis})",
            high=digits(step.efficiency.hi),
            basis=stands_on(step.efficiency, step.blocks),
        ),
        next="" if larger else text("name different machines") if turns else _next(model, step, base),
    )


def _reason(step: Step) -> Text:
    if step.shared is None or step.messages is None:
        return text("The costs of the shared node and of messages were not measured separately.")
    if step.as_full and not step.shared.has_ends:
        return text("Each node has the same load as the base: the loss comes from messages and waiting for them.")
    if not _has_ends(step):
        return text("Too few launches to separate the cost of the shared node from that of messages.")
    if step.as_full and not step.by_caches:
        return text(
            "The nodes differ: without messages, ranks on them lose {shared}. Messages cost {messages}."
            if _waits_for_memory(step)
            else "Messages cost {messages}. Without messages, ranks on the same nodes lose {shared}.",
            shared=_loss(step.shared.value),
            messages=_loss(step.messages.value),
        )
    if step.by_caches:
        return text(
            "Independent copies on the same cores reach {shared}, which is the cost of sharing the node. Ranks "
            "that share the problem reach {gain} of the copies' rate, a cache effect: their parts are smaller. "
            "This hides the cost of messages.",
            shared=_ends(step.shared),
            gain=_ends(step.messages),
        )
    return text(
        "Sharing the node costs {shared}, as ranks without messages show; messages cost {messages}."
        if _waits_for_memory(step)
        else "Messages cost {messages}; sharing the node costs {shared}, as ranks without messages show.",
        shared=_loss(step.shared.value),
        messages=_loss(step.messages.value),
    )


def _has_ends(step: Step) -> bool:
    """Whether both factors have ends; on nodes as full as the base nothing more is shared."""
    shared = step.shared is not None and (step.as_full or step.shared.has_ends)
    return shared and bool(step.messages and step.messages.has_ends)


def _waits_for_memory(step: Step) -> bool:
    """Whether sharing the node costs more than messages."""
    return bool(step.shared and step.messages and step.shared.value < min(_HARMLESS, step.messages.value))


def _loss(left: float) -> str:
    return f"{max(0.0, 100 * (1 - left)):.1f} %"


def _ends(figure: Quantity) -> str:
    """Return `0.66 (0.64 to 0.69)`."""
    return f"{digits(figure.value)} ({digits(figure.lo)} to {digits(figure.hi)})"


def _next(model: Scaling, step: Step, base: Estimate) -> str:
    if (other := model.faster(step)) and step.ranks == other.ranks:
        better = text(
            "use {where}, which gives a speed-up of {gain} in place of {own}",
            where=other.where,
            gain=digits(other.speed_up.value),
            own=digits(step.speed_up.value),
        )
        if other.nodes == step.nodes:  # no command chooses cores of a node with every launcher
            return better
        ranks = other.ranks // other.nodes
        return text(
            "{remedy}: `{command}`",
            remedy=better,
            command=f"srun --nodes={other.nodes} --ntasks-per-node={ranks} PROGRAM",
        )
    if base.declared.axis("copies") and (step.shared is None or step.messages is None):
        command = cli("run", f"scale:{base.benchmark}")
        return text("measure the ranks without messages on the same cores: `{command}`", command=command)
    if step.shared and step.messages and (not _has_ends(step) or min(step.shared.hi, step.messages.hi) >= 1):
        return text("more launches, or a quieter machine: the factors cannot be told apart")
    if not _waits_for_memory(step):
        return text(
            "larger problems for each rank, fewer ranks with more threads, or a faster network. `{command}` "
            "measures what messages cost",
            command=cli("run", "network"),
        )
    return text(
        "find the slow node: `{command}`"
        if step.as_full
        else "use fewer ranks per node: cores wait for its memory. `{command}` shows how many cores use all of it",
        command=cli("run", "node"),
    )


rule = Rule(
    "scaling",
    text("Is the speed-up close to the factor of cores and nodes?"),
    text("upper end of the efficiency < {least}", least=f"{_LEAST}"),
    _assess,
)
