"""A network that carries each pair of nodes alone but not all of them at once."""

from collections.abc import Iterable

from assay.analyse.evidence import CONFIDENT, Evidence, Rule, more
from assay.analyse.messages import place
from assay.analyse.models.fabric import LAW
from assay.model.result import Estimate, Finding, Model
from assay.model.text import text
from assay.model.units import format_quantity, format_size

_SHARE = 0.90
#: A single round of many may be low by chance.
_ROUNDS = 2


def _assess(evidence: Evidence) -> Iterable[Finding]:
    known = place.by_id(evidence)
    models = [each for each in evidence.models if each.law == LAW]
    apart = [each for each in models if not _is_one_machine(known[each.of[0]])]
    if not apart and place.passed(evidence):
        why = text(
            "The nodes are one machine, whose memory carries all messages"
            if models
            else "Bandwidth of every pair of four nodes or more was not measured one at a time and all at once"
        )
        yield rule.not_assessed(why, "assay run node-pairs")
    for model in apart:
        low = [each for each in model.points if each.value[2] < _SHARE]
        if model.parameters["all rounds"][2] < _SHARE or len(low) >= _ROUNDS:
            yield _finding(evidence, model, known[model.of[0]], len(low))


def _is_one_machine(estimate: Estimate) -> bool:
    proven = estimate.placement.proven
    return bool(proven and proven.machines == 1)


def _finding(evidence: Evidence, model: Model, estimate: Estimate, low: int) -> Finding:
    share, _, most = model.parameters["all rounds"]
    together, one_by_one = (
        format_quantity(model.parameters[name][0], estimate.unit) for name in ("together", "one at a time")
    )
    worst = min(model.points, key=lambda each: each.value[0])
    confident = all(int(each.at["blocks"]) >= CONFIDENT for each in model.points)
    what = f"{estimate.params['pattern']}, {format_size(int(estimate.params['bytes']))}"
    half = ",".join(estimate.placement.hosts[: len(estimate.placement.hosts) // 2])
    return Finding(
        id=f"{rule.name}:{model.id}",
        rule=rule.name,
        claim=text(
            "The network does not carry all pairs of nodes at once: together those of a round get {together} "
            "where one at a time they add up to {apart}, {share} of it ({what}); in the worst round {worst}. Low "
            "are {low} of {rounds} rounds.",
            together=together,
            apart=one_by_one,
            share=f"{share:.2f}",
            what=what,
            worst=f"{worst.value[0]:.2f}",
            low=low,
            rounds=len(model.points),
        ),
        severity="problem",
        status="observed" if confident else "candidate",
        evidence=(model.id, worst.estimate),
        statistic=text(
            "upper bound (95 %) of the share of all rounds {all}, of the worst one {worst}"
            if confident
            else "largest of the share of all rounds {all}, of the worst one {worst}",
            all=f"{most:.3g}",
            worst=f"{worst.value[2]:.3g}",
        ),
        threshold=rule.threshold,
        rivals=(
            text("fewer links between the switches than below them (oversubscribed)"),
            text("fixed routes that meet on one link while another is idle"),
            text("other jobs on the network"),
        ),
        next=text(
            "`{command}`: nodes below one switch; if they get all, the ways between switches lack",
            command=f"assay run node-pairs --hosts {half}",
        )
        if confident
        else more(evidence, CONFIDENT),
    )


rule = Rule(
    "oversubscribed_fabric",
    text("Does the network carry all pairs of nodes at once?"),
    text(
        "all at once / the sum of one at a time < {share} (upper end), over all rounds or in {rounds} rounds",
        share=f"{_SHARE}",
        rounds=_ROUNDS,
    ),
    _assess,
)
