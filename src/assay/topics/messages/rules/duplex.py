"""Whether both directions between nodes work at the same time."""

from collections.abc import Iterable, Mapping

from assay.analyse.evidence import Evidence, Rule, numbers
from assay.analyse.experiments import retest, retest_pair
from assay.analyse.messages import place
from assay.model.result import Estimate, Finding
from assay.model.text import cli, text
from assay.topics.messages.models.duplex import Duplex

_DUPLEX, _SHARED = 1.8, 1.2


def _assess(evidence: Evidence) -> Iterable[Finding]:
    between = [each for each in evidence.fitted(Duplex) if place.between(evidence.estimates[each.of[0]])]
    if not between:
        yield rule.not_assessed(
            text("Bandwidth between nodes was not measured both in one direction and in two"),
            cli("run", "network"),
        )
    yield from (_finding(each, evidence.estimates) for each in between)


def _finding(model: Duplex, known: Mapping[str, Estimate]) -> Finding:
    estimate = known[model.of[0]]
    factor, low, high = model.long_messages
    shared = high <= _SHARED
    chance = shared and not estimate.confidence
    apart = text("the directions are independent" if low >= _DUPLEX else "the directions slow each other down")
    return rule.finding(
        model.id,
        claim=text(
            "Long messages in both directions get {factor} times the bandwidth of one direction ({case}; {low} to "
            "{high}): {verdict}.",
            factor=f"{factor:.2f}",
            case=place.path_name(estimate),
            low=f"{low:.2f}",
            high=f"{high:.2f}",
            verdict=text("the directions share the path") if shared else apart,
        ),
        severity="advice" if shared else "fact",
        status="candidate" if chance else "observed",
        evidence=(model.id, *model.of[-2:]),
        numbers=numbers((factor, low, high), _SHARED if shared else _DUPLEX),
        statistic=text("upper end {ratio}", ratio=f"{high:.3g}")
        if shared
        else text("lower end {ratio}", ratio=f"{low:.3g}"),
        rivals=(
            text("a link, switch or interface that is half duplex"),
            text("the core that sends and receives is busy, not the link"),
            text("the slot of the card"),
        )
        if shared
        else (),
        experiment=retest(retest_pair((known[model.of[-2]], known[model.of[-1]]), _SHARED, "below"))
        if chance
        else None,
        next=cli("run", "multi-pair", "--hosts", ",".join(estimate.placement.hosts)) if shared else "",
    )


rule = Rule(
    "duplex",
    text("Do both directions between nodes work at the same time?"),
    text(
        "both directions / one >= {duplex} (lower end): duplex; <= {shared} (upper end): shared",
        duplex=f"{_DUPLEX}",
        shared=f"{_SHARED}",
    ),
    _assess,
    applies=place.passed,
    concerns="paths",
)
