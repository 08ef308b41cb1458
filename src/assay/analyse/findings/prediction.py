"""What was predicted from other measurements, and what was measured."""

from collections.abc import Iterable

from assay.analyse.evidence import Evidence, Rule
from assay.model.result import Finding
from assay.model.units import format_quantity

_PERCENT = 100
#: Beyond this the bandwidth does not explain the figure.
_EXPLAINS = 0.15


def _assess(evidence: Evidence) -> Iterable[Finding]:
    if not evidence.predictions:
        yield rule.not_assessed("nothing was measured that other measurements predict", "assay run node")
    for each in evidence.predictions:
        lower, upper, value = (
            format_quantity(part, each.unit) for part in (each.lower, each.upper, each.value[0])
        )
        where = "inside" if not each.error else f"{_PERCENT * abs(each.error):.0f} % {_side(each.error)}"
        far = "" if abs(each.error) <= _EXPLAINS else " Bandwidth alone does not explain it."
        yield Finding(
            id=f"{rule.name}:{each.id}",
            rule=rule.name,
            claim=f"Predicted from bandwidth: {each.what}, {lower} to {upper}. Measured: {value}, {where}.{far}",
            severity="fact",
            status="observed",
            evidence=(*each.of, each.measured),
            statistic=f"distance from the predicted interval {_PERCENT * each.error:.1f} %",
            threshold=rule.threshold,
        )


def _side(error: float) -> str:
    return "above" if error > 0 else "below"


rule = Rule("prediction", "Do the figures agree with what other measurements predict?", "none: a fact", _assess)
