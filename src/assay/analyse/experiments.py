"""Experiments that rules name as data, and what their outcomes make of candidates."""

import math
from typing import Literal

import msgspec

from assay.analyse.evidence import Evidence
from assay.analyse.statistics import hodges_lehmann
from assay.analyse.trials import Trial
from assay.model.plan import Arm, Effect, Experiment, Plan
from assay.model.result import Analysis, Comparison, Estimate, Finding
from assay.model.units import format_quantity

Side = Literal["above", "below"]
Verdict = Literal["holds", "fails", "open"]


def arm(estimate: Estimate, power: Literal[1, -1], level: str = "") -> Arm:
    """The figure of an estimate, measured again."""
    return Arm(estimate.case, estimate.kernel, estimate.metric, power, level)


def again(comparison: Comparison, sides: tuple[Estimate, Estimate], factor: float) -> Experiment | None:
    """The experiment that a mere range asks for: the same two in blocks of their own; None where there is more.

    Args:
        comparison: a / b, as the study has it.
        sides: a, that is judged, and b, the base.
        factor: above 1, that the whole interval has to lie apart from 1, on the side where the study found it.
    """
    if comparison.confidence:
        return None
    effect = repeated(sides, factor, "above") if comparison.ratio > 1 else repeated(sides, 1 / factor, "below")
    return anew(effect)


def anew(effect: Effect) -> Experiment:
    """The experiment that asks whether an effect is more than chance."""
    return Experiment("whether it is there again, measured anew block by block", (effect,))


def repeated(sides: tuple[Estimate, Estimate], border: float, side: Side) -> Effect:
    """That the ratio of two estimates is there again, beyond the border."""
    a, b = sides
    return _again("the ratio", (arm(a, 1), arm(b, -1)), border, side)


def alone(estimate: Estimate, border: float, side: Side) -> Effect:
    """That an estimate is there again, beyond the border, which is in its unit."""
    effect = _again(f"the {estimate.metric}", (arm(estimate, 1),), border, side)
    return msgspec.structs.replace(effect, unit=estimate.unit)


def _again(what: str, arms: tuple[Arm, ...], border: float, side: Side) -> Effect:
    return Effect(
        what=what,
        arms=arms,
        border=border,
        side=side,
        holds=f"measured anew, {what} is there again",
        fails=f"measured anew, {what} is not there; it was chance",
    )


def decided(finding: Finding, evidence: Evidence) -> Finding:
    """A finding as its experiment left it; a candidate without one, with the experiment as what comes next.

    The verdict rests on blocks of the experiment alone, never on those that made the candidate. The first one
    decides: an experiment that is repeated until it says yes says nothing.
    """
    experiment = finding.experiment
    made = [trial for trial in evidence.trials if trial.experiment(finding.id)]
    if made and experiment:
        return _told(finding, made[0], evidence)
    if finding.status == "candidate" and experiment:
        return msgspec.structs.replace(finding, next=command(experiment, evidence))
    return finding


def wanted(analysis: Analysis, plan: Plan) -> dict[str, Experiment]:
    """Id of each finding that asks for an experiment -> it, where none was made yet; the most important first."""
    made = {finding for trial in plan.trials for finding in trial.experiments}
    return {each.id: each.experiment for each in analysis.findings if each.experiment and each.id not in made}


def command(experiment: Experiment, evidence: Evidence) -> str:
    """What is typed to make an experiment, and what it tells."""
    varied = f"--vary {experiment.factor.name}={','.join(experiment.factor.levels)}" if experiment.factor else ""
    if evidence.run.imported:
        again = varied or "--confirm"
        return f"assay run {evidence.study()} {again}  # tells {experiment.question}"
    return f"assay run --resume {evidence.run.info.id} --confirm  # tells {experiment.question}"


def _told(finding: Finding, trial: Trial, evidence: Evidence) -> Finding:
    made = trial.experiment(finding.id)
    effects = made.effects if made else ()
    judged = [(effect, *_judged(effect, trial)) for effect in effects]
    said = "; ".join(words for _, _, words in judged)
    failed = [effect for effect, verdict, _ in judged if verdict == "fails"]
    refuting = [effect.fails for effect in failed if effect.refutes]
    if refuting:
        claim = f"Refuted by experiment ({'; '.join(refuting)}; {said}): {finding.claim}"
        return msgspec.structs.replace(finding, status="refuted", claim=claim, statistic=said, next="")
    if judged and all(verdict == "holds" for _, verdict, _ in judged):
        holds = "; ".join(effect.holds for effect in effects)
        claim = f"{finding.claim} Confirmed by experiment: {holds} ({said})."
        rivals = () if made and made.factor else finding.rivals  # chance alone is excluded where nothing varied
        return msgspec.structs.replace(finding, status="confirmed", claim=claim, statistic=said, rivals=rivals)
    why = "; ".join(effect.fails for effect in failed) or "it tells neither"
    return msgspec.structs.replace(
        finding,
        claim=f"{finding.claim} Its experiment left it open: {why} ({said}).",
        next=f"assay run {evidence.study()} --confirm  # measures all of it again, and makes the experiment anew",
    )


def _judged(effect: Effect, trial: Trial) -> tuple[Verdict, str]:
    """What the blocks of a trial say of an effect, and the figures of it."""
    logarithms = _products(effect, trial)
    if not logarithms:
        return "open", f"{effect.what}: no block has all of its figures"
    found = hodges_lehmann(logarithms)
    low, high = math.exp(found.lo), math.exp(found.hi)
    kind = f"{100 * found.confidence:.0f} % interval" if found.confidence else "range"
    blocks = f"{len(logarithms)} block{'s' if len(logarithms) > 1 else ''}"
    factor = "" if effect.unit else "x"
    value, lowest, highest, border = (
        format_quantity(each, effect.unit) for each in (math.exp(found.median), low, high, effect.border)
    )
    said = f"{effect.what} {factor}{value}, {lowest} to {highest}, {kind} of {blocks}"
    if not found.confidence:
        return "open", f"{said}; fewer than decide"
    if low > effect.border:
        return ("holds" if effect.side == "above" else "fails"), f"{said}, above the border of {border}"
    if high < effect.border:
        return ("holds" if effect.side == "below" else "fails"), f"{said}, below the border of {border}"
    return "open", f"{said}, on both sides of the border of {border}"


def _products(effect: Effect, trial: Trial) -> list[float]:
    """Logarithm of the product of an effect, of each block that has all of its figures."""
    factors: list[dict[int, float]] = []
    for each in effect.arms:
        measured = trial.figure(each.case, each.kernel, each.metric)
        launches = measured.launches if measured else ()
        factors.append({launch.block: each.power * math.log(launch.value) for launch in launches})
    blocks = set.intersection(*map(set, factors)) if factors else set()
    return [sum(factor[block] for factor in factors) for block in sorted(blocks)]
