"""Why a run has no figure of what a publication states: the reason of its plan, or what it lacks."""

from assay.catalogue import benchmarks
from assay.model.derivation import Operand
from assay.model.left_out import Folded, LeftOut
from assay.model.placement import parsed, starred_memory
from assay.model.result import Estimate
from assay.model.run import Run
from assay.model.text import text


def why(operand: Operand, run: Run) -> str:
    """Return why a run has no figure of an operand: the reason of its plan, if it has one."""
    if planned := _planned(operand, run):
        return planned
    varied = {each.name for each in run.plan.factors}
    missing = next((name for name in operand.factors if name not in varied), "")
    if missing and not run.imported:
        return text(
            "{factor} was not varied: name its levels in assay.toml, [factor.{factor}], and add --vary {factor}",
            factor=missing,
        )
    return text("it has no figure of {benchmark} at {place}", benchmark=operand.benchmark, place=operand.placement)


def _planned(operand: Operand, run: Run) -> str:
    """Why the plan of a run left out what an operand describes; empty if it did not."""
    left = next((each for each in run.plan.left_out if _is_of(each, operand)), None)
    if left:
        return left.reason
    folded = next((each for each in run.plan.folded if _is_folded(each, operand)), None)
    if folded:
        return text(
            "{request} equals {other} here: {reason}",
            request=folded.request,
            other=folded.into,
            reason=folded.reason,
        )
    return ""


def _is_of(left: LeftOut, operand: Operand) -> bool:
    """Whether a plan left out what an operand describes, or its whole benchmark."""
    place = f"{operand.benchmark} at {operand.placement}"
    family = (operand.benchmark, parsed(operand.placement).starred, starred_memory(_memory(operand)))
    named = left.family[: len(family)]
    return left.request in {operand.benchmark, place} or (len(named) > 1 and named == family[: len(named)])


def _is_folded(folded: Folded, operand: Operand) -> bool:
    memory = "" if _memory(operand) == "first-touch" else f", {_memory(operand)}"
    return folded.request == f"{operand.placement}{memory}"


def _memory(operand: Operand) -> str:
    """The memory word of a study for an operand: `interleave` deals pages to all nodes."""
    word = operand.memory or "first-touch"
    return word if word.startswith("bind") else word.partition(":")[0]


def why_without(printed: Estimate, run: Run) -> str:
    """Return why a run has no figure that a source states; empty if its plan does not say it."""
    if not run.plan.declared(printed.benchmark).is_known and printed.benchmark not in benchmarks.names():
        return text("Assay has no benchmark '{name}'", name=printed.benchmark)
    where = printed.placement
    operand = Operand(printed.benchmark, placement=where.label, memory=where.memory)
    return _planned(operand, run)
