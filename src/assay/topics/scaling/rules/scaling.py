"""A parallel efficiency that falls, and why: the node is shared, or messages cost time."""

from collections.abc import Iterable

from assay.analyse.evidence import Evidence, Rule, digits, numbers, stands_on
from assay.model import roles
from assay.model.quantity import Quantity
from assay.model.result import Finding
from assay.model.text import Text, cli, joined, text
from assay.report import selection
from assay.topics.scaling.models.scaling import Scaling
from assay.topics.scaling.steps import Step

#: Below this share of what so many cores would do without loss.
_LEAST = 0.8
#: A factor of the efficiency that leaves so much is no reason.
_HARMLESS = 0.95


def _assess(evidence: Evidence) -> Iterable[Finding]:
    found = [model for model in evidence.fitted(Scaling) if any(_shares(step) for step in model.steps)]
    if not found:
        why = text("No rate of ranks that pass messages was measured on several numbers of cores")
        yield rule.not_assessed(why, cli("run", "one-two-two"))
    for model in found:
        low = [step for step in model.steps if _shares(step) and step.efficiency.hi < _LEAST]
        if low:
            yield _finding(evidence, model, min(low, key=lambda step: step.efficiency.value))


def _shares(step: Step) -> bool:
    """Whether its ranks work on one problem."""
    return step.ranks > 0 and not step.copies


def _finding(evidence: Evidence, model: Scaling, step: Step) -> Finding:
    base = evidence.estimates[model.base]
    sure = step.efficiency.has_interval
    growing = text("weak scaling") if model.weak else ""
    problem = joined(
        ", ",
        (selection.title(base.benchmark), *(f"{name} {value}" for name, value in model.problem.items()), growing),
    )
    return rule.finding(
        model.id,
        claim=text(
            "{problem}: on {cores} cores ({label}) {loss} of a linear speed-up over {base_cores} ({base}) is lost."
            " {reason}",
            problem=problem,
            cores=step.cores,
            label=step.label,
            loss=_loss(step.efficiency.value),
            base_cores=text("{count} core|{count} cores", count=model.base_cores),
            base=model.base_label,
            reason=_reason(step),
        ),
        severity="problem" if sure else "fact",
        status="observed" if sure else "candidate",
        evidence=(*step.estimates, model.base),
        numbers=numbers(step.efficiency, _LEAST),
        statistic=text(
            "upper end of the efficiency {high} ({basis})",
            high=digits(step.efficiency.hi),
            basis=stands_on(step.efficiency, step.blocks),
        ),
        next=_next(step, bool(roles.axis(base.benchmark, "copies"))),
    )


def _reason(step: Step) -> Text:
    if step.shared is None or step.messages is None or not _has_ends(step):
        return text("The costs of the shared node and of messages were not measured separately.")
    if step.by_caches:
        return text(
            "Independent copies on the same cores reach {shared}, which is the cost of sharing the node. Ranks "
            "that share the problem reach {gain} of the copies' rate, a cache effect: their parts are smaller. "
            "This hides the cost of messages.",
            shared=_told(step.shared),
            gain=_told(step.messages),
        )
    if step.as_full:
        return text("Each node has the same load as the base: the loss is messages, and waiting for them.")
    return text(
        "The largest loss is by sharing the node: {shared}, as independent copies on the same cores show. "
        "Messages cost {messages}."
        if _waits_for_memory(step)
        else "The largest loss is by messages: {messages}. Sharing the node costs {shared}, as independent copies "
        "on the same cores show.",
        shared=_lost(step.shared),
        messages=_lost(step.messages),
    )


def _has_ends(step: Step) -> bool:
    """Whether both factors rest on more than one pair of launches."""
    return bool(step.shared and step.messages and step.shared.has_ends and step.messages.has_ends)


def _waits_for_memory(step: Step) -> bool:
    """Whether more is lost by what cores of a node share than by messages."""
    return bool(step.shared and step.messages and step.shared.value < min(_HARMLESS, step.messages.value))


def _loss(left: float) -> str:
    return f"{max(0.0, 100 * (1 - left)):.1f} %"


def _lost(factor: Quantity) -> str:
    """What a factor takes away: `37.7 % (37.5 % to 38.0 %)`."""
    ends = text("{low} to {high}", low=_loss(factor.hi), high=_loss(factor.lo))
    return text("{value} ({basis})", value=_loss(factor.value), basis=ends)


def _told(figure: Quantity) -> str:
    """`0.66 (0.64 to 0.69)`."""
    return f"{digits(figure.value)} ({digits(figure.lo)} to {digits(figure.hi)})"


def _next(step: Step, has_copies: bool) -> str:  # noqa: FBT001 (of its program)
    if has_copies and (step.shared is None or step.messages is None):
        return text("measure independent copies on the same cores: {command}", command=cli("run", "one-two-two"))
    if step.shared and step.messages and (not _has_ends(step) or min(step.shared.hi, step.messages.hi) >= 1):
        return text("more launches, or a quieter machine: the factors cannot be told apart")
    if _waits_for_memory(step):
        return text(
            "use fewer ranks per node: cores wait for its memory. `{command}` shows how many cores use all of it",
            command=cli("run", "node"),
        )
    return text(
        "larger problems for each rank, fewer ranks with more threads, or a faster network. `{command}` measures "
        "what messages cost",
        command=cli("run", "network"),
    )


rule = Rule(
    "scaling",
    text("Is the speed-up close to the factor of cores and nodes?"),
    text("upper end of the efficiency < {least}", least=f"{_LEAST}"),
    _assess,
)
