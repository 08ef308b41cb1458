"""Whether both directions of the way between nodes work at once."""

from collections.abc import Iterable, Mapping

from assay.analyse.evidence import Evidence, Rule
from assay.analyse.experiments import anew, repeated
from assay.analyse.messages import place
from assay.analyse.models.duplex import LAW
from assay.model.result import Estimate, Finding, Model

_DUPLEX, _SHARED = 1.8, 1.2


def _assess(evidence: Evidence) -> Iterable[Finding]:
    known = place.by_id(evidence)
    models = [each for each in evidence.models if each.law == LAW and not each.reason]
    between = [each for each in models if place.between(known[each.of[0]])]
    if not between and place.passed(evidence):
        yield rule.not_assessed("bandwidth between nodes was not measured one way and both", "assay run network")
    for model in between:
        yield _finding(evidence, model, known)


def _finding(evidence: Evidence, model: Model, known: Mapping[str, Estimate]) -> Finding:
    estimate = known[model.of[0]]
    factor, low, high = model.parameters["long messages"]
    shared = high <= _SHARED
    word = "share the way" if shared else "are independent" if low >= _DUPLEX else "hinder each other in part"
    confident = evidence.confidence(estimate.id)
    return Finding(
        id=f"{rule.name}:{model.id}",
        rule=rule.name,
        claim=f"Long messages both ways at once get {factor:.2f} times what one way gets ({place.way(estimate)}; "
        f"{low:.2f} to {high:.2f}): the directions {word}.",
        severity="advice" if shared else "fact",
        status="candidate" if shared and not confident else "observed",
        evidence=(model.id, *model.of[-2:]),
        statistic=f"{'upper' if shared else 'lower'} end {high if shared else low:.3g}",
        threshold=rule.threshold,
        rivals=(
            "a link, switch or interface that is half duplex",
            "the core that sends and receives is busy, not the link",
            "the slot of the card",
        )
        if shared
        else (),
        experiment=anew(repeated((known[model.of[-2]], known[model.of[-1]]), _SHARED, "below"))
        if shared and not confident
        else None,
        next=f"assay run multi-pair --hosts {','.join(estimate.placement.hosts)}" if shared else "",
    )


rule = Rule(
    "duplex",
    "Do both directions between nodes work at once?",
    f"both / one way >= {_DUPLEX} (lower end): duplex; <= {_SHARED} (upper end): shared",
    _assess,
)
