"""Experiments that rules define as data, and their verdicts on candidates."""

import math
from collections.abc import Mapping
from typing import Literal

import msgspec

from assay.analyse.evidence import Evidence, numbers, stands_on
from assay.analyse.statistics import hodges_lehmann
from assay.analyse.trials import Trial
from assay.model.comparison import Comparison
from assay.model.plan import Arm, Effect, Experiment
from assay.model.quantity import Quantity
from assay.model.result import Estimate, Finding
from assay.model.text import REMARK, cli, joined, text
from assay.model.units import format_quantity

Direction = Literal["above", "below"]
Verdict = Literal["holds", "fails", "open"]


def arm(estimate: Estimate, power: Literal[1, -1], level: str = "") -> Arm:
    """Return the figure of an estimate as an arm of an experiment, which measures it again."""
    return Arm(estimate.case, estimate.kernel, estimate.metric, power, level)


def retest_range(comparison: Comparison, sides: tuple[Estimate, Estimate], factor: float) -> Experiment | None:
    """Return the experiment that repeats both sides in blocks of its own; None if there is an interval already.

    Args:
        comparison: a / b, from the study.
        sides: a, the judged one, and b, the base.
        factor: above 1, by which the whole interval must differ from 1, on the side that the study found.
    """
    if comparison.confidence:
        return None
    above = comparison.ratio > 1
    return retest(retest_pair(sides, factor if above else 1 / factor, "above" if above else "below"))


def retest(effect: Effect) -> Experiment:
    """Return the experiment that tests whether an effect is more than chance."""
    return Experiment(text("whether a new measurement in separate blocks shows it again"), (effect,))


def retest_pair(sides: tuple[Estimate, Estimate], border: float, side: Direction) -> Effect:
    """Return the effect that the ratio of two estimates is beyond the border again."""
    a, b = sides
    return _repeated(text("the ratio"), (arm(a, 1), arm(b, -1)), border, side)


def retest_single(estimate: Estimate, border: float) -> Effect:
    """Return the effect that an estimate is below the border again, which is in its unit."""
    effect = _repeated(text("the {metric}", metric=estimate.metric), (arm(estimate, 1),), border, "below")
    return msgspec.structs.replace(effect, unit=estimate.unit)


def _repeated(what: str, arms: tuple[Arm, ...], border: float, side: Direction) -> Effect:
    return Effect(
        what=what,
        arms=arms,
        border=border,
        side=side,
        holds=text("a new measurement shows {what} again", what=what),
        fails=text("a new measurement does not show {what}: it was chance", what=what),
    )


def decided(finding: Finding, evidence: Evidence) -> Finding:
    """Return the finding with the verdict of its experiment; a candidate without one names it as the next step.

    The verdict uses the blocks of the experiment only, never those that made the candidate. The first experiment
    decides: one that is repeated until it succeeds proves nothing.
    """
    experiment = finding.experiment
    made = [trial for trial in evidence.trials if finding.id in trial.plan.experiments]
    if made and experiment:
        return _with_verdict(finding, made[0], evidence)
    if finding.status == "candidate" and experiment:
        return msgspec.structs.replace(finding, next=command(experiment, evidence))
    return finding


def command(experiment: Experiment, evidence: Evidence) -> str:
    """Return the command that makes an experiment, and what it shows."""
    factor = experiment.factor
    again = ("--vary", f"{factor.name}={','.join(factor.levels)}") if factor else ("--confirm",)
    if evidence.run.imported:
        typed = cli("run", evidence.study(), *again)
    else:
        typed = cli("resume", evidence.run.info.id, "--confirm")
    return joined(REMARK, (typed, text("shows {question}", question=experiment.question)))


def _with_verdict(finding: Finding, trial: Trial, evidence: Evidence) -> Finding:
    effects = trial.plan.experiments[finding.id].effects
    known = {effect.what: effect for effect in finding.experiment.effects} if finding.experiment else {}
    # Words of the plan are stored in one language; those of the rule can be translated.
    judged = [(known.get(effect.what, effect), *_judged(effect, trial, known)) for effect in effects]
    said = joined("; ", [words for _, _, words in judged])
    figure = _figure(effects[0], trial) if effects else None
    tested = numbers(figure, effects[0].border, figure.unit) if figure else {}
    failed = [effect for effect, verdict, _ in judged if verdict == "fails"]
    judgement = msgspec.structs.replace(finding, statistic=said, numbers=tested)
    if refuting := joined("; ", [effect.fails for effect in failed if effect.refutes]):
        claim = text(
            "Refuted by experiment ({why}; {evidence}): {claim}", why=refuting, evidence=said, claim=finding.claim
        )
        return msgspec.structs.replace(judgement, status="refuted", claim=claim, next="")
    if judged and all(verdict == "holds" for _, verdict, _ in judged):
        holds = joined("; ", [effect.holds for effect, _, _ in judged])
        confirmed = text("Confirmed by experiment: {holds} ({evidence}).", holds=holds, evidence=said)
        whole = joined(" ", (finding.claim, confirmed))
        # An experiment that varies nothing excludes chance only.
        rivals = () if any(effect.excludes for effect, _, _ in judged) else finding.rivals
        return msgspec.structs.replace(judgement, status="confirmed", claim=whole, rivals=rivals)
    why = joined("; ", [effect.fails for effect in failed]) or text("it supports neither")
    left = text("The experiment did not decide: {why} ({evidence}).", why=why, evidence=said)
    once_more = text("measures everything again and repeats the experiment")
    return msgspec.structs.replace(
        finding,
        claim=joined(" ", (finding.claim, left)),
        next=joined(REMARK, (cli("run", evidence.study(), "--confirm"), once_more)),
    )


def _judged(effect: Effect, trial: Trial, known: Mapping[str, Effect]) -> tuple[Verdict, str]:
    """The verdict of a trial on an effect, with its figures in words."""
    found = _figure(effect, trial)
    what = known.get(effect.what, effect).what
    if not found:
        return "open", text("{what}: no block has all the figures that it needs", what=what)
    value, low, high, border = (
        format_quantity(each, effect.unit) for each in (found.value, found.lo, found.hi, effect.border)
    )
    figures = text(
        "{what} {value}, {low} to {high}, {basis}",
        what=what,
        value=value if effect.unit else f"x{value}",
        low=low,
        high=high,
        basis=stands_on(found, len(_products(effect, trial))),
    )
    if not found.has_interval:
        return "open", text("{figures}; too few to decide", figures=figures)
    side = "above" if found.lo > effect.border else "below" if found.hi < effect.border else ""
    if not side:
        return "open", text(
            "{figures}, on both sides of the threshold of {border}", figures=figures, border=border
        )
    sentence = text(
        "{figures}, above the threshold of {border}"
        if side == "above"
        else "{figures}, below the threshold of {border}",
        figures=figures,
        border=border,
    )
    return "holds" if side == effect.side else "fails", sentence


def _figure(effect: Effect, trial: Trial) -> Quantity | None:
    """The product of an effect over the blocks of a trial; None if no block has all of its figures."""
    logarithms = _products(effect, trial)
    if not logarithms:
        return None
    found = hodges_lehmann(logarithms)
    value, lo, hi = map(math.exp, found)
    return Quantity(value, lo, hi, effect.unit, found.basis)


def _products(effect: Effect, trial: Trial) -> list[float]:
    """The logarithm of the product of an effect, for each block that has all of its figures."""
    factors: list[dict[int, float]] = []
    for each in effect.arms:
        measured = trial.figure(each.case, each.kernel, each.metric)
        launches = measured.launches if measured else ()
        factors.append({launch.block: each.power * math.log(launch.value) for launch in launches})
    blocks = set.intersection(*map(set, factors)) if factors else set()
    return [sum(factor[block] for factor in factors) for block in sorted(blocks)]
