"""Pairs of nodes with slower messages than other pairs, and a node that all of them share."""

from collections.abc import Iterable

from assay.analyse.evidence import CONFIDENT, Evidence, Rule, numbers
from assay.analyse.messages import place
from assay.analyse.outliers import DEVIATIONS, FEWEST, LOW, common_end, first_few, slow
from assay.model.law import Point
from assay.model.result import Estimate, Finding
from assay.model.text import cli, joined, text
from assay.model.units import format_quantity, format_size
from assay.topics.messages.models.node_pairs import NodePairs


def _assess(evidence: Evidence) -> Iterable[Finding]:
    known = evidence.estimates
    found = [each for each in evidence.fitted(NodePairs) if len(each.points) >= FEWEST]
    models = [each for each in found if known[each.of[0]].params["schedule"] == "one"]
    if not models:
        yield rule.not_assessed(
            text("Fewer than {pairs} pairs were measured one at a time", pairs=FEWEST), cli("run", "node-pairs")
        )
    for model in models:
        estimate = known[model.of[0]]
        if outliers := slow(model.points, estimate.better):
            yield _finding(evidence, model, estimate, outliers)


def _finding(evidence: Evidence, model: NodePairs, estimate: Estimate, found: list[Point]) -> Finding:
    ordered = sorted(found, key=_factor, reverse=True)
    worst, usual = ordered[0], model.all_pairs.value
    named = [
        text("{a} with {b} {factor}", a=str(each.at["a"]), b=str(each.at["b"]), factor=f"x{_factor(each):.2f}")
        for each in ordered
    ]
    node = common_end(found)
    common = text("All of them are pairs of {node}.", node=str(node)) if node is not None else ""
    claim = text(
        "Messages are slower between {count} of {all} pairs of nodes than between the others ({pairs}; {what}: "
        "usually {usual}).",
        count=len(found),
        all=len(model.points),
        pairs=first_few(named),
        what=f"{estimate.metric}, {format_size(int(estimate.params['bytes']))}",
        usual=format_quantity(usual, estimate.unit),
    )
    launches = min(evidence.estimates[each.estimate].launches for each in found)
    nearest = worst.value.lo if estimate.better == "lower" else worst.value.hi
    return rule.finding(
        model.id,
        claim=joined(" ", (claim, common)),
        severity="problem",
        status="observed" if launches >= CONFIDENT else "candidate",
        evidence=(model.id, *dict.fromkeys(each.estimate for each in found)),
        numbers=numbers(worst.value, usual * (1 + LOW if estimate.better == "lower" else 1 - LOW), estimate.unit),
        statistic=text(
            "nearer end of the slowest pair's interval / median of all pairs {ratio}",
            ratio=f"{nearest / usual:.3g}",
        ),
        rivals=(
            text("more switches between them than between others"),
            text("a cable, port or card that is slow or retransmits"),
            text("another program on a node, or other jobs on the path"),
        ),
        next=text(
            "`{command}`: measure the slowest pair alone, and read the error counters of the network cards",
            command=cli("run", "network", "--hosts", f"{worst.at['a']},{worst.at['b']}"),
        ),
    )


def _factor(point: Point) -> float:
    """Return how many times slower it is than the median pair."""
    ratio = point.ratio or 1.0
    return max(ratio, 1 / ratio)


rule = Rule(
    "node_pairs",
    text("Are messages between some nodes slower than between others?"),
    text(
        "whole interval of a pair slower than the median pair by {deviations} median absolute deviations and "
        "{low} %",
        deviations=DEVIATIONS,
        low=f"{100 * LOW:.0f}",
    ),
    _assess,
    applies=place.passed,
)
