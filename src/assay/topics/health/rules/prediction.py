"""The prediction of a figure from other measurements, and the figure: one finding for all of its states."""

from collections.abc import Hashable, Iterable, Sequence

from assay.analyse.evidence import Evidence, Rule, numbers
from assay.model.grouping import grouped
from assay.model.law import Prediction
from assay.model.result import Finding
from assay.model.text import cli, joined, text
from assay.model.units import format_quantity

#: With a larger error the prediction does not explain the figure.
_EXPLAINS = 0.15


def _assess(evidence: Evidence) -> Iterable[Finding]:
    if not evidence.predictions:
        yield rule.not_assessed(text("No measured figure has a prediction"), cli("run", "node"))

    def figure(each: Prediction) -> Hashable:
        of = evidence.estimates[each.measured]
        return each.law, of.case, of.kernel, of.metric, of.placement.hosts

    yield from map(_finding, grouped(evidence.predictions, figure).values())


def _finding(states: Sequence[Prediction]) -> Finding:
    """Make the finding of one figure; it has several predictions where the states of the machine explain it."""
    worst = max((each.error for each in states), key=abs)
    by = states[0].by
    far = text("This is not explained by {by} alone.", by=by) if abs(worst) > _EXPLAINS else ""
    claim = text(
        "Predicted from {by}: {what}, {figures}.",
        by=by,
        what=states[0].what,
        figures=joined("; ", [_compared(each) for each in states]),
    )
    return rule.finding(
        states[0].id,
        claim=joined(" ", (claim, far)),
        evidence=tuple(dict.fromkeys(name for each in states for name in (*each.of, each.measured))),
        numbers=numbers(worst),
        statistic=text("gap between the intervals {share} %", share=f"{100 * worst:.1f}"),
    )


def _compared(each: Prediction) -> str:
    lower, upper, value = (
        format_quantity(part, each.value.unit) for part in (each.predicted.lo, each.predicted.hi, each.value.value)
    )
    off, low, high = (f"{100 * part:+z.1f} %" for part in each.off)
    figures = text(
        "{lower} to {upper}; measured {value}, {off} from the middle ({low} to {high}): intervals do not overlap"
        if each.error
        else "{lower} to {upper}; measured {value}, {off} from the middle ({low} to {high}): intervals overlap",
        lower=lower,
        upper=upper,
        value=value,
        off=off,
        low=low,
        high=high,
    )
    return text("{state}: {figures}", state=each.states[-1], figures=figures) if each.states[-1] else figures


rule = Rule(
    "prediction",
    text("Do the figures agree with the predictions from other measurements?"),
    text("none: a fact"),
    _assess,
)
