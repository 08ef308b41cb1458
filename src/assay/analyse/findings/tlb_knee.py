"""Where pages of 4 KiB begin to cost: the reach of the TLB."""

from collections.abc import Iterable

from assay.analyse.evidence import Evidence, Rule
from assay.analyse.models.latency_levels import LAW, TLB
from assay.model.result import Finding, Model
from assay.model.units import format_quantity, format_size


def _assess(evidence: Evidence) -> Iterable[Finding]:
    curves = [model for model in evidence.models if model.law == LAW and not model.reason]
    small = [model for model in curves if "pages=small" in model.id]
    if not small or len(small) == len(curves):
        yield rule.not_assessed(
            "latency was not measured by size with small and with huge pages", "assay run caches"
        )
    for model in small:
        for name, boundary in model.parameters.items():
            if name.startswith("boundary") and TLB in name:
                yield _finding(model, int(name.split()[1]), boundary)


def _finding(model: Model, number: int, boundary: tuple[float, float, float]) -> Finding:
    before, after = (_latency(model, each) for each in (number, number + 1))
    return Finding(
        id=f"{rule.name}:{number}:{model.id}",
        rule=rule.name,
        claim=f"Beyond {format_size(boundary[1])} of pages of 4 KiB the TLB is exhausted: a random load takes "
        f"{format_quantity(after, 's')} instead of {format_quantity(before, 's')}. Huge pages show no such knee.",
        severity="fact",
        status="observed",
        evidence=(model.id,),
        statistic=f"latency beyond / before {after / before:.3g}",
        threshold=rule.threshold,
        next="see huge_pages for what they gain",
    )


def _latency(model: Model, number: int) -> float:
    return next(value[0] for name, value in model.parameters.items() if name.startswith(f"latency {number} "))


rule = Rule("tlb_knee", "Where is the TLB exhausted?", "a knee > 15 % that huge pages do not show", _assess)
