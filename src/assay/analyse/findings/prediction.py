"""What other measurements predict of a figure, and what it is: one finding for all of its states."""

from collections.abc import Iterable, Sequence

from assay.analyse.evidence import Evidence, Rule
from assay.model.result import Finding, Prediction
from assay.model.text import joined, text
from assay.model.units import format_quantity

_PERCENT = 100
#: Beyond this the bandwidth does not explain the figure.
_EXPLAINS = 0.15


def _assess(evidence: Evidence) -> Iterable[Finding]:
    if not evidence.predictions:
        yield rule.not_assessed(text("Nothing was measured that other measurements predict"), "assay run node")
    figures: dict[str, list[Prediction]] = {}
    for each in evidence.predictions:
        figures.setdefault(each.id.partition("/state=")[0], []).append(each)
    for name, states in figures.items():
        yield _finding(name, states)


def _finding(name: str, states: Sequence[Prediction]) -> Finding:
    """Of one figure; several predictions where the states of the machine explain it."""
    worst = max((each.error for each in states), key=abs)
    far = text("Bandwidth alone does not explain it.") if abs(worst) > _EXPLAINS else ""
    told = text(
        "Predicted from bandwidth: {what}, {figures}.",
        what=states[0].what,
        figures=joined("; ", [_held_against(each) for each in states]),
    )
    return Finding(
        id=f"{rule.name}:{name}",
        rule=rule.name,
        claim=joined(" ", (told, far)),
        severity="fact",
        status="observed",
        evidence=tuple(dict.fromkeys(name for each in states for name in (*each.of, each.measured))),
        statistic=text("distance from the predicted interval {share} %", share=f"{_PERCENT * worst:.1f}"),
        threshold=rule.threshold,
    )


def _held_against(each: Prediction) -> str:
    lower, upper, value = (format_quantity(part, each.unit) for part in (each.lower, each.upper, each.value[0]))
    share = f"{_PERCENT * abs(each.error):.1f}"
    where = (
        text("{share} % above its upper end" if each.error > 0 else "{share} % below its lower end", share=share)
        if each.error
        else text("inside")
    )
    told = text("{low} to {high}; measured {value}, {where}", low=lower, high=upper, value=value, where=where)
    return text("{state}: {figures}", state=each.states[-1], figures=told) if each.states[-1] else told


rule = Rule(
    "prediction", text("Do the figures agree with what other measurements predict?"), text("none: a fact"), _assess
)
