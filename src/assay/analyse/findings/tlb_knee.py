"""Where pages of 4 KiB begin to cost: the reach of the TLB."""

from collections.abc import Iterable, Sequence

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
    curves_of: dict[str, list[Model]] = {}
    for model in small:
        if _knees(model):
            curves_of.setdefault(model.id.partition("/state=")[0], []).append(model)
    for name, states in curves_of.items():
        yield _finding(name, states)


def _knees(model: Model) -> list[str]:
    """Names of the boundaries that only small pages show."""
    return [name for name in model.parameters if name.startswith("boundary") and TLB in name]


def _finding(name: str, states: Sequence[Model]) -> Finding:
    """Of one curve; several models where the states of the machine explain it."""
    told = [_knee(model, boundary) for model in states for boundary in _knees(model)]
    return Finding(
        id=f"{rule.name}:{name}",
        rule=rule.name,
        claim=f"Pages of 4 KiB exhaust the TLB: {'; '.join(claim for claim, _ in told)}. Huge pages show no knee.",
        severity="fact",
        status="observed",
        evidence=tuple(model.id for model in states),
        statistic=f"latency beyond / before {', '.join(f'{ratio:.3g}' for _, ratio in told)}",
        threshold=rule.threshold,
        next="see huge_pages for what they gain",
    )


def _knee(model: Model, boundary: str) -> tuple[str, float]:
    """What a knee costs, in words, and as the ratio of the latencies beyond and before it."""
    number = int(boundary.split()[1])
    before, after = (_latency(model, each) for each in (number, number + 1))
    state = model.id.partition("/state=")[2]
    claim = (
        f"beyond {format_size(model.parameters[boundary][1])} a random load takes {format_quantity(after, 's')} "
        f"instead of {format_quantity(before, 's')}{f' ({state})' if state else ''}"
    )
    return claim, after / before


def _latency(model: Model, number: int) -> float:
    return next(value[0] for name, value in model.parameters.items() if name.startswith(f"latency {number} "))


rule = Rule("tlb_knee", "Where is the TLB exhausted?", "a knee > 15 % that huge pages do not show", _assess)
