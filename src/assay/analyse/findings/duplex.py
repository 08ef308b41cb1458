"""Whether both directions of the way between nodes work at once."""

from collections.abc import Iterable, Mapping

from assay.analyse.evidence import Evidence, Rule
from assay.analyse.experiments import anew, repeated
from assay.analyse.messages import place
from assay.analyse.models.duplex import LAW
from assay.model.result import Estimate, Finding, Model
from assay.model.text import text

_DUPLEX, _SHARED = 1.8, 1.2


def _assess(evidence: Evidence) -> Iterable[Finding]:
    known = place.by_id(evidence)
    models = [each for each in evidence.models if each.law == LAW and not each.reason]
    between = [each for each in models if place.between(known[each.of[0]])]
    if not between and place.passed(evidence):
        yield rule.not_assessed(
            text("Bandwidth between nodes was not measured one way and both"), "assay run network"
        )
    for model in between:
        yield _finding(evidence, model, known)


def _finding(evidence: Evidence, model: Model, known: Mapping[str, Estimate]) -> Finding:
    estimate = known[model.of[0]]
    factor, low, high = model.parameters["long messages"]
    shared = high <= _SHARED
    word = (
        text("the directions share the way")
        if shared
        else text(
            "the directions are independent" if low >= _DUPLEX else "the directions hinder each other in part"
        )
    )
    end = f"{high if shared else low:.3g}"
    confident = evidence.confidence(estimate.id)
    return Finding(
        id=f"{rule.name}:{model.id}",
        rule=rule.name,
        claim=text(
            "Long messages both ways at once get {factor} times what one way gets ({way}; {low} to {high}): "
            "{verdict}.",
            factor=f"{factor:.2f}",
            way=place.way(estimate),
            low=f"{low:.2f}",
            high=f"{high:.2f}",
            verdict=word,
        ),
        severity="advice" if shared else "fact",
        status="candidate" if shared and not confident else "observed",
        evidence=(model.id, *model.of[-2:]),
        statistic=text("upper end {ratio}" if shared else "lower end {ratio}", ratio=end),
        threshold=rule.threshold,
        rivals=(
            text("a link, switch or interface that is half duplex"),
            text("the core that sends and receives is busy, not the link"),
            text("the slot of the card"),
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
    text("Do both directions between nodes work at once?"),
    text(
        "both / one way >= {duplex} (lower end): duplex; <= {shared} (upper end): shared",
        duplex=f"{_DUPLEX}",
        shared=f"{_SHARED}",
    ),
    _assess,
)
