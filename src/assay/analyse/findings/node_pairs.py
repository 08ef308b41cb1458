"""A pair of nodes between which messages are slower than between others, and a node that all such pairs share."""

from collections.abc import Iterable

from assay.analyse.evidence import CONFIDENT, Evidence, Rule
from assay.analyse.messages import place
from assay.analyse.models.node_pairs import LAW
from assay.analyse.outliers import DEVIATIONS, FEWEST, LOW, common_end, slow
from assay.model.result import Estimate, Finding, Model, Point
from assay.model.units import format_quantity, format_size

_SHOWN = 3


def _assess(evidence: Evidence) -> Iterable[Finding]:
    known = place.by_id(evidence)
    models = [
        each
        for each in evidence.models
        if each.law == LAW and len(each.points) >= FEWEST and known[each.of[0]].params["schedule"] == "one"
    ]
    if not models and place.passed(evidence):
        yield rule.not_assessed(f"fewer than {FEWEST} pairs were measured one at a time", "assay run node-pairs")
    for model in models:
        estimate = known[model.of[0]]
        found = slow(model.points, estimate.better)
        if found:
            yield _finding(evidence, model, estimate, found)


def _finding(evidence: Evidence, model: Model, estimate: Estimate, found: list[Point]) -> Finding:
    ordered = sorted(found, key=_factor, reverse=True)
    worst, usual = ordered[0], model.parameters["all pairs"][0]
    shown = ", ".join(f"{each.at['a']} with {each.at['b']} x{_factor(each):.2f}" for each in ordered[:_SHOWN])
    more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    node = common_end(found)
    common = f" All of them are pairs of {node}." if node is not None else ""
    launches = min(each.launches for each in _estimates(evidence, found))
    what = f"{estimate.metric}, {format_size(int(estimate.params['bytes']))}"
    pair = f"{worst.at['a']},{worst.at['b']}"
    return Finding(
        id=f"{rule.name}:{model.id}",
        rule=rule.name,
        claim=f"Messages are slower between {len(found)} of {len(model.points)} pairs of nodes than between the "
        f"others ({shown}{more}; {what}: usually {format_quantity(usual, estimate.unit)}).{common}",
        severity="problem",
        status="observed" if launches >= CONFIDENT else "candidate",
        evidence=(model.id, *dict.fromkeys(each.estimate for each in found)),
        statistic=f"nearer end of the slowest over the median of all pairs {_near(worst, estimate) / usual:.3g}",
        threshold=rule.threshold,
        rivals=(
            "more switches between them than between others",
            "a cable, port or card that is slower or sends again",
            "another program on a node, or other jobs on the way",
        ),
        next=f"assay run network --hosts {pair}: the slowest pair alone, with the network cards' error counters "
        "beside it",
    )


def _estimates(evidence: Evidence, found: list[Point]) -> list[Estimate]:
    known = place.by_id(evidence)
    return [known[each.estimate] for each in found]


def _factor(point: Point) -> float:
    """How many times slower than the median pair."""
    ratio = point.ratio or 1.0
    return max(ratio, 1 / ratio)


def _near(point: Point, estimate: Estimate) -> float:
    """The end of its interval that is nearer to the others."""
    return point.value[1] if estimate.better == "lower" else point.value[2]


rule = Rule(
    "node_pairs",
    "Are messages between some nodes slower than between others?",
    f"whole interval of a pair slower than the median pair by {DEVIATIONS} median absolute deviations and "
    f"{100 * LOW:.0f} %",
    _assess,
)
