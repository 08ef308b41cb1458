"""Experiments that rules name as data, and what their outcomes make of candidates."""

import math
from collections.abc import Mapping
from typing import Literal

import msgspec

from assay.analyse.evidence import Evidence
from assay.analyse.statistics import hodges_lehmann
from assay.analyse.trials import Trial
from assay.model.plan import Arm, Effect, Experiment, Plan
from assay.model.result import Analysis, Comparison, Estimate, Finding
from assay.model.text import REMARK, joined, text
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
    return Experiment(text("whether it is there again, measured anew block by block"), (effect,))


def repeated(sides: tuple[Estimate, Estimate], border: float, side: Side) -> Effect:
    """That the ratio of two estimates is there again, beyond the border."""
    a, b = sides
    return _again(text("the ratio"), (arm(a, 1), arm(b, -1)), border, side)


def alone(estimate: Estimate, border: float, side: Side) -> Effect:
    """That an estimate is there again, beyond the border, which is in its unit."""
    effect = _again(text("the {metric}", metric=estimate.metric), (arm(estimate, 1),), border, side)
    return msgspec.structs.replace(effect, unit=estimate.unit)


def _again(what: str, arms: tuple[Arm, ...], border: float, side: Side) -> Effect:
    return Effect(
        what=what,
        arms=arms,
        border=border,
        side=side,
        holds=text("measured anew, {what} is there again", what=what),
        fails=text("measured anew, {what} is not there; it was chance", what=what),
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
        typed = f"assay run {evidence.study()} {again}"
    else:
        typed = f"assay run --resume {evidence.run.info.id} --confirm"
    return joined(REMARK, (typed, text("tells {question}", question=experiment.question)))


def _told(finding: Finding, trial: Trial, evidence: Evidence) -> Finding:
    made = trial.experiment(finding.id)
    effects = made.effects if made else ()
    known = {effect.what: effect for effect in finding.experiment.effects} if finding.experiment else {}
    # The words of the plan are those that were stored; the rule says the same in every language.
    judged = [(known.get(effect.what, effect), *_judged(effect, trial, known)) for effect in effects]
    said = joined("; ", [words for _, _, words in judged])
    failed = [effect for effect, verdict, _ in judged if verdict == "fails"]
    refuting = [effect.fails for effect in failed if effect.refutes]
    if refuting:
        claim = text(
            "Refuted by experiment ({why}; {said}): {claim}",
            why=joined("; ", refuting),
            said=said,
            claim=finding.claim,
        )
        return msgspec.structs.replace(finding, status="refuted", claim=claim, statistic=said, next="")
    if judged and all(verdict == "holds" for _, verdict, _ in judged):
        holds = joined("; ", [effect.holds for effect, _, _ in judged])
        confirmed = text("Confirmed by experiment: {holds} ({said}).", holds=holds, said=said)
        whole = joined(" ", (finding.claim, confirmed))
        # Chance alone is excluded where nothing varied.
        rivals = () if any(effect.excludes for effect, _, _ in judged) else finding.rivals
        return msgspec.structs.replace(finding, status="confirmed", claim=whole, statistic=said, rivals=rivals)
    why = joined("; ", [effect.fails for effect in failed]) or text("it tells neither")
    left = text("Its experiment left it open: {why} ({said}).", why=why, said=said)
    anew_ = text("measures all of it again, and makes the experiment anew")
    return msgspec.structs.replace(
        finding,
        claim=joined(" ", (finding.claim, left)),
        next=joined(REMARK, (f"assay run {evidence.study()} --confirm", anew_)),
    )


def _judged(effect: Effect, trial: Trial, known: Mapping[str, Effect]) -> tuple[Verdict, str]:
    """What the blocks of a trial say of an effect, and the figures of it."""
    logarithms = _products(effect, trial)
    what = known.get(effect.what, effect).what
    if not logarithms:
        return "open", text("{what}: no block has all of its figures", what=what)
    found = hodges_lehmann(logarithms)
    low, high = math.exp(found.lo), math.exp(found.hi)
    blocks = text("{count} block|{count} blocks", count=len(logarithms))
    kind = (
        text("{confidence} % interval of {blocks}", confidence=f"{100 * found.confidence:.0f}", blocks=blocks)
        if found.confidence
        else text("range of {blocks}", blocks=blocks)
    )
    factor = "" if effect.unit else "x"
    value, lowest, highest, border = (
        format_quantity(each, effect.unit) for each in (math.exp(found.median), low, high, effect.border)
    )
    said = text(
        "{what} {value}, {low} to {high}, {basis}",
        what=what,
        value=f"{factor}{value}",
        low=lowest,
        high=highest,
        basis=kind,
    )
    if not found.confidence:
        return "open", text("{figures}; fewer than decide", figures=said)
    if low > effect.border:
        verdict: Verdict = "holds" if effect.side == "above" else "fails"
        return verdict, text("{figures}, above the border of {border}", figures=said, border=border)
    if high < effect.border:
        verdict = "holds" if effect.side == "below" else "fails"
        return verdict, text("{figures}, below the border of {border}", figures=said, border=border)
    return "open", text("{figures}, on both sides of the border of {border}", figures=said, border=border)


def _products(effect: Effect, trial: Trial) -> list[float]:
    """Logarithm of the product of an effect, of each block that has all of its figures."""
    factors: list[dict[int, float]] = []
    for each in effect.arms:
        measured = trial.figure(each.case, each.kernel, each.metric)
        launches = measured.launches if measured else ()
        factors.append({launch.block: each.power * math.log(launch.value) for launch in launches})
    blocks = set.intersection(*map(set, factors)) if factors else set()
    return [sum(factor[block] for factor in factors) for block in sorted(blocks)]
