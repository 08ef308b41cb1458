"""A network that carries each pair of nodes alone but not all of them at once."""

from collections.abc import Iterable

from assay.analyse.evidence import CONFIDENT, Evidence, Rule, more, numbers
from assay.analyse.messages import place
from assay.model.result import Estimate, Finding
from assay.model.text import cli, text
from assay.model.units import format_quantity, format_size
from assay.topics.messages.models.fabric import Fabric

_SHARE = 0.90
#: A single low round of many may be chance.
_ROUNDS = 2


def _assess(evidence: Evidence) -> Iterable[Finding]:
    known = evidence.estimates
    models = evidence.fitted(Fabric)
    apart = [each for each in models if not known[each.of[0]].placement.is_one_machine]
    if not apart:
        why = text(
            "The nodes are one machine, whose memory carries all messages"
            if models
            else "Bandwidth of all pairs of four or more nodes was not measured both one by one and all at once"
        )
        yield rule.not_assessed(why, cli("run", "node-pairs"))
    for model in apart:
        low = [each for each in model.points if each.value.hi < _SHARE]
        if model.all_rounds.hi < _SHARE or len(low) >= _ROUNDS:
            yield _finding(evidence, model, known[model.of[0]], len(low))


def _finding(evidence: Evidence, model: Fabric, estimate: Estimate, low: int) -> Finding:
    share, _, most = model.all_rounds
    together, one_by_one = (
        format_quantity(each.value, estimate.unit) for each in (model.together, model.one_at_a_time)
    )
    worst = min(model.points, key=lambda each: each.value.value)
    confident = all(int(each.at["blocks"]) >= CONFIDENT for each in model.points)
    what = f"{estimate.params['pattern']}, {format_size(int(estimate.params['bytes']))}"
    half = ",".join(estimate.placement.hosts[: len(estimate.placement.hosts) // 2])
    return rule.finding(
        model.id,
        claim=text(
            "The network does not carry all pairs of nodes at once: the pairs of a round together get "
            "{together}; measured one at a time their sum is {apart}. The share is {share} ({what}), in the "
            "worst round {worst}. {low} of {rounds} rounds are low.",
            together=together,
            apart=one_by_one,
            share=f"{share:.2f}",
            what=what,
            worst=f"{worst.value.value:.2f}",
            low=low,
            rounds=len(model.points),
        ),
        severity="problem",
        status="observed" if confident else "candidate",
        evidence=(model.id, worst.estimate),
        numbers=numbers(model.all_rounds, _SHARE),
        statistic=text(
            "upper bound (95 %) of the share of all rounds {all}, of the worst one {worst}"
            if confident
            else "largest of the share of all rounds {all}, of the worst one {worst}",
            all=f"{most:.3g}",
            worst=f"{worst.value.hi:.3g}",
        ),
        rivals=(
            text("fewer links between the switches than below them (oversubscribed)"),
            text("static routes that share one link while another link is idle"),
            text("other jobs on the network"),
        ),
        next=text(
            "`{command}`: measure nodes of one switch; if they reach the full rate, the links between the "
            "switches are the bottleneck",
            command=cli("run", "node-pairs", "--hosts", half),
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
    applies=place.passed,
)
